/* coo.c - `isoproof coo`: anomalies as cycles of partial order pairs. */
#include "cli/commands/coo.h"

#include <isoproof/systematic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/run_cluster.h"

static int run(options *parsed) {
  static int (*const runs[])(const options *) = {
      [COO_EXPLAIN] = coo_schedule, [COO_LIST] = coo_generate,        [COO_RUN] = coo_run,
      [COO_SAVED] = coo_saved,      [COO_WALK] = coo_systematic_list, [COO_WALK_RUN] = coo_systematic_run};
  const option_value *v = parsed->values;
  const char *database = getenv("ISOPROOF_DB");
  coo_mode mode = v[COO_DB].given || v[COO_CLUSTER].given                             ? COO_RUN
                  : v[COO_FROM].given                                                 ? COO_SAVED
                  : v[COO_SCHEDULE].given || v[COO_SCHEDULES].given                   ? COO_EXPLAIN
                  : !coo_is_generated(parsed) && database != NULL && database[0] != 0 ? COO_RUN
                                                                                      : COO_LIST;
  if (v[COO_SYSTEMATIC].on && (mode == COO_RUN || mode == COO_LIST)) {
    bool run = mode == COO_RUN || (database != NULL && database[0] != 0 && !v[COO_COUNT].on && !v[COO_SQL].on);
    mode = run ? COO_WALK_RUN : COO_WALK;
  }
  if (mode == COO_LIST && !coo_is_generated(parsed)) {
    message(
        "coo: expected --db, --cluster, --from, --schedule, --schedules, --generate or --systematic; 'isoproof help "
        "coo' shows examples");
    return EXIT_USAGE;
  }
  return coo_options_agree(parsed, mode) ? runs[mode](parsed) : EXIT_USAGE;
}

static const char *suite_at(size_t number) {
  static const char *const suites[] = {"coo", "hermitage"};
  return number < COUNT_OF(suites) ? suites[number] : NULL;
}

static const char *spread_at(size_t number) {
  static const char *const spreads[] = {"tables", "partitions"};
  return number < COUNT_OF(spreads) ? spreads[number] : NULL;
}

static const char *layout_at(size_t number) {
  static const char *const layouts[] = {"keyed", "indexed", "hashed", "heap"};
  return number < COUNT_OF(layouts) ? layouts[number] : NULL;
}

static const char *form_at(size_t number) {
  static const char *const forms[] = {"text", "markdown", "csv", "html"};
  return number < COUNT_OF(forms) ? forms[number] : NULL;
}

static bool cluster_serves(const char *name) { return cluster_known(name) && strstr(name, "standby") == NULL; }

/* A standby, which takes no writes, has no matrix. */
static const char *cluster_at(size_t number) {
  size_t left = number;
  const char *name;
  for (size_t i = 0; (name = cluster_name_at(i)) != NULL; i++)
    if (strstr(name, "standby") == NULL && left-- == 0) return name;
  return NULL;
}

static const char databases[] = "Databases";
static const char schedules[] = "Schedules";
static const char cases[] = "Test cases";
static const char results[] = "Results";

