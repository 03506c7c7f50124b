/* Asking Elle's way about the models among the levels that were asked for. */
#include "check/model_check.h"

#include <string.h>

#include "base/vector.h"
#include "check/judge.h"
#include "elle/elle_result.h"
#include "explain/scenario.h"
#include "history/resolve.h"

static bool is_of_elle(const isoproof_level_info *level) {
  return level != NULL && iso_level_method_of(level)->engine == ISO_ENGINE_ELLE;
}

/* Decides models of Elle's together, and keeps the result. */
static isoproof_status decide(iso_level_check *check, const isoproof_check_options *options, const char *const *models,
                              size_t count, isoproof_task *task, isoproof_error *error) {
  isoproof_check_options how = {.struct_size = sizeof how,
                                .models = models,
                                .model_count = count,
                                .all = options->all,
                                .wfr_keys = options->wfr_keys,
                                .sequential_keys = options->sequential_keys,
                                .linearizable_keys = options->linearizable_keys};
  ISO_TRY(iso_elle_check(check->history, &how, task, &check->models[check->model_count], error));
  check->model_count++;
  return ISOPROOF_OK;
}

/* Once something forbidden is found, Elle's way looks no further: a model that is open after all were judged together
 * may be decided alone. */
static isoproof_status decide_alone(iso_level_check *check, const isoproof_check_options *options,
                                    const char *const *models, size_t count, isoproof_task *task,
                                    isoproof_error *error) {
  for (size_t i = 0; count > 1 && i < count && check->model_count < ISO_LEVEL_COUNT; i++) {
    const isoproof_level_info *model = isoproof_level_find_in(models[i], ISOPROOF_LEVEL_MODEL);
    if (iso_model_verdict(check, model) == ISOPROOF_UNDECIDED)
      ISO_TRY(decide(check, options, &models[i], 1, task, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_check_models(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                 isoproof_error *error) {
  const char *models[ISO_LEVEL_COUNT];
  const isoproof_level_info *level;
  size_t count = 0;
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    if (is_of_elle(level) && iso_is_level_asked(options, level)) models[count++] = level->id;
  }
  if (count == 0) return ISOPROOF_OK;
  ISO_TRY(iso_elle_refuse_rows(check->history, error));
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(check->history, task, &resolution, error));
  if (options->duplicate_values && resolution->counts.duplicate_writes > 0) return ISOPROOF_OK;
  ISO_TRY(decide(check, options, models, count, task, error));
  return decide_alone(check, options, models, count, task, error);
}

isoproof_verdict iso_model_verdict(const iso_level_check *check, const isoproof_level_info *level) {
  for (size_t r = 0; r < check->model_count; r++) {
    const isoproof_result *result = check->models[r];
    for (size_t i = 0; i < result->level_count; i++) {
      bool decided = result->levels[i].verdict != ISOPROOF_UNDECIDED;
      if (result->levels[i].info == level && decided) return result->levels[i].verdict;
    }
  }
  return ISOPROOF_UNDECIDED;
}

/* Whether an anomaly of that code is shown already. */
static bool is_shown(const iso_level_check *check, const char *code) {
  for (size_t i = 0; i < check->shown_count; i++) {
    if (strcmp(iso_tap_code((iso_tap)check->shown[i].tap), code) == 0) return true;
  }
  for (size_t i = 0; i < check->told_count; i++) {
    const isoproof_anomaly_info *info =
        isoproof_anomaly_at(iso_scenario_name(check->history, &check->strong.scenarios[check->told[i]]));
    if (info != NULL && strcmp(info->code, code) == 0) return true;
  }
  return false;
}

/* Whether a result before this one has an anomaly of that code. */
static bool was_found(const iso_level_check *check, size_t before, const char *code) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  for (size_t r = 0; r < before; r++) {
    for (size_t i = 0; isoproof_result_anomaly_at(check->models[r], i, &anomaly); i++) {
      if (strcmp(anomaly.code, code) == 0) return true;
    }
  }
  return false;
}

bool iso_model_choose_shown(iso_level_check *check) {
  size_t most = 0;
  for (size_t r = 0; r < check->model_count; r++) most += isoproof_result_anomaly_count(check->models[r]);
  check->model_shown = iso_alloc(most, sizeof *check->model_shown);
  if (check->model_shown == NULL) return false;
  for (size_t r = 0; r < check->model_count; r++) {
    const isoproof_result *result = check->models[r];
    for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
      isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
      bool told = isoproof_result_anomaly_at(result, i, &anomaly);
      if (told && (is_shown(check, anomaly.code) || was_found(check, r, anomaly.code))) continue;
      check->model_shown[check->model_shown_count++] = (iso_model_anomaly){result, i};
    }
  }
  return true;
}
