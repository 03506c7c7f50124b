/* names.c - classes, sizes and names of POP cycles. */
#include "coo/names.h"

#include <stdbool.h>

typedef struct row {
  unsigned number;
  size_t length, objects;
  isoproof_pop_kind first, second;
  const char *name;
} row;

static const row rows[] = {
#define COO_CASE(number, length, objects, first, second, name)                                                         \
  {number, length, objects, ISOPROOF_POP_##first, ISOPROOF_POP_##second, name},
#include "coo/names.def"
#undef COO_CASE
};

enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert((int)ROWS == (int)ISOPROOF_COO_NAMED, "the published table has 33 rows");

const char *isoproof_coo_class_name(isoproof_coo_class kind) {
  return kind == ISOPROOF_COO_CLASS_RAT ? "RAT" : kind == ISOPROOF_COO_CLASS_WAT ? "WAT" : "IAT";
}

const char *isoproof_coo_class_title(isoproof_coo_class kind) {
  return kind == ISOPROOF_COO_CLASS_RAT   ? "read anomaly: some read is dirty"
         : kind == ISOPROOF_COO_CLASS_WAT ? "write anomaly: some overwrite is dirty, no read is"
                                          : "intersect anomaly: nothing is dirty";
}

const char *isoproof_coo_size_name(isoproof_coo_size size) {
  return size == ISOPROOF_COO_SIZE_SDA ? "SDA" : size == ISOPROOF_COO_SIZE_DDA ? "DDA" : "MDA";
}

const char *isoproof_coo_size_title(isoproof_coo_size size) {
  return size == ISOPROOF_COO_SIZE_SDA   ? "two transactions, one object"
         : size == ISOPROOF_COO_SIZE_DDA ? "two transactions, two objects"
                                         : "more transactions";
}

isoproof_coo_class iso_coo_class(const isoproof_pop_kind *kinds, size_t length) {
  isoproof_coo_class found = ISOPROOF_COO_CLASS_IAT;
  for (size_t i = 0; i < length; i++) {
    if (kinds[i] == ISOPROOF_POP_WR) return ISOPROOF_COO_CLASS_RAT;
    if (kinds[i] == ISOPROOF_POP_WW) found = ISOPROOF_COO_CLASS_WAT;
  }
  return found;
}

isoproof_coo_size iso_coo_size(size_t length, size_t objects) {
  if (length != 2 || objects > 2) return ISOPROOF_COO_SIZE_MDA;
  return objects == 1 ? ISOPROOF_COO_SIZE_SDA : ISOPROOF_COO_SIZE_DDA;
}

/* A write that is rolled back after an overwrite is the same case as one that is committed then. */
static isoproof_pop_kind without_variant(isoproof_pop_kind kind) {
  return kind == ISOPROOF_POP_WA ? ISOPROOF_POP_WC : kind;
}

static bool is_uniform(const isoproof_pop_kind *kinds, size_t length) {
  for (size_t i = 1; i < length; i++) {
    if (kinds[i] != kinds[0]) return false;
  }
  return true;
}

unsigned iso_coo_name(const isoproof_pop_kind *kinds, size_t length, size_t objects, const char **name) {
  static const char *const steps[] = {[ISOPROOF_COO_CLASS_RAT] = "Step RAT",
                                      [ISOPROOF_COO_CLASS_WAT] = "Step WAT",
                                      [ISOPROOF_COO_CLASS_IAT] = "Step IAT"};
  isoproof_pop_kind second = without_variant(kinds[1]);
  for (size_t i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    if (r->length != length || r->objects != objects || r->first != kinds[0] || r->second != second) continue;
    if (length > 2 && !is_uniform(kinds, length)) continue;
    *name = r->name;
    return r->number;
  }
  if (length > 2)
    *name = steps[iso_coo_class(kinds, length)];
  else
    *name = isoproof_coo_class_name(iso_coo_class(kinds, length));
  return 0;
}
