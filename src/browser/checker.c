/* A history loaded, judged and made small for the worker of the page, and everything that it asks for afterwards. */
#include "browser/checker.h"

#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "report/page/page_data.h"

enum { MOST_NAMES = 64 };

/* Names out of a list with commas, which is cut up. */
typedef struct names {
  const char *items[MOST_NAMES];
  size_t count;
} names;

struct browser_checker {
  isoproof_history *history;
  isoproof_result *result;
  isoproof_document *document;
  char *file;
  /* What was asked for; a part of the history is asked the same. */
  char *levels, *models, *workload;
  bool duplicate_values;
  double load_seconds, check_seconds;
  isoproof_error error;
  char told[ISOPROOF_ERROR_FILE_BYTES + ISOPROOF_ERROR_MESSAGE_BYTES + 64];
};

browser_checker *browser_new(void) { return calloc(1, sizeof(browser_checker)); }

static void forget(browser_checker *checker) {
  isoproof_document_free(checker->document);
  isoproof_result_free(checker->result);
  isoproof_history_free(checker->history);
  free(checker->file);
  free(checker->levels);
  free(checker->models);
  free(checker->workload);
  *checker = (browser_checker){.error = {.offset = -1}};
}

void browser_free(browser_checker *checker) {
  if (checker == NULL) return;
  forget(checker);
  free(checker);
}

const char *browser_error(const browser_checker *checker) { return checker->told; }

/* Every failure is told here, once. */
static isoproof_status settle(browser_checker *checker, isoproof_status status) {
  checker->told[0] = '\0';
  if (status != ISOPROOF_OK) isoproof_error_format(&checker->error, checker->told, sizeof checker->told);
  return status;
}

static names cut_up(char *text) {
  names found = {.count = 0};
  char *rest = NULL;
  for (char *name = strtok_r(text, ",", &rest); name != NULL && found.count < MOST_NAMES;
       name = strtok_r(NULL, ",", &rest))
    found.items[found.count++] = name;
  return found;
}

static void tell_progress(const isoproof_progress *p, void *user) {
  (void)user;
  browser_progress(p->stage, p->unit != NULL ? p->unit : "", (double)p->done, (double)p->total, p->level,
                   p->levels_decided, p->levels_total);
}

static isoproof_status make_task(isoproof_task **task, double timeout, isoproof_error *error) {
  if (isoproof_task_new(task) != ISOPROOF_OK) return iso_fail_memory(error);
  isoproof_task_set_threads(*task, 1);
  isoproof_task_set_timeout(*task, timeout);
  isoproof_task_set_progress(*task, tell_progress, NULL);
  return ISOPROOF_OK;
}

/* Judges the history that is there, and gathers what the outputs need. */
static isoproof_status judge(browser_checker *checker, isoproof_task *task) {
  names levels = cut_up(checker->levels), models = cut_up(checker->models);
  isoproof_check_options how = {.struct_size = sizeof how,
                                .levels = levels.items,
                                .level_count = levels.count,
                                .models = models.items,
                                .model_count = models.count,
                                .elle_workload = *checker->workload != '\0' ? checker->workload : NULL,
                                .duplicate_values = checker->duplicate_values};
  double began = iso_now();
  ISO_TRY(isoproof_check(checker->history, &how, task, &checker->result, &checker->error));
  checker->check_seconds = iso_now() - began;
  isoproof_document_options what = {.struct_size = sizeof what,
                                    .file = checker->file,
                                    .load_seconds = checker->load_seconds,
                                    .check_seconds = checker->check_seconds};
  browser_progress("writing the report", "", 0, 0, NULL, 0, 0);
  return isoproof_document_make(checker->history, checker->result, &what, &checker->document, &checker->error);
}

static bool remember(browser_checker *checker, const char *file, const char *levels, const char *models,
                     const char *workload) {
  checker->file = strdup(file);
  checker->levels = strdup(levels);
  checker->models = strdup(models);
  checker->workload = strdup(workload);
  return checker->file != NULL && checker->levels != NULL && checker->models != NULL && checker->workload != NULL;
}

isoproof_status browser_check(browser_checker *checker, const char *path, const char *levels, const char *models,
                              const char *workload, bool duplicate_values, double timeout) {
  isoproof_task *task = NULL;
  forget(checker);
  isoproof_status status = make_task(&task, timeout, &checker->error);
  if (status == ISOPROOF_OK && !remember(checker, path, levels, models, workload))
    status = iso_fail_memory(&checker->error);
  checker->duplicate_values = duplicate_values;
  double began = iso_now();
  if (status == ISOPROOF_OK) status = isoproof_history_open(path, NULL, task, &checker->history, &checker->error);
  checker->load_seconds = iso_now() - began;
  if (status == ISOPROOF_OK) status = judge(checker, task);
  isoproof_task_free(task);
  return settle(checker, status);
}

