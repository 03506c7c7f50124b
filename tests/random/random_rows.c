/* Draws small histories of rows whose reads return what any versions give, writes histories as text, shrinks them. */
#include "tests/random/random_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/random/random_history.h"

enum { VALUES = 40 };

bool rows_chance(uint64_t *state, unsigned percent) { return sketch_below(state, 100) < percent; }

/* ---- shapes ---- */

/* Values of all writes and initial rows in random order, so that ranges and rests cut through them. */
typedef struct value_source {
  int64_t values[VALUES];
  unsigned next;
} value_source;

static void shuffle_values(uint64_t *state, value_source *source) {
  int64_t lowest = rows_chance(state, 10) ? -20 : 1;
  for (unsigned i = 0; i < VALUES; i++) {
    unsigned at = (unsigned)sketch_below(state, i + 1);
    source->values[i] = source->values[at];
    source->values[at] = lowest + (int64_t)i;
  }
  source->next = 0;
}

static int64_t next_value(value_source *source) { return source->values[source->next++ % VALUES]; }

static void draw_keys(uint64_t *state, row_history *out, value_source *values) {
  static const int64_t bases[] = {0, 1, 1, 1, 100, -1, INT64_C(5000000000)};
  int64_t base = bases[sketch_below(state, sizeof bases / sizeof *bases)];
  unsigned share = sketch_below(state, 2) == 0 ? 0 : 50;
  static const unsigned counts[] = {1, 2, 2, 3, 3, 3};
  out->rows = counts[sketch_below(state, sizeof counts / sizeof *counts)];
  for (unsigned i = 0; i < out->rows; i++) {
    out->keys[i] = base + (int64_t)i;
    if (rows_chance(state, share)) out->initial[i] = (row_value){true, next_value(values)};
  }
}

static void draw_range(uint64_t *state, int64_t least, uint64_t span, int64_t *low, int64_t *high) {
  *low = least + (int64_t)sketch_below(state, span);
  *high = *low + (int64_t)sketch_below(state, span);
}

static row_predicate draw_predicate(uint64_t *state, const row_history *h) {
  row_predicate p = {.divisor = 1};
  if (rows_chance(state, 40)) return p;
  if (rows_chance(state, 45)) {
    p.of_keys = true;
    draw_range(state, h->keys[0], h->rows, &p.key_low, &p.key_high);
    if (rows_chance(state, 30)) p.key_high = p.key_low;
  }
  if (rows_chance(state, 35)) {
    p.of_values = true;
    draw_range(state, 1, VALUES / 2, &p.value_low, &p.value_high);
  }
  if (rows_chance(state, 35)) {
    p.of_rest = true;
    p.divisor = 1 + (int64_t)sketch_below(state, 3);
    p.rest = (int64_t)sketch_below(state, (uint64_t)p.divisor);
  }
  return p;
}

static row_op draw_op(uint64_t *state, const row_history *h, unsigned reads, value_source *values) {
  static const row_op_kind writes[] = {ROW_INSERT, ROW_UPDATE, ROW_UPSERT, ROW_UPSERT, ROW_DELETE, ROW_DELETE};
  static const row_op_kind looks[] = {ROW_READ,   ROW_READ,   ROW_READ,  ROW_SELECT,        ROW_SELECT,
                                      ROW_SELECT, ROW_SELECT, ROW_COUNT, ROW_MISSED_UPDATE, ROW_MISSED_DELETE};
  row_op op = {.answered = true, .row = (unsigned)sketch_below(state, h->rows)};
  if (rows_chance(state, reads))
    op.kind = looks[sketch_below(state, sizeof looks / sizeof *looks)];
  else
    op.kind = writes[sketch_below(state, sizeof writes / sizeof *writes)];
  bool by_predicate = op.kind == ROW_SELECT || op.kind == ROW_COUNT;
  if (by_predicate) op.predicate = draw_predicate(state, h);
  if (by_predicate || op.kind == ROW_READ) op.answered = !rows_chance(state, 2);
  if (row_op_writes(op.kind) && op.kind != ROW_DELETE) op.value = (row_value){true, next_value(values)};
  return op;
}

