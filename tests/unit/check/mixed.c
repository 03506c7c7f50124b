/* Mixed levels: against the oracle, against the levels that all transactions share, and what follows when one is raised. */
#include "tests/oracle/mixed.h"
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

/* ---- one history ---- */

typedef struct {
  char problem[256];
  bool judged, satisfied;
  uint64_t violations, codes[256]; /* anomalies that were shown, by number */
} trial;

/* Every anomaly has a witness that stood up to the judge and names whose level it is. */
static void look_at_witnesses(const isoproof_result *result, trial *t) {
  for (size_t i = 0; i < isoproof_result_anomaly_count(result) && t->problem[0] == '\0'; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (!isoproof_result_anomaly_at(result, i, &anomaly)) {
      snprintf(t->problem, sizeof t->problem, "anomaly %zu has no witness", i);
      return;
    }
    t->codes[isoproof_anomaly_find(anomaly.code)->number]++;
    bool named = strcmp(anomaly.level, "mixed") != 0 || strstr(anomaly.explanation, " runs at ") != NULL ||
                 strstr(anomaly.explanation, "run at ") != NULL;
    bool missed = false;
    for (size_t k = 0; k < anomaly.edge_count; k++) missed |= strcmp(anomaly.edges[k].kind, "RW") == 0;
    for (size_t c = 0; c < anomaly.case_count; c++)
      for (size_t k = 0; k < anomaly.cases[c].edge_count; k++)
        missed |= strcmp(anomaly.cases[c].edges[k].kind, "RW") == 0;
    if (missed && !named) snprintf(t->problem, sizeof t->problem, "no level is named: %.150s", anomaly.explanation);
  }
  if (isoproof_result_anomaly_count(result) == 0) snprintf(t->problem, sizeof t->problem, "violated without a witness");
}

static isoproof_verdict library_says(isoproof_history *history, const char *level, bool certificate, trial *t) {
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = &level, .level_count = 1, .certificate = certificate};
  isoproof_result *result;
  isoproof_error error;
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) {
    snprintf(t->problem, sizeof t->problem, "%s: %.200s", level, error.message);
    return ISOPROOF_UNDECIDED;
  }
  isoproof_verdict verdict = isoproof_result_verdict_of(result, level);
  if (verdict == ISOPROOF_VIOLATED) look_at_witnesses(result, t);
  isoproof_result_free(result);
  return verdict;
}

/* Whether library and oracle differ; the caller keeps count. */
static bool differs(const sketch *s, void *user) {
  trial *t = user;
  isoproof_history *history = sketch_history(s);
  t->problem[0] = '\0';
  t->judged = mixed_judge(history, &t->satisfied);
  if (t->judged) {
    isoproof_verdict verdict = library_says(history, "mixed", true, t);
    bool right = verdict == (t->satisfied ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED);
    if (t->problem[0] == '\0' && !right)
      snprintf(t->problem, sizeof t->problem, "the oracle says %s, the library %s",
               t->satisfied ? "satisfied" : "violated", isoproof_verdict_name(verdict));
  }
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

static void fail_with(sketch *s, trial *t, bool (*fails)(const sketch *, void *), uint64_t number) {
  char text[4096];
  sketch_shrink(s, fails, t);
  fails(s, t);
  sketch_print(s, text, sizeof text);
  fail_msg("history %llu: %s\n%s", (unsigned long long)number, t->problem, text);
}

/* ---- levels of transactions ---- */

/* Now and then only the three that databases have. */
static void draw_levels(uint64_t *random, sketch *s) {
  static const uint8_t usual[] = {MIXED_READ_COMMITTED, MIXED_SNAPSHOT, MIXED_SERIALIZABLE};
  bool few = sketch_below(random, 2) == 0;
  for (unsigned i = 0; i < s->count; i++) {
    uint8_t any = (uint8_t)(MIXED_READ_COMMITTED + sketch_below(random, MIXED_LEVELS - MIXED_READ_COMMITTED));
    s->txns[i].level = few ? usual[sketch_below(random, 3)] : any;
  }
}

static void draw(uint64_t *random, sketch *s) {
  if (sketch_below(random, 3) == 0)
    sketch_draw_lists(random, s);
  else
    sketch_draw(random, s);
  if (sketch_below(random, 4) == 0) sketch_draw_times(random, s);
  draw_levels(random, s);
}

static void agrees_with_the_oracle(void **state) {
  (void)state;
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 6000);
  uint64_t random = setting("ISOPROOF_RANDOM_SEED", 20261116), judged = 0, violated = 0;
  trial t = {.judged = false};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    draw(&random, &s);
    if (differs(&s, &t)) fail_with(&s, &t, differs, i);
    judged += t.judged;
    violated += t.judged && !t.satisfied;
  }
  print_message("%llu histories judged, %llu violated\n", (unsigned long long)judged, (unsigned long long)violated);
  assert_true(violated * 10 > judged && (judged - violated) * 10 > judged);
}

