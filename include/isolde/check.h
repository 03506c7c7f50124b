/* isolde/check.h - verdicts, anomalies and witnesses of a history.
 *
 *     isolde_history *history;
 *     isolde_result *result;
 *     if (isolde_history_open("h.txt", NULL, NULL, &history, &error)) ...
 *     if (isolde_check(history, NULL, NULL, &result, &error)) ...
 *     for (size_t i = 0; i < isolde_result_levels(result); i++) ...
 */
#ifndef ISOLDE_CHECK_H
#define ISOLDE_CHECK_H

#include <isolde/history.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isolde_result isolde_result;

typedef enum isolde_verdict {
  ISOLDE_VERDICT_NONE, /* nothing was asked */
  ISOLDE_SATISFIED,
  ISOLDE_VIOLATED,
  ISOLDE_UNDECIDED /* a limit, or a method that cannot decide: "unknown" */
} isolde_verdict;

/* "none", "satisfied", "violated", "unknown". */
ISOLDE_API const char *isolde_verdict_name(isolde_verdict verdict);

typedef struct isolde_check_options {
  size_t struct_size; /* sizeof(isolde_check_options) */
  const char *const
      *levels; /* ids or aliases asked for; NULL with level_count 0 means every level that can be decided */
  size_t level_count;
  bool all; /* every instance of every anomaly instead of one a code */
  /* Look for these patterns only ("TAP-k"), and judge no level: the verdict is violated when one of them occurs.  NULL
   * with anomaly_count 0 means all.  Not together with levels. */
  const char *const *anomalies;
  size_t anomaly_count;
} isolde_check_options;

/* Decides.  ISOLDE_ERR_FORMAT when the history cannot be judged at all: two writes of one value to one register are
 * named in the error.  A limit reached on the way is no error but an unknown verdict; cancellation is
 * ISOLDE_ERR_CANCELLED.  The result refers to the history, which must outlive it. */
ISOLDE_API isolde_status isolde_check(isolde_history *history, const isolde_check_options *options, isolde_task *task,
                                      isolde_result **result, isolde_error *error);
ISOLDE_API void isolde_result_free(isolde_result *result);

/* Of the levels (or anomalies) asked for: violated if one is, else unknown if one is, else satisfied; none when none
 * was asked. */
ISOLDE_API isolde_verdict isolde_result_verdict(const isolde_result *result);
/* Why something is unknown ("the time limit was reached"), NULL when nothing is. */
ISOLDE_API const char *isolde_result_unknown_reason(const isolde_result *result);

typedef struct isolde_level_verdict {
  const char *level; /* canonical id */
  isolde_verdict verdict;
  bool asked;
} isolde_level_verdict;

ISOLDE_API size_t isolde_result_levels(const isolde_result *result);
ISOLDE_API bool isolde_result_level(const isolde_result *result, size_t number, isolde_level_verdict *out);
/* The verdict on one level by id or alias; ISOLDE_UNDECIDED when it was not decided. */
ISOLDE_API isolde_verdict isolde_result_of(const isolde_result *result, const char *level);
/* The satisfied levels that no other satisfied level implies, and the violated levels that imply no other violated
 * one; NULL after the last. */
ISOLDE_API const char *isolde_result_strongest(const isolde_result *result, size_t number);
ISOLDE_API const char *isolde_result_weakest_violated(const isolde_result *result, size_t number);

/* An edge of a witness.  Operations are ISOLDE_NO_NUMBER where an edge has none. */
#define ISOLDE_NO_NUMBER UINT64_MAX
/* Stands for the initial transaction, which wrote the initial version of every key, among transactions. */
#define ISOLDE_INITIAL_TXN (UINT64_MAX - 1)

typedef struct isolde_edge {
  const char *kind; /* "SO", "WR", "WW", "RW", "CM", "RT", "PO" (within one transaction) */
  uint64_t from_txn, to_txn;
  uint64_t from_op, to_op;
  bool has_key;
  isolde_scalar key;
} isolde_edge;

typedef struct isolde_anomaly {
  const char *code;
  const char *name;
  const char *level; /* the weakest level that it breaks */
  uint64_t count;    /* instances of this code in the history; with `all`, 1 an entry */
  const uint64_t *txns;
  size_t txn_count;
  const uint64_t *ops; /* the operations involved */
  size_t op_count;
  const isolde_scalar *keys;
  size_t key_count;
  const isolde_edge *edges;
  size_t edge_count;
  const char *explanation; /* in sentences */
} isolde_anomaly;

/* Anomalies in order of code; with `all` every instance, else the smallest one of each code. */
ISOLDE_API size_t isolde_result_anomalies(const isolde_result *result);
ISOLDE_API bool isolde_result_anomaly(const isolde_result *result, size_t number, isolde_anomaly *out);

/* ---- rendering ---- */

typedef struct isolde_render_options {
  size_t struct_size;
  const char *file;    /* as the user named it */
  double load_seconds; /* -1 where unknown */
  double check_seconds;
  uint64_t peak_bytes; /* 0 where unknown */
  bool color;          /* of the text */
} isolde_render_options;

/* One JSON object on one line, with final newline (schema 1, see docs/json.md). */
ISOLDE_API isolde_status isolde_result_write_json(const isolde_result *result, const isolde_render_options *options,
                                                  isolde_write_fn write, void *user, isolde_error *error);
/* For people. */
ISOLDE_API isolde_status isolde_result_write_text(const isolde_result *result, const isolde_render_options *options,
                                                  isolde_write_fn write, void *user, isolde_error *error);
/* The JSON object for a file that could not be judged. */
ISOLDE_API isolde_status isolde_error_write_json(const isolde_error *problem, const char *file, isolde_write_fn write,
                                                 void *user, isolde_error *error);

#ifdef __cplusplus
}
#endif

#endif
