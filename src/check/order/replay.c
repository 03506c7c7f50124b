/* A history carried out step by step, so that readers find the versions they saw. */
#include "check/order/replay.h"

#include <stdlib.h>
#include <string.h>

enum { WAITS, READY, BEGUN, DONE };

typedef struct {
  const iso_event_graph *e;
  const iso_view *v;
  const iso_value_classes *c;
  const double *place; /* by event: of commits */
  int64_t *turn;
  int64_t turns;
  uint32_t *current;      /* by key: its class */
  uint32_t *reader_first; /* by class: its readers */
  uint32_t *reader;
  uint32_t *missing;      /* by class: readers that have not begun */
  uint32_t *updates;      /* by class: those of them that overwrite it */
  uint32_t *supply;       /* by class: writers that are not done */
  uint32_t *blocked;      /* by class: the first transaction that waits for its readers, + 1 */
  uint32_t *next;         /* by transaction: the next one that waits there, + 1 */
  uint32_t *need;         /* by transaction: classes that are not there, and those who come before it */
  uint32_t *behind;       /* by transaction: those who come before it and are not done */
  uint32_t *follow_first; /* by transaction: those that a derived edge from its commit leads to */
  uint32_t *follow;
  uint32_t *holder; /* by key: who has begun and writes it, + 1 */
  uint8_t *state;   /* by transaction */
  uint8_t *marks;   /* by transaction: where it stands */
  uint32_t *heap;   /* transactions that find what they read, by place; some wait again */
  uint32_t ready;
  uint32_t *stuck; /* those that wait for readers, by place; some are gone already */
  uint32_t stuck_count;
  uint32_t *by_place; /* all that take part */
  uint32_t pending, first_pending;
} replay;

/* Marks. */
enum { QUEUED = 1, STUCK = 2, BLOCKED = 4 };

/* ---- what is read ---- */

static bool writes_nothing(const iso_view *v, uint32_t txn) { return v->write_first[txn] == v->write_first[txn + 1]; }

/* Readers by class. */
static void index_readers(replay *r) {
  const iso_value_classes *c = r->c;
  const iso_view *v = r->v;
  uint32_t txns = v->h->txns, reads = c->read_first[txns], slots = v->write_first[txns];
  for (uint32_t i = 0; i < reads; i++) r->reader_first[c->reads.items[i].of + 1]++;
  for (uint32_t i = 0; i < c->count; i++) r->reader_first[i + 1] += r->reader_first[i];
  for (uint32_t txn = 0; txn < txns; txn++) {
    for (uint32_t i = c->read_first[txn]; i < c->read_first[txn + 1]; i++) {
      uint32_t of = c->reads.items[i].of;
      r->reader[r->reader_first[of] + r->missing[of]++] = txn;
      r->updates[of] += c->reads.items[i].updates;
      if (of != c->initial[c->reads.items[i].key]) r->need[txn]++;
    }
  }
  for (uint32_t i = 0; i < slots; i++) r->supply[c->of_write[i]]++;
}

/* Who writes nothing harms nobody and goes first. */
static bool goes_before(const replay *r, uint32_t a, uint32_t b) {
  bool harmless = writes_nothing(r->v, a);
  if (harmless != writes_nothing(r->v, b)) return harmless;
  double x = r->place[iso_event_commit(r->e, a)], y = r->place[iso_event_commit(r->e, b)];
  return x != y ? x < y : a < b;
}

