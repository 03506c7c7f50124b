/* An order of whole transactions with their accesses by key: made, moved, and what it breaks. */
#include "check/order/value_line.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

/* The read of a key by a transaction, ISO_NO_CLASS where there is none. */
static uint32_t read_of(const iso_value_line *w, uint32_t txn, uint32_t key) {
  for (uint32_t i = w->c->read_first[txn]; i < w->c->read_first[txn + 1]; i++) {
    if (w->c->reads.items[i].key == key) return w->c->reads.items[i].of;
  }
  return ISO_NO_CLASS;
}

/* The keys of a transaction one by one: those that it writes, then those that it only reads.  Start with *at = 0;
 * ISO_NO_MORE_KEYS after the last. */
uint32_t iso_value_line_next_key(const iso_value_line *w, uint32_t txn, uint32_t *at) {
  const iso_view *v = w->v;
  uint32_t writes = v->write_first[txn + 1] - v->write_first[txn];
  if (*at < writes) return v->write_key[v->write_first[txn] + (*at)++];
  for (uint32_t i = w->c->read_first[txn] + *at - writes; i < w->c->read_first[txn + 1]; i++) {
    const iso_class_read *read = &w->c->reads.items[i];
    *at += 1;
    if (!read->updates && read_of(w, txn, read->key) == read->of) return read->key;
  }
  return ISO_NO_MORE_KEYS;
}

