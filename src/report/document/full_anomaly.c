/* An anomaly in full: with every transaction, key, edge and case that the result has. */
#include <string.h>

#include "history/row_text.h"
#include "report/document/document.h"

typedef struct making {
  iso_arena *arena;
  const isoproof_history *history;
  const isoproof_anomaly *anomaly;
  iso_full_txn *txns; /* those of the anomaly, in its order */
  bool failed;        /* memory is out */
} making;

static void *keep(making *m, size_t count, size_t size) {
  void *room = iso_arena_alloc(m->arena, count + 1, size);
  if (room == NULL) m->failed = true;
  return room;
}

static const char *keep_text(making *m, const char *text) {
  const char *copy = iso_arena_text(m->arena, text, strlen(text));
  if (copy == NULL) m->failed = true;
  return copy;
}

static isoproof_scalar keep_scalar(making *m, isoproof_scalar scalar) {
  if (scalar.text == NULL || scalar.length == 0) return scalar;
  scalar.text = iso_arena_text(m->arena, scalar.text, scalar.length);
  if (scalar.text == NULL) m->failed = true;
  return scalar;
}

/* ---- transactions ---- */

static const char *make_name(making *m, uint64_t txn) {
  char name[64];
  isoproof_history_txn_name(m->history, txn, name, sizeof name);
  return keep_text(m, name);
}

/* Most edges join transactions of the anomaly, which have their names already. */
static const char *name_of(making *m, uint64_t txn) {
  enum { MOST_LOOKED_AT = 64 };
  for (size_t i = 0; m->anomaly != NULL && i < m->anomaly->txn_count && i < MOST_LOOKED_AT; i++) {
    if (m->anomaly->txns[i] == txn) return m->txns[i].name;
  }
  return make_name(m, txn);
}

static void make_txns(making *m, iso_full_anomaly *out) {
  const isoproof_anomaly *a = m->anomaly;
  m->txns = keep(m, a->txn_count, sizeof *m->txns);
  out->has_ids = m->history->txn_id_opt != NULL;
  out->txns = m->txns;
  out->txn_count = a->txn_count;
  for (size_t i = 0; !m->failed && i < a->txn_count; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    m->txns[i].name = make_name(m, a->txns[i]);
    if (!out->has_ids || !isoproof_history_txn_at(m->history, a->txns[i], &txn) || !txn.has_id) continue;
    m->txns[i].has_id = true;
    m->txns[i].id = txn.id;
  }
}

/* ---- edges ---- */

/* The number of an operation within its transaction, where there is one. */
static uint64_t place_of_op(const isoproof_history *history, uint64_t txn, uint64_t op) {
  if (op == ISOPROOF_NO_NUMBER || txn >= history->txns || op < history->txn_first_op[txn]) return ISOPROOF_NO_NUMBER;
  return iso_history_shown_number(history, (uint32_t)txn, (uint32_t)op);
}

static iso_full_edge make_edge(making *m, const isoproof_edge *edge) {
  uint64_t from_op, to_op;
  iso_edge_ops(m->history, edge, &from_op, &to_op);
  iso_full_edge made = {.from = name_of(m, edge->from_txn),
                        .to = name_of(m, edge->to_txn),
                        .kind = edge->kind,
                        .has_key = edge->has_key,
                        .from_op = place_of_op(m->history, edge->from_txn, from_op),
                        .to_op = place_of_op(m->history, edge->to_txn, to_op)};
  if (edge->has_key) made.key = keep_scalar(m, edge->key);
  return made;
}

bool iso_full_edge_make(iso_arena *arena, const isoproof_history *history, const isoproof_edge *edge,
                        iso_full_edge *out) {
  making m = {.arena = arena, .history = history};
  *out = make_edge(&m, edge);
  return !m.failed;
}

static const iso_full_edge *make_edges(making *m, const isoproof_edge *edges, size_t count) {
  iso_full_edge *made = keep(m, count, sizeof *made);
  for (size_t i = 0; !m->failed && i < count; i++) made[i] = make_edge(m, &edges[i]);
  return made;
}

static void make_case(making *m, const isoproof_anomaly_case *one, iso_full_case *out) {
  iso_full_order *orders = keep(m, one->order_count, sizeof *orders);
  for (size_t i = 0; !m->failed && i < one->order_count; i++) {
    orders[i] = (iso_full_order){name_of(m, one->orders[i].before_txn), name_of(m, one->orders[i].after_txn),
                                 keep_scalar(m, one->orders[i].key)};
  }
  *out = (iso_full_case){.orders = orders,
                         .order_count = one->order_count,
                         .edges = make_edges(m, one->edges, one->edge_count),
                         .edge_count = one->edge_count,
                         .explanation = keep_text(m, one->explanation)};
}

static void make_parts(making *m, iso_full_anomaly *out) {
  const isoproof_anomaly *a = m->anomaly;
  isoproof_scalar *keys = keep(m, a->key_count, sizeof *keys);
  for (size_t i = 0; !m->failed && i < a->key_count; i++) keys[i] = keep_scalar(m, a->keys[i]);
  out->keys = keys;
  out->key_count = a->key_count;
  out->edges = make_edges(m, a->edges, a->edge_count);
  out->edge_count = a->edge_count;
  iso_full_case *cases = keep(m, a->case_count, sizeof *cases);
  for (size_t i = 0; !m->failed && i < a->case_count; i++) make_case(m, &a->cases[i], &cases[i]);
  out->cases = cases;
  out->case_count = a->case_count;
}

/* The proof, and what it is about in the words of the workload. */
static const char *explain(making *m) {
  iso_words words = {NULL, 0, 0, false};
  iso_words_add(&words, "%s", m->anomaly->explanation);
  const char *text = iso_tell_transfers(&words, m->history, m->anomaly) ? keep_text(m, words.text) : NULL;
  if (text == NULL) m->failed = true;
  iso_words_free(&words);
  return text;
}

bool iso_full_anomaly_make(iso_arena *arena, const isoproof_history *history, const isoproof_anomaly *anomaly,
                           iso_anomaly_parts parts, iso_full_anomaly *out) {
  making m = {.arena = arena, .history = history, .anomaly = anomaly};
  *out = (iso_full_anomaly){.code = keep_text(&m, anomaly->code),
                            .name = keep_text(&m, anomaly->name),
                            .level = keep_text(&m, anomaly->level),
                            .explanation = explain(&m),
                            .count = anomaly->count,
                            .count_is = anomaly->count_is};
  make_txns(&m, out);
  if (parts.full && !m.failed) make_parts(&m, out);
  if (m.failed || !parts.limited) return !m.failed;
  out->has_details = true;
  if (!iso_limit_anomaly(arena, history, anomaly, &out->limited)) return false;
  if (strlen(out->explanation) != strlen(anomaly->explanation))
    out->limited.explanation = iso_document_text(arena, out->explanation, strlen(out->explanation), SIZE_MAX);
  return out->limited.explanation != NULL && iso_document_sentences(arena, &out->limited);
}
