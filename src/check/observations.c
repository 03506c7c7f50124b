/* Goes through the reads of repeated versions. */
#include "check/observations.h"

#include <stdlib.h>

#include "base/vector.h"
#include "graph/edge.h"
#include "history/effect.h"
#include "history/repeated.h"
#include "history/resolve.h"

typedef struct {
  const isoproof_history *h;
  const iso_resolution *resolution;
  const uint32_t *op_txn;
  iso_repeated repeated;
  ISO_VEC(isoproof_edge) edges;
} lister;

static bool list_txn(lister *l, uint32_t txn) {
  const isoproof_history *h = l->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] != ISOPROOF_OP_READ || !iso_repeated_has(&l->repeated, h->op_key[op], h->op_value[op])) continue;
    uint32_t write = l->resolution->writer[op];
    bool initial = write == ISO_FROM_INITIAL;
    if (!initial && (write >= h->ops || l->op_txn[write] == txn)) continue;
    isoproof_edge edge = {.kind = iso_edge_name(ISO_EDGE_WR),
                          .from_txn = initial ? ISOPROOF_INITIAL_TXN : l->op_txn[write],
                          .to_txn = txn,
                          .from_op = initial ? ISOPROOF_NO_NUMBER : write,
                          .to_op = op,
                          .has_key = true,
                          .key = iso_history_scalar(h, h->key_name[h->op_key[op]])};
    if (!iso_vec_push(&l->edges, edge)) return false;
  }
  return true;
}

static isoproof_status list(lister *l, isoproof_history *history, isoproof_task *task, isoproof_error *error) {
  uint8_t *counts;
  bool made = true;
  ISO_TRY(iso_history_op_txns(history, &l->op_txn, error));
  ISO_TRY(iso_repeated_find(history, &l->repeated, error));
  ISO_TRY(iso_history_effect(history, task, &counts, error));
  for (uint32_t txn = 0; made && txn < history->txns; txn++) made = !counts[txn] || list_txn(l, txn);
  free(counts);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_observations_list(isoproof_history *history, isoproof_task *task, isoproof_edge **observed,
                                      size_t *count, isoproof_error *error) {
  lister l = {.h = history};
  *observed = NULL;
  *count = 0;
  ISO_TRY(iso_history_resolve(history, task, &l.resolution, error));
  if (l.resolution->counts.duplicate_writes == 0 && l.resolution->open_reads == 0) return ISOPROOF_OK;
  isoproof_status status = list(&l, history, task, error);
  iso_repeated_free(&l.repeated);
  if (status != ISOPROOF_OK) {
    iso_vec_free(&l.edges);
    return status;
  }
  *observed = l.edges.items;
  *count = l.edges.count;
  return ISOPROOF_OK;
}
