/* An anomaly as pages and drawings show it: what it is about, within limits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "graph/edge.h"
#include "history/bank.h"
#include "history/row_text.h"
#include "report/document/document.h"

typedef struct gathering {
  iso_arena *arena;
  const isoproof_history *history;
  const isoproof_anomaly *anomaly;
  isoproof_document_anomaly *out;
  isoproof_document_txn *txns;
  uint64_t *wanted; /* operations that are involved, sorted */
  size_t wanted_count;
  bool is_bank; /* values hold balances */
} gathering;

static const char *keep_scalar(iso_arena *arena, isoproof_scalar scalar) {
  if (scalar.type == ISOPROOF_STRING || scalar.type == ISOPROOF_SYMBOL)
    return iso_document_text(arena, scalar.text, scalar.length, ISO_DOCUMENT_SCALAR);
  char small[64];
  size_t length = isoproof_scalar_format(scalar, small, sizeof small);
  if (length < sizeof small) return iso_document_text(arena, small, length, ISO_DOCUMENT_SCALAR);
  char *text = iso_alloc(length + 1, 1);
  if (text == NULL) return NULL;
  isoproof_scalar_format(scalar, text, length + 1);
  const char *kept = iso_document_text(arena, text, length, ISO_DOCUMENT_SCALAR);
  free(text);
  return kept;
}

/* ---- the ends of edges ---- */

/* The last operation of a transaction on the key that writes, or that reads; with `value`, that writes just this. */
static uint64_t find_op(const isoproof_history *history, uint64_t txn, isoproof_scalar key, bool reads,
                        const isoproof_scalar *value) {
  enum { MOST_LOOKED_AT = 4096 };
  if (txn >= history->txns) return ISOPROOF_NO_NUMBER;
  uint64_t first = history->txn_first_op[txn], end = history->txn_first_op[txn + 1];
  if (end - first > MOST_LOOKED_AT) first = end - MOST_LOOKED_AT;
  for (uint64_t op = end; op-- > first;) {
    isoproof_op what = {.struct_size = sizeof what};
    if (!isoproof_history_op_at(history, op, &what) || isoproof_op_kind_observes(what.kind) != reads) continue;
    if (!isoproof_scalar_equal(what.key, key)) continue;
    if (value == NULL || isoproof_scalar_equal(what.value, *value)) return op;
  }
  return ISOPROOF_NO_NUMBER;
}

void iso_edge_ops(const isoproof_history *history, const isoproof_edge *edge, uint64_t *from_op, uint64_t *to_op) {
  *from_op = edge->from_op;
  *to_op = edge->to_op;
  if (!edge->has_key || edge->from_txn == edge->to_txn) return;
  iso_edge_kind kind;
  if (!iso_edge_find(edge->kind, &kind)) return;
  bool wr = kind == ISO_EDGE_WR, rw = kind == ISO_EDGE_RW;
  if (!wr && !rw && kind != ISO_EDGE_WW) return;
  if (*to_op == ISOPROOF_NO_NUMBER) *to_op = find_op(history, edge->to_txn, edge->key, wr, NULL);
  if (*from_op != ISOPROOF_NO_NUMBER) return;
  isoproof_op seen = {.struct_size = sizeof seen};
  bool register_read = wr && isoproof_history_op_at(history, *to_op, &seen) && seen.kind == ISOPROOF_OP_READ;
  *from_op = find_op(history, edge->from_txn, edge->key, rw, register_read ? &seen.value : NULL);
}

/* ---- operations ---- */

/* "[1 2 3]", of which no more is made than can be kept. */
static const char *keep_elements(iso_arena *arena, const isoproof_history *history, uint64_t op,
                                 const isoproof_op *what) {
  iso_words words = {NULL, 0, 0, false};
  bool set = what->kind == ISOPROOF_OP_READ_SET;
  iso_words_add(&words, set ? "{" : "[");
  for (uint64_t i = 0; i < what->element_count && words.length <= ISO_DOCUMENT_SCALAR; i++) {
    isoproof_scalar element;
    if (!isoproof_history_element_at(history, op, i, &element)) break;
    const char *text = keep_scalar(arena, element);
    if (text == NULL) words.failed = true;
    iso_words_add(&words, "%s%s", i > 0 ? " " : "", text != NULL ? text : "");
  }
  iso_words_add(&words, set ? "}" : "]");
  const char *kept = words.failed ? NULL : iso_document_text(arena, words.text, words.length, ISO_DOCUMENT_SCALAR);
  iso_words_free(&words);
  return kept;
}

