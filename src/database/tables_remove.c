/* tables_remove.c - tables that are removed: our own in the end, and those of runs that are gone.
 *
 * Nothing is removed but what carries a mark of ours, and the mark is read again under a lock that keeps everybody else
 * from the table, where the database has such locks.  Never with CASCADE: what hangs on a table is not ours.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/task.h"
#include "database/tables.h"

/* How long one statement waits for locks of others, how long what may succeed next time is tried, for our own tables
 * and for those of others, and the pause between: locks of SQLite go to whoever asks most often. */
enum { WAIT_SECONDS = 3, OWN_SECONDS = 30, PAUSE_NS = 1000 * 1000 };

void iso_tables_notice(const iso_database *database, const char *format, ...) {
  char text[ISOPROOF_ERROR_MESSAGE_BYTES];
  if (database->options.notice == NULL) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  database->options.notice(text, database->options.notice_user);
}

iso_run_life iso_tables_life(iso_connection *connection, const iso_mark *mark, iso_reply *reply) {
  iso_process here;
  iso_process_here(&here);
  iso_run_life life = iso_process_life(&mark->process, &here);
  if (life != ISO_RUN_ELSEWHERE || mark->made == 0) return life;
  int64_t now;
  bool folds;
  iso_catalogue_clock(connection, reply, &now, &folds);
  bool old = now - mark->made > ISO_MARK_AGE;
  return old && iso_catalogue_is_free(connection, mark->run, reply) ? ISO_RUN_GONE : ISO_RUN_ELSEWHERE;
}

/* ---- one table ---- */

static isoproof_status failed(const iso_database *database, const char *table, const iso_reply *reply,
                              isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot remove table %s: %s %s", database->urls[0].shown, table,
                  reply->code, reply->message);
}

/* Whether the table is there and that of the run. */
static isoproof_status is_ours(iso_connection *connection, const char *table, uint64_t run, bool *ours, iso_mark *mark,
                               iso_reply *reply, isoproof_error *error) {
  iso_relation found;
  *ours = false;
  ISO_TRY(iso_catalogue_find(connection, table, reply, &found, error));
  if (!found.exists) return ISOPROOF_OK;
  *ours = found.ours && found.mark.run == run;
  *mark = found.mark;
  if (*ours) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                  "%s %s is not the table that the run made any more, and is left alone", found.kind, table);
}

static isoproof_status drop_ours(iso_connection *connection, const char *table, uint64_t run, iso_reply *reply,
                                 isoproof_error *error) {
  char sql[ISO_SQL_BYTES], text[ISO_MARK_BYTES];
  iso_mark mark;
  bool ours;
  ISO_TRY(is_ours(connection, table, run, &ours, &mark, reply, error));
  if (!ours) return ISOPROOF_OK;
  bool none = connection->database->dialect == ISO_SQL_NONE;
  snprintf(sql, sizeof sql, "DROP TABLE %s", table);
  if (none) iso_mark_write(&mark, text);
  iso_driver_request drop = {.kind = none ? ISO_DROP_TABLE : ISO_EXECUTE, .table = table, .sql = none ? text : sql};
  if (iso_do(connection, &drop, reply) == ISO_OUTCOME_OK) return ISOPROOF_OK;
  return failed(connection->database, table, reply, error);
}

const iso_isolation *iso_tables_isolation(const iso_database *database) {
  const iso_isolation *found;
  static const char *const names[ISO_DIALECTS] = {
      [ISO_SQL_SQLITE] = "immediate", [ISO_SQL_FIREBIRD] = "snapshot", /* a table that was changed meanwhile is a
                                                                          conflict */
  };
  const char *name = names[database->dialect] != NULL ? names[database->dialect] : "read committed";
  return iso_database_find_isolation(database, name, &found, NULL) == ISOPROOF_OK ? found : NULL;
}

/* In a transaction, where the table is locked first.  Databases that speak like PostgreSQL may have no such lock. */
static isoproof_status remove_in_transaction(iso_connection *connection, const char *table, uint64_t run, bool lock,
                                             iso_reply *reply, isoproof_error *error) {
  char sql[ISO_SQL_BYTES];
  connection->lock_ms = WAIT_SECONDS * 1000;
  iso_outcome begun = iso_begin(connection, iso_tables_isolation(connection->database), reply);
  connection->lock_ms = 0;
  if (begun != ISO_OUTCOME_OK) return failed(connection->database, table, reply, error);
  isoproof_status status = ISOPROOF_OK;
  if (lock && connection->database->dialect == ISO_SQL_POSTGRES) {
    snprintf(sql, sizeof sql, "SET LOCAL lock_timeout = '%ds'", WAIT_SECONDS);
    bool good = iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
    snprintf(sql, sizeof sql, "LOCK TABLE %s IN ACCESS EXCLUSIVE MODE", table);
    good = good && iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
    if (!good) status = failed(connection->database, table, reply, error);
  }
  if (status == ISOPROOF_OK) status = drop_ours(connection, table, run, reply, error);
  if (status == ISOPROOF_OK && iso_commit(connection, reply) == ISO_OUTCOME_OK) return ISOPROOF_OK;
  if (status == ISOPROOF_OK) status = failed(connection->database, table, reply, error);
  /* Whoever tries again wants to know why it failed. */
  iso_outcome outcome = reply->outcome;
  iso_error_class class = reply->error_class;
  if (iso_connected(connection)) iso_rollback(connection, reply);
  reply->outcome = outcome;
  reply->error_class = class;
  return status;
}

