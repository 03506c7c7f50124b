/* odbc.h - a connection through ODBC, shared by the files of its driver.
 *
 * An iso_odbc_session belongs to its iso_connection and owns the handles of the connection and its statements; the
 * environment belongs to the iso_odbc_server of the database.
 */
#ifndef ISO_DATABASE_DRIVERS_ODBC_H
#define ISO_DATABASE_DRIVERS_ODBC_H

#include <sql.h>
#include <sqlext.h>

#include "database/driver_table.h"

/* The databases whose ways are known; what is not among them is treated with more care. */
typedef enum iso_odbc_kind { ISO_ODBC_OTHER, ISO_ODBC_POSTGRES, ISO_ODBC_MARIADB, ISO_ODBC_SQLITE } iso_odbc_kind;

typedef struct iso_odbc_server {
  SQLHENV environment;
  iso_odbc_kind kind;
  iso_sql_dialect texts; /* of statements; parameters are question marks */
} iso_odbc_server;

typedef struct iso_odbc_session {
  SQLHDBC handle;
  SQLHSTMT statements[ISO_MOST_PLACES][ISO_SQL_STATEMENTS];
  _Atomic(SQLHSTMT) running;      /* for iso_cancel */
  const iso_isolation *isolation; /* that the session is set to; NULL: not known */
  bool manual;                    /* autocommit is off */
  ISO_VEC(char) text;             /* of a long value */
} iso_odbc_session;

/* ---- odbc_error.c ---- */

/* Fills the reply from the diagnostics of a handle.  A transaction that was open is rolled back at once, so that what
 * the reply says of it is true with any database. */
void iso_odbc_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, SQLSMALLINT type,
                   SQLHANDLE handle);
/* The first diagnostic: SQLSTATE, native error, text. */
bool iso_odbc_diagnostic(SQLSMALLINT type, SQLHANDLE handle, char state[6], SQLINTEGER *native, char *text,
                         size_t size);

/* ---- odbc_connect.c ---- */

isoproof_status iso_odbc_open(iso_database *database, isoproof_error *error);
void iso_odbc_close(iso_database *database);
isoproof_status iso_odbc_connect(iso_connection *connection, isoproof_error *error);
void iso_odbc_disconnect(iso_connection *connection);
bool iso_odbc_cancel(iso_connection *connection);
void iso_odbc_library(char *buffer, size_t size);

#endif
