/* Histories in parts: the coordinator against isoproof_check, on random histories of registers and lists, with times
 * and without, in 1 to 8 parts; what is gathered again; larger ones from the simulator; and texts that are read in
 * ranges.  ISOPROOF_RANDOM_HISTORIES sets how many (three in a hundred of it, 3000 without), ISOPROOF_RANDOM_SEED where
 * they start. */
#include "tests/unit/unit.h"

#include "parts/coordinator.h"
#include "parts/ops.h"
#include "tests/random/random_history.h"
#include "tests/unit/parts/ranges.h"

typedef struct {
  char problem[512];
  uint32_t parts;
  bool keep;
  iso_level_set wanted;      /* 0: all levels */
  uint64_t decided[2], open; /* by verdict: satisfied, violated */
} trial;

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static void complain(trial *t, const char *level, const char *what, isoproof_verdict right, isoproof_verdict verdict) {
  if (t->problem[0] != '\0') return;
  snprintf(t->problem, sizeof t->problem, "%s, %u parts, %s: %s, not %s", level, t->parts, what,
           isoproof_verdict_name(right), isoproof_verdict_name(verdict));
}

/* The levels that the coordinator leaves to a check of the whole, at most. */
static bool may_be_open(const isoproof_history *h, const iso_coordination *c, const isoproof_level_info *level) {
  const iso_strong_level *strong = iso_strong_level_of(level);
  if (!iso_is_coordinated(h, level) || c->facts.duplicate_writes > 0 || !c->facts.suits) return true;
  if (strong != NULL) return strong->rule == ISO_RULE_PARALLEL || strong->rule == ISO_RULE_UPDATE_ATOMIC;
  return iso_level_method_of(level)->engine == ISO_ENGINE_AXIOM && iso_level_method_of(level)->axiom > ISO_AXIOM_CAUSAL;
}

static void compare(trial *t, const isoproof_history *h, const iso_coordination *c, const isoproof_result *result) {
  const isoproof_level_info *level;
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    isoproof_verdict right = isoproof_result_verdict_of(result, level->id), verdict = c->verdict[i];
    if (verdict == ISOPROOF_UNDECIDED) {
      t->open++;
      bool wanted = t->wanted == 0 || (t->wanted & ISO_LEVEL_BIT(i)) != 0;
      if (wanted && !may_be_open(h, c, level)) complain(t, level->id, "coordinated", right, verdict);
      continue;
    }
    t->decided[verdict == ISOPROOF_VIOLATED]++;
    if (level->family != ISOPROOF_LEVEL_MODEL && verdict != right)
      complain(t, level->id, "coordinated", right, verdict);
  }
}

/* Gathers operations, of some transactions or of all, and judges them. */
static isoproof_result *gather(iso_team *team, const isoproof_history *h, const iso_coordination *c, bool all,
                               isoproof_history **gathered) {
  iso_question_head head = {.asks = ISO_ASK_OPS};
  iso_bytes asked = {.count = 0}, answers[8] = {{.count = 0}};
  isoproof_error error;
  isoproof_result *result;
  head.txns_wanted = all ? UINT32_MAX : (uint32_t)c->suspects.count;
  iso_put(&asked, &head, sizeof head);
  if (!all) iso_put(&asked, c->suspects.items, c->suspects.count * sizeof(uint32_t));
  assert_ok_error(iso_team_ask(team, &asked, answers, &error), error);
  assert_ok_error(iso_gather(h, all ? NULL : c->counts, answers, team->parts, NULL, gathered, &error), error);
  assert_ok_error(isoproof_check(*gathered, NULL, NULL, &result, &error), error);
  iso_answers_free(answers, team->parts);
  iso_bytes_free(&asked);
  return result;
}

/* All of it is what it was, and the suspects violate what was found violated between transactions. */
static void check_gathered(trial *t, iso_team *team, const isoproof_history *h, const iso_coordination *c,
                           const isoproof_result *result) {
  const isoproof_level_info *level;
  isoproof_history *whole, *some;
  isoproof_result *all = gather(team, h, c, true, &whole), *few = gather(team, h, c, false, &some);
  for (size_t i = 0; (level = isoproof_level_at(i)) != NULL; i++) {
    isoproof_verdict right = isoproof_result_verdict_of(result, level->id);
    isoproof_verdict verdict = isoproof_result_verdict_of(all, level->id);
    isoproof_verdict of_few = isoproof_result_verdict_of(few, level->id);
    if (verdict != right) complain(t, level->id, "gathered", right, verdict);
    if (right == ISOPROOF_SATISFIED && of_few == ISOPROOF_VIOLATED) complain(t, level->id, "suspects", right, of_few);
    bool violated = c->verdict[i] == ISOPROOF_VIOLATED && level->family != ISOPROOF_LEVEL_MODEL;
    if (violated && of_few != ISOPROOF_VIOLATED) complain(t, level->id, "suspects", right, of_few);
  }
  isoproof_result_free(all);
  isoproof_result_free(few);
  isoproof_history_free(whole);
  isoproof_history_free(some);
}

static void try_history(trial *t, isoproof_history *h) {
  isoproof_error error;
  isoproof_result *result;
  iso_coordination c;
  iso_local_team local;
  iso_piece piece = iso_piece_of(h);
  iso_part_frame frame = {.txns = h->txns, .txn_status = h->txn_status, .initial_is_zero = h->initial_is_zero};
  if (isoproof_check(h, NULL, NULL, &result, NULL) != ISOPROOF_OK) return;
  assert_ok_error(iso_local_team_make(&piece, frame, t->parts, t->keep, NULL, &local, &error), error);
  if (iso_coordinate(&local.team, h, t->wanted != 0 ? t->wanted : ~(iso_level_set)0, NULL, &c, &error) != ISOPROOF_OK) {
    snprintf(t->problem, sizeof t->problem, "%.400s", error.message);
  } else {
    compare(t, h, &c, result);
    bool plain = c.facts.suits && c.facts.duplicate_writes == 0;
    if (t->problem[0] == '\0' && plain) check_gathered(t, &local.team, h, &c, result);
    iso_coordination_free(&c);
  }
  iso_local_team_free(&local);
  isoproof_result_free(result);
}

