/* Items on a line and their accesses by key: made from a view, kept in order, moved. */
#include "check/order/choices.h"

#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

static void count_accesses(const iso_view *v, bool begins, uint32_t *first) {
  uint32_t txns = v->h->txns;
  for (uint32_t i = 0; i < v->read_first[txns]; i++) first[v->reads[i].key + 1]++;
  for (uint32_t i = 0; i < v->write_first[txns]; i++) first[v->write_key[i] + 1] += 1 + begins;
}

/* One access per item and key: a transaction that reads and writes a key in whole mode does both at once. */
static iso_access *access_of(const iso_line *l, uint32_t *fill, uint32_t key, uint32_t item, uint32_t what) {
  iso_access *last = &l->accesses[fill[key]];
  if (fill[key] > l->first[key] && last[-1].item == item) {
    last[-1].what |= what;
    return last - 1;
  }
  *last = (iso_access){.item = item, .source = ISO_NO_EVENT, .weight = 1, .what = what};
  fill[key]++;
  return last;
}

static void fill_accesses(const iso_line *l, uint32_t *fill) {
  const iso_view *v = l->e->view;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    uint32_t reads = iso_line_reading(l, txn), writes = iso_event_commit(l->e, txn);
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      iso_access *a = access_of(l, fill, v->reads[i].key, reads, ISO_READS);
      if (v->reads[i].from != ISO_INITIAL) a->source = iso_event_commit(l->e, v->reads[i].from);
      if (l->choices != NULL && l->choices->wanted[i] != ISO_NO_CLASS) a->what |= ISO_IS_OPEN;
    }
    for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
      if (l->exclusive) (void)access_of(l, fill, v->write_key[i], reads, ISO_BEGINS);
      access_of(l, fill, v->write_key[i], writes, ISO_WRITES)->readers = l->write_readers[i];
    }
  }
}

/* Closes the gaps that accesses in one left. */
static void pack_accesses(iso_line *l, const uint32_t *fill) {
  uint32_t keys = l->e->view->h->keys, kept = 0;
  for (uint32_t key = 0; key < keys; key++) {
    uint32_t count = fill[key] - l->first[key];
    memmove(l->accesses + kept, l->accesses + l->first[key], count * sizeof *l->accesses);
    l->first[key] = kept;
    kept += count;
  }
  l->first[keys] = kept;
}

/* From counts, one further on, to where each part begins. */
static void add_up(uint32_t *first, uint32_t parts) {
  for (uint32_t i = 0; i < parts; i++) first[i + 1] += first[i];
}

/* Filling moved each beginning to the next one. */
static void set_back(uint32_t *first, uint32_t parts) {
  memmove(first + 1, first, parts * sizeof *first);
  first[0] = 0;
}

static void index_items(iso_line *l) {
  uint32_t keys = l->e->view->h->keys, items = l->e->txn_events;
  for (uint32_t i = 0; i < l->first[keys]; i++) l->item_first[l->accesses[i].item + 1]++;
  add_up(l->item_first, items);
  for (uint32_t key = 0; key < keys; key++) {
    for (uint32_t i = l->first[key]; i < l->first[key + 1]; i++) {
      l->accesses[i].home = l->item_first[l->accesses[i].item]++;
      l->item_key[l->accesses[i].home] = key;
    }
  }
  set_back(l->item_first, items);
}

static void index_readers(iso_line *l) {
  const iso_view *v = l->e->view;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) l->readers[i].txn = txn;
  }
  for (uint32_t i = v->read_first[v->h->txns]; i-- > 0;) { /* so that lists are ascending */
    const iso_external_read *read = &v->reads[i];
    if (read->from == ISO_INITIAL) continue;
    l->readers[i].next = l->reader_first[read->from];
    l->reader_first[read->from] = i + 1;
    uint32_t slot = iso_view_slot(v, read->from, read->key);
    if (slot < v->write_first[read->from + 1]) l->write_readers[slot]++;
  }
}

/* The item that an event belongs to; ISO_NO_EVENT for a tick. */
static uint32_t item_of(const iso_line *l, uint32_t event) {
  uint32_t txn = iso_event_txn(l->e, event);
  if (txn == ISO_NO_TXN) return ISO_NO_EVENT;
  return l->whole ? iso_event_commit(l->e, txn) : event;
}

