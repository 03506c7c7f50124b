/* names.c - the tables of workloads and presets: ids and defaults. */
#include <isoproof/workload.h>
#include <string.h>

static const struct {
  const char *id;
  isolde_needs needs;
  uint32_t keys, least, most;
  double reads, rmw;
  uint32_t writes;
} workloads[ISOLDE_WORKLOADS] = {
#define ISOLDE_X(name, id, needs, keys, least, most, reads, rmw, writes, text)                                         \
  {id, ISOLDE_NEEDS_##needs, keys, least, most, reads, rmw, writes},
    ISOLDE_WORKLOAD_LIST(ISOLDE_X)
#undef ISOLDE_X
};

static const struct {
  const char *id;
  isolde_workload_kind kind;
  uint32_t sessions, txns, least, most;
  double reads;
  uint32_t keys;
  isolde_keys distribution;
  double long_share;
  uint32_t long_ops;
} presets[ISOLDE_PRESETS] = {
#define ISOLDE_X(name, id, kind, sessions, txns, least, most, reads, keys, distribution, share, size)                  \
  {id, ISOLDE_WORKLOAD_##kind, sessions, txns, least, most, reads, keys, ISOLDE_KEYS_##distribution, share, size},
    ISOLDE_PRESET_LIST(ISOLDE_X)
#undef ISOLDE_X
};

void isolde_workload_defaults(isolde_workload_kind kind, isolde_workload_options *options) {
  if ((unsigned)kind >= ISOLDE_WORKLOADS) kind = ISOLDE_WORKLOAD_MIXED;
  bool zipf = kind == ISOLDE_WORKLOAD_TWITTER;
  *options = (isolde_workload_options){.struct_size = sizeof *options,
                                       .kind = kind,
                                       .seed = 1,
                                       .sessions = 8,
                                       .ops_min = workloads[kind].least,
                                       .ops_max = workloads[kind].most,
                                       .read_share = workloads[kind].reads,
                                       .rmw_share = workloads[kind].rmw,
                                       .long_ops = 150,
                                       .keys = workloads[kind].keys,
                                       .distribution = zipf ? ISOLDE_KEYS_ZIPF : ISOLDE_KEYS_UNIFORM,
                                       .skew = 1,
                                       .hot_share = 0.8,
                                       .hot_keys_share = 0.2,
                                       .writes_per_key = workloads[kind].writes,
                                       .final_reads = workloads[kind].needs == ISOLDE_NEEDS_LISTS};
}

void isolde_preset_defaults(isolde_preset preset, isolde_workload_options *options) {
  if ((unsigned)preset >= ISOLDE_PRESETS) preset = ISOLDE_PRESET_POLYSI;
  isolde_workload_defaults(presets[preset].kind, options);
  options->sessions = presets[preset].sessions;
  options->txns = (uint64_t)presets[preset].sessions * presets[preset].txns;
  options->ops_min = presets[preset].least;
  options->ops_max = presets[preset].most;
  options->read_share = presets[preset].reads;
  options->keys = presets[preset].keys;
  options->distribution = presets[preset].distribution;
  options->long_share = presets[preset].long_share;
  if (presets[preset].long_ops > 0) options->long_ops = presets[preset].long_ops;
}

const char *isolde_workload_id(size_t number) { return number < ISOLDE_WORKLOADS ? workloads[number].id : NULL; }

const char *isolde_preset_id(size_t number) { return number < ISOLDE_PRESETS ? presets[number].id : NULL; }

bool isolde_workload_find(const char *id, isolde_workload_kind *kind) {
  for (size_t i = 0; i < ISOLDE_WORKLOADS; i++) {
    if (strcmp(id, workloads[i].id) != 0) continue;
    *kind = (isolde_workload_kind)i;
    return true;
  }
  return false;
}

bool isolde_preset_find(const char *id, isolde_preset *preset) {
  for (size_t i = 0; i < ISOLDE_PRESETS; i++) {
    if (strcmp(id, presets[i].id) != 0) continue;
    *preset = (isolde_preset)i;
    return true;
  }
  return false;
}

isolde_needs isolde_workload_needs(isolde_workload_kind kind) {
  return (unsigned)kind < ISOLDE_WORKLOADS ? workloads[kind].needs : ISOLDE_NEEDS_REGISTERS;
}
