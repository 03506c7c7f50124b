/* strong.h - the levels whose version orders have to be searched for, decided soundly and completely.
 *
 * The stages: the events and what is known of their order (check/order/events.h); a first guess, which many histories
 * bear out at once; what follows without a guess (check/strong/saturate.h); and refining the guess with a solver
 * (check/strong/refine.h). A satisfied level comes with the sequence of events that proves it, a violated one with
 * transactions that contradict it by themselves.  A decision owns its arrays until iso_strong_free.
 */
#ifndef ISO_CHECK_STRONG_STRONG_H
#define ISO_CHECK_STRONG_STRONG_H

#include "check/strong/blame.h"
#include "check/view/versions.h"
#include "result/search_stats.h"

/* What to do besides deciding, and what to leave out: the answer is the same without the stages that are left out,
 * which tests rely on and benchmarks compare. */
typedef struct iso_strong_options {
  bool count_pairs; /* complete the statistics, which takes time of its own */
  bool no_guess, no_saturation;
  bool no_clocks;                  /* as where they do not fit into memory */
  bool rows;                       /* saturate by rows of bits, as where there are many sessions */
  bool only_satisfied;             /* leave open what is violated, or takes long */
  const iso_first_sequence *first; /* tried first, where it is one of the events of the level; may be NULL */
} iso_strong_options;

typedef struct iso_strong {
  const iso_strong_level *level;
  bool decided, violated;
  bool unsearched;   /* an instance of an anomaly was met that violates it; nothing was searched */
  bool counted;      /* pairs and dependencies in the stats were counted */
  bool counted_left; /* so were those that are left after saturation */
  iso_strong_stats stats;
  /* Satisfied: the events in an order that proves it; begins and commits where `split`. */
  uint32_t *sequence;
  uint32_t sequence_count;
  bool split;
  iso_txn_set suspects; /* violated: transactions that violate the level by themselves */
} iso_strong;

/* Decides.  `versions` may be NULL where there are no lists.  `cut`, where given, has a byte per transaction that is 1
 * where session order ends before it.  `options` may be NULL. */
isoproof_status iso_strong_decide(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                  const uint8_t *cut, const iso_strong_options *options, isoproof_task *task,
                                  iso_strong *strong, isoproof_error *error);
void iso_strong_free(iso_strong *strong);

#endif
