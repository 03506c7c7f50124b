/* batch_suite.c - several requests at once, and what is true of the transaction afterwards. */
#include "tests/unit/database/batch_suite.h"

#include <pthread.h>
#include <string.h>

#include "database/driver_table.h"
#include "tests/unit/database/driver_suite.h"
#include "tests/unit/unit.h"

enum { MOST = 8 };

static const iso_driver_request begin = {.kind = ISO_BEGIN}, commit = {.kind = ISO_COMMIT};
static iso_reply replies[MOST];

static iso_driver_request insert(int64_t key, int64_t value) {
  return (iso_driver_request){.kind = ISO_INSERT, .key = key, .value = value};
}

static iso_driver_request update(int64_t key, int64_t value) {
  return (iso_driver_request){.kind = ISO_UPDATE, .key = key, .value = value};
}

static iso_driver_request count(int64_t low, int64_t high) {
  return (iso_driver_request){.kind = ISO_COUNT, .key = low, .high = high};
}

static iso_driver_request read_key(int64_t key) { return (iso_driver_request){.kind = ISO_READ, .key = key}; }

static void free_replies(void) {
  for (size_t i = 0; i < MOST; i++) iso_reply_free(&replies[i]);
  memset(replies, 0, sizeof replies);
}

static void whole_transactions(iso_database *database, iso_connection *connection) {
  const iso_driver_request all[] = {begin,         insert(100, 1), count(100, 199), update(100, 2),
                                    read_key(100), update(101, 9), read_key(101),   commit};
  for (int again = 0; again < 2; again++) {
    assert_int_equal(iso_do_batch(connection, all, 8, replies), ISO_OUTCOME_OK);
    for (size_t i = 0; i < 7; i++) assert_reply(&replies[i], OK, ACTIVE);
    assert_reply(&replies[7], OK, COMMITTED);
    assert_int_equal(replies[1].affected, 1);
    assert_int_equal(replies[2].value, 1);
    assert_int_equal(replies[3].affected, 1);
    assert_true(replies[4].present && replies[4].value == 2);
    assert_int_equal(replies[5].affected, 0);
    assert_false(replies[6].present);
    assert_int_equal(connection->txn, ISO_TXN_COMMITTED);
    assert_int_equal(suite_value(database, 100), 2);
    iso_do(connection, &(iso_driver_request){.kind = ISO_DELETE, .key = 100}, &replies[0]);
    assert_reply(&replies[0], OK, COMMITTED);
  }
  /* Over all tables. */
  const iso_driver_request range[] = {begin, {.kind = ISO_READ_RANGE, .key = 0, .high = 9}, commit};
  assert_int_equal(iso_do_batch(connection, range, 3, replies), ISO_OUTCOME_OK);
  assert_int_equal(replies[1].rows.count, 10);
  for (int64_t i = 0; i < 10; i++) assert_int_equal(replies[1].rows.items[i].key, i);
}

static void parts_of_transactions(iso_database *database, iso_connection *connection) {
  const iso_driver_request first[] = {begin, update(1, 11), read_key(1)}, second[] = {update(2, 12), commit};
  assert_int_equal(iso_do_batch(connection, first, 3, replies), ISO_OUTCOME_OK);
  assert_reply(&replies[2], OK, ACTIVE);
  assert_int_equal(replies[2].value, 11);
  iso_rollback(connection, &replies[0]);
  assert_reply(&replies[0], OK, ABORTED);
  assert_int_equal(suite_value(database, 1), 0);
  assert_int_equal(iso_do_batch(connection, first, 3, replies), ISO_OUTCOME_OK);
  assert_int_equal(iso_do_batch(connection, second, 2, replies), ISO_OUTCOME_OK);
  assert_reply(&replies[1], OK, COMMITTED);
  assert_int_equal(suite_value(database, 1), 11);
  assert_int_equal(suite_value(database, 2), 12);
  /* Without a transaction each is one of its own. */
  const iso_driver_request alone[] = {update(1, 0), update(2, 0), read_key(1)};
  assert_int_equal(iso_do_batch(connection, alone, 3, replies), ISO_OUTCOME_OK);
  for (size_t i = 0; i < 3; i++) assert_reply(&replies[i], OK, COMMITTED);
  assert_int_equal(iso_do_batch(connection, alone, 0, replies), ISO_OUTCOME_OK);
}

