/* isoproof/check.h - verdicts, anomalies and witnesses of a history.
 *
 *     isoproof_history *history;
 *     isoproof_result *result;
 *     if (isoproof_history_open("h.txt", NULL, NULL, &history, &error)) ...
 *     if (isoproof_check(history, NULL, NULL, &result, &error)) ...
 *     isoproof_level_verdict level = {.struct_size = sizeof level};
 *     for (size_t i = 0; isoproof_result_level_at(result, i, &level); i++) ...
 */
#ifndef ISOPROOF_CHECK_H
#define ISOPROOF_CHECK_H

#include <isoproof/history.h>
#include <isoproof/json.h>
#include <isoproof/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_result isoproof_result;

typedef enum isoproof_verdict {
  ISOPROOF_VERDICT_NONE, /* nothing was asked */
  ISOPROOF_SATISFIED,
  ISOPROOF_VIOLATED,
  ISOPROOF_UNDECIDED /* a limit, or a method that cannot decide: "unknown" */
} isoproof_verdict;

/* "none", "satisfied", "violated", "unknown". */
ISOPROOF_API const char *isoproof_verdict_name(isoproof_verdict verdict);

typedef struct isoproof_check_options {
  size_t struct_size; /* sizeof(isoproof_check_options) */
  const char *const
      *levels; /* ids or aliases asked for; NULL with level_count 0 means every level that can be decided */
  size_t level_count;
  bool all; /* every instance of every anomaly that can be counted instead of one per code */
  /* Look for these patterns only ("TAP-k", see isoproof_check_pattern_at), and judge no level: the verdict is violated
   * when one of them occurs.  NULL with anomaly_count 0 means all.  Not together with levels. */
  const char *const *anomalies;
  size_t anomaly_count;
  /* Adya's and Elle's way instead: anomalies of dependencies, and the models that they rule out.  It is taken when a
   * workload (isoproof_elle_workload_at; "auto" finds it out) or a model is named; levels must then be none, and
   * anomalies may be any code of Elle's.  Without models and anomalies the model is strict-serializable. */
  const char *elle_workload;
  const char *const *models; /* names of the family ISOPROOF_LEVEL_MODEL */
  size_t model_count;
  /* Registers: what may be assumed about the order of the versions of a key. */
  bool wfr_keys;          /* who reads a version and writes another one writes a later one */
  bool sequential_keys;   /* each session sees each key move forward */
  bool linearizable_keys; /* so does real time */
  /* Levels: keep the orders that prove what is satisfied (isoproof_result_certificate_at), and count everything that
   * the search for the strong levels meets (isoproof_result_search_at), which then takes no short cuts. */
  bool certificate;
  bool stats;
  /* Levels: writes of one value to one key are expected.  Which of them a read observed becomes part of the search: a
   * level is satisfied when some choice satisfies it.  Without this the result comes with the notice `repeated-values`.
   * Values that are appended to one list must be unique all the same.  Only one check of a history with such values may
   * run at a time, as the choices are kept in it. */
  bool duplicate_values;
  /* Levels: after those asked for (or where none is) decide the others too, the cheapest first, for at most `budget`
   * seconds beyond (0: no limit).  What is left then is told by isoproof_result_undecided_at.  The verdict is about the
   * levels asked for, as ever.  Once these are decided, cancelling the task is no error: it leaves the rest. */
  bool others;
  double budget;
  /* The workload rw-register: numbers of transactions in the order in which they took effect, the first one first, as
   * the database tells it.  Their writes of a key come in that order; nothing is assumed of others.  NULL for none. */
  const uint64_t *transaction_order;
  size_t transaction_order_count;
} isoproof_check_options;

/* "list-append", "rw-register", ...; NULL after the last. */
ISOPROOF_API const char *isoproof_elle_workload_at(size_t number);

/* The codes of the patterns that can be looked for by themselves: TAP-a to TAP-n, and those that only lists show (G0,
 * incompatible-order, ...); NULL after the last. */
ISOPROOF_API const char *isoproof_check_pattern_at(size_t number);

/* Decides.  ISOPROOF_ERR_FORMAT when the history cannot be judged at all: two writes of one value to one register are
 * named in the error.  A limit reached on the way is no error but an unknown verdict; cancellation is
 * ISOPROOF_ERR_CANCELLED.  The result refers to the history, which must outlive it. */
