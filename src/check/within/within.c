/* One parallel scan over transactions for what shows within one of them. */
#include "check/within/within.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "check/within/scan.h"
#include "history/effect.h"
#include "history/resolve.h"

void iso_scan_free(iso_scan *scan) {
  free(scan->states);
  free(scan->slots);
  iso_vec_free(&scan->here);
  iso_vec_free(&scan->there);
  iso_vec_free(&scan->own);
  iso_findings_free(&scan->findings);
}

bool iso_scan_begin(iso_scan *scan, uint32_t ops) {
  size_t slots = 8;
  while (slots < 2 * (size_t)ops) slots *= 2;
  if (slots > scan->capacity) {
    free(scan->states);
    free(scan->slots);
    scan->states = iso_alloc(slots / 2, sizeof *scan->states);
    scan->slots = iso_alloc(slots, sizeof *scan->slots);
    scan->capacity = slots;
    if (scan->states == NULL || scan->slots == NULL) {
      scan->capacity = 0;
      return false;
    }
  }
  memset(scan->slots, 0, slots * sizeof *scan->slots);
  scan->slot_mask = slots - 1;
  scan->state_count = 0;
  return true;
}

iso_key_state *iso_scan_key(iso_scan *scan, uint32_t key) {
  size_t at = (key * UINT32_C(2654435769) >> 7) & scan->slot_mask;
  while (scan->slots[at] != 0) {
    iso_key_state *state = &scan->states[scan->slots[at] - 1];
    if (state->key == key) return state;
    at = (at + 1) & scan->slot_mask;
  }
  iso_key_state *state = &scan->states[scan->state_count];
  scan->slots[at] = (uint32_t)++scan->state_count;
  *state = (iso_key_state){.key = key, .own_write = ISO_NO_OP, .first_read = ISO_NO_OP};
  return state;
}

uint32_t iso_scan_next_write(const iso_scan_shared *shared, uint32_t op) {
  const isoproof_history *h = shared->h;
  uint32_t end = h->txn_first_op[iso_op_txn(&shared->op_index, op) + 1];
  for (uint32_t next = op + 1; next < end; next++) {
    if (h->op_key[next] == h->op_key[op] && !isoproof_op_kind_observes((isoproof_op_kind)h->op_kind[next])) return next;
  }
  return ISO_NO_OP;
}

/* Bits of one word may belong to two threads. */
static void set_bit(uint64_t *bits, uint32_t op) {
  __atomic_fetch_or(&bits[op / 64], UINT64_C(1) << (op % 64), __ATOMIC_RELAXED);
}

/* First pass: marks the writes that their own transaction overwrote, and those of one that was rolled back. */
static bool mark_txn(iso_scan *scan, uint32_t txn) {
  const iso_scan_shared *shared = scan->shared;
  const isoproof_history *h = shared->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  bool aborted = h->txn_status[txn] == ISOPROOF_TXN_ABORTED;
  for (uint32_t op = first; aborted && op < end; op++) set_bit(shared->suspect, op);
  if (shared->plain != NULL && (shared->plain[txn] = iso_scan_is_plain(scan, txn))) return true;
  if (!iso_scan_begin(scan, end - first)) return false;
  for (uint32_t op = first; op < end; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE && h->op_kind[op] != ISOPROOF_OP_APPEND) continue;
    iso_key_state *state = iso_scan_key(scan, h->op_key[op]);
    if (state->own_write != ISO_NO_OP) {
      set_bit(shared->overwritten, state->own_write);
      set_bit(shared->suspect, state->own_write);
    }
    state->own_write = op;
  }
  return true;
}

/* Announces to the memory where the write that a read further on observed will be looked up: it can be anywhere. */
static inline void announce(const iso_scan_shared *shared, uint64_t op) {
  enum { NEAR = 16, FAR = 40 };
  if (op + FAR >= shared->h->ops) return;
  uint32_t far = shared->resolution->writer[op + FAR], near = shared->resolution->writer[op + NEAR];
  if (near < shared->h->ops) iso_op_txn_prefetch(&shared->op_index, near);
  if (far >= shared->h->ops) return;
  iso_op_txn_announce(&shared->op_index, far);
  __builtin_prefetch(&shared->overwritten[far / 64]);
}

