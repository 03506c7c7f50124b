/* sqlite.h - a connection to a file of SQLite, shared by the files of its driver.
 *
 * An iso_sqlite_session belongs to its iso_connection and owns the handle of SQLite and the prepared statements; an
 * iso_sqlite_file belongs to its iso_database.
 */
#ifndef ISO_DATABASE_DRIVERS_SQLITE_H
#define ISO_DATABASE_DRIVERS_SQLITE_H

#include <sqlite3.h>

#include "database/driver_table.h"

typedef struct iso_sqlite_file {
  char *path;
  char folder[256]; /* of a private file, removed in the end; "" when there is none */
  bool shared_cache;
} iso_sqlite_file;

typedef struct iso_sqlite_session {
  iso_connection *connection;
  sqlite3 *handle;
  sqlite3_stmt *statements[ISO_MOST_PLACES][ISO_SQL_STATEMENTS];
  double deadline;   /* of the running statement, 0 none */
  double wait_began; /* of the lock that it waits for */
  bool timed_out;
  atomic_uint attempts; /* to take a lock, in vain */
} iso_sqlite_session;

/* ---- sqlite_connect.c ---- */

isoproof_status iso_sqlite_open(iso_database *database, isoproof_error *error);
void iso_sqlite_close(iso_database *database);
isoproof_status iso_sqlite_connect(iso_connection *connection, isoproof_error *error);
void iso_sqlite_disconnect(iso_connection *connection);
bool iso_sqlite_cancel(iso_connection *connection);
bool iso_sqlite_waits(iso_connection *connection);
void iso_sqlite_library(char *buffer, size_t size);

#endif
