/* ops.h - operations on their way back: those of a few transactions for a witness, or all.
 *
 * Nothing is owned but what is returned.
 */
#ifndef ISO_PARTS_OPS_H
#define ISO_PARTS_OPS_H

#include "parts/question.h"

/* The operations of the transactions that the question names, as a shipment (parts/ship.h) with every list whole.
 * Where not all are named, what was written by others is left out: elements of lists, and reads that would have nobody
 * to read from, so that what is left shows no anomaly that the whole does not have. */
isoproof_status iso_part_tell_ops(const iso_member *member, iso_part *part, iso_bytes *out, isoproof_error *error);

/* A history with all transactions of the skeleton, which is one without operations, and the operations that parts
 * answered with; whoever has a byte of 1 in `counts` (may be NULL) is committed in it.  The caller frees it. */
isoproof_status iso_gather(const isoproof_history *skeleton, const uint8_t *counts, const iso_bytes *answers,
                           uint32_t parts, isoproof_task *task, isoproof_history **history, isoproof_error *error);

/* The same from the columns of a history of registers whose values do not repeat: with the operations of the
 * transactions named, in any order, but for what they read from others. */
isoproof_status iso_gather_columns(const isoproof_history *whole, uint32_t *txns, size_t count, isoproof_task *task,
                                   isoproof_history **history, isoproof_error *error);

/* The same without other transactions; `padded`: those before them in their sessions are there, without operations, so
 * that they have the same numbers. */
isoproof_status iso_excerpt(const isoproof_history *whole, uint32_t *txns, size_t count, bool padded,
                            isoproof_history **history, isoproof_error *error);

#endif
