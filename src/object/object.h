/* object.h - operations on single objects as they were recorded, and what a checker says about them.
 *
 * A recording owns its operations, values and pool until iso_object_free; a report owns its words until they are freed.
 */
#ifndef ISO_OBJECT_OBJECT_H
#define ISO_OBJECT_OBJECT_H

#include <isoproof/object.h>

#include "base/input.h"
#include "base/task.h"
#include "base/vector.h"
#include "base/words.h"
#include "history/pool.h"

/* What an operation does: C name, its :f. */
#define ISO_OBJECT_F_LIST(X)                                                                                           \
  X(READ, "read")                                                                                                      \
  X(WRITE, "write")                                                                                                    \
  X(ADD, "add")                                                                                                        \
  X(CAS, "cas")                                                                                                        \
  X(TRANSFER, "transfer")                                                                                              \
  X(ACQUIRE, "acquire")                                                                                                \
  X(RELEASE, "release")                                                                                                \
  X(TXN, "txn")                                                                                                        \
  X(GET, "get")                                                                                                        \
  X(PUT, "put")                                                                                                        \
  X(APPEND, "append")                                                                                                  \
  X(DELETE, "delete")                                                                                                  \
  X(MISS, "cas that failed")

typedef enum iso_object_f {
#define ISO_X(name, text) ISO_OBJECT_F_##name,
  ISO_OBJECT_F_LIST(ISO_X)
#undef ISO_X
      ISO_OBJECT_FS
} iso_object_f;

const char *iso_object_f_text(iso_object_f f);
/* What a model consists of, one bit per iso_object_f. */
unsigned iso_object_fs(isoproof_object_model model);
/* Whether a model looks at real time, so that every operation needs its invocation. */
bool iso_object_needs_time(isoproof_object_model model);

/* What the value of an operation is. */
typedef enum iso_object_shape {
  ISO_SHAPE_NOTHING, /* nil or absent */
  ISO_SHAPE_SCALAR,  /* one value */
  ISO_SHAPE_LIST,    /* values, nil among them; a set, too */
  ISO_SHAPE_KEYED,   /* [k [v ...]]: the values are those of the inner list */
  ISO_SHAPE_MAP,     /* keys and values in turn */
  ISO_SHAPE_MICRO,   /* [[:r k v] ...]: three values each: 0 for a read and 1 for a write, key, value */
  ISO_SHAPE_OTHER
} iso_object_shape;

#define ISO_OBJECT_NEVER UINT32_MAX

typedef struct iso_object_op {
  uint8_t f;       /* iso_object_f */
  uint8_t shape;   /* iso_object_shape */
  uint8_t outcome; /* isoproof_txn_status */
  iso_value key;   /* of ISO_SHAPE_KEYED */
  uint32_t count;
  uint64_t first;              /* of the values */
  uint32_t invoked, completed; /* places in the file; completed is ISO_OBJECT_NEVER where nobody knows */
  uint64_t line;
} iso_object_op;

typedef struct iso_object_history {
  iso_pool pool;
  ISO_VEC(iso_object_op) ops; /* in order of their invocations */
  ISO_VEC(iso_value) values;
  uint32_t places;  /* one more than the last */
  bool nil_is_seen; /* a read of nil found nothing there; else it says nothing */
  char *name;       /* of the file */
} iso_object_history;

/* Reads what a model consists of. */
isoproof_status iso_object_read(iso_input *input, bool json, isoproof_object_model model, isoproof_task *task,
                                iso_object_history *history, isoproof_error *error);
/* The same from a log of single operations (format/single_log.h), of a store or of a register. */
isoproof_status iso_object_read_log(iso_input *input, bool porcupine, isoproof_task *task, iso_object_history *history,
                                    isoproof_error *error);
void iso_object_free(iso_object_history *history);

static inline const iso_value *iso_object_values(const iso_object_history *h, const iso_object_op *op) {
  return h->values.items + op->first;
}
/* ISOPROOF_ERR_FORMAT: the value of an operation is not what the model has. */
isoproof_status iso_object_expected(const iso_object_history *history, const iso_object_op *op, const char *what,
                                    isoproof_error *error);

/* What is wrong; only the first problem is told. */
typedef struct iso_object_report {
  uint64_t problems;
  const char *undecided; /* why nothing can be said; NULL */
  iso_words words;
} iso_object_report;

/* Counts a problem; true when it is the first, which is to be told in report->words. */
bool iso_object_problem(iso_object_report *report);
void iso_object_say(iso_object_report *report, const iso_object_history *history, iso_value value);

typedef isoproof_status (*iso_object_checker)(const iso_object_history *history, const isoproof_object_options *options,
                                              isoproof_task *task, iso_object_report *report, isoproof_error *error);

/* One per model.  They sort, and are linear apart from that, with three exceptions: `set_full` looks at all elements of
 * a key for each of its reads, `comments` at all writes that had ended, and deciding linearizability is NP-complete. */
isoproof_status iso_object_check_bank(const iso_object_history *, const isoproof_object_options *, isoproof_task *,
                                      iso_object_report *, isoproof_error *);
isoproof_status iso_object_check_set(const iso_object_history *, const isoproof_object_options *, isoproof_task *,
                                     iso_object_report *, isoproof_error *);
isoproof_status iso_object_check_counter(const iso_object_history *, const isoproof_object_options *, isoproof_task *,
                                         iso_object_report *, isoproof_error *);
isoproof_status iso_object_check_long_fork(const iso_object_history *, const isoproof_object_options *, isoproof_task *,
                                           iso_object_report *, isoproof_error *);
isoproof_status iso_object_check_sequential(const iso_object_history *, const isoproof_object_options *,
                                            isoproof_task *, iso_object_report *, isoproof_error *);
isoproof_status iso_object_check_comments(const iso_object_history *, const isoproof_object_options *, isoproof_task *,
                                          iso_object_report *, isoproof_error *);
isoproof_status iso_object_check_linearizable(const iso_object_history *, const isoproof_object_options *,
                                              isoproof_task *, iso_object_report *, isoproof_error *);

#endif
