/* The weak levels on histories of lists: against the oracle, by example, on simulated databases, and on the histories
 * of Elle's own tests, where they are at hand. */
#include "tests/unit/unit.h"

#include "check/axioms/weak.h"
#include "tests/random/agree.h"

static void agrees_with_the_oracle(void **state) {
  static const char *const codes[] = {"TAP-a",
                                      "TAP-b",
                                      "TAP-c",
                                      "TAP-d",
                                      "TAP-e",
                                      "TAP-f",
                                      "TAP-g",
                                      "TAP-h",
                                      "TAP-i",
                                      "TAP-j",
                                      "TAP-k",
                                      "TAP-l",
                                      "TAP-m",
                                      "TAP-n",
                                      "G0",
                                      "G1c",
                                      "G0-process",
                                      "G1c-process",
                                      "incompatible-order",
                                      "duplicate-elements",
                                      NULL};
  (void)state;
  agree_with_oracle(sketch_draw_lists, 50000, AGREE_MAIN, codes);
}

static isoproof_history *load(const char *text, size_t size, const char *format) {
  isoproof_open_options options = {.struct_size = sizeof options, .format = format};
  isoproof_history *history = NULL;
  isoproof_error error;
  isoproof_status status = isoproof_history_open_memory(text, size, "h", &options, NULL, &history, &error);
  return status == ISOPROOF_OK ? history : NULL;
}

#define OK(process, ops) "{:process " #process ", :type :ok, :f :txn, :value [" ops "]}\n"
#define FAIL(process, ops) "{:process " #process ", :type :fail, :f :txn, :value [" ops "]}\n"
#define INFO(process, ops) "{:process " #process ", :type :info, :f :txn, :value [" ops "]}\n"

