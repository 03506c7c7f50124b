/* isoproof/systematic.h - every small schedule of rows and predicates, on a real database.
 *
 * A schedule is a few transactions that read rows by key or by predicate, insert, update and delete them, and commit or
 * abort, in a given order.  All of them within bounds, once each up to symmetry, the smallest first, are run step by
 * step at each isolation level; what came of each is judged by the level that the database documents.
 *
 *     isoproof_systematic *runs;
 *     isoproof_systematic_options options = {.struct_size = sizeof options, .urls = &url, .url_count = 1,
 *                                            .predicates = 1};
 *     if (isoproof_systematic_run(&options, NULL, &runs, &error)) ...
 *     isoproof_systematic_finding finding = {.struct_size = sizeof finding};
 *     for (size_t i = 0; isoproof_systematic_finding_at(runs, i, &finding); i++) ...
 */
#ifndef ISOPROOF_SYSTEMATIC_H
#define ISOPROOF_SYSTEMATIC_H

#include <isoproof/coo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most that bounds can be. */
enum {
  ISOPROOF_SYSTEMATIC_TRANSACTIONS = 3,
  ISOPROOF_SYSTEMATIC_OPERATIONS = 4, /* of each transaction, besides its begin and its end */
  ISOPROOF_SYSTEMATIC_ROWS = 3,
  ISOPROOF_SYSTEMATIC_PREDICATES = 4 /* a range of keys, the whole table, a range of values, a count */
};

typedef struct isoproof_systematic_bounds {
  size_t struct_size;    /* sizeof(isoproof_systematic_bounds) */
  uint32_t transactions; /* at most; 0 means 2 */
  uint32_t operations;   /* of a transaction, at most; 0 means 2 */
  uint32_t rows;         /* at most; 0 means 2 */
  uint32_t predicates;   /* how many kinds, from the first; 0: none */
  bool duplicate_keys;   /* the table has no unique key: no key is inserted by two transactions */
  uint64_t first;        /* number of the first one, from 1; 0 means 1 */
  uint64_t limit;        /* at most so many; 0: all */
  bool drawn;            /* draw `limit` different ones at random instead, which then has to be given */
  uint64_t seed;         /* by this number */
} isoproof_systematic_bounds;

typedef struct isoproof_systematic_schedule {
  size_t struct_size; /* sizeof(isoproof_systematic_schedule), set by the caller */
  uint64_t number;    /* from 1, within the bounds; of drawn ones in the order in which they were drawn */
  const char *text;   /* "[x] R1x R2x D1x U2x C1 C2" */
  uint32_t transactions, operations, rows;
  uint64_t reused; /* how many keys can be inserted after they were deleted, see isoproof_systematic_reused_at */
} isoproof_systematic_schedule;

typedef struct isoproof_systematic_walk isoproof_systematic_walk;

/* The schedules within bounds.  ISOPROOF_ERR_USAGE: bounds that are none. */
ISOPROOF_API isoproof_status isoproof_systematic_walk_new(const isoproof_systematic_bounds *bounds,
                                                          isoproof_systematic_walk **walk, isoproof_error *error);
ISOPROOF_API void isoproof_systematic_walk_free(isoproof_systematic_walk *walk);
/* False after the last.  What `out` points to lives until the next call. */
ISOPROOF_API bool isoproof_systematic_walk_next(isoproof_systematic_walk *walk, isoproof_systematic_schedule *out);
/* Line `number` of the present schedule as SQL on `table`, as snprintf does: first the rows at the start, then a line
 * for each step; `session` is 0 for the rows, else the transaction, from 1.  0 after the last. */
ISOPROOF_API size_t isoproof_systematic_walk_sql_at(const isoproof_systematic_walk *walk, const char *table,
                                                    size_t number, unsigned *session, char *buffer, size_t size);

typedef struct isoproof_systematic_options {
  size_t struct_size;      /* sizeof(isoproof_systematic_options) */
  const char *const *urls; /* of the nodes of one database */
  size_t url_count;
  const char *const *levels; /* by the names of the database; NULL with 0 means every level that it offers */
  size_t level_count;
  const isoproof_systematic_bounds *bounds; /* NULL: the default ones, with one predicate */
  uint32_t settle_ms;                       /* where the database does not show its locks; 0 means 60 */
  uint32_t timeout_ms;                      /* most that sessions wait for each other; 0 means 4000 */
  const char *expect;                       /* as in isoproof_coo_run_options */
  const char *layout;                       /* of the table: "keyed" (NULL), "indexed", "hashed", "heap" */
  /* Told of every outcome, a line of JSON each: number, schedule, level, verdict, and the history as text lines. */
  isoproof_write_fn record; /* may be NULL */
  void *record_user;
  isoproof_notice_fn notice; /* as in isoproof_coo_run_options */
  void *notice_user;
  const char *password;
  uint32_t jobs; /* schedules that run at the same time, each in a table of its own; 0: as many as are of use; where
                    several tables share their locks (a file of SQLite) it is always one */
} isoproof_systematic_options;

enum { ISOPROOF_SYSTEMATIC_JOBS = 64 };

typedef struct isoproof_systematic isoproof_systematic;