static bool is_wanted(const gathering *g, uint64_t op) {
  size_t low = 0, high = g->wanted_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (g->wanted[middle] < op)
      low = middle + 1;
    else
      high = middle;
  }
  return low < g->wanted_count && g->wanted[low] == op;
}

static const char *take_words(const gathering *g, iso_words *words) {
  const char *text =
      words->failed ? NULL : iso_document_text(g->arena, words->text, words->length, ISO_DOCUMENT_SCALAR);
  iso_words_free(words);
  return text;
}

/* A statement says what it asked for and what it returned. */
static bool keep_statement(const gathering *g, const iso_statement *s, isoproof_document_op *out) {
  iso_words asked = {NULL, 0, 0, false}, answer = {NULL, 0, 0, false};
  iso_words_add_conditions(&asked, g->history, s, true);
  iso_words_add_answer(&answer, g->history, s);
  out->kind = iso_row_form_name((iso_row_form)s->form);
  out->key = take_words(g, &asked);
  out->value = take_words(g, &answer);
  return out->key != NULL && out->value != NULL;
}

/* An operation on a single row says what was done. */
static bool keep_row(const gathering *g, uint32_t op, isoproof_document_op *out) {
  const isoproof_history *h = g->history;
  iso_row_form form = iso_history_form(h, op);
  const iso_statement *s = form >= ISO_ROW_PREDICATE ? iso_history_statement(h, op) : NULL;
  if (s != NULL) return keep_statement(g, s, out);
  if (form != ISO_ROW_NONE) out->kind = iso_row_form_name(form);
  const char *text = NULL;
  if (iso_history_has_rows(h) && h->op_value[op] == ISO_VALUE_NIL) text = "absent";
  if (form == ISO_ROW_MISSED_UPDATE || form == ISO_ROW_MISSED_DELETE) text = "no row";
  if (text == NULL) return true;
  out->value = iso_document_text(g->arena, text, strlen(text), ISO_DOCUMENT_SCALAR);
  return out->value != NULL;
}

static bool keep_op(const gathering *g, uint64_t txn, uint64_t op, isoproof_document_op *out) {
  isoproof_op what = {.struct_size = sizeof what};
  isoproof_position place;
  if (!isoproof_history_op_at(g->history, op, &what)) return true;
  *out = (isoproof_document_op){.number = (uint32_t)iso_history_shown_number(g->history, (uint32_t)txn, (uint32_t)op),
                                .kind = isoproof_op_kind_name(what.kind),
                                .key = keep_scalar(g->arena, iso_history_key_shown(g->history, g->history->op_key[op])),
                                .offset = -1,
                                .involved = is_wanted(g, op)};
  bool good = out->key != NULL;
  if (what.value.type != ISOPROOF_NONE) {
    bool list = iso_kind_is_list(what.kind) && what.value.type != ISOPROOF_NIL;
    /* As the input has it. */
    if (what.kind == ISOPROOF_OP_READ && what.value.type == ISOPROOF_NIL && g->history->initial_is_zero)
      what.value = isoproof_integer(0);
    out->value = list ? keep_elements(g->arena, g->history, op, &what) : keep_scalar(g->arena, what.value);
    good = good && out->value != NULL;
    out->is_balance = g->is_bank && !list && iso_bank_balance(what.value, &out->balance);
  }
  good = good && keep_row(g, (uint32_t)op, out);
  if (isoproof_history_position_of(g->history, op, &place)) {
    out->line = place.line;
    out->offset = place.offset;
    if (place.file != NULL) {
      out->file = iso_document_text(g->arena, place.file, strlen(place.file), ISO_DOCUMENT_FACT);
      good = good && out->file != NULL;
    }
  }
  return good;
}

/* Which operations of a transaction are shown: those involved come first, then the others from its beginning on; the
 * marks of up to `ops` operations. */
