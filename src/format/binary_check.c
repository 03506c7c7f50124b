/* A checksum shows accidents, not malice: before anything uses the columns of a binary file, every number in them that
 * is ever used as an index is checked here, in linear loops. */
#include <stdatomic.h>
#include <string.h>

#include "base/pages.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/vector.h"
#include "format/binary.h"
#include "format/jsonl.h"

enum { BLOCK = 4096 };

isoproof_status iso_binary_bad(const isoproof_history *h, isoproof_error *error, const char *column, uint64_t at,
                               const char *expected) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, (iso_place){h->file, 0, 0, -1},
                     "section %s, element %llu: expected %s", column, (unsigned long long)at, expected);
}

/* ---- codes of values ---- */

static inline bool code_ok(iso_value code, uint32_t pool_count) {
  return code <= ISO_VALUE_NIL || code == ISO_VALUE_NONE || (code & ~ISO_VALUE_INTERNED) < pool_count;
}

isoproof_status iso_binary_check_codes(const isoproof_history *h, const iso_value *codes, uint64_t count,
                                       const char *column, isoproof_error *error) {
  if (codes == NULL) return ISOPROOF_OK;
  uint32_t pool_count = h->pool.count;
  for (uint64_t first = 0; first < count; first += BLOCK) {
    uint64_t end = first + BLOCK < count ? first + BLOCK : count;
    bool wrong = false;
    for (uint64_t i = first; i < end; i++) wrong |= !code_ok(codes[i], pool_count);
    if (!wrong) continue;
    while (code_ok(codes[first], pool_count)) first++;
    return iso_binary_bad(h, error, column, first, "a value, or an entry of the pool");
  }
  return ISOPROOF_OK;
}

/* ---- offsets ---- */

static isoproof_status check_first32(const isoproof_history *h, const uint32_t *first, uint32_t count, uint32_t total,
                                     const char *column, isoproof_error *error) {
  if (first[0] != 0) return iso_binary_bad(h, error, column, 0, "0");
  for (uint32_t i = 0; i < count; i++) {
    if (first[i] > first[i + 1])
      return iso_binary_bad(h, error, column, (uint64_t)i + 1, "no less than the element before");
  }
  return first[count] == total ? ISOPROOF_OK
                               : iso_binary_bad(h, error, column, count, "the number of elements that it divides");
}

isoproof_status iso_binary_check_offsets(const isoproof_history *h, const uint64_t *first, uint32_t from, uint32_t end,
                                         uint64_t total, const char *column, isoproof_error *error) {
  if (from == 0 && first[0] != 0) return iso_binary_bad(h, error, column, 0, "0");
  for (uint32_t i = from; i < end; i++) {
    if (first[i] > first[i + 1] || first[i + 1] - first[i] >= ISO_VALUE_INLINE_LIMIT) {
      return iso_binary_bad(h, error, column, (uint64_t)i + 1, "no less than the element before, and not much more");
    }
  }
  return first[end] <= total ? ISOPROOF_OK
                             : iso_binary_bad(h, error, column, end, "the number of elements that it divides");
}

static isoproof_status check_first64(const isoproof_history *h, const uint64_t *first, uint32_t count, uint64_t total,
                                     const char *column, isoproof_error *error) {
  if (first == NULL) return ISOPROOF_OK;
  ISO_TRY(iso_binary_check_offsets(h, first, 0, count, total, column, error));
  return first[count] == total ? ISOPROOF_OK
                               : iso_binary_bad(h, error, column, count, "the number of elements that it divides");
}

/* ---- the pool ---- */

static bool entry_ok(const isoproof_history *h, const iso_pool_entry *entry, uint64_t *text_end) {
  switch (entry->type) {
  case ISOPROOF_INTEGER:
    return entry->length == 0 && entry->payload >= ISO_VALUE_INLINE_LIMIT;
  case ISOPROOF_UNSIGNED:
    return entry->length == 0 && entry->payload > INT64_MAX;
  case ISOPROOF_STRING:
  case ISOPROOF_KEYWORD:
  case ISOPROOF_SYMBOL:
    break;
  default:
    return false;
  }
  /* In order and without overlap, so that looking at every text is linear in the size of the file. */
  uint64_t bytes = h->pool.text_bytes;
  if (entry->payload < *text_end || entry->payload > bytes || entry->length >= bytes - entry->payload) return false;
  const char *text = h->pool.text + entry->payload;
  *text_end = entry->payload + entry->length + 1;
  return text[entry->length] == '\0' && iso_utf8_valid(text, entry->length);
}

