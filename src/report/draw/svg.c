/* A counterexample as a drawing that stands alone: cases side by side, a legend, light and dark. */
#include <string.h>

#include "base/abi.h"
#include "report/document/document.h"
#include "report/draw/edge_style.h"
#include "report/draw/layout.h"
#include "report/escape.h"

enum {
  PANEL_GAP = 24,
  PANEL_TITLE = 34,
  HEADING = 62,
  LEGEND_ROW = 24,
  SIDE_BY_SIDE = 1500,
  MOST_PANELS = 24,
  WIDEST_TITLE = 120,
  NARROWEST = 420
};

/* One graph: what is certain, or a case. */
typedef struct panel {
  const isoproof_document_case *one; /* NULL: what is certain, or all there is */
  iso_drawing drawing;
  int32_t x, y, width; /* as wide as its title at least */
} panel;

typedef struct sheet {
  iso_output *out;
  const isoproof_document_anomaly *anomaly;
  panel panels[MOST_PANELS];
  uint32_t count;
  int32_t width, height; /* of the panels */
} sheet;

/* ---- style ---- */

static void put_color(iso_output *out, const iso_edge_style *style, const char *color) {
  iso_out_printf(out, "--%s:%s;", iso_edge_name(style->kind), color);
}

static void put_classes(iso_output *out, const iso_edge_style *style) {
  const char *kind = iso_edge_name(style->kind);
  iso_out_printf(out, ".%s{stroke:var(--%s);stroke-dasharray:%s}.head-%s{fill:var(--%s);stroke:var(--%s)}", kind, kind,
                 style->dashes, kind, kind, kind);
  iso_out_printf(out, ".text-%s{fill:var(--%s)}\n", kind, kind);
}

static void put_style(iso_output *out) {
  iso_out_text(
      out, "<style>\n"
           "svg{--back:#fff;--card:#fff;--line:#c9ced8;--head:#f4f6f9;--text:#1b2130;--quiet:#5c6475;--mark:#fff3cf;"
           "--bad:#c4262e;--warn:#946200;--halo:#fff;");
  for (int i = 0; i < ISO_EDGE_KINDS; i++) put_color(out, &iso_edge_styles[i], iso_edge_styles[i].light);
  iso_out_text(out, "font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
                    "@media(prefers-color-scheme:dark){svg{--back:#12151c;--card:#1a1f29;--line:#3a4252;--head:#222937;"
                    "--text:#e6e9f0;--quiet:#9aa3b2;--mark:#463a14;--bad:#ff7b80;--warn:#f0b840;--halo:#12151c;");
  for (int i = 0; i < ISO_EDGE_KINDS; i++) put_color(out, &iso_edge_styles[i], iso_edge_styles[i].dark);
  iso_out_text(out,
               "}}\n"
               ".back{fill:var(--back)}.card{fill:var(--card);stroke:var(--line)}.rule{stroke:var(--line)}"
               "text{fill:var(--text);font-size:12px}.mono,.card-text{font-family:ui-monospace,SFMono-Regular,Menlo,"
               "Consolas,\"DejaVu Sans Mono\",monospace}.name{font-weight:700;font-size:13px}.quiet{fill:var(--quiet)}"
               ".status{font-size:11px;fill:var(--quiet)}.aborted{fill:var(--bad)}.unknown{fill:var(--warn)}"
               ".mark{fill:var(--mark)}.heading{font-size:17px;font-weight:700}.case{font-size:13px;font-weight:600}"
               ".lane{fill:var(--head)}.edge{fill:none;stroke-width:1.8}.assumed{stroke-width:2.6}"
               ".pill{fill:var(--halo);stroke-width:1}.label{font-size:11px;text-anchor:middle}\n");
  for (int i = 0; i < ISO_EDGE_KINDS; i++) put_classes(out, &iso_edge_styles[i]);
  iso_out_text(out, ".pill{stroke-dasharray:none}.RT{stroke-linecap:round}.hollow{fill:var(--back)}\n</style>\n");
}

static void put_heads(iso_output *out) {
  iso_out_text(out, "<defs>\n");
  for (int i = 0; i < ISO_EDGE_KINDS; i++) {
    const char *kind = iso_edge_name(iso_edge_styles[i].kind);
    for (int hollow = 0; hollow < 2; hollow++)
      iso_out_printf(out,
                     "<marker id=\"%s-%s\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" "
                     "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head-%s"
                     "%s\" d=\"M1 1L9 5L1 9Z\"/></marker>\n",
                     hollow ? "open" : "tip", kind, kind, hollow ? " hollow" : "");
  }
  iso_out_text(out, "</defs>\n");
}

