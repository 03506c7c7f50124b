/* Numbers, text, errors, arenas, hash tables: the ground everything stands on. */
#include "tests/unit/unit.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/task.h"
#include "base/text.h"
#include "base/vector.h"
#include "base/words.h"
#include "format/txn_id_set.h"
#include "history/numbering.h"
#include "history/pool.h"

static void numbers_round_trip(void **state) {
  (void)state;
  const uint64_t cases[] = {0,         1,         9, 10, 99, 100, 101, 999, 1000, 4294967295u, UINT64_C(4294967296),
                            INT64_MAX, UINT64_MAX};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[ISO_NUMBER_BYTES + 1], expected[32];
    size_t length = iso_format_u64(cases[i], text);
    text[length] = '\0';
    snprintf(expected, sizeof expected, "%llu", (unsigned long long)cases[i]);
    assert_string_equal(text, expected);
    uint64_t back;
    assert_true(iso_parse_u64(text, length, &back));
    assert_true(back == cases[i]);
  }
  char text[ISO_NUMBER_BYTES + 1];
  size_t length = iso_format_i64(INT64_MIN, text);
  int64_t back;
  assert_true(iso_parse_i64(text, length, &back) && back == INT64_MIN);
}

static void numbers_are_strict(void **state) {
  (void)state;
  const char *bad[] = {"", "-", "+1", "01", "-0", "1a", " 1", "18446744073709551616", "99999999999999999999", "0x1"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    uint64_t u;
    int64_t s;
    assert_false(iso_parse_u64(bad[i], strlen(bad[i]), &u));
    assert_false(iso_parse_i64(bad[i], strlen(bad[i]), &s));
  }
  int64_t s;
  assert_false(iso_parse_i64("9223372036854775808", 19, &s));
  assert_false(iso_parse_i64("-9223372036854775809", 20, &s));
}

