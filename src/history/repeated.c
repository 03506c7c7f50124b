/* The versions that occur more than once, by sorting all that were written. */
#include "history/repeated.h"

#include <stdlib.h>

#include "base/vector.h"

typedef ISO_VEC(iso_repeated_version) version_list;

static int by_version(const void *a, const void *b) {
  const iso_repeated_version *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

/* Fills first[key] of keys + 1 and the values written to each key; false when memory is out. */
static bool list_values(const isoproof_history *h, uint32_t *first, iso_value **values) {
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) first[h->op_key[op] + 2]++;
  }
  for (uint32_t key = 0; key < h->keys; key++) first[key + 2] += first[key + 1];
  *values = iso_alloc(first[h->keys + 1], sizeof **values);
  if (*values == NULL) return false;
  for (uint32_t op = 0; op < h->ops; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) (*values)[first[h->op_key[op] + 1]++] = iso_history_version(h, op);
  }
  return true;
}

static int by_value(const void *a, const void *b) {
  const iso_value *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Adds the values of a key, ascending, that are there before or from the start. */
static bool add_repeated(const isoproof_history *h, uint32_t key, const iso_value *values, size_t count,
                         version_list *items, iso_repeated *repeated) {
  iso_value initial = iso_history_initial(h, key);
  bool known = false;
  for (size_t i = 0; i < count; i++) {
    bool again = i > 0 && values[i] == values[i - 1];
    known = known && again;
    if (!again && values[i] != initial) continue;
    *(values[i] == ISO_VALUE_NIL ? &repeated->absences : &repeated->values) += 1;
    if (!known && !iso_vec_push(items, ((iso_repeated_version){key, values[i]}))) return false;
    known = true;
  }
  return true;
}

isoproof_status iso_repeated_find(const isoproof_history *h, iso_repeated *repeated, isoproof_error *error) {
  version_list items = {.items = NULL};
  uint32_t *first = iso_alloc_zero((size_t)h->keys + 2, sizeof *first);
  iso_value *values = NULL;
  *repeated = (iso_repeated){.items = NULL};
  bool made = first != NULL && list_values(h, first, &values);
  for (uint32_t key = 0; made && key < h->keys; key++) {
    size_t count = first[key + 1] - first[key];
    if (count > 1) qsort(values + first[key], count, sizeof *values, by_value);
    made = add_repeated(h, key, values + first[key], count, &items, repeated);
  }
  free(first);
  free(values);
  repeated->items = items.items;
  repeated->count = items.count;
  if (made) return ISOPROOF_OK;
  iso_repeated_free(repeated);
  return iso_fail_memory(error);
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
