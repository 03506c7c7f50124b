/* From a level to the search that decides it, or one that implies it, and back to a result. */
#include "check/decide_open.h"

#include <stdlib.h>
#include <string.h>

#include "check/check_levels.h"
#include "check/duplicates/cut.h"
#include "check/strong/open/choose_causal.h"
#include "check/strong/open/decide.h"
#include "history/real_time.h"
#include "history/resolve.h"

/* What is visible at the levels that are about that; false for all others. */
static bool find_visibility(const isoproof_level_info *level, iso_visibility *visibility) {
  static const unsigned by_axiom[ISO_AXIOMS] = {[ISO_AXIOM_READ_COMMITTED] = ISO_BY_EARLIER_READ,
                                                [ISO_AXIOM_READ_ATOMIC] = ISO_BY_READ | ISO_BY_SESSION,
                                                [ISO_AXIOM_CAUSAL] = ISO_BY_STEPS,
                                                [ISO_AXIOM_READ_YOUR_WRITES] = ISO_BY_SESSION,
                                                [ISO_AXIOM_MONOTONIC_READS] = ISO_BY_SESSION_READ,
                                                [ISO_AXIOM_MONOTONIC_WRITES] = ISO_BY_READ_SESSION,
                                                [ISO_AXIOM_WRITES_FOLLOW_READS] = ISO_BY_READ_SESSION_READ};
  const iso_level_method *method = iso_level_method_of(level);
  const iso_strong_level *strong = iso_strong_level_of(level);
  *visibility = (iso_visibility){.by = 0};
  if (method->engine == ISO_ENGINE_AXIOM) visibility->by = by_axiom[method->axiom];
  if (strong == NULL) return visibility->by != 0;
  if (strong->real_time || strong->single || !strong->session_order) return false;
  visibility->orders = true;
  visibility->by = strong->rule == ISO_RULE_PARALLEL ? ISO_BY_STEPS : ISO_BY_READ | ISO_BY_SESSION | ISO_BY_WRITE;
  return strong->rule == ISO_RULE_UPDATE_ATOMIC || strong->rule == ISO_RULE_PARALLEL;
}

/* Whether the level, or one that implies it, is decided by sequences that are carried out. */
static bool is_executed(const iso_strong_level *level) {
  /* Where transactions have levels of their own, choices are tried instead. */
  if (level == NULL || level->single || level->rule == ISO_RULE_MIXED) return false;
  return iso_strong_rule_of(level->rule)->is_executed;
}

/* How many conflicts are worth the hope that a level is satisfied together with a stronger one; and where that is a
 * matter of luck. */
enum { PATIENCE = 20000, SOON = 1000 };

/* Takes a decision on another level for one on the level asked for, which that one implies. */
static void infer(iso_open_decision *decision) {
  if (decision->violated) iso_open_decision_free(decision);
}

/* Whether a serial order is worth a guess for a level that it satisfies, too. */
static bool may_be_serial(const isoproof_history *history) {
  enum { FEW_SESSIONS = 64, PART = 8 };
  /* Where keys are few, guesses at snapshot isolation are of whole transactions, too (check/order/placement.h). */
  bool crowded = (uint64_t)history->ops * PART > (uint64_t)history->txns * history->keys;
  return history->sessions > FEW_SESSIONS && !crowded;
}

/* Snapshot isolation has twice as many events to place as serializability, and writers of a key that must not overlap:
 * where many sessions tell little and the search for it does not end soon, a serial order is looked for, which is an
 * order of begins and commits as well. */
static isoproof_status try_serial(isoproof_history *history, isoproof_task *task, iso_open_decision *decision,
                                  isoproof_error *error) {
  const isoproof_level_info *serial = isoproof_level_at(ISO_LEVEL_SERIALIZABLE);
  iso_open_decision_free(decision);
  ISO_TRY(iso_open_decide(history, iso_strong_level_of(serial), SOON, task, decision, error));
  infer(decision);
  return ISOPROOF_OK;
}

/* Where a history has times, their order leaves little to search for, and a level that asks for it implies the one
 * without. */
