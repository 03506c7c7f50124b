/* fault.c - faults beside a run: one after the other, until the run is to end. */
#include "run/fault.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"

enum { DEFAULT_INTERVAL = 5, MOST_CLOCK = 600, MOST_RECORDS = 1500 };

typedef struct fault_row {
  const char *name, *meaning;
} fault_row;

static const fault_row rows[ISOLDE_FAULTS] = {
#define ISOLDE_X(c_name, id, text) {id, text},
    ISOLDE_FAULT_LIST(ISOLDE_X)
#undef ISOLDE_X
};

const char *isolde_fault_name(size_t number) { return number < ISOLDE_FAULTS ? rows[number].name : NULL; }
const char *isolde_fault_meaning(size_t number) { return number < ISOLDE_FAULTS ? rows[number].meaning : NULL; }

typedef struct record {
  isolde_fault kind;
  size_t node;
  int64_t begin, end;
  char detail[32], problem[200];
} record;

struct isolde_faults {
  isolde_cluster *cluster;
  double interval, duration;
  isolde_fault kinds[ISOLDE_FAULTS];
  size_t kind_count;
  size_t targets[ISOLDE_CLUSTER_MOST_NODES];
  size_t target_count;
  uint64_t seed, drawn;
  _Atomic uint64_t counts[ISOLDE_FAULTS];
  char problem[ISOLDE_ERROR_MESSAGE_BYTES]; /* written by the companion only */
  ISO_VEC(record) records;                  /* likewise */
};

/* ---- options ---- */

static isolde_status take_targets(isolde_faults *faults, const isolde_fault_options *options, isolde_error *error) {
  size_t nodes = faults->cluster->node_count;
  if (options->target == NULL || options->target_count == 0) {
    for (size_t i = 0; i < nodes; i++) faults->targets[faults->target_count++] = i;
    return ISOLDE_OK;
  }
  for (size_t i = 0; i < options->target_count; i++) {
    if (options->target[i] >= nodes)
      return iso_fail(error, ISOLDE_ERR_USAGE, "fault targets: expected nodes 0 to %zu, found %zu", nodes - 1,
                      options->target[i]);
    if (faults->target_count < ISOLDE_CLUSTER_MOST_NODES) faults->targets[faults->target_count++] = options->target[i];
  }
  return ISOLDE_OK;
}

static isolde_status take_options(isolde_faults *faults, const isolde_fault_options *given, isolde_error *error) {
  isolde_fault_options options = {.struct_size = sizeof options};
  size_t size = given->struct_size < sizeof options ? given->struct_size : sizeof options;
  if (size < sizeof given->struct_size)
    return iso_fail(error, ISOLDE_ERR_USAGE, "struct_size: expected sizeof(isolde_fault_options), found %zu",
                    given->struct_size);
  memcpy(&options, given, size);
  if (!(options.interval >= 0 && options.interval <= 1e6) || !(options.duration >= 0 && options.duration <= 1e6))
    return iso_fail(error, ISOLDE_ERR_USAGE, "interval and duration: expected 0 to 1e6 seconds, found %g and %g",
                    options.interval, options.duration);
  faults->interval = options.interval > 0 ? options.interval : DEFAULT_INTERVAL;
  faults->duration = options.duration > 0 ? options.duration : faults->cluster->type->fault_duration;
  faults->seed = options.seed;
  for (size_t i = 0; i < ISOLDE_FAULTS; i++) {
    if ((options.faults & 1U << i) == 0) continue;
    if ((faults->cluster->faults & 1U << i) == 0)
      return iso_fail(error, ISOLDE_ERR_USAGE, "faults: the cluster was not prepared for %s", rows[i].name);
    faults->kinds[faults->kind_count++] = (isolde_fault)i;
  }
  if (faults->kind_count == 0) return iso_fail(error, ISOLDE_ERR_USAGE, "faults: expected at least one, found none");
  return take_targets(faults, &options, error);
}

isolde_status isolde_faults_new(isolde_cluster *cluster, const isolde_fault_options *options, isolde_faults **out,
                                isolde_error *error) {
  isolde_faults *faults = iso_alloc_zero(1, sizeof *faults);
  *out = NULL;
  if (faults == NULL) return iso_fail_memory(error);
  faults->cluster = cluster;
  isolde_status status = take_options(faults, options, error);
  if (status == ISOLDE_OK)
    *out = faults;
  else
    free(faults);
  return status;
}

