/* Inputs: plain, gzip and zstd, from files, pipes and memory, whole, cut off and corrupt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/input.h"
#include "tests/scratch.h"

typedef struct bytes {
  char *data;
  size_t size;
} bytes;

static bytes make_text(size_t size) {
  bytes made = {malloc(size + 1), size};
  assert_non_null(made.data);
  uint32_t x = 12345;
  for (size_t i = 0; i < size; i++) {
    x = x * 1664525u + 1013904223u;
    made.data[i] = (char)('a' + (x >> 24) % 26);
  }
  made.data[size] = '\0';
  return made;
}

static bytes join(bytes a, bytes b) {
  bytes made = {malloc(a.size + b.size + 1), a.size + b.size};
  assert_non_null(made.data);
  memcpy(made.data, a.data, a.size);
  memcpy(made.data + a.size, b.data, b.size);
  free(a.data);
  free(b.data);
  return made;
}

static bytes literal(const char *data, size_t size) {
  bytes made = {malloc(size + 1), size};
  assert_non_null(made.data);
  memcpy(made.data, data, size);
  return made;
}

static bytes gzip(const char *data, size_t size) {
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  size_t room = deflateBound(&z, (uLong)size) + 64;
  bytes made = {malloc(room), 0};
  assert_non_null(made.data);
  z.next_in = (Bytef *)(uintptr_t)data;
  z.avail_in = (uInt)size;
  z.next_out = (Bytef *)made.data;
  z.avail_out = (uInt)room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  made.size = room - z.avail_out;
  deflateEnd(&z);
  return made;
}

static bytes zstd(const char *data, size_t size) {
  bytes made = {malloc(ZSTD_compressBound(size)), 0};
  assert_non_null(made.data);
  made.size = ZSTD_compress(made.data, ZSTD_compressBound(size), data, size, 3);
  assert_false(ZSTD_isError(made.size));
  return made;
}

/* Reads everything in pieces of a size; returns the status. */
static isoproof_status read_all(iso_input *input, size_t piece, bytes *out, isoproof_error *error) {
  size_t room = 1 << 16;
  *out = (bytes){malloc(room), 0};
  assert_non_null(out->data);
  for (;;) {
    if (out->size + piece > room) {
      room = 2 * (out->size + piece);
      out->data = realloc(out->data, room);
      assert_non_null(out->data);
    }
    size_t got;
    ISO_TRY(iso_input_read(input, out->data + out->size, piece, &got, error));
    out->size += got;
    if (got < piece) return ISOPROOF_OK;
  }
}

static isoproof_status read_memory(bytes packed, size_t piece, bytes *out, isoproof_error *error) {
  iso_input *input;
  out->data = NULL;
  out->size = 0;
  ISO_TRY(iso_input_open_memory(packed.data, packed.size, "m", &input, error));
  isoproof_status status = read_all(input, piece, out, error);
  iso_input_close(input);
  return status;
}

static void expect_text(bytes packed, bytes text) {
  static const size_t pieces[] = {1, 7, 4096, 300000, 1 << 20, 10 << 20};
  for (size_t i = text.size > 100000 ? 1 : 0; i < sizeof pieces / sizeof *pieces; i++) {
    isoproof_error error;
    bytes out;
    assert_int_equal(read_memory(packed, pieces[i], &out, &error), ISOPROOF_OK);
    assert_int_equal(out.size, text.size);
    assert_memory_equal(out.data, text.data, text.size);
    free(out.data);
  }
}

static void test_plain(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 1000, 262144, 1000000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    bytes text = make_text(sizes[i]);
    expect_text(text, text);
    free(text.data);
  }
}

static void test_gzip(void **state) {
  (void)state;
  bytes text = make_text(700000);
  bytes whole = gzip(text.data, text.size);
  expect_text(whole, text);
  bytes two = join(gzip(text.data, 100000), gzip(text.data + 100000, text.size - 100000));
  expect_text(two, text);
  bytes with_empty = join(join(gzip("", 0), gzip(text.data, text.size)), gzip("", 0));
  expect_text(with_empty, text);
  bytes padded = join(gzip(text.data, text.size), literal("\0\0\0\0", 4));
  expect_text(padded, text);
  bytes empty = gzip("", 0);
  expect_text(empty, (bytes){text.data, 0});
  free(whole.data), free(two.data), free(with_empty.data), free(padded.data), free(empty.data), free(text.data);
}

