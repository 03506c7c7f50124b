/* isoproof/coo.h - schedules as cycles of partial order pairs (POPs), and every such cycle as a test case.
 *
 * A schedule is what several transactions do, in the order in which they do it: "R1x W2y W2x C2 R1y C1".  Two steps of
 * different transactions on one object, one of them a write, are a POP; a POP says which transaction comes first and
 * whether that one was still active.  A cycle of POPs is an anomaly.  docs/coo.md defines all of it.
 *
 * Handles belong to the caller, and everything read from one lives as long as it does.
 */
#ifndef ISOPROOF_COO_H
#define ISOPROOF_COO_H

#include <isoproof/history.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- schedules ---- */

typedef struct isoproof_schedule isoproof_schedule;

typedef enum isoproof_schedule_step_kind {
  ISOPROOF_STEP_READ,
  ISOPROOF_STEP_WRITE,
  ISOPROOF_STEP_COMMIT,
  ISOPROOF_STEP_ABORT
} isoproof_schedule_step_kind;

enum {
  ISOPROOF_SCHEDULE_STEPS = 1024,    /* most steps of a schedule */
  ISOPROOF_SCHEDULE_TXNS = 64,       /* most transactions */
  ISOPROOF_SCHEDULE_OBJECTS = 64,    /* most objects */
  ISOPROOF_SCHEDULE_NAME_BYTES = 32, /* most bytes of the name of an object, terminated */
  ISOPROOF_STEP_TEXT_BYTES = 64      /* enough for any step as text */
};

typedef struct isoproof_schedule_step {
  size_t struct_size; /* sizeof(isoproof_schedule_step), set by the caller */
  isoproof_schedule_step_kind kind;
  uint32_t txn;     /* from 0, in order of first appearance */
  uint32_t object;  /* of reads and writes, from 0, in order of first appearance */
  uint32_t version; /* write: its number among the writes of the object, from 1; read: the version seen, 0 initial */
} isoproof_schedule_step;

/* Parses text such as "R1x W2x C1 A2", also as papers print it: "R1[x0] W2[x1] C_1".  A number after the object of a
 * read is the version that it saw: 0 is the initial one, and N the one of the N-th write of the object.  Without it, a
 * read sees the latest write whose transaction has not been rolled back.  After the object of a write the number must
 * be the one that the write has anyway. */
ISOPROOF_API isoproof_status isoproof_schedule_parse(const char *text, isoproof_schedule **schedule,
                                                     isoproof_error *error);
ISOPROOF_API void isoproof_schedule_free(isoproof_schedule *schedule);

ISOPROOF_API size_t isoproof_schedule_step_count(const isoproof_schedule *schedule);
ISOPROOF_API size_t isoproof_schedule_txn_count(const isoproof_schedule *schedule);
ISOPROOF_API size_t isoproof_schedule_object_count(const isoproof_schedule *schedule);
/* False when the number is out of range. */
ISOPROOF_API bool isoproof_schedule_step_at(const isoproof_schedule *schedule, size_t number,
                                            isoproof_schedule_step *out);
/* The number that the text has for a transaction, 0 when out of range; the name of an object, NULL when out of range.
 */
ISOPROOF_API uint32_t isoproof_schedule_txn_label(const isoproof_schedule *schedule, size_t txn);
ISOPROOF_API const char *isoproof_schedule_object_name(const isoproof_schedule *schedule, size_t object);
/* "R1x", or "R1x0" where the version seen is not the one that the text alone would mean; as snprintf does. */
ISOPROOF_API size_t isoproof_schedule_step_format(const isoproof_schedule *schedule, size_t number, char *buffer,
                                                  size_t size);
/* The whole schedule, in the form that isoproof_schedule_parse takes. */
ISOPROOF_API const char *isoproof_schedule_text(const isoproof_schedule *schedule);

/* The history that the schedule stands for: one session per transaction, registers (the value of a version is its
 * number among all writes), and after them in each session that committed a transaction that reads the final state.
 * Transactions without an end are unknown ones. */
ISOPROOF_API isoproof_status isoproof_schedule_history(const isoproof_schedule *schedule, isoproof_history **history,
                                                       isoproof_error *error);

/* ---- POPs, cycles, classes ---- */

