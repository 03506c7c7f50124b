/* Who wrote what each read saw, found with a table of which only a slice is in memory at a time. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/quick/state.h"

/* Reads on their way to the table: where they look in the slice, and which of all reads they are. */
typedef struct {
  unsigned count;
  uint64_t place[ISO_QUICK_BLOCK + 1];
  uint32_t key[ISO_QUICK_BLOCK + 1], read[ISO_QUICK_BLOCK + 1];
} batch;

/* Collects the reads of operations [op, end) that look into the slice; *read is the number of the first.  Nothing
 * branches on what an operation is. */
static void collect(const iso_quick *q, batch *b, uint32_t op, uint32_t end, uint32_t *read) {
  const isoproof_history *h = q->h;
  unsigned count = 0;
  uint32_t number = *read;
  for (; op < end; op++) {
    uint32_t key = h->op_key[op];
    bool is_read = h->op_kind[op] == ISOPROOF_OP_READ;
    uint64_t place = iso_quick_place_or_none(q, key, h->op_value[op]) - q->slice_first;
    b->place[count] = place;
    b->key[count] = key;
    b->read[count] = number;
    number += is_read;
    count += is_read & (place < q->slice_size);
  }
  for (unsigned i = 0; i < count; i++) __builtin_prefetch(&q->table[q->is_shared ? 2 * b->place[i] : b->place[i]]);
  b->count = count;
  *read = number;
}

static void look_up(const iso_quick *q, const batch *b) {
  for (unsigned i = 0; i < b->count; i++) {
    uint64_t place = b->place[i];
    uint32_t entry = q->table[q->is_shared ? 2 * place : place];
    if (q->is_shared && q->table[2 * place + 1] != b->key[i]) entry = 0;
    q->entries[b->read[i]] = entry;
  }
}

static void look_up_share(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  iso_quick *q = context;
  const isoproof_history *h = q->h;
  const iso_quick_share *share = &q->shares[thread];
  iso_quick_walk walk = iso_quick_walk_begin(q, share);
  iso_quick_pages pages = iso_quick_pages_of(h, q->window);
  uint32_t *next = iso_alloc(h->sessions, sizeof *next), session, txn, end;
  batch batches[2] = {{.count = 0}, {.count = 0}};
  unsigned number = 0;
  if (next == NULL) {
    iso_quick_fail(q);
    return;
  }
  memcpy(next, q->first_read, h->sessions * sizeof *next);
  while (iso_quick_walk_next(&walk, &session, &txn, &end)) {
    uint32_t op = h->txn_first_op[txn], last = h->txn_first_op[end];
    iso_quick_touch(&pages, last - op, end - txn);
    while (op < last) {
      uint32_t some = last - op > ISO_QUICK_BLOCK ? ISO_QUICK_BLOCK : last - op;
      collect(q, &batches[number++ % 2], op, op + some, &next[session]);
      look_up(q, &batches[number % 2]); /* those before */
      op += some;
    }
  }
  look_up(q, &batches[(number + 1) % 2]);
  free(next);
}

/* Where the reads of each session begin among all. */
static bool count_reads(iso_quick *q) {
  const isoproof_history *h = q->h;
  iso_quick_pages pages = iso_quick_pages_of(h, q->window);
  uint32_t reads = 0;
  q->first_read = iso_alloc((size_t)h->sessions + 1, sizeof *q->first_read);
  for (uint32_t s = 0; q->first_read != NULL && s < h->sessions; s++) {
    uint32_t op = h->txn_first_op[h->session_first_txn[s]], end = h->txn_first_op[h->session_first_txn[s + 1]];
    iso_quick_touch(&pages, end - op, 0);
    q->first_read[s] = reads;
    for (; op < end; op++) reads += h->op_kind[op] == ISOPROOF_OP_READ;
  }
  if (q->first_read == NULL) return false;
  q->first_read[h->sessions] = reads;
  q->entries = iso_alloc_zero(reads, sizeof *q->entries);
  return q->entries != NULL;
}

bool iso_quick_enter_slices(iso_quick *q) {
  if (!count_reads(q) || !iso_quick_make_table(q, q->size / q->slices + 1)) return false;
  for (uint64_t first = 0; first < q->size && iso_task_check(q->task, NULL) == ISOPROOF_OK; first += q->slice_size) {
    iso_quick_enter_slice(q, first);
    iso_parallel(q->threads, look_up_share, q);
  }
  if (!iso_quick_all_entered(q)) iso_quick_give_up(q);
  free(q->table);
  q->table = NULL;
  return !q->failed;
}
