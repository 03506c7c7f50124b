/* Inputs that mean harm, for every reader: each either loads or gives one clear error with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "tests/scratch.h"
#include <isoproof/isoproof.h>

/* A small history of each text format, two transactions each. */
static const struct {
  const char *format, *text;
} samples[] = {
    {"plume", "w(1,1,0,0)\nr(1,1,1,1)\n"},
    {"viper", "{\"value\": [[\"w\", 1, 1, true]]}\n{\"value\": [[\"r\", 1, 1, true]]}\n"},
    {"edn", "{:type :ok, :process 0, :f :txn, :value [[:w 1 1]]}\n"
            "{:type :ok, :process 1, :f :txn, :value [[:r 1 1]]}\n"},
    {"json", "{\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"w\",1,1]]}\n"
             "{\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"r\",1,1]]}\n"},
    {"veristrong", "2\n0 0 A 1 1\n1 1 R 1 1 1\n"},
    {"timekiller", "[{\"tid\":1,\"sid\":0,\"sts\":{\"p\":1,\"l\":0},\"cts\":{\"p\":2,\"l\":0},"
                   "\"ops\":[{\"t\":\"w\",\"k\":1,\"v\":1}]},\n"
                   "{\"tid\":2,\"sid\":1,\"sts\":{\"p\":3,\"l\":0},\"cts\":{\"p\":4,\"l\":0},"
                   "\"ops\":[{\"t\":\"r\",\"k\":1,\"v\":1}]}]\n"},
    {"porcupine", "{:process 0, :type :invoke, :f :put, :key \"a\", :value \"1\"}\n"
                  "{:process 1, :type :invoke, :f :get, :key \"a\", :value nil}\n"
                  "{:process 0, :type :ok, :f :put, :key \"a\", :value \"1\"}\n"
                  "{:process 1, :type :ok, :f :get, :key \"a\", :value \"1\"}\n"},
    {"jepsen-log", "INFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 1\t:invoke\t:read\tnil\n"
                   "INFO  jepsen.util - 0\t:ok\t:write\t1\nINFO  jepsen.util - 1\t:ok\t:read\t1\n"},
    {"etcd", "{\"ClientId\":1,\"Input\":{\"Type\":\"range\",\"Range\":{\"Start\":\"a\"}},\"Call\":1,"
             "\"Output\":{\"Range\":{\"KVs\":[{\"Key\":\"a\",\"Value\":{\"Value\":\"1\"}}],\"Count\":1}},"
             "\"Return\":3}\n{\"ClientId\":2,\"Input\":{\"Type\":\"txn\",\"Txn\":{\"OperationsOnSuccess\":[{\"Type\":"
             "\"put-operation\",\"Put\":{\"Key\":\"a\",\"Value\":{\"Value\":\"1\"}}}]}},\"Call\":2,\"Output\":{"
             "\"Txn\":{\"Failure\":false,\"Results\":[{}]}},\"Return\":4}\n"},
    {"jsonl", NULL}, /* filled in by our own writer */
};
enum { SAMPLES = sizeof samples / sizeof *samples };
static char jsonl_text[4096];

static const char *sample(size_t number) { return samples[number].text != NULL ? samples[number].text : jsonl_text; }

static bool put_text(void *user, const void *data, size_t size) {
  size_t used = strlen(user);
  if (used + size + 1 > sizeof jsonl_text) return false;
  memcpy((char *)user + used, data, size);
  ((char *)user)[used + size] = '\0';
  return true;
}

static isoproof_status open_bytes(const void *bytes, size_t size, const char *format, isoproof_counts *counts,
                                  isoproof_error *error) {
  isoproof_history *history = NULL;
  isoproof_open_options options = {.struct_size = sizeof options, .format = format};
  memset(error, 0, sizeof *error);
  isoproof_status status = isoproof_history_open_memory(bytes, size, "hostile", &options, NULL, &history, error);
  *counts = (isoproof_counts){.struct_size = sizeof *counts};
  if (status == ISOPROOF_OK) isoproof_history_counts(history, counts);
  isoproof_history_free(history);
  return status;
}

