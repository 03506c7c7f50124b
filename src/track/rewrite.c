/* Puts versions into statements, and asks for them in their answers. */
#include <stdio.h>
#include <string.h>

#include "track/plan.h"

/* A change of the text: at an offset, so many bytes are replaced. */
typedef struct {
  uint32_t at, remove;
  const char *text;
} edit;

typedef struct {
  iso_tracker *tracker;
  iso_schema *tables;
  iso_plan *plan;
  ISO_VEC(edit) edits; /* by their offsets */
  bool out_of_memory;
} rewriter;

static void put(rewriter *r, uint32_t at, uint32_t remove, const char *text) {
  r->out_of_memory = r->out_of_memory || !iso_vec_push(&r->edits, ((edit){at, remove, text}));
  for (size_t i = r->edits.count; i-- > 1 && r->edits.items[i - 1].at > r->edits.items[i].at;) {
    edit moved = r->edits.items[i];
    r->edits.items[i] = r->edits.items[i - 1];
    r->edits.items[i - 1] = moved;
  }
}

/* Right behind the token before `token`. */
static void put_before(rewriter *r, uint32_t token, const char *text) {
  const iso_sql_token *t = &r->plan->sql.tokens.items[token - 1];
  put(r, t->start + t->length, 0, text);
}

/* ---- what is asked for ---- */

size_t iso_table_asked(const iso_table *table) {
  size_t count = 0;
  for (size_t i = 0; i < table->columns.count; i++) count += table->columns.items[i].asked;
  return count;
}

/* prefix."id", prefix."version", ... as the elements of a JSON array. */
static const char *row_of(iso_schema *tables, const iso_table *table, const char *prefix, const char *const *numbers,
                          bool contents) {
  const char *made = "", *dot = prefix[0] != '\0' ? "." : "";
  for (size_t i = 0; i < table->key.count; i++) {
    made = iso_schema_text(tables, "%s%s%s%s%s", made, i > 0 ? ", " : "", prefix, dot,
                           table->columns.items[table->key.items[i]].quoted);
  }
  for (size_t i = 0; numbers[i] != NULL; i++)
    made = iso_schema_text(tables, "%s, %s%s%s", made, prefix, dot, numbers[i]);
  for (size_t i = 0; contents && i < table->columns.count; i++) {
    if (table->columns.items[i].asked)
      made = iso_schema_text(tables, "%s, %s%s%s", made, prefix, dot, table->columns.items[i].quoted);
  }
  return iso_schema_text(tables, tables->dialect == ISO_TRACK_POSTGRES ? "json_build_array(%s)" : "json_array(%s)",
                         made);
}

/* One row as text, or all rows of a group. */
static const char *as_text(iso_schema *tables, const char *row, bool aggregated) {
  switch (tables->dialect) {
  case ISO_TRACK_POSTGRES:
    return iso_schema_text(tables, aggregated ? "json_agg(%s)::text" : "%s::text", row);
  case ISO_TRACK_SQLITE:
    return iso_schema_text(tables, aggregated ? "json_group_array(%s)" : "%s", row);
  case ISO_TRACK_MARIADB:
    break;
  }
  return iso_schema_text(tables, aggregated ? "concat('[', group_concat(%s), ']')" : "%s", row);
}

static const char *const read_numbers[] = {ISO_TRACK_VERSION, NULL};
static const char *const written_numbers[] = {ISO_TRACK_VERSION, ISO_TRACK_PREVIOUS, NULL};

static void add_table(rewriter *r, const iso_table *table) {
  bool made = iso_vec_push(&r->plan->added, table); // NOLINT(bugprone-sizeof-expression)
  r->out_of_memory = r->out_of_memory || !made;
}

static bool is_tracked(const iso_table *table) { return table != NULL && table->why == NULL; }

