/* mariadb_error.c - what an error of MariaDB or MySQL means for its transaction.
 *
 * Some errors undo one statement, some undo the whole transaction, and after the latter a COMMIT still answers OK.  So
 * an error counts as the end of the transaction unless it is known to undo its statement alone, and the server, asked
 * for it, says that the transaction is open.  That the end is never wrong is seen to by the common code: it never sends
 * a COMMIT after it.
 */
#include <errmsg.h>
#include <stdio.h>
#include <string.h>

#include "database/drivers/mariadb.h"

enum {
  ERROR_DEADLOCK = 1213,      /* everything is rolled back; of Galera: certification failed */
  ERROR_RECORD_CHANGED = 1020 /* everything is rolled back: innodb_snapshot_isolation */
};

/* Whether the error undoes its statement only, as far as is known. */
typedef enum reach { WHOLE, STATEMENT, CONNECTION } reach;

static const struct {
  unsigned number;
  iso_error_class class;
  reach reach;
} errors[] = {
    {ERROR_DEADLOCK, ISO_CLASS_DEADLOCK, WHOLE}, {ERROR_RECORD_CHANGED, ISO_CLASS_SERIALIZATION, WHOLE},
    {1205, ISO_CLASS_LOCK_TIMEOUT, STATEMENT},   {3572, ISO_CLASS_LOCK_TIMEOUT, STATEMENT}, /* NOWAIT */
    {1969, ISO_CLASS_TIMEOUT, STATEMENT},                                                   /* max_statement_time */
    {3024, ISO_CLASS_TIMEOUT, STATEMENT}, /* max_execution_time of MySQL */
    {1317, ISO_CLASS_CANCELLED, STATEMENT},      {1062, ISO_CLASS_CONSTRAINT, STATEMENT},
    {1048, ISO_CLASS_CONSTRAINT, STATEMENT},     {1451, ISO_CLASS_CONSTRAINT, STATEMENT},
    {1452, ISO_CLASS_CONSTRAINT, STATEMENT},     {4025, ISO_CLASS_CONSTRAINT, STATEMENT},
    {1290, ISO_CLASS_READ_ONLY, STATEMENT},      {1792, ISO_CLASS_READ_ONLY, STATEMENT},
    {1836, ISO_CLASS_READ_ONLY, STATEMENT},      {1064, ISO_CLASS_STATEMENT, STATEMENT}, /* syntax */
    {1146, ISO_CLASS_STATEMENT, STATEMENT},                                              /* no such table */
    {1054, ISO_CLASS_STATEMENT, STATEMENT},                                              /* no such column */
    {1305, ISO_CLASS_STATEMENT, STATEMENT},                                              /* no such function */
    {1690, ISO_CLASS_STATEMENT, STATEMENT},                                              /* out of range */
    {1047, ISO_CLASS_UNAVAILABLE, WHOLE}, /* a node of Galera that is not in the cluster */
    {1180, ISO_CLASS_UNAVAILABLE, WHOLE}, /* an error during COMMIT */
    {1040, ISO_CLASS_UNAVAILABLE, WHOLE}, /* too many connections */
    {1203, ISO_CLASS_UNAVAILABLE, WHOLE},        {1927, ISO_CLASS_CONNECTION, CONNECTION}, /* killed */
    {1053, ISO_CLASS_CONNECTION, CONNECTION},                                              /* the server shuts down */
    {1077, ISO_CLASS_CONNECTION, CONNECTION},    {1152, ISO_CLASS_CONNECTION, CONNECTION},
    {1158, ISO_CLASS_CONNECTION, CONNECTION},    {1159, ISO_CLASS_CONNECTION, CONNECTION},
    {1160, ISO_CLASS_CONNECTION, CONNECTION},    {1161, ISO_CLASS_CONNECTION, CONNECTION},
    {4031, ISO_CLASS_CONNECTION, CONNECTION},
};

/* TiDB's own, which are nobody else's.  At a commit, only a write conflict and a changed schema are sure to be the end.
 */
static const struct {
  unsigned number;
  iso_error_class class;
  bool certain;
} errors_of_tidb[] = {
    {9007, ISO_CLASS_SERIALIZATION, true},  /* write conflict */
    {8028, ISO_CLASS_SERIALIZATION, true},  /* the schema changed */
    {8022, ISO_CLASS_SERIALIZATION, false}, /* the commit failed and may be tried again */
    {8002, ISO_CLASS_SERIALIZATION, false}, {8005, ISO_CLASS_SERIALIZATION, false},
    {8027, ISO_CLASS_UNAVAILABLE, false}, /* the schema is out of date */
    {9001, ISO_CLASS_UNAVAILABLE, false}, /* PD, TiKV, regions do not answer */
    {9002, ISO_CLASS_UNAVAILABLE, false},   {9003, ISO_CLASS_UNAVAILABLE, false},
    {9004, ISO_CLASS_UNAVAILABLE, false},   {9005, ISO_CLASS_UNAVAILABLE, false},
    {8048, ISO_CLASS_STATEMENT, true}, /* a level that there is not */
};

