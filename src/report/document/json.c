/* The JSON of `isoproof check`, schema 1: one object on one line. */
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "history/history.h"
#include "report/document/details.h"
#include "report/text/certificates.h"
#include "result/result.h"

static void put_string(iso_output *out, const char *text) { iso_out_json_string(out, text, strlen(text)); }

static void put_txn(iso_output *out, const isoproof_history *history, uint64_t txn) {
  char name[64];
  isoproof_history_txn_name(history, txn, name, sizeof name);
  put_string(out, name);
}

/* Every key as a string, as people would write it. */
static void put_scalar(iso_output *out, isoproof_scalar scalar) {
  if (scalar.type == ISOPROOF_STRING || scalar.type == ISOPROOF_SYMBOL) {
    iso_out_json_string(out, scalar.text, scalar.length);
    return;
  }
  size_t length = isoproof_scalar_format(scalar, NULL, 0);
  char *text = malloc(length + 1);
  if (text != NULL) isoproof_scalar_format(scalar, text, length + 1);
  iso_out_json_string(out, text != NULL ? text : "", text != NULL ? length : 0);
  free(text);
}

/* The number of an operation within its transaction, where there is one. */
static void put_op_number(iso_output *out, const isoproof_history *history, const char *field, uint64_t txn,
                          uint64_t op) {
  if (op == ISOPROOF_NO_NUMBER || txn >= history->txns || op < history->txn_first_op[txn]) return;
  iso_out_text(out, field);
  iso_out_u64(out, op - history->txn_first_op[txn]);
}

static void put_edge(iso_output *out, const isoproof_history *history, const isoproof_edge *edge) {
  iso_out_text(out, "{\"from\":");
  put_txn(out, history, edge->from_txn);
  iso_out_text(out, ",\"to\":");
  put_txn(out, history, edge->to_txn);
  iso_out_text(out, ",\"kind\":");
  put_string(out, edge->kind);
  if (edge->has_key) {
    iso_out_text(out, ",\"key\":");
    put_scalar(out, edge->key);
  }
  uint64_t from_op, to_op;
  iso_edge_ops(history, edge, &from_op, &to_op);
  put_op_number(out, history, ",\"from_op\":", edge->from_txn, from_op);
  put_op_number(out, history, ",\"to_op\":", edge->to_txn, to_op);
  iso_out_char(out, '}');
}

static void put_edges(iso_output *out, const isoproof_history *history, const isoproof_edge *edges, size_t count) {
  iso_out_text(out, "\"edges\":[");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_edge(out, history, &edges[i]);
  }
  iso_out_char(out, ']');
}

/* What follows from one choice of the orders that the history does not tell. */
static void put_case(iso_output *out, const isoproof_history *history, const isoproof_anomaly_case *one) {
  iso_out_text(out, "{\"orders\":[");
  for (size_t i = 0; i < one->order_count; i++) {
    iso_out_text(out, i > 0 ? ",{\"before\":" : "{\"before\":");
    put_txn(out, history, one->orders[i].before_txn);
    iso_out_text(out, ",\"after\":");
    put_txn(out, history, one->orders[i].after_txn);
    iso_out_text(out, ",\"key\":");
    put_scalar(out, one->orders[i].key);
    iso_out_char(out, '}');
  }
  iso_out_text(out, "],");
  put_edges(out, history, one->edges, one->edge_count);
  iso_out_text(out, ",\"explanation\":");
  put_string(out, one->explanation);
  iso_out_char(out, '}');
}

static bool put_anomaly(iso_output *out, const isoproof_history *history, const isoproof_anomaly *anomaly,
                        bool details) {
  iso_out_text(out, "{\"code\":");
  put_string(out, anomaly->code);
  iso_out_text(out, ",\"name\":");
  put_string(out, anomaly->name);
  iso_out_text(out, ",\"level\":");
  put_string(out, anomaly->level);
  iso_out_text(out, ",\"count\":");
  iso_out_u64(out, anomaly->count);
  iso_out_text(out, ",\"transactions\":[");
  for (size_t i = 0; i < anomaly->txn_count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_txn(out, history, anomaly->txns[i]);
  }
  if (history->txn_id_opt != NULL) {
    iso_out_text(out, "],\"ids\":[");
    for (size_t i = 0; i < anomaly->txn_count; i++) {
      isoproof_txn txn = {.struct_size = sizeof txn};
      if (i > 0) iso_out_char(out, ',');
      if (isoproof_history_txn_at(history, anomaly->txns[i], &txn) && txn.has_id) {
        iso_out_i64(out, txn.id);
      } else {
        iso_out_text(out, "null");
      }
    }
  }
  iso_out_text(out, "],\"keys\":[");
  for (size_t i = 0; i < anomaly->key_count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_scalar(out, anomaly->keys[i]);
  }
  iso_out_text(out, "],");
  put_edges(out, history, anomaly->edges, anomaly->edge_count);
  for (size_t i = 0; i < anomaly->case_count; i++) {
    iso_out_text(out, i == 0 ? ",\"cases\":[" : ",");
    put_case(out, history, &anomaly->cases[i]);
  }
  iso_out_text(out, anomaly->case_count > 0 ? "],\"explanation\":" : ",\"explanation\":");
  put_string(out, anomaly->explanation);
  bool good = !details || iso_put_details_json(out, history, anomaly);
  iso_out_char(out, '}');
  return good;
}

