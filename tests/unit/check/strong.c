/* The strong levels against the oracle, on random histories of registers and lists, with times and without, through
 * isoproof_check and through every combination of the stages of the search.  ISOPROOF_RANDOM_HISTORIES sets how many
 * (100,000 in the test command), ISOPROOF_RANDOM_SEED where they start. */
#include "tests/unit/unit.h"

#include "check/axioms/weak.h"
#include "check/strong/scenario/make.h"
#include "check/strong/strong_levels.h"
#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"

enum { STAGES = 8 };

typedef struct {
  char problem[512]; /* empty where everybody agrees */
  unsigned stages;   /* which ones the search leaves out */
  const char *only;  /* the level that is asked for alone */
  bool judged;
  oracle_verdicts verdicts;
  bool adya_snapshot, adya_serializable;
  uint64_t suspects, violated;
} trial;

static bool needs_times(const char *level) { return isoproof_level_find(level)->needs_times; }

/* Levels of the oracle that the library searches version orders for. */
static bool is_searched(int level) {
  return iso_strong_level_of(isoproof_level_find(oracle_level_id((oracle_level)level))) != NULL;
}

/* What the oracle says about a level by id. */
static bool expected(const trial *t, const char *level) {
  if (strcmp(level, "PL-SI") == 0) return t->adya_snapshot;
  if (strcmp(level, "PL-3") == 0) return t->adya_serializable;
  return t->verdicts.satisfied[oracle_level_find(level)];
}

static void compare(trial *t, const char *how, const char *level, isoproof_verdict verdict) {
  isoproof_verdict right = expected(t, level) ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED;
  if (verdict == right || t->problem[0] != '\0') return;
  snprintf(t->problem, sizeof t->problem, "%s, %s: the oracle says %s, the library %s", level, how,
           isoproof_verdict_name(right), isoproof_verdict_name(verdict));
}

/* No verdict contradicts another one. */
static void check_implications(trial *t, const isoproof_result *result) {
  enum { MOST = 64 };
  isoproof_level_verdict verdicts[MOST];
  for (size_t i = 0; i < MOST; i++) verdicts[i].struct_size = sizeof verdicts[i];
  const isoproof_level_info *levels[MOST];
  size_t count = 0;
  for (; count < MOST && isoproof_result_level_at(result, count, &verdicts[count]); count++) {
    levels[count] = isoproof_level_find(verdicts[count].level);
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < count; k++) {
      if (verdicts[i].verdict != ISOPROOF_SATISFIED || verdicts[k].verdict == ISOPROOF_SATISFIED) continue;
      if (!isoproof_level_implies(levels[i], levels[k])) continue;
      snprintf(t->problem, sizeof t->problem, "%s is satisfied, but %s is not", verdicts[i].level, verdicts[k].level);
    }
  }
}

static void check(trial *t, const sketch *s, isoproof_history *history, const char *only) {
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &only, .level_count = only != NULL};
  isoproof_result *result;
  isoproof_error error;
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) {
    snprintf(t->problem, sizeof t->problem, "%s: %.400s", only != NULL ? only : "all levels", error.message);
    return;
  }
  if (only != NULL) {
    compare(t, "alone", only, isoproof_result_verdict_of(result, only));
  } else {
    for (int l = 0; l < ORACLE_LEVELS; l++) {
      const char *level = oracle_level_id((oracle_level)l);
      if (s->timed || !needs_times(level))
        compare(t, "with all others", level, isoproof_result_verdict_of(result, level));
    }
    check_implications(t, result);
  }
  bool violated = isoproof_result_weakest_violated_at(result, 0) != NULL;
  if (violated != (isoproof_result_anomaly_count(result) > 0) && t->problem[0] == '\0') {
    snprintf(t->problem, sizeof t->problem, "%s: a violation without a witness", only != NULL ? only : "all levels");
  }
  isoproof_result_free(result);
}

/* Whether single reads are in order, so that the search has something to decide. */
static bool reads_are_sound(const trial *t, const iso_weak *weak) {
  for (int tap = 0; tap < ORACLE_TAPS; tap++) {
    if (t->verdicts.tap[tap] && tap != ORACLE_TAP_CYCLIC) return false;
  }
  return weak->versions.broken.count == 0 && !weak->versions.torn;
}

