/* Wrong totals of a bank: which transactions saw all accounts, and another sum than there is. */
#include <string.h>

#include "base/words.h"
#include "history/bank.h"
#include "report/document/json.h"
#include "report/document/read.h"

enum { MOST_TOTALS = 10, MOST_BALANCES = 20 };

/* ---- from a history ---- */

static bool keep_balances(isoproof_document *d, const isoproof_history *h, uint32_t txn, iso_document_total *total) {
  uint32_t first = h->txn_first_op[txn], count = h->txn_first_op[txn + 1] - first;
  total->balance_count = count < MOST_BALANCES ? count : MOST_BALANCES;
  total->more = count - total->balance_count;
  iso_document_balance *balances = iso_arena_alloc(&d->arena, total->balance_count + 1, sizeof *balances);
  if (balances == NULL) return false;
  total->balances = balances;
  for (uint32_t i = 0; i < total->balance_count; i++) {
    char account[64];
    isoproof_scalar_format(iso_history_scalar(h, h->key_name[h->op_key[first + i]]), account, sizeof account);
    balances[i].account = iso_document_text(&d->arena, account, strlen(account), ISO_DOCUMENT_SCALAR);
    if (balances[i].account == NULL) return false;
    (void)iso_bank_balance(iso_history_scalar(h, h->op_value[first + i]), &balances[i].balance);
  }
  return true;
}

static bool keep_total(isoproof_document *d, const isoproof_history *h, uint32_t txn, int64_t sum) {
  char name[64];
  iso_document_total total = {.total = sum};
  isoproof_history_txn_name(h, txn, name, sizeof name);
  total.txn = iso_arena_text(&d->arena, name, strlen(name));
  return total.txn != NULL && keep_balances(d, h, txn, &total) && iso_vec_push(&d->bank.totals, total);
}

bool iso_document_bank_facts(isoproof_document *document, const isoproof_history *history) {
  iso_document_bank *bank = &document->bank;
  if (!iso_history_is_bank(history)) return true;
  bank->known = true;
  bank->accounts = history->keys;
  bank->total = iso_bank_total(history);
  for (uint32_t t = 0; t < history->txns; t++) {
    int64_t sum;
    if (history->txn_status[t] != ISOPROOF_TXN_COMMITTED || !iso_bank_total_of(history, t, &sum)) continue;
    bank->reads++;
    if (sum == bank->total) continue;
    if (bank->wrong++ < MOST_TOTALS && !keep_total(document, history, t, sum)) return false;
  }
  return true;
}

/* ---- JSON ---- */

