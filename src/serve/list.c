/* The list of runs: when, on what, with which workload, what was expected, and what was found. */
#include "serve/list.h"

#include <stdio.h>
#include <string.h>

#include "report/document/assessment.h"
#include "report/escape.h"
#include "serve/html.h"
#include "serve/run.h"

/* The columns of the table: C name, heading, class, whether it can be sorted by. */
#define COLUMNS(X)                                                                                                     \
  X(PICK, "", "pick", false)                                                                                           \
  X(WHEN, "time", "when", true)                                                                                        \
  X(DATABASE, "database", "database", true)                                                                            \
  X(ISOLATION, "isolation", "isolation", true)                                                                         \
  X(WORKLOAD, "workload", "workload", true)                                                                            \
  X(EXPECTED, "expected", "expected", true)                                                                            \
  X(VERDICT, "verdict", "verdict", true)                                                                               \
  X(TRANSACTIONS, "transactions", "number", true)                                                                      \
  X(DURATION, "duration", "number", true)                                                                              \
  X(FILES, "files", "files", false)

typedef enum column {
#define ISO_X(name, heading, class, sorts) name,
  COLUMNS(ISO_X)
#undef ISO_X
      COLUMN_COUNT
} column;

static const struct column_info {
  const char *heading, *class;
  bool sorts;
} columns[] = {
#define ISO_X(name, heading, class, sorts) {heading, class, sorts},
    COLUMNS(ISO_X)
#undef ISO_X
};

typedef struct row {
  iso_output *out;
  const iso_past_run *run;
  const isoproof_document *document; /* NULL where nothing can be read */
  const iso_past_run *older;         /* the next one that can be compared; NULL for none */
} row;

/* ---- cells ---- */

/* On narrow screens each cell carries the name of its column. */
static void begin_cell(const row *r, column which, const char *sort) {
  iso_out_printf(r->out, "<td class=\"%s\" data-name=\"%s\"", columns[which].class, columns[which].heading);
  if (sort != NULL) {
    iso_out_text(r->out, " data-sort=\"");
    iso_put_xml(r->out, sort);
    iso_out_char(r->out, '"');
  }
  iso_out_char(r->out, '>');
}

static void put_cell(const row *r, column which, const char *text, const char *sort) {
  begin_cell(r, which, sort);
  if (text[0] != 0) {
    iso_out_text(r->out, which == EXPECTED ? "<span class=\"level-name\">" : "<span>");
    iso_put_xml(r->out, text);
    iso_out_text(r->out, "</span>");
  }
  iso_out_text(r->out, "</td>");
}

static const char *const *parts_of(const iso_past_run *run) { return (const char *const *)run->parts; }

static void put_pick(const row *r, const char *name) {
  begin_cell(r, PICK, NULL);
  if (r->document != NULL && r->run->complete && r->run->part_count > 0) {
    iso_out_text(r->out, "<input type=\"checkbox\" hidden value=\"");
    iso_html_path(r->out, parts_of(r->run), r->run->part_count);
    iso_out_text(r->out, "\" aria-label=\"Compare ");
    iso_put_xml(r->out, name);
    iso_out_text(r->out, "\">");
  }
  iso_out_text(r->out, "</td>");
}

/* When it was, which leads to its page, and the name of its folder. */
static void put_when(const row *r, const char *name) {
  char text[ISO_FIGURE] = "";
  if (r->document != NULL) iso_figure_started(r->document, text);
  begin_cell(r, WHEN, text[0] != 0 ? text : name);
  iso_out_text(r->out, "<span>");
  const char *shown = text[0] != 0 ? text : name;
  if ((r->run->complete && r->document != NULL) || r->run->live)
    iso_html_link(r->out, parts_of(r->run), r->run->part_count, "", shown);
  else
    iso_put_xml(r->out, shown);
  if (shown != name) {
    iso_out_text(r->out, "<br><span class=\"small\">");
    iso_put_xml(r->out, name);
    iso_out_text(r->out, "</span>");
  }
  iso_out_text(r->out, "</span></td>");
}

/* The anomaly that shows it stands below it. */
static void put_anomaly(const row *r) {
  const isoproof_document_anomaly *first = r->document != NULL ? isoproof_document_anomaly_at(r->document, 0) : NULL;
  if (first == NULL) return;
  uint64_t others = iso_document_anomaly_count(r->document) - 1;
  iso_out_text(r->out, "<br><span class=\"small\">");
  iso_put_xml(r->out, first->name);
  if (others > 0) iso_out_printf(r->out, " and %llu more", (unsigned long long)others);
  iso_out_text(r->out, "</span>");
}

/* A run that was to go on longer, and was judged all the same. */
static void put_interruption(const row *r) {
  const char *when = r->document != NULL ? iso_figure_fact(r->document, "interrupted") : "";
  if (!r->run->complete || when[0] == 0) return;
  iso_out_text(r->out, "<br><span class=\"small\">interrupted ");
  iso_put_xml(r->out, when);
  iso_out_text(r->out, "</span>");
}

static void put_verdict(const row *r) {
  const char *verdict = r->run->live          ? "running"
                        : r->document == NULL ? "unreadable"
                        : r->run->complete    ? iso_overall_verdict_name(r->document)
                                              : "interrupted";
  begin_cell(r, VERDICT, verdict);
  iso_out_printf(r->out, "<span><span class=\"chip %s\">%s</span>", verdict, verdict);
  put_anomaly(r);
  put_interruption(r);
  iso_out_text(r->out, "</span></td>");
}

