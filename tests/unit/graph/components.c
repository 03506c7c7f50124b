/* Strongly connected components: small random graphs against a closure, long ones for depth, and being cancelled. */
#include "tests/unit/unit.h"

#include "graph/components.h"

enum { NODES = 12, EDGES = 40, LONG = 1000000 };

/* A small graph, three ways: rows, a matrix of edges, and a matrix of what reaches what. */
typedef struct {
  uint32_t nodes;
  uint32_t first[NODES + 1], to[EDGES];
  bool edge[NODES][NODES], reaches[NODES][NODES];
  bool member[NODES];
} small;

static void make_small(uint64_t *random, small *g) {
  memset(g, 0, sizeof *g);
  g->nodes = 1 + (uint32_t)unit_below(random, NODES);
  uint32_t most = (uint32_t)unit_below(random, EDGES), count = 0;
  for (uint32_t v = 0; v < g->nodes; v++) {
    g->first[v] = count;
    for (uint64_t k = unit_below(random, 4); k > 0 && count < most; k--) {
      uint32_t to = (uint32_t)unit_below(random, g->nodes); /* sometimes itself, sometimes twice */
      g->to[count++] = to;
      g->edge[v][to] = true;
    }
  }
  g->first[g->nodes] = count;
}

static void close_over(small *g) {
  memcpy(g->reaches, g->edge, sizeof g->reaches);
  for (uint32_t k = 0; k < g->nodes; k++) {
    for (uint32_t a = 0; a < g->nodes; a++) {
      for (uint32_t b = 0; b < g->nodes; b++) g->reaches[a][b] |= g->reaches[a][k] && g->reaches[k][b];
    }
  }
}

static bool same_component(const small *g, uint32_t a, uint32_t b) { return g->reaches[a][b] && g->reaches[b][a]; }

/* Components are those of the closure, numbered without gaps, whoever leads to another one later than that. */
static void check_components(const small *g, const iso_components *found) {
  bool used[NODES] = {false};
  for (uint32_t a = 0; a < g->nodes; a++) {
    bool on_cycle = false;
    for (uint32_t b = 0; b < g->nodes; b++) {
      if (a == b) continue;
      on_cycle |= same_component(g, a, b);
      if (found->of[a] == ISO_NO_COMPONENT || found->of[b] == ISO_NO_COMPONENT) continue;
      assert_int_equal(found->of[a] == found->of[b], same_component(g, a, b));
      if (g->reaches[a][b]) assert_true(found->of[a] >= found->of[b]);
    }
    assert_int_equal(found->of[a] != ISO_NO_COMPONENT, on_cycle);
    if (on_cycle) assert_true(found->of[a] < found->count), used[found->of[a]] = true;
  }
  for (uint32_t c = 0; c < found->count; c++) assert_true(used[c]);
}

/* Each node once, after all it leads to outside its component, a component in one piece. */
static void check_sequence(const small *g, const iso_components *found, uint32_t members) {
  uint32_t place[NODES];
  memset(place, 0xff, sizeof place);
  for (uint32_t i = 0; i < members; i++) {
    assert_true(found->sequence[i] < g->nodes && g->member[found->sequence[i]]);
    assert_int_equal(place[found->sequence[i]], UINT32_MAX);
    place[found->sequence[i]] = i;
  }
  for (uint32_t a = 0; a < g->nodes; a++) {
    for (uint32_t b = 0; b < g->nodes; b++) {
      if (!g->member[a] || a == b || !g->reaches[a][b] || same_component(g, a, b)) continue;
      assert_true(place[b] < place[a]);
    }
  }
  for (uint32_t i = 1; i < members; i++) {
    uint32_t before = found->of[found->sequence[i - 1]], here = found->of[found->sequence[i]];
    for (uint32_t k = i + 1; here != before && before != ISO_NO_COMPONENT && k < members; k++) {
      assert_int_not_equal(found->of[found->sequence[k]], before);
    }
  }
}

static uint32_t next_of_matrix(const void *graph, uint32_t node, uint64_t *cursor) {
  const small *g = graph;
  for (; *cursor < g->nodes; ++*cursor) {
    if (g->edge[node][*cursor]) return (uint32_t)(*cursor)++;
  }
  return UINT32_MAX;
}

