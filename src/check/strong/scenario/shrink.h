/* shrink.h - which transactions, and which links, of a small problem are needed for it to have no solution?
 *
 * The problem is given to the solver with a literal for each transaction, or for each link, that switches it on.  What
 * a failed core does not mention is not needed; the rest is tried without one after the other.  A reducer owns the
 * solver and its arrays until iso_shrinker_free and refers to the small problem.
 */
#ifndef ISO_CHECK_STRONG_SCENARIO_SHRINK_H
#define ISO_CHECK_STRONG_SCENARIO_SHRINK_H

#include "check/strong/scenario/polygraph.h"
#include "solver/solver.h"

typedef struct iso_shrinker {
  const iso_polygraph *problem;
  bool by_link;      /* the switches are links, not transactions */
  uint32_t switches; /* how many */
  iso_solver *solver;
  iso_lit *lit;    /* by switch */
  iso_lit *guards; /* a clause in the making */
  size_t guard_count;

  uint32_t *into_first, *into; /* links by the transaction that they lead to; for UPDATE_ATOMIC */

  /* Edges that the graph of the solver can have, for the rule that looks at paths (PARALLEL). */
  struct iso_shrinker_edge {
    uint32_t from, to;
    iso_lit lit; /* ISO_LIT_NONE: fixed */
  } * edges;
  size_t edge_count, edge_capacity;
} iso_shrinker;

/* `by_link` needs a small problem with its orders spelled out. */
isoproof_status iso_shrinker_init(iso_shrinker *shrinker, const iso_polygraph *problem, bool by_link,
                                  isoproof_error *error);
void iso_shrinker_free(iso_shrinker *shrinker);

/* Whether there is no solution with these switches on.  If so, *count shrinks to those of a failed core, in their
 * order. */
isoproof_status iso_shrinker_fails(iso_shrinker *shrinker, uint32_t *on, size_t *count, isoproof_task *task,
                                   bool *fails, isoproof_error *error);
/* Takes switches out of a set that fails, those at its front first, until no single one can be taken out. */
isoproof_status iso_shrinker_run(iso_shrinker *shrinker, uint32_t *on, size_t *count, isoproof_task *task,
                                 isoproof_error *error);

#endif
