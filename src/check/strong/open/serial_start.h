/* serial_start.h - a serial order of a history with open reads, as far as there is one, where sessions are many.
 *
 * Along an order that is serial but for a few reads nearly every read finds its version at once, whatever the level is.
 * It is guessed as at serializable (guess.h): from the order in which values count up (check/order/value_order.h), or
 * else, if that is asked for, from springs.  Nothing here proves anything.
 */
#ifndef ISO_CHECK_STRONG_OPEN_SERIAL_START_H
#define ISO_CHECK_STRONG_OPEN_SERIAL_START_H

#include "check/order/sequence.h"
#include "check/strong/open/open_reads.h"

typedef struct iso_serial_start {
  int64_t *when;   /* by transaction; NULL where no order was found that is worth anything */
  uint64_t broken; /* transactions that the order does not explain */
  bool few;        /* these are few */
} iso_serial_start;

/* How much that is worth: little more than a look; seconds where operations are millions, for an order that is wrong
 * for a handful of reads; or for one that is right, if there is one. */
typedef enum iso_serial_effort { ISO_SERIAL_LOOK, ISO_SERIAL_NEARLY, ISO_SERIAL_MEND } iso_serial_effort;

/* A handful. */
#define ISO_SERIAL_FEW 16

/* `known` is an order of all transactions of the view of the reads that are known, to begin with springs; NULL for an
 * order of values only.  The caller frees start->when, also where this fails. */
isoproof_status iso_serial_start_find(iso_view *view, const iso_open_reads *open, iso_doubt *doubt,
                                      const iso_sequence *known, iso_serial_effort effort, isoproof_task *task,
                                      iso_serial_start *start, isoproof_error *error);

#endif
