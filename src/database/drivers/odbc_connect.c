/* odbc_connect.c - connecting through ODBC, and finding out what is behind it. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "database/drivers/odbc.h"
#include "database/redact.h"

void iso_odbc_library(char *buffer, size_t size) {
  /* The version of the driver manager is only told to those who are connected. */
  snprintf(buffer, size, "unixODBC, ODBC %d.%d", ODBCVER >> 8, (ODBCVER >> 4) & 15);
}

/* ---- connecting ---- */

static isoproof_status cannot(const iso_url *url, SQLSMALLINT type, SQLHANDLE handle, isoproof_error *error) {
  char state[6], text[ISO_MESSAGE_BYTES];
  SQLINTEGER native;
  iso_odbc_diagnostic(type, handle, state, &native, text, sizeof text);
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot connect: %s %s", url->shown, state, text);
}

/* Limits that the server keeps itself, in its own words. */
static isoproof_status set_limits(iso_connection *connection, isoproof_error *error) {
  const iso_odbc_server *server = connection->database->state;
  const iso_database_options *options = &connection->database->options;
  char sql[2][96] = {"", ""};
  switch (server->kind) {
  case ISO_ODBC_POSTGRES:
    snprintf(sql[0], sizeof sql[0], "SET statement_timeout = %u", options->statement_timeout_ms);
    snprintf(sql[1], sizeof sql[1], "SET lock_timeout = %u", options->lock_timeout_ms);
    break;
  case ISO_ODBC_MARIADB:
    snprintf(sql[0], sizeof sql[0], "SET SESSION max_statement_time = %.3f", options->statement_timeout_ms / 1000.0);
    if (options->lock_timeout_ms > 0)
      snprintf(sql[1], sizeof sql[1], "SET SESSION innodb_lock_wait_timeout = %u",
               (options->lock_timeout_ms + 999) / 1000);
    break;
  case ISO_ODBC_SQLITE:
    snprintf(sql[0], sizeof sql[0], "PRAGMA busy_timeout = %u",
             options->lock_timeout_ms > 0 ? options->lock_timeout_ms : 5000);
    break;
  default:
    break;
  }
  iso_reply reply = {0};
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < 2 && status == ISOPROOF_OK; i++) {
    if (sql[i][0] != 0 && iso_execute(connection, sql[i], &reply) != ISO_OUTCOME_OK)
      status = iso_fail(error, ISOPROOF_ERR_IO, "%s: %s: %s", connection->database->urls[connection->node].shown,
                        sql[i], reply.message);
  }
  iso_reply_free(&reply);
  connection->txn = ISO_TXN_IDLE;
  return status;
}

static void learn_number(iso_connection *connection) {
  const iso_odbc_server *server = connection->database->state;
  const char *sql = NULL;
  if (server->kind == ISO_ODBC_POSTGRES) sql = "SELECT pg_backend_pid()";
  if (server->kind == ISO_ODBC_MARIADB) sql = "SELECT CONNECTION_ID()";
  if (sql == NULL) return;
  iso_reply reply = {0};
  iso_execute(connection, sql, &reply);
  const char *number = iso_reply_cell(&reply, 0, 0);
  connection->server_id = number != NULL ? strtoull(number, NULL, 10) : 0;
  iso_reply_free(&reply);
  connection->txn = ISO_TXN_IDLE;
}

/* An update to the value that a row has already changes it, as everywhere else: option 2 of the drivers for MariaDB and
 * MySQL.  Known from the second connection on, when the first has told what is behind the driver. */
static void count_found_rows(const iso_odbc_server *server, char *text, size_t size) {
  size_t used = strlen(text);
  if (server->kind != ISO_ODBC_MARIADB || strcasestr(text, "option=") != NULL || used == 0 || used + 16 > size) return;
  snprintf(text + used, size - used, "%sOption=2", text[used - 1] == ';' ? "" : ";");
}

/* The text after "odbc:", or DSN= and the name of a data source; a password that it does not have is added in braces.
 */
static isoproof_status connection_string(const iso_database *database, const iso_url *url, char *text, size_t size,
                                         isoproof_error *error) {
  const char *password = database->options.password;
  size_t used = (size_t)snprintf(text, size, "%s%s", strchr(url->path, '=') == NULL ? "DSN=" : "", url->path);
  iso_span spans[ISO_MOST_SPANS];
  size_t count = iso_redact_find(url->shown, spans);
  for (size_t i = 0; i < count; i++)
    if (spans[i].login) return ISOPROOF_OK;
  if (password == NULL) return ISOPROOF_OK;
  if (used + 2 * strlen(password) + 16 > size)
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "the password is longer than %d bytes", ISO_MOST_URL_BYTES);
  used += (size_t)snprintf(text + used, size - used, "%sPwd={", text[used - 1] == ';' ? "" : ";");
  for (; *password != 0; password++) {
    if (*password == '}') text[used++] = '}';
    text[used++] = *password;
  }
  memcpy(text + used, "}", 2);
  return ISOPROOF_OK;
}

