/* elle_result.h - isoproof_check by way of elle/elle.h: from its options to a result.
 * What is added to a result belongs to it. */
#ifndef ISO_ELLE_ELLE_RESULT_H
#define ISO_ELLE_ELLE_RESULT_H

#include "elle/elle.h"
#include "result/result.h"

/* What stands behind isoproof_result_anomaly_at. */
struct iso_elle_shown {
  iso_anomaly anomaly;
  bool is_cycle;
  uint32_t number; /* among the cycles, or the cases */
};

/* The state behind a result of Elle's way. */
typedef struct iso_elle_result {
  iso_elle *elle;
  struct iso_elle_shown *shown;
  size_t shown_count;
} iso_elle_result;

/* Whether the options ask for a workload or models. */
bool iso_elle_is_asked(const isoproof_check_options *options);
isoproof_status iso_elle_check(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                               isoproof_result **result, isoproof_error *error);

/* The witness of what is shown; NULL when it does not stand up, or memory is out.  It belongs to the arena. */
isoproof_anomaly *iso_elle_anomaly(const iso_elle_result *elle, size_t number, iso_arena *arena);

#endif
