/* Histories of rows and predicates against the oracle: by hand, as registers, and random ones.
 * `--count N` and `--seed N` (or ISOPROOF_RANDOM_HISTORIES and ISOPROOF_RANDOM_SEED) say how many and which; `--table`
 * shows how many satisfied and violated each level (nearly: everything is satisfied that the level implies),
 * `--oracle-only` leaves the library out,
 * `--library-only` the tests of the oracle itself. */
#include "tests/oracle/oracle.h"
#include "tests/oracle/rows.h"
#include "tests/random/random_rows.h"
#include "tests/random/rows_sketch.h"
#include "tests/unit/unit.h"

enum {
  TEXT = 16384,
  CODES = 256,
  USUAL = 20000,
  MOST_REPLAYS = 200000,
  MOST_REGISTERS = 100000,
  MOST_DIFFERENCES = 10
};

static uint64_t histories, seed;
static bool with_table, oracle_only;

/* ---- the library ---- */

static isoproof_history *open_text(const char *text, size_t length) {
  isoproof_history *history;
  isoproof_error error;
  if (isoproof_history_open_memory(text, length, "rows.jsonl", NULL, NULL, &history, &error) != ISOPROOF_OK)
    fail_msg("%s\n%s", error.message, text);
  return history;
}

/* What the library says of a history. */
typedef struct opinion {
  isoproof_verdict verdicts[ORACLE_LEVELS];
  bool codes[CODES];
  char problem[256]; /* something that it must not say; empty where there is nothing */
} opinion;

/* Every anomaly is shown with a witness, and where a level is violated there is one. */
static void look_at_anomalies(const isoproof_result *result, opinion *out) {
  size_t count = isoproof_result_anomaly_count(result);
  if ((isoproof_result_weakest_violated_at(result, 0) != NULL) != (count > 0))
    snprintf(out->problem, sizeof out->problem, "violated without a witness, or a witness of nothing");
  for (size_t i = 0; i < count; i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (!isoproof_result_anomaly_at(result, i, &anomaly) || anomaly.explanation[0] == '\0') {
      snprintf(out->problem, sizeof out->problem, "anomaly %zu has no witness", i);
      return;
    }
    const isoproof_anomaly_info *info = isoproof_anomaly_find(anomaly.code);
    if (info != NULL && info->number < CODES) out->codes[info->number] = true;
    if (isoproof_result_verdict_of(result, anomaly.level) == ISOPROOF_SATISFIED)
      snprintf(out->problem, sizeof out->problem, "%s breaks %s, which holds", anomaly.code, anomaly.level);
  }
}

static void check_implications(const row_history *h, opinion *out) {
  for (int a = 0; a < ORACLE_LEVELS; a++)
    for (int b = 0; b < ORACLE_LEVELS; b++) {
      bool against = out->verdicts[a] == ISOPROOF_SATISFIED && out->verdicts[b] == ISOPROOF_VIOLATED;
      if (against && oracle_implies((oracle_level)a, (oracle_level)b))
        snprintf(out->problem, sizeof out->problem, "%s satisfied and %s violated%s", oracle_level_id((oracle_level)a),
                 oracle_level_id((oracle_level)b), h->timed ? "" : " (no times)");
    }
}

/* All levels, or one alone. */
static void ask(const row_history *h, isoproof_history *history, const char *only, opinion *out) {
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &only, .level_count = only != NULL};
  isoproof_result *result;
  isoproof_error error;
  memset(out, 0, sizeof *out);
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) {
    snprintf(out->problem, sizeof out->problem, "%.200s", error.message);
    return;
  }
  for (int l = 0; l < ORACLE_LEVELS; l++)
    out->verdicts[l] = isoproof_result_verdict_of(result, oracle_level_id((oracle_level)l));
  look_at_anomalies(result, out);
  if (only == NULL) check_implications(h, out);
  isoproof_result_free(result);
}

/* ---- comparing ---- */

typedef struct trial {
  bool judged; /* the oracle could */
  bool satisfied[ORACLE_LEVELS];
  opinion all;
  unsigned alone; /* this level is asked for alone as well */
  char problem[512];
} trial;

