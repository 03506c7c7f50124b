/* Reads whose versions stand behind them: those that are said to fit do so together, and nothing is left out in vain.
 */
#include "check/strong/open/late.h"

#include <string.h>

#include "tests/unit/unit.h"

enum { HISTORIES = UNLESS_SLOW(400, 60) };

typedef struct {
  isoproof_history *history;
  iso_doubt doubt;
  iso_view view;
  iso_open_reads open;
  iso_event_graph events;
  iso_sequence sequence;
} late_case;

static isoproof_history *simulate(uint64_t seed) {
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  assert_true(isoproof_sim_defaults(&sim));
  sim.seed = seed;
  sim.level = ISOPROOF_SIM_CAUSAL;
  sim.sessions = 2 + (uint32_t)(seed % 11);
  sim.txns = 10 + (uint32_t)(seed % 31);
  sim.ops_min = sim.ops_max = 4;
  sim.keys = 2 + (uint32_t)(seed % 5);
  sim.duplicate_share = 0.5;
  assert_ok_error(isoproof_simulate(&sim, NULL, &history, NULL, &error), error);
  return history;
}

/* False where what is known contradicts itself, or nothing is open. */
static bool begin(late_case *c, uint64_t seed, bool split) {
  memset(c, 0, sizeof *c);
  c->history = simulate(seed);
  assert_ok(iso_doubt_make(c->history, NULL, &c->doubt, NULL));
  assert_ok(iso_open_reads_list(&c->doubt, NULL, &c->view, &c->open, NULL));
  assert_ok(iso_event_graph_make(&c->view, (iso_event_shape){.split = split}, NULL, &c->events, NULL));
  assert_ok(iso_sequence_make(&c->events, NULL, &c->sequence, NULL));
  return c->sequence.count == c->sequence.total && c->open.reads.count > 0;
}

static void end(late_case *c) {
  iso_sequence_free(&c->sequence);
  iso_event_graph_free(&c->events);
  iso_open_reads_free(&c->open);
  iso_view_free(&c->view);
  iso_doubt_end(&c->doubt, false);
  isoproof_history_free(c->history);
}

static void list_late(late_case *c, uint64_t *random, iso_late_reads *late) {
  for (size_t i = 0; i < c->open.reads.count; i++) {
    const iso_open_read *read = &c->open.reads.items[i];
    if (read->first == read->end) continue;
    uint32_t place = read->first + (uint32_t)unit_below(random, read->end - read->first);
    iso_late_read one = {.read = (uint32_t)i, .version = c->open.by_value[place] + 1};
    if (c->open.slot_txn[one.version - 1] != read->txn) assert_true(iso_vec_push(late, one));
  }
}

static uint32_t from_of(const late_case *c, const iso_late_read *late) {
  return iso_event_commit(&c->events, c->open.slot_txn[late->version - 1]);
}

static uint32_t to_of(const late_case *c, const iso_late_read *late) {
  return iso_event_begin(&c->events, c->open.reads.items[late->read].txn);
}

/* Whether one event comes before another by the graph and by the reads that fit, found by brute force. */
static bool reaches(const late_case *c, const iso_late_reads *late, uint32_t from, uint32_t to) {
  bool *reached = calloc(c->events.count, sizeof *reached), more = true;
  reached[from] = true;
  while (more) {
    more = false;
    for (uint32_t event = 0; event < c->events.count; event++) {
      uint64_t at = 0;
      uint32_t before;
      bool comes = reached[event];
      while (!comes && (before = iso_next_before(&c->events, event, &at)) != ISO_NO_EVENT) comes = reached[before];
      for (size_t i = 0; !comes && i < late->count; i++) {
        const iso_late_read *one = &late->items[i];
        comes = one->fits && to_of(c, one) == event && reached[from_of(c, one)];
      }
      if (comes == reached[event]) continue;
      reached[event] = more = true;
    }
  }
  bool found = reached[to];
  free(reached);
  return found;
}

static void assert_fit(const late_case *c, const iso_late_reads *late, uint64_t *left) {
  const iso_sequence *s = &c->sequence;
  for (uint32_t i = 0; i < s->count; i++) {
    uint64_t at = 0;
    uint32_t before;
    assert_int_equal(s->place[s->event[i]], i);
    while ((before = iso_next_before(&c->events, s->event[i], &at)) != ISO_NO_EVENT) assert_true(s->place[before] < i);
  }
  for (size_t i = 0; i < late->count; i++) {
    const iso_late_read *one = &late->items[i];
    if (one->fits) {
      assert_true(s->place[from_of(c, one)] < s->place[to_of(c, one)]);
    } else {
      /* It would close a cycle with those that fit. */
      assert_true(reaches(c, late, to_of(c, one), from_of(c, one)));
      ++*left;
    }
  }
}

static void late_reads_fit_together(void **state) {
  (void)state;
  uint64_t random = 5, left = 0, all = 0;
  for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
    late_case c;
    iso_late_reads late = {.items = NULL};
    if (begin(&c, seed, seed % 2)) {
      list_late(&c, &random, &late);
      assert_ok(iso_late_reads_fit(&c.open, &c.events, &late, &c.sequence, NULL, NULL));
      assert_fit(&c, &late, &left);
      all += late.count;
    }
    iso_vec_free(&late);
    end(&c);
  }
  assert_true(left > 0 && left < all);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(late_reads_fit_together)};
  return cmocka_run_group_tests_name("late", tests, NULL, NULL);
}
