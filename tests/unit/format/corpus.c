/* A corpus of recorded histories, where there is one: every file loads, resolves and survives conversion.
 *
 * The corpus is data/corpus below the directory that ISOPROOF_SHARED names, or below ../shared beside the sources;
 * MANIFEST.tsv lists its files (path, format, ...).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/format/same_history.h"

static char root[1024];

static bool find_corpus(void) {
  const char *shared = getenv("ISOPROOF_SHARED");
  char manifest[1100];
  if (shared != NULL)
    snprintf(root, sizeof root, "%s/data/corpus", shared);
  else
    snprintf(root, sizeof root, "%s/../shared/data/corpus", ISOPROOF_SOURCE_ROOT);
  snprintf(manifest, sizeof manifest, "%s/MANIFEST.tsv", root);
  FILE *file = fopen(manifest, "r");
  if (file == NULL) return false;
  fclose(file);
  return true;
}

typedef struct sink {
  char *bytes;
  size_t count, capacity;
} sink;

static bool put(void *user, const void *data, size_t size) {
  sink *out = user;
  if (out->count + size > out->capacity) {
    out->capacity = 2 * (out->count + size);
    out->bytes = realloc(out->bytes, out->capacity);
    if (out->bytes == NULL) return false;
  }
  memcpy(out->bytes + out->count, data, size);
  out->count += size;
  return true;
}

static void survives(const isoproof_history *history, isoproof_format format, const char *path, sink *out) {
  isoproof_error error = {0};
  isoproof_history *again = NULL;
  isoproof_write_options write = {.struct_size = sizeof write, .compression = ISOPROOF_COMPRESS_NO};
  out->count = 0;
  isoproof_status status = isoproof_history_write_to(history, format, put, out, &write, NULL, NULL, &error);
  if (status == ISOPROOF_OK)
    status = isoproof_history_open_memory(out->bytes, out->count, "memory", NULL, NULL, &again, &error);
  if (status != ISOPROOF_OK) fail_msg("%s: format %d: %s", path, (int)format, error.message);
  same_history(history, again, (same_options){0}, path);
  isoproof_history_free(again);
}

static void one_file(const char *name, const char *format, sink *out) {
  char path[2048];
  isoproof_error error = {0};
  isoproof_history *history = NULL;
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  isoproof_counts counts = {.struct_size = sizeof counts};
  snprintf(path, sizeof path, "%s/%s", root, name);
  isoproof_status status = isoproof_history_open(path, NULL, NULL, &history, &error);
  if (status == ISOPROOF_OK) status = isoproof_history_resolve(history, NULL, &resolution, &error);
  if (status != ISOPROOF_OK) fail_msg("%s: %s", path, error.message);
  assert_string_equal(isoproof_history_format(history), format);
  isoproof_history_counts(history, &counts);
  assert_true(counts.operations > 0 && counts.transactions > 0);
  assert_int_equal(counts.committed + counts.aborted + counts.unknown, counts.transactions);
  survives(history, ISOPROOF_FORMAT_JSONL, path, out);
  survives(history, ISOPROOF_FORMAT_BINARY, path, out);
  isoproof_history_free(history);
}

static void test_corpus(void **state) {
  (void)state;
  if (!find_corpus()) {
    print_message("skipping: no corpus (set ISOPROOF_SHARED to the directory that holds data/corpus)\n");
    skip();
  }
  char manifest[1100], line[2048], last[2048] = "";
  snprintf(manifest, sizeof manifest, "%s/MANIFEST.tsv", root);
  FILE *file = fopen(manifest, "r");
  assert_non_null(file);
  sink out = {0};
  unsigned files = 0;
  assert_non_null(fgets(line, sizeof line, file)); /* the heading */
  while (fgets(line, sizeof line, file) != NULL) {
    char *save = NULL;
    const char *name = strtok_r(line, "\t\n", &save), *format = strtok_r(NULL, "\t\n", &save);
    if (name == NULL || format == NULL || strcmp(name, last) == 0) continue; /* a file has a line a level */
    one_file(name, format, &out);
    snprintf(last, sizeof last, "%s", name);
    files++;
  }
  print_message("%u histories\n", files);
  assert_true(files > 0);
  fclose(file);
  free(out.bytes);
}

/* Whether this version decides the level on every register history. */
static bool is_decided(const char *level) {
  static const char *const decided[] = {"cut-isolation", "read-committed", "read-atomic", "causal"};
  for (size_t i = 0; i < sizeof decided / sizeof decided[0]; i++) {
    if (strcmp(level, decided[i]) == 0) return true;
  }
  return false;
}

/* Every verdict that the manifest states: the same, or, for a level that is not decided yet, no other. */
static void test_verdicts(void **state) {
  (void)state;
  if (!find_corpus()) {
    print_message("skipping: no corpus (set ISOPROOF_SHARED to the directory that holds data/corpus)\n");
    skip();
  }
  char manifest[1100], line[2048], path[4096];
  snprintf(manifest, sizeof manifest, "%s/MANIFEST.tsv", root);
  FILE *file = fopen(manifest, "r");
  assert_non_null(file);
  unsigned compared = 0;
  assert_non_null(fgets(line, sizeof line, file)); /* the heading */
  while (fgets(line, sizeof line, file) != NULL) {
    char *save = NULL;
    const char *name = strtok_r(line, "\t\n", &save), *format = strtok_r(NULL, "\t\n", &save);
    const char *level = strtok_r(NULL, "\t\n", &save), *verdict = strtok_r(NULL, "\t\n", &save);
    if (name == NULL || format == NULL || level == NULL || verdict == NULL) continue;
    isoproof_history *history;
    isoproof_result *result;
    isoproof_error error = {0};
    isoproof_check_options options = {.struct_size = sizeof options, .levels = &level, .level_count = 1};
    snprintf(path, sizeof path, "%s/%s", root, name);
    isoproof_status status = isoproof_history_open(path, NULL, NULL, &history, &error);
    if (status != ISOPROOF_OK) fail_msg("%s: %s", path, error.message);
    status = isoproof_check(history, &options, NULL, &result, &error);
    if (status != ISOPROOF_OK) fail_msg("%s: %s", path, error.message);
    const char *found = isoproof_verdict_name(isoproof_result_verdict(result));
    bool open = !is_decided(level) && strcmp(found, "unknown") == 0;
    if (!open && strcmp(found, verdict) != 0) fail_msg("%s: %s is %s, not %s", path, level, verdict, found);
    compared += !open;
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
  print_message("%u verdicts\n", compared);
  assert_true(compared > 0);
  fclose(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus), cmocka_unit_test(test_verdicts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
