/* A solver proposes which write each read observed; a violation says which choices to avoid. */
#include "check/ambiguous.h"

#include <stdlib.h>
#include <string.h>

#include "check/check_levels.h"
#include "check/duplicates/choices.h"
#include "check/judge.h"
#include "check/other_levels.h"
#include "level/method.h"
#include "solver/solver.h"

/* The search for the choices under which one level is satisfied. */
typedef struct {
  iso_choices choices;
  iso_solver *solver;
  iso_lit *literal;  /* beside choices.candidates */
  uint8_t *relevant; /* by transaction: its reads are behind the violation */
  bool grew;         /* by a transaction of unknown outcome: somebody observed it */
  ISO_VEC(iso_lit) clause;
} search;

static void search_free(search *s) {
  iso_choices_free(&s->choices);
  iso_solver_free(s->solver);
  free(s->literal);
  free(s->relevant);
  iso_vec_free(&s->clause);
}

/* Every read observes exactly one of its candidates. */
static isoproof_status state_choices(search *s, isoproof_error *error) {
  const iso_choices *c = &s->choices;
  s->literal = iso_alloc(c->candidates.count, sizeof *s->literal);
  s->relevant = iso_alloc(c->history->txns, 1);
  if (s->literal == NULL || s->relevant == NULL) return iso_fail_memory(error);
  ISO_TRY(iso_solver_new(0, &s->solver, error));
  for (size_t i = 0; i < c->candidates.count; i++) ISO_TRY(iso_solver_var(s->solver, &s->literal[i], error));
  for (size_t i = 0; i < c->reads.count; i++) {
    const iso_choice *read = &c->reads.items[i];
    const iso_lit *of = s->literal + read->first;
    ISO_TRY(iso_solver_clause(s->solver, of, read->count, error));
    iso_solver_phase(s->solver, of[read->chosen]);
    for (uint32_t a = 0; a < read->count; a++) {
      for (uint32_t b = a + 1; b < read->count; b++) {
        iso_lit both[2] = {iso_lit_not(of[a]), iso_lit_not(of[b])};
        ISO_TRY(iso_solver_clause(s->solver, both, 2, error));
      }
    }
  }
  return ISOPROOF_OK;
}

static void make_relevant(search *s, uint64_t txn) {
  if (txn >= s->choices.history->txns || s->relevant[txn]) return;
  s->relevant[txn] = 1;
  s->grew = s->grew || s->choices.history->txn_status[txn] == ISOPROOF_TXN_UNKNOWN;
}

/* A transaction of unknown outcome takes part because somebody who takes part observed it: then so does that one, whose
 * outcome may be unknown as well. */
static void find_supporters(search *s) {
  const iso_choices *c = &s->choices;
  const isoproof_history *h = c->history;
  while (s->grew) {
    s->grew = false;
    for (uint32_t op = 0; op < h->ops; op++) {
      uint32_t write = h->op_kind[op] == ISOPROOF_OP_READ ? c->resolution->writer[op] : ISO_NO_OP;
      if (write >= h->ops || !s->relevant[c->op_txn[write]]) continue;
      if (h->txn_status[c->op_txn[write]] != ISOPROOF_TXN_UNKNOWN || c->op_txn[op] == c->op_txn[write]) continue;
      if (h->txn_status[c->op_txn[op]] != ISOPROOF_TXN_ABORTED) make_relevant(s, c->op_txn[op]);
    }
  }
}

/* One of the reads behind the violation must have observed another write. */
static isoproof_status learn(search *s, const isoproof_result *result, isoproof_error *error) {
  const iso_choices *c = &s->choices;
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  memset(s->relevant, 0, c->history->txns);
  if (!isoproof_result_anomaly_at(result, 0, &anomaly)) return iso_fail(error, ISOPROOF_ERR_INTERNAL, "no witness");
  for (size_t i = 0; i < anomaly.txn_count; i++) make_relevant(s, anomaly.txns[i]);
  for (size_t i = 0; i < anomaly.op_count; i++) {
    make_relevant(s, iso_history_txn_of(c->history, (uint32_t)anomaly.ops[i]));
  }
  find_supporters(s);
  s->clause.count = 0;
  for (size_t i = 0; i < c->reads.count; i++) {
    const iso_choice *read = &c->reads.items[i];
    if (!s->relevant[c->op_txn[read->op]]) continue;
    if (!iso_vec_push(&s->clause, iso_lit_not(s->literal[read->first + read->chosen]))) return iso_fail_memory(error);
  }
  return iso_solver_clause(s->solver, s->clause.items, s->clause.count, error);
}

