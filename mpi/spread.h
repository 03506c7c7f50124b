/* spread.h - a history read by the ranks and spread over them by keys.
 *
 * A file in the binary form is mapped by all, and each ships the operations of its range of transactions; a text whose
 * lines stand on their own is read in ranges of bytes, and each ships the operations of its own, and so are the parts
 * of a history in a folder; anything else is read by rank 0, which ships all of them.  A spread owns its history and
 * its part until spread_free.
 */
#ifndef MPI_SPREAD_H
#define MPI_SPREAD_H

#include "mpi/talk.h"
#include "parts/merge.h"

typedef struct spread {
  isoproof_history
      *history;    /* without operations unless it lies in a mapped file; NULL on others than rank 0 otherwise */
  uint8_t *status; /* by transaction, on ranks without a history */
  bool in_ranges;  /* the history is there on all ranks, and each ships a range of its transactions */
  isoproof_history *range; /* what this rank alone has read, until it is shipped; NULL: nothing of its own */
  iso_range_map map;       /* its numbers and codes in the whole */
  int readers;             /* ranks that have read the input: all or one */
  iso_part part;
  bool has_part;
} spread;

/* Reads it and has every rank make its part.  Every rank calls it. */
isoproof_status spread_read(talk *t, const char *path, const char *format, spread *s, isoproof_error *error);
/* The same for a history that every rank has (`in_ranges`) or rank 0 alone, and that the spread takes over. */
isoproof_status spread_history(talk *t, isoproof_history *history, bool in_ranges, spread *s, isoproof_error *error);
/* The whole history, on one rank. */
isoproof_status spread_open_whole(const char *path, const char *format, isoproof_task *task, isoproof_history **history,
                                  isoproof_error *error);
void spread_free(spread *s);
/* The part only: what a check of the whole needs the memory of. */
void spread_free_part(spread *s);

#endif
