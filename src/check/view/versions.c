/* The order of the versions of lists, from the longest read of each key. */
#include "check/view/versions.h"

#include <stdlib.h>
#include <string.h>

void iso_versions_free(iso_versions *versions) {
  free(versions->first);
  free(versions->writer);
  free(versions->tail_first);
  free(versions->tail);
  free(versions->longest);
  free(versions->place);
  free(versions->writer_place);
  free(versions->ww_first);
  free(versions->ww);
  iso_vec_free(&versions->broken);
  memset(versions, 0, sizeof *versions);
}

isoproof_status iso_versions_suit(const isoproof_history *history, bool *suit, isoproof_error *error) {
  enum { REGISTER = 1, LIST = 2 };
  uint8_t *uses = iso_alloc_zero(history->keys, 1);
  if (uses == NULL) return iso_fail_memory(error);
  *suit = true;
  for (uint32_t op = 0; op < history->ops && *suit; op++) {
    isoproof_op_kind kind = (isoproof_op_kind)history->op_kind[op];
    if (kind > ISOPROOF_OP_APPEND) *suit = false;
    uint8_t *use = &uses[history->op_key[op]];
    *use |= kind == ISOPROOF_OP_READ || kind == ISOPROOF_OP_WRITE ? REGISTER : LIST;
    if (*use == (REGISTER | LIST)) *suit = false;
  }
  free(uses);
  return ISOPROOF_OK;
}

/* The order in the making. */
typedef struct {
  const iso_view *v;
  const isoproof_history *h;
  iso_versions *out;
  uint32_t *longest_prefix; /* by key: the longest prefix of its stored list that was read */
  uint32_t *repeated;       /* by key: the first place in that prefix that repeats an append, UINT32_MAX */
  uint32_t *agreed;   /* by key: how far the stored list agrees with the longest read; UINT32_MAX: not known yet */
  uint32_t *stamp;    /* by operation: the list that shows this append, by a number of its own */
  uint32_t *previous; /* by operation: the append to the key before this one in its transaction, ISO_NO_OP */
  uint32_t *last_op;  /* by key: the last append that the longest read shows, ISO_NO_OP */
  uint32_t *in_key;   /* by transaction: the key among whose writers it was seen last, + 1 */
  ISO_VEC(uint32_t) writers;
  ISO_VEC(iso_ww) ww;
  ISO_VEC(uint32_t) ww_to;
  bool failed;
} maker;

static bool is_prefix_of_stored(const isoproof_history *h, uint32_t op) {
  return h->op_value[op] < ISO_VALUE_INLINE_LIMIT;
}

/* The appends behind the elements of a list read. */
static const uint32_t *appends_of(const maker *m, uint32_t op, uint32_t *count) {
  const isoproof_history *h = m->h;
  if (iso_history_list(h, op, count) == NULL || *count == 0) return NULL;
  if (is_prefix_of_stored(h, op)) return m->v->resolution->list_writer + h->list_first[h->op_key[op]];
  return m->v->resolution->odd_writer + h->odd_first[h->op_value[op] & ~ISO_VALUE_INTERNED];
}

static bool is_list_read(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_READ_LIST && h->op_value[op] != ISO_VALUE_NONE;
}

/* Calls for each operation of the transactions that take part. */
static void for_each_op(maker *m, void (*visit)(maker *m, uint32_t txn, uint32_t op)) {
  for (uint32_t txn = 0; txn < m->h->txns; txn++) {
    if (!m->v->counts[txn]) continue;
    for (uint32_t op = m->h->txn_first_op[txn]; op < m->h->txn_first_op[txn + 1]; op++) visit(m, txn, op);
  }
}

/* First pass: the longest read of each key, and what each transaction appended before. */
static void find_longest(maker *m, uint32_t txn, uint32_t op) {
  const isoproof_history *h = m->h;
  uint32_t key = h->op_key[op], count, best = 0;
  if (h->op_kind[op] == ISOPROOF_OP_APPEND) {
    uint32_t before = m->last_op[key];
    m->previous[op] = before != ISO_NO_OP && iso_op_txn(&m->v->op_index, before) == txn ? before : ISO_NO_OP;
    m->last_op[key] = op;
  }
  if (!is_list_read(h, op)) return;
  (void)iso_history_list(h, op, &count);
  if (is_prefix_of_stored(h, op) && count > m->longest_prefix[key]) m->longest_prefix[key] = count;
  if (m->out->longest[key] != ISO_NO_OP) (void)iso_history_list(h, m->out->longest[key], &best);
  if (count > best) m->out->longest[key] = op;
}

