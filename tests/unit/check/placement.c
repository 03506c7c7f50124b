/* placement.c - sequences that are guessed from what was read: they respect the known edges, and break little. */
#include "check/order/placement.h"

#include "check/order/contradictions.h"
#include "check/order/one_key.h"
#include "check/order/value_line.h"
#include "check/order/value_window.h"
#include "check/strong/rules/rule.h"
#include "check/strong/saturate_rows.h"
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

/* Takes another sequence, by places. */
static void follow(placing *p, int64_t *when) {
  iso_sequence_free(&p->sequence);
  assert_ok(iso_sequence_make_by(&p->events, when, NULL, &p->sequence, NULL));
  free(when);
}

/* What is satisfied on one key is explained without a search. */
static void one_key_needs_no_search(void **state) {
  (void)state;
  static const double reads[] = {0.05, 0.5, 0.95};
  for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
    for (int split = 0; split < 2; split++) {
      placing p;
      int64_t *when;
      isoproof_sim_level level = split ? ISOPROOF_SIM_SNAPSHOT : ISOPROOF_SIM_SERIALIZABLE;
      isoproof_history *history = simulate(level, 200, 1, reads[i]);
      assert_true(begin(&p, history, split));
      assert_ok(iso_one_key_order(&p.events, &when, NULL));
      assert_non_null(when);
      follow(&p, when);
      assert_right_order(&p);
      assert_int_equal(count_broken(&p, split ? &iso_strong_rule_snapshot : &iso_strong_rule_serializable), 0);
      end(&p, history);
    }
  }
}

static void more_keys_have_no_such_order(void **state) {
  (void)state;
  placing p;
  int64_t *when;
  isoproof_history *history = simulate(ISOPROOF_SIM_SERIALIZABLE, 20, 2, 0.5);
  assert_true(begin(&p, history, false));
  assert_ok(iso_one_key_order(&p.events, &when, NULL));
  assert_null(when);
  end(&p, history);
}

/* The simulator grants locks as transactions come. */
static void starts_tell_who_came_first(void **state) {
  (void)state;
  placing p;
  isoproof_history *history = simulate(ISOPROOF_SIM_SERIALIZABLE, 200, 100, 0.5);
  assert_true(begin(&p, history, false));
  iso_sequence_free(&p.sequence);
  assert_ok(iso_sequence_make_by_starts(&p.events, NULL, &p.sequence, NULL));
  assert_right_order(&p);
  assert_int_equal(count_broken(&p, &iso_strong_rule_serializable), 0);
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

/* Where nearly everybody overwrites all keys, an order is found that is right in everything, not in most. */
static void few_keys_are_retraced(void **state) {
  (void)state;
  for (int split = 0; split < 2; split++) {
    placing p;
    isoproof_history *history = simulate(ISOPROOF_SIM_SERIALIZABLE, 2000, 3, 0.65);
    assert_true(begin(&p, history, split));
    const iso_strong_rule *rule = split ? &iso_strong_rule_snapshot : &iso_strong_rule_serializable;
    iso_saturation saturation;
    assert_ok(iso_view_need_readers(&p.view, NULL));
    assert_ok(iso_saturate_rows(rule, &p.events, &p.sequence, 0, NULL, &saturation, NULL));
    assert_false(saturation.cyclic);
    assert_ok(iso_sequence_place(&p.events, (iso_placement){.springs = true, .replay = true}, NULL, &p.sequence, NULL));
    assert_right_order(&p);
    assert_int_equal(count_broken(&p, rule), 0);
    end(&p, history);
  }
}

static int by_who(const void *a, const void *b) {
  const iso_contradiction *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->item != y->item) return x->item < y->item ? -1 : 1;
  return (x->what > y->what) - (x->what < y->what);
}

static void assert_same(iso_contradictions *a, iso_contradictions *b) {
  assert_int_equal(a->pairs, b->pairs);
  assert_int_equal(a->all.count, b->all.count);
  if (a->all.count == 0) return;
  qsort(a->all.items, a->all.count, sizeof *a->all.items, by_who);
  qsort(b->all.items, b->all.count, sizeof *b->all.items, by_who);
  assert_memory_equal(a->all.items, b->all.items, a->all.count * sizeof *a->all.items);
}

static uint32_t draw(uint64_t *random, uint32_t below) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((*random >> 32) * below >> 32);
}

/* The accesses of each key are in the order of places, and each is where its item says. */
static void assert_items_found(const iso_line *l) {
  for (uint32_t key = 0; key < l->e->view->h->keys; key++) {
    for (uint32_t i = l->first[key]; i < l->first[key + 1]; i++) {
      uint32_t item = l->accesses[i].item;
      assert_int_equal(l->item_at[l->accesses[i].home], i);
      assert_int_equal(iso_line_find(l, key, item), i);
      assert_true(i == l->first[key] || l->place[l->accesses[i - 1].item] <= l->place[item]);
    }
  }
}

