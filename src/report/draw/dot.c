/* A counterexample for Graphviz: the rows of our own layout are its ranks. */
#include <string.h>

#include "base/abi.h"
#include "report/document/document.h"
#include "report/draw/edge_style.h"
#include "report/draw/layout.h"
#include "report/escape.h"

static void put_node(iso_output *out, const isoproof_document_txn *txn, uint32_t panel, uint32_t card) {
  iso_out_printf(out, "    c%un%u [label=\"", panel, card);
  iso_put_dot_inner(out, txn->name);
  if (txn->called != NULL) {
    iso_out_text(out, " ");
    iso_put_dot_inner(out, txn->called);
  }
  iso_out_text(out, ", ");
  iso_put_dot_inner(out, txn->status);
  if (txn->isolation != NULL) {
    iso_out_text(out, ", ");
    iso_put_dot_inner(out, txn->isolation);
  }
  iso_out_text(out, "\\l");
  for (uint32_t i = 0; i < txn->op_count; i++) {
    iso_out_text(out, txn->ops[i].involved ? "* " : "  ");
    iso_put_dot_inner(out, txn->ops[i].text);
    iso_out_text(out, "\\l");
  }
  if (txn->more > 0) iso_out_printf(out, "  and %llu more\\l", (unsigned long long)txn->more);
  bool odd = strcmp(txn->status, "aborted") == 0 || strcmp(txn->status, "unknown") == 0;
  iso_out_printf(out, "\"%s];\n", odd ? ", style=\"rounded,dashed\"" : "");
}

static void put_edge(iso_output *out, const iso_arrow *arrow, uint32_t panel, const iso_drawing *d) {
  const iso_edge_style *style = iso_edge_style_of(arrow->edge->kind);
  iso_words label = {NULL, 0, 0, false};
  iso_arrow_label(&label, arrow->edge);
  iso_out_printf(out, "    c%un%u -> c%un%u [label=", panel, arrow->from, panel, arrow->to);
  iso_put_dot(out, label.text != NULL ? label.text : "");
  iso_out_text(out, ", tooltip=");
  iso_put_dot(out, arrow->edge->why);
  /* Only arrows that point down may pull their cards apart. */
  bool down = d->cards[arrow->from].row < d->cards[arrow->to].row;
  iso_out_printf(out, ", color=\"%s\", fontcolor=\"%s\", style=%s%s%s];\n", style->light, style->light, style->dot,
                 arrow->edge->assumed ? ", penwidth=2.4, arrowhead=empty" : "", down ? "" : ", constraint=false");
  iso_words_free(&label);
}

static void put_graph(iso_output *out, const isoproof_document_anomaly *a, const iso_drawing *d, uint32_t panel,
                      const char *title) {
  iso_out_printf(out, "  subgraph cluster%u {\n    label=", panel);
  iso_put_dot(out, title);
  iso_out_text(out, ";\n");
  for (uint32_t i = 0; i < d->card_count; i++) put_node(out, &a->txns[d->cards[i].txn], panel, i);
  for (uint32_t row = 0; row < d->rows; row++) {
    iso_out_text(out, "    { rank=same;");
    for (uint32_t i = 0; i < d->card_count; i++)
      if (d->cards[i].row == row) iso_out_printf(out, " c%un%u;", panel, i);
    iso_out_text(out, " }\n");
  }
  for (uint32_t i = 0; i < d->arrow_count; i++) put_edge(out, &d->arrows[i], panel, d);
  iso_out_text(out, "  }\n");
}

static bool put_anomaly(iso_output *out, const isoproof_document_anomaly *a) {
  iso_arena arena = ISO_ARENA_EMPTY;
  iso_drawing drawing;
  const isoproof_document_edge *edges;
  uint32_t count;
  bool good = iso_certain_edges(&arena, a, &edges, &count) && iso_layout(&arena, a, edges, count, true, &drawing);
  if (good) put_graph(out, a, &drawing, 0, a->case_count > 0 ? "What is certain" : "");
  for (uint32_t i = 0; good && i < a->case_count; i++) {
    const isoproof_document_case *one = &a->cases[i];
    good = iso_layout(&arena, a, one->edges, one->edge_count, false, &drawing);
    if (good) put_graph(out, a, &drawing, i + 1, one->title);
  }
  iso_arena_free(&arena);
  return good;
}

static void put_heading(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *a) {
  iso_out_text(out, "digraph counterexample {\n  graph [rankdir=TB, labelloc=t, fontname=\"sans-serif\", label=\"");
  iso_put_dot_inner(out, a != NULL ? a->name : "No anomaly was found");
  iso_out_text(out, "\\n");
  if (a != NULL) {
    iso_put_dot_inner(out, a->code);
    iso_out_text(out, ", breaks ");
    iso_put_dot_inner(out, a->level);
    iso_out_text(out, ", ");
  }
  iso_out_text(out, "in ");
  iso_put_dot_inner(out, document->title);
  iso_out_text(out, "\"];\n"
                    "  node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11];\n"
                    "  edge [fontname=\"sans-serif\", fontsize=10];\n");
}

isoproof_status isoproof_document_write_dot(const isoproof_document *document, const isoproof_draw_options *options,
                                            isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_draw_options known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_draw_options, &known, options, error));
  const isoproof_document_anomaly *anomaly = isoproof_document_anomaly_at(document, known.anomaly);
  if (anomaly == NULL && known.anomaly > 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected an anomaly below %zu, found number %zu",
                    document->anomalies.count, known.anomaly);
  iso_output *out;
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  put_heading(out, document, anomaly);
  if (anomaly != NULL && !put_anomaly(out, anomaly)) {
    iso_output_abandon(out);
    return iso_fail_memory(error);
  }
  iso_out_text(out, "}\n");
  return iso_output_close(out, error);
}
