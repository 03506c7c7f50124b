/* Detection from content, the table of formats, and options of other versions. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "tests/scratch.h"
#include "tests/unit/format/format_bytes.h"

static const char *detected(const char *text, size_t length) {
  isoproof_format format;
  char *copy = malloc(length > 0 ? length : 1); /* so that a sanitizer sees reads beyond the end */
  assert_non_null(copy);
  if (length > 0) memcpy(copy, text, length);
  bool known = iso_detect_bytes(copy, length, &format);
  free(copy);
  return known ? isoproof_format_at(format)->id : "none";
}

static void test_texts(void **state) {
  (void)state;
  static const struct {
    const char *text, *format;
  } cases[] = {
      {"r(1,2,3,4)\n", "plume"},
      {"\n\nw(1,2,0,-1)", "plume"},
      {"r(x,2,3,4)\n", "none"},
      {"2\n0 0 R 1 2 3 4\n0 0 A 1 2\n", "veristrong"},
      {"2\r\n0 0 A 1 2\r\n", "veristrong"},
      {"0", "veristrong"},
      {"0\n", "veristrong"},
      {"12", "none"},
      {"1 2\n", "none"},
      {"1\n2\n3\n", "none"},
      {"{:index 0, :type :ok}", "edn"},
      {"{:process 0, :type :invoke, :f :get, :key \"0\", :value nil}", "porcupine"},
      {"{:process 0, :type :invoke, :f :txn, :value [[:r :key 1]]}", "edn"},
      {"INFO  jepsen.core - run\nINFO  jepsen.util - 0\t:invoke\t:read\tnil\n", "jepsen-log"},
      {"INFO  jepsen.core - run\n", "none"},
      {"{\"ClientId\":1,\"Input\":{\"Type\":\"compact\"}", "etcd"},
      {"[{:type :ok, :f :txn}]", "edn"},
      {"[\n  {  :type :ok}]", "edn"},
      {"#jepsen.history.Op{:index 0}", "edn"},
      {"[#jepsen.history.Op{:index 0}]", "edn"},
      {"; a comment\n{:index 0}", "edn"},
      {"; only a comment", "edn"},
      {", {:index 0}", "none"},
      {"[]", "json"},
      {"[ ]\n", "json"},
      {"{\"type\": \"ok\", \"process\": 1, \"value\": []}", "json"},
      {"[{\"index\": 0, \"value\": [[\"r\", 1, null]], \"type\": \"ok\"}]", "json"},
      {"{\"value\": [[\"r\", 1, [1]]], \"type\": \"ok\"}", "json"},
      {"{\"value\": [[\"r\", 1, 1, true], [\"w\", 2, 1, true]]}\n", "viper"},
      {"{\"value\": []}\n{\"value\": []}\n", "viper"},
      {"{\"value\": [[\"r\", 1, 1, true], [\"w\"", "viper"},
      {"[{\"tid\":67,\"sid\":19,\"sts\":{\"p\":1,\"l\":0}}]", "timekiller"},
      {"[{\"sid\":\"a\\\"},{\",\"ops\":[{\"t\":\"w\"}],\"sts\":{}}]", "timekiller"},
      {"{\"isoproof\":1,\"seed\":3}\n", "jsonl"},
      {"{\"seed\":3,\"isoproof\":1}\n", "none"},
      {"{\"a\":1}", "none"},
      {"{", "none"},
      {"{}", "none"},
      {"{\"", "none"},
      {"{\"a\\", "none"},
      {"[[1]]", "none"},
      {"hello", "none"},
      {"<html>", "none"},
      {"Some text that begins with an S", "none"},
      {"SELECT 1;", "none"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *found = detected(cases[i].text, strlen(cases[i].text));
    if (strcmp(found, cases[i].format) != 0) fail_msg("%s: %s, not %s", cases[i].text, found, cases[i].format);
  }
}

static void test_binaries(void **state) {
  (void)state;
  bytes b = {NULL, 0, 0};
  assert_string_equal(detected("\x89ISOPRF\n", 8), "binary");
  put_byte(&b, 'S'), put_big64(&b, 1);
  assert_string_equal(detected(b.data, b.count), "cobra");
  put_byte(&b, 'W'), put_big64(&b, 1), put_big64(&b, 1), put_big64(&b, 1);
  put_byte(&b, 'C');
  assert_string_equal(detected(b.data, b.count), "cobra");
  b.data[9] = 'X';
  assert_string_equal(detected(b.data, b.count), "none");
  b.count = 0;
  for (uint64_t i = 0; i < 5; i++) put_little64(&b, i);
  put_little64(&b, 2), bytes_put(&b, "ab", 2);
  put_little64(&b, 20), bytes_put(&b, "2019-04-02T02:06:41Z", 20);
  put_little64(&b, 0);
  assert_string_equal(detected(b.data, b.count), "none");
  put_little64(&b, 0);
  assert_string_equal(detected(b.data, b.count), "dbcop");
  b.data[16] = b.data[23] = 1; /* 2^56 and more variables */
  assert_string_equal(detected(b.data, b.count), "none");
  bytes_free(&b);
}

static void test_random_bytes(void **state) {
  (void)state;
  uint64_t x = 88172645463325252u;
  for (int round = 0; round < 20000; round++) {
    static const char alphabet[] = "{}[]\":,;#\\ \nrw(1SWRC\0\x7f";
    char text[48];
    size_t length = (size_t)(round % 48);
    for (size_t i = 0; i < length; i++) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      text[i] = alphabet[x % (sizeof alphabet - 1)];
    }
    (void)detected(text, length);
  }
}

