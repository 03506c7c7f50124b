/* team.c - opening and closing a team, and waiting for what the thread of its wire learns. */
#include "mpi/team.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/output.h"
#include "mpi/team_state.h"

/* After Ctrl-C mpirun kills what is still there a second later: the tables have to be gone by then. */
enum { LOOK_MS = 20, INTERRUPTED_MS = 400 };

int team_rank(const team *t) { return t->rank; }
int team_size(const team *t) { return t->size; }

static bool make_lock(team *t) {
  pthread_condattr_t clock;
  if (pthread_mutex_init(&t->lock, NULL) != 0 || pthread_condattr_init(&clock) != 0) return false;
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  return pthread_cond_init(&t->changed, &clock) == 0;
}

static bool start(team *t) {
  static const wire_handler lead = {team_lead_receive, team_lead_turn, NULL};
  static const wire_handler follow = {team_follow_receive, team_follow_turn, NULL};
  wire_handler handler = t->rank == 0 ? lead : follow;
  t->members = calloc((size_t)t->size, sizeof *t->members);
  t->news = calloc(TEAM_POSTS, sizeof *t->news);
  if (t->members == NULL || t->news == NULL || !make_lock(t)) return false;
  for (int i = 0; i < t->size; i++) t->members[i].part = -1;
  handler.user = t;
  return wire_start(t->w, handler);
}

team *team_open(double patience) {
  team *t = calloc(1, sizeof *t);
  if (t != NULL) t->w = wire_open(EXIT_RUN);
  if (t == NULL || t->w == NULL) {
    message("MPI cannot be initialised, or memory is out");
    free(t);
    return NULL;
  }
  t->rank = wire_rank(t->w);
  t->size = wire_size(t->w);
  t->patience = (int64_t)(patience * 1e9);
  t->heard = wire_now();
  t->part = -1;
  if (start(t)) return t;
  message("out of memory");
  (void)wire_close(t->w, EXIT_UNKNOWN, true);
  free(t);
  return NULL;
}

int team_lost(team *t) {
  int lost = 0;
  pthread_mutex_lock(&t->lock);
  for (int i = 1; i < t->size; i++) lost += t->members[i].lost;
  pthread_mutex_unlock(&t->lock);
  return lost;
}

/* Open MPI's mpirun forgets exit codes when it is to survive the death of a rank. */
static void tell_code(int code) {
  const char *recovers = getenv("OMPI_MCA_orte_enable_recovery");
  if (code != EXIT_SATISFIED && recovers != NULL && strcmp(recovers, "1") == 0)
    message("the exit code is %d; mpirun with --enable-recovery ends with 0 all the same", code);
}

int team_close(team *t, int code) {
  bool gone = t->rank == 0 ? team_lost(t) > 0 : t->leader_gone || t->abrupt;
  if (t->rank == 0) {
    pthread_mutex_lock(&t->lock);
    team_order_all(t, (team_control){.order = TEAM_OVER, .flag = gone});
    pthread_mutex_unlock(&t->lock);
    tell_code(code);
  }
  if (!wire_close(t->w, code, !gone)) _exit(finish_output(code));
  pthread_cond_destroy(&t->changed);
  pthread_mutex_destroy(&t->lock);
  free(t->members);
  free(t->news);
  free(t);
  return code;
}

/* ---- under the lock ---- */

void team_order_all(team *t, team_control control) {
  if (t->order_count < TEAM_POSTS) t->orders[t->order_count++] = control;
}

void team_tell(team *t, const team_state *state) {
  if (t->news_count < TEAM_POSTS) t->news[t->news_count++] = *state;
}

bool team_wait(team *t, bool (*is_so)(const team *t), double seconds, bool heeds) {
  int64_t limit = seconds < 0 ? INT64_MAX : wire_now() + (int64_t)(seconds * 1e9), moment = 0;
  while (!is_so(t)) {
    int64_t now = wire_now();
    if (heeds && interrupted()) {
      if (moment == 0) moment = now + (int64_t)INTERRUPTED_MS * 1000000;
      if (now >= moment) return false;
    }
    if (now >= limit) return false;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    if (until.tv_nsec >= 1000000000) {
      until.tv_nsec -= 1000000000;
      until.tv_sec++;
    }
    pthread_cond_timedwait(&t->changed, &t->lock, &until);
  }
  return true;
}

/* ---- all ---- */

isoproof_status team_meet(isoproof_run_point point, uint64_t *most, void *user, isoproof_error *error) {
  team *t = user;
  pthread_mutex_lock(&t->lock);
  isoproof_status status =
      t->rank == 0 ? team_lead_meet(t, point, most, error) : team_follow_meet(t, point, most, error);
  pthread_mutex_unlock(&t->lock);
  return status;
}

bool team_is_over(void *user) {
  team *t = user;
  pthread_mutex_lock(&t->lock);
  bool over = t->rank == 0 ? t->problem[0] != 0 : t->stop || t->leader_gone;
  for (int i = 1; t->rank == 0 && i < t->size; i++) over = over || t->members[i].failed;
  pthread_mutex_unlock(&t->lock);
  return over;
}
