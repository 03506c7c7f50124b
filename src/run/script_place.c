/* script_place.c - before and after the transactions of a script: the place of its tables, setup, teardown, and what
 * the history must know of them. */
#include <stdio.h>
#include <string.h>

#include "database/added.h"
#include "database/home.h"
#include "history/notice.h"
#include "run/run.h"

/* ---- connections ---- */

isoproof_status iso_script_enter(isoproof_run_handle *run, iso_connection *connection, iso_reply *reply,
                                 isoproof_error *error) {
  const char *sql = iso_track_session_sql(run->script->tracker);
  bool good = iso_home_enter(connection, reply) == ISO_OUTCOME_OK &&
              (sql == NULL || iso_execute(connection, sql, reply) == ISO_OUTCOME_OK);
  if (good) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot prepare a session: %s %s", iso_database_url(run->database, 0),
                  reply->code, reply->message);
}

/* To the first node that takes writes: tables are made there, and there is the last word about them. */
static isoproof_status connect_anew(isoproof_run_handle *run, isoproof_error *error) {
  iso_run_script *s = run->script;
  size_t nodes = iso_database_nodes(run->database);
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; i < nodes; i++) {
    iso_disconnect(s->control);
    s->control = NULL;
    status = iso_connect(run->database, i, &s->control, error);
    if (status == ISOPROOF_OK && !iso_connection_read_only(s->control)) break;
  }
  if (s->control == NULL) return status;
  status = iso_script_enter(run, s->control, &s->reply, error);
  if (status != ISOPROOF_OK) {
    iso_disconnect(s->control);
    s->control = NULL;
  }
  return status;
}

isoproof_status iso_script_connect(isoproof_run_handle *run, isoproof_error *error) {
  iso_run_script *s = run->script;
  bool good = s->control != NULL && iso_connected(s->control) && !iso_connection_read_only(s->control);
  return good ? ISOPROOF_OK : connect_anew(run, error);
}

/* ---- setup and teardown ---- */

static isoproof_status refused(const iso_run_script *s, const iso_section *section, const iso_command *command,
                               isoproof_error *error) {
  iso_place place = {section->file, command->line, 1, -1};
  bool script = s->reply.outcome == ISO_OUTCOME_REJECTED && s->reply.error_class != ISO_CLASS_CONNECTION;
  return iso_fail_at(error, script ? ISOPROOF_ERR_USAGE : ISOPROOF_ERR_IO, place, "%s%s%s: %.100s", s->reply.code,
                     s->reply.code[0] != 0 ? " " : "", s->reply.message, command->source);
}

/* The columns of the only row become variables. */
static isoproof_status store_row(iso_run_script *s, const iso_section *section, const iso_command *command,
                                 isoproof_error *error) {
  size_t rows = s->reply.columns > 0 ? s->reply.cells.count / s->reply.columns : 0;
  iso_place place = {section->file, command->line, 1, -1};
  if (rows == 0 && command->last_row) return ISOPROOF_OK;
  if (rows != 1 && !command->last_row)
    return iso_fail_at(error, ISOPROOF_ERR_USAGE, place, "\\gset: expected one row, found %zu: %.100s", rows,
                       command->source);
  for (uint32_t i = 0; i < s->reply.columns; i++) {
    const char *name = iso_reply_column(&s->reply, i);
    if (name == NULL) continue;
    ISO_TRY(iso_machine_store(&s->machine, command, name, iso_reply_cell(&s->reply, rows - 1, i), error));
  }
  return ISOPROOF_OK;
}

