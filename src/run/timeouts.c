/* timeouts.c - how long sessions wait for each other: set by each session where it may, so that a server as it comes
 * does not spend the run waiting for deadlocks to be found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

/* PostgreSQL looks for a deadlock when a statement has waited that long, in milliseconds; only superusers may change
 * it, and others by GRANT SET ON PARAMETER.  InnoDB looks at once, unless it is told not to: then only the limit of
 * waiting ends a deadlock, in seconds.  Other databases look at once (RocksDB), have no deadlocks (SQLite, Redis,
 * etcd), or have a setting of the whole server (Firebird). */
static const char deadlock_setting[] = "deadlock_timeout", detect_setting[] = "innodb_deadlock_detect",
                  wait_setting[] = "innodb_lock_wait_timeout";
static const double default_seconds = 0.01;
static const char wait_value[] = "1";

double isoproof_run_deadlock_default(void) { return default_seconds; }

/* What the server has; NULL where it has no such setting. */
static const char *server_has(const isoproof_run_handle *run, const char *name) {
  const iso_setting *s;
  for (size_t i = 0; (s = iso_database_setting(run->database, i)) != NULL; i++)
    if (strcmp(s->name, name) == 0) return s->value;
  return NULL;
}

isoproof_status iso_timeouts_choose(isoproof_run_handle *run, isoproof_error *error) {
  const char *of_server = server_has(run, deadlock_setting), *detects = server_has(run, detect_setting);
  double asked = run->options->deadlock_timeout;
  run->timeouts.asked = asked > 0;
  run->timeouts.short_waits = detects != NULL && strcmp(detects, "OFF") == 0 && !(run->options->lock_timeout > 0);
  if (asked > 0 && of_server == NULL)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "deadlock_timeout: sessions of the driver %s cannot set when the database looks for deadlocks",
                    iso_driver_name(iso_database_driver(run->database)));
  if (asked > 0)
    run->timeouts.deadlock_ms = asked * 1e3 < 1 ? 1 : asked * 1e3;
  else if (of_server != NULL && strtod(of_server, NULL) > default_seconds * 1e3)
    run->timeouts.deadlock_ms = default_seconds * 1e3;
  return ISOPROOF_OK;
}

/* Sets what the database may refuse; ISOPROOF_ERR_IO when it is gone. */
static isoproof_status try_set(iso_session *session, const char *name, const char *value, bool *refused,
                               isoproof_error *error) {
  iso_outcome outcome = iso_set(session->connection, name, value, &session->reply);
  *refused = outcome != ISO_OUTCOME_OK;
  if (outcome != ISO_OUTCOME_LOST && outcome != ISO_OUTCOME_UNKNOWN) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s", name, session->reply.message);
}

isoproof_status iso_timeouts_apply(iso_session *session, isoproof_error *error) {
  iso_timeouts *timeouts = &session->run->timeouts;
  const iso_reply *reply = &session->reply;
  bool refused = false;
  char value[32];
  if (timeouts->short_waits) ISO_TRY(try_set(session, wait_setting, wait_value, &refused, error));
  if (!(timeouts->deadlock_ms > 0) || atomic_load(&timeouts->refused)) return ISOPROOF_OK;
  snprintf(value, sizeof value, "%.0f", timeouts->deadlock_ms);
  ISO_TRY(try_set(session, deadlock_setting, value, &refused, error));
  if (!refused) return ISOPROOF_OK;
  if (!timeouts->asked) {
    atomic_store(&timeouts->refused, true);
    return ISOPROOF_OK;
  }
  return iso_fail(error, ISOPROOF_ERR_USAGE,
                  "deadlock_timeout: the database does not let this user set it, as only superusers and those with "
                  "GRANT SET ON PARAMETER may; lock_timeout needs no such right: %s%s%s",
                  reply->code, reply->code[0] != 0 ? " " : "", reply->message);
}

static void add_fact(isoproof_run_handle *run, const char *name, const char *value) {
  iso_jsonl_fact fact = {name, value, strlen(name), strlen(value)};
  iso_session_log_header(&run->log, &fact, 1);
}

void iso_timeouts_note(isoproof_run_handle *run) {
  char text[160];
  if (run->options->lock_timeout > 0) {
    snprintf(text, sizeof text, "%g ms", run->options->lock_timeout * 1e3);
    add_fact(run, "lock-timeout", text);
  } else if (run->timeouts.short_waits) {
    add_fact(run, "lock-timeout", "1000 ms, set by the sessions, since the server does not look for deadlocks");
  }
  if (!(run->timeouts.deadlock_ms > 0)) return;
  const char *of_server = server_has(run, deadlock_setting);
  if (atomic_load(&run->timeouts.refused)) {
    snprintf(text, sizeof text, "%s ms, that of the server: this user may not set it", of_server);
    if (run->options->notice != NULL)
      run->options->notice("deadlocks take the server's deadlock_timeout to be found, since only superusers may set "
                           "it; a lock_timeout ends waits earlier",
                           run->options->notice_user);
  } else {
    snprintf(text, sizeof text, "%.0f ms, set by the sessions; that of the server is %s ms", run->timeouts.deadlock_ms,
             of_server);
  }
  add_fact(run, "deadlock-timeout", text);
}
