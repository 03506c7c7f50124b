/* The table of writes by key and value, made by several threads without locks. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/quick/state.h"

enum { STAMP_BITS = 13 };

/* First pass: how far the values go.  Reads and writes alternate at random, so that nothing may branch on them. */
static void measure(void *context, unsigned thread, unsigned threads) {
  iso_quick *q = context;
  const isoproof_history *h = q->h;
  iso_quick_share *share = &q->shares[thread];
  uint32_t *end_of = share->end;
  uint64_t first, end, writes = 0;
  bool unfit = false;
  iso_quick_pages pages = iso_quick_pages_of(h, q->window);
  iso_parallel_range(h->ops, thread, threads, &first, &end);
  for (uint64_t op = first; op < end; op++) {
    if (op % ISO_QUICK_PAGES_OPS == 0) iso_quick_touch(&pages, ISO_QUICK_PAGES_OPS, 0);
    iso_value value = h->op_value[op];
    bool read = h->op_kind[op] == ISOPROOF_OP_READ, write = h->op_kind[op] == ISOPROOF_OP_WRITE;
    unfit |= ((read | write) == 0) | (value > ISO_VALUE_NIL) |
             (write & ((value == ISO_VALUE_NIL) | ((value == 0) & h->initial_is_zero)));
    /* Once a few sessions have been seen, hardly any value goes further. */
    uint32_t *most = &end_of[h->op_key[op]], past = write ? value + 1 : 0;
    if (__builtin_expect(past > *most, 0)) *most = past;
    writes += write;
  }
  share->writes = writes;
  if (unfit) iso_quick_give_up(q);
}

/* Decides how the table is laid out; gives up where it would be too large. */
static void lay_out(iso_quick *q) {
  uint64_t writes = 0, longest = 0, size = 0;
  for (unsigned t = 0; t < q->threads; t++) writes += q->shares[t].writes;
  uint64_t most = 2 * writes + 1024;
  for (uint32_t key = 0; key < q->h->keys; key++) {
    uint32_t end = 0;
    for (unsigned t = 0; t < q->threads; t++) end = q->shares[t].end[key] > end ? q->shares[t].end[key] : end;
    q->first[key] = (uint32_t)size;
    size += end;
    if (end > longest) longest = end;
  }
  q->is_shared = size > most || size > UINT32_MAX;
  if (q->is_shared) size = longest;
  q->first[q->h->keys] = (uint32_t)size;
  if (q->is_shared) memset(q->first, 0, ((size_t)q->h->keys + 1) * sizeof *q->first);
  q->size = size + 1;
  if (size > most) iso_quick_give_up(q);
}

/* The writes of some transactions, on their way to the table. */
typedef struct {
  unsigned count;
  uint64_t place[ISO_QUICK_BLOCK]; /* in the slice; what is in another one is not below its size */
  uint32_t entry[ISO_QUICK_BLOCK], key[ISO_QUICK_BLOCK];
} batch;

static void put(iso_quick *q, const batch *b) {
  for (unsigned i = 0; i < b->count; i++) {
    if (b->place[i] >= q->slice_size) continue;
    if (q->is_shared) {
      __atomic_store_n(&q->table[2 * b->place[i]], b->entry[i], __ATOMIC_RELAXED);
      __atomic_store_n(&q->table[2 * b->place[i] + 1], b->key[i], __ATOMIC_RELAXED);
    } else {
      __atomic_store_n(&q->table[b->place[i]], b->entry[i], __ATOMIC_RELAXED);
    }
  }
}

/* Marks those of a transaction that it overwrote. */
static void mark_overwritten(batch *b, unsigned first) {
  for (unsigned i = first; i < b->count; i++) {
    for (unsigned k = i + 1; k < b->count; k++) {
      if (b->key[k] == b->key[i]) b->entry[i] |= ISO_QUICK_SUSPECT;
    }
  }
}

/* Adds the writes of a transaction; its other facts are put down on the way. */
static void take_txn(iso_quick *q, uint16_t *stamps, uint32_t txn, batch *b) {
  const isoproof_history *h = q->h;
  uint32_t entry = (txn + 1) | (h->txn_status[txn] == ISOPROOF_TXN_COMMITTED ? 0 : ISO_QUICK_SUSPECT);
  uint32_t op = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  uint64_t keys = 0;
  unsigned count = b->count;
  bool repeats = false;
  for (; op < end; op++) {
    uint32_t key = h->op_key[op];
    bool write = h->op_kind[op] == ISOPROOF_OP_WRITE;
    uint16_t *stamp = &stamps[key * UINT32_C(2654435769) >> (32 - STAMP_BITS)];
    repeats |= *stamp == (uint16_t)(txn + 1);
    *stamp = (uint16_t)(txn + 1);
    keys |= write ? iso_quick_key_mask(key) : 0;
    b->place[count] = iso_quick_place(q, key, h->op_value[op]) - q->slice_first;
    b->entry[count] = entry;
    b->key[count] = key;
    count += write;
  }
  for (unsigned i = b->count; i < count; i++) {
    uint64_t place = b->place[i] < q->slice_size ? b->place[i] : 0;
    __builtin_prefetch(&q->table[q->is_shared ? 2 * place : place], 1);
  }
  unsigned first = b->count;
  b->count = count;
  q->keys[txn + 1] = keys;
  q->repeats[txn] = repeats;
  if (repeats) mark_overwritten(b, first);
}

