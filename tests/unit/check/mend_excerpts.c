/* Wrong reads of an order put right by deciding what stands around them: no read that was right becomes wrong, and an
 * order that is nearly right becomes right. */
#include "check/strong/open/mend_excerpts.h"

#include <stdlib.h>

#include "check/strong/open/decide.h"
#include "check/strong/open/search.h"
#include "tests/unit/unit.h"

typedef struct {
  isoproof_history *history;
  const iso_strong_level *level;
  iso_doubt doubt;
  iso_view view;
  iso_open_reads open;
  iso_event_graph events;
  iso_version_store store;
} doubtful;

static isoproof_history *simulate(isoproof_sim_level level, uint64_t seed, uint32_t txns, uint32_t keys) {
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  assert_true(isoproof_sim_defaults(&sim));
  sim.seed = seed;
  sim.level = level;
  sim.sessions = txns / 5;
  sim.txns = txns;
  sim.ops_min = 2, sim.ops_max = 8;
  sim.keys = keys;
  sim.duplicate_share = 0.2;
  assert_ok_error(isoproof_simulate(&sim, NULL, &history, NULL, &error), error);
  return history;
}

static void make(doubtful *d, isoproof_history *history, iso_level level) {
  *d = (doubtful){.history = history, .level = iso_strong_level_of(isoproof_level_at(level))};
  iso_event_shape shape = {.split = iso_strong_rule_of(d->level->rule)->split};
  assert_ok(iso_doubt_make(history, NULL, &d->doubt, NULL));
  assert_ok(iso_open_reads_list(&d->doubt, NULL, &d->view, &d->open, NULL));
  assert_ok(iso_event_graph_make(&d->view, shape, NULL, &d->events, NULL));
  assert_ok(iso_version_store_make(&d->view, &d->store, NULL));
}

static void end(doubtful *d) {
  iso_version_store_free(&d->store);
  iso_event_graph_free(&d->events);
  iso_open_reads_free(&d->open);
  iso_view_free(&d->view);
  iso_doubt_end(&d->doubt, false);
  isoproof_history_free(d->history);
}

static iso_examination examine(doubtful *d) {
  return (iso_examination){.rule = iso_strong_rule_of(d->level->rule), .events = &d->events, .store = &d->store};
}

static uint64_t count_broken(doubtful *d, const iso_sequence *sequence) {
  iso_examination examination = examine(d);
  uint64_t broken;
  assert_ok(iso_open_count_broken(&examination, sequence, &d->open, true, &broken, NULL));
  return broken;
}

/* What is left broken; `fits` is UINT64_MAX where any sequence will do. */
static uint64_t mend(doubtful *d, iso_sequence *sequence, uint64_t fits) {
  iso_examination examination = examine(d);
  uint64_t broken = fits;
  assert_ok(iso_excerpts_mend(&examination, &d->open, d->level, sequence, &broken, NULL));
  assert_int_equal(broken, count_broken(d, sequence));
  return broken;
}

/* Every event once, behind all that must come before it. */
static void assert_keeps(const doubtful *d, const iso_sequence *s) {
  assert_int_equal(s->count, s->total);
  for (uint32_t i = 0; i < s->count; i++) {
    uint64_t at = 0;
    uint32_t before;
    assert_int_equal(s->place[s->event[i]], i);
    while ((before = iso_next_before(&d->events, s->event[i], &at)) != ISO_NO_EVENT) assert_true(s->place[before] < i);
  }
}

/* Whole transactions, one after the other. */
static void place(const doubtful *d, const int64_t *of_txn, iso_sequence *sequence) {
  int64_t *when = calloc(d->events.count, sizeof *when);
  assert_non_null(when);
  for (uint32_t txn = 0; txn < d->history->txns; txn++) {
    when[iso_event_begin(&d->events, txn)] = 2 * of_txn[txn];
    when[iso_event_commit(&d->events, txn)] = 2 * of_txn[txn] + d->events.split;
  }
  assert_ok(iso_sequence_make_by(&d->events, when, NULL, sequence, NULL));
  free(when);
}

static uint32_t draw(uint64_t *random, uint32_t below) {
  *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)((*random >> 33) % below);
}

/* In any order at all, of a history that nothing is known about. */
static void right_reads_stay_right(void **state) {
  (void)state;
  uint64_t random = 4711, mended = 0;
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(2000, 100); seed++) {
    doubtful d;
    iso_sequence sequence;
    make(&d, simulate(seed % 2 ? ISOPROOF_SIM_CAUSAL : ISOPROOF_SIM_SERIALIZABLE, seed, 40, 6), ISO_LEVEL_SERIALIZABLE);
    int64_t *when = calloc(d.history->txns, sizeof *when);
    assert_non_null(when);
    for (uint32_t txn = 0; txn < d.history->txns; txn++) when[txn] = draw(&random, 1000);
    place(&d, when, &sequence);
    free(when);
    uint64_t before = count_broken(&d, &sequence);
    uint64_t after = mend(&d, &sequence, UINT64_MAX);
    assert_keeps(&d, &sequence);
    assert_true(after <= before);
    mended += after < before;
    iso_sequence_free(&sequence);
    end(&d);
  }
  assert_true(mended > 0);
}

/* An order that proves a serial history serializable, by transaction. */
static int64_t *order_of(uint64_t seed, uint32_t txns, uint32_t keys) {
  isoproof_history *history = simulate(ISOPROOF_SIM_SERIALIZABLE, seed, txns, keys);
  const iso_strong_level *level = iso_strong_level_of(isoproof_level_at(ISO_LEVEL_SERIALIZABLE));
  iso_open_decision decision;
  assert_ok(iso_open_decide(history, level, 0, NULL, &decision, NULL));
  assert_true(decision.decided && !decision.violated);
  int64_t *when = calloc(txns, sizeof *when);
  assert_non_null(when);
  for (uint32_t i = 0; i < decision.sequence.count; i++) when[decision.sequence.event[i]] = i;
  iso_open_decision_free(&decision);
  isoproof_history_free(history);
  return when;
}

/* Some take the places of others who stand near. */
static void disturb(int64_t *when, uint32_t txns, uint64_t *random) {
  enum { TIMES = 12, NEAR = 40 };
  for (int i = 0; i < TIMES; i++) {
    uint32_t txn = draw(random, txns), shift = draw(random, NEAR);
    when[txn] = when[txn] > shift ? when[txn] - shift : 0;
  }
}

static void nearly_right_orders_become_right(void **state) {
  enum { TXNS = 4000, KEYS = 2000 };
  static const iso_level levels[] = {ISO_LEVEL_SERIALIZABLE, ISO_LEVEL_SNAPSHOT_ISOLATION, ISO_LEVEL_PREFIX};
  (void)state;
  uint64_t random = 815, disturbed = 0;
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(4, 1); seed++) {
    int64_t *when = order_of(seed, TXNS, KEYS);
    disturb(when, TXNS, &random);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
      doubtful d;
      iso_sequence sequence;
      make(&d, simulate(ISOPROOF_SIM_SERIALIZABLE, seed, TXNS, KEYS), levels[i]);
      place(&d, when, &sequence);
      uint64_t broken = count_broken(&d, &sequence);
      disturbed += broken;
      assert_int_equal(mend(&d, &sequence, broken), 0);
      assert_keeps(&d, &sequence);
      iso_sequence_free(&sequence);
      end(&d);
    }
    free(when);
  }
  assert_true(disturbed > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(right_reads_stay_right),
                                     cmocka_unit_test(nearly_right_orders_become_right)};
  return cmocka_run_group_tests_name("mend_excerpts", tests, NULL, NULL);
}