/* A duplicate key in the middle: what is behind it is not done, the commit least of all. */
static void failures(iso_database *database, iso_connection *connection) {
  const iso_driver_request all[] = {begin, update(3, 33), insert(4, 1), update(5, 55), commit};
  for (int again = 0; again < 3; again++) {
    assert_int_equal(iso_do_batch(connection, all, 5, replies), ISO_OUTCOME_REJECTED);
    assert_reply(&replies[1], OK, ACTIVE);
    assert_int_equal(replies[2].error_class, ISO_CLASS_CONSTRAINT);
    for (size_t i = 3; i < 5; i++) {
      assert_int_equal(replies[i].outcome, ISO_OUTCOME_REJECTED);
      assert_int_equal(replies[i].error_class, ISO_CLASS_STATE);
      assert_int_equal(replies[i].txn, replies[2].txn);
    }
    assert_int_equal(suite_value(database, 3), 0);
    assert_int_equal(suite_value(database, 5), 0);
    /* It is ended by a rollback, by a commit, which is none, or by the next batch. */
    if (replies[2].txn == ISO_TXN_ACTIVE || again == 0) {
      iso_rollback(connection, &replies[0]);
      assert_reply(&replies[0], OK, ABORTED);
    } else if (again == 1) {
      iso_commit(connection, &replies[0]);
      assert_reply(&replies[0], ABORT, ABORTED);
    }
    assert_int_equal(suite_value(database, 3), 0);
  }
  const iso_driver_request good[] = {begin, update(3, 0), commit};
  assert_int_equal(iso_do_batch(connection, good, 3, replies), ISO_OUTCOME_OK);
  assert_reply(&replies[2], OK, COMMITTED);
}

/* What does not fit, or cannot be, is refused in its turn. */
static void refusals(iso_connection *connection) {
  const iso_driver_request twice[] = {begin, begin, commit}, no_begin[] = {read_key(1), commit};
  assert_int_equal(iso_do_batch(connection, twice, 3, replies), ISO_OUTCOME_REJECTED);
  assert_reply(&replies[0], OK, ACTIVE);
  assert_reply(&replies[1], REJECTED, ACTIVE);
  assert_reply(&replies[2], REJECTED, ACTIVE);
  iso_rollback(connection, &replies[0]);
  assert_int_equal(iso_do_batch(connection, no_begin, 2, replies), ISO_OUTCOME_REJECTED);
  assert_reply(&replies[0], OK, COMMITTED);
  assert_int_equal(replies[1].error_class, ISO_CLASS_STATE);
  const iso_driver_request strange[] = {begin, {.kind = ISO_READ, .round = UINT64_MAX}, commit};
  assert_int_equal(iso_do_batch(connection, strange, 3, replies), ISO_OUTCOME_REJECTED);
  assert_int_equal(replies[1].error_class, ISO_CLASS_CLIENT);
  iso_rollback(connection, &replies[0]);
  /* Statements of one's own are single statements, also after a batch. */
  assert_true(iso_execute(connection, "SELECT 1; SELECT 2", &replies[0]) != ISO_OUTCOME_OK || replies[0].columns == 1);
  if (connection->database->driver->id != ISO_DRIVER_ODBC) assert_int_equal(replies[0].outcome, ISO_OUTCOME_REJECTED);
}