/* Real time needs times. */
static bool is_asked(const row_history *h, int level) {
  return h->timed || (level != ORACLE_STRICT_SERIALIZABLE && level != ORACLE_STRONG_SNAPSHOT);
}

static bool contradicts(bool satisfied, isoproof_verdict verdict) {
  return verdict == (satisfied ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED);
}

static void compare(const row_history *h, isoproof_history *history, trial *t) {
  ask(h, history, NULL, &t->all);
  if (t->all.problem[0] != '\0') snprintf(t->problem, sizeof t->problem, "%s", t->all.problem);
  for (int l = 0; l < ORACLE_LEVELS && t->problem[0] == '\0'; l++) {
    if (!is_asked(h, l)) continue;
    isoproof_verdict verdict = t->all.verdicts[l];
    opinion alone = t->all;
    if ((unsigned)l == t->alone) ask(h, history, oracle_level_id((oracle_level)l), &alone);
    if (alone.problem[0] != '\0')
      snprintf(t->problem, sizeof t->problem, "%s alone: %s", oracle_level_id((oracle_level)l), alone.problem);
    else if (contradicts(t->satisfied[l], verdict) || contradicts(t->satisfied[l], alone.verdicts[l]))
      snprintf(t->problem, sizeof t->problem, "%s: the oracle says %s, the library %s, and %s when asked alone",
               oracle_level_id((oracle_level)l), t->satisfied[l] ? "satisfied" : "violated",
               isoproof_verdict_name(verdict), isoproof_verdict_name(alone.verdicts[l]));
  }
}

