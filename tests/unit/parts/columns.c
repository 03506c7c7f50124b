/* What is proved by reading the columns of a history within little memory, against isoproof_check: random histories of
 * registers and lists, sound ones and others, with times and without, in 1 to 8 slices and little memory; and larger
 * ones in mapped files.  ISOPROOF_RANDOM_HISTORIES sets how many (40,000 without), ISOPROOF_RANDOM_SEED where they
 * start. */
#include "tests/unit/unit.h"

#include <unistd.h>

#include "check/quick/quick.h"
#include "format/format.h"
#include "parts/judge.h"
#include "tests/random/random_history.h"

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static const char *const names[] = {"read-committed",
                                    "read-atomic",
                                    "cut-isolation",
                                    "causal",
                                    "serializable",
                                    "snapshot-isolation",
                                    "strong-snapshot-isolation",
                                    "strict-serializable",
                                    "prefix"};
enum { NAMES = sizeof names / sizeof names[0], PLENTY = 1 << 24 };

typedef struct {
  char problem[256];
  iso_quick_wish wish;
  bool plentiful;
  const char *asked[2];
  size_t asked_count;
  /* How often what was tried was proved, and not. */
  uint64_t proved[2], by_slices[9], judged[2], violated, strict, serial, snapshot;
} trial;

static isoproof_verdict verdict_at(isoproof_history *h, const char *level) {
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &level, .level_count = 1};
  isoproof_result *result;
  if (isoproof_check(h, &options, NULL, &result, NULL) != ISOPROOF_OK) return ISOPROOF_UNDECIDED;
  isoproof_verdict verdict = isoproof_result_verdict_of(result, level);
  isoproof_result_free(result);
  return verdict;
}

static void claim(trial *t, isoproof_history *h, bool claimed, const char *level) {
  if (!claimed || t->problem[0] != '\0' || verdict_at(h, level) == ISOPROOF_SATISFIED) return;
  snprintf(t->problem, sizeof t->problem, "%s is proved in %u slices, and is not satisfied", level,
           t->wish.fewest_slices);
}

/* What is proved is true, and with memory enough it is what is proved in memory. */
static void try_proof(trial *t, isoproof_history *h) {
  iso_quick_proof proof, whole;
  isoproof_error error;
  assert_ok_error(iso_quick_prove_frugally(h, &t->wish, NULL, &proof, &error), error);
  assert_ok_error(iso_quick_prove(h, t->wish.axiom, NULL, &whole, &error), error);
  bool same = t->plentiful && t->wish.by_reads && !t->wish.snapshots;
  bool differs = same ? proof.is_proved != whole.is_proved : proof.is_proved && !whole.is_proved;
  if (differs) snprintf(t->problem, sizeof t->problem, "proved: %d, in memory: %d", proof.is_proved, whole.is_proved);
  claim(t, h, proof.is_proved, names[t->wish.axiom == ISO_AXIOM_READ_ATOMIC]);
  claim(t, h, proof.is_sound, "cut-isolation");
  claim(t, h, proof.is_snapshot, "snapshot-isolation");
  claim(t, h, proof.is_serial, "serializable");
  claim(t, h, proof.is_strict, "strict-serializable");
  t->proved[!(proof.is_proved || proof.is_snapshot)]++;
  t->by_slices[proof.slices > 8 ? 8 : proof.slices] += proof.is_proved;
  t->serial += proof.is_serial;
  t->strict += proof.is_strict;
  t->snapshot += proof.is_snapshot;
}

