/* story.c - what happened in a cell: planned, executed, expected, step by step. */
#include <isoproof/level.h>
#include <string.h>

#include "coo/page/page.h"
#include "report/escape.h"

/* ---- steps ---- */

static unsigned count_sessions(const isoproof_coo_matrix *matrix, size_t row, size_t level) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  unsigned most = 1;
  for (size_t i = 0; isoproof_coo_cell_event_at(matrix, row, level, i, &event); i++)
    if (event.session > most) most = event.session;
  return most;
}

static void put_span(iso_output *out, const char *kind, const char *text) {
  iso_out_printf(out, " <span class=\"%s\">", kind);
  iso_put_xml(out, text);
  iso_out_text(out, "</span>");
}

void iso_coo_page_event(iso_output *out, const isoproof_coo_event *event) {
  bool done = strcmp(event->kind, "done") == 0, waits = strcmp(event->kind, "waits") == 0;
  bool is_sql = strcmp(event->step, event->sql) == 0;
  iso_out_printf(out, "<li class=\"%s\"><span class=\"ms\">%.1f</span><div class=\"s%u\">",
                 event->error != NULL ? "is-failed"
                 : waits              ? "is-waiting"
                                      : "is-done",
                 (done ? event->finished : event->started) * 1000, event->session);
  iso_out_printf(out, "<span class=\"whose\">session %u</span>", event->session);
  if (strcmp(event->kind, "undone") == 0) {
    iso_out_text(out, "<span class=\"step\">rolled back</span></div></li>\n");
    return;
  }
  iso_out_text(out, is_sql ? "<span class=\"code\">" : "<span class=\"step code\">");
  iso_put_xml(out, event->step);
  iso_out_text(out, "</span>");
  if (!is_sql) put_span(out, "sql code", event->sql);
  if (waits) put_span(out, "waits", "waits for a lock");
  if (strcmp(event->kind, "skipped") == 0) put_span(out, "sql", "skipped: its transaction is over");
  if (done && event->waited && event->error == NULL) put_span(out, "waits", "goes on");
  if (event->value != NULL) {
    iso_out_text(out, " <span class=\"value\">returned ");
    iso_put_xml(out, *event->value != 0 ? event->value : "nothing");
    iso_out_text(out, "</span>");
  }
  if (event->error != NULL) {
    iso_out_text(out, "<br><span class=\"failed\"><span class=\"code\">");
    iso_put_xml(out, event->code);
    iso_out_text(out, "</span> ");
    iso_put_xml(out, event->error);
    iso_out_text(out, ": ");
    iso_put_xml(out, event->message);
    iso_out_text(out, "</span>");
  }
  iso_out_text(out, "</div></li>\n");
}

void iso_coo_page_steps_head(iso_output *out, unsigned sessions) {
  iso_out_printf(out,
                 "<ol class=\"steps\" style=\"--sessions: %u\">\n<li class=\"steps-head\"><span class=\"ms\">ms</span>",
                 sessions);
  for (unsigned i = 1; i <= sessions; i++) iso_out_printf(out, "<div class=\"s%u\">session %u</div>", i, i);
  iso_out_text(out, "</li>\n");
}

static void put_steps(iso_output *out, const isoproof_coo_matrix *matrix, size_t row, size_t level) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  iso_coo_page_steps_head(out, count_sessions(matrix, row, level));
  for (size_t i = 0; isoproof_coo_cell_event_at(matrix, row, level, i, &event); i++) iso_coo_page_event(out, &event);
  iso_out_text(out, "</ol>\n");
}

/* ---- facts ---- */

static void put_fact(iso_output *out, const char *name, const char *text, bool code) {
  if (text == NULL) return;
  iso_out_printf(out, "<dt>%s</dt><dd%s>", name, code ? " class=\"code\"" : "");
  iso_put_xml(out, text);
  iso_out_text(out, "</dd>\n");
}

static void put_runs(iso_output *out, const isoproof_coo_cell *cell) {
  if (cell->runs < 2) return;
  iso_out_text(out, "<dt>Runs</dt><dd>");
  for (int i = 0, any = 0; i < ISOPROOF_COO_RESULTS; i++) {
    if (cell->counts[i] == 0) continue;
    iso_out_printf(out, "%s%c %u", any++ > 0 ? ", " : "", isoproof_coo_result_letter((isoproof_coo_result)i),
                   cell->counts[i]);
  }
  iso_out_printf(out, " of %u", cell->runs);
  if (cell->unexpected > 0) iso_out_printf(out, "; %u unexpected", cell->unexpected);
  iso_out_text(out, "</dd>\n");
}

