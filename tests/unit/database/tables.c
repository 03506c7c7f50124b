/* tables.c - marks of tables, runs that live or are gone, values that carry their run, and all of it on SQLite. */
#include <sys/wait.h>
#include <unistd.h>

#include "database/mark.h"
#include "tests/scratch.h"
#include "tests/unit/database/tables_suite.h"
#include "tests/unit/unit.h"

static const iso_mark sample = {.table = "orders_7",
                                .run = UINT64_C(0xfedcba9876543210),
                                .made = 1700000000,
                                .process = {.place = UINT64_C(0xa954c55321), .pid = 4194303, .started = 34359738367}};

static void same_mark(const iso_mark *a, const iso_mark *b, bool timed) {
  assert_string_equal(a->table, b->table);
  assert_true(a->run == b->run);
  if (timed) assert_true(a->made == b->made);
  assert_true(a->process.place == b->process.place && a->process.pid == b->process.pid &&
              a->process.started == b->process.started);
  assert_int_equal(a->kept, b->kept);
}

static void marks_as_texts(void **state) {
  (void)state;
  char text[ISO_MARK_BYTES], statement[ISO_MARK_BYTES + 64];
  iso_mark found, kept = sample;
  kept.kept = true;
  const iso_mark *all[] = {&sample, &kept};
  for (size_t i = 0; i < 2; i++) {
    assert_true(iso_mark_write(all[i], text) < ISO_MARK_BYTES);
    assert_true(iso_mark_fits(text, "orders_7", &found));
    same_mark(all[i], &found, true);
    snprintf(statement, sizeof statement, "CREATE TABLE orders_7 (k, l TEXT /* %s */)", text);
    assert_true(iso_mark_fits(statement, "orders_7", &found));
    same_mark(all[i], &found, true);
  }
  /* Another table's, and everything that was not written by us to the letter. */
  assert_false(iso_mark_fits(text, "orders", &found));
  assert_false(iso_mark_fits(text, "Orders_7", &found));
  static const char *const none[] = {
      "",
      "isoproof",
      "isoproof table",
      "isoproof table x",
      "isoproof table orders_7 of run 1 made 2 by process 3 started 4 at 5",
      "isoproof table orders_7 of run fedcba9876543210 made 1 by process 3 started 4 at",
      "isoproof table orders_7 of run FEDCBA9876543210 made 1 by process 3 started 4 at 0000000005",
      "isoproof table orders_7  of run fedcba9876543210 made 1 by process 3 started 4 at 0000000005",
      "isoproof table or'ders of run fedcba9876543210 made 1 by process 3 started 4 at 0000000005"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (iso_mark_read(none[i], &found)) fail_msg("taken for a mark: %s", none[i]);
  assert_false(iso_mark_read(NULL, &found));
}

static void marks_as_columns(void **state) {
  (void)state;
  char columns[ISO_MARK_COLUMNS][ISO_MARK_COLUMN_BYTES];
  iso_mark found;
  iso_mark_write_columns(&sample, columns);
  for (size_t i = 0; i < ISO_MARK_COLUMNS; i++) {
    assert_true(strlen(columns[i]) <= 30);
    /* Databases may write names in large letters. */
    for (char *c = columns[i]; *c != 0; c++)
      if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
  }
  const char *names[] = {"K", "V", "L", columns[0], columns[1], columns[2]};
  assert_true(iso_mark_fits_columns(names, 6, "orders_7", &found));
  same_mark(&sample, &found, false);
  assert_false(iso_mark_fits_columns(names, 6, "orders_8", &found));
  assert_false(iso_mark_fits_columns(names, 5, "orders_7", &found));
  assert_false(iso_mark_fits_columns(names, 0, "orders_7", &found));
  names[3] = "isoproof_r234";
  assert_false(iso_mark_fits_columns(names, 6, "orders_7", &found));
}

static void runs_live_or_are_gone(void **state) {
  (void)state;
  iso_process here, other;
  iso_process_here(&here);
  if (here.place == 0) skip(); /* a system without /proc */
  assert_int_equal(iso_process_life(&here, &here), ISO_RUN_LIVES);
  other = here;
  other.started++; /* another process that has got the number since */
  assert_int_equal(iso_process_life(&other, &here), ISO_RUN_GONE);
  other.place ^= 1;
  assert_int_equal(iso_process_life(&other, &here), ISO_RUN_ELSEWHERE);
  other.place = 0;
  assert_int_equal(iso_process_life(&other, &here), ISO_RUN_ELSEWHERE);
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  pid_t child = fork();
  if (child == 0) {
    iso_process_here(&other);
    if (write(pipes[1], &other, sizeof other) != sizeof other) _exit(1);
    pause();
    _exit(0);
  }
  assert_int_equal(read(pipes[0], &other, sizeof other), sizeof other);
  assert_int_equal(iso_process_life(&other, &here), ISO_RUN_LIVES);
  kill(child, SIGKILL);
  siginfo_t info;
  assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
  assert_int_equal(iso_process_life(&other, &here), ISO_RUN_GONE); /* dead, though nobody has asked for it yet */
  waitpid(child, NULL, 0);
  assert_int_equal(iso_process_life(&other, &here), ISO_RUN_GONE);
  close(pipes[0]);
  close(pipes[1]);
}

static void values(void **state) {
  (void)state;
  uint64_t random = 7;
  for (int i = 0; i < 20000; i++) {
    uint32_t bits = (uint32_t)(1 + unit_below(&random, ISO_MOST_TAG_BITS));
    iso_value_tag tag = iso_value_tag_of(unit_random(&random), bits);
    int64_t a = (int64_t)unit_random(&random) >> bits, b = (int64_t)unit_random(&random) >> bits, stored = 0, other = 0,
            back = 0;
    assert_true(iso_value_tag_put(&tag, a, &stored) && iso_value_tag_put(&tag, b, &other));
    assert_int_equal(a < b, stored < other);
    assert_true(iso_value_tag_get(&tag, stored, &back) && back == a);
    if (bits > 1) assert_false(iso_value_tag_get(&tag, (int64_t)unit_below(&random, UINT64_C(1) << (bits - 1)), &back));
    /* Added up as the database does it: both tags, less one. */
    int64_t x = a / 4, y = b / 4;
    iso_value_tag_put(&tag, x, &stored);
    iso_value_tag_put(&tag, y, &other);
    assert_true(iso_value_tag_get(&tag, stored + other - tag.tag, &back) && back == x + y);
    int64_t element = (int64_t)(unit_random(&random) >> 20);
    assert_true(iso_value_tag_put_element(&tag, element, &stored));
    assert_true(iso_value_tag_get_element(&tag, stored, &back) && back == element);
    assert_false(iso_value_tag_get_element(&tag, stored ^ 1, &back));
    assert_false(iso_value_tag_get_element(&tag, (int64_t)unit_below(&random, 4096), &back));
  }
  iso_value_tag tag = iso_value_tag_of(1, 22), plain = iso_value_tag_of(1, 0);
  int64_t stored;
  assert_false(iso_value_tag_put(&tag, INT64_C(1) << 41, &stored));
  assert_false(iso_value_tag_put(&tag, -(INT64_C(1) << 41) - 1, &stored));
  assert_true(iso_value_tag_put(&tag, -(INT64_C(1) << 41), &stored));
  assert_true(iso_value_tag_put(&plain, INT64_MIN, &stored) && stored == INT64_MIN);
  assert_true(iso_value_tag_get(&plain, -5, &stored) && stored == -5);
  assert_true(iso_value_tag_get_element(&plain, -5, &stored) && stored == -5);
}

#ifdef ISO_HAVE_SQLITE
static void on_sqlite(void **state) {
  (void)state;
  char folder[SCRATCH_BYTES], url[SCRATCH_BYTES + 32], path[SCRATCH_BYTES + 32];
  assert_true(scratch_folder(folder));
  static const char *const journals[] = {"delete", "wal"};
  for (size_t i = 0; i < 2; i++) {
    snprintf(url, sizeof url, "sqlite:%s/%s?journal=%s", folder, journals[i], journals[i]);
    tables_suite(url, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, journals[i]);
    unlink(path);
  }
  rmdir(folder);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(marks_as_texts), cmocka_unit_test(marks_as_columns), cmocka_unit_test(runs_live_or_are_gone),
      cmocka_unit_test(values),
#ifdef ISO_HAVE_SQLITE
      cmocka_unit_test(on_sqlite),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