/* The verdicts of a result are those of a check. */
static void try_judging(trial *t, isoproof_history *h) {
  isoproof_check_options options = {.struct_size = sizeof options, .levels = t->asked, .level_count = t->asked_count};
  iso_parts_result judged;
  isoproof_result *result;
  isoproof_error error;
  assert_ok_error(iso_judge_by_columns(h, &options, t->wish.memory, NULL, &judged, &error), error);
  t->judged[judged.result == NULL]++;
  if (judged.result == NULL) return;
  t->violated += isoproof_result_verdict(judged.result) == ISOPROOF_VIOLATED;
  assert_ok_error(isoproof_check(h, &options, NULL, &result, &error), error);
  const isoproof_level_info *level;
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    isoproof_verdict right = isoproof_result_verdict_of(result, level->id);
    isoproof_verdict verdict = isoproof_result_verdict_of(judged.result, level->id);
    if (verdict != right && level->family != ISOPROOF_LEVEL_MODEL)
      snprintf(t->problem, sizeof t->problem, "%s: %s, not %s", level->id, isoproof_verdict_name(right),
               isoproof_verdict_name(verdict));
  }
  isoproof_result_free(result);
  iso_parts_result_free(&judged);
}

static bool differs(const sketch *s, void *user) {
  trial *t = user;
  isoproof_history *history = sketch_history(s);
  t->problem[0] = '\0';
  try_proof(t, history);
  try_judging(t, history);
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

/* Has one write repeat the value of another one to its key, if it finds them. */
static void repeat_a_value(uint64_t *random, sketch *s) {
  sketch_op *first = NULL;
  for (unsigned i = 0; i < s->count; i++) {
    for (unsigned k = 0; k < s->txns[i].count; k++) {
      sketch_op *op = &s->txns[i].ops[k];
      if (!op->write || sketch_is_list(s, op->key)) continue;
      if (first != NULL && first->key == op->key) {
        op->value = first->value;
        return;
      }
      if (first == NULL || sketch_below(random, 2) == 0) first = op;
    }
  }
}

/* Some recorders say that something ended before it began. */
static void spoil_a_time(uint64_t *random, sketch *s) {
  sketch_txn *txn = &s->txns[sketch_below(random, s->count)];
  if (s->count > 0 && txn->start > 0) txn->end = (uint8_t)sketch_below(random, txn->start);
}

static void draw_trial(uint64_t *random, trial *t) {
  t->plentiful = sketch_below(random, 2) == 0;
  uint64_t memory = t->plentiful ? PLENTY : sketch_below(random, UINT64_C(16) << sketch_below(random, 9));
  t->wish = (iso_quick_wish){.memory = memory, .by_reads = sketch_below(random, 8) != 0};
  t->wish.snapshots = sketch_below(random, 4) == 0;
  t->wish.axiom = sketch_below(random, 2) == 0 ? ISO_AXIOM_READ_COMMITTED : ISO_AXIOM_READ_ATOMIC;
  t->wish.fewest_slices = (uint32_t)sketch_below(random, 9);
  t->asked_count = sketch_below(random, 3);
  for (size_t i = 0; i < t->asked_count; i++) t->asked[i] = names[sketch_below(random, NAMES)];
}

static void tell(const trial *t) {
  print_message(
      "%llu proved and %llu not, %llu of the first serial, %llu strictly, %llu by snapshots; in 1 to 8 slices:",
      (unsigned long long)t->proved[0], (unsigned long long)t->proved[1], (unsigned long long)t->serial,
      (unsigned long long)t->strict, (unsigned long long)t->snapshot);
  for (int i = 1; i <= 8; i++) print_message(" %llu", (unsigned long long)t->by_slices[i]);
  print_message("; %llu judged, %llu of them violated, and %llu not\n", (unsigned long long)t->judged[0],
                (unsigned long long)t->violated, (unsigned long long)t->judged[1]);
}

/* Fails with the smallest history that differs. */
static void show(sketch *s, trial *t, uint64_t number) {
  char text[4096];
  sketch_shrink(s, differs, t);
  differs(s, t);
  sketch_print(s, text, sizeof text);
  fail_msg("history %llu: %s\n%s", (unsigned long long)number, t->problem, text);
}

static void random_histories(void **state) {
  (void)state;
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 40000), random = setting("ISOPROOF_RANDOM_SEED", 271828);
  trial t = {.plentiful = false};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    if (sketch_below(&random, 16) == 0) {
      sketch_draw_lists(&random, &s);
    } else {
      sketch_draw(&random, &s);
    }
    if (sketch_below(&random, 2) == 0) sketch_draw_times(&random, &s);
    if (s.timed && sketch_below(&random, 4) == 0) spoil_a_time(&random, &s);
    if (sketch_below(&random, 16) == 0) repeat_a_value(&random, &s);
    draw_trial(&random, &t);
    if (differs(&s, &t)) show(&s, &t, i);
  }
  tell(&t);
  if (histories < 10000) return;
  assert_in_range(t.proved[0], histories / 20, histories - histories / 20);
  for (int i = 1; i <= 8; i++) assert_true(t.by_slices[i] > histories / 400);
  assert_true(t.serial > histories / 100 && t.strict > histories / 100 && t.judged[0] > histories / 20);
  assert_true(t.snapshot > histories / 1000 && t.violated > histories / 100);
}

