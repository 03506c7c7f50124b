/* Events as nodes of a solver, with the known edges to their nearest neighbours per chain. */
#include "check/strong/solver_events.h"

#include <stdlib.h>
#include <string.h>

void iso_solver_events_free(iso_solver_events *n) {
  for (uint32_t chain = 0; n->chain != NULL && chain < n->events->chains; chain++) free(n->chain[chain].items);
  free(n->chain);
  free(n->node);
  iso_vec_free(&n->event);
  memset(n, 0, sizeof *n);
}

isoproof_status iso_solver_events_make(const iso_event_graph *events, const iso_event_clocks *clocks,
                                       iso_solver_events *n, isoproof_error *error) {
  memset(n, 0, sizeof *n);
  n->events = events;
  n->clocks = clocks;
  if (clocks == NULL) return ISOPROOF_OK;
  n->node = iso_alloc_zero(events->count, sizeof *n->node);
  n->chain = iso_alloc_zero(events->chains, sizeof *n->chain);
  if (n->node != NULL && n->chain != NULL) return ISOPROOF_OK;
  iso_solver_events_free(n);
  return iso_fail_memory(error);
}

/* The place of the first event of the chain that is not below. */
static size_t place_from(const struct iso_chain_nodes *chain, uint32_t event) {
  size_t low = 0, high = chain->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (chain->items[middle] < event) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

typedef struct {
  iso_solver_events *n;
  iso_known_edge_fn known;
  void *context;
} linker;

static isoproof_status link_events(const linker *l, uint32_t from, uint32_t to, isoproof_error *error) {
  return l->known(l->context, l->n->node[from] - 1, l->n->node[to] - 1, error);
}

/* Its neighbours among the nodes of each chain. */
static isoproof_status link_node(const linker *l, uint32_t event, isoproof_error *error) {
  const iso_solver_events *n = l->n;
  const int32_t *before = iso_event_clocks_before(n->clocks, event), *after = iso_event_clocks_after(n->clocks, event);
  uint32_t own = iso_event_chain(n->events, event);
  for (uint32_t c = 0; c < n->events->chains; c++) {
    const struct iso_chain_nodes *chain = &n->chain[c];
    if (chain->count == 0) continue;
    size_t behind = place_from(chain, c == own ? event : (uint32_t)before[c]);
    if (behind > 0) ISO_TRY(link_events(l, chain->items[behind - 1], event, error));
    if (c != own && after[c] == ISO_NO_REACH) continue;
    size_t next = place_from(chain, c == own ? event + 1 : (uint32_t)after[c]);
    if (next < chain->count) ISO_TRY(link_events(l, event, chain->items[next], error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_solver_event(iso_solver_events *n, uint32_t event, iso_known_edge_fn known, void *context,
                                 uint32_t *node, bool *is_new, isoproof_error *error) {
  *is_new = false;
  *node = event;
  if (n->clocks == NULL) return ISOPROOF_OK;
  if (n->node[event] == 0) {
    struct iso_chain_nodes *chain = &n->chain[iso_event_chain(n->events, event)];
    size_t place = place_from(chain, event);
    if (!iso_vec_push(&n->event, event) || !iso_vec_reserve(chain, 1)) return iso_fail_memory(error);
    n->node[event] = (uint32_t)n->event.count;
    *is_new = true;
    linker l = {n, known, context};
    ISO_TRY(link_node(&l, event, error));
    memmove(chain->items + place + 1, chain->items + place, (chain->count - place) * sizeof *chain->items);
    chain->items[place] = event;
    chain->count++;
  }
  *node = n->node[event] - 1;
  return ISOPROOF_OK;
}
