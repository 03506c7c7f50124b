/* row_steps.h - one transaction after the other takes effect, each after those that it cannot do without.
 *
 * Steps own their arrays and their state until iso_row_steps_free and refer to the history and the resolution.
 */
#ifndef ISO_HISTORY_ROW_STEPS_H
#define ISO_HISTORY_ROW_STEPS_H

#include "history/row_state.h"

/* Why somebody is to go on before the one below. */
typedef enum iso_row_aim {
  ISO_AIM_WHOLE,  /* what it writes is needed */
  ISO_AIM_BEGINS, /* what it read is about to be overwritten: to begin is enough, to be done is better */
  ISO_AIM_ALONE   /* the same, but it may also find that again later: only if it can be done at once */
} iso_row_aim;

typedef struct iso_row_errand {
  uint32_t txn;
  iso_row_aim why;
} iso_row_errand;

/* Somebody who should perhaps have gone on before somebody else wrote. */
typedef struct iso_row_suspect {
  uint32_t first, second;
} iso_row_suspect;

enum { ISO_ROW_SUSPECTS = 16 };

typedef struct iso_row_steps {
  iso_row_state s;
  ISO_VEC(iso_row_errand) stack;
  uint8_t *on_stack;                          /* by transaction */
  uint8_t *tries;                             /* by transaction: how often it was on the stack */
  uint32_t *failed;                           /* by transaction: the step at which it could not go on */
  uint32_t step;                              /* 1 and on: grows whenever anything changes */
  uint32_t *prior;                            /* by transaction: who is taken to come before it, + 1 */
  uint8_t *settled;                           /* by transaction: it saw everything as it was; the caller's */
  bool timed;                                 /* there are times, and they count */
  int64_t horizon;                            /* who started later comes after the goal */
  iso_row_suspect suspects[ISO_ROW_SUSPECTS]; /* of the last goal, if it was not reached */
  size_t suspect_count;
  bool out_of_memory;
} iso_row_steps;

isoproof_status iso_row_steps_make(const isoproof_history *history, iso_resolution *resolution, uint8_t *settled,
                                   iso_row_steps *steps, isoproof_error *error);
void iso_row_steps_free(iso_row_steps *steps);

/* Whether a transaction takes part and is not done. */
static inline bool iso_row_steps_is_left(const iso_row_steps *p, uint32_t txn) {
  return p->s.stage[txn] == ISO_STAGE_WAITS || p->s.stage[txn] == ISO_STAGE_BEGUN;
}

/* Has a transaction take effect, after those that it cannot do without, and nobody else; false when it cannot. */
bool iso_row_steps_reach(iso_row_steps *steps, uint32_t goal);
/* The same whatever it saw, after all of its session that come before it. */
void iso_row_steps_force(iso_row_steps *steps, uint32_t goal);
/* Takes back everything but the first events; when the first of those ended who are left again. */
int64_t iso_row_steps_go_back(iso_row_steps *steps, size_t events);

#endif