/* The columns that a star stands for, without those that were added. */
static void put_stars(rewriter *r) {
  const iso_shape *shape = &r->plan->shape;
  for (size_t i = 0; i < shape->stars.count; i++) {
    const iso_star *star = &shape->stars.items[i];
    const iso_sql_token *first = &r->plan->sql.tokens.items[star->first],
                        *last = &r->plan->sql.tokens.items[star->end - 1];
    const char *made = "";
    for (size_t s = 0; s < shape->sources.count; s++) {
      const iso_source *source = &shape->sources.items[s];
      if (star->source != UINT32_MAX && star->source != s) continue;
      if (shape->kind != ISO_SHAPE_SELECT && s > 0) continue;
      const char *prefix = shape->kind == ISO_SHAPE_SELECT || shape->from_others ? source->sql : "",
                 *dot = prefix[0] != '\0' ? "." : "";
      if (!is_tracked(source->table))
        made = iso_schema_text(r->tables, "%s%s%s.*", made, made[0] != '\0' ? ", " : "", source->sql);
      for (size_t c = 0; is_tracked(source->table) && c < source->table->columns.count; c++) {
        made = iso_schema_text(r->tables, "%s%s%s%s%s", made, made[0] != '\0' ? ", " : "", prefix, dot,
                               source->table->columns.items[c].quoted);
      }
    }
    put(r, first->start, last->start + last->length - first->start, made);
  }
}

/* ---- statements ---- */

static void rewrite_select(rewriter *r) {
  const iso_shape *shape = &r->plan->shape;
  put_stars(r);
  for (size_t i = 0; i < shape->sources.count; i++) {
    const iso_source *source = &shape->sources.items[i];
    if (!is_tracked(source->table)) continue;
    const char *row = row_of(r->tables, source->table, source->sql, read_numbers, false);
    put_before(r, shape->list_end, iso_schema_text(r->tables, ", %s", as_text(r->tables, row, shape->aggregated)));
    add_table(r, source->table);
  }
}

/* RETURNING, or one more column of it. */
static void put_returning(rewriter *r, const char *const *numbers, bool contents) {
  const iso_shape *shape = &r->plan->shape;
  const iso_source *target = &shape->sources.items[0];
  const char *row = row_of(r->tables, target->table, shape->from_others ? target->sql : "", numbers, contents);
  bool there = shape->returning < r->plan->sql.count;
  if (there) put_stars(r);
  put_before(r, r->plan->sql.count,
             iso_schema_text(r->tables, "%s%s", there ? ", " : " RETURNING ", as_text(r->tables, row, false)));
  add_table(r, target->table);
}

/* The assignments of an update; of MariaDB, which evaluates them from left to right, also the note of the row. */
static const char *new_version(rewriter *r, bool logged) {
  const iso_shape *shape = &r->plan->shape;
  const iso_source *target = &shape->sources.items[0];
  const char *qualified = iso_schema_text(r->tables, "%s.", target->sql);
  if (!logged)
    return iso_schema_text(r->tables, ", %s = %s%s, %s = %c", ISO_TRACK_PREVIOUS, qualified, ISO_TRACK_VERSION,
                           ISO_TRACK_VERSION, ISO_SQL_VERSION_MARK);
  static const char *const numbers[] = {ISO_TRACK_PREVIOUS, NULL};
  return iso_schema_text(r->tables, ", %s = %s, %s = %c + 0 * length(@isoproof_log := concat(@isoproof_log, ',', %s))",
                         ISO_TRACK_PREVIOUS, ISO_TRACK_VERSION, ISO_TRACK_VERSION, ISO_SQL_VERSION_MARK,
                         row_of(r->tables, target->table, "", numbers, true));
}

static void rewrite_update(rewriter *r) {
  bool logged = r->tables->dialect == ISO_TRACK_MARIADB;
  put_before(r, r->plan->shape.set_end, new_version(r, logged));
  r->plan->logged = logged;
  if (!logged) put_returning(r, written_numbers, true);
}

/* The columns of an INSERT that names none: as many as it has values. */
static const char *named_columns(rewriter *r) {
  const iso_table *table = r->plan->shape.sources.items[0].table;
  const char *made = " (";
  for (size_t i = 0; i < table->columns.count && i < r->plan->shape.value_count; i++)
    made = iso_schema_text(r->tables, "%s%s, ", made, table->columns.items[i].quoted);
  return iso_schema_text(r->tables, "%s%s)", made, ISO_TRACK_VERSION);
}

