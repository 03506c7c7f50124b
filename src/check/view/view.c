/* External reads and keys written, as compressed sparse rows by transaction and by key. */
#include "check/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "history/effect.h"
#include "history/resolve.h"

void iso_view_free(iso_view *view) {
  free(view->counts);
  free(view->read_first);
  free(view->reads);
  free(view->reader_first);
  free(view->readers);
  free(view->write_first);
  free(view->write_key);
  free(view->write_bits);
  free(view->writer_first);
  free(view->writer);
  free(view->group_first);
  free(view->group_session);
  free(view->group_start);
  memset(view, 0, sizeof *view);
}

typedef struct {
  iso_view *view;
  bool fill;                      /* second pass */
  uint32_t *read_end, *write_end; /* by transaction: where what was put down ends */
} maker;

/* The transaction whose version a read saw, ISO_NO_TXN when that is its own, nobody's, or a rolled back one's. */
static uint32_t version_of(const maker *m, uint32_t txn, uint32_t op) {
  const isoproof_history *h = m->view->h;
  uint32_t seen = ISO_NO_OP;
  if (h->op_kind[op] == ISOPROOF_OP_READ) {
    seen = m->view->resolution->writer[op];
  } else if (h->op_kind[op] == ISOPROOF_OP_READ_LIST && h->op_value[op] != ISO_VALUE_NONE) {
    /* A list shows the version of its last element that the reader did not append itself. */
    uint32_t count;
    iso_value value = h->op_value[op];
    (void)iso_history_list(h, op, &count);
    const uint32_t *writers =
        value < ISO_VALUE_INLINE_LIMIT && count > 0
            ? m->view->resolution->list_writer + h->list_first[h->op_key[op]]
            : m->view->resolution->odd_writer + (count > 0 ? h->odd_first[value & ~ISO_VALUE_INTERNED] : 0);
    while (count > 0 && writers[count - 1] < h->ops && iso_op_txn(&m->view->op_index, writers[count - 1]) == txn)
      count--;
    seen = count > 0 ? writers[count - 1] : ISO_FROM_INITIAL;
    /* An empty rest below own appends says that the list was empty before them. */
  }
  if (seen == ISO_FROM_INITIAL) return ISO_INITIAL;
  if (seen >= h->ops) return ISO_NO_TXN;
  uint32_t from = iso_op_txn(&m->view->op_index, seen);
  return from != txn && m->view->counts[from] ? from : ISO_NO_TXN;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Sorts a few keys in place and drops repetitions; returns how many are left. */
static uint32_t sort_unique(uint32_t *keys, uint32_t count) {
  enum { FEW = 32 };
  if (count > FEW) {
    qsort(keys, count, sizeof *keys, ascending);
  } else {
    for (uint32_t i = 1; i < count; i++) {
      uint32_t key = keys[i], k = i;
      for (; k > 0 && keys[k - 1] > key; k--) keys[k] = keys[k - 1];
      keys[k] = key;
    }
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (kept == 0 || keys[kept - 1] != keys[i]) keys[kept++] = keys[i];
  }
  return kept;
}

/* First pass: how many reads and writes there can be at most. */
static void count_txn(const maker *m, uint32_t txn) {
  iso_view *v = m->view;
  const isoproof_history *h = v->h;
  uint32_t reads = 0, writes = 0;
  for (uint32_t op = h->txn_first_op[txn]; v->counts[txn] && op < h->txn_first_op[txn + 1]; op++) {
    bool is_write = h->op_kind[op] == ISOPROOF_OP_WRITE || h->op_kind[op] == ISOPROOF_OP_APPEND;
    writes += is_write;
    reads += !is_write;
  }
  v->read_first[txn] = reads;
  v->write_first[txn] = writes;
}

/* Announces to the memory where a read further on will look for its writer. */
static inline void announce(const maker *m, uint64_t op) {
  enum { NEAR = 16, FAR = 40 };
  const iso_view *v = m->view;
  if (op + FAR >= v->h->ops) return;
  uint32_t far = v->resolution->writer[op + FAR], near = v->resolution->writer[op + NEAR];
  if (far < v->h->ops) iso_op_txn_announce(&v->op_index, far);
  if (near < v->h->ops) iso_op_txn_prefetch(&v->op_index, near);
}

/* Splits operations [op, end) of a transaction, at most SPLIT_AT_ONCE, into keys written and reads.  Which comes next
 * is anybody's guess, so that nothing may branch on it. */
enum { SPLIT_AT_ONCE = 64 };
static void split(const isoproof_history *h, uint32_t op, uint32_t end, uint32_t *keys, uint32_t *key_count,
                  uint32_t *reads, uint32_t *read_count) {
  uint32_t written = 0, read = 0;
  for (; op < end; op++) {
    bool is_write = (h->op_kind[op] == ISOPROOF_OP_WRITE) | (h->op_kind[op] == ISOPROOF_OP_APPEND);
    keys[written] = h->op_key[op];
    reads[read] = op;
    written += is_write;
    read += !is_write;
  }
  *key_count = written;
  *read_count = read;
}

/* Second pass: puts them down; what is left of the room is closed afterwards. */
static void fill_txn(const maker *m, uint32_t txn) {
  iso_view *v = m->view;
  const isoproof_history *h = v->h;
  uint32_t reads = v->read_first[txn], writes = v->write_first[txn], end = h->txn_first_op[txn + 1];
  uint32_t written[SPLIT_AT_ONCE], read[SPLIT_AT_ONCE], write_count, read_count;
  uint64_t bits = 0;
  for (uint32_t op = h->txn_first_op[txn]; v->counts[txn] && op < end;) {
    uint32_t part = end - op < SPLIT_AT_ONCE ? end : op + SPLIT_AT_ONCE;
    for (uint32_t ahead = op; ahead < part; ahead++) announce(m, ahead);
    split(h, op, part, written, &write_count, read, &read_count);
    for (uint32_t i = 0; i < write_count; i++) {
      v->write_key[writes++] = written[i];
      bits |= iso_view_key_bit(written[i]);
    }
    for (uint32_t i = 0; i < read_count; i++) {
      uint32_t from = version_of(m, txn, read[i]);
      if (from != ISO_NO_TXN) v->reads[reads++] = (iso_external_read){h->op_key[read[i]], from, read[i]};
    }
    op = part;
  }
  v->write_bits[txn] = bits;
  m->read_end[txn] = reads;
  m->write_end[txn] =
      v->write_first[txn] + sort_unique(v->write_key + v->write_first[txn], writes - v->write_first[txn]);
}

static void scan_phase(void *context, unsigned thread, unsigned threads) {
  uint64_t first, end;
  const maker *m = context;
  iso_parallel_range(m->view->h->txns, thread, threads, &first, &end);
  for (uint64_t txn = first; txn < end; txn++) {
    if (m->fill) {
      fill_txn(m, (uint32_t)txn);
    } else {
      count_txn(m, (uint32_t)txn);
    }
  }
}

/* Turns counts into first places, in place. */
static uint32_t sum_up(uint32_t *first, uint32_t rows) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < rows; i++) {
    uint32_t count = first[i];
    first[i] = at;
    at += count;
  }
  first[rows] = at;
  return at;
}

