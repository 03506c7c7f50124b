/* Carries a history of rows out, transaction by transaction, to find out what reads saw that do not say it. */
#include "history/row_replay.h"

#include <stdlib.h>
#include <string.h>

#include "history/row_steps.h"

/* How many are in before they start; how many events are taken back for another order; how often, at least and for how
 * many transactions once more. */
enum { MOST_AHEAD = 1024, MOST_BACK = 512, LEAST_TRIES = 1000, TXNS_PER_TRY = 32 };
_Static_assert((int)MOST_BACK <= (int)ISO_ROW_EVENTS_KEPT, "what is taken back must be there");

/* ---- second thoughts ---- */

/* A goal that cannot be reached, and what is tried about it: one suspect after the other, each from where the one came
 * first who is now to come second. */
typedef struct {
  size_t goal; /* its place among the ends */
  iso_row_suspect suspects[ISO_ROW_SUSPECTS];
  size_t count, next;
  uint32_t trying; /* who has somebody come before it for that reason, + 1 */
  size_t from;     /* the number of events where that began */
  uint64_t tries_left;
} conflict;

/* The number of events before a transaction was done; SIZE_MAX when that is too long ago. */
static size_t find_done(const iso_row_steps *p, uint32_t txn) {
  size_t least = p->s.events.count > MOST_BACK ? p->s.events.count - MOST_BACK : 0;
  for (size_t i = p->s.events.count; i-- > least;) {
    if (p->s.events.items[i].txn == txn && p->s.events.items[i].done) return i;
  }
  return SIZE_MAX;
}

static bool is_done_after(const iso_row_steps *p, uint32_t txn, size_t event) {
  size_t done = find_done(p, txn);
  return done != SIZE_MAX && done > event;
}

/* Goes back to try another order; *first is when the first of those ended who are left again.  False when there is no
 * order to try. */
static bool think_again(iso_row_steps *p, conflict *c, size_t goal, int64_t *first) {
  if (c->trying != 0) { /* that was wrong, too: as before, up to the goal */
    p->prior[c->trying - 1] = 0;
    c->trying = 0;
    *first = iso_row_steps_go_back(p, c->from);
    return true;
  }
  if (c->goal != goal) {
    c->goal = goal;
    memcpy(c->suspects, p->suspects, sizeof c->suspects);
    c->count = p->suspect_count;
    c->next = 0;
  }
  while (c->next < c->count && c->tries_left > 0) {
    iso_row_suspect s = c->suspects[c->next++];
    size_t from = find_done(p, s.second);
    bool came_later = iso_row_steps_is_left(p, s.first) || (from != SIZE_MAX && is_done_after(p, s.first, from));
    if (from == SIZE_MAX || !came_later) continue;
    c->tries_left--;
    c->trying = s.second + 1;
    c->from = from;
    p->prior[s.second] = s.first + 1;
    *first = iso_row_steps_go_back(p, from);
    return true;
  }
  return false;
}

/* ---- the history ---- */

typedef struct {
  int64_t time;
  uint32_t txn;
} moment;

/* How far the starts are. */
typedef struct {
  size_t in, started;
  int64_t farthest; /* the last end of those who have started; unknown ends do not count */
} entrance;

static int by_time(const void *a, const void *b) {
  const moment *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

/* Those who take part by the times of their starts or ends; freed by the caller. */
static moment *sort_by(const iso_row_steps *p, const int64_t *times, size_t *count) {
  const isoproof_history *h = p->s.h;
  moment *all = iso_alloc(h->txns, sizeof *all);
  *count = 0;
  for (uint32_t t = 0; all != NULL && t < h->txns; t++) {
    if (p->s.stage[t] != ISO_STAGE_OUT) all[(*count)++] = (moment){times[t], t};
  }
  if (*count > 1) qsort(all, *count, sizeof *all, by_time);
  return all;
}

/* The first place among the ends that is not before a time. */
static size_t find_end(const moment *ends, size_t count, int64_t time) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ends[middle].time < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Lets in whoever has started, and some of those who start before all of these have ended. */
static bool let_in(iso_row_steps *p, entrance *e, const moment *starts, size_t count) {
  for (; e->started < count && starts[e->started].time <= p->horizon; e->started++) {
    int64_t end = p->s.v->end[starts[e->started].txn];
    if (end != INT64_MAX && end > e->farthest) e->farthest = end;
  }
  for (; e->in < count && e->in < e->started + MOST_AHEAD; e->in++) {
    if (e->in >= e->started && starts[e->in].time > e->farthest) break;
    if (!iso_row_state_enter(&p->s, starts[e->in].txn)) return false;
  }
  return true;
}

/* Whoever ends first has to take effect before anybody can who started after that. */
static isoproof_status carry_out(iso_row_steps *p, const moment *starts, const moment *ends, size_t count,
                                 isoproof_task *task, isoproof_error *error) {
  entrance e = {.farthest = INT64_MIN};
  conflict c = {.goal = SIZE_MAX, .tries_left = LEAST_TRIES + count / TXNS_PER_TRY};
  for (size_t i = 0; i < count && !p->out_of_memory; i++) {
    if (i % 4096 == 0) ISO_TRY(iso_task_check(task, error));
    if (!iso_row_steps_is_left(p, ends[i].txn)) continue;
    if (i > c.goal && c.goal != SIZE_MAX) c.trying = 0; /* that was right */
    p->horizon = ends[i].time;
    if (!let_in(p, &e, starts, count)) return iso_fail_memory(error);
    int64_t first;
    if (iso_row_steps_reach(p, ends[i].txn)) continue;
    if (think_again(p, &c, i, &first)) {
      if (first <= ends[i].time) i = find_end(ends, count, first); /* nobody before that is left */
      i--;
    } else {
      iso_row_steps_force(p, ends[i].txn);
    }
  }
  return p->out_of_memory ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_row_replay(const isoproof_history *history, isoproof_task *task, iso_resolution *resolution,
                               uint8_t *settled, isoproof_error *error) {
  iso_row_steps p;
  size_t count = 0;
  ISO_TRY(iso_row_steps_make(history, resolution, settled, &p, error));
  moment *starts = sort_by(&p, p.s.v->start, &count), *ends = sort_by(&p, p.s.v->end, &count);
  bool made = starts != NULL && ends != NULL;
  isoproof_status status = made ? carry_out(&p, starts, ends, count, task, error) : iso_fail_memory(error);
  free(starts);
  free(ends);
  iso_row_steps_free(&p);
  return status;
}
