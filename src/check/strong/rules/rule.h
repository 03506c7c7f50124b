/* rule.h - a rule of version orders as a struct of functions: what it examines, saturates and forbids.
 *
 * One file of check/strong/rules per rule; the table is put together from ISO_RULE_LIST (level/method.h), which has the
 * definitions.  What the judge of witnesses and certificates knows of a rule is in verify/rules.c and shares nothing
 * with this.  Everything here is constant.
 */
#ifndef ISO_CHECK_STRONG_RULES_RULE_H
#define ISO_CHECK_STRONG_RULES_RULE_H

#include "check/order/event_clock.h"
#include "check/strong/execute.h"
#include "level/method.h"
#include "result/scenario.h"

struct iso_shrinker;
struct iso_link_stack;

/* The levels of their own that the ends of a link have, where the rule asks for them. */
typedef struct iso_link_levels {
  iso_txn_isolation from, to;
} iso_link_levels;

/* What examining a sequence may use: the clocks only where the rule asks for them. */
typedef struct iso_examination {
  const struct iso_strong_rule *rule;
  iso_event_graph *events;
  const iso_event_clocks *clocks;
  iso_version_store *store;
  isoproof_task *task;
  /* Where a sequence is carried out: called when a transaction begins, with the store as it is then; returns what else
   * is broken.  May be NULL. */
  uint64_t (*at_begin)(void *context, uint32_t txn);
  void *context;
  uint64_t enough; /* broken reads and writers after which the rest is not carried out; 0: all is */
} iso_examination;

typedef struct iso_strong_rule {
  /* ---- events ---- */
  bool split, ww_to_commit; /* see iso_event_shape */
  bool own_levels;          /* each transaction is held to the level that is its own */

  /* ---- the search ---- */
  /* Finds what a sequence breaks and appends it; *broken counts reads and writers. */
  isoproof_status (*examine)(const iso_examination *examination, const iso_sequence *sequence,
                             iso_requirements *requirements, uint64_t *broken, isoproof_error *error);
  bool needs_clocks; /* to examine */
  /* A guess is examined in linear time, by carrying it out.  Where not, snapshot isolation, which implies the level and
   * is a plain matter of cycles, is tried first. */
  bool is_executed;
  bool exclusive; /* two writers of a key must not overlap */
  bool saturates; /* orders follow without a guess */
  bool overtakes; /* who read a version comes before whoever overwrote it */

  /* ---- forbidden cycles, over two events per transaction (forbidden_cycle.h) ---- */
  /* Where a link that leaves the first or the second event arrives; false where the rule knows no such step. */
  bool (*step)(const iso_link *link, iso_link_levels levels, bool second, uint32_t *to);
  bool has_passage;  /* the first event of a transaction leads to the second without a step */
  bool starts_once;  /* both events are alike, so that a cycle is looked for from the first only */
  bool ends_second;  /* a cycle may end at the second event of where it began */
  bool pairs_missed; /* an RW and one other link that lead back are forbidden, and no RW is a step */

  /* ---- the smallest scenario (scenario/shrink.h) ---- */
  /* Adds clauses for a read (a WR link of the problem) and another writer of its key. */
  isoproof_status (*add_rival)(struct iso_shrinker *shrinker, size_t read, uint32_t writer, isoproof_error *error);
  /* After a solution, adds clauses for what it breaks; *refined is false when it stands.  May be NULL. */
  isoproof_status (*refine)(struct iso_shrinker *shrinker, bool *refined, isoproof_error *error);
} iso_strong_rule;

const iso_strong_rule *iso_strong_rule_of(iso_rule rule);

#define ISO_X(name, function, text) extern const iso_strong_rule iso_strong_rule_##function;
ISO_RULE_LIST(ISO_X)
#undef ISO_X

#endif
