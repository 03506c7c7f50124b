/* The tables of levels and anomalies: names, lattice, rules, examples that load, documentation that is complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <isoproof/isoproof.h>

#include "level/anomalies.h"
#include "level/levels.h"

#ifndef ISOPROOF_SOURCE_ROOT
#define ISOPROOF_SOURCE_ROOT "."
#endif

static const isoproof_level_info *level(const char *name) {
  const isoproof_level_info *found = isoproof_level_find(name);
  if (found == NULL) fail_msg("no level %s", name);
  return found;
}

static const isoproof_level_info *model(const char *name) {
  const isoproof_level_info *found = isoproof_level_find_in(name, ISOPROOF_LEVEL_MODEL);
  if (found == NULL) fail_msg("no model %s", name);
  return found;
}

static bool is_model(const isoproof_level_info *info) { return info->family == ISOPROOF_LEVEL_MODEL; }

/* ---- names ---- */

static bool is_sentence(const char *text) {
  size_t length = text == NULL ? 0 : strlen(text);
  return length > 1 && text[length - 1] == '.' && strchr(text, '\n') == NULL;
}

static size_t count_named(const char *name, bool models) {
  size_t count = 0;
  const isoproof_level_info *info;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    if (is_model(info) != models) continue;
    count += iso_level_same_name(info->id, name);
    for (const char *const *alias = info->aliases; *alias != NULL; alias++) count += iso_level_same_name(*alias, name);
  }
  return count;
}

/* A short name means the same everywhere: in each family that has the longer name, the row that has it has both. */
static void test_short_names_are_one_set(void **state) {
  (void)state;
  static const isoproof_level_family families[] = {ISOPROOF_LEVEL_BASE, ISOPROOF_LEVEL_SESSION, ISOPROOF_LEVEL_MODEL};
  const char *name, *stands_for;
  size_t count = 0;
  for (; isoproof_level_short_name_at(count, &name, &stands_for); count++) {
    bool found = false;
    for (size_t f = 0; f < 3; f++) {
      const isoproof_level_info *by_name = isoproof_level_find_in(name, families[f]);
      const isoproof_level_info *by_meaning = isoproof_level_find_in(stands_for, families[f]);
      /* Among models causal is of single operations; transactional causal consistency has a row of its own. */
      if (strcmp(name, "tcc") == 0 && families[f] == ISOPROOF_LEVEL_MODEL) continue;
      if (by_name != by_meaning) fail_msg("%s is not %s in family %zu", name, stands_for, f);
      found = found || by_name != NULL;
    }
    if (!found) fail_msg("nothing is called %s", name);
    assert_string_equal(iso_level_long_name(name), stands_for);
  }
  assert_true(count >= 20);
  assert_ptr_equal(isoproof_level_find_in("tcc", ISOPROOF_LEVEL_MODEL), model("causal-cerone"));
}

static void test_level_names_are_unique(void **state) {
  (void)state;
  const isoproof_level_info *info;
  size_t count = 0;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++, count++) {
    assert_int_equal(info->number, i);
    if (count_named(info->id, is_model(info)) != 1) fail_msg("%s is not unique", info->id);
    assert_ptr_equal(isoproof_level_find_in(info->id, info->family), info);
    assert_ptr_equal(isoproof_level_find_in(info->friendly, info->family), info);
    for (const char *const *alias = info->aliases; *alias != NULL; alias++) {
      if (count_named(*alias, is_model(info)) != 1) fail_msg("%s is not unique", *alias);
      assert_ptr_equal(isoproof_level_find_in(*alias, info->family), info);
    }
    assert_true(is_sentence(info->summary));
    assert_true(is_sentence(info->definition));
    assert_non_null(info->title);
    assert_true((info->example == NULL) == (info->walkthrough == NULL));
    assert_true(info->example != NULL || is_model(info));
    if (info->same_as != NULL) assert_non_null(is_model(info) ? level(info->same_as) : model(info->same_as));
  }
  assert_int_equal(count, ISO_LEVEL_COUNT);
  assert_null(isoproof_level_at(SIZE_MAX));
}

