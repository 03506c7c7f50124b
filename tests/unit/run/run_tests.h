/* run_tests.h - what the tests of runs share: a folder, runs that are compared with what they recorded, and the tests
 * of the recorder and of control over a run, which have files of their own. */
#ifndef TEST_RUN_TESTS_H
#define TEST_RUN_TESTS_H

#include "run/run.h"
#include "tests/unit/unit.h"

/* A file of the folder of this test; the text lasts until the next call. */
const char *scratch(const char *name);
/* A run of four sessions, with `workload` as what its options point to. */
extern isoproof_workload_options workload;
isoproof_run_options options_for(const char *const *url, isoproof_workload_kind kind, uint64_t txns);
/* Runs, opens what was recorded, and compares the counts. */
isoproof_history *recorded(const isoproof_run_options *options, isoproof_task *task, isoproof_run_summary **report);
isoproof_verdict verdict(isoproof_history *history, const char *level);

/* run_recorder.c */
void quantiles_are_close(void **state);
void lines_stay_whole(void **state);
void a_full_disk_is_reported_once(void **state);

/* run_control.c */
void a_companion_puts_events_into_the_history(void **state);
void progress_tells_active_faults(void **state);
void cancelling_ends_cleanly(void **state);
void rounds_go_on_without_lost_sessions(void **state);
void cancelling_ends_rounds(void **state);
void strangers_are_found_out(void **state);
void nonsense_is_refused(void **state);

#endif
