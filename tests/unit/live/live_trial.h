/* live_trial.h - one small history pushed into a live checker in one way, and whether its verdicts are right. */
#ifndef LIVE_TRIAL_H
#define LIVE_TRIAL_H

#include "tests/unit/live/live_source.h"

enum { LIVE_LEVELS = 8 };

/* Every level that can be followed, the weakest first; the last two need times. */
extern const char *const live_level_ids[LIVE_LEVELS];

typedef struct live_trial {
  live_source *source;
  uint64_t horizon;
  bool recorded;
  unsigned only;  /* a level alone; LIVE_LEVELS: all */
  unsigned cuts;  /* bit i: a poll after transaction i */
  unsigned saves; /* bit i: what is known after transaction i is saved, and restored */
  unsigned pushed;
  isoproof_status status; /* of the last poll */
  char problem[512], witness[512];
  uint64_t polls, unknown, whole_checks, left, saved; /* what was seen */
  bool was_final[LIVE_LEVELS];
} live_trial;

/* Whether the live checker and isoproof_check differ; says how. */
bool live_trial_differs(live_trial *trial);
/* Fails, with the smallest history that shows the difference. */
void live_trial_show(live_trial *trial, unsigned long long number);

#endif
