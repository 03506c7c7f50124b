/* The graph of the solver by itself: edges enter and leave as a stack, against a matrix of what reaches what. */
#include "tests/unit/unit.h"

#include "solver/dag_order.h"

enum { NODES = 40, DEPTH = 300 };

typedef struct {
  iso_dag dag;
  iso_solver_stats stats;
  uint32_t stack[DEPTH], height;         /* edges that entered */
  bool reaches[DEPTH + 1][NODES][NODES]; /* with the first so many of them */
} model;

static void close_under(bool reaches[NODES][NODES], uint32_t from, uint32_t to) {
  for (uint32_t a = 0; a < NODES; a++) {
    if (a != from && !reaches[a][from]) continue;
    for (uint32_t b = 0; b < NODES; b++) reaches[a][b] |= b == to || reaches[to][b];
  }
}

static void check_order(const model *m) {
  const iso_dag_node *nodes = m->dag.nodes.items;
  uint32_t count = 0;
  uint64_t label = 0;
  for (uint32_t node = m->dag.first; node != ISO_NONE; node = nodes[node].next, count++) {
    assert_true(nodes[node].label > label);
    label = nodes[node].label;
  }
  assert_int_equal(count, NODES);
  assert_true(label < UINT64_C(1) << 62);
  for (uint32_t a = 0; a < NODES; a++) {
    for (uint32_t b = 0; b < NODES; b++) {
      if (m->reaches[m->height][a][b]) assert_true(nodes[a].label < nodes[b].label);
    }
  }
}

/* The literals of the path and the edge are a cycle: with the fixed edges they lead back from its head to its tail. */
static void check_path(const model *m, const iso_dag_edge *edge) {
  static bool reaches[NODES][NODES];
  memcpy(reaches, m->reaches[0], sizeof reaches);
  for (uint32_t i = 0; i < m->dag.path_count; i++) {
    const iso_dag_edge *step = &m->dag.edges.items[m->dag.path[i] / 2];
    bool entered = false;
    for (uint32_t k = 0; k < m->height; k++) entered |= m->stack[k] == m->dag.path[i] / 2;
    assert_true(entered);
    close_under(reaches, step->from, step->to);
  }
  assert_true(reaches[edge->to][edge->from]);
}

static void try_enter(uint64_t *random, model *m) {
  uint32_t from = (uint32_t)unit_below(random, NODES), to = (uint32_t)unit_below(random, NODES);
  if (from == to || m->height == DEPTH) return;
  uint32_t number = iso_dag_find(&m->dag, from, to);
  if (number == ISO_NONE) {
    iso_lit literal = 2 * (iso_lit)m->dag.edges.count;
    assert_ok(iso_dag_add_optional(&m->dag, from, to, literal, &number, NULL));
  }
  assert_int_equal(iso_dag_find(&m->dag, from, to), number);
  for (uint32_t i = 0; i < m->height; i++) {
    if (m->stack[i] == number) return;
  }
  bool expected = !m->reaches[m->height][to][from];
  assert_int_equal(iso_dag_enter(&m->dag, number, false), expected);
  if (!expected) {
    check_path(m, &m->dag.edges.items[number]);
    return;
  }
  m->stack[m->height++] = number;
  memcpy(m->reaches[m->height], m->reaches[m->height - 1], sizeof m->reaches[0]);
  close_under(m->reaches[m->height], from, to);
}

static void enters_and_leaves(void **state) {
  (void)state;
  model *m = calloc(1, sizeof *m);
  assert_non_null(m);
  for (uint64_t seed = 1; seed <= 60; seed++) {
    uint64_t random = seed * 7919;
    bool acyclic;
    memset(m, 0, sizeof *m);
    assert_ok(iso_dag_init(&m->dag, NODES, &m->stats, NULL));
    for (uint32_t i = 0; i < seed % 4 * 15; i++) {
      uint32_t from = (uint32_t)unit_below(&random, NODES - 1),
               to = from + 1 + (uint32_t)unit_below(&random, NODES - 1 - from);
      assert_ok(iso_dag_add_fixed(&m->dag, NODES - 1 - from, NODES - 1 - to, NULL));
      close_under(m->reaches[0], NODES - 1 - from, NODES - 1 - to);
    }
    assert_ok(iso_dag_settle(&m->dag, NULL, &acyclic, NULL));
    assert_true(acyclic);
    for (int step = 0; step < 500; step++) {
      if (m->height > 0 && unit_below(&random, 4) == 0) {
        for (uint64_t k = unit_below(&random, m->height); k-- > 0;) iso_dag_leave(&m->dag, m->stack[--m->height]);
      }
      try_enter(&random, m);
      if (step % 8 == 0) check_order(m);
    }
    iso_dag_free(&m->dag);
  }
  free(m);
}

/* The same few labels are divided again and again. */
static void labels_run_out(void **state) {
  (void)state;
  enum { MANY = 3000 };
  iso_dag dag;
  iso_solver_stats stats = {0};
  bool acyclic;
  assert_ok(iso_dag_init(&dag, MANY, &stats, NULL));
  assert_ok(iso_dag_settle(&dag, NULL, &acyclic, NULL));
  uint64_t random = 3;
  for (uint32_t i = 1; i < MANY; i++) {
    iso_dag_rank run[2] = {{0, i}, {0, 0}};
    uint32_t before = i % 3 == 0 ? dag.nodes.items[0].previous : i % 3 == 1 ? 0 : ISO_NONE;
    if (before == i) continue;
    iso_dag_order_move(&dag, run, 1, before);
    if (i > 10 && unit_below(&random, 4) == 0) {
      run[0].node = dag.first;
      run[1].node = dag.nodes.items[dag.first].next;
      if (run[0].node != 0 && run[1].node != 0) iso_dag_order_move(&dag, run, 2, 0);
    }
  }
  uint32_t count = 0;
  uint64_t label = 0;
  for (uint32_t node = dag.first; node != ISO_NONE; node = dag.nodes.items[node].next, count++) {
    assert_true(dag.nodes.items[node].label > label);
    label = dag.nodes.items[node].label;
  }
  assert_int_equal(count, MANY);
  assert_true(stats.relabelled > 0);
  assert_true(stats.relabelled < UINT64_C(200) * MANY);
  iso_dag_free(&dag);
}

/* Searches have numbers; when they run out they begin again. */
static void stamps_wrap(void **state) {
  (void)state;
  model *m = calloc(1, sizeof *m);
  assert_non_null(m);
  uint64_t random = 17;
  bool acyclic;
  assert_ok(iso_dag_init(&m->dag, NODES, &m->stats, NULL));
  assert_ok(iso_dag_settle(&m->dag, NULL, &acyclic, NULL));
  for (int step = 0; step < 400; step++) {
    if (step == 200) m->dag.stamp = UINT32_MAX - 40;
    while (m->height > 30) iso_dag_leave(&m->dag, m->stack[--m->height]);
    try_enter(&random, m);
  }
  assert_true(m->dag.stamp < 1 << 20);
  iso_dag_free(&m->dag);
  free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(enters_and_leaves),
      cmocka_unit_test(labels_run_out),
      cmocka_unit_test(stamps_wrap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