static const struct {
  const char *text, *weakest, *codes; /* the weakest violated levels, and what was found how often */
} cases[] = {
    /* One read of each order is enough for a cycle of appends. */
    {OK(0, "[:append x 1] [:append y 1]") OK(1, "[:append x 2] [:append y 2]") OK(2, "[:r x [1 2]] [:r y [2 1]]"),
     "read-committed", "G0:1"},
    /* Appends of one transaction with another's between them are such a cycle, too; so is one that is not shown. */
    {OK(0, "[:append x 1] [:append x 2]") OK(1, "[:append x 3]") OK(2, "[:r x [1 3 2]]"), "read-committed", "G0:1"},
    {OK(0, "[:append x 1] [:append x 2]") OK(1, "[:append x 3]") OK(2, "[:r x [1 3]]"), "read-committed", "G0:1"},
    /* An append that nobody saw comes after all that somebody did. */
    {OK(0, "[:append x 1]") OK(0, "[:append x 2]") OK(1, "[:r x [2]]"), "read-committed", "G0-process:1"},
    {OK(0, "[:append x 1] [:append y 1]") OK(1, "[:r y [1]] [:append x 2]") OK(2, "[:r x [2 1]]"), "read-committed",
     "G1c:1"},
    {OK(0, "[:append x 1]") OK(0, "[:append y 1]") OK(1, "[:r y [1]] [:append x 2]") OK(2, "[:r x [2 1]]"),
     "read-committed", "G1c-process:1"},
    /* The same without any order of versions. */
    {OK(0, "[:r x [1]] [:append y 1]") OK(1, "[:r y [1]] [:append x 1]"), "read-committed", "TAP-g:1"},
    {OK(0, "[:append x 1]") OK(1, "[:append x 2]") OK(2, "[:r x [1 2]]") OK(3, "[:r x [2 1]]"), "read-committed",
     "incompatible-order:1"},
    /* What one transaction appended, the wrong way round. */
    {OK(0, "[:append x 1] [:append x 2]") OK(1, "[:r x [2 1]]"), "read-committed", "TAP-f:1 incompatible-order:1"},
    {OK(0, "[:append x 1]") OK(1, "[:r x [1 1]]"), "read-committed", "duplicate-elements:1"},
    /* Reads that are too old, by all that the reader knows. */
    {OK(0, "[:append x 1] [:append y 1]") OK(1, "[:append x 2] [:append y 2]") OK(2, "[:r x [1 2]] [:r y [1]]"),
     "read-committed", "TAP-h:1"},
    {OK(0, "[:append x 1] [:append y 1]") OK(1, "[:append x 2] [:append y 2]") OK(2, "[:r y [1]] [:r x [1 2]]"),
     "read-atomic", "TAP-k:1"},
    {OK(0, "[:append x 1]") OK(1, "[:append x 2]") OK(2, "[:r x [1 2]] [:append y 1]") OK(3, "[:r y [1]] [:r x [1]]"),
     "causal", "TAP-m:1"},
    {OK(0, "[:append x 1]") OK(1, "[:append x 2]") OK(2, "[:r x [1 2]]") OK(2, "[:r x [1]]"), "monotonic-reads",
     "TAP-m:1"},
    /* Below own appends others' still show: read twice from two transactions, or once. */
    {OK(0, "[:append x 1]") OK(1, "[:append x 2]") OK(2, "[:append x 3] [:r x [1 3]] [:r x [1 2 3]]"),
     "cut-isolation read-committed", "TAP-j:1 incompatible-order:1"},
    {OK(0, "[:append x 1]") OK(1, "[:append x 2] [:r x [1 2]] [:append y 1]") OK(2, "[:r x []] [:r y [1]]"),
     "read-atomic", "TAP-k:1 TAP-m:1"},
    /* Who took no effect does not matter: not an unknown append that nobody saw, nor what an aborted transaction read.
     */
    {INFO(0, "[:append x 1]") OK(0, "[:append x 2]") OK(1, "[:r x [2]]"), "", ""},
    {OK(0, "[:append x 1]") OK(1, "[:append x 2]") OK(2, "[:r x [1 2]]") FAIL(3, "[:r x [2 1]]"), "", ""},
    {OK(0, "[:append x 1]") OK(1, "[:append x 2]") FAIL(3, "[:r x [2 1 5]]") OK(2, "[:r x [1 2]]"), "", ""},
    /* A list and a register in one history. */
    {OK(0, "[:append x 1]") OK(1, "[:append x 2] [:w y 1]") OK(2, "[:r x [1 2]]") OK(3, "[:r y 1] [:r x [1]]"),
     "read-committed", "TAP-h:1"},
};

static void add_word(char *out, size_t size, const char *word) {
  size_t used = strlen(out);
  snprintf(out + used, size - used, "%s%s", used > 0 ? " " : "", word);
}

static void describe(const isoproof_result *result, char *weakest, char *codes, size_t size) {
  weakest[0] = codes[0] = '\0';
  const char *name;
  for (size_t i = 0; (name = isoproof_result_weakest_violated_at(result, i)) != NULL; i++) {
    bool guarantee = isoproof_level_find(name)->family == ISOPROOF_LEVEL_SESSION;
    if (!guarantee || isoproof_result_verdict_of(result, "read-committed") == ISOPROOF_SATISFIED)
      add_word(weakest, size, name);
  }
  for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    char word[128];
    assert_true(isoproof_result_anomaly_at(result, i, &anomaly));
    snprintf(word, sizeof word, "%s:%llu", anomaly.code, (unsigned long long)anomaly.count);
    add_word(codes, size, word);
  }
}

