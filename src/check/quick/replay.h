/* replay.h - proves a history serializable by carrying it out in the order of its times, or of the file.
 *
 * Many recorders say when transactions began and ended, or write them down as they end, and many databases carry them
 * out in one of these orders.  Then nobody has to ask who wrote what a read saw: it is what the key holds at that
 * moment.  A history that is the record of a serial execution satisfies every level that this room proves.
 */
#ifndef ISO_CHECK_QUICK_REPLAY_H
#define ISO_CHECK_QUICK_REPLAY_H

#include "base/task.h"
#include "history/history.h"

/* What is known of a history of registers without unknown outcomes. */
typedef struct iso_quick_serial {
  bool is_serial; /* committed transactions one after the other show every read what it saw */
  bool is_unique; /* and no value is written twice to a key, because values ascend; else that is not known */
  bool is_strict; /* and each of them at a time at which it was open: the order respects real time */
} iso_quick_serial;

/* Tries the order of the ends, that of the starts, and that of the file.  A thread lets go of a mapped file where it
 * has read `window` bytes of it (pages.h).  False when memory is out. */
bool iso_quick_replay(const isoproof_history *history, unsigned threads, uint64_t window, isoproof_task *task,
                      iso_quick_serial *serial);

#endif
