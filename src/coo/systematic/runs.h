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
  uint32_t steps; /* of the schedule */
} iso_sys_finding;

typedef struct iso_sys_level {
  isoproof_systematic_level shown;
  ISO_VEC(iso_sys_finding) findings;
} iso_sys_level;

struct isoproof_systematic {
  iso_arena arena;
  isoproof_systematic_summary summary;
  iso_sys_level levels[ISO_MOST_ISOLATIONS];
  size_t level_count;
  iso_sys_judge judge;
  iso_sys_text_buffer text; /* of the outcome under way */
};

/* Counts what came of a run, and keeps it where the expected level forbids it; `record` is told of it. */
isoproof_status iso_sys_keep(isoproof_systematic *runs, size_t level, const iso_stepper *stepper,
                             const iso_sys_run *run, uint64_t number, const isoproof_systematic_options *options,
                             isoproof_error *error);

#endif
