/* results_text.c - a table of outcomes in a terminal, as Markdown, as JUnit XML and as annotations of GitHub. */
#include <inttypes.h>
#include <string.h>

#include "plan/results.h"
#include "report/escape.h"

/* ---- text ---- */

enum { COLUMNS = 4, WIDEST = 40 };

static const char *const heads[COLUMNS] = {"database", "level", "workload", "expected"};

static const char *expected_text(const isoproof_plan_outcome *o) { return o->expected != NULL ? o->expected : "-"; }

static void row_texts(const isoproof_plan_outcome *o, const char *texts[COLUMNS]) {
  texts[0] = o->database;
  texts[1] = iso_plan_isolation_text(o);
  texts[2] = o->workload;
  texts[3] = expected_text(o);
}

static void put_cells(iso_output *out, const char *const texts[COLUMNS], const size_t widths[COLUMNS]) {
  for (int i = 0; i < COLUMNS; i++) {
    size_t columns = iso_text_columns(texts[i]);
    iso_out_text(out, "  ");
    iso_put_terminal(out, texts[i]);
    for (size_t j = columns; j < widths[i]; j++) iso_out_char(out, ' ');
  }
}

/* An outcome that is not as expected has a mark; a violation that is wanted says so. */
static void put_verdict(iso_output *out, const isoproof_plan_outcome *o) {
  char text[512];
  iso_plan_meaning meaning = iso_plan_meaning_of(o);
  iso_plan_verdict_text(o, text, sizeof text);
  iso_out_text(out, meaning == ISO_PLAN_AS_EXPECTED ? "    " : "  * ");
  iso_put_terminal(out, text);
  if (meaning == ISO_PLAN_AS_EXPECTED && o->verdict == ISOPROOF_VIOLATED) iso_out_text(out, " (as expected)");
  if (meaning == ISO_PLAN_NOT_VIOLATED) iso_out_text(out, ", expected a violation");
  if (o->committed > 0) iso_out_printf(out, ", %" PRIu64 " committed", o->committed);
  iso_out_char(out, '\n');
}

isoproof_status isoproof_plan_results_write_text(const isoproof_plan_results *results, isoproof_write_fn write,
                                                 void *user, isoproof_error *error) {
  iso_output *out = NULL;
  size_t widths[COLUMNS];
  const char *texts[COLUMNS];
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  for (int i = 0; i < COLUMNS; i++) widths[i] = strlen(heads[i]);
  for (size_t r = 0; r < results->rows.count; r++) {
    row_texts(&results->rows.items[r], texts);
    for (int i = 0; i < COLUMNS; i++) {
      size_t columns = iso_text_columns(texts[i]);
      if (columns > widths[i]) widths[i] = columns < WIDEST ? columns : WIDEST;
    }
  }
  iso_put_terminal(out, results->title);
  iso_out_text(out, results->title[0] != '\0' ? ": " : "");
  iso_plan_put_counts(out, results);
  iso_out_char(out, '\n');
  if (results->rows.count > 0) {
    put_cells(out, heads, widths);
    iso_out_text(out, "    verdict\n");
  }
  for (size_t r = 0; r < results->rows.count; r++) {
    row_texts(&results->rows.items[r], texts);
    put_cells(out, texts, widths);
    put_verdict(out, &results->rows.items[r]);
  }
  return iso_output_close(out, error);
}

/* ---- Markdown ---- */

isoproof_status isoproof_plan_results_write_markdown(const isoproof_plan_results *results, isoproof_write_fn write,
                                                     void *user, isoproof_error *error) {
  iso_output *out = NULL;
  char text[512];
  const char *texts[COLUMNS];
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  iso_out_text(out, "## ");
  iso_put_markdown(out, results->title[0] != '\0' ? results->title : "isoproof");
  iso_out_text(out, "\n\n");
  iso_plan_put_counts(out, results);
  iso_out_text(out, "\n\n| database | level | workload | expected | verdict | | committed | p99 |\n"
                    "|---|---|---|---|---|---|--:|--:|\n");
  for (size_t r = 0; r < results->rows.count; r++) {
    const isoproof_plan_outcome *o = &results->rows.items[r];
    iso_plan_verdict_text(o, text, sizeof text);
    row_texts(o, texts);
    for (int i = 0; i < COLUMNS; i++) {
      iso_out_text(out, "| ");
      iso_put_markdown(out, texts[i]);
      iso_out_char(out, ' ');
    }
    iso_out_text(out, "| ");
    iso_put_markdown(out, text);
    iso_out_printf(out, " | %s | %" PRIu64 " | %.1f ms |\n",
                   iso_plan_meaning_of(o) == ISO_PLAN_AS_EXPECTED ? "" : iso_plan_meaning_name(iso_plan_meaning_of(o)),
                   o->committed, o->p99_ms);
  }
  return iso_output_close(out, error);
}

