/* session_settings.c - settings of sessions: NAME=VALUE, and further values, by which sessions of a node take turns. */
#include <stdio.h>
#include <string.h>

#include "run/run.h"

enum { NAME_BYTES = 100 };

isoproof_status iso_session_settings_check(const isoproof_run_options *options, isoproof_error *error) {
  for (size_t i = 0; i < options->session_setting_count; i++) {
    const char *text = options->session_settings[i], *equals = strchr(text, '=');
    bool named = equals != NULL && equals > text && equals - text < NAME_BYTES;
    if (named || (equals == NULL && i > 0 && text[0] != 0)) continue;
    char quoted[256];
    return iso_fail(error, ISOPROOF_ERR_USAGE, "session settings: expected NAME=VALUE and further values, found %s",
                    iso_quote(text, strlen(text), quoted));
  }
  return ISOPROOF_OK;
}

static isoproof_status set(iso_session *session, const char *name, const char *value, isoproof_error *error) {
  iso_reply *reply = &session->reply;
  iso_outcome outcome = iso_set(session->connection, name, value, reply);
  if (outcome == ISO_OUTCOME_OK) return ISOPROOF_OK;
  return iso_fail(error, outcome == ISO_OUTCOME_REJECTED ? ISOPROOF_ERR_USAGE : ISOPROOF_ERR_IO,
                  "session setting %s=%s: %s%s%s", name, value, reply->code, reply->code[0] != 0 ? " " : "",
                  reply->message);
}

isoproof_status iso_session_settings_apply(iso_session *session, isoproof_error *error) {
  isoproof_run_handle *run = session->run;
  const isoproof_run_options *options = run->options;
  if (run->script != NULL) ISO_TRY(iso_script_enter(run, session->connection, &session->reply, error));
  /* The turn of the session among those of its node. */
  size_t turn = session->number / iso_database_nodes(session->run->database);
  for (size_t i = 0, end; i < options->session_setting_count; i = end) {
    const char *text = options->session_settings[i], *equals = strchr(text, '=');
    for (end = i + 1; end < options->session_setting_count && strchr(options->session_settings[end], '=') == NULL;)
      end++;
    size_t chosen = i + turn % (end - i);
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    ISO_TRY(set(session, name, chosen == i ? equals + 1 : options->session_settings[chosen], error));
  }
  session->set = true;
  return ISOPROOF_OK;
}