void isolde_faults_free(isolde_faults *faults) {
  if (faults == NULL) return;
  iso_vec_free(&faults->records);
  free(faults);
}

uint64_t isolde_faults_count(const isolde_faults *faults, isolde_fault kind) {
  return kind < ISOLDE_FAULTS ? atomic_load(&faults->counts[kind]) : 0;
}

const char *isolde_faults_problem(const isolde_faults *faults) { return faults->problem; }

bool isolde_faults_at(const isolde_faults *faults, size_t number, isolde_fault_record *out) {
  if (number >= faults->records.count) return false;
  const record *r = &faults->records.items[number];
  *out = (isolde_fault_record){.kind = r->kind,
                               .node = r->node,
                               .begin_ns = r->begin,
                               .end_ns = r->end,
                               .detail = r->detail,
                               .problem = r->problem};
  return true;
}

/* ---- beside a run ---- */

static uint64_t draw(isolde_faults *faults, uint64_t below) {
  return iso_hash_u64(++faults->drawn * UINT64_C(0x9e3779b97f4a7c15), faults->seed) % below;
}

static int64_t tell(isolde_run_handle *run, isolde_fault kind, const iso_node *node, const char *what,
                    const char *details) {
  char text[400];
  snprintf(text, sizeof text, "fault %s node %zu %s%s%.300s", rows[kind].name, node->number, what,
           details[0] != 0 ? ": " : "", details);
  return isolde_run_event(run, text);
}

static void note_problem(isolde_faults *faults, isolde_run_handle *run, isolde_fault kind, const iso_node *node,
                         const isolde_error *error, record *r) {
  tell(run, kind, node, "failed", error->message);
  if (r->problem[0] == 0) snprintf(r->problem, sizeof r->problem, "%.199s", error->message);
  if (faults->problem[0] == 0)
    snprintf(faults->problem, sizeof faults->problem, "%s of node %zu: %.400s", rows[kind].name, node->number,
             error->message);
}

/* How far the clock jumps, or what the node is separated from; and that in words. */
static int choose_detail(isolde_faults *faults, const iso_node *node, isolde_fault kind, char words[32]) {
  words[0] = 0;
  if (kind == ISOLDE_FAULT_CLOCK) {
    int clock = (int)draw(faults, 2 * MOST_CLOCK) - MOST_CLOCK;
    if (clock >= 0) clock++;
    snprintf(words, 32, "%+d s", clock);
    return clock;
  }
  if (kind != ISOLDE_FAULT_PARTITION) return 0;
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
static void one_fault(isolde_faults *faults, isolde_run_handle *run, isolde_fault kind) {
  const iso_node *node = &faults->cluster->nodes[faults->targets[draw(faults, faults->target_count)]];
  isolde_error error = {.offset = -1};
  record r = {.kind = kind, .node = node->number, .end = -1};
  int detail = choose_detail(faults, node, kind, r.detail);
  /* Told before it is done: it must not seem to come after its effects. */
  r.begin = tell(run, kind, node, "begin", r.detail);
  atomic_fetch_add(&faults->counts[kind], 1);
  if (iso_fault_begin(faults->cluster, node, kind, detail, &error) != ISOLDE_OK)
    note_problem(faults, run, kind, node, &error, &r);
  (void)isolde_run_wait(run, faults->duration);
  if (iso_fault_end(faults->cluster, node, kind, detail, &error) != ISOLDE_OK)
    note_problem(faults, run, kind, node, &error, &r);
  r.end = tell(run, kind, node, "end", "");
  /* Without memory for it, it is missing from the records only: the history has it. */
  if (faults->records.count < MOST_RECORDS) (void)iso_vec_push(&faults->records, r);
}

void isolde_faults_companion(isolde_run_handle *run, void *user) {
  isolde_faults *faults = user;
  size_t next = (size_t)draw(faults, faults->kind_count);
  while (isolde_run_wait(run, faults->interval)) {
    one_fault(faults, run, faults->kinds[next]);
    next = (next + 1) % faults->kind_count;
  }
}
