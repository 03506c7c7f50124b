/* isoproof/report.h - reports: what was found in a history, ready to be drawn, printed or handed to other tools.
 *
 *     isoproof_document *document;
 *     if (isoproof_document_make(history, result, NULL, &document, &error)) ...
 *     if (isoproof_document_write_html(document, NULL, write, user, &error)) ...
 *
 * A document is made from a history and a result, or read from the JSON of a result (docs/json.md); renderers see no
 * difference.  Every output of a result, text and JSON too, is made from a document: a renderer takes documents and a
 * function to write with, and nothing else.
 *
 * Ownership: documents and readers belong to the caller, who frees them; whatever is read from a document lives as long
 * as the document.  A document that was made refers to its history, which must outlive it (unless it is detached);
 * one that was read owns the history that it found.  Text is UTF-8 and otherwise as the input has it: renderers escape.
 */
#ifndef ISOPROOF_REPORT_H
#define ISOPROOF_REPORT_H

#include <isoproof/check.h>
#include <isoproof/json.h>
#include <isoproof/level.h>
#include <isoproof/live.h>
#include <isoproof/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isoproof_document isoproof_document;

typedef struct isoproof_document_options {
  size_t struct_size;  /* sizeof(isoproof_document_options) */
  const char *file;    /* the history, as the user named it */
  const char *title;   /* NULL: made from the facts of the run, or the file */
  double load_seconds; /* -1 where unknown */
  double check_seconds;
  uint64_t peak_bytes;           /* 0 where unknown */
  bool detached;                 /* does not refer to the history, which may be freed; what needs it is left out */
  const isoproof_effort *effort; /* of the history, where the caller knows it; NULL: looked for when it is needed */
} isoproof_document_options;

/* Gathers everything that renderers need; `options` may be NULL.  At most ISOPROOF_DOCUMENT_ANOMALIES are kept, and of
 * a transaction the operations involved and those around them; isoproof_document_left_out tells. */
ISOPROOF_API isoproof_status isoproof_document_make(const isoproof_history *history, const isoproof_result *result,
                                                    const isoproof_document_options *options,
                                                    isoproof_document **document, isoproof_error *error);
/* A file that could not be judged. */
ISOPROOF_API isoproof_status isoproof_document_make_problem(const char *file, const isoproof_error *problem,
                                                            isoproof_document **document, isoproof_error *error);
ISOPROOF_API void isoproof_document_free(isoproof_document *document);

typedef struct isoproof_live_document_options {
  size_t struct_size;            /* sizeof(isoproof_live_document_options) */
  const char *file, *format;     /* of the history; NULL where there is none */
  const isoproof_counts *counts; /* of everything that was pushed; NULL: the transactions only */
  bool asked;                    /* the levels were asked for: the verdict is about them */
  bool unfinished;               /* more was to come: what a later transaction may still mend is not decided */
  double check_seconds;
  uint64_t peak_bytes;
  const char *reason; /* why a level is unknown: isoproof_live_state.reason; NULL where it does not say */
} isoproof_live_document_options;

/* What a live checker knows after its last poll: its verdicts, and the anomalies that it can show, each counted within
 * the part of the history in which it was found.  There is no history at hand then.  `options` may be NULL. */
ISOPROOF_API isoproof_status isoproof_document_make_live(const isoproof_live *live,
                                                         const isoproof_live_document_options *options,
                                                         isoproof_document **document, isoproof_error *error);

enum { ISOPROOF_DOCUMENT_ANOMALIES = 1000, ISOPROOF_DOCUMENT_OPS = 16 };

/* ---- saved results ---- */

typedef struct isoproof_document_reader isoproof_document_reader;

typedef struct isoproof_document_read_options {
  size_t struct_size;
  bool no_history; /* do not look for the history */
  /* Where the history is; NULL: beside the result under its last name, else as the result names it. */
  const char *history;
  bool only_beside; /* look nowhere else than beside the result, whatever it says */
} isoproof_document_read_options;

/* Opens what `isoproof check --json` and `isoproof test --json` print and what result.json holds: objects of schema 1
 * one after the other.  "-" is standard input; gzip and zstd are seen through.  `options` and `task` may be NULL. */
ISOPROOF_API isoproof_status isoproof_document_reader_open(const char *path,
                                                           const isoproof_document_read_options *options,
                                                           isoproof_task *task, isoproof_document_reader **reader,
                                                           isoproof_error *error);