/* Whether the library and the oracle differ; says how. */
static bool differs(const row_history *h, void *user) {
  trial *t = user;
  char text[TEXT];
  t->problem[0] = '\0';
  t->judged = rows_judge(h, t->satisfied);
  if (!t->judged || oracle_only) return false;
  /* Every other one asks of columns what the others ask of values. */
  size_t length = (t->alone % 2 == 1 ? rows_text_with_columns : rows_text)(h, text, sizeof text);
  isoproof_history *history = open_text(text, length);
  compare(h, history, t);
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

typedef struct totals {
  uint64_t judged, too_hard, differences;
  uint64_t satisfied[ORACLE_LEVELS], violated[ORACLE_LEVELS], undecided[ORACLE_LEVELS];
  uint64_t nearly[ORACLE_LEVELS]; /* violated, and everything satisfied that the level implies */
  uint64_t codes[CODES];
} totals;

/* Whether a level is violated and all that it implies is satisfied. */
static bool is_near_miss(const bool satisfied[ORACLE_LEVELS], int level) {
  for (int l = 0; l < ORACLE_LEVELS; l++)
    if (l != level && !satisfied[l] && oracle_implies((oracle_level)level, (oracle_level)l)) return false;
  return !satisfied[level];
}

static void add_up(const row_history *h, const trial *t, totals *sum) {
  sum->judged += t->judged;
  sum->too_hard += !t->judged;
  if (!t->judged) return;
  for (int l = 0; l < ORACLE_LEVELS; l++) {
    if (!is_asked(h, l)) continue;
    (t->satisfied[l] ? sum->satisfied : sum->violated)[l]++;
    sum->nearly[l] += is_near_miss(t->satisfied, l);
    sum->undecided[l] += t->all.verdicts[l] == ISOPROOF_UNDECIDED;
  }
  for (unsigned i = 0; i < CODES; i++) sum->codes[i] += t->all.codes[i];
}

static void show_table(const totals *sum) {
  print_message("%-28s %12s %12s %12s %12s\n", "level", "satisfied", "violated", "nearly", "not decided");
  for (int l = 0; l < ORACLE_LEVELS; l++)
    print_message("%-28s %12llu %12llu %12llu %12llu\n", oracle_level_id((oracle_level)l),
                  (unsigned long long)sum->satisfied[l], (unsigned long long)sum->violated[l],
                  (unsigned long long)sum->nearly[l], (unsigned long long)sum->undecided[l]);
  for (unsigned i = 0; i < CODES; i++)
    if (sum->codes[i] > 0)
      print_message("%-28s %12llu\n", isoproof_anomaly_at(i)->code, (unsigned long long)sum->codes[i]);
  print_message("%llu histories, %llu too hard for the oracle\n", (unsigned long long)sum->judged,
                (unsigned long long)sum->too_hard);
}

/* Shows a difference on the smallest history that has it. */
static void show_difference(row_history *h, trial *t, uint64_t number) {
  char text[TEXT];
  rows_shrink(h, differs, t);
  differs(h, t);
  (t->alone % 2 == 1 ? rows_text_with_columns : rows_text)(h, text, sizeof text);
  print_error("history %llu: %s\n%s", (unsigned long long)number, t->problem, text);
}

static void agree(void (*draw)(uint64_t *state, row_history *out), totals *sum) {
  uint64_t random = seed;
  for (uint64_t i = 0; i < histories / 2 && sum->differences < MOST_DIFFERENCES; i++) {
    row_history h;
    trial t = {.alone = (unsigned)(i % ORACLE_LEVELS)};
    draw(&random, &h);
    bool different = differs(&h, &t);
    add_up(&h, &t, sum);
    if (!different) continue;
    sum->differences++;
    show_difference(&h, &t, i);
  }
}

static void agrees_with_the_oracle(void **state) {
  (void)state;
  static totals sum; /* large */
  memset(&sum, 0, sizeof sum);
  agree(rows_draw_random, &sum);
  agree(rows_draw_store, &sum);
  if (with_table) show_table(&sum);
  if (sum.differences > 0) fail_msg("%llu differences", (unsigned long long)sum.differences);
  if (histories < USUAL) return; /* too few to see everything */
  assert_true(sum.too_hard <= sum.judged / 1000);
  for (int l = 0; l < ORACLE_LEVELS; l++) {
    if (sum.satisfied[l] < histories / 20 || sum.violated[l] < histories / 50)
      fail_msg("%s: %llu satisfied, %llu violated", oracle_level_id((oracle_level)l),
               (unsigned long long)sum.satisfied[l], (unsigned long long)sum.violated[l]);
    if (histories >= 10 * USUAL && sum.nearly[l] == 0)
      fail_msg("%s is never violated alone", oracle_level_id((oracle_level)l));
  }
}

/* ---- histories carried out in every order ---- */

static void compare_replay(const row_history *h, oracle_level level, bool judged, bool replayed) {
  char text[TEXT];
  if (judged == replayed) return;
  rows_text(h, text, sizeof text);
  fail_msg("%s: judged as %s, but carried out as %s\n%s", oracle_level_id(level), judged ? "satisfied" : "violated",
           replayed ? "satisfied" : "violated", text);
}

static void replays_what_it_judges(void **state) {
  (void)state;
  static const struct {
    oracle_level level;
    row_sight sight;
  } sights[] = {{ORACLE_READ_ATOMIC, {.transitive = false}},
                {ORACLE_CAUSAL, {.transitive = true}},
                {ORACLE_PREFIX, {.prefix = true}},
                {ORACLE_UPDATE_ATOMIC, {.exclusive = true}},
                {ORACLE_PARALLEL_SNAPSHOT, {.transitive = true, .exclusive = true}}};
  uint64_t random = seed;
  for (uint64_t i = 0; i < histories && i < MOST_REPLAYS; i++) {
    row_history h;
    bool satisfied[ORACLE_LEVELS];
    (i % 2 == 0 ? rows_draw_random : rows_draw_store)(&random, &h);
    if (!rows_judge(&h, satisfied)) continue;
    for (int real_time = 0; real_time < 2; real_time++) {
      oracle_level serial = real_time ? ORACLE_STRICT_SERIALIZABLE : ORACLE_SERIALIZABLE;
      oracle_level snapshot = real_time ? ORACLE_STRONG_SNAPSHOT : ORACLE_SNAPSHOT;
      compare_replay(&h, serial, satisfied[serial], rows_replay(&h, true, real_time));
      compare_replay(&h, snapshot, satisfied[snapshot], rows_replay(&h, false, real_time));
    }
    for (size_t l = 0; l < sizeof sights / sizeof *sights; l++)
      compare_replay(&h, sights[l].level, satisfied[sights[l].level], rows_replay_sight(&h, sights[l].sight));
  }
}

/* ---- histories of registers, which the oracle for registers and the library judge, too ---- */

/* Makes every write an upsert and every read that of one row. */
static void make_registers(row_history *h) {
  for (unsigned row = 0; row < h->rows; row++) h->initial[row].present = false;
  for (unsigned t = 0; t < h->count; t++) {
    for (unsigned i = 0; i < h->txns[t].count; i++) {
      row_op *op = &h->txns[t].ops[i];
      if (row_op_writes(op->kind) && op->value.present) {
        op->kind = ROW_UPSERT;
        continue;
      }
      if (op->kind == ROW_SELECT) op->value = op->rows[op->row];
      op->kind = ROW_READ;
    }
  }
}

/* Registers are read and written under these names. */
static void rename_writes(char *text) {
  static const char from[] = "\"upsert\"", to[] = "\"w\"     ";
  for (char *at = text; (at = strstr(at, from)) != NULL;) memcpy(at, to, sizeof to - 1);
}

static void judges_registers_alike(void **state) {
  (void)state;
  uint64_t random = seed;
  for (uint64_t i = 0; i < histories / 2 && i < MOST_REGISTERS; i++) {
    row_history h;
    trial t = {.alone = (unsigned)(i % ORACLE_LEVELS)};
    oracle_verdicts verdicts = {.satisfied = {false}};
    char text[TEXT];
    (i % 2 == 0 ? rows_draw_random : rows_draw_store)(&random, &h);
    make_registers(&h);
    size_t length = rows_text(&h, text, sizeof text);
    rename_writes(text);
    isoproof_history *history = open_text(text, length);
    assert_true(rows_judge(&h, t.satisfied) && oracle_judge(history, &verdicts));
    for (int l = 0; l < ORACLE_LEVELS; l++)
      if (t.satisfied[l] != verdicts.satisfied[l])
        fail_msg("%s: as rows %s, as registers %s\n%s", oracle_level_id((oracle_level)l),
                 t.satisfied[l] ? "satisfied" : "violated", t.satisfied[l] ? "violated" : "satisfied", text);
    compare(&h, history, &t);
    if (t.problem[0] != '\0') fail_msg("%s\n%s", t.problem, text);
    isoproof_history_free(history);
  }
}

/* ---- histories judged by hand, as tests/random/rows_sketch.h has them ---- */

#define EVERYTHING "read-committed read-your-writes monotonic-reads monotonic-writes writes-follow-reads"

static const struct {
  const char *history;
  const char *weakest; /* levels violated; those that imply one of them are, too, and no others */
} cases[] = {
    /* what was inserted, changed and deleted is seen, or not yet */
    {"i15 | s*15 / s*", ""},
    {":15 d1 / s*15", ""},
    {":15 d1 / s*", ""},
    {"i15 | d1 / s* | s*15 | s*", ""},
    {":15 u19 / sv16", ""},
    {":15 d1 / d1 / s* r1_", ""},
    {"i15 / i26 / c*=1", ""},
    {"i15 s*15 c*=1", ""},
    {":15 d1 s* r1_ i16 s*16", ""},
    {"i15 u17 / sm2117", ""},
    {"i15 / sk22", ""},
    /* nothing that was written gives this */
    {":15 s*", EVERYTHING},
    {":15 sv16", EVERYTHING},
    {":15 r1_", EVERYTHING},
    {":15 x1", EVERYTHING},
    {"s*15", EVERYTHING},
    {"i15 i26 / c*=3", EVERYTHING},
    {":15 c*=0", EVERYTHING},
    {"ck22=1", EVERYTHING},
    {"c*=1 / c*=0", EVERYTHING},
    /* not one's own writes */
    {"i15 s*", EVERYTHING},
    {"i15 c*=0", EVERYTHING},
    {"i15 y1", EVERYTHING},
    {":15 d1 s*15", EVERYTHING},
    {"i15 u16 s*15", EVERYTHING},
    {"s*15 i15", EVERYTHING},
    /* aborted and intermediate versions, unknown outcomes */
    {"i15 ! / s*15", EVERYTHING},
    {"i15 ! / s*", ""},
    {":15 d1 ! / s*", EVERYTHING},
    {":15 d1 u16 / s*", EVERYTHING},
    {"i15 u16 / s*15", EVERYTHING},
    {":15 d1 ? / s*", ""},
    {":15 d1 ? / s*15", ""},
    {":15 d1 ? / s* | s*15", "monotonic-reads"},
    {":15 s*15 d1 ? / s*15 i26 d1 / s*26", ""},
    {":15 s*15 d1 i27 ? / s*15 i36 d1 / s*27,36", "update-atomic"},
    /* two views in one transaction */
    {"i15 / s* s*15", "cut-isolation read-atomic"},
    {"i15 | d1 / s*15 s*", "cut-isolation read-atomic"},
    {"i15 | d1 / s* c*=0 s*", ""},
    {"i15 / c*=0 c*=1", "cut-isolation read-atomic"},
    /* half of a transaction: within one statement, within two */
    {"i15 i26 / s*15", "read-atomic"},
    {"i15 i26 / c*=1", "read-atomic"},
    {"i15 i26 / r15 sk22", "read-committed"},
    {"i15 i26 / sk22 r15", "read-atomic"},
    /* sessions */
    {"i15 | s*", "read-your-writes"},
    {"i15 | x1", "read-your-writes"},
    {":15 d1 | s*15", "read-your-writes"},
    {"i15 / s*15 | s*", "monotonic-reads"},
    {"i15 | i26 / s*26", "monotonic-writes"},
    {"i15 / s*15 | i26 / s*26", "writes-follow-reads"},
    /* causes, forks, lost updates, phantoms */
    {"i15 / s*15 i26 / s*26", "causal"},
    {"i15 / i26 / s*15 / s*26", "prefix"},
    {":15 s*15 d1 / s*15 u16", "update-atomic"},
    {"s* i15 / s* p16", "update-atomic"},
    {"s* i15 / s* i26", "serializable"},
    {"c*=0 i15 / c*=0 i26", "serializable"},
    {"c*=0 i15 / c*=1 i26", ""},
    {":15,26 c*=2 d1 / c*=2 d2", "serializable"},
    {"sm20 i15 / sm20 i26", ""},
    {"sm20 i14 / sm20 i26", "serializable"},
    {"x1 i25 / x2 i16", "serializable"},
    {"@1-2 i15 / @3-4 s*", "strong-snapshot-isolation"},
    {"@1-3 i15 / @2-4 s*", ""},
};

static void knows_the_classics(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    row_history h = rows_sketch(cases[i].history);
    trial t = {.alone = ORACLE_SERIALIZABLE};
    bool different = differs(&h, &t);
    assert_true(t.judged);
    for (int l = 0; l < ORACLE_LEVELS; l++) {
      bool violated = false;
      for (int w = 0; w < ORACLE_LEVELS; w++)
        violated |= rows_sketch_has_word(cases[i].weakest, oracle_level_id((oracle_level)w)) &&
                    oracle_implies((oracle_level)l, (oracle_level)w);
      if (t.satisfied[l] == violated)
        fail_msg("%s: %s should be %s", cases[i].history, oracle_level_id((oracle_level)l),
                 violated ? "violated" : "satisfied");
    }
    if (different) fail_msg("%s: %s", cases[i].history, t.problem);
  }
}

/* ---- all ---- */

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(knows_the_classics), cmocka_unit_test(judges_registers_alike),
                                     cmocka_unit_test(replays_what_it_judges),
                                     cmocka_unit_test(agrees_with_the_oracle)};
  const struct CMUnitTest last[] = {cmocka_unit_test(agrees_with_the_oracle)};
  bool only_last = false;
  histories = setting("ISOPROOF_RANDOM_HISTORIES", USUAL * 10) / 10;
  seed = setting("ISOPROOF_RANDOM_SEED", 20261115);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--table") == 0) with_table = true;
    if (strcmp(argv[i], "--oracle-only") == 0) oracle_only = true;
    if (strcmp(argv[i], "--library-only") == 0) only_last = true;
    if (i + 1 < argc && strcmp(argv[i], "--count") == 0) histories = strtoull(argv[i + 1], NULL, 10);
    if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
  }
  return only_last ? cmocka_run_group_tests(last, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
