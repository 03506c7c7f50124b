/* workload_options.h - the options that say what the clients do, which gen, run and test share.
 *
 * The rows are constant; what is filled in borrows from the command line.
 */
#ifndef CLI_OPTIONS_WORKLOAD_OPTIONS_H
#define CLI_OPTIONS_WORKLOAD_OPTIONS_H

#include <isoproof/workload.h>

#include "cli/options/options.h"

enum {
  WORKLOAD_WORKLOAD,
  WORKLOAD_PRESET,
  WORKLOAD_SEED,
  WORKLOAD_SESSIONS,
  WORKLOAD_TRANSACTIONS,
  WORKLOAD_OPERATIONS,
  WORKLOAD_READ_SHARE,
  WORKLOAD_RMW_SHARE,
  WORKLOAD_ABORT_SHARE,
  WORKLOAD_LONG_SHARE,
  WORKLOAD_LONG_OPERATIONS,
  WORKLOAD_APPENDS_PER_KEY,
  WORKLOAD_FINAL_READS,
  WORKLOAD_JITTER,
  WORKLOAD_KEYS,
  WORKLOAD_DISTRIBUTION,
  WORKLOAD_SKEW,
  WORKLOAD_HOT_SHARE,
  WORKLOAD_HOT_KEYS,
  WORKLOAD_OPTIONS
};

#define OPTION_SHARE .argument = "SHARE", .type = OPTION_NUMBER, .min = 0, .max = 1
#define OPTION_UP_TO(most) .type = OPTION_INTEGER, .min = 1, .max = (most)

