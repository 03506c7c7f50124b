/* driver_etcd.c - the driver for etcd against a server: tests/servers/with etcd -- PROGRAM. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "database/drivers/etcd.h"
#include "tests/unit/database/driver_fixture.h"

static iso_database *others;      /* somebody else's */
static iso_connection *otherwise; /* who knows nothing of tables */

static int connect_other(void **state) {
  isoproof_error error = {0};
  (void)state;
  assert_ok_error(iso_database_open(&server_url, 1, NULL, &others, &error), error);
  otherwise = suite_connect(others, 0);
  return 0;
}

static int disconnect_other(void **state) {
  (void)state;
  iso_disconnect(otherwise);
  iso_database_close(others);
  return 0;
}

/* ---- what somebody else does ---- */

static int64_t ask_other(isoproof_json *json, const char *path) {
  iso_etcd_answer answer = {.revision = 0};
  iso_driver_request request = {.kind = ISO_PING};
  iso_reply told = {0};
  if (!iso_etcd_ask(otherwise, &request, &told, json, path, false, &answer)) fail_msg("%s", told.message);
  int64_t count = answer.count;
  iso_etcd_answer_free(&answer);
  iso_reply_free(&told);
  return count;
}

static void other_puts(const char *key, const char *value) {
  isoproof_json json;
  iso_etcd_begin(otherwise->state, &json);
  iso_etcd_field_text(&json, "key", key);
  iso_etcd_field_text(&json, "value", value);
  ask_other(&json, "/v3/kv/put");
}

static void other_deletes(const char *key) {
  isoproof_json json;
  iso_etcd_begin(otherwise->state, &json);
  iso_etcd_field_text(&json, "key", key);
  ask_other(&json, "/v3/kv/deleterange");
}

/* How many keys there are from one on to before another, or of this name. */
static int64_t other_counts(const char *key, const char *end) {
  isoproof_json json;
  iso_etcd_begin(otherwise->state, &json);
  iso_etcd_write_range(&json, key, end);
  iso_json_field_bool(&json, "count_only", true);
  return ask_other(&json, "/v3/kv/range");
}

static int64_t all_keys(void) { return other_counts("!", "~"); }

/* ---- tests ---- */

static void does_all(void **state) {
  (void)state;
  suite_all(server_url);
  assert_int_equal(all_keys(), 0);
}

static void knows_itself(void **state) {
  (void)state;
  assert_non_null(strstr(iso_database_version(db), "etcd 3."));
  assert_string_equal(level("rc")->claims, "read-committed");
  assert_string_equal(level(NULL)->name, "serializable snapshot");
  assert_string_equal(level("serializable")->claims, "serializable");
  assert_string_equal(level("repeatable-reads")->name, "repeatable reads");
}

static void aborts(const char *what) {
  iso_commit(one, &reply);
  if (reply.outcome != ISO_OUTCOME_ABORT) fail_msg("%s: expected an abort", what);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
}

/* Whoever has read what changed cannot commit, also if it only reads; at read committed it can. */
static void compares_what_was_read(void **state) {
  (void)state;
  static const char *const names[] = {"repeatable reads", "serializable", "serializable snapshot"};
  for (size_t i = 0; i < 3; i++)
    for (int reads_only = 0; reads_only < 2; reads_only++) {
      iso_begin(one, level(names[i]), &reply);
      iso_read(one, 1, &reply);
      iso_read(one, 70, &reply);
      assert_false(reply.present);
      if (!reads_only) iso_write(one, 2, 5, &reply);
      iso_do(two, &(iso_driver_request){.kind = i == 0 ? ISO_WRITE : ISO_INCREMENT, .key = 1, .value = 7}, &reply);
      assert_reply(&reply, OK, COMMITTED);
      int64_t before = reply.value;
      iso_read(one, 1, &reply); /* the same again */
      assert_int_equal(before, 0);
      aborts(names[i]);
      assert_int_equal(suite_value(db, 2), 0);
    }
  iso_begin(one, level("read committed"), &reply);
  iso_read(one, 1, &reply);
  iso_write(two, 1, 77, &reply);
  iso_read(one, 1, &reply);
  assert_int_equal(reply.value, 77);
  iso_write(one, 1, 78, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(db, 1), 78);
}

