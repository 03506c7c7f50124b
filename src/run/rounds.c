/* rounds.c - what a workload in rounds needs of the database: rows that are there from the start, and fresh tables,
 * made while everybody waits. */
#include <string.h>

#include "run/run.h"

enum {
  FIRST_TABLES = 16, /* made before the first round; then twice as many each time, as long as that is quick */
  MOST_TABLES = 256,
  QUICK_MS = 300,
  TRIES = 40, /* a database that is gone may come back */
  FIRST_PAUSE_MS = 20,
  LONGEST_PAUSE_MS = 1000,
  INITIAL_TRIES = 600 /* looks at a node that has no rows yet, PAUSE apart */
};

/* ---- tables ---- */

static isoproof_status make_tables(isoproof_run_handle *run, isoproof_error *error) {
  int64_t began = isoproof_run_now(run);
  ISO_TRY(iso_database_make_rounds(run->database, run->made_rounds + 1, run->next_batch, error));
  run->made_rounds += run->next_batch;
  bool quick = isoproof_run_now(run) - began < QUICK_MS * INT64_C(1000000);
  if (quick && run->next_batch < MOST_TABLES) run->next_batch *= 2;
  if (!quick && run->next_batch > FIRST_TABLES) run->next_batch /= 2;
  return ISOPROOF_OK;
}

/* Those of the rounds before the current one.  What cannot be removed now is removed in the end. */
static void drop_old_tables(isoproof_run_handle *run, uint64_t round) {
  isoproof_error ignored = {.offset = -1};
  if (round < run->old_rounds + 2) return;
  if (iso_database_drop_rounds(run->database, run->old_rounds + 1, round - 1 - run->old_rounds, &ignored) ==
      ISOPROOF_OK)
    run->old_rounds = round - 1;
}

/* Why the run ends is told by the session that made the tables: the first one. */
static bool give_up(isoproof_run_handle *run, isoproof_status status, const isoproof_error *error) {
  pthread_mutex_lock(&run->lock);
  if (run->rounds_status == ISOPROOF_OK) {
    run->rounds_status = status;
    run->rounds_problem = *error;
  }
  pthread_mutex_unlock(&run->lock);
  iso_run_stop(run);
  return false;
}

/* Before a round begins: the table of the next one must be there, as its statements are prepared after this one. */
static bool ready(void *user, uint64_t round) {
  isoproof_run_handle *run = user;
  isoproof_error error = {.offset = -1};
  uint32_t pause_ms = FIRST_PAUSE_MS;
  if (run->next_batch == 0 || run->made_rounds > round) return true;
  if (round + MOST_TABLES > ISO_MOST_ROUND) {
    isoproof_status status = iso_fail(&error, ISOPROOF_ERR_LIMIT, "there were %d rounds", ISO_MOST_ROUND);
    return give_up(run, status, &error);
  }
  drop_old_tables(run, round);
  for (int i = 0;; i++) {
    isoproof_status status = make_tables(run, &error);
    if (status == ISOPROOF_OK) return true;
    if (status != ISOPROOF_ERR_IO || i >= TRIES) return give_up(run, status, &error);
    if (!isoproof_run_wait(run, pause_ms / 1000.0)) return false;
    pause_ms = pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
  }
}

static int64_t now(void *user) { return isoproof_run_now(user); }
static bool over(void *user) { return iso_run_stopping(user); }

isoproof_status iso_rounds_prepare(isoproof_run_handle *run, isoproof_error *error) {
  iso_capabilities can = iso_database_capabilities(run->database);
  if (!isoproof_workload_meets(run->workload->kind)) return ISOPROOF_OK;
  if (!iso_meeting_init(&run->meeting, ready, now, over, run)) return iso_fail_memory(error);
  run->has_meeting = true;
  run->begins_early = can.concurrent;
  if (run->workload->kind != ISOPROOF_WORKLOAD_FIRST_INSERT) return ISOPROOF_OK;
  run->next_batch = FIRST_TABLES;
  return make_tables(run, error);
}

/* ---- rows ---- */

static isoproof_status insert_rows(isoproof_run_handle *run, iso_connection *connection, iso_reply *reply,
                                   iso_row_value *rows, isoproof_error *error) {
  for (uint32_t i = 0; i < run->generator->initial_rows; i++) {
    rows[i] = (iso_row_value){i, iso_generator_initial_value(run->generator, i)};
    iso_driver_request request = {.kind = ISO_INSERT, .key = rows[i].key, .value = rows[i].value};
    if (iso_do(connection, &request, reply) != ISO_OUTCOME_OK)
      return iso_fail(error, ISOPROOF_ERR_IO, "the first rows could not be written: %s", reply->message);
  }
  return ISOPROOF_OK;
}

/* The last row came last, but perhaps not last to the node. */
static isoproof_status await_rows(isoproof_run_handle *run, size_t node, iso_reply *reply, isoproof_error *error) {
  iso_connection *connection = NULL;
  ISO_TRY(iso_connect(run->database, node, &connection, error));
  uint32_t found = 0;
  for (int i = 0; i < INITIAL_TRIES && found < run->generator->initial_rows; i++) {
    while (found < run->generator->initial_rows && iso_read(connection, found, reply) == ISO_OUTCOME_OK &&
           reply->present)
      found++;
    struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
    if (found < run->generator->initial_rows) nanosleep(&moment, NULL);
  }
  iso_disconnect(connection);
  if (found == run->generator->initial_rows) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "the first rows did not come to node %zu", node);
}

isoproof_status iso_rounds_write_initial(isoproof_run_handle *run, isoproof_error *error) {
  if (run->generator->initial_rows == 0) return ISOPROOF_OK;
  iso_connection *connection = NULL;
  iso_reply reply;
  memset(&reply, 0, sizeof reply);
  iso_row_value *rows = iso_alloc(run->generator->initial_rows, sizeof *rows);
  if (rows == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_connect(run->database, 0, &connection, error);
  if (status == ISOPROOF_OK) status = insert_rows(run, connection, &reply, rows, error);
  iso_disconnect(connection);
  for (size_t i = 1; status == ISOPROOF_OK && i < iso_database_nodes(run->database); i++)
    status = await_rows(run, i, &reply, error);
  if (status == ISOPROOF_OK) iso_session_log_initial_rows(&run->log, rows, run->generator->initial_rows);
  iso_reply_free(&reply);
  free(rows);
  return status;
}
