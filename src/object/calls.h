/* calls.h - operations on registers, locks and the keys of a store as calls on a register: what linearizability asks.
 *
 * A lock is a register that is compared and set, a deletion writes the empty text.  Calls own nothing; their values are
 * codes of a pool of their own, to which a search adds what appends make.
 */
#ifndef ISO_OBJECT_CALLS_H
#define ISO_OBJECT_CALLS_H

#include "object/object.h"

typedef enum iso_call_kind {
  ISO_CALL_READ,
  ISO_CALL_WRITE,
  ISO_CALL_CAS,
  ISO_CALL_MISS, /* a compare-and-set that found another value */
  ISO_CALL_APPEND
} iso_call_kind;

typedef struct iso_call {
  iso_value key;
  iso_call_kind kind;
  iso_value from, to; /* a read and a miss have `from` only, a write and an append `to` only */
  bool known;         /* its outcome */
  uint32_t invoked, completed;
  uint64_t line;
} iso_call;

typedef struct iso_calls {
  iso_call *items; /* by key, then by invocation */
  size_t count, capacity;
  iso_value initial; /* what every register begins with */
  bool lock;
  iso_pool pool;
} iso_calls;

/* Of all operations that say something: not of those that failed, nor of reads without an answer. */
isoproof_status iso_calls_make(const iso_object_history *history, isoproof_object_model model, iso_calls *calls,
                               isoproof_error *error);
void iso_calls_free(iso_calls *calls);

/* A call in words: "line 7: the read of 3". */
void iso_call_say(iso_object_report *report, const iso_calls *calls, const iso_call *call);

/* Decides the calls [first, end) of one key where no two write the same value and nobody compares or appends: then
 * every read says which write it observed, and one sort decides (history/clusters.h).  *decided false for others. */
isoproof_status iso_calls_judge_unique(const iso_calls *calls, size_t first, size_t end, isoproof_task *task,
                                       iso_object_report *report, bool *decided, isoproof_error *error);

#endif
