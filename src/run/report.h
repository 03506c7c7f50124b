/* report.h - what is known of a run once it is over.  A report owns copies of everything, until isolde_report_free. */
#ifndef ISO_RUN_REPORT_H
#define ISO_RUN_REPORT_H

#include "run/run.h"

/* Copies what database and sessions know; the counts are filled in. */
isolde_status iso_report_new(isolde_run_handle *run, bool cancelled, double seconds, isolde_report **report,
                             isolde_error *error);
/* The counts of all sessions so far. */
void iso_run_count(const isolde_run_handle *run, double seconds, isolde_run_counts *counts);

#endif