/* MariaDB's statements on tables commit by themselves, but locks of tables last.  Not everybody may take them. */
static isoproof_status remove_locked(iso_connection *connection, const char *table, uint64_t run, iso_reply *reply,
                                     isoproof_error *error) {
  char sql[ISO_SQL_BYTES];
  snprintf(sql, sizeof sql, "SET SESSION lock_wait_timeout = %d", WAIT_SECONDS);
  iso_execute(connection, sql, reply);
  snprintf(sql, sizeof sql, "LOCK TABLES %s WRITE", table);
  bool locked = iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
  if (!locked && iso_class_transient(reply->error_class)) return failed(connection->database, table, reply, error);
  isoproof_status status = drop_ours(connection, table, run, reply, error);
  iso_reply unlocked = {0};
  if (locked && iso_connected(connection)) iso_execute(connection, "UNLOCK TABLES", &unlocked);
  iso_reply_free(&unlocked);
  return status;
}

static isoproof_status remove_once(iso_connection *connection, const char *table, uint64_t run, bool lock,
                                   iso_reply *reply, isoproof_error *error) {
  iso_mark mark;
  bool ours;
  /* Before anything of somebody else's is locked. */
  ISO_TRY(is_ours(connection, table, run, &ours, &mark, reply, error));
  if (!ours) return ISOPROOF_OK;
  if (iso_catalogue_transactional(connection->database->dialect))
    return remove_in_transaction(connection, table, run, lock, reply, error);
  if (connection->database->dialect == ISO_SQL_MARIADB) return remove_locked(connection, table, run, reply, error);
  return drop_ours(connection, table, run, reply, error);
}

isoproof_status iso_tables_remove(iso_connection *connection, const char *table, uint64_t run, iso_reply *reply,
                                  isoproof_error *error) {
  double limit = iso_now() + (run == connection->database->run ? OWN_SECONDS : WAIT_SECONDS);
  bool lock = true;
  for (;;) {
    isoproof_status status = remove_once(connection, table, run, lock, reply, error);
    if (status != ISOPROOF_ERR_IO || !iso_connected(connection) || iso_now() > limit) return status;
    bool again = reply->outcome == ISO_OUTCOME_ABORT;
    if (!again && !(lock && reply->error_class == ISO_CLASS_STATEMENT)) return status;
    lock = again && lock;
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
  }
}

/* ---- those of runs that are gone ---- */

typedef struct sweep {
  iso_connection *connection;
  iso_reply *reply;
  char names[256]; /* of those removed */
  size_t used;
  unsigned removed;
} sweep;

static void sweep_one(sweep *s, const char *table) {
  const iso_database *database = s->connection->database;
  isoproof_error error = {.offset = -1};
  iso_relation found;
  if (iso_catalogue_find(s->connection, table, s->reply, &found, &error) != ISOPROOF_OK) return;
  if (!found.ours || found.mark.kept || found.mark.run == database->run) return;
  if (iso_tables_life(s->connection, &found.mark, s->reply) != ISO_RUN_GONE) return;
  isoproof_status status = iso_tables_remove(s->connection, table, found.mark.run, s->reply, &error);
  if (status == ISOPROOF_ERR_INTERFERENCE) return;
  if (status != ISOPROOF_OK) {
    iso_tables_notice(database, "table %s was left by run %016" PRIx64 ", which is gone, and stays: %s", table,
                      found.mark.run, error.message);
    return;
  }
  s->removed++;
  if (s->used < sizeof s->names)
    s->used += (size_t)snprintf(s->names + s->used, sizeof s->names - s->used, "%s%s", s->used > 0 ? ", " : "", table);
}

void iso_tables_sweep(iso_connection *connection, iso_reply *reply) {
  sweep s = {.connection = connection, .reply = reply};
  iso_table_names names = {{0}};
  isoproof_error error = {.offset = -1};
  if (iso_catalogue_list(connection, reply, &names, &error) != ISOPROOF_OK)
    iso_tables_notice(connection->database, "cannot look for tables of runs that are gone: %s", error.message);
  for (size_t i = 0; i < names.list.count && iso_connected(connection); i++) sweep_one(&s, names.list.items[i].text);
  iso_vec_free(&names.list);
  if (s.removed == 0) return;
  iso_tables_notice(connection->database, "removed %u table%s left by runs that are gone: %s%s", s.removed,
                    s.removed == 1 ? "" : "s", s.names, s.used >= sizeof s.names ? "..." : "");
}