/* A saved result may name any kind; a class may not. */
static const char *class_of(const isoproof_document_edge *edge) {
  return iso_edge_name(iso_edge_style_of(edge->kind)->kind);
}

/* ---- parts ---- */

static void put_cut(iso_output *out, const char *text, size_t columns) {
  bool cut;
  size_t bytes = iso_cut_text(text, columns, &cut);
  iso_put_xml_n(out, text, bytes);
  if (cut) iso_out_text(out, "\xe2\x80\xa6");
}

static void put_card(iso_output *out, const isoproof_document_txn *txn, const iso_card *card) {
  size_t letters = (size_t)(card->w - 24) * 100 / 725;
  iso_out_printf(out, "<g class=\"card-text\" transform=\"translate(%d %d)\"><title>", card->x, card->y);
  iso_put_xml(out, txn->name);
  if (txn->called != NULL) {
    iso_out_text(out, ", ");
    iso_put_xml(out, txn->called);
  }
  if (txn->id != NULL) {
    iso_out_text(out, ", ");
    iso_put_xml(out, txn->id);
    iso_out_text(out, " in the input");
  }
  if (txn->isolation != NULL) {
    iso_out_text(out, ", ");
    iso_put_xml(out, txn->isolation);
  }
  iso_out_printf(out, "</title><rect class=\"card\" width=\"%d\" height=\"%d\" rx=\"9\"/>", card->w, card->h);
  iso_out_printf(out, "<path class=\"rule\" d=\"M0 %dH%d\"/><text class=\"name\" x=\"12\" y=\"20\">", ISO_CARD_HEADER,
                 card->w);
  size_t name = iso_text_columns(txn->name), room = letters > 14 ? letters - 10 : 4;
  put_cut(out, txn->name, room);
  if (txn->called != NULL && name + 4 < room) {
    iso_out_char(out, ' ');
    put_cut(out, txn->called, room - name - 1);
  }
  bool odd = strcmp(txn->status, "aborted") == 0 || strcmp(txn->status, "unknown") == 0;
  iso_out_printf(out, "</text><text class=\"status%s%s\" x=\"%d\" y=\"19.5\" text-anchor=\"end\">", odd ? " " : "",
                 odd ? txn->status : "", card->w - 12);
  /* Where a transaction has a level of its own, that says more than that it committed. */
  bool levelled = txn->isolation != NULL && !odd;
  put_cut(out, levelled ? txn->isolation : txn->status, levelled ? 18 : 12);
  iso_out_text(out, "</text>");
  for (uint32_t i = 0; i < txn->op_count; i++) {
    int32_t y = ISO_CARD_HEADER + ISO_CARD_ROW * (int32_t)i;
    if (txn->ops[i].involved)
      iso_out_printf(out, "<rect class=\"mark\" x=\"4\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>", y + 1,
                     card->w - 8, ISO_CARD_ROW - 2);
    iso_out_printf(out, "<text%s x=\"12\" y=\"%d.5\">", txn->ops[i].involved ? "" : " class=\"quiet\"", y + 14);
    put_cut(out, txn->ops[i].text, letters);
    iso_out_text(out, "</text>");
  }
  if (txn->more > 0)
    iso_out_printf(out, "<text class=\"quiet\" x=\"12\" y=\"%d.5\">and %llu more</text>",
                   ISO_CARD_HEADER + ISO_CARD_ROW * (int32_t)txn->op_count + 14, (unsigned long long)txn->more);
  iso_out_text(out, "</g>\n");
}

/* The line; its label comes later, above all lines. */
static void put_line(iso_output *out, const iso_arrow *arrow) {
  iso_words path = {NULL, 0, 0, false};
  const char *class = class_of(arrow->edge);
  iso_arrow_path(&path, arrow);
  iso_out_printf(out, "<path class=\"edge %s%s\" d=\"%s\" marker-end=\"url(#%s-%s)\"><title>", class,
                 arrow->edge->assumed ? " assumed" : "", path.text != NULL ? path.text : "",
                 arrow->edge->assumed ? "open" : "tip", class);
  iso_put_xml(out, arrow->edge->why);
  iso_out_text(out, "</title></path>\n");
  iso_words_free(&path);
}

