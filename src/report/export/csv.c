/* CSV (RFC 4180): one line per file, one column per level; the same columns for every batch. */
#include <string.h>

#include "report/document/assessment.h"
#include "report/escape.h"

/* One cell.  A spreadsheet would take one that begins with these characters for a formula: an apostrophe makes it text.
 * A single '-', standard input, is none. */
static void put_cell(iso_output *out, const char *text) {
  bool formula = strchr("=+@", text[0]) != NULL || (text[0] == '-' && text[1] != 0);
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) iso_out_char(out, '"');
  if (text[0] != 0 && formula) iso_out_char(out, '\'');
  while (*text != 0) {
    size_t run = strcspn(text, "\"");
    iso_put_terminal_n(out, text, run);
    text += run;
    if (*text == 0) break;
    iso_out_text(out, "\"\"");
    text++;
  }
  if (quoted) iso_out_char(out, '"');
}

static void put_next(iso_output *out, const char *text) {
  iso_out_char(out, ',');
  put_cell(out, text);
}

static bool is_column(const isoproof_level_info *level) { return level->family != ISOPROOF_LEVEL_MODEL; }

static void put_header(iso_output *out) {
  iso_out_text(out, "file,format,sessions,transactions,operations,verdict");
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    if (is_column(isoproof_level_at(i))) put_next(out, isoproof_level_at(i)->id);
  }
  iso_out_text(out, ",anomalies,load_seconds,check_seconds,error\n");
}

static const char *verdict_on(const isoproof_document *document, const char *level) {
  isoproof_level_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_document_level(document, i, &v); i++) {
    if (strcmp(v.level, level) == 0) return isoproof_verdict_name(v.verdict);
  }
  return "";
}

static void put_levels(iso_output *out, const isoproof_document *document) {
  for (size_t i = 0; isoproof_level_at(i) != NULL; i++) {
    if (is_column(isoproof_level_at(i))) put_next(out, verdict_on(document, isoproof_level_at(i)->id));
  }
}

/* Codes with blanks between, each once. */
static void put_anomalies(iso_output *out, const isoproof_document *document) {
  const isoproof_document_anomaly *a, *before = NULL;
  iso_out_char(out, ',');
  for (size_t i = 0; (a = isoproof_document_anomaly_at(document, i)) != NULL; before = a, i++) {
    if (before != NULL && strcmp(before->code, a->code) == 0) continue;
    if (before != NULL) iso_out_char(out, ' ');
    /* A code is a word; what a saved result calls one may be anything. */
    put_cell(out, strpbrk(a->code, ",\" \r\n") == NULL ? a->code : "?");
  }
}

static void put_seconds(iso_output *out, double seconds) {
  if (seconds >= 0)
    iso_out_printf(out, ",%.6f", seconds);
  else
    iso_out_char(out, ',');
}

static void put_row(iso_output *out, const isoproof_document *document) {
  const isoproof_error *problem = isoproof_document_problem(document);
  isoproof_counts counts = {.struct_size = sizeof counts};
  put_cell(out, isoproof_document_file(document));
  put_next(out, isoproof_document_format(document));
  isoproof_document_counts(document, &counts);
  if (problem == NULL)
    iso_out_printf(out, ",%llu,%llu,%llu", (unsigned long long)counts.sessions, (unsigned long long)counts.transactions,
                   (unsigned long long)counts.operations);
  else
    iso_out_text(out, ",,,");
  put_next(out, iso_overall_verdict_name(document));
  put_levels(out, document);
  put_anomalies(out, document);
  put_seconds(out, isoproof_document_load_seconds(document));
  put_seconds(out, isoproof_document_check_seconds(document));
  iso_out_char(out, ',');
  if (problem != NULL) iso_put_problem(out, put_cell, problem);
  iso_out_text(out, "\n");
}

isoproof_status isoproof_documents_write_csv(const isoproof_document *const *documents, size_t count,
                                             isoproof_write_fn write, void *user, isoproof_error *error) {
  iso_output *out;
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  put_header(out);
  for (size_t i = 0; i < count && !iso_output_failed(out); i++) put_row(out, documents[i]);
  return iso_output_close(out, error);
}
