/* fault.c - faults beside a run: one after the other, until the run is to end. */
#include "cluster/fault.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/hash.h"
#include "base/vector.h"

#define STALL_INTERVAL 0.1
enum { DEFAULT_INTERVAL = 5, MOST_CLOCK = 600, MOST_RECORDS = 1500, FULL_VACUUM_EVERY = 4 };

typedef struct fault_row {
  const char *name, *meaning;
} fault_row;

static const fault_row rows[ISOPROOF_FAULTS] = {
#define ISOPROOF_X(c_name, id, text) {id, text},
    ISOPROOF_FAULT_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

const char *isoproof_fault_kind_at(size_t number) { return number < ISOPROOF_FAULTS ? rows[number].name : NULL; }
const char *isoproof_fault_kind_meaning(size_t number) {
  return number < ISOPROOF_FAULTS ? rows[number].meaning : NULL;
}

typedef struct record {
  isoproof_fault_kind kind;
  size_t node;
  int64_t begin, end;
  char detail[32], problem[200];
} record;

struct isoproof_fault_injector {
  isoproof_cluster *cluster;
  double interval, duration;
  isoproof_fault_kind kinds[ISOPROOF_FAULTS];
  size_t kind_count;
  size_t targets[ISOPROOF_CLUSTER_MOST_NODES];
  size_t target_count;
  uint64_t seed, drawn;
  char *command; /* of the user, owned; NULL none */
  _Atomic uint64_t counts[ISOPROOF_FAULTS];
  char problem[ISOPROOF_ERROR_MESSAGE_BYTES]; /* written by the companion only */
  ISO_VEC(record) records;                    /* likewise */
};

/* ---- options ---- */

static isoproof_status take_targets(isoproof_fault_injector *faults, const isoproof_fault_options *options,
                                    isoproof_error *error) {
  size_t nodes = faults->cluster->node_count;
  if (options->target == NULL || options->target_count == 0) {
    for (size_t i = 0; i < nodes; i++) faults->targets[faults->target_count++] = i;
    return ISOPROOF_OK;
  }
  for (size_t i = 0; i < options->target_count; i++) {
    if (options->target[i] >= nodes)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "fault targets: expected nodes 0 to %zu, found %zu", nodes - 1,
                      options->target[i]);
    if (faults->target_count < ISOPROOF_CLUSTER_MOST_NODES)
      faults->targets[faults->target_count++] = options->target[i];
  }
  return ISOPROOF_OK;
}

static isoproof_status take_command(isoproof_fault_injector *faults, const char *command, isoproof_error *error) {
  if (command == NULL || command[0] == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "faults: command needs a command, found none");
  faults->command = strdup(command);
  return faults->command != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status take_options(isoproof_fault_injector *faults, const isoproof_fault_options *given,
                                    isoproof_error *error) {
  isoproof_fault_options options = {0};
  ISO_TRY(ISO_OPTIONS_READ(isoproof_fault_options, &options, given, error));
  if (!(options.interval >= 0 && options.interval <= 1e6) || !(options.duration >= 0 && options.duration <= 1e6))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "interval and duration: expected 0 to 1e6 seconds, found %g and %g",
                    options.interval, options.duration);
  /* A stall disturbs so little that nothing has to recover from it. */
  double usual = options.faults == 1U << ISOPROOF_FAULT_STALL ? STALL_INTERVAL : DEFAULT_INTERVAL;
  faults->interval = options.interval > 0 ? options.interval : usual;
  faults->duration = options.duration > 0 ? options.duration : faults->cluster->type->fault_duration;
  faults->seed = options.seed;
  unsigned wanted = iso_fault_expand(faults->cluster, options.faults);
  if ((wanted & 1U << ISOPROOF_FAULT_COMMAND) != 0) ISO_TRY(take_command(faults, options.command, error));
  for (size_t i = 0; i < ISOPROOF_FAULTS; i++) {
    if ((wanted & 1U << i) == 0) continue;
    if ((faults->cluster->faults & 1U << i) == 0)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "faults: the cluster was not prepared for %s", rows[i].name);
    faults->kinds[faults->kind_count++] = (isoproof_fault_kind)i;
  }
  if (faults->kind_count == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "faults: expected at least one, found none");
  return take_targets(faults, &options, error);
}

