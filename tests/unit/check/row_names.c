/* What anomalies of rows and predicates are called, which levels they break, and that the oracle agrees. */
#include "tests/oracle/rows.h"
#include "tests/random/random_rows.h"
#include "tests/random/rows_sketch.h"
#include "tests/unit/unit.h"

enum { TEXT = 16384, CODES = 256 };

#define EVERYTHING "read-committed read-your-writes monotonic-reads monotonic-writes writes-follow-reads"

static const struct {
  const char *history; /* as tests/random/rows_sketch.h has it */
  const char *name;
  const char *weakest; /* levels violated; those that imply one of them are, too, and no others */
  bool is_example;     /* of the anomaly, in its table */
} cases[] = {
    /* the rows that match change under one transaction */
    {"cv19=0 sv1915 / i15", "phantom", "cut-isolation read-atomic", true},
    {":15 s*15 s* / d1", "phantom", "cut-isolation read-atomic", false},
    {":15 sv16 sv1615 / u17", "phantom", "cut-isolation read-atomic", false},
    {"r1_ s*15 / i15", "phantom", "cut-isolation read-atomic", false},
    {"c*=0 c*=1 / i15", "phantom", "cut-isolation read-atomic", false},
    /* a row that matches before and after is read twice */
    {":15 s*15 s*16 / u16", "TAP-j", "cut-isolation read-atomic", false},
    /* predicate-anti-dependencies both ways, against those by item */
    {"cv19=0 i15 / cv19=0 i26", "predicate-write-skew", "serializable", true},
    {"s* i15 / s* i26", "predicate-write-skew", "serializable", false},
    {":15,26 c*=2 d1 / c*=2 d2", "predicate-write-skew", "serializable", false},
    {":15,29 sv1615 u26 / sv1615 u17", "predicate-write-skew", "serializable", false},
    {":15 s*15 i26 / sk22 u17", "predicate-write-skew", "serializable", false},
    {":15,26 s*15,26 u17 / s*15,26 u28", "write-skew", "serializable", false},
    {":15,26 r15 u27 / r26 u18", "write-skew", "serializable", false},
    {"sk22 i15 / sk33 i25 / sk11 i35", "G2", "serializable", false},
    {"r2_ i15 / r3_ i25 / r1_ i35", "G2-item", "serializable", false},
    {"i15 / i26 / s*15 / s*26", "long-fork", "prefix", false},
    /* dirty and circular reads */
    {"i15 ! / sv1915", "G1a-predicate", EVERYTHING, true},
    {":15 d1 ! / s*", "G1a-predicate", EVERYTHING, false},
    {"i15 ! / r15", "TAP-b", EVERYTHING, false},
    {"i12 u17 / sv1412", "G1b-predicate", EVERYTHING, true},
    {":15 d1 p16 / s*", "G1b-predicate", EVERYTHING, false},
    {"i15 u16 / r15", "TAP-f", EVERYTHING, false},
    {"i12 sv5927 / i27 sv1412", "G1c-predicate", EVERYTHING, true},
    {"i15 sk2226 / i26 r15", "G1c-predicate", EVERYTHING, false},
    {"i15 r26 / i26 r15", "TAP-g", EVERYTHING, false},
    /* one effect of a transaction is seen, another one is missed by predicate: in the next statement, or before */
    {"i12 i27 / sv14 sv5927", "predicate-read-skew", "read-atomic", true},
    {":19,26 u15 u28 / sv16 r28", "predicate-read-skew", "read-atomic", false},
    {"i15 i26 / sk11 c*=2", "phantom", "cut-isolation read-atomic", false},
    {"i15 i26 / r1_ r26", "TAP-k", "read-atomic", false},
    {"i15 i26 / sk1926", "missed-insert", "read-atomic", true},
    {"i15 i26 / c*=1", "missed-insert", "read-atomic", false},
    {"i15 i26 / r15 sk22", "missed-insert", "read-committed", false},
    {"i15 | s*", "missed-insert", "read-your-writes", false},
    {"i15 / s*15 | s*", "missed-insert", "monotonic-reads", false},
    {"@1-2 i15 / @3-4 s*", "missed-insert", "strong-snapshot-isolation", false},
    {"@1-2 i15 / @3-4 r1_", "stale-read", "strong-snapshot-isolation", false},
    /* deletes that do not last */
    {":15 d1 / sk19 | sk1915", "resurrected-row", "monotonic-reads", true},
    {":15 d1 / r1_ | r15", "resurrected-row", "monotonic-reads", false},
    {"@1-2 :15 d1 / @3-4 s* / @5-6 s*15", "resurrected-row", "strong-snapshot-isolation", false},
    {":15 d1 | sk1915", "lost-delete", "read-your-writes", true},
    {"@1-2 :15 d1 / @3-4 s*15", "lost-delete", "strong-snapshot-isolation", false},
    {":15 r15 d1 / r15 u16 / s*16", "lost-delete", "update-atomic", false},
    {":15 r15 d1 / r15 u16 / s*", "lost-update", "update-atomic", false},
    /* what no versions explain */
    {":15 u16 / sv19", "missed-row", EVERYTHING, true},
    {"i15 / cv19=2", "impossible-count", EVERYTHING, true},
    {"i15 / s*17", "TAP-a", EVERYTHING, false},
};

static isoproof_history *open_text(const char *text, size_t length) {
  isoproof_history *history;
  isoproof_error error;
  if (isoproof_history_open_memory(text, length, "rows.jsonl", NULL, NULL, &history, &error) != ISOPROOF_OK)
    fail_msg("%s\n%s", error.message, text);
  return history;
}

static isoproof_result *check_all(isoproof_history *history) {
  isoproof_check_options options = {.struct_size = sizeof options};
  isoproof_result *result;
  assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
  return result;
}

