/* SARIF 2.1.0: rules are the codes of anomalies, results the anomalies, code flows their cycles. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/vector.h"
#include "report/escape.h"
#include "report/export/export.h"

enum { MOST_FLOWS = 20 }; /* cases of a result */

/* A rule, by its code, and an anomaly that has it, for its words where isoproof knows none. */
typedef struct rule {
  const char *code;
  const isoproof_document_anomaly *anomaly;
} rule;

typedef struct sarif_log {
  iso_output *out;
  ISO_VEC(rule) rules; /* sorted by code */
  const char *comma;   /* between results */
} sarif_log;

static void put_string(iso_output *out, const char *text) { iso_out_json_string(out, text, strlen(text)); }

/* "name":"text" */
static void put_field(iso_output *out, const char *name, const char *text) {
  iso_out_printf(out, "\"%s\":", name);
  put_string(out, text);
}

/* "name":{"text":"..."} */
static void put_message(iso_output *out, const char *name, const char *text) {
  iso_out_printf(out, "\"%s\":{", name);
  put_field(out, "text", text);
  iso_out_char(out, '}');
}

/* ---- rules ---- */

static int by_code(const void *a, const void *b) { return strcmp(((const rule *)a)->code, ((const rule *)b)->code); }

static bool collect_rules(sarif_log *log, const isoproof_document *const *documents, size_t count) {
  const isoproof_document_anomaly *a;
  for (size_t d = 0; d < count; d++) {
    const char *before = "";
    for (size_t i = 0; (a = isoproof_document_anomaly_at(documents[d], i)) != NULL; before = a->code, i++) {
      rule one = {a->code, a};
      if (strcmp(before, a->code) != 0 && !iso_vec_push(&log->rules, one)) return false;
    }
  }
  if (log->rules.count == 0) return true;
  qsort(log->rules.items, log->rules.count, sizeof *log->rules.items, by_code);
  size_t kept = 1;
  for (size_t i = 1; i < log->rules.count; i++) {
    if (strcmp(log->rules.items[i].code, log->rules.items[kept - 1].code) != 0)
      log->rules.items[kept++] = log->rules.items[i];
  }
  log->rules.count = kept;
  return true;
}

static size_t rule_of(const sarif_log *log, const char *code) {
  rule wanted = {code, NULL};
  const rule *found = bsearch(&wanted, log->rules.items, log->rules.count, sizeof wanted, by_code);
  return found != NULL ? (size_t)(found - log->rules.items) : 0;
}

static void put_help(iso_output *out, const isoproof_anomaly_info *info, const char *meaning) {
  iso_out_text(out, ",\"help\":{\"text\":");
  if (info == NULL || info->walkthrough == NULL) {
    put_string(out, meaning);
    iso_out_char(out, '}');
    return;
  }
  put_string(out, info->walkthrough);
  iso_out_text(out, ",\"markdown\":\"");
  /* What stands in the tables of the library needs no more than the escapes of JSON. */
  for (const char *c = info->walkthrough; *c != 0; c++) {
    if (*c == '"' || *c == '\\') iso_out_char(out, '\\');
    iso_out_char(out, *c == '\n' ? ' ' : *c);
  }
  iso_out_text(out, "\\n\\n    isoproof explain ");
  iso_out_text(out, info->code);
  iso_out_text(out, "\\n\"}");
}

static void put_rule(iso_output *out, const rule *r) {
  const isoproof_anomaly_info *info = isoproof_anomaly_find(r->code);
  const char *meaning = info != NULL ? info->meaning : r->anomaly->meaning;
  const char *name = info != NULL ? info->name : r->anomaly->name;
  const char *level = info != NULL && info->level != NULL ? info->level : r->anomaly->level;
  if (meaning[0] == 0) meaning = name[0] != 0 ? name : r->code;
  iso_out_char(out, '{');
  put_field(out, "id", r->code);
  iso_out_char(out, ',');
  put_field(out, "name", name);
  iso_out_char(out, ',');
  put_message(out, "shortDescription", name[0] != 0 ? name : r->code);
  iso_out_char(out, ',');
  put_message(out, "fullDescription", meaning);
  put_help(out, info, meaning);
  iso_out_text(out, ",\"defaultConfiguration\":{\"level\":\"error\"},\"properties\":{\"tags\":[\"isolation\"]");
  if (level != NULL && level[0] != 0) {
    iso_out_text(out, ",");
    put_field(out, "weakestLevelBroken", level);
  }
  iso_out_text(out, "}}");
}

/* ---- places ---- */

