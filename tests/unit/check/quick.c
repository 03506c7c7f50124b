/* Quick proofs against the oracle on small histories, and against the engines on larger ones, with threads. */
#include "check/quick/quick.h"
#include "check/axioms/weak.h"
#include "check/within/within.h"
#include "history/resolve.h"
#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

/* With all memory, and slice by slice, which must come to the same. */
static bool is_proved(const isoproof_history *history, iso_axiom axiom, isoproof_task *task) {
  iso_quick_proof proof, frugal;
  iso_quick_wish wish = {.memory = 1 << 28, .by_reads = true, .axiom = axiom, .fewest_slices = 3};
  isoproof_error error;
  assert_ok_error(iso_quick_prove(history, axiom, task, &proof, &error), error);
  assert_true(proof.is_sound || !proof.is_proved);
  if (axiom <= ISO_AXIOM_READ_ATOMIC) {
    assert_ok_error(iso_quick_prove_frugally(history, &wish, task, &frugal, &error), error);
    assert_int_equal(frugal.is_proved, proof.is_proved);
    assert_int_equal(frugal.is_sound, proof.is_sound);
  }
  return proof.is_proved;
}

static const struct {
  iso_axiom axiom;
  oracle_level level;
} asked[] = {{ISO_AXIOM_READ_COMMITTED, ORACLE_READ_COMMITTED},
             {ISO_AXIOM_READ_ATOMIC, ORACLE_READ_ATOMIC},
             {ISO_AXIOM_CAUSAL, ORACLE_CAUSAL}};
enum { ASKED = sizeof asked / sizeof asked[0] };

static bool has_unknown(const sketch *s) {
  for (unsigned i = 0; i < s->count; i++) {
    if (s->txns[i].status == ISOPROOF_TXN_UNKNOWN) return true;
  }
  return false;
}

/* What is proved is true; and what is true, with nothing wrong besides, is proved. */
static void agrees_with_the_oracle(void **state) {
  (void)state;
  const char *histories = getenv("ISOPROOF_RANDOM_HISTORIES"), *seed = getenv("ISOPROOF_RANDOM_SEED");
  uint64_t count = histories != NULL ? strtoull(histories, NULL, 10) : UNLESS_SLOW(100000, 20000);
  uint64_t random = seed != NULL ? strtoull(seed, NULL, 10) : 1, proofs[ASKED] = {0}, judged = 0;
  for (uint64_t i = 0; i < count; i++) {
    sketch s;
    oracle_verdicts verdicts;
    uint32_t levels = 0;
    sketch_draw(&random, &s);
    isoproof_history *history = sketch_history(&s);
    for (int k = 0; k < ASKED; k++) levels |= UINT32_C(1) << asked[k].level;
    bool known = !has_unknown(&s) && oracle_judge_some(history, levels, &verdicts), sound = true;
    for (int tap = 0; known && tap < ORACLE_TAPS; tap++) sound = sound && !verdicts.tap[tap];
    for (int k = 0; k < ASKED; k++) {
      bool proved = is_proved(history, asked[k].axiom, NULL);
      if (!known) continue;
      if (proved != (sound && verdicts.satisfied[asked[k].level]))
        fail_msg("history %llu: %s is %sproved", (unsigned long long)i, oracle_level_id(asked[k].level),
                 proved ? "" : "not ");
      proofs[k] += proved;
    }
    judged += known;
    isoproof_history_free(history);
  }
  for (int k = 0; k < ASKED; k++) assert_in_range(proofs[k], judged / 20, judged - judged / 20);
}

static isoproof_history *simulate(uint64_t seed, isoproof_sim_level level, uint32_t sessions, uint64_t txns,
                                  isoproof_sim_bug bug, uint64_t bugs) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_defaults(&options);
  options.struct_size = sizeof options;
  options.seed = seed;
  options.level = level;
  options.sessions = sessions;
  options.txns = txns;
  options.keys = 20 + (uint32_t)seed % 50;
  options.ops_min = 2;
  options.ops_max = 12;
  options.bugs[bug] = bugs;
  options.abort_share = seed % 3 == 0 ? 0.1 : 0;
  assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
  return history;
}

/* What a recorder makes of the times: nothing, the truth, few different ones, or some that are late. */
typedef enum { TIMES_NONE, TIMES_TRUE, TIMES_COARSE, TIMES_LATE, TIMES } times;

static int64_t end_of(const isoproof_history *h, uint32_t txn, times how) {
  int64_t end = h->txn_end_opt[txn];
  if (how == TIMES_COARSE) return end / 64000;
  uint32_t hash = txn * UINT32_C(2654435769) >> 20;
  return how == TIMES_LATE && hash % 97 == 0 ? end + (int64_t)hash * 100 : end;
}

