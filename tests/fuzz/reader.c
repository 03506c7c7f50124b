/* reader.c - the fuzz target of one reader: whatever loads must survive everything that can be done to it.
 *
 * The name of the program ends in the id of the format, or in "any" to detect it (and to decompress): one program has
 * the names of all, as linking takes longer than fuzzing.  What loads is resolved, checked,
 * counted and written to every format that can be written; its jsonl form must read back with the same counts.
 */
#include <isoproof/isoproof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JSONL_BYTES = 1 << 26 };

static const char *format_id = "any";

int LLVMFuzzerInitialize(int *argc, char ***argv);
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

static void expect(bool condition, const char *what, const isoproof_error *error) {
  if (condition) return;
  char text[1200] = "";
  if (error != NULL) isoproof_error_format(error, text, sizeof text);
  fprintf(stderr, "broken: %s: %s\n", what, text);
  abort();
}

/* A failure must be described, and must not be a bug of ours. */
static void expect_described(isoproof_status status, const isoproof_error *error) {
  expect(status != ISOPROOF_ERR_INTERNAL, "internal error", error);
  expect(error->code == status, "the error has the code that was returned", error);
  expect(error->message[0] != '\0', "the error has a message", error);
}

static void check(isoproof_history *history, isoproof_task *task) {
  isoproof_error error = {0};
  isoproof_result *result = NULL;
  isoproof_check_options options = {.struct_size = sizeof options, .all = true, .certificate = true, .stats = true};
  isoproof_status status = isoproof_check(history, &options, task, &result, &error);
  if (status != ISOPROOF_OK) {
    expect_described(status, &error);
    return;
  }
  isoproof_render_options render = {.struct_size = sizeof render, .file = "fuzz", .load_seconds = -1};
  sink out = {0};
  expect(isoproof_result_write_json(result, &render, put, &out, &error) == ISOPROOF_OK, "json of a result", &error);
  expect(isoproof_result_write_text(result, &render, put, &out, &error) == ISOPROOF_OK, "text of a result", &error);
  for (size_t i = 0; i < isoproof_result_anomaly_count(result); i++) {
    isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
    expect(isoproof_result_anomaly_at(result, i, &anomaly), "an anomaly by number", NULL);
    expect(anomaly.explanation != NULL && anomaly.code != NULL, "an anomaly is explained", NULL);
  }
  isoproof_result_free(result);
}

static void write_all(const isoproof_history *history, isoproof_task *task) {
  isoproof_write_options options = {.struct_size = sizeof options, .compression = ISOPROOF_COMPRESS_NO, .lossy = true};
  const isoproof_format_info *format;
  for (size_t i = 0; (format = isoproof_format_at(i)) != NULL; i++) {
    if (!format->writable) continue;
    isoproof_error error = {0};
    isoproof_write_loss loss = {.struct_size = sizeof loss};
    sink out = {0};
    isoproof_status status =
        isoproof_history_write_to(history, format->format, put, &out, &options, task, &loss, &error);
    if (status != ISOPROOF_OK) expect_described(status, &error);
  }
}

/* isoproof's own text can say everything that a history can hold. */
static void reread(const isoproof_history *history, isoproof_task *task) {
  isoproof_error error = {0};
  sink out = {.keep = true};
  isoproof_write_options options = {.struct_size = sizeof options, .compression = ISOPROOF_COMPRESS_NO, .lossy = true};
  isoproof_status status =
      isoproof_history_write_to(history, ISOPROOF_FORMAT_JSONL, put, &out, &options, task, NULL, &error);
  if (status == ISOPROOF_OK) {
    isoproof_open_options open = {.struct_size = sizeof open, .format = "jsonl"};
    isoproof_history *again = NULL;
    status = isoproof_history_open_memory(out.bytes, out.count, "again", &open, task, &again, &error);
    if (status != ISOPROOF_ERR_TIMEOUT && status != ISOPROOF_ERR_MEMORY) {
      isoproof_counts before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
      expect(status == ISOPROOF_OK, "our own output reads back", &error);
      isoproof_history_counts(history, &before);
      isoproof_history_counts(again, &after);
      expect(before.sessions == after.sessions, "sessions", NULL);
      expect(before.transactions == after.transactions, "transactions", NULL);
      expect(before.committed == after.committed && before.unknown == after.unknown, "statuses", NULL);
      expect(before.operations == after.operations, "operations", NULL);
      expect(before.keys == after.keys, "keys", NULL);
    }
    isoproof_history_free(again);
  }
  free(out.bytes);
}

/* Those of a transaction: of a read by predicate there is one for each row that it may have seen, or none. */
static void look_at_operations(const isoproof_history *history, uint64_t first, uint64_t count) {
  for (uint64_t op = first; op < first + count; op++) {
    isoproof_op out = {.struct_size = sizeof out};
    isoproof_position position;
    isoproof_scalar element;
    expect(isoproof_history_op_at(history, op, &out), "an operation by number", NULL);
    isoproof_history_position_of(history, op, &position);
    if (out.element_count > 0) isoproof_history_element_at(history, op, out.element_count - 1, &element);
  }
}

static void use(isoproof_history *history, isoproof_task *task) {
  isoproof_error error = {0};
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  isoproof_stats stats = {.struct_size = sizeof stats};
  isoproof_status status = isoproof_history_resolve(history, task, &resolution, &error);
  if (status != ISOPROOF_OK) expect_described(status, &error);
  status = isoproof_history_stats(history, task, &stats, &error);
  if (status != ISOPROOF_OK) expect_described(status, &error);
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  for (uint64_t txn = 0; txn < counts.transactions; txn++) {
    isoproof_txn of = {.struct_size = sizeof of};
    expect(isoproof_history_txn_at(history, txn, &of), "a transaction by number", NULL);
    look_at_operations(history, of.first_op, of.op_count);
  }
  check(history, task);
  write_all(history, task);
  reread(history, task);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  const char *slash = strrchr((*argv)[0], '/'), *own = slash != NULL ? slash + 1 : (*argv)[0];
  expect(strncmp(own, "fuzz_", 5) == 0, "the program is called fuzz_FORMAT", NULL);
  format_id = own + 5;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bool detect = strcmp(format_id, "any") == 0;
  isoproof_open_options options = {.struct_size = sizeof options, .format = detect ? NULL : format_id};
  isoproof_history *history = NULL;
  isoproof_error error = {0};
  isoproof_task *task = NULL;
  if (isoproof_task_new(&task) != ISOPROOF_OK) return 0;
  isoproof_task_set_threads(task, 1);
  isoproof_task_set_timeout(task, 15);
  isoproof_status status = isoproof_history_open_memory(data, size, "fuzz", &options, task, &history, &error);
  if (status == ISOPROOF_OK) {
    use(history, task);
  } else {
    expect_described(status, &error);
    expect(history == NULL, "no history comes with an error", &error);
  }
  isoproof_history_free(history);
  isoproof_task_free(task);
  return 0;
}
