/* A script: its tables and statements, and what is decided about them. */
#include <string.h>
#include <strings.h>

#include "track/plan.h"

isoproof_status iso_tracker_make(iso_track_dialect dialect, const iso_value_tag *tag, uint32_t sessions,
                                 iso_tracker **tracker, isoproof_error *error) {
  iso_tracker *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->dialect = dialect;
  made->tag = *tag;
  made->sessions = sessions;
  made->tables.dialect = dialect;
  isoproof_status status = iso_row_book_make(&made->rows, error);
  if (status != ISOPROOF_OK) {
    free(made);
    return status;
  }
  *tracker = made;
  return ISOPROOF_OK;
}

void iso_tracker_free(iso_tracker *t) {
  if (t == NULL) return;
  for (size_t i = 0; i < t->setup.count; i++) free(t->setup.items[i]);
  for (size_t i = 0; i < t->plans.count; i++) {
    iso_plan *plan = t->plans.items[i];
    iso_sql_free(&plan->sql);
    iso_shape_free(&plan->shape);
    iso_vec_free(&plan->pieces);
    iso_vec_free(&plan->variables);
    iso_vec_free(&plan->added);
    free(plan);
  }
  iso_vec_free(&t->setup);
  iso_vec_free(&t->plans);
  iso_vec_free(&t->instrument);
  iso_vec_free(&t->restore);
  iso_vec_free(&t->initial_sql);
  iso_vec_free(&t->initial_tables);
  iso_vec_free(&t->initial);
  iso_row_book_free(&t->rows);
  iso_schema_free(&t->tables);
  free(t);
}

isoproof_status iso_tracker_setup(iso_tracker *t, const char *text, isoproof_error *error) {
  iso_sql sql;
  if (!iso_vec_reserve(&t->setup, 1)) return iso_fail_memory(error);
  t->setup.items[t->setup.count] = strdup(text);
  if (t->setup.items[t->setup.count] == NULL) return iso_fail_memory(error);
  t->setup.count++;
  isoproof_status status = iso_sql_read(t->dialect, text, &sql, error);
  if (status == ISOPROOF_OK) status = iso_schema_setup(&t->tables, &sql, error);
  iso_sql_free(&sql);
  return status;
}

static isoproof_status find_variables(iso_tracker *t, iso_plan *plan, isoproof_error *error) {
  for (uint32_t i = 0; i < plan->sql.count; i++) {
    iso_sql_type type = plan->sql.tokens.items[i].type;
    if (type != ISO_SQL_VARIABLE && type != ISO_SQL_QUOTED_VARIABLE) continue;
    const char *name = iso_sql_variable(&plan->sql, i, &t->tables.arena);
    bool known = name == NULL;
    for (size_t v = 0; !known && v < plan->variables.count; v++) known = strcmp(plan->variables.items[v], name) == 0;
    if (name == NULL || (!known && !iso_vec_push(&plan->variables, name))) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_tracker_add(iso_tracker *t, const char *text, uint32_t *statement, isoproof_error *error) {
  iso_plan *plan = t->decided ? NULL : iso_alloc_zero(1, sizeof *plan);
  if (t->decided) return iso_fail(error, ISOPROOF_ERR_USAGE, "a statement after everything was decided");
  if (plan == NULL || !iso_vec_push(&t->plans, plan)) { // NOLINT(bugprone-sizeof-expression)
    free(plan);
    return iso_fail_memory(error);
  }
  *statement = (uint32_t)(t->plans.count - 1);
  ISO_TRY(iso_sql_read(t->dialect, text, &plan->sql, error));
  if (strchr(text, ISO_SQL_VERSION_MARK) != NULL)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "a control character in a statement");
  if (plan->sql.problem != NULL)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "expected one statement, but %s: %.60s", plan->sql.problem, text);
  ISO_TRY(find_variables(t, plan, error));
  /* Names of tables become known; what is said about them now is said again when all are. */
  isoproof_status status = iso_shape_read(&t->tables, &plan->sql, &plan->shape, error);
  iso_shape_free(&plan->shape);
  t->tables.why_none = NULL;
  return status;
}

size_t iso_tracker_variables(const iso_tracker *t, uint32_t statement) {
  return t->plans.items[statement]->variables.count;
}
const char *iso_tracker_variable(const iso_tracker *t, uint32_t statement, size_t number) {
  return t->plans.items[statement]->variables.items[number];
}

/* ---- tables that the setup does not make ---- */

static iso_table *missing(const iso_tracker *t, size_t number) {
  for (size_t i = 0; i < t->tables.items.count; i++) {
    iso_table *table = t->tables.items.items[i];
    if ((!table->known || table->catalogued) && number-- == 0) return table;
  }
  return NULL;
}

