/* isoproof/follow.h - a history that is still being written: a file that grows, or a pipe.
 *
 *     static isoproof_status take(void *user, isoproof_follow_batch *batch, isoproof_error *error) {
 *       if (batch->history == NULL) return ISOPROOF_OK;   // nothing new
 *       return isoproof_live_push(user, batch->history, batch->order, error);
 *     }
 *     isoproof_follow_options how = {.struct_size = sizeof how, .take = take, .user = live};
 *     isoproof_follow("history.jsonl", &how, task, &error);
 *
 * The formats that can be followed are those that grow at their end: isoproof's JSON lines, Jepsen's EDN and JSON (one
 * operation after the other, or a list of them), Plume's text and VeriStrong's.  A transaction is handed over when it
 * has ended: with its line, with the completion of its invocation, or, in Plume's and VeriStrong's text, when the next
 * transaction of its session begins.  What never ends is handed over at the end of the input, as
 * isoproof_history_open understands it.  All batches together are the history that isoproof_history_open gives.
 */
#ifndef ISOPROOF_FOLLOW_H
#define ISOPROOF_FOLLOW_H

#include <isoproof/history.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Transactions that ended since the batch before.  Valid during the call, unless it is kept. */
typedef struct isoproof_follow_batch {
  size_t struct_size;
  isoproof_history *history; /* NULL: nothing has ended since; has all sessions so far */
  uint64_t *order;           /* its transactions in the order in which they ended */
  uint64_t transactions;     /* handed over so far, these included */
  uint64_t offset;           /* bytes of the input that all of them came from, see isoproof_follow_part */
  uint64_t waiting;          /* bytes behind it that are there already, as far as is known */
  bool last;                 /* the input has ended; `history` may be without transactions then */
  bool kept;      /* set by whoever keeps the history and the order, and frees them: isoproof_history_free, free */
  uint64_t lines; /* of the input, up to the offset */
} isoproof_follow_batch;

/* Any status but ISOPROOF_OK ends it all and is returned. */
typedef isoproof_status (*isoproof_follow_fn)(void *user, isoproof_follow_batch *batch, isoproof_error *error);

typedef struct isoproof_follow_options {
  size_t struct_size;      /* sizeof(isoproof_follow_options) */
  const char *format;      /* by id; NULL: detected from the first lines */
  bool to_end;             /* a file: end at its end rather than wait for more */
  uint64_t most;           /* transactions in one batch, about; 0: 20,000 */
  isoproof_follow_fn take; /* called with every batch, and ten times a second when there is none */
  void *user;
  /* Begin in the middle of a file: with the values that a batch had, after which nothing was handed over.  Only JSON
   * lines that are not compressed can be begun there, else ISOPROOF_ERR_UNSUPPORTED. */
  uint64_t offset, lines, transactions;
} isoproof_follow_options;

/* Follows a file, a named pipe or, as "-", standard input.  A file ends when it says that its writer has finished (see
 * docs/format-jsonl.md) or, with `to_end`, where it ends; a pipe when nobody writes to it any more.  ISOPROOF_ERR_IO: a
 * file became shorter, or another one has taken its place.  ISOPROOF_ERR_UNSUPPORTED: its format does not grow at its
 * end, or it is compressed and `to_end` is not set.  ISOPROOF_ERR_CANCELLED: the task was cancelled; what was handed
 * over until then stands. */
ISOPROOF_API isoproof_status isoproof_follow(const char *path, const isoproof_follow_options *options,
                                             isoproof_task *task, isoproof_error *error);

/* The transactions that the first `bytes` of a file hand over, as one history: for isoproof_live_options.whole, with
 * the offset of the last batch that was pushed.  `ended` is `last` of that batch. */
ISOPROOF_API isoproof_status isoproof_follow_part(const char *path, const char *format, uint64_t bytes, bool ended,
                                                  isoproof_task *task, isoproof_history **history,
                                                  isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
