/* meeting.h - where the sessions of a workload in rounds wait for each other.
 *
 * Sessions join when they have a connection and leave when they lose it, so that nobody waits for who is gone.  The
 * last one to arrive lets all of them go, at one moment of the clock of the run.  A meeting is initialised and
 * destroyed by the run; everything else may be called by any thread.
 */
#ifndef ISO_RUN_MEETING_H
#define ISO_RUN_MEETING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Called by the last one to arrive for a round, before it begins: makes ready what the next rounds need.  False: the
 * run is to end. */
typedef bool (*iso_meeting_ready_fn)(void *user, uint64_t round);
/* Nanoseconds on the clock of the run, and whether the run is to end. */
typedef int64_t (*iso_meeting_now_fn)(void *user);
typedef bool (*iso_meeting_over_fn)(void *user);

typedef struct iso_meeting {
  pthread_mutex_t lock;
  pthread_cond_t turn;
  _Atomic uint64_t round; /* the one that sessions arrive for, from 1 */
  _Atomic int64_t start;  /* when the one before it began */
  uint32_t parties, arrived;
  bool releasing; /* somebody makes ready */
  iso_meeting_ready_fn ready;
  iso_meeting_now_fn now;
  iso_meeting_over_fn over;
  void *user;
} iso_meeting;

/* False when the system has no more locks.  The functions are those of the caller. */
bool iso_meeting_init(iso_meeting *meeting, iso_meeting_ready_fn ready, iso_meeting_now_fn now,
                      iso_meeting_over_fn over, void *user);
void iso_meeting_destroy(iso_meeting *meeting);

/* Takes part from now on; the round to arrive for first. */
uint64_t iso_meeting_join(iso_meeting *meeting);
void iso_meeting_leave(iso_meeting *meeting);
/* Waits until all are there for the round, and then until `delay_ns` after its beginning.  False: the run is to end, or
 * the round has begun without this session, which goes on with iso_meeting_round. */
bool iso_meeting_wait(iso_meeting *meeting, uint64_t round, uint64_t delay_ns);
uint64_t iso_meeting_round(const iso_meeting *meeting);

#endif
