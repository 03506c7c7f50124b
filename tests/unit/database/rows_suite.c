/* rows_suite.c - rows in every layout, by every path, in ordinary tables and in those of rounds. */
#include "tests/unit/database/rows_suite.h"

#include <stdio.h>
#include <string.h>

#include "database/driver_table.h"
#include "tests/unit/database/driver_suite.h"
#include "tests/unit/unit.h"

static iso_database *database;
static iso_connection *connection;
static iso_reply reply;
static uint64_t round_number; /* of every request */

static void request(iso_request_kind kind, int64_t key, int64_t value_or_high, bool by_value) {
  iso_driver_request made = {.kind = kind, .key = key, .by_value = by_value, .round = round_number};
  if (kind == ISO_READ_RANGE || kind == ISO_COUNT)
    made.high = value_or_high;
  else
    made.value = value_or_high;
  iso_do(connection, &made, &reply);
}

static void good(iso_request_kind kind, int64_t key, int64_t value_or_high, int64_t affected) {
  request(kind, key, value_or_high, false);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.affected, affected);
}

static void counts(int64_t low, int64_t high, bool by_value, int64_t wanted) {
  request(ISO_COUNT, low, high, by_value);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.value, wanted);
  assert_int_equal(reply.rows.count, 0);
  request(ISO_READ_RANGE, low, high, by_value);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.rows.count, wanted);
  for (size_t i = 1; i < reply.rows.count; i++) assert_true(reply.rows.items[i - 1].key <= reply.rows.items[i].key);
}

static void reads(int64_t key, bool present, int64_t value) {
  request(ISO_READ, key, 0, false);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.present, present);
  if (present) assert_true(reply.value == value);
}

/* From an empty table to an empty table. */
static void check_rows(bool tagged) {
  iso_begin(connection, NULL, &reply);
  counts(INT64_MIN, INT64_MAX, false, 0);
  counts(1, 1, false, 0);
  good(ISO_UPDATE, 1, 5, 0);
  good(ISO_DELETE, 1, 0, 0);
  for (int64_t i = 0; i < 5; i++) good(ISO_INSERT, 10 + i, -100 * i, 1);
  good(ISO_INSERT, -3, tagged ? 1 : INT64_MIN, 1);
  good(ISO_UPDATE, 12, 7, 1);
  good(ISO_UPDATE, 12, 7, 1); /* to what it is: a row that is there */
  reads(12, true, 7);
  reads(13, true, -300);
  reads(-3, true, tagged ? 1 : INT64_MIN);
  reads(99, false, 0);
  counts(10, 14, false, 5);
  counts(11, 13, false, 3);
  counts(12, 12, false, 1);
  counts(14, 10, false, 0);
  counts(INT64_MIN, 11, false, 3);
  counts(12, INT64_MAX, false, 3);
  counts(INT64_MIN, INT64_MAX, false, 6);
  counts(INT64_MIN, INT64_MAX, true, 6);
  counts(-300, -100, true, 2);
  counts(7, 7, true, 1);
  good(ISO_DELETE, 12, 0, 1);
  counts(INT64_MIN, INT64_MAX, false, 5);
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  request(ISO_COUNT, 10, 14, false); /* by itself */
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(reply.value, 4);
  request(ISO_INSERT, 10, 1, false);
  if (iso_database_capabilities(database).keyless) {
    assert_reply(&reply, OK, COMMITTED);
    iso_begin(connection, NULL, &reply);
    counts(10, 10, false, 2);
    good(ISO_UPDATE, 10, 3, 2);
    good(ISO_DELETE, 10, 0, 2);
    iso_rollback(connection, &reply);
  } else {
    assert_reply(&reply, REJECTED, ABORTED);
    assert_int_equal(reply.error_class, ISO_CLASS_CONSTRAINT);
  }
  iso_begin(connection, NULL, &reply);
  for (int64_t i = 0; i < 5; i++) {
    request(ISO_DELETE, 10 + i, 0, false);
    assert_reply(&reply, OK, ACTIVE);
  }
  good(ISO_DELETE, -3, 0, 1);
  counts(INT64_MIN, INT64_MAX, false, 0);
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
}

/* What needs a primary key is refused without one, and harms nothing. */
static void check_keyless(void) {
  static const iso_request_kind kinds[] = {ISO_WRITE, ISO_INCREMENT, ISO_APPEND, ISO_READ_LIST};
  bool keyless = iso_database_capabilities(database).keyless;
  assert_int_equal(keyless, database->options.layout != ISO_LAYOUT_KEYED);
  if (!keyless) return;
  assert_false(iso_database_capabilities(database).lists);
  iso_begin(connection, NULL, &reply);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    request(kinds[i], 1, 1, false);
    assert_reply(&reply, REJECTED, ACTIVE);
    assert_int_equal(reply.error_class, ISO_CLASS_CLIENT);
    assert_non_null(strstr(reply.message, "primary key"));
  }
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
}

