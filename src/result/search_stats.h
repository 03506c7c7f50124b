/* search_stats.h - what the search for a strong level counts and times, as one table.  Plain values. */
#ifndef ISO_RESULT_SEARCH_STATS_H
#define ISO_RESULT_SEARCH_STATS_H

#include <stdint.h>

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

#endif
