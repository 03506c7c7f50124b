/* driver_postgres.c - the driver for PostgreSQL against a server: tests/servers/with postgres -- PROGRAM. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/database/batch_suite.h"
#include "tests/unit/database/driver_fixture.h"
#include "tests/unit/database/rows_suite.h"

static void serves_rows(void **state) {
  (void)state;
  rows_suite(server_url);
}

static void makes_rounds(void **state) {
  (void)state;
  rounds_suite(server_url, 210);
}

/* Empty tables of rounds, by the path that was chosen. */
static void takes_paths(void **state) {
  (void)state;
  const iso_driver_request key = {.kind = ISO_COUNT, .key = 1, .high = 1}, read = {.kind = ISO_READ, .key = 1};
  const iso_driver_request all = {.kind = ISO_COUNT, .key = INT64_MIN, .high = INT64_MAX};
  const iso_driver_request update = {.kind = ISO_UPDATE, .key = 1, .value = 2};
  const iso_layout indexed[] = {ISO_LAYOUT_KEYED, ISO_LAYOUT_INDEXED, ISO_LAYOUT_HASHED};
  for (size_t i = 0; i < 3; i++) {
    plan_suite(server_url, indexed[i], ISO_ACCESS_INDEX, &key, "Index Scan using", "Seq Scan");
    plan_suite(server_url, indexed[i], ISO_ACCESS_INDEX, &read, "Index Scan using", "Seq Scan");
    plan_suite(server_url, indexed[i], ISO_ACCESS_INDEX, &update, "Index Scan using", "Seq Scan");
    plan_suite(server_url, indexed[i], ISO_ACCESS_BITMAP, &key, "Bitmap Index Scan", "Seq Scan");
    plan_suite(server_url, indexed[i], ISO_ACCESS_SEQUENTIAL, &key, "Seq Scan", "Index");
  }
  plan_suite(server_url, ISO_LAYOUT_KEYED, ISO_ACCESS_INDEX, &all, "Index Scan using", "Seq Scan");
  plan_suite(server_url, ISO_LAYOUT_INDEXED, ISO_ACCESS_INDEX, &all, "Index Scan using", "Seq Scan");
  plan_suite(server_url, ISO_LAYOUT_HEAP, ISO_ACCESS_AUTO, &key, "Seq Scan", NULL);
}

/* What makes a transaction ready does not look at the database yet: the snapshot is that of its first statement. */
static void takes_no_snapshot_early(void **state) {
  (void)state;
  isoproof_error error = {0};
  for (unsigned how = 0; how < ISO_SENDINGS; how++) {
    iso_database_options options = {.statements = (iso_sending)how, .layout = ISO_LAYOUT_INDEXED};
    iso_database *database = suite_open_empty(server_url, &options);
    iso_connection *reader = suite_connect(database, 0), *writer = suite_connect(database, 0);
    const iso_isolation *serializable;
    iso_driver_request count = {.kind = ISO_COUNT, .key = 1, .high = 1};
    iso_driver_request insert = {.kind = ISO_INSERT, .key = 1, .value = 1};
    assert_ok_error(iso_database_find_isolation(database, "serializable", &serializable, &error), error);
    assert_ok_error(iso_database_make_rounds(database, 1, 6, &error), error);
    for (uint64_t number = 1; number <= 6; number++) {
      count.round = insert.round = number;
      if (number % 3 > 0) iso_prepare(reader, &count, &reply);
      iso_begin(reader, serializable, &reply);
      iso_do(writer, &insert, &reply);
      assert_reply(&reply, OK, COMMITTED);
      iso_do(reader, &count, &reply);
      assert_reply(&reply, OK, ACTIVE);
      assert_int_equal(reply.value, 1);
      iso_commit(reader, &reply);
      assert_reply(&reply, OK, COMMITTED);
    }
    iso_disconnect(reader);
    iso_disconnect(writer);
    suite_close(database);
  }
  iso_reply_free(&reply);
  memset(&reply, 0, sizeof reply);
}

static void does_batches(void **state) {
  (void)state;
  batch_suite(server_url);
  batch_deadlock(server_url);
}

static void knows_itself(void **state) {
  (void)state;
  assert_non_null(strstr(iso_database_version(db), "PostgreSQL 1"));
  assert_string_equal(level("rr")->claims, "snapshot-isolation");
  assert_string_equal(level("serializable")->claims, "serializable");
  assert_string_equal(level(NULL)->name, "read committed");
  bool fsync = false;
  for (size_t i = 0; iso_database_setting(db, i) != NULL; i++)
    fsync |= strcmp(iso_database_setting(db, i)->name, "fsync") == 0 &&
             strcmp(iso_database_setting(db, i)->value, "off") == 0;
  assert_true(fsync);
  assert_true(iso_connection_server_id(one) != iso_connection_server_id(two));
}