/* What is written without being read, since the first read: only serializable snapshot looks at it. */
static void compares_what_is_written(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    iso_begin(one, level(i == 0 ? "serializable" : "serializable snapshot"), &reply);
    iso_read(one, 1, &reply);
    iso_write(one, 3, 5, &reply);
    iso_write(two, 3, 6, &reply);
    if (i == 1) {
      aborts("a write of what was written");
      continue;
    }
    iso_commit(one, &reply);
    assert_reply(&reply, OK, COMMITTED);
  }
  assert_int_equal(suite_value(db, 3), 6);
}

/* Reads after the first one are of its revision, also of what nobody had read then. */
static void reads_a_snapshot(void **state) {
  (void)state;
  iso_begin(one, level("serializable"), &reply);
  iso_read(one, 1, &reply);
  iso_write(two, 4, 44, &reply);
  iso_do(two, &(iso_driver_request){.kind = ISO_DELETE, .key = 5}, &reply);
  iso_read(one, 4, &reply);
  assert_int_equal(reply.value, 0);
  iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .key = INT64_MIN, .high = INT64_MAX}, &reply);
  assert_int_equal(reply.value, 10);
  aborts("a snapshot that is old");
}

/* An answer that depends on what is there holds until the commit, at every level. */
static void changes_depend_on_rows(void **state) {
  (void)state;
  static const iso_driver_request changes[] = {{.kind = ISO_INSERT, .key = 20, .value = 1},
                                               {.kind = ISO_UPDATE, .key = 6, .value = 2},
                                               {.kind = ISO_DELETE, .key = 6},
                                               {.kind = ISO_APPEND, .key = 6, .value = 1},
                                               {.kind = ISO_INCREMENT, .key = 6, .value = 1}};
  for (size_t i = 0; i < 5; i++) {
    iso_begin(one, level("read committed"), &reply);
    iso_do(one, &changes[i], &reply);
    assert_reply(&reply, OK, ACTIVE);
    assert_int_equal(reply.affected, 1);
    if (changes[i].kind == ISO_APPEND)
      iso_append(two, 6, 9, &reply);
    else
      iso_write(two, changes[i].key, (int64_t)(90 + i), &reply);
    assert_reply(&reply, OK, COMMITTED);
    aborts("a change of what changed");
  }
}

/* A row that comes into a range that was read, changes in it, or leaves it. */
static void ranges_are_compared(void **state) {
  (void)state;
  static const char *const names[] = {"repeatable reads", "serializable"};
  static const iso_driver_request changes[] = {{.kind = ISO_INSERT, .key = 25, .value = 1},
                                               {.kind = ISO_UPDATE, .key = 3, .value = 33},
                                               {.kind = ISO_DELETE, .key = 25}};
  for (size_t i = 0; i < 6; i++) {
    iso_begin(one, level(names[i / 3]), &reply);
    iso_do(one, &(iso_driver_request){.kind = i % 2 == 0 ? ISO_READ_RANGE : ISO_COUNT, .key = 2, .high = 30}, &reply);
    assert_reply(&reply, OK, ACTIVE);
    iso_write(one, 60, (int64_t)i, &reply);
    iso_do(two, &changes[i % 3], &reply);
    assert_reply(&reply, OK, COMMITTED);
    assert_int_equal(reply.affected, 1);
    aborts("a range that changed");
  }
  /* What is not in the range is no matter. */
  iso_begin(one, NULL, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = 2, .high = 30}, &reply);
  iso_write(one, 60, 1, &reply);
  iso_write(two, 31, 1, &reply);
  iso_write(two, 1, 1, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, OK, COMMITTED);
}

/* A transaction sees its own writes in all that it reads. */
static void sees_its_own_writes(void **state) {
  (void)state;
  iso_begin(one, NULL, &reply);
  for (int i = 0; i < 2; i++) iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 1, .value = 5}, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 80, .value = 5}, &reply);
  iso_read(one, 1, &reply);
  assert_int_equal(reply.value, 10);
  iso_do(one, &(iso_driver_request){.kind = ISO_DELETE, .key = 2}, &reply);
  assert_int_equal(reply.affected, 1);
  iso_do(one, &(iso_driver_request){.kind = ISO_DELETE, .key = 2}, &reply);
  assert_int_equal(reply.affected, 0);
  iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = 3, .value = 1}, &reply);
  assert_reply(&reply, REJECTED, ACTIVE);
  iso_do(one, &(iso_driver_request){.kind = ISO_INSERT, .key = -4, .value = 44}, &reply);
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

/* ---- what is not ours ---- */

static void refuses_names(const char *words) {
  isoproof_error error = {0};
  iso_database *database = NULL;
  iso_database_options named = {.table = "orders"};
  assert_ok_error(iso_database_open(&server_url, 1, &named, &database, &error), error);
  assert_int_equal(iso_database_setup(database, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, words));
  iso_database_close(database);
}