const char *iso_tracker_missing(iso_tracker *t, size_t number) {
  const iso_table *table = missing(t, number);
  return table != NULL ? table->name : NULL;
}

const char *iso_tracker_catalogue_sql(iso_tracker *t, size_t number) {
  const iso_table *table = missing(t, number);
  const char *made = table != NULL ? iso_table_catalogue_sql(&t->tables, table) : "";
  return made[0] != '\0' ? made : NULL;
}

isoproof_status iso_tracker_catalogue(iso_tracker *t, size_t number, const iso_reply *reply, isoproof_error *error) {
  iso_table *table = missing(t, number);
  if (table == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no table %zu to be looked up", number);
  return iso_table_catalogue(&t->tables, table, reply, error);
}

/* ---- deciding ---- */

static bool has_text(const char *text, const char *part) {
  size_t length = strlen(part);
  for (; *text != '\0'; text++) {
    if (strncasecmp(text, part, length) == 0) return true;
  }
  return false;
}

/* What the setup makes beside tables may write rows of the tables that it names, or show them under another name. */
static void refuse_made(iso_tracker *t, const char *text) {
  static const char *const makers[] = {"TRIGGER", "FUNCTION", "PROCEDURE", "RULE", "VIEW", "EVENT", NULL};
  iso_sql sql;
  bool makes = false;
  /* Bodies of triggers may be many statements, which is no matter here: the first words tell what it is. */
  if (!has_text(text, "CREATE")) return;
  if (iso_sql_read(t->dialect, text, &sql, NULL) != ISOPROOF_OK) return;
  for (size_t i = 0; makers[i] != NULL; i++)
    makes = makes || (has_text(text, makers[i]) && !iso_sql_is(&sql, 1, "TABLE") && !iso_sql_is(&sql, 1, "INDEX"));
  makes = makes && (sql.problem != NULL || iso_sql_is(&sql, 0, "CREATE"));
  iso_sql_free(&sql);
  for (size_t i = 0; makes && i < t->tables.items.count; i++) {
    iso_table *table = t->tables.items.items[i];
    if (iso_text_has_word(text, table->last))
      iso_table_refuse(table, "the setup makes a trigger, function, rule or view that names it");
  }
  if (makes && (has_text(text, "EXECUTE ") || has_text(text, "PREPARE ")) && !has_text(text, "EXECUTE FUNCTION") &&
      !has_text(text, "EXECUTE PROCEDURE")) {
    iso_schema_refuse_all(&t->tables, "the setup makes a function that executes statements of its own making");
  }
}

/* The conditions that pin every column of the key to one value, or (of one column) to a list. */
static bool is_pinned(const iso_shape *shape, const iso_table *table) {
  for (size_t k = 0; k < table->key.count; k++) {
    uint32_t column = table->key.items[k];
    iso_column_kind kind = table->columns.items[column].kind;
    size_t found = 0;
    for (size_t i = 0; i < shape->where.count; i++) {
      const iso_where *w = &shape->where.items[i];
      if (w->column != column) continue;
      bool listed = w->or_next || (i > 0 && shape->where.items[i - 1].or_next);
      if (w->comparison != ISO_COMPARE_EQUAL) return false;
      if (listed && table->key.count > 1) return false;
      found += !w->or_next;
    }
    if (found != 1 || (kind != ISO_COLUMN_INTEGER && kind != ISO_COLUMN_TEXT)) return false;
  }
  return table->key.count > 0;
}

static bool is_key(const iso_table *table, uint32_t column) {
  for (size_t k = 0; k < table->key.count; k++) {
    if (table->key.items[k] == column) return true;
  }
  return false;
}

/* What the statement asks for: by key or not, and which columns versions have to carry because of it. */
static void plan_conditions(iso_plan *plan) {
  const iso_shape *shape = &plan->shape;
  bool rows = shape->kind == ISO_SHAPE_SELECT || shape->kind == ISO_SHAPE_UPDATE || shape->kind == ISO_SHAPE_DELETE;
  if (!rows || shape->sources.count != 1 || shape->sources.items[0].table == NULL ||
      shape->sources.items[0].table->why != NULL)
    return;
  iso_table *table = shape->sources.items[0].table;
  plan->whole = shape->where_why == NULL && shape->rows_why == NULL;
  plan->pinned = plan->whole && is_pinned(shape, table);
  for (size_t i = 0; plan->whole && i < shape->where.count; i++) {
    uint32_t column = shape->where.items[i].column;
    if (!plan->pinned || !is_key(table, column)) table->columns.items[column].asked = true;
  }
}

static isoproof_status read_shapes(iso_tracker *t, isoproof_error *error) {
  for (size_t i = 0; i < t->plans.count; i++) {
    iso_shape_free(&t->plans.items[i]->shape);
    ISO_TRY(iso_shape_read(&t->tables, &t->plans.items[i]->sql, &t->plans.items[i]->shape, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status settle_tables(iso_tracker *t, isoproof_error *error) {
  uint32_t number = 0;
  for (size_t i = 0; i < t->setup.count; i++) refuse_made(t, t->setup.items[i]);
  for (size_t i = 0; i < t->tables.items.count; i++) {
    iso_table *table = t->tables.items.items[i];
    iso_table_settle(&t->tables, table);
    if (t->tables.why_none != NULL) iso_table_refuse(table, t->tables.why_none);
    if (table->key.count > ISO_MOST_KEY_PARTS) iso_table_refuse(table, "its primary key has too many columns");
    if (table->why == NULL) table->number = number++;
  }
  for (size_t i = 0; i < t->plans.count; i++) plan_conditions(t->plans.items[i]);
  for (size_t i = 0; i < t->tables.items.count; i++) {
    if (t->tables.items.items[i]->why == NULL) ISO_TRY(iso_tracker_plan_table(t, t->tables.items.items[i], error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_tracker_decide(iso_tracker *t, isoproof_error *error) {
  if (t->decided) return ISOPROOF_OK;
  t->decided = true;
  for (size_t i = 0; i < t->tables.items.count; i++) {
    iso_table *table = t->tables.items.items[i];
    if (!table->known) table->why = NULL;
  }
  ISO_TRY(read_shapes(t, error));
  ISO_TRY(settle_tables(t, error));
  for (size_t i = 0; i < t->plans.count; i++) {
    ISO_TRY(iso_plan_rewrite(t, t->plans.items[i], error));
    iso_plan_explain(t, t->plans.items[i]);
  }
  return ISOPROOF_OK;
}

/* ---- what was decided ---- */

iso_track_extent iso_tracker_extent(const iso_tracker *t, uint32_t statement) {
  return t->plans.items[statement]->extent;
}
const char *iso_tracker_explain(const iso_tracker *t, uint32_t statement) {
  return t->plans.items[statement]->explanation;
}
const char *iso_tracker_sent(const iso_tracker *t, uint32_t statement) { return t->plans.items[statement]->shown; }
size_t iso_tracker_tables(const iso_tracker *t) { return t->tables.items.count; }

iso_track_table iso_tracker_table(const iso_tracker *t, size_t number) {
  const iso_table *table = t->tables.items.items[number];
  return (iso_track_table){
      .name = table->name,
      .first_key = (int64_t)table->number * ISO_TRACK_RANGE,
      .last_key = ((int64_t)table->number + 1) * ISO_TRACK_RANGE - 1,
      .tracked = table->why == NULL,
      .why = table->why != NULL ? table->why : "two columns are added to it, isoproof_version and isoproof_previous"};
}

const char *iso_tracker_instrument(const iso_tracker *t, size_t number) {
  return number < t->instrument.count ? t->instrument.items[number] : NULL;
}
const char *iso_tracker_restore(const iso_tracker *t, size_t number) {
  return number < t->restore.count ? t->restore.items[number] : NULL;
}
const char *iso_tracker_initial_sql(const iso_tracker *t, size_t number) {
  return number < t->initial_sql.count ? t->initial_sql.items[number] : NULL;
}

isoproof_status iso_tracker_initial(iso_tracker *t, size_t number, const iso_reply *reply, isoproof_error *error) {
  if (number >= t->initial_tables.count)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no tracked table %zu", number);
  const iso_table *table = t->initial_tables.items[number];
  iso_told_rows rows = {NULL, 0, 0};
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; status == ISOPROOF_OK && reply->columns > 0 && i < reply->cells.count / reply->columns; i++) {
    status =
        iso_told_read(t, table, iso_reply_cell(reply, i, 0),
                      (iso_told_form){.numbers = 1, .contents = true, .initial = true}, &t->tables.arena, &rows, error);
  }
  for (size_t i = 0; status == ISOPROOF_OK && i < rows.count; i++) {
    const iso_told_row *row = &rows.items[i];
    if (row->numbers[0] != 0) {
      status = iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "somebody writes %s already", table->name);
    } else if (row->initial) {
      status = iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                        "%s has two rows of one key: it is not the table that the setup makes", table->name);
    }
    iso_jsonl_row made = {.key = row->key, .value = 0, .columns = row->columns, .column_count = row->column_count};
    if (status == ISOPROOF_OK && !iso_vec_push(&t->initial, made)) status = iso_fail_memory(error);
  }
  iso_vec_free(&rows);
  return status;
}

const iso_jsonl_row *iso_tracker_initial_rows(const iso_tracker *t, size_t *count) {
  *count = t->initial.count;
  return t->initial.items;
}
