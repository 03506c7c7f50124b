/* run_options.h - the options that say on which database and how a workload runs, which run and test share.
 *
 * A run_plan owns its database_choice, its command line and its private servers until run_plan_free; the rest of it
 * borrows from the command line.
 */
#ifndef CLI_OPTIONS_RUN_OPTIONS_H
#define CLI_OPTIONS_RUN_OPTIONS_H

#include <isoproof/run.h>

#include "cli/options/database.h"
#include "cli/options/load_options.h"
#include "cli/options/run_cluster.h"
#include "cli/options/script_options.h"
#include "cli/options/workload_options.h"

enum {
  RUN_DB,
  RUN_DATABASE, /* the first of the password's */
  RUN_DATABASE_LAST = RUN_DATABASE + DATABASE_OPTIONS - 1,
  RUN_ISOLATION,
  RUN_STATEMENT_TIMEOUT,
  RUN_LOCK_TIMEOUT,
  RUN_SESSION_SETTINGS,
  RUN_TABLE,
  RUN_TABLES,
  RUN_KEEP_TABLES,
  RUN_LAYOUT,
  RUN_ACCESS,
  RUN_STATEMENTS,
  RUN_ROUND_TRIPS,
  RUN_TIME,
  RUN_RETRIES,
  RUN_CLUSTER, /* the first of the private servers' */
  RUN_CLUSTER_LAST = RUN_CLUSTER + CLUSTER_OPTIONS - 1,
  RUN_LOAD, /* the first of the load's */
  RUN_LOAD_LAST = RUN_LOAD + LOAD_OPTIONS - 1,
  RUN_SCRIPT, /* the first of the scripts' */
  RUN_SCRIPT_LAST = RUN_SCRIPT + SCRIPT_OPTIONS - 1,
  RUN_WORKLOAD, /* the first of the workload's */
  RUN_OPTIONS = RUN_WORKLOAD + WORKLOAD_OPTIONS
};

