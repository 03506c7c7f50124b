/* Versions as classes, and reads of them by transaction. */
#include "check/order/value_classes.h"

#include <stdlib.h>
#include <string.h>

void iso_value_classes_free(iso_value_classes *c) {
  free(c->of_write);
  free(c->initial);
  free(c->read_first);
  iso_vec_free(&c->reads);
  memset(c, 0, sizeof *c);
}

isoproof_status iso_value_classes_make(const iso_view *v, iso_value_classes *c, isoproof_error *error) {
  uint32_t slots = v->write_first[v->h->txns];
  *c = (iso_value_classes){.count = slots + v->h->keys};
  c->of_write = iso_alloc(slots, sizeof *c->of_write);
  c->initial = iso_alloc(v->h->keys, sizeof *c->initial);
  c->read_first = iso_alloc((size_t)v->h->txns + 1, sizeof *c->read_first);
  if (c->of_write == NULL || c->initial == NULL || c->read_first == NULL) {
    iso_value_classes_free(c);
    return iso_fail_memory(error);
  }
  for (uint32_t i = 0; i < slots; i++) c->of_write[i] = i;
  for (uint32_t key = 0; key < v->h->keys; key++) c->initial[key] = slots + key;
  return ISOPROOF_OK;
}

/* Adds a read, unless the transaction has one of that class. */
static bool add(iso_value_classes *c, const iso_view *v, iso_class_read read) {
  for (size_t i = c->read_first[read.txn]; i < c->reads.count; i++) {
    if (c->reads.items[i].of == read.of) return true;
  }
  read.updates = iso_view_writes(v, read.txn, read.key);
  return iso_vec_push(&c->reads, read);
}

/* The class of what a read of the view saw. */
static uint32_t class_of(const iso_value_classes *c, const iso_view *v, const iso_external_read *read) {
  if (read->from == ISO_INITIAL) return c->initial[read->key];
  uint32_t slot = iso_view_slot(v, read->from, read->key);
  bool wrote = slot < v->write_first[read->from + 1] && v->write_key[slot] == read->key;
  return wrote ? c->of_write[slot] : c->initial[read->key];
}

isoproof_status iso_value_classes_read(const iso_view *v, const iso_class_read *others, size_t count,
                                       iso_value_classes *c, isoproof_error *error) {
  bool made = true;
  size_t at = 0;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    c->read_first[txn] = (uint32_t)c->reads.count;
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1] && made; i++) {
      uint32_t key = v->reads[i].key;
      made = add(c, v, (iso_class_read){.txn = txn, .key = key, .of = class_of(c, v, &v->reads[i])});
    }
    for (; at < count && others[at].txn == txn && made; at++) made = add(c, v, others[at]);
  }
  c->read_first[v->h->txns] = (uint32_t)c->reads.count;
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}
