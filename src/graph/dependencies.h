/* dependencies.h - the dependency graph of transactions: who comes before whom, and why, as columns.
 *
 * A dependency is an edge between transactions that rests on an item, or on the versions that a predicate selects
 * (Adya 1999, chapter 3); the orders of sessions and of real time are put beside them (Elle, VLDB 2020, section 4.1).
 * Nodes 0 .. txns-1 are the transactions of the history; the nodes after them are auxiliary.  They stand for many edges
 * at once: a step from a to b by way of auxiliary nodes is one dependency, whose kind is on its first edge; the edges
 * that leave auxiliary nodes are passages, mostly of no kind.  The list and the graph own their columns until their
 * _free functions.
 */
#ifndef ISO_GRAPH_DEPENDENCIES_H
#define ISO_GRAPH_DEPENDENCIES_H

#include "base/error.h"
#include "base/task.h"
#include "base/vector.h"
#include "graph/edge.h"

/* Kinds of dependencies, strongest first: C name, kind of edge, whether it rests on a predicate. */
#define ISO_DEPENDENCY_LIST(X)                                                                                         \
  X(WW, WW, false)                                                                                                     \
  X(WW_PREDICATE, WW, true)                                                                                            \
  X(WR, WR, false)                                                                                                     \
  X(WR_PREDICATE, WR, true)                                                                                            \
  X(RW, RW, false)                                                                                                     \
  X(RW_PREDICATE, RW, true)                                                                                            \
  X(SO, SO, false)                                                                                                     \
  X(RT, RT, false)

typedef struct iso_dependency_kind {
  iso_edge_kind edge;
  bool on_predicate;
} iso_dependency_kind;

typedef enum iso_dependency_number {
#define ISO_X(name, edge, predicate) ISO_DEPENDENCY_NUMBER_##name,
  ISO_DEPENDENCY_LIST(ISO_X)
#undef ISO_X
      ISO_DEPENDENCY_KINDS
} iso_dependency_number;

/* A set of kinds; the empty one, ISO_PASSAGE, marks a passage out of an auxiliary node. */
typedef uint8_t iso_dependency_set;
enum {
#define ISO_X(name, edge, predicate) ISO_DEPENDENCY_##name = 1 << ISO_DEPENDENCY_NUMBER_##name,
  ISO_DEPENDENCY_LIST(ISO_X)
#undef ISO_X
      ISO_PASSAGE = 0,
  ISO_DEPENDENCY_ANY_WW = ISO_DEPENDENCY_WW | ISO_DEPENDENCY_WW_PREDICATE,
  ISO_DEPENDENCY_ANY_WR = ISO_DEPENDENCY_WR | ISO_DEPENDENCY_WR_PREDICATE,
  ISO_DEPENDENCY_ANY_RW = ISO_DEPENDENCY_RW | ISO_DEPENDENCY_RW_PREDICATE,
  ISO_DEPENDENCY_DATA = ISO_DEPENDENCY_ANY_WW | ISO_DEPENDENCY_ANY_WR | ISO_DEPENDENCY_ANY_RW,
  ISO_DEPENDENCY_ORDERS = ISO_DEPENDENCY_SO | ISO_DEPENDENCY_RT
};
_Static_assert(ISO_DEPENDENCY_KINDS <= 8, "a set of kinds is one byte");

/* What the only kind of a set is. */
iso_dependency_kind iso_dependency_kind_of(iso_dependency_set one);
/* The strongest kind of a set: a step that can be told in several ways is told in that one. */
static inline iso_dependency_set iso_dependency_strongest(iso_dependency_set set) {
  return (iso_dependency_set)(set & (unsigned)-(int)set);
}

/* Dependencies in any order, as they are found. */
typedef struct iso_dependency_list {
  uint32_t txns, nodes;
  ISO_VEC(uint32_t) from;
  ISO_VEC(uint32_t) to;
  ISO_VEC(uint8_t) kind;
  bool failed; /* memory, or numbers, ran out */
} iso_dependency_list;

void iso_dependency_list_init(iso_dependency_list *edges, uint32_t txns);
void iso_dependency_list_free(iso_dependency_list *edges);
void iso_dependency_add_slow(iso_dependency_list *edges, uint32_t from, uint32_t to, iso_dependency_set kind);
/* A new auxiliary node; some node or other once numbers ran out, which the list remembers. */
uint32_t iso_dependency_node(iso_dependency_list *edges);

static inline void iso_dependency_add(iso_dependency_list *edges, uint32_t from, uint32_t to, iso_dependency_set kind) {
  if (from == to) return;
  if (edges->from.count == edges->from.capacity || edges->to.count == edges->to.capacity ||
      edges->kind.count == edges->kind.capacity) {
    iso_dependency_add_slow(edges, from, to, kind);
    return;
  }
  edges->from.items[edges->from.count++] = from;
  edges->to.items[edges->to.count++] = to;
  edges->kind.items[edges->kind.count++] = kind;
}

/* Every one of `sources` before every one of `targets`, nobody before itself, in time and space linear in their sum.
 * Both are ascending and hold no transaction twice. */
void iso_dependency_add_bipartite(iso_dependency_list *edges, const uint32_t *sources, size_t source_count,
                                  const uint32_t *targets, size_t target_count, iso_dependency_set kind);

/* Compressed sparse rows. */
typedef struct iso_dependency_graph {
  uint32_t txns, nodes;
  uint32_t *first; /* nodes + 1 */
  uint32_t *to;
  uint8_t *kind;
} iso_dependency_graph;

/* Makes the rows and frees the list. */
isoproof_status iso_dependency_graph_make(iso_dependency_list *edges, iso_dependency_graph *graph,
                                          isoproof_error *error);
void iso_dependency_graph_free(iso_dependency_graph *graph);
/* All kinds of the direct edge between two nodes, ISO_PASSAGE when there is none (or only a passage); linear in the
 * edges of `from`. */
iso_dependency_set iso_dependency_graph_between(const iso_dependency_graph *graph, uint32_t from, uint32_t to);

#endif
