/* certificate.h - does an order of transactions prove that a history satisfies a level?
 *
 * An independent judge of certificates: it knows the definitions and the columns of the history (and, for the rules
 * about visibility, which write each read observed that the claim says nothing of), and nothing of the search that
 * found the order.  An order is believed only when every transaction that took effect stands in it once, sessions and
 * real time are kept, and the rule holds for every read.  Nothing is owned beyond a call.
 */
#ifndef ISO_VERIFY_CERTIFICATE_H
#define ISO_VERIFY_CERTIFICATE_H

#include <isoproof/check.h>

#include "base/task.h"
#include "history/history.h"
#include "verify/rules.h"

typedef struct iso_claim {
  const iso_order_rule *rule;
  bool session_order; /* which the rules about visibility always have */
  bool real_time;
  const isoproof_certificate_event *events;
  size_t count;
  const isoproof_edge *observed; /* which writes reads observed whose values do not tell */
  size_t observed_count;
} iso_claim;

/* ISOPROOF_OK when the order proves it; ISOPROOF_ERR_INTERNAL, with the place where it does not hold, when it does not.
 */
isoproof_status iso_verify_order(isoproof_history *history, const iso_claim *claim, isoproof_task *task,
                                 isoproof_error *error);

/* ---- the parts of it ---- */

#define ISO_NOT_PLACED UINT32_MAX

/* An order that is complete and keeps sessions and real time. */
typedef struct iso_placed {
  isoproof_history *h;
  const iso_claim *claim;
  uint8_t *counts;   /* one byte per transaction: it took effect */
  uint32_t *begin;   /* by transaction: where its begin stands, or itself */
  uint32_t *commit;  /* where its commit stands, or itself; ISO_NOT_PLACED where it takes no part */
  uint32_t *claimed; /* by operation: the write that the read is claimed to have observed, ISO_FROM_INITIAL for the
                        initial version, ISO_NO_OP where nothing is claimed; NULL where nothing is at all */
  isoproof_task *task;
} iso_placed;

/* Enters what reads are claimed to have observed: each a last write of somebody else who took effect, of the same key
 * and with what the read showed. */
isoproof_status iso_place_observed(iso_placed *placed, isoproof_error *error);

isoproof_status iso_verify_execution(const iso_placed *placed, isoproof_error *error);
isoproof_status iso_verify_visibility(const iso_placed *placed, isoproof_error *error);
/* By carrying out what reads of a state, and by visibility what reads by an axiom of SO and WR. */
isoproof_status iso_verify_own_levels(const iso_placed *placed, isoproof_error *error);

/* Says that the order fails at a transaction. */
isoproof_status iso_refuse(const iso_placed *placed, uint64_t txn, const char *why, isoproof_error *error);

#endif