void iso_put_bank_json(isoproof_json *json, const isoproof_document *document) {
  const iso_document_bank *bank = &document->bank;
  if (!bank->known) return;
  iso_json_field_object(json, "bank");
  iso_json_field_u64(json, "accounts", bank->accounts);
  iso_json_field_i64(json, "total", bank->total);
  iso_json_field_u64(json, "reads", bank->reads);
  iso_json_field_u64(json, "wrong", bank->wrong);
  iso_json_field_list(json, "wrong_totals");
  for (size_t i = 0; i < bank->totals.count; i++) {
    const iso_document_total *total = &bank->totals.items[i];
    isoproof_json_object(json);
    iso_json_field_text(json, "transaction", total->txn);
    iso_json_field_i64(json, "total", total->total);
    iso_json_field_list(json, "balances");
    for (uint32_t k = 0; k < total->balance_count; k++) {
      isoproof_json_object(json);
      iso_json_field_text(json, "account", total->balances[k].account);
      iso_json_field_i64(json, "balance", total->balances[k].balance);
      isoproof_json_end(json);
    }
    isoproof_json_end(json);
    iso_json_field_u64(json, "more", total->more);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
  isoproof_json_end(json);
}

static const char *text_at(isoproof_document *d, const iso_json *tree) {
  if (tree == NULL || tree->type != ISO_TREE_TEXT) return "";
  return iso_document_text(&d->arena, tree->text, tree->length, ISO_DOCUMENT_SCALAR);
}

static bool read_total(isoproof_document *d, const iso_json *tree) {
  iso_document_total total = {.txn = text_at(d, iso_json_find(tree, "transaction"))};
  iso_document_balance *balances = iso_arena_alloc(&d->arena, MOST_BALANCES, sizeof *balances);
  const iso_json *list = iso_json_find(tree, "balances");
  if (total.txn == NULL || balances == NULL) return false;
  (void)iso_json_i64(iso_json_find(tree, "total"), &total.total);
  (void)iso_json_u64(iso_json_find(tree, "more"), &total.more);
  for (const iso_json *one = list != NULL ? list->first : NULL; one != NULL && total.balance_count < MOST_BALANCES;
       one = one->next) {
    iso_document_balance *balance = &balances[total.balance_count++];
    balance->account = text_at(d, iso_json_find(one, "account"));
    balance->balance = 0;
    (void)iso_json_i64(iso_json_find(one, "balance"), &balance->balance);
    if (balance->account == NULL) return false;
  }
  total.balances = balances;
  return iso_vec_push(&d->bank.totals, total);
}

bool iso_read_bank(isoproof_document *document, const iso_json *tree) {
  iso_document_bank *bank = &document->bank;
  const iso_json *list = iso_json_find(tree, "wrong_totals");
  if (tree->type != ISO_TREE_MAP) return true;
  bank->known = true;
  (void)iso_json_u64(iso_json_find(tree, "accounts"), &bank->accounts);
  (void)iso_json_i64(iso_json_find(tree, "total"), &bank->total);
  (void)iso_json_u64(iso_json_find(tree, "reads"), &bank->reads);
  (void)iso_json_u64(iso_json_find(tree, "wrong"), &bank->wrong);
  for (const iso_json *one = list != NULL ? list->first : NULL; one != NULL && bank->totals.count < MOST_TOTALS;
       one = one->next)
    if (!read_total(document, one)) return false;
  return true;
}

/* ---- in words ---- */

/* "1,003" */
static void add_amount(iso_words *words, int64_t amount) {
  char digits[32];
  uint64_t size = amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount;
  size_t at = sizeof digits, count = 0;
  digits[--at] = '\0';
  do {
    if (count > 0 && count % 3 == 0) digits[--at] = ',';
    digits[--at] = (char)('0' + size % 10);
    count++;
  } while ((size /= 10) > 0);
  iso_words_add(words, "%s%s", amount < 0 ? "-" : "", digits + at);
}

void iso_tell_bank(iso_words *words, const iso_document_bank *bank) {
  iso_words_add(words, "%llu of %llu reads of all %llu accounts saw another total than ",
                (unsigned long long)bank->wrong, (unsigned long long)bank->reads, (unsigned long long)bank->accounts);
  add_amount(words, bank->total);
}

void iso_tell_total(iso_words *words, const iso_document_bank *bank, const iso_document_total *total) {
  iso_words_add(words, "%s saw a total of ", total->txn);
  add_amount(words, total->total);
  iso_words_add(words, " instead of ");
  add_amount(words, bank->total);
  iso_words_add(words, ":");
  for (uint32_t i = 0; i < total->balance_count; i++) {
    iso_words_add(words, "%s account %s: balance ", i > 0 ? "," : "", total->balances[i].account);
    add_amount(words, total->balances[i].balance);
  }
  if (total->more > 0) iso_words_add(words, ", and %llu more", (unsigned long long)total->more);
}

bool iso_tell_transfers(iso_words *words, const isoproof_history *history, const isoproof_anomaly *anomaly) {
  if (!iso_history_is_bank(history)) return true;
  for (size_t i = 0; i < anomaly->txn_count && i < MOST_TOTALS; i++) {
    iso_bank_transfer moved;
    char name[64], from[64], to[64];
    if (!iso_bank_transfer_of(history, anomaly->txns[i], &moved)) continue;
    isoproof_history_txn_name(history, anomaly->txns[i], name, sizeof name);
    isoproof_scalar_format(moved.from, from, sizeof from);
    isoproof_scalar_format(moved.to, to, sizeof to);
    iso_words_add(words, " %s moves ", name);
    add_amount(words, moved.amount);
    iso_words_add(words, " from account %s to account %s.", from, to);
  }
  return !words->failed;
}
