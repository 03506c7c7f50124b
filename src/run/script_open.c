/* script_open.c - scripts of a run: read, their levels found, their statements handed to the tracker. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "database/home.h"
#include "run/script.h"

/* ---- dialects ---- */

static const struct {
  const char *driver;
  iso_script_quoting quoting;
  iso_track_dialect dialect;
} dialects[] = {{"postgres", ISO_QUOTING_POSTGRES, ISO_TRACK_POSTGRES},
                {"sqlite", ISO_QUOTING_STANDARD, ISO_TRACK_SQLITE},
                {"mariadb", ISO_QUOTING_MARIADB, ISO_TRACK_MARIADB}};

static isoproof_status find_dialect(const iso_driver *driver, iso_script_quoting *quoting, iso_track_dialect *dialect,
                                    isoproof_error *error) {
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
    if (strcmp(dialects[i].driver, iso_driver_name(driver)) != 0) continue;
    *quoting = dialects[i].quoting;
    *dialect = dialects[i].dialect;
    return ISOPROOF_OK;
  }
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                  "scripts run on PostgreSQL, MariaDB and SQLite, and not with the driver %s", iso_driver_name(driver));
}

/* ---- definitions ---- */

static isoproof_status take_definitions(iso_run_script *s, const isoproof_run_options *options, isoproof_error *error) {
  for (size_t i = 0; i < options->definition_count; i++) {
    const char *text = options->definitions[i], *equals = strchr(text, '=');
    if (equals == NULL)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "definitions: expected NAME=VALUE, found '%.80s'", text);
    ISO_TRY(iso_script_variable_set_text(&s->defined, text, (size_t)(equals - text), equals + 1, error));
  }
  return ISOPROOF_OK;
}

/* ---- levels ---- */

static isoproof_status find_level(const iso_section *section, uint64_t line, const iso_database *database,
                                  const char *name, iso_script_level *level, isoproof_error *error) {
  isoproof_error found = {.offset = -1};
  isoproof_status status = iso_database_find_isolation(database, name, &level->isolation, &found);
  if (status != ISOPROOF_OK) {
    iso_place place = {section->file, line, 1, -1};
    return iso_fail_at(error, status, place, "%s", found.message);
  }
  const iso_isolation *isolation = level->isolation;
  const char *claim = isolation->claims_lists != NULL ? isolation->claims_lists : isolation->claims;
  level->told = ISO_ISOLATION_NONE;
  if (claim != NULL) (void)iso_txn_isolation_find(claim, strlen(claim), &level->told);
  return ISOPROOF_OK;
}

static isoproof_status find_levels(iso_run_script *s, size_t number, const char *usual, const iso_database *database,
                                   isoproof_error *error) {
  const iso_section *section = &s->script->sections.items[number];
  iso_script_plan *plan = &s->plans[number];
  const char *name = section->isolation != NULL ? section->isolation : usual;
  ISO_TRY(find_level(section, section->line, database, name, &plan->level, error));
  s->mixed |= section->isolation != NULL;
  for (size_t i = 0; i < section->commands.count; i++) {
    const iso_command *command = &section->commands.items[i];
    plan->begins[i] = plan->level;
    if (command->kind != ISO_COMMAND_BEGIN || command->isolation == NULL) continue;
    ISO_TRY(find_level(section, command->line, database, command->isolation, &plan->begins[i], error));
    s->mixed |= section->kind == ISO_SECTION_TRANSACTION;
  }
  return ISOPROOF_OK;
}

/* ---- statements ---- */

