/* Sessions: what they send, and what comes back. */
#include "track/session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

isoproof_status iso_track_session_make(iso_tracker *tracker, uint32_t session, iso_track_session **made,
                                       isoproof_error *error) {
  iso_track_session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  s->tracker = tracker;
  s->number = session;
  *made = s;
  return ISOPROOF_OK;
}

void iso_track_session_free(iso_track_session *s) {
  if (s == NULL) return;
  iso_arena_free(&s->arena);
  iso_vec_free(&s->ops);
  iso_vec_free(&s->points);
  iso_vec_free(&s->sql);
  iso_vec_free(&s->told);
  free(s);
}

const char *iso_track_session_sql(const iso_tracker *t) {
  /* Aggregated rows come as one text.  Without these modes strings are strings, and assignments are made one after the
   * other. */
  static const char in_mariadb[] =
      "SET SESSION group_concat_max_len = 67108864, SESSION sql_mode = replace(replace(replace(replace(@@sql_mode,"
      " 'ANSI_QUOTES', ''), 'ANSI', ''), 'NO_BACKSLASH_ESCAPES', ''), 'SIMULTANEOUS_ASSIGNMENT', '')";
  return t->dialect == ISO_TRACK_MARIADB ? in_mariadb : NULL;
}

void iso_track_begin(iso_track_session *s) {
  iso_arena_free(&s->arena);
  s->ops.count = s->points.count = 0;
  s->plan = NULL;
}

/* ---- sending ---- */

static bool put(iso_track_session *s, const char *text, size_t length) {
  if (!iso_vec_reserve(&s->sql, length + 1)) return false;
  if (length > 0) memcpy(s->sql.items + s->sql.count, text, length);
  s->sql.count += length;
  s->sql.items[s->sql.count] = '\0';
  return true;
}

static bool put_quoted(iso_track_session *s, const char *text) {
  bool made = put(s, "'", 1);
  for (; made && *text != '\0'; text++) {
    bool doubled = *text == '\'' || (*text == '\\' && s->tracker->dialect == ISO_TRACK_MARIADB);
    made = (!doubled || put(s, text, 1)) && put(s, text, 1);
  }
  return made && put(s, "'", 1);
}

static bool put_version(iso_track_session *s) {
  char number[ISO_NUMBER_BYTES];
  int64_t stored;
  if (!iso_value_tag_put(&s->tracker->tag, s->version, &stored)) return false;
  return put(s, number, iso_format_i64(stored, number));
}

/* Whether the value of a variable is one value, so that it does not change what the statement is. */
static bool is_literal(iso_track_dialect dialect, const char *text) {
  iso_sql sql;
  static const char *const words[] = {"TRUE", "FALSE", "NULL", NULL};
  if (iso_sql_read(dialect, text, &sql, NULL) != ISOPROOF_OK) return false;
  uint32_t at = iso_sql_symbol(&sql, 0, "-") || iso_sql_symbol(&sql, 0, "+");
  bool one = sql.count == at + 1;
  iso_sql_type type = one ? sql.tokens.items[at].type : ISO_SQL_END;
  bool number = type == ISO_SQL_NUMBER || type == ISO_SQL_OTHER_NUMBER,
       string = type == ISO_SQL_STRING || type == ISO_SQL_OTHER_STRING;
  bool literal = number || (at == 0 && (string || (one && iso_sql_find(&sql, 0, 1, words) == 0)));
  iso_sql_free(&sql);
  return literal;
}

static isoproof_status put_pieces(iso_track_session *s, const char *const *values, isoproof_error *error) {
  const iso_plan *plan = s->plan;
  s->sql.count = 0;
  bool made = put(s, "", 0);
  for (size_t i = 0; made && i < plan->pieces.count; i++) {
    const iso_piece *piece = &plan->pieces.items[i];
    switch (piece->kind) {
    case ISO_PIECE_TEXT:
      made = put(s, plan->sent + piece->start, piece->length);
      break;
    case ISO_PIECE_VARIABLE:
      s->recorded = s->recorded && is_literal(s->tracker->dialect, values[piece->start]);
      made = put(s, values[piece->start], strlen(values[piece->start]));
      break;
    case ISO_PIECE_QUOTED_VARIABLE:
      made = put_quoted(s, values[piece->start]);
      break;
    case ISO_PIECE_VERSION:
      made = put_version(s);
      break;
    }
  }
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_track_prepare(iso_track_session *s, uint32_t statement, const char *const *values,
                                  iso_track_request *request, isoproof_error *error) {
  iso_tracker *t = s->tracker;
  if (!t->decided || statement >= t->plans.count)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no statement %u", statement);
  const iso_plan *plan = t->plans.items[statement];
  s->plan = plan;
  s->statement = statement;
  s->recorded = true;
  if (plan->writes) s->version = s->writes++ * (int64_t)t->sessions + (int64_t)s->number + 1;
  int64_t stored;
  if (plan->writes && !iso_value_tag_put(&t->tag, s->version, &stored))
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many writes for one run");
  ISO_TRY(put_pieces(s, values, error));
  bool changes = plan->shape.kind >= ISO_SHAPE_INSERT && (plan->added.count > 0 || plan->logged);
  if (!s->recorded && changes)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "expected a single value for each variable of a tracked statement, found something else in: %.120s",
                    s->sql.items);
  ISO_TRY(iso_session_conditions(s, values, error));
  *request = (iso_track_request){.sql = s->sql.items, .added = (uint32_t)plan->added.count};
  if (plan->logged) {
    request->before = "SET @isoproof_log = ''";
    request->after = "SELECT @isoproof_log";
  }
  return ISOPROOF_OK;
}

