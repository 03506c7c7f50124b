/* run_report.h - a run in words: the live line, the summary, the fields of JSON.  Borrows what it is given. */
#ifndef CLI_COMMANDS_RUN_REPORT_H
#define CLI_COMMANDS_RUN_REPORT_H

#include <isoproof/run.h>
#include <isoproof/stats.h>
#include <stdio.h>

#include "cli/options/run_cluster.h"

/* An isoproof_run_progress_fn: one line on a terminal.  `user`: NULL, or further parts of it, a list of two texts. */
void run_progress(const isoproof_run_progress *progress, void *user);
/* "PostgreSQL 15.18, repeatable read: 100 committed, 2 aborted (deadlock 2), ..." and a line of latencies. */
void run_summary(FILE *out, const isoproof_run_summary *report);
/* How hard the run tried, in a few lines: concurrency, conflicts, and the chances that anomalies had. */
void run_effort(FILE *out, const isoproof_effort *effort);
/* "run":{...} inside an open object. */
void run_json(isoproof_json *j, const isoproof_run_summary *report, uint64_t seed, const run_cluster *cluster);
/* The exit code of a run that failed; `path` is that of the history. */
int run_exit(const isoproof_error *error, const char *path);
/* EXIT_RUN after a message when nothing at all committed, else EXIT_SATISFIED. */
int run_was_useful(const isoproof_run_summary *report);

#endif