/* Whether a level is among those that a case violates, or implies one of them. */
static bool is_violated(size_t number, oracle_level level) {
  for (int w = 0; w < ORACLE_LEVELS; w++) {
    bool weakest = rows_sketch_has_word(cases[number].weakest, oracle_level_id((oracle_level)w));
    if (weakest && oracle_implies(level, (oracle_level)w)) return true;
  }
  return false;
}

/* The verdicts are those of the case, and so says the oracle. */
static void check_levels(size_t number, const row_history *h, const isoproof_result *result) {
  bool satisfied[ORACLE_LEVELS];
  assert_true(rows_judge(h, satisfied));
  for (int l = 0; l < ORACLE_LEVELS; l++) {
    const char *id = oracle_level_id((oracle_level)l);
    bool violated = is_violated(number, (oracle_level)l);
    if (!h->timed && (l == ORACLE_STRICT_SERIALIZABLE || l == ORACLE_STRONG_SNAPSHOT)) continue;
    if (satisfied[l] == violated) fail_msg("%s: the oracle differs on %s", cases[number].history, id);
    isoproof_verdict verdict = isoproof_result_verdict_of(result, id);
    if (verdict != (violated ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED))
      fail_msg("%s: %s is %s", cases[number].history, id, isoproof_verdict_name(verdict));
  }
}

/* The first anomaly has the name and breaks a violated level; its words are those of statements, not of registers. */
static void check_name(size_t number, const isoproof_result *result) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  assert_true(isoproof_result_anomaly_at(result, 0, &anomaly));
  if (strcmp(anomaly.code, cases[number].name) != 0)
    fail_msg("%s is %s, not %s", cases[number].history, anomaly.code, cases[number].name);
  assert_int_equal(isoproof_result_verdict_of(result, anomaly.level), ISOPROOF_VIOLATED);
  if (strstr(anomaly.explanation, "key ") == anomaly.explanation || strstr(anomaly.explanation, " read key ") != NULL)
    fail_msg("%s: %s", cases[number].history, anomaly.explanation);
}

static void names_what_happened(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT];
    row_history h = rows_sketch(cases[i].history);
    isoproof_history *history = open_text(text, rows_text(&h, text, sizeof text));
    isoproof_result *result = check_all(history);
    check_levels(i, &h, result);
    check_name(i, result);
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

static bool is_of_rows(const isoproof_anomaly_info *info) {
  return info->example != NULL && strncmp(info->example, "{\"isoproof\"", 11) == 0;
}

/* The strongest satisfied levels, of those without times and of no session guarantee, are as many as the table says. */
static void check_satisfied(const isoproof_anomaly_info *info, const isoproof_result *result) {
  size_t count = 0;
  for (size_t i = 0; info->satisfies[i] != NULL; i++, count++) {
    if (isoproof_result_verdict_of(result, info->satisfies[i]) != ISOPROOF_SATISFIED)
      fail_msg("the example of %s does not satisfy %s", info->code, info->satisfies[i]);
  }
  const char *name;
  for (size_t i = 0; (name = isoproof_result_strongest_at(result, i)) != NULL; i++) {
    if (isoproof_level_find(name)->family == ISOPROOF_LEVEL_SESSION) continue;
    if (count-- == 0) fail_msg("the example of %s satisfies %s, too", info->code, name);
  }
}

/* Every name of rows has an example that shows it, breaks its level, and is one that the oracle judged, but for a row
 * that comes twice, which the oracle does not know. */
static void examples_show_their_names(void **state) {
  (void)state;
  const isoproof_anomaly_info *info;
  for (size_t k = 0; (info = isoproof_anomaly_at(k)) != NULL; k++) {
    if (!is_of_rows(info)) continue;
    isoproof_history *history = open_text(info->example, strlen(info->example));
    isoproof_result *result = check_all(history);
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    assert_true(isoproof_result_anomaly_at(result, 0, &anomaly));
    assert_string_equal(anomaly.code, info->code);
    assert_int_equal(isoproof_result_verdict_of(result, info->level), ISOPROOF_VIOLATED);
    check_satisfied(info, result);
    size_t number = 0, count = sizeof cases / sizeof *cases;
    while (number < count && (!cases[number].is_example || strcmp(cases[number].name, info->code) != 0)) number++;
    assert_int_equal(number == count, strcmp(info->code, "duplicate-row") == 0);
    for (int l = 0; number < count && l < ORACLE_LEVELS; l++) {
      if (l == ORACLE_STRICT_SERIALIZABLE || l == ORACLE_STRONG_SNAPSHOT) continue;
      assert_int_equal(isoproof_result_verdict_of(result, oracle_level_id((oracle_level)l)) == ISOPROOF_VIOLATED,
                       is_violated(number, (oracle_level)l));
    }
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

/* Registers and lists keep their names: none of those of rows is among them. */
static void registers_keep_their_names(void **state) {
  (void)state;
  const isoproof_anomaly_info *info;
  for (size_t k = 0; (info = isoproof_anomaly_at(k)) != NULL; k++) {
    if (info->example == NULL || is_of_rows(info)) continue;
    isoproof_history *history = open_text(info->example, strlen(info->example));
    isoproof_check_options options = {.struct_size = sizeof options};
    isoproof_result *result = NULL;
    if (isoproof_check(history, &options, NULL, &result, NULL) == ISOPROOF_OK) {
      isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
      for (size_t i = 0; isoproof_result_anomaly_at(result, i, &anomaly); i++)
        assert_false(is_of_rows(isoproof_anomaly_find(anomaly.code)));
    }
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_what_happened),
      cmocka_unit_test(examples_show_their_names),
      cmocka_unit_test(registers_keep_their_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