void rows_draw_shape(uint64_t *state, row_history *out) {
  value_source values = {.next = 0};
  memset(out, 0, sizeof *out);
  shuffle_values(state, &values);
  draw_keys(state, out, &values);
  static const unsigned counts[] = {2, 3, 3, 4, 4, 4, 5, 5, 5, 5};
  out->count = counts[sketch_below(state, sizeof counts / sizeof *counts)];
  out->timed = sketch_below(state, 2) == 0;
  unsigned sessions = 1 + (unsigned)sketch_below(state, out->count), reads = 35 + (unsigned)sketch_below(state, 40);
  unsigned failures = sketch_below(state, 2) == 0 ? 0 : 20;
  bool roles = sketch_below(state, 2) == 0; /* most only read, or only write */
  for (unsigned t = 0; t < out->count; t++) {
    row_txn *txn = &out->txns[t];
    txn->session = (unsigned)sketch_below(state, sessions);
    txn->status = ISOPROOF_TXN_COMMITTED;
    if (rows_chance(state, failures))
      txn->status = sketch_below(state, 2) == 0 ? ISOPROOF_TXN_ABORTED : ISOPROOF_TXN_UNKNOWN;
    txn->count = 1 + (unsigned)sketch_below(state, 4);
    if (txn->count == 1 && sketch_below(state, 2) == 0) txn->count = 3;
    unsigned role = (unsigned)sketch_below(state, 5), share = !roles || role == 4 ? reads : role < 2 ? 100 : 10;
    for (unsigned i = 0; i < txn->count; i++) txn->ops[i] = draw_op(state, out, share, &values);
  }
}

void rows_draw_times(uint64_t *state, row_history *out) {
  int64_t clock = 0, ends[ROWS_TXNS] = {0};
  for (unsigned t = 0; t < out->count; t++) {
    row_txn *txn = &out->txns[t];
    clock += (int64_t)sketch_below(state, 4);
    /* A session does one thing after the other. */
    txn->start = clock > ends[txn->session] ? clock : ends[txn->session] + 1;
    txn->end = ends[txn->session] = txn->start + 1 + (int64_t)sketch_below(state, 8);
  }
}

/* ---- results ---- */

void rows_answer(const row_history *h, row_op *op, const row_value seen[ROWS_KEYS]) {
  op->counted = 0;
  for (unsigned row = 0; row < h->rows; row++) {
    bool matches = row_matches(&op->predicate, h->keys[row], seen[row]);
    op->rows[row] = matches && op->kind == ROW_SELECT ? seen[row] : (row_value){false, 0};
    op->counted += matches;
  }
  bool misses = op->kind == ROW_MISSED_UPDATE || op->kind == ROW_MISSED_DELETE;
  if (misses && seen[op->row].present) op->kind = ROW_READ;
  if (op->kind == ROW_READ) op->value = seen[op->row];
}

/* Any version of a row by one of the first transactions: the initial one, the last one of a transaction, now and then
 * another one. */
static row_value any_version(uint64_t *state, const row_history *h, unsigned row, unsigned until) {
  unsigned writers[ROWS_TXNS], count = 0;
  for (unsigned t = 0; t < until; t++)
    if (row_own_write(&h->txns[t], row, h->txns[t].count) != NULL) writers[count++] = t;
  unsigned drawn = (unsigned)sketch_below(state, count + 1);
  if (drawn == count) return h->initial[row];
  const row_txn *txn = &h->txns[writers[drawn]];
  if (txn->status == ISOPROOF_TXN_ABORTED && !rows_chance(state, 10)) return h->initial[row];
  unsigned before = rows_chance(state, 5) ? 1 + (unsigned)sketch_below(state, txn->count) : txn->count;
  const row_op *write = row_own_write(txn, row, before);
  return write != NULL ? write->value : row_own_write(txn, row, txn->count)->value;
}

void rows_draw_random(uint64_t *state, row_history *out) {
  rows_draw_shape(state, out);
  for (unsigned t = 0; t < out->count; t++) {
    row_txn *txn = &out->txns[t];
    row_value seen[ROWS_KEYS];
    bool settled = sketch_below(state, 3) > 0; /* it reads one version of each row only */
    unsigned until = rows_chance(state, 15) ? out->count : t;
    for (unsigned row = 0; row < out->rows; row++) seen[row] = any_version(state, out, row, until);
    for (unsigned i = 0; i < txn->count; i++) {
      if (row_op_writes(txn->ops[i].kind)) continue;
      row_value now[ROWS_KEYS];
      for (unsigned row = 0; row < out->rows; row++) {
        const row_op *own = row_own_write(txn, row, i);
        now[row] = settled ? seen[row] : any_version(state, out, row, until);
        if (own != NULL && !rows_chance(state, 3)) now[row] = own->value;
      }
      rows_answer(out, &txn->ops[i], now);
      if (txn->ops[i].kind == ROW_COUNT && rows_chance(state, 3)) txn->ops[i].counted++;
      if (txn->ops[i].kind == ROW_READ && rows_chance(state, 1)) txn->ops[i].value = (row_value){true, 999};
    }
  }
  rows_draw_times(state, out);
}