static uint32_t choose_ops(const gathering *g, uint64_t first, uint64_t ops, uint64_t *chosen) {
  uint32_t count = 0;
  for (size_t i = 0; i < g->wanted_count && count < ISOPROOF_DOCUMENT_OPS; i++) {
    if (g->wanted[i] >= first && g->wanted[i] < first + ops) chosen[count++] = g->wanted[i];
  }
  for (uint64_t op = first; op < first + ops && count < ISOPROOF_DOCUMENT_OPS; op++) {
    bool is_shown = iso_history_shown_op(g->history, (uint32_t)op) == op;
    if (is_shown && !is_wanted(g, op)) chosen[count++] = op;
  }
  /* In program order; there are few. */
  for (uint32_t i = 1; i < count; i++) {
    for (uint32_t k = i; k > 0 && chosen[k - 1] > chosen[k]; k--) {
      uint64_t other = chosen[k];
      chosen[k] = chosen[k - 1];
      chosen[k - 1] = other;
    }
  }
  return count;
}

static bool keep_ops(const gathering *g, uint64_t number, const isoproof_txn *txn, isoproof_document_txn *out) {
  uint64_t chosen[ISOPROOF_DOCUMENT_OPS];
  uint32_t count = choose_ops(g, txn->first_op, txn->op_count, chosen);
  isoproof_document_op *ops = iso_arena_alloc(g->arena, count + 1, sizeof *ops);
  if (ops == NULL) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!keep_op(g, number, chosen[i], &ops[i])) return false;
  }
  out->ops = ops;
  out->op_count = count;
  out->more = iso_history_shown_count(g->history, (uint32_t)number) - count;
  return true;
}

/* ---- transactions ---- */

static bool keep_names(const gathering *g, const isoproof_txn *txn, isoproof_document_txn *out) {
  isoproof_session session = {.struct_size = sizeof session};
  bool good = isoproof_history_session_at(g->history, txn->session, &session);
  if (good) out->session = keep_scalar(g->arena, session.name);
  if (txn->has_id) {
    char id[32];
    int length = snprintf(id, sizeof id, "%" PRId64, txn->id);
    out->id = iso_arena_text(g->arena, id, length > 0 ? (size_t)length : 0);
    good = good && out->id != NULL;
  }
  if (txn->node.type != ISOPROOF_NIL) {
    out->node = keep_scalar(g->arena, txn->node);
    good = good && out->node != NULL;
  }
  if (txn->error.type != ISOPROOF_NIL) {
    out->error = keep_scalar(g->arena, txn->error);
    good = good && out->error != NULL;
  }
  if (txn->called.type != ISOPROOF_NIL) {
    out->called = keep_scalar(g->arena, txn->called);
    good = good && out->called != NULL;
  }
  out->isolation = txn->isolation;
  return good && out->session != NULL;
}

static bool keep_txn(const gathering *g, uint64_t number, isoproof_document_txn *out) {
  char name[64];
  isoproof_txn txn = {.struct_size = sizeof txn};
  size_t length = isoproof_history_txn_name(g->history, number, name, sizeof name);
  *out = (isoproof_document_txn){.name = iso_arena_text(g->arena, name, length),
                                 .session = "",
                                 .status = "initial",
                                 .start = ISOPROOF_NO_TIME,
                                 .end = ISOPROOF_NO_TIME,
                                 .number = ISOPROOF_INITIAL_TXN};
  if (out->name == NULL) return false;
  if (!isoproof_history_txn_at(g->history, number, &txn)) return true;
  out->status = isoproof_txn_status_name(txn.status);
  out->start = txn.start;
  out->end = txn.end;
  out->number = number;
  return keep_names(g, &txn, out) && keep_ops(g, number, &txn, out);
}

/* The place of a transaction among those of the anomaly, which it joins when it is new. */
static uint32_t place_of(gathering *g, uint64_t number) {
  if (number >= g->history->txns) number = ISOPROOF_INITIAL_TXN;
  for (uint32_t i = 0; i < g->out->txn_count; i++) {
    if (g->txns[i].number == number) return i;
  }
  if (g->out->txn_count >= ISO_DOCUMENT_TXNS) return ISOPROOF_NO_INDEX;
  g->txns[g->out->txn_count].number = number;
  return g->out->txn_count++;
}

