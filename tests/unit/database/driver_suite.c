/* driver_suite.c - what every driver must do alike. */
#include "tests/unit/database/driver_suite.h"

#include <stdio.h>
#include <string.h>

#include "database/driver_table.h"
#include "tests/unit/unit.h"

iso_database *suite_open_empty(const char *url, const iso_database_options *options) {
  iso_database *database = NULL;
  isoproof_error error = {0};
  /* A name that statements of the tests can be written with. */
  iso_database_options named = options != NULL ? *options : (iso_database_options){0};
  if (named.table == NULL) named.table = "isoproof";
  if (iso_database_open(&url, 1, &named, &database, &error) != ISOPROOF_OK) fail_msg("%s: %s", url, error.message);
  if (iso_database_setup(database, &error) != ISOPROOF_OK) fail_msg("%s: %s", url, error.message);
  return database;
}

iso_database *suite_open(const char *url, const iso_database_options *options) {
  iso_database *database = suite_open_empty(url, options);
  iso_connection *connection = suite_connect(database, 0);
  iso_reply reply = {0};
  iso_begin(connection, NULL, &reply);
  for (int64_t key = 0; key < 10; key++) {
    iso_write(connection, key, 0, &reply);
    assert_reply(&reply, OK, ACTIVE);
  }
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_reply_free(&reply);
  iso_disconnect(connection);
  return database;
}

