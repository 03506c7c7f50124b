/* Sessions as columns, operations downwards, dependencies as arrows between them. */
#include "report/text/sequence_diagram.h"

#include <stdio.h>
#include <string.h>

#include "graph/edge.h"
#include "report/escape.h"

enum {
  MOST_COLUMNS = 4,
  MOST_TXNS = 6,
  MOST_ITEMS = 24,
  MOST_EDGES = 24,
  INDENT = 4,
  NARROWEST = 14, /* a column */
  WIDEST = 36,
  CELL_BYTES = 256
};

/* One line of a column: an operation, or the name of a transaction that follows another one in its session. */
typedef struct item {
  uint32_t txn, op; /* op ISOPROOF_NO_INDEX: the name */
  uint32_t column;
  bool placed;
} item;

typedef struct link {
  const isoproof_document_edge *edge;
  uint32_t from, to; /* items */
  bool drawn;
} link;

typedef struct diagram {
  iso_output *out;
  const isoproof_document_anomaly *anomaly;
  iso_diagram_style style;
  const char *session[MOST_COLUMNS];
  uint32_t head[MOST_COLUMNS]; /* the first transaction */
  uint32_t columns, column_width;
  uint32_t txns[MOST_TXNS], txn_count; /* in the order of the history */
  item items[MOST_ITEMS];              /* transaction by transaction */
  uint32_t item_count;
  link links[MOST_EDGES];
  uint32_t link_count;
  uint32_t order[MOST_ITEMS]; /* items from top to bottom */
} diagram;

/* ---- what is there ---- */

static bool choose_txns(diagram *d) {
  for (uint32_t i = 0; i < d->anomaly->txn_count; i++) {
    if (d->anomaly->txns[i].number == ISOPROOF_INITIAL_TXN) continue;
    if (d->txn_count == MOST_TXNS) return false;
    uint32_t at = d->txn_count++;
    for (; at > 0 && d->anomaly->txns[d->txns[at - 1]].number > d->anomaly->txns[i].number; at--)
      d->txns[at] = d->txns[at - 1];
    d->txns[at] = i;
  }
  return d->txn_count >= 2;
}

/* The column of a session; MOST_COLUMNS when there are too many. */
static uint32_t column_of(diagram *d, uint32_t txn) {
  const char *session = d->anomaly->txns[txn].session;
  for (uint32_t i = 0; i < d->columns; i++) {
    if (strcmp(d->session[i], session) == 0) return i;
  }
  if (d->columns == MOST_COLUMNS) return MOST_COLUMNS;
  d->session[d->columns] = session;
  d->head[d->columns] = txn;
  return d->columns++;
}

static bool add_item(diagram *d, uint32_t txn, uint32_t op, uint32_t column) {
  if (d->item_count == MOST_ITEMS) return false;
  d->items[d->item_count++] = (item){txn, op, column, false};
  return true;
}

static bool choose_items(diagram *d) {
  for (uint32_t i = 0; i < d->txn_count; i++) {
    uint32_t txn = d->txns[i], column = column_of(d, txn);
    if (column == MOST_COLUMNS) return false;
    if (d->head[column] != txn && !add_item(d, txn, ISOPROOF_NO_INDEX, column)) return false;
    const isoproof_document_txn *t = &d->anomaly->txns[txn];
    for (uint32_t op = 0; op < t->op_count; op++) {
      if (t->ops[op].involved && !add_item(d, txn, op, column)) return false;
    }
  }
  return d->item_count > 0;
}

/* The item of an end of an edge: without an operation, the last one of the source and the first one of the target. */
static uint32_t item_of(const diagram *d, uint32_t txn, uint32_t op, bool source) {
  uint32_t found = ISOPROOF_NO_INDEX;
  for (uint32_t i = 0; i < d->item_count; i++) {
    if (d->items[i].txn != txn) continue;
    if (op != ISOPROOF_NO_INDEX && d->items[i].op == op) return i;
    if (op == ISOPROOF_NO_INDEX && (source || found == ISOPROOF_NO_INDEX)) found = i;
  }
  return found;
}

