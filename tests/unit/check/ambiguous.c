/* Histories in which several writes could explain a read, against trying every choice with the oracle. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"
#include "verify/certificate.h"

enum { MOST_READS = SKETCH_TXNS * SKETCH_OPS, MOST_WRITES = MOST_READS, MOST_COMBINATIONS = 300 };

/* Which writes could explain each read of a sketch: their numbers, 0 for the initial version, NOBODY for none. */
enum { NOBODY = 200 };

typedef struct table {
  struct {
    unsigned txn, op;
  } read[MOST_READS];
  unsigned reads;
  uint8_t candidate[MOST_READS][MOST_WRITES + 1];
  unsigned candidates[MOST_READS];
  double combinations;
} table;

/* The number of a write, which is also the value it gets when every write has its own. */
static uint8_t number_of(unsigned txn, unsigned op) { return (uint8_t)(1 + txn * SKETCH_OPS + op); }

static void find_candidates(const sketch *s, table *t, unsigned read) {
  const sketch_op *wanted = &s->txns[t->read[read].txn].ops[t->read[read].op];
  t->candidates[read] = 0;
  if (wanted->value == 0) t->candidate[read][t->candidates[read]++] = 0;
  for (unsigned txn = 0; txn < s->count; txn++) {
    for (unsigned op = 0; op < s->txns[txn].count; op++) {
      const sketch_op *write = &s->txns[txn].ops[op];
      bool fits = write->write && write->key == wanted->key && write->value == wanted->value;
      if (fits) t->candidate[read][t->candidates[read]++] = number_of(txn, op);
    }
  }
  if (t->candidates[read] == 0) t->candidate[read][t->candidates[read]++] = NOBODY;
}

static void make_table(const sketch *s, table *t) {
  t->reads = 0;
  t->combinations = 1;
  for (unsigned txn = 0; txn < s->count; txn++) {
    for (unsigned op = 0; op < s->txns[txn].count; op++) {
      if (s->txns[txn].ops[op].write) continue;
      t->read[t->reads].txn = txn;
      t->read[t->reads].op = op;
      find_candidates(s, t, t->reads);
      t->combinations *= t->candidates[t->reads++];
    }
  }
}

/* Every write with a value of its own, every read with that of its choice. */
static isoproof_history *with_choices(const sketch *s, const table *t, const unsigned *choice) {
  sketch unique = *s;
  for (unsigned txn = 0; txn < s->count; txn++) {
    for (unsigned op = 0; op < s->txns[txn].count; op++) {
      if (s->txns[txn].ops[op].write) unique.txns[txn].ops[op].value = number_of(txn, op);
    }
  }
  for (unsigned i = 0; i < t->reads; i++) {
    unique.txns[t->read[i].txn].ops[t->read[i].op].value = t->candidate[i][choice[i]];
  }
  return sketch_history(&unique);
}

/* Which levels some choice satisfies; false when the oracle cannot say. */
static bool try_all(const sketch *s, const table *t, bool satisfied[ORACLE_LEVELS]) {
  unsigned choice[MOST_READS] = {0}, i;
  memset(satisfied, 0, ORACLE_LEVELS * sizeof *satisfied);
  do {
    isoproof_history *history = with_choices(s, t, choice);
    oracle_verdicts verdicts;
    bool judged = oracle_judge(history, &verdicts);
    isoproof_history_free(history);
    if (!judged) return false;
    for (int level = 0; level < ORACLE_LEVELS; level++) satisfied[level] |= verdicts.satisfied[level];
    for (i = 0; i < t->reads; i++) {
      if (++choice[i] < t->candidates[i]) break;
      choice[i] = 0;
    }
  } while (i < t->reads);
  return true;
}

/* Makes values few, so that writes share them. */
static void collapse(sketch *s, unsigned values) {
  for (unsigned txn = 0; txn < s->count; txn++) {
    for (unsigned op = 0; op < s->txns[txn].count; op++) {
      sketch_op *o = &s->txns[txn].ops[op];
      if (o->value > 0) o->value = (uint8_t)(o->value % (values + 1));
      if (o->write && o->value == 0) o->value = 1;
    }
  }
}

static void compare(const sketch *s, const bool satisfied[ORACLE_LEVELS]) {
  isoproof_history *history = sketch_history(s);
  isoproof_result *result;
  isoproof_error error;
  isoproof_check_options options = {.struct_size = sizeof options, .duplicate_values = true};
  char text[4096];
  sketch_print(s, text, sizeof text);
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) fail_msg("%s\n%s", error.message, text);
  for (int level = 0; level < ORACLE_LEVELS; level++) {
    if (level == ORACLE_STRONG_SNAPSHOT || level == ORACLE_STRICT_SERIALIZABLE) continue; /* need times */
    isoproof_verdict verdict = isoproof_result_verdict_of(result, oracle_level_id((oracle_level)level));
    if (verdict == (satisfied[level] ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED)) continue;
    fail_msg("%s is %s, but trying every choice says otherwise:\n%s", oracle_level_id((oracle_level)level),
             isoproof_verdict_name(verdict), text);
  }
  isoproof_result_free(result);
  isoproof_history_free(history);
}

