/* Outputs: what arrives, compressed or not, in files that appear whole or not at all. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/input.h"
#include "base/output.h"
#include "tests/scratch.h"

static char directory[SCRATCH_BYTES];

static int make_directory(void **state) {
  (void)state;
  return !scratch_folder(directory);
}

static void in_directory(char *path, const char *name) { snprintf(path, 256, "%s/%s", directory, name); }

static int count_files(bool remove_them) {
  DIR *open = opendir(directory);
  assert_non_null(open);
  int count = 0;
  for (struct dirent *e; (e = readdir(open)) != NULL;) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    count++;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
    if (remove_them) unlink(path);
  }
  closedir(open);
  return count;
}

static int remove_directory(void **state) {
  (void)state;
  count_files(true);
  return rmdir(directory);
}

static char *slurp(const char *path, size_t *size) {
  isoproof_error error;
  iso_input *input;
  assert_int_equal(iso_input_open(path, &input, &error), ISOPROOF_OK);
  char *data = malloc(32 << 20);
  assert_non_null(data);
  assert_int_equal(iso_input_read(input, data, 32 << 20, size, &error), ISOPROOF_OK);
  iso_input_close(input);
  return data;
}

static void write_tokens(iso_output *output, uint32_t lines) {
  for (uint32_t i = 0; i < lines; i++) {
    iso_out_text(output, "r(");
    iso_out_u64(output, i);
    iso_out_char(output, ',');
    iso_out_i64(output, -(int64_t)i);
    iso_out_bytes(output, ")\n", 2);
  }
}

static void expect_tokens(const char *path, uint32_t lines) {
  size_t size;
  char *data = slurp(path, &size);
  size_t at = 0;
  for (uint32_t i = 0; i < lines; i++) {
    char line[64];
    int length = snprintf(line, sizeof line, "r(%u,%d)\n", i, -(int)i);
    assert_true(at + (size_t)length <= size);
    assert_memory_equal(data + at, line, (size_t)length);
    at += (size_t)length;
  }
  assert_int_equal(at, size);
  free(data);
}

static void test_compressions(void **state) {
  (void)state;
  static const struct {
    const char *name;
    isoproof_compression compression;
    unsigned char first;
  } cases[] = {{"a.txt", ISOPROOF_COMPRESS_AUTO, 'r'},      {"a.txt.gz", ISOPROOF_COMPRESS_AUTO, 0x1f},
               {"a.txt.zst", ISOPROOF_COMPRESS_AUTO, 0x28}, {"b.gz", ISOPROOF_COMPRESS_NO, 'r'},
               {"c", ISOPROOF_COMPRESS_GZIP, 0x1f},         {"d", ISOPROOF_COMPRESS_ZSTD, 0x28}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[256];
    isoproof_error error;
    iso_output *output;
    in_directory(path, cases[i].name);
    assert_int_equal(iso_output_open(path, cases[i].compression, &output, &error), ISOPROOF_OK);
    write_tokens(output, 300000);
    assert_int_equal(access(path, F_OK), -1); /* not before it is complete */
    assert_int_equal(iso_output_close(output, &error), ISOPROOF_OK);
    expect_tokens(path, 300000);
    int fd = open(path, O_RDONLY);
    unsigned char first = 0;
    assert_int_equal(read(fd, &first, 1), 1);
    close(fd);
    assert_int_equal(first, cases[i].first);
  }
  assert_int_equal(count_files(true), 6);
}

static void test_large_block(void **state) {
  (void)state;
  char path[256];
  isoproof_error error;
  iso_output *output;
  size_t size, length = (3 << 20) + 17;
  char *block = malloc(length);
  assert_non_null(block);
  memset(block, 'x', length);
  in_directory(path, "large.zst");
  assert_int_equal(iso_output_open(path, ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_OK);
  iso_out_char(output, 'a');
  iso_out_bytes(output, block, length);
  iso_out_printf(output, "%s|%0600d", "end", 7);
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_OK);
  char *data = slurp(path, &size);
  assert_int_equal(size, 1 + length + 4 + 600);
  assert_memory_equal(data + 1, block, length);
  assert_memory_equal(data + 1 + length, "end|0", 5);
  assert_int_equal(data[size - 1], '7');
  free(data);
  free(block);
  count_files(true);
}