static void choose_links(diagram *d) {
  for (uint32_t i = 0; i < d->anomaly->edge_count && d->link_count < MOST_EDGES; i++) {
    const isoproof_document_edge *edge = &d->anomaly->edges[i];
    link one = {edge, item_of(d, edge->from, edge->from_op, true), item_of(d, edge->to, edge->to_op, false), false};
    if (edge->from != edge->to) d->links[d->link_count++] = one;
  }
}

/* ---- the order ---- */

static uint32_t waits_for(const diagram *d, uint32_t at) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < d->link_count; i++) {
    const link *l = &d->links[i];
    if (l->to == at && l->from != ISOPROOF_NO_INDEX && !d->items[l->from].placed) count++;
  }
  return count;
}

/* The next item of a column that is not placed. */
static uint32_t next_of(const diagram *d, uint32_t column) {
  for (uint32_t i = 0; i < d->item_count; i++) {
    if (d->items[i].column == column && !d->items[i].placed) return i;
  }
  return ISOPROOF_NO_INDEX;
}

/* Whether an arrow goes from one item to another. */
static bool is_linked(const diagram *d, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < d->link_count; i++) {
    if (d->links[i].from == from && d->links[i].to == to) return d->items[from].column != d->items[to].column;
  }
  return false;
}

/* How little an item is wanted next: arrows are short where it depends on the last one; then columns are stayed in;
 * where everything waits, whatever waits for least comes. */
static uint32_t reluctance(const diagram *d, uint32_t at, uint32_t row, uint32_t steps) {
  bool follows = row > 0 && is_linked(d, d->order[row - 1], at);
  return waits_for(d, at) * 100 + (follows ? 0 : 1 + steps);
}

static void choose_order(diagram *d) {
  uint32_t column = 0;
  for (uint32_t row = 0; row < d->item_count; row++) {
    uint32_t best = ISOPROOF_NO_INDEX, least = UINT32_MAX;
    for (uint32_t k = 0; k < d->columns; k++) {
      uint32_t at = next_of(d, (column + k) % d->columns);
      uint32_t cost = at != ISOPROOF_NO_INDEX ? reluctance(d, at, row, k) : UINT32_MAX;
      if (cost < least) {
        best = at;
        least = cost;
      }
    }
    if (best == ISOPROOF_NO_INDEX) return;
    d->order[row] = best;
    d->items[best].placed = true;
    column = d->items[best].column;
  }
}

/* ---- lines ---- */

static bool collect(void *user, const void *data, size_t size) {
  char *cell = user;
  size_t used = strlen(cell);
  if (size > CELL_BYTES - 1 - used) size = CELL_BYTES - 1 - used;
  memcpy(cell + used, data, size);
  cell[used + size] = 0;
  return true;
}

/* The text as a terminal may have it, in at most that many columns. */
static void make_cell(const diagram *d, const char *text, uint32_t columns, char cell[CELL_BYTES]) {
  iso_output *out;
  bool cut;
  char whole[CELL_BYTES] = "";
  cell[0] = 0;
  if (iso_output_open_callback(collect, whole, ISOPROOF_COMPRESS_NO, &out, NULL) != ISOPROOF_OK) return;
  iso_put_terminal(out, text);
  if (iso_output_close(out, NULL) != ISOPROOF_OK) return;
  size_t bytes = iso_cut_text(whole, columns, &cut);
  if (cut && !d->style.unicode) bytes = iso_cut_text(whole, columns > 2 ? columns - 1 : columns, &cut);
  snprintf(cell, CELL_BYTES, "%.*s%s", (int)bytes, whole, !cut ? "" : d->style.unicode ? "\xe2\x80\xa6" : "..");
}

static void put_blanks(const diagram *d, uint32_t *at, uint32_t column) {
  for (; *at < column; (*at)++) iso_out_char(d->out, ' ');
}

static void put_cell(const diagram *d, uint32_t *at, const char *cell, const char *color) {
  if (d->style.color && color != NULL) iso_out_text(d->out, color);
  iso_out_text(d->out, cell);
  if (d->style.color && color != NULL) iso_out_text(d->out, "\033[0m");
  *at += (uint32_t)iso_text_columns(cell);
}

static const char bold[] = "\033[1m", red[] = "\033[31m", cyan[] = "\033[36m";

