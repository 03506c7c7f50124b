/* An order-maintenance list: the topological order as a linked list whose nodes carry comparable labels. */
#include "solver/dag_order.h"

enum { LABEL_BITS = 62 };
#define LABEL_END (UINT64_C(1) << LABEL_BITS)

static void link_after(iso_dag *graph, uint32_t node, uint32_t after) {
  iso_dag_node *nodes = graph->nodes.items;
  uint32_t next = after == ISO_NONE ? graph->first : nodes[after].next;
  nodes[node].previous = after;
  nodes[node].next = next;
  if (after == ISO_NONE) graph->first = node;
  if (after != ISO_NONE) nodes[after].next = node;
  if (next == ISO_NONE) graph->last = node;
  if (next != ISO_NONE) nodes[next].previous = node;
}

static void unlink_node(iso_dag *graph, uint32_t node) {
  iso_dag_node *nodes = graph->nodes.items;
  uint32_t previous = nodes[node].previous, next = nodes[node].next;
  if (previous == ISO_NONE) graph->first = next;
  if (previous != ISO_NONE) nodes[previous].next = next;
  if (next == ISO_NONE) graph->last = previous;
  if (next != ISO_NONE) nodes[next].previous = previous;
}

/* Labels `count` nodes from `node` on: start + step, start + 2 * step, ... */
static void number(iso_dag *graph, uint32_t node, uint64_t count, uint64_t start, uint64_t step) {
  for (uint64_t i = 0; i < count; i++) {
    graph->nodes.items[node].label = start += step;
    node = graph->nodes.items[node].next;
  }
}

/* Labels the `count` linked nodes from `first` to `last`, which have none that fit, together with as many of their
 * neighbours as it takes. */
static void make_room(iso_dag *graph, uint32_t first, uint32_t last, uint64_t count) {
  const iso_dag_node *nodes = graph->nodes.items;
  uint32_t before = nodes[first].previous, after = nodes[last].next;
  uint64_t near = before == ISO_NONE ? 0 : nodes[before].label;
  unsigned bits = 1;
  for (; bits < LABEL_BITS; bits++) {
    uint64_t start = near >> bits << bits, end = start + (UINT64_C(1) << bits);
    for (; before != ISO_NONE && nodes[before].label >= start; before = nodes[before].previous) {
      first = before;
      count++;
    }
    for (; after != ISO_NONE && nodes[after].label < end; after = nodes[after].next) count++;
    if (count < UINT64_C(1) << (bits / 2)) break;
  }
  if (bits == LABEL_BITS) {
    first = graph->first;
    count = graph->settled;
  }
  number(graph, first, count, near >> bits << bits, (UINT64_C(1) << bits) / (count + 1));
  graph->stats->relabelled += count;
}

/* Labels the `count` linked nodes from `first` to `last`. */
static void fit(iso_dag *graph, uint32_t first, uint32_t last, uint32_t count) {
  const iso_dag_node *nodes = graph->nodes.items;
  uint32_t before = nodes[first].previous, after = nodes[last].next;
  uint64_t low = before == ISO_NONE ? 0 : nodes[before].label;
  uint64_t high = after == ISO_NONE ? LABEL_END : nodes[after].label;
  uint64_t step = (high - low) / ((uint64_t)count + 1);
  if (step > 0) {
    number(graph, first, count, low, step);
  } else {
    make_room(graph, first, last, count);
  }
}

void iso_dag_order_build(iso_dag *graph, const uint32_t *order, uint32_t count) {
  graph->first = graph->last = ISO_NONE;
  for (uint32_t i = 0; i < count; i++) link_after(graph, order[i], graph->last);
  graph->settled = count;
  if (count > 0) number(graph, graph->first, count, 0, LABEL_END / ((uint64_t)count + 1));
}

void iso_dag_order_append(iso_dag *graph, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) link_after(graph, first + i, graph->last);
  graph->settled += count;
  if (count > 0) fit(graph, first, graph->last, count);
}

void iso_dag_order_move(iso_dag *graph, const iso_dag_rank *run, uint32_t count, uint32_t after) {
  if (count == 0) return;
  for (uint32_t i = 0; i < count; i++) unlink_node(graph, run[i].node);
  uint32_t at = after;
  for (uint32_t i = 0; i < count; i++) {
    link_after(graph, run[i].node, at);
    at = run[i].node;
  }
  fit(graph, run[0].node, run[count - 1].node, count);
  graph->stats->moved += count;
}