/* A fact must survive as a field of the header of the text form. */
static bool fact_name_ok(const isoproof_history *h, iso_value code) {
  const iso_pool_entry *entry = &h->pool.entries[code & ~ISO_VALUE_INTERNED];
  const char *name = h->pool.text + entry->payload;
  return entry->length <= ISO_JSONL_FACT_NAME && strlen(name) == entry->length && strcmp(name, "isoproof") != 0 &&
         strcmp(name, "initial") != 0;
}

static isoproof_status check_pool(const isoproof_history *h, isoproof_error *error) {
  uint64_t text_end = 0;
  for (uint32_t i = 0; i < h->pool.count; i++) {
    if (entry_ok(h, &h->pool.entries[i], &text_end)) continue;
    return iso_binary_bad(h, error, "POOL_ENTRIES", i,
                          "a large number, or a terminated UTF-8 text behind the one before");
  }
  if (h->fact_count > ISO_JSONL_FACTS) return iso_binary_bad(h, error, "FACTS", ISO_JSONL_FACTS, "fewer facts");
  for (uint32_t i = 0; i < h->fact_count; i++) {
    const iso_value codes[] = {h->facts[i].name, h->facts[i].value};
    for (size_t c = 0; c < 2; c++) {
      uint32_t entry = codes[c] & ~ISO_VALUE_INTERNED;
      if (codes[c] >= ISO_VALUE_INTERNED && entry < h->pool.count && h->pool.entries[entry].type == ISOPROOF_STRING) {
        continue;
      }
      return iso_binary_bad(h, error, "FACTS", i, "two texts of the pool");
    }
    if (!fact_name_ok(h, codes[0]))
      return iso_binary_bad(h, error, "FACTS", i, "a name that the header of the text form can hold");
  }
  return ISOPROOF_OK;
}

/* ---- transactions and sessions ---- */

static isoproof_status check_txns(const isoproof_history *h, isoproof_error *error) {
  for (uint32_t s = 0; s < h->sessions; s++) {
    for (uint32_t t = h->session_first_txn[s]; t < h->session_first_txn[s + 1]; t++) {
      if (h->txn_session[t] != s)
        return iso_binary_bad(h, error, "TXN_SESSION", t, "the session that has the transaction");
    }
  }
  for (uint32_t t = 0; t < h->txns; t++) {
    if (h->txn_status[t] > ISOPROOF_TXN_UNKNOWN) return iso_binary_bad(h, error, "TXN_STATUS", t, "0, 1 or 2");
  }
  for (uint32_t t = 0; h->txn_isolation_opt != NULL && t < h->txns; t++) {
    if (h->txn_isolation_opt[t] >= ISO_ISOLATIONS) return iso_binary_bad(h, error, "TXN_ISOLATION", t, "0 to 6");
  }
  for (uint32_t t = 0; h->txn_start_index_opt != NULL && t < h->txns; t++) {
    if (h->txn_start_index_opt[t] < -1) return iso_binary_bad(h, error, "TXN_START_INDEX", t, "-1 or more");
    if (h->txn_end_index_opt[t] < -1) return iso_binary_bad(h, error, "TXN_END_INDEX", t, "-1 or more");
  }
  return ISOPROOF_OK;
}

/* ---- operations ---- */

static inline bool list_code_ok(const isoproof_history *h, uint32_t key, iso_value code) {
  if (code == ISO_VALUE_NIL || code == ISO_VALUE_NONE) return true;
  if (code >= ISO_VALUE_INTERNED) return (code & ~ISO_VALUE_INTERNED) < h->odd_lists;
  return h->list_first != NULL && code <= h->list_first[key + 1] - h->list_first[key];
}

/* Where the initial version is 0, readers of text make a read of 0 one of nil, and nothing behind them expects another.
 */
static inline bool is_zero_read(uint8_t kind, iso_value value) { return kind == ISOPROOF_OP_READ && value == 0; }

