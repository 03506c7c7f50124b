/* Events sorted by what is known and by hints, without the hints that close cycles. */
#include "check/order/value_order.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t from, to;
} arc;

typedef struct {
  const iso_event_graph *e;
  const iso_hints *hints;
  size_t count;                 /* of the hints, the first ones count */
  ISO_VEC(arc) arcs;            /* these, then what is known */
  uint8_t *dropped;             /* by hint */
  size_t *out_first, *in_first; /* by event, and two more */
  uint32_t *out, *in;           /* arcs */
  uint32_t *behind;             /* by event: arcs to it from events that are not placed */
  uint32_t *order;              /* events as they are placed */
  uint32_t placed, total;
  uint32_t *seen;             /* by event: the walk that was last there */
  uint32_t *way;              /* by event: the arc by which that came */
  uint32_t walks, first_left; /* all events before that one are placed */
  uint64_t steps, most_steps;
} sorter;

/* ---- arcs ---- */

static bool collect(sorter *s) {
  const iso_event_graph *e = s->e;
  if (!iso_vec_reserve(&s->arcs, s->count + e->count)) return false;
  for (; s->arcs.count < s->count; s->arcs.count++) {
    const iso_hint *hint = &s->hints->items.items[s->arcs.count];
    s->arcs.items[s->arcs.count] = (arc){hint->from, hint->to};
  }
  for (uint32_t event = 0; event < e->count; event++) {
    uint64_t at = 0;
    uint32_t before;
    if (!iso_event_counts(e, event)) continue;
    while ((before = iso_next_before(e, event, &at)) != ISO_NO_EVENT) {
      if (!iso_vec_push(&s->arcs, ((arc){before, event}))) return false;
    }
  }
  return true;
}

static bool index_arcs(sorter *s) {
  size_t events = s->e->count, arcs = s->arcs.count;
  s->out_first = iso_alloc_zero(events + 2, sizeof *s->out_first);
  s->in_first = iso_alloc_zero(events + 2, sizeof *s->in_first);
  s->out = iso_alloc(arcs, sizeof *s->out);
  s->in = iso_alloc(arcs, sizeof *s->in);
  if (s->out_first == NULL || s->in_first == NULL || s->out == NULL || s->in == NULL) return false;
  for (size_t i = 0; i < arcs; i++) {
    s->out_first[s->arcs.items[i].from + 2]++;
    s->in_first[s->arcs.items[i].to + 2]++;
  }
  for (size_t i = 2; i < events + 2; i++) {
    s->out_first[i] += s->out_first[i - 1];
    s->in_first[i] += s->in_first[i - 1];
  }
  for (size_t i = 0; i < arcs; i++) {
    s->out[s->out_first[s->arcs.items[i].from + 1]++] = (uint32_t)i;
    s->in[s->in_first[s->arcs.items[i].to + 1]++] = (uint32_t)i;
  }
  return true;
}

static bool is_dropped(const sorter *s, uint32_t i) { return i < s->count && s->dropped[i]; }

/* ---- placing ---- */

static bool is_left(const sorter *s, uint32_t event) { return s->behind[event] > 0 && iso_event_counts(s->e, event); }

/* Places all that nothing keeps, from those that are placed and not looked at on. */
static void place_free(sorter *s, uint32_t *looked) {
  while (*looked < s->placed) {
    uint32_t event = s->order[(*looked)++];
    for (size_t k = s->out_first[event]; k < s->out_first[event + 1]; k++) {
      uint32_t to = s->arcs.items[s->out[k]].to;
      if (!is_dropped(s, s->out[k]) && --s->behind[to] == 0) s->order[s->placed++] = to;
    }
  }
}

/* The arc to an event from one that is not placed. */
static uint32_t arc_from_left(sorter *s, uint32_t event) {
  for (size_t k = s->in_first[event]; k < s->in_first[event + 1]; k++) {
    s->steps++;
    if (!is_dropped(s, s->in[k]) && is_left(s, s->arcs.items[s->in[k]].from)) return s->in[k];
  }
  return UINT32_MAX;
}

