/* Text read in blocks by several threads is the same history, or the same mistake, as text read without blocks. */
#include "base/output.h"
#include "format/format.h"
#include "tests/unit/format/format_bytes.h"
#include "tests/unit/unit.h"

/* What came of reading: the history as bytes of the binary form, or an error. */
typedef struct {
  isoproof_status status;
  isoproof_error error;
  bytes binary;
} outcome;

static isoproof_status read_text(iso_input *input, isoproof_format format, size_t block_bytes, isoproof_task *task,
                                 isoproof_builder *builder, isoproof_error *error) {
  if (format == ISOPROOF_FORMAT_JSONL) return iso_read_jsonl_in_blocks(input, builder, task, block_bytes, error);
  return iso_read_jepsen_in_blocks(input, format, builder, task, block_bytes, error);
}

static outcome read_as(const bytes *text, isoproof_format format, size_t block_bytes, unsigned threads) {
  outcome o = {.status = ISOPROOF_OK};
  iso_input *input;
  isoproof_builder *builder;
  isoproof_task *task;
  isoproof_history *history = NULL;
  assert_ok(isoproof_task_new(&task));
  isoproof_task_set_threads(task, threads);
  assert_ok(isoproof_builder_new(&builder, NULL));
  o.status = iso_input_open_memory(text->data, text->count, "test", &input, &o.error);
  if (o.status == ISOPROOF_OK) {
    o.status = read_text(input, format, block_bytes, task, builder, &o.error);
    iso_input_close(input);
  }
  if (o.status == ISOPROOF_OK) o.status = isoproof_builder_finish(builder, &history, &o.error);
  if (o.status == ISOPROOF_OK) {
    isoproof_write_options options = {.struct_size = sizeof options, .compression = ISOPROOF_COMPRESS_NO};
    assert_ok(
        isoproof_history_write_to(history, ISOPROOF_FORMAT_BINARY, bytes_put, &o.binary, &options, NULL, NULL, NULL));
  }
  isoproof_history_free(history);
  isoproof_builder_free(builder);
  isoproof_task_free(task);
  return o;
}

static void show(const bytes *text) {
  if (text->count > 0) print_message("%.*s\n", (int)text->count, text->data);
}

static void expect_same(const bytes *text, const outcome *one, const outcome *other, size_t block_bytes,
                        unsigned threads) {
  bool same = one->status == other->status && one->error.line == other->error.line &&
              one->error.column == other->error.column && one->error.offset == other->error.offset &&
              strcmp(one->error.message, other->error.message) == 0;
  same = same && one->binary.count == other->binary.count &&
         (one->binary.count == 0 || memcmp(one->binary.data, other->binary.data, one->binary.count) == 0);
  if (same) return;
  show(text);
  fail_msg("blocks of %zu bytes, %u threads: %s %zu bytes %llu:%llu %s\nwithout: %s %zu bytes %llu:%llu %s",
           block_bytes, threads, isoproof_status_name(other->status), other->binary.count,
           (unsigned long long)other->error.line, (unsigned long long)other->error.column, other->error.message,
           isoproof_status_name(one->status), one->binary.count, (unsigned long long)one->error.line,
           (unsigned long long)one->error.column, one->error.message);
}

static isoproof_status compare(const bytes *text, isoproof_format format, uint64_t *random) {
  outcome plain = read_as(text, format, 0, 1);
  for (int i = 0; i < 3; i++) {
    size_t block_bytes = 100 + unit_below(random, unit_below(random, 2) == 0 ? 300 : 3000);
    unsigned threads = 1 + (unsigned)unit_below(random, 8);
    outcome o = read_as(text, format, block_bytes, threads);
    expect_same(text, &plain, &o, block_bytes, threads);
    bytes_free(&o.binary);
  }
  bytes_free(&plain.binary);
  return plain.status;
}

/* ---- random texts ---- */

static void put(bytes *b, const char *text) { bytes_put(b, text, strlen(text)); }

static void put_number(bytes *b, uint64_t number) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  put(b, text);
}

