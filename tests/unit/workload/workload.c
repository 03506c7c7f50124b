/* Workloads for databases: shapes, unique values, keys that rotate, determinism, presets. */
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>

#include "workload/generator.h"

static iso_generator *make(const isoproof_workload_options *options) {
  iso_generator *generator;
  isoproof_error error = {.offset = -1};
  assert_ok_error(iso_generator_new(options, &generator, &error), error);
  return generator;
}

static isoproof_workload_options defaults(isoproof_workload_kind kind, uint64_t txns) {
  isoproof_workload_options options = {.struct_size = sizeof options};
  isoproof_workload_defaults(kind, &options);
  options.txns = txns;
  return options;
}

static const iso_program *next(iso_generator *generator, uint32_t session) {
  const iso_program *program;
  assert_ok(iso_generator_next(generator, session, &program, NULL));
  return program;
}

/* ---- texts ---- */

typedef struct text {
  char *bytes;
  size_t size;
} text;

static bool append(void *user, const void *data, size_t size) {
  text *to = user;
  to->bytes = realloc(to->bytes, to->size + size + 1);
  assert_non_null(to->bytes);
  memcpy(to->bytes + to->size, data, size);
  to->size += size;
  to->bytes[to->size] = 0;
  return true;
}

static text written(const isoproof_workload_options *options) {
  text result = {NULL, 0};
  isoproof_error error = {.offset = -1};
  assert_ok_error(isoproof_workload_write(options, append, &result, NULL, &error), error);
  return result;
}

static void equal_seeds_give_equal_workloads(void **state) {
  (void)state;
  for (int kind = 0; kind < ISOPROOF_WORKLOADS; kind++) {
    isoproof_workload_options options = defaults((isoproof_workload_kind)kind, 200);
    text a = written(&options), b = written(&options);
    options.seed++;
    text c = written(&options);
    assert_string_equal(a.bytes, b.bytes);
    assert_string_not_equal(a.bytes, c.bytes);
    free(a.bytes);
    free(b.bytes);
    free(c.bytes);
  }
}

static void a_small_workload_reads_as_documented(void **state) {
  (void)state;
  isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_LOST_UPDATE, 2);
  options.sessions = 2;
  options.keys = 1;
  text t = written(&options);
  assert_string_equal(t.bytes, "{\"isoproof-workload\":1,\"workload\":\"lost-update\",\"seed\":\"1\",\"sessions\":2,"
                               "\"transactions\":2,\"keys\":1}\n"
                               "{\"session\":0,\"ops\":[[\"r\",0],[\"w\",0,1]]}\n"
                               "{\"session\":1,\"ops\":[[\"r\",0],[\"w\",0,2]]}\n");
  free(t.bytes);
}

/* ---- values ---- */

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void no_value_is_written_twice(void **state) {
  (void)state;
  for (int kind = 0; kind < ISOPROOF_WORKLOADS; kind++) {
    isoproof_workload_options options = defaults((isoproof_workload_kind)kind, 0);
    options.sessions = 7;
    iso_generator *generator = make(&options);
    int64_t *values = malloc(1000000 * sizeof *values);
    size_t count = 0;
    assert_non_null(values);
    for (uint32_t i = 0; i < generator->initial_rows; i++) values[count++] = iso_generator_initial_value(generator, i);
    for (uint32_t i = 0; i < 7 * 300; i++) {
      const iso_program *program = next(generator, i % 7);
      /* Twice: a retry takes values of its own. */
      for (int attempt = 0; attempt < 2; attempt++) {
        uint64_t taken = iso_generator_take(generator, i % 7, program);
        for (uint32_t label = 0; label < program->labels && count < 1000000; label++)
          values[count++] = iso_generator_value(generator, i % 7, taken, label);
      }
    }
    qsort(values, count, sizeof *values, by_value);
    assert_true(count > 0 && values[0] > 0);
    for (size_t i = 1; i < count; i++) assert_true(values[i - 1] < values[i]);
    free(values);
    iso_generator_free(generator);
  }
}

/* ---- shapes ---- */

