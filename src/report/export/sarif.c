/* SARIF 2.1.0: rules are the codes of anomalies, results the anomalies, code flows their cycles. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/json_writer.h"
#include "base/vector.h"
#include "base/words.h"
#include "report/document/assessment.h"
#include "report/escape.h"

enum { MOST_FLOWS = 20 }; /* cases of a result */

/* A rule, by its code, and an anomaly that has it, for its words where isoproof knows none. */
typedef struct rule {
  const char *code;
  const isoproof_document_anomaly *anomaly;
} rule;

typedef struct sarif_log {
  isoproof_json *json;
  ISO_VEC(rule) rules; /* sorted by code */
} sarif_log;

/* "name":{"text":"..."} */
static void put_message(isoproof_json *json, const char *name, const char *text) {
  iso_json_field_object(json, name);
  iso_json_field_text(json, "text", text);
  isoproof_json_end(json);
}

/* "name":{"uri":"..."} */
static void put_uri(isoproof_json *json, const char *name, const char *file) {
  iso_json_field_object(json, name);
  iso_json_field(json, "uri");
  iso_put_uri(iso_json_begin_string(json), file);
  iso_json_end_string(json);
  isoproof_json_end(json);
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

/* The walkthrough as one paragraph, and how to see more. */
static void put_markdown(isoproof_json *json, const isoproof_anomaly_info *info) {
  iso_words words = {NULL, 0, 0, false};
  iso_words_add(&words, "%s", info->walkthrough);
  for (char *c = words.text; c != NULL && *c != 0; c++)
    if (*c == '\n') *c = ' ';
  iso_words_add(&words, "\n\n    isoproof explain %s\n", info->code);
  iso_json_field_text(json, "markdown", words.text != NULL ? words.text : "");
  iso_words_free(&words);
}

static void put_help(isoproof_json *json, const isoproof_anomaly_info *info, const char *meaning) {
  bool known = info != NULL && info->walkthrough != NULL;
  iso_json_field_object(json, "help");
  iso_json_field_text(json, "text", known ? info->walkthrough : meaning);
  if (known) put_markdown(json, info);
  isoproof_json_end(json);
}

static void put_rule(isoproof_json *json, const rule *r) {
  const isoproof_anomaly_info *info = isoproof_anomaly_find(r->code);
  const char *meaning = info != NULL ? info->meaning : r->anomaly->meaning;
  const char *name = info != NULL ? info->name : r->anomaly->name;
  const char *level = info != NULL && info->level != NULL ? info->level : r->anomaly->level;
  if (meaning[0] == 0) meaning = name[0] != 0 ? name : r->code;
  isoproof_json_object(json);
  iso_json_field_text(json, "id", r->code);
  iso_json_field_text(json, "name", name);
  put_message(json, "shortDescription", name[0] != 0 ? name : r->code);
  put_message(json, "fullDescription", meaning);
  put_help(json, info, meaning);
  iso_json_field_object(json, "defaultConfiguration");
  iso_json_field_text(json, "level", "error");
  isoproof_json_end(json);
  iso_json_field_object(json, "properties");
  iso_json_field_list(json, "tags");
  isoproof_json_string(json, "isolation");
  isoproof_json_end(json);
  if (level != NULL && level[0] != 0) iso_json_field_text(json, "weakestLevelBroken", level);
  isoproof_json_end(json);
  isoproof_json_end(json);
}

/* ---- places ---- */

static void put_region(isoproof_json *json, const iso_location *location) {
  if (location->line == 0 && location->offset < 0) return;
  iso_json_field_object(json, "region");
  if (location->line > 0) {
    iso_json_field_u64(json, "startLine", location->line);
  } else {
    iso_json_field_i64(json, "byteOffset", location->offset);
    iso_json_field_u64(json, "byteLength", 1);
  }
  isoproof_json_end(json);
}

/* A place, with the transaction as its logical one; `id` 0 for none. */
static void put_location(isoproof_json *json, const iso_location *location, const char *txn, uint32_t id,
                         const char *text) {
  isoproof_json_object(json);
  if (id > 0) iso_json_field_u64(json, "id", id);
  if (location->file != NULL) {
    iso_json_field_object(json, "physicalLocation");
    put_uri(json, "artifactLocation", location->file);
    put_region(json, location);
    isoproof_json_end(json);
  }
  if (txn != NULL) {
    iso_json_field_list(json, "logicalLocations");
    isoproof_json_object(json);
    iso_json_field_text(json, "name", txn);
    iso_json_field_text(json, "kind", "transaction");
    isoproof_json_end(json);
    isoproof_json_end(json);
  }
  if (text != NULL) put_message(json, "message", text);
  isoproof_json_end(json);
}

static void put_locations(isoproof_json *json, const isoproof_document *document, const isoproof_document_anomaly *a) {
  uint32_t primary, id = 1;
  iso_location location = iso_location_of(document, a, &primary);
  iso_json_field_list(json, "locations");
  put_location(json, &location, a->txn_count > 0 ? a->txns[primary].name : NULL, 0, NULL);
  isoproof_json_end(json);
  iso_json_field_list(json, "relatedLocations");
  for (uint32_t i = 0; i < a->txn_count; i++) {
    if (i == primary) continue;
    location = iso_location_of_txn(document, &a->txns[i]);
    put_location(json, &location, a->txns[i].name, id++, a->txns[i].name);
  }
  isoproof_json_end(json);
}

/* ---- cycles ---- */

static void put_step(isoproof_json *json, const isoproof_document *document, const isoproof_document_anomaly *a,
                     const isoproof_document_edge *edge) {
  iso_location from = iso_location_of_end(document, a, edge->from, edge->from_op);
  iso_location to = iso_location_of_end(document, a, edge->to, edge->to_op);
  isoproof_json_object(json);
  iso_json_field(json, "location");
  put_location(json, &from, a->txns[edge->from].name, 0, edge->why);
  iso_json_field_text(json, "importance", "essential");
  iso_json_field_list(json, "kinds");
  isoproof_json_string(json, edge->kind);
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_object(json);
  iso_json_field(json, "location");
  put_location(json, &to, a->txns[edge->to].name, 0, a->txns[edge->to].name);
  iso_json_field_u64(json, "nestingLevel", 1);
  isoproof_json_end(json);
}

static void put_flow(isoproof_json *json, const isoproof_document *document, const isoproof_document_anomaly *a,
                     const char *title, const isoproof_document_edge *edges, uint32_t count) {
  isoproof_json_object(json);
  if (title != NULL) put_message(json, "message", title);
  iso_json_field_list(json, "threadFlows");
  isoproof_json_object(json);
  iso_json_field_list(json, "locations");
  for (uint32_t i = 0; i < count; i++) put_step(json, document, a, &edges[i]);
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_end(json);
}

static void put_flows(isoproof_json *json, const isoproof_document *document, const isoproof_document_anomaly *a) {
  iso_json_field_list(json, "codeFlows");
  if (a->case_count == 0 && a->edge_count > 0) put_flow(json, document, a, NULL, a->edges, a->edge_count);
  for (uint32_t i = 0; i < a->case_count && i < MOST_FLOWS; i++) {
    const isoproof_document_case *one = &a->cases[i];
    if (one->edge_count > 0) put_flow(json, document, a, one->title, one->edges, one->edge_count);
  }
  isoproof_json_end(json);
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
      [ISO_SEVERITY_ERROR] = "error", [ISO_SEVERITY_WARNING] = "warning", [ISO_SEVERITY_NOTE] = "note"};
  isoproof_json *json = log->json;
  iso_json_newline(json);
  isoproof_json_object(json);
  iso_json_field_text(json, "ruleId", a->code);
  iso_json_field_u64(json, "ruleIndex", rule_of(log, a->code));
  iso_json_field_text(json, "kind", "fail");
  iso_json_field_text(json, "level", levels[iso_severity_of(document, a)]);
  put_message(json, "message", a->explanation[0] != 0 ? a->explanation : a->name);
  put_locations(json, document, a);
  put_flows(json, document, a);
  iso_json_field_object(json, "partialFingerprints");
  iso_json_field(json, "isoproofAnomaly/v1");
  iso_out_printf(iso_json_begin_string(json), "%016llx", (unsigned long long)fingerprint(document, a));
  iso_json_end_string(json);
  isoproof_json_end(json);
  if (a->count_is != ISOPROOF_COUNT_UNKNOWN && a->count > 0) iso_json_field_u64(json, "occurrenceCount", a->count);
  iso_json_field_object(json, "properties");
  if (a->count_is == ISOPROOF_COUNT_AT_LEAST)
    iso_json_field_text(json, "occurrenceCountIs", isoproof_count_kind_name(a->count_is));
  iso_json_field_text(json, "level", a->level != NULL ? a->level : "");
  iso_json_field_list(json, "keys");
  for (uint32_t i = 0; i < a->key_count; i++) isoproof_json_string(json, a->keys[i]);
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_end(json);
}