/* Whether it is an error of TiDB's; its class, and whether it ends the transaction whatever was asked. */
static bool is_of_tidb(unsigned number, iso_error_class *class, bool *certain) {
  for (size_t i = 0; i < sizeof errors_of_tidb / sizeof *errors_of_tidb; i++) {
    if (errors_of_tidb[i].number != number) continue;
    *class = errors_of_tidb[i].class;
    *certain = errors_of_tidb[i].certain;
    return true;
  }
  return false;
}

/* Asks the server whether the transaction is open.  MySQL cannot say: then what is known of the error has to do. */
static bool says_open(const iso_maria_session *s, bool otherwise) {
  if (s->my->mysql_query(s->handle, "SELECT @@in_transaction") != 0)
    return s->my->mysql_errno(s->handle) == 1193 && otherwise;
  MYSQL_RES *result = s->my->mysql_store_result(s->handle);
  if (result == NULL) return false;
  MYSQL_ROW row = s->my->mysql_fetch_row(result);
  bool open = row != NULL && row[0] != NULL && strcmp(row[0], "0") != 0;
  s->my->mysql_free_result(result);
  return open;
}

/* The state after an error that did not break the connection. */
static iso_txn_state state_after(const iso_connection *connection, const iso_driver_request *request, unsigned number,
                                 reach reached) {
  const iso_maria_session *s = connection->state;
  const iso_maria_server *server = connection->database->state;
  if (connection->txn != ISO_TXN_ACTIVE) return ISO_TXN_ABORTED;
  if (number == ERROR_DEADLOCK || number == ERROR_RECORD_CHANGED) return ISO_TXN_ABORTED;
  iso_error_class ignored;
  bool certain;
  if (is_of_tidb(number, &ignored, &certain) && certain) return ISO_TXN_ABORTED;
  bool commits = request->kind == ISO_COMMIT;
  if (reached == WHOLE) return commits ? ISO_TXN_UNKNOWN : ISO_TXN_ABORTED;
  if (number == 1205 && server != NULL && server->rollback_on_timeout) return ISO_TXN_ABORTED;
  if (says_open(s, !commits)) return ISO_TXN_ACTIVE;
  return commits ? ISO_TXN_UNKNOWN : ISO_TXN_ABORTED;
}

/* A statement outside of a transaction commits by itself: an error of the commit leaves it open what happened. */
static bool commits_alone(const iso_connection *connection, const iso_driver_request *request, unsigned number) {
  if (connection->txn == ISO_TXN_ACTIVE || request->kind == ISO_BEGIN) return false;
  iso_error_class ignored;
  bool certain;
  return number == 1180 || (is_of_tidb(number, &ignored, &certain) && !certain);
}

void iso_maria_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    MYSQL_STMT *statement) {
  const iso_maria_session *s = connection->state;
  /* An error that comes with a row is with the connection, and not with the statement. */
  if (statement != NULL && s->my->mysql_stmt_errno(statement) == 0) statement = NULL;
  unsigned number = statement != NULL ? s->my->mysql_stmt_errno(statement) : s->my->mysql_errno(s->handle);
  /* The words are copied: asking the server overwrites them. */
  char code[ISO_CODE_BYTES], message[ISO_MESSAGE_BYTES];
  snprintf(code, sizeof code, "%u", number);
  snprintf(message, sizeof message, "%s",
           statement != NULL ? s->my->mysql_stmt_error(statement) : s->my->mysql_error(s->handle));
  iso_error_class class = ISO_CLASS_OTHER;
  reach reached = WHOLE;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    if (errors[i].number != number) continue;
    class = errors[i].class;
    reached = errors[i].reach;
  }
  bool certain = false;
  (void)is_of_tidb(number, &class, &certain);
  /* Errors of the client library: the connection is of no use any more. */
  if (number == 0 || (number >= CR_MIN_ERROR && number < 3000)) {
    class = ISO_CLASS_CONNECTION;
    reached = CONNECTION;
  }
  if (class == ISO_CLASS_CANCELLED && !atomic_load(&connection->cancelled) &&
      connection->database->options.statement_timeout_ms > 0)
    class = ISO_CLASS_TIMEOUT;
  if (reached == CONNECTION) {
    iso_reply_lost(connection, request, reply, class, code, message);
    return;
  }
  iso_txn_state txn = state_after(connection, request, number, reached);
  if (commits_alone(connection, request, number)) txn = ISO_TXN_UNKNOWN;
  iso_reply_fail(connection, request, reply, class, txn, code, message);
}
