/* Schedules: text, POPs, cycles, names, phenomena, and the histories that they tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <isoproof/check.h>
#include <isoproof/coo.h>

static isoproof_schedule *parse(const char *text) {
  isoproof_schedule *schedule;
  isoproof_error error;
  if (isoproof_schedule_parse(text, &schedule, &error) != ISOPROOF_OK) fail_msg("%s: %s", text, error.message);
  return schedule;
}

static isoproof_pop_graph *graph_of(const isoproof_schedule *schedule) {
  isoproof_pop_graph *graph;
  assert_int_equal(isoproof_pop_graph_new(schedule, &graph, NULL), ISOPROOF_OK);
  return graph;
}

/* ---- text ---- */

static void text_is_read_and_written(void **state) {
  (void)state;
  static const struct {
    const char *text, *written;
  } cases[] = {
      {"R1x W2y W2x C2 R1y C1", "R1x W2y W2x C2 R1y C1"},
      {"  r1x,w2y\n c2\tA1 ", "R1x W2y C2 A1"},
      {"R_1[x_0] W_2[x_1] R1[x_0] C_2", "R1x W2x R1x0 C2"},
      {"W10long R2long1 A10 R2long", "W10long R2long A10 R2long"},
      {"W1x A1 R2x1", "W1x A1 R2x1"},
      {"W1x W2x R3x1 R3x2 R3x0", "W1x W2x R3x1 R3x R3x0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_schedule *schedule = parse(cases[i].text);
    assert_string_equal(isoproof_schedule_text(schedule), cases[i].written);
    isoproof_schedule *again = parse(isoproof_schedule_text(schedule));
    assert_string_equal(isoproof_schedule_text(again), cases[i].written);
    isoproof_schedule_free(again);
    isoproof_schedule_free(schedule);
  }
}

static void bad_text_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
    uint64_t column;
  } cases[] = {
      {"", "expected a step: R, W, C or A, found the end of the input", 1},
      {"  ", "expected a step", 3},
      {"R1x X2y", "expected a step: R, W, C or A, found `X2y`", 5},
      {"Rx", "expected the number of a transaction", 2},
      {"R1", "expected an object", 3},
      {"R1X", "expected an object, in small letters", 3},
      {"R1[x", "expected ']'", 5},
      {"R1x C1 W1x", "expected no step of transaction 1 after its commit", 8},
      {"A1 C1", "after its abort", 4},
      {"R1x1", "expected a version of x from 0 to 0, which are there by then, found 1", 1},
      {"W1x2", "expected version 1 of x", 1},
      {"R1234567x", "at most six digits", 2},
      {"R1abcdefghijklmnopqrstuvwxyzabcdef", "at most 31 letters", 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_schedule *schedule;
    isoproof_error error;
    assert_int_equal(isoproof_schedule_parse(cases[i].text, &schedule, &error), ISOPROOF_ERR_FORMAT);
    assert_null(schedule);
    if (strstr(error.message, cases[i].says) == NULL) fail_msg("'%s': found %s", cases[i].text, error.message);
    assert_int_equal(error.column, cases[i].column);
  }
}

static void limits_are_kept(void **state) {
  (void)state;
  enum { BYTES = 1 << 21 };
  char *text = malloc(BYTES);
  isoproof_schedule *schedule;
  isoproof_error error;
  size_t used = 0;
  assert_non_null(text);
  for (int i = 0; i <= ISOPROOF_SCHEDULE_STEPS; i++) used += (size_t)sprintf(text + used, "R1x ");
  assert_int_equal(isoproof_schedule_parse(text, &schedule, &error), ISOPROOF_ERR_LIMIT);
  used = 0;
  for (int i = 0; i <= ISOPROOF_SCHEDULE_TXNS; i++) used += (size_t)sprintf(text + used, "R%dx ", i);
  assert_int_equal(isoproof_schedule_parse(text, &schedule, &error), ISOPROOF_ERR_LIMIT);
  used = 0;
  for (int i = 0; i <= ISOPROOF_SCHEDULE_OBJECTS; i++)
    used += (size_t)sprintf(text + used, "R1%c%c ", 'a' + i / 26, 'a' + i % 26);
  assert_int_equal(isoproof_schedule_parse(text, &schedule, &error), ISOPROOF_ERR_LIMIT);
  memset(text, ' ', BYTES);
  text[BYTES - 1] = 0;
  assert_int_equal(isoproof_schedule_parse(text, &schedule, &error), ISOPROOF_ERR_LIMIT);
  free(text);
}

