/* conformance_checks.c - the checks: each does little things to a database and looks whether the answers are true. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "database/conformance.h"
#include "database/driver_table.h"

/* ---- steps ---- */

__attribute__((format(printf, 2, 3))) static bool wrong(iso_conformance *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->found, sizeof c->found, format, arguments);
  va_end(arguments);
  return false;
}

static const char *const words[ISO_REQUEST_KINDS] = {
    [ISO_BEGIN] = "begin",         [ISO_READ] = "read",     [ISO_WRITE] = "write",
    [ISO_READ_LIST] = "read-list", [ISO_APPEND] = "append", [ISO_INSERT] = "insert",
    [ISO_DELETE] = "delete",       [ISO_UPDATE] = "update", [ISO_READ_RANGE] = "predicate",
    [ISO_COUNT] = "count",         [ISO_COMMIT] = "commit", [ISO_ROLLBACK] = "abort",
    [ISO_PING] = "ping",
};

/* Does a request that has to succeed. */
static bool does(iso_conformance *c, iso_connection *who, iso_driver_request request) {
  if (iso_do(who, &request, &c->reply) == ISO_OUTCOME_OK) return true;
  return wrong(c, "%s: expected success, found %s: %s %s", words[request.kind],
               iso_error_class_name(c->reply.error_class), c->reply.code, c->reply.message);
}

static bool begins(iso_conformance *c, iso_connection *who) {
  return does(c, who, (iso_driver_request){.kind = ISO_BEGIN});
}

static bool commits(iso_conformance *c, iso_connection *who) {
  return does(c, who, (iso_driver_request){.kind = ISO_COMMIT});
}

static bool writes(iso_conformance *c, iso_connection *who, int64_t key, int64_t value) {
  return does(c, who, (iso_driver_request){.kind = ISO_WRITE, .key = key, .value = value});
}

/* Reads a key that has to have a value, or none. */
static bool finds(iso_conformance *c, iso_connection *who, int64_t key, bool present, int64_t value) {
  if (!does(c, who, (iso_driver_request){.kind = ISO_READ, .key = key})) return false;
  if (c->reply.present == present && (!present || c->reply.value == value)) return true;
  if (!present) return wrong(c, "read of key %" PRId64 ": expected no value, found %" PRId64, key, c->reply.value);
  if (!c->reply.present) return wrong(c, "read of key %" PRId64 ": expected %" PRId64 ", found no value", key, value);
  return wrong(c, "read of key %" PRId64 ": expected %" PRId64 ", found %" PRId64, key, value, c->reply.value);
}

/* The same in a transaction of its own. */
static bool holds(iso_conformance *c, iso_connection *who, int64_t key, bool present, int64_t value) {
  return begins(c, who) && finds(c, who, key, present, value) && commits(c, who);
}

static int64_t fresh(iso_conformance *c, int64_t count) {
  c->next_key += count;
  return c->next_key - count;
}

/* ---- registers ---- */

bool iso_conformance_absent(iso_conformance *c) { return holds(c, c->one, fresh(c, 1), false, 0); }

bool iso_conformance_own_writes(iso_conformance *c) {
  int64_t key = fresh(c, 2);
  return begins(c, c->one) && writes(c, c->one, key, 1) && finds(c, c->one, key, true, 1) &&
         writes(c, c->one, key + 1, 2) && writes(c, c->one, key, 3) && finds(c, c->one, key, true, 3) &&
         finds(c, c->one, key + 1, true, 2) && commits(c, c->one) && holds(c, c->one, key, true, 3);
}

bool iso_conformance_commit(iso_conformance *c) {
  int64_t key = fresh(c, 1);
  return begins(c, c->one) && writes(c, c->one, key, 7) && commits(c, c->one) && holds(c, c->two, key, true, 7);
}