static void put_figures(const row *r) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  char text[ISO_FIGURE] = "", sort[32] = "";
  if (r->document != NULL && r->run->complete) {
    isoproof_document_counts(r->document, &counts);
    iso_figure_count(counts.transactions, text);
    snprintf(sort, sizeof sort, "%llu", (unsigned long long)counts.transactions);
  }
  put_cell(r, TRANSACTIONS, text, sort);
  text[0] = sort[0] = 0;
  if (r->document != NULL && r->document->has_times) {
    iso_figure_duration(r->document, text);
    snprintf(sort, sizeof sort, "%.0f", (double)r->document->last_end - (double)r->document->first_start);
  }
  put_cell(r, DURATION, text, sort);
}

static void put_files(const row *r) {
  const char *const *parts = parts_of(r->run);
  uint32_t count = r->run->part_count;
  begin_cell(r, FILES, NULL);
  if (r->run->complete && r->document != NULL) {
    iso_out_text(r->out, "<span class=\"small\">");
    iso_html_link(r->out, parts, count, "result.json", "JSON");
    if (isoproof_document_anomaly_at(r->document, 0) != NULL) {
      iso_out_text(r->out, " \xc2\xb7 ");
      iso_html_link(r->out, parts, count, "counterexample.svg", "drawing");
    }
    if (r->older != NULL && count > 0) {
      iso_out_text(r->out, " \xc2\xb7 <a title=\"Compare with the run before\" href=\"/compare/");
      iso_html_path(r->out, parts_of(r->older), r->older->part_count);
      iso_out_text(r->out, "with/");
      iso_html_path(r->out, parts, count);
      iso_out_text(r->out, "\">what changed</a>");
    }
    iso_out_text(r->out, "</span>");
  }
  iso_out_text(r->out, "</td>");
}

static void put_row(const row *r) {
  char name[600], text[ISO_FIGURE] = "";
  const isoproof_document *d = r->document;
  iso_html_run_name(parts_of(r->run), r->run->part_count, name, sizeof name);
  iso_out_text(r->out, "<tr>");
  put_pick(r, name);
  put_when(r, name);
  put_cell(r, DATABASE, d != NULL ? iso_figure_fact(d, "database") : "", NULL);
  put_cell(r, ISOLATION, d != NULL ? iso_figure_fact(d, "isolation") : "", NULL);
  put_cell(r, WORKLOAD, d != NULL ? iso_figure_fact(d, "workload") : "", NULL);
  if (d != NULL) iso_figure_asked(d, text);
  put_cell(r, EXPECTED, text[0] != 0 || d == NULL ? text : iso_figure_fact(d, "claims"), NULL);
  put_verdict(r);
  put_figures(r);
  put_files(r);
  iso_out_text(r->out, "</tr>\n");
}

/* ---- the table ---- */

static void put_head(iso_output *out) {
  iso_out_text(out, "<div class=\"tools\" hidden></div>\n<div class=\"scroll runs\" tabindex=\"0\" role=\"region\" "
                    "aria-label=\"Past runs\"><table><thead><tr>");
  for (int i = 0; i < COLUMN_COUNT; i++)
    iso_out_printf(out, "<th scope=\"col\" class=\"%s\"%s>%s</th>", columns[i].class,
                   columns[i].sorts ? "" : " data-fixed", columns[i].heading);
  iso_out_text(out, "</tr></thead><tbody>\n");
}

/* The document of a run that was opened ahead of its turn. */
typedef struct opened {
  size_t number;
  isoproof_document *document;
} opened;

static isoproof_document *open_listed(int root, const iso_past_run *run) {
  return run->complete ? iso_run_open(root, parts_of(run), run->part_count, false, ISO_RESULT_LISTED)
                       : iso_run_open_unfinished(root, parts_of(run), run->part_count);
}

/* The next run that can be read and compared; its document is kept for its turn. */
static const iso_past_run *find_older(int root, const iso_past_runs *runs, size_t from, opened *ahead) {
  for (size_t i = from; i < runs->list.count; i++) {
    const iso_past_run *run = &runs->list.items[i];
    if (!run->complete || run->part_count == 0) continue;
    if (ahead->document == NULL || ahead->number != i) {
      isoproof_document_free(ahead->document);
      *ahead = (opened){i, open_listed(root, run)};
    }
    if (ahead->document != NULL) return run;
  }
  return NULL;
}

static void put_runs(iso_output *out, int root, const iso_past_runs *runs) {
  opened ahead = {0, NULL};
  put_head(out);
  for (size_t i = 0; i < runs->list.count; i++) {
    const iso_past_run *run = &runs->list.items[i];
    bool known = ahead.document != NULL && ahead.number == i;
    isoproof_document *document = known ? ahead.document : open_listed(root, run);
    if (known) ahead.document = NULL;
    row r = {out, run, document, run->complete ? find_older(root, runs, i + 1, &ahead) : NULL};
    put_row(&r);
    isoproof_document_free(document);
  }
  isoproof_document_free(ahead.document);
  iso_out_text(out, "</tbody></table></div>\n");
}

bool iso_list_put(iso_output *out, int root) {
  iso_past_runs runs;
  if (!iso_runs_find(root, &runs)) return false;
  iso_html_begin(out, "Past runs");
  if (runs.list.count == 0)
    iso_out_text(out, "<p>There is no run here yet. <code>isoproof test</code> makes one and saves it below "
                      "<code>isoproof-out</code>; it appears when this page is loaded again.</p>\n");
  else
    put_runs(out, root, &runs);
  if (runs.more) iso_out_printf(out, "<p class=\"hint\">Only the last %d runs are listed.</p>\n", ISO_RUNS_MOST);
  iso_out_text(out, "<script src=\"/list.js\"></script>\n");
  iso_html_end(out);
  iso_runs_free(&runs);
  return true;
}
