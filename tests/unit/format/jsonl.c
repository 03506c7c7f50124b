/* isoproof's own text form: every field, headers, sessions, truncation, mistakes, single lines, random round trips. */
#include "tests/unit/format/describe.h"

#include "format/jsonl.h"
#include "history/builder.h"

#define HEADER "{\"isoproof\":1,\"initial\":null,\"seed\":\"42\"}\n"

static void every_field(void **state) {
  (void)state;
  static const char text[] = HEADER
      "{\"session\":3,\"status\":\"committed\",\"id\":-5,\"start\":1,\"end\":2,\"start_index\":10,\"end_index\":11,"
      "\"node\":\"n1\",\"error\":{\"keyword\":\"timeout\"},\"ops\":[[\"r\",1,2],[\"w\",\"k\",-1],[\"append\",1,1],"
      "[\"read-list\",1,[1,\"x\",{\"keyword\":\"y\"}]],[\"add\",2,1],[\"read-set\",2,[1]],[\"inc\",4,-3],"
      "[\"read-counter\",4,-3],[\"read-predicate\",\"p\",[1]]]}\n"
      "{\"session\":\"empty\"}\n"
      "{\"session\":{\"keyword\":\"a\"},\"status\":\"aborted\",\"ops\":[[\"r\",1,null],[\"read-list\",1,null]]}\n"
      "{\"session\":null,\"status\":\"unknown\",\"ops\":[[\"r\",1,{\"none\":true}],[\"read-set\",2,{\"none\":true}],"
      "[\"w\",1,{\"symbol\":\"1.5\"}],[\"w\",1,18446744073709551615],[\"read-list\",1,[]]]}\n";
  expect_history(
      text, "jsonl",
      "3 committed 1..2 #10..11 r(1,2) w(\"k,-1) append(1,1) read-list(1,[1 \"x :y]) add(2,1) read-set(2,[1]) "
      "inc(4,-3) read-counter(4,-3) read-predicate(\"p,[1])\n"
      ":a aborted -..- #-..- r(1,nil) read-list(1,nil)\n"
      "nil unknown -..- #-..- r(1,?) read-set(2,?) w(1,'1.5) w(1,+18446744073709551615) read-list(1,[])\n");
  expect_written(text, "jsonl", ISOPROOF_FORMAT_JSONL, text);
  survive_truncation(text, "jsonl");
}

static void headers(void **state) {
  (void)state;
  isoproof_history *history;
  isoproof_error error = {0};
  static const char text[] =
      "{\"isoproof\":1,\"seed\":42,\"database\":\"pg \\u00e4\",\"none\":null,\"flag\":true}\n"
      "{\"session\":0,\"status\":\"committed\"}\n"
      "{\"isoproof\":1,\"initial\":null,\"seed\":\"43\"}\n{\"session\":0,\"status\":\"committed\",\"ops\":[]}";
  assert_int_equal(open_bytes(text, strlen(text), NULL, &history, &error), ISOPROOF_OK);
  assert_string_equal(isoproof_history_fact(history, "seed"), "43");
  assert_string_equal(isoproof_history_fact(history, "database"), "pg \xc3\xa4");
  assert_string_equal(isoproof_history_fact(history, "flag"), "true");
  assert_null(isoproof_history_fact(history, "none"));
  assert_null(isoproof_history_fact(history, "truncated"));
  assert_int_equal(history->txns, 2);
  bytes out = {0};
  assert_int_equal(write_bytes(history, ISOPROOF_FORMAT_JSONL, false, &out, NULL, &error), ISOPROOF_OK);
  put_byte(&out, '\0');
  assert_string_equal(
      out.data,
      "{\"isoproof\":1,\"initial\":null,\"seed\":\"43\",\"database\":\"pg \xc3\xa4\",\"flag\":\"true\"}\n"
      "{\"session\":0,\"status\":\"committed\",\"ops\":[]}\n{\"session\":0,\"status\":\"committed\",\"ops\":[]}\n");
  bytes_free(&out);
  isoproof_history_free(history);
}