static void examples(void **state) {
  static const char *const levels[] = {"cut-isolation",    "read-committed",     "read-atomic",
                                       "causal",           "read-your-writes",   "monotonic-reads",
                                       "monotonic-writes", "writes-follow-reads"};
  isoproof_check_options options = {.struct_size = sizeof options, .levels = levels, .level_count = 8};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char weakest[256], codes[256];
    isoproof_result *result;
    isoproof_history *history = load(cases[i].text, strlen(cases[i].text), "edn");
    assert_non_null(history);
    assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
    describe(result, weakest, codes, sizeof weakest);
    if (strcmp(codes, cases[i].codes) != 0 || strcmp(weakest, cases[i].weakest) != 0) {
      fail_msg("%s%s; %s", cases[i].text, weakest, codes);
    }
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

/* The order of versions as others see it. */
static void versions(void **state) {
  (void)state;
  static const char text[] = OK(0, "[:append x 1] [:append x 2]") OK(1, "[:append x 3]") OK(2, "[:append x 4]")
      OK(3, "[:append x 5] [:r x [1 2 3 5]]") OK(4, "[:append x 6]") OK(5, "[:r x [1 2]]") OK(6, "[:w y 1]");
  isoproof_history *history = load(text, strlen(text), "edn");
  iso_weak weak;
  assert_non_null(history);
  assert_ok(iso_weak_begin(history, NULL, &weak, NULL));
  const iso_versions *v = &weak.versions;
  static const uint32_t order[] = {0, 1, 3}, tail[] = {2, 4};
  assert_int_equal(v->first[1] - v->first[0], 3);
  assert_memory_equal(v->writer + v->first[0], order, sizeof order);
  assert_int_equal(v->tail_first[1] - v->tail_first[0], 2);
  assert_memory_equal(v->tail + v->tail_first[0], tail, sizeof tail);
  assert_int_equal(v->first[2] - v->first[1], 0); /* a register has no known order */
  assert_int_equal(v->tail_first[2] - v->tail_first[1], 0);
  assert_false(v->torn || v->broken.count > 0);
  assert_true(iso_versions_before(&weak.view, v, 0, 0, 3) && iso_versions_before(&weak.view, v, 0, 3, 4));
  assert_false(iso_versions_before(&weak.view, v, 0, 2, 4) || iso_versions_before(&weak.view, v, 0, 4, 2));
  assert_int_equal(iso_versions_place(&weak.view, v, 6, 1), ISO_NO_PLACE);
  iso_weak_free(&weak);
  isoproof_history_free(history);
}

static isoproof_history *simulate(uint64_t seed, isoproof_sim_level level, int bug) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_defaults(&options);
  options.struct_size = sizeof options;
  options.seed = seed;
  options.level = level;
  options.lists = true;
  options.sessions = 8;
  options.txns = 3000;
  options.keys = 50;
  options.abort_share = 0.05;
  options.unknown_share = 0.02;
  if (bug >= 0) options.bugs[bug] = 3;
  assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
  return history;
}

/* Every level that the simulator keeps is satisfied; every bug that breaks a weak level breaks it, and those that break
 * only strong ones leave causal alone. */
