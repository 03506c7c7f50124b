/* Counterexample-guided refinement of a sequence: what it breaks becomes clauses, a solution moves its events. */
#include "check/strong/refine.h"

#include <stdlib.h>
#include <string.h>

#include "check/strong/solver_events.h"
#include "solver/solver.h"

void iso_refinement_free(iso_refinement *r) { iso_requirements_free(&r->all); }

/* An edge that some requirement asks for, once. */
typedef struct {
  uint32_t from, to; /* events */
  iso_lit literal;
} wanted_edge;

typedef struct {
  iso_event_graph *e;
  iso_sequence *s;
  const iso_event_clocks *clocks;
  iso_solver *solver;
  uint32_t solver_nodes;
  iso_solver_events nodes;
  iso_requirements all;
  ISO_VEC(wanted_edge) wanted;
  uint32_t variables;
  ISO_VEC(iso_lit) clause;
} refiner;

static isoproof_status take_known(void *context, uint32_t from, uint32_t to, isoproof_error *error) {
  refiner *r = context;
  while (r->solver_nodes < r->nodes.event.count) {
    uint32_t node;
    ISO_TRY(iso_solver_node(r->solver, &node, error));
    r->solver_nodes++;
  }
  return iso_solver_fixed_edge(r->solver, from, to, error);
}

static isoproof_status node_of(refiner *r, uint32_t event, uint32_t *node, isoproof_error *error) {
  bool is_new;
  ISO_TRY(iso_solver_event(&r->nodes, event, take_known, r, node, &is_new, error));
  while (r->clocks != NULL && r->solver_nodes < r->nodes.event.count) {
    uint32_t made;
    ISO_TRY(iso_solver_node(r->solver, &made, error));
    r->solver_nodes++;
  }
  return ISOPROOF_OK;
}

/* Without clocks the solver gets the whole graph. */
static isoproof_status add_known_graph(refiner *r, isoproof_error *error) {
  for (uint32_t i = 0; i < r->s->count; i++) {
    uint32_t event = r->s->event[i], before;
    uint64_t at = 0;
    while ((before = iso_next_before(r->e, event, &at)) != ISO_NO_EVENT) {
      ISO_TRY(iso_solver_fixed_edge(r->solver, before, event, error));
    }
  }
  return iso_solver_hint(r->solver, r->s->event, r->s->count, error);
}

static isoproof_status want_edge(refiner *r, iso_event_edge edge, iso_lit *literal, isoproof_error *error) {
  uint32_t from, to;
  ISO_TRY(node_of(r, edge.from, &from, error));
  ISO_TRY(node_of(r, edge.to, &to, error));
  ISO_TRY(iso_solver_edge(r->solver, from, to, literal, error));
  if (iso_lit_var(*literal) < r->variables) return ISOPROOF_OK;
  r->variables = iso_lit_var(*literal) + 1;
  return iso_vec_push(&r->wanted, ((wanted_edge){edge.from, edge.to, *literal})) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* How far an edge would move events of the sequence. */
static uint32_t effort(const refiner *r, iso_event_edge edge) {
  uint32_t from = r->s->place[edge.from], to = r->s->place[edge.to];
  return from > to ? from - to : 0;
}

/* Hands requirement i to the solver, with a preference for the edge that moves the least. */
static isoproof_status add_requirement(refiner *r, size_t i, isoproof_error *error) {
  const iso_requirements *q = &r->all;
  size_t end = i + 1 < q->first.count ? q->first.items[i + 1] : q->edges.count;
  uint32_t least = UINT32_MAX;
  size_t best = 0;
  r->clause.count = 0;
  for (size_t k = q->first.items[i]; k < end; k++) {
    iso_lit literal;
    ISO_TRY(want_edge(r, q->edges.items[k], &literal, error));
    uint32_t moves = effort(r, q->edges.items[k]);
    if (moves < least) least = moves, best = r->clause.count;
    if (!iso_vec_push(&r->clause, literal)) return iso_fail_memory(error);
  }
  for (size_t k = 0; k < r->clause.count; k++) {
    iso_solver_phase(r->solver, k == best ? r->clause.items[k] : iso_lit_not(r->clause.items[k]));
  }
  return iso_solver_clause(r->solver, r->clause.items, r->clause.count, error);
}

/* Moves the events of the sequence so that it fits the solution. */
static isoproof_status apply_solution(refiner *r, isoproof_task *task, isoproof_error *error) {
  uint32_t first = (uint32_t)r->e->derived.count;
  bool cyclic = false;
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < r->wanted.count && status == ISOPROOF_OK; i++) {
    const wanted_edge *w = &r->wanted.items[i];
    if (!iso_solver_value(r->solver, w->literal)) continue;
    status = iso_event_graph_add(r->e, (iso_derived){.from = w->from, .to = w->to, .reason = ISO_CHOSEN}, error);
  }
  if (status == ISOPROOF_OK) status = iso_sequence_repair(r->e, first, r->s, NULL, &cyclic, task, error);
  iso_event_graph_drop(r->e, first);
  if (status == ISOPROOF_OK && cyclic) return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a solution is cyclic");
  return status;
}

