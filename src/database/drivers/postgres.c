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

static bool is_fatal(const iso_pq *pq, const PGresult *result) {
  const char *severity = pq->resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity != NULL && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

/* The server answered with an error, or libpq made one up because the connection broke. */
static void fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                 const PGresult *result) {
  iso_pg_session *s = connection->state;
  const char *code = s->pq->resultErrorField(result, PG_DIAG_SQLSTATE);
  const char *message = s->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (message == NULL) message = s->pq->resultErrorMessage(result);
  if (code == NULL) code = "";
  iso_error_class class = class_of(connection, code);
  if (is_fatal(s->pq, result) || s->pq->status(s->handle) != CONNECTION_OK) {
    iso_reply_lost(connection, request, reply, code[0] != 0 ? class : ISO_CLASS_CONNECTION, code, message);
    return;
  }
  iso_txn_state txn = s->pq->transactionStatus(s->handle) == PQTRANS_INTRANS ? ISO_TXN_ACTIVE : ISO_TXN_ABORTED;
  bool at_commit = request->kind == ISO_COMMIT || connection->txn != ISO_TXN_ACTIVE;
  if (at_commit && strcmp(code, "40003") == 0) txn = ISO_TXN_UNKNOWN;
  iso_reply_fail(connection, request, reply, class, txn, code, message);
}

/* ---- waiting ---- */

bool iso_pg_wait(const iso_pg_session *s, double deadline) {
  while (s->pq->isBusy(s->handle)) {
    struct pollfd waiting = {.fd = s->pq->socket(s->handle), .events = POLLIN};
    int timeout = -1;
    if (deadline > 0) {
      double left = deadline - iso_now();
      if (left <= 0) return false;
      timeout = left > 60 ? 60000 : (int)(left * 1000) + 1;
    }
    int ready = poll(&waiting, 1, timeout);
    if (ready < 0 && errno != EINTR) return false;
    /* When this fails the connection is bad, and the next result says so. */
    if (ready > 0 && s->pq->consumeInput(s->handle) == 0) return true;
  }
  return true;
}

double iso_pg_deadline(const iso_connection *connection) {
  uint32_t limit = connection->database->options.statement_timeout_ms;
  return limit > 0 ? iso_now() + (limit + GRACE_MS) / 1000.0 : 0;
}

/* Takes the answer to what was sent; NULL when there is none, and the reply says why. */
static PGresult *take_result(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  double deadline = iso_pg_deadline(connection);
  PGresult *first = NULL;
  for (;;) {
    if (!iso_pg_wait(s, deadline)) {
      s->pq->clear(first);
      iso_reply_lost(connection, request, reply, ISO_CLASS_TIMEOUT, "", "the server does not answer");
      return NULL;
    }
    PGresult *next = s->pq->getResult(s->handle);
    if (next == NULL) break;
    if (first == NULL)
      first = next;
    else
      s->pq->clear(next);
    ExecStatusType status = s->pq->resultStatus(first);
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
      s->pq->clear(first);
      iso_reply_lost(connection, request, reply, ISO_CLASS_CLIENT, "", "COPY is not possible here");
      return NULL;
    }
  }
  if (first == NULL)
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", s->pq->errorMessage(s->handle));
  return first;
}

/* Checks a result: NULL, and the reply says why, when it is an error. */
static PGresult *check_result(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                              PGresult *result) {
  const iso_pg_session *s = connection->state;
  if (result == NULL) return NULL;
  ExecStatusType status = s->pq->resultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) return result;
  fail(connection, request, reply, result);
  s->pq->clear(result);
  return NULL;
}

PGresult *iso_pg_answer(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  return check_result(connection, request, reply, take_result(connection, request, reply));
}

void iso_pg_not_sent(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", s->pq->errorMessage(s->handle));
}

/* One statement as text, with the simple protocol. */
static PGresult *ask(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, const char *sql) {
  iso_pg_session *s = connection->state;
  if (s->pq->sendQuery(s->handle, sql) == 0) {
    iso_pg_not_sent(connection, request, reply);
    return NULL;
  }
  return iso_pg_answer(connection, request, reply);
}

/* ---- transactions ---- */

void iso_pg_begin_text(const iso_driver_request *request, char sql[ISO_PG_BEGIN_BYTES]) {
  snprintf(sql, ISO_PG_BEGIN_BYTES, "BEGIN ISOLATION LEVEL %.40s%s", request->isolation->name,
           request->read_only ? " READ ONLY" : "");
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_pg_session *s = connection->state;
  char sql[ISO_PG_BEGIN_BYTES];
  iso_pg_begin_text(request, sql);
  PGresult *result = ask(connection, request, reply, sql);
  if (result == NULL) return;
  s->pq->clear(result);
  reply->txn = ISO_TXN_ACTIVE;
}

