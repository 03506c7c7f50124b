/* Whole transactions on a line: each goes to the place where the fewest reads find another value. */
#include "check/order/value_walk.h"

#include <stdlib.h>
#include <string.h>

#include "check/order/value_mend.h"

/* The accesses [first, end) of a key that matter for places within bounds: those that stand there, and behind them all
 * up to the first write, which hides what comes before it. */
typedef struct {
  uint32_t first, end;
} stretch;

static stretch stretch_of(const iso_value_line *w, uint32_t key, uint32_t mine, iso_value_bounds b) {
  stretch s = {mine, mine + 1};
  while (s.first > w->first[key] && w->pos[w->at[s.first - 1].txn] >= b.low) s.first--;
  while (s.end < w->first[key + 1]) {
    const iso_value_access *a = &w->at[s.end++];
    if (a->write != ISO_NO_CLASS && w->pos[a->txn] > b.high) break;
  }
  return s;
}

/* What is there at the end of a stretch, and before each iso_value_access in `state`, without one of them. */
static uint32_t fill_state(iso_value_line *w, uint32_t key, stretch s, uint32_t without) {
  uint32_t before = s.first, now = w->c->initial[key];
  while (before > w->first[key] && w->at[before - 1].write == ISO_NO_CLASS) before--;
  if (before > w->first[key]) now = w->at[before - 1].write;
  for (uint32_t i = s.first; i < s.end; i++) {
    w->state[i - s.first] = now;
    if (i != without && w->at[i].write != ISO_NO_CLASS) now = w->at[i].write;
  }
  w->steps += s.end - before;
  return now;
}

/* Adds, to the cost of every place within bounds, what the iso_value_access would cost at this key.  Costs are
 * differences to the place before. */
static void weigh_key(iso_value_line *w, uint32_t key, uint32_t mine, iso_value_bounds b) {
  const iso_value_access *m = &w->at[mine];
  stretch s = stretch_of(w, key, mine, b);
  uint32_t here = w->pos[m->txn], now = fill_state(w, key, s, mine);
  int32_t spoils = 0, last = m->read != ISO_NO_CLASS && m->read != now ? m->weight : 0;
  /* From the end: `last` is the cost right behind the iso_value_access at hand. */
  for (uint32_t i = s.end; i-- > s.first;) {
    const iso_value_access *a = &w->at[i];
    if (i == mine) continue;
    uint32_t before = w->state[i - s.first];
    if (a->write != ISO_NO_CLASS) spoils = 0;
    if (a->read != ISO_NO_CLASS && m->write != ISO_NO_CLASS) {
      spoils += ((a->read != m->write) - (a->read != before)) * a->weight;
    }
    int32_t cost = spoils + (m->read != ISO_NO_CLASS && m->read != before ? m->weight : 0);
    /* The first place behind it, without the one that moves. */
    uint32_t later = w->pos[a->txn] + (w->pos[a->txn] < here);
    if (later <= b.high) w->cost[later] += last - cost;
    last = cost;
  }
  w->cost[b.low] += last;
}

/* ---- moves ---- */

/* Whether one ended before another one started. */
static bool is_earlier(const iso_value_line *w, uint32_t a, uint32_t b) { return w->ends[a] < w->e->tick_before[b]; }

/* The places that its session, real time and the reach of a move leave to a transaction. */
static iso_value_bounds find_bounds(iso_value_line *w, uint32_t txn) {
  uint32_t before = w->near[0][txn], after = w->near[1][txn];
  iso_value_bounds b = {.low = before != ISO_NO_TXN ? w->pos[before] + 1 : 0,
                        .high = after != ISO_NO_TXN ? w->pos[after] - 1 : w->count - 1};
  uint32_t here = w->pos[txn];
  if (here - b.low > w->reach) b.low = here - w->reach;
  if (b.high - here > w->reach) b.high = here + w->reach;
  if (w->ends == NULL) return b;
  uint32_t low = here, high = here;
  while (low > b.low && !is_earlier(w, w->order[low - 1], txn)) low--;
  while (high < b.high && !is_earlier(w, txn, w->order[high + 1])) high++;
  w->steps += high - low;
  return (iso_value_bounds){low, high};
}

