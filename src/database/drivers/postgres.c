/* postgres.c - the driver for PostgreSQL: requests and their truth.
 *
 * An error aborts the whole transaction, and the server answers the COMMIT of such a one with success and the tag
 * ROLLBACK: only the tag COMMIT counts.  A FATAL error takes the connection with it; at a commit its outcome is then
 * unknown.
 */
#include "database/drivers/postgres.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/task.h"
#include "base/text.h"

/* How long a server that does not keep its own timeout is waited for. */
enum { GRACE_MS = 1000 };

/* ---- errors ---- */

static const struct {
  const char *prefix;
  iso_error_class class;
} classes[] = {
    {"40P01", ISO_CLASS_DEADLOCK},  {"40", ISO_CLASS_SERIALIZATION}, {"55P03", ISO_CLASS_LOCK_TIMEOUT},
    {"57014", ISO_CLASS_CANCELLED}, {"57P0", ISO_CLASS_UNAVAILABLE}, {"53", ISO_CLASS_UNAVAILABLE},
    {"23", ISO_CLASS_CONSTRAINT},   {"25006", ISO_CLASS_READ_ONLY},  {"25P02", ISO_CLASS_STATE},
    {"08", ISO_CLASS_CONNECTION},   {"42", ISO_CLASS_STATEMENT},     {"22", ISO_CLASS_STATEMENT},
    {"26", ISO_CLASS_STATEMENT},    {"0A", ISO_CLASS_STATEMENT},     {"3F", ISO_CLASS_STATEMENT},
};

static iso_error_class class_of(const iso_connection *connection, const char *sqlstate) {
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    if (strncmp(sqlstate, classes[i].prefix, strlen(classes[i].prefix)) != 0) continue;
    bool timed = classes[i].class == ISO_CLASS_CANCELLED && !atomic_load(&connection->cancelled) &&
                 connection->database->options.statement_timeout_ms > 0;
    return timed ? ISO_CLASS_TIMEOUT : classes[i].class;
  }
  return ISO_CLASS_OTHER;
}

static bool is_fatal(const PGresult *result) {
  const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity != NULL && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

/* The server answered with an error, or libpq made one up because the connection broke. */
static void fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                 const PGresult *result) {
  iso_pg_session *s = connection->state;
  const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (message == NULL) message = PQresultErrorMessage(result);
  if (code == NULL) code = "";
  iso_error_class class = class_of(connection, code);
  if (is_fatal(result) || PQstatus(s->handle) != CONNECTION_OK) {
    iso_reply_lost(connection, request, reply, code[0] != 0 ? class : ISO_CLASS_CONNECTION, code, message);
    return;
  }
  iso_txn_state txn = PQtransactionStatus(s->handle) == PQTRANS_INTRANS ? ISO_TXN_ACTIVE : ISO_TXN_ABORTED;
  bool at_commit = request->kind == ISO_COMMIT || connection->txn != ISO_TXN_ACTIVE;
  if (at_commit && strcmp(code, "40003") == 0) txn = ISO_TXN_UNKNOWN;
  iso_reply_fail(connection, request, reply, class, txn, code, message);
}

/* ---- waiting ---- */

/* Waits until libpq has a whole result.  False when the time is over, or poll failed. */
static bool wait_ready(PGconn *handle, double deadline) {
  while (PQisBusy(handle)) {
    struct pollfd waiting = {.fd = PQsocket(handle), .events = POLLIN};
    int timeout = -1;
    if (deadline > 0) {
      double left = deadline - iso_now();
      if (left <= 0) return false;
      timeout = left > 60 ? 60000 : (int)(left * 1000) + 1;
    }
    int ready = poll(&waiting, 1, timeout);
    if (ready < 0 && errno != EINTR) return false;
    /* When this fails the connection is bad, and the next result says so. */
    if (ready > 0 && PQconsumeInput(handle) == 0) return true;
  }
  return true;
}

