/* The indexes that a history makes on demand: who wrote what was read, and the transaction of each operation. */
#include "history/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/vector.h"
#include "history/resolve_direct.h"
#include "history/resolve_join.h"
#include "history/row_versions.h"

void iso_resolution_free(iso_resolution *resolution) {
  if (resolution == NULL) return;
  free(resolution->writer);
  free(resolution->list_writer);
  free(resolution->odd_writer);
  iso_row_versions_free(resolution->rows);
  free(resolution);
}

isoproof_status iso_history_resolve(isoproof_history *history, isoproof_task *task, const iso_resolution **resolution,
                                    isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  pthread_mutex_lock(&history->lock);
  if (history->resolution == NULL) {
    iso_resolution *made = NULL;
    status = iso_resolve_direct(history, task, &made, error);
    if (status == ISOPROOF_OK && made == NULL) status = iso_resolve_join(history, task, &made, error);
    if (status == ISOPROOF_OK && iso_history_has_rows(history)) status = iso_row_guess(history, task, made, error);
    if (status != ISOPROOF_OK) {
      iso_resolution_free(made);
      made = NULL;
    }
    history->resolution = made;
  }
  *resolution = history->resolution;
  pthread_mutex_unlock(&history->lock);
  return status;
}

isoproof_status isoproof_history_resolve(isoproof_history *history, isoproof_task *task, isoproof_resolution *out,
                                         isoproof_error *error) {
  const iso_resolution *resolution;
  ISO_TRY(ISO_STRUCT_CHECK(isoproof_resolution, out, error));
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  if (out != NULL) (void)ISO_STRUCT_GIVE(out, resolution->counts);
  return ISOPROOF_OK;
}

isoproof_status iso_history_op_txns(isoproof_history *history, const uint32_t **op_txn, isoproof_error *error) {
  pthread_mutex_lock(&history->lock);
  if (history->op_txn == NULL) {
    uint32_t *column = iso_alloc(history->ops, sizeof *column);
    for (uint32_t t = 0; column != NULL && t < history->txns; t++) {
      for (uint32_t op = history->txn_first_op[t]; op < history->txn_first_op[t + 1]; op++) column[op] = t;
    }
    history->op_txn = column;
  }
  *op_txn = history->op_txn;
  pthread_mutex_unlock(&history->lock);
  return *op_txn != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_history_op_index(isoproof_history *history, iso_op_index *index, isoproof_error *error) {
  pthread_mutex_lock(&history->lock);
  if (history->op_block == NULL) {
    uint32_t blocks = history->ops / ISO_OPS_PER_BLOCK + 1, next = 0;
    uint32_t *column = iso_alloc(blocks, sizeof *column);
    for (uint32_t t = 0; column != NULL && t < history->txns; t++) {
      for (; (uint64_t)next * ISO_OPS_PER_BLOCK < history->txn_first_op[t + 1]; next++) column[next] = t;
    }
    history->op_block = column;
  }
  *index = (iso_op_index){history, history->op_block};
  pthread_mutex_unlock(&history->lock);
  return index->block != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_history_require_unique(const isoproof_history *history, const iso_resolution *resolution,
                                           isoproof_error *error) {
  if (resolution->counts.duplicate_writes == 0) return ISOPROOF_OK;
  char key[64], value[64], second[64], first[96] = "the initial version";
  uint32_t op = resolution->duplicate_second;
  isoproof_scalar_format(iso_history_scalar(history, history->key_name[history->op_key[op]]), key, sizeof key);
  isoproof_scalar_format(iso_history_scalar(history, history->op_value[op]), value, sizeof value);
  isoproof_history_txn_name(history, iso_history_txn_of(history, op), second, sizeof second);
  if (resolution->duplicate_first != ISO_FROM_INITIAL) {
    isoproof_history_txn_name(history, iso_history_txn_of(history, resolution->duplicate_first), first, sizeof first);
    isoproof_position at;
    size_t used = strlen(first);
    if (isoproof_history_position_of(history, resolution->duplicate_first, &at) && at.line != 0) {
      snprintf(first + used, sizeof first - used, " (line %llu)", (unsigned long long)at.line);
    }
  }
  isoproof_position place;
  isoproof_history_position_of(history, op, &place);
  return iso_fail_at(
      error, ISOPROOF_ERR_FORMAT, (iso_place){place.file, place.line, 0, place.offset},
      "%s writes value %s to key %s, which %s has as well: every write to a key needs a value of its own", second,
      value, key, first);
}
