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

static void json_cell(isoproof_json *j, const coo_view *view, const isoproof_coo_row *row, size_t r, size_t l,
                      const isoproof_coo_cell *cell) {
  const isoproof_coo_matrix *matrix = view->matrix;
  const char *level = isoproof_coo_matrix_level_at(matrix, l);
  char letter[2] = {isoproof_coo_result_letter(cell->result), 0};
  char published[2] = {
      isoproof_coo_published(isoproof_coo_matrix_database(matrix), level, view->hermitage ? 0 : row->number), 0};
  isoproof_coo_verdict verdict = {.struct_size = sizeof verdict};
  isoproof_coo_event event = {.struct_size = sizeof event};
  isoproof_json_name(j, level);
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
    for (size_t t = 0; (test = coo_hermitage_test(t)) != NULL; t++) {
      char letter = coo_hermitage_letter(matrix, l, t);
      if (letter == '-') continue;
      field(j, test, letter == 'y' ? "prevented" : letter == 'r' ? "read-only" : "possible");
    }
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
}

void coo_json(const coo_view *view) {
  const isoproof_coo_matrix *matrix = view->matrix;
  isoproof_json *j = json_to(stdout);
  const char *level;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  field(j, "database", isoproof_coo_matrix_database(matrix));
  isoproof_json_name(j, "levels");
  isoproof_json_list(j);
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(matrix, i)) != NULL; i++) isoproof_json_string(j, level);
  isoproof_json_end(j);
  isoproof_json_name(j, "seconds");
  isoproof_json_number(j, isoproof_coo_matrix_seconds(matrix));
  isoproof_json_name(j, "cases");
  isoproof_json_list(j);
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    isoproof_json_object(j);
    isoproof_json_name(j, "no");
    isoproof_json_u64(j, row.number);
    field(j, "name", row.name);
    field(j, "class", row.kind);
    field(j, "schedule", row.plan);
    isoproof_json_name(j, "results");
    isoproof_json_object(j);
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++) json_cell(j, view, &row, r, l, &cell);
    isoproof_json_end(j);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
  if (view->hermitage) json_hermitage(j, matrix);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}
