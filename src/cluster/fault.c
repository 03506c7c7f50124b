/* fault.c - faults beside a run: one after the other, until the run is to end. */
#include "cluster/fault.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/hash.h"
#include "base/vector.h"

#define STALL_INTERVAL 0.1
enum { DEFAULT_INTERVAL = 5, MOST_CLOCK = 600, MOST_RECORDS = 1500 };

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
  for (size_t i = 0; i < ISOPROOF_FAULTS; i++) {
    if ((options.faults & 1U << i) == 0) continue;
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
    free(faults);
  return status;
}

void isoproof_fault_injector_free(isoproof_fault_injector *faults) {
  if (faults == NULL) return;
  iso_vec_free(&faults->records);
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

static int64_t tell(isoproof_run_handle *run, isoproof_fault_kind kind, const iso_node *node, const char *what,
                    const char *details) {
  char text[400];
  snprintf(text, sizeof text, "fault %s node %zu %s%s%.300s", rows[kind].name, node->number, what,
           details[0] != 0 ? ": " : "", details);
  return isoproof_run_event(run, text);
}

static void note_problem(isoproof_fault_injector *faults, isoproof_run_handle *run, isoproof_fault_kind kind,
                         const iso_node *node, const isoproof_error *error, record *r) {
  tell(run, kind, node, "failed", error->message);
  if (r->problem[0] == 0) snprintf(r->problem, sizeof r->problem, "%.199s", error->message);
  if (faults->problem[0] == 0)
    snprintf(faults->problem, sizeof faults->problem, "%s of node %zu: %.400s", rows[kind].name, node->number,
             error->message);
}

/* How far the clock jumps, or what the node is separated from; and that in words. */
static int choose_detail(isoproof_fault_injector *faults, const iso_node *node, isoproof_fault_kind kind,
                         char words[32]) {
  words[0] = 0;
  if (kind == ISOPROOF_FAULT_CLOCK) {
    int clock = (int)draw(faults, 2 * MOST_CLOCK) - MOST_CLOCK;
    if (clock >= 0) clock++;
    snprintf(words, 32, "%+d s", clock);
    return clock;
  }
  if (kind != ISOPROOF_FAULT_PARTITION) return 0;
  static const char *const from[] = {"", "from clients", "from peers", "from clients and peers"};
  int scope = (int)draw(faults, 3) + 1, possible = iso_fault_scopes(faults->cluster, node);
  if ((scope & possible) != 0)
    scope &= possible;
  else
    scope = possible;
  snprintf(words, 32, "%s", from[scope & 3]);
  return scope;
}

/* One fault from its beginning to its end; it is undone even when the run is to end meanwhile. */
static void one_fault(isoproof_fault_injector *faults, isoproof_run_handle *run, isoproof_fault_kind kind) {
  const iso_node *node = &faults->cluster->nodes[faults->targets[draw(faults, faults->target_count)]];
  isoproof_error error = {.offset = -1};
  record r = {.kind = kind, .node = node->number, .end = -1};
  int detail = choose_detail(faults, node, kind, r.detail);
  /* Told before it is done: it must not seem to come after its effects. */
  r.begin = tell(run, kind, node, "begin", r.detail);
  atomic_fetch_add(&faults->counts[kind], 1);
  if (iso_fault_begin(faults->cluster, node, kind, detail, &error) != ISOPROOF_OK)
    note_problem(faults, run, kind, node, &error, &r);
  (void)isoproof_run_wait(run, faults->duration);
  if (iso_fault_end(faults->cluster, node, kind, detail, &error) != ISOPROOF_OK)
    note_problem(faults, run, kind, node, &error, &r);
  r.end = tell(run, kind, node, "end", "");
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
