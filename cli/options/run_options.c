/* run_options.c - from options to a run. */
#include "cli/options/run_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/message.h"

/* ---- the command line again ---- */

static void print_word(FILE *out, const char *word) {
  if (word[0] != 0 &&
      strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+") == strlen(word)) {
    fputs(word, out);
    return;
  }
  fputc('\'', out);
  for (; *word != 0; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, out);
  fputc('\'', out);
}

/* Without its passwords: histories get around. */
static void print_url(FILE *out, const char *url) {
  char shown[8192];
  isoproof_url_show(url, shown, sizeof shown);
  print_word(out, shown);
}

static void print_option(FILE *out, const option *o, const option_value *value) {
  if (o->type == OPTION_FLAG) {
    fprintf(out, " --%s%s", value->on ? "" : "no-", o->name);
    return;
  }
  fprintf(out, " --%s=", o->name);
  if (o->type != OPTION_LIST) print_word(out, value->text);
  for (size_t i = 0; i < value->item_count; i++) {
    if (i > 0) fputc(',', out);
    print_word(out, value->items[i]);
  }
}

/* What repeats the run: every option given, and the seed. */
static char *command_line(const run_plan *plan, const options *parsed, const char *command) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) return NULL;
  fprintf(out, "%s %s", message_name(), command);
  for (size_t i = 0; i < plan->database.count; i++) {
    fputs(i == 0 ? " --db=" : ",", out);
    print_url(out, plan->database.urls[i]);
  }
  for (size_t i = 0; i < parsed->count; i++)
    if (parsed->values[i].given && i != RUN_WORKLOAD + WORKLOAD_SEED && i != RUN_DB)
      print_option(out, &parsed->table[i], &parsed->values[i]);
  fprintf(out, " --seed=%" PRIu64, plan->workload.seed);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* ---- all ---- */

/* Options that say how a workload or its table is; a script says that itself. */
static bool fits_script(const options *parsed) {
  static const int others[] = {RUN_TABLE,
                               RUN_TABLES,
                               RUN_LAYOUT,
                               RUN_ACCESS,
                               RUN_STATEMENTS,
                               RUN_ROUND_TRIPS,
                               RUN_WORKLOAD + WORKLOAD_WORKLOAD,
                               RUN_WORKLOAD + WORKLOAD_PRESET,
                               RUN_WORKLOAD + WORKLOAD_OPERATIONS,
                               RUN_WORKLOAD + WORKLOAD_READ_SHARE,
                               RUN_WORKLOAD + WORKLOAD_RMW_SHARE,
                               RUN_WORKLOAD + WORKLOAD_ABORT_SHARE,
                               RUN_WORKLOAD + WORKLOAD_LONG_SHARE,
                               RUN_WORKLOAD + WORKLOAD_LONG_OPERATIONS,
                               RUN_WORKLOAD + WORKLOAD_APPENDS_PER_KEY,
                               RUN_WORKLOAD + WORKLOAD_FINAL_READS,
                               RUN_WORKLOAD + WORKLOAD_JITTER,
                               RUN_WORKLOAD + WORKLOAD_KEYS,
                               RUN_WORKLOAD + WORKLOAD_DISTRIBUTION,
                               RUN_WORKLOAD + WORKLOAD_SKEW,
                               RUN_WORKLOAD + WORKLOAD_HOT_SHARE,
                               RUN_WORKLOAD + WORKLOAD_HOT_KEYS};
  if (!parsed->values[RUN_SCRIPT + SCRIPT_FILES].given) return true;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (!parsed->values[others[i]].given) continue;
    message("--%s says how a workload is, and has no meaning with --script", parsed->table[others[i]].name);
    return false;
  }
  return true;
}

