/* between.h - who writes a key between a version of it and its reader, in an order of the transactions, and is causally
 * before the reader?  Answered by clocks (check/causal/session_clock.h).
 *
 * The history is carried out in the order at hand, which chains the versions of a key and tells each read which one it
 * would have seen.  From there the read goes back along the chain to the version that it did see: in an order that is
 * nearly right there is hardly anybody on the way.  The finder owns its tables until iso_between_finder_free and refers
 * to the view, the sequence and the clocks.
 */
#ifndef ISO_CHECK_CAUSAL_BETWEEN_H
#define ISO_CHECK_CAUSAL_BETWEEN_H

#include "check/causal/session_clock.h"

/* A writer between: at place `writer`, causally before the reader of `read`. */
typedef struct iso_between {
  uint32_t writer, read;
} iso_between;

typedef ISO_VEC(iso_between) iso_between_list;

typedef struct iso_between_finder {
  const iso_view *v;
  const iso_sequence *s;
  const iso_session_clocks *clocks;
  /* A slot is a place in view->write_key: the version of that key by one transaction. */
  struct iso_version_link {
    uint32_t place;  /* of the writer */
    uint32_t before; /* the slot of the version before, + 1; 0 for the initial one */
    uint32_t moved;  /* the same of the last version before it whose writer moved */
  } * link;          /* by slot */
  uint32_t *current; /* by read: the slot of the last version before it, + 1 */
  uint32_t *last;    /* by key: the slot of the last version so far, + 1 */
  uint32_t *moved;   /* by key: the same of those whose writers moved */
  bool is_patient;   /* there is no other way to find out: it gives up later */
} iso_between_finder;

/* What is asked about. */
typedef struct iso_between_question {
  /* Every writer of every read, or only those that the last repair of the order can have put between: who moved, and,
   * of versions whose writers moved and of reads that are marked, all. */
  bool anew;
  const uint8_t *moved; /* by transaction */
  const uint8_t *again; /* by read */
  bool all;             /* all writers of a read that matter, not only the last few of them, whom others follow soon */
} iso_between_question;

/* False when memory is out. */
bool iso_between_finder_make(const iso_view *view, const iso_sequence *sequence, const iso_session_clocks *clocks,
                             iso_between_finder *finder);
void iso_between_finder_free(iso_between_finder *finder);

/* Appends what it finds to `found`.  Gives up when that takes too many steps, and sets *too_far. */
isoproof_status iso_between_find(iso_between_finder *finder, const iso_between_question *question, unsigned threads,
                                 isoproof_task *task, iso_between_list *found, bool *too_far, isoproof_error *error);

#endif
