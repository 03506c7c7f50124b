/* Incremental topological order: an edge enters, by a two-way search that finds a cycle or what has to move, and
 * leaves. */
#include "solver/dag_order.h"

/* Looks for a way from `forward` to `backward`, whose label is smaller.  When there is none, one of the sides has found
 * everything there is between the labels. */
static bool way_between(iso_dag *graph, uint32_t forward, uint32_t backward) {
  uint64_t low = graph->nodes.items[forward].label, high = graph->nodes.items[backward].label;
  iso_dag_search_begin(graph, forward, backward);
  bool met = false;
  while (!met && iso_dag_search_more(graph, ISO_FORWARD) && iso_dag_search_more(graph, ISO_BACKWARD)) {
    uint64_t forward_cost = graph->side[ISO_FORWARD].cost + iso_dag_search_degree(graph, ISO_FORWARD);
    uint64_t backward_cost = graph->side[ISO_BACKWARD].cost + iso_dag_search_degree(graph, ISO_BACKWARD);
    met = iso_dag_search_expand(graph, forward_cost < backward_cost ? ISO_FORWARD : ISO_BACKWARD, low, high);
  }
  graph->stats->arcs += graph->side[ISO_FORWARD].cost + graph->side[ISO_BACKWARD].cost;
  return met;
}

static void explain(iso_dag *graph) {
  graph->path_count = 0;
  iso_dag_search_trace(graph, graph->meet_from);
  if (graph->meet_edge != ISO_NONE && !graph->edges.items[graph->meet_edge].permanent) {
    graph->path[graph->path_count++] = graph->edges.items[graph->meet_edge].literal;
  }
  iso_dag_search_trace(graph, graph->meet_to);
}

static int compare_ranks(const void *a, const void *b) {
  const iso_dag_rank *left = a, *right = b;
  return (left->label > right->label) - (left->label < right->label);
}

/* Moves what the side that ended has found past the start of the other. */
static void reorder(iso_dag *graph, uint32_t from, uint32_t to) {
  bool forward_ended = !iso_dag_search_more(graph, ISO_FORWARD);
  const iso_dag_side *side = &graph->side[forward_ended ? ISO_FORWARD : ISO_BACKWARD];
  for (uint32_t i = 0; i < side->found_count; i++) {
    graph->ranks[i] = (iso_dag_rank){graph->nodes.items[side->found[i]].label, side->found[i]};
  }
  if (side->found_count > 1) qsort(graph->ranks, side->found_count, sizeof *graph->ranks, compare_ranks);
  iso_dag_order_move(graph, graph->ranks, side->found_count, forward_ended ? from : graph->nodes.items[to].previous);
}

void iso_dag_link(iso_dag *graph, uint32_t number) {
  iso_dag_edge *edge = &graph->edges.items[number];
  iso_dag_node *from = &graph->nodes.items[edge->from], *to = &graph->nodes.items[edge->to];
  edge->next_out = from->out;
  edge->next_in = to->in;
  from->out = to->in = number;
  from->outs++;
  to->ins++;
}

bool iso_dag_enter(iso_dag *graph, uint32_t number, bool permanent) {
  iso_dag_edge *edge = &graph->edges.items[number];
  graph->path_count = 0;
  if (edge->from == edge->to) return false;
  if (graph->nodes.items[edge->from].label > graph->nodes.items[edge->to].label) {
    graph->stats->against++;
    if (way_between(graph, edge->to, edge->from)) {
      explain(graph);
      return false;
    }
    reorder(graph, edge->from, edge->to);
  }
  graph->stats->entered++;
  edge->permanent = permanent;
  iso_dag_link(graph, number);
  return true;
}

void iso_dag_leave(iso_dag *graph, uint32_t number) {
  const iso_dag_edge *edge = &graph->edges.items[number];
  iso_dag_node *from = &graph->nodes.items[edge->from], *to = &graph->nodes.items[edge->to];
  from->out = edge->next_out;
  to->in = edge->next_in;
  from->outs--;
  to->ins--;
}
