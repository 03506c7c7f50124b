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
#include "database/added.h"
#include "database/home.h"
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

/* ---- many ---- */

/* How long a few tables wait together for locks of others, before each waits for itself. */
enum { MANY_SECONDS = 1, MANY_BYTES = 128 + ISO_TABLES_AT_ONCE * (ISO_TABLE_BYTES + 16) };

/* A statement about those tables that are ours, such as "DROP TABLE a, b". */
static bool do_many(iso_connection *connection, const char *before, const iso_table_name *names, const bool *ours,
                    size_t count, const char *each, const char *after, iso_reply *reply) {
  char sql[MANY_BYTES];
  size_t used = (size_t)snprintf(sql, sizeof sql, "%s", before);
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    if (!ours[i]) continue;
    used += (size_t)snprintf(sql + used, sizeof sql - used, "%s%s%s", any ? ", " : " ", names[i].text, each);
    any = true;
  }
  snprintf(sql + used, sizeof sql - used, "%s", after);
  return !any || iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
}

/* Drops those that still are ours now that nobody else can change them. */
static bool drop_many(iso_connection *connection, const iso_table_name *names, size_t count, uint64_t run, bool *ours,
                      iso_reply *reply) {
  if (!iso_catalogue_ours(connection, names, count, run, reply, ours)) return false;
  bool one_by_one = connection->database->dialect == ISO_SQL_SQLITE || connection->database->dialect == ISO_SQL_DUCKDB;
  if (!one_by_one) return do_many(connection, "DROP TABLE", names, ours, count, "", "", reply);
  bool good = true;
  for (size_t i = 0; i < count && good; i++)
    good = do_many(connection, "DROP TABLE", names + i, ours + i, 1, "", "", reply);
  return good;
}

static bool remove_many_in_transaction(iso_connection *connection, const iso_table_name *names, size_t count,
                                       uint64_t run, bool *ours, iso_reply *reply) {
  char sql[ISO_SQL_BYTES];
  bool good = iso_begin(connection, iso_tables_isolation(connection->database), reply) == ISO_OUTCOME_OK;
  if (good && connection->database->dialect == ISO_SQL_POSTGRES) {
    snprintf(sql, sizeof sql, "SET LOCAL lock_timeout = '%ds'", MANY_SECONDS);
    good = iso_execute(connection, sql, reply) == ISO_OUTCOME_OK &&
           do_many(connection, "LOCK TABLE", names, ours, count, "", " IN ACCESS EXCLUSIVE MODE", reply);
  }
  good =
      good && drop_many(connection, names, count, run, ours, reply) && iso_commit(connection, reply) == ISO_OUTCOME_OK;
  if (!good && iso_connected(connection)) iso_rollback(connection, reply);
  return good;
}

static bool remove_many_locked(iso_connection *connection, const iso_table_name *names, size_t count, uint64_t run,
                               bool *ours, iso_reply *reply) {
  char sql[ISO_SQL_BYTES];
  snprintf(sql, sizeof sql, "SET SESSION lock_wait_timeout = %d", MANY_SECONDS);
  bool locked = iso_execute(connection, sql, reply) == ISO_OUTCOME_OK &&
                do_many(connection, "LOCK TABLES", names, ours, count, " WRITE", "", reply);
  bool good = locked && drop_many(connection, names, count, run, ours, reply);
  if (locked && iso_connected(connection)) iso_execute(connection, "UNLOCK TABLES", reply);
  return good;
}

/* Removes those of a few tables that are ours, all or none, without trying twice; `removed` says which.  The others are
 * for whoever looks at each. */
static void remove_few(iso_connection *connection, const iso_table_name *names, size_t count, uint64_t run,
                       bool *removed, iso_reply *reply) {
  bool good = count > 1 && iso_catalogue_ours(connection, names, count, run, reply, removed);
  if (good && iso_catalogue_transactional(connection->database->dialect))
    good = remove_many_in_transaction(connection, names, count, run, removed, reply);
  else if (good)
    good = remove_many_locked(connection, names, count, run, removed, reply);
  if (!good) memset(removed, 0, count * sizeof *removed);
}

isoproof_status iso_tables_remove_many(iso_connection *connection, const iso_table_name *names, size_t count,
                                       uint64_t run, iso_reply *reply, isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  for (size_t first = 0; first < count; first += ISO_TABLES_AT_ONCE) {
    bool removed[ISO_TABLES_AT_ONCE];
    size_t few = count - first < ISO_TABLES_AT_ONCE ? count - first : ISO_TABLES_AT_ONCE;
    remove_few(connection, names + first, few, run, removed, reply);
    for (size_t i = 0; i < few; i++) {
      if (removed[i]) continue;
      isoproof_status one =
          iso_tables_remove(connection, names[first + i].text, run, reply, status == ISOPROOF_OK ? error : NULL);
      if (status == ISOPROOF_OK) status = one;
      if (!iso_connected(connection)) return status;
    }
  }
  return status;
}

