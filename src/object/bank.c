/* A bank: transfers move money between accounts, so that every read of all of them shows the same total. */
#include "history/numbering.h"
#include "object/object.h"

typedef struct bank {
  const iso_object_history *h;
  const isoproof_object_options *options;
  iso_object_report *report;
  iso_pool_view view;
  iso_numbering accounts; /* of the first read */
  size_t account_count;
  bool has_total;
  int64_t total;
} bank;

static isoproof_status first_read(bank *b, const iso_object_op *op, isoproof_error *error) {
  const iso_value *values = iso_object_values(b->h, op);
  for (uint32_t i = 0; i < op->count; i += 2) {
    uint32_t number;
    ISO_TRY(iso_numbering_add(&b->accounts, values[i], &number, error));
  }
  b->account_count = b->accounts.count;
  return ISOPROOF_OK;
}

/* What is wrong with one account: a name nobody expects, no balance, or too small a one. */
static isoproof_status judge_account(bank *b, const iso_object_op *op, iso_value account, iso_value balance, bool *bad,
                                     int64_t *sum, isoproof_error *error) {
  uint32_t number;
  int64_t amount = 0;
  ISO_TRY(iso_numbering_add(&b->accounts, account, &number, error));
  bool unexpected = number >= b->account_count, nothing = balance == ISO_VALUE_NIL;
  if (!nothing && !iso_pool_integer(&b->view, balance, &amount)) {
    return iso_object_expected(b->h, op, "a map of accounts and integers", error);
  }
  if (__builtin_add_overflow(*sum, amount, sum)) {
    return iso_object_expected(b->h, op, "balances that can be added up", error);
  }
  bool negative = amount < 0 && !b->options->negative_balances;
  if (!unexpected && !nothing && !negative) return ISOPROOF_OK;
  *bad = true;
  if (!iso_object_problem(b->report)) return ISOPROOF_OK;
  iso_words_add(&b->report->words, "line %llu: account ", (unsigned long long)op->line);
  iso_object_say(b->report, b->h, account);
  if (unexpected) {
    iso_words_add(&b->report->words, " is none of those that the first read shows");
  } else if (nothing) {
    iso_words_add(&b->report->words, " has no balance");
  } else {
    iso_words_add(&b->report->words, " is at %lld", (long long)amount);
  }
  return ISOPROOF_OK;
}

static isoproof_status judge_read(bank *b, const iso_object_op *op, isoproof_error *error) {
  const iso_value *values = iso_object_values(b->h, op);
  int64_t sum = 0;
  bool bad = false;
  for (uint32_t i = 0; i < op->count; i += 2) {
    ISO_TRY(judge_account(b, op, values[i], values[i + 1], &bad, &sum, error));
  }
  if (bad) return ISOPROOF_OK;
  if (!b->has_total) {
    b->has_total = true;
    b->total = sum;
  }
  if (sum != b->total && iso_object_problem(b->report)) {
    iso_words_add(&b->report->words, "line %llu: the accounts add up to %lld instead of %lld",
                  (unsigned long long)op->line, (long long)sum, (long long)b->total);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_object_check_bank(const iso_object_history *h, const isoproof_object_options *options,
                                      isoproof_task *task, iso_object_report *report, isoproof_error *error) {
  bank b = {.h = h, .options = options, .report = report, .view = iso_pool_look(&h->pool)};
  isoproof_status status = ISOPROOF_OK;
  bool first = true;
  b.has_total = options->has_total;
  b.total = options->total;
  iso_numbering_init(&b.accounts);
  for (size_t i = 0; status == ISOPROOF_OK && i < h->ops.count; i++) {
    const iso_object_op *op = &h->ops.items[i];
    if (op->f != ISO_OBJECT_F_READ || op->outcome != ISOPROOF_TXN_COMMITTED) continue;
    if ((i & 1023) == 0) status = iso_task_check(task, error);
    if (op->shape != ISO_SHAPE_MAP) status = iso_object_expected(h, op, "a map of accounts and balances", error);
    if (status == ISOPROOF_OK && first) status = first_read(&b, op, error);
    first = false;
    if (status == ISOPROOF_OK) status = judge_read(&b, op, error);
  }
  iso_numbering_free(&b.accounts);
  return status;
}
