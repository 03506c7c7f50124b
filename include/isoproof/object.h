/* isoproof/object.h - histories of operations on single objects (a bank, a set, a counter, a register, a lock), judged
 * as elle-cli has Jepsen's and Knossos' checkers judge them.
 *
 * These are no transactions: an operation is one map with :f (read, write, add, cas, ...) and :value, in EDN or JSON.
 * docs/elle.md says what each model demands.  A verdict belongs to the caller, and owns nothing.
 */
#ifndef ISOPROOF_OBJECT_H
#define ISOPROOF_OBJECT_H

#include <isoproof/check.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Models: C name, id, what must hold. */
#define ISOPROOF_OBJECT_LIST(X)                                                                                        \
  X(BANK, "bank", "every read shows the same total, and no account below zero")                                        \
  X(SET, "set", "the last read shows what was added, and nothing else")                                                \
  X(SET_FULL, "set-full", "what is known to be in the set is not lost again")                                          \
  X(COUNTER, "counter", "every read is between what was added for certain and what may have been")                     \
  X(LONG_FORK, "long-fork", "no two reads see two writes in opposite orders")                                          \
  X(SEQUENTIAL, "sequential", "no read sees a later insertion of a client without an earlier one")                     \
  X(COMMENTS, "comments", "no read sees a write without one that had ended before it began")                           \
  X(CAS_REGISTER, "cas-register", "a register with compare-and-set is linearizable")                                   \
  X(MUTEX, "mutex", "a lock is linearizable")                                                                          \
  X(KV, "kv", "every key of a store with get, put, append and delete is linearizable")

typedef enum isoproof_object_model {
#define ISOPROOF_X(name, id, text) ISOPROOF_OBJECT_##name,
  ISOPROOF_OBJECT_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_OBJECTS
} isoproof_object_model;

/* The id of a model, `number` from 0; NULL after the last. */
ISOPROOF_API const char *isoproof_object_model_at(size_t number);
/* What a model demands, in words. */
ISOPROOF_API const char *isoproof_object_model_meaning(isoproof_object_model model);
/* By id; false when there is none. */
ISOPROOF_API bool isoproof_object_model_find(const char *id, isoproof_object_model *model);

typedef struct isoproof_object_options {
  size_t struct_size; /* sizeof(isoproof_object_options) */
  isoproof_object_model model;
  const char *format;     /* "edn", "json", "porcupine" (kv) or "jepsen-log" (cas-register); NULL: detect */
  bool negative_balances; /* bank: accounts may fall below zero */
  bool has_total;         /* bank: what the accounts add up to; without it, what the first read adds up to */
  int64_t total;
  uint32_t group_size; /* long-fork: how many keys a read has; 0 any number */
  bool linearizable;   /* set-full: a read that begins when an element is known to be there must show it */
  uint64_t budget;     /* cas-register, mutex and kv: states to look at before giving up; 0 the usual */
} isoproof_object_options;

enum { ISOPROOF_OBJECT_WORDS = 512 };

typedef struct isoproof_object_verdict {
  size_t struct_size;                      /* sizeof(isoproof_object_verdict), set by the caller */
  isoproof_verdict verdict;                /* satisfied, violated, or undecided */
  uint64_t operations;                     /* that were judged */
  uint64_t problems;                       /* how many contradictions were found */
  char explanation[ISOPROOF_OBJECT_WORDS]; /* the first of them, or why it is undecided; else empty */
} isoproof_object_verdict;

/* Judges a file ("-" is standard input); `options` NULL means a bank.  ISOPROOF_ERR_UNSUPPORTED when it is a history of
 * transactions, which isoproof_check judges; ISOPROOF_ERR_FORMAT when an operation is none of the model.  A limit
 * reached on the way is no error but an undecided verdict. */
ISOPROOF_API isoproof_status isoproof_object_check(const char *path, const isoproof_object_options *options,
                                                   isoproof_task *task, isoproof_object_verdict *verdict,
                                                   isoproof_error *error);
/* The same for bytes in memory; `name` is used in errors. */
ISOPROOF_API isoproof_status isoproof_object_check_memory(const void *data, size_t size, const char *name,
                                                          const isoproof_object_options *options, isoproof_task *task,
                                                          isoproof_object_verdict *verdict, isoproof_error *error);
/* One JSON object on one line, with final newline; `file` is as the user named it. */
ISOPROOF_API isoproof_status isoproof_object_write_json(const isoproof_object_verdict *verdict,
                                                        isoproof_object_model model, const char *file,
                                                        isoproof_write_fn write, void *user, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
