/* meeting.c - a barrier that costs microseconds: those who wait spin for a moment, then sleep; all start by the clock.
 */
#include "run/meeting.h"

#include <time.h>

enum {
  SPIN_NS = 30 * 1000,      /* before a session sleeps until the others are there */
  LEAD_NS = 60 * 1000,      /* from the last arrival to the beginning: who sleeps wakes up meanwhile */
  LOOK_MS = 50,             /* how often who sleeps looks whether the run is over */
  LONG_NS = 200 * 1000,     /* delays beyond this are slept through */
  LATE_WAKE_NS = 100 * 1000 /* but for the rest */
};

bool iso_meeting_init(iso_meeting *meeting, iso_meeting_ready_fn ready, iso_meeting_now_fn now,
                      iso_meeting_over_fn over, void *user) {
  *meeting = (iso_meeting){.round = 1, .ready = ready, .now = now, .over = over, .user = user};
  pthread_condattr_t clock;
  if (pthread_mutex_init(&meeting->lock, NULL) != 0) return false;
  bool good = pthread_condattr_init(&clock) == 0;
  if (good) {
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    good = pthread_cond_init(&meeting->turn, &clock) == 0;
    pthread_condattr_destroy(&clock);
  }
  if (!good) pthread_mutex_destroy(&meeting->lock);
  return good;
}

void iso_meeting_destroy(iso_meeting *meeting) {
  pthread_cond_destroy(&meeting->turn);
  pthread_mutex_destroy(&meeting->lock);
}

uint64_t iso_meeting_round(const iso_meeting *meeting) {
  return atomic_load_explicit(&meeting->round, memory_order_acquire);
}

/* Under the lock, which is given up while things are made ready: lets the round begin if all are there. */
static void release_if_full(iso_meeting *meeting) {
  if (meeting->releasing || meeting->parties == 0 || meeting->arrived < meeting->parties) return;
  uint64_t round = iso_meeting_round(meeting);
  meeting->releasing = true;
  pthread_mutex_unlock(&meeting->lock);
  bool good = meeting->ready(meeting->user, round);
  pthread_mutex_lock(&meeting->lock);
  meeting->releasing = false;
  if (!good) return; /* those who wait see that the run is over */
  meeting->arrived = 0;
  atomic_store_explicit(&meeting->start, meeting->now(meeting->user) + LEAD_NS, memory_order_relaxed);
  atomic_store_explicit(&meeting->round, round + 1, memory_order_release);
  pthread_cond_broadcast(&meeting->turn);
}

uint64_t iso_meeting_join(iso_meeting *meeting) {
  pthread_mutex_lock(&meeting->lock);
  meeting->parties++;
  uint64_t round = iso_meeting_round(meeting);
  pthread_mutex_unlock(&meeting->lock);
  return round;
}

void iso_meeting_leave(iso_meeting *meeting) {
  pthread_mutex_lock(&meeting->lock);
  meeting->parties--;
  release_if_full(meeting);
  pthread_mutex_unlock(&meeting->lock);
}

/* Whether the round has begun within a moment. */
static bool spin(const iso_meeting *meeting, uint64_t round) {
  int64_t until = meeting->now(meeting->user) + SPIN_NS;
  do
    if (iso_meeting_round(meeting) != round) return true;
  while (meeting->now(meeting->user) < until);
  return false;
}

static bool sleep_until_begun(iso_meeting *meeting, uint64_t round) {
  pthread_mutex_lock(&meeting->lock);
  while (iso_meeting_round(meeting) == round && !meeting->over(meeting->user)) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
      until.tv_sec++;
      until.tv_nsec -= 1000000000L;
    }
    pthread_cond_timedwait(&meeting->turn, &meeting->lock, &until);
  }
  bool begun = iso_meeting_round(meeting) != round;
  pthread_mutex_unlock(&meeting->lock);
  return begun;
}

static void wait_until(const iso_meeting *meeting, int64_t moment) {
  int64_t left = moment - meeting->now(meeting->user);
  if (left > LONG_NS) {
    left -= LATE_WAKE_NS;
    struct timespec rest = {.tv_sec = left / 1000000000, .tv_nsec = (long)(left % 1000000000)};
    nanosleep(&rest, NULL);
  }
  while (meeting->now(meeting->user) < moment) continue;
}

bool iso_meeting_wait(iso_meeting *meeting, uint64_t round, uint64_t delay_ns) {
  pthread_mutex_lock(&meeting->lock);
  if (iso_meeting_round(meeting) != round) {
    pthread_mutex_unlock(&meeting->lock);
    return false;
  }
  meeting->arrived++;
  release_if_full(meeting);
  pthread_mutex_unlock(&meeting->lock);
  if (!spin(meeting, round) && !sleep_until_begun(meeting, round)) return false;
  wait_until(meeting, atomic_load_explicit(&meeting->start, memory_order_relaxed) + (int64_t)delay_ns);
  return !meeting->over(meeting->user);
}
