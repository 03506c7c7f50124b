/* test_live.c - a run that is judged while it goes on. */
#include "cli/commands/test_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands/check.h"
#include "cli/commands/run_report.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

/* Runs longer than this are judged live; up to so many transactions are checked again as a whole for the report. */
enum { LIVE_SECONDS = 30, WHOLE_MOST = 2000000, FAR_BEHIND = 20000 };

/* ---- for other programs: live.json beside the history ---- */

static void count_field(isoproof_json *json, const char *name, uint64_t count) {
  isoproof_json_name(json, name);
  isoproof_json_u64(json, count);
}

static void number_field(isoproof_json *json, const char *name, double number) {
  isoproof_json_name(json, name);
  isoproof_json_number(json, number);
}

static void put_run(isoproof_json *json, const isoproof_run_progress *p) {
  const isoproof_run_counts *c = p->counts;
  isoproof_json_name(json, "run");
  isoproof_json_object(json);
  number_field(json, "seconds", c->seconds);
  number_field(json, "seconds_limit", p->seconds_limit);
  count_field(json, "sessions", p->sessions_live);
  count_field(json, "committed", c->committed);
  count_field(json, "aborted", c->aborted);
  count_field(json, "unknown", c->unknown);
  number_field(json, "per_second", p->rate);
  isoproof_json_name(json, "latency_ms");
  isoproof_json_object(json);
  number_field(json, "p50", (double)c->p50_ns * 1e-6);
  number_field(json, "p90", (double)c->p90_ns * 1e-6);
  number_field(json, "p99", (double)c->p99_ns * 1e-6);
  number_field(json, "max", (double)c->max_ns * 1e-6);
  isoproof_json_end(json);
  isoproof_json_name(json, "fault");
  isoproof_json_string(json, p->fault);
  isoproof_json_end(json);
}

static bool put_state(const test_live *live, const isoproof_run_progress *p, FILE *out) {
  isoproof_json *json;
  isoproof_error error = {.offset = -1};
  if (isoproof_json_open(write_stream, out, &json, &error) != ISOPROOF_OK) return false;
  isoproof_json_object(json);
  count_field(json, "schema", 1);
  isoproof_json_name(json, "command");
  isoproof_json_string(json, live->t->plan.command);
  isoproof_json_name(json, "updated");
  isoproof_json_i64(json, (int64_t)time(NULL));
  put_run(json, p);
  isoproof_json_name(json, "live");
  isoproof_json_object(json);
  live_fields(json, &live->status);
  isoproof_json_end(json);
  isoproof_json_end(json);
  isoproof_json_line(json);
  return isoproof_json_close(json, &error) == ISOPROOF_OK;
}

static char *state_path(const test_live *live, const char *ending) {
  char *path = NULL;
  return asprintf(&path, "%s/live.json%s", live->t->folder.round, ending) < 0 ? NULL : path;
}

/* Replaced as a whole, so that nobody reads half of it.  A disk that is full is told by the recorder. */
static void save_state(test_live *live, const isoproof_run_progress *p) {
  char *path = state_path(live, ""), *beside = state_path(live, ".new");
  FILE *out = path != NULL && beside != NULL ? fopen(beside, "we") : NULL;
  if (out != NULL) {
    bool good = put_state(live, p, out);
    if (fclose(out) != 0 || !good || rename(beside, path) != 0) unlink(beside);
  }
  free(path);
  free(beside);
}

/* ---- during the run ---- */

static void start(test_live *live) {
  const option_value *expect = &live->t->parsed->values[TEST_EXPECT];
  const char *level = expect->given ? isoproof_level_find(expect->text)->id : NULL;
  live_plan plan = {.path = live->t->folder.history,
                    .format = "jsonl",
                    .levels = level != NULL ? &level : NULL,
                    .level_count = level != NULL ? 1 : 0,
                    .claim = level == NULL,
                    .stops = !live->t->parsed->values[TEST_KEEP_GOING].on,
                    .threads = 1};
  if (!live_judge_start(&live->judge, &plan)) live->wanted = false;
}

