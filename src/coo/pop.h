/* pop.h - the POP graph of a schedule: its POPs, who leads to whom, and the cycles found.
 * A graph owns its POPs and cycles until isolde_pop_graph_free; the schedule is only borrowed. */
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

struct isolde_pop_graph {
  const isolde_schedule *schedule;
  ISO_VEC(isolde_pop) pops;
  ISO_VEC(isolde_pop) members; /* of cycles */
  ISO_VEC(iso_cycle) cycles;
  uint64_t next[ISOLDE_SCHEDULE_TXNS]; /* bit j of next[i]: some POP that is no end leads from i to j */
  /* The first POP of every kind and object between two transactions, ends left out, by from and to; those from i to j
   * are the places group[i * ISOLDE_SCHEDULE_TXNS + j] and on, up to the next group. */
  ISO_VEC(uint32_t) distinct;
  uint32_t group[ISOLDE_SCHEDULE_TXNS * ISOLDE_SCHEDULE_TXNS + 1];
  bool more;
};

/* Fills `pops`, `next`, `distinct` and `group`. */
isolde_status iso_pops_find(isolde_pop_graph *graph, isolde_error *error);
/* Fills `members` and `cycles` from `pops` and `next`. */
isolde_status iso_cycles_find(isolde_pop_graph *graph, isolde_error *error);

bool iso_pop_is_end(isolde_pop_kind kind);
/* The step at which a POP is complete. */
uint32_t iso_pop_closed(const isolde_pop *pop);

#endif