/* Statements made ready: not within a transaction, and used in the next. */
static void check_prepare(void) {
  static const iso_request_kind kinds[] = {ISO_COUNT, ISO_INSERT, ISO_UPDATE, ISO_DELETE, ISO_READ};
  iso_driver_request made = {.round = round_number};
  iso_txn_state before = connection->txn;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    made.kind = kinds[i];
    iso_prepare(connection, &made, &reply);
    assert_int_equal(reply.outcome, ISO_OUTCOME_OK);
    assert_int_equal(reply.txn, before);
  }
  iso_prepare(connection, &(iso_driver_request){.kind = ISO_COMMIT}, &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_OK);
  iso_begin(connection, NULL, &reply);
  iso_prepare(connection, &made, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_STATE);
  iso_rollback(connection, &reply);
}

/* As text first, in a round, and then prepared. */
static void check_in(uint64_t number, bool tagged) {
  round_number = number;
  check_rows(tagged);
  check_keyless();
  check_prepare();
  if (number > 0) check_rows(tagged);
}

/* Where the options make no sense they are refused in words; true when they do. */
static bool make_sense(const iso_database *plain, const iso_database_options *options, bool opened,
                       const char *message) {
  bool odbc = strcmp(iso_driver_name(iso_database_driver(plain)), "odbc") == 0;
  bool postgres = plain->dialect == ISO_SQL_POSTGRES, by_index = options->access == ISO_ACCESS_INDEX;
  bool wanted = options->layout != ISO_LAYOUT_HASHED || postgres;
  if (options->access == ISO_ACCESS_BITMAP) wanted = wanted && postgres && !odbc;
  if (options->access != ISO_ACCESS_AUTO && odbc) wanted = false;
  if (options->layout == ISO_LAYOUT_HEAP && (by_index || options->access == ISO_ACCESS_BITMAP)) wanted = false;
  if (wanted != opened)
    fail_msg("%s, %s: %s", iso_layout_name(options->layout), iso_access_name(options->access),
             opened ? "not refused" : message);
  if (!opened) assert_true(strstr(message, "layout") != NULL || strstr(message, "access") != NULL);
  return opened;
}

static void check_combination(const char *url, const iso_database *plain, iso_database_options options) {
  isoproof_error error = {0};
  database = NULL;
  isoproof_status status = iso_database_open(&url, 1, &options, &database, &error);
  if (!make_sense(plain, &options, status == ISOPROOF_OK, error.message)) {
    assert_int_equal(status, ISOPROOF_ERR_UNSUPPORTED);
    return;
  }
  assert_ok_error(iso_database_setup(database, &error), error);
  assert_ok_error(iso_database_make_rounds(database, 1, 3, &error), error);
  connection = suite_connect(database, 0);
  bool tagged = options.tag_bits > 0;
  bool all = options.access == ISO_ACCESS_AUTO;
  for (uint64_t i = 0; i <= (all ? 3U : 1U); i++) check_in(i, tagged);
  /* The session that comes after a reconnect is like the first. */
  assert_ok_error(iso_reconnect(connection, &error), error);
  round_number = 1;
  check_rows(tagged);
  assert_ok_error(iso_database_verify(database, &error), error);
  iso_disconnect(connection);
  suite_close(database);
}

void rows_suite(const char *url) {
  iso_database *plain = NULL;
  isoproof_error error = {0};
  assert_ok_error(iso_database_open(&url, 1, NULL, &plain, &error), error);
  for (unsigned layout = 0; layout < ISO_LAYOUTS; layout++)
    for (unsigned access = 0; access < ISO_ACCESSES; access++)
      for (unsigned how = 0; how < ISO_SENDINGS; how++)
        check_combination(url, plain,
                          (iso_database_options){.layout = (iso_layout)layout,
                                                 .access = (iso_access)access,
                                                 .statements = (iso_sending)how,
                                                 .tables = 1 + (layout + how) % 2 * 2,
                                                 .tag_bits = how == 0 ? 0 : 8});
  iso_database_close(plain);
  iso_reply_free(&reply);
  memset(&reply, 0, sizeof reply);
}

/* ---- rounds ---- */

static bool is_there(uint64_t number) {
  round_number = number;
  request(ISO_COUNT, 1, 1, false);
  return reply.outcome == ISO_OUTCOME_OK;
}

