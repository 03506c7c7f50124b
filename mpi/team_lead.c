/* team_lead.c - rank 0: compares the clocks, keeps the parts of the others, and notices who is gone. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "mpi/team_state.h"

/* Round trips come a few at a time, since after the first one the other side is awake; bursts come thick in the
 * beginning, so that what is certain soon is narrow, and seldom when they only show life. */
enum { BURST = 4, FIRST_BURSTS = 20, FIRST_MS = 10, BURST_MS = 100, LIFE_MS = 500 };
/* Seconds: until all are connected, until the last one has ended, and without a byte of what is to come. */
enum { READY_SECONDS = 120, ENDED_SECONDS = 120, STUCK_SECONDS = 60 };

static int64_t of_ms(int64_t ms) { return ms * 1000000; }

/* ---- the thread of the wire, under the lock ---- */

static void lose(team *t, int rank) {
  team_member *m = &t->members[rank];
  if (m->lost) return;
  m->lost = true;
  wire_give_up(t->w, rank);
  if (t->begun && t->in_round)
    message("machine %d does not answer any more: what it did behind its last line that came is unknown", rank);
}

static void keep(team *t, int rank, const void *bytes, size_t size) {
  team_member *m = &t->members[rank];
  m->received += size;
  const char *at = bytes;
  while (size > 0 && m->part >= 0) {
    ssize_t n = write(m->part, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      snprintf(t->problem, sizeof t->problem, "%.200s: cannot keep the part of machine %d: %s", t->folder, rank,
               strerror(errno));
      return;
    }
    at += n;
    size -= (size_t)n;
  }
}

static void take_state(team *t, int rank, const team_state *state) {
  team_member *m = &t->members[rank];
  switch (state->news) {
  case TEAM_READY:
    m->ready = true;
    break;
  case TEAM_ENDED:
    m->ended = true;
    m->most = state->most;
    break;
  case TEAM_FAILED:
    m->failed = true;
    m->status = state->status;
    memcpy(m->text, state->text, sizeof m->text);
    m->text[sizeof m->text - 1] = 0;
    break;
  case TEAM_DONE:
    m->done = true;
    m->bytes = state->bytes;
    m->counted = state->counted;
    break;
  }
}

/* How much a round trip leaves open. */
static int64_t width(iso_round_trip trip) { return trip.returned - trip.sent - (trip.answered - trip.received); }

/* The best of a burst is kept; the next one begins after a pause. */
static void take_trip(team *t, int rank, iso_round_trip trip) {
  team_member *m = &t->members[rank];
  if (m->trips % BURST == 0 || width(trip) < width(m->best)) m->best = trip;
  if (++m->trips % BURST != 0) return;
  if (t->comparing && t->clocks != NULL) iso_join_write_trip(t->clocks, (uint32_t)rank, m->best);
  int64_t pause = !t->comparing ? LIFE_MS : m->trips < FIRST_BURSTS * BURST ? FIRST_MS : BURST_MS;
  m->next_ping = wire_now() + of_ms(pause);
}

void team_lead_receive(int rank, wire_tag tag, const void *bytes, size_t size, int64_t moment, void *user) {
  team *t = user;
  pthread_mutex_lock(&t->lock);
  team_member *m = &t->members[rank];
  iso_round_trip trip;
  if (tag == WIRE_PONG && size == sizeof trip) {
    memcpy(&trip, bytes, sizeof trip);
    trip.returned = moment;
    m->unanswered = false;
    take_trip(t, rank, trip);
  } else if (tag == WIRE_DATA) {
    keep(t, rank, bytes, size);
    m->fed = moment;
  } else if (tag == WIRE_STATE && size == sizeof(team_state)) {
    take_state(t, rank, bytes);
    m->fed = moment;
  }
  pthread_cond_broadcast(&t->changed);
  pthread_mutex_unlock(&t->lock);
}

static void ping(team *t, int rank) {
  team_member *m = &t->members[rank];
  int64_t now = wire_now();
  if (m->unanswered && now - m->pinged > t->patience) {
    lose(t, rank);
    pthread_cond_broadcast(&t->changed);
  }
  if (m->lost || m->unanswered || now < m->next_ping) return;
  m->unanswered = true;
  m->pinged = wire_now();
  iso_round_trip trip = {.sent = m->pinged};
  (void)wire_send(t->w, rank, WIRE_PING, &trip, sizeof trip);
}

void team_lead_turn(void *user) {
  team *t = user;
  pthread_mutex_lock(&t->lock);
  for (unsigned i = 0; i < t->order_count; i++)
    for (int rank = 1; rank < t->size; rank++)
      (void)wire_send(t->w, rank, WIRE_CONTROL, &t->orders[i], sizeof t->orders[i]);
  t->order_count = 0;
  for (int rank = 1; rank < t->size; rank++) ping(t, rank);
  pthread_mutex_unlock(&t->lock);
}

/* ---- the main thread ---- */

static bool open_parts(team *t) {
  for (int i = 1; i < t->size; i++) {
    char path[TEAM_PATH + 64], name[64];
    snprintf(name, sizeof name, ISO_JOIN_PART, (unsigned)i);
    snprintf(path, sizeof path, "%s/%s", t->folder, name);
    t->members[i].part = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (t->members[i].part < 0) {
      message_errno(path, "open it for writing");
      return false;
    }
  }
  char path[TEAM_PATH + 64];
  snprintf(path, sizeof path, "%s/%s", t->folder, ISO_JOIN_CLOCKS);
  t->clocks = fopen(path, "we");
  if (t->clocks == NULL) message_errno(path, "open it for writing");
  /* Whole lines, so that what is there is of use when this process is killed. */
  if (t->clocks != NULL) setvbuf(t->clocks, NULL, _IOLBF, 1 << 12);
  return t->clocks != NULL;
}

