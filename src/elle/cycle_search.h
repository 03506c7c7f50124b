/* cycle_search.h - the cycles of a dependency graph, by type: in each strongly connected component the shortest cycle
 * of each type that nothing worse makes superfluous (after Elle, section 5).
 *
 * The findings own their columns until iso_dependency_cycles_free.
 */
#ifndef ISO_ELLE_CYCLE_SEARCH_H
#define ISO_ELLE_CYCLE_SEARCH_H

#include "graph/dependencies.h"
#include "level/anomalies.h"

/* A step: this transaction comes before that of the next step, for a reason of that kind. */
typedef struct iso_cycle_step {
  uint32_t txn;
  iso_dependency_set kind; /* one kind */
} iso_cycle_step;

/* A cycle: steps [first, first + length); the last leads back to the first. */
typedef struct iso_dependency_cycle {
  iso_anomaly anomaly;
  uint32_t first, length;
} iso_dependency_cycle;

typedef struct iso_dependency_cycles {
  uint64_t count[ISO_ANOMALY_COUNT];    /* components with a cycle of that type */
  ISO_VEC(iso_dependency_cycle) cycles; /* in order of components; the first of each type, or all */
  ISO_VEC(iso_cycle_step) steps;
  bool all;
  uint32_t components; /* with two transactions or more */
  bool gave_up;        /* a search reached its limit: cycles of some type may be there and were not found */
  const char *reason;  /* of giving up */
} iso_dependency_cycles;

/* Finds cycles.  `ruled_out` are the models that other findings rule out already: what follows from them is not said
 * again.  Running out of time is no failure but gave_up; `budget` limits the steps of each search (0: the usual). */
isoproof_status iso_dependency_cycles_find(const iso_dependency_graph *graph, iso_level_set ruled_out, uint64_t budget,
                                           isoproof_task *task, iso_dependency_cycles *cycles, isoproof_error *error);
void iso_dependency_cycles_free(iso_dependency_cycles *cycles);

#endif
