/* isoproof/base.h - status codes, errors, tasks, output sinks.
 *
 * The library never prints and never exits.  A function that can fail returns an isolde_status and, when the caller
 * passes an isolde_error, describes the failure there.  Passing NULL for the error is always allowed.
 *
 * Ownership: a handle returned through an out-parameter belongs to the caller, who frees it with the function of the
 * same prefix ending in _free; every _free function accepts NULL.  Strings and pointers read from a handle live as
 * long as the handle.
 *
 * Threads: different handles may be used from different threads at will.  A history and a result are immutable once
 * returned and may be read by many threads at once.  A builder and an error belong to one thread at a time.  The only
 * function that may be called on a task from another thread while it is in use is isolde_task_cancel.
 */
#ifndef ISOLDE_BASE_H
#define ISOLDE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ISOLDE_API __attribute__((visibility("default")))
#else
#define ISOLDE_API
#endif

/* The version of the library, "major.minor.patch". */
ISOLDE_API const char *isolde_version(void);

/* Status codes: C name, number (stable), name in JSON and messages, meaning. */
#define ISOLDE_STATUS_LIST(X)                                                                                          \
  X(OK, 0, "ok", "success")                                                                                            \
  X(ERR_USAGE, 1, "usage", "a call or a command line that makes no sense")                                             \
  X(ERR_IO, 2, "io", "a file or stream could not be opened, read or written")                                          \
  X(ERR_FORMAT, 3, "bad-input", "the input is not a well-formed history")                                              \
  X(ERR_LIMIT, 4, "limit", "a documented size limit was exceeded")                                                     \
  X(ERR_MEMORY, 5, "memory", "out of memory, or over the memory limit")                                                \
  X(ERR_CANCELLED, 6, "cancelled", "the task was cancelled")                                                           \
  X(ERR_TIMEOUT, 7, "timeout", "the task ran out of its time limit")                                                   \
  X(ERR_UNSUPPORTED, 8, "unsupported", "the request is meaningful, but cannot be expressed or decided")                \
  X(ERR_INTERNAL, 9, "internal", "a bug in isolde")

typedef enum isolde_status {
#define ISOLDE_X(name, number, id, text) ISOLDE_##name = (number),
  ISOLDE_STATUS_LIST(ISOLDE_X)
#undef ISOLDE_X
} isolde_status;

/* The id of a status as in the table above ("bad-input"). */
ISOLDE_API const char *isolde_status_name(isolde_status status);

enum { ISOLDE_ERROR_FILE_BYTES = 512, ISOLDE_ERROR_MESSAGE_BYTES = 512 };

/* What went wrong and where.  `line` and `column` count from 1, 0 where they do not apply; `offset` is a byte offset
 * into the decompressed input, -1 where it does not apply.  `message` says what was expected and what was found, is
 * valid UTF-8, and holds no control characters. */
typedef struct isolde_error {
  isolde_status code;
  uint64_t line;
  uint64_t column;
  int64_t offset;
  char file[ISOLDE_ERROR_FILE_BYTES];
  char message[ISOLDE_ERROR_MESSAGE_BYTES];
} isolde_error;

/* Formats "FILE:LINE:COLUMN: MESSAGE" (leaving out what does not apply) into `buffer`, always terminated; returns
 * the length it would have without truncation, as snprintf does. */
ISOLDE_API size_t isolde_error_format(const isolde_error *error, char *buffer, size_t size);

/* A task carries what a long call needs from its caller: cancellation, a deadline, a number of threads, progress. */
typedef struct isolde_task isolde_task;

/* How far a stage has come.  `total` is 0 while unknown; `unit` is "bytes", "operations", "transactions", ... */
typedef struct isolde_progress {
  const char *stage;
  const char *unit;
  uint64_t done;
  uint64_t total;
} isolde_progress;

/* Called from the thread that runs the task, at most about ten times a second. */
typedef void (*isolde_progress_fn)(const isolde_progress *progress, void *user);

ISOLDE_API isolde_status isolde_task_new(isolde_task **task);
ISOLDE_API void isolde_task_free(isolde_task *task);
/* May be called from any thread and from a signal handler.  The call in progress returns ISOLDE_ERR_CANCELLED soon. */
ISOLDE_API void isolde_task_cancel(isolde_task *task);
/* 0 threads means one a processor. */
ISOLDE_API void isolde_task_set_threads(isolde_task *task, unsigned threads);
/* Counts from this call; 0 means no limit.  What cannot finish in time is `unknown` or ISOLDE_ERR_TIMEOUT. */
ISOLDE_API void isolde_task_set_timeout(isolde_task *task, double seconds);
ISOLDE_API void isolde_task_set_progress(isolde_task *task, isolde_progress_fn callback, void *user);

/* Where output goes.  Returns false to stop with ISOLDE_ERR_IO. */
typedef bool (*isolde_write_fn)(void *user, const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