static void push(const replay *r, uint32_t *heap, uint32_t *count, uint32_t txn) {
  uint32_t i = (*count)++;
  for (; i > 0 && goes_before(r, txn, heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = txn;
}

static uint32_t pop(const replay *r, uint32_t *heap, uint32_t *count) {
  uint32_t first = heap[0], last = heap[--*count], i = 0;
  for (uint32_t child = 1; child < *count; child = 2 * i + 1) {
    if (child + 1 < *count && goes_before(r, heap[child + 1], heap[child])) child++;
    if (!goes_before(r, heap[child], last)) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
  return first;
}

/* ---- steps ---- */

static void enqueue(replay *r, uint32_t txn) {
  if (r->marks[txn] & QUEUED) return;
  r->marks[txn] |= QUEUED;
  push(r, r->heap, &r->ready, txn);
}

static void come_nearer(replay *r, uint32_t txn) {
  if (r->state[txn] != WAITS || --r->need[txn] > 0) return;
  r->state[txn] = READY;
  enqueue(r, txn);
}

static void come_after(replay *r, uint32_t txn) {
  r->behind[txn]--;
  come_nearer(r, txn);
}

/* A class is there no longer, but will be again. */
static void lose(replay *r, uint32_t of) {
  for (uint32_t k = r->reader_first[of]; k < r->reader_first[of + 1]; k++) {
    uint32_t txn = r->reader[k];
    if (r->state[txn] != WAITS && r->state[txn] != READY) continue;
    r->need[txn]++;
    r->state[txn] = WAITS;
  }
}

/* Whoever waited for the readers of a class may look again. */
static void release(replay *r, uint32_t of) {
  uint32_t waiting = r->blocked[of];
  r->blocked[of] = 0;
  while (waiting > 0) {
    uint32_t txn = waiting - 1;
    waiting = r->next[txn];
    r->marks[txn] &= (uint8_t)~BLOCKED;
    if (r->state[txn] == READY || r->state[txn] == BEGUN) enqueue(r, txn);
  }
}

static void begin(replay *r, uint32_t txn) {
  const iso_view *v = r->v;
  const iso_value_classes *c = r->c;
  r->state[txn] = BEGUN;
  r->turn[iso_event_begin(r->e, txn)] = r->turns++;
  for (uint32_t i = c->read_first[txn]; i < c->read_first[txn + 1]; i++) {
    uint32_t of = c->reads.items[i].of;
    r->updates[of] -= c->reads.items[i].updates;
    /* The last reader may be the one that waits to overwrite it. */
    if (--r->missing[of] <= 1) release(r, of);
  }
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) r->holder[v->write_key[i]] = txn + 1;
}

/* A key has another class. */
static void replace(replay *r, uint32_t key, uint32_t of) {
  uint32_t old = r->current[key];
  r->supply[of]--;
  if (of == old) return;
  r->current[key] = of;
  if (r->supply[old] > 0) lose(r, old);
  release(r, old);
  for (uint32_t k = r->reader_first[of]; k < r->reader_first[of + 1]; k++) come_nearer(r, r->reader[k]);
}

static void finish(replay *r, uint32_t txn) {
  const iso_event_graph *e = r->e;
  const iso_view *v = r->v;
  r->state[txn] = DONE;
  r->pending--;
  r->turn[iso_event_commit(e, txn)] = r->turns++;
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t key = v->write_key[i];
    if (r->holder[key] == txn + 1) r->holder[key] = 0;
    replace(r, key, r->c->of_write[i]);
  }
  for (uint32_t i = r->follow_first[txn]; i < r->follow_first[txn + 1]; i++) come_after(r, r->follow[i]);
  uint32_t after = txn + 1;
  while (after < v->h->txns && !v->counts[after] && e->chain_of[after] == e->chain_of[txn]) after++;
  if (after < v->h->txns && e->chain_of[after] == e->chain_of[txn]) come_after(r, after);
}

static void go(replay *r, uint32_t txn) {
  if (r->state[txn] != BEGUN) begin(r, txn);
  finish(r, txn);
}

/* Whether a transaction that has not begun reads a class. */
static bool will_read(const replay *r, uint32_t txn, uint32_t of) {
  const iso_value_classes *c = r->c;
  for (uint32_t i = c->read_first[txn]; i < c->read_first[txn + 1] && r->state[txn] != BEGUN; i++) {
    if (c->reads.items[i].of == of) return true;
  }
  return false;
}

/* How many others would find a class now. */
static uint32_t count_ready(const replay *r, uint32_t txn, uint32_t of) {
  uint32_t ready = 0;
  for (uint32_t k = r->reader_first[of]; k < r->reader_first[of + 1]; k++) {
    ready += r->reader[k] != txn && r->state[r->reader[k]] == READY;
  }
  return ready;
}

/* How much harm it does to overwrite a class that is written again or not. */
static uint32_t count_losers_of(const replay *r, uint32_t txn, uint32_t of) {
  enum { FOR_GOOD = 8 };
  uint32_t others = r->missing[of], updates = r->updates[of];
  if (others == 0) return 0;
  if (will_read(r, txn, of)) others--, updates--;
  if (r->supply[of] == 0) return others * FOR_GOOD;
  uint32_t lost = updates > r->supply[of] ? updates - r->supply[of] : 0;
  return lost * FOR_GOOD + count_ready(r, txn, of);
}

/* How many readers would miss what a transaction overwrites, those for good more than others; *at becomes one of those
 * classes. */
static uint32_t count_losers(const replay *r, uint32_t txn, uint32_t *at) {
  const iso_view *v = r->v;
  uint32_t losers = 0;
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t of = r->current[v->write_key[i]], holder = r->holder[v->write_key[i]];
    uint32_t others = of == r->c->of_write[i] ? 0 : count_losers_of(r, txn, of);
    if (holder != 0 && holder != txn + 1) others++;
    if (others > 0) *at = of;
    losers += others;
  }
  return losers;
}