static void utf8_is_checked(void **state) {
  (void)state;
  assert_true(iso_utf8_valid("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 10));
  const char *bad[] = {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xc3"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(iso_utf8_valid(bad[i], strlen(bad[i])));
  for (uint32_t code = 0; code < 0x110000; code += 97) {
    char out[4];
    if (code >= 0xd800 && code < 0xe000) continue;
    assert_int_equal(iso_utf8_step(out, iso_utf8_encode(code, out)), iso_utf8_encode(code, out));
  }
}

static void errors_are_printable(void **state) {
  (void)state;
  isoproof_error error;
  char text[1200], quoted[256];
  iso_fail_at(&error, ISOPROOF_ERR_FORMAT, (iso_place){"a\nb", 3, 7, -1}, "found %s",
              iso_quote("x\x1b[31m\xff", 7, quoted));
  isoproof_error_format(&error, text, sizeof text);
  assert_string_equal(text, "a\\x0ab:3:7: found `x\\x1b[31m\\xff`");
  iso_fail_at(&error, ISOPROOF_ERR_FORMAT, (iso_place){"f", 0, 0, 12}, "short");
  isoproof_error_format(&error, text, sizeof text);
  assert_string_equal(text, "f: byte 12: short");
  assert_string_equal(isoproof_status_name(ISOPROOF_ERR_FORMAT), "bad-input");
  char *longest = malloc(100000);
  assert_non_null(longest);
  memset(longest, 'x', 99999);
  longest[99999] = '\0';
  iso_fail(&error, ISOPROOF_ERR_USAGE, "%s", longest);
  assert_int_equal(strlen(error.message), ISOPROOF_ERROR_MESSAGE_BYTES - 1);
  free(longest);
  assert_int_equal(iso_fail(NULL, ISOPROOF_ERR_USAGE, "nobody listens"), ISOPROOF_ERR_USAGE);
  /* Servers speak in lines. */
  iso_fail(&error, ISOPROOF_ERR_IO, "%s", "refused\n\tIs the server running?\r\nDETAIL:  \033[31mnone\n");
  assert_string_equal(error.message, "refused Is the server running? DETAIL:  \\x1b[31mnone");
}

static void allocation_is_checked(void **state) {
  (void)state;
  assert_null(iso_alloc(SIZE_MAX / 2, 4));
  assert_null(iso_realloc(NULL, SIZE_MAX / 2, 4));
  iso_arena arena = ISO_ARENA_EMPTY;
  assert_null(iso_arena_alloc(&arena, SIZE_MAX, 2));
  for (size_t i = 1; i < 2000; i++) {
    char *bytes = iso_arena_alloc(&arena, i, 1);
    assert_non_null(bytes);
    assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
    for (size_t k = 0; k < i; k++) assert_int_equal(bytes[k], 0);
    memset(bytes, 0xee, i);
  }
  assert_string_equal(iso_arena_text(&arena, "abcdef", 3), "abc");
  iso_arena_free(&arena);
}

static void words_escape(void **state) {
  (void)state;
  iso_words words = {NULL, 0, 0, false};
  iso_words_add(&words, "%d:", 7);
  iso_words_add_hostile(&words, "a\x1b\x7f\xc2\x9b\xff\xc3\xa4", 8, 100);
  assert_string_equal(words.text, "7:a\\x1b\\x7f\\xc2\\x9b\\xff\xc3\xa4");
  iso_words_free(&words);
  iso_words_add_hostile(&words, "abcdef", 6, 3);
  assert_string_equal(words.text, "abc...");
  iso_words_free(&words);
  iso_words_add_scalar(&words, isoproof_string("x\n"));
  assert_string_equal(words.text, "\"x\\x0a\"");
  iso_words_free(&words);
}

static void pool_interns(void **state) {
  (void)state;
  iso_pool pool;
  assert_ok(iso_pool_init(&pool, NULL));
  isoproof_scalar scalars[] = {isoproof_integer(0),
                               isoproof_integer(0x7ffffffe),
                               isoproof_integer(0x7fffffff),
                               isoproof_integer(-1),
                               isoproof_integer(INT64_MIN),
                               isoproof_integer(INT64_MAX),
                               {.type = ISOPROOF_UNSIGNED, .integer = -1},
                               isoproof_string(""),
                               isoproof_string("x"),
                               {.type = ISOPROOF_KEYWORD, .text = "x", .length = 1},
                               {.type = ISOPROOF_SYMBOL, .text = "x", .length = 1},
                               isoproof_nil(),
                               {.type = ISOPROOF_NONE}};
  enum { COUNT = sizeof scalars / sizeof scalars[0] };
  iso_value codes[COUNT];
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < COUNT; i++) {
      iso_value code;
      assert_ok(iso_pool_add(&pool, scalars[i], &code, NULL));
      if (round == 1) assert_int_equal(code, codes[i]);
      codes[i] = code;
    }
  }
  iso_pool_view view = iso_pool_look(&pool);
  for (size_t i = 0; i < COUNT; i++) {
    assert_true(isoproof_scalar_equal(iso_pool_scalar(&view, codes[i]), scalars[i]));
    for (size_t k = 0; k < i; k++) assert_int_not_equal(codes[i], codes[k]);
  }
  assert_int_equal(codes[0], 0);
  for (int64_t i = 0; i < 20000; i++) {
    iso_value code, again;
    assert_ok(iso_pool_add_i64(&pool, -2 - i, &code, NULL));
    assert_ok(iso_pool_add_i64(&pool, -2 - i, &again, NULL));
    assert_int_equal(code, again);
  }
  assert_int_equal(iso_pool_add(&pool, isoproof_string("\xff"), &codes[0], NULL), ISOPROOF_ERR_USAGE);
  iso_pool_free(&pool);
}

static void dense_numbers_in_order(void **state) {
  (void)state;
  iso_numbering dense;
  iso_numbering_init(&dense);
  uint64_t random = 7;
  enum { COUNT = 30000 };
  iso_value *codes = malloc(COUNT * sizeof *codes);
  assert_non_null(codes);
  for (uint32_t i = 0; i < COUNT; i++) {
    iso_value code = (iso_value)unit_random(&random) & ~ISO_VALUE_INTERNED; /* outliers */
    if (i % 3 == 0) code %= 50000;                                          /* dense */
    if (i % 3 == 1) code = ISO_VALUE_INTERNED | (code % 40000);             /* pool entries */
    codes[i] = code == ISO_VALUE_NIL ? 5 : code;
  }
  uint32_t seen = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t number, again;
    assert_ok(iso_numbering_add(&dense, codes[i], &number, NULL));
    assert_true(number <= seen);
    if (number == seen) seen++;
    assert_int_equal(dense.names[number], codes[i]);
    assert_ok(iso_numbering_add(&dense, codes[i], &again, NULL));
    assert_int_equal(number, again);
  }
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t number;
    assert_ok(iso_numbering_add(&dense, codes[i], &number, NULL));
    assert_int_equal(dense.names[number], codes[i]);
  }
  assert_int_equal(dense.count, seen);
  assert_true(dense.direct_count < 4u * 1000 * 1000); /* one absurd code allocates nothing absurd */
  free(codes);
  iso_numbering_free(&dense);
}

