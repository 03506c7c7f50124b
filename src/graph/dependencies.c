/* Dependencies as a list that grows, and as compressed sparse rows. */
#include "graph/dependencies.h"

#include <string.h>

iso_dependency_kind iso_dependency_kind_of(iso_dependency_set one) {
  static const iso_dependency_kind kinds[ISO_DEPENDENCY_KINDS] = {
#define ISO_X(name, edge, predicate) {ISO_EDGE_##edge, predicate},
      ISO_DEPENDENCY_LIST(ISO_X)
#undef ISO_X
  };
  return one != ISO_PASSAGE ? kinds[__builtin_ctz(one)] : (iso_dependency_kind){ISO_EDGE_KINDS, false};
}

void iso_dependency_list_init(iso_dependency_list *edges, uint32_t txns) {
  memset(edges, 0, sizeof *edges);
  edges->txns = edges->nodes = txns;
}

void iso_dependency_list_free(iso_dependency_list *edges) {
  iso_vec_free(&edges->from);
  iso_vec_free(&edges->to);
  iso_vec_free(&edges->kind);
}

void iso_dependency_add_slow(iso_dependency_list *edges, uint32_t from, uint32_t to, iso_dependency_set kind) {
  if (edges->failed) return;
  bool room = edges->from.count < UINT32_MAX - 1 && iso_vec_reserve(&edges->from, 1) &&
              iso_vec_reserve(&edges->to, 1) && iso_vec_reserve(&edges->kind, 1);
  if (!room) {
    edges->failed = true;
    return;
  }
  edges->from.items[edges->from.count++] = from;
  edges->to.items[edges->to.count++] = to;
  edges->kind.items[edges->kind.count++] = kind;
}

uint32_t iso_dependency_node(iso_dependency_list *edges) {
  if (edges->nodes >= UINT32_MAX - 16) {
    edges->failed = true;
    return edges->txns;
  }
  return edges->nodes++;
}

static void add_pairs(iso_dependency_list *edges, const uint32_t *sources, size_t source_count, const uint32_t *targets,
                      size_t target_count, iso_dependency_set kind) {
  for (size_t i = 0; i < source_count; i++) {
    for (size_t k = 0; k < target_count; k++) iso_dependency_add(edges, sources[i], targets[k], kind);
  }
}

/* Two chains beside the targets: one leads to this target and all later ones, one to this and all earlier ones.  A
 * source that is itself a target enters both next to itself, and so never meets itself. */
static void add_chains(iso_dependency_list *edges, const uint32_t *sources, size_t source_count,
                       const uint32_t *targets, size_t target_count, iso_dependency_set kind) {
  uint32_t later = edges->nodes, earlier;
  for (size_t k = 0; k < target_count; k++) (void)iso_dependency_node(edges);
  earlier = edges->nodes;
  for (size_t k = 0; k < target_count; k++) (void)iso_dependency_node(edges);
  if (edges->failed) return;
  for (uint32_t k = 0; k < target_count; k++) {
    iso_dependency_add(edges, later + k, targets[k], ISO_PASSAGE);
    iso_dependency_add(edges, earlier + k, targets[k], ISO_PASSAGE);
    if (k > 0) iso_dependency_add(edges, earlier + k, earlier + k - 1, ISO_PASSAGE);
    if (k + 1 < target_count) iso_dependency_add(edges, later + k, later + k + 1, ISO_PASSAGE);
  }
  size_t k = 0;
  for (size_t i = 0; i < source_count; i++) {
    while (k < target_count && targets[k] < sources[i]) k++;
    bool itself = k < target_count && targets[k] == sources[i];
    if (!itself) {
      iso_dependency_add(edges, sources[i], later, kind);
      continue;
    }
    if (k + 1 < target_count) iso_dependency_add(edges, sources[i], later + (uint32_t)k + 1, kind);
    if (k > 0) iso_dependency_add(edges, sources[i], earlier + (uint32_t)k - 1, kind);
  }
}

void iso_dependency_add_bipartite(iso_dependency_list *edges, const uint32_t *sources, size_t source_count,
                                  const uint32_t *targets, size_t target_count, iso_dependency_set kind) {
  enum { FEW = 256 };
  if (source_count == 0 || target_count == 0) return;
  /* Pairs are shorter to walk than chains. */
  bool few = source_count <= 2 || target_count <= 2 || source_count * target_count <= FEW;
  if (few) {
    add_pairs(edges, sources, source_count, targets, target_count, kind);
  } else {
    add_chains(edges, sources, source_count, targets, target_count, kind);
  }
}

static isoproof_status make_rows(const iso_dependency_list *edges, iso_dependency_graph *graph, isoproof_error *error) {
  size_t count = edges->from.count;
  graph->txns = edges->txns;
  graph->nodes = edges->nodes;
  graph->first = iso_alloc_zero((size_t)graph->nodes + 2, sizeof *graph->first);
  graph->to = iso_alloc(count, sizeof *graph->to);
  graph->kind = iso_alloc(count, sizeof *graph->kind);
  if (graph->first == NULL || graph->to == NULL || graph->kind == NULL) return iso_fail_memory(error);
  /* Rows begin one place late, and filling moves every beginning to where it belongs. */
  uint32_t *next = graph->first + 1;
  for (size_t i = 0; i < count; i++) next[edges->from.items[i] + 1]++;
  for (uint32_t v = 0; v < graph->nodes; v++) next[v + 1] += next[v];
  for (size_t i = 0; i < count; i++) {
    uint32_t place = next[edges->from.items[i]]++;
    graph->to[place] = edges->to.items[i];
    graph->kind[place] = edges->kind.items[i];
  }
  return ISOPROOF_OK;
}

isoproof_status iso_dependency_graph_make(iso_dependency_list *edges, iso_dependency_graph *graph,
                                          isoproof_error *error) {
  memset(graph, 0, sizeof *graph);
  isoproof_status status = edges->failed ? iso_fail_memory(error) : make_rows(edges, graph, error);
  iso_dependency_list_free(edges);
  if (status != ISOPROOF_OK) iso_dependency_graph_free(graph);
  return status;
}

void iso_dependency_graph_free(iso_dependency_graph *graph) {
  free(graph->first);
  free(graph->to);
  free(graph->kind);
  memset(graph, 0, sizeof *graph);
}

iso_dependency_set iso_dependency_graph_between(const iso_dependency_graph *graph, uint32_t from, uint32_t to) {
  iso_dependency_set kinds = 0;
  for (uint32_t e = graph->first[from]; e < graph->first[from + 1]; e++) {
    if (graph->to[e] == to) kinds |= graph->kind[e];
  }
  return kinds;
}