static void on_progress(const isoproof_run_progress *p, void *user) {
  test_live *live = user;
  char verdict[LIVE_PART_BYTES], lag[LIVE_PART_BYTES];
  const char *further[2] = {verdict, lag};
  if (live->wanted && live->judge == NULL) start(live);
  if (live->judge == NULL) {
    run_progress(p, NULL);
    return;
  }
  live_status *s = &live->status;
  live_judge_status(live->judge, s);
  uint64_t done = p->counts->committed + p->counts->aborted + p->counts->unknown;
  s->behind = done > s->judged ? done - s->judged : 0;
  atomic_store(&live->held, live->t->parsed->values[TEST_PACE].on && s->behind > FAR_BEHIND && !s->over);
  live_tell(&live->teller, s, live->t->folder.history);
  live_words(s, verdict);
  live_lag_words(s, lag);
  run_progress(p, (void *)(uintptr_t)further);
  if (p->counts->seconds - live->saved < 0.5 && live->saved > 0) return;
  live->saved = p->counts->seconds;
  save_state(live, p);
}

static bool is_over(void *user) {
  const test_live *live = user;
  return live->judge != NULL && live->status.final && live->status.over;
}

static bool is_held(void *user) { return atomic_load(&((test_live *)user)->held); }

void test_live_prepare(test_live *live, tester *t) {
  const option_value *asked = &t->parsed->values[TEST_LIVE];
  memset(live, 0, sizeof *live);
  live->t = t;
  live->wanted = asked->given ? asked->on : t->plan.run.seconds > LIVE_SECONDS;
  t->plan.run.progress = on_progress;
  t->plan.run.progress_user = live;
  t->plan.run.over = is_over;
  t->plan.run.hold = is_held;
  t->plan.run.over_user = live;
}

/* ---- after the run ---- */

/* The run tells no more how it goes. */
static void forget_state(const test_live *live) {
  char *path = state_path(live, "");
  if (path != NULL) unlink(path);
  free(path);
}

void test_live_end(test_live *live) {
  isoproof_error error = {.offset = -1};
  if (live->judge == NULL) return;
  forget_state(live);
  for (;;) {
    live_judge_status(live->judge, &live->status);
    live_tell(&live->teller, &live->status, live->t->folder.history);
    if (live->status.over || interrupted()) break;
    live_progress(&live->status);
    live_judge_wait(live->judge, 0.1);
  }
  if (!live->status.over) live_judge_stop(live->judge);
  isoproof_status status = live_judge_end(live->judge, &error);
  if (status == ISOPROOF_OK) return;
  live->wanted = false;
  if (status == ISOPROOF_ERR_CANCELLED) return;
  progress_clear();
  message_error(&error, live->t->folder.history);
}

void test_live_free(test_live *live) {
  if (live->judge != NULL) forget_state(live);
  live_judge_free(live->judge);
  live->judge = NULL;
}

bool test_live_is_long(const test_live *live) {
  return live->wanted && live->judge != NULL && live->status.judged > WHOLE_MOST;
}

isoproof_status test_live_document(const test_live *live, const char *file, isoproof_document **document,
                                   isoproof_error *error) {
  isoproof_live_document_options what = {.struct_size = sizeof what,
                                         .file = file,
                                         .format = live_judge_format(live->judge),
                                         .counts = live_judge_counts(live->judge),
                                         .asked = true,
                                         .reason = live->status.reason,
                                         .check_seconds = live->status.seconds,
                                         .peak_bytes = check_peak_bytes()};
  return isoproof_document_make_live(live_judge_checker(live->judge), &what, document, error);
}

bool test_live_agrees(const test_live *live, isoproof_verdict verdict) {
  isoproof_verdict known = live->status.verdict;
  bool decided = verdict == ISOPROOF_SATISFIED || verdict == ISOPROOF_VIOLATED;
  if (!live->wanted || live->judge == NULL || live->status.unasked) return true;
  if (!decided || known == ISOPROOF_UNDECIDED || known == verdict) return true;
  message("the verdict during the run (%s) is not that on its history (%s): please report this",
          isoproof_verdict_name(known), isoproof_verdict_name(verdict));
  return false;
}
