/* choices.h - reads that several writes could explain, and which of them each is taken to have observed.
 *
 * Where two writes of a key have one value, a read of that value has seen one of them, nobody knows which.  The choices
 * are put into the resolution of the history, so that everything that looks at it sees the history under these choices.
 * A table owns its arrays until iso_choices_free and refers to the history, which must not be checked by anybody else
 * meanwhile.
 */
#ifndef ISO_CHECK_DUPLICATES_CHOICES_H
#define ISO_CHECK_DUPLICATES_CHOICES_H

#include "base/task.h"
#include "base/vector.h"
#include "history/history.h"

/* A read; its candidates are candidates[first] to candidates[first + count - 1]. */
typedef struct iso_choice {
  uint32_t op;
  uint32_t first, count;
  uint32_t chosen; /* 0 .. count - 1 */
} iso_choice;

typedef struct iso_choices {
  isoproof_history *history;
  iso_resolution *resolution;
  const uint32_t *op_txn;
  bool timed;
  ISO_VEC(iso_choice) reads;    /* ascending by op; only those with several candidates */
  ISO_VEC(uint32_t) candidates; /* writes, or ISO_FROM_INITIAL */
} iso_choices;

/* Finds the reads that have a choice, and makes a first choice by time, or by position in the sessions.  With `prune`,
 * candidates that break read committed whatever else is so are left out where there are others.  ISOPROOF_ERR_FORMAT
 * when two appends to one list have one value: which of them a list shows is not looked into. */
isoproof_status iso_choices_make(isoproof_history *history, bool prune, isoproof_task *task, iso_choices *choices,
                                 isoproof_error *error);
void iso_choices_free(iso_choices *choices);

/* Has a read observe another candidate. */
void iso_choose(iso_choices *choices, size_t read, uint32_t chosen);

#endif