/* Requirements handed to the solver between two questions to the task: one may link two nodes with every chain. */
enum { REQUIREMENTS_PER_LOOK = 64 };

static isoproof_status run(refiner *r, const iso_examination *examination, iso_refine_limits most, iso_refinement *out,
                           isoproof_error *error) {
  isoproof_task *task = examination->task;
  const iso_solver_stats *stats = iso_solver_statistics(r->solver);
  for (;;) {
    uint64_t broken;
    size_t before = r->all.first.count;
    ISO_TRY(examination->rule->examine(examination, r->s, &r->all, &broken, error));
    if (broken == 0) {
      out->outcome = ISO_REFINED_EXPLAINED;
      return ISOPROOF_OK;
    }
    if (most.broken > 0 && broken > most.broken) return ISOPROOF_OK;
    out->rounds++;
    iso_task_progress(task, "refining", "orders", r->all.first.count, 0);
    for (size_t i = before; i < r->all.first.count; i++) {
      if (i % REQUIREMENTS_PER_LOOK == 0) ISO_TRY(iso_task_check(task, error));
      ISO_TRY(add_requirement(r, i, error));
    }
    iso_solver_answer answer;
    iso_solver_limits limits = {.task = task};
    if (most.conflicts > 0) {
      if (stats->conflicts >= most.conflicts) return ISOPROOF_OK;
      limits.conflicts = most.conflicts - stats->conflicts;
    }
    ISO_TRY(iso_solver_solve(r->solver, NULL, 0, &limits, &answer, error));
    if (answer == ISO_SOLVER_UNSAT) out->outcome = ISO_REFINED_REFUTED;
    if (answer != ISO_SOLVER_SAT) return ISOPROOF_OK;
    ISO_TRY(apply_solution(r, task, error));
  }
}

isoproof_status iso_refine(const iso_examination *examination, iso_sequence *sequence, const iso_event_clocks *clocks,
                           iso_refine_limits limits, iso_refinement *out, isoproof_error *error) {
  iso_event_graph *events = examination->events;
  memset(out, 0, sizeof *out);
  refiner r = {.e = events, .s = sequence, .clocks = clocks};
  r.solver_nodes = clocks == NULL ? events->count : 0;
  isoproof_status status = iso_solver_events_make(events, clocks, &r.nodes, error);
  if (status == ISOPROOF_OK) status = iso_solver_new(r.solver_nodes, &r.solver, error);
  if (status == ISOPROOF_OK && clocks == NULL) status = add_known_graph(&r, error);
  if (status == ISOPROOF_OK) status = run(&r, examination, limits, out, error);
  if (r.solver != NULL) {
    out->decisions = iso_solver_statistics(r.solver)->decisions;
    out->conflicts = iso_solver_statistics(r.solver)->conflicts;
  }
  iso_solver_free(r.solver);
  iso_solver_events_free(&r.nodes);
  out->all = r.all;
  iso_vec_free(&r.wanted);
  iso_vec_free(&r.clause);
  if (status != ISOPROOF_OK) iso_refinement_free(out);
  return status;
}