/* The hint of a cycle that is given up: one about a reader, where there is one.  UINT32_MAX where all is known. */
static uint32_t weakest(const sorter *s, uint32_t event) {
  uint32_t at = event, found = UINT32_MAX;
  do {
    uint32_t i = s->way[at];
    if (i < s->count && (found == UINT32_MAX || i > found)) found = i;
    at = s->arcs.items[i].from;
  } while (at != event);
  return found;
}

/* Drops a hint of a cycle among what is left; false where that cannot be. */
static bool break_cycle(sorter *s) {
  while (s->first_left < s->e->count && !is_left(s, s->first_left)) s->first_left++;
  uint32_t event = s->first_left;
  if (event == s->e->count) return false;
  for (s->walks++; s->seen[event] != s->walks;) {
    s->seen[event] = s->walks;
    uint32_t by = arc_from_left(s, event);
    if (by == UINT32_MAX) return false;
    s->way[event] = by;
    event = s->arcs.items[by].from;
  }
  uint32_t hint = weakest(s, event);
  if (hint == UINT32_MAX) return false;
  s->dropped[hint] = 1;
  uint32_t to = s->arcs.items[hint].to;
  if (--s->behind[to] == 0) s->order[s->placed++] = to;
  return s->steps < s->most_steps;
}

/* Places everything as early as it can be; false where the hints contradict too much. */
static bool place_early(sorter *s, isoproof_task *task) {
  enum { NOW_AND_THEN = 1024 };
  uint32_t looked = 0;
  for (size_t i = 0; i < s->arcs.count; i++) s->behind[s->arcs.items[i].to]++;
  for (uint32_t event = 0; event < s->e->count; event++) {
    if (s->behind[event] == 0 && iso_event_counts(s->e, event)) s->order[s->placed++] = event;
  }
  for (uint32_t turns = 1;; turns++) {
    place_free(s, &looked);
    if (s->placed == s->total) return true;
    if (turns % NOW_AND_THEN == 0 && iso_task_check(task, NULL) != ISOPROOF_OK) return false;
    if (!break_cycle(s)) return false;
  }
}

/* The same from the end, for those that are needed last; when[event] becomes the sum of both places. */
static void place_late(sorter *s, int64_t *when) {
  uint32_t placed = 0, *early = s->way;
  memcpy(early, s->order, s->total * sizeof *early);
  memset(s->behind, 0, s->e->count * sizeof *s->behind);
  for (uint32_t i = 0; i < s->arcs.count; i++) {
    if (!is_dropped(s, i)) s->behind[s->arcs.items[i].from]++;
  }
  for (uint32_t i = s->total; i-- > 0;) {
    when[early[i]] = i;
    if (s->behind[early[i]] == 0) s->order[placed++] = early[i];
  }
  for (uint32_t looked = 0; looked < placed; looked++) {
    uint32_t event = s->order[looked];
    when[event] += s->total - 1 - looked;
    for (size_t k = s->in_first[event]; k < s->in_first[event + 1]; k++) {
      uint32_t from = s->arcs.items[s->in[k]].from;
      if (!is_dropped(s, s->in[k]) && --s->behind[from] == 0) s->order[placed++] = from;
    }
  }
}

/* A begin right before the first event that has to come after it: the shorter a transaction, the fewer it overlaps. */
static void begin_late(const sorter *s, int64_t *when) {
  for (uint32_t i = 0; i < s->total; i++) {
    uint32_t event = s->order[i], txn = iso_event_txn(s->e, event);
    int64_t first = INT64_MAX;
    if (txn == ISO_NO_TXN || event != iso_event_begin(s->e, txn)) continue;
    for (size_t k = s->out_first[event]; k < s->out_first[event + 1]; k++) {
      int64_t there = when[s->arcs.items[s->out[k]].to];
      if (!is_dropped(s, s->out[k]) && there < first) first = there;
    }
    if (first < INT64_MAX) when[event] = first - 1;
  }
}