static void test_random(void **state) {
  (void)state;
  const char *wish = getenv("ISOPROOF_RANDOM_HISTORIES"), *start = getenv("ISOPROOF_RANDOM_SEED");
  uint64_t histories = (wish != NULL ? strtoull(wish, NULL, 10) : 200000) / 20;
  uint64_t seed = start != NULL ? strtoull(start, NULL, 10) : 1, judged = 0, ambiguous = 0;
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    table t;
    bool satisfied[ORACLE_LEVELS];
    sketch_draw(&seed, &s);
    collapse(&s, 1 + (unsigned)sketch_below(&seed, 2));
    make_table(&s, &t);
    if (t.combinations > MOST_COMBINATIONS || !try_all(&s, &t, satisfied)) continue;
    judged++;
    ambiguous += t.combinations > 1;
    compare(&s, satisfied);
  }
  if (wish != NULL) print_message("judged %" PRIu64 " histories, %" PRIu64 " with a choice\n", judged, ambiguous);
  assert_true(ambiguous > histories / 10);
}

static isoproof_history *read_text(const char *text) {
  isoproof_history *history = NULL;
  isoproof_error error;
  isoproof_open_options options = {.struct_size = sizeof options, .format = "plume"};
  isoproof_status status = isoproof_history_open_memory(text, strlen(text), "h.txt", &options, NULL, &history, &error);
  assert_int_equal(status, ISOPROOF_OK);
  return history;
}

static isoproof_verdict judge(const char *text, const char *level) {
  isoproof_history *history = read_text(text);
  isoproof_result *result;
  isoproof_error error;
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = &level, .level_count = 1, .duplicate_values = true};
  assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_OK);
  isoproof_verdict verdict = isoproof_result_verdict(result);
  if (verdict == ISOPROOF_VIOLATED) assert_true(isoproof_result_anomaly_count(result) > 0);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return verdict;
}

/* A write of the initial value is one more candidate. */
static void test_initial_value(void **state) {
  (void)state;
  assert_int_equal(judge("w(0,1,2,1)\nw(0,0,1,2)\nr(0,0,2,3)\nr(0,0,2,3)\n", "serializable"), ISOPROOF_SATISFIED);
  assert_int_equal(judge("w(0,1,2,1)\nw(0,0,2,2)\nw(0,1,2,3)\nr(0,0,2,4)\n", "read-atomic"), ISOPROOF_VIOLATED);
}

