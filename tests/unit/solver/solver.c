/* The solver against a judge that tries every assignment: alone, with assumptions, and in steps. */
#include "tests/unit/solver/solver_problem.h"

#include "base/task.h"

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

/* Sanitizers are slow: they see fewer problems. */
static uint64_t problem_count(void) { return setting("ISOPROOF_RANDOM_HISTORIES", 200000) / 10; }

static iso_solver_answer solve(iso_solver *solver, const iso_lit *assumptions, size_t count) {
  iso_solver_answer answer;
  isoproof_error error;
  assert_ok_error(iso_solver_solve(solver, assumptions, count, NULL, &answer, &error), error);
  assert_int_not_equal(answer, ISO_SOLVER_UNKNOWN);
  return answer;
}

static void agrees_with_enumeration(void **state) {
  (void)state;
  uint64_t random = 4711, solvable = 0, problems = problem_count();
  for (uint64_t i = 0; i < problems; i++) {
    problem p;
    problem_draw(&random, &p);
    iso_solver *solver = problem_solver(&p);
    problem_vary(&random, solver);
    bool expected = problem_solvable(&p, 0, 0);
    if ((solve(solver, NULL, 0) == ISO_SOLVER_SAT) != expected) fail_msg("problem %llu", (unsigned long long)i);
    if (expected) problem_check_model(&p, solver);
    solvable += expected;
    iso_solver_free(solver);
  }
  assert_in_range(solvable, problems / 5, problems * 4 / 5);
}

/* Assumes random values, and looks at the core when that fails. */
static void check_assumptions(uint64_t *random, const problem *p, iso_solver *solver) {
  iso_lit assumptions[2 * PROBLEM_VARS];
  const iso_lit *core;
  size_t count = unit_below(random, 6);
  uint32_t mask = 0, wanted = 0;
  bool contradiction = false;
  for (size_t i = 0; i < count; i++) {
    iso_lit literal = (iso_lit)unit_below(random, 2 * p->vars);
    uint32_t bit = UINT32_C(1) << (literal / 2), value = literal % 2 == 0 ? bit : 0;
    assumptions[i] = literal;
    if ((mask & bit) != 0 && (wanted & bit) != value) contradiction = true;
    mask |= bit;
    wanted = (wanted & ~bit) | value;
  }
  bool expected = !contradiction && problem_solvable(p, mask, wanted);
  assert_int_equal(solve(solver, assumptions, count), expected ? ISO_SOLVER_SAT : ISO_SOLVER_UNSAT);
  if (expected) {
    problem_check_model(p, solver);
    for (size_t i = 0; i < count; i++) assert_true(iso_solver_value(solver, assumptions[i]));
    return;
  }
  size_t core_count = iso_solver_core(solver, &core);
  uint32_t positive = 0, negative = 0;
  assert_true(core_count <= count);
  for (size_t i = 0; i < core_count; i++) {
    bool given = false;
    for (size_t k = 0; k < count; k++) given |= assumptions[k] == core[i];
    assert_true(given);
    *(core[i] % 2 == 0 ? &positive : &negative) |= UINT32_C(1) << (core[i] / 2);
  }
  assert_true((positive & negative) != 0 || !problem_solvable(p, positive | negative, positive));
}

static void assumptions_and_cores(void **state) {
  (void)state;
  uint64_t random = 815, problems = problem_count() / 4;
  for (uint64_t i = 0; i < problems; i++) {
    problem p;
    problem_draw(&random, &p);
    iso_solver *solver = problem_solver(&p);
    problem_vary(&random, solver);
    for (int k = 0; k < 6; k++) check_assumptions(&random, &p, solver);
    iso_solver_free(solver);
  }
}

/* Adds to a problem: a node, fixed edges, edges and clauses. */
static void extend(uint64_t *random, problem *p) {
  if (p->nodes < PROBLEM_NODES && unit_below(random, 2) == 0) p->nodes++;
  while (p->fixed_count < PROBLEM_FIXED && unit_below(random, 2) == 0) {
    uint32_t a = (uint32_t)unit_below(random, p->nodes), b = (uint32_t)unit_below(random, p->nodes);
    if (a == b) continue;
    bool turn = a > b && unit_below(random, 10) != 0;
    p->fixed[p->fixed_count][0] = turn ? b : a;
    p->fixed[p->fixed_count++][1] = turn ? a : b;
  }
  /* Plain variables are the last ones, so edges can be added only where there are none. */
  while (p->vars == p->edges && p->vars < 12 && unit_below(random, 2) == 0) {
    uint32_t from = (uint32_t)unit_below(random, p->nodes), to = (uint32_t)unit_below(random, p->nodes);
    bool known = false;
    for (uint32_t i = 0; i < p->edges; i++) known |= p->edge[i][0] == from && p->edge[i][1] == to;
    if (known) continue;
    p->edge[p->edges][0] = from;
    p->edge[p->edges++][1] = to;
    p->vars++;
  }
  while (p->clause_count < PROBLEM_CLAUSES && unit_below(random, 3) != 0) {
    p->clauses[p->clause_count++] = problem_draw_clause(random, p);
  }
}

