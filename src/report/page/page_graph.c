/* Anomalies in the page: their texts, and their graphs with coordinates. */
#include <string.h>

#include "history/history.h"
#include "report/draw/layout.h"
#include "report/page/page_data.h"

/* A text as a list of sentences.  A full stop in quotation marks, or without a space behind it, ends none. */
static void put_sentences(const iso_page_data *page, const char *text) {
  bool quoted = false;
  const char *begin = text;
  iso_json_field_list(page->json, "sentences");
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '"') quoted = !quoted;
    bool ends = p[1] == '\0' || (*p == '.' && p[1] == ' ' && p[2] != '\0' && !quoted);
    if (!ends) continue;
    isoproof_json_string_n(page->json, begin, (size_t)(p + 1 - begin));
    begin = p + 1;
    while (*begin == ' ') begin++;
    if (*begin == '\0') break;
  }
  isoproof_json_end(page->json);
}

/* ---- graphs ---- */

static void put_index(const iso_page_data *page, const char *name, uint32_t index) {
  iso_json_field(page->json, name);
  if (index == ISOPROOF_NO_INDEX)
    isoproof_json_null(page->json);
  else
    isoproof_json_u64(page->json, index);
}

static void put_op(const iso_page_data *page, const isoproof_document_op *op) {
  isoproof_json_object(page->json);
  iso_json_field_text(page->json, "text", op->text);
  iso_json_field_text(page->json, "kind", op->kind);
  iso_json_field_text(page->json, "key", op->key);
  iso_json_field_text(page->json, "value", op->value);
  if (op->line > 0) iso_json_field_u64(page->json, "line", op->line);
  iso_json_field_bool(page->json, "involved", op->involved);
  isoproof_json_end(page->json);
}

/* Where the timeline has the transaction. */
static void put_place(const iso_page_data *page, const isoproof_document_txn *txn) {
  const isoproof_history *h = page->document->history;
  uint32_t session = ISOPROOF_NO_INDEX, index = ISOPROOF_NO_INDEX;
  if (h != NULL && page->sample.shown != NULL && txn->number < h->txns) {
    uint32_t own = h->txn_session[txn->number];
    session = page->sample.session[own];
    if (session != ISOPROOF_NO_INDEX) index = (uint32_t)(txn->number - h->session_first_txn[own]);
  }
  put_index(page, "session_index", session);
  put_index(page, "txn_index", index);
}

static void put_node(const iso_page_data *page, const isoproof_document_txn *txn, const iso_card *card) {
  isoproof_json_object(page->json);
  iso_json_field_text(page->json, "id", txn->name);
  iso_json_field_text(page->json, "label", txn->name);
  iso_json_field_text(page->json, "called", txn->called);
  iso_json_field_text(page->json, "own_id", txn->id);
  iso_json_field_text(page->json, "session", txn->session);
  iso_json_field_text(page->json, "status", txn->status);
  iso_json_field_text(page->json, "node", txn->node);
  iso_json_field_text(page->json, "error", txn->error);
  iso_json_field_text(page->json, "isolation", txn->isolation);
  iso_page_data_time(page, "start", txn->start);
  iso_page_data_time(page, "end", txn->end);
  put_place(page, txn);
  iso_json_field_i64(page->json, "x", card->x);
  iso_json_field_i64(page->json, "y", card->y);
  iso_json_field_i64(page->json, "w", card->w);
  iso_json_field_i64(page->json, "h", card->h);
  iso_json_field_list(page->json, "operations");
  for (uint32_t i = 0; i < txn->op_count; i++) put_op(page, &txn->ops[i]);
  isoproof_json_end(page->json);
  iso_json_field_u64(page->json, "more", txn->more);
  isoproof_json_end(page->json);
}

static void put_edge(const iso_page_data *page, const isoproof_document_anomaly *a, const iso_arrow *arrow) {
  const isoproof_document_edge *edge = arrow->edge;
  iso_words path = {NULL, 0, 0, false};
  iso_arrow_path(&path, arrow);
  isoproof_json_object(page->json);
  iso_json_field_text(page->json, "from", a->txns[edge->from].name);
  iso_json_field_text(page->json, "to", a->txns[edge->to].name);
  iso_json_field_text(page->json, "kind", edge->kind);
  iso_json_field_text(page->json, "key", edge->key);
  put_index(page, "from_op", edge->from_op);
  put_index(page, "to_op", edge->to_op);
  iso_json_field_text(page->json, "why", edge->why);
  iso_json_field_text(page->json, "path", path.text);
  iso_json_field_i64(page->json, "label_x", arrow->label_x);
  iso_json_field_i64(page->json, "label_y", arrow->label_y);
  iso_json_field_bool(page->json, "assumed", edge->assumed);
  isoproof_json_end(page->json);
  iso_words_free(&path);
}

