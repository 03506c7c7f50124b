/* driver_firebird.c - the driver for Firebird against a server: tests/servers/with firebird -- PROGRAM. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/database/driver_fixture.h"

static int open_limited(void **state) {
  (void)state;
  iso_database_options options = {.lock_timeout_ms = 1000};
  fixture_open(server_url, &options);
  return 0;
}

static void knows_itself(void **state) {
  (void)state;
  assert_non_null(strstr(iso_database_version(db), "Firebird 3"));
  assert_string_equal(level("rc")->claims, "read-committed");
  assert_string_equal(level("snapshot")->claims, "snapshot-isolation");
  assert_string_equal(level("SNAPSHOT_TABLE_STABILITY")->claims, "serializable");
  assert_string_equal(level(NULL)->name, "snapshot");
  assert_true(iso_connection_server_id(one) != iso_connection_server_id(two));
}

/* A transaction sees what was committed when it was begun, not when it first read. */
static void snapshot_is_taken_by_begin(void **state) {
  (void)state;
  iso_begin(one, level("snapshot"), &reply);
  iso_write(two, 1, 7, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_read(one, 1, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.value, 0);
  iso_write(one, 1, 8, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
  assert_string_equal(reply.code, "40001");
  /* The statement was undone, nothing else. */
  iso_write(one, 2, 9, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 7);
  assert_int_equal(suite_value(db, 2), 9);
  iso_begin(one, level("read committed"), &reply);
  iso_write(two, 1, 10, &reply);
  iso_read(one, 1, &reply);
  assert_int_equal(reply.value, 10);
  iso_rollback(one, &reply);
}

/* Documented as serializable by locks of tables, but the snapshot is older than the locks: T1 begins, T2 reads s,
 * writes m and commits, T1 reads the old m, writes s and commits. */
static void table_stability_allows_write_skew(void **state) {
  (void)state;
  iso_database_options options = {.tables = 2, .lock_timeout_ms = 1000};
  fixture_open(server_url, &options);
  const int64_t s = 0, m = 1; /* in different tables */
  iso_begin(one, level("snapshot table stability"), &reply);
  iso_begin(two, level("snapshot table stability"), &reply);
  iso_read(two, s, &reply);
  assert_int_equal(reply.value, 0);
  iso_write(two, m, 5, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(two, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_read(one, m, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.value, 0);
  iso_write(one, s, 6, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
}

static void deadlock_undoes_a_statement(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_begin(one, level("snapshot"), &reply);
  iso_begin(two, level("snapshot"), &reply);
  iso_write(one, 1, 11, &reply);
  iso_write(two, 2, 22, &reply);
  assert_ok_error(iso_start(one, &(iso_driver_request){.kind = ISO_WRITE, .key = 2, .value = 12}, &error), error);
  assert_false(iso_poll(one, 100));
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 1, .value = 21}, &error), error);
  while (!iso_poll(one, 20) && !iso_poll(two, 20)) continue;
  iso_connection *loser = iso_poll(one, 0) ? one : two, *winner = loser == one ? two : one;
  iso_finish(loser, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_string_equal(reply.code, "40001");
  iso_rollback(loser, &reply);
  assert_reply(&reply, OK, ABORTED);
  iso_finish(winner, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(winner, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), winner == one ? 11 : 21);
}

static void lock_timeout_undoes_a_statement(void **state) {
  (void)state;
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 2, &reply);
  iso_write(two, 1, 2, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION); /* in the words of the server, not a timeout */
  iso_commit(two, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_rollback(one, &reply);
  assert_int_equal(suite_value(db, 1), 0);
  assert_int_equal(suite_value(db, 2), 2);
}

static void statements_alone_undo_themselves(void **state) {
  (void)state;
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = 2, .value = 9}, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_CONSTRAINT);
  assert_string_equal(reply.code, "23000");
  iso_execute(one, "SELEC 1", &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_STATEMENT);
  iso_execute(one, "SET TRANSACTION SNAPSHOT", &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 3, .value = INT64_MAX}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 3, .value = INT64_MAX}, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 1);
  /* A key that comes while it is being put there is a conflict, not a fault. */
  isoproof_error error = {0};
  iso_begin(one, NULL, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(one, 50, 1, &reply);
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 50, .value = 2}, &error), error);
  assert_false(iso_poll(two, 100));
  iso_commit(one, &reply);
  iso_finish(two, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
  iso_rollback(two, &reply);
  /* What fails alone leaves nothing that the next statement would commit. */
  iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = 2, .value = 9}, &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  iso_write(one, 4, 44, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 2), 0);
}

