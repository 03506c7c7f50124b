/* What becomes of unknown transactions, and of levels of their own, in formats that know only committed and aborted:
 * one that somebody read from did commit; one that nobody read from can be left out without changing any verdict. */
#include <stdlib.h>

#include "format/format.h"
#include "history/effect.h"

static isoproof_status refuse_unknown(const isoproof_history *h, const char *format_name, isoproof_error *error) {
  uint32_t txn = 0;
  while (h->txn_status[txn] != ISOPROOF_TXN_UNKNOWN) txn++;
  char name[64];
  isoproof_history_txn_name(h, txn, name, sizeof name);
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                  "%s can express only committed and aborted transactions, but the outcome of %u is unknown, that of "
                  "%s to begin with",
                  format_name, h->unknown, name);
}

/* Levels of their own decide about a verdict: they are left out only by order. */
static isoproof_status leave_isolation_out(iso_write_job *job, const char *format_name) {
  const isoproof_history *h = job->history;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (iso_history_isolation(h, t) == ISO_ISOLATION_NONE) continue;
    if (job->lossy) {
      job->loss->isolations++;
      continue;
    }
    char name[64];
    isoproof_history_txn_name(h, t, name, sizeof name);
    return iso_fail(job->error, ISOPROOF_ERR_UNSUPPORTED,
                    "%s has no place for the isolation levels of transactions, and that of %s is %s", format_name, name,
                    iso_txn_isolation_id(iso_history_isolation(h, t)));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_write_outcomes(iso_write_job *job, const char *format_name, uint8_t **as) {
  const isoproof_history *h = job->history;
  *as = NULL;
  if (h->unknown > 0 && !job->lossy) return refuse_unknown(h, format_name, job->error);
  ISO_TRY(leave_isolation_out(job, format_name));
  /* Indexes are made on demand under the lock of the history, which is immutable otherwise. */
  uint8_t *outcomes;
  ISO_TRY(iso_history_effect((isoproof_history *)(uintptr_t)h, job->task, &outcomes, job->error));
  for (uint32_t t = 0; t < h->txns; t++) {
    bool counts = outcomes[t] != 0;
    outcomes[t] = counts                                     ? ISO_WRITE_COMMITTED
                  : h->txn_status[t] == ISOPROOF_TXN_ABORTED ? ISO_WRITE_ABORTED
                                                             : ISO_WRITE_NOT;
    if (h->txn_status[t] != ISOPROOF_TXN_UNKNOWN) continue;
    job->loss->promoted_txns += counts;
    job->loss->unknown_txns += !counts;
  }
  *as = outcomes;
  return ISOPROOF_OK;
}
