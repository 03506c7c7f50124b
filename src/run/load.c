/* load.c - phases, ramps, the schedule of arrivals and time to think. */
#include "run/load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Of random numbers: sessions have those of their own numbers. */
enum { SCHEDULE_STREAM = INT32_MAX };

static int64_t nanoseconds(double seconds) { return (int64_t)(seconds * 1e9); }

/* ---- options ---- */

static isoproof_status check_number(const char *name, double value, double most, isoproof_error *error) {
  if (value >= 0 && value <= most) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected 0 to %g, found %g", name, most, value);
}

isoproof_status iso_load_check(const isoproof_run_options *o, uint32_t sessions, isoproof_error *error) {
  ISO_TRY(check_number("rate", o->rate, 1e7, error));
  ISO_TRY(check_number("think_time", o->think_time, 1e6, error));
  ISO_TRY(check_number("ramp", o->ramp, 1e6, error));
  if (o->phase_count > 0 && (o->phase_sessions == NULL || o->phase_seconds == NULL))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "phases: expected sessions and seconds of each");
  for (size_t i = 0; i < o->phase_count; i++) {
    if (!(o->phase_seconds[i] > 0 && o->phase_seconds[i] <= 1e6))
      return iso_fail(error, ISOPROOF_ERR_USAGE, "phases: expected more than 0 and up to 1e6 seconds, found %g",
                      o->phase_seconds[i]);
    if (o->phase_sessions[i] > sessions)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "phases: expected up to %u sessions, those of the workload, found %u",
                      sessions, o->phase_sessions[i]);
  }
  return ISOPROOF_OK;
}

/* ---- randomness ---- */

/* By inversion; 1 minus the number is never 0. */
static int64_t draw_exponential(iso_random *random, double mean_seconds) {
  return nanoseconds(-log(1 - iso_random_double(random)) * mean_seconds);
}

/* ---- the schedule ---- */

bool iso_load_init(iso_load *load, const isoproof_run_options *options, uint32_t sessions, uint64_t seed) {
  *load = (iso_load){.options = options, .sessions = sessions, .rate = options->rate};
  iso_random_seed(&load->random, seed, SCHEDULE_STREAM);
  if (load->rate > 0) load->due = draw_exponential(&load->random, 1 / load->rate);
  return pthread_mutex_init(&load->lock, NULL) == 0;
}

/* Several Poisson processes are one together. */
void iso_load_share(iso_load *load, uint32_t client, uint32_t own, uint64_t seed) {
  load->rate = load->options->rate * own / load->sessions;
  iso_random_seed(&load->random, seed, SCHEDULE_STREAM - client);
  if (load->rate > 0) load->due = draw_exponential(&load->random, 1 / load->rate);
}

void iso_load_destroy(iso_load *load) { pthread_mutex_destroy(&load->lock); }

/* Arrivals are a Poisson process, as those of many users who know nothing of each other. */
int64_t iso_load_take(iso_load *load) {
  if (!(load->rate > 0)) return ISO_UNSCHEDULED;
  pthread_mutex_lock(&load->lock);
  int64_t due = load->due;
  load->due += draw_exponential(&load->random, 1 / load->rate);
  pthread_mutex_unlock(&load->lock);
  return due;
}

void iso_load_skip(iso_load *load, int64_t now) {
  if (!(load->rate > 0)) return;
  pthread_mutex_lock(&load->lock);
  if (load->due < now) load->due = now + draw_exponential(&load->random, 1 / load->rate);
  pthread_mutex_unlock(&load->lock);
}

int64_t iso_load_behind(iso_load *load, int64_t now) {
  if (!(load->rate > 0)) return 0;
  pthread_mutex_lock(&load->lock);
  int64_t due = load->due;
  pthread_mutex_unlock(&load->lock);
  return due < now ? now - due : 0;
}

int64_t iso_load_think(const iso_load *load, iso_random *random) {
  const isoproof_run_options *o = load->options;
  if (!(o->think_time > 0)) return 0;
  return o->think_exponential ? draw_exponential(random, o->think_time) : nanoseconds(o->think_time);
}

/* ---- who takes part ---- */

/* When the session takes part in a phase that begins at `begin` after one of `before` sessions: those that are new come
 * one after the other. */
static int64_t entry(const iso_load *load, uint32_t session, int64_t begin, uint32_t before, uint32_t sessions) {
  if (session >= sessions) return ISO_NEVER;
  if (session < before) return begin;
  return begin + nanoseconds(load->options->ramp * (session - before) / (sessions - before));
}

int64_t iso_load_active(const iso_load *load, uint32_t session, int64_t now) {
  const isoproof_run_options *o = load->options;
  if (o->phase_count == 0) {
    int64_t at = entry(load, session, 0, 0, load->sessions);
    return at > now ? at : now;
  }
  double end_seconds = 0;
  int64_t begin = 0;
  uint32_t before = 0;
  for (size_t i = 0; i < o->phase_count; i++) {
    end_seconds += o->phase_seconds[i];
    int64_t end = nanoseconds(end_seconds), at = entry(load, session, begin, before, o->phase_sessions[i]);
    if (at < now) at = now;
    if (at < end) return at;
    begin = end;
    before = o->phase_sessions[i];
  }
  return ISO_NEVER;
}

/* ---- in words ---- */

void iso_load_describe_phases(const isoproof_run_options *o, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < o->phase_count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%u for %g s", i > 0 ? ", " : "", o->phase_sessions[i],
                             o->phase_seconds[i]);
}

void iso_load_describe_think(const isoproof_run_options *o, char *text, size_t size) {
  text[0] = 0;
  if (!(o->think_time > 0)) return;
  snprintf(text, size, "%g ms%s", o->think_time * 1e3, o->think_exponential ? " on average, exponential" : "");
}
