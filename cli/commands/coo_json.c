/* coo_json.c - the matrix for programs. */
#include "cli/commands/coo.h"

static void field(isoproof_json *j, const char *name, const char *value) {
  isoproof_json_name(j, name);
  isoproof_json_string(j, value);
}

static void json_event(isoproof_json *j, const isoproof_coo_event *event) {
  isoproof_json_object(j);
  field(j, "kind", event->kind);
  isoproof_json_name(j, "session");
  isoproof_json_u64(j, event->session);
  field(j, "step", event->step);
  field(j, "sql", event->sql);
  field(j, "value", event->value);
  field(j, "error", event->error);
  field(j, "code", event->code);
  field(j, "message", event->message);
  isoproof_json_name(j, "waited");
  isoproof_json_bool(j, event->waited);
  isoproof_json_name(j, "started");
  isoproof_json_number(j, event->started);
  isoproof_json_name(j, "finished");
  isoproof_json_number(j, event->finished);
  isoproof_json_end(j);
}

static void json_errors(isoproof_json *j, const isoproof_coo_matrix *matrix, size_t row, size_t level) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  isoproof_json_name(j, "errors");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_coo_cell_error_at(matrix, row, level, i, &event); i++) {
    isoproof_json_object(j);
    isoproof_json_name(j, "session");
    isoproof_json_u64(j, event.session);
    field(j, "step", event.step);
    field(j, "class", event.error);
    field(j, "code", event.code);
    field(j, "message", event.message);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

static void json_counts(isoproof_json *j, const isoproof_coo_cell *cell) {
  isoproof_json_name(j, "runs");
  isoproof_json_object(j);
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    char letter[2] = {isoproof_coo_result_letter((isoproof_coo_result)i), 0};
    if (cell->counts[i] == 0) continue;
    isoproof_json_name(j, letter);
    isoproof_json_u64(j, cell->counts[i]);
  }
  isoproof_json_end(j);
}

void coo_json_cell(isoproof_json *j, const coo_view *view, const isoproof_coo_row *row, size_t r, size_t l) {
  const isoproof_coo_matrix *matrix = view->matrix;
  isoproof_coo_cell found = {.struct_size = sizeof found}, *cell = &found;
  if (!isoproof_coo_matrix_cell_at(matrix, r, l, cell)) return;
  const char *level = isoproof_coo_matrix_level_at(matrix, l);
  char letter[2] = {isoproof_coo_result_letter(cell->result), 0};
  char published[2] = {
      isoproof_coo_published(isoproof_coo_matrix_database(matrix), level, view->hermitage ? 0 : row->number), 0};
  isoproof_coo_verdict verdict = {.struct_size = sizeof verdict};
  isoproof_coo_event event = {.struct_size = sizeof event};
  isoproof_json_object(j);
  field(j, "result", letter);
  field(j, "executed", cell->executed);
  field(j, "cycle", cell->cycle);
  field(j, "adya", cell->phenomenon);
  isoproof_json_name(j, "broken");
  isoproof_json_bool(j, cell->broken);
  json_errors(j, matrix, r, l);
  isoproof_json_name(j, "levels");
  isoproof_json_object(j);
  for (size_t i = 0; isoproof_coo_cell_verdict_at(matrix, r, l, i, &verdict); i++)
    field(j, verdict.level, verdict.verdict);
  isoproof_json_end(j);
  json_counts(j, cell);
  field(j, "published", published[0] != 0 ? published : NULL);
  field(j, "expected", cell->expected);
  isoproof_json_name(j, "unexpected");
  isoproof_json_u64(j, cell->unexpected);
  isoproof_json_name(j, "seconds");
  isoproof_json_number(j, cell->seconds);
  isoproof_json_name(j, "events");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_coo_cell_event_at(matrix, r, l, i, &event); i++) json_event(j, &event);
  isoproof_json_end(j);
  isoproof_json_end(j);
}

