/* Workloads in rounds: what the sessions of a round do to each other, decided by the seed. */
#include "tests/unit/unit.h"

#include "workload/generator.h"

static iso_generator *make(isoproof_workload_kind kind, uint32_t sessions, uint64_t seed, bool keyless) {
  isoproof_workload_options options = {.struct_size = sizeof options};
  isoproof_workload_defaults(kind, &options);
  if (sessions > 0) options.sessions = sessions;
  options.seed = seed;
  iso_generator *generator;
  assert_ok(iso_generator_new(&options, &generator, NULL));
  generator->keyless = keyless;
  return generator;
}

static const iso_program *next(iso_generator *generator, uint32_t session) {
  const iso_program *program;
  assert_ok(iso_generator_next(generator, session, &program, NULL));
  assert_non_null(program);
  return program;
}

static void assert_same(const iso_program *a, const iso_program *b) {
  assert_int_equal(a->round, b->round);
  assert_int_equal(a->jitter_ns, b->jitter_ns);
  assert_int_equal(a->steps.count, b->steps.count);
  for (size_t i = 0; i < a->steps.count; i++) {
    assert_int_equal(a->steps.items[i].kind, b->steps.items[i].kind);
    assert_int_equal(a->steps.items[i].number, b->steps.items[i].number);
    assert_int_equal(a->steps.items[i].end, b->steps.items[i].end);
  }
}

static void rounds_are_decided_by_the_seed(void **state) {
  (void)state;
  for (int kind = 0; kind < ISOPROOF_WORKLOADS; kind++) {
    if (!isoproof_workload_meets((isoproof_workload_kind)kind)) continue;
    iso_generator *a = make((isoproof_workload_kind)kind, 0, 7, false);
    iso_generator *b = make((isoproof_workload_kind)kind, 0, 7, false);
    for (uint32_t i = 0; i < 400; i++) {
      uint32_t session = i % a->options.sessions;
      const iso_program *program = next(a, session);
      assert_true(program->meets);
      assert_int_equal(program->round, i / a->options.sessions + 1);
      assert_same(program, next(b, session));
    }
    iso_generator_free(a);
    iso_generator_free(b);
  }
}

static void first_inserts_read_then_insert(void **state) {
  (void)state;
  for (int keyless = 0; keyless < 2; keyless++) {
    iso_generator *generator = make(ISOPROOF_WORKLOAD_FIRST_INSERT, 5, 3, keyless == 1);
    uint32_t kinds[ISO_STEP_KINDS] = {0}, whole = 0;
    for (int round = 0; round < 500; round++) {
      uint32_t taking_part = 0, keys = 0;
      for (uint32_t i = 0; i < 5; i++) {
        const iso_program *program = next(generator, i);
        if (program->steps.count == 0) continue;
        taking_part++;
        assert_true(program->in_round && program->steps.count == 2);
        assert_int_equal(program->steps.items[1].kind, ISO_STEP_INSERT);
        keys |= 1u << program->steps.items[1].number;
        kinds[program->steps.items[0].kind]++;
        whole += program->steps.items[0].range == ISO_RANGE_ALL;
      }
      assert_in_range(taking_part, 2, 5);
      if (keyless == 1) assert_int_equal(keys, 2);
      if (keyless == 0) assert_int_equal(__builtin_popcount(keys), (int)taking_part);
    }
    assert_true(kinds[ISO_STEP_COUNT] > 200 && kinds[ISO_STEP_READ_RANGE] > 200 && whole > 200);
    assert_int_equal(kinds[ISO_STEP_READ] > 50, keyless == 1);
    iso_generator_free(generator);
  }
}

/* In each round one session deletes the row that at least one other updates; then one puts all of them back. */
static void deletes_meet_updates(void **state) {
  (void)state;
  iso_generator *generator = make(ISOPROOF_WORKLOAD_DELETE_UPDATE, 3, 3, false);
  assert_int_equal(generator->initial_rows, generator->options.keys);
  for (uint32_t round = 0; round < 500; round++) {
    uint32_t deletes = 0, updates = 0, inserts = 0, steps = 0;
    bool restores = round % (generator->options.keys + 1) == generator->options.keys;
    for (uint32_t i = 0; i < 3; i++) {
      const iso_program *program = next(generator, i);
      for (size_t k = 0; k < program->steps.count; k++, steps++) {
        const iso_program_step *step = &program->steps.items[k];
        deletes += step->kind == ISO_STEP_DELETE;
        updates += step->kind == ISO_STEP_UPDATE;
        inserts += step->kind == ISO_STEP_INSERT;
        if (step->kind == ISO_STEP_INSERT) assert_true(step->guard_absent && step->guard == k - 1);
      }
    }
    assert_int_equal(inserts, restores ? generator->options.keys : 0);
    if (restores) assert_int_equal(steps, 2 * inserts);
    if (!restores) assert_true(deletes >= 1 && updates >= 1);
  }
  iso_generator_free(generator);
}

