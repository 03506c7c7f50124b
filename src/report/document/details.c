#include "report/document/details.h"

#include <string.h>

static void put_text(iso_output *out, const char *before, const char *text) {
  if (text == NULL) return;
  iso_out_text(out, before);
  iso_out_json_string(out, text, strlen(text));
}

static void put_time(iso_output *out, const char *before, int64_t time) {
  if (time == ISOPROOF_NO_TIME) return;
  iso_out_text(out, before);
  iso_out_i64(out, time);
}

static void put_count(iso_output *out, const char *before, uint64_t count) {
  iso_out_text(out, before);
  iso_out_u64(out, count);
}

/* ---- transactions ---- */

static void put_op(iso_output *out, const isoproof_document_op *op) {
  put_count(out, "{\"number\":", op->number);
  put_text(out, ",\"kind\":", op->kind);
  put_text(out, ",\"key\":", op->key);
  put_text(out, ",\"value\":", op->value);
  put_text(out, ",\"file\":", op->file);
  if (op->line > 0) put_count(out, ",\"line\":", op->line);
  if (op->offset >= 0) put_count(out, ",\"offset\":", (uint64_t)op->offset);
  iso_out_text(out, op->involved ? ",\"involved\":true}" : ",\"involved\":false}");
}

static void put_txn(iso_output *out, const isoproof_document_txn *txn) {
  put_text(out, "{\"name\":", txn->name);
  put_text(out, ",\"id\":", txn->id);
  put_text(out, ",\"session\":", txn->session);
  put_text(out, ",\"status\":", txn->status);
  put_time(out, ",\"start\":", txn->start);
  put_time(out, ",\"end\":", txn->end);
  put_text(out, ",\"node\":", txn->node);
  put_text(out, ",\"error\":", txn->error);
  if (txn->number != ISOPROOF_INITIAL_TXN) put_count(out, ",\"number\":", txn->number);
  iso_out_text(out, ",\"operations\":[");
  for (uint32_t i = 0; i < txn->op_count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_op(out, &txn->ops[i]);
  }
  put_count(out, "],\"more\":", txn->more);
  iso_out_char(out, '}');
}

bool iso_put_details_json(iso_output *out, const isoproof_history *history, const isoproof_anomaly *anomaly) {
  iso_arena arena = ISO_ARENA_EMPTY;
  isoproof_document_anomaly made;
  bool good = iso_model_anomaly(&arena, history, anomaly, &made);
  iso_out_text(out, ",\"details\":[");
  for (uint32_t i = 0; good && i < made.txn_count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_txn(out, &made.txns[i]);
  }
  iso_out_char(out, ']');
  iso_arena_free(&arena);
  return good;
}

/* ---- the run ---- */

static void put_facts(iso_output *out, const isoproof_document *d) {
  for (size_t i = 0; i < d->facts.count; i++) {
    put_text(out, i == 0 ? ",\"facts\":{" : ",", d->facts.items[i].name);
    put_text(out, ":", d->facts.items[i].value);
  }
  if (d->facts.count > 0) iso_out_char(out, '}');
}

static void put_faults(iso_output *out, const isoproof_document *d) {
  for (size_t i = 0; i < d->faults.count; i++) {
    const isoproof_document_fault *fault = &d->faults.items[i];
    put_text(out, i == 0 ? ",\"faults\":[{\"kind\":" : ",{\"kind\":", fault->kind);
    put_text(out, ",\"target\":", fault->target);
    put_time(out, ",\"start\":", fault->start);
    put_time(out, ",\"end\":", fault->end);
    iso_out_char(out, '}');
  }
  if (d->faults.count > 0) iso_out_char(out, ']');
}

static void put_aborts(iso_output *out, const isoproof_document *d) {
  for (size_t i = 0; i < d->aborts.count; i++) {
    put_text(out, i == 0 ? ",\"aborts\":[{\"code\":" : ",{\"code\":", d->aborts.items[i].reason);
    put_count(out, ",\"count\":", d->aborts.items[i].count);
    iso_out_char(out, '}');
  }
  if (d->aborts.count > 0) iso_out_char(out, ']');
}

bool iso_put_run_json(iso_output *out, const isoproof_history *history) {
  isoproof_document *d = iso_document_new();
  bool good = d != NULL && iso_model_run(d, history);
  if (good) {
    if (d->has_times) {
      put_time(out, ",\"times\":{\"first_start\":", d->first_start);
      put_time(out, ",\"last_end\":", d->last_end);
      iso_out_char(out, '}');
    }
    put_facts(out, d);
    put_faults(out, d);
    put_aborts(out, d);
  }
  isoproof_document_free(d);
  return good;
}
