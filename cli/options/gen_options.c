/* gen_options.c - the table of gen's options. */
#include "cli/options/gen_options.h"

#include "cli/options/loss.h"
#include "cli/options/names.h"
#include "cli/options/workload_options.h"

static const char *level_at(size_t number) {
  static const char *const names[] = {
#define GEN_X(name, id, text) id,
      ISOPROOF_SIM_LEVEL_LIST(GEN_X)
#undef GEN_X
  };
  return number < ISOPROOF_SIM_LEVELS ? names[number] : NULL;
}

static bool level_accepted(const char *name) {
  isoproof_sim_level level;
  return isoproof_sim_level_find(name, &level);
}

/* The simulator's own, and the workloads for databases. */
static const char *workload_at(size_t number) {
  return number == 0 ? "register" : number == 1 ? "rows" : isoproof_workload_at(number - 2);
}

const char *bug_name_at(size_t number) {
  static const char *const names[] = {
#define GEN_X(name, id, level, text) id,
      ISOPROOF_SIM_BUG_LIST(GEN_X)
#undef GEN_X
  };
  return number < ISOPROOF_SIM_BUGS ? names[number] : NULL;
}

/* "lost-update:3" is more than a choice: gen looks at it itself. */
static bool any_name(const char *name) {
  (void)name;
  return true;
}

