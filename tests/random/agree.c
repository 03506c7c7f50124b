/* Compares the verdicts of the library with those of the oracle on random sketches, and shrinks what differs. */
#include "tests/random/agree.h"

#include "tests/oracle/oracle.h"
#include "tests/unit/unit.h"

/* What the checkers of this test decide. */
static const oracle_level levels[] = {ORACLE_CUT_ISOLATION,    ORACLE_READ_COMMITTED,     ORACLE_READ_ATOMIC,
                                      ORACLE_CAUSAL,           ORACLE_READ_YOUR_WRITES,   ORACLE_MONOTONIC_READS,
                                      ORACLE_MONOTONIC_WRITES, ORACLE_WRITES_FOLLOW_READS};
/* ALONE: how many of them are asked for alone of each history, in turn; all of them cost more than everything else. */
enum { LEVELS = sizeof levels / sizeof levels[0], CODES = 256, ALONE = 2 };

/* What came out for one sketch. */
typedef struct {
  unsigned turn;     /* which levels are asked for alone, see ALONE */
  char problem[256]; /* empty where the library and the oracle agree */
  bool judged;       /* the oracle could */
  oracle_verdicts verdicts;
  uint64_t count[CODES]; /* how often the library found each anomaly, by number */
  size_t edges[CODES];   /* of the witness shown */
} trial;

/* How often each anomaly was found, and the fewest edges of its witnesses. */
static void count_anomalies(const isoproof_result *result, uint64_t count[CODES], size_t edges[CODES], char *problem,
                            size_t size) {
  memset(count, 0, CODES * sizeof *count);
  for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    if (!isoproof_result_anomaly_at(result, i, &anomaly)) {
      snprintf(problem, size, "anomaly %zu has no witness", i);
      return;
    }
    unsigned number = isoproof_anomaly_find(anomaly.code)->number;
    assert_true(number < CODES && anomaly.explanation[0] != '\0');
    if (count[number] == 0 || anomaly.edge_count < edges[number]) edges[number] = anomaly.edge_count;
    /* Where nobody knows how many there are, one is listed. */
    count[number] += anomaly.count_is == ISOPROOF_COUNT_UNKNOWN ? 1 : anomaly.count;
  }
}

/* The verdicts of the library as bits in the order above; every anomaly must come with a verified witness. */
static unsigned judge(isoproof_history *history, const char *only, trial *t) {
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &only, .level_count = only != NULL};
  isoproof_result *result;
  isoproof_error error;
  unsigned bits = 0;
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) {
    snprintf(t->problem, sizeof t->problem, "%s: %.200s", only != NULL ? only : "all", error.message);
    return 0;
  }
  for (unsigned i = 0; i < LEVELS; i++) {
    isoproof_verdict verdict = isoproof_result_verdict_of(result, oracle_level_id(levels[i]));
    if (verdict == ISOPROOF_SATISFIED) bits |= 1u << i;
    if (verdict == ISOPROOF_UNDECIDED && (only == NULL || strcmp(only, oracle_level_id(levels[i])) == 0)) {
      snprintf(t->problem, sizeof t->problem, "%s is not decided", oracle_level_id(levels[i]));
    }
  }
  bool violated = isoproof_result_weakest_violated_at(result, 0) != NULL;
  if (violated != (isoproof_result_anomaly_count(result) > 0)) {
    snprintf(t->problem, sizeof t->problem, "a violation without a witness");
  }
  if (only == NULL) count_anomalies(result, t->count, t->edges, t->problem, sizeof t->problem);
  isoproof_result_free(result);
  return bits;
}

/* Every instance has a witness that stands up, there are as many as were counted, and none is smaller than the one that
 * was shown; where several edges are forced (TAP-i, l, n), their reasons count as well, which edges alone do not tell.
 */
static void list_all(isoproof_history *history, trial *t) {
  isoproof_check_options options = {.struct_size = sizeof options, .all = true};
  isoproof_result *result;
  isoproof_error error;
  uint64_t listed[CODES];
  size_t edges[CODES];
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) {
    snprintf(t->problem, sizeof t->problem, "all instances: %.200s", error.message);
    return;
  }
  count_anomalies(result, listed, edges, t->problem, sizeof t->problem);
  for (unsigned i = 0; i < CODES && t->problem[0] == '\0'; i++) {
    const isoproof_anomaly_info *info = listed[i] > 0 ? isoproof_anomaly_at(i) : NULL;
    bool plain = info != NULL && (strncmp(info->code, "TAP-", 4) != 0 || strchr("ghkm", info->code[4]) != NULL);
    if (plain && t->count[i] > 0 && edges[i] < t->edges[i]) {
      snprintf(t->problem, sizeof t->problem, "%s is shown with %zu edges, but %zu are enough", info->code, t->edges[i],
               edges[i]);
      break;
    }
    if (listed[i] == t->count[i]) continue;
    snprintf(t->problem, sizeof t->problem, "%s was counted %llu times and listed %llu times",
             isoproof_anomaly_at(i)->code, (unsigned long long)t->count[i], (unsigned long long)listed[i]);
  }
  isoproof_result_free(result);
}

