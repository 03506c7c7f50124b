/* home.c - places of our own for the tables of scripts: made, entered, removed, and those of runs that are gone. */
#include "database/home.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/task.h"
#include "database/tables.h"

enum { SQL_BYTES = ISO_SQL_BYTES + ISO_MARK_BYTES, TRY_SECONDS = 30, PAUSE_NS = 1000 * 1000 };

void iso_home_name(const iso_database *database, char name[ISO_TABLE_BYTES]) {
  snprintf(name, ISO_TABLE_BYTES, ISO_HOME_PREFIX "%012" PRIx64, database->run >> 16);
}

const iso_value_tag *iso_database_tag(const iso_database *database) { return &database->tag; }

isoproof_status iso_home_settle(iso_database *database, isoproof_error *error) {
  return iso_database_hide(database, iso_database_settle(database, error), error);
}

static isoproof_status failed(const iso_database *database, const char *doing, const iso_reply *reply,
                              isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot %s: %s %s", database->urls[0].shown, doing, reply->code,
                  reply->message);
}

/* ---- what is there ---- */

/* Name and text with the mark: of all places, or of one. */
static const char *const lists[ISO_DIALECTS] = {
    [ISO_SQL_SQLITE] = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name LIKE '" ISO_HOME_PREFIX "%'",
    [ISO_SQL_POSTGRES] = "SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname LIKE "
                         "'" ISO_HOME_PREFIX "%'",
    [ISO_SQL_MARIADB] = "SELECT SCHEMA_NAME, SCHEMA_COMMENT FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE "
                        "'" ISO_HOME_PREFIX "%'"};

/* Whether a place carries the mark of its own name; the mark is that. */
static bool is_marked(const iso_reply *reply, size_t row, iso_mark *mark) {
  const char *name = iso_reply_cell(reply, row, 0), *text = iso_reply_cell(reply, row, 1);
  return name != NULL && text != NULL && iso_mark_fits(text, name, mark);
}

/* Whether the place of a run is there. */
static isoproof_status find(iso_connection *connection, uint64_t run, bool *found, iso_mark *mark, iso_reply *reply,
                            isoproof_error *error) {
  *found = false;
  if (iso_execute(connection, lists[connection->database->dialect], reply) != ISO_OUTCOME_OK)
    return failed(connection->database, "look for places of scripts", reply, error);
  for (size_t i = 0; !*found && iso_reply_cell(reply, i, 0) != NULL; i++)
    *found = is_marked(reply, i, mark) && mark->run == run;
  return ISOPROOF_OK;
}

/* ---- removing ---- */

/* Something outside that hangs on what is inside: it would go, too, and is not ours. */
static const char dependents[] =
    "SELECT (SELECT count(*) FROM pg_depend d JOIN pg_rewrite r ON d.classid = CAST('pg_rewrite' AS regclass) AND "
    "d.objid "
    "= r.oid JOIN pg_class v ON v.oid = r.ev_class JOIN pg_class t ON d.refclassid = CAST('pg_class' AS regclass) AND "
    "d.refobjid = t.oid JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = '%s' AND v.relnamespace <> "
    "n.oid) "
    "+ (SELECT count(*) FROM pg_constraint c JOIN pg_class t ON t.oid = c.confrelid JOIN pg_namespace n ON n.oid = "
    "t.relnamespace WHERE n.nspname = '%s' AND c.connamespace <> n.oid)";

static bool remove_postgres(iso_connection *connection, const char *name, iso_reply *reply) {
  char sql[2 * SQL_BYTES];
  snprintf(sql, sizeof sql, dependents, name, name);
  if (iso_execute(connection, sql, reply) != ISO_OUTCOME_OK) return false;
  const char *count = iso_reply_cell(reply, 0, 0);
  if (count == NULL || strcmp(count, "0") != 0) {
    iso_reply_refuse(connection, reply, ISO_CLASS_CLIENT,
                     "views or foreign keys of somebody else's hang on its tables");
    return false;
  }
  snprintf(sql, sizeof sql, "DROP SCHEMA %s CASCADE", name);
  return iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
}

static bool remove_mariadb(iso_connection *connection, const char *name, iso_reply *reply) {
  char sql[SQL_BYTES];
  snprintf(sql, sizeof sql, "DROP DATABASE %s", name);
  return iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
}

