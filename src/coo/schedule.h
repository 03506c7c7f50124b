/* schedule.h - the steps of a schedule, and making one step by step.
 * A schedule owns its text and is filled through iso_schedule_add until iso_schedule_seal. */
#ifndef ISO_COO_SCHEDULE_H
#define ISO_COO_SCHEDULE_H

#include <isoproof/coo.h>

#include "base/error.h"
#include "base/words.h"

/* The version of a read that sees what the order of the steps alone says. */
#define ISO_VERSION_LATEST UINT32_MAX
#define ISO_NO_STEP UINT32_MAX

struct isolde_schedule {
  isolde_step steps[ISOLDE_SCHEDULE_STEPS];
  uint32_t step_count;
  uint32_t labels[ISOLDE_SCHEDULE_TXNS]; /* of transactions, as in the text */
  uint32_t end[ISOLDE_SCHEDULE_TXNS];    /* the step that ends a transaction, ISO_NO_STEP while none does */
  uint32_t txn_count;
  char names[ISOLDE_SCHEDULE_OBJECTS][ISOLDE_OBJECT_NAME_BYTES];
  uint32_t versions[ISOLDE_SCHEDULE_OBJECTS]; /* writes so far */
  uint32_t object_count;
  bool has_final;                          /* the final state is known from elsewhere: `final` */
  uint32_t final[ISOLDE_SCHEDULE_OBJECTS]; /* versions */
  iso_words text;
};

isolde_status iso_schedule_new(isolde_schedule **schedule, isolde_error *error);
/* Adds a step of the transaction with that label; `name` and `version` matter to reads and writes only.  `place` is
 * where an error is found. */
isolde_status iso_schedule_add(isolde_schedule *schedule, isolde_step_kind kind, uint32_t label, const char *name,
                               uint32_t version, iso_place place, isolde_error *error);
/* Makes the text: to be called once, after the last step. */
isolde_status iso_schedule_seal(isolde_schedule *schedule, isolde_error *error);

/* The step that wrote a version of an object, ISO_NO_STEP for version 0. */
uint32_t iso_schedule_writer(const isolde_schedule *schedule, uint32_t object, uint32_t version);
/* The version that a read at `step` sees when nothing else is said. */
uint32_t iso_schedule_latest(const isolde_schedule *schedule, uint32_t object, uint32_t step);
/* Whether the transaction had ended in that way (ISOLDE_STEP_COMMIT or _ABORT) before a step. */
bool iso_schedule_ended(const isolde_schedule *schedule, uint32_t txn, isolde_step_kind how, uint32_t step);
/* The value that a write stores: its place among all writes, from 1. */
uint32_t iso_schedule_value(const isolde_schedule *schedule, uint32_t step);

#endif
