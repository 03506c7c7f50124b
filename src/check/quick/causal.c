/* A commit order that the causal axiom allows: an order that respects what is known already, repaired by what is forced
 * against it until nothing is.
 *
 * A writer t2 of a key that t3 reads from t1 stands in the way when it is between t1 and t3 in the order, and causally
 * before t3.  The versions of a key are written down in the order at hand, one after the other, so that looking for
 * those between is going back along neighbours in the memory (compare check/causal, which also finds what is wrong). */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/quick/clocks.h"
#include "check/quick/repair.h"

/* More of any of these, and the order is too far off. */
enum { MOST_ROUNDS = 100, MOST_FOUND = 1 << 24, MOST_STEPS = 1 << 28 };

typedef struct {
  iso_quick_edges found;
  uint64_t steps;
} walker;

typedef struct {
  iso_quick *q;
  iso_quick_clocks clocks;
  iso_quick_order order;
  uint32_t *log_first; /* by key: where its versions begin */
  uint32_t *log_count; /* by key: how many there are (so far) */
  uint32_t *log;       /* packed writers in the order at hand */
  uint32_t *log_place; /* after a repair, by place in the log: the place in the order */
  uint64_t *passed;    /* bits by a hash of writer and key: the last repair put it before another writer of the key */
  unsigned passed_shift;
  size_t passed_words;
  walker *walkers;   /* by thread */
  uint32_t next_key; /* atomic */
} search;

static void search_free(search *s) {
  iso_quick_clocks_free(&s->clocks);
  iso_quick_order_free(&s->order);
  free(s->log_first);
  free(s->log_count);
  free(s->log);
  free(s->log_place);
  free(s->passed);
  for (unsigned t = 0; s->walkers != NULL && t < s->q->threads; t++) iso_vec_free(&s->walkers[t].found);
  free(s->walkers);
}

/* Room for the versions of every key. */
static bool make_log(search *s) {
  const isoproof_history *h = s->q->h;
  s->log_first = iso_alloc_zero((size_t)h->keys + 1, sizeof *s->log_first);
  s->log_count = iso_alloc_zero(h->keys, sizeof *s->log_count);
  if (s->log_first == NULL || s->log_count == NULL) return false;
  if (s->q->is_shared) {
    for (uint32_t op = 0; op < h->ops; op++) s->log_first[h->op_key[op] + 1] += h->op_kind[op] == ISOPROOF_OP_WRITE;
    for (uint32_t key = 0; key < h->keys; key++) s->log_first[key + 1] += s->log_first[key];
  } else {
    /* There is a value for each version. */
    for (uint32_t key = 0; key < h->keys; key++) s->log_first[key] = s->q->first[key];
    s->log_first[h->keys] = (uint32_t)s->q->size;
  }
  s->log = s->q->table; /* which nobody needs any more, and is large enough */
  s->q->table = NULL;
  enum { FEWEST = 10, MOST = 22 }; /* the most stay in the cache */
  unsigned bits = FEWEST;
  while (bits < MOST && (UINT64_C(1) << bits) < 4 * (uint64_t)h->txns) bits++;
  s->passed_shift = 32 - bits;
  s->passed_words = ((size_t)1 << bits) / 64;
  s->passed = iso_alloc(s->passed_words, sizeof *s->passed);
  return s->passed != NULL;
}

/* Goes back from the first `count` versions of a key to the one that a read saw. */
static inline void go_back(search *s, walker *me, uint32_t key, uint32_t count, uint32_t seen, const void *clock) {
  const uint32_t *log = s->log + s->log_first[key];
  for (; count > 0 && log[count - 1] != seen; count--) {
    me->steps++;
    if (!iso_quick_is_before(&s->clocks, log[count - 1], clock)) continue;
    if (seen == ISO_QUICK_INITIAL) { /* nothing comes before the initial version */
      iso_quick_give_up(s->q);
      return;
    }
    iso_quick_edge edge = {iso_quick_unpack(s->q, log[count - 1]), iso_quick_unpack(s->q, seen)};
    if (!iso_vec_push(&me->found, edge)) iso_quick_fail(s->q);
  }
}

/* Whether a key belongs to a thread. */
static inline bool is_mine(uint32_t key, unsigned thread, unsigned threads) {
  return (uint64_t)(key * UINT32_C(2654435769)) * threads >> 32 == thread;
}

