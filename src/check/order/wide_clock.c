/* Rows made anew from the fewest neighbours that give them. */
#include "check/order/wide_clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/task.h"

/* Neighbours on one side of every event, the nearest in the sequence first. */
typedef struct {
  size_t *first; /* by event, and one more */
  uint32_t *event;
} neighbours;

typedef struct {
  const iso_event_graph *e;
  const iso_sequence *s;
  isoproof_task *task;
  iso_event_clocks *clocks;
  neighbours before, after;
  int32_t *row[2]; /* scratch, by side */
} updater;

static bool neighbours_begin(neighbours *n, uint32_t events) {
  n->first = iso_alloc_zero((size_t)events + 2, sizeof *n->first);
  return n->first != NULL;
}

static void neighbours_free(neighbours *n) {
  free(n->first);
  free(n->event);
}

/* After first[event + 2] has counted those of each event: room for all of them. */
static bool neighbours_make_room(neighbours *n, uint32_t events) {
  for (uint32_t i = 0; i < events; i++) n->first[i + 2] += n->first[i + 1];
  n->event = iso_alloc(n->first[events + 1], sizeof *n->event);
  return n->event != NULL;
}

static void put(neighbours *n, uint32_t of, uint32_t other) { n->event[n->first[of + 1]++] = other; }

/* In the order of the sequence those behind an event come to it from the nearest on; then, from the end of the
 * sequence, so do those before it. */
static bool list_neighbours(updater *u) {
  const iso_event_graph *e = u->e;
  const iso_sequence *s = u->s;
  uint32_t before;
  if (!neighbours_begin(&u->before, e->count) || !neighbours_begin(&u->after, e->count)) return false;
  for (uint32_t i = 0; i < s->count; i++) {
    uint64_t at = 0;
    while ((before = iso_next_before(e, s->event[i], &at)) != ISO_NO_EVENT) {
      u->before.first[s->event[i] + 2]++;
      u->after.first[before + 2]++;
    }
  }
  if (!neighbours_make_room(&u->before, e->count) || !neighbours_make_room(&u->after, e->count)) return false;
  for (uint32_t i = 0; i < s->count; i++) {
    uint64_t at = 0;
    while ((before = iso_next_before(e, s->event[i], &at)) != ISO_NO_EVENT) put(&u->after, before, s->event[i]);
  }
  for (uint32_t i = s->count; i-- > 0;) {
    uint32_t event = s->event[i];
    for (size_t k = u->after.first[event]; k < u->after.first[event + 1]; k++)
      put(&u->before, u->after.event[k], event);
  }
  return true;
}

/* Takes the scratch over as the row of an event; whether it is another one. */
static bool take(int32_t *row, const int32_t *fresh, uint32_t width) {
  if (memcmp(row, fresh, width * sizeof *row) == 0) return false;
  memcpy(row, fresh, width * sizeof *row);
  return true;
}

static bool any_changed(const neighbours *n, uint32_t event, const uint8_t *changed) {
  for (size_t k = n->first[event]; k < n->first[event + 1]; k++) {
    if (changed[n->event[k]]) return true;
  }
  return false;
}

/* Whether the event has an edge that the last update did not know. */
static bool has_new_edge(const updater *u, uint32_t event) {
  return u->clocks->fresh || u->e->in[event] > u->clocks->edges;
}

static bool is_over(const updater *u, uint32_t step) {
  enum { BREATH = 1024 };
  return step % BREATH == 0 && iso_task_check(u->task, NULL) != ISOPROOF_OK;
}

static void update_before(updater *u) {
  iso_event_clocks *clocks = u->clocks;
  uint32_t width = clocks->width;
  int32_t *row = u->row[0];
  for (uint32_t i = 0; i < u->s->count && !is_over(u, i); i++) {
    uint32_t event = u->s->event[i];
    clocks->changed_before[event] = 0;
    if (!has_new_edge(u, event) && !any_changed(&u->before, event, clocks->changed_before)) continue;
    memset(row, 0, width * sizeof *row);
    for (size_t k = u->before.first[event]; k < u->before.first[event + 1]; k++) {
      uint32_t other = u->before.event[k], chain = iso_event_chain(u->e, other);
      if (row[chain] > (int32_t)other) continue;
      const int32_t *its = iso_event_clocks_before(clocks, other);
      for (uint32_t c = 0; c < width; c++) row[c] = row[c] > its[c] ? row[c] : its[c];
      row[chain] = (int32_t)other + 1;
    }
    clocks->changed_before[event] = take(clocks->before + (size_t)event * width, row, width);
  }
}

static void update_after(updater *u) {
  iso_event_clocks *clocks = u->clocks;
  uint32_t width = clocks->width;
  int32_t *row = u->row[1];
  for (uint32_t i = u->s->count; i-- > 0 && !is_over(u, i);) {
    uint32_t event = u->s->event[i];
    for (uint32_t c = 0; c < width; c++) row[c] = ISO_NO_REACH;
    for (size_t k = u->after.first[event]; k < u->after.first[event + 1]; k++) {
      uint32_t other = u->after.event[k], chain = iso_event_chain(u->e, other);
      if (row[chain] <= (int32_t)other) continue;
      const int32_t *its = iso_event_clocks_after(clocks, other);
      for (uint32_t c = 0; c < width; c++) row[c] = row[c] < its[c] ? row[c] : its[c];
      row[chain] = (int32_t)other;
    }
    clocks->changed_after[event] = take(clocks->after + (size_t)event * width, row, width);
  }
}

static void update_side(void *context, unsigned thread, unsigned threads) {
  updater *u = context;
  if (thread == 0) update_before(u);
  if (thread == 1 || threads == 1) update_after(u);
}

isoproof_status iso_wide_clocks_update(const iso_event_graph *e, const iso_sequence *sequence, isoproof_task *task,
                                       iso_event_clocks *clocks, isoproof_error *error) {
  updater u = {.e = e, .s = sequence, .task = task, .clocks = clocks};
  u.row[0] = iso_alloc(clocks->width, sizeof *u.row[0]);
  u.row[1] = iso_alloc(clocks->width, sizeof *u.row[1]);
  bool made = u.row[0] != NULL && u.row[1] != NULL && list_neighbours(&u);
  if (made) iso_parallel(iso_task_threads(task) < 2 ? 1 : 2, update_side, &u);
  clocks->fresh = false;
  clocks->edges = (uint32_t)e->derived.count;
  neighbours_free(&u.before);
  neighbours_free(&u.after);
  free(u.row[0]);
  free(u.row[1]);
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}
