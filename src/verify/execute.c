/* Carrying an order out on a store: does every read return what it returned?  The values in the columns are compared,
 * not which write they were resolved to. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "verify/certificate.h"
#include "verify/rows.h"

/* What the keys hold.  A key is a register or a list; what the running transaction wrote itself lies on top of it. */
typedef struct {
  const iso_placed *p;
  const isoproof_history *h;
  iso_value *value;      /* registers */
  iso_value *own_value;  /* written by the transaction in own_txn */
  uint32_t *own_txn;     /* + 1 */
  uint32_t *own_op;      /* the write that it is */
  uint32_t *written;     /* the write that a register holds; ISO_FROM_INITIAL at first */
  uint32_t *last_commit; /* where the last one that wrote the key committed, + 1 */
  uint32_t *first;       /* lists, keys + 1: where the content of a key begins, with room for all appends */
  iso_value *content;
  uint32_t *length;
  uint32_t *own_length; /* elements behind it that the running transaction appended */
  uint32_t *agrees;     /* how many elements are those of the longest list that was read of the key */
} store;

static void store_free(store *s) {
  free(s->value);
  free(s->own_value);
  free(s->own_txn);
  free(s->own_op);
  free(s->written);
  free(s->last_commit);
  free(s->first);
  free(s->content);
  free(s->length);
  free(s->own_length);
  free(s->agrees);
}

static bool store_make(store *s) {
  const isoproof_history *h = s->h;
  s->value = iso_alloc(h->keys, sizeof *s->value);
  s->own_value = iso_alloc(h->keys, sizeof *s->own_value);
  s->own_txn = iso_alloc_zero(h->keys, sizeof *s->own_txn);
  s->own_op = iso_alloc(h->keys, sizeof *s->own_op);
  s->written = iso_alloc(h->keys, sizeof *s->written);
  s->last_commit = iso_alloc_zero(h->keys, sizeof *s->last_commit);
  s->first = iso_alloc_zero((size_t)h->keys + 1, sizeof *s->first);
  s->length = iso_alloc_zero(h->keys, sizeof *s->length);
  s->own_length = iso_alloc_zero(h->keys, sizeof *s->own_length);
  s->agrees = iso_alloc_zero(h->keys, sizeof *s->agrees);
  bool made = s->value != NULL && s->own_value != NULL && s->own_txn != NULL && s->own_op != NULL &&
              s->written != NULL && s->last_commit != NULL && s->first != NULL && s->length != NULL &&
              s->own_length != NULL && s->agrees != NULL;
  if (!made) return false;
  for (uint32_t key = 0; key < h->keys; key++) {
    s->value[key] = iso_verify_initial(h, key);
    s->written[key] = ISO_FROM_INITIAL;
  }
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    for (uint32_t op = h->txn_first_op[txn]; s->p->counts[txn] && op < h->txn_first_op[txn + 1]; op++) {
      if (h->op_kind[op] == ISOPROOF_OP_APPEND) s->first[h->op_key[op] + 1]++;
    }
  }
  for (uint32_t key = 0; key < h->keys; key++) s->first[key + 1] += s->first[key];
  s->content = iso_alloc(s->first[h->keys], sizeof *s->content);
  return s->content != NULL;
}

static void append(store *s, uint32_t key, iso_value value) {
  const isoproof_history *h = s->h;
  uint32_t at = s->length[key] + s->own_length[key]++;
  s->content[s->first[key] + at] = value;
  if (s->agrees[key] < at || h->list_first == NULL) return;
  uint64_t longest = h->list_first[key + 1] - h->list_first[key];
  if (at < longest && h->list_values[h->list_first[key] + at] == value) s->agrees[key] = at + 1;
}

static bool reads_list(const store *s, uint32_t op) {
  const isoproof_history *h = s->h;
  uint32_t count, key = h->op_key[op];
  const iso_value *list = iso_history_list(h, op, &count);
  if (count != s->length[key] + s->own_length[key]) return false;
  if (count == 0) return true;
  if (h->op_value[op] < ISO_VALUE_INLINE_LIMIT) return s->agrees[key] >= count;
  return memcmp(list, s->content + s->first[key], count * sizeof *list) == 0;
}

static iso_value value_now(const store *s, uint32_t txn, uint32_t key) {
  return s->own_txn[key] == txn + 1 ? s->own_value[key] : s->value[key];
}

/* Whether as many rows meet the conditions of a count as it said; its first observation stands for all of them. */
static bool counts_rows(const store *s, uint32_t txn, uint32_t op) {
  const iso_statement *statement = iso_history_statement(s->h, op);
  int64_t met = 0;
  if (statement == NULL) return false;
  if (statement->first_op != op) return true;
  for (uint32_t i = 0; i < statement->op_count; i++) {
    uint32_t key = s->h->op_key[op + i];
    met += iso_verify_meets(s->h, statement, key, value_now(s, txn, key));
  }
  return met == statement->counted;
}

