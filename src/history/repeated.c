/* The versions that occur more than once, by sorting all that were written. */
#include "history/repeated.h"

#include <stdlib.h>

#include "base/vector.h"

static int by_version(const void *a, const void *b) {
  const iso_repeated_version *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

isoproof_status iso_repeated_find(const isoproof_history *h, iso_repeated *repeated, isoproof_error *error) {
  size_t count = 0, kept = 0;
  iso_repeated_version *all = iso_alloc(h->ops, sizeof *all);
  *repeated = (iso_repeated){.items = all};
  if (all == NULL) return iso_fail_memory(error);
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_WRITE) continue;
    all[count++] = (iso_repeated_version){h->op_key[op], iso_history_version(h, op)};
  }
  qsort(all, count, sizeof *all, by_version);
  iso_repeated_version last = {0};
  for (size_t i = 0; i < count; i++) {
    iso_repeated_version one = all[i];
    bool again = i > 0 && by_version(&one, &last) == 0;
    last = one;
    if (!again && one.value != iso_history_initial(h, one.key)) continue;
    *(one.value == ISO_VALUE_NIL ? &repeated->absences : &repeated->values) += 1;
    bool known = kept > 0 && by_version(&one, &all[kept - 1]) == 0;
    if (!known) all[kept++] = one;
  }
  repeated->count = kept;
  return ISOPROOF_OK;
}

void iso_repeated_free(iso_repeated *repeated) {
  free(repeated->items);
  *repeated = (iso_repeated){.items = NULL};
}

bool iso_repeated_has(const iso_repeated *repeated, uint32_t key, iso_value value) {
  iso_repeated_version wanted = {key, value};
  if (repeated->count == 0) return false;
  return bsearch(&wanted, repeated->items, repeated->count, sizeof wanted, by_version) != NULL;
}
