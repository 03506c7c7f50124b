/* Histories that tell levels apart: one for every pair or a proof, judged by the engines and by the oracles, and found
 * again by the search as far as that takes no time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <isoproof/distinguish.h>
#include <isoproof/isoproof.h>

#include "level/distinctions.h"
#include "tests/distinguish/enumerate.h"
#include "tests/distinguish/judge.h"
#include "tests/distinguish/search.h"
#include "tests/oracle/mixed.h"
#include "tests/oracle/oracle.h"

static isoproof_history *open_text(const char *text, const char *format) {
  isoproof_open_options options = {.struct_size = sizeof options, .format = format};
  isoproof_history *history = NULL;
  isoproof_error error = {0};
  if (isoproof_history_open_memory(text, strlen(text), "history", &options, NULL, &history, &error) != ISOPROOF_OK)
    fail_msg("%s\n%s", error.message, text);
  return history;
}

/* Models of lists are asked for as models, everything else as a level. */
static isoproof_verdict verdict_of(isoproof_history *history, const isoproof_level_info *level, bool lists) {
  isoproof_check_options options = {.struct_size = sizeof options};
  isoproof_result *result = NULL;
  isoproof_error error = {0};
  if (lists && level->family == ISOPROOF_LEVEL_MODEL) {
    options.models = &level->id;
    options.model_count = 1;
  } else {
    options.levels = &level->id;
    options.level_count = 1;
  }
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  isoproof_verdict verdict = isoproof_result_verdict_of(result, level->id);
  isoproof_result_free(result);
  return verdict;
}

static size_t proof_length(const isoproof_level_info *stronger, const isoproof_level_info *weaker) {
  isoproof_proof_step step = {.struct_size = sizeof step};
  const isoproof_level_info *at = stronger;
  size_t length = 0;
  for (; isoproof_proof_step_at(stronger, weaker, length, &step); length++) {
    assert_ptr_equal(step.stronger, at);
    assert_true(strlen(step.why) > 10 && strlen(step.source) > 3);
    at = step.weaker;
  }
  if (length > 0) assert_ptr_equal(at, weaker);
  return length;
}

/* ---- every pair ---- */

/* Of these every pair is settled: the levels, and the models that are decided by the cycles that they forbid.  Other
 * models are ruled out and proved together with others only, or need predicates, which lists do not have. */
static bool is_settled(const isoproof_level_info *a, const isoproof_level_info *b) {
  static const char *const cyclic[] = {
      "PL-1",        "PL-2",        "PL-2+", "PL-SI", "PL-3", "strong-session-PL-1", "strong-session-PL-2",
      "strong-PL-1", "strong-PL-2", "PL-SS"};
  bool levels = iso_distinction_kind_of((iso_level)a->number, (iso_level)b->number) < ISO_DISTINCTION_LISTS;
  int found = 0;
  for (size_t i = 0; i < sizeof cyclic / sizeof cyclic[0]; i++)
    found += (strcmp(a->id, cyclic[i]) == 0) + (strcmp(b->id, cyclic[i]) == 0);
  return levels || found == 2;
}

static void test_every_pair_is_told_apart_or_implied(void **state) {
  (void)state;
  size_t apart = 0, implied = 0, open = 0;
  const isoproof_level_info *a, *b;
  for (size_t i = 0; (a = isoproof_level_at(i)) != NULL; i++) {
    for (size_t j = 0; (b = isoproof_level_at(j)) != NULL; j++) {
      if (i == j || !isoproof_can_distinguish(a) || !isoproof_can_distinguish(b)) continue;
      isoproof_distinction d = {.struct_size = sizeof d};
      bool found = isoproof_distinguish(a, b, &d);
      bool proved = proof_length(a, b) > 0;
      if (found && proved) fail_msg("%s, %s: found and proved", a->id, b->id);
      if (!found && !proved && is_settled(a, b)) fail_msg("%s, %s: neither", a->id, b->id);
      if (isoproof_level_implies(a, b)) assert_false(found);
      (*(found ? &apart : proved ? &implied : &open))++;
      if (!found) continue;
      isoproof_history *history = open_text(d.history, d.format);
      if (verdict_of(history, a, d.lists) != ISOPROOF_SATISFIED) fail_msg("%s forbids\n%s", a->id, d.history);
      if (verdict_of(history, b, d.lists) != ISOPROOF_VIOLATED) fail_msg("%s allows\n%s", b->id, d.history);
      isoproof_history_free(history);
    }
  }
  assert_int_equal(apart + implied + open, 35 * 34); /* 17 levels, and 18 models that have names of their own */
  assert_true(apart > implied && implied > open);
}

