/* Histories of the workload `bank`, in the words of a bank. */
#include "history/bank.h"

#include <isoproof/workload.h>
#include <string.h>

static bool is_text(const isoproof_history *h, iso_value value, const char *text) {
  isoproof_scalar s = iso_history_scalar(h, value);
  return s.type == ISOPROOF_STRING && s.length == strlen(text) && memcmp(s.text, text, s.length) == 0;
}

bool iso_history_is_bank(const isoproof_history *history) {
  bool ours = false, bank = false;
  for (uint32_t i = 0; i < history->fact_count && !(ours && bank); i++) {
    const iso_fact *fact = &history->facts[i];
    ours = ours || is_text(history, fact->name, "isoproof-version");
    if (!is_text(history, fact->name, "workload")) continue;
    if (!is_text(history, fact->value, "bank")) return false;
    bank = true;
  }
  return ours && bank;
}

bool iso_bank_balance(isoproof_scalar value, int64_t *balance) {
  if (value.type == ISOPROOF_NIL) {
    *balance = ISOPROOF_BANK_FIRST_BALANCE;
    return true;
  }
  if (value.type != ISOPROOF_INTEGER || value.integer < 0) return false;
  *balance = value.integer & ((INT64_C(1) << ISOPROOF_BANK_BALANCE_BITS) - 1);
  return true;
}

/* What a write did to the balance that the transaction had read. */
static bool change_of(const isoproof_history *h, uint64_t first, uint64_t write, int64_t *change) {
  isoproof_op what = {.struct_size = sizeof what}, before = {.struct_size = sizeof before};
  int64_t after, read;
  if (!isoproof_history_op_at(h, write, &what) || !iso_bank_balance(what.value, &after)) return false;
  for (uint64_t op = first; op < write; op++) {
    if (!isoproof_history_op_at(h, op, &before) || before.kind != ISOPROOF_OP_READ) continue;
    if (!isoproof_scalar_equal(before.key, what.key) || !iso_bank_balance(before.value, &read)) continue;
    *change = after - read;
    return true;
  }
  return false;
}

bool iso_bank_transfer_of(const isoproof_history *history, uint64_t txn, iso_bank_transfer *transfer) {
  uint64_t writes[2];
  size_t count = 0;
  int64_t change[2];
  if (txn >= history->txns) return false;
  uint64_t first = history->txn_first_op[txn], end = history->txn_first_op[txn + 1];
  for (uint64_t op = first; op < end; op++) {
    if (history->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    if (count == 2) return false;
    writes[count++] = op;
  }
  if (count != 2 || !change_of(history, first, writes[0], &change[0]) ||
      !change_of(history, first, writes[1], &change[1]))
    return false;
  if (change[0] + change[1] != 0 || change[0] == 0) return false;
  size_t taken = change[0] < 0 ? 0 : 1;
  isoproof_op from = {.struct_size = sizeof from}, to = {.struct_size = sizeof to};
  (void)isoproof_history_op_at(history, writes[taken], &from);
  (void)isoproof_history_op_at(history, writes[1 - taken], &to);
  *transfer = (iso_bank_transfer){from.key, to.key, change[1 - taken]};
  return true;
}

bool iso_bank_total_of(const isoproof_history *history, uint32_t txn, int64_t *total) {
  uint32_t first = history->txn_first_op[txn], end = history->txn_first_op[txn + 1];
  if (end - first != history->keys || end == first) return false;
  *total = 0;
  for (uint32_t op = first; op < end; op++) {
    int64_t balance;
    if (history->op_kind[op] != ISOPROOF_OP_READ) return false;
    if (!iso_bank_balance(iso_history_scalar(history, history->op_value[op]), &balance)) return false;
    *total += balance;
  }
  return true;
}

int64_t iso_bank_total(const isoproof_history *history) { return (int64_t)history->keys * ISOPROOF_BANK_FIRST_BALANCE; }
