/* odbc.c - the driver for ODBC: requests and their truth, with whatever database is behind it. */
#include "database/drivers/odbc.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* ---- transactions ---- */

/* Autocommit is switched when it has to be, not after every transaction: it may cost a round trip. */
static bool set_manual(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, bool manual) {
  iso_odbc_session *s = connection->state;
  if (s->manual == manual) return true;
  uintptr_t value = manual ? SQL_AUTOCOMMIT_OFF : SQL_AUTOCOMMIT_ON;
  if (SQL_SUCCEEDED(SQLSetConnectAttr(s->handle, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)value, SQL_IS_UINTEGER))) {
    s->manual = manual;
    return true;
  }
  iso_odbc_fail(connection, request, reply, SQL_HANDLE_DBC, s->handle);
  return false;
}

static SQLUINTEGER level_of(const char *name) {
  if (strcmp(name, "read uncommitted") == 0) return SQL_TXN_READ_UNCOMMITTED;
  if (strcmp(name, "read committed") == 0) return SQL_TXN_READ_COMMITTED;
  if (strcmp(name, "repeatable read") == 0) return SQL_TXN_REPEATABLE_READ;
  return SQL_TXN_SERIALIZABLE;
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_odbc_session *s = connection->state;
  if (s->isolation != request->isolation) {
    uintptr_t value = level_of(request->isolation->name);
    s->isolation = NULL;
    if (!SQL_SUCCEEDED(SQLSetConnectAttr(s->handle, SQL_ATTR_TXN_ISOLATION, (SQLPOINTER)value, SQL_IS_UINTEGER))) {
      iso_odbc_fail(connection, request, reply, SQL_HANDLE_DBC, s->handle);
      return;
    }
    s->isolation = request->isolation;
  }
  if (set_manual(connection, request, reply, true)) reply->txn = ISO_TXN_ACTIVE;
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_odbc_session *s = connection->state;
  if (SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, s->handle, SQL_COMMIT)))
    reply->txn = ISO_TXN_COMMITTED;
  else
    iso_odbc_fail(connection, request, reply, SQL_HANDLE_DBC, s->handle);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_odbc_session *s = connection->state;
  reply->txn = ISO_TXN_ABORTED;
  if (!SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, s->handle, SQL_ROLLBACK)))
    iso_odbc_fail(connection, request, reply, SQL_HANDLE_DBC, s->handle);
}

/* ---- rows ---- */

/* The text of a column of the current row into s->text, terminated; *null says whether there is none. */
static bool get_text(iso_odbc_session *s, SQLHSTMT statement, SQLUSMALLINT column, bool *null, bool *kept) {
  *null = false;
  *kept = true;
  s->text.count = 0;
  for (;;) {
    SQLLEN length = 0;
    if (s->text.count > ISO_MOST_REPLY_BYTES || !iso_vec_reserve(&s->text, 256 + s->text.count)) {
      *kept = false;
      return true;
    }
    size_t room = s->text.capacity - s->text.count;
    SQLRETURN got = SQLGetData(statement, column, SQL_C_CHAR, s->text.items + s->text.count, (SQLLEN)room, &length);
    if (got == SQL_NO_DATA) return true;
    if (!SQL_SUCCEEDED(got)) return false;
    if (length == SQL_NULL_DATA) {
      *null = true;
      return true;
    }
    s->text.count += strnlen(s->text.items + s->text.count, room);
    if (got == SQL_SUCCESS) return true;
  }
}

static bool get_number(iso_odbc_session *s, SQLHSTMT statement, SQLUSMALLINT column, bool *null, bool *kept,
                       int64_t *number) {
  if (!get_text(s, statement, column, null, kept)) return false;
  if (*kept && !*null) *kept = iso_parse_i64(s->text.items, s->text.count, number);
  return true;
}

