/* runs.h - every schedule at every level: counts, and what was kept of those that a level forbids.
 * Runs own everything in them, through their arena, until isoproof_systematic_free. */
#ifndef ISO_COO_SYSTEMATIC_RUNS_H
#define ISO_COO_SYSTEMATIC_RUNS_H

#include <isoproof/systematic.h>

#include "base/arena.h"
#include "coo/systematic/execute.h"
#include "coo/systematic/judge.h"
#include "coo/systematic/walk.h"

struct isoproof_systematic_walk {
  isoproof_systematic_bounds bounds; /* as they count */
  iso_sys_bounds inner;
  iso_sys_walk walk;
  uint64_t random;
  uint64_t *drawn; /* hashes of what was drawn, so that nothing comes twice */
  uint64_t next;   /* number of the next one */
  uint64_t given;
  iso_sys_schedule schedule;
  char text[ISO_SYS_TEXT_BYTES];
};

/* The bounds of a caller with the defaults put in. */
isoproof_status iso_sys_bounds_read(const isoproof_systematic_bounds *given, isoproof_systematic_bounds *known,
                                    isoproof_error *error);

typedef struct iso_sys_finding {
  isoproof_systematic_finding shown;
  const isoproof_coo_event *events;
  iso_sys_schedule schedule; /* in canonical form */
} iso_sys_finding;

/* A schedule that was forbidden and allowed and contains no smaller one, and the finding that shows its shape. */
typedef struct iso_sys_minimal {
  iso_sys_schedule schedule; /* in canonical form */
  size_t finding;
} iso_sys_minimal;

typedef struct iso_sys_level {
  isoproof_systematic_level groups[2]; /* of schedules that use no key again, and of those that do */
  ISO_VEC(iso_sys_finding) findings;
  ISO_VEC(iso_sys_minimal) minimal;
} iso_sys_level;

/* Where a finding is. */
typedef struct iso_sys_listed {
  size_t level, finding;
} iso_sys_listed;

struct isoproof_systematic {
  iso_arena arena;
  isoproof_systematic_summary summary;
  iso_sys_level levels[ISO_MOST_ISOLATIONS];
  size_t level_count;
  iso_sys_judge judge;
  ISO_VEC(iso_sys_listed) listed; /* in the order in which they are given */
};

/* ---- what came of a run ---- */

/* What has to be known of a run once its stepper goes on with the next one. */
typedef struct iso_sys_outcome {
  double seconds;
  bool waited, failed;
  iso_error_class failure; /* the first error, which decides: what follows it is its consequence */
  const char *expected;    /* level; NULL for none */
  iso_sys_verdict verdict;
  char *history;          /* owned; NULL where nobody asks for it */
  iso_sys_run *run;       /* owned, with the events, of what the expected level forbids; else NULL */
  iso_step_event *events; /* owned */
  uint32_t event_count;
} iso_sys_outcome;

/* Judges what a stepper has just done at a level; the text is a buffer.  An error of the database that is no conflict
 * is no outcome. */
isoproof_status iso_sys_conclude(isoproof_systematic *runs, size_t level, const iso_stepper *stepper,
                                 const iso_sys_run *run, bool recorded, iso_sys_text_buffer *text,
                                 iso_sys_outcome *outcome, isoproof_error *error);
void iso_sys_outcome_free(iso_sys_outcome *outcome);

/* Counts an outcome, and keeps it where the expected level forbids it and its shape is new; `record` is told of it. */
isoproof_status iso_sys_keep(isoproof_systematic *runs, size_t level, const iso_sys_schedule *schedule, uint64_t number,
                             const iso_sys_outcome *outcome, const isoproof_systematic_options *options,
                             isoproof_error *error);
/* Puts findings in order: those that were drawn have come in any. */
isoproof_status iso_sys_arrange(isoproof_systematic *runs, isoproof_error *error);

/* ---- running ---- */

/* Runs all schedules of a walk at every level of a database, several at once where that is asked for. */
typedef struct iso_sys_plan {
  const isoproof_systematic_options *options; /* known ones */
  const iso_database_options *how;            /* to open the database once more */
  const isoproof_systematic_bounds *bounds;
  const iso_isolation *isolations[ISO_MOST_ISOLATIONS];
  isoproof_systematic_walk *walk;
} iso_sys_plan;

isoproof_status iso_sys_run_lanes(isoproof_systematic *runs, iso_sys_plan *plan, iso_database *database,
                                  isoproof_task *task, isoproof_error *error);

#endif
