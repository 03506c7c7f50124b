/* plan_round.c - one round of a cell of a plan, on servers that the cells of a database share. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/commands/command.h"
#include "cli/commands/plan.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/progress.h"

/* Seconds: how long judging a round may take where the plan does not say. */
static const double usual_timeout = 20;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- servers ---- */

void plan_stop_servers(planned_test *test) {
  isoproof_cluster_stop(test->servers);
  test->servers = NULL;
  free(test->servers_of);
  test->servers_of = NULL;
}

/* What decides which servers a cell needs; NULL for none of ours. */
static char *servers_key(const planned_cell *cell) {
  const option_value *v = &cell->parsed.values[RUN_CLUSTER];
  char *key = NULL;
  size_t bytes = 0;
  if (!v[CLUSTER_KIND].given || cluster_embedded(v[CLUSTER_KIND].text) != NULL) return NULL;
  FILE *out = open_memstream(&key, &bytes);
  if (out == NULL) return NULL;
  fprintf(out, "%s\n%s\n", v[CLUSTER_KIND].text, v[CLUSTER_SERVER].given ? v[CLUSTER_SERVER].text : "");
  for (size_t i = 0; i < v[CLUSTER_FAULTS].item_count; i++) fprintf(out, "%s\n", v[CLUSTER_FAULTS].items[i]);
  return fclose(out) == 0 ? key : NULL;
}

/* Gives the round the servers of the round before, or starts others. */
static int give_servers(planned_test *test, planned_cell *cell, tester *t) {
  char *key = servers_key(cell);
  const option_value *values = &cell->parsed.values[RUN_CLUSTER];
  bool same = key != NULL && test->servers_of != NULL && strcmp(key, test->servers_of) == 0;
  if (same || key == NULL) {
    free(key);
    return run_cluster_use(&t->plan.cluster, values, same ? test->servers : NULL, &t->plan.run);
  }
  plan_stop_servers(test);
  int code = run_cluster_start(&t->plan.cluster, values, common_quiet(test->given), &t->plan.run);
  test->servers = t->plan.cluster.servers;
  test->servers_of = key;
  return code;
}

/* ---- a round ---- */

/* The names of what violates the level, each once; patterns within a transaction come last, as others tell more. */
static void list_anomalies(const isoproof_result *result, char *text, size_t size) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  size_t used = 0;
  text[0] = 0;
  for (int patterns = 0; patterns < 2; patterns++) {
    for (size_t i = 0; result != NULL && isoproof_result_anomaly_at(result, i, &anomaly) && used < size; i++) {
      bool pattern = strncmp(anomaly.code, "TAP-", 4) == 0;
      if (pattern != (patterns > 0) || strstr(text, anomaly.name) != NULL) continue;
      used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", anomaly.name);
    }
  }
}

static void list_strongest(const isoproof_result *result, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; result != NULL && isoproof_result_strongest_at(result, i) != NULL && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                             isoproof_result_strongest_at(result, i));
}

/* The worst of what a cell has shown so far. */
static isoproof_verdict worse(isoproof_verdict a, isoproof_verdict b) {
  static const int weights[] = {
      [ISOPROOF_VERDICT_NONE] = 0, [ISOPROOF_SATISFIED] = 1, [ISOPROOF_UNDECIDED] = 2, [ISOPROOF_VIOLATED] = 3};
  return weights[b] > weights[a] ? b : a;
}

static void add_figures(planned_cell *cell, const judgement *j, isoproof_plan_outcome *o) {
  const isoproof_run_counts *c = isoproof_run_summary_counts(j->report);
  o->rounds++;
  o->committed += c->committed;
  o->aborted += c->aborted;
  o->unknown += c->unknown;
  o->seconds += c->seconds;
  o->p50_ms = (double)c->p50_ns * 1e-6;
  o->p99_ms = (double)c->p99_ns * 1e-6;
  o->max_ms = (double)c->max_ns * 1e-6;
  o->product = isoproof_run_summary_database(j->report);
  cell->transactions += c->committed + c->aborted + c->unknown;
  cell->aborts += c->aborted;
  if (j->has_effort) cell->conflicts += j->effort.conflicting;
}