static isoproof_status try_timed(isoproof_history *history, const isoproof_level_info *level, isoproof_task *task,
                                 iso_open_decision *decision, isoproof_error *error) {
  static const iso_level timed[] = {ISO_LEVEL_STRONG_SI, ISO_LEVEL_STRICT_SERIALIZABLE};
  for (size_t i = 0; i < sizeof timed / sizeof *timed && !decision->decided && iso_has_real_time(history); i++) {
    const isoproof_level_info *other = isoproof_level_at(timed[i]);
    if (other == level || !isoproof_level_implies(other, level)) continue;
    iso_open_decision_free(decision);
    ISO_TRY(iso_open_decide(history, iso_strong_level_of(other), SOON, task, decision, error));
    infer(decision);
    break;
  }
  return ISOPROOF_OK;
}

/* Tries levels that imply the one that is asked for, as far as that is easy: snapshot isolation, where orders help to
 * choose; and axioms.  Where there is a search for the level itself, only the causal one, which leaves the fewest
 * versions to choose from. */
static isoproof_status try_stronger(isoproof_history *history, const isoproof_level_info *level, bool searched,
                                    isoproof_task *task, iso_open_decision *decision, isoproof_error *error) {
  const isoproof_level_info *snapshot = isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION);
  iso_visibility visibility;
  if (isoproof_level_implies(snapshot, level)) {
    ISO_TRY(iso_open_decide(history, iso_strong_level_of(snapshot), PATIENCE, task, decision, error));
    infer(decision);
    if (!decision->decided && may_be_serial(history)) ISO_TRY(try_serial(history, task, decision, error));
  }
  for (int i = searched ? ISO_AXIOM_CAUSAL : 0; i <= ISO_AXIOM_CAUSAL && !decision->decided; i++) {
    const isoproof_level_info *other = iso_axiom_level((iso_axiom)i);
    if (other == level || !isoproof_level_implies(other, level) || !find_visibility(other, &visibility)) continue;
    ISO_TRY(iso_open_decide_visible(history, &visibility, NULL, PATIENCE, task, decision, error));
    infer(decision);
  }
  return ISOPROOF_OK;
}

/* Searches for a level that is decided by sequences. */
static isoproof_status search_executed(isoproof_history *history, const isoproof_level_info *level, isoproof_task *task,
                                       iso_open_decision *decision, isoproof_error *error) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  bool serves = iso_strong_rule_of(strong->rule)->split &&
                isoproof_level_implies(isoproof_level_at(ISO_LEVEL_SERIALIZABLE), level);
  if (serves && may_be_serial(history)) {
    ISO_TRY(iso_open_decide(history, strong, SOON, task, decision, error));
    if (!decision->decided) ISO_TRY(try_serial(history, task, decision, error));
    if (decision->decided) return ISOPROOF_OK;
    iso_open_decision_free(decision);
  }
  return iso_open_decide(history, strong, 0, task, decision, error);
}

/* The causal axiom by guesses along commit orders, and by a search that begins where they end. */
static isoproof_status search_causal(isoproof_history *history, const iso_visibility *visibility, isoproof_task *task,
                                     iso_open_decision *decision, isoproof_error *error) {
  iso_open_start start;
  ISO_TRY(iso_choose_causal(history, task, decision, &start, error));
  isoproof_status status = ISOPROOF_OK;
  if (!decision->decided && start.when != NULL)
    status = iso_open_decide_visible(history, visibility, &start, PATIENCE, task, decision, error);
  iso_open_start_free(&start);
  return status;
}

/* Searches for the level itself, where there is a search for it, after stronger ones where that may be easier. */
static isoproof_status search(isoproof_history *history, const isoproof_level_info *level, isoproof_task *task,
                              iso_open_decision *decision, isoproof_error *error) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  iso_visibility visibility;
  if (iso_level_method_of(level)->engine == ISO_ENGINE_WITHIN) {
    iso_cut cut;
    ISO_TRY(iso_cut_choose(history, task, &cut, error));
    decision->decided = cut != ISO_CUT_UNKNOWN;
    decision->violated = cut == ISO_CUT_IMPOSSIBLE;
    if (decision->decided) return ISOPROOF_OK;
  }
  ISO_TRY(try_timed(history, level, task, decision, error));
  if (decision->decided) return ISOPROOF_OK;
  if (is_executed(strong)) return search_executed(history, level, task, decision, error);
  bool searched = find_visibility(level, &visibility);
  if (level == iso_axiom_level(ISO_AXIOM_CAUSAL)) {
    ISO_TRY(search_causal(history, &visibility, task, decision, error));
    if (decision->decided) return ISOPROOF_OK;
    iso_open_decision_free(decision);
  }
  if (strong == NULL || searched) ISO_TRY(try_stronger(history, level, searched, task, decision, error));
  if (decision->decided || !searched) return ISOPROOF_OK;
  iso_open_decision_free(decision);
  return iso_open_decide_visible(history, &visibility, NULL, 0, task, decision, error);
}

