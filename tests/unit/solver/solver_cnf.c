/* Clauses alone: random formulas against another solver, PicoSAT, where it is installed. */
#include "tests/unit/unit.h"

#include "solver/solver_internal.h"

#ifdef HAVE_PICOSAT
#include <picosat/picosat.h>

enum { MOST_VARS = 200 };

typedef struct {
  iso_solver *ours;
  PicoSAT *theirs;
  uint32_t vars;
} pair;

static pair open_pair(uint32_t vars) {
  pair p = {NULL, picosat_init(), vars};
  iso_lit literal;
  assert_ok(iso_solver_new(0, &p.ours, NULL));
  for (uint32_t i = 0; i < vars; i++) assert_ok(iso_solver_var(p.ours, &literal, NULL));
  return p;
}

static void close_pair(pair *p) {
  iso_solver_free(p->ours);
  picosat_reset(p->theirs);
}

static int their_literal(iso_lit literal) {
  int var = (int)iso_lit_var(literal) + 1;
  return (literal & 1) != 0 ? -var : var;
}

/* Adds random clauses to both solvers, and keeps them in `clauses` for checking models: three literals each. */
static void add_clauses(uint64_t *random, pair *p, uint32_t count, uint32_t (*clauses)[3]) {
  for (uint32_t i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++) clauses[i][k] = (uint32_t)unit_below(random, 2 * p->vars);
    if (unit_below(random, 8) == 0) clauses[i][2] = clauses[i][1];
    assert_ok(iso_solver_clause(p->ours, clauses[i], 3, NULL));
    for (int k = 0; k < 3; k++) picosat_add(p->theirs, their_literal(clauses[i][k]));
    picosat_add(p->theirs, 0);
  }
}

static void check_model(const pair *p, uint32_t (*clauses)[3], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    bool holds = false;
    for (int k = 0; k < 3; k++) holds |= iso_solver_value(p->ours, clauses[i][k]);
    assert_true(holds);
  }
}

static iso_solver_answer compare(const pair *p, const iso_lit *assumptions, size_t count) {
  iso_solver_answer answer;
  isoproof_error error;
  for (size_t i = 0; i < count; i++) picosat_assume(p->theirs, their_literal(assumptions[i]));
  int theirs = picosat_sat(p->theirs, -1);
  assert_ok_error(iso_solver_solve(p->ours, assumptions, count, NULL, &answer, &error), error);
  assert_int_equal(answer, theirs == PICOSAT_SATISFIABLE ? ISO_SOLVER_SAT : ISO_SOLVER_UNSAT);
  return answer;
}

/* The core, assumed alone, fails in the other solver too. */
static void check_core(const pair *p) {
  const iso_lit *core;
  size_t count = iso_solver_core(p->ours, &core);
  for (size_t i = 0; i < count; i++) picosat_assume(p->theirs, their_literal(core[i]));
  assert_int_equal(picosat_sat(p->theirs, -1), PICOSAT_UNSATISFIABLE);
}

static void random_formulas(void **state) {
  (void)state;
  static uint32_t clauses[5 * MOST_VARS][3];
  uint64_t random = 271828;
  unsigned satisfied = 0;
  enum { FORMULAS = 600 };
  for (int i = 0; i < FORMULAS; i++) {
    /* Near the ratio where half of the formulas have a solution. */
    uint32_t vars = i % 100 == 0 ? 180 : 10 + (uint32_t)unit_below(&random, 90);
    uint32_t count = (uint32_t)(vars * (260 + unit_below(&random, 140)) / 100);
    pair p = open_pair(vars);
    if (i % 3 == 0) p.ours->longest_jump = (uint32_t)unit_below(&random, 4);
    add_clauses(&random, &p, count, clauses);
    if (compare(&p, NULL, 0) == ISO_SOLVER_SAT) {
      check_model(&p, clauses, count);
      satisfied++;
    }
    close_pair(&p);
  }
  assert_in_range(satisfied, FORMULAS / 5, FORMULAS * 4 / 5);
}

static void in_steps_with_assumptions(void **state) {
  (void)state;
  static uint32_t clauses[5 * MOST_VARS][3];
  uint64_t random = 314159;
  for (int i = 0; i < 100; i++) {
    uint32_t vars = 20 + (uint32_t)unit_below(&random, 60), count = 0;
    pair p = open_pair(vars);
    if (i % 3 == 0) p.ours->longest_jump = (uint32_t)unit_below(&random, 4);
    while (count + vars / 4 < 5 * vars) {
      iso_lit assumptions[12];
      size_t assumed = unit_below(&random, 12);
      for (size_t k = 0; k < assumed; k++) assumptions[k] = (iso_lit)unit_below(&random, 2 * vars);
      add_clauses(&random, &p, vars / 4, clauses + count);
      count += vars / 4;
      if (compare(&p, assumptions, assumed) == ISO_SOLVER_SAT) {
        check_model(&p, clauses, count);
        for (size_t k = 0; k < assumed; k++) assert_true(iso_solver_value(p.ours, assumptions[k]));
      } else {
        check_core(&p);
      }
    }
    close_pair(&p);
  }
}
#else
static void random_formulas(void **state) {
  (void)state;
  print_message("skipped: built without PicoSAT (package picosat)\n");
  skip();
}
#endif

/* Enough conflicts for reductions, restarts in both modes, and the collection of clauses. */
static void many_conflicts(void **state) {
  (void)state;
  enum { VARS = 240, CLAUSES = 1020 };
  uint64_t random = 5;
  iso_solver *solver;
  iso_solver_answer answer;
  iso_lit literal, clause[3];
  iso_solver_limits limits = {.conflicts = 30000};
  assert_ok(iso_solver_new(0, &solver, NULL));
  for (uint32_t i = 0; i < VARS; i++) assert_ok(iso_solver_var(solver, &literal, NULL));
  for (uint32_t i = 0; i < CLAUSES; i++) {
    /* One literal from each third of the variables. */
    for (uint32_t k = 0; k < 3; k++) clause[k] = 2 * VARS / 3 * k + (iso_lit)unit_below(&random, 2 * VARS / 3);
    assert_ok(iso_solver_clause(solver, clause, 3, NULL));
  }
  assert_ok(iso_solver_solve(solver, NULL, 0, &limits, &answer, NULL));
  const iso_solver_stats *stats = iso_solver_statistics(solver);
  assert_true(stats->reductions > 0 && stats->restarts > 10 && stats->deleted > 100 && stats->minimized_literals > 100);
  iso_solver_free(solver);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_formulas),
#ifdef HAVE_PICOSAT
      cmocka_unit_test(in_steps_with_assumptions),
#endif
      cmocka_unit_test(many_conflicts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