static void close_parts(team *t) {
  for (int i = 1; i < t->size; i++) {
    if (t->members[i].part >= 0) close(t->members[i].part);
    t->members[i].part = -1;
  }
  if (t->clocks != NULL && fclose(t->clocks) != 0 && t->problem[0] == 0)
    snprintf(t->problem, sizeof t->problem, "%.200s: cannot keep the round trips: %s", t->folder, strerror(errno));
  t->clocks = NULL;
}

bool team_begin(team *t, const team_round *round, const char *folder) {
  pthread_mutex_lock(&t->lock);
  snprintf(t->folder, sizeof t->folder, "%s", folder);
  t->problem[0] = 0;
  bool good = open_parts(t);
  if (good) {
    for (int i = 1; i < t->size; i++) {
      team_member *m = &t->members[i];
      m->ready = m->ended = m->failed = m->done = false;
      m->bytes = m->received = m->trips = m->most = 0;
      m->fed = wire_now();
      m->next_ping = 0;
    }
    t->in_round = t->comparing = true;
    t->begun = false;
    team_order_all(t, (team_control){.order = TEAM_BEGIN, .round = *round});
  } else {
    close_parts(t);
  }
  pthread_mutex_unlock(&t->lock);
  return good;
}

static bool is_any_failed(const team *t) {
  for (int i = 1; i < t->size; i++)
    if (t->members[i].failed) return true;
  return t->problem[0] != 0;
}

static bool are_ready(const team *t) {
  bool all = true;
  for (int i = 1; i < t->size; i++) {
    if (t->members[i].lost) return true;
    all = all && t->members[i].ready;
  }
  return all || is_any_failed(t);
}

static bool have_ended(const team *t) {
  for (int i = 1; i < t->size; i++)
    if (!t->members[i].lost && !t->members[i].ended && !t->members[i].failed) return false;
  return true;
}

/* Everything that was recorded is there, or will not come any more. */
static bool is_complete(const team_member *m) { return m->lost || m->failed || (m->done && m->received >= m->bytes); }

static bool are_complete(const team *t) {
  for (int i = 1; i < t->size; i++) {
    const team_member *m = &t->members[i];
    if (!is_complete(m) && wire_now() - m->fed < (int64_t)STUCK_SECONDS * 1000000000) return false;
  }
  return true;
}

/* The first failure, as one of the run. */
static isoproof_status failure(const team *t, isoproof_error *error) {
  if (t->problem[0] != 0) return iso_fail(error, ISOPROOF_ERR_IO, "%s", t->problem);
  for (int i = 1; i < t->size; i++)
    if (t->members[i].failed) return iso_fail(error, t->members[i].status, "machine %d: %s", i, t->members[i].text);
  return ISOPROOF_OK;
}

static isoproof_status await_ready(team *t, isoproof_error *error) {
  bool ready = team_wait(t, are_ready, READY_SECONDS, true);
  isoproof_status status = failure(t, error);
  if (status != ISOPROOF_OK) return status;
  for (int i = 1; i < t->size; i++)
    if (t->members[i].lost)
      return iso_fail(error, ISOPROOF_ERR_IO, "machine %d does not answer: the run has not begun", i);
  if (!ready && interrupted()) return iso_fail(error, ISOPROOF_ERR_CANCELLED, "interrupted");
  if (!ready) return iso_fail(error, ISOPROOF_ERR_IO, "not all machines are connected after %d s", READY_SECONDS);
  team_order_all(t, (team_control){.order = TEAM_GO});
  t->begun = true;
  return ISOPROOF_OK;
}

static isoproof_status await_ended(team *t, uint64_t *most, isoproof_error *error) {
  if (interrupted() || is_any_failed(t)) team_order_all(t, (team_control){.order = TEAM_STOP});
  if (!team_wait(t, have_ended, ENDED_SECONDS, true) && !interrupted())
    for (int i = 1; i < t->size; i++)
      if (!t->members[i].ended && !t->members[i].failed) lose(t, i);
  for (int i = 1; i < t->size; i++)
    if (t->members[i].ended && t->members[i].most > *most) *most = t->members[i].most;
  return failure(t, error);
}

isoproof_status team_lead_meet(team *t, isoproof_run_point point, uint64_t *most, isoproof_error *error) {
  switch (point) {
  case ISOPROOF_POINT_TABLES:
    team_order_all(t, (team_control){.order = TEAM_TABLES});
    return ISOPROOF_OK;
  case ISOPROOF_POINT_READY:
    return await_ready(t, error);
  case ISOPROOF_POINT_ENDED:
    break;
  }
  return await_ended(t, most, error);
}

isoproof_status team_collect(team *t, isoproof_run_summary *report, isoproof_error *error) {
  pthread_mutex_lock(&t->lock);
  if (report == NULL) team_order_all(t, (team_control){.order = TEAM_STOP});
  (void)team_wait(t, are_complete, -1, true);
  for (int i = 1; i < t->size; i++) {
    if (!is_complete(&t->members[i])) lose(t, i);
    if (report != NULL && t->members[i].done) iso_report_add(report, &t->members[i].counted);
  }
  t->in_round = t->comparing = false;
  close_parts(t);
  isoproof_status status = report != NULL ? failure(t, error) : ISOPROOF_OK;
  pthread_mutex_unlock(&t->lock);
  return status;
}

bool team_has_begun(team *t) {
  pthread_mutex_lock(&t->lock);
  bool begun = t->begun;
  pthread_mutex_unlock(&t->lock);
  return begun;
}

void team_end(team *t, bool drop) {
  pthread_mutex_lock(&t->lock);
  team_order_all(t, (team_control){.order = TEAM_END, .flag = drop});
  pthread_mutex_unlock(&t->lock);
}
