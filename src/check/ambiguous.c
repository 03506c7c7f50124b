/* A solver proposes which write each read observed; a violation says which choices to avoid. */
#include "check/ambiguous.h"

#include <stdlib.h>
#include <string.h>

#include "check/check_levels.h"
#include "check/duplicates/choices.h"
#include "check/judge.h"
#include "check/named_reads.h"
#include "check/other_levels.h"
#include "solver/solver.h"

/* What a level was found to be under some choices, and these: all that differ from the first ones. */
typedef struct {
  isoproof_result *result;
  ISO_VEC(uint32_t) ops;
  ISO_VEC(uint32_t) writers; /* beside them */
} outcome;

static void outcome_free(outcome *o) {
  isoproof_result_free(o->result);
  iso_vec_free(&o->ops);
  iso_vec_free(&o->writers);
  *o = (outcome){.result = NULL};
}

/* The search for the choices under which one level is satisfied. */
typedef struct {
  iso_choices choices;
  iso_solver *solver;
  size_t stated_reads, stated_counts; /* what the solver knows of */
  ISO_VEC(iso_lit) literal;           /* beside choices.candidates */
  ISO_VEC(uint32_t) first_writer;     /* beside choices.reads: what was guessed */
  iso_named_reads named;
  uint8_t *relevant; /* by transaction: it is named, and its outcome is unknown */
  bool grew;
  ISO_VEC(iso_lit) clause;
  bool is_clause_void; /* one of its reads cannot have observed that at all */
  size_t fewest;       /* open reads that the violation that is shown rests on */
  bool is_own; /* and whether it is one of the very level, not of a weaker one that another choice may satisfy */
} search;

static void search_free(search *s) {
  iso_choices_free(&s->choices);
  iso_solver_free(s->solver);
  iso_vec_free(&s->literal);
  iso_vec_free(&s->first_writer);
  iso_named_reads_free(&s->named);
  free(s->relevant);
  iso_vec_free(&s->clause);
}

/* ---- what the solver knows ---- */

/* A read observes one of its candidates.  That several are true does no harm: the likely one is taken then, and what
 * was learned speaks of false ones only. */
static isoproof_status state_read(search *s, const iso_choice *read, isoproof_error *error) {
  while (s->literal.count < (size_t)read->first + read->count) {
    iso_lit literal;
    ISO_TRY(iso_solver_var(s->solver, &literal, error));
    iso_solver_phase(s->solver, literal);
    if (!iso_vec_push(&s->literal, literal)) return iso_fail_memory(error);
  }
  return iso_solver_clause(s->solver, s->literal.items + read->first, read->count, error);
}

static isoproof_status imply(search *s, iso_lit a, iso_lit b, isoproof_error *error) {
  iso_lit both[2] = {iso_lit_not(a), b};
  return iso_solver_clause(s->solver, both, 2, error);
}

/* A literal that says whether the row matches; its true candidates all do, or all do not. */
static isoproof_status state_row(search *s, const iso_predicate *predicate, const iso_choice *read, iso_lit *matches,
                                 isoproof_error *error) {
  const isoproof_history *h = s->choices.history;
  uint32_t key = h->op_key[read->op];
  ISO_TRY(iso_solver_var(s->solver, matches, error));
  for (uint32_t i = 0; i < read->count; i++) {
    uint32_t write = s->choices.candidates.items[read->first + i];
    iso_value version = write < h->ops ? iso_history_version(h, write) : iso_history_initial(h, key);
    bool does = iso_version_matches(h, predicate, key, version);
    if (write == s->choices.resolution->writer[read->op] && does) iso_solver_phase(s->solver, *matches);
    ISO_TRY(imply(s, s->literal.items[read->first + i], does ? *matches : iso_lit_not(*matches), error));
  }
  return ISOPROOF_OK;
}