static void leaves_strangers_alone(void **state) {
  (void)state;
  iso_database_options named = {.table = "orders"};
  other_puts("orders", "precious");
  refuses_names("not made by isoproof");
  other_deletes("orders");
  other_puts("orders:v:1", "precious");
  refuses_names("not made by isoproof");
  other_deletes("orders:v:1");
  iso_database *first = suite_open(server_url, &named);
  refuses_names("still going on");
  /* Neighbours of the names that are ours. */
  static const char *const near[] = {"orders0", "orders:w:1", "orders:v:", "orders:l:g", "orders;", "ordert"};
  for (size_t i = 0; i < 6; i++) other_puts(near[i], "precious");
  suite_close(first);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(other_counts(near[i], NULL), 1);
    other_deletes(near[i]);
  }
  assert_int_equal(all_keys(), 0);
}

/* What a run that is gone has left is removed, and nothing that only looks like it. */
static void removes_leftovers(void **state) {
  (void)state;
  iso_mark gone = {.table = "isoproof_gone", .run = 77, .made = 1};
  char text[ISO_MARK_BYTES];
  iso_process_here(&gone.process);
  gone.process.started ^= 1; /* another process of the same number */
  iso_mark_write(&gone, text);
  other_puts("isoproof_gone", text);
  other_puts("isoproof_gone:v:8000000000000001", "1");
  other_puts("isoproof_gone:d", "1");
  other_puts("isoproof_copy", text); /* its mark names another table */
  other_puts("isoproof_other:v:1", "precious");
  suite_close(suite_open(server_url, NULL));
  assert_int_equal(other_counts("isoproof_gone", "isoproof_gone;"), 0);
  assert_int_equal(other_counts("isoproof_copy", NULL), 1);
  assert_int_equal(other_counts("isoproof_other:v:1", NULL), 1);
  other_deletes("isoproof_copy");
  other_deletes("isoproof_other:v:1");
  assert_int_equal(all_keys(), 0);
}

static void notices_others(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_database_options tagged = {.tag_bits = 22};
  fixture_open(server_url, &tagged);
  iso_write(one, 1, 5, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 1, .value = 2}, &reply);
  iso_do(one, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 90, .value = 2}, &reply);
  assert_int_equal(suite_value(db, 1), 7);
  assert_int_equal(suite_value(db, 90), 2);
  static const char *const wrong[] = {"12", "text", ""};
  for (size_t i = 0; i < 3; i++) {
    other_puts("isoproof:v:8000000000000001", wrong[i]);
    iso_read(one, 1, &reply);
    assert_int_equal(reply.outcome, ISO_OUTCOME_FOREIGN);
  }
  assert_ok_error(iso_database_verify(db, &error), error);
  char mark[ISO_MARK_BYTES];
  iso_do(one, &(iso_driver_request){.kind = ISO_FIND_TABLE, .table = "isoproof"}, &reply);
  snprintf(mark, sizeof mark, "%s", iso_reply_cell(&reply, 0, 2));
  other_deletes("isoproof");
  assert_int_equal(iso_database_verify(db, &error), ISOPROOF_ERR_INTERFERENCE);
  other_puts("isoproof", mark);
}

/* ---- trouble ---- */

static void connection_loss(void **state) {
  (void)state;
  fixture_loss(server_url, "etcd://%s@127.0.0.1:%u/%s");
}

/* A prefix keeps everything of a run together; several hosts are nodes. */
static void takes_prefixes_and_hosts(void **state) {
  (void)state;
  isoproof_error error = {0};
  iso_url url;
  char text[256];
  assert_ok_error(iso_url_parse(server_url, ISO_URL_FULL, &url, &error), error);
  snprintf(text, sizeof text, "etcd://%s:%u,%s:%u/a/b", url.host, url.port, url.host, url.port);
  iso_url_free(&url);
  iso_database *database = suite_open(text, NULL);
  assert_int_equal(iso_database_nodes(database), 2);
  assert_int_equal(other_counts("a/b/isoproof", NULL), 1);
  assert_int_equal(other_counts("a/b/", "a/b0"), all_keys());
  iso_connection *second = suite_connect(database, 1);
  iso_read(second, 3, &reply);
  assert_true(reply.present);
  iso_disconnect(second);
  suite_close(database);
  assert_int_equal(all_keys(), 0);
}

