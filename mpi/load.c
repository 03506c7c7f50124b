/* load.c - `isoproof-mpi run` and `isoproof-mpi test`: load from several machines. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/test_round.h"
#include "cli/options/run_options.h"
#include "mpi/commands.h"
#include "mpi/together.h"

/* What these commands have beyond those of isoproof, behind their options. */
enum { MORE_PARTS, MORE_PATIENCE, MORE_OPTIONS };

enum { SESSIONS_EACH = 8, PATIENCE_SECONDS = 10 };

static const option more[MORE_OPTIONS] = {
    [MORE_PARTS] = {.name = "parts",
                    .argument = "FOLDER",
                    .type = OPTION_FILE,
                    .help =
                        "Where machines other than the first keep what they record until the first one has joined it.",
                    .initial = "TMPDIR, or else /tmp",
                    .group = "Machines"},
    [MORE_PATIENCE] = {.name = "patience",
                       .type = OPTION_SECONDS,
                       .min = 0.1,
                       .max = 1e6,
                       .help = "A machine that does not answer for so long counts as lost: the run goes on without it, "
                               "and what it did behind its last line is unknown.",
                       .initial = "10",
                       .group = "Machines"},
};

/* ---- what several machines cannot do ---- */

static bool refuse(const options *parsed, size_t number, const char *why) {
  if (!parsed->values[number].given || (parsed->table[number].type == OPTION_FLAG && !parsed->values[number].on))
    return false;
  message("--%s: %s", parsed->table[number].name, why);
  return true;
}

static bool is_possible(const options *parsed, bool test) {
  static const char *const one_machine = "this is for one machine: 'isoproof test' has it";
  for (size_t i = RUN_CLUSTER; i <= RUN_CLUSTER_LAST; i++)
    if (refuse(parsed, i, "several machines need a database that all of them reach: start it, and name it by --db"))
      return false;
  for (size_t i = RUN_SCRIPT; i <= RUN_SCRIPT_LAST; i++)
    if (refuse(parsed, i, "scripts cannot be run by several machines at once")) return false;
  static const size_t alone[] = {TEST_SWEEP, TEST_GO_ON, TEST_LIVE,   TEST_KEEP_GOING,
                                 TEST_PACE,  TEST_PLAN,  TEST_RESUME, TEST_INIT};
  for (size_t i = 0; test && i < sizeof alone / sizeof *alone; i++)
    if (refuse(parsed, alone[i], one_machine)) return false;
  return true;
}

/* Where nobody says how many sessions there are, each machine has those of one. */
static void give_sessions(options *parsed, int machines) {
  static char text[32];
  option_value *sessions = &parsed->values[RUN_WORKLOAD + WORKLOAD_SESSIONS];
  if (sessions->given || parsed->values[RUN_WORKLOAD + WORKLOAD_PRESET].given || machines == 1) return;
  snprintf(text, sizeof text, "%d", SESSIONS_EACH * machines);
  sessions->given = true;
  sessions->text = text;
  sessions->integer = (uint64_t)SESSIONS_EACH * (uint64_t)machines;
}

/* ---- running ---- */

static int follow(team *t, const options *parsed, const char *name, const option_value *parts) {
  const char *place = getenv("TMPDIR");
  run_plan plan;
  char speaker[64];
  /* Rank 0 says the same. */
  message_mute(true);
  bool good = run_plan_fill(&plan, parsed, name);
  message_mute(false);
  snprintf(speaker, sizeof speaker, "isoproof-mpi[%d]", team_rank(t));
  message_set_name(speaker);
  plan.run.notice = NULL;
  int code = EXIT_USAGE;
  if (good) code = together_follow(t, &plan, parts->given ? parts->text : place != NULL ? place : "/tmp");
  run_plan_free(&plan);
  return code;
}

static int run_shared(options *parsed, const command *alone, bool test) {
  const option_value *v = &parsed->values[alone->option_count];
  const option_value *patience = &v[MORE_PATIENCE];
  team *t = team_open(patience->given ? patience->number : PATIENCE_SECONDS);
  if (t == NULL) return EXIT_UNKNOWN;
  int code = EXIT_USAGE;
  message_mute(team_rank(t) != 0);
  bool possible = is_possible(parsed, test);
  message_mute(false);
  give_sessions(parsed, team_size(t));
  if (test) {
    parsed->values[TEST_LIVE].given = team_size(t) > 1;
    parsed->values[TEST_NO_PLAN].on = true;
  }
  if (possible && team_rank(t) == 0) {
    run_plan_execute_by(together_lead, t);
    code = alone->run(parsed);
  } else if (possible) {
    code = follow(t, parsed, alone->name, &v[MORE_PARTS]);
  }
  return team_close(t, code);
}

static int run_run(options *parsed) { return run_shared(parsed, &command_run, false); }
static int run_test(options *parsed) { return run_shared(parsed, &command_test, true); }

/* ---- tables ---- */

#define MACHINES_TEXT                                                                                                  \
  "Each process that mpirun starts is a client machine with its own sessions and its own recorder; all of them use "   \
  "the "                                                                                                               \
  "same tables of the same database. --sessions, --rate and --transactions are those of all machines together. The "   \
  "clocks of the machines are compared by round trips while the run goes on, and every interval in the joined "        \
  "history is widened by what is not certain of them, so that what it says about real time is so."

#define LOST_TEXT                                                                                                      \
  "A machine that is gone leaves what it did behind its last line unknown; with 'mpirun --enable-recovery' the "       \
  "others "                                                                                                            \
  "go on, and without it mpirun ends all of them: 'isoproof-mpi join' joins what they have left."

static const char *const run_description[] = {
    "Runs a workload on a database, from several machines at once, and writes one history of all of them.",
    MACHINES_TEXT, LOST_TEXT, NULL};

static const char *const test_description[] = {
    "Runs a workload on a database from several machines at once, checks the joined history against the level that the "
    "database documents (or the one of --expect), reports, and saves everything as 'isoproof test' does.",
    MACHINES_TEXT, LOST_TEXT, NULL};

static const example run_examples[] = {
    {"mpirun -n 4 isoproof-mpi run --db=postgres://db.example/test --sessions=64 -o all.jsonl", 0,
     "Sixteen sessions on each of four machines."},
};

static const example test_examples[] = {
    {"mpirun -n 4 isoproof-mpi test --db=postgres://db.example/test -i serializable -e strict-serializable", 0,
     "Does PostgreSQL respect real time between machines?"},
};

command command_mpi_run = {.name = "run",
                           .summary = "Run a workload from several machines and record one history",
                           .description = run_description,
                           .examples = run_examples,
                           .example_count = COUNT_OF(run_examples),
                           .run = run_run};
command command_mpi_test = {.name = "test",
                            .summary = "Test a database from several machines",
                            .description = test_description,
                            .examples = test_examples,
                            .example_count = COUNT_OF(test_examples),
                            .run = run_test};

static bool extend(command *c, const command *alone) {
  option *table = calloc(alone->option_count + MORE_OPTIONS, sizeof *table);
  if (table == NULL) return false;
  memcpy(table, alone->options, alone->option_count * sizeof *table);
  memcpy(table + alone->option_count, more, sizeof more);
  c->synopsis = alone->synopsis;
  c->options = table;
  c->option_count = alone->option_count + MORE_OPTIONS;
  return true;
}

bool load_commands_prepare(void) {
  return extend(&command_mpi_run, &command_run) && extend(&command_mpi_test, &command_test);
}
