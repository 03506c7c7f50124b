/* reader.c - the fuzz target of one reader: whatever loads must survive everything that can be done to it.
 *
 * FUZZ_FORMAT is the id of the format, or "any" to detect it (and to decompress).  What loads is resolved, checked,
 * counted and written to every format that can be written; its jsonl form must read back with the same counts.
 */
#include <isoproof/isoproof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT "any"
#endif

enum { MOST_JSONL_BYTES = 1 << 26 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct sink {
  char *bytes; /* NULL: only count */
  size_t count, capacity;
  bool keep;
} sink;

static bool put(void *user, const void *data, size_t size) {
  sink *out = user;
  if (out->keep) {
    if (size > MOST_JSONL_BYTES - out->count) return false;
    if (out->count + size > out->capacity) {
      size_t capacity = 2 * (out->count + size);
      char *bytes = realloc(out->bytes, capacity);
      if (bytes == NULL) return false;
      out->bytes = bytes;
      out->capacity = capacity;
    }
    if (size > 0) memcpy(out->bytes + out->count, data, size);
  }
  out->count += size;
  return true;
}

static void expect(bool condition, const char *what, const isolde_error *error) {
  if (condition) return;
  char text[1200] = "";
  if (error != NULL) isolde_error_format(error, text, sizeof text);
  fprintf(stderr, "broken: %s: %s\n", what, text);
  abort();
}

/* A failure must be described, and must not be a bug of ours. */
static void expect_described(isolde_status status, const isolde_error *error) {
  expect(status != ISOLDE_ERR_INTERNAL, "internal error", error);
  expect(error->code == status, "the error has the code that was returned", error);
  expect(error->message[0] != '\0', "the error has a message", error);
}

static void check(isolde_history *history, isolde_task *task) {
  isolde_error error = {0};
  isolde_result *result = NULL;
  isolde_check_options options = {.struct_size = sizeof options, .all = true, .certificate = true, .stats = true};
  isolde_status status = isolde_check(history, &options, task, &result, &error);
  if (status != ISOLDE_OK) {
    expect_described(status, &error);
    return;
  }
  isolde_render_options render = {.struct_size = sizeof render, .file = "fuzz", .load_seconds = -1};
  sink out = {0};
  expect(isolde_result_write_json(result, &render, put, &out, &error) == ISOLDE_OK, "json of a result", &error);
  expect(isolde_result_write_text(result, &render, put, &out, &error) == ISOLDE_OK, "text of a result", &error);
  for (size_t i = 0; i < isolde_result_anomalies(result); i++) {
    isolde_anomaly anomaly;
    expect(isolde_result_anomaly(result, i, &anomaly), "an anomaly by number", NULL);
    expect(anomaly.explanation != NULL && anomaly.code != NULL, "an anomaly is explained", NULL);
  }
  isolde_result_free(result);
}

static void write_all(const isolde_history *history, isolde_task *task) {
  isolde_write_options options = {.struct_size = sizeof options, .compression = ISOLDE_COMPRESS_NO, .lossy = true};
  const isolde_format_info *format;
  for (size_t i = 0; (format = isolde_format_at(i)) != NULL; i++) {
    if (!format->writable) continue;
    isolde_error error = {0};
    isolde_write_loss loss = {0};
    sink out = {0};
    isolde_status status = isolde_history_write_to(history, format->format, put, &out, &options, task, &loss, &error);
    if (status != ISOLDE_OK) expect_described(status, &error);
  }
}

/* isolde's own text can say everything that a history can hold. */
static void reread(const isolde_history *history, isolde_task *task) {
  isolde_error error = {0};
  sink out = {.keep = true};
  isolde_write_options options = {.struct_size = sizeof options, .compression = ISOLDE_COMPRESS_NO, .lossy = true};
  isolde_status status = isolde_history_write_to(history, ISOLDE_FORMAT_JSONL, put, &out, &options, task, NULL, &error);
  if (status == ISOLDE_OK) {
    isolde_open_options open = {.struct_size = sizeof open, .format = "jsonl"};
    isolde_history *again = NULL;
    status = isolde_history_open_memory(out.bytes, out.count, "again", &open, task, &again, &error);
    if (status != ISOLDE_ERR_TIMEOUT && status != ISOLDE_ERR_MEMORY) {
      isolde_counts before, after;
      expect(status == ISOLDE_OK, "our own output reads back", &error);
      isolde_history_counts(history, &before);
      isolde_history_counts(again, &after);
      expect(before.sessions == after.sessions, "sessions", NULL);
      expect(before.transactions == after.transactions, "transactions", NULL);
      expect(before.committed == after.committed && before.unknown == after.unknown, "statuses", NULL);
      expect(before.operations == after.operations, "operations", NULL);
      expect(before.keys == after.keys, "keys", NULL);
    }
    isolde_history_free(again);
  }
  free(out.bytes);
}

static void use(isolde_history *history, isolde_task *task) {
  isolde_error error = {0};
  isolde_resolution resolution;
  isolde_stats stats;
  isolde_status status = isolde_history_resolve(history, task, &resolution, &error);
  if (status != ISOLDE_OK) expect_described(status, &error);
  status = isolde_history_stats(history, task, &stats, &error);
  if (status != ISOLDE_OK) expect_described(status, &error);
  isolde_counts counts;
  isolde_history_counts(history, &counts);
  for (uint64_t op = 0; op < counts.operations; op++) {
    isolde_op out;
    isolde_position position;
    isolde_scalar element;
    expect(isolde_history_op(history, op, &out), "an operation by number", NULL);
    isolde_history_position(history, op, &position);
    if (out.elements > 0) isolde_history_element(history, op, out.elements - 1, &element);
  }
  check(history, task);
  write_all(history, task);
  reread(history, task);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bool detect = strcmp(FUZZ_FORMAT, "any") == 0;
  isolde_open_options options = {.struct_size = sizeof options, .format = detect ? NULL : FUZZ_FORMAT};
  isolde_history *history = NULL;
  isolde_error error = {0};
  isolde_task *task = NULL;
  if (isolde_task_new(&task) != ISOLDE_OK) return 0;
  isolde_task_set_threads(task, 1);
  isolde_task_set_timeout(task, 15);
  isolde_status status = isolde_history_open_memory(data, size, "fuzz", &options, task, &history, &error);
  if (status == ISOLDE_OK) {
    use(history, task);
  } else {
    expect_described(status, &error);
    expect(history == NULL, "no history comes with an error", &error);
  }
  isolde_history_free(history);
  isolde_task_free(task);
  return 0;
}
