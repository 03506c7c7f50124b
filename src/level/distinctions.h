/* distinctions.h - the smallest histories that tell levels apart, and why some levels cannot be told apart.
 *
 * The histories are found by tests/distinguish, which lists all small ones; distinctions.def is what it writes.  All of
 * this is constant data.
 */
#ifndef ISO_LEVEL_DISTINCTIONS_H
#define ISO_LEVEL_DISTINCTIONS_H

#include "level/levels.h"

/* What a pair of levels needs of a history: a level of each transaction's own (mixed), times, lists (the models that
 * judge the order of versions), or several of these, whose numbers are one bit each.  C name, format. */
#define ISO_DISTINCTION_KIND_LIST(X)                                                                                   \
  X(PLAIN, "plume")                                                                                                    \
  X(LABELS, "jsonl")                                                                                                   \
  X(TIMES, "jsonl")                                                                                                    \
  X(LABELS_AND_TIMES, "jsonl")                                                                                         \
  X(LISTS, "jsonl")                                                                                                    \
  X(LISTS_AND_LABELS, "jsonl")                                                                                         \
  X(LISTS_AND_TIMES, "jsonl")                                                                                          \
  X(LISTS_LABELS_AND_TIMES, "jsonl")

typedef enum iso_distinction_kind {
#define ISO_X(name, format) ISO_DISTINCTION_##name,
  ISO_DISTINCTION_KIND_LIST(ISO_X)
#undef ISO_X
      ISO_DISTINCTION_KINDS
} iso_distinction_kind;

typedef struct iso_distinction {
  iso_distinction_kind kind;
  uint8_t transactions, operations, sessions, keys;
  const char *history;
  iso_level_set asked, holds; /* what was decided, and what of it is satisfied */
} iso_distinction;

/* Whether histories of a kind have labels, times or lists. */
static inline bool iso_distinction_has(iso_distinction_kind kind, iso_distinction_kind what) {
  return ((unsigned)kind & (unsigned)what) != 0;
}

/* What both levels of a pair need. */
iso_distinction_kind iso_distinction_kind_of(iso_level allows, iso_level forbids);

/* The histories, smaller ones of a kind first: `number` from 0, NULL after the last. */
const iso_distinction *iso_distinction_at(size_t number);
/* The smallest one that the first level allows and the second forbids; NULL when there is none. */
const iso_distinction *iso_distinction_of(iso_level allows, iso_level forbids);
/* Up to how many operations all histories of that kind with so many transactions were looked at; 0: at none. */
unsigned iso_distinction_searched(iso_distinction_kind kind, unsigned transactions);

#endif
