/* Every level of the simulator, and every bug, judged by the oracle on thousands of small histories. */
#include "tests/oracle/oracle.h"
#include "tests/unit/unit.h"
#include "workload/random.h"

enum { HISTORIES = UNLESS_SLOW(20000, 4000), BUG_HISTORIES = UNLESS_SLOW(400, 100) };

/* What each level promises, and the stronger levels that some of its histories must break. */
static const struct {
  isoproof_sim_level level;
  oracle_level promised;
  oracle_level broken[3];
  size_t broken_count;
} expectations[] = {
    {ISOPROOF_SIM_SERIALIZABLE, ORACLE_STRICT_SERIALIZABLE, {0}, 0},
    {ISOPROOF_SIM_SNAPSHOT, ORACLE_STRONG_SNAPSHOT, {ORACLE_SERIALIZABLE}, 1},
    {ISOPROOF_SIM_PARALLEL_SNAPSHOT, ORACLE_PARALLEL_SNAPSHOT, {ORACLE_SNAPSHOT, ORACLE_PREFIX}, 2},
    {ISOPROOF_SIM_CAUSAL, ORACLE_CAUSAL, {ORACLE_PARALLEL_SNAPSHOT, ORACLE_UPDATE_ATOMIC, ORACLE_PREFIX}, 3},
    {ISOPROOF_SIM_READ_ATOMIC, ORACLE_READ_ATOMIC, {ORACLE_CAUSAL, ORACLE_MONOTONIC_READS}, 2},
    {ISOPROOF_SIM_READ_COMMITTED, ORACLE_READ_COMMITTED, {ORACLE_READ_ATOMIC, ORACLE_CUT_ISOLATION}, 2},
};

static isoproof_history *simulate(const isoproof_sim_options *options, isoproof_injected_bugs **blames) {
  isoproof_history *history = NULL;
  isoproof_error error;
  isoproof_status status = isoproof_simulate(options, NULL, &history, blames, &error);
  if (status != ISOPROOF_OK) fail_msg("%s", error.message);
  return history;
}

/* Small, and different in every respect. */
static isoproof_sim_options small_options(uint64_t seed, isoproof_sim_level level, bool lists) {
  iso_random random;
  iso_random_seed(&random, seed, 77);
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_sim_defaults(&options);
  options.seed = seed;
  options.level = level;
  options.lists = lists;
  options.sessions = 1 + iso_random_below(&random, 4);
  options.txns = 2 + iso_random_below(&random, 8);
  options.ops_min = 1 + iso_random_below(&random, 2);
  options.ops_max = options.ops_min + iso_random_below(&random, 4);
  options.keys = 1 + iso_random_below(&random, 4);
  options.read_share = 0.3 + 0.1 * iso_random_below(&random, 5);
  options.rmw_share = 0.5 * iso_random_below(&random, 3);
  options.abort_share = 0.2 * iso_random_below(&random, 2);
  options.unknown_share = 0.3 * iso_random_below(&random, 2);
  options.distribution = (isoproof_key_distribution)iso_random_below(&random, ISOPROOF_KEY_DISTRIBUTIONS);
  options.appends_per_key = iso_random_below(&random, 5);
  options.replicas = 1 + iso_random_below(&random, 3);
  return options;
}

/* Few keys, every write a read-modify-write, every replica in use: where the weak levels are at their weakest. */
static isoproof_sim_options tight_options(uint64_t seed, isoproof_sim_level level, bool lists) {
  isoproof_sim_options options = small_options(seed, level, lists);
  options.sessions = 3 + (uint32_t)(seed % 3);
  options.txns = 8;
  options.ops_min = 2;
  options.ops_max = 3;
  options.keys = 2 + (uint32_t)(seed % 2);
  options.read_share = 0.6;
  options.rmw_share = 1;
  options.abort_share = options.unknown_share = 0;
  options.appends_per_key = 0;
  options.replicas = 3;
  return options;
}

static void check_implications(const oracle_verdicts *verdicts, uint64_t seed) {
  for (int a = 0; a < ORACLE_LEVELS; a++)
    for (int b = 0; b < ORACLE_LEVELS; b++)
      if (verdicts->satisfied[a] && !verdicts->satisfied[b] && oracle_implies((oracle_level)a, (oracle_level)b))
        fail_msg("seed %lu: %s without %s", (unsigned long)seed, oracle_level_id((oracle_level)a),
                 oracle_level_id((oracle_level)b));
}

