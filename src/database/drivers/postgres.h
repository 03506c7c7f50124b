/* postgres.h - a connection to PostgreSQL, shared by the files of its driver.
 *
 * A pg_session belongs to its iso_connection and owns the handle of libpq.
 */
#ifndef ISO_DATABASE_DRIVERS_POSTGRES_H
#define ISO_DATABASE_DRIVERS_POSTGRES_H

#include "database/driver_table.h"
#include "database/drivers/postgres_library.h"

typedef struct iso_pg_session {
  const iso_pq *pq; /* of the database */
  PGconn *handle;
  PGcancel *cancel;
  bool standby; /* when it was connected, of servers that do not tell by themselves */
  bool prepared[ISO_MOST_PLACES][ISO_SQL_STATEMENTS];
} iso_pg_session;

enum { ISO_PG_NAME_BYTES = 24, ISO_PG_BEGIN_BYTES = 128 };

/* ---- postgres.c: the steps of a request, for batches ---- */

/* Takes the answer to what was sent and checks it; NULL, and the reply says why, when there is none or it is an error.
 */
PGresult *iso_pg_answer(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* When the server is given up; 0 never. */
double iso_pg_deadline(const iso_connection *connection);
/* Waits until libpq has a whole result.  False when the time is over, or poll failed. */
bool iso_pg_wait(const iso_pg_session *session, double deadline);
/* Nothing could be sent. */
void iso_pg_not_sent(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* Takes what a statement returned; false when it cannot be kept, which the reply says. */
bool iso_pg_take_rows(iso_connection *connection, const PGresult *result, const iso_driver_request *request,
                      iso_reply *reply);
/* Takes the answer to a COMMIT, whose tag may be another. */
void iso_pg_take_commit(iso_connection *connection, const PGresult *result, const iso_driver_request *request,
                        iso_reply *reply);
void iso_pg_begin_text(const iso_driver_request *request, char sql[ISO_PG_BEGIN_BYTES]);
/* The statement as text, with the numbers in it or with parameters; NULL, and the reply says why, when there is none.
 */
const char *iso_pg_text(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                        uint32_t place, bool numbers, char text[ISO_SQL_BYTES]);
/* Whether the statement is, or is to be, a prepared one. */
bool iso_pg_prepares(const iso_connection *connection, const iso_driver_request *request, iso_sql sql, uint32_t place);
bool iso_pg_prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                    uint32_t place);
/* Sends a statement that is prepared; false when it could not be sent. */
bool iso_pg_send_prepared(iso_connection *connection, const iso_driver_request *request, iso_sql sql, uint32_t place);

/* ---- postgres_batch.c ---- */

bool iso_pg_batch(iso_connection *connection, const iso_driver_request *requests, size_t count, iso_reply *replies);

/* ---- postgres_conninfo.c ---- */

enum { ISO_PG_PARAMETERS = 80 };

/* What the URL of a node says, for libpq. */
typedef struct iso_pg_node {
  PQconninfoOption *options; /* as libpq reads them, owned */
  char *init;                /* our own option: a statement, or NULL */
  char *settings;            /* for the server: our limits, then the user's options */
  char timeout[16];          /* of connecting; "" where the user sets one */
} iso_pg_node;

/* The state of a database. */
typedef struct iso_pg_state {
  iso_pq pq;
  iso_pg_node nodes[];
} iso_pg_state;

typedef struct iso_pg_parameters {
  const char *names[ISO_PG_PARAMETERS], *values[ISO_PG_PARAMETERS];
  size_t count;
} iso_pg_parameters;

/* Reads the URL of a node into the state of the database. */
isoproof_status iso_pg_node_read(iso_database *database, size_t number, isoproof_error *error);
void iso_pg_node_free(const iso_pq *pq, iso_pg_node *node);
/* An option that the URL sets; NULL when it does not, or to nothing. */
const char *iso_pg_node_value(const iso_pg_node *node, const char *name);
/* What the user gave: the URL and the password. */
void iso_pg_given(const iso_database *database, const iso_pg_node *node, iso_pg_parameters *parameters);
void iso_pg_add(iso_pg_parameters *parameters, const char *name, const char *value);

/* ---- postgres_connect.c ---- */

isoproof_status iso_pg_open(iso_database *database, isoproof_error *error);
void iso_pg_close(iso_database *database);
isoproof_status iso_pg_connect(iso_connection *connection, isoproof_error *error);
void iso_pg_disconnect(iso_connection *connection);
bool iso_pg_cancel(iso_connection *connection);
bool iso_pg_read_only(const iso_connection *connection);
isoproof_status iso_pg_settled(iso_connection *connection, bool *settled, isoproof_error *error);

#endif
