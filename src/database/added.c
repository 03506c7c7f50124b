/* added.c - columns added to tables of somebody else's: written down before, taken away in the end or by the next run.
 */
#include "database/added.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/task.h"
#include "database/tables.h"

enum { SQL_BYTES = 2 * ISO_SQL_BYTES, MOST_TABLES = 1000, TRY_SECONDS = 30, PAUSE_NS = 10 * 1000 * 1000 };

static void own_name(const iso_database *database, char name[ISO_TABLE_BYTES]) {
  snprintf(name, ISO_TABLE_BYTES, ISO_ADDED_PREFIX "%012" PRIx64, database->run >> 16);
}

/* What may stand where a statement names a table: words, or words in quotes, with dots between.  What is read from a
 * database goes into a statement only if it is no more than that. */
static bool is_table_name(const char *text) {
  if (strlen(text) >= ISO_SQL_BYTES) return false;
  for (;;) {
    if (*text == '"' || *text == '`') {
      char quote = *text++;
      size_t length = strcspn(text, (char[]){quote, 0});
      if (length == 0 || text[length] != quote) return false;
      text += length + 1;
    } else {
      size_t length = 0;
      while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
      if (length == 0) return false;
      text += length;
    }
    if (*text == 0) return true;
    if (*text++ != '.') return false;
  }
}

static isoproof_status failed(const iso_database *database, const char *doing, const char *table,
                              const iso_reply *reply, isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot %s %s: %s %s", database->urls[0].shown, doing, table, reply->code,
                  reply->message);
}

/* ---- one table ---- */

static bool has_column(iso_connection *connection, const char *table, const char *column, iso_reply *reply) {
  char sql[SQL_BYTES];
  /* With the name of the table before it, as SQLite takes a quoted name that it does not know for a text. */
  snprintf(sql, sizeof sql, "SELECT t.%s FROM %s t WHERE 1 = 0", column, table);
  return iso_execute(connection, sql, reply) == ISO_OUTCOME_OK;
}

/* Waits for locks of others for a while. */
static isoproof_status take_away(iso_connection *connection, const char *table, const char *column, iso_reply *reply,
                                 isoproof_error *error) {
  char sql[SQL_BYTES];
  double limit = iso_now() + TRY_SECONDS;
  if (!has_column(connection, table, column, reply)) {
    bool unsure = reply->outcome != ISO_OUTCOME_REJECTED;
    return unsure ? failed(connection->database, "look at", table, reply, error) : ISOPROOF_OK;
  }
  snprintf(sql, sizeof sql, "ALTER TABLE %s DROP COLUMN %s", table, column);
  for (;;) {
    if (iso_execute(connection, sql, reply) == ISO_OUTCOME_OK) return ISOPROOF_OK;
    if (reply->outcome != ISO_OUTCOME_ABORT || iso_now() > limit)
      return failed(connection->database, "take a column away from", table, reply, error);
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
  }
}

/* ---- what a table of ours says ---- */

/* Takes away what it says, and then itself. */
static isoproof_status undo(iso_connection *connection, const char *registry, uint64_t run, iso_reply *reply,
                            isoproof_error *error) {
  char sql[SQL_BYTES];
  iso_reply list = {0};
  isoproof_status status = ISOPROOF_OK;
  snprintf(sql, sizeof sql, "SELECT l FROM %s ORDER BY k", registry);
  if (iso_execute(connection, sql, &list) != ISO_OUTCOME_OK)
    status = failed(connection->database, "read", registry, &list, error);
  for (size_t i = 0; status == ISOPROOF_OK && iso_reply_cell(&list, i, 0) != NULL; i++) {
    const char *table = iso_reply_cell(&list, i, 0);
    if (!is_table_name(table)) continue;
    status = take_away(connection, table, ISO_ADDED_VERSION, reply, error);
    if (status == ISOPROOF_OK) status = take_away(connection, table, ISO_ADDED_PREVIOUS, reply, error);
  }
  iso_reply_free(&list);
  return status == ISOPROOF_OK ? iso_tables_remove(connection, registry, run, reply, error) : status;
}

/* Whether a registry that is there names a table. */
static bool names_table(iso_connection *connection, const char *registry, const char *table, iso_reply *reply) {
  char sql[SQL_BYTES];
  snprintf(sql, sizeof sql, "SELECT l FROM %s", registry);
  if (iso_execute(connection, sql, reply) != ISO_OUTCOME_OK) return false;
  for (size_t i = 0; iso_reply_cell(reply, i, 0) != NULL; i++)
    if (strcmp(iso_reply_cell(reply, i, 0), table) == 0) return true;
  return false;
}

/* Goes through the registries of others: undoes those of runs that are gone; refuses when one of the rest names one of
 * the tables. */
static isoproof_status look_at_others(iso_connection *connection, const char *const *tables, size_t count,
                                      iso_reply *reply, isoproof_error *error) {
  iso_table_names names = {{0}};
  isoproof_status status = iso_catalogue_list(connection, reply, &names, error);
  for (size_t i = 0; i < names.list.count && status == ISOPROOF_OK; i++) {
    const iso_table_name *name = &names.list.items[i];
    isoproof_error problem = {.offset = -1};
    if (strncmp(name->text, ISO_ADDED_PREFIX, strlen(ISO_ADDED_PREFIX)) != 0) continue;
    if (name->mark.run == connection->database->run) continue;
    if (iso_tables_life(connection, &name->mark, reply) == ISO_RUN_GONE) {
      bool good = undo(connection, name->text, name->mark.run, reply, &problem) == ISOPROOF_OK;
      iso_tables_notice(connection->database, "%s what run %016" PRIx64 ", which is gone, had added to tables%s%s",
                        good ? "took away" : "could not take away", name->mark.run, good ? "" : ": ",
                        good ? "" : problem.message);
      continue;
    }
    for (size_t k = 0; k < count && status == ISOPROOF_OK; k++)
      if (names_table(connection, name->text, tables[k], reply))
        status = iso_fail(error, ISOPROOF_ERR_USAGE,
                          "table %s is used by run %016" PRIx64 " of process %" PRIu64
                          ", which may still be going on: nothing was changed",
                          tables[k], name->mark.run, name->mark.process.pid);
  }
  iso_vec_free(&names.list);
  return status;
}

