/* recorder.h - the history as it grows: whole lines of JSON, one write each.
 *
 * A recorder owns its file until iso_recorder_close; a session log is the part of it that one session writes: it
 * borrows the recorder and owns a buffer until iso_session_log_close.  Lines of different sessions never mix.  The
 * first failure is sticky, nothing is written after it, and the part of a line that was written before it is taken
 * back.
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
  uint64_t whole;         /* bytes of whole lines; under the lock */
  char *path;
} iso_recorder;

/* "-" is standard output; a file that exists is replaced. */
isoproof_status iso_recorder_open(iso_recorder *recorder, const char *path, isoproof_error *error);
/* Reports the first failure. */
isoproof_status iso_recorder_close(iso_recorder *recorder, isoproof_error *error);
bool iso_recorder_failed(const iso_recorder *recorder);

typedef struct iso_session_log {
  iso_recorder *recorder;
  iso_output *output;
  ISO_VEC(char) rest; /* the beginning of a line that did not fit the buffer */
} iso_session_log;

isoproof_status iso_session_log_open(iso_session_log *log, iso_recorder *recorder, isoproof_error *error);
void iso_session_log_close(iso_session_log *log);
/* Each writes one line, whole. */
void iso_session_log_header(iso_session_log *log, const iso_jsonl_fact *facts, size_t count);
void iso_session_log_initial_rows(iso_session_log *log, const iso_row_value *rows, size_t count);
void iso_session_log_initial_contents(iso_session_log *log, const iso_jsonl_row *rows, size_t count);
void iso_session_log_row_names(iso_session_log *log, const iso_jsonl_row_name *names, size_t count);
void iso_session_log_txn(iso_session_log *log, const iso_jsonl_txn *txn);

#endif
