/* team_follow.c - the other ranks: answer, obey, and send what they record. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "mpi/team_state.h"

/* How much longer than others a rank waits for rank 0, which has more to do; and seconds until the tables are there. */
enum { MORE_PATIENCE = 3, TABLES_SECONDS = 300 };

/* ---- the thread of the wire ---- */

static void obey(team *t, const team_control *control) {
  switch (control->order) {
  case TEAM_BEGIN:
    t->round = control->round;
    t->has_round = true;
    t->tables = t->go = t->stop = t->ended = t->drops = false;
    break;
  case TEAM_TABLES:
    t->tables = true;
    break;
  case TEAM_GO:
    t->go = true;
    break;
  case TEAM_STOP:
    t->stop = true;
    break;
  case TEAM_END:
    t->ended = true;
    t->drops = control->flag;
    break;
  case TEAM_OVER:
    t->over = t->stop = t->ended = true;
    t->abrupt = control->flag;
    break;
  }
}

void team_follow_receive(int rank, wire_tag tag, const void *bytes, size_t size, int64_t moment, void *user) {
  team *t = user;
  iso_round_trip trip;
  if (tag == WIRE_PING && size == sizeof trip) {
    memcpy(&trip, bytes, sizeof trip);
    trip.received = moment;
    trip.answered = wire_now();
    (void)wire_send(t->w, rank, WIRE_PONG, &trip, sizeof trip);
  }
  pthread_mutex_lock(&t->lock);
  t->heard = moment;
  if (tag == WIRE_CONTROL && size == sizeof(team_control)) obey(t, bytes);
  pthread_cond_broadcast(&t->changed);
  pthread_mutex_unlock(&t->lock);
}

/* Sends what was recorded since, a piece at a time, as long as rank 0 takes it. */
static void send_piece(team *t) {
  char piece[TEAM_CHUNK];
  if (t->part < 0 || wire_unsent(t->w, 0) > 2) return;
  ssize_t n = pread(t->part, piece, sizeof piece, (off_t)t->sent);
  if (n <= 0) return;
  (void)wire_send(t->w, 0, WIRE_DATA, piece, (size_t)n);
  t->sent += (uint64_t)n;
  pthread_cond_broadcast(&t->changed);
}

void team_follow_turn(void *user) {
  team *t = user;
  pthread_mutex_lock(&t->lock);
  for (unsigned i = 0; i < t->news_count; i++) (void)wire_send(t->w, 0, WIRE_STATE, &t->news[i], sizeof t->news[i]);
  t->news_count = 0;
  send_piece(t);
  if (!t->leader_gone && wire_now() - t->heard > MORE_PATIENCE * t->patience) {
    t->leader_gone = true;
    wire_give_up(t->w, 0);
    message("machine 0 does not answer any more");
    pthread_cond_broadcast(&t->changed);
  }
  pthread_mutex_unlock(&t->lock);
}

/* ---- the main thread ---- */

static bool has_round(const team *t) { return t->has_round || t->over || t->leader_gone; }
static bool has_tables(const team *t) { return t->tables || t->stop || t->leader_gone; }
static bool may_go(const team *t) { return t->go || t->stop || t->leader_gone; }
static bool has_ended(const team *t) { return t->ended || t->leader_gone; }

bool team_await(team *t, team_round *round) {
  pthread_mutex_lock(&t->lock);
  (void)team_wait(t, has_round, -1, false);
  bool found = t->has_round && !t->over && !t->leader_gone;
  *round = t->round;
  t->has_round = false;
  pthread_mutex_unlock(&t->lock);
  return found;
}

bool team_leader_is_gone(team *t) {
  pthread_mutex_lock(&t->lock);
  bool gone = t->leader_gone;
  pthread_mutex_unlock(&t->lock);
  return gone;
}

bool team_record(team *t, const char *path) {
  int part = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (part < 0) {
    message_errno(path, "make the file");
    return false;
  }
  pthread_mutex_lock(&t->lock);
  t->part = part;
  t->sent = 0;
  pthread_mutex_unlock(&t->lock);
  return true;
}

static isoproof_status sent_home(const team *t, isoproof_error *error) {
  if (t->leader_gone) return iso_fail(error, ISOPROOF_ERR_IO, "machine 0 is gone");
  return iso_fail(error, ISOPROOF_ERR_CANCELLED, "the run was ended");
}

isoproof_status team_follow_meet(team *t, isoproof_run_point point, uint64_t *most, isoproof_error *error) {
  team_state ready = {.news = TEAM_READY}, ended = {.news = TEAM_ENDED, .most = *most};
  switch (point) {
  case ISOPROOF_POINT_TABLES:
    (void)team_wait(t, has_tables, TABLES_SECONDS, false);
    return t->tables && !t->stop ? ISOPROOF_OK : sent_home(t, error);
  case ISOPROOF_POINT_READY:
    team_tell(t, &ready);
    (void)team_wait(t, may_go, TABLES_SECONDS, false);
    return t->go && !t->stop ? ISOPROOF_OK : sent_home(t, error);
  case ISOPROOF_POINT_ENDED:
    break;
  }
  team_tell(t, &ended);
  return ISOPROOF_OK;
}

bool team_report(team *t, isoproof_status status, const isoproof_run_summary *report, const isoproof_error *error) {
  team_state state = {.news = report != NULL ? TEAM_DONE : TEAM_FAILED, .status = status};
  struct stat facts = {.st_size = 0};
  pthread_mutex_lock(&t->lock);
  if (t->part >= 0 && fstat(t->part, &facts) == 0) state.bytes = (uint64_t)facts.st_size;
  if (report != NULL)
    iso_report_counted(report, &state.counted);
  else
    snprintf(state.text, sizeof state.text, "%.*s", TEAM_TEXT - 1, error->message);
  team_tell(t, &state);
  (void)team_wait(t, has_ended, -1, false);
  bool drops = t->ended && t->drops && !t->leader_gone;
  if (t->part >= 0) close(t->part);
  t->part = -1;
  pthread_mutex_unlock(&t->lock);
  return drops;
}
