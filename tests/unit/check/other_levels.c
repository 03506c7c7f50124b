/* Levels that nobody asked for: the same verdicts as ever, in any order of deciding, and nothing that contradicts
 * itself where a budget or a cancellation leaves some of them. */
#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

static uint64_t setting(const char *name, uint64_t usual) {
  const char *value = getenv(name);
  return value != NULL ? strtoull(value, NULL, 10) : usual;
}

/* How a check is limited. */
typedef enum limit { NONE, NO_TIME, CANCELLED_EARLY, CANCELLED_LATE, LIMITS } limit;

/* Cancels as soon as that many levels are decided. */
typedef struct canceller {
  isoproof_task *task;
  uint32_t after;
} canceller;

static void cancel(const isoproof_progress *progress, void *user) {
  const canceller *c = user;
  if (progress->levels_total > 0 && progress->levels_decided >= c->after) isoproof_task_cancel(c->task);
}

typedef struct trial {
  const char *asked; /* NULL none */
  limit limit;
  char problem[256];
  size_t left;
} trial;

static bool is_asked(const trial *t, const char *level) { return t->asked != NULL && strcmp(t->asked, level) == 0; }

/* Every verdict is that of the oracle, every level has one or a reason, and every anomaly breaks a violated level. */
static void compare(const isoproof_result *result, const oracle_verdicts *expected, trial *t) {
  for (int i = 0; i < ORACLE_LEVELS; i++) {
    const char *id = oracle_level_id((oracle_level)i), *reason = NULL, *left = NULL;
    isoproof_verdict verdict = isoproof_result_verdict_of(result, id);
    for (size_t k = 0; left == NULL && isoproof_result_undecided_at(result, k, &reason) != NULL; k++)
      if (strcmp(isoproof_result_undecided_at(result, k, &reason), id) == 0) left = id;
    bool decided = verdict == ISOPROOF_SATISFIED || verdict == ISOPROOF_VIOLATED;
    if (decided && (verdict == ISOPROOF_SATISFIED) != expected->satisfied[i])
      snprintf(t->problem, sizeof t->problem, "%s is %s", id, isoproof_verdict_name(verdict));
    if (decided == (left != NULL) && isoproof_level_find(id)->needs_times == false)
      snprintf(t->problem, sizeof t->problem, "%s is %s", id,
               decided ? "decided and left" : "neither decided nor left");
    if (is_asked(t, id) && !decided) snprintf(t->problem, sizeof t->problem, "%s was asked for and is left", id);
    if (left != NULL) t->left++;
  }
}

static void compare_anomalies(const isoproof_result *result, trial *t) {
  bool beside = false;
  uint32_t last = 0;
  for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    assert_true(isoproof_result_anomaly_at(result, i, &anomaly));
    const isoproof_level_info *level = isoproof_level_find(anomaly.level);
    if (isoproof_result_verdict_of(result, anomaly.level) != ISOPROOF_VIOLATED)
      snprintf(t->problem, sizeof t->problem, "%s breaks %s, which is not violated", anomaly.code, anomaly.level);
    bool asked_hit = t->asked == NULL || (isoproof_result_verdict(result) == ISOPROOF_VIOLATED &&
                                          isoproof_level_implies(isoproof_level_find(t->asked), level));
    if (asked_hit && beside) snprintf(t->problem, sizeof t->problem, "%s comes too late", anomaly.code);
    if (asked_hit != !beside) last = 0;
    beside = !asked_hit;
    if (level->number < last) snprintf(t->problem, sizeof t->problem, "%s comes after stronger levels", anomaly.code);
    last = level->number;
  }
  bool violated = isoproof_result_weakest_violated_at(result, 0) != NULL;
  if (violated != (isoproof_result_anomaly_count(result) > 0))
    snprintf(t->problem, sizeof t->problem, "a violation without a witness, or the other way round");
}

