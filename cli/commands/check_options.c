/* check_options.c - the options of `isoproof check`, its examples and what its page says. */
#include "cli/commands/check.h"
#include "cli/options/names.h"
#include "cli/options/transaction_order.h"

#define OUTPUT_ROW_FIRST CHECK_OUTPUT

static const char *follow_at(size_t number) {
  static const char *const how[] = {"grow", "eof"};
  return number < COUNT_OF(how) ? how[number] : NULL;
}

const option check_table[CHECK_OPTIONS] = {
    [CHECK_LEVEL] = {.name = "level",
                     .letter = 'l',
                     .argument = "NAME,..",
                     .type = OPTION_LIST,
                     .choices = level_name_at,
                     .accepts = level_known,
                     .help =
                         "Judge these levels, by id or alias ('isoproof levels' lists them); the exit code is about "
                         "them. Names that only models have (repeatable-read, PL-3) mean those. Without it every "
                         "level that can be decided is."},
    [CHECK_ANOMALY] = {.name = "anomaly",
                       .argument = "CODE,..",
                       .type = OPTION_LIST,
                       .choices = pattern_name_at,
                       .accepts = pattern_known,
                       .help = "Look for these patterns only, TAP-a to TAP-n, or of lists G0, G1c, G0-process, "
                               "G1c-process, incompatible-order and duplicate-elements ('isoproof explain' says what "
                               "they are), instead of judging levels; the exit code is about them."},
    [CHECK_FORMAT] = {.name = "format",
                      .letter = 'f',
                      .type = OPTION_CHOICE,
                      .choices = format_name_at,
                      .help = "Read the files in this format.",
                      .initial = "detected from the content"},
    [CHECK_JSON] = {.name = "json", .type = OPTION_FLAG, .help = "Print one JSON object per file, each on a line."},
    [CHECK_ALL] =
        {.name = "all",
         .letter = 'a',
         .type = OPTION_FLAG,
         .help = "List every instance of what can be counted instead of the smallest of each code; of an anomaly of a "
                 "level that has to be searched for, at most 10,000."},
    [CHECK_CERTIFICATE] = {.name = "certificate",
                           .type = OPTION_FLAG,
                           .help = "Show the order of transactions, or of their begins and commits, that proves what "
                                   "is satisfied; it is checked first by code that shares nothing with the search."},
    [CHECK_STATS] = {.name = "stats",
                     .type = OPTION_FLAG,
                     .help = "Show how large the search for each strong level was and how long each stage of it took. "
                             "So that the figures are complete, no short cut is taken."},
    [CHECK_DUPLICATE_VALUES] = {.name = "duplicate-values",
                                .type = OPTION_FLAG,
                                .help = "Writes of one value to one key are expected: a level is satisfied when it is "
                                        "so for some choice of the writes that reads observed. Without this it is "
                                        "decided in the same way, and the verdict comes with a notice."},
    [CHECK_WORKLOAD] = {.name = "workload",
                        .argument = "NAME",
                        .type = OPTION_CHOICE,
                        .choices = workload_name_at,
                        .help = "Look for anomalies of dependencies (Adya's and Elle's: G0, G-single, ...) instead of "
                                "judging levels; auto finds the workload out.",
                        .group = "Dependencies, as Elle infers them"},
    [CHECK_MODEL] = {.name = "model",
                     .argument = "NAME,..",
                     .type = OPTION_LIST,
                     .choices = model_name_at,
                     .accepts = model_or_workload_known,
                     .help = "Report what these consistency models forbid, by any name of Elle's; the exit code is "
                             "about them.",
                     .initial = "strict-serializable",
                     .group = "Dependencies, as Elle infers them"},
    [CHECK_WFR_KEYS] = {.name = "wfr-keys",
                        .type = OPTION_FLAG,
                        .help = "Registers: assume that who reads a version of a key and writes the key writes a later "
                                "version.",
                        .group = "Dependencies, as Elle infers them"},
    [CHECK_SEQUENTIAL_KEYS] = {.name = "sequential-keys",
                               .type = OPTION_FLAG,
                               .help = "Registers: assume that every session sees every key move forward.",
                               .group = "Dependencies, as Elle infers them"},
    [CHECK_LINEARIZABLE_KEYS] = {.name = "linearizable-keys",
                                 .type = OPTION_FLAG,
                                 .help = "Registers: assume that every key moves forward in real time. set-full: reads "
                                         "may not be stale.",
                                 .group = "Dependencies, as Elle infers them"},
    [CHECK_TRANSACTION_ORDER] = {.name = "transaction-order",
                                 .argument = "FILE",
                                 .type = OPTION_FILE,
                                 .help = "Registers: take the writes of a key in the order in which this file names "
                                         "transactions, one a line as in s0t1, the first to take effect first.",
                                 .group = "Dependencies, as Elle infers them"},
    [CHECK_ELLE] = {.name = "elle",
                    .type = OPTION_FLAG,
                    .help = "Print what elle-cli prints: the file, a tab, and true, false or unknown; --model then "
                            "takes its names of workloads (list-append, ...) and of objects (bank, set-full, "
                            "cas-register, ...), too.",
                    .group = "Instead of elle-cli"},
    [CHECK_CONSISTENCY_MODELS] = {.name = "consistency-models",
                                  .argument = "NAME,..",
                                  .type = OPTION_LIST,
                                  .choices = model_name_at,
                                  .accepts = model_known,
                                  .help = "As --model.",
                                  .group = "Instead of elle-cli"},
    [CHECK_TOTAL_AMOUNT] = {.name = "total-amount",
                            .type = OPTION_INTEGER,
                            .max = 9e15,
                            .help = "Bank: what all accounts add up to.",
                            .initial = "what the first read adds up to",
                            .group = "Instead of elle-cli"},
    [CHECK_NEGATIVE_BALANCES] = {.name = "allow-negative-balances",
                                 .type = OPTION_FLAG,
                                 .help = "Bank: accounts may fall below zero.",
                                 .group = "Instead of elle-cli"},
    [CHECK_GROUP_SIZE] = {.name = "group-size",
                          .type = OPTION_INTEGER,
                          .max = 1e9,
                          .help = "Long fork: how many keys each read has; 0 means any number.",
                          .initial = "0",
                          .group = "Instead of elle-cli"},
    [CHECK_FOLLOW] = {.name = "follow",
                      .argument = "HOW",
                      .type = OPTION_CHOICE,
                      .choices = follow_at,
                      .bare = true,
                      .help = "Judge the file while it grows (grow), or to its end as it is now (eof), in memory that "
                              "does not grow with it. Progress is told on standard error: in a terminal one line that "
                              "moves, and a line whenever levels are violated. Ends when the file says that "
                              "its writer has finished, when a pipe is closed, at the first violation of a level of "
                              "--level, or with Ctrl-C.",
                      .group = "Files that grow"},
    [CHECK_KEEP_GOING] = {.name = "keep-going",
                          .type = OPTION_FLAG,
                          .help = "With --follow, go on after a violation, to the end.",
                          .group = "Files that grow"},
    [CHECK_SHARD] = {.name = "shard",
                     .argument = "I/N",
                     .type = OPTION_TEXT,
                     .help = "Check only part I of N: the files are divided by size, always in the same way, so that N "
                             "machines with the same arguments check every file once.",
                     .group = "Many files, many machines"},
    [CHECK_RESULTS] = {.name = "results",
                       .argument = "FILE",
                       .type = OPTION_FILE,
                       .help = "Append the JSON of every file to this one as soon as it is judged, for 'isoproof "
                               "merge'. One that exists is only continued with --resume.",
                       .group = "Many files, many machines"},
    [CHECK_RESUME] = {.name = "resume",
                      .type = OPTION_FLAG,
                      .help =
                          "With --results, skip the files whose result is there already; the exit code counts them. "
                          "With --follow, keep what was judged in FILE.live, and go on from there: JSON lines are not "
                          "read again. A level that was violated for good is told at once, and then the file is read "
                          "again, as it is in other formats, or where what was kept is not of this file.",
                      .group = "Many files, many machines"},
    [CHECK_TIMEOUT] = {.name = "timeout",
                       .argument = "SECONDS",
                       .type = OPTION_NUMBER,
                       .min = 0,
                       .max = 1e9,
                       .help = "Give up on a file after that long; what is not decided then is unknown. 0 means never.",
                       .initial = "0",
                       .group = "Limits"},
    [CHECK_BUDGET] = {.name = "budget",
                      .argument = "SECONDS",
                      .type = OPTION_NUMBER,
                      .min = 0,
                      .max = 1e9,
                      .help = "After the levels of --level (or without it), decide all others too, the cheapest first, "
                              "for no longer than that; the report says which are left, and the exit code is not "
                              "about them. 0 means no limit.",
                      .group = "Limits"},
    [CHECK_MEMORY_LIMIT] = {.name = "memory-limit",
                            .type = OPTION_SIZE,
                            .min = 1,
                            .help =
                                "Use at most that much memory (K, M, G and T are powers of 1024). A plain file in "
                                "the binary form that needs more is judged out of core; what does not fit otherwise "
                                "is unknown.",
                            .group = "Limits"},
    [CHECK_OUT_OF_CORE] = {.name = "out-of-core",
                           .help = "Judge a plain file in the binary form part after part, divided by keys, within "
                                   "--memory-limit (or half of what the machine has), however large it is: registers "
                                   "and lists, at the levels from read-committed to strict-serializable.",
                           .group = "Limits"},
    [CHECK_JOBS] = {.name = "jobs",
                    .letter = 'j',
                    .type = OPTION_INTEGER,
                    .min = 1,
                    .max = 1024,
                    .help = "Use that many threads, over many files or inside one.",
                    .initial = "one per processor",
                    .group = "Limits"},
    OUTPUT_ROWS};