/* Exactly `number` of the rows match: a sequential counter.  at[j] says that more than j of those so far do. */
static isoproof_status state_number(search *s, const iso_lit *rows, size_t count, size_t number,
                                    isoproof_error *error) {
  iso_lit *at = iso_alloc(number + 1, sizeof *at);
  isoproof_status status = at != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  for (size_t i = 0; i < count && status == ISOPROOF_OK; i++) {
    for (size_t j = number + 1; j-- > 0 && status == ISOPROOF_OK;) {
      iso_lit now, step[3];
      if (j > i) continue;
      bool was = j<i, more = j> 0;
      status = iso_solver_var(s->solver, &now, error);
      /* now <-> was[j], or was[j - 1] and the row; for j = 0 the latter is the row, for j = i there is no former. */
      if (status == ISOPROOF_OK && was) status = imply(s, at[j], now, error);
      step[0] = iso_lit_not(rows[i]), step[1] = now, step[2] = more ? iso_lit_not(at[j - 1]) : now;
      if (status == ISOPROOF_OK) status = iso_solver_clause(s->solver, step, more ? 3 : 2, error);
      step[0] = iso_lit_not(now), step[1] = rows[i], step[2] = was ? at[j] : rows[i];
      if (status == ISOPROOF_OK) status = iso_solver_clause(s->solver, step, was ? 3 : 2, error);
      step[1] = more ? at[j - 1] : rows[i];
      if (status == ISOPROOF_OK && more) status = iso_solver_clause(s->solver, step, was ? 3 : 2, error);
      if (status == ISOPROOF_OK) at[j] = now;
    }
  }
  if (status == ISOPROOF_OK && number < count)
    status = iso_solver_clause(s->solver, &(iso_lit){iso_lit_not(at[number])}, 1, error);
  if (status == ISOPROOF_OK && number > 0) status = iso_solver_clause(s->solver, &at[number - 1], 1, error);
  free(at);
  return status;
}

static isoproof_status state_count(search *s, const iso_counted *counted, isoproof_error *error) {
  iso_predicate predicate = iso_statement_predicate(counted->statement);
  int64_t number = counted->statement->counted;
  if ((uint64_t)number > counted->reads) return iso_solver_clause(s->solver, NULL, 0, error);
  iso_lit *rows = iso_alloc(counted->reads, sizeof *rows);
  isoproof_status status = rows != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  for (size_t i = 0; i < counted->reads && status == ISOPROOF_OK; i++) {
    status = state_row(s, &predicate, &s->choices.reads.items[counted->first_read + i], &rows[i], error);
  }
  if (status == ISOPROOF_OK) status = state_number(s, rows, counted->reads, (size_t)number, error);
  free(rows);
  return status;
}

/* Tells the solver of the reads and counts that were listed since. */
static isoproof_status state_new(search *s, isoproof_error *error) {
  const iso_choices *c = &s->choices;
  for (; s->stated_reads < c->reads.count; s->stated_reads++) {
    const iso_choice *read = &c->reads.items[s->stated_reads];
    ISO_TRY(state_read(s, read, error));
    if (!iso_vec_push(&s->first_writer, c->resolution->writer[read->op])) return iso_fail_memory(error);
  }
  for (; s->stated_counts < c->counted.count; s->stated_counts++) {
    ISO_TRY(state_count(s, &c->counted.items[s->stated_counts], error));
  }
  return ISOPROOF_OK;
}

/* ---- what a violation teaches ---- */

static void make_relevant(search *s, uint32_t txn) {
  if (txn >= s->choices.history->txns || s->relevant[txn]) return;
  if (s->choices.history->txn_status[txn] != ISOPROOF_TXN_UNKNOWN) return;
  s->relevant[txn] = 1;
  s->grew = true;
}

/* A transaction of unknown outcome takes part because somebody who takes part observed it: then those reads matter,
 * too, and whoever made them, whose outcome may be unknown as well. */