static void test_level_find(void **state) {
  (void)state;
  static const struct {
    const char *name, *id;
    bool model;
  } names[] = {{"si", "snapshot-isolation", false},
               {"SI", "snapshot-isolation", false},
               {"Snapshot_Isolation", "snapshot-isolation", false},
               {"read committed", "read-committed", false},
               {"rc", "read-committed", false},
               {"ra", "read-atomic", false},
               {"ci", "cut-isolation", false},
               {"tcc", "causal", false},
               {"transactional-causal-consistency", "causal", false},
               {"pc", "prefix", false},
               {"psi", "parallel-snapshot-isolation", false},
               {"ser", "serializable", false},
               {"sser", "strict-serializable", false},
               {"strong-session-serializable", "serializable", false},
               {"strong-session-snapshot-isolation", "snapshot-isolation", false},
               {"strict-serializable", "strict-serializable", false},
               {"monotonic-reads", "monotonic-reads", false},
               {"pl-3", "PL-3", true},
               {"PL-2.99", "PL-2.99", true},
               {"repeatable-read", "PL-2.99", true},
               {"read-uncommitted", "PL-1", true},
               {"PL-2+", "PL-2+", true}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_string_equal(level(names[i].name)->id, names[i].id);
    assert_int_equal(is_model(level(names[i].name)), names[i].model);
  }
  assert_string_equal(model("serializable")->id, "PL-3");
  assert_string_equal(model("strict-serializable")->id, "PL-SS");
  assert_string_equal(model("strong-session-serializable")->id, "strong-session-serializable");
  assert_ptr_not_equal(model("prefix"), level("prefix"));
  assert_null(isoproof_level_find(""));
  assert_null(isoproof_level_find("snapshot-isol"));
  assert_null(isoproof_level_find("snapshot-isolation-"));
  assert_null(isoproof_level_find(NULL));
  assert_null(isoproof_level_find_in(NULL, ISOPROOF_LEVEL_BASE));
  assert_null(isoproof_level_find_in("PL-3", ISOPROOF_LEVEL_BASE));
}

static void test_times(void **state) {
  (void)state;
  assert_true(level("strict-serializable")->needs_times);
  assert_true(level("strong-snapshot-isolation")->needs_times);
  assert_true(level("linearizable")->needs_times);
  assert_true(model("PL-SS")->needs_times);
  assert_false(level("serializable")->needs_times);
  /* A level that needs no times cannot imply one that does. */
  const isoproof_level_info *stronger, *weaker;
  for (size_t i = 0; isoproof_level_implication_at(i, &stronger, &weaker); i++) {
    if (weaker->needs_times) assert_true(stronger->needs_times);
  }
}

/* ---- lattice ---- */

static void test_edges_are_acyclic_and_direct(void **state) {
  (void)state;
  const isoproof_level_info *stronger, *weaker, *other, *end;
  size_t edges = 0;
  for (; isoproof_level_implication_at(edges, &stronger, &weaker); edges++) {
    assert_ptr_not_equal(stronger, weaker);
    assert_true(isoproof_level_implies(stronger, weaker));
    assert_false(isoproof_level_implies(weaker, stronger));
    assert_false(is_model(stronger) && !is_model(weaker));
    for (size_t j = 0; j < edges; j++) {
      assert_true(isoproof_level_implication_at(j, &other, &end));
      assert_false(other == stronger && end == weaker);
    }
  }
  assert_false(isoproof_level_implication_at(SIZE_MAX, &stronger, &weaker));
}

static void test_closure(void **state) {
  (void)state;
  for (size_t a = 0; a < ISO_LEVEL_COUNT; a++) {
    assert_true(isoproof_level_implies(isoproof_level_at(a), isoproof_level_at(a)));
    for (size_t b = 0; b < ISO_LEVEL_COUNT; b++) {
      if (!isoproof_level_implies(isoproof_level_at(a), isoproof_level_at(b))) continue;
      for (size_t c = 0; c < ISO_LEVEL_COUNT; c++) {
        if (!isoproof_level_implies(isoproof_level_at(b), isoproof_level_at(c))) continue;
        assert_true(isoproof_level_implies(isoproof_level_at(a), isoproof_level_at(c)));
      }
    }
  }
  assert_false(isoproof_level_implies(NULL, level("si")));
  assert_false(isoproof_level_implies(level("si"), NULL));
}