static isoproof_status next_choice(search *s, isoproof_task *task, bool *found, isoproof_error *error) {
  iso_solver_answer answer;
  iso_solver_limits limits = {.task = task};
  ISO_TRY(iso_solver_solve(s->solver, NULL, 0, &limits, &answer, error));
  *found = answer == ISO_SOLVER_SAT;
  for (size_t i = 0; *found && i < s->choices.reads.count; i++) {
    const iso_choice *read = &s->choices.reads.items[i];
    for (uint32_t k = 0; k < read->count; k++) {
      if (iso_solver_value(s->solver, s->literal[read->first + k])) iso_choose(&s->choices, i, k);
    }
  }
  return ISOPROOF_OK;
}

/* Tries choices until one satisfies the level, or none is left. */
static isoproof_status try_choices(search *s, const isoproof_check_options *options, isoproof_task *task,
                                   isoproof_result **result, isoproof_error *error) {
  ISO_TRY(state_choices(s, error));
  for (;;) {
    bool found = false;
    ISO_TRY(iso_check_levels(s->choices.history, options, task, result, error));
    if (isoproof_result_verdict(*result) != ISOPROOF_VIOLATED) return ISOPROOF_OK;
    isoproof_status status = learn(s, *result, error);
    if (status == ISOPROOF_OK) status = next_choice(s, task, &found, error);
    if (status == ISOPROOF_OK && !found) return ISOPROOF_OK;
    isoproof_result_free(*result);
    *result = NULL;
    if (status != ISOPROOF_OK) return status;
  }
}

/* The verdict on one level, with the result that shows it; a limit leaves it unknown. */
static isoproof_status decide_level(isoproof_history *history, const isoproof_check_options *options,
                                    const isoproof_level_info *level, isoproof_task *task, isoproof_result **result,
                                    isoproof_error *error) {
  const char *names[] = {level->id};
  isoproof_check_options one = *options;
  one.levels = names;
  one.level_count = 1;
  one.others = false;
  one.anomalies = NULL;
  one.anomaly_count = 0;
  search s = {.solver = NULL};
  /* The one level that candidates of the wrong kind can satisfy. */
  bool is_cut = iso_level_method_of(level)->engine == ISO_ENGINE_WITHIN;
  ISO_TRY(iso_choices_make(history, !is_cut, task, &s.choices, error));
  isoproof_status status = try_choices(&s, &one, task, result, error);
  search_free(&s);
  return status;
}

/* Whether the level is decided whatever that takes. */
static bool is_wanted(const isoproof_check_options *options, const isoproof_level_info *level) {
  if (iso_is_level_asked(options, level)) return true;
  return options->level_count == 0 && !options->others && level->family != ISOPROOF_LEVEL_MODEL;
}

enum { MOST_LEVELS = 128 };

typedef struct {
  isoproof_verdict verdict[MOST_LEVELS]; /* by number of the level; none: not asked */
  isoproof_result *satisfied, *violated; /* the result of the strongest satisfied level, and of the weakest violated */
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
  isoproof_verdict known = implied(v, level);
  isoproof_result *result = NULL;
  if (known != ISOPROOF_VERDICT_NONE) {
    v->verdict[number] = known;
    return ISOPROOF_OK;
  }
  ISO_TRY(decide_level(history, options, level, task, &result, error));
  v->verdict[number] = isoproof_result_verdict(result);
  iso_certificates_take(&v->certificates, &result->certificates);
  isoproof_result **keep = v->verdict[number] == ISOPROOF_VIOLATED ? &v->violated : &v->satisfied;
  /* Of those violated the weakest, whose witness is the telling one. */
  if (keep == &v->violated && *keep != NULL && (*keep)->levels[0].info->number < number) {
    isoproof_result_free(result);
    return ISOPROOF_OK;
  }
  isoproof_result_free(*keep);
  *keep = result;
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
    if (is_wanted(options, isoproof_level_at(count))) ISO_TRY(decide_next(history, options, count, task, v, error));
  }
  return options->others ? decide_others(history, options, task, v, error) : ISOPROOF_OK;
}

/* The result of the weakest violated level, whose witness is the telling one, with the verdicts on all levels. */
static isoproof_status assemble(const isoproof_check_options *options, verdicts *v, isoproof_result **result,
                                isoproof_error *error) {
  isoproof_result *made = v->violated != NULL ? v->violated : v->satisfied;
  if (made == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "no level was asked for that can be decided");
  if (v->violated != NULL)
    v->violated = NULL;
  else
    v->satisfied = NULL;
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
  *result = made;
  return ISOPROOF_OK;
}

isoproof_status iso_check_ambiguous(isoproof_history *history, const isoproof_check_options *options,
                                    isoproof_task *task, isoproof_result **result, isoproof_error *error) {
  if (options->anomaly_count > 0) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "single anomalies cannot be asked for where values are not unique");
  }
  verdicts v = {.satisfied = NULL};
  isoproof_status status = decide_levels(history, options, task, &v, error);
  if (status == ISOPROOF_OK) status = assemble(options, &v, result, error);
  isoproof_result_free(v.satisfied);
  isoproof_result_free(v.violated);
  iso_certificates_free(&v.certificates);
  return status;
}