static bool differs(const sketch *s, void *user) {
  trial *t = user;
  oracle_verdicts expected;
  isoproof_history *history = sketch_history(s);
  isoproof_task *task;
  isoproof_result *result;
  isoproof_error error = {.offset = -1};
  t->problem[0] = 0;
  t->left = 0;
  assert_non_null(history);
  if (!oracle_judge(history, &expected)) {
    isoproof_history_free(history);
    return false;
  }
  assert_ok(isoproof_task_new(&task));
  canceller c = {task, t->limit == CANCELLED_EARLY ? 0 : 8};
  if (t->limit == CANCELLED_EARLY || t->limit == CANCELLED_LATE) isoproof_task_set_progress(task, cancel, &c);
  isoproof_check_options options = {.struct_size = sizeof options,
                                    .levels = &t->asked,
                                    .level_count = t->asked != NULL,
                                    .others = true,
                                    .budget = t->limit == NO_TIME ? 1e-9 : 0};
  if (isoproof_check(history, &options, task, &result, &error) == ISOPROOF_OK) {
    compare(result, &expected, t);
    compare_anomalies(result, t);
    if (t->limit == NONE && t->left > 0) snprintf(t->problem, sizeof t->problem, "levels are left without a reason");
    isoproof_result_free(result);
  } else {
    snprintf(t->problem, sizeof t->problem, "%.200s", error.message);
  }
  isoproof_task_free(task);
  isoproof_history_free(history);
  return t->problem[0] != 0;
}

static void agree(void (*draw)(uint64_t *state, sketch *out), uint64_t histories, uint64_t random) {
  uint64_t left[LIMITS] = {0};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    uint64_t level = sketch_below(&random, ORACLE_LEVELS + 2);
    trial t = {.limit = (limit)sketch_below(&random, LIMITS)};
    draw(&random, &s);
    bool times = sketch_below(&random, 3) == 0;
    if (times) sketch_draw_times(&random, &s);
    if (level < ORACLE_LEVELS) t.asked = oracle_level_id((oracle_level)level);
    if (t.asked != NULL && isoproof_level_find(t.asked)->needs_times && !times) t.asked = NULL;
    if (differs(&s, &t)) {
      char text[4096];
      sketch_shrink(&s, differs, &t);
      differs(&s, &t);
      sketch_print(&s, text, sizeof text);
      fail_msg("history %llu, asked %s, limit %d: %s\n%s", (unsigned long long)i, t.asked != NULL ? t.asked : "nothing",
               (int)t.limit, t.problem, text);
    }
    left[t.limit] += t.left;
  }
  assert_int_equal(left[NONE], 0);
  for (int i = NO_TIME; histories >= 1000 && i < LIMITS; i++) assert_true(left[i] > 0);
}

static void registers(void **state) {
  (void)state;
  agree(sketch_draw, setting("ISOPROOF_RANDOM_HISTORIES", 60000) / 2, setting("ISOPROOF_RANDOM_SEED", 1618033));
}

static void lists(void **state) {
  (void)state;
  agree(sketch_draw_lists, setting("ISOPROOF_RANDOM_HISTORIES", 60000) / 4, setting("ISOPROOF_RANDOM_SEED", 577215));
}

/* Where values are not unique, the same holds of what is left. */
static void duplicates(void **state) {
  (void)state;
  static const char text[] = "w(1,1,0,0)\nr(1,1,1,1)\nw(1,1,2,2)\nw(2,1,2,2)\nr(2,0,1,3)\n";
  isoproof_history *history;
  isoproof_open_options open = {.struct_size = sizeof open, .format = "plume"};
  assert_ok(isoproof_history_open_memory(text, sizeof text - 1, "h", &open, NULL, &history, NULL));
  const char *asked = "read-committed";
  for (int limited = 0; limited < 2; limited++) {
    isoproof_check_options options = {.struct_size = sizeof options,
                                      .levels = &asked,
                                      .level_count = 1,
                                      .duplicate_values = true,
                                      .others = true,
                                      .budget = limited ? 1e-9 : 0};
    isoproof_result *result;
    const char *reason = NULL;
    assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
    assert_int_equal(isoproof_result_verdict(result), ISOPROOF_SATISFIED);
    assert_int_equal(isoproof_result_undecided_at(result, 0, &reason) != NULL, limited);
    if (limited) assert_string_equal(reason, "the time budget was used up");
    if (!limited) assert_int_equal(isoproof_result_verdict_of(result, "serializable"), ISOPROOF_SATISFIED);
    isoproof_result_free(result);
  }
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(registers), cmocka_unit_test(lists),
                                     cmocka_unit_test(duplicates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
