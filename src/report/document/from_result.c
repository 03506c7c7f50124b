/* From a history and a result to a document: the only place that looks into a result. */
#include "result/result.h"

#include <string.h>

#include "base/abi.h"
#include "history/notice.h"
#include "report/document/document.h"
#include "result/search_stats.h"

const char *iso_figure_meaning(const char *name, bool is_time) {
  static const struct {
    const char *name, *meaning;
    bool is_time;
  } figures[] = {
#define ISO_X(field, when, text) {#field, text, false},
      ISO_STRONG_STATS(ISO_X)
#undef ISO_X
#define ISO_X(field, text) {#field, text, true},
          ISO_STRONG_STAGES(ISO_X)
#undef ISO_X
  };
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
    if (figures[i].is_time == is_time && strcmp(figures[i].name, name) == 0) return figures[i].meaning;
  }
  return name;
}

/* ---- verdicts ---- */

static bool copy_names(isoproof_document *document, const isoproof_result *result, iso_document_names which,
                       const char *(*next)(const isoproof_result *, size_t)) {
  for (size_t i = 0; next(result, i) != NULL; i++) {
    const char *name =
        iso_document_text(&document->arena, next(result, i), strlen(next(result, i)), ISO_DOCUMENT_SCALAR);
    if (name == NULL || !iso_vec_push(&document->names[which], name)) return false;
  }
  return true;
}

/* A text that may be NULL. */
static bool copy_text(isoproof_document *document, const char *text, const char **out) {
  *out = text != NULL ? iso_document_text(&document->arena, text, strlen(text), ISO_DOCUMENT_FACT) : NULL;
  return text == NULL || *out != NULL;
}

static bool copy_verdicts(isoproof_document *document, const isoproof_result *result) {
  document->verdict = isoproof_result_verdict(result);
  document->elle = isoproof_result_elle_verdict(result);
  document->workload = isoproof_result_elle_workload(result);
  document->every_instance = result->all;
  isoproof_level_verdict level = {.struct_size = sizeof level};
  for (size_t i = 0; isoproof_result_level_at(result, i, &level); i++) {
    if (!iso_vec_push(&document->levels, level)) return false;
  }
  iso_document_undecided left = {.level = NULL};
  for (size_t i = 0; (left.level = isoproof_result_undecided_at(result, i, &left.reason)) != NULL; i++) {
    if (!iso_vec_push(&document->undecided, left)) return false;
  }
  return copy_text(document, isoproof_result_unknown_reason(result), &document->unknown_reason) &&
         copy_text(document, isoproof_result_unexplained(result), &document->unexplained) &&
         copy_names(document, result, ISO_NAMES_STRONGEST, isoproof_result_strongest_at) &&
         copy_names(document, result, ISO_NAMES_WEAKEST_VIOLATED, isoproof_result_weakest_violated_at) &&
         copy_names(document, result, ISO_NAMES_NOT, isoproof_result_ruled_out_at) &&
         copy_names(document, result, ISO_NAMES_ALSO_NOT, isoproof_result_also_ruled_out_at) &&
         copy_names(document, result, ISO_NAMES_PROVED, isoproof_result_proved_at);
}

/* ---- anomalies ---- */

static bool get_anomaly(const isoproof_document *document, size_t number, iso_anomaly_parts parts, iso_arena *arena,
                        iso_full_anomaly *out) {
  const isoproof_result *result = document->source.result;
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  *out = (iso_full_anomaly){.code = NULL};
  if (!isoproof_result_anomaly_at(result, number, &anomaly)) return true;
  return iso_full_anomaly_make(arena, result->history, &anomaly, parts, out);
}

/* Those that a report can show. */
static bool keep_anomalies(isoproof_document *document) {
  iso_anomaly_parts whole = {.full = true, .limited = true};
  for (size_t i = 0; i < document->source.count && i < ISOPROOF_DOCUMENT_ANOMALIES; i++) {
    iso_full_anomaly made;
    if (!get_anomaly(document, i, whole, &document->arena, &made)) return false;
    if (made.code != NULL && !iso_vec_push(&document->anomalies, made)) return false;
  }
  return true;
}