isoproof_status iso_odbc_connect(iso_connection *connection, isoproof_error *error) {
  const iso_database *database = connection->database;
  const iso_odbc_server *server = database->state;
  const iso_url *url = &database->urls[connection->node];
  iso_odbc_session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  connection->state = s;
  atomic_init(&s->running, SQL_NULL_HSTMT);
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, server->environment, &s->handle))) return iso_fail_memory(error);
  uintptr_t timeout = (database->options.connect_timeout_ms + 999) / 1000;
  SQLSetConnectAttr(s->handle, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)timeout, SQL_IS_UINTEGER);
  char text[3 * ISO_MOST_URL_BYTES];
  ISO_TRY(connection_string(database, url, text, sizeof text, error));
  count_found_rows(server, text, sizeof text);
  SQLSMALLINT length = 0;
  SQLCHAR completed[1024];
  SQLRETURN done = SQLDriverConnect(s->handle, NULL, (SQLCHAR *)text, SQL_NTS, completed, sizeof completed, &length,
                                    SQL_DRIVER_NOPROMPT);
  explicit_bzero(text, sizeof text);
  explicit_bzero(completed, sizeof completed);
  if (!SQL_SUCCEEDED(done)) return cannot(url, SQL_HANDLE_DBC, s->handle, error);
  ISO_TRY(set_limits(connection, error));
  learn_number(connection);
  return ISOPROOF_OK;
}

void iso_odbc_disconnect(iso_connection *connection) {
  iso_odbc_session *s = connection->state;
  if (s == NULL) return;
  for (size_t i = 0; i < ISO_MOST_PLACES; i++)
    for (size_t j = 0; j < ISO_SQL_STATEMENTS; j++)
      if (s->statements[i][j] != SQL_NULL_HSTMT) SQLFreeHandle(SQL_HANDLE_STMT, s->statements[i][j]);
  if (s->handle != SQL_NULL_HDBC) {
    /* A connection with an open transaction refuses to go. */
    if (s->manual) SQLEndTran(SQL_HANDLE_DBC, s->handle, SQL_ROLLBACK);
    SQLDisconnect(s->handle);
    SQLFreeHandle(SQL_HANDLE_DBC, s->handle);
  }
  iso_vec_free(&s->text);
  free(s);
  connection->state = NULL;
}

bool iso_odbc_cancel(iso_connection *connection) {
  iso_odbc_session *s = connection->state;
  SQLHSTMT running = s != NULL ? atomic_load(&s->running) : SQL_NULL_HSTMT;
  return running != SQL_NULL_HSTMT && SQL_SUCCEEDED(SQLCancel(running));
}

/* ---- what is behind it ---- */

static void get_info(const iso_odbc_session *s, SQLUSMALLINT what, char *text, size_t size) {
  SQLSMALLINT length = 0;
  text[0] = 0;
  SQLGetInfo(s->handle, what, text, (SQLSMALLINT)size, &length);
  text[size - 1] = 0;
}

static const struct {
  const char *name;
  iso_odbc_kind kind;
  iso_sql_dialect dialect, texts;
} known[] = {
    {"PostgreSQL", ISO_ODBC_POSTGRES, ISO_SQL_POSTGRES, ISO_SQL_SQLITE},
    {"MariaDB", ISO_ODBC_MARIADB, ISO_SQL_MARIADB, ISO_SQL_MARIADB},
    {"MySQL", ISO_ODBC_MARIADB, ISO_SQL_MARIADB, ISO_SQL_MARIADB},
    {"SQLite", ISO_ODBC_SQLITE, ISO_SQL_SQLITE, ISO_SQL_SQLITE},
};

static void add_isolations(iso_database *database, bool snapshot, SQLUINTEGER offered, SQLUINTEGER initial) {
  static const struct {
    SQLUINTEGER bit;
    iso_claim postgres, mariadb, other;
  } levels[] = {
      {SQL_TXN_READ_UNCOMMITTED, ISO_CLAIM_POSTGRES_READ_UNCOMMITTED, ISO_CLAIM_INNODB_READ_UNCOMMITTED,
       ISO_CLAIM_ODBC_READ_UNCOMMITTED},
      {SQL_TXN_READ_COMMITTED, ISO_CLAIM_POSTGRES_READ_COMMITTED, ISO_CLAIM_INNODB_READ_COMMITTED,
       ISO_CLAIM_ODBC_READ_COMMITTED},
      {SQL_TXN_REPEATABLE_READ, ISO_CLAIM_POSTGRES_REPEATABLE_READ, ISO_CLAIM_INNODB_REPEATABLE_READ,
       ISO_CLAIM_ODBC_REPEATABLE_READ},
      {SQL_TXN_SERIALIZABLE, ISO_CLAIM_POSTGRES_SERIALIZABLE, ISO_CLAIM_INNODB_SERIALIZABLE,
       ISO_CLAIM_ODBC_SERIALIZABLE},
  };
  const iso_odbc_server *server = database->state;
  if (offered == 0) offered = SQL_TXN_SERIALIZABLE;
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if ((offered & levels[i].bit) == 0) continue;
    if (levels[i].bit == initial) database->default_isolation = database->isolation_count;
    if (levels[i].bit == SQL_TXN_REPEATABLE_READ && server->kind == ISO_ODBC_MARIADB)
      iso_database_add_innodb(database, snapshot);
    else
      iso_database_add_claim(database, server->kind == ISO_ODBC_POSTGRES  ? levels[i].postgres
                                       : server->kind == ISO_ODBC_MARIADB ? levels[i].mariadb
                                                                          : levels[i].other);
  }
}

