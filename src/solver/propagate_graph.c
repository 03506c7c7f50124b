/* The theory of acyclic graphs, as in MonoSAT: edges enter as their literals become true, and literals of edges that
 * would close a cycle become false. */
#include "solver/solver_internal.h"

/* A search for edges that a new edge forbids looks at so many arcs each way, and at so many optional edges, as long as
 * there is credit; without, only the reverse of the new edge is considered.  Credit comes from cycles: where they are
 * rare, running into them is cheaper than preventing them.  In the cases `close` and `wide` of bench/solver the reverse
 * alone prevents a third of the cycles, 32 arcs nine tenths of them, and 128 arcs few more at three times the cost. */
enum { REACH_ARCS = 32, REACH_EDGES = 128, CYCLE_CREDIT = 1 << 14, MOST_CREDIT = 1 << 24 };

/* Explains a cycle: the edge of `literal` and those in graph->path cannot all be there. */
static void fill_conflict(iso_solver *s, iso_lit literal) {
  s->conflict[0] = iso_lit_not(literal);
  for (uint32_t i = 0; i < s->graph.path_count; i++) s->conflict[i + 1] = iso_lit_not(s->graph.path[i]);
  s->conflict_count = s->graph.path_count + 1;
  s->conflict_clause = ISO_NONE;
  if (s->reach_credit < MOST_CREDIT) s->reach_credit += CYCLE_CREDIT;
  s->stats.cycles++;
  s->stats.cycle_literals += s->conflict_count;
}

/* Makes the literal of an edge false that would close a cycle through the edge that `by` entered: from the tail of that
 * edge backward to the head of this one, and from its head forward to the tail of this one. */
static isoproof_status forbid(iso_solver *s, const iso_dag_edge *edge, iso_lit by, isoproof_error *error) {
  iso_dag *graph = &s->graph;
  uint32_t at = (uint32_t)s->reasons.count;
  graph->path_count = 0;
  iso_dag_search_trace(graph, edge->from);
  iso_dag_search_trace(graph, edge->to);
  uint32_t count = graph->path_count + 1;
  if (s->reasons.count + count + 1 >= UINT32_MAX) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "reasons of more than 2^32 literals in total");
  }
  if (!iso_vec_reserve(&s->reasons, (size_t)count + 1)) return iso_fail_memory(error);
  iso_lit *reason = s->reasons.items + at;
  reason[0] = count;
  reason[1] = iso_lit_not(by);
  for (uint32_t i = 0; i < graph->path_count; i++) reason[i + 2] = iso_lit_not(graph->path[i]);
  uint32_t level = iso_sat_level_of(s, reason + 1, count);
  if (level > 0) s->reasons.count += (size_t)count + 1;
  iso_sat_assign(s, iso_lit_not(edge->literal), level, ISO_REASON_GRAPH, at);
  s->stats.forced++;
  return ISOPROOF_OK;
}

/* Searches both ways from an edge, while there is credit. */
static void reach(iso_solver *s, const iso_dag_edge *edge) {
  iso_dag *graph = &s->graph;
  iso_dag_search_begin(graph, edge->to, edge->from);
  if (s->reach_credit == 0) return;
  for (unsigned direction = ISO_FORWARD; direction <= ISO_BACKWARD; direction++) {
    const iso_dag_side *side = &graph->side[direction];
    while (iso_dag_search_more(graph, direction) && side->cost + iso_dag_search_degree(graph, direction) < REACH_ARCS) {
      iso_dag_search_expand(graph, direction, 0, UINT64_MAX);
    }
  }
  s->stats.reaches++;
  s->stats.reach_arcs += graph->side[ISO_FORWARD].cost + graph->side[ISO_BACKWARD].cost;
}

/* Makes the literals of edges false that an entered edge forbids, as far as the credit lets it see. */
static isoproof_status forbid_all(iso_solver *s, uint32_t entered, iso_lit by, isoproof_error *error) {
  const iso_dag *graph = &s->graph;
  const iso_dag_side *side = &graph->side[ISO_FORWARD];
  const iso_dag_edge *edges = graph->edges.items;
  reach(s, &edges[entered]);
  /* The edge between the same nodes the other way round is the likeliest, and others may hide it in a long list. */
  uint32_t reverse = iso_dag_find(graph, edges[entered].to, edges[entered].from), looked = 0;
  if (reverse != ISO_NONE && s->value[edges[reverse].literal] == 0) ISO_TRY(forbid(s, &edges[reverse], by, error));
  for (uint32_t i = 0; s->reach_credit > 0 && i < side->found_count; i++) {
    uint32_t e = graph->nodes.items[side->found[i]].optional_out;
    for (; e != ISO_NONE && looked < REACH_EDGES; e = edges[e].next_optional) {
      looked++;
      if (s->value[edges[e].literal] != 0 || !iso_dag_search_found_backward(graph, edges[e].to)) continue;
      ISO_TRY(forbid(s, &edges[e], by, error));
    }
  }
  uint64_t spent = side->cost + graph->side[ISO_BACKWARD].cost + looked;
  s->reach_credit -= spent < s->reach_credit ? spent : s->reach_credit;
  return ISOPROOF_OK;
}

isoproof_status iso_sat_propagate_graph(iso_solver *s, bool *conflict, isoproof_error *error) {
  while (s->graph_head < s->trail_count) {
    iso_lit literal = s->trail[s->graph_head];
    uint32_t number = s->edge[iso_lit_var(literal)];
    if ((literal & 1) != 0 || number == ISO_NONE) {
      s->graph_head++;
      continue;
    }
    if (!iso_dag_enter(&s->graph, number, iso_var_of(s, literal)->level == 0)) {
      fill_conflict(s, literal);
      *conflict = true;
      return ISOPROOF_OK;
    }
    s->graph_head++;
    uint32_t before = s->trail_count;
    ISO_TRY(forbid_all(s, number, literal, error));
    if (s->trail_count > before) return ISOPROOF_OK;
  }
  return ISOPROOF_OK;
}