/* Leaves the choices in the resolution that satisfy the level, where some are found soon. */
static isoproof_status choose_at(isoproof_history *history, const isoproof_level_info *level, isoproof_task *task,
                                 bool *found, isoproof_error *error) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  iso_open_decision decision = {.decided = false};
  isoproof_status status = ISOPROOF_OK;
  iso_visibility visibility;
  uint32_t *before;
  ISO_TRY(iso_resolution_copy(history, task, &before, error));
  if (is_executed(strong)) {
    status = iso_open_decide(history, strong, SOON, task, &decision, error);
  } else if (find_visibility(level, &visibility)) {
    status = iso_open_decide_visible(history, &visibility, NULL, SOON, task, &decision, error);
  }
  *found = decision.decided && !decision.violated;
  iso_open_decision_free(&decision);
  if (*found) {
    free(before);
  } else {
    iso_resolution_put_back(history, before);
  }
  return status;
}

isoproof_status iso_choose_weaker(isoproof_history *history, const isoproof_level_info *level, isoproof_task *task,
                                  isoproof_error *error) {
  static const iso_level weaker[] = {ISO_LEVEL_SNAPSHOT_ISOLATION, ISO_LEVEL_PREFIX, ISO_LEVEL_CAUSAL,
                                     ISO_LEVEL_READ_ATOMIC, ISO_LEVEL_READ_COMMITTED};
  bool found = false;
  for (size_t i = 0; i < sizeof weaker / sizeof *weaker && !found; i++) {
    const isoproof_level_info *other = isoproof_level_at(weaker[i]);
    if (other != level && isoproof_level_implies(level, other)) ISO_TRY(choose_at(history, other, task, &found, error));
  }
  return ISOPROOF_OK;
}

/* Has the level checked under the choices that the search left in the resolution. */
static isoproof_status confirm(isoproof_history *history, const isoproof_check_options *options,
                               const iso_open_decision *decision, isoproof_task *task, iso_outcome *outcome,
                               isoproof_error *error) {
  isoproof_result *result;
  const iso_first_sequence *first = decision->sequence.event != NULL ? &decision->sequence : NULL;
  ISO_TRY(iso_check_levels_from(history, options, first, task, &result, error));
  if (isoproof_result_verdict(result) != ISOPROOF_SATISFIED) {
    isoproof_result_free(result);
    return ISOPROOF_OK;
  }
  return iso_outcome_keep(outcome, history, result, error);
}

void iso_refutation_free(iso_refutation *r) {
  free(r->shown);
  free(r->left);
  *r = (iso_refutation){.violated = false};
}

isoproof_status iso_decide_open(isoproof_history *history, const isoproof_check_options *options,
                                const isoproof_level_info *level, isoproof_task *task, iso_outcome *outcome,
                                iso_refutation *refutation, isoproof_error *error) {
  iso_open_decision decision = {.decided = false};
  uint32_t *before;
  *refutation = (iso_refutation){.violated = false};
  iso_task_about(task, level->id, 0, 0);
  ISO_TRY(iso_resolution_copy(history, task, &before, error));
  isoproof_status status = search(history, level, task, &decision, error);
  refutation->violated = status == ISOPROOF_OK && decision.decided && decision.violated;
  if (status == ISOPROOF_OK && decision.decided && !decision.violated) {
    status = confirm(history, options, &decision, task, outcome, error);
  }
  if (refutation->violated && decision.has_core) {
    status = iso_resolution_copy(history, task, &refutation->shown, error);
    refutation->left = decision.left.items;
    refutation->left_count = decision.left.count;
    memset(&decision.left, 0, sizeof decision.left);
  }
  iso_resolution_put_back(history, before);
  iso_open_decision_free(&decision);
  return status;
}
