/* A solver proposes which write each read observed; a violation says which choices to avoid. */
#include "check/choice_search.h"

#include <stdlib.h>
#include <string.h>

#include "check/check_levels.h"
#include "check/duplicates/choices.h"
#include "check/named_reads.h"
#include "check/other_levels.h"
#include "history/columns.h"
#include "history/resolve.h"
#include "solver/solver.h"

void iso_outcome_free(iso_outcome *o) {
  isoproof_result_free(o->result);
  free(o->writer);
  *o = (iso_outcome){.result = NULL};
}

isoproof_status iso_resolution_copy(isoproof_history *history, isoproof_task *task, uint32_t **writer,
                                    isoproof_error *error) {
  const iso_resolution *resolution;
  ISO_TRY(iso_history_resolve(history, task, &resolution, error));
  *writer = iso_alloc(history->ops, sizeof **writer);
  if (*writer == NULL) return iso_fail_memory(error);
  memcpy(*writer, resolution->writer, history->ops * sizeof **writer);
  return ISOPROOF_OK;
}

void iso_resolution_put_back(isoproof_history *history, uint32_t *writer) {
  memcpy(history->resolution->writer, writer, history->ops * sizeof *writer);
  free(writer);
}

isoproof_status iso_outcome_keep(iso_outcome *o, isoproof_history *history, isoproof_result *result,
                                 isoproof_error *error) {
  iso_outcome_free(o);
  o->result = result;
  return iso_resolution_copy(history, NULL, &o->writer, error);
}

/* Nothing is known of the level, for a reason. */
static void give_up(isoproof_result *result, const char *reason) {
  for (size_t i = 0; i < result->level_count; i++) {
    if (result->levels[i].asked) result->levels[i].verdict = ISOPROOF_UNDECIDED;
  }
  result->unknown_reason = reason;
}

static const char *reason_of(isoproof_status status) {
  if (status == ISOPROOF_ERR_TIMEOUT) return "the time limit was reached";
  return status == ISOPROOF_ERR_MEMORY ? "memory ran out" : "too many versions could have been observed";
}

isoproof_status iso_outcome_give_up(iso_outcome *o, isoproof_history *history, const isoproof_check_options *options,
                                    isoproof_status status, isoproof_task *task, isoproof_error *error) {
  isoproof_result *result;
  ISO_TRY(iso_check_levels(history, options, task, &result, error));
  if (isoproof_result_verdict(result) != ISOPROOF_SATISFIED) give_up(result, reason_of(status));
  return iso_outcome_keep(o, history, result, error);
}

/* The search for the choices under which one level is satisfied. */
typedef struct {
  iso_choices choices;
  iso_solver *solver;
  size_t stated_reads, stated_counts; /* what the solver knows of */
  ISO_VEC(iso_lit) literal;           /* beside choices.candidates */
  iso_named_reads named;
  uint8_t *relevant; /* by transaction: it is named, and its outcome is unknown */
  bool grew;
  ISO_VEC(iso_lit) clause;
  bool is_clause_void; /* one of its reads cannot have observed that at all */
  size_t fewest;       /* open reads that the violation that is shown rests on */
  double seconds;      /* for all tries but the first, where the level is known to be violated */
  iso_budget budget;   /* of those */
  bool is_own; /* and whether it is one of the very level, not of a weaker one that another choice may satisfy */
} search;

static void search_free(search *s) {
  iso_choices_free(&s->choices);
  iso_solver_free(s->solver);
  iso_vec_free(&s->literal);
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
  iso_predicate predicate = iso_history_predicate(s->choices.history, counted->statement);
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
static isoproof_status try_choices(search *s, const isoproof_check_options *options, uint32_t most, isoproof_task *task,
                                   iso_outcome *kept, isoproof_error *error) {
  s->relevant = iso_alloc(s->choices.history->txns, 1);
  if (s->relevant == NULL) return iso_fail_memory(error);
  ISO_TRY(iso_solver_new(0, &s->solver, error));
  ISO_TRY(state_new(s, error));
  s->fewest = SIZE_MAX;
  for (uint32_t tries = 1;; tries++) {
    bool found = false, taught;
    size_t fewest = SIZE_MAX;
    isoproof_result *result = NULL;
    ISO_TRY(iso_check_levels(s->choices.history, options, task, &result, error));
    if (most > 0 && tries > 1 && isoproof_result_verdict(result) == ISOPROOF_UNDECIDED) {
      isoproof_result_free(result);
      return ISOPROOF_OK;
    }
    if (isoproof_result_verdict(result) != ISOPROOF_VIOLATED)
      return iso_outcome_keep(kept, s->choices.history, result, error);
    isoproof_status status = learn(s, result, &fewest, &taught, error);
    bool own = status == ISOPROOF_OK && has_own(result, options->levels[0]);
    bool surer = own == s->is_own ? fewest < s->fewest : own;
    if (kept->result == NULL || (status == ISOPROOF_OK && surer)) {
      isoproof_status stored = iso_outcome_keep(kept, s->choices.history, result, error);
      if (status == ISOPROOF_OK) status = stored;
      s->fewest = fewest;
      s->is_own = own;
    } else {
      isoproof_result_free(result);
    }
    if (status == ISOPROOF_OK && (tries == most || (most > 0 && s->fewest == 0))) return ISOPROOF_OK;
    if (status == ISOPROOF_OK && !taught) {
      give_up(kept->result, "no violation could be shown to rest on what is certain");
      return ISOPROOF_OK;
    }
    if (most > 0 && tries == 1) iso_budget_begin(&s->budget, task, s->seconds);
    if (status == ISOPROOF_OK) status = next_choice(s, task, &found, error);
    if (status != ISOPROOF_OK || !found) return status;
  }
}

isoproof_status iso_search_choices(isoproof_history *history, const isoproof_check_options *options,
                                   const isoproof_level_info *level, double seconds, isoproof_task *task,
                                   iso_outcome *kept, isoproof_error *error) {
  bool violated = seconds > 0;
  enum { TRIES = 2, TRIES_OF_ROWS = 8 };
  search s = {.solver = NULL};
  uint32_t *before;
  ISO_TRY(iso_resolution_copy(history, task, &before, error));
  iso_choice_wish wish = iso_choice_wish_of(level);
  bool replayed = history->resolution != NULL && history->resolution->replayed;
  wish.keep = violated && !replayed;
  isoproof_status status = iso_choices_make(history, wish, task, &s.choices, error);
  if (status == ISOPROOF_OK) {
    s.seconds = seconds;
    status = try_choices(&s, options, !violated ? 0 : replayed ? TRIES_OF_ROWS : TRIES, task, kept, error);
    if (s.budget.task != NULL) iso_budget_end(&s.budget);
    search_free(&s);
  }
  iso_resolution_put_back(history, before);
  bool limit = status == ISOPROOF_ERR_LIMIT || status == ISOPROOF_ERR_TIMEOUT || status == ISOPROOF_ERR_MEMORY;
  if (!limit || kept->result == NULL) return status;
  if (violated) return ISOPROOF_OK;
  give_up(kept->result, reason_of(status));
  return ISOPROOF_OK;
}
