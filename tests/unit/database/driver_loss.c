/* driver_loss.c - connections lost at every point of a transaction. */
#include "tests/unit/database/driver_loss.h"

#include <unistd.h>

#include "database/driver_table.h"
#include "tests/unit/unit.h"

/* Waits until the lost transaction is gone from the server: its locks are free again. */
static void write_directly(iso_database *direct, int64_t key, int64_t value) {
  iso_connection *connection = suite_connect(direct, 0);
  iso_reply reply = {0};
  for (int i = 0; i < 100 && iso_write(connection, key, value, &reply) != ISO_OUTCOME_OK; i++) usleep(100000);
  assert_reply(&reply, OK, COMMITTED);
  iso_reply_free(&reply);
  iso_disconnect(connection);
}

static void lost_and_back(iso_connection *connection, proxy *p, iso_reply *reply) {
  assert_false(iso_connected(connection));
  iso_read(connection, 1, reply);
  assert_int_equal(reply->outcome, ISO_OUTCOME_LOST);
  proxy_set(p, PROXY_PASS);
  isoproof_error error = {0};
  if (iso_reconnect(connection, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  assert_true(iso_connected(connection));
  assert_int_equal(connection->txn, ISO_TXN_IDLE);
}

/* What costs no round trip succeeds; then the next one that does tells. */
static void reach_server(iso_connection *connection, iso_reply *reply) {
  if (reply->outcome == ISO_OUTCOME_OK) iso_do(connection, &(iso_driver_request){.kind = ISO_PING}, reply);
}

enum { POINT_BEGIN, POINT_READ, POINT_WRITE, POINT_SECOND_WRITE, POINT_COMMIT, POINT_ROLLBACK, POINTS };

static void do_point(iso_connection *connection, int point, int64_t value, iso_reply *reply) {
  switch (point) {
  case POINT_BEGIN:
    iso_begin(connection, NULL, reply);
    break;
  case POINT_READ:
    iso_read(connection, 1, reply);
    break;
  case POINT_WRITE:
    iso_write(connection, 1, value, reply);
    break;
  case POINT_SECOND_WRITE:
    iso_write(connection, 2, value, reply);
    break;
  case POINT_COMMIT:
    iso_commit(connection, reply);
    break;
  default:
    iso_rollback(connection, reply);
    break;
  }
}

/* The connection is lost at one point of a transaction: cut before the request, or after it with its answer swallowed.
 */
static void lose_at(iso_connection *connection, proxy *p, iso_database *direct, proxy_mode how, int point,
                    int64_t value) {
  iso_reply reply = {0};
  for (int step = 0; step <= point; step++) {
    if (step == POINT_COMMIT && point == POINT_ROLLBACK) continue;
    if (step == point) proxy_set(p, how);
    do_point(connection, step, value, &reply);
    if (step == point && point != POINT_COMMIT) reach_server(connection, &reply);
    if (step < point) assert_reply(&reply, OK, ACTIVE);
  }
  if (point == POINT_COMMIT) {
    assert_reply(&reply, UNKNOWN, UNKNOWN);
  } else {
    assert_int_equal(reply.txn, ISO_TXN_ABORTED);
    assert_true(point == POINT_ROLLBACK || reply.outcome == ISO_OUTCOME_LOST);
  }
  assert_true(point == POINT_ROLLBACK || reply.message[0] != 0);
  if (point > POINT_BEGIN && point < POINT_COMMIT) {
    iso_commit(connection, &reply);
    assert_reply(&reply, ABORT, ABORTED);
  }
  lost_and_back(connection, p, &reply);
  /* Whether a commit arrived, nobody but this test can know. */
  if (point == POINT_COMMIT && how == PROXY_SWALLOW)
    assert_int_equal(suite_value(direct, 1), value);
  else
    assert_true(suite_value(direct, 1) != value);
  iso_reply_free(&reply);
}

/* The answer to a commit, or to a statement that commits by itself, is lost after it took effect. */
static void swallow(iso_connection *connection, proxy *p, iso_database *direct, bool alone, int64_t value) {
  iso_reply reply = {0};
  if (!alone) {
    iso_begin(connection, NULL, &reply);
    iso_write(connection, 1, value, &reply);
    assert_reply(&reply, OK, ACTIVE);
  } else {
    iso_write(connection, 1, value - 1, &reply); /* prepares the statement */
    assert_reply(&reply, OK, COMMITTED);
  }
  proxy_set(p, PROXY_SWALLOW);
  if (alone)
    iso_write(connection, 1, value, &reply);
  else
    iso_commit(connection, &reply);
  assert_reply(&reply, UNKNOWN, UNKNOWN);
  lost_and_back(connection, p, &reply);
  assert_int_equal(suite_value(direct, 1), value);
  iso_reply_free(&reply);
}

/* The answer to a statement within a transaction is lost: the server rolls back. */
static void swallow_statement(iso_connection *connection, proxy *p, iso_database *direct) {
  iso_reply reply = {0};
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 2, 500, &reply);
  assert_reply(&reply, OK, ACTIVE);
  proxy_set(p, PROXY_SWALLOW);
  iso_write(connection, 1, 501, &reply);
  reach_server(connection, &reply);
  assert_reply(&reply, LOST, ABORTED);
  iso_rollback(connection, &reply);
  assert_reply(&reply, OK, ABORTED);
  lost_and_back(connection, p, &reply);
  write_directly(direct, 1, 502);
  write_directly(direct, 2, 503);
  assert_int_equal(suite_value(direct, 1), 502);
  iso_reply_free(&reply);
}

void loss_at_every_point(iso_database *through, iso_database *direct, proxy *p) {
  iso_connection *connection = suite_connect(through, 0);
  iso_reply reply = {0};
  /* Every statement once, so that what follows costs one round trip per request. */
  iso_begin(connection, NULL, &reply);
  iso_read(connection, 1, &reply);
  iso_write(connection, 1, 1, &reply);
  iso_write(connection, 2, 1, &reply);
  iso_commit(connection, &reply);
  assert_reply(&reply, OK, COMMITTED);
  for (int point = 0; point < POINTS; point++) {
    lose_at(connection, p, direct, PROXY_CUT, point, 100 + point);
    write_directly(direct, 1, 1);
    write_directly(direct, 2, 1);
    lose_at(connection, p, direct, PROXY_SWALLOW, point, 150 + point);
    write_directly(direct, 1, 1);
    write_directly(direct, 2, 1);
  }
  swallow(connection, p, direct, false, 200);
  swallow(connection, p, direct, true, 300);
  swallow_statement(connection, p, direct);
  iso_disconnect(connection);
  iso_reply_free(&reply);
}

void loss_by_silence(iso_database *through, iso_database *direct, proxy *p) {
  iso_connection *connection = suite_connect(through, 0);
  iso_reply reply = {0};
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 1, 600, &reply);
  assert_reply(&reply, OK, ACTIVE);
  proxy_set(p, PROXY_STALL);
  iso_write(connection, 1, 601, &reply);
  reach_server(connection, &reply);
  assert_reply(&reply, LOST, ABORTED);
  proxy_set(p, PROXY_CUT);
  lost_and_back(connection, p, &reply);
  write_directly(direct, 1, 602);
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 1, 603, &reply);
  assert_reply(&reply, OK, ACTIVE);
  proxy_set(p, PROXY_STALL);
  iso_commit(connection, &reply);
  assert_reply(&reply, UNKNOWN, UNKNOWN);
  proxy_set(p, PROXY_CUT);
  lost_and_back(connection, p, &reply);
  iso_disconnect(connection);
  iso_reply_free(&reply);
}
