/* Systematic schedules: the history of an outcome, and whole runs on the simulator and on SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <isoproof/systematic.h>

#include "coo/systematic/execute.h"
#include "coo/systematic/judge.h"

/* ---- histories ---- */

/* Both read the row; the first deletes it while the second reads by predicate, updates and waits; the first commits,
 * and the second finds no row to update. */
static const iso_sys_schedule both = {.family = {.txns = 2,
                                                 .rows = 2,
                                                 .programs = {{2, 0, {{ISO_SYS_READ, 0, 0}, {ISO_SYS_DELETE, 0, 0}}},
                                                              {2, 0, {{ISO_SYS_KEYS, 0, 0}, {ISO_SYS_UPDATE, 0, 0}}}},
                                                 .starts = {ISO_SYS_MATCHING, ISO_SYS_OTHER}},
                                      .count = 8,
                                      .order = {0, 1, 0, 1, 0, 1, 0, 1}};

static void add_event(iso_stepper *stepper, uint32_t session, uint32_t act, iso_step_event event) {
  event.session = session;
  event.act = act;
  event.issued = stepper->event_count;
  stepper->events[stepper->event_count++] = event;
}

/* Runs number 3: keys begin at 24, values at 600. */
static void tell_run(iso_stepper *stepper, iso_sys_run *run) {
  run->schedule = both;
  run->number = 3;
  run->script.count = iso_sys_acts(&run->schedule, run->acts);
  assert_int_equal(run->script.count, 6);
  for (uint32_t i = 0; i < 6; i++) run->script.acts[i].kind = i < 4 ? ISO_ACT_REQUEST : ISO_ACT_COMMIT;
  add_event(stepper, 0, 0, (iso_step_event){.present = true, .value = 701});
  add_event(stepper, 1, 1, (iso_step_event){.rows = 2, .found = {{25, 701}, {26, 602}}});
  add_event(stepper, 0, 2, (iso_step_event){.affected = 1});
  add_event(stepper, 1, 3, (iso_step_event){.kind = ISO_EVENT_WAITS});
  add_event(stepper, 0, 4, (iso_step_event){0});
  add_event(stepper, 1, 3, (iso_step_event){.affected = 0});
  add_event(stepper, 1, 5, (iso_step_event){0});
  for (uint32_t txn = 0; txn < 2; txn++) {
    run->final[txn][0] = (iso_row){26, 602};
    run->final_count[txn] = 1;
  }
}

static void test_history(void **state) {
  (void)state;
  iso_stepper *stepper = calloc(1, sizeof *stepper);
  iso_sys_run *run = calloc(1, sizeof *run);
  iso_sys_text_buffer text = {0};
  isoproof_error error;
  assert_true(stepper != NULL && run != NULL);
  tell_run(stepper, run);
  assert_int_equal(iso_sys_history(stepper, run, &text, &error), ISOPROOF_OK);
  assert_string_equal(
      text.items,
      "{\"isoproof\":1,\"initial\":null}\n"
      "{\"initial_rows\":[[1,101],[2,2]]}\n"
      "{\"session\":1,\"status\":\"committed\",\"start\":1,\"end\":10,\"ops\":[[\"r\",1,101],[\"delete\",1,null]]}\n"
      "{\"session\":1,\"status\":\"committed\",\"start\":15,\"end\":16,\"ops\":[[\"r\",1,null],[\"r\",2,2],"
      "[\"r\",1,null],[\"r\",2,2]]}\n"
      "{\"session\":2,\"status\":\"committed\",\"start\":3,\"end\":14,\"ops\":[[\"rp\",{\"keys\":[1,2]},[[1,101],[2,2]]"
      "],"
      "[\"missed-update\",1,null]]}\n"
      "{\"session\":2,\"status\":\"committed\",\"start\":15,\"end\":16,\"ops\":[[\"r\",1,null],[\"r\",2,2],"
      "[\"r\",1,null],[\"r\",2,2]]}\n");
  /* A row that the schedule did not write is no anomaly. */
  run->final[1][0].value = 802;
  assert_int_equal(iso_sys_history(stepper, run, &text, &error), ISOPROOF_ERR_INTERFERENCE);
  iso_vec_free(&text);
  free(run);
  free(stepper);
}

