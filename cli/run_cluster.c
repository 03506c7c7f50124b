/* run_cluster.c - from options to servers and faults. */
#include "cli/run_cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/message.h"
#include "cli/progress.h"

const char *cluster_name_at(size_t number) {
  const char *name = isolde_cluster_kind_name(number);
  return name != NULL && strcmp(name, "galera") == 0 ? "galera:3" : name;
}

/* How many nodes there may be, the library says. */
bool cluster_known(const char *name) { return strcmp(name, "galera") == 0 || strncmp(name, "galera:", 7) == 0; }

static unsigned fault_bits(const option_value *faults) {
  unsigned bits = 0;
  for (size_t i = 0; i < faults->item_count; i++)
    for (size_t kind = 0; kind < ISOLDE_FAULTS; kind++)
      if (strcmp(faults->items[i], isolde_fault_name(kind)) == 0) bits |= 1U << kind;
  return bits;
}

static bool fill_targets(const option_value *given, size_t *targets, size_t *count) {
  for (size_t i = 0; i < given->item_count; i++) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(given->items[i], &end, 10);
    if (errno != 0 || end == given->items[i] || *end != 0 || given->items[i][0] == '-' ||
        i >= ISOLDE_CLUSTER_MOST_NODES) {
      message("--fault-targets: expected at most %d numbers of nodes, found '%s'", ISOLDE_CLUSTER_MOST_NODES,
              given->items[i]);
      return false;
    }
    targets[(*count)++] = number;
  }
  return true;
}

static bool sensible(const option_value *v) {
  static const char *const names[] = {"cluster", "faults", "fault-interval", "fault-duration", "fault-targets"};
  for (size_t i = CLUSTER_FAULTS; i < CLUSTER_OPTIONS; i++) {
    size_t needed = i == CLUSTER_FAULTS ? CLUSTER_KIND : CLUSTER_FAULTS;
    if (!v[i].given || v[needed].given) continue;
    message("--%s needs --%s: isolde breaks only what it started", names[i], names[needed]);
    return false;
  }
  return true;
}

static isolde_status start_faults(run_cluster *cluster, const option_value *v, const isolde_fault_options *wanted,
                                  isolde_run_options *run, isolde_error *error) {
  if (!v[CLUSTER_FAULTS].given) return ISOLDE_OK;
  isolde_status status = isolde_faults_new(cluster->servers, wanted, &cluster->faults, error);
  run->companion = isolde_faults_companion;
  run->companion_user = cluster->faults;
  return status;
}

static void say_where(const run_cluster *cluster, const char *kind) {
  for (size_t i = 0; i < isolde_cluster_nodes(cluster->servers); i++)
    message("%s: node %zu is %s", kind, i, isolde_cluster_urls(cluster->servers)[i]);
}

int run_cluster_start(run_cluster *cluster, const option_value *values, uint64_t seed, bool quiet,
                      isolde_run_options *run) {
  const option_value *v = values;
  size_t targets[ISOLDE_CLUSTER_MOST_NODES], target_count = 0;
  *cluster = (run_cluster){NULL, NULL};
  if (!sensible(v) || !fill_targets(&v[CLUSTER_TARGETS], targets, &target_count)) return EXIT_USAGE;
  if (!v[CLUSTER_KIND].given) return EXIT_SATISFIED;
  isolde_cluster_options servers = {
      .struct_size = sizeof servers, .kind = v[CLUSTER_KIND].text, .faults = fault_bits(&v[CLUSTER_FAULTS])};
  isolde_fault_options faults = {.struct_size = sizeof faults,
                                 .faults = servers.faults,
                                 .interval = v[CLUSTER_INTERVAL].given ? v[CLUSTER_INTERVAL].number : 0,
                                 .duration = v[CLUSTER_DURATION].given ? v[CLUSTER_DURATION].number : 0,
                                 .target = targets,
                                 .target_count = target_count,
                                 .seed = seed};
  isolde_error error = {.offset = -1};
  isolde_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isolde_task_set_progress(task, progress_update, NULL);
  isolde_status status = isolde_cluster_start(&servers, task, &cluster->servers, &error);
  if (status == ISOLDE_OK) status = start_faults(cluster, v, &faults, run, &error);
  progress_clear();
  interrupt_task_free(task);
  if (status != ISOLDE_OK) {
    message_error(&error, NULL);
    return status == ISOLDE_ERR_IO || status == ISOLDE_ERR_TIMEOUT ? EXIT_RUN : exit_of_status(status);
  }
  run->urls = isolde_cluster_urls(cluster->servers);
  run->url_count = isolde_cluster_nodes(cluster->servers);
  if (!quiet) say_where(cluster, servers.kind);
  return EXIT_SATISFIED;
}

void run_cluster_stop(run_cluster *cluster) {
  if (cluster->faults != NULL && isolde_faults_problem(cluster->faults)[0] != 0)
    message("a fault went wrong: %s", isolde_faults_problem(cluster->faults));
  isolde_faults_free(cluster->faults);
  isolde_cluster_stop(cluster->servers);
  *cluster = (run_cluster){NULL, NULL};
}

void run_cluster_summary(FILE *out, const run_cluster *cluster) {
  if (cluster->faults == NULL) return;
  bool some = false;
  for (size_t i = 0; i < ISOLDE_FAULTS; i++) {
    uint64_t count = isolde_faults_count(cluster->faults, (isolde_fault)i);
    if (count == 0) continue;
    fprintf(out, "%s%s %" PRIu64, some ? ", " : "  faults: ", isolde_fault_name(i), count);
    some = true;
  }
  fputs(some ? "\n" : "  faults: none, the run was too short\n", out);
}

/* ---- logs ---- */

static bool copy_file(const char *from, const char *to) {
  FILE *in = fopen(from, "re"), *out = in != NULL ? fopen(to, "we") : NULL;
  bool good = in != NULL && out != NULL;
  char buffer[16384];
  size_t got;
  while (good && (got = fread(buffer, 1, sizeof buffer, in)) > 0) good = fwrite(buffer, 1, got, out) == got;
  if (in != NULL) good = ferror(in) == 0 && good;
  if (out != NULL) good = fclose(out) == 0 && good;
  if (!good) message_errno(to, "copy a log to it");
  if (in != NULL) fclose(in);
  return good;
}

bool run_cluster_save_logs(const run_cluster *cluster, const char *folder) {
  bool good = true;
  for (size_t i = 0; cluster->servers != NULL && i < isolde_cluster_nodes(cluster->servers); i++) {
    char *path = NULL;
    if (asprintf(&path, "%s/node-%zu.log", folder, i) < 0) return false;
    good = copy_file(isolde_cluster_log(cluster->servers, i), path) && good;
    free(path);
  }
  return good;
}
