/* Who is known to have replaced a version, and how long counting may go on. */
#include "check/count/counting.h"

#include <string.h>

/* Turns counts, each at one place behind its own, into first places. */
static void sum_up(uint32_t *first, uint32_t rows) {
  for (uint32_t i = 0; i < rows; i++) first[i + 1] += first[i];
}

/* Puts the first places back that filling has moved to the next ones. */
static void rewind_rows(uint32_t *first, uint32_t rows) {
  for (uint32_t i = rows; i > 0; i--) first[i] = first[i - 1];
  first[0] = 0;
}

/* Who read from whom, and who wrote which key, in order of the sequence. */
static bool make_indexes(iso_counting *c) {
  const iso_view *v = c->view;
  uint32_t txns = v->h->txns, keys = v->h->keys;
  uint32_t *key_first = iso_alloc((size_t)keys + 1, sizeof *key_first);
  c->seen_first = iso_alloc_zero((size_t)txns + 1, sizeof *c->seen_first);
  c->seen_by = iso_alloc(v->read_first[txns], sizeof *c->seen_by);
  c->writers = iso_alloc(v->write_first[txns], sizeof *c->writers);
  bool good = key_first != NULL && c->seen_first != NULL && c->seen_by != NULL && c->writers != NULL;
  if (good) {
    memcpy(key_first, v->writer_first, ((size_t)keys + 1) * sizeof *key_first);
    for (uint32_t i = 0; i < v->read_first[txns]; i++) {
      if (v->reads[i].from < txns) c->seen_first[v->reads[i].from + 1]++;
    }
    sum_up(c->seen_first, txns);
  }
  for (uint32_t place = 0; good && place < c->sequence.count; place++) {
    uint32_t txn = c->sequence.txn[place];
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      if (v->reads[i].from < txns) c->seen_by[c->seen_first[v->reads[i].from]++] = txn;
    }
    for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
      c->writers[key_first[v->write_key[i]]++] = txn;
    }
  }
  if (good) rewind_rows(c->seen_first, txns);
  free(key_first);
  return good;
}

isoproof_status iso_counting_init(iso_counting *c, bool sequenced, isoproof_error *error) {
  ISO_TRY(iso_view_need_readers(c->view, error));
  if (!sequenced) return ISOPROOF_OK;
  ISO_TRY(iso_view_need_writers(c->view, error));
  ISO_TRY(iso_run_sequence_make(c->view, c->versions, &c->sequence, error));
  if (c->sequence.is_respectful) ISO_TRY(iso_chains_make(c->view, &c->sequence, &c->chains, error));
  return make_indexes(c) ? ISOPROOF_OK : iso_fail_memory(error);
}

void iso_counting_free(iso_counting *c) {
  iso_run_sequence_free(&c->sequence);
  iso_chains_free(&c->chains);
  free(c->writers);
  free(c->seen_first);
  free(c->seen_by);
  iso_vec_free(&c->replacers);
}

bool iso_counting_step(iso_counting *c, uint64_t steps) {
  enum { BETWEEN = 4096 };
  uint64_t before = c->steps / BETWEEN;
  c->steps += steps;
  if (c->steps > c->most_steps) c->stopped = true;
  if (!c->stopped && c->steps / BETWEEN != before) {
    isoproof_status status = iso_task_check(c->task, NULL);
    if (status != ISOPROOF_OK) c->stopped = true;
    if (status == ISOPROOF_ERR_CANCELLED) c->status = status;
  }
  return !c->stopped;
}

void iso_counting_add(iso_counting *c, iso_occurrence one) {
  c->out->count++;
  if (c->out->list.count >= c->keep) return;
  if (iso_vec_push(&c->out->list, one)) return;
  c->status = ISOPROOF_ERR_MEMORY;
  c->stopped = true;
}

/* ---- orders ---- */

iso_order_reason iso_replaced_because(const iso_view *v, const iso_versions *versions, const iso_strong_level *level,
                                      uint32_t key, uint32_t version, uint32_t later, uint32_t *order_op) {
  *order_op = ISO_NO_OP;
  if (version == later) return ISO_ORDER_NONE;
  if (version == ISO_INITIAL) return ISO_ORDER_INITIAL;
  for (uint32_t i = v->read_first[later]; i < v->read_first[later + 1]; i++) {
    if (v->reads[i].from != version) continue;
    if (*order_op == ISO_NO_OP || v->reads[i].key == key) *order_op = v->reads[i].op;
    if (v->reads[i].key == key) break;
  }
  if (*order_op != ISO_NO_OP) return ISO_ORDER_WR;
  if (level->session_order && version < later && v->h->txn_session[version] == v->h->txn_session[later])
    return ISO_ORDER_SO;
  if (!iso_versions_before(v, versions, key, version, later)) return ISO_ORDER_NONE;
  *order_op = versions->longest[key];
  return ISO_ORDER_LIST;
}