static void grows_in_steps(void **state) {
  (void)state;
  uint64_t random = 99, problems = problem_count() / 4, steps = 0;
  for (uint64_t i = 0; i < problems; i++) {
    problem p;
    problem_draw(&random, &p);
    p.clause_count /= 3;
    iso_solver *solver = problem_solver(&p);
    problem_vary(&random, solver);
    bool expected = problem_solvable(&p, 0, 0);
    assert_int_equal(solve(solver, NULL, 0), expected ? ISO_SOLVER_SAT : ISO_SOLVER_UNSAT);
    for (int step = 0; step < 8 && expected; step++, steps++) {
      problem old = p;
      extend(&random, &p);
      for (uint32_t node = old.nodes; node < p.nodes; node++) {
        uint32_t made;
        assert_ok(iso_solver_node(solver, &made, NULL));
        assert_int_equal(made, node);
      }
      problem_give(&p, solver, old.fixed_count, old.vars, old.clause_count);
      if (step % 2 == 1) {
        check_assumptions(&random, &p, solver);
        continue;
      }
      expected = problem_solvable(&p, 0, 0);
      assert_int_equal(solve(solver, NULL, 0), expected ? ISO_SOLVER_SAT : ISO_SOLVER_UNSAT);
      if (expected) problem_check_model(&p, solver);
    }
    iso_solver_free(solver);
  }
  assert_true(steps > problems);
}

/* n + 1 pigeons in n holes, no two in one. */
static iso_solver *pigeons(uint32_t holes) {
  iso_solver *solver;
  iso_lit first, row[32];
  assert_ok(iso_solver_new(0, &solver, NULL));
  for (uint32_t i = 0; i < (holes + 1) * holes; i++) assert_ok(iso_solver_var(solver, &first, NULL));
  for (uint32_t pigeon = 0; pigeon <= holes; pigeon++) {
    for (uint32_t hole = 0; hole < holes; hole++) row[hole] = 2 * (pigeon * holes + hole);
    assert_ok(iso_solver_clause(solver, row, holes, NULL));
    for (uint32_t other = 0; other < pigeon; other++) {
      for (uint32_t hole = 0; hole < holes; hole++) {
        iso_lit both[2] = {2 * (pigeon * holes + hole) + 1, 2 * (other * holes + hole) + 1};
        assert_ok(iso_solver_clause(solver, both, 2, NULL));
      }
    }
  }
  return solver;
}

static void pigeonhole(void **state) {
  (void)state;
  iso_solver *solver = pigeons(7);
  assert_int_equal(solve(solver, NULL, 0), ISO_SOLVER_UNSAT);
  assert_int_equal(solve(solver, NULL, 0), ISO_SOLVER_UNSAT);
  iso_solver_free(solver);
}

static void limits_give_unknown(void **state) {
  (void)state;
  iso_solver *solver = pigeons(9);
  iso_solver_limits limits = {.conflicts = 50};
  iso_solver_answer answer;
  assert_ok(iso_solver_solve(solver, NULL, 0, &limits, &answer, NULL));
  assert_int_equal(answer, ISO_SOLVER_UNKNOWN);
  assert_int_equal(iso_solver_statistics(solver)->conflicts, 50);
  isoproof_task *task;
  assert_ok(isoproof_task_new(&task));
  isoproof_task_set_timeout(task, 0.01);
  limits = (iso_solver_limits){.task = task};
  isoproof_error error;
  assert_int_equal(iso_solver_solve(solver, NULL, 0, &limits, &answer, &error), ISOPROOF_ERR_TIMEOUT);
  assert_int_equal(answer, ISO_SOLVER_UNKNOWN);
  isoproof_task_set_timeout(task, 0);
  isoproof_task_cancel(task);
  assert_int_equal(iso_solver_solve(solver, NULL, 0, &limits, &answer, &error), ISOPROOF_ERR_CANCELLED);
  isoproof_task_free(task);
  iso_solver_free(solver);
}

static void bad_arguments(void **state) {
  (void)state;
  iso_solver *solver;
  iso_solver_answer answer;
  iso_lit literal = 0, huge = ISO_LIT_NONE;
  uint32_t nodes[] = {0, 3};
  assert_int_equal(iso_solver_new(UINT32_MAX, &solver, NULL), ISOPROOF_ERR_LIMIT);
  assert_ok(iso_solver_new(3, &solver, NULL));
  assert_int_equal(iso_solver_clause(solver, &literal, 1, NULL), ISOPROOF_ERR_INTERNAL);
  assert_int_equal(iso_solver_solve(solver, &huge, 1, NULL, &answer, NULL), ISOPROOF_ERR_INTERNAL);
  assert_int_equal(iso_solver_fixed_edge(solver, 0, 3, NULL), ISOPROOF_ERR_INTERNAL);
  assert_int_equal(iso_solver_fixed_edge(solver, 3, 0, NULL), ISOPROOF_ERR_INTERNAL);
  assert_int_equal(iso_solver_edge(solver, 3, 0, &literal, NULL), ISOPROOF_ERR_INTERNAL);
  assert_int_equal(iso_solver_hint(solver, nodes, 2, NULL), ISOPROOF_ERR_INTERNAL);
  iso_solver_phase(solver, huge);
  assert_int_equal(solve(solver, NULL, 0), ISO_SOLVER_SAT);
  assert_int_equal(iso_solver_clause(solver, NULL, 0, NULL), ISOPROOF_OK);
  assert_int_equal(solve(solver, NULL, 0), ISO_SOLVER_UNSAT);
  iso_solver_free(solver);
  iso_solver_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_enumeration), cmocka_unit_test(assumptions_and_cores),
      cmocka_unit_test(grows_in_steps),          cmocka_unit_test(pigeonhole),
      cmocka_unit_test(limits_give_unknown),     cmocka_unit_test(bad_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
