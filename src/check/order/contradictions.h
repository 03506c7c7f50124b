/* contradictions.h - what an order of items on a line contradicts, found again where something moved.
 *
 * A private header of walk.c.  A list owns its arrays until iso_contradictions_free; one that is all zero is empty.
 */
#ifndef ISO_CHECK_ORDER_CONTRADICTIONS_H
#define ISO_CHECK_ORDER_CONTRADICTIONS_H

#include "check/order/accesses.h"

/* How many writers between are looked at. */
enum { ISO_MOST_BETWEEN = 48 };

/* A writer between a read and what it saw, or between the begin and the commit of another writer. */
typedef struct iso_contradiction {
  uint32_t key;
  uint32_t item;  /* the reader, or the commit */
  uint32_t what;  /* ISO_READS or ISO_WRITES */
  uint32_t count; /* of writers between */
} iso_contradiction;

typedef struct iso_access_at {
  uint32_t key, at;
} iso_access_at;

/* One of a key where something moved, and its turn in the list. */
typedef struct iso_contradiction_again {
  uint64_t turn;
  iso_contradiction one;
} iso_contradiction_again;

typedef struct iso_contradictions {
  ISO_VEC(iso_contradiction) all;
  uint64_t pairs; /* all writers between */
  /* Work space: what is put together anew, and the places of who has to be looked at, each with its key. */
  ISO_VEC(iso_contradiction_again) again;
  ISO_VEC(iso_access_at) due;
} iso_contradictions;

void iso_contradictions_free(iso_contradictions *found);

/* How many writers stand between an access of a key and what it has to follow at once, ISO_MOST_BETWEEN at most. */
uint32_t iso_line_between(const iso_line *line, uint32_t key, uint32_t at, uint32_t what, uint32_t *found);

/* Brings the list up to date with what moved since it was last found, and empties the line's notes of that.  The order
 * of the list is that of looking through all keys where something moved.  False when memory is out. */
bool iso_contradictions_find(iso_line *line, iso_contradictions *found);

#endif