/* Moves rows together where the room for them was too large.  Gaps are rare, so most rows stay where they are. */
static void close_gaps(void *items, size_t size, uint32_t *first, const uint32_t *end, uint32_t rows) {
  char *bytes = items;
  uint32_t at = 0;
  for (uint32_t row = 0; row < rows; row++) {
    uint32_t count = end[row] - first[row];
    if (at != first[row]) memmove(bytes + (size_t)at * size, bytes + (size_t)first[row] * size, count * size);
    first[row] = at;
    at += count;
  }
  first[rows] = at;
}

static isoproof_status make_rows(maker *m, isoproof_task *task, isoproof_error *error) {
  iso_view *v = m->view;
  size_t txns = v->h->txns;
  v->read_first = iso_alloc(txns + 1, sizeof *v->read_first);
  v->write_first = iso_alloc(txns + 1, sizeof *v->write_first);
  v->write_bits = iso_alloc(txns, sizeof *v->write_bits);
  if (v->read_first == NULL || v->write_first == NULL || v->write_bits == NULL) return iso_fail_memory(error);
  iso_parallel(iso_task_threads(task), scan_phase, m);
  v->reads = iso_alloc(sum_up(v->read_first, (uint32_t)txns), sizeof *v->reads);
  v->write_key = iso_alloc(sum_up(v->write_first, (uint32_t)txns), sizeof *v->write_key);
  if (v->reads == NULL || v->write_key == NULL) return iso_fail_memory(error);
  m->fill = true;
  m->read_end = iso_alloc(txns, sizeof *m->read_end);
  m->write_end = iso_alloc(txns, sizeof *m->write_end);
  bool made = m->read_end != NULL && m->write_end != NULL;
  if (made) {
    iso_parallel(iso_task_threads(task), scan_phase, m);
    close_gaps(v->reads, sizeof *v->reads, v->read_first, m->read_end, (uint32_t)txns);
    close_gaps(v->write_key, sizeof *v->write_key, v->write_first, m->write_end, (uint32_t)txns);
  }
  free(m->read_end);
  free(m->write_end);
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}