/* After moves of anybody to anywhere, who moved and who was passed tells as much as looking at all of it again. */
static void what_moved_tells_what_is_contradicted(void **state) {
  (void)state;
  uint64_t random = 17;
  for (unsigned how = 0; how < 4; how++) {
    bool split = how & 1, whole = how & 2;
    placing p;
    isoproof_history *history = simulate(ISOPROOF_SIM_SNAPSHOT, 50, how < 2 ? 20 : 3, 0.5);
    assert_true(begin(&p, history, split));
    double *place = calloc(p.events.count, sizeof *place);
    for (uint32_t i = 0; i < p.sequence.count; i++) place[p.sequence.event[i]] = i;
    iso_line line;
    assert_ok(iso_line_make(&p.events, whole || !split, split && !whole, place, NULL, &line, NULL));
    iso_contradictions kept = {.pairs = 0};
    assert_true(iso_contradictions_find(&line, &kept));
    for (int round = 0; round < UNLESS_SLOW(300, 30); round++) {
      for (uint32_t moves = 1 + draw(&random, 4); moves > 0; moves--) {
        uint32_t event = draw(&random, p.events.txn_events);
        if (whole) event = iso_event_commit(&p.events, iso_event_txn(&p.events, event));
        (void)iso_line_move(&line, event, place[event] + draw(&random, 41) - 20.5);
      }
      assert_items_found(&line);
      assert_true(iso_contradictions_find(&line, &kept));
      iso_contradictions fresh = {.pairs = 0};
      iso_line_touch_all(&line);
      assert_true(iso_contradictions_find(&line, &fresh));
      assert_same(&kept, &fresh);
      iso_contradictions_free(&fresh);
    }
    iso_contradictions_free(&kept);
    iso_line_free(&line);
    free(place);
    end(&p, history);
  }
}

/* The same on the line of values, where everybody has a place of his own. */
static void assert_values_found(const iso_value_line *w) {
  for (uint32_t key = 0; key < w->v->h->keys; key++) {
    for (uint32_t i = w->first[key]; i < w->first[key + 1]; i++) {
      assert_int_equal(w->txn_key[w->at[i].home], key);
      assert_int_equal(w->txn_at[w->at[i].home], i);
      assert_true(i == w->first[key] || w->pos[w->at[i - 1].txn] < w->pos[w->at[i].txn]);
    }
  }
  for (uint32_t place = 0; place < w->count; place++) assert_int_equal(w->pos[w->order[place]], place);
}

/* A read is broken when the last write of its key before it is of another class: over all of them by the definition. */
static size_t count_other_values(const iso_value_line *w) {
  size_t broken = 0;
  for (uint32_t key = 0; key < w->v->h->keys; key++) {
    for (uint32_t i = w->first[key]; i < w->first[key + 1]; i++) {
      uint32_t now = w->c->initial[key], last = 0;
      for (uint32_t k = w->first[key]; k < w->first[key + 1]; k++) {
        bool before = w->pos[w->at[k].txn] < w->pos[w->at[i].txn];
        if (w->at[k].write == ISO_NO_CLASS || !before || w->pos[w->at[k].txn] + 1 <= last) continue;
        now = w->at[k].write;
        last = w->pos[w->at[k].txn] + 1;
      }
      broken += w->at[i].read != ISO_NO_CLASS && w->at[i].read != now;
    }
  }
  return broken;
}

static void values_are_found_after_moves(void **state) {
  (void)state;
  uint64_t random = 29;
  placing p;
  isoproof_history *history = simulate(ISOPROOF_SIM_SERIALIZABLE, 50, 20, 0.5);
  assert_true(begin(&p, history, false));
  int64_t *when = calloc(p.events.count, sizeof *when);
  for (uint32_t i = 0; i < p.sequence.count; i++) when[p.sequence.event[i]] = i;
  iso_value_classes classes;
  iso_value_line line;
  assert_ok(iso_value_classes_make(&p.view, &classes, NULL));
  assert_ok(iso_value_classes_read(&p.view, NULL, 0, &classes, NULL));
  assert_ok(iso_value_line_make(&p.events, &classes, when, &line, NULL));
  for (int round = 0; round < UNLESS_SLOW(200, 20); round++) {
    iso_value_line_move(&line, line.order[draw(&random, line.count)], draw(&random, line.count));
    assert_values_found(&line);
    assert_true(iso_value_line_find_broken(&line));
    assert_int_equal(line.broken.count, count_other_values(&line));
  }
  iso_value_line_free(&line);
  iso_value_classes_free(&classes);
  free(when);
  end(&p, history);
}

/* ---- windows ---- */

enum { MOST_TXNS = 6, MOST_KEYS = 2, CLASSES = 3 /* of each key */ };