static bool op_ok(const isoproof_history *h, uint64_t op) {
  if (h->op_kind[op] >= ISOPROOF_OP_KINDS || h->op_key[op] >= h->keys) return false;
  if (h->initial_is_zero && is_zero_read(h->op_kind[op], h->op_value[op])) return false;
  if (iso_kind_is_list((isoproof_op_kind)h->op_kind[op])) return list_code_ok(h, h->op_key[op], h->op_value[op]);
  /* The marks of what a statement observed; which of them goes where is looked at with the statements. */
  bool observed = iso_history_form(h, (uint32_t)op) >= ISO_ROW_PREDICATE && h->op_kind[op] == ISOPROOF_OP_READ;
  if (observed && h->op_value[op] >= ISO_VALUE_COUNTED) return h->op_value[op] != ISO_VALUE_NONE;
  return code_ok(h->op_value[op], h->pool.count);
}

/* One pass without branches says whether a closer look is needed: always where there are list reads. */
static bool block_is_plain(const isoproof_history *h, uint64_t first, uint64_t end) {
  const uint8_t *kind = h->op_kind;
  const uint32_t *key = h->op_key;
  const iso_value *value = h->op_value;
  uint32_t keys = h->keys, pool_count = h->pool.count;
  uint8_t wrong_kind = 0;
  uint32_t wrong = 0;
  for (uint64_t i = first; i < end; i++) {
    uint8_t k = kind[i];
    wrong_kind |= (uint8_t)((k >= ISOPROOF_OP_KINDS) | (k == ISOPROOF_OP_READ_LIST) | (k == ISOPROOF_OP_READ_SET) |
                            (k == ISOPROOF_OP_READ_PREDICATE));
  }
  for (uint64_t i = first; i < end; i++) wrong |= (uint32_t)(key[i] >= keys);
  for (uint64_t i = first; i < end; i++) {
    uint32_t v = value[i];
    wrong |= (uint32_t)(v > ISO_VALUE_NIL) & (uint32_t)(v != ISO_VALUE_NONE) &
             (uint32_t)((v & ~ISO_VALUE_INTERNED) >= pool_count);
  }
  for (uint64_t i = first; h->initial_is_zero && i < end; i++) wrong |= (uint32_t)is_zero_read(kind[i], value[i]);
  return wrong_kind == 0 && wrong == 0;
}

typedef struct op_check {
  const isoproof_history *history;
  uint64_t first, end;
  atomic_uchar *used;       /* by key: whether an operation has it */
  atomic_uint_fast64_t bad; /* an operation that is wrong, UINT64_MAX none */
} op_check;

static void let_go(const isoproof_history *h, uint64_t first, uint64_t end) {
  iso_pages_let_go(h->op_kind, first, end);
  iso_pages_let_go(h->op_key, first * sizeof *h->op_key, end * sizeof *h->op_key);
  iso_pages_let_go(h->op_value, first * sizeof *h->op_value, end * sizeof *h->op_value);
}

static void check_op_range(void *context, unsigned thread, unsigned threads) {
  op_check *check = context;
  const isoproof_history *h = check->history;
  uint64_t first, end;
  iso_parallel_range(check->end - check->first, thread, threads, &first, &end);
  first += check->first;
  end += check->first;
  for (; first < end; first += BLOCK) {
    uint64_t stop = first + BLOCK < end ? first + BLOCK : end;
    uint64_t op = first;
    if (block_is_plain(h, first, stop)) op = stop;
    while (op < stop && op_ok(h, op)) op++;
    if (op < stop) {
      atomic_store(&check->bad, op);
      return;
    }
    for (op = first; op < stop; op++) atomic_store_explicit(&check->used[h->op_key[op]], 1, memory_order_relaxed);
    if (h->frugal) let_go(h, first, stop);
  }
}

static isoproof_status check_each_op(op_check *check, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = check->history;
  iso_parallel(check->end - check->first > 64 * BLOCK ? iso_task_threads(task) : 1, check_op_range, check);
  uint64_t op = atomic_load(&check->bad);
  if (op == UINT64_MAX) return ISOPROOF_OK;
  if (h->op_kind[op] >= ISOPROOF_OP_KINDS) return iso_binary_bad(h, error, "OP_KIND", op, "a known kind of operation");
  if (h->op_key[op] >= h->keys) return iso_binary_bad(h, error, "OP_KEY", op, "the number of a key");
  bool zero = h->initial_is_zero && is_zero_read(h->op_kind[op], h->op_value[op]);
  return iso_binary_bad(h, error, "OP_VALUE", op,
                        zero ? "nil for the initial version, which is 0"
                             : "a value, an entry of the pool, or a part of a list of the key");
}