/* Snapshots, and what is nearly so: small ones with times always, and simulated ones on few keys, with bugs. */
static void small_snapshots(void **state) {
  (void)state;
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 40000), random = setting("ISOPROOF_RANDOM_SEED", 57721);
  trial t = {.wish = {.memory = PLENTY, .by_reads = true, .snapshots = true}};
  t.asked[0] = "snapshot-isolation";
  t.asked_count = 1;
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    memset(&s, 0, sizeof s);
    sketch_shape(&random, &s);
    sketch_fill_registers(&random, &s, sketch_below(&random, 8) == 0 ? SKETCH_PERTURBED : SKETCH_SNAPSHOT);
    for (unsigned k = 0; k < s.count; k++) {
      if (s.txns[k].status == ISOPROOF_TXN_UNKNOWN) s.txns[k].status = ISOPROOF_TXN_COMMITTED;
    }
    sketch_draw_times(&random, &s);
    if (differs(&s, &t)) show(&s, &t, i);
  }
  tell(&t);
  assert_true(histories < 10000 || t.snapshot > histories / 50);
}

static void simulated_snapshots(void **state) {
  (void)state;
  static const isoproof_sim_bug bugs[] = {ISOPROOF_SIM_BUG_LOST_UPDATE, ISOPROOF_SIM_BUG_LONG_FORK,
                                          ISOPROOF_SIM_BUG_FRACTURED_READ, ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION};
  trial t = {.wish = {.memory = PLENTY, .by_reads = true, .snapshots = true}};
  uint64_t satisfied = 0;
  t.asked[0] = "snapshot-isolation";
  t.asked_count = 1;
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(600, 60); seed++) {
    isoproof_sim_options options = {.struct_size = sizeof options};
    isoproof_history *h;
    isoproof_error error;
    isoproof_sim_defaults(&options);
    options.struct_size = sizeof options;
    options.seed = seed;
    options.level = seed % 7 == 0 ? ISOPROOF_SIM_PARALLEL_SNAPSHOT : ISOPROOF_SIM_SNAPSHOT;
    options.sessions = 2 + (uint32_t)seed % 12;
    options.txns = 50 + seed % 300;
    options.keys = 20 + (uint32_t)seed * 7 % 150;
    options.abort_share = seed % 3 == 0 ? 0.1 : 0;
    options.rmw_share = seed % 4 == 0 ? 0.5 : 0;
    if (seed % 2 == 0) options.bugs[bugs[seed / 2 % 4]] = 1;
    assert_ok_error(isoproof_simulate(&options, NULL, &h, NULL, &error), error);
    try_proof(&t, h);
    try_judging(&t, h);
    if (t.problem[0] != '\0') fail_msg("simulated %llu: %s", (unsigned long long)seed, t.problem);
    satisfied += verdict_at(h, "snapshot-isolation") == ISOPROOF_SATISFIED;
    isoproof_history_free(h);
  }
  tell(&t);
  print_message("%llu of them satisfy snapshot isolation\n", (unsigned long long)satisfied);
  assert_true(t.snapshot + t.serial > satisfied / 4 && t.proved[1] > 10);
}