/* Announces what transactions further on did: first what it is, then the last versions of its keys. */
static void announce(const search *s, uint32_t place, unsigned thread, unsigned threads) {
  enum { NEAR = 4, FAR = 10, OPS = 16 };
  const iso_quick *q = s->q;
  if (place + FAR >= q->h->txns) return;
  uint32_t txn = s->order.sequence[place + NEAR];
  for (uint32_t op = q->h->txn_first_op[txn]; op < q->h->txn_first_op[txn + 1]; op++) {
    uint32_t key = q->h->op_key[op], count = s->log_count[key];
    if (!is_mine(key, thread, threads)) continue;
    __builtin_prefetch(&s->log[s->log_first[key] + count - (count > 0)]);
  }
  txn = s->order.sequence[place + FAR];
  uint32_t op = q->h->txn_first_op[txn];
  __builtin_prefetch(&q->versions[op]);
  __builtin_prefetch(&q->versions[op + OPS < q->h->ops ? op + OPS : op]);
  __builtin_prefetch(&q->h->op_key[op]);
  __builtin_prefetch(&q->h->op_key[op + OPS < q->h->ops ? op + OPS : op]);
  __builtin_prefetch(s->clocks.rows + txn * s->clocks.row);
}

/* First round: carries the order out, each thread for a share of the keys. */
static void carry_out(void *context, unsigned thread, unsigned threads) {
  search *s = context;
  const iso_quick *q = s->q;
  walker *me = &s->walkers[thread];
  uint32_t reads[ISO_QUICK_MOST_OPS + 1], writes[ISO_QUICK_MOST_OPS + 1];
  for (uint32_t place = 0; place < q->h->txns && me->steps < MOST_STEPS && me->found.count < MOST_FOUND; place++) {
    if ((place & 0xffff) == 0 && (iso_quick_is_over(q) || iso_task_check(q->task, NULL) != ISOPROOF_OK)) return;
    announce(s, place, thread, threads);
    uint32_t txn = s->order.sequence[place], packed = iso_quick_pack(q, txn), read_count = 0, write_count = 0;
    const void *clock = s->clocks.rows + txn * s->clocks.row;
    for (uint32_t op = q->h->txn_first_op[txn]; op < q->h->txn_first_op[txn + 1]; op++) {
      bool mine = is_mine(q->h->op_key[op], thread, threads);
      reads[read_count] = op;
      writes[write_count] = op;
      read_count += mine & (q->versions[op] < ISO_QUICK_OTHER);
      write_count += mine & (q->versions[op] == ISO_QUICK_WRITE);
    }
    for (uint32_t i = 0; i < read_count; i++) {
      uint32_t key = q->h->op_key[reads[i]];
      go_back(s, me, key, s->log_count[key], q->versions[reads[i]], clock);
    }
    for (uint32_t i = 0; i < write_count; i++) {
      uint32_t key = q->h->op_key[writes[i]];
      s->log[s->log_first[key] + s->log_count[key]++] = packed;
    }
  }
}

static inline uint32_t passed_bit(const search *s, uint32_t packed, uint32_t key) {
  return (packed ^ key * UINT32_C(0x85ebca6b)) * UINT32_C(2654435769) >> s->passed_shift;
}

/* Puts the versions of a key into the new order, which is nearly the old one. */
static void sort_key(search *s, uint32_t key) {
  uint32_t *log = s->log + s->log_first[key], *place = s->log_place + s->log_first[key], last = 0;
  for (uint32_t i = 0; i < s->log_count[key]; i++) {
    uint32_t packed = log[i], here = s->order.place[iso_quick_unpack(s->q, packed)], k = i;
    if (here >= last) {
      place[i] = last = here;
      continue;
    }
    for (; k > 0 && place[k - 1] > here; k--) log[k] = log[k - 1], place[k] = place[k - 1];
    log[k] = packed;
    place[k] = here;
    uint32_t bit = passed_bit(s, packed, key);
    __atomic_fetch_or(&s->passed[bit / 64], UINT64_C(1) << (bit % 64), __ATOMIC_RELAXED);
  }
}

/* After a repair: the same for all keys. */
static void sort_versions(void *context, unsigned thread, unsigned threads) {
  (void)thread;
  (void)threads;
  enum { KEYS_AT_ONCE = 16 };
  search *s = context;
  for (;;) {
    uint32_t key = __atomic_fetch_add(&s->next_key, KEYS_AT_ONCE, __ATOMIC_RELAXED);
    if (key >= s->q->h->keys) return;
    uint32_t end = s->q->h->keys - key < KEYS_AT_ONCE ? s->q->h->keys : key + KEYS_AT_ONCE;
    for (; key < end; key++) sort_key(s, key);
  }
}

/* Most keys are written at an even pace, so that a place in their versions is near where that pace would have it. */
static inline uint32_t guess_before(const search *s, uint32_t key, uint32_t place) {
  return (uint32_t)((uint64_t)s->log_count[key] * place / s->q->h->txns);
}

