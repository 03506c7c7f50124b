/* Long forks, by pairs of writers: one reader saw the first and missed the second, another one the other way round. */
#include "check/count/counting.h"

typedef ISO_VEC(iso_occurrence) fork_list;

static int by_writers(const void *a, const void *b) {
  const iso_occurrence *x = a, *y = b;
  for (unsigned i = 0; i < 2; i++) {
    if (x->txns[i] != y->txns[i]) return x->txns[i] < y->txns[i] ? -1 : 1;
  }
  for (unsigned i = 0; i < 4; i++) {
    if (x->reads[i] != y->reads[i]) return x->reads[i] < y->reads[i] ? -1 : 1;
  }
  return 0;
}

static bool is_seen(const iso_counting *c, uint32_t txn) { return c->seen_first[txn] < c->seen_first[txn + 1]; }

/* The read of `reader` of the version that the writer wrote; UINT32_MAX for none. */
static uint32_t read_from(const iso_view *v, uint32_t reader, uint32_t writer) {
  for (uint32_t i = v->read_first[reader]; i < v->read_first[reader + 1]; i++) {
    if (v->reads[i].from == writer) return i;
  }
  return UINT32_MAX;
}

/* The first read with which the reader missed the writer, whom it did not see; UINT32_MAX for none. */
static uint32_t missing_read(iso_counting *c, uint32_t reader, uint32_t writer) {
  const iso_view *v = c->view;
  if (!iso_counting_step(c, 1 + v->read_first[reader + 1] - v->read_first[reader])) return UINT32_MAX;
  if (reader == writer || read_from(v, reader, writer) != UINT32_MAX) return UINT32_MAX;
  for (uint32_t i = v->read_first[reader]; i < v->read_first[reader + 1]; i++) {
    uint32_t key = v->reads[i].key;
    if (iso_view_writes(v, writer, key) && iso_is_replaced(c, key, v->reads[i].from, writer)) return i;
  }
  return UINT32_MAX;
}

static void add_fork(iso_counting *c, fork_list *forks, iso_occurrence one) {
  bool swap = one.txns[1] < one.txns[0];
  iso_occurrence other = {{one.txns[1], one.txns[0]}, {one.reads[2], one.reads[3], one.reads[0], one.reads[1]}};
  if (iso_vec_push(forks, swap ? other : one)) return;
  c->status = ISOPROOF_ERR_MEMORY;
  c->stopped = true;
}

/* The reader saw `saw` and missed `missed`: did anybody see it the other way round? */
static void find_opposite(iso_counting *c, uint32_t reader, uint32_t saw, uint32_t missed, fork_list *forks) {
  const iso_view *v = c->view;
  for (uint32_t i = c->seen_first[missed]; i < c->seen_first[missed + 1] && !c->stopped; i++) {
    uint32_t other = c->seen_by[i], miss = missing_read(c, other, saw);
    if (miss == UINT32_MAX) continue;
    iso_occurrence fork = {
        {saw, missed}, {read_from(v, reader, saw), missing_read(c, reader, missed), read_from(v, other, missed), miss}};
    if (fork.reads[1] != UINT32_MAX) add_fork(c, forks, fork);
    return;
  }
}

/* Goes through everybody whom the reader missed although they come before it. */
static void look(iso_counting *c, uint32_t reader, uint32_t *stamp, fork_list *forks) {
  const iso_view *v = c->view;
  for (uint32_t i = v->read_first[reader]; i < v->read_first[reader + 1]; i++) {
    if (!iso_find_replacers(c, reader, i)) return;
    for (size_t k = 0; k < c->replacers.count && !c->stopped; k++) {
      uint32_t missed = c->replacers.items[k];
      if (stamp[missed] == reader + 1 || !is_seen(c, missed)) continue;
      stamp[missed] = reader + 1;
      if (read_from(v, reader, missed) != UINT32_MAX) continue;
      for (uint32_t r = v->read_first[reader]; r < v->read_first[reader + 1] && !c->stopped; r++) {
        uint32_t saw = v->reads[r].from;
        if (saw != ISO_INITIAL && read_from(v, reader, saw) == r) find_opposite(c, reader, saw, missed, forks);
      }
    }
  }
}

void iso_count_long_forks(iso_counting *c) {
  uint32_t txns = c->view->h->txns, *stamp = iso_alloc_zero(txns, sizeof *stamp);
  fork_list forks = {0};
  if (stamp == NULL) c->status = ISOPROOF_ERR_MEMORY;
  for (uint32_t txn = 0; stamp != NULL && txn < txns && !c->stopped; txn++) look(c, txn, stamp, &forks);
  if (forks.count > 1) qsort(forks.items, forks.count, sizeof *forks.items, by_writers);
  for (size_t i = 0; i < forks.count; i++) {
    const iso_occurrence *one = &forks.items[i];
    if (i > 0 && one[-1].txns[0] == one->txns[0] && one[-1].txns[1] == one->txns[1]) continue;
    iso_counting_add(c, *one);
  }
  iso_vec_free(&forks);
  free(stamp);
}

/* Whether the reader saw anybody else. */
static bool sees_another(const iso_view *v, uint32_t reader, uint32_t missed) {
  for (uint32_t i = v->read_first[reader]; i < v->read_first[reader + 1]; i++) {
    if (v->reads[i].from != ISO_INITIAL && v->reads[i].from != missed) return true;
  }
  return false;
}

bool iso_long_fork_undecided(iso_counting *c) {
  const iso_view *v = c->view;
  for (uint32_t reader = 0; reader < v->h->txns; reader++) {
    for (uint32_t i = v->read_first[reader]; i < v->read_first[reader + 1]; i++) {
      uint32_t key = v->reads[i].key, version = v->reads[i].from;
      if (version == ISO_INITIAL || iso_is_ordered_key(c, key)) continue;
      for (uint32_t k = v->writer_first[key]; k < v->writer_first[key + 1]; k++) {
        uint32_t missed = v->writer[k];
        if (!iso_counting_step(c, 1)) return true;
        if (missed == reader || !is_seen(c, missed) || iso_view_reads_from(v, missed, reader)) continue;
        if (sees_another(v, reader, missed) && iso_is_undecided(c, key, version, missed)) return true;
      }
    }
  }
  return false;
}