static void test_words(void **state) {
  (void)state;
  iso_stepper *stepper = calloc(1, sizeof *stepper);
  iso_sys_run *run = calloc(1, sizeof *run);
  static const char *const words[] = {"101", "1|101, 2|2", "", "", "", "no row", ""};
  char word[64];
  assert_true(stepper != NULL && run != NULL);
  tell_run(stepper, run);
  for (uint32_t i = 0; i < stepper->event_count; i++) {
    iso_sys_returned(&stepper->events[i], run, word, sizeof word);
    assert_string_equal(word, words[i]);
  }
  free(run);
  free(stepper);
}

static void test_judge(void **state) {
  (void)state;
  /* Two that read one row, of which the last writer wins: a lost update. */
  static const char lost[] = "{\"isoproof\":1,\"initial\":null}\n{\"initial_rows\":[[1,101]]}\n"
                             "{\"session\":1,\"status\":\"committed\",\"ops\":[[\"r\",1,101],[\"delete\",1,null]]}\n"
                             "{\"session\":2,\"status\":\"committed\",\"ops\":[[\"r\",1,101],[\"update\",1,122]]}\n"
                             "{\"session\":2,\"status\":\"committed\",\"ops\":[[\"r\",1,null]]}\n";
  iso_sys_judge judge;
  iso_sys_verdict verdict, again;
  isoproof_error error;
  assert_int_equal(iso_sys_judge_open(&judge, &error), ISOPROOF_OK);
  assert_int_equal(iso_sys_judge_text(&judge, lost, strlen(lost), "snapshot-isolation", &verdict, &error), ISOPROOF_OK);
  assert_int_equal(verdict.expected, ISOPROOF_VIOLATED);
  assert_int_equal(verdict.serializable, ISOPROOF_VIOLATED);
  assert_true(verdict.name[0] != 0 && verdict.explanation[0] != 0);
  assert_non_null(strstr(verdict.explanation, "T2"));
  assert_null(strstr(verdict.explanation, "s2t"));
  assert_null(strstr(verdict.explanation, "outcome:"));
  assert_int_equal(iso_sys_judge_text(&judge, lost, strlen(lost), "snapshot-isolation", &again, &error), ISOPROOF_OK);
  assert_ptr_equal(verdict.explanation, again.explanation);
  assert_int_equal(iso_sys_judge_text(&judge, lost, strlen(lost), "read-committed", &again, &error), ISOPROOF_OK);
  assert_int_equal(again.expected, ISOPROOF_SATISFIED);
  assert_int_equal(judge.count, 2);
  assert_int_equal(iso_sys_judge_text(&judge, lost, strlen(lost), NULL, &again, &error), ISOPROOF_OK);
  assert_int_equal(again.expected, ISOPROOF_VERDICT_NONE);
  iso_sys_judge_free(&judge);
}

/* ---- runs ---- */

static isoproof_systematic *run_jobs(const char *url, const char *level, isoproof_systematic_bounds bounds,
                                     const char *expect, uint32_t jobs) {
  bounds.struct_size = sizeof bounds;
  isoproof_systematic_options options = {.struct_size = sizeof options,
                                         .urls = &url,
                                         .url_count = 1,
                                         .levels = &level,
                                         .level_count = level != NULL,
                                         .bounds = &bounds,
                                         .expect = expect,
                                         .jobs = jobs};
  isoproof_systematic *runs = NULL;
  isoproof_error error;
  if (isoproof_systematic_run(&options, NULL, &runs, &error) != ISOPROOF_OK) fail_msg("%s: %s", url, error.message);
  return runs;
}

static isoproof_systematic *run_on(const char *url, const char *level, isoproof_systematic_bounds bounds,
                                   const char *expect) {
  return run_jobs(url, level, bounds, expect, 0);
}

static isoproof_systematic_level level_of(const isoproof_systematic *runs, size_t number) {
  isoproof_systematic_level level = {.struct_size = sizeof level};
  assert_true(isoproof_systematic_level_at(runs, number, &level));
  return level;
}

/* The levels of the simulator give what they say, but for read atomic, which may show a row as it was before the start.
 */
static void test_simulator(void **state) {
  (void)state;
  static const char *const levels[] = {"read committed", "causal", "parallel snapshot isolation", "snapshot isolation",
                                       "serializable"};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    isoproof_systematic_summary summary = {.struct_size = sizeof summary};
    isoproof_systematic *runs =
        run_on("sim:", levels[i], (isoproof_systematic_bounds){.operations = 1, .predicates = 4}, NULL);
    assert_true(isoproof_systematic_summary_of(runs, &summary));
    assert_int_equal(summary.forbidden, 0);
    assert_int_equal(summary.undecided, 0);
    assert_int_equal(summary.next, 0);
    assert_int_equal(summary.schedules, 412);
    isoproof_systematic_free(runs);
  }
}

