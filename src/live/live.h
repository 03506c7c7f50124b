/* live.h - the live checker, inside the library: what was pushed, what is asked, what is known so far.
 *
 * The live checker owns everything here until isoproof_live_free, the histories and results of violations too.
 */
#ifndef ISO_LIVE_LIVE_H
#define ISO_LIVE_LIVE_H

#include <isoproof/level.h>
#include <isoproof/live.h>

#include "base/vector.h"
#include "live/index.h"
#include "live/row_map.h"
#include "live/track.h"
#include "live/txn.h"
#include "live/written.h"

/* A level that was asked for. */
typedef struct iso_live_level {
  const isoproof_level_info *info;
  isoproof_verdict verdict;
  bool final;
  bool lost; /* unknown from now on: it would take what left memory */
  uint64_t since;
  const char *reason; /* why it is unknown */
} iso_live_level;

/* A violation for good. */
typedef struct iso_live_violation {
  isoproof_history *history;
  isoproof_result *result;
} iso_live_violation;

/* A level that is followed. */
typedef struct iso_live_followed {
  iso_live_track *track;
} iso_live_followed;

/* The same where transactions are carried out (live/carried.h). */
typedef struct iso_carried iso_carried;
typedef struct iso_live_carrying {
  iso_carried *track;
} iso_live_carrying;

/* A transaction that is held. */
typedef struct iso_live_held {
  iso_live_txn *txn;
} iso_live_held;

struct isoproof_live {
  isoproof_live_options options;
  isoproof_task *task;
  iso_pool pool;
  bool has_levels; /* they are known: asked for, or the first batch has come */
  ISO_VEC(iso_live_level) levels;
  const char **level_names;         /* as many, NULL until has_levels */
  iso_numbering sessions, keys;     /* by name */
  ISO_VEC(uint64_t) session_counts; /* transactions that came */
  ISO_VEC(iso_row_value) initial_rows;
  iso_row_map initial_seen; /* their keys */
  bool initial_is_zero, has_batch, has_rows, finished;
  bool repeats; /* a value was written to a key twice: nothing is violated for good before the end */
  isoproof_format format;

  /* The levels that are followed; with `plain` everything is kept, or read again, and checked as a whole instead. */
  ISO_VEC(iso_live_followed) tracks;
  ISO_VEC(iso_live_carrying) carried; /* instead of these, where transactions are carried out */
  bool carries;
  bool mended; /* somebody explained what seemed to be violated for good */
  iso_live_index index;
  iso_written undone; /* elements that somebody appended without effect, as far as is known: these are in no list */
  iso_written blamed; /* what violations for good have read: who writes one of these once more may explain it */
  bool plain, followed, timed, indexed;
  bool tight;                  /* the memory that is allowed is nearly used up: horizons do not grow */
  bool polling;                /* the whole history may be asked for */
  bool lost;                   /* plain, but not everything is in memory */
  isoproof_history *whole;     /* during a poll: the whole history, where it was asked for */
  ISO_VEC(iso_live_held) txns; /* plain: in the order of their ends */
  uint64_t pushed;
  uint64_t polled; /* pushed at the last poll */
  uint64_t pending_reads, whole_checks, bytes;
  uint64_t pool_most; /* bytes that the pool may take before it is looked at */
  const char *reason;
  ISO_VEC(iso_live_violation) violations;
};

#endif
