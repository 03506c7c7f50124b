/* The reads of a history that do not say which version they saw, taken out of its resolution while a level is decided.
 */
#include <stdlib.h>
#include <string.h>

#include "check/strong/open/open_reads.h"
#include "history/resolve.h"

/* The versions of a history that several writes left, or that are initial as well. */
typedef struct {
  uint32_t key;
  iso_value value;
} version;

static int by_version(const void *a, const void *b) {
  const version *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

typedef struct {
  version *items; /* ascending */
  size_t count;
} versions;

/* Keeps one of each that is there more than once. */
static bool find_repeated(const isoproof_history *h, versions *repeated) {
  size_t count = 0, kept = 0;
  repeated->count = 0;
  version *all = iso_alloc(h->ops, sizeof *all);
  repeated->items = all;
  for (uint32_t op = 0; all != NULL && op < h->ops; op++) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE) all[count++] = (version){h->op_key[op], iso_history_version(h, op)};
  }
  if (all == NULL) return false;
  qsort(all, count, sizeof *all, by_version);
  for (size_t i = 0; i < count; i++) {
    bool again = i > 0 && by_version(&all[i], &all[i - 1]) == 0;
    bool initial = all[i].value == iso_history_initial(h, all[i].key);
    bool known = kept > 0 && by_version(&all[i], &all[kept - 1]) == 0;
    if ((again || initial) && !known) all[kept++] = all[i];
  }
  repeated->count = kept;
  return true;
}

static bool is_doubtful(const iso_doubt *d, const versions *repeated, uint32_t op) {
  const isoproof_history *h = d->history;
  iso_value value = h->op_value[op];
  if (h->op_kind[op] != ISOPROOF_OP_READ || value == ISO_VALUE_NONE || d->resolution->writer[op] == ISO_FROM_NOBODY) {
    return false;
  }
  bool open = value == ISO_VALUE_NIL || value == ISO_VALUE_UNMATCHED || value == ISO_VALUE_COUNTED;
  if (open && d->resolution->rows != NULL) return true;
  version wanted = {h->op_key[op], value};
  return repeated->count > 0 && bsearch(&wanted, repeated->items, repeated->count, sizeof wanted, by_version) != NULL;
}

/* Whether somebody of unknown outcome wrote: then it may have taken effect only because of an open read. */
static bool is_restricted(const isoproof_history *h) {
  for (uint32_t txn = 0; h->unknown > 0 && txn < h->txns; txn++) {
    if (h->txn_status[txn] != ISOPROOF_TXN_UNKNOWN) continue;
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      if (h->op_kind[op] == ISOPROOF_OP_WRITE) return true;
    }
  }
  return false;
}

isoproof_status iso_doubt_make(isoproof_history *history, isoproof_task *task, iso_doubt *d, isoproof_error *error) {
  memset(d, 0, sizeof *d);
  d->history = history;
  const iso_resolution *resolution;
  versions repeated = {.items = NULL};
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  ISO_TRY(iso_history_op_txns(history, &d->op_txn, error));
  d->resolution = history->resolution;
  bool made = resolution->counts.duplicate_writes == 0 || find_repeated(history, &repeated);
  for (uint32_t op = 0; made && op < history->ops; op++) {
    if (is_doubtful(d, &repeated, op)) {
      made = iso_vec_push(&d->reads, ((iso_doubt_read){op, d->resolution->writer[op]}));
    }
  }
  free(repeated.items);
  if (!made) {
    iso_vec_free(&d->reads);
    return iso_fail_memory(error);
  }
  for (size_t i = 0; i < d->reads.count; i++) d->resolution->writer[d->reads.items[i].op] = ISO_UNSETTLED;
  d->restricted = is_restricted(history);
  return ISOPROOF_OK;
}

void iso_doubt_end(iso_doubt *d, bool keep) {
  for (size_t i = 0; i < d->reads.count; i++) {
    const iso_doubt_read *read = &d->reads.items[i];
    uint32_t *writer = &d->resolution->writer[read->op];
    if (!keep || *writer == ISO_UNSETTLED) *writer = read->guessed;
  }
  iso_vec_free(&d->reads);
}
