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

struct isoproof_schedule {
  isoproof_schedule_step steps[ISOPROOF_SCHEDULE_STEPS];
  uint32_t step_count;
  uint32_t labels[ISOPROOF_SCHEDULE_TXNS]; /* of transactions, as in the text */
  uint32_t end[ISOPROOF_SCHEDULE_TXNS];    /* the step that ends a transaction, ISO_NO_STEP while none does */
  uint32_t txn_count;
  char names[ISOPROOF_SCHEDULE_OBJECTS][ISOPROOF_SCHEDULE_NAME_BYTES];
  uint32_t versions[ISOPROOF_SCHEDULE_OBJECTS]; /* writes so far */
  uint32_t object_count;
  bool has_final;                            /* the final state is known from elsewhere: `final` */
  uint32_t final[ISOPROOF_SCHEDULE_OBJECTS]; /* versions */
  iso_words text;
};

isoproof_status iso_schedule_new(isoproof_schedule **schedule, isoproof_error *error);
/* Adds a step of the transaction with that label; `name` and `version` matter to reads and writes only.  `place` is
 * where an error is found. */
isoproof_status iso_schedule_add(isoproof_schedule *schedule, isoproof_schedule_step_kind kind, uint32_t label,
                                 const char *name, uint32_t version, iso_place place, isoproof_error *error);
/* Makes the text: to be called once, after the last step. */
isoproof_status iso_schedule_seal(isoproof_schedule *schedule, isoproof_error *error);

/* The step that wrote a version of an object, ISO_NO_STEP for version 0. */
uint32_t iso_schedule_writer(const isoproof_schedule *schedule, uint32_t object, uint32_t version);
/* The version that a read at `step` sees when nothing else is said. */
uint32_t iso_schedule_latest(const isoproof_schedule *schedule, uint32_t object, uint32_t step);
/* Whether the transaction had ended in that way (ISOPROOF_STEP_COMMIT or _ABORT) before a step. */
bool iso_schedule_ended(const isoproof_schedule *schedule, uint32_t txn, isoproof_schedule_step_kind how,
                        uint32_t step);
/* The value that a write stores: its place among all writes, from 1. */
uint32_t iso_schedule_value(const isoproof_schedule *schedule, uint32_t step);

#endif
