/* The nodes and edges of the graph, and a hash table that finds an optional edge by its two ends. */
#include "solver/dag.h"

#include <string.h>

#include "base/hash.h"

static const iso_dag_node new_node = {.previous = ISO_NONE,
                                      .next = ISO_NONE,
                                      .out = ISO_NONE,
                                      .in = ISO_NONE,
                                      .optional_out = ISO_NONE,
                                      .via_node = ISO_NONE,
                                      .via_edge = ISO_NONE};

isoproof_status iso_dag_init(iso_dag *graph, uint32_t nodes, iso_solver_stats *stats, isoproof_error *error) {
  memset(graph, 0, sizeof *graph);
  graph->stats = stats;
  graph->first = graph->last = ISO_NONE;
  graph->stamp = 4;
  graph->resort_least = 1000;
  graph->seed = iso_hash_seed();
  if (nodes >= ISO_SOLVER_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "a graph of %u nodes: expected fewer than %d", nodes, ISO_SOLVER_MOST);
  }
  if (!iso_vec_reserve(&graph->nodes, (size_t)nodes + 1)) return iso_fail_memory(error);
  for (size_t i = 0; i <= nodes; i++) graph->nodes.items[i] = new_node;
  graph->nodes.count = (size_t)nodes + 1;
  return ISOPROOF_OK;
}

void iso_dag_free(iso_dag *graph) {
  iso_vec_free(&graph->nodes);
  iso_vec_free(&graph->edges);
  iso_vec_free(&graph->pending);
  iso_vec_free(&graph->hint);
  free(graph->fixed_to);
  free(graph->fixed_from);
  free(graph->table);
  free(graph->scratch);
}

isoproof_status iso_dag_add_node(iso_dag *graph, uint32_t *node, isoproof_error *error) {
  if (iso_dag_nodes(graph) + 1 >= ISO_SOLVER_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "a graph of more than %d nodes", ISO_SOLVER_MOST - 1);
  }
  *node = iso_dag_nodes(graph);
  iso_dag_node added = new_node;
  added.fixed_out = graph->nodes.items[*node].fixed_out;
  added.fixed_in = graph->nodes.items[*node].fixed_in;
  return iso_vec_push(&graph->nodes, added) ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status known_node(const iso_dag *graph, uint32_t node, isoproof_error *error) {
  if (node < iso_dag_nodes(graph)) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "node %u of a graph of %u nodes", node, iso_dag_nodes(graph));
}

isoproof_status iso_dag_add_hint(iso_dag *graph, const uint32_t *order, size_t count, isoproof_error *error) {
  for (size_t i = 0; i < count; i++) ISO_TRY(known_node(graph, order[i], error));
  graph->hint.count = 0;
  if (graph->sorted || count == 0) return ISOPROOF_OK;
  if (!iso_vec_reserve(&graph->hint, count)) return iso_fail_memory(error);
  memcpy(graph->hint.items, order, count * sizeof *order);
  graph->hint.count = count;
  return ISOPROOF_OK;
}

isoproof_status iso_dag_add_fixed(iso_dag *graph, uint32_t from, uint32_t to, isoproof_error *error) {
  ISO_TRY(known_node(graph, from, error));
  ISO_TRY(known_node(graph, to, error));
  if (graph->pending.count >= ISO_SOLVER_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "a graph of more than %d fixed edges", ISO_SOLVER_MOST);
  }
  iso_dag_pair pair = {from, to};
  return iso_vec_push(&graph->pending, pair) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* Where the pair is in the table, or where it would be. */
static uint32_t *slot_of(const iso_dag *graph, uint32_t from, uint32_t to) {
  uint32_t mask = (UINT32_C(1) << graph->table_bits) - 1;
  uint32_t at = (uint32_t)iso_hash_u64((uint64_t)from << 32 | to, graph->seed) & mask;
  for (;; at = (at + 1) & mask) {
    if (graph->table[at] == 0) return &graph->table[at];
    const iso_dag_edge *edge = &graph->edges.items[graph->table[at] - 1];
    if (edge->from == from && edge->to == to) return &graph->table[at];
  }
}

uint32_t iso_dag_find(const iso_dag *graph, uint32_t from, uint32_t to) {
  if (graph->table == NULL) return ISO_NONE;
  uint32_t found = *slot_of(graph, from, to);
  return found == 0 ? ISO_NONE : found - 1;
}

static bool grow_table(iso_dag *graph) {
  enum { FIRST_BITS = 5 };
  if (graph->table != NULL && graph->table_count < (UINT32_C(1) << graph->table_bits) / 2) return true;
  uint32_t bits = graph->table == NULL ? FIRST_BITS : graph->table_bits + 1;
  uint32_t *old = graph->table, size = old == NULL ? 0 : UINT32_C(1) << graph->table_bits;
  uint32_t *grown = iso_alloc_zero((size_t)1 << bits, sizeof *grown);
  if (grown == NULL) return false;
  graph->table = grown;
  graph->table_bits = bits;
  for (uint32_t i = 0; i < size; i++) {
    if (old[i] == 0) continue;
    const iso_dag_edge *edge = &graph->edges.items[old[i] - 1];
    *slot_of(graph, edge->from, edge->to) = old[i];
  }
  free(old);
  return true;
}

isoproof_status iso_dag_add_optional(iso_dag *graph, uint32_t from, uint32_t to, iso_lit literal, uint32_t *edge,
                                     isoproof_error *error) {
  ISO_TRY(known_node(graph, from, error));
  ISO_TRY(known_node(graph, to, error));
  if (graph->edges.count >= ISO_SOLVER_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "a graph of more than %d optional edges", ISO_SOLVER_MOST);
  }
  iso_dag_edge added = {from, to, literal, ISO_NONE, ISO_NONE, graph->nodes.items[from].optional_out, false};
  if (!grow_table(graph) || !iso_vec_push(&graph->edges, added)) return iso_fail_memory(error);
  *edge = (uint32_t)graph->edges.count - 1;
  graph->nodes.items[from].optional_out = *edge;
  *slot_of(graph, from, to) = *edge + 1;
  graph->table_count++;
  return ISOPROOF_OK;
}
