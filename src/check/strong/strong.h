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

/* What a decision took: name, when it is known, what it counts. */
#define ISO_STRONG_STATS(X)                                                                                            \
  X(events, ALWAYS, "events")                                                                                          \
  X(chains, ALWAYS, "chains of events")                                                                                \
  X(pairs, COUNTED, "pairs of writers of one key in different chains")                                                 \
  X(dependencies, COUNTED, "dependencies that are not known because of them")                                          \
  X(pairs_left, COUNTED_LEFT, "pairs still undecided after saturation")                                                \
  X(dependencies_left, COUNTED_LEFT, "dependencies still not known because of those")                                  \
  X(derived, ALWAYS, "orders that follow without a guess")                                                             \
  X(rounds, ALWAYS, "rounds of saturation")                                                                            \
  X(guessed_wrong, ALWAYS, "reads and writers that the first sequence does not explain")                               \
  X(refinements, ALWAYS, "rounds of refinement")                                                                       \
  X(requirements, ALWAYS, "requirements put to the solver")                                                            \
  X(decisions, ALWAYS, "decisions of the solver")                                                                      \
  X(conflicts, ALWAYS, "conflicts of the solver")

/* Stages that take time: name, what happens. */
#define ISO_STRONG_STAGES(X)                                                                                           \
  X(construct, "events, known orders, first sequence")                                                                 \
  X(guess, "running the first sequence")                                                                               \
  X(saturate, "what follows without a guess")                                                                          \
  X(solve, "refining with the solver")                                                                                 \
  X(blame, "tracing a contradiction back to transactions")                                                             \
  X(explain, "making the smallest scenario of it")

typedef struct iso_strong_stats {
#define ISO_X(name, known, text) uint64_t name;
  ISO_STRONG_STATS(ISO_X)
#undef ISO_X
#define ISO_X(name, text) double name##_seconds;
  ISO_STRONG_STAGES(ISO_X)
#undef ISO_X
} iso_strong_stats;

/* What to do besides deciding, and what to leave out: the answer is the same without the stages that are left out,
 * which tests rely on and benchmarks compare. */
typedef struct iso_strong_options {
  bool count_pairs; /* complete the statistics, which takes time of its own */
  bool no_guess, no_saturation;
  bool no_clocks; /* as where they do not fit into memory */
} iso_strong_options;

typedef struct iso_strong {
  const iso_strong_level *level;
  bool decided, violated;
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
