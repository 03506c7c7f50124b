/* An anomaly as JSON: in full, and with the transactions that reports are made from again. */
#include "report/document/json.h"

static void put_time(isoproof_json *json, const char *name, int64_t time) {
  if (time != ISOPROOF_NO_TIME) iso_json_field_i64(json, name, time);
}

static void put_text(isoproof_json *json, const char *name, const char *text) {
  if (text != NULL) iso_json_field_text(json, name, text);
}

/* ---- details ---- */

static void put_op(isoproof_json *json, const isoproof_document_op *op) {
  isoproof_json_object(json);
  iso_json_field_u64(json, "number", op->number);
  put_text(json, "kind", op->kind);
  put_text(json, "key", op->key);
  put_text(json, "value", op->value);
  if (op->is_balance) iso_json_field_i64(json, "balance", op->balance);
  put_text(json, "file", op->file);
  if (op->line > 0) iso_json_field_u64(json, "line", op->line);
  if (op->offset >= 0) iso_json_field_u64(json, "offset", (uint64_t)op->offset);
  iso_json_field_bool(json, "involved", op->involved);
  isoproof_json_end(json);
}

static void put_txn(isoproof_json *json, const isoproof_document_txn *txn) {
  isoproof_json_object(json);
  put_text(json, "name", txn->name);
  put_text(json, "called", txn->called);
  put_text(json, "id", txn->id);
  put_text(json, "session", txn->session);
  put_text(json, "status", txn->status);
  put_time(json, "start", txn->start);
  put_time(json, "end", txn->end);
  put_text(json, "node", txn->node);
  put_text(json, "error", txn->error);
  put_text(json, "isolation", txn->isolation);
  if (txn->number != ISOPROOF_INITIAL_TXN) iso_json_field_u64(json, "number", txn->number);
  iso_json_field_list(json, "operations");
  for (uint32_t i = 0; i < txn->op_count; i++) put_op(json, &txn->ops[i]);
  isoproof_json_end(json);
  iso_json_field_u64(json, "more", txn->more);
  isoproof_json_end(json);
}

/* ---- in full ---- */

void iso_put_edges_json(isoproof_json *json, const char *name, const iso_full_edge *edges, size_t count) {
  iso_json_field_list(json, name);
  for (size_t i = 0; i < count; i++) {
    const iso_full_edge *edge = &edges[i];
    isoproof_json_object(json);
    iso_json_field_text(json, "from", edge->from);
    iso_json_field_text(json, "to", edge->to);
    iso_json_field_text(json, "kind", edge->kind);
    if (edge->has_key) {
      iso_json_field(json, "key");
      isoproof_json_scalar(json, edge->key);
    }
    if (edge->from_op != ISOPROOF_NO_NUMBER) iso_json_field_u64(json, "from_op", edge->from_op);
    if (edge->to_op != ISOPROOF_NO_NUMBER) iso_json_field_u64(json, "to_op", edge->to_op);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

/* What follows from one choice of the orders that the history does not tell. */
static void put_case(isoproof_json *json, const iso_full_case *one) {
  isoproof_json_object(json);
  iso_json_field_list(json, "orders");
  for (size_t i = 0; i < one->order_count; i++) {
    isoproof_json_object(json);
    iso_json_field_text(json, "before", one->orders[i].before);
    iso_json_field_text(json, "after", one->orders[i].after);
    iso_json_field(json, "key");
    isoproof_json_scalar(json, one->orders[i].key);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
  iso_put_edges_json(json, "edges", one->edges, one->edge_count);
  iso_json_field_text(json, "explanation", one->explanation);
  isoproof_json_end(json);
}

static void put_txn_names(isoproof_json *json, const iso_full_anomaly *anomaly) {
  iso_json_field_list(json, "transactions");
  for (size_t i = 0; i < anomaly->txn_count; i++) isoproof_json_string(json, anomaly->txns[i].name);
  isoproof_json_end(json);
  if (!anomaly->has_ids) return;
  iso_json_field_list(json, "ids");
  for (size_t i = 0; i < anomaly->txn_count; i++) {
    if (anomaly->txns[i].has_id)
      isoproof_json_i64(json, anomaly->txns[i].id);
    else
      isoproof_json_null(json);
  }
  isoproof_json_end(json);
}

void iso_put_anomaly_json(isoproof_json *json, const iso_full_anomaly *anomaly) {
  isoproof_json_object(json);
  iso_json_field_text(json, "code", anomaly->code);
  iso_json_field_text(json, "name", anomaly->name);
  iso_json_field_text(json, "level", anomaly->level);
  if (anomaly->count_is != ISOPROOF_COUNT_UNKNOWN) {
    iso_json_field_u64(json, "count", anomaly->count);
    iso_json_field_text(json, "count_is", isoproof_count_kind_name(anomaly->count_is));
  }
  put_txn_names(json, anomaly);
  iso_json_field_list(json, "keys");
  for (size_t i = 0; i < anomaly->key_count; i++) isoproof_json_scalar(json, anomaly->keys[i]);
  isoproof_json_end(json);
  iso_put_edges_json(json, "edges", anomaly->edges, anomaly->edge_count);
  if (anomaly->case_count > 0) {
    iso_json_field_list(json, "cases");
    for (size_t i = 0; i < anomaly->case_count; i++) put_case(json, &anomaly->cases[i]);
    isoproof_json_end(json);
  }
  iso_json_field_text(json, "explanation", anomaly->explanation);
  if (anomaly->has_details) {
    iso_json_field_list(json, "details");
    for (uint32_t i = 0; i < anomaly->limited.txn_count; i++) put_txn(json, &anomaly->limited.txns[i]);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}
