/* Drawings of random counterexamples: cards and labels never meet, arrows cross no card, everything is on the sheet. */
#include "report/draw/layout.h"

#include "tests/unit/unit.h"

enum { MOST_TXNS = 40, MOST_EDGES = 120 };

typedef struct made {
  isoproof_document_anomaly anomaly;
  isoproof_document_txn txns[MOST_TXNS];
  isoproof_document_op ops[MOST_TXNS][ISOPROOF_DOCUMENT_OPS];
  isoproof_document_edge edges[MOST_EDGES];
  char names[MOST_TXNS][32], sessions[MOST_TXNS][32];
} made;

static const char *const kinds[] = {"SO", "WR", "WW", "RW", "CM", "RT", "PO"};
static const char *const keys[] = {"x", "1", "a rather long key that is cut somewhere", "\xe4\xb8\xad\xe6\x96\x87", ""};
static const char *const texts[] = {"read x = 1", "write a-long-key-for-an-operation = 123456789012345678901234567890",
                                    "append 3 to y", "read \xe4\xb8\xad\xe6\x96\x87 = [1 2 3]"};

static void make_txn(made *m, uint64_t *seed, uint32_t t, uint32_t sessions) {
  isoproof_document_txn *txn = &m->txns[t];
  uint32_t session = (uint32_t)unit_below(seed, sessions);
  bool initial = t == 0 && unit_below(seed, 3) == 0;
  snprintf(m->names[t], sizeof m->names[t], "s%ut%u", session, t);
  snprintf(m->sessions[t], sizeof m->sessions[t], "%u", session);
  *txn = (isoproof_document_txn){.name = initial ? "init" : m->names[t],
                                 .session = initial ? "" : m->sessions[t],
                                 .status = initial ? "initial" : "committed",
                                 .number = initial ? ISOPROOF_INITIAL_TXN : t,
                                 .ops = m->ops[t],
                                 .op_count = (uint32_t)unit_below(seed, ISOPROOF_DOCUMENT_OPS + 1),
                                 .more = unit_below(seed, 2)};
  for (uint32_t i = 0; i < txn->op_count; i++)
    m->ops[t][i] = (isoproof_document_op){.number = i, .kind = "r", .text = texts[unit_below(seed, 4)]};
}

static void make_edges(made *m, uint64_t *seed, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t from = (uint32_t)unit_below(seed, m->anomaly.txn_count);
    uint32_t to = (uint32_t)unit_below(seed, m->anomaly.txn_count);
    bool ops = unit_below(seed, 4) != 0;
    m->edges[i] = (isoproof_document_edge){
        .kind = kinds[unit_below(seed, 7)],
        .from = from,
        .to = to,
        .from_op =
            ops && m->txns[from].op_count > 0 ? (uint32_t)unit_below(seed, m->txns[from].op_count) : ISOPROOF_NO_INDEX,
        .to_op = ops && m->txns[to].op_count > 0 ? (uint32_t)unit_below(seed, m->txns[to].op_count) : ISOPROOF_NO_INDEX,
        .key = unit_below(seed, 3) > 0 ? keys[unit_below(seed, 5)] : NULL,
        .why = "because"};
  }
  m->anomaly.edges = m->edges;
  m->anomaly.edge_count = count;
}

static made *make(uint64_t seed, uint32_t txns, uint32_t edges) {
  made *m = calloc(1, sizeof *m);
  assert_non_null(m);
  uint64_t state = seed * 2 + 1;
  uint32_t sessions = 1 + (uint32_t)unit_below(&state, txns);
  m->anomaly.txns = m->txns;
  m->anomaly.txn_count = txns;
  for (uint32_t t = 0; t < txns; t++) make_txn(m, &state, t, sessions);
  make_edges(m, &state, edges);
  return m;
}

/* ---- what must hold ---- */

typedef struct box {
  int32_t left, top, right, bottom;
} box;

static box card_box(const iso_card *c) { return (box){c->x, c->y, c->x + c->w, c->y + c->h}; }

static box label_box(const iso_arrow *a) {
  return (box){a->label_x - a->label_w / 2, a->label_y - ISO_LABEL_HEIGHT / 2, a->label_x + a->label_w / 2,
               a->label_y + ISO_LABEL_HEIGHT / 2};
}

/* Whether the insides have something in common. */
static bool meet(box a, box b) { return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }

static void assert_inside(const iso_drawing *d, box b) {
  assert_true(b.left >= 0 && b.top >= 0 && b.right <= d->width && b.bottom <= d->height);
}