isoproof_status browser_minimize(browser_checker *checker, browser_checker *smaller, const char *level,
                                 double timeout) {
  isoproof_minimize_options what = {
      .struct_size = sizeof what, .level = level, .duplicate_values = checker->duplicate_values};
  isoproof_minimized report = {.struct_size = sizeof report, .verdict = ISOPROOF_UNDECIDED};
  isoproof_task *task = NULL;
  forget(smaller);
  isoproof_status status = make_task(&task, timeout, &smaller->error);
  /* Names of levels are cut up by now; a part is asked for everything that the whole could be asked for. */
  if (status == ISOPROOF_OK && !remember(smaller, checker->file, "", "", "")) status = iso_fail_memory(&smaller->error);
  smaller->duplicate_values = checker->duplicate_values;
  if (status == ISOPROOF_OK)
    status = isoproof_minimize(checker->history, &what, task, &smaller->history, &report, &smaller->error);
  if (status == ISOPROOF_OK && smaller->history == NULL)
    status =
        iso_fail(&smaller->error, ISOPROOF_ERR_UNSUPPORTED,
                 report.verdict == ISOPROOF_SATISFIED ? "the history satisfies %s: there is nothing to make smaller"
                                                      : "whether %s is violated could not be decided",
                 level);
  if (status == ISOPROOF_OK) status = judge(smaller, task);
  isoproof_task_free(task);
  return settle(smaller, status);
}

/* ---- outputs ---- */

static bool hand_over(void *user, const void *bytes, size_t size) {
  (void)user;
  browser_bytes(bytes, size);
  return true;
}

static isoproof_status write_history(browser_checker *checker) {
  const isoproof_format_info *format = isoproof_format_find(isoproof_history_format(checker->history));
  isoproof_status status = ISOPROOF_ERR_UNSUPPORTED;
  isoproof_write_options how = {.struct_size = sizeof how, .compression = ISOPROOF_COMPRESS_NO};
  if (format != NULL && format->writable)
    status =
        isoproof_history_write_to(checker->history, format->format, hand_over, NULL, &how, NULL, NULL, &checker->error);
  if (status == ISOPROOF_ERR_UNSUPPORTED)
    status = isoproof_history_write_to(checker->history, ISOPROOF_FORMAT_JSONL, hand_over, NULL, &how, NULL, NULL,
                                       &checker->error);
  return status;
}

static isoproof_status write_json(browser_checker *checker) {
  isoproof_render_options how = {.struct_size = sizeof how,
                                 .file = checker->file,
                                 .load_seconds = checker->load_seconds,
                                 .check_seconds = checker->check_seconds};
  return isoproof_result_write_json(checker->result, &how, hand_over, NULL, &checker->error);
}

static isoproof_status write_output(browser_checker *checker, browser_output output, unsigned number) {
  isoproof_draw_options how = {.struct_size = sizeof how, .anomaly = number, .unicode = true};
  const isoproof_document *document = checker->document;
  isoproof_error *error = &checker->error;
  switch (output) {
  case BROWSER_DATA:
    return iso_page_data_write(document, &how, hand_over, NULL, error);
  case BROWSER_HTML:
    return isoproof_document_write_html(document, &how, hand_over, NULL, error);
  case BROWSER_JSON:
    return write_json(checker);
  case BROWSER_SVG:
    return isoproof_document_write_svg(document, &how, hand_over, NULL, error);
  case BROWSER_TEXT:
    return isoproof_document_write_text(document, &how, hand_over, NULL, error);
  case BROWSER_HISTORY:
    return write_history(checker);
  }
  return iso_fail(error, ISOPROOF_ERR_USAGE, "expected an output, found number %d", (int)output);
}

isoproof_status browser_write(browser_checker *checker, browser_output output, unsigned number) {
  if (checker->document == NULL)
    return settle(checker, iso_fail(&checker->error, ISOPROOF_ERR_USAGE, "expected a result, found none"));
  return settle(checker, write_output(checker, output, number));
}

/* ---- what can be asked for ---- */

static void put_field(isoproof_json *json, const char *name, const char *value) {
  isoproof_json_name(json, name);
  isoproof_json_string(json, value);
}

static void put_levels(isoproof_json *json, const char *name, bool models) {
  const isoproof_level_info *level;
  isoproof_json_name(json, name);
  isoproof_json_list(json);
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    if ((level->family == ISOPROOF_LEVEL_MODEL) != models) continue;
    isoproof_json_object(json);
    put_field(json, "id", models ? level->friendly : level->id);
    put_field(json, "summary", level->summary);
    isoproof_json_end(json);
  }
  isoproof_json_end(json);
}

isoproof_status browser_list(void) {
  isoproof_json *json;
  const char *workload;
  const isoproof_format_info *format;
  isoproof_status status = isoproof_json_open(hand_over, NULL, &json, NULL);
  if (status != ISOPROOF_OK) return status;
  isoproof_json_object(json);
  put_field(json, "version", isoproof_version());
  put_levels(json, "levels", false);
  put_levels(json, "models", true);
  isoproof_json_name(json, "workloads");
  isoproof_json_list(json);
  for (size_t i = 0; (workload = isoproof_elle_workload_at(i)) != NULL; i++) isoproof_json_string(json, workload);
  isoproof_json_end(json);
  isoproof_json_name(json, "formats");
  isoproof_json_list(json);
  for (size_t i = 0; (format = isoproof_format_at(i)) != NULL; i++) isoproof_json_string(json, format->description);
  isoproof_json_end(json);
  isoproof_json_end(json);
  return isoproof_json_close(json, NULL);
}