static void random_rows(void **state) {
  (void)state;
  uint64_t random = 11;
  for (int round = 0; round < 20000; round++) {
    small g;
    uint32_t of[NODES], sequence[NODES];
    iso_components found = {.of = of, .sequence = sequence};
    make_small(&random, &g);
    close_over(&g);
    memset(g.member, 1, sizeof g.member);
    assert_ok(iso_components_of_rows(g.first, g.to, g.nodes, NULL, &found, NULL));
    check_components(&g, &found);
    check_sequence(&g, &found, g.nodes);
    found.sequence = NULL;
    assert_ok(iso_components_of_rows(g.first, g.to, g.nodes, NULL, &found, NULL));
    check_components(&g, &found);
  }
}

/* Some nodes are no members: nothing leads there, and they are on no cycle. */
static void random_members(void **state) {
  (void)state;
  uint64_t random = 12;
  for (int round = 0; round < 20000; round++) {
    small g;
    uint32_t of[NODES], sequence[NODES], members[NODES], count = 0;
    iso_components found = {.of = of, .sequence = sequence};
    make_small(&random, &g);
    for (uint32_t v = 0; v < g.nodes; v++) {
      g.member[v] = unit_below(&random, 5) > 0;
      if (g.member[v]) members[count++] = v;
    }
    for (uint32_t a = 0; a < g.nodes; a++) {
      for (uint32_t b = 0; b < g.nodes; b++) g.edge[a][b] &= g.member[a] && g.member[b];
    }
    close_over(&g);
    const iso_neighbours neighbours = {&g, next_of_matrix};
    assert_ok(iso_components_of_members(&neighbours, g.nodes, members, count, NULL, &found, NULL));
    check_components(&g, &found);
    check_sequence(&g, &found, count);
  }
}

static void rows_of_components(void **state) {
  (void)state;
  uint64_t random = 13;
  for (int round = 0; round < 2000; round++) {
    small g;
    uint32_t of[NODES];
    iso_components found = {.of = of};
    iso_component_rows rows;
    make_small(&random, &g);
    assert_ok(iso_components_of_rows(g.first, g.to, g.nodes, NULL, &found, NULL));
    assert_ok(iso_component_rows_make(&found, g.nodes, &rows, NULL));
    uint32_t listed = 0, on_cycle = 0;
    for (uint32_t v = 0; v < g.nodes; v++) on_cycle += of[v] != ISO_NO_COMPONENT;
    for (uint32_t c = 0; c < found.count; c++) {
      assert_true(rows.first[c + 1] - rows.first[c] >= 2);
      for (uint32_t i = rows.first[c]; i < rows.first[c + 1]; i++, listed++) {
        assert_int_equal(of[rows.node[i]], c);
        assert_true(i == rows.first[c] || rows.node[i - 1] < rows.node[i]);
      }
    }
    assert_int_equal(listed, on_cycle);
    iso_component_rows_free(&rows);
  }
}

static void self_loops(void **state) {
  (void)state;
  const uint32_t first[] = {0, 1, 3, 3}, to[] = {0, 1, 2};
  uint32_t of[3], sequence[3];
  iso_components found = {.of = of, .sequence = sequence};
  assert_ok(iso_components_of_rows(first, to, 3, NULL, &found, NULL));
  assert_int_equal(found.count, 0);
  for (int v = 0; v < 3; v++) assert_int_equal(of[v], ISO_NO_COMPONENT);
  assert_int_equal(sequence[0], 0);
  assert_int_equal(sequence[1], 2);
  assert_int_equal(sequence[2], 1);
}

static void no_nodes(void **state) {
  (void)state;
  const uint32_t first[] = {0};
  iso_components found = {.count = 7};
  assert_ok(iso_components_of_rows(first, NULL, 0, NULL, &found, NULL));
  assert_int_equal(found.count, 0);
}

/* ---- chains of a million nodes ---- */

typedef struct {
  uint32_t *first, *to, *of, *sequence, *members;
} chain;

