/* Classes of versions by value, and a count of who overwrote them. */
#include "check/strong/open/open_classes.h"

#include <stdlib.h>

/* Versions of one value become one class. */
static void join_equal(const iso_open_reads *o, iso_value_classes *c) {
  const iso_view *v = o->view;
  for (uint32_t key = 0; key < v->h->keys; key++) {
    uint32_t first = v->writer_first[key], end = v->writer_first[key + 1];
    iso_value initial = iso_history_initial(v->h, key);
    for (uint32_t i = first; i < end; i++) {
      uint32_t slot = o->by_value[i];
      iso_value value = iso_open_version(o, key, slot + 1);
      if (value == initial) {
        c->of_write[slot] = c->initial[key];
      } else if (i > first && value == iso_open_version(o, key, o->by_value[i - 1] + 1)) {
        c->of_write[slot] = c->of_write[o->by_value[i - 1]];
      }
    }
  }
}

bool iso_open_class_of(const iso_open_reads *o, const iso_value_classes *c, const iso_open_read *read, uint32_t *of) {
  if (read->statement != NULL) return false;
  *of = c->initial[read->key];
  if (iso_open_fits(o, read, 0)) return true;
  if (read->first < read->end) *of = c->of_write[o->by_value[read->first]];
  return read->first < read->end;
}

isoproof_status iso_open_classes_make(const iso_open_reads *o, iso_value_classes *c, isoproof_error *error) {
  ISO_VEC(iso_class_read) reads = {.items = NULL};
  ISO_TRY(iso_value_classes_make(o->view, c, error));
  join_equal(o, c);
  bool made = true;
  for (size_t i = 0; i < o->reads.count && made; i++) {
    const iso_open_read *read = &o->reads.items[i];
    iso_class_read of = {.txn = read->txn, .key = read->key};
    if (!iso_is_optional(o->doubt, read->txn) && iso_open_class_of(o, c, read, &of.of)) made = iso_vec_push(&reads, of);
  }
  isoproof_status status = made ? ISOPROOF_OK : iso_fail_memory(error);
  if (made) status = iso_value_classes_read(o->view, reads.items, reads.count, c, error);
  iso_vec_free(&reads);
  if (status != ISOPROOF_OK) iso_value_classes_free(c);
  return status;
}

/* Marks the open reads that show a value of the class. */
static void mark_class(const iso_open_reads *o, const iso_value_classes *c, uint32_t class, uint8_t *core) {
  for (size_t i = 0; i < o->reads.count; i++) {
    uint32_t of;
    if (iso_open_class_of(o, c, &o->reads.items[i], &of) && of == class) core[i] = 1;
  }
}

isoproof_status iso_open_lacks_versions(const iso_open_reads *o, bool *lacks, uint8_t *core, isoproof_error *error) {
  const iso_view *v = o->view;
  iso_value_classes c;
  ISO_TRY(iso_open_classes_make(o, &c, error));
  int64_t *versions = iso_alloc_zero(c.count, sizeof *versions);
  for (uint32_t key = 0; versions != NULL && key < v->h->keys; key++) versions[c.initial[key]]++;
  for (uint32_t i = 0; versions != NULL && i < v->write_first[v->h->txns]; i++) versions[c.of_write[i]]++;
  *lacks = false;
  for (size_t i = 0; versions != NULL && i < c.reads.count && !*lacks; i++) {
    const iso_class_read *read = &c.reads.items[i];
    if (iso_is_optional(o->doubt, read->txn) || !read->updates || --versions[read->of] >= 0) continue;
    *lacks = true;
    mark_class(o, &c, read->of, core);
  }
  bool made = versions != NULL;
  free(versions);
  iso_value_classes_free(&c);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}
