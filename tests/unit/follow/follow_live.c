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

/* ---- limits of memory ---- */

/* What the values of a history are like. */
typedef enum made_kind { MADE_WORDS, MADE_NUMBERS, MADE_KEYS, MADE_ROWS, MADE_KINDS } made_kind;

enum { MADE_SLOTS = 64, MADE_TXNS = UNLESS_SLOW(12000, 3000) };

/* One operation on a key that has `*value`. */
static void write_op(FILE *out, made_kind kind, bool reads, unsigned key, uint64_t value, bool first) {
  static const char *const words = "a word that is long enough to take room where it is kept for ever, number ";
  const char *verb = reads ? "r" : kind == MADE_ROWS ? "upsert" : "w";
  fprintf(out, "%s[\"%s\",%u,", first ? "" : ",", verb, key);
  if (value == 0)
    fprintf(out, "null]");
  else if (kind == MADE_WORDS)
    fprintf(out, "\"%s%llu\"]", words, (unsigned long long)value);
  else
    fprintf(out, "%llu]", (unsigned long long)value + (kind == MADE_NUMBERS ? 1000000000000u : 0));
}

/* A serial history; in a bad one somebody reads a key twice and finds two values. */
static void write_made(made_kind kind, bool bad, const char *path) {
  uint64_t values[MADE_SLOTS] = {0}, before[MADE_SLOTS] = {0}, random = 7 + (uint64_t)kind, fresh = 0;
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fprintf(out, "{\"isoproof\":1,\"initial\":null}\n");
  for (unsigned t = 0; t < MADE_TXNS; t++) {
    fprintf(out, "{\"session\":%u,\"status\":\"committed\",\"ops\":[", (unsigned)unit_below(&random, 4));
    unsigned count = 1 + (unsigned)unit_below(&random, 4);
    for (unsigned i = 0; i < count; i++) {
      unsigned slot = (unsigned)unit_below(&random, MADE_SLOTS), key = slot;
      bool reads = unit_below(&random, 2) == 0;
      if (kind == MADE_KEYS && !reads) key = MADE_SLOTS + (unsigned)++fresh; /* written once, and never seen again */
      if (!reads) before[slot] = key == slot ? values[slot] : before[slot];
      if (!reads && key == slot) values[slot] = ++fresh;
      write_op(out, kind, reads, key, key == slot ? values[slot] : fresh, i == 0);
    }
    for (unsigned slot = 0; bad && t > MADE_TXNS / 2 && slot < MADE_SLOTS; slot++) {
      if (before[slot] == 0 || before[slot] == values[slot]) continue;
      write_op(out, kind, true, slot, before[slot], false);
      write_op(out, kind, true, slot, values[slot], false);
      bad = false;
    }
    if (kind == MADE_ROWS && t % 8 == 0) fprintf(out, ",[\"rp\",{\"keys\":[1000,1010]},[]]");
    fprintf(out, "]}\n");
  }
  assert_int_equal(fclose(out), 0);
}

typedef struct limited {
  follower f;
  uint64_t limit, most;
} limited;

static isoproof_status take_limited(void *user, isoproof_follow_batch *batch, isoproof_error *error) {
  limited *l = user;
  isoproof_live_state state = {.struct_size = sizeof state};
  if (batch->history == NULL) return ISOPROOF_OK;
  l->f.offset = batch->offset;
  l->f.last = batch->last;
  isoproof_status status = isoproof_live_push(l->f.live, batch->history, batch->order, error);
  if (status == ISOPROOF_OK) status = isoproof_live_poll(l->f.live, &state, error);
  if (status != ISOPROOF_OK) return status;
  assert_true(state.bytes <= l->limit);
  if (state.bytes > l->most) l->most = state.bytes;
  return ISOPROOF_OK;
}

/* Follows it with so much memory; false when that is said to be too little. */
static bool follow_limited(const char *path, uint64_t limit, isoproof_verdict expected) {
  static const char *const level[] = {"serializable"};
  limited l = {.f = {.path = path, .format = "jsonl"}, .limit = limit};
  isoproof_error error = {.offset = -1};
  isoproof_live_options options = {.struct_size = sizeof options,
                                   .levels = level,
                                   .level_count = 1,
                                   .memory_limit = limit,
                                   .whole = give_whole,
                                   .whole_user = &l.f};
  isoproof_follow_options how = {
      .struct_size = sizeof how, .format = "jsonl", .to_end = true, .most = 500, .take = take_limited, .user = &l};
  assert_ok_error(isoproof_live_new(&options, NULL, &l.f.live, &error), error);
  isoproof_status status = isoproof_follow(path, &how, NULL, &error);
  if (status == ISOPROOF_OK) status = isoproof_live_finish(l.f.live, &error);
  if (status != ISOPROOF_OK) assert_int_equal(status, ISOPROOF_ERR_MEMORY);
  isoproof_live_verdict v = {.struct_size = sizeof v};
  assert_true(isoproof_live_level_at(l.f.live, 0, &v));
  if (status == ISOPROOF_OK) assert_int_equal(v.verdict, expected);
  isoproof_live_free(l.f.live);
  return status == ISOPROOF_OK;
}

static void keeps_to_the_memory_that_it_is_given(void **state) {
  (void)state;
  static const uint64_t limits[] = {20000, 200000, 1500000, 6000000};
  for (made_kind kind = MADE_WORDS; kind < MADE_KINDS; kind++) {
    for (int bad = 0; bad <= (kind != MADE_KEYS); bad++) { /* whose keys are written once */
      char path[SCRATCH_BYTES];
      int fd = scratch_file(path);
      assert_true(fd >= 0);
      close(fd);
      write_made(kind, bad != 0, path);
      bool fits = false;
      for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        fits = follow_limited(path, limits[i], bad != 0 ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED);
        if (i == 0) assert_false(fits);
      }
      assert_true(fits);
      unlink(path);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(jepsen_in_order_of_ends), cmocka_unit_test(session_by_session),
                                     cmocka_unit_test(keeps_to_the_memory_that_it_is_given)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
