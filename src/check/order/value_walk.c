/* Whole transactions on a line: each goes to the place where the fewest reads find another value. */
#include "check/order/value_walk.h"

#include <stdlib.h>
#include <string.h>

#define NO_CLASS UINT32_MAX
#define NO_KEY UINT32_MAX

/* What a transaction does to a key. */
typedef struct {
  uint32_t txn;
  uint32_t read, write; /* classes, NO_CLASS for none */
  int32_t weight;       /* what it counts that the read finds another class */
} access;

typedef struct {
  uint32_t txn, key;
} broken_read;

typedef struct {
  const iso_event_graph *e;
  const iso_view *v;
  const iso_value_classes *c;
  uint32_t count;        /* of transactions */
  uint32_t *order, *pos; /* by place; by transaction */
  uint32_t *first;       /* keys + 1 */
  access *at;            /* by key, in the order of places */
  uint32_t *near[2];     /* by transaction: the one before it and the one after it in its chain, or ISO_NO_TXN */
  uint32_t *ends;        /* by transaction: the tick that it comes before; NULL without real time */
  int32_t *cost;         /* by place */
  uint32_t *state;       /* by access of the key at hand: what is there before it */
  ISO_VEC(broken_read) broken;
  ISO_VEC(broken_read) fresh; /* what moves may have broken since it was last emptied */
  uint64_t *rests; /* by transaction: until how many moves were made, so that no two undo each other for ever */
  uint64_t random, steps, moves;
} walker;

static uint32_t draw(walker *w, uint32_t below) {
  w->random ^= w->random << 13;
  w->random ^= w->random >> 7;
  w->random ^= w->random << 17;
  return (uint32_t)((w->random >> 32) * below >> 32);
}

/* ---- keys ---- */

/* The read of a key by a transaction, NO_CLASS where there is none. */
static uint32_t read_of(const walker *w, uint32_t txn, uint32_t key) {
  for (uint32_t i = w->c->read_first[txn]; i < w->c->read_first[txn + 1]; i++) {
    if (w->c->reads.items[i].key == key) return w->c->reads.items[i].of;
  }
  return NO_CLASS;
}

/* The keys of a transaction one by one: those that it writes, then those that it only reads.  Start with *at = 0;
 * NO_KEY after the last. */
static uint32_t next_key(const walker *w, uint32_t txn, uint32_t *at) {
  const iso_view *v = w->v;
  uint32_t writes = v->write_first[txn + 1] - v->write_first[txn];
  if (*at < writes) return v->write_key[v->write_first[txn] + (*at)++];
  for (uint32_t i = w->c->read_first[txn] + *at - writes; i < w->c->read_first[txn + 1]; i++) {
    const iso_class_read *read = &w->c->reads.items[i];
    *at += 1;
    if (!read->updates && read_of(w, txn, read->key) == read->of) return read->key;
  }
  return NO_KEY;
}

