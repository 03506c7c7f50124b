/* team.h - what the ranks of a run say to each other.  Rank 0 leads: it compares the clocks, keeps the parts of the
 * others, says when to begin and to stop, and notices who is gone.
 *
 * A team owns its wire and its state; its functions are for the main thread, and wait until what they ask for is so, a
 * time is over, or somebody pressed Ctrl-C.
 */
#ifndef MPI_TEAM_H
#define MPI_TEAM_H

#include "run/join.h"
#include "run/summary.h"

typedef struct team team;

/* What a round is about, the same for all. */
typedef struct team_round {
  uint64_t seed, run;
} team_round;

/* `patience`: after how many seconds without a sign of life a rank is gone.  NULL after a message. */
team *team_open(double patience);
int team_rank(const team *t);
int team_size(const team *t);
/* Ranks that are gone. */
int team_lost(team *t);
/* Tells the others that there is nothing more to do.  An exit code: this one, unless something failed; or none, since
 * the process has to end by _exit. */
int team_close(team *t, int code);

/* ---- rank 0 ---- */

/* Begins a round: from now on clocks are compared, and what the others record goes into the folder.  False after a
 * message. */
bool team_begin(team *t, const team_round *round, const char *folder);
/* Ends it, once everything that the others recorded is there.  Their counts are added to those of the report. */
isoproof_status team_collect(team *t, isoproof_run_summary *report, isoproof_error *error);
/* Whether the sessions of the round have begun: there is something to join. */
bool team_has_begun(team *t);
/* Tells the others whether their parts are of no more use. */
void team_end(team *t, bool drop);

/* ---- the others ---- */

/* Waits for the next round; false when there is none. */
bool team_await(team *t, team_round *round);
/* What is recorded at `path` goes to rank 0. */
bool team_record(team *t, const char *path);
/* How the run ended: everything that was recorded is sent.  Returns whether the part is of no more use. */
bool team_report(team *t, isoproof_status status, const isoproof_run_summary *report, const isoproof_error *error);

/* Whether rank 0 does not answer any more. */
bool team_leader_is_gone(team *t);

/* ---- all ---- */

/* isoproof_run_share.meet, and isoproof_run_options.over; the user is the team. */
isoproof_status team_meet(isoproof_run_point point, uint64_t *most, void *user, isoproof_error *error);
bool team_is_over(void *user);

#endif