/* One of the texts up to NULL. */
static void put_one(bytes *b, uint64_t *random, const char *const *texts) {
  size_t count = 0;
  while (texts[count] != NULL) count++;
  put(b, texts[unit_below(random, count)]);
}

static const char *const json_scalars[] = {"1",  "2",    "77",          "2147483647",           "-5",
                                           "0",  "null", "\"x\"",       "\"a longer text\"",    "\"\\u00e9\\n\"",
                                           "17", "9",    "99999999999", "18446744073709551615", NULL};

static void put_scalar(bytes *b, uint64_t *random) {
  if (unit_below(random, 3) > 0) {
    put_number(b, unit_below(random, 1000));
  } else if (unit_below(random, 8) == 0) {
    put(b, "{\"keyword\":\"k\"}");
  } else {
    put_one(b, random, json_scalars);
  }
}

static void put_elements(bytes *b, uint64_t *random, const char *between, const char *open, const char *close) {
  put(b, open);
  for (uint64_t n = unit_below(random, 9), i = 0; i < n; i++) {
    if (i > 0) put(b, between);
    put_number(b, unit_below(random, 20) == 0 ? UINT64_C(4000000000) + i : i + 1);
  }
  put(b, close);
}

static void put_jsonl_op(bytes *b, uint64_t *random) {
  static const char *const rows[] = {"[\"insert\",-3,5]",
                                     "[\"upsert\",4,-60000000000]",
                                     "[\"delete\",4,null]",
                                     "[\"rp\",{\"keys\":[-9,9]},[[-3,5],[4,6]]]",
                                     "[\"count\",{\"values\":[1,9],\"mod\":[2,1]},2]",
                                     "[\"rp\",{},{\"none\":true}]",
                                     NULL};
  switch (unit_below(random, 12)) {
  case 0:
    put_one(b, random, rows);
    return;
  case 1:
    put(b, "[\"read-list\",");
    put_number(b, 2000 + unit_below(random, 5));
    put(b, ",");
    put_elements(b, random, ",", "[", "]");
    break;
  case 2:
    put(b, "[\"append\",");
    put_number(b, 2000 + unit_below(random, 5));
    put(b, ",");
    put_scalar(b, random);
    break;
  default:
    put(b, unit_below(random, 2) == 0 ? "[\"r\"," : "[\"w\",");
    put_scalar(b, random);
    put(b, ",");
    put_scalar(b, random);
  }
  put(b, "]");
}

static void put_jsonl_txn(bytes *b, uint64_t *random) {
  static const char *const statuses[] = {"committed", "committed", "aborted", "unknown", NULL};
  put(b, "{\"session\":");
  put_scalar(b, random);
  if (unit_below(random, 30) == 0) {
    put(b, "}");
    return;
  }
  put(b, ",\"status\":\"");
  put_one(b, random, statuses);
  put(b, "\"");
  if (unit_below(random, 3) == 0) put(b, ",\"id\":"), put_number(b, unit_random(random) >> 20);
  if (unit_below(random, 2) == 0) put(b, ",\"start\":"), put_number(b, unit_random(random) >> 8);
  if (unit_below(random, 2) == 0) put(b, ",\"end\":"), put_number(b, unit_below(random, 1000000));
  if (unit_below(random, 9) == 0) put(b, ",\"node\":\"n1\",\"other\":[1,{\"a\":null}]");
  if (unit_below(random, 9) == 0) put(b, ",\"start_index\":3,\"end_index\":12");
  put(b, ",\"ops\":[");
  for (uint64_t n = unit_below(random, 7), i = 0; i < n; i++) {
    if (i > 0) put(b, ",");
    put_jsonl_op(b, random);
  }
  put(b, "]}");
}