/* The same history with values that are unique among all keys; what nobody wrote becomes what another key has. */
static isoproof_history *with_values_of_all(isoproof_history *h, times how) {
  const iso_resolution *resolution;
  isoproof_builder *builder;
  isoproof_history *made;
  isoproof_error error;
  assert_ok_error(iso_history_resolve(h, NULL, &resolution, &error), error);
  assert_ok_error(isoproof_builder_new(&builder, &error), error);
  int64_t *number = calloc(h->ops, sizeof *number), writes = 0, last = 0;
  for (uint32_t op = 0; op < h->ops; op++) number[op] = h->op_kind[op] == ISOPROOF_OP_WRITE ? ++writes : 0;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    uint32_t session;
    assert_ok_error(isoproof_builder_session(builder, isoproof_integer(h->txn_session[txn]), &session, &error), error);
    assert_ok_error(isoproof_builder_begin(builder, session, (isoproof_txn_status)h->txn_status[txn], &error), error);
    bool first = txn == h->session_first_txn[h->txn_session[txn]];
    int64_t time = how == TIMES_NONE ? 0 : end_of(h, txn, how);
    last = first || time > last ? time : last;
    if (how != TIMES_NONE) assert_ok_error(isoproof_builder_times(builder, last, last, &error), error);
    for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
      bool read = h->op_kind[op] == ISOPROOF_OP_READ;
      uint32_t seen = read ? resolution->writer[op] : op;
      bool initial = seen == ISO_FROM_INITIAL;
      uint32_t other = 0;
      while (other < h->ops && (number[other] == 0 || h->op_key[other] == h->op_key[op])) other++;
      int64_t value = seen < h->ops ? number[seen] : number[other];
      assert_ok_error(isoproof_builder_op(builder, (isoproof_op_kind)h->op_kind[op], isoproof_integer(h->op_key[op]),
                                          initial ? isoproof_nil() : isoproof_integer(value), &error),
                      error);
    }
  }
  assert_ok_error(isoproof_builder_finish(builder, &made, &error), error);
  isoproof_builder_free(builder);
  free(number);
  return made;
}

/* Whether the engines find nothing wrong, and the axiom satisfied. */
static bool is_sound(isoproof_history *history, iso_axiom axiom, isoproof_task *task) {
  iso_findings findings = {.keep_all = false};
  iso_weak weak;
  isoproof_error error;
  uint64_t found = 0;
  assert_ok_error(iso_check_within(history, task, &findings, &error), error);
  for (int tap = 0; tap < ISO_TAPS; tap++) found += findings.count[tap];
  iso_findings_free(&findings);
  assert_ok_error(iso_weak_begin(history, task, &weak, &error), error);
  assert_ok_error(iso_weak_decide(&weak, axiom, task, &error), error);
  bool sound = found == 0 && !weak.axioms[axiom].violated && iso_order_is_acyclic(&weak.view, &weak.co);
  iso_weak_free(&weak);
  return sound;
}

/* With every number of threads up to `most`. */
static void compare(isoproof_history *history, isoproof_task *task, unsigned most, unsigned *proofs) {
  for (int k = 0; k < ASKED; k++) {
    bool sound = is_sound(history, asked[k].axiom, task);
    for (unsigned threads = 1; threads <= most; threads++) {
      if (task != NULL) isoproof_task_set_threads(task, threads);
      assert_int_equal(is_proved(history, asked[k].axiom, task), sound);
    }
    *proofs += sound;
  }
}

/* Levels and bugs of the simulator, values of each key and values of all. */
static void agrees_with_the_engines(void **state) {
  (void)state;
  static const isoproof_sim_bug bugs[] = {ISOPROOF_SIM_BUG_FRACTURED_READ,      ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION,
                                          ISOPROOF_SIM_BUG_ABORTED_READ,        ISOPROOF_SIM_BUG_INTERMEDIATE_READ,
                                          ISOPROOF_SIM_BUG_THIN_AIR_READ,       ISOPROOF_SIM_BUG_OWN_WRITE_MISSED,
                                          ISOPROOF_SIM_BUG_NON_REPEATABLE_READ, ISOPROOF_SIM_BUG_LONG_FORK};
  static const isoproof_sim_level levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_CAUSAL, ISOPROOF_SIM_READ_ATOMIC,
                                              ISOPROOF_SIM_READ_COMMITTED};
  unsigned proofs = 0, histories = UNLESS_SLOW(400, 60);
  for (uint64_t seed = 1; seed <= histories; seed++) {
    uint32_t sessions = (seed % 5 == 0 ? 4 : 1) + (uint32_t)seed % 40;
    isoproof_history *history =
        simulate(seed, levels[seed % 4], sessions, 300 + seed % 2000, bugs[seed / 4 % 8], seed % 5 == 0);
    compare(history, NULL, 1, &proofs);
    isoproof_history *other = with_values_of_all(history, (times)(seed / 3 % TIMES));
    compare(other, NULL, 1, &proofs);
    isoproof_history_free(other);
    isoproof_history_free(history);
  }
  assert_in_range(proofs, histories, 5 * histories);
}