static void place_edges(gathering *g, const isoproof_edge *edges, size_t count) {
  for (size_t i = 0; i < count && i < ISO_DOCUMENT_EDGES; i++) {
    place_of(g, edges[i].from_txn);
    place_of(g, edges[i].to_txn);
  }
}

/* ---- edges and cases ---- */

/* As many as are kept. */
static size_t at_most(size_t count, size_t most) { return count < most ? count : most; }

static uint32_t place_of_op(const gathering *g, uint32_t txn, uint64_t op) {
  const isoproof_document_txn *t = &g->txns[txn];
  if (op == ISOPROOF_NO_NUMBER || t->number >= g->history->txns) return ISOPROOF_NO_INDEX;
  uint64_t number = iso_history_shown_number(g->history, (uint32_t)t->number, (uint32_t)op);
  for (uint32_t i = 0; i < t->op_count; i++) {
    if (t->ops[i].number == number) return i;
  }
  return ISOPROOF_NO_INDEX;
}

static bool keep_edges(gathering *g, const isoproof_edge *edges, size_t count, const isoproof_document_edge **out,
                       uint32_t *out_count) {
  if (count > ISO_DOCUMENT_EDGES) count = ISO_DOCUMENT_EDGES;
  isoproof_document_edge *made = iso_arena_alloc(g->arena, count + 1, sizeof *made);
  if (made == NULL) return false;
  *out = made;
  *out_count = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t from = place_of(g, edges[i].from_txn), to = place_of(g, edges[i].to_txn);
    uint64_t from_op, to_op;
    if (from == ISOPROOF_NO_INDEX || to == ISOPROOF_NO_INDEX) continue;
    iso_edge_ops(g->history, &edges[i], &from_op, &to_op);
    isoproof_document_edge edge = {.kind = edges[i].kind,
                                   .from = from,
                                   .to = to,
                                   .from_op = place_of_op(g, from, from_op),
                                   .to_op = place_of_op(g, to, to_op)};
    if (edges[i].has_key) {
      edge.key = keep_scalar(g->arena, edges[i].key);
      if (edge.key == NULL) return false;
    }
    iso_document_add_edge(made, out_count, edge);
  }
  return true;
}

static bool keep_case(gathering *g, const isoproof_anomaly_case *one, isoproof_document_case *out) {
  size_t count = at_most(one->order_count, ISO_DOCUMENT_EDGES);
  isoproof_document_order *orders = iso_arena_alloc(g->arena, count + 1, sizeof *orders);
  out->explanation = iso_document_text(g->arena, one->explanation, strlen(one->explanation), SIZE_MAX);
  if (orders == NULL || out->explanation == NULL) return false;
  out->orders = orders;
  for (size_t i = 0; i < count; i++) {
    uint32_t before = place_of(g, one->orders[i].before_txn), after = place_of(g, one->orders[i].after_txn);
    if (before == ISOPROOF_NO_INDEX || after == ISOPROOF_NO_INDEX) continue;
    isoproof_document_order order = {before, after, keep_scalar(g->arena, one->orders[i].key)};
    if (order.key == NULL) return false;
    orders[out->order_count++] = order;
  }
  return keep_edges(g, one->edges, one->edge_count, &out->edges, &out->edge_count);
}

static bool keep_cases(gathering *g) {
  size_t count = at_most(g->anomaly->case_count, ISO_DOCUMENT_CASES);
  isoproof_document_case *cases = iso_arena_alloc(g->arena, count + 1, sizeof *cases);
  if (cases == NULL) return false;
  g->out->cases = cases;
  g->out->case_count = (uint32_t)count;
  for (size_t i = 0; i < count; i++) {
    if (!keep_case(g, &g->anomaly->cases[i], &cases[i])) return false;
  }
  return true;
}

/* ---- an anomaly ---- */

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void want_edges(gathering *g, const isoproof_edge *edges, size_t count) {
  for (size_t i = 0; i < count && i < ISO_DOCUMENT_EDGES; i++) {
    uint64_t from, to;
    iso_edge_ops(g->history, &edges[i], &from, &to);
    if (from != ISOPROOF_NO_NUMBER) g->wanted[g->wanted_count++] = from;
    if (to != ISOPROOF_NO_NUMBER) g->wanted[g->wanted_count++] = to;
  }
}