static void make_jsonl(bytes *b, uint64_t *random) {
  put(b, unit_below(random, 2) == 0 ? "{\"isoproof\":1,\"initial\":0}\n" : "{\"isoproof\":1,\"seed\":\"5\"}\n");
  if (unit_below(random, 4) == 0) put(b, "{\"initial_rows\":[[1,2],[-3,4]]}\n");
  for (uint64_t n = unit_below(random, 60); n > 0; n--) {
    static const char *const between[] = {"\n", "\n", "\n", "\n", "\n", "\n", "\n", "\r\n", " ", "\n\n \n", NULL};
    put_jsonl_txn(b, random);
    put_one(b, random, between);
    if (unit_below(random, 60) == 0) put(b, "{\"isoproof\":1,\"finished\":\"no\"}\n");
  }
}

static const char *const edn_scalars[] = {":k",  "\"text\"",  "\"two\nlines\"", "sym", "-7", "4000000000", "3N",
                                          "1.5", "\\newline", "#inst \"2020\"", "5",   "6",  NULL};

static void put_edn_scalar(bytes *b, uint64_t *random) {
  if (unit_below(random, 4) > 0) {
    put_number(b, unit_below(random, 30));
  } else {
    put_one(b, random, edn_scalars);
  }
}

static void put_edn_value(bytes *b, uint64_t *random) {
  static const char *const odd[] = {
      "nil",          "[:rp [= 1] {1 2}]",        "[[:delete 4]]", "[[:r 5]]", "[:n1 :n2]",
      "[[:inc 6 1]]", "[[:add 7 1] [:r 7 #{1}]]", "{:a 1}",        NULL};
  if (unit_below(random, 12) == 0) {
    put_one(b, random, odd);
    return;
  }
  put(b, "[");
  for (uint64_t n = unit_below(random, 6), i = 0; i < n; i++) {
    if (i > 0) put(b, " ");
    switch (unit_below(random, 4)) {
    case 0:
      put(b, "[:r ");
      put_number(b, 100 + unit_below(random, 4));
      put(b, " ");
      put_elements(b, random, " ", "[", "]]");
      break;
    case 1:
      put(b, "[:r ");
      put_edn_scalar(b, random);
      put(b, " nil]");
      break;
    default:
      put(b, unit_below(random, 2) == 0 ? "[:append 100 " : "[:w 1 ");
      put_edn_scalar(b, random);
      put(b, "]");
    }
  }
  put(b, "]");
}

static void put_edn_op(bytes *b, uint64_t *random, bool *open) {
  static const char *const ends[] = {":ok", ":ok", ":fail", ":info", NULL};
  static const char *const others[] = {"{:type :info, :process :nemesis, :f :kill, :value [:n1]}",
                                       "{:type :invoke, :process 4, :f :read, :value nil}",
                                       "{:process 3, :f :read, :value [[:q 1]]}", NULL};
  if (unit_below(random, 25) == 0) {
    put_one(b, random, others);
    return;
  }
  uint64_t process = unit_below(random, 4);
  bool invoke = !open[process];
  open[process] = unit_below(random, 40) == 0 ? open[process] : invoke;
  put(b, "{");
  if (unit_below(random, 2) == 0) put(b, ":index "), put_number(b, unit_below(random, 1000)), put(b, ", ");
  if (unit_below(random, 2) == 0) put(b, ":time "), put_number(b, unit_random(random) >> 9), put(b, ", ");
  put(b, ":type ");
  if (invoke) {
    put(b, ":invoke");
  } else {
    put_one(b, random, ends);
  }
  put(b, ", :process ");
  put_number(b, process);
  if (unit_below(random, 3) > 0) put(b, ", :f :txn");
  put(b, ", :value ");
  put_edn_value(b, random);
  if (unit_below(random, 9) == 0) put(b, ", :error [:timeout \"x\"], :node \"n2\"");
  put(b, "}");
}

static void make_edn(bytes *b, uint64_t *random) {
  static const char *const between[] = {"\n", "\n", "\n", "\n",  "\n",   "\n",         "\n",           "\n", "\n",
                                        "\n", "\n", " ",  ",\n", "\n\n", "\n; a } \n", "\n#_{:a 1}\n", NULL};
  bool open[4] = {false}, list = unit_below(random, 3) == 0;
  if (list) put(b, unit_below(random, 2) == 0 ? "[" : "(\n");
  char closer = list ? (b->data[0] == '[' ? ']' : ')') : '\0';
  for (uint64_t n = unit_below(random, 60); n > 0; n--) {
    put_edn_op(b, random, open);
    put_one(b, random, between);
  }
  if (list) put_byte(b, closer);
  if (unit_below(random, 4) == 0) put(b, "\n{:type :ok :process 9 :f :txn :value [[:w 8 8]]}");
}