/* In the table of a round, with statements that were made ready and not. */
static void in_rounds(iso_database *database, iso_connection *connection) {
  isoproof_error error = {0};
  iso_driver_request all[] = {begin, count(1, 1), insert(1, 1), commit};
  assert_ok_error(iso_database_make_rounds(database, 7, 4, &error), error);
  for (uint64_t number = 7; number < 11; number++) {
    for (size_t i = 1; i < 3; i++) {
      all[i].round = number;
      if (number % 2 == 0) iso_prepare(connection, &all[i], &replies[0]);
      if (number % 2 == 0) assert_int_equal(replies[0].outcome, ISO_OUTCOME_OK);
    }
    assert_int_equal(iso_do_batch(connection, all, 4, replies), ISO_OUTCOME_OK);
    assert_int_equal(replies[1].value, 0);
    assert_reply(&replies[3], OK, COMMITTED);
  }
  assert_ok_error(iso_database_drop_rounds(database, 7, 4, &error), error);
}

void batch_suite(const char *url) {
  for (unsigned how = 0; how < ISO_SENDINGS; how++) {
    iso_database_options options = {.statements = (iso_sending)how, .tables = 1 + 2 * how};
    iso_database *database = suite_open(url, &options);
    iso_connection *connection = suite_connect(database, 0);
    whole_transactions(database, connection);
    parts_of_transactions(database, connection);
    failures(database, connection);
    refusals(connection);
    in_rounds(database, connection);
    iso_disconnect(connection);
    suite_close(database);
  }
  free_replies();
}

/* ---- deadlocks ---- */

typedef struct side {
  iso_connection *connection;
  iso_driver_request requests[2];
  iso_reply replies[2];
} side;

static void *run_side(void *user) {
  side *s = user;
  iso_do_batch(s->connection, s->requests, 2, s->replies);
  return NULL;
}

void batch_deadlock(const char *url) {
  iso_database *database = suite_open(url, NULL);
  side sides[2];
  memset(sides, 0, sizeof sides);
  for (int i = 0; i < 2; i++) {
    const iso_driver_request first[] = {begin, update(1 + i, 10 + i)};
    sides[i].connection = suite_connect(database, 0);
    sides[i].requests[0] = update(2 - i, 10 + i);
    sides[i].requests[1] = commit;
    assert_int_equal(iso_do_batch(sides[i].connection, first, 2, replies), ISO_OUTCOME_OK);
  }
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, run_side, &sides[0]), 0);
  run_side(&sides[1]);
  pthread_join(thread, NULL);
  int loser = sides[0].replies[0].error_class == ISO_CLASS_DEADLOCK ? 0 : 1, winner = 1 - loser;
  assert_reply(&sides[loser].replies[0], ABORT, ABORTED);
  assert_int_equal(sides[loser].replies[0].error_class, ISO_CLASS_DEADLOCK);
  assert_reply(&sides[loser].replies[1], REJECTED, ABORTED);
  assert_reply(&sides[winner].replies[0], OK, ACTIVE);
  assert_reply(&sides[winner].replies[1], OK, COMMITTED);
  assert_int_equal(suite_value(database, 1), 10 + winner);
  assert_int_equal(suite_value(database, 2), 10 + winner);
  for (int i = 0; i < 2; i++) {
    iso_reply_free(&sides[i].replies[0]);
    iso_reply_free(&sides[i].replies[1]);
    iso_disconnect(sides[i].connection);
  }
  suite_close(database);
  free_replies();
}

/* ---- loss ---- */

enum { STEP_BYTES = 7, ROOM_BYTES = 4000 };

/* Answers come until one does not: what they say is true, and the rest is unknown, or not done after a failure. */
static size_t check_answers(size_t wanted, bool commits) {
  size_t good = 0;
  while (good < wanted && replies[good].outcome == ISO_OUTCOME_OK) good++;
  for (size_t i = 0; i < good; i++) {
    bool last = commits && i + 1 == wanted;
    assert_int_equal(replies[i].txn, last ? ISO_TXN_COMMITTED : ISO_TXN_ACTIVE);
  }
  for (size_t i = good; i < wanted; i++) {
    if (replies[good].outcome == ISO_OUTCOME_REJECTED)
      assert_reply(&replies[i], REJECTED, ABORTED);
    else if (commits)
      assert_reply(&replies[i], UNKNOWN, UNKNOWN);
    else
      assert_reply(&replies[i], LOST, ABORTED);
  }
  return good;
}