/* A table of somebody else's that has the name of a round stays, and nothing of the others is left. */
static void check_taken_name(void) {
  isoproof_error error = {0};
  char name[ISO_TABLE_BYTES], sql[100];
  iso_database_round_table(database, 5002, name);
  snprintf(sql, sizeof sql, "CREATE TABLE %s (k INTEGER, v INTEGER)", name);
  iso_execute(connection, sql, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(iso_database_make_rounds(database, 5001, 3, &error), ISOPROOF_ERR_IO);
  assert_non_null(strstr(error.message, "5001"));
  assert_false(is_there(5001) || is_there(5003));
  snprintf(sql, sizeof sql, "DROP TABLE %s", name);
  iso_execute(connection, sql, &reply);
  assert_reply(&reply, OK, COMMITTED);
}

void rounds_suite(const char *url, uint64_t count) {
  isoproof_error error = {0};
  iso_database_options options = {.layout = ISO_LAYOUT_INDEXED, .keep_tables = false, .tag_bits = 8};
  database = NULL;
  assert_ok_error(iso_database_open(&url, 1, &options, &database, &error), error);
  assert_int_equal(iso_database_make_rounds(database, 1, 1, &error), ISOPROOF_ERR_USAGE);
  assert_ok_error(iso_database_setup(database, &error), error);
  connection = suite_connect(database, 0);
  assert_int_equal(iso_database_make_rounds(database, 0, 1, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(iso_database_make_rounds(database, ISO_MOST_ROUND, 2, &error), ISOPROOF_ERR_USAGE);
  assert_ok_error(iso_database_make_rounds(database, 1, count, &error), error);
  assert_true(is_there(1) && is_there(count) && !is_there(count + 1));
  /* While a session works in one of them, others come and go. */
  iso_begin(connection, NULL, &reply);
  round_number = count;
  good(ISO_INSERT, 1, 1, 1);
  if (database->dialect != ISO_SQL_SQLITE) {
    assert_ok_error(iso_database_make_rounds(database, count + 1, 5, &error), error);
    assert_ok_error(iso_database_drop_rounds(database, 1, count - 1, &error), error);
  }
  counts(1, 1, false, 1);
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  /* A statement of a table that is gone says so, by the name of the round. */
  assert_ok_error(iso_database_drop_rounds(database, 1, count - 1, &error), error);
  round_number = 1;
  request(ISO_COUNT, 1, 1, false);
  assert_int_equal(reply.outcome, ISO_OUTCOME_FOREIGN);
  assert_non_null(strstr(reply.message, "_r1 is no longer there"));
  assert_true(is_there(count));
  check_taken_name();
  assert_ok_error(iso_database_make_rounds(database, count + 100, 2, &error), error);
  /* What is left goes with the run. */
  assert_ok_error(iso_database_teardown(database, &error), error);
  assert_false(is_there(count) || is_there(count + 101));
  iso_disconnect(connection);
  iso_database_close(database);
  iso_reply_free(&reply);
  memset(&reply, 0, sizeof reply);
}

/* ---- plans ---- */

void plan_suite(const char *url, iso_layout layout, iso_access access, const iso_driver_request *wish,
                const char *wanted, const char *unwanted) {
  isoproof_error error = {0};
  iso_database_options options = {.layout = layout, .access = access};
  char text[ISO_SQL_BYTES], sql[ISO_SQL_BYTES + 32], plan[2000] = "", name[ISO_TABLE_BYTES];
  int64_t numbers[2];
  database = NULL;
  assert_ok_error(iso_database_open(&url, 1, &options, &database, &error), error);
  assert_ok_error(iso_database_setup(database, &error), error);
  assert_ok_error(iso_database_make_rounds(database, 1, 1, &error), error);
  connection = suite_connect(database, 0);
  iso_sql_form form = iso_sql_form_of(database, database->dialect);
  iso_sql_numbers(iso_sql_of(wish), wish, numbers);
  iso_database_round_table(database, 1, name);
  assert_non_null(iso_sql_write(&form, iso_sql_of(wish), name, numbers, text));
  snprintf(sql, sizeof sql, "%s %s", database->dialect == ISO_SQL_SQLITE ? "EXPLAIN QUERY PLAN" : "EXPLAIN", text);
  iso_execute(connection, sql, &reply);
  assert_reply(&reply, OK, COMMITTED);
  size_t used = 0;
  for (size_t i = 0; i < reply.cells.count && used < sizeof plan; i++) {
    const char *cell = iso_reply_cell(&reply, i / reply.columns, (uint32_t)(i % reply.columns));
    used += (size_t)snprintf(plan + used, sizeof plan - used, "%s|", cell != NULL ? cell : "");
  }
  if (strstr(plan, wanted) == NULL || (unwanted != NULL && strstr(plan, unwanted) != NULL))
    fail_msg("%s, %s: %s: expected %s, found %s", iso_layout_name(layout), iso_access_name(access), text, wanted, plan);
  iso_disconnect(connection);
  suite_close(database);
  iso_reply_free(&reply);
  memset(&reply, 0, sizeof reply);
}
