/* Records a history as it grows: each session collects a line and writes it whole, under one lock. */
#include "run/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

isoproof_status iso_recorder_open(iso_recorder *recorder, const char *path, isoproof_error *error) {
  memset(recorder, 0, sizeof *recorder);
  recorder->fd = -1;
  recorder->path = strdup(path);
  if (recorder->path == NULL) return iso_fail_memory(error);
  if (strcmp(path, "-") == 0) {
    recorder->fd = STDOUT_FILENO;
  } else {
    recorder->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    recorder->close_fd = true;
  }
  isoproof_status status = ISOPROOF_OK;
  if (recorder->fd < 0) {
    status = iso_fail_errno(error, path, "open it for writing");
  } else if (pthread_mutex_init(&recorder->lock, NULL) != 0) {
    if (recorder->close_fd) close(recorder->fd);
    status = iso_fail_memory(error);
  }
  if (status != ISOPROOF_OK) {
    free(recorder->path);
    recorder->path = NULL;
  }
  return status;
}

isoproof_status iso_recorder_close(iso_recorder *recorder, isoproof_error *error) {
  if (recorder->path == NULL) return ISOPROOF_OK;
  isoproof_status status = ISOPROOF_OK;
  bool failed = atomic_load(&recorder->failed);
  if (recorder->close_fd && close(recorder->fd) != 0 && !failed) {
    status = iso_fail_errno(error, recorder->path, "close it");
  } else if (failed) {
    status = recorder->problem.code;
    if (error != NULL) *error = recorder->problem;
  }
  pthread_mutex_destroy(&recorder->lock);
  free(recorder->path);
  recorder->path = NULL;
  return status;
}

bool iso_recorder_failed(const iso_recorder *recorder) { return atomic_load(&recorder->failed); }

/* ---- lines ---- */

/* Writes a whole line.  A short write is completed under the lock, so that nothing comes between. */
static bool write_line(iso_recorder *recorder, const char *bytes, size_t size) {
  pthread_mutex_lock(&recorder->lock);
  bool good = !atomic_load_explicit(&recorder->failed, memory_order_relaxed);
  size_t line = size;
  while (good && size > 0) {
    ssize_t n = write(recorder->fd, bytes, size);
    if (n >= 0) {
      bytes += n;
      size -= (size_t)n;
    } else if (errno != EINTR) {
      iso_fail_errno(&recorder->problem, recorder->path, "write to it");
      atomic_store(&recorder->failed, true);
      good = false;
      /* Of a full disk, say: whole lines stay.  Where that fails, readers leave the broken one out. */
      if (size < line && recorder->close_fd && ftruncate(recorder->fd, (off_t)recorder->whole) != 0) errno = 0;
    }
  }
  if (good) recorder->whole += line;
  pthread_mutex_unlock(&recorder->lock);
  return good;
}

/* What the output hands over ends with a newline unless it is a piece of a line longer than its buffer. */
static bool take(void *user, const void *data, size_t size) {
  iso_session_log *log = user;
  const char *bytes = data;
  bool whole = bytes[size - 1] == '\n';
  if (whole && log->rest.count == 0) return write_line(log->recorder, bytes, size);
  if (!iso_vec_reserve(&log->rest, size)) {
    pthread_mutex_lock(&log->recorder->lock);
    iso_fail_memory(&log->recorder->problem);
    atomic_store(&log->recorder->failed, true);
    pthread_mutex_unlock(&log->recorder->lock);
    return false;
  }
  memcpy(log->rest.items + log->rest.count, bytes, size);
  log->rest.count += size;
  if (!whole) return true;
  bool good = write_line(log->recorder, log->rest.items, log->rest.count);
  log->rest.count = 0;
  return good;
}

isoproof_status iso_session_log_open(iso_session_log *log, iso_recorder *recorder, isoproof_error *error) {
  memset(log, 0, sizeof *log);
  log->recorder = recorder;
  return iso_output_open_callback(take, log, ISOPROOF_COMPRESS_NO, &log->output, error);
}

void iso_session_log_close(iso_session_log *log) {
  if (log->output != NULL) iso_output_abandon(log->output);
  log->output = NULL;
  iso_vec_free(&log->rest);
}

void iso_session_log_header(iso_session_log *log, const iso_jsonl_fact *facts, size_t count) {
  iso_jsonl_write_header(log->output, false, facts, count);
  iso_output_flush(log->output);
}

void iso_session_log_initial_rows(iso_session_log *log, const iso_row_value *rows, size_t count) {
  iso_jsonl_write_initial_rows(log->output, rows, count);
  iso_output_flush(log->output);
}

void iso_session_log_initial_contents(iso_session_log *log, const iso_jsonl_row *rows, size_t count) {
  iso_jsonl_write_initial_contents(log->output, rows, count);
  iso_output_flush(log->output);
}

void iso_session_log_row_names(iso_session_log *log, const iso_jsonl_row_name *names, size_t count) {
  iso_jsonl_write_row_names(log->output, names, count);
  iso_output_flush(log->output);
}

void iso_session_log_txn(iso_session_log *log, const iso_jsonl_txn *txn) {
  iso_jsonl_write_txn(log->output, txn);
  iso_output_flush(log->output);
}
