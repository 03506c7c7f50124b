/* value_window.h - a stretch of an order of transactions carried out anew, so that every read within it is right.
 *
 * A private header of value_mend.c.  Where moves one at a time leave a few reads that find another value, those around
 * them are put in order all at once, by a search that goes back where it is stuck; everybody else stays.  Of few keys
 * such a search branches little: who goes next has to find what it read, and must not take away a value that somebody
 * still has to find and nobody writes again.
 */
#ifndef ISO_CHECK_ORDER_VALUE_WINDOW_H
#define ISO_CHECK_ORDER_VALUE_WINDOW_H

#include "check/order/value_line.h"

/* What a transaction does to a key: classes of value_classes.h, or ISO_NO_CLASS. */
typedef struct iso_value_window_access {
  uint32_t key;
  uint32_t read, write;
} iso_value_window_access;

typedef struct iso_value_window_txn {
  uint32_t first, end;   /* its accesses */
  uint32_t before;       /* the place in the window of the one before it in its chain, or ISO_NO_TXN */
  uint32_t starts, ends; /* ticks: who ends before another one starts comes before it */
} iso_value_window_txn;

/* A key at both ends of the window. */
typedef struct iso_value_window_key {
  uint32_t now;    /* the class at the beginning */
  uint32_t wanted; /* the class at the end; ISO_NO_CLASS where it does not matter */
} iso_value_window_key;

/* Classes and keys are numbered from 0 without gaps. */
typedef struct iso_value_window {
  ISO_VEC(iso_value_window_txn) txns; /* in the order at hand */
  ISO_VEC(iso_value_window_access) accesses;
  ISO_VEC(iso_value_window_key) keys;
  uint32_t classes;
  uint64_t most_steps; /* transactions looked at */
  uint64_t steps;      /* that it took */
} iso_value_window;

void iso_value_window_free(iso_value_window *window);

/* Finds an order of the transactions, as places in the window: order[0] is who goes first.  *found is false where there
 * is none, or it takes too long. */
isoproof_status iso_value_window_solve(iso_value_window *window, uint32_t *order, bool *found, isoproof_error *error);

#endif
