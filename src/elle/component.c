/* A component as rows of its own, and the edges from which walks look for cycles in it. */
#include "elle/component.h"

#include <string.h>

#include "elle/cycle_walk.h"

isoproof_status iso_component_init(iso_component *c, const iso_dependency_graph *graph, isoproof_error *error) {
  memset(c, 0, sizeof *c);
  c->graph = graph;
  c->local = iso_alloc(graph->nodes, sizeof *c->local);
  return c->local != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

void iso_component_free(iso_component *c) {
  free(c->local);
  iso_vec_free(&c->first);
  iso_vec_free(&c->to);
  iso_vec_free(&c->kinds);
  iso_vec_free(&c->sub_first);
  iso_vec_free(&c->sub_to);
  iso_vec_free(&c->sub_edge);
  iso_vec_free(&c->part);
  iso_vec_free(&c->stamp);
  iso_vec_free(&c->parent);
  iso_vec_free(&c->parent_edge);
  iso_vec_free(&c->queue);
  iso_vec_free(&c->next_queue);
  iso_vec_free(&c->path);
  iso_vec_free(&c->found);
  iso_vec_free(&c->draft);
  memset(c, 0, sizeof *c);
}

static bool resize(void **items, size_t *capacity, size_t count, size_t size) {
  return *capacity >= count || iso_vec_grow(items, capacity, count, size);
}
#define RESIZE(v, n) (resize((void **)&(v)->items, &(v)->capacity, (n), sizeof *(v)->items) && ((v)->count = (n), true))

/* Adds an edge, or its kinds to the edge that is there since `row`; the latest place of each target is in `stamp`. */
static bool add_edge(iso_component *c, size_t row, uint32_t to, iso_dependency_set kinds) {
  size_t known = c->stamp.items[to];
  if (known > row && known <= c->to.count && c->to.items[known - 1] == to) {
    c->kinds.items[known - 1] |= kinds;
    return true;
  }
  if (!iso_vec_push(&c->to, to) || !iso_vec_push(&c->kinds, kinds)) return false;
  c->stamp.items[to] = (uint32_t)c->to.count;
  return true;
}

isoproof_status iso_component_load(iso_component *c, const uint32_t *component, const uint32_t *member, uint32_t count,
                                   isoproof_error *error) {
  const iso_dependency_graph *g = c->graph;
  c->nodes = count;
  c->member = member;
  c->txns = 0;
  c->to.count = c->kinds.count = 0;
  if (!RESIZE(&c->first, (size_t)count + 1) || !RESIZE(&c->stamp, (size_t)count * ISO_WALK_FLAGS))
    return iso_fail_memory(error);
  memset(c->stamp.items, 0, c->stamp.count * sizeof *c->stamp.items);
  c->epoch = 0;
  for (uint32_t i = 0; i < count; i++) {
    c->local[member[i]] = i;
    c->txns += member[i] < g->txns;
  }
  uint32_t own = component[member[0]];
  for (uint32_t i = 0; i < count; i++) {
    size_t row = c->to.count;
    c->first.items[i] = (uint32_t)row;
    for (uint32_t e = g->first[member[i]]; e < g->first[member[i] + 1]; e++) {
      if (component[g->to[e]] != own) continue;
      if (!add_edge(c, row, c->local[g->to[e]], g->kind[e])) return iso_fail_memory(error);
    }
  }
  c->first.items[count] = (uint32_t)c->to.count;
  memset(c->stamp.items, 0, c->stamp.count * sizeof *c->stamp.items);
  return ISOPROOF_OK;
}

/* Whether an edge may be used where `allowed` are; a passage always may. */
static bool usable(iso_dependency_set kinds, iso_dependency_set allowed, bool strictly) {
  if (kinds == ISO_PASSAGE) return true;
  return ((strictly ? iso_dependency_strongest(kinds) : kinds) & allowed) != 0;
}

/* Keeps the edges of the kinds allowed and finds the parts that are still strongly connected. */
static isoproof_status keep(iso_component *c, iso_dependency_set allowed, bool strictly, isoproof_task *task,
                            uint32_t *parts, isoproof_error *error) {
  c->sub_to.count = c->sub_edge.count = 0;
  if (!RESIZE(&c->sub_first, (size_t)c->nodes + 1) || !RESIZE(&c->part, (size_t)c->nodes))
    return iso_fail_memory(error);
  for (uint32_t i = 0; i < c->nodes; i++) {
    c->sub_first.items[i] = (uint32_t)c->sub_to.count;
    for (uint32_t e = c->first.items[i]; e < c->first.items[i + 1]; e++) {
      if (!usable(c->kinds.items[e], allowed, strictly)) continue;
      if (!iso_vec_push(&c->sub_to, c->to.items[e]) || !iso_vec_push(&c->sub_edge, e)) return iso_fail_memory(error);
    }
  }
  c->sub_first.items[c->nodes] = (uint32_t)c->sub_to.count;
  iso_components found = {.of = c->part.items};
  isoproof_status status = iso_components_of_rows(c->sub_first.items, c->sub_to.items, c->nodes, task, &found, error);
  *parts = found.count;
  return status;
}

bool iso_component_begin_walk(iso_component *c) {
  size_t states = (size_t)c->nodes * ISO_WALK_FLAGS;
  if (c->stamp.count != states && !RESIZE(&c->stamp, states)) return false;
  if (!RESIZE(&c->parent, states) || !RESIZE(&c->parent_edge, states)) return false;
  if (++c->epoch == UINT32_MAX) {
    memset(c->stamp.items, 0, states * sizeof *c->stamp.items);
    c->epoch = 1;
  }
  c->queue.count = c->next_queue.count = 0;
  return true;
}

/* ---- searches ---- */

/* The kinds of edges that a cycle of the type can be entered by. */
static iso_dependency_set entrance(const iso_cycle_spec *spec) {
  if (spec->anti != 0) return spec->anti;
  return spec->required != 0 ? spec->required : spec->dependencies;
}

isoproof_status iso_component_cycle(iso_component *c, const iso_cycle_spec *spec, isoproof_task *task, bool *gave_up,
                                    isoproof_error *error) {
  uint32_t parts, looked = 0;
  iso_cycle_walk w = {.c = c, .spec = spec};
  c->found.count = 0;
  ISO_TRY(keep(c, (iso_dependency_set)(spec->dependencies | spec->anti | spec->required), true, task, &parts, error));
  if (parts == 0) return ISOPROOF_OK;
  for (uint32_t i = 0; i < c->nodes && c->found.count != 2; i++) {
    if (c->part.items[i] == ISO_NO_COMPONENT) continue;
    for (uint32_t s = c->sub_first.items[i]; s < c->sub_first.items[i + 1]; s++) {
      w.start_edge = c->sub_edge.items[s];
      w.start = i;
      iso_dependency_set first = iso_dependency_strongest(c->kinds.items[w.start_edge]);
      if ((first & entrance(spec)) == 0 || c->part.items[c->sub_to.items[s]] != c->part.items[i]) continue;
      if ((++looked & 255) == 0) ISO_TRY(iso_task_check(task, error));
      w.limit = c->found.count > 0 ? (uint32_t)c->found.count : UINT32_MAX;
      if (c->budget == 0) {
        *gave_up |= c->found.count == 0;
        return ISOPROOF_OK;
      }
      ISO_TRY(iso_cycle_walk_run(&w, error));
      if (c->found.count == 2) break;
    }
  }
  *gave_up |= c->budget == 0 && c->found.count == 0;
  return ISOPROOF_OK;
}

/* The same graph with two nodes for each: 2v, and 2v+1 for having come by an anti-dependency.  Cycles in it are those
 * without two anti-dependencies in a row. */
typedef struct doubled {
  iso_numbers first, to, edge, part;
} doubled;

static bool make_doubled(const iso_component *c, iso_dependency_set kinds, doubled *d) {
  if (c->nodes >= UINT32_MAX / 2 || !RESIZE(&d->part, (size_t)c->nodes * 2)) return false;
  for (uint32_t i = 0; i < c->nodes * 2; i++) {
    if (!iso_vec_push(&d->first, (uint32_t)d->to.count)) return false;
    for (uint32_t s = c->sub_first.items[i / 2]; s < c->sub_first.items[i / 2 + 1]; s++) {
      iso_dependency_set all = c->kinds.items[c->sub_edge.items[s]];
      bool plain = (all & kinds & ~ISO_DEPENDENCY_ANY_RW) != 0, passage = all == ISO_PASSAGE;
      if (!plain && !passage && i % 2 == 1) continue;
      uint32_t after = passage ? i % 2 : plain ? 0 : 1;
      if (!iso_vec_push(&d->to, c->sub_to.items[s] * 2 + after)) return false;
      if (!iso_vec_push(&d->edge, c->sub_edge.items[s])) return false;
    }
  }
  return iso_vec_push(&d->first, (uint32_t)d->to.count);
}

static uint32_t source_of(const iso_component *c, uint32_t edge) {
  uint32_t low = 0, high = c->nodes;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (c->first.items[middle] <= edge) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Walks from an edge that lies on a cycle. */
static isoproof_status try_edge(iso_cycle_walk *w, uint32_t edge, isoproof_error *error) {
  w->start_edge = edge;
  w->start = source_of(w->c, edge);
  return iso_cycle_walk_run(w, error);
}

/* One edge of each part that is strongly connected, until one is on a cycle of transactions. */
static isoproof_status try_parts(iso_cycle_walk *w, const iso_numbers *first, const iso_numbers *to,
                                 const iso_numbers *edges, const iso_numbers *part, uint32_t parts,
                                 isoproof_error *error) {
  iso_component *c = w->c;
  uint8_t *tried = iso_alloc_zero(parts, 1);
  isoproof_status status = tried != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t i = 0; status == ISOPROOF_OK && i + 1 < first->count && c->found.count == 0; i++) {
    if (part->items[i] == ISO_NO_COMPONENT || tried[part->items[i]]) continue;
    for (uint32_t e = first->items[i]; status == ISOPROOF_OK && e < first->items[i + 1] && c->found.count == 0; e++) {
      iso_dependency_set plain =
          (iso_dependency_set)(c->kinds.items[edges->items[e]] & w->kinds & ~ISO_DEPENDENCY_ANY_RW);
      if (part->items[to->items[e]] != part->items[i] || (w->nonadjacent && plain == 0)) continue;
      tried[part->items[i]] = 1;
      status = try_edge(w, edges->items[e], error);
    }
  }
  free(tried);
  return status;
}

static isoproof_status exists_nonadjacent(iso_cycle_walk *w, isoproof_task *task, isoproof_error *error) {
  doubled d;
  iso_components found = {.of = NULL};
  memset(&d, 0, sizeof d);
  isoproof_status status = make_doubled(w->c, w->kinds, &d) ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    found.of = d.part.items;
    status = iso_components_of_rows(d.first.items, d.to.items, w->c->nodes * 2, task, &found, error);
  }
  if (status == ISOPROOF_OK && found.count > 0) {
    status = try_parts(w, &d.first, &d.to, &d.edge, &d.part, found.count, error);
  }
  iso_vec_free(&d.first);
  iso_vec_free(&d.to);
  iso_vec_free(&d.edge);
  iso_vec_free(&d.part);
  return status;
}

isoproof_status iso_component_exists(iso_component *c, iso_dependency_set kinds, bool nonadjacent, isoproof_task *task,
                                     isoproof_error *error) {
  uint32_t parts;
  iso_cycle_walk w = {.c = c, .kinds = kinds, .nonadjacent = nonadjacent, .limit = UINT32_MAX};
  c->found.count = 0;
  ISO_TRY(keep(c, kinds, false, task, &parts, error));
  if (parts == 0) return ISOPROOF_OK;
  c->budget = UINT64_MAX;
  if (nonadjacent) return exists_nonadjacent(&w, task, error);
  return try_parts(&w, &c->sub_first, &c->sub_to, &c->sub_edge, &c->part, parts, error);
}
