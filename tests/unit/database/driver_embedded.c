/* driver_embedded.c - DuckDB, where its library is found, and RocksDB: what every driver does, and the traps of each.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "database/driver_table.h"
#include "database/private_folder.h"
#include "tests/scratch.h"
#include "tests/unit/database/batch_suite.h"
#include "tests/unit/database/driver_fixture.h"
#include "tests/unit/database/rows_suite.h"
#include "tests/unit/unit.h"

/* Skips the test where the library, which is loaded when it is needed, is not there. */
static void need(const char *url) {
  iso_database *database = NULL;
  isoproof_error error = {0};
  isoproof_status status = iso_database_open(&url, 1, NULL, &database, &error);
  iso_database_close(database);
  if (status != ISOPROOF_ERR_UNSUPPORTED) return;
  print_message("[  SKIPPED ] %s\n", error.message);
  skip();
}

static isoproof_status open_only(const char *url, isoproof_error *error) {
  iso_database *database = NULL;
  isoproof_status status = iso_database_open(&url, 1, NULL, &database, error);
  iso_database_close(database);
  return status;
}

static char told[2000];

static void notice(const char *text, void *user) {
  (void)user;
  snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", text);
}

/* ---- DuckDB ---- */

#ifdef ISO_HAVE_DUCKDB

static void duckdb_does_all(void **state) {
  (void)state;
  need("duckdb:");
  suite_all("duckdb:");
  suite_all("duckdb::memory:?threads=1");
}

/* DuckDB 1.2.2 counts the rows of a whole table when such a statement is prepared, and never again. */
static bool counts_once(void) {
  iso_driver_request all = {.kind = ISO_COUNT, .key = INT64_MIN, .high = INT64_MAX};
  iso_database *database = suite_open_empty("duckdb::memory:", NULL);
  iso_connection *connection = suite_connect(database, 0);
  iso_do(connection, &all, &reply);
  assert_int_equal(reply.value, 0);
  iso_write(connection, 1, 1, &reply);
  iso_do(connection, &all, &reply);
  assert_reply(&reply, OK, COMMITTED);
  bool once = reply.value == 0;
  if (once) print_message("[  SKIPPED ] rows: %s counts them once only\n", iso_database_version(database));
  iso_disconnect(connection);
  suite_close(database);
  return once;
}

static void duckdb_serves_rows(void **state) {
  (void)state;
  need("duckdb:");
  if (counts_once()) skip();
  rows_suite("duckdb::memory:");
  rounds_suite("duckdb::memory:", 45);
  batch_suite("duckdb::memory:");
}

