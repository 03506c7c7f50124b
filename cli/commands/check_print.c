/* check_print.c - the result of one file of `isoproof check`, on a line or as a report. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/commands/check.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

uint64_t check_peak_bytes(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static const char *paint(const check_job *job, isoproof_verdict verdict) {
  if (!job->color) return "";
  return verdict == ISOPROOF_VIOLATED ? "\033[31m" : verdict == ISOPROOF_SATISFIED ? "\033[32m" : "\033[33m";
}

/* "; violates a, b": the names that `next` gives. */
static void print_names(FILE *out, const isoproof_result *result, const char *before,
                        const char *(*next)(const isoproof_result *, size_t)) {
  for (size_t i = 0; next(result, i) != NULL; i++) fprintf(out, "%s%s", i == 0 ? before : ", ", next(result, i));
}

static const char *asked_violated(const isoproof_result *result, size_t number) {
  isoproof_level_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_result_level_at(result, i, &v); i++) {
    if (v.asked && v.verdict == ISOPROOF_VIOLATED && number-- == 0) return v.called;
  }
  return NULL;
}

/* With `all` a code comes once per instance; a line names it once. */
static const char *anomaly_code(const isoproof_result *result, size_t number) {
  isoproof_anomaly a = {.struct_size = sizeof a}, before = {.struct_size = sizeof before};
  for (size_t i = 0; isoproof_result_anomaly_at(result, i, &a); i++) {
    bool again = i > 0 && isoproof_result_anomaly_at(result, i - 1, &before) && strcmp(before.code, a.code) == 0;
    if (!again && number-- == 0) return a.code;
  }
  return NULL;
}

static void put_line(const check_job *job, const char *path, const isoproof_history *history,
                     const isoproof_result *result, FILE *out) {
  isoproof_verdict verdict = isoproof_result_verdict(result);
  const char *reason = isoproof_result_unknown_reason(result);
  put_escaped(out, path);
  if (verdict != ISOPROOF_VERDICT_NONE) {
    fprintf(out, ": %s%s%s", paint(job, verdict), isoproof_verdict_name(verdict), job->color ? "\033[0m" : "");
    print_names(out, result, ": ", asked_violated);
  } else if (isoproof_result_strongest_at(result, 0) != NULL) {
    print_names(out, result, ": satisfies ", isoproof_result_strongest_at);
    print_names(out, result, "; violates ", isoproof_result_weakest_violated_at);
  } else if (isoproof_result_weakest_violated_at(result, 0) != NULL) {
    print_names(out, result, ": violates ", isoproof_result_weakest_violated_at);
  } else {
    fputs(": nothing decided", out);
  }
  print_names(out, result, "; anomalies ", anomaly_code);
  if (reason != NULL && verdict != ISOPROOF_VIOLATED) {
    fputs("; unknown: ", out);
    put_escaped(out, reason);
  }
  isoproof_notice notice = {.struct_size = sizeof notice};
  for (size_t i = 0; isoproof_history_notice_at(history, i, &notice); i++) {
    fprintf(out, "; %s: ", notice.code);
    put_escaped(out, notice.message);
  }
  fputc('\n', out);
}

/* One line for one of many files; on a terminal as many as it takes. */
static void print_line(const check_job *job, const char *path, const isoproof_history *history,
                       const isoproof_result *result, FILE *out) {
  char *text = NULL;
  size_t bytes;
  FILE *line = open_memstream(&text, &bytes);
  if (line == NULL) return;
  put_line(job, path, history, result, line);
  if (fclose(line) == 0) print_lines_in(out, text, report_width(stdout));
  free(text);
}

isoproof_status check_print(const check_job *job, const char *path, const isoproof_history *history,
                            const isoproof_result *result, double load, double check, FILE *out,
                            isoproof_error *error) {
  isoproof_render_options render = {.struct_size = sizeof render,
                                    .file = path,
                                    .load_seconds = load,
                                    .check_seconds = check,
                                    .peak_bytes = check_peak_bytes(),
                                    .color = job->color,
                                    .unicode = terminal_utf8(),
                                    .width = report_width(stdout),
                                    .has_page = job->parsed->values[CHECK_OUTPUT + OUTPUT_HTML].given};
  if (job->silent) return ISOPROOF_OK;
  if (job->workers == 1) progress_clear();
  isoproof_effort effort = {.struct_size = sizeof effort};
  bool told = job->json && job->parsed->values[CHECK_STATS].on;
  if (told && isoproof_history_effort(history, NULL, &effort, NULL) == ISOPROOF_OK) render.effort = &effort;
  if (job->json) return isoproof_result_write_json(result, &render, write_stream, out, error);
  if (job->elle) {
    elle_print_line(out, path, isoproof_result_elle_verdict(result));
    message_notices(history, path);
    return ISOPROOF_OK;
  }
  if (!job->many) return isoproof_result_write_text(result, &render, write_stream, out, error);
  print_line(job, path, history, result, out);
  return ISOPROOF_OK;
}
