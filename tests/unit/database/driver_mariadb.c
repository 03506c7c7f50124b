/* driver_mariadb.c - the driver for MariaDB against a server: tests/servers/with mariadb -- PROGRAM. */
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
  rounds_suite(server_url, 45);
}

static void takes_paths(void **state) {
  (void)state;
  const iso_driver_request keys = {.kind = ISO_COUNT, .key = 1, .high = 5};
  const iso_driver_request whole = {.kind = ISO_READ_RANGE, .key = INT64_MIN, .high = INT64_MAX};
  plan_suite(server_url, ISO_LAYOUT_INDEXED, ISO_ACCESS_INDEX, &keys, "|range|by_key|", NULL);
  plan_suite(server_url, ISO_LAYOUT_INDEXED, ISO_ACCESS_SEQUENTIAL, &keys, "|ALL|", "by_key");
  plan_suite(server_url, ISO_LAYOUT_KEYED, ISO_ACCESS_INDEX, &keys, "|range|PRIMARY|", NULL);
  plan_suite(server_url, ISO_LAYOUT_KEYED, ISO_ACCESS_SEQUENTIAL, &keys, "|ALL|", "PRIMARY");
  plan_suite(server_url, ISO_LAYOUT_INDEXED, ISO_ACCESS_INDEX, &whole, "|by_key|", NULL);
  plan_suite(server_url, ISO_LAYOUT_HEAP, ISO_ACCESS_AUTO, &keys, "|ALL|", NULL);
}

static void does_batches(void **state) {
  (void)state;
  batch_suite(server_url);
  batch_deadlock(server_url);
}

static void knows_itself(void **state) {
  (void)state;
  assert_non_null(strstr(iso_database_version(db), "MariaDB 1"));
  assert_string_equal(level("rr")->claims, "prefix");
  assert_string_equal(level("rr")->claims_lists, "monotonic-reads");
  assert_null(level("rc")->claims_lists);
  assert_null(level("ru")->claims);
  assert_string_equal(level(NULL)->name, "repeatable read");
  bool snapshot = false;
  for (size_t i = 0; iso_database_setting(db, i) != NULL; i++)
    snapshot |= strcmp(iso_database_setting(db, i)->name, "innodb_snapshot_isolation") == 0;
  assert_true(snapshot);
}

