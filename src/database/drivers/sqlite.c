/* sqlite.c - the driver for SQLite: one file, a connection of its own for every session.
 *
 * A statement that fails is undone alone, as a rule; now and then SQLite rolls back everything, which it shows by being
 * in its autocommit mode again.  A COMMIT that is BUSY leaves the transaction open.
 */
#include "database/drivers/sqlite.h"

#include <stdio.h>
#include <string.h>

#include "base/task.h"
#include "base/text.h"

static void start_clock(iso_sqlite_session *s) {
  uint32_t limit = s->connection->database->options.statement_timeout_ms;
  s->deadline = limit > 0 ? iso_now() + limit / 1000.0 : 0;
  s->timed_out = false;
}

/* ---- errors ---- */

static const struct {
  int code;
  const char *name;
} codes[] = {
    {SQLITE_BUSY, "SQLITE_BUSY"},
    {SQLITE_BUSY_SNAPSHOT, "BUSY_SNAPSHOT"},
    {SQLITE_BUSY_RECOVERY, "BUSY_RECOVERY"},
    {SQLITE_LOCKED, "SQLITE_LOCKED"},
    {SQLITE_LOCKED_SHAREDCACHE, "LOCKED_SHARED"},
    {SQLITE_INTERRUPT, "INTERRUPT"},
    {SQLITE_CONSTRAINT, "CONSTRAINT"},
    {SQLITE_CONSTRAINT_PRIMARYKEY, "PRIMARYKEY"},
    {SQLITE_CONSTRAINT_UNIQUE, "UNIQUE"},
    {SQLITE_READONLY, "READONLY"},
    {SQLITE_FULL, "SQLITE_FULL"},
    {SQLITE_IOERR, "SQLITE_IOERR"},
    {SQLITE_CORRUPT, "SQLITE_CORRUPT"},
    {SQLITE_CANTOPEN, "CANTOPEN"},
    {SQLITE_NOMEM, "SQLITE_NOMEM"},
    {SQLITE_ERROR, "SQLITE_ERROR"},
};

static void code_name(int code, char out[ISO_CODE_BYTES]) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    if (codes[i].code != code) continue;
    snprintf(out, ISO_CODE_BYTES, "%s", codes[i].name);
    return;
  }
  snprintf(out, ISO_CODE_BYTES, "%d", code);
}

static iso_error_class class_of(const iso_sqlite_session *s, int code) {
  if (s->timed_out) return ISO_CLASS_TIMEOUT;
  bool cancelled = atomic_load(&s->connection->cancelled);
  switch (code & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return cancelled ? ISO_CLASS_CANCELLED : ISO_CLASS_BUSY;
  case SQLITE_INTERRUPT:
    return ISO_CLASS_CANCELLED;
  case SQLITE_CONSTRAINT:
    return ISO_CLASS_CONSTRAINT;
  case SQLITE_READONLY:
    return ISO_CLASS_READ_ONLY;
  case SQLITE_NOMEM:
  case SQLITE_TOOBIG:
    return ISO_CLASS_CLIENT;
  case SQLITE_ERROR:
  case SQLITE_RANGE:
  case SQLITE_MISUSE:
  case SQLITE_MISMATCH:
    return ISO_CLASS_STATEMENT;
  default:
    return ISO_CLASS_OTHER;
  }
}

static void fail(iso_sqlite_session *s, const iso_driver_request *request, iso_reply *reply) {
  iso_connection *connection = s->connection;
  int code = sqlite3_extended_errcode(s->handle);
  char name[ISO_CODE_BYTES];
  code_name(code, name);
  bool open = sqlite3_get_autocommit(s->handle) == 0;
  iso_txn_state txn = open ? ISO_TXN_ACTIVE : ISO_TXN_ABORTED;
  /* A disk that failed in the middle of a commit leaves it to the next recovery what it was. */
  bool at_commit = request->kind == ISO_COMMIT || connection->txn != ISO_TXN_ACTIVE;
  int primary = code & 0xff;
  if (at_commit && request->kind != ISO_BEGIN && (primary == SQLITE_IOERR || primary == SQLITE_CORRUPT))
    txn = ISO_TXN_UNKNOWN;
  iso_reply_fail(connection, request, reply, class_of(s, code), txn, name, sqlite3_errmsg(s->handle));
}

/* ---- requests ---- */