/* How many leading elements two lists have in common. */
static uint32_t common(const iso_value *a, uint32_t a_count, const iso_value *b, uint32_t b_count) {
  uint32_t i = 0;
  while (i < a_count && i < b_count && a[i] == b[i]) i++;
  return i;
}

/* How many elements of a read agree with the longest read of its key.  The reads that are prefixes of the stored list
 * are compared with it together, once. */
static uint32_t agreement(maker *m, uint32_t op, uint32_t count) {
  const isoproof_history *h = m->h;
  uint32_t key = h->op_key[op], longest = m->out->longest[key], longest_count;
  if (longest == ISO_NO_OP || longest == op) return count;
  bool stored = is_prefix_of_stored(h, op);
  if (stored && is_prefix_of_stored(h, longest)) return count;
  const iso_value *other = iso_history_list(h, longest, &longest_count);
  if (!stored) return common(iso_history_list(h, op, &count), count, other, longest_count);
  if (m->agreed[key] == UINT32_MAX) {
    m->agreed[key] = common(h->list_values + h->list_first[key], m->longest_prefix[key], other, longest_count);
  }
  return count < m->agreed[key] ? count : m->agreed[key];
}

/* The first place of a list that shows an append again; UINT32_MAX where there is none.  `number` is the list's own. */
static uint32_t find_repeated(maker *m, const uint32_t *appends, uint32_t count, uint32_t number) {
  for (uint32_t i = 0; i < count; i++) {
    if (appends[i] >= m->h->ops) continue;
    if (m->stamp[appends[i]] == number) return i;
    m->stamp[appends[i]] = number;
  }
  return UINT32_MAX;
}

static void found(maker *m, iso_tap tap, uint32_t op, uint32_t seen, uint32_t other, uint32_t element) {
  if (!iso_vec_push(&m->out->broken, ((iso_finding){(uint32_t)tap, op, seen, other, element}))) m->failed = true;
}

/* Second pass: which reads do not fit to the longest one, or repeat an element. */
static void judge_read(maker *m, uint32_t txn, uint32_t op) {
  const isoproof_history *h = m->h;
  (void)txn;
  if (!is_list_read(h, op)) return;
  uint32_t count, key = h->op_key[op], repeated = m->repeated[key];
  const uint32_t *appends = appends_of(m, op, &count);
  if (appends == NULL) return;
  uint32_t agreed = agreement(m, op, count);
  if (agreed < count) found(m, ISO_TAP_INCOMPATIBLE_ORDER, op, ISO_NO_OP, m->out->longest[key], agreed);
  if (!is_prefix_of_stored(h, op)) {
    repeated = find_repeated(m, appends, count, 2 + (h->op_value[op] & ~ISO_VALUE_INTERNED));
  }
  if (repeated < count) found(m, ISO_TAP_DUPLICATE_ELEMENTS, op, appends[repeated], ISO_NO_OP, repeated);
}

static void find_all_repeated(maker *m) {
  for (uint32_t key = 0; key < m->h->keys; key++) {
    m->repeated[key] = UINT32_MAX;
    if (m->longest_prefix[key] == 0) continue;
    const uint32_t *appends = m->v->resolution->list_writer + m->h->list_first[key];
    m->repeated[key] = find_repeated(m, appends, m->longest_prefix[key], 1);
  }
}

static void add_edge(maker *m, uint32_t from_op, uint32_t to_op) {
  iso_ww edge = {iso_op_txn(&m->v->op_index, from_op), from_op, to_op};
  uint32_t to = iso_op_txn(&m->v->op_index, to_op);
  if (edge.from == to) return;
  if (!iso_vec_push(&m->ww, edge) || !iso_vec_push(&m->ww_to, to)) m->failed = true;
}

/* The stamp of appends that the longest read of their key shows, from the third pass on. */
#define SHOWN UINT32_MAX

/* Third pass: the writers of a key in the order of its longest read.  Elements that nobody appended, or somebody who
 * does not take part, are found out elsewhere. */