/* Kinds of POPs: C name, name, whether the first transaction had committed in between, meaning. */
#define ISOPROOF_POP_LIST(X)                                                                                           \
  X(WR, "WR", false, "a read of a write that is not committed")                                                        \
  X(WW, "WW", false, "an overwrite of a write that is not committed")                                                  \
  X(RW, "RW", false, "an overwrite of what an active transaction has read")                                            \
  X(WCR, "WCR", true, "a read of a committed write")                                                                   \
  X(WCW, "WCW", true, "an overwrite of a committed write")                                                             \
  X(RCW, "RCW", true, "an overwrite of what a committed transaction had read")                                         \
  X(RA, "RA", false, "the rollback of a write that was read")                                                          \
  X(WC, "WC", false, "the commit of a write that was overwritten before")                                              \
  X(WA, "WA", false, "the rollback of a write that was overwritten")

typedef enum isoproof_pop_kind {
#define ISOPROOF_X(name, id, committed, text) ISOPROOF_POP_##name,
  ISOPROOF_POP_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_POP_KINDS
} isoproof_pop_kind;

ISOPROOF_API const char *isoproof_pop_kind_name(isoproof_pop_kind kind);
ISOPROOF_API const char *isoproof_pop_kind_meaning(isoproof_pop_kind kind);

/* Frozen. */
typedef struct isoproof_pop {
  isoproof_pop_kind kind;
  uint32_t from, to;           /* transactions */
  uint32_t object;             /* both steps are on it */
  uint32_t from_step, to_step; /* RA, WC, WA: the end of the writer is to_step */
} isoproof_pop;

typedef enum isoproof_coo_class {
  ISOPROOF_COO_CLASS_RAT,
  ISOPROOF_COO_CLASS_WAT,
  ISOPROOF_COO_CLASS_IAT
} isoproof_coo_class;
typedef enum isoproof_coo_size {
  ISOPROOF_COO_SIZE_SDA,
  ISOPROOF_COO_SIZE_DDA,
  ISOPROOF_COO_SIZE_MDA
} isoproof_coo_size;

/* "RAT", "read anomaly type"; "SDA", "single data anomaly". */
ISOPROOF_API const char *isoproof_coo_class_name(isoproof_coo_class kind);
ISOPROOF_API const char *isoproof_coo_class_title(isoproof_coo_class kind);
ISOPROOF_API const char *isoproof_coo_size_name(isoproof_coo_size size);
ISOPROOF_API const char *isoproof_coo_size_title(isoproof_coo_size size);

/* A cycle of POPs, beginning with the one that closes first. */
typedef struct isoproof_pop_cycle {
  size_t struct_size;       /* sizeof(isoproof_pop_cycle), set by the caller */
  const isoproof_pop *pops; /* pops[i].to == pops[i + 1].from, and the last one leads back to the first */
  size_t length;            /* transactions */
  size_t object_count;
  isoproof_coo_class kind;
  isoproof_coo_size size;
  unsigned number;  /* 1 to 33: its place in the published table; 0 for longer cycles that the table only stands for */
  const char *name; /* "Read Skew Committed" */
  bool committed;   /* every transaction of it committed */
} isoproof_pop_cycle;

typedef struct isoproof_pop_graph isoproof_pop_graph;

/* Finds the POPs of a schedule and its cycles: those that no shorter cycle of the same transactions replaces, the most
 * telling first.  The schedule must outlive the graph. */
ISOPROOF_API isoproof_status isoproof_pop_graph_new(const isoproof_schedule *schedule, isoproof_pop_graph **graph,
                                                    isoproof_error *error);
ISOPROOF_API void isoproof_pop_graph_free(isoproof_pop_graph *graph);
ISOPROOF_API size_t isoproof_pop_graph_pop_count(const isoproof_pop_graph *graph);
ISOPROOF_API bool isoproof_pop_graph_pop_at(const isoproof_pop_graph *graph, size_t number, isoproof_pop *out);
ISOPROOF_API size_t isoproof_pop_graph_cycle_count(const isoproof_pop_graph *graph);
ISOPROOF_API bool isoproof_pop_graph_cycle_at(const isoproof_pop_graph *graph, size_t number, isoproof_pop_cycle *out);
/* Whether the search stopped at its limit, so that more cycles may exist. */
ISOPROOF_API bool isoproof_pop_graph_truncated(const isoproof_pop_graph *graph);

/* Adya's phenomena among the committed transactions, with the versions in the order of their writes: codes as in
 * isoproof/level.h ("G0", "G1a", "G-single"), `number` from 0; NULL after the last. */