static void initial_zero(void **state) {
  (void)state;
  static const char text[] =
      "{\"isoproof\":1,\"initial\":0}\n"
      "{\"session\":0,\"status\":\"committed\",\"ops\":[[\"r\",1,0],[\"w\",1,0],[\"r\",1,null]]}\n";
  expect_history(text, "jsonl", "0 committed -..- #-..- r(1,nil) w(1,0) r(1,nil)\n");
  expect_written(text, "jsonl", ISOPROOF_FORMAT_JSONL,
                 "{\"isoproof\":1,\"initial\":0}\n"
                 "{\"session\":0,\"status\":\"committed\",\"ops\":[[\"r\",1,null],[\"w\",1,0],[\"r\",1,null]]}\n");
}

#define TXN "{\"session\":0,\"status\":\"committed\",\"ops\":[[\"w\",1,1]]}"

static void truncated(void **state) {
  (void)state;
  isoproof_history *history;
  isoproof_error error = {0};
  static const char text[] = HEADER TXN "\n" TXN;
  size_t first = strlen(HEADER TXN "\n"), last = strlen(text);
  for (size_t length = first; length <= last; length++) {
    if (open_bytes(text, length, "jsonl", &history, &error) != ISOPROOF_OK) fail_msg("%zu: %s", length, error.message);
    assert_int_equal(history->txns, length == last ? 2 : 1);
    const char *fact = isoproof_history_fact(history, "truncated");
    if (length == first || length == last) {
      assert_null(fact);
    } else {
      assert_string_equal(fact, "1");
    }
    isoproof_history_free(history);
  }
  /* A broken line is only forgiven where nothing follows it, and only when it is broken. */
  const isoproof_status f = ISOPROOF_ERR_FORMAT;
  expect_error(HEADER "{\"session\":0,\"stat\n" TXN "\n", "jsonl", f, 2, "control character");
  expect_error(HEADER "{\"session\":0,\n", "jsonl", f, 3, "a key");
  expect_error(HEADER "{\"session\":0,\"status\":\"done\"}", "jsonl", f, 2, "a status");
  expect_error("{\"isoproof\":1,\"se", "jsonl", f, 1, "end of the string");
}

static void mistakes(void **state) {
  (void)state;
  const isoproof_status f = ISOPROOF_ERR_FORMAT;
  expect_error(" ", "jsonl", f, 0, "the header");
  expect_error(TXN "\n", "jsonl", f, 1, "the header");
  expect_error("{}\n", "jsonl", f, 1, "the header");
  expect_error("{\"isoproof\":2}\n", "jsonl", ISOPROOF_ERR_UNSUPPORTED, 1, "version 2");
  expect_error("{\"isoproof\":\"x\"}\n", "jsonl", f, 1, "the version");
  expect_error("{\"isoproof\":1,\"initial\":7}\n", "jsonl", f, 1, "null or 0");
  expect_error(HEADER "{\"isoproof\":1,\"initial\":0}\n", "jsonl", f, 2, "the first header");
  expect_error("{\"isoproof\":1,\"x\":[1]}\n", "jsonl", f, 1, "a string");
  expect_error("{\"isoproof\":1,\"a\\u0000b\":1}\n", "jsonl", f, 1, "the name of a fact");
  expect_error(HEADER "[]\n", "jsonl", f, 2, "an object");
  expect_error(HEADER "{}\n", "jsonl", f, 2, "a session");
  expect_error(HEADER "{\"status\":\"committed\"}\n", "jsonl", f, 2, "a session");
  expect_error(HEADER "{\"session\":0,\"ops\":[]}\n", "jsonl", f, 2, "a status");
  expect_error(HEADER "{\"session\":[0]}\n", "jsonl", f, 2, "a number");
  expect_error(HEADER "{\"session\":{\"word\":\"x\"}}\n", "jsonl", f, 2, "none, keyword or symbol");
  expect_error(HEADER "{\"session\":{\"keyword\":1}}\n", "jsonl", f, 2, "a string");
  expect_error(HEADER "{\"session\":{\"none\":1}}\n", "jsonl", f, 2, "true");
  expect_error(HEADER "{\"session\":{\"symbol\":\"a\",\"b\":1}}\n", "jsonl", f, 2, "`}`");
  expect_error(HEADER "{\"session\":0,\"start\":1.5}\n", "jsonl", f, 2, "an integer");
  expect_error(HEADER "{\"session\":0,\"end_index\":-1}\n", "jsonl", f, 2, "not negative");
  expect_error(HEADER "{\"session\":0,\"ops\":5}\n", "jsonl", f, 2, "a list of operations");
  expect_error(HEADER "{\"session\":0,\"ops\":[5]}\n", "jsonl", f, 2, "an operation");
  expect_error(HEADER "{\"session\":0,\"ops\":[[\"x\",1,1]]}\n", "jsonl", f, 2, "the name of an operation");
  expect_error(HEADER "{\"session\":0,\"ops\":[[\"r\",1]]}\n", "jsonl", f, 2, "a number");
  expect_error(HEADER "{\"session\":0,\"ops\":[[\"r\",1,1,1]]}\n", "jsonl", f, 2, "the end of the operation");
  expect_error(HEADER "{\"session\":0,\"ops\":[[\"r\",1,[1]]]}\n", "jsonl", f, 2, "a number");
  expect_error(HEADER "{\"session\":0,\"ops\":[[\"read-list\",1,1]]}\n", "jsonl", f, 2, "a list of elements");
}