/* Writers of each key, and where a session's among them begin. */
isoproof_status iso_view_need_writers(iso_view *v, isoproof_error *error) {
  const isoproof_history *h = v->h;
  if (v->group_start != NULL) return ISOPROOF_OK;
  uint32_t total = v->write_first[h->txns], groups = 0;
  v->writer_first = iso_alloc_zero((size_t)h->keys + 1, sizeof *v->writer_first);
  v->writer = iso_alloc(total, sizeof *v->writer);
  v->group_first = iso_alloc((size_t)h->keys + 1, sizeof *v->group_first);
  if (v->writer_first == NULL || v->writer == NULL || v->group_first == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < total; i++) v->writer_first[v->write_key[i]]++;
  sum_up(v->writer_first, h->keys);
  for (uint32_t t = 0; t < h->txns; t++) {
    for (uint32_t i = v->write_first[t]; i < v->write_first[t + 1]; i++)
      v->writer[v->writer_first[v->write_key[i]]++] = t;
  }
  memmove(v->writer_first + 1, v->writer_first, h->keys * sizeof *v->writer_first);
  v->writer_first[0] = 0;
  for (int fill = 0; fill < 2; fill++) {
    uint32_t group = 0;
    for (uint32_t key = 0; key < h->keys; key++) {
      v->group_first[key] = group;
      uint32_t session = ISO_NO_TXN;
      for (uint32_t i = v->writer_first[key]; i < v->writer_first[key + 1]; i++) {
        if (h->txn_session[v->writer[i]] == session) continue;
        session = h->txn_session[v->writer[i]];
        if (fill) v->group_session[group] = session, v->group_start[group] = i;
        group++;
      }
    }
    v->group_first[h->keys] = group;
    if (fill) break;
    groups = group;
    v->group_session = iso_alloc(groups, sizeof *v->group_session);
    v->group_start = iso_alloc((size_t)groups + 1, sizeof *v->group_start);
    if (v->group_session == NULL || v->group_start == NULL) return iso_fail_memory(error);
  }
  v->group_start[groups] = total;
  return ISOPROOF_OK;
}

isoproof_status iso_view_make(isoproof_history *history, isoproof_task *task, iso_view *view, isoproof_error *error) {
  return iso_view_make_with(history, NULL, task, view, error);
}