static void duckdb_needs_its_library(void **state) {
  (void)state;
  isoproof_error error = {0};
  assert_int_equal(open_only("duckdb:?lib=/nowhere/libduckdb.so", &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "/nowhere/libduckdb.so"));
  assert_int_equal(open_only("duckdb:?lib=libc.so.6", &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "no function duckdb_"));
  need("duckdb:");
  assert_int_equal(open_only("duckdb:?library=x", &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(open_only("duckdb:?threads=0", &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(open_only("duckdb:/nowhere/file", &error), ISOPROOF_ERR_IO);
  assert_non_null(strstr(error.message, "/nowhere/file"));
}

/* DuckDB answers OK to the COMMIT of a transaction that an error has aborted; who asks here is told the truth. */
static void duckdb_aborts_on_conflicts(void **state) {
  (void)state;
  need("duckdb:");
  fixture_open("duckdb::memory:", NULL);
  iso_begin(one, NULL, &reply);
  iso_begin(two, NULL, &reply);
  iso_write(one, 1, 10, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_write(two, 2, 20, &reply);
  iso_write(two, 1, 11, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
  assert_string_equal(reply.code, "TRANSACTION");
  iso_commit(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 10);
  assert_int_equal(suite_value(db, 2), 0);
  /* A statement that was not understood leaves the transaction as it is. */
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 12, &reply);
  iso_execute(one, "SELECT no_such_column FROM isoproof", &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  iso_execute(one, "SELECT 1; SELECT 2", &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 12);
  fixture_close(state);
}

/* A conflict that shows only at the commit: it fails, and nothing is left. */
static void duckdb_fails_at_commit(void **state) {
  (void)state;
  need("duckdb:");
  fixture_open("duckdb::memory:", NULL);
  iso_begin(one, NULL, &reply);
  iso_begin(two, NULL, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = 50, .value = 1}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_do(two, &(iso_driver_request){.kind = ISO_INSERT, .key = 50, .value = 2}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_write(two, 3, 30, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_commit(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
  iso_begin(two, NULL, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_rollback(two, &reply);
  assert_int_equal(suite_value(db, 50), 1);
  assert_int_equal(suite_value(db, 3), 0);
  /* Read only means it. */
  iso_do(one, &(iso_driver_request){.kind = ISO_BEGIN, .read_only = true}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_write(one, 1, 1, &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_READ_ONLY);
  iso_rollback(one, &reply);
  fixture_close(state);
}

static void delete_and_update(uint64_t round) {
  iso_begin(one, NULL, &reply);
  iso_begin(two, NULL, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_READ, .key = 3, .round = round}, &reply);
  assert_true(reply.present);
  iso_do(two, &(iso_driver_request){.kind = ISO_READ, .key = 3, .round = round}, &reply);
  assert_true(reply.present);
  iso_do(one, &(iso_driver_request){.kind = ISO_DELETE, .key = 3, .round = round}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.affected, 1);
  iso_do(two, &(iso_driver_request){.kind = ISO_UPDATE, .key = 3, .value = 4, .round = round}, &reply);
  bool allowed = reply.outcome == ISO_OUTCOME_OK;
  if (allowed) assert_int_equal(reply.affected, 1);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_commit(two, &reply);
  allowed = allowed && reply.outcome == ISO_OUTCOME_OK;
  if (allowed)
    assert_reply(&reply, OK, COMMITTED);
  else
    assert_reply(&reply, ABORT, ABORTED);
  iso_do(control, &(iso_driver_request){.kind = ISO_READ, .key = 3, .round = round}, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_false(reply.present);
  print_message("           %s: a deleted row was updated, both committed: %s\n", iso_database_version(db),
                allowed ? "yes" : "no");
}

/* A bug of DuckDB's (1.2.2 and 1.5.6): a row is deleted while another transaction updates it, and both commit.  Should
 * it be mended, the second one is told so.  In tables with and without a key, and in those of rounds. */
static void duckdb_loses_updates_of_deleted_rows(void **state) {
  (void)state;
  need("duckdb:");
  isoproof_error error = {0};
  for (iso_layout layout = ISO_LAYOUT_KEYED; layout < ISO_LAYOUTS; layout++) {
    if (layout == ISO_LAYOUT_HASHED) continue;
    iso_database_options options = {.layout = layout, .table = "isoproof"};
    const char *url = "duckdb::memory:";
    assert_ok_error(iso_database_open(&url, 1, &options, &db, &error), error);
    assert_ok_error(iso_database_setup(db, &error), error);
    one = suite_connect(db, 0), two = suite_connect(db, 0), control = suite_connect(db, 0);
    assert_ok_error(iso_database_make_rounds(db, 1, 30, &error), error);
    for (uint64_t round = 0; round < 2; round++) {
      iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = 3, .value = 30, .round = round}, &reply);
      assert_reply(&reply, OK, COMMITTED);
      delete_and_update(round);
    }
    assert_ok_error(iso_database_drop_rounds(db, 1, 20, &error), error);
    iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .high = 10, .round = 20}, &reply);
    assert_int_equal(reply.outcome, ISO_OUTCOME_REJECTED);
    iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .high = 10, .round = 21}, &reply);
    assert_reply(&reply, OK, COMMITTED);
    fixture_close(state); /* with the rounds that are left */
  }
}

/* The same through statements as text. */
static void duckdb_takes_plain_statements(void **state) {
  (void)state;
  need("duckdb:");
  fixture_open("duckdb::memory:", &(iso_database_options){.statements = ISO_SENDING_PLAIN});
  iso_begin(one, NULL, &reply);
  iso_append(one, 1, INT64_MIN, &reply);
  iso_append(one, 1, -7, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_UPDATE, .key = 2, .value = INT64_MIN}, &reply);
  assert_int_equal(reply.affected, 1);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_read_list(two, 1, &reply);
  assert_int_equal(reply.list.count, 2);
  assert_true(reply.list.items[0] == INT64_MIN);
  assert_true(suite_value(db, 2) == INT64_MIN);
  fixture_close(state);
}

static void duckdb_cancels_and_times_out(void **state) {
  (void)state;
  need("duckdb:");
  static const char endless[] = "SELECT SUM(a.range * b.range) FROM range(100000000) a, range(100000000) b";
  isoproof_error error = {0};
  fixture_open("duckdb::memory:", NULL);
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 5, &reply);
  /* From here on: on a busy machine, what comes before may take as long. */
  db->options.statement_timeout_ms = 100;
  iso_execute(one, endless, &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_ABORT);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  db->options.statement_timeout_ms = 0;
  bool active = reply.txn == ISO_TXN_ACTIVE;
  iso_commit(one, &reply);
  assert_int_equal(reply.txn, active ? ISO_TXN_COMMITTED : ISO_TXN_ABORTED);
  assert_int_equal(suite_value(db, 1), active ? 5 : 0);
  fixture_close(state);
  fixture_open("duckdb::memory:", NULL);
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_EXECUTE, .sql = endless}, &error), error);
  do assert_true(iso_cancel(two));
  while (!iso_poll(two, 50));
  iso_finish(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_CANCELLED);
  /* Gone while it works: nobody is left working. */
  assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_EXECUTE, .sql = endless}, &error), error);
  iso_disconnect(two);
  two = suite_connect(db, 0);
  iso_read(two, 1, &reply);
  assert_reply(&reply, OK, COMMITTED);
  fixture_close(state);
}