static void index_chosen(iso_line *l) {
  const iso_event_graph *e = l->e;
  for (size_t i = 0; i < e->derived.count; i++) {
    uint32_t from = item_of(l, e->derived.items[i].from);
    if (from != ISO_NO_EVENT) l->chosen_first[from + 1]++;
  }
  add_up(l->chosen_first, e->txn_events);
  for (size_t i = 0; i < e->derived.count; i++) {
    uint32_t from = item_of(l, e->derived.items[i].from);
    if (from != ISO_NO_EVENT) l->chosen[l->chosen_first[from]++] = item_of(l, e->derived.items[i].to);
  }
  set_back(l->chosen_first, e->txn_events);
}

static bool allocate(iso_line *l) {
  const iso_view *v = l->e->view;
  uint32_t keys = v->h->keys, txns = v->h->txns, items = l->e->txn_events;
  l->first = iso_alloc_zero((size_t)keys + 1, sizeof *l->first);
  l->item_first = iso_alloc_zero((size_t)items + 1, sizeof *l->item_first);
  l->reader_first = iso_alloc_zero(txns, sizeof *l->reader_first);
  l->readers = iso_alloc(v->read_first[txns], sizeof *l->readers);
  l->write_readers = iso_alloc_zero(v->write_first[txns], sizeof *l->write_readers);
  l->chosen_first = iso_alloc_zero((size_t)items + 1, sizeof *l->chosen_first);
  l->chosen = iso_alloc(l->e->derived.count, sizeof *l->chosen);
  l->touched_as = iso_alloc_zero(keys, sizeof *l->touched_as);
  l->noted = iso_alloc_zero(keys, sizeof *l->noted);
  l->touched = iso_alloc(keys, sizeof *l->touched);
  if (l->first == NULL || l->item_first == NULL || l->reader_first == NULL || l->readers == NULL ||
      l->write_readers == NULL || l->chosen_first == NULL || l->chosen == NULL || l->touched_as == NULL ||
      l->noted == NULL || l->touched == NULL) {
    return false;
  }
  count_accesses(v, l->exclusive, l->first);
  add_up(l->first, keys);
  l->accesses = iso_alloc(l->first[keys], sizeof *l->accesses);
  l->item_key = iso_alloc(l->first[keys], sizeof *l->item_key);
  l->item_at = iso_alloc(l->first[keys], sizeof *l->item_at);
  return l->accesses != NULL && l->item_key != NULL && l->item_at != NULL;
}

/* ---- places ---- */

typedef struct {
  double place;
  uint32_t item;
} standing;

static int by_place(const void *a, const void *b) {
  const standing *x = a, *y = b;
  if (x->place != y->place) return x->place < y->place ? -1 : 1;
  return (x->item > y->item) - (x->item < y->item);
}

bool iso_line_renumber(iso_line *l) {
  standing *all = iso_alloc(l->e->txn_events, sizeof *all);
  if (all == NULL) return false;
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->e->txn_events; i++) {
    if (iso_event_counts(l->e, i) && item_of(l, i) == i) all[count++] = (standing){l->place[i], i};
  }
  qsort(all, count, sizeof *all, by_place);
  for (uint32_t i = 0; i < count; i++) l->place[all[i].item] = i;
  free(all);
  return true;
}

static bool sort_accesses(iso_line *l) {
  uint32_t keys = l->e->view->h->keys, most = 0;
  for (uint32_t key = 0; key < keys; key++) {
    if (l->first[key + 1] - l->first[key] > most) most = l->first[key + 1] - l->first[key];
  }
  standing *order = iso_alloc(most, sizeof *order);
  iso_access *old = iso_alloc(most, sizeof *old);
  bool made = order != NULL && old != NULL;
  for (uint32_t key = 0; made && key < keys; key++) {
    iso_access *a = l->accesses + l->first[key];
    uint32_t count = l->first[key + 1] - l->first[key];
    for (uint32_t i = 0; i < count; i++) order[i] = (standing){l->place[a[i].item], i};
    qsort(order, count, sizeof *order, by_place); /* no two at one place: they were just numbered */
    memcpy(old, a, count * sizeof *a);
    for (uint32_t i = 0; i < count; i++) {
      a[i] = old[order[i].item];
      l->item_at[a[i].home] = l->first[key] + i;
    }
  }
  free(order);
  free(old);
  return made;
}