ISOPROOF_API isoproof_status isoproof_check(isoproof_history *history, const isoproof_check_options *options,
                                            isoproof_task *task, isoproof_result **result, isoproof_error *error);
ISOPROOF_API void isoproof_result_free(isoproof_result *result);

/* About how much memory isoproof_check takes for a file in the binary form; 0 for any other. */
ISOPROOF_API isoproof_status isoproof_check_memory(const char *path, uint64_t *bytes, isoproof_error *error);
/* Decides levels of a plain file in the binary form within about `memory` bytes, however large it is: operations are
 * divided by keys into as many parts as that takes, and these are gone through one after the other.  Registers and
 * lists with values that do not repeat; the levels from read-committed to strict-serializable but for
 * parallel-snapshot-isolation and update-atomic where nothing stronger holds, and the session guarantees where causal
 * does not: these are unknown.  ISOPROOF_ERR_UNSUPPORTED for what takes the whole history in memory, with the reason.
 * Where something is violated, *history, which *result refers to and the caller frees after it, has the operations of
 * the transactions that show it, and all others without operations; else it is the file, of which only counts and
 * transactions may be asked. */
ISOPROOF_API isoproof_status isoproof_check_out_of_core(const char *path, const isoproof_check_options *options,
                                                        uint64_t memory, isoproof_task *task,
                                                        isoproof_history **history, isoproof_result **result,
                                                        isoproof_error *error);

/* Of the levels (or anomalies) asked for: violated if one is, else unknown if one is, else satisfied; none when none
 * was asked. */
ISOPROOF_API isoproof_verdict isoproof_result_verdict(const isoproof_result *result);
/* Why something is unknown ("the time limit was reached"), NULL when nothing is. */
ISOPROOF_API const char *isoproof_result_unknown_reason(const isoproof_result *result);

/* Of a check with `others`, the levels that are left although the history could decide them, by id, and why ("the time
 * budget was used up", "interrupted"); NULL after the last.  `reason` may be NULL. */
ISOPROOF_API const char *isoproof_result_undecided_at(const isoproof_result *result, size_t number,
                                                      const char **reason);

typedef struct isoproof_level_verdict {
  size_t struct_size; /* sizeof(isoproof_level_verdict), set by the caller */
  const char *level;  /* canonical id */
  isoproof_verdict verdict;
  bool asked;
  const char *called; /* what to call it: the name it was asked for by (the longer one for a short name), else its
                         everyday name, "serializable" for the model "PL-3" */
} isoproof_level_verdict;

ISOPROOF_API size_t isoproof_result_level_count(const isoproof_result *result);
ISOPROOF_API bool isoproof_result_level_at(const isoproof_result *result, size_t number, isoproof_level_verdict *out);
/* The verdict on one level by id or alias; ISOPROOF_UNDECIDED when it was not decided. */
ISOPROOF_API isoproof_verdict isoproof_result_verdict_of(const isoproof_result *result, const char *level);
/* The satisfied levels that no other satisfied level implies, and the violated levels that imply no other violated
 * one; NULL after the last. */
ISOPROOF_API const char *isoproof_result_strongest_at(const isoproof_result *result, size_t number);
ISOPROOF_API const char *isoproof_result_weakest_violated_at(const isoproof_result *result, size_t number);

/* Of a check with a workload or models, by their everyday names; NULL after the last (and always without): the weakest
 * models that are ruled out, those that fall with them, and the strongest that the history provably satisfies. */
ISOPROOF_API const char *isoproof_result_ruled_out_at(const isoproof_result *result, size_t number);
ISOPROOF_API const char *isoproof_result_also_ruled_out_at(const isoproof_result *result, size_t number);
ISOPROOF_API const char *isoproof_result_proved_at(const isoproof_result *result, size_t number);
/* Elle's verdict: violated when something that was asked about was found, unknown when a limit was reached first, else
 * satisfied, which means that nothing was found; ISOPROOF_VERDICT_NONE without workload and models. */
ISOPROOF_API isoproof_verdict isoproof_result_elle_verdict(const isoproof_result *result);
/* The workload that was checked; NULL without. */
ISOPROOF_API const char *isoproof_result_elle_workload(const isoproof_result *result);

