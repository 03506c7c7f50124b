/* driver_conflicts.c - transactions in each other's way, on every driver. */
#include "tests/unit/database/driver_conflicts.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "database/driver_table.h"
#include "tests/unit/database/driver_suite.h"
#include "tests/unit/unit.h"

enum { MANY = 64, PATIENCE_SECONDS = 120, PAUSE_US = 2000 };

/* ---- one transaction ---- */

void conflict_in_transaction(iso_database *database, iso_connection *connection) {
  iso_reply reply = {0};
  iso_do(connection, &(iso_driver_request){.kind = ISO_INSERT, .key = 2000, .value = 1}, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 2001, 5, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_do(connection, &(iso_driver_request){.kind = ISO_INSERT, .key = 2000, .value = 2}, &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_REJECTED);
  assert_int_equal(reply.error_class, ISO_CLASS_CONSTRAINT);
  bool active = reply.txn == ISO_TXN_ACTIVE;
  if (!active) assert_int_equal(reply.txn, ISO_TXN_ABORTED);
  iso_commit(connection, &reply);
  if (active)
    assert_reply(&reply, OK, COMMITTED);
  else
    assert_reply(&reply, ABORT, ABORTED);
  assert_true(suite_value(database, 2001) == (active ? 5 : INT64_MIN));
  assert_int_equal(suite_value(database, 2000), 1);
  iso_reply_free(&reply);
}

/* ---- two transactions, each with its next request under way at the same time ---- */

typedef struct racer {
  iso_connection *connection;
  iso_driver_request steps[2];
  size_t at, count;
  bool under_way, ended, committed;
  int64_t seen; /* by the last read */
  iso_reply reply;
} racer;

static void end_racer(racer *r, bool committed) {
  if (!committed) iso_rollback(r->connection, &r->reply);
  r->ended = true;
  r->committed = committed;
}

/* Starts or finishes the next request of one of them, never waiting for long. */
static void advance(racer *r) {
  isoproof_error error = {0};
  if (r->ended) return;
  if (!r->under_way) {
    iso_driver_request commit = {.kind = ISO_COMMIT};
    const iso_driver_request *next = r->at < r->count ? &r->steps[r->at] : &commit;
    assert_ok_error(iso_start(r->connection, next, &error), error);
    r->under_way = true;
  }
  if (!iso_poll(r->connection, 10)) return;
  r->under_way = false;
  iso_finish(r->connection, &r->reply);
  if (r->reply.present) r->seen = r->reply.value;
  if (r->reply.outcome == ISO_OUTCOME_OK && r->at == r->count)
    end_racer(r, true);
  else if (r->reply.outcome == ISO_OUTCOME_OK)
    r->at++;
  else if (r->at < r->count || r->reply.txn != ISO_TXN_ACTIVE)
    end_racer(r, false);
  /* A commit that was busy is tried again. */
}

static void race(racer racers[2]) {
  for (int i = 0; i < PATIENCE_SECONDS * 50 && !(racers[0].ended && racers[1].ended); i++) {
    advance(&racers[0]);
    advance(&racers[1]);
  }
  assert_true(racers[0].ended && racers[1].ended);
}

static void begin_racers(iso_database *database, const iso_isolation *isolation, racer racers[2]) {
  for (int i = 0; i < 2; i++) {
    racers[i] = (racer){.connection = suite_connect(database, 0)};
    iso_begin(racers[i].connection, isolation, &racers[i].reply);
    assert_reply(&racers[i].reply, OK, ACTIVE);
  }
}

static void free_racers(racer racers[2]) {
  for (int i = 0; i < 2; i++) {
    iso_reply_free(&racers[i].reply);
    iso_disconnect(racers[i].connection);
  }
}

static void set_value(iso_connection *connection, int64_t key, int64_t value) {
  iso_reply reply = {0};
  iso_write(connection, key, value, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_reply_free(&reply);
}

void conflict_of_inserts(iso_database *database, iso_connection *connection) {
  (void)connection;
  racer racers[2];
  begin_racers(database, NULL, racers);
  for (int i = 0; i < 2; i++) {
    racers[i].steps[0] = (iso_driver_request){.kind = ISO_INSERT, .key = 2100, .value = 10 + i};
    racers[i].count = 1;
  }
  race(racers);
  assert_true(racers[0].committed != racers[1].committed);
  assert_int_equal(suite_value(database, 2100), racers[0].committed ? 10 : 11);
  free_racers(racers);
}

/* Whether a level that the documentation amounts to allows no lost updates. */
static bool keeps_updates(const iso_isolation *isolation) {
  static const char *const levels[] = {"update-atomic", "snapshot-isolation", "serializable", "strict-serializable"};
  for (size_t i = 0; isolation->claims != NULL && i < sizeof levels / sizeof *levels; i++)
    if (strcmp(isolation->claims, levels[i]) == 0) return true;
  return false;
}

void conflict_of_updates(iso_database *database, iso_connection *connection) {
  for (size_t level = 0; iso_database_isolation(database, level) != NULL; level++) {
    const iso_isolation *isolation = iso_database_isolation(database, level);
    if (!keeps_updates(isolation)) continue;
    racer racers[2];
    set_value(connection, 4, 0);
    /* Levels that lock at the beginning let nobody else begin. */
    if (strcmp(isolation->name, "immediate") == 0 || strcmp(isolation->name, "exclusive") == 0) continue;
    begin_racers(database, isolation, racers);
    for (int i = 0; i < 2; i++) {
      racers[i].steps[0] = (iso_driver_request){.kind = ISO_READ, .key = 4};
      racers[i].steps[1] = (iso_driver_request){.kind = ISO_WRITE, .key = 4, .value = 10 + i};
      racers[i].count = 2;
    }
    race(racers);
    /* Who had to wait for the other one has seen what it wrote. */
    int64_t last = suite_value(database, 4);
    if (racers[0].committed && racers[1].committed && racers[0].seen == 0 && racers[1].seen == 0)
      fail_msg("%s: an update was lost", isolation->name);
    assert_true(last == 0 ? !racers[0].committed && !racers[1].committed : racers[last - 10].committed);
    free_racers(racers);
  }
}

void conflict_of_orders(iso_database *database, iso_connection *connection) {
  racer racers[2];
  set_value(connection, 5, 0);
  set_value(connection, 6, 0);
  begin_racers(database, NULL, racers);
  for (int i = 0; i < 2; i++) {
    for (int step = 0; step < 2; step++)
      racers[i].steps[step] = (iso_driver_request){.kind = ISO_WRITE, .key = 5 + (step ^ i), .value = 20 + i};
    racers[i].count = 2;
    iso_do(racers[i].connection, &racers[i].steps[0], &racers[i].reply);
    assert_reply(&racers[i].reply, OK, ACTIVE);
    racers[i].at = 1;
  }
  race(racers);
  int64_t first = suite_value(database, 5), second = suite_value(database, 6);
  assert_int_equal(first, second);
  assert_true(first == 0 ? !racers[0].committed && !racers[1].committed : racers[first - 20].committed);
  free_racers(racers);
}

/* ---- many ---- */

typedef struct adder {
  pthread_t thread;
  iso_connection *connection;
  unsigned attempts;
  bool added;
  char message[ISO_MESSAGE_BYTES];
} adder;

static void *add_one(void *user) {
  adder *a = user;
  iso_reply reply = {0};
  for (a->attempts = 1; a->attempts < PATIENCE_SECONDS * 100 && !a->added; a->attempts++) {
    iso_begin(a->connection, NULL, &reply);
    if (reply.outcome == ISO_OUTCOME_OK)
      iso_do(a->connection, &(iso_driver_request){.kind = ISO_INCREMENT, .key = 8, .value = 1}, &reply);
    if (reply.outcome == ISO_OUTCOME_OK) iso_commit(a->connection, &reply);
    a->added = reply.outcome == ISO_OUTCOME_OK && reply.txn == ISO_TXN_COMMITTED;
    if (a->added) break;
    memcpy(a->message, reply.message, sizeof a->message);
    if (reply.outcome != ISO_OUTCOME_ABORT) break;
    iso_rollback(a->connection, &reply);
    usleep(PAUSE_US * (1 + a->attempts % 8));
  }
  iso_reply_free(&reply);
  return NULL;
}

void conflict_of_many(iso_database *database, iso_connection *connection) {
  adder adders[MANY] = {0};
  set_value(connection, 8, 0);
  for (int i = 0; i < MANY; i++) adders[i].connection = suite_connect(database, 0);
  for (int i = 0; i < MANY; i++) assert_int_equal(pthread_create(&adders[i].thread, NULL, add_one, &adders[i]), 0);
  for (int i = 0; i < MANY; i++) pthread_join(adders[i].thread, NULL);
  for (int i = 0; i < MANY; i++) {
    if (!adders[i].added) fail_msg("session %d, attempt %u: %s", i, adders[i].attempts, adders[i].message);
    iso_disconnect(adders[i].connection);
  }
  assert_int_equal(suite_value(database, 8), MANY);
}
