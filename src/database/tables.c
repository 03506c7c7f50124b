/* tables.c - the tables of a run: made where their names are free, with a mark from their first moment on, looked
 * after, and removed in the end. */
#include "database/tables.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/task.h"

/* ---- whether a name is free ---- */

/* Why something that exists is not replaced. */
static isoproof_status refuse(iso_connection *connection, const char *table, const iso_relation *found,
                              iso_reply *reply, isoproof_error *error) {
  const char *url = connection->database->urls[0].shown;
  if (!found->ours)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "%s: the %s '%s' exists and was not made by isoproof: nothing was changed; choose another name for "
                    "the tables of the run (--table), or none",
                    url, found->kind, table);
  if (iso_tables_life(connection, &found->mark, reply) == ISO_RUN_LIVES)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "%s: table '%s' belongs to run %016" PRIx64 " of process %" PRIu64
                    ", which is still going on: nothing was changed; choose another name (--table), or none",
                    url, table, found->mark.run, found->mark.process.pid);
  if (found->mark.kept)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "%s: table '%s' was kept by run %016" PRIx64
                    " (--keep-tables): nothing was changed; remove it, or choose another name (--table)",
                    url, table, found->mark.run);
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "%s: table '%s' belongs to run %016" PRIx64
                  " on another machine or in another container, which may still be going on: nothing was changed; "
                  "choose another name (--table), or remove the table if the run is over",
                  url, table, found->mark.run);
}

/* A name that is taken by now, whoever it was; where it is not, the run may begin again. */
static isoproof_status refuse_taken(iso_connection *connection, const char *table, iso_reply *reply,
                                    isoproof_error *error) {
  iso_relation found;
  ISO_TRY(iso_catalogue_find(connection, table, reply, &found, error));
  if (found.exists) return refuse(connection, table, &found, reply, error);
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "%s: table '%s' comes and goes, as other runs use the name: nothing was changed; choose another name "
                  "(--table), or none",
                  connection->database->urls[0].shown, table);
}

/* *left is the run that is gone and has left the table behind, 0 where the name is free. */
static isoproof_status check_name(iso_connection *connection, const char *table, iso_reply *reply, uint64_t *left,
                                  isoproof_error *error) {
  iso_relation found;
  *left = 0;
  ISO_TRY(iso_catalogue_find(connection, table, reply, &found, error));
  if (!found.exists) return ISOPROOF_OK;
  bool gone = found.ours && !found.mark.kept && iso_tables_life(connection, &found.mark, reply) == ISO_RUN_GONE;
  if (!gone) return refuse(connection, table, &found, reply, error);
  *left = found.mark.run;
  return ISOPROOF_OK;
}

/* The partitions of PostgreSQL have names of their own. */
static isoproof_status check_partitions(iso_connection *connection, const char *table, iso_reply *reply,
                                        isoproof_error *error) {
  const iso_database *database = connection->database;
  uint32_t partitions = database->dialect == ISO_SQL_POSTGRES ? database->options.partitions : 0;
  for (uint32_t i = 0; partitions > 1 && i < partitions; i++) {
    char name[ISO_PARTITION_BYTES];
    iso_relation found;
    iso_sql_partition_name(table, i, name);
    ISO_TRY(iso_catalogue_find(connection, name, reply, &found, error));
    if (found.exists) return refuse(connection, name, &found, reply, error);
  }
  return ISOPROOF_OK;
}

/* All names before the first change; then what is ours and left over is removed. */
static isoproof_status free_names(iso_connection *connection, iso_reply *reply, isoproof_error *error) {
  const iso_database *database = connection->database;
  uint64_t left[ISO_MOST_TABLES];
  char table[ISO_TABLE_BYTES];
  for (uint32_t i = 0; i < database->options.tables; i++) {
    iso_sql_table_name(database, i, table);
    ISO_TRY(check_name(connection, table, reply, &left[i], error));
    if (left[i] == 0) ISO_TRY(check_partitions(connection, table, reply, error));
  }
  for (uint32_t i = 0; i < database->options.tables; i++) {
    iso_sql_table_name(database, i, table);
    if (left[i] == 0) continue;
    isoproof_status status = iso_tables_remove(connection, table, left[i], reply, error);
    /* Another run was faster to remove it, and has a table of that name now. */
    if (status == ISOPROOF_ERR_INTERFERENCE) status = refuse_taken(connection, table, reply, error);
    ISO_TRY(status);
    iso_tables_notice(database, "removed table %s, left by run %016" PRIx64 ", which is gone", table, left[i]);
    ISO_TRY(check_partitions(connection, table, reply, error));
  }
  return ISOPROOF_OK;
}

