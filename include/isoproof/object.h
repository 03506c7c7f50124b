/* isoproof/object.h - histories of operations on single objects (a bank, a set, a counter, a register, a lock), judged as
 * elle-cli has Jepsen's and Knossos' checkers judge them.
 *
 * These are no transactions: an operation is one map with :f (read, write, add, cas, ...) and :value, in EDN or JSON.
 * docs/elle.md says what each model demands.  A verdict is a plain value of the caller's.
 */
#ifndef ISOLDE_OBJECT_H
#define ISOLDE_OBJECT_H

#include <isoproof/check.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Models: C name, id, what must hold. */
#define ISOLDE_OBJECT_LIST(X)                                                                                          \
  X(BANK, "bank", "every read shows the same total, and no account below zero")                                        \
  X(SET, "set", "the last read shows what was added, and nothing else")                                                \
  X(SET_FULL, "set-full", "what is known to be in the set is not lost again")                                          \
  X(COUNTER, "counter", "every read is between what was added for certain and what may have been")                     \
  X(LONG_FORK, "long-fork", "no two reads see two writes in opposite orders")                                          \
  X(SEQUENTIAL, "sequential", "no read sees a later insertion of a client without an earlier one")                     \
  X(COMMENTS, "comments", "no read sees a write without one that had ended before it began")                           \
  X(CAS_REGISTER, "cas-register", "a register with compare-and-set is linearizable")                                   \
  X(MUTEX, "mutex", "a lock is linearizable")

typedef enum isolde_object_model {
#define ISOLDE_X(name, id, text) ISOLDE_OBJECT_##name,
  ISOLDE_OBJECT_LIST(ISOLDE_X)
#undef ISOLDE_X
      ISOLDE_OBJECTS
} isolde_object_model;

/* The id of a model, `number` from 0; NULL after the last. */
ISOLDE_API const char *isolde_object_at(size_t number);
/* What a model demands, in words. */
ISOLDE_API const char *isolde_object_meaning(isolde_object_model model);
/* By id; false when there is none. */
ISOLDE_API bool isolde_object_find(const char *id, isolde_object_model *model);

typedef struct isolde_object_options {
  size_t struct_size; /* sizeof(isolde_object_options) */
  isolde_object_model model;
  const char *format;     /* "edn" or "json"; NULL: detect from the content */
  bool negative_balances; /* bank: accounts may fall below zero */
  bool has_total;         /* bank: what the accounts add up to; without it, what the first read adds up to */
  int64_t total;
  uint32_t group_size; /* long-fork: how many keys a read has; 0 any number */
  bool linearizable;   /* set-full: a read that begins when an element is known to be there must show it */
  uint64_t budget;     /* cas-register and mutex: states to look at before giving up; 0 the usual */
} isolde_object_options;

enum { ISOLDE_OBJECT_WORDS = 512 };

typedef struct isolde_object_verdict {
  isolde_verdict verdict;                /* satisfied, violated, or undecided */
  uint64_t operations;                   /* that were judged */
  uint64_t problems;                     /* how many contradictions were found */
  char explanation[ISOLDE_OBJECT_WORDS]; /* the first of them, or why it is undecided; else empty */
} isolde_object_verdict;

/* Judges a file ("-" is standard input).  ISOLDE_ERR_UNSUPPORTED when it is a history of transactions, which
 * isolde_check judges; ISOLDE_ERR_FORMAT when an operation is none of the model.  A limit reached on the way is no
 * error but an undecided verdict. */
ISOLDE_API isolde_status isolde_object_check(const char *path, const isolde_object_options *options, isolde_task *task,
                                             isolde_object_verdict *verdict, isolde_error *error);
/* The same for bytes in memory; `name` is used in errors. */
ISOLDE_API isolde_status isolde_object_check_memory(const void *data, size_t size, const char *name,
                                                    const isolde_object_options *options, isolde_task *task,
                                                    isolde_object_verdict *verdict, isolde_error *error);
/* One JSON object on one line, with final newline; `file` is as the user named it. */
ISOLDE_API isolde_status isolde_object_write_json(const isolde_object_verdict *verdict, isolde_object_model model,
                                                  const char *file, isolde_write_fn write, void *user,
                                                  isolde_error *error);

#ifdef __cplusplus
}
#endif

#endif