/* A place, with the transaction as its logical one; `id` 0 for none. */
static void put_location(iso_output *out, const iso_spot *spot, const char *txn, uint32_t id, const char *text) {
  iso_out_char(out, '{');
  if (id > 0) iso_out_printf(out, "\"id\":%u,", id);
  if (spot->file != NULL) {
    iso_out_text(out, "\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
    iso_put_uri(out, spot->file);
    iso_out_text(out, "\"}");
    if (spot->line > 0)
      iso_out_printf(out, ",\"region\":{\"startLine\":%llu}", (unsigned long long)spot->line);
    else if (spot->offset >= 0)
      iso_out_printf(out, ",\"region\":{\"byteOffset\":%lld,\"byteLength\":1}", (long long)spot->offset);
    iso_out_char(out, '}');
    if (txn != NULL || text != NULL) iso_out_char(out, ',');
  }
  if (txn != NULL) {
    iso_out_text(out, "\"logicalLocations\":[{");
    put_field(out, "name", txn);
    iso_out_text(out, ",\"kind\":\"transaction\"}]");
    if (text != NULL) iso_out_char(out, ',');
  }
  if (text != NULL) put_message(out, "message", text);
  iso_out_char(out, '}');
}

static void put_locations(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *a) {
  uint32_t primary, id = 1;
  iso_spot spot = iso_spot_of(document, a, &primary);
  iso_out_text(out, ",\"locations\":[");
  put_location(out, &spot, a->txn_count > 0 ? a->txns[primary].name : NULL, 0, NULL);
  iso_out_text(out, "],\"relatedLocations\":[");
  for (uint32_t i = 0; i < a->txn_count; i++) {
    if (i == primary) continue;
    spot = iso_spot_of_txn(document, &a->txns[i]);
    if (id > 1) iso_out_char(out, ',');
    put_location(out, &spot, a->txns[i].name, id++, a->txns[i].name);
  }
  iso_out_char(out, ']');
}

/* ---- cycles ---- */

static void put_step(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *a,
                     const isoproof_document_edge *edge) {
  iso_spot from = iso_spot_of_end(document, a, edge->from, edge->from_op);
  iso_spot to = iso_spot_of_end(document, a, edge->to, edge->to_op);
  iso_out_text(out, "{\"location\":");
  put_location(out, &from, a->txns[edge->from].name, 0, edge->why);
  iso_out_text(out, ",\"importance\":\"essential\",\"kinds\":[");
  put_string(out, edge->kind);
  iso_out_text(out, "]},{\"location\":");
  put_location(out, &to, a->txns[edge->to].name, 0, a->txns[edge->to].name);
  iso_out_text(out, ",\"nestingLevel\":1}");
}

static void put_flow(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *a,
                     const char *title, const isoproof_document_edge *edges, uint32_t count) {
  iso_out_char(out, '{');
  if (title != NULL) {
    put_message(out, "message", title);
    iso_out_char(out, ',');
  }
  iso_out_text(out, "\"threadFlows\":[{\"locations\":[");
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_step(out, document, a, &edges[i]);
  }
  iso_out_text(out, "]}]}");
}

static void put_flows(iso_output *out, const isoproof_document *document, const isoproof_document_anomaly *a) {
  bool comma = false;
  iso_out_text(out, ",\"codeFlows\":[");
  if (a->case_count == 0 && a->edge_count > 0) put_flow(out, document, a, NULL, a->edges, a->edge_count);
  for (uint32_t i = 0; i < a->case_count && i < MOST_FLOWS; i++) {
    const isoproof_document_case *one = &a->cases[i];
    if (one->edge_count == 0) continue;
    if (comma) iso_out_char(out, ',');
    put_flow(out, document, a, one->title, one->edges, one->edge_count);
    comma = true;
  }
  iso_out_char(out, ']');
}

/* ---- results ---- */

/* The same anomaly in the same history has the same one. */
static uint64_t fingerprint(const isoproof_document *document, const isoproof_document_anomaly *a) {
  const char *file = isoproof_document_file(document);
  uint64_t hash = XXH64(a->code, strlen(a->code), 0);
  hash = XXH64(file, strlen(file), hash);
  for (uint32_t i = 0; i < a->txn_count; i++) hash = XXH64(a->txns[i].name, strlen(a->txns[i].name), hash);
  for (uint32_t i = 0; i < a->key_count; i++) hash = XXH64(a->keys[i], strlen(a->keys[i]), hash);
  return hash;
}

static void put_result(sarif_log *log, const isoproof_document *document, const isoproof_document_anomaly *a) {
  static const char *const levels[] = {
      [ISO_GRAVITY_ERROR] = "error", [ISO_GRAVITY_WARNING] = "warning", [ISO_GRAVITY_NOTE] = "note"};
  iso_output *out = log->out;
  iso_out_text(out, log->comma);
  log->comma = ",\n";
  iso_out_char(out, '{');
  put_field(out, "ruleId", a->code);
  iso_out_printf(out, ",\"ruleIndex\":%zu,\"kind\":\"fail\",\"level\":\"%s\",", rule_of(log, a->code),
                 levels[iso_gravity_of(document, a)]);
  put_message(out, "message", a->explanation[0] != 0 ? a->explanation : a->name);
  put_locations(out, document, a);
  put_flows(out, document, a);
  iso_out_printf(out, ",\"partialFingerprints\":{\"isoproofAnomaly/v1\":\"%016llx\"},\"occurrenceCount\":%llu",
                 (unsigned long long)fingerprint(document, a), (unsigned long long)(a->count > 0 ? a->count : 1));
  iso_out_text(out, ",\"properties\":{");
  put_field(out, "level", a->level != NULL ? a->level : "");
  iso_out_text(out, ",\"keys\":[");
  for (uint32_t i = 0; i < a->key_count; i++) {
    if (i > 0) iso_out_char(out, ',');
    put_string(out, a->keys[i]);
  }
  iso_out_text(out, "]}}");
}