static isoproof_status do_command(isoproof_run_handle *run, const iso_section *section, const iso_command *command,
                                  isoproof_error *error) {
  iso_run_script *s = run->script;
  const iso_script_plan *plan = &s->plans[iso_script_number(s, section)];
  const char *sql;
  double seconds;
  iso_outcome outcome = ISO_OUTCOME_OK;
  switch (command->kind) {
  case ISO_COMMAND_BEGIN:
    outcome = iso_begin(s->control, plan->begins[command - section->commands.items].isolation, &s->reply);
    break;
  case ISO_COMMAND_COMMIT:
    outcome = iso_commit(s->control, &s->reply);
    break;
  case ISO_COMMAND_ROLLBACK:
    outcome = iso_rollback(s->control, &s->reply);
    break;
  case ISO_COMMAND_SLEEP:
    ISO_TRY(iso_machine_sleep(&s->machine, command, &seconds, error));
    isoproof_run_wait(run, seconds);
    return ISOPROOF_OK;
  default:
    ISO_TRY(iso_machine_sql(&s->machine, command, &sql, error));
    outcome = iso_execute(s->control, sql, &s->reply);
    if (outcome == ISO_OUTCOME_OK && command->sets) return store_row(s, section, command, error);
    break;
  }
  return outcome == ISO_OUTCOME_OK ? ISOPROOF_OK : refused(s, section, command, error);
}

/* Carries out all sections of a kind, each statement by itself unless the script says BEGIN. */
static isoproof_status do_sections(isoproof_run_handle *run, iso_section_kind kind, isoproof_error *error) {
  iso_run_script *s = run->script;
  for (size_t i = 0; i < s->script->sections.count; i++) {
    const iso_section *section = &s->script->sections.items[i];
    const iso_command *command;
    if (section->kind != kind) continue;
    ISO_TRY(iso_machine_start(&s->machine, section, error));
    for (;;) {
      ISO_TRY(iso_machine_next(&s->machine, &command, error));
      if (command == NULL) break;
      ISO_TRY(do_command(run, section, command, error));
    }
  }
  return ISOPROOF_OK;
}

/* ---- tracking ---- */