/* The worst schedules within the limits end in good time. */
static void dense_schedules_end(void **state) {
  (void)state;
  char text[16 * ISOPROOF_SCHEDULE_STEPS];
  for (int manner = 0; manner < 4; manner++) {
    static const int txns[] = {2, 64, 64, 64}, objects[] = {1, 1, 64, 8};
    size_t used = 0;
    for (int i = 0; i < ISOPROOF_SCHEDULE_STEPS; i++) {
      int txn = manner == 0 ? i % 2 : (i * 7 + i / 64) % txns[manner], object = (i * 13 + i / 64) % objects[manner];
      used +=
          (size_t)sprintf(text + used, "%c%d%c%c ", i % 3 == 0 ? 'R' : 'W', txn, 'a' + object / 26, 'a' + object % 26);
    }
    isoproof_schedule *schedule = parse(text);
    isoproof_pop_graph *graph = graph_of(schedule);
    assert_true(isoproof_pop_graph_cycle_count(graph) > 0);
    isoproof_pop_graph_free(graph);
    isoproof_schedule_free(schedule);
  }
}

/* ---- POPs and cycles ---- */

static void pops_are_found(void **state) {
  (void)state;
  static const struct {
    const char *text, *pops;
  } cases[] = {
      {"R1x R3x W1y R3y C3 W2x R1y A1", " WR1-3y RA3-1y RW1-2x RCW3-2x"}, /* example 3.4 of the paper */
      {"W1x R2x A1 C2", " WR1-2x RA2-1x"},
      {"W1x A1 R2x C2", ""},
      {"W1x A1 R2x1 C2", " WR1-2x RA2-1x"},
      {"W1x R2x A2 C1", ""},
      {"R1x W2x A2 R1x C1", ""},
      {"W1x W2x C1 C2", " WW1-2x WC2-1x"},
      {"W1x W2x A1 C2", " WW1-2x WA2-1x"},
      {"W1x C1 W2x C2", " WCW1-2x"},
      {"W1x C1 R2x C2", " WCR1-2x"},
      {"R1x C1 W2x C2", " RCW1-2x"},
      {"W1x R2x0 C1 C2", " RW2-1x"},
      {"W1x C1 R2x0 C2", " RW2-1x"},
      {"R1x R2x W1y W2z", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_schedule *schedule = parse(cases[i].text);
    isoproof_pop_graph *graph = graph_of(schedule);
    char found[256] = "";
    isoproof_pop pop;
    for (size_t p = 0; isoproof_pop_graph_pop_at(graph, p, &pop); p++) {
      size_t used = strlen(found);
      snprintf(found + used, sizeof found - used, " %s%u-%u%s", isoproof_pop_kind_name(pop.kind),
               isoproof_schedule_txn_label(schedule, pop.from), isoproof_schedule_txn_label(schedule, pop.to),
               isoproof_schedule_object_name(schedule, pop.object));
    }
    if (strcmp(found, cases[i].pops) != 0) fail_msg("%s: expected%s, found%s", cases[i].text, cases[i].pops, found);
    isoproof_pop_graph_free(graph);
    isoproof_schedule_free(schedule);
  }
}

/* The published cases: number, name, class, a schedule, and Adya's phenomena of it. */
static const struct {
  unsigned number;
  const char *name, *class, *schedule, *adya;
} published[] = {
    {1, "Dirty Read", "RAT-S", "W1x R2x A1 C2", "G1a"},
    {2, "Non-repeatable Read", "RAT-S", "R1x W2x R1x C2 C1", "G-single"},
    {3, "Intermediate Read", "RAT-S", "W1x R2x W1x C2 C1", "G1b"},
    {4, "Intermediate Read Committed", "RAT-S", "W1x R2x C2 W1x C1", "G1b"},
    {5, "Lost Self Update", "RAT-S", "W1x W2x R1x C1 C2", "G1c"},
    {6, "Write-read Skew", "RAT-D", "W1x W2y R2x R1y C2 C1", "G1c"},
    {7, "Write-read Skew Committed", "RAT-D", "W1x W2y R2x C2 R1y C1", "G1c"},
    {8, "Double-write Skew 1", "RAT-D", "W1x W2y R2x W1y C2 C1", "G1c"},
    {9, "Double-write Skew 1 Committed", "RAT-D", "W1x W2y R2x C2 W1y C1", "G1c"},
    {10, "Double-write Skew 2", "RAT-D", "W1x W2y W2x R1y C1 C2", "G1c"},
    {11, "Read Skew", "RAT-D", "R1x W2y W2x R1y C2 C1", "G-single"},
    {12, "Read Skew 2", "RAT-D", "W1x R2y R2x W1y C1 C2", "G-single"},
    {13, "Read Skew 2 Committed", "RAT-D", "W1x R2y R2x C2 W1y C1", "G-single"},
    {14, "Step RAT", "RAT-M", "W1x W2y R2x W3z R3y R1z C1 C2 C3", "G1c"},
    {15, "Dirty Write", "WAT-S", "W1x W2x C1 C2", ""},
    {15, "Dirty Write", "WAT-S", "W1x W2x A1 C2", ""},
    {16, "Full Write", "WAT-S", "W1x W2x W1x C1 C2", ""},
    {17, "Full Write Committed", "WAT-S", "W1x W2x C2 W1x C1", ""},
    {18, "Lost Update", "WAT-S", "R1x W2x W1x C1 C2", "G-single"},
    {18, "Lost Update", "WAT-S", "R1x W2x W1x C2 C1", "G-single"},
    {19, "Lost Self Update Committed", "WAT-S", "W1x W2x C2 R1x C1", "G1c"},
    {20, "Double-write Skew 2 Committed", "WAT-D", "W1x W2y W2x C2 R1y C1", "G1c"},
    {21, "Full-write Skew", "WAT-D", "W1x W2y W2x W1y C1 C2", "G0"},
    {22, "Full-write Skew Committed", "WAT-D", "W1x W2y W2x C2 W1y C1", "G0"},
    {23, "Read-write Skew 1", "WAT-D", "R1x W2y W2x W1y C1 C2", "G-single"},
    {24, "Read-write Skew 2", "WAT-D", "W1x R2y W2x W1y C1 C2", "G-single"},
    {25, "Read-write Skew 2 Committed", "WAT-D", "W1x R2y W2x C2 W1y C1", "G-single"},
    {26, "Step WAT", "WAT-M", "W1x W2y W2x W3z W3y W1z C1 C2 C3", "G0"},
    {27, "Non-repeatable Read Committed", "IAT-S", "R1x W2x C2 R1x C1", "G-single"},
    {28, "Lost Update Committed", "IAT-S", "R1x W2x C2 W1x C1", "G-single"},
    {29, "Read Skew Committed", "IAT-D", "R1x W2y W2x C2 R1y C1", "G-single"},
    {30, "Read-write Skew 1 Committed", "IAT-D", "R1x W2y W2x C2 W1y C1", "G-single"},
    {31, "Write Skew", "IAT-D", "R1x R2y W2x W1y C1 C2", "G2-item"},
    {32, "Write Skew Committed", "IAT-D", "R1x R2y W2x C2 W1y C1", "G2-item"},
    {33, "Step IAT", "IAT-M", "R1z R2x R3y W1x W2y W3z C1 C2 C3", "G2-item"},
};

static void published_cases_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
    isoproof_schedule *schedule = parse(published[i].schedule);
    isoproof_pop_graph *graph = graph_of(schedule);
    isoproof_pop_cycle cycle = {.struct_size = sizeof cycle};
    char class[16];
    assert_true(isoproof_pop_graph_cycle_at(graph, 0, &cycle));
    assert_int_equal(cycle.number, published[i].number);
    assert_string_equal(cycle.name, published[i].name);
    snprintf(class, sizeof class, "%s-%c", isoproof_coo_class_name(cycle.kind), isoproof_coo_size_name(cycle.size)[0]);
    assert_string_equal(class, published[i].class);
    const char *code = isoproof_schedule_phenomenon_at(schedule, 0);
    assert_string_equal(code != NULL ? code : "", published[i].adya);
    assert_null(isoproof_schedule_phenomenon_at(schedule, 1));
    isoproof_pop_graph_free(graph);
    isoproof_schedule_free(schedule);
  }
}

