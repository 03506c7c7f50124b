/* Anomalies in the page: their texts, and their graphs with coordinates. */
#include <string.h>

#include "history/history.h"
#include "report/draw/layout.h"
#include "report/escape.h"
#include "report/page/page_data.h"

/* A text as an array of sentences.  A full stop in quotation marks, or without a space behind it, ends none. */
static void put_sentences(const iso_page_data *page, const char *text) {
  bool quoted = false, first = true;
  const char *begin = text;
  iso_page_data_field(page, "sentences");
  iso_out_char(page->out, '[');
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '"') quoted = !quoted;
    bool ends = p[1] == '\0' || (*p == '.' && p[1] == ' ' && p[2] != '\0' && !quoted);
    if (!ends) continue;
    if (!first) iso_out_char(page->out, ',');
    first = false;
    iso_put_json_in_html_n(page->out, begin, (size_t)(p + 1 - begin));
    begin = p + 1;
    while (*begin == ' ') begin++;
    if (*begin == '\0') break;
  }
  iso_out_char(page->out, ']');
}

/* ---- graphs ---- */

static void put_index(const iso_page_data *page, const char *name, uint32_t index) {
  if (index == ISOPROOF_NO_INDEX)
    iso_out_printf(page->out, ",\"%s\":null", name);
  else
    iso_out_printf(page->out, ",\"%s\":%u", name, index);
}

static void put_op(const iso_page_data *page, const isoproof_document_op *op) {
  iso_out_text(page->out, "{\"text\":");
  iso_put_json_in_html(page->out, op->text);
  iso_page_data_text(page, "kind", op->kind);
  iso_page_data_text(page, "key", op->key);
  iso_page_data_text(page, "value", op->value);
  if (op->line > 0) iso_out_printf(page->out, ",\"line\":%llu", (unsigned long long)op->line);
  iso_out_printf(page->out, ",\"involved\":%s}", op->involved ? "true" : "false");
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
  iso_out_text(page->out, "{\"id\":");
  iso_put_json_in_html(page->out, txn->name);
  iso_page_data_text(page, "label", txn->name);
  iso_page_data_text(page, "own_id", txn->id);
  iso_page_data_text(page, "session", txn->session);
  iso_page_data_text(page, "status", txn->status);
  iso_page_data_text(page, "node", txn->node);
  iso_page_data_text(page, "error", txn->error);
  iso_page_data_field(page, "start");
  iso_page_data_time(page, txn->start);
  iso_page_data_field(page, "end");
  iso_page_data_time(page, txn->end);
  put_place(page, txn);
  iso_out_printf(page->out, ",\"x\":%d,\"y\":%d,\"w\":%d,\"h\":%d,\"operations\":[", card->x, card->y, card->w,
                 card->h);
  for (uint32_t i = 0; i < txn->op_count; i++) {
    if (i > 0) iso_out_char(page->out, ',');
    put_op(page, &txn->ops[i]);
  }
  iso_out_printf(page->out, "],\"more\":%llu}", (unsigned long long)txn->more);
}

static void put_edge(const iso_page_data *page, const isoproof_document_anomaly *a, const iso_arrow *arrow) {
  const isoproof_document_edge *edge = arrow->edge;
  iso_words path = {NULL, 0, 0, false};
  iso_arrow_path(&path, arrow);
  iso_out_text(page->out, "{\"from\":");
  iso_put_json_in_html(page->out, a->txns[edge->from].name);
  iso_page_data_text(page, "to", a->txns[edge->to].name);
  iso_page_data_text(page, "kind", edge->kind);
  iso_page_data_text(page, "key", edge->key);
  put_index(page, "from_op", edge->from_op);
  put_index(page, "to_op", edge->to_op);
  iso_page_data_text(page, "why", edge->why);
  iso_page_data_text(page, "path", path.text);
  iso_out_printf(page->out, ",\"label_x\":%d,\"label_y\":%d,\"assumed\":%s}", arrow->label_x, arrow->label_y,
                 edge->assumed ? "true" : "false");
  iso_words_free(&path);
}