/* 0 leads to 1, to 2 and so on, and the last one back to `back`; UINT32_MAX: nowhere. */
static chain make_chain(uint32_t back) {
  chain c = {.first = malloc((LONG + 1) * sizeof(uint32_t)),
             .to = malloc(LONG * sizeof(uint32_t)),
             .of = malloc(LONG * sizeof(uint32_t)),
             .sequence = malloc(LONG * sizeof(uint32_t)),
             .members = malloc(LONG * sizeof(uint32_t))};
  for (uint32_t v = 0; v < LONG; v++) {
    c.first[v] = v;
    c.to[v] = v + 1 < LONG ? v + 1 : back;
    c.members[v] = v;
  }
  c.first[LONG] = back == UINT32_MAX ? LONG - 1 : LONG;
  return c;
}

static void free_chain(chain *c) {
  free(c->first);
  free(c->to);
  free(c->of);
  free(c->sequence);
  free(c->members);
}

static uint32_t next_of_chain(const void *graph, uint32_t node, uint64_t *cursor) {
  const chain *c = graph;
  return (*cursor)++ == 0 && c->first[node] < c->first[node + 1] ? c->to[c->first[node]] : UINT32_MAX;
}

static isoproof_status find_in_chain(chain *c, bool rows, isoproof_task *task, iso_components *found) {
  const iso_neighbours neighbours = {c, next_of_chain};
  *found = (iso_components){.of = c->of, .sequence = c->sequence};
  return rows ? iso_components_of_rows(c->first, c->to, LONG, task, found, NULL)
              : iso_components_of_members(&neighbours, LONG, c->members, LONG, task, found, NULL);
}

static void deep_chains(void **state) {
  (void)state;
  for (int rows = 0; rows < 2; rows++) {
    iso_components found;
    chain open = make_chain(UINT32_MAX), ring = make_chain(LONG / 2);
    assert_ok(find_in_chain(&open, rows, NULL, &found));
    assert_int_equal(found.count, 0);
    for (uint32_t i = 0; i < LONG; i++) assert_true(open.sequence[i] == LONG - 1 - i);
    assert_ok(find_in_chain(&ring, rows, NULL, &found));
    assert_int_equal(found.count, 1);
    for (uint32_t v = 0; v < LONG; v++) assert_true(ring.of[v] == (v < LONG / 2 ? ISO_NO_COMPONENT : 0));
    free_chain(&open);
    free_chain(&ring);
  }
}

/* Cancels its task once half of the chain was met: in the middle of a single walk. */
typedef struct {
  chain *c;
  isoproof_task *task;
  uint32_t met;
} canceller;

static uint32_t next_then_cancel(const void *graph, uint32_t node, uint64_t *cursor) {
  canceller *k = (canceller *)(uintptr_t)graph;
  if (node > k->met) k->met = node;
  if (node == LONG / 2) isoproof_task_cancel(k->task);
  return next_of_chain(k->c, node, cursor);
}

static void cancelled(void **state) {
  (void)state;
  chain c = make_chain(0);
  iso_components found;
  isoproof_task *task;
  assert_ok(isoproof_task_new(&task));
  canceller k = {&c, task, 0};
  const iso_neighbours neighbours = {&k, next_then_cancel};
  found = (iso_components){.of = c.of};
  assert_int_equal(iso_components_of_members(&neighbours, LONG, c.members, LONG, task, &found, NULL),
                   ISOPROOF_ERR_CANCELLED);
  assert_true(k.met >= LONG / 2 && k.met < LONG - 1);
  assert_int_equal(find_in_chain(&c, true, task, &found), ISOPROOF_ERR_CANCELLED);
  assert_int_equal(find_in_chain(&c, false, task, &found), ISOPROOF_ERR_CANCELLED);
  isoproof_task_free(task);
  free_chain(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_rows), cmocka_unit_test(random_members), cmocka_unit_test(rows_of_components),
      cmocka_unit_test(self_loops),  cmocka_unit_test(no_nodes),       cmocka_unit_test(deep_chains),
      cmocka_unit_test(cancelled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
