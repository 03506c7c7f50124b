/* firebird_execute.c - statements of Firebird as text, whose columns come as text. */
#include <stdio.h>
#include <string.h>

#include "database/drivers/firebird.h"

enum { FIRST_COLUMNS = 16, MOST_COLUMNS = 512, NUMBER_BYTES = 64, MOST_TEXT = 32000 };

/* A statement under way: its handle, its kind, and the columns with room for one row. */
typedef struct execution {
  iso_connection *connection;
  isc_tr_handle *txn;
  isc_stmt_handle statement;
  XSQLDA *columns;
  char *row;
  ISC_SHORT *nulls;
  int kind;
} execution;

/* ---- columns ---- */

static XSQLDA *new_columns(size_t count) {
  XSQLDA *made = iso_alloc_zero(1, sizeof *made + (count - 1) * sizeof(XSQLVAR));
  if (made == NULL) return NULL;
  made->version = SQLDA_VERSION1;
  made->sqln = (ISC_SHORT)count;
  return made;
}

static bool is_blob(const XSQLVAR *column) { return (column->sqltype & ~1) == SQL_BLOB; }

static size_t room_of(const XSQLVAR *column) {
  int type = column->sqltype & ~1;
  if (type == SQL_BLOB) return sizeof(ISC_QUAD);
  bool text = type == SQL_TEXT || type == SQL_VARYING;
  size_t length = text ? (size_t)(unsigned short)column->sqllen : NUMBER_BYTES;
  if (length > MOST_TEXT) length = MOST_TEXT;
  /* The length comes first, and the next column begins at a multiple of eight. */
  return (length + sizeof(ISC_USHORT) + 8) & ~(size_t)7;
}

/* Every column but a text of any length is asked for as a short text. */
static bool bind(execution *e) {
  size_t count = (size_t)e->columns->sqld, size = 0;
  for (size_t i = 0; i < count; i++) size += room_of(&e->columns->sqlvar[i]);
  e->row = iso_alloc_zero(size + 1, 1);
  e->nulls = iso_alloc_zero(count + 1, sizeof *e->nulls);
  if (e->row == NULL || e->nulls == NULL) return false;
  char *at = e->row;
  for (size_t i = 0; i < count; i++) {
    XSQLVAR *column = &e->columns->sqlvar[i];
    size_t room = room_of(column);
    column->sqldata = at;
    column->sqlind = &e->nulls[i];
    if (is_blob(column)) {
      column->sqltype |= 1;
    } else {
      column->sqltype = SQL_VARYING | 1;
      column->sqllen = (ISC_SHORT)(room - sizeof(ISC_USHORT) - 1);
      column->sqlscale = 0;
    }
    at += room;
  }
  return true;
}

/* ---- running ---- */

static iso_fire_session *session_of(const execution *e) { return e->connection->state; }

static bool prepare(execution *e, const char *sql) {
  iso_fire_session *s = session_of(e);
  e->columns = new_columns(FIRST_COLUMNS);
  if (e->columns == NULL) return false;
  if (s->fb->isc_dsql_allocate_statement(s->status, &s->attachment, &e->statement) != 0 ||
      s->fb->isc_dsql_prepare(s->status, e->txn, &e->statement, 0, sql, SQL_DIALECT_V6, e->columns) != 0)
    return false;
  ISC_SHORT found = e->columns->sqld;
  if (found <= FIRST_COLUMNS) return true;
  free(e->columns);
  e->columns = found <= MOST_COLUMNS ? new_columns((size_t)found) : NULL;
  return e->columns != NULL && s->fb->isc_dsql_describe(s->status, &e->statement, SQLDA_VERSION1, e->columns) == 0;
}

static int read_number(const iso_fire_session *s, const char *at, size_t length) {
  return (int)s->fb->isc_vax_integer(at, (short)length);
}

static bool learn_kind(execution *e) {
  static const char item[] = {isc_info_sql_stmt_type};
  char answer[16] = "";
  iso_fire_session *s = session_of(e);
  if (s->fb->isc_dsql_sql_info(s->status, &e->statement, sizeof item, item, sizeof answer, answer) != 0) return false;
  e->kind = answer[0] == isc_info_sql_stmt_type ? read_number(s, answer + 3, (size_t)read_number(s, answer + 1, 2)) : 0;
  return true;
}