static void test_models_that_are_not_proved(void **state) {
  (void)state;
  isoproof_distinction d = {.struct_size = sizeof d};
  const isoproof_level_info *rr = isoproof_level_find("PL-2.99"), *ser = isoproof_level_find("PL-3");
  assert_true(isoproof_can_distinguish(rr));
  assert_false(isoproof_can_distinguish(isoproof_level_find_in("prefix", ISOPROOF_LEVEL_MODEL)));
  assert_false(isoproof_can_distinguish(isoproof_level_find("view-serializable")));
  assert_false(isoproof_can_distinguish(NULL));
  assert_false(isoproof_distinguish(rr, ser, &d));
  assert_false(isoproof_distinguish(ser, NULL, &d));
  assert_true(isoproof_distinguish_searched(rr, ser, 2) > 0);
  assert_true(proof_length(ser, rr) > 0);
  assert_int_equal(proof_length(rr, ser), 0);
  assert_int_equal(proof_length(ser, ser), 0);
  d.struct_size = 0;
  assert_false(isoproof_distinguish(isoproof_level_find("si"), ser, &d));
}

/* What follows from linearizable follows for single operations, and is no step on the way of anything else. */
static void test_proofs_do_not_lead_through_linearizable(void **state) {
  (void)state;
  const isoproof_level_info *lin = isoproof_level_find("linearizable");
  const isoproof_level_info *strong = isoproof_level_find("strong-snapshot-isolation");
  assert_int_equal(proof_length(strong, lin), 1);
  assert_true(proof_length(lin, isoproof_level_find("serializable")) > 0);
  assert_int_equal(proof_length(strong, isoproof_level_find("strict-serializable")), 0);
  assert_int_equal(proof_length(strong, isoproof_level_find("serializable")), 0);
}

/* ---- the table ---- */

static void test_oracles_agree_with_the_table(void **state) {
  (void)state;
  const iso_distinction *d;
  for (size_t i = 0; (d = iso_distinction_at(i)) != NULL; i++) {
    isoproof_history *history = open_text(d->history, d->kind == ISO_DISTINCTION_PLAIN ? "plume" : "jsonl");
    isoproof_counts counts = {.struct_size = sizeof counts};
    assert_true(isoproof_history_counts(history, &counts));
    assert_int_equal(counts.transactions, d->transactions);
    assert_int_equal(counts.operations, d->operations);
    assert_int_equal(counts.sessions, d->sessions);
    assert_int_equal(counts.keys, d->keys);
    oracle_verdicts verdicts;
    assert_true(oracle_judge(history, &verdicts));
    for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
      oracle_level level = oracle_level_find(isoproof_level_at(l)->id);
      bool of_levels = isoproof_level_at(l)->family != ISOPROOF_LEVEL_MODEL && level != ORACLE_LEVELS;
      if (!of_levels || (d->asked & ISO_LEVEL_BIT(l)) == 0) continue;
      if (verdicts.satisfied[level] != ((d->holds & ISO_LEVEL_BIT(l)) != 0))
        fail_msg("%s\n%s", isoproof_level_at(l)->id, d->history);
    }
    isoproof_history_free(history);
  }
}

/* Whether a row of the table is within the bounds of a search. */
static bool is_within(const search_bounds *bounds, const iso_distinction *d) {
  return d->operations <= bounds->operations[d->kind][d->transactions];
}

/* The search, as far as it goes in a second, with the oracles: it finds what the table has, in the same order. */
static void test_search_finds_the_table_again(void **state) {
  (void)state;
  static search_outcome outcome;
  assert_true(search_run(&search_some, SMALL_TXNS, &outcome));
  size_t at = 0;
  const iso_distinction *d;
  for (size_t i = 0; (d = iso_distinction_at(i)) != NULL; i++) {
    if (!is_within(&search_some, d)) continue;
    if (at == outcome.count) fail_msg("not found:\n%s", d->history);
    const search_row *row = &outcome.rows[at++];
    char text[SMALL_TEXT];
    small_text(&row->history, &row->frame, text);
    assert_string_equal(text, d->history);
    assert_int_equal(row->kind, d->kind);
    assert_true(row->asked == d->asked && row->holds == d->holds);
  }
  assert_int_equal(at, outcome.count);
}

/* How many there are is known: 207 of 219 partial orders of four are interval orders (the others hold 2 + 2). */
static void test_timings(void **state) {
  (void)state;
  static small_timing timings[SMALL_TIMINGS];
  const size_t counts[] = {0, 1, 3, 19, 207};
  for (unsigned txns = 1; txns <= SMALL_TXNS; txns++) assert_int_equal(small_timings(txns, timings), counts[txns]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_pair_is_told_apart_or_implied),
      cmocka_unit_test(test_models_that_are_not_proved),
      cmocka_unit_test(test_proofs_do_not_lead_through_linearizable),
      cmocka_unit_test(test_oracles_agree_with_the_table),
      cmocka_unit_test(test_search_finds_the_table_again),
      cmocka_unit_test(test_timings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
