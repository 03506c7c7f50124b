/* driver_odbc.c - the driver for ODBC, with SQLite, PostgreSQL and MariaDB behind it:
 * tests/servers/with postgres mariadb -- PROGRAM.  What is not there is left out. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "database/drivers/odbc.h"
#include "tests/scratch.h"
#include "tests/unit/database/batch_suite.h"
#include "tests/unit/database/driver_fixture.h"
#include "tests/unit/database/driver_loss.h"
#include "tests/unit/database/rows_suite.h"
#include "tests/unit/database/tables_suite.h"

static char folder[SCRATCH_BYTES];
static char sqlite_url[SCRATCH_BYTES + 64], postgres_url[256], mariadb_url[256];

/* A connection string without a DSN, to the server of a URL at the given port (0: its own). */
static bool url_of(const char *variable, const char *format, uint32_t port, char *out, size_t size) {
  const char *text = getenv(variable);
  iso_url url;
  if (text == NULL || iso_url_parse(text, ISO_URL_FULL, &url, NULL) != ISOPROOF_OK) return false;
  snprintf(out, size, format, port != 0 ? port : url.port, url.path, url.user);
  iso_url_free(&url);
  return true;
}

#define POSTGRES "odbc:Driver=PostgreSQL Unicode;Servername=127.0.0.1;Port=%u;Database=%s;Username=%s;SSLmode=disable"
#define MARIADB "odbc:Driver=MariaDB Unicode;Server=127.0.0.1;Port=%u;Database=%s;Uid=%s"

/* Skips a test whose database, or whose ODBC driver, is not there. */
static void need(const char *url) {
  if (url[0] == 0) skip();
  iso_database *found = NULL;
  isoproof_error error = {0};
  if (iso_database_open(&url, 1, NULL, &found, &error) != ISOPROOF_OK) {
    print_message("%s: skipped\n", error.message);
    skip();
  }
  iso_database_close(found);
}

static void sqlite_does_all(void **state) {
  (void)state;
  need(sqlite_url);
  suite_all(sqlite_url);
}

static void postgres_does_all(void **state) {
  (void)state;
  need(postgres_url);
  suite_all(postgres_url);
}

static void mariadb_does_all(void **state) {
  (void)state;
  need(mariadb_url);
  suite_all(mariadb_url);
}

/* What a session has by itself is what the server says, whatever the ODBC driver says. */
static void expect_default(const char *url, const char *name) {
  iso_database *found = NULL;
  const iso_isolation *isolation = NULL;
  isoproof_error error = {0};
  need(url);
  assert_ok_error(iso_database_open(&url, 1, NULL, &found, &error), error);
  assert_ok_error(iso_database_find_isolation(found, NULL, &isolation, &error), error);
  assert_string_equal(isolation->name, name);
  iso_database_close(found);
}

static void default_of_mariadb(void **state) {
  (void)state;
  expect_default(mariadb_url, "repeatable read");
}

static void default_of_postgres(void **state) {
  (void)state;
  expect_default(postgres_url, "read committed");
}

static void serves_rows(void **state) {
  (void)state;
  const char *urls[] = {sqlite_url, postgres_url, mariadb_url};
  for (size_t i = 0; i < 3; i++) {
    need(urls[i]);
    rows_suite(urls[i]);
    rounds_suite(urls[i], 45);
    batch_suite(urls[i]);
  }
}

static void minds_tables(void **state) {
  (void)state;
  const char *urls[] = {sqlite_url, postgres_url, mariadb_url};
  for (size_t i = 0; i < 3; i++) {
    need(urls[i]);
    tables_suite(urls[i], NULL);
  }
}

/* As if nothing were known of what is behind the driver. */
static void make_unknown(iso_database *database) {
  database->dialect = ISO_SQL_PORTABLE;
  database->can.lists = false;
  iso_odbc_server *server = database->state;
  server->texts = ISO_SQL_PORTABLE;
}

static void minds_tables_of_unknown_databases(void **state) {
  (void)state;
  const char *urls[] = {sqlite_url, postgres_url, mariadb_url};
  for (size_t i = 0; i < 3; i++) {
    need(urls[i]);
    tables_suite(urls[i], make_unknown);
  }
}

/* A commit that is BUSY is rolled back, and says so. */
static void sqlite_busy_at_commit(void **state) {
  (void)state;
  need(sqlite_url);
  iso_database_options options = {.lock_timeout_ms = 50};
  fixture_open(sqlite_url, &options);
  iso_begin(one, NULL, &reply);
  iso_read(one, 1, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_execute(one, "SELECT k FROM isoproof", &reply);
  iso_begin(two, NULL, &reply);
  iso_write(two, 1, 10, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_BUSY);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 0);
  iso_begin(two, NULL, &reply);
  iso_write(two, 1, 11, &reply);
  iso_commit(two, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 11);
  fixture_close(NULL);
}