static void draw_window(uint64_t *random, iso_value_window *w) {
  uint32_t keys = 1 + draw(random, MOST_KEYS), txns = 1 + draw(random, MOST_TXNS), times = draw(random, 2);
  *w = (iso_value_window){.classes = keys * CLASSES, .most_steps = UINT64_MAX};
  for (uint32_t key = 0; key < keys; key++) {
    iso_value_window_key k = {key * CLASSES, draw(random, 2) ? ISO_NO_CLASS : key * CLASSES + draw(random, CLASSES)};
    assert_true(iso_vec_push(&w->keys, k));
  }
  for (uint32_t i = 0; i < txns; i++) {
    iso_value_window_txn t = {.first = (uint32_t)w->accesses.count, .before = ISO_NO_TXN, .ends = UINT32_MAX};
    if (i > 0 && draw(random, 4) == 0) t.before = draw(random, i);
    if (times) t.starts = draw(random, 4), t.ends = t.starts + draw(random, 4);
    for (uint32_t key = 0; key < keys; key++) {
      iso_value_window_access a = {key, key * CLASSES + draw(random, CLASSES), key * CLASSES + draw(random, CLASSES)};
      uint32_t what = draw(random, 4);
      if ((what & 1) == 0) a.read = ISO_NO_CLASS;
      if ((what & 2) == 0) a.write = ISO_NO_CLASS;
      if (what != 0) assert_true(iso_vec_push(&w->accesses, a));
    }
    t.end = (uint32_t)w->accesses.count;
    assert_true(iso_vec_push(&w->txns, t));
  }
}

/* By the definition: everybody once, in the order of chains and of time, and finding what it read. */
static bool is_right(const iso_value_window *w, const uint32_t *order) {
  uint32_t now[MOST_KEYS], done = 0;
  for (uint32_t key = 0; key < w->keys.count; key++) now[key] = w->keys.items[key].now;
  for (uint32_t i = 0; i < w->txns.count; i++) {
    const iso_value_window_txn *t = &w->txns.items[order[i]];
    if (t->before != ISO_NO_TXN && (done >> t->before & 1) == 0) return false;
    for (uint32_t k = i + 1; k < w->txns.count; k++) {
      if (w->txns.items[order[k]].ends < t->starts) return false;
    }
    for (uint32_t k = t->first; k < t->end; k++) {
      const iso_value_window_access *a = &w->accesses.items[k];
      if (a->read != ISO_NO_CLASS && a->read != now[a->key]) return false;
    }
    for (uint32_t k = t->first; k < t->end; k++) {
      const iso_value_window_access *a = &w->accesses.items[k];
      if (a->write != ISO_NO_CLASS) now[a->key] = a->write;
    }
    done |= 1U << order[i];
  }
  for (uint32_t key = 0; key < w->keys.count; key++) {
    if (w->keys.items[key].wanted != ISO_NO_CLASS && w->keys.items[key].wanted != now[key]) return false;
  }
  return done + 1 == 1U << w->txns.count;
}

/* The next order by size; false after the last. */
static bool next_order(uint32_t *order, uint32_t count) {
  uint32_t i = count - 1, k = count - 1;
  while (i > 0 && order[i - 1] > order[i]) i--;
  if (i == 0) return false;
  while (order[k] < order[i - 1]) k--;
  uint32_t one = order[i - 1];
  order[i - 1] = order[k];
  order[k] = one;
  for (k = count - 1; i < k; i++, k--) one = order[i], order[i] = order[k], order[k] = one;
  return true;
}

static bool has_order(const iso_value_window *w) {
  uint32_t order[MOST_TXNS];
  for (uint32_t i = 0; i < w->txns.count; i++) order[i] = i;
  do {
    if (is_right(w, order)) return true;
  } while (next_order(order, (uint32_t)w->txns.count));
  return false;
}

static void windows_have_an_order_or_none(void **state) {
  (void)state;
  uint64_t random = 1;
  uint32_t having = 0, rounds = UNLESS_SLOW(20000, 2000);
  for (uint32_t round = 0; round < rounds; round++) {
    iso_value_window w;
    uint32_t order[MOST_TXNS];
    bool found;
    draw_window(&random, &w);
    assert_ok(iso_value_window_solve(&w, order, &found, NULL));
    if (found) assert_true(is_right(&w, order));
    if (found != has_order(&w)) fail_msg("round %u: %s", round, found ? "an order of none" : "none of an order");
    having += found;
    iso_value_window_free(&w);
  }
  assert_in_range(having, rounds / 50, rounds - rounds / 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_histories_stay_in_order),
      cmocka_unit_test(most_is_explained),
      cmocka_unit_test(few_keys_are_carried_out),
      cmocka_unit_test(few_keys_are_retraced),
      cmocka_unit_test(what_is_wrong_goes_where_it_is_right),
      cmocka_unit_test(what_moved_tells_what_is_contradicted),
      cmocka_unit_test(values_are_found_after_moves),
      cmocka_unit_test(windows_have_an_order_or_none),
      cmocka_unit_test(one_key_needs_no_search),
      cmocka_unit_test(more_keys_have_no_such_order),
      cmocka_unit_test(starts_tell_who_came_first),
  };
  return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