static void make_json(bytes *b, uint64_t *random) {
  bool list = unit_below(random, 4) == 0;
  if (list) put(b, "[");
  for (uint64_t n = unit_below(random, 40), i = 0; i < n; i++) {
    if (i > 0) put(b, list ? ",\n" : "\n");
    put(b, "{\"type\":");
    put(b, i % 2 == 0 ? "\"invoke\"" : "\"ok\"");
    put(b, ",\"process\":3,\"f\":\"txn\",\"value\":[[\"w\",");
    put_number(b, unit_below(random, 9));
    put(b, ",");
    put_scalar(b, random);
    put(b, "]]}");
  }
  if (list) put(b, "]");
}

/* ---- tests ---- */

static void spoil(bytes *b, uint64_t *random) {
  static const char bad[] = "{}[]\",:\n \\#;0a\xff";
  if (b->count == 0) return;
  size_t at = unit_below(random, b->count);
  switch (unit_below(random, 4)) {
  case 0:
    b->count = at;
    break;
  case 1:
    memmove(b->data + at, b->data + at + 1, b->count - at - 1);
    b->count--;
    break;
  default:
    b->data[at] = bad[unit_below(random, sizeof bad)];
  }
}

static void all_alike(isoproof_format format, void (*make)(bytes *, uint64_t *), uint64_t first) {
  enum { ROUNDS = UNLESS_SLOW(400, 60) };
  int good = 0, refused = 0;
  for (uint64_t seed = first; seed < first + ROUNDS; seed++) {
    uint64_t random = seed * 7 + 1;
    bytes text = {NULL, 0, 0};
    make(&text, &random);
    (*(compare(&text, format, &random) == ISOPROOF_OK ? &good : &refused))++;
    spoil(&text, &random);
    (*(compare(&text, format, &random) == ISOPROOF_OK ? &good : &refused))++;
    bytes_free(&text);
  }
  if (good < ROUNDS / 5 || refused < ROUNDS / 5)
    fail_msg("%d good, %d refused: the texts test too little", good, refused);
}

static void test_jsonl(void **state) {
  (void)state;
  all_alike(ISOPROOF_FORMAT_JSONL, make_jsonl, 0);
}

static void test_edn(void **state) {
  (void)state;
  all_alike(ISOPROOF_FORMAT_EDN, make_edn, 100000);
}

static void test_json(void **state) {
  (void)state;
  all_alike(ISOPROOF_FORMAT_JSON, make_json, 200000);
}

/* Compressed, cut off, or with a broken end: all that comes before is read first. */
static void test_packed(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    uint64_t random = seed;
    bytes text = {NULL, 0, 0}, packed = {NULL, 0, 0};
    make_edn(&text, &random);
    iso_output *output;
    isoproof_compression how = seed % 2 == 0 ? ISOPROOF_COMPRESS_GZIP : ISOPROOF_COMPRESS_ZSTD;
    assert_ok(iso_output_open_callback(bytes_put, &packed, how, &output, NULL));
    iso_out_bytes(output, text.data, text.count);
    assert_ok(iso_output_close(output, NULL));
    compare(&packed, ISOPROOF_FORMAT_EDN, &random);
    if (seed % 3 == 0) packed.count -= unit_below(&random, packed.count - 4);
    if (seed % 3 == 1) packed.data[packed.count / 2] ^= 0x55;
    compare(&packed, ISOPROOF_FORMAT_EDN, &random);
    bytes_free(&text);
    bytes_free(&packed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jsonl), cmocka_unit_test(test_edn),
                                     cmocka_unit_test(test_json), cmocka_unit_test(test_packed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