static void order_key(maker *m, uint32_t key) {
  uint32_t count, longest = m->out->longest[key], last = ISO_NO_OP;
  bool misordered = false;
  if (longest == ISO_NO_OP) return;
  const uint32_t *appends = appends_of(m, longest, &count);
  for (uint32_t i = 0; appends != NULL && i < count; i++) {
    uint32_t op = appends[i];
    if (op >= m->h->ops || m->stamp[op] == SHOWN || !m->v->counts[iso_op_txn(&m->v->op_index, op)]) continue;
    uint32_t txn = iso_op_txn(&m->v->op_index, op), before = m->previous[op];
    if (before != ISO_NO_OP && m->stamp[before] != SHOWN && !misordered) {
      misordered = true;
      found(m, ISO_TAP_INCOMPATIBLE_ORDER, longest, op, before, i);
    }
    m->stamp[op] = SHOWN;
    if (last != ISO_NO_OP) add_edge(m, last, op);
    if (m->in_key[txn] != key + 1) {
      m->in_key[txn] = key + 1;
      if (!iso_vec_push(&m->writers, txn)) m->failed = true;
    } else if (iso_op_txn(&m->v->op_index, last) != txn) {
      m->out->torn = true;
    }
    last = op;
  }
  m->last_op[key] = last;
}

