/* The two searches of an entering edge, forward from its head and backward from its tail, fewest literals first. */
#include "solver/dag.h"

/* What a mark says, above the stamp: the direction, and whether the way costs no more than any other.  Until then the
 * node may still be found again by a cheaper way. */
enum { MARK_FINAL = 1, MARK_BACKWARD = 2, MARKS = 4 };

void iso_dag_search_begin(iso_dag *graph, uint32_t forward_from, uint32_t backward_from) {
  iso_dag_node *nodes = graph->nodes.items;
  if (graph->stamp > UINT32_MAX - 2 * MARKS) {
    for (size_t i = 0; i < graph->nodes.count; i++) nodes[i].mark = 0;
    graph->stamp = 0;
  }
  graph->stamp += MARKS;
  uint32_t start[2] = {forward_from, backward_from};
  for (unsigned direction = ISO_FORWARD; direction <= ISO_BACKWARD; direction++) {
    iso_dag_side *side = &graph->side[direction];
    iso_dag_node *node = &nodes[start[direction]];
    node->mark = graph->stamp + MARK_FINAL + (direction == ISO_BACKWARD ? MARK_BACKWARD : 0u);
    node->via_node = ISO_NONE;
    node->via_edge = ISO_NONE;
    side->now[0] = side->found[0] = start[direction];
    side->now_count = side->found_count = 1;
    side->later_count = 0;
    side->cost = 0;
  }
}

bool iso_dag_search_more(iso_dag *graph, iso_dag_direction direction) {
  iso_dag_side *side = &graph->side[direction];
  if (side->now_count > 0) return true;
  /* One literal more: those that did not turn out to be cheaper meanwhile. */
  for (uint32_t i = 0; i < side->later_count; i++) {
    iso_dag_node *node = &graph->nodes.items[side->later[i]];
    if ((node->mark - graph->stamp) & MARK_FINAL) continue;
    node->mark |= MARK_FINAL;
    side->now[side->now_count++] = side->later[i];
  }
  side->later_count = 0;
  return side->now_count > 0;
}

uint32_t iso_dag_search_degree(const iso_dag *graph, iso_dag_direction direction) {
  const iso_dag_side *side = &graph->side[direction];
  const iso_dag_node *node = &graph->nodes.items[side->now[side->now_count - 1]];
  return direction == ISO_FORWARD ? node[1].fixed_out - node->fixed_out + node->outs
                                  : node[1].fixed_in - node->fixed_in + node->ins;
}

/* A walk in progress: one node is looked at, from it others are found. */
typedef struct {
  iso_dag *graph;
  iso_dag_side *side;
  uint32_t base; /* of the marks of this side */
  uint32_t from;
  uint64_t low, high;
} walk;

/* Finds a node; true when the other side has found it before. */
static bool find(walk *w, uint32_t number, uint32_t edge, bool free) {
  iso_dag_node *node = &w->graph->nodes.items[number];
  uint32_t mark = node->mark - w->graph->stamp;
  if (mark < MARKS && node->mark >= w->graph->stamp) {
    if ((mark & MARK_BACKWARD) != (w->base & MARK_BACKWARD)) {
      w->graph->meet_from = w->from;
      w->graph->meet_to = number;
      w->graph->meet_edge = edge;
      return true;
    }
    if ((mark & MARK_FINAL) || !free) return false;
  } else {
    if (node->label < w->low || node->label > w->high) return false;
    w->side->found[w->side->found_count++] = number;
  }
  node->mark = w->graph->stamp + w->base + (free ? MARK_FINAL : 0u);
  node->via_node = w->from;
  node->via_edge = edge;
  if (free) {
    w->side->now[w->side->now_count++] = number;
  } else {
    w->side->later[w->side->later_count++] = number;
  }
  return false;
}

bool iso_dag_search_expand(iso_dag *graph, iso_dag_direction direction, uint64_t low, uint64_t high) {
  bool forward = direction == ISO_FORWARD;
  iso_dag_side *side = &graph->side[direction];
  walk w = {graph, side, forward ? 0 : MARK_BACKWARD, side->now[--side->now_count], low, high};
  const iso_dag_node *node = &graph->nodes.items[w.from];
  const uint32_t *ends = forward ? graph->fixed_to : graph->fixed_from;
  uint32_t begin = forward ? node->fixed_out : node->fixed_in, end = forward ? node[1].fixed_out : node[1].fixed_in;
  side->cost += end - begin + 1;
  for (uint32_t i = begin; i < end; i++) {
    if (find(&w, ends[i], ISO_NONE, true)) return true;
  }
  for (uint32_t e = forward ? node->out : node->in; e != ISO_NONE;) {
    const iso_dag_edge *edge = &graph->edges.items[e];
    side->cost++;
    if (find(&w, forward ? edge->to : edge->from, e, edge->permanent)) return true;
    e = forward ? edge->next_out : edge->next_in;
  }
  return false;
}

void iso_dag_search_trace(iso_dag *graph, uint32_t node) {
  for (uint32_t at = node; at != ISO_NONE; at = graph->nodes.items[at].via_node) {
    uint32_t edge = graph->nodes.items[at].via_edge;
    if (edge == ISO_NONE || graph->edges.items[edge].permanent) continue;
    graph->path[graph->path_count++] = graph->edges.items[edge].literal;
  }
}
