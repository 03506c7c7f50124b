/* Contradictions of an order: all of a key where much moved there, else of those alone who moved or were passed. */
#include "check/order/contradictions.h"

#include <stdlib.h>

void iso_contradictions_free(iso_contradictions *c) {
  iso_vec_free(&c->all);
  iso_vec_free(&c->again);
  iso_vec_free(&c->due);
}

uint32_t iso_line_between(const iso_line *l, uint32_t key, uint32_t at, uint32_t what, uint32_t *found) {
  const iso_access *a = l->accesses;
  uint32_t until = what == ISO_READS ? a[at].source : a[at].item - 1, count = 0;
  for (uint32_t i = at; i-- > l->first[key] && a[i].item != until && count < ISO_MOST_BETWEEN;) {
    if (a[i].what & ISO_WRITES) found[count++] = a[i].item;
  }
  return count;
}

static bool knows_who_moved(const iso_line *l, uint32_t key) { return l->noted[key] != ISO_ALL_MOVED; }

/* ---- who has to be looked at again ---- */

static bool add_due(iso_line *l, iso_contradictions *c, uint32_t key, uint32_t item) {
  uint32_t at = iso_line_find(l, key, item);
  if (l->accesses[at].what & ISO_IS_DUE) return true;
  l->accesses[at].what |= ISO_IS_DUE;
  return iso_vec_push(&c->due, ((iso_access_at){key, at}));
}

/* Those who read at a key what an item wrote. */
static bool add_readers(iso_line *l, iso_contradictions *c, uint32_t key, uint32_t item) {
  const iso_view *v = l->e->view;
  uint32_t txn = iso_event_txn(l->e, item);
  for (uint32_t i = l->reader_first[txn]; i > 0; i = l->readers[i - 1].next) {
    const iso_external_read *read = &v->reads[i - 1];
    if (read->key != key) continue;
    uint32_t reader = iso_line_reading(l, l->readers[i - 1].txn);
    if (!add_due(l, c, key, reader)) return false;
  }
  return true;
}

/* A read is another one when it moved past a writer, or a writer past it or past what it saw; likewise the time between
 * a begin and its commit. */
static bool find_due(iso_line *l, iso_contradictions *c) {
  c->due.count = 0;
  for (size_t i = 0; i < l->moved.count; i++) {
    const iso_moved *m = &l->moved.items[i];
    uint32_t at = iso_line_find(l, m->key, m->item), what = l->accesses[at].what;
    l->accesses[at].what &= ~(uint32_t)ISO_IS_NOTED;
    if (!knows_who_moved(l, m->key)) continue;
    bool made = add_due(l, c, m->key, m->item);
    if (made && (what & ISO_WRITES)) made = add_readers(l, c, m->key, m->item);
    if (made && (what & ISO_BEGINS)) made = add_due(l, c, m->key, m->item + 1);
    if (!made) return false;
  }
  l->moved.count = 0;
  return true;
}

/* ---- what is found ---- */

/* The turn of an access among all of the keys where something moved: the last one first. */
static uint64_t turn_of(const iso_line *l, uint32_t key, uint32_t at) {
  return (uint64_t)(l->touched_count - l->touched_as[key]) << 32 | at;
}

static bool put_again(const iso_line *l, iso_contradictions *c, uint32_t at, const iso_contradiction *one) {
  return iso_vec_push(&c->again, ((iso_contradiction_again){turn_of(l, one->key, at), *one}));
}

/* What contradicts one access. */
static bool look(const iso_line *l, iso_contradictions *c, uint32_t key, uint32_t at, bool again) {
  uint32_t found[ISO_MOST_BETWEEN];
  const iso_access *a = &l->accesses[at];
  for (uint32_t what = ISO_READS; what <= ISO_WRITES; what *= 2) {
    if ((a->what & what) == 0 || (what == ISO_WRITES && !l->exclusive)) continue;
    iso_contradiction one = {key, a->item, what, iso_line_between(l, key, at, what, found)};
    if (one.count == 0) continue;
    c->pairs += one.count;
    if (again ? !put_again(l, c, at, &one) : !iso_vec_push(&c->all, one)) return false;
  }
  return true;
}

/* Takes those of keys where something moved out of the list; what did not change among them is put in again. */
static bool take_out(iso_line *l, iso_contradictions *c) {
  size_t kept = 0;
  c->again.count = 0;
  for (size_t i = 0; i < c->all.count; i++) {
    const iso_contradiction one = c->all.items[i];
    if (l->touched_as[one.key] == 0) {
      c->all.items[kept++] = one;
      continue;
    }
    uint32_t at = knows_who_moved(l, one.key) ? iso_line_find(l, one.key, one.item) : 0;
    if (knows_who_moved(l, one.key) && (l->accesses[at].what & ISO_IS_DUE) == 0) {
      if (!put_again(l, c, at, &one)) return false;
    } else {
      c->pairs -= one.count;
    }
  }
  c->all.count = kept;
  return true;
}

static bool look_at_due(iso_line *l, iso_contradictions *c) {
  for (size_t i = 0; i < c->due.count; i++) {
    uint32_t at = c->due.items[i].at;
    l->accesses[at].what &= ~(uint32_t)ISO_IS_DUE;
    if (!look(l, c, c->due.items[i].key, at, true)) return false;
  }
  return true;
}

static int by_turn(const void *a, const void *b) {
  const iso_contradiction_again *x = a, *y = b;
  if (x->turn != y->turn) return x->turn < y->turn ? -1 : 1;
  return (x->one.what > y->one.what) - (x->one.what < y->one.what);
}

bool iso_contradictions_find(iso_line *l, iso_contradictions *c) {
  if (!find_due(l, c) || !take_out(l, c) || !look_at_due(l, c)) return false;
  if (c->again.count > 1) qsort(c->again.items, c->again.count, sizeof *c->again.items, by_turn);
  size_t next = 0;
  for (uint32_t i = l->touched_count; i-- > 0;) {
    uint32_t key = l->touched[i];
    for (uint32_t at = l->first[key]; !knows_who_moved(l, key) && at < l->first[key + 1]; at++) {
      if (!look(l, c, key, at, false)) return false;
    }
    for (; next < c->again.count && c->again.items[next].one.key == key; next++) {
      if (!iso_vec_push(&c->all, c->again.items[next].one)) return false;
    }
    l->noted[key] = l->touched_as[key] = 0;
  }
  l->touched_count = 0;
  return true;
}
