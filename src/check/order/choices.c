/* Which version of its class a read saw, changed while its transactions move. */
#include "check/order/choices.h"

/* The read of a key by an item. */
static uint32_t read_of(const iso_line *l, uint32_t key, uint32_t item) {
  const iso_view *v = l->e->view;
  uint32_t txn = iso_event_txn(l->e, item), read = v->read_first[txn];
  while (v->reads[read].key != key) read++;
  return read;
}

bool iso_choice_nearest(const iso_line *l, uint32_t key, uint32_t at, bool right, uint32_t *other) {
  enum { NEAR = 256 };
  const iso_access *a = l->accesses;
  const iso_line_choices *c = l->choices;
  uint32_t reader = iso_event_txn(l->e, a[at].item), wanted = c->wanted[read_of(l, key, a[at].item)];
  uint32_t first = l->first[key], end = l->first[key + 1];
  for (uint32_t looked = 0; looked < NEAR && (right ? at + 1 < end : at > first); looked++) {
    at = right ? at + 1 : at - 1;
    uint32_t writer = iso_event_txn(l->e, a[at].item);
    if ((a[at].what & ISO_WRITES) == 0 || writer == reader) continue;
    uint32_t slot = iso_view_slot(l->e->view, writer, key);
    *other = at;
    if (c->classes->of_write[slot] == wanted) return true;
  }
  *other = UINT32_MAX;
  return !right && at == first && c->classes->initial[key] == wanted;
}

/* Counts a reader of what an item wrote, or takes it away. */
static void count(iso_line *l, uint32_t key, uint32_t source, uint32_t weight, bool more) {
  if (source == ISO_NO_EVENT) return;
  uint32_t slot = iso_view_slot(l->e->view, iso_event_txn(l->e, source), key);
  iso_access *a = &l->accesses[iso_line_find(l, key, source)];
  l->write_readers[slot] += more ? 1 : UINT32_MAX;
  a->readers += more ? weight : -weight;
}

/* Takes a read out of the list of those of a transaction. */
static void unlink_read(iso_line *l, uint32_t txn, uint32_t read) {
  uint32_t *link = &l->reader_first[txn];
  while (*link != read + 1) link = &l->readers[*link - 1].next;
  *link = l->readers[read].next;
}

void iso_choice_switch(iso_line *l, uint32_t key, uint32_t item, uint32_t source) {
  uint32_t at = iso_line_find(l, key, item), read = read_of(l, key, item);
  iso_access *a = &l->accesses[at];
  iso_external_read *r = &l->choices->reads[read];
  if (a->source == source) return;
  count(l, key, a->source, a->weight, false);
  count(l, key, source, a->weight, true);
  a->source = source;
  if (r->from != ISO_INITIAL) unlink_read(l, r->from, read);
  r->from = ISO_INITIAL;
  if (source != ISO_NO_EVENT) {
    r->from = iso_event_txn(l->e, source);
    l->readers[read].next = l->reader_first[r->from];
    l->reader_first[r->from] = read + 1;
  }
  iso_line_note(l, key, at);
}

void iso_choices_keep(iso_line *l) {
  if (l->choices == NULL) return;
  for (uint32_t i = 0; i < l->choices->count; i++) l->choices->kept[i] = l->choices->reads[l->choices->open[i]].from;
}

void iso_choices_restore(iso_line *l) {
  if (l->choices == NULL) return;
  for (uint32_t i = 0; i < l->choices->count; i++) {
    const iso_external_read *read = &l->choices->reads[l->choices->open[i]];
    uint32_t from = l->choices->kept[i], source = from == ISO_INITIAL ? ISO_NO_EVENT : iso_event_commit(l->e, from);
    if (read->from == from) continue;
    iso_choice_switch(l, read->key, iso_line_reading(l, l->readers[l->choices->open[i]].txn), source);
  }
}
