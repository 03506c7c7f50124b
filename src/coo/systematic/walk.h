/* walk.h - every schedule within bounds, once each up to symmetry, the smallest first; or some drawn at random.
 * Plain values: nothing is owned. */
#ifndef ISO_COO_SYSTEMATIC_WALK_H
#define ISO_COO_SYSTEMATIC_WALK_H

#include "coo/systematic/schedule.h"

typedef struct iso_sys_bounds {
  uint32_t transactions; /* at most; 2 to ISO_SYS_TXNS */
  uint32_t operations;   /* of a transaction, at most; 1 to ISO_SYS_OPS */
  uint32_t rows;         /* at most; 1 to ISO_SYS_ROWS */
  uint32_t predicates;   /* kinds of them, from the first; 0 to ISO_SYS_PREDICATES */
  bool unique;           /* keys are unique: a key may be inserted by several transactions, one of which fails */
} iso_sys_bounds;

enum { ISO_SYS_ALPHABET = 6 * ISO_SYS_ROWS + ISO_SYS_PREDICATES };

typedef struct iso_sys_walk {
  iso_sys_bounds bounds;
  /* The family under way. */
  uint32_t total, txns, rows;
  uint32_t counts[ISO_SYS_TXNS];
  iso_sys_step alphabet[ISO_SYS_ALPHABET];
  uint32_t letters;
  uint32_t digits[ISO_SYS_TXNS * ISO_SYS_OPS];
  uint32_t ends; /* bit i: transaction i aborts */
  uint32_t starts;
  bool begun, over;
  /* Its orders. */
  iso_sys_schedule schedule;
  iso_sys_conflicts conflicts;
  iso_sys_renaming same[ISO_SYS_RENAMINGS]; /* renamings that leave the family as it is */
  uint32_t same_count;
  bool in_family;
  uint32_t depth;
} iso_sys_walk;

iso_sys_walk iso_sys_walk_begin(iso_sys_bounds bounds);
/* False after the last. */
bool iso_sys_walk_next(iso_sys_walk *walk, iso_sys_schedule *out);

/* A schedule within the bounds in canonical form: what is done and in which order is drawn by the state of a random
 * number. */
void iso_sys_draw(iso_sys_bounds bounds, uint64_t *random, iso_sys_schedule *out);

/* ---- what both share ---- */

/* The operations there are; how many. */
uint32_t iso_sys_alphabet(const iso_sys_bounds *bounds, uint32_t rows, iso_sys_step out[ISO_SYS_ALPHABET]);

#endif