static void test_documented_implications(void **state) {
  (void)state;
  static const char *const holds[][2] = {{"ser", "si"},      {"si", "pc"},
                                         {"si", "psi"},      {"pc", "causal"},
                                         {"psi", "causal"},  {"causal", "ra"},
                                         {"ra", "rc"},       {"ra", "ci"},
                                         {"sser", "ser"},    {"strong-snapshot-isolation", "si"},
                                         {"psi", "ua"},      {"ua", "ra"},
                                         {"causal", "ryw"},  {"causal", "mr"},
                                         {"causal", "mw"},   {"causal", "wfr"},
                                         {"sser", "ci"},     {"sser", "strong-snapshot-isolation"},
                                         {"ser", "PL-2.99"}, {"si", "PL-2+"},
                                         {"sser", "PL-SS"},  {"PL-3", "PL-SI"}};
  static const char *const fails[][2] = {{"pc", "psi"},     {"psi", "pc"},   {"ci", "rc"},     {"rc", "ci"},
                                         {"ua", "causal"},  {"pc", "ua"},    {"ra", "causal"}, {"ra", "mr"},
                                         {"PL-3", "ser"},   {"PL-SI", "si"}, {"rc", "ryw"},    {"ser", "sser"},
                                         {"si", "PL-2.99"}, {"rc", "PL-2"},  {"mr", "rc"},     {"PL-2", "rc"}};
  for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++) {
    if (!isoproof_level_implies(level(holds[i][0]), level(holds[i][1]))) fail_msg("%s", holds[i][0]);
  }
  for (size_t i = 0; i < sizeof fails / sizeof fails[0]; i++) {
    if (isoproof_level_implies(level(fails[i][0]), level(fails[i][1]))) fail_msg("%s", fails[i][0]);
  }
}

static void test_sets(void **state) {
  (void)state;
  iso_level_set weak = ISO_LEVEL_BIT(ISO_LEVEL_READ_COMMITTED) | ISO_LEVEL_BIT(ISO_LEVEL_CUT_ISOLATION);
  iso_level_set all = weak | ISO_LEVEL_BIT(ISO_LEVEL_CAUSAL);
  assert_true(iso_level_weakest(all) == weak);
  assert_true(iso_level_strongest(all) == ISO_LEVEL_BIT(ISO_LEVEL_CAUSAL));
  assert_true(iso_level_strongest(weak) == weak);
  assert_true(iso_level_weakest(0) == 0 && iso_level_strongest(0) == 0 && iso_level_implying(0) == 0);
  assert_true((iso_level_implying(weak) & ISO_LEVEL_BIT(ISO_LEVEL_STRICT_SERIALIZABLE)) != 0);
  assert_true((iso_level_implying(weak) & ISO_LEVEL_BIT(ISO_LEVEL_READ_YOUR_WRITES)) == 0);
}

/* ---- anomalies ---- */

static size_t count_anomalies_named(const char *name) {
  size_t count = 0;
  const isoproof_anomaly_info *info;
  for (size_t i = 0; (info = isoproof_anomaly_at(i)) != NULL; i++) {
    bool same = iso_level_same_name(info->code, name) || iso_level_same_name(info->name, name);
    for (const char *const *alias = info->aliases; *alias != NULL; alias++) same |= iso_level_same_name(*alias, name);
    count += same;
  }
  return count;
}