/* A deadlock rolls back everything; the server would still answer OK to a COMMIT. */
static void deadlock_undoes_everything(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_begin(one, NULL, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(one, 3, 31, &reply);
  iso_write(two, 4, 42, &reply);
  iso_write(one, 1, 11, &reply);
  iso_write(two, 2, 22, &reply);
  assert_ok_error(iso_start(one, &(iso_driver_request){.kind = ISO_WRITE, .key = 2, .value = 12}, &error), error);
  assert_false(iso_poll(one, 100));
  iso_write(two, 1, 21, &reply);
  iso_txn_state second = reply.txn;
  iso_error_class second_class = reply.error_class;
  if (second == ISO_TXN_ABORTED) assert_string_equal(reply.code, "1213");
  iso_finish(one, &reply);
  if (second == ISO_TXN_ACTIVE) {
    assert_reply(&reply, ABORT, ABORTED);
    assert_int_equal(reply.error_class, ISO_CLASS_DEADLOCK);
    assert_string_equal(reply.code, "1213");
  } else {
    assert_int_equal(second_class, ISO_CLASS_DEADLOCK);
    assert_reply(&reply, OK, ACTIVE);
  }
  iso_connection *loser = second == ISO_TXN_ABORTED ? two : one, *winner = loser == one ? two : one;
  iso_read(loser, 1, &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  iso_commit(loser, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_string_equal(reply.code, "1213");
  iso_commit(winner, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, loser == one ? 3 : 4), 0);
  assert_int_equal(suite_value(db, loser == one ? 4 : 3), loser == one ? 42 : 31);
  /* The loser's connection is as good as new. */
  iso_begin(loser, NULL, &reply);
  iso_write(loser, 3, 99, &reply);
  iso_commit(loser, &reply);
  assert_reply(&reply, OK, COMMITTED);
}

/* Under serializable the error of a plain read comes after the columns: while fetching. */
static void error_while_fetching(void **state) {
  (void)state;
  isoproof_error error = {0};
  for (int text = 0; text < 2; text++) {
    iso_driver_request read = {
        .kind = text ? ISO_EXECUTE : ISO_READ, .key = 2, .sql = "SELECT v FROM isoproof WHERE k = 2"};
    iso_begin(one, level("ser"), &reply);
    iso_begin(two, level("ser"), &reply);
    /* The second one has changed more and survives. */
    iso_write(one, 1, 5, &reply);
    iso_write(two, 2, 6, &reply);
    iso_write(two, 3, 6, &reply);
    iso_write(two, 4, 6, &reply);
    assert_ok_error(iso_start(one, &read, &error), error);
    assert_false(iso_poll(one, 100));
    iso_read(two, 1, &reply);
    iso_txn_state second = reply.txn;
    iso_finish(one, &reply);
    assert_true((second == ISO_TXN_ABORTED) != (reply.txn == ISO_TXN_ABORTED));
    if (reply.txn == ISO_TXN_ABORTED) assert_string_equal(reply.code, "1213");
    iso_rollback(one, &reply);
    assert_reply(&reply, OK, ABORTED);
    iso_rollback(two, &reply);
    assert_reply(&reply, OK, ABORTED);
    assert_int_equal(suite_value(db, 1), 0);
    assert_int_equal(suite_value(db, 2), 0);
  }
}

/* A lock timeout undoes its statement; what was written before is committed. */
static void lock_timeout_undoes_a_statement(void **state) {
  (void)state;
  iso_database_options options = {.lock_timeout_ms = 1000};
  fixture_open(server_url, &options);
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 2, &reply);
  iso_write(two, 1, 2, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_LOCK_TIMEOUT);
  assert_string_equal(reply.code, "1205");
  iso_commit(two, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_rollback(one, &reply);
  assert_int_equal(suite_value(db, 1), 0);
  assert_int_equal(suite_value(db, 2), 2);
}

/* The error of a row after the first one: the client library keeps it with the connection, not with the statement. */
static void error_between_rows(void **state) {
  (void)state;
  iso_database_options options = {.lock_timeout_ms = 1000};
  fixture_open(server_url, &options);
  for (int64_t key = 1; key < 400; key++) iso_write(one, key, key, &reply);
  iso_begin(one, NULL, &reply);
  iso_write(one, 399, 1000, &reply);
  iso_begin(two, level("ser"), &reply);
  iso_do(two, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = 1, .high = 400}, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_LOCK_TIMEOUT);
  assert_string_equal(reply.code, "1205");
  iso_rollback(two, &reply);
  assert_reply(&reply, OK, ABORTED);
  iso_rollback(one, &reply);
}

/* With innodb_snapshot_isolation a lost update is refused by error 1020, which rolls back everything. */
static void changed_record_undoes_everything(void **state) {
  (void)state;
  char url[256];
  snprintf(url, sizeof url, "%s?init=SET%%20SESSION%%20innodb_snapshot_isolation=ON", server_url);
  fixture_open(url, NULL);
  assert_string_equal(level("rr")->claims, "snapshot-isolation");
  iso_begin(one, level("rr"), &reply);
  iso_begin(two, level("rr"), &reply);
  iso_read(one, 1, &reply);
  iso_read(two, 1, &reply);
  iso_write(two, 2, 7, &reply);
  iso_write(one, 1, 1, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_write(two, 1, 2, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
  assert_string_equal(reply.code, "1020");
  iso_commit(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(suite_value(db, 1), 1);
  assert_int_equal(suite_value(db, 2), 0);
}

/* That the trap is real: a COMMIT sent after such an error is answered with OK. */
static void the_trap_exists(void **state) {
  (void)state;
  changed_record_undoes_everything(state);
  iso_begin(one, level("rr"), &reply);
  iso_begin(two, level("rr"), &reply);
  iso_read(two, 1, &reply);
  iso_write(two, 2, 8, &reply);
  iso_write(one, 1, 3, &reply);
  iso_commit(one, &reply);
  iso_write(two, 1, 4, &reply);
  assert_string_equal(reply.code, "1020");
  two->doomed = false; /* a client that does not know */
  two->txn = ISO_TXN_ACTIVE;
  iso_commit(two, &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_OK);
  assert_int_equal(suite_value(db, 2), 0);
}

static void statements_alone_undo_themselves(void **state) {
  (void)state;
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = 2, .value = 9}, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  assert_string_equal(reply.code, "1062");
  iso_execute(one, "SELEC 1", &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  iso_execute(one, "SELECT 1; SELECT 2", &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 1);
  /* A statement that commits implicitly is noticed. */
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 2, &reply);
  iso_execute(one, "CREATE TABLE implicit (a INT)", &reply);
  assert_reply(&reply, UNKNOWN, UNKNOWN);
  iso_execute(one, "DROP TABLE implicit", &reply);
  assert_reply(&reply, OK, COMMITTED);
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
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 2, &reply);
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 1, .value = 2}, &error), error);
  suite_blocked(control, two);
  assert_ok_error(iso_blocked(control, both, 2, blocked, &error), error);
  assert_true(blocked[1] && !blocked[0]);
  assert_true(iso_cancel(two));
  iso_finish(two, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_CANCELLED);
  assert_string_equal(reply.code, "1317");
  iso_commit(two, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_commit(one, &reply);
  assert_int_equal(suite_value(db, 1), 1);
  assert_int_equal(suite_value(db, 2), 2);
}