bool iso_is_replaced(iso_counting *c, uint32_t key, uint32_t version, uint32_t later) {
  uint32_t op;
  iso_counting_step(c, 1 + c->view->read_first[later + 1] - c->view->read_first[later]);
  return iso_replaced_because(c->view, c->versions, c->level, key, version, later, &op) != ISO_ORDER_NONE;
}

bool iso_is_before(iso_counting *c, uint32_t key, uint32_t earlier, uint32_t later) {
  return iso_chains_before(c->view, &c->chains, key, earlier, later) || iso_is_replaced(c, key, earlier, later);
}

bool iso_is_undecided(iso_counting *c, uint32_t key, uint32_t version, uint32_t other) {
  if (version == ISO_INITIAL || version == other) return false;
  return !iso_is_before(c, key, version, other) && !iso_is_before(c, key, other, version);
}

bool iso_is_listed_key(const iso_counting *c, uint32_t key) {
  return c->versions->longest != NULL && c->versions->longest[key] != ISO_NO_OP;
}

bool iso_is_ordered_key(const iso_counting *c, uint32_t key) {
  return iso_is_listed_key(c, key) || (c->chains.is_forked != NULL && !c->chains.is_forked[key]);
}

/* ---- replacers ---- */

/* Takes a transaction that comes before the bound; *more becomes false at one that does not, in an array that is in
 * order of the sequence, or when it is time to stop. */
static void take(iso_counting *c, uint32_t txn, uint32_t bound, bool *more) {
  bool before = c->sequence.place[txn] < bound;
  if (!iso_counting_step(c, 1)) *more = false;
  if (!before) *more = false;
  if (!before || c->stopped || iso_vec_push(&c->replacers, txn)) return;
  c->status = ISOPROOF_ERR_MEMORY;
  c->stopped = true;
}

static void take_all(iso_counting *c, const uint32_t *txns, uint32_t count, uint32_t bound, bool *more) {
  for (uint32_t i = 0; *more && i < count; i++) take(c, txns[i], bound, more);
}

static void take_readers(iso_counting *c, uint32_t key, uint32_t version, uint32_t bound) {
  bool more = true;
  for (uint32_t i = c->seen_first[version]; more && i < c->seen_first[version + 1]; i++) {
    uint32_t txn = c->seen_by[i];
    if (c->sequence.place[txn] >= bound) break;
    if (!iso_counting_step(c, 1)) return;
    if (iso_view_writes(c->view, txn, key)) take(c, txn, bound, &more);
  }
}

/* Those that come after it in its session. */
static void take_session(iso_counting *c, uint32_t key, uint32_t version, uint32_t bound) {
  const iso_view *v = c->view;
  uint32_t group;
  if (!c->level->session_order || !iso_view_group(v, key, v->h->txn_session[version], &group)) return;
  uint32_t low = v->group_start[group], end = v->group_start[group + 1], high = end;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (v->writer[middle] > version) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  bool more = true;
  take_all(c, v->writer + low, end - low, bound, &more);
}

/* Those that a list shows after it, and those that it does not show. */
static void take_list(iso_counting *c, uint32_t key, uint32_t version, uint32_t bound) {
  const iso_versions *versions = c->versions;
  uint32_t place = iso_versions_place(c->view, versions, version, key);
  if (place == ISO_NO_PLACE) return;
  uint32_t first = versions->first[key], end = versions->first[key + 1];
  if (place >= end - first) return;
  bool more = true;
  take_all(c, versions->writer + first + place + 1, end - first - place - 1, bound, &more);
  for (uint32_t i = versions->tail_first[key]; more && i < versions->tail_first[key + 1]; i++) {
    bool unsorted = true;
    take(c, versions->tail[i], bound, &unsorted);
    more = !c->stopped;
  }
}

bool iso_find_replacers(iso_counting *c, uint32_t reader, uint32_t read) {
  const iso_view *v = c->view;
  uint32_t key = v->reads[read].key, version = v->reads[read].from;
  uint32_t bound = c->sequence.is_respectful ? c->sequence.place[reader] : UINT32_MAX;
  bool more = true;
  c->replacers.count = 0;
  if (version == ISO_INITIAL) {
    uint32_t first = v->writer_first[key];
    take_all(c, c->writers + first, v->writer_first[key + 1] - first, bound, &more);
  } else {
    take_readers(c, key, version, bound);
    take_session(c, key, version, bound);
    take_list(c, key, version, bound);
  }
  return !c->stopped;
}