void iso_pg_take_commit(iso_connection *connection, const PGresult *result, const iso_driver_request *request,
                        iso_reply *reply) {
  const iso_pg_session *s = connection->state;
  if (strcmp(s->pq->cmdStatus((PGresult *)(uintptr_t)result), "COMMIT") == 0) {
    reply->txn = ISO_TXN_COMMITTED;
  } else {
    iso_reply_fail(connection, request, reply, ISO_CLASS_OTHER, ISO_TXN_ABORTED, "25P02",
                   "the server answered COMMIT with ROLLBACK");
    reply->outcome = ISO_OUTCOME_ABORT;
  }
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_pg_session *s = connection->state;
  PGresult *result = ask(connection, request, reply, "COMMIT");
  if (result != NULL) iso_pg_take_commit(connection, result, request, reply);
  s->pq->clear(result);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  reply->txn = ISO_TXN_ABORTED;
  iso_pg_session *s = connection->state;
  if (s->pq->transactionStatus(s->handle) == PQTRANS_IDLE) return;
  s->pq->clear(ask(connection, request, reply, "ROLLBACK"));
}

/* After a statement that succeeded: a transaction that is no longer open ended in a way that we did not see. */
static void check_still_open(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  if (connection->txn != ISO_TXN_ACTIVE || s->pq->transactionStatus(s->handle) == PQTRANS_INTRANS) return;
  if (s->pq->status(s->handle) != CONNECTION_OK)
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", s->pq->errorMessage(s->handle));
  else
    iso_reply_fail(connection, request, reply, ISO_CLASS_STATE, ISO_TXN_UNKNOWN, "",
                   "the statement ended the transaction");
}

/* ---- statements ---- */

static void name_of(iso_sql sql, uint32_t place, char name[ISO_PG_NAME_BYTES]) {
  snprintf(name, ISO_PG_NAME_BYTES, "isoproof_%u_%u", (unsigned)sql, place);
}

const char *iso_pg_text(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                        uint32_t place, bool numbers, char text[ISO_SQL_BYTES]) {
  iso_sql_form form = iso_sql_form_of(connection->database, ISO_SQL_POSTGRES);
  char table[ISO_TABLE_BYTES];
  int64_t given[2];
  iso_sql_numbers(sql, request, given);
  iso_sql_place_name(connection->database, request, place, table);
  if (iso_sql_write(&form, sql, table, numbers ? given : NULL, text) != NULL) return text;
  iso_reply_client(connection, request, reply, "the statement is too long");
  return NULL;
}

bool iso_pg_prepares(const iso_connection *connection, const iso_driver_request *request, iso_sql sql, uint32_t place) {
  const iso_pg_session *s = connection->state;
  return iso_sql_prepares(connection, request) && (request->round == 0 || s->prepared[place][sql]);
}

bool iso_pg_prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                    uint32_t place) {
  iso_pg_session *s = connection->state;
  if (s->prepared[place][sql]) return true;
  char name[ISO_PG_NAME_BYTES], text[ISO_SQL_BYTES];
  name_of(sql, place, name);
  if (iso_pg_text(connection, request, reply, sql, place, false, text) == NULL) return false;
  if (s->pq->sendPrepare(s->handle, name, text, 0, NULL) == 0) {
    iso_pg_not_sent(connection, request, reply);
    return false;
  }
  PGresult *result = iso_pg_answer(connection, request, reply);
  if (result == NULL) return false;
  s->pq->clear(result);
  s->prepared[place][sql] = true;
  return true;
}

static void prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++)
    if (!iso_pg_prepare(connection, request, reply, iso_sql_of(request), place)) return;
}

/* All at once; should it fail, the next statement of the place fails, too. */
static void forget(iso_connection *connection, uint32_t place) {
  iso_pg_session *s = connection->state;
  char sql[ISO_SQL_STATEMENTS * 48] = "", name[ISO_PG_NAME_BYTES];
  size_t used = 0;
  for (unsigned i = 0; i < ISO_SQL_STATEMENTS; i++) {
    if (!s->prepared[place][i]) continue;
    name_of((iso_sql)i, place, name);
    used += (size_t)snprintf(sql + used, sizeof sql - used, "DEALLOCATE %s;", name);
    s->prepared[place][i] = false;
  }
  if (used > 0) s->pq->clear(s->pq->exec(s->handle, sql));
}

static bool number_at(const iso_pq *pq, const PGresult *result, int row, int column, int64_t *number) {
  return iso_parse_i64(pq->getvalue(result, row, column), (size_t)pq->getlength(result, row, column), number);
}

