/* load_options.h - the options that say when transactions begin, which run and test share.
 *
 * The rows are constant; a load_plan is a plain value that the run borrows from.
 */
#ifndef CLI_OPTIONS_LOAD_OPTIONS_H
#define CLI_OPTIONS_LOAD_OPTIONS_H

#include <isoproof/run.h>

#include "cli/options/options.h"

enum { LOAD_RATE, LOAD_THINK_TIME, LOAD_RAMP, LOAD_DEADLOCK_TIMEOUT, LOAD_OPTIONS };

#define LOAD_ROWS(first)                                                                                               \
  [(first) + LOAD_RATE] = {.name = "rate",                                                                             \
                           .argument = "N",                                                                            \
                           .type = OPTION_NUMBER,                                                                      \
                           .min = 0,                                                                                   \
                           .max = 1e7,                                                                                 \
                           .help = "Begin that many transactions per second, all sessions together, at random "        \
                                   "moments that do not wait for the database; latency counts from these moments. 0 "  \
                                   "is no schedule.",                                                                  \
                           .initial = "as fast as answers come",                                                       \
                           .group = "Load"},                                                                           \
             [(first) + LOAD_THINK_TIME] = {.name = "think-time",                                                      \
                                            .argument = "[exp:]TIME",                                                  \
                                            .type = OPTION_TEXT,                                                       \
                                            .help = "Let each session wait so long after a transaction, as 5ms or "    \
                                                    "0.2s; exp:5ms draws exponential times with that mean.",           \
                                            .initial = "none",                                                         \
                                            .group = "Load"},                                                          \
             [(first) + LOAD_RAMP] = {.name = "ramp",                                                                  \
                                      .argument = "TIME",                                                              \
                                      .type = OPTION_SECONDS,                                                          \
                                      .max = 1e6,                                                                      \
                                      .help = "Let sessions begin one by one over that time; in phases, those that a " \
                                              "phase adds.",                                                           \
                                      .initial = "all at once",                                                        \
                                      .group = "Load"},                                                                \
             [(first) + LOAD_DEADLOCK_TIMEOUT] = {                                                                     \
                 .name = "deadlock-timeout",                                                                           \
                 .argument = "TIME",                                                                                   \
                 .type = OPTION_SECONDS,                                                                               \
                 .min = 0.001,                                                                                         \
                 .max = 1e6,                                                                                           \
                 .help = "Let PostgreSQL look for a deadlock when a statement has waited so long, which only "         \
                         "superusers may set.",                                                                        \
                 .initial = "10ms where the server's is longer and it may be set",                                     \
                 .group = "Database"}

enum { LOAD_PHASES_MOST = 64 };

typedef struct load_plan {
  uint32_t phase_sessions[LOAD_PHASES_MOST];
  double phase_seconds[LOAD_PHASES_MOST];
  size_t phase_count;
} load_plan;

/* From the options to a run, `values` those of the LOAD_OPTIONS, `sessions` that of --sessions; false after a
 * message. */
bool load_fill(load_plan *load, const option_value *values, const option_value *sessions, isoproof_run_options *run);

#endif
