/* Files that grow, pipes, and what may happen to them while they are followed. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/scratch.h"
#include "tests/unit/unit.h"

enum { TXNS = 400, LINE = 128 };

/* ---- a history that somebody writes ---- */

static size_t line_of(int number, char line[LINE]) {
  if (number == 0) return (size_t)snprintf(line, LINE, "{\"isoproof\":1,\"initial\":null,\"finished\":\"no\"}\n");
  if (number > TXNS) return (size_t)snprintf(line, LINE, "{\"isoproof\":1,\"finished\":\"yes\"}\n");
  return (size_t)snprintf(line, LINE,
                          "{\"session\":%d,\"status\":\"committed\",\"start\":%d,\"end\":%d,\"ops\":[[\"w\",%d,%d]]}\n",
                          number % 5, 10 * number, 10 * number + 5, number % 7, number);
}

static void must_write(int fd, const char *bytes, size_t size) {
  assert_int_equal(write(fd, bytes, size), (ssize_t)size);
}

/* Writes all of it, or the lines up to one; now and then half a line at a time. */
typedef struct writer {
  const char *path;
  int lines;
  pthread_t thread;
} writer;

static void *write_lines(void *argument) {
  writer *w = argument;
  uint64_t random = 5;
  int fd = open(w->path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) abort();
  for (int i = 0; i < w->lines; i++) {
    char line[LINE];
    size_t size = line_of(i, line), half = unit_below(&random, 4) == 0 ? unit_below(&random, size) : size;
    if (write(fd, line, half) < 0) abort();
    if (half < size) usleep(500);
    if (half < size && write(fd, line + half, size - half) < 0) abort();
  }
  close(fd);
  return NULL;
}

/* ---- what comes out ---- */

typedef struct reader {
  uint64_t transactions, batches, last;
  uint64_t stop_after;           /* batches, idle calls included; 0 never */
  void (*act)(const char *path); /* once, after the first batch */
  const char *path;              /* a prefix of the file must be what came so far */
  isoproof_task *task;
} reader;

static isoproof_status take(void *user, isoproof_follow_batch *batch, isoproof_error *error) {
  reader *r = user;
  (void)error;
  r->batches++;
  r->last += batch->last;
  if (batch->history != NULL) {
    isoproof_counts counts = {.struct_size = sizeof counts};
    isoproof_history_counts(batch->history, &counts);
    r->transactions += counts.transactions;
    assert_int_equal(r->transactions, batch->transactions);
    isoproof_history *part = NULL;
    if (r->path != NULL) {
      assert_int_equal(isoproof_follow_part(r->path, NULL, batch->offset, batch->last, NULL, &part, NULL), ISOPROOF_OK);
      isoproof_history_counts(part, &counts);
      assert_int_equal(counts.transactions, r->transactions);
      isoproof_history_free(part);
    }
  }
  if (r->act != NULL && r->transactions > 0) {
    r->act(r->path);
    r->act = NULL;
    r->path = NULL;
  }
  if (r->stop_after > 0 && r->batches >= r->stop_after) isoproof_task_cancel(r->task);
  return ISOPROOF_OK;
}

static isoproof_status follow(const char *path, reader *r, bool to_end, isoproof_error *error) {
  isoproof_follow_options how = {.struct_size = sizeof how, .to_end = to_end, .most = 50, .take = take, .user = r};
  return isoproof_follow(path, &how, r->task, error);
}

static void make_file(char path[SCRATCH_BYTES], int lines) {
  int fd = scratch_file(path);
  assert_true(fd >= 0);
  for (int i = 0; i < lines; i++) {
    char line[LINE];
    must_write(fd, line, line_of(i, line));
  }
  close(fd);
}

/* ---- tests ---- */

static void follows_until_the_writer_has_finished(void **state) {
  (void)state;
  char path[SCRATCH_BYTES];
  isoproof_error error = {.offset = -1};
  make_file(path, 0);
  writer w = {.path = path, .lines = TXNS + 2};
  reader r = {.path = path};
  assert_int_equal(pthread_create(&w.thread, NULL, write_lines, &w), 0);
  assert_ok_error(follow(path, &r, false, &error), error);
  pthread_join(w.thread, NULL);
  assert_int_equal(r.transactions, TXNS);
  assert_int_equal(r.last, 1);
  unlink(path);
}

