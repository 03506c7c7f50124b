/* dependencies.h - which transaction comes before which, and why: the dependency graph as columns.
 *
 * Nodes 0 .. txns-1 are the transactions of the history; the nodes after them are auxiliary.  They stand for many edges
 * at once: a step from a to b by way of auxiliary nodes is one dependency, whose kind is on its first edge; the edges
 * that leave auxiliary nodes are passages, mostly of no kind.  The edges and the graph own their columns until their
 * _free functions.
 */
#ifndef ISO_GRAPH_DEPENDENCIES_H
#define ISO_GRAPH_DEPENDENCIES_H

#include "base/error.h"
#include "base/task.h"
#include "base/vector.h"

/* Kinds of dependencies, strongest first: C name, text, name of the edge in witnesses. */
#define ISO_DEP_LIST(X)                                                                                                \
  X(WW, "ww", "WW")                                                                                                    \
  X(WWP, "wwp", "WW")                                                                                                  \
  X(WR, "wr", "WR")                                                                                                    \
  X(WRP, "wrp", "WR")                                                                                                  \
  X(RW, "rw", "RW")                                                                                                    \
  X(RWP, "rwp", "RW")                                                                                                  \
  X(PROCESS, "process", "SO")                                                                                          \
  X(REALTIME, "realtime", "RT")

typedef enum iso_dep_number {
#define ISO_X(name, text, edge) ISO_DEP_NUMBER_##name,
  ISO_DEP_LIST(ISO_X)
#undef ISO_X
      ISO_DEPS
} iso_dep_number;

/* A set of kinds; ISO_PASS marks a passage out of an auxiliary node. */
typedef uint8_t iso_deps;
enum {
#define ISO_X(name, text, edge) ISO_DEP_##name = 1 << ISO_DEP_NUMBER_##name,
  ISO_DEP_LIST(ISO_X)
#undef ISO_X
      ISO_PASS = 0,
  ISO_DEP_ANY_WW = ISO_DEP_WW | ISO_DEP_WWP,
  ISO_DEP_ANY_WR = ISO_DEP_WR | ISO_DEP_WRP,
  ISO_DEP_ANY_RW = ISO_DEP_RW | ISO_DEP_RWP,
  ISO_DEP_DATA = ISO_DEP_ANY_WW | ISO_DEP_ANY_WR | ISO_DEP_ANY_RW
};
_Static_assert(ISO_DEPS <= 8, "a set of kinds is one byte");

const char *iso_dep_text(iso_deps one);
const char *iso_dep_edge(iso_deps one);
/* The strongest kind of a set: a step that can be told in several ways is told in that one. */
static inline iso_deps iso_dep_first(iso_deps set) { return (iso_deps)(set & (unsigned)-(int)set); }

/* Edges in any order, as they are found. */
typedef struct iso_deps_list {
  uint32_t txns, nodes;
  ISO_VEC(uint32_t) from;
  ISO_VEC(uint32_t) to;
  ISO_VEC(uint8_t) kind;
  bool failed; /* memory, or numbers, ran out */
} iso_deps_list;

void iso_deps_init(iso_deps_list *edges, uint32_t txns);
void iso_deps_free(iso_deps_list *edges);
void iso_deps_add_slow(iso_deps_list *edges, uint32_t from, uint32_t to, iso_deps kind);
/* A new auxiliary node. */
uint32_t iso_deps_node(iso_deps_list *edges);

static inline void iso_deps_add(iso_deps_list *edges, uint32_t from, uint32_t to, iso_deps kind) {
  if (from == to) return;
  if (edges->from.count == edges->from.capacity || edges->to.count == edges->to.capacity ||
      edges->kind.count == edges->kind.capacity) {
    iso_deps_add_slow(edges, from, to, kind);
    return;
  }
  edges->from.items[edges->from.count++] = from;
  edges->to.items[edges->to.count++] = to;
  edges->kind.items[edges->kind.count++] = kind;
}

/* Every one of `sources` before every one of `targets`, nobody before itself.  Many of both cost their sum, not their
 * product.  Both are ascending and hold no transaction twice. */
void iso_deps_fan(iso_deps_list *edges, const uint32_t *sources, size_t source_count, const uint32_t *targets,
                  size_t target_count, iso_deps kind);

/* Compressed sparse rows. */
typedef struct iso_graph {
  uint32_t txns, nodes;
  uint32_t *first; /* nodes + 1 */
  uint32_t *to;
  uint8_t *kind;
} iso_graph;

/* Makes the rows and frees the edges. */
isoproof_status iso_graph_make(iso_deps_list *edges, iso_graph *graph, isoproof_error *error);
void iso_graph_free(iso_graph *graph);
/* All kinds of the direct edge between two nodes; 0 when there is none (or only a passage). */
iso_deps iso_graph_between(const iso_graph *graph, uint32_t from, uint32_t to);

#endif