/* What any program must be: steps refer to earlier ones only, labels are in range. */
static void check_program(const iso_program *program) {
  assert_true(program->steps.count > 0 || program->meets);
  for (size_t i = 0; i < program->steps.count; i++) {
    const iso_program_step *step = &program->steps.items[i];
    if (iso_step_writes(step->kind)) assert_true(step->label < program->labels);
    if (step->origin == ISO_KEY_OF_READ) {
      assert_true(step->number < i);
      assert_int_equal(program->steps.items[step->number].kind, ISO_STEP_READ);
    }
    if (step->origin == ISO_KEY_OF_LABEL) assert_true(step->number < program->labels);
    if (step->guard != ISO_NO_STEP) assert_true(step->guard < i);
    if (step->source != ISO_NO_STEP) assert_true(step->source < i);
    if (iso_step_is_predicate(step->kind) && step->range != ISO_RANGE_ALL) assert_true(step->end > step->number);
  }
}

static void every_program_is_well_formed(void **state) {
  (void)state;
  for (int kind = 0; kind < ISOPROOF_WORKLOADS; kind++) {
    isoproof_workload_options options = defaults((isoproof_workload_kind)kind, 0);
    iso_generator *generator = make(&options);
    bool fields = false, writes = false;
    for (uint32_t i = 0; i < 4000; i++) {
      const iso_program *program = next(generator, i % options.sessions);
      check_program(program);
      fields = fields || (program->steps.count > 0 && program->steps.items[0].field != ISO_FIELD_NONE);
      writes = writes || program->labels > 0;
    }
    bool application =
        kind == ISOPROOF_WORKLOAD_TPCC || kind == ISOPROOF_WORKLOAD_RUBIS || kind == ISOPROOF_WORKLOAD_TWITTER;
    assert_int_equal(fields, application);
    assert_true(writes);
    iso_generator_free(generator);
  }
}

static void lost_update_reads_then_writes_one_key(void **state) {
  (void)state;
  isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_LOST_UPDATE, 0);
  iso_generator *generator = make(&options);
  for (int i = 0; i < 100; i++) {
    const iso_program *program = next(generator, 0);
    assert_int_equal(program->steps.count, 2);
    assert_int_equal(program->steps.items[0].kind, ISO_STEP_READ);
    assert_int_equal(program->steps.items[1].kind, ISO_STEP_WRITE);
    assert_int_equal(program->steps.items[0].number, program->steps.items[1].number);
  }
  iso_generator_free(generator);
}

static void write_skew_reads_a_pair_and_writes_one(void **state) {
  (void)state;
  for (uint32_t keys = 1; keys < 6; keys++) {
    isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_WRITE_SKEW, 0);
    options.keys = keys;
    iso_generator *generator = make(&options);
    bool first = false, second = false;
    for (int i = 0; i < 200; i++) {
      const iso_program_step *steps = next(generator, 0)->steps.items;
      assert_true(steps[0].number < keys && steps[1].number < keys);
      if (keys > 1) assert_int_not_equal(steps[0].number, steps[1].number);
      first = first || steps[2].number == steps[0].number;
      second = second || steps[2].number == steps[1].number;
    }
    assert_true(first && second);
    iso_generator_free(generator);
  }
}

static void a_transfer_moves_what_it_takes(void **state) {
  (void)state;
  isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_BANK, 0);
  iso_generator *generator = make(&options);
  assert_true(generator->amounts);
  uint32_t totals = 0;
  for (int i = 0; i < 1000; i++) {
    const iso_program *program = next(generator, 3);
    totals += program->check_total;
    if (program->check_total) {
      assert_int_equal(program->steps.count, options.keys);
      continue;
    }
    const iso_program_step *steps = program->steps.items;
    assert_int_equal(program->steps.count, 4);
    assert_int_not_equal(steps[0].number, steps[1].number);
    assert_int_equal(steps[2].change + steps[3].change, 0);
    assert_int_equal(steps[2].least, steps[3].change);
    assert_int_equal(steps[2].guard, steps[3].guard);
  }
  assert_true(totals > 100 && totals < 300);
  iso_generator_free(generator);
}