/* Takes the answer to what was sent; NULL when there is none, and the reply says why. */
static PGresult *take_result(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  uint32_t limit = connection->database->options.statement_timeout_ms;
  double deadline = limit > 0 ? iso_now() + (limit + GRACE_MS) / 1000.0 : 0;
  PGresult *first = NULL;
  for (;;) {
    if (!wait_ready(s->handle, deadline)) {
      PQclear(first);
      iso_reply_lost(connection, request, reply, ISO_CLASS_TIMEOUT, "", "the server does not answer");
      return NULL;
    }
    PGresult *next = PQgetResult(s->handle);
    if (next == NULL) break;
    if (first == NULL)
      first = next;
    else
      PQclear(next);
    ExecStatusType status = PQresultStatus(first);
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
      PQclear(first);
      iso_reply_lost(connection, request, reply, ISO_CLASS_CLIENT, "", "COPY is not possible here");
      return NULL;
    }
  }
  if (first == NULL) iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", PQerrorMessage(s->handle));
  return first;
}

/* Checks a result: NULL, and the reply says why, when it is an error. */
static PGresult *check_result(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                              PGresult *result) {
  if (result == NULL) return NULL;
  ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) return result;
  fail(connection, request, reply, result);
  PQclear(result);
  return NULL;
}

static void not_sent(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", PQerrorMessage(s->handle));
}

/* One statement as text, with the simple protocol. */
static PGresult *ask(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, const char *sql) {
  iso_pg_session *s = connection->state;
  if (PQsendQuery(s->handle, sql) == 0) {
    not_sent(connection, request, reply);
    return NULL;
  }
  return check_result(connection, request, reply, take_result(connection, request, reply));
}

/* ---- transactions ---- */

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  char sql[128];
  snprintf(sql, sizeof sql, "BEGIN ISOLATION LEVEL %.40s%s", request->isolation->name,
           request->read_only ? " READ ONLY" : "");
  PGresult *result = ask(connection, request, reply, sql);
  if (result == NULL) return;
  PQclear(result);
  reply->txn = ISO_TXN_ACTIVE;
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  PGresult *result = ask(connection, request, reply, "COMMIT");
  if (result == NULL) return;
  if (strcmp(PQcmdStatus(result), "COMMIT") == 0) {
    reply->txn = ISO_TXN_COMMITTED;
  } else {
    iso_reply_fail(connection, request, reply, ISO_CLASS_OTHER, ISO_TXN_ABORTED, "25P02",
                   "the server answered COMMIT with ROLLBACK");
    reply->outcome = ISO_OUTCOME_ABORT;
  }
  PQclear(result);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  reply->txn = ISO_TXN_ABORTED;
  iso_pg_session *s = connection->state;
  if (PQtransactionStatus(s->handle) == PQTRANS_IDLE) return;
  PQclear(ask(connection, request, reply, "ROLLBACK"));
}

/* After a statement that succeeded: a transaction that is no longer open ended in a way that we did not see. */
static void check_still_open(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  if (connection->txn != ISO_TXN_ACTIVE || PQtransactionStatus(s->handle) == PQTRANS_INTRANS) return;
  if (PQstatus(s->handle) != CONNECTION_OK)
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", PQerrorMessage(s->handle));
  else
    iso_reply_fail(connection, request, reply, ISO_CLASS_STATE, ISO_TXN_UNKNOWN, "",
                   "the statement ended the transaction");
}

/* ---- statements ---- */

static void name_of(iso_sql sql, uint32_t table, char name[24]) {
  snprintf(name, 24, "isoproof_%u_%u", (unsigned)sql, table);
}

static bool prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                    uint32_t table) {
  iso_pg_session *s = connection->state;
  if (s->prepared[table][sql]) return true;
  char name[24], text[ISO_SQL_BYTES], table_name[ISO_TABLE_BYTES];
  name_of(sql, table, name);
  iso_sql_table_name(connection->database, table, table_name);
  if (iso_sql_text(ISO_SQL_POSTGRES, sql, table_name, connection->database->tag.tag, text) == NULL) {
    iso_reply_client(connection, request, reply, "the statement is too long");
    return false;
  }
  if (PQsendPrepare(s->handle, name, text, 0, NULL) == 0) {
    not_sent(connection, request, reply);
    return false;
  }
  PGresult *result = check_result(connection, request, reply, take_result(connection, request, reply));
  if (result == NULL) return false;
  PQclear(result);
  s->prepared[table][sql] = true;
  return true;
}

static bool number_at(const PGresult *result, int row, int column, int64_t *number) {
  return iso_parse_i64(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column), number);
}

