/* Transactions carried out one after the other in the order of their times, or of their places in the file, several
 * stretches of time at once.
 *
 * A stretch does not know what its keys hold when it begins: the first access to a key assumes what it needs, and the
 * assumptions are compared with what the stretch before has left. */
#include "check/quick/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "check/quick/pages.h"
#include "check/quick/time_order.h"
#include "history/real_time.h"

/* What a key holds, and what was first done to it: a value that was read, one that was written, or nothing. */
typedef struct {
  uint32_t holds, first;
} cell;
#define UNKNOWN UINT32_C(0xffffffff)
#define WRITTEN UINT32_C(0x80000000) /* besides a value, which is below */

/* Of every session the transactions [first, end). */
typedef struct {
  const uint32_t *first, *end;
  cell *cells;     /* by key */
  uint32_t *order; /* transactions in the order of their times */
  bool wrong, failed;
  bool descends; /* a key was given a value that is not above the one before */
} stretch;

typedef struct {
  const isoproof_history *h;
  const int64_t *time; /* by transaction */
  uint64_t window;     /* see iso_quick_replay */
  isoproof_task *task;
  uint32_t *bounds; /* by stretch, and one more: by session, where it begins */
  stretch *stretches;
} replay;

/* Carries a transaction out.  Reads and writes alternate at random, so that nothing branches on them. */
static inline void carry_out(const replay *r, stretch *s, uint32_t txn) {
  const isoproof_history *h = r->h;
  uint32_t end = h->txn_first_op[txn + 1], lowest = h->initial_is_zero;
  bool wrong = false, descends = false;
  for (uint32_t op = h->txn_first_op[txn]; op < end; op++) {
    cell *at = &s->cells[h->op_key[op]];
    uint32_t value = h->op_value[op], holds = at->holds;
    bool read = h->op_kind[op] == ISOPROOF_OP_READ, write = h->op_kind[op] == ISOPROOF_OP_WRITE;
    bool unknown = holds == UNKNOWN;
    wrong |= (read == write) | (read & !unknown & (value != holds)) | (value > ISO_VALUE_NIL) |
             (write & ((value == ISO_VALUE_NIL) | (value < lowest)));
    descends |= write & !unknown & (holds != ISO_VALUE_NIL) & (value <= holds);
    at->first = unknown ? value | (write ? WRITTEN : 0) : at->first;
    at->holds = value;
  }
  s->wrong |= wrong;
  s->descends |= descends;
}

/* What was rolled back shows nothing and leaves nothing, but its values count. */
static void leave_out(const replay *r, stretch *s, uint32_t txn) {
  const isoproof_history *h = r->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    s->descends |= h->op_kind[op] != ISOPROOF_OP_READ;
    s->wrong |= h->op_kind[op] != ISOPROOF_OP_READ && h->op_kind[op] != ISOPROOF_OP_WRITE;
  }
}

/* Announces what transactions further on are, then their operations, then what their keys hold.  Inlined by force: some
 * compilers take a call for nothing that does nothing but announce. */
static inline __attribute__((always_inline)) void announce(const replay *r, const stretch *s, const uint32_t *order,
                                                           size_t left) {
  enum { NEAR = 2, FAR = 10, FARTHEST = 20, OPS = 16 };
  const isoproof_history *h = r->h;
  if (left <= FARTHEST) return;
  __builtin_prefetch(&h->txn_first_op[order[FARTHEST]]);
  uint32_t op = h->txn_first_op[order[FAR]], other = op + OPS < h->ops ? op + OPS : op;
  __builtin_prefetch(&h->op_kind[op]);
  __builtin_prefetch(&h->op_key[op]);
  __builtin_prefetch(&h->op_key[other]);
  __builtin_prefetch(&h->op_value[op]);
  __builtin_prefetch(&h->op_value[other]);
  uint32_t end = h->txn_first_op[order[NEAR] + 1];
  for (op = h->txn_first_op[order[NEAR]]; op < end; op++) __builtin_prefetch(&s->cells[h->op_key[op]], 1);
}

static void run_stretch(const replay *r, stretch *s) {
  size_t txns = 0;
  iso_quick_times times = {r->h, r->time, s->first, s->end};
  iso_quick_pages pages = iso_quick_pages_of(r->h, r->window);
  if (!iso_quick_time_order(&times, &s->order, &txns)) s->failed = true;
  s->wrong = s->order == NULL;
  for (size_t i = 0; i < txns && !s->wrong; i++) {
    uint32_t txn = s->order[i];
    announce(r, s, s->order + i, txns - i);
    iso_quick_touch(&pages, r->h->txn_first_op[txn + 1] - r->h->txn_first_op[txn], 1);
    if (r->h->txn_status[txn] == ISOPROOF_TXN_COMMITTED) {
      carry_out(r, s, txn);
    } else {
      leave_out(r, s, txn);
    }
    if ((i & 0xffff) == 0xffff && iso_task_check(r->task, NULL) != ISOPROOF_OK) s->wrong = true;
  }
  free(s->order);
  s->order = NULL;
}

static bool begin_stretch(const replay *r, stretch *s, const uint32_t *first, const uint32_t *end, uint32_t holds) {
  *s = (stretch){.first = first, .end = end};
  s->cells = iso_alloc(r->h->keys, sizeof *s->cells);
  for (uint32_t key = 0; s->cells != NULL && key < r->h->keys; key++) s->cells[key] = (cell){holds, UNKNOWN};
  s->failed = s->cells == NULL;
  return !s->failed;
}

