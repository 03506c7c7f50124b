/* The JSON of a document, schema 1: one object on one line. */
#include "report/document/json.h"

#include <string.h>

#include "base/abi.h"
#include "report/document/assessment.h"

/* ---- verdicts ---- */

static void put_names(isoproof_json *json, const isoproof_document *d, iso_document_names which) {
  static const char *const fields[] = {
#define ISO_X(name, field) field,
      ISO_DOCUMENT_NAMES(ISO_X)
#undef ISO_X
  };
  iso_json_field_list(json, fields[which]);
  for (size_t i = 0; i < d->names[which].count; i++) isoproof_json_string(json, d->names[which].items[i]);
  isoproof_json_end(json);
}

/* The levels that were left, where there are any. */
static void put_undecided(isoproof_json *json, const isoproof_document *d) {
  if (d->undecided.count == 0) return;
  iso_json_field_list(json, "undecided");
  for (size_t i = 0; i < d->undecided.count; i++) {
    isoproof_json_object(json);
    iso_json_field_text(json, "level", d->undecided.items[i].level);
    iso_json_field_text(json, "reason", d->undecided.items[i].reason);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

/* What those are called that are asked for by another name than their everyday one. */
static void put_called(isoproof_json *json, const isoproof_document *d) {
  bool any = false;
  for (size_t i = 0; i < d->levels.count; i++) {
    const char *id = d->levels.items[i].level, *called = d->levels.items[i].called;
    if (strcmp(called, iso_level_everyday(id)) == 0) continue;
    if (!any) iso_json_field_object(json, "called");
    any = true;
    isoproof_json_name(json, id);
    isoproof_json_string(json, called);
  }
  if (any) isoproof_json_end(json);
}

static void put_levels(isoproof_json *json, const isoproof_document *d) {
  iso_json_field_text(json, "verdict", isoproof_verdict_name(d->verdict));
  iso_json_field_object(json, "levels");
  for (size_t i = 0; i < d->levels.count; i++) {
    isoproof_json_name(json, d->levels.items[i].level);
    isoproof_json_string(json, isoproof_verdict_name(d->levels.items[i].verdict));
  }
  isoproof_json_end(json);
  put_names(json, d, ISO_NAMES_STRONGEST);
  put_names(json, d, ISO_NAMES_WEAKEST_VIOLATED);
  iso_json_field_list(json, "asked");
  for (size_t i = 0; i < d->levels.count; i++) {
    if (d->levels.items[i].asked) isoproof_json_string(json, d->levels.items[i].level);
  }
  isoproof_json_end(json);
  put_undecided(json, d);
  put_called(json, d);
  if (d->unknown_reason != NULL) iso_json_field_text(json, "unknown_reason", d->unknown_reason);
  if (d->unexplained != NULL) iso_json_field_text(json, "unexplained", d->unexplained);
}

/* What a check with a workload or models says about models. */
static void put_elle(isoproof_json *json, const isoproof_document *d) {
  if (d->workload == NULL) return;
  iso_json_field_text(json, "workload", d->workload);
  iso_json_field(json, "elle_valid");
  if (d->elle == ISOPROOF_SATISFIED || d->elle == ISOPROOF_VIOLATED)
    isoproof_json_bool(json, d->elle == ISOPROOF_SATISFIED);
  else
    isoproof_json_string(json, isoproof_verdict_name(d->elle));
  put_names(json, d, ISO_NAMES_NOT);
  put_names(json, d, ISO_NAMES_ALSO_NOT);
  put_names(json, d, ISO_NAMES_PROVED);
}

/* ---- anomalies ---- */

/* Asks for them one by one: there may be a million.  False when memory is out. */
static bool put_anomalies(isoproof_json *json, const isoproof_document *d) {
  iso_arena arena = ISO_ARENA_EMPTY;
  bool good = true;
  iso_json_field_list(json, "anomalies");
  for (size_t i = 0; good && i < iso_document_anomaly_count(d) && !iso_output_failed(json->out); i++) {
    iso_anomaly_parts parts = {.full = true, .limited = i < ISOPROOF_DOCUMENT_ANOMALIES};
    iso_full_anomaly anomaly;
    good = iso_document_anomaly(d, i, parts, &arena, &anomaly);
    if (good && anomaly.code != NULL) iso_put_anomaly_json(json, &anomaly);
    iso_arena_free(&arena);
  }
  isoproof_json_end(json);
  if (d->anomalies_found > iso_document_anomaly_count(d)) {
    isoproof_count_kind found = d->found_more ? ISOPROOF_COUNT_AT_LEAST : ISOPROOF_COUNT_EXACT;
    iso_json_field_u64(json, "anomalies_found", d->anomalies_found);
    iso_json_field_text(json, "anomalies_found_is", isoproof_count_kind_name(found));
  }
  return good;
}

/* ---- the run ---- */

static void put_faults(isoproof_json *json, const isoproof_document *d) {
  iso_json_field_list(json, "faults");
  for (size_t i = 0; i < d->faults.count; i++) {
    const isoproof_document_fault *fault = &d->faults.items[i];
    isoproof_json_object(json);
    iso_json_field_text(json, "kind", fault->kind);
    iso_json_field_text(json, "target", fault->target);
    if (fault->start != ISOPROOF_NO_TIME) iso_json_field_i64(json, "start", fault->start);
    if (fault->end != ISOPROOF_NO_TIME) iso_json_field_i64(json, "end", fault->end);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

static void put_aborts(isoproof_json *json, const isoproof_document *d) {
  iso_json_field_list(json, "aborts");
  for (size_t i = 0; i < d->aborts.count; i++) {
    isoproof_json_object(json);
    iso_json_field_text(json, "code", d->aborts.items[i].reason);
    iso_json_field_u64(json, "count", d->aborts.items[i].count);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

/* What the history says about its run, each where there is something to say. */
static void put_run(isoproof_json *json, const isoproof_document *d) {
  if (d->has_times) {
    iso_json_field_object(json, "times");
    iso_json_field_i64(json, "first_start", d->first_start);
    iso_json_field_i64(json, "last_end", d->last_end);
    isoproof_json_end(json);
  }
  if (d->has_effort) iso_put_effort(json, &d->effort, false);
  if (d->facts.count > 0) {
    iso_json_field_object(json, "facts");
    for (size_t i = 0; i < d->facts.count; i++) {
      isoproof_json_name(json, d->facts.items[i].name);
      isoproof_json_string(json, d->facts.items[i].value);
    }
    isoproof_json_end(json);
  }
  if (d->faults.count > 0) put_faults(json, d);
  if (d->aborts.count > 0) put_aborts(json, d);
  iso_put_bank_json(json, d);
  iso_put_invariants_json(json, d);
}

/* ---- proofs and searches ---- */

static void put_certificate(isoproof_json *json, const isoproof_document *d, const iso_document_certificate *one) {
  const isoproof_level_info *by = isoproof_level_find(one->level);
  iso_certificate_cursor cursor = {.history = d->history, .certificate = one};
  isoproof_json_object(json);
  iso_json_field_text(json, "level", one->level);
  iso_json_field_list(json, "proves");
  for (size_t i = 0; i < d->levels.count; i++) {
    const isoproof_level_info *level = isoproof_level_find(d->levels.items[i].level);
    bool proved = d->levels.items[i].verdict == ISOPROOF_SATISFIED && by != NULL && level != NULL &&
                  isoproof_level_implies(by, level);
    if (proved) isoproof_json_string(json, level->id);
  }
  isoproof_json_end(json);
  iso_json_field_list(json, "order");
  for (const char *name; !iso_output_failed(json->out) && (name = iso_certificate_next(&cursor)) != NULL;)
    isoproof_json_string(json, name);
  isoproof_json_end(json);
  if (one->observed.count > 0) iso_put_edges_json(json, "observed", one->observed.items, one->observed.count);
  isoproof_json_end(json);
}

static void put_certificates(isoproof_json *json, const isoproof_document *d) {
  if (!d->has_certificates) return;
  iso_json_field_list(json, "certificates");
  for (size_t i = 0; i < d->certificates.count; i++) put_certificate(json, d, &d->certificates.items[i]);
  isoproof_json_end(json);
  if (d->uncertified != NULL) iso_json_field_text(json, "uncertified_reason", d->uncertified);
}

/* Counts, then the times that stages took. */
static void put_search(isoproof_json *json, const iso_document_search *search) {
  bool times = false;
  isoproof_json_name(json, search->level);
  isoproof_json_object(json);
  for (size_t i = 0; i < search->figures.count; i++) {
    const iso_document_figure *figure = &search->figures.items[i];
    if (figure->is_time && !times) iso_json_field_object(json, "seconds");
    times = times || figure->is_time;
    isoproof_json_name(json, figure->name);
    if (figure->is_time)
      iso_json_fixed(json, figure->seconds, 6);
    else if (figure->known)
      isoproof_json_u64(json, figure->count);
    else
      isoproof_json_null(json);
  }
  if (times) isoproof_json_end(json);
  isoproof_json_end(json);
}

static void put_searches(isoproof_json *json, const isoproof_document *d) {
  if (!d->has_searches) return;
  iso_json_field_object(json, "stats");
  for (size_t i = 0; i < d->searches.count; i++) put_search(json, &d->searches.items[i]);
  isoproof_json_end(json);
}

void iso_put_effort_json(isoproof_json *json, const isoproof_document *document) {
  if (document->load_seconds >= 0 && document->check_seconds >= 0) {
    iso_json_field_object(json, "seconds");
    iso_json_field(json, "load");
    iso_json_fixed(json, document->load_seconds, 6);
    iso_json_field(json, "check");
    iso_json_fixed(json, document->check_seconds, 6);
    isoproof_json_end(json);
  }
  if (document->peak_bytes > 0) iso_json_field_u64(json, "peak_bytes", document->peak_bytes);
}

/* ---- the whole ---- */

/* What a file that could not be judged has instead of a result. */
static void put_problem(isoproof_json *json, const isoproof_document *d) {
  const isoproof_error *problem = &d->problem;
  iso_json_field_object(json, "error");
  iso_json_field_text(json, "code", isoproof_status_name(problem->code));
  if (problem->file[0] != '\0' && strcmp(problem->file, d->given_file != NULL ? d->given_file : "") != 0)
    iso_json_field_text(json, "file", problem->file);
  if (problem->line > 0) iso_json_field_u64(json, "line", problem->line);
  if (problem->column > 0) iso_json_field_u64(json, "column", problem->column);
  if (problem->offset >= 0) iso_json_field_i64(json, "offset", problem->offset);
  iso_json_field_text(json, "message", problem->message);
  isoproof_json_end(json);
}

/* False when memory is out. */
static bool put_result(isoproof_json *json, const isoproof_document *d) {
  iso_json_field_text(json, "format", d->format);
  iso_json_field_u64(json, "sessions", d->counts.sessions);
  iso_json_field_u64(json, "transactions", d->counts.transactions);
  iso_json_field_u64(json, "operations", d->counts.operations);
  iso_json_field_u64(json, "committed", d->counts.committed);
  iso_json_field_u64(json, "aborted", d->counts.aborted);
  iso_json_field_u64(json, "unknown", d->counts.unknown);
  put_levels(json, d);
  put_elle(json, d);
  if (d->notices.count > 0) iso_put_notices_json(json, d);
  bool good = put_anomalies(json, d);
  put_run(json, d);
  put_certificates(json, d);
  put_searches(json, d);
  iso_put_effort_json(json, d);
  return good;
}

isoproof_status isoproof_document_write_json(const isoproof_document *document, const isoproof_draw_options *options,
                                             isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_draw_options known = {.struct_size = sizeof known};
  isoproof_json json;
  iso_output *out;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_draw_options, &known, options, error));
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  iso_json_writer_init(&json, out, ISO_JSON_PLAIN);
  isoproof_json_object(&json);
  iso_json_field_u64(&json, "schema", 1);
  iso_json_field_text(&json, "file", document->given_file != NULL ? document->given_file : "");
  bool good = true;
  if (document->has_problem)
    put_problem(&json, document);
  else
    good = put_result(&json, document);
  if (known.more != NULL) known.more(known.more_user, &json);
  isoproof_json_end(&json);
  isoproof_json_line(&json);
  if (good) return iso_output_close(out, error);
  iso_output_abandon(out);
  return iso_fail_memory(error);
}

isoproof_status isoproof_error_write_json(const isoproof_error *problem, const char *file, isoproof_write_fn write,
                                          void *user, isoproof_error *error) {
  isoproof_document *document;
  ISO_TRY(isoproof_document_make_problem(file, problem, &document, error));
  isoproof_status status = isoproof_document_write_json(document, NULL, write, user, error);
  isoproof_document_free(document);
  return status;
}