ISOPROOF_API const char *isoproof_schedule_phenomenon_at(const isoproof_schedule *schedule, size_t number);

/* ---- the test cases ---- */

enum {
  ISOPROOF_COO_NAMED = 33,  /* cases of the published table */
  ISOPROOF_COO_TXNS = 8,    /* most transactions of a generated case */
  ISOPROOF_COO_OBJECTS = 8, /* most objects */
};

typedef struct isoproof_coo_case {
  size_t struct_size; /* sizeof(isoproof_coo_case), set by the caller */
  unsigned number;    /* 1 to 33, or 0 */
  const char *name;   /* "Write Skew", "Step RAT" */
  isoproof_coo_class kind;
  isoproof_coo_size size;
  size_t length;
  size_t object_count;
  isoproof_pop_kind pops[ISOPROOF_COO_TXNS]; /* from transaction i to transaction i + 1 */
  uint32_t on[ISOPROOF_COO_TXNS];            /* the object of each */
  const char *schedule;                      /* a schedule that makes it; owned by the generator */
  const char *variant;                       /* another one with the same cycle, NULL where none */
  const char *structure;                     /* "RW[x] WCR[y]": its POPs and their objects; owned by the generator */
} isoproof_coo_case;

typedef struct isoproof_coo_generator isoproof_coo_generator;

/* Every POP cycle of at most that many transactions and objects, up to the names of transactions and objects: those of
 * the table first, by number, then the others by transactions and objects. */
ISOPROOF_API isoproof_status isoproof_coo_generator_new(size_t txns, size_t objects, isoproof_coo_generator **generator,
                                                        isoproof_error *error);
/* Leaves out all but that many cases, drawn by a seed, before the first one is asked for; how many that leaves out. */
ISOPROOF_API uint64_t isoproof_coo_generator_sample(isoproof_coo_generator *generator, uint64_t limit, uint64_t seed);
/* False after the last.  What the case points to lives until the next call. */
ISOPROOF_API bool isoproof_coo_generator_next(isoproof_coo_generator *generator, isoproof_coo_case *out);
ISOPROOF_API void isoproof_coo_generator_free(isoproof_coo_generator *generator);
/* How many cycles of exactly that many transactions and objects there are. */
ISOPROOF_API uint64_t isoproof_coo_cycle_count(size_t txns, size_t objects);

/* The statement of a step in SQL, on a table with rows (k, v) that all start with v = 0: "UPDATE coo SET v = 2 WHERE k
 * = 0", "COMMIT".  The setup is the statements that make the table; `number` from 0.  Both as snprintf does, 0 after
 * the last. */
ISOPROOF_API size_t isoproof_schedule_sql_at(const isoproof_schedule *schedule, const char *table, size_t number,
                                             char *buffer, size_t size);
ISOPROOF_API size_t isoproof_schedule_sql_setup_at(const isoproof_schedule *schedule, const char *table, size_t number,
                                                   char *buffer, size_t size);

/* ---- on a real database ---- */

/* What a database did with a case: C name, letter, name, meaning. */
#define ISOPROOF_COO_RESULT_LIST(X)                                                                                    \
  X(PASS, 'P', "pass", "everything committed, and nothing is wrong with it")                                           \
  X(ANOMALY, 'A', "anomaly", "everything committed, and what was executed is an anomaly")                              \
  X(RULE, 'R', "rule", "the database rolled a transaction back to keep its level")                                     \
  X(DEADLOCK, 'D', "deadlock", "the database rolled a transaction back to end a deadlock")                             \
  X(TIMEOUT, 'T', "timeout", "a transaction waited too long and was given up")

typedef enum isoproof_coo_result {
#define ISOPROOF_X(name, letter, id, text) ISOPROOF_COO_##name,
  ISOPROOF_COO_RESULT_LIST(ISOPROOF_X)
#undef ISOPROOF_X
      ISOPROOF_COO_RESULTS
} isoproof_coo_result;

/* Room for results in the structs below. */
enum { ISOPROOF_COO_RESULT_ROOM = 16 };

ISOPROOF_API char isoproof_coo_result_letter(isoproof_coo_result result);
ISOPROOF_API const char *isoproof_coo_result_name(isoproof_coo_result result);
ISOPROOF_API const char *isoproof_coo_result_meaning(isoproof_coo_result result);