const example check_examples[CHECK_EXAMPLES] = {
    {"isoproof check examples/histories/aborted-read.txt", 0, "Which levels hold, which do not, and why."},
    {"isoproof check --level=ci examples/histories/non-repeatable-read.txt", 1,
     "Judge one level, by its alias: the exit code says that it is violated."},
    {"isoproof check --level ci,rc --json examples/histories/aborted-read.txt", 1,
     "Judge two levels, for a program to read."},
    {"isoproof check --anomaly=TAP-k,TAP-l examples/histories/fractured-read.txt", 1, "Look for two patterns only."},
    {"isoproof check --level=ser --certificate examples/histories/serializable.txt", 0, "The order that proves it."},
    {"isoproof check --html=skew.html examples/histories/write-skew.txt", 0, "A report to look at in a browser."},
    {"isoproof check --level=cut-isolation examples/histories", 1, "Check every history below a directory."},
    {"isoproof check --shard=2/3 --level=ser --results=part-2.jsonl examples/histories", 1,
     "The second of three machines; 'isoproof merge' joins what they found."},
    {"gzip -c examples/histories/serializable.txt | isoproof check -", 0, "Compressed input, from a pipe."},
};

const char *const check_description[] = {
    "Reads histories of transactions in any format that isoproof knows, and decides which isolation levels they "
    "satisfy. "
    "A level that is violated comes with a witness: the transactions, keys and dependencies that prove it.",
    "With one file the result is a report. With several, or with a directory, it is one line per file and a summary. "
    "Of a directory every file in a known format is checked, hidden ones excepted; a directory that is itself a "
    "history (Cobra, Viper) counts as one file. Of each run in a Jepsen store the history.edn (or history.edn.zst, "
    "history.edn.gz) is checked, once, and results.edn and the rest are left alone.",
    "With many files the exit code is the worst of them, in the order 70, 4, 2, 1, 3, 0.", NULL};