/* Stands for no operation, among operations. */
#define ISOPROOF_NO_NUMBER UINT64_MAX
/* Stands for the initial transaction, which wrote the initial version of every key, among transactions. */
#define ISOPROOF_INITIAL_TXN (UINT64_MAX - 1)

/* An edge of a witness.  Operations are ISOPROOF_NO_NUMBER where an edge has none.  Frozen. */
typedef struct isoproof_edge {
  const char *kind; /* "SO", "WR", "WW", "RW", "CM", "RT", "PO" (within one transaction) */
  uint64_t from_txn, to_txn;
  uint64_t from_op, to_op;
  bool has_key;
  isoproof_scalar key;
} isoproof_edge;

/* An order of two writes of a key that a case assumes.  Frozen. */
typedef struct isoproof_write_order {
  uint64_t before_txn, after_txn;
  isoproof_scalar key;
} isoproof_write_order;

/* What follows from one choice among the orders of writes that the history leaves open.  Frozen. */
typedef struct isoproof_anomaly_case {
  const isoproof_write_order *orders; /* assumed; cases that begin with the same ones belong together */
  size_t order_count;
  const isoproof_edge *edges; /* the cycle that they close */
  size_t edge_count;
  const char *explanation; /* in a sentence */
} isoproof_anomaly_case;

/* What a number of instances says. */
typedef enum isoproof_count_kind {
  ISOPROOF_COUNT_UNKNOWN, /* nothing: nobody counted, as there are cycles without end, or orders that nobody knows */
  ISOPROOF_COUNT_EXACT,
  ISOPROOF_COUNT_AT_LEAST /* there may be more: other orders of writes are possible, or counting stopped at its limit */
} isoproof_count_kind;

/* "unknown", "exact", "at least". */
ISOPROOF_API const char *isoproof_count_kind_name(isoproof_count_kind kind);

typedef struct isoproof_anomaly {
  size_t struct_size; /* sizeof(isoproof_anomaly), set by the caller */
  const char *code;
  const char *name;
  const char *level; /* the weakest level that it breaks */
  uint64_t count;    /* instances of this code in the history, see count_is; with `all`, 1 per entry */
  const uint64_t *txns;
  size_t txn_count;
  const uint64_t *ops; /* the operations involved */
  size_t op_count;
  const isoproof_scalar *keys;
  size_t key_count;
  const isoproof_edge *edges;
  size_t edge_count;
  const char *explanation; /* in sentences */
  /* Where the violation depends on orders that the history leaves open: every choice of them, each with its cycle;
   * the edges above are then those that are certain.  NULL and 0 where there is but one cycle. */
  const isoproof_anomaly_case *cases;
  size_t case_count;
  /* What `count` says, which is 0 where the number is unknown.  docs/anomalies.md has the definitions of instances. */
  isoproof_count_kind count_is;
} isoproof_anomaly;

/* Anomalies, the most telling first: what breaks a level that was asked for, then what breaks the weakest level, then
 * what takes the fewest transactions; with `all` every instance, those of a code together, else the smallest one of
 * each code. */
ISOPROOF_API size_t isoproof_result_anomaly_count(const isoproof_result *result);
/* How many were found: more than there are with `all` where an anomaly that was searched for has more than 10,000
 * instances.  *is says whether that is all; it may be NULL. */
ISOPROOF_API uint64_t isoproof_result_anomalies_found(const isoproof_result *result, isoproof_count_kind *is);
ISOPROOF_API bool isoproof_result_anomaly_at(const isoproof_result *result, size_t number, isoproof_anomaly *out);

/* A level that is violated without an anomaly to show it, as that would take more cases than anybody reads (tens of
 * thousands); isoproof_minimize makes the history smaller.  NULL when there is none. */
ISOPROOF_API const char *isoproof_result_unexplained(const isoproof_result *result);

/* ---- what proves a satisfied level ---- */

/* What stands in an order: a transaction as a whole, or the moment at which it takes its snapshot and the moment at
 * which its writes take effect. */
typedef enum isoproof_certificate_event_kind {
  ISOPROOF_EVENT_TXN,
  ISOPROOF_EVENT_BEGIN,
  ISOPROOF_EVENT_COMMIT
} isoproof_certificate_event_kind;

/* "transaction", "begin", "commit". */
ISOPROOF_API const char *isoproof_certificate_event_kind_name(isoproof_certificate_event_kind kind);