static void check_cards(const iso_drawing *d) {
  for (uint32_t i = 0; i < d->card_count; i++) {
    assert_inside(d, card_box(&d->cards[i]));
    for (uint32_t k = 0; k < i; k++) assert_false(meet(card_box(&d->cards[i]), card_box(&d->cards[k])));
  }
}

static void check_labels(const iso_drawing *d) {
  for (uint32_t i = 0; i < d->arrow_count; i++) {
    box label = label_box(&d->arrows[i]);
    assert_inside(d, label);
    for (uint32_t k = 0; k < d->card_count; k++) assert_false(meet(label, card_box(&d->cards[k])));
    for (uint32_t k = 0; k < i; k++) assert_false(meet(label, label_box(&d->arrows[k])));
  }
}

/* A line between two points, as a box with an inside. */
static box stroke(int32_t x0, int32_t y0, int32_t x1, int32_t y1) {
  return (box){x0 < x1 ? x0 : x1, y0 < y1 ? y0 : y1, x0 < x1 ? x1 : x0, y0 < y1 ? y1 : y0};
}

static void check_lines(const iso_drawing *d) {
  for (uint32_t i = 0; i < d->arrow_count; i++) {
    const iso_arrow *a = &d->arrows[i];
    assert_in_range(a->points, 2, ISO_ARROW_POINTS);
    for (uint32_t p = 0; p + 1 < a->points; p++) {
      box line = stroke(a->x[p], a->y[p], a->x[p + 1], a->y[p + 1]);
      assert_inside(d, line);
      if (!a->curved) assert_true(a->x[p] == a->x[p + 1] || a->y[p] == a->y[p + 1]);
      for (uint32_t k = 0; k < d->card_count; k++) {
        box card = card_box(&d->cards[k]);
        card.left++, card.top++, card.right--, card.bottom--;
        bool crosses =
            line.left <= card.right && card.left <= line.right && line.top <= card.bottom && card.top <= line.bottom;
        if (crosses)
          fail_msg("arrow %u crosses card %u: %d,%d-%d,%d and %d,%d-%d,%d", i, k, line.left, line.top, line.right,
                   line.bottom, card.left, card.top, card.right, card.bottom);
      }
    }
  }
}

/* How many level parts of other arrows pass the line of x; *nearest is how far the nearest one is from the height. */
static int32_t crossings(const iso_drawing *d, uint32_t number, int32_t x, int32_t y, int32_t *nearest) {
  int32_t count = 0;
  *nearest = INT32_MAX;
  for (uint32_t i = 0; i < d->arrow_count; i++) {
    const iso_arrow *a = &d->arrows[i];
    for (uint32_t p = 0; p + 1 < a->points && i != number && !a->curved; p++) {
      box line = stroke(a->x[p], a->y[p], a->x[p + 1], a->y[p + 1]);
      if (line.top != line.bottom || x < line.left || x > line.right) continue;
      int32_t apart = y < line.top ? line.top - y : y - line.top;
      if (apart < *nearest) *nearest = apart;
      count++;
    }
  }
  return count;
}

/* A label in a vertical channel is crossed by nobody, where its arrow is long enough for that. */
static void check_crossings(const iso_drawing *d) {
  enum { SIDE_POINTS = 4, BLOCKED = ISO_LABEL_HEIGHT + 10 };
  for (uint32_t i = 0; i < d->arrow_count; i++) {
    const iso_arrow *a = &d->arrows[i];
    if (a->curved || a->points != SIDE_POINTS) continue;
    assert_int_equal(a->label_x, a->x[1]);
    int32_t nearest, count = crossings(d, i, a->label_x, a->label_y, &nearest);
    int32_t length = a->y[1] < a->y[2] ? a->y[2] - a->y[1] : a->y[1] - a->y[2];
    if (length > (count + 1) * BLOCKED) assert_true(nearest > ISO_LABEL_HEIGHT / 2);
  }
}

/* Arrows between the same cards must not lie on each other. */
static void check_apart(const iso_drawing *d) {
  for (uint32_t i = 0; i < d->arrow_count; i++) {
    for (uint32_t k = 0; k < i; k++) {
      const iso_arrow *a = &d->arrows[i], *b = &d->arrows[k];
      bool same =
          a->points == b->points && memcmp(a->x, b->x, sizeof a->x) == 0 && memcmp(a->y, b->y, sizeof a->y) == 0;
      assert_false(same);
    }
  }
}