void suite_close(iso_database *database) {
  isoproof_error error = {0};
  if (iso_database_teardown(database, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  iso_database_close(database);
}

iso_connection *suite_connect(iso_database *database, size_t node) {
  iso_connection *connection = NULL;
  isoproof_error error = {0};
  if (iso_connect(database, node, &connection, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  return connection;
}

static const char *const outcomes[] = {
#define ISO_X(name, id, text) id,
    ISO_OUTCOME_LIST(ISO_X)
#undef ISO_X
};

static const char *const states[] = {
#define ISO_X(name, id, text) id,
    ISO_TXN_STATE_LIST(ISO_X)
#undef ISO_X
};

void suite_blocked(iso_connection *control, iso_connection *session) {
  isoproof_error error = {0};
  bool blocked = false;
  for (int i = 0; i < 1000 && !blocked; i++) {
    if (iso_blocked(control, &session, 1, &blocked, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
    if (!blocked) assert_false(iso_poll(session, 20));
  }
  assert_true(blocked);
}

void suite_reply(const iso_reply *reply, iso_outcome outcome, iso_txn_state txn, const char *file, int line) {
  if (reply->outcome == outcome && reply->txn == txn) return;
  char text[600];
  snprintf(text, sizeof text, "expected %s and %s, found %s (%s) and %s: %s %s", outcomes[outcome], states[txn],
           outcomes[reply->outcome], iso_error_class_name(reply->error_class), states[reply->txn], reply->code,
           reply->message);
  print_error("%s\n", text);
  _fail(file, line);
}

int64_t suite_value(iso_database *database, int64_t key) {
  iso_connection *connection = suite_connect(database, 0);
  iso_reply reply = {0};
  iso_begin(connection, NULL, &reply);
  iso_read(connection, key, &reply);
  assert_reply(&reply, OK, ACTIVE);
  int64_t value = reply.present ? reply.value : INT64_MIN;
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_reply_free(&reply);
  iso_disconnect(connection);
  return value;
}

/* ---- the parts ---- */

static void check_registers(iso_database *database, iso_connection *connection) {
  iso_reply reply = {0};
  iso_begin(connection, NULL, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_read(connection, 1, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_true(reply.present);
  assert_int_equal(reply.value, 0);
  iso_read(connection, 100, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_false(reply.present);
  iso_write(connection, 1, -5, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_write(connection, 100, INT64_MAX, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_write(connection, -7, INT64_MIN, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_read(connection, 100, &reply);
  assert_true(reply.present && reply.value == INT64_MAX);
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(connection->txn, ISO_TXN_COMMITTED);
  assert_int_equal(suite_value(database, 1), -5);
  assert_true(suite_value(database, 100) == INT64_MAX);
  assert_true(suite_value(database, -7) == INT64_MIN);

  iso_begin(connection, NULL, &reply);
  iso_write(connection, 1, 77, &reply);
  iso_rollback(connection, &reply);
  assert_reply(&reply, OK, ABORTED);
  assert_int_equal(suite_value(database, 1), -5);

  iso_begin(connection, NULL, &reply);
  iso_do(connection, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 1, .value = 7}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_do(connection, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 101, .value = 3}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(connection, &reply);
  assert_int_equal(suite_value(database, 1), 2);
  assert_int_equal(suite_value(database, 101), 3);
  iso_reply_free(&reply);
}

static void check_lists(iso_database *database, iso_connection *connection) {
  if (!iso_database_capabilities(database).lists) return;
  iso_reply reply = {0};
  iso_begin(connection, NULL, &reply);
  iso_read_list(connection, 200, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_false(reply.present);
  for (int64_t i = 1; i <= 3; i++) {
    iso_append(connection, 200, i * -11, &reply);
    assert_reply(&reply, OK, ACTIVE);
    iso_append(connection, 2, i, &reply); /* which was filled */
    assert_reply(&reply, OK, ACTIVE);
  }
  iso_read_list(connection, 200, &reply);
  assert_true(reply.present);
  assert_int_equal(reply.list.count, 3);
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_read_list(connection, 200, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(reply.list.count, 3);
  for (int64_t i = 1; i <= 3; i++) assert_int_equal(reply.list.items[i - 1], i * -11);
  iso_read_list(connection, 2, &reply);
  assert_int_equal(reply.list.count, 3);
  assert_int_equal(reply.list.items[2], 3);
  iso_reply_free(&reply);
}

static void check_predicates(iso_database *database, iso_connection *connection) {
  if (!iso_database_capabilities(database).predicates) return;
  iso_reply reply = {0};
  iso_begin(connection, NULL, &reply);
  for (int64_t i = 0; i < 5; i++) {
    iso_do(connection, &(iso_driver_request){.kind = ISO_INSERT, .key = 1000 + i, .value = 5000 - i}, &reply);
    assert_reply(&reply, OK, ACTIVE);
  }
  iso_do(connection, &(iso_driver_request){.kind = ISO_DELETE, .key = 1002}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.affected, 1);
  iso_do(connection, &(iso_driver_request){.kind = ISO_DELETE, .key = 1902}, &reply);
  assert_int_equal(reply.affected, 0);
  iso_do(connection, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = 1001, .high = 1900}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.rows.count, 3);
  assert_int_equal(reply.rows.items[0].key, 1001);
  assert_int_equal(reply.rows.items[1].key, 1003);
  assert_int_equal(reply.rows.items[1].value, 4997);
  assert_int_equal(reply.rows.items[2].key, 1004);
  iso_do(connection, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = 4996, .high = 4997, .by_value = true},
         &reply);
  assert_int_equal(reply.rows.count, 2);
  assert_int_equal(reply.rows.items[0].key, 1003);
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_do(connection, &(iso_driver_request){.kind = ISO_INSERT, .key = 1000, .value = 1}, &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_CONSTRAINT);
  assert_true(reply.code[0] != 0 && reply.message[0] != 0);
  iso_reply_free(&reply);
}

/* What does not fit the state is refused, and does not confuse what follows. */
static void check_states(iso_database *database, iso_connection *connection) {
  (void)database;
  iso_reply reply = {0};
  assert_int_equal(iso_commit(connection, &reply), ISO_OUTCOME_REJECTED);
  assert_int_equal(reply.error_class, ISO_CLASS_STATE);
  assert_int_equal(iso_rollback(connection, &reply), ISO_OUTCOME_OK);
  iso_begin(connection, NULL, &reply);
  iso_begin(connection, NULL, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_STATE);
  iso_do(connection, &(iso_driver_request){.kind = ISO_REQUEST_KINDS}, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  iso_do(connection, &(iso_driver_request){.kind = ISO_PING}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_rollback(connection, &reply);
  assert_reply(&reply, OK, ABORTED);
  assert_int_equal(iso_commit(connection, &reply), ISO_OUTCOME_REJECTED);
  iso_write(connection, 3, 33, &reply); /* a transaction of its own */
  assert_reply(&reply, OK, COMMITTED);
  iso_read(connection, 3, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(reply.value, 33);
  iso_do(connection, &(iso_driver_request){.kind = ISO_PING}, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_reply_free(&reply);
}

static void check_sql(iso_database *database, iso_connection *connection) {
  iso_reply reply = {0};
  if (!iso_database_capabilities(database).sql) {
    assert_int_equal(iso_execute(connection, "SELECT 1", &reply), ISO_OUTCOME_REJECTED);
    assert_int_equal(reply.error_class, ISO_CLASS_CLIENT);
    return;
  }
  char table[ISO_TABLE_BYTES], sql[256];
  iso_database_table(database, 3, table);
  iso_begin(connection, NULL, &reply);
  snprintf(sql, sizeof sql, "SELECT k, v, NULL FROM %s WHERE k = 3", table);
  iso_execute(connection, sql, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.columns, 3);
  assert_int_equal(reply.cells.count, 3);
  assert_string_equal(iso_reply_cell(&reply, 0, 0), "3");
  assert_string_equal(iso_reply_cell(&reply, 0, 1), "33");
  assert_null(iso_reply_cell(&reply, 0, 2));
  assert_null(iso_reply_cell(&reply, 1, 0));
  assert_null(iso_reply_cell(&reply, 0, 3));
  snprintf(sql, sizeof sql, "UPDATE %s SET v = 34 WHERE k = 3", table);
  iso_execute(connection, sql, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.affected, 1);
  static const char *const control[] = {"COMMIT", " -- x\n rollback", "/* */ begin work", "START TRANSACTION", "end;"};
  for (size_t i = 0; i < sizeof control / sizeof *control; i++) {
    iso_execute(connection, control[i], &reply);
    assert_reply(&reply, REJECTED, ACTIVE);
    assert_int_equal(reply.error_class, ISO_CLASS_STATE);
  }
  iso_execute(connection, "SELECT no_such_column FROM nowhere", &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_REJECTED);
  assert_true(reply.code[0] != 0 && reply.message[0] != 0);
  iso_rollback(connection, &reply);
  assert_reply(&reply, OK, ABORTED);
  assert_int_equal(suite_value(database, 3), 33);
  iso_reply_free(&reply);
}

static void check_levels(iso_database *database, iso_connection *connection) {
  iso_reply reply = {0};
  isoproof_error error = {0};
  const iso_isolation *found;
  for (size_t i = 0; iso_database_isolation(database, i) != NULL; i++) {
    const iso_isolation *isolation = iso_database_isolation(database, i);
    assert_int_equal(iso_database_find_isolation(database, isolation->name, &found, &error), ISOPROOF_OK);
    assert_ptr_equal(found, isolation);
    assert_true(isolation->note[0] != 0);
    iso_begin(connection, isolation, &reply);
    assert_reply(&reply, OK, ACTIVE);
    iso_read(connection, 1, &reply);
    assert_reply(&reply, OK, ACTIVE);
    iso_write(connection, 5, (int64_t)i, &reply);
    assert_reply(&reply, OK, ACTIVE);
    iso_commit(connection, &reply);
    assert_reply(&reply, OK, COMMITTED);
  }
  /* Not everybody has a level of that name. */
  if (iso_database_find_isolation(database, "serializable", &found, &error) == ISOPROOF_OK) {
    assert_int_equal(iso_database_find_isolation(database, "SER", &found, &error), ISOPROOF_OK);
    assert_string_equal(found->name, "serializable");
  }
  assert_int_equal(iso_database_find_isolation(database, "wobbly", &found, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, iso_database_isolation(database, 0)->name));
  iso_reply_free(&reply);
}

static void check_async(iso_database *database, iso_connection *connection) {
  (void)database;
  iso_reply reply = {0};
  isoproof_error error = {0};
  iso_driver_request begin = {.kind = ISO_BEGIN}, write = {.kind = ISO_WRITE, .key = 6, .value = 66};
  iso_driver_request read = {.kind = ISO_READ, .key = 6}, commit = {.kind = ISO_COMMIT};
  const iso_driver_request *const requests[] = {&begin, &write, &read, &commit};
  assert_true(iso_poll(connection, 0));
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(iso_start(connection, requests[i], &error), ISOPROOF_OK);
    assert_int_equal(iso_start(connection, requests[i], &error), ISOPROOF_ERR_USAGE);
    assert_true(iso_poll(connection, 10000));
    assert_int_equal(iso_finish(connection, &reply), ISO_OUTCOME_OK);
    if (i == 2) assert_int_equal(reply.value, 66);
  }
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(iso_finish(connection, &reply), ISO_OUTCOME_REJECTED);
  iso_reply_free(&reply);
}

static void run_all(const char *url, uint32_t tables) {
  iso_database_options options = {.table = "isoproof_suite", .tables = tables, .seed = 1};
  iso_database *database = suite_open(url, &options);
  assert_true(iso_database_version(database)[0] != 0);
  iso_connection *connection = suite_connect(database, 0);
  check_registers(database, connection);
  check_lists(database, connection);
  check_predicates(database, connection);
  check_states(database, connection);
  check_sql(database, connection);
  check_levels(database, connection);
  check_async(database, connection);
  /* A new connection knows nothing of the old one's transaction. */
  iso_reply reply = {0};
  isoproof_error error = {0};
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 7, 70, &reply);
  assert_int_equal(iso_reconnect(connection, &error), ISOPROOF_OK);
  assert_int_equal(connection->txn, ISO_TXN_IDLE);
  assert_int_equal(suite_value(database, 7), 0);
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 7, 71, &reply);
  iso_disconnect(connection);
  assert_int_equal(suite_value(database, 7), 0);
  iso_reply_free(&reply);
  suite_close(database);
}

void suite_all(const char *url) {
  run_all(url, 1);
  run_all(url, 3);
}
