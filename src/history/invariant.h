/* invariant.h - how a history tells of the invariants of a script: facts invariant.N.FIELD, N = 1, 2, ...  Nothing is
 * owned. */
#ifndef ISO_HISTORY_INVARIANT_H
#define ISO_HISTORY_INVARIANT_H

#define ISO_INVARIANT_FACT "invariant."

/* C name, field. */
#define ISO_INVARIANT_FACT_LIST(X)                                                                                     \
  X(NAME, "name")                                                                                                      \
  X(QUERY, "query")                                                                                                    \
  X(EXPECTED, "expected")                                                                                              \
  X(CHECKS, "checks")         /* how often it was asked */                                                             \
  X(BROKEN, "broken")         /* how often it was not as expected */                                                   \
  X(FIRST, "first")           /* when that was seen first: nanoseconds on the clock of the history */                  \
  X(FOUND, "found")           /* what was there then */                                                                \
  X(IN_THE_END, "in_the_end") /* yes: also when nobody wrote any more */

typedef enum iso_invariant_fact {
#define ISO_X(name, field) ISO_INVARIANT_##name,
  ISO_INVARIANT_FACT_LIST(ISO_X)
#undef ISO_X
      ISO_INVARIANT_FACTS
} iso_invariant_fact;

#endif
