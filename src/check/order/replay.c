/* A history carried out step by step, so that readers find the versions they saw. */
#include "check/order/replay.h"

#include <stdlib.h>
#include <string.h>

enum { WAITS, READY, BEGUN, DONE };
#define NO_VERSION UINT32_MAX

typedef struct {
  const iso_event_graph *e;
  const iso_view *v;
  const double *place; /* by event: of commits */
  int64_t *turn;
  int64_t turns;
  uint32_t *current;      /* by key: its version */
  uint32_t *version;      /* by read: what it saw; NO_VERSION where its transaction saw it before */
  uint32_t *reader_first; /* by version: its readers, each once; ISO_NO_TXN ends them early */
  uint32_t *reader;
  uint32_t *missing;      /* by version: readers that have not begun */
  uint32_t *blocked;      /* by version: the first transaction that waits for its readers, + 1 */
  uint32_t *next;         /* by transaction: the next one that waits there, + 1 */
  uint32_t *need;         /* by transaction: versions that were not there yet, and the one before it in its session */
  uint32_t *follow_first; /* by transaction: those that a derived edge from its commit leads to */
  uint32_t *follow;
  uint32_t *holder;  /* by key: who has begun and writes it, + 1 */
  uint8_t *state;    /* by transaction */
  uint8_t *is_stuck; /* by transaction: stands in `stuck` */
  uint32_t *heap;    /* transactions that find what they read, by place */
  uint32_t ready;
  uint32_t *stuck; /* those that wait for readers, by place; some are gone already */
  uint32_t stuck_count;
} replay;

/* ---- versions ---- */

static uint32_t initial_version(const iso_view *v, uint32_t key) { return v->write_first[v->h->txns] + key; }

static uint32_t version_of(const iso_view *v, const iso_external_read *read) {
  if (read->from == ISO_INITIAL) return initial_version(v, read->key);
  uint32_t slot = iso_view_slot(v, read->from, read->key);
  bool wrote = slot < v->write_first[read->from + 1] && v->write_key[slot] == read->key;
  return wrote ? slot : initial_version(v, read->key);
}

/* Readers by version; of a transaction that reads a version again, the first read counts. */
static void index_readers(replay *r) {
  const iso_view *v = r->v;
  uint32_t txns = v->h->txns, reads = v->read_first[txns], writes = v->write_first[txns],
           versions = writes + v->h->keys;
  for (uint32_t i = 0; i < reads; i++) {
    r->version[i] = version_of(v, &v->reads[i]);
    r->reader_first[r->version[i] + 1]++;
  }
  for (uint32_t i = 0; i < versions; i++) r->reader_first[i + 1] += r->reader_first[i];
  memset(r->reader, 0xff, reads * sizeof *r->reader);
  for (uint32_t txn = 0; txn < txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      uint32_t version = r->version[i], at = r->reader_first[version] + r->missing[version];
      if (r->missing[version] > 0 && r->reader[at - 1] == txn) {
        r->version[i] = NO_VERSION;
        continue;
      }
      r->reader[at] = txn;
      r->missing[version]++;
      if (version < writes) r->need[txn]++;
    }
  }
}

/* ---- heaps ---- */

static bool goes_before(const replay *r, uint32_t a, uint32_t b) {
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

static void come_nearer(replay *r, uint32_t txn) {
  if (r->state[txn] != WAITS || --r->need[txn] > 0) return;
  r->state[txn] = READY;
  push(r, r->heap, &r->ready, txn);
}

/* Whoever waited for the readers of a version may look again. */
static void release(replay *r, uint32_t version) {
  uint32_t waiting = r->blocked[version];
  r->blocked[version] = 0;
  while (waiting > 0) {
    uint32_t txn = waiting - 1;
    waiting = r->next[txn];
    push(r, r->heap, &r->ready, txn);
  }
}

static void begin(replay *r, uint32_t txn) {
  const iso_view *v = r->v;
  r->state[txn] = BEGUN;
  r->turn[iso_event_begin(r->e, txn)] = r->turns++;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    /* The last reader may be the one that waits to overwrite it. */
    if (r->version[i] != NO_VERSION && --r->missing[r->version[i]] <= 1) release(r, r->version[i]);
  }
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) r->holder[v->write_key[i]] = txn + 1;
}