isoproof_status iso_binary_validate_ops(const isoproof_history *h, uint64_t first, uint64_t end, uint8_t *used,
                                        isoproof_task *task, isoproof_error *error) {
  op_check check = {.history = h, .first = first, .end = end, .used = (atomic_uchar *)used};
  atomic_init(&check.bad, UINT64_MAX);
  return check_each_op(&check, task, error);
}

static isoproof_status check_ops(const isoproof_history *h, isoproof_task *task, isoproof_error *error) {
  uint8_t *used = iso_alloc_zero(h->keys, sizeof *used);
  if (used == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_binary_validate_ops(h, 0, h->ops, used, task, error);
  for (uint32_t key = 0; key < h->keys && status == ISOPROOF_OK; key++) {
    bool there = used[key] != 0 || iso_history_initial(h, key) != ISO_VALUE_NIL;
    if (!there)
      status = iso_binary_bad(h, error, "KEY_NAME", key, "a key that an operation has, or a row at the start");
  }
  free(used);
  return status;
}

/* An odd list is what one operation read: whose its elements are depends on the key of that one. */
static isoproof_status check_odd_lists(const isoproof_history *h, isoproof_error *error) {
  if (h->odd_lists == 0) return ISOPROOF_OK;
  uint8_t *taken = iso_alloc_zero(h->odd_lists, 1);
  if (taken == NULL) return iso_fail_memory(error);
  isoproof_status status = ISOPROOF_OK;
  for (uint32_t op = 0; op < h->ops && status == ISOPROOF_OK; op++) {
    iso_value value = h->op_value[op];
    bool odd = iso_kind_is_list((isoproof_op_kind)h->op_kind[op]) && value >= ISO_VALUE_INTERNED;
    if (!odd || value == ISO_VALUE_NONE) continue;
    if (taken[value & ~ISO_VALUE_INTERNED]++ != 0) {
      status = iso_binary_bad(h, error, "OP_VALUE", op, "a list of its own, which no other operation has");
    }
  }
  free(taken);
  return status;
}

isoproof_status iso_binary_validate_frame(const isoproof_history *h, isoproof_task *task, isoproof_error *error) {
  ISO_TRY(check_first32(h, h->session_first_txn, h->sessions, h->txns, "SESSION_FIRST_TXN", error));
  ISO_TRY(check_first32(h, h->txn_first_op, h->txns, h->ops, "TXN_FIRST_OP", error));
  ISO_TRY(check_txns(h, error));
  ISO_TRY(check_pool(h, error));
  ISO_TRY(iso_binary_check_codes(h, h->txn_node_opt, h->txns, "TXN_NODE", error));
  ISO_TRY(iso_binary_check_codes(h, h->txn_error_opt, h->txns, "TXN_ERROR", error));
  ISO_TRY(iso_binary_check_codes(h, h->txn_name_opt, h->txns, "TXN_NAME", error));
  ISO_TRY(iso_binary_check_codes(h, h->session_name, h->sessions, "SESSION_NAME", error));
  ISO_TRY(iso_binary_check_codes(h, h->key_name, h->keys, "KEY_NAME", error));
  return iso_binary_unique(h, task, error);
}

isoproof_status iso_binary_validate(const isoproof_history *h, const iso_binary_header *header, isoproof_task *task,
                                    isoproof_error *error) {
  ISO_TRY(iso_binary_validate_frame(h, task, error));
  ISO_TRY(check_first64(h, h->list_first, h->keys, header->list_values, "LIST_FIRST", error));
  ISO_TRY(iso_binary_check_codes(h, h->list_values, header->list_values, "LIST_VALUES", error));
  ISO_TRY(check_first64(h, h->odd_first, h->odd_lists, header->odd_values, "ODD_FIRST", error));
  ISO_TRY(iso_binary_check_codes(h, h->odd_values, header->odd_values, "ODD_VALUES", error));
  ISO_TRY(iso_task_check(task, error));
  ISO_TRY(
      iso_binary_check_codes(h, h->key_initial_opt, h->key_initial_opt != NULL ? h->keys : 0, "KEY_INITIAL", error));
  ISO_TRY(check_ops(h, task, error));
  ISO_TRY(iso_binary_validate_columns(h, error));
  ISO_TRY(iso_binary_validate_rows(h, error));
  return check_odd_lists(h, error);
}
