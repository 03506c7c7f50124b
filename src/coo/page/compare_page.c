/* compare_page.c - the page of a comparison: only what differs, with both stories. */
#include <stdio.h>
#include <string.h>

#include "coo/compare.h"
#include "coo/page/page.h"
#include "report/escape.h"

static size_t count_differences(const isoproof_coo_comparison *c) { return c->differences.count; }

static void put_first(iso_output *out, const isoproof_coo_comparison *c) {
  size_t count = count_differences(c);
  iso_out_printf(
      out,
      "<section class=\"sum\" id=\"verdict\" aria-labelledby=\"verdict-title\">\n<p class=\"chip chip-%s\"><span "
      "aria-hidden=\"true\">%s</span> ",
      count > 0      ? "violated"
      : c->cells > 0 ? "satisfied"
                     : "unknown",
      count > 0      ? "&#8800;"
      : c->cells > 0 ? "&#10003;"
                     : "?");
  if (c->cells == 0)
    iso_out_text(out, "Nothing to compare");
  else if (count == 0)
    iso_out_printf(out, "No cell of %zu differs", c->cells);
  else
    iso_out_printf(out, "%zu of %zu cells differ%s", count, c->cells, count == 1 ? "s" : "");
  iso_out_text(out, "</p>\n<h1 id=\"verdict-title\">");
  iso_put_xml(out, c->matrix->database);
  iso_out_text(out, " against ");
  iso_put_xml(out, c->other->database);
  iso_out_text(out,
               "</h1>\n<p class=\"part-note\">Levels and cases of the same name are compared; only what differs is "
               "shown.</p>\n</section>\n");
}

static void put_row(iso_output *out, const isoproof_coo_comparison *c, size_t number) {
  const isoproof_coo_difference *d = &c->differences.items[number];
  const iso_coo_row *row = &c->matrix->rows.items[d->row];
  char story[32], name[ISOPROOF_COO_SHORT_BYTES];
  snprintf(story, sizeof story, "d%zu", number + 1);
  isoproof_coo_matrix_level_short(c->matrix, d->level, name);
  iso_out_text(out, "<tr class=\"row\"><td class=\"at-level\" title=\"");
  iso_put_xml(out, c->matrix->levels[d->level]);
  iso_out_text(out, "\"><span class=\"long\">");
  iso_put_xml(out, c->matrix->levels[d->level]);
  iso_out_printf(out, "</span><span class=\"short\">%s</span></td><th class=\"case-name\" scope=\"row\">", name);
  if (row->number > 0) iso_out_printf(out, "%u ", row->number);
  iso_put_xml(out, row->name);
  iso_out_text(out, "</th><td class=\"at\">");
  iso_coo_page_mark(out, &c->matrix->cells[d->row * c->matrix->level_count + d->level].shown, story);
  iso_out_text(out, "</td><td class=\"at\">");
  iso_coo_page_mark(out, &c->other->cells[d->other_row * c->other->level_count + d->other_level].shown, story);
  iso_out_printf(out, "</td></tr>\n<tr class=\"story-row\" id=\"%s\"><td colspan=\"4\"><div class=\"pair\">", story);
  iso_coo_page_story(out, c->matrix, d->row, d->level, c->matrix->database, NULL);
  iso_coo_page_story(out, c->other, d->other_row, d->other_level, c->other->database, "differences");
  iso_out_text(out, "</div></td></tr>\n");
}

static void put_differences(iso_output *out, const isoproof_coo_comparison *c) {
  if (count_differences(c) == 0) return;
  iso_out_text(out, "<section class=\"part\" id=\"differences\" aria-labelledby=\"differences-title\">\n<div "
                    "class=\"part-head\"><h2 id=\"differences-title\">What differs</h2><p>a letter leads to what was "
                    "executed on both</p></div>\n");
  iso_coo_page_legend(out);
  iso_out_text(out, "<table class=\"matrix\" id=\"cells\"><thead><tr><th>Level</th><th>Case</th><th class=\"at\">");
  iso_put_xml(out, c->matrix->database);
  iso_out_text(out, "</th><th class=\"at\">");
  iso_put_xml(out, c->other->database);
  iso_out_text(out, "</th></tr></thead><tbody>\n");
  for (size_t i = 0; i < count_differences(c) && !iso_output_failed(out); i++) put_row(out, c, i);
  iso_out_text(out, "</tbody></table>\n</section>\n");
}

/* A line for each kind and side. */
static void put_unmatched(iso_output *out, const isoproof_coo_comparison *c) {
  if (c->unmatched.count == 0) return;
  iso_out_text(
      out, "<section class=\"part\" id=\"unmatched\" aria-labelledby=\"unmatched-title\">\n<div class=\"part-head\">"
           "<h2 id=\"unmatched-title\">Without a counterpart</h2></div>\n<ul class=\"only-list\">\n");
  for (int kind = 0; kind < 4; kind++) {
    bool in_other = (kind & 1) != 0, is_level = kind < 2, any = false;
    for (size_t i = 0; i < c->unmatched.count; i++) {
      const isoproof_coo_unmatched *one = &c->unmatched.items[i];
      if (one->in_other != in_other || one->is_level != is_level) continue;
      if (!any) {
        iso_out_printf(out, "<li>%s of ", is_level ? "Levels" : "Cases");
        iso_put_xml(out, in_other ? c->other->database : c->matrix->database);
        iso_out_text(out, ": ");
      } else {
        iso_out_text(out, ", ");
      }
      iso_put_xml(out, one->name);
      any = true;
    }
    if (any) iso_out_text(out, "</li>\n");
  }
  iso_out_text(out, "</ul>\n</section>\n");
}

isoproof_status isoproof_coo_comparison_write_html(const isoproof_coo_comparison *comparison, isoproof_write_fn write,
                                                   void *user, isoproof_error *error) {
  iso_output *out = NULL;
  ISO_TRY(iso_coo_page_begin(write, user, &out, error));
  put_first(out, comparison);
  put_differences(out, comparison);
  put_unmatched(out, comparison);
  return iso_coo_page_end(out, error);
}
