/* isoproof/plan.h - plans (isoproof.toml): which databases, isolation levels and workloads to try, and what came of it.
 *
 * A plan is a table of cells, database by isolation level by workload, with what is expected of each and the options
 * that run it; docs/plans.md describes the file.  Who runs the cells (`isoproof test` does) puts the outcomes into
 * results, which are written as text, JSON, HTML, Markdown, JUnit XML or annotations of GitHub, read back from JSON,
 * and compared with others.
 *
 * Ownership: plans, results and comparisons belong to the caller, who frees them; texts live as long as what they were
 * asked of.  Results copy what they are given; a comparison refers to its results, which must outlive it.
 */
#ifndef ISOPROOF_PLAN_H
#define ISOPROOF_PLAN_H

#include <isoproof/check.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the plan ---- */

typedef struct isoproof_plan isoproof_plan;

/* Reads a plan; ISOPROOF_ERR_FORMAT has line and column.  References to the environment, as ${PGPASSWORD}, are replaced
 * by what it has; within the user information of a URL they are escaped as URLs want it. */
ISOPROOF_API isoproof_status isoproof_plan_read(const char *path, isoproof_plan **plan, isoproof_error *error);
/* The same for text in memory; `name` is for errors. */
ISOPROOF_API isoproof_status isoproof_plan_read_memory(const char *text, size_t size, const char *name,
                                                       isoproof_plan **plan, isoproof_error *error);
ISOPROOF_API void isoproof_plan_free(isoproof_plan *plan);
/* Seconds for all of it; 0 where the plan does not say. */
ISOPROOF_API double isoproof_plan_budget(const isoproof_plan *plan);

typedef struct isoproof_plan_cell {
  size_t struct_size;      /* sizeof(isoproof_plan_cell), set by the caller */
  const char *database;    /* its name in the plan */
  const char *isolation;   /* as the plan has it; "" for the database's default */
  const char *workload;    /* its name in the plan */
  const char *expected;    /* the level that is to hold; NULL: the one that the database documents */
  isoproof_verdict wanted; /* satisfied; violated, where the plan says so; or NONE, where either will do */
} isoproof_plan_cell;
/* Cells in the order of the file, those of a database beside each other; false after the last. */
ISOPROOF_API bool isoproof_plan_cell_at(const isoproof_plan *plan, size_t number, isoproof_plan_cell *out);

/* What the plan says about how to run a cell, by the names of the options of `isoproof test`: of a name only what is
 * most specific, the workload before the database before [options].  False after the last. */
typedef struct isoproof_plan_option {
  size_t struct_size;
  const char *name;
  const char *value;     /* lists have commas between their items; NULL of a boolean */
  bool on;               /* of a boolean */
  uint64_t line, column; /* in the file */
} isoproof_plan_option;
ISOPROOF_API bool isoproof_plan_option_at(const isoproof_plan *plan, size_t cell, size_t number,
                                          isoproof_plan_option *out);
/* Keys that a plan itself has, for suggestions; NULL after the last. */
ISOPROOF_API const char *isoproof_plan_key_at(size_t number);
/* A plan to begin with, with comments. */
ISOPROOF_API const char *isoproof_plan_example(void);

/* ---- the results ---- */

typedef struct isoproof_plan_results isoproof_plan_results;

/* What came of a cell. */
typedef struct isoproof_plan_outcome {
  size_t struct_size;                          /* sizeof(isoproof_plan_outcome), set by the caller */
  const char *database, *isolation, *workload; /* of the cell */
  const char *expected;     /* the level that is to hold; NULL where it is not known (yet), or there is none */
  isoproof_verdict wanted;  /* satisfied, violated, or NONE: either */
  isoproof_verdict verdict; /* of all rounds; NONE: not tried */
  const char *problem;   /* why there is no verdict: what the database said, what was wrong; NULL where there is one */
  const char *product;   /* "PostgreSQL 15.18"; NULL where it was not tried, as what follows */
  const char *anomalies; /* "lost update, write skew": what was found; NULL for nothing */
  const char *strongest; /* the strongest levels that hold, with commas; NULL where they were not looked for */
  const char *folder;    /* of its report, below that of the results; NULL for none */
  uint64_t rounds, committed, aborted, unknown;
  double seconds;                /* of its runs */
  double p50_ms, p99_ms, max_ms; /* latency of its last round */
} isoproof_plan_outcome;

