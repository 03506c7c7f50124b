/* Histories in which several writes could explain a read: the levels one by one, and one result of all of them. */
#include "check/ambiguous.h"

#include <stdlib.h>
#include <string.h>

#include "check/check_levels.h"
#include "check/choice_witness.h"
#include "check/judge.h"
#include "check/other_levels.h"

/* Keeps the result under what was guessed when reads were resolved, where that satisfies the level. */
static isoproof_status try_guess(isoproof_history *history, const isoproof_check_options *options, isoproof_task *task,
                                 iso_outcome *kept, isoproof_error *error) {
  isoproof_result *result;
  ISO_TRY(iso_check_levels(history, options, task, &result, error));
  if (isoproof_result_verdict(result) == ISOPROOF_SATISFIED) return iso_outcome_keep(kept, history, result, error);
  isoproof_result_free(result);
  return ISOPROOF_OK;
}

static bool is_replayed(const isoproof_history *history) {
  return history->resolution != NULL && history->resolution->replayed;
}

/* What is too large for one way of deciding may not be so for the other. */
static isoproof_status try_choices(isoproof_history *history, const isoproof_check_options *options,
                                   const isoproof_level_info *level, const iso_refutation *refutation, double seconds,
                                   isoproof_task *task, iso_outcome *kept, isoproof_error *error) {
  if (refutation->violated) {
    return iso_choice_witness(history, options, level, refutation, seconds, task, kept, error);
  }
  return iso_search_choices(history, options, level, 0, task, kept, error);
}

/* Whether the level is about levels of transactions, and the history has none. */
static bool is_inapplicable(const isoproof_history *history, const isoproof_level_info *level) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  return strong != NULL && strong->rule == ISO_RULE_MIXED && iso_own_levels_lacking(history) != NULL;
}

/* The verdict on one level, with the result that shows it; a limit leaves it unknown. */
static isoproof_status decide_level(isoproof_history *history, const isoproof_check_options *options,
                                    const isoproof_level_info *level, isoproof_task *task, iso_outcome *kept,
                                    isoproof_error *error) {
  const char *names[] = {level->id};
  isoproof_check_options one = *options;
  one.levels = names;
  one.level_count = 1;
  one.others = false;
  one.anomalies = NULL;
  one.anomaly_count = 0;
  one.duplicate_values = true;
  iso_refutation refutation = {.violated = false};
  isoproof_status status = ISOPROOF_OK;
  if (is_inapplicable(history, level)) {
    isoproof_result *result;
    ISO_TRY(iso_check_levels(history, &one, task, &result, error));
    return iso_outcome_keep(kept, history, result, error);
  }
  /* A guess that comes from a serial order is hardly ever wrong. */
  if (is_replayed(history)) {
    status = try_guess(history, &one, task, kept, error);
    if (status != ISOPROOF_OK || kept->result != NULL) return status;
  }
  double since = iso_now();
  status = iso_decide_open(history, &one, level, task, kept, &refutation, error);
  if (kept->result == NULL && (status == ISOPROOF_OK || status == ISOPROOF_ERR_LIMIT)) {
    const double at_least = 2;
    status = try_choices(history, &one, level, &refutation, at_least + iso_now() - since, task, kept, error);
  }
  bool violated = refutation.violated;
  iso_refutation_free(&refutation);
  if (kept->result == NULL && (status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_MEMORY)) {
    return iso_outcome_give_up(kept, history, &one, status, task, error);
  }
  ISO_TRY(status);
  if (violated && isoproof_result_verdict(kept->result) == ISOPROOF_SATISFIED) {
    return iso_fail(error, ISOPROOF_ERR_INTERNAL, "%s was refuted, and a choice of observed writes satisfies it",
                    level->id);
  }
  return ISOPROOF_OK;
}

/* Whether the level is decided whatever that takes. */
static bool is_wanted(const isoproof_history *history, const isoproof_check_options *options,
                      const isoproof_level_info *level) {
  if (iso_is_level_asked(options, level)) return true;
  if (is_inapplicable(history, level)) return false;
  return options->level_count == 0 && !options->others && level->family != ISOPROOF_LEVEL_MODEL;
}

enum { MOST_LEVELS = 128 };

typedef struct {
  isoproof_verdict verdict[MOST_LEVELS]; /* by number of the level; none: not asked */
  iso_outcome satisfied, violated;       /* of the strongest satisfied level, and of the weakest violated */
  iso_certificates certificates;         /* each under the choice that satisfies its level */
  const char *left_reason;               /* why levels that nobody asked for were left; NULL when none was */
} verdicts;

/* What is known of a level from those decided so far. */
static isoproof_verdict implied(const verdicts *v, const isoproof_level_info *level) {
  for (uint32_t i = 0; i < MOST_LEVELS; i++) {
    const isoproof_level_info *other = isoproof_level_at(i);
    if (other == NULL) break;
    if (v->verdict[i] == ISOPROOF_SATISFIED && isoproof_level_implies(other, level)) return ISOPROOF_SATISFIED;
    if (v->verdict[i] == ISOPROOF_VIOLATED && isoproof_level_implies(level, other)) return ISOPROOF_VIOLATED;
  }
  return ISOPROOF_VERDICT_NONE;
}

