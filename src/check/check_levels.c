/* From what the engines found to a result: levels, the anomalies that are shown, certificates and figures. */
#include "check/check_levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "check/judge.h"
#include "check/model_check.h"
#include "check/prove_quickly.h"
#include "check/run_engines.h"
#include "check/strong/search_stats.h"

/* Whether a level belongs into the result: those asked for, else all that are decided. */
static bool is_entered(const isoproof_check_options *options, const isoproof_level_info *info, bool asked,
                       isoproof_verdict verdict) {
  if (asked) return true;
  if (options->level_count > 0 && !options->others) return false;
  return verdict != ISOPROOF_UNDECIDED && info->family != ISOPROOF_LEVEL_MODEL;
}

/* Why a level that nobody asked for is not decided; NULL where the history cannot decide it. */
static const char *why_left(const iso_level_check *check, const isoproof_level_info *info) {
  if (info->family == ISOPROOF_LEVEL_MODEL) return NULL;
  if (check->too_large[info->number]) return iso_strong_too_large;
  const iso_strong_level *strong = iso_strong_level_of(info);
  bool hindered = iso_is_beside_the_point(check, info) ||
                  (strong != NULL && check->has_weak && iso_strong_hindrance(&check->weak.view, strong) != NULL);
  return hindered ? NULL : check->left_reason;
}

/* Why a level is not decided. */
static const char *reason_of(const iso_level_check *check, const isoproof_level_info *info, bool model) {
  const char *reason = model ? NULL : check->strong.reason;
  const iso_strong_level *strong = iso_strong_level_of(info);
  if (strong != NULL && strong->rule == ISO_RULE_MIXED) reason = iso_own_levels_lacking(check->history);
  for (size_t i = 0; model && reason == NULL && i < check->model_count; i++) reason = check->models[i]->unknown_reason;
  return reason != NULL ? reason : "no method decides this level on this kind of history";
}

/* Enters every level that was asked for, and every level that is decided. */
static bool enter_levels(isoproof_result *result, const iso_level_check *check, const isoproof_check_options *options) {
  if (options->anomaly_count > 0) return true;
  const isoproof_level_info *info;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    bool asked = iso_is_level_asked(options, info);
    bool model = iso_level_method_of(info)->engine == ISO_ENGINE_ELLE;
    isoproof_verdict verdict = model ? iso_model_verdict(check, info) : iso_judge(check, info);
    const char *left = !asked && verdict == ISOPROOF_UNDECIDED ? why_left(check, info) : NULL;
    if (left != NULL && !iso_result_leave_level(result, info, left)) return false;
    if (!is_entered(options, info, asked, verdict)) continue;
    if (asked && verdict == ISOPROOF_UNDECIDED) result->unknown_reason = reason_of(check, info, model);
    if (!iso_result_add_level(result, info, verdict, asked)) return false;
  }
  return true;
}

/* What another level that was asked for says about a model that nothing else decides. */
static isoproof_verdict implied(const isoproof_result *result, const isoproof_level_info *model) {
  for (size_t i = 0; i < result->level_count; i++) {
    const struct iso_level_entry *other = &result->levels[i];
    if (other->verdict == ISOPROOF_SATISFIED && isoproof_level_implies(other->info, model)) return ISOPROOF_SATISFIED;
    if (other->verdict == ISOPROOF_VIOLATED && isoproof_level_implies(model, other->info)) return ISOPROOF_VIOLATED;
  }
  return ISOPROOF_UNDECIDED;
}

/* Settles the models that follow from others; what stays open is no longer for the reason of those. */
static void settle_models(isoproof_result *result, const iso_level_check *check) {
  if (check->model_count == 0) return;
  const char *reason = NULL;
  for (size_t i = 0; i < result->level_count; i++) {
    struct iso_level_entry *entry = &result->levels[i];
    bool model = iso_level_method_of(entry->info)->engine == ISO_ENGINE_ELLE;
    if (entry->verdict != ISOPROOF_UNDECIDED) continue;
    if (model) entry->verdict = implied(result, entry->info);
    if (entry->verdict == ISOPROOF_UNDECIDED) reason = reason_of(check, entry->info, model);
  }
  result->unknown_reason = reason;
}

/* The weakest level that a finding breaks: a commit order is that of the level it was forced by. */
static const isoproof_level_info *level_of(const iso_finding *finding) {
  const iso_tap_info *tap = iso_tap_of((iso_tap)finding->tap);
  if (tap->form == ISO_FORM_CM) return iso_axiom_level((iso_axiom)finding->seen);
  const isoproof_anomaly_info *info = isoproof_anomaly_find(tap->code);
  return info != NULL && info->level != NULL ? isoproof_level_find(info->level) : NULL;
}