/* Columns of rows: conditions and contents. */
static void mistakes_of_columns(void **state) {
  (void)state;
  const isoproof_status f = ISOPROOF_ERR_FORMAT;
#define OPS(text) HEADER "{\"session\":0,\"status\":\"committed\",\"ops\":[" text "]}\n"
  expect_error(OPS("[\"rp\",{\"where\":5},[]]"), "jsonl", f, 2, "a list of conditions");
  expect_error(OPS("[\"rp\",{\"where\":[5]},[]]"), "jsonl", f, 2, "a condition");
  expect_error(OPS("[\"rp\",{\"where\":[[5]]},[]]"), "jsonl", f, 2, "the name of a column");
  expect_error(OPS("[\"rp\",{\"where\":[[\"n\",\"like\",\"x\"]]},[]]"), "jsonl", f, 2, "=, <>, <");
  expect_error(OPS("[\"rp\",{\"where\":[[\"n\",\"<\",\"x\"]]},[]]"), "jsonl", f, 2, "an integer");
  expect_error(OPS("[\"rp\",{\"where\":[[\"n\",\"=\",null]]},[]]"), "jsonl", f, 2, "an integer");
  expect_error(OPS("[\"rp\",{\"where\":[[\"n\",\"=\",1.5]]},[]]"), "jsonl", f, 2, "an integer");
  expect_error(OPS("[\"rp\",{\"where\":[[\"n\",\"in\",[]]]},[]]"), "jsonl", f, 2, "at least one value");
  expect_error(OPS("[\"rp\",{\"where\":[[\"n\",\"is null\",1]]},[]]"), "jsonl", f, 2, "the end of a condition");
  expect_error(HEADER "{\"session\":0,\"status\":\"committed\",\"statements\":[1],\"ops\":[]}\n", "jsonl", f, 2,
               "as many");
  expect_error(HEADER "{\"session\":0,\"statements\":[-1]}\n", "jsonl", f, 2, "the number of a statement");
  expect_error(OPS("[\"insert\",1,2,3]"), "jsonl", f, 2, "contents of columns");
  expect_error(OPS("[\"insert\",1,2,{\"n\":1.5}]"), "jsonl", f, 2, "null, an integer or a string");
  expect_error(OPS("[\"insert\",1,2,{\"n\":[1]}]"), "jsonl", f, 2, "null, an integer or a string");
  expect_error(OPS("[\"insert\",1,2,{\"n\":1},3]"), "jsonl", f, 2, "contents of columns");
  expect_error(OPS("[\"delete\",1,null,{}]"), "jsonl", f, 2, "the end of the operation");
  expect_error(HEADER "{\"row_names\":[[1]]}\n", "jsonl", f, 2, "a name");
  expect_error(HEADER "{\"initial_rows\":[[1,2,3]]}\n", "jsonl", f, 2, "the end of a row");
  expect_error(OPS("[\"insert\",1,2,{\"n\":1}],[\"update\",1,2,{\"n\":2}]"), "jsonl", f, 0, "different contents");
  expect_error(OPS("[\"insert\",1,2,{\"n\":1}],[\"rp\",{\"where\":[[\"n\",\">\",1]]},[[1,2]]]"), "jsonl", f, 0,
               "does not pick");
#undef OPS
}

