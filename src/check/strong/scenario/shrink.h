/* shrink.h - which transactions, and which links, of a polygraph are needed for it to have no solution?
 *
 * The problem is given to the solver with a literal for each transaction, or for each link, that switches it on.  What
 * a failed core does not mention is not needed; the rest is tried without one after the other.  A shrinker owns the
 * solver and its arrays until iso_shrinker_free and refers to the polygraph.
 */
#ifndef ISO_CHECK_STRONG_SCENARIO_SHRINK_H
#define ISO_CHECK_STRONG_SCENARIO_SHRINK_H

#include "check/strong/rules/rule.h"
#include "check/strong/scenario/polygraph.h"
#include "solver/solver.h"

typedef struct iso_shrinker {
  const iso_polygraph *problem;
  const iso_strong_rule *rule;
  bool by_link;      /* the switches are links, not transactions */
  uint32_t switches; /* how many */
  iso_solver *solver;
  iso_lit *lit;    /* by switch */
  iso_lit *guards; /* a clause in the making */
  size_t guard_count;

  uint32_t *into_first, *into; /* links by the transaction that they lead to; where the rule pairs them */

  /* Edges that the graph of the solver can have, for a rule that looks at paths in solutions. */
  struct iso_shrinker_edge {
    uint32_t from, to;
    iso_lit lit; /* ISO_LIT_NONE: fixed */
  } * edges;
  size_t edge_count, edge_capacity;
} iso_shrinker;

/* ---- for rules: building clauses ---- */

/* A clause is opened, added to, and closed, which gives it to the solver. */
void iso_shrinker_open(iso_shrinker *shrinker);
void iso_shrinker_add(iso_shrinker *shrinker, iso_lit lit);
/* "x is before y", both of whom write a key. */
isoproof_status iso_shrinker_before(iso_shrinker *shrinker, uint32_t x, uint32_t y, iso_lit *lit,
                                    isoproof_error *error);
isoproof_status iso_shrinker_add_before(iso_shrinker *shrinker, uint32_t x, uint32_t y, isoproof_error *error);
/* "Unless it is switched off": the transaction, or the link. */
void iso_shrinker_if_txn(iso_shrinker *shrinker, uint32_t txn);
void iso_shrinker_if_link(iso_shrinker *shrinker, size_t link);
isoproof_status iso_shrinker_close(iso_shrinker *shrinker, isoproof_error *error);
/* A read, and another writer of its key: that one is before the version read, or after the reader. */
isoproof_status iso_shrinker_add_rival(iso_shrinker *shrinker, size_t read, uint32_t writer, isoproof_error *error);

/* ---- shrinking ---- */

/* `by_link` needs a polygraph with its orders spelled out. */
isoproof_status iso_shrinker_init(iso_shrinker *shrinker, const iso_polygraph *problem, bool by_link,
                                  isoproof_error *error);
void iso_shrinker_free(iso_shrinker *shrinker);

/* Whether there is no solution with these switches on.  If so, *count shrinks to those of a failed core, in their
 * order. */
isoproof_status iso_shrinker_fails(iso_shrinker *shrinker, uint32_t *on, size_t *count, isoproof_task *task,
                                   bool *fails, isoproof_error *error);
/* Takes switches out of a set that fails, those at its front first, in halves, quarters and so on, until no single one
 * can be taken out (delta debugging, Zeller 2002): at most a few calls of the solver per switch that stays, times the
 * logarithm of their number. */
isoproof_status iso_shrinker_run(iso_shrinker *shrinker, uint32_t *on, size_t *count, isoproof_task *task,
                                 isoproof_error *error);

#endif