static void simple(iso_sqlite_session *s, const iso_driver_request *request, iso_reply *reply, const char *sql,
                   iso_txn_state after) {
  start_clock(s);
  if (sqlite3_exec(s->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
    fail(s, request, reply);
  else
    reply->txn = after;
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sqlite_session *s = connection->state;
  const char *name = request->isolation->name;
  if (((const iso_sqlite_file *)connection->database->state)->shared_cache) {
    bool dirty = strcmp(name, "read uncommitted") == 0;
    if (sqlite3_exec(s->handle, dirty ? "PRAGMA read_uncommitted=1" : "PRAGMA read_uncommitted=0", NULL, NULL, NULL)) {
      fail(s, request, reply);
      return;
    }
  }
  const char *sql = "BEGIN DEFERRED";
  if (strcmp(name, "immediate") == 0) sql = "BEGIN IMMEDIATE";
  if (strcmp(name, "exclusive") == 0) sql = "BEGIN EXCLUSIVE";
  simple(s, request, reply, sql, ISO_TXN_ACTIVE);
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  simple(connection->state, request, reply, "COMMIT", ISO_TXN_COMMITTED);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sqlite_session *s = connection->state;
  reply->txn = ISO_TXN_ABORTED;
  if (sqlite3_get_autocommit(s->handle)) return;
  simple(s, request, reply, "ROLLBACK", ISO_TXN_ABORTED);
}

/* A statement as it is prepared: kept from call to call, with parameters, or (plain) for one call, with the numbers in
 * its text.  NULL when that failed. */
static sqlite3_stmt *make(iso_sqlite_session *s, const iso_driver_request *request, uint32_t place, bool plain) {
  const iso_database *database = s->connection->database;
  iso_sql_form form = iso_sql_form_of(database, ISO_SQL_SQLITE);
  iso_sql sql = iso_sql_of(request);
  char name[ISO_TABLE_BYTES], text[ISO_SQL_BYTES];
  int64_t numbers[2];
  sqlite3_stmt *made = NULL;
  iso_sql_numbers(sql, request, numbers);
  iso_sql_place_name(database, request, place, name);
  if (iso_sql_write(&form, sql, name, plain ? numbers : NULL, text) == NULL) return NULL;
  unsigned how = plain ? 0 : SQLITE_PREPARE_PERSISTENT;
  return sqlite3_prepare_v3(s->handle, text, -1, how, &made, NULL) == SQLITE_OK ? made : NULL;
}

static sqlite3_stmt *statement_of(iso_sqlite_session *s, const iso_driver_request *request, uint32_t place) {
  sqlite3_stmt **statement = &s->statements[place][iso_sql_of(request)];
  if (*statement == NULL) *statement = make(s, request, place, false);
  return *statement;
}

static void bind(sqlite3_stmt *statement, const iso_driver_request *request) {
  iso_sql sql = iso_sql_of(request);
  int64_t numbers[2];
  unsigned count = iso_sql_numbers(sql, request, numbers);
  for (unsigned i = 0; i < count; i++) {
    if (i == 1 && iso_sql_takes_text(sql)) {
      char text[ISO_NUMBER_BYTES];
      size_t length = iso_format_i64(numbers[i], text);
      sqlite3_bind_text(statement, 2, text, (int)length, SQLITE_TRANSIENT);
    } else {
      sqlite3_bind_int64(statement, (int)i + 1, numbers[i]);
    }
  }
}

/* Takes a row of the answer; false when it cannot be kept. */
static bool take_row(sqlite3_stmt *statement, const iso_driver_request *request, iso_reply *reply) {
  bool null = sqlite3_column_type(statement, 0) == SQLITE_NULL;
  switch (request->kind) {
  case ISO_READ:
    reply->present = !null;
    if (!null) reply->value = sqlite3_column_int64(statement, 0);
    return true;
  case ISO_COUNT: /* those of several tables are one */
    reply->value += sqlite3_column_int64(statement, 0);
    return true;
  case ISO_READ_LIST: {
    if (null) return true;
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    return text != NULL && iso_reply_set_list(reply, text, (size_t)sqlite3_column_bytes(statement, 0));
  }
  case ISO_READ_RANGE:
    if (sqlite3_column_type(statement, 1) == SQLITE_NULL) return true;
    return iso_reply_add_row(reply, sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1));
  default:
    break;
  }
  reply->columns = (uint32_t)sqlite3_column_count(statement);
  for (int i = 0; i < (int)reply->columns; i++) {
    const char *text = (const char *)sqlite3_column_text(statement, i);
    size_t length = (size_t)sqlite3_column_bytes(statement, i);
    if (!iso_reply_add_cell(reply, text, length)) return false;
  }
  return true;
}

/* Runs a prepared statement to its end; false when it failed and the reply says why. */
static bool step_through(iso_sqlite_session *s, sqlite3_stmt *statement, const iso_driver_request *request,
                         iso_reply *reply) {
  int status;
  bool kept = true;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW && kept) kept = take_row(statement, request, reply);
  if (status == SQLITE_DONE && sqlite3_stmt_readonly(statement) == 0) reply->affected = sqlite3_changes(s->handle);
  bool failed = status != SQLITE_DONE && status != SQLITE_ROW;
  if (failed) fail(s, request, reply);
  sqlite3_reset(statement);
  if (!failed && !kept) iso_reply_client(s->connection, request, reply, "the answer is too large, or no list");
  return !failed && kept;
}