bool iso_conformance_abort(iso_conformance *c) {
  int64_t key = fresh(c, 2);
  return begins(c, c->one) && writes(c, c->one, key, 1) && commits(c, c->one) && begins(c, c->one) &&
         writes(c, c->one, key, 2) && writes(c, c->one, key + 1, 2) &&
         does(c, c->one, (iso_driver_request){.kind = ISO_ROLLBACK}) && holds(c, c->one, key, true, 1) &&
         holds(c, c->two, key, true, 1) && holds(c, c->two, key + 1, false, 0);
}

bool iso_conformance_isolations(iso_conformance *c) {
  for (size_t i = 0; iso_database_isolation(c->database, i) != NULL; i++) {
    const iso_isolation *isolation = iso_database_isolation(c->database, i);
    int64_t key = fresh(c, 1);
    bool fine = does(c, c->one, (iso_driver_request){.kind = ISO_BEGIN, .isolation = isolation}) &&
                writes(c, c->one, key, 1) && finds(c, c->one, key, true, 1) && commits(c, c->one);
    if (fine) continue;
    char found[ISO_CONFORMANCE_WORDS / 2];
    memcpy(found, c->found, sizeof found);
    found[sizeof found - 1] = 0;
    return wrong(c, "at %.80s: %s", isolation->name, found);
  }
  return true;
}

bool iso_conformance_numbers(iso_conformance *c) {
  /* What is left of 63 bits beside the number of the run, and within what every language holds exactly. */
  static const int64_t numbers[] = {0, -1, 1, -1000000007, INT64_C(1) << 30, -(INT64_C(1) << 30)};
  int64_t key = fresh(c, 8);
  if (!begins(c, c->one)) return false;
  for (int64_t i = 0; i < 6; i++)
    if (!writes(c, c->one, key + i, numbers[i])) return false;
  if (!commits(c, c->one) || !begins(c, c->two)) return false;
  for (int64_t i = 0; i < 6; i++)
    if (!finds(c, c->two, key + i, true, numbers[i])) return false;
  return commits(c, c->two);
}

/* ---- rows ---- */

static bool changes(iso_conformance *c, iso_request_kind kind, int64_t key, int64_t value, int64_t affected) {
  if (!does(c, c->one, (iso_driver_request){.kind = kind, .key = key, .value = value})) return false;
  if (c->reply.affected == affected) return true;
  return wrong(c, "%s of row %" PRId64 ": expected to change %" PRId64 ", found %" PRId64, words[kind], key, affected,
               c->reply.affected);
}

/* Asks for a range, which has to show these rows and no more, and as many. */
static bool shows(iso_conformance *c, int64_t low, int64_t high, bool by_value, const iso_row *rows, size_t count) {
  iso_driver_request request = {.kind = ISO_READ_RANGE, .key = low, .high = high, .by_value = by_value};
  if (!does(c, c->one, request)) return false;
  if (c->reply.rows.count != count)
    return wrong(c, "predicate: expected %zu rows, found %zu", count, c->reply.rows.count);
  for (size_t i = 0; i < count; i++) {
    const iso_row *found = &c->reply.rows.items[i];
    if (found->key != rows[i].key || found->value != rows[i].value)
      return wrong(c, "predicate: expected row %" PRId64 " = %" PRId64 ", found %" PRId64 " = %" PRId64, rows[i].key,
                   rows[i].value, found->key, found->value);
  }
  request.kind = ISO_COUNT;
  if (!does(c, c->one, request)) return false;
  if (c->reply.value == (int64_t)count) return true;
  return wrong(c, "count: expected %zu, found %" PRId64, count, c->reply.value);
}

