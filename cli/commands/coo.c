/* coo.c - `isoproof coo`: anomalies as cycles of partial order pairs. */
#include "cli/commands/coo.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options/run_cluster.h"

static int run(options *parsed) {
  const option_value *v = parsed->values;
  if (v[COO_SCHEDULE].given + v[COO_GENERATE].on + v[COO_DB].given + v[COO_CLUSTER].given > 1) {
    message("coo: --schedule, --generate, --db and --cluster exclude each other");
    return EXIT_USAGE;
  }
  if (v[COO_DB].given || v[COO_CLUSTER].given) return coo_run(parsed);
  if (v[COO_SCHEDULE].given) return coo_schedule(parsed);
  if (v[COO_GENERATE].on) return coo_generate(parsed);
  const char *database = getenv("ISOPROOF_DB");
  if (database != NULL && database[0] != 0) return coo_run(parsed);
  message("coo: expected --db, --cluster, --schedule or --generate; 'isoproof help coo' shows examples");
  return EXIT_USAGE;
}

static const char *suite_at(size_t number) {
  static const char *const suites[] = {"coo", "hermitage"};
  return number < COUNT_OF(suites) ? suites[number] : NULL;
}

static const char *spread_at(size_t number) {
  static const char *const spreads[] = {"tables", "partitions"};
  return number < COUNT_OF(spreads) ? spreads[number] : NULL;
}

static const char *form_at(size_t number) {
  static const char *const forms[] = {"text", "markdown", "csv", "html"};
  return number < COUNT_OF(forms) ? forms[number] : NULL;
}

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

static const option table[COO_OPTIONS] = {
    [COO_SCHEDULE] = {.name = "schedule",
                      .letter = 's',
                      .type = OPTION_TEXT,
                      .argument = "STEPS",
                      .help =
                          "Explain this schedule: R1x (transaction 1 reads x), W1x, C1 (commits), A1 (aborts); R1x0 "
                          "reads version 0 of x, the initial one.",
                      .group = schedules},
    [COO_GENERATE] = {.name = "generate",
                      .letter = 'g',
                      .type = OPTION_FLAG,
                      .help = "List the test cases: every POP cycle within the limits, the 33 of the published table "
                              "first.",
                      .group = cases},
    [COO_TRANSACTIONS] = {.name = "transactions",
                          .type = OPTION_INTEGER,
                          .min = 2,
                          .max = ISOPROOF_COO_TXNS,
                          .help = "At most that many transactions.",
                          .initial = "3",
                          .group = cases},
    [COO_OBJECTS] = {.name = "objects",
                     .type = OPTION_INTEGER,
                     .min = 1,
                     .max = ISOPROOF_COO_OBJECTS,
                     .help = "At most that many objects.",
                     .initial = "3",
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
    [COO_CLUSTER] = {.name = "cluster",
                     .type = OPTION_CHOICE,
                     .choices = cluster_at,
                     .accepts = cluster_known,
                     .help = "Start private servers, run the cases on them, and remove them; galera:N has N nodes, and "
                             "the sessions run on different ones.",
                     .group = databases},
    [COO_LEVEL] = {.name = "level",
                   .letter = 'l',
                   .type = OPTION_LIST,
                   .help = "At these isolation levels, as the database calls them.",
                   .initial = "all that it offers",
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
    [COO_COMPARE] = {.name = "compare",
                     .type = OPTION_FLAG,
                     .help = "Mark what differs from the published results for this database.",
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
    [COO_AS] = {.name = "as",
                .type = OPTION_CHOICE,
                .choices = form_at,
                .help = "Print the matrix in this form.",
                .initial = "text",
                .group = databases},
    [COO_JSON] = {.name = "json", .type = OPTION_FLAG, .help = "Print JSON, one object per line."},
};

static const example examples[] = {
    {"isoproof coo --schedule 'R1x W2y W2x C2 R1y C1'", 0, "What a schedule is called, and which levels forbid it."},
    {"isoproof coo --db sqlite: --case 31", 0, "One case on embedded SQLite, at every level."},
    {"isoproof coo --db sqlite: --case 28 --verbose", 0, "The same for another one, step by step."},
    {"isoproof coo --generate --transactions 3 --objects 3", 0,
     "Every anomaly of up to three transactions and objects."},
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
    NULL};

const command command_coo = {"coo",
                             "Run every anomaly as a test case on a database",
                             "(--db URL,.. | --cluster NAME | --schedule STEPS | --generate) [OPTION...]",
                             description,
                             NULL,
                             NULL,
                             table,
                             COO_OPTIONS,
                             examples,
                             COUNT_OF(examples),
                             run};