static void run_level(size_t number, bool lists) {
  size_t judged = 0, broken[3] = {0};
  oracle_level promised = expectations[number].promised;
  for (uint64_t seed = 0; seed < HISTORIES / 2; seed++) {
    isoproof_sim_options options = seed % 4 != 3 ? small_options(seed, expectations[number].level, lists)
                                                 : tight_options(seed, expectations[number].level, lists);
    isoproof_history *history = simulate(&options, NULL);
    oracle_verdicts verdicts;
    if (!oracle_judge(history, &verdicts)) fail_msg("seed %lu: cannot be judged", (unsigned long)seed);
    judged++;
    if (!verdicts.satisfied[promised])
      fail_msg("seed %lu%s: %s is violated", (unsigned long)seed, lists ? ", lists" : "", oracle_level_id(promised));
    for (size_t i = 0; i < expectations[number].broken_count; i++)
      broken[i] += !verdicts.satisfied[expectations[number].broken[i]];
    check_implications(&verdicts, seed);
    isoproof_history_free(history);
  }
  assert_int_equal(judged, HISTORIES / 2);
  for (size_t i = 0; i < expectations[number].broken_count; i++) {
    print_message("%s%s: %zu of %zu break %s\n", isoproof_sim_level_name(expectations[number].level),
                  lists ? ", lists" : "", broken[i], judged, oracle_level_id(expectations[number].broken[i]));
    assert_true(broken[i] >= HISTORIES / 1000);
  }
}

static void levels_hold_for_registers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) run_level(i, false);
}

static void levels_hold_for_lists(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) run_level(i, true);
}

/* ---- bugs ---- */

#define BIT(level) (1u << ORACLE_##level)
#define ALL_BUT_CUT_ISOLATION (((1u << ORACLE_LEVELS) - 1) & ~BIT(CUT_ISOLATION))
#define NO_TAP ORACLE_TAPS

/* Exactly these levels are violated and those that imply them, with that anomaly inside a transaction. */
static const struct {
  uint32_t weakest;
  oracle_tap tap;
} bugs[ISOPROOF_SIM_BUGS] = {
    [ISOPROOF_SIM_BUG_LOST_UPDATE] = {BIT(UPDATE_ATOMIC), NO_TAP},
    [ISOPROOF_SIM_BUG_WRITE_SKEW] = {BIT(SERIALIZABLE), NO_TAP},
    [ISOPROOF_SIM_BUG_LONG_FORK] = {BIT(PREFIX), NO_TAP},
    [ISOPROOF_SIM_BUG_FRACTURED_READ] = {BIT(READ_ATOMIC), NO_TAP},
    [ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION] = {BIT(CAUSAL), NO_TAP},
    [ISOPROOF_SIM_BUG_STALE_READ] = {BIT(STRONG_SNAPSHOT), NO_TAP},
    [ISOPROOF_SIM_BUG_ABORTED_READ] = {ALL_BUT_CUT_ISOLATION, ORACLE_TAP_ABORTED_READ},
    [ISOPROOF_SIM_BUG_INTERMEDIATE_READ] = {ALL_BUT_CUT_ISOLATION, ORACLE_TAP_INTERMEDIATE},
    [ISOPROOF_SIM_BUG_NON_REPEATABLE_READ] = {BIT(CUT_ISOLATION), ORACLE_TAP_NON_REPEATABLE},
    [ISOPROOF_SIM_BUG_OWN_WRITE_MISSED] = {ALL_BUT_CUT_ISOLATION, ORACLE_TAP_NOT_MY_OWN},
    [ISOPROOF_SIM_BUG_THIN_AIR_READ] = {ALL_BUT_CUT_ISOLATION, ORACLE_TAP_THIN_AIR},
    [ISOPROOF_SIM_BUG_DUPLICATE_APPEND] = {ALL_BUT_CUT_ISOLATION, ORACLE_TAP_BROKEN_LIST},
};

static bool is_broken_by(isoproof_sim_bug bug, int level) {
  for (int w = 0; w < ORACLE_LEVELS; w++) {
    if (bugs[bug].weakest >> w & 1 && oracle_implies((oracle_level)level, (oracle_level)w)) return true;
  }
  return false;
}