/* Second pass: judges the reads of a transaction. */
static bool judge_txn(iso_scan *scan, uint32_t txn) {
  const isoproof_history *h = scan->shared->h;
  uint32_t first = h->txn_first_op[txn], end = h->txn_first_op[txn + 1];
  if (!scan->shared->counts[txn]) return true;
  if (scan->shared->plain != NULL && scan->shared->plain[txn] && iso_scan_is_sound(scan, txn)) return true;
  if (!iso_scan_begin(scan, end - first)) return false;
  for (uint32_t op = first; scan->shared->sound != NULL && op < end; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_APPEND) iso_scan_key(scan, h->op_key[op])->appends++;
  }
  for (uint32_t op = first; op < end; op++) {
    isoproof_op_kind kind = (isoproof_op_kind)h->op_kind[op];
    announce(scan->shared, op);
    if (!isoproof_op_kind_observes(kind)) {
      iso_scan_write(scan, op);
      continue;
    }
    if (h->op_value[op] == ISO_VALUE_NONE) continue;
    if (kind == ISOPROOF_OP_READ) iso_scan_register_read(scan, txn, op);
    if (kind == ISOPROOF_OP_READ_LIST) iso_scan_list_read(scan, txn, op);
    if (kind == ISOPROOF_OP_READ_SET) iso_scan_set_read(scan, txn, op);
    if (kind == ISOPROOF_OP_READ_COUNTER) iso_scan_counter_read(scan, op);
  }
  return true;
}

typedef struct {
  iso_scan_shared shared;
  iso_scan *scans;
  isoproof_task *task;
  bool (*pass)(iso_scan *scan, uint32_t txn);
} job;

static void run_pass(void *context, unsigned thread, unsigned threads) {
  job *j = context;
  uint64_t first, end;
  iso_parallel_range(j->shared.h->txns, thread, threads, &first, &end);
  for (uint64_t txn = first; txn < end; txn++) {
    if ((txn & 4095) == 0) {
      if (iso_task_check(j->task, NULL) != ISOPROOF_OK) return;
      if (thread == 0) iso_task_progress(j->task, "checking", "transactions", txn * threads, j->shared.h->txns);
    }
    if (!j->pass(&j->scans[thread], (uint32_t)txn)) {
      j->scans[thread].findings.failed = true;
      return;
    }
  }
}

/* Where the stored list of each key stops to be sound. */
static void find_sound(void *context, unsigned thread, unsigned threads) {
  const job *j = context;
  const isoproof_history *h = j->shared.h;
  uint64_t first, end;
  iso_parallel_range(h->keys, thread, threads, &first, &end);
  for (uint64_t key = first; key < end; key++) {
    const uint32_t *writers = j->shared.resolution->list_writer + h->list_first[key];
    uint32_t count = (uint32_t)(h->list_first[key + 1] - h->list_first[key]), i = 0;
    while (i < count && writers[i] < h->ops &&
           h->txn_status[iso_op_txn(&j->shared.op_index, writers[i])] != ISOPROOF_TXN_ABORTED)
      i++;
    j->shared.sound[key] = i;
  }
}

static isoproof_status run_job(job *j, unsigned threads, iso_findings *findings, isoproof_error *error) {
  for (unsigned t = 0; t < threads; t++) {
    j->scans[t].shared = &j->shared;
    j->scans[t].findings.keep_all = findings->keep_all;
  }
  if (j->shared.sound != NULL) iso_parallel(threads, find_sound, j);
  j->pass = mark_txn;
  iso_parallel(threads, run_pass, j);
  j->pass = judge_txn;
  iso_parallel(threads, run_pass, j);
  for (unsigned t = 0; t < threads; t++) iso_findings_append(findings, &j->scans[t].findings);
  ISO_TRY(iso_task_check(j->task, error));
  return findings->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_check_within(isoproof_history *history, isoproof_task *task, iso_findings *findings,
                                 isoproof_error *error) {
  enum { SMALL = 16384 };
  unsigned threads = history->txns < SMALL ? 1 : iso_task_threads(task);
  uint8_t *counts = NULL;
  job j = {.shared = {.h = history}, .task = task};
  ISO_TRY(iso_history_resolve(history, task, &j.shared.resolution, error));
  ISO_TRY(iso_history_op_index(history, &j.shared.op_index, error));
  ISO_TRY(iso_history_effect(history, task, &counts, error));
  j.shared.counts = counts;
  j.shared.overwritten = iso_alloc_zero((size_t)history->ops / 64 + 1, sizeof *j.shared.overwritten);
  j.shared.suspect = iso_alloc_zero((size_t)history->ops / 64 + 1, sizeof *j.shared.suspect);
  j.scans = iso_alloc_zero(threads, sizeof *j.scans);
  bool rows = iso_history_has_rows(history);
  if (!rows) j.shared.plain = iso_alloc(history->txns, sizeof *j.shared.plain);
  bool made = j.shared.overwritten != NULL && j.shared.suspect != NULL && j.scans != NULL;
  made = made && (rows || j.shared.plain != NULL);
  if (history->list_first != NULL && history->list_first[history->keys] > 0) {
    j.shared.sound = iso_alloc(history->keys, sizeof *j.shared.sound);
    made = made && j.shared.sound != NULL;
  }
  isoproof_status status = made ? run_job(&j, threads, findings, error) : iso_fail_memory(error);
  for (unsigned t = 0; j.scans != NULL && t < threads; t++) iso_scan_free(&j.scans[t]);
  free(j.scans);
  free(j.shared.overwritten);
  free(j.shared.suspect);
  free(j.shared.plain);
  free(j.shared.sound);
  free(counts);
  return status;
}
