/* Counting pairs of writers of one key that the clocks leave unordered. */
#include "check/strong/undecided.h"

#include <stdlib.h>

/* How many readers each version has, beside view->write_key. */
static uint32_t *count_readers(const iso_view *v) {
  uint32_t txns = v->h->txns;
  uint32_t *readers = iso_alloc_zero(v->write_first[txns], sizeof *readers);
  for (uint32_t i = 0; readers != NULL && i < v->read_first[txns]; i++) {
    uint32_t from = v->reads[i].from, key = v->reads[i].key;
    if (from == ISO_INITIAL) continue;
    for (uint32_t slot = v->write_first[from]; slot < v->write_first[from + 1]; slot++) {
      if (v->write_key[slot] == key) readers[slot]++;
    }
  }
  return readers;
}

static bool is_undecided(const iso_event_graph *e, const iso_event_clocks *clocks, uint32_t a, uint32_t b) {
  if (clocks == NULL) return true;
  uint32_t first = iso_event_commit(e, a), second = iso_event_commit(e, b);
  return !iso_reaches(e, clocks, first, second) && !iso_reaches(e, clocks, second, first);
}

/* Writers of a chain are ordered alike to any other writer, so those that are not ordered to it are next to each other:
 * the walk stops behind them. */
static void count_key(const iso_event_graph *e, const iso_event_clocks *clocks, const uint32_t *readers, uint32_t key,
                      uint64_t *pairs, uint64_t *dependencies) {
  const iso_view *v = e->view;
  for (uint32_t i = v->writer_first[key]; i < v->writer_first[key + 1]; i++) {
    uint32_t a = v->writer[i], chain = e->chain_of[a], mine = readers[iso_view_slot(v, a, key)];
    for (uint32_t group = e->group_first[key]; group < e->group_first[key + 1]; group++) {
      if (e->group_chain[group] <= chain) continue;
      bool met = false;
      for (uint32_t k = e->group_start[group]; k < e->group_start[group + 1]; k++) {
        uint32_t b = v->writer[k];
        if (is_undecided(e, clocks, a, b)) {
          met = true;
          *pairs += 1;
          *dependencies += 1 + (uint64_t)mine + readers[iso_view_slot(v, b, key)];
        } else if (met) {
          break;
        }
      }
    }
  }
}

void iso_count_undecided(const iso_event_graph *e, const iso_event_clocks *clocks, uint64_t *pairs,
                         uint64_t *dependencies) {
  *pairs = *dependencies = 0;
  uint32_t *readers = count_readers(e->view);
  for (uint32_t key = 0; readers != NULL && key < e->view->h->keys; key++) {
    count_key(e, clocks, readers, key, pairs, dependencies);
  }
  free(readers);
}
