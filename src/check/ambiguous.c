#include "check/ambiguous.h"

#include <stdlib.h>
#include <string.h>

#include "check/choices.h"
#include "check/result.h"
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
static isolde_status state_choices(search *s, isolde_error *error) {
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
  return ISOLDE_OK;
}

static void make_relevant(search *s, uint64_t txn) {
  if (txn >= s->choices.history->txns || s->relevant[txn]) return;
  s->relevant[txn] = 1;
  s->grew = s->grew || s->choices.history->txn_status[txn] == ISOLDE_UNKNOWN;
}

/* A transaction of unknown outcome takes part because somebody who takes part observed it: then so does that one, whose
 * outcome may be unknown as well. */
static void find_supporters(search *s) {
  const iso_choices *c = &s->choices;
  const isolde_history *h = c->history;
  while (s->grew) {
    s->grew = false;
    for (uint32_t op = 0; op < h->ops; op++) {
      uint32_t write = h->op_kind[op] == ISOLDE_OP_READ ? c->resolution->writer[op] : ISO_NO_OP;
      if (write >= h->ops || !s->relevant[c->op_txn[write]]) continue;
      if (h->txn_status[c->op_txn[write]] != ISOLDE_UNKNOWN || c->op_txn[op] == c->op_txn[write]) continue;
      if (h->txn_status[c->op_txn[op]] != ISOLDE_ABORTED) make_relevant(s, c->op_txn[op]);
    }
  }
}

