/* A transitive reduction of new edges by what is known already: per event, the nearest other ends first. */
#include "check/strong/implied.h"

#include <stdlib.h>
#include <string.h>

#include "base/task.h"

typedef struct {
  uint32_t place, edge;
} near;

typedef struct {
  const iso_event_graph *e;
  const iso_sequence *s;
  const iso_event_clocks *clocks;
  iso_derived *edges;
  size_t count;
  bool into;      /* edges to an event are compared, else those from one */
  size_t *first;  /* by event */
  near *ends;     /* edges by the event that they share, each with the place of its other end */
  int32_t *row;   /* of the event at hand, with what was kept so far */
  uint8_t *drops; /* by edge */
} reducer;

static int by_place(const void *a, const void *b) {
  const near *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

static void group(reducer *r) {
  memset(r->first, 0, ((size_t)r->e->count + 2) * sizeof *r->first);
  for (size_t i = 0; i < r->count; i++) r->first[(r->into ? r->edges[i].to : r->edges[i].from) + 2]++;
  for (uint32_t event = 0; event < r->e->count; event++) r->first[event + 2] += r->first[event + 1];
  for (size_t i = 0; i < r->count; i++) {
    uint32_t shared = r->into ? r->edges[i].to : r->edges[i].from, other = r->into ? r->edges[i].from : r->edges[i].to;
    /* The nearest first: the last before the event, or the first behind it. */
    uint32_t place = r->into ? UINT32_MAX - r->s->place[other] : r->s->place[other];
    r->ends[r->first[shared + 1]++] = (near){place, (uint32_t)i};
  }
}

/* Whether the other end of an edge follows from those that were kept; if not, it is one of them. */
static bool is_implied(reducer *r, const iso_derived *edge) {
  uint32_t other = r->into ? edge->from : edge->to, chain = iso_event_chain(r->e, other), width = r->clocks->width;
  int32_t *row = r->row, at = (int32_t)other;
  if (r->into ? at < row[chain] : row[chain] <= at) return true;
  const int32_t *reach = r->into ? iso_event_clocks_before(r->clocks, other) : iso_event_clocks_after(r->clocks, other);
  if (r->into) {
    for (uint32_t i = 0; i < width; i++) row[i] = row[i] > reach[i] ? row[i] : reach[i];
    row[chain] = at + 1;
  } else {
    for (uint32_t i = 0; i < width; i++) row[i] = row[i] < reach[i] ? row[i] : reach[i];
    row[chain] = at;
  }
  return false;
}

static void compare(reducer *r, uint32_t event) {
  size_t begin = r->first[event], count = r->first[event + 1] - begin;
  if (count < 2) return;
  const int32_t *known = r->into ? iso_event_clocks_before(r->clocks, event) : iso_event_clocks_after(r->clocks, event);
  memcpy(r->row, known, r->clocks->width * sizeof *known);
  qsort(r->ends + begin, count, sizeof *r->ends, by_place);
  for (size_t i = begin; i < begin + count; i++) {
    if (is_implied(r, &r->edges[r->ends[i].edge])) r->drops[r->ends[i].edge] = 1;
  }
}

static void reduce(reducer *r, bool into, const isoproof_task *task) {
  enum { BREATH = 1024 };
  r->into = into;
  memset(r->drops, 0, r->count);
  group(r);
  for (uint32_t event = 0; event < r->e->count; event++) {
    if (event % BREATH == 0 && iso_task_check(task, NULL) != ISOPROOF_OK) return;
    compare(r, event);
  }
  size_t kept = 0;
  for (size_t i = 0; i < r->count; i++) {
    if (!r->drops[i]) r->edges[kept++] = r->edges[i];
  }
  r->count = kept;
}

isoproof_status iso_drop_implied(const iso_event_graph *e, const iso_sequence *sequence, const iso_event_clocks *clocks,
                                 iso_derived *edges, size_t *count, isoproof_task *task, isoproof_error *error) {
  reducer r = {.e = e, .s = sequence, .clocks = clocks, .edges = edges, .count = *count};
  r.first = iso_alloc((size_t)e->count + 2, sizeof *r.first);
  r.ends = iso_alloc(*count, sizeof *r.ends);
  r.row = iso_alloc(clocks->width, sizeof *r.row);
  r.drops = iso_alloc(*count, 1);
  bool made = r.first != NULL && r.ends != NULL && r.row != NULL && r.drops != NULL;
  if (made) {
    reduce(&r, false, task); /* which leaves fewer for the other one than the other way round */
    reduce(&r, true, task);
  }
  free(r.first);
  free(r.ends);
  free(r.row);
  free(r.drops);
  *count = r.count;
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}