/* What the simulator makes at a level satisfies it whatever values repeat, and the order that is found proves it. */
static void test_simulated(void **state) {
  (void)state;
  for (uint64_t run = 0; run < 3 * ISOPROOF_SIM_LEVELS; run++) {
    isoproof_sim_options sim = {.struct_size = sizeof sim};
    assert_true(isoproof_sim_defaults(&sim));
    sim.seed = run + 1;
    sim.level = (isoproof_sim_level)(run % ISOPROOF_SIM_LEVELS);
    sim.sessions = 6;
    sim.txns = 120;
    sim.ops_min = sim.ops_max = 5;
    sim.keys = 12;
    sim.duplicate_share = 0.6;
    sim.unknown_share = run / ISOPROOF_SIM_LEVELS == 1 ? 0.1 : 0; /* some of them were observed, nobody knows which */
    isoproof_history *history;
    isoproof_result *result;
    isoproof_error error;
    const char *level = isoproof_sim_level_name(sim.level);
    isoproof_check_options options = {
        .struct_size = sizeof options, .levels = &level, .level_count = 1, .certificate = true};
    assert_int_equal(isoproof_simulate(&sim, NULL, &history, NULL, &error), ISOPROOF_OK);
    if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
    if (isoproof_result_verdict(result) != ISOPROOF_SATISFIED) fail_msg("seed %u: not %s", (unsigned)run + 1, level);
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

/* ---- what certificates say that reads observed ---- */

static isoproof_history *simulate(uint64_t seed, isoproof_sim_level level) {
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  assert_true(isoproof_sim_defaults(&sim));
  sim.seed = seed;
  sim.level = level;
  sim.sessions = 4;
  sim.txns = 40;
  sim.ops_min = sim.ops_max = 5;
  sim.keys = 6;
  sim.abort_share = 0.1;
  sim.duplicate_share = 0.7;
  assert_int_equal(isoproof_simulate(&sim, NULL, &history, NULL, &error), ISOPROOF_OK);
  return history;
}

/* Whether the judge believes the certificate with one observation replaced. */
static bool believes(isoproof_history *history, const isoproof_certificate *certificate, size_t at,
                     isoproof_edge replaced) {
  const isoproof_level_info *info = isoproof_level_find(certificate->level);
  const iso_strong_level *strong = iso_strong_level_of(info);
  const iso_order_rule *rule = strong != NULL ? &iso_rule_judge_of(strong->rule)->order
                                              : &iso_axiom_judge_of(iso_level_method_of(info)->axiom)->order;
  isoproof_edge *observed = malloc(certificate->observed_count * sizeof *observed);
  assert_non_null(observed);
  memcpy(observed, certificate->observed, certificate->observed_count * sizeof *observed);
  observed[at] = replaced;
  iso_claim claim = {.rule = rule,
                     .session_order = true,
                     .events = certificate->events,
                     .count = certificate->event_count,
                     .observed = observed,
                     .observed_count = certificate->observed_count};
  isoproof_error error;
  isoproof_status status = iso_verify_order(history, &claim, NULL, &error);
  free(observed);
  if (status != ISOPROOF_OK && status != ISOPROOF_ERR_INTERNAL) fail_msg("%s", error.message);
  return status == ISOPROOF_OK;
}

/* Every other write in place of the one observed: refused where its key or value is another one, or where it did not
 * last; and from prefix up, where the order is carried out, always. */
static void damage(isoproof_history *history, const isoproof_certificate *certificate, size_t at, bool executed) {
  isoproof_edge one = certificate->observed[at];
  assert_true(believes(history, certificate, at, one));
  isoproof_op read = {.struct_size = sizeof read}, write = {.struct_size = sizeof write};
  isoproof_txn txn = {.struct_size = sizeof txn};
  assert_true(isoproof_history_op_at(history, one.to_op, &read));
  for (uint64_t t = 0; isoproof_history_txn_at(history, t, &txn); t++) {
    for (uint64_t op = txn.first_op; op < txn.first_op + txn.op_count; op++) {
      assert_true(isoproof_history_op_at(history, op, &write));
      isoproof_edge other = one;
      other.from_txn = t;
      other.from_op = op;
      bool fits = write.kind == ISOPROOF_OP_WRITE && isoproof_scalar_equal(write.key, read.key) &&
                  isoproof_scalar_equal(write.value, read.value) && txn.status == ISOPROOF_TXN_COMMITTED;
      bool same = op == one.from_op;
      if (same || (fits && !executed)) continue;
      if (believes(history, certificate, at, other)) fail_msg("%s: believed another write", certificate->level);
    }
  }
  isoproof_edge lost = one, stranger = one;
  lost.to_txn++;
  stranger.from_op = stranger.from_txn = UINT64_MAX - 7;
  assert_false(believes(history, certificate, at, lost));
  assert_false(believes(history, certificate, at, stranger));
  if (at > 0) assert_false(believes(history, certificate, at, certificate->observed[at - 1])); /* one of them twice */
}

static void test_observed(void **state) {
  (void)state;
  static const struct {
    isoproof_sim_level sim;
    const char *level;
    bool executed;
  } cases[] = {{ISOPROOF_SIM_SERIALIZABLE, "serializable", true},
               {ISOPROOF_SIM_SNAPSHOT, "snapshot-isolation", true},
               {ISOPROOF_SIM_CAUSAL, "causal", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    isoproof_history *history = simulate(i + 1, cases[i].sim);
    isoproof_check_options options = {
        .struct_size = sizeof options, .levels = &cases[i].level, .level_count = 1, .certificate = true};
    isoproof_result *result;
    isoproof_error error;
    isoproof_certificate certificate = {.struct_size = sizeof certificate};
    assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_OK);
    assert_true(isoproof_result_certificate_of(result, cases[i].level, &certificate));
    assert_true(certificate.observed_count > 20);
    for (size_t k = 0; k < certificate.observed_count; k++) damage(history, &certificate, k, cases[i].executed);
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
}

/* Without the option, the verdict is the same; only patterns by themselves cannot be looked for. */
static void test_unasked(void **state) {
  (void)state;
  isoproof_history *history = read_text("w(0,1,0,1)\nw(0,1,1,2)\nr(0,1,2,3)\n");
  const char *level = "serializable", *pattern = "TAP-a";
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &level, .level_count = 1};
  isoproof_result *result;
  isoproof_error error;
  assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_OK);
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_SATISFIED);
  isoproof_result_free(result);
  options.level_count = 0;
  options.anomalies = &pattern;
  options.anomaly_count = 1;
  assert_int_equal(isoproof_check(history, &options, NULL, &result, &error), ISOPROOF_ERR_FORMAT);
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_initial_value),
                                     cmocka_unit_test(test_simulated), cmocka_unit_test(test_observed),
                                     cmocka_unit_test(test_unasked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