/* Views first, the marked table last; triggers and indexes go with their tables. */
static bool remove_sqlite(iso_connection *connection, const char *name, iso_reply *reply) {
  char list[SQL_BYTES];
  iso_reply dropped = {0};
  snprintf(list, sizeof list,
           "SELECT 'DROP ' || type || ' \"' || replace(name, '\"', '\"\"') || '\"' FROM sqlite_master WHERE type IN "
           "('table', 'view') AND name NOT LIKE 'sqlite\\_%%' ESCAPE '\\' ORDER BY type DESC, name = '%s'",
           name);
  bool good = iso_begin(connection, iso_tables_isolation(connection->database), reply) == ISO_OUTCOME_OK &&
              iso_execute(connection, list, reply) == ISO_OUTCOME_OK;
  for (size_t i = 0; good && iso_reply_cell(reply, i, 0) != NULL; i++)
    good = iso_execute(connection, iso_reply_cell(reply, i, 0), &dropped) == ISO_OUTCOME_OK;
  if (good) good = iso_commit(connection, reply) == ISO_OUTCOME_OK;
  if (!good && dropped.outcome != ISO_OUTCOME_OK) {
    /* What failed is to be seen by whoever tries again. */
    iso_reply shown = *reply;
    *reply = dropped;
    dropped = shown;
  }
  if (!good && iso_connected(connection)) iso_rollback(connection, &dropped);
  iso_reply_free(&dropped);
  return good;
}

static isoproof_status remove_place(iso_connection *connection, const char *name, iso_reply *reply,
                                    isoproof_error *error) {
  double limit = iso_now() + TRY_SECONDS;
  iso_sql_dialect dialect = connection->database->dialect;
  for (;;) {
    bool good = dialect == ISO_SQL_POSTGRES  ? remove_postgres(connection, name, reply)
                : dialect == ISO_SQL_MARIADB ? remove_mariadb(connection, name, reply)
                                             : remove_sqlite(connection, name, reply);
    if (good) return ISOPROOF_OK;
    if (reply->outcome != ISO_OUTCOME_ABORT || iso_now() > limit || !iso_connected(connection))
      return failed(connection->database, "remove the place of a script", reply, error);
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
  }
}

/* ---- those of runs that are gone ---- */

static void sweep_one(iso_connection *connection, const iso_mark *mark, iso_reply *reply) {
  isoproof_error error = {.offset = -1};
  if (mark->kept || iso_tables_life(connection, mark, reply) != ISO_RUN_GONE) return;
  if (remove_place(connection, mark->table, reply, &error) == ISOPROOF_OK)
    iso_tables_notice(connection->database, "removed %s, left by run %016" PRIx64 ", which is gone", mark->table,
                      mark->run);
  else
    iso_tables_notice(connection->database, "%s was left by run %016" PRIx64 ", which is gone, and stays: %s",
                      mark->table, mark->run, error.message);
}

static isoproof_status sweep(iso_connection *connection, iso_reply *reply, isoproof_error *error) {
  enum { MOST = 100 };
  iso_mark marks[MOST];
  size_t count = 0;
  if (iso_execute(connection, lists[connection->database->dialect], reply) != ISO_OUTCOME_OK)
    return failed(connection->database, "look for places of scripts", reply, error);
  for (size_t i = 0; count < MOST && iso_reply_cell(reply, i, 0) != NULL; i++)
    count += is_marked(reply, i, &marks[count]);
  for (size_t i = 0; i < count; i++) sweep_one(connection, &marks[i], reply);
  return ISOPROOF_OK;
}

/* ---- making ---- */

/* A file with tables of its own is no place for those of others. */
static isoproof_status make_sqlite(iso_connection *connection, const char *name, const iso_mark *mark, iso_reply *reply,
                                   isoproof_error *error) {
  static const char others[] = "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 1";
  iso_database *database = connection->database;
  bool good = iso_begin(connection, iso_tables_isolation(database), reply) == ISO_OUTCOME_OK &&
              iso_execute(connection, others, reply) == ISO_OUTCOME_OK;
  const char *other = good ? iso_reply_cell(reply, 0, 0) : NULL;
  if (other != NULL) {
    isoproof_status status =
        iso_fail(error, ISOPROOF_ERR_USAGE,
                 "%s: the file has tables of its own ('%.40s'), and a script makes its tables in a file that has none: "
                 "nothing was changed; name a new file, or none (sqlite:); --instrument works on tables that are there",
                 database->urls[0].shown, other);
    iso_rollback(connection, reply);
    return status;
  }
  good = good && iso_catalogue_create(connection, name, mark, reply) && iso_commit(connection, reply) == ISO_OUTCOME_OK;
  if (good) return ISOPROOF_OK;
  isoproof_status status = failed(database, "make a place for the tables of the script", reply, error);
  if (iso_connected(connection)) iso_rollback(connection, reply);
  return status;
}

