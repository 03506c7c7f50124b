/* header.c - the first line of a history: everything that says how it came about. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "run/run.h"

enum { FACTS_MOST = 512, FACT_NAME = 128 };

/* A fact with a made-up name, such as setting.fsync. */
static void add_fact(iso_jsonl_fact *facts, char (*names)[FACT_NAME], size_t *count, const char *kind, const char *name,
                     const char *value) {
  if (*count >= FACTS_MOST || value == NULL) return;
  snprintf(names[*count], FACT_NAME, "%s.%s", kind, name);
  facts[*count] = (iso_jsonl_fact){names[*count], value, strlen(names[*count]), strlen(value)};
  (*count)++;
}

/* NULL where there is nothing to say. */
static const char *said(const char *text) { return text[0] != 0 ? text : NULL; }

/* The header: everything that says how the history came about. */
isoproof_status iso_run_write_header(isoproof_run_handle *run, isoproof_error *error) {
  const isoproof_run_options *options = run->options;
  char seed[32], started[64], sessions[16], *command = NULL;
  char jitter[64] = "several scales", rate[32] = "", ramp[32] = "", think[64], phases[512];
  /* Of the tables of a script it is the script that says how they are. */
  bool sql = iso_database_capabilities(run->database).sql && run->script == NULL;
  time_t wall = time(NULL);
  struct tm when;
  snprintf(seed, sizeof seed, "%" PRIu64, run->workload->seed);
  snprintf(sessions, sizeof sessions, "%u", run->workload->sessions);
  if (run->workload->jitter >= 0) snprintf(jitter, sizeof jitter, "up to %g us", run->workload->jitter);
  if (options->rate > 0) snprintf(rate, sizeof rate, "%g per second", options->rate);
  if (options->ramp > 0) snprintf(ramp, sizeof ramp, "%g s", options->ramp);
  iso_load_describe_think(options, think, sizeof think);
  iso_load_describe_phases(options, phases, sizeof phases);
  if (gmtime_r(&wall, &when) == NULL || strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &when) == 0)
    started[0] = 0;
  if (options->command != NULL) {
    command = iso_database_without_secrets(run->database, options->command);
    if (command == NULL) return iso_fail_memory(error);
  }
  const char *fixed[][2] = {
      {"seed", seed},
      {"command", command},
      {"workload", run->script != NULL ? "script" : isoproof_workload_at(run->workload->kind)},
      {"sessions", sessions},
      {"phases", said(phases)},
      {"rate", said(rate)},
      {"think-time", said(think)},
      {"ramp", said(ramp)},
      {"jitter", run->script == NULL && isoproof_workload_meets(run->workload->kind) ? jitter : NULL},
      {"layout", sql ? iso_layout_name(run->layout) : NULL},
      {"access", sql ? iso_access_name(run->access) : NULL},
      {"statements", sql ? iso_sending_name(run->statements) : NULL},
      {"round-trips", isoproof_round_trips_at(run->round_trips)},
      {"driver", iso_driver_name(iso_database_driver(run->database))},
      {"database", iso_database_version(run->database)},
      {"url", iso_database_url(run->database, 0)},
      {"isolation", run->isolation->name},
      {"table", sql ? iso_database_table_name(run->database) : NULL},
      {"claims", run->script != NULL && run->script->mixed ? "mixed" : run->isolation->claims},
      {"started", started},
      {"isoproof-version", isoproof_version()},
      {ISO_JSONL_FINISHED, ISO_JSONL_FINISHED_NO}};
  iso_jsonl_fact *facts = iso_alloc(FACTS_MOST, sizeof *facts);
  char(*names)[FACT_NAME] = iso_alloc(FACTS_MOST, sizeof *names);
  isoproof_status status = facts != NULL && names != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  if (status == ISOPROOF_OK) {
    size_t count = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
      if (fixed[i][1] != NULL)
        facts[count++] = (iso_jsonl_fact){fixed[i][0], fixed[i][1], strlen(fixed[i][0]), strlen(fixed[i][1])};
    const iso_setting *s;
    for (size_t i = 0; count < FACTS_MOST && (s = iso_database_setting(run->database, i)) != NULL; i++)
      add_fact(facts, names, &count, "setting", s->name, s->value);
    size_t nodes = iso_database_nodes(run->database);
    for (size_t i = 0; nodes > 1 && i < nodes; i++) {
      char number[16];
      snprintf(number, sizeof number, "%zu", i);
      add_fact(facts, names, &count, "node", number, iso_database_url(run->database, i));
    }
    iso_session_log_header(&run->log, facts, count);
  }
  free(facts);
  free(names);
  free(command);
  return status;
}
