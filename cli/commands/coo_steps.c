/* coo_steps.c - what happened in each cell: sessions side by side, with times, waits, results and errors. */
#include <string.h>

#include "cli/commands/coo.h"

enum { TIME = 12, LEAST = 24, SESSIONS_MOST = 8 };

static unsigned count_sessions(const coo_view *view, size_t row, size_t level) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  unsigned most = 0;
  for (size_t i = 0; isoproof_coo_cell_event_at(view->matrix, row, level, i, &event); i++) {
    if (event.session > most) most = event.session;
  }
  return most < SESSIONS_MOST ? most : SESSIONS_MOST;
}

/* One line of an event, as its session would tell it. */
static void tell(const isoproof_coo_event *event, bool script, char *out, size_t size) {
  const char *sql = event->sql;
  if (strcmp(event->kind, "waits") == 0)
    snprintf(out, size, "%s%s%s ... waits", script ? "" : event->step, script ? "" : ": ", sql);
  else if (strcmp(event->kind, "skipped") == 0)
    snprintf(out, size, "%s skipped", script ? sql : event->step);
  else if (strcmp(event->kind, "undone") == 0)
    snprintf(out, size, "rolled back");
  else if (event->error != NULL)
    snprintf(out, size, "%s: %s %s", script ? sql : event->step, event->code, event->error);
  else if (event->value != NULL)
    snprintf(out, size, "%s%s%s -> %s", script ? "" : event->step, script ? "" : ": ", sql,
             *event->value != 0 ? event->value : "(none)");
  else
    snprintf(out, size, "%s%s%s%s", script ? "" : event->step, script ? "" : ": ", sql,
             event->waited ? " goes on" : "");
}

static double time_of(const isoproof_coo_event *event) {
  return (strcmp(event->kind, "done") == 0 ? event->finished : event->started) * 1000;
}

/* Where the sessions do not fit beside each other: each step says whose it is. */
static void print_events_narrow(const coo_view *view, size_t row, size_t level, bool script) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  char text[400];
  printf("  %-*s%s\n", TIME, "ms", "session");
  for (size_t i = 0; isoproof_coo_cell_event_at(view->matrix, row, level, i, &event); i++) {
    tell(&event, script, text, sizeof text);
    coo_put(view, TIME + 10, "  %*.1f  %*s%-8u\t%s", TIME - 4, time_of(&event), 2, "", event.session, text);
  }
}

static void print_events(const coo_view *view, size_t row, size_t level, bool script) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  char text[400];
  unsigned sessions = count_sessions(view, row, level), width[SESSIONS_MOST + 1] = {0};
  for (size_t i = 0; isoproof_coo_cell_event_at(view->matrix, row, level, i, &event); i++) {
    tell(&event, script, text, sizeof text);
    unsigned columns = text_columns(text);
    if (event.session <= sessions && columns > width[event.session]) width[event.session] = columns;
  }
  unsigned total = TIME + 2;
  for (unsigned s = 1; s <= sessions; s++) total += (width[s] < LEAST ? LEAST : width[s]) + 2;
  if (total > view->width + 2) {
    print_events_narrow(view, row, level, script);
    return;
  }
  printf("  %-*s", TIME, "ms");
  for (unsigned s = 1; s <= sessions; s++) {
    if (width[s] < LEAST) width[s] = LEAST;
    snprintf(text, sizeof text, "session %u", s);
    printf("%-*s", s < sessions ? (int)width[s] + 2 : 0, text);
  }
  putchar('\n');
  for (size_t i = 0; isoproof_coo_cell_event_at(view->matrix, row, level, i, &event); i++) {
    printf("  %*.1f  ", TIME - 4, time_of(&event));
    unsigned indent = 2;
    for (unsigned s = 1; s < event.session && s <= sessions; s++) indent += width[s] + 2;
    tell(&event, script, text, sizeof text);
    printf("%*s", (int)indent, "");
    put_escaped(stdout, text);
    putchar('\n');
  }
}

