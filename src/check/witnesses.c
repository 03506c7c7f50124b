/* From what the engines found to witnesses: proved where that is left to do, judged, and told. */
#include <stdlib.h>

#include "check/level_check.h"
#include "explain/proof.h"
#include "explain/row_names.h"
#include "explain/scenario.h"
#include "explain/witness.h"
#include "verify/proof.h"
#include "verify/scenario.h"

isoproof_status iso_level_check_new(isoproof_history *history, iso_level_check **check, isoproof_error *error) {
  iso_level_check *made = calloc(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->history = history;
  iso_verifier_init(&made->verifier, history);
  *check = made;
  return ISOPROOF_OK;
}

void iso_level_check_free(iso_level_check *check) {
  iso_findings_free(&check->findings);
  iso_verifier_free(&check->verifier);
  iso_prover_free(&check->prover);
  for (size_t i = 0; i < check->told_count; i++) iso_occurrences_free(&check->occurrences[i]);
  iso_strong_set_free(&check->strong);
  if (check->has_weak) iso_weak_free(&check->weak);
  free(check->shown);
  free(check->model_shown);
  for (size_t i = 0; i < check->model_count; i++) isoproof_result_free(check->models[i]);
  free(check);
}

isoproof_status iso_level_check_need_prover(iso_level_check *check, isoproof_error *error) {
  if (check->prover.weak != NULL) return ISOPROOF_OK;
  return iso_prover_init(&check->prover, &check->weak, error);
}

/* Gives an anomaly its name.  Where that is one of rows, the number is that of the pattern: at least this one has it.
 */
static void name_it(isoproof_anomaly *anomaly, const isoproof_anomaly_info *plain, iso_anomaly name) {
  const isoproof_anomaly_info *info = isoproof_anomaly_at(name);
  anomaly->code = info->code;
  anomaly->name = info->name;
  if (info == plain || anomaly->count <= 1) return;
  anomaly->count = 1;
  anomaly->count_is = ISOPROOF_COUNT_AT_LEAST;
}

/* The witness of a cycle, proved, checked by code that knows nothing of the search, and told. */
static bool make_cycle(iso_level_check *check, const iso_finding *finding, const isoproof_anomaly_info *plain,
                       iso_arena *arena, isoproof_anomaly *anomaly) {
  if (iso_level_check_need_prover(check, NULL) != ISOPROOF_OK) return false;
  iso_proof proof;
  bool good = iso_prove(&check->prover, finding, &proof) && iso_verify_proof(check->history, &proof) &&
              iso_explain_proof(check->history, &proof, arena, anomaly, NULL) == ISOPROOF_OK;
  if (good) name_it(anomaly, plain, iso_row_name_of_proof(check->history, &proof, (iso_anomaly)plain->number));
  iso_proof_free(&proof);
  return good;
}

/* Cycles are counted by the components of transactions that they lie in, of which each has one at least. */
static void count_finding(const iso_level_check *check, const iso_tap_info *tap, isoproof_anomaly *anomaly,
                          uint64_t count) {
  bool all = check->findings.keep_all;
  anomaly->count = all ? 1 : check->uncounted ? 0 : count;
  anomaly->count_is = all                             ? ISOPROOF_COUNT_EXACT
                      : check->uncounted              ? ISOPROOF_COUNT_UNKNOWN
                      : tap->class == ISO_CLASS_CYCLE ? ISOPROOF_COUNT_AT_LEAST
                                                      : ISOPROOF_COUNT_EXACT;
}

/* Makes the witness of a finding; NULL when it does not stand up to verification, or memory is out. */
static isoproof_anomaly *make_anomaly(iso_level_check *check, const iso_finding *finding, iso_arena *arena) {
  const iso_tap_info *tap = iso_tap_of((iso_tap)finding->tap);
  const isoproof_anomaly_info *info = isoproof_anomaly_find(tap->code);
  isoproof_anomaly *anomaly = iso_arena_alloc(arena, 1, sizeof *anomaly);
  if (anomaly == NULL || info == NULL) return NULL;
  anomaly->struct_size = sizeof *anomaly;
  anomaly->code = info->code;
  anomaly->name = info->name;
  anomaly->level = info->level;
  count_finding(check, tap, anomaly, check->findings.count[finding->tap]);
  /* A commit order is that of the level it was forced by. */
  if (tap->form == ISO_FORM_CM) anomaly->level = iso_axiom_level((iso_axiom)finding->seen)->id;
  if (!iso_tap_is_of_reads((iso_tap)finding->tap)) {
    return make_cycle(check, finding, info, arena, anomaly) ? anomaly : NULL;
  }
  if (!iso_verify(&check->verifier, finding)) return NULL;
  name_it(anomaly, info, iso_row_name_of_finding(check->history, finding, (iso_anomaly)info->number));
  isoproof_status status =
      iso_explain_finding(check->history, check->history->resolution, finding, arena, anomaly, NULL);
  return status == ISOPROOF_OK ? anomaly : NULL;
}

/* The witness of a level that was searched for, checked in the same way. */
static isoproof_anomaly *make_scenario(iso_level_check *check, const iso_scenario *scenario, iso_arena *arena) {
  const isoproof_anomaly_info *info = isoproof_anomaly_at(iso_scenario_name(check->history, scenario));
  isoproof_anomaly *anomaly = iso_arena_alloc(arena, 1, sizeof *anomaly);
  if (anomaly == NULL || info == NULL) return NULL;
  anomaly->struct_size = sizeof *anomaly;
  anomaly->code = info->code;
  anomaly->name = info->name;
  anomaly->level = scenario->level->id;
  bool good = iso_verify_scenario(check->history, check->weak.view.counts, scenario) &&
              iso_explain_scenario(check->history, scenario, arena, anomaly, NULL) == ISOPROOF_OK;
  return good ? anomaly : NULL;
}

/* The scenario that is told, with the number of its kind. */
static isoproof_anomaly *make_told(iso_level_check *check, size_t told, iso_arena *arena) {
  isoproof_anomaly *anomaly = make_scenario(check, &check->strong.scenarios[check->told[told]], arena);
  if (anomaly == NULL) return NULL;
  bool one = check->findings.keep_all;
  anomaly->count = one ? 1 : check->occurrences[told].count;
  anomaly->count_is = one ? ISOPROOF_COUNT_EXACT : check->occurrences[told].kind;
  return anomaly;
}

/* One of its kind, as an anomaly of its own. */
static isoproof_anomaly *make_occurrence(iso_level_check *check, size_t told, size_t number, iso_arena *arena) {
  const iso_occurrences *all = &check->occurrences[told];
  const iso_strong_level *level = check->strong.items[check->told[told]].level;
  iso_scenario scenario;
  isoproof_anomaly *anomaly = NULL;
  if (!iso_occurrence_scenario(&check->weak.view, &check->weak.versions, level, all->anomaly, &all->list.items[number],
                               &scenario))
    return NULL;
  if (iso_scenario_name(check->history, &scenario) == all->anomaly) anomaly = make_scenario(check, &scenario, arena);
  iso_scenario_free(&scenario);
  if (anomaly == NULL) return NULL;
  anomaly->count = 1;
  anomaly->count_is = ISOPROOF_COUNT_EXACT;
  return anomaly;
}

size_t iso_level_check_told(const iso_level_check *check, size_t told) {
  size_t kept = check->occurrences[told].list.count;
  return kept > 0 ? kept : 1;
}

/* What Elle's way found, which verified it. */
static isoproof_anomaly *take_anomaly(const iso_level_check *check, size_t number, iso_arena *arena) {
  isoproof_anomaly *anomaly = iso_arena_alloc(arena, 1, sizeof *anomaly);
  if (anomaly == NULL) return NULL;
  anomaly->struct_size = sizeof *anomaly;
  const iso_model_anomaly *shown = &check->model_shown[number];
  return isoproof_result_anomaly_at(shown->result, shown->number, anomaly) ? anomaly : NULL;
}

static isoproof_anomaly *anomaly_of(void *state, size_t number, iso_arena *arena) {
  iso_level_check *check = state;
  if (number < check->shown_count) return make_anomaly(check, &check->shown[number], arena);
  size_t told = 0, place = number - check->shown_count;
  while (told < check->told_count && place >= iso_level_check_told(check, told)) {
    place -= iso_level_check_told(check, told++);
  }
  if (told == check->told_count) return place < check->model_shown_count ? take_anomaly(check, place, arena) : NULL;
  bool each = check->occurrences[told].list.count > 0;
  return each ? make_occurrence(check, told, place, arena) : make_told(check, told, arena);
}

static void free_state(void *state) { iso_level_check_free(state); }

const iso_result_engine iso_level_engine = {.anomaly = anomaly_of, .free = free_state};
