/* machine.c - carries out sections: variables, expressions, conditions, and the text of statements. */
#include "script/machine.h"

#include <stdio.h>
#include <string.h>

static isoproof_status set_number(iso_machine *m, const char *name, int64_t number, isoproof_error *error) {
  return iso_script_variable_set(&m->variables, name, strlen(name), iso_script_integer(number), error);
}

/* Defined ones, and those of the setup: those that have the names of the session's own only if they were defined. */
isoproof_status iso_machine_inherit(iso_machine *m, const iso_script_variables *variables, isoproof_error *error) {
  for (size_t i = 0; i < variables->list.count; i++) {
    const iso_script_variable *v = &variables->list.items[i];
    if (strcmp(v->name, "client_id") == 0) continue;
    isoproof_status status =
        v->calculable ? iso_script_variable_set(&m->variables, v->name, strlen(v->name), v->value, error)
                      : iso_script_variable_set_text(&m->variables, v->name, strlen(v->name), v->text, error);
    ISO_TRY(status);
  }
  return ISOPROOF_OK;
}

isoproof_status iso_machine_open(iso_machine *m, const iso_script *script, iso_script_quoting quoting, int64_t client,
                                 uint64_t seed, const iso_script_variables *defined, isoproof_error *error) {
  memset(m, 0, sizeof *m);
  m->script = script;
  m->quoting = quoting;
  iso_script_random first;
  iso_script_random_seed(&first, seed);
  int64_t default_seed = (int64_t)iso_script_random_next(&first);
  for (int64_t i = -1; i < client; i++) iso_script_random_next(&first);
  iso_script_random_seed(&m->random, iso_script_random_next(&first) ^ (uint64_t)client);
  isoproof_status status = set_number(m, "client_id", client, error);
  if (status == ISOPROOF_OK) status = set_number(m, "random_seed", (int64_t)seed, error);
  if (status == ISOPROOF_OK) status = set_number(m, "default_seed", default_seed, error);
  if (status == ISOPROOF_OK) status = set_number(m, "scale", 1, error);
  if (status == ISOPROOF_OK && defined != NULL) status = iso_machine_inherit(m, defined, error);
  if (status != ISOPROOF_OK) iso_machine_close(m);
  return status;
}

void iso_machine_close(iso_machine *m) {
  iso_script_variables_free(&m->variables);
  iso_script_variables_free(&m->kept);
  iso_vec_free(&m->sql);
}

const iso_section *iso_machine_draw(iso_machine *m) {
  return iso_script_transaction(m->script, iso_script_random_upto(&m->random, m->script->weight - 1));
}

isoproof_status iso_machine_start(iso_machine *m, const iso_section *section, isoproof_error *error) {
  m->section = section;
  m->next = 0;
  return iso_machine_mark(m, error);
}

isoproof_status iso_machine_mark(iso_machine *m, isoproof_error *error) {
  m->kept_next = m->next;
  m->kept_random = m->random;
  return iso_script_variables_copy(&m->kept, &m->variables, error);
}

isoproof_status iso_machine_restart(iso_machine *m, isoproof_error *error) {
  m->next = m->kept_next;
  m->random = m->kept_random;
  return iso_script_variables_copy(&m->variables, &m->kept, error);
}

/* ---- commands ---- */

/* Says where. */
static isoproof_status placed(const iso_machine *m, const iso_command *command, isoproof_status status,
                              const isoproof_error *found, isoproof_error *error) {
  if (status == ISOPROOF_OK || status == ISOPROOF_ERR_MEMORY) {
    if (error != NULL && status != ISOPROOF_OK) *error = *found;
    return status;
  }
  iso_place place = {m->section->file, command->line, 1, -1};
  return iso_fail_at(error, status, place, "%s: %.100s", found->message, command->source);
}

static isoproof_status evaluate(iso_machine *m, const iso_command *command, iso_script_value *value,
                                isoproof_error *error) {
  isoproof_error found = {.offset = -1};
  isoproof_status status = iso_expression_evaluate(command->expression, &m->variables, &m->random, value, &found);
  return placed(m, command, status, &found, error);
}