/* The best place for a transaction, other than its own, and what the reads count more there; false where it has none.
 */
static bool find_place(iso_value_line *w, uint32_t txn, uint32_t *place, int32_t *more) {
  enum { AHEAD = 4 };
  uint32_t ties = 0;
  iso_value_bounds b = find_bounds(w, txn);
  if (b.low >= b.high) return false;
  memset(w->cost + b.low, 0, ((size_t)b.high - b.low + 1) * sizeof *w->cost);
  for (uint32_t k = w->txn_first[txn], end = w->txn_first[txn + 1]; k < end; k++) {
    if (k + AHEAD < end) __builtin_prefetch(&w->at[w->txn_at[k + AHEAD]]);
    weigh_key(w, w->txn_key[k], w->txn_at[k], b);
  }
  int32_t now = 0, own = 0, least = INT32_MAX;
  for (uint32_t q = b.low; q <= b.high; q++) {
    now += w->cost[q];
    if (q == w->pos[txn]) {
      own = now;
      continue;
    }
    if (now > least) continue;
    ties = now < least ? 1 : ties + 1;
    if (iso_value_line_draw(w, ties) == 0) *place = q;
    least = now;
  }
  w->steps += b.high - b.low;
  *more = least - own;
  return true;
}

/* Whom to move for a read that finds another class: the reader, those who overwrote what it saw, or whoever writes that
 * again. */
static uint32_t list_movers(const iso_value_line *w, const iso_broken_read *b, uint32_t *movers) {
  enum { CULPRITS = 4 };
  uint32_t count = 0, mine = iso_value_line_find(w, b->key, b->txn), wanted = w->at[mine].read, i = mine;
  movers[count++] = b->txn;
  while (i > w->first[b->key] && w->at[i - 1].write != wanted) {
    i--;
    if (w->at[i].write != ISO_NO_CLASS && count <= CULPRITS) movers[count++] = w->at[i].txn;
  }
  if (i > w->first[b->key]) movers[count++] = w->at[i - 1].txn;
  for (i = mine + 1; i < w->first[b->key + 1] && w->at[i].write != wanted; i++) continue;
  if (i < w->first[b->key + 1]) movers[count++] = w->at[i].txn;
  return count;
}

/* Makes the best of a few moves; true when something moved. */
static bool settle(iso_value_line *w, const iso_broken_read *b) {
  enum { MOST = 8, EVEN = 50, NOISE = 2, DEAREST = 2, RESTS = 8 }; /* per cent; reads; moves */
  uint32_t movers[MOST], count = list_movers(w, b, movers), best = 0, best_place = 0, place = 0;
  int32_t least = INT32_MAX, more;
  w->moves++; /* made or not, so that nobody rests for ever */
  for (uint32_t i = 0; i < count; i++) {
    if (w->moves < w->rests[movers[i]] || !find_place(w, movers[i], &place, &more)) continue;
    if (more < least || (more == least && iso_value_line_draw(w, 2) == 0))
      least = more, best = movers[i], best_place = place;
  }
  uint32_t luck = iso_value_line_draw(w, 100);
  if (least > DEAREST || (least > 0 && luck >= NOISE) || (least == 0 && luck >= EVEN)) return false;
  iso_value_line_move(w, best, best_place);
  w->rests[best] = w->moves + iso_value_line_draw(w, RESTS);
  return true;
}

