/* gen.c - `isoproof gen`: workloads, and histories from the built-in simulator. */
#include <inttypes.h>
#include <isoproof/isoproof.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/blame.h"
#include "cli/commands/command.h"
#include "cli/options/gen_options.h"
#include "cli/options/loss.h"
#include "cli/options/names.h"
#include "cli/options/suggest.h"
#include "cli/options/workload_options.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"

/* "lost-update" or "lost-update:3"; false after a message. */
static bool add_bug(isoproof_sim_options *sim, const char *text) {
  char name[64];
  const char *colon = strchr(text, ':');
  size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
  uint64_t count = 1;
  isoproof_sim_bug bug;
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
  if (!isoproof_sim_bug_find(name, &bug)) {
    suggestion s = suggest_begin(name);
    suggest_offer_all(&s, bug_name_at);
    if (suggest_best(&s) != NULL)
      message("--bug: unknown bug '%s'; did you mean '%s'?", name, suggest_best(&s));
    else
      message("--bug: unknown bug '%s'; 'isoproof help gen' lists the bugs", name);
    return false;
  }
  if (colon != NULL) {
    char *end;
    count = strtoull(colon + 1, &end, 10);
    bool digits = colon[1] >= '0' && colon[1] <= '9' && *end == 0;
    if (!digits || count == 0 || count > UINT64_C(1000000000)) {
      message("--bug: expected %s:N with N from 1 to 1000000000, found '%s'", name, text);
      return false;
    }
  }
  sim->bugs[bug] += count;
  return true;
}

/* "serializable" or "serializable:50"; false after a message. */
static bool add_level(isoproof_sim_options *sim, const char *text) {
  char name[64];
  const char *colon = strchr(text, ':');
  size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
  uint64_t weight = 1;
  isoproof_sim_level level;
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
  if (!isoproof_sim_level_find(name, &level)) {
    message("--isolation-mix: expected serializable, snapshot-isolation or read-committed, found '%s'", name);
    return false;
  }
  if (colon != NULL) {
    char *end;
    weight = strtoull(colon + 1, &end, 10);
    bool digits = colon[1] >= '0' && colon[1] <= '9' && *end == 0;
    if (!digits || weight == 0 || weight > 1000000) {
      message("--isolation-mix: expected %s:N with N from 1 to 1000000, found '%s'", name, text);
      return false;
    }
  }
  sim->mix[level] = (uint32_t)weight;
  return true;
}

static void set_u32(uint32_t *to, const option_value *value) {
  if (value->given) *to = (uint32_t)value->integer;
}

static void set_number(double *to, const option_value *value) {
  if (value->given) *to = value->number;
}

/* From the command line to the options of the simulator; false after a message. */
static bool fill(isoproof_sim_options *sim, const options *parsed) {
  const option_value *v = parsed->values;
  memset(sim, 0, sizeof *sim);
  sim->struct_size = sizeof *sim;
  isoproof_sim_defaults(sim);
  sim->seed = v[GEN_SEED].given ? v[GEN_SEED].integer : random_seed();
  if (v[GEN_LEVEL].given && !isoproof_sim_level_find(v[GEN_LEVEL].text, &sim->level)) return false;
  set_u32(&sim->sessions, &v[GEN_SESSIONS]);
  if (v[GEN_TRANSACTIONS].given) sim->txns = v[GEN_TRANSACTIONS].integer;
  if (v[GEN_OPERATIONS].given) {
    sim->ops_min = (uint32_t)v[GEN_OPERATIONS].integer;
    sim->ops_max = (uint32_t)v[GEN_OPERATIONS].upper;
  }
  set_number(&sim->read_share, &v[GEN_READ_SHARE]);
  set_number(&sim->rmw_share, &v[GEN_RMW_SHARE]);
  set_number(&sim->abort_share, &v[GEN_ABORT_SHARE]);
  set_number(&sim->unknown_share, &v[GEN_UNKNOWN_SHARE]);
  set_number(&sim->duplicate_share, &v[GEN_DUPLICATE_SHARE]);
  set_u32(&sim->keys, &v[GEN_KEYS]);
  if (v[GEN_DISTRIBUTION].given && !isoproof_key_distribution_find(v[GEN_DISTRIBUTION].text, &sim->distribution))
    return false;
  set_number(&sim->skew, &v[GEN_SKEW]);
  set_number(&sim->hot_share, &v[GEN_HOT_SHARE]);
  set_number(&sim->hot_keys_share, &v[GEN_HOT_KEYS]);
  if (v[GEN_WORKLOAD].given) sim->lists = strcmp(v[GEN_WORKLOAD].text, "list-append") == 0;
  if (v[GEN_WORKLOAD].given) sim->rows = strcmp(v[GEN_WORKLOAD].text, "rows") == 0;
  set_number(&sim->predicate_share, &v[GEN_PREDICATE_SHARE]);
  set_u32(&sim->appends_per_key, &v[GEN_APPENDS_PER_KEY]);
  set_u32(&sim->replicas, &v[GEN_REPLICAS]);
  for (size_t i = 0; i < v[GEN_ISOLATION_MIX].item_count; i++) {
    if (!add_level(sim, v[GEN_ISOLATION_MIX].items[i])) return false;
  }
  for (size_t i = 0; i < v[GEN_BUG].item_count; i++) {
    if (!add_bug(sim, v[GEN_BUG].items[i])) return false;
  }
  return true;
}

