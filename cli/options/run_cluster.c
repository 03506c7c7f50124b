/* run_cluster.c - from options to servers and faults. */
#include "cli/options/run_cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/interrupt.h"
#include "cli/terminal/message.h"
#include "cli/terminal/progress.h"

/* Databases that need no server: a private one is what their URLs without a file mean. */
static const struct {
  const char *name, *url;
} embedded[] = {{"sqlite", "sqlite:"}, {"duckdb", "duckdb:"}, {"rocksdb", "rocksdb:"}};

const char *cluster_name_at(size_t number) {
  const char *name = isoproof_cluster_kind_at(number);
  if (name != NULL) return strcmp(name, "galera") == 0 ? "galera:3" : strcmp(name, "etcd") == 0 ? "etcd:3" : name;
  size_t kinds = 0;
  while (isoproof_cluster_kind_at(kinds) != NULL) kinds++;
  return number - kinds < sizeof embedded / sizeof *embedded ? embedded[number - kinds].name : NULL;
}

const char *const *cluster_embedded(const char *name) {
  for (size_t i = 0; i < sizeof embedded / sizeof *embedded; i++)
    if (strcmp(embedded[i].name, name) == 0) return &embedded[i].url;
  return NULL;
}

/* How many nodes there may be, and which options, the library says. */
bool cluster_known(const char *name) {
  static const char *const counted[] = {"galera", "etcd"};
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
    size_t size = strlen(counted[i]);
    if (strncmp(name, counted[i], size) == 0 && (name[size] == 0 || name[size] == ':')) return true;
  }
  size_t length = strcspn(name, ",");
  for (size_t i = 0; name[length] == ',' && isoproof_cluster_kind_at(i) != NULL; i++)
    if (strncmp(isoproof_cluster_kind_at(i), name, length) == 0 && isoproof_cluster_kind_at(i)[length] == 0)
      return true;
  return false;
}

/* A command of one's own has an option of its own. */
const char *fault_name_at(size_t number) {
  return number < ISOPROOF_FAULT_COMMAND ? isoproof_fault_kind_at(number) : NULL;
}

static unsigned fault_bits(const option_value *faults, const option_value *command) {
  unsigned bits = command->given ? 1U << ISOPROOF_FAULT_COMMAND : 0;
  for (size_t i = 0; i < faults->item_count; i++)
    for (size_t kind = 0; kind < ISOPROOF_FAULTS; kind++)
      if (strcmp(faults->items[i], isoproof_fault_kind_at(kind)) == 0) bits |= 1U << kind;
  return bits;
}

static bool fill_targets(const option_value *given, size_t *targets, size_t *count) {
  for (size_t i = 0; i < given->item_count; i++) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(given->items[i], &end, 10);
    if (errno != 0 || end == given->items[i] || *end != 0 || given->items[i][0] == '-' ||
        i >= ISOPROOF_CLUSTER_MOST_NODES) {
      message("--fault-targets: expected at most %d numbers of nodes, found '%s'", ISOPROOF_CLUSTER_MOST_NODES,
              given->items[i]);
      return false;
    }
    targets[(*count)++] = number;
  }
  return true;
}

static bool sensible(const option_value *v) {
  static const char *const names[] = {[CLUSTER_INTERVAL] = "fault-interval",
                                      [CLUSTER_DURATION] = "fault-duration",
                                      [CLUSTER_TARGETS] = "fault-targets"};
  if (v[CLUSTER_FAULTS].given && !v[CLUSTER_KIND].given) {
    message("--faults needs --cluster: isoproof breaks only what it started; --fault-command breaks what you tell it "
            "to");
    return false;
  }
  if (v[CLUSTER_SERVER].given && !v[CLUSTER_KIND].given) {
    message("--server needs --cluster, which says what to start from there");
    return false;
  }
  for (size_t i = CLUSTER_INTERVAL; i <= CLUSTER_TARGETS; i++) {
    if (!v[i].given || v[CLUSTER_FAULTS].given || v[CLUSTER_COMMAND].given) continue;
    message("--%s needs --faults or --fault-command", names[i]);
    return false;
  }
  if (v[CLUSTER_COMMAND].given && v[CLUSTER_COMMAND].text[0] == 0) {
    message("--fault-command: expected a command, found nothing");
    return false;
  }
  return true;
}