/* ---- all of it ---- */

static bool allocate(sorter *s) {
  size_t events = s->e->count;
  s->dropped = iso_alloc_zero(s->count, 1);
  s->behind = iso_alloc_zero(events, sizeof *s->behind);
  s->order = iso_alloc(events, sizeof *s->order);
  s->seen = iso_alloc_zero(events, sizeof *s->seen);
  s->way = iso_alloc(events, sizeof *s->way);
  return s->dropped != NULL && s->behind != NULL && s->order != NULL && s->seen != NULL && s->way != NULL &&
         collect(s) && index_arcs(s);
}

static void sorter_free(sorter *s) {
  iso_vec_free(&s->arcs);
  free(s->dropped);
  free(s->out_first);
  free(s->in_first);
  free(s->out);
  free(s->in);
  free(s->behind);
  free(s->order);
  free(s->seen);
  free(s->way);
}

/* The hints that the sequence keeps to. */
static void keep_hints(const sorter *s, iso_value_order *c) {
  size_t kept = 0;
  for (size_t i = 0; i < s->count; i++) {
    if (!s->dropped[i]) c->hints.items.items[kept++] = c->hints.items.items[i];
  }
  c->dropped = c->hints.items.count - kept;
  c->hints.items.count = kept;
}

/* By the first `count` hints. */
static isoproof_status sort(const iso_event_graph *e, size_t count, isoproof_task *task, iso_value_order *c,
                            isoproof_error *error) {
  enum { PATIENCE = 8 };
  sorter s = {.e = e, .hints = &c->hints, .count = count};
  s.total = e->view->taking_part * (e->split ? 2 : 1) + e->ticks;
  int64_t *when = iso_alloc_zero(e->count, sizeof *when);
  bool made = when != NULL && allocate(&s), placed = false;
  if (made) {
    s.most_steps = PATIENCE * ((uint64_t)s.arcs.count + e->count);
    placed = place_early(&s, task);
  }
  if (placed) {
    place_late(&s, when);
    if (e->split) begin_late(&s, when);
    keep_hints(&s, c);
  }
  sorter_free(&s);
  isoproof_status status = made ? iso_task_check(task, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK && placed) status = iso_sequence_make_by(e, when, task, &c->sequence, error);
  free(when);
  return status;
}

isoproof_status iso_value_order_make(const iso_event_graph *e, isoproof_task *task, iso_value_order *c,
                                     isoproof_error *error) {
  const uint32_t most_ops = UINT32_C(1) << 24; /* hints and arcs take up to forty bytes for each */
  *c = (iso_value_order){.dropped = 0};
  if (e->view->h->ops > most_ops) return ISOPROOF_OK;
  ISO_TRY(iso_hints_list(e, &c->hints, task, error));
  if (c->hints.items.count == 0) return ISOPROOF_OK;
  ISO_TRY(sort(e, c->hints.items.count, task, c, error));
  c->readers = c->sequence.event != NULL;
  return c->readers || c->hints.versions == 0 ? ISOPROOF_OK : sort(e, c->hints.versions, task, c, error);
}

void iso_value_order_free(iso_value_order *c) {
  iso_sequence_free(&c->sequence);
  iso_hints_free(&c->hints);
}

isoproof_status iso_value_order_assume(const iso_value_order *c, iso_event_graph *e, isoproof_error *error) {
  for (size_t i = 0; i < c->hints.items.count; i++) {
    const iso_hint *hint = &c->hints.items.items[i];
    iso_derived edge = {.from = hint->from, .to = hint->to, .reason = ISO_CHOSEN};
    ISO_TRY(iso_event_graph_add(e, edge, error));
  }
  return ISOPROOF_OK;
}
