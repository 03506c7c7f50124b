/* The topological order from nothing, by Kahn's algorithm guided by a hint, and the decision when to sort again. */
#include <string.h>

#include "solver/dag_order.h"

/* How many nodes are sorted between two questions to the task. */
enum { TASK_STEPS = 1 << 16 };

/* Memory for searches over all nodes, in one block: searches themselves must not fail. */
static bool reserve_scratch(iso_dag *graph) {
  enum { WORDS = 7 };
  uint32_t nodes = iso_dag_nodes(graph);
  if (graph->scratch != NULL && nodes <= graph->scratch_nodes) return true;
  uint32_t room = nodes + nodes / 4 + 4;
  void *block = iso_alloc(room, sizeof(iso_dag_rank) + WORDS * sizeof(uint32_t));
  if (block == NULL) return false;
  free(graph->scratch);
  graph->scratch = block;
  graph->scratch_nodes = nodes + nodes / 4;
  graph->ranks = block;
  uint32_t *words = (uint32_t *)(graph->ranks + room);
  uint32_t **parts[WORDS] = {&graph->side[0].now,   &graph->side[0].later, &graph->side[0].found, &graph->side[1].now,
                             &graph->side[1].later, &graph->side[1].found, &graph->path};
  for (size_t i = 0; i < WORDS; i++) *parts[i] = words + i * room;
  return true;
}

/* The fixed edges as compressed rows, in both directions. */
static bool make_rows(iso_dag *graph) {
  iso_dag_node *nodes = graph->nodes.items;
  size_t count = graph->pending.count, last = graph->nodes.count - 1;
  free(graph->fixed_to);
  free(graph->fixed_from);
  graph->fixed_to = iso_alloc(count, sizeof *graph->fixed_to);
  graph->fixed_from = iso_alloc(count, sizeof *graph->fixed_from);
  if (graph->fixed_to == NULL || graph->fixed_from == NULL) return false;
  for (size_t i = 0; i <= last; i++) nodes[i].fixed_out = nodes[i].fixed_in = 0;
  for (size_t i = 0; i < count; i++) {
    nodes[graph->pending.items[i].from].fixed_out++;
    nodes[graph->pending.items[i].to].fixed_in++;
  }
  for (size_t i = 1; i <= last; i++) {
    nodes[i].fixed_out += nodes[i - 1].fixed_out;
    nodes[i].fixed_in += nodes[i - 1].fixed_in;
  }
  /* From ends to starts, backwards: rows keep the order in which edges came. */
  for (size_t i = count; i-- > 0;) {
    iso_dag_pair pair = graph->pending.items[i];
    graph->fixed_to[--nodes[pair.from].fixed_out] = pair.to;
    graph->fixed_from[--nodes[pair.to].fixed_in] = pair.from;
  }
  return true;
}

/* All nodes in the order of the hint, then the others; `place` gets where each node is. */
static void follow_hint(const iso_dag *graph, uint32_t *order, uint32_t *place) {
  uint32_t nodes = iso_dag_nodes(graph), count = 0;
  for (uint32_t i = 0; i < nodes; i++) place[i] = ISO_NONE;
  for (size_t i = 0; i < graph->hint.count; i++) {
    uint32_t node = graph->hint.items[i];
    if (place[node] != ISO_NONE) continue;
    place[node] = count;
    order[count++] = node;
  }
  for (uint32_t node = 0; node < nodes; node++) {
    if (place[node] != ISO_NONE) continue;
    place[node] = count;
    order[count++] = node;
  }
}

static bool hint_fits(const iso_dag *graph, const uint32_t *place) {
  for (size_t i = 0; i < graph->pending.count; i++) {
    if (place[graph->pending.items[i].from] >= place[graph->pending.items[i].to]) return false;
  }
  return true;
}

/* Kahn's algorithm with a heap of keys: of the nodes that are ready the first in the hint comes first.  A node that the
 * hint leaves out has the key of the node that it waited for last, so that it comes next. */
typedef struct {
  uint64_t *heap; /* key and node */
  uint32_t *order, *place, *waits, *sorted;
  uint32_t count;
} kahn;

static void heap_push(kahn *k, uint64_t item) {
  uint32_t at = k->count++;
  for (; at > 0 && k->heap[(at - 1) / 2] > item; at = (at - 1) / 2) k->heap[at] = k->heap[(at - 1) / 2];
  k->heap[at] = item;
}

static uint64_t heap_pop(kahn *k) {
  uint64_t top = k->heap[0], moved = k->heap[--k->count];
  uint32_t at = 0;
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= k->count) break;
    if (child + 1 < k->count && k->heap[child + 1] < k->heap[child]) child++;
    if (k->heap[child] >= moved) break;
    k->heap[at] = k->heap[child];
    at = child;
  }
  k->heap[at] = moved;
  return top;
}

static void release(const iso_dag *graph, kahn *k, uint32_t node, uint64_t key) {
  if (graph->hint.count == 0 || k->place[node] < graph->hint.count) key = k->place[node];
  heap_push(k, key << 32 | node);
}

