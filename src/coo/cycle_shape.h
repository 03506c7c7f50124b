/* cycle_shape.h - the shape of a POP cycle without any schedule: kinds and objects around the cycle.  Shapes are plain
 * values that own nothing. */
#ifndef ISO_COO_CYCLE_SHAPE_H
#define ISO_COO_CYCLE_SHAPE_H

#include <isoproof/coo.h>

/* Enough for the longest schedule of a shape: two operations and an end for each transaction. */
enum { ISO_COO_TEXT_BYTES = 256 };

/* POP number i leads from transaction i to transaction i + 1, the last one to transaction 0; it begins with the one
 * that closes first.  Objects are numbered by first appearance. */
typedef struct iso_cycle_shape {
  uint32_t length, objects;
  isoproof_pop_kind kinds[ISOPROOF_COO_TXNS];
  uint32_t on[ISOPROOF_COO_TXNS];
} iso_cycle_shape;

/* Goes through the shapes of exactly so many transactions and objects, whose number is exponential in the transactions
 * (isoproof_coo_cycle_count). */
typedef struct iso_cycle_shape_walk {
  uint32_t length, objects;
  uint32_t pairs; /* bit i: POPs i and i + 1 are on one object; one past the last of its bits when the walk is over */
  uint32_t digit[ISOPROOF_COO_TXNS];
  bool started;
} iso_cycle_shape_walk;

iso_cycle_shape_walk iso_cycle_shape_walk_begin(uint32_t length, uint32_t objects);
bool iso_cycle_shape_next(iso_cycle_shape_walk *walk, iso_cycle_shape *out);

/* Whether the POP before leads to this one over one step of one object. */
bool iso_cycle_shape_shares(const iso_cycle_shape *s, uint32_t pop);
/* A schedule that makes the cycle: what conflicts with nothing comes first.  With `variant`, the other one that case 15
 * has; returns false where there is none. */
bool iso_cycle_shape_schedule(const iso_cycle_shape *s, bool variant, char text[ISO_COO_TEXT_BYTES]);

#endif