/* Settles one read, and then what that broke, as far as it goes. */
static void follow(iso_value_line *w, const iso_broken_read *b, uint64_t end) {
  enum { TRIES = 4, FAR = 64 };
  w->fresh.count = 0;
  iso_broken_read next = *b;
  for (int far = 0; far < FAR && w->steps <= end; far++) {
    w->at[iso_value_line_find(w, next.key, next.txn)].weight++; /* what stays broken counts more (Morris 1993) */
    for (int tries = 0; tries < TRIES && iso_value_line_is_broken(w, &next) && settle(w, &next); tries++) continue;
    bool found = false;
    while (!found && w->fresh.count > 0) {
      next = w->fresh.items[--w->fresh.count];
      found = iso_value_line_is_broken(w, &next);
    }
    if (!found) return;
  }
}

/* ---- all of it ---- */

/* The best order so far. */
typedef struct {
  uint32_t *order;
  size_t broken;
} best_order;

static isoproof_status note_best(iso_value_line *w, best_order *best, bool *better, isoproof_error *error) {
  if (!iso_value_line_find_broken(w)) return iso_fail_memory(error);
  *better = w->broken.count < best->broken;
  if (!*better) return ISOPROOF_OK;
  best->broken = w->broken.count;
  memcpy(best->order, w->order, w->count * sizeof *best->order);
  return ISOPROOF_OK;
}

/* One move after the other, up to so many steps in all, and since it last got better. */
static isoproof_status walk(iso_value_line *w, uint64_t patience, uint64_t most_steps, isoproof_task *task,
                            best_order *best, isoproof_error *error) {
  uint64_t end = w->steps + patience;
  for (;;) {
    bool better = false;
    ISO_TRY(note_best(w, best, &better, error));
    if (better) end = w->steps + patience;
    if (end > most_steps) end = most_steps;
    if (best->broken == 0 || w->steps > end) return ISOPROOF_OK;
    for (size_t i = 0; i < w->broken.count && w->steps <= end; i++) {
      const iso_broken_read *b = &w->broken.items[i];
      if (iso_value_line_is_broken(w, b)) follow(w, b, end);
    }
    ISO_TRY(iso_task_check(task, error));
  }
}

/* Walks, and mends what is left, in turns, until that is of no use. */
static isoproof_status walk_and_mend(iso_value_line *w, iso_value_walk how, isoproof_task *task, best_order *best,
                                     isoproof_error *error) {
  enum { PATIENCE = 64, LESS = 4, IDLE_TURNS = 4, FEW_BROKEN = 64 };
  uint64_t patience = PATIENCE * (uint64_t)w->first[w->v->h->keys] * w->count, mending = UINT64_C(1) << 29;
  if (patience > how.patience) patience = how.patience;
  ISO_TRY(walk(w, patience, how.most_steps, task, best, error));
  for (int idle = 0; how.mends && idle < IDLE_TURNS && mending > 0; idle++) {
    bool better = false;
    size_t before = best->broken;
    if (best->broken == 0 || best->broken > FEW_BROKEN) break;
    iso_value_line_set(w, best->order);
    ISO_TRY(iso_value_mend(w, &mending, task, error));
    ISO_TRY(note_best(w, best, &better, error));
    ISO_TRY(walk(w, patience / LESS, w->steps + patience, task, best, error));
    if (best->broken < before) idle = -1;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_value_walk_all(const iso_event_graph *e, const iso_value_classes *classes, iso_value_walk how,
                                   isoproof_task *task, int64_t *when, isoproof_error *error) {
  iso_value_line w;
  ISO_TRY(iso_value_line_make(e, classes, when, &w, error));
  w.random = (how.seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
  w.reach = how.reach > 0 ? how.reach : w.count;
  best_order best = {.order = iso_alloc(w.count, sizeof *best.order), .broken = SIZE_MAX};
  isoproof_status status = best.order != NULL ? walk_and_mend(&w, how, task, &best, error) : iso_fail_memory(error);
  for (uint32_t i = 0; status == ISOPROOF_OK && i < w.count; i++) {
    when[iso_event_begin(e, best.order[i])] = 2 * (int64_t)i;
    when[iso_event_commit(e, best.order[i])] = 2 * (int64_t)i + e->split;
  }
  free(best.order);
  iso_value_line_free(&w);
  return status;
}
