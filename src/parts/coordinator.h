/* coordinator.h - levels of a history in parts, decided by whoever holds the order and the solver.
 *
 * The coordinator knows the skeleton of the history: sessions, transactions and times.  It guesses a sequence, which
 * all parts carry out; when that breaks nothing, the history is serializable, and strictly so where the sequence
 * respects real time.  Otherwise it asks who read from whom, and refines sequences with a solver as one process does
 * (check/strong/refine.h), with the parts as the ones who examine.  The axioms of read committed, read atomic and
 * causal are met by adding the orders that they force between transactions that stand the wrong way round, until there
 * are none, or a cycle.  A coordination owns its arrays until iso_coordination_free.
 */
#ifndef ISO_PARTS_COORDINATOR_H
#define ISO_PARTS_COORDINATOR_H

#include <isoproof/check.h>

#include "check/strong/blame.h"
#include "level/method.h"
#include "parts/team.h"

/* Two transactions in a known order as writers of a list, the reader that shows it, and the last writer that it shows.
 */
typedef struct iso_list_order {
  uint32_t from, to, reader, last;
} iso_list_order;

typedef struct iso_coordination {
  /* Of the levels that were asked for; ISOPROOF_UNDECIDED where only a check of the whole can tell. */
  isoproof_verdict verdict[ISO_LEVEL_COUNT];
  const char *reason;   /* why something is undecided; NULL when nothing is */
  iso_part_facts facts; /* of all parts together; `suits` only where all do */
  bool has_facts;
  uint8_t *counts;      /* by transaction: takes part */
  iso_txn_set suspects; /* transactions that violate by themselves what was found violated between transactions */
  uint32_t rounds;      /* of refinement */
} iso_coordination;

/* Decides the levels of the set.  `skeleton` has no operations; it must not have rows. */
isoproof_status iso_coordinate(iso_team *team, const isoproof_history *skeleton, iso_level_set wanted,
                               isoproof_task *task, iso_coordination *out, isoproof_error *error);
void iso_coordination_free(iso_coordination *coordination);

/* Whether the parts can be asked about a level at all. */
bool iso_is_coordinated(const isoproof_history *skeleton, const isoproof_level_info *level);

/* ---- between the files of the coordinator ---- */

typedef struct iso_coordinator {
  iso_team *team;
  const isoproof_history *h;
  isoproof_task *task;
  iso_coordination *out;
  iso_level_set wanted;
  iso_view view; /* of the skeleton; the reads of all parts once they were asked for, `op` is the place of a read */
  bool has_reads, counts_told;
  uint64_t *key_base;             /* by part: the number of its first key among those of all */
  ISO_VEC(iso_list_order) orders; /* of writers of lists */
  uint32_t *told;                 /* the sequence as the parts know it */
  uint32_t told_count;
  bool told_split;
  iso_bytes *answers; /* by part: to the last question */
} iso_coordinator;

/* Asks all parts; what they answered is in `answers`.  `sequence` may be NULL; of its events those of transactions are
 * told, or what changed since the last question.  The head says the rest. */
isoproof_status iso_coordinator_ask(iso_coordinator *c, iso_question_head head, const iso_event_graph *events,
                                    const iso_sequence *sequence, isoproof_error *error);
/* Asks all parts about these transactions; who takes part must have been told. */
isoproof_status iso_coordinator_ask_of(iso_coordinator *c, iso_question_head head, const iso_txn_set *txns,
                                       isoproof_error *error);
/* Takes what a part has out of its answer. */
isoproof_status iso_coordinator_take_facts(iso_coordinator *c, iso_taker *in, uint32_t part, isoproof_error *error);
/* Whether a level was asked for, and can be decided here. */
bool iso_coordinator_wants(const iso_coordinator *c, const isoproof_level_info *level);
/* Has the view know who read from whom. */
isoproof_status iso_coordinator_need_reads(iso_coordinator *c, isoproof_error *error);
/* Adds the known orders of writers of lists. */
isoproof_status iso_coordinator_add_orders(const iso_coordinator *c, iso_event_graph *events, isoproof_error *error);
/* Enters a verdict, and all that follow from it. */
void iso_coordinator_decided(iso_coordinator *c, const isoproof_level_info *level, isoproof_verdict verdict);
/* Adds suspects, which it takes over. */
isoproof_status iso_coordinator_suspect(iso_coordinator *c, iso_txn_set *txns, isoproof_error *error);

/* Takes the requirements of one part out of its answer, behind those of the parts before; false when memory is out. */
bool iso_take_requirements(iso_taker *in, iso_requirements *to);

/* Decides a level of version orders; an axiom.  Both may leave it open and say why. */
isoproof_status iso_settle_strong(iso_coordinator *c, const iso_strong_level *level, isoproof_error *error);
isoproof_status iso_settle_axiom(iso_coordinator *c, iso_axiom axiom, isoproof_error *error);

#endif
