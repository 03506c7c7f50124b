/* Sentences about the parts of a document: they follow from the rest, so that a saved result need not have them. */
#include <string.h>

#include "base/words.h"
#include "graph/edge.h"
#include "report/document/document.h"

/* How operations are put into words: kind, what stands before the key, whether the value comes before the key, what is
 * between; NULL: the key says it all. */
static const struct phrase {
  const char *kind, *verb, *between;
  bool value_first;
} phrases[] = {{"r", "read", " = ", false},
               {"w", "write", " = ", false},
               {"read-list", "read", " = ", false},
               {"append", "append", " to ", true},
               {"read-set", "read", " = ", false},
               {"add", "add", " to ", true},
               {"read-counter", "read", " = ", false},
               {"inc", "increment", " by ", false},
               {"read-predicate", "read where", " = ", false},
               {"insert", "insert", " = ", false},
               {"update", "update", " = ", false},
               {"upsert", "upsert", " = ", false},
               {"delete", "delete", NULL, false},
               {"missed-update", "update", ": ", false},
               {"missed-delete", "delete", ": ", false},
               {"rp", "select", ": ", false},
               {"count", "count", ": ", false}};

static const struct phrase *phrase_of(const char *kind) {
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
    if (strcmp(phrases[i].kind, kind) == 0) return &phrases[i];
  }
  return &phrases[0];
}

static void add_op(iso_words *words, const isoproof_document_op *op) {
  const struct phrase *p = phrase_of(op->kind);
  if (op->is_balance) {
    iso_words_add(words, "%s account %s: %lld", p->verb, op->key, (long long)op->balance);
    return;
  }
  const char *value = op->value != NULL ? op->value : "?";
  if (p->between == NULL) {
    iso_words_add(words, "%s %s", p->verb, op->key);
    return;
  }
  iso_words_add(words, "%s %s%s%s", p->verb, p->value_first ? value : op->key, p->between,
                p->value_first ? op->key : value);
}

/* Moves the words into the arena; NULL when memory is out. */
static const char *take(iso_arena *arena, iso_words *words) {
  const char *text = words->failed ? NULL : iso_arena_text(arena, words->text, words->length);
  iso_words_free(words);
  return text;
}

/* ---- edges ---- */

typedef struct ends {
  const isoproof_document_txn *from, *to;
  const isoproof_document_op *from_op, *to_op; /* NULL where the edge names none */
} ends;

static const isoproof_document_op *op_of(const isoproof_document_txn *txn, uint32_t op) {
  return op < txn->op_count ? &txn->ops[op] : NULL;
}

/* "s0t1 (append 3 to x)" or "s0t1" */
static void add_side(iso_words *words, const isoproof_document_txn *txn, const isoproof_document_op *op) {
  iso_words_add(words, "%s", txn->name);
  if (op == NULL) return;
  iso_words_add(words, " (");
  add_op(words, op);
  iso_words_add(words, ")");
}

static void tell_wr(iso_words *words, const ends *e, const char *on) {
  add_side(words, e->to, e->to_op);
  if (strcmp(e->from->status, "initial") == 0) {
    iso_words_add(words, " saw the initial version%s.", on);
    return;
  }
  iso_words_add(words, " saw%s what ", on);
  add_side(words, e->from, e->from_op);
  iso_words_add(words, " wrote.");
}

static void tell_rw(iso_words *words, const ends *e, const char *on) {
  add_side(words, e->from, e->from_op);
  iso_words_add(words, " saw%s an earlier version than the one that ", on);
  add_side(words, e->to, e->to_op);
  iso_words_add(words, " wrote.");
}

static void tell_ww(iso_words *words, const ends *e, const char *key, bool assumed) {
  if (assumed) iso_words_add(words, "Assumed: ");
  add_side(words, e->from, e->from_op);
  iso_words_add(words, " wrote%s%s before ", key != NULL ? " " : "", key != NULL ? key : "");
  add_side(words, e->to, e->to_op);
  iso_words_add(words, ".");
}

static void tell_po(iso_words *words, const ends *e) {
  add_side(words, e->from, e->from_op);
  iso_words_add(words, " comes first within its transaction, then ");
  add_side(words, e->to, e->to_op);
  iso_words_add(words, ".");
}

/* A statement says what it asked for, not of which row the edge is. */
static bool is_statement(const isoproof_document_op *op) {
  return op != NULL && (strcmp(op->kind, "rp") == 0 || strcmp(op->kind, "count") == 0);
}

