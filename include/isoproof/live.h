/* isoproof/live.h - the verdict while the database runs.
 *
 *     isoproof_live *live;
 *     isoproof_live_new(&options, task, &live, &error);
 *     while (...) {
 *       isoproof_live_push(live, batch, NULL, &error);    // transactions that ended since
 *       isoproof_live_poll(live, &state, &error);         // exact for everything pushed so far
 *     }
 *     isoproof_live_finish(live, &error);
 *
 * Transactions come in the order of their ends.  After every poll the verdict on each level is that of isoproof_check
 * on everything pushed so far.  What is settled leaves memory; docs/live.md says which guarantee rests on what.
 *
 * A live checker belongs to one thread at a time.
 */
#ifndef ISOPROOF_LIVE_H
#define ISOPROOF_LIVE_H

#include <isoproof/check.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_live isoproof_live;

/* Gives the history of everything that was pushed so far, for the rare case that what left memory is needed; the
 * checker frees it. */
typedef isoproof_status (*isoproof_live_whole_fn)(void *user, isoproof_task *task, isoproof_history **history,
                                                  isoproof_error *error);

typedef struct isoproof_live_options {
  size_t struct_size; /* sizeof(isoproof_live_options) */
  /* Ids or aliases; NULL with 0: read committed, read atomic, causal, prefix, snapshot isolation and serializable, and,
   * where the first batch has times, strong snapshot isolation and strict serializable. */
  const char *const *levels;
  size_t level_count;
  uint64_t horizon; /* transactions that stay in memory after they are explained; 0: as many as turn out to be good */
  uint64_t memory_limit; /* bytes; 0 none */
  /* NULL: nothing is recorded; what would need it is then unknown, never guessed. */
  isoproof_live_whole_fn whole;
  void *whole_user;
} isoproof_live_options;

/* `options` and `task` may be NULL; the task must live as long as the checker.  ISOPROOF_ERR_USAGE names a level that
 * there is not. */
ISOPROOF_API isoproof_status isoproof_live_new(const isoproof_live_options *options, isoproof_task *task,
                                               isoproof_live **live, isoproof_error *error);
ISOPROOF_API void isoproof_live_free(isoproof_live *live);

/* Takes transactions that ended.  Sessions are matched by name; the transactions of a session come in session order.
 * `order` has the numbers of the batch's transactions in the order of their ends, each once (NULL: by their end times
 * where all have one, those of unknown outcome by their starts, else as numbered).  The batch stays the caller's. */
ISOPROOF_API isoproof_status isoproof_live_push(isoproof_live *live, const isoproof_history *batch,
                                                const uint64_t *order, isoproof_error *error);

typedef struct isoproof_live_state {
  size_t struct_size;       /* sizeof(isoproof_live_state), set by the caller */
  uint64_t transactions;    /* pushed */
  uint64_t retained;        /* of these in memory */
  uint64_t pending_reads;   /* of values that nobody wrote so far: a later transaction may explain them */
  uint64_t whole_checks;    /* how often the whole history was consulted */
  uint64_t bytes;           /* memory of the checker, about */
  isoproof_verdict verdict; /* of the levels, as isoproof_result_verdict would say of the history so far */
  /* Violated for good: no later transaction can mend it, unless it writes a value once more that was read already, or,
   * long after, removes or changes a row that somebody did not find (docs/live.md). */
  bool final;
  const char *reason; /* why a level is unknown; NULL where none is */
  uint64_t sessions;  /* that transactions came from */
} isoproof_live_state;

/* Examines what was pushed.  `state` may be NULL. */
ISOPROOF_API isoproof_status isoproof_live_poll(isoproof_live *live, isoproof_live_state *state, isoproof_error *error);
/* Everything was pushed: reads that nobody's write explains count now.  Verdicts are final after it. */
ISOPROOF_API isoproof_status isoproof_live_finish(isoproof_live *live, isoproof_error *error);

/* Writes down what it takes to go on later: *bytes, which the caller frees.  Only after a poll, and only as long as
 * nothing is violated for good and not everything is kept (ISOPROOF_ERR_UNSUPPORTED): then there is nothing to go on
 * with, or not less than the history itself. */
ISOPROOF_API isoproof_status isoproof_live_save(isoproof_live *live, void **bytes, size_t *size, isoproof_error *error);
/* Goes on from there: with the same levels, or with none named (ISOPROOF_ERR_USAGE), in the same version of isoproof on
 * the same kind of machine (ISOPROOF_ERR_FORMAT; also for bytes that are damaged).  What is pushed next is what came
 * next after the save; `whole` gives what was pushed before, too. */
ISOPROOF_API isoproof_status isoproof_live_restore(const isoproof_live_options *options, isoproof_task *task,
                                                   const void *bytes, size_t size, isoproof_live **live,
                                                   isoproof_error *error);

typedef struct isoproof_live_verdict {
  size_t struct_size;       /* sizeof(isoproof_live_verdict), set by the caller */
  const char *level;        /* canonical id */
  isoproof_verdict verdict; /* at the last poll, as isoproof_check would say */
  bool final;               /* violated for good */
  uint64_t since;           /* violated: how many transactions had been pushed when that was found */
} isoproof_live_verdict;

/* The levels, `number` from 0, the weakest first; false after the last, or when struct_size is not set. */
ISOPROOF_API bool isoproof_live_level_at(const isoproof_live *live, size_t number, isoproof_live_verdict *out);
/* The violations for good, the first one first: a result with its witness, and the part of the history that it is
 * about, both the checker's; false after the last. */
ISOPROOF_API bool isoproof_live_violation_at(const isoproof_live *live, size_t number, const isoproof_history **history,
                                             const isoproof_result **result);

#ifdef __cplusplus
}
#endif

#endif