static void put_levels(iso_output *out, const isoproof_result *result) {
  iso_out_text(out, ",\"verdict\":");
  put_string(out, isoproof_verdict_name(isoproof_result_verdict(result)));
  iso_out_text(out, ",\"levels\":{");
  for (size_t i = 0; i < result->level_count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_string(out, result->levels[i].info->id);
    iso_out_char(out, ':');
    put_string(out, isoproof_verdict_name(result->levels[i].verdict));
  }
  iso_out_text(out, "},\"strongest\":[");
  for (size_t i = 0; result->strongest[i] != NULL; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_string(out, result->strongest[i]);
  }
  iso_out_text(out, "],\"weakest_violated\":[");
  for (size_t i = 0; result->weakest_violated[i] != NULL; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_string(out, result->weakest_violated[i]);
  }
  iso_out_text(out, "],\"asked\":[");
  bool first = true;
  for (size_t i = 0; i < result->level_count; i++) {
    if (!result->levels[i].asked) continue;
    if (!first) iso_out_char(out, ',');
    first = false;
    put_string(out, result->levels[i].info->id);
  }
  iso_out_char(out, ']');
  if (result->unknown_reason != NULL) {
    iso_out_text(out, ",\"unknown_reason\":");
    put_string(out, result->unknown_reason);
  }
  if (result->unexplained != NULL) {
    iso_out_text(out, ",\"unexplained\":");
    put_string(out, result->unexplained);
  }
}

static void put_names(iso_output *out, const isoproof_result *result, const char *field,
                      const char *(*next)(const isoproof_result *, size_t)) {
  iso_out_printf(out, ",\"%s\":[", field);
  for (size_t i = 0; next(result, i) != NULL; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_string(out, next(result, i));
  }
  iso_out_char(out, ']');
}

/* What a check with a workload or models says about models. */
static void put_elle(iso_output *out, const isoproof_result *result) {
  static const char *const words[] = {[ISOPROOF_VERDICT_NONE] = "\"none\"",
                                      [ISOPROOF_SATISFIED] = "true",
                                      [ISOPROOF_VIOLATED] = "false",
                                      [ISOPROOF_UNDECIDED] = "\"unknown\""};
  if (isoproof_result_elle_workload(result) == NULL) return;
  iso_out_printf(out, ",\"workload\":\"%s\",\"elle_valid\":%s", isoproof_result_elle_workload(result),
                 words[isoproof_result_elle_verdict(result)]);
  put_names(out, result, "not", isoproof_result_ruled_out_at);
  put_names(out, result, "also_not", isoproof_result_also_ruled_out_at);
  put_names(out, result, "proved", isoproof_result_proved_at);
}

/* False when memory is out. */
static bool put_result(iso_output *out, const isoproof_result *result, const isoproof_render_options *options) {
  const isoproof_history *h = result->history;
  iso_out_text(out, "{\"schema\":1,\"file\":");
  put_string(out, options->file != NULL ? options->file : "");
  iso_out_text(out, ",\"format\":");
  put_string(out, isoproof_history_format(h));
  iso_out_printf(out, ",\"sessions\":%u,\"transactions\":%u,\"operations\":%u", h->sessions, h->txns, h->ops);
  iso_out_printf(out, ",\"committed\":%u,\"aborted\":%u,\"unknown\":%u", h->committed, h->aborted, h->unknown);
  put_levels(out, result);
  put_elle(out, result);
  iso_out_text(out, ",\"anomalies\":[");
  bool first = true, good = true;
  for (size_t i = 0; i < isoproof_result_anomaly_count(result) && good; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (!isoproof_result_anomaly_at(result, i, &anomaly)) continue;
    if (!first) iso_out_char(out, ',');
    good = put_anomaly(out, h, &anomaly, i < ISOPROOF_DOCUMENT_ANOMALIES);
    first = false;
  }
  iso_out_char(out, ']');
  good = good && iso_put_run_json(out, h);
  iso_put_proved_json(out, result);
  iso_put_stats_json(out, result);
  if (options->load_seconds >= 0 && options->check_seconds >= 0) {
    iso_out_printf(out, ",\"seconds\":{\"load\":%.6f,\"check\":%.6f}", options->load_seconds, options->check_seconds);
  }
  if (options->peak_bytes > 0) iso_out_printf(out, ",\"peak_bytes\":%llu", (unsigned long long)options->peak_bytes);
  iso_out_text(out, "}\n");
  return good;
}

isoproof_status isoproof_result_write_json(const isoproof_result *result, const isoproof_render_options *options,
                                           isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_render_options known = {.struct_size = sizeof known, .load_seconds = -1, .check_seconds = -1};
  if (options != NULL)
    memcpy(&known, options, options->struct_size < sizeof known ? options->struct_size : sizeof known);
  iso_output *out;
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  if (!put_result(out, result, &known)) {
    iso_output_abandon(out);
    return iso_fail_memory(error);
  }
  return iso_output_close(out, error);
}

isoproof_status isoproof_error_write_json(const isoproof_error *problem, const char *file, isoproof_write_fn write,
                                          void *user, isoproof_error *error) {
  iso_output *out;
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  iso_out_text(out, "{\"schema\":1,\"file\":");
  put_string(out, file);
  iso_out_text(out, ",\"error\":{\"code\":");
  put_string(out, isoproof_status_name(problem->code));
  if (problem->file[0] != '\0' && strcmp(problem->file, file) != 0) {
    iso_out_text(out, ",\"file\":");
    put_string(out, problem->file);
  }
  if (problem->line > 0) iso_out_printf(out, ",\"line\":%llu", (unsigned long long)problem->line);
  if (problem->column > 0) iso_out_printf(out, ",\"column\":%llu", (unsigned long long)problem->column);
  if (problem->offset >= 0) iso_out_printf(out, ",\"offset\":%lld", (long long)problem->offset);
  iso_out_text(out, ",\"message\":");
  put_string(out, problem->message);
  iso_out_text(out, "}}\n");
  return iso_output_close(out, error);
}
