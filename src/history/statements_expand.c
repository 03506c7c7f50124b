/* What statements that observe many rows become in a history: a read of every row that they could match. */
#include <stdlib.h>
#include <string.h>

#include "history/builder_internal.h"

/* Observations that all statements of a history may have together: 10 bytes each here, some 100 while levels are
 * decided. */
#define MOST_OBSERVATIONS UINT64_C(134217728)

typedef struct {
  const isoproof_builder *b;
  isoproof_history *h;
  iso_seen_row *rows; /* ascending */
  size_t row_count;
  uint32_t *rank;          /* by key: its place in rows; UINT32_MAX for what is no row */
  iso_raw_statement *raws; /* in the order of the history; first_op as it is before the expansion */
  size_t count;
  uint64_t total;
  uint8_t *kind, *form;
  uint32_t *key;
  iso_value *value;
  uint32_t *source; /* NULL where there are none */
  uint32_t at;      /* operations so far */
} expansion;

static int by_key(const void *a, const void *b) {
  const iso_seen_row *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

static int by_place(const void *a, const void *b) {
  const iso_raw_statement *x = a, *y = b;
  if (x->is.txn != y->is.txn) return x->is.txn < y->is.txn ? -1 : 1;
  if (x->is.first_op != y->is.first_op) return x->is.first_op < y->is.first_op ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

iso_seen_row *iso_history_seen_rows(const isoproof_history *h, size_t *count) {
  uint8_t *other = iso_alloc_zero(h->keys, 1);
  iso_seen_row *rows = iso_alloc(h->keys, sizeof *rows);
  *count = 0;
  if (other == NULL || rows == NULL) {
    free(other);
    free(rows);
    return NULL;
  }
  for (uint32_t op = 0; op < h->ops; op++) other[h->op_key[op]] |= h->op_kind[op] > ISOPROOF_OP_WRITE;
  for (uint32_t k = 0; k < h->keys; k++) {
    int64_t key;
    if (other[k] || !iso_pool_integer(&h->pool, h->key_name[k], &key)) continue;
    rows[(*count)++] = (iso_seen_row){key, k};
  }
  qsort(rows, *count, sizeof *rows, by_key);
  free(other);
  return rows;
}

/* The first row whose key is not below (or, `above`, that is above) a bound. */
static size_t find_bound(const iso_seen_row *rows, size_t count, int64_t bound, bool above) {
  size_t low = 0, high = count;
  /* Mostly keys are 0, 1, 2, ..., and the place is the key. */
  uint64_t near = count > 0 && bound >= rows[0].key ? (uint64_t)bound - (uint64_t)rows[0].key : UINT64_MAX;
  if (near < count && rows[near].key == bound) return (size_t)near + above;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (rows[middle].key < bound || (above && rows[middle].key == bound)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void iso_history_covered(const iso_seen_row *rows, size_t count, const iso_statement *s, size_t *first, size_t *end) {
  bool bounded = (s->conditions & ISO_CONDITION_KEYS) != 0;
  *first = bounded ? find_bound(rows, count, s->key_low, false) : 0;
  *end = bounded ? find_bound(rows, count, s->key_high, true) : count;
  if (*end < *first || !s->answered) *end = *first;
}

static bool is_sorted(const expansion *e) {
  size_t i = 1;
  while (i < e->count && by_place(&e->raws[i - 1], &e->raws[i]) <= 0) i++;
  return i >= e->count;
}

/* By transaction they are dealt out; those of one are mostly in order then. */
static bool sort(expansion *e) {
  uint32_t *place = NULL, txns = e->h->txns;
  iso_raw_statement *dealt = NULL;
  if (is_sorted(e)) return true;
  place = iso_alloc_zero((size_t)txns + 1, sizeof *place);
  dealt = iso_alloc(e->count, sizeof *dealt);
  if (place != NULL && dealt != NULL) {
    for (size_t i = 0; i < e->count; i++) place[e->raws[i].is.txn + 1]++;
    for (uint32_t t = 0; t < txns; t++) place[t + 1] += place[t];
    for (size_t i = 0; i < e->count; i++) dealt[place[e->raws[i].is.txn]++] = e->raws[i];
    memcpy(e->raws, dealt, e->count * sizeof *dealt);
  }
  bool made = place != NULL && dealt != NULL;
  free(place);
  free(dealt);
  if (made && !is_sorted(e)) qsort(e->raws, e->count, sizeof *e->raws, by_place);
  return made;
}

/* Statements in the order of the history, and how much they will see. */
static isoproof_status place(expansion *e, const uint32_t *run_dest, const uint32_t *new_txn, isoproof_error *error) {
  const isoproof_builder *b = e->b;
  for (size_t i = 0; i < e->count; i++) {
    iso_raw_statement *raw = &e->raws[i];
    const iso_op_run *run = &b->runs.items[raw->run];
    raw->is.first_op = run_dest[raw->run] + (raw->is.first_op - run->first_op);
    raw->is.txn = new_txn[run->txn];
    size_t first, end;
    iso_history_covered(e->rows, e->row_count, &raw->is, &first, &end);
    e->total += end - first + raw->row_count; /* at most: a row that came twice is seen twice */
  }
  if (e->total > MOST_OBSERVATIONS || e->total > b->most_ops - e->h->ops) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT,
                    "%zu reads by predicate and counts over %zu rows would observe up to %llu versions, more than %llu",
                    e->count, e->row_count, (unsigned long long)e->total, (unsigned long long)MOST_OBSERVATIONS);
  }
  return sort(e) ? ISOPROOF_OK : iso_fail_memory(error);
}

static int by_number(const void *a, const void *b) {
  const iso_raw_row *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

static void put(expansion *e, iso_row_form form, uint32_t key, iso_value value) {
  e->kind[e->at] = ISOPROOF_OP_READ;
  e->form[e->at] = (uint8_t)form;
  e->key[e->at] = key;
  e->value[e->at++] = value;
}

/* Names the rows that a statement returned by their places among all rows, and puts them in that order. */
static void order_returned(const expansion *e, iso_raw_row *rows, uint32_t count) {
  bool ascending = true;
  for (uint32_t i = 0; i < count; i++) {
    rows[i].key = e->rank[rows[i].key];
    ascending = ascending && (i == 0 || rows[i - 1].key <= rows[i].key);
  }
  if (!ascending) qsort(rows, count, sizeof *rows, by_number);
}

/* The observations of one statement, row by row. */
static void put_statement(expansion *e, iso_raw_statement *raw) {
  iso_statement *s = &raw->is;
  iso_row_form form = (iso_row_form)s->form;
  bool has_values = (s->conditions & (ISO_CONDITION_VALUES | ISO_CONDITION_REST | ISO_CONDITION_COLUMNS)) != 0;
  iso_value missing = has_values ? ISO_VALUE_UNMATCHED : ISO_VALUE_NIL;
  if (form == ISO_ROW_COUNT && s->counted > 0) missing = ISO_VALUE_COUNTED;
  iso_raw_row *rows = raw->row_count > 0 ? e->b->returned.items + raw->first_row : NULL;
  order_returned(e, rows, raw->row_count);
  size_t first, end;
  uint32_t next = 0;
  iso_history_covered(e->rows, e->row_count, s, &first, &end);
  s->first_op = e->at;
  for (size_t i = first; i < end; i++) {
    uint32_t key = e->rows[i].number;
    if (next == raw->row_count || rows[next].key != i) put(e, form, key, missing);
    for (; next < raw->row_count && rows[next].key == i; next++) put(e, form, key, rows[next].value);
  }
  s->op_count = e->at - s->first_op;
  for (uint32_t op = s->first_op; e->source != NULL && op < e->at; op++) e->source[op] = raw->source;
}

/* Copies operations [first, end) of the columns as they are now. */
static void put_plain(expansion *e, uint32_t first, uint32_t end) {
  const isoproof_history *h = e->h;
  uint32_t count = end - first;
  if (count == 0) return;
  memcpy(e->kind + e->at, h->op_kind + first, count);
  memcpy(e->key + e->at, h->op_key + first, count * sizeof *e->key);
  memcpy(e->value + e->at, h->op_value + first, count * sizeof *e->value);
  if (e->source != NULL) memcpy(e->source + e->at, h->op_statement_opt + first, count * sizeof *e->source);
  if (h->op_form_opt != NULL) {
    memcpy(e->form + e->at, h->op_form_opt + first, count);
  } else {
    memset(e->form + e->at, ISO_ROW_NONE, count);
  }
  e->at += count;
}

static void put_all(expansion *e) {
  isoproof_history *h = e->h;
  size_t next = 0;
  for (uint32_t t = 0; t < h->txns; t++) {
    uint32_t from = h->txn_first_op[t];
    h->txn_first_op[t] = e->at;
    /* The end of the transaction is the first operation of the next one, which is not moved yet. */
    for (; next < e->count && e->raws[next].is.txn == t; next++) {
      put_plain(e, from, e->raws[next].is.first_op);
      from = e->raws[next].is.first_op;
      put_statement(e, &e->raws[next]);
    }
    put_plain(e, from, h->txn_first_op[t + 1]);
  }
  h->txn_first_op[h->txns] = e->at;
}

/* Swaps the columns of the history for the expanded ones. */
static bool take(expansion *e) {
  isoproof_history *h = e->h;
  h->statements = iso_alloc(e->count, sizeof *h->statements);
  if (h->statements == NULL) return false;
  put_all(e);
  for (size_t i = 0; i < e->count; i++) h->statements[i] = e->raws[i].is;
  h->statement_count = (uint32_t)e->count;
  free(h->op_kind);
  free(h->op_key);
  free(h->op_value);
  free(h->op_form_opt);
  free(h->op_statement_opt);
  h->op_kind = e->kind;
  h->op_key = e->key;
  h->op_value = e->value;
  h->op_form_opt = e->form;
  h->op_statement_opt = e->source;
  h->ops = e->at;
  e->kind = e->form = NULL;
  e->key = e->value = e->source = NULL;
  return true;
}

static isoproof_status expand(expansion *e, const uint32_t *run_dest, const uint32_t *new_txn, isoproof_error *error) {
  e->rows = iso_history_seen_rows(e->h, &e->row_count);
  e->rank = iso_alloc(e->h->keys, sizeof *e->rank);
  if (e->rows == NULL || e->rank == NULL) return iso_fail_memory(error);
  for (uint32_t key = 0; key < e->h->keys; key++) e->rank[key] = UINT32_MAX;
  for (size_t i = 0; i < e->row_count; i++) e->rank[e->rows[i].number] = (uint32_t)i;
  ISO_TRY(place(e, run_dest, new_txn, error));
  size_t ops = (size_t)e->h->ops + e->total;
  e->kind = iso_alloc(ops, sizeof *e->kind);
  e->form = iso_alloc(ops, sizeof *e->form);
  e->key = iso_alloc(ops, sizeof *e->key);
  e->value = iso_alloc(ops, sizeof *e->value);
  bool sourced = e->h->op_statement_opt != NULL;
  if (sourced) e->source = iso_alloc(ops, sizeof *e->source);
  bool made = sourced == (e->source != NULL) && e->kind != NULL && e->form != NULL && e->key != NULL &&
              e->value != NULL && take(e);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

/* The values of the rows at the start. */
static isoproof_status take_initial(const isoproof_builder *b, isoproof_history *h, isoproof_error *error) {
  if (b->initial_rows.count == 0) return ISOPROOF_OK;
  h->key_initial_opt = iso_alloc(h->keys, sizeof *h->key_initial_opt);
  if (h->key_initial_opt == NULL) return iso_fail_memory(error);
  for (uint32_t k = 0; k < h->keys; k++) h->key_initial_opt[k] = ISO_VALUE_NIL;
  for (size_t i = 0; i < b->initial_rows.count; i++) {
    iso_value *initial = &h->key_initial_opt[b->initial_rows.items[i].key];
    if (*initial != ISO_VALUE_NIL) {
      char key[64];
      isoproof_scalar_format(iso_history_scalar(h, h->key_name[b->initial_rows.items[i].key]), key, sizeof key);
      return iso_fail(error, ISOPROOF_ERR_FORMAT, "row %s is there twice among the initial rows", key);
    }
    *initial = b->initial_rows.items[i].value;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_builder_expand(isoproof_builder *b, isoproof_history *h, const uint32_t *run_dest,
                                   const uint32_t *new_txn, isoproof_error *error) {
  ISO_TRY(take_initial(b, h, error));
  if (h->initial_is_zero && (b->statements.count > 0 || b->initial_rows.count > 0 || h->op_form_opt != NULL)) {
    return iso_fail(error, ISOPROOF_ERR_FORMAT, "expected null as the initial version of rows, found 0");
  }
  if (b->statements.count == 0) return ISOPROOF_OK;
  expansion e = {.b = b, .h = h, .raws = b->statements.items, .count = b->statements.count};
  isoproof_status status = expand(&e, run_dest, new_txn, error);
  free(e.rows);
  free(e.rank);
  free(e.kind);
  free(e.form);
  free(e.key);
  free(e.value);
  free(e.source);
  return status;
}
