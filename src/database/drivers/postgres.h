/* postgres.h - a connection to PostgreSQL, shared by the two files of its driver.
 *
 * A pg_session belongs to its iso_connection and owns the handle of libpq.
 */
#ifndef ISO_DATABASE_DRIVERS_POSTGRES_H
#define ISO_DATABASE_DRIVERS_POSTGRES_H

#include <libpq-fe.h>

#include "database/driver_table.h"

typedef struct iso_pg_session {
  PGconn *handle;
  PGcancel *cancel;
  bool prepared[ISO_MOST_TABLES][ISO_SQL_STATEMENTS];
} iso_pg_session;

/* ---- postgres_connect.c ---- */

isoproof_status iso_pg_open(iso_database *database, isoproof_error *error);
void iso_pg_close(iso_database *database);
isoproof_status iso_pg_connect(iso_connection *connection, isoproof_error *error);
void iso_pg_disconnect(iso_connection *connection);
bool iso_pg_cancel(iso_connection *connection);
isoproof_status iso_pg_settled(iso_connection *connection, bool *settled, isoproof_error *error);
void iso_pg_library(char *buffer, size_t size);

#endif