/* The same for bytes in memory; `name` is used in errors, and its directory is where histories are looked for. */
ISOPROOF_API isoproof_status isoproof_document_reader_open_memory(const void *data, size_t size, const char *name,
                                                                  const isoproof_document_read_options *options,
                                                                  isoproof_task *task,
                                                                  isoproof_document_reader **reader,
                                                                  isoproof_error *error);
/* The next document; NULL after the last.  A history that is gone or has changed is no error: the document says so. */
ISOPROOF_API isoproof_status isoproof_document_reader_next(isoproof_document_reader *reader,
                                                           isoproof_document **document, isoproof_error *error);
ISOPROOF_API void isoproof_document_reader_free(isoproof_document_reader *reader);

/* ---- looking inside ---- */

/* Why the file could not be judged; NULL where it was.  Everything but the file is empty then. */
ISOPROOF_API const isoproof_error *isoproof_document_problem(const isoproof_document *document);
/* The file as the user named it; "" where it has no name. */
ISOPROOF_API const char *isoproof_document_file(const isoproof_document *document);
ISOPROOF_API const char *isoproof_document_title(const isoproof_document *document);
ISOPROOF_API const char *isoproof_document_format(const isoproof_document *document);
/* `keys` and `has_times` are there only with a history. */
ISOPROOF_API void isoproof_document_counts(const isoproof_document *document, isoproof_counts *counts);
/* How hard the run tried, looked for in the history where a saved result does not say it; false where that is not
 * known: there are no times, or neither. */
ISOPROOF_API bool isoproof_document_effort(const isoproof_document *document, isoproof_effort *effort);
/* The history itself; NULL where it is not at hand (any more). */
ISOPROOF_API const isoproof_history *isoproof_document_history(const isoproof_document *document);
/* -1 where unknown. */
ISOPROOF_API double isoproof_document_load_seconds(const isoproof_document *document);
ISOPROOF_API double isoproof_document_check_seconds(const isoproof_document *document);

ISOPROOF_API isoproof_verdict isoproof_document_verdict(const isoproof_document *document);
ISOPROOF_API const char *isoproof_document_unknown_reason(const isoproof_document *document);
/* The levels decided or asked for, in the order of the table of levels; false after the last. */
ISOPROOF_API bool isoproof_document_level(const isoproof_document *document, size_t number,
                                          isoproof_level_verdict *out);
/* The levels that are left although the history could decide them, and why; NULL after the last.  `reason` may be
 * NULL. */
ISOPROOF_API const char *isoproof_document_undecided_at(const isoproof_document *document, size_t number,
                                                        const char **reason);

/* As in isoproof/check.h; NULL after the last. */
ISOPROOF_API const char *isoproof_document_strongest(const isoproof_document *document, size_t number);
ISOPROOF_API const char *isoproof_document_weakest_violated(const isoproof_document *document, size_t number);
ISOPROOF_API const char *isoproof_document_not(const isoproof_document *document, size_t number);
ISOPROOF_API const char *isoproof_document_also_not(const isoproof_document *document, size_t number);
ISOPROOF_API const char *isoproof_document_proved(const isoproof_document *document, size_t number);
ISOPROOF_API const char *isoproof_document_workload(const isoproof_document *document);
ISOPROOF_API isoproof_verdict isoproof_document_elle(const isoproof_document *document);

/* Facts about the run, in the order in which the header of the history has them (seed, command, database, setting.X,
 * ...); false after the last.  Events are not among them: they are the faults. */
typedef struct isoproof_document_fact {
  size_t struct_size; /* sizeof(isoproof_document_fact), set by the caller */
  const char *name, *value;
} isoproof_document_fact;
ISOPROOF_API bool isoproof_document_fact_at(const isoproof_document *document, size_t number,
                                            isoproof_document_fact *out);
/* The value of a fact by its name; NULL where there is none. */
ISOPROOF_API const char *isoproof_document_fact_of(const isoproof_document *document, const char *name);

/* What happened to the database during the run; times are those of the history. */
typedef struct isoproof_document_fault {
  size_t struct_size;
  const char *kind;   /* "kill", "pause", ... */
  const char *target; /* a node; "" where it concerns all */
  int64_t start;
  int64_t end; /* ISOPROOF_NO_TIME where it did not end before the run did */
} isoproof_document_fault;
ISOPROOF_API bool isoproof_document_fault_at(const isoproof_document *document, size_t number,
                                             isoproof_document_fault *out);