static void ids_are_a_set(void **state) {
  (void)state;
  iso_txn_id_set set;
  iso_txn_id_set_init(&set);
  uint64_t ids[] = {0, 1, 63, 64, 1000000, 5000000, UINT64_MAX, UINT64_MAX - 1, 262143, 262144, INT64_MAX};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
    assert_int_equal(iso_txn_id_set_add(&set, ids[i]), ISO_ID_NEW);
  for (uint64_t i = 2; i < 600000; i++) {
    bool before = i == 63 || i == 64 || i == 262143 || i == 262144;
    assert_int_equal(iso_txn_id_set_add(&set, i), before ? ISO_ID_SEEN : ISO_ID_NEW);
  }
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
    assert_int_equal(iso_txn_id_set_add(&set, ids[i]), ISO_ID_SEEN);
  iso_txn_id_set_free(&set);
}

static void count_one(void *context, unsigned thread, unsigned threads) {
  uint64_t first, end;
  iso_parallel_range(1000003, thread, threads, &first, &end);
  __atomic_fetch_add((uint64_t *)context, end - first, __ATOMIC_RELAXED);
}

static void parallel_covers(void **state) {
  (void)state;
  for (unsigned threads = 1; threads < 20; threads++) {
    uint64_t sum = 0;
    iso_parallel(threads, count_one, &sum);
    assert_int_equal(sum, 1000003);
  }
  uint64_t first, end;
  iso_parallel_range(UINT64_C(4294967280), 6, 7, &first, &end);
  assert_true(end == UINT64_C(4294967280));
}

static void note_progress(const isoproof_progress *progress, void *user) {
  assert_string_equal(progress->stage, "loading");
  ++*(int *)user;
}

static void tasks(void **state) {
  (void)state;
  isoproof_task *task;
  isoproof_error error;
  assert_ok(isoproof_task_new(&task));
  assert_ok(iso_task_check(task, &error));
  isoproof_task_set_timeout(task, 1e-9);
  while (iso_now() <= task->deadline) continue;
  assert_int_equal(iso_task_check(task, &error), ISOPROOF_ERR_TIMEOUT);
  isoproof_task_set_timeout(task, 0);
  int calls = 0;
  isoproof_task_set_progress(task, note_progress, &calls);
  for (int i = 0; i < 1000; i++) iso_task_progress(task, "loading", "bytes", 1, 2);
  assert_in_range(calls, 1, 3);
  isoproof_task_set_threads(task, 3);
  assert_int_equal(iso_task_threads(task), 3);
  isoproof_task_cancel(task);
  assert_int_equal(iso_task_check(task, &error), ISOPROOF_ERR_CANCELLED);
  isoproof_task_free(task);
  assert_ok(iso_task_check(NULL, NULL));
  assert_int_equal(iso_task_threads(NULL), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_round_trip),
      cmocka_unit_test(numbers_are_strict),
      cmocka_unit_test(utf8_is_checked),
      cmocka_unit_test(errors_are_printable),
      cmocka_unit_test(allocation_is_checked),
      cmocka_unit_test(words_escape),
      cmocka_unit_test(pool_interns),
      cmocka_unit_test(dense_numbers_in_order),
      cmocka_unit_test(ids_are_a_set),
      cmocka_unit_test(parallel_covers),
      cmocka_unit_test(tasks),
  };
  return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