static bool run_one(iso_sqlite_session *s, const iso_driver_request *request, iso_reply *reply, uint32_t place) {
  bool kept = iso_sql_prepares(s->connection, request) &&
              (request->round == 0 || s->statements[place][iso_sql_of(request)] != NULL);
  sqlite3_stmt *prepared = kept ? statement_of(s, request, place) : make(s, request, place, true);
  if (prepared == NULL) {
    fail(s, request, reply);
    return false;
  }
  if (kept) bind(prepared, request);
  bool good = step_through(s, prepared, request, reply);
  if (!kept) sqlite3_finalize(prepared);
  return good;
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sqlite_session *s = connection->state;
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  start_clock(s);
  for (uint32_t place = first; place < end; place++)
    if (!run_one(s, request, reply, place)) return;
}

static void prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sqlite_session *s = connection->state;
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  start_clock(s);
  for (uint32_t place = first; place < end; place++) {
    if (statement_of(s, request, place) != NULL) continue;
    fail(s, request, reply);
    return;
  }
}

static void forget(iso_connection *connection, uint32_t place) {
  iso_sqlite_session *s = connection->state;
  for (size_t i = 0; i < ISO_SQL_STATEMENTS; i++) {
    sqlite3_finalize(s->statements[place][i]);
    s->statements[place][i] = NULL;
  }
}

static bool take_names(sqlite3_stmt *prepared, iso_reply *reply) {
  int count = sqlite3_column_count(prepared);
  reply->columns = (uint32_t)count;
  for (int i = 0; i < count; i++) {
    const char *name = sqlite3_column_name(prepared, i);
    if (name == NULL || !iso_reply_add_name(reply, name)) return false;
  }
  return true;
}

static void execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sqlite_session *s = connection->state;
  sqlite3_stmt *prepared = NULL;
  const char *rest = NULL;
  start_clock(s);
  if (sqlite3_prepare_v2(s->handle, request->sql, -1, &prepared, &rest) != SQLITE_OK) {
    fail(s, request, reply);
    return;
  }
  if (prepared == NULL || rest[strspn(rest, " \t\r\n;")] != 0)
    iso_reply_fail(connection, request, reply, ISO_CLASS_STATEMENT, reply->txn, "", "expected one statement");
  else if (!take_names(prepared, reply))
    iso_reply_client(connection, request, reply, "out of memory");
  else
    step_through(s, prepared, request, reply);
  sqlite3_finalize(prepared);
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  simple(connection->state, request, reply, "SELECT 1", reply->txn);
}

const iso_driver iso_driver_sqlite = {
    .id = ISO_DRIVER_SQLITE,
    .url_form = "sqlite:FILE?journal=delete|wal&synchronous=off|normal|full&cache=shared",
    .can = {.sql = true,
            .lists = true,
            .predicates = true,
            .autocommit = true,
            .blocked = true,
            .cancel = true,
            .persistent = true,
            .rounds = true},
    .layouts = 1U << ISO_LAYOUT_INDEXED | 1U << ISO_LAYOUT_HEAP,
    .accesses = 1U << ISO_ACCESS_INDEX | 1U << ISO_ACCESS_SEQUENTIAL,
    .plain = true,
    .library = iso_sqlite_library,
    .open = iso_sqlite_open,
    .close = iso_sqlite_close,
    .connect = iso_sqlite_connect,
    .disconnect = iso_sqlite_disconnect,
    .cancel = iso_sqlite_cancel,
    .waits = iso_sqlite_waits,
    .begin = begin,
    .statement = statement,
    .execute = execute,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
    .prepare = prepare,
    .forget = forget,
};