/* Rows: the 33 published cases; with predicates, four more; or the named tests of hermitage. */
typedef enum isoproof_coo_suite { ISOPROOF_SUITE_COO, ISOPROOF_SUITE_HERMITAGE } isoproof_coo_suite;

/* Where the objects of a case are: rows of one table; each in a table of its own; each in a partition of its own of one
 * partitioned table, which the database must have.  The last two leave out cases of one object, and predicates, which
 * are about one table, go with partitions only. */
typedef enum isoproof_coo_spread {
  ISOPROOF_SPREAD_NONE,
  ISOPROOF_SPREAD_TABLES,
  ISOPROOF_SPREAD_PARTITIONS
} isoproof_coo_spread;

typedef struct isoproof_coo_run_options {
  size_t struct_size;      /* sizeof(isoproof_coo_run_options) */
  const char *const *urls; /* of the nodes of one database */
  size_t url_count;
  const char *const *levels; /* by the names of the database; NULL with 0 means every level that it offers */
  size_t level_count;
  const unsigned *cases; /* numbers of rows, from 1; NULL with 0 means all */
  size_t case_count;
  isoproof_coo_suite suite;
  uint32_t repeat;     /* runs of each cell; 0 means 1 */
  uint32_t settle_ms;  /* where the database does not show its locks; 0 means 60 */
  uint32_t timeout_ms; /* most that sessions wait for each other; 0 means 4000 */
  isoproof_coo_spread distributed;
  bool predicate; /* cases with predicates too */
  bool race;      /* several nodes: do not wait after a commit until all of them show it */
  /* The level that every isolation level is to give, an id of isoproof/level.h; NULL: what the database documents for
   * each of them, which may be nothing. */
  const char *expect;
  /* Schedules to run in the place of the cases, in which every transaction ends; their names, NULL for none (or for
   * some of them), which are those of the rows.  Without one, a row is called by its schedule. */
  const char *const *schedules, *const *schedule_names;
  size_t schedule_count;
  /* Not 0: every cycle of at most that many transactions and objects in the place of the 33 cases, `limit` of them (0
   * means ISOPROOF_COO_LIMIT), drawn by the seed where there are more. */
  size_t transactions, objects, limit;
  uint64_t seed;
  /* Told, in one line, what else was done to the database (tables of runs that are gone, removed), or could not be. */
  isoproof_notice_fn notice; /* may be NULL */
  void *notice_user;
  const char *password; /* for nodes whose URLs have none; NULL: what the client library finds by itself */
} isoproof_coo_run_options;

enum { ISOPROOF_COO_LIMIT = 1000 };

typedef struct isoproof_coo_matrix isoproof_coo_matrix;

/* Runs every case at every level.  The table it uses has a name of its own, is made and removed; `task` carries
 * cancellation and progress.  ISOPROOF_ERR_INTERFERENCE: somebody else changed the table.  When it fails midway
 * (cancelled, or the server is gone), the matrix holds the cells that were run until then. */
ISOPROOF_API isoproof_status isoproof_coo_run(const isoproof_coo_run_options *options, isoproof_task *task,
                                              isoproof_coo_matrix **matrix, isoproof_error *error);
ISOPROOF_API void isoproof_coo_matrix_free(isoproof_coo_matrix *matrix);

/* "PostgreSQL 15.18"; names of its levels as it calls them, NULL after the last; seconds it all took. */
ISOPROOF_API const char *isoproof_coo_matrix_database(const isoproof_coo_matrix *matrix);
ISOPROOF_API const char *isoproof_coo_matrix_level_at(const isoproof_coo_matrix *matrix, size_t level);
ISOPROOF_API double isoproof_coo_matrix_seconds(const isoproof_coo_matrix *matrix);

/* A short name for narrow tables, unlike those of the other levels: "RU" for "read uncommitted", "SER" for
 * "serializable"; "" after the last. */
enum { ISOPROOF_COO_SHORT_BYTES = 8 };
ISOPROOF_API void isoproof_coo_matrix_level_short(const isoproof_coo_matrix *matrix, size_t level,
                                                  char out[ISOPROOF_COO_SHORT_BYTES]);
