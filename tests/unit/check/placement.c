/* placement.c - sequences that are guessed from what was read: they respect the known edges, and break little. */
#include "check/order/placement.h"

#include "check/strong/rules/rule.h"
#include "check/strong/strong.h"
#include "tests/random/random_history.h"
#include "tests/unit/unit.h"

typedef struct {
  iso_view view;
  iso_event_graph events;
  iso_sequence sequence;
} placing;

static bool begin(placing *p, isoproof_history *history, bool split) {
  assert_ok(iso_view_make(history, NULL, &p->view, NULL));
  iso_event_shape shape = {.split = split};
  assert_ok(iso_event_graph_make(&p->view, shape, NULL, &p->events, NULL));
  p->events.timed = false; /* as if the history told nothing of when */
  assert_ok(iso_sequence_make(&p->events, NULL, &p->sequence, NULL));
  return p->sequence.count == p->sequence.total;
}

static void end(placing *p, isoproof_history *history) {
  iso_sequence_free(&p->sequence);
  iso_event_graph_free(&p->events);
  iso_view_free(&p->view);
  isoproof_history_free(history);
}

/* Every event once, behind all that must come before it. */
static void assert_right_order(const placing *p) {
  const iso_sequence *s = &p->sequence;
  assert_int_equal(s->count, s->total);
  for (uint32_t i = 0; i < s->count; i++) {
    uint64_t at = 0;
    uint32_t before;
    assert_int_equal(s->place[s->event[i]], i);
    while ((before = iso_next_before(&p->events, s->event[i], &at)) != ISO_NO_EVENT) assert_true(s->place[before] < i);
  }
}

static void small_histories_stay_in_order(void **state) {
  (void)state;
  uint64_t random = 4711;
  for (int round = 0; round < UNLESS_SLOW(3000, 300); round++) {
    sketch s;
    sketch_draw(&random, &s);
    for (unsigned how = 0; how < 20; how++) {
      isoproof_history *history = sketch_history(&s);
      placing p;
      iso_placement placement = {.springs = how & 1,
                                 .exclusive = how & 2,
                                 .together = how & 1,
                                 .replay = how & 8,
                                 .values = how & 16,
                                 .seed = how};
      if (begin(&p, history, how & 4)) {
        assert_ok(iso_sequence_place(&p.events, placement, NULL, &p.sequence, NULL));
        assert_right_order(&p);
      }
      end(&p, history);
    }
  }
}

static isoproof_history *simulate(isoproof_sim_level level, uint32_t sessions, uint32_t keys, double reads) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_defaults(&options);
  options.seed = 7;
  options.level = level;
  options.sessions = sessions;
  options.txns = 1000;
  options.ops_min = options.ops_max = 8;
  options.keys = keys;
  options.read_share = reads;
  assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
  return history;
}

static uint64_t count_broken(placing *p, const iso_strong_rule *rule) {
  iso_version_store store;
  iso_requirements broken = {.failed = false};
  uint64_t count;
  assert_ok(iso_version_store_make(&p->view, &store, NULL));
  iso_examination examination = {.rule = rule, .events = &p->events, .store = &store};
  assert_ok(rule->examine(&examination, &p->sequence, &broken, &count, NULL));
  iso_requirements_free(&broken);
  iso_version_store_free(&store);
  return count;
}

/* Many short sessions, and few reads: nothing tells the order but what was read. */
static void most_is_explained(void **state) {
  (void)state;
  static const struct {
    isoproof_sim_level level;
    uint32_t sessions;
    double reads;
  } shapes[] = {{ISOPROOF_SIM_SERIALIZABLE, 1000, 0.5},
                {ISOPROOF_SIM_SERIALIZABLE, 200, 0.1},
                {ISOPROOF_SIM_SNAPSHOT, 1000, 0.5},
                {ISOPROOF_SIM_SNAPSHOT, 200, 0.1}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    bool split = shapes[i].level == ISOPROOF_SIM_SNAPSHOT;
    const iso_strong_rule *rule = split ? &iso_strong_rule_snapshot : &iso_strong_rule_serializable;
    placing p;
    isoproof_history *history = simulate(shapes[i].level, shapes[i].sessions, 300, shapes[i].reads);
    assert_true(begin(&p, history, split));
    uint64_t first = count_broken(&p, rule);
    iso_placement placement = {.springs = true, .together = true, .exclusive = split};
    assert_ok(iso_sequence_place(&p.events, placement, NULL, &p.sequence, NULL));
    assert_right_order(&p);
    uint64_t placed = count_broken(&p, rule);
    if (placed > first / 20) fail_msg("shape %zu: %d broken, %d at first", i, (int)placed, (int)first);
    end(&p, history);
  }
}

/* Whoever finds another value than it saw goes to where it finds that, and what is carried out ends up right. */
static void what_is_wrong_goes_where_it_is_right(void **state) {
  (void)state;
  placing p;
  isoproof_history *history = simulate(ISOPROOF_SIM_SERIALIZABLE, 200, 3, 0.5);
  assert_true(begin(&p, history, false));
  iso_placement replay = {.springs = true, .replay = true}, values = {.values = true};
  assert_ok(iso_sequence_place(&p.events, replay, NULL, &p.sequence, NULL));
  uint64_t carried_out = count_broken(&p, &iso_strong_rule_serializable);
  assert_ok(iso_sequence_place(&p.events, values, NULL, &p.sequence, NULL));
  assert_right_order(&p);
  uint64_t walked = count_broken(&p, &iso_strong_rule_serializable);
  if (walked > carried_out / 2) fail_msg("%d broken, %d before", (int)walked, (int)carried_out);
  end(&p, history);
}

/* Hardly anybody can move past anybody on a few keys, but what was read tells who was next. */
static void few_keys_are_carried_out(void **state) {
  (void)state;
  static const isoproof_sim_level levels[] = {ISOPROOF_SIM_SERIALIZABLE, ISOPROOF_SIM_SNAPSHOT};
  for (size_t i = 0; i < 2; i++) {
    bool split = levels[i] == ISOPROOF_SIM_SNAPSHOT;
    placing p;
    isoproof_history *history = simulate(levels[i], 1000, 1, 0.8);
    assert_true(begin(&p, history, split));
    const iso_strong_rule *rule = split ? &iso_strong_rule_snapshot : &iso_strong_rule_serializable;
    uint64_t first = count_broken(&p, rule);
    iso_placement placement = {.springs = true, .replay = true};
    assert_ok(iso_sequence_place(&p.events, placement, NULL, &p.sequence, NULL));
    assert_right_order(&p);
    uint64_t placed = count_broken(&p, rule);
    if (placed > first / 20) fail_msg("level %zu: %d broken, %d at first", i, (int)placed, (int)first);
    end(&p, history);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_histories_stay_in_order),
      cmocka_unit_test(most_is_explained),
      cmocka_unit_test(few_keys_are_carried_out),
      cmocka_unit_test(what_is_wrong_goes_where_it_is_right),
  };
  return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