/* One clear error: its code, its file, a place in it, a message of one printable line. */
static void expect_clear(isoproof_status status, const isoproof_error *error, const char *what, const char *format) {
  if (status == ISOPROOF_OK) return;
  if (status != ISOPROOF_ERR_FORMAT && status != ISOPROOF_ERR_LIMIT)
    fail_msg("%s as %s: %s: %s", what, format, isoproof_status_name(status), error->message);
  assert_int_equal(error->code, status);
  assert_string_equal(error->file, "hostile");
  if (error->line == 0 && error->offset < 0) fail_msg("%s as %s: no place: %s", what, format, error->message);
  assert_true(strlen(error->message) > 10);
  for (const char *c = error->message; *c; c++) assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static int make_jsonl(void **state) {
  (void)state;
  isoproof_history *history;
  isoproof_error error;
  isoproof_open_options open = {.struct_size = sizeof open, .format = "plume"};
  isoproof_write_options write = {.struct_size = sizeof write, .compression = ISOPROOF_COMPRESS_NO};
  if (isoproof_history_open_memory(samples[0].text, strlen(samples[0].text), "sample", &open, NULL, &history, &error))
    return 1;
  isoproof_status status =
      isoproof_history_write_to(history, ISOPROOF_FORMAT_JSONL, put_text, jsonl_text, &write, NULL, NULL, &error);
  isoproof_history_free(history);
  return status != ISOPROOF_OK;
}

static void test_samples_load(void **state) {
  (void)state;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_error error;
  for (size_t i = 0; i < SAMPLES; i++) {
    isoproof_status status = open_bytes(sample(i), strlen(sample(i)), samples[i].format, &counts, &error);
    if (status != ISOPROOF_OK) fail_msg("%s: %s", samples[i].format, error.message);
    assert_int_equal(counts.transactions, 2);
    assert_int_equal(counts.operations, 2);
  }
}

static void test_nul_bytes(void **state) {
  (void)state;
  char text[4096];
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_error error;
  for (size_t i = 0; i < SAMPLES; i++) {
    size_t length = strlen(sample(i));
    for (size_t at = 0; at < length; at++) {
      memcpy(text, sample(i), length);
      text[at] = '\0';
      expect_clear(open_bytes(text, length, samples[i].format, &counts, &error), &error, "a NUL byte",
                   samples[i].format);
    }
    memset(text, 0, sizeof text);
    isoproof_status status = open_bytes(text, sizeof text, samples[i].format, &counts, &error);
    assert_int_not_equal(status, ISOPROOF_OK);
    expect_clear(status, &error, "only NUL bytes", samples[i].format);
  }
}

static void test_truncated_and_flipped(void **state) {
  (void)state;
  char text[4096];
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_error error;
  for (size_t i = 0; i < SAMPLES; i++) {
    size_t length = strlen(sample(i));
    for (size_t at = 0; at < length; at++) {
      memcpy(text, sample(i), length);
      expect_clear(open_bytes(text, at, samples[i].format, &counts, &error), &error, "a beginning", samples[i].format);
      text[at] = (char)(text[at] ^ 0x80);
      expect_clear(open_bytes(text, length, samples[i].format, &counts, &error), &error, "a flipped bit",
                   samples[i].format);
    }
  }
}

static void test_line_endings(void **state) {
  (void)state;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_error error;
  for (size_t i = 0; i < SAMPLES; i++) {
    char text[8192];
    size_t count = 0;
    for (const char *c = sample(i); *c; c++) {
      if (*c == '\n') text[count++] = '\r';
      text[count++] = *c;
    }
    isoproof_status status = open_bytes(text, count, samples[i].format, &counts, &error);
    if (status != ISOPROOF_OK) fail_msg("%s with CR LF: %s", samples[i].format, error.message);
    assert_int_equal(counts.transactions, 2);
    status = open_bytes(sample(i), strlen(sample(i)) - 1, samples[i].format, &counts, &error);
    if (status != ISOPROOF_OK) fail_msg("%s without last newline: %s", samples[i].format, error.message);
    assert_int_equal(counts.transactions, 2);
    assert_int_equal(counts.operations, 2);
  }
}

static void test_nothing(void **state) {
  (void)state;
  static const char *const nothings[] = {"", " ", "\n", "\r\n", "\t \n\n  \n"};
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_error error;
  for (size_t n = 0; n < sizeof nothings / sizeof *nothings; n++) {
    for (size_t i = 0; i < SAMPLES; i++) {
      expect_clear(open_bytes(nothings[n], strlen(nothings[n]), samples[i].format, &counts, &error), &error, "nothing",
                   samples[i].format);
      assert_int_equal(counts.operations, 0);
    }
    isoproof_status status = open_bytes(nothings[n], strlen(nothings[n]), NULL, &counts, &error);
    assert_int_equal(status, ISOPROOF_ERR_FORMAT);
    assert_true(error.message[0] != '\0');
  }
  assert_int_equal(open_bytes(NULL, 0, NULL, &counts, &error), ISOPROOF_ERR_FORMAT);
}

/* ---- bombs: a short frame with the beginning, then a frame that stands for a gigabyte of one character ---- */

typedef struct bytes {
  char *data;
  size_t count;
} bytes;

static bytes zstd_frame(const char *text, size_t length, uint64_t repeat) {
  size_t block = length * (size_t)repeat;
  bytes out = {malloc(1 << 20), 0};
  assert_non_null(out.data);
  ZSTD_CCtx *context = ZSTD_createCCtx();
  char *chunk = malloc(1 << 20);
  assert_true(context != NULL && chunk != NULL);
  for (size_t i = 0; i < 1 << 20; i++) chunk[i] = text[i % length];
  ZSTD_outBuffer to = {out.data, 1 << 20, 0};
  for (size_t left = block; left > 0;) {
    size_t size = left < 1 << 20 ? left : 1 << 20;
    ZSTD_inBuffer from = {chunk, size, 0};
    left -= size;
    size_t rest;
    do {
      rest = ZSTD_compressStream2(context, &to, &from, left == 0 ? ZSTD_e_end : ZSTD_e_continue);
      assert_false(ZSTD_isError(rest));
    } while (from.pos < from.size || (left == 0 && rest != 0));
  }
  out.count = to.pos;
  free(chunk);
  ZSTD_freeCCtx(context);
  return out;
}

static long peak_kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static bool sanitized(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

static void test_endless_line(void **state) {
  (void)state;
  /* What each format would read on and on: a word (a gigabyte of it), a number, a string, nesting. */
  static const char *const endless[] = {"a", "1", "\"", "[", "("};
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_error error;
  for (size_t e = 0; e < sizeof endless / sizeof *endless; e++) {
    /* A second byte of 'a' turns the opening quote into an endless string. */
    bytes bomb = zstd_frame(endless[e][0] == '"' ? "a" : endless[e], 1, UINT64_C(1) << (e == 0 ? 30 : 26));
    for (size_t i = 0; i < SAMPLES; i++) {
      char head[4200];
      int length = snprintf(head, sizeof head, "%s%s", sample(i), endless[e]);
      bytes start = zstd_frame(head, (size_t)length, 1);
      char *both = malloc(start.count + bomb.count);
      assert_non_null(both);
      memcpy(both, start.data, start.count);
      memcpy(both + start.count, bomb.data, bomb.count);
      isoproof_status status = open_bytes(both, start.count + bomb.count, samples[i].format, &counts, &error);
      /* Our own text may end in a line that its writer did not finish. */
      if (status == ISOPROOF_OK && (samples[i].text != NULL || counts.transactions != 2))
        fail_msg("%s with an endless %s loads", samples[i].format, endless[e]);
      expect_clear(status, &error, "an endless line", samples[i].format);
      free(both);
      free(start.data);
    }
    free(bomb.data);
  }
  if (!sanitized()) assert_true(peak_kilobytes() < 1024 * 1024);
}

static bytes gzip_bomb(uint64_t total, char fill) {
  z_stream stream = {0};
  bytes out = {malloc(2 << 20), 0};
  char *chunk = malloc(1 << 20);
  assert_true(out.data != NULL && chunk != NULL);
  memset(chunk, fill, 1 << 20);
  assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_out = (unsigned char *)out.data;
  stream.avail_out = 2 << 20;
  for (uint64_t done = 0; done < total; done += 1 << 20) {
    stream.next_in = (unsigned char *)chunk;
    stream.avail_in = 1 << 20;
    deflate(&stream, done + (1 << 20) >= total ? Z_FINISH : Z_NO_FLUSH);
  }
  out.count = (2u << 20) - stream.avail_out;
  deflateEnd(&stream);
  free(chunk);
  return out;
}

static void test_gzip_bomb(void **state) {
  (void)state;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_error error;
  bytes bomb = gzip_bomb(UINT64_C(64) << 20, '7');
  for (size_t i = 0; i < SAMPLES; i++) {
    isoproof_status status = open_bytes(bomb.data, bomb.count, samples[i].format, &counts, &error);
    assert_int_not_equal(status, ISOPROOF_OK);
    expect_clear(status, &error, "a gzip bomb", samples[i].format);
    /* Cut short, it is damaged as well. */
    status = open_bytes(bomb.data, 40, samples[i].format, &counts, &error);
    assert_int_not_equal(status, ISOPROOF_OK);
  }
  assert_int_not_equal(open_bytes(bomb.data, bomb.count, NULL, &counts, &error), ISOPROOF_OK);
  free(bomb.data);
}

/* ---- paths ---- */

static isoproof_status open_path(const char *path, isoproof_error *error) {
  isoproof_history *history = NULL;
  memset(error, 0, sizeof *error);
  isoproof_status status = isoproof_history_open(path, NULL, NULL, &history, error);
  isoproof_history_free(history);
  return status;
}

static void test_paths(void **state) {
  (void)state;
  isoproof_error error;
  char directory[SCRATCH_BYTES], path[SCRATCH_BYTES + 16];
  assert_true(scratch_folder(directory));
  isoproof_status status = open_path(directory, &error);
  assert_true(status == ISOPROOF_ERR_FORMAT || status == ISOPROOF_ERR_IO);
  assert_non_null(strstr(error.file, directory));
  snprintf(path, sizeof path, "%s/absent.txt", directory);
  assert_int_equal(open_path(path, &error), ISOPROOF_ERR_IO);
  assert_string_equal(error.file, path);
  assert_int_equal(open_path("", &error), ISOPROOF_ERR_IO);

  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(samples[0].text, file);
  fclose(file);
  assert_int_equal(open_path(path, &error), ISOPROOF_OK);
  assert_int_equal(chmod(path, 0), 0);
  bool root = geteuid() == 0;
  if (root) assert_int_equal(seteuid(65534), 0); /* root may read everything */
  status = open_path(path, &error);
  if (root) assert_int_equal(seteuid(0), 0);
  assert_int_equal(status, ISOPROOF_ERR_IO);
  assert_true(error.message[0] != '\0');
  unlink(path);
  rmdir(directory);
}

static bool refuse(void *user, const void *data, size_t size) {
  (void)user, (void)data, (void)size;
  return false;
}

static void test_full_disk(void **state) {
  (void)state;
  isoproof_error error;
  isoproof_history *history;
  isoproof_open_options open = {.struct_size = sizeof open, .format = "plume"};
  assert_int_equal(
      isoproof_history_open_memory(samples[0].text, strlen(samples[0].text), "sample", &open, NULL, &history, &error),
      ISOPROOF_OK);
  const isoproof_format_info *format;
  for (size_t i = 0; (format = isoproof_format_at(i)) != NULL; i++) {
    /* Formats of calls need times, which the sample has none of. */
    bool calls = format->format >= ISOPROOF_FORMAT_PORCUPINE && format->format <= ISOPROOF_FORMAT_ETCD;
    if (!format->writable || calls) continue;
    for (int way = ISOPROOF_COMPRESS_NO; way <= ISOPROOF_COMPRESS_ZSTD; way++) {
      isoproof_write_options options = {
          .struct_size = sizeof options, .compression = (isoproof_compression)way, .lossy = true};
      assert_int_equal(isoproof_history_write_to(history, format->format, refuse, NULL, &options, NULL, NULL, &error),
                       ISOPROOF_ERR_IO);
      if (access("/dev/full", W_OK) != 0) continue;
      memset(&error, 0, sizeof error);
      assert_int_equal(isoproof_history_write(history, format->format, "/dev/full", &options, NULL, NULL, &error),
                       ISOPROOF_ERR_IO);
      assert_string_equal(error.file, "/dev/full");
    }
    assert_int_equal(
        isoproof_history_write(history, format->format, "/nonexistent/directory/file", NULL, NULL, NULL, &error),
        ISOPROOF_ERR_IO);
  }
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_samples_load),
      cmocka_unit_test(test_nul_bytes),
      cmocka_unit_test(test_truncated_and_flipped),
      cmocka_unit_test(test_line_endings),
      cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_endless_line),
      cmocka_unit_test(test_gzip_bomb),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_full_disk),
  };
  return cmocka_run_group_tests(tests, make_jsonl, NULL);
}