/* A table with every cell of a plan, none of which was tried; `plan` may be NULL for an empty one. */
ISOPROOF_API isoproof_status isoproof_plan_results_new(const isoproof_plan *plan, const char *title,
                                                       isoproof_plan_results **results, isoproof_error *error);
ISOPROOF_API void isoproof_plan_results_free(isoproof_plan_results *results);
/* Puts an outcome where another one was, or at the end when `number` is how many there are. */
ISOPROOF_API isoproof_status isoproof_plan_results_set(isoproof_plan_results *results, size_t number,
                                                       const isoproof_plan_outcome *outcome, isoproof_error *error);
/* False after the last. */
ISOPROOF_API bool isoproof_plan_results_at(const isoproof_plan_results *results, size_t number,
                                           isoproof_plan_outcome *out);
/* How long it all took; -1 where unknown. */
ISOPROOF_API void isoproof_plan_results_set_seconds(isoproof_plan_results *results, double seconds);
/* "as expected", "violated", "not violated", "unknown", "failed", "not tried": what an outcome means for who expects.
 */
ISOPROOF_API const char *isoproof_plan_outcome_means(const isoproof_plan_outcome *outcome);

/* Reads what isoproof_plan_results_write_json wrote, or the result of a single test (result.json) as a table of one
 * cell; of a folder, its plan.json or result.json. */
ISOPROOF_API isoproof_status isoproof_plan_results_read(const char *path, isoproof_plan_results **results,
                                                        isoproof_error *error);

/* Each writes the whole table. */
typedef isoproof_status isoproof_plan_results_write_fn(const isoproof_plan_results *results, isoproof_write_fn write,
                                                       void *user, isoproof_error *error);
ISOPROOF_API isoproof_plan_results_write_fn isoproof_plan_results_write_text;
ISOPROOF_API isoproof_plan_results_write_fn isoproof_plan_results_write_json;
ISOPROOF_API isoproof_plan_results_write_fn isoproof_plan_results_write_html;
ISOPROOF_API isoproof_plan_results_write_fn isoproof_plan_results_write_markdown;
ISOPROOF_API isoproof_plan_results_write_fn isoproof_plan_results_write_junit;
ISOPROOF_API isoproof_plan_results_write_fn isoproof_plan_results_write_github;

/* ---- two of them ---- */

typedef struct isoproof_plan_comparison isoproof_plan_comparison;

typedef struct isoproof_plan_compare_options {
  size_t struct_size;
  double
      tolerance; /* by which share throughput may fall, and latency rise, without being worse; 0: they do not count */
} isoproof_plan_compare_options;

/* From `before` to `after`, cell by cell, by database, isolation level and workload; two tables of one cell each are
 * compared whatever their names.  `options` may be NULL. */
ISOPROOF_API isoproof_status isoproof_plan_compare(const isoproof_plan_results *before,
                                                   const isoproof_plan_results *after,
                                                   const isoproof_plan_compare_options *options,
                                                   isoproof_plan_comparison **comparison, isoproof_error *error);
ISOPROOF_API void isoproof_plan_comparison_free(isoproof_plan_comparison *comparison);
/* Changes for the worse (a verdict that was satisfied and is not, another anomaly, a cell that is gone or fails, more
 * than the tolerance), and changes in all but figures. */
ISOPROOF_API size_t isoproof_plan_comparison_worse(const isoproof_plan_comparison *comparison);
ISOPROOF_API size_t isoproof_plan_comparison_changes(const isoproof_plan_comparison *comparison);
typedef isoproof_status isoproof_plan_comparison_write_fn(const isoproof_plan_comparison *comparison,
                                                          isoproof_write_fn write, void *user, isoproof_error *error);
ISOPROOF_API isoproof_plan_comparison_write_fn isoproof_plan_comparison_write_text;
ISOPROOF_API isoproof_plan_comparison_write_fn isoproof_plan_comparison_write_json;

#ifdef __cplusplus
}
#endif

#endif