static void json_hermitage(isoproof_json *j, const isoproof_coo_matrix *matrix) {
  const char *level, *test;
  isoproof_json_name(j, "hermitage");
  isoproof_json_object(j);
  for (size_t l = 0; (level = isoproof_coo_matrix_level_at(matrix, l)) != NULL; l++) {
    isoproof_json_name(j, level);
    isoproof_json_object(j);
    for (size_t t = 0; (test = isoproof_coo_hermitage_test_at(t)) != NULL; t++) {
      char letter = isoproof_coo_hermitage_letter(matrix, l, t);
      if (letter == '-') continue;
      field(j, test, letter == 'y' ? "prevented" : letter == 'r' ? "read-only" : "possible");
    }
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

/* What was expected of each level, and what came of it. */
static void json_expected(isoproof_json *j, const isoproof_coo_matrix *matrix) {
  isoproof_coo_summary summary = {.struct_size = sizeof summary};
  char sentence[COO_SENTENCE];
  isoproof_json_name(j, "expected");
  isoproof_json_object(j);
  for (size_t l = 0; isoproof_coo_matrix_summary_at(matrix, l, &summary); l++) {
    isoproof_json_name(j, isoproof_coo_matrix_level_at(matrix, l));
    isoproof_json_object(j);
    field(j, "level", summary.expected);
    field(j, "source", summary.source);
    field(j, "note", summary.note);
    isoproof_json_name(j, "anomalies");
    isoproof_json_u64(j, summary.anomalies);
    isoproof_json_name(j, "unexpected");
    isoproof_json_u64(j, summary.unexpected);
    isoproof_coo_matrix_sentence_at(matrix, l, sentence, sizeof sentence);
    field(j, "summary", sentence);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

/* The cells that the expected level forbids, by case and level. */
static void json_unexpected(isoproof_json *j, const isoproof_coo_matrix *matrix) {
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  isoproof_json_name(j, "unexpected");
  isoproof_json_list(j);
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++) {
      if (cell.unexpected == 0) continue;
      isoproof_json_object(j);
      field(j, "name", row.name);
      field(j, "level", isoproof_coo_matrix_level_at(matrix, l));
      isoproof_json_end(j);
    }
  }
  isoproof_json_end(j);
}

static void json_case(isoproof_json *j, const coo_view *view, size_t r, const isoproof_coo_row *row) {
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  isoproof_json_object(j);
  isoproof_json_name(j, "no");
  if (row->number > 0)
    isoproof_json_u64(j, row->number);
  else
    isoproof_json_null(j);
  field(j, "name", row->name);
  field(j, "class", row->kind);
  field(j, "schedule", row->plan);
  isoproof_json_name(j, "results");
  isoproof_json_object(j);
  for (size_t l = 0; isoproof_coo_matrix_cell_at(view->matrix, r, l, &cell); l++) {
    if (cell.runs == 0) continue;
    isoproof_json_name(j, isoproof_coo_matrix_level_at(view->matrix, l));
    coo_json_cell(j, view, row, r, l);
  }
  isoproof_json_end(j);
  isoproof_json_end(j);
}

void coo_json(const coo_view *view) {
  const isoproof_coo_matrix *matrix = view->matrix;
  isoproof_json *j = json_to(stdout);
  const char *level;
  isoproof_coo_row row = {.struct_size = sizeof row};
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  field(j, "database", isoproof_coo_matrix_database(matrix));
  field(j, "suite", view->hermitage ? "hermitage" : "coo");
  isoproof_json_name(j, "levels");
  isoproof_json_list(j);
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(matrix, i)) != NULL; i++) isoproof_json_string(j, level);
  isoproof_json_end(j);
  json_expected(j, matrix);
  json_unexpected(j, matrix);
  isoproof_json_name(j, "complete");
  isoproof_json_bool(j, isoproof_coo_matrix_complete(matrix));
  isoproof_json_name(j, "left_out");
  isoproof_json_u64(j, isoproof_coo_matrix_left_out(matrix));
  isoproof_json_name(j, "seconds");
  isoproof_json_number(j, isoproof_coo_matrix_seconds(matrix));
  isoproof_json_name(j, "cases");
  isoproof_json_list(j);
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) json_case(j, view, r, &row);
  isoproof_json_end(j);
  if (view->hermitage) json_hermitage(j, matrix);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}
