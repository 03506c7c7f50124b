/* Writes the problem of a solver as DIMACS CNF with lines for the graph. */
#include "base/output.h"
#include "solver/solver_internal.h"

static void put_literal(iso_output *out, iso_lit literal) {
  if ((literal & 1) != 0) iso_out_char(out, '-');
  iso_out_u64(out, (uint64_t)iso_lit_var(literal) + 1);
  iso_out_char(out, ' ');
}

static void put_clause(iso_output *out, const iso_lit *literals, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) put_literal(out, literals[i]);
  iso_out_text(out, "0\n");
}

/* Writes the clauses, or only counts them when there is no output. */
static uint64_t put_clauses(const iso_solver *s, iso_output *out) {
  uint64_t count = s->trail_count;
  for (uint32_t i = 0; out != NULL && i < s->trail_count; i++) put_clause(out, &s->trail[i], 1);
  for (iso_lit literal = 0; literal < 2 * s->vars; literal++) {
    const iso_watches *list = &s->watches[literal];
    for (uint32_t i = 0; i < list->count; i++) {
      iso_lit both[2] = {literal, list->items[i].blocker};
      /* It is in two lists. */
      if (list->items[i].clause != ISO_BINARY_GIVEN || both[0] > both[1]) continue;
      if (out != NULL) put_clause(out, both, 2);
      count++;
    }
  }
  for (uint32_t at = 0; at < s->arena.count;) {
    const iso_clause *clause = iso_clause_at(s, at);
    at += ISO_CLAUSE_WORDS + clause->size;
    if (clause->glue > 0) continue;
    if (out != NULL) put_clause(out, clause->literals, clause->size);
    count++;
  }
  if (s->unsatisfiable) {
    if (out != NULL) put_clause(out, NULL, 0);
    count++;
  }
  return count;
}

static void put_graph(const iso_dag *graph, iso_output *out) {
  const iso_dag_node *nodes = graph->nodes.items;
  uint32_t count = iso_dag_nodes(graph);
  iso_out_printf(out, "g %u\n", count);
  for (uint32_t node = 0; graph->sorted && node < count; node++) {
    for (uint32_t i = nodes[node].fixed_out; i < nodes[node + 1].fixed_out; i++) {
      iso_out_printf(out, "f %u %u\n", node, graph->fixed_to[i]);
    }
  }
  for (size_t i = 0; i < graph->pending.count; i++) {
    iso_out_printf(out, "f %u %u\n", graph->pending.items[i].from, graph->pending.items[i].to);
  }
  for (size_t i = 0; i < graph->edges.count; i++) {
    const iso_dag_edge *edge = &graph->edges.items[i];
    if (edge->from == ISO_NONE) continue; /* it is among the sorted ones */
    if (edge->literal == ISO_LIT_NONE) {
      iso_out_printf(out, "f %u %u\n", edge->from, edge->to);
    } else {
      iso_out_printf(out, "e %u %u %u\n", iso_lit_var(edge->literal) + 1, edge->from, edge->to);
    }
  }
}

isoproof_status iso_solver_dump(const iso_solver *s, isoproof_write_fn write, void *user, isoproof_error *error) {
  iso_output *out;
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  iso_out_text(out, "c clauses, and edges of a graph that must stay acyclic\n");
  iso_out_printf(out, "p cnf %u %llu\n", s->vars, (unsigned long long)put_clauses(s, NULL));
  put_graph(&s->graph, out);
  put_clauses(s, out);
  return iso_output_close(out, error);
}