/* ---- making ---- */

void iso_tables_mark(const iso_database *database, const char *table, int64_t now, bool folds, iso_mark *mark) {
  *mark = (iso_mark){.run = database->run, .made = now, .kept = database->options.keep_tables};
  iso_process_here(&mark->process);
  for (size_t i = 0; table[i] != 0; i++) mark->table[i] = folds ? (char)tolower((unsigned char)table[i]) : table[i];
}

static bool create_all(iso_connection *connection, char table[ISO_TABLE_BYTES], uint32_t *count, iso_reply *reply) {
  const iso_database *database = connection->database;
  int64_t now;
  bool folds;
  iso_catalogue_clock(connection, reply, &now, &folds);
  if (iso_catalogue_transactional(database->dialect) &&
      iso_begin(connection, iso_tables_isolation(database), reply) != ISO_OUTCOME_OK)
    return false;
  for (*count = 0; *count < database->options.tables; ++*count) {
    iso_mark mark;
    iso_sql_table_name(database, *count, table);
    iso_tables_mark(database, table, now, folds, &mark);
    if (!iso_catalogue_create(connection, table, &mark, reply)) return false;
  }
  return !iso_catalogue_transactional(database->dialect) || iso_commit(connection, reply) == ISO_OUTCOME_OK;
}

/* After a failure: nothing of what was begun stays, and why it failed is told. */
static isoproof_status undo(iso_connection *connection, const char *table, uint32_t count, iso_reply *reply,
                            isoproof_error *error) {
  const iso_database *database = connection->database;
  iso_relation found = {.exists = false};
  isoproof_status status = iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot create a table: %s %s", database->urls[0].shown,
                                    reply->code, reply->message);
  if (!iso_connected(connection)) return status;
  if (iso_catalogue_transactional(database->dialect))
    iso_rollback(connection, reply);
  else
    for (uint32_t i = 0; i < count; i++) {
      char made[ISO_TABLE_BYTES];
      iso_sql_table_name(database, i, made);
      (void)iso_tables_remove(connection, made, database->run, reply, NULL);
    }
  /* Somebody may have been faster. */
  bool there = iso_catalogue_find(connection, table, reply, &found, NULL) == ISOPROOF_OK && found.exists;
  return there ? refuse(connection, table, &found, reply, error) : status;
}

/* What the tables are, to tell later whether they still are. */
static void learn(iso_connection *connection, iso_reply *reply) {
  iso_database *database = connection->database;
  for (uint32_t i = 0; i < database->options.tables; i++) {
    char table[ISO_TABLE_BYTES];
    iso_sql_table_name(database, i, table);
    iso_catalogue_state(connection, table, reply, database->states[i]);
  }
}

/* As long as others are in the way: locks of SQLite go to whoever is lucky. */
enum { MAKE_SECONDS = 30, PAUSE_NS = 1000 * 1000 };

static isoproof_status make(iso_connection *connection, iso_reply *reply, isoproof_error *error) {
  iso_database *database = connection->database;
  double limit = iso_now() + MAKE_SECONDS;
  for (;;) {
    char table[ISO_TABLE_BYTES] = "";
    uint32_t count = 0;
    if (create_all(connection, table, &count, reply)) break;
    bool again = reply->outcome == ISO_OUTCOME_ABORT && iso_now() < limit;
    isoproof_status status = undo(connection, table, count, reply, error);
    if (!again || status != ISOPROOF_ERR_IO) return status;
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
  }
  database->made = true;
  learn(connection, reply);
  return ISOPROOF_OK;
}

isoproof_status iso_tables_setup(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  iso_reply reply = {0};
  bool locks = iso_catalogue_has_locks(database);
  ISO_TRY(iso_connect_writable(database, &connection, error));
  if (locks) iso_catalogue_hold(connection, database->run, &reply);
  isoproof_status status = free_names(connection, &reply, error);
  if (status == ISOPROOF_OK) iso_tables_sweep(connection, &reply);
  if (status == ISOPROOF_OK) status = make(connection, &reply, error);
  iso_reply_free(&reply);
  if (status == ISOPROOF_OK && locks)
    database->keeper = connection;
  else
    iso_disconnect(connection);
  return status;
}