/* Whether a register holds the very write that the read is claimed to have observed. */
static bool holds_claimed(const store *s, uint32_t txn, uint32_t op) {
  uint32_t key = s->h->op_key[op], claimed = s->p->claimed != NULL ? s->p->claimed[op] : ISO_NO_OP;
  return claimed == ISO_NO_OP || (s->own_txn[key] != txn + 1 && s->written[key] == claimed);
}

/* Whether the operation does on the store what it did; what it writes stays the transaction's own.  Without `reads`,
 * which were done before, there is one thing left to see: that the own appends of a list land where they were read. */
static bool do_op(store *s, uint32_t txn, uint32_t op, bool reads) {
  const isoproof_history *h = s->h;
  uint32_t key = h->op_key[op];
  switch ((isoproof_op_kind)h->op_kind[op]) {
  case ISOPROOF_OP_WRITE:
    s->own_txn[key] = txn + 1;
    s->own_value[key] = iso_history_version(h, op);
    s->own_op[key] = op;
    return true;
  case ISOPROOF_OP_APPEND:
    append(s, key, h->op_value[op]);
    return true;
  case ISOPROOF_OP_READ:
    if (!reads || h->op_value[op] == ISO_VALUE_NONE) return true;
    if (!holds_claimed(s, txn, op)) return false;
    if (h->op_value[op] == ISO_VALUE_COUNTED) return counts_rows(s, txn, op);
    return iso_verify_shows(h, op, value_now(s, txn, key));
  case ISOPROOF_OP_READ_LIST:
    if ((!reads && s->own_length[key] == 0) || h->op_value[op] == ISO_VALUE_NONE) return true;
    return reads_list(s, op);
  default:
    return false;
  }
}

static isoproof_status do_txn(store *s, uint32_t txn, bool reads, isoproof_error *error) {
  for (uint32_t op = s->h->txn_first_op[txn]; op < s->h->txn_first_op[txn + 1]; op++) {
    if (!do_op(s, txn, op, reads)) return iso_refuse(s->p, txn, "would have read something else", error);
  }
  return ISOPROOF_OK;
}

/* Nobody else may have written one of the keys since the transaction began. */
static bool was_alone(const store *s, uint32_t txn) {
  const isoproof_history *h = s->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    bool writes = h->op_kind[op] == ISOPROOF_OP_WRITE || h->op_kind[op] == ISOPROOF_OP_APPEND;
    if (writes && s->last_commit[h->op_key[op]] > s->p->begin[txn]) return false;
  }
  return true;
}

/* Makes the transaction's own writes everybody's, or forgets them. */
static void end_txn(store *s, uint32_t txn, bool lands) {
  const isoproof_history *h = s->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    uint32_t key = h->op_key[op];
    isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
    if (kind != ISOPROOF_OP_WRITE && kind != ISOPROOF_OP_APPEND) continue;
    if (lands) {
      s->last_commit[key] = s->p->commit[txn] + 1;
      if (kind == ISOPROOF_OP_WRITE) {
        s->value[key] = s->own_value[key];
        s->written[key] = s->own_op[key];
      }
      s->length[key] += s->own_length[key];
    } else if (s->agrees[key] > s->length[key]) {
      s->agrees[key] = s->length[key];
    }
    s->own_length[key] = 0;
  }
}

/* What a transaction writes, where its reads are judged by somebody else. */
static void do_writes(store *s, uint32_t txn) {
  for (uint32_t op = s->h->txn_first_op[txn]; op < s->h->txn_first_op[txn + 1]; op++) {
    bool writes = s->h->op_kind[op] == ISOPROOF_OP_WRITE || s->h->op_kind[op] == ISOPROOF_OP_APPEND;
    if (writes) (void)do_op(s, txn, op, false);
  }
}

static isoproof_status carry_out(store *s, const isoproof_certificate_event *event, isoproof_error *error) {
  uint32_t txn = (uint32_t)event->txn;
  const iso_order_rule *rule = s->p->claim->rule;
  iso_txn_isolation own = iso_history_isolation(s->h, txn);
  bool commits = event->kind != ISOPROOF_EVENT_BEGIN;
  bool alone = rule->own_levels ? own == ISO_ISOLATION_SNAPSHOT_ISOLATION : rule->alone;
  if (rule->own_levels && own < ISO_ISOLATION_PREFIX) {
    do_writes(s, txn);
  } else {
    ISO_TRY(do_txn(s, txn, event->kind != ISOPROOF_EVENT_COMMIT, error));
  }
  if (commits && alone && !was_alone(s, txn)) {
    return iso_refuse(s->p, txn, "overlaps another writer of a key", error);
  }
  end_txn(s, txn, commits);
  return ISOPROOF_OK;
}

isoproof_status iso_verify_execution(const iso_placed *placed, isoproof_error *error) {
  enum { STEPS = 8192 };
  store s = {.p = placed, .h = placed->h};
  isoproof_status status = store_make(&s) ? ISOPROOF_OK : iso_fail_memory(error);
  for (size_t i = 0; status == ISOPROOF_OK && i < placed->claim->count; i++) {
    status = carry_out(&s, &placed->claim->events[i], error);
    if (status == ISOPROOF_OK && i % STEPS == 0) status = iso_task_check(placed->task, error);
  }
  store_free(&s);
  return status;
}