isoproof_status isoproof_fault_injector_new(isoproof_cluster *cluster, const isoproof_fault_options *options,
                                            isoproof_fault_injector **out, isoproof_error *error) {
  isoproof_fault_injector *faults = iso_alloc_zero(1, sizeof *faults);
  *out = NULL;
  if (faults == NULL) return iso_fail_memory(error);
  faults->cluster = cluster;
  isoproof_status status = take_options(faults, options, error);
  if (status == ISOPROOF_OK)
    *out = faults;
  else
    isoproof_fault_injector_free(faults);
  return status;
}

void isoproof_fault_injector_free(isoproof_fault_injector *faults) {
  if (faults == NULL) return;
  iso_vec_free(&faults->records);
  free(faults->command);
  free(faults);
}

uint64_t isoproof_fault_injector_count(const isoproof_fault_injector *faults, isoproof_fault_kind kind) {
  return kind < ISOPROOF_FAULTS ? atomic_load(&faults->counts[kind]) : 0;
}

const char *isoproof_fault_injector_problem(const isoproof_fault_injector *faults) { return faults->problem; }

bool isoproof_fault_injector_record_at(const isoproof_fault_injector *faults, size_t number,
                                       isoproof_fault_record *out) {
  if (number >= faults->records.count) return false;
  const record *r = &faults->records.items[number];
  isoproof_fault_record made = {.struct_size = sizeof made,
                                .kind = r->kind,
                                .node = r->node,
                                .begin_ns = r->begin,
                                .end_ns = r->end,
                                .detail = r->detail,
                                .problem = r->problem};
  return ISO_STRUCT_GIVE(out, made);
}

/* ---- beside a run ---- */

static uint64_t draw(isoproof_fault_injector *faults, uint64_t below) {
  return iso_hash_u64(++faults->drawn * UINT64_C(0x9e3779b97f4a7c15), faults->seed) % below;
}

/* "kill node 1", "kill-all node all" */
static void name_fault(const iso_fault *fault, char text[64]) {
  if (fault->node == NULL)
    snprintf(text, 64, "%s node all", rows[fault->kind].name);
  else
    snprintf(text, 64, "%s node %zu", rows[fault->kind].name, fault->node->number);
}

static int64_t tell(const iso_fault *fault, const char *what, const char *details) {
  char text[400], name[64];
  name_fault(fault, name);
  snprintf(text, sizeof text, "fault %s %s%s%.300s", name, what, details[0] != 0 ? ": " : "", details);
  return isoproof_run_event(fault->run, text);
}

static void note_problem(isoproof_fault_injector *faults, const iso_fault *fault, const isoproof_error *error,
                         record *r) {
  tell(fault, "failed", error->message);
  if (r->problem[0] == 0) snprintf(r->problem, sizeof r->problem, "%.199s", error->message);
  if (faults->problem[0] != 0) return;
  if (fault->node == NULL)
    snprintf(faults->problem, sizeof faults->problem, "%s: %.400s", rows[fault->kind].name, error->message);
  else
    snprintf(faults->problem, sizeof faults->problem, "%s of node %zu: %.400s", rows[fault->kind].name,
             fault->node->number, error->message);
}

static int choose_scope(isoproof_fault_injector *faults, const iso_node *node, char words[32]) {
  static const char *const from[] = {"", "from clients", "from peers", "from clients and peers"};
  int scope = (int)draw(faults, 3) + 1, possible = iso_fault_scopes(faults->cluster, node);
  if ((scope & possible) != 0)
    scope &= possible;
  else
    scope = possible;
  snprintf(words, 32, "%s", from[scope & 3]);
  return scope;
}