static const option table[COO_OPTIONS] = {
    [COO_SCHEDULE] = {.name = "schedule",
                      .letter = 's',
                      .type = OPTION_TEXT,
                      .argument = "STEPS",
                      .help =
                          "Explain this schedule: R1x (transaction 1 reads x), W1x, C1 (commits), A1 (aborts); R1x0 "
                          "reads version 0 of x, the initial one. With --db or --cluster, run it.",
                      .group = schedules},
    [COO_SCHEDULES] = {.name = "schedules",
                       .type = OPTION_FILE,
                       .help = "The same for the schedules of a file, one on a line, with a name before it where it "
                               "has one (NAME: STEPS); what follows a # is a comment.",
                       .group = schedules},
    [COO_GENERATE] = {.name = "generate",
                      .letter = 'g',
                      .type = OPTION_FLAG,
                      .help = "List the test cases: every POP cycle within the limits, the 33 of the published table "
                              "first. With --db or --cluster, run them all.",
                      .group = cases},
    [COO_SYSTEMATIC] = {.name = "systematic",
                        .type = OPTION_FLAG,
                        .help = "Instead of cycles, every small schedule of reads, reads by predicate, inserts, "
                                "updates, deletes, commits and aborts, once each up to symmetry, the smallest first. "
                                "With --db or --cluster, run them all and judge what came of each.",
                        .group = cases},
    [COO_TRANSACTIONS] = {.name = "transactions",
                          .type = OPTION_INTEGER,
                          .min = 2,
                          .max = ISOPROOF_COO_TXNS,
                          .help = "Every cycle, or systematic schedule, of at most that many transactions.",
                          .initial = "3, systematic 2",
                          .group = cases},
    [COO_OBJECTS] = {.name = "objects",
                     .type = OPTION_INTEGER,
                     .min = 1,
                     .max = ISOPROOF_COO_OBJECTS,
                     .help = "Every cycle of at most that many objects.",
                     .initial = "3",
                     .group = cases},
    [COO_OPERATIONS] = {.name = "operations",
                        .type = OPTION_INTEGER,
                        .min = 1,
                        .max = ISOPROOF_SYSTEMATIC_OPERATIONS,
                        .help = "Systematic schedules of at most that many operations of each transaction.",
                        .initial = "2",
                        .group = cases},
    [COO_ROWS] = {.name = "rows",
                  .type = OPTION_INTEGER,
                  .min = 1,
                  .max = ISOPROOF_SYSTEMATIC_ROWS,
                  .help = "Systematic schedules of at most that many rows.",
                  .initial = "2",
                  .group = cases},
    [COO_PREDICATES] = {.name = "predicates",
                        .type = OPTION_INTEGER,
                        .min = 0,
                        .max = ISOPROOF_SYSTEMATIC_PREDICATES,
                        .help = "Systematic schedules with the first that many kinds of predicates: a range of keys, "
                                "the whole table, a range of values, a count.",
                        .initial = "1",
                        .group = cases},
    [COO_FIRST] = {.name = "first",
                   .type = OPTION_INTEGER,
                   .argument = "N",
                   .min = 1,
                   .max = 1e15,
                   .help = "Begin with systematic schedule number N, to go on where an earlier run ended.",
                   .initial = "1",
                   .group = cases},
    [COO_LIMIT] = {.name = "limit",
                   .type = OPTION_INTEGER,
                   .min = 1,
                   .max = 100000,
                   .help = "At most that many of the cycles, drawn by the seed where there are more; of systematic "
                           "schedules the smallest, but with --seed some that are drawn.",
                   .initial = "1000 cycles on a database, else all",
                   .group = cases},
    [COO_SEED] = {.name = "seed",
                  .type = OPTION_INTEGER,
                  .help = "Draw the cycles or schedules of --limit by this number.",
                  .initial = "0",
                  .group = cases},
    [COO_SQL] = {.name = "sql", .type = OPTION_FLAG, .help = "Show the statements of each case.", .group = cases},
    [COO_COUNT] = {.name = "count",
                   .type = OPTION_FLAG,
                   .help = "Print only how many cases there are.",
                   .group = cases},
    [COO_DB] = {.name = "db",
                .type = OPTION_LIST,
                .argument = "URL,..",
                .begins = isoproof_url_begins,
                .help = "Run the cases on this database: sqlite:FILE, postgres://user@host:port/database, "
                        "mariadb://user@host:port/database, ...; several URLs are the nodes of one cluster.",
                .initial = "ISOPROOF_DB",
                .group = databases},
    DATABASE_ROWS(COO_DATABASE, databases),
    [COO_SERVER] = {.name = "server",
                    .argument = "FOLDER",
                    .type = OPTION_FILE,
                    .help = CLUSTER_SERVER_HELP,
                    .initial = "where packages put them",
                    .group = databases},
    [COO_CLUSTER] =
        {.name = "cluster",
         .type = OPTION_CHOICE,
         .choices = cluster_at,
         .accepts = cluster_serves,
         .help = "Start private servers, run the cases on them, and remove them; galera:N and etcd:N have N nodes, and "
                 "the sessions run on different ones.",
         .group = databases},
    [COO_LEVEL] = {.name = "level",
                   .letter = 'l',
                   .type = OPTION_LIST,
                   .help = "At these isolation levels, as the database calls them.",
                   .initial = "all that it offers",
                   .group = databases},
    [COO_EXPECT] = {.name = "expect",
                    .type = OPTION_TEXT,
                    .argument = "LEVEL",
                    .help = "Every isolation level is to give this level ('isoproof levels' lists them): what violates "
                            "it is unexpected, and the exit code 1.",
                    .initial = "what the database documents for each",
                    .group = databases},
    [COO_CASE] = {.name = "case",
                  .letter = 'c',
                  .type = OPTION_LIST,
                  .argument = "N,..",
                  .help = "Only the cases with these numbers.",
                  .group = databases},
    [COO_SUITE] = {.name = "suite",
                   .type = OPTION_CHOICE,
                   .choices = suite_at,
                   .help = "The 33 cases, or the named tests of hermitage.",
                   .initial = "coo",
                   .group = databases},
    [COO_PREDICATE] = {.name = "predicate",
                       .type = OPTION_FLAG,
                       .help = "Phantoms and write skew of predicates too, as cases 34 to 37.",
                       .group = databases},
    [COO_DISTRIBUTED] = {.name = "distributed",
                         .argument = "WHERE",
                         .type = OPTION_CHOICE,
                         .choices = spread_at,
                         .bare = true,
                         .help = "Put every object into a table of its own (tables, also without WHERE), or into a "
                                 "partition of its own of one table (partitions); cases of one object are left out. "
                                 "With several URLs the sessions run on different nodes.",
                         .group = databases},
    [COO_RACE] = {.name = "race",
                  .type = OPTION_FLAG,
                  .help = "With several nodes, do not wait after each commit until all of them show it: what a cluster "
                          "lets happen in between is a matter of luck, which --repeat measures.",
                  .group = databases},
    [COO_REPEAT] = {.name = "repeat",
                    .type = OPTION_INTEGER,
                    .min = 1,
                    .max = 10000,
                    .help = "Run every case that often, and show what differs from run to run.",
                    .initial = "1",
                    .group = databases},
    [COO_SETTLE] = {.name = "settle",
                    .type = OPTION_INTEGER,
                    .argument = "MS",
                    .min = 1,
                    .max = 10000,
                    .help =
                        "Where a database does not show its locks: a statement that takes longer counts as waiting.",
                    .initial = "60",
                    .group = databases},
    [COO_TIMEOUT] = {.name = "timeout",
                     .type = OPTION_NUMBER,
                     .argument = "SECONDS",
                     .min = 0.1,
                     .max = 600,
                     .help = "Give up a statement that waits longer for a lock.",
                     .initial = "4",
                     .group = databases},
    [COO_LAYOUT] = {.name = "layout",
                    .type = OPTION_CHOICE,
                    .choices = layout_at,
                    .help = "The table of systematic schedules: keyed (the key is the primary key), indexed (an index "
                            "that need not be unique), hashed (a hash index), heap (no index).",
                    .initial = "keyed",
                    .group = databases},
    [COO_JOBS] = {.name = "jobs",
                  .letter = 'j',
                  .type = OPTION_INTEGER,
                  .min = 1,
                  .max = ISOPROOF_SYSTEMATIC_JOBS,
                  .help =
                      "Run that many systematic schedules at the same time, each in a table of its own; where tables "
                      "share their locks (a file of SQLite), it is one.",
                  .initial = "8",
                  .group = databases},
    [COO_STRICT] = {.name = "strict",
                    .type = OPTION_FLAG,
                    .help = "Let systematic schedules that use a key again (it is deleted, and inserted afterwards) "
                            "decide on the exit code, too. The definitions of levels do not speak of them.",
                    .group = results},
    [COO_RECORD] = {.name = "record",
                    .type = OPTION_FILE,
                    .help = "Write the outcome of every systematic schedule to this file, a line of JSON each with the "
                            "history that was judged.",
                    .group = results},
    [COO_FROM] = {.name = "from",
                  .type = OPTION_FILE,
                  .help = "Show a matrix that --json has saved, in the place of running one.",
                  .group = results},
    [COO_AGAINST] = {.name = "against",
                     .argument = "FILE|URL|cluster:NAME",
                     .type = OPTION_FILE,
                     .help = "Compare with a matrix that --json has saved, or with the same cases on another database "
                             "or on private servers (cluster:postgres,set.NAME=VALUE), and show only what differs; the "
                             "exit code is 1 when something does.",
                     .group = results},
    [COO_AGAINST_SERVER] = {.name = "against-server",
                            .argument = "FOLDER",
                            .type = OPTION_FILE,
                            .help = "Take the servers of --against=cluster:NAME from this folder: another version.",
                            .group = results},
    [COO_COMPARE] = {.name = "compare",
                     .type = OPTION_FLAG,
                     .help = "Mark what differs from the published results for this database.",
                     .group = results},
    [COO_AS] = {.name = "as",
                .type = OPTION_CHOICE,
                .choices = form_at,
                .help = "Print the matrix in this form.",
                .initial = "text",
                .group = results},
    [COO_JSON] = {.name = "json", .type = OPTION_FLAG, .help = "Print JSON, one object per line."},
};