static void rewrite_insert(rewriter *r) {
  const iso_shape *shape = &r->plan->shape;
  const iso_sql *sql = &r->plan->sql;
  const char *version = iso_schema_text(r->tables, ", %c", ISO_SQL_VERSION_MARK),
             *lone = iso_schema_text(r->tables, "%c", ISO_SQL_VERSION_MARK);
  uint32_t open = shape->columns_open;
  if (open > 0) {
    uint32_t close = sql->tokens.items[open].match;
    put_before(r, close, close == open + 1 ? ISO_TRACK_VERSION : iso_schema_text(r->tables, ", %s", ISO_TRACK_VERSION));
  } else if (shape->values_first > 0) {
    put_before(r, shape->table_end, named_columns(r));
  }
  for (uint32_t at = shape->values_first; at > 0 && at < shape->values_end; at = sql->tokens.items[at].match + 2) {
    put_before(r, sql->tokens.items[at].match, sql->tokens.items[at].match == at + 1 ? lone : version);
  }
  if (shape->list_end > 0) put_before(r, shape->list_end, version);
  if (shape->set_end > 0)
    put_before(r, shape->set_end, iso_schema_text(r->tables, ", %s = %c", ISO_TRACK_VERSION, ISO_SQL_VERSION_MARK));
  if (shape->defaults > 0) {
    const iso_sql_token *first = &sql->tokens.items[shape->defaults], *last = first + 1;
    put(r, first->start, last->start + last->length - first->start,
        iso_schema_text(r->tables, "(%s) VALUES (%c)", ISO_TRACK_VERSION, ISO_SQL_VERSION_MARK));
  }
  if (shape->upsert_end > 0) put_before(r, shape->upsert_end, new_version(r, false));
  put_returning(r, written_numbers, true);
}

/* ---- pieces ---- */

static const char *apply(rewriter *r) {
  const char *text = r->plan->sql.text;
  size_t length = strlen(text) + 1, at = 0, out = 0;
  for (size_t i = 0; i < r->edits.count; i++) length += strlen(r->edits.items[i].text);
  char *made = iso_arena_alloc(&r->tables->arena, length, 1);
  if (made == NULL) return NULL;
  uint32_t end = r->plan->sql.count > 0 ? r->plan->sql.tokens.items[r->plan->sql.count - 1].start +
                                              r->plan->sql.tokens.items[r->plan->sql.count - 1].length
                                        : (uint32_t)strlen(text);
  for (size_t i = 0; i <= r->edits.count; i++) {
    size_t stop = i < r->edits.count ? r->edits.items[i].at : end;
    memcpy(made + out, text + at, stop - at);
    out += stop - at;
    at = stop;
    if (i == r->edits.count) break;
    size_t added = strlen(r->edits.items[i].text);
    memcpy(made + out, r->edits.items[i].text, added);
    out += added;
    at += r->edits.items[i].remove;
  }
  return made;
}

static uint32_t variable_number(const iso_plan *plan, const char *name) {
  uint32_t number = 0;
  while (number < plan->variables.count && strcmp(plan->variables.items[number], name) != 0) number++;
  return number;
}

static bool add_piece(iso_plan *plan, iso_piece_kind kind, uint32_t start, uint32_t length) {
  return (kind == ISO_PIECE_TEXT && length == 0) || iso_vec_push(&plan->pieces, ((iso_piece){kind, start, length}));
}