static void test_zstd(void **state) {
  (void)state;
  bytes text = make_text(700000);
  bytes whole = zstd(text.data, text.size);
  expect_text(whole, text);
  bytes two = join(zstd(text.data, 100000), zstd(text.data + 100000, text.size - 100000));
  expect_text(two, text);
  static const char skippable[] = "\x50\x2a\x4d\x18\x03\x00\x00\x00xyz";
  bytes skip_first = join(literal(skippable, 11), zstd(text.data, text.size));
  expect_text(skip_first, text);
  bytes skip_middle =
      join(join(zstd(text.data, 1000), literal(skippable, 11)), zstd(text.data + 1000, text.size - 1000));
  expect_text(skip_middle, text);
  free(whole.data), free(two.data), free(skip_first.data), free(skip_middle.data), free(text.data);
}

static void expect_bad(bytes packed, const char *words) {
  isoproof_error error = {0};
  bytes out;
  assert_int_equal(read_memory(packed, 5000, &out, &error), ISOPROOF_ERR_FORMAT);
  assert_string_equal(error.file, "m");
  assert_true(error.offset >= 0);
  if (strstr(error.message, words) == NULL) fail_msg("expected '%s' in '%s'", words, error.message);
  free(out.data);
}

static void test_truncated(void **state) {
  (void)state;
  bytes text = make_text(3000);
  bytes packed[] = {gzip(text.data, text.size), zstd(text.data, text.size)};
  for (size_t p = 0; p < 2; p++) {
    for (size_t cut = 4; cut < packed[p].size; cut++) expect_bad((bytes){packed[p].data, cut}, "truncated");
    free(packed[p].data);
  }
  free(text.data);
}

static void test_corrupt(void **state) {
  (void)state;
  bytes text = make_text(3000);
  bytes gz = gzip(text.data, text.size);
  gz.data[gz.size / 2] ^= 0x55;
  expect_bad(gz, "corrupt gzip data near compressed byte");
  free(gz.data);
  bytes garbage = join(gzip(text.data, text.size), literal("hello", 5));
  expect_bad(garbage, "corrupt gzip data");
  free(garbage.data);
  garbage = join(gzip(text.data, text.size), literal("\0\0x", 3));
  expect_bad(garbage, "garbage after the end");
  free(garbage.data);
  garbage = join(zstd(text.data, text.size), literal("hello", 5));
  expect_bad(garbage, "corrupt zstd data");
  free(garbage.data);
  free(text.data);
}

static void temp_file(char path[SCRATCH_BYTES], const void *data, size_t size) {
  int fd = scratch_file(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, data, size), (ssize_t)size);
  close(fd);
}

static void test_file_and_map(void **state) {
  (void)state;
  char path[SCRATCH_BYTES];
  bytes text = make_text(500000), out;
  isoproof_error error;
  iso_input *input;
  void *map;
  size_t size, got;
  const char *seen;
  temp_file(path, text.data, text.size);
  assert_int_equal(iso_input_open(path, &input, &error), ISOPROOF_OK);
  assert_string_equal(iso_input_name(input), path);
  assert_int_equal(iso_input_peek(input, 65536, &seen, &got, &error), ISOPROOF_OK);
  assert_true(got >= 65536);
  assert_memory_equal(seen, text.data, 65536);
  assert_int_equal(iso_input_map(input, &map, &size, &error), ISOPROOF_OK);
  assert_non_null(map);
  assert_int_equal(size, text.size);
  assert_int_equal(read_all(input, 12345, &out, &error), ISOPROOF_OK);
  assert_int_equal(out.size, text.size);
  uint64_t done, total;
  iso_input_progress(input, &done, &total);
  assert_int_equal(done, text.size);
  assert_int_equal(total, text.size);
  void *again;
  assert_int_equal(iso_input_map(input, &again, &size, &error), ISOPROOF_OK);
  assert_null(again); /* something was read */
  iso_input_close(input);
  assert_memory_equal(map, text.data, text.size); /* outlives the input */
  munmap(map, text.size);
  unlink(path);
  free(out.data);

  bytes packed = gzip(text.data, text.size);
  temp_file(path, packed.data, packed.size);
  assert_int_equal(iso_input_open(path, &input, &error), ISOPROOF_OK);
  assert_int_equal(iso_input_map(input, &map, &size, &error), ISOPROOF_OK);
  assert_null(map);
  iso_input_close(input);
  unlink(path);
  free(packed.data);
  free(text.data);
}