/* Puts what came of a round into the table. */
static bool learn(planned_test *test, size_t number, const tester *t, const judgement *j, int code) {
  planned_cell *cell = &test->cells[number];
  char folder[256], anomalies[512], strongest[512];
  isoproof_error error = {.offset = -1};
  isoproof_plan_outcome o = {.struct_size = sizeof o};
  isoproof_plan_results_at(test->results, number, &o);
  plan_cell_folder(test, number, folder, sizeof folder);
  bool judged = j->report != NULL && (code == EXIT_SATISFIED || code == EXIT_VIOLATED || code == EXIT_UNKNOWN);
  if (judged) {
    add_figures(cell, j, &o);
    /* The exit code knows more than the level: what else a test may find to be violated. */
    isoproof_verdict verdict = code == EXIT_VIOLATED  ? ISOPROOF_VIOLATED
                               : code == EXIT_UNKNOWN ? ISOPROOF_UNDECIDED
                               : j->result != NULL    ? isoproof_result_verdict(j->result)
                                                      : ISOPROOF_SATISFIED;
    list_anomalies(j->result, anomalies, sizeof anomalies);
    list_strongest(j->result, strongest, sizeof strongest);
    o.verdict = worse(o.verdict, verdict);
    if (verdict == ISOPROOF_VIOLATED && anomalies[0] != 0) o.anomalies = anomalies;
    if (strongest[0] != 0) o.strongest = strongest;
    o.expected = j->expected;
    o.folder = folder;
  } else if (!interrupted()) {
    o.problem = t->problem[0] != 0 ? t->problem : "it could not be run";
  }
  cell->finished = cell->finished || cell->single || o.verdict == ISOPROOF_VIOLATED || o.problem != NULL;
  if (isoproof_plan_results_set(test->results, number, &o, &error) == ISOPROOF_OK) return plan_save(test);
  message_error(&error, NULL);
  return false;
}

/* The time of a round, and of what is decided beyond what is expected, in the options of the cell. */
static void set_times(planned_cell *cell, tester *t, double seconds) {
  option_value *v = cell->parsed.values;
  bool by_plan = v[RUN_TIME].given || cell->single;
  if (!by_plan) t->plan.run.seconds = seconds;
  v[TEST_BUDGET] = (option_value){.given = true, .number = seconds};
  if (!v[TEST_TIMEOUT].given) v[TEST_TIMEOUT].number = usual_timeout;
}

static bool make_folder(planned_test *test, size_t number, tester *t) {
  char name[256];
  plan_cell_folder(test, number, name, sizeof name);
  if (asprintf(&t->folder.path, "%s/%s", test->folder.path, name) < 0) t->folder.path = NULL;
  if (t->folder.path == NULL) return message("out of memory"), false;
  struct stat about;
  if (mkdir(t->folder.path, 0777) != 0 && (stat(t->folder.path, &about) != 0 || !S_ISDIR(about.st_mode)))
    return message_errno(t->folder.path, "make the folder"), false;
  return test_folder_round(&t->folder, 1, false);
}

static int execute(planned_test *test, size_t number, tester *t, judgement *j, double seconds) {
  planned_cell *cell = &test->cells[number];
  if (!run_plan_fill(&t->plan, &cell->parsed, "test")) return EXIT_USAGE;
  if (cell->seed == 0) cell->seed = t->plan.workload.seed;
  t->plan.workload.seed = cell->seed++;
  set_times(cell, t, seconds);
  int code = give_servers(test, cell, t);
  if (code != EXIT_SATISFIED) return code;
  if (!make_folder(test, number, t)) return EXIT_USAGE;
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) return message("out of memory"), EXIT_UNKNOWN;
  code = test_round(t, j, task);
  interrupt_task_free(task);
  progress_clear();
  return code;
}

bool plan_run_round(planned_test *test, size_t number, double seconds) {
  planned_cell *cell = &test->cells[number];
  tester t = {.parsed = &cell->parsed, .silent = true};
  judgement j = {.report = NULL};
  double began = now();
  outputs_begin(&t.reports, &cell->parsed.values[TEST_OUTPUT], false);
  int code = execute(test, number, &t, &j, seconds);
  cell->spent += now() - began;
  cell->parsed.values[TEST_BUDGET] = (option_value){.given = false}; /* was that of this round */
  bool good = learn(test, number, &t, &j, code);
  judgement_free(&j);
  /* The servers are not those of the round. */
  if (t.plan.cluster.servers == test->servers) t.plan.cluster.servers = NULL;
  outputs_free(&t.reports);
  test_folder_free(&t.folder);
  run_plan_free(&t.plan);
  return good;
}
