/* Lost updates: of n transactions that read one version of a key and wrote the key, all but one lost something. */
#include "check/count/counting.h"

typedef struct {
  uint32_t version, txn, read;
} update;

typedef ISO_VEC(update) update_list;

static int by_version(const void *a, const void *b) {
  const update *x = a, *y = b;
  if (x->version != y->version) return x->version < y->version ? -1 : 1;
  if (x->txn != y->txn) return x->txn < y->txn ? -1 : 1;
  return (x->read > y->read) - (x->read < y->read);
}

/* The reads of the key by those who write it. */
static bool gather(iso_counting *c, uint32_t key, update_list *updates) {
  const iso_view *v = c->view;
  updates->count = 0;
  for (uint32_t i = v->reader_first[key]; i < v->reader_first[key + 1]; i++) {
    const struct iso_reader *reader = &v->readers[i];
    if (!iso_counting_step(c, 1)) return false;
    if (!iso_view_writes(v, reader->txn, key)) continue;
    if (!iso_vec_push(updates, ((update){v->reads[reader->read].from, reader->txn, reader->read}))) {
      c->status = ISOPROOF_ERR_MEMORY;
      return false;
    }
  }
  if (updates->count > 1) qsort(updates->items, updates->count, sizeof *updates->items, by_version);
  return true;
}

void iso_count_lost_updates(iso_counting *c) {
  update_list updates = {0};
  for (uint32_t key = 0; key < c->view->h->keys && gather(c, key, &updates); key++) {
    const update *first = updates.items;
    for (size_t i = 1; i < updates.count; i++) {
      const update *one = &updates.items[i], *last = one - 1;
      if (one->version != first->version) first = one;
      if (one->version != last->version || one->txn == last->txn) continue;
      iso_counting_add(c, (iso_occurrence){{first->txn, one->txn}, {first->read, one->read, 0, 0}});
    }
  }
  iso_vec_free(&updates);
}