static void put_label(iso_output *out, const iso_arrow *arrow) {
  iso_words words = {NULL, 0, 0, false};
  const char *class = class_of(arrow->edge);
  iso_arrow_label(&words, arrow->edge);
  iso_out_printf(out, "<rect class=\"pill %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"9\"/>", class,
                 arrow->label_x - arrow->label_w / 2, arrow->label_y - ISO_LABEL_HEIGHT / 2, arrow->label_w,
                 ISO_LABEL_HEIGHT);
  iso_out_printf(out, "<text class=\"label text-%s\" x=\"%d\" y=\"%d.8\"><title>", class, arrow->label_x,
                 arrow->label_y + 3);
  iso_put_xml(out, arrow->edge->why);
  iso_out_text(out, "</title>");
  iso_put_xml(out, words.text != NULL ? words.text : "");
  iso_out_text(out, "</text>\n");
  iso_words_free(&words);
}

static const char *title_of(const panel *p) { return p->one != NULL ? p->one->title : "What is certain"; }

/* Letters of titles are 7.5 pixels wide, or a little less. */
static int32_t title_width(const char *title) {
  size_t columns = iso_text_columns(title);
  if (columns > WIDEST_TITLE) columns = WIDEST_TITLE;
  return (int32_t)(columns * 15 / 2) + 2 * ISO_DRAWING_MARGIN;
}

static void put_panel(const sheet *s, const panel *p) {
  const iso_drawing *d = &p->drawing;
  iso_out_printf(s->out, "<g transform=\"translate(%d %d)\">\n", p->x, p->y);
  if (s->count > 1) {
    const char *title = title_of(p);
    iso_out_printf(s->out, "<text class=\"case\" x=\"%d\" y=\"20\">", ISO_DRAWING_MARGIN);
    put_cut(s->out, title, WIDEST_TITLE);
    iso_out_printf(s->out, "<title>");
    iso_put_xml(s->out, title);
    iso_out_printf(s->out, "</title></text>\n<g transform=\"translate(0 %d)\">\n", PANEL_TITLE);
  }
  for (uint32_t i = 0; i < d->arrow_count; i++) put_line(s->out, &d->arrows[i]);
  for (uint32_t i = 0; i < d->card_count; i++) put_card(s->out, &s->anomaly->txns[d->cards[i].txn], &d->cards[i]);
  for (uint32_t i = 0; i < d->arrow_count; i++) put_label(s->out, &d->arrows[i]);
  iso_out_text(s->out, s->count > 1 ? "</g></g>\n" : "</g>\n");
}

/* ---- the sheet ---- */

static bool add_panel(sheet *s, iso_arena *arena, const isoproof_document_case *one) {
  const isoproof_document_anomaly *a = s->anomaly;
  panel *p = &s->panels[s->count];
  *p = (panel){.one = one};
  s->count++;
  const isoproof_document_edge *edges = one != NULL ? one->edges : NULL;
  uint32_t count = one != NULL ? one->edge_count : 0;
  if (one == NULL && !iso_certain_edges(arena, a, &edges, &count)) return false;
  if (!iso_layout(arena, a, edges, count, one == NULL, &p->drawing)) return false;
  p->width = p->drawing.width;
  if (a->case_count > 0 && title_width(title_of(p)) > p->width) p->width = title_width(title_of(p));
  return true;
}

/* Side by side, in as many rows as a screen asks for. */
static void place_panels(sheet *s) {
  int32_t x = 0, y = 0, row = 0, title = s->count > 1 ? PANEL_TITLE : 0;
  for (uint32_t i = 0; i < s->count; i++) {
    panel *p = &s->panels[i];
    if (x > 0 && x + p->width > SIDE_BY_SIDE) {
      x = 0;
      y += row + PANEL_GAP;
      row = 0;
    }
    p->x = x;
    p->y = y + HEADING;
    x += p->width + PANEL_GAP;
    if (x - PANEL_GAP > s->width) s->width = x - PANEL_GAP;
    if (p->drawing.height + title > row) row = p->drawing.height + title;
  }
  s->height = y + row;
}

static bool is_used(const sheet *s, const iso_edge_style *style) {
  for (uint32_t i = 0; i < s->count; i++) {
    const iso_drawing *d = &s->panels[i].drawing;
    for (uint32_t k = 0; k < d->arrow_count; k++)
      if (iso_edge_style_of(d->arrows[k].edge->kind) == style) return true;
  }
  return false;
}

static int32_t legend_rows(const sheet *s) {
  int32_t rows = 0;
  for (int i = 0; i < ISO_EDGE_KINDS; i++) rows += is_used(s, &iso_edge_styles[i]);
  return rows;
}

