/* script_invariant.c - the invariants of scripts: asked every second and in the end, and what they were. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "history/invariant.h"
#include "run/run.h"

enum { END_TRIES = 20, PAUSE_NS = 50 * 1000 * 1000 };

/* ---- one query ---- */

static const char *cell_of(const void *user, size_t row, uint32_t column) { return iso_reply_cell(user, row, column); }

static void compare(isoproof_run_handle *run, iso_script_invariant *invariant, bool in_the_end) {
  iso_run_script *s = run->script;
  const iso_reply *reply = &s->reply;
  size_t rows = reply->columns > 0 ? reply->cells.count / reply->columns : 0;
  invariant->checks++;
  if (iso_expectation_holds(invariant->section, &s->machine.variables, cell_of, reply, rows, reply->columns)) return;
  if (invariant->broken++ == 0) {
    char event[200];
    invariant->first = isoproof_run_now(run);
    invariant->expected = iso_expectation_words(invariant->section, &s->machine.variables);
    invariant->found = iso_expectation_found(cell_of, reply, rows, reply->columns);
    snprintf(event, sizeof event, "invariant %s broken", invariant->section->name);
    (void)isoproof_run_event(run, event);
  }
  invariant->in_the_end |= in_the_end;
}

/* Asks once; false when there was no answer, which says nothing. */
static bool ask(isoproof_run_handle *run, const iso_section *section) {
  iso_run_script *s = run->script;
  isoproof_error error = {.offset = -1};
  const iso_command *command;
  const char *sql;
  if (iso_script_connect(run, &error) != ISOPROOF_OK) return false;
  if (iso_machine_start(&s->machine, section, &error) != ISOPROOF_OK) return false;
  do {
    if (iso_machine_next(&s->machine, &command, &error) != ISOPROOF_OK || command == NULL) return false;
  } while (command->kind != ISO_COMMAND_SQL);
  return iso_machine_sql(&s->machine, command, &sql, &error) == ISOPROOF_OK &&
         iso_execute(s->control, sql, &s->reply) == ISO_OUTCOME_OK;
}

void iso_script_check(isoproof_run_handle *run, bool in_the_end) {
  iso_run_script *s = run->script;
  for (size_t i = 0; i < s->invariants.count; i++) {
    iso_script_invariant *invariant = &s->invariants.items[i];
    bool answered = false;
    if (invariant->section->in_the_end && !in_the_end) continue;
    for (int k = 0; !answered && k < (in_the_end ? END_TRIES : 1); k++) {
      if (k > 0) nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
      answered = ask(run, invariant->section);
    }
    if (answered) compare(run, invariant, in_the_end);
  }
}

/* ---- while the run goes on ---- */

/* One statement sees one snapshot in each of the databases that scripts run on, so that what is seen of transactions
 * under way is all or nothing. */
static void *watch(void *argument) {
  isoproof_run_handle *run = argument;
  while (isoproof_run_wait(run, 1)) {
    iso_script_check(run, false);
    iso_script_write_names(run);
  }
  return NULL;
}

isoproof_status iso_script_watch_begin(isoproof_run_handle *run, isoproof_error *error) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  run->script->watching = pthread_create(&run->script->watcher, NULL, watch, run) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (run->script->watching) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_MEMORY, "cannot start a thread for the invariants");
}

void iso_script_watch_end(isoproof_run_handle *run) {
  iso_run_stop(run);
  if (run->script->watching) pthread_join(run->script->watcher, NULL);
  run->script->watching = false;
}

/* ---- what they were ---- */

static const char *query_of(const iso_section *section) {
  for (size_t i = 0; i < section->commands.count; i++)
    if (section->commands.items[i].kind == ISO_COMMAND_SQL) return section->commands.items[i].source;
  return "";
}

static void write_invariants(isoproof_run_handle *run) {
  const iso_run_script *s = run->script;
  for (size_t i = 0; i < s->invariants.count; i++) {
    const iso_script_invariant *v = &s->invariants.items[i];
    char checks[24], broken[24], first[24], names[ISO_INVARIANT_FACTS][48];
    snprintf(checks, sizeof checks, "%" PRIu64, v->checks);
    snprintf(broken, sizeof broken, "%" PRIu64, v->broken);
    snprintf(first, sizeof first, "%" PRId64, v->first);
    char *expected = v->expected == NULL ? iso_expectation_words(v->section, &s->machine.variables) : NULL;
    const char *values[ISO_INVARIANT_FACTS] = {v->section->name,
                                               query_of(v->section),
                                               v->expected != NULL ? v->expected : expected,
                                               checks,
                                               broken,
                                               v->broken > 0 ? first : NULL,
                                               v->found,
                                               v->broken > 0 ? (v->in_the_end ? "yes" : "no") : NULL};
    static const char *const fields[ISO_INVARIANT_FACTS] = {
#define ISO_X(name, text) text,
        ISO_INVARIANT_FACT_LIST(ISO_X)
#undef ISO_X
    };
    iso_jsonl_fact facts[ISO_INVARIANT_FACTS];
    size_t count = 0;
    for (int k = 0; k < ISO_INVARIANT_FACTS; k++) {
      if (values[k] == NULL) continue;
      snprintf(names[k], sizeof names[k], "invariant.%zu.%s", i + 1, fields[k]);
      facts[count++] = (iso_jsonl_fact){names[k], values[k], strlen(names[k]), strlen(values[k])};
    }
    pthread_mutex_lock(&run->lock);
    iso_session_log_header(&run->log, facts, count);
    pthread_mutex_unlock(&run->lock);
    free(expected);
  }
}

void iso_script_end(isoproof_run_handle *run) {
  iso_script_watch_end(run);
  if (!iso_run_was_interfered(run)) iso_script_check(run, true);
  write_invariants(run);
  iso_script_write_names(run);
}
