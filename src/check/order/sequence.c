/* A first topological order of the events, and its repair where edges were added. */
#include "check/order/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "history/real_time.h"

void iso_sequence_free(iso_sequence *s) {
  free(s->event);
  free(s->place);
  memset(s, 0, sizeof *s);
}

uint32_t *iso_sequence_copy(const iso_sequence *s) {
  uint32_t *event = iso_alloc(s->count, sizeof *event);
  if (event != NULL) memcpy(event, s->event, s->count * sizeof *event);
  return event;
}

void iso_sequence_restore(iso_sequence *s, const uint32_t *event) {
  memcpy(s->event, event, s->count * sizeof *event);
  for (uint32_t i = 0; i < s->count; i++) s->place[event[i]] = i;
}

/* ---- the first sequence ---- */

typedef struct {
  int64_t when;
  uint32_t chain;
} ready_chain;

/* A chain whose first open event waits for another event queues up at that one, as it can only wait for one at a time.
 */
typedef struct {
  const iso_event_graph *e;
  iso_sequence *s;
  uint32_t *head, *end; /* by chain: its first open event, and behind its last one */
  uint64_t *cursor;     /* by chain: which predecessors of the head were seen to be placed */
  uint32_t *waiting;    /* by event: the first chain that waits for it, + 1 */
  uint32_t *next;       /* by chain: the next one that waits for the same event, + 1 */
  ready_chain *heap;
  uint32_t ready;
  const int64_t *when; /* by event; NULL for what the history tells */
  int64_t turn;
} sorter;