static void put_facts(iso_output *out, const isoproof_coo_row *row, const isoproof_coo_cell *cell) {
  iso_out_text(out, "<dl class=\"facts\">\n");
  put_fact(out, "Planned", row->plan, true);
  put_fact(out, "Executed", cell->executed, true);
  if (cell->executed != NULL) {
    put_fact(out, "Cycle", cell->cycle != NULL ? cell->cycle : "none", false);
    put_fact(out, "Adya", cell->phenomenon != NULL ? cell->phenomenon : "none", false);
  }
  put_runs(out, cell);
  iso_out_text(out, "</dl>\n");
}

static void put_verdicts(iso_output *out, const isoproof_coo_matrix *matrix, size_t row, size_t level) {
  isoproof_coo_verdict verdict = {.struct_size = sizeof verdict};
  if (!isoproof_coo_cell_verdict_at(matrix, row, level, 0, &verdict)) return;
  iso_out_text(out, "<details class=\"verdicts\"><summary>Verdicts on what committed, by level</summary><ul>\n");
  for (size_t i = 0; isoproof_coo_cell_verdict_at(matrix, row, level, i, &verdict); i++) {
    bool satisfied = strcmp(verdict.verdict, "satisfied") == 0, violated = strcmp(verdict.verdict, "violated") == 0;
    iso_out_printf(out, "<li class=\"%s\">", satisfied ? "is-satisfied" : violated ? "is-violated" : "is-open");
    iso_put_xml(out, verdict.level);
    iso_out_text(out, " ");
    iso_put_xml(out, verdict.verdict);
    iso_out_text(out, "</li>\n");
  }
  iso_out_text(out, "</ul></details>\n");
}

/* A sentence of constant text, with a capital. */
static void put_sentence(iso_output *out, const char *text) {
  char first = text[0];
  if (first >= 'a' && first <= 'z') first = (char)(first - 'a' + 'A');
  iso_out_char(out, first);
  iso_put_xml(out, text + (text[0] != 0));
}

/* Whether the level that is expected allows it. */
static void put_expected(iso_output *out, const isoproof_coo_summary *summary, const isoproof_coo_cell *cell) {
  const isoproof_level_info *info = summary->expected != NULL ? isoproof_level_find(summary->expected) : NULL;
  iso_out_text(out, "<p class=\"story-says\">");
  put_sentence(out, isoproof_coo_result_meaning(cell->result));
  if (cell->broken) iso_out_text(out, "; what committed is an anomaly all the same");
  iso_out_text(out, ".</p>\n");
  if (info == NULL) {
    iso_out_text(out, "<p class=\"story-says\">The database documents no level, so nothing was expected.</p>\n");
    return;
  }
  bool asked = strcmp(summary->source, "option") == 0;
  bool unknown = cell->expected != NULL && strcmp(cell->expected, "unknown") == 0;
  iso_out_printf(out, "<p class=\"story-says%s\">%s %s, which %s.</p>\n", cell->unexpected > 0 ? " is-bad" : "",
                 asked ? "Asked for was" : "The database documents", info->title,
                 cell->unexpected > 0 ? "forbids this: unexpected"
                 : unknown            ? "could not be decided"
                                      : "allows this");
}

void iso_coo_page_story(iso_output *out, const isoproof_coo_matrix *matrix, size_t row, size_t level, const char *title,
                        const char *close) {
  isoproof_coo_row r = {.struct_size = sizeof r};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  if (!isoproof_coo_matrix_row_at(matrix, row, &r) || !isoproof_coo_matrix_cell_at(matrix, row, level, &cell) ||
      !isoproof_coo_matrix_summary_at(matrix, level, &summary))
    return;
  iso_out_text(out, "<div class=\"story\"><div class=\"story-head\"><h3>");
  iso_coo_page_mark(out, &cell, NULL);
  iso_out_text(out, " ");
  if (title != NULL) {
    iso_put_xml(out, title);
  } else {
    if (r.number > 0) iso_out_printf(out, "%u ", r.number);
    iso_put_xml(out, r.name);
    iso_out_text(out, " at ");
    iso_put_xml(out, isoproof_coo_matrix_level_at(matrix, level));
  }
  iso_out_text(out, "</h3>");
  if (close != NULL) iso_out_printf(out, "<a href=\"#%s\">Close</a>", close);
  iso_out_text(out, "</div>\n");
  put_expected(out, &summary, &cell);
  put_facts(out, &r, &cell);
  put_steps(out, matrix, row, level);
  put_verdicts(out, matrix, row, level);
  iso_out_text(out, "</div>\n");
}
