/* A serial order of a history with open reads: found where there is one, in the order of sessions, and by every
 * transaction once, whether values count up or not; not found where nothing is serial. */
#include "check/strong/open/serial_start.h"

#include <stdlib.h>

#include "check/causal/causal_order.h"
#include "tests/unit/unit.h"

static isoproof_history *simulate(isoproof_sim_level level, uint64_t seed) {
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  assert_true(isoproof_sim_defaults(&sim));
  sim.seed = seed;
  sim.level = level;
  sim.sessions = 150;
  sim.txns = 1500;
  sim.ops_min = sim.ops_max = 10;
  sim.keys = 600;
  sim.duplicate_share = 0.1;
  assert_ok_error(isoproof_simulate(&sim, NULL, &history, NULL, &error), error);
  return history;
}

static int ascending(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void assert_order(const iso_view *v, int64_t *when) {
  const isoproof_history *h = v->h;
  uint32_t count = 0;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    uint32_t before = v->counts[txn] ? iso_view_previous(v, txn) : ISO_NO_TXN;
    if (before != ISO_NO_TXN) assert_true(when[before] < when[txn]);
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      if (v->reads[i].from != ISO_INITIAL) assert_true(when[v->reads[i].from] < when[txn]);
    }
    count += v->counts[txn];
  }
  assert_int_equal(count, v->taking_part);
  assert_int_equal(count, h->txns); /* so that there are no others in between */
  qsort(when, h->txns, sizeof *when, ascending);
  for (uint32_t txn = 0; txn < h->txns; txn++) assert_int_equal(when[txn], txn);
}

/* As if clients did not count: other values, which are as many and as different as before. */
static void scramble(isoproof_history *history) {
  for (uint32_t op = 0; op < history->ops; op++) {
    iso_value *value = &history->op_value[op];
    if (*value != ISO_VALUE_NIL) *value = *value * UINT32_C(2654435761) & (ISO_VALUE_INLINE_LIMIT >> 1);
  }
}

static bool try_one(isoproof_sim_level level, uint64_t seed, bool counts) {
  isoproof_history *history = simulate(level, seed);
  iso_doubt doubt;
  iso_view view = {.h = NULL};
  iso_open_reads open = {.view = NULL};
  iso_causal known;
  iso_serial_start start;
  if (!counts) scramble(history);
  assert_ok(iso_doubt_make(history, NULL, &doubt, NULL));
  assert_ok(iso_open_reads_list(&doubt, NULL, &view, &open, NULL));
  assert_ok(iso_causal_order(&view, NULL, NULL, &known, NULL));
  assert_int_equal(known.answer, ISO_CAUSAL_YES);
  assert_ok(iso_serial_start_find(&view, &open, &doubt, counts ? NULL : &known.sequence, ISO_SERIAL_MEND, NULL, &start,
                                  NULL));
  bool found = start.when != NULL && start.few;
  if (start.when != NULL) assert_order(&view, start.when);
  free(start.when);
  iso_causal_free(&known);
  iso_open_reads_free(&open);
  iso_view_free(&view);
  iso_doubt_end(&doubt, false);
  isoproof_history_free(history);
  return found;
}

static void serial_histories_have_one(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(5, 1); seed++) {
    for (int counts = 0; counts < 2; counts++) {
      assert_true(try_one(ISOPROOF_SIM_SERIALIZABLE, seed, counts));
      assert_false(try_one(ISOPROOF_SIM_CAUSAL, seed, counts));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(serial_histories_have_one)};
  return cmocka_run_group_tests_name("serial_start", tests, NULL, NULL);
}
