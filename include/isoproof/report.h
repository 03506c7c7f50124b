/* isoproof/report.h - reports: what was found in a history, ready to be drawn, printed or handed to other tools.
 *
 *     isolde_document *document;
 *     if (isolde_document_make(history, result, NULL, &document, &error)) ...
 *     if (isolde_document_write_html(document, NULL, write, user, &error)) ...
 *
 * A document is made from a history and a result, or read from the JSON of a result (docs/json.md); renderers see no
 * difference.  Every renderer takes documents and a function to write with, and nothing else.
 *
 * Ownership: documents and readers belong to the caller, who frees them; whatever is read from a document lives as long
 * as the document.  A document that was made refers to its history, which must outlive it (unless it is detached);
 * one that was read owns the history that it found.  Text is UTF-8 and otherwise as the input has it: renderers escape.
 */
#ifndef ISOLDE_REPORT_H
#define ISOLDE_REPORT_H

#include <isoproof/check.h>
#include <isoproof/level.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isolde_document isolde_document;

typedef struct isolde_document_options {
  size_t struct_size;  /* sizeof(isolde_document_options) */
  const char *file;    /* the history, as the user named it */
  const char *title;   /* NULL: made from the facts of the run, or the file */
  double load_seconds; /* -1 where unknown */
  double check_seconds;
  uint64_t peak_bytes; /* 0 where unknown */
  bool detached;       /* does not refer to the history, which may be freed; what needs it is left out */
} isolde_document_options;

/* Gathers everything that renderers need; `options` may be NULL.  At most ISOLDE_DOCUMENT_ANOMALIES are kept, and of a
 * transaction the operations involved and those around them; isolde_document_left_out tells. */
ISOLDE_API isolde_status isolde_document_make(const isolde_history *history, const isolde_result *result,
                                              const isolde_document_options *options, isolde_document **document,
                                              isolde_error *error);
/* A file that could not be judged. */
ISOLDE_API isolde_status isolde_document_make_problem(const char *file, const isolde_error *problem,
                                                      isolde_document **document, isolde_error *error);
ISOLDE_API void isolde_document_free(isolde_document *document);

enum { ISOLDE_DOCUMENT_ANOMALIES = 1000, ISOLDE_DOCUMENT_OPS = 16 };

/* ---- saved results ---- */

typedef struct isolde_document_reader isolde_document_reader;

typedef struct isolde_document_read_options {
  size_t struct_size;
  bool no_history; /* do not look for the history */
  /* Where the history is; NULL: beside the result under its last name, else as the result names it. */
  const char *history;
  bool only_beside; /* look nowhere else than beside the result, whatever it says */
} isolde_document_read_options;

/* Opens what `isolde check --json` and `isolde test --json` print and what result.json holds: objects of schema 1 one
 * after the other.  "-" is standard input; gzip and zstd are seen through.  `options` and `task` may be NULL. */
ISOLDE_API isolde_status isolde_document_reader_open(const char *path, const isolde_document_read_options *options,
                                                     isolde_task *task, isolde_document_reader **reader,
                                                     isolde_error *error);
/* The same for bytes in memory; `name` is used in errors, and its directory is where histories are looked for. */
ISOLDE_API isolde_status isolde_document_reader_open_memory(const void *data, size_t size, const char *name,
                                                            const isolde_document_read_options *options,
                                                            isolde_task *task, isolde_document_reader **reader,
                                                            isolde_error *error);
/* The next document; NULL after the last.  A history that is gone or has changed is no error: the document says so. */
ISOLDE_API isolde_status isolde_document_reader_next(isolde_document_reader *reader, isolde_document **document,
                                                     isolde_error *error);
ISOLDE_API void isolde_document_reader_free(isolde_document_reader *reader);

/* ---- looking inside ---- */

/* Why the file could not be judged; NULL where it was.  Everything but the file is empty then. */
ISOLDE_API const isolde_error *isolde_document_problem(const isolde_document *document);
/* The file as the user named it; "" where it has no name. */
ISOLDE_API const char *isolde_document_file(const isolde_document *document);
ISOLDE_API const char *isolde_document_title(const isolde_document *document);
ISOLDE_API const char *isolde_document_format(const isolde_document *document);
/* `keys` and `has_times` are there only with a history. */
ISOLDE_API void isolde_document_counts(const isolde_document *document, isolde_counts *counts);
/* The history itself; NULL where it is not at hand (any more). */
ISOLDE_API const isolde_history *isolde_document_history(const isolde_document *document);
/* -1 where unknown. */
ISOLDE_API double isolde_document_load_seconds(const isolde_document *document);
ISOLDE_API double isolde_document_check_seconds(const isolde_document *document);

