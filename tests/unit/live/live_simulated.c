/* Longer histories from the simulator, pushed into live checkers. */
#include "tests/unit/live/live_simulated.h"

#include "tests/unit/live/live_trial.h"
#include "tests/unit/unit.h"

enum { LEVELS = LIVE_LEVELS };

typedef struct arrival {
  int64_t end;
  uint64_t txn;
} arrival;

static int by_end(const void *a, const void *b) {
  const arrival *x = a, *y = b;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

typedef struct simulation {
  isoproof_history *all;
  arrival *order;
  uint64_t count, pushed;
  bool timed;
} simulation;

static void copy_op(const isoproof_history *from, uint64_t number_of_it, isoproof_builder *builder) {
  isoproof_op op = {.struct_size = sizeof op};
  isoproof_scalar elements[256];
  assert_true(isoproof_history_op_at(from, number_of_it, &op));
  if (op.kind != ISOPROOF_OP_READ_LIST) {
    assert_ok(isoproof_builder_op(builder, op.kind, op.key, op.value, NULL));
    return;
  }
  assert_true(op.element_count <= 256);
  for (uint64_t i = 0; i < op.element_count; i++) isoproof_history_element_at(from, number_of_it, i, &elements[i]);
  assert_ok(isoproof_builder_elements(builder, op.kind, op.key, elements, op.element_count, NULL));
}

/* The transactions from `first` to before `end` by their ends. */
static isoproof_history *simulated_part(const simulation *s, uint64_t first, uint64_t end) {
  isoproof_builder *builder;
  isoproof_history *out;
  assert_ok(isoproof_builder_new(&builder, NULL));
  for (uint64_t i = first; i < end; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_session session = {.struct_size = sizeof session};
    uint32_t opened;
    isoproof_history_txn_at(s->all, s->order[i].txn, &txn);
    isoproof_history_session_at(s->all, txn.session, &session);
    assert_ok(isoproof_builder_session(builder, session.name, &opened, NULL));
    assert_ok(isoproof_builder_begin(builder, opened, txn.status, NULL));
    if (s->timed) assert_ok(isoproof_builder_times(builder, txn.start, txn.end, NULL));
    for (uint64_t op = 0; op < txn.op_count; op++) copy_op(s->all, txn.first_op + op, builder);
  }
  assert_ok(isoproof_builder_finish(builder, &out, NULL));
  isoproof_builder_free(builder);
  return out;
}

/* The numbers that the transactions of the part have in its history. */
static void number_simulated(const simulation *s, const isoproof_history *batch, uint64_t first, uint64_t end,
                             uint64_t *order) {
  uint64_t next[64] = {0};
  isoproof_session session = {.struct_size = sizeof session};
  for (uint64_t i = 0; isoproof_history_session_at(batch, i, &session); i++) {
    assert_true(session.name.integer >= 0 && session.name.integer < 64);
    next[session.name.integer] = session.first_txn;
  }
  for (uint64_t i = first; i < end; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_history_txn_at(s->all, s->order[i].txn, &txn);
    isoproof_history_session_at(s->all, txn.session, &session);
    order[i - first] = next[session.name.integer]++;
  }
}

static isoproof_status give_simulated(void *user, isoproof_task *task, isoproof_history **history,
                                      isoproof_error *error) {
  (void)task;
  (void)error;
  const simulation *s = user;
  *history = simulated_part(s, 0, s->pushed);
  return ISOPROOF_OK;
}

static void compare_simulated(const simulation *s, const isoproof_live *live, uint64_t number_of_it) {
  isoproof_history *prefix = simulated_part(s, 0, s->pushed);
  isoproof_check_options options = {.struct_size = sizeof options, .levels = live_level_ids, .level_count = LEVELS};
  isoproof_result *result;
  isoproof_error error;
  isoproof_live_verdict v = {.struct_size = sizeof v};
  if (!s->timed) options.level_count = LEVELS - 2;
  assert_ok_error(isoproof_check(prefix, &options, NULL, &result, &error), error);
  for (size_t i = 0; isoproof_live_level_at(live, i, &v); i++) {
    if (v.verdict != isoproof_result_verdict_of(result, v.level))
      fail_msg("simulation %llu: %s after %llu: %s", (unsigned long long)number_of_it, v.level,
               (unsigned long long)s->pushed, isoproof_verdict_name(v.verdict));
  }
  isoproof_result_free(result);
  isoproof_history_free(prefix);
}

static void sort_by_ends(simulation *s) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(s->all, &counts);
  s->count = counts.transactions;
  s->order = calloc(s->count, sizeof *s->order);
  assert_non_null(s->order);
  for (uint64_t i = 0; i < s->count; i++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_history_txn_at(s->all, i, &txn);
    s->order[i] = (arrival){.end = txn.end != ISOPROOF_NO_TIME ? txn.end : txn.start, .txn = i};
  }
  qsort(s->order, s->count, sizeof *s->order, by_end);
}