/* Takes what a prepared statement returned; false when it cannot be kept. */
static bool take_rows(const PGresult *result, const iso_driver_request *request, iso_reply *reply) {
  int rows = PQntuples(result);
  if (PQresultStatus(result) != PGRES_TUPLES_OK) {
    int64_t affected;
    const char *count = PQcmdTuples((PGresult *)(uintptr_t)result);
    if (iso_parse_i64(count, strlen(count), &affected)) reply->affected = affected;
    return true;
  }
  if (request->kind == ISO_READ_RANGE) {
    for (int i = 0; i < rows; i++) {
      iso_row row;
      if (PQgetisnull(result, i, 1)) continue;
      if (!number_at(result, i, 0, &row.key) || !number_at(result, i, 1, &row.value)) return false;
      if (!iso_reply_add_row(reply, row.key, row.value)) return false;
    }
    return true;
  }
  if (rows == 0 || PQgetisnull(result, 0, 0)) return true;
  if (request->kind == ISO_READ_LIST)
    return iso_reply_set_list(reply, PQgetvalue(result, 0, 0), (size_t)PQgetlength(result, 0, 0));
  reply->present = true;
  return number_at(result, 0, 0, &reply->value);
}

static bool run_prepared(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                         uint32_t table) {
  iso_pg_session *s = connection->state;
  char name[24], numbers[2][ISO_NUMBER_BYTES + 1];
  name_of(sql, table, name);
  int64_t second = request->kind == ISO_READ_RANGE ? request->high : request->value;
  numbers[0][iso_format_i64(request->key, numbers[0])] = 0;
  numbers[1][iso_format_i64(second, numbers[1])] = 0;
  const char *values[2] = {numbers[0], numbers[1]};
  int count = (int)iso_sql_parameters(sql);
  if (PQsendQueryPrepared(s->handle, name, count, values, NULL, NULL, 0) == 0) {
    not_sent(connection, request, reply);
    return false;
  }
  PGresult *result = check_result(connection, request, reply, take_result(connection, request, reply));
  if (result == NULL) return false;
  bool kept = take_rows(result, request, reply);
  PQclear(result);
  if (!kept) iso_reply_client(connection, request, reply, "the answer is too large, or no list of numbers");
  return kept;
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sql sql = iso_sql_of(request);
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t table = first; table < end; table++) {
    if (!prepare(connection, request, reply, sql, table)) return;
    if (!run_prepared(connection, request, reply, sql, table)) return;
  }
}

static bool take_cells(const PGresult *result, iso_reply *reply) {
  int rows = PQntuples(result), columns = PQnfields(result);
  if (columns <= 0) return true;
  reply->columns = (uint32_t)columns;
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      const char *text = PQgetisnull(result, i, j) ? NULL : PQgetvalue(result, i, j);
      if (!iso_reply_add_cell(reply, text, (size_t)PQgetlength(result, i, j))) return false;
    }
  }
  return true;
}

static void execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  /* The extended protocol takes one statement only. */
  if (PQsendQueryParams(s->handle, request->sql, 0, NULL, NULL, NULL, NULL, 0) == 0) {
    not_sent(connection, request, reply);
    return;
  }
  PGresult *result = check_result(connection, request, reply, take_result(connection, request, reply));
  if (result == NULL) return;
  const char *count = PQcmdTuples(result);
  int64_t affected;
  if (iso_parse_i64(count, strlen(count), &affected)) reply->affected = affected;
  bool kept = take_cells(result, reply);
  PQclear(result);
  if (!kept) iso_reply_client(connection, request, reply, "the answer is too large");
  check_still_open(connection, request, reply);
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  PQclear(ask(connection, request, reply, ""));
}

const iso_driver iso_driver_postgres = {
    .id = ISO_DRIVER_POSTGRES,
    .url_form =
        "postgres://user@host:port/database?sslmode=MODE&init=STATEMENT or postgres:host=HOST dbname=DATABASE ...",
    .can = {.sql = true,
            .lists = true,
            .predicates = true,
            .autocommit = true,
            .concurrent = true,
            .blocked = true,
            .cancel = true,
            .nodes = true,
            .persistent = true},
    .library = iso_pg_library,
    .open = iso_pg_open,
    .close = iso_pg_close,
    .connect = iso_pg_connect,
    .disconnect = iso_pg_disconnect,
    .cancel = iso_pg_cancel,
    .read_only = iso_pg_read_only,
    .settled = iso_pg_settled,
    .begin = begin,
    .statement = statement,
    .execute = execute,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
};
