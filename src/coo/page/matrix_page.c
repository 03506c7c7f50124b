/* matrix_page.c - the page of a matrix: the sentence, what is unexpected, the table with its stories. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coo/page/page.h"
#include "report/escape.h"

/* A page of more cells than that has no stories of cells that passed, so that a browser still opens it. */
enum { STORIES_MOST = 4000 };

typedef struct writing {
  iso_output *out;
  const isoproof_coo_matrix *matrix;
  size_t rows, levels;
  bool published, few_stories;
} writing;

static bool is_anomaly(const isoproof_coo_cell *cell) {
  return cell->counts[ISOPROOF_COO_ANOMALY] > 0 || cell->broken || cell->unexpected > 0;
}

static bool has_story(const writing *w, const isoproof_coo_cell *cell) {
  return cell->runs > 0 && (!w->few_stories || is_anomaly(cell));
}

/* ---- first screen ---- */

static void put_chip(const writing *w, size_t unexpected, bool expected) {
  if (!isoproof_coo_matrix_complete(w->matrix))
    iso_out_text(w->out,
                 "<p class=\"notice\">The run was stopped before its end: what is not run has no letter.</p>\n");
  const char *state = unexpected > 0 ? "violated" : expected ? "satisfied" : "unknown";
  iso_out_printf(w->out, "<p class=\"chip chip-%s\"><span aria-hidden=\"true\">%s</span> ", state,
                 unexpected > 0 ? "&#10007;"
                 : expected     ? "&#10003;"
                                : "?");
  if (unexpected > 0)
    iso_out_printf(w->out, "%zu unexpected", unexpected);
  else
    iso_out_text(w->out, expected ? "Nothing unexpected" : "Nothing was expected");
  iso_out_text(w->out, "</p>\n");
}

static void put_title(const writing *w, size_t unexpected, bool expected) {
  iso_out_text(w->out, "<h1 id=\"verdict-title\">");
  iso_put_xml(w->out, isoproof_coo_matrix_database(w->matrix));
  if (unexpected > 0)
    iso_out_printf(w->out, " shows %zu anomal%s that its level%s forbid%s", unexpected, unexpected == 1 ? "y" : "ies",
                   w->levels == 1 ? "" : "s", w->levels == 1 ? "s" : "");
  else
    iso_out_text(w->out, expected ? " keeps what is expected of its levels" : ": its matrix of anomalies");
  iso_out_printf(w->out, "</h1>\n<p class=\"part-note\">%zu case%s at %zu isolation level%s, in %.1f seconds", w->rows,
                 w->rows == 1 ? "" : "s", w->levels, w->levels == 1 ? "" : "s", isoproof_coo_matrix_seconds(w->matrix));
  if (isoproof_coo_matrix_left_out(w->matrix) > 0)
    iso_out_printf(w->out, "; %" PRIu64 " more cycles within the limits were left out",
                   isoproof_coo_matrix_left_out(w->matrix));
  iso_out_text(w->out,
               ". Each case is a schedule that makes an anomaly happen if the database lets it; what was really "
               "executed is judged.</p>\n");
}

static void put_first(const writing *w) {
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  bool expected = false;
  for (size_t i = 0; isoproof_coo_matrix_summary_at(w->matrix, i, &summary); i++)
    expected = expected || summary.expected != NULL;
  size_t unexpected = isoproof_coo_matrix_unexpected(w->matrix);
  iso_out_text(w->out, "<section class=\"sum\" id=\"verdict\" aria-labelledby=\"verdict-title\">\n");
  put_chip(w, unexpected, expected);
  put_title(w, unexpected, expected);
  iso_coo_page_levels(w->out, w->matrix);
  iso_out_text(w->out, "</section>\n");
}

static void put_unexpected(const writing *w) {
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  if (isoproof_coo_matrix_unexpected(w->matrix) == 0) return;
  iso_out_text(w->out,
               "<section class=\"part\" id=\"unexpected\" aria-labelledby=\"unexpected-title\">\n"
               "<div class=\"part-head\"><h2 id=\"unexpected-title\">Unexpected</h2><p>what the definition of the "
               "expected level forbids</p></div>\n");
  for (size_t l = 0; l < w->levels; l++) {
    for (size_t r = 0; r < w->rows && isoproof_coo_matrix_cell_at(w->matrix, r, l, &cell); r++) {
      if (cell.unexpected == 0) continue;
      iso_out_text(w->out, "<article class=\"loud\">");
      iso_coo_page_story(w->out, w->matrix, r, l, NULL, NULL);
      iso_out_text(w->out, "</article>\n");
    }
  }
  iso_out_text(w->out, "</section>\n");
}

