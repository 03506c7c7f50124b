/* odbc_error.c - what an error through ODBC means for its transaction.
 *
 * How much of a transaction an error undoes differs from database to database, and from driver to driver.  Nobody has
 * to know: an error in a transaction rolls it back, here and now.
 */
#include <stdio.h>
#include <string.h>

#include "database/drivers/odbc.h"

static const struct {
  const char *prefix; /* of SQLSTATE */
  iso_error_class class;
} classes[] = {
    {"40P01", ISO_CLASS_DEADLOCK},     {"40", ISO_CLASS_SERIALIZATION}, {"25S03", ISO_CLASS_SERIALIZATION},
    {"55P03", ISO_CLASS_LOCK_TIMEOUT}, {"57014", ISO_CLASS_CANCELLED},  {"HY008", ISO_CLASS_CANCELLED},
    {"HYT0", ISO_CLASS_TIMEOUT},       {"57P0", ISO_CLASS_CONNECTION},  {"08", ISO_CLASS_CONNECTION},
    {"53", ISO_CLASS_UNAVAILABLE},     {"23", ISO_CLASS_CONSTRAINT},    {"25006", ISO_CLASS_READ_ONLY},
    {"42", ISO_CLASS_STATEMENT},       {"22", ISO_CLASS_STATEMENT},     {"07", ISO_CLASS_STATEMENT},
    {"HYC00", ISO_CLASS_CLIENT},       {"HY001", ISO_CLASS_CLIENT},
};

/* Numbers that say more than the SQLSTATE does. */
static const struct {
  iso_odbc_kind kind;
  SQLINTEGER native;
  iso_error_class class;
} natives[] = {
    {ISO_ODBC_MARIADB, 1213, ISO_CLASS_DEADLOCK},
    {ISO_ODBC_MARIADB, 1020, ISO_CLASS_SERIALIZATION},
    {ISO_ODBC_MARIADB, 1205, ISO_CLASS_LOCK_TIMEOUT},
    {ISO_ODBC_MARIADB, 1317, ISO_CLASS_CANCELLED},
    {ISO_ODBC_MARIADB, 1969, ISO_CLASS_TIMEOUT},
    {ISO_ODBC_MARIADB, 1062, ISO_CLASS_CONSTRAINT},
    {ISO_ODBC_MARIADB, 1927, ISO_CLASS_CONNECTION},
    {ISO_ODBC_MARIADB, 1047, ISO_CLASS_UNAVAILABLE},
    {ISO_ODBC_MARIADB, 1180, ISO_CLASS_UNAVAILABLE},
    {ISO_ODBC_MARIADB, 2006, ISO_CLASS_CONNECTION},
    {ISO_ODBC_MARIADB, 2013, ISO_CLASS_CONNECTION},
    {ISO_ODBC_SQLITE, 5, ISO_CLASS_BUSY},
    {ISO_ODBC_SQLITE, 6, ISO_CLASS_BUSY},
    {ISO_ODBC_SQLITE, 9, ISO_CLASS_CANCELLED},
    {ISO_ODBC_SQLITE, 19, ISO_CLASS_CONSTRAINT},
    {ISO_ODBC_SQLITE, 8, ISO_CLASS_READ_ONLY},
    {ISO_ODBC_SQLITE, 1, ISO_CLASS_STATEMENT},
};

bool iso_odbc_diagnostic(SQLSMALLINT type, SQLHANDLE handle, char state[6], SQLINTEGER *native, char *text,
                         size_t size) {
  SQLSMALLINT length = 0;
  state[0] = text[0] = 0;
  *native = 0;
  SQLRETURN got = SQLGetDiagRec(type, handle, 1, (SQLCHAR *)state, native, (SQLCHAR *)text, (SQLSMALLINT)size, &length);
  state[5] = 0;
  text[size - 1] = 0;
  return SQL_SUCCEEDED(got);
}

static iso_error_class class_of(const iso_connection *connection, const char *state, SQLINTEGER native,
                                const char *text) {
  const iso_odbc_server *server = connection->database->state;
  iso_error_class class = ISO_CLASS_OTHER;
  for (size_t i = 0; i < sizeof classes / sizeof *classes && class == ISO_CLASS_OTHER; i++)
    if (strncmp(state, classes[i].prefix, strlen(classes[i].prefix)) == 0) class = classes[i].class;
  for (size_t i = 0; i < sizeof natives / sizeof *natives; i++)
    if (natives[i].kind == server->kind && natives[i].native == native) class = natives[i].class;
  /* SQLite's driver reports a lock that is taken as an ordinary error, now and then. */
  if (server->kind == ISO_ODBC_SQLITE && strstr(text, "locked") != NULL) class = ISO_CLASS_BUSY;
  if (class == ISO_CLASS_CANCELLED && !atomic_load(&connection->cancelled) &&
      connection->database->options.statement_timeout_ms > 0)
    class = ISO_CLASS_TIMEOUT;
  return class;
}

static bool is_dead(const iso_odbc_session *s) {
  SQLUINTEGER dead = SQL_CD_FALSE;
  SQLRETURN got = SQLGetConnectAttr(s->handle, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL);
  return SQL_SUCCEEDED(got) && dead == SQL_CD_TRUE;
}

/* Whether a commit that failed like this is known to have left nothing behind. */
static bool surely_aborted(const iso_odbc_server *server, iso_error_class class, const char *state) {
  if (strcmp(state, "40003") == 0) return false;
  switch (class) {
  case ISO_CLASS_SERIALIZATION:
  case ISO_CLASS_DEADLOCK:
    return true;
  case ISO_CLASS_CONSTRAINT:
    return server->kind == ISO_ODBC_POSTGRES;
  case ISO_CLASS_BUSY:
    return server->kind == ISO_ODBC_SQLITE; /* it stays open, and is rolled back below */
  default:
    return false;
  }
}

void iso_odbc_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, SQLSMALLINT type,
                   SQLHANDLE handle) {
  iso_odbc_session *s = connection->state;
  const iso_odbc_server *server = connection->database->state;
  char state[6], text[ISO_MESSAGE_BYTES], code[ISO_CODE_BYTES];
  SQLINTEGER native;
  iso_odbc_diagnostic(type, handle, state, &native, text, sizeof text);
  /* MariaDB and SQLite are known by their numbers, which SQLSTATE is too coarse for. */
  bool numbered = (server->kind == ISO_ODBC_MARIADB || server->kind == ISO_ODBC_SQLITE) && native != 0;
  if (numbered)
    snprintf(code, sizeof code, "%d", (int)native);
  else
    snprintf(code, sizeof code, "%s", state);
  iso_error_class class = class_of(connection, state, native, text);
  if (class == ISO_CLASS_CONNECTION || is_dead(s)) {
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, code, text);
    return;
  }
  bool commits = request->kind == ISO_COMMIT;
  iso_txn_state txn = commits && !surely_aborted(server, class, state) ? ISO_TXN_UNKNOWN : ISO_TXN_ABORTED;
  if (s->manual && !SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, s->handle, SQL_ROLLBACK))) {
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, code, text);
    return;
  }
  iso_reply_fail(connection, request, reply, class, txn, code, text);
}
