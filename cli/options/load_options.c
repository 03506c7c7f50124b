/* load_options.c - from options to a load. */
#include "cli/options/load_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/terminal/message.h"

/* "10:30s,100:1m", which the table of options has checked already. */
static bool fill_phases(load_plan *load, const char *text) {
  if (strchr(text, ':') == NULL) return true;
  for (const char *at = text; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
    if (load->phase_count == LOAD_PHASES_MOST) {
      message("--sessions: expected at most %d phases", LOAD_PHASES_MOST);
      return false;
    }
    uint64_t sessions;
    double seconds;
    if (!option_phase(at, &sessions, &seconds)) return false;
    load->phase_sessions[load->phase_count] = (uint32_t)sessions;
    load->phase_seconds[load->phase_count++] = seconds;
  }
  return true;
}

static bool fill_think(isoproof_run_options *run, const char *text) {
  run->think_exponential = strncmp(text, "exp:", 4) == 0;
  const char *time = text + (run->think_exponential ? 4 : 0);
  if (option_seconds(time, strlen(time), &run->think_time) && run->think_time >= 0 && run->think_time <= 1e6)
    return true;
  message("--think-time: expected a time as 5ms or 0.2s, or exp: and a time, found '%s'", text);
  return false;
}

bool load_fill(load_plan *load, const option_value *v, const option_value *sessions, isoproof_run_options *run) {
  *load = (load_plan){.phase_count = 0};
  if (sessions->given && !fill_phases(load, sessions->text)) return false;
  run->phase_sessions = load->phase_sessions;
  run->phase_seconds = load->phase_seconds;
  run->phase_count = load->phase_count;
  if (v[LOAD_RATE].given) run->rate = v[LOAD_RATE].number;
  if (v[LOAD_RAMP].given) run->ramp = v[LOAD_RAMP].number;
  if (v[LOAD_DEADLOCK_TIMEOUT].given) run->deadlock_timeout = v[LOAD_DEADLOCK_TIMEOUT].number;
  return !v[LOAD_THINK_TIME].given || fill_think(run, v[LOAD_THINK_TIME].text);
}
