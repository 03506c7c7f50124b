/* together.h - one run on all ranks.  Everything is borrowed. */
#ifndef MPI_TOGETHER_H
#define MPI_TOGETHER_H

#include "cli/options/run_options.h"
#include "mpi/team.h"

/* Rank 0, in the place of isoproof_run: the history at the path is that of all ranks, joined, and the counts are those
 * of all.  `user` is the team.  Beside the history is a folder PATH.parts until it is joined; it stays when a machine
 * was lost, or nothing could be joined. */
isoproof_status together_lead(const isoproof_run_options *planned, isoproof_task *task, void *user,
                              isoproof_run_summary **summary, isoproof_error *error);

/* The other ranks: takes part in run after run, until rank 0 wants no more.  What they record is below `folder` until
 * rank 0 has joined it.  An exit code. */
int together_follow(team *t, run_plan *plan, const char *folder);

#endif