/* Whether every cell was run; how many cycles a limit left out. */
ISOPROOF_API bool isoproof_coo_matrix_complete(const isoproof_coo_matrix *matrix);
ISOPROOF_API uint64_t isoproof_coo_matrix_left_out(const isoproof_coo_matrix *matrix);
/* Which tests the rows are. */
ISOPROOF_API isoproof_coo_suite isoproof_coo_matrix_suite(const isoproof_coo_matrix *matrix);

/* What was expected of an isolation level, and what came of it. */
typedef struct isoproof_coo_summary {
  size_t struct_size;   /* sizeof(isoproof_coo_summary), set by the caller */
  const char *expected; /* level, an id of isoproof/level.h; NULL where none is expected */
  const char *source;   /* who says so: "database" (its documentation), "option"; NULL where nobody does */
  const char *note;     /* what to know about it; "" where there is nothing to say */
  size_t cells;         /* that were run */
  size_t anomalies;     /* cells with an anomaly in some run, be it after a rollback */
  size_t rolled_back;   /* cells in which a transaction was rolled back, waited too long, or fell to a deadlock */
  size_t unexpected;    /* cells with a run that the expected level forbids */
  size_t undecided;     /* cells on which the expected level has no verdict */
} isoproof_coo_summary;

/* False after the last level. */
ISOPROOF_API bool isoproof_coo_matrix_summary_at(const isoproof_coo_matrix *matrix, size_t level,
                                                 isoproof_coo_summary *out);
/* The same as a sentence, without the name of the level and a full stop; as snprintf does, 0 after the last. */
ISOPROOF_API size_t isoproof_coo_matrix_sentence_at(const isoproof_coo_matrix *matrix, size_t level, char *buffer,
                                                    size_t size);
/* Cells of all levels with a run that the expected level forbids. */
ISOPROOF_API size_t isoproof_coo_matrix_unexpected(const isoproof_coo_matrix *matrix);

typedef struct isoproof_coo_row {
  size_t struct_size; /* sizeof(isoproof_coo_row), set by the caller */
  unsigned number;    /* of the case; 0 for schedules of one's own, and cycles that are not in the table */
  const char *name;
  const char *kind; /* "RAT-S"; of hermitage, what is tested in words */
  const char *plan; /* the schedule that was asked for; NULL for a script of statements */
} isoproof_coo_row;

/* False after the last. */
ISOPROOF_API bool isoproof_coo_matrix_row_at(const isoproof_coo_matrix *matrix, size_t row, isoproof_coo_row *out);

typedef struct isoproof_coo_cell {
  size_t struct_size;         /* sizeof(isoproof_coo_cell), set by the caller */
  isoproof_coo_result result; /* of the first run that is not as expected, else of the most runs: that run is shown */
  uint32_t runs;              /* 0: the run of the matrix was stopped before */
  uint32_t counts[ISOPROOF_COO_RESULT_ROOM]; /* how many of the runs gave which isoproof_coo_result */
  const char *executed;                      /* what was really executed, as a schedule; NULL for a script */
  const char *cycle;                         /* the name of its first POP cycle, NULL where there is none */
  const char *phenomenon;                    /* Adya's code of what committed, NULL where there is none */
  bool broken;          /* a transaction was rolled back, and what committed is an anomaly all the same */
  size_t verdict_count; /* levels judged, see isoproof_coo_cell_verdict_at */
  size_t error_count;   /* see isoproof_coo_cell_error_at */
  size_t event_count;   /* see isoproof_coo_cell_event_at */
  double seconds;
  /* Whether the expected level allows what was executed: "satisfied", "violated" or "unknown" is its verdict on the
   * run that is shown; NULL where no level is expected. */
  const char *expected;
  uint32_t unexpected; /* runs in which the expected level was violated */
} isoproof_coo_cell;

ISOPROOF_API bool isoproof_coo_matrix_cell_at(const isoproof_coo_matrix *matrix, size_t row, size_t level,
                                              isoproof_coo_cell *out);

/* The verdict of the checkers on what committed, by level. */
typedef struct isoproof_coo_verdict {
  size_t struct_size; /* sizeof(isoproof_coo_verdict), set by the caller */
  const char *level;
  const char *verdict; /* "satisfied", "violated", "unknown" */
} isoproof_coo_verdict;
ISOPROOF_API bool isoproof_coo_cell_verdict_at(const isoproof_coo_matrix *matrix, size_t row, size_t level,
                                               size_t number, isoproof_coo_verdict *out);

