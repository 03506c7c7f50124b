/* isoproof/base.h - status codes, errors, tasks, output sinks.
 *
 * The library never prints and never exits.  A function that can fail returns an isoproof_status and, when the caller
 * passes an isoproof_error, describes the failure there.  Passing NULL for the error is always allowed.
 *
 * Ownership: a handle returned through an out-parameter belongs to the caller, who frees it with the function of the
 * same prefix ending in _free; every _free function accepts NULL.  Strings and pointers read from a handle live as
 * long as the handle.
 *
 * Structs: one that the caller allocates begins with struct_size, which the caller sets to sizeof the struct before it
 * is used first, as in `isoproof_counts counts = {.struct_size = sizeof counts};`; the library leaves it as it is.
 * Fields are only ever added at the end of such a struct, so that a program and a library of different versions can
 * meet.  Of options, what an older program does not know has its default, and a newer program that sets what the
 * library does not know gets ISOPROOF_ERR_UNSUPPORTED; NULL means all defaults.  Of a struct that the library fills, an
 * older program gets as much as it knows, and a newer one zeros for the rest.  Where struct_size is not set, a function
 * returns false or ISOPROOF_ERR_USAGE.  A struct that says "Frozen." in its comment has no size and never changes:
 * plain values, and the elements of arrays.  Structs that are only ever reached through a pointer to const are the
 * library's own; they have no size, and fields are added at their ends.
 *
 * Threads: different handles may be used from different threads at will.  A history and a result are immutable once
 * returned and may be read by many threads at once.  A builder and an error belong to one thread at a time.  The only
 * function that may be called on a task from another thread while it is in use is isoproof_task_cancel.
 */
#ifndef ISOPROOF_BASE_H
#define ISOPROOF_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ISOPROOF_API __attribute__((visibility("default")))
#else
#define ISOPROOF_API
#endif

/* The version of the library, "major.minor.patch". */
ISOPROOF_API const char *isoproof_version(void);

/* Status codes: C name, number (stable), name in JSON and messages, meaning. */
#define ISOPROOF_STATUS_LIST(X)                                                                                        \
  X(OK, 0, "ok", "success")                                                                                            \
  X(ERR_USAGE, 1, "usage", "a call or a command line that makes no sense")                                             \
  X(ERR_IO, 2, "io", "a file or stream could not be opened, read or written")                                          \
  X(ERR_FORMAT, 3, "bad-input", "the input is not a well-formed history")                                              \
  X(ERR_LIMIT, 4, "limit", "a documented size limit was exceeded")                                                     \
  X(ERR_MEMORY, 5, "memory", "out of memory, or over the memory limit")                                                \
  X(ERR_CANCELLED, 6, "cancelled", "the task was cancelled")                                                           \
  X(ERR_TIMEOUT, 7, "timeout", "the task ran out of its time limit")                                                   \
  X(ERR_UNSUPPORTED, 8, "unsupported", "the request is meaningful, but cannot be expressed or decided")                \
  X(ERR_INTERNAL, 9, "internal", "a bug in isoproof")                                                                  \
  X(ERR_INTERFERENCE, 10, "interference", "somebody else changed the tables of a run, which therefore proves nothing")

typedef enum isoproof_status {
#define ISOPROOF_X(name, number, id, text) ISOPROOF_##name = (number),
  ISOPROOF_STATUS_LIST(ISOPROOF_X)
#undef ISOPROOF_X
} isoproof_status;

/* The id of a status as in the table above ("bad-input"). */
ISOPROOF_API const char *isoproof_status_name(isoproof_status status);

enum { ISOPROOF_ERROR_FILE_BYTES = 512, ISOPROOF_ERROR_MESSAGE_BYTES = 512 };

/* What went wrong and where.  `line` and `column` count from 1, 0 where they do not apply; `offset` is a byte offset
 * into the decompressed input, -1 where it does not apply.  `message` says what was expected and what was found, is
 * valid UTF-8, and holds no control characters.  Frozen. */
typedef struct isoproof_error {
  isoproof_status code;
  uint64_t line;
  uint64_t column;
  int64_t offset;
  char file[ISOPROOF_ERROR_FILE_BYTES];
  char message[ISOPROOF_ERROR_MESSAGE_BYTES];
} isoproof_error;

/* Formats "FILE:LINE:COLUMN: MESSAGE" (leaving out what does not apply) into `buffer`, always terminated; returns
 * the length it would have without truncation, as snprintf does. */
ISOPROOF_API size_t isoproof_error_format(const isoproof_error *error, char *buffer, size_t size);

/* A task carries what a long call needs from its caller: cancellation, a deadline, a number of threads, progress. */
typedef struct isoproof_task isoproof_task;

/* How far a stage has come.  `total` is 0 while unknown; `unit` is "bytes", "operations", "transactions", ... */
typedef struct isoproof_progress {
  const char *stage;
  const char *unit;
  uint64_t done;
  uint64_t total;
  const char *level;                     /* the level that is being decided; NULL where that is not known */
  uint32_t levels_decided, levels_total; /* of a check of many levels; 0 and 0 otherwise */
} isoproof_progress;

/* Called from the thread that runs the task, at most about ten times per second; a stage that is not divided into steps
 * may be silent for longer. */
typedef void (*isoproof_progress_fn)(const isoproof_progress *progress, void *user);

ISOPROOF_API isoproof_status isoproof_task_new(isoproof_task **task);
ISOPROOF_API void isoproof_task_free(isoproof_task *task);
/* May be called from any thread and from a signal handler.  The call in progress returns ISOPROOF_ERR_CANCELLED soon.
 */
ISOPROOF_API void isoproof_task_cancel(isoproof_task *task);
/* 0 threads means one per processor. */
ISOPROOF_API void isoproof_task_set_threads(isoproof_task *task, unsigned threads);
/* Counts from this call; 0 means no limit.  What cannot finish in time is `unknown` or ISOPROOF_ERR_TIMEOUT. */
ISOPROOF_API void isoproof_task_set_timeout(isoproof_task *task, double seconds);
ISOPROOF_API void isoproof_task_set_progress(isoproof_task *task, isoproof_progress_fn callback, void *user);

/* Told something that the user should know, in one line; from the thread of the call. */
typedef void (*isoproof_notice_fn)(const char *text, void *user);

/* Where output goes.  Returns false to stop with ISOPROOF_ERR_IO. */
typedef bool (*isoproof_write_fn)(void *user, const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
