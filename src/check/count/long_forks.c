/* Long forks, by pairs of writers: one reader saw the first and missed the second, another one the other way round. */
#include "check/count/counting.h"

/* A reader saw one writer and missed another one. */
typedef struct {
  uint32_t saw, missed;           /* writers */
  uint32_t saw_read, missed_read; /* of one reader */
} sight;

typedef ISO_VEC(sight) sight_list;

static uint32_t low(const sight *s) { return s->saw < s->missed ? s->saw : s->missed; }
static uint32_t high(const sight *s) { return s->saw < s->missed ? s->missed : s->saw; }

/* By the pair of writers; within it those who saw the first one come first, in order of their reads. */
static int by_writers(const void *a, const void *b) {
  const sight *x = a, *y = b;
  if (low(x) != low(y)) return low(x) < low(y) ? -1 : 1;
  if (high(x) != high(y)) return high(x) < high(y) ? -1 : 1;
  if (x->saw != y->saw) return x->saw < y->saw ? -1 : 1;
  if (x->saw_read != y->saw_read) return x->saw_read < y->saw_read ? -1 : 1;
  return (x->missed_read > y->missed_read) - (x->missed_read < y->missed_read);
}

static bool is_seen(const iso_counting *c, uint32_t txn) { return c->seen_first[txn] < c->seen_first[txn + 1]; }

/* Everybody whom the reader missed with one of its reads, beside everybody whom it saw. */
static bool look(iso_counting *c, uint32_t reader, uint32_t missed_read, size_t most, sight_list *sights) {
  const iso_view *v = c->view;
  if (!iso_find_replacers(c, missed_read)) return false;
  for (size_t k = 0; k < c->replacers.count; k++) {
    uint32_t missed = c->replacers.items[k];
    if (!iso_counting_step(c, 1 + v->read_first[reader + 1] - v->read_first[reader])) return false;
    if (missed == reader || !is_seen(c, missed) || iso_view_reads_from(v, missed, reader)) continue;
    for (uint32_t i = v->read_first[reader]; i < v->read_first[reader + 1]; i++) {
      uint32_t saw = v->reads[i].from;
      if (saw == ISO_INITIAL) continue;
      if (sights->count >= most) {
        c->stopped = true;
        return false;
      }
      if (iso_vec_push(sights, ((sight){saw, missed, i, missed_read}))) continue;
      c->status = ISOPROOF_ERR_MEMORY;
      return false;
    }
  }
  return true;
}

static void count_pairs(iso_counting *c, const sight_list *sights) {
  const sight *s = sights->items;
  for (size_t i = 0, end; i < sights->count; i = end) {
    size_t other = sights->count;
    for (end = i; end < sights->count && low(&s[end]) == low(&s[i]) && high(&s[end]) == high(&s[i]); end++) {
      if (s[end].saw != s[i].saw && other == sights->count) other = end;
    }
    if (other == sights->count) continue;
    iso_counting_add(c, (iso_occurrence){{s[i].saw, s[i].missed},
                                         {s[i].saw_read, s[i].missed_read, s[other].saw_read, s[other].missed_read}});
  }
}

void iso_count_long_forks(iso_counting *c) {
  const iso_view *v = c->view;
  sight_list sights = {0};
  size_t most = (size_t)2 * v->read_first[v->h->txns] + (1u << 20);
  bool more = true;
  for (uint32_t txn = 0; more && txn < v->h->txns; txn++) {
    for (uint32_t i = v->read_first[txn]; more && i < v->read_first[txn + 1]; i++) {
      more = look(c, txn, i, most, &sights);
    }
  }
  if (sights.count > 1) qsort(sights.items, sights.count, sizeof *sights.items, by_writers);
  if (c->status == ISOPROOF_OK) count_pairs(c, &sights);
  iso_vec_free(&sights);
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
