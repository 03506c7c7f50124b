/* workload_options.c - from options to a workload. */
#include "cli/options/workload_options.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "cli/terminal/message.h"

const char *distribution_name_at(size_t number) {
  static const char *const names[] = {
#define CLI_X(name, id, text) id,
      ISOPROOF_KEY_DISTRIBUTION_LIST(CLI_X)
#undef CLI_X
  };
  return number < ISOPROOF_KEY_DISTRIBUTIONS ? names[number] : NULL;
}

uint64_t random_seed(void) {
  uint64_t seed;
  if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) seed = (uint64_t)time(NULL);
  return seed % UINT64_C(1000000000);
}

static bool choose(isoproof_workload_options *workload, const option_value *named, const option_value *preset) {
  isoproof_workload_kind kind = ISOPROOF_WORKLOAD_MIXED;
  isoproof_workload_preset chosen;
  if (named != NULL && named->given && preset != NULL && preset->given) {
    message("--workload and --preset: expected one of them, found both");
    return false;
  }
  if (named != NULL && named->given && !isoproof_workload_find(named->text, &kind)) {
    message("--workload: '%s' is a workload of the simulator only; --simulate uses it", named->text);
    return false;
  }
  isoproof_workload_defaults(kind, workload);
  if (preset != NULL && preset->given && isoproof_workload_preset_find(preset->text, &chosen))
    isoproof_workload_preset_defaults(chosen, workload);
  return true;
}

static void set_u32(uint32_t *to, const option_value *value) {
  if (value != NULL && value->given) *to = (uint32_t)value->integer;
}

static void set_number(double *to, const option_value *value) {
  if (value != NULL && value->given) *to = value->number;
}

bool workload_fill(isoproof_workload_options *w, const option_value *const v[WORKLOAD_OPTIONS]) {
  if (!choose(w, v[WORKLOAD_WORKLOAD], v[WORKLOAD_PRESET])) return false;
  w->seed = v[WORKLOAD_SEED]->given ? v[WORKLOAD_SEED]->integer : random_seed();
  set_u32(&w->sessions, v[WORKLOAD_SESSIONS]);
  if (v[WORKLOAD_TRANSACTIONS]->given) w->txns = v[WORKLOAD_TRANSACTIONS]->integer;
  if (v[WORKLOAD_OPERATIONS]->given) {
    w->ops_min = (uint32_t)v[WORKLOAD_OPERATIONS]->integer;
    w->ops_max = (uint32_t)v[WORKLOAD_OPERATIONS]->upper;
  }
  set_number(&w->read_share, v[WORKLOAD_READ_SHARE]);
  set_number(&w->rmw_share, v[WORKLOAD_RMW_SHARE]);
  set_number(&w->abort_share, v[WORKLOAD_ABORT_SHARE]);
  set_number(&w->long_share, v[WORKLOAD_LONG_SHARE]);
  set_u32(&w->long_ops, v[WORKLOAD_LONG_OPERATIONS]);
  set_u32(&w->writes_per_key, v[WORKLOAD_APPENDS_PER_KEY]);
  if (v[WORKLOAD_FINAL_READS] != NULL && v[WORKLOAD_FINAL_READS]->given) w->final_reads = v[WORKLOAD_FINAL_READS]->on;
  set_number(&w->jitter, v[WORKLOAD_JITTER]);
  set_u32(&w->keys, v[WORKLOAD_KEYS]);
  if (v[WORKLOAD_DISTRIBUTION]->given &&
      !isoproof_key_distribution_find(v[WORKLOAD_DISTRIBUTION]->text, &w->distribution))
    return false;
  set_number(&w->skew, v[WORKLOAD_SKEW]);
  set_number(&w->hot_share, v[WORKLOAD_HOT_SHARE]);
  set_number(&w->hot_keys_share, v[WORKLOAD_HOT_KEYS]);
  return true;
}