/* The server answers the COMMIT of a failed transaction with success and the tag ROLLBACK. */
static void commit_that_rolls_back(void **state) {
  (void)state;
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 5, &reply);
  iso_execute(one, "SELECT 1 / 0", &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  assert_string_equal(reply.code, "22012");
  iso_read(one, 1, &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  /* The driver itself, as if nothing had been noticed. */
  iso_driver_request commit = {.kind = ISO_COMMIT};
  one->txn = ISO_TXN_ACTIVE;
  one->doomed = false;
  iso_do(one, &commit, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(suite_value(db, 1), 0);
  /* And the same through the common code. */
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 6, &reply);
  iso_execute(one, "SELECT 1 / 0", &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_string_equal(reply.code, "22012");
  iso_begin(one, NULL, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(suite_value(db, 1), 0);
}

static void lost_update_is_refused(void **state) {
  (void)state;
  iso_begin(one, level("rr"), &reply);
  iso_begin(two, level("rr"), &reply);
  iso_read(one, 1, &reply);
  iso_read(two, 1, &reply);
  iso_write(one, 1, 1, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_write(two, 1, 2, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
  assert_string_equal(reply.code, "40001");
  iso_commit(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_string_equal(reply.code, "40001");
  assert_int_equal(suite_value(db, 1), 1);
}

/* Write skew: one of two is aborted, at a statement or at its commit, and is not there. */
static void write_skew_is_refused(void **state) {
  (void)state;
  iso_txn_state ends[2];
  iso_begin(one, level("ser"), &reply);
  iso_begin(two, level("ser"), &reply);
  iso_read(one, 1, &reply);
  iso_read(two, 2, &reply);
  iso_write(one, 2, 1, &reply);
  iso_write(two, 1, 1, &reply);
  iso_commit(one, &reply);
  ends[0] = reply.txn;
  iso_commit(two, &reply);
  ends[1] = reply.txn;
  assert_int_equal(ends[0], ISO_TXN_COMMITTED);
  assert_int_equal(ends[1], ISO_TXN_ABORTED);
  assert_int_equal(reply.outcome, ISO_OUTCOME_ABORT);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
  assert_int_equal(suite_value(db, 1), 0);
  assert_int_equal(suite_value(db, 2), 1);
}

static void error_at_commit(void **state) {
  (void)state;
  char sql[256], table[ISO_TABLE_BYTES];
  iso_database_table(db, 1, table);
  snprintf(sql, sizeof sql, "ALTER TABLE %s ADD CONSTRAINT unique_v UNIQUE (l) DEFERRABLE INITIALLY DEFERRED", table);
  iso_execute(one, "UPDATE isoproof SET l = k::text", &reply);
  iso_execute(one, sql, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_begin(one, NULL, &reply);
  iso_execute(one, "UPDATE isoproof SET l = '1', v = 8 WHERE k IN (1, 2)", &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(one, &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_CONSTRAINT);
  assert_int_equal(suite_value(db, 1), 0);
}

static void deadlock(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_begin(one, NULL, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_write(two, 2, 2, &reply);
  assert_ok_error(iso_start(one, &(iso_driver_request){.kind = ISO_WRITE, .key = 2, .value = 1}, &error), error);
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 1, .value = 2}, &error), error);
  iso_txn_state ends[2];
  int deadlocks = 0;
  iso_finish(one, &reply);
  ends[0] = reply.txn;
  deadlocks += reply.error_class == ISO_CLASS_DEADLOCK && strcmp(reply.code, "40P01") == 0;
  iso_finish(two, &reply);
  ends[1] = reply.txn;
  deadlocks += reply.error_class == ISO_CLASS_DEADLOCK && strcmp(reply.code, "40P01") == 0;
  assert_int_equal(deadlocks, 1);
  assert_true(ends[0] != ends[1]);
  iso_connection *loser = ends[0] == ISO_TXN_ABORTED ? one : two, *winner = loser == one ? two : one;
  iso_commit(loser, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  iso_commit(winner, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), winner == one ? 1 : 2);
}

static void tells_who_waits(void **state) {
  (void)state;
  isoproof_error error = {0};
  bool blocked[2] = {true, true};
  iso_connection *both[2] = {one, two};
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  assert_ok_error(iso_blocked(control, both, 2, blocked, &error), error);
  assert_false(blocked[0] || blocked[1]);
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 1, .value = 2}, &error), error);
  suite_blocked(control, two);
  assert_ok_error(iso_blocked(control, both, 2, blocked, &error), error);
  assert_true(blocked[1] && !blocked[0]);
  assert_false(iso_poll(two, 0));
  assert_true(iso_cancel(two));
  iso_finish(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_CANCELLED);
  assert_string_equal(reply.code, "57014");
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_begin(control, NULL, &reply);
  assert_int_equal(iso_blocked(control, both, 2, blocked, &error), ISOPROOF_ERR_USAGE);
}

static void timeouts(void **state) {
  (void)state;
  iso_database_options options = {.statement_timeout_ms = 1000, .lock_timeout_ms = 50};
  fixture_open(server_url, &options);
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(two, 1, 2, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_LOCK_TIMEOUT);
  assert_string_equal(reply.code, "55P03");
  iso_rollback(two, &reply);
  iso_begin(two, NULL, &reply);
  iso_execute(two, "SELECT pg_sleep(5)", &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
}

/* Each key has a partition of its own, the last one also what is beyond; they go with their table. */
static void partitions(void **state) {
  (void)state;
  iso_database_options options = {.partitions = 3};
  static const char *const places[] = {"isoproof_p0", "isoproof_p1", "isoproof_p2", "isoproof_p2"};
  fixture_open(server_url, &options);
  iso_write(one, -1, 5, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_write(one, 2, 7, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 2), 7);
  iso_execute(one, "SELECT tableoid::regclass, k FROM isoproof WHERE k BETWEEN 0 AND 3 ORDER BY k", &reply);
  assert_reply(&reply, OK, COMMITTED);
  for (size_t i = 0; i < 4; i++) assert_string_equal(iso_reply_cell(&reply, i, 0), places[i]);
  iso_execute(one, "SELECT tableoid::regclass FROM isoproof WHERE k = -1", &reply);
  assert_string_equal(iso_reply_cell(&reply, 0, 0), "isoproof_p0");
  isoproof_error error = {0};
  assert_ok_error(iso_database_teardown(db, &error), error);
  iso_execute(one, "SELECT count(*) FROM pg_class WHERE relname LIKE 'isoproof%'", &reply);
  assert_string_equal(iso_reply_cell(&reply, 0, 0), "0");
}

/* The server ends the connection: between statements, and while a statement waits. */
static void terminated(void **state) {
  (void)state;
  fixture_killed("SELECT pg_terminate_backend(%u)", "SELECT 1 FROM pg_stat_activity WHERE pid = %u", "57P01");
}

static void refuses_copy(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_execute(one, "COPY isoproof TO STDOUT", &reply);
  assert_int_equal(reply.error_class, ISO_CLASS_CLIENT);
  assert_false(iso_connected(one));
  assert_ok_error(iso_reconnect(one, &error), error);
  iso_execute(one, "SELECT 1; SELECT 2", &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_REJECTED);
  iso_execute(one, "DO $$ BEGIN RAISE NOTICE 'not on standard error'; END $$", &reply);
  assert_reply(&reply, OK, COMMITTED);
}

static void connection_loss(void **state) {
  (void)state;
  fixture_loss(server_url, "postgres://%s@127.0.0.1:%u/%s?sslmode=disable");
}

static void cannot_connect(void **state) {
  (void)state;
  iso_database *none = NULL;
  isoproof_error error = {0};
  static const char *const bad[] = {"postgres://postgres:secret@127.0.0.1:1/x", "postgres://127.0.0.1:1/x?colour=red"};
  assert_int_equal(iso_database_open(&bad[0], 1, NULL, &none, &error), ISOPROOF_ERR_IO);
  assert_null(strstr(error.message, "secret"));
  assert_int_equal(iso_database_open(&bad[1], 1, NULL, &none, &error), ISOPROOF_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixture_does_all),
      cmocka_unit_test(fixture_minds_tables),
      cmocka_unit_test(serves_rows),
      cmocka_unit_test(makes_rounds),
      cmocka_unit_test(takes_paths),
      cmocka_unit_test(takes_no_snapshot_early),
      cmocka_unit_test(does_batches),
      WITH_SERVER(knows_itself),
      WITH_SERVER(commit_that_rolls_back),
      WITH_SERVER(lost_update_is_refused),
      WITH_SERVER(write_skew_is_refused),
      WITH_SERVER(error_at_commit),
      WITH_SERVER(deadlock),
      WITH_SERVER(tells_who_waits),
      cmocka_unit_test_teardown(timeouts, fixture_close),
      cmocka_unit_test_teardown(partitions, fixture_close),
      WITH_SERVER(terminated),
      WITH_SERVER(refuses_copy),
      WITH_SERVER(connection_loss),
      cmocka_unit_test(cannot_connect),
  };
  return fixture_run("ISOPROOF_TEST_POSTGRES", tests, NULL, NULL);
}
