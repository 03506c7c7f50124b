/* live_judge.h - judges a history while it is written: one thread reads the file, another one checks what came.
 *
 * A judge owns its threads, tasks and batches from start to free; whoever started it may ask for its status from any
 * thread.
 */
#ifndef CLI_COMMANDS_LIVE_JUDGE_H
#define CLI_COMMANDS_LIVE_JUDGE_H

#include <isoproof/isoproof.h>
#include <stdio.h>

#include "cli/commands/live_keep.h"

enum { LIVE_LEVELS = 64, LIVE_WORDS = 1024 };

typedef struct live_plan {
  const char *path;
  const char *format;        /* NULL: detected */
  const char *const *levels; /* constants; 0 of them: those that the live checker takes by itself */
  size_t level_count;
  bool claim;            /* the one level that the header of the history says that the database claims, instead */
  bool to_end;           /* of the file as it is */
  bool stops;            /* at the first violation for good */
  bool on_signals;       /* a signal ends it; otherwise only live_judge_stop does */
  uint64_t memory_limit; /* 0 none */
  unsigned threads;
  bool keeps;      /* what is judged, in FILE.live */
  live_kept *kept; /* where to go on from, if it has a state; NULL: the start.  Its state is given back or refused */
} live_plan;

/* What is known of one level. */
typedef struct live_level {
  const char *id;
  isoproof_verdict verdict;
  bool final;
  uint64_t since;
} live_level;

typedef struct live_status {
  uint64_t judged;          /* transactions */
  uint64_t read;            /* of these and of those that wait for the checker */
  uint64_t waiting_bytes;   /* of the file, not yet read */
  uint64_t behind;          /* transactions that are recorded but not judged, about */
  double behind_seconds;    /* how long ago the first of them was there to be read */
  double rate;              /* judged per second, of late */
  double seconds;           /* since the start */
  uint64_t bytes;           /* memory of the checker */
  uint64_t retained;        /* transactions in memory */
  uint64_t pending_reads;   /* of values that nobody wrote so far */
  uint64_t whole_checks;    /* how often everything was read again */
  isoproof_verdict verdict; /* of the levels together */
  bool final;               /* violated for good */
  bool over;                /* nothing more will be judged */
  bool unasked;             /* nobody expects anything of the levels: they are told, and that is all */
  live_level levels[LIVE_LEVELS];
  size_t level_count;
  size_t violations;                /* that the checker can show */
  const char *reason;               /* the checker's, at the end: why a level is unknown; NULL none */
  char first_violation[LIVE_WORDS]; /* in a sentence; "" none */
  char failure[LIVE_WORDS];         /* why nothing more is judged while the history grows; "" it is */
} live_status;

typedef struct live_judge live_judge;

/* False after a message. */
bool live_judge_start(live_judge **judge, const live_plan *plan);
void live_judge_status(live_judge *judge, live_status *status);
/* Waits until something has changed, or for that many seconds. */
void live_judge_wait(live_judge *judge, double seconds);
/* Ends the reading where it is; what was read is still judged. */
void live_judge_stop(live_judge *judge);
/* Waits for the end: ISOPROOF_OK when the input came to its end or a violation ended it, ISOPROOF_ERR_CANCELLED when it
 * was stopped, or what went wrong. */
isoproof_status live_judge_end(live_judge *judge, isoproof_error *error);
void live_judge_free(live_judge *judge);

/* After the end: the checker; the history of everything that was judged, read again; counts of it, and what its last
 * batch says about it. */
const isoproof_live *live_judge_checker(const live_judge *judge);
isoproof_status live_judge_history(const live_judge *judge, isoproof_task *task, isoproof_history **history,
                                   isoproof_error *error);
const isoproof_counts *live_judge_counts(const live_judge *judge);
const char *live_judge_format(const live_judge *judge);

#endif
