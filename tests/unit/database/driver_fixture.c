/* driver_fixture.c - an open database with three connections, and what tests of several drivers do with them. */
#include "tests/unit/database/driver_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/database/batch_suite.h"
#include "tests/unit/database/driver_loss.h"
#include "tests/unit/database/tables_suite.h"

const char *server_url;
iso_database *db;
iso_connection *one, *two, *control;
iso_reply reply;

void fixture_open(const char *url, const iso_database_options *options) {
  db = suite_open(url, options);
  one = suite_connect(db, 0);
  two = suite_connect(db, 0);
  control = suite_connect(db, 0);
}

int fixture_open_server(void **state) {
  (void)state;
  fixture_open(server_url, NULL);
  return 0;
}

int fixture_close(void **state) {
  (void)state;
  iso_disconnect(one);
  iso_disconnect(two);
  iso_disconnect(control);
  suite_close(db);
  iso_reply_free(&reply);
  memset(&reply, 0, sizeof reply);
  return 0;
}

bool fixture_find_server(const char *variable) {
  server_url = getenv(variable);
  if (server_url == NULL) printf("%s is not set: skipped\n", variable);
  return server_url != NULL;
}

void fixture_does_all(void **state) {
  (void)state;
  suite_all(server_url);
}

void fixture_minds_tables(void **state) {
  (void)state;
  tables_suite(server_url, NULL);
}

void fixture_many_sessions(const char *at) {
  enum { SESSIONS = 64 };
  iso_connection *all[SESSIONS];
  for (int64_t i = 0; i < SESSIONS; i++) {
    all[i] = suite_connect(db, 0);
    iso_begin(all[i], level(at), &reply);
    iso_read(all[i], 100 + i, &reply);
    iso_write(all[i], 100 + i, i, &reply);
    assert_reply(&reply, OK, ACTIVE);
  }
  for (int i = 0; i < SESSIONS; i++) {
    iso_commit(all[i], &reply);
    assert_reply(&reply, OK, COMMITTED);
    iso_disconnect(all[i]);
  }
  iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .key = 100, .high = 1000}, &reply);
  assert_int_equal(reply.value, SESSIONS);
}

const iso_isolation *level(const char *name) {
  const iso_isolation *found = NULL;
  isoproof_error error = {0};
  if (iso_database_find_isolation(db, name, &found, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  return found;
}

void fixture_killed(const char *statement, const char *seen, const char *code) {
  isoproof_error error = {0};
  char sql[100];
  for (int waiting = 0; waiting < 2; waiting++) {
    iso_begin(two, NULL, &reply);
    iso_write(two, 2, 9, &reply);
    if (waiting) {
      iso_begin(one, NULL, &reply);
      iso_write(one, 1, 1, &reply);
      assert_ok_error(iso_start(two, &(iso_driver_request){.kind = ISO_WRITE, .key = 1, .value = 2}, &error), error);
      suite_blocked(control, two);
    }
    snprintf(sql, sizeof sql, statement, (unsigned)iso_connection_server_id(two));
    iso_execute(control, sql, &reply);
    assert_reply(&reply, OK, COMMITTED);
    if (waiting) {
      iso_finish(two, &reply);
      assert_reply(&reply, LOST, ABORTED);
      if (code != NULL) assert_string_equal(reply.code, code);
      iso_rollback(one, &reply);
    } else {
      snprintf(sql, sizeof sql, seen, (unsigned)iso_connection_server_id(two));
      for (int i = 0; i < 1000 && (i == 0 || reply.cells.count > 0); i++) {
        usleep(10000);
        iso_execute(control, sql, &reply);
      }
      /* Even a commit: the transaction is gone, but who knows. */
      iso_commit(two, &reply);
      assert_reply(&reply, UNKNOWN, UNKNOWN);
    }
    assert_false(iso_connected(two));
    assert_ok_error(iso_reconnect(two, &error), error);
    assert_int_equal(suite_value(db, 2), 0);
  }
}

void fixture_loss(const char *of, const char *format) {
  iso_url url;
  isoproof_error error = {0};
  assert_ok_error(iso_url_parse(of, ISO_URL_FULL, &url, &error), error);
  proxy *p = proxy_start(url.port);
  char through_url[256];
  snprintf(through_url, sizeof through_url, format, url.user, proxy_port(p), url.path);
  const char *urls[] = {through_url};
  /* Only silence is noticed by the clock; all else has time enough on a busy machine. */
  iso_database_options options = {.statement_timeout_ms = 60000, .table = iso_database_table_name(db)};
  iso_database *through = NULL;
  assert_ok_error(iso_database_open(urls, 1, &options, &through, &error), error);
  loss_at_every_point(through, db, p);
  iso_database_close(through);
  options.statement_timeout_ms = 1000;
  assert_ok_error(iso_database_open(urls, 1, &options, &through, &error), error);
  loss_by_silence(through, db, p);
  if (iso_database_capabilities(db).batches) batch_loss(through, db, p);
  iso_database_close(through);
  proxy_stop(p);
  iso_url_free(&url);
}
