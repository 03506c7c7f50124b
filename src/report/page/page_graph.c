/* Anomalies in the page: their texts, and their graphs with coordinates. */
#include <string.h>

#include "history/history.h"
#include "report/draw/layout.h"
#include "report/escape.h"
#include "report/page/page_data.h"

/* A text as an array of sentences.  A full stop in quotation marks, or without a space behind it, ends none. */
static void put_sentences(const iso_blob *blob, const char *text) {
  bool quoted = false, first = true;
  const char *begin = text;
  iso_blob_field(blob, "sentences");
  iso_out_char(blob->out, '[');
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '"') quoted = !quoted;
    bool ends = p[1] == '\0' || (*p == '.' && p[1] == ' ' && p[2] != '\0' && !quoted);
    if (!ends) continue;
    if (!first) iso_out_char(blob->out, ',');
    first = false;
    iso_put_json_in_html_n(blob->out, begin, (size_t)(p + 1 - begin));
    begin = p + 1;
    while (*begin == ' ') begin++;
    if (*begin == '\0') break;
  }
  iso_out_char(blob->out, ']');
}

/* ---- graphs ---- */

static void put_index(const iso_blob *blob, const char *name, uint32_t index) {
  if (index == ISOPROOF_NO_INDEX)
    iso_out_printf(blob->out, ",\"%s\":null", name);
  else
    iso_out_printf(blob->out, ",\"%s\":%u", name, index);
}

static void put_op(const iso_blob *blob, const isoproof_document_op *op) {
  iso_out_text(blob->out, "{\"text\":");
  iso_put_json_in_html(blob->out, op->text);
  iso_blob_text(blob, "kind", op->kind);
  iso_blob_text(blob, "key", op->key);
  iso_blob_text(blob, "value", op->value);
  if (op->line > 0) iso_out_printf(blob->out, ",\"line\":%llu", (unsigned long long)op->line);
  iso_out_printf(blob->out, ",\"involved\":%s}", op->involved ? "true" : "false");
}

/* Where the timeline has the transaction. */
static void put_place(const iso_blob *blob, const isoproof_document_txn *txn) {
  const isoproof_history *h = blob->document->history;
  uint32_t session = ISOPROOF_NO_INDEX, index = ISOPROOF_NO_INDEX;
  if (h != NULL && blob->sample.shown != NULL && txn->number < h->txns) {
    uint32_t own = h->txn_session[txn->number];
    session = blob->sample.session[own];
    if (session != ISOPROOF_NO_INDEX) index = (uint32_t)(txn->number - h->session_first_txn[own]);
  }
  put_index(blob, "session_index", session);
  put_index(blob, "txn_index", index);
}

static void put_node(const iso_blob *blob, const isoproof_document_txn *txn, const iso_card *card) {
  iso_out_text(blob->out, "{\"id\":");
  iso_put_json_in_html(blob->out, txn->name);
  iso_blob_text(blob, "label", txn->name);
  iso_blob_text(blob, "own_id", txn->id);
  iso_blob_text(blob, "session", txn->session);
  iso_blob_text(blob, "status", txn->status);
  iso_blob_text(blob, "node", txn->node);
  iso_blob_text(blob, "error", txn->error);
  iso_blob_field(blob, "start");
  iso_blob_time(blob, txn->start);
  iso_blob_field(blob, "end");
  iso_blob_time(blob, txn->end);
  put_place(blob, txn);
  iso_out_printf(blob->out, ",\"x\":%d,\"y\":%d,\"w\":%d,\"h\":%d,\"operations\":[", card->x, card->y, card->w,
                 card->h);
  for (uint32_t i = 0; i < txn->op_count; i++) {
    if (i > 0) iso_out_char(blob->out, ',');
    put_op(blob, &txn->ops[i]);
  }
  iso_out_printf(blob->out, "],\"more\":%llu}", (unsigned long long)txn->more);
}

static void put_edge(const iso_blob *blob, const isoproof_document_anomaly *a, const iso_arrow *arrow) {
  const isoproof_document_edge *edge = arrow->edge;
  iso_words path = {NULL, 0, 0, false};
  iso_arrow_path(&path, arrow);
  iso_out_text(blob->out, "{\"from\":");
  iso_put_json_in_html(blob->out, a->txns[edge->from].name);
  iso_blob_text(blob, "to", a->txns[edge->to].name);
  iso_blob_text(blob, "kind", edge->kind);
  iso_blob_text(blob, "key", edge->key);
  put_index(blob, "from_op", edge->from_op);
  put_index(blob, "to_op", edge->to_op);
  iso_blob_text(blob, "why", edge->why);
  iso_blob_text(blob, "path", path.text);
  iso_out_printf(blob->out, ",\"label_x\":%d,\"label_y\":%d,\"assumed\":%s}", arrow->label_x, arrow->label_y,
                 edge->assumed ? "true" : "false");
  iso_words_free(&path);
}