static void simulated_levels_and_bugs(void **state) {
  (void)state;
  static const char *const decided[] = {"cut-isolation", "read-committed", "read-atomic", "causal"};
  isoproof_result *result;
  for (int level = 0; level < ISOPROOF_SIM_LEVELS; level++) {
    isoproof_history *history = simulate(40 + (uint64_t)level, (isoproof_sim_level)level, -1);
    assert_ok(isoproof_check(history, NULL, NULL, &result, NULL));
    const isoproof_level_info *promised = isoproof_level_find(isoproof_sim_level_name((isoproof_sim_level)level));
    for (size_t i = 0; i < 4; i++) {
      bool implied = isoproof_level_implies(promised, isoproof_level_find(decided[i]));
      if (implied) assert_int_equal(isoproof_result_verdict_of(result, decided[i]), ISOPROOF_SATISFIED);
    }
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
  for (int bug = 0; bug < ISOPROOF_SIM_BUG_PHANTOM; bug++) { /* those from there on are of rows */
    isoproof_history *history = simulate(80 + (uint64_t)bug, ISOPROOF_SIM_SERIALIZABLE, bug);
    assert_ok(isoproof_check(history, NULL, NULL, &result, NULL));
    const isoproof_level_info *broken = isoproof_level_find(isoproof_sim_bug_level((isoproof_sim_bug)bug));
    for (size_t i = 0; i < 4; i++) {
      bool implied = isoproof_level_implies(isoproof_level_find(decided[i]), broken);
      isoproof_verdict verdict = isoproof_result_verdict_of(result, decided[i]);
      if (verdict != (implied ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED)) {
        fail_msg("%s: %s is %s", isoproof_sim_bug_name((isoproof_sim_bug)bug), decided[i],
                 isoproof_verdict_name(verdict));
      }
    }
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

/* Clocks made for a few sessions at a time give the same verdicts and the same instances. */
static void blocks_of_clocks(void **state) {
  (void)state;
  uint64_t random = 4711;
  unsigned violated = 0;
  for (int round = 0; round < 10000; round++) {
    sketch s;
    iso_weak weak[2];
    sketch_draw_lists(&random, &s);
    isoproof_history *history = sketch_history(&s);
    for (uint32_t i = 0; i < 2; i++) {
      assert_ok(iso_weak_begin(history, NULL, &weak[i], NULL));
      weak[i].block_columns = i * (1 + (uint32_t)round % 3);
      assert_ok(iso_weak_decide(&weak[i], ISO_AXIOM_CAUSAL, NULL, NULL));
      for (int axiom = 0; axiom < ISO_AXIOMS; axiom++) {
        assert_ok(iso_weak_decide(&weak[i], (iso_axiom)axiom, NULL, NULL));
        assert_int_equal(weak[i].axioms[axiom].violated, weak[0].axioms[axiom].violated);
      }
    }
    const iso_axiom_result *a = &weak[0].axioms[ISO_AXIOM_CAUSAL], *b = &weak[1].axioms[ISO_AXIOM_CAUSAL];
    violated += a->violated;
    assert_int_equal(a->instances.count, b->instances.count);
    for (size_t i = 0; i < a->instances.count; i++) {
      assert_int_equal(a->instances.items[i].t2, b->instances.items[i].t2);
      assert_int_equal(a->instances.items[i].read, b->instances.items[i].read);
      assert_int_equal(a->instances.items[i].causal_cycle, b->instances.items[i].causal_cycle);
      assert_int_equal(a->instances.items[i].redundant, b->instances.items[i].redundant);
    }
    iso_weak_free(&weak[0]);
    iso_weak_free(&weak[1]);
    isoproof_history_free(history);
  }
  assert_true(violated > 1000);
}

/* Whatever Elle's tests contain is judged, and every witness stands up. */
static void foreign_histories(void **state) {
  (void)state;
  char path[1100], *line = NULL;
  const char *shared = getenv("ISOPROOF_SHARED");
  size_t capacity = 0;
  unsigned judged = 0;
  snprintf(path, sizeof path,
           shared != NULL ? "%s/data/elle-conformance.jsonl" : "%s/../shared/data/elle-conformance.jsonl",
           shared != NULL ? shared : ISOPROOF_SOURCE_ROOT);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    print_message("skipped: no %s\n", path);
    skip();
  }
  for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;) {
    const char *text = strstr(line, "\"history\": [");
    if (text == NULL || strstr(line, "\"list-append\"") == NULL) continue;
    text += strlen("\"history\": ");
    size_t size = (size_t)(line + length - text);
    while (size > 0 && text[size - 1] != ']') size--;
    isoproof_history *history = load(text, size, "json");
    isoproof_check_options options = {.struct_size = sizeof options, .all = true};
    isoproof_result *result;
    isoproof_error error;
    if (history == NULL) continue;
    isoproof_status status = isoproof_check(history, &options, NULL, &result, &error);
    if (status != ISOPROOF_OK && status != ISOPROOF_ERR_FORMAT) fail_msg("%.80s: %s", line, error.message);
    if (status == ISOPROOF_OK) isoproof_result_free(result);
    judged += status == ISOPROOF_OK;
    isoproof_history_free(history);
  }
  free(line);
  fclose(file);
  print_message("%u histories judged\n", judged);
  assert_true(judged > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples),
      cmocka_unit_test(versions),
      cmocka_unit_test(simulated_levels_and_bugs),
      cmocka_unit_test(blocks_of_clocks),
      cmocka_unit_test(foreign_histories),
      cmocka_unit_test(agrees_with_the_oracle),
  };
  return cmocka_run_group_tests_name("weak_lists", tests, NULL, NULL);
}
