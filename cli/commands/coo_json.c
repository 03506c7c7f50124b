/* coo_json.c - the matrix for programs. */
#include "cli/commands/coo.h"

static void field(json *j, const char *name, const char *value) {
  json_name(j, name);
  json_string(j, value);
}

static void json_event(json *j, const isoproof_coo_event *event) {
  json_open(j, '{');
  field(j, "kind", event->kind);
  json_name(j, "session");
  json_u64(j, event->session);
  field(j, "step", event->step);
  field(j, "sql", event->sql);
  field(j, "value", event->value);
  field(j, "error", event->error);
  field(j, "code", event->code);
  field(j, "message", event->message);
  json_name(j, "waited");
  json_bool(j, event->waited);
  json_name(j, "started");
  json_number(j, event->started);
  json_name(j, "finished");
  json_number(j, event->finished);
  json_close(j, '}');
}

static void json_errors(json *j, const isoproof_coo_matrix *matrix, size_t row, size_t level) {
  isoproof_coo_event event = {.struct_size = sizeof event};
  json_name(j, "errors");
  json_open(j, '[');
  for (size_t i = 0; isoproof_coo_cell_error_at(matrix, row, level, i, &event); i++) {
    json_open(j, '{');
    json_name(j, "session");
    json_u64(j, event.session);
    field(j, "step", event.step);
    field(j, "class", event.error);
    field(j, "code", event.code);
    field(j, "message", event.message);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void json_counts(json *j, const isoproof_coo_cell *cell) {
  json_name(j, "runs");
  json_open(j, '{');
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) {
    char letter[2] = {isoproof_coo_result_letter((isoproof_coo_result)i), 0};
    if (cell->counts[i] == 0) continue;
    json_name(j, letter);
    json_u64(j, cell->counts[i]);
  }
  json_close(j, '}');
}

static void json_cell(json *j, const coo_view *view, const isoproof_coo_row *row, size_t r, size_t l,
                      const isoproof_coo_cell *cell) {
  const isoproof_coo_matrix *matrix = view->matrix;
  const char *level = isoproof_coo_matrix_level_at(matrix, l);
  char letter[2] = {isoproof_coo_result_letter(cell->result), 0};
  char published[2] = {
      isoproof_coo_published(isoproof_coo_matrix_database(matrix), level, view->hermitage ? 0 : row->number), 0};
  isoproof_coo_verdict verdict = {.struct_size = sizeof verdict};
  isoproof_coo_event event = {.struct_size = sizeof event};
  json_name(j, level);
  json_open(j, '{');
  field(j, "result", letter);
  field(j, "executed", cell->executed);
  field(j, "cycle", cell->cycle);
  field(j, "adya", cell->phenomenon);
  json_name(j, "broken");
  json_bool(j, cell->broken);
  json_errors(j, matrix, r, l);
  json_name(j, "levels");
  json_open(j, '{');
  for (size_t i = 0; isoproof_coo_cell_verdict_at(matrix, r, l, i, &verdict); i++)
    field(j, verdict.level, verdict.verdict);
  json_close(j, '}');
  json_counts(j, cell);
  field(j, "published", published[0] != 0 ? published : NULL);
  json_name(j, "seconds");
  json_number(j, cell->seconds);
  json_name(j, "events");
  json_open(j, '[');
  for (size_t i = 0; isoproof_coo_cell_event_at(matrix, r, l, i, &event); i++) json_event(j, &event);
  json_close(j, ']');
  json_close(j, '}');
}

static void json_hermitage(json *j, const isoproof_coo_matrix *matrix) {
  const char *level, *test;
  json_name(j, "hermitage");
  json_open(j, '{');
  for (size_t l = 0; (level = isoproof_coo_matrix_level_at(matrix, l)) != NULL; l++) {
    json_name(j, level);
    json_open(j, '{');
    for (size_t t = 0; (test = coo_hermitage_test(t)) != NULL; t++) {
      char letter = coo_hermitage_letter(matrix, l, t);
      if (letter == '-') continue;
      field(j, test, letter == 'y' ? "prevented" : letter == 'r' ? "read-only" : "possible");
    }
    json_close(j, '}');
  }
  json_close(j, '}');
}

void coo_json(const coo_view *view) {
  const isoproof_coo_matrix *matrix = view->matrix;
  json j = {.out = stdout};
  const char *level;
  isoproof_coo_row row = {.struct_size = sizeof row};
  isoproof_coo_cell cell = {.struct_size = sizeof cell};
  json_open(&j, '{');
  json_name(&j, "schema");
  json_u64(&j, 1);
  field(&j, "database", isoproof_coo_matrix_database(matrix));
  json_name(&j, "levels");
  json_open(&j, '[');
  for (size_t i = 0; (level = isoproof_coo_matrix_level_at(matrix, i)) != NULL; i++) json_string(&j, level);
  json_close(&j, ']');
  json_name(&j, "seconds");
  json_number(&j, isoproof_coo_matrix_seconds(matrix));
  json_name(&j, "cases");
  json_open(&j, '[');
  for (size_t r = 0; isoproof_coo_matrix_row_at(matrix, r, &row); r++) {
    json_open(&j, '{');
    json_name(&j, "no");
    json_u64(&j, row.number);
    field(&j, "name", row.name);
    field(&j, "class", row.kind);
    field(&j, "schedule", row.plan);
    json_name(&j, "results");
    json_open(&j, '{');
    for (size_t l = 0; isoproof_coo_matrix_cell_at(matrix, r, l, &cell); l++) json_cell(&j, view, &row, r, l, &cell);
    json_close(&j, '}');
    json_close(&j, '}');
  }
  json_close(&j, ']');
  if (view->hermitage) json_hermitage(&j, matrix);
  json_close(&j, '}');
  putchar('\n');
}