/* Whether those who are to blame violate the level by themselves. */
static bool is_repeated_by_suspects(const iso_weak *weak, const iso_strong_level *level, const iso_strong *strong) {
  iso_scenario scenario = {.refuted = false};
  isoproof_error error;
  assert_ok_error(iso_scenario_make(&weak->view, level, &weak->versions, strong->suspects.items, strong->suspects.count,
                                    NULL, &scenario, &error),
                  error);
  bool refuted = scenario.refuted;
  iso_scenario_free(&scenario);
  return refuted;
}

/* The search by itself, with some of its stages left out. */
static void search(trial *t, const sketch *s, isoproof_history *history) {
  iso_weak weak;
  isoproof_error error;
  assert_ok_error(iso_weak_begin(history, NULL, &weak, &error), error);
  iso_strong_options options = {.no_guess = (t->stages & 1) != 0,
                                .no_saturation = (t->stages & 2) != 0,
                                .no_clocks = (t->stages & 4) != 0,
                                .count_pairs = (t->stages & 8) != 0,
                                .rows = (t->stages & 16) != 0};
  for (int i = 0; i < ORACLE_LEVELS && t->problem[0] == '\0' && reads_are_sound(t, &weak); i++) {
    const char *id = oracle_level_id((oracle_level)i);
    if (!is_searched(i) || (!s->timed && needs_times(id))) continue;
    iso_strong strong;
    const iso_strong_level *level = iso_strong_level_of(isoproof_level_find(id));
    isoproof_status status =
        iso_strong_decide(&weak.view, &weak.versions, level, NULL, &options, NULL, &strong, &error);
    if (status != ISOPROOF_OK) {
      snprintf(t->problem, sizeof t->problem, "%s, stages %u: %.400s", id, t->stages, error.message);
      break;
    }
    char how[32];
    snprintf(how, sizeof how, "stages %u", t->stages);
    isoproof_verdict verdict = !strong.decided   ? ISOPROOF_UNDECIDED
                               : strong.violated ? ISOPROOF_VIOLATED
                                                 : ISOPROOF_SATISFIED;
    compare(t, how, id, verdict);
    t->violated += strong.violated;
    t->suspects += strong.suspects.count;
    if (strong.violated && strong.suspects.count == 0)
      snprintf(t->problem, sizeof t->problem, "%s: nobody to blame", id);
    if (strong.violated && options.rows && !is_repeated_by_suspects(&weak, level, &strong))
      snprintf(t->problem, sizeof t->problem, "%s, stages %u: the suspects alone violate nothing", id, t->stages);
    iso_strong_free(&strong);
  }
  iso_weak_free(&weak);
}

/* Whether the library and the oracle differ on a sketch; says how. */
static bool differs(const sketch *s, void *user) {
  trial *t = user;
  isoproof_history *history = sketch_history(s);
  t->problem[0] = '\0';
  t->judged =
      oracle_judge(history, &t->verdicts) && oracle_judge_unordered(history, &t->adya_snapshot, &t->adya_serializable);
  if (t->judged) check(t, s, history, NULL);
  bool alone = t->judged && t->problem[0] == '\0' && (s->timed || !needs_times(t->only));
  if (alone) check(t, s, history, t->only);
  if (t->judged && t->problem[0] == '\0') search(t, s, history);
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

static const char *draw_level(uint64_t *random) {
  static const char *const others[] = {"PL-SI", "PL-3", "causal"};
  int searched[ORACLE_LEVELS], count = 0;
  for (int i = 0; i < ORACLE_LEVELS; i++) {
    if (is_searched(i)) searched[count++] = i;
  }
  uint64_t number = sketch_below(random, (uint64_t)count + 3);
  return number < 3 ? others[number] : oracle_level_id((oracle_level)searched[number - 3]);
}

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static void agree(void (*draw)(uint64_t *state, sketch *out), uint64_t histories, uint64_t random) {
  uint64_t satisfied[ORACLE_LEVELS] = {0}, violated[ORACLE_LEVELS] = {0}, suspects = 0, blamed = 0;
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    trial t = {.stages = (unsigned)sketch_below(&random, 4 * STAGES), .only = draw_level(&random)};
    draw(&random, &s);
    if (sketch_below(&random, 3) == 0) sketch_draw_times(&random, &s);
    if (differs(&s, &t)) {
      char text[4096];
      sketch_shrink(&s, differs, &t);
      differs(&s, &t);
      sketch_print(&s, text, sizeof text);
      fail_msg("history %llu: %s\n%s", (unsigned long long)i, t.problem, text);
    }
    suspects += t.suspects;
    blamed += t.violated;
    for (int l = 0; t.judged && l < ORACLE_LEVELS; l++) (t.verdicts.satisfied[l] ? satisfied : violated)[l]++;
  }
  for (int i = 0; histories >= 10000 && i < ORACLE_LEVELS; i++) {
    if (!is_searched(i)) continue;
    print_message("%-28s %7llu satisfied, %7llu violated\n", oracle_level_id((oracle_level)i),
                  (unsigned long long)satisfied[i], (unsigned long long)violated[i]);
    assert_true(satisfied[i] > 0 && violated[i] > 0);
  }
  if (blamed > 0) print_message("%.2f suspects on average\n", (double)suspects / (double)blamed);
}