/* ---- what could not be read, or not be decided ---- */

/* A message of the tool about a file. */
static void put_told(isoproof_json *json, const char *id, const char *level, const char *text,
                     const iso_location *location) {
  iso_json_newline(json);
  isoproof_json_object(json);
  iso_json_field_object(json, "descriptor");
  iso_json_field_text(json, "id", id);
  isoproof_json_end(json);
  iso_json_field_text(json, "level", level);
  put_message(json, "message", text);
  if (location->file != NULL) {
    iso_json_field_list(json, "locations");
    put_location(json, location, NULL, 0, NULL);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

static void put_notices(isoproof_json *json, const isoproof_document *document) {
  isoproof_notice notice = {.struct_size = sizeof notice};
  for (size_t i = 0; isoproof_document_notice_at(document, i, &notice); i++) {
    iso_location location = iso_location_of_op(document, NULL);
    location.line = notice.line;
    put_told(json, notice.code, "warning", notice.message, &location);
  }
}

static void put_notification(isoproof_json *json, const isoproof_document *document) {
  const isoproof_error *problem = isoproof_document_problem(document);
  const char *reason = isoproof_document_unknown_reason(document);
  iso_location location = iso_location_of_op(document, NULL);
  if (problem == NULL && (reason == NULL || iso_overall_verdict(document) == ISOPROOF_VIOLATED)) return;
  if (problem != NULL) {
    if (problem->file[0] != 0 && strcmp(problem->file, "<stdin>") != 0) location.file = problem->file;
    location.line = problem->line;
    location.offset = problem->offset;
  }
  put_told(json, problem != NULL ? isoproof_status_name(problem->code) : "unknown",
           problem != NULL ? "error" : "warning", problem != NULL ? problem->message : reason, &location);
}

static void put_invocation(isoproof_json *json, const isoproof_document *const *documents, size_t count) {
  bool good = true;
  for (size_t i = 0; i < count; i++) good = good && isoproof_document_problem(documents[i]) == NULL;
  iso_json_newline(json);
  iso_json_field_list(json, "invocations");
  isoproof_json_object(json);
  iso_json_field_bool(json, "executionSuccessful", good);
  iso_json_field_list(json, "toolExecutionNotifications");
  for (size_t i = 0; i < count; i++) {
    put_notification(json, documents[i]);
    put_notices(json, documents[i]);
  }
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_end(json);
}

static void put_artifacts(isoproof_json *json, const isoproof_document *const *documents, size_t count) {
  iso_json_newline(json);
  iso_json_field_list(json, "artifacts");
  for (size_t i = 0; i < count; i++) {
    iso_location location = iso_location_of_op(documents[i], NULL);
    if (location.file == NULL) continue;
    iso_json_newline(json);
    isoproof_json_object(json);
    put_uri(json, "location", location.file);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

static void put_tool(const sarif_log *log) {
  isoproof_json *json = log->json;
  iso_json_newline(json);
  iso_json_field_object(json, "tool");
  iso_json_field_object(json, "driver");
  iso_json_field_text(json, "name", "isoproof");
  iso_json_field_text(json, "semanticVersion", isoproof_version());
  iso_json_field_list(json, "rules");
  for (size_t i = 0; i < log->rules.count; i++) {
    iso_json_newline(json);
    put_rule(json, &log->rules.items[i]);
  }
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_end(json);
}

static void put_log(sarif_log *log, const isoproof_document *const *documents, size_t count) {
  const isoproof_document_anomaly *a;
  isoproof_json *json = log->json;
  isoproof_json_object(json);
  iso_json_field_text(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  iso_json_field_text(json, "version", "2.1.0");
  iso_json_field_list(json, "runs");
  isoproof_json_object(json);
  put_tool(log);
  put_invocation(json, documents, count);
  put_artifacts(json, documents, count);
  iso_json_newline(json);
  iso_json_field_text(json, "columnKind", "unicodeCodePoints");
  iso_json_newline(json);
  iso_json_field_list(json, "results");
  for (size_t d = 0; d < count && !iso_output_failed(json->out); d++) {
    for (size_t i = 0; (a = isoproof_document_anomaly_at(documents[d], i)) != NULL; i++)
      put_result(log, documents[d], a);
  }
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_line(json);
}

isoproof_status isoproof_documents_write_sarif(const isoproof_document *const *documents, size_t count,
                                               isoproof_write_fn write, void *user, isoproof_error *error) {
  sarif_log log = {.json = NULL};
  if (!collect_rules(&log, documents, count)) {
    iso_vec_free(&log.rules);
    return iso_fail_memory(error);
  }
  isoproof_status status = isoproof_json_open(write, user, &log.json, error);
  if (status == ISOPROOF_OK) {
    put_log(&log, documents, count);
    status = isoproof_json_close(log.json, error);
  }
  iso_vec_free(&log.rules);
  return status;
}
