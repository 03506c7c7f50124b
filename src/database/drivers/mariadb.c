/* mariadb.c - the driver for MariaDB and MySQL: requests and their truth.
 *
 * An error may come with any row, not only with the first answer; a transaction may be gone without an error of its
 * own, which the status of every answer shows.
 */
#include "database/drivers/mariadb.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* ---- plain statements ---- */

/* True when it succeeded and has no rows; else the reply says why. */
static bool ask(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, const char *sql) {
  iso_maria_session *s = connection->state;
  if (s->my->mysql_real_query(s->handle, sql, (unsigned long)strlen(sql)) == 0) return true;
  iso_maria_fail(connection, request, reply, NULL);
  return false;
}

void iso_maria_check_still_open(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_maria_session *s = connection->state;
  if (connection->txn != ISO_TXN_ACTIVE || reply->outcome != ISO_OUTCOME_OK) return;
  if ((s->handle->server_status & SERVER_STATUS_IN_TRANS) != 0) return;
  iso_reply_fail(connection, request, reply, ISO_CLASS_STATE, ISO_TXN_UNKNOWN, "",
                 "the statement ended the transaction");
}

/* ---- transactions ---- */

void iso_maria_level_text(const iso_driver_request *request, char sql[ISO_SQL_BYTES]) {
  snprintf(sql, ISO_SQL_BYTES, "SET SESSION TRANSACTION ISOLATION LEVEL %.40s", request->isolation->name);
}

const char *iso_maria_start_text(const iso_driver_request *request) {
  return request->read_only ? "START TRANSACTION READ ONLY" : "START TRANSACTION";
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_maria_session *s = connection->state;
  if (s->isolation != request->isolation) {
    char sql[ISO_SQL_BYTES];
    s->isolation = NULL;
    iso_maria_level_text(request, sql);
    if (!ask(connection, request, reply, sql)) return;
    s->isolation = request->isolation;
  }
  if (ask(connection, request, reply, iso_maria_start_text(request))) reply->txn = ISO_TXN_ACTIVE;
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_maria_session *s = connection->state;
  if ((s->handle->server_status & SERVER_STATUS_IN_TRANS) == 0) {
    /* A COMMIT would answer OK to a transaction that is not there. */
    iso_reply_fail(connection, request, reply, ISO_CLASS_OTHER, ISO_TXN_ABORTED, "", "the transaction was gone");
    reply->outcome = ISO_OUTCOME_ABORT;
    return;
  }
  if (ask(connection, request, reply, "COMMIT")) reply->txn = ISO_TXN_COMMITTED;
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  if (ask(connection, request, reply, "ROLLBACK")) reply->txn = ISO_TXN_ABORTED;
  /* What was not committed never will be, whatever the answer to the ROLLBACK is, if the connection ends here. */
  if (reply->txn == ISO_TXN_ABORTED) return;
  connection->broken = true;
  reply->txn = ISO_TXN_ABORTED;
}

/* ---- prepared statements ---- */

static MYSQL_STMT *prepare_one(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                               iso_sql sql, uint32_t place) {
  iso_maria_session *s = connection->state;
  if (s->statements[place][sql] != NULL) return s->statements[place][sql];
  iso_sql_form form = iso_sql_form_of(connection->database, ISO_SQL_MARIADB);
  char text[ISO_SQL_BYTES], name[ISO_TABLE_BYTES];
  iso_sql_place_name(connection->database, request, place, name);
  MYSQL_STMT *made = s->my->mysql_stmt_init(s->handle);
  if (made == NULL || iso_sql_write(&form, sql, name, NULL, text) == NULL) {
    if (made != NULL) s->my->mysql_stmt_close(made);
    iso_reply_client(connection, request, reply, "memory is out, or the statement too long");
    return NULL;
  }
  if (s->my->mysql_stmt_prepare(made, text, (unsigned long)strlen(text)) != 0) {
    iso_maria_fail(connection, request, reply, made);
    s->my->mysql_stmt_close(made);
    return NULL;
  }
  s->statements[place][sql] = made;
  return made;
}

typedef struct parameters {
  long long numbers[2];
  char text[ISO_NUMBER_BYTES];
  unsigned long length;
  MYSQL_BIND binds[2];
} parameters;