static void test_refused(void **state) {
  (void)state;
  isoproof_error error;
  iso_input *input;
  assert_int_equal(iso_input_open("/nonexistent/file", &input, &error), ISOPROOF_ERR_IO);
  assert_string_equal(error.file, "/nonexistent/file");
  assert_int_equal(iso_input_open("/", &input, &error), ISOPROOF_ERR_IO);
  assert_non_null(strstr(error.message, "directory"));
  assert_int_equal(iso_input_open("/", &input, NULL), ISOPROOF_ERR_IO);
}

static void test_peek(void **state) {
  (void)state;
  bytes text = make_text(400000);
  isoproof_error error;
  iso_input *input;
  const char *seen;
  size_t got, at = 0;
  char buffer[5000];
  assert_int_equal(iso_input_open_memory(text.data, text.size, NULL, &input, &error), ISOPROOF_OK);
  for (;;) {
    assert_int_equal(iso_input_peek(input, 65536, &seen, &got, &error), ISOPROOF_OK);
    assert_true(got >= 65536 || at + got == text.size);
    assert_memory_equal(seen, text.data + at, got);
    assert_int_equal(iso_input_read(input, buffer, sizeof buffer, &got, &error), ISOPROOF_OK);
    assert_memory_equal(buffer, text.data + at, got);
    at += got;
    if (got == 0) break;
  }
  assert_int_equal(at, text.size);
  iso_input_close(input);
  free(text.data);
}

static void test_stdin_pipe(void **state) {
  (void)state;
  int ends[2], saved = dup(STDIN_FILENO);
  bytes text = make_text(30000), out;
  isoproof_error error;
  iso_input *input;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], text.data, text.size), (ssize_t)text.size);
  close(ends[1]);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  assert_int_equal(iso_input_open("-", &input, &error), ISOPROOF_OK);
  assert_string_equal(iso_input_name(input), "<stdin>");
  assert_int_equal(read_all(input, 1 << 20, &out, &error), ISOPROOF_OK);
  assert_int_equal(out.size, text.size);
  assert_memory_equal(out.data, text.data, text.size);
  iso_input_close(input);
  dup2(saved, STDIN_FILENO);
  close(saved);
  free(out.data);
  free(text.data);
}

static void test_window(void **state) {
  (void)state;
  bytes text = make_text(5 << 20);
  isoproof_error error;
  iso_input *input;
  iso_window window;
  assert_int_equal(iso_input_open_memory(text.data, text.size, "w", &input, &error), ISOPROOF_OK);
  assert_int_equal(iso_window_init(&window, input, &error), ISOPROOF_OK);
  size_t token = 1, at = 0;
  /* Tokens of growing length: the start is kept while more is asked for. */
  for (;;) {
    const char *start = window.cur;
    while ((size_t)(window.end - start) < token && !window.at_end) {
      window.cur = window.end;
      assert_int_equal(iso_window_more(&window, &start, 4 << 20, &error), ISOPROOF_OK);
    }
    size_t length = (size_t)(window.end - start) < token ? (size_t)(window.end - start) : token;
    assert_int_equal(window.offset + (uint64_t)(start - window.buffer), at);
    assert_memory_equal(start, text.data + at, length);
    window.cur = start + length;
    at += length;
    if (length < token) break;
    token = token * 2 < 2000000 ? token * 2 : 1999999;
  }
  assert_int_equal(at, text.size);
  assert_true(window.at_end);
  iso_window_free(&window);
  iso_input_close(input);
  free(text.data);
}

static void test_window_limit(void **state) {
  (void)state;
  bytes text = make_text(4 << 20);
  isoproof_error error;
  iso_input *input;
  iso_window window;
  assert_int_equal(iso_input_open_memory(text.data, text.size, "w", &input, &error), ISOPROOF_OK);
  assert_int_equal(iso_window_init(&window, input, &error), ISOPROOF_OK);
  isoproof_status status = ISOPROOF_OK;
  for (int i = 0; i < 10 && status == ISOPROOF_OK; i++) status = iso_window_more(&window, NULL, 1 << 20, &error);
  assert_int_equal(status, ISOPROOF_ERR_LIMIT);
  assert_int_equal(error.offset, 0);
  iso_window_free(&window);
  iso_input_close(input);
  free(text.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain),     cmocka_unit_test(test_gzip),        cmocka_unit_test(test_zstd),
      cmocka_unit_test(test_truncated), cmocka_unit_test(test_corrupt),     cmocka_unit_test(test_file_and_map),
      cmocka_unit_test(test_refused),   cmocka_unit_test(test_peek),        cmocka_unit_test(test_stdin_pipe),
      cmocka_unit_test(test_window),    cmocka_unit_test(test_window_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