/* Why transactions did not commit, most frequent first. */
typedef struct isoproof_document_abort {
  size_t struct_size;
  const char *reason; /* the code of the error as the history has it; "" for those without */
  uint64_t count;
} isoproof_document_abort;
ISOPROOF_API bool isoproof_document_abort_at(const isoproof_document *document, size_t number,
                                             isoproof_document_abort *out);

/* Invariants of scripts, whether they were broken or not; false after the last. */
typedef struct isoproof_document_invariant {
  size_t struct_size;           /* sizeof(isoproof_document_invariant), set by the caller */
  const char *name, *query;     /* as the script has them */
  const char *expected, *found; /* what it must return; what it returned when it was first seen broken, "" */
  uint64_t checks, broken;      /* how often it was asked, and was not as expected */
  int64_t first;                /* when that was seen first, on the clock of the history; ISOPROOF_NO_TIME */
  bool in_the_end;              /* it was broken when nobody wrote any more */
} isoproof_document_invariant;
ISOPROOF_API bool isoproof_document_invariant_at(const isoproof_document *document, size_t number,
                                                 isoproof_document_invariant *out);

/* What whoever reads the verdict has to know about the history behind it (isoproof/history.h); false after the last. */
ISOPROOF_API bool isoproof_document_notice_at(const isoproof_document *document, size_t number, isoproof_notice *out);
/* Adds one, unless it is there already; `line` 0 for none, `message` NULL for the sentence of the list. */
ISOPROOF_API isoproof_status isoproof_document_add_notice(isoproof_document *document, isoproof_notice_code code,
                                                          uint64_t line, const char *message, isoproof_error *error);

/* What the document lacks and why, one sentence per thing; NULL after the last. */
ISOPROOF_API const char *isoproof_document_left_out(const isoproof_document *document, size_t number);

/* ---- anomalies ---- */

#define ISOPROOF_NO_INDEX UINT32_MAX

typedef struct isoproof_document_op {
  uint32_t number;   /* within its transaction, from 0 */
  const char *kind;  /* "r", "w", "append", ...: isoproof_op_kind_name */
  const char *key;   /* as people read it */
  const char *value; /* the same, "[1 2 3]" for a list; NULL where it was not recorded */
  const char *text;  /* "read x = 3" */
  const char *file;  /* where it stands; NULL where unknown */
  uint64_t line;     /* 0 where it has none */
  int64_t offset;    /* -1 where it has none */
  bool involved;     /* the anomaly is about this one */
  bool is_balance;   /* the key is an account of the workload bank, and the value stands for this balance */
  int64_t balance;
} isoproof_document_op;

typedef struct isoproof_document_txn {
  const char *name;    /* "s2t3"; "init" */
  const char *id;      /* its own id in the input; NULL where it has none */
  const char *session; /* the name of the session; "" for the initial transaction */
  const char *status;  /* "committed", "aborted", "unknown", "initial" */
  int64_t start, end;  /* ISOPROOF_NO_TIME where unknown; as the history has them */
  const char *node;    /* NULL where unknown */
  const char *error;   /* code of the error that ended it; NULL where none */
  uint64_t number;     /* in the history; ISOPROOF_INITIAL_TXN */
  const isoproof_document_op *ops;
  uint32_t op_count;
  uint64_t more;         /* operations that are not shown */
  const char *isolation; /* id of the level that is its own; NULL where it has none */
  const char *called;    /* which of the application's transactions it is, "transfer"; NULL where unknown */
} isoproof_document_txn;

typedef struct isoproof_document_edge {
  const char *kind;        /* "SO", "WR", "WW", "RW", "CM", "RT", "PO" */
  uint32_t from, to;       /* transactions, as places in the array of the anomaly */
  uint32_t from_op, to_op; /* places in their arrays of operations; ISOPROOF_NO_INDEX where none */
  const char *key;         /* NULL where it has none */
  const char *why;         /* a sentence */
  bool assumed;            /* an order that the case assumes */
} isoproof_document_edge;

typedef struct isoproof_document_order {
  uint32_t before, after; /* transactions, as above */
  const char *key;
} isoproof_document_order;

typedef struct isoproof_document_case {
  const char *title; /* "If s0t1 wrote x before s1t0" */
  const char *explanation;
  const isoproof_document_order *orders;
  uint32_t order_count;
  const isoproof_document_edge *edges;
  uint32_t edge_count;
} isoproof_document_case;

