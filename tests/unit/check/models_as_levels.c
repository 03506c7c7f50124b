/* Models of Elle's among the levels: decided as under `models`, on random histories of registers and lists, alone and
 * beside levels; and what levels are called. */
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

static unsigned runs(void) {
  const char *wanted = getenv("ISOPROOF_RANDOM_HISTORIES");
  unsigned long count = wanted != NULL ? strtoul(wanted, NULL, 10) / 500 : 400;
  return count < 50 ? 50 : (unsigned)count;
}

/* The models that a level of the same name does not hide, and that Elle's way decides. */
static const char *const models[] = {"read-uncommitted",    "PL-2",        "cursor-stability", "consistent-view", "rr",
                                     "strong-session-PL-1", "strong-PL-2", "view-serializable"};
enum { MODELS = sizeof models / sizeof *models };

/* The verdict on a model, asked for as a level or as a model; `undecided` when the history is no workload of Elle's. */
static bool judge(isoproof_history *history, const char *name, bool as_level, isoproof_verdict *verdict) {
  isoproof_check_options options = {.struct_size = sizeof options,
                                    .levels = &name,
                                    .level_count = as_level ? 1 : 0,
                                    .models = &name,
                                    .model_count = as_level ? 0 : 1};
  isoproof_result *result;
  isoproof_error error;
  isoproof_status status = isoproof_check(history, &options, NULL, &result, &error);
  if (status == ISOPROOF_ERR_FORMAT) return false;
  assert_ok_error(status, error);
  *verdict = isoproof_result_verdict(result);
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++)
    assert_true(isoproof_result_anomaly_at(result, i, &anomaly));
  if (*verdict == ISOPROOF_VIOLATED) assert_true(isoproof_result_anomaly_count(result) > 0);
  isoproof_result_free(result);
  return true;
}

static isoproof_history *draw(uint64_t *seed, sketch *s) {
  if (sketch_below(seed, 2) == 0)
    sketch_draw_lists(seed, s);
  else
    sketch_draw(seed, s);
  if (sketch_below(seed, 2) == 0) sketch_draw_times(seed, s);
  return sketch_history(s);
}

static void test_same_verdicts(void **state) {
  (void)state;
  uint64_t seed = 14;
  size_t seen[4] = {0};
  for (unsigned run = 0; run < runs(); run++) {
    sketch s;
    isoproof_history *history = draw(&seed, &s);
    for (size_t m = 0; m < MODELS; m++) {
      isoproof_verdict as_level = ISOPROOF_VERDICT_NONE, as_model = ISOPROOF_VERDICT_NONE;
      bool level_judged = judge(history, models[m], true, &as_level);
      assert_true(judge(history, models[m], false, &as_model) == level_judged);
      if (as_level == as_model) {
        seen[as_level]++;
        continue;
      }
      char text[2000];
      sketch_print(&s, text, sizeof text);
      fail_msg("%s is %s as a level and %s as a model:\n%s", models[m], isoproof_verdict_name(as_level),
               isoproof_verdict_name(as_model), text);
    }
    isoproof_history_free(history);
  }
  assert_true(seen[ISOPROOF_SATISFIED] > 0 && seen[ISOPROOF_VIOLATED] > 0);
}

/* Everything at once: no verdict contradicts an implication (which would be an internal error), and what was decided
 * alone is decided here. */
static void test_beside_levels(void **state) {
  (void)state;
  uint64_t seed = 15;
  const char *names[128];
  size_t count = 0;
  const isoproof_level_info *info;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    if (isoproof_level_find(info->id) == info && count < 128) names[count++] = info->id;
  }
  isoproof_check_options options = {.struct_size = sizeof options, .levels = names, .level_count = count};
  for (unsigned run = 0; run < runs() / 10; run++) { /* each is tens of checks */
    sketch s;
    isoproof_history *history = draw(&seed, &s);
    isoproof_result *result;
    isoproof_error error;
    isoproof_status status = isoproof_check(history, &options, NULL, &result, &error);
    char text[2000];
    sketch_print(&s, text, sizeof text);
    if (status != ISOPROOF_OK && status != ISOPROOF_ERR_FORMAT) fail_msg("%s:\n%s", error.message, text);
    for (size_t m = 0; status == ISOPROOF_OK && m < MODELS; m++) {
      isoproof_verdict alone, beside = isoproof_result_verdict_of(result, models[m]);
      assert_true(judge(history, models[m], true, &alone));
      if (alone != ISOPROOF_UNDECIDED && alone != beside) fail_msg("%s:\n%s", models[m], text);
    }
    if (status == ISOPROOF_OK) isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

/* ---- names ---- */

static void expect_called(const char *typed, bool as_model, const char *id, const char *called) {
  static const char text[] = "w(1,1,0,0)\nr(1,1,1,1)\n";
  isoproof_history *history;
  isoproof_result *result;
  isoproof_error error;
  isoproof_check_options options = {.struct_size = sizeof options,
                                    .levels = &typed,
                                    .level_count = as_model ? 0 : 1,
                                    .models = &typed,
                                    .model_count = as_model ? 1 : 0};
  assert_ok_error(isoproof_history_open_memory(text, sizeof text - 1, "h", NULL, NULL, &history, &error), error);
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  isoproof_level_verdict v = {.struct_size = sizeof v};
  assert_true(isoproof_result_level_at(result, 0, &v));
  assert_string_equal(v.level, id);
  assert_string_equal(v.called, called);
  assert_int_equal(isoproof_result_verdict_of(result, typed), v.verdict);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

static void test_called_as_typed(void **state) {
  (void)state;
  expect_called("serializable", false, "serializable", "serializable");
  expect_called("SER", false, "serializable", "serializable");
  expect_called("serializable", true, "PL-3", "serializable");
  expect_called("ser", true, "PL-3", "serializable");
  expect_called("pl_3", true, "PL-3", "PL-3");
  expect_called("PL-3", false, "PL-3", "PL-3");
  expect_called("rr", false, "PL-2.99", "repeatable-read");
  expect_called("repeatable read", true, "PL-2.99", "repeatable-read");
  expect_called("sser", true, "PL-SS", "strict-serializable");
  expect_called("strong-serializable", true, "PL-SS", "strong-serializable");
  expect_called("tcc", false, "causal", "causal");
  expect_called("tcc", true, "causal-cerone", "causal-cerone");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_verdicts), cmocka_unit_test(test_beside_levels),
                                     cmocka_unit_test(test_called_as_typed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
