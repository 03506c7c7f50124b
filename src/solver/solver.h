/* solver.h - satisfiability of clauses, some of whose literals are edges of a directed graph that must stay acyclic:
 * conflict-driven clause learning (CDCL) modulo a theory of acyclic graphs.
 *
 * A solver owns everything that it was given and everything that it hands out until iso_solver_free.
 *
 * Literals of plain variables and of edges mix freely in clauses.  A true edge literal puts its edge into the graph; a
 * false one means nothing to the graph.  Fixed edges are always there.  Between two calls of iso_solver_solve, nodes,
 * edges, variables and clauses may be added; what was learned stays.  Nothing can be taken away: what is meant for one
 * call only is an assumption.  Adding is O(1) amortized per node, edge and variable, and linear per clause, unless
 * something else is said.  A solver belongs to one thread at a time. */
#ifndef ISO_SOLVER_SOLVER_H
#define ISO_SOLVER_SOLVER_H

#include "base/error.h"

typedef struct iso_solver iso_solver;

/* 2 * variable + sign, where sign 1 is the negation. */
typedef uint32_t iso_lit;

#define ISO_LIT_NONE UINT32_MAX

static inline iso_lit iso_lit_not(iso_lit literal) { return literal ^ 1; }
static inline uint32_t iso_lit_var(iso_lit literal) { return literal >> 1; }

/* More nodes, variables or edges than this are ISOPROOF_ERR_LIMIT. */
enum { ISO_SOLVER_MOST = 1 << 30 };

typedef enum iso_solver_answer { ISO_SOLVER_UNKNOWN, ISO_SOLVER_SAT, ISO_SOLVER_UNSAT } iso_solver_answer;

typedef struct iso_solver_limits {
  uint64_t conflicts;        /* of this call; 0 is no limit.  Beyond them the answer is ISO_SOLVER_UNKNOWN. */
  const isoproof_task *task; /* may be NULL */
} iso_solver_limits;

/* Statistics: name, what it counts, summed over all calls. */
#define ISO_SOLVER_STATS(X)                                                                                            \
  X(solves, "calls of solve")                                                                                          \
  X(decisions, "literals chosen")                                                                                      \
  X(propagations, "assignments propagated through clauses")                                                            \
  X(conflicts, "conflicts of clauses and cycles")                                                                      \
  X(cycles, "conflicts that are cycles")                                                                               \
  X(cycle_literals, "literals in the clauses made of cycles")                                                          \
  X(restarts, "restarts")                                                                                              \
  X(learned, "clauses learned")                                                                                        \
  X(learned_literals, "literals in them")                                                                              \
  X(minimized_literals, "literals that minimisation took out of them")                                                 \
  X(reductions, "times that learned clauses were thinned out")                                                         \
  X(deleted, "learned clauses deleted")                                                                                \
  X(entered, "edges that entered the graph")                                                                           \
  X(against, "of these, edges against the order at that moment")                                                       \
  X(arcs, "arcs looked at in searches for cycles")                                                                     \
  X(moved, "nodes moved within the order")                                                                             \
  X(relabelled, "nodes relabelled to make room for others")                                                            \
  X(reaches, "searches for edges that an edge forbids")                                                                \
  X(reach_arcs, "arcs looked at in them")                                                                              \
  X(forced, "edge literals made false by them")

typedef struct iso_solver_stats {
#define ISO_SOLVER_X(name, text) uint64_t name;
  ISO_SOLVER_STATS(ISO_SOLVER_X)
#undef ISO_SOLVER_X
} iso_solver_stats;

/* A solver whose graph has nodes 0 to `nodes` - 1 and no edges. */
isoproof_status iso_solver_new(uint32_t nodes, iso_solver **solver, isoproof_error *error);
void iso_solver_free(iso_solver *solver);

/* Adds one node. */
isoproof_status iso_solver_node(iso_solver *solver, uint32_t *node, isoproof_error *error);
/* Nodes in an order that probably fits the fixed edges and the solution; those left out come where they fit.  Means
 * something only before the first solve.  Copied. */
isoproof_status iso_solver_hint(iso_solver *solver, const uint32_t *order, size_t count, isoproof_error *error);
/* An edge that is always there.  The graph is sorted at the next solve, or the new edges enter the order that there is
 * when they are few.  A cycle of fixed edges is not an error here: it makes the problem unsatisfiable. */
isoproof_status iso_solver_fixed_edge(iso_solver *solver, uint32_t from, uint32_t to, isoproof_error *error);
/* A new plain variable, as its positive literal. */
isoproof_status iso_solver_var(iso_solver *solver, iso_lit *literal, isoproof_error *error);
/* The literal whose truth puts the edge into the graph; the same pair of nodes gives the same literal. */
isoproof_status iso_solver_edge(iso_solver *solver, uint32_t from, uint32_t to, iso_lit *literal,
                                isoproof_error *error);
/* At least one of the literals is true; none at all makes the problem unsatisfiable. */
isoproof_status iso_solver_clause(iso_solver *solver, const iso_lit *literals, size_t count, isoproof_error *error);
/* The value to try first for the variable of the literal: the one that makes it true.  Without this, an edge is tried
 * as it fits the order of the graph at that moment, a plain variable false first. */
void iso_solver_phase(iso_solver *solver, iso_lit preferred);

/* Looks for an assignment that satisfies all clauses and all assumptions and leaves the graph acyclic.  `limits` may be
 * NULL.  Within the limits the answer is SAT or UNSAT.  A cancelled or late task is ISOPROOF_ERR_CANCELLED or
 * ISOPROOF_ERR_TIMEOUT with the answer UNKNOWN; after any failure the solver can be used on.  Exponential at worst: the
 * problem is NP-complete. */
isoproof_status iso_solver_solve(iso_solver *solver, const iso_lit *assumptions, size_t count,
                                 const iso_solver_limits *limits, iso_solver_answer *answer, isoproof_error *error);

/* After SAT, until the next solve: whether a literal is true.  Variables made since then are false. */
bool iso_solver_value(const iso_solver *solver, iso_lit literal);
/* After UNSAT, until the next solve: the failed assumptions, a subset of those given that cannot all hold, not always a
 * smallest one; none when there is no solution without assumptions either. */
size_t iso_solver_core(const iso_solver *solver, const iso_lit **core);

const iso_solver_stats *iso_solver_statistics(const iso_solver *solver);

#endif