static void check_drawing(const made *m, bool all) {
  iso_arena arena = ISO_ARENA_EMPTY, again_arena = ISO_ARENA_EMPTY;
  iso_drawing d, again;
  assert_true(iso_layout(&arena, &m->anomaly, m->edges, m->anomaly.edge_count, all, &d));
  check_cards(&d);
  check_labels(&d);
  check_lines(&d);
  check_crossings(&d);
  if (m->anomaly.edge_count <= 2 * m->anomaly.txn_count) check_apart(&d);
  assert_true(iso_layout(&again_arena, &m->anomaly, m->edges, m->anomaly.edge_count, all, &again));
  assert_int_equal(d.width, again.width);
  assert_int_equal(d.height, again.height);
  for (uint32_t i = 0; i < d.arrow_count; i++) assert_int_equal(d.arrows[i].label_x, again.arrows[i].label_x);
  iso_arena_free(&arena);
  iso_arena_free(&again_arena);
}

static void small_graphs(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 4000; seed++) {
    uint32_t txns = 1 + (uint32_t)(seed % 7), edges = (uint32_t)(seed / 7 % 11);
    made *m = make(seed, txns, edges);
    check_drawing(m, seed % 2 == 0);
    free(m);
  }
}

static void large_graphs(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    made *m = make(seed, MOST_TXNS - (uint32_t)(seed % 20), MOST_EDGES - (uint32_t)(seed % 50));
    check_drawing(m, true);
    free(m);
  }
}

/* Two transactions that missed each other's writes stand side by side, below whom they read from. */
static void write_skew(void **state) {
  (void)state;
  made *m = calloc(1, sizeof *m);
  assert_non_null(m);
  for (uint32_t t = 0; t < 3; t++) {
    snprintf(m->names[t], sizeof m->names[t], "s%ut0", t);
    m->txns[t] = (isoproof_document_txn){.name = m->names[t],
                                         .session = m->names[t],
                                         .status = "committed",
                                         .number = t,
                                         .ops = m->ops[t],
                                         .op_count = 2};
    for (uint32_t i = 0; i < 2; i++) m->ops[t][i] = (isoproof_document_op){.kind = "r", .text = "read x = 1"};
  }
  m->edges[0] = (isoproof_document_edge){.kind = "RW", .from = 1, .to = 2, .from_op = 0, .to_op = 1, .key = "y"};
  m->edges[1] = (isoproof_document_edge){.kind = "RW", .from = 2, .to = 1, .from_op = 0, .to_op = 1, .key = "x"};
  m->edges[2] = (isoproof_document_edge){.kind = "WR", .from = 0, .to = 1, .from_op = 0, .to_op = 0, .key = "x"};
  m->edges[3] = (isoproof_document_edge){.kind = "WR", .from = 0, .to = 2, .from_op = 0, .to_op = 0, .key = "x"};
  m->anomaly = (isoproof_document_anomaly){.txns = m->txns, .txn_count = 3, .edges = m->edges, .edge_count = 4};
  iso_arena arena = ISO_ARENA_EMPTY;
  iso_drawing d;
  assert_true(iso_layout(&arena, &m->anomaly, m->edges, 4, true, &d));
  assert_int_equal(d.cards[0].row, 0);
  assert_int_equal(d.cards[1].row, 1);
  assert_int_equal(d.cards[2].row, 1);
  assert_int_equal(d.cards[1].y, d.cards[2].y);
  assert_int_equal(d.lane_count, 0);
  assert_true(d.arrows[0].curved && d.arrows[1].curved);
  iso_arena_free(&arena);
  free(m);
}

/* Transactions of one session stand in one column, in their order. */
static void sessions_are_columns(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    made *m = make(seed, 8, 6);
    iso_arena arena = ISO_ARENA_EMPTY;
    iso_drawing d;
    assert_true(iso_layout(&arena, &m->anomaly, m->edges, 6, true, &d));
    for (uint32_t a = 0; a < d.card_count; a++) {
      for (uint32_t b = 0; b < a; b++) {
        const isoproof_document_txn *one = &m->txns[d.cards[b].txn], *two = &m->txns[d.cards[a].txn];
        if (strcmp(one->session, two->session) != 0) continue;
        assert_int_equal(d.cards[a].column, d.cards[b].column);
        assert_true((one->number < two->number) == (d.cards[b].row < d.cards[a].row));
      }
    }
    iso_arena_free(&arena);
    free(m);
  }
}

static void nothing_to_draw(void **state) {
  (void)state;
  isoproof_document_anomaly none = {.code = "x"};
  iso_arena arena = ISO_ARENA_EMPTY;
  iso_drawing d;
  assert_true(iso_layout(&arena, &none, NULL, 0, true, &d));
  assert_int_equal(d.card_count, 0);
  assert_true(d.width > 0 && d.height > 0);
  iso_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_graphs), cmocka_unit_test(large_graphs),
                                     cmocka_unit_test(write_skew), cmocka_unit_test(sessions_are_columns),
                                     cmocka_unit_test(nothing_to_draw)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