/* ---- the table ---- */

static void put_head(const writing *w) {
  bool hermitage = isoproof_coo_matrix_suite(w->matrix) == ISOPROOF_SUITE_HERMITAGE;
  iso_out_printf(w->out, "<thead><tr><th class=\"no\">No</th><th class=\"class\">%s</th><th>Case</th>",
                 hermitage ? "" : "Class");
  for (size_t l = 0; l < w->levels; l++) {
    char name[ISOPROOF_COO_SHORT_BYTES];
    const char *level = isoproof_coo_matrix_level_at(w->matrix, l);
    isoproof_coo_matrix_level_short(w->matrix, l, name);
    iso_out_text(w->out, "<th class=\"at\" scope=\"col\" title=\"");
    iso_put_xml(w->out, level);
    iso_out_text(w->out, "\"><span class=\"long\">");
    iso_put_xml(w->out, level);
    iso_out_printf(w->out, "</span><span class=\"short\" aria-hidden=\"true\">%s</span></th>", name);
  }
  iso_out_text(w->out, "</tr></thead>\n");
}

static void put_cell(const writing *w, const isoproof_coo_row *row, size_t r, size_t l, const isoproof_coo_cell *cell) {
  char story[32];
  const char *level = isoproof_coo_matrix_level_at(w->matrix, l);
  snprintf(story, sizeof story, "c%zu-%zu", r + 1, l + 1);
  iso_out_text(w->out, "<td class=\"at\">");
  iso_coo_page_mark(w->out, cell, has_story(w, cell) ? story : NULL);
  char paper = w->published && cell->runs > 0
                   ? isoproof_coo_published(isoproof_coo_matrix_database(w->matrix), level, row->number)
                   : 0;
  if (paper != 0 && paper != isoproof_coo_result_letter(cell->result))
    iso_out_printf(w->out, "<span class=\"paper\">paper: %c</span>", paper);
  iso_out_text(w->out, "</td>");
}

static void put_row(const writing *w, size_t r, const isoproof_coo_row *row) {
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  bool anomaly = false, unexpected = false;
  for (size_t l = 0; l < w->levels && isoproof_coo_matrix_cell_at(w->matrix, r, l, &cell); l++) {
    anomaly = anomaly || is_anomaly(&cell);
    unexpected = unexpected || cell.unexpected > 0;
  }
  iso_out_printf(w->out, "<tr class=\"row%s%s\"><td class=\"no\">", anomaly ? " has-A" : "",
                 unexpected ? " has-unexpected" : "");
  if (row->number > 0) iso_out_u64(w->out, row->number);
  /* Hermitage has no classes: what it tests, in words, is below the name. */
  bool hermitage = isoproof_coo_matrix_suite(w->matrix) == ISOPROOF_SUITE_HERMITAGE;
  iso_out_text(w->out, "</td><td class=\"class\">");
  if (!hermitage) iso_put_xml(w->out, row->kind);
  iso_out_text(w->out, "</td><th class=\"case-name\" scope=\"row\">");
  iso_put_xml(w->out, row->name);
  const char *more = hermitage ? row->kind : row->plan;
  if (more != NULL && strcmp(more, row->name) != 0) {
    iso_out_text(w->out, hermitage ? "<br><span class=\"plan\">" : "<br><span class=\"plan code\">");
    iso_put_xml(w->out, more);
    iso_out_text(w->out, "</span>");
  }
  iso_out_text(w->out, "</th>");
  for (size_t l = 0; l < w->levels && isoproof_coo_matrix_cell_at(w->matrix, r, l, &cell); l++)
    put_cell(w, row, r, l, &cell);
  iso_out_text(w->out, "</tr>\n");
  for (size_t l = 0; l < w->levels && isoproof_coo_matrix_cell_at(w->matrix, r, l, &cell); l++) {
    if (!has_story(w, &cell)) continue;
    iso_out_printf(w->out, "<tr class=\"story-row\" id=\"c%zu-%zu\"><td colspan=\"%zu\">", r + 1, l + 1, w->levels + 3);
    iso_coo_page_story(w->out, w->matrix, r, l, NULL, "matrix");
    iso_out_text(w->out, "</td></tr>\n");
  }
}

