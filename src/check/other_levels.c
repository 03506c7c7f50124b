/* The levels that nobody asked for, the cheapest first, for as long as the budget lasts. */
#include "check/other_levels.h"

#include "base/task.h"
#include "check/judge.h"
#include "check/run_engines.h"
#include "check/view/versions.h"

/* ---- the budget ---- */

void iso_budget_begin(iso_budget *b, isoproof_task *task, double seconds) {
  *b = (iso_budget){.own = {.threads = 1}, .task = task};
  if (task == NULL) b->task = &b->own;
  b->deadline = b->task->deadline;
  double ends = iso_now() + seconds;
  if (seconds > 0 && (b->deadline == 0 || ends < b->deadline)) b->task->deadline = ends;
}

void iso_budget_end(iso_budget *b) {
  b->task->deadline = b->deadline;
  iso_task_about(b->task, NULL, 0, 0);
}

const char *iso_budget_reason(const iso_budget *b, isoproof_status status) {
  bool of_caller = b->deadline > 0 && iso_now() > b->deadline;
  switch (status) {
  case ISOPROOF_ERR_TIMEOUT:
    return of_caller ? "the time limit was reached" : "the time budget was used up";
  case ISOPROOF_ERR_MEMORY:
    return "memory ran out";
  case ISOPROOF_ERR_CANCELLED:
    return "interrupted";
  default:
    return NULL;
  }
}

/* ---- levels ---- */

/* How many levels of those that count are decided, and how many there are. */
static void count_levels(const iso_level_check *check, uint32_t *decided, uint32_t *total) {
  const isoproof_level_info *info;
  *decided = *total = 0;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    const iso_strong_level *strong = iso_strong_level_of(info);
    if (info->family == ISOPROOF_LEVEL_MODEL) continue;
    if (strong != NULL && check->has_weak && iso_strong_hindrance(&check->weak.view, strong) != NULL) continue;
    (*total)++;
    *decided += iso_judge(check, info) != ISOPROOF_UNDECIDED;
  }
}

static void tell(const iso_level_check *check, isoproof_task *task, const isoproof_level_info *level) {
  uint32_t decided, total;
  count_levels(check, &decided, &total);
  iso_task_about(task, level->id, decided, total);
}

static isoproof_status decide_axiom(iso_level_check *check, iso_axiom axiom, isoproof_task *task,
                                    isoproof_error *error) {
  iso_axiom_result *causal = &check->weak.axioms[ISO_AXIOM_CAUSAL];
  bool was_decided = causal->decided;
  tell(check, task, iso_axiom_level(axiom));
  ISO_TRY(iso_task_check(task, error));
  isoproof_status status = iso_weak_decide(&check->weak, axiom, task, error);
  if (status == ISOPROOF_OK) return ISOPROOF_OK;
  iso_weak_forget(&check->weak, axiom);
  /* A weaker axiom may have tried causal on the way. */
  if (!was_decided) iso_weak_forget(&check->weak, ISO_AXIOM_CAUSAL);
  return status;
}

/* Causal, which implies the others; then they, where it does not hold. */
static isoproof_status decide_axioms(iso_level_check *check, isoproof_task *task, isoproof_error *error) {
  const isoproof_level_info *causal = iso_axiom_level(ISO_AXIOM_CAUSAL);
  isoproof_status status = ISOPROOF_OK;
  if (iso_judge(check, causal) == ISOPROOF_SATISFIED) return ISOPROOF_OK;
  status = decide_axiom(check, ISO_AXIOM_CAUSAL, task, error);
  bool holds = iso_judge(check, causal) == ISOPROOF_SATISFIED;
  for (int axiom = 0; status == ISOPROOF_OK && !holds && axiom < ISO_AXIOMS; axiom++)
    status = decide_axiom(check, (iso_axiom)axiom, task, error);
  bool sessions = !check->weak.axioms[ISO_AXIOM_CAUSAL].decided;
  iso_weak_report(&check->weak, sessions, &check->findings);
  return status == ISOPROOF_OK && check->findings.failed ? iso_fail_memory(error) : status;
}

/* A violation is one when it can be shown: without its scenario the level counts as not decided. */
static isoproof_status decide_strong(iso_level_check *check, const iso_strong_level *level,
                                     const iso_strong_options *how, isoproof_task *task, isoproof_error *error) {
  iso_strong_set *set = &check->strong;
  tell(check, task, isoproof_level_at(level->level));
  ISO_TRY(iso_task_check(task, error));
  isoproof_status status = iso_strong_run_one(&check->weak.view, &check->weak.versions, level, how, task, set, error);
  if (status == ISOPROOF_ERR_LIMIT) check->too_large[level->level] = true;
  if (status != ISOPROOF_OK) return status == ISOPROOF_ERR_LIMIT ? ISOPROOF_OK : status;
  status = iso_explain_strong(check, set->count - 1, task, error);
  if (status != ISOPROOF_OK) iso_strong_forget(set);
  return status;
}

/* From the weakest up: whatever implies a violated level needs no search. */
static isoproof_status decide_strongs(iso_level_check *check, const iso_strong_options *how, isoproof_task *task,
                                      isoproof_error *error) {
  const iso_strong_level *level;
  for (size_t i = 0; (level = iso_strong_level_at(i)) != NULL; i++) {
    const isoproof_level_info *info = isoproof_level_at(level->level);
    if (info == NULL || info->family == ISOPROOF_LEVEL_MODEL || iso_judge(check, info) != ISOPROOF_UNDECIDED) continue;
    if (iso_strong_hindrance(&check->weak.view, level) != NULL) continue;
    ISO_TRY(decide_strong(check, level, how, task, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status decide_all(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                  isoproof_error *error) {
  iso_strong_options how = {.count_pairs = options->stats};
  if (!check->has_weak) {
    bool suits;
    ISO_TRY(iso_versions_suit(check->history, &suits, error));
    if (!suits) return ISOPROOF_OK;
    ISO_TRY(iso_task_check(task, error));
    ISO_TRY(iso_begin_between(check, task, error));
  }
  ISO_TRY(decide_axioms(check, task, error));
  return decide_strongs(check, &how, task, error);
}

isoproof_status iso_decide_others(iso_level_check *check, const isoproof_check_options *options, isoproof_task *task,
                                  isoproof_error *error) {
  iso_budget b;
  isoproof_error problem = {.offset = -1};
  iso_budget_begin(&b, task, options->budget);
  isoproof_status status = decide_all(check, options, b.task, &problem);
  if (status != ISOPROOF_OK) check->left_reason = iso_budget_reason(&b, status);
  iso_budget_end(&b);
  if (status == ISOPROOF_OK || check->left_reason != NULL) return ISOPROOF_OK;
  if (error != NULL) *error = problem;
  return status;
}