/* How many versions of a key are before a place. */
static uint32_t count_before(const search *s, uint32_t key, uint32_t place) {
  const uint32_t *places = s->log_place + s->log_first[key];
  uint32_t count = s->log_count[key], low = guess_before(s, key, place), high = low;
  for (uint32_t step = 8; low > 0 && places[low - 1] >= place; step *= 2) low = low > step ? low - step : 0;
  for (uint32_t step = 8; high < count && places[high] < place; step *= 2) {
    high = count - high > step ? high + step : count;
  }
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (places[middle] < place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Reads to look at again, when what that takes has come from the memory. */
typedef struct {
  uint32_t count;
  struct {
    uint32_t txn, op;
  } reads[ISO_QUICK_BLOCK];
} again;

static void look_at(search *s, walker *me, again *a) {
  const iso_quick *q = s->q;
  for (uint32_t i = 0; i < a->count; i++) {
    uint32_t txn = a->reads[i].txn, key = q->h->op_key[a->reads[i].op];
    uint32_t before = count_before(s, key, s->order.place[txn]);
    go_back(s, me, key, before, q->versions[a->reads[i].op], s->clocks.rows + txn * s->clocks.row);
  }
  a->count = 0;
}

static inline void put_down(const search *s, again *a, uint32_t txn, uint32_t op) {
  uint32_t key = s->q->h->op_key[op], at = s->log_first[key] + guess_before(s, key, s->order.place[txn]);
  __builtin_prefetch(&s->log_place[at]);
  __builtin_prefetch(&s->log[at]);
  for (size_t line = 0; line < s->clocks.row; line += 64) {
    __builtin_prefetch(s->clocks.rows + txn * s->clocks.row + line);
  }
  a->reads[a->count].txn = txn;
  a->reads[a->count++].op = op;
}

/* Those reads among [op, end) whose versions came before another one. */
static uint32_t pick(const search *s, uint32_t op, uint32_t end, uint32_t *picked) {
  uint32_t count = 0;
  for (; op < end; op++) {
    uint32_t seen = s->q->versions[op], bit = passed_bit(s, seen, s->q->h->op_key[op]);
    picked[count] = op;
    count += (seen < ISO_QUICK_INITIAL) & ((s->passed[bit / 64] >> (bit % 64) & 1) != 0);
  }
  return count;
}

/* Later rounds.  Only a version that came before another one can have anybody new between itself and a reader that is
 * causally after him: who came from behind the reader is not, and the order of the others did not change. */
static void look_again(void *context, unsigned thread, unsigned threads) {
  search *s = context;
  const iso_quick *q = s->q;
  walker *me = &s->walkers[thread];
  uint64_t first, end;
  uint32_t picked[ISO_QUICK_MOST_OPS + 1];
  again a = {.count = 0};
  iso_parallel_range(q->h->txns, thread, threads, &first, &end);
  for (uint64_t txn = first; txn < end && me->steps < MOST_STEPS && me->found.count < MOST_FOUND; txn++) {
    uint32_t count = pick(s, q->h->txn_first_op[txn], q->h->txn_first_op[txn + 1], picked);
    for (uint32_t i = 0; i < count; i++) put_down(s, &a, (uint32_t)txn, picked[i]);
    if (a.count > ISO_QUICK_BLOCK - ISO_QUICK_MOST_OPS) look_at(s, me, &a);
  }
  look_at(s, me, &a);
}

/* Takes over what the threads found; *many is how much that is. */
static bool collect(search *s, size_t *many) {
  size_t before = s->order.forced.count;
  for (unsigned t = 0; t < s->q->threads; t++) {
    walker *each = &s->walkers[t];
    if (each->steps >= MOST_STEPS || each->found.count >= MOST_FOUND) iso_quick_give_up(s->q);
    if (!iso_vec_reserve(&s->order.forced, each->found.count)) return false;
    for (size_t i = 0; i < each->found.count; i++) {
      s->order.forced.items[s->order.forced.count++] = each->found.items[i];
    }
    each->found.count = 0;
  }
  *many = s->order.forced.count - before;
  return !s->q->failed;
}

static bool run(search *s, bool *proved) {
  iso_quick *q = s->q;
  size_t many;
  if (!iso_quick_clocks_make(q, &s->clocks) || !iso_quick_order_make(q, &s->order) || !make_log(s)) return false;
  iso_parallel(q->threads, carry_out, s);
  for (unsigned round = 0; round < MOST_ROUNDS; round++) {
    bool cyclic;
    if (!collect(s, &many)) return false;
    if (q->given_up || iso_task_check(q->task, NULL) != ISOPROOF_OK) return true;
    *proved = many == 0;
    if (*proved) return true;
    if (!iso_quick_order_repair(&s->order, s->order.forced.count - many, &cyclic)) return false;
    if (cyclic) return true;
    if (s->log_place == NULL) s->log_place = iso_alloc(s->log_first[q->h->keys], sizeof *s->log_place);
    if (s->log_place == NULL) return false;
    s->next_key = 0;
    memset(s->passed, 0, s->passed_words * sizeof *s->passed);
    iso_parallel(q->threads, sort_versions, s);
    iso_parallel(q->threads, look_again, s);
  }
  return true;
}

bool iso_quick_causal(iso_quick *q, bool *proved) {
  search s = {.q = q};
  s.walkers = iso_alloc_zero(q->threads, sizeof *s.walkers);
  bool made = s.walkers != NULL && run(&s, proved);
  search_free(&s);
  return made;
}
