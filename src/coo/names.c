/* names.c - classes, sizes and names of POP cycles. */
#include "coo/names.h"

#include <stdbool.h>

typedef struct row {
  unsigned number;
  size_t length, objects;
  isolde_pop_kind first, second;
  const char *name;
} row;

static const row rows[] = {
#define COO_CASE(number, length, objects, first, second, name)                                                         \
  {number, length, objects, ISOLDE_POP_##first, ISOLDE_POP_##second, name},
#include "coo/names.def"
#undef COO_CASE
};

enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert((int)ROWS == (int)ISOLDE_COO_NAMED, "the published table has 33 rows");

const char *isolde_anomaly_class_name(isolde_anomaly_class kind) {
  return kind == ISOLDE_CLASS_RAT ? "RAT" : kind == ISOLDE_CLASS_WAT ? "WAT" : "IAT";
}

const char *isolde_anomaly_class_title(isolde_anomaly_class kind) {
  return kind == ISOLDE_CLASS_RAT   ? "read anomaly: some read is dirty"
         : kind == ISOLDE_CLASS_WAT ? "write anomaly: some overwrite is dirty, no read is"
                                    : "intersect anomaly: nothing is dirty";
}

const char *isolde_anomaly_size_name(isolde_anomaly_size size) {
  return size == ISOLDE_SIZE_SDA ? "SDA" : size == ISOLDE_SIZE_DDA ? "DDA" : "MDA";
}

const char *isolde_anomaly_size_title(isolde_anomaly_size size) {
  return size == ISOLDE_SIZE_SDA   ? "two transactions, one object"
         : size == ISOLDE_SIZE_DDA ? "two transactions, two objects"
                                   : "more transactions";
}

isolde_anomaly_class iso_coo_class(const isolde_pop_kind *kinds, size_t length) {
  isolde_anomaly_class found = ISOLDE_CLASS_IAT;
  for (size_t i = 0; i < length; i++) {
    if (kinds[i] == ISOLDE_POP_WR) return ISOLDE_CLASS_RAT;
    if (kinds[i] == ISOLDE_POP_WW) found = ISOLDE_CLASS_WAT;
  }
  return found;
}

isolde_anomaly_size iso_coo_size(size_t length, size_t objects) {
  if (length != 2 || objects > 2) return ISOLDE_SIZE_MDA;
  return objects == 1 ? ISOLDE_SIZE_SDA : ISOLDE_SIZE_DDA;
}

/* A write that is rolled back after an overwrite is the same case as one that is committed then. */
static isolde_pop_kind without_variant(isolde_pop_kind kind) { return kind == ISOLDE_POP_WA ? ISOLDE_POP_WC : kind; }

static bool is_uniform(const isolde_pop_kind *kinds, size_t length) {
  for (size_t i = 1; i < length; i++) {
    if (kinds[i] != kinds[0]) return false;
  }
  return true;
}

unsigned iso_coo_name(const isolde_pop_kind *kinds, size_t length, size_t objects, const char **name) {
  static const char *const steps[] = {
      [ISOLDE_CLASS_RAT] = "Step RAT", [ISOLDE_CLASS_WAT] = "Step WAT", [ISOLDE_CLASS_IAT] = "Step IAT"};
  isolde_pop_kind second = without_variant(kinds[1]);
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
    *name = isolde_anomaly_class_name(iso_coo_class(kinds, length));
  return 0;
}
