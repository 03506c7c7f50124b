/* recorder.h - the history as it grows: whole lines of JSON, one write each.
 *
 * A recorder owns its file until iso_recorder_close; a pen belongs to one session, borrows the recorder, and is freed
 * by iso_pen_free.  Lines of different sessions never mix.  The first failure is sticky, and nothing is written after
 * it.
 */
#ifndef ISO_RUN_RECORDER_H
#define ISO_RUN_RECORDER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/vector.h"
#include "format/jsonl.h"

enum { ISO_MOST_EVENTS = 3000 };

typedef struct iso_recorder {
  int fd;
  bool close_fd;
  atomic_bool failed;
  pthread_mutex_t lock;
  isoproof_error problem; /* the first failure; under the lock */
  char *path;
} iso_recorder;

/* "-" is standard output; a file that exists is replaced. */
isoproof_status iso_recorder_open(iso_recorder *recorder, const char *path, isoproof_error *error);
/* Reports the first failure. */
isoproof_status iso_recorder_close(iso_recorder *recorder, isoproof_error *error);
bool iso_recorder_failed(const iso_recorder *recorder);

typedef struct iso_pen {
  iso_recorder *recorder;
  iso_output *output;
  ISO_VEC(char) rest; /* the beginning of a line that did not fit the buffer */
} iso_pen;

isoproof_status iso_pen_new(iso_pen *pen, iso_recorder *recorder, isoproof_error *error);
void iso_pen_free(iso_pen *pen);
/* Each writes one line at once. */
void iso_pen_header(iso_pen *pen, const iso_jsonl_fact *facts, size_t count);
void iso_pen_txn(iso_pen *pen, const iso_jsonl_txn *txn);

#endif
