/* A history from a skeleton and the operations that parts answered with. */
#include <stdlib.h>
#include <string.h>

#include "parts/ops.h"

typedef struct {
  uint16_t place;
  uint8_t kind;
  uint32_t key;
  iso_value value;
} one_op;

static int by_place(const void *a, const void *b) {
  const one_op *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

/* The operations of a transaction come part by part; their places say how they were. */
static isoproof_status order_ops(iso_part *part, isoproof_error *error) {
  isoproof_history *h = part->h;
  one_op *ops = iso_alloc(ISO_MOST_OPS_PER_TXN, sizeof *ops);
  if (ops == NULL) return iso_fail_memory(error);
  for (uint32_t t = 0; t < h->txns; t++) {
    uint32_t first = h->txn_first_op[t], count = h->txn_first_op[t + 1] - first;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t op = first + i;
      ops[i] = (one_op){part->place[op], h->op_kind[op], h->op_key[op], h->op_value[op]};
    }
    qsort(ops, count, sizeof *ops, by_place);
    for (uint32_t i = 0; i < count; i++) {
      h->op_kind[first + i] = ops[i].kind;
      h->op_key[first + i] = ops[i].key;
      h->op_value[first + i] = ops[i].value;
    }
  }
  free(ops);
  return ISOPROOF_OK;
}

/* A copy of a column of the skeleton that may not be there. */
static bool copy(void *to, const void *from, size_t count, size_t size) {
  void *made = NULL;
  if (from != NULL) {
    made = iso_alloc(count, size);
    if (made == NULL) return false;
    if (count > 0) memcpy(made, from, count * size);
  }
  memcpy(to, &made, sizeof made);
  return true;
}

#define COPY(column, count) copy(&h->column, s->column, (count), sizeof *s->column)

static bool copy_frame(isoproof_history *h, const isoproof_history *s) {
  size_t txns = s->txns;
  h->format = s->format;
  h->initial_is_zero = s->initial_is_zero;
  h->sessions = s->sessions;
  h->fact_count = s->fact_count;
  h->position_kind = s->position_kind;
  h->pool.count = s->pool.count;
  h->pool.text_bytes = s->pool.text_bytes;
  if (s->file != NULL && (h->file = strdup(s->file)) == NULL) return false;
  return COPY(txn_session, txns) && COPY(txn_id_opt, txns) && COPY(txn_start_opt, txns) && COPY(txn_end_opt, txns) &&
         COPY(txn_start_index_opt, txns) && COPY(txn_end_index_opt, txns) && COPY(txn_node_opt, txns) &&
         COPY(txn_error_opt, txns) && COPY(txn_name_opt, txns) && COPY(txn_isolation_opt, txns) &&
         COPY(txn_position_opt, txns) && COPY(session_first_txn, (size_t)s->sessions + 1) &&
         COPY(session_name, s->sessions) && COPY(session_file_opt, s->sessions) && COPY(facts, s->fact_count) &&
         COPY(pool.entries, s->pool.count) && COPY(pool.text, s->pool.text_bytes);
}

/* Whoever took effect counts as committed, since those who show it may be missing; nobody knows when it ended. */
static void commit(isoproof_history *h, const uint8_t *counts) {
  for (uint32_t t = 0; t < h->txns; t++) {
    if (!counts[t] || h->txn_status[t] != ISOPROOF_TXN_UNKNOWN) continue;
    h->txn_status[t] = ISOPROOF_TXN_COMMITTED;
    if (h->txn_end_opt != NULL) h->txn_end_opt[t] = ISOPROOF_NO_TIME;
    if (h->txn_end_index_opt != NULL) h->txn_end_index_opt[t] = -1;
  }
}

isoproof_status iso_gather(const isoproof_history *skeleton, const uint8_t *counts, const iso_bytes *answers,
                           uint32_t parts, isoproof_task *task, isoproof_history **history, isoproof_error *error) {
  iso_shipment *shipments = iso_alloc_zero(parts, sizeof *shipments);
  if (shipments == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < parts; i++) {
    /* Behind the status. */
    shipments[i].ops.items = answers[i].items + sizeof(uint32_t);
    shipments[i].ops.count = answers[i].count - sizeof(uint32_t);
  }
  iso_part_frame frame = {
      .txns = skeleton->txns, .txn_status = skeleton->txn_status, .initial_is_zero = skeleton->initial_is_zero};
  iso_part part;
  isoproof_status status = iso_part_make(&frame, shipments, parts, task, &part, error);
  free(shipments);
  if (status != ISOPROOF_OK) return status;
  status = order_ops(&part, error);
  if (status == ISOPROOF_OK && !copy_frame(part.h, skeleton)) status = iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    if (counts != NULL) commit(part.h, counts);
    iso_history_count(part.h);
    *history = part.h;
    part.h = NULL;
  }
  iso_part_free(&part);
  return status;
}