static void test_findings(void **state) {
  (void)state;
  isoproof_systematic *runs =
      run_on("sim:", "snapshot isolation", (isoproof_systematic_bounds){.predicates = 1, .limit = 4000, .drawn = true},
             "serializable");
  isoproof_systematic_finding finding = {.struct_size = sizeof finding};
  isoproof_coo_event event = {.struct_size = sizeof event};
  isoproof_systematic_level level = level_of(runs, 0);
  isoproof_systematic_level reused = {.struct_size = sizeof reused};
  uint64_t counted = 0;
  assert_true(isoproof_systematic_reused_at(runs, 0, &reused));
  assert_false(isoproof_systematic_reused_at(runs, 1, &reused));
  assert_int_equal(level.schedules + reused.schedules, 4000);
  assert_true(level.forbidden > 0);
  assert_int_equal(level.forbidden, level.not_serializable);
  assert_string_equal(level.source, "option");
  /* Each is listed, or counted with a smaller one. */
  for (size_t i = 0; isoproof_systematic_finding_at(runs, i, &finding); i++) counted += finding.orders + finding.larger;
  assert_int_equal(counted, level.forbidden + reused.forbidden);
  assert_true(isoproof_systematic_finding_at(runs, 0, &finding));
  assert_true(finding.schedule[0] == '[' && finding.name[0] != 0 && finding.explanation[0] != 0);
  assert_true(isoproof_systematic_event_at(runs, 0, 0, &event));
  assert_true(event.sql[0] != 0);
  assert_false(isoproof_systematic_event_at(runs, 0, finding.event_count, &event));
  assert_false(isoproof_systematic_finding_at(runs, level.forbidden, &finding));
  isoproof_systematic_free(runs);
}

static void test_sqlite(void **state) {
  (void)state;
  if (iso_driver_get(ISO_DRIVER_SQLITE) == NULL) skip();
  isoproof_systematic_summary summary = {.struct_size = sizeof summary};
  isoproof_systematic *runs =
      run_on("sqlite:", "serializable", (isoproof_systematic_bounds){.predicates = 1, .first = 100, .limit = 60}, NULL);
  isoproof_systematic_level level = level_of(runs, 0);
  isoproof_systematic_level reused = {.struct_size = sizeof reused};
  assert_true(isoproof_systematic_reused_at(runs, 0, &reused));
  assert_true(reused.schedules > 0);
  assert_int_equal(level.schedules + reused.schedules, 60);
  assert_int_equal(level.committed + level.aborted + reused.committed + reused.aborted, 60);
  assert_int_equal(level.forbidden, 0);
  assert_true(level.blocked > 0);
  assert_true(isoproof_systematic_summary_of(runs, &summary));
  assert_int_equal(summary.next, 160);
  assert_int_equal(summary.reused_schedules, reused.schedules);
  isoproof_systematic_free(runs);
}

/* Several at once give what one after the other does, in the same order. */
static void test_jobs(void **state) {
  (void)state;
  const isoproof_systematic_bounds bounds = {.predicates = 1, .limit = 700, .drawn = true};
  isoproof_systematic *one = run_jobs("sim:", "snapshot isolation", bounds, "serializable", 1);
  isoproof_systematic *many = run_jobs("sim:", "snapshot isolation", bounds, "serializable", 16);
  isoproof_systematic_summary a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
  isoproof_systematic_finding x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
  isoproof_systematic_level left = level_of(one, 0), right = level_of(many, 0);
  assert_true(isoproof_systematic_summary_of(one, &a) && isoproof_systematic_summary_of(many, &b));
  assert_int_equal(a.jobs, 1);
  assert_int_equal(b.jobs, 16);
  assert_true(a.schedules == 700 && b.schedules == 700);
  assert_int_equal(a.next, b.next);
  assert_int_equal(left.committed, right.committed);
  assert_int_equal(left.not_serializable, right.not_serializable);
  size_t count = 0;
  for (; isoproof_systematic_finding_at(one, count, &x); count++) {
    assert_true(isoproof_systematic_finding_at(many, count, &y));
    assert_string_equal(x.schedule, y.schedule);
    assert_string_equal(x.history, y.history);
    assert_int_equal(x.larger, y.larger);
  }
  assert_true(count > 0);
  assert_false(isoproof_systematic_finding_at(many, count, &y));
  isoproof_systematic_free(one);
  isoproof_systematic_free(many);
}