/* Gives how many nodes could be placed. */
static isoproof_status run_kahn(const iso_dag *graph, kahn *k, uint32_t *placed, const isoproof_task *task,
                                isoproof_error *error) {
  const iso_dag_node *nodes = graph->nodes.items;
  uint32_t count = iso_dag_nodes(graph);
  for (uint32_t i = 0; i < count; i++) {
    k->waits[i] = nodes[i + 1].fixed_in - nodes[i].fixed_in;
    if (k->waits[i] == 0) release(graph, k, i, 0);
  }
  for (*placed = 0; k->count > 0; ++*placed) {
    if (*placed % TASK_STEPS == 0) ISO_TRY(iso_task_check(task, error));
    uint64_t item = heap_pop(k);
    uint32_t node = (uint32_t)item;
    k->sorted[*placed] = node;
    for (uint32_t i = nodes[node].fixed_out; i < nodes[node + 1].fixed_out; i++) {
      if (--k->waits[graph->fixed_to[i]] == 0) release(graph, k, graph->fixed_to[i], item >> 32);
    }
  }
  return ISOPROOF_OK;
}

/* Makes rows of the fixed edges and an order of everything; `block` has six words per node. */
static isoproof_status sort(iso_dag *graph, uint64_t *block, const isoproof_task *task, bool *acyclic,
                            isoproof_error *error) {
  size_t nodes = iso_dag_nodes(graph);
  uint32_t placed = (uint32_t)nodes, *words = (uint32_t *)(block + nodes);
  kahn k = {block, words, words + nodes, words + 2 * nodes, words + 3 * nodes, 0};
  if (!make_rows(graph)) return iso_fail_memory(error);
  follow_hint(graph, k.order, k.place);
  bool fits = hint_fits(graph, k.place);
  if (!fits) ISO_TRY(run_kahn(graph, &k, &placed, task, error));
  *acyclic = placed == nodes;
  if (!*acyclic) return ISOPROOF_OK;
  iso_dag_order_build(graph, fits ? k.order : k.sorted, placed);
  graph->sorted = true;
  iso_vec_free(&graph->pending);
  iso_vec_free(&graph->hint);
  return ISOPROOF_OK;
}

/* Whether so many fixed edges came since the sort that sorting again is cheaper than entering them. */
static bool is_outgrown(const iso_dag *graph) {
  enum { SHARE = 8 };
  size_t sorted = graph->nodes.items[graph->nodes.count - 1].fixed_out;
  return graph->pending.count > graph->resort_least && graph->pending.count > sorted / SHARE;
}

/* Makes all edges in the graph pending again, with the present order as the hint.  Optional edges that are there for
 * good become fixed ones, too. */
static isoproof_status unsort(iso_dag *graph, isoproof_error *error) {
  iso_dag_node *nodes = graph->nodes.items;
  uint32_t count = iso_dag_nodes(graph);
  size_t edges = nodes[count].fixed_out;
  for (uint32_t i = 0; i < count; i++) edges += nodes[i].outs;
  if (graph->pending.count + edges >= ISO_SOLVER_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "a graph of more than %d fixed edges", ISO_SOLVER_MOST);
  }
  if (!iso_vec_reserve(&graph->pending, edges) || !iso_vec_reserve(&graph->hint, graph->settled)) {
    return iso_fail_memory(error);
  }
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = nodes[i].fixed_out; k < nodes[i + 1].fixed_out; k++) {
      graph->pending.items[graph->pending.count++] = (iso_dag_pair){i, graph->fixed_to[k]};
    }
    for (uint32_t e = nodes[i].out; e != ISO_NONE; e = graph->edges.items[e].next_out) {
      graph->pending.items[graph->pending.count++] = (iso_dag_pair){i, graph->edges.items[e].to};
      if (graph->edges.items[e].literal == ISO_LIT_NONE) graph->edges.items[e].from = ISO_NONE;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    nodes[i].out = nodes[i].in = ISO_NONE;
    nodes[i].outs = nodes[i].ins = 0;
  }
  for (uint32_t i = graph->first; i != ISO_NONE; i = nodes[i].next) graph->hint.items[graph->hint.count++] = i;
  graph->sorted = false;
  return ISOPROOF_OK;
}

/* Fixed edges that come after the sort enter one by one, for good. */
static isoproof_status enter_pending(iso_dag *graph, const isoproof_task *task, bool *acyclic, isoproof_error *error) {
  while (graph->pending.count > 0) {
    if (graph->pending.count % 256 == 0) ISO_TRY(iso_task_check(task, error));
    iso_dag_pair pair = graph->pending.items[graph->pending.count - 1];
    iso_dag_edge edge = {pair.from, pair.to, ISO_LIT_NONE, ISO_NONE, ISO_NONE, ISO_NONE, true};
    if (graph->edges.count >= 2u * ISO_SOLVER_MOST) {
      return iso_fail(error, ISOPROOF_ERR_LIMIT, "a graph of more than %u edges", 2u * ISO_SOLVER_MOST);
    }
    if (!iso_vec_push(&graph->edges, edge)) return iso_fail_memory(error);
    *acyclic = iso_dag_enter(graph, (uint32_t)graph->edges.count - 1, true);
    if (!*acyclic) return ISOPROOF_OK;
    graph->pending.count--;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_dag_settle(iso_dag *graph, const isoproof_task *task, bool *acyclic, isoproof_error *error) {
  uint32_t nodes = iso_dag_nodes(graph);
  *acyclic = true;
  if (!reserve_scratch(graph)) return iso_fail_memory(error);
  if (graph->sorted && is_outgrown(graph)) ISO_TRY(unsort(graph, error));
  if (graph->sorted) {
    iso_dag_order_append(graph, graph->settled, nodes - graph->settled);
    return enter_pending(graph, task, acyclic, error);
  }
  uint64_t *block = iso_alloc(nodes, 3 * sizeof *block);
  if (block == NULL) return iso_fail_memory(error);
  isoproof_status status = sort(graph, block, task, acyclic, error);
  free(block);
  return status;
}