isoproof_status iso_tables_join(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  iso_reply reply = {0};
  isoproof_status status = ISOPROOF_OK;
  ISO_TRY(iso_connect_writable(database, &connection, error));
  for (uint32_t i = 0; i < database->options.tables && status == ISOPROOF_OK; i++) {
    char table[ISO_TABLE_BYTES];
    iso_relation found = {.exists = false};
    iso_sql_table_name(database, i, table);
    status = iso_catalogue_find(connection, table, &reply, &found, error);
    if (status == ISOPROOF_OK && !(found.exists && found.ours && found.mark.run == database->run))
      status = iso_fail(error, ISOPROOF_ERR_IO,
                        "%s: the table %s of the run is not there: every machine has to reach the same database",
                        database->urls[0].shown, table);
  }
  iso_reply_free(&reply);
  iso_disconnect(connection);
  return status;
}

/* ---- afterwards ---- */

/* A connection that works: the keeper's, or a new one. */
static isoproof_status borrow(iso_database *database, iso_connection **connection, isoproof_error *error) {
  iso_reply reply = {0};
  bool good = database->keeper != NULL && iso_connected(database->keeper) &&
              iso_do(database->keeper, &(iso_driver_request){.kind = ISO_PING}, &reply) == ISO_OUTCOME_OK &&
              !iso_connection_read_only(database->keeper);
  iso_reply_free(&reply);
  if (good) {
    *connection = database->keeper;
    return ISOPROOF_OK;
  }
  return iso_connect_writable(database, connection, error);
}

static void give_back(iso_database *database, iso_connection *connection) {
  if (connection != database->keeper) iso_disconnect(connection);
}

isoproof_status iso_tables_teardown(iso_database *database, isoproof_error *error) {
  if (!database->made) return ISOPROOF_OK;
  iso_connection *connection;
  iso_reply reply = {0};
  isoproof_status status = iso_rounds_teardown(database, error);
  if (!database->options.keep_tables) {
    ISO_TRY(borrow(database, &connection, error));
    for (uint32_t i = 0; i < database->options.tables; i++) {
      char table[ISO_TABLE_BYTES];
      iso_sql_table_name(database, i, table);
      isoproof_status removed =
          iso_tables_remove(connection, table, database->run, &reply, status == ISOPROOF_OK ? error : NULL);
      if (status == ISOPROOF_OK) status = removed;
    }
    give_back(database, connection);
  } else {
    iso_tables_notice(database, "kept table %s%s", database->table,
                      database->options.tables > 1 ? "0 and the next" : "");
  }
  iso_reply_free(&reply);
  if (status == ISOPROOF_OK) database->made = false;
  iso_disconnect(database->keeper);
  database->keeper = NULL;
  return status;
}

static isoproof_status verify_one(iso_connection *connection, uint32_t number, iso_reply *reply,
                                  isoproof_error *error) {
  const iso_database *database = connection->database;
  char table[ISO_TABLE_BYTES], state[ISO_STATE_BYTES];
  iso_relation found;
  iso_sql_table_name(database, number, table);
  if (iso_catalogue_find(connection, table, reply, &found, NULL) != ISOPROOF_OK) return ISOPROOF_OK;
  if (!found.exists)
    return iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "table %s was removed while the run used it", table);
  if (!found.ours || found.mark.run != database->run)
    return iso_fail(error, ISOPROOF_ERR_INTERFERENCE, "table %s was replaced while the run used it", table);
  iso_catalogue_state(connection, table, reply, state);
  /* What was learned in another way, or not at all, says nothing. */
  if (state[0] == 0 || state[0] != database->states[number][0] || strcmp(state, database->states[number]) == 0)
    return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                  "table %s was emptied, or all of it written anew, while the run used it", table);
}

isoproof_status iso_tables_verify(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  iso_reply reply = {0};
  isoproof_status status = ISOPROOF_OK;
  if (!database->made || borrow(database, &connection, NULL) != ISOPROOF_OK) return ISOPROOF_OK;
  for (uint32_t i = 0; i < database->options.tables && status == ISOPROOF_OK; i++)
    status = verify_one(connection, i, &reply, error);
  iso_reply_free(&reply);
  give_back(database, connection);
  return status;
}

void iso_tables_learn(iso_database *database) {
  iso_connection *connection;
  iso_reply reply = {0};
  if (!database->made) return;
  /* Where nothing can be learned, nothing is to be found later. */
  for (uint32_t i = 0; i < database->options.tables; i++) database->states[i][0] = 0;
  if (borrow(database, &connection, NULL) != ISOPROOF_OK) return;
  learn(connection, &reply);
  iso_reply_free(&reply);
  give_back(database, connection);
}