/* ---- keys used again, and parts ---- */

static bool reuses(const char *text) {
  isoproof_systematic_walk *walk;
  isoproof_error error;
  isoproof_systematic_bounds bounds = {.struct_size = sizeof bounds, .rows = 1, .predicates = 1};
  isoproof_systematic_schedule schedule = {.struct_size = sizeof schedule};
  assert_int_equal(isoproof_systematic_walk_new(&bounds, &walk, &error), ISOPROOF_OK);
  while (isoproof_systematic_walk_next(walk, &schedule))
    if (strcmp(schedule.text, text) == 0) break;
  assert_string_equal(schedule.text, text);
  bool reused = schedule.reused > 0;
  isoproof_systematic_walk_free(walk);
  return reused;
}

static void test_reused(void **state) {
  (void)state;
  assert_true(reuses("[x] D2x I1x C1 C2"));
  assert_true(reuses("[x] D2x U1x C1 I2x C2"));
  /* A row that is inserted once and deleted later was never there before. */
  assert_false(reuses("[] D2x I1x C1 C2"));
  assert_false(reuses("[x] U1x D2x C1 C2"));
}

static void test_parts(void **state) {
  (void)state;
  iso_sys_schedule part, given = both;
  char text[ISO_SYS_TEXT_BYTES];
  iso_sys_canonize(&given);
  /* Everything but the reads: the row that is left is there, and what its value matches does not matter. */
  uint32_t mask = 0, bit = 0;
  for (uint32_t t = 0; t < 2; t++)
    for (uint32_t i = 0; i < 2; i++, bit++)
      if (iso_sys_kind_writes((iso_sys_kind)given.family.programs[t].ops[i].kind)) mask |= 1U << bit;
  assert_true(iso_sys_part(&given, mask, &part));
  iso_sys_text(&part, text);
  assert_string_equal(text, "[x] D2x U1x C2 C1");
  /* The whole is a part of itself, but one transaction is no schedule. */
  assert_true(iso_sys_part(&given, 0xf, &part));
  assert_int_equal(part.family.rows, 1);
  assert_false(iso_sys_part(&given, 0x3, &part));
}

static void test_bad_options(void **state) {
  (void)state;
  static const isoproof_systematic_bounds wrong[] = {{.transactions = 4}, {.transactions = 1}, {.operations = 5},
                                                     {.rows = 4},         {.predicates = 5},   {.drawn = true}};
  isoproof_systematic_walk *walk;
  isoproof_error error;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    isoproof_systematic_bounds bounds = wrong[i];
    bounds.struct_size = sizeof bounds;
    assert_int_equal(isoproof_systematic_walk_new(&bounds, &walk, &error), ISOPROOF_ERR_USAGE);
  }
  const char *url = "sim:";
  isoproof_systematic_options options = {
      .struct_size = sizeof options, .urls = &url, .url_count = 1, .layout = "round"};
  isoproof_systematic *runs;
  assert_int_equal(isoproof_systematic_run(&options, NULL, &runs, &error), ISOPROOF_ERR_USAGE);
  assert_null(runs);
}

/* Cancelled before anything was run. */
static void test_cancelled(void **state) {
  (void)state;
  const char *url = "sim:";
  isoproof_systematic_options options = {.struct_size = sizeof options, .urls = &url, .url_count = 1};
  isoproof_systematic *runs;
  isoproof_error error;
  isoproof_task *task = NULL;
  assert_int_equal(isoproof_task_new(&task), ISOPROOF_OK);
  isoproof_task_cancel(task);
  assert_int_equal(isoproof_systematic_run(&options, task, &runs, &error), ISOPROOF_ERR_CANCELLED);
  assert_null(runs);
  isoproof_task_free(task);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_history),   cmocka_unit_test(test_words),       cmocka_unit_test(test_judge),
      cmocka_unit_test(test_simulator), cmocka_unit_test(test_findings),    cmocka_unit_test(test_sqlite),
      cmocka_unit_test(test_cancelled), cmocka_unit_test(test_bad_options), cmocka_unit_test(test_jobs),
      cmocka_unit_test(test_reused),    cmocka_unit_test(test_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