static void registers(void **state) {
  (void)state;
  agree(sketch_draw, setting("ISOPROOF_RANDOM_HISTORIES", 60000) / 10 * 7, setting("ISOPROOF_RANDOM_SEED", 271828));
}

static void lists(void **state) {
  (void)state;
  agree(sketch_draw_lists, setting("ISOPROOF_RANDOM_HISTORIES", 60000) / 10 * 3,
        setting("ISOPROOF_RANDOM_SEED", 314159));
}

/* No level goes without a second opinion: but for linearizable, see below, and mixed levels, which have an oracle of
 * their own (tests/oracle/mixed.h), the oracle knows them all. */
static void oracle_knows_every_level(void **state) {
  (void)state;
  const isoproof_level_info *info;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    const iso_strong_level *strong = iso_strong_level_of(info);
    if (info->family == ISOPROOF_LEVEL_MODEL || (strong != NULL && strong->single)) continue;
    if (strong != NULL && strong->rule == ISO_RULE_MIXED) continue;
    if (oracle_level_find(info->id) == ORACLE_LEVELS) fail_msg("tests/oracle/oracle.h lacks %s", info->id);
  }
}

/* Nothing but one operation a transaction: then, and only then, linearizability is strict serializability. */
static void single_operations(void **state) {
  (void)state;
  uint64_t random = 99, seen[2] = {0};
  for (int i = 0; i < 5000; i++) {
    sketch s;
    oracle_verdicts verdicts;
    sketch_draw(&random, &s);
    sketch_draw_times(&random, &s);
    for (unsigned t = 0; t < s.count; t++) s.txns[t].count = s.txns[t].count > 0;
    isoproof_history *history = sketch_history(&s);
    isoproof_result *result;
    assert_true(oracle_judge(history, &verdicts));
    assert_ok(isoproof_check(history, NULL, NULL, &result, NULL));
    bool right = verdicts.satisfied[ORACLE_STRICT_SERIALIZABLE];
    assert_int_equal(isoproof_result_verdict_of(result, "linearizable"),
                     right ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED);
    seen[right]++;
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
  assert_true(seen[0] > 100 && seen[1] > 100);
}

/* An end before its own start says nothing; it does not contradict itself. */
static void times_that_make_no_sense(void **state) {
  (void)state;
  sketch s = {.count = 2,
              .timed = true,
              .txns = {{.session = 0, .count = 1, .start = 1, .end = 2, .ops = {{.write = true, .value = 1}}},
                       {.session = 0, .count = 1, .start = 9, .end = 3, .ops = {{.value = 1}}}}};
  isoproof_history *history = sketch_history(&s);
  isoproof_result *result;
  assert_ok(isoproof_check(history, NULL, NULL, &result, NULL));
  assert_int_equal(isoproof_result_verdict_of(result, "strict-serializable"), ISOPROOF_SATISFIED);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* What the simulator promises, on histories too large for the oracle, and what its bugs break. */
static void simulated(void **state) {
  (void)state;
  static const struct {
    isoproof_sim_level level;
    isoproof_sim_bug bug;
    const char *satisfied, *violated;
  } cases[] = {{ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_BUGS, "strict-serializable", NULL},
               {ISOPROOF_SIM_SNAPSHOT, ISOPROOF_SIM_BUGS, "strong-snapshot-isolation", "serializable"},
               {ISOPROOF_SIM_PARALLEL_SNAPSHOT, ISOPROOF_SIM_BUGS, "parallel-snapshot-isolation", "prefix"},
               {ISOPROOF_SIM_CAUSAL, ISOPROOF_SIM_BUGS, "causal", "parallel-snapshot-isolation"},
               {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_BUG_WRITE_SKEW, "snapshot-isolation", "serializable"},
               {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_BUG_LOST_UPDATE, "prefix", "parallel-snapshot-isolation"},
               {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_BUG_LONG_FORK, "parallel-snapshot-isolation", "prefix"},
               {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_BUG_STALE_READ, "serializable", "strong-snapshot-isolation"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_sim_options options = {.struct_size = sizeof options};
    isoproof_history *history;
    isoproof_result *result;
    isoproof_error error;
    isoproof_sim_defaults(&options);
    options.struct_size = sizeof options;
    options.seed = 11 + i;
    options.level = cases[i].level;
    options.sessions = 8;
    options.txns = 2000;
    options.keys = 100;
    if (cases[i].bug != ISOPROOF_SIM_BUGS) options.bugs[cases[i].bug] = 1;
    assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
    assert_ok_error(isoproof_check(history, NULL, NULL, &result, &error), error);
    assert_int_equal(isoproof_result_verdict_of(result, cases[i].satisfied), ISOPROOF_SATISFIED);
    if (cases[i].violated != NULL)
      assert_int_equal(isoproof_result_verdict_of(result, cases[i].violated), ISOPROOF_VIOLATED);
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

static isoproof_verdict decide_by(isoproof_history *history, const char *id, bool rows) {
  iso_weak weak;
  iso_strong strong;
  isoproof_error error;
  iso_strong_options options = {.no_guess = true, .rows = rows};
  const iso_strong_level *level = iso_strong_level_of(isoproof_level_find(id));
  assert_ok_error(iso_weak_begin(history, NULL, &weak, &error), error);
  assert_ok_error(iso_strong_decide(&weak.view, &weak.versions, level, NULL, &options, NULL, &strong, &error), error);
  isoproof_verdict verdict = strong.violated ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED;
  assert_true(strong.decided);
  iso_strong_free(&strong);
  iso_weak_free(&weak);
  return verdict;
}

/* In real time rows of bits are bands: histories that are long enough for these to be narrow, by rows and by clocks. */
static void rows_in_real_time(void **state) {
  (void)state;
  static const isoproof_sim_bug bugs[] = {ISOPROOF_SIM_BUGS,           ISOPROOF_SIM_BUG_WRITE_SKEW,
                                          ISOPROOF_SIM_BUG_STALE_READ, ISOPROOF_SIM_BUG_LONG_FORK,
                                          ISOPROOF_SIM_BUGS,           ISOPROOF_SIM_BUG_LOST_UPDATE};
  static const char *const levels[] = {"strict-serializable", "strong-snapshot-isolation", "serializable"};
  uint64_t random = 4711, seen[ISOPROOF_VIOLATED + 1] = {0};
  for (unsigned i = 0; i < UNLESS_SLOW(240, 12); i++) {
    isoproof_sim_options options = {.struct_size = sizeof options};
    isoproof_history *history;
    isoproof_error error;
    isoproof_sim_defaults(&options);
    options.struct_size = sizeof options;
    options.seed = 100 + i;
    options.level = i % 2 == 0 ? ISOPROOF_SIM_SERIALIZABLE : ISOPROOF_SIM_SNAPSHOT;
    options.sessions = 4 + (uint32_t)sketch_below(&random, 30);
    options.txns = 100 + sketch_below(&random, 700);
    options.ops_min = 1;
    options.ops_max = 1 + (uint32_t)sketch_below(&random, 5);
    options.keys = 5 + (uint32_t)sketch_below(&random, 60);
    options.lists = i % 5 == 4;
    if (bugs[i % 6] != ISOPROOF_SIM_BUGS) options.bugs[bugs[i % 6]] = 1;
    assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
    isoproof_verdict verdict = decide_by(history, levels[i % 3], false);
    seen[verdict]++;
    if (decide_by(history, levels[i % 3], true) != verdict)
      fail_msg("seed %u: %s differs by rows", 100 + i, levels[i % 3]);
    isoproof_history_free(history);
  }
  assert_true(seen[ISOPROOF_SATISFIED] > 0 && seen[ISOPROOF_VIOLATED] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(oracle_knows_every_level),
                                     cmocka_unit_test(simulated),
                                     cmocka_unit_test(single_operations),
                                     cmocka_unit_test(times_that_make_no_sense),
                                     cmocka_unit_test(rows_in_real_time),
                                     cmocka_unit_test(registers),
                                     cmocka_unit_test(lists)};
  return cmocka_run_group_tests_name("strong", tests, NULL, NULL);
}