static bool find_supporters(search *s) {
  const iso_choices *c = &s->choices;
  const isoproof_history *h = c->history;
  if (h->unknown == 0) return true;
  memset(s->relevant, 0, h->txns);
  for (size_t i = 0; i < s->named.txns.count; i++) make_relevant(s, s->named.txns.items[i]);
  while (s->grew) {
    s->grew = false;
    for (uint32_t op = 0; op < h->ops; op++) {
      uint32_t write = h->op_kind[op] == ISOPROOF_OP_READ ? c->resolution->writer[op] : ISO_NO_OP;
      if (write >= h->ops || !s->relevant[c->op_txn[write]] || c->op_txn[op] == c->op_txn[write]) continue;
      if (h->txn_status[c->op_txn[op]] != ISOPROOF_TXN_ABORTED) make_relevant(s, c->op_txn[op]);
    }
  }
  for (uint32_t op = 0; op < h->ops; op++) {
    uint32_t write = h->op_kind[op] == ISOPROOF_OP_READ ? c->resolution->writer[op] : ISO_NO_OP;
    if (write >= h->ops || !s->relevant[c->op_txn[write]] || c->op_txn[op] == c->op_txn[write]) continue;
    if (!iso_vec_push(&s->named.ops, op)) return false;
  }
  return true;
}

/* Adds that a read did not observe what it is taken to have observed. */
static isoproof_status deny(search *s, uint32_t op, isoproof_error *error) {
  iso_choices *c = &s->choices;
  size_t place;
  uint32_t write = c->resolution->writer[op];
  ISO_TRY(iso_choices_need(c, op, &place, error));
  if (place == ISO_NO_CHOICE) return ISOPROOF_OK;
  ISO_TRY(state_new(s, error));
  const iso_choice *read = &c->reads.items[place];
  for (uint32_t i = 0; i < read->count; i++) {
    if (c->candidates.items[read->first + i] != write) continue;
    bool added = iso_vec_push(&s->clause, iso_lit_not(s->literal.items[read->first + i]));
    return added ? ISOPROOF_OK : iso_fail_memory(error);
  }
  s->is_clause_void = true; /* it cannot have */
  return ISOPROOF_OK;
}

/* One of the reads behind a violation must have observed another write. */
static isoproof_status learn_one(search *s, isoproof_error *error) {
  if (!find_supporters(s)) return iso_fail_memory(error);
  s->clause.count = 0;
  s->is_clause_void = false;
  for (size_t i = 0; i < s->named.ops.count; i++) ISO_TRY(deny(s, s->named.ops.items[i], error));
  return ISOPROOF_OK;
}

/* All reads of the transactions of a witness, where it is not known which of them matter. */
static bool name_all(search *s, const isoproof_result *result) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  const isoproof_history *h = s->choices.history;
  if (!isoproof_result_anomaly_at(result, 0, &anomaly)) return false;
  s->named.ops.count = s->named.txns.count = 0;
  for (size_t i = 0; i < anomaly.txn_count; i++) {
    uint32_t txn = (uint32_t)anomaly.txns[i];
    if (anomaly.txns[i] >= h->txns || !iso_vec_push(&s->named.txns, txn)) continue;
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      if (!iso_vec_push(&s->named.ops, op)) return false;
    }
  }
  return true;
}

/* Learns from every violation that was found.  *fewest is how many open reads the surest of them rests on; *taught is
 * false when there is no violation to learn from. */
