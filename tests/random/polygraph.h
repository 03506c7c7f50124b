/* polygraph.h - random problems of the kind that checking serializability gives: transactions in a hidden order, the
 * dependencies that are known as fixed edges, and for two writers of a key that are close to each other the choice
 * which one came first.
 *
 * A polygraph owns its lists until polygraph_free. */
#ifndef ISO_TESTS_POLYGRAPH_H
#define ISO_TESTS_POLYGRAPH_H

#include "base/vector.h"
#include "solver/solver.h"

typedef struct {
  uint32_t txns, sessions, keys, ops;
  uint32_t window;         /* writers farther apart than this in the hidden order are in a known order */
  uint32_t contradictions; /* lost updates to put in: any of them makes the problem unsatisfiable */
  uint32_t stale;          /* of 1000 reads, how many read the version before the last, which may have no solution */
  uint64_t seed;
} polygraph_spec;

typedef struct {
  uint32_t from, to;
} polygraph_edge;

/* At least one of the two edges is there. */
typedef struct {
  polygraph_edge either, other;
} polygraph_choice;

typedef struct {
  uint32_t txns; /* numbered session by session */
  ISO_VEC(polygraph_edge) fixed;
  ISO_VEC(polygraph_choice) choices;
  uint32_t *hidden; /* the transactions in their hidden order */
} polygraph;

/* False when memory is out. */
bool polygraph_make(const polygraph_spec *spec, polygraph *p);
void polygraph_free(polygraph *p);
/* Makes a solver of it; `hint` tells it the hidden order. */
isoproof_status polygraph_solver(const polygraph *p, bool hint, iso_solver **solver, isoproof_error *error);
/* Whether the order of a solver that answered SAT respects everything. */
bool polygraph_solved(const polygraph *p, iso_solver *solver);

#endif
