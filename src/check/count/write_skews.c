/* Write skews of two: each transaction replaced what the other one read, neither saw the other, no key was written by
 * both. */
#include "check/count/counting.h"

static bool sees(const iso_view *v, uint32_t reader, uint32_t writer) { return iso_view_reads_from(v, writer, reader); }

static bool write_one_key(const iso_view *v, uint32_t a, uint32_t b) {
  uint32_t i = v->write_first[a], k = v->write_first[b];
  while (i < v->write_first[a + 1] && k < v->write_first[b + 1]) {
    if (v->write_key[i] == v->write_key[k]) return true;
    if (v->write_key[i] < v->write_key[k]) {
      i++;
    } else {
      k++;
    }
  }
  return false;
}

/* Whether nothing else stands between the two: then missing each other is all that is wrong. */
static bool are_apart(iso_counting *c, uint32_t a, uint32_t b) {
  const iso_view *v = c->view;
  iso_counting_step(c, v->read_first[a + 1] - v->read_first[a] + v->read_first[b + 1] - v->read_first[b]);
  if (c->level->session_order && v->h->txn_session[a] == v->h->txn_session[b]) return false;
  return !sees(v, a, b) && !sees(v, b, a) && !write_one_key(v, a, b);
}

typedef bool (*relation)(iso_counting *c, uint32_t key, uint32_t version, uint32_t later);

/* The first read of `reader` of a key that `writer` wrote for which the relation holds; UINT32_MAX for none. */
static uint32_t first_read(iso_counting *c, uint32_t reader, uint32_t writer, relation holds) {
  const iso_view *v = c->view;
  for (uint32_t i = v->read_first[reader]; i < v->read_first[reader + 1]; i++) {
    uint32_t key = v->reads[i].key, version = v->reads[i].from;
    if (!iso_counting_step(c, 1)) return UINT32_MAX;
    if (iso_view_writes(v, writer, key) && holds(c, key, version, writer)) return i;
  }
  return UINT32_MAX;
}

/* Whom it missed although they come before it, and who missed it as well. */
static void count_with(iso_counting *c, uint32_t one, uint32_t *stamp) {
  const iso_view *v = c->view;
  for (uint32_t i = v->read_first[one]; i < v->read_first[one + 1]; i++) {
    if (!iso_find_replacers(c, one, i)) return;
    for (size_t k = 0; k < c->replacers.count && !c->stopped; k++) {
      uint32_t other = c->replacers.items[k];
      if (stamp[other] == one + 1 || c->sequence.place[other] > c->sequence.place[one]) continue;
      stamp[other] = one + 1;
      uint32_t back = first_read(c, other, one, iso_is_replaced);
      if (back == UINT32_MAX || !are_apart(c, one, other) || c->stopped) continue;
      uint32_t forth = first_read(c, one, other, iso_is_replaced);
      if (forth == UINT32_MAX) return;
      bool swap = other < one;
      iso_counting_add(c, (iso_occurrence){{swap ? other : one, swap ? one : other},
                                           {swap ? back : forth, swap ? forth : back, 0, 0}});
    }
  }
}

void iso_count_write_skews(iso_counting *c) {
  const iso_view *v = c->view;
  uint32_t *stamp = iso_alloc_zero(v->h->txns, sizeof *stamp);
  if (stamp == NULL) c->status = ISOPROOF_ERR_MEMORY;
  for (uint32_t txn = 0; stamp != NULL && txn < v->h->txns && !c->stopped; txn++) {
    if (v->write_first[txn] < v->write_first[txn + 1]) count_with(c, txn, stamp);
  }
  free(stamp);
}

/* ---- what may be more ---- */

/* Known, or not known to be otherwise. */
static bool may_be_replaced(iso_counting *c, uint32_t key, uint32_t version, uint32_t later) {
  return iso_is_replaced(c, key, version, later) || iso_is_undecided(c, key, version, later);
}

/* Whether the two may be a write skew that nothing proves. */
static bool may_be_skewed(iso_counting *c, uint32_t one, uint32_t other) {
  if (first_read(c, other, one, may_be_replaced) == UINT32_MAX || !are_apart(c, one, other)) return false;
  return first_read(c, one, other, iso_is_replaced) == UINT32_MAX ||
         first_read(c, other, one, iso_is_replaced) == UINT32_MAX;
}

/* Goes through the writers of a key that was read of whom nothing tells whether they replaced it. */
static bool is_read_undecided(iso_counting *c, uint32_t one, uint32_t read) {
  const iso_view *v = c->view;
  uint32_t key = v->reads[read].key, version = v->reads[read].from;
  if (version == ISO_INITIAL || iso_is_ordered_key(c, key)) return false;
  for (uint32_t k = v->writer_first[key]; k < v->writer_first[key + 1]; k++) {
    uint32_t other = v->writer[k];
    if (!iso_counting_step(c, 1)) return true;
    if (other == one || v->read_first[other] == v->read_first[other + 1]) continue;
    if (iso_is_undecided(c, key, version, other) && may_be_skewed(c, one, other)) return true;
  }
  return false;
}

bool iso_write_skew_undecided(iso_counting *c) {
  const iso_view *v = c->view;
  for (uint32_t one = 0; one < v->h->txns; one++) {
    if (v->write_first[one] == v->write_first[one + 1]) continue;
    for (uint32_t i = v->read_first[one]; i < v->read_first[one + 1]; i++) {
      if (is_read_undecided(c, one, i)) return true;
    }
  }
  return false;
}
