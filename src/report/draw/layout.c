/* Rows and columns: what comes first stands above, and a session is a column where it has several transactions. */
#include "report/draw/layout.h"
#include "graph/edge.h"

#include <string.h>

#include "report/escape.h"

enum { NONE = -1, WIDEST_ROW = 5, NICE_ROW = 3, SWEEPS = 4, MOST_SWAPPED = 40, SWAP_ROUNDS = 8 };

typedef struct grid {
  iso_arena *arena;
  const isoproof_document_anomaly *anomaly;
  iso_drawing *d;
  uint32_t n;
  int32_t *session;  /* per card, dense; NONE for the initial transaction */
  int32_t *previous; /* per card: the one before it in its session, NONE for the first */
  uint32_t sessions;
  bool lanes;      /* columns are sessions */
  bool loose;      /* rows follow the orders of writes, too */
  uint32_t *order; /* cards such that few arrows point up */
  uint32_t *rank;  /* their places in it */
} grid;

static bool is_initial(const grid *g, uint32_t card) {
  return g->anomaly->txns[g->d->cards[card].txn].number == ISOPROOF_INITIAL_TXN;
}

/* ---- which cards ---- */

static bool make_cards(grid *g, const isoproof_document_edge *edges, uint32_t edge_count, bool all) {
  const isoproof_document_anomaly *a = g->anomaly;
  uint32_t *place = iso_arena_alloc(g->arena, a->txn_count + 1, sizeof *place);
  bool *used = iso_arena_alloc(g->arena, a->txn_count + 1, sizeof *used);
  g->d->cards = iso_arena_alloc(g->arena, a->txn_count + 1, sizeof *g->d->cards);
  g->d->arrows = iso_arena_alloc(g->arena, edge_count + 1, sizeof *g->d->arrows);
  if (place == NULL || used == NULL || g->d->cards == NULL || g->d->arrows == NULL) return false;
  for (uint32_t i = 0; i < edge_count; i++) used[edges[i].from] = used[edges[i].to] = true;
  for (uint32_t t = 0; t < a->txn_count; t++) {
    /* Of the initial transaction only its edges are of interest. */
    if (!used[t] && (!all || a->txns[t].number == ISOPROOF_INITIAL_TXN)) continue;
    place[t] = g->d->card_count;
    g->d->cards[g->d->card_count++].txn = t;
  }
  for (uint32_t i = 0; i < edge_count; i++) {
    iso_arrow arrow = {.edge = &edges[i], .from = place[edges[i].from], .to = place[edges[i].to]};
    g->d->arrows[g->d->arrow_count++] = arrow;
  }
  g->n = g->d->card_count;
  return true;
}

static const char *session_of(const grid *g, uint32_t card) { return g->anomaly->txns[g->d->cards[card].txn].session; }
static uint64_t number_of(const grid *g, uint32_t card) { return g->anomaly->txns[g->d->cards[card].txn].number; }

/* Numbers sessions in the order of their cards, and finds who comes before whom in each. */
static bool find_sessions(grid *g) {
  g->session = iso_arena_alloc(g->arena, g->n + 1, sizeof *g->session);
  g->previous = iso_arena_alloc(g->arena, g->n + 1, sizeof *g->previous);
  if (g->session == NULL || g->previous == NULL) return false;
  for (uint32_t i = 0; i < g->n; i++) {
    g->session[i] = g->previous[i] = NONE;
    if (is_initial(g, i)) continue;
    for (uint32_t k = 0; k < i && g->session[i] == NONE; k++) {
      if (g->session[k] != NONE && strcmp(session_of(g, k), session_of(g, i)) == 0) g->session[i] = g->session[k];
    }
    if (g->session[i] == NONE) g->session[i] = (int32_t)g->sessions++;
  }
  for (uint32_t i = 0; i < g->n; i++) {
    for (uint32_t k = 0; k < g->n; k++) {
      if (g->session[i] == NONE || g->session[k] != g->session[i] || number_of(g, k) >= number_of(g, i)) continue;
      if (g->previous[i] == NONE || number_of(g, k) > number_of(g, (uint32_t)g->previous[i]))
        g->previous[i] = (int32_t)k;
    }
    if (g->previous[i] != NONE) g->lanes = true;
  }
  return true;
}

