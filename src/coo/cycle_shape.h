/* cycle_shape.h - the structure of a POP cycle without any schedule: kinds and objects around the circle.
 * Structures are plain values that own nothing. */
#ifndef ISO_COO_CYCLE_SHAPE_H
#define ISO_COO_CYCLE_SHAPE_H

#include <isoproof/coo.h>

/* Enough for the longest schedule of a structure: two operations and an end for each transaction. */
enum { ISO_COO_TEXT_BYTES = 256 };

/* POP number i leads from transaction i to transaction i + 1, the last one to transaction 0; it begins with the one
 * that closes first.  Objects are numbered by first appearance. */
typedef struct iso_structure {
  uint32_t length, objects;
  isoproof_pop_kind kinds[ISOPROOF_COO_TXNS];
  uint32_t on[ISOPROOF_COO_TXNS];
} iso_structure;

/* Goes through the structures of exactly so many transactions and objects. */
typedef struct iso_structure_walk {
  uint32_t length, objects;
  uint32_t pairs; /* bit i: POPs i and i + 1 are on one object; one past the last of its bits when the walk is over */
  uint32_t digit[ISOPROOF_COO_TXNS];
  bool started;
} iso_structure_walk;

iso_structure_walk iso_structure_walk_begin(uint32_t length, uint32_t objects);
bool iso_structure_next(iso_structure_walk *walk, iso_structure *out);

/* Whether the POP before leads to this one over one step of one object. */
bool iso_structure_shares(const iso_structure *s, uint32_t pop);
/* A schedule that makes the cycle: what conflicts with nothing comes first.  With `variant`, the other one that case 15
 * has; returns false where there is none. */
bool iso_structure_schedule(const iso_structure *s, bool variant, char text[ISO_COO_TEXT_BYTES]);

#endif