/* Whether the library and the oracle differ on a sketch; says how. */
static bool differs(const sketch *s, void *user) {
  trial *t = user;
  isoproof_history *history = sketch_history(s);
  uint32_t wanted = 0;
  t->problem[0] = '\0';
  for (unsigned i = 0; i < LEVELS; i++) wanted |= 1u << levels[i];
  t->judged = oracle_judge_some(history, wanted, &t->verdicts);
  unsigned all = t->judged ? judge(history, NULL, t) : 0;
  if (t->judged && t->problem[0] == '\0') list_all(history, t);
  for (unsigned i = 0; t->judged && i < LEVELS && t->problem[0] == '\0'; i++) {
    const char *id = oracle_level_id(levels[i]);
    bool expected = t->verdicts.satisfied[levels[i]];
    bool asked = i / ALONE == t->turn % (LEVELS / ALONE);
    bool alone = asked ? (judge(history, id, t) >> i & 1) != 0 : expected;
    if (((all >> i & 1) != 0) != expected || alone != expected) {
      snprintf(t->problem, sizeof t->problem, "%s: the oracle says %s, all levels at once %s, alone %s", id,
               expected ? "satisfied" : "violated", all >> i & 1 ? "satisfied" : "violated",
               alone ? "satisfied" : "violated");
    }
  }
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

/* Whether the lattice allows these verdicts together. */
static bool is_allowed(unsigned bits, unsigned of) {
  for (unsigned a = 0; a < of; a++) {
    for (unsigned b = 0; b < of; b++) {
      if ((bits >> a & 1) && !(bits >> b & 1) && oracle_implies(levels[a], levels[b])) return false;
    }
  }
  return true;
}

/* Every combination of verdicts on the first levels that the lattice allows appears, and no other. */
static void check_combinations(const uint64_t seen[1 << LEVELS], unsigned of) {
  uint64_t times[1 << LEVELS] = {0};
  for (unsigned bits = 0; bits < 1u << LEVELS; bits++) times[bits & ((1u << of) - 1)] += seen[bits];
  for (unsigned bits = 0; bits < 1u << of; bits++) {
    if (is_allowed(bits, of) != (times[bits] > 0))
      fail_msg("combination %x appears %llu times", bits, (unsigned long long)times[bits]);
  }
}

static void check_coverage(const uint64_t seen[1 << LEVELS], unsigned combined) {
  check_combinations(seen, combined);
  /* And each session guarantee is broken alone of the four by some history. */
  for (unsigned guarantee = 4; guarantee < 8; guarantee++) {
    uint64_t alone = 0;
    for (unsigned bits = 0; bits < 1u << LEVELS; bits++) {
      if ((bits >> 4) == (0xfu & ~(1u << (guarantee - 4)))) alone += seen[bits];
    }
    if (alone == 0) fail_msg("%s is never broken alone", oracle_level_id(levels[guarantee]));
  }
}

static void fail_with(sketch *s, trial *t, uint64_t number) {
  char text[4096];
  sketch_shrink(s, differs, t);
  differs(s, t);
  sketch_print(s, text, sizeof text);
  fail_msg("history %llu: %s\n%s", (unsigned long long)number, t->problem, text);
}

void agree_with_oracle(void (*draw)(uint64_t *state, sketch *out), uint64_t usual, unsigned combined,
                       const char *const *codes) {
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", usual);
  uint64_t random = setting("ISOPROOF_RANDOM_SEED", 20261115);
  uint64_t seen[1 << LEVELS] = {0}, found[CODES] = {0};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    trial t = {.turn = (unsigned)i};
    draw(&random, &s);
    if (differs(&s, &t)) fail_with(&s, &t, i);
    if (!t.judged) continue;
    unsigned bits = 0;
    for (unsigned k = 0; k < LEVELS; k++) bits |= (unsigned)t.verdicts.satisfied[levels[k]] << k;
    seen[bits]++;
    for (unsigned k = 0; k < CODES; k++) found[k] += t.count[k] > 0;
  }
  if (histories < 100000) return; /* too few to see everything */
  check_coverage(seen, combined);
  for (; *codes != NULL; codes++) {
    uint64_t times = found[isoproof_anomaly_find(*codes)->number];
    print_message("%s in %llu histories\n", *codes, (unsigned long long)times);
    if (times == 0) fail_msg("no history shows %s", *codes);
  }
}
