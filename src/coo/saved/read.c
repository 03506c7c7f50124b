/* read.c - a matrix from its JSON, case by case. */
#include <isoproof/level.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "coo/matrix.h"
#include "report/document/json_tree.h"

/* Cells of a row while not all levels are known. */
typedef struct row_cells {
  iso_coo_cell cells[ISO_MOST_ISOLATIONS];
} row_cells;

typedef struct reading {
  iso_tokenizer tokens;
  isoproof_coo_matrix *matrix;
  iso_arena scratch; /* of the field, or the case */
  ISO_VEC(row_cells) cells;
  uint64_t schema;
  bool has_cases;
} reading;

/* ---- texts ---- */

static isoproof_status keep(reading *r, const iso_json *tree, const char **out, isoproof_error *error) {
  if (tree == NULL || tree->type != ISO_TREE_TEXT) return ISOPROOF_OK;
  *out = iso_arena_text(&r->matrix->arena, tree->text, tree->length);
  return *out != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status expected(reading *r, const char *what, isoproof_error *error) {
  return iso_fail_at(error, ISOPROOF_ERR_FORMAT, iso_token_place(&r->tokens), "expected %s", what);
}

/* The level of that name, a new one where it was not mentioned yet. */
static isoproof_status find_level(reading *r, const char *name, size_t *level, isoproof_error *error) {
  isoproof_coo_matrix *m = r->matrix;
  for (*level = 0; *level < m->level_count; (*level)++)
    if (strcmp(m->levels[*level], name) == 0) return ISOPROOF_OK;
  if (*level == ISO_MOST_ISOLATIONS)
    return iso_fail_at(error, ISOPROOF_ERR_LIMIT, iso_token_place(&r->tokens), "expected at most %d levels, found more",
                       ISO_MOST_ISOLATIONS);
  m->levels[*level] = iso_arena_text(&m->arena, name, strlen(name));
  if (m->levels[*level] == NULL) return iso_fail_memory(error);
  m->claims[m->level_count++].note = "";
  return ISOPROOF_OK;
}

/* ---- cells ---- */

static bool result_of(const iso_json *tree, isoproof_coo_result *result) {
  for (int i = 0; tree != NULL && tree->type == ISO_TREE_TEXT && tree->length == 1 && i < ISOPROOF_COO_RESULTS; i++) {
    if (tree->text[0] != isoproof_coo_result_letter((isoproof_coo_result)i)) continue;
    *result = (isoproof_coo_result)i;
    return true;
  }
  return false;
}

static uint32_t count_of(const iso_json *tree) {
  uint64_t number = 0;
  (void)iso_json_u64(tree, &number);
  return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static size_t count_members(const iso_json *tree) {
  size_t count = 0;
  for (const iso_json *one = tree != NULL ? tree->first : NULL; one != NULL; one = one->next) count++;
  return count;
}

static isoproof_status read_event(reading *r, const iso_json *tree, isoproof_coo_event *out, isoproof_error *error) {
  uint64_t session = 0;
  *out = (isoproof_coo_event){.kind = "done", .step = "", .sql = ""};
  ISO_TRY(keep(r, iso_json_find(tree, "kind"), &out->kind, error));
  ISO_TRY(keep(r, iso_json_find(tree, "step"), &out->step, error));
  ISO_TRY(keep(r, iso_json_find(tree, "sql"), &out->sql, error));
  ISO_TRY(keep(r, iso_json_find(tree, "value"), &out->value, error));
  ISO_TRY(keep(r, iso_json_find(tree, "error"), &out->error, error));
  if (out->error != NULL) out->code = out->message = "";
  ISO_TRY(keep(r, iso_json_find(tree, "code"), &out->code, error));
  ISO_TRY(keep(r, iso_json_find(tree, "message"), &out->message, error));
  (void)iso_json_u64(iso_json_find(tree, "session"), &session);
  if (session < 1 || session > ISO_STEPPER_SESSIONS) return expected(r, "an event of a session from 1 to 8", error);
  out->session = (unsigned)session;
  out->waited = iso_json_is(iso_json_find(tree, "waited"), "true");
  (void)iso_json_number(iso_json_find(tree, "started"), &out->started);
  (void)iso_json_number(iso_json_find(tree, "finished"), &out->finished);
  return ISOPROOF_OK;
}

static isoproof_status read_events(reading *r, const iso_json *tree, iso_coo_cell *cell, isoproof_error *error) {
  isoproof_coo_event *events = iso_arena_alloc(&r->matrix->arena, count_members(tree) + 1, sizeof *events);
  if (events == NULL) return iso_fail_memory(error);
  cell->events = events;
  for (const iso_json *one = tree != NULL ? tree->first : NULL; one != NULL; one = one->next) {
    isoproof_coo_event *event = &events[cell->shown.event_count++];
    ISO_TRY(read_event(r, one, event, error));
    if (event->error != NULL) cell->shown.error_count++;
  }
  return ISOPROOF_OK;
}

static isoproof_status read_verdicts(reading *r, const iso_json *tree, iso_coo_cell *cell, isoproof_error *error) {
  isoproof_coo_verdict *verdicts = iso_arena_alloc(&r->matrix->arena, count_members(tree) + 1, sizeof *verdicts);
  if (verdicts == NULL) return iso_fail_memory(error);
  cell->verdicts = verdicts;
  for (const iso_json *one = tree != NULL ? tree->first : NULL; one != NULL; one = one->next) {
    if (one->name == NULL || one->type != ISO_TREE_TEXT) continue;
    isoproof_coo_verdict *verdict = &verdicts[cell->shown.verdict_count++];
    verdict->level = iso_arena_text(&r->matrix->arena, one->name, strlen(one->name));
    verdict->verdict = "";
    ISO_TRY(keep(r, one, &verdict->verdict, error));
    if (verdict->level == NULL) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static isoproof_status read_cell(reading *r, const iso_json *tree, iso_coo_cell *cell, isoproof_error *error) {
  isoproof_coo_cell *shown = &cell->shown;
  const iso_json *runs = iso_json_find(tree, "runs");
  *cell = (iso_coo_cell){.shown.struct_size = sizeof *shown};
  if (!result_of(iso_json_find(tree, "result"), &shown->result))
    return expected(r, "results with a letter each: P, A, R, D or T", error);
  for (const iso_json *one = runs != NULL ? runs->first : NULL; one != NULL; one = one->next) {
    isoproof_coo_result result;
    const iso_json letter = {
        .type = ISO_TREE_TEXT, .text = one->name, .length = one->name != NULL ? strlen(one->name) : 0};
    if (result_of(&letter, &result)) shown->counts[result] = count_of(one);
  }
  for (int i = 0; i < ISOPROOF_COO_RESULTS; i++) shown->runs += shown->counts[i];
  if (shown->counts[shown->result] == 0) shown->runs += shown->counts[shown->result] = 1;
  ISO_TRY(keep(r, iso_json_find(tree, "executed"), &shown->executed, error));
  ISO_TRY(keep(r, iso_json_find(tree, "cycle"), &shown->cycle, error));
  ISO_TRY(keep(r, iso_json_find(tree, "adya"), &shown->phenomenon, error));
  ISO_TRY(keep(r, iso_json_find(tree, "expected"), &shown->expected, error));
  shown->unexpected = count_of(iso_json_find(tree, "unexpected"));
  shown->broken = iso_json_is(iso_json_find(tree, "broken"), "true");
  (void)iso_json_number(iso_json_find(tree, "seconds"), &shown->seconds);
  ISO_TRY(read_verdicts(r, iso_json_find(tree, "levels"), cell, error));
  return read_events(r, iso_json_find(tree, "events"), cell, error);
}

/* ---- rows ---- */

static isoproof_status read_results(reading *r, const iso_json *tree, row_cells *out, isoproof_error *error) {
  if (tree == NULL || tree->type != ISO_TREE_MAP) return expected(r, "a case with its results by level", error);
  for (const iso_json *one = tree->first; one != NULL; one = one->next) {
    size_t level;
    if (one->name == NULL) continue;
    ISO_TRY(find_level(r, one->name, &level, error));
    ISO_TRY(read_cell(r, one, &out->cells[level], error));
  }
  return ISOPROOF_OK;
}

static isoproof_status read_case(reading *r, const iso_json *tree, isoproof_error *error) {
  row_cells cells = {0};
  iso_coo_row row = {.name = NULL, .kind = ""};
  const iso_json *schedule = iso_json_find(tree, "schedule");
  row.number = count_of(iso_json_find(tree, "no"));
  ISO_TRY(keep(r, iso_json_find(tree, "name"), &row.name, error));
  ISO_TRY(keep(r, iso_json_find(tree, "class"), &row.kind, error));
  if (row.name == NULL) return expected(r, "a case with a name", error);
  ISO_TRY(read_results(r, iso_json_find(tree, "results"), &cells, error));
  if (schedule != NULL && schedule->type == ISO_TREE_TEXT) {
    isoproof_error inner = {.offset = -1};
    if (isoproof_schedule_parse(schedule->text, &row.plan, &inner) != ISOPROOF_OK)
      return iso_fail_at(error, ISOPROOF_ERR_FORMAT, iso_token_place(&r->tokens), "the schedule of a case: %s",
                         inner.message);
  }
  if (iso_vec_push(&r->matrix->rows, row) && iso_vec_push(&r->cells, cells)) return ISOPROOF_OK;
  if (r->matrix->rows.count == r->cells.count) isoproof_schedule_free(row.plan);
  return iso_fail_memory(error);
}

static isoproof_status read_cases(reading *r, isoproof_error *error) {
  iso_tokenizer *t = &r->tokens;
  if (t->type != ISO_TOKEN_BEGIN_LIST) return iso_token_expected(t, "a list of cases");
  r->has_cases = true;
  for (;;) {
    iso_json *tree;
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) return ISOPROOF_OK;
    iso_arena_free(&r->scratch);
    ISO_TRY(iso_json_read(t, &r->scratch, &tree, error));
    ISO_TRY(read_case(r, tree, error));
  }
}

/* ---- the matrix ---- */

static isoproof_status read_levels(reading *r, const iso_json *tree, isoproof_error *error) {
  size_t level;
  for (const iso_json *one = tree->first; one != NULL; one = one->next)
    if (one->type == ISO_TREE_TEXT) ISO_TRY(find_level(r, one->text, &level, error));
  return ISOPROOF_OK;
}

static isoproof_status read_expected(reading *r, const iso_json *tree, isoproof_error *error) {
  for (const iso_json *one = tree->first; one != NULL; one = one->next) {
    size_t level;
    if (one->name == NULL) continue;
    ISO_TRY(find_level(r, one->name, &level, error));
    iso_coo_claim *claim = &r->matrix->claims[level];
    const iso_json *given = iso_json_find(one, "level"), *source = iso_json_find(one, "source");
    const isoproof_level_info *info =
        given != NULL && given->type == ISO_TREE_TEXT ? isoproof_level_find(given->text) : NULL;
    bool asked = source != NULL && source->type == ISO_TREE_TEXT && strcmp(source->text, "option") == 0;
    if (info != NULL) *claim = (iso_coo_claim){info->id, asked ? "option" : "database", ""};
    ISO_TRY(keep(r, iso_json_find(one, "note"), &claim->note, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status read_field(reading *r, isoproof_error *error) {
  iso_tokenizer *t = &r->tokens;
  isoproof_coo_matrix *m = r->matrix;
  enum { SCHEMA, DATABASE, SUITE, SECONDS, LEVELS, EXPECTED, LEFT_OUT, COMPLETE, CASES, FIELDS };
  static const char *const names[FIELDS] = {"schema",   "database", "suite",    "seconds", "levels",
                                            "expected", "left_out", "complete", "cases"};
  int field = 0;
  while (field < FIELDS && !iso_token_is_n(t, names[field], strlen(names[field]))) field++;
  ISO_TRY(iso_json_next(t));
  if (field == CASES) return read_cases(r, error);
  if (field == FIELDS) return iso_token_skip(t);
  iso_json *tree;
  iso_arena_free(&r->scratch);
  ISO_TRY(iso_json_read(t, &r->scratch, &tree, error));
  if (field == SCHEMA) (void)iso_json_u64(tree, &r->schema);
  if (field == DATABASE) return keep(r, tree, &m->database, error);
  if (field == SUITE && tree->type == ISO_TREE_TEXT && strcmp(tree->text, "hermitage") == 0)
    m->suite = ISOPROOF_SUITE_HERMITAGE;
  if (field == SECONDS) (void)iso_json_number(tree, &m->seconds);
  if (field == LEVELS) return read_levels(r, tree, error);
  if (field == EXPECTED) return read_expected(r, tree, error);
  if (field == LEFT_OUT) (void)iso_json_u64(tree, &m->left_out);
  if (field == COMPLETE) m->complete = !iso_json_is(tree, "false");
  return ISOPROOF_OK;
}

/* Puts the cells where a matrix has them. */
static isoproof_status place_cells(reading *r, isoproof_error *error) {
  isoproof_coo_matrix *m = r->matrix;
  m->cells = iso_arena_alloc(&m->arena, m->rows.count * m->level_count + 1, sizeof *m->cells);
  if (m->cells == NULL) return iso_fail_memory(error);
  for (size_t row = 0; row < m->rows.count; row++)
    for (size_t level = 0; level < m->level_count; level++)
      m->cells[row * m->level_count + level] = r->cells.items[row].cells[level];
  return ISOPROOF_OK;
}

static isoproof_status read_object(reading *r, isoproof_error *error) {
  static const char what[] = "a matrix as `isoproof coo --db ... --json` prints it";
  iso_tokenizer *t = &r->tokens;
  ISO_TRY(iso_json_next(t));
  if (t->type != ISO_TOKEN_BEGIN_MAP) return iso_token_expected(t, what);
  iso_place place = iso_token_place(t);
  for (;;) {
    ISO_TRY(iso_json_next(t));
    if (t->type == ISO_TOKEN_END) break;
    ISO_TRY(read_field(r, error));
  }
  if (r->schema != 1 || r->matrix->database == NULL || !r->has_cases)
    return iso_fail_at(error, ISOPROOF_ERR_FORMAT, place, "expected %s, found another object", what);
  return place_cells(r, error);
}

static isoproof_status read_input(iso_input *input, isoproof_coo_matrix *matrix, isoproof_error *error) {
  reading r = {.matrix = matrix, .scratch = ISO_ARENA_EMPTY};
  isoproof_status status = iso_tokenizer_init(&r.tokens, input, ISO_TOKEN_DIALECT_JSON, error);
  if (status != ISOPROOF_OK) return status;
  status = read_object(&r, error);
  iso_tokenizer_free(&r.tokens);
  iso_arena_free(&r.scratch);
  iso_vec_free(&r.cells);
  return status;
}

isoproof_status isoproof_coo_matrix_read(const char *path, isoproof_coo_matrix **matrix, isoproof_error *error) {
  iso_input *input = NULL;
  *matrix = NULL;
  ISO_TRY(iso_input_open(path, &input, error));
  isoproof_coo_matrix *made = iso_alloc_zero(1, sizeof *made);
  isoproof_status status = ISOPROOF_OK;
  if (made == NULL) {
    status = iso_fail_memory(error);
  } else {
    made->complete = true;
    status = read_input(input, made, error);
  }
  iso_input_close(input);
  if (status == ISOPROOF_OK)
    *matrix = made;
  else
    isoproof_coo_matrix_free(made);
  return status;
}
