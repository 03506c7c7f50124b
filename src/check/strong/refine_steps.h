/* refine_steps.h - the solver behind a refinement, step by step: events, the edges that are asked for, a solution.
 *
 * A refiner owns its solver and its tables until iso_refiner_free and refers to the rest.
 */
#ifndef ISO_CHECK_STRONG_REFINE_STEPS_H
#define ISO_CHECK_STRONG_REFINE_STEPS_H

#include "check/strong/execute.h"
#include "check/strong/solver_events.h"

/* An edge that some requirement asks for, once. */
typedef struct iso_wanted_edge {
  uint32_t from, to; /* events */
  iso_lit literal;
} iso_wanted_edge;

typedef struct iso_refiner {
  iso_event_graph *e;
  iso_sequence *s;
  const iso_event_clocks *clocks;
  iso_solver *solver;
  uint32_t solver_nodes;
  iso_solver_events nodes;
  iso_requirements all;
  ISO_VEC(iso_wanted_edge) wanted;
  uint32_t edge_variables; /* behind the last variable that is known to be one of `wanted` */
  ISO_VEC(iso_lit) clause;
} iso_refiner;

/* A solver for the events.  Without `clocks` it gets the whole graph. */
isoproof_status iso_refiner_make(iso_event_graph *events, iso_sequence *sequence, const iso_event_clocks *clocks,
                                 iso_refiner *refiner, isoproof_error *error);
void iso_refiner_free(iso_refiner *refiner);
/* The literal of an edge between two events. */
isoproof_status iso_refiner_edge(iso_refiner *refiner, iso_event_edge edge, iso_lit *literal, isoproof_error *error);
/* How far an edge would move events of the sequence. */
uint32_t iso_refiner_effort(const iso_refiner *refiner, iso_event_edge edge);
/* Hands requirement `number` of `all` to the solver, with a preference for the edge that moves the least. */
isoproof_status iso_refiner_require(iso_refiner *refiner, size_t number, isoproof_error *error);
/* Moves the events of the sequence so that it fits the solution. */
isoproof_status iso_refiner_apply(iso_refiner *refiner, isoproof_task *task, isoproof_error *error);

#endif