/* Where a transaction stands among the accesses of a key. */
uint32_t iso_value_line_find(const iso_value_line *w, uint32_t key, uint32_t txn) {
  uint32_t low = w->first[key], high = w->first[key + 1];
  while (low + 1 < high) {
    uint32_t middle = low + (high - low) / 2;
    if (w->pos[w->at[middle].txn] <= w->pos[txn]) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* ---- moves ---- */

/* Notes the reads from an iso_value_access on, up to the next write: another class may be there now.  What is not noted
 * for lack of memory is found later. */
static void note_fresh(iso_value_line *w, uint32_t key, uint32_t at) {
  for (bool hidden = false; at < w->first[key + 1] && !hidden; at++) {
    if (w->at[at].read != ISO_NO_CLASS) (void)iso_vec_push(&w->fresh, ((iso_broken_read){w->at[at].txn, key}));
    hidden = w->at[at].write != ISO_NO_CLASS;
    w->steps++;
  }
}

void iso_value_line_move(iso_value_line *w, uint32_t txn, uint32_t place) {
  uint32_t from = w->pos[txn];
  for (uint32_t at = 0, key; (key = iso_value_line_next_key(w, txn, &at)) != ISO_NO_MORE_KEYS;) {
    uint32_t i = iso_value_line_find(w, key, txn), left = i;
    iso_value_access mine = w->at[i];
    for (; i > w->first[key] && place < from && w->pos[w->at[i - 1].txn] >= place; i--) w->at[i] = w->at[i - 1];
    for (; i + 1 < w->first[key + 1] && place > from && w->pos[w->at[i + 1].txn] <= place; i++) {
      w->at[i] = w->at[i + 1];
    }
    w->at[i] = mine;
    if (mine.write == ISO_NO_CLASS) continue;
    note_fresh(w, key, left + (i < left)); /* who came behind it */
    note_fresh(w, key, i + 1);
  }
  for (; from < place; from++) w->order[from] = w->order[from + 1], w->pos[w->order[from]] = from;
  for (; from > place; from--) w->order[from] = w->order[from - 1], w->pos[w->order[from]] = from;
  w->order[place] = txn;
  w->pos[txn] = place;
}

/* The accesses of a key in the order of places, by way of the room for states. */
static void sort_accesses(iso_value_line *w, uint32_t key) {
  iso_value_access *a = w->at + w->first[key];
  uint32_t count = w->first[key + 1] - w->first[key];
  for (uint32_t gap = count / 2; gap > 0; gap /= 2) {
    for (uint32_t i = gap; i < count; i++) {
      iso_value_access one = a[i];
      uint32_t k = i;
      for (; k >= gap && w->pos[a[k - gap].txn] > w->pos[one.txn]; k -= gap) a[k] = a[k - gap];
      a[k] = one;
    }
  }
}

/* Puts everybody where the best order has them. */
void iso_value_line_set(iso_value_line *w, const uint32_t *best) {
  memcpy(w->order, best, w->count * sizeof *best);
  for (uint32_t i = 0; i < w->count; i++) w->pos[best[i]] = i;
  for (uint32_t key = 0; key < w->v->h->keys; key++) sort_accesses(w, key);
}

/* ---- what is broken ---- */

bool iso_value_line_is_broken(const iso_value_line *w, const iso_broken_read *b) {
  uint32_t mine = iso_value_line_find(w, b->key, b->txn), i = mine;
  while (i > w->first[b->key] && w->at[i - 1].write == ISO_NO_CLASS) i--;
  return w->at[mine].read != (i > w->first[b->key] ? w->at[i - 1].write : w->c->initial[b->key]);
}

bool iso_value_line_find_broken(iso_value_line *w) {
  w->broken.count = 0;
  w->steps += w->first[w->v->h->keys] + 1; /* looking in vain is work, too, and comes to an end */
  for (uint32_t key = 0; key < w->v->h->keys; key++) {
    uint32_t now = w->c->initial[key];
    for (uint32_t i = w->first[key]; i < w->first[key + 1]; i++) {
      const iso_value_access *a = &w->at[i];
      bool wrong = a->read != ISO_NO_CLASS && a->read != now;
      if (wrong && !iso_vec_push(&w->broken, ((iso_broken_read){a->txn, key}))) return false;
      if (a->write != ISO_NO_CLASS) now = a->write;
    }
  }
  return true;
}

/* ---- making ---- */

static int by_when(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Whoever takes part, in the order at hand. */
static bool make_order(iso_value_line *w, const int64_t *when) {
  uint32_t txns = w->v->h->txns;
  w->order = iso_alloc(txns, sizeof *w->order);
  w->pos = iso_alloc(txns, sizeof *w->pos);
  int64_t(*sorted)[2] = iso_alloc(txns, sizeof *sorted);
  bool made = w->order != NULL && w->pos != NULL && sorted != NULL;
  for (uint32_t txn = 0; made && txn < txns; txn++) {
    if (!w->v->counts[txn]) continue;
    sorted[w->count][0] = when[iso_event_commit(w->e, txn)];
    sorted[w->count++][1] = txn;
  }
  if (made) qsort(sorted, w->count, sizeof *sorted, by_when);
  for (uint32_t i = 0; made && i < w->count; i++) {
    w->order[i] = (uint32_t)sorted[i][1];
    w->pos[w->order[i]] = i;
  }
  free(sorted);
  return made;
}

static bool make_accesses(iso_value_line *w) {
  const iso_view *v = w->v;
  uint32_t keys = v->h->keys;
  size_t most = (size_t)v->write_first[v->h->txns] + w->c->reads.count;
  w->first = iso_alloc_zero((size_t)keys + 2, sizeof *w->first);
  w->at = iso_alloc(most, sizeof *w->at);
  w->state = iso_alloc(most, sizeof *w->state);
  w->cost = iso_alloc((size_t)w->count + 1, sizeof *w->cost);
  w->rests = iso_alloc_zero(v->h->txns, sizeof *w->rests);
  w->class_number = iso_alloc_zero(w->c->count, sizeof *w->class_number);
  w->key_number = iso_alloc_zero(keys, sizeof *w->key_number);
  if (w->class_number == NULL || w->key_number == NULL) return false;
  if (w->first == NULL || w->at == NULL || w->state == NULL || w->cost == NULL || w->rests == NULL) return false;
  for (uint32_t i = 0; i < w->count; i++) {
    for (uint32_t at = 0, key; (key = iso_value_line_next_key(w, w->order[i], &at)) != ISO_NO_MORE_KEYS;)
      w->first[key + 2]++;
  }
  for (uint32_t key = 0; key < keys; key++) w->first[key + 2] += w->first[key + 1];
  for (uint32_t i = 0; i < w->count; i++) {
    uint32_t txn = w->order[i];
    for (uint32_t at = 0, key; (key = iso_value_line_next_key(w, txn, &at)) != ISO_NO_MORE_KEYS;) {
      iso_value_access a = {.txn = txn, .read = read_of(w, txn, key), .write = ISO_NO_CLASS, .weight = 1};
      if (iso_view_writes(v, txn, key)) a.write = w->c->of_write[iso_view_slot(v, txn, key)];
      w->at[w->first[key + 1]++] = a;
    }
  }
  return true;
}

/* Who comes right before and right after each transaction in its session */
static bool make_neighbours(iso_value_line *w) {
  uint32_t txns = w->v->h->txns, last = ISO_NO_TXN;
  for (int side = 0; side < 2; side++) {
    w->near[side] = iso_alloc(txns, sizeof **w->near);
    if (w->near[side] == NULL) return false;
    memset(w->near[side], 0xff, txns * sizeof **w->near);
  }
  for (uint32_t txn = 0; txn < txns; txn++) {
    if (!w->v->counts[txn]) continue;
    if (last != ISO_NO_TXN && w->e->chain_of[last] == w->e->chain_of[txn]) {
      w->near[0][txn] = last;
      w->near[1][last] = txn;
    }
    last = txn;
  }
  return true;
}

/* When each transaction ended, where that counts. */
static bool make_ends(iso_value_line *w) {
  const iso_event_graph *e = w->e;
  if (e->tick_before == NULL) return true;
  w->ends = iso_alloc(w->v->h->txns, sizeof *w->ends);
  if (w->ends == NULL) return false;
  memset(w->ends, 0xff, w->v->h->txns * sizeof *w->ends);
  for (uint32_t tick = 0; tick < e->ticks; tick++) {
    for (uint32_t i = e->ended_first[tick]; i < e->ended_first[tick + 1]; i++) w->ends[e->ended[i]] = tick;
  }
  return true;
}

void iso_value_line_free(iso_value_line *w) {
  free(w->ends);
  for (int side = 0; side < 2; side++) free(w->near[side]);
  free(w->order);
  free(w->pos);
  free(w->first);
  free(w->at);
  free(w->cost);
  free(w->state);
  free(w->rests);
  free(w->class_number);
  free(w->key_number);
  iso_vec_free(&w->broken);
  iso_vec_free(&w->fresh);
}

isoproof_status iso_value_line_make(const iso_event_graph *e, const iso_value_classes *classes, const int64_t *when,
                                    iso_value_line *w, isoproof_error *error) {
  *w = (iso_value_line){.e = e, .v = e->view, .c = classes};
  if (make_order(w, when) && make_accesses(w) && make_neighbours(w) && make_ends(w)) return ISOPROOF_OK;
  iso_value_line_free(w);
  return iso_fail_memory(error);
}
