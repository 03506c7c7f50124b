/* The reads of a history that do not say which version they saw, taken out of its resolution while a level is decided.
 */
#include <stdlib.h>
#include <string.h>

#include "check/strong/open/open_reads.h"
#include "history/repeated.h"
#include "history/resolve.h"

static bool is_doubtful(const iso_doubt *d, const iso_repeated *repeated, uint32_t op) {
  const isoproof_history *h = d->history;
  iso_value value = h->op_value[op];
  if (h->op_kind[op] != ISOPROOF_OP_READ || value == ISO_VALUE_NONE || d->resolution->writer[op] == ISO_FROM_NOBODY) {
    return false;
  }
  bool open = value == ISO_VALUE_NIL || value == ISO_VALUE_UNMATCHED || value == ISO_VALUE_COUNTED;
  if (open && d->resolution->rows != NULL) return true;
  return iso_repeated_has(repeated, h->op_key[op], value);
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
  iso_repeated repeated = {.items = NULL};
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  ISO_TRY(iso_history_op_txns(history, &d->op_txn, error));
  d->resolution = history->resolution;
  if (resolution->counts.duplicate_writes > 0) ISO_TRY(iso_repeated_find(history, &repeated, error));
  bool made = true;
  for (uint32_t op = 0; made && op < history->ops; op++) {
    if (is_doubtful(d, &repeated, op)) {
      made = iso_vec_push(&d->reads, ((iso_doubt_read){op, d->resolution->writer[op]}));
    }
  }
  iso_repeated_free(&repeated);
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