/* Whether MariaDB's repeatable read is snapshot isolation; the variable is not in every version. */
static bool learn_snapshot(iso_connection *connection) {
  const iso_odbc_server *server = connection->database->state;
  if (server->kind != ISO_ODBC_MARIADB) return false;
  iso_reply reply = {0};
  iso_execute(connection, "SHOW VARIABLES LIKE 'innodb_snapshot_isolation'", &reply);
  const char *value = iso_reply_cell(&reply, 0, 1);
  bool on = value != NULL && strcasecmp(value, "ON") == 0;
  if (value != NULL) iso_database_add_setting(connection->database, "innodb_snapshot_isolation", value);
  iso_reply_free(&reply);
  connection->txn = ISO_TXN_IDLE;
  return on;
}

/* What a session begins with, by the word of the server: MariaDB's driver names no default that it also offers, and a
 * server may have been told another one. */
static void learn_default(iso_database *database, iso_connection *connection) {
  const iso_odbc_server *server = database->state;
  static const char *const questions[] = {
      [ISO_ODBC_POSTGRES] = "SELECT name, setting FROM pg_settings WHERE name = 'default_transaction_isolation'",
      [ISO_ODBC_MARIADB] = "SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')"};
  bool asks = server->kind == ISO_ODBC_POSTGRES || server->kind == ISO_ODBC_MARIADB;
  const iso_isolation *found;
  iso_reply reply = {0};
  if (asks) iso_execute(connection, questions[server->kind], &reply);
  const char *name = iso_reply_cell(&reply, 0, 1);
  if (name != NULL && iso_database_find_isolation(database, name, &found, NULL) == ISOPROOF_OK)
    database->default_isolation = (size_t)(found - database->isolations);
  iso_reply_free(&reply);
  connection->txn = ISO_TXN_IDLE;
}

static void learn(iso_database *database, iso_connection *connection) {
  const iso_odbc_session *s = connection->state;
  iso_odbc_server *server = database->state;
  char name[48], version[48], text[64];
  get_info(s, SQL_DBMS_NAME, name, sizeof name);
  get_info(s, SQL_DBMS_VER, version, sizeof version);
  snprintf(database->version, sizeof database->version, "%s %s, through ODBC", name, version);
  database->dialect = server->texts = ISO_SQL_PORTABLE;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strncasecmp(name, known[i].name, strlen(known[i].name)) != 0) continue;
    server->kind = known[i].kind;
    database->dialect = known[i].dialect;
    server->texts = known[i].texts;
  }
  database->can.lists = server->texts != ISO_SQL_PORTABLE;
  database->can.blocked = server->kind == ISO_ODBC_POSTGRES || server->kind == ISO_ODBC_MARIADB;
  database->can.blocked_lag_ms = server->kind == ISO_ODBC_MARIADB ? 100 : 0;
  database->can.apart = database->can.blocked;
  database->can.concurrent = server->kind != ISO_ODBC_SQLITE;
  SQLUINTEGER offered = 0, initial = 0;
  SQLGetInfo(s->handle, SQL_TXN_ISOLATION_OPTION, &offered, sizeof offered, NULL);
  SQLGetInfo(s->handle, SQL_DEFAULT_TXN_ISOLATION, &initial, sizeof initial, NULL);
  add_isolations(database, learn_snapshot(connection), offered, initial);
  learn_default(database, connection);
  get_info(s, SQL_DRIVER_NAME, text, sizeof text);
  iso_database_add_setting(database, "driver", text);
  get_info(s, SQL_DRIVER_VER, text, sizeof text);
  iso_database_add_setting(database, "driver_version", text);
  get_info(s, SQL_DM_VER, text, sizeof text);
  iso_database_add_setting(database, "driver_manager_version", text);
}

isoproof_status iso_odbc_open(iso_database *database, isoproof_error *error) {
  iso_odbc_server *server = iso_alloc_zero(1, sizeof *server);
  if (server == NULL) return iso_fail_memory(error);
  database->state = server;
  if (database->urls[0].path[0] == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "odbc: expected a connection string or the name of a data source after it");
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &server->environment)))
    return iso_fail_memory(error);
  SQLSetEnvAttr(server->environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)(uintptr_t)SQL_OV_ODBC3, 0);
  iso_connection *connection;
  ISO_TRY(iso_connect(database, 0, &connection, error));
  learn(database, connection);
  iso_disconnect(connection);
  return ISOPROOF_OK;
}

void iso_odbc_close(iso_database *database) {
  iso_odbc_server *server = database->state;
  if (server == NULL) return;
  if (server->environment != SQL_NULL_HENV) SQLFreeHandle(SQL_HANDLE_ENV, server->environment);
  free(server);
}