/* ---- rows ---- */

/* How much an arrow wants to point down: what a client saw or did in order, more than what is inferred. */
static int32_t weight_of(const grid *g, const iso_arrow *arrow) {
  static const struct {
    int32_t weight;
    bool loose; /* counts only when rows would be too wide */
  } weights[ISO_EDGE_KINDS] = {[ISO_EDGE_SO] = {100, false},
                               [ISO_EDGE_RT] = {50, false},
                               [ISO_EDGE_WR] = {10, false},
                               [ISO_EDGE_WW] = {5, true},
                               [ISO_EDGE_CM] = {3, true}};
  iso_edge_kind kind;
  if (arrow->from == arrow->to || !iso_edge_find(arrow->edge->kind, &kind)) return 0;
  return weights[kind].loose && !g->loose ? 0 : weights[kind].weight;
}

/* The card to come next: after everything that points to it, or else the one that loses least by coming now. */
static uint32_t next_card(const grid *g, const bool *placed, const int32_t *in, const int32_t *out) {
  uint32_t best = g->n;
  for (uint32_t i = 0; i < g->n; i++) {
    if (placed[i] || (g->previous[i] != NONE && !placed[g->previous[i]])) continue;
    if (best == g->n) {
      best = i;
      continue;
    }
    bool first = is_initial(g, i) && !is_initial(g, best);
    int32_t ours = in[i] == 0 ? INT32_MIN : in[i] - out[i];
    int32_t theirs = in[best] == 0 ? INT32_MIN : in[best] - out[best];
    if (first || (ours < theirs && !is_initial(g, best))) best = i;
  }
  return best;
}

static bool order_cards(grid *g) {
  bool *placed = iso_arena_alloc(g->arena, g->n + 1, sizeof *placed);
  int32_t *in = iso_arena_alloc(g->arena, g->n + 1, sizeof *in);
  int32_t *out = iso_arena_alloc(g->arena, g->n + 1, sizeof *out);
  g->order = iso_arena_alloc(g->arena, g->n + 1, sizeof *g->order);
  g->rank = iso_arena_alloc(g->arena, g->n + 1, sizeof *g->rank);
  if (placed == NULL || in == NULL || out == NULL || g->order == NULL || g->rank == NULL) return false;
  for (uint32_t i = 0; i < g->d->arrow_count; i++) {
    const iso_arrow *arrow = &g->d->arrows[i];
    in[arrow->to] += weight_of(g, arrow);
    out[arrow->from] += weight_of(g, arrow);
  }
  for (uint32_t step = 0; step < g->n; step++) {
    uint32_t card = next_card(g, placed, in, out);
    placed[card] = true;
    g->order[step] = card;
    g->rank[card] = step;
    for (uint32_t i = 0; i < g->d->arrow_count; i++) {
      const iso_arrow *arrow = &g->d->arrows[i];
      if (arrow->from == card) in[arrow->to] -= weight_of(g, arrow);
      if (arrow->to == card) out[arrow->from] -= weight_of(g, arrow);
    }
  }
  return true;
}

/* As high as what stands before a card allows; where columns are no sessions, no more than a few in a row.  Gives the
 * widest row. */
static bool choose_rows(grid *g, uint32_t *widest) {
  uint32_t *used = iso_arena_alloc(g->arena, 2 * (size_t)g->n + 2, sizeof *used);
  if (used == NULL || !order_cards(g)) return false;
  g->d->rows = 0;
  *widest = 0;
  for (uint32_t step = 0; step < g->n; step++) {
    iso_card *card = &g->d->cards[g->order[step]];
    int32_t previous = g->previous[g->order[step]];
    card->row = previous != NONE ? g->d->cards[previous].row + 1 : 0;
    for (uint32_t i = 0; i < g->d->arrow_count; i++) {
      const iso_arrow *arrow = &g->d->arrows[i];
      bool above = arrow->to == g->order[step] && g->rank[arrow->from] < step && weight_of(g, arrow) > 0;
      if (above && g->d->cards[arrow->from].row >= card->row) card->row = g->d->cards[arrow->from].row + 1;
    }
    while (!g->lanes && used[card->row] >= WIDEST_ROW) card->row++;
    if (++used[card->row] > *widest) *widest = used[card->row];
    if (card->row >= g->d->rows) g->d->rows = card->row + 1;
  }
  return true;
}