static void tell_edge(iso_words *words, const isoproof_document_edge *edge, const ends *e) {
  iso_words key = {NULL, 0, 0, false};
  /* The operations say the key; without them it is said here. */
  if (edge->key != NULL && e->from_op == NULL && e->to_op == NULL) iso_words_add(&key, " of %s", edge->key);
  bool queried = is_statement(e->from_op) || is_statement(e->to_op);
  if (edge->key != NULL && queried) iso_words_add(&key, " of row %s", edge->key);
  const char *on = key.text != NULL ? key.text : "";
  if (key.failed) words->failed = true;
  iso_edge_kind kind = ISO_EDGE_KINDS;
  (void)iso_edge_find(edge->kind, &kind);
  switch (kind) {
  case ISO_EDGE_WR:
    tell_wr(words, e, on);
    break;
  case ISO_EDGE_RW:
    tell_rw(words, e, on);
    break;
  case ISO_EDGE_WW:
    tell_ww(words, e, key.text != NULL ? edge->key : NULL, edge->assumed);
    break;
  case ISO_EDGE_SO:
    iso_words_add(words, "%s comes before %s in session %s.", e->from->name, e->to->name, e->from->session);
    break;
  case ISO_EDGE_RT:
    iso_words_add(words, "%s ended before %s began.", e->from->name, e->to->name);
    break;
  case ISO_EDGE_CM:
    iso_words_add(words, "%s must come before %s in every commit order%s%s.", e->from->name, e->to->name,
                  edge->key != NULL ? ", because of " : "", edge->key != NULL ? edge->key : "");
    break;
  case ISO_EDGE_PO:
    tell_po(words, e);
    break;
  case ISO_EDGE_KINDS:
    iso_words_add(words, "%s comes before %s.", e->from->name, e->to->name);
    break;
  }
  iso_words_free(&key);
}

/* Whether an edge is of a kind. */
static bool is_kind(const isoproof_document_edge *edge, iso_edge_kind kind) {
  iso_edge_kind own;
  return iso_edge_find(edge->kind, &own) && own == kind;
}

/* Whether a case assumes just this. */
static bool is_assumed(const isoproof_document_case *one, const isoproof_document_edge *edge) {
  if (one == NULL || !is_kind(edge, ISO_EDGE_WW) || edge->key == NULL) return false;
  for (uint32_t i = 0; i < one->order_count; i++) {
    const isoproof_document_order *order = &one->orders[i];
    if (order->before == edge->from && order->after == edge->to && strcmp(order->key, edge->key) == 0) return true;
  }
  return false;
}

static bool tell_edges(iso_arena *arena, const isoproof_document_anomaly *a, const isoproof_document_case *one,
                       isoproof_document_edge *edges, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    isoproof_document_edge *edge = &edges[i];
    const isoproof_document_txn *from = &a->txns[edge->from], *to = &a->txns[edge->to];
    ends e = {from, to, op_of(from, edge->from_op), op_of(to, edge->to_op)};
    iso_words words = {NULL, 0, 0, false};
    edge->assumed = is_assumed(one, edge);
    tell_edge(&words, edge, &e);
    edge->why = take(arena, &words);
    if (edge->why == NULL) return false;
  }
  return true;
}

/* ---- cases ---- */

static bool tell_case(iso_arena *arena, const isoproof_document_anomaly *a, isoproof_document_case *one) {
  iso_words words = {NULL, 0, 0, false};
  for (uint32_t i = 0; i < one->order_count; i++) {
    const isoproof_document_order *order = &one->orders[i];
    iso_words_add(&words, "%s%s wrote %s before %s", i == 0 ? "If " : " and ", a->txns[order->before].name, order->key,
                  a->txns[order->after].name);
  }
  if (one->order_count == 0) iso_words_add(&words, "In any case");
  one->title = take(arena, &words);
  return one->title != NULL &&
         tell_edges(arena, a, one, (isoproof_document_edge *)(uintptr_t)one->edges, one->edge_count);
}

bool iso_document_sentences(iso_arena *arena, isoproof_document_anomaly *anomaly) {
  const isoproof_anomaly_info *info = isoproof_anomaly_find(anomaly->code);
  anomaly->meaning = info != NULL ? info->meaning : "";
  /* The arrays are ours: they lie in the arena, and only readers see them as constant. */
  isoproof_document_txn *txns = (isoproof_document_txn *)(uintptr_t)anomaly->txns;
  isoproof_document_case *cases = (isoproof_document_case *)(uintptr_t)anomaly->cases;
  for (uint32_t t = 0; t < anomaly->txn_count; t++) {
    isoproof_document_op *ops = (isoproof_document_op *)(uintptr_t)txns[t].ops;
    for (uint32_t i = 0; i < txns[t].op_count; i++) {
      iso_words words = {NULL, 0, 0, false};
      add_op(&words, &ops[i]);
      ops[i].text = take(arena, &words);
      if (ops[i].text == NULL) return false;
    }
  }
  isoproof_document_edge *edges = (isoproof_document_edge *)(uintptr_t)anomaly->edges;
  if (!tell_edges(arena, anomaly, NULL, edges, anomaly->edge_count)) return false;
  for (uint32_t i = 0; i < anomaly->case_count; i++) {
    if (!tell_case(arena, anomaly, &cases[i])) return false;
  }
  return true;
}

/* ---- the document ---- */

bool iso_document_make_title(isoproof_document *document) {
  if (document->title[0] != '\0') return true;
  iso_words words = {NULL, 0, 0, false};
  const char *database = isoproof_document_fact_of(document, "database");
  const char *last = strrchr(document->file, '/');
  const char *base = last != NULL && last[1] != '\0' ? last + 1 : document->file;
  if (database != NULL)
    iso_words_add(&words, "isoproof on %s", database);
  else
    iso_words_add(&words, "%s", base[0] != '\0' ? base : "history");
  document->title = take(&document->arena, &words);
  return document->title != NULL;
}

bool iso_document_count_left_out(isoproof_document *document) {
  if (document->anomalies_found <= document->anomalies.count) return true;
  return iso_document_leave_out(document, "%zu of %s%llu anomalies are shown.", document->anomalies.count,
                                document->found_more ? "at least " : "", (unsigned long long)document->anomalies_found);
}