/* ---- what comes back ---- */

/* The columns that were added, row by row. */
static isoproof_status read_answer(iso_track_session *s, const iso_reply *reply, isoproof_error *error) {
  const iso_plan *plan = s->plan;
  bool writes = plan->shape.kind == ISO_SHAPE_INSERT || plan->shape.kind == ISO_SHAPE_UPDATE;
  uint32_t added = (uint32_t)plan->added.count;
  iso_told_form form = {.several = plan->shape.aggregated, .numbers = writes ? 2 : 1, .contents = writes};
  if (added == 0 || reply->columns == 0) return ISOPROOF_OK;
  if (reply->columns < added)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "the answer has %u columns, fewer than were asked for",
                    reply->columns);
  size_t rows = reply->cells.count / reply->columns;
  for (size_t i = 0; i < rows; i++) {
    for (uint32_t c = 0; c < added; c++) {
      const char *cell = iso_reply_cell(reply, i, reply->columns - added + c);
      ISO_TRY(iso_told_read(s->tracker, plan->added.items[c], cell, form, &s->arena, &s->told, error));
    }
  }
  return ISOPROOF_OK;
}

/* The variable of the session in which MariaDB noted the rows that it changed: ,[...],[...] */
static isoproof_status read_log(iso_track_session *s, const iso_reply *after, isoproof_error *error) {
  const iso_table *table = s->plan->shape.sources.items[0].table;
  const char *log = after != NULL && after->cells.count > 0 ? iso_reply_cell(after, 0, 0) : NULL;
  if (log == NULL)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "MariaDB did not tell the rows of %s that it changed",
                    table->name);
  if (log[0] == '\0') return ISOPROOF_OK;
  size_t length = strlen(log);
  char *list = iso_arena_alloc(&s->arena, length + 2, 1);
  if (list == NULL) return iso_fail_memory(error);
  snprintf(list, length + 2, "[%s]", log + 1);
  return iso_told_read(s->tracker, table, list, (iso_told_form){.several = true, .numbers = 1, .contents = true},
                       &s->arena, &s->told, error);
}

static isoproof_status mark(iso_track_session *s, isoproof_error *error) {
  iso_track_point point = {iso_arena_text(&s->arena, s->plan->shape.savepoint, strlen(s->plan->shape.savepoint)),
                           s->ops.count};
  return point.name != NULL && iso_vec_push(&s->points, point) ? ISOPROOF_OK : iso_fail_memory(error);
}

static void release(iso_track_session *s, const char *name) {
  size_t at = s->points.count;
  while (at > 0 && !iso_sql_same_name(s->tracker->dialect, s->points.items[at - 1].name, name)) at--;
  if (at > 0) s->points.count = at - 1;
}

isoproof_status iso_track_answer(iso_track_session *s, const iso_reply *reply, const iso_reply *after,
                                 isoproof_error *error) {
  const iso_plan *plan = s->plan;
  if (plan == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "an answer to nothing");
  isoproof_status status = ISOPROOF_OK;
  s->told.count = 0;
  switch (plan->shape.kind) {
  case ISO_SHAPE_SAVEPOINT:
    status = mark(s, error);
    break;
  case ISO_SHAPE_RELEASE:
    release(s, plan->shape.savepoint);
    break;
  case ISO_SHAPE_ROLLBACK_TO:
    status = iso_session_take_back(s, plan->shape.savepoint, error);
    break;
  default:
    if (!s->recorded || (plan->added.count == 0 && !plan->logged)) break;
    status = plan->logged ? read_log(s, after, error) : read_answer(s, reply, error);
    if (status == ISOPROOF_OK) status = iso_session_record(s, error);
  }
  s->plan = NULL;
  return status;
}

void iso_track_failed(iso_track_session *s) { s->plan = NULL; }

const iso_jsonl_op *iso_track_end(iso_track_session *s, size_t *count) {
  *count = s->ops.count;
  return s->ops.items;
}
