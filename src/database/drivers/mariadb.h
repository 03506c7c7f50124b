/* mariadb.h - a connection to MariaDB or MySQL, shared by the files of its driver.
 *
 * An iso_maria_session belongs to its iso_connection and owns the handle of libmariadb and the prepared statements.
 */
#ifndef ISO_DATABASE_DRIVERS_MARIADB_H
#define ISO_DATABASE_DRIVERS_MARIADB_H

#include "database/driver_table.h"
#include "database/drivers/mariadb_library.h"

typedef struct iso_maria_session {
  const iso_mysql *my; /* of the database */
  MYSQL *handle;
  MYSQL_STMT *statements[ISO_MOST_PLACES][ISO_SQL_STATEMENTS];
  bool multi;                     /* the server takes several statements in one text */
  const iso_isolation *isolation; /* that the session is set to; NULL: not known */
  ISO_VEC(char) text;             /* of a long list */
} iso_maria_session;

/* The state of a database: the library, and what the server is, found out when it is opened. */
typedef struct iso_maria_server {
  iso_mysql my;
  bool galera, rollback_on_timeout;
} iso_maria_server;

/* ---- mariadb_error.c ---- */

/* Fills the reply from the error of the handle, or of a statement when that is not NULL. */
void iso_maria_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    MYSQL_STMT *statement);

/* ---- mariadb.c ---- */

/* After a statement that succeeded in a transaction: says that it ended it, if it did. */
void iso_maria_check_still_open(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* The statement that sets the level of the session. */
void iso_maria_level_text(const iso_driver_request *request, char sql[ISO_SQL_BYTES]);
const char *iso_maria_start_text(const iso_driver_request *request);

/* ---- mariadb_plain.c ---- */

/* A statement with its numbers in it; false, and the reply says why, when it failed. */
bool iso_maria_run_plain(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                         uint32_t place);
bool iso_maria_batch(iso_connection *connection, const iso_driver_request *requests, size_t count, iso_reply *replies);
/* Switches between texts of one statement and of several; false, and the reply says why, when it failed. */
bool iso_maria_set_multi(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, bool multi);

/* ---- mariadb_options.c ---- */

/* Refuses a URL that makes no sense. */
isoproof_status iso_maria_check_options(const iso_url *url, isoproof_error *error);
isoproof_status iso_maria_no_database(const iso_url *url, isoproof_error *error);
/* Whether neither option files nor MYSQL_PWD count: no-defaults=1. */
bool iso_maria_alone(const iso_url *url);
/* Whether a connection without TLS is none. */
bool iso_maria_wants_tls(const iso_url *url);
/* Tells libmariadb the options of a URL that was checked. */
void iso_maria_set_options(const iso_mysql *my, const iso_url *url, MYSQL *handle);

/* ---- mariadb_connect.c ---- */

isoproof_status iso_maria_open(iso_database *database, isoproof_error *error);
void iso_maria_close(iso_database *database);
isoproof_status iso_maria_connect(iso_connection *connection, isoproof_error *error);
void iso_maria_disconnect(iso_connection *connection);
bool iso_maria_cancel(iso_connection *connection);
isoproof_status iso_maria_settled(iso_connection *connection, bool *settled, isoproof_error *error);

#endif