static void put_txn_name(const diagram *d, uint32_t *at, uint32_t txn, const char *session) {
  const isoproof_document_txn *t = &d->anomaly->txns[txn];
  char text[CELL_BYTES], cell[CELL_BYTES];
  bool committed = strcmp(t->status, "committed") == 0;
  const char *own = t->isolation, *status = committed ? "" : t->status, *gap = committed ? "" : " ";
  char name[96];
  snprintf(name, sizeof name, "%.60s%s%.30s", t->name, t->called != NULL ? " " : "",
           t->called != NULL ? t->called : "");
  if (session != NULL && own != NULL) {
    snprintf(text, sizeof text, "%s%s%.20s (session %.80s, %.40s)", name, gap, status, session, own);
  } else if (session != NULL) {
    snprintf(text, sizeof text, "%s%s%.20s (session %.80s)", name, gap, status, session);
  } else {
    snprintf(text, sizeof text, "%s%s%.20s%s%.40s%s", name, gap, status, own != NULL ? " (" : "",
             own != NULL ? own : "", own != NULL ? ")" : "");
  }
  /* The session is a part of most names: it is what can be missed; then the level. */
  if (session != NULL && own != NULL && iso_text_columns(text) > d->column_width - 2)
    snprintf(text, sizeof text, "%s%s%.20s (%.40s)", name, gap, status, own);
  if ((session != NULL || own != NULL) && iso_text_columns(text) > d->column_width - 2)
    snprintf(text, sizeof text, "%s%s%.20s", name, gap, status);
  make_cell(d, text, d->column_width - 2, cell);
  put_cell(d, at, cell, committed ? bold : red);
}

static uint32_t start_of(const diagram *d, uint32_t column) { return INDENT + column * d->column_width; }

static void put_head(const diagram *d) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < d->columns; i++) {
    put_blanks(d, &at, start_of(d, i));
    put_txn_name(d, &at, d->head[i], d->session[i]);
  }
  iso_out_char(d->out, '\n');
}

/* An arrow over [from, to), its label in the middle. */
static void put_arrow(const diagram *d, uint32_t *at, uint32_t from, uint32_t to, const isoproof_document_edge *edge,
                      const char *of, bool right) {
  const char *dash = d->style.unicode ? "\xe2\x94\x80" : "-";
  const char *corner = !d->style.unicode ? "+" : right ? "\xe2\x95\xb0" : "\xe2\x95\xaf";
  const char *head = !d->style.unicode ? (right ? ">" : "<") : right ? "\xe2\x96\xb6" : "\xe2\x97\x80";
  char text[CELL_BYTES], label[CELL_BYTES];
  snprintf(text, sizeof text, "%.10s%s%.120s%s%.60s", edge->kind, edge->key != NULL ? " " : "",
           edge->key != NULL ? edge->key : "", of[0] != 0 ? " of " : "", of);
  uint32_t room = to > from + 6 ? to - from - 6 : 1;
  make_cell(d, text, room, label);
  uint32_t width = (uint32_t)iso_text_columns(label), dashes = to > from + 4 + width ? to - from - 4 - width : 0;
  put_blanks(d, at, from);
  if (d->style.color) iso_out_text(d->out, cyan);
  iso_out_text(d->out, right ? corner : head);
  for (uint32_t i = 0; i < dashes / 2; i++) iso_out_text(d->out, dash);
  iso_out_printf(d->out, " %s ", label);
  for (uint32_t i = dashes / 2; i < dashes; i++) iso_out_text(d->out, dash);
  iso_out_text(d->out, right ? head : corner);
  if (d->style.color) iso_out_text(d->out, "\033[0m");
  *at += 4 + width + dashes;
}

/* The arrow that ends at an item: one from another column, from further up. */
static link *arrow_to(diagram *d, uint32_t row) {
  for (uint32_t i = 0; i < d->link_count; i++) {
    link *l = &d->links[i];
    if (l->to != d->order[row] || l->from == ISOPROOF_NO_INDEX || d->items[l->from].column == d->items[l->to].column)
      continue;
    for (uint32_t above = 0; above < row; above++) {
      if (d->order[above] == l->from) return l;
    }
  }
  return NULL;
}