/* Cuts what is sent at its variables and versions. */
static isoproof_status cut(rewriter *r, isoproof_error *error) {
  iso_sql sent;
  iso_plan *plan = r->plan;
  uint32_t from = 0;
  isoproof_status status = iso_sql_read(r->tables->dialect, plan->sent, &sent, error);
  bool made = true;
  for (uint32_t i = 0; status == ISOPROOF_OK && made && i < sent.count; i++) {
    const iso_sql_token *t = &sent.tokens.items[i];
    bool version = t->type == ISO_SQL_VERSION, quoted = t->type == ISO_SQL_QUOTED_VARIABLE;
    if (!version && !quoted && t->type != ISO_SQL_VARIABLE) continue;
    const char *name = version ? "" : iso_sql_variable(&sent, i, &r->tables->arena);
    uint32_t number = version || name == NULL ? 0 : variable_number(plan, name);
    made = name != NULL && add_piece(plan, ISO_PIECE_TEXT, from, t->start - from) &&
           add_piece(plan,
                     version  ? ISO_PIECE_VERSION
                     : quoted ? ISO_PIECE_QUOTED_VARIABLE
                              : ISO_PIECE_VARIABLE,
                     number, 0);
    from = t->start + t->length;
  }
  made = made && add_piece(plan, ISO_PIECE_TEXT, from, (uint32_t)strlen(plan->sent) - from);
  iso_sql_free(&sent);
  if (status == ISOPROOF_OK && !made) status = iso_fail_memory(error);
  return status;
}

/* For people: N where the version is. */
static const char *show(iso_schema *tables, const char *sent) {
  char *made = iso_arena_text(&tables->arena, sent, strlen(sent));
  for (char *c = made; c != NULL && *c != '\0'; c++) {
    if (*c == ISO_SQL_VERSION_MARK) *c = 'N';
  }
  return made;
}

isoproof_status iso_plan_rewrite(iso_tracker *tracker, iso_plan *plan, isoproof_error *error) {
  rewriter r = {.tracker = tracker, .tables = &tracker->tables, .plan = plan};
  const iso_shape *shape = &plan->shape;
  bool target = shape->sources.count > 0 && is_tracked(shape->sources.items[0].table);
  if (shape->kind == ISO_SHAPE_SELECT) rewrite_select(&r);
  plan->writes = target && (shape->kind == ISO_SHAPE_INSERT || shape->kind == ISO_SHAPE_UPDATE);
  if (target && shape->kind == ISO_SHAPE_INSERT) rewrite_insert(&r);
  if (target && shape->kind == ISO_SHAPE_UPDATE) rewrite_update(&r);
  if (target && shape->kind == ISO_SHAPE_DELETE) put_returning(&r, read_numbers, false);
  plan->sent = r.out_of_memory ? NULL : plan->added.count > 0 || plan->logged ? apply(&r) : plan->sql.text;
  plan->shown = plan->sent != NULL ? show(&tracker->tables, plan->sent) : NULL;
  iso_vec_free(&r.edits);
  if (plan->shown == NULL) return iso_fail_memory(error);
  return cut(&r, error);
}

isoproof_status iso_tracker_plan_table(iso_tracker *tracker, const iso_table *table, isoproof_error *error) {
  iso_schema *t = &tracker->tables;
  const char *there = t->dialect == ISO_TRACK_SQLITE ? "" : "IF EXISTS ";
  const char *row = as_text(t, row_of(t, table, "", read_numbers, true), false);
  bool made =
      iso_vec_push(&tracker->instrument, iso_schema_text(t, "ALTER TABLE %s ADD COLUMN %s BIGINT NOT NULL DEFAULT 0",
                                                         table->sql, ISO_TRACK_VERSION)) &&
      iso_vec_push(&tracker->instrument,
                   iso_schema_text(t, "ALTER TABLE %s ADD COLUMN %s BIGINT", table->sql, ISO_TRACK_PREVIOUS)) &&
      iso_vec_push(&tracker->restore,
                   iso_schema_text(t, "ALTER TABLE %s DROP COLUMN %s%s", table->sql, there, ISO_TRACK_VERSION)) &&
      iso_vec_push(&tracker->restore,
                   iso_schema_text(t, "ALTER TABLE %s DROP COLUMN %s%s", table->sql, there, ISO_TRACK_PREVIOUS)) &&
      iso_vec_push(&tracker->initial_sql, iso_schema_text(t, "SELECT %s FROM %s", row, table->sql));
  made = made && iso_vec_push(&tracker->initial_tables, table); // NOLINT(bugprone-sizeof-expression)
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}
