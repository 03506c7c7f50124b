#include "history/index.h"

#include <stdlib.h>

#include "base/vector.h"

/* Turns counts at [i + 1] into first places: afterwards first[i] is where row i begins. */
static void sum_up(uint32_t *first, size_t rows) {
  for (size_t i = 0; i < rows; i++) first[i + 1] += first[i];
}

/* Filling a row moves its first place to that of the next row; this moves all back by one. */
static void step_back(uint32_t *first, size_t rows) {
  for (size_t i = rows; i > 0; i--) first[i] = first[i - 1];
  first[0] = 0;
}

isoproof_status iso_writers_make(const isoproof_history *history, iso_writers *writers, isoproof_error *error) {
  size_t keys = history->keys;
  *writers = (iso_writers){.first = iso_alloc_zero(keys + 1, sizeof *writers->first)};
  if (writers->first == NULL) return iso_fail_memory(error);
  for (uint32_t op = 0; op < history->ops; op++) {
    if (!isoproof_op_kind_observes((isoproof_op_kind)history->op_kind[op])) writers->first[history->op_key[op] + 1]++;
  }
  sum_up(writers->first, keys);
  writers->op = iso_alloc(writers->first[keys], sizeof *writers->op);
  if (writers->op == NULL) {
    iso_writers_free(writers);
    return iso_fail_memory(error);
  }
  for (uint32_t op = 0; op < history->ops; op++) {
    if (isoproof_op_kind_observes((isoproof_op_kind)history->op_kind[op])) continue;
    writers->op[writers->first[history->op_key[op]]++] = op;
  }
  step_back(writers->first, keys);
  return ISOPROOF_OK;
}

void iso_writers_free(iso_writers *writers) {
  free(writers->first);
  free(writers->op);
  *writers = (iso_writers){NULL, NULL};
}

/* The first place in op[begin .. end) that is not below `bound`. */
static uint32_t lower_bound(const uint32_t *op, uint32_t begin, uint32_t end, uint32_t bound) {
  while (begin < end) {
    uint32_t middle = begin + (end - begin) / 2;
    if (op[middle] < bound) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

void iso_writers_in_session(const isoproof_history *history, const iso_writers *writers, uint32_t key, uint32_t session,
                            uint32_t *begin, uint32_t *end) {
  uint32_t first_op = history->txn_first_op[history->session_first_txn[session]];
  uint32_t end_op = history->txn_first_op[history->session_first_txn[session + 1]];
  *begin = lower_bound(writers->op, writers->first[key], writers->first[key + 1], first_op);
  *end = lower_bound(writers->op, *begin, writers->first[key + 1], end_op);
}

isoproof_status iso_readers_make(const isoproof_history *history, const iso_resolution *resolution,
                                 iso_readers *readers, isoproof_error *error) {
  size_t ops = history->ops;
  *readers = (iso_readers){.first = iso_alloc_zero(ops + 1, sizeof *readers->first)};
  if (readers->first == NULL) return iso_fail_memory(error);
  for (uint32_t op = 0; op < history->ops; op++) {
    if (resolution->writer[op] < history->ops) readers->first[resolution->writer[op] + 1]++;
  }
  sum_up(readers->first, ops);
  readers->op = iso_alloc(readers->first[ops], sizeof *readers->op);
  if (readers->op == NULL) {
    iso_readers_free(readers);
    return iso_fail_memory(error);
  }
  for (uint32_t op = 0; op < history->ops; op++) {
    if (resolution->writer[op] < history->ops) readers->op[readers->first[resolution->writer[op]]++] = op;
  }
  step_back(readers->first, ops);
  return ISOPROOF_OK;
}

void iso_readers_free(iso_readers *readers) {
  free(readers->first);
  free(readers->op);
  *readers = (iso_readers){NULL, NULL};
}
