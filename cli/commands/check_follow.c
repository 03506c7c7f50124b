/* check_follow.c - `isoproof check --follow`: verdicts on a file that grows. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/check.h"
#include "cli/commands/live_show.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

/* Up to so many transactions the report in the end is that of a check of the whole, for which it is read again. */
enum { REREAD_MOST = 1000000 };

bool check_follow_allowed(const options *parsed) {
  static const int others[] = {CHECK_ANOMALY, CHECK_WORKLOAD,           CHECK_MODEL,
                               CHECK_ELLE,    CHECK_CONSISTENCY_MODELS, CHECK_TRANSACTION_ORDER};
  const option_value *v = parsed->values;
  struct stat facts;
  if (!v[CHECK_FOLLOW].given) {
    if (v[CHECK_KEEP_GOING].on) message("--keep-going goes with --follow");
    return !v[CHECK_KEEP_GOING].on;
  }
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    const option_value *other = &v[others[i]];
    if (!other->given && !other->on) continue;
    message("--follow judges levels, and does not go with --%s", check_table[others[i]].name);
    return false;
  }
  if (parsed->argument_count != 1) {
    message("--follow takes one file");
    return false;
  }
  const char *path = parsed->arguments[0];
  if (v[CHECK_RESUME].on && strcmp(path, "-") == 0) {
    message("--resume needs a file, not standard input");
    return false;
  }
  if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    message("%s: --follow takes a file, not a directory", path);
    return false;
  }
  return true;
}

/* ---- following ---- */

/* Tells what an earlier run knew, which need not be told again. */
static void tell_kept(const char *path, const live_kept *kept, bool goes_on, live_teller *teller) {
  if (!kept->found) return;
  if (goes_on)
    message("%s: %" PRIu64 " transactions were judged before; goes on from there", path, kept->transactions);
  else
    message("%s: %" PRIu64 " transactions were judged before; they are read again%s%s", path, kept->transactions,
            kept->reason[0] != '\0' ? ": " : "", kept->reason);
  for (size_t i = 0; i < kept->violated_count && teller->count < LIVE_LEVELS; i++) {
    message("%s: violated, as the first %" PRIu64 " transactions showed: %s", path, kept->since[i], kept->violated[i]);
    teller->told[teller->count++] = kept->violated[i];
  }
}

static void watch(live_judge *judge, const char *path, const live_kept *kept, bool goes_on, live_status *status) {
  live_teller teller = {.count = 0};
  tell_kept(path, kept, goes_on, &teller);
  for (;;) {
    live_judge_status(judge, status);
    live_tell(&teller, status, path);
    live_progress(status);
    if (status->over) break;
    live_judge_wait(judge, 0.1);
  }
  progress_clear();
}

/* ---- the end ---- */

/* What the live checker knows, where the whole is too long to be read again, or gone. */
static isoproof_status report_live(check_job *job, const live_judge *judge, const live_status *s, bool unfinished,
                                   reply *to, isoproof_error *error) {
  const char *path = job->files.items[0].path;
  bool asked = job->parsed->values[CHECK_LEVEL].item_count > 0;
  isoproof_live_document_options what = {.struct_size = sizeof what,
                                         .file = path,
                                         .format = live_judge_format(judge),
                                         .counts = live_judge_counts(judge),
                                         .asked = asked,
                                         .unfinished = unfinished,
                                         .reason = s->reason,
                                         .check_seconds = s->seconds,
                                         .peak_bytes = check_peak_bytes()};
  isoproof_draw_options draw = {.struct_size = sizeof draw,
                                .color = job->color,
                                .unicode = terminal_utf8(),
                                .width = report_width(stdout),
                                .has_page = job->parsed->values[CHECK_OUTPUT + OUTPUT_HTML].given};
  isoproof_document *document;
  isoproof_status status = isoproof_document_make_live(live_judge_checker(judge), &what, &document, error);
  if (status != ISOPROOF_OK) return status;
  to->code = check_count(job, isoproof_document_verdict(document),
                         isoproof_document_unknown_reason(document) == NULL || unfinished);
  if (!job->silent)
    status = job->json ? isoproof_document_write_json(document, &draw, write_stream, to->out, error)
                       : isoproof_document_write_text(document, &draw, write_stream, to->out, error);
  if (status == ISOPROOF_ERR_IO && output_gone()) status = ISOPROOF_OK;
  if (status == ISOPROOF_OK && job->reporting) {
    outputs_put(&job->reports, 0, document);
    to->code = exit_worse(to->code, outputs_write(&job->reports));
    outputs_put(&job->reports, 0, NULL);
  }
  isoproof_document_free(document);
  return status;
}

