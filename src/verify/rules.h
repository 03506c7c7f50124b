/* rules.h - what the judge knows of each axiom and each rule, from the definitions alone.
 *
 * The search has functions of its own for the same names (check/axioms, check/strong/rules); nothing is shared with
 * them.  Everything here is constant.
 */
#ifndef ISO_VERIFY_RULES_H
#define ISO_VERIFY_RULES_H

#include "level/method.h"
#include "result/proof.h"
#include "result/scenario.h"

struct iso_placed;

/* What an order of transactions must be to prove a level. */
typedef struct iso_order_rule {
  bool split;      /* its events are begins and commits */
  bool own_levels; /* by the level that each transaction carries; begins are only those of snapshots */
  /* Whether the order proves it: by carrying it out, or by who sees whom. */
  isoproof_status (*judge)(const struct iso_placed *placed, isoproof_error *error);
  bool visibility;      /* it is about who sees whom, so that session order always counts */
  bool alone;           /* by carrying out: no two writers of a key overlap */
  bool paths;           /* by visibility: along any path of edges; otherwise along one edge */
  bool overwriting;     /* by visibility: WW are edges besides SO and WR */
  bool only_met_before; /* by visibility: only of those whom the reader read another key from before */
} iso_order_rule;

typedef struct iso_axiom_judge {
  iso_order_rule order;
  /* Whether a chain of SO and WR from t2 to t3 meets the condition for the read `forced` of t3. */
  bool (*condition)(const isoproof_history *history, const iso_proof_step *chain, uint32_t count,
                    const iso_proof_step *forced);
} iso_axiom_judge;

typedef struct iso_rule_judge {
  iso_order_rule order;
  /* Whether a cycle of links of these kinds is forbidden, from how their events follow each other. */
  bool (*forbids)(const isoproof_history *history, const iso_link *cycle, uint32_t count);
} iso_rule_judge;

const iso_axiom_judge *iso_axiom_judge_of(iso_axiom axiom);
const iso_rule_judge *iso_rule_judge_of(iso_rule rule);

#endif
