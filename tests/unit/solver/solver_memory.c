/* The solver when memory runs out: every allocation fails once, the call is repeated, and the answer is the same.
 * This program has its own versions of all functions of base/vector.h, so that the linker leaves out those of the
 * library. */
#include "tests/unit/solver/solver_problem.h"

#include "base/vector.h"
#include "solver/solver_internal.h"

/* Counts down to the allocation that fails; 0 is none. */
static uint64_t countdown;

static bool fails(void) { return countdown > 0 && --countdown == 0; }

void *iso_alloc(size_t count, size_t size) { return fails() ? NULL : malloc(count * size + 1); }
void *iso_alloc_zero(size_t count, size_t size) { return fails() ? NULL : calloc(count + 1, size); }
void *iso_realloc(void *old, size_t count, size_t size) { return fails() ? NULL : realloc(old, count * size + 1); }

bool iso_vec_grow(void **items, size_t *capacity, size_t needed, size_t size) {
  /* No more than needed: more allocations that can fail. */
  void *moved = iso_realloc(*items, needed, size);
  if (moved == NULL) return false;
  *items = moved;
  *capacity = needed;
  return true;
}

/* Whether a call failed for want of memory, once; anything else wrong fails the test. */
static bool out_of_memory(isoproof_status status, bool *failed) {
  if (status == ISOPROOF_OK) return false;
  assert_int_equal(status, ISOPROOF_ERR_MEMORY);
  assert_int_equal(countdown, 0);
  assert_false(*failed);
  *failed = true;
  return true;
}

#define again(call)                                                                                                    \
  while (out_of_memory(call, &failed)) continue

static void give_vars(const problem *p, iso_solver *solver, bool *out) {
  bool failed = *out;
  for (uint32_t i = 0; i < p->fixed_count; i++) {
    again(iso_solver_fixed_edge(solver, p->fixed[i][0], p->fixed[i][1], NULL));
  }
  for (uint32_t i = 0; i < p->vars; i++) {
    iso_lit literal = ISO_LIT_NONE;
    if (i < p->edges) {
      again(iso_solver_edge(solver, p->edge[i][0], p->edge[i][1], &literal, NULL));
    } else {
      again(iso_solver_var(solver, &literal, NULL));
    }
    assert_int_equal(literal, 2 * i);
  }
  *out = failed;
}

static void give_clauses(const problem *p, iso_solver *solver, uint32_t from, uint32_t to, bool *out) {
  bool failed = *out;
  for (uint32_t i = from; i < to; i++) {
    iso_lit literals[2 * PROBLEM_VARS];
    size_t count = 0;
    for (uint32_t k = 0; k < p->vars; k++) {
      if ((p->clauses[i].positive >> k & 1) != 0) literals[count++] = 2 * k;
      if ((p->clauses[i].negative >> k & 1) != 0) literals[count++] = 2 * k + 1;
    }
    again(iso_solver_clause(solver, literals, count, NULL));
  }
  *out = failed;
}

/* Solves half of the problem and then all of it, with one allocation failing.  Returns false when there were fewer. */
static bool solve_with_failure(const problem *p, uint64_t number, bool expected) {
  iso_solver *solver = NULL;
  iso_solver_answer answer;
  iso_lit assumption = 0;
  bool failed = false;
  countdown = number;
  again(iso_solver_new(p->nodes, &solver, NULL));
  solver->graph.resort_least = 0; /* the graph is sorted again when an edge comes */
  give_vars(p, solver, &failed);
  give_clauses(p, solver, 0, p->clause_count / 2, &failed);
  again(iso_solver_solve(solver, &assumption, 1, NULL, &answer, NULL));
  uint32_t node;
  again(iso_solver_node(solver, &node, NULL));
  again(iso_solver_fixed_edge(solver, node, 0, NULL));
  give_clauses(p, solver, p->clause_count / 2, p->clause_count, &failed);
  again(iso_solver_solve(solver, NULL, 0, NULL, &answer, NULL));
  countdown = 0;
  assert_int_equal(answer, expected ? ISO_SOLVER_SAT : ISO_SOLVER_UNSAT);
  iso_solver_free(solver);
  return failed;
}

static void every_allocation_fails_once(void **state) {
  (void)state;
  uint64_t random = 1234, failures = 0;
  for (int i = 0; i < 60; i++) {
    problem p;
    countdown = 0;
    problem_draw(&random, &p);
    bool expected = problem_solvable(&p, 0, 0);
    uint64_t number = 1;
    while (solve_with_failure(&p, number, expected)) number++;
    failures += number - 1;
  }
  assert_true(failures > 1000);
}

/* Reductions, watches that move and learned clauses meet failures too. */
static void a_long_search_fails_anywhere(void **state) {
  (void)state;
  enum { VARS = 90, CLAUSES = 384 };
  for (uint64_t number = 1; number < 4000; number = number * 5 / 4 + 1) {
    uint64_t random = 77;
    iso_solver *solver;
    iso_solver_answer answer;
    iso_lit literal;
    bool failed = false;
    countdown = 0;
    assert_ok(iso_solver_new(0, &solver, NULL));
    for (uint32_t i = 0; i < VARS; i++) assert_ok(iso_solver_var(solver, &literal, NULL));
    for (uint32_t i = 0; i < CLAUSES; i++) {
      iso_lit clause[3];
      for (uint32_t k = 0; k < 3; k++) clause[k] = 2 * VARS / 3 * k + (iso_lit)unit_below(&random, 2 * VARS / 3);
      assert_ok(iso_solver_clause(solver, clause, 3, NULL));
    }
    countdown = number;
    again(iso_solver_solve(solver, NULL, 0, NULL, &answer, NULL));
    static iso_solver_answer first;
    if (number == 1) first = answer;
    assert_int_equal(answer, first);
    iso_solver_free(solver);
  }
  countdown = 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_fails_once),
      cmocka_unit_test(a_long_search_fails_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