isoproof_status iso_view_make_with(isoproof_history *history, const uint8_t *also, isoproof_task *task, iso_view *view,
                                   isoproof_error *error) {
  memset(view, 0, sizeof *view);
  view->h = history;
  maker m = {.view = view};
  isoproof_status status = iso_history_resolve(history, task, &view->resolution, error);
  if (status == ISOPROOF_OK) status = iso_history_op_index(history, &view->op_index, error);
  if (status == ISOPROOF_OK) status = iso_history_effect(history, task, &view->counts, error);
  for (uint32_t t = 0; status == ISOPROOF_OK && also != NULL && t < history->txns; t++) view->counts[t] |= also[t];
  if (status == ISOPROOF_OK) status = make_rows(&m, task, error);
  if (status != ISOPROOF_OK) {
    iso_view_free(view);
    return status;
  }
  for (uint32_t t = 0; t < history->txns; t++) view->taking_part += view->counts[t];
  return ISOPROOF_OK;
}

isoproof_status iso_view_need_readers(iso_view *view, isoproof_error *error) {
  const isoproof_history *h = view->h;
  if (view->readers != NULL) return ISOPROOF_OK;
  uint32_t total = view->read_first[h->txns];
  view->reader_first = iso_alloc_zero((size_t)h->keys + 1, sizeof *view->reader_first);
  view->readers = iso_alloc(total, sizeof *view->readers);
  if (view->reader_first == NULL || view->readers == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < total; i++) view->reader_first[view->reads[i].key]++;
  sum_up(view->reader_first, h->keys);
  for (uint32_t t = 0; t < h->txns; t++) {
    for (uint32_t i = view->read_first[t]; i < view->read_first[t + 1]; i++) {
      view->readers[view->reader_first[view->reads[i].key]++] = (struct iso_reader){t, i};
    }
  }
  memmove(view->reader_first + 1, view->reader_first, h->keys * sizeof *view->reader_first);
  view->reader_first[0] = 0;
  return ISOPROOF_OK;
}

uint32_t iso_view_slot(const iso_view *v, uint32_t txn, uint32_t key) {
  uint32_t low = v->write_first[txn], high = v->write_first[txn + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (v->write_key[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool iso_view_writes(const iso_view *view, uint32_t txn, uint32_t key) {
  uint32_t slot = iso_view_slot(view, txn, key);
  return slot < view->write_first[txn + 1] && view->write_key[slot] == key;
}

uint32_t iso_view_last_writer(const iso_view *view, uint32_t group, uint32_t bound) {
  uint32_t low = view->group_start[group], high = view->group_start[group + 1], first = low;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (view->writer[middle] < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > first ? view->writer[low - 1] : ISO_NO_TXN;
}

bool iso_view_group(const iso_view *view, uint32_t key, uint32_t session, uint32_t *group) {
  uint32_t low = view->group_first[key], high = view->group_first[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (view->group_session[middle] < session) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *group = low;
  return low < view->group_first[key + 1] && view->group_session[low] == session;
}

uint32_t iso_view_previous(const iso_view *view, uint32_t txn) {
  uint32_t first = view->h->session_first_txn[view->h->txn_session[txn]];
  while (txn > first) {
    if (view->counts[--txn]) return txn;
  }
  return ISO_NO_TXN;
}

bool iso_view_reads_before(const iso_view *view, uint32_t t2, uint32_t t3, uint32_t read) {
  for (uint32_t i = view->read_first[t3]; i < read; i++) {
    if (view->reads[i].from != t2 || view->reads[i].key == view->reads[read].key) continue;
    if (!iso_history_same_statement(view->h, view->reads[i].op, view->reads[read].op)) return true;
  }
  return false;
}

bool iso_view_reads_from(const iso_view *view, uint32_t t2, uint32_t t3) {
  for (uint32_t i = view->read_first[t3]; i < view->read_first[t3 + 1]; i++) {
    if (view->reads[i].from == t2) return true;
  }
  return false;
}