/* ,"graph":{...}: of a case, or of what is certain. */
static void put_graph(iso_blob *blob, const isoproof_document_anomaly *a, const isoproof_document_case *one) {
  iso_arena arena = ISO_ARENA_EMPTY;
  iso_drawing d;
  bool good = one != NULL ? iso_layout(&arena, a, one->edges, one->edge_count, false, &d)
                          : iso_layout(&arena, a, a->edges, a->edge_count, true, &d);
  if (!good) blob->failed = true;
  iso_blob_field(blob, "graph");
  if (good) {
    iso_out_printf(blob->out, "{\"width\":%d,\"height\":%d,\"nodes\":[", d.width, d.height);
    for (uint32_t i = 0; i < d.card_count; i++) {
      if (i > 0) iso_out_char(blob->out, ',');
      put_node(blob, &a->txns[d.cards[i].txn], &d.cards[i]);
    }
    iso_out_text(blob->out, "],\"edges\":[");
    for (uint32_t i = 0; i < d.arrow_count; i++) {
      if (i > 0) iso_out_char(blob->out, ',');
      put_edge(blob, a, &d.arrows[i]);
    }
    iso_out_char(blob->out, ']');
    for (uint32_t i = 0; i < d.lane_count; i++) {
      iso_out_text(blob->out, i == 0 ? ",\"lanes\":[{\"session\":" : ",{\"session\":");
      iso_put_json_in_html(blob->out, d.lanes[i].session);
      iso_out_printf(blob->out, ",\"x\":%d,\"w\":%d}", d.lanes[i].x, d.lanes[i].w);
    }
    iso_out_text(blob->out, d.lane_count > 0 ? "]}" : "}");
  } else {
    iso_out_text(blob->out, "null");
  }
  iso_arena_free(&arena);
}

/* ---- anomalies ---- */

/* Whether the share of the page that belongs to anomalies is used up. */
static bool is_full(const iso_blob *blob, uint64_t began) {
  iso_output_flush(blob->out);
  return *blob->written - began > blob->max_bytes / 100 * 45;
}

static void put_cases(iso_blob *blob, const isoproof_document_anomaly *a, uint64_t began) {
  iso_blob_field(blob, "cases");
  iso_out_char(blob->out, '[');
  blob->cases_shown = 0;
  blob->cases_found = a->case_count;
  for (uint32_t i = 0; i < a->case_count; i++) {
    if (i % 8 == 7 && is_full(blob, began)) break;
    blob->cases_shown++;
    iso_out_text(blob->out, i > 0 ? ",{\"title\":" : "{\"title\":");
    iso_put_json_in_html(blob->out, a->cases[i].title);
    put_sentences(blob, a->cases[i].explanation);
    put_graph(blob, a, &a->cases[i]);
    iso_out_char(blob->out, '}');
  }
  iso_out_char(blob->out, ']');
}

static void put_anomaly(iso_blob *blob, const isoproof_document_anomaly *a, size_t number, uint64_t began) {
  iso_out_printf(blob->out, "{\"anchor\":\"anomaly-%zu\"", number + 1);
  iso_blob_text(blob, "code", a->code);
  iso_blob_text(blob, "name", a->name);
  iso_blob_text(blob, "level", a->level);
  iso_out_printf(blob->out, ",\"count\":%llu,\"keys\":[", (unsigned long long)a->count);
  for (uint32_t i = 0; i < a->key_count; i++) {
    if (i > 0) iso_out_char(blob->out, ',');
    iso_put_json_in_html(blob->out, a->keys[i]);
  }
  iso_out_char(blob->out, ']');
  put_sentences(blob, a->explanation);
  iso_blob_text(blob, "meaning", a->meaning);
  put_graph(blob, a, NULL);
  put_cases(blob, a, began);
  iso_out_char(blob->out, '}');
}

void iso_blob_anomalies(iso_blob *blob) {
  const isoproof_document *d = blob->document;
  iso_blob_field(blob, "anomalies");
  iso_out_char(blob->out, '[');
  iso_output_flush(blob->out);
  uint64_t began = *blob->written;
  for (size_t i = 0; i < d->anomalies.count && !iso_output_failed(blob->out); i++) {
    if (i > 0 && is_full(blob, began)) break;
    if (i > 0) iso_out_char(blob->out, ',');
    put_anomaly(blob, &d->anomalies.items[i], i, began);
    blob->anomalies_shown++;
  }
  iso_out_char(blob->out, ']');
}