typedef struct isoproof_document_anomaly {
  const char *code, *name;
  const char *level;       /* the weakest level that it breaks */
  const char *meaning;     /* what this anomaly is, in a sentence; "" where isoproof does not know */
  const char *explanation; /* the proof, in sentences */
  uint64_t count;
  const char *const *keys;
  uint32_t key_count;
  const isoproof_document_txn *txns; /* those involved, then others that edges mention */
  uint32_t txn_count;
  const isoproof_document_edge *edges;
  uint32_t edge_count;
  const isoproof_document_case *cases;
  uint32_t case_count;
  isoproof_count_kind count_is; /* what `count` says */
} isoproof_document_anomaly;

/* Anomalies as isoproof_result_anomaly_at has them; NULL after the last. */
ISOPROOF_API const isoproof_document_anomaly *isoproof_document_anomaly_at(const isoproof_document *document,
                                                                           size_t number);

/* ---- rendering ---- */

/* What to write and how; every renderer of a single document takes it, and NULL for the defaults. */
typedef struct isoproof_draw_options {
  size_t struct_size;
  size_t anomaly;     /* the one to draw, from 0 (SVG, DOT) */
  uint64_t max_bytes; /* a page above that leaves things out and says so; 0: 20 MB */
  bool color;         /* of the text */
  bool unicode;       /* of the text: lines and arrows beyond ASCII */
  /* Of the JSON: called at the end of the object, to which it may add fields.  NULL for none. */
  isoproof_json_fields_fn more;
  void *more_user;
  /* Of the text. */
  unsigned width; /* columns of the terminal, of which 60 to 200 are used; 0: 80 */
  bool has_page;  /* a page was written already: do not suggest one */
} isoproof_draw_options;

/* One JSON object on one line, with final newline (schema 1, see docs/json.md): what a reader makes the same document
 * from.  It has the anomalies that the document keeps; isoproof_result_write_json has all of them. */
ISOPROOF_API isoproof_status isoproof_document_write_json(const isoproof_document *document,
                                                          const isoproof_draw_options *options, isoproof_write_fn write,
                                                          void *user, isoproof_error *error);
/* For people, as wide as the options say where the names allow it. */
ISOPROOF_API isoproof_status isoproof_document_write_text(const isoproof_document *document,
                                                          const isoproof_draw_options *options, isoproof_write_fn write,
                                                          void *user, isoproof_error *error);

/* One page that needs no network: style, script and data are in it. */
ISOPROOF_API isoproof_status isoproof_document_write_html(const isoproof_document *document,
                                                          const isoproof_draw_options *options, isoproof_write_fn write,
                                                          void *user, isoproof_error *error);
/* The counterexample, cases side by side; a document without anomalies says so in the drawing. */
ISOPROOF_API isoproof_status isoproof_document_write_svg(const isoproof_document *document,
                                                         const isoproof_draw_options *options, isoproof_write_fn write,
                                                         void *user, isoproof_error *error);
/* The same for Graphviz. */
ISOPROOF_API isoproof_status isoproof_document_write_dot(const isoproof_document *document,
                                                         const isoproof_draw_options *options, isoproof_write_fn write,
                                                         void *user, isoproof_error *error);

/* ---- for other programs ---- */

/* Each writes any number of documents as one file. */
typedef isoproof_status isoproof_documents_write_fn(const isoproof_document *const *documents, size_t count,
                                                    isoproof_write_fn write, void *user, isoproof_error *error);

/* JUnit XML: one suite per document, one case per level (those asked for, or all that were decided); a document that
 * could not be judged is an error. */
ISOPROOF_API isoproof_documents_write_fn isoproof_documents_write_junit;
/* SARIF 2.1.0: one rule per code of an anomaly, one result per anomaly with its places and its cycle. */
ISOPROOF_API isoproof_documents_write_fn isoproof_documents_write_sarif;
/* Annotations of GitHub Actions: one line per anomaly, the worst first. */
ISOPROOF_API isoproof_documents_write_fn isoproof_documents_write_github;
/* A summary in Markdown, at most 1 MiB of it. */
ISOPROOF_API isoproof_documents_write_fn isoproof_documents_write_markdown;
/* One line per document, one column per level. */
ISOPROOF_API isoproof_documents_write_fn isoproof_documents_write_csv;

/* Trace events (JSON) that Perfetto and chrome://tracing open: nodes are processes, sessions threads, transactions
 * slices; the edges of anomalies are flows.  Without a history, the transactions of the anomalies only. */
ISOPROOF_API isoproof_status isoproof_document_write_trace(const isoproof_document *document,
                                                           const isoproof_draw_options *options,
                                                           isoproof_write_fn write, void *user, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
