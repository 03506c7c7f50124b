/* together.c - one run on all ranks: each has its share of the sessions, and rank 0 joins what they recorded. */
#include "mpi/together.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/progress.h"

enum { PATH_BYTES = 4096 };

/* ---- rank 0 ---- */

static uint64_t random_run(void) {
  uint64_t number;
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
    number = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
  return number | 1; /* 0 is no run */
}

/* The folder of the parts: beside the history, or, where that goes to standard output, one of its own. */
static isoproof_status make_folder(const char *path, char folder[PATH_BYTES], isoproof_error *error) {
  const char *place = getenv("TMPDIR");
  if (strcmp(path, "-") == 0) {
    snprintf(folder, PATH_BYTES, "%.4000s/isoproof-XXXXXX", place != NULL ? place : "/tmp");
    return mkdtemp(folder) != NULL ? ISOPROOF_OK : iso_fail_errno(error, folder, "make the folder");
  }
  snprintf(folder, PATH_BYTES, "%.4000s.parts", path);
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return ISOPROOF_OK;
  return iso_fail_errno(error, folder, "make the folder");
}

static void remove_parts(const char *folder, int count) {
  char path[PATH_BYTES + 64], name[64];
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, ISO_JOIN_PART, (unsigned)i);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/%s", folder, ISO_JOIN_CLOCKS);
  unlink(path);
  rmdir(folder);
}

static isoproof_status print_file(const char *path, isoproof_error *error) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return iso_fail_errno(error, path, "open it");
  char block[1 << 16];
  size_t n;
  bool good = true;
  while (good && (n = fread(block, 1, sizeof block, file)) > 0) good = fwrite(block, 1, n, stdout) == n;
  fclose(file);
  unlink(path);
  return good && fflush(stdout) == 0 ? ISOPROOF_OK : iso_fail_errno(error, "<stdout>", "write to it");
}

static void tell(const iso_joined *joined) {
  if (joined->lost > 0)
    message("machines that were lost: %u of %u; values that only they can have written, and others have read: %" PRIu64,
            joined->lost, joined->count, joined->lost_writes);
  note("%u machines, %" PRIu64 " round trips, clocks certain within %.1f us", joined->count, joined->trips,
       (double)joined->uncertainty * 1e-3);
}

/* From the parts to the history.  Ctrl-C has ended the run; what there is is joined all the same. */
static isoproof_status join(const char *folder, const char *path, isoproof_error *error) {
  char beside[PATH_BYTES + 64];
  bool to_stdout = strcmp(path, "-") == 0;
  iso_joined joined;
  snprintf(beside, sizeof beside, "%s/joined.jsonl", folder);
  progress_stage("joining what the machines recorded");
  isoproof_status status = iso_join(folder, to_stdout ? beside : path, NULL, &joined, error);
  if (status == ISOPROOF_OK) tell(&joined);
  if (status == ISOPROOF_OK && to_stdout) status = print_file(beside, error);
  iso_joined_free(&joined);
  return status;
}

static isoproof_status run_and_join(team *t, const isoproof_run_options *planned, const char *folder,
                                    isoproof_task *task, isoproof_run_summary **summary, isoproof_error *error) {
  char part[PATH_BYTES + 64];
  team_round round = {.seed = planned->workload->seed, .run = random_run()};
  isoproof_run_share share = {
      .struct_size = sizeof share, .count = (uint32_t)team_size(t), .run = round.run, .meet = team_meet, .user = t};
  isoproof_run_options mine = *planned;
  snprintf(part, sizeof part, "%s/" ISO_JOIN_PART, folder, 0U);
  mine.path = part;
  mine.share = &share;
  mine.over = team_is_over;
  mine.over_user = t;
  if (!team_begin(t, &round, folder)) return iso_fail(error, ISOPROOF_ERR_IO, "the run has not begun");
  isoproof_status status = isoproof_run(&mine, task, summary, error);
  isoproof_status collected = team_collect(t, *summary, error);
  if (status == ISOPROOF_OK) status = collected;
  if (status == ISOPROOF_OK) status = join(folder, planned->path, error);
  return status;
}

isoproof_status together_lead(const isoproof_run_options *planned, isoproof_task *task, void *user,
                              isoproof_run_summary **summary, isoproof_error *error) {
  team *t = user;
  char folder[PATH_BYTES];
  *summary = NULL;
  if (team_size(t) == 1) return isoproof_run(planned, task, summary, error);
  ISO_TRY(make_folder(planned->path, folder, error));
  isoproof_status status = run_and_join(t, planned, folder, task, summary, error);
  /* What came from the others is here now. */
  team_end(t, status == ISOPROOF_OK || *summary == NULL);
  if (!team_has_begun(t) || (status == ISOPROOF_OK && team_lost(t) == 0))
    remove_parts(folder, team_size(t));
  else
    message("what each machine recorded is in %s", folder);
  if (status != ISOPROOF_OK) {
    isoproof_run_summary_free(*summary);
    *summary = NULL;
  }
  return status;
}

/* ---- the others ---- */

static void follow_round(team *t, const isoproof_run_options *planned, const team_round *round, const char *folder) {
  char part[PATH_BYTES];
  isoproof_error error = {.offset = -1};
  isoproof_run_summary *report = NULL;
  isoproof_run_share share = {.struct_size = sizeof share,
                              .number = (uint32_t)team_rank(t),
                              .count = (uint32_t)team_size(t),
                              .run = round->run,
                              .meet = team_meet,
                              .user = t};
  isoproof_run_options mine = *planned;
  snprintf(part, sizeof part, "%.4000s/isoproof-%016" PRIx64 "-%d.jsonl", folder, round->run, team_rank(t));
  mine.path = part;
  mine.share = &share;
  mine.over = team_is_over;
  mine.over_user = t;
  isoproof_task *task = interrupt_task_new();
  bool ready = task != NULL && team_record(t, part);
  isoproof_status status = ready ? isoproof_run(&mine, task, &report, &error)
                                 : iso_fail(&error, ISOPROOF_ERR_IO, "cannot keep what is recorded in %.200s", folder);
  if (team_report(t, status, report, &error))
    unlink(part);
  else if (ready)
    message("what this machine recorded is in %s", part);
  isoproof_run_summary_free(report);
  interrupt_task_free(task);
}

int together_follow(team *t, run_plan *plan, const char *folder) {
  team_round round;
  while (team_await(t, &round)) {
    plan->workload.seed = round.seed;
    follow_round(t, &plan->run, &round, folder);
  }
  return team_leader_is_gone(t) ? EXIT_RUN : EXIT_SATISFIED;
}