/* Files outlive the run, and what is somebody else's in them stays as it is. */
static void duckdb_uses_files(void **state) {
  (void)state;
  need("duckdb:");
  char folder[SCRATCH_BYTES], url[SCRATCH_BYTES + 16];
  const char *urls[] = {url};
  isoproof_error error = {0};
  iso_database *database = NULL;
  assert_true(scratch_folder(folder));
  snprintf(url, sizeof url, "duckdb:%s/x%%20y", folder);
  fixture_open(url, &(iso_database_options){.table = "first"});
  iso_execute(one, "CREATE TABLE orders (id INTEGER)", &reply);
  assert_reply(&reply, OK, COMMITTED);
  /* The same file twice in one process would be the end of it. */
  assert_int_equal(open_only(url, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "open already"));
  fixture_close(state);
  iso_database_options taken = {.table = "Orders"};
  assert_ok_error(iso_database_open(urls, 1, &taken, &database, &error), error);
  assert_int_equal(iso_database_setup(database, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "was not made by isoproof"));
  iso_database_close(database);
  /* Kept on purpose, by a run of this very process: others leave it alone, and say so. */
  iso_database_options kept = {.table = "kept", .keep_tables = true, .notice = notice};
  database = suite_open(url, &kept);
  suite_close(database);
  assert_ok_error(iso_database_open(urls, 1, &kept, &database, &error), error);
  assert_int_equal(iso_database_setup(database, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "is still going on"));
  iso_database_close(database);
  iso_private_folder_remove(folder);
}

#endif

/* ---- RocksDB ---- */

#ifdef ISO_HAVE_ROCKSDB

static void rocksdb_does_all(void **state) {
  (void)state;
  need("rocksdb:");
  suite_all("rocksdb:");
  suite_all("rocksdb:?transactions=optimistic");
}