/* Lets those begin who hold a transaction up and have all they read. */
static bool begin_readers(replay *r, uint32_t txn) {
  const iso_view *v = r->v;
  bool any = false;
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t of = r->current[v->write_key[i]];
    for (uint32_t k = r->reader_first[of]; k < r->reader_first[of + 1]; k++) {
      uint32_t reader = r->reader[k];
      if (reader == txn || r->state[reader] != READY) continue;
      bool held = false;
      for (uint32_t w = v->write_first[reader]; w < v->write_first[reader + 1] && !held; w++) {
        held = r->holder[v->write_key[w]] != 0 || iso_view_writes(v, txn, v->write_key[w]);
      }
      if (held) continue;
      begin(r, reader);
      any = true;
    }
  }
  return any;
}

static void set_aside(replay *r, uint32_t txn) {
  if (r->marks[txn] & STUCK) return;
  r->marks[txn] |= STUCK;
  push(r, r->stuck, &r->stuck_count, txn);
}

static bool is_able(const replay *r, uint32_t txn) { return r->state[txn] == READY || r->state[txn] == BEGUN; }

/* The first few that wait for readers. */
static uint32_t take_stuck(replay *r, uint32_t *first, uint32_t most) {
  uint32_t count = 0;
  while (count < most && r->stuck_count > 0) {
    uint32_t txn = pop(r, r->stuck, &r->stuck_count);
    r->marks[txn] &= (uint8_t)~STUCK;
    if (is_able(r, txn)) first[count++] = txn;
  }
  return count;
}