static void test_replaces_or_keeps(void **state) {
  (void)state;
  char path[256], link[256];
  isoproof_error error;
  iso_output *output;
  size_t size;
  in_directory(path, "kept.txt");
  in_directory(link, "link.txt");
  assert_int_equal(iso_output_open(path, ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_OK);
  iso_out_text(output, "old");
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_OK);
  struct stat facts;
  mode_t mask = umask(0);
  umask(mask);
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 0777, 0666 & ~mask);
  assert_int_equal(chmod(path, 0640), 0);

  assert_int_equal(iso_output_open(path, ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_OK);
  iso_out_text(output, "new");
  iso_output_abandon(output);
  char *data = slurp(path, &size);
  assert_memory_equal(data, "old", 3);
  free(data);
  assert_int_equal(count_files(false), 1);

  assert_int_equal(symlink("kept.txt", link), 0);
  assert_int_equal(iso_output_open(link, ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_OK);
  iso_out_text(output, "newer");
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_OK);
  data = slurp(path, &size);
  assert_int_equal(size, 5);
  free(data);
  assert_int_equal(lstat(link, &facts), 0);
  assert_true(S_ISLNK(facts.st_mode));
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 0777, 0640);
  assert_int_equal(count_files(true), 2);
}

static void test_special_files(void **state) {
  (void)state;
  isoproof_error error;
  iso_output *output;
  struct stat facts;
  assert_int_equal(iso_output_open("/dev/null", ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_OK);
  write_tokens(output, 300000);
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_OK);
  assert_int_equal(stat("/dev/null", &facts), 0);
  assert_true(S_ISCHR(facts.st_mode));

  assert_int_equal(iso_output_open("/dev/full", ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_OK);
  write_tokens(output, 300000);
  assert_true(iso_output_failed(output));
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_ERR_IO);
  assert_string_equal(error.file, "/dev/full");
  assert_non_null(strstr(error.message, "No space left"));

  assert_int_equal(iso_output_open("/dev/full", ISOPROOF_COMPRESS_ZSTD, &output, &error), ISOPROOF_OK);
  iso_out_text(output, "short");
  assert_int_equal(iso_output_close(output, NULL), ISOPROOF_ERR_IO);
}

static void test_refused(void **state) {
  (void)state;
  isoproof_error error;
  iso_output *output = (iso_output *)1;
  assert_int_equal(iso_output_open("/nonexistent/x", ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_ERR_IO);
  assert_null(output);
  assert_string_equal(error.file, "/nonexistent/x");
  assert_int_equal(iso_output_open(directory, ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_ERR_IO);
  assert_int_equal(iso_output_close(NULL, &error), ISOPROOF_OK);
}

static void test_closed_pipe(void **state) {
  (void)state;
  isoproof_error error;
  iso_output *output;
  int ends[2], saved = dup(STDOUT_FILENO);
  void (*old)(int) = signal(SIGPIPE, SIG_IGN);
  assert_int_equal(pipe(ends), 0);
  close(ends[0]);
  fflush(stdout);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);
  isoproof_status opened = iso_output_open("-", ISOPROOF_COMPRESS_AUTO, &output, &error);
  write_tokens(output, 1000);
  isoproof_status closed = iso_output_close(output, &error);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  signal(SIGPIPE, old);
  assert_int_equal(opened, ISOPROOF_OK);
  assert_int_equal(closed, ISOPROOF_ERR_IO);
  assert_string_equal(error.file, "<stdout>");
}

typedef struct sink {
  char data[4096];
  size_t used;
  bool refuse;
} sink;

static bool take(void *user, const void *data, size_t size) {
  sink *s = user;
  if (s->refuse || s->used + size > sizeof s->data) return false;
  memcpy(s->data + s->used, data, size);
  s->used += size;
  return true;
}

static void test_callback_and_json(void **state) {
  (void)state;
  isoproof_error error;
  iso_output *output;
  sink s = {.used = 0};
  assert_int_equal(iso_output_open_callback(take, &s, ISOPROOF_COMPRESS_AUTO, &output, &error), ISOPROOF_OK);
  static const char nasty[] = "a\"b\\c\n\t\x01\x7f\xc3\xa9\xff\xe2\x82z\0\b\f\r";
  iso_out_json_string(output, nasty, sizeof nasty - 1);
  iso_out_json_string(output, "", 0);
  iso_out_u64(output, UINT64_MAX);
  iso_out_i64(output, INT64_MIN);
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_OK);
  static const char expected[] = "\"a\\\"b\\\\c\\n\\t\\u0001\x7f\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\\u0000"
                                 "\\b\\f\\r\"\"\"18446744073709551615-9223372036854775808";
  assert_int_equal(s.used, sizeof expected - 1);
  assert_memory_equal(s.data, expected, s.used);

  s.refuse = true;
  assert_int_equal(iso_output_open_callback(take, &s, ISOPROOF_COMPRESS_GZIP, &output, &error), ISOPROOF_OK);
  iso_out_text(output, "x");
  assert_int_equal(iso_output_close(output, &error), ISOPROOF_ERR_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_compressions),      cmocka_unit_test(test_large_block),
                                     cmocka_unit_test(test_replaces_or_keeps), cmocka_unit_test(test_special_files),
                                     cmocka_unit_test(test_refused),           cmocka_unit_test(test_closed_pipe),
                                     cmocka_unit_test(test_callback_and_json)};
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
