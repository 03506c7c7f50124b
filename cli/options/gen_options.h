/* gen_options.h - the options of gen: every knob of the simulator and of the workloads.  The table is constant. */
#ifndef CLI_OPTIONS_GEN_OPTIONS_H
#define CLI_OPTIONS_GEN_OPTIONS_H

#include <isoproof/simulate.h>

#include "cli/options/options.h"

enum {
  GEN_SIMULATE,
  GEN_OUTPUT,
  GEN_FORMAT,
  GEN_COMPRESS,
  GEN_LOSSY,
  GEN_BLAME,
  GEN_LEVEL,
  GEN_ISOLATION_MIX,
  GEN_REPLICAS,
  GEN_BUG,
  GEN_SEED,
  GEN_SESSIONS,
  GEN_TRANSACTIONS,
  GEN_OPERATIONS,
  GEN_WORKLOAD,
  GEN_PRESET,
  GEN_APPENDS_PER_KEY,
  GEN_READ_SHARE,
  GEN_RMW_SHARE,
  GEN_PREDICATE_SHARE,
  GEN_ABORT_SHARE,
  GEN_LONG_SHARE,
  GEN_LONG_OPERATIONS,
  GEN_UNKNOWN_SHARE,
  GEN_DUPLICATE_SHARE,
  GEN_KEYS,
  GEN_DISTRIBUTION,
  GEN_SKEW,
  GEN_HOT_SHARE,
  GEN_HOT_KEYS,
  GEN_OPTIONS
};

extern const option gen_options[GEN_OPTIONS];

/* `number` from 0; NULL after the last. */
const char *bug_name_at(size_t number);

/* Writes a workload to a file ("-" is standard output); returns the exit code. */
int gen_workload(const options *parsed, const char *path);

/* One line a bug, for help: id, the level that it breaks, what happens. */
#define GEN_BUG_LINE(name, id, level, text) "\n" id " (" level "): " text "."
#define GEN_BUG_LINES ISOPROOF_SIM_BUG_LIST(GEN_BUG_LINE)

#endif