const option gen_options[GEN_OPTIONS] = {
    [GEN_SIMULATE] = {.name = "simulate",
                      .type = OPTION_FLAG,
                      .help = "Write a history from the simulator instead of a workload."},
    [GEN_OUTPUT] = {.name = "output",
                    .letter = 'o',
                    .type = OPTION_FILE,
                    .help = "Write to this file.",
                    .initial = "standard output"},
    [GEN_FORMAT] = {.name = "format",
                    .letter = 'f',
                    .type = OPTION_CHOICE,
                    .choices = writable_format_at,
                    .help = "Write this format, one of:" WRITABLE_FORMATS ".",
                    .initial = "by the ending of the output, else jsonl"},
    [GEN_COMPRESS] = {.name = "compress",
                      .letter = 'z',
                      .argument = "HOW",
                      .type = OPTION_CHOICE,
                      .choices = compression_name_at,
                      .help = "Compress the output: auto, none, gzip or zstd; auto goes by .gz and .zst.",
                      .initial = "auto"},
    [GEN_LOSSY] = {.name = "lossy",
                   .type = OPTION_FLAG,
                   .help = "Leave out what the format cannot say instead of failing."},
    [GEN_BLAME] = {.name = "blame",
                   .type = OPTION_FILE,
                   .help = "Write the injected bugs and the transactions to blame there, one JSON object per line."},
    [GEN_LEVEL] = {.name = "level",
                   .letter = 'l',
                   .type = OPTION_CHOICE,
                   .choices = level_at,
                   .accepts = level_accepted,
                   .help = "Satisfy this level: serializable, snapshot-isolation, parallel-snapshot-isolation, causal, "
                           "read-atomic or read-committed.",
                   .initial = "serializable",
                   .group = "Database"},
    [GEN_ISOLATION_MIX] = {.name = "isolation-mix",
                           .argument = "LEVEL[:N]",
                           .type = OPTION_LIST,
                           .choices = level_at,
                           .accepts = any_name,
                           .help =
                               "Instead of --level, give each transaction a level of its own: serializable, "
                               "snapshot-isolation and read-committed with weights N; what comes out satisfies mixed. "
                               "The transactions of bugs are serializable.",
                           .group = "Database"},
    [GEN_REPLICAS] = {.name = "replicas",
                      OPTION_UP_TO(1000),
                      .help = "Keep that many replicas at parallel-snapshot-isolation and causal.",
                      .initial = "3",
                      .group = "Database"},
    [GEN_BUG] = {.name = "bug",
                 .letter = 'b',
                 .argument = "NAME[:N]",
                 .type = OPTION_LIST,
                 .choices = bug_name_at,
                 .accepts = any_name,
                 .help = "Inject a bug once, or N times; may be repeated.",
                 .group = "Database"},
    [GEN_SEED] = {.name = "seed",
                  .letter = 's',
                  .type = OPTION_INTEGER,
                  .help = "Decide everything by this number.",
                  .initial = "random, and printed",
                  .group = "Workload"},
    [GEN_SESSIONS] = {.name = "sessions",
                      OPTION_UP_TO(1e6),
                      .help = "Run that many sessions.",
                      .initial = "10",
                      .group = "Workload"},
    [GEN_TRANSACTIONS] = {.name = "transactions",
                          .letter = 'n',
                          OPTION_UP_TO(1e9),
                          .help = "Run that many transactions in all.",
                          .initial = "1000",
                          .group = "Workload"},
    [GEN_OPERATIONS] = {.name = "operations",
                        .type = OPTION_RANGE,
                        .min = 1,
                        .max = 1e6,
                        .help = "Give each transaction N operations, or A to B.",
                        .initial = "10, or that of the workload without --simulate",
                        .group = "Workload"},
    [GEN_WORKLOAD] =
        {.name = "workload",
         .letter = 'w',
         .type = OPTION_CHOICE,
         .choices = workload_at,
         .help = "With --simulate, registers (register), lists with a final read of each (list-append), or rows "
                 "with inserts, updates, deletes and queries (rows); without, one of the workloads above.",
         .initial = "register, or mixed without --simulate",
         .group = "Workload"},
    [GEN_PRESET] = {.name = "preset",
                    .letter = 'p',
                    .type = OPTION_CHOICE,
                    .choices = isoproof_workload_preset_at,
                    .help = "Without --simulate, a workload with the sizes of a published evaluation: polysi, plume, "
                            "general-rh, general-rw, general-wh, polysi-large, galera, antidote or jepsen.",
                    .group = "Workload"},
    [GEN_APPENDS_PER_KEY] = {.name = "appends-per-key",
                             .type = OPTION_INTEGER,
                             .max = 4e9,
                             .help = "Replace a list by a fresh one after that many appends; 0 never.",
                             .initial = "100",
                             .group = "Workload"},
    [GEN_READ_SHARE] = {.name = "read-share",
                        OPTION_SHARE,
                        .help = "The share of operations that read, 0 to 1.",
                        .initial = "0.5",
                        .group = "Workload"},
    [GEN_RMW_SHARE] = {.name = "rmw-share",
                       OPTION_SHARE,
                       .help = "The share of writes that come after a read of their key in the same transaction.",
                       .initial = "0",
                       .group = "Workload"},
    [GEN_PREDICATE_SHARE] = {.name = "predicate-share",
                             OPTION_SHARE,
                             .help = "With --simulate and rows, the share of reads that are by predicate.",
                             .initial = "0.5",
                             .group = "Workload"},
    [GEN_ABORT_SHARE] = {.name = "abort-share",
                         OPTION_SHARE,
                         .help = "The share of transactions that their client rolls back.",
                         .initial = "0",
                         .group = "Workload"},
    [GEN_LONG_SHARE] = {.name = "long-share",
                        OPTION_SHARE,
                        .help = "Without --simulate, the share of transactions that are long.",
                        .initial = "0",
                        .group = "Workload"},
    [GEN_LONG_OPERATIONS] = {.name = "long-operations",
                             OPTION_UP_TO(1e6),
                             .help = "Operations of a long transaction.",
                             .initial = "150",
                             .group = "Workload"},
    [GEN_UNKNOWN_SHARE] = {.name = "unknown-share",
                           OPTION_SHARE,
                           .help = "The share of transactions whose client never learns the outcome.",
                           .initial = "0",
                           .group = "Workload"},
    [GEN_DUPLICATE_SHARE] = {.name = "duplicate-share",
                             OPTION_SHARE,
                             .help = "With --simulate, the share of writes of a value that their key had before, so "
                                     "that a read may have observed either; this may hide a bug.",
                             .initial = "0",
                             .group = "Workload"},
    [GEN_KEYS] = {.name = "keys",
                  .letter = 'k',
                  OPTION_UP_TO(1e9),
                  .help = "Use that many keys.",
                  .initial = "100",
                  .group = "Keys"},
    [GEN_DISTRIBUTION] = {.name = "distribution",
                          .letter = 'd',
                          .type = OPTION_CHOICE,
                          .choices = distribution_name_at,
                          .help = "Choose keys uniform, by zipf's law, with a hotspot, or exponential.",
                          .initial = "uniform",
                          .group = "Keys"},
    [GEN_SKEW] = {.name = "skew",
                  .type = OPTION_NUMBER,
                  .max = 100,
                  .help = "With zipf and exponential, the exponent: 0 is uniform, 1 is steep.",
                  .initial = "1",
                  .group = "Keys"},
    [GEN_HOT_SHARE] = {.name = "hot-share",
                       OPTION_SHARE,
                       .help = "With a hotspot, the share of operations on the hot keys.",
                       .initial = "0.8",
                       .group = "Keys"},
    [GEN_HOT_KEYS] = {.name = "hot-keys",
                      OPTION_SHARE,
                      .help = "With a hotspot, the share of the keys that are hot.",
                      .initial = "0.2",
                      .group = "Keys"},
};