static void put_drawing(const iso_page_data *page, const isoproof_document_anomaly *a, const iso_drawing *d) {
  isoproof_json_object(page->json);
  iso_json_field_i64(page->json, "width", d->width);
  iso_json_field_i64(page->json, "height", d->height);
  iso_json_field_list(page->json, "nodes");
  for (uint32_t i = 0; i < d->card_count; i++) put_node(page, &a->txns[d->cards[i].txn], &d->cards[i]);
  isoproof_json_end(page->json);
  iso_json_field_list(page->json, "edges");
  for (uint32_t i = 0; i < d->arrow_count; i++) put_edge(page, a, &d->arrows[i]);
  isoproof_json_end(page->json);
  if (d->lane_count > 0) iso_json_field_list(page->json, "lanes");
  for (uint32_t i = 0; i < d->lane_count; i++) {
    isoproof_json_object(page->json);
    iso_json_field_text(page->json, "session", d->lanes[i].session);
    iso_json_field_i64(page->json, "x", d->lanes[i].x);
    iso_json_field_i64(page->json, "w", d->lanes[i].w);
    isoproof_json_end(page->json);
  }
  if (d->lane_count > 0) isoproof_json_end(page->json);
  isoproof_json_end(page->json);
}

/* "graph": of a case, or of what is certain. */
static void put_graph(iso_page_data *page, const isoproof_document_anomaly *a, const isoproof_document_case *one) {
  iso_arena arena = ISO_ARENA_EMPTY;
  iso_drawing d;
  const isoproof_document_edge *edges = one != NULL ? one->edges : NULL;
  uint32_t count = one != NULL ? one->edge_count : 0;
  bool good = (one != NULL || iso_certain_edges(&arena, a, &edges, &count)) &&
              iso_layout(&arena, a, edges, count, one == NULL, &d);
  iso_json_field(page->json, "graph");
  if (good)
    put_drawing(page, a, &d);
  else
    isoproof_json_null(page->json);
  if (!good) page->failed = true;
  iso_arena_free(&arena);
}

/* ---- anomalies ---- */

/* Whether the share of the page that belongs to anomalies is used up. */
static bool is_full(const iso_page_data *page, uint64_t began) {
  iso_output_flush(page->out);
  return *page->written - began > page->max_bytes / 100 * ISO_PAGE_ANOMALIES_SHARE;
}

static void put_cases(iso_page_data *page, const isoproof_document_anomaly *a, uint64_t began) {
  iso_json_field_list(page->json, "cases");
  page->cases_shown = 0;
  page->cases_found = a->case_count;
  for (uint32_t i = 0; i < a->case_count; i++) {
    if (i % 8 == 7 && is_full(page, began)) break;
    page->cases_shown++;
    isoproof_json_object(page->json);
    iso_json_field_text(page->json, "title", a->cases[i].title);
    put_sentences(page, a->cases[i].explanation);
    put_graph(page, a, &a->cases[i]);
    isoproof_json_end(page->json);
  }
  isoproof_json_end(page->json);
}

static void put_anomaly(iso_page_data *page, const isoproof_document_anomaly *a, size_t number, uint64_t began) {
  isoproof_json_object(page->json);
  iso_json_field(page->json, "anchor");
  iso_out_printf(iso_json_begin_string(page->json), "anomaly-%zu", number + 1);
  iso_json_end_string(page->json);
  iso_json_field_text(page->json, "code", a->code);
  iso_json_field_text(page->json, "name", a->name);
  iso_json_field_text(page->json, "level", iso_page_level_name(page->document, a->level));
  if (a->count_is != ISOPROOF_COUNT_UNKNOWN) {
    iso_json_field_u64(page->json, "count", a->count);
    iso_json_field_text(page->json, "count_is", isoproof_count_kind_name(a->count_is));
  }
  iso_json_field_list(page->json, "keys");
  for (uint32_t i = 0; i < a->key_count; i++) isoproof_json_string(page->json, a->keys[i]);
  isoproof_json_end(page->json);
  put_sentences(page, a->explanation);
  iso_json_field_text(page->json, "meaning", a->meaning);
  put_graph(page, a, NULL);
  put_cases(page, a, began);
  isoproof_json_end(page->json);
}

void iso_page_data_anomalies(iso_page_data *page) {
  const isoproof_document *d = page->document;
  const isoproof_document_anomaly *a;
  iso_json_field_list(page->json, "anomalies");
  iso_output_flush(page->out);
  uint64_t began = *page->written;
  for (size_t i = 0; (a = isoproof_document_anomaly_at(d, i)) != NULL && !iso_output_failed(page->out); i++) {
    if (i > 0 && is_full(page, began)) break;
    put_anomaly(page, a, i, began);
    page->anomalies_shown++;
  }
  isoproof_json_end(page->json);
}