/* The second of two transactions that write what they read gets an error: at the write, or at the commit. */
static void rocksdb_checks_snapshots(void **state) {
  (void)state;
  need("rocksdb:");
  for (int optimistic = 0; optimistic < 2; optimistic++) {
    fixture_open(optimistic ? "rocksdb:?transactions=optimistic" : "rocksdb:?transactions=pessimistic", NULL);
    iso_begin(one, level("rr"), &reply);
    iso_begin(two, level("rr"), &reply);
    iso_write(one, 1, 10, &reply);
    iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = 11, .value = 1}, &reply);
    iso_commit(one, &reply);
    assert_reply(&reply, OK, COMMITTED);
    iso_read(two, 1, &reply);
    assert_int_equal(reply.value, 0);
    iso_do(two, &(iso_driver_request){.kind = ISO_COUNT, .key = 0, .high = 100}, &reply);
    assert_int_equal(reply.value, 10);
    iso_write(two, 1, 11, &reply);
    if (optimistic) {
      assert_reply(&reply, OK, ACTIVE);
      iso_commit(two, &reply);
      assert_reply(&reply, ABORT, ABORTED);
    } else {
      assert_reply(&reply, ABORT, ACTIVE);
    }
    assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
    assert_string_equal(reply.code, "Busy");
    iso_rollback(two, &reply);
    assert_int_equal(suite_value(db, 1), 10);
    fixture_close(state);
  }
}

/* Without a snapshot a transaction sees what was committed meanwhile; an iterator sees one moment, and own writes. */
static void rocksdb_reads_what_is_committed(void **state) {
  (void)state;
  need("rocksdb:");
  fixture_open("rocksdb:", NULL);
  iso_begin(one, level("rc"), &reply);
  iso_read(one, 1, &reply);
  assert_int_equal(reply.value, 0);
  iso_do(one, &(iso_driver_request){.kind = ISO_DELETE, .key = 2}, &reply);
  assert_int_equal(reply.affected, 1);
  iso_write(one, 12, -1, &reply);
  iso_write(two, 1, 10, &reply);
  iso_write(two, 11, 11, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_read(one, 1, &reply);
  assert_int_equal(reply.value, 10);
  iso_do(one, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = 0, .high = 100}, &reply);
  assert_int_equal(reply.rows.count, 11);
  assert_int_equal(reply.rows.items[2].key, 3);
  assert_int_equal(reply.rows.items[10].value, -1);
  iso_rollback(one, &reply);
  iso_begin(one, level("ser"), &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = 0, .high = 100}, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  assert_non_null(strstr(reply.message, "no locks of ranges"));
  iso_rollback(one, &reply);
  fixture_close(state);
}

static void rocksdb_waits_for_locks(void **state) {
  (void)state;
  need("rocksdb:");
  isoproof_error error = {0};
  iso_driver_request write = {.kind = ISO_WRITE, .key = 1, .value = 2};
  fixture_open("rocksdb:", &(iso_database_options){.lock_timeout_ms = 50});
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_begin(two, NULL, &reply);
  iso_do(two, &write, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_LOCK_TIMEOUT);
  fixture_close(state);
  fixture_open("rocksdb:", &(iso_database_options){.lock_timeout_ms = 600000});
  iso_begin(one, level("ser"), &reply);
  iso_read(one, 1, &reply);
  db->options.statement_timeout_ms = 50;
  iso_begin(two, level("ser"), &reply);
  iso_read(two, 1, &reply); /* GetForUpdate takes a key for itself */
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  fixture_close(state);
  fixture_open("rocksdb:", &(iso_database_options){.lock_timeout_ms = 600000});
  iso_begin(one, NULL, &reply);
  iso_write(one, 1, 1, &reply);
  iso_write(two, 2, 2, &reply);
  assert_ok_error(iso_start(two, &write, &error), error);
  suite_blocked(control, two);
  assert_true(iso_cancel(two));
  iso_finish(two, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_CANCELLED);
  /* Who closes a circle is told at once. */
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 20, &reply);
  assert_ok_error(iso_start(two, &write, &error), error);
  suite_blocked(control, two);
  iso_write(one, 2, 21, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_DEADLOCK);
  assert_string_equal(reply.code, "Deadlock");
  iso_rollback(one, &reply);
  iso_finish(two, &reply);
  assert_reply(&reply, OK, ACTIVE);
  fixture_close(state);
}