/* Two transactions wait for each other: one of them is aborted as a whole. */
static void deadlock(const char *url, const char *code) {
  need(url);
  isoproof_error error = {0};
  fixture_open(url, NULL);
  iso_begin(one, level("rc"), &reply);
  iso_begin(two, level("rc"), &reply);
  iso_write(one, 3, 31, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_write(two, 4, 42, &reply);
  iso_write(one, 1, 11, &reply);
  iso_write(two, 2, 22, &reply);
  assert_ok_error(iso_start(one, &(iso_driver_request){.kind = ISO_WRITE, .key = 2, .value = 12}, &error), error);
  assert_false(iso_poll(one, 50));
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 1, .value = 21}, &error), error);
  iso_txn_state ends[2];
  iso_connection *both[2] = {one, two};
  for (int i = 0; i < 2; i++) {
    iso_finish(both[i], &reply);
    ends[i] = reply.txn;
    if (reply.outcome == ISO_OUTCOME_OK) continue;
    assert_reply(&reply, ABORT, ABORTED);
    assert_string_equal(reply.code, code);
  }
  assert_true((ends[0] == ISO_TXN_ABORTED) != (ends[1] == ISO_TXN_ABORTED));
  iso_connection *loser = ends[0] == ISO_TXN_ABORTED ? one : two, *winner = loser == one ? two : one;
  iso_commit(loser, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  iso_commit(winner, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, loser == one ? 3 : 4), 0);
  assert_int_equal(suite_value(db, loser == one ? 4 : 3), loser == one ? 42 : 31);
  fixture_close(NULL);
}

static void postgres_deadlock(void **state) {
  (void)state;
  deadlock(postgres_url, "40P01");
}

static void mariadb_deadlock(void **state) {
  (void)state;
  deadlock(mariadb_url, "1213");
}