/* Second pass: the writes. */
static void enter(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  iso_quick *q = context;
  const iso_quick_share *share = &q->shares[thread];
  iso_quick_walk walk = iso_quick_walk_begin(q, share);
  uint32_t session, txn, end;
  iso_quick_pages pages = iso_quick_pages_of(q->h, q->window);
  batch b = {.count = 0};
  while (iso_quick_walk_next(&walk, &session, &txn, &end)) {
    iso_quick_touch(&pages, q->h->txn_first_op[end] - q->h->txn_first_op[txn], end - txn);
    for (; txn < end; txn++) {
      take_txn(q, share->stamps, txn, &b);
      if (b.count <= ISO_QUICK_BLOCK - ISO_QUICK_MOST_OPS - 1) continue;
      put(q, &b);
      b.count = 0;
    }
  }
  put(q, &b);
}

/* Two writes of one place would leave one entry. */
static void count_entries(void *context, unsigned thread, unsigned threads) {
  iso_quick *q = context;
  uint64_t first, end, count = 0;
  iso_parallel_range(q->slice_size, thread, threads, &first, &end);
  for (uint64_t i = first; i < end; i++) count += q->table[q->is_shared ? 2 * i : i] != 0;
  q->shares[thread].writes -= count; /* all of them together come to nothing */
}

/* Whether a thread's writes, and those of all threads together, have a place each: a bit for every place. */
static void mark_places(void *context, unsigned thread, unsigned threads) {
  iso_quick *q = context;
  const isoproof_history *h = q->h;
  uint64_t *marks = q->shares[thread].marks, first, end, twice = 0;
  iso_quick_pages pages = iso_quick_pages_of(h, q->window);
  iso_parallel_range(h->ops, thread, threads, &first, &end);
  for (uint64_t op = first; op < end; op++) {
    if (op % ISO_QUICK_PAGES_OPS == 0) iso_quick_touch(&pages, ISO_QUICK_PAGES_OPS, 0);
    bool write = h->op_kind[op] == ISOPROOF_OP_WRITE;
    uint64_t place = write ? iso_quick_place(q, h->op_key[op], h->op_value[op]) : q->size - 1;
    uint64_t *word = &marks[place / 64], bit = (uint64_t)write << (place % 64);
    twice |= *word & bit;
    *word |= bit;
  }
  if (twice != 0) iso_quick_give_up(q);
}

bool iso_quick_find_repeated(iso_quick *q) {
  size_t words = (size_t)(q->size / 64) + 1;
  for (unsigned t = 0; t < q->threads; t++) {
    q->shares[t].marks = iso_alloc_zero(words, sizeof *q->shares[t].marks);
    if (q->shares[t].marks == NULL) return false;
  }
  iso_parallel(q->threads, mark_places, q);
  uint64_t twice = 0;
  for (unsigned t = 1; t < q->threads; t++) {
    for (size_t i = 0; i < words; i++) {
      twice |= q->shares[0].marks[i] & q->shares[t].marks[i];
      q->shares[0].marks[i] |= q->shares[t].marks[i];
    }
  }
  if (twice != 0) iso_quick_give_up(q);
  return true;
}

bool iso_quick_measure(iso_quick *q) {
  uint32_t keys = q->h->keys;
  q->first = iso_alloc((size_t)keys + 1, sizeof *q->first);
  bool made = q->first != NULL;
  for (unsigned t = 0; t < q->threads; t++) {
    q->shares[t].end = iso_alloc_zero(keys, sizeof *q->shares[t].end);
    made = made && q->shares[t].end != NULL;
  }
  if (!made) return false;
  iso_parallel(q->threads, measure, q);
  if (!q->given_up) lay_out(q);
  for (unsigned t = 0; t < q->threads; t++) {
    free(q->shares[t].end);
    q->shares[t].end = NULL;
  }
  return true;
}

bool iso_quick_make_table(iso_quick *q, uint64_t places) {
  bool made = true;
  for (unsigned t = 0; t < q->threads; t++) {
    q->shares[t].stamps = iso_alloc_zero((size_t)1 << STAMP_BITS, sizeof *q->shares[t].stamps);
    made = made && q->shares[t].stamps != NULL;
  }
  q->slice_size = places;
  q->table = iso_alloc_zero(places, (q->is_shared ? 2 : 1) * sizeof *q->table);
  q->keys = iso_alloc((size_t)q->h->txns + 1, sizeof *q->keys);
  q->repeats = iso_alloc(q->h->txns, 1);
  if (!made || q->table == NULL || q->keys == NULL || q->repeats == NULL) return false;
  q->keys[0] = 0;
  return true;
}

void iso_quick_enter_slice(iso_quick *q, uint64_t first) {
  /* It is zero to begin with. */
  if (first > 0) memset(q->table, 0, q->slice_size * (q->is_shared ? 2 : 1) * sizeof *q->table);
  q->slice_first = first;
  iso_parallel(q->threads, enter, q);
  iso_parallel(q->threads, count_entries, q);
}

bool iso_quick_all_entered(const iso_quick *q) {
  uint64_t lost = 0;
  for (unsigned t = 0; t < q->threads; t++) lost += q->shares[t].writes;
  return lost == 0;
}

bool iso_quick_enter_writes(iso_quick *q) {
  if (!iso_quick_make_table(q, q->size)) return false;
  iso_quick_enter_slice(q, 0);
  if (!iso_quick_all_entered(q)) iso_quick_give_up(q);
  return true;
}