/* Instances of one pattern together, those of weaker levels first. */
static int by_pattern(const void *a, const void *b) {
  const iso_finding *x = a, *y = b;
  if (x->tap == y->tap) return (x->op > y->op) - (x->op < y->op);
  const isoproof_level_info *of_x = level_of(x), *of_y = level_of(y);
  if (of_x != NULL && of_y != NULL && of_x != of_y) return of_x->number < of_y->number ? -1 : 1;
  return x->tap < y->tap ? -1 : 1;
}

/* Whether a finding matters to a level that was asked for. */
static bool is_relevant(const isoproof_result *result, const isoproof_check_options *options,
                        const iso_finding *finding) {
  iso_tap tap = (iso_tap)finding->tap;
  if (options->anomaly_count > 0) return iso_is_tap_asked(options, tap);
  if (options->level_count == 0 || options->others) return true;
  for (size_t i = 0; i < result->level_count; i++) {
    const isoproof_level_info *level = result->levels[i].info;
    if (!result->levels[i].asked) continue;
    bool hits = iso_tap_of(tap)->class == ISO_CLASS_AXIOM ? iso_axiom_breaks((iso_axiom)finding->seen, level)
                                                          : iso_tap_breaks(tap, level);
    if (hits) return true;
  }
  return false;
}

/* Says how many anomalies are shown, and how many were found. */
static bool enter_anomalies(isoproof_result *result, const iso_level_check *check) {
  size_t listed = check->shown_count + check->model_shown_count;
  for (size_t i = 0; i < check->told_count; i++) listed += iso_level_check_told(check, i);
  if (!iso_result_set_anomalies(result, listed)) return false;
  for (size_t i = 0; i < check->told_count; i++) {
    const iso_occurrences *o = &check->occurrences[i];
    if (o->list.count > 0) result->anomalies_found += o->count - o->list.count;
    if (o->kind != ISOPROOF_COUNT_EXACT) result->found_is = ISOPROOF_COUNT_AT_LEAST;
  }
  for (size_t i = 0; i < check->shown_count; i++) {
    bool cycle = iso_tap_of((iso_tap)check->shown[i].tap)->class == ISO_CLASS_CYCLE;
    if (cycle || check->uncounted) result->found_is = ISOPROOF_COUNT_AT_LEAST;
  }
  return true;
}

/* Chooses the findings to show: those that break an asked level, or all. */
static bool choose_shown(isoproof_result *result, iso_level_check *check, const isoproof_check_options *options) {
  const iso_findings *all = &check->findings;
  size_t most = all->keep_all ? all->all.count : ISO_TAPS;
  check->shown = iso_alloc(most, sizeof *check->shown);
  if (check->shown == NULL) return false;
  for (size_t i = 0; i < most; i++) {
    const iso_finding *finding = all->keep_all ? &all->all.items[i] : &all->first[i];
    if (!all->keep_all && all->count[i] == 0) continue;
    if (is_relevant(result, options, finding)) check->shown[check->shown_count++] = *finding;
  }
  if (all->keep_all) qsort(check->shown, check->shown_count, sizeof *check->shown, by_pattern);
  return iso_model_choose_shown(check) && enter_anomalies(result, check);
}

/* A limit reached on the way leaves every asked level unknown. */
static bool give_up(isoproof_result *result, iso_level_check *check, const isoproof_check_options *options,
                    isoproof_status status) {
  result->unknown_reason = status == ISOPROOF_ERR_TIMEOUT ? "the time limit was reached" : "memory ran out";
  iso_findings_free(&check->findings);
  const isoproof_level_info *info;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    bool weakest = iso_level_method_of(info)->engine == ISO_ENGINE_WITHIN;
    bool wanted = options->level_count == 0 ? weakest : iso_is_level_asked(options, info);
    if (wanted && !iso_result_add_level(result, info, ISOPROOF_UNDECIDED, options->level_count > 0)) return false;
  }
  return true;
}

/* Has every witness that will be shown made and verified now, so that showing cannot fail. */
static isoproof_status verify_shown(const isoproof_result *result, const iso_level_check *check,
                                    isoproof_error *error) {
  enum { FIRST = 1000 }; /* the rest of a long list is verified as it is asked for */
  for (size_t i = 0; i < isoproof_result_anomaly_count(result) && i < FIRST; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (isoproof_result_anomaly_at(result, i, &anomaly)) continue;
    const char *what = "of a level that was searched for";
    if (i < check->shown_count) what = iso_tap_code((iso_tap)check->shown[i].tap);
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "the witness %s did not stand up to verification", what);
  }
  return ISOPROOF_OK;
}