static void rocksdb_needs_its_library(void **state) {
  (void)state;
  isoproof_error error = {0};
  assert_int_equal(open_only("rocksdb:?lib=/nowhere/librocksdb.so", &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "/nowhere/librocksdb.so"));
  assert_int_equal(open_only("rocksdb:?lib=libc.so.6", &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "no function rocksdb_"));
}

/* A folder of somebody else's is left as it is; in one of ours, what runs that are gone have left is removed. */
static void rocksdb_keeps_to_its_folder(void **state) {
  (void)state;
  need("rocksdb:");
  char folder[SCRATCH_BYTES], path[SCRATCH_BYTES + 32], url[SCRATCH_BYTES + 64];
  isoproof_error error = {0};
  iso_database *database = NULL;
  const char *urls[] = {url};
  assert_true(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/letter", folder);
  close(open(path, O_CREAT | O_WRONLY, 0600));
  snprintf(url, sizeof url, "rocksdb:%s", folder);
  assert_int_equal(open_only(url, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "nothing was changed"));
  unlink(path);
  assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(open_only("rocksdb:/nowhere/at/all", &error), ISOPROOF_ERR_IO);
  assert_int_equal(open_only("rocksdb:?transactions=none", &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(open_only("rocksdb:?sync=often", &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(open_only("rocksdb:?cache=1", &error), ISOPROOF_ERR_USAGE);
  snprintf(url, sizeof url, "rocksdb:%s/new", folder);
  /* One that keeps its keys, and one that goes without removing them. */
  database = suite_open(url, &(iso_database_options){.keep_tables = true});
  suite_close(database);
  database = suite_open(url, NULL);
  assert_int_equal(open_only(url, &error), ISOPROOF_ERR_IO); /* a store is open only once */
  iso_database_close(database);
  iso_database_options options = {.notice = notice};
  told[0] = 0;
  assert_ok_error(iso_database_open(urls, 1, &options, &database, &error), error);
  assert_true(iso_database_capabilities(database).persistent);
  assert_ok_error(iso_database_setup(database, &error), error);
  assert_true(suite_value(database, 1) == INT64_MIN);
  suite_close(database);
  const char *first = strstr(told, "removed the keys of run ");
  assert_non_null(first);
  assert_null(strstr(first + 1, "removed the keys of run ")); /* what was kept stays */
  iso_private_folder_remove(folder);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef ISO_HAVE_DUCKDB
      cmocka_unit_test(duckdb_does_all),
      cmocka_unit_test(duckdb_serves_rows),
      cmocka_unit_test(duckdb_needs_its_library),
      cmocka_unit_test(duckdb_aborts_on_conflicts),
      cmocka_unit_test(duckdb_fails_at_commit),
      cmocka_unit_test(duckdb_loses_updates_of_deleted_rows),
      cmocka_unit_test(duckdb_takes_plain_statements),
      cmocka_unit_test(duckdb_cancels_and_times_out),
      cmocka_unit_test(duckdb_uses_files),
#endif
#ifdef ISO_HAVE_ROCKSDB
      cmocka_unit_test(rocksdb_does_all),
      cmocka_unit_test(rocksdb_checks_snapshots),
      cmocka_unit_test(rocksdb_reads_what_is_committed),
      cmocka_unit_test(rocksdb_waits_for_locks),
      cmocka_unit_test(rocksdb_needs_its_library),
      cmocka_unit_test(rocksdb_keeps_to_its_folder),
#endif
      {0},
  };
  return _cmocka_run_group_tests("embedded", tests, sizeof tests / sizeof *tests - 1, NULL, NULL);
}
