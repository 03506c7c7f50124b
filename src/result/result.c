#include "result/result.h"

#include <stdlib.h>
#include <string.h>

#include "elle/elle_result.h"
#include "explain/witness.h"

const char *isoproof_verdict_name(isoproof_verdict verdict) {
  switch (verdict) {
  case ISOPROOF_VERDICT_NONE:
    return "none";
  case ISOPROOF_SATISFIED:
    return "satisfied";
  case ISOPROOF_VIOLATED:
    return "violated";
  case ISOPROOF_UNDECIDED:
    return "unknown";
  }
  return "unknown";
}

void isoproof_result_free(isoproof_result *result) {
  if (result == NULL) return;
  iso_findings_free(&result->findings);
  iso_verifier_free(&result->verifier);
  iso_prover_free(&result->prover);
  iso_strong_set_free(&result->strong);
  iso_certificates_free(&result->certificates);
  if (result->has_weak) iso_weak_free(&result->weak);
  iso_arena_free(&result->arena);
  free(result->levels);
  free(result->strongest);
  free(result->weakest_violated);
  free(result->shown);
  free(result->cache);
  iso_elle_result_free(result->elle);
  pthread_mutex_destroy(&result->lock);
  free(result);
}

isoproof_verdict isoproof_result_verdict(const isoproof_result *result) {
  bool asked = false, unknown = false;
  if (result->only_patterns && result->unknown_reason != NULL) return ISOPROOF_UNDECIDED;
  if (result->only_patterns) return result->shown_count > 0 ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED;
  for (size_t i = 0; i < result->level_count; i++) {
    if (!result->levels[i].asked) continue;
    asked = true;
    if (result->levels[i].verdict == ISOPROOF_VIOLATED) return ISOPROOF_VIOLATED;
    if (result->levels[i].verdict == ISOPROOF_UNDECIDED) unknown = true;
  }
  if (!asked) return ISOPROOF_VERDICT_NONE;
  return unknown ? ISOPROOF_UNDECIDED : ISOPROOF_SATISFIED;
}

const char *isoproof_result_unknown_reason(const isoproof_result *result) { return result->unknown_reason; }

size_t isoproof_result_levels(const isoproof_result *result) { return result->level_count; }

bool isoproof_result_level(const isoproof_result *result, size_t number, isoproof_level_verdict *out) {
  if (number >= result->level_count) return false;
  const struct iso_level_entry *entry = &result->levels[number];
  *out = (isoproof_level_verdict){entry->info->id, entry->verdict, entry->asked};
  return true;
}

isoproof_verdict isoproof_result_of(const isoproof_result *result, const char *level) {
  const isoproof_level_info *info = isoproof_level_find(level);
  for (size_t i = 0; info != NULL && i < result->level_count; i++) {
    if (result->levels[i].info == info) return result->levels[i].verdict;
  }
  return ISOPROOF_UNDECIDED;
}

static const char *name_at(const char *const *names, size_t number) {
  for (size_t i = 0; names[i] != NULL; i++) {
    if (i == number) return names[i];
  }
  return NULL;
}

const char *isoproof_result_strongest(const isoproof_result *result, size_t number) {
  return name_at(result->strongest, number);
}

const char *isoproof_result_weakest_violated(const isoproof_result *result, size_t number) {
  return name_at(result->weakest_violated, number);
}

const char *isoproof_result_unexplained(const isoproof_result *result) { return result->unexplained; }

size_t isoproof_result_anomalies(const isoproof_result *result) { return result->shown_count + result->told_count; }

/* The witness of a cycle, proved, checked by code that knows nothing of the search, and told. */
static bool make_cycle(isoproof_result *result, const iso_finding *finding, isoproof_anomaly *anomaly) {
  if (result->prover.weak == NULL && iso_prover_init(&result->prover, &result->weak, NULL) != ISOPROOF_OK) return false;
  iso_proof proof;
  bool good = iso_prove(&result->prover, finding, &proof) && iso_verify_proof(result->history, &proof) &&
              iso_proof_tell(result->history, &proof, &result->arena, anomaly, NULL) == ISOPROOF_OK;
  iso_proof_free(&proof);
  return good;
}

/* Makes the witness of a finding; NULL when it does not stand up to verification, or memory is out. */
static isoproof_anomaly *make_anomaly(isoproof_result *result, const iso_finding *finding) {
  const isoproof_anomaly_info *info = isoproof_anomaly_find(iso_tap_code((iso_tap)finding->tap));
  isoproof_anomaly *anomaly = iso_arena_alloc(&result->arena, 1, sizeof *anomaly);
  if (anomaly == NULL || info == NULL) return NULL;
  anomaly->code = info->code;
  anomaly->name = info->name;
  anomaly->level = info->level;
  anomaly->count = result->findings.keep_all ? 1 : result->findings.count[finding->tap];
  if (iso_tap_class_of((iso_tap)finding->tap) != ISO_CLASS_READ) {
    /* A commit order is that of the level it was forced by. */
    bool forced = finding->tap == ISO_TAP_I || finding->tap == ISO_TAP_L || finding->tap == ISO_TAP_N;
    if (forced) anomaly->level = iso_axiom_level((iso_axiom)finding->seen);
    return make_cycle(result, finding, anomaly) ? anomaly : NULL;
  }
  if (!iso_verify(&result->verifier, finding)) return NULL;
  isoproof_status status =
      iso_witness_make(result->history, result->history->resolution, finding, &result->arena, anomaly, NULL);
  return status == ISOPROOF_OK ? anomaly : NULL;
}

/* The witness of a level that was searched for, checked in the same way. */
static isoproof_anomaly *make_scenario(isoproof_result *result, size_t decision) {
  const iso_scenario *scenario = &result->strong.scenarios[decision];
  const isoproof_anomaly_info *info = isoproof_anomaly_at(iso_scenario_name(scenario));
  isoproof_anomaly *anomaly = iso_arena_alloc(&result->arena, 1, sizeof *anomaly);
  if (anomaly == NULL || info == NULL) return NULL;
  anomaly->code = info->code;
  anomaly->name = info->name;
  anomaly->level = result->strong.items[decision].level->id;
  anomaly->count = 1;
  bool good = iso_verify_scenario(result->history, result->weak.view.counts, scenario) &&
              iso_scenario_tell(result->history, scenario, &result->arena, anomaly, NULL) == ISOPROOF_OK;
  return good ? anomaly : NULL;
}

static isoproof_anomaly *make_numbered(isoproof_result *result, size_t number) {
  if (result->elle != NULL) return iso_elle_result_anomaly(result->elle, number, &result->arena);
  if (number < result->shown_count) return make_anomaly(result, &result->shown[number]);
  return make_scenario(result, result->told[number - result->shown_count]);
}

bool isoproof_result_anomaly(const isoproof_result *result, size_t number, isoproof_anomaly *out) {
  if (number >= isoproof_result_anomalies(result)) return false;
  /* The cache is no part of what the result says. */
  isoproof_result *inside = (isoproof_result *)(uintptr_t)result;
  pthread_mutex_lock(&inside->lock);
  if (inside->cache[number] == NULL) inside->cache[number] = make_numbered(inside, number);
  bool made = inside->cache[number] != NULL;
  if (made) *out = *inside->cache[number];
  pthread_mutex_unlock(&inside->lock);
  return made;
}