static bool fill(run_plan *plan, const options *parsed) {
  const option_value *v = parsed->values;
  const option_value *workload[WORKLOAD_OPTIONS];
  for (size_t i = 0; i < WORKLOAD_OPTIONS; i++) workload[i] = &v[RUN_WORKLOAD + i];
  isoproof_run_options *run = &plan->run;
  run->struct_size = sizeof *run;
  plan->workload.struct_size = sizeof plan->workload;
  isoproof_run_defaults(run);
  run->workload = &plan->workload;
  if (!workload_fill(&plan->workload, workload)) return false;
  if (plan->database.count > 0) {
    run->urls = plan->database.urls;
    run->url_count = plan->database.count;
  }
  run->password = plan->database.password;
  if (!load_fill(&plan->load, &v[RUN_LOAD], workload[WORKLOAD_SESSIONS], run)) return false;
  if (v[RUN_TIME].given && run->phase_count > 0) {
    message("--sessions with phases says how long the run takes: leave out --time");
    return false;
  }
  if (v[RUN_ISOLATION].given) run->isolation = v[RUN_ISOLATION].text;
  if (v[RUN_TIME].given)
    run->seconds = v[RUN_TIME].number;
  else if (plan->workload.txns > 0 || run->phase_count > 0)
    run->seconds = 0;
  for (size_t i = 0; i < run->phase_count; i++) run->seconds += run->phase_seconds[i];
  if (run->seconds == 0 && plan->workload.txns == 0) {
    message("--time=0 needs a limit of another kind: --transactions");
    return false;
  }
  if (v[RUN_RETRIES].given) run->retries = (uint32_t)v[RUN_RETRIES].integer;
  if (v[RUN_STATEMENT_TIMEOUT].given) run->statement_timeout = v[RUN_STATEMENT_TIMEOUT].number;
  if (v[RUN_LOCK_TIMEOUT].given) run->lock_timeout = v[RUN_LOCK_TIMEOUT].number;
  run->session_settings = v[RUN_SESSION_SETTINGS].items;
  run->session_setting_count = v[RUN_SESSION_SETTINGS].item_count;
  if (v[RUN_TABLE].given) run->table = v[RUN_TABLE].text;
  if (v[RUN_TABLES].given) run->tables = (uint32_t)v[RUN_TABLES].integer;
  run->keep_tables = v[RUN_KEEP_TABLES].on;
  if (v[RUN_LAYOUT].given) run->layout = v[RUN_LAYOUT].text;
  if (v[RUN_ACCESS].given) run->access = v[RUN_ACCESS].text;
  if (v[RUN_STATEMENTS].given) run->statements = v[RUN_STATEMENTS].text;
  if (v[RUN_ROUND_TRIPS].given) run->round_trips = v[RUN_ROUND_TRIPS].text;
  run->notice = message_notice;
  return fits_script(parsed) && script_fill(&v[RUN_SCRIPT], run);
}

bool run_plan_fill(run_plan *plan, const options *parsed, const char *command) {
  memset(plan, 0, sizeof *plan);
  if (parsed->values[RUN_DB].given && parsed->values[RUN_CLUSTER + CLUSTER_KIND].given) {
    message("--db and --cluster exclude each other");
    return false;
  }
  const option_value *v = parsed->values;
  if (!database_choose(&plan->database, &v[RUN_DB], &v[RUN_DATABASE], v[RUN_CLUSTER + CLUSTER_KIND].given))
    return false;
  if (!fill(plan, parsed)) return false;
  plan->command = command_line(plan, parsed, command);
  plan->run.command = plan->command;
  if (plan->command == NULL) message("out of memory");
  return plan->command != NULL;
}

int run_plan_start(run_plan *plan, const options *parsed) {
  const option_value *cluster = &parsed->values[RUN_CLUSTER + CLUSTER_KIND];
  int code = script_check(&plan->run, cluster->given ? cluster->text : NULL);
  if (code != EXIT_SATISFIED) return code;
  return run_cluster_start(&plan->cluster, &parsed->values[RUN_CLUSTER], parsed->common[COMMON_QUIET].on, &plan->run);
}

void run_plan_free(run_plan *plan) {
  run_cluster_stop(&plan->cluster);
  database_free(&plan->database);
  free(plan->command);
}

static run_plan_executor other_executor;
static void *executor_user;

void run_plan_execute_by(run_plan_executor executor, void *user) {
  other_executor = executor;
  executor_user = user;
}

isoproof_status run_plan_execute(const run_plan *plan, isoproof_task *task, isoproof_run_summary **summary,
                                 isoproof_error *error) {
  if (other_executor != NULL) return other_executor(&plan->run, task, executor_user, summary, error);
  return isoproof_run(&plan->run, task, summary, error);
}

bool run_plan_explains(const options *parsed) { return script_is_explained(&parsed->values[RUN_SCRIPT]); }

int run_plan_explain(const run_plan *plan, const options *parsed) {
  const option_value *cluster = &parsed->values[RUN_CLUSTER + CLUSTER_KIND];
  return script_explain(&plan->run, cluster->given ? cluster->text : NULL);
}