/* Everything or nothing: a place without its mark would be nobody's. */
static isoproof_status make_postgres(iso_connection *connection, const char *name, const char *mark, iso_reply *reply,
                                     isoproof_error *error) {
  char sql[SQL_BYTES];
  bool good = iso_begin(connection, iso_tables_isolation(connection->database), reply) == ISO_OUTCOME_OK;
  snprintf(sql, sizeof sql, "CREATE SCHEMA %s", name);
  good = good && iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
  snprintf(sql, sizeof sql, "COMMENT ON SCHEMA %s IS '%s'", name, mark);
  good = good && iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
  if (good && iso_commit(connection, reply) == ISO_OUTCOME_OK) return ISOPROOF_OK;
  isoproof_status status = failed(connection->database, "make a schema for the tables of the script", reply, error);
  if (iso_connected(connection)) iso_rollback(connection, reply);
  return status;
}

static isoproof_status make_mariadb(iso_connection *connection, const char *name, const char *mark, iso_reply *reply,
                                    isoproof_error *error) {
  char sql[SQL_BYTES];
  snprintf(sql, sizeof sql, "CREATE DATABASE %s COMMENT '%s'", name, mark);
  if (iso_execute(connection, sql, reply) == ISO_OUTCOME_OK) return ISOPROOF_OK;
  return failed(connection->database, "make a database for the tables of the script (MariaDB 10.5 or later can)", reply,
                error);
}

static isoproof_status make(iso_connection *connection, iso_reply *reply, isoproof_error *error) {
  iso_database *database = connection->database;
  char name[ISO_TABLE_BYTES], text[ISO_MARK_BYTES];
  iso_mark mark;
  int64_t now;
  bool folds;
  iso_home_name(database, name);
  iso_catalogue_clock(connection, reply, &now, &folds);
  iso_tables_mark(database, name, now, false, &mark);
  iso_mark_write(&mark, text);
  if (database->dialect == ISO_SQL_SQLITE) return make_sqlite(connection, name, &mark, reply, error);
  if (database->dialect == ISO_SQL_POSTGRES) return make_postgres(connection, name, text, reply, error);
  return make_mariadb(connection, name, text, reply, error);
}

static bool is_supported(const iso_database *database) {
  bool driver = database->driver->id == ISO_DRIVER_SQLITE || database->driver->id == ISO_DRIVER_POSTGRES ||
                database->driver->id == ISO_DRIVER_MARIADB;
  return driver && lists[database->dialect] != NULL;
}

isoproof_status iso_home_make(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  iso_reply reply = {0};
  if (!is_supported(database))
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "scripts run on PostgreSQL, MariaDB and SQLite, and not with the driver %s",
                    iso_driver_name(database->driver));
  ISO_TRY(iso_connect_writable(database, &connection, error));
  bool locks = iso_catalogue_has_locks(database);
  if (locks) iso_catalogue_hold(connection, database->run, &reply);
  isoproof_status status = sweep(connection, &reply, error);
  if (status == ISOPROOF_OK) iso_tables_sweep(connection, &reply);
  if (status == ISOPROOF_OK) status = make(connection, &reply, error);
  database->placed = status == ISOPROOF_OK;
  iso_reply_free(&reply);
  if (status == ISOPROOF_OK && locks)
    database->keeper = connection;
  else
    iso_disconnect(connection);
  return iso_database_hide(database, status, error);
}

/* ---- working there ---- */

iso_outcome iso_home_enter(iso_connection *connection, iso_reply *reply) {
  const iso_database *database = connection->database;
  char name[ISO_TABLE_BYTES], sql[SQL_BYTES];
  iso_home_name(database, name);
  if (!database->placed || database->dialect == ISO_SQL_SQLITE) return ISO_OUTCOME_OK;
  snprintf(sql, sizeof sql, database->dialect == ISO_SQL_POSTGRES ? "SET search_path TO %s" : "USE %s", name);
  return iso_execute(connection, sql, reply);
}

static isoproof_status remove_own(iso_database *database, iso_connection *connection, iso_reply *reply,
                                  isoproof_error *error) {
  iso_mark mark;
  bool found;
  ISO_TRY(find(connection, database->run, &found, &mark, reply, error));
  return found ? remove_place(connection, mark.table, reply, error) : ISOPROOF_OK;
}

isoproof_status iso_home_remove(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  iso_reply reply = {0};
  char name[ISO_TABLE_BYTES];
  if (!database->placed) return ISOPROOF_OK;
  iso_home_name(database, name);
  isoproof_status status = ISOPROOF_OK;
  if (database->options.keep_tables) {
    iso_tables_notice(database, "kept %s, with the tables of the script", name);
  } else {
    status = iso_connect_writable(database, &connection, error);
    if (status == ISOPROOF_OK) {
      status = remove_own(database, connection, &reply, error);
      iso_disconnect(connection);
    }
  }
  iso_reply_free(&reply);
  iso_disconnect(database->keeper);
  database->keeper = NULL;
  if (status == ISOPROOF_OK) database->placed = false;
  return iso_database_hide(database, status, error);
}