/* ---- text ---- */

typedef struct writer {
  char *at, *end;
  bool columns; /* what predicates ask of values, they ask of columns */
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(w->at, (size_t)(w->end - w->at), format, arguments);
  va_end(arguments);
  if (length > 0) w->at = length < w->end - w->at ? w->at + length : w->end - 1;
}

static void put_range(writer *w, bool there, const char *name, int64_t first, int64_t second, const char **comma) {
  if (!there) return;
  put(w, "%s\"%s\":[%" PRId64 ",%" PRId64 "]", *comma, name, first, second);
  *comma = ",";
}

/* The same of columns: v is the value; m1, m2 and m3 are what is left of it, null for 0, a number for 1, a text for 2.
 */
static void put_contents(writer *w, int64_t value) {
  put(w, ",{\"v\":%" PRId64, value);
  for (int64_t divisor = 1; divisor <= 3; divisor++) {
    int64_t rest = (value % divisor + divisor) % divisor;
    put(w, ",\"m%" PRId64 "\":%s", divisor, rest == 0 ? "null" : rest == 1 ? "1" : "\"two\"");
  }
  put(w, "}");
}

static void put_where(writer *w, const row_predicate *p, const char *comma) {
  const char *more = "";
  if (!p->of_values && !p->of_rest) return;
  put(w, "%s\"where\":[", comma);
  if (p->of_values && p->value_high == p->value_low + 1) {
    put(w, "[\"v\",\"in\",[%" PRId64 ",%" PRId64 "]]", p->value_high, p->value_low);
  } else if (p->of_values) {
    put(w, "[\"v\",\">=\",%" PRId64 "],[\"v\",\"<\",%" PRId64 "]", p->value_low, p->value_high + 1);
  }
  if (p->of_values) more = ",";
  if (p->of_rest && p->rest == 0) put(w, "%s[\"m%" PRId64 "\",\"is null\"]", more, p->divisor);
  if (p->of_rest && p->rest == 1 && p->divisor == 2) put(w, "%s[\"m2\",\"is not null\"]", more);
  if (p->of_rest && p->rest == 1 && p->divisor == 3) put(w, "%s[\"m3\",\"=\",1]", more);
  if (p->of_rest && p->rest == 2) put(w, "%s[\"m3\",\"=\",\"two\"],[\"m3\",\"<>\",\"one\"]", more);
  put(w, "]");
}

static void put_predicate(writer *w, const row_predicate *p) {
  const char *comma = "";
  put(w, "{");
  put_range(w, p->of_keys, "keys", p->key_low, p->key_high, &comma);
  if (w->columns) {
    put_where(w, p, comma);
    put(w, "}");
    return;
  }
  put_range(w, p->of_values, "values", p->value_low, p->value_high, &comma);
  put_range(w, p->of_rest, "mod", p->divisor, p->rest, &comma);
  put(w, "}");
}

static void put_rows(writer *w, const row_history *h, const row_value *rows, bool contents) {
  const char *comma = "";
  put(w, "[");
  for (unsigned row = 0; row < h->rows; row++) {
    if (!rows[row].present) continue;
    put(w, "%s[%" PRId64 ",%" PRId64, comma, h->keys[row], rows[row].value);
    if (contents) put_contents(w, rows[row].value);
    put(w, "]");
    comma = ",";
  }
  put(w, "]");
}

static void put_op(writer *w, const row_history *h, const row_op *op) {
  bool by_predicate = op->kind == ROW_SELECT || op->kind == ROW_COUNT;
  put(w, "[\"%s\",", row_op_name(op->kind));
  if (by_predicate)
    put_predicate(w, &op->predicate);
  else
    put(w, "%" PRId64, h->keys[op->row]);
  put(w, ",");
  if (!op->answered && (by_predicate || op->kind == ROW_READ))
    put(w, "{\"none\":true}");
  else if (op->kind == ROW_SELECT)
    put_rows(w, h, op->rows, false);
  else if (op->kind == ROW_COUNT)
    put(w, "%u", op->counted);
  else if (op->value.present)
    put(w, "%" PRId64, op->value.value);
  else
    put(w, "null");
  if (w->columns && row_op_writes(op->kind) && op->value.present) put_contents(w, op->value.value);
  put(w, "]");
}