static isoproof_status write_history(const options *parsed, const isoproof_history *history, const char *path,
                                     const isoproof_format_info *format, isoproof_task *task, isoproof_error *error) {
  const option_value *v = parsed->values;
  isoproof_write_options how = {
      .struct_size = sizeof how, .compression = compression_choice(&v[GEN_COMPRESS]), .lossy = v[GEN_LOSSY].on};
  isoproof_write_loss loss = {.struct_size = sizeof loss};
  isoproof_status status = isoproof_history_write(history, format->format, path, &how, task, &loss, error);
  progress_clear();
  if (status == ISOPROOF_OK && v[GEN_LOSSY].on && !common_quiet(parsed)) report_loss(&loss, format->id);
  return status;
}

static int generate(const options *parsed, const isoproof_sim_options *sim, const char *path,
                    const isoproof_format_info *format, isoproof_task *task) {
  const option_value *blame = &parsed->values[GEN_BLAME];
  isoproof_error error = {.offset = -1};
  isoproof_history *history = NULL;
  isoproof_injected_bugs *blames = NULL;
  isoproof_status status = isoproof_simulate(sim, task, &history, &blames, &error);
  if (status == ISOPROOF_OK) status = write_history(parsed, history, path, format, task, &error);
  int code = exit_of_status(status);
  if (status != ISOPROOF_OK) message_error(&error, strcmp(path, "-") != 0 && status == ISOPROOF_ERR_IO ? path : NULL);
  if (status == ISOPROOF_ERR_UNSUPPORTED && !parsed->values[GEN_LOSSY].on) {
    message("--lossy leaves out what %s cannot say", format->id);
  }
  if (status == ISOPROOF_OK && blame->given) code = write_blames(blame->text, history, blames);
  if (status == ISOPROOF_OK && !common_quiet(parsed)) {
    if (!parsed->values[GEN_SEED].given) message("seed %" PRIu64 " (--seed repeats this history)", sim->seed);
    summarise_blames(blames);
  }
  isoproof_injected_bugs_free(blames);
  isoproof_history_free(history);
  return code;
}

/* Whether the simulator has the workload. */
static bool simulated(const option_value *workload) {
  static const char *const names[] = {"register", "list-append", "rows"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    if (workload->given && strcmp(workload->text, names[i]) == 0) return true;
  }
  return !workload->given;
}

static int run(options *parsed) {
  const option_value *v = parsed->values;
  const char *path = v[GEN_OUTPUT].given ? v[GEN_OUTPUT].text : "-";
  isoproof_sim_options sim;
  if (!v[GEN_SIMULATE].on) return gen_workload(parsed, path);
  if (v[GEN_PRESET].given || !simulated(&v[GEN_WORKLOAD])) {
    message("gen: with --simulate the workload is register, list-append or rows");
    return EXIT_USAGE;
  }
  if (v[GEN_ISOLATION_MIX].given && v[GEN_LEVEL].given) {
    message("gen: --level and --isolation-mix exclude each other");
    return EXIT_USAGE;
  }
  if (parsed->argument_count > 0) {
    message("gen takes no arguments, found '%s'; -o names the output", parsed->arguments[0]);
    return EXIT_USAGE;
  }
  if (v[GEN_BLAME].given && strcmp(v[GEN_BLAME].text, "-") == 0 && strcmp(path, "-") == 0) {
    message("gen: the history and the blame cannot both go to standard output; -o names a file for the history");
    return EXIT_USAGE;
  }
  const isoproof_format_info *format = format_for_output(v[GEN_FORMAT].text, path, "jsonl");
  if (format == NULL || !fill(&sim, parsed)) return EXIT_USAGE;
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isoproof_task_set_progress(task, progress_update, NULL);
  int code = generate(parsed, &sim, path, format, task);
  interrupt_task_free(task);
  return code;
}

static const example examples[] = {
    {"isoproof gen --simulate --seed=1 --transactions=20", 0, "Twenty serializable transactions as JSON lines."},
    {"isoproof gen --simulate -s 7 -l si --bug=lost-update -o h.txt --blame=-", 0,
     "A snapshot-isolated history with one lost update, and who is to blame."},
    {"isoproof gen --simulate -s 1 --isolation-mix=rc:70,ser:30 | isoproof check --level=mixed -", 0,
     "Transactions with levels of their own, each held to it."},
    {"isoproof gen --simulate -s 3 -w list-append -f edn | isoproof stats -", 0,
     "A list-append history in Jepsen's format, counted."},
    {"isoproof gen --simulate -s 5 -w rows --bug=phantom | isoproof check --level=ser -", 1,
     "A history of rows with a phantom, and what it breaks."},
    {"isoproof gen --workload=write-skew --seed=1 --transactions=20", 0,
     "What clients are going to do, as JSON lines."},
    {"isoproof gen --preset=plume --seed=1 -o plume-workload.jsonl", 0, "The workload of a published evaluation."},
};

static const char *const description[] = {
    "Writes what the clients of a workload are going to do, one transaction a line, without a database: 'isoproof run' "
    "does the same on one.",
    "With --simulate: runs random transactions, interleaved one operation at a time, on a simulated multi-version "
    "database, and writes the history. What it produces at a level satisfies that level; each bug switched on with "
    "--bug breaks the level it says, and the transactions to blame are known.",
    "Equal options and seed give equal histories. Without --seed a random one is taken and printed.",
    "Workloads:" WORKLOAD_LINES,
    "Bugs, the weakest level that each breaks, and what happens:" GEN_BUG_LINES,
    NULL};

const command command_gen = {"gen",
                             "Write a workload, or a history from the built-in simulator",
                             "[--workload=NAME | --simulate [--level=NAME] [--bug=NAME[:N]]] [OPTION...]",
                             description,
                             NULL,
                             NULL,
                             gen_options,
                             GEN_OPTIONS,
                             examples,
                             COUNT_OF(examples),
                             run};
