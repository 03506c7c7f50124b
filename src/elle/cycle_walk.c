/* Breadth-first search over nodes and what the walk met so far, and cycles told from walks. */
#include "elle/cycle_walk.h"

#include <string.h>

/* What a walk met: a step that is required; an anti-dependency, as its last step. */
enum { FLAG_REQUIRED = 1, FLAG_AFTER_ANTI = 2 };

/* The kind that an edge counts as in this walk. */
static iso_dependency_set kind_of(const iso_cycle_walk *w, uint32_t edge) {
  iso_dependency_set kinds = w->c->kinds.items[edge];
  if (w->spec != NULL) return iso_dependency_strongest(kinds);
  iso_dependency_set plain = (iso_dependency_set)(kinds & w->kinds & ~ISO_DEPENDENCY_ANY_RW);
  return iso_dependency_strongest(w->nonadjacent && plain != 0 ? plain : (iso_dependency_set)(kinds & w->kinds));
}

/* The flags after a step, -1 when the step may not be taken. */
static int flags_after(const iso_cycle_walk *w, int flags, iso_dependency_set kind) {
  if (kind == ISO_PASSAGE) return flags;
  if (w->spec == NULL) {
    bool anti = (kind & ISO_DEPENDENCY_ANY_RW) != 0;
    if (w->nonadjacent && anti && (flags & FLAG_AFTER_ANTI) != 0) return -1;
    return anti ? FLAG_AFTER_ANTI : 0;
  }
  bool anti = (kind & w->spec->anti) != 0;
  if (anti && w->spec->anti_count == ISO_ANTI_ONE) return -1; /* the walk began with it */
  if (anti && w->spec->anti_count == ISO_ANTI_NONADJACENT && (flags & FLAG_AFTER_ANTI) != 0) return -1;
  flags &= ~FLAG_AFTER_ANTI;
  if (anti && w->spec->anti_count == ISO_ANTI_NONADJACENT) flags |= FLAG_AFTER_ANTI;
  if ((kind & w->spec->required) != 0) flags |= FLAG_REQUIRED;
  return flags;
}

static bool accepts(const iso_cycle_walk *w, int flags) {
  if (w->spec == NULL) return true;
  if (w->spec->required != 0 && (flags & FLAG_REQUIRED) == 0) return false;
  return w->spec->anti_count != ISO_ANTI_NONADJACENT || (flags & FLAG_AFTER_ANTI) == 0;
}

/* The steps between transactions of the walk that ends with `last_edge` from `state`, in c->draft. */
static bool collapse(const iso_cycle_walk *w, uint32_t state, uint32_t last_edge) {
  iso_component *c = w->c;
  const uint32_t txns = c->graph->txns;
  c->path.count = 0;
  if (!iso_vec_push(&c->path, last_edge)) return false;
  for (; c->parent.items[state] != UINT32_MAX; state = c->parent.items[state]) {
    if (!iso_vec_push(&c->path, c->parent_edge.items[state])) return false;
  }
  if (!iso_vec_push(&c->path, w->start_edge)) return false;
  c->draft.count = 0;
  uint32_t from = c->member[w->start];
  for (size_t i = c->path.count; i-- > 0;) {
    uint32_t edge = c->path.items[i];
    iso_dependency_set kind = kind_of(w, edge);
    if (from < txns || kind != ISO_PASSAGE) {
      if (!iso_vec_push(&c->draft, ((iso_cycle_step){from, kind}))) return false;
    }
    from = c->member[c->to.items[edge]];
  }
  return true;
}

/* Steps that leave an auxiliary node with a kind of their own stand for a transaction that nobody knows; the cycle then
 * begins with a transaction that is known.  Data tells a step before orders do. */
static bool normalize(const iso_cycle_walk *w) {
  iso_component *c = w->c;
  const uint32_t txns = c->graph->txns;
  size_t begin = 0, count = c->draft.count, known = 0;
  for (size_t i = 0; i < count; i++) known += c->draft.items[i].txn < txns;
  while (begin < count && c->draft.items[begin].txn >= txns) begin++;
  if (begin == count) return false;
  for (size_t i = 0; i < begin; i++) {
    iso_cycle_step moved = c->draft.items[0];
    memmove(c->draft.items, c->draft.items + 1, (count - 1) * sizeof moved);
    c->draft.items[count - 1] = moved;
  }
  for (size_t i = 0; i < count; i++) {
    iso_cycle_step *step = &c->draft.items[i];
    uint32_t next = c->draft.items[(i + 1) % count].txn;
    if ((step->kind & ISO_DEPENDENCY_DATA) != 0 || step->txn >= txns || next >= txns || w->spec == NULL) continue;
    step->kind = iso_dependency_strongest(
        (iso_dependency_set)(step->kind | iso_dependency_graph_between(c->graph, step->txn, next)));
  }
  /* A walk that meets itself contains a shorter cycle, which is a worse one or is found by itself. */
  for (size_t i = 0; w->spec != NULL && i < count; i++) {
    for (size_t k = i + 1; k < count && count < 4096; k++) {
      if (c->draft.items[i].txn == c->draft.items[k].txn) return false;
    }
  }
  return known > 1; /* nobody comes before himself */
}