/* ---- ours ---- */

isoproof_status iso_added_check(iso_connection *connection, const char *const *tables, size_t count,
                                isoproof_error *error) {
  iso_reply reply = {0};
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < count && status == ISOPROOF_OK; i++) {
    if (!is_table_name(tables[i]))
      status = iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "the table %.100s has a name that cannot be instrumented",
                        tables[i]);
    else if (has_column(connection, tables[i], ISO_ADDED_VERSION, &reply) ||
             has_column(connection, tables[i], ISO_ADDED_PREVIOUS, &reply))
      status = iso_fail(error, ISOPROOF_ERR_USAGE,
                        "table %s has a column %s or %s already: another run uses it (tables %s... tell which), or "
                        "somebody else made the column; nothing was changed",
                        tables[i], ISO_ADDED_VERSION, ISO_ADDED_PREVIOUS, ISO_ADDED_PREFIX);
  }
  iso_reply_free(&reply);
  return status;
}

/* Whether a name is quoted as a text of the dialect needs it: there are no other quotes in it. */
static bool write_names(iso_connection *connection, const char *registry, const char *const *tables, size_t count,
                        iso_reply *reply) {
  char sql[SQL_BYTES];
  for (size_t i = 0; i < count; i++) {
    snprintf(sql, sizeof sql, "INSERT INTO %s (k, l) VALUES (%zu, '%s')", registry, i, tables[i]);
    if (strchr(tables[i], '\'') != NULL || iso_execute(connection, sql, reply) != ISO_OUTCOME_OK) return false;
  }
  return true;
}

static isoproof_status write_down(iso_connection *connection, const char *const *tables, size_t count, iso_reply *reply,
                                  isoproof_error *error) {
  iso_database *database = connection->database;
  char name[ISO_TABLE_BYTES];
  iso_mark mark;
  int64_t now;
  bool folds;
  own_name(database, name);
  iso_catalogue_clock(connection, reply, &now, &folds);
  iso_tables_mark(database, name, now, folds, &mark);
  mark.kept = false;
  bool together = iso_catalogue_transactional(database->dialect);
  bool good = !together || iso_begin(connection, iso_tables_isolation(database), reply) == ISO_OUTCOME_OK;
  good = good && iso_catalogue_create(connection, name, &mark, reply);
  good = good && write_names(connection, name, tables, count, reply);
  good = good && (!together || iso_commit(connection, reply) == ISO_OUTCOME_OK);
  if (good) return ISOPROOF_OK;
  isoproof_status status = failed(database, "write down what is added in", name, reply, error);
  if (together && iso_connected(connection)) iso_rollback(connection, reply);
  if (!together) (void)iso_tables_remove(connection, name, database->run, reply, NULL);
  return status;
}

isoproof_status iso_added_begin(iso_database *database, const char *const *tables, size_t count,
                                isoproof_error *error) {
  iso_connection *connection;
  iso_reply reply = {0};
  if (count > MOST_TABLES) return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %d tables", MOST_TABLES);
  ISO_TRY(iso_connect_writable(database, &connection, error));
  bool locks = iso_catalogue_has_locks(database);
  if (locks) iso_catalogue_hold(connection, database->run, &reply);
  isoproof_status status = look_at_others(connection, tables, count, &reply, error);
  if (status == ISOPROOF_OK) status = iso_added_check(connection, tables, count, error);
  if (status == ISOPROOF_OK) status = write_down(connection, tables, count, &reply, error);
  if (status == ISOPROOF_OK) {
    /* Of two runs that began at once, at least one sees the other now, before anything was added. */
    char name[ISO_TABLE_BYTES];
    own_name(database, name);
    status = look_at_others(connection, tables, count, &reply, error);
    if (status != ISOPROOF_OK) (void)iso_tables_remove(connection, name, database->run, &reply, NULL);
  }
  database->added = status == ISOPROOF_OK;
  iso_reply_free(&reply);
  if (status == ISOPROOF_OK && locks)
    database->keeper = connection;
  else
    iso_disconnect(connection);
  return iso_database_hide(database, status, error);
}

isoproof_status iso_added_end(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  iso_reply reply = {0};
  char name[ISO_TABLE_BYTES];
  if (!database->added) return ISOPROOF_OK;
  own_name(database, name);
  isoproof_status status = iso_connect_writable(database, &connection, error);
  if (status == ISOPROOF_OK) {
    status = undo(connection, name, database->run, &reply, error);
    iso_disconnect(connection);
  }
  iso_reply_free(&reply);
  iso_disconnect(database->keeper);
  database->keeper = NULL;
  if (status == ISOPROOF_OK) database->added = false;
  return iso_database_hide(database, status, error);
}

isoproof_status iso_added_sweep(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  iso_reply reply = {0};
  ISO_TRY(iso_connect_writable(database, &connection, error));
  isoproof_status status = look_at_others(connection, NULL, 0, &reply, error);
  iso_disconnect(connection);
  iso_reply_free(&reply);
  return iso_database_hide(database, status, error);
}