/* ---- columns ---- */

static int64_t length_of(const grid *g, const int32_t *column) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < g->d->arrow_count; i++) {
    int32_t from = g->session[g->d->arrows[i].from], to = g->session[g->d->arrows[i].to];
    if (from == NONE || to == NONE) continue;
    int64_t apart = (int64_t)column[from] - column[to];
    sum += apart < 0 ? -apart : apart;
  }
  return sum;
}

/* Puts sessions that have to do with each other side by side, by exchanging neighbours as long as that helps. */
static void swap_sessions(const grid *g, int32_t *column) {
  int64_t best = length_of(g, column);
  bool better = g->sessions <= MOST_SWAPPED;
  for (int round = 0; better && round < SWAP_ROUNDS; round++) {
    better = false;
    for (uint32_t a = 0; a < g->sessions; a++) {
      for (uint32_t b = a + 1; b < g->sessions; b++) {
        int32_t old = column[a];
        column[a] = column[b];
        column[b] = old;
        int64_t now = length_of(g, column);
        if (now < best) {
          best = now;
          better = true;
        } else {
          column[b] = column[a];
          column[a] = old;
        }
      }
    }
  }
}

/* The initial transaction stands above one of those that saw it, where there is room, else beside everything. */
static void place_initial(const grid *g, uint32_t card) {
  iso_card *cards = g->d->cards;
  for (uint32_t i = 0; i < g->d->arrow_count; i++) {
    const iso_arrow *arrow = &g->d->arrows[i];
    if (arrow->from != card || arrow->to == card) continue;
    uint32_t wanted = cards[arrow->to].column;
    bool taken = false;
    for (uint32_t k = 0; k < g->n; k++)
      if (k != card && cards[k].row <= cards[card].row && cards[k].column == wanted) taken = true;
    if (taken) continue;
    cards[card].column = wanted;
    return;
  }
  cards[card].column = g->d->columns++;
}

static bool columns_by_session(grid *g) {
  int32_t *column = iso_arena_alloc(g->arena, (size_t)g->sessions + 1, sizeof *column);
  g->d->lanes = iso_arena_alloc(g->arena, (size_t)g->sessions + 1, sizeof *g->d->lanes);
  if (column == NULL || g->d->lanes == NULL) return false;
  for (uint32_t i = 0; i < g->sessions; i++) column[i] = (int32_t)i;
  swap_sessions(g, column);
  g->d->columns = g->d->lane_count = g->sessions;
  for (uint32_t i = 0; i < g->n; i++) {
    if (g->session[i] == NONE) continue;
    g->d->cards[i].column = (uint32_t)column[g->session[i]];
    g->d->lanes[g->d->cards[i].column].session = session_of(g, i);
  }
  for (uint32_t i = 0; i < g->n; i++) {
    if (g->session[i] == NONE) place_initial(g, i);
  }
  return true;
}

/* Where a card would like to stand: in the middle of those it has to do with that are in other rows. */
static double wish_of(const grid *g, uint32_t card) {
  double sum = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < g->d->arrow_count; i++) {
    const iso_arrow *arrow = &g->d->arrows[i];
    uint32_t other = arrow->from == card ? arrow->to : arrow->to == card ? arrow->from : card;
    if (other == card || g->d->cards[other].row == g->d->cards[card].row) continue;
    sum += g->d->cards[other].column;
    count++;
  }
  return count > 0 ? sum / count : (double)g->d->cards[card].column;
}