static void single_lines(void **state) {
  (void)state;
  bytes out = {0};
  isoproof_error error = {0};
  iso_output *output;
  assert_int_equal(iso_output_open_callback(bytes_put, &out, ISOPROOF_COMPRESS_NO, &output, &error), ISOPROOF_OK);
  iso_jsonl_fact facts[] = {{"command", "isoproof \"run\"", 7, 14}};
  isoproof_scalar elements[] = {isoproof_integer(1), isoproof_string("b")};
  iso_jsonl_op ops[] = {{.kind = ISOPROOF_OP_WRITE, .key = isoproof_integer(1), .value = isoproof_integer(2)},
                        {.kind = ISOPROOF_OP_READ_LIST, .key = isoproof_integer(3), .elements = elements, .count = 2}};
  iso_jsonl_txn txn = {.session = isoproof_integer(4),
                       .status = ISOPROOF_TXN_UNKNOWN,
                       .start = 17,
                       .end = ISOPROOF_NO_TIME,
                       .start_index = -1,
                       .end_index = -1,
                       .node = isoproof_string("n"),
                       .error = isoproof_nil(),
                       .ops = ops,
                       .count = 2};
  iso_jsonl_write_header(output, false, facts, 1);
  iso_jsonl_write_session(output, isoproof_integer(4));
  iso_jsonl_write_txn(output, &txn);
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_OK);
  put_byte(&out, '\0');
  assert_string_equal(out.data,
                      "{\"isoproof\":1,\"initial\":null,\"command\":\"isoproof \\\"run\\\"\"}\n{\"session\":4}\n"
                      "{\"session\":4,\"status\":\"unknown\",\"start\":17,\"node\":\"n\",\"ops\":[[\"w\",1,2],"
                      "[\"read-list\",3,[1,\"b\"]]]}\n");
  bytes_free(&out);
}

/* ---- random histories ---- */

static uint64_t draw(uint64_t *random, uint64_t limit) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return (*random >> 11) % limit;
}

static iso_value random_value(uint64_t *random, iso_pool *pool) {
  static const char *const words[] = {"", "x", "a b", "\"\\\n\t\x01", "\xc3\xa4\xe2\x82\xac", "nil", "1.5", "none"};
  isoproof_scalar scalar = isoproof_integer((int64_t)draw(random, 1000));
  uint64_t choice = draw(random, 10);
  if (choice >= 7) {
    scalar = isoproof_string(words[draw(random, 8)]);
    scalar.type = (isoproof_scalar_type)(ISOPROOF_STRING + (choice - 7));
  } else if (choice == 6) {
    scalar.integer = -scalar.integer - 1;
  } else if (choice == 5) {
    scalar = (isoproof_scalar){.type = ISOPROOF_UNSIGNED, .integer = -1 - scalar.integer};
  }
  iso_value value = 0;
  assert_int_equal(iso_pool_add(pool, scalar, &value, NULL), ISOPROOF_OK);
  return value;
}