/* Nobody can go without harm: of the first few, the one that harms the least. */
static void force(replay *r) {
  enum { FIRST = 16 };
  uint32_t first[FIRST], count = take_stuck(r, first, FIRST), least = UINT32_MAX, best = ISO_NO_TXN, at;
  bool any = false;
  for (uint32_t i = 0; i < count && r->e->split && r->ready == 0; i++) any = begin_readers(r, first[i]) || any;
  for (uint32_t i = 0; i < count && !any; i++) {
    uint32_t losers = count_losers(r, first[i], &at);
    if (losers < least) least = losers, best = first[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    if (first[i] != best) set_aside(r, first[i]);
  }
  if (best != ISO_NO_TXN) go(r, best);
}

/* Nobody finds what it read: of the first few whose turn it can be, the one that lacks the least. */
static void give_in(replay *r) {
  enum { FIRST = 64 };
  uint32_t least = UINT32_MAX, best = ISO_NO_TXN, at, seen = 0;
  while (r->first_pending < r->v->taking_part && r->state[r->by_place[r->first_pending]] == DONE) r->first_pending++;
  for (uint32_t i = r->first_pending; i < r->v->taking_part && (seen < FIRST || best == ISO_NO_TXN); i++) {
    uint32_t txn = r->by_place[i];
    if (r->state[txn] != WAITS || r->behind[txn] > 0) continue;
    seen++;
    uint32_t lacks = r->need[txn] * FIRST + count_losers(r, txn, &at);
    if (lacks < least) least = lacks, best = txn;
  }
  if (best != ISO_NO_TXN) go(r, best);
  if (best == ISO_NO_TXN) r->pending = 0; /* known orders are no cycle, but some are not looked at */
}

static void carry_out(replay *r, isoproof_task *task) {
  enum { BREATH = 4096 };
  for (uint32_t steps = 0; r->pending > 0; steps++) {
    if (steps % BREATH == 0 && iso_task_check(task, NULL) != ISOPROOF_OK) return;
    if (r->ready == 0) {
      (r->stuck_count > 0 ? force : give_in)(r);
      continue;
    }
    uint32_t txn = pop(r, r->heap, &r->ready), at = 0;
    r->marks[txn] &= (uint8_t)~QUEUED;
    if (!is_able(r, txn)) continue;
    if (count_losers(r, txn, &at) == 0) {
      go(r, txn);
      continue;
    }
    if (!(r->marks[txn] & BLOCKED)) {
      r->next[txn] = r->blocked[at];
      r->blocked[at] = txn + 1;
      r->marks[txn] |= BLOCKED;
    }
    set_aside(r, txn);
  }
}

/* ---- all of it ---- */

static bool allocate(replay *r) {
  uint32_t txns = r->v->h->txns, keys = r->v->h->keys, classes = r->c->count;
  uint32_t **by_key[] = {&r->current, &r->holder}, **by_class[] = {&r->missing, &r->updates, &r->supply, &r->blocked};
  uint32_t **by_txn[] = {&r->next, &r->need, &r->behind, &r->heap, &r->stuck, &r->by_place};
  bool made = true;
  for (size_t i = 0; i < sizeof by_key / sizeof *by_key; i++) {
    made = (*by_key[i] = iso_alloc_zero(keys, sizeof **by_key[i])) != NULL && made;
  }
  for (size_t i = 0; i < sizeof by_class / sizeof *by_class; i++) {
    made = (*by_class[i] = iso_alloc_zero(classes, sizeof **by_class[i])) != NULL && made;
  }
  for (size_t i = 0; i < sizeof by_txn / sizeof *by_txn; i++) {
    made = (*by_txn[i] = iso_alloc_zero(txns, sizeof **by_txn[i])) != NULL && made;
  }
  r->reader_first = iso_alloc_zero((size_t)classes + 1, sizeof *r->reader_first);
  r->reader = iso_alloc(r->c->read_first[txns], sizeof *r->reader);
  r->follow_first = iso_alloc_zero((size_t)txns + 2, sizeof *r->follow_first);
  r->follow = iso_alloc(r->e->derived.count, sizeof *r->follow);
  r->state = iso_alloc_zero(txns, 1);
  r->marks = iso_alloc_zero(txns, 1);
  return made && r->reader_first != NULL && r->reader != NULL && r->follow_first != NULL && r->follow != NULL &&
         r->state != NULL && r->marks != NULL;
}

static void replay_free(replay *r) {
  void *all[] = {r->current,      r->holder, r->missing,      r->updates, r->supply, r->blocked,
                 r->next,         r->need,   r->behind,       r->heap,    r->stuck,  r->by_place,
                 r->reader_first, r->reader, r->follow_first, r->follow,  r->state,  r->marks};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* The transaction that a derived edge leads to and that waits for the one it comes from; ISO_NO_TXN where it need not.
 */
static uint32_t follower(const replay *r, const iso_derived *edge) {
  uint32_t from = iso_event_txn(r->e, edge->from), to = iso_event_txn(r->e, edge->to);
  bool waits = from != ISO_NO_TXN && to != ISO_NO_TXN && from != to && edge->from == iso_event_commit(r->e, from);
  return waits ? to : ISO_NO_TXN;
}

static void index_followers(replay *r) {
  const iso_event_graph *e = r->e;
  uint32_t *first = r->follow_first;
  for (size_t i = 0; i < e->derived.count; i++) {
    uint32_t to = follower(r, &e->derived.items[i]);
    if (to == ISO_NO_TXN) continue;
    first[iso_event_txn(e, e->derived.items[i].from) + 2]++;
    r->behind[to]++;
  }
  for (uint32_t txn = 0; txn < r->v->h->txns; txn++) first[txn + 2] += first[txn + 1];
  for (size_t i = 0; i < e->derived.count; i++) {
    uint32_t to = follower(r, &e->derived.items[i]);
    if (to != ISO_NO_TXN) r->follow[first[iso_event_txn(e, e->derived.items[i].from) + 1]++] = to;
  }
}

static void start(replay *r) {
  const iso_event_graph *e = r->e;
  const iso_view *v = r->v;
  memcpy(r->current, r->c->initial, v->h->keys * sizeof *r->current);
  index_readers(r);
  index_followers(r);
  for (uint32_t txn = 0, last = ISO_NO_TXN; txn < v->h->txns; txn++) {
    if (!v->counts[txn]) continue;
    if (last != ISO_NO_TXN && e->chain_of[last] == e->chain_of[txn]) r->behind[txn]++;
    last = txn;
    push(r, r->heap, &r->ready, txn);
  }
  while (r->ready > 0) r->by_place[r->pending++] = pop(r, r->heap, &r->ready);
  for (uint32_t i = 0; i < r->pending; i++) {
    uint32_t txn = r->by_place[i];
    r->need[txn] += r->behind[txn];
    if (r->need[txn] > 0) continue;
    r->state[txn] = READY;
    enqueue(r, txn);
  }
}

isoproof_status iso_replay(const iso_event_graph *e, const iso_value_classes *classes, const double *place,
                           isoproof_task *task, int64_t *turn, isoproof_error *error) {
  replay r = {.e = e, .v = e->view, .c = classes, .place = place, .turn = turn};
  bool made = allocate(&r);
  if (made) {
    start(&r);
    carry_out(&r, task);
  }
  replay_free(&r);
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}
