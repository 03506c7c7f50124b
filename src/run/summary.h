/* summary.h - what is known of a run once it is over.  A report owns copies of everything, until
 * isoproof_run_summary_free.
 */
#ifndef ISO_RUN_SUMMARY_H
#define ISO_RUN_SUMMARY_H

#include "run/run.h"

/* Copies what database and sessions know; the counts are filled in. */
isoproof_status iso_report_new(isoproof_run_handle *run, bool cancelled, double seconds, isoproof_run_summary **report,
                               isoproof_error *error);
/* The counts of all sessions so far. */
void iso_run_count(isoproof_run_handle *run, double seconds, isoproof_run_counts *counts);

/* What one client of a run counted, and all of them together: a plain value. */
typedef struct iso_report_counts {
  isoproof_run_counts counts;
  iso_histogram_sum latency, lag;
} iso_report_counts;

void iso_report_counted(const isoproof_run_summary *report, iso_report_counts *counted);
void iso_report_add(isoproof_run_summary *report, const iso_report_counts *other);

#endif
