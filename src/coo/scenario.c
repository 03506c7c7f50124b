/* scenario.c - from the text of a scenario to a script, and from its events to a verdict. */
#include "coo/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const iso_coo_scenario scenarios[] = {
#define SCENARIO(suite, number, name, kind, forbidden_by, script, ...)                                                 \
  {ISOPROOF_SUITE_##suite, number, name, kind, forbidden_by, script, {__VA_ARGS__}},
#include "coo/scenarios.def"
#undef SCENARIO
};

enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

const iso_coo_scenario *iso_coo_scenario_at(size_t number) { return number < SCENARIOS ? &scenarios[number] : NULL; }

/* ---- the table ---- */

static isoproof_status control(iso_stepper *stepper, size_t node, const char *sql, isoproof_error *error) {
  char table[ISO_TABLE_BYTES], text[ISO_ACT_SQL_BYTES];
  iso_reply *reply = &stepper->control_reply;
  iso_database_table(stepper->database, 0, table);
  snprintf(text, sizeof text, sql, table);
  if (iso_execute(stepper->controls[node], text, reply) == ISO_OUTCOME_OK) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s %s", text, reply->code, reply->message);
}

isoproof_status iso_coo_scenario_reset(iso_stepper *stepper, isoproof_error *error) {
  ISO_TRY(control(stepper, 0, "DELETE FROM %s", error));
  ISO_TRY(control(stepper, 0, "INSERT INTO %s (k, v) VALUES (1, 10)", error));
  ISO_TRY(control(stepper, 0, "INSERT INTO %s (k, v) VALUES (2, 20)", error));
  return iso_stepper_sync(stepper, error);
}

/* ---- the script ---- */

/* Copies a statement with the name of the table for T. */
static void name_table(char *out, size_t size, const char *sql, size_t length, const char *table) {
  size_t used = 0;
  for (size_t i = 0; i < length && used + 1 < size; i++) {
    bool placeholder = sql[i] == 'T' && i > 0 && sql[i - 1] == ' ' && (i + 1 == length || sql[i + 1] == ' ');
    int written =
        placeholder ? snprintf(out + used, size - used, "%s", table) : snprintf(out + used, size - used, "%c", sql[i]);
    used += (size_t)written;
  }
}

isoproof_status iso_coo_scenario_script(const iso_coo_scenario *scenario, const iso_database *database,
                                        iso_script *script, isoproof_error *error) {
  char table[ISO_TABLE_BYTES];
  iso_database_table(database, 0, table);
  memset(script, 0, sizeof *script);
  for (const char *at = scenario->script; *at != 0;) {
    size_t length = strcspn(at, ";");
    if (script->count == ISO_STEPPER_ACTS || length < 3) {
      return iso_fail(error, ISOPROOF_ERR_INTERNAL, "the script of %s does not fit", scenario->name);
    }
    iso_act *act = &script->acts[script->count++];
    act->session = (uint32_t)(at[0] - '1');
    if (act->session >= script->sessions) script->sessions = act->session + 1;
    name_table(act->sql, sizeof act->sql, at + 2, length - 2, table);
    act->kind = strcmp(act->sql, "COMMIT") == 0     ? ISO_ACT_COMMIT
                : strcmp(act->sql, "ROLLBACK") == 0 ? ISO_ACT_ROLLBACK
                                                    : ISO_ACT_STATEMENT;
    at += length + (at[length] == ';');
  }
  return ISOPROOF_OK;
}

/* ---- the verdict ---- */

/* What a step returned; NULL when it did not end well. */
static const char *result_of(const iso_stepper *stepper, uint32_t act) {
  for (uint32_t i = 0; i < stepper->event_count; i++) {
    const iso_step_event *event = &stepper->events[i];
    if (event->kind == ISO_EVENT_DONE && event->act == act && event->outcome == ISO_OUTCOME_OK) return event->result;
  }
  return NULL;
}

static isoproof_status final_state(iso_stepper *stepper, char *out, size_t size, isoproof_error *error) {
  const iso_reply *reply = &stepper->control_reply;
  size_t used = 0;
  ISO_TRY(control(stepper, 0, "SELECT k, v FROM %s ORDER BY k", error));
  out[0] = 0;
  for (size_t row = 0; reply->columns > 0 && row < reply->cells.count / reply->columns && used < size; row++) {
    const char *k = iso_reply_cell(reply, row, 0), *v = iso_reply_cell(reply, row, 1);
    used += (size_t)snprintf(out + used, size - used, "%s%s|%s", row > 0 ? ", " : "", k != NULL ? k : "NULL",
                             v != NULL ? v : "NULL");
  }
  return ISOPROOF_OK;
}

static bool any_error(const iso_stepper *stepper) {
  for (uint32_t i = 0; i < stepper->event_count; i++) {
    if (stepper->events[i].kind == ISO_EVENT_UNDONE) return true;
  }
  return false;
}

isoproof_status iso_coo_scenario_happened(iso_stepper *stepper, const iso_coo_scenario *scenario, bool *happened,
                                          isoproof_error *error) {
  char final[ISO_EVENT_RESULT_BYTES];
  ISO_TRY(final_state(stepper, final, sizeof final, error));
  *happened = !any_error(stepper);
  for (size_t i = 0; i < ISO_SCENARIO_CONDITIONS && scenario->conditions[i] != NULL; i++) {
    char *text;
    unsigned long step = strtoul(scenario->conditions[i], &text, 10);
    const char *result = step == 0 ? final : result_of(stepper, (uint32_t)step - 1);
    bool same = result != NULL && strcmp(result, text + 1) == 0;
    if (result == NULL || same != (*text == '=')) *happened = false;
  }
  return ISOPROOF_OK;
}