static void read_modify_writes_read_first(void **state) {
  (void)state;
  isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_RMW, 0);
  iso_generator *generator = make(&options);
  for (int i = 0; i < 1000; i++) {
    const iso_program *program = next(generator, 1);
    for (size_t w = 0; w < program->steps.count; w++) {
      if (program->steps.items[w].kind != ISO_STEP_WRITE) continue;
      bool read = false;
      for (size_t r = 0; r < w; r++) read = read || program->steps.items[r].number == program->steps.items[w].number;
      assert_true(read);
    }
  }
  iso_generator_free(generator);
}

static void sizes_are_as_asked(void **state) {
  (void)state;
  isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_GENERAL, 1003);
  options.ops_min = 3;
  options.ops_max = 5;
  options.long_share = 0.2;
  options.long_ops = 40;
  options.abort_share = 0.3;
  iso_generator *generator = make(&options);
  uint32_t txns = 0, longs = 0, rollbacks = 0;
  for (uint32_t session = 0; session < options.sessions; session++) {
    uint32_t mine = 0;
    for (const iso_program *program; (program = next(generator, session)) != NULL; mine++) {
      bool is_long = program->steps.count == 40;
      assert_true(is_long || (program->steps.count >= 3 && program->steps.count <= 5));
      longs += is_long;
      rollbacks += program->rollback;
    }
    assert_in_range(mine, 1003 / options.sessions, 1003 / options.sessions + 1);
    txns += mine;
  }
  assert_int_equal(txns, 1003);
  assert_in_range(longs, 130, 275);
  assert_in_range(rollbacks, 210, 390);
  iso_generator_free(generator);
}

/* ---- keys that rotate ---- */

static void lists_rotate_after_enough_appends(void **state) {
  (void)state;
  isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_LIST_APPEND, 0);
  options.writes_per_key = 5;
  iso_generator *generator = make(&options);
  uint32_t *appends = calloc(100000, sizeof *appends);
  assert_non_null(appends);
  uint64_t highest = 0;
  for (uint32_t i = 0; i < 8000; i++) {
    const iso_program *program = next(generator, i % options.sessions);
    for (size_t k = 0; k < program->steps.count; k++) {
      const iso_program_step *step = &program->steps.items[k];
      assert_true(step->number < 100000);
      if (step->kind == ISO_STEP_APPEND) appends[step->number]++;
      if (step->number > highest) highest = step->number;
    }
  }
  for (uint64_t key = 0; key <= highest; key++) assert_true(appends[key] <= 5);
  assert_true(highest > 1000);
  /* The final reads cover every key, in pieces. */
  uint64_t at = 0, reads = 0;
  bool *read = calloc(100000, sizeof *read);
  assert_non_null(read);
  const iso_program *program;
  for (;;) {
    assert_ok(iso_generator_final(generator, &at, &program, NULL));
    if (program == NULL) break;
    assert_true(program->steps.count <= ISO_FINAL_CHUNK);
    for (size_t k = 0; k < program->steps.count; k++, reads++) {
      assert_int_equal(program->steps.items[k].kind, ISO_STEP_READ_LIST);
      read[program->steps.items[k].number] = true;
    }
  }
  for (uint64_t key = 0; key <= highest; key++) assert_true(read[key] || appends[key] == 0);
  assert_int_equal(reads, at);
  free(read);
  free(appends);
  iso_generator_free(generator);
}

static void rows_are_inserted_once(void **state) {
  (void)state;
  isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_PREDICATE, 0);
  iso_generator *generator = make(&options);
  enum { ROWS = 100000 };
  uint8_t *inserted = calloc(ROWS, 1);
  assert_non_null(inserted);
  uint32_t deletes = 0;
  for (uint32_t i = 0; i < 20000; i++) {
    const iso_program *program = next(generator, i % options.sessions);
    for (size_t k = 0; k < program->steps.count; k++) {
      const iso_program_step *step = &program->steps.items[k];
      assert_true(step->number < ROWS);
      if (step->kind == ISO_STEP_INSERT) assert_int_equal(++inserted[step->number], 1);
      if (iso_step_is_predicate(step->kind)) assert_int_equal(step->end - step->number, options.writes_per_key);
      deletes += step->kind == ISO_STEP_DELETE;
    }
  }
  assert_true(deletes > 100);
  free(inserted);
  iso_generator_free(generator);
}