static void set_directly(iso_database *direct, int64_t key, int64_t value) {
  iso_connection *connection = suite_connect(direct, 0);
  iso_reply reply = {0};
  iso_write(connection, key, value, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_reply_free(&reply);
  iso_disconnect(connection);
}

/* Cuts the answers to a batch after more and more bytes, until all of them come. */
static void cut_everywhere(iso_database *through, iso_database *direct, proxy *p, const iso_driver_request *requests,
                           size_t wanted, int64_t written) {
  isoproof_error error = {0};
  bool commits = requests[wanted - 1].kind == ISO_COMMIT, whole = false;
  unsigned seen = 0;
  iso_connection *connection = suite_connect(through, 0);
  for (uint32_t bytes = 0; !whole && bytes < ROOM_BYTES; bytes += STEP_BYTES) {
    /* What there is to prepare is prepared: nothing but the batch itself is sent. */
    iso_do_batch(connection, requests, wanted, replies);
    iso_rollback(connection, &replies[0]);
    set_directly(direct, 1, 0);
    proxy_limit(p, bytes);
    proxy_set(p, bytes == 0 ? PROXY_SWALLOW : PROXY_PART);
    iso_do_batch(connection, requests, wanted, replies);
    size_t good = check_answers(wanted, commits);
    seen |= 1U << good;
    whole = iso_connected(connection);
    proxy_set(p, PROXY_PASS);
    if (good == wanted && commits)
      assert_int_equal(suite_value(direct, 1), written);
    else if (good < wanted && (!commits || replies[good].outcome == ISO_OUTCOME_REJECTED))
      assert_int_equal(suite_value(direct, 1), 0);
    assert_ok_error(iso_reconnect(connection, &error), error);
  }
  assert_true(whole);
  /* Cuts before the first answer, between them, and after the last. */
  assert_true((seen & 1) != 0 && (seen & (seen - 1)) != 0);
  iso_disconnect(connection);
}

void batch_loss(iso_database *through, iso_database *direct, proxy *p) {
  const iso_driver_request whole[] = {begin, read_key(2), update(1, 41), count(0, 9), commit};
  const iso_driver_request part[] = {begin, update(1, 42), read_key(2)};
  const iso_driver_request fails[] = {begin, update(1, 43), insert(2, 1), commit};
  iso_connection *connection = suite_connect(through, 0);
  cut_everywhere(through, direct, p, whole, 5, 41);
  cut_everywhere(through, direct, p, part, 3, 42);
  if (iso_database_capabilities(through).batches && through->dialect == ISO_SQL_POSTGRES)
    cut_everywhere(through, direct, p, fails, 4, 43);
  /* Cut before it is sent, between two batches, and with a server that says nothing. */
  iso_do_batch(connection, whole, 5, replies);
  assert_reply(&replies[4], OK, COMMITTED);
  set_directly(direct, 1, 0);
  iso_do_batch(connection, part, 2, replies);
  assert_reply(&replies[1], OK, ACTIVE);
  proxy_set(p, PROXY_CUT);
  iso_do_batch(connection, whole + 2, 3, replies);
  for (size_t i = 0; i < 3; i++) assert_reply(&replies[i], UNKNOWN, UNKNOWN);
  proxy_set(p, PROXY_PASS);
  isoproof_error error = {0};
  assert_ok_error(iso_reconnect(connection, &error), error);
  assert_int_equal(suite_value(direct, 1), 0);
  iso_do_batch(connection, whole, 5, replies);
  assert_reply(&replies[4], OK, COMMITTED);
  proxy_set(p, PROXY_STALL);
  iso_do_batch(connection, whole, 5, replies);
  for (size_t i = 0; i < 5; i++) assert_reply(&replies[i], UNKNOWN, UNKNOWN);
  proxy_set(p, PROXY_CUT);
  proxy_set(p, PROXY_PASS);
  iso_disconnect(connection);
  free_replies();
}