static isoproof_status learn(search *s, const isoproof_result *result, size_t *fewest, bool *taught,
                             isoproof_error *error) {
  enum { MOST = 64 };
  *taught = false;
  *fewest = SIZE_MAX;
  size_t count = isoproof_result_anomaly_count(result);
  for (size_t i = 0; i < count && i < MOST; i++) {
    bool good = result->engine == &iso_level_engine && iso_named_reads_of(result->state, i, &s->named);
    if (!good && *taught) break;
    if (!good && !name_all(s, result)) break;
    ISO_TRY(learn_one(s, error));
    *taught = true;
    if (s->is_clause_void) continue;
    if (s->clause.count < *fewest) *fewest = s->clause.count;
    ISO_TRY(iso_solver_clause(s->solver, s->clause.items, s->clause.count, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status next_choice(search *s, isoproof_task *task, bool *found, isoproof_error *error) {
  iso_solver_answer answer;
  iso_solver_limits limits = {.task = task};
  ISO_TRY(iso_solver_solve(s->solver, NULL, 0, &limits, &answer, error));
  *found = answer == ISO_SOLVER_SAT;
  for (size_t i = 0; *found && i < s->choices.reads.count; i++) {
    const iso_choice *read = &s->choices.reads.items[i];
    uint32_t k = 0;
    while (k + 1 < read->count && !iso_solver_value(s->solver, s->literal.items[read->first + k])) k++;
    iso_choose(&s->choices, i, k);
  }
  return ISOPROOF_OK;
}

/* ---- the search ---- */

/* Keeps a result together with the choices that it rests on. */
static isoproof_status keep(const search *s, isoproof_result *result, outcome *kept, isoproof_error *error) {
  isoproof_result_free(kept->result);
  kept->result = result;
  kept->ops.count = kept->writers.count = 0;
  for (size_t i = 0; i < s->choices.reads.count; i++) {
    const iso_choice *read = &s->choices.reads.items[i];
    bool added =
        iso_vec_push(&kept->ops, read->op) && iso_vec_push(&kept->writers, s->choices.resolution->writer[read->op]);
    if (!added) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

static void take_back(const search *s) {
  for (size_t i = 0; i < s->first_writer.count; i++) {
    s->choices.resolution->writer[s->choices.reads.items[i].op] = s->first_writer.items[i];
  }
}

/* Nothing is known of the level, for a reason. */
static void give_up(isoproof_result *result, const char *reason) {
  for (size_t i = 0; i < result->level_count; i++) {
    if (result->levels[i].asked) result->levels[i].verdict = ISOPROOF_UNDECIDED;
  }
  result->unknown_reason = reason;
}

/* Whether some violation breaks the level that was asked for, and none that it implies. */
static bool has_own(const isoproof_result *result, const char *level) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  for (size_t i = 0; isoproof_result_anomaly_at(result, i, &anomaly); i++) {
    if (anomaly.level != NULL && strcmp(anomaly.level, level) == 0) return true;
  }
  return false;
}

/* Tries choices until one satisfies the level, or none is left.  Of the violations on the way one of the very level is
 * kept, and of those the one that rests on the fewest open reads. */
static isoproof_status try_choices(search *s, const isoproof_check_options *options, isoproof_task *task, outcome *kept,
                                   isoproof_error *error) {
  s->relevant = iso_alloc(s->choices.history->txns, 1);
  if (s->relevant == NULL) return iso_fail_memory(error);
  ISO_TRY(iso_solver_new(0, &s->solver, error));
  ISO_TRY(state_new(s, error));
  s->fewest = SIZE_MAX;
  for (;;) {
    bool found = false, taught;
    size_t fewest = SIZE_MAX;
    isoproof_result *result = NULL;
    ISO_TRY(iso_check_levels(s->choices.history, options, task, &result, error));
    if (isoproof_result_verdict(result) != ISOPROOF_VIOLATED) return keep(s, result, kept, error);
    outcome seen = {.result = NULL};
    isoproof_status status = keep(s, result, &seen, error);
    if (status == ISOPROOF_OK) status = learn(s, result, &fewest, &taught, error);
    bool own = status == ISOPROOF_OK && has_own(result, options->levels[0]);
    bool surer = own == s->is_own ? fewest < s->fewest : own;
    if (status == ISOPROOF_OK && (kept->result == NULL || surer)) {
      outcome_free(kept);
      *kept = seen;
      s->fewest = fewest;
      s->is_own = own;
    } else {
      outcome_free(&seen);
    }
    if (status == ISOPROOF_OK && !taught) {
      give_up(kept->result, "no violation could be shown to rest on what is certain");
      return ISOPROOF_OK;
    }
    if (status == ISOPROOF_OK) status = next_choice(s, task, &found, error);
    if (status != ISOPROOF_OK || !found) return status;
  }
}

/* The verdict on one level, with the result that shows it; a limit leaves it unknown. */
static isoproof_status decide_level(isoproof_history *history, const isoproof_check_options *options,
                                    const isoproof_level_info *level, isoproof_task *task, outcome *kept,
                                    isoproof_error *error) {
  const char *names[] = {level->id};
  isoproof_check_options one = *options;
  one.levels = names;
  one.level_count = 1;
  one.others = false;
  one.anomalies = NULL;
  one.anomaly_count = 0;
  search s = {.solver = NULL};
  ISO_TRY(iso_choices_make(history, iso_choice_wish_of(level), task, &s.choices, error));
  isoproof_status status = try_choices(&s, &one, task, kept, error);
  take_back(&s);
  search_free(&s);
  bool limit = status == ISOPROOF_ERR_LIMIT || status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_MEMORY;
  if (!limit || kept->result == NULL) return status;
  give_up(kept->result, status == ISOPROOF_ERR_TIMEOUT  ? "the time limit was reached"
                        : status == ISOPROOF_ERR_MEMORY ? "memory ran out"
                                                        : "too many versions could have been observed");
  return ISOPROOF_OK;
}

/* Whether the level is decided whatever that takes. */
static bool is_wanted(const isoproof_check_options *options, const isoproof_level_info *level) {
  if (iso_is_level_asked(options, level)) return true;
  return options->level_count == 0 && !options->others && level->family != ISOPROOF_LEVEL_MODEL;
}

enum { MOST_LEVELS = 128 };

typedef struct {
  isoproof_verdict verdict[MOST_LEVELS]; /* by number of the level; none: not asked */
  outcome satisfied, violated;           /* of the strongest satisfied level, and of the weakest violated */
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
  outcome found = {.result = NULL};
  if (known != ISOPROOF_VERDICT_NONE) {
    v->verdict[number] = known;
    return ISOPROOF_OK;
  }
  isoproof_status status = decide_level(history, options, level, task, &found, error);
  if (status != ISOPROOF_OK) {
    outcome_free(&found);
    return status;
  }
  v->verdict[number] = isoproof_result_verdict(found.result);
  iso_certificates_take(&v->certificates, &found.result->certificates);
  bool violated = v->verdict[number] == ISOPROOF_VIOLATED;
  outcome *kept = violated ? &v->violated : &v->satisfied;
  /* Of those violated the weakest, whose witness is the telling one. */
  bool weaker = violated && kept->result != NULL && kept->result->levels[0].info->number < number;
  outcome_free(weaker ? &found : kept);
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
static isoproof_status assemble(isoproof_history *history, const isoproof_check_options *options, verdicts *v,
                                isoproof_result **result, isoproof_error *error) {
  outcome *shown = v->violated.result != NULL ? &v->violated : &v->satisfied;
  isoproof_result *made = shown->result;
  if (made == NULL) return iso_fail(error, ISOPROOF_ERR_USAGE, "no level was asked for that can be decided");
  shown->result = NULL;
  const char *broken = made->levels[0].info->id;
  /* Whoever looks at the history with the result sees the choices that the result rests on. */
  for (size_t i = 0; i < shown->ops.count; i++) {
    history->resolution->writer[shown->ops.items[i]] = shown->writers.items[i];
  }
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
  outcome_free(&v.satisfied);
  outcome_free(&v.violated);
  iso_certificates_free(&v.certificates);
  return status;
}