/* Where a transaction's write of a key stands in view->write_key; the transaction must write it. */
static uint32_t find_write(const iso_view *v, uint32_t txn, uint32_t key) {
  uint32_t low = v->write_first[txn], high = v->write_first[txn + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (v->write_key[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < v->write_first[txn + 1] && v->write_key[low] == key ? low : UINT32_MAX;
}

static void order_all(maker *m) {
  iso_versions *out = m->out;
  for (uint32_t key = 0; key < m->h->keys; key++) {
    out->first[key] = (uint32_t)m->writers.count;
    m->last_op[key] = ISO_NO_OP;
    order_key(m, key);
    for (size_t i = out->first[key]; i < m->writers.count; i++) {
      uint32_t write = find_write(m->v, m->writers.items[i], key);
      if (write != UINT32_MAX) out->place[write] = (uint32_t)i - out->first[key];
    }
  }
  out->first[m->h->keys] = (uint32_t)m->writers.count;
}

/* Fourth pass: appends that the longest read does not show.  Their writers form the tail, unless the read shows others
 * of the same writer. */
static void count_unseen(maker *m, uint32_t txn, uint32_t op) {
  uint32_t key = m->h->op_key[op];
  if (m->h->op_kind[op] != ISOPROOF_OP_APPEND || m->stamp[op] == SHOWN) return;
  uint32_t last = m->last_op[key], write = find_write(m->v, txn, key);
  if (last != ISO_NO_OP && iso_op_txn(&m->v->op_index, last) != txn) {
    /* One edge a transaction and key is enough. */
    bool again = m->previous[op] != ISO_NO_OP && m->stamp[m->previous[op]] != SHOWN;
    if (!again) add_edge(m, last, op);
  }
  if (write == UINT32_MAX) return;
  uint32_t shown = m->out->first[key + 1] - m->out->first[key];
  if (m->out->place[write] == ISO_NO_PLACE) {
    m->out->place[write] = shown;
    m->out->tail_first[key]++;
  } else if (m->out->place[write] < shown && last != ISO_NO_OP && iso_op_txn(&m->v->op_index, last) != txn) {
    m->out->torn = true;
  }
}

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

/* The tail of each key, by transaction; places tell who belongs to it. */
static bool fill_tail(maker *m) {
  iso_versions *out = m->out;
  out->tail = iso_alloc(sum_up(out->tail_first, m->h->keys), sizeof *out->tail);
  if (out->tail == NULL) return false;
  for (uint32_t txn = 0; txn < m->h->txns; txn++) {
    for (uint32_t i = m->v->write_first[txn]; i < m->v->write_first[txn + 1]; i++) {
      uint32_t key = m->v->write_key[i], shown = out->first[key + 1] - out->first[key];
      if (out->place[i] == shown) out->tail[out->tail_first[key]++] = txn;
    }
  }
  memmove(out->tail_first + 1, out->tail_first, m->h->keys * sizeof *out->tail_first);
  out->tail_first[0] = 0;
  return true;
}

/* The edges by target. */
static bool fill_edges(maker *m) {
  iso_versions *out = m->out;
  out->ww_first = iso_alloc_zero((size_t)m->h->txns + 2, sizeof *out->ww_first);
  out->ww = iso_alloc(m->ww.count, sizeof *out->ww);
  if (out->ww_first == NULL || out->ww == NULL) return false;
  /* Counts two places up, so that filling leaves the first places right. */
  for (size_t i = 0; i < m->ww.count; i++) out->ww_first[m->ww_to.items[i] + 2]++;
  for (uint32_t t = 0; t <= m->h->txns; t++) out->ww_first[t + 1] += out->ww_first[t];
  for (size_t i = 0; i < m->ww.count; i++) out->ww[out->ww_first[m->ww_to.items[i] + 1]++] = m->ww.items[i];
  return true;
}

static uint32_t *filled(size_t count, int byte) {
  uint32_t *items = iso_alloc(count, sizeof *items);
  if (items != NULL) memset(items, byte, count * sizeof *items);
  return items;
}

static bool allocate(maker *m) {
  const isoproof_history *h = m->h;
  iso_versions *out = m->out;
  size_t keys = h->keys;
  out->first = filled(keys + 1, 0);
  out->tail_first = filled(keys + 1, 0);
  out->longest = filled(keys, 0xff);
  out->place = filled(m->v->write_first[h->txns], 0xff);
  m->longest_prefix = filled(keys, 0);
  m->repeated = filled(keys, 0xff);
  m->agreed = filled(keys, 0xff);
  m->last_op = filled(keys, 0xff);
  m->stamp = filled(h->ops, 0);
  m->previous = filled(h->ops, 0xff);
  m->in_key = filled(h->txns, 0);
  return out->first != NULL && out->tail_first != NULL && out->longest != NULL && out->place != NULL &&
         m->longest_prefix != NULL && m->repeated != NULL && m->agreed != NULL && m->last_op != NULL &&
         m->stamp != NULL && m->previous != NULL && m->in_key != NULL;
}

static bool make(maker *m) {
  if (!allocate(m)) return false;
  for_each_op(m, find_longest);
  find_all_repeated(m);
  for_each_op(m, judge_read);
  order_all(m);
  for_each_op(m, count_unseen);
  m->out->writer = m->writers.items;
  m->writers.items = NULL;
  return fill_tail(m) && fill_edges(m) && !m->failed;
}

static bool has_lists(const isoproof_history *h) {
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_APPEND || h->op_kind[op] == ISOPROOF_OP_READ_LIST) return true;
  }
  return false;
}

isoproof_status iso_versions_make(const iso_view *view, iso_versions *versions, isoproof_error *error) {
  memset(versions, 0, sizeof *versions);
  if (!has_lists(view->h)) return ISOPROOF_OK;
  maker m = {.v = view, .h = view->h, .out = versions};
  bool made = make(&m);
  free(m.longest_prefix);
  free(m.repeated);
  free(m.agreed);
  free(m.stamp);
  free(m.previous);
  free(m.last_op);
  free(m.in_key);
  iso_vec_free(&m.writers);
  iso_vec_free(&m.ww);
  iso_vec_free(&m.ww_to);
  if (made) return ISOPROOF_OK;
  iso_versions_free(versions);
  return iso_fail_memory(error);
}

isoproof_status iso_versions_need_places(const iso_view *view, iso_versions *versions, isoproof_error *error) {
  if (versions->place == NULL || versions->writer_place != NULL) return ISOPROOF_OK;
  uint32_t *next = iso_alloc(view->h->keys, sizeof *next);
  versions->writer_place = iso_alloc(view->write_first[view->h->txns], sizeof *versions->writer_place);
  if (next == NULL || versions->writer_place == NULL) {
    free(next);
    return iso_fail_memory(error);
  }
  if (view->h->keys > 0) memcpy(next, view->writer_first, view->h->keys * sizeof *next);
  for (uint32_t i = 0; i < view->write_first[view->h->txns]; i++) {
    versions->writer_place[next[view->write_key[i]]++] = versions->place[i];
  }
  free(next);
  return ISOPROOF_OK;
}

uint32_t iso_versions_place(const iso_view *view, const iso_versions *versions, uint32_t txn, uint32_t key) {
  if (versions->place == NULL) return ISO_NO_PLACE;
  uint32_t write = find_write(view, txn, key);
  return write != UINT32_MAX ? versions->place[write] : ISO_NO_PLACE;
}

bool iso_versions_before(const iso_view *view, const iso_versions *versions, uint32_t key, uint32_t earlier,
                         uint32_t later) {
  uint32_t first = iso_versions_place(view, versions, earlier, key);
  uint32_t second = iso_versions_place(view, versions, later, key);
  return second != ISO_NO_PLACE && first < second;
}
