/* elle_result.h - isoproof_check by way of elle/elle.h: from its options to a result.
 * The state that the result keeps of it is one iso_elle_result, which belongs to the result. */
#ifndef ISO_ELLE_ELLE_RESULT_H
#define ISO_ELLE_ELLE_RESULT_H

#include "elle/elle.h"
#include "result/result.h"

/* What stands behind an anomaly that is shown. */
typedef struct iso_elle_shown {
  iso_anomaly anomaly;
  bool is_cycle;
  uint32_t number; /* among the cycles, or among the anomalies that are none */
} iso_elle_shown;

typedef struct iso_elle_result {
  iso_elle *elle;
  iso_elle_shown *shown; /* sorted by anomaly */
  size_t shown_count;
} iso_elle_result;

/* Whether the options ask for a workload or models. */
bool iso_elle_is_asked(const isoproof_check_options *options);
/* ISOPROOF_ERR_UNSUPPORTED for a history of rows, which Elle does not know. */
isoproof_status iso_elle_refuse_rows(const isoproof_history *history, isoproof_error *error);
isoproof_status iso_elle_check(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                               isoproof_result **result, isoproof_error *error);
/* The witness of what is shown, in the arena; NULL when it does not stand up, or memory is out. */
isoproof_anomaly *iso_elle_result_anomaly(const iso_elle_result *result, size_t number, iso_arena *arena);

#endif
