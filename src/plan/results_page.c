/* results_page.c - the page of a plan: a matrix of databases and levels by workloads, with links to the reports. */
#include <inttypes.h>
#include <string.h>

#include "coo/page/page.h"
#include "plan/results.h"
#include "report/escape.h"

static void put_head(iso_output *out, const isoproof_plan_results *results) {
  size_t counts[ISO_PLAN_MEANINGS];
  iso_plan_count(results, counts);
  bool broken = counts[ISO_PLAN_VIOLATED] + counts[ISO_PLAN_NOT_VIOLATED] + counts[ISO_PLAN_FAILED] > 0;
  bool open = counts[ISO_PLAN_UNKNOWN] + counts[ISO_PLAN_NOT_TRIED] > 0;
  iso_out_printf(out,
                 "<section class=\"sum\" id=\"verdict\" aria-labelledby=\"verdict-title\">\n<p class=\"chip chip-%s\">"
                 "<span aria-hidden=\"true\">%s</span> ",
                 broken ? "violated"
                 : open ? "unknown"
                        : "satisfied",
                 broken ? "&#10007;"
                 : open ? "?"
                        : "&#10003;");
  iso_plan_put_counts(out, results);
  iso_out_text(out, "</p>\n<h1 id=\"verdict-title\">");
  iso_put_xml(out, results->title);
  iso_out_text(out, "</h1>\n<p class=\"part-note\">Databases and isolation levels by workloads; a cell leads to its "
                    "report.</p>\n</section>\n");
}

/* ---- rows and columns ---- */

static const isoproof_plan_outcome *row_at(const isoproof_plan_results *results, size_t number) {
  return &results->rows.items[number];
}

/* Whether the row is the first with its workload, or its database and level. */
static bool is_first(const isoproof_plan_results *results, size_t number, bool by_workload) {
  const isoproof_plan_outcome *row = row_at(results, number);
  for (size_t i = 0; i < number; i++) {
    const isoproof_plan_outcome *other = row_at(results, i);
    if (by_workload ? strcmp(row->workload, other->workload) == 0
                    : strcmp(row->database, other->database) == 0 && strcmp(row->isolation, other->isolation) == 0)
      return false;
  }
  return true;
}

static const isoproof_plan_outcome *find(const isoproof_plan_results *results, const isoproof_plan_outcome *row,
                                         const char *workload) {
  for (size_t i = 0; i < results->rows.count; i++) {
    const isoproof_plan_outcome *other = row_at(results, i);
    if (strcmp(row->database, other->database) == 0 && strcmp(row->isolation, other->isolation) == 0 &&
        strcmp(workload, other->workload) == 0)
      return other;
  }
  return NULL;
}

/* What there is to say below the mark: what violates the level, or what went wrong. */
static void put_details(iso_output *out, const isoproof_plan_outcome *o) {
  char text[512];
  iso_plan_verdict_text(o, text, sizeof text);
  const char *colon = strstr(text, ": ");
  iso_out_text(
      out, "<div class=\"part-note\" style=\"white-space:normal;min-width:14em;max-width:24em;margin:4px auto 0\">");
  if (colon != NULL) {
    iso_put_xml(out, colon + 2);
    iso_out_text(out, "<br>");
  }
  iso_put_xml(out, o->wanted == ISOPROOF_VIOLATED ? "a violation of " : "");
  iso_put_xml(out, o->expected != NULL ? o->expected : "what is documented");
  iso_out_text(out, " is expected");
  if (o->committed > 0) iso_out_printf(out, "; %" PRIu64 " committed, p99 %.1f ms", o->committed, o->p99_ms);
  iso_out_text(out, "</div>");
}

static void put_cell(iso_output *out, const isoproof_plan_outcome *o) {
  static const char *const classes[ISO_PLAN_MEANINGS] = {
      [ISO_PLAN_AS_EXPECTED] = "P", [ISO_PLAN_VIOLATED] = "unexpected", [ISO_PLAN_NOT_VIOLATED] = "unexpected",
      [ISO_PLAN_UNKNOWN] = "T",     [ISO_PLAN_FAILED] = "unexpected",   [ISO_PLAN_NOT_TRIED] = "none"};
  char text[512];
  iso_plan_meaning meaning = iso_plan_meaning_of(o);
  bool wanted = meaning == ISO_PLAN_AS_EXPECTED && o->verdict == ISOPROOF_VIOLATED;
  iso_plan_verdict_text(o, text, sizeof text);
  text[strcspn(text, ":")] = '\0';
  iso_out_text(out, o->folder != NULL ? "<a href=\"" : "<span");
  if (o->folder != NULL) {
    iso_put_uri(out, o->folder);
    iso_out_text(out, "/report.html\"");
  }
  iso_out_printf(out, " class=\"mark mark-%s\" title=\"%s\">", wanted ? "A" : classes[meaning],
                 iso_plan_meaning_name(meaning));
  iso_put_xml(out, text);
  if (meaning != ISO_PLAN_AS_EXPECTED && meaning != ISO_PLAN_NOT_TRIED)
    iso_out_printf(out, "*<span class=\"visually-hidden\"> %s</span>", iso_plan_meaning_name(meaning));
  iso_out_text(out, o->folder != NULL ? "</a>" : "</span>");
  put_details(out, o);
}

static void put_row(iso_output *out, const isoproof_plan_results *results, size_t number) {
  const isoproof_plan_outcome *row = row_at(results, number);
  iso_out_text(out, "<tr class=\"row\"><th class=\"case-name\" scope=\"row\">");
  iso_put_xml(out, row->database);
  iso_out_text(out, "<div class=\"part-note\">");
  iso_put_xml(out, iso_plan_isolation_text(row));
  iso_out_text(out, "</div></th>");
  for (size_t i = 0; i < results->rows.count; i++) {
    if (!is_first(results, i, true)) continue;
    const isoproof_plan_outcome *cell = find(results, row, row_at(results, i)->workload);
    iso_out_text(out, "<td class=\"at\">");
    if (cell != NULL) put_cell(out, cell);
    iso_out_text(out, "</td>");
  }
  iso_out_text(out, "</tr>\n");
}

isoproof_status isoproof_plan_results_write_html(const isoproof_plan_results *results, isoproof_write_fn write,
                                                 void *user, isoproof_error *error) {
  iso_output *out = NULL;
  ISO_TRY(iso_coo_page_begin(write, user, &out, error));
  put_head(out, results);
  iso_out_text(out, "<section class=\"part\" id=\"cells-part\" aria-labelledby=\"cells-title\">\n<div "
                    "class=\"part-head\"><h2 id=\"cells-title\">Cells</h2></div>\n<table class=\"matrix\" "
                    "id=\"cells\"><thead><tr><th>Database, level</th>");
  for (size_t i = 0; i < results->rows.count; i++) {
    if (!is_first(results, i, true)) continue;
    iso_out_text(out, "<th class=\"at\">");
    iso_put_xml(out, row_at(results, i)->workload);
    iso_out_text(out, "</th>");
  }
  iso_out_text(out, "</tr></thead><tbody>\n");
  for (size_t i = 0; i < results->rows.count && !iso_output_failed(out); i++)
    if (is_first(results, i, false)) put_row(out, results, i);
  iso_out_text(out, "</tbody></table>\n</section>\n");
  return iso_coo_page_end(out, error);
}
