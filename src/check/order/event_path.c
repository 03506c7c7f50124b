/* A path between two events with the fewest edges outside of chains: breadth-first by cost 0 and 1. */
#include "check/order/event_path.h"

#include <stdlib.h>
#include <string.h>

#include "graph/components.h"

void iso_path_finder_free(iso_path_finder *f) {
  free(f->seen);
  free(f->cost);
  free(f->via);
  iso_vec_free(&f->near);
  iso_vec_free(&f->far);
  iso_vec_free(&f->next);
  memset(f, 0, sizeof *f);
}

isoproof_status iso_path_finder_make(const iso_event_graph *events, const iso_event_clocks *clocks, iso_path_finder *f,
                                     isoproof_error *error) {
  memset(f, 0, sizeof *f);
  f->events = events;
  f->clocks = clocks;
  f->before_round = UINT32_MAX;
  f->effort_limit = UINT64_MAX;
  f->seen = iso_alloc_zero(events->count, sizeof *f->seen);
  f->cost = iso_alloc(events->count, sizeof *f->cost);
  f->via = iso_alloc(events->count, sizeof *f->via);
  if (f->seen != NULL && f->cost != NULL && f->via != NULL) return ISOPROOF_OK;
  iso_path_finder_free(f);
  return iso_fail_memory(error);
}

typedef struct {
  iso_path_finder *f;
  uint32_t from, to;
  uint64_t effort;
  bool failed, found;
} search;

static bool may_pass(const search *s, uint32_t event) {
  const iso_path_finder *f = s->f;
  if (f->component != NULL && f->component[event] != f->component[s->to]) return false;
  return event == s->from || f->clocks == NULL || iso_reaches(f->events, f->clocks, s->from, event);
}

/* Meets an event before `step.to`, from which `to` can be reached at that cost. */
static void meet(search *s, iso_path_step step, uint32_t cost) {
  iso_path_finder *f = s->f;
  uint32_t event = step.from;
  bool closes = event == s->from;
  if (f->seen[event] == f->stamp && f->cost[event] <= cost && !(closes && event == s->to && !s->found)) return;
  if (!may_pass(s, event)) return;
  if (closes && event == s->to) s->found = true; /* a cycle: the event was seen as the end already */
  f->seen[event] = f->stamp;
  f->cost[event] = cost;
  f->via[event] = step;
  bool kept = step.of_chain ? iso_vec_push(&f->near, event) : iso_vec_push(&f->far, event);
  if (!kept) s->failed = true;
  if (closes) s->found = true;
}

static void expand(search *s, uint32_t event, uint32_t cost) {
  const iso_event_graph *e = s->f->events;
  uint64_t at = 0;
  uint32_t chain = iso_event_before(e, event), before;
  while ((before = iso_next_before(e, event, &at)) != ISO_NO_EVENT && !iso_is_derived(at)) {
    bool of_chain = before == chain;
    s->effort++;
    meet(s, (iso_path_step){before, event, 0, of_chain}, cost + !of_chain);
  }
  for (uint32_t edge = e->in[event]; edge > 0; edge = e->derived.items[edge - 1].next_in) {
    const iso_derived *d = &e->derived.items[edge - 1];
    s->effort++;
    bool chosen = d->reason == ISO_CHOSEN;
    if (chosen ? !s->f->use_chosen : d->round >= s->f->before_round) continue;
    meet(s, (iso_path_step){d->from, event, edge, false}, cost + 1);
  }
}

static void trace(search *s, iso_path *path) {
  iso_path_finder *f = s->f;
  uint32_t event = s->from;
  path->count = 0;
  do {
    iso_path_step step = f->via[event];
    if (!iso_vec_push(path, step)) {
      s->failed = true;
      return;
    }
    event = step.to;
  } while (event != s->to);
}

uint32_t iso_path_find(iso_path_finder *f, uint32_t from, uint32_t to, iso_path *path) {
  search s = {.f = f, .from = from, .to = to};
  f->stamp++;
  f->near.count = f->far.count = 0;
  f->seen[to] = f->stamp;
  f->cost[to] = 0;
  uint32_t cost = 0;
  expand(&s, to, 0);
  while (!s.failed && !s.found && s.effort < f->effort_limit) {
    while (f->near.count > 0 && !s.found && !s.failed) {
      uint32_t event = f->near.items[--f->near.count];
      if (f->cost[event] == cost) expand(&s, event, cost);
    }
    if (s.found || f->far.count == 0) break;
    cost++;
    f->next.count = 0;
    for (size_t i = 0; i < f->far.count && !s.failed; i++) {
      if (!iso_vec_push(&f->next, f->far.items[i])) s.failed = true;
    }
    f->far.count = 0;
    for (size_t i = 0; i < f->next.count && !s.failed; i++) {
      if (f->cost[f->next.items[i]] == cost && !iso_vec_push(&f->near, f->next.items[i])) s.failed = true;
    }
  }
  if (s.found && !s.failed) trace(&s, path);
  f->failed = f->failed || s.failed;
  return s.found && !s.failed ? f->cost[from] : UINT32_MAX;
}

/* ---- components ---- */

static uint32_t next_before(const void *graph, uint32_t event, uint64_t *cursor) {
  return iso_next_before(graph, event, cursor);
}

isoproof_status iso_event_components(const iso_event_graph *e, uint32_t **component, uint32_t *count,
                                     isoproof_error *error) {
  const iso_neighbours before = {e, next_before};
  uint32_t *members = iso_alloc(e->count, sizeof *members), member_count = 0;
  iso_components found = {.of = iso_alloc(e->count, sizeof *found.of)};
  isoproof_status status = members != NULL && found.of != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    for (uint32_t event = 0; event < e->count; event++) {
      if (iso_event_counts(e, event)) members[member_count++] = event;
    }
    status = iso_components_of_members(&before, e->count, members, member_count, NULL, &found, error);
  }
  free(members);
  if (status != ISOPROOF_OK) {
    free(found.of);
    return status;
  }
  *component = found.of;
  *count = found.count;
  return ISOPROOF_OK;
}