static void touch(iso_line *l, uint32_t key) {
  if (l->touched_as[key] > 0) return;
  l->touched[l->touched_count++] = key;
  l->touched_as[key] = l->touched_count;
}

/* Notes that an access moved, or was passed; when that is true of a good part of its key, it does not matter which. */
static void note(iso_line *l, uint32_t key, iso_access *a) {
  enum { PART = 8 };
  uint32_t *noted = &l->noted[key];
  if (*noted == ISO_ALL_MOVED || (a->what & ISO_IS_NOTED) != 0) return;
  if (*noted >= (l->first[key + 1] - l->first[key]) / PART || !iso_vec_push(&l->moved, ((iso_moved){key, a->item}))) {
    *noted = ISO_ALL_MOVED;
    return;
  }
  a->what |= ISO_IS_NOTED;
  *noted += 1;
}

void iso_line_note(iso_line *l, uint32_t key, uint32_t at) {
  touch(l, key);
  note(l, key, &l->accesses[at]);
}

void iso_line_touch_all(iso_line *l) {
  for (uint32_t key = 0; key < l->e->view->h->keys; key++) {
    touch(l, key);
    l->noted[key] = ISO_ALL_MOVED;
  }
}

bool iso_line_restore(iso_line *l, const double *place) {
  const iso_view *v = l->e->view;
  uint32_t keys = l->e->view->h->keys;
  iso_choices_restore(l);
  memcpy(l->place, place, l->e->txn_events * sizeof *place);
  iso_line_touch_all(l);
  for (uint32_t key = 0; key < keys; key++) {
    for (uint32_t i = l->first[key]; i < l->first[key + 1]; i++) {
      iso_access *a = &l->accesses[i];
      a->weight = 1;
      if (a->what & ISO_WRITES) a->readers = l->write_readers[iso_view_slot(v, iso_event_txn(l->e, a->item), key)];
    }
  }
  return sort_accesses(l);
}

isoproof_status iso_line_make(const iso_event_graph *e, bool whole, bool exclusive, double *place,
                              iso_line_choices *choices, iso_line *l, isoproof_error *error) {
  *l = (iso_line){.e = e, .whole = whole, .exclusive = exclusive, .place = place, .choices = choices};
  uint32_t keys = e->view->h->keys;
  uint32_t *fill = iso_alloc((size_t)keys + 1, sizeof *fill);
  bool made = fill != NULL && allocate(l);
  if (made) {
    memcpy(fill, l->first, keys * sizeof *fill);
    index_readers(l);
    fill_accesses(l, fill);
    pack_accesses(l, fill);
    index_items(l);
    index_chosen(l);
    made = iso_line_renumber(l) && sort_accesses(l);
    iso_line_touch_all(l);
  }
  free(fill);
  if (made) return ISOPROOF_OK;
  iso_line_free(l);
  return iso_fail_memory(error);
}

void iso_line_free(iso_line *l) {
  free(l->first);
  free(l->accesses);
  free(l->item_first);
  free(l->item_key);
  free(l->item_at);
  free(l->reader_first);
  free(l->readers);
  free(l->write_readers);
  free(l->chosen_first);
  free(l->chosen);
  free(l->touched_as);
  free(l->touched);
  free(l->noted);
  iso_vec_free(&l->moved);
  memset(l, 0, sizeof *l);
}

/* ---- moving ---- */

/* Of two at one place the one with the smaller number comes first, here and in a sort. */
static bool stands_before(const iso_line *l, uint32_t other, uint32_t item, double place) {
  double stands = l->place[other];
  return stands != place ? stands < place : other < item;
}

