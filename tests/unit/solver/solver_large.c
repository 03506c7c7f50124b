/* The solver on problems with structure and size: polygraphs, long chains, hubs, graphs that grow between calls. */
#include "tests/unit/unit.h"

#include "solver/solver_internal.h"
#include "tests/random/polygraph.h"

static iso_solver_answer solve(iso_solver *solver) {
  iso_solver_answer answer;
  isoproof_error error;
  assert_ok_error(iso_solver_solve(solver, NULL, 0, NULL, &answer, &error), error);
  return answer;
}

/* With and without a hint, the answer is right and the order respects everything. */
static void check_polygraph(const polygraph_spec *spec, iso_solver_answer expected) {
  polygraph p;
  assert_true(polygraph_make(spec, &p));
  for (int hint = 0; hint < 2; hint++) {
    iso_solver *solver;
    assert_ok(polygraph_solver(&p, hint == 1, &solver, NULL));
    iso_solver_answer answer = solve(solver);
    if (expected != ISO_SOLVER_UNKNOWN) assert_int_equal(answer, expected);
    expected = answer; /* the same the other way */
    if (answer == ISO_SOLVER_SAT) assert_true(polygraph_solved(&p, solver));
    iso_solver_free(solver);
  }
  polygraph_free(&p);
}

static void polygraphs(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    check_polygraph(&(polygraph_spec){1500, 20, 500, 8, 30, 0, 0, seed}, ISO_SOLVER_SAT);
    check_polygraph(&(polygraph_spec){1500, 20, 500, 8, 30, 1, 0, seed}, ISO_SOLVER_UNSAT);
    check_polygraph(&(polygraph_spec){60, 20, 12, 5, 60, 0, 0, seed}, ISO_SOLVER_SAT);
    check_polygraph(&(polygraph_spec){60, 20, 12, 5, 60, 0, 30, seed}, ISO_SOLVER_UNKNOWN);
  }
}

/* A chain of a million fixed edges, in an order that does not fit the numbers, with choices along it. */
static void long_chain(void **state) {
  (void)state;
  enum { NODES = 1000001 };
  iso_solver *solver;
  iso_lit choice[2];
  assert_ok(iso_solver_new(NODES, &solver, NULL));
  for (uint32_t i = 0; i + 1 < NODES; i++) assert_ok(iso_solver_fixed_edge(solver, i + 1, i, NULL));
  for (uint32_t i = 0; i + 1000 < NODES; i += 1000) {
    assert_ok(iso_solver_edge(solver, i, i + 1000, &choice[0], NULL));
    assert_ok(iso_solver_edge(solver, i + 1000, i, &choice[1], NULL));
    assert_ok(iso_solver_clause(solver, choice, 2, NULL));
  }
  assert_int_equal(solve(solver), ISO_SOLVER_SAT);
  for (uint32_t i = 0; i + 1 < NODES; i++) assert_true(iso_solver_before(solver, i + 1, i));
  /* All the way back: a cycle through everything. */
  assert_ok(iso_solver_edge(solver, 0, NODES - 1, &choice[0], NULL));
  iso_solver_answer answer;
  const iso_lit *core;
  assert_ok(iso_solver_solve(solver, choice, 1, NULL, &answer, NULL));
  assert_int_equal(answer, ISO_SOLVER_UNSAT);
  assert_int_equal(iso_solver_core(solver, &core), 1);
  assert_int_equal(core[0], choice[0]);
  assert_int_equal(solve(solver), ISO_SOLVER_SAT);
  assert_ok(iso_solver_fixed_edge(solver, 0, NODES - 1, NULL));
  assert_int_equal(solve(solver), ISO_SOLVER_UNSAT);
  iso_solver_free(solver);
}

static void fixed_cycle(void **state) {
  (void)state;
  for (uint32_t length = 1; length < 5; length++) {
    iso_solver *solver;
    assert_ok(iso_solver_new(5, &solver, NULL));
    for (uint32_t i = 0; i < length; i++) assert_ok(iso_solver_fixed_edge(solver, i, (i + 1) % length, NULL));
    assert_int_equal(solve(solver), ISO_SOLVER_UNSAT);
    assert_int_equal(solve(solver), ISO_SOLVER_UNSAT);
    iso_solver_free(solver);
  }
}

