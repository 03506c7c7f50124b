/* Versions in an order that moves, and answers that are to blame where it cannot. */
#include <stdlib.h>

#include "check/causal/choose_state.h"

/* LATER: writers that may have to come earlier for one read.  EARLIER: those before the version that are kept there. */
enum { LATER = 256, EARLIER = 2, SOME = 64 };

bool iso_chooser_list_next(void *context, uint32_t txn, bool before, iso_txn_list *list) {
  const iso_chooser *c = context;
  const iso_view *v = c->v;
  uint32_t previous = before ? iso_view_previous(v, txn) : ISO_NO_TXN;
  bool made = previous == ISO_NO_TXN || iso_vec_push(list, previous);
  for (uint32_t i = v->read_first[txn]; before && made && i < v->read_first[txn + 1]; i++) {
    if (v->reads[i].from != ISO_INITIAL) made = iso_vec_push(list, v->reads[i].from);
  }
  if (before) return made;
  for (uint32_t i = c->reader_first[txn]; made && i < c->reader_first[txn + 1]; i++)
    made = iso_vec_push(list, c->reader[i]);
  uint32_t end = v->h->session_first_txn[v->h->txn_session[txn] + 1], after = txn + 1;
  while (after < end && !v->counts[after]) after++;
  return after == end || (made && iso_vec_push(list, after));
}

static uint32_t place_at(const iso_chooser *c, uint32_t i) { return c->s->place[c->slot_txn[c->slot[i]]]; }

static void swap(iso_chooser *c, uint32_t i) {
  uint32_t slot = c->slot[i];
  c->slot[i] = c->slot[i + 1];
  c->slot[i + 1] = slot;
  c->slot_index[c->slot[i]] = i;
  c->slot_index[slot] = i + 1;
}

void iso_chooser_add_version(iso_chooser *c, uint32_t slot, uint32_t txn) {
  uint32_t key = c->v->write_key[slot], first = c->v->writer_first[key], i = first + c->count[key]++;
  c->slot[i] = slot;
  c->slot_index[slot] = i;
  for (; i > first && place_at(c, i - 1) > c->s->place[txn]; i--) swap(c, i - 1);
}

/* Puts the versions of a transaction that moved where they belong among those of their keys. */
static void follow_move(iso_chooser *c, uint32_t txn, bool earlier) {
  const iso_view *v = c->v;
  if (c->behind[txn] != UINT32_MAX) return;
  for (uint32_t k = v->write_first[txn]; k < v->write_first[txn + 1]; k++) {
    uint32_t first = v->writer_first[v->write_key[k]], end = first + c->count[v->write_key[k]];
    uint32_t i = c->slot_index[k], place = c->s->place[txn];
    for (; earlier && i > first && place_at(c, i - 1) > place; i--) swap(c, i - 1);
    for (; !earlier && i + 1 < end && place_at(c, i + 1) < place; i++) swap(c, i);
  }
}

static void blame_one(iso_chooser *c, uint32_t owner) {
  if (owner > 0 && c->q->items[owner - 1].blame < UINT32_MAX) c->q->items[owner - 1].blame++;
}

/* Who has made somebody visible to a transaction, where it is an answer: whoever is known to have done so is followed.
 */
static void blame_sight(iso_chooser *c, uint32_t txn, uint32_t seen) {
  enum { FAR = 64 };
  const iso_view *v = c->v;
  for (int far = 0; far < FAR && txn != seen; far++) {
    uint32_t by = iso_view_previous(v, txn);
    if (by != ISO_NO_TXN && by != seen && !iso_chooser_is_before(c, seen, by)) by = ISO_NO_TXN;
    for (uint32_t i = v->read_first[txn]; by == ISO_NO_TXN && i < v->read_first[txn + 1]; i++) {
      uint32_t from = v->reads[i].from;
      if (from != ISO_INITIAL && (from == seen || iso_chooser_is_before(c, seen, from))) by = from;
    }
    for (uint32_t i = c->q->first[txn]; by == ISO_NO_TXN && i < c->q->first[txn + 1]; i++) {
      uint32_t from = iso_chooser_writer(c, c->q->items[i].answer);
      if (from == ISO_INITIAL || (from != seen && !iso_chooser_is_before(c, seen, from))) continue;
      blame_one(c, i + 1);
      return;
    }
    if (by == ISO_NO_TXN) return;
    txn = by;
  }
}

static void blame_edge(iso_chooser *c, uint32_t way) {
  if (way == 0) return;
  const iso_moving_edge *e = &c->o.edges.items[way - 1];
  blame_one(c, e->owner);
  if (e->reader != ISO_NO_TXN) blame_sight(c, e->reader, e->from);
}

/* Those answers are to blame for that an edge cannot be, on whose edges the way is that it would close. */
static void blame(iso_chooser *c) {
  uint32_t txn = c->o.reached_from, way;
  if (txn == ISO_NO_TXN) return;
  blame_edge(c, c->o.reached_by);
  while ((way = iso_moving_order_way(&c->o, &txn)) != UINT32_MAX) blame_edge(c, way);
}

bool iso_chooser_put_before(iso_chooser *c, uint32_t from, uint32_t to, uint32_t reader) {
  if (!iso_moving_order_add(&c->o, from, to, c->owner, reader)) {
    if (c->blames) blame(c);
    return false;
  }
  for (size_t i = 0; i < c->o.side[0].count; i++) follow_move(c, c->o.side[0].items[i], true);
  for (size_t i = c->o.side[1].count; i-- > 0;) follow_move(c, c->o.side[1].items[i], false);
  return true;
}

/* Keeps writers before the version that was read of whom it is known that they would get behind it. */
static bool heed(iso_chooser *c, uint32_t txn, uint32_t key, uint32_t from) {
  const iso_causal_warning *w = c->q->warnings, own = {txn, key, 0};
  size_t low = 0, high = c->q->warning_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (iso_causal_by_warning(&w[middle], &own) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < c->q->warning_count && w[low].txn == txn && w[low].key == key; low++) {
    if (w[low].writer == from || !iso_chooser_is_before(c, w[low].writer, txn) ||
        iso_chooser_is_before(c, w[low].writer, from))
      continue;
    if (!iso_chooser_put_before(c, w[low].writer, from, txn)) return false;
  }
  return true;
}

bool iso_chooser_settle(iso_chooser *c, uint32_t txn, uint32_t key, uint32_t from) {
  uint32_t first = c->v->writer_first[key], later[LATER], count = 0, i = first + c->count[key], version = first;
  while (i-- > first) {
    uint32_t other = c->slot_txn[c->slot[i]];
    if (other == from) version = i;
    if (other == from) break;
    if (!iso_chooser_is_before(c, other, txn)) continue;
    if (c->blames && (from == ISO_INITIAL || iso_chooser_is_before(c, from, other))) {
      blame_sight(c, txn, other);
      if (from != ISO_INITIAL) blame_sight(c, other, from);
    }
    if (from == ISO_INITIAL || count == LATER || iso_chooser_is_before(c, from, other)) return false;
    later[count++] = other;
  }
  while (count > 0) {
    if (!iso_chooser_put_before(c, later[--count], from, txn)) return false;
  }
  for (int kept = 0, steps = 0; version > first && kept < EARLIER && steps < SOME; steps++) {
    uint32_t other = c->slot_txn[c->slot[--version]];
    if (!iso_chooser_is_before(c, other, txn) || iso_chooser_is_before(c, other, from)) continue;
    kept++;
    if (!iso_chooser_put_before(c, other, from, txn)) return false;
  }
  return from == ISO_INITIAL || heed(c, txn, key, from);
}
