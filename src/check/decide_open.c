/* From a level to the search that decides it, or one that implies it, and back to a result. */
#include "check/decide_open.h"

#include <stdlib.h>

#include "check/check_levels.h"
#include "check/strong/open/decide.h"
#include "history/resolve.h"

/* The level to search for: itself, where its rule is one of sequences that are carried out; else one that implies it
 * and is. */
static const iso_strong_level *searched_level(const isoproof_level_info *level) {
  const iso_strong_level *own = iso_strong_level_of(level);
  if (own != NULL && own->single) return NULL;
  if (own != NULL && iso_strong_rule_of(own->rule)->is_executed) return own;
  if (iso_level_method_of(level)->engine != ISO_ENGINE_AXIOM && own == NULL) return NULL;
  const iso_strong_level *snapshot = iso_strong_level_of(isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION));
  return isoproof_level_implies(isoproof_level_at(snapshot->level), level) ? snapshot : NULL;
}

/* Has the level checked under the choices that the search left in the resolution. */
static isoproof_status confirm(isoproof_history *history, const isoproof_check_options *options,
                               const iso_open_decision *decision, isoproof_task *task, iso_outcome *outcome,
                               isoproof_error *error) {
  isoproof_result *result;
  ISO_TRY(iso_check_levels_from(history, options, &decision->sequence, task, &result, error));
  if (isoproof_result_verdict(result) != ISOPROOF_SATISFIED) {
    isoproof_result_free(result);
    return ISOPROOF_OK;
  }
  return iso_outcome_keep(outcome, history, result, error);
}

isoproof_status iso_decide_open(isoproof_history *history, const isoproof_check_options *options,
                                const isoproof_level_info *level, isoproof_task *task, iso_outcome *outcome,
                                bool *violated, isoproof_error *error) {
  enum { PATIENCE = 2000 };
  const iso_strong_level *searched = searched_level(level);
  *violated = false;
  if (searched == NULL) return ISOPROOF_OK;
  bool own = searched == iso_strong_level_of(level);
  iso_open_decision decision;
  uint32_t *before;
  iso_task_about(task, level->id, 0, 0);
  ISO_TRY(iso_resolution_copy(history, task, &before, error));
  isoproof_status status = iso_open_decide(history, searched, own ? 0 : PATIENCE, task, &decision, error);
  *violated = own && decision.decided && decision.violated;
  if (status == ISOPROOF_OK && decision.decided && !decision.violated) {
    status = confirm(history, options, &decision, task, outcome, error);
  }
  iso_resolution_put_back(history, before);
  iso_open_decision_free(&decision);
  return status;
}