/* The rows of a table that run and test have from `base` on. */
#define WORKLOAD_ROWS(base)                                                                                            \
  [(base) +                                                                                                            \
      WORKLOAD_WORKLOAD] = {.name = "workload",                                                                        \
                            .letter = 'w',                                                                             \
                            .type = OPTION_CHOICE,                                                                     \
                            .choices = isoproof_workload_at,                                                           \
                            .help = "What the clients do: one of the workloads above.",                                \
                            .initial = "mixed",                                                                        \
                            .group = "Workload"},                                                                      \
      [(base) + WORKLOAD_PRESET] = {.name = "preset",                                                                  \
                                    .letter = 'p',                                                                     \
                                    .type = OPTION_CHOICE,                                                             \
                                    .choices = isoproof_workload_preset_at,                                            \
                                    .help = "A workload with the sizes of a published evaluation: polysi, plume, "     \
                                            "general-rh, general-rw, general-wh, polysi-large, galera, antidote or "   \
                                            "jepsen.",                                                                 \
                                    .group = "Workload"},                                                              \
      [(base) + WORKLOAD_SEED] = {.name = "seed",                                                                      \
                                  .letter = 's',                                                                       \
                                  .type = OPTION_INTEGER,                                                              \
                                  .help = "Decide the workload by this number.",                                       \
                                  .initial = "random, and printed",                                                    \
                                  .group = "Workload"},                                                                \
      [(base) + WORKLOAD_SESSIONS] = {.name = "sessions",                                                              \
                                      .type = OPTION_PHASES,                                                           \
                                      .min = 1,                                                                        \
                                      .max = 10000,                                                                    \
                                      .help = "Run that many sessions, each with a connection and a thread; by "       \
                                              "phases, as 10:30s,100:60s, so many for so long, instead of --time.",    \
                                      .initial = "8; those that meet: 2 to 4",                                         \
                                      .group = "Workload"},                                                            \
      [(base) + WORKLOAD_TRANSACTIONS] = {.name = "transactions",                                                      \
                                          .letter = 'n',                                                               \
                                          OPTION_UP_TO(2e9),                                                           \
                                          .help =                                                                      \
                                              "Stop after that many, retries not counted; without --time, there is "   \
                                              "no other limit then.",                                                  \
                                          .group = "Workload"},                                                        \
      [(base) + WORKLOAD_OPERATIONS] = {.name = "operations",                                                          \
                                        .type = OPTION_RANGE,                                                          \
                                        .min = 1,                                                                      \
                                        .max = 1e6,                                                                    \
                                        .help = "Operations a transaction, of mixed, general, list-append and "        \
                                                "read-modify-write.",                                                  \
                                        .initial = "that of the workload",                                             \
                                        .group = "Workload"},                                                          \
      [(base) + WORKLOAD_READ_SHARE] = {.name = "read-share",                                                          \
                                        OPTION_SHARE,                                                                  \
                                        .help = "The share of operations that read, 0 to 1.",                          \
                                        .initial = "0.5",                                                              \
                                        .group = "Workload"},                                                          \
      [(base) + WORKLOAD_RMW_SHARE] = {.name = "rmw-share",                                                            \
                                       OPTION_SHARE,                                                                   \
                                       .help = "The share of writes that come after a read of their key in the same "  \
                                               "transaction.",                                                         \
                                       .initial = "that of the workload",                                              \
                                       .group = "Workload"},                                                           \
      [(base) + WORKLOAD_ABORT_SHARE] = {.name = "abort-share",                                                        \
                                         OPTION_SHARE,                                                                 \
                                         .help = "The share of transactions that their client rolls back.",            \
                                         .initial = "0",                                                               \
                                         .group = "Workload"},                                                         \
      [(base) + WORKLOAD_LONG_SHARE] = {.name = "long-share",                                                          \
                                        OPTION_SHARE,                                                                  \
                                        .help = "The share of transactions that are long.",                            \
                                        .initial = "0",                                                                \
                                        .group = "Workload"},                                                          \
      [(base) + WORKLOAD_LONG_OPERATIONS] = {.name = "long-operations",                                                \
                                             OPTION_UP_TO(1e6),                                                        \
                                             .help = "Operations of a long transaction.",                              \
                                             .initial = "150",                                                         \
                                             .group = "Workload"},                                                     \
      [(base) + WORKLOAD_APPENDS_PER_KEY] = {.name = "appends-per-key",                                                \
                                             OPTION_UP_TO(1e6),                                                        \
                                             .help =                                                                   \
                                                 "With list-append, take a fresh key after that many appends; with "   \
                                                 "predicate, the rows of a range; with phantom, a fresh range after "  \
                                                 "that many meetings.",                                                \
                                             .initial = "32, predicate and phantom: 8",                                \
                                             .group = "Workload"},                                                     \
      [(base) + WORKLOAD_FINAL_READS] = {.name = "final-reads",                                                        \
                                         .type = OPTION_FLAG,                                                          \
                                         .help = "Read every key in the end, in a session of its own.",                \
                                         .initial = "with list-append",                                                \
                                         .group = "Workload"},                                                         \
      [(base) + WORKLOAD_JITTER] = {.name = "jitter",                                                                  \
                                    .argument = "MICROSECONDS",                                                        \
                                    .type = OPTION_NUMBER,                                                             \
                                    .max = 1e6,                                                                        \
                                    .help = "In workloads whose sessions meet before each transaction, let each wait " \
                                            "up to that long once all are there, a moment of its own.",                \
                                    .initial = "drawn each time: none, up to 10, 150 or 2000",                         \
                                    .group = "Workload"},                                                              \
      [(base) + WORKLOAD_KEYS] = {.name = "keys",                                                                      \
                                  .letter = 'k',                                                                       \
                                  OPTION_UP_TO(1e9),                                                                   \
                                  .help = "Use that many keys; with list-append and predicate, at a time.",            \
                                  .initial = "that of the workload",                                                   \
                                  .group = "Keys"},                                                                    \
      [(base) +                                                                                                        \
          WORKLOAD_DISTRIBUTION] = {.name = "distribution",                                                            \
                                    .letter = 'd',                                                                     \
                                    .type = OPTION_CHOICE,                                                             \
                                    .choices = distribution_name_at,                                                   \
                                    .help = "Choose keys uniform, by zipf's law, with a hotspot, or exponential.",     \
                                    .initial = "uniform, twitter: zipf",                                               \
                                    .group = "Keys"},                                                                  \
      [(base) + WORKLOAD_SKEW] = {.name = "skew",                                                                      \
                                  .type = OPTION_NUMBER,                                                               \
                                  .max = 100,                                                                          \
                                  .help = "With zipf and exponential, the exponent: 0 is uniform, 1 is steep.",        \
                                  .initial = "1",                                                                      \
                                  .group = "Keys"},                                                                    \
      [(base) + WORKLOAD_HOT_SHARE] = {.name = "hot-share",                                                            \
                                       OPTION_SHARE,                                                                   \
                                       .help = "With a hotspot, the share of operations on the hot keys.",             \
                                       .initial = "0.8",                                                               \
                                       .group = "Keys"},                                                               \
      [(base) + WORKLOAD_HOT_KEYS] = {.name = "hot-keys",                                                              \
                                      OPTION_SHARE,                                                                    \
                                      .help = "With a hotspot, the share of the keys that are hot.",                   \
                                      .initial = "0.2",                                                                \
                                      .group = "Keys"}

/* `number` from 0; NULL after the last. */
const char *distribution_name_at(size_t number);

/* A number short enough to type. */
uint64_t random_seed(void);

/* From the command line to a workload; `values` by WORKLOAD_ number (NULL: the command has no such option).  False
 * after a message. */
bool workload_fill(isoproof_workload_options *workload, const option_value *const values[WORKLOAD_OPTIONS]);

/* One line a workload, for help. */
#define WORKLOAD_LINE(name, id, needs, keys, least, most, reads, rmw, writes, meet, text) "\n" id ": " text "."
#define WORKLOAD_LINES ISOPROOF_WORKLOAD_LIST(WORKLOAD_LINE)

#endif