/* Whether the steps in c->draft are a cycle of the type that is searched for. */
static bool is_of_type(const iso_cycle_walk *w) {
  const iso_cycle_spec *spec = w->spec;
  const iso_cycle_step *steps = w->c->draft.items;
  size_t count = w->c->draft.count, anti = 0;
  bool ordered = spec->required == 0, reads = false, adjacent = false;
  for (size_t i = 0; i < count; i++) {
    iso_dependency_set kind = steps[i].kind;
    bool is_anti = (kind & spec->anti) != 0;
    if (!is_anti && (kind & (spec->dependencies | spec->required)) == 0) return false;
    anti += is_anti;
    adjacent |= is_anti && (steps[(i + 1) % count].kind & spec->anti) != 0;
    ordered |= (kind & spec->required) != 0;
    reads |= (kind & ISO_DEPENDENCY_ANY_WR) != 0;
  }
  if (!ordered) return false;
  switch (spec->anti_count) {
  case ISO_ANTI_NONE:
    return (spec->dependencies & ISO_DEPENDENCY_ANY_WR) == 0 || reads;
  case ISO_ANTI_ONE:
    return anti == 1;
  case ISO_ANTI_NONADJACENT:
    return anti >= 2 && !adjacent;
  case ISO_ANTI_MANY:
    return anti >= 2;
  }
  return false;
}

/* Looks at the walk that just came back; keeps it when it is what is wanted and shorter than what is there. */
static isoproof_status arrived(const iso_cycle_walk *w, uint32_t state, uint32_t edge, bool *kept,
                               isoproof_error *error) {
  iso_component *c = w->c;
  *kept = false;
  if (!collapse(w, state, edge)) return iso_fail_memory(error);
  if (!normalize(w) || (w->spec != NULL && !is_of_type(w))) return ISOPROOF_OK;
  if (c->found.count > 0 && c->found.count <= c->draft.count) return ISOPROOF_OK;
  c->found.count = 0;
  if (!iso_vec_reserve(&c->found, c->draft.count)) return iso_fail_memory(error);
  memcpy(c->found.items, c->draft.items, c->draft.count * sizeof *c->draft.items);
  c->found.count = c->draft.count;
  *kept = true;
  return ISOPROOF_OK;
}

static bool visit(iso_component *c, uint32_t state, uint32_t parent, uint32_t edge, bool further) {
  if (c->stamp.items[state] == c->epoch) return true;
  c->stamp.items[state] = c->epoch;
  c->parent.items[state] = parent;
  c->parent_edge.items[state] = edge;
  return further ? iso_vec_push(&c->next_queue, state) : iso_vec_push(&c->queue, state);
}

/* One step of a walk: everything that can be reached from a state.  *done when the walk came back as wanted. */
static isoproof_status expand(iso_cycle_walk *w, uint32_t state, bool *done, isoproof_error *error) {
  iso_component *c = w->c;
  uint32_t node = state / ISO_WALK_FLAGS;
  int flags = (int)(state % ISO_WALK_FLAGS);
  for (uint32_t s = c->sub_first.items[node]; s < c->sub_first.items[node + 1]; s++) {
    uint32_t target = c->sub_to.items[s], edge = c->sub_edge.items[s];
    if (c->part.items[target] != c->part.items[w->start]) continue;
    if (c->budget > 0) c->budget--;
    int after = flags_after(w, flags, kind_of(w, edge));
    if (after < 0) continue;
    if (target == w->start) {
      if (!accepts(w, after)) continue;
      ISO_TRY(arrived(w, state, edge, done, error));
      if (*done) return ISOPROOF_OK;
      continue;
    }
    bool further = c->kinds.items[edge] != ISO_PASSAGE;
    if (!visit(c, target * ISO_WALK_FLAGS + (uint32_t)after, state, edge, further)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_cycle_walk_run(iso_cycle_walk *w, isoproof_error *error) {
  iso_component *c = w->c;
  bool done = false;
  if (!iso_component_begin_walk(c)) return iso_fail_memory(error);
  iso_dependency_set kind = kind_of(w, w->start_edge);
  int flags = 0;
  if (w->spec == NULL ? (kind & ISO_DEPENDENCY_ANY_RW) != 0 : w->spec->anti_count == ISO_ANTI_NONADJACENT)
    flags |= FLAG_AFTER_ANTI;
  if (w->spec != NULL && (kind & w->spec->required) != 0) flags |= FLAG_REQUIRED;
  uint32_t state = c->to.items[w->start_edge] * ISO_WALK_FLAGS + (uint32_t)flags;
  if (!visit(c, state, UINT32_MAX, w->start_edge, false)) return iso_fail_memory(error);
  for (uint32_t length = 1; length + 1 < w->limit && c->queue.count > 0 && c->budget > 0; length++) {
    for (size_t i = 0; i < c->queue.count && c->budget > 0; i++) {
      ISO_TRY(expand(w, c->queue.items[i], &done, error));
      if (done) return ISOPROOF_OK;
    }
    iso_numbers swapped = c->queue;
    c->queue = c->next_queue;
    c->next_queue = swapped;
    c->next_queue.count = 0;
  }
  return ISOPROOF_OK;
}
