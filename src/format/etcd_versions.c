/* Versions by revision, and the revisions of operations whose answers were lost. */
#include "format/etcd_versions.h"

#include <stdlib.h>
#include <string.h>

iso_etcd_span iso_etcd_done(const iso_etcd_op *op) {
  if (op->refused) return (iso_etcd_span){0, 0};
  return op->failed ? op->failure : op->success;
}

bool iso_etcd_changes(const iso_etcd_record *r, const iso_etcd_op *op) {
  iso_etcd_span done = iso_etcd_done(op);
  for (size_t i = 0; i < done.count; i++) {
    const iso_etcd_item *item = &r->items.items[done.first + i];
    if (item->kind == ISO_ETCD_PUT) return true;
    if (item->kind == ISO_ETCD_DELETE && (op->lost || r->results.items[op->results.first + i].deleted > 0)) return true;
  }
  return false;
}

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b) {
  const iso_etcd_version *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->revision > y->revision) - (x->revision < y->revision);
}

static int by_value(const void *a, const void *b) {
  const iso_etcd_pair *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->revision > y->revision) - (x->revision < y->revision);
}

bool iso_etcd_is_made(const iso_etcd_versions *v, int64_t revision) {
  const int64_t *items = v->revisions.items;
  return v->revisions.count > 0 && bsearch(&revision, items, v->revisions.count, sizeof *items, by_number) != NULL;
}

static bool list_revisions(const iso_etcd_record *r, iso_etcd_versions *v) {
  v->revisions.count = 0;
  v->base = INT64_MAX;
  v->any = false;
  for (size_t i = 0; i < r->ops.count; i++) {
    const iso_etcd_op *op = &r->ops.items[i];
    if (op->revision <= 0 || op->refused) continue;
    bool changes = iso_etcd_changes(r, op);
    v->any = true;
    if (op->revision - changes < v->base) v->base = op->revision - changes;
    if (changes && !iso_vec_push(&v->revisions, op->revision)) return false;
  }
  if (v->revisions.count > 1) qsort(v->revisions.items, v->revisions.count, sizeof(int64_t), by_number);
  size_t kept = 0;
  for (size_t i = 0; i < v->revisions.count; i++) {
    if (kept == 0 || v->revisions.items[kept - 1] != v->revisions.items[i]) {
      v->revisions.items[kept++] = v->revisions.items[i];
    }
  }
  v->revisions.count = kept;
  return true;
}

/* A revision that nobody made, at which somebody saw what the operation put there. */
static int64_t shown_revision(const iso_etcd_record *r, const iso_etcd_op *op, iso_etcd_pair *seen, size_t count) {
  for (size_t i = 0; i < op->success.count; i++) {
    const iso_etcd_item *item = &r->items.items[op->success.first + i];
    if (item->kind != ISO_ETCD_PUT) continue;
    iso_etcd_pair wanted = {.key = item->key, .value = item->value, .revision = 0};
    size_t low = 0, high = count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (by_value(&seen[middle], &wanted) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (; low < count && seen[low].key == item->key && seen[low].value == item->value; low++) {
      if (seen[low].revision > 0) return seen[low].revision;
    }
  }
  return 0;
}

static isoproof_status find_lost(iso_etcd_record *r, const iso_etcd_versions *v, isoproof_error *error) {
  iso_etcd_pair *seen = iso_alloc(r->pairs.count, sizeof *seen);
  size_t count = 0;
  if (seen == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < r->pairs.count; i++) {
    if (!iso_etcd_is_made(v, r->pairs.items[i].revision)) seen[count++] = r->pairs.items[i];
  }
  if (count > 1) qsort(seen, count, sizeof *seen, by_value);
  for (size_t i = 0; i < r->ops.count; i++) {
    iso_etcd_op *op = &r->ops.items[i];
    if (!op->lost || op->revision > 0) continue;
    op->revision = shown_revision(r, op, seen, count);
    /* One revision belongs to one operation. */
    for (size_t k = 0; op->revision > 0 && k < count; k++) {
      if (seen[k].revision == op->revision) seen[k].revision = 0;
    }
  }
  free(seen);
  return ISOPROOF_OK;
}

static bool list_versions(const iso_etcd_record *r, iso_etcd_versions *v) {
  for (size_t i = 0; i < r->ops.count; i++) {
    const iso_etcd_op *op = &r->ops.items[i];
    iso_etcd_span done = iso_etcd_done(op);
    for (size_t k = 0; k < done.count && op->revision > 0; k++) {
      const iso_etcd_item *item = &r->items.items[done.first + k];
      bool deletes = item->kind == ISO_ETCD_DELETE;
      if (item->kind == ISO_ETCD_READ) continue;
      if (deletes && !op->lost && r->results.items[op->results.first + k].deleted == 0) continue;
      iso_etcd_version version = {item->key, item->value, op->revision, deletes};
      if (!iso_vec_push(&v->all, version)) return false;
    }
  }
  if (v->all.count > 1) qsort(v->all.items, v->all.count, sizeof *v->all.items, by_key);
  return true;
}

isoproof_status iso_etcd_versions_make(iso_etcd_record *record, iso_etcd_versions *versions, isoproof_error *error) {
  memset(versions, 0, sizeof *versions);
  bool made = list_revisions(record, versions);
  isoproof_status status = made ? find_lost(record, versions, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK && !(list_revisions(record, versions) && list_versions(record, versions))) {
    status = iso_fail_memory(error);
  }
  if (status != ISOPROOF_OK) iso_etcd_versions_free(versions);
  return status;
}

void iso_etcd_versions_free(iso_etcd_versions *versions) {
  iso_vec_free(&versions->all);
  iso_vec_free(&versions->revisions);
}

const iso_etcd_version *iso_etcd_version_at(const iso_etcd_versions *v, iso_value key, int64_t revision) {
  size_t low = 0, high = v->all.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const iso_etcd_version *at = &v->all.items[middle];
    if (at->key < key || (at->key == key && at->revision <= revision)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 && v->all.items[low - 1].key == key ? &v->all.items[low - 1] : NULL;
}
