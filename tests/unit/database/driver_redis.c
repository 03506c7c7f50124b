/* driver_redis.c - the driver for Redis against a server: tests/servers/with redis -- PROGRAM. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/database/driver_fixture.h"

static redisContext *plain; /* somebody else's connection */

static int connect_plain(void **state) {
  iso_url url;
  isoproof_error error = {0};
  (void)state;
  assert_ok_error(iso_url_parse(server_url, ISO_URL_FULL, &url, &error), error);
  plain = redisConnect(url.host, (int)url.port);
  iso_url_free(&url);
  return plain == NULL || plain->err != 0;
}

static int disconnect_plain(void **state) {
  (void)state;
  redisFree(plain);
  return 0;
}

/* A number, the length of a text, or -1. */
static long long told(const char *format, const char *argument) {
  redisReply *answer = redisCommand(plain, format, argument);
  long long number = -1;
  if (answer != NULL && answer->type == REDIS_REPLY_INTEGER) number = answer->integer;
  if (answer != NULL) freeReplyObject(answer);
  return number;
}

static void does_all(void **state) {
  (void)state;
  suite_all(server_url);
  assert_int_equal(told("DBSIZE", ""), 0);
}

static void knows_itself(void **state) {
  (void)state;
  assert_non_null(strstr(iso_database_version(db), "Redis "));
  assert_string_equal(level("multi")->claims, "read-committed");
  assert_string_equal(level(NULL)->name, "watch");
  assert_string_equal(level("watch")->claims, "serializable");
  assert_true(iso_connection_server_id(one) != iso_connection_server_id(two));
}

/* A key that was read has changed: EXEC answers nil, and nothing took effect. */
static void watched_keys_abort(void **state) {
  (void)state;
  iso_begin(one, level("watch"), &reply);
  iso_read(one, 1, &reply);
  iso_write(one, 2, 5, &reply);
  iso_write(two, 1, 7, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_commit(one, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
  assert_int_equal(suite_value(db, 2), 0);
  /* Also of a transaction that only reads, and of a row that was not there. */
  iso_begin(one, level("watch"), &reply);
  iso_read(one, 1, &reply);
  iso_read(one, 70, &reply);
  assert_false(reply.present);
  iso_write(two, 70, 1, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  /* What was watched before a rollback is forgotten. */
  iso_begin(one, level("watch"), &reply);
  iso_read(one, 1, &reply);
  iso_rollback(one, &reply);
  assert_reply(&reply, OK, ABORTED);
  iso_write(two, 1, 8, &reply);
  iso_begin(one, level("watch"), &reply);
  iso_write(one, 1, 9, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 9);
}

static void unwatched_keys_do_not(void **state) {
  (void)state;
  iso_begin(one, level("multi"), &reply);
  iso_read(one, 1, &reply);
  iso_write(two, 1, 7, &reply);
  iso_read(one, 1, &reply);
  assert_int_equal(reply.value, 7);
  iso_write(one, 1, 8, &reply);
  iso_read(two, 1, &reply);
  assert_int_equal(reply.value, 7);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 8);
}

/* But a read that shows what is pending, after what is there, has to stay true until EXEC. */
static void own_additions_are_watched(void **state) {
  (void)state;
  static const iso_request_kind writes[] = {ISO_APPEND, ISO_INCREMENT}, reads[] = {ISO_READ_LIST, ISO_READ};
  for (size_t i = 0; i < 2; i++) {
    iso_begin(one, level("multi"), &reply);
    iso_do(one, &(iso_driver_request){.kind = writes[i], .key = 5, .value = 1}, &reply);
    iso_do(one, &(iso_driver_request){.kind = reads[i], .key = 5}, &reply);
    assert_reply(&reply, OK, ACTIVE);
    iso_do(two, &(iso_driver_request){.kind = writes[i], .key = 5, .value = 2}, &reply);
    assert_reply(&reply, OK, COMMITTED);
    iso_commit(one, &reply);
    assert_reply(&reply, ABORT, ABORTED);
  }
}

/* A row that comes into a range that was read, or leaves it, and a value that changes in it. */
static void ranges_are_watched(void **state) {
  (void)state;
  static const iso_driver_request changes[] = {{.kind = ISO_INSERT, .key = 25, .value = 1},
                                               {.kind = ISO_UPDATE, .key = 3, .value = 33},
                                               {.kind = ISO_DELETE, .key = 25}};
  for (size_t i = 0; i < 3; i++) {
    iso_begin(one, level("watch"), &reply);
    iso_do(one, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = 2, .high = 30}, &reply);
    assert_reply(&reply, OK, ACTIVE);
    iso_write(one, 60, (int64_t)i, &reply);
    iso_do(two, &changes[i], &reply);
    assert_reply(&reply, OK, COMMITTED);
    assert_int_equal(reply.affected, 1);
    iso_commit(one, &reply);
    assert_reply(&reply, ABORT, ABORTED);
  }
}

/* A transaction sees its own writes in all that it reads. */
static void sees_its_own_writes(void **state) {
  (void)state;
  iso_begin(one, level("watch"), &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 1, .value = 5}, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 1, .value = 5}, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 80, .value = 5}, &reply);
  iso_read(one, 1, &reply);
  assert_int_equal(reply.value, 10);
  iso_do(one, &(iso_driver_request){.kind = ISO_DELETE, .key = 2}, &reply);
  assert_int_equal(reply.affected, 1);
  iso_do(one, &(iso_driver_request){.kind = ISO_DELETE, .key = 2}, &reply);
  assert_int_equal(reply.affected, 0);
  iso_do(one, &(iso_driver_request){.kind = ISO_UPDATE, .key = 2, .value = 1}, &reply);
  assert_int_equal(reply.affected, 0);
  iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = 3, .value = 1}, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_CONSTRAINT);
  iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = -4, .value = 44}, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_do(one, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = -10, .high = 3}, &reply);
  assert_int_equal(reply.rows.count, 4); /* -4, 0, 1, 3 */
  assert_int_equal(reply.rows.items[0].key, -4);
  assert_int_equal(reply.rows.items[2].value, 10);
  iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .key = INT64_MIN, .high = INT64_MAX}, &reply);
  assert_int_equal(reply.value, 11);
  iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .key = 10, .high = 44, .by_value = true}, &reply);
  assert_int_equal(reply.value, 2);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 10);
  assert_int_equal(suite_value(db, 80), 5);
  assert_true(suite_value(db, 2) == INT64_MIN);
}