/* Verdicts that contradict an implication of the lattice would show an error in here: better none than those. */
static isoproof_status agree(const isoproof_result *result, isoproof_error *error) {
  for (size_t i = 0; i < result->level_count; i++) {
    if (result->levels[i].verdict != ISOPROOF_SATISFIED) continue;
    for (size_t k = 0; k < result->level_count; k++) {
      const isoproof_level_info *a = result->levels[i].info, *b = result->levels[k].info;
      if (result->levels[k].verdict != ISOPROOF_VIOLATED || !isoproof_level_implies(a, b)) continue;
      return iso_fail(error, ISOPROOF_ERR_INTERNAL, "%s is satisfied but %s, which it implies, is violated", a->id,
                      b->id);
    }
  }
  return ISOPROOF_OK;
}

/* What the searches for strong levels took. */
static bool enter_figures(isoproof_result *result, const iso_strong_set *set) {
  result->searches = iso_alloc_zero(set->count, sizeof *result->searches);
  for (size_t i = 0; result->searches != NULL && i < set->count; i++) {
    if (set->items[i].unsearched) continue;
    struct iso_search_figures *search = &result->searches[result->search_count++];
    search->level = set->items[i].level->id;
    search->figures = iso_strong_figures(&set->items[i], &search->count);
    if (search->figures == NULL) return false;
  }
  return result->searches != NULL;
}

/* Fills the result in; what is shown is verified here. */
static isoproof_status fill(isoproof_result *result, iso_level_check *check, const isoproof_check_options *options,
                            isoproof_task *task, isoproof_error *error) {
  bool settled = iso_proof_settles(check->history, options, &check->proof);
  isoproof_status status = settled ? ISOPROOF_OK : iso_run_engines(check, options, task, error);
  if (status == ISOPROOF_OK) status = iso_check_models(check, options, task, error);
  result->unknown_reason = check->unknown_reason;
  result->unexplained = check->unexplained;
  bool entered = false;
  if (status == ISOPROOF_OK) {
    entered = enter_levels(result, check, options);
    settle_models(result, check);
  } else if (status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_MEMORY) {
    entered = give_up(result, check, options, status);
  } else {
    return status;
  }
  entered = entered && iso_result_find_extremes(result) && choose_shown(result, check, options) &&
            enter_figures(result, &check->strong);
  if (!entered) return iso_fail_memory(error);
  ISO_TRY(agree(result, error));
  ISO_TRY(verify_shown(result, check, error));
  if (!iso_result_rank(result)) return iso_fail_memory(error);
  return options->certificate ? iso_certify(result, check, task, error) : ISOPROOF_OK;
}

/* Makes the result of a check that was prepared, and takes it over. */
static isoproof_status make_result(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                   isoproof_result **result, isoproof_error *error) {
  isoproof_result *made;
  ISO_TRY(iso_result_new(check->history, &iso_level_engine, check, &made, error));
  made->all = check->findings.keep_all = options->all;
  made->only_patterns = options->anomaly_count > 0;
  made->has_stats = options->stats;
  isoproof_status status = fill(made, check, options, task, error);
  check->first = NULL; /* it belongs to the caller */
  if (status != ISOPROOF_OK) {
    isoproof_result_free(made);
    return status;
  }
  *result = made;
  return ISOPROOF_OK;
}

isoproof_status iso_check_levels_from(isoproof_history *history, const isoproof_check_options *options,
                                      const iso_first_sequence *first, isoproof_task *task, isoproof_result **result,
                                      isoproof_error *error) {
  iso_level_check *check;
  ISO_TRY(iso_level_check_new(history, &check, error));
  check->first = first;
  return make_result(check, options, task, result, error);
}

isoproof_status iso_check_levels(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                                 isoproof_result **result, isoproof_error *error) {
  return iso_check_levels_from(history, options, NULL, task, result, error);
}

isoproof_status iso_check_levels_violated(isoproof_history *history, const isoproof_check_options *options,
                                          isoproof_task *task, isoproof_result **result, isoproof_error *error) {
  iso_level_check *check;
  ISO_TRY(iso_level_check_new(history, &check, error));
  check->violated = true;
  return make_result(check, options, task, result, error);
}

isoproof_status iso_check_levels_knowing(isoproof_history *history, const isoproof_check_options *options,
                                         const iso_quick_proof *proof, isoproof_task *task, isoproof_result **result,
                                         isoproof_error *error) {
  iso_level_check *check;
  ISO_TRY(iso_level_check_new(history, &check, error));
  check->proof = *proof;
  return make_result(check, options, task, result, error);
}