static void put_txn(writer *w, const row_history *h, const row_txn *txn) {
  static const char *const statuses[] = {
      [ISOPROOF_TXN_COMMITTED] = "committed", [ISOPROOF_TXN_ABORTED] = "aborted", [ISOPROOF_TXN_UNKNOWN] = "unknown"};
  put(w, "{\"session\":%u,\"status\":\"%s\",", txn->session, statuses[txn->status]);
  if (h->timed) put(w, "\"start\":%" PRId64 ",\"end\":%" PRId64 ",", txn->start, txn->end);
  put(w, "\"ops\":[");
  for (unsigned i = 0; i < txn->count; i++) {
    if (i > 0) put(w, ",");
    put_op(w, h, &txn->ops[i]);
  }
  put(w, "]}\n");
}

static size_t write_text(const row_history *h, bool columns, char *out, size_t size) {
  writer w = {out, out + size, columns};
  bool any = false;
  for (unsigned row = 0; row < h->rows; row++) any |= h->initial[row].present;
  put(&w, "{\"isoproof\":1}\n");
  if (any) {
    put(&w, "{\"initial_rows\":");
    put_rows(&w, h, h->initial, columns);
    put(&w, "}\n");
  }
  for (unsigned t = 0; t < h->count; t++) put_txn(&w, h, &h->txns[t]);
  return (size_t)(w.at - out);
}

size_t rows_text(const row_history *h, char *out, size_t size) { return write_text(h, false, out, size); }
size_t rows_text_with_columns(const row_history *h, char *out, size_t size) { return write_text(h, true, out, size); }

/* ---- shrinking ---- */

typedef bool (*failing)(const row_history *history, void *user);

/* Keeps the smaller one if it still fails. */
static bool keep(row_history *h, const row_history *smaller, failing fails, void *user) {
  if (!fails(smaller, user)) return false;
  *h = *smaller;
  return true;
}

static bool drop_txn(row_history *h, failing fails, void *user) {
  for (unsigned t = 0; t < h->count && h->count > 1; t++) {
    row_history smaller = *h;
    smaller.count--;
    memmove(&smaller.txns[t], &smaller.txns[t + 1], (smaller.count - t) * sizeof *smaller.txns);
    if (keep(h, &smaller, fails, user)) return true;
  }
  return false;
}

static bool drop_op(row_history *h, failing fails, void *user) {
  for (unsigned t = 0; t < h->count; t++) {
    for (unsigned i = 0; i < h->txns[t].count; i++) {
      row_history smaller = *h;
      row_txn *txn = &smaller.txns[t];
      txn->count--;
      memmove(&txn->ops[i], &txn->ops[i + 1], (txn->count - i) * sizeof *txn->ops);
      if (keep(h, &smaller, fails, user)) return true;
    }
  }
  return false;
}

/* Conditions of predicates, rows that were returned, times, outcomes, initial rows. */
static bool drop_detail(row_history *h, failing fails, void *user) {
  row_history smaller = *h;
  smaller.timed = false;
  if (h->timed && keep(h, &smaller, fails, user)) return true;
  for (unsigned row = 0; row < h->rows; row++) {
    smaller = *h;
    smaller.initial[row].present = false;
    if (h->initial[row].present && keep(h, &smaller, fails, user)) return true;
  }
  for (unsigned t = 0; t < h->count; t++) {
    smaller = *h;
    smaller.txns[t].status = ISOPROOF_TXN_COMMITTED;
    if (h->txns[t].status != ISOPROOF_TXN_COMMITTED && keep(h, &smaller, fails, user)) return true;
    for (unsigned i = 0; i < h->txns[t].count; i++) {
      smaller = *h;
      smaller.txns[t].ops[i].predicate.of_rest = false;
      if (h->txns[t].ops[i].predicate.of_rest && keep(h, &smaller, fails, user)) return true;
      smaller = *h;
      smaller.txns[t].ops[i].predicate.of_values = false;
      if (h->txns[t].ops[i].predicate.of_values && keep(h, &smaller, fails, user)) return true;
    }
  }
  return false;
}

void rows_shrink(row_history *h, failing fails, void *user) {
  while (drop_txn(h, fails, user) || drop_op(h, fails, user) || drop_detail(h, fails, user)) continue;
}