bool iso_conformance_rows(iso_conformance *c) {
  int64_t key = fresh(c, 10);
  const iso_row rows[] = {{key + 1, 501}, {key + 3, 503}, {key + 5, 500}};
  const iso_row left[] = {{key + 1, 501}, {key + 5, 505}};
  return begins(c, c->one) && shows(c, key, key + 9, false, NULL, 0) && changes(c, ISO_INSERT, key + 3, 503, 1) &&
         changes(c, ISO_INSERT, key + 1, 501, 1) && changes(c, ISO_INSERT, key + 5, 500, 1) &&
         shows(c, key, key + 9, false, rows, 3) && shows(c, key + 1, key + 3, false, rows, 2) &&
         shows(c, 501, 503, true, rows, 2) && commits(c, c->one) && begins(c, c->one) &&
         changes(c, ISO_UPDATE, key + 5, 505, 1) && changes(c, ISO_DELETE, key + 3, 0, 1) &&
         shows(c, key, key + 9, false, left, 2) && commits(c, c->one) && begins(c, c->one) &&
         shows(c, key, key + 9, false, left, 2) && commits(c, c->one);
}

bool iso_conformance_missed_rows(iso_conformance *c) {
  int64_t key = fresh(c, 1);
  return begins(c, c->one) && changes(c, ISO_UPDATE, key, 1, 0) && changes(c, ISO_DELETE, key, 0, 0) &&
         commits(c, c->one) && holds(c, c->two, key, false, 0);
}

bool iso_conformance_duplicate_key(iso_conformance *c) {
  int64_t key = fresh(c, 1);
  if (!begins(c, c->one) || !changes(c, ISO_INSERT, key, 1, 1) || !commits(c, c->one)) return false;
  if (!begins(c, c->two)) return false;
  iso_driver_request again = {.kind = ISO_INSERT, .key = key, .value = 2};
  if (iso_do(c->two, &again, &c->reply) == ISO_OUTCOME_OK) return wrong(c, "the second insert succeeded");
  if (c->reply.error_class != ISO_CLASS_CONSTRAINT)
    return wrong(c, "expected the class constraint, found %s: %s", iso_error_class_name(c->reply.error_class),
                 c->reply.message);
  iso_rollback(c->two, &c->reply);
  return holds(c, c->one, key, true, 1);
}

/* ---- lists ---- */

bool iso_conformance_lists(iso_conformance *c) {
  int64_t key = fresh(c, 2);
  iso_driver_request read = {.kind = ISO_READ_LIST, .key = key};
  if (!begins(c, c->one) || !does(c, c->one, read)) return false;
  if (c->reply.present && c->reply.list.count > 0) return wrong(c, "expected no list, found one");
  for (int64_t i = 1; i <= 3; i++) {
    if (!does(c, c->one, (iso_driver_request){.kind = ISO_APPEND, .key = key, .value = i * 10})) return false;
    if (i == 2 && (!commits(c, c->one) || !begins(c, c->one))) return false;
  }
  if (!commits(c, c->one) || !begins(c, c->two) || !does(c, c->two, read)) return false;
  bool right = c->reply.present && c->reply.list.count == 3;
  for (size_t i = 0; right && i < 3; i++) right = c->reply.list.items[i] == (int64_t)(i + 1) * 10;
  if (!right) return wrong(c, "expected the list 10, 20, 30, found %zu elements", c->reply.list.count);
  return commits(c, c->two);
}

/* ---- trouble ---- */

/* An increment is the one request that a client need not know. */
bool iso_conformance_unknown_operation(iso_conformance *c) {
  int64_t key = fresh(c, 2);
  if (!begins(c, c->one) || !writes(c, c->one, key, 1)) return false;
  iso_driver_request increment = {.kind = ISO_INCREMENT, .key = key + 1, .value = 1};
  iso_outcome outcome = iso_do(c->one, &increment, &c->reply);
  if (outcome == ISO_OUTCOME_LOST || outcome == ISO_OUTCOME_UNKNOWN)
    return wrong(c, "the session broke: %s", c->reply.message);
  bool active = c->reply.txn == ISO_TXN_ACTIVE;
  if (active && !commits(c, c->one)) return false;
  if (!active) iso_rollback(c->one, &c->reply);
  return holds(c, c->two, key, active, 1);
}

