/* Cobra logs: records, special write-ids, logs that are cut off, directories. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/scratch.h"
#include "tests/unit/format/format_bytes.h"

#define INIT UINT64_C(0xbebeebee)
#define NOTHING UINT64_C(0xdeadbeef)
#define COLLECTED UINT64_C(0x23332333)

static void put_start(bytes *b, uint64_t txn) { put_byte(b, 'S'), put_big64(b, txn); }
static void put_commit(bytes *b, uint64_t txn) { put_byte(b, 'C'), put_big64(b, txn); }

static void put_write(bytes *b, uint64_t id, uint64_t key, uint64_t value) {
  put_byte(b, 'W');
  put_big64(b, id), put_big64(b, key), put_big64(b, value);
}

static void put_read(bytes *b, uint64_t writer, uint64_t id, uint64_t key, uint64_t value) {
  put_byte(b, 'R');
  put_big64(b, writer), put_big64(b, id), put_big64(b, key), put_big64(b, value);
}

static bytes small_log(void) {
  bytes b = {NULL, 0, 0};
  put_start(&b, 10);
  put_write(&b, 77, UINT64_C(1) << 60, 5);
  put_read(&b, INIT, INIT, 2, 0);
  put_read(&b, NOTHING, 0, 3, 0);
  put_commit(&b, 10);
  put_start(&b, 11); /* never commits */
  put_read(&b, 1, COLLECTED, 4, 0);
  put_write(&b, COLLECTED, 4, 0);
  put_start(&b, 12);
  put_read(&b, 10, 77, UINT64_C(1) << 60, 5);
  put_commit(&b, 12);
  put_start(&b, 13); /* the log ends inside */
  return b;
}

static void test_small(void **state) {
  (void)state;
  bytes b = small_log();
  isoproof_error error;
  isoproof_history *history;
  assert_int_equal(open_bytes(b.data, b.count, NULL, &history, &error), ISOPROOF_OK);
  assert_string_equal(isoproof_history_format(history), "cobra");
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  assert_int_equal(counts.sessions, 1);
  assert_int_equal(counts.transactions, 4);
  assert_int_equal(counts.committed, 2);
  assert_int_equal(counts.aborted, 2);
  assert_int_equal(counts.operations, 5);
  static const isoproof_scalar_type types[] = {ISOPROOF_INTEGER, ISOPROOF_NIL, ISOPROOF_NIL, ISOPROOF_NONE,
                                               ISOPROOF_INTEGER};
  for (uint64_t i = 0; i < 5; i++) {
    isoproof_op op = {.struct_size = sizeof op};
    assert_true(isoproof_history_op_at(history, i, &op));
    assert_int_equal(op.value.type, types[i]);
    assert_int_equal(op.kind, i == 0 ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ);
  }
  isoproof_txn txn = {.struct_size = sizeof txn};
  assert_true(isoproof_history_txn_at(history, 2, &txn));
  assert_true(txn.has_id);
  assert_int_equal(txn.id, 12);
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  assert_int_equal(isoproof_history_resolve(history, NULL, &resolution, &error), ISOPROOF_OK);
  assert_int_equal(resolution.thin_air, 0);
  assert_int_equal(resolution.initial, 2);
  isoproof_position position;
  assert_true(isoproof_history_position_of(history, 4, &position));
  assert_int_equal(position.offset, 9 + 25 + 33 + 33 + 9 + 9 + 33 + 25);
  isoproof_history_free(history);
  bytes_free(&b);
}

static void test_truncated_everywhere(void **state) {
  (void)state;
  bytes b = small_log();
  size_t boundaries = 0;
  for (size_t cut = 0; cut < b.count; cut++) {
    isoproof_error error = {0};
    isoproof_history *history;
    isoproof_status status = open_bytes(b.data, cut, "cobra", &history, &error);
    if (status == ISOPROOF_OK) {
      boundaries++;
      touch_history(history);
      isoproof_history_free(history);
    } else {
      assert_int_equal(status, ISOPROOF_ERR_FORMAT);
      assert_true(error.offset >= 0 && (size_t)error.offset < cut);
      assert_non_null(strstr(error.message, "truncated log"));
    }
  }
  assert_int_equal(boundaries, 12); /* before each of the twelve records */
  bytes_free(&b);
}

static void test_flipped_everywhere(void **state) {
  (void)state;
  bytes b = small_log();
  for (size_t i = 0; i < b.count; i++) {
    for (int bit = 0; bit < 8; bit++) {
      b.data[i] = (char)(b.data[i] ^ 1 << bit);
      isoproof_history *history;
      if (open_bytes(b.data, b.count, "cobra", &history, NULL) == ISOPROOF_OK) touch_history(history);
      isoproof_history_free(history);
      b.data[i] = (char)(b.data[i] ^ 1 << bit);
    }
  }
  bytes_free(&b);
}