static void test_refusals(void **state) {
  (void)state;
  isoproof_error error = {0};
  isoproof_history *history;
  assert_int_equal(open_bytes("", 0, NULL, &history, &error), ISOPROOF_ERR_FORMAT);
  assert_non_null(strstr(error.message, "an empty history cannot be recognised"));
  assert_int_equal(open_bytes("hello\x01", 6, NULL, &history, &error), ISOPROOF_ERR_FORMAT);
  for (size_t i = 0; isoproof_format_at(i) != NULL; i++)
    assert_non_null(strstr(error.message, isoproof_format_at(i)->id));
  assert_non_null(strstr(error.message, "hello\\x01"));
  assert_int_equal(open_bytes("hello", 5, "xml", &history, &error), ISOPROOF_ERR_USAGE);
  assert_non_null(strstr(error.message, "unknown format `xml`"));
  assert_int_equal(isoproof_history_open("/nonexistent", NULL, NULL, &history, &error), ISOPROOF_ERR_IO);
  assert_string_equal(error.file, "/nonexistent");
}

static void test_empty_with_format(void **state) {
  (void)state;
  static const char *const formats[] = {"plume", "jsonl", "edn"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    isoproof_error error = {0};
    isoproof_history *history;
    isoproof_status status = open_bytes("", 0, formats[i], &history, &error);
    if (status != ISOPROOF_OK) fail_msg("%s: %s", formats[i], error.message);
    isoproof_counts counts = {.struct_size = sizeof counts};
    isoproof_history_counts(history, &counts);
    assert_int_equal(counts.transactions, 0);
    isoproof_history_free(history);
  }
}

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < ISOPROOF_FORMATS; i++) {
    const isoproof_format_info *info = isoproof_format_at(i);
    assert_non_null(info);
    assert_int_equal(info->format, i);
    assert_ptr_equal(isoproof_format_find(info->id), info);
  }
  assert_null(isoproof_format_at(ISOPROOF_FORMATS));
  assert_null(isoproof_format_find("xml"));
  assert_null(isoproof_format_find(NULL));
}

static void test_options(void **state) {
  (void)state;
  isoproof_error error = {0};
  isoproof_history *history;
  bytes out = {NULL, 0, 0};
  static const char text[] = "w(1,2,0,0)\n";
  isoproof_open_options open = {.struct_size = sizeof(size_t), .format = "edn"}; /* an older caller has no format */
  assert_int_equal(isoproof_history_open_memory(text, 11, "t", &open, NULL, &history, &error), ISOPROOF_OK);
  isoproof_write_options write = {.struct_size = sizeof(size_t) + sizeof(isoproof_compression), .lossy = true};
  assert_int_equal(
      isoproof_history_write_to(history, ISOPROOF_FORMAT_PLUME, bytes_put, &out, &write, NULL, NULL, &error),
      ISOPROOF_OK);
  assert_int_equal(out.count, 11);
  assert_memory_equal(out.data, text, 11);
  write.struct_size = 0;
  assert_int_equal(
      isoproof_history_write_to(history, ISOPROOF_FORMAT_PLUME, bytes_put, &out, &write, NULL, NULL, &error),
      ISOPROOF_ERR_USAGE);
  struct {
    isoproof_write_options known;
    uint64_t later;
  } newer = {.known = {.struct_size = sizeof newer}, .later = 0};
  assert_int_equal(
      isoproof_history_write_to(history, ISOPROOF_FORMAT_PLUME, bytes_put, &out, &newer.known, NULL, NULL, &error),
      ISOPROOF_OK);
  newer.later = 1;
  assert_int_equal(
      isoproof_history_write_to(history, ISOPROOF_FORMAT_PLUME, bytes_put, &out, &newer.known, NULL, NULL, &error),
      ISOPROOF_ERR_UNSUPPORTED);
  assert_int_equal(isoproof_history_write_to(history, ISOPROOF_FORMAT_COBRA, bytes_put, &out, NULL, NULL, NULL, &error),
                   ISOPROOF_ERR_UNSUPPORTED);
  assert_int_equal(isoproof_history_write_to(history, ISOPROOF_FORMATS, bytes_put, &out, NULL, NULL, NULL, &error),
                   ISOPROOF_ERR_USAGE);
  isoproof_history_free(history);
  bytes_free(&out);
}

static void test_directories(void **state) {
  (void)state;
  char directory[SCRATCH_BYTES], path[SCRATCH_BYTES + 64];
  static const struct {
    const char *file, *format;
  } steps[] = {{"notes.txt", "none"}, {"Tx.log", "none"}, {"T1.log", "cobra"}, {"J1.log", "none"}};
  assert_true(scratch_folder(directory));
  for (size_t i = 0; i < 4; i++) {
    isoproof_format format;
    snprintf(path, sizeof path, "%s/%s", directory, steps[i].file);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    bool known = iso_detect_directory(directory, &format);
    assert_string_equal(known ? isoproof_format_at(format)->id : "none", steps[i].format);
  }
  isoproof_format format;
  snprintf(path, sizeof path, "%s/T1.log", directory);
  unlink(path);
  assert_true(iso_detect_directory(directory, &format));
  assert_int_equal(format, ISOPROOF_FORMAT_VIPER);
  for (size_t i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, steps[i].file);
    unlink(path);
  }
  rmdir(directory);
  assert_false(iso_detect_directory(directory, &format));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts),    cmocka_unit_test(test_binaries),          cmocka_unit_test(test_random_bytes),
      cmocka_unit_test(test_refusals), cmocka_unit_test(test_empty_with_format), cmocka_unit_test(test_table),
      cmocka_unit_test(test_options),  cmocka_unit_test(test_directories)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
