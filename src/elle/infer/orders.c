/* The order of each session, and that of real time as a chain of instants. */
#include "elle/infer/orders.h"

#include <stdlib.h>
#include <string.h>

static bool is_timed(const iso_instants *instants, uint32_t earlier, uint32_t later) {
  uint32_t ended = instants->ended[earlier], begun = instants->begun[later];
  return ended != ISO_NO_INSTANT && begun != ISO_NO_INSTANT && ended <= begun;
}

void iso_session_edges(const isoproof_history *h, const uint8_t *counts, const iso_instants *instants,
                       iso_dependency_list *edges) {
  for (uint32_t s = 0; s < h->sessions; s++) {
    uint32_t last = ISO_NO_OP;
    for (uint32_t t = h->session_first_txn[s]; t < h->session_first_txn[s + 1]; t++) {
      if (!counts[t]) continue;
      bool said = last != ISO_NO_OP && instants != NULL && is_timed(instants, last, t);
      if (last != ISO_NO_OP && !said) iso_dependency_add(edges, last, t, ISO_DEPENDENCY_SO);
      if (h->txn_status[t] == ISOPROOF_TXN_COMMITTED) last = t;
    }
  }
}

static bool has_realtime(const isoproof_history *h) {
  return h->txn_start_index_opt != NULL || h->txn_start_opt != NULL;
}

/* A beginning or an end. */
typedef struct event {
  int64_t at;
  uint32_t txn;
  uint32_t end;
} event;

static int by_time(const void *a, const void *b) {
  const event *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  /* What happens at the same time overlaps: beginnings come first. */
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static size_t collect(const isoproof_history *h, const uint8_t *counts, event *events) {
  bool indexes = h->txn_start_index_opt != NULL;
  const int64_t *starts = indexes ? h->txn_start_index_opt : h->txn_start_opt;
  const int64_t *ends = indexes ? h->txn_end_index_opt : h->txn_end_opt;
  int64_t blank = indexes ? -1 : ISOPROOF_NO_TIME;
  size_t count = 0;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!counts[t]) continue;
    if (starts[t] != blank) events[count++] = (event){starts[t], t, 0};
    /* When a transaction of unknown outcome ended nobody knows. */
    if (ends[t] != blank && h->txn_status[t] == ISOPROOF_TXN_COMMITTED) events[count++] = (event){ends[t], t, 1};
  }
  return count;
}

/* Sorts events: by their place where times are a permutation of small numbers, as indexes are, else by comparison. */
static bool sort_events(event *events, size_t count) {
  int64_t least = INT64_MAX, most = INT64_MIN;
  bool sorted = true;
  for (size_t i = 0; i < count; i++) {
    least = events[i].at < least ? events[i].at : least;
    most = events[i].at > most ? events[i].at : most;
    sorted = sorted && (i == 0 || by_time(&events[i - 1], &events[i]) < 0);
  }
  if (sorted) return true;
  uint64_t span = (uint64_t)most - (uint64_t)least;
  if (span > count * (uint64_t)4 + 1024) {
    qsort(events, count, sizeof *events, by_time);
    return true;
  }
  uint32_t *first = iso_alloc_zero((size_t)span * 2 + 3, sizeof *first);
  event *sorted_events = iso_alloc(count, sizeof *sorted_events);
  bool made = first != NULL && sorted_events != NULL;
  if (made) {
#define SLOT(e) ((size_t)((uint64_t)(e).at - (uint64_t)least) * 2 + (e).end)
    for (size_t i = 0; i < count; i++) first[SLOT(events[i]) + 1]++;
    for (size_t i = 0; i < (size_t)span * 2 + 2; i++) first[i + 1] += first[i];
    for (size_t i = 0; i < count; i++) sorted_events[first[SLOT(events[i])]++] = events[i];
#undef SLOT
    memcpy(events, sorted_events, count * sizeof *events);
  }
  free(first);
  free(sorted_events);
  return made;
}

static void number_instants(const event *events, size_t count, iso_instants *instants) {
  bool after_end = false;
  for (size_t i = 0; i < count; i++) {
    if (events[i].end) {
      instants->ended[events[i].txn] = instants->count; /* the next instant, should there be one */
      after_end = true;
      continue;
    }
    if (after_end) instants->count++;
    after_end = false;
    if (instants->count > 0) instants->begun[events[i].txn] = instants->count - 1;
  }
}

isoproof_status iso_instants_make(const isoproof_history *h, const uint8_t *counts, iso_instants *instants,
                                  isoproof_error *error) {
  *instants = (iso_instants){NULL, NULL, 0};
  instants->begun = iso_alloc(h->txns, sizeof *instants->begun);
  instants->ended = iso_alloc(h->txns, sizeof *instants->ended);
  event *events = iso_alloc((size_t)h->txns * 2, sizeof *events);
  bool made = instants->begun != NULL && instants->ended != NULL && events != NULL;
  if (made) {
    memset(instants->begun, 0xff, (size_t)h->txns * sizeof *instants->begun);
    memset(instants->ended, 0xff, (size_t)h->txns * sizeof *instants->ended);
    size_t count = has_realtime(h) ? collect(h, counts, events) : 0;
    made = sort_events(events, count);
    if (made) number_instants(events, count, instants);
    for (uint32_t t = 0; made && t < h->txns; t++) {
      if (instants->ended[t] == instants->count) instants->ended[t] = ISO_NO_INSTANT;
      bool backwards = instants->begun[t] != ISO_NO_INSTANT && instants->ended[t] <= instants->begun[t];
      if (backwards) instants->ended[t] = ISO_NO_INSTANT; /* it ended before it began: one of the two is wrong */
    }
  }
  free(events);
  if (made) return ISOPROOF_OK;
  iso_instants_free(instants);
  return iso_fail_memory(error);
}

void iso_instants_free(iso_instants *instants) {
  free(instants->begun);
  free(instants->ended);
  *instants = (iso_instants){NULL, NULL, 0};
}

void iso_realtime_edges(const isoproof_history *h, const iso_instants *instants, iso_dependency_list *edges) {
  uint32_t node = edges->nodes;
  if (instants->count > UINT32_MAX - 16 - node) {
    edges->failed = true;
    return;
  }
  edges->nodes += instants->count;
  for (uint32_t m = 0; m + 1 < instants->count; m++) iso_dependency_add(edges, node + m, node + m + 1, ISO_PASSAGE);
  for (uint32_t t = 0; t < h->txns; t++) {
    if (instants->ended[t] != ISO_NO_INSTANT)
      iso_dependency_add(edges, t, node + instants->ended[t], ISO_DEPENDENCY_RT);
    if (instants->begun[t] != ISO_NO_INSTANT) iso_dependency_add(edges, node + instants->begun[t], t, ISO_PASSAGE);
  }
}