static void put_legend(const sheet *s, int32_t top) {
  int32_t y = top - LEGEND_ROW;
  for (int i = 0; i < ISO_EDGE_KINDS; i++) {
    const iso_edge_style *style = &iso_edge_styles[i];
    const char *kind = iso_edge_name(style->kind);
    if (!is_used(s, style)) continue;
    y += LEGEND_ROW;
    iso_out_printf(s->out, "<path class=\"edge %s\" d=\"M12 %dH46\" marker-end=\"url(#tip-%s)\"/>", kind, y, kind);
    iso_out_printf(s->out, "<text x=\"56\" y=\"%d\"><tspan font-weight=\"700\">%s</tspan> %s</text>\n", y + 4, kind,
                   style->meaning);
  }
}

static void open_svg(iso_output *out, int32_t width, int32_t height, const char *title, const char *about) {
  iso_out_printf(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                 "role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">",
                 width, height, width, height);
  iso_put_xml(out, title);
  iso_out_text(out, "</title>\n<desc id=\"desc\">");
  iso_put_xml(out, about);
  iso_out_text(out, "</desc>\n");
  put_style(out);
}

static void put_sheet(const sheet *s, const isoproof_document *document) {
  const isoproof_document_anomaly *a = s->anomaly;
  iso_words title = {NULL, 0, 0, false}, below = {NULL, 0, 0, false};
  iso_words_add(&below, "%s, breaks %s, in %s", a->code, a->level, document->title);
  const char *subtitle = below.text != NULL ? below.text : "";
  int32_t legend = legend_rows(s) * LEGEND_ROW, width = s->width < NARROWEST ? NARROWEST : s->width;
  if (title_width(subtitle) > width) width = title_width(subtitle);
  int32_t height = HEADING + s->height + (legend > 0 ? legend + 12 : 0);
  iso_words_add(&title, "%s (%s) in %s", a->name, a->code, document->title);
  open_svg(s->out, width, height, title.text != NULL ? title.text : a->code, a->explanation);
  iso_words_free(&title);
  put_heads(s->out);
  iso_out_printf(s->out, "<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", width, height);
  size_t letters = (size_t)(width - 24) / 7;
  iso_out_text(s->out, "<text class=\"heading\" x=\"12\" y=\"28\">");
  put_cut(s->out, a->name, letters * 7 / 10);
  iso_out_text(s->out, "</text>\n<text class=\"quiet\" x=\"12\" y=\"48\">");
  put_cut(s->out, subtitle, letters);
  iso_words_free(&below);
  iso_out_text(s->out, "</text>\n");
  for (uint32_t i = 0; i < s->count; i++) put_panel(s, &s->panels[i]);
  put_legend(s, HEADING + s->height + 12);
  iso_out_text(s->out, "</svg>\n");
}

/* A document without anomalies is a drawing, too: it says so. */
static void put_nothing(iso_output *out, const isoproof_document *document) {
  const char *verdict = isoproof_verdict_name(document->verdict);
  const char *words = document->has_problem ? "could not be judged" : "no anomaly was found";
  open_svg(out, 480, 76, document->title, words);
  iso_out_text(out, "<rect class=\"back\" width=\"480\" height=\"76\"/>\n<text class=\"heading\" x=\"12\" y=\"30\">");
  put_cut(out, document->title, 44);
  iso_out_printf(out, "</text>\n<text class=\"quiet\" x=\"12\" y=\"54\">%s", words);
  if (document->verdict != ISOPROOF_VERDICT_NONE) iso_out_printf(out, "; the verdict is %s", verdict);
  iso_out_text(out, "</text>\n</svg>\n");
}

isoproof_status isoproof_document_write_svg(const isoproof_document *document, const isoproof_draw_options *options,
                                            isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_draw_options known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_draw_options, &known, options, error));
  const isoproof_document_anomaly *anomaly = isoproof_document_anomaly_at(document, known.anomaly);
  if (anomaly == NULL && known.anomaly > 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected an anomaly below %zu, found number %zu",
                    document->anomalies.count, known.anomaly);
  iso_arena arena = ISO_ARENA_EMPTY;
  sheet s = {.anomaly = anomaly};
  bool good = anomaly == NULL || add_panel(&s, &arena, NULL);
  for (uint32_t i = 0; anomaly != NULL && good && i < anomaly->case_count && s.count < MOST_PANELS; i++)
    good = add_panel(&s, &arena, &anomaly->cases[i]);
  isoproof_status status = good ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &s.out, error);
  if (status == ISOPROOF_OK) {
    place_panels(&s);
    if (anomaly != NULL)
      put_sheet(&s, document);
    else
      put_nothing(s.out, document);
    status = iso_output_close(s.out, error);
  }
  iso_arena_free(&arena);
  return status;
}