static void finish(replay *r, uint32_t txn) {
  const iso_event_graph *e = r->e;
  const iso_view *v = r->v;
  r->state[txn] = DONE;
  r->turn[iso_event_commit(e, txn)] = r->turns++;
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t key = v->write_key[i], old = r->current[key];
    if (r->holder[key] == txn + 1) r->holder[key] = 0;
    r->current[key] = i;
    release(r, old);
    for (uint32_t k = r->reader_first[i]; k < r->reader_first[i + 1] && r->reader[k] != ISO_NO_TXN; k++) {
      come_nearer(r, r->reader[k]);
    }
  }
  for (uint32_t i = r->follow_first[txn]; i < r->follow_first[txn + 1]; i++) come_nearer(r, r->follow[i]);
  uint32_t after = txn + 1;
  while (after < v->h->txns && !v->counts[after] && e->chain_of[after] == e->chain_of[txn]) after++;
  if (after < v->h->txns && e->chain_of[after] == e->chain_of[txn]) come_nearer(r, after);
}

static void go(replay *r, uint32_t txn) {
  if (r->state[txn] == READY) begin(r, txn);
  finish(r, txn);
}

static bool reads_version(const replay *r, uint32_t txn, uint32_t version) {
  const iso_view *v = r->v;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    if (r->version[i] == version) return true;
  }
  return false;
}

/* How many readers would miss the versions that a transaction overwrites; *at becomes one of those versions. */
static uint32_t count_losers(const replay *r, uint32_t txn, uint32_t *at) {
  const iso_view *v = r->v;
  uint32_t losers = 0;
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t version = r->current[v->write_key[i]], others = r->missing[version], holder = r->holder[v->write_key[i]];
    if (others > 0 && r->state[txn] == READY && reads_version(r, txn, version)) others--;
    if (holder != 0 && holder != txn + 1) others++;
    if (others > 0) *at = version;
    losers += others;
  }
  return losers;
}