/* ---- proofs and searches ---- */

static bool copy_observed(isoproof_document *document, const isoproof_history *history,
                          const isoproof_certificate *from, iso_document_certificate *to) {
  iso_full_edge edge;
  for (size_t i = 0; i < from->observed_count; i++) {
    bool made = iso_full_edge_make(&document->arena, history, &from->observed[i], &edge);
    if (!made || !iso_vec_push(&to->observed, edge)) return false;
  }
  return true;
}

static bool refer_certificates(isoproof_document *document, const isoproof_result *result) {
  isoproof_certificate one = {.struct_size = sizeof one};
  document->has_certificates = result->has_certificates;
  if (!result->has_certificates) return true;
  for (size_t i = 0; isoproof_result_certificate_at(result, i, &one); i++) {
    iso_document_certificate fresh = {.level = one.level, .count = one.event_count, .events = one.events};
    if (!iso_vec_push(&document->certificates, fresh)) return false;
    iso_document_certificate *certificate = &document->certificates.items[document->certificates.count - 1];
    if (!copy_observed(document, result->history, &one, certificate)) return false;
  }
  return copy_text(document, isoproof_result_uncertified(result), &document->uncertified);
}

/* Writes out the orders that the document only refers to. */
static bool keep_certificates(isoproof_document *document, const isoproof_history *history) {
  for (size_t i = 0; i < document->certificates.count; i++) {
    iso_document_certificate *certificate = &document->certificates.items[i], referred = *certificate;
    iso_certificate_cursor cursor = {.history = history, .certificate = &referred};
    certificate->events = NULL;
    certificate->count = 0;
    for (const char *name; (name = iso_certificate_next(&cursor)) != NULL;)
      if (!iso_certificate_add(certificate, name, strlen(name))) return false;
  }
  return true;
}

static bool copy_figures(iso_document_search *search, const isoproof_result *result, size_t number) {
  isoproof_search_stat figure = {.struct_size = sizeof figure};
  for (size_t i = 0; isoproof_result_search_stat_at(result, number, i, &figure); i++) {
    iso_document_figure copy = {.name = figure.name,
                                .meaning = figure.meaning,
                                .known = figure.known,
                                .is_time = figure.is_time,
                                .count = figure.count,
                                .seconds = figure.seconds};
    if (!iso_vec_push(&search->figures, copy)) return false;
  }
  return true;
}

static bool copy_searches(isoproof_document *document, const isoproof_result *result) {
  document->has_searches = result->has_stats;
  if (!result->has_stats) return true;
  for (size_t i = 0; isoproof_result_search_at(result, i) != NULL; i++) {
    iso_document_search search = {.level = isoproof_result_search_at(result, i)};
    if (!iso_vec_push(&document->searches, search) ||
        !copy_figures(&document->searches.items[document->searches.count - 1], result, i))
      return false;
  }
  return true;
}

/* ---- a document ---- */

/* What the check has to say about the history. */
static bool add_notices(isoproof_document *document, const isoproof_result *result) {
  const char *text = iso_notice_text(ISOPROOF_NOTICE_REPEATED_VALUES);
  return !result->repeated_values ||
         iso_document_add_notice(document, isoproof_notice_code_name(ISOPROOF_NOTICE_REPEATED_VALUES), 0, text,
                                 strlen(text));
}