ISOLDE_API isolde_verdict isolde_document_verdict(const isolde_document *document);
ISOLDE_API const char *isolde_document_unknown_reason(const isolde_document *document);
/* The levels decided or asked for, in the order of the table of levels; false after the last. */
ISOLDE_API bool isolde_document_level(const isolde_document *document, size_t number, isolde_level_verdict *out);

/* As in isoproof/check.h; NULL after the last. */
ISOLDE_API const char *isolde_document_strongest(const isolde_document *document, size_t number);
ISOLDE_API const char *isolde_document_weakest_violated(const isolde_document *document, size_t number);
ISOLDE_API const char *isolde_document_not(const isolde_document *document, size_t number);
ISOLDE_API const char *isolde_document_also_not(const isolde_document *document, size_t number);
ISOLDE_API const char *isolde_document_proved(const isolde_document *document, size_t number);
ISOLDE_API const char *isolde_document_workload(const isolde_document *document);
ISOLDE_API isolde_verdict isolde_document_elle(const isolde_document *document);

/* Facts about the run, in the order in which the header of the history has them (seed, command, database, setting.X,
 * ...); false after the last.  Events are not among them: they are the faults. */
typedef struct isolde_document_fact {
  const char *name, *value;
} isolde_document_fact;
ISOLDE_API bool isolde_document_fact_at(const isolde_document *document, size_t number, isolde_document_fact *out);
/* The value of a fact by its name; NULL where there is none. */
ISOLDE_API const char *isolde_document_fact_of(const isolde_document *document, const char *name);

/* What happened to the database during the run; times are those of the history. */
typedef struct isolde_document_fault {
  const char *kind;   /* "kill", "pause", ... */
  const char *target; /* a node; "" where it concerns all */
  int64_t start;
  int64_t end; /* ISOLDE_NO_TIME where it did not end before the run did */
} isolde_document_fault;
ISOLDE_API bool isolde_document_fault_at(const isolde_document *document, size_t number, isolde_document_fault *out);

/* Why transactions did not commit, most frequent first. */
typedef struct isolde_document_abort {
  const char *reason; /* the code of the error as the history has it; "" for those without */
  uint64_t count;
} isolde_document_abort;
ISOLDE_API bool isolde_document_abort_at(const isolde_document *document, size_t number, isolde_document_abort *out);

/* What the document lacks and why, a sentence each; NULL after the last. */
ISOLDE_API const char *isolde_document_left_out(const isolde_document *document, size_t number);

/* ---- anomalies ---- */

#define ISOLDE_NO_INDEX UINT32_MAX

typedef struct isolde_document_op {
  uint32_t number;   /* within its transaction, from 0 */
  const char *kind;  /* "r", "w", "append", ...: isolde_op_kind_name */
  const char *key;   /* as people read it */
  const char *value; /* the same, "[1 2 3]" for a list; NULL where it was not recorded */
  const char *text;  /* "read x = 3" */
  const char *file;  /* where it stands; NULL where unknown */
  uint64_t line;     /* 0 where it has none */
  int64_t offset;    /* -1 where it has none */
  bool involved;     /* the anomaly is about this one */
} isolde_document_op;

typedef struct isolde_document_txn {
  const char *name;    /* "s2t3"; "init" */
  const char *id;      /* its own id in the input; NULL where it has none */
  const char *session; /* the name of the session; "" for the initial transaction */
  const char *status;  /* "committed", "aborted", "unknown", "initial" */
  int64_t start, end;  /* ISOLDE_NO_TIME where unknown; as the history has them */
  const char *node;    /* NULL where unknown */
  const char *error;   /* code of the error that ended it; NULL where none */
  uint64_t number;     /* in the history; ISOLDE_INITIAL_TXN */
  const isolde_document_op *ops;
  uint32_t op_count;
  uint64_t more; /* operations that are not shown */
} isolde_document_txn;