/* How far the clock jumps, what the node is separated from, which maintenance is done; and that in words. */
static int choose_detail(isoproof_fault_injector *faults, const iso_fault *fault, char words[32]) {
  words[0] = 0;
  if (fault->kind == ISOPROOF_FAULT_CLOCK) {
    int clock = (int)draw(faults, 2 * MOST_CLOCK) - MOST_CLOCK;
    if (clock >= 0) clock++;
    snprintf(words, 32, "%+d s", clock);
    return clock;
  }
  if (fault->kind == ISOPROOF_FAULT_PARTITION) return choose_scope(faults, fault->node, words);
  /* Nodes of etcd find a new leader by themselves. */
  if (fault->kind == ISOPROOF_FAULT_PROMOTE && faults->cluster->kind == ISOPROOF_CLUSTER_ETCD) {
    snprintf(words, 32, "killed");
    return ISO_PROMOTE_KILLED;
  }
  if (fault->kind == ISOPROOF_FAULT_PROMOTE) {
    int how = (int)draw(faults, 2);
    snprintf(words, 32, "%s", how == ISO_PROMOTE_CUT_OFF ? "cut off, then killed" : "killed");
    return how;
  }
  if (!iso_fault_is_maintenance(fault->kind)) return 0;
  int choice = (int)draw(faults, FULL_VACUUM_EVERY);
  snprintf(words, 32, "%s", iso_maintenance_words(fault->kind, choice));
  return choice;
}

/* Which node is hit: a promotion and maintenance are matters of the primary. */
static iso_node *choose_node(isoproof_fault_injector *faults, isoproof_fault_kind kind) {
  isoproof_cluster *cluster = faults->cluster;
  size_t drawn = faults->targets[draw(faults, faults->target_count)];
  if (iso_fault_is_for_all(kind)) return NULL;
  bool of_primary =
      kind == ISOPROOF_FAULT_PROMOTE || (cluster->type == &iso_cluster_standby && iso_fault_is_maintenance(kind));
  if (of_primary && cluster->kind == ISOPROOF_CLUSTER_ETCD) cluster->primary = iso_etcd_leader(cluster);
  return &cluster->nodes[of_primary ? cluster->primary : drawn];
}

/* One fault from its beginning to its end; it is undone even when the run is to end meanwhile. */
static void one_fault(isoproof_fault_injector *faults, isoproof_run_handle *run, isoproof_fault_kind kind) {
  iso_fault fault = {.kind = kind, .node = choose_node(faults, kind), .run = run, .command = faults->command};
  isoproof_error error = {.offset = -1};
  record r = {.kind = kind, .node = fault.node != NULL ? fault.node->number : ISOPROOF_ALL_NODES, .end = -1};
  fault.detail = choose_detail(faults, &fault, r.detail);
  /* Told before it is done: it must not seem to come after its effects. */
  r.begin = tell(&fault, "begin", r.detail);
  atomic_fetch_add(&faults->counts[kind], 1);
  if (iso_fault_begin(faults->cluster, &fault, &error) != ISOPROOF_OK) note_problem(faults, &fault, &error, &r);
  /* Maintenance is over when it is done; an index stays for a while. */
  if (!iso_fault_is_maintenance(kind) || kind == ISOPROOF_FAULT_INDEX) (void)isoproof_run_wait(run, faults->duration);
  if (iso_fault_end(faults->cluster, &fault, &error) != ISOPROOF_OK) note_problem(faults, &fault, &error, &r);
  r.end = tell(&fault, "end", "");
  /* Without memory for it, it is missing from the records only: the history has it. */
  if (faults->records.count < MOST_RECORDS) (void)iso_vec_push(&faults->records, r);
}

void isoproof_fault_injector_companion(isoproof_run_handle *run, void *user) {
  isoproof_fault_injector *faults = user;
  size_t next = (size_t)draw(faults, faults->kind_count);
  while (isoproof_run_wait(run, faults->interval)) {
    one_fault(faults, run, faults->kinds[next]);
    next = (next + 1) % faults->kind_count;
  }
}
