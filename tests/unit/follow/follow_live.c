/* Files followed in small batches into the live checker, with little memory, end with the verdicts of a check. */
#include <fcntl.h>
#include <unistd.h>

#include "tests/scratch.h"
#include "tests/unit/unit.h"

enum { ROUNDS = UNLESS_SLOW(150, 25) };

typedef struct follower {
  isoproof_live *live;
  const char *path, *format;
  uint64_t offset;
  bool last;
} follower;

static isoproof_status give_whole(void *user, isoproof_task *task, isoproof_history **history, isoproof_error *error) {
  const follower *f = user;
  return isoproof_follow_part(f->path, f->format, f->offset, f->last, task, history, error);
}

static isoproof_status take(void *user, isoproof_follow_batch *batch, isoproof_error *error) {
  follower *f = user;
  if (batch->history == NULL) return ISOPROOF_OK;
  f->offset = batch->offset;
  f->last = batch->last;
  isoproof_status status = isoproof_live_push(f->live, batch->history, batch->order, error);
  return status == ISOPROOF_OK ? isoproof_live_poll(f->live, NULL, error) : status;
}

/* A history of whatever the simulated databases do, sound or not, in a file. */
static void write_history(uint64_t *random, isoproof_format format, const char *path) {
  isoproof_error error = {.offset = -1};
  isoproof_history *history;
  isoproof_sim_options how = {.struct_size = sizeof how};
  isoproof_write_options loss = {.struct_size = sizeof loss, .lossy = true};
  isoproof_sim_defaults(&how);
  how.seed = unit_random(random);
  how.level = (isoproof_sim_level)unit_below(random, ISOPROOF_SIM_LEVELS);
  how.sessions = 2 + (uint32_t)unit_below(random, 4);
  how.txns = 10 + unit_below(random, 150);
  how.ops_min = 1;
  how.ops_max = 5;
  how.keys = 3 + (uint32_t)unit_below(random, 10);
  how.lists = format != ISOPROOF_FORMAT_PLUME && unit_below(random, 3) == 0;
  how.abort_share = 0.05;
  how.unknown_share = format == ISOPROOF_FORMAT_PLUME ? 0 : 0.05;
  if (unit_below(random, 3) == 0) how.bugs[unit_below(random, ISOPROOF_SIM_BUG_DUPLICATE_APPEND)] = 1;
  isoproof_status made = isoproof_simulate(&how, NULL, &history, NULL, &error);
  if (made == ISOPROOF_ERR_USAGE) { /* too few sessions for the bug */
    memset(how.bugs, 0, sizeof how.bugs);
    made = isoproof_simulate(&how, NULL, &history, NULL, &error);
  }
  assert_ok_error(made, error);
  assert_ok_error(isoproof_history_write(history, format, path, &loss, NULL, NULL, &error), error);
  isoproof_history_free(history);
}

static void same_verdicts(const follower *f, int round) {
  isoproof_error error = {.offset = -1};
  isoproof_history *history;
  isoproof_result *result;
  isoproof_live_verdict v = {.struct_size = sizeof v};
  isoproof_open_options how = {.struct_size = sizeof how, .format = f->format};
  assert_ok_error(isoproof_history_open(f->path, &how, NULL, &history, &error), error);
  assert_ok_error(isoproof_check(history, NULL, NULL, &result, &error), error);
  for (size_t i = 0; isoproof_live_level_at(f->live, i, &v); i++) {
    isoproof_verdict checked = isoproof_result_verdict_of(result, v.level);
    if (checked != v.verdict)
      fail_msg("round %d, %s: %s is %s, followed it was %s", round, f->format, v.level, isoproof_verdict_name(checked),
               isoproof_verdict_name(v.verdict));
  }
  isoproof_result_free(result);
  isoproof_history_free(history);
}

static void follow_many(isoproof_format format) {
  uint64_t random = 31 + (uint64_t)format;
  for (int round = 0; round < ROUNDS; round++) {
    char path[SCRATCH_BYTES];
    isoproof_error error = {.offset = -1};
    follower f = {.path = path, .format = isoproof_format_at((size_t)format)->id};
    int fd = scratch_file(path);
    assert_true(fd >= 0);
    close(fd);
    write_history(&random, format, path);
    isoproof_live_options how = {
        .struct_size = sizeof how, .horizon = 1 + unit_below(&random, 30), .whole = give_whole, .whole_user = &f};
    assert_ok_error(isoproof_live_new(&how, NULL, &f.live, &error), error);
    isoproof_follow_options follow = {.struct_size = sizeof follow,
                                      .format = f.format,
                                      .to_end = true,
                                      .most = 1 + unit_below(&random, 40),
                                      .take = take,
                                      .user = &f};
    assert_ok_error(isoproof_follow(path, &follow, NULL, &error), error);
    assert_ok_error(isoproof_live_finish(f.live, &error), error);
    same_verdicts(&f, round);
    isoproof_live_free(f.live);
    unlink(path);
  }
}

static void jepsen_in_order_of_ends(void **state) {
  (void)state;
  follow_many(ISOPROOF_FORMAT_EDN);
}

static void session_by_session(void **state) {
  (void)state;
  follow_many(ISOPROOF_FORMAT_JSONL);
  follow_many(ISOPROOF_FORMAT_PLUME);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(jepsen_in_order_of_ends), cmocka_unit_test(session_by_session)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
