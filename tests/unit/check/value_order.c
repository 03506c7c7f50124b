/* The order of values that count up: it keeps to what is known, whatever values say, and explains what was serial. */
#include "check/order/value_order.h"

#include "check/strong/rules/rule.h"
#include "check/strong/strong.h"
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

typedef struct {
  isoproof_history *history;
  iso_view view;
  iso_event_graph events;
  iso_value_order order;
} ordered;

static void make(ordered *o, isoproof_history *history, bool split) {
  iso_event_shape shape = {.split = split};
  o->history = history;
  assert_ok(iso_view_make(history, NULL, &o->view, NULL));
  assert_ok(iso_event_graph_make(&o->view, shape, NULL, &o->events, NULL));
  assert_ok(iso_value_order_make(&o->events, NULL, &o->order, NULL));
}

static void end(ordered *o) {
  iso_value_order_free(&o->order);
  iso_event_graph_free(&o->events);
  iso_view_free(&o->view);
  isoproof_history_free(o->history);
}

/* Every event once, behind all that must come before it, and the hints that are kept are kept. */
static void assert_keeps(const ordered *o) {
  const iso_sequence *s = &o->order.sequence;
  assert_int_equal(s->count, s->total);
  for (uint32_t i = 0; i < s->count; i++) {
    uint64_t at = 0;
    uint32_t before;
    assert_int_equal(s->place[s->event[i]], i);
    while ((before = iso_next_before(&o->events, s->event[i], &at)) != ISO_NO_EVENT) assert_true(s->place[before] < i);
  }
  for (size_t i = 0; i < o->order.hints.items.count; i++) {
    const iso_hint *hint = &o->order.hints.items.items[i];
    assert_true(s->place[hint->from] < s->place[hint->to]);
  }
}

static uint64_t count_broken(ordered *o, iso_level level) {
  const iso_strong_rule *rule = iso_strong_rule_of(iso_strong_level_of(isoproof_level_at(level))->rule);
  iso_version_store store;
  iso_requirements breaks = {.failed = false};
  uint64_t broken;
  assert_ok(iso_version_store_make(&o->view, &store, NULL));
  iso_examination examination = {.rule = rule, .events = &o->events, .store = &store};
  assert_ok(rule->examine(&examination, &o->order.sequence, &breaks, &broken, NULL));
  iso_requirements_free(&breaks);
  iso_version_store_free(&store);
  return broken;
}

static isoproof_history *simulate(isoproof_sim_level level, uint64_t seed) {
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  assert_true(isoproof_sim_defaults(&sim));
  sim.seed = seed;
  sim.level = level;
  sim.sessions = 100;
  sim.txns = 1000;
  sim.ops_min = 2, sim.ops_max = 8;
  sim.keys = 50;
  assert_ok_error(isoproof_simulate(&sim, NULL, &history, NULL, &error), error);
  return history;
}

static void small_histories_stay_in_order(void **state) {
  (void)state;
  uint64_t random = 1871;
  for (int round = 0; round < UNLESS_SLOW(20000, 1000); round++) {
    sketch s;
    sketch_draw(&random, &s);
    for (int split = 0; split < 2; split++) {
      ordered o;
      make(&o, sketch_history(&s), split);
      if (o.order.sequence.event != NULL && o.order.sequence.count == o.order.sequence.total) assert_keeps(&o);
      end(&o);
    }
  }
}

static void clients_that_count_are_explained(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(20, 2); seed++) {
    ordered o;
    make(&o, simulate(ISOPROOF_SIM_SERIALIZABLE, seed), false);
    assert_true(o.order.readers);
    assert_int_equal(o.order.dropped, 0);
    assert_keeps(&o);
    assert_int_equal(count_broken(&o, ISO_LEVEL_SERIALIZABLE), 0);
    end(&o);
    make(&o, simulate(ISOPROOF_SIM_SNAPSHOT, seed), true);
    assert_keeps(&o);
    assert_int_equal(count_broken(&o, ISO_LEVEL_SNAPSHOT_ISOLATION), 0);
    end(&o);
  }
}

static isoproof_history *read_text(const char *text) {
  isoproof_history *history = NULL;
  isoproof_error error;
  isoproof_open_options options = {.struct_size = sizeof options, .format = "plume"};
  isoproof_status status = isoproof_history_open_memory(text, strlen(text), "h.txt", &options, NULL, &history, &error);
  assert_ok_error(status, error);
  return history;
}

/* A lost update: two who read one version and wrote the next ones.  Each would come before the other one. */
static void a_cycle_costs_a_hint(void **state) {
  (void)state;
  isoproof_history *history = read_text("w(0,1,0,0)\nr(0,1,1,1)\nw(0,2,1,1)\nr(0,1,2,2)\nw(0,3,2,2)\n");
  ordered o;
  make(&o, history, false);
  assert_non_null(o.order.sequence.event);
  assert_int_equal(o.order.dropped, 1);
  assert_keeps(&o);
  assert_int_equal(count_broken(&o, ISO_LEVEL_SERIALIZABLE), 1);
  end(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_histories_stay_in_order),
                                     cmocka_unit_test(clients_that_count_are_explained),
                                     cmocka_unit_test(a_cycle_costs_a_hint)};
  return cmocka_run_group_tests_name("value_order", tests, NULL, NULL);
}