/* ---- those of runs that are gone ---- */

typedef struct sweep {
  iso_connection *connection;
  iso_reply *reply;
  char names[256]; /* of those removed */
  size_t used;
  unsigned removed;
  iso_mark asked; /* the last whose run was asked for, and whether it is gone */
  bool gone;
} sweep;

/* Whether tables were made together, and so are left, or not, together. */
static bool made_together(const iso_mark *a, const iso_mark *b) {
  return a->run == b->run && a->made == b->made && a->kept == b->kept && a->process.place == b->process.place &&
         a->process.pid == b->process.pid && a->process.started == b->process.started;
}

static void note_removed(sweep *s, const char *table) {
  s->removed++;
  if (s->used < sizeof s->names)
    s->used += (size_t)snprintf(s->names + s->used, sizeof s->names - s->used, "%s%s", s->used > 0 ? ", " : "", table);
}

static bool is_gone(sweep *s, const iso_mark *mark) {
  if (mark->kept || mark->run == s->connection->database->run) return false;
  if (!made_together(&s->asked, mark)) s->gone = iso_tables_life(s->connection, mark, s->reply) == ISO_RUN_GONE;
  s->asked = *mark;
  return s->gone;
}

static void sweep_one(sweep *s, const char *table) {
  const iso_database *database = s->connection->database;
  isoproof_error error = {.offset = -1};
  iso_relation found;
  if (iso_catalogue_find(s->connection, table, s->reply, &found, &error) != ISOPROOF_OK) return;
  if (!found.ours || !is_gone(s, &found.mark)) return;
  isoproof_status status = iso_tables_remove(s->connection, table, found.mark.run, s->reply, &error);
  if (status == ISOPROOF_ERR_INTERFERENCE) return;
  if (status != ISOPROOF_OK) {
    iso_tables_notice(database, "table %s was left by run %016" PRIx64 ", which is gone, and stays: %s", table,
                      found.mark.run, error.message);
    return;
  }
  note_removed(s, table);
}

/* Those of one run from the beginning of the list, a few at a time: a run may have left thousands. */
static size_t sweep_few(sweep *s, const iso_table_name *names, size_t count) {
  size_t few = 1;
  bool removed[ISO_TABLES_AT_ONCE] = {false};
  if (names[0].marked) {
    while (few < count && few < ISO_TABLES_AT_ONCE && made_together(&names[few].mark, &names[0].mark)) few++;
    if (!is_gone(s, &names[0].mark)) return few;
    remove_few(s->connection, names, few, names[0].mark.run, removed, s->reply);
  }
  for (size_t i = 0; i < few && iso_connected(s->connection); i++) {
    if (removed[i])
      note_removed(s, names[i].text);
    else
      sweep_one(s, names[i].text);
  }
  return few;
}

void iso_tables_sweep(iso_connection *connection, iso_reply *reply) {
  sweep s = {.connection = connection, .reply = reply};
  iso_table_names names = {{0}};
  isoproof_error error = {.offset = -1};
  if (iso_catalogue_list(connection, reply, &names, &error) != ISOPROOF_OK)
    iso_tables_notice(connection->database, "cannot look for tables of runs that are gone: %s", error.message);
  /* A file with the tables of a script goes as a whole, and what says which columns were added when these are gone. */
  size_t kept = 0;
  for (size_t i = 0; i < names.list.count; i++)
    if (strncmp(names.list.items[i].text, ISO_HOME_PREFIX, strlen(ISO_HOME_PREFIX)) != 0 &&
        strncmp(names.list.items[i].text, ISO_ADDED_PREFIX, strlen(ISO_ADDED_PREFIX)) != 0)
      names.list.items[kept++] = names.list.items[i];
  names.list.count = kept;
  for (size_t i = 0; i < names.list.count && iso_connected(connection);)
    i += sweep_few(&s, names.list.items + i, names.list.count - i);
  iso_vec_free(&names.list);
  if (s.removed == 0) return;
  iso_tables_notice(connection->database, "removed %u table%s left by runs that are gone: %s%s", s.removed,
                    s.removed == 1 ? "" : "s", s.names, s.used >= sizeof s.names ? "..." : "");
}