uint32_t iso_line_find(const iso_line *l, uint32_t key, uint32_t item) {
  uint32_t low = l->item_first[item], high = l->item_first[item + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (l->item_key[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return l->item_at[low];
}

static void put(iso_line *l, uint32_t at, const iso_access *a) {
  l->accesses[at] = *a;
  l->item_at[a->home] = at;
}

int32_t iso_line_move(iso_line *l, uint32_t item, double place) {
  int32_t more = 0;
  for (uint32_t k = l->item_first[item]; k < l->item_first[item + 1]; k++) {
    uint32_t key = l->item_key[k], at = l->item_at[k], from = at;
    iso_access mine = l->accesses[at];
    touch(l, key);
    for (; at + 1 < l->first[key + 1] && stands_before(l, l->accesses[at + 1].item, item, place); at++) {
      more += iso_line_passing(&mine, &l->accesses[at + 1]);
      put(l, at, &l->accesses[at + 1]);
      if (mine.what & ISO_WRITES) note(l, key, &l->accesses[at]);
    }
    for (; at > l->first[key] && !stands_before(l, l->accesses[at - 1].item, item, place); at--) {
      more -= iso_line_passing(&mine, &l->accesses[at - 1]);
      put(l, at, &l->accesses[at - 1]);
      if (mine.what & ISO_WRITES) note(l, key, &l->accesses[at]);
    }
    if (at != from) note(l, key, &mine);
    put(l, at, &mine);
    l->steps += 4 + (at > from ? at - from : from - at);
  }
  l->place[item] = place;
  return more;
}

int32_t iso_line_change(const iso_line *l, uint32_t item, double place, const uint32_t *mark, uint32_t group,
                        uint64_t *steps) {
  enum { AHEAD = 4 };
  int32_t more = 0;
  bool right = place > l->place[item];
  const iso_access *a = l->accesses;
  uint32_t last = l->item_first[item + 1];
  for (uint32_t k = l->item_first[item]; k < last; k++) {
    uint32_t key = l->item_key[k], at = l->item_at[k], from = at;
    const iso_access *mine = &a[at];
    if (k + AHEAD < last) __builtin_prefetch(&a[l->item_at[k + AHEAD]]);
    if (right) {
      for (uint32_t end = l->first[key + 1]; ++at < end && stands_before(l, a[at].item, item, place);) {
        if (mark[a[at].item] != group) more += iso_line_passing(mine, &a[at]);
      }
    } else {
      for (uint32_t first = l->first[key]; at > first && !stands_before(l, a[at - 1].item, item, place); at--) {
        if (mark[a[at - 1].item] != group) more -= iso_line_passing(mine, &a[at - 1]);
      }
    }
    *steps += 2 + (at > from ? at - from : from - at) / 2;
  }
  return more;
}

/* ---- neighbours ---- */

uint32_t iso_line_before(const iso_line *l, uint32_t item, uint64_t *at) {
  const iso_event_graph *e = l->e;
  uint32_t txn = iso_event_txn(e, item), event = l->whole ? iso_event_begin(e, txn) : item, before;
  while ((before = iso_next_before(e, event, at)) != ISO_NO_EVENT) {
    uint32_t other = item_of(l, before);
    if (other != ISO_NO_EVENT && other != item) return other;
  }
  return ISO_NO_EVENT;
}

/* The cursor: 0 the next one of its transaction or session; 1 << 32 | read + 1; 2 << 32 | chosen. */
uint32_t iso_line_after(const iso_line *l, uint32_t item, uint64_t *at) {
  const uint64_t readers = UINT64_C(1) << 32, chosen = UINT64_C(2) << 32;
  const iso_event_graph *e = l->e;
  const iso_view *v = e->view;
  uint32_t txn = iso_event_txn(e, item), next = txn + 1;
  bool is_commit = item == iso_event_commit(e, txn);
  if (*at == 0) {
    *at = is_commit ? readers | l->reader_first[txn] : chosen;
    if (!is_commit) return item + 1;
    while (next < v->h->txns && !v->counts[next] && e->chain_of[next] == e->chain_of[txn]) next++;
    if (next < v->h->txns && e->chain_of[next] == e->chain_of[txn]) return iso_line_reading(l, next);
  }
  if (*at < chosen && (uint32_t)*at > 0) {
    uint32_t read = (uint32_t)*at - 1;
    *at = readers | l->readers[read].next;
    return iso_line_reading(l, l->readers[read].txn);
  }
  if (*at < chosen) *at = chosen;
  for (;;) {
    uint64_t i = l->chosen_first[item] + (uint32_t)(*at)++;
    if (i >= l->chosen_first[item + 1]) return ISO_NO_EVENT;
    if (l->chosen[i] != ISO_NO_EVENT && l->chosen[i] != item) return l->chosen[i];
  }
}
