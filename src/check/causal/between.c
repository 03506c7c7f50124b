/* The versions of keys as an order has them, and the reads that go back to those that they saw. */
#include "check/causal/between.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

void iso_between_finder_free(iso_between_finder *finder) {
  free(finder->link);
  free(finder->current);
  free(finder->last);
  free(finder->moved);
  memset(finder, 0, sizeof *finder);
}

bool iso_between_finder_make(const iso_view *view, const iso_sequence *sequence, const iso_session_clocks *clocks,
                             iso_between_finder *finder) {
  uint32_t txns = view->h->txns, keys = view->h->keys;
  *finder = (iso_between_finder){.v = view, .s = sequence, .clocks = clocks};
  finder->link = iso_alloc(view->write_first[txns], sizeof *finder->link);
  finder->current = iso_alloc(view->read_first[txns], sizeof *finder->current);
  finder->last = iso_alloc(keys, sizeof *finder->last);
  finder->moved = iso_alloc(keys, sizeof *finder->moved);
  return finder->link != NULL && finder->current != NULL && finder->last != NULL && finder->moved != NULL;
}

/* Carries the history out in the order at hand. */
static void carry_out(const iso_between_finder *f, const uint8_t *moved) {
  const iso_view *v = f->v;
  memset(f->last, 0, v->h->keys * sizeof *f->last);
  memset(f->moved, 0, v->h->keys * sizeof *f->moved);
  for (uint32_t place = 0; place < f->s->count; place++) {
    uint32_t txn = f->s->event[place];
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) f->current[i] = f->last[v->reads[i].key];
    for (uint32_t slot = v->write_first[txn]; slot < v->write_first[txn + 1]; slot++) {
      uint32_t key = v->write_key[slot];
      f->link[slot] = (struct iso_version_link){place, f->last[key], f->moved[key]};
      f->last[key] = slot + 1;
      if (moved[txn]) f->moved[key] = slot + 1;
    }
  }
}

/* ---- going back ---- */

/* Of one thread. */
typedef struct {
  iso_between_list found;
  uint64_t steps;
  bool failed;
} walker;

typedef struct {
  const iso_between_finder *f;
  const iso_between_question *q;
  isoproof_task *task;
  walker *walkers;
  uint64_t most_steps; /* of a walker */
} walk;

static void take(walker *me, uint32_t place, uint32_t read) {
  if (!iso_vec_push(&me->found, ((iso_between){place, read}))) me->failed = true;
}

/* The last writer of each session that is causally before the reader, where that is between. */
static void ask_sessions(const walk *w, walker *me, uint32_t reader, uint32_t read, uint32_t version) {
  const iso_view *v = w->f->v;
  uint32_t key = v->reads[read].key;
  for (uint32_t group = v->group_first[key]; group < v->group_first[key + 1]; group++) {
    uint32_t session = v->group_session[group];
    uint32_t bound = v->h->session_first_txn[session] + iso_session_clock_seen(w->f->clocks, session, reader);
    uint32_t writer = iso_view_last_writer(v, group, bound);
    me->steps++;
    if (writer != ISO_NO_TXN && w->f->s->place[writer] >= version) take(me, w->f->s->place[writer], read);
  }
}

/* How many versions are worth looking at before sessions are asked. */
static uint64_t steps_before_sessions(const iso_view *v, uint32_t read) {
  enum { SOME = 64, TIMES = 4 };
  uint32_t key = v->reads[read].key;
  return SOME + TIMES * (uint64_t)(v->group_first[key + 1] - v->group_first[key]);
}

/* The writers between, from the last; of a version long ago, by session. */
static void go_back(const walk *w, walker *me, uint32_t reader, uint32_t read) {
  enum { FEW = 4 };
  const iso_between_finder *f = w->f;
  uint32_t slot = f->current[read], from = f->v->reads[read].from;
  uint32_t version = from == ISO_INITIAL ? 0 : f->s->place[from] + 1; /* the first place behind it */
  if (slot == 0 || f->link[slot - 1].place < version) return;
  bool only_moved = !w->q->anew && !w->q->again[read] && (from == ISO_INITIAL || !w->q->moved[from]);
  uint64_t most = w->q->all || !f->is_patient ? UINT64_MAX : me->steps + steps_before_sessions(f->v, read);
  for (uint32_t found = 0; slot != 0 && (w->q->all || found < FEW);) {
    struct iso_version_link at = f->link[slot - 1];
    if (at.place < version) break;
    if (found == 0 && me->steps > most) {
      ask_sessions(w, me, reader, read, version);
      return;
    }
    uint32_t txn = f->s->event[at.place];
    slot = only_moved ? at.moved : at.before;
    me->steps++;
    if ((only_moved && !w->q->moved[txn]) || !iso_session_clock_before(f->clocks, txn, reader)) continue;
    take(me, at.place, read);
    found++;
  }
}

/* In the order of places: who is near in the order is near in the cache. */
static void walk_share(void *context, unsigned thread, unsigned threads) {
  const walk *w = context;
  walker *me = &w->walkers[thread];
  const iso_view *v = w->f->v;
  uint64_t first, end;
  iso_parallel_range(w->f->s->count, thread, threads, &first, &end);
  for (uint64_t place = first; place < end && me->steps <= w->most_steps && !me->failed; place++) {
    if ((place & 0xffff) == 0 && iso_task_check(w->task, NULL) != ISOPROOF_OK) return;
    uint32_t txn = w->f->s->event[place];
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) go_back(w, me, txn, i);
  }
}

static bool put_together(const walk *w, unsigned threads, iso_between_list *found, bool *too_far) {
  bool good = true;
  for (unsigned t = 0; t < threads; t++) {
    walker *each = &w->walkers[t];
    *too_far = *too_far || each->steps > w->most_steps;
    good = good && !each->failed && iso_vec_reserve(found, each->found.count);
    if (good && each->found.count > 0) {
      memcpy(found->items + found->count, each->found.items, each->found.count * sizeof *each->found.items);
      found->count += each->found.count;
    }
    iso_vec_free(&each->found);
  }
  return good;
}

isoproof_status iso_between_find(iso_between_finder *finder, const iso_between_question *question, unsigned threads,
                                 isoproof_task *task, iso_between_list *found, bool *too_far, isoproof_error *error) {
  const uint64_t most_steps = finder->is_patient ? UINT64_C(1) << 31 : UINT64_C(1) << 28;
  walk w = {.f = finder, .q = question, .task = task, .most_steps = most_steps / threads};
  w.walkers = iso_alloc_zero(threads, sizeof *w.walkers);
  if (w.walkers == NULL) return iso_fail_memory(error);
  *too_far = false;
  carry_out(finder, question->moved);
  iso_parallel(threads, walk_share, &w);
  bool good = put_together(&w, threads, found, too_far);
  free(w.walkers);
  return good ? iso_task_check(task, error) : iso_fail_memory(error);
}
