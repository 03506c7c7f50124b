/* elle_result.h - isolde_check by way of check/elle.h: from its options to a result.
 * What is added to a result belongs to it. */
#ifndef ISO_CHECK_ELLE_RESULT_H
#define ISO_CHECK_ELLE_RESULT_H

#include "check/elle.h"
#include "check/result.h"

/* What stands behind isolde_result_anomaly. */
struct iso_elle_shown {
  iso_anomaly anomaly;
  bool is_cycle;
  uint32_t number; /* among the cycles, or the cases */
};

/* Whether the options ask for a workload or models. */
bool iso_elle_is_asked(const isolde_check_options *options);
isolde_status iso_elle_check(isolde_history *history, const isolde_check_options *options, isolde_task *task,
                             isolde_result **result, isolde_error *error);
void iso_elle_result_free(isolde_result *result);

/* The witness of what is shown; NULL when it does not stand up, or memory is out.  It belongs to the arena of the
 * result. */
isolde_anomaly *iso_elle_anomaly(isolde_result *result, size_t number);

#endif