/* The transaction that an arrow comes from, where another one stands between; "" where nothing does. */
static const char *named_source(const diagram *d, const link *l, uint32_t row) {
  while (row-- > 0) {
    const item *above = &d->items[d->order[row]];
    if (above->column != d->items[l->from].column) continue;
    return above->txn == d->items[l->from].txn ? "" : d->anomaly->txns[d->items[l->from].txn].name;
  }
  return "";
}

static void put_item(const diagram *d, uint32_t *at, const item *one) {
  char cell[CELL_BYTES];
  if (one->op == ISOPROOF_NO_INDEX) {
    put_txn_name(d, at, one->txn, NULL);
    return;
  }
  make_cell(d, d->anomaly->txns[one->txn].ops[one->op].text, d->column_width - 2, cell);
  put_cell(d, at, cell, NULL);
}

static void put_row(diagram *d, uint32_t row) {
  const item *one = &d->items[d->order[row]];
  link *arrow = arrow_to(d, row);
  uint32_t at = 0, source = arrow != NULL ? d->items[arrow->from].column : 0;
  const char *of = arrow != NULL ? named_source(d, arrow, row) : "";
  if (arrow != NULL && source < one->column)
    put_arrow(d, &at, start_of(d, source) + 2, start_of(d, one->column) - 1, arrow->edge, of, true);
  put_blanks(d, &at, start_of(d, one->column));
  put_item(d, &at, one);
  if (arrow != NULL && source > one->column)
    put_arrow(d, &at, at + 1, start_of(d, source) + d->column_width / 2, arrow->edge, of, false);
  if (arrow != NULL) arrow->drawn = true;
  iso_out_char(d->out, '\n');
}

static bool is_session_order(const isoproof_document_edge *edge) {
  iso_edge_kind kind;
  return iso_edge_find(edge->kind, &kind) && kind == ISO_EDGE_SO;
}

/* Dependencies without an arrow, but for the orders of sessions, which the columns show. */
static void put_rest(const diagram *d) {
  const char *before = d->style.unicode ? " \xe2\x94\x80" : " -", *after = d->style.unicode ? "\xe2\x86\x92 " : "-> ";
  for (uint32_t i = 0; i < d->link_count; i++) {
    const link *l = &d->links[i];
    if (l->drawn || l->from == ISOPROOF_NO_INDEX || is_session_order(l->edge)) continue;
    iso_out_text(d->out, "    and ");
    iso_put_terminal(d->out, d->anomaly->txns[l->edge->from].name);
    iso_out_text(d->out, before);
    iso_put_terminal(d->out, l->edge->kind);
    if (l->edge->key != NULL) {
      char key[CELL_BYTES];
      make_cell(d, l->edge->key, 30, key);
      iso_out_printf(d->out, " %s", key);
    }
    iso_out_text(d->out, after);
    iso_put_terminal(d->out, d->anomaly->txns[l->edge->to].name);
    iso_out_char(d->out, '\n');
  }
}

/* How wide a column may be: as what stands in it, which lists make long. */
static uint32_t widest(const diagram *d) {
  size_t most = WIDEST;
  for (uint32_t i = 0; i < d->item_count; i++) {
    const item *one = &d->items[i];
    if (one->op == ISOPROOF_NO_INDEX) continue;
    size_t width = iso_text_columns(d->anomaly->txns[one->txn].ops[one->op].text) + 2;
    if (width > most) most = width;
  }
  return (uint32_t)most;
}

void iso_put_sequence_diagram(iso_output *out, const isoproof_document_anomaly *anomaly, iso_diagram_style style) {
  diagram d = {.out = out, .anomaly = anomaly, .style = style};
  if (!choose_txns(&d) || !choose_items(&d)) return;
  d.column_width = ((uint32_t)style.room - INDENT) / d.columns;
  if (d.column_width < NARROWEST) return;
  if (d.column_width > widest(&d)) d.column_width = widest(&d);
  choose_links(&d);
  choose_order(&d);
  iso_out_char(out, '\n');
  put_head(&d);
  for (uint32_t row = 0; row < d.item_count; row++) put_row(&d, row);
  put_rest(&d);
  iso_out_char(out, '\n');
}
