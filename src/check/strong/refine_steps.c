/* Events as nodes of a solver, requirements as its clauses, and its solution as moves of a sequence. */
#include "check/strong/refine_steps.h"

#include <stdlib.h>
#include <string.h>

static isoproof_status take_known(void *context, uint32_t from, uint32_t to, isoproof_error *error) {
  iso_refiner *r = context;
  while (r->solver_nodes < r->nodes.event.count) {
    uint32_t node;
    ISO_TRY(iso_solver_node(r->solver, &node, error));
    r->solver_nodes++;
  }
  return iso_solver_fixed_edge(r->solver, from, to, error);
}

static isoproof_status node_of(iso_refiner *r, uint32_t event, uint32_t *node, isoproof_error *error) {
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
static isoproof_status add_known_graph(iso_refiner *r, isoproof_error *error) {
  for (uint32_t i = 0; i < r->s->count; i++) {
    uint32_t event = r->s->event[i], before;
    uint64_t at = 0;
    while ((before = iso_next_before(r->e, event, &at)) != ISO_NO_EVENT) {
      ISO_TRY(iso_solver_fixed_edge(r->solver, before, event, error));
    }
  }
  return iso_solver_hint(r->solver, r->s->event, r->s->count, error);
}

isoproof_status iso_refiner_edge(iso_refiner *r, iso_event_edge edge, iso_lit *literal, isoproof_error *error) {
  uint32_t from, to;
  ISO_TRY(node_of(r, edge.from, &from, error));
  ISO_TRY(node_of(r, edge.to, &to, error));
  ISO_TRY(iso_solver_edge(r->solver, from, to, literal, error));
  if (iso_lit_var(*literal) < r->edge_variables) return ISOPROOF_OK;
  r->edge_variables = iso_lit_var(*literal) + 1;
  return iso_vec_push(&r->wanted, ((iso_wanted_edge){edge.from, edge.to, *literal})) ? ISOPROOF_OK
                                                                                     : iso_fail_memory(error);
}

uint32_t iso_refiner_effort(const iso_refiner *r, iso_event_edge edge) {
  uint32_t from = r->s->place[edge.from], to = r->s->place[edge.to];
  return from > to ? from - to : 0;
}

isoproof_status iso_refiner_require(iso_refiner *r, size_t i, isoproof_error *error) {
  const iso_requirements *q = &r->all;
  size_t end = i + 1 < q->first.count ? q->first.items[i + 1] : q->edges.count;
  uint32_t least = UINT32_MAX;
  size_t best = 0;
  r->clause.count = 0;
  for (size_t k = q->first.items[i]; k < end; k++) {
    iso_lit literal;
    ISO_TRY(iso_refiner_edge(r, q->edges.items[k], &literal, error));
    uint32_t moves = iso_refiner_effort(r, q->edges.items[k]);
    if (moves < least) least = moves, best = r->clause.count;
    if (!iso_vec_push(&r->clause, literal)) return iso_fail_memory(error);
  }
  for (size_t k = 0; k < r->clause.count; k++) {
    iso_solver_phase(r->solver, k == best ? r->clause.items[k] : iso_lit_not(r->clause.items[k]));
  }
  return iso_solver_clause(r->solver, r->clause.items, r->clause.count, error);
}

isoproof_status iso_refiner_apply(iso_refiner *r, isoproof_task *task, isoproof_error *error) {
  uint32_t first = (uint32_t)r->e->derived.count;
  bool cyclic = false;
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < r->wanted.count && status == ISOPROOF_OK; i++) {
    const iso_wanted_edge *w = &r->wanted.items[i];
    if (!iso_solver_value(r->solver, w->literal)) continue;
    status = iso_event_graph_add(r->e, (iso_derived){.from = w->from, .to = w->to, .reason = ISO_CHOSEN}, error);
  }
  if (status == ISOPROOF_OK) status = iso_sequence_repair(r->e, first, r->s, NULL, &cyclic, task, error);
  iso_event_graph_drop(r->e, first);
  if (status == ISOPROOF_OK && cyclic) return iso_fail(error, ISOPROOF_ERR_INTERNAL, "a solution is cyclic");
  return status;
}

void iso_refiner_free(iso_refiner *r) {
  iso_solver_free(r->solver);
  iso_solver_events_free(&r->nodes);
  iso_requirements_free(&r->all);
  iso_vec_free(&r->wanted);
  iso_vec_free(&r->clause);
  memset(r, 0, sizeof *r);
}

isoproof_status iso_refiner_make(iso_event_graph *events, iso_sequence *sequence, const iso_event_clocks *clocks,
                                 iso_refiner *r, isoproof_error *error) {
  *r = (iso_refiner){.e = events, .s = sequence, .clocks = clocks};
  r->solver_nodes = clocks == NULL ? events->count : 0;
  isoproof_status status = iso_solver_events_make(events, clocks, &r->nodes, error);
  if (status == ISOPROOF_OK) status = iso_solver_new(r->solver_nodes, &r->solver, error);
  if (status == ISOPROOF_OK && clocks == NULL) status = add_known_graph(r, error);
  if (status != ISOPROOF_OK) iso_refiner_free(r);
  return status;
}