static void test_refused(void **state) {
  (void)state;
  bytes b = {NULL, 0, 0};
  put_write(&b, 1, 2, 3);
  expect_refused(&b, "cobra", ISOPROOF_ERR_FORMAT, "expected S, the start of a transaction, found W");
  b.count = 0;
  put_start(&b, 1);
  put_commit(&b, 2);
  expect_refused(&b, "cobra", ISOPROOF_ERR_FORMAT, "expected the commit of transaction 1, found that of transaction 2");
  b.count = 0;
  put_start(&b, 1);
  put_byte(&b, 'X');
  expect_refused(&b, "cobra", ISOPROOF_ERR_FORMAT, "expected a record (S, W, R or C), found `X`");
  bytes_free(&b);
}

static void write_file(const char *directory, const char *name, const bytes *b) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(b->data, 1, b->count, file), b->count);
  fclose(file);
}

static void remove_all(const char *directory) {
  DIR *open = opendir(directory);
  assert_non_null(open);
  for (struct dirent *e; (e = readdir(open)) != NULL;) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
    unlink(path);
  }
  closedir(open);
  rmdir(directory);
}

static void test_directory(void **state) {
  (void)state;
  char directory[SCRATCH_BYTES];
  assert_true(scratch_folder(directory));
  bytes one = {NULL, 0, 0}, two = {NULL, 0, 0};
  put_start(&one, 1), put_write(&one, 5, 6, 7), put_commit(&one, 1);
  put_start(&two, 2), put_read(&two, 1, 5, 6, 7), put_commit(&two, 2);
  isoproof_error error;
  isoproof_history *history;
  assert_int_equal(isoproof_history_open(directory, NULL, NULL, &history, &error), ISOPROOF_ERR_FORMAT);
  write_file(directory, "T10.log", &two);
  write_file(directory, "T2.log", &one);
  write_file(directory, "README", &one);
  assert_int_equal(isoproof_history_open(directory, NULL, NULL, &history, &error), ISOPROOF_OK);
  isoproof_session session = {.struct_size = sizeof session};
  assert_true(isoproof_history_session_at(history, 0, &session));
  assert_int_equal(session.name.integer, 2);
  assert_true(isoproof_history_session_at(history, 1, &session));
  assert_int_equal(session.name.integer, 10);
  isoproof_position position;
  assert_true(isoproof_history_position_of(history, 1, &position));
  assert_non_null(strstr(position.file, "T10.log"));
  assert_int_equal(position.offset, 0);
  isoproof_history_free(history);
  isoproof_open_options plume = {.struct_size = sizeof plume, .format = "plume"};
  assert_int_equal(isoproof_history_open(directory, &plume, NULL, &history, &error), ISOPROOF_ERR_USAGE);
  write_file(directory, "T2.log.gz", &one);
  assert_int_equal(isoproof_history_open(directory, NULL, NULL, &history, &error), ISOPROOF_ERR_FORMAT);
  assert_non_null(strstr(error.message, "second one for session 2"));
  remove_all(directory);
  bytes_free(&one), bytes_free(&two);
}

static void test_corpus(void **state) {
  (void)state;
  const char *corpus = shared_corpus();
  if (corpus == NULL) skip();
  static const struct {
    const char *name;
    uint64_t sessions, txns, ops;
  } known[] = {{"cock-G2", 10, 446, 1338}, {"yuga-G2-a", 15, 37190, 86792}};
  for (size_t i = 0; i < 2; i++) {
    char path[1200];
    isoproof_error error;
    isoproof_history *history;
    isoproof_counts counts = {.struct_size = sizeof counts};
    snprintf(path, sizeof path, "%s/cobra/%s", corpus, known[i].name);
    assert_int_equal(isoproof_history_open(path, NULL, NULL, &history, &error), ISOPROOF_OK);
    isoproof_history_counts(history, &counts);
    assert_int_equal(counts.sessions, known[i].sessions);
    assert_int_equal(counts.transactions, known[i].txns);
    assert_int_equal(counts.operations, known[i].ops);
    isoproof_history_free(history);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small),
                                     cmocka_unit_test(test_truncated_everywhere),
                                     cmocka_unit_test(test_flipped_everywhere),
                                     cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_directory),
                                     cmocka_unit_test(test_corpus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