static void one_stretch(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  replay *r = context;
  const uint32_t *first = r->bounds + (size_t)thread * r->h->sessions;
  stretch *s = &r->stretches[thread];
  if (begin_stretch(r, s, first, first + r->h->sessions, thread == 0 ? ISO_VALUE_NIL : UNKNOWN)) run_stretch(r, s);
}

/* The first transaction of a session that is not before a time. */
static uint32_t first_at(const replay *r, uint32_t session, int64_t time) {
  uint32_t low = r->h->session_first_txn[session], high = r->h->session_first_txn[session + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (r->time[middle] < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Cuts the sessions at a time. */
static void bound(const replay *r, uint32_t *bounds, int64_t time) {
  for (uint32_t session = 0; session < r->h->sessions; session++) bounds[session] = first_at(r, session, time);
}

/* The transactions of all sessions in as many stretches, such that the longest session is cut evenly. */
static void share_out(const replay *r, unsigned threads) {
  const uint32_t *first = r->h->session_first_txn;
  uint32_t longest = 0, sessions = r->h->sessions;
  for (uint32_t s = 0; s < sessions; s++) {
    if (first[s + 1] - first[s] > first[longest + 1] - first[longest]) longest = s;
  }
  memcpy(r->bounds, first, sessions * sizeof *first);
  memcpy(r->bounds + (size_t)threads * sessions, first + 1, sessions * sizeof *first);
  for (unsigned t = 1; t < threads; t++) {
    uint64_t place = (uint64_t)(first[longest + 1] - first[longest]) * t / threads;
    uint32_t *here = r->bounds + (size_t)t * sessions, *before = here - sessions;
    bound(r, here, r->time[first[longest] + place]);
    /* Where times do not ascend, which is found later, searching finds anything. */
    for (uint32_t s = 0; s < sessions; s++) here[s] = here[s] < before[s] ? before[s] : here[s];
  }
}

/* Whether the beginning looks right, which is soon known: a wrong order shows at once. */
static bool looks_right(replay *r) {
  enum { MANY = 4096 };
  const isoproof_history *h = r->h;
  stretch s;
  if (h->txns < 4 * MANY) return true;
  uint32_t each = MANY / h->sessions;
  if (each >= h->session_first_txn[1]) return true;
  bound(r, r->bounds, r->time[each]);
  if (begin_stretch(r, &s, h->session_first_txn, r->bounds, ISO_VALUE_NIL)) run_stretch(r, &s);
  free(s.cells);
  return !s.wrong && !s.failed;
}

/* Compares what the stretches assumed with what was left by those before. */
static void compare(const replay *r, unsigned threads, bool *right, bool *ascends) {
  cell *before = r->stretches[0].cells;
  for (unsigned t = 0; t < threads; t++) {
    *right = *right && !r->stretches[t].wrong;
    *ascends = *ascends && !r->stretches[t].descends;
  }
  for (unsigned t = 1; *right && t < threads; t++) {
    const cell *here = r->stretches[t].cells;
    bool wrong = false, descends = false;
    for (uint32_t key = 0; key < r->h->keys; key++) {
      uint32_t held = before[key].holds, first = here[key].first, value = first & ~WRITTEN;
      bool any = first != UNKNOWN, written = (first & WRITTEN) != 0;
      wrong |= any & !written & (value != held);
      descends |= any & written & (held != ISO_VALUE_NIL) & (value <= held);
      before[key].holds = any ? here[key].holds : held;
    }
    *right = !wrong;
    *ascends = *ascends && !descends;
  }
}

/* Tries one order; false when memory is out. */
static bool try_times(replay *r, unsigned threads, bool *right, bool *ascends) {
  bool failed = false;
  *right = *ascends = looks_right(r);
  if (!*right) return true;
  share_out(r, threads);
  iso_parallel(threads, one_stretch, r);
  for (unsigned t = 0; t < threads; t++) failed |= r->stretches[t].failed;
  if (failed) *right = false;
  if (*right) compare(r, threads, right, ascends);
  for (unsigned t = 0; t < threads; t++) free(r->stretches[t].cells);
  return !failed;
}

/* Whether everybody who counts is put at a time at which it was open, by what real time is taken to be elsewhere. */
static bool respects_real_time(const replay *r) {
  const isoproof_history *h = r->h;
  bool starts = h->txn_start_opt != NULL || h->txn_start_index_opt != NULL;
  bool respects = starts && (h->txn_end_opt != NULL || h->txn_end_index_opt != NULL);
  for (uint32_t txn = 0; respects && txn < h->txns; txn++) {
    if (h->txn_status[txn] != ISOPROOF_TXN_COMMITTED) continue;
    respects = iso_real_start(h, txn) <= r->time[txn] && r->time[txn] <= iso_real_end(h, txn);
  }
  return respects;
}

bool iso_quick_replay(const isoproof_history *history, unsigned threads, uint64_t window, isoproof_task *task,
                      iso_quick_serial *serial) {
  const isoproof_history *h = history;
  bool made = true;
  const int64_t *times[ISO_QUICK_TIMES];
  iso_quick_find_times(h, times);
  *serial = (iso_quick_serial){.is_serial = false};
  replay r = {.h = h, .window = window, .task = task};
  r.bounds = iso_alloc(((size_t)threads + 1) * h->sessions, sizeof *r.bounds);
  r.stretches = iso_alloc(threads, sizeof *r.stretches);
  made = r.bounds != NULL && r.stretches != NULL;
  for (int i = 0; made && i < ISO_QUICK_TIMES && !serial->is_serial; i++) {
    r.time = times[i];
    if (r.time != NULL) made = try_times(&r, threads, &serial->is_serial, &serial->is_unique);
    if (serial->is_serial) serial->is_strict = respects_real_time(&r);
  }
  free(r.bounds);
  free(r.stretches);
  return made;
}