static void put_matrix(const writing *w) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  iso_out_text(w->out,
               "<section class=\"part\" id=\"matrix\" aria-labelledby=\"matrix-title\">\n<div class=\"part-head\">"
               "<h2 id=\"matrix-title\">Matrix</h2><p>a letter leads to what was executed behind it");
  if (w->few_stories) iso_out_text(w->out, "; of so many cells, only those with an anomaly have it");
  iso_out_text(w->out, "</p></div>\n");
  iso_coo_page_legend(w->out);
  iso_out_text(w->out,
               "<div class=\"only\" id=\"only\" role=\"group\" aria-label=\"Rows\" hidden>"
               "<button type=\"button\" class=\"tool\" data-only=\"\" aria-pressed=\"true\">All rows</button>"
               "<button type=\"button\" class=\"tool\" data-only=\"only-anomalies\" aria-pressed=\"false\">With an "
               "anomaly</button>");
  if (isoproof_coo_matrix_unexpected(w->matrix) > 0)
    iso_out_text(w->out, "<button type=\"button\" class=\"tool\" data-only=\"only-unexpected\" "
                         "aria-pressed=\"false\">Unexpected</button>");
  iso_out_text(w->out, "</div>\n<table class=\"matrix\" id=\"cells\">\n");
  put_head(w);
  iso_out_text(w->out, "<tbody>\n");
  for (size_t r = 0; isoproof_coo_matrix_row_at(w->matrix, r, &row) && !iso_output_failed(w->out); r++)
    put_row(w, r, &row);
  iso_out_text(w->out, "</tbody></table>\n</section>\n");
}

static void put_hermitage(const writing *w) {
  const char *test;
  if (isoproof_coo_matrix_suite(w->matrix) != ISOPROOF_SUITE_HERMITAGE) return;
  iso_out_text(w->out,
               "<section class=\"part\" id=\"hermitage\" aria-labelledby=\"hermitage-title\">\n"
               "<div class=\"part-head\"><h2 id=\"hermitage-title\">As hermitage has it</h2><p>y prevented, n not "
               "prevented, r prevented for transactions that only read</p></div>\n<div class=\"table-wrap\">"
               "<table class=\"hermitage\"><thead><tr><th></th>");
  for (size_t t = 0; (test = isoproof_coo_hermitage_test_at(t)) != NULL; t++)
    iso_out_printf(w->out, "<th>%s</th>", test);
  iso_out_text(w->out, "</tr></thead><tbody>\n");
  for (size_t l = 0; l < w->levels; l++) {
    iso_out_text(w->out, "<tr><th scope=\"row\">");
    iso_put_xml(w->out, isoproof_coo_matrix_level_at(w->matrix, l));
    iso_out_text(w->out, "</th>");
    for (size_t t = 0; isoproof_coo_hermitage_test_at(t) != NULL; t++) {
      char letter = isoproof_coo_hermitage_letter(w->matrix, l, t);
      const char *kind = letter == 'n' ? "A" : letter == 'y' ? "P" : letter == 'r' ? "R" : "none";
      iso_out_printf(w->out, "<td><span class=\"mark mark-%s\">%c</span></td>", kind, letter);
    }
    iso_out_text(w->out, "</tr>\n");
  }
  iso_out_text(w->out, "</tbody></table></div>\n</section>\n");
}

isoproof_status isoproof_coo_matrix_write_html(const isoproof_coo_matrix *matrix, bool published,
                                               isoproof_write_fn write, void *user, isoproof_error *error) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  writing w = {.matrix = matrix, .published = published && isoproof_coo_matrix_suite(matrix) == ISOPROOF_SUITE_COO};
  ISO_TRY(iso_coo_page_begin(write, user, &w.out, error));
  while (isoproof_coo_matrix_row_at(matrix, w.rows, &row)) w.rows++;
  while (isoproof_coo_matrix_level_at(matrix, w.levels) != NULL) w.levels++;
  w.few_stories = w.rows * w.levels > STORIES_MOST;
  put_first(&w);
  put_unexpected(&w);
  put_matrix(&w);
  put_hermitage(&w);
  return iso_coo_page_end(w.out, error);
}