/* The cards of a row in the order of their wishes, each as close to its wish as the others allow. */
static void arrange_row(const grid *g, uint32_t row, bool wishes) {
  uint32_t members[WIDEST_ROW], count = 0;
  double wish[WIDEST_ROW];
  for (uint32_t step = 0; step < g->n && count < WIDEST_ROW; step++) {
    uint32_t card = g->order[step];
    if (g->d->cards[card].row != row) continue;
    uint32_t at = count++;
    double wanted = wishes ? wish_of(g, card) : (double)at + (double)(g->d->columns) / 2;
    while (at > 0 && wish[at - 1] > wanted) {
      members[at] = members[at - 1];
      wish[at] = wish[at - 1];
      at--;
    }
    members[at] = card;
    wish[at] = wanted;
  }
  uint32_t least = 0;
  for (uint32_t i = 0; i < count; i++) {
    double middle = wishes ? wish[i] : (double)i + (double)(g->d->columns - count) / 2;
    uint32_t most = g->d->columns - (count - i), column = (uint32_t)(middle + 0.499);
    column = column < least ? least : column > most ? most : column;
    g->d->cards[members[i]].column = column;
    least = column + 1;
  }
}

static void columns_by_wish(grid *g, uint32_t widest) {
  g->d->columns = widest > 0 ? widest : 1;
  for (uint32_t row = 0; row < g->d->rows; row++) arrange_row(g, row, false);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    for (uint32_t i = 0; i < g->d->rows; i++) arrange_row(g, sweep % 2 == 0 ? i : g->d->rows - 1 - i, true);
  }
}

bool iso_layout(iso_arena *arena, const isoproof_document_anomaly *anomaly, const isoproof_document_edge *edges,
                uint32_t edge_count, bool all, iso_drawing *drawing) {
  *drawing = (iso_drawing){.width = 0};
  grid g = {.arena = arena, .anomaly = anomaly, .d = drawing};
  uint32_t widest;
  if (!make_cards(&g, edges, edge_count, all) || !find_sessions(&g) || !choose_rows(&g, &widest)) return false;
  if (!g.lanes && widest > NICE_ROW) {
    g.loose = true;
    if (!choose_rows(&g, &widest)) return false;
  }
  if (!g.lanes) {
    columns_by_wish(&g, widest);
  } else if (!columns_by_session(&g)) {
    return false;
  }
  return iso_route(arena, anomaly, drawing);
}

/* ---- texts ---- */

void iso_arrow_label(iso_words *words, const isoproof_document_edge *edge) {
  iso_words whole = {NULL, 0, 0, false};
  bool cut = false;
  iso_words_add(&whole, "%s%s%s", edge->kind, edge->key != NULL ? " " : "", edge->key != NULL ? edge->key : "");
  if (whole.failed) {
    words->failed = true;
  } else {
    size_t bytes = iso_cut_text(whole.text, ISO_LABEL_COLUMNS, &cut);
    iso_words_add(words, "%.*s%s", (int)bytes, whole.text, cut ? "\xe2\x80\xa6" : "");
  }
  iso_words_free(&whole);
}

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t distance(int32_t a, int32_t b) { return a < b ? b - a : a - b; }
static int32_t toward(int32_t from, int32_t to, int32_t step) {
  return from < to ? from + step : from > to ? from - step : from;
}

void iso_arrow_path(iso_words *words, const iso_arrow *arrow) {
  enum { RADIUS = 9 };
  const int32_t *x = arrow->x, *y = arrow->y;
  iso_words_add(words, "M%d %d", x[0], y[0]);
  if (arrow->curved) {
    int32_t middle = (x[0] + x[1]) / 2;
    iso_words_add(words, "C%d %d %d %d %d %d", middle, y[0], middle, y[1], x[1], y[1]);
    return;
  }
  for (uint32_t i = 1; i + 1 < arrow->points; i++) {
    int32_t before = distance(x[i - 1], x[i]) + distance(y[i - 1], y[i]);
    int32_t after = distance(x[i + 1], x[i]) + distance(y[i + 1], y[i]);
    int32_t radius = smaller(RADIUS, smaller(before, after) / 2);
    iso_words_add(words, "L%d %dQ%d %d %d %d", toward(x[i], x[i - 1], radius), toward(y[i], y[i - 1], radius), x[i],
                  y[i], toward(x[i], x[i + 1], radius), toward(y[i], y[i + 1], radius));
  }
  iso_words_add(words, "L%d %d", x[arrow->points - 1], y[arrow->points - 1]);
}