/* What a database with versions makes of a schedule. */
static void executed_schedules_are_judged(void **state) {
  (void)state;
  static const struct {
    const char *text, *name; /* NULL: no cycle */
  } cases[] = {
      {"W1x R2x0 W1x C2 C1", NULL},
      {"W1x W1x C1 R2x C2", NULL},
      {"W1x W2y R2x0 R1y0 C2 C1", "Write Skew"},
      {"W1x W2y R2x0 C2 R1y C1", NULL},
      {"R1x W2y W2x C2 R1y0 C1", NULL},
      {"R1x0 W2x C2 W1x C1", "Lost Update Committed"},
      {"W2x C2 R1x R1x0 C1", "Non-repeatable Read Committed"},
      {"R1x W2x A2 R1x C1", NULL},
      {"R1x R2x R3x C1 C2 C3", NULL},
      /* Four transactions, two objects: the most that two objects need. */
      {"R1x R3y W2x R3x0 W4y R1y0 R3x1 C1 C2 C3 C4", "Non-repeatable Read"},
      {"R1x W4y W2x C2 R3x R3y0 R1y C1 C3 C4", "Step RAT"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_schedule *schedule = parse(cases[i].text);
    isoproof_pop_graph *graph = graph_of(schedule);
    isoproof_pop_cycle cycle = {.struct_size = sizeof cycle};
    bool found = isoproof_pop_graph_cycle_at(graph, 0, &cycle);
    if (found != (cases[i].name != NULL)) fail_msg("%s: %s", cases[i].text, found ? cycle.name : "no cycle");
    if (found && strcmp(cycle.name, cases[i].name) != 0) fail_msg("%s: %s", cases[i].text, cycle.name);
    isoproof_pop_graph_free(graph);
    isoproof_schedule_free(schedule);
  }
}

/* ---- levels ---- */

static void histories_are_judged(void **state) {
  (void)state;
  static const struct {
    const char *text, *violated, *satisfied;
  } cases[] = {
      {"W1x R2x A1 C2", "read-committed", "cut-isolation"},
      {"R1x W2x C2 R1x C1", "cut-isolation", "read-committed"},
      {"R1x W2y W2x C2 R1y C1", "read-atomic", "read-committed"},
      {"W1x W2y R2x R1y C2 C1", "read-committed", "cut-isolation"},
      {"W1x W2y W2x W1y C1 C2", "read-committed", "cut-isolation"},
      {"W1x W2x C1 C2", NULL, "serializable"},
      {"R1x R2y W2x W1y C1 C2", "serializable", "snapshot-isolation"},
      {"R1x W2x C2 W1x C1", "update-atomic", "prefix"},
      {"R1x W2y W2x W1y C1 C2", "serializable", "causal"},
      {"R1x W2x C2 W1x", NULL, "causal"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_schedule *schedule = parse(cases[i].text);
    isoproof_history *history;
    isoproof_result *result;
    assert_int_equal(isoproof_schedule_history(schedule, &history, NULL), ISOPROOF_OK);
    assert_int_equal(isoproof_check(history, NULL, NULL, &result, NULL), ISOPROOF_OK);
    if (cases[i].violated != NULL)
      assert_int_equal(isoproof_result_verdict_of(result, cases[i].violated), ISOPROOF_VIOLATED);
    assert_int_equal(isoproof_result_verdict_of(result, cases[i].satisfied), ISOPROOF_SATISFIED);
    isoproof_result_free(result);
    isoproof_history_free(history);
    isoproof_schedule_free(schedule);
  }
}

static void statements_are_made(void **state) {
  (void)state;
  isoproof_schedule *schedule = parse("R1x W2y W2x C2 A1");
  char sql[128];
  static const char *const steps[] = {"SELECT v FROM t WHERE k = 0", "UPDATE t SET v = 1 WHERE k = 1",
                                      "UPDATE t SET v = 2 WHERE k = 0", "COMMIT", "ROLLBACK"};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    assert_int_equal(isoproof_schedule_sql_at(schedule, "t", i, sql, sizeof sql), strlen(steps[i]));
    assert_string_equal(sql, steps[i]);
  }
  assert_int_equal(isoproof_schedule_sql_at(schedule, "t", 5, sql, sizeof sql), 0);
  isoproof_schedule_sql_setup_at(schedule, "t", 2, sql, sizeof sql);
  assert_string_equal(sql, "INSERT INTO t VALUES (1, 0)");
  assert_int_equal(isoproof_schedule_sql_setup_at(schedule, "t", 3, sql, sizeof sql), 0);
  isoproof_schedule_free(schedule);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_is_read_and_written),
      cmocka_unit_test(bad_text_is_refused),
      cmocka_unit_test(limits_are_kept),
      cmocka_unit_test(dense_schedules_end),
      cmocka_unit_test(pops_are_found),
      cmocka_unit_test(published_cases_are_named),
      cmocka_unit_test(executed_schedules_are_judged),
      cmocka_unit_test(histories_are_judged),
      cmocka_unit_test(statements_are_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
