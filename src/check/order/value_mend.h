/* value_mend.h - the last few reads of an order that find another value, mended by putting those around them in order.
 *
 * A private header of value_walk.c.
 */
#ifndef ISO_CHECK_ORDER_VALUE_MEND_H
#define ISO_CHECK_ORDER_VALUE_MEND_H

#include "check/order/value_line.h"

/* Tries windows around each broken read, from a few transactions up to some thousand, and reorders those in which every
 * read can be right (value_window.h); nobody outside notices.  *steps counts down what may be spent. */
isoproof_status iso_value_mend(iso_value_line *line, uint64_t *steps, isoproof_task *task, isoproof_error *error);

#endif