static void follows_a_pipe_to_its_end(void **state) {
  (void)state;
  char folder[SCRATCH_BYTES], path[SCRATCH_BYTES + 8];
  isoproof_error error = {.offset = -1};
  assert_true(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/pipe", folder);
  assert_int_equal(mkfifo(path, 0600), 0);
  writer w = {.path = path, .lines = TXNS / 2};
  reader r = {.last = 0};
  assert_int_equal(pthread_create(&w.thread, NULL, write_lines, &w), 0);
  assert_ok_error(follow(path, &r, false, &error), error);
  pthread_join(w.thread, NULL);
  assert_int_equal(r.transactions, TXNS / 2 - 1);
  unlink(path);
  rmdir(folder);
}

static void ends_at_the_end_when_asked_to(void **state) {
  (void)state;
  char path[SCRATCH_BYTES];
  isoproof_error error = {.offset = -1};
  reader r = {.last = 0};
  make_file(path, 100);
  assert_ok_error(follow(path, &r, true, &error), error);
  assert_int_equal(r.transactions, 99);
  unlink(path);
}

static void can_be_cancelled(void **state) {
  (void)state;
  char path[SCRATCH_BYTES];
  isoproof_error error = {.offset = -1};
  reader r = {.stop_after = 3};
  make_file(path, 100);
  assert_ok(isoproof_task_new(&r.task));
  assert_int_equal(follow(path, &r, false, &error), ISOPROOF_ERR_CANCELLED);
  assert_int_equal(r.transactions, 99);
  isoproof_task_free(r.task);
  unlink(path);
}

static void shorten(const char *path) { assert_int_equal(truncate(path, 100), 0); }
static void take_away(const char *path) { assert_int_equal(unlink(path), 0); }
static void replace(const char *path) {
  char other[SCRATCH_BYTES + 8];
  snprintf(other, sizeof other, "%s.other", path);
  int fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  close(fd);
  assert_int_equal(rename(other, path), 0);
}

static void sees_that_a_file_is_not_the_same_any_more(void **state) {
  (void)state;
  static const struct {
    void (*act)(const char *path);
    const char *words;
  } cases[] = {{shorten, "became shorter"}, {take_away, "was removed"}, {replace, "another file"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[SCRATCH_BYTES];
    isoproof_error error = {.offset = -1};
    make_file(path, 100);
    reader r = {.act = cases[i].act, .path = path};
    assert_int_equal(follow(path, &r, false, &error), ISOPROOF_ERR_IO);
    assert_non_null(strstr(error.message, cases[i].words));
    unlink(path);
  }
}

static void names_the_line_of_what_is_wrong(void **state) {
  (void)state;
  char path[SCRATCH_BYTES];
  isoproof_error error = {.offset = -1};
  reader r = {.last = 0};
  make_file(path, 100);
  int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  must_write(fd, "{\"session\":1,\"status\":\"lost\"}\n", 30);
  close(fd);
  assert_int_equal(follow(path, &r, false, &error), ISOPROOF_ERR_FORMAT);
  assert_int_equal(error.line, 101);
  unlink(path);
}

/* A half line at the end belongs to a writer that was interrupted. */
static void leaves_a_half_line_out(void **state) {
  (void)state;
  char path[SCRATCH_BYTES];
  isoproof_error error = {.offset = -1};
  reader r = {.last = 0};
  make_file(path, 100);
  int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  must_write(fd, "{\"session\":1,\"sta", 17);
  close(fd);
  assert_ok_error(follow(path, &r, true, &error), error);
  assert_int_equal(r.transactions, 99);
  unlink(path);
}

static void write_history(const char *path, isoproof_format format, isoproof_compression compression) {
  isoproof_error error = {.offset = -1};
  isoproof_history *history;
  isoproof_write_options how = {.struct_size = sizeof how, .compression = compression, .lossy = true};
  assert_ok_error(isoproof_simulate(NULL, NULL, &history, NULL, &error), error);
  assert_ok_error(isoproof_history_write(history, format, path, &how, NULL, NULL, &error), error);
  isoproof_history_free(history);
}

static void refuses_what_cannot_grow(void **state) {
  (void)state;
  static const struct {
    isoproof_format format;
    isoproof_compression compression;
    bool to_end;
    isoproof_status status;
  } cases[] = {{ISOPROOF_FORMAT_BINARY, ISOPROOF_COMPRESS_NO, false, ISOPROOF_ERR_UNSUPPORTED},
               {ISOPROOF_FORMAT_DBCOP, ISOPROOF_COMPRESS_NO, false, ISOPROOF_ERR_UNSUPPORTED},
               {ISOPROOF_FORMAT_BINARY, ISOPROOF_COMPRESS_NO, true, ISOPROOF_ERR_UNSUPPORTED},
               {ISOPROOF_FORMAT_JSONL, ISOPROOF_COMPRESS_GZIP, false, ISOPROOF_ERR_UNSUPPORTED},
               {ISOPROOF_FORMAT_JSONL, ISOPROOF_COMPRESS_GZIP, true, ISOPROOF_OK},
               {ISOPROOF_FORMAT_EDN, ISOPROOF_COMPRESS_NO, true, ISOPROOF_OK},
               {ISOPROOF_FORMAT_PLUME, ISOPROOF_COMPRESS_NO, true, ISOPROOF_OK}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[SCRATCH_BYTES];
    isoproof_error error = {.offset = -1};
    make_file(path, 0);
    reader r = {.path = cases[i].to_end ? path : NULL};
    write_history(path, cases[i].format, cases[i].compression);
    assert_int_equal(follow(path, &r, cases[i].to_end, &error), cases[i].status);
    if (cases[i].status == ISOPROOF_OK) assert_int_equal(r.transactions, 1000);
    unlink(path);
  }
}

static void says_what_an_unknown_input_begins_with(void **state) {
  (void)state;
  char path[SCRATCH_BYTES];
  isoproof_error error = {.offset = -1};
  reader r = {.last = 0};
  int fd = scratch_file(path);
  must_write(fd, "what is this?\n", 14);
  close(fd);
  assert_int_equal(follow(path, &r, true, &error), ISOPROOF_ERR_FORMAT);
  assert_non_null(strstr(error.message, "what is this?"));
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(follows_until_the_writer_has_finished),
                                     cmocka_unit_test(follows_a_pipe_to_its_end),
                                     cmocka_unit_test(ends_at_the_end_when_asked_to),
                                     cmocka_unit_test(can_be_cancelled),
                                     cmocka_unit_test(sees_that_a_file_is_not_the_same_any_more),
                                     cmocka_unit_test(names_the_line_of_what_is_wrong),
                                     cmocka_unit_test(leaves_a_half_line_out),
                                     cmocka_unit_test(refuses_what_cannot_grow),
                                     cmocka_unit_test(says_what_an_unknown_input_begins_with)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