static int64_t count_changes(execution *e) {
  static const char item[] = {isc_info_sql_records};
  char answer[64] = "";
  int64_t changed = 0;
  iso_fire_session *s = session_of(e);
  if (s->fb->isc_dsql_sql_info(s->status, &e->statement, sizeof item, item, sizeof answer, answer) != 0) return -1;
  if (answer[0] != isc_info_sql_records) return -1;
  for (size_t at = 3; at + 3 < sizeof answer && answer[at] != isc_info_end;) {
    size_t length = (size_t)read_number(s, answer + at + 1, 2);
    if (answer[at] != isc_info_req_select_count) changed += read_number(s, answer + at + 3, length);
    at += 3 + length;
  }
  return changed;
}

/* Takes the row that is there; false when it cannot be kept, or (status of the session) could not be read. */
static bool take_row(execution *e, iso_reply *reply) {
  iso_fire_session *s = session_of(e);
  for (size_t i = 0; i < (size_t)e->columns->sqld; i++) {
    XSQLVAR *column = &e->columns->sqlvar[i];
    const char *text = column->sqldata + sizeof(ISC_USHORT);
    ISC_USHORT length;
    memcpy(&length, column->sqldata, sizeof length);
    size_t bytes = length;
    if (e->nulls[i] != 0) {
      text = NULL;
    } else if (is_blob(column)) {
      ISC_QUAD blob;
      memcpy(&blob, column->sqldata, sizeof blob);
      if (!iso_fire_read_blob(s, e->txn, &blob)) return false;
      text = s->text.items != NULL ? s->text.items : "";
      bytes = s->text.count;
    }
    if (!iso_reply_add_cell(reply, text, bytes)) {
      memset(s->status, 0, sizeof s->status);
      return false;
    }
  }
  return true;
}

/* The status of the session says why it is false; without one, the answer was too large. */
static bool take_rows(execution *e, iso_reply *reply) {
  iso_fire_session *s = session_of(e);
  ISC_STATUS fetched;
  while ((fetched = s->fb->isc_dsql_fetch(s->status, &e->statement, SQLDA_VERSION1, e->columns)) == 0)
    if (!take_row(e, reply)) return false;
  return fetched == 100;
}

static bool run(execution *e, iso_reply *reply) {
  iso_fire_session *s = session_of(e);
  bool rows = e->kind == isc_info_sql_stmt_select || e->kind == isc_info_sql_stmt_select_for_upd;
  reply->columns = (uint32_t)e->columns->sqld;
  if (e->kind == isc_info_sql_stmt_exec_procedure && e->columns->sqld > 0)
    return s->fb->isc_dsql_execute2(s->status, e->txn, &e->statement, SQLDA_VERSION1, NULL, e->columns) == 0 &&
           take_row(e, reply);
  if (s->fb->isc_dsql_execute(s->status, e->txn, &e->statement, SQLDA_VERSION1, NULL) != 0) return false;
  if (rows) return take_rows(e, reply);
  bool changes =
      e->kind == isc_info_sql_stmt_insert || e->kind == isc_info_sql_stmt_update || e->kind == isc_info_sql_stmt_delete;
  reply->affected = changes ? count_changes(e) : 0;
  return true;
}

void iso_fire_execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_fire_session *s = connection->state;
  execution e = {.connection = connection, .txn = iso_fire_txn(connection, request, reply)};
  if (e.txn == NULL) return;
  memset(s->status, 0, sizeof s->status);
  bool good = prepare(&e, request->sql) && learn_kind(&e) && bind(&e);
  bool controls = e.kind == isc_info_sql_stmt_start_trans || e.kind == isc_info_sql_stmt_commit ||
                  e.kind == isc_info_sql_stmt_rollback;
  if (good && controls) {
    iso_reply_fail(connection, request, reply, ISO_CLASS_STATE, reply->txn, "",
                   "statements that begin or end transactions are requests of their own");
  } else if (!good || !run(&e, reply)) {
    if (s->status[1] != 0)
      iso_fire_fail(connection, request, reply);
    else
      iso_reply_client(connection, request, reply, "the answer is too large, or memory is out");
  }
  ISC_STATUS_ARRAY ignored;
  if (e.statement != 0) s->fb->isc_dsql_free_statement(ignored, &e.statement, DSQL_drop);
  free(e.columns);
  free(e.row);
  free(e.nulls);
  if (reply->outcome == ISO_OUTCOME_OK) iso_fire_renew(connection, request, reply);
}
