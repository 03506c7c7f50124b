/* choice_witness.h - the witness of a level that no choice of observed writes satisfies.
 *
 * Every choice has a violation, but not every violation is worth showing: under a choice that satisfies a weaker level,
 * what is left is a violation of the very level.  Where no such choice is found soon, a refutation tells which reads it
 * does without; the history without these is violated by itself, mostly by what is known for certain.
 */
#ifndef ISO_CHECK_CHOICE_WITNESS_H
#define ISO_CHECK_CHOICE_WITNESS_H

#include "check/decide_open.h"

/* Keeps a result that shows the violation.  A better witness may take `seconds`, about the time that the verdict took,
 * once for a choice and once for a violation under it; past that any will do.  The resolution of the history is what it
 * was afterwards. */
isoproof_status iso_choice_witness(isoproof_history *history, const isoproof_check_options *options,
                                   const isoproof_level_info *level, const iso_refutation *refutation, double seconds,
                                   isoproof_task *task, iso_outcome *kept, isoproof_error *error);

/* Keeps a result of the history without the reads that the refutation, which has `shown`, does without; none where that
 * finds no violation.  What is found is a violation with these reads as well, and who looks at it sees what they may
 * have observed. */
isoproof_status iso_core_witness(isoproof_history *history, const isoproof_check_options *options,
                                 const iso_refutation *refutation, isoproof_task *task, iso_outcome *kept,
                                 isoproof_error *error);

#endif
