/* live.h - the live checker, inside the library: what was pushed, what is asked, what is known so far.
 *
 * The live checker owns everything here until isoproof_live_free, the histories and results of violations too.
 */
#ifndef ISO_LIVE_LIVE_H
#define ISO_LIVE_LIVE_H

#include <isoproof/level.h>
#include <isoproof/live.h>

#include "base/vector.h"
#include "live/txn.h"

/* A level that was asked for. */
typedef struct iso_live_level {
  const isoproof_level_info *info;
  isoproof_verdict verdict;
  bool final;
  uint64_t since;
} iso_live_level;

/* A violation for good. */
typedef struct iso_live_violation {
  isoproof_history *history;
  isoproof_result *result;
} iso_live_violation;

struct isoproof_live {
  isoproof_live_options options;
  isoproof_task *task;
  iso_pool pool;
  bool has_levels; /* they are known: asked for, or the first batch has come */
  ISO_VEC(iso_live_level) levels;
  const char **level_names; /* as many, NULL until has_levels */
  iso_numbering sessions;   /* by name */
  ISO_VEC(iso_row_value) initial_rows;
  bool initial_is_zero, has_batch, has_rows, finished;
  bool repeats; /* a value was written to a key twice: nothing is violated for good before the end */
  isoproof_format format;

  ISO_VEC(iso_live_txn *) txns; /* in the order of their ends */
  uint64_t pushed;
  uint64_t polled; /* pushed at the last poll */
  uint64_t pending_reads, whole_checks, bytes;
  const char *reason;
  ISO_VEC(iso_live_violation) violations;
};

#endif
