/* pop.h - the POP graph of a schedule: its POPs, who leads to whom, and the cycles found.
 * A graph owns its POPs and cycles until isoproof_pop_graph_free; the schedule is only borrowed. */
#ifndef ISO_COO_POP_H
#define ISO_COO_POP_H

#include "base/vector.h"
#include "coo/schedule.h"

/* A cycle as a range of the POPs of all cycles. */
typedef struct iso_cycle {
  uint32_t first, length;
  uint32_t closed; /* the step at which its last POP closed */
  bool state;      /* one of its POPs is an end: RA, WC or WA */
} iso_cycle;

struct isoproof_pop_graph {
  const isoproof_schedule *schedule;
  ISO_VEC(isoproof_pop) pops;
  ISO_VEC(isoproof_pop) members; /* of cycles */
  ISO_VEC(iso_cycle) cycles;
  uint64_t next[ISOPROOF_SCHEDULE_TXNS]; /* bit j of next[i]: some POP that is no end leads from i to j */
  /* The first POP of every kind and object between two transactions, ends left out, by from and to; those from i to j
   * are the places group[i * ISOPROOF_SCHEDULE_TXNS + j] and on, up to the next group. */
  ISO_VEC(uint32_t) distinct;
  uint32_t group[ISOPROOF_SCHEDULE_TXNS * ISOPROOF_SCHEDULE_TXNS + 1];
  bool more;
};

/* Fills `pops`, `next`, `distinct` and `group`.  Quadratic in the steps. */
isoproof_status iso_pops_find(isoproof_pop_graph *graph, isoproof_error *error);
/* Fills `members` and `cycles` from `pops` and `next`.  Exponential in the transactions at worst, but capped; beyond
 * the cap `more` is set. */
isoproof_status iso_cycles_find(isoproof_pop_graph *graph, isoproof_error *error);

bool iso_pop_is_end(isoproof_pop_kind kind);
/* The step at which a POP is complete. */
uint32_t iso_pop_closed(const isoproof_pop *pop);

#endif