/* ---- larger ones, in mapped files ---- */

static isoproof_history *simulate(uint64_t seed) {
  static const isoproof_sim_level levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_READ_ATOMIC,
                                              ISOPROOF_SIM_READ_COMMITTED, ISOPROOF_SIM_SNAPSHOT};
  static const isoproof_sim_bug bugs[] = {ISOPROOF_SIM_BUG_FRACTURED_READ, ISOPROOF_SIM_BUG_ABORTED_READ,
                                          ISOPROOF_SIM_BUG_INTERMEDIATE_READ, ISOPROOF_SIM_BUG_OWN_WRITE_MISSED};
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_defaults(&options);
  options.struct_size = sizeof options;
  options.seed = seed;
  options.level = levels[seed % 4];
  options.sessions = seed % 11 == 0 ? 300 : 3 + (uint32_t)seed % 20;
  options.txns = 4000;
  options.keys = 30 + (uint32_t)seed * 37 % 2000;
  options.abort_share = seed % 3 == 0 ? 0.1 : 0;
  if (seed % 5 == 0) options.bugs[bugs[seed / 5 % 4]] = 1;
  assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
  return history;
}

/* The history as out of core has it, with its file gone already; times are left out where asked. */
static isoproof_history *map(isoproof_history *h, bool timed) {
  char path[] = "/tmp/isoproof-columns-XXXXXX";
  isoproof_history *mapped;
  isoproof_error error;
  iso_input *input;
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  int64_t *start = h->txn_start_opt, *end = h->txn_end_opt;
  if (!timed) h->txn_start_opt = h->txn_end_opt = NULL;
  assert_ok_error(isoproof_history_write(h, ISOPROOF_FORMAT_BINARY, path, NULL, NULL, NULL, &error), error);
  h->txn_start_opt = start;
  h->txn_end_opt = end;
  assert_ok_error(iso_input_open(path, &input, &error), error);
  assert_ok_error(iso_read_binary_frugally(input, &mapped, NULL, &error), error);
  iso_input_close(input);
  unlink(path);
  return mapped;
}

static void mapped_files(void **state) {
  (void)state;
  trial t = {.plentiful = false};
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(60, 12); seed++) {
    isoproof_history *h = simulate(seed), *file = map(h, seed / 4 % 2 == 0);
    assert_true(file->frugal);
    for (int k = 0; k < 8; k++) {
      t.wish = (iso_quick_wish){.memory = UINT64_C(1) << (19 + 2 * (k / 2)), .by_reads = true};
      t.wish.axiom = k % 2 == 0 ? ISO_AXIOM_READ_COMMITTED : ISO_AXIOM_READ_ATOMIC;
      t.wish.snapshots = seed % 3 == 0;
      t.wish.fewest_slices = (uint32_t)seed % 4;
      t.plentiful = k >= 6;
      t.asked[0] = names[seed / 8 % NAMES];
      t.asked_count = 1;
      try_proof(&t, file);
      try_judging(&t, file);
      if (t.problem[0] != '\0') fail_msg("simulated %llu, try %d: %s", (unsigned long long)seed, k, t.problem);
    }
    isoproof_history_free(file);
    isoproof_history_free(h);
  }
  tell(&t);
  assert_true(t.proved[0] > UNLESS_SLOW(50, 10) && t.proved[1] > UNLESS_SLOW(20, 4) && t.judged[0] > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_histories), cmocka_unit_test(small_snapshots),
                                     cmocka_unit_test(simulated_snapshots), cmocka_unit_test(mapped_files)};
  return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
