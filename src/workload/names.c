/* names.c - the tables of workloads and presets: ids and defaults. */
#include <isoproof/workload.h>
#include <string.h>

#include "base/abi.h"

static const struct {
  const char *id;
  isoproof_workload_need needs;
  uint32_t keys, least, most;
  double reads, rmw;
  uint32_t writes, meet;
} workloads[ISOPROOF_WORKLOADS] = {
#define ISOPROOF_X(name, id, needs, keys, least, most, reads, rmw, writes, meet, text)                                 \
  {id, ISOPROOF_NEED_##needs, keys, least, most, reads, rmw, writes, meet},
    ISOPROOF_WORKLOAD_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

static const struct {
  const char *id;
  isoproof_workload_kind kind;
  uint32_t sessions, txns, least, most;
  double reads;
  uint32_t keys;
  isoproof_key_distribution distribution;
  double long_share;
  uint32_t long_ops;
} presets[ISOPROOF_PRESETS] = {
#define ISOPROOF_X(name, id, kind, sessions, txns, least, most, reads, keys, distribution, share, size)                \
  {id, ISOPROOF_WORKLOAD_##kind, sessions, txns, least, most, reads, keys, ISOPROOF_KEYS_##distribution, share, size},
    ISOPROOF_PRESET_LIST(ISOPROOF_X)
#undef ISOPROOF_X
};

static isoproof_workload_options defaults_of(isoproof_workload_kind kind) {
  if ((unsigned)kind >= ISOPROOF_WORKLOADS) kind = ISOPROOF_WORKLOAD_MIXED;
  bool zipf = kind == ISOPROOF_WORKLOAD_TWITTER;
  return (isoproof_workload_options){.struct_size = sizeof(isoproof_workload_options),
                                     .kind = kind,
                                     .seed = 1,
                                     .sessions = workloads[kind].meet > 0 ? workloads[kind].meet : 8,
                                     .ops_min = workloads[kind].least,
                                     .ops_max = workloads[kind].most,
                                     .read_share = workloads[kind].reads,
                                     .rmw_share = workloads[kind].rmw,
                                     .long_ops = 150,
                                     .keys = workloads[kind].keys,
                                     .distribution = zipf ? ISOPROOF_KEYS_ZIPF : ISOPROOF_KEYS_UNIFORM,
                                     .skew = 1,
                                     .hot_share = 0.8,
                                     .hot_keys_share = 0.2,
                                     .writes_per_key = workloads[kind].writes,
                                     .final_reads = workloads[kind].needs == ISOPROOF_NEED_LISTS,
                                     .jitter = -1};
}

bool isoproof_workload_defaults(isoproof_workload_kind kind, isoproof_workload_options *options) {
  isoproof_workload_options made = defaults_of(kind);
  return ISO_STRUCT_GIVE(options, made);
}

bool isoproof_workload_preset_defaults(isoproof_workload_preset preset, isoproof_workload_options *options) {
  if ((unsigned)preset >= ISOPROOF_PRESETS) preset = ISOPROOF_PRESET_POLYSI;
  isoproof_workload_options made = defaults_of(presets[preset].kind);
  made.sessions = presets[preset].sessions;
  made.txns = (uint64_t)presets[preset].sessions * presets[preset].txns;
  made.ops_min = presets[preset].least;
  made.ops_max = presets[preset].most;
  made.read_share = presets[preset].reads;
  made.keys = presets[preset].keys;
  made.distribution = presets[preset].distribution;
  made.long_share = presets[preset].long_share;
  if (presets[preset].long_ops > 0) made.long_ops = presets[preset].long_ops;
  return ISO_STRUCT_GIVE(options, made);
}

const char *isoproof_workload_at(size_t number) { return number < ISOPROOF_WORKLOADS ? workloads[number].id : NULL; }

const char *isoproof_workload_preset_at(size_t number) { return number < ISOPROOF_PRESETS ? presets[number].id : NULL; }

bool isoproof_workload_find(const char *id, isoproof_workload_kind *kind) {
  for (size_t i = 0; i < ISOPROOF_WORKLOADS; i++) {
    if (strcmp(id, workloads[i].id) != 0) continue;
    *kind = (isoproof_workload_kind)i;
    return true;
  }
  return false;
}

bool isoproof_workload_preset_find(const char *id, isoproof_workload_preset *preset) {
  for (size_t i = 0; i < ISOPROOF_PRESETS; i++) {
    if (strcmp(id, presets[i].id) != 0) continue;
    *preset = (isoproof_workload_preset)i;
    return true;
  }
  return false;
}

isoproof_workload_need isoproof_workload_needs(isoproof_workload_kind kind) {
  return (unsigned)kind < ISOPROOF_WORKLOADS ? workloads[kind].needs : ISOPROOF_NEED_REGISTERS;
}

bool isoproof_workload_meets(isoproof_workload_kind kind) {
  return (unsigned)kind < ISOPROOF_WORKLOADS && workloads[kind].meet > 0;
}