static void test_anomaly_names(void **state) {
  (void)state;
  const isoproof_anomaly_info *info;
  for (size_t i = 0; (info = isoproof_anomaly_at(i)) != NULL; i++) {
    assert_int_equal(info->number, i);
    if (count_anomalies_named(info->code) != 1) fail_msg("%s is not unique", info->code);
    if (count_anomalies_named(info->name) != 1) fail_msg("%s is not unique", info->name);
    assert_ptr_equal(isoproof_anomaly_find(info->code), info);
    assert_ptr_equal(isoproof_anomaly_find(info->name), info);
    for (const char *const *alias = info->aliases; *alias != NULL; alias++) {
      assert_int_equal(count_anomalies_named(*alias), 1);
    }
    assert_null(isoproof_level_find(info->code)); /* `explain` takes either */
    assert_true(is_sentence(info->meaning));
    assert_true((info->example == NULL) == (info->walkthrough == NULL));
    if (info->walkthrough != NULL) assert_true(is_sentence(info->walkthrough));
    if (info->level != NULL) assert_int_not_equal(level(info->level)->family, ISOPROOF_LEVEL_MODEL);
    bool edn = info->example == NULL || strncmp(info->example, "{:", 2) == 0;
    assert_true(info->satisfies == NULL || !edn);
    for (const char *const *id = info->satisfies; id != NULL && *id != NULL; id++) assert_non_null(level(*id));
  }
  assert_string_equal(isoproof_anomaly_find("tap-K")->name, "FracturedReadCO");
  assert_string_equal(isoproof_anomaly_find("nonmonoreadcm")->code, "TAP-i");
  assert_string_equal(isoproof_anomaly_find("lost update")->code, "lost-update");
  assert_string_equal(isoproof_anomaly_find("a5b")->code, "write-skew");
  assert_null(isoproof_anomaly_find("TAP-z"));
  assert_null(isoproof_anomaly_find(NULL));
  assert_null(isoproof_anomaly_at(SIZE_MAX));
}

static void test_tap_table(void **state) {
  (void)state;
  static const char *const taps[][3] = {
      {"TAP-a", "ThinAirRead", "read-committed"},    {"TAP-b", "AbortedRead", "read-committed"},
      {"TAP-c", "FutureRead", "read-committed"},     {"TAP-d", "NotMyOwnWrite", "read-committed"},
      {"TAP-e", "NotMyLastWrite", "read-committed"}, {"TAP-f", "IntermediateRead", "read-committed"},
      {"TAP-g", "CyclicCO", "read-committed"},       {"TAP-h", "NonMonoReadCO", "read-committed"},
      {"TAP-i", "NonMonoReadCM", "read-committed"},  {"TAP-j", "NonRepeatableRead", "cut-isolation"},
      {"TAP-k", "FracturedReadCO", "read-atomic"},   {"TAP-l", "FracturedReadCM", "read-atomic"},
      {"TAP-m", "COConflictCM", "causal"},           {"TAP-n", "ConflictCM", "causal"}};
  for (size_t i = 0; i < sizeof taps / sizeof taps[0]; i++) {
    const isoproof_anomaly_info *info = isoproof_anomaly_find(taps[i][0]);
    assert_non_null(info);
    assert_string_equal(info->name, taps[i][1]);
    assert_string_equal(info->level, taps[i][2]);
    assert_int_equal(info->kind, ISOPROOF_ANOMALY_TAP);
    assert_non_null(info->example);
    assert_null(isoproof_anomaly_rules_out_at(info, 0));
  }
}

static void test_rules_out(void **state) {
  (void)state;
  const isoproof_anomaly_info *lost = isoproof_anomaly_find("lost-update");
  assert_string_equal(isoproof_anomaly_rules_out_at(lost, 0)->id, "PL-CS");
  assert_string_equal(isoproof_anomaly_rules_out_at(lost, 1)->id, "update-atomic");
  assert_null(isoproof_anomaly_rules_out_at(lost, 2));
  assert_null(isoproof_anomaly_rules_out_at(NULL, 0));
  assert_string_equal(isoproof_anomaly_rules_out_at(isoproof_anomaly_find("dirty-read"), 0)->id, "PL-2");
  assert_string_equal(isoproof_anomaly_counts_as_at(isoproof_anomaly_find("G1a"), 0)->code, "G1");
  assert_null(isoproof_anomaly_counts_as_at(isoproof_anomaly_find("G1a"), 1));
  assert_null(isoproof_anomaly_counts_as_at(NULL, 0));
  assert_true(iso_anomaly_is(ISO_ANOMALY_G0, ISO_ANOMALY_G1_REALTIME));
  assert_false(iso_anomaly_is(ISO_ANOMALY_G1A, ISO_ANOMALY_G0));
  assert_true(iso_model_forbids(ISO_LEVEL_M_PL_3, ISO_ANOMALY_G2));
  assert_false(iso_model_forbids(ISO_LEVEL_M_PL_3, ISO_ANOMALY_G2_ITEM));
}