/* ---- what could not be read, or not be decided ---- */

static void put_notification(sarif_log *log, const isoproof_document *document) {
  const isoproof_error *problem = isoproof_document_problem(document);
  const char *reason = isoproof_document_unknown_reason(document);
  iso_output *out = log->out;
  iso_spot spot = iso_spot_of_op(document, NULL);
  if (problem == NULL && (reason == NULL || iso_judged(document) == ISOPROOF_VIOLATED)) return;
  if (problem != NULL) {
    if (problem->file[0] != 0 && strcmp(problem->file, "<stdin>") != 0) spot.file = problem->file;
    spot.line = problem->line;
    spot.offset = problem->offset;
  }
  iso_out_text(out, log->comma);
  log->comma = ",\n";
  iso_out_printf(out, "{\"descriptor\":{\"id\":\"%s\"},\"level\":\"%s\",",
                 problem != NULL ? isoproof_status_name(problem->code) : "unknown",
                 problem != NULL ? "error" : "warning");
  put_message(out, "message", problem != NULL ? problem->message : reason);
  if (spot.file != NULL) {
    iso_out_text(out, ",\"locations\":[");
    put_location(out, &spot, NULL, 0, NULL);
    iso_out_char(out, ']');
  }
  iso_out_char(out, '}');
}

static void put_invocation(sarif_log *log, const isoproof_document *const *documents, size_t count) {
  bool good = true;
  for (size_t i = 0; i < count; i++) good = good && isoproof_document_problem(documents[i]) == NULL;
  iso_out_printf(log->out, "\"invocations\":[{\"executionSuccessful\":%s,\"toolExecutionNotifications\":[",
                 good ? "true" : "false");
  log->comma = "\n";
  for (size_t i = 0; i < count; i++) put_notification(log, documents[i]);
  iso_out_text(log->out, "]}],\n");
}

static void put_artifacts(sarif_log *log, const isoproof_document *const *documents, size_t count) {
  const char *comma = "\n";
  iso_out_text(log->out, "\"artifacts\":[");
  for (size_t i = 0; i < count; i++) {
    iso_spot spot = iso_spot_of_op(documents[i], NULL);
    if (spot.file == NULL) continue;
    iso_out_text(log->out, comma);
    comma = ",\n";
    iso_out_text(log->out, "{\"location\":{\"uri\":\"");
    iso_put_uri(log->out, spot.file);
    iso_out_text(log->out, "\"}}");
  }
  iso_out_text(log->out, "],\n");
}

static void put_tool(const sarif_log *log) {
  iso_out_text(log->out, "\"tool\":{\"driver\":{\"name\":\"isoproof\",\"semanticVersion\":\"");
  iso_out_text(log->out, isoproof_version());
  iso_out_text(log->out, "\",\"rules\":[");
  for (size_t i = 0; i < log->rules.count; i++) {
    iso_out_text(log->out, i > 0 ? ",\n" : "\n");
    put_rule(log->out, &log->rules.items[i]);
  }
  iso_out_text(log->out, "]}},\n");
}

isoproof_status isoproof_documents_write_sarif(const isoproof_document *const *documents, size_t count,
                                               isoproof_write_fn write, void *user, isoproof_error *error) {
  sarif_log log = {.comma = "\n"};
  if (!collect_rules(&log, documents, count)) {
    iso_vec_free(&log.rules);
    return iso_fail_memory(error);
  }
  isoproof_status status = iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &log.out, error);
  if (status == ISOPROOF_OK) {
    const isoproof_document_anomaly *a;
    iso_out_text(log.out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\","
                          "\"runs\":[{\n");
    put_tool(&log);
    put_invocation(&log, documents, count);
    put_artifacts(&log, documents, count);
    iso_out_text(log.out, "\"columnKind\":\"unicodeCodePoints\",\n\"results\":[");
    log.comma = "\n";
    for (size_t d = 0; d < count && !iso_output_failed(log.out); d++) {
      for (size_t i = 0; (a = isoproof_document_anomaly_at(documents[d], i)) != NULL; i++)
        put_result(&log, documents[d], a);
    }
    iso_out_text(log.out, "]}]}\n");
    status = iso_output_close(log.out, error);
  }
  iso_vec_free(&log.rules);
  return status;
}