static void statement_timeout(void **state) {
  (void)state;
  iso_database_options options = {.statement_timeout_ms = 1000};
  fixture_open(server_url, &options);
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 2, &reply);
  iso_write(two, 1, 2, &reply); /* waits for a lock */
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  assert_string_equal(reply.code, "1969");
  iso_execute(two, "SELECT SLEEP(5)", &reply);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  iso_rollback(two, &reply);
  assert_reply(&reply, OK, ABORTED);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 2), 0);
}

/* The server ends the connection: between statements, and while a statement waits. */
static void killed(void **state) {
  (void)state;
  fixture_killed("KILL CONNECTION %u", "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = %u", NULL);
}

static void connection_loss(void **state) {
  (void)state;
  fixture_loss(server_url, "mysql://%s@127.0.0.1:%u/%s");
}

/* Each key has a partition of its own, the last one also what is beyond. */
static void partitions(void **state) {
  (void)state;
  iso_database_options options = {.partitions = 3};
  static const char *const keys[] = {"-1,0", "1", "2,3,4,5,6,7,8,9"};
  fixture_open(server_url, &options);
  iso_write(one, -1, 5, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_write(one, 2, 7, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 2), 7);
  for (int i = 0; i < 3; i++) {
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT GROUP_CONCAT(k ORDER BY k) FROM isoproof PARTITION (p%d)", i);
    iso_execute(one, sql, &reply);
    assert_reply(&reply, OK, COMMITTED);
    assert_string_equal(iso_reply_cell(&reply, 0, 0), keys[i]);
  }
}

static void connects_by_socket(void **state) {
  (void)state;
  const char *socket = getenv("ISOPROOF_TEST_MARIADB_SOCKET");
  iso_database *none = NULL;
  isoproof_error error = {0};
  if (socket != NULL) {
    char url[512];
    snprintf(url, sizeof url, "mariadb://root@/isoproof?socket=%s", socket);
    const char *urls[] = {url};
    assert_ok_error(iso_database_open(urls, 1, NULL, &none, &error), error);
    iso_database_close(none);
  }
  static const char *const bad[] = {"mariadb://root:secret@127.0.0.1:1/x", "mariadb://127.0.0.1:1/x?colour=red"};
  assert_int_equal(iso_database_open(&bad[0], 1, NULL, &none, &error), ISOPROOF_ERR_IO);
  assert_null(strstr(error.message, "secret"));
  assert_int_equal(iso_database_open(&bad[1], 1, NULL, &none, &error), ISOPROOF_ERR_USAGE);
}

/* libmariadb takes TLS for a wish, so that it would go on without. */
static void insists_on_tls(void **state) {
  (void)state;
  static const char *const asked[] = {"ssl=1", "ssl-mode=required", "tls-version=TLSv1.3"};
  iso_database *none = NULL;
  isoproof_error error = {0};
  char url[512];
  const char *urls[] = {url};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    snprintf(url, sizeof url, "%s?%s", server_url, asked[i]);
    assert_int_equal(iso_database_open(urls, 1, NULL, &none, &error), ISOPROOF_ERR_IO);
    assert_non_null(strstr(error.message, "asks for TLS"));
  }
  snprintf(url, sizeof url, "%s?ssl-mode=preferred", server_url);
  assert_ok_error(iso_database_open(urls, 1, NULL, &none, &error), error);
  iso_database_close(none);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixture_does_all),
      cmocka_unit_test(fixture_minds_tables),
      cmocka_unit_test(serves_rows),
      cmocka_unit_test(makes_rounds),
      cmocka_unit_test(takes_paths),
      cmocka_unit_test(does_batches),
      WITH_SERVER(knows_itself),
      WITH_SERVER(deadlock_undoes_everything),
      WITH_SERVER(error_while_fetching),
      cmocka_unit_test_teardown(lock_timeout_undoes_a_statement, fixture_close),
      cmocka_unit_test_teardown(error_between_rows, fixture_close),
      cmocka_unit_test_teardown(changed_record_undoes_everything, fixture_close),
      cmocka_unit_test_teardown(the_trap_exists, fixture_close),
      WITH_SERVER(statements_alone_undo_themselves),
      WITH_SERVER(tells_who_waits),
      cmocka_unit_test_teardown(statement_timeout, fixture_close),
      cmocka_unit_test_teardown(partitions, fixture_close),
      WITH_SERVER(killed),
      cmocka_unit_test(insists_on_tls),
      WITH_SERVER(connection_loss),
      cmocka_unit_test(connects_by_socket),
  };
  return fixture_run("ISOPROOF_TEST_MARIADB", tests, NULL, NULL);
}