/* ---- JUnit ---- */

static void put_case(iso_output *out, const isoproof_plan_outcome *o) {
  static const char *const elements[ISO_PLAN_MEANINGS] = {[ISO_PLAN_VIOLATED] = "failure",
                                                          [ISO_PLAN_NOT_VIOLATED] = "failure",
                                                          [ISO_PLAN_UNKNOWN] = "error",
                                                          [ISO_PLAN_FAILED] = "error",
                                                          [ISO_PLAN_NOT_TRIED] = "skipped"};
  char text[512];
  const char *element = elements[iso_plan_meaning_of(o)];
  iso_plan_verdict_text(o, text, sizeof text);
  iso_out_text(out, "    <testcase classname=\"");
  iso_put_xml(out, o->database);
  iso_out_text(out, "\" name=\"");
  iso_put_xml(out, iso_plan_isolation_text(o));
  iso_out_text(out, ": ");
  iso_put_xml(out, o->workload);
  iso_out_printf(out, "\" time=\"%.3f\"", o->seconds);
  if (element == NULL) {
    iso_out_text(out, "/>\n");
    return;
  }
  iso_out_printf(out, "><%s message=\"", element);
  iso_put_xml(out, text);
  iso_out_text(out, "; expected ");
  iso_put_xml(out, o->wanted == ISOPROOF_VIOLATED ? "a violation of " : "");
  iso_put_xml(out, o->expected != NULL ? o->expected : "what the database documents");
  iso_out_text(out, "\"/></testcase>\n");
}

isoproof_status isoproof_plan_results_write_junit(const isoproof_plan_results *results, isoproof_write_fn write,
                                                  void *user, isoproof_error *error) {
  iso_output *out = NULL;
  size_t counts[ISO_PLAN_MEANINGS];
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  iso_plan_count(results, counts);
  iso_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
  iso_put_xml(out, results->title);
  iso_out_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
                 results->rows.count, counts[ISO_PLAN_VIOLATED] + counts[ISO_PLAN_NOT_VIOLATED],
                 counts[ISO_PLAN_UNKNOWN] + counts[ISO_PLAN_FAILED], counts[ISO_PLAN_NOT_TRIED],
                 results->seconds > 0 ? results->seconds : 0);
  for (size_t r = 0; r < results->rows.count; r++) put_case(out, &results->rows.items[r]);
  iso_out_text(out, "  </testsuite>\n</testsuites>\n");
  return iso_output_close(out, error);
}

/* ---- GitHub ---- */

isoproof_status isoproof_plan_results_write_github(const isoproof_plan_results *results, isoproof_write_fn write,
                                                   void *user, isoproof_error *error) {
  iso_output *out = NULL;
  char text[512];
  ISO_TRY(iso_output_open_callback(write, user, ISOPROOF_COMPRESS_NO, &out, error));
  for (size_t r = 0; r < results->rows.count; r++) {
    const isoproof_plan_outcome *o = &results->rows.items[r];
    iso_plan_meaning meaning = iso_plan_meaning_of(o);
    if (meaning == ISO_PLAN_AS_EXPECTED) continue;
    iso_plan_verdict_text(o, text, sizeof text);
    iso_out_printf(out,
                   "::%s title=", meaning == ISO_PLAN_NOT_TRIED || meaning == ISO_PLAN_UNKNOWN ? "warning" : "error");
    iso_put_github_property(out, o->database);
    iso_out_text(out, " ");
    iso_put_github_property(out, iso_plan_isolation_text(o));
    iso_out_text(out, " ");
    iso_put_github_property(out, o->workload);
    iso_out_text(out, "::");
    iso_put_github(out, text);
    iso_out_text(out, "; expected ");
    iso_put_github(out, o->wanted == ISOPROOF_VIOLATED ? "a violation of " : "");
    iso_put_github(out, o->expected != NULL ? o->expected : "what the database documents");
    iso_out_char(out, '\n');
  }
  return iso_output_close(out, error);
}