/* Everything that the anomaly or one of its edges is about, sorted. */
static bool want_ops(gathering *g) {
  const isoproof_anomaly *a = g->anomaly;
  size_t most = a->op_count + 2 * a->edge_count;
  for (size_t i = 0; i < a->case_count; i++) most += 2 * a->cases[i].edge_count;
  g->wanted = iso_alloc(most + 1, sizeof *g->wanted);
  if (g->wanted == NULL) return false;
  for (size_t i = 0; i < a->op_count; i++) g->wanted[g->wanted_count++] = a->ops[i];
  want_edges(g, a->edges, a->edge_count);
  for (size_t i = 0; i < a->case_count && i < ISO_DOCUMENT_CASES; i++)
    want_edges(g, a->cases[i].edges, a->cases[i].edge_count);
  for (size_t i = 0; i < g->wanted_count; i++) g->wanted[i] = iso_history_shown_op(g->history, (uint32_t)g->wanted[i]);
  qsort(g->wanted, g->wanted_count, sizeof *g->wanted, by_number);
  size_t kept = 0;
  for (size_t i = 0; i < g->wanted_count; i++) {
    if (kept == 0 || g->wanted[kept - 1] != g->wanted[i]) g->wanted[kept++] = g->wanted[i];
  }
  g->wanted_count = kept;
  return true;
}

static bool keep_keys(gathering *g) {
  size_t count = at_most(g->anomaly->key_count, ISO_DOCUMENT_KEYS);
  const char **keys = iso_arena_alloc(g->arena, count + 1, sizeof *keys);
  if (keys == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    keys[i] = keep_scalar(g->arena, g->anomaly->keys[i]);
    if (keys[i] == NULL) return false;
  }
  g->out->keys = keys;
  g->out->key_count = (uint32_t)count;
  return true;
}

static bool keep_all(gathering *g) {
  const isoproof_anomaly *a = g->anomaly;
  g->txns = iso_arena_alloc(g->arena, ISO_DOCUMENT_TXNS, sizeof *g->txns);
  if (g->txns == NULL || !want_ops(g)) return false;
  g->out->txns = g->txns;
  for (size_t i = 0; i < a->txn_count; i++) place_of(g, a->txns[i]);
  place_edges(g, a->edges, a->edge_count);
  for (size_t i = 0; i < a->case_count && i < ISO_DOCUMENT_CASES; i++) {
    place_edges(g, a->cases[i].edges, a->cases[i].edge_count);
    for (size_t k = 0; k < a->cases[i].order_count && k < ISO_DOCUMENT_EDGES; k++) {
      place_of(g, a->cases[i].orders[k].before_txn);
      place_of(g, a->cases[i].orders[k].after_txn);
    }
  }
  for (uint32_t i = 0; i < g->out->txn_count; i++) {
    if (!keep_txn(g, g->txns[i].number, &g->txns[i])) return false;
  }
  return keep_keys(g) && keep_edges(g, a->edges, a->edge_count, &g->out->edges, &g->out->edge_count) && keep_cases(g);
}

bool iso_limit_anomaly(iso_arena *arena, const isoproof_history *history, const isoproof_anomaly *anomaly,
                       isoproof_document_anomaly *out) {
  *out = (isoproof_document_anomaly){.count = anomaly->count, .count_is = anomaly->count_is, .meaning = ""};
  gathering g = {.arena = arena, .history = history, .anomaly = anomaly, .out = out};
  g.is_bank = iso_history_is_bank(history);
  out->code = iso_document_text(arena, anomaly->code, strlen(anomaly->code), ISO_DOCUMENT_SCALAR);
  out->name = iso_document_text(arena, anomaly->name, strlen(anomaly->name), ISO_DOCUMENT_SCALAR);
  out->level = iso_document_text(arena, anomaly->level, strlen(anomaly->level), ISO_DOCUMENT_SCALAR);
  out->explanation = iso_document_text(arena, anomaly->explanation, strlen(anomaly->explanation), SIZE_MAX);
  bool good = out->code != NULL && out->name != NULL && out->level != NULL && out->explanation != NULL && keep_all(&g);
  free(g.wanted);
  return good;
}