/* Many edges out of one node and into another: entering must not look at all of them each time. */
static void hubs(void **state) {
  (void)state;
  enum { SPOKES = 20000 };
  iso_solver *solver;
  iso_lit choice[2];
  assert_ok(iso_solver_new(SPOKES + 2, &solver, NULL));
  for (uint32_t i = 0; i < SPOKES; i++) {
    assert_ok(iso_solver_edge(solver, SPOKES, i, &choice[0], NULL));
    assert_ok(iso_solver_edge(solver, i, SPOKES, &choice[1], NULL));
    assert_ok(iso_solver_clause(solver, choice, 2, NULL));
    assert_ok(iso_solver_edge(solver, SPOKES + 1, i, &choice[0], NULL));
    assert_ok(iso_solver_edge(solver, i, SPOKES + 1, &choice[1], NULL));
    assert_ok(iso_solver_clause(solver, choice, 2, NULL));
  }
  assert_int_equal(solve(solver), ISO_SOLVER_SAT);
  const iso_solver_stats *stats = iso_solver_statistics(solver);
  assert_true(stats->arcs + stats->reach_arcs < UINT64_C(200) * SPOKES);
  iso_solver_free(solver);
}

/* A node is put between two others of a long chain, thousands of times, a hundred at a time. */
static void nodes_between(void **state) {
  (void)state;
  enum { NODES = 100000, ROUNDS = 40, EACH = 100 };
  uint64_t random = 6;
  iso_solver *solver;
  assert_ok(iso_solver_new(NODES, &solver, NULL));
  for (uint32_t i = 0; i + 1 < NODES; i++) assert_ok(iso_solver_fixed_edge(solver, i, i + 1, NULL));
  assert_int_equal(solve(solver), ISO_SOLVER_SAT);
  for (int round = 0; round < ROUNDS; round++) {
    uint32_t made[EACH], at[EACH];
    for (int i = 0; i < EACH; i++) {
      at[i] = (uint32_t)unit_below(&random, NODES - 1);
      assert_ok(iso_solver_node(solver, &made[i], NULL));
      assert_ok(iso_solver_fixed_edge(solver, at[i], made[i], NULL));
      assert_ok(iso_solver_fixed_edge(solver, made[i], at[i] + 1, NULL));
    }
    assert_int_equal(solve(solver), ISO_SOLVER_SAT);
    for (int i = 0; i < EACH; i++) {
      assert_true(iso_solver_before(solver, at[i], made[i]) && iso_solver_before(solver, made[i], at[i] + 1));
    }
  }
  const iso_solver_stats *stats = iso_solver_statistics(solver);
  assert_true(stats->arcs < UINT64_C(1000) * ROUNDS * EACH);
  iso_solver_free(solver);
}

/* Solving in steps gives what solving at once gives: the clauses of a polygraph come in ten parts. */
static void polygraph_in_steps(void **state) {
  (void)state;
  polygraph p;
  polygraph_spec spec = {3000, 20, 600, 8, 40, 0, 0, 21};
  iso_solver *solver;
  assert_true(polygraph_make(&spec, &p));
  assert_ok(iso_solver_new(p.txns, &solver, NULL));
  for (size_t step = 0; step < 10; step++) {
    for (size_t i = step; i < p.fixed.count; i += 10) {
      assert_ok(iso_solver_fixed_edge(solver, p.fixed.items[i].from, p.fixed.items[i].to, NULL));
    }
    for (size_t i = step; i < p.choices.count; i += 10) {
      iso_lit clause[2];
      const polygraph_choice *c = &p.choices.items[i];
      assert_ok(iso_solver_edge(solver, c->either.from, c->either.to, &clause[0], NULL));
      assert_ok(iso_solver_edge(solver, c->other.from, c->other.to, &clause[1], NULL));
      assert_ok(iso_solver_clause(solver, clause, 2, NULL));
    }
    assert_int_equal(solve(solver), ISO_SOLVER_SAT);
  }
  assert_true(polygraph_solved(&p, solver));
  iso_solver_free(solver);
  polygraph_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polygraphs), cmocka_unit_test(long_chain),    cmocka_unit_test(fixed_cycle),
      cmocka_unit_test(hubs),       cmocka_unit_test(nodes_between), cmocka_unit_test(polygraph_in_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