static void refuses_bad_urls(void **state) {
  (void)state;
  static const char *const wrong[] = {"etcd://h/?colour=red", "etcd:x", "etcd://h/?cert=a", "etcd://h:1,/",
                                      "etcd://h:1,,h:2/"};
  static const char *const bad = "etcd://me:hidden@127.0.0.1:1,127.0.0.1:1/0";
  iso_database *none = NULL;
  isoproof_error error = {0};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(iso_database_open(&wrong[i], 1, NULL, &none, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(iso_database_open(&bad, 1, NULL, &none, &error), ISOPROOF_ERR_IO);
  assert_null(strstr(error.message, "hidden"));
}

/* ---- users ---- */

static void ask_auth(const char *path, const char *const *fields, size_t count) {
  isoproof_json json;
  iso_etcd_begin(otherwise->state, &json);
  for (size_t i = 0; i + 1 < count; i += 2) iso_json_field_text(&json, fields[i], fields[i + 1]);
  ask_other(&json, path);
}

/* The URL of the server with a user and a password. */
static const char *url_with(const char *login, char text[256]) {
  iso_url url;
  isoproof_error error = {0};
  assert_ok_error(iso_url_parse(server_url, ISO_URL_FULL, &url, &error), error);
  snprintf(text, 256, "etcd://%s@%s:%u/", login, url.host, url.port);
  iso_url_free(&url);
  return text;
}

static void logs_in(void **state) {
  (void)state;
  isoproof_error error = {0};
  char right[256], wrong[256];
  iso_database *database = NULL;
  ask_auth("/v3/auth/user/add", (const char *[]){"name", "root", "password", "s3cr\"t/w"}, 4);
  ask_auth("/v3/auth/role/add", (const char *[]){"name", "root"}, 2);
  ask_auth("/v3/auth/user/grant", (const char *[]){"user", "root", "role", "root"}, 4);
  ask_auth("/v3/auth/enable", NULL, 0);
  const char *url = url_with("root:s3cr%22t%2Fw", right), *bad = url_with("root:s3cret-no", wrong);
  assert_int_equal(iso_database_open(&server_url, 1, NULL, &database, &error), ISOPROOF_ERR_IO);
  assert_int_equal(iso_database_open(&bad, 1, NULL, &database, &error), ISOPROOF_ERR_IO);
  assert_null(strstr(error.message, "s3cret"));
  iso_database_options named = {.table = "isoproof_users"};
  database = suite_open(url, &named);
  iso_connection *connection = suite_connect(database, 0);
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 1, 5, &reply);
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  /* A token that is not valid any more: nothing took effect, and a new connection has a new one. */
  iso_etcd_session *s = connection->state;
  struct curl_slist *old = s->headers;
  s->headers = s->curl->slist_append(NULL, "Authorization: nothing.1");
  s->curl->easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers);
  s->curl->slist_free_all(old);
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 1, 6, &reply);
  iso_commit(connection, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_false(iso_connected(connection));
  assert_ok_error(iso_reconnect(connection, &error), error);
  iso_read(connection, 1, &reply);
  assert_int_equal(reply.value, 5);
  assert_ok_error(iso_database_teardown(database, &error), error);
  /* The last one leaves the door open. */
  iso_connection *before = otherwise;
  otherwise = connection;
  ask_auth("/v3/auth/disable", NULL, 0);
  otherwise = before;
  ask_auth("/v3/auth/user/delete", (const char *[]){"name", "root"}, 2);
  ask_auth("/v3/auth/role/delete", (const char *[]){"role", "root"}, 2);
  iso_disconnect(connection);
  iso_database_close(database);
}

/* Stops the server, and waits until it is. */
static void stop_server(pid_t server) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)server);
  assert_int_equal(kill(server, SIGSTOP), 0);
  for (int i = 0; i < 1000; i++) {
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    bool stopped = fgets(text, sizeof text, in) != NULL && strstr(text, ") T ") != NULL;
    fclose(in);
    if (stopped) return;
    usleep(10000);
  }
}