static void push(sorter *s, ready_chain item) {
  uint32_t i = s->ready++;
  while (i > 0 && s->heap[(i - 1) / 2].when > item.when) {
    s->heap[i] = s->heap[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  s->heap[i] = item;
}

static uint32_t pop(sorter *s) {
  uint32_t chain = s->heap[0].chain, i = 0;
  ready_chain last = s->heap[--s->ready];
  for (;;) {
    uint32_t child = 2 * i + 1;
    if (child >= s->ready) break;
    if (child + 1 < s->ready && s->heap[child + 1].when < s->heap[child].when) child++;
    if (s->heap[child].when >= last.when) break;
    s->heap[i] = s->heap[child];
    i = child;
  }
  s->heap[i] = last;
  return chain;
}

/* When the head of a chain wants its turn: where there are times, when it really happened, as far as is known. */
static int64_t turn_of(sorter *s, uint32_t chain) {
  const iso_event_graph *e = s->e;
  uint32_t event = s->head[chain], txn = iso_event_txn(e, event);
  if (txn == ISO_NO_TXN) return INT64_MIN;
  if (s->when != NULL) return s->when[event];
  if (!e->timed) return s->turn++;
  if (e->split && event % 2 == 0) return iso_real_start(e->view->h, txn);
  return iso_real_end(e->view->h, txn);
}

static void skip(sorter *s, uint32_t chain) {
  while (s->head[chain] < s->end[chain] && !iso_event_counts(s->e, s->head[chain])) s->head[chain]++;
  s->cursor[chain] = 0;
}

/* Makes a chain ready, or lets it wait. */
static void enqueue(sorter *s, uint32_t chain) {
  if (s->head[chain] >= s->end[chain]) return;
  for (;;) {
    uint32_t before = iso_next_before(s->e, s->head[chain], &s->cursor[chain]);
    if (before == ISO_NO_EVENT) break;
    if (s->s->place[before] != ISO_NO_EVENT) continue;
    s->next[chain] = s->waiting[before];
    s->waiting[before] = chain + 1;
    return;
  }
  push(s, (ready_chain){turn_of(s, chain), chain});
}

static void place_head(sorter *s, uint32_t chain) {
  uint32_t event = s->head[chain];
  s->s->place[event] = s->s->count;
  s->s->event[s->s->count++] = event;
  s->head[chain]++;
  skip(s, chain);
  uint32_t waiting = s->waiting[event];
  s->waiting[event] = 0;
  while (waiting > 0) {
    uint32_t other = waiting - 1;
    waiting = s->next[other];
    enqueue(s, other);
  }
  enqueue(s, chain);
}

static void sort(sorter *s) {
  const iso_event_graph *e = s->e;
  uint32_t of_txns = e->chains - (e->tick_before != NULL);
  for (uint32_t chain = 0; chain < e->chains; chain++) {
    bool ticks = chain >= of_txns;
    s->head[chain] = ticks ? e->txn_events : iso_event_first(e, e->chain_start[chain]);
    s->end[chain] = ticks ? e->count : iso_event_first(e, e->chain_start[chain + 1]);
    skip(s, chain);
  }
  for (uint32_t chain = 0; chain < e->chains; chain++) enqueue(s, chain);
  while (s->ready > 0) place_head(s, pop(s));
}

isoproof_status iso_sequence_make_by(const iso_event_graph *e, const int64_t *when, isoproof_task *task,
                                     iso_sequence *sequence, isoproof_error *error) {
  memset(sequence, 0, sizeof *sequence);
  sequence->event = iso_alloc(e->count, sizeof *sequence->event);
  sequence->place = iso_alloc(e->count, sizeof *sequence->place);
  sorter s = {.e = e, .s = sequence, .when = when};
  s.head = iso_alloc(e->chains, sizeof *s.head);
  s.end = iso_alloc(e->chains, sizeof *s.end);
  s.cursor = iso_alloc(e->chains, sizeof *s.cursor);
  s.next = iso_alloc(e->chains, sizeof *s.next);
  s.heap = iso_alloc(e->chains, sizeof *s.heap);
  s.waiting = iso_alloc_zero(e->count, sizeof *s.waiting);
  bool made = sequence->event != NULL && sequence->place != NULL && s.head != NULL && s.end != NULL &&
              s.cursor != NULL && s.next != NULL && s.heap != NULL && s.waiting != NULL;
  if (made) {
    sequence->total = e->view->taking_part * (e->split ? 2 : 1) + e->ticks;
    memset(sequence->place, 0xff, e->count * sizeof *sequence->place);
    sort(&s);
  }
  free(s.head);
  free(s.end);
  free(s.cursor);
  free(s.next);
  free(s.heap);
  free(s.waiting);
  isoproof_status status = made ? iso_task_check(task, error) : iso_fail_memory(error);
  if (status != ISOPROOF_OK) iso_sequence_free(sequence);
  return status;
}

isoproof_status iso_sequence_make(const iso_event_graph *e, isoproof_task *task, iso_sequence *sequence,
                                  isoproof_error *error) {
  return iso_sequence_make_by(e, NULL, task, sequence, error);
}

isoproof_status iso_sequence_make_by_starts(const iso_event_graph *e, isoproof_task *task, iso_sequence *sequence,
                                            isoproof_error *error) {
  int64_t *when = iso_alloc_zero(e->count, sizeof *when);
  if (when == NULL) return iso_fail_memory(error);
  for (uint32_t txn = 0; txn < e->view->h->txns; txn++) {
    int64_t start = iso_real_start(e->view->h, txn);
    when[iso_event_begin(e, txn)] = start;
    when[iso_event_commit(e, txn)] = start < INT64_MAX ? start + e->split : start;
  }
  isoproof_status status = iso_sequence_make_by(e, when, task, sequence, error);
  free(when);
  return status;
}

/* ---- a sequence that was found earlier ---- */

/* Whether every event stands in it behind all that must come before. */
static bool respects(const iso_event_graph *e, const iso_first_sequence *first, const uint32_t *place) {
  for (uint32_t i = 0; i < first->count; i++) {
    uint64_t at = 0;
    uint32_t before;
    while ((before = iso_next_before(e, first->event[i], &at)) != ISO_NO_EVENT) {
      if (place[before] >= i) return false;
    }
  }
  return true;
}

/* One of whole transactions, as that of their events: begin and commit stand side by side. */
static isoproof_status follow_whole(const iso_event_graph *e, const iso_first_sequence *first, iso_sequence *s,
                                    isoproof_error *error) {
  const uint32_t txns = e->view->h->txns;
  iso_first_sequence split = {.events = e->count, .shape = e->shape};
  split.event = iso_alloc(2 * (size_t)first->count, sizeof *split.event);
  if (split.event == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < first->count; i++) {
    if (first->event[i] >= txns) continue; /* a tick */
    split.event[split.count++] = iso_event_begin(e, first->event[i]);
    split.event[split.count++] = iso_event_commit(e, first->event[i]);
  }
  isoproof_status status = iso_sequence_follow(e, &split, s, error);
  free(split.event);
  return status;
}

isoproof_status iso_sequence_follow(const iso_event_graph *e, const iso_first_sequence *first, iso_sequence *s,
                                    isoproof_error *error) {
  /* One with real time serves a level without it: its ticks are left out. */
  const iso_event_shape *a = &e->shape, *b = &first->shape;
  bool whole = a->split && !b->split && a->own == NULL && b->own == NULL && !a->real_time;
  if (whole && s->count == s->total) return follow_whole(e, first, s, error);
  bool alike = a->split == b->split && a->ww_to_commit == b->ww_to_commit && a->own == b->own;
  alike = alike && (a->real_time == b->real_time ? e->count == first->events : b->real_time);
  if (!alike || s->count != s->total || first->count < s->total) return ISOPROOF_OK;
  iso_first_sequence kept = {.event = iso_alloc(first->count, sizeof *kept.event)};
  uint32_t *place = iso_alloc(e->count, sizeof *place);
  bool made = kept.event != NULL && place != NULL, good = made;
  if (made) memset(place, 0xff, e->count * sizeof *place);
  for (uint32_t i = 0; good && i < first->count; i++) {
    uint32_t event = first->event[i];
    if (event >= e->txn_events && !a->real_time) continue;
    good = event < e->count && iso_event_counts(e, event) && place[event] == ISO_NO_EVENT;
    if (good) place[event] = kept.count, kept.event[kept.count++] = event;
  }
  if (good && kept.count == s->total && respects(e, &kept, place)) {
    memcpy(s->event, kept.event, kept.count * sizeof *s->event);
    memcpy(s->place, place, e->count * sizeof *s->place);
  }
  free(kept.event);
  free(place);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- as late as needed ---- */

void iso_sequence_depths(const iso_event_graph *e, const iso_sequence *s, uint32_t *depth) {
  for (uint32_t i = 0; i < s->count; i++) {
    uint32_t event = s->event[i], deepest = 0, before;
    uint64_t at = 0;
    while ((before = iso_next_before(e, event, &at)) != ISO_NO_EVENT) {
      if (depth[before] + 1 > deepest) deepest = depth[before] + 1;
    }
    depth[event] = deepest;
  }
}

/* When each event is needed: less than any event after it, and at least its depth. */
static void find_needs(const iso_event_graph *e, const iso_sequence *s, const uint32_t *depth, uint32_t *need) {
  for (uint32_t i = s->count; i-- > 0;) {
    uint32_t event = s->event[i], before;
    if (need[event] == UINT32_MAX) need[event] = depth[event];
    uint64_t at = 0;
    while ((before = iso_next_before(e, event, &at)) != ISO_NO_EVENT) {
      if (need[event] - 1 < need[before]) need[before] = need[event] - 1;
    }
  }
}

isoproof_status iso_sequence_settle(const iso_event_graph *e, iso_sequence *s, const uint32_t *depth,
                                    isoproof_error *error) {
  uint32_t *need = iso_alloc(e->count, sizeof *need);
  uint32_t *first = iso_alloc_zero((size_t)s->count + 1, sizeof *first);
  uint32_t *order = iso_alloc(e->count, sizeof *order);
  bool made = need != NULL && first != NULL && order != NULL;
  if (made) {
    memset(need, 0xff, e->count * sizeof *need);
    find_needs(e, s, depth, need);
    for (uint32_t i = 0; i < s->count; i++) first[need[s->event[i]] + 1]++;
    for (uint32_t i = 0; i < s->count; i++) first[i + 1] += first[i];
    for (uint32_t i = 0; i < s->count; i++) order[first[need[s->event[i]]]++] = s->event[i];
    for (uint32_t i = 0; i < s->count; i++) s->place[order[i]] = i;
    free(s->event);
    s->event = order;
  } else {
    free(order);
  }
  free(need);
  free(first);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- repair ---- */

typedef struct {
  const iso_event_graph *e;
  const iso_sequence *old;
  uint32_t first_new;
  iso_sequence fresh;
  uint8_t *moved; /* by event, or NULL */
  uint8_t *open;  /* by event: on the path */
  ISO_VEC(struct {
    uint32_t event;
    uint64_t cursor;
  })
  path;
  bool cyclic, failed;
} repairer;

/* Whether an edge that is new wants something before the event that is not placed yet. */
static bool is_pushed(const repairer *r, uint32_t event) {
  for (uint32_t edge = r->e->in[event]; edge > r->first_new; edge = r->e->derived.items[edge - 1].next_in) {
    if (r->fresh.place[r->e->derived.items[edge - 1].from] == ISO_NO_EVENT) return true;
  }
  return false;
}

static void place(repairer *r, uint32_t event) {
  r->fresh.place[event] = r->fresh.count;
  r->fresh.event[r->fresh.count++] = event;
}

static void enter(repairer *r, uint32_t event) {
  r->open[event] = 1;
  if (!iso_vec_reserve(&r->path, 1)) {
    r->failed = true;
    return;
  }
  r->path.items[r->path.count].event = event;
  r->path.items[r->path.count++].cursor = 0;
}

/* Places an event after everything that must come before it and is not there yet. */
static void pull(repairer *r, uint32_t event) {
  enter(r, event);
  while (r->path.count > 0 && !r->cyclic && !r->failed) {
    uint32_t top = r->path.items[r->path.count - 1].event;
    uint32_t before = iso_next_before(r->e, top, &r->path.items[r->path.count - 1].cursor);
    if (before == ISO_NO_EVENT) {
      place(r, top);
      r->open[top] = 0;
      r->path.count--;
    } else if (r->fresh.place[before] != ISO_NO_EVENT) {
      continue;
    } else if (r->open[before]) {
      r->cyclic = true;
    } else {
      if (r->moved != NULL) r->moved[before] = 1;
      enter(r, before);
    }
  }
}

isoproof_status iso_sequence_repair(const iso_event_graph *e, uint32_t first_new, iso_sequence *sequence,
                                    uint8_t *moved, bool *cyclic, isoproof_task *task, isoproof_error *error) {
  repairer r = {.e = e, .old = sequence, .first_new = first_new, .moved = moved};
  r.fresh.event = iso_alloc(e->count, sizeof *r.fresh.event);
  r.fresh.place = iso_alloc(e->count, sizeof *r.fresh.place);
  r.open = iso_alloc_zero(e->count, 1);
  r.fresh.total = sequence->total;
  r.failed = r.fresh.event == NULL || r.fresh.place == NULL || r.open == NULL;
  if (!r.failed) memset(r.fresh.place, 0xff, e->count * sizeof *r.fresh.place);
  for (uint32_t i = 0; i < sequence->count && !r.failed && !r.cyclic; i++) {
    uint32_t event = sequence->event[i];
    if (r.fresh.place[event] != ISO_NO_EVENT) continue;
    if (is_pushed(&r, event)) {
      pull(&r, event);
    } else {
      place(&r, event);
    }
  }
  free(r.open);
  iso_vec_free(&r.path);
  *cyclic = r.cyclic;
  bool keep = !r.failed && !r.cyclic;
  iso_sequence *spent = keep ? sequence : &r.fresh;
  iso_sequence fresh = r.fresh;
  iso_sequence_free(spent);
  if (keep) *sequence = fresh;
  return r.failed ? iso_fail_memory(error) : iso_task_check(task, error);
}