/* ---- examples ---- */

static void load(const char *what, const char *example) {
  isoproof_history *history = NULL;
  isoproof_error error;
  isoproof_counts counts = {.struct_size = sizeof counts};
  size_t lines = 0;
  for (const char *c = example; *c != '\0'; c++) lines += *c == '\n';
  assert_int_equal(example[strlen(example) - 1], '\n');
  isoproof_status status = isoproof_history_open_memory(example, strlen(example), what, NULL, NULL, &history, &error);
  if (status != ISOPROOF_OK) fail_msg("%s: %s", what, error.message);
  isoproof_history_counts(history, &counts);
  assert_true(counts.transactions > 0 && counts.operations > 0);
  bool plume = example[0] != '{', rows = strncmp(example, "{\"isoproof\"", 11) == 0;
  assert_string_equal(isoproof_history_format(history), plume ? "plume" : rows ? "jsonl" : "edn");
  if (plume) assert_int_equal(counts.operations, lines);
  assert_int_equal(counts.has_times, strstr(example, ":invoke") != NULL);
  isoproof_history_free(history);
}

static void test_examples_load(void **state) {
  (void)state;
  const isoproof_level_info *info;
  const isoproof_anomaly_info *anomaly;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    if (info->example != NULL) load(info->id, info->example);
    if (info->needs_times && info->example != NULL) assert_non_null(strstr(info->example, ":time"));
  }
  for (size_t i = 0; (anomaly = isoproof_anomaly_at(i)) != NULL; i++) {
    if (anomaly->example != NULL) load(anomaly->code, anomaly->example);
  }
}

/* ---- the documentation ---- */

static char *read_document(const char *path) {
  FILE *in = fopen(path, "rb");
  if (in == NULL) fail_msg("no %s", path);
  enum { LIMIT = 1 << 20 };
  char *text = malloc(LIMIT);
  assert_non_null(text);
  size_t size = fread(text, 1, LIMIT - 1, in);
  text[size] = '\0';
  fclose(in);
  return text;
}

static void test_everything_is_documented(void **state) {
  (void)state;
  char heading[128];
  char *levels = read_document(ISOPROOF_SOURCE_ROOT "/docs/levels.md");
  char *anomalies = read_document(ISOPROOF_SOURCE_ROOT "/docs/anomalies.md");
  for (size_t i = 0; i < ISO_LEVEL_COUNT; i++) {
    snprintf(heading, sizeof heading, "`%s`", isoproof_level_at(i)->id);
    if (strstr(levels, heading) == NULL) fail_msg("docs/levels.md lacks %s", heading);
    if (is_model(isoproof_level_at(i))) continue;
    if (strstr(levels, isoproof_level_at(i)->example) == NULL) fail_msg("no example of %s", heading);
  }
  for (size_t i = 0; i < ISO_ANOMALY_COUNT; i++) {
    snprintf(heading, sizeof heading, "`%s`", isoproof_anomaly_at(i)->code);
    if (strstr(anomalies, heading) == NULL) fail_msg("docs/anomalies.md lacks %s", heading);
    const char *example = isoproof_anomaly_at(i)->example;
    if (example != NULL && strstr(anomalies, example) == NULL) fail_msg("no example of %s", heading);
  }
  free(levels);
  free(anomalies);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_level_names_are_unique),
      cmocka_unit_test(test_short_names_are_one_set),
      cmocka_unit_test(test_level_find),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_edges_are_acyclic_and_direct),
      cmocka_unit_test(test_closure),
      cmocka_unit_test(test_documented_implications),
      cmocka_unit_test(test_sets),
      cmocka_unit_test(test_anomaly_names),
      cmocka_unit_test(test_tap_table),
      cmocka_unit_test(test_rules_out),
      cmocka_unit_test(test_examples_load),
      cmocka_unit_test(test_everything_is_documented),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