/* Who has no answer can be told to stop: a read has no effect, of a commit nobody knows. */
static void cancels(void **state) {
  (void)state;
  isoproof_error error = {0};
  const iso_driver_request requests[] = {{.kind = ISO_READ, .key = 7}, {.kind = ISO_COMMIT}};
  pid_t server = (pid_t)strtol(getenv("ISOPROOF_TEST_ETCD_PID"), NULL, 10);
  for (size_t i = 0; i < 2; i++) {
    iso_begin(two, NULL, &reply);
    iso_write(two, 8, 88, &reply);
    stop_server(server);
    isoproof_status started = iso_start(two, &requests[i], &error);
    bool answered = iso_poll(two, 200), cancelled = iso_cancel(two);
    iso_finish(two, &reply);
    /* Whatever comes out of it, others want the server. */
    assert_int_equal(kill(server, SIGCONT), 0);
    assert_ok_error(started, error);
    assert_true(!answered && cancelled);
    assert_int_equal(reply.error_class, ISO_CLASS_CANCELLED);
    if (i == 0)
      assert_reply(&reply, ABORT, ABORTED);
    else
      assert_reply(&reply, UNKNOWN, UNKNOWN);
    iso_rollback(two, &reply);
    /* The connection is one again. */
    iso_read(two, 1, &reply);
    assert_reply(&reply, OK, COMMITTED);
  }
}

/* Which errors leave it open whether a transaction took effect. */
static void knows_errors(void **state) {
  (void)state;
  bool certain;
  assert_int_equal(iso_etcd_class(14, &certain), ISO_CLASS_UNAVAILABLE);
  assert_false(certain);
  assert_int_equal(iso_etcd_class(4, &certain), ISO_CLASS_TIMEOUT);
  assert_false(certain);
  assert_int_equal(iso_etcd_class(11, &certain), ISO_CLASS_SERIALIZATION);
  assert_true(certain);
  assert_int_equal(iso_etcd_class(1234, &certain), ISO_CLASS_OTHER);
  assert_false(certain);
  /* More than a transaction of etcd may have: refused, and nothing of it took effect. */
  iso_begin(one, NULL, &reply);
  for (int64_t i = 0; i < 200; i++) iso_write(one, 1000 + i, i, &reply);
  iso_commit(one, &reply);
  assert_reply(&reply, REJECTED, ABORTED);
  assert_true(suite_value(db, 1000) == INT64_MIN);
}

/* Answers that are no answers. */
static void reads_only_answers(void **state) {
  (void)state;
  static const char *const wrong[] = {"",
                                      "[]",
                                      "{",
                                      "{\"kvs\":1}",
                                      "{\"kvs\":[{\"key\":\"*\"}]}",
                                      "{\"header\":[]}",
                                      "null",
                                      "{\"count\":{}}",
                                      "{\"succeeded\":3}",
                                      "{\"kvs\":[{\"mod_revision\":\"x\"}]}",
                                      "{\"members\":0}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    iso_etcd_answer answer = {.revision = 0};
    assert_int_not_equal(iso_etcd_read_answer(wrong[i], strlen(wrong[i]), &answer, NULL), ISOPROOF_OK);
    iso_etcd_answer_free(&answer);
  }
  static const char right[] = "{\"header\":{\"revision\":\"9223372036854775807\",\"new\":[{}]},\"kvs\":[{\"key\":\"YQ=="
                              "\",\"value\":\"YWI=\"},{}],"
                              "\"count\":2,\"more\":true}";
  iso_etcd_answer answer = {.revision = 0};
  assert_int_equal(iso_etcd_read_answer(right, strlen(right), &answer, NULL), ISOPROOF_OK);
  assert_true(answer.revision == INT64_MAX && answer.count == 2 && answer.pairs.count == 2);
  assert_string_equal(answer.text.items + answer.pairs.items[0].key, "a");
  assert_string_equal(answer.text.items + answer.pairs.items[0].value, "ab");
  assert_string_equal(answer.text.items + answer.pairs.items[1].value, "");
  iso_etcd_answer_free(&answer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(does_all),
      WITH_SERVER(knows_itself),
      WITH_SERVER(compares_what_was_read),
      WITH_SERVER(compares_what_is_written),
      WITH_SERVER(reads_a_snapshot),
      WITH_SERVER(changes_depend_on_rows),
      WITH_SERVER(ranges_are_compared),
      WITH_SERVER(sees_its_own_writes),
      cmocka_unit_test(leaves_strangers_alone),
      cmocka_unit_test(removes_leftovers),
      cmocka_unit_test_teardown(notices_others, fixture_close),
      WITH_SERVER(connection_loss),
      cmocka_unit_test(takes_prefixes_and_hosts),
      cmocka_unit_test(refuses_bad_urls),
      WITH_SERVER(knows_errors),
      WITH_SERVER(cancels),
      cmocka_unit_test(logs_in),
      cmocka_unit_test(reads_only_answers),
  };
  return fixture_run("ISOPROOF_TEST_ETCD", tests, connect_other, disconnect_other);
}