/* Takes a row; false on an error of the database, *kept is false when it cannot be kept. */
static bool take_row(iso_odbc_session *s, SQLHSTMT statement, const iso_driver_request *request, iso_reply *reply,
                     bool *kept) {
  bool null;
  int64_t first = 0, second = 0;
  switch (request->kind) {
  case ISO_READ:
    if (!get_number(s, statement, 1, &null, kept, &reply->value)) return false;
    reply->present = *kept && !null;
    return true;
  case ISO_COUNT: /* those of several tables are one */
    if (!get_number(s, statement, 1, &null, kept, &first)) return false;
    reply->value += first;
    return true;
  case ISO_READ_LIST:
    if (!get_text(s, statement, 1, &null, kept)) return false;
    if (*kept && !null) *kept = iso_reply_set_list(reply, s->text.items, s->text.count);
    return true;
  case ISO_READ_RANGE:
    if (!get_number(s, statement, 1, &null, kept, &first) || !*kept) return !*kept;
    if (!get_number(s, statement, 2, &null, kept, &second)) return false;
    if (*kept && !null) *kept = iso_reply_add_row(reply, first, second);
    return true;
  default:
    break;
  }
  for (uint32_t i = 0; i < reply->columns && *kept; i++) {
    if (!get_text(s, statement, (SQLUSMALLINT)(i + 1), &null, kept)) return false;
    if (*kept) *kept = iso_reply_add_cell(reply, null ? NULL : s->text.items, s->text.count);
  }
  return true;
}

/* Takes the answer of a statement that was executed. */
static bool take_answer(iso_connection *connection, SQLHSTMT statement, const iso_driver_request *request,
                        iso_reply *reply) {
  iso_odbc_session *s = connection->state;
  SQLSMALLINT columns = 0;
  SQLLEN affected = -1;
  bool kept = true, good = SQL_SUCCEEDED(SQLNumResultCols(statement, &columns));
  if (good && columns == 0) {
    if (SQL_SUCCEEDED(SQLRowCount(statement, &affected))) reply->affected = affected;
  } else if (good) {
    reply->columns = request->kind == ISO_EXECUTE ? (uint32_t)columns : 0;
    SQLRETURN fetched = SQLFetch(statement);
    while (SQL_SUCCEEDED(fetched) && kept && good) {
      good = take_row(s, statement, request, reply, &kept);
      if (good && kept) fetched = SQLFetch(statement);
    }
    good = good && (fetched == SQL_NO_DATA || !kept);
  }
  if (!good) iso_odbc_fail(connection, request, reply, SQL_HANDLE_STMT, statement);
  SQLFreeStmt(statement, SQL_CLOSE);
  if (good && !kept) iso_reply_client(connection, request, reply, "the answer is too large, or no list of numbers");
  return good && kept;
}

/* ---- prepared statements ---- */

/* The text of a statement, with the numbers in it or with parameters; NULL, and the reply says why, when there is none.
 */
static const char *text_of(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                           uint32_t place, bool plain, char text[ISO_SQL_BYTES]) {
  const iso_odbc_server *server = connection->database->state;
  iso_sql_form form = iso_sql_form_of(connection->database, server->texts);
  char name[ISO_TABLE_BYTES];
  int64_t numbers[2];
  iso_sql_numbers(sql, request, numbers);
  iso_sql_place_name(connection->database, request, place, name);
  if (iso_sql_write(&form, sql, name, plain ? numbers : NULL, text) != NULL) return text;
  iso_reply_client(connection, request, reply, "this database cannot do that");
  return NULL;
}

static SQLHSTMT prepare_one(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                            iso_sql sql, uint32_t place) {
  iso_odbc_session *s = connection->state;
  if (s->statements[place][sql] != SQL_NULL_HSTMT) return s->statements[place][sql];
  char text[ISO_SQL_BYTES];
  if (text_of(connection, request, reply, sql, place, false, text) == NULL) return SQL_NULL_HSTMT;
  SQLHSTMT made = SQL_NULL_HSTMT;
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, s->handle, &made))) {
    iso_odbc_fail(connection, request, reply, SQL_HANDLE_DBC, s->handle);
    return SQL_NULL_HSTMT;
  }
  if (!SQL_SUCCEEDED(SQLPrepare(made, (SQLCHAR *)text, SQL_NTS))) {
    iso_odbc_fail(connection, request, reply, SQL_HANDLE_STMT, made);
    SQLFreeHandle(SQL_HANDLE_STMT, made);
    return SQL_NULL_HSTMT;
  }
  s->statements[place][sql] = made;
  return made;
}

typedef struct parameters {
  SQLBIGINT numbers[2];
  char text[ISO_NUMBER_BYTES + 1];
  SQLLEN length;
} parameters;