/* Large enough for threads: each number of them proves the same. */
static void threads_agree(void **state) {
  (void)state;
  static const isoproof_sim_level levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_CAUSAL, ISOPROOF_SIM_READ_ATOMIC,
                                              ISOPROOF_SIM_READ_COMMITTED};
  isoproof_task *task;
  unsigned proofs = 0;
  assert_ok(isoproof_task_new(&task));
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(8, 3); seed++) {
    isoproof_history *history = simulate(seed, levels[seed % 4], 2 + (uint32_t)seed % 20, 12000,
                                         ISOPROOF_SIM_BUG_FRACTURED_READ, seed % 3 == 2);
    isoproof_history *other = with_values_of_all(history, (times)(seed / 2 % TIMES));
    compare(history, task, 4, &proofs);
    compare(other, task, 4, &proofs);
    isoproof_history_free(other);
    isoproof_history_free(history);
  }
  assert_true(proofs > 0);
  isoproof_task_free(task);
}

/* Values that repeat, sets, and unknown outcomes are for others. */
static void leaves_what_is_not_plain(void **state) {
  (void)state;
  static const char *const texts[] = {"w(1,1,0,0)\nw(1,1,1,1)\n", "w(1,1,0,0)\nw(1,1,0,0)\nr(1,1,1,1)\n",
                                      "w(1,9223372036854775807,0,0)\nr(1,9223372036854775807,1,1)\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    isoproof_history *history;
    isoproof_error error;
    assert_ok_error(
        isoproof_history_open_memory(texts[i], strlen(texts[i]), "text.plume", NULL, NULL, &history, &error), error);
    for (int k = 0; k < ASKED; k++) assert_false(is_proved(history, asked[k].axiom, NULL));
    isoproof_history_free(history);
  }
}

/* A transaction of its own session, with times, as a line. */
#define LINE(session, status, start, end, ops)                                                                         \
  "{\"session\":" #session ",\"status\":\"" status "\",\"start\":" #start ",\"end\":" #end ",\"ops\":[" ops "]}\n"
#define HEADER "{\"isoproof\":1}\n"
#define READ(key, value) "[\"r\"," #key "," #value "]"
#define WRITE(key, value) "[\"w\"," #key "," #value "]"

/* In the order of the ends or of the starts, the values descend, or are in part those of transactions rolled back; and
 * what looks serial there, but repeats a value. */
static void takes_times_for_a_guess(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool proved;
  } cases[] = {
      {HEADER LINE(0, "committed", 1, 2, WRITE(1, 9)) LINE(1, "committed", 1, 3, READ(1, 9) "," WRITE(1, 5))
           LINE(2, "committed", 1, 4, READ(1, 5)),
       true},
      {HEADER LINE(0, "committed", 1, 9, WRITE(1, 9)) LINE(1, "committed", 2, 3, READ(1, 9)), true},
      {HEADER LINE(0, "committed", 1, 2, WRITE(1, 9)) LINE(1, "aborted", 2, 3, READ(1, 7) "," WRITE(1, 8))
           LINE(1, "committed", 4, 5, READ(1, 9)),
       true},
      {HEADER LINE(0, "committed", 1, 2, WRITE(1, 9)) LINE(1, "aborted", 2, 3, WRITE(1, 8))
           LINE(1, "committed", 4, 5, READ(1, 8)),
       false},
      {HEADER LINE(0, "committed", 1, 2, WRITE(1, 9)) LINE(1, "committed", 2, 3, WRITE(1, 9))
           LINE(1, "committed", 4, 5, READ(1, 9)),
       false},
      {HEADER LINE(0, "committed", 1, 2, WRITE(1, 9)) LINE(1, "aborted", 2, 3, WRITE(1, 9))
           LINE(1, "committed", 4, 5, READ(1, 9)),
       false},
      {HEADER LINE(0, "committed", 5, 6, WRITE(1, 9)) LINE(0, "committed", 1, 2, READ(1, 9)), true},
      {HEADER LINE(0, "committed", 5, 6, WRITE(1, 9)) LINE(0, "committed", 1, 2, READ(1, null)), false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_history *history;
    isoproof_error error;
    const char *text = cases[i].text;
    assert_ok_error(isoproof_history_open_memory(text, strlen(text), "text.jsonl", NULL, NULL, &history, &error),
                    error);
    assert_int_equal(is_proved(history, ISO_AXIOM_READ_ATOMIC, NULL), cases[i].proved);
    assert_int_equal(is_proved(history, ISO_AXIOM_CAUSAL, NULL), cases[i].proved);
    isoproof_history_free(history);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_the_oracle),  cmocka_unit_test(agrees_with_the_engines),
      cmocka_unit_test(threads_agree),           cmocka_unit_test(leaves_what_is_not_plain),
      cmocka_unit_test(takes_times_for_a_guess),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
