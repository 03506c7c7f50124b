/* The CDCL loop: propagate, learn from conflicts, restart, reduce, assume and decide. */
#include "solver/solver_internal.h"

enum { TASK_DECISIONS = 1024 };

/* A search in progress. */
typedef struct {
  iso_solver *s;
  const isoproof_task *task;
  uint64_t last_conflict; /* number of the last conflict that is allowed */
  isoproof_error *error;
  iso_solver_answer answer;
  bool done;
} search;

/* Makes the first literal of the learned clause true, at the level where the others are false.  Going there would undo
 * much that has nothing to do with the conflict when it is far away; then one level back is enough. */
static isoproof_status assert_learned(search *run, uint32_t back, uint32_t glue) {
  iso_solver *s = run->s;
  uint32_t clause;
  bool far = s->level - back > s->longest_jump;
  iso_sat_backtrack(s, far ? s->level - 1 : back);
  if (s->clause_count == 1) {
    iso_sat_assign(s, s->clause[0], 0, ISO_REASON_NONE, 0);
    return ISOPROOF_OK;
  }
  ISO_TRY(iso_clause_store(s, s->clause, s->clause_count, glue, &clause, run->error));
  bool binary = clause == ISO_NONE;
  iso_sat_assign(s, s->clause[0], back, binary ? ISO_REASON_BINARY : ISO_REASON_CLAUSE, binary ? s->clause[1] : clause);
  return ISOPROOF_OK;
}

static isoproof_status learn(search *run) {
  iso_solver *s = run->s;
  uint32_t back, glue;
  iso_sat_backtrack(s, iso_sat_level_of(s, s->conflict, s->conflict_count));
  if (s->level == 0) {
    s->unsatisfiable = true;
    run->answer = ISO_SOLVER_UNSAT;
    run->done = true;
    return ISOPROOF_OK;
  }
  iso_sat_analyze(s, &back, &glue);
  iso_sat_restart_note(s, glue);
  return assert_learned(run, back, glue);
}

/* Puts the next assumption on a level of its own. */
static isoproof_status assume(search *run) {
  iso_solver *s = run->s;
  iso_lit literal = s->assumptions.items[s->level];
  if (s->value[literal] < 0) {
    ISO_TRY(iso_sat_find_failed_assumptions(s, literal, run->error));
    run->answer = ISO_SOLVER_UNSAT;
    run->done = true;
    return ISOPROOF_OK;
  }
  iso_sat_decide(s, s->value[literal] > 0 ? ISO_LIT_NONE : literal);
  return ISOPROOF_OK;
}

/* An edge that was never tried is tried as it fits the order: entering it then costs nothing. */
static iso_lit preferred_literal(const iso_solver *s, uint32_t var) {
  bool truth = s->phase[var] > 0;
  if (s->phase[var] == 0 && s->edge[var] != ISO_NONE) {
    const iso_dag_edge *edge = &s->graph.edges.items[s->edge[var]];
    truth = s->graph.nodes.items[edge->from].label < s->graph.nodes.items[edge->to].label;
  }
  return 2 * var + (truth ? 0 : 1);
}

static void keep_model(iso_solver *s) {
  for (uint32_t i = 0; i < s->vars; i++) s->model[i] = s->value[2 * i];
  s->model_vars = s->vars;
}

static void decide(search *run) {
  iso_solver *s = run->s;
  while (s->heap.count > 0) {
    uint32_t var = iso_heap_take(&s->heap);
    if (s->value[2 * var] != 0) continue;
    s->stats.decisions++;
    iso_sat_decide(s, preferred_literal(s, var));
    return;
  }
  keep_model(s);
  run->answer = ISO_SOLVER_SAT;
  run->done = true;
}

static isoproof_status after_conflict(search *run) {
  iso_solver *s = run->s;
  s->stats.conflicts++;
  ISO_TRY(learn(run));
  if (run->done) return ISOPROOF_OK;
  if (s->stats.conflicts >= run->last_conflict) run->done = true;
  return iso_task_check(run->task, run->error);
}

static isoproof_status without_conflict(search *run) {
  iso_solver *s = run->s;
  if (iso_sat_restart_due(s)) {
    iso_sat_restart(s);
    return ISOPROOF_OK;
  }
  if (s->stats.conflicts >= s->next_reduction) ISO_TRY(iso_sat_reduce(s, run->error));
  if (s->level < s->assumptions.count) return assume(run);
  decide(run);
  return s->stats.decisions % TASK_DECISIONS == 0 ? iso_task_check(run->task, run->error) : ISOPROOF_OK;
}

isoproof_status iso_sat_search(iso_solver *s, const iso_solver_limits *limits, iso_solver_answer *answer,
                               isoproof_error *error) {
  search run = {s, limits == NULL ? NULL : limits->task, UINT64_MAX, error, ISO_SOLVER_UNKNOWN, false};
  if (limits != NULL && limits->conflicts > 0 && limits->conflicts < UINT64_MAX - s->stats.conflicts) {
    run.last_conflict = s->stats.conflicts + limits->conflicts;
  }
  iso_sat_restart_begin(s);
  while (!run.done) {
    bool conflict;
    ISO_TRY(iso_sat_propagate(s, &conflict, error));
    ISO_TRY(conflict ? after_conflict(&run) : without_conflict(&run));
  }
  *answer = run.answer;
  return ISOPROOF_OK;
}