static bool bind_parameters(SQLHSTMT statement, iso_sql sql, const iso_driver_request *request, parameters *p) {
  int64_t numbers[2];
  unsigned count = iso_sql_numbers(sql, request, numbers);
  for (unsigned i = 0; i < count; i++) {
    SQLRETURN bound;
    p->numbers[i] = numbers[i];
    if (iso_sql_takes_text(sql) && i == 1) {
      p->length = (SQLLEN)iso_format_i64(numbers[i], p->text);
      bound = SQLBindParameter(statement, 2, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, ISO_NUMBER_BYTES, 0, p->text,
                               ISO_NUMBER_BYTES, &p->length);
    } else {
      bound = SQLBindParameter(statement, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT, SQL_C_SBIGINT, SQL_BIGINT, 0, 0,
                               &p->numbers[i], 0, NULL);
    }
    if (!SQL_SUCCEEDED(bound)) return false;
  }
  return true;
}

/* Takes the answer to what was executed, or its error. */
static bool finish(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, SQLHSTMT statement,
                   SQLRETURN ran) {
  bool good = SQL_SUCCEEDED(ran) || ran == SQL_NO_DATA; /* no data: no row was changed */
  if (!good) {
    iso_odbc_fail(connection, request, reply, SQL_HANDLE_STMT, statement);
    SQLFreeStmt(statement, SQL_CLOSE);
  } else if (ran == SQL_NO_DATA) {
    reply->affected = 0;
    SQLFreeStmt(statement, SQL_CLOSE);
  } else {
    good = take_answer(connection, statement, request, reply);
  }
  return good;
}

static bool run_prepared(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                         uint32_t place) {
  iso_odbc_session *s = connection->state;
  SQLHSTMT statement = prepare_one(connection, request, reply, sql, place);
  if (statement == SQL_NULL_HSTMT) return false;
  parameters p;
  atomic_store(&s->running, statement);
  SQLRETURN ran = SQL_ERROR;
  if (bind_parameters(statement, sql, request, &p)) ran = SQLExecute(statement);
  bool good = finish(connection, request, reply, statement, ran);
  atomic_store(&s->running, SQL_NULL_HSTMT);
  return good;
}

/* A statement as text. */
static bool run_text(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, const char *sql) {
  iso_odbc_session *s = connection->state;
  SQLHSTMT made = SQL_NULL_HSTMT;
  if (connection->txn != ISO_TXN_ACTIVE && !set_manual(connection, request, reply, false)) return false;
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, s->handle, &made))) {
    iso_odbc_fail(connection, request, reply, SQL_HANDLE_DBC, s->handle);
    return false;
  }
  atomic_store(&s->running, made);
  SQLRETURN ran = SQLExecDirect(made, (SQLCHAR *)(uintptr_t)sql, SQL_NTS);
  bool good = finish(connection, request, reply, made, ran);
  atomic_store(&s->running, SQL_NULL_HSTMT);
  SQLFreeHandle(SQL_HANDLE_STMT, made);
  return good;
}

static bool run_one(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                    uint32_t place) {
  const iso_odbc_session *s = connection->state;
  bool prepares =
      iso_sql_prepares(connection, request) && (request->round == 0 || s->statements[place][sql] != SQL_NULL_HSTMT);
  if (prepares) return run_prepared(connection, request, reply, sql, place);
  char text[ISO_SQL_BYTES];
  return text_of(connection, request, reply, sql, place, true, text) != NULL &&
         run_text(connection, request, reply, text);
}

/* Where there is no statement that inserts or updates: the one, and if it met no row, the other. */
static bool is_two_statements(const iso_connection *connection, const iso_driver_request *request) {
  const iso_odbc_server *server = connection->database->state;
  return server->texts == ISO_SQL_PORTABLE && (request->kind == ISO_WRITE || request->kind == ISO_INCREMENT);
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  bool alone = connection->txn != ISO_TXN_ACTIVE;
  if (alone && !set_manual(connection, request, reply, false)) return;
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  if (is_two_statements(connection, request)) {
    iso_sql update = request->kind == ISO_INCREMENT ? ISO_SQL_ADD : ISO_SQL_UPDATE;
    if (run_one(connection, request, reply, update, first) && reply->affected == 0)
      run_one(connection, request, reply, ISO_SQL_INSERT, first);
    return;
  }
  for (uint32_t place = first; place < end; place++)
    if (!run_one(connection, request, reply, iso_sql_of(request), place)) return;
}