static bool bind_parameters(const iso_mysql *my, MYSQL_STMT *statement, iso_sql sql, const iso_driver_request *request,
                            parameters *p) {
  memset(p, 0, sizeof *p);
  int64_t numbers[2];
  if (iso_sql_numbers(sql, request, numbers) == 0) return true;
  for (size_t i = 0; i < 2; i++) {
    p->numbers[i] = numbers[i];
    p->binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
    p->binds[i].buffer = &p->numbers[i];
  }
  if (iso_sql_takes_text(sql)) {
    p->length = (unsigned long)iso_format_i64(numbers[1], p->text);
    p->binds[1] = (MYSQL_BIND){
        .buffer_type = MYSQL_TYPE_STRING, .buffer = p->text, .buffer_length = p->length, .length = &p->length};
  }
  return my->mysql_stmt_bind_param(statement, p->binds) == 0;
}

typedef struct columns {
  long long numbers[2];
  my_bool nulls[2], cut[2];
  unsigned long lengths[2];
  MYSQL_BIND binds[2];
} columns;

static bool bind_columns(const iso_mysql *my, MYSQL_STMT *statement, const iso_driver_request *request, columns *c) {
  memset(c, 0, sizeof *c);
  for (size_t i = 0; i < 2; i++) {
    c->binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
    c->binds[i].buffer = &c->numbers[i];
    c->binds[i].is_null = &c->nulls[i];
    c->binds[i].error = &c->cut[i];
    c->binds[i].length = &c->lengths[i];
  }
  if (request->kind == ISO_READ_LIST) {
    /* Its length comes first, its text when there is room for it. */
    c->binds[0].buffer_type = MYSQL_TYPE_STRING;
    c->binds[0].buffer = NULL;
    c->binds[0].buffer_length = 0;
  }
  return my->mysql_stmt_bind_result(statement, c->binds) == 0;
}

static bool take_list(iso_maria_session *s, MYSQL_STMT *statement, const columns *c, iso_reply *reply) {
  unsigned long length = c->lengths[0];
  if (length > ISO_MOST_REPLY_BYTES) return false;
  s->text.count = 0;
  if (!iso_vec_reserve(&s->text, length + 1)) return false;
  MYSQL_BIND whole = {.buffer_type = MYSQL_TYPE_STRING, .buffer = s->text.items, .buffer_length = length + 1};
  unsigned long found = 0;
  my_bool null = 0, cut = 0;
  whole.length = &found;
  whole.is_null = &null;
  whole.error = &cut;
  if (length > 0 && s->my->mysql_stmt_fetch_column(statement, &whole, 0, 0) != 0) return false;
  return iso_reply_set_list(reply, s->text.items, length);
}

/* Takes a row; false when it cannot be kept. */
static bool take_row(iso_maria_session *s, MYSQL_STMT *statement, const iso_driver_request *request, const columns *c,
                     iso_reply *reply) {
  if (request->kind == ISO_READ_RANGE) return c->nulls[1] || iso_reply_add_row(reply, c->numbers[0], c->numbers[1]);
  if (c->nulls[0]) return true;
  if (request->kind == ISO_READ_LIST) return take_list(s, statement, c, reply);
  reply->present = request->kind == ISO_READ;
  /* Counts of several tables are one. */
  reply->value = request->kind == ISO_COUNT ? reply->value + c->numbers[0] : c->numbers[0];
  return true;
}

/* Takes all rows.  The error of a row is as good as any other. */
static bool take_rows(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                      MYSQL_STMT *statement) {
  iso_maria_session *s = connection->state;
  columns c;
  bool kept = true;
  int fetched = 1;
  if (bind_columns(s->my, statement, request, &c)) {
    fetched = s->my->mysql_stmt_fetch(statement);
    while ((fetched == 0 || fetched == MYSQL_DATA_TRUNCATED) && kept) {
      kept = take_row(s, statement, request, &c, reply);
      fetched = s->my->mysql_stmt_fetch(statement);
    }
  }
  bool failed = fetched == 1;
  if (failed) iso_maria_fail(connection, request, reply, statement);
  s->my->mysql_stmt_free_result(statement);
  if (!failed && !kept) iso_reply_client(connection, request, reply, "the answer is too large, or no list of numbers");
  return !failed && kept;
}

