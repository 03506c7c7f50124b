/* The table of anomalies, which of them count as which, and which models they rule out. */
#include "level/anomalies.h"

#include "level/examples.h"

#include <string.h>

#define NAMES(...)                                                                                                     \
  (const char *const[]) { __VA_ARGS__, NULL }
#define NO_NAMES                                                                                                       \
  (const char *const[]) { NULL }

static const isoproof_anomaly_info anomalies[ISO_ANOMALY_COUNT] = {
#define ANOMALY(symbol, code_, kind_, name_, aliases_, level_, example_, satisfies_, meaning_)                         \
  [ISO_ANOMALY_##symbol] = {.number = ISO_ANOMALY_##symbol,                                                            \
                            .code = code_,                                                                             \
                            .name = name_,                                                                             \
                            .meaning = meaning_,                                                                       \
                            .level = level_,                                                                           \
                            .example = iso_example_##example_,                                                         \
                            .walkthrough = iso_walkthrough_##example_,                                                 \
                            .kind = ISOPROOF_ANOMALY_##kind_,                                                          \
                            .aliases = aliases_,                                                                       \
                            .satisfies = satisfies_},
#include "level/anomalies.def"
#undef ANOMALY
};

typedef struct iso_model_rule {
  uint8_t from, to;
} iso_model_rule;

/* From an anomaly to the anomalies that it counts as. */
static const iso_model_rule implications[] = {
#define IMPLIES(anomaly, other) {ISO_ANOMALY_##anomaly, ISO_ANOMALY_##other},
#define FORBIDS(model, anomaly)
#include "level/forbids.def"
#undef IMPLIES
#undef FORBIDS
};

/* From a model to what it forbids. */
static const iso_model_rule prohibitions[] = {
#define IMPLIES(anomaly, other)
#define FORBIDS(model, anomaly) {ISO_LEVEL_##model, ISO_ANOMALY_##anomaly},
#include "level/forbids.def"
#undef IMPLIES
#undef FORBIDS
};

enum {
  IMPLICATIONS = sizeof implications / sizeof implications[0],
  PROHIBITIONS = sizeof prohibitions / sizeof prohibitions[0]
};
_Static_assert(ISO_ANOMALY_COUNT <= 256, "a rule holds the number of an anomaly in a byte");

const isoproof_anomaly_info *isoproof_anomaly_at(size_t number) {
  return number < ISO_ANOMALY_COUNT ? &anomalies[number] : NULL;
}

static bool has_alias(const isoproof_anomaly_info *anomaly, const char *name) {
  for (const char *const *alias = anomaly->aliases; *alias != NULL; alias++) {
    if (iso_level_same_name(*alias, name)) return true;
  }
  return false;
}

const isoproof_anomaly_info *isoproof_anomaly_find(const char *name) {
  if (name == NULL) return NULL;
  for (size_t i = 0; i < ISO_ANOMALY_COUNT; i++) {
    if (iso_level_same_name(anomalies[i].code, name)) return &anomalies[i];
  }
  for (size_t i = 0; i < ISO_ANOMALY_COUNT; i++) {
    if (iso_level_same_name(anomalies[i].name, name) || has_alias(&anomalies[i], name)) return &anomalies[i];
  }
  return NULL;
}

/* Marks everything that `anomaly` counts as. */
static void mark_implied(iso_anomaly anomaly, bool seen[ISO_ANOMALY_COUNT]) {
  uint8_t queue[ISO_ANOMALY_COUNT];
  size_t head = 0, tail = 0;
  memset(seen, 0, ISO_ANOMALY_COUNT * sizeof seen[0]);
  seen[anomaly] = true;
  queue[tail++] = (uint8_t)anomaly;
  while (head < tail) {
    uint8_t at = queue[head++];
    for (size_t i = 0; i < IMPLICATIONS; i++) {
      if (implications[i].from != at || seen[implications[i].to]) continue;
      seen[implications[i].to] = true;
      queue[tail++] = implications[i].to; /* once an anomaly, so it fits */
    }
  }
}

bool iso_anomaly_is(iso_anomaly anomaly, iso_anomaly other) {
  bool seen[ISO_ANOMALY_COUNT];
  mark_implied(anomaly, seen);
  return seen[other];
}

bool iso_model_forbids(iso_level model, iso_anomaly anomaly) {
  for (size_t i = 0; i < PROHIBITIONS; i++) {
    if (prohibitions[i].from == (uint8_t)model && prohibitions[i].to == (uint8_t)anomaly) return true;
  }
  return false;
}

bool iso_model_forbids_some(iso_level model) {
  iso_level_set implied = iso_level_implied(model);
  for (size_t i = 0; i < PROHIBITIONS; i++) {
    if ((implied & ISO_LEVEL_BIT(prohibitions[i].from)) != 0) return true;
  }
  return false;
}

/* The levels are a family of their own; only models are ruled out by rule. */
static iso_level_set only_models(iso_level_set set) {
  iso_level_set models = 0;
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    if (isoproof_level_at(i)->family == ISOPROOF_LEVEL_MODEL) models |= ISO_LEVEL_BIT(i);
  }
  return set & models;
}

iso_level_set iso_anomaly_rules_out(iso_anomaly anomaly) {
  bool seen[ISO_ANOMALY_COUNT];
  iso_level_set direct = 0;
  mark_implied(anomaly, seen);
  for (size_t i = 0; i < PROHIBITIONS; i++) {
    if (seen[prohibitions[i].to]) direct |= ISO_LEVEL_BIT(prohibitions[i].from);
  }
  return only_models(iso_level_implying(direct));
}

bool iso_anomaly_breaks_model(const char *code, const isoproof_level_info *model) {
  const isoproof_anomaly_info *info = isoproof_anomaly_find(code);
  if (info == NULL || model == NULL) return false;
  return (iso_anomaly_rules_out((iso_anomaly)info->number) & ISO_LEVEL_BIT(model->number)) != 0;
}

const isoproof_level_info *isoproof_anomaly_rules_out_at(const isoproof_anomaly_info *anomaly, size_t number) {
  if (anomaly == NULL || anomaly->number >= ISO_ANOMALY_COUNT) return NULL;
  iso_level_set weakest = iso_level_weakest(iso_anomaly_rules_out((iso_anomaly)anomaly->number));
  for (unsigned i = 0; i < ISO_LEVEL_COUNT; i++) {
    if ((weakest & ISO_LEVEL_BIT(i)) == 0) continue;
    if (number-- == 0) return isoproof_level_at(i);
  }
  return NULL;
}

const isoproof_anomaly_info *isoproof_anomaly_counts_as_at(const isoproof_anomaly_info *anomaly, size_t number) {
  if (anomaly == NULL) return NULL;
  for (size_t i = 0; i < IMPLICATIONS; i++) {
    if (implications[i].from != anomaly->number) continue;
    if (number-- == 0) return &anomalies[implications[i].to];
  }
  return NULL;
}