static void random_ops(uint64_t *random, isoproof_builder *builder) {
  iso_pool *pool = iso_builder_pool(builder);
  for (uint64_t n = draw(random, 5); n-- > 0;) {
    isoproof_op_kind kind = (isoproof_op_kind)draw(random, ISOPROOF_OP_KINDS);
    iso_value key = random_value(random, pool), list[6];
    uint64_t choice = draw(random, 8), count = draw(random, 6);
    if (isoproof_op_kind_observes(kind) && choice < 2) {
      iso_value nothing = choice == 0 ? ISO_VALUE_NIL : ISO_VALUE_NONE;
      assert_int_equal(iso_builder_op(builder, kind, key, nothing, NULL), ISOPROOF_OK);
    } else if (iso_kind_is_list(kind)) {
      for (uint64_t i = 0; i < count; i++) list[i] = random_value(random, pool);
      assert_int_equal(iso_builder_list(builder, kind, key, list, count, NULL), ISOPROOF_OK);
    } else {
      assert_int_equal(iso_builder_op(builder, kind, key, random_value(random, pool), NULL), ISOPROOF_OK);
    }
  }
}

static isoproof_history *random_history(uint64_t seed) {
  uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
  isoproof_builder *builder;
  isoproof_history *history;
  assert_int_equal(isoproof_builder_new(&builder, NULL), ISOPROOF_OK);
  iso_pool *pool = iso_builder_pool(builder);
  uint32_t sessions[6];
  for (int i = 0; i < 6; i++) {
    assert_int_equal(iso_builder_session(builder, random_value(&random, pool), &sessions[i], NULL), ISOPROOF_OK);
  }
  for (uint64_t n = draw(&random, 40); n-- > 0;) {
    iso_txn_info info = iso_txn_unset();
    info.status = (isoproof_txn_status)draw(&random, 3);
    info.has_id = draw(&random, 2) == 0;
    if (info.has_id) info.id = (int64_t)draw(&random, 100) - 50;
    if (draw(&random, 2) == 0) info.start = (int64_t)draw(&random, 1000) - 500;
    if (draw(&random, 2) == 0) info.end = (int64_t)draw(&random, UINT64_C(1) << 50);
    if (draw(&random, 2) == 0) info.start_index = (int64_t)draw(&random, 1000);
    if (draw(&random, 2) == 0) info.end_index = (int64_t)draw(&random, 1000);
    if (draw(&random, 4) == 0) info.node = random_value(&random, pool);
    if (draw(&random, 4) == 0) info.error = random_value(&random, pool);
    assert_int_equal(iso_builder_begin(builder, sessions[draw(&random, 6)], &info, NULL, NULL), ISOPROOF_OK);
    random_ops(&random, builder);
  }
  /* Names that the header has for itself must not stand there twice. */
  const char *reserved[] = {"isoproof", "initial"};
  if (seed % 8 == 0) {
    assert_int_equal(iso_builder_fact(builder, reserved[seed / 8 % 2], "2", 1, NULL), ISOPROOF_OK);
  }
  assert_int_equal(isoproof_builder_finish(builder, &history, NULL), ISOPROOF_OK);
  isoproof_builder_free(builder);
  return history;
}

static void round_trips(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    isoproof_history *first = random_history(seed), *second;
    bytes once = {0}, twice = {0}, a = {0}, b = {0};
    isoproof_error error = {0};
    assert_int_equal(write_bytes(first, ISOPROOF_FORMAT_JSONL, false, &once, NULL, &error), ISOPROOF_OK);
    assert_null(memmem(once.data + 2, once.count - 2, "\"isoproof\"", 10));
    if (open_bytes(once.data, once.count, NULL, &second, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
    assert_int_equal(write_bytes(second, ISOPROOF_FORMAT_JSONL, false, &twice, NULL, &error), ISOPROOF_OK);
    assert_int_equal(once.count, twice.count);
    assert_memory_equal(once.data, twice.data, once.count);
    describe(&a, first);
    describe(&b, second);
    assert_string_equal(a.data, b.data);
    bytes_free(&once), bytes_free(&twice), bytes_free(&a), bytes_free(&b);
    isoproof_history_free(first), isoproof_history_free(second);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_field),  cmocka_unit_test(headers),     cmocka_unit_test(initial_zero),
      cmocka_unit_test(truncated),    cmocka_unit_test(mistakes),    cmocka_unit_test(mistakes_of_columns),
      cmocka_unit_test(single_lines), cmocka_unit_test(round_trips),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