/* Where a transaction stands among the accesses of a key. */
static uint32_t find(const walker *w, uint32_t key, uint32_t txn) {
  uint32_t low = w->first[key], high = w->first[key + 1];
  while (low + 1 < high) {
    uint32_t middle = low + (high - low) / 2;
    if (w->pos[w->at[middle].txn] <= w->pos[txn]) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The places that a transaction can have. */
typedef struct {
  uint32_t low, high;
} bounds;

/* The accesses [first, end) of a key that matter for places within bounds: those that stand there, and behind them all
 * up to the first write, which hides what comes before it. */
typedef struct {
  uint32_t first, end;
} stretch;

static stretch stretch_of(const walker *w, uint32_t key, uint32_t mine, bounds b) {
  stretch s = {mine, mine + 1};
  while (s.first > w->first[key] && w->pos[w->at[s.first - 1].txn] >= b.low) s.first--;
  while (s.end < w->first[key + 1]) {
    const access *a = &w->at[s.end++];
    if (a->write != NO_CLASS && w->pos[a->txn] > b.high) break;
  }
  return s;
}

/* What is there at the end of a stretch, and before each access in `state`, without one of them. */
static uint32_t fill_state(walker *w, uint32_t key, stretch s, uint32_t without) {
  uint32_t before = s.first, now = w->c->initial[key];
  while (before > w->first[key] && w->at[before - 1].write == NO_CLASS) before--;
  if (before > w->first[key]) now = w->at[before - 1].write;
  for (uint32_t i = s.first; i < s.end; i++) {
    w->state[i - s.first] = now;
    if (i != without && w->at[i].write != NO_CLASS) now = w->at[i].write;
  }
  w->steps += s.end - before;
  return now;
}

/* Adds, to the cost of every place within bounds, what the access would cost at this key.  Costs are differences to the
 * place before. */
static void weigh_key(walker *w, uint32_t key, uint32_t mine, bounds b) {
  const access *m = &w->at[mine];
  stretch s = stretch_of(w, key, mine, b);
  uint32_t here = w->pos[m->txn], now = fill_state(w, key, s, mine);
  int32_t spoils = 0, last = m->read != NO_CLASS && m->read != now ? m->weight : 0;
  /* From the end: `last` is the cost right behind the access at hand. */
  for (uint32_t i = s.end; i-- > s.first;) {
    const access *a = &w->at[i];
    if (i == mine) continue;
    uint32_t before = w->state[i - s.first];
    if (a->write != NO_CLASS) spoils = 0;
    if (a->read != NO_CLASS && m->write != NO_CLASS) {
      spoils += ((a->read != m->write) - (a->read != before)) * a->weight;
    }
    int32_t cost = spoils + (m->read != NO_CLASS && m->read != before ? m->weight : 0);
    /* The first place behind it, without the one that moves. */
    uint32_t later = w->pos[a->txn] + (w->pos[a->txn] < here);
    if (later <= b.high) w->cost[later] += last - cost;
    last = cost;
  }
  w->cost[b.low] += last;
}

/* ---- moves ---- */

/* Whether one ended before another one started. */
static bool is_earlier(const walker *w, uint32_t a, uint32_t b) { return w->ends[a] < w->e->tick_before[b]; }

/* The places that its session and real time leave to a transaction. */
static bounds find_bounds(walker *w, uint32_t txn) {
  uint32_t before = w->near[0][txn], after = w->near[1][txn];
  bounds b = {.low = before != ISO_NO_TXN ? w->pos[before] + 1 : 0,
              .high = after != ISO_NO_TXN ? w->pos[after] - 1 : w->count - 1};
  if (w->ends == NULL) return b;
  uint32_t low = w->pos[txn], high = low;
  while (low > b.low && !is_earlier(w, w->order[low - 1], txn)) low--;
  while (high < b.high && !is_earlier(w, txn, w->order[high + 1])) high++;
  w->steps += high - low;
  return (bounds){low, high};
}

/* The best place for a transaction, other than its own, and what the reads count more there; false where it has none.
 */
static bool find_place(walker *w, uint32_t txn, uint32_t *place, int32_t *more) {
  uint32_t ties = 0;
  bounds b = find_bounds(w, txn);
  if (b.low >= b.high) return false;
  memset(w->cost + b.low, 0, ((size_t)b.high - b.low + 1) * sizeof *w->cost);
  for (uint32_t at = 0, key; (key = next_key(w, txn, &at)) != NO_KEY;) weigh_key(w, key, find(w, key, txn), b);
  int32_t now = 0, own = 0, least = INT32_MAX;
  for (uint32_t q = b.low; q <= b.high; q++) {
    now += w->cost[q];
    if (q == w->pos[txn]) {
      own = now;
      continue;
    }
    if (now > least) continue;
    ties = now < least ? 1 : ties + 1;
    if (draw(w, ties) == 0) *place = q;
    least = now;
  }
  w->steps += b.high - b.low;
  *more = least - own;
  return true;
}

/* Notes the reads from an access on, up to the next write: another class may be there now.  What is not noted for lack
 * of memory is found later. */
static void note_fresh(walker *w, uint32_t key, uint32_t at) {
  for (bool hidden = false; at < w->first[key + 1] && !hidden; at++) {
    if (w->at[at].read != NO_CLASS) (void)iso_vec_push(&w->fresh, ((broken_read){w->at[at].txn, key}));
    hidden = w->at[at].write != NO_CLASS;
    w->steps++;
  }
}

static void move(walker *w, uint32_t txn, uint32_t place) {
  uint32_t from = w->pos[txn];
  for (uint32_t at = 0, key; (key = next_key(w, txn, &at)) != NO_KEY;) {
    uint32_t i = find(w, key, txn), left = i;
    access mine = w->at[i];
    for (; i > w->first[key] && place < from && w->pos[w->at[i - 1].txn] >= place; i--) w->at[i] = w->at[i - 1];
    for (; i + 1 < w->first[key + 1] && place > from && w->pos[w->at[i + 1].txn] <= place; i++) {
      w->at[i] = w->at[i + 1];
    }
    w->at[i] = mine;
    if (mine.write == NO_CLASS) continue;
    note_fresh(w, key, left + (i < left)); /* who came behind it */
    note_fresh(w, key, i + 1);
  }
  for (; from < place; from++) w->order[from] = w->order[from + 1], w->pos[w->order[from]] = from;
  for (; from > place; from--) w->order[from] = w->order[from - 1], w->pos[w->order[from]] = from;
  w->order[place] = txn;
  w->pos[txn] = place;
}

/* Whom to move for a read that finds another class: the reader, those who overwrote what it saw, or whoever writes that
 * again. */
static uint32_t list_movers(const walker *w, const broken_read *b, uint32_t *movers) {
  enum { CULPRITS = 4 };
  uint32_t count = 0, mine = find(w, b->key, b->txn), wanted = w->at[mine].read, i = mine;
  movers[count++] = b->txn;
  while (i > w->first[b->key] && w->at[i - 1].write != wanted) {
    i--;
    if (w->at[i].write != NO_CLASS && count <= CULPRITS) movers[count++] = w->at[i].txn;
  }
  if (i > w->first[b->key]) movers[count++] = w->at[i - 1].txn;
  for (i = mine + 1; i < w->first[b->key + 1] && w->at[i].write != wanted; i++) continue;
  if (i < w->first[b->key + 1]) movers[count++] = w->at[i].txn;
  return count;
}

static bool is_broken(const walker *w, const broken_read *b) {
  uint32_t mine = find(w, b->key, b->txn), i = mine;
  while (i > w->first[b->key] && w->at[i - 1].write == NO_CLASS) i--;
  return w->at[mine].read != (i > w->first[b->key] ? w->at[i - 1].write : w->c->initial[b->key]);
}

/* Makes the best of a few moves; true when something moved. */
static bool settle(walker *w, const broken_read *b) {
  enum { MOST = 8, EVEN = 50, NOISE = 2, DEAREST = 2, RESTS = 8 }; /* per cent; reads; moves */
  uint32_t movers[MOST], count = list_movers(w, b, movers), best = 0, best_place = 0, place = 0;
  int32_t least = INT32_MAX, more;
  w->moves++; /* made or not, so that nobody rests for ever */
  for (uint32_t i = 0; i < count; i++) {
    if (w->moves < w->rests[movers[i]] || !find_place(w, movers[i], &place, &more)) continue;
    if (more < least || (more == least && draw(w, 2) == 0)) least = more, best = movers[i], best_place = place;
  }
  uint32_t luck = draw(w, 100);
  if (least > DEAREST || (least > 0 && luck >= NOISE) || (least == 0 && luck >= EVEN)) return false;
  move(w, best, best_place);
  w->rests[best] = w->moves + draw(w, RESTS);
  return true;
}

static bool find_broken(walker *w) {
  w->broken.count = 0;
  w->steps += w->first[w->v->h->keys] + 1; /* looking in vain is work, too, and comes to an end */
  for (uint32_t key = 0; key < w->v->h->keys; key++) {
    uint32_t now = w->c->initial[key];
    for (uint32_t i = w->first[key]; i < w->first[key + 1]; i++) {
      const access *a = &w->at[i];
      bool wrong = a->read != NO_CLASS && a->read != now;
      if (wrong && !iso_vec_push(&w->broken, ((broken_read){a->txn, key}))) return false;
      if (a->write != NO_CLASS) now = a->write;
    }
  }
  return true;
}

/* Settles one read, and then what that broke, as far as it goes. */
static void follow(walker *w, const broken_read *b, uint64_t end) {
  enum { TRIES = 4, FAR = 64 };
  w->fresh.count = 0;
  broken_read next = *b;
  for (int far = 0; far < FAR && w->steps <= end; far++) {
    w->at[find(w, next.key, next.txn)].weight++; /* what stays broken counts more (Morris 1993) */
    for (int tries = 0; tries < TRIES && is_broken(w, &next) && settle(w, &next); tries++) continue;
    bool found = false;
    while (!found && w->fresh.count > 0) {
      next = w->fresh.items[--w->fresh.count];
      found = is_broken(w, &next);
    }
    if (!found) return;
  }
}

/* ---- all of it ---- */

static isoproof_status walk(walker *w, iso_value_walk how, isoproof_task *task, uint32_t *best, isoproof_error *error) {
  enum { PATIENCE = 64 };
  size_t least = SIZE_MAX;
  uint64_t end = 0, patience = PATIENCE * (uint64_t)w->first[w->v->h->keys] * w->count;
  if (patience > how.patience) patience = how.patience;
  for (;;) {
    if (!find_broken(w)) return iso_fail_memory(error);
    if (w->broken.count < least) {
      least = w->broken.count;
      end = w->steps + patience;
      memcpy(best, w->order, w->count * sizeof *best);
    }
    if (end > how.most_steps) end = how.most_steps;
    if (least == 0 || w->steps > end) return ISOPROOF_OK;
    for (size_t i = 0; i < w->broken.count && w->steps <= end; i++) {
      const broken_read *b = &w->broken.items[i];
      if (is_broken(w, b)) follow(w, b, end);
    }
    ISO_TRY(iso_task_check(task, error));
  }
}

static int by_when(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Whoever takes part, in the order at hand. */
static bool make_order(walker *w, const int64_t *when) {
  uint32_t txns = w->v->h->txns;
  w->order = iso_alloc(txns, sizeof *w->order);
  w->pos = iso_alloc(txns, sizeof *w->pos);
  int64_t(*sorted)[2] = iso_alloc(txns, sizeof *sorted);
  bool made = w->order != NULL && w->pos != NULL && sorted != NULL;
  for (uint32_t txn = 0; made && txn < txns; txn++) {
    if (!w->v->counts[txn]) continue;
    sorted[w->count][0] = when[iso_event_commit(w->e, txn)];
    sorted[w->count++][1] = txn;
  }
  if (made) qsort(sorted, w->count, sizeof *sorted, by_when);
  for (uint32_t i = 0; made && i < w->count; i++) {
    w->order[i] = (uint32_t)sorted[i][1];
    w->pos[w->order[i]] = i;
  }
  free(sorted);
  return made;
}

static bool make_accesses(walker *w) {
  const iso_view *v = w->v;
  uint32_t keys = v->h->keys;
  size_t most = (size_t)v->write_first[v->h->txns] + w->c->reads.count;
  w->first = iso_alloc_zero((size_t)keys + 2, sizeof *w->first);
  w->at = iso_alloc(most, sizeof *w->at);
  w->state = iso_alloc(most, sizeof *w->state);
  w->cost = iso_alloc((size_t)w->count + 1, sizeof *w->cost);
  w->rests = iso_alloc_zero(v->h->txns, sizeof *w->rests);
  if (w->first == NULL || w->at == NULL || w->state == NULL || w->cost == NULL || w->rests == NULL) return false;
  for (uint32_t i = 0; i < w->count; i++) {
    for (uint32_t at = 0, key; (key = next_key(w, w->order[i], &at)) != NO_KEY;) w->first[key + 2]++;
  }
  for (uint32_t key = 0; key < keys; key++) w->first[key + 2] += w->first[key + 1];
  for (uint32_t i = 0; i < w->count; i++) {
    uint32_t txn = w->order[i];
    for (uint32_t at = 0, key; (key = next_key(w, txn, &at)) != NO_KEY;) {
      access a = {.txn = txn, .read = read_of(w, txn, key), .write = NO_CLASS, .weight = 1};
      if (iso_view_writes(v, txn, key)) a.write = w->c->of_write[iso_view_slot(v, txn, key)];
      w->at[w->first[key + 1]++] = a;
    }
  }
  return true;
}

/* Who comes right before and right after each transaction in its session */
static bool make_neighbours(walker *w) {
  uint32_t txns = w->v->h->txns, last = ISO_NO_TXN;
  for (int side = 0; side < 2; side++) {
    w->near[side] = iso_alloc(txns, sizeof **w->near);
    if (w->near[side] == NULL) return false;
    memset(w->near[side], 0xff, txns * sizeof **w->near);
  }
  for (uint32_t txn = 0; txn < txns; txn++) {
    if (!w->v->counts[txn]) continue;
    if (last != ISO_NO_TXN && w->e->chain_of[last] == w->e->chain_of[txn]) {
      w->near[0][txn] = last;
      w->near[1][last] = txn;
    }
    last = txn;
  }
  return true;
}

/* When each transaction ended, where that counts. */
static bool make_ends(walker *w) {
  const iso_event_graph *e = w->e;
  if (e->tick_before == NULL) return true;
  w->ends = iso_alloc(w->v->h->txns, sizeof *w->ends);
  if (w->ends == NULL) return false;
  memset(w->ends, 0xff, w->v->h->txns * sizeof *w->ends);
  for (uint32_t tick = 0; tick < e->ticks; tick++) {
    for (uint32_t i = e->ended_first[tick]; i < e->ended_first[tick + 1]; i++) w->ends[e->ended[i]] = tick;
  }
  return true;
}

static void walker_free(walker *w) {
  free(w->ends);
  for (int side = 0; side < 2; side++) free(w->near[side]);
  free(w->order);
  free(w->pos);
  free(w->first);
  free(w->at);
  free(w->cost);
  free(w->state);
  free(w->rests);
  iso_vec_free(&w->broken);
  iso_vec_free(&w->fresh);
}

isoproof_status iso_value_walk_all(const iso_event_graph *e, const iso_value_classes *classes, iso_value_walk how,
                                   isoproof_task *task, int64_t *when, isoproof_error *error) {
  walker w = {.e = e, .v = e->view, .c = classes, .random = (how.seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};
  bool made = make_order(&w, when) && make_accesses(&w) && make_neighbours(&w) && make_ends(&w);
  uint32_t *best = made ? iso_alloc(w.count, sizeof *best) : NULL;
  isoproof_status status = best != NULL ? walk(&w, how, task, best, error) : iso_fail_memory(error);
  for (uint32_t i = 0; status == ISOPROOF_OK && i < w.count; i++) {
    when[iso_event_begin(e, best[i])] = 2 * (int64_t)i;
    when[iso_event_commit(e, best[i])] = 2 * (int64_t)i + e->split;
  }
  free(best);
  walker_free(&w);
  return status;
}
