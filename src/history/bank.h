/* bank.h - histories of the workload `bank`, whose values hold balances, in the words of a bank.
 *
 * A key is an account.  A value is the balance, in its low bits, and a number above them that makes it unique.  Nothing
 * is owned.
 */
#ifndef ISO_HISTORY_BANK_H
#define ISO_HISTORY_BANK_H

#include "history/history.h"

/* Whether isoproof recorded the history with that workload. */
bool iso_history_is_bank(const isoproof_history *history);
/* The balance that a value of such a history stands for; false where it is none.  Nobody wrote nil yet: an account then
 * has its first balance. */
bool iso_bank_balance(isoproof_scalar value, int64_t *balance);

/* What a transaction moved: it took `amount` from one account and gave it to another one. */
typedef struct iso_bank_transfer {
  isoproof_scalar from, to;
  int64_t amount;
} iso_bank_transfer;

/* False for a transaction that is no transfer. */
bool iso_bank_transfer_of(const isoproof_history *history, uint64_t txn, iso_bank_transfer *transfer);

/* What a transaction saw that read every account and wrote nothing: the sum of all balances.  False for others. */
bool iso_bank_total_of(const isoproof_history *history, uint32_t txn, int64_t *total);
/* What all accounts hold together. */
int64_t iso_bank_total(const isoproof_history *history);

#endif