/* One of the reads behind the violation must have observed another write. */
static isolde_status learn(search *s, const isolde_result *result, isolde_error *error) {
  const iso_choices *c = &s->choices;
  isolde_anomaly anomaly;
  memset(s->relevant, 0, c->history->txns);
  if (!isolde_result_anomaly(result, 0, &anomaly)) return iso_fail(error, ISOLDE_ERR_INTERNAL, "no witness");
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

static isolde_status next_choice(search *s, isolde_task *task, bool *found, isolde_error *error) {
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
  return ISOLDE_OK;
}

/* Tries choices until one satisfies the level, or none is left. */
static isolde_status try_choices(search *s, const isolde_check_options *options, isolde_task *task,
                                 isolde_result **result, isolde_error *error) {
  ISO_TRY(state_choices(s, error));
  for (;;) {
    bool found = false;
    ISO_TRY(iso_check_once(s->choices.history, options, task, result, error));
    if (isolde_result_verdict(*result) != ISOLDE_VIOLATED) return ISOLDE_OK;
    isolde_status status = learn(s, *result, error);
    if (status == ISOLDE_OK) status = next_choice(s, task, &found, error);
    if (status == ISOLDE_OK && !found) return ISOLDE_OK;
    isolde_result_free(*result);
    *result = NULL;
    if (status != ISOLDE_OK) return status;
  }
}

/* The verdict on one level, with the result that shows it; a limit leaves it unknown. */
static isolde_status decide_level(isolde_history *history, const isolde_check_options *options,
                                  const isolde_level_info *level, isolde_task *task, isolde_result **result,
                                  isolde_error *error) {
  const char *names[] = {level->id};
  isolde_check_options one = *options;
  one.levels = names;
  one.level_count = 1;
  one.anomalies = NULL;
  one.anomaly_count = 0;
  search s = {.solver = NULL};
  bool is_cut =
      strcmp(level->id, "cut-isolation") == 0; /* the one level that candidates of the wrong kind can satisfy */
  ISO_TRY(iso_choices_make(history, !is_cut, task, &s.choices, error));
  isolde_status status = try_choices(&s, &one, task, result, error);
  search_free(&s);
  return status;
}

static bool is_asked(const isolde_check_options *options, const isolde_level_info *level) {
  for (size_t i = 0; i < options->level_count; i++) {
    if (isolde_level_find(options->levels[i]) == level) return true;
  }
  return options->level_count == 0 && level->family != ISOLDE_LEVEL_MODEL;
}

enum { MOST_LEVELS = 128 };

typedef struct {
  isolde_verdict verdict[MOST_LEVELS]; /* by number of the level; none: not asked */
  isolde_result *satisfied, *violated; /* the result of the strongest satisfied level, and of the weakest violated */
  iso_certificates certificates;       /* each under the choice that satisfies its level */
} verdicts;

/* What is known of a level from those decided so far. */
static isolde_verdict implied(const verdicts *v, const isolde_level_info *level) {
  for (uint32_t i = 0; i < MOST_LEVELS; i++) {
    const isolde_level_info *other = isolde_level_at(i);
    if (other == NULL) break;
    if (v->verdict[i] == ISOLDE_SATISFIED && isolde_level_implies(other, level)) return ISOLDE_SATISFIED;
    if (v->verdict[i] == ISOLDE_VIOLATED && isolde_level_implies(level, other)) return ISOLDE_VIOLATED;
  }
  return ISOLDE_VERDICT_NONE;
}

static isolde_status decide_levels(isolde_history *history, const isolde_check_options *options, isolde_task *task,
                                   verdicts *v, isolde_error *error) {
  uint32_t count = 0;
  while (isolde_level_at(count) != NULL && count < MOST_LEVELS) count++;
  while (count-- > 0) { /* the table has the weaker ones first */
    const isolde_level_info *level = isolde_level_at(count);
    if (!is_asked(options, level)) continue;
    v->verdict[count] = implied(v, level);
    if (v->verdict[count] != ISOLDE_VERDICT_NONE) continue;
    isolde_result *result = NULL;
    ISO_TRY(decide_level(history, options, level, task, &result, error));
    v->verdict[count] = isolde_result_verdict(result);
    iso_certificates_take(&v->certificates, &result->certificates);
    isolde_result **keep = v->verdict[count] == ISOLDE_VIOLATED ? &v->violated : &v->satisfied;
    isolde_result_free(*keep);
    *keep = result;
  }
  return ISOLDE_OK;
}

/* The result of the weakest violated level, whose witness is the telling one, with the verdicts on all levels. */
static isolde_status assemble(const isolde_check_options *options, verdicts *v, isolde_result **result,
                              isolde_error *error) {
  isolde_result *made = v->violated != NULL ? v->violated : v->satisfied;
  if (made == NULL) return iso_fail(error, ISOLDE_ERR_USAGE, "no level was asked for that can be decided");
  if (v->violated != NULL)
    v->violated = NULL;
  else
    v->satisfied = NULL;
  struct iso_level_entry *levels = iso_alloc(MOST_LEVELS, sizeof *levels);
  if (levels == NULL) {
    isolde_result_free(made);
    return iso_fail_memory(error);
  }
  iso_certificates_take(&made->certificates, &v->certificates);
  free(made->levels);
  made->levels = levels;
  made->level_count = 0;
  for (uint32_t i = 0; i < MOST_LEVELS; i++) {
    bool asked = options->level_count > 0;
    if (v->verdict[i] == ISOLDE_VERDICT_NONE || (!asked && v->verdict[i] == ISOLDE_UNDECIDED)) continue;
    levels[made->level_count++] = (struct iso_level_entry){isolde_level_at(i), v->verdict[i], asked};
  }
  free(made->strongest);
  free(made->weakest_violated);
  made->strongest = made->weakest_violated = NULL;
  if (!iso_result_extremes(made)) {
    isolde_result_free(made);
    return iso_fail_memory(error);
  }
  *result = made;
  return ISOLDE_OK;
}

isolde_status iso_check_ambiguous(isolde_history *history, const isolde_check_options *options, isolde_task *task,
                                  isolde_result **result, isolde_error *error) {
  if (options->anomaly_count > 0) {
    return iso_fail(error, ISOLDE_ERR_USAGE, "single anomalies cannot be asked for where values are not unique");
  }
  verdicts v = {.satisfied = NULL};
  isolde_status status = decide_levels(history, options, task, &v, error);
  if (status == ISOLDE_OK) status = assemble(options, &v, result, error);
  isolde_result_free(v.satisfied);
  isolde_result_free(v.violated);
  iso_certificates_free(&v.certificates);
  return status;
}