isoproof_status iso_machine_next(iso_machine *m, const iso_command **command, isoproof_error *error) {
  for (;;) {
    *command = m->next < m->section->commands.count ? &m->section->commands.items[m->next++] : NULL;
    if (*command == NULL) return ISOPROOF_OK;
    iso_script_value value;
    switch ((*command)->kind) {
    case ISO_COMMAND_SET:
      ISO_TRY(evaluate(m, *command, &value, error));
      ISO_TRY(iso_script_variable_set(&m->variables, (*command)->name, strlen((*command)->name), value, error));
      break;
    case ISO_COMMAND_UNLESS:
      ISO_TRY(evaluate(m, *command, &value, error));
      if (!iso_script_truth(value)) m->next = (*command)->target;
      break;
    case ISO_COMMAND_JUMP:
      m->next = (*command)->target;
      break;
    default:
      return ISOPROOF_OK;
    }
  }
}

/* ---- texts ---- */

static bool add(iso_machine *m, const char *text, size_t length) {
  if (!iso_vec_reserve(&m->sql, length + 1)) return false;
  memcpy(m->sql.items + m->sql.count, text, length);
  m->sql.count += length;
  m->sql.items[m->sql.count] = 0;
  return true;
}

/* Doubles the quote, and the backslash where that would mean something. */
static bool add_quoted(iso_machine *m, const char *text, char quote, bool backslashes) {
  if (!add(m, &quote, 1)) return false;
  for (; *text != 0; text++) {
    bool twice = *text == quote || (backslashes && *text == '\\');
    if ((twice && !add(m, text, 1)) || !add(m, text, 1)) return false;
  }
  return add(m, &quote, 1);
}

static bool add_variable(iso_machine *m, const iso_part *part) {
  const iso_script_variable *found = iso_script_variable_find(&m->variables, part->name, strlen(part->name));
  bool mariadb = m->quoting == ISO_QUOTING_MARIADB;
  if (found == NULL) return add(m, part->text, part->length);
  if (part->kind == ISO_PART_PLAIN) return add(m, found->text, strlen(found->text));
  if (part->kind == ISO_PART_NAME) return add_quoted(m, found->text, mariadb ? '`' : '"', false);
  bool backslashes = strchr(found->text, '\\') != NULL;
  if (backslashes && m->quoting == ISO_QUOTING_POSTGRES && !add(m, " E", 2)) return false;
  return add_quoted(m, found->text, '\'', backslashes && m->quoting != ISO_QUOTING_STANDARD);
}

static bool write_parts(iso_machine *m, const iso_part *parts, size_t count) {
  m->sql.count = 0;
  bool good = add(m, "", 0);
  for (size_t i = 0; i < count && good; i++)
    good = parts[i].kind == ISO_PART_TEXT ? add(m, parts[i].text, parts[i].length) : add_variable(m, &parts[i]);
  return good;
}

isoproof_status iso_machine_sql(iso_machine *m, const iso_command *command, const char **sql, isoproof_error *error) {
  if (!write_parts(m, command->parts, command->part_count)) return iso_fail_memory(error);
  *sql = m->sql.items;
  return ISOPROOF_OK;
}

const char *iso_machine_value(const iso_machine *m, const char *name) {
  const iso_script_variable *found = iso_script_variable_find(&m->variables, name, strlen(name));
  return found != NULL ? found->text : NULL;
}

isoproof_status iso_machine_sleep(iso_machine *m, const iso_command *command, double *seconds, isoproof_error *error) {
  iso_script_value value;
  isoproof_error found = {.offset = -1};
  double number = -1;
  if (!write_parts(m, command->parts, command->part_count)) return iso_fail_memory(error);
  if (iso_script_read_value(m->sql.items, &value)) (void)iso_script_to_double(value, &number, NULL);
  isoproof_status status = ISOPROOF_OK;
  if (!(number >= 0 && number * command->unit <= 1e6))
    status = iso_fail(&found, ISOPROOF_ERR_USAGE, "expected a time from 0 to 1e6 seconds, found '%.40s'", m->sql.items);
  *seconds = number * command->unit;
  return placed(m, command, status, &found, error);
}

isoproof_status iso_machine_store(iso_machine *m, const iso_command *command, const char *column, const char *text,
                                  isoproof_error *error) {
  char name[2 * ISO_SCRIPT_NAME_BYTES];
  isoproof_error found = {.offset = -1};
  snprintf(name, sizeof name, "%.63s%.63s", command->prefix, column);
  isoproof_status status = iso_script_variable_set_text(&m->variables, name, strlen(name), text, &found);
  return placed(m, command, status, &found, error);
}