static void rows_are_changed_and_counted(void **state) {
  (void)state;
  iso_begin(one, NULL, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_UPDATE, .key = 3, .value = 30}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.affected, 1);
  iso_do(one, &(iso_driver_request){.kind = ISO_UPDATE, .key = 300, .value = 30}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.affected, 0);
  iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .key = 2, .high = 5}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.value, 4);
  iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .key = 30, .high = 31, .by_value = true}, &reply);
  assert_int_equal(reply.value, 1);
  iso_execute(one, "UPDATE isoproof SET v = 1 WHERE k < 4", &reply);
  assert_int_equal(reply.affected, 4);
  iso_execute(one, "DELETE FROM isoproof WHERE k = 4 RETURNING k, v, CAST('x' AS CHAR(3))", &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_string_equal(iso_reply_cell(&reply, 0, 0), "4");
  assert_string_equal(iso_reply_cell(&reply, 0, 2), "x  ");
  iso_execute(one, "SELECT CURRENT_DATE, 1.50, l FROM isoproof WHERE k = 1", &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_string_equal(iso_reply_cell(&reply, 0, 1), "1.50");
  assert_null(iso_reply_cell(&reply, 0, 2));
  iso_rollback(one, &reply);
}

/* Longer than what comes with its row, and than one piece of what follows. */
static void long_lists(void **state) {
  (void)state;
  enum { ELEMENTS = 6000 };
  iso_begin(one, level("snapshot"), &reply);
  for (int64_t i = 0; i < ELEMENTS; i++) {
    iso_append(one, 1, i * 1000003, &reply);
    assert_reply(&reply, OK, ACTIVE);
  }
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  for (int alone = 0; alone < 2; alone++) {
    if (!alone) iso_begin(one, level("read committed"), &reply);
    iso_read_list(one, 1, &reply);
    assert_int_equal(reply.list.count, ELEMENTS);
    assert_int_equal(reply.list.items[ELEMENTS - 1], (ELEMENTS - 1) * INT64_C(1000003));
    iso_rollback(one, &reply);
  }
  iso_execute(one, "UPDATE isoproof SET l = '1,x' WHERE k = 1", &reply);
  iso_read_list(one, 1, &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_REJECTED);
  assert_true(reply.garbled);
}

static void cancels(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 2, &reply);
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 1, .value = 2}, &error), error);
  for (int i = 0; i < 100 && !iso_poll(two, 100); i++) assert_true(iso_cancel(two));
  iso_finish(two, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_CANCELLED);
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
  iso_execute(two,
              "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d WHERE a.RDB$FIELD_NAME || "
              "b.RDB$FIELD_NAME || c.RDB$FIELD_NAME = d.RDB$FIELD_NAME",
              &reply);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  iso_rollback(two, &reply);
  assert_reply(&reply, OK, ABORTED);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 2), 0);
}

/* The server ends a connection between its statements. */
static void killed(void **state) {
  (void)state;
  isoproof_error error = {0};
  char sql[100];
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 9, &reply);
  snprintf(sql, sizeof sql, "DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = %u",
           (unsigned)iso_connection_server_id(two));
  iso_execute(control, sql, &reply);
  assert_reply(&reply, OK, COMMITTED);
  for (int i = 0; i < 1000; i++) {
    snprintf(sql, sizeof sql, "SELECT 1 FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = %u",
             (unsigned)iso_connection_server_id(two));
    iso_execute(control, sql, &reply);
    if (reply.cells.count == 0) break;
    usleep(10000);
  }
  iso_commit(two, &reply);
  assert_reply(&reply, UNKNOWN, UNKNOWN);
  assert_false(iso_connected(two));
  assert_ok_error(iso_reconnect(two, &error), error);
  assert_int_equal(suite_value(db, 2), 0);
}

static void connection_loss(void **state) {
  (void)state;
  fixture_loss(server_url, "firebird://%s:isoproof@127.0.0.1:%u/%s");
}

/* Many sessions, each with a register of its own. */
static void many_sessions(void **state) {
  (void)state;
  fixture_many_sessions("snapshot");
}

static void refuses_bad_urls(void **state) {
  (void)state;
  static const char *const bad[] = {"firebird://SYSDBA:hidden@127.0.0.1:1/x/y.fdb", "firebird:/no/such/folder/x.fdb"};
  static const char *const wrong[] = {"firebird://h", "firebird:", "firebird://h/x?colour=red"};
  iso_database *none = NULL;
  isoproof_error error = {0};
  for (size_t i = 0; i < 2; i++) assert_int_equal(iso_database_open(&bad[i], 1, NULL, &none, &error), ISOPROOF_ERR_IO);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(iso_database_open(&wrong[i], 1, NULL, &none, &error), ISOPROOF_ERR_USAGE);
  char url[512];
  const char *urls[] = {url};
  const char *rest = strchr(server_url, '@');
  snprintf(url, sizeof url, "firebird://SYSDBA:hidden%s", rest);
  assert_int_equal(iso_database_open(urls, 1, NULL, &none, &error), ISOPROOF_ERR_IO);
  assert_null(strstr(error.message, "hidden"));
  snprintf(url, sizeof url, "firebird://SYSDBA%s", rest);
  iso_database_options options = {.password = "isoproof"};
  assert_ok_error(iso_database_open(urls, 1, &options, &none, &error), error);
  iso_database_close(none);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixture_does_all),
      cmocka_unit_test(fixture_minds_tables),
      WITH_SERVER(knows_itself),
      WITH_SERVER(snapshot_is_taken_by_begin),
      cmocka_unit_test_teardown(table_stability_allows_write_skew, fixture_close),
      WITH_SERVER(deadlock_undoes_a_statement),
      cmocka_unit_test_setup_teardown(lock_timeout_undoes_a_statement, open_limited, fixture_close),
      WITH_SERVER(statements_alone_undo_themselves),
      WITH_SERVER(rows_are_changed_and_counted),
      WITH_SERVER(long_lists),
      WITH_SERVER(cancels),
      cmocka_unit_test_teardown(statement_timeout, fixture_close),
      WITH_SERVER(killed),
      WITH_SERVER(many_sessions),
      WITH_SERVER(connection_loss),
      cmocka_unit_test(refuses_bad_urls),
  };
  return fixture_run("ISOPROOF_TEST_FIREBIRD", tests, NULL, NULL);
}