/* Everything but what is as long as the history, or longer: that is asked for when it is written. */
static bool refer(isoproof_document *document, const isoproof_history *history, const isoproof_result *result,
                  const isoproof_document_options *options) {
  iso_arena *arena = &document->arena;
  const char *file = options->file != NULL ? options->file : "";
  document->file = iso_document_text(arena, file, strlen(file), ISO_DOCUMENT_FACT);
  document->given_file = options->file != NULL ? iso_arena_text(arena, file, strlen(file)) : NULL;
  document->format = isoproof_history_format(history);
  document->load_seconds = options->load_seconds;
  document->check_seconds = options->check_seconds;
  document->peak_bytes = options->peak_bytes;
  if (document->file == NULL || (options->file != NULL && document->given_file == NULL)) return false;
  if (options->title != NULL) {
    document->title = iso_document_text(arena, options->title, strlen(options->title), ISO_DOCUMENT_FACT);
    if (document->title == NULL) return false;
  }
  document->history = history;
  isoproof_count_kind found;
  document->anomalies_found = isoproof_result_anomalies_found(result, &found);
  document->found_more = found == ISOPROOF_COUNT_AT_LEAST;
  document->source = (iso_anomaly_source){result, isoproof_result_anomaly_count(result), get_anomaly};
  return iso_document_run_facts(document, history) && add_notices(document, result) &&
         copy_verdicts(document, result) && refer_certificates(document, result) && copy_searches(document, result) &&
         iso_document_make_title(document);
}

isoproof_status isoproof_document_make(const isoproof_history *history, const isoproof_result *result,
                                       const isoproof_document_options *options, isoproof_document **document,
                                       isoproof_error *error) {
  isoproof_document_options known = {.struct_size = sizeof known, .load_seconds = -1, .check_seconds = -1};
  *document = NULL;
  ISO_TRY(ISO_OPTIONS_READ(isoproof_document_options, &known, options, error));
  isoproof_document *made = iso_document_new();
  bool good = made != NULL && refer(made, history, result, &known) && keep_anomalies(made) &&
              keep_certificates(made, history) && iso_document_count_left_out(made);
  isoproof_status status = good ? iso_document_take_effort(made, known.effort, error) : iso_fail_memory(error);
  if (status != ISOPROOF_OK) {
    isoproof_document_free(made);
    return status;
  }
  made->source = (iso_anomaly_source){NULL, 0, NULL};
  if (known.detached) made->history = NULL;
  *document = made;
  return ISOPROOF_OK;
}

/* ---- results without a document of the caller ---- */

typedef isoproof_status (*write_document_fn)(const isoproof_document *, const isoproof_draw_options *,
                                             isoproof_write_fn, void *, isoproof_error *);

static isoproof_status write_result(const isoproof_result *result, const isoproof_render_options *options,
                                    write_document_fn put, isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_render_options known = {.struct_size = sizeof known, .load_seconds = -1, .check_seconds = -1};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_render_options, &known, options, error));
  isoproof_document_options of = {.struct_size = sizeof of,
                                  .file = known.file,
                                  .load_seconds = known.load_seconds,
                                  .check_seconds = known.check_seconds,
                                  .peak_bytes = known.peak_bytes};
  isoproof_draw_options how = {.struct_size = sizeof how,
                               .color = known.color,
                               .unicode = known.unicode,
                               .more = known.more,
                               .more_user = known.more_user,
                               .width = known.width,
                               .has_page = known.has_page};
  isoproof_document *document = iso_document_new();
  bool good = document != NULL && refer(document, result->history, result, &of);
  isoproof_status status = good ? iso_document_take_effort(document, known.effort, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = put(document, &how, write, user, error);
  isoproof_document_free(document);
  return status;
}

isoproof_status isoproof_result_write_json(const isoproof_result *result, const isoproof_render_options *options,
                                           isoproof_write_fn write, void *user, isoproof_error *error) {
  return write_result(result, options, isoproof_document_write_json, write, user, error);
}

isoproof_status isoproof_result_write_text(const isoproof_result *result, const isoproof_render_options *options,
                                           isoproof_write_fn write, void *user, isoproof_error *error) {
  return write_result(result, options, isoproof_document_write_text, write, user, error);
}
