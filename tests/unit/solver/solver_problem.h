/* solver_problem.h - small random problems for the solver, with a judge that tries every assignment.
 *
 * A problem owns nothing; a solver made of it belongs to the caller. */
#ifndef ISO_TESTS_SOLVER_PROBLEM_H
#define ISO_TESTS_SOLVER_PROBLEM_H

#include "tests/unit/unit.h"

#include "solver/solver.h"

enum { PROBLEM_NODES = 12, PROBLEM_FIXED = 24, PROBLEM_VARS = 16, PROBLEM_CLAUSES = 64 };

/* At least one variable of `positive` is true or one of `negative` false. */
typedef struct {
  uint32_t positive, negative;
} problem_clause;

/* The first `edges` variables are edges, the others plain. */
typedef struct {
  uint32_t nodes, fixed_count, edges, vars, clause_count;
  uint32_t fixed[PROBLEM_FIXED][2];
  uint32_t edge[PROBLEM_VARS][2];
  problem_clause clauses[PROBLEM_CLAUSES];
} problem;

void problem_draw(uint64_t *random, problem *p);
/* Draws one clause over the variables that there are. */
problem_clause problem_draw_clause(uint64_t *random, const problem *p);
/* Whether an assignment (a set of true variables) is a solution. */
bool problem_holds(const problem *p, uint32_t truth);
/* Whether there is a solution in which the variables of `mask` have the values `wanted`. */
bool problem_solvable(const problem *p, uint32_t mask, uint32_t wanted);

/* Hands a part of the problem to a solver: variables, fixed edges and clauses from these numbers on.  Literal 2 * i of
 * the solver is variable i. */
void problem_give(const problem *p, iso_solver *solver, uint32_t fixed_from, uint32_t vars_from, uint32_t clauses_from);
iso_solver *problem_solver(const problem *p);
/* Draws how far conflicts may jump back, how much is spent on forbidden edges, and when the graph is sorted again, so
 * that small problems see all of it. */
void problem_vary(uint64_t *random, iso_solver *solver);
/* Fails the test unless the model of the solver is a solution and its order topological. */
void problem_check_model(const problem *p, iso_solver *solver);

#endif
