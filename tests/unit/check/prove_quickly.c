/* Quick proofs of strong levels against the oracle and against the engines, on small random histories with times: true
 * ones, late ones, nonsense; valid, violated, with unknown outcomes, rolled back, values that repeat.
 * ISOPROOF_RANDOM_HISTORIES sets how many, ISOPROOF_RANDOM_SEED where they start. */
#include "check/prove_quickly.h"
#include "check/check_levels.h"
#include "history/resolve.h"
#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static const char *const names[] = {"serializable",
                                    "strict-serializable",
                                    "snapshot-isolation",
                                    "strong-snapshot-isolation",
                                    "prefix",
                                    "parallel-snapshot-isolation",
                                    "update-atomic",
                                    "causal",
                                    "read-committed",
                                    "cut-isolation",
                                    "linearizable",
                                    "read-your-writes"};
enum { NAMES = sizeof names / sizeof names[0], MOST_ASKED = 3 };

typedef struct {
  char problem[256];
  const char *asked[MOST_ASKED];
  isoproof_check_options options;
  /* How often something was proved, everything, and something else was left to the engines. */
  uint64_t serial, strict, snapshot, repeats, settled, partly;
} trial;

static void claim(trial *t, bool claimed, bool satisfied, const char *level) {
  if (claimed && !satisfied) snprintf(t->problem, sizeof t->problem, "%s is proved, and is not satisfied", level);
}

/* The verdict of the engines alone, as the history is small. */
static bool satisfies(isoproof_history *h, const char *level) {
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &level, .level_count = 1};
  isoproof_result *result;
  isoproof_error error;
  assert_ok_error(isoproof_check(h, &options, NULL, &result, &error), error);
  bool satisfied = isoproof_result_verdict_of(result, level) == ISOPROOF_SATISFIED;
  isoproof_result_free(result);
  return satisfied;
}

static void judge_proof(trial *t, isoproof_history *h, const iso_quick_proof *proof) {
  oracle_verdicts v;
  if (proof->is_serial || proof->is_snapshot) {
    bool known = oracle_judge(h, &v); /* not where values repeat */
    if (!known && !proof->repeats) snprintf(t->problem, sizeof t->problem, "the oracle does not know");
    claim(t, proof->is_serial, known ? v.satisfied[ORACLE_SERIALIZABLE] : satisfies(h, names[0]), names[0]);
    if (proof->is_strict)
      claim(t, true, known ? v.satisfied[ORACLE_STRICT_SERIALIZABLE] : satisfies(h, names[1]), names[1]);
    claim(t, proof->is_snapshot, known && v.satisfied[ORACLE_SNAPSHOT], names[2]);
  }
  t->serial += proof->is_serial;
  t->strict += proof->is_strict;
  t->snapshot += proof->is_snapshot;
  t->repeats += proof->repeats;
}

/* Everything that a check says of levels is the same with the proof. */
static void compare(trial *t, isoproof_history *h, const iso_quick_proof *proof) {
  isoproof_result *with, *without;
  isoproof_error error;
  const isoproof_level_info *level;
  assert_ok_error(isoproof_check(h, &t->options, NULL, &without, &error), error);
  assert_ok_error(iso_check_levels_knowing(h, &t->options, proof, NULL, &with, &error), error);
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    isoproof_verdict right = isoproof_result_verdict_of(without, level->id);
    isoproof_verdict verdict = isoproof_result_verdict_of(with, level->id);
    /* Where values repeat, whether it is told of transactions that are no single operations depends on the engine. */
    bool beside = proof->repeats && strcmp(level->id, "linearizable") == 0;
    if (verdict != right && !beside)
      snprintf(t->problem, sizeof t->problem, "%s: %s, not %s", level->id, isoproof_verdict_name(right),
               isoproof_verdict_name(verdict));
  }
  if (isoproof_result_verdict(with) != isoproof_result_verdict(without))
    snprintf(t->problem, sizeof t->problem, "the verdicts differ");
  isoproof_result_free(with);
  isoproof_result_free(without);
}

static bool differs(const sketch *s, void *user) {
  trial *t = user;
  iso_quick_proof proof;
  isoproof_error error;
  isoproof_history *h = sketch_history(s);
  const iso_resolution *resolution;
  t->problem[0] = '\0';
  t->options.levels = t->asked;
  assert_ok_error(iso_prove_quickly(h, &t->options, 0, NULL, &proof, &error), error);
  judge_proof(t, h, &proof);
  assert_ok_error(iso_history_resolve(h, NULL, &resolution, &error), error);
  bool settled = iso_proof_settles(h, &t->options, &proof), unique = resolution->counts.duplicate_writes == 0;
  if (settled || (iso_quick_proved_level(&proof) != NULL && unique)) compare(t, h, &proof);
  t->settled += settled;
  t->partly += !settled && iso_quick_proved_level(&proof) != NULL;
  isoproof_history_free(h);
  return t->problem[0] != '\0';
}

/* Answers come late, each session's in its order. */
static void delay(uint64_t *random, sketch *s) {
  unsigned last[256] = {0}, most = 1 + (unsigned)sketch_below(random, 20);
  for (unsigned i = 0; i < s->count; i++) {
    sketch_txn *txn = &s->txns[i];
    unsigned *before = &last[txn->session], start = txn->start > *before ? txn->start : *before + 1;
    unsigned end = (txn->end > start ? txn->end : start) + (unsigned)sketch_below(random, most);
    if (end > 250) return;
    txn->start = (uint8_t)start;
    txn->end = (uint8_t)end;
    *before = end;
  }
}

