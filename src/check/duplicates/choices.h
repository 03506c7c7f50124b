/* choices.h - reads that several writes could explain, and which of them each is taken to have observed.
 *
 * Where two writes of a key have one value, a read of that value has seen one of them, nobody knows which; and a row
 * that a statement found absent, or not to match, may have been so in several versions.  The choices are put into the
 * resolution of the history, so that everything that looks at it sees the history under these choices.  Candidates are
 * listed only of reads that somebody asks about: there may be millions of reads with thousands of candidates each.  A
 * table owns its arrays until iso_choices_free and refers to the history, which must not be checked by anybody else
 * meanwhile.
 */
#ifndef ISO_CHECK_DUPLICATES_CHOICES_H
#define ISO_CHECK_DUPLICATES_CHOICES_H

#include "base/task.h"
#include "base/vector.h"
#include "check/duplicates/reach.h"
#include "history/history.h"
#include "history/row_versions.h"
#include "level/levels.h"

/* What the level allows candidates to be left out for, as nothing else that is chosen can make up for it. */
typedef struct iso_choice_wish {
  bool prune;   /* what breaks read committed: another's write that it overwrote or rolled back */
  bool ordered; /* what comes after the reader in session order and observation */
  bool keep;    /* what the resolution says is the best choice that is known, whatever values repeat */
  bool causal;  /* what somebody overwrote who comes between the writer and the reader in that order */
} iso_choice_wish;

/* What can be left out for a level. */
iso_choice_wish iso_choice_wish_of(const isoproof_level_info *level);

/* A read; its candidates are candidates[first] to candidates[first + count - 1], the likely ones first.  A candidate
 * alone is what must have been observed, whatever the resolution says. */
typedef struct iso_choice {
  uint32_t op;
  uint32_t first, count;
} iso_choice;

/* A count whose rows have choices: those of reads[first_read] and on. */
typedef struct iso_counted {
  const iso_statement *statement;
  size_t first_read, reads;
} iso_counted;

typedef struct iso_choices {
  isoproof_history *history;
  iso_resolution *resolution;
  const uint32_t *op_txn;
  iso_row_versions *versions; /* the resolution's, or own_versions */
  iso_row_versions *own_versions;
  uint32_t *writers;  /* those of each key as in `versions`, ascending; NULL where nobody asked who comes before whom */
  uint32_t *by_value; /* the places of each key in `versions` by value; NULL where values are unique */
  iso_choice_wish wish;
  iso_reach reach;
  bool has_reach, looked_for_reach;
  bool eager;                   /* reads of values that are not unique are being listed */
  bool has_duplicates;          /* values are not unique either */
  ISO_VEC(iso_choice) reads;    /* only those that were asked about */
  ISO_VEC(uint32_t) candidates; /* writes, or ISO_FROM_INITIAL */
  ISO_VEC(iso_counted) counted;
  uint32_t *slots; /* operation -> place in reads + 1, or a mark for a read without a choice; open addressing */
  uint32_t *slot_ops;
  size_t slot_mask, slot_used;
} iso_choices;

/* Gets ready.  Reads of values that are not unique are listed at once, and get a first choice by time, or by position
 * in the sessions.  ISOPROOF_ERR_FORMAT when two appends to one list have one value: which of them a list shows is not
 * looked into. */
isoproof_status iso_choices_make(isoproof_history *history, iso_choice_wish wish, isoproof_task *task,
                                 iso_choices *choices, isoproof_error *error);
void iso_choices_free(iso_choices *choices);

#define ISO_NO_CHOICE SIZE_MAX

/* The place of a read in `reads`, listed now if that is new, and with all rows of its count; ISO_NO_CHOICE where it is
 * certain what was observed.  What the resolution says does not change.  ISOPROOF_ERR_LIMIT when candidates become too
 * many. */
isoproof_status iso_choices_need(iso_choices *choices, uint32_t op, size_t *place, isoproof_error *error);

/* Has a read observe another candidate. */
void iso_choose(iso_choices *choices, size_t read, uint32_t chosen);

/* ---- inside ---- */

/* Sorts the places of the versions of each key by value, those of one value in their likely order. */
isoproof_status iso_candidates_index(iso_choices *choices, isoproof_error *error);

/* Puts the candidates of a read behind the others, the likely ones first.  Without `narrow` nothing is left out that
 * fits. */
isoproof_status iso_candidates_list(iso_choices *choices, uint32_t op, bool narrow, iso_choice *choice,
                                    isoproof_error *error);

#endif
