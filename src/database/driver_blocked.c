/* driver_blocked.c - who waits for a lock, asked in SQL of the servers that can tell, or of the driver itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/task.h"
#include "database/driver_table.h"

/* InnoDB refreshes its view of who waits only when nobody looked at it for 0.1 seconds. */
static const double look_every = 0.11;

/* Asks for the numbers of connections that wait, and marks those that are ours. */
static isoproof_status mark(iso_connection *control, const char *sql, iso_connection *const *sessions, size_t count,
                            bool *blocked, isoproof_error *error) {
  iso_reply reply = {0};
  isoproof_status status = ISOPROOF_OK;
  if (iso_execute(control, sql, &reply) != ISO_OUTCOME_OK)
    status = iso_fail(error, ISOPROOF_ERR_IO, "cannot ask who waits for a lock: %s %s", reply.code, reply.message);
  for (size_t row = 0; status == ISOPROOF_OK && iso_reply_cell(&reply, row, 0) != NULL; row++) {
    uint64_t waiting = strtoull(iso_reply_cell(&reply, row, 0), NULL, 10);
    for (size_t i = 0; i < count; i++)
      if (sessions[i]->server_id == waiting) blocked[i] = true;
  }
  iso_reply_free(&reply);
  return status;
}

static isoproof_status ask_postgres(iso_connection *control, iso_connection *const *sessions, size_t count,
                                    bool *blocked, isoproof_error *error) {
  enum { NUMBER = 24, FRAME = 128 };
  if (count > ISO_MOST_SQL_BYTES / NUMBER - FRAME)
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "who waits for a lock: too many sessions, %zu", count);
  size_t size = count * NUMBER + FRAME;
  char *sql = iso_alloc(size, 1);
  if (sql == NULL) return iso_fail_memory(error);
  size_t used = (size_t)snprintf(sql, size, "SELECT p FROM unnest('{");
  for (size_t i = 0; i < count; i++)
    used += (size_t)snprintf(sql + used, size - used, "%s%" PRIu64, i > 0 ? "," : "", sessions[i]->server_id);
  snprintf(sql + used, size - used, "}'::int[]) p WHERE cardinality(pg_blocking_pids(p)) > 0");
  isoproof_status status = mark(control, sql, sessions, count, blocked, error);
  free(sql);
  return status;
}

/* Each transaction begins with "---TRANSACTION"; one that waits has a line "LOCK WAIT ...", and after it one with
 * "thread id N". */
bool iso_innodb_monitor(const char *text, uint64_t session, bool *waits) {
  static const char begin[] = "---TRANSACTION ", waiting[] = "\nLOCK WAIT ", id[] = " thread id ";
  *waits = false;
  if (strstr(text, "\nTRANSACTIONS\n") == NULL || strstr(text, "\nEND OF INNODB MONITOR OUTPUT") == NULL ||
      strstr(text, "SKIP LOCK INFO") != NULL || strstr(text, "... truncated...") != NULL)
    return false;
  for (const char *at = strstr(text, begin); at != NULL && !*waits;) {
    const char *next = strstr(at + 1, begin), *line = strstr(at, waiting);
    const char *thread = line != NULL ? strstr(line, id) : NULL;
    if (thread == NULL) break;
    if (next == NULL || thread < next) *waits = strtoull(thread + sizeof id - 1, NULL, 10) == session;
    at = next;
  }
  return true;
}

/* Whether the monitor could tell; where not, the view has to. */
static bool ask_monitor(iso_connection *control, iso_connection *const *sessions, size_t count, bool *blocked) {
  iso_reply reply = {0};
  bool told = iso_execute(control, "SHOW ENGINE INNODB STATUS", &reply) == ISO_OUTCOME_OK;
  const char *text = told ? iso_reply_cell(&reply, 0, 2) : NULL;
  told = text != NULL;
  for (size_t i = 0; told && i < count; i++) told = iso_innodb_monitor(text, sessions[i]->server_id, &blocked[i]);
  iso_reply_free(&reply);
  return told;
}

static isoproof_status ask_mariadb(iso_connection *control, iso_connection *const *sessions, size_t count,
                                   bool *blocked, isoproof_error *error) {
  if (ask_monitor(control, sessions, count, blocked)) return ISOPROOF_OK;
  for (size_t i = 0; i < count; i++) blocked[i] = false;
  double early = control->last_look + look_every - iso_now();
  if (control->last_look > 0 && early > 0) nanosleep(&(struct timespec){0, (long)(early * 1e9)}, NULL);
  isoproof_status status =
      mark(control, "SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'",
           sessions, count, blocked, error);
  control->last_look = iso_now();
  return status;
}

isoproof_status iso_blocked(iso_connection *control, iso_connection *const *sessions, size_t count, bool *blocked,
                            isoproof_error *error) {
  const iso_database *database = control->database;
  for (size_t i = 0; i < count; i++) blocked[i] = false;
  if (!database->can.blocked)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "%s does not tell who waits for a lock", database->version);
  if (control->broken || control->txn == ISO_TXN_ACTIVE)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "who waits for a lock: expected a control connection outside of a transaction, found one that is "
                    "%s",
                    control->broken ? "broken" : "inside");
  if (count == 0) return ISOPROOF_OK;
  if (database->driver->waits != NULL) {
    for (size_t i = 0; i < count; i++) blocked[i] = database->driver->waits(sessions[i]);
    return ISOPROOF_OK;
  }
  return database->dialect == ISO_SQL_POSTGRES ? ask_postgres(control, sessions, count, blocked, error)
                                               : ask_mariadb(control, sessions, count, blocked, error);
}