static bool differs(const sketch *s, void *user) {
  trial *t = user;
  isoproof_history *history = sketch_history(s);
  t->problem[0] = '\0';
  try_history(t, history);
  isoproof_history_free(history);
  return t->problem[0] != '\0';
}

static void agree(void (*draw)(uint64_t *state, sketch *out), uint64_t histories, uint64_t random) {
  trial t = {.parts = 1};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    draw(&random, &s);
    if (sketch_below(&random, 2) == 0) sketch_draw_times(&random, &s);
    t.parts = (uint32_t)sketch_below(&random, 8) + 1;
    t.keep = sketch_below(&random, 2) == 0;
    t.wanted = sketch_below(&random, 4) == 0 ? ISO_LEVEL_BIT(ISO_LEVEL_SNAPSHOT_ISOLATION) : 0;
    if (!differs(&s, &t)) continue;
    char text[4096];
    sketch_shrink(&s, differs, &t);
    differs(&s, &t);
    sketch_print(&s, text, sizeof text);
    fail_msg("history %llu: %s\n%s", (unsigned long long)i, t.problem, text);
  }
  print_message("%llu verdicts satisfied, %llu violated, %llu left to the whole\n", (unsigned long long)t.decided[0],
                (unsigned long long)t.decided[1], (unsigned long long)t.open);
  assert_true(histories < 1000 || (t.decided[0] > histories && t.decided[1] > histories));
}

static void registers(void **state) {
  (void)state;
  agree(sketch_draw, setting("ISOPROOF_RANDOM_HISTORIES", 100000) * 18 / 1000, setting("ISOPROOF_RANDOM_SEED", 161803));
}

static void lists(void **state) {
  (void)state;
  agree(sketch_draw_lists, setting("ISOPROOF_RANDOM_HISTORIES", 100000) * 12 / 1000,
        setting("ISOPROOF_RANDOM_SEED", 141421));
}

/* Larger ones: what the simulator promises, and what its bugs break. */
static void simulated(void **state) {
  (void)state;
  static const isoproof_sim_bug bugs[] = {
      ISOPROOF_SIM_BUGS,          ISOPROOF_SIM_BUG_WRITE_SKEW, ISOPROOF_SIM_BUG_LOST_UPDATE,
      ISOPROOF_SIM_BUG_LONG_FORK, ISOPROOF_SIM_BUG_STALE_READ, ISOPROOF_SIM_BUG_FRACTURED_READ};
  for (size_t i = 0; i < 2 * sizeof bugs / sizeof bugs[0]; i++) {
    isoproof_sim_options options = {.struct_size = sizeof options};
    isoproof_history *history;
    isoproof_error error;
    isoproof_sim_defaults(&options);
    options.struct_size = sizeof options;
    options.seed = 5 + i;
    options.level = i % 3 == 2 ? ISOPROOF_SIM_SNAPSHOT : ISOPROOF_SIM_SERIALIZABLE;
    options.lists = i % 2 == 1;
    options.sessions = 8;
    options.txns = 400;
    options.keys = 60;
    options.unknown_share = 0.05;
    if (bugs[i / 2] != ISOPROOF_SIM_BUGS) options.bugs[bugs[i / 2]] = 1;
    assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
    trial t = {.parts = (uint32_t)i % 7 + 1, .keep = i % 4 != 1};
    try_history(&t, history);
    if (t.problem[0] != '\0') fail_msg("simulated %zu: %s", i, t.problem);
    isoproof_history_free(history);
  }
}

/* Snapshots are taken after the start and writes come in force before the end: a sequence by times is mended where
 * reads show that, one part after the other, and nobody is asked who read from whom. */
static void snapshots_near_times(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    isoproof_sim_options options = {.struct_size = sizeof options};
    isoproof_history *h;
    isoproof_error error;
    iso_coordination c;
    iso_local_team local;
    isoproof_sim_defaults(&options);
    options.struct_size = sizeof options;
    options.seed = seed;
    options.level = ISOPROOF_SIM_SNAPSHOT;
    options.lists = seed % 3 == 0;
    options.sessions = 10;
    options.txns = 600;
    options.keys = 400;
    assert_ok_error(isoproof_simulate(&options, NULL, &h, NULL, &error), error);
    iso_piece piece = iso_piece_of(h);
    iso_part_frame frame = {.txns = h->txns, .txn_status = h->txn_status, .initial_is_zero = h->initial_is_zero};
    iso_level level = seed % 2 == 0 ? ISO_LEVEL_STRONG_SI : ISO_LEVEL_SNAPSHOT_ISOLATION;
    assert_ok_error(iso_local_team_make(&piece, frame, 1 + (uint32_t)seed % 5, seed % 4 == 0, NULL, &local, &error),
                    error);
    assert_ok_error(iso_coordinate(&local.team, h, ISO_LEVEL_BIT(level), NULL, &c, &error), error);
    assert_int_equal(c.verdict[level], ISOPROOF_SATISFIED);
    iso_coordination_free(&c);
    iso_local_team_free(&local);
    isoproof_history_free(h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(registers), cmocka_unit_test(lists), cmocka_unit_test(simulated),
                                     cmocka_unit_test(snapshots_near_times), cmocka_unit_test(ranges_are_the_whole)};
  return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
