/* elle_result.h - isoproof_check by way of elle/elle.h: from its options to a result.
 * All that a result keeps of it is one iso_elle_result, which refers to the history and owns everything else until
 * iso_elle_result_free. */
#ifndef ISO_ELLE_ELLE_RESULT_H
#define ISO_ELLE_ELLE_RESULT_H

#include "base/arena.h"
#include "elle/elle.h"

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
  /* Names of models, each list NULL-terminated: the weakest ruled out, those that fall with them, the strongest that
   * the history provably satisfies. */
  const char **ruled_out, **also_ruled_out, **proved;
} iso_elle_result;

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
/* NULL is fine. */
void iso_elle_result_free(iso_elle_result *result);

/* The witness of what is shown, in the arena; NULL when it does not stand up, or memory is out. */
isoproof_anomaly *iso_elle_result_anomaly(const iso_elle_result *result, size_t number, iso_arena *arena);

#endif