/* Runs every schedule at every level.  The table it uses has a name of its own, is made and removed; `task` carries
 * cancellation and progress.  ISOPROOF_ERR_INTERFERENCE: somebody else changed the table.  When it fails midway
 * (cancelled, or the server is gone), there is what was run until then. */
ISOPROOF_API isoproof_status isoproof_systematic_run(const isoproof_systematic_options *options, isoproof_task *task,
                                                     isoproof_systematic **runs, isoproof_error *error);
ISOPROOF_API void isoproof_systematic_free(isoproof_systematic *runs);

typedef struct isoproof_systematic_summary {
  size_t struct_size; /* sizeof(isoproof_systematic_summary), set by the caller */
  const char *database;
  const char *layout;
  uint32_t transactions, operations, rows, predicates;
  bool drawn;
  uint64_t seed, first;
  uint64_t schedules; /* that were run at every level */
  uint64_t next;      /* number of the first one that was not; 0 when all that were asked for have been run, or drawn */
  uint64_t forbidden; /* outcomes that the expected level forbids, at all levels, of schedules that use no key again */
  uint64_t undecided; /* of these outcomes, those without a verdict */
  double seconds;
  uint32_t jobs;             /* how many schedules ran at the same time */
  uint64_t reused_schedules; /* of `schedules`: those that use a key again */
  uint64_t reused_forbidden, reused_undecided;
} isoproof_systematic_summary;

ISOPROOF_API bool isoproof_systematic_summary_of(const isoproof_systematic *runs, isoproof_systematic_summary *out);

/* What came of schedules at a level. */
typedef struct isoproof_systematic_level {
  size_t struct_size;   /* sizeof(isoproof_systematic_level), set by the caller */
  const char *name;     /* as the database calls it */
  const char *expected; /* level, an id of isoproof/level.h; NULL where none is expected */
  const char *source;   /* "database" (its documentation), "option"; NULL where nobody says so */
  const char *note;     /* what to know about it; "" where there is nothing to say */
  /* The same for outcomes in which an update or a delete found no row, where the database documents that statements
   * that write do not read what others read; else as `expected`. */
  const char *expected_of_misses;
  uint64_t schedules;
  uint64_t committed;        /* in which every transaction ended as it was meant to */
  uint64_t aborted;          /* in which the database rolled one back, for whatever reason */
  uint64_t refused;          /* of these: because a key was there already */
  uint64_t deadlocks;        /* of these: because of a deadlock */
  uint64_t timeouts;         /* of these: because a lock took too long */
  uint64_t blocked;          /* in which a statement waited */
  uint64_t not_serializable; /* outcomes that no serial order explains */
  uint64_t forbidden;        /* outcomes that the expected level forbids */
  uint64_t undecided;        /* outcomes without a verdict */
  double seconds;            /* its share of the time */
} isoproof_systematic_level;

/* Of the schedules that use no key again: on these the level has to hold.  False after the last. */
ISOPROOF_API bool isoproof_systematic_level_at(const isoproof_systematic *runs, size_t level,
                                               isoproof_systematic_level *out);
/* The same of the others, in which a key can be inserted after it was deleted.  Adya's definitions do not speak of
 * them: there a deleted object is never inserted again, and a row that is would be another object.  Here they are
 * judged as if a row were its key. */
ISOPROOF_API bool isoproof_systematic_reused_at(const isoproof_systematic *runs, size_t level,
                                                isoproof_systematic_level *out);

/* A schedule that a level forbids and the database allowed, as an example of its shape: what its transactions do.  It
 * contains no smaller one: without some of its operations, it is none that the level forbids and the database allowed.
 */
typedef struct isoproof_systematic_finding {
  size_t struct_size; /* sizeof(isoproof_systematic_finding), set by the caller */
  uint64_t number;    /* of the schedule */
  size_t level;       /* see isoproof_systematic_level_at */
  const char *schedule;
  const char *expected;    /* level, which forbids it */
  const char *anomaly;     /* code, "" where the violation has none */
  const char *name;        /* of the anomaly */
  const char *explanation; /* in sentences */
  const char *history;     /* what was recorded, in isoproof's own text form */
  size_t event_count;
  bool reused;     /* it uses a key again */
  uint64_t orders; /* how many orders of the same steps were forbidden and allowed, this one among them */
  uint64_t larger; /* so many larger ones were forbidden and allowed that contain one of these, and none of an earlier
                      finding */
} isoproof_systematic_finding;

/* First those that use no key again, level by level, the smallest first; at most ISOPROOF_SYSTEMATIC_FINDINGS of each
 * level.  False after the last. */
enum { ISOPROOF_SYSTEMATIC_FINDINGS = 1000 };
ISOPROOF_API bool isoproof_systematic_finding_at(const isoproof_systematic *runs, size_t number,
                                                 isoproof_systematic_finding *out);
/* What happened in it; false after the last. */
ISOPROOF_API bool isoproof_systematic_event_at(const isoproof_systematic *runs, size_t finding, size_t number,
                                               isoproof_coo_event *out);

/* Everything as a page, one HTML file without any other. */
ISOPROOF_API isoproof_status isoproof_systematic_write_html(const isoproof_systematic *runs, isoproof_write_fn write,
                                                            void *user, isoproof_error *error);

#ifdef __cplusplus
}
#endif

#endif
