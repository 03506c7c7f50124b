/* driver_exec.c - programs behind exec:, good ones and bad ones: what is not said clearly is never believed. */
#include <stdio.h>
#include <string.h>

#include "database/driver_table.h"
#include "tests/unit/unit.h"

/* A program in the shell: it greets, and then answers each request by the line that a table of patterns gives. */
#define HELLO                                                                                                          \
  "read l; echo '{\"isoproof\":1,\"database\":\"shell\",\"capabilities\":[\"registers\",\"lists\",\"rows\"],"          \
  "\"isolations\":[{\"name\":\"any\",\"level\":null}]}';"
#define ANSWERS(cases) "exec:" HELLO "while read l; do case \"$l\" in " cases " *) echo '{\"ok\":true}';; esac; done"

static iso_database *open_program(const char *url) {
  iso_database *database = NULL;
  isoproof_error error = {.offset = -1};
  if (iso_database_open(&url, 1, NULL, &database, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  return database;
}

static iso_connection *begin_on(iso_database *database, iso_reply *reply) {
  iso_connection *connection = NULL;
  isoproof_error error = {.offset = -1};
  if (iso_connect(database, 0, &connection, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  assert_int_equal(iso_begin(connection, NULL, reply), ISO_OUTCOME_OK);
  assert_int_equal(reply->txn, ISO_TXN_ACTIVE);
  return connection;
}

/* Begins, asks once, for an answer within a time (0: for ever), and looks at what is said of it. */
static void expect_within(uint32_t ms, const char *url, iso_driver_request request, iso_outcome outcome,
                          iso_txn_state txn) {
  iso_reply reply = {0};
  iso_database *database = open_program(url);
  iso_connection *connection = begin_on(database, &reply);
  database->options.statement_timeout_ms = ms;
  iso_do(connection, &request, &reply);
  if (reply.outcome != outcome || reply.txn != txn)
    fail_msg("%s: outcome %d, transaction %d: %s", url, (int)reply.outcome, (int)reply.txn, reply.message);
  iso_reply_free(&reply);
  iso_disconnect(connection);
  iso_database_close(database);
}

static void expect(const char *url, iso_driver_request request, iso_outcome outcome, iso_txn_state txn) {
  expect_within(0, url, request, outcome, txn);
}

static const iso_driver_request read_one = {.kind = ISO_READ, .key = 1}, commit_it = {.kind = ISO_COMMIT},
                                delete_one = {.kind = ISO_DELETE, .key = 1},
                                range = {.kind = ISO_READ_RANGE, .key = 1, .high = 9};

static void test_answers(void **state) {
  (void)state;
  iso_reply reply = {0};
  iso_database *database = open_program(ANSWERS("*'\"read\"'*) echo '{\"x\":[1,{}],\"ok\":true,\"value\":-7}';; "
                                                "*read-list*) echo '{\"ok\":true,\"list\":[3,1,2]}';; "
                                                "*predicate*) echo '{\"ok\":true,\"rows\":[[5,50],[4,40]]}';; "
                                                "*count*) echo '{\"ok\":true,\"count\":2}';; "
                                                "*delete*) echo '{\"ok\":true,\"affected\":0}';;"));
  iso_connection *connection = begin_on(database, &reply);
  assert_int_equal(iso_read(connection, 1, &reply), ISO_OUTCOME_OK);
  assert_true(reply.present && reply.value == -7);
  assert_int_equal(iso_read_list(connection, 1, &reply), ISO_OUTCOME_OK);
  assert_true(reply.list.count == 3 && reply.list.items[0] == 3 && reply.list.items[2] == 2);
  assert_int_equal(iso_do(connection, &range, &reply), ISO_OUTCOME_OK);
  assert_true(reply.rows.count == 2 && reply.rows.items[0].key == 4 && reply.rows.items[1].value == 50);
  assert_int_equal(iso_do(connection, &delete_one, &reply), ISO_OUTCOME_OK);
  assert_int_equal(reply.affected, 0);
  assert_int_equal(iso_commit(connection, &reply), ISO_OUTCOME_OK);
  assert_int_equal(reply.txn, ISO_TXN_COMMITTED);
  iso_reply_free(&reply);
  iso_disconnect(connection);
  iso_database_close(database);
}

static void test_errors(void **state) {
  (void)state;
  expect(ANSWERS("*commit*) echo '{\"error\":\"serialization\"}';;"), commit_it, ISO_OUTCOME_UNKNOWN, ISO_TXN_UNKNOWN);
  expect(ANSWERS("*commit*) echo '{\"error\":\"serialization\",\"transaction\":\"aborted\"}';;"), commit_it,
         ISO_OUTCOME_ABORT, ISO_TXN_ABORTED);
  expect(ANSWERS("*read*) echo '{\"error\":\"deadlock\"}';;"), read_one, ISO_OUTCOME_ABORT, ISO_TXN_ABORTED);
  expect(ANSWERS("*read*) echo '{\"error\":\"busy\",\"transaction\":\"active\"}';;"), read_one, ISO_OUTCOME_ABORT,
         ISO_TXN_ACTIVE);
  expect(ANSWERS("*read*) echo '{\"error\":\"constraint\",\"transaction\":\"active\"}';;"), read_one,
         ISO_OUTCOME_REJECTED, ISO_TXN_ACTIVE);
}

static void test_lies(void **state) {
  (void)state;
  static const char *const broken[] = {"",
                                       "hello",
                                       "[1]",
                                       "{}",
                                       "{\"ok\":false}",
                                       "{\"ok\":true,\"error\":\"other\"}",
                                       "{\"error\":\"no such class\"}",
                                       "{\"ok\":true}",
                                       "{\"ok\":true,\"value\":\"7\"}",
                                       "{\"ok\":true,\"value\":1.5}",
                                       "{\"ok\":true,\"value\":7",
                                       "{\"ok\":true,\"value\":[7]}"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    char url[1024];
    snprintf(url, sizeof url, ANSWERS("*read*) echo '%s';;"), broken[i]);
    expect(url, read_one, ISO_OUTCOME_LOST, ISO_TXN_ABORTED);
  }
  expect(ANSWERS("*commit*) echo 'OK';;"), commit_it, ISO_OUTCOME_UNKNOWN, ISO_TXN_UNKNOWN);
  expect(ANSWERS("*delete*) echo '{\"ok\":true}';;"), delete_one, ISO_OUTCOME_LOST, ISO_TXN_ABORTED);
  expect(ANSWERS("*predicate*) echo '{\"ok\":true,\"rows\":[[1]]}';;"), range, ISO_OUTCOME_LOST, ISO_TXN_ABORTED);
}

static void test_ends(void **state) {
  (void)state;
  expect(ANSWERS("*commit*) exit 0;;"), commit_it, ISO_OUTCOME_UNKNOWN, ISO_TXN_UNKNOWN);
  expect(ANSWERS("*read*) exit 3;;"), read_one, ISO_OUTCOME_LOST, ISO_TXN_ABORTED);
  expect_within(100, ANSWERS("*read*) exec sleep 1000;;"), read_one, ISO_OUTCOME_LOST, ISO_TXN_ABORTED);
  expect_within(100, ANSWERS("*commit*) exec sleep 1000;;"), commit_it, ISO_OUTCOME_UNKNOWN, ISO_TXN_UNKNOWN);
}

static void refuses(const char *url, const char *words) {
  iso_database *database = NULL;
  isoproof_error error = {.offset = -1};
  assert_int_not_equal(iso_database_open(&url, 1, NULL, &database, &error), ISOPROOF_OK);
  if (strstr(error.message, words) == NULL) fail_msg("%s: %s", url, error.message);
}

static void test_greetings(void **state) {
  (void)state;
  refuses("exec:", "expected a command");
  refuses("exec:true", "ended");
  refuses("exec:no-such-program-at-all 2>/dev/null", "ended");
  refuses("exec:read l; echo hello", "cannot be read");
  refuses("exec:read l; echo '{}'", "\"isoproof\":1");
  refuses("exec:read l; echo '{\"isoproof\":2}'", "found 2");
  refuses("exec:read l; echo '{\"isoproof\":1}'", "isolations");
}

/* Another thread ends the waiting. */
static void test_cancel(void **state) {
  (void)state;
  iso_reply reply = {0};
  isoproof_error error = {.offset = -1};
  const char *url = ANSWERS("*read*) sleep 1000;;");
  iso_database *database = NULL;
  assert_int_equal(iso_database_open(&url, 1, NULL, &database, &error), ISOPROOF_OK);
  iso_connection *connection = begin_on(database, &reply);
  assert_int_equal(iso_start(connection, &read_one, &error), ISOPROOF_OK);
  assert_false(iso_poll(connection, 50));
  assert_true(iso_cancel(connection));
  assert_int_equal(iso_finish(connection, &reply), ISO_OUTCOME_LOST);
  iso_reply_free(&reply);
  iso_disconnect(connection);
  iso_database_close(database);
}

/* One process, whose answers come in another order than the requests: that to key 1 comes after that to key 2; key 3
 * tells whether it waits already, and key 4 ends the process. */
#define SHARED                                                                                                         \
  "exec:while read l; do s=${l#*\\\"session\\\":}; s=${s%%[,\\}]*}; case \"$l\" in "                                   \
  "*hello*) echo '{\"session\":'$s',\"isoproof\":1,\"one_process\":true,\"database\":\"shell\","                       \
  "\"isolations\":[{\"name\":\"any\"}]}';; "                                                                           \
  "*'\"key\":1'*) late=$s;; "                                                                                          \
  "*'\"key\":3'*) echo '{\"ok\":true,\"value\":'${late:-0}',\"session\":'$s'}';; "                                     \
  "*'\"key\":4'*) exit;; "                                                                                             \
  "*'\"key\":2'*) echo '{\"ok\":true,\"value\":2,\"session\":'$s'}'; "                                                 \
  "echo '{\"ok\":true,\"value\":1,\"session\":'$late'}';; "                                                            \
  "*) echo '{\"session\":'$s',\"ok\":true}';; esac; done"

static void test_shared(void **state) {
  (void)state;
  iso_reply first = {0}, second = {0};
  isoproof_error error = {.offset = -1};
  iso_database *database = open_program(SHARED);
  iso_connection *one = begin_on(database, &first), *two = begin_on(database, &second);
  assert_true(iso_connection_server_id(one) == iso_connection_server_id(two));
  assert_int_equal(iso_start(one, &read_one, &error), ISOPROOF_OK);
  do assert_int_equal(iso_read(two, 3, &second), ISO_OUTCOME_OK);
  while (second.value == 0);
  assert_false(iso_poll(one, 0));
  assert_int_equal(iso_read(two, 2, &second), ISO_OUTCOME_OK);
  assert_int_equal(second.value, 2);
  assert_int_equal(iso_finish(one, &first), ISO_OUTCOME_OK);
  assert_int_equal(first.value, 1);
  iso_reply_free(&first);
  iso_reply_free(&second);
  iso_disconnect(one);
  iso_disconnect(two);
  iso_database_close(database);
}

/* A shared process that ends takes all its sessions with it.  Whoever comes back first starts it anew, for all. */
static void test_shared_again(void **state) {
  (void)state;
  iso_reply first = {0}, second = {0};
  isoproof_error error = {.offset = -1};
  iso_database *database = open_program(SHARED);
  for (int round = 0; round < 3; round++) {
    iso_connection *one = begin_on(database, &first), *two = begin_on(database, &second);
    uint64_t before = iso_connection_server_id(one);
    assert_int_equal(iso_read(one, 4, &first), ISO_OUTCOME_LOST);
    assert_int_equal(first.txn, ISO_TXN_ABORTED);
    /* It is gone for the other one, too. */
    assert_int_equal(iso_commit(two, &second), ISO_OUTCOME_UNKNOWN);
    assert_int_equal(iso_reconnect(one, &error), ISOPROOF_OK);
    assert_int_equal(iso_reconnect(two, &error), ISOPROOF_OK);
    assert_true(iso_connection_server_id(one) == iso_connection_server_id(two));
    assert_true(iso_connection_server_id(one) != before);
    assert_int_equal(iso_begin(two, NULL, &second), ISO_OUTCOME_OK);
    assert_int_equal(iso_read(two, 3, &second), ISO_OUTCOME_OK);
    assert_int_equal(iso_commit(two, &second), ISO_OUTCOME_OK);
    if (round == 1) {
      /* Ended by the last word of a session: who connects next has to find out. */
      assert_int_equal(iso_begin(one, NULL, &first), ISO_OUTCOME_OK);
      assert_int_equal(iso_read(one, 4, &first), ISO_OUTCOME_LOST);
    }
    iso_disconnect(one);
    iso_disconnect(two);
  }
  iso_reply_free(&first);
  iso_reply_free(&second);
  iso_database_close(database);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_answers), cmocka_unit_test(test_errors),       cmocka_unit_test(test_lies),
      cmocka_unit_test(test_ends),    cmocka_unit_test(test_greetings),    cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_shared),  cmocka_unit_test(test_shared_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