#define RUN_ROWS                                                                                                       \
  [RUN_DB] = {.name = "db",                                                                                            \
              .argument = "URL,..",                                                                                    \
              .type = OPTION_LIST,                                                                                     \
              .begins = isoproof_url_begins,                                                                           \
              .help = "The database: sqlite:FILE, duckdb:FILE, rocksdb:FOLDER, postgres://..., mariadb://..., "        \
                      "firebird://..., redis://..., etcd://..., exec:COMMAND, "                                        \
                      "odbc:..., sim:... Several URLs are the nodes of a cluster; sessions are spread over them.",     \
              .initial = "ISOPROOF_DB, or else sqlite:, a private file",                                               \
              .group = "Database"},                                                                                    \
  [RUN_ISOLATION] = {.name = "isolation",                                                                              \
                     .letter = 'i',                                                                                    \
                     .argument = "NAME",                                                                               \
                     .type = OPTION_TEXT,                                                                              \
                     .help = "The isolation level, by the database's own name or a usual short one.",                  \
                     .initial = "the database's default",                                                              \
                     .group = "Database"},                                                                             \
  [RUN_TIME] = {.name = "time",                                                                                        \
                .argument = "TIME",                                                                                    \
                .type = OPTION_SECONDS,                                                                                \
                .min = 0,                                                                                              \
                .max = 1e9,                                                                                            \
                .help = "Run for so many seconds, or as 500ms, 2m, 1h; 0 is no limit.",                                \
                .initial = "3, or no limit with --transactions or --preset",                                           \
                .group = "Workload"},                                                                                  \
  [RUN_RETRIES] = {.name = "retries",                                                                                  \
                   .type = OPTION_INTEGER,                                                                             \
                   .max = 1000,                                                                                        \
                   .help = "Try an aborted transaction again so many times, each a transaction of its own.",           \
                   .initial = "0",                                                                                     \
                   .group = "Workload"},                                                                               \
  [RUN_STATEMENT_TIMEOUT] = {.name = "statement-timeout",                                                              \
                             .argument = "TIME",                                                                       \
                             .type = OPTION_SECONDS,                                                                   \
                             .max = 1e6,                                                                               \
                             .help = "Give up on a statement after that long; 0 is never.",                            \
                             .initial = "10",                                                                          \
                             .group = "Database"},                                                                     \
  [RUN_LOCK_TIMEOUT] = {.name = "lock-timeout",                                                                        \
                        .argument = "TIME",                                                                            \
                        .type = OPTION_SECONDS,                                                                        \
                        .max = 1e6,                                                                                    \
                        .help = "Wait for a lock no longer than that (MariaDB, Firebird: whole seconds).",             \
                        .initial = "what the database does",                                                           \
                        .group = "Database"},                                                                          \
  [RUN_SESSION_SETTINGS] = {.name = "session-settings",                                                                \
                            .argument = "NAME=VALUE,..",                                                               \
                            .type = OPTION_LIST,                                                                       \
                            .help = "Settings of every session, by the database's own names. Several values of one "   \
                                    "name, as in synchronous_commit=remote_apply,local, are taken by turns.",          \
                            .group = "Database"},                                                                      \
  [RUN_TABLE] = {.name = "table",                                                                                      \
                 .type = OPTION_TEXT,                                                                                  \
                 .help = "Keep the keys in a table of this name, which is made for the run and removed in the end. "   \
                         "What has the name already is never touched: exit code 2.",                                   \
                 .initial = "isoproof_ and a number of its own for every run",                                         \
                 .group = "Database"},                                                                                 \
  [RUN_TABLES] = {.name = "tables",                                                                                    \
                  OPTION_UP_TO(64),                                                                                    \
                  .help = "Spread the keys over that many tables.",                                                    \
                  .initial = "1",                                                                                      \
                  .group = "Database"},                                                                                \
  [RUN_KEEP_TABLES] = {.name = "keep-tables",                                                                          \
                       .type = OPTION_FLAG,                                                                            \
                       .help = "Do not remove the tables in the end; no later run does, either.",                      \
                       .group = "Database"},                                                                           \
  [RUN_LAYOUT] = {.name = "layout",                                                                                    \
                  .type = OPTION_CHOICE,                                                                               \
                  .choices = isoproof_layout_at,                                                                       \
                  .help = "Make tables with the key as their primary key (keyed), without one but with an index of "   \
                          "keys (indexed), with a hash index of them (hashed), or without any (heap).",                \
                  .initial = "keyed, first-insert: indexed",                                                           \
                  .group = "Database"},                                                                                \
  [RUN_ACCESS] = {.name = "access",                                                                                    \
                  .type = OPTION_CHOICE,                                                                               \
                  .choices = isoproof_access_at,                                                                       \
                  .help = "Let statements find their rows as the database likes (auto), through the index, through a " \
                          "bitmap of it, or through the whole table (sequential).",                                    \
                  .initial = "auto, first-insert: index",                                                              \
                  .group = "Database"},                                                                                \
  [RUN_STATEMENTS] = {.name = "statements",                                                                            \
                      .type = OPTION_CHOICE,                                                                           \
                      .choices = isoproof_statements_at,                                                               \
                      .help = "Send statements prepared, or as plain text that is parsed and planned each time.",      \
                      .initial = "prepared",                                                                           \
                      .group = "Database"},                                                                            \
  [RUN_ROUND_TRIPS] = {.name = "round-trips",                                                                          \
                       .type = OPTION_CHOICE,                                                                          \
                       .choices = isoproof_round_trips_at,                                                             \
                       .help = "Wait for the answer to each statement (single), send those that do not depend on "     \
                               "each other in one go where the database can (batched), or draw one of the two each "   \
                               "time that the sessions meet (both).",                                                  \
                       .initial = "single; where sessions meet: both",                                                 \
                       .group = "Database"},                                                                           \
  DATABASE_ROWS(RUN_DATABASE, "Database"), CLUSTER_ROWS(RUN_CLUSTER), LOAD_ROWS(RUN_LOAD), SCRIPT_ROWS(RUN_SCRIPT),    \
  WORKLOAD_ROWS(RUN_WORKLOAD)

typedef struct run_plan {
  isoproof_run_options run;
  isoproof_workload_options workload; /* of the run */
  database_choice database;
  char *command;
  run_cluster cluster;
  load_plan load;
} run_plan;

/* From the command line to a run; false after a message.  `command` is the name of the command. */
bool run_plan_fill(run_plan *plan, const options *parsed, const char *command);
/* Starts the private servers, if the options ask for some; an exit code, after a message where it is no success. */
int run_plan_start(run_plan *plan, const options *parsed);
/* Whether scripts are to be explained only, and that: an exit code. */
bool run_plan_explains(const options *parsed);
int run_plan_explain(const run_plan *plan, const options *parsed);
void run_plan_free(run_plan *plan);

/* Runs it: isoproof_run, or what a program has put in its place. */
typedef isoproof_status (*run_plan_executor)(const isoproof_run_options *options, isoproof_task *task, void *user,
                                             isoproof_run_summary **summary, isoproof_error *error);
isoproof_status run_plan_execute(const run_plan *plan, isoproof_task *task, isoproof_run_summary **summary,
                                 isoproof_error *error);
void run_plan_execute_by(run_plan_executor executor, void *user);

#endif