/* The verdict of the check must be that of the live checker. */
static isoproof_status compare(const live_status *s, int code, bool asked, isoproof_error *error) {
  bool same = !asked || s->verdict == ISOPROOF_UNDECIDED || code == EXIT_UNKNOWN ||
              (s->verdict == ISOPROOF_VIOLATED) == (code == EXIT_VIOLATED);
  if (same) return ISOPROOF_OK;
  *error = (isoproof_error){.code = ISOPROOF_ERR_INTERNAL, .offset = -1};
  snprintf(error->message, sizeof error->message,
           "the verdict while the file grew (%s) is not that on the whole: please report this",
           isoproof_verdict_name(s->verdict));
  return error->code;
}

static isoproof_status report_whole(check_job *job, const live_judge *judge, const live_status *s, isoproof_task *task,
                                    reply *to, isoproof_error *error) {
  isoproof_history *history = NULL;
  isoproof_status status = live_judge_history(judge, task, &history, error);
  if (status == ISOPROOF_OK) status = check_judge(job, 0, history, s->seconds, task, to, error);
  isoproof_history_free(history);
  if (status == ISOPROOF_OK) status = compare(s, to->code, job->parsed->values[CHECK_LEVEL].item_count > 0, error);
  return status;
}

static isoproof_status report(check_job *job, const live_judge *judge, const live_status *s, bool unfinished,
                              bool went_on, reply *to, isoproof_error *error) {
  const option_value *values = job->parsed->values;
  bool again = !unfinished && !went_on && s->judged <= REREAD_MOST && strcmp(job->files.items[0].path, "-") != 0 &&
               !values[CHECK_MEMORY_LIMIT].given;
  isoproof_task *task = again ? interrupt_task_after() : NULL;
  if (task == NULL) return report_live(job, judge, s, unfinished, to, error);
  isoproof_task_set_threads(task, job->threads);
  isoproof_task_set_progress(task, progress_update, NULL);
  isoproof_status status = report_whole(job, judge, s, task, to, error);
  isoproof_task_free(task);
  return status;
}

static void follow(check_job *job, live_judge *judge, const live_kept *kept, bool goes_on, reply *to) {
  isoproof_error error = {.offset = -1};
  live_status status;
  watch(judge, job->files.items[0].path, kept, goes_on, &status);
  isoproof_status ended = live_judge_end(judge, &error);
  bool unfinished = ended == ISOPROOF_ERR_CANCELLED;
  live_judge_status(judge, &status);
  if (unfinished && live_judge_checker(judge) == NULL) {
    to->code = EXIT_INTERRUPTED;
    return;
  }
  if (ended == ISOPROOF_OK || unfinished) ended = report(job, judge, &status, unfinished, goes_on, to, &error);
  if (ended != ISOPROOF_OK) check_complain(job, 0, &error, to);
  /* What was judged shows a violation, or it does not show that there would have been none. */
  if (unfinished && to->code != EXIT_VIOLATED) to->code = EXIT_INTERRUPTED;
}

int check_follow(check_job *job) {
  const option_value *v = job->parsed->values;
  const option_value *levels = &v[CHECK_LEVEL], *limit = &v[CHECK_MEMORY_LIMIT];
  reply to = {.code = EXIT_SATISFIED, .out = stdout};
  live_judge *judge;
  live_plan plan = {.path = job->files.items[0].path,
                    .format = v[CHECK_FORMAT].text,
                    .levels = levels->items,
                    .level_count = levels->item_count,
                    .to_end = strcmp(v[CHECK_FOLLOW].text, "eof") == 0,
                    .stops = levels->item_count > 0 && !v[CHECK_KEEP_GOING].on,
                    .on_signals = true,
                    .memory_limit = limit->given ? limit->integer - limit->integer / 4 : 0,
                    .threads = job->threads,
                    .keeps = v[CHECK_RESUME].on};
  live_kept kept = {.found = false};
  if (plan.keeps) live_keep_recall(plan.path, &kept);
  plan.kept = &kept;
  job->workers = 1;
  bool had_state = kept.state != NULL, started = live_judge_start(&judge, &plan);
  /* What went wrong with it is its reason then. */
  bool goes_on = had_state && kept.reason[0] == '\0';
  if (started) follow(job, judge, &kept, goes_on, &to);
  live_kept_free(&kept);
  if (!started) return EXIT_UNKNOWN;
  live_judge_free(judge);
  if (to.complaint != NULL) message("%s", to.complaint);
  free(to.complaint);
  return to.code;
}