static const example examples[] = {
    {"isoproof coo --schedule 'R1x W2y W2x C2 R1y C1'", 0, "What a schedule is called, and which levels forbid it."},
    {"isoproof coo --db sqlite: --case 31", 0, "One case on embedded SQLite, at every level."},
    {"isoproof coo --db sqlite: --case 28 --verbose", 0, "The same for another one, step by step."},
    {"isoproof coo --db sqlite: --schedule 'R1x R2x W1x C1 W2x C2'", 0, "A schedule of one's own, at every level."},
    {"isoproof coo --generate --transactions 3 --objects 3", 0,
     "Every anomaly of up to three transactions and objects."},
    {"isoproof coo --systematic --db sqlite: --operations 1 --rows 1", 0,
     "Every schedule of two transactions with one operation each, of rows and predicates."},
};

static const char *const description[] = {
    "A schedule is what transactions do, step by step. Two steps of different transactions on one object, one of them "
    "a write, form a partial order pair (POP); a cycle of POPs is an anomaly.",
    "With --schedule, prints the POPs and the cycles of a schedule, the name and the class of each cycle (RAT, WAT or "
    "IAT: read, write or intersect anomaly; S, D or M: single, double or more), Adya's phenomena and the patterns of "
    "registers (TAP) that it shows, and which levels forbid it. With --generate, lists all cycles as test cases.",
    "With --db or --cluster, runs the cases on a database, a session for each transaction, and shows what it does with "
    "each at every isolation level: P passes, A anomaly, R rolled back by a rule, D deadlock, T timeout. The steps "
    "come in the given "
    "order, as far as locks let them; what was really executed is judged. --verbose shows every step.",
    "What was executed is held against the level that the database documents for the isolation level, or the one of "
    "--expect. An anomaly that this level allows is nothing unexpected; the exit code is 1 when there is one that it "
    "forbids, or when --against finds a difference.",
    "With --systematic, runs not only anomalies but every small schedule, also of inserts, deletes and predicates, and "
    "judges the history that came of each; the exit code is 1 when the expected level forbids one. Schedules that use "
    "a key again, which the definitions of levels do not speak of, are a group of their own.",
    NULL};

const command command_coo = {"coo",
                             "Run every anomaly as a test case on a database",
                             "(--db URL,.. | --cluster NAME | --from FILE | --schedule STEPS | --schedules FILE | "
                             "--generate | --systematic) [OPTION...]",
                             description,
                             NULL,
                             NULL,
                             table,
                             COO_OPTIONS,
                             examples,
                             COUNT_OF(examples),
                             run};
