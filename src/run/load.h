/* load.h - when sessions begin their transactions: phases, ramps, a schedule of arrivals, time to think.
 *
 * The schedule is an open loop: transactions are due at moments that do not depend on how long others take, and their
 * latency counts from there, so that a database that stalls cannot hide what waited (coordinated omission).  A load is
 * initialised and destroyed by the run; iso_load_take may be called by any session, the rest is constant.  Times are
 * nanoseconds since the sessions began.
 */
#ifndef ISO_RUN_LOAD_H
#define ISO_RUN_LOAD_H

#include <isoproof/run.h>
#include <pthread.h>

#include "workload/random.h"

#define ISO_NEVER INT64_MAX
#define ISO_UNSCHEDULED (-1)

typedef struct iso_load {
  const isoproof_run_options *options;
  uint32_t sessions;
  double rate; /* of this client */
  pthread_mutex_t lock;
  int64_t due; /* of the next transaction; under the lock, as is the next one */
  iso_random random;
} iso_load;

/* Whether the options make sense with so many sessions; ISOPROOF_ERR_USAGE. */
isoproof_status iso_load_check(const isoproof_run_options *options, uint32_t sessions, isoproof_error *error);
/* False when the system has no more locks. */
bool iso_load_init(iso_load *load, const isoproof_run_options *options, uint32_t sessions, uint64_t seed);
/* Leaves only the part of one client of the run: the rate of `own` of its sessions. */
void iso_load_share(iso_load *load, uint32_t client, uint32_t own, uint64_t seed);
void iso_load_destroy(iso_load *load);

/* The first moment from `now` on at which a session takes part: `now` itself, later (a ramp, a phase that it is not
 * part of), or ISO_NEVER. */
int64_t iso_load_active(const iso_load *load, uint32_t session, int64_t now);
/* Takes the next transaction off the schedule: when it is due; ISO_UNSCHEDULED without a rate. */
int64_t iso_load_take(iso_load *load);
/* Forgets what was due before `now`, while sessions were not allowed to begin. */
void iso_load_skip(iso_load *load, int64_t now);
/* By how much the schedule is ahead of the sessions: since when transactions have been due that nobody began; 0 for
 * none. */
int64_t iso_load_behind(iso_load *load, int64_t now);
/* How long a session thinks, in nanoseconds, drawn by its own state. */
int64_t iso_load_think(const iso_load *load, iso_random *random);

/* "10 for 30 s, 100 for 60 s" and the like, for the header of the history; "" where there is nothing to say. */
void iso_load_describe_phases(const isoproof_run_options *options, char *text, size_t size);
void iso_load_describe_think(const isoproof_run_options *options, char *text, size_t size);

#endif
