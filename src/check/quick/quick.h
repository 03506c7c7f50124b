/* quick.h - proves that an axiom holds, where all of a history is sound.
 *
 * Most histories are.  Then nobody asks which operation did what: it is enough to know which transaction wrote what
 * each read saw, and that its write was its last one to the key.  So the writes go into a table by value with the
 * number of their transaction, each read is looked up once, everything that a read can give away is judged on the spot,
 * and only the edges that a sort needs are kept.  As soon as anything is wrong, or not plain (lists, rows, unknown
 * outcomes, values that are no small numbers or repeat), this gives up, and the engines that tell what is wrong begin
 * from the start.  Nothing is kept.
 */
#ifndef ISO_CHECK_QUICK_QUICK_H
#define ISO_CHECK_QUICK_QUICK_H

#include "base/task.h"
#include "history/history.h"
#include "level/method.h"

/* *proved: no pattern within transactions occurs, and the axiom (read committed, read atomic or causal) holds.  When it
 * is false, nothing is known. */
isoproof_status iso_quick_prove(const isoproof_history *history, iso_axiom axiom, isoproof_task *task, bool *proved,
                                isoproof_error *error);

#endif