/* ,"graph":{...}: of a case, or of what is certain. */
static void put_graph(iso_page_data *page, const isoproof_document_anomaly *a, const isoproof_document_case *one) {
  iso_arena arena = ISO_ARENA_EMPTY;
  iso_drawing d;
  bool good = one != NULL ? iso_layout(&arena, a, one->edges, one->edge_count, false, &d)
                          : iso_layout(&arena, a, a->edges, a->edge_count, true, &d);
  if (!good) page->failed = true;
  iso_page_data_field(page, "graph");
  if (good) {
    iso_out_printf(page->out, "{\"width\":%d,\"height\":%d,\"nodes\":[", d.width, d.height);
    for (uint32_t i = 0; i < d.card_count; i++) {
      if (i > 0) iso_out_char(page->out, ',');
      put_node(page, &a->txns[d.cards[i].txn], &d.cards[i]);
    }
    iso_out_text(page->out, "],\"edges\":[");
    for (uint32_t i = 0; i < d.arrow_count; i++) {
      if (i > 0) iso_out_char(page->out, ',');
      put_edge(page, a, &d.arrows[i]);
    }
    iso_out_char(page->out, ']');
    for (uint32_t i = 0; i < d.lane_count; i++) {
      iso_out_text(page->out, i == 0 ? ",\"lanes\":[{\"session\":" : ",{\"session\":");
      iso_put_json_in_html(page->out, d.lanes[i].session);
      iso_out_printf(page->out, ",\"x\":%d,\"w\":%d}", d.lanes[i].x, d.lanes[i].w);
    }
    iso_out_text(page->out, d.lane_count > 0 ? "]}" : "}");
  } else {
    iso_out_text(page->out, "null");
  }
  iso_arena_free(&arena);
}

/* ---- anomalies ---- */

/* Whether the share of the page that belongs to anomalies is used up. */
static bool is_full(const iso_page_data *page, uint64_t began) {
  iso_output_flush(page->out);
  return *page->written - began > page->max_bytes / 100 * 45;
}

static void put_cases(iso_page_data *page, const isoproof_document_anomaly *a, uint64_t began) {
  iso_page_data_field(page, "cases");
  iso_out_char(page->out, '[');
  page->cases_shown = 0;
  page->cases_found = a->case_count;
  for (uint32_t i = 0; i < a->case_count; i++) {
    if (i % 8 == 7 && is_full(page, began)) break;
    page->cases_shown++;
    iso_out_text(page->out, i > 0 ? ",{\"title\":" : "{\"title\":");
    iso_put_json_in_html(page->out, a->cases[i].title);
    put_sentences(page, a->cases[i].explanation);
    put_graph(page, a, &a->cases[i]);
    iso_out_char(page->out, '}');
  }
  iso_out_char(page->out, ']');
}

static void put_anomaly(iso_page_data *page, const isoproof_document_anomaly *a, size_t number, uint64_t began) {
  iso_out_printf(page->out, "{\"anchor\":\"anomaly-%zu\"", number + 1);
  iso_page_data_text(page, "code", a->code);
  iso_page_data_text(page, "name", a->name);
  iso_page_data_text(page, "level", a->level);
  iso_out_printf(page->out, ",\"count\":%llu,\"keys\":[", (unsigned long long)a->count);
  for (uint32_t i = 0; i < a->key_count; i++) {
    if (i > 0) iso_out_char(page->out, ',');
    iso_put_json_in_html(page->out, a->keys[i]);
  }
  iso_out_char(page->out, ']');
  put_sentences(page, a->explanation);
  iso_page_data_text(page, "meaning", a->meaning);
  put_graph(page, a, NULL);
  put_cases(page, a, began);
  iso_out_char(page->out, '}');
}

void iso_page_data_anomalies(iso_page_data *page) {
  const isoproof_document *d = page->document;
  iso_page_data_field(page, "anomalies");
  iso_out_char(page->out, '[');
  iso_output_flush(page->out);
  uint64_t began = *page->written;
  for (size_t i = 0; i < d->anomalies.count && !iso_output_failed(page->out); i++) {
    if (i > 0 && is_full(page, began)) break;
    if (i > 0) iso_out_char(page->out, ',');
    put_anomaly(page, &d->anomalies.items[i], i, began);
    page->anomalies_shown++;
  }
  iso_out_char(page->out, ']');
}
