/* An order of whole transactions with their accesses by key: made, moved, and what it breaks. */
#include "check/order/value_line.h"

#include <stdlib.h>
#include <string.h>

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

uint32_t iso_value_line_class(const iso_value_line *w, uint32_t key, uint32_t at) {
  while (at > w->first[key] && w->at[at - 1].write == ISO_NO_CLASS) at--;
  return at > w->first[key] ? w->at[at - 1].write : w->c->initial[key];
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

static void put(iso_value_line *w, uint32_t at, const iso_value_access *a) {
  w->at[at] = *a;
  w->txn_at[a->home] = at;
}

void iso_value_line_move(iso_value_line *w, uint32_t txn, uint32_t place) {
  uint32_t from = w->pos[txn];
  for (uint32_t k = w->txn_first[txn]; k < w->txn_first[txn + 1]; k++) {
    uint32_t key = w->txn_key[k], i = w->txn_at[k], left = i;
    iso_value_access mine = w->at[i];
    for (; i > w->first[key] && place < from && w->pos[w->at[i - 1].txn] >= place; i--) put(w, i, &w->at[i - 1]);
    for (; i + 1 < w->first[key + 1] && place > from && w->pos[w->at[i + 1].txn] <= place; i++) {
      put(w, i, &w->at[i + 1]);
    }
    put(w, i, &mine);
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
  for (uint32_t i = 0; i < count; i++) w->txn_at[a[i].home] = w->first[key] + i;
}

/* Puts everybody where the best order has them. */
void iso_value_line_set(iso_value_line *w, const uint32_t *best) {
  memcpy(w->order, best, w->count * sizeof *best);
  for (uint32_t i = 0; i < w->count; i++) w->pos[best[i]] = i;
  for (uint32_t key = 0; key < w->v->h->keys; key++) sort_accesses(w, key);
}

/* ---- what is broken ---- */

bool iso_value_line_is_broken(const iso_value_line *w, const iso_broken_read *b) {
  uint32_t mine = iso_value_line_find(w, b->key, b->txn);
  return w->at[mine].read != iso_value_line_class(w, b->key, mine);
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

/* The keys of each transaction, once each; `seen`, by key, is zero. */
static void list_keys(iso_value_line *w, uint32_t *seen) {
  const iso_view *v = w->v;
  const iso_value_classes *c = w->c;
  uint32_t count = 0;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    w->txn_first[txn] = count;
    if (!v->counts[txn]) continue;
    for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
      seen[v->write_key[i]] = txn + 1;
      w->txn_key[count++] = v->write_key[i];
    }
    for (uint32_t i = c->read_first[txn]; i < c->read_first[txn + 1]; i++) {
      uint32_t key = c->reads.items[i].key;
      if (seen[key] == txn + 1) continue;
      seen[key] = txn + 1;
      w->txn_key[count++] = key;
    }
  }
  w->txn_first[v->h->txns] = count;
}

/* The accesses of a transaction, behind those that are there: `home`, by key, becomes what the key's number is. */
static void add_accesses(iso_value_line *w, uint32_t txn, uint32_t *home) {
  const iso_value_classes *c = w->c;
  uint32_t write = w->v->write_first[txn], writes_end = w->v->write_first[txn + 1];
  for (uint32_t k = w->txn_first[txn]; k < w->txn_first[txn + 1]; k++, write++) {
    uint32_t key = w->txn_key[k], at = w->first[key + 1]++;
    uint32_t written = write < writes_end ? c->of_write[write] : ISO_NO_CLASS;
    home[key] = k;
    w->txn_at[k] = at;
    w->at[at] = (iso_value_access){.txn = txn, .read = ISO_NO_CLASS, .write = written, .weight = 1, .home = k};
  }
  for (uint32_t i = c->read_first[txn]; i < c->read_first[txn + 1]; i++) {
    iso_value_access *a = &w->at[w->txn_at[home[c->reads.items[i].key]]];
    if (a->read == ISO_NO_CLASS) a->read = c->reads.items[i].of;
  }
}

static bool allocate(iso_value_line *w) {
  const iso_view *v = w->v;
  uint32_t keys = v->h->keys, txns = v->h->txns;
  size_t most = (size_t)v->write_first[txns] + w->c->reads.count;
  w->first = iso_alloc_zero((size_t)keys + 2, sizeof *w->first);
  w->at = iso_alloc(most, sizeof *w->at);
  w->state = iso_alloc(most, sizeof *w->state);
  w->txn_first = iso_alloc((size_t)txns + 1, sizeof *w->txn_first);
  w->txn_key = iso_alloc(most, sizeof *w->txn_key);
  w->txn_at = iso_alloc(most, sizeof *w->txn_at);
  w->cost = iso_alloc((size_t)w->count + 1, sizeof *w->cost);
  w->rests = iso_alloc_zero(txns, sizeof *w->rests);
  w->class_number = iso_alloc_zero(w->c->count, sizeof *w->class_number);
  w->key_number = iso_alloc_zero(keys, sizeof *w->key_number);
  return w->first != NULL && w->at != NULL && w->state != NULL && w->txn_first != NULL && w->txn_key != NULL &&
         w->txn_at != NULL && w->cost != NULL && w->rests != NULL && w->class_number != NULL && w->key_number != NULL;
}

static bool make_accesses(iso_value_line *w) {
  uint32_t keys = w->v->h->keys;
  if (!allocate(w)) return false;
  uint32_t *of_key = iso_alloc_zero(keys, sizeof *of_key);
  if (of_key == NULL) return false;
  list_keys(w, of_key);
  for (uint32_t k = 0; k < w->txn_first[w->v->h->txns]; k++) w->first[w->txn_key[k] + 2]++;
  for (uint32_t key = 0; key < keys; key++) w->first[key + 2] += w->first[key + 1];
  for (uint32_t i = 0; i < w->count; i++) add_accesses(w, w->order[i], of_key);
  free(of_key);
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
  free(w->txn_first);
  free(w->txn_key);
  free(w->txn_at);
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
