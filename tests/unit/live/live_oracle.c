/* Random small histories, pushed in random batches: after every poll the verdict on each level is that of
 * isoproof_check on what was pushed, however little stays in memory.  `--count N` and `--seed N` (or
 * ISOPROOF_RANDOM_HISTORIES and ISOPROOF_RANDOM_SEED) say how many and which, `--from N` and `--from-simulation N` with
 * which to begin; `--rows` draws rows only, `--table` shows what was seen. */
#include "tests/unit/live/live_parts.h"
#include "tests/unit/live/live_simulated.h"
#include "tests/unit/live/live_trial.h"
#include "tests/unit/unit.h"

enum { USUAL = 3000, LEVELS = LIVE_LEVELS, PER_SIMULATION = 15 };

static uint64_t histories, seed, first_history, first_simulation;
static bool with_table, rows_only;

/* ---- cases that once were wrong ---- */

typedef struct fixed_case {
  const char *history;
  uint64_t horizon;
  bool recorded;
  unsigned only, cuts, saves; /* as in live_trial */
} fixed_case;

static const fixed_case fixed_cases[] = {
    /* A value written again after the whole was asked for, which has both writers, and one of them stays in memory. */
    {"1: @16-18 w01 / 1: @19-22 r00 r01 / 1: @23-24 w01", 2, true, 0, 0x157, 0},
    /* An old version, read by somebody who is placed by the moment of a list. */
    {"1: w01 / 1: w02 / 1: / 1: a11 r01", 2, false, 1, 0x70, 0},
    /* The same read once more, after one from somebody who has overwritten it. */
    {"1: r20 r12 r20 / 0: w21 w12", 2, false, 0, 0x193, 0},
    /* An element that is appended once more long after its first append was rolled back, or its outcome was unknown. */
    {"0: ! a01 / 1: w11 / 1: w12 / 1: w13 / 1: w14 / 1: w15 / 1: w16 / 1: a01", 1, true, 5, ~0u, 0},
    {"0: ? a01 / 1: w11 / 1: w12 / 1: w13 / 1: w14 / 1: w15 / 1: w16 / 1: a01", 1, true, 2, ~0u, 0x20},
    /* Somebody who reads what it will write itself has read it from somebody else, who therefore took effect. */
    {"3: @9-12 w01 / 1: @8-14 / 1: @15-18 / 0: ? @16-19 w21 r00 / 0: @20-22 / 2: @16-23 r21 w21", 2, true, 6, ~0u,
     0x168},
    /* A key that is only ever read, once nothing and once a value, beside a list that is empty: it is no list. */
    {"2: @14-15 r10 / 2: ? @22-24 l2 r11", 0, true, 8, 0x1f5, 0xfd},
};

/* The state of the generator and the seed of the simulator. */
static const struct {
  uint64_t random, seed;
} fixed_simulations[] = {
    /* Somebody whose snapshot is before the part of the order that was looked at again, and whose commit is in it. */
    {UINT64_C(15134795552182860867), 28596},
};

static void agrees_on_fixed_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof fixed_cases / sizeof fixed_cases[0]; i++) {
    const fixed_case *c = &fixed_cases[i];
    live_source s = live_source_of(c->history);
    live_trial t = {.source = &s, .horizon = c->horizon, .recorded = c->recorded};
    t.only = c->only, t.cuts = c->cuts, t.saves = c->saves;
    if (live_trial_differs(&t)) fail_msg("%s: %s", c->history, t.problem);
  }
  for (size_t i = 0; i < sizeof fixed_simulations / sizeof fixed_simulations[0]; i++)
    live_simulated_once(fixed_simulations[i].random, fixed_simulations[i].seed);
}

/* ---- random ones ---- */

static void agrees_after_every_batch(void **state) {
  (void)state;
  uint64_t random = seed, polls = 0, unknown = 0, consulted = 0, left = 0, saved = 0;
  for (uint64_t i = 0; i < histories; i++) {
    live_source s;
    live_source_draw(&random, rows_only, &s);
    live_trial t = {.source = &s, .horizon = sketch_below(&random, 4), .recorded = sketch_below(&random, 4) != 0};
    t.only = (unsigned)sketch_below(&random, 2 * LEVELS);
    if (t.only > LEVELS) t.only = LEVELS;
    if (t.only >= LEVELS - 2 && !live_source_is_timed(&s)) t.only = LEVELS;
    t.cuts = sketch_below(&random, 3) == 0 ? ~0u : (unsigned)sketch_below(&random, 512);
    t.saves = sketch_below(&random, 2) == 0 ? 0 : (unsigned)sketch_below(&random, 512);
    if (i < first_history) continue;
    if (live_trial_differs(&t)) live_trial_show(&t, i);
    saved += t.saved, polls += t.polls, unknown += t.unknown, consulted += t.whole_checks, left += t.left;
  }
  if (with_table)
    print_message("%llu histories, %llu polls, the whole consulted %llu times, %llu verdicts unknown without it, "
                  "%llu transactions were gone from memory, saved and restored %llu times\n",
                  (unsigned long long)histories, (unsigned long long)polls, (unsigned long long)consulted,
                  (unsigned long long)unknown, (unsigned long long)left, (unsigned long long)saved);
}

static uint64_t number_from(const char *text, uint64_t usual) {
  return text != NULL ? strtoull(text, NULL, 10) : usual;
}

static void agrees_on_simulated_histories(void **state) {
  (void)state;
  live_simulated_agree(seed, first_simulation, histories / PER_SIMULATION);
}

/* Writers whose order a reader tells thousands of transactions later, and replicas that are behind: a window of two
 * hundred has to do. */
static void needs_nothing_recorded(void **state) {
  (void)state;
  live_simulated_alone();
}

static void parts_say_perhaps(void **state) {
  (void)state;
  live_index_agrees(seed);
  live_clocks_agree(seed);
}

int main(int argc, char **argv) {
  const char *total = getenv("ISOPROOF_RANDOM_HISTORIES");
  histories = total != NULL ? number_from(total, USUAL) / 10 : UNLESS_SLOW(USUAL, USUAL / 10);
  seed = number_from(getenv("ISOPROOF_RANDOM_SEED"), 20261116);
  const struct {
    const char *name;
    uint64_t *value;
  } numbers[] = {
      {"--count", &histories}, {"--seed", &seed}, {"--from", &first_history}, {"--from-simulation", &first_simulation}};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--table") == 0) with_table = true;
    if (strcmp(argv[i], "--rows") == 0) rows_only = true;
    for (size_t j = 0; j < sizeof numbers / sizeof numbers[0] && i + 1 < argc; j++) {
      if (strcmp(argv[i], numbers[j].name) == 0) *numbers[j].value = number_from(argv[i + 1], 0);
    }
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_on_fixed_cases),    cmocka_unit_test(parts_say_perhaps),
      cmocka_unit_test(agrees_after_every_batch), cmocka_unit_test(agrees_on_simulated_histories),
      cmocka_unit_test(needs_nothing_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