static isoproof_status track(iso_run_script *s, const iso_section *section, const iso_command *command,
                             uint32_t *statement, isoproof_error *error) {
  iso_place place = {section->file, command->line, 1, -1};
  if (s->instrument && section->kind != ISO_SECTION_TRANSACTION) {
    static const char *const words[] = {"create", "drop", "alter", "truncate", "rename"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (strncasecmp(command->source, words[i], strlen(words[i])) == 0)
        return iso_fail_at(
            error, ISOPROOF_ERR_USAGE, place,
            "with --instrument the tables are there already, and are not made, removed or changed by the "
            "script: %.80s",
            command->source);
  }
  if (section->kind == ISO_SECTION_TEARDOWN) return ISOPROOF_OK;
  if (section->kind == ISO_SECTION_SETUP) return iso_tracker_setup(s->tracker, command->source, error);
  for (size_t i = 0; i < command->part_count; i++)
    if (command->parts[i].kind == ISO_PART_NAME)
      return iso_fail_at(error, ISOPROOF_ERR_USAGE, place,
                         "%.*s: the name of a table or a column in a transaction cannot be a variable, as what the "
                         "statement reads and writes would not be known",
                         (int)(command->parts[i].length < 80 ? command->parts[i].length : 80), command->parts[i].text);
  isoproof_error found = {.offset = -1};
  isoproof_status status = iso_tracker_add(s->tracker, command->source, statement, &found);
  return status == ISOPROOF_OK ? status : iso_fail_at(error, status, place, "%s", found.message);
}

static isoproof_status plan_section(iso_run_script *s, size_t number, isoproof_error *error) {
  const iso_section *section = &s->script->sections.items[number];
  iso_script_plan *plan = &s->plans[number];
  plan->statements = iso_alloc(section->commands.count + 1, sizeof *plan->statements);
  plan->begins = iso_alloc_zero(section->commands.count + 1, sizeof *plan->begins);
  if (plan->statements == NULL || plan->begins == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < section->commands.count; i++) {
    const iso_command *command = &section->commands.items[i];
    bool tracked = section->kind == ISO_SECTION_SETUP || section->kind == ISO_SECTION_TRANSACTION ||
                   (s->instrument && section->kind == ISO_SECTION_TEARDOWN);
    plan->statements[i] = UINT32_MAX;
    if (tracked && command->kind == ISO_COMMAND_SQL) ISO_TRY(track(s, section, command, &plan->statements[i], error));
  }
  if (section->kind != ISO_SECTION_INVARIANT) return ISOPROOF_OK;
  iso_script_invariant invariant = {.section = section};
  return iso_vec_push(&s->invariants, invariant) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* The setup says which tables there are, and so comes first, wherever it stands. */
static isoproof_status plan_all(iso_run_script *s, const isoproof_run_options *options, const iso_database *database,
                                isoproof_error *error) {
  size_t count = s->script->sections.count;
  s->plans = iso_alloc_zero(count, sizeof *s->plans);
  if (s->plans == NULL) return iso_fail_memory(error);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < count; i++)
      if ((s->script->sections.items[i].kind == ISO_SECTION_SETUP) == (pass == 0)) ISO_TRY(plan_section(s, i, error));
  for (size_t i = 0; database != NULL && i < count; i++)
    ISO_TRY(find_levels(s, i, options->isolation, database, error));
  return ISOPROOF_OK;
}

/* ---- all ---- */

static isoproof_status load(iso_run_script *s, const isoproof_run_options *options, iso_database *database,
                            uint32_t sessions, isoproof_error *error) {
  const iso_driver *driver = database != NULL ? iso_database_driver(database) : NULL;
  iso_track_dialect dialect = ISO_TRACK_POSTGRES;
  static const iso_value_tag no_tag;
  if (driver == NULL) ISO_TRY(iso_driver_for(options->urls[0], &driver, error));
  ISO_TRY(find_dialect(driver, &s->quoting, &dialect, error));
  s->instrument = options->instrument;
  ISO_TRY(take_definitions(s, options, error));
  ISO_TRY(iso_script_read(options->scripts, options->script_count, s->quoting, &s->script, error));
  ISO_TRY(iso_tracker_make(dialect, database != NULL ? iso_database_tag(database) : &no_tag, sessions + 1, &s->tracker,
                           error));
  return plan_all(s, options, database, error);
}

isoproof_status iso_script_load(const isoproof_run_options *options, iso_database *database, uint32_t sessions,
                                iso_run_script **script, isoproof_error *error) {
  iso_run_script *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  isoproof_status status = load(made, options, database, sessions, error);
  if (status == ISOPROOF_OK)
    *script = made;
  else
    iso_script_unload(made);
  return status;
}

isoproof_status iso_script_decide(iso_run_script *s, bool instrument, iso_connection *connection,
                                  isoproof_error *error) {
  for (size_t i = 0; instrument && iso_tracker_missing(s->tracker, i) != NULL; i++) {
    const char *sql = iso_tracker_catalogue_sql(s->tracker, i);
    if (sql == NULL) return iso_fail_memory(error);
    if (iso_execute(connection, sql, &s->reply) != ISO_OUTCOME_OK)
      return iso_fail(error, ISOPROOF_ERR_IO, "cannot look at table %s: %s %s", iso_tracker_missing(s->tracker, i),
                      s->reply.code, s->reply.message);
    ISO_TRY(iso_tracker_catalogue(s->tracker, i, &s->reply, error));
  }
  return iso_tracker_decide(s->tracker, error);
}

void iso_script_unload(iso_run_script *s) {
  if (s == NULL) return;
  for (size_t i = 0; s->plans != NULL && i < s->script->sections.count; i++) {
    free(s->plans[i].statements);
    free(s->plans[i].begins);
  }
  for (size_t i = 0; i < s->invariants.count; i++) {
    free(s->invariants.items[i].expected);
    free(s->invariants.items[i].found);
  }
  if (s->has_machine) iso_machine_close(&s->machine);
  iso_disconnect(s->control);
  iso_reply_free(&s->reply);
  iso_vec_free(&s->invariants);
  free(s->plans);
  iso_tracker_free(s->tracker);
  iso_script_variables_free(&s->defined);
  iso_script_variables_free(&s->inherited);
  iso_script_free(s->script);
  free(s);
}

size_t iso_script_number(const iso_run_script *script, const iso_section *section) {
  return (size_t)(section - script->script->sections.items);
}