/* Errors of statements and of commits at the levels of PostgreSQL. */
static void postgres_conflicts(void **state) {
  (void)state;
  need(postgres_url);
  fixture_open(postgres_url, NULL);
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
  assert_string_equal(reply.code, "40001");
  iso_commit(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(suite_value(db, 1), 1);
  assert_int_equal(suite_value(db, 2), 0);
  /* Write skew: the second one fails, at its commit at the latest. */
  iso_begin(one, level("ser"), &reply);
  iso_begin(two, level("ser"), &reply);
  iso_read(one, 3, &reply);
  iso_read(two, 4, &reply);
  iso_write(one, 4, 1, &reply);
  iso_write(two, 3, 1, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_commit(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(suite_value(db, 3), 0);
  /* An error in the middle: nothing of it remains. */
  iso_begin(one, NULL, &reply);
  iso_write(one, 5, 5, &reply);
  iso_execute(one, "SELECT 1 / 0", &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  iso_commit(one, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(suite_value(db, 5), 0);
  /* A constraint that is checked at the commit. */
  iso_execute(one, "UPDATE isoproof SET l = k::text", &reply);
  iso_execute(one, "ALTER TABLE isoproof ADD CONSTRAINT u UNIQUE (l) DEFERRABLE INITIALLY DEFERRED", &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_begin(one, NULL, &reply);
  iso_execute(one, "UPDATE isoproof SET l = '1', v = 8 WHERE k IN (1, 2)", &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  assert_int_equal(suite_value(db, 2), 0);
  fixture_close(NULL);
}

/* The error that undoes one statement only ends the transaction here, so that nothing of it is committed. */
static void mariadb_lock_timeout(void **state) {
  (void)state;
  need(mariadb_url);
  iso_database_options options = {.lock_timeout_ms = 1000};
  fixture_open(mariadb_url, &options);
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 2, &reply);
  iso_write(two, 1, 2, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_LOCK_TIMEOUT);
  assert_string_equal(reply.code, "1205");
  iso_commit(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  iso_rollback(one, &reply);
  assert_int_equal(suite_value(db, 2), 0);
  fixture_close(NULL);
}

static void waiting_and_cancelling(const char *url) {
  need(url);
  isoproof_error error = {0};
  fixture_open(url, NULL);
  bool blocked[2];
  iso_connection *both[2] = {one, two};
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_begin(two, NULL, &reply);
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 1, .value = 2}, &error), error);
  suite_blocked(control, two);
  assert_ok_error(iso_blocked(control, both, 2, blocked, &error), error);
  assert_true(blocked[1] && !blocked[0]);
  assert_true(iso_cancel(two));
  assert_true(iso_poll(two, 10000));
  iso_finish(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_CANCELLED);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 1);
  fixture_close(NULL);
}

static void postgres_waiting(void **state) {
  (void)state;
  waiting_and_cancelling(postgres_url);
}

static void mariadb_waiting(void **state) {
  (void)state;
  waiting_and_cancelling(mariadb_url);
}

static void timeouts(const char *url, const char *slow) {
  need(url);
  iso_database_options options = {.statement_timeout_ms = 1000};
  fixture_open(url, &options);
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_execute(one, slow, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  assert_int_equal(suite_value(db, 1), 0);
  fixture_close(NULL);
}

static void postgres_timeout(void **state) {
  (void)state;
  timeouts(postgres_url, "SELECT pg_sleep(5)");
}

static void mariadb_timeout(void **state) {
  (void)state;
  timeouts(mariadb_url, "SELECT COUNT(*) FROM information_schema.COLUMNS a, information_schema.COLUMNS b, "
                        "information_schema.COLUMNS c");
}

static void loss(const char *variable, const char *format, const char *url) {
  need(url);
  fixture_open(url, NULL);
  isoproof_error error = {0};
  iso_url plain;
  assert_ok_error(iso_url_parse(getenv(variable), ISO_URL_FULL, &plain, &error), error);
  proxy *p = proxy_start(plain.port);
  iso_url_free(&plain);
  char through_url[256];
  const char *urls[] = {through_url};
  assert_true(url_of(variable, format, proxy_port(p), through_url, sizeof through_url));
  iso_database *through = NULL;
  iso_database_options options = {.table = iso_database_table_name(db)};
  assert_ok_error(iso_database_open(urls, 1, &options, &through, &error), error);
  loss_at_every_point(through, db, p);
  iso_database_close(through);
  proxy_stop(p);
  fixture_close(NULL);
}

static void postgres_loss(void **state) {
  (void)state;
  loss("ISOPROOF_TEST_POSTGRES", POSTGRES, postgres_url);
}

static void mariadb_loss(void **state) {
  (void)state;
  loss("ISOPROOF_TEST_MARIADB", MARIADB, mariadb_url);
}

static void cannot_connect(void **state) {
  (void)state;
  iso_database *none = NULL;
  isoproof_error error = {0};
  static const char *const bad[] = {"odbc:Driver=No Such Driver;Pwd=secret", "odbc:no-such-dsn", "odbc:"};
  for (size_t i = 0; i < 3; i++) {
    assert_true(iso_database_open(&bad[i], 1, NULL, &none, &error) != ISOPROOF_OK);
    assert_null(strstr(error.message, "secret"));
  }
}

int main(void) {
  if (!scratch_folder(folder)) return 1;
  snprintf(sqlite_url, sizeof sqlite_url, "odbc:Driver=SQLite3;Database=%s/database", folder);
  if (!url_of("ISOPROOF_TEST_POSTGRES", POSTGRES, 0, postgres_url, sizeof postgres_url)) postgres_url[0] = 0;
  if (!url_of("ISOPROOF_TEST_MARIADB", MARIADB, 0, mariadb_url, sizeof mariadb_url)) mariadb_url[0] = 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sqlite_does_all),
      cmocka_unit_test(sqlite_busy_at_commit),
      cmocka_unit_test(postgres_does_all),
      cmocka_unit_test(postgres_conflicts),
      cmocka_unit_test(postgres_deadlock),
      cmocka_unit_test(postgres_waiting),
      cmocka_unit_test(postgres_timeout),
      cmocka_unit_test(postgres_loss),
      cmocka_unit_test(default_of_postgres),
      cmocka_unit_test(default_of_mariadb),
      cmocka_unit_test(mariadb_does_all),
      cmocka_unit_test(mariadb_deadlock),
      cmocka_unit_test(mariadb_lock_timeout),
      cmocka_unit_test(mariadb_waiting),
      cmocka_unit_test(mariadb_timeout),
      cmocka_unit_test(mariadb_loss),
      cmocka_unit_test(minds_tables),
      cmocka_unit_test(serves_rows),
      cmocka_unit_test(minds_tables_of_unknown_databases),
      cmocka_unit_test(cannot_connect),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char path[SCRATCH_BYTES + 16];
  snprintf(path, sizeof path, "%s/database", folder);
  unlink(path);
  rmdir(folder);
  return failed;
}