/* Other keys, and what else has the name of a table, stay as they are. */
static void leaves_strangers_alone(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_database *database = NULL;
  iso_database_options named = {.table = "orders"};
  told("SET other:v:1 %s", "precious");
  told("RPUSH orders %s", "precious");
  assert_ok_error(iso_database_open(&server_url, 1, &named, &database, &error), error);
  assert_int_equal(iso_database_setup(database, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "not made by isoproof"));
  iso_database_close(database);
  assert_int_equal(told("LLEN %s", "orders"), 1);
  told("DEL %s", "orders");
  told("ZADD orders:k 0 %s", "precious");
  assert_ok_error(iso_database_open(&server_url, 1, &named, &database, &error), error);
  assert_int_equal(iso_database_setup(database, &error), ISOPROOF_ERR_USAGE);
  iso_database_close(database);
  told("DEL %s", "orders:k");
  iso_database *first = suite_open(server_url, &named);
  assert_ok_error(iso_database_open(&server_url, 1, &named, &database, &error), error);
  assert_int_equal(iso_database_setup(database, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "still going on"));
  iso_database_close(database);
  suite_close(first);
  assert_int_equal(told("EXISTS %s", "other:v:1"), 1);
  told("DEL %s", "other:v:1");
  assert_int_equal(told("DBSIZE", ""), 0);
}

