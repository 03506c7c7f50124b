/* Vector clocks of events over chains, in both directions, brought up to date where edges were added. */
#include "check/order/event_clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/task.h"
#include "check/order/wide_clock.h"

/* CELLS_PER_LOOK: how many are gone over between two questions to the task, a hundredth of a second or so. */
enum { LANES = 4, CELLS_PER_LOOK = 1 << 24 };

void iso_event_clocks_free(iso_event_clocks *clocks) {
  free(clocks->before);
  free(clocks->after);
  free(clocks->changed_before);
  free(clocks->changed_after);
  memset(clocks, 0, sizeof *clocks);
}

static uint32_t width_of(const iso_event_graph *e) { return (e->chains + LANES - 1) / LANES * LANES; }

uint64_t iso_event_clocks_bytes(const iso_event_graph *e) {
  return (uint64_t)e->count * (width_of(e) * 2 * sizeof(int32_t) + 2);
}

/* Rows of thousands of chains are gigabytes, which take their time. */
static isoproof_status fill_after(const iso_event_clocks *clocks, size_t cells, const isoproof_task *task,
                                  isoproof_error *error) {
  for (size_t begin = 0; begin < cells; begin += CELLS_PER_LOOK) {
    size_t end = cells - begin < CELLS_PER_LOOK ? cells : begin + CELLS_PER_LOOK;
    for (size_t i = begin; i < end; i++) clocks->after[i] = ISO_NO_REACH;
    ISO_TRY(iso_task_check(task, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_event_clocks_make(const iso_event_graph *e, const isoproof_task *task, iso_event_clocks *clocks,
                                      isoproof_error *error) {
  memset(clocks, 0, sizeof *clocks);
  if (e->count >= ISO_NO_REACH) return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many events for this level");
  clocks->width = width_of(e);
  clocks->fresh = true;
  size_t cells = (size_t)e->count * clocks->width;
  clocks->before = iso_alloc_zero(cells, sizeof *clocks->before);
  clocks->after = iso_alloc(cells, sizeof *clocks->after);
  clocks->changed_before = iso_alloc(e->count, 1);
  clocks->changed_after = iso_alloc(e->count, 1);
  if (clocks->before == NULL || clocks->after == NULL || clocks->changed_before == NULL ||
      clocks->changed_after == NULL) {
    iso_event_clocks_free(clocks);
    return iso_fail_memory(error);
  }
  isoproof_status status = fill_after(clocks, cells, task, error);
  if (status != ISOPROOF_OK) iso_event_clocks_free(clocks);
  return status;
}

typedef struct {
  const iso_event_graph *e;
  const iso_sequence *s;
  isoproof_task *task;
  iso_event_clocks *clocks;
} updater;

/* Whether the work is to end; `done` counts the cells since the last question. */
static inline bool is_stopped(const updater *u, uint64_t *done) {
  *done += u->clocks->width;
  if (*done < CELLS_PER_LOOK) return false;
  *done = 0;
  return iso_task_check(u->task, NULL) != ISOPROOF_OK;
}

/* A row takes the larger, or the smaller, of its cells and another's; the inner loop has a fixed length so that the
 * compiler makes one instruction of it.  Returns whether anything changed. */
static inline int32_t raise_row(int32_t *row, const int32_t *other, uint32_t width) {
  int32_t changed = 0;
  for (uint32_t i = 0; i < width; i += LANES) {
    int32_t differs[LANES];
    for (uint32_t k = 0; k < LANES; k++) {
      int32_t larger = row[i + k] > other[i + k] ? row[i + k] : other[i + k];
      differs[k] = larger ^ row[i + k];
      row[i + k] = larger;
    }
    for (uint32_t k = 0; k < LANES; k++) changed |= differs[k];
  }
  return changed;
}

static inline int32_t lower_row(int32_t *row, const int32_t *other, uint32_t width) {
  int32_t changed = 0;
  for (uint32_t i = 0; i < width; i += LANES) {
    int32_t differs[LANES];
    for (uint32_t k = 0; k < LANES; k++) {
      int32_t smaller = row[i + k] < other[i + k] ? row[i + k] : other[i + k];
      differs[k] = smaller ^ row[i + k];
      row[i + k] = smaller;
    }
    for (uint32_t k = 0; k < LANES; k++) changed |= differs[k];
  }
  return changed;
}

/* Rows only ever grow, so the old row is a start. */
static void update_before(updater *u) {
  const iso_event_graph *e = u->e;
  uint32_t width = u->clocks->width;
  uint64_t done = 0;
  for (uint32_t i = 0; i < u->s->count; i++) {
    uint32_t event = u->s->event[i], before;
    int32_t *row = u->clocks->before + (size_t)event * width, changed = 0;
    uint64_t at = 0;
    while ((before = iso_next_before(e, event, &at)) != ISO_NO_EVENT) {
      uint32_t chain = iso_event_chain(e, before);
      if (is_stopped(u, &done)) return;
      changed |= raise_row(row, u->clocks->before + (size_t)before * width, width);
      if (row[chain] <= (int32_t)before) row[chain] = (int32_t)before + 1, changed = 1;
    }
    u->clocks->changed_before[event] = changed != 0;
  }
}

/* Backwards, each event hands its row on to those before it. */
static void update_after(updater *u) {
  const iso_event_graph *e = u->e;
  uint32_t width = u->clocks->width;
  uint64_t done = 0;
  memset(u->clocks->changed_after, 0, e->count);
  for (uint32_t i = u->s->count; i-- > 0;) {
    uint32_t event = u->s->event[i], before, chain = iso_event_chain(e, event);
    const int32_t *row = u->clocks->after + (size_t)event * width;
    uint64_t at = 0;
    while ((before = iso_next_before(e, event, &at)) != ISO_NO_EVENT) {
      if (is_stopped(u, &done)) return;
      int32_t *other = u->clocks->after + (size_t)before * width;
      int32_t changed = lower_row(other, row, width);
      if (other[chain] > (int32_t)event) other[chain] = (int32_t)event, changed = 1;
      if (changed) u->clocks->changed_after[before] = 1;
    }
  }
}

static void update_side(void *context, unsigned thread, unsigned threads) {
  updater *u = context;
  if (thread == 0) update_before(u);
  if (thread == 1 || threads == 1) update_after(u);
}

isoproof_status iso_event_clocks_update(const iso_event_graph *e, const iso_sequence *sequence, isoproof_task *task,
                                        iso_event_clocks *clocks, isoproof_error *error) {
  enum { SMALL = 1024, WIDE = 64 };
  if (clocks->width > WIDE) return iso_wide_clocks_update(e, sequence, task, clocks, error);
  updater u = {.e = e, .s = sequence, .task = task, .clocks = clocks};
  iso_parallel(e->count < SMALL || iso_task_threads(task) < 2 ? 1 : 2, update_side, &u);
  return iso_task_check(task, error);
}
