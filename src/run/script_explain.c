/* script_explain.c - what is made of the statements of scripts, in words, without running any. */
#include <string.h>

#include "base/abi.h"
#include "base/words.h"
#include "run/script.h"

/* ---- in words ---- */

static void tell_tables(iso_words *words, const iso_tracker *tracker) {
  size_t count = iso_tracker_tables(tracker);
  if (count > 0) iso_words_add(words, "tables\n");
  for (size_t i = 0; i < count; i++) {
    iso_track_table table = iso_tracker_table(tracker, i);
    iso_words_add(words, "  %s: %s\n    %s\n", table.name, table.tracked ? "tracked" : "not tracked", table.why);
  }
  for (size_t i = 0; iso_tracker_instrument(tracker, i) != NULL; i++)
    iso_words_add(words, "%s    %s\n", i == 0 ? "  added after the setup:\n" : "", iso_tracker_instrument(tracker, i));
}

static void tell_statement(iso_words *words, const iso_tracker *tracker, const iso_command *command,
                           uint32_t statement) {
  const char *sent = iso_tracker_sent(tracker, statement);
  iso_words_add(words, "  %llu: %s\n", (unsigned long long)command->line, command->source);
  if (sent != NULL && strcmp(sent, command->source) != 0) iso_words_add(words, "    sent as: %s\n", sent);
  iso_words_add(words, "    %s: %s\n", iso_track_extent_name(iso_tracker_extent(tracker, statement)),
                iso_tracker_explain(tracker, statement));
}

static void tell_section(iso_words *words, const iso_run_script *s, size_t number) {
  const iso_section *section = &s->script->sections.items[number];
  if (section->kind != ISO_SECTION_TRANSACTION) return;
  iso_words_add(words, "\ntransaction %s (%s)\n", section->name, section->file);
  for (size_t i = 0; i < section->commands.count; i++) {
    uint32_t statement = s->plans[number].statements[i];
    if (statement != UINT32_MAX) tell_statement(words, s->tracker, &section->commands.items[i], statement);
  }
}

static void tell_invariants(iso_words *words, const iso_run_script *s) {
  for (size_t i = 0; i < s->invariants.count; i++) {
    const iso_section *section = s->invariants.items[i].section;
    char *expected = iso_expectation_words(section, &s->defined);
    iso_words_add(words, "\ninvariant %s (%s)\n", section->name, section->file);
    for (size_t k = 0; k < section->commands.count; k++)
      if (section->commands.items[k].kind == ISO_COMMAND_SQL)
        iso_words_add(words, "  %llu: %s\n", (unsigned long long)section->commands.items[k].line,
                      section->commands.items[k].source);
    iso_words_add(words, "    must return %s; asked %s\n", expected != NULL ? expected : "",
                  section->in_the_end ? "in the end" : "every second, and in the end");
    if (expected == NULL) words->failed = true;
    free(expected);
  }
}

/* ---- all ---- */

/* Asks for the catalogue only where tables of the user are meant. */
static isoproof_status decide(iso_run_script *s, const isoproof_run_options *options, isoproof_error *error) {
  iso_database *database = NULL;
  if (!options->instrument) return iso_script_decide(s, false, NULL, error);
  iso_database_options how = {.password = options->password, .tables = 1};
  ISO_TRY(iso_database_open(options->urls, options->url_count, &how, &database, error));
  isoproof_status status = iso_connect(database, 0, &s->control, error);
  if (status == ISOPROOF_OK) status = iso_script_decide(s, true, s->control, error);
  iso_disconnect(s->control);
  s->control = NULL;
  iso_database_close(database);
  return status;
}

static isoproof_status tell(iso_run_script *s, isoproof_write_fn write, void *user, isoproof_error *error) {
  iso_words words = {NULL, 0, 0, false};
  isoproof_status status = ISOPROOF_OK;
  tell_tables(&words, s->tracker);
  for (size_t i = 0; i < s->script->sections.count; i++) tell_section(&words, s, i);
  tell_invariants(&words, s);
  if (words.failed)
    status = iso_fail_memory(error);
  else if (words.length > 0 && !write(user, words.text, words.length))
    status = iso_fail(error, ISOPROOF_ERR_IO, "the output was refused");
  iso_words_free(&words);
  return status;
}

isoproof_status isoproof_script_explain(const isoproof_run_options *given, isoproof_write_fn write, void *user,
                                        isoproof_error *error) {
  isoproof_run_options options = {.struct_size = sizeof options};
  iso_run_script *script = NULL;
  isoproof_run_defaults(&options);
  ISO_TRY(ISO_OPTIONS_READ(isoproof_run_options, &options, given, error));
  if (options.script_count == 0 || options.url_count == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "scripts, urls: expected at least one each, found none");
  ISO_TRY(iso_script_load(&options, NULL, 1, &script, error));
  isoproof_status status = decide(script, &options, error);
  if (status == ISOPROOF_OK) status = tell(script, write, user, error);
  iso_script_unload(script);
  return status;
}
