/* isoproof_check: by levels, by Elle's way, or with values that are not unique. */
#include <isoproof/check.h>

#include "base/abi.h"
#include "base/task.h"
#include "check/ambiguous.h"
#include "check/check_levels.h"
#include "check/prove_quickly.h"
#include "elle/elle_result.h"
#include "history/resolve.h"
#include "level/tap.h"

static isoproof_status check_names(const isoproof_check_options *options, isoproof_error *error) {
  for (size_t i = 0; i < options->anomaly_count; i++) {
    if (iso_tap_find(options->anomalies[i]) != ISO_TAPS) continue;
    return iso_fail(error, ISOPROOF_ERR_USAGE, "`%s` is not a pattern that can be looked for by itself",
                    options->anomalies[i]);
  }
  if ((options->certificate || options->stats) && options->anomaly_count > 0) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "certificates and statistics are about levels, not about anomalies");
  }
  if (options->transaction_order != NULL) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "an order of transactions goes with the workload rw-register only");
  }
  if (options->anomaly_count > 0 && options->level_count > 0) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "levels and anomalies cannot be asked for together");
  }
  for (size_t i = 0; i < options->level_count; i++) {
    if (isoproof_level_find(options->levels[i]) != NULL) continue;
    return iso_fail(error, ISOPROOF_ERR_USAGE, "there is no level `%s`", options->levels[i]);
  }
  return ISOPROOF_OK;
}

/* What somebody else has written would pass for anomalies of the database. */
static isoproof_status refuse_interference(const isoproof_history *history, isoproof_error *error) {
  const char *what = isoproof_history_fact(history, "interference");
  if (what == NULL) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_INTERFERENCE,
                  "not judged, because of interference: somebody else changed the tables during the run (%.300s)",
                  what);
}

/* By levels or patterns, after what can be known without the engines. */
static isoproof_status check_levels(isoproof_history *history, const isoproof_check_options *options,
                                    isoproof_task *task, isoproof_result **result, isoproof_error *error) {
  iso_quick_proof proof = {.is_proved = false};
  bool ambiguous = false, repeated = false;
  isoproof_status status = iso_prove_quickly(history, options, ISO_PROVE_FEWEST_OPS, task, &proof, error);
  if (status == ISOPROOF_ERR_CANCELLED) return status;
  /* When time is up, the engines say so in the result. */
  if (!proof.is_sound && status != ISOPROOF_ERR_TIMEOUT) {
    const iso_resolution *resolution;
    ISO_TRY(iso_history_resolve(history, task, &resolution, error));
    /* Patterns by themselves are about what was observed, which is not known then. */
    if (options->anomaly_count > 0) ISO_TRY(iso_history_require_unique(history, resolution, error));
    repeated = resolution->counts.duplicate_writes > 0;
    ambiguous = (repeated || resolution->open_reads > 0) && !iso_proof_settles(history, options, &proof);
  }
  ISO_TRY(ambiguous ? iso_check_ambiguous(history, options, task, result, error)
                    : iso_check_levels_knowing(history, options, &proof, task, result, error));
  (*result)->repeated_values = repeated && !options->duplicate_values;
  return ISOPROOF_OK;
}

isoproof_status isoproof_check(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                               isoproof_result **result, isoproof_error *error) {
  isoproof_check_options known = {.struct_size = sizeof known};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_check_options, &known, options, error));
  ISO_TRY(refuse_interference(history, error));
  if (iso_elle_is_asked(&known)) {
    ISO_TRY(iso_elle_refuse_rows(history, error));
    static const char *const initial[] = {"strict-serializable"};
    if (known.certificate || known.stats)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "certificates and statistics are about levels, not about models");
    ISO_TRY(iso_elle_check(history, &known, task, result, error));
    iso_result_call_levels(*result, known.model_count > 0 ? known.models : initial,
                           known.model_count > 0 ? known.model_count : 1, true);
    return ISOPROOF_OK;
  }
  ISO_TRY(check_names(&known, error));
  iso_task_stage(task, "checking");
  ISO_TRY(check_levels(history, &known, task, result, error));
  iso_result_call_levels(*result, known.levels, known.level_count, false);
  return ISOPROOF_OK;
}