/* Sessions of one generator in threads of their own: for ThreadSanitizer, and for the limit of writes per key. */
typedef struct worker {
  iso_generator *generator;
  uint32_t session;
  uint64_t appends;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  for (int i = 0; i < 2000; i++) {
    const iso_program *program;
    if (iso_generator_next(w->generator, w->session, &program, NULL) != ISOPROOF_OK || program == NULL) return NULL;
    for (size_t k = 0; k < program->steps.count; k++) w->appends += program->steps.items[k].kind == ISO_STEP_APPEND;
  }
  return NULL;
}

static void sessions_may_be_threads(void **state) {
  (void)state;
  isoproof_workload_options options = defaults(ISOPROOF_WORKLOAD_LIST_APPEND, 0);
  options.sessions = 4;
  iso_generator *generator = make(&options);
  worker workers[4];
  pthread_t threads[4];
  uint64_t appends = 0, counted = 0;
  for (uint32_t i = 0; i < 4; i++) {
    workers[i] = (worker){generator, i, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    appends += workers[i].appends;
  }
  for (uint32_t i = 0; i < options.keys; i++) counted += atomic_load(&generator->writes[i]);
  assert_int_equal(appends, counted);
  iso_generator_free(generator);
}

/* ---- keys, names, refusals ---- */

static void keys_have_texts_and_codes(void **state) {
  (void)state;
  char bytes[ISO_KEY_BYTES];
  iso_data_key key = {ISO_FIELD_DISTRICT_LAST, 42};
  size_t length = iso_data_key_format(key, bytes);
  assert_int_equal(length, strlen("district:42:last_order"));
  assert_memory_equal(bytes, "district:42:last_order", length);
  iso_data_key other = {ISO_FIELD_DISTRICT_YTD, 42};
  assert_int_not_equal(iso_data_key_code(key), iso_data_key_code(other));
  assert_int_equal(iso_data_key_code((iso_data_key){ISO_FIELD_NONE, 42}), 42);
  for (int field = 1; field < ISO_FIELDS; field++) {
    iso_data_key largest = {(iso_field)field, ISO_KEY_MOST};
    assert_true(iso_data_key_format(largest, bytes) <= ISO_KEY_BYTES);
    assert_true(iso_data_key_code(largest) > 0);
  }
}

static void exponential_keys_halve(void **state) {
  (void)state;
  iso_key_source source;
  assert_ok(iso_keys_init(&source, ISOPROOF_KEYS_EXPONENTIAL, 4, 1, 0, 0, NULL));
  iso_random random;
  iso_random_seed(&random, 5, 5);
  double counts[4] = {0};
  for (int i = 0; i < 150000; i++) counts[iso_keys_draw(&source, &random)]++;
  for (int i = 0; i < 4; i++) assert_true(fabs(counts[i] / 10000 - (8 >> i)) < 0.2);
  assert_ok(iso_keys_init(&source, ISOPROOF_KEYS_EXPONENTIAL, 3, 0, 0, 0, NULL));
  uint32_t seen = 0;
  for (int i = 0; i < 100; i++) seen |= 1u << iso_keys_draw(&source, &random);
  assert_int_equal(seen, 7);
  assert_int_equal(iso_keys_init(&source, ISOPROOF_KEYS_EXPONENTIAL, 3, -1, 0, 0, NULL), ISOPROOF_ERR_USAGE);
}

static void names_find_their_workloads(void **state) {
  (void)state;
  isoproof_workload_kind kind;
  isoproof_workload_preset preset;
  for (size_t i = 0; isoproof_workload_at(i) != NULL; i++)
    assert_true(isoproof_workload_find(isoproof_workload_at(i), &kind) && kind == (isoproof_workload_kind)i);
  for (size_t i = 0; isoproof_workload_preset_at(i) != NULL; i++)
    assert_true(isoproof_workload_preset_find(isoproof_workload_preset_at(i), &preset) &&
                preset == (isoproof_workload_preset)i);
  assert_false(isoproof_workload_find("genera", &kind));
  assert_false(isoproof_workload_preset_find("", &preset));
  assert_int_equal(isoproof_workload_needs(ISOPROOF_WORKLOAD_PREDICATE), ISOPROOF_NEED_ROWS);
}

static void presets_have_the_published_sizes(void **state) {
  (void)state;
  isoproof_workload_options options = {.struct_size = sizeof options};
  isoproof_workload_preset_defaults(ISOPROOF_PRESET_POLYSI, &options);
  assert_int_equal(options.sessions, 20);
  assert_int_equal(options.txns, 2000);
  assert_int_equal(options.ops_max, 15);
  assert_int_equal(options.distribution, ISOPROOF_KEYS_ZIPF);
  isoproof_workload_preset_defaults(ISOPROOF_PRESET_JEPSEN, &options);
  assert_int_equal(options.kind, ISOPROOF_WORKLOAD_LIST_APPEND);
  assert_int_equal(options.keys, 10);
  assert_true(options.final_reads);
  for (size_t i = 0; isoproof_workload_preset_at(i) != NULL; i++) {
    isoproof_workload_preset_defaults((isoproof_workload_preset)i, &options);
    iso_generator *generator = make(&options);
    check_program(next(generator, 0));
    iso_generator_free(generator);
  }
}

static void nonsense_is_refused(void **state) {
  (void)state;
  const isoproof_workload_options good = defaults(ISOPROOF_WORKLOAD_GENERAL, 10);
  isoproof_workload_options bad[10];
  for (int i = 0; i < 10; i++) bad[i] = good;
  bad[0].sessions = 0;
  bad[1].sessions = 10001;
  bad[2].keys = 0;
  bad[3].read_share = 2;
  bad[4].ops_min = 9;
  bad[4].ops_max = 8;
  bad[5].kind = ISOPROOF_WORKLOAD_BANK;
  bad[5].keys = 1;
  bad[6].kind = ISOPROOF_WORKLOAD_LIST_APPEND;
  bad[6].writes_per_key = 0;
  bad[7].abort_share = -1;
  bad[8].kind = (isoproof_workload_kind)99;
  bad[9].struct_size = 1;
  for (int i = 0; i < 10; i++) {
    iso_generator *generator;
    isoproof_error error = {.offset = -1};
    assert_int_equal(iso_generator_new(&bad[i], &generator, &error), ISOPROOF_ERR_USAGE);
    assert_null(generator);
    assert_true(error.message[0] != 0);
  }
  isoproof_workload_options endless = defaults(ISOPROOF_WORKLOAD_GENERAL, 0);
  text nothing = {NULL, 0};
  assert_int_equal(isoproof_workload_write(&endless, append, &nothing, NULL, NULL), ISOPROOF_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_seeds_give_equal_workloads),
      cmocka_unit_test(a_small_workload_reads_as_documented),
      cmocka_unit_test(no_value_is_written_twice),
      cmocka_unit_test(every_program_is_well_formed),
      cmocka_unit_test(lost_update_reads_then_writes_one_key),
      cmocka_unit_test(write_skew_reads_a_pair_and_writes_one),
      cmocka_unit_test(a_transfer_moves_what_it_takes),
      cmocka_unit_test(read_modify_writes_read_first),
      cmocka_unit_test(sizes_are_as_asked),
      cmocka_unit_test(lists_rotate_after_enough_appends),
      cmocka_unit_test(rows_are_inserted_once),
      cmocka_unit_test(sessions_may_be_threads),
      cmocka_unit_test(keys_have_texts_and_codes),
      cmocka_unit_test(exponential_keys_halve),
      cmocka_unit_test(names_find_their_workloads),
      cmocka_unit_test(presets_have_the_published_sizes),
      cmocka_unit_test(nonsense_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
