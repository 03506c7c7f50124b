/* index.h - who wrote a key, and who read a version.
 *
 * Both are compressed sparse rows over operation numbers.  As transactions are numbered session by session, the
 * writers of a key in ascending order are also grouped by session, and the writers of one session are a range that a
 * binary search finds.  The index owns its arrays until iso_index_free.
 */
#ifndef ISO_HISTORY_INDEX_H
#define ISO_HISTORY_INDEX_H

#include "base/task.h"
#include "history/history.h"

typedef struct iso_writers {
  uint32_t *first; /* keys + 1 */
  uint32_t *op;    /* writing operations (WRITE, APPEND, ADD, INCREMENT) of each key, ascending */
} iso_writers;

typedef struct iso_readers {
  uint32_t *first; /* ops + 1: readers of the write with that number */
  uint32_t *op;    /* reading operations, ascending */
} iso_readers;

isoproof_status iso_writers_make(const isoproof_history *history, iso_writers *writers, isoproof_error *error);
void iso_writers_free(iso_writers *writers);
/* The writers of `key` in `session`: places [*begin, *end) of writers->op. */
void iso_writers_in_session(const isoproof_history *history, const iso_writers *writers, uint32_t key, uint32_t session,
                            uint32_t *begin, uint32_t *end);

isoproof_status iso_readers_make(const isoproof_history *history, const iso_resolution *resolution,
                                 iso_readers *readers, isoproof_error *error);
void iso_readers_free(iso_readers *readers);

#endif