static void expect_verdicts(const oracle_verdicts *verdicts, isoproof_sim_bug bug, uint64_t seed, const char *where) {
  for (int l = 0; l < ORACLE_LEVELS; l++)
    if (verdicts->satisfied[l] == is_broken_by(bug, l))
      fail_msg("%s, seed %lu, %s: %s is %s", isoproof_sim_bug_name(bug), (unsigned long)seed, where,
               oracle_level_id((oracle_level)l), verdicts->satisfied[l] ? "satisfied" : "violated");
  for (int t = 0; t < ORACLE_TAPS; t++)
    if (verdicts->tap[t] != ((oracle_tap)t == bugs[bug].tap))
      fail_msg("%s, seed %lu, %s: wrong about %s", isoproof_sim_bug_name(bug), (unsigned long)seed, where,
               oracle_tap_code((oracle_tap)t));
}

static bool is_blamed(const isoproof_injected_bug *blame, uint64_t txn) {
  for (size_t i = 0; i < blame->txn_count; i++)
    if (blame->txns[i] == txn) return true;
  return false;
}

static bool same_op(const isoproof_op *write, isoproof_scalar key, isoproof_scalar value) {
  bool writes = write->kind == ISOPROOF_OP_WRITE || write->kind == ISOPROOF_OP_APPEND;
  return writes && isoproof_scalar_equal(write->key, key) && isoproof_scalar_equal(write->value, value);
}

/* Whether a blamed transaction saw that write. */
static bool seen_by_blamed(const isoproof_history *history, const isoproof_injected_bug *blame,
                           const isoproof_op *write) {
  for (size_t b = 0; b < blame->txn_count; b++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_history_txn_at(history, blame->txns[b], &txn);
    for (uint64_t i = txn.first_op; i < txn.first_op + txn.op_count; i++) {
      isoproof_op op = {.struct_size = sizeof op};
      isoproof_scalar element;
      isoproof_history_op_at(history, i, &op);
      if (op.kind == ISOPROOF_OP_READ && same_op(write, op.key, op.value)) return true;
      for (uint64_t e = 0; op.kind == ISOPROOF_OP_READ_LIST && isoproof_history_element_at(history, i, e, &element);
           e++)
        if (same_op(write, op.key, element)) return true;
    }
  }
  return false;
}

static void copy_op(isoproof_builder *builder, const isoproof_history *history, uint64_t number,
                    const isoproof_op *op) {
  isoproof_scalar elements[256];
  if (op->kind != ISOPROOF_OP_READ_LIST) {
    assert_int_equal(isoproof_builder_op(builder, op->kind, op->key, op->value, NULL), ISOPROOF_OK);
    return;
  }
  assert_true(op->element_count < 256);
  for (uint64_t e = 0; e < op->element_count; e++) isoproof_history_element_at(history, number, e, &elements[e]);
  assert_int_equal(isoproof_builder_elements(builder, op->kind, op->key, elements, op->element_count, NULL),
                   ISOPROOF_OK);
}

/* The blamed transactions, and of the others only the writes that those saw. */
static isoproof_history *blamed_history(const isoproof_history *history, const isoproof_injected_bug *blame) {
  isoproof_builder *builder;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history *part = NULL;
  assert_int_equal(isoproof_builder_new(&builder, NULL), ISOPROOF_OK);
  isoproof_history_counts(history, &counts);
  for (uint64_t t = 0; t < counts.transactions; t++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    isoproof_session session = {.struct_size = sizeof session};
    uint32_t number;
    isoproof_history_txn_at(history, t, &txn);
    isoproof_history_session_at(history, txn.session, &session);
    assert_int_equal(isoproof_builder_session(builder, session.name, &number, NULL), ISOPROOF_OK);
    isoproof_builder_begin(builder, number, txn.status, NULL);
    isoproof_builder_times(builder, txn.start, txn.end, NULL);
    for (uint64_t i = txn.first_op; i < txn.first_op + txn.op_count; i++) {
      isoproof_op op = {.struct_size = sizeof op};
      isoproof_history_op_at(history, i, &op);
      bool write = op.kind == ISOPROOF_OP_WRITE || op.kind == ISOPROOF_OP_APPEND;
      if (is_blamed(blame, t) || (write && seen_by_blamed(history, blame, &op))) copy_op(builder, history, i, &op);
    }
  }
  assert_int_equal(isoproof_builder_finish(builder, &part, NULL), ISOPROOF_OK);
  isoproof_builder_free(builder);
  return part;
}

