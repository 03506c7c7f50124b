/* Who is known to have replaced a version, and how long counting may go on. */
#include "check/count/counting.h"

#include <string.h>

/* Who read from whom. */
static bool index_seen(iso_counting *c) {
  const iso_view *v = c->view;
  uint32_t txns = v->h->txns, total = v->read_first[txns];
  c->seen_first = iso_alloc_zero((size_t)txns + 1, sizeof *c->seen_first);
  c->seen_by = iso_alloc(total, sizeof *c->seen_by);
  if (c->seen_first == NULL || c->seen_by == NULL) return false;
  for (uint32_t i = 0; i < total; i++) {
    if (v->reads[i].from < txns) c->seen_first[v->reads[i].from + 1]++;
  }
  for (uint32_t t = 0; t < txns; t++) c->seen_first[t + 1] += c->seen_first[t];
  for (uint32_t t = 0; t < txns; t++) {
    for (uint32_t i = v->read_first[t]; i < v->read_first[t + 1]; i++) {
      if (v->reads[i].from < txns) c->seen_by[c->seen_first[v->reads[i].from]++] = t;
    }
  }
  memmove(c->seen_first + 1, c->seen_first, txns * sizeof *c->seen_first);
  c->seen_first[0] = 0;
  return true;
}

isoproof_status iso_counting_init(iso_counting *c, isoproof_error *error) {
  ISO_TRY(iso_view_need_readers(c->view, error));
  ISO_TRY(iso_view_need_writers(c->view, error));
  return index_seen(c) ? ISOPROOF_OK : iso_fail_memory(error);
}

void iso_counting_free(iso_counting *c) {
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
  if (!c->keep || c->out->list.count >= ISO_OCCURRENCES_KEPT) return;
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

bool iso_is_undecided(iso_counting *c, uint32_t key, uint32_t version, uint32_t other) {
  if (version == ISO_INITIAL || version == other) return false;
  return !iso_is_replaced(c, key, version, other) && !iso_is_replaced(c, key, other, version);
}

bool iso_is_ordered_key(const iso_counting *c, uint32_t key) {
  return c->versions->longest != NULL && c->versions->longest[key] != ISO_NO_OP;
}

/* ---- replacers ---- */

static bool take(iso_counting *c, const uint32_t *txns, uint32_t count) {
  if (!iso_counting_step(c, count)) return false;
  if (!iso_vec_reserve(&c->replacers, count)) {
    c->status = ISOPROOF_ERR_MEMORY;
    c->stopped = true;
    return false;
  }
  if (count > 0) memcpy(c->replacers.items + c->replacers.count, txns, count * sizeof *txns);
  c->replacers.count += count;
  return true;
}

static bool take_readers(iso_counting *c, uint32_t key, uint32_t version) {
  for (uint32_t i = c->seen_first[version]; i < c->seen_first[version + 1]; i++) {
    if (!iso_counting_step(c, 1)) return false;
    if (iso_view_writes(c->view, c->seen_by[i], key) && !take(c, &c->seen_by[i], 1)) return false;
  }
  return true;
}

/* Those that come after it in its session. */
static bool take_session(iso_counting *c, uint32_t key, uint32_t version) {
  const iso_view *v = c->view;
  uint32_t group;
  if (!c->level->session_order || !iso_view_group(v, key, v->h->txn_session[version], &group)) return true;
  uint32_t first = v->group_start[group], end = v->group_start[group + 1];
  while (end > first && v->writer[end - 1] > version) end--;
  return take(c, v->writer + end, v->group_start[group + 1] - end);
}

/* Those that a list shows after it, and those that it does not show. */
static bool take_list(iso_counting *c, uint32_t key, uint32_t version) {
  const iso_versions *versions = c->versions;
  uint32_t place = iso_versions_place(c->view, versions, version, key);
  if (place == ISO_NO_PLACE) return true;
  uint32_t first = versions->first[key], end = versions->first[key + 1];
  if (place >= end - first) return true;
  return take(c, versions->writer + first + place + 1, end - first - place - 1) &&
         take(c, versions->tail + versions->tail_first[key],
              versions->tail_first[key + 1] - versions->tail_first[key]);
}

bool iso_find_replacers(iso_counting *c, uint32_t read) {
  const iso_view *v = c->view;
  uint32_t key = v->reads[read].key, version = v->reads[read].from;
  c->replacers.count = 0;
  if (version == ISO_INITIAL)
    return take(c, v->writer + v->writer_first[key], v->writer_first[key + 1] - v->writer_first[key]);
  return take_readers(c, key, version) && take_session(c, key, version) && take_list(c, key, version);
}