/* What a run that is gone has left is removed, and nothing that only looks like it. */
static void removes_leftovers(void **state) {
  (void)state;
  iso_mark gone = {.table = "isoproof_gone", .run = 77, .made = 1};
  char text[ISO_MARK_BYTES];
  iso_process_here(&gone.process);
  gone.process.started ^= 1; /* another process of the same number */
  iso_mark_write(&gone, text);
  told("SET isoproof_gone %s", text);
  told("SET isoproof_gone:v:1 %s", "1");
  told("ZADD isoproof_gone:k 0 %s", "8000000000000001");
  told("SET isoproof_copy %s", text); /* its mark names another table */
  told("SET isoproof_other %s", "precious");
  suite_close(suite_open(server_url, NULL));
  assert_int_equal(told("EXISTS %s", "isoproof_gone"), 0);
  assert_int_equal(told("EXISTS %s", "isoproof_gone:v:1"), 0);
  assert_int_equal(told("EXISTS %s", "isoproof_copy"), 1);
  told("DEL %s", "isoproof_copy");
  assert_int_equal(told("DEL %s", "isoproof_other"), 1);
  assert_int_equal(told("DBSIZE", ""), 0);
}

static void notices_others(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_database_options tagged = {.tag_bits = 22};
  fixture_open(server_url, &tagged);
  iso_write(one, 1, 5, &reply);
  assert_int_equal(suite_value(db, 1), 5);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 1, .value = 2}, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 90, .value = 2}, &reply);
  assert_int_equal(suite_value(db, 1), 7);
  assert_int_equal(suite_value(db, 90), 2);
  told("SET isoproof:v:1 %s", "12");
  iso_read(one, 1, &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_FOREIGN);
  told("SET isoproof:v:1 %s", "text");
  iso_read(one, 1, &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_FOREIGN);
  assert_ok_error(iso_database_verify(db, &error), error);
  told("RENAME isoproof %s", "elsewhere");
  assert_int_equal(iso_database_verify(db, &error), ISOPROOF_ERR_INTERFERENCE);
  told("RENAME elsewhere %s", "isoproof");
}

/* The connection is ended by somebody: between requests, and nothing took effect. */
static void killed(void **state) {
  (void)state;
  isoproof_error error = {0};
  char number[32];
  iso_begin(two, NULL, &reply);
  iso_write(two, 2, 9, &reply);
  snprintf(number, sizeof number, "%u", (unsigned)iso_connection_server_id(two));
  assert_int_equal(told("CLIENT KILL ID %s", number), 1);
  iso_commit(two, &reply);
  assert_reply(&reply, UNKNOWN, UNKNOWN);
  assert_ok_error(iso_reconnect(two, &error), error);
  assert_int_equal(suite_value(db, 2), 0);
}

static void connection_loss(void **state) {
  (void)state;
  fixture_loss(server_url, "redis://%s@127.0.0.1:%u/%s");
}

static void many_sessions(void **state) {
  (void)state;
  fixture_many_sessions("watch");
}

static void refuses_bad_urls(void **state) {
  (void)state;
  static const char *const wrong[] = {"redis://h/x", "redis://h/0?colour=red", "redis:x"};
  static const char *const bad = "redis://me:hidden@127.0.0.1:1/0";
  iso_database *none = NULL;
  isoproof_error error = {0};
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(iso_database_open(&wrong[i], 1, NULL, &none, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(iso_database_open(&bad, 1, NULL, &none, &error), ISOPROOF_ERR_IO);
  assert_null(strstr(error.message, "hidden"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(does_all),
      WITH_SERVER(knows_itself),
      WITH_SERVER(watched_keys_abort),
      WITH_SERVER(unwatched_keys_do_not),
      WITH_SERVER(own_additions_are_watched),
      WITH_SERVER(ranges_are_watched),
      WITH_SERVER(sees_its_own_writes),
      cmocka_unit_test(leaves_strangers_alone),
      cmocka_unit_test(removes_leftovers),
      cmocka_unit_test_teardown(notices_others, fixture_close),
      WITH_SERVER(killed),
      WITH_SERVER(many_sessions),
      WITH_SERVER(connection_loss),
      cmocka_unit_test(refuses_bad_urls),
  };
  return fixture_run("ISOPROOF_TEST_REDIS", tests, connect_plain, disconnect_plain);
}