static void check_bug(isoproof_sim_bug bug, uint64_t seed, bool lists) {
  isoproof_sim_options options = small_options(seed, ISOPROOF_SIM_SERIALIZABLE, lists);
  options.sessions = 4;
  options.txns = seed % 7;
  if (options.keys < 2) options.keys = 2;
  options.bugs[bug] = 1;
  isoproof_injected_bugs *blames = NULL;
  isoproof_injected_bug blame = {.struct_size = sizeof blame};
  isoproof_history *history = simulate(&options, &blames);
  oracle_verdicts verdicts;
  if (!oracle_judge(history, &verdicts)) fail_msg("seed %lu: cannot be judged", (unsigned long)seed);
  expect_verdicts(&verdicts, bug, seed, lists ? "lists" : "registers");
  assert_int_equal(isoproof_injected_bug_count(blames), 1);
  assert_true(isoproof_injected_bug_at(blames, 0, &blame));
  assert_false(isoproof_injected_bug_at(blames, 1, &blame));
  assert_int_equal(blame.bug, bug);
  assert_string_equal(blame.level, isoproof_sim_bug_level(bug));
  oracle_level level = oracle_level_find(blame.level);
  assert_true(level < ORACLE_LEVELS);
  assert_false(verdicts.satisfied[level]);
  isoproof_history *part = blamed_history(history, &blame);
  if (!oracle_judge(part, &verdicts)) fail_msg("seed %lu: blamed part cannot be judged", (unsigned long)seed);
  expect_verdicts(&verdicts, bug, seed, "blamed transactions alone");
  isoproof_history_free(part);
  isoproof_history_free(history);
  isoproof_injected_bugs_free(blames);
}

static void bugs_break_exactly_their_levels(void **state) {
  (void)state;
  for (int bug = 0; bug < ISOPROOF_SIM_BUG_PHANTOM; bug++)
    for (uint64_t seed = 0; seed < BUG_HISTORIES; seed++) {
      if (bug != ISOPROOF_SIM_BUG_DUPLICATE_APPEND) check_bug((isoproof_sim_bug)bug, seed, false);
      check_bug((isoproof_sim_bug)bug, seed, true);
    }
}

/* In a run at any level, a bug breaks its own level. */
static void bugs_break_their_level_in_weak_runs(void **state) {
  (void)state;
  for (int bug = 0; bug < ISOPROOF_SIM_BUG_PHANTOM; bug++)
    for (uint64_t seed = 0; seed < BUG_HISTORIES; seed++) {
      isoproof_sim_level run = (isoproof_sim_level)(seed % ISOPROOF_SIM_LEVELS);
      bool lists = bug == ISOPROOF_SIM_BUG_DUPLICATE_APPEND || seed % 5 == 0;
      isoproof_sim_options options = small_options(seed, run, lists);
      options.sessions = 4;
      options.txns = seed % 6;
      if (options.keys < 2) options.keys = 2;
      options.bugs[bug] = 1;
      isoproof_history *history = simulate(&options, NULL);
      oracle_verdicts verdicts;
      assert_true(oracle_judge(history, &verdicts));
      oracle_level broken = oracle_level_find(isoproof_sim_bug_level((isoproof_sim_bug)bug));
      if (verdicts.satisfied[broken])
        fail_msg("%s at %s, seed %lu: not broken", isoproof_sim_bug_name((isoproof_sim_bug)bug),
                 isoproof_sim_level_name(run), (unsigned long)seed);
      oracle_level promised = expectations[run].promised;
      bool alike = promised == broken || oracle_implies(promised, broken);
      bool both = is_broken_by((isoproof_sim_bug)bug, (int)promised);
      if (!alike && !both && !verdicts.satisfied[promised])
        fail_msg("%s at %s, seed %lu: more than its level is broken", isoproof_sim_bug_name((isoproof_sim_bug)bug),
                 isoproof_sim_level_name(run), (unsigned long)seed);
      isoproof_history_free(history);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bugs_break_exactly_their_levels),
      cmocka_unit_test(bugs_break_their_level_in_weak_runs),
      cmocka_unit_test(levels_hold_for_registers),
      cmocka_unit_test(levels_hold_for_lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