static void say_where(const isoproof_cluster *servers, const char *kind) {
  for (size_t i = 0; i < isoproof_cluster_node_count(servers); i++)
    message("%s: node %zu is %s", kind, i, isoproof_cluster_urls(servers)[i]);
}

static int failed(isoproof_status status, const isoproof_error *error) {
  message_error(error, NULL);
  return status == ISOPROOF_ERR_IO || status == ISOPROOF_ERR_TIMEOUT ? EXIT_RUN : exit_of_status(status);
}

int cluster_start(const isoproof_cluster_options *which, bool quiet, isoproof_cluster **servers) {
  isoproof_error error = {.offset = -1};
  isoproof_task *task = interrupt_task_new();
  *servers = NULL;
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isoproof_task_set_progress(task, progress_update, NULL);
  isoproof_status status = isoproof_cluster_start(which, task, servers, &error);
  progress_clear();
  interrupt_task_free(task);
  if (status != ISOPROOF_OK) return failed(status, &error);
  if (!quiet) say_where(*servers, which->kind);
  return EXIT_SATISFIED;
}

/* Servers of somebody else, for a command of the user's own. */
static int attach(run_cluster *cluster, const isoproof_run_options *run) {
  isoproof_error error = {.offset = -1};
  isoproof_status status = isoproof_cluster_attach(run->urls, run->url_count, &cluster->servers, &error);
  cluster->attached = true;
  return status == ISOPROOF_OK ? EXIT_SATISFIED : failed(status, &error);
}

/* The faults that the options ask for; false after a message. */
static bool fill_faults(run_cluster *cluster, const option_value *v) {
  memset(cluster, 0, sizeof *cluster);
  size_t target_count = 0;
  if (!sensible(v) || !fill_targets(&v[CLUSTER_TARGETS], cluster->targets, &target_count)) return false;
  if (!v[CLUSTER_KIND].given && !v[CLUSTER_COMMAND].given) return true;
  cluster->how = (isoproof_fault_options){.struct_size = sizeof cluster->how,
                                          .faults = fault_bits(&v[CLUSTER_FAULTS], &v[CLUSTER_COMMAND]),
                                          .command = v[CLUSTER_COMMAND].given ? v[CLUSTER_COMMAND].text : NULL,
                                          .interval = v[CLUSTER_INTERVAL].given ? v[CLUSTER_INTERVAL].number : 0,
                                          .duration = v[CLUSTER_DURATION].given ? v[CLUSTER_DURATION].number : 0,
                                          .target_count = target_count};
  return true;
}

static void take_urls(const run_cluster *cluster, isoproof_run_options *run) {
  run->urls = isoproof_cluster_urls(cluster->servers);
  run->url_count = isoproof_cluster_node_count(cluster->servers);
}

int run_cluster_use(run_cluster *cluster, const option_value *values, isoproof_cluster *servers,
                    isoproof_run_options *run) {
  if (servers == NULL) return run_cluster_start(cluster, values, true, run);
  if (!fill_faults(cluster, values)) return EXIT_USAGE;
  cluster->servers = servers;
  take_urls(cluster, run);
  return EXIT_SATISFIED;
}

int run_cluster_start(run_cluster *cluster, const option_value *values, bool quiet, isoproof_run_options *run) {
  const option_value *v = values;
  if (!fill_faults(cluster, v)) return EXIT_USAGE;
  if (!v[CLUSTER_KIND].given && !v[CLUSTER_COMMAND].given) return EXIT_SATISFIED;
  if (!v[CLUSTER_KIND].given) return attach(cluster, run);
  const char *const *url = cluster_embedded(v[CLUSTER_KIND].text);
  if (url != NULL && v[CLUSTER_FAULTS].given) {
    message("--faults: %s has no servers that could be broken", v[CLUSTER_KIND].text);
    return EXIT_USAGE;
  }
  if (url != NULL) {
    run->urls = url;
    run->url_count = 1;
    return EXIT_SATISFIED;
  }
  isoproof_cluster_options servers = {.struct_size = sizeof servers,
                                      .kind = v[CLUSTER_KIND].text,
                                      .faults = cluster->how.faults,
                                      .server = v[CLUSTER_SERVER].given ? v[CLUSTER_SERVER].text : NULL};
  int code = cluster_start(&servers, quiet, &cluster->servers);
  if (code != EXIT_SATISFIED) return code;
  take_urls(cluster, run);
  return EXIT_SATISFIED;
}