/* One thing that happened in the run that is shown. */
typedef struct isoproof_coo_event {
  size_t struct_size; /* sizeof(isoproof_coo_event), set by the caller */
  const char *kind;   /* "done", "waits", "skipped", "undone" (rolled back after an error) */
  unsigned session;   /* from 1 */
  const char *step;   /* "W1x", or the statement of a script */
  const char *sql;    /* the statement */
  const char *value;  /* what a read returned, NULL where it is no read */
  const char *error;  /* class of an error ("deadlock"), NULL where there is none */
  const char *code;   /* the server's code */
  const char *message;
  bool waited;
  double started, finished; /* seconds since the case began */
} isoproof_coo_event;
ISOPROOF_API bool isoproof_coo_cell_event_at(const isoproof_coo_matrix *matrix, size_t row, size_t level, size_t number,
                                             isoproof_coo_event *out);
/* The events that are errors, in order: every code of every session. */
ISOPROOF_API bool isoproof_coo_cell_error_at(const isoproof_coo_matrix *matrix, size_t row, size_t level, size_t number,
                                             isoproof_coo_event *out);

/* Hermitage's table: its ten tests, NULL after the last; 'y' prevented, 'n' not, 'r' prevented for transactions that
 * only read, '-' not run. */
ISOPROOF_API const char *isoproof_coo_hermitage_test_at(size_t test);
ISOPROOF_API char isoproof_coo_hermitage_letter(const isoproof_coo_matrix *matrix, size_t level, size_t test);

/* ---- saved matrices ---- */

/* Reads what `isoproof coo --json` printed for a database.  "-" is standard input; gzip and zstd are seen through. */
ISOPROOF_API isoproof_status isoproof_coo_matrix_read(const char *path, isoproof_coo_matrix **matrix,
                                                      isoproof_error *error);

typedef struct isoproof_coo_comparison isoproof_coo_comparison;

/* Compares two matrices, cell by cell: levels are matched by their names, rows by schedule or name.  Cells differ when
 * they had different results, when one is broken after a rollback, or when one is not as expected.  Both must outlive
 * the comparison. */
ISOPROOF_API isoproof_status isoproof_coo_compare(const isoproof_coo_matrix *matrix, const isoproof_coo_matrix *other,
                                                  isoproof_coo_comparison **comparison, isoproof_error *error);
ISOPROOF_API void isoproof_coo_comparison_free(isoproof_coo_comparison *comparison);
/* Pairs of cells that were compared. */
ISOPROOF_API size_t isoproof_coo_comparison_cells(const isoproof_coo_comparison *comparison);

typedef struct isoproof_coo_difference {
  size_t struct_size; /* sizeof(isoproof_coo_difference), set by the caller */
  size_t row, level;  /* of the first matrix */
  size_t other_row, other_level;
} isoproof_coo_difference;

/* Level by level; false after the last. */
ISOPROOF_API bool isoproof_coo_comparison_difference_at(const isoproof_coo_comparison *comparison, size_t number,
                                                        isoproof_coo_difference *out);

/* What has no counterpart. */
typedef struct isoproof_coo_unmatched {
  size_t struct_size; /* sizeof(isoproof_coo_unmatched), set by the caller */
  bool in_other;      /* it is in the second matrix only, else in the first one */
  bool is_level;      /* else a row */
  const char *name;
} isoproof_coo_unmatched;

/* False after the last. */
ISOPROOF_API bool isoproof_coo_comparison_unmatched_at(const isoproof_coo_comparison *comparison, size_t number,
                                                       isoproof_coo_unmatched *out);

/* The matrix as a page, one HTML file without any other: what was expected and what came, the matrix, and behind every
 * cell what was executed.  With a comparison, only what differs.  `published` marks what the paper reports otherwise.
 */
ISOPROOF_API isoproof_status isoproof_coo_matrix_write_html(const isoproof_coo_matrix *matrix, bool published,
                                                            isoproof_write_fn write, void *user, isoproof_error *error);
ISOPROOF_API isoproof_status isoproof_coo_comparison_write_html(const isoproof_coo_comparison *comparison,
                                                                isoproof_write_fn write, void *user,
                                                                isoproof_error *error);

/* What the paper reports for a case at a level of a database such as this one: a letter, or 0 where it says nothing. */
ISOPROOF_API char isoproof_coo_published(const char *database, const char *level, unsigned number);

#ifdef __cplusplus
}
#endif

#endif