/* Where all transactions share a level, the verdict is that of the level. */
static bool differs_from_level(const sketch *s, void *user) {
  trial *t = user;
  isoproof_history *history = sketch_history(s);
  const char *level = mixed_level_id((mixed_level)s->txns[0].level);
  t->problem[0] = '\0';
  isoproof_verdict mixed = library_says(history, "mixed", false, t), alone = library_says(history, level, false, t);
  if (t->problem[0] == '\0' && mixed != alone)
    snprintf(t->problem, sizeof t->problem, "mixed is %s, but %s, the level of all, is %s", isoproof_verdict_name(mixed),
             level, isoproof_verdict_name(alone));
  oracle_verdicts verdicts;
  oracle_level all = mixed_for_all((mixed_level)s->txns[0].level);
  bool satisfied;
  if (oracle_judge_some(history, 1u << all, &verdicts) && mixed_judge(history, &satisfied) &&
      satisfied != verdicts.satisfied[all])
    snprintf(t->problem, sizeof t->problem, "the oracles differ on %s", level);
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

static void is_the_level_that_all_share(void **state) {
  (void)state;
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 6000) / 3, random = 77;
  trial t = {.judged = false};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    draw(&random, &s);
    for (unsigned k = 1; k < s.count; k++) s.txns[k].level = s.txns[0].level;
    if (s.count > 0 && differs_from_level(&s, &t)) fail_with(&s, &t, differs_from_level, i);
  }
}

/* To raise the level of one transaction never mends anything. */
static void raising_a_level_never_mends(void **state) {
  (void)state;
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 6000) / 3, random = 99, fell = 0;
  trial t = {.judged = false};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    draw(&random, &s);
    if (s.count == 0) continue;
    sketch_txn *txn = &s.txns[sketch_below(&random, s.count)];
    if (txn->level == MIXED_SERIALIZABLE) txn->level = MIXED_READ_COMMITTED;
    isoproof_history *low = sketch_history(&s);
    txn->level = (uint8_t)(txn->level + 1 + sketch_below(&random, MIXED_SERIALIZABLE - txn->level));
    isoproof_history *high = sketch_history(&s);
    isoproof_verdict before = library_says(low, "mixed", false, &t), after = library_says(high, "mixed", false, &t);
    if (t.problem[0] != '\0') fail_msg("history %llu: %s", (unsigned long long)i, t.problem);
    assert_true(before == ISOPROOF_SATISFIED || after == ISOPROOF_VIOLATED);
    fell += before != after;
    isoproof_history_free(low);
    isoproof_history_free(high);
  }
  assert_true(fell > 0);
}

/* ---- without levels ---- */

static void needs_a_level_of_everybody(void **state) {
  (void)state;
  static const uint8_t given[][2] = {{MIXED_NONE, MIXED_NONE}, {MIXED_SNAPSHOT, MIXED_NONE}};
  for (size_t i = 0; i < 2; i++) {
    sketch s = {.count = 2};
    for (unsigned k = 0; k < 2; k++)
      s.txns[k] = (sketch_txn){.session = (uint8_t)k, .count = 1, .level = given[i][k], .ops = {{true, 0, (uint8_t)(k + 1), 0, {0}}}};
    isoproof_history *history = sketch_history(&s);
    isoproof_check_options options = {.struct_size = sizeof options};
    const char *level = "mixed";
    isoproof_result *result;
    assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
    assert_int_equal(isoproof_result_verdict_of(result, "serializable"), ISOPROOF_SATISFIED);
    assert_int_equal(isoproof_result_verdict_of(result, "mixed"), ISOPROOF_UNDECIDED);
    isoproof_result_free(result);
    options.levels = &level;
    options.level_count = 1;
    assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
    assert_int_equal(isoproof_result_verdict_of(result, "mixed"), ISOPROOF_UNDECIDED);
    assert_non_null(strstr(isoproof_result_unknown_reason(result), "level of"));
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_the_oracle),
      cmocka_unit_test(is_the_level_that_all_share),
      cmocka_unit_test(raising_a_level_never_mends),
      cmocka_unit_test(needs_a_level_of_everybody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