static void forget_faults(run_cluster *cluster) {
  if (cluster->faults != NULL && isoproof_fault_injector_problem(cluster->faults)[0] != 0)
    message("a fault went wrong: %s", isoproof_fault_injector_problem(cluster->faults));
  isoproof_fault_injector_free(cluster->faults);
  cluster->faults = NULL;
}

int run_cluster_faults(run_cluster *cluster, uint64_t seed, isoproof_run_options *run) {
  forget_faults(cluster);
  if (cluster->how.faults == 0) return EXIT_SATISFIED;
  isoproof_error error = {.offset = -1};
  cluster->how.target = cluster->targets;
  cluster->how.seed = seed;
  isoproof_status status = isoproof_fault_injector_new(cluster->servers, &cluster->how, &cluster->faults, &error);
  run->companion = isoproof_fault_injector_companion;
  run->companion_user = cluster->faults;
  return status == ISOPROOF_OK ? EXIT_SATISFIED : failed(status, &error);
}

void run_cluster_stop(run_cluster *cluster) {
  forget_faults(cluster);
  isoproof_cluster_stop(cluster->servers);
  memset(cluster, 0, sizeof *cluster);
}

void run_cluster_summary(FILE *out, const run_cluster *cluster) {
  if (cluster->faults == NULL) return;
  bool some = false;
  for (size_t i = 0; i < ISOPROOF_FAULTS; i++) {
    uint64_t count = isoproof_fault_injector_count(cluster->faults, (isoproof_fault_kind)i);
    if (count == 0) continue;
    fprintf(out, "%s%s %" PRIu64, some ? ", " : "  faults: ", isoproof_fault_kind_at(i), count);
    some = true;
  }
  fputs(some ? "\n" : "  faults: none, the run was too short\n", out);
}

static void json_fault(isoproof_json *j, const isoproof_fault_record *record) {
  isoproof_json_object(j);
  isoproof_json_name(j, "fault");
  isoproof_json_string(j, isoproof_fault_kind_at(record->kind));
  isoproof_json_name(j, "node");
  if (record->node == ISOPROOF_ALL_NODES)
    isoproof_json_null(j);
  else
    isoproof_json_u64(j, record->node);
  isoproof_json_name(j, "begin");
  isoproof_json_i64(j, record->begin_ns);
  isoproof_json_name(j, "end");
  isoproof_json_i64(j, record->end_ns);
  if (record->detail[0] != 0) {
    isoproof_json_name(j, "detail");
    isoproof_json_string(j, record->detail);
  }
  if (record->problem[0] != 0) {
    isoproof_json_name(j, "problem");
    isoproof_json_string(j, record->problem);
  }
  isoproof_json_end(j);
}

void run_cluster_json(isoproof_json *j, const run_cluster *cluster) {
  isoproof_fault_record record = {.struct_size = sizeof record};
  if (cluster->faults == NULL) return;
  isoproof_json_name(j, "faults");
  isoproof_json_object(j);
  for (size_t i = 0; i < ISOPROOF_FAULTS; i++) {
    uint64_t count = isoproof_fault_injector_count(cluster->faults, (isoproof_fault_kind)i);
    if (count == 0) continue;
    isoproof_json_name(j, isoproof_fault_kind_at(i));
    isoproof_json_u64(j, count);
  }
  isoproof_json_end(j);
  isoproof_json_name(j, "fault_times");
  isoproof_json_list(j);
  for (size_t i = 0; isoproof_fault_injector_record_at(cluster->faults, i, &record); i++) json_fault(j, &record);
  isoproof_json_end(j);
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

/* What commands of the user's own printed, if there were some. */
static bool save_commands(const run_cluster *cluster, const char *folder) {
  const char *log = isoproof_cluster_command_log(cluster->servers);
  char *path = NULL;
  if (access(log, R_OK) != 0) return true;
  if (asprintf(&path, "%s/fault-command.log", folder) < 0) return false;
  bool good = copy_file(log, path);
  free(path);
  return good;
}

bool run_cluster_save_logs(const run_cluster *cluster, const char *folder) {
  if (cluster->servers == NULL) return true;
  bool good = save_commands(cluster, folder);
  for (size_t i = 0; !cluster->attached && i < isoproof_cluster_node_count(cluster->servers); i++) {
    char *path = NULL;
    if (asprintf(&path, "%s/node-%zu.log", folder, i) < 0) return false;
    good = copy_file(isoproof_cluster_log_at(cluster->servers, i), path) && good;
    free(path);
  }
  return good;
}
