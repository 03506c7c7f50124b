/* firebird.h - a connection to Firebird, shared by the files of its driver.
 *
 * An iso_fire_session belongs to its iso_connection and owns the attachment, its transactions and its prepared
 * statements; the iso_fire_watch belongs to the database and knows of every session.
 */
#ifndef ISO_DATABASE_DRIVERS_FIREBIRD_H
#define ISO_DATABASE_DRIVERS_FIREBIRD_H

#include <pthread.h>

#include "database/driver_table.h"
#include "database/drivers/firebird_library.h"

/* C name, statement (T is the table, Z the number 0 as it is stored), types of its parameters in their order (k the
 * key, v the value, h the upper bound, l the value as text), types of its columns (n a number, t a list). */
#define ISO_FIRE_STATEMENT_LIST(X)                                                                                     \
  X(READ, "SELECT v FROM T WHERE k = ?", "k", "n")                                                                     \
  X(WRITE, "UPDATE OR INSERT INTO T (k, v) VALUES (?, ?) MATCHING (k)", "kv", "")                                      \
  X(INCREMENT,                                                                                                         \
    "MERGE INTO T USING (SELECT CAST(? AS BIGINT) AS k, CAST(? AS BIGINT) AS v FROM RDB$DATABASE) s ON T.k = s.k "     \
    "WHEN MATCHED THEN UPDATE SET v = COALESCE(T.v, Z) + s.v - Z WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, "    \
    "s.v)",                                                                                                            \
    "kv", "")                                                                                                          \
  X(READ_LIST,                                                                                                         \
    "SELECT CAST(SUBSTRING(l FROM 1 FOR 8000) AS VARCHAR(8000) CHARACTER SET ASCII), OCTET_LENGTH(l), l FROM T WHERE " \
    "k = ?",                                                                                                           \
    "k", "t")                                                                                                          \
  X(APPEND,                                                                                                            \
    "MERGE INTO T USING (SELECT CAST(? AS BIGINT) AS k, CAST(? AS VARCHAR(24) CHARACTER SET ASCII) AS l FROM "         \
    "RDB$DATABASE) s ON T.k = s.k WHEN MATCHED THEN UPDATE SET l = CASE WHEN T.l IS NULL OR T.l = '' THEN s.l ELSE "   \
    "T.l || ',' || s.l END WHEN NOT MATCHED THEN INSERT (k, l) VALUES (s.k, s.l)",                                     \
    "kl", "")                                                                                                          \
  X(INSERT, "INSERT INTO T (k, v) VALUES (?, ?)", "kv", "")                                                            \
  X(DELETE, "DELETE FROM T WHERE k = ? RETURNING k", "k", "a")                                                         \
  X(UPDATE, "UPDATE T SET v = ? WHERE k = ? RETURNING k", "vk", "a")                                                   \
  X(RANGE_OF_KEYS, "SELECT k, v FROM T WHERE k BETWEEN ? AND ? ORDER BY k", "kh", "nn")                                \
  X(RANGE_OF_VALUES, "SELECT k, v FROM T WHERE v BETWEEN ? AND ? ORDER BY k", "kh", "nn")                              \
  X(COUNT_OF_KEYS, "SELECT COUNT(v) FROM T WHERE k BETWEEN ? AND ?", "kh", "n")                                        \
  X(COUNT_OF_VALUES, "SELECT COUNT(v) FROM T WHERE v BETWEEN ? AND ?", "kh", "n")

typedef enum iso_fire_form {
#define ISO_X(name, text, parameters, columns) ISO_FIRE_##name,
  ISO_FIRE_STATEMENT_LIST(ISO_X)
#undef ISO_X
      ISO_FIRE_FORMS
} iso_fire_form;

typedef struct iso_fire_session {
  const iso_fbclient *fb;   /* of the database */
  isc_db_handle attachment; /* 0: none */
  isc_tr_handle txn;        /* of BEGIN; 0: none */
  isc_tr_handle alone;      /* commits every statement by itself; 0: none */
  isc_tr_handle aside;      /* statements are prepared in it; 0: none */
  isc_stmt_handle statements[ISO_MOST_TABLES][ISO_FIRE_FORMS];
  ISC_STATUS_ARRAY status; /* of the last call */
  ISO_VEC(char) text;      /* of a long list */
  /* For the watch: when (monotonic milliseconds) the call under way is to be cancelled, and given up; 0 never. */
  atomic_uint_fast64_t cancel_at, abort_at;
  atomic_bool timed_out;
  struct iso_fire_session *next; /* of the watch */
} iso_fire_session;

/* ---- firebird_watch.c: calls that take too long, which the library would wait for ---- */

typedef struct iso_fire_watch {
  pthread_t thread;
  pthread_mutex_t mutex; /* of the list, and while a session of it is being cancelled */
  pthread_cond_t ended;
  bool running, ends;
  iso_fire_session *sessions;
} iso_fire_watch;

/* The state of a database. */
typedef struct iso_fire_state {
  iso_fbclient fb;
  iso_fire_watch watch;
} iso_fire_state;

isoproof_status iso_fire_watch_start(iso_fire_watch *watch, isoproof_error *error);
void iso_fire_watch_stop(iso_fire_watch *watch);
void iso_fire_watch_add(iso_fire_watch *watch, iso_fire_session *session);
void iso_fire_watch_remove(iso_fire_watch *watch, iso_fire_session *session);
/* From now on; 0: no limit. */
void iso_fire_limit(iso_fire_session *session, uint32_t cancel_ms, uint32_t abort_ms);

/* ---- firebird_error.c ---- */

/* Fills the reply from the status of the session, and ends what has to be ended. */
void iso_fire_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* The words of a status. */
void iso_fire_words(const iso_fbclient *fb, const ISC_STATUS *status, char *buffer, size_t size);
/* Rolls back; false when the server did not confirm it. */
bool iso_fire_roll_back(const iso_fbclient *fb, isc_tr_handle *txn);

/* ---- firebird_statement.c ---- */

/* The transaction of the request: the one begun, or the one that commits every statement; NULL when that failed, and
 * the reply says why. */
isc_tr_handle *iso_fire_txn(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* After a statement that committed by itself: its transaction goes on, and with it its locks of tables; so another one
 * takes its place, already started, so that the next statement is one round trip. */
void iso_fire_renew(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
void iso_fire_statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);
/* Appends a text of any length; false: the status of the session says why, or (0) it is too large. */
bool iso_fire_read_blob(iso_fire_session *session, isc_tr_handle *txn, ISC_QUAD *blob);

/* ---- firebird_execute.c ---- */

void iso_fire_execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);

/* ---- firebird_connect.c ---- */

isoproof_status iso_fire_open(iso_database *database, isoproof_error *error);
void iso_fire_close(iso_database *database);
isoproof_status iso_fire_connect(iso_connection *connection, isoproof_error *error);
void iso_fire_disconnect(iso_connection *connection);
bool iso_fire_cancel(iso_connection *connection);

#endif