/* Frozen. */
typedef struct isoproof_certificate_event {
  uint64_t txn;
  isoproof_certificate_event_kind kind;
} isoproof_certificate_event;

/* An order of all transactions that took effect.  From prefix up, whoever carries it out event by event on a store sees
 * every read return what it returned; at the levels below, and for parallel snapshot isolation, it is the commit order
 * that the level asks for (docs/strong-levels.md).  It was checked by code that shares nothing with the search. */
typedef struct isoproof_certificate {
  size_t struct_size; /* sizeof(isoproof_certificate), set by the caller */
  const char *level;  /* the strongest that it was made for; it proves whatever that implies */
  const isoproof_certificate_event *events;
  size_t event_count;
  /* Of every read whose value several writes wrote, which of them it observed: edges of the kind "WR" with both
   * operations, from ISOPROOF_INITIAL_TXN without one for the initial version; in the order of the reads. */
  const isoproof_edge *observed;
  size_t observed_count;
} isoproof_certificate;

/* With the option `certificate`: one for each satisfied level that no other one proves.  Cut isolation and the session
 * guarantees have none of their own. */
ISOPROOF_API size_t isoproof_result_certificate_count(const isoproof_result *result);
ISOPROOF_API bool isoproof_result_certificate_at(const isoproof_result *result, size_t number,
                                                 isoproof_certificate *out);
/* Why they are missing although they were asked for ("the time limit was reached"); NULL when they are not. */
ISOPROOF_API const char *isoproof_result_uncertified(const isoproof_result *result);
/* The one that proves a level, by id or alias; false when there is none. */
ISOPROOF_API bool isoproof_result_certificate_of(const isoproof_result *result, const char *level,
                                                 isoproof_certificate *out);

/* ---- what the search for strong levels took ---- */

/* One statistic of a search: how many, or how long. */
typedef struct isoproof_search_stat {
  size_t struct_size;  /* sizeof(isoproof_search_stat), set by the caller */
  const char *name;    /* "pairs", "decisions", ...; of a stage "construct", "solve", ... */
  const char *meaning; /* in words */
  bool known;          /* whether it was counted */
  bool is_time;
  uint64_t count;
  double seconds; /* where is_time */
} isoproof_search_stat;

/* The level that was searched for, canonical; NULL after the last.  What follows from another level is not searched
 * for.  Statistics that take time to count are there with the option `stats` only. */
ISOPROOF_API const char *isoproof_result_search_at(const isoproof_result *result, size_t search);
/* Its statistics, `number` from 0; false after the last. */
ISOPROOF_API bool isoproof_result_search_stat_at(const isoproof_result *result, size_t search, size_t number,
                                                 isoproof_search_stat *out);

/* ---- rendering ---- */

typedef struct isoproof_render_options {
  size_t struct_size;  /* sizeof(isoproof_render_options) */
  const char *file;    /* as the user named it */
  double load_seconds; /* -1 where unknown */
  double check_seconds;
  uint64_t peak_bytes; /* 0 where unknown */
  bool color;          /* of the text */
  bool unicode;        /* of the text: lines and arrows beyond ASCII */
  /* Of the JSON: called at the end of the object, to which it may add fields.  NULL for none. */
  isoproof_json_fields_fn more;
  void *more_user;
  /* Of the text. */
  unsigned width; /* columns of the terminal, of which 60 to 200 are used; 0: 80 */
  bool has_page;  /* a page was written already: do not suggest one */
  /* Of the JSON: how hard the run tried (isoproof_history_effort), where that is to be told; NULL otherwise. */
  const isoproof_effort *effort;
} isoproof_render_options;

/* One JSON object on one line, with final newline (schema 1, see docs/json.md). */
ISOPROOF_API isoproof_status isoproof_result_write_json(const isoproof_result *result,
                                                        const isoproof_render_options *options, isoproof_write_fn write,
                                                        void *user, isoproof_error *error);
/* For people. */
ISOPROOF_API isoproof_status isoproof_result_write_text(const isoproof_result *result,
                                                        const isoproof_render_options *options, isoproof_write_fn write,
                                                        void *user, isoproof_error *error);
/* The JSON object for a file that could not be judged. */
ISOPROOF_API isoproof_status isoproof_error_write_json(const isoproof_error *problem, const char *file,
                                                       isoproof_write_fn write, void *user, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