/* Takes what a statement returned; false when it cannot be kept. */
static bool take_rows(const iso_pq *pq, const PGresult *result, const iso_driver_request *request, iso_reply *reply) {
  int rows = pq->ntuples(result);
  if (pq->resultStatus(result) != PGRES_TUPLES_OK) {
    int64_t affected;
    const char *count = pq->cmdTuples((PGresult *)(uintptr_t)result);
    if (iso_parse_i64(count, strlen(count), &affected)) reply->affected = affected;
    return true;
  }
  if (request->kind == ISO_READ_RANGE) {
    for (int i = 0; i < rows; i++) {
      iso_row row;
      if (pq->getisnull(result, i, 1)) continue;
      if (!number_at(pq, result, i, 0, &row.key) || !number_at(pq, result, i, 1, &row.value)) return false;
      if (!iso_reply_add_row(reply, row.key, row.value)) return false;
    }
    return true;
  }
  if (rows == 0 || pq->getisnull(result, 0, 0)) return true;
  if (request->kind == ISO_READ_LIST)
    return iso_reply_set_list(reply, pq->getvalue(result, 0, 0), (size_t)pq->getlength(result, 0, 0));
  reply->present = request->kind == ISO_READ;
  int64_t number;
  if (!number_at(pq, result, 0, 0, &number)) return false;
  /* Counts of several tables are one. */
  reply->value += number;
  return true;
}

bool iso_pg_take_rows(iso_connection *connection, const PGresult *result, const iso_driver_request *request,
                      iso_reply *reply) {
  const iso_pg_session *s = connection->state;
  if (take_rows(s->pq, result, request, reply)) return true;
  iso_reply_client(connection, request, reply, "the answer is too large, or no list of numbers");
  return false;
}

bool iso_pg_send_prepared(iso_connection *connection, const iso_driver_request *request, iso_sql sql, uint32_t place) {
  iso_pg_session *s = connection->state;
  char name[ISO_PG_NAME_BYTES], texts[2][ISO_NUMBER_BYTES + 1];
  int64_t numbers[2];
  const char *values[2] = {texts[0], texts[1]};
  unsigned count = iso_sql_numbers(sql, request, numbers);
  for (unsigned i = 0; i < count; i++) texts[i][iso_format_i64(numbers[i], texts[i])] = 0;
  name_of(sql, place, name);
  return s->pq->sendQueryPrepared(s->handle, name, (int)count, values, NULL, NULL, 0) != 0;
}

static bool run_one(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                    uint32_t place) {
  const iso_pg_session *s = connection->state;
  char text[ISO_SQL_BYTES];
  PGresult *result = NULL;
  if (!iso_pg_prepares(connection, request, sql, place)) {
    if (iso_pg_text(connection, request, reply, sql, place, true, text) == NULL) return false;
    result = ask(connection, request, reply, text);
  } else if (!iso_pg_prepare(connection, request, reply, sql, place)) {
    return false;
  } else if (!iso_pg_send_prepared(connection, request, sql, place)) {
    iso_pg_not_sent(connection, request, reply);
  } else {
    result = iso_pg_answer(connection, request, reply);
  }
  if (result == NULL) return false;
  bool kept = iso_pg_take_rows(connection, result, request, reply);
  s->pq->clear(result);
  return kept;
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++)
    if (!run_one(connection, request, reply, iso_sql_of(request), place)) return;
}

static bool take_cells(const iso_pq *pq, const PGresult *result, iso_reply *reply) {
  int rows = pq->ntuples(result), columns = pq->nfields(result);
  if (columns <= 0) return true;
  reply->columns = (uint32_t)columns;
  for (int j = 0; j < columns; j++)
    if (!iso_reply_add_name(reply, pq->fname(result, j))) return false;
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      const char *text = pq->getisnull(result, i, j) ? NULL : pq->getvalue(result, i, j);
      if (!iso_reply_add_cell(reply, text, (size_t)pq->getlength(result, i, j))) return false;
    }
  }
  return true;
}

static void execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  /* The extended protocol takes one statement only. */
  if (s->pq->sendQueryParams(s->handle, request->sql, 0, NULL, NULL, NULL, NULL, 0) == 0) {
    iso_pg_not_sent(connection, request, reply);
    return;
  }
  PGresult *result = iso_pg_answer(connection, request, reply);
  if (result == NULL) return;
  const char *count = s->pq->cmdTuples(result);
  int64_t affected;
  if (iso_parse_i64(count, strlen(count), &affected)) reply->affected = affected;
  bool kept = take_cells(s->pq, result, reply);
  s->pq->clear(result);
  if (!kept) iso_reply_client(connection, request, reply, "the answer is too large");
  check_still_open(connection, request, reply);
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_pg_session *s = connection->state;
  s->pq->clear(ask(connection, request, reply, ""));
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
            .persistent = true,
            .rounds = true,
            .apart = true},
    .layouts = 1U << ISO_LAYOUT_INDEXED | 1U << ISO_LAYOUT_HASHED | 1U << ISO_LAYOUT_HEAP,
    .accesses = 1U << ISO_ACCESS_INDEX | 1U << ISO_ACCESS_BITMAP | 1U << ISO_ACCESS_SEQUENTIAL,
    .plain = true,
    .library = iso_pq_name,
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
    .prepare = prepare,
    .forget = forget,
    .batch = iso_pg_batch,
};