static bool run_prepared(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                         MYSQL_STMT *statement) {
  const iso_maria_session *s = connection->state;
  parameters p;
  if (!bind_parameters(s->my, statement, sql, request, &p) || s->my->mysql_stmt_execute(statement) != 0) {
    iso_maria_fail(connection, request, reply, statement);
    return false;
  }
  if (s->my->mysql_stmt_field_count(statement) > 0) return take_rows(connection, request, reply, statement);
  reply->affected = (int64_t)s->my->mysql_stmt_affected_rows(statement);
  return true;
}

static bool run_one(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                    uint32_t place) {
  const iso_maria_session *s = connection->state;
  bool prepares = iso_sql_prepares(connection, request) && (request->round == 0 || s->statements[place][sql] != NULL);
  if (!prepares) return iso_maria_run_plain(connection, request, reply, sql, place);
  MYSQL_STMT *prepared = prepare_one(connection, request, reply, sql, place);
  return prepared != NULL && run_prepared(connection, request, reply, sql, prepared);
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++)
    if (!run_one(connection, request, reply, iso_sql_of(request), place)) return;
  iso_maria_check_still_open(connection, request, reply);
}

static void prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++)
    if (prepare_one(connection, request, reply, iso_sql_of(request), place) == NULL) return;
}

static void forget(iso_connection *connection, uint32_t place) {
  iso_maria_session *s = connection->state;
  for (size_t i = 0; i < ISO_SQL_STATEMENTS; i++) {
    if (s->statements[place][i] != NULL) s->my->mysql_stmt_close(s->statements[place][i]);
    s->statements[place][i] = NULL;
  }
}

/* ---- statements as text ---- */

static bool take_cells(const iso_mysql *my, MYSQL_RES *result, iso_reply *reply) {
  MYSQL_ROW row;
  const MYSQL_FIELD *fields = my->mysql_fetch_fields(result);
  reply->columns = my->mysql_num_fields(result);
  for (uint32_t i = 0; i < reply->columns; i++)
    if (!iso_reply_add_name(reply, fields[i].name)) return false;
  while ((row = my->mysql_fetch_row(result)) != NULL) {
    const unsigned long *lengths = my->mysql_fetch_lengths(result);
    for (uint32_t i = 0; i < reply->columns; i++)
      if (!iso_reply_add_cell(reply, row[i], lengths[i])) return false;
  }
  return true;
}

static void execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_maria_session *s = connection->state;
  /* One statement, whoever wrote it. */
  if (!iso_maria_set_multi(connection, request, reply, false)) return;
  if (!ask(connection, request, reply, request->sql)) return;
  MYSQL_RES *result = s->my->mysql_store_result(s->handle);
  if (result == NULL && (s->my->mysql_errno(s->handle) != 0 || s->my->mysql_field_count(s->handle) != 0)) {
    iso_maria_fail(connection, request, reply, NULL);
    return;
  }
  bool kept = true;
  if (result != NULL)
    kept = take_cells(s->my, result, reply);
  else
    reply->affected = (int64_t)s->my->mysql_affected_rows(s->handle);
  s->my->mysql_free_result(result);
  if (!kept) iso_reply_client(connection, request, reply, "the answer is too large");
  iso_maria_check_still_open(connection, request, reply);
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_maria_session *s = connection->state;
  if (s->my->mysql_ping(s->handle) != 0) iso_maria_fail(connection, request, reply, NULL);
}

const iso_driver iso_driver_mariadb = {
    .id = ISO_DRIVER_MARIADB,
    .url_form = "mariadb://user@host:port/database?socket=FILE&ssl-ca=FILE&defaults-file=FILE&init=STATEMENT",
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
            .apart = true,
            .blocked_lag_ms = 100},
    .layouts = 1U << ISO_LAYOUT_INDEXED | 1U << ISO_LAYOUT_HEAP,
    .accesses = 1U << ISO_ACCESS_INDEX | 1U << ISO_ACCESS_SEQUENTIAL,
    .plain = true,
    .library = iso_mysql_name,
    .open = iso_maria_open,
    .close = iso_maria_close,
    .connect = iso_maria_connect,
    .disconnect = iso_maria_disconnect,
    .cancel = iso_maria_cancel,
    .settled = iso_maria_settled,
    .begin = begin,
    .statement = statement,
    .execute = execute,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
    .prepare = prepare,
    .forget = forget,
    .batch = iso_maria_batch,
};
