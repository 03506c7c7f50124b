/* Small random problems for the solver, and a judge that tries every assignment. */
#include "tests/unit/solver/solver_problem.h"

#include "solver/solver_internal.h"

static uint32_t below(uint64_t *random, uint32_t bound) { return (uint32_t)unit_below(random, bound); }

static void draw_pair(uint64_t *random, const problem *p, bool forward, uint32_t pair[2]) {
  do {
    pair[0] = below(random, p->nodes);
    pair[1] = below(random, p->nodes);
  } while (pair[0] == pair[1] && below(random, 50) != 0);
  if (forward && pair[0] > pair[1]) {
    uint32_t larger = pair[0];
    pair[0] = pair[1];
    pair[1] = larger;
  }
}

static bool has_edge(const problem *p, const uint32_t pair[2]) {
  for (uint32_t i = 0; i < p->edges; i++) {
    if (p->edge[i][0] == pair[0] && p->edge[i][1] == pair[1]) return true;
  }
  return false;
}

problem_clause problem_draw_clause(uint64_t *random, const problem *p) {
  problem_clause clause = {0, 0};
  uint32_t size = below(random, 20) == 0 ? 1 : 2 + below(random, 2) * below(random, 4);
  bool only_positive = below(random, 3) > 0;
  for (uint32_t i = 0; i < size; i++) {
    uint32_t bit = UINT32_C(1) << below(random, p->vars);
    if (only_positive || below(random, 2) == 0) {
      clause.positive |= bit;
    } else {
      clause.negative |= bit;
    }
  }
  return clause;
}

void problem_draw(uint64_t *random, problem *p) {
  memset(p, 0, sizeof *p);
  p->nodes = 2 + below(random, PROBLEM_NODES - 1);
  /* Mostly forward, so that they have a cycle only now and then. */
  uint32_t fixed = below(random, PROBLEM_FIXED), wanted = 1 + below(random, 11), plain = below(random, 3);
  for (uint32_t tries = 0; tries < fixed; tries++) {
    uint32_t *pair = p->fixed[p->fixed_count];
    draw_pair(random, p, below(random, 200) != 0, pair);
    if (pair[0] != pair[1]) p->fixed_count++;
  }
  for (uint32_t tries = 0; p->edges < wanted && tries < 100; tries++) {
    draw_pair(random, p, false, p->edge[p->edges]);
    if (!has_edge(p, p->edge[p->edges])) p->edges++;
  }
  p->vars = p->edges + plain;
  uint32_t clauses = below(random, 4 * p->vars);
  for (; p->clause_count < clauses; p->clause_count++) p->clauses[p->clause_count] = problem_draw_clause(random, p);
}

/* Takes away nodes without successors until none is left, or a cycle. */
static bool is_acyclic(const uint32_t successors[PROBLEM_NODES], uint32_t nodes) {
  uint32_t left = (UINT32_C(1) << nodes) - 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < nodes; i++) {
      if ((left >> i & 1) == 0 || (successors[i] & left) != 0) continue;
      left &= ~(UINT32_C(1) << i);
      changed = true;
    }
  }
  return left == 0;
}

bool problem_holds(const problem *p, uint32_t truth) {
  uint32_t successors[PROBLEM_NODES] = {0};
  for (uint32_t i = 0; i < p->clause_count; i++) {
    if (((p->clauses[i].positive & truth) | (p->clauses[i].negative & ~truth)) == 0) return false;
  }
  for (uint32_t i = 0; i < p->fixed_count; i++) successors[p->fixed[i][0]] |= UINT32_C(1) << p->fixed[i][1];
  for (uint32_t i = 0; i < p->edges; i++) {
    if ((truth >> i & 1) != 0) successors[p->edge[i][0]] |= UINT32_C(1) << p->edge[i][1];
  }
  return is_acyclic(successors, p->nodes);
}

bool problem_solvable(const problem *p, uint32_t mask, uint32_t wanted) {
  for (uint32_t truth = 0; truth >> p->vars == 0; truth++) {
    if (((truth ^ wanted) & mask) == 0 && problem_holds(p, truth)) return true;
  }
  return false;
}

static void give_clause(const problem *p, iso_solver *solver, problem_clause clause) {
  iso_lit literals[2 * PROBLEM_VARS];
  size_t count = 0;
  for (uint32_t i = 0; i < p->vars; i++) {
    if ((clause.positive >> i & 1) != 0) literals[count++] = 2 * i;
    if ((clause.negative >> i & 1) != 0) literals[count++] = 2 * i + 1;
  }
  isoproof_error error;
  assert_ok_error(iso_solver_clause(solver, literals, count, &error), error);
}

void problem_give(const problem *p, iso_solver *solver, uint32_t fixed_from, uint32_t vars_from,
                  uint32_t clauses_from) {
  isoproof_error error;
  for (uint32_t i = fixed_from; i < p->fixed_count; i++) {
    assert_ok_error(iso_solver_fixed_edge(solver, p->fixed[i][0], p->fixed[i][1], &error), error);
  }
  for (uint32_t i = vars_from; i < p->vars; i++) {
    iso_lit literal, again;
    if (i < p->edges) {
      assert_ok_error(iso_solver_edge(solver, p->edge[i][0], p->edge[i][1], &literal, &error), error);
      assert_ok_error(iso_solver_edge(solver, p->edge[i][0], p->edge[i][1], &again, &error), error);
      assert_int_equal(literal, again);
    } else {
      assert_ok_error(iso_solver_var(solver, &literal, &error), error);
    }
    assert_int_equal(literal, 2 * i);
  }
  for (uint32_t i = clauses_from; i < p->clause_count; i++) give_clause(p, solver, p->clauses[i]);
}

iso_solver *problem_solver(const problem *p) {
  iso_solver *solver;
  isoproof_error error;
  assert_ok_error(iso_solver_new(p->nodes, &solver, &error), error);
  problem_give(p, solver, 0, 0, 0);
  return solver;
}

void problem_vary(uint64_t *random, iso_solver *solver) {
  if (below(random, 2) == 0) solver->longest_jump = below(random, 3);
  if (below(random, 2) == 0) solver->reach_credit = below(random, 100);
  if (below(random, 2) == 0) solver->graph.resort_least = below(random, 3);
}

static void check_order(const iso_solver *solver, const uint32_t pair[2]) {
  if (!iso_solver_before(solver, pair[0], pair[1])) fail_msg("the order puts %u after %u", pair[0], pair[1]);
}

void problem_check_model(const problem *p, iso_solver *solver) {
  uint32_t truth = 0;
  for (uint32_t i = 0; i < p->vars; i++) {
    assert_true(iso_solver_value(solver, 2 * i) != iso_solver_value(solver, 2 * i + 1));
    if (iso_solver_value(solver, 2 * i)) truth |= UINT32_C(1) << i;
  }
  assert_true(problem_holds(p, truth));
  for (uint32_t i = 0; i < p->nodes; i++) {
    for (uint32_t k = 0; k < i; k++) assert_true(iso_solver_before(solver, i, k) != iso_solver_before(solver, k, i));
  }
  for (uint32_t i = 0; i < p->fixed_count; i++) check_order(solver, p->fixed[i]);
  for (uint32_t i = 0; i < p->edges; i++) {
    if ((truth >> i & 1) != 0) check_order(solver, p->edge[i]);
  }
}