static void simulate(uint64_t *random, uint64_t seed, simulation *s) {
  static const isoproof_sim_level levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_SERIALIZABLE,
                                              ISOPROOF_SIM_SNAPSHOT,     ISOPROOF_SIM_SNAPSHOT,
                                              ISOPROOF_SIM_CAUSAL,       ISOPROOF_SIM_READ_ATOMIC};
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_error error;
  isoproof_sim_defaults(&sim);
  sim.seed = seed;
  sim.level = levels[sketch_below(random, sizeof levels / sizeof levels[0])];
  sim.sessions = 2 + (uint32_t)sketch_below(random, 8);
  sim.txns = 20 + sketch_below(random, 80);
  sim.ops_min = 1, sim.ops_max = 5;
  sim.keys = 4 + (uint32_t)sketch_below(random, 30);
  sim.lists = sketch_below(random, 4) == 0;
  sim.rmw_share = (double)sketch_below(random, 3) / 4;
  if (sketch_below(random, 4) == 0) sim.unknown_share = 0.1, sim.abort_share = 0.1;
  if (sketch_below(random, 3) == 0 && sim.sessions >= 4) sim.bugs[sketch_below(random, 4)] = 1;
  assert_ok_error(isoproof_simulate(&sim, NULL, &s->all, NULL, &error), error);
  s->timed = sketch_below(random, 2) == 0;
  sort_by_ends(s);
}

/* Pushes everything, or only draws what is drawn on the way. */
static void push_all(simulation *s, isoproof_live *live, uint64_t *random, uint64_t number_of_it) {
  for (uint64_t first = 0; first < s->count; first = s->pushed) {
    uint64_t most = s->count - first, count = 1 + sketch_below(random, most < 30 ? most : 30), order[32];
    isoproof_error error;
    s->pushed = first + count;
    if (live == NULL) continue;
    isoproof_history *batch = simulated_part(s, first, s->pushed);
    number_simulated(s, batch, first, s->pushed, order);
    assert_ok_error(isoproof_live_push(live, batch, order, &error), error);
    isoproof_history_free(batch);
    assert_ok_error(isoproof_live_poll(live, NULL, &error), error);
    compare_simulated(s, live, number_of_it);
  }
}

/* One simulation; without `push` only what is drawn for it is drawn. */
static void agree_once(uint64_t *random, uint64_t seed, bool push, uint64_t number_of_it) {
  simulation s = {0};
  isoproof_live *live = NULL;
  isoproof_error error;
  simulate(random, seed, &s);
  isoproof_live_options options = {.struct_size = sizeof options,
                                   .levels = live_level_ids,
                                   .level_count = s.timed ? LEVELS : LEVELS - 2,
                                   .horizon = sketch_below(random, 3) == 0 ? 0 : 1 + sketch_below(random, 30),
                                   .whole = give_simulated,
                                   .whole_user = &s};
  if (push) assert_ok_error(isoproof_live_new(&options, NULL, &live, &error), error);
  push_all(&s, live, random, number_of_it);
  isoproof_live_free(live);
  isoproof_history_free(s.all);
  free(s.order);
}

void live_simulated_agree(uint64_t seed, uint64_t first, uint64_t count) {
  uint64_t random = seed;
  for (uint64_t i = 0; i < count; i++) agree_once(&random, seed + i, i >= first, i);
}

void live_simulated_once(uint64_t random, uint64_t seed) { agree_once(&random, seed, true, 0); }

/* ---- sound histories, with nothing recorded ---- */

/* Pushes all of it; whether the level was known to be satisfied all the time, and transactions have left memory. */
static bool follows_alone(simulation *s, const char *level, uint64_t horizon) {
  isoproof_live_options options = {
      .struct_size = sizeof options, .levels = &level, .level_count = 1, .horizon = horizon};
  isoproof_live_state state = {.struct_size = sizeof state};
  isoproof_live *live;
  isoproof_error error;
  bool satisfied = true;
  assert_ok_error(isoproof_live_new(&options, NULL, &live, &error), error);
  for (uint64_t first = 0; first < s->count && satisfied; first = s->pushed) {
    uint64_t order[64], count = s->count - first < 64 ? s->count - first : 64;
    isoproof_history *batch = simulated_part(s, first, first + count);
    number_simulated(s, batch, first, first + count, order);
    assert_ok_error(isoproof_live_push(live, batch, order, &error), error);
    isoproof_history_free(batch);
    s->pushed = first + count;
    assert_ok_error(isoproof_live_poll(live, &state, &error), error);
    satisfied = state.verdict == ISOPROOF_SATISFIED || state.pending_reads > 0;
  }
  isoproof_live_free(live);
  return satisfied && state.retained < s->count / 2;
}

void live_simulated_alone(void) {
  static const struct {
    isoproof_sim_level simulated;
    const char *level;
  } cases[] = {{ISOPROOF_SIM_SERIALIZABLE, "serializable"},
               {ISOPROOF_SIM_SERIALIZABLE, "strict-serializable"},
               {ISOPROOF_SIM_SNAPSHOT, "snapshot-isolation"},
               {ISOPROOF_SIM_CAUSAL, "causal"},
               {ISOPROOF_SIM_CAUSAL, "read-atomic"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_sim_options sim = {.struct_size = sizeof sim};
    simulation s = {.timed = true};
    isoproof_error error;
    isoproof_sim_defaults(&sim);
    sim.level = cases[i].simulated;
    sim.txns = 3000;
    sim.keys = 2000;
    assert_ok_error(isoproof_simulate(&sim, NULL, &s.all, NULL, &error), error);
    sort_by_ends(&s);
    if (!follows_alone(&s, cases[i].level, 200))
      fail_msg("%s: not followed after %llu", cases[i].level, (unsigned long long)s.pushed);
    isoproof_history_free(s.all);
    free(s.order);
  }
}
