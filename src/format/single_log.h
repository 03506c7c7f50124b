/* single_log.h - logs of single operations: Porcupine's key-value logs, and what Jepsen prints of a register.
 *
 * Porcupine's, a map of EDN per line, which begins or ends a call:
 *   {:process 0, :type :invoke, :f :append, :key "3", :value "x 0 1 y"}
 * Jepsen's, among other lines of a log, which are passed over:
 *   INFO  jepsen.util - 4 :invoke :cas [1 4]
 *
 * Calls own nothing: their values are codes of the pool that they were read with; the vector is the caller's.
 */
#ifndef ISO_FORMAT_SINGLE_LOG_H
#define ISO_FORMAT_SINGLE_LOG_H

#include "base/input.h"
#include "base/vector.h"
#include "history/pool.h"

/* What a call does: C name, its :f, whether Porcupine's form has it (the other form else), how many values. */
#define ISO_SINGLE_F_LIST(X)                                                                                           \
  X(GET, "get", true, 0)                                                                                               \
  X(PUT, "put", true, 1)                                                                                               \
  X(APPEND, "append", true, 1)                                                                                         \
  X(DELETE, "delete", true, 0)                                                                                         \
  X(READ, "read", false, 0)                                                                                            \
  X(WRITE, "write", false, 1)                                                                                          \
  X(CAS, "cas", false, 2)

typedef enum iso_single_f {
#define ISO_X(name, text, porcupine, values) ISO_SINGLE_##name,
  ISO_SINGLE_F_LIST(ISO_X)
#undef ISO_X
      ISO_SINGLE_FS
} iso_single_f;

#define ISO_SINGLE_NEVER UINT32_MAX

typedef struct iso_single_call {
  uint8_t f;                   /* iso_single_f */
  uint8_t outcome;             /* isoproof_txn_status */
  bool missed;                 /* a compare-and-set that found another value and did nothing */
  iso_value process, key;      /* the key is ISO_VALUE_NIL in Jepsen's form */
  iso_value value[2];          /* what was written, or compared and set; or what was read */
  uint32_t invoked, completed; /* places among all beginnings and ends; ISO_SINGLE_NEVER */
  uint64_t line;               /* of the end, or of the beginning where it never ended */
} iso_single_call;

typedef struct iso_single_calls {
  iso_single_call *items; /* in order of their beginnings */
  size_t count, capacity;
  uint32_t places; /* beginnings and ends in all */
} iso_single_calls;

/* Reads all calls.  ISOPROOF_ERR_FORMAT for a line that is no call, and for an end without a beginning. */
isoproof_status iso_single_log_read(iso_input *input, bool porcupine, iso_pool *pool, isoproof_task *task,
                                    iso_single_calls *calls, isoproof_error *error);
/* Whether a text begins like one. */
bool iso_single_log_is_porcupine(const char *text, size_t length);
bool iso_single_log_is_jepsen(const char *text, size_t length);

#endif