/* Lets those begin who hold a transaction up and have all they read. */
static bool begin_readers(replay *r, uint32_t txn) {
  const iso_view *v = r->v;
  bool any = false;
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t version = r->current[v->write_key[i]];
    for (uint32_t k = r->reader_first[version]; k < r->reader_first[version + 1]; k++) {
      uint32_t reader = r->reader[k];
      if (reader == ISO_NO_TXN) break;
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
  if (r->is_stuck[txn]) return;
  r->is_stuck[txn] = 1;
  push(r, r->stuck, &r->stuck_count, txn);
}

/* The first few that wait for readers. */
static uint32_t take_stuck(replay *r, uint32_t *first, uint32_t most) {
  uint32_t count = 0;
  while (count < most && r->stuck_count > 0) {
    uint32_t txn = pop(r, r->stuck, &r->stuck_count);
    r->is_stuck[txn] = 0;
    if (r->state[txn] != DONE) first[count++] = txn;
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

static void carry_out(replay *r, isoproof_task *task) {
  enum { BREATH = 4096 };
  for (uint32_t steps = 0; r->ready + r->stuck_count > 0; steps++) {
    if (steps % BREATH == 0 && iso_task_check(task, NULL) != ISOPROOF_OK) return;
    if (r->ready == 0) {
      force(r);
      continue;
    }
    uint32_t txn = pop(r, r->heap, &r->ready), at = NO_VERSION;
    if (r->state[txn] == DONE) continue;
    if (count_losers(r, txn, &at) == 0) {
      go(r, txn);
      continue;
    }
    r->next[txn] = r->blocked[at];
    r->blocked[at] = txn + 1;
    set_aside(r, txn);
  }
}

/* ---- all of it ---- */

static bool allocate(replay *r) {
  uint32_t txns = r->v->h->txns, keys = r->v->h->keys, reads = r->v->read_first[txns];
  size_t versions = (size_t)r->v->write_first[txns] + keys;
  r->current = iso_alloc(keys, sizeof *r->current);
  r->holder = iso_alloc_zero(keys, sizeof *r->holder);
  r->version = iso_alloc(reads, sizeof *r->version);
  r->reader = iso_alloc(reads, sizeof *r->reader);
  r->reader_first = iso_alloc_zero(versions + 1, sizeof *r->reader_first);
  r->missing = iso_alloc_zero(versions, sizeof *r->missing);
  r->blocked = iso_alloc_zero(versions, sizeof *r->blocked);
  r->next = iso_alloc_zero(txns, sizeof *r->next);
  r->need = iso_alloc_zero(txns, sizeof *r->need);
  r->follow_first = iso_alloc_zero((size_t)txns + 2, sizeof *r->follow_first);
  r->follow = iso_alloc(r->e->derived.count, sizeof *r->follow);
  r->state = iso_alloc_zero(txns, sizeof *r->state);
  r->is_stuck = iso_alloc_zero(txns, sizeof *r->is_stuck);
  r->heap = iso_alloc(txns, sizeof *r->heap);
  r->stuck = iso_alloc(txns, sizeof *r->stuck);
  return r->current != NULL && r->holder != NULL && r->version != NULL && r->reader != NULL &&
         r->reader_first != NULL && r->missing != NULL && r->blocked != NULL && r->next != NULL && r->need != NULL &&
         r->follow_first != NULL && r->follow != NULL && r->state != NULL && r->is_stuck != NULL && r->heap != NULL &&
         r->stuck != NULL;
}

static void replay_free(replay *r) {
  free(r->current);
  free(r->holder);
  free(r->version);
  free(r->reader);
  free(r->reader_first);
  free(r->missing);
  free(r->blocked);
  free(r->next);
  free(r->need);
  free(r->follow_first);
  free(r->follow);
  free(r->state);
  free(r->is_stuck);
  free(r->heap);
  free(r->stuck);
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
    r->need[to]++;
  }
  for (uint32_t txn = 0; txn < r->v->h->txns; txn++) first[txn + 2] += first[txn + 1];
  for (size_t i = 0; i < e->derived.count; i++) {
    uint32_t to = follower(r, &e->derived.items[i]);
    if (to != ISO_NO_TXN) r->follow[first[iso_event_txn(e, e->derived.items[i].from) + 1]++] = to;
  }
}

static void start(replay *r) {
  const iso_event_graph *e = r->e;
  for (uint32_t key = 0; key < r->v->h->keys; key++) r->current[key] = initial_version(r->v, key);
  index_readers(r);
  for (uint32_t txn = 0, last = ISO_NO_TXN; txn < r->v->h->txns; txn++) {
    if (!r->v->counts[txn]) continue;
    if (last != ISO_NO_TXN && e->chain_of[last] == e->chain_of[txn]) r->need[txn]++;
    last = txn;
  }
  index_followers(r);
  for (uint32_t txn = 0; txn < r->v->h->txns; txn++) {
    if (!r->v->counts[txn] || r->need[txn] > 0) continue;
    r->state[txn] = READY;
    push(r, r->heap, &r->ready, txn);
  }
}

isoproof_status iso_replay(const iso_event_graph *e, const double *place, isoproof_task *task, int64_t *turn,
                           isoproof_error *error) {
  replay r = {.e = e, .v = e->view, .place = place, .turn = turn};
  bool made = allocate(&r);
  if (made) {
    start(&r);
    carry_out(&r, task);
  }
  replay_free(&r);
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}