static isoproof_status learn_initial(isoproof_run_handle *run, isoproof_error *error) {
  iso_run_script *s = run->script;
  for (size_t i = 0; iso_tracker_initial_sql(s->tracker, i) != NULL; i++) {
    if (iso_execute(s->control, iso_tracker_initial_sql(s->tracker, i), &s->reply) != ISO_OUTCOME_OK)
      return iso_fail(error, ISOPROOF_ERR_IO, "cannot read the rows that are there at the start: %s %s", s->reply.code,
                      s->reply.message);
    ISO_TRY(iso_tracker_initial(s->tracker, i, &s->reply, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status instrument(isoproof_run_handle *run, isoproof_error *error) {
  iso_run_script *s = run->script;
  for (size_t i = 0; iso_tracker_instrument(s->tracker, i) != NULL; i++) {
    const char *sql = iso_tracker_instrument(s->tracker, i);
    if (iso_execute(s->control, sql, &s->reply) != ISO_OUTCOME_OK)
      return iso_fail(error, ISOPROOF_ERR_IO, "cannot add what tracking needs: %s %s: %.200s", s->reply.code,
                      s->reply.message, sql);
  }
  return learn_initial(run, error);
}

/* The tables that get columns: those of the statements that take them away again, "ALTER TABLE x DROP COLUMN ...". */
static isoproof_status write_down_added(isoproof_run_handle *run, isoproof_error *error) {
  static const char before[] = "ALTER TABLE ", after[] = " DROP COLUMN ";
  const iso_tracker *tracker = run->script->tracker;
  iso_arena arena = ISO_ARENA_EMPTY;
  ISO_VEC(const char *) tables = {NULL, 0, 0};
  isoproof_status status = ISOPROOF_OK;
  for (size_t i = 0; status == ISOPROOF_OK && iso_tracker_restore(tracker, i) != NULL; i++) {
    const char *sql = iso_tracker_restore(tracker, i), *end = strstr(sql, after);
    if (strncmp(sql, before, strlen(before)) != 0 || end == NULL) continue;
    const char *start = sql + strlen(before), *name = iso_arena_text(&arena, start, (size_t)(end - start));
    bool known = name != NULL && tables.count > 0 && strcmp(tables.items[tables.count - 1], name) == 0;
    if (name == NULL || (!known && !iso_vec_push(&tables, name))) status = iso_fail_memory(error);
  }
  if (status == ISOPROOF_OK) status = iso_added_begin(run->database, tables.items, tables.count, error);
  iso_vec_free(&tables);
  iso_arena_free(&arena);
  return status;
}

/* A place for the tables of the script, or what is to be added to those of the user written down. */
static isoproof_status take_place(isoproof_run_handle *run, isoproof_error *error) {
  iso_run_script *s = run->script;
  if (!s->instrument) {
    ISO_TRY(iso_script_decide(s, false, NULL, error));
    ISO_TRY(iso_home_make(run->database, error));
    ISO_TRY(iso_added_sweep(run->database, error));
    return iso_script_connect(run, error);
  }
  ISO_TRY(iso_added_sweep(run->database, error));
  ISO_TRY(iso_script_connect(run, error));
  for (size_t i = 0; iso_tracker_missing(s->tracker, i) != NULL; i++) {
    const char *table = iso_tracker_missing(s->tracker, i);
    ISO_TRY(iso_added_check(s->control, &table, 1, error));
  }
  ISO_TRY(iso_script_decide(s, true, s->control, error));
  return write_down_added(run, error);
}

isoproof_status iso_script_prepare(isoproof_run_handle *run, isoproof_error *error) {
  iso_run_script *s = run->script;
  ISO_TRY(take_place(run, error));
  ISO_TRY(iso_machine_open(&s->machine, s->script, s->quoting, 0, run->workload->seed, &s->defined, error));
  s->has_machine = true;
  s->set_up = true;
  ISO_TRY(do_sections(run, ISO_SECTION_SETUP, error));
  ISO_TRY(iso_script_variables_copy(&s->inherited, &s->machine.variables, error));
  ISO_TRY(instrument(run, error));
  return iso_home_settle(run->database, error);
}

/* ---- what the history knows ---- */

typedef struct fact_list {
  ISO_VEC(iso_jsonl_fact) facts;
  iso_arena arena;
  bool failed;
} fact_list;

static void add_fact(fact_list *list, const char *name, const char *value) {
  const char *kept = iso_arena_text(&list->arena, name, strlen(name)),
             *text = iso_arena_text(&list->arena, value, strlen(value));
  if (kept == NULL || text == NULL) {
    list->failed = true;
    return;
  }
  iso_jsonl_fact fact = {kept, text, strlen(kept), strlen(text)};
  if (!iso_vec_push(&list->facts, fact)) list->failed = true;
}

/* "transfer, statement 2: UPDATE accounts SET ..." */
static void add_statements(fact_list *list, const iso_run_script *s, size_t number) {
  enum { STATEMENT_BYTES = 1000 };
  const iso_section *section = &s->script->sections.items[number];
  unsigned within = 0;
  if (section->kind != ISO_SECTION_TRANSACTION) return;
  for (size_t i = 0; i < section->commands.count; i++) {
    uint32_t statement = s->plans[number].statements[i];
    char name[40], value[STATEMENT_BYTES];
    if (statement == UINT32_MAX) continue;
    snprintf(name, sizeof name, "statement.%u", statement + 1);
    int used = snprintf(value, sizeof value, "%s, statement %u: %s", section->name, ++within,
                        section->commands.items[i].source);
    /* A text that is cut ends between characters. */
    if (used >= STATEMENT_BYTES) {
      size_t end = STATEMENT_BYTES - 4;
      while (end > 0 && ((unsigned char)value[end] & 0xc0) == 0x80) end--;
      memcpy(value + end, "...", 4);
    }
    add_fact(list, name, value);
    if (iso_tracker_extent(s->tracker, statement) == ISO_TRACK_WHOLE) continue;
    snprintf(name, sizeof name, "untracked.%u", statement + 1);
    snprintf(value, sizeof value, "%s: %.600s", iso_track_extent_name(iso_tracker_extent(s->tracker, statement)),
             iso_tracker_explain(s->tracker, statement));
    if (iso_tracker_extent(s->tracker, statement) != ISO_TRACK_NOTHING) add_fact(list, name, value);
  }
}

/* A notice when something is not recorded. */
static void add_notice(fact_list *list, const iso_run_script *s) {
  unsigned all = 0, missing = 0;
  for (size_t i = 0; i < s->script->sections.count; i++) {
    const iso_section *section = &s->script->sections.items[i];
    for (size_t k = 0; section->kind == ISO_SECTION_TRANSACTION && k < section->commands.count; k++) {
      uint32_t statement = s->plans[i].statements[k];
      if (statement == UINT32_MAX) continue;
      iso_track_extent extent = iso_tracker_extent(s->tracker, statement);
      all++;
      missing += extent != ISO_TRACK_WHOLE && extent != ISO_TRACK_NOTHING;
    }
  }
  if (missing == 0) return;
  char value[300];
  snprintf(
      value, sizeof value,
      "%s 0 what %u of %u statements of the script read or wrote is not recorded, or only in part (--explain-script "
      "says which and why): what is satisfied may be violated by that part",
      isoproof_notice_code_name(ISOPROOF_NOTICE_UNTRACKED), missing, all);
  add_fact(list, ISO_NOTICE_FACT "1", value);
}

isoproof_status iso_script_write_start(isoproof_run_handle *run, isoproof_error *error) {
  iso_run_script *s = run->script;
  fact_list list = {.arena = ISO_ARENA_EMPTY};
  add_notice(&list, s);
  for (size_t i = 0; i < run->options->script_count; i++) {
    char name[40];
    snprintf(name, sizeof name, "script.%zu", i + 1);
    add_fact(&list, name, run->options->scripts[i]);
  }
  for (size_t i = 0; i < s->script->sections.count; i++) add_statements(&list, s, i);
  if (!list.failed && list.facts.count > 0) iso_session_log_header(&run->log, list.facts.items, list.facts.count);
  bool failed = list.failed;
  iso_vec_free(&list.facts);
  iso_arena_free(&list.arena);
  if (failed) return iso_fail_memory(error);
  size_t count = 0;
  const iso_jsonl_row *rows = iso_tracker_initial_rows(s->tracker, &count);
  if (count > 0) iso_session_log_initial_contents(&run->log, rows, count);
  iso_script_write_names(run);
  return ISOPROOF_OK;
}

void iso_script_write_names(isoproof_run_handle *run) {
  size_t count = 0;
  pthread_mutex_lock(&run->lock);
  iso_jsonl_row_name *names = iso_tracker_names(run->script->tracker, run->script->names, &count);
  if (names != NULL && count > 0) {
    iso_session_log_row_names(&run->log, names, count);
    run->script->names += count;
  }
  pthread_mutex_unlock(&run->lock);
  free(names);
}

/* ---- afterwards ---- */

static void tell(const isoproof_run_handle *run, const char *what, const isoproof_error *error) {
  char text[ISOPROOF_ERROR_MESSAGE_BYTES + 100];
  if (run->options->notice == NULL) return;
  snprintf(text, sizeof text, "%s: %s", what, error->message);
  run->options->notice(text, run->options->notice_user);
}

void iso_script_teardown(isoproof_run_handle *run) {
  iso_run_script *s = run->script;
  isoproof_error error = {.offset = -1};
  if (s->set_up && !run->options->keep_tables && iso_script_count(s->script, ISO_SECTION_TEARDOWN) > 0) {
    if (iso_script_connect(run, &error) != ISOPROOF_OK || do_sections(run, ISO_SECTION_TEARDOWN, &error) != ISOPROOF_OK)
      tell(run, "the teardown of the script failed", &error);
  }
  iso_disconnect(s->control);
  s->control = NULL;
  if (iso_added_end(run->database, &error) != ISOPROOF_OK)
    tell(run, "what was added to tables stays until the next run", &error);
  if (iso_home_remove(run->database, &error) != ISOPROOF_OK) tell(run, "the tables of the script stay", &error);
}
