/* rounds.c - tables of rounds: thousands of small ones, made many at a time while a run goes on, and removed the same
 * way.
 *
 * A transaction that makes tables holds locks on each of them and on their indexes, of which a server has room for some
 * thousands; it makes as many as fit.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/task.h"
#include "database/tables.h"

/* How many at a time, and how long what may succeed next time is tried: while SQLite makes tables nobody else writes,
 * and MariaDB commits each by itself. */
enum { AT_ONCE = 200, AT_ONCE_ELSEWHERE = 20, MAKE_SECONDS = 30, PAUSE_NS = 1000 * 1000 };

/* The connection for it, which works. */
static isoproof_status open_maker(iso_database *database, isoproof_error *error) {
  if (database->maker == NULL) return iso_connect(database, 0, &database->maker, error);
  return iso_connected(database->maker) ? ISOPROOF_OK : iso_reconnect(database->maker, error);
}

static isoproof_status check_range(const iso_database *database, uint64_t first, uint64_t count,
                                   isoproof_error *error) {
  if (!database->can.rounds)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                    "rounds: expected a database with tables that isoproof makes, without partitions, found %s",
                    database->version);
  if (first == 0 || first > ISO_MOST_ROUND || count > ISO_MOST_ROUND - first + 1)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "rounds: expected numbers from 1 to %d, found %" PRIu64 " from %" PRIu64,
                    ISO_MOST_ROUND, count, first);
  return ISOPROOF_OK;
}

/* ---- removing ---- */

static isoproof_status drop_all(iso_database *database, uint64_t first, uint64_t count, isoproof_error *error) {
  iso_reply reply = {0};
  ISO_TRY(open_maker(database, error));
  isoproof_status status = ISOPROOF_OK;
  for (uint64_t done = 0; done < count && iso_connected(database->maker);) {
    iso_table_name names[ISO_TABLES_AT_ONCE];
    uint64_t few = count - done < ISO_TABLES_AT_ONCE ? count - done : ISO_TABLES_AT_ONCE;
    for (uint64_t i = 0; i < few; i++) {
      names[i].marked = false;
      iso_sql_round_name(database, first + done + i, names[i].text);
    }
    isoproof_status removed = iso_tables_remove_many(database->maker, names, (size_t)few, database->run, &reply,
                                                     status == ISOPROOF_OK ? error : NULL);
    if (status == ISOPROOF_OK) status = removed;
    done += few;
  }
  iso_reply_free(&reply);
  return status;
}

/* [first, end) is not there any more. */
static void forget_range(iso_database *database, uint64_t first, uint64_t end) {
  if (first == database->rounds_from) database->rounds_from = end;
  if (end == database->rounds_to) database->rounds_to = first > database->rounds_from ? first : database->rounds_from;
}

isoproof_status iso_database_drop_rounds(iso_database *database, uint64_t first, uint64_t count,
                                         isoproof_error *error) {
  ISO_TRY(check_range(database, first, count, error));
  uint64_t end = first + count;
  if (first < database->rounds_from) first = database->rounds_from;
  if (end > database->rounds_to) end = database->rounds_to;
  if (first >= end) return ISOPROOF_OK;
  ISO_TRY(iso_database_hide(database, drop_all(database, first, end - first, error), error));
  forget_range(database, first, end);
  return ISOPROOF_OK;
}

isoproof_status iso_rounds_teardown(iso_database *database, isoproof_error *error) {
  isoproof_status status = ISOPROOF_OK;
  uint64_t count = database->rounds_to - database->rounds_from;
  if (count > 0) status = iso_database_drop_rounds(database, database->rounds_from, count, error);
  iso_disconnect(database->maker);
  database->maker = NULL;
  return status;
}

/* ---- making ---- */

/* Makes tables; false, and the reply says why, when one could not be made. */
static bool make_tables(iso_connection *connection, uint64_t first, uint64_t count, iso_reply *reply) {
  const iso_database *database = connection->database;
  bool transactional = iso_catalogue_transactional(database->dialect), folds;
  int64_t now;
  iso_catalogue_clock(connection, reply, &now, &folds);
  if (transactional && iso_begin(connection, iso_tables_isolation(database), reply) != ISO_OUTCOME_OK) return false;
  for (uint64_t i = 0; i < count; i++) {
    char table[ISO_TABLE_BYTES];
    iso_mark mark;
    iso_sql_round_name(database, first + i, table);
    iso_tables_mark(database, table, now, folds, &mark);
    mark.kept = false;
    if (!iso_catalogue_create(connection, table, &mark, reply)) return false;
  }
  return !transactional || iso_commit(connection, reply) == ISO_OUTCOME_OK;
}

/* PostgreSQL: no room in the table of locks, and what is said of it. */
static bool lacks_room(const iso_reply *reply) { return strcmp(reply->code, "53200") == 0; }

static isoproof_status make_some(iso_connection *connection, uint64_t first, uint64_t *count, iso_reply *reply,
                                 isoproof_error *error) {
  const iso_database *database = connection->database;
  double limit = iso_now() + MAKE_SECONDS;
  while (!make_tables(connection, first, *count, reply)) {
    isoproof_status status =
        iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot make tables of rounds %" PRIu64 " to %" PRIu64 ": %s %s",
                 database->urls[0].shown, first, first + *count - 1, reply->code, reply->message);
    bool fewer = lacks_room(reply) && *count > 1, again = fewer || reply->outcome == ISO_OUTCOME_ABORT;
    if (!iso_connected(connection)) return status;
    if (iso_catalogue_transactional(database->dialect))
      iso_rollback(connection, reply);
    else
      (void)drop_all(connection->database, first, *count, NULL);
    if (!again || iso_now() > limit || !iso_connected(connection)) return status;
    if (fewer) *count /= 2;
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
  }
  return ISOPROOF_OK;
}

/* From now on there may be tables of these rounds. */
static void note_range(iso_database *database, uint64_t first, uint64_t count) {
  bool none = database->rounds_from == database->rounds_to;
  if (none || first < database->rounds_from) database->rounds_from = first;
  if (none || first + count > database->rounds_to) database->rounds_to = first + count;
}

static isoproof_status make_all(iso_database *database, uint64_t first, uint64_t count, isoproof_error *error) {
  iso_reply reply = {0};
  uint64_t most = database->dialect == ISO_SQL_POSTGRES ? AT_ONCE : AT_ONCE_ELSEWHERE, made = 0;
  isoproof_status status = open_maker(database, error);
  while (made < count && status == ISOPROOF_OK) {
    uint64_t some = count - made < most ? count - made : most;
    status = make_some(database->maker, first + made, &some, &reply, error);
    made += some;
    if (some < most && made < count) most = some;
  }
  iso_reply_free(&reply);
  return status == ISOPROOF_OK ? iso_database_settle(database, error) : status;
}

isoproof_status iso_database_make_rounds(iso_database *database, uint64_t first, uint64_t count,
                                         isoproof_error *error) {
  ISO_TRY(check_range(database, first, count, error));
  if (!database->made)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "rounds: their tables are made after those of the run");
  if (count == 0) return ISOPROOF_OK;
  note_range(database, first, count);
  isoproof_status status = iso_database_hide(database, make_all(database, first, count, error), error);
  if (status == ISOPROOF_OK) return status;
  /* A name that was taken by somebody else's table is none of ours to remove. */
  isoproof_status undone = drop_all(database, first, count, NULL);
  if (undone == ISOPROOF_OK || undone == ISOPROOF_ERR_INTERFERENCE) forget_range(database, first, first + count);
  return status;
}