static void print_errors(const coo_view *view, size_t row, size_t level) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  for (size_t i = 0; isoproof_coo_cell_error_at(view->matrix, row, level, i, &event); i++) {
    coo_put(view, 4, "  session %u, %s: %s %s", event.session, event.step, event.code, event.message);
  }
}

/* The verdicts, by verdict. */
static void print_verdicts(const coo_view *view, size_t row, size_t level) {
  static const struct {
    const char *verdict, *says;
  } wanted[] = {{"violated", "  what committed violates  "}, {"satisfied", "  what committed satisfies "}};
  for (size_t w = 0; w < COUNT_OF(wanted); w++) {
    isoproof_coo_verdict verdict = {.struct_size = sizeof verdict};
    char names[1024] = "";
    size_t used = 0;
    for (size_t i = 0; isoproof_coo_cell_verdict_at(view->matrix, row, level, i, &verdict) && used < sizeof names;
         i++) {
      if (strcmp(verdict.verdict, wanted[w].verdict) != 0) continue;
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", verdict.level);
    }
    if (used > 0) coo_put(view, 4, "%s\t%s", wanted[w].says, names);
  }
}

/* Whether the level that is expected allows it. */
static void print_expected(const coo_view *view, size_t level, const isoproof_coo_cell *cell) {
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  if (!isoproof_coo_matrix_summary_at(view->matrix, level, &summary)) return;
  if (summary.expected == NULL) {
    puts("  expected  nothing: the database documents no level for it");
    return;
  }
  char verdict[80];
  if (cell->unexpected > 0)
    snprintf(verdict, sizeof verdict, "UNEXPECTED, it forbids this (%u of %u runs)", cell->unexpected, cell->runs);
  else
    snprintf(verdict, sizeof verdict,
             cell->expected != NULL && strcmp(cell->expected, "unknown") == 0 ? "not decided" : "allowed");
  coo_put(view, 12, "  expected  \t%s, %s: %s", summary.expected,
          strcmp(summary.source, "option") == 0 ? "which was asked for" : "which the database documents", verdict);
}

void coo_steps_cell(const coo_view *view, size_t r, size_t l) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  char letters[COO_LETTERS], title[256];
  const char *level = isoproof_coo_matrix_level_at(view->matrix, l);
  if (!isoproof_coo_matrix_row_at(view->matrix, r, &row) || !isoproof_coo_matrix_cell_at(view->matrix, r, l, &cell) ||
      cell.runs == 0)
    return;
  coo_letters(&cell, letters);
  coo_row_title(&row, title, sizeof title);
  coo_put(view, 2, "%s (%s) at %s: %s, %s", title, row.kind, level, letters, isoproof_coo_result_meaning(cell.result));
  if (row.plan != NULL) coo_put(view, 12, "  planned   \t%s", row.plan);
  if (cell.executed != NULL) coo_put(view, 12, "  executed  \t%s", cell.executed);
  print_expected(view, l, &cell);
  char published = coo_differs(view, &row, level, &cell);
  if (published != 0) printf("  the paper reports %c\n", published);
  putchar('\n');
  print_events(view, r, l, row.plan == NULL);
  putchar('\n');
  print_errors(view, r, l);
  if (cell.executed != NULL) {
    coo_put(view, 4, "  POP cycle of what was executed: %s", cell.cycle != NULL ? cell.cycle : "none");
    coo_put(view, 4, "  Adya, of what committed: %s", cell.phenomenon != NULL ? cell.phenomenon : "none");
  }
  print_verdicts(view, r, l);
}

void coo_steps(const coo_view *view) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  put_escaped(stdout, isoproof_coo_matrix_database(view->matrix));
  putchar('\n');
  for (size_t r = 0; isoproof_coo_matrix_row_at(view->matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_level_at(view->matrix, l) != NULL; l++) {
      putchar('\n');
      coo_steps_cell(view, r, l);
    }
  }
}