static void prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  uint32_t first, end;
  if (is_two_statements(connection, request) || !set_manual(connection, request, reply, false)) return;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++)
    if (prepare_one(connection, request, reply, iso_sql_of(request), place) == SQL_NULL_HSTMT) return;
}

static void forget(iso_connection *connection, uint32_t place) {
  iso_odbc_session *s = connection->state;
  for (size_t i = 0; i < ISO_SQL_STATEMENTS; i++) {
    if (s->statements[place][i] != SQL_NULL_HSTMT) SQLFreeHandle(SQL_HANDLE_STMT, s->statements[place][i]);
    s->statements[place][i] = SQL_NULL_HSTMT;
  }
}

static void execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  run_text(connection, request, reply, request->sql);
}

/* ---- catalogues ---- */

/* The names of the columns of a result, one cell each. */
static bool take_names(SQLHSTMT statement, iso_reply *reply, bool *kept) {
  SQLSMALLINT columns = 0;
  if (!SQL_SUCCEEDED(SQLNumResultCols(statement, &columns))) return false;
  reply->columns = 1;
  for (SQLSMALLINT i = 1; i <= columns && *kept; i++) {
    char name[256] = "";
    SQLSMALLINT length = 0;
    if (!SQL_SUCCEEDED(
            SQLDescribeCol(statement, (SQLUSMALLINT)i, (SQLCHAR *)name, sizeof name, &length, NULL, NULL, NULL, NULL)))
      return false;
    name[sizeof name - 1] = 0;
    *kept = iso_reply_add_cell(reply, name, strlen(name));
  }
  return true;
}

/* The third column of what SQLTables answers. */
static bool take_tables(iso_odbc_session *s, SQLHSTMT statement, iso_reply *reply, bool *kept) {
  SQLRETURN fetched;
  reply->columns = 1;
  while (SQL_SUCCEEDED(fetched = SQLFetch(statement)) && *kept) {
    bool null;
    if (!get_text(s, statement, 3, &null, kept)) return false;
    if (*kept && !null) *kept = iso_reply_add_cell(reply, s->text.items, s->text.count);
  }
  return fetched == SQL_NO_DATA || !*kept;
}

static void ask_catalogue(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_odbc_session *s = connection->state;
  SQLHSTMT made = SQL_NULL_HSTMT;
  bool kept = true, good;
  if (connection->txn != ISO_TXN_ACTIVE && !set_manual(connection, request, reply, false)) return;
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, s->handle, &made))) {
    iso_odbc_fail(connection, request, reply, SQL_HANDLE_DBC, s->handle);
    return;
  }
  if (request->kind == ISO_DESCRIBE)
    good = SQL_SUCCEEDED(SQLExecDirect(made, (SQLCHAR *)(uintptr_t)request->sql, SQL_NTS)) &&
           take_names(made, reply, &kept);
  else
    good = SQL_SUCCEEDED(SQLTables(made, NULL, 0, NULL, 0, NULL, 0, (SQLCHAR *)(uintptr_t) "TABLE", SQL_NTS)) &&
           take_tables(s, made, reply, &kept);
  if (!good) iso_odbc_fail(connection, request, reply, SQL_HANDLE_STMT, made);
  SQLFreeHandle(SQL_HANDLE_STMT, made);
  if (good && !kept) iso_reply_client(connection, request, reply, "the answer is too large");
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  run_text(connection, request, reply, "SELECT 1");
}

const iso_driver iso_driver_odbc = {
    .id = ISO_DRIVER_ODBC,
    .url_form = "odbc:DSN or odbc:Driver=NAME;Server=HOST;Port=PORT;Database=NAME;Uid=USER",
    .can = {.sql = true,
            .lists = true,
            .predicates = true,
            .autocommit = true,
            .concurrent = true,
            .cancel = true,
            .nodes = true,
            .persistent = true,
            .rounds = true},
    .layouts = 1U << ISO_LAYOUT_INDEXED | 1U << ISO_LAYOUT_HASHED | 1U << ISO_LAYOUT_HEAP,
    .plain = true,
    .library = iso_odbc_library,
    .open = iso_odbc_open,
    .close = iso_odbc_close,
    .connect = iso_odbc_connect,
    .disconnect = iso_odbc_disconnect,
    .cancel = iso_odbc_cancel,
    .begin = begin,
    .statement = statement,
    .execute = execute,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
    .prepare = prepare,
    .forget = forget,
    .describe = ask_catalogue,
    .list_tables = ask_catalogue,
};