/* Decides the level by its number, unless that follows from others. */
static isoproof_status decide_next(isoproof_history *history, const isoproof_check_options *options, uint32_t number,
                                   isoproof_task *task, verdicts *v, isoproof_error *error) {
  const isoproof_level_info *level = isoproof_level_at(number);
  isoproof_verdict known = is_inapplicable(history, level) ? ISOPROOF_VERDICT_NONE : implied(v, level);
  iso_outcome found = {.result = NULL};
  if (known != ISOPROOF_VERDICT_NONE) {
    v->verdict[number] = known;
    return ISOPROOF_OK;
  }
  isoproof_status status = decide_level(history, options, level, task, &found, error);
  if (status != ISOPROOF_OK) {
    iso_outcome_free(&found);
    return status;
  }
  v->verdict[number] = isoproof_result_verdict(found.result);
  iso_certificates_take(&v->certificates, &found.result->certificates);
  bool violated = v->verdict[number] == ISOPROOF_VIOLATED;
  iso_outcome *kept = violated ? &v->violated : &v->satisfied;
  /* Of those violated the weakest, whose witness is the telling one. */
  bool weaker = violated && kept->result != NULL && kept->result->levels[0].info->number < number;
  iso_outcome_free(weaker ? &found : kept);
  if (!weaker) *kept = found;
  return ISOPROOF_OK;
}

static uint32_t level_count(void) {
  uint32_t count = 0;
  while (isoproof_level_at(count) != NULL && count < MOST_LEVELS) count++;
  return count;
}

/* The levels that nobody asked for, the weaker ones first, for as long as the budget lasts. */
static isoproof_status decide_others(isoproof_history *history, const isoproof_check_options *options,
                                     isoproof_task *task, verdicts *v, isoproof_error *error) {
  iso_budget budget;
  isoproof_error problem = {.offset = -1};
  isoproof_status status = ISOPROOF_OK;
  uint32_t count = level_count();
  iso_budget_begin(&budget, task, options->budget);
  for (uint32_t i = 0; status == ISOPROOF_OK && i < count; i++) {
    const isoproof_level_info *level = isoproof_level_at(i);
    if (level->family == ISOPROOF_LEVEL_MODEL || v->verdict[i] != ISOPROOF_VERDICT_NONE) continue;
    if (is_inapplicable(history, level)) continue;
    iso_task_about(budget.task, level->id, i, count);
    status = iso_task_check(budget.task, &problem);
    if (status == ISOPROOF_OK) status = decide_next(history, options, i, budget.task, v, &problem);
    /* A limit within the check of one level makes its verdict unknown. */
    if (v->verdict[i] == ISOPROOF_UNDECIDED) v->verdict[i] = ISOPROOF_VERDICT_NONE;
  }
  if (status != ISOPROOF_OK) v->left_reason = iso_budget_reason(&budget, status);
  iso_budget_end(&budget);
  if (status == ISOPROOF_OK || v->left_reason != NULL) return ISOPROOF_OK;
  if (error != NULL) *error = problem;
  return status;
}

static isoproof_status decide_levels(isoproof_history *history, const isoproof_check_options *options,
                                     isoproof_task *task, verdicts *v, isoproof_error *error) {
  uint32_t count = level_count();
  while (count-- > 0) { /* the table has the weaker ones first */
    if (is_wanted(history, options, isoproof_level_at(count)))
      ISO_TRY(decide_next(history, options, count, task, v, error));
  }
  return options->others ? decide_others(history, options, task, v, error) : ISOPROOF_OK;
}

/* The result of the weakest violated level, whose witness is the telling one, with the verdicts on all levels. */
static isoproof_status assemble(isoproof_history *history, const isoproof_check_options *options, verdicts *v,
                                isoproof_result **result, isoproof_error *error) {
  iso_outcome *shown = v->violated.result != NULL ? &v->violated : &v->satisfied;
  isoproof_result *made = shown->result;
  if (made == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "no level was asked for that can be decided");
  shown->result = NULL;
  const char *broken = made->levels[0].info->id;
  /* Whoever looks at the history with the result sees the choices that the result rests on. */
  iso_resolution_put_back(history, shown->writer);
  shown->writer = NULL;
  iso_certificates_take(&made->certificates, &v->certificates);
  made->level_count = 0;
  bool entered = true;
  for (uint32_t i = 0; i < MOST_LEVELS; i++) {
    const isoproof_level_info *level = isoproof_level_at(i);
    if (level == NULL) break;
    bool asked = iso_is_level_asked(options, level), none = v->verdict[i] == ISOPROOF_VERDICT_NONE;
    if (none && v->left_reason != NULL && level->family != ISOPROOF_LEVEL_MODEL)
      entered = entered && iso_result_leave_level(made, level, v->left_reason);
    if (none || (!asked && v->verdict[i] == ISOPROOF_UNDECIDED)) continue;
    entered = entered && iso_result_add_level(made, level, v->verdict[i], asked);
  }
  if (!entered || !iso_result_find_extremes(made)) {
    isoproof_result_free(made);
    return iso_fail_memory(error);
  }
  iso_result_drop_contradicted(made, broken);
  *result = made;
  return ISOPROOF_OK;
}

isoproof_status iso_check_ambiguous(isoproof_history *history, const isoproof_check_options *options,
                                    isoproof_task *task, isoproof_result **result, isoproof_error *error) {
  if (options->anomaly_count > 0) {
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "single anomalies cannot be asked for where several versions fit a read");
  }
  verdicts v = {.left_reason = NULL};
  isoproof_status status = decide_levels(history, options, task, &v, error);
  if (status == ISOPROOF_OK) status = assemble(history, options, &v, result, error);
  iso_outcome_free(&v.satisfied);
  iso_outcome_free(&v.violated);
  iso_certificates_free(&v.certificates);
  return status;
}