bool iso_conformance_broken_session(iso_conformance *c) {
  int64_t key = fresh(c, 1);
  isoproof_error error = {.offset = -1};
  if (!begins(c, c->one) || !writes(c, c->one, key, 1)) return false;
  iso_disconnect(c->one);
  c->one = NULL;
  if (iso_connect(c->database, 0, &c->one, &error) != ISOPROOF_OK)
    return wrong(c, "a new session cannot be made: %.200s", error.message);
  return holds(c, c->one, key, false, 0) && begins(c, c->two) && writes(c, c->two, key, 2) && commits(c, c->two) &&
         holds(c, c->one, key, true, 2);
}

/* Ends a transaction that may have been refused; whether it committed, false in *known when nobody knows. */
static bool ended(iso_connection *who, iso_reply *reply, bool *known) {
  if (reply->outcome == ISO_OUTCOME_OK) iso_commit(who, reply);
  bool committed = reply->outcome == ISO_OUTCOME_OK && reply->txn == ISO_TXN_COMMITTED;
  *known = reply->txn != ISO_TXN_UNKNOWN;
  if (!committed && *known) iso_rollback(who, reply);
  return committed;
}

bool iso_conformance_conflict(iso_conformance *c) {
  int64_t key = fresh(c, 1);
  isoproof_error error = {.offset = -1};
  bool known[2] = {true, true};
  if (!begins(c, c->one) || !writes(c, c->one, key, 1) || !commits(c, c->one)) return false;
  if (!begins(c, c->one) || !finds(c, c->one, key, true, 1) || !begins(c, c->two) || !finds(c, c->two, key, true, 1))
    return false;
  iso_driver_request first = {.kind = ISO_WRITE, .key = key, .value = 2}, second = first;
  second.value = 3;
  iso_do(c->one, &first, &c->reply);
  /* The second may have to wait for the first. */
  if (iso_start(c->two, &second, &error) != ISOPROOF_OK) return wrong(c, "%.200s", error.message);
  (void)iso_poll(c->two, 300);
  bool one = ended(c->one, &c->reply, &known[0]);
  iso_finish(c->two, &c->second);
  bool two = ended(c->two, &c->second, &known[1]);
  if (!known[0] || !known[1]) return wrong(c, "a commit is unknown, though nothing broke");
  if (!begins(c, c->one) || !does(c, c->one, (iso_driver_request){.kind = ISO_READ, .key = key})) return false;
  int64_t found = c->reply.present ? c->reply.value : 0;
  if ((found == 1 && !one && !two) || (found == 2 && one) || (found == 3 && two)) return commits(c, c->one);
  return wrong(c, "the value is %" PRId64 ", but 2 was said to be %s and 3 to be %s", found,
               one ? "committed" : "aborted", two ? "committed" : "aborted");
}

static bool all_commit(iso_conformance *c, iso_connection **sessions, int64_t key) {
  isoproof_error error = {.offset = -1};
  for (int64_t i = 0; i < ISO_CONFORMANCE_SESSIONS; i++) {
    if (iso_connect(c->database, 0, &sessions[i], &error) != ISOPROOF_OK)
      return wrong(c, "session %" PRId64 ": %.200s", i + 1, error.message);
  }
  for (int64_t i = 0; i < ISO_CONFORMANCE_SESSIONS; i++)
    if (!begins(c, sessions[i]) || !writes(c, sessions[i], key + i, i) || !commits(c, sessions[i])) return false;
  if (!begins(c, c->one)) return false;
  for (int64_t i = 0; i < ISO_CONFORMANCE_SESSIONS; i++)
    if (!finds(c, c->one, key + i, true, i)) return false;
  return commits(c, c->one);
}

bool iso_conformance_many_sessions(iso_conformance *c) {
  iso_connection *sessions[ISO_CONFORMANCE_SESSIONS] = {NULL};
  bool fine = all_commit(c, sessions, fresh(c, ISO_CONFORMANCE_SESSIONS));
  for (size_t i = 0; i < ISO_CONFORMANCE_SESSIONS; i++) iso_disconnect(sessions[i]);
  return fine;
}
