/* prove_quickly.h - what of all that was asked for can be proved without the engines (check/quick).
 *
 * Levels of axioms are proved by looking reads up, strong ones by carrying the history out in the order of its times,
 * and snapshot isolation by labels.  What is not proved is as open as before.  Nothing is owned. */
#ifndef ISO_CHECK_PROVE_QUICKLY_H
#define ISO_CHECK_PROVE_QUICKLY_H

#include "check/quick/quick.h"
#include "result/result.h"

/* Strong levels of histories with fewer operations are left to the engines, which take no time for them and whose
 * tests are such histories. */
enum { ISO_PROVE_FEWEST_OPS = 16384 };

/* Tries.  Options that ask for more than verdicts are left to the engines. */
isoproof_status iso_prove_quickly(const isoproof_history *history, const isoproof_check_options *options,
                                  uint32_t fewest_ops, isoproof_task *task, iso_quick_proof *proof,
                                  isoproof_error *error);

/* Whether nothing is left of what was asked for. */
bool iso_proof_settles(const isoproof_history *history, const isoproof_check_options *options,
                       const iso_quick_proof *proof);

#endif