/* A range that one reads is one that another writes into, and no two insert the same row. */
static void ranges_are_skewed(void **state) {
  (void)state;
  iso_generator *generator = make(ISOPROOF_WORKLOAD_RANGE_SKEW, 2, 3, false);
  uint64_t last_insert[2] = {0, 0};
  for (uint32_t round = 0; round < 200; round++) {
    const iso_program_step *steps[2];
    for (uint32_t i = 0; i < 2; i++) {
      steps[i] = next(generator, i)->steps.items;
      assert_true(iso_step_is_predicate(steps[i][0].kind));
    }
    for (uint32_t i = 0; i < 2; i++) {
      assert_true(steps[i][1].number >= steps[1 - i][0].number && steps[i][1].number < steps[1 - i][0].end);
      assert_int_equal(steps[i][1].kind == ISO_STEP_INSERT, round % 2 == 0);
      if (round % 2 != 0) continue;
      assert_true(round == 0 || steps[i][1].number > last_insert[0]);
      assert_true(round == 0 || steps[i][1].number > last_insert[1]);
    }
    if (round % 2 == 0)
      for (uint32_t i = 0; i < 2; i++) last_insert[i] = steps[i][1].number;
    if (round % 2 == 0) assert_int_not_equal(last_insert[0], last_insert[1]);
  }
  iso_generator_free(generator);
}

static void phantoms_are_looked_for_again(void **state) {
  (void)state;
  iso_generator *generator = make(ISOPROOF_WORKLOAD_PHANTOM, 4, 3, false);
  for (uint32_t round = 0; round < 400; round++) {
    uint32_t readers = 0;
    for (uint32_t i = 0; i < 4; i++) {
      const iso_program *program = next(generator, i);
      const iso_program_step *steps = program->steps.items;
      uint64_t first = round / 8 * 8 * 4;
      if (!iso_step_is_predicate(steps[0].kind)) {
        for (size_t k = 0; k < program->steps.count; k++)
          assert_in_range(steps[k].number, first, first + (round % 8 + 1) * 4 - 1);
        continue;
      }
      readers++;
      assert_true(program->steps.count >= 2);
      for (size_t k = 0; k < program->steps.count; k++) {
        assert_int_equal(steps[k].number, first);
        assert_int_equal(steps[k].end, first + 32);
      }
    }
    assert_int_equal(readers, 2);
  }
  iso_generator_free(generator);
}

static void mini_transactions_have_two_operations(void **state) {
  (void)state;
  iso_generator *generator = make(ISOPROOF_WORKLOAD_MINI, 3, 3, false);
  for (uint32_t i = 0; i < 600; i++) {
    const iso_program *program = next(generator, i % 3);
    assert_int_equal(program->steps.count, 2);
    assert_int_equal(program->steps.items[0].kind, ISO_STEP_READ);
  }
  iso_generator_free(generator);
}

/* By itself on several scales; otherwise up to what was asked for. */
static void jitter_has_scales(void **state) {
  (void)state;
  iso_generator *generator = make(ISOPROOF_WORKLOAD_MINI, 2, 3, false);
  uint32_t none = 0, some = 0, more = 0, most = 0;
  for (uint32_t i = 0; i < 2000; i++) {
    uint64_t ns = next(generator, i % 2)->jitter_ns;
    assert_true(ns <= 2000 * 1000);
    none += ns == 0;
    some += ns > 0 && ns <= 10 * 1000;
    more += ns > 10 * 1000 && ns <= 150 * 1000;
    most += ns > 150 * 1000;
  }
  assert_true(none > 200 && some > 300 && more > 400 && most > 100);
  generator->options.jitter = 50;
  for (uint32_t i = 0; i < 1000; i++) assert_true(next(generator, i % 2)->jitter_ns <= 50 * 1000);
  generator->options.jitter = 0;
  assert_int_equal(next(generator, 0)->jitter_ns, 0);
  iso_generator_free(generator);
}

static void values_tell_their_sessions(void **state) {
  (void)state;
  iso_generator *generator = make(ISOPROOF_WORKLOAD_FIRST_INSERT, 7, 3, true);
  for (uint32_t i = 0; i < 700; i++) {
    uint64_t taken = iso_generator_take(generator, i % 7, next(generator, i % 7));
    assert_int_equal(iso_generator_writer(generator, iso_generator_value(generator, i % 7, taken, 0)), i % 7);
  }
  iso_generator_free(generator);
}

static void nonsense_is_refused(void **state) {
  (void)state;
  isoproof_workload_options options = {.struct_size = sizeof options};
  iso_generator *generator;
  isoproof_workload_defaults(ISOPROOF_WORKLOAD_DELETE_UPDATE, &options);
  options.keys = ISO_MOST_INITIAL + 1;
  assert_int_equal(iso_generator_new(&options, &generator, NULL), ISOPROOF_ERR_USAGE);
  options.keys = 1;
  options.jitter = 1e9;
  assert_int_equal(iso_generator_new(&options, &generator, NULL), ISOPROOF_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_are_decided_by_the_seed),
      cmocka_unit_test(first_inserts_read_then_insert),
      cmocka_unit_test(deletes_meet_updates),
      cmocka_unit_test(ranges_are_skewed),
      cmocka_unit_test(phantoms_are_looked_for_again),
      cmocka_unit_test(mini_transactions_have_two_operations),
      cmocka_unit_test(jitter_has_scales),
      cmocka_unit_test(values_tell_their_sessions),
      cmocka_unit_test(nonsense_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
