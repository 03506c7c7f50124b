/* certificate.h - does an order of transactions prove that a history satisfies a level?
 *
 * An independent judge of certificates: it knows the definitions and the columns of the history (and, for the rules
 * about visibility, which write each read observed), and nothing of the search that found the order.  An order is
 * believed only when every transaction that took effect stands in it once, sessions and real time are kept, and the
 * rule holds for every read.  Nothing is owned beyond a call.
 */
#ifndef ISO_VERIFY_CERTIFICATE_H
#define ISO_VERIFY_CERTIFICATE_H

#include <isoproof/check.h>

#include "base/task.h"
#include "history/history.h"

/* What an order can claim: C name, whether its events are begins and commits, what is checked. */
#define ISO_CLAIM_LIST(X)                                                                                              \
  X(SERIALIZABLE, false, "run one after the other, transactions read what they read")                                  \
  X(SNAPSHOT, true, "they do with the store of their begin, and no two writers of a key overlap")                      \
  X(PREFIX, true, "they do with the store of their begin")                                                             \
  X(PARALLEL, false, "no later writer reaches the reader by SO, WR and WW")                                            \
  X(UPDATE_ATOMIC, false, "no later writer reaches the reader by one edge of SO, WR or WW")                            \
  X(CAUSAL, false, "no later writer reaches the reader by SO and WR")                                                  \
  X(READ_ATOMIC, false, "no later writer reaches the reader by one edge of SO or WR")                                  \
  X(READ_COMMITTED, false, "nobody whom the reader read from before, by another key, is a later writer")

typedef enum iso_claim_rule {
#define ISO_X(name, split, text) ISO_CLAIM_##name,
  ISO_CLAIM_LIST(ISO_X)
#undef ISO_X
      ISO_CLAIMS
} iso_claim_rule;

typedef struct iso_claim {
  iso_claim_rule rule;
  bool session_order; /* which the rules about visibility always have */
  bool real_time;
  const isoproof_certificate_event *events;
  size_t count;
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
  uint8_t *counts;  /* one byte a transaction: it took effect */
  uint32_t *begin;  /* by transaction: where its begin stands, or itself */
  uint32_t *commit; /* where its commit stands, or itself; ISO_NOT_PLACED where it takes no part */
  isoproof_task *task;
} iso_placed;

isoproof_status iso_verify_execution(const iso_placed *placed, isoproof_error *error);
isoproof_status iso_verify_visibility(const iso_placed *placed, isoproof_error *error);

/* Says that the order fails at a transaction. */
isoproof_status iso_refuse(const iso_placed *placed, uint64_t txn, const char *why, isoproof_error *error);

#endif
