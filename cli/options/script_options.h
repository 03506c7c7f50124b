/* script_options.h - the options of scripts, which run and test share.
 *
 * The rows are constant; what is filled in borrows from the command line.
 */
#ifndef CLI_OPTIONS_SCRIPT_OPTIONS_H
#define CLI_OPTIONS_SCRIPT_OPTIONS_H

#include <isoproof/run.h>

#include "cli/options/options.h"

enum { SCRIPT_FILES, SCRIPT_DEFINE, SCRIPT_INSTRUMENT, SCRIPT_EXPLAIN, SCRIPT_OPTIONS };

#define SCRIPT_ROWS(first)                                                                                             \
  [(first) + SCRIPT_FILES] = {.name = "script",                                                                        \
                              .argument = "FILE[@WEIGHT],..",                                                          \
                              .type = OPTION_LIST,                                                                     \
                              .help = "Run the transactions of these files, in the language of pgbench with sections " \
                                      "of its own, instead of a workload (docs/scripts.md). PostgreSQL, MariaDB and "  \
                                      "SQLite. --sessions, --transactions, --seed and the options of load count for "  \
                                      "scripts, too, and --retries is pgbench's --max-tries less one.",                \
                              .group = "Script"},                                                                      \
             [(first) + SCRIPT_DEFINE] = {.name = "define",                                                            \
                                          .letter = 'D',                                                               \
                                          .argument = "NAME=VALUE,..",                                                 \
                                          .type = OPTION_LIST,                                                         \
                                          .begins = script_definition_begins,                                          \
                                          .help = "Give variables of scripts their values.",                           \
                                          .group = "Script"},                                                          \
             [(first) + SCRIPT_INSTRUMENT] =                                                                           \
                 {.name = "instrument",                                                                                \
                  .type = OPTION_FLAG,                                                                                 \
                  .help = "Run the scripts on tables that are there already: two columns are added to each of them, "  \
                          "and taken away in the end. Without it scripts work in a place of their own.",               \
                  .group = "Script"},                                                                                  \
             [(first) + SCRIPT_EXPLAIN] = {                                                                            \
                 .name = "explain-script",                                                                             \
                 .type = OPTION_FLAG,                                                                                  \
                 .help = "Run nothing: print for each statement of the scripts what isoproof adds to it, and what it " \
                         "records of it, or why it does not.",                                                         \
                 .group = "Script"}

/* Whether a text goes on with NAME=, so that the comma before it separates. */
bool script_definition_begins(const char *text);
/* Takes the options into a run; false after a message. */
bool script_fill(const option_value *values, isoproof_run_options *run);
/* Whether nothing is to be run; then `cluster` is the name of private servers, or NULL, and the result an exit code. */
bool script_is_explained(const option_value *values);
int script_explain(const isoproof_run_options *run, const char *cluster);
/* Whether the scripts make sense, before anything is started for them; an exit code after a message. */
int script_check(const isoproof_run_options *run, const char *cluster);

#endif