static void repeat_values(uint64_t *random, sketch *s) {
  uint8_t values = (uint8_t)(1 + sketch_below(random, 3));
  for (unsigned i = 0; i < s->count; i++) {
    for (unsigned k = 0; k < s->txns[i].count; k++) {
      sketch_op *op = &s->txns[i].ops[k];
      if (op->value > 0) op->value = (uint8_t)(1 + op->value % values);
    }
  }
}

static void draw(uint64_t *random, sketch *s, trial *t) {
  sketch_draw(random, s);
  if (sketch_below(random, 16) != 0) sketch_draw_times(random, s);
  if (s->timed && sketch_below(random, 3) == 0) delay(random, s);
  if (s->timed && s->count > 0 && sketch_below(random, 32) == 0) {
    sketch_txn *txn = &s->txns[sketch_below(random, s->count)];
    txn->end = (uint8_t)sketch_below(random, 40); /* perhaps before it began */
  }
  if (sketch_below(random, 8) == 0) repeat_values(random, s);
  /* Outcomes that are not known are for the engines, always: some are enough. */
  for (unsigned i = 0; i < s->count && sketch_below(random, 8) != 0; i++) {
    if (s->txns[i].status == ISOPROOF_TXN_UNKNOWN) s->txns[i].status = ISOPROOF_TXN_COMMITTED;
  }
  t->options = (isoproof_check_options){.struct_size = sizeof t->options};
  t->options.level_count = sketch_below(random, 8) == 0 ? 0 : 1 + sketch_below(random, MOST_ASKED);
  for (size_t i = 0; i < t->options.level_count; i++)
    t->asked[i] = names[sketch_below(random, sketch_below(random, 2) == 0 ? 3 : NAMES)];
  t->options.others = sketch_below(random, 4) == 0;
}

static void agrees_with_oracle_and_engines(void **state) {
  (void)state;
  uint64_t random = setting("ISOPROOF_RANDOM_SEED", 1);
  uint64_t count = setting("ISOPROOF_RANDOM_HISTORIES", UNLESS_SLOW(40000, 5000));
  trial t = {.serial = 0};
  for (uint64_t i = 0; i < count; i++) {
    sketch s;
    draw(&random, &s, &t);
    if (!differs(&s, &t)) continue;
    char text[4096];
    sketch_shrink(&s, differs, &t);
    differs(&s, &t);
    sketch_print(&s, text, sizeof text);
    fail_msg("history %llu: %s, asked for %s and %zu more\n%s", (unsigned long long)i, t.problem,
             t.options.level_count > 0 ? t.asked[0] : "all", t.options.level_count, text);
  }
  assert_in_range(t.serial, count / 20, count);
  assert_in_range(t.strict, count / 20, count);
  assert_in_range(t.snapshot, count / 200, count);
  assert_in_range(t.repeats, count / 1000, count);
  assert_in_range(t.settled, count / 20, count);
  assert_in_range(t.partly, count / 1000, count);
}

/* A transaction of its own session as a line. */
#define LINE(session, start, end, ops)                                                                                 \
  "{\"session\":" #session ",\"status\":\"committed\",\"start\":" #start ",\"end\":" #end ",\"ops\":[" ops "]}\n"
/* Two that miss each other's write: no serial order. */
#define SKEW LINE(7, 20, 30, "[\"r\",8,null],[\"w\",9,1]") LINE(8, 20, 31, "[\"r\",9,null],[\"w\",8,1]")

/* Answers that come late put a version where it was not. */
static void mends_the_order_of_versions(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool proved;
  } cases[] = {
      {"{\"isoproof\":1}\n" SKEW LINE(0, 1, 9, "[\"w\",1,1]") LINE(1, 2, 5, "[\"r\",1,1],[\"w\",1,2]"), true},
      {"{\"isoproof\":1}\n" SKEW LINE(0, 1, 9, "[\"w\",1,1]") LINE(1, 2, 12, "[\"r\",1,1],[\"w\",1,2],[\"w\",2,1]")
           LINE(2, 3, 5, "[\"r\",2,1],[\"w\",1,3],[\"w\",2,2]") LINE(3, 6, 7, "[\"r\",1,3]"),
       true},
      {"{\"isoproof\":1}\n" SKEW LINE(0, 1, 9, "[\"w\",1,1]") LINE(1, 2, 5, "[\"r\",1,1],[\"w\",1,2]")
           LINE(2, 2, 6, "[\"r\",1,1],[\"w\",1,3]"),
       false},
  };
  static const char *const level = "snapshot-isolation";
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &level, .level_count = 1};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    isoproof_history *h;
    isoproof_error error;
    iso_quick_proof proof;
    const char *text = cases[i].text;
    assert_ok_error(isoproof_history_open_memory(text, strlen(text), "text.jsonl", NULL, NULL, &h, &error), error);
    assert_ok_error(iso_prove_quickly(h, &options, 0, NULL, &proof, &error), error);
    assert_false(proof.is_serial);
    assert_int_equal(proof.is_snapshot, cases[i].proved);
    assert_int_equal(satisfies(h, level), cases[i].proved);
    assert_ok_error(iso_prove_quickly(h, &options, ISO_PROVE_FEWEST_OPS, NULL, &proof, &error), error);
    assert_false(proof.is_snapshot);
    isoproof_history_free(h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_oracle_and_engines),
                                     cmocka_unit_test(mends_the_order_of_versions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