typedef struct isolde_document_edge {
  const char *kind;        /* "SO", "WR", "WW", "RW", "CM", "RT", "PO" */
  uint32_t from, to;       /* transactions, as places in the array of the anomaly */
  uint32_t from_op, to_op; /* places in their arrays of operations; ISOLDE_NO_INDEX where none */
  const char *key;         /* NULL where it has none */
  const char *why;         /* a sentence */
  bool assumed;            /* an order that the case assumes */
} isolde_document_edge;

typedef struct isolde_document_order {
  uint32_t before, after; /* transactions, as above */
  const char *key;
} isolde_document_order;

typedef struct isolde_document_case {
  const char *title; /* "If s0t1 wrote x before s1t0" */
  const char *explanation;
  const isolde_document_order *orders;
  uint32_t order_count;
  const isolde_document_edge *edges;
  uint32_t edge_count;
} isolde_document_case;

typedef struct isolde_document_anomaly {
  const char *code, *name;
  const char *level;       /* the weakest level that it breaks */
  const char *meaning;     /* what this anomaly is, in a sentence; "" where isolde does not know */
  const char *explanation; /* the proof, in sentences */
  uint64_t count;
  const char *const *keys;
  uint32_t key_count;
  const isolde_document_txn *txns; /* those involved, then others that edges mention */
  uint32_t txn_count;
  const isolde_document_edge *edges;
  uint32_t edge_count;
  const isolde_document_case *cases;
  uint32_t case_count;
} isolde_document_anomaly;

/* Anomalies as isolde_result_anomaly has them; NULL after the last. */
ISOLDE_API const isolde_document_anomaly *isolde_document_anomaly_at(const isolde_document *document, size_t number);

/* ---- rendering ---- */

/* What to draw and how much; every renderer below takes it, and NULL for the defaults. */
typedef struct isolde_draw_options {
  size_t struct_size;
  size_t anomaly;     /* the one to draw, from 0 (SVG, DOT) */
  uint64_t max_bytes; /* a page above that leaves things out and says so; 0: 20 MB */
} isolde_draw_options;

/* One page that needs no network: style, script and data are in it. */
ISOLDE_API isolde_status isolde_document_write_html(const isolde_document *document, const isolde_draw_options *options,
                                                    isolde_write_fn write, void *user, isolde_error *error);
/* The counterexample, cases side by side; a document without anomalies says so in the drawing. */
ISOLDE_API isolde_status isolde_document_write_svg(const isolde_document *document, const isolde_draw_options *options,
                                                   isolde_write_fn write, void *user, isolde_error *error);
/* The same for Graphviz. */
ISOLDE_API isolde_status isolde_document_write_dot(const isolde_document *document, const isolde_draw_options *options,
                                                   isolde_write_fn write, void *user, isolde_error *error);

/* ---- for other programs ---- */

/* Each writes any number of documents as one file. */
typedef isolde_status isolde_documents_write_fn(const isolde_document *const *documents, size_t count,
                                                isolde_write_fn write, void *user, isolde_error *error);

/* JUnit XML: a suite a document, a case a level (those asked for, or all that were decided); a document that could not
 * be judged is an error. */
ISOLDE_API isolde_documents_write_fn isolde_documents_write_junit;
/* SARIF 2.1.0: a rule a code of an anomaly, a result an anomaly with its places and its cycle. */
ISOLDE_API isolde_documents_write_fn isolde_documents_write_sarif;
/* Annotations of GitHub Actions: a line an anomaly, the worst first. */
ISOLDE_API isolde_documents_write_fn isolde_documents_write_github;
/* A summary in Markdown, at most 1 MiB of it. */
ISOLDE_API isolde_documents_write_fn isolde_documents_write_markdown;
/* A line a document, a column a level. */
ISOLDE_API isolde_documents_write_fn isolde_documents_write_csv;

/* Trace events (JSON) that Perfetto and chrome://tracing open: nodes are processes, sessions threads, transactions
 * slices; the edges of anomalies are flows.  Without a history, the transactions of the anomalies only. */
ISOLDE_API isolde_status isolde_document_write_trace(const isolde_document *document,
                                                     const isolde_draw_options *options, isolde_write_fn write,
                                                     void *user, isolde_error *error);

#ifdef __cplusplus
}
#endif

#endif
