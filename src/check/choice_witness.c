/* Witnesses under a choice, and of what a refutation rests on. */
#include "check/choice_witness.h"

#include <string.h>

#include "check/check_levels.h"
#include "check/other_levels.h"

/* Chooses what satisfies a weaker level than one that is violated, so that the witness is not one of something that
 * another choice explains.  A better witness is not worth much more time than the verdict took: past that, *late, the
 * choices stay as they are. */
static isoproof_status choose_weaker(isoproof_history *history, const isoproof_level_info *level, double seconds,
                                     isoproof_task *task, bool *late, isoproof_error *error) {
  iso_budget budget;
  *late = false;
  /* What a serial order showed of rows is nearer to what happened than what suffices for a weaker level. */
  if (history->resolution != NULL && history->resolution->replayed) return ISOPROOF_OK;
  iso_budget_begin(&budget, task, seconds);
  isoproof_status status = iso_choose_weaker(history, level, budget.task, error);
  iso_budget_end(&budget);
  *late = status == ISOPROOF_ERR_TIMEOUT;
  return *late || status == ISOPROOF_ERR_LIMIT ? iso_task_check(task, error) : status;
}

/* Tries a few choices for a violation, for no longer than that. */
static isoproof_status try_choices_soon(isoproof_history *history, const isoproof_check_options *options,
                                        const isoproof_level_info *level, double seconds, isoproof_task *task,
                                        iso_outcome *kept, isoproof_error *error) {
  iso_budget budget;
  iso_budget_begin(&budget, task, seconds);
  isoproof_status status = iso_search_choices(history, options, level, seconds, budget.task, kept, error);
  iso_budget_end(&budget);
  if (kept->result != NULL && isoproof_result_verdict(kept->result) == ISOPROOF_UNDECIDED) iso_outcome_free(kept);
  return status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_LIMIT ? iso_task_check(task, error) : status;
}

isoproof_status iso_core_witness(isoproof_history *history, const isoproof_check_options *options,
                                 const iso_refutation *refutation, isoproof_task *task, iso_outcome *kept,
                                 isoproof_error *error) {
  uint32_t *writer = history->resolution->writer, *before;
  isoproof_result *result = NULL;
  ISO_TRY(iso_resolution_copy(history, task, &before, error));
  memcpy(writer, refutation->shown, history->ops * sizeof *writer);
  for (size_t i = 0; i < refutation->left_count; i++) writer[refutation->left[i]] = ISO_NO_OP;
  isoproof_status status = iso_check_levels_violated(history, options, task, &result, error);
  bool found = status == ISOPROOF_OK && isoproof_result_verdict(result) == ISOPROOF_VIOLATED;
  if (found) {
    memcpy(writer, refutation->shown, history->ops * sizeof *writer);
    status = iso_outcome_keep(kept, history, result, error);
  } else if (status == ISOPROOF_OK) {
    isoproof_result_free(result);
  }
  iso_resolution_put_back(history, before);
  return status;
}

/* A better witness than the one that is kept, if any, for about as long as the verdict took each. */
static isoproof_status look_for_better(isoproof_history *history, const isoproof_check_options *options,
                                       const isoproof_level_info *level, bool known, double seconds,
                                       isoproof_task *task, iso_outcome *kept, isoproof_error *error) {
  bool late;
  ISO_TRY(choose_weaker(history, level, seconds, task, &late, error));
  if (!known || late) return ISOPROOF_OK;
  return try_choices_soon(history, options, level, seconds, task, kept, error);
}

/* A verdict that took long is shown by what it rests on before anything better is looked for: so it is not lost when
 * the time is up meanwhile. */
static isoproof_status witness_first(isoproof_history *history, const isoproof_check_options *options,
                                     const isoproof_level_info *level, const iso_refutation *refutation, double seconds,
                                     isoproof_task *task, iso_outcome *kept, isoproof_error *error) {
  iso_outcome better = {.result = NULL};
  ISO_TRY(iso_core_witness(history, options, refutation, task, kept, error));
  isoproof_status status = look_for_better(history, options, level, true, seconds, task, &better, error);
  if (status == ISOPROOF_OK && better.result != NULL) {
    iso_outcome_free(kept);
    *kept = better;
    return ISOPROOF_OK;
  }
  iso_outcome_free(&better);
  bool over = status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_MEMORY || status == ISOPROOF_ERR_LIMIT;
  return over && kept->result != NULL ? ISOPROOF_OK : status;
}

isoproof_status iso_choice_witness(isoproof_history *history, const isoproof_check_options *options,
                                   const isoproof_level_info *level, const iso_refutation *refutation, double seconds,
                                   isoproof_task *task, iso_outcome *kept, isoproof_error *error) {
  const double rather_long = 8;
  bool known = refutation->shown != NULL, first = known && seconds > rather_long;
  uint32_t *before;
  isoproof_status status = ISOPROOF_OK;
  ISO_TRY(iso_resolution_copy(history, task, &before, error));
  if (first) {
    status = witness_first(history, options, level, refutation, seconds, task, kept, error);
  } else {
    status = look_for_better(history, options, level, known, seconds, task, kept, error);
  }
  if (status == ISOPROOF_OK && known && !first && kept->result == NULL) {
    status = iso_core_witness(history, options, refutation, task, kept, error);
  }
  if (status == ISOPROOF_OK && kept->result == NULL) {
    status = iso_search_choices(history, options, level, seconds, task, kept, error);
  }
  iso_resolution_put_back(history, before);
  return status;
}
