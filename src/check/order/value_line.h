/* value_line.h - an order of whole transactions, with what each reads and writes by key, and what it breaks.
 *
 * A private header of value_walk.c and value_mend.c.  A read is broken when the last write of its key before it is of
 * another class than it saw (value_classes.h).  A line owns its arrays until iso_value_line_free.
 */
#ifndef ISO_CHECK_ORDER_VALUE_LINE_H
#define ISO_CHECK_ORDER_VALUE_LINE_H

#include "check/order/events.h"
#include "check/order/value_classes.h"

/* What a transaction does to a key. */
typedef struct iso_value_access {
  uint32_t txn;
  uint32_t read, write; /* classes, ISO_NO_CLASS for none */
  int32_t weight;       /* what it counts that the read finds another class */
  uint32_t home;        /* its number among the keys of its transaction (txn_key) */
} iso_value_access;

typedef struct iso_broken_read {
  uint32_t txn, key;
} iso_broken_read;

/* Places. */
typedef struct iso_value_bounds {
  uint32_t low, high;
} iso_value_bounds;

typedef struct iso_value_line {
  const iso_event_graph *e;
  const iso_view *v;
  const iso_value_classes *c;
  uint32_t count;        /* of transactions */
  uint32_t *order, *pos; /* by place; by transaction */
  uint32_t *first;       /* keys + 1 */
  iso_value_access *at;  /* by key, in the order of places */
  uint32_t *txn_first;   /* by transaction, and one more */
  uint32_t *txn_key;     /* the keys of a transaction: those that it writes, then those that it only reads */
  uint32_t *txn_at;      /* beside them: where it stands among the accesses of that key */
  uint32_t *near[2];     /* by transaction: the one before it and the one after it in its chain, or ISO_NO_TXN */
  uint32_t *ends;        /* by transaction: the tick that it comes before; NULL without real time */
  int32_t *cost;         /* by place */
  uint32_t *state;       /* by access of the key at hand: what is there before it */
  ISO_VEC(iso_broken_read) broken;
  ISO_VEC(iso_broken_read) fresh; /* what moves may have broken since it was last emptied */
  uint64_t *rests; /* by transaction: until how many moves were made, so that no two undo each other for ever */
  uint32_t *class_number, *key_number; /* by class, by key: its number in a window, + 1 */
  uint64_t random, steps, moves;
  uint32_t reach; /* how many places a transaction goes at a time at most */
} iso_value_line;

/* Of an order by when[event], which has those of a chain in order. */
isoproof_status iso_value_line_make(const iso_event_graph *events, const iso_value_classes *classes,
                                    const int64_t *when, iso_value_line *line, isoproof_error *error);
void iso_value_line_free(iso_value_line *line);

/* Where a transaction stands among the accesses of a key, or would stand behind if it had one. */
uint32_t iso_value_line_find(const iso_value_line *line, uint32_t key, uint32_t txn);

/* What is there before an access of a key. */
uint32_t iso_value_line_class(const iso_value_line *line, uint32_t key, uint32_t at);

void iso_value_line_move(iso_value_line *line, uint32_t txn, uint32_t place);
/* Puts everybody into an order. */
void iso_value_line_set(iso_value_line *line, const uint32_t *order);

bool iso_value_line_is_broken(const iso_value_line *line, const iso_broken_read *read);
/* Lists all broken reads; false when memory is out. */
bool iso_value_line_find_broken(iso_value_line *line);

static inline uint32_t iso_value_line_draw(iso_value_line *line, uint32_t below) {
  line->random ^= line->random << 13;
  line->random ^= line->random >> 7;
  line->random ^= line->random << 17;
  return (uint32_t)((line->random >> 32) * below >> 32);
}

#endif
