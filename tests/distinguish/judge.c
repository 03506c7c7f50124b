/* Small histories judged by isoproof_check, and by the oracles that share nothing with it. */
#include "tests/distinguish/judge.h"

#include <isoproof/distinguish.h>

#include "level/method.h"
#include "tests/oracle/elle_oracle.h"
#include "tests/oracle/mixed.h"
#include "tests/oracle/oracle.h"

/* Whether Elle's way alone decides it, from the orders that lists show. */
static bool is_inferred(unsigned level) {
  return iso_level_method_of(isoproof_level_at(level))->engine == ISO_ENGINE_ELLE;
}

iso_level_set judge_levels(void) {
  static iso_level_set set; /* always the same */
  if (set != 0) return set;
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if (isoproof_can_distinguish(isoproof_level_at(l))) set |= ISO_LEVEL_BIT(l);
  }
  return set;
}

iso_level_set judge_asked(const small_history *history, const small_frame *frame) {
  iso_level_set set = 0, levels = judge_levels();
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if ((levels & ISO_LEVEL_BIT(l)) == 0) continue;
    if (isoproof_level_at(l)->needs_times && !frame->timed) continue;
    if (l == ISO_LEVEL_MIXED && !frame->labelled) continue;
    if (l == ISO_LEVEL_LINEARIZABLE && !small_single(history)) continue;
    if (is_inferred(l) && !history->lists) continue;
    set |= ISO_LEVEL_BIT(l);
  }
  return set;
}

/* ---- engines ---- */

/* The ids of a set; how many there are. */
static size_t names_of(iso_level_set set, const char *names[ISO_LEVEL_COUNT]) {
  size_t count = 0;
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if ((set & ISO_LEVEL_BIT(l)) != 0) names[count++] = isoproof_level_at(l)->id;
  }
  return count;
}

/* Adds the verdicts on a set; false when the check failed. */
static bool check_set(isoproof_history *history, const isoproof_check_options *options, iso_level_set set,
                      judgement *out) {
  isoproof_result *result = NULL;
  if (isoproof_check(history, options, NULL, &result, NULL) != ISOPROOF_OK) return false;
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if ((set & ISO_LEVEL_BIT(l)) == 0) continue;
    isoproof_verdict verdict = isoproof_result_verdict_of(result, isoproof_level_at(l)->id);
    if (verdict != ISOPROOF_UNDECIDED) out->decided |= ISO_LEVEL_BIT(l);
    if (verdict == ISOPROOF_SATISFIED) out->holds |= ISO_LEVEL_BIT(l);
  }
  isoproof_result_free(result);
  return true;
}

static bool check_levels(isoproof_history *history, iso_level_set set, judgement *out) {
  const char *names[ISO_LEVEL_COUNT];
  isoproof_check_options options = {.struct_size = sizeof options, .levels = names};
  options.level_count = names_of(set, names);
  return check_set(history, &options, set, out) && out->decided == set;
}

static bool check_models(isoproof_history *history, iso_level_set set, judgement *out) {
  const char *names[ISO_LEVEL_COUNT];
  isoproof_check_options options = {.struct_size = sizeof options, .elle_workload = "list-append", .models = names};
  options.model_count = names_of(set, names);
  return set == 0 || check_set(history, &options, set, out);
}

/* Elle's way looks at real time only where it is asked for, and at sessions beside it only where it is not. */
static bool judge_models(isoproof_history *history, iso_level_set asked, judgement *out) {
  iso_level_set timed = 0, others = 0;
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if ((asked & ISO_LEVEL_BIT(l)) == 0 || isoproof_level_at(l)->family != ISOPROOF_LEVEL_MODEL) continue;
    *(isoproof_level_at(l)->needs_times ? &timed : &others) |= ISO_LEVEL_BIT(l);
  }
  return check_models(history, others, out) && check_models(history, timed, out);
}

bool judge_by_engines(const small_history *history, const small_frame *frame, judgement *out) {
  iso_level_set asked = judge_asked(history, frame), levels = asked;
  judgement inferred = {0, 0};
  *out = inferred;
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if (is_inferred(l)) levels &= ~ISO_LEVEL_BIT(l);
  }
  isoproof_history *built = small_build(history, frame);
  bool fine = built != NULL && check_levels(built, levels, out);
  if (fine && history->lists) fine = judge_models(built, asked, &inferred);
  isoproof_history_free(built);
  /* PL-SI and PL-3 are decided both ways. */
  iso_level_set both = out->decided & inferred.decided;
  fine = fine && ((out->holds ^ inferred.holds) & both) == 0;
  out->decided |= inferred.decided;
  out->holds |= inferred.holds;
  return fine;
}

/* ---- oracles ---- */

/* Linearizability is strict serializability of single operations (Herlihy and Wing 1990, on locality). */
static const char *oracle_name(unsigned level) {
  return level == ISO_LEVEL_LINEARIZABLE ? "strict-serializable" : isoproof_level_at(level)->id;
}

/* What the oracles say of levels, PL-SI and PL-3. */
static bool oracle_holds(isoproof_history *built, bool labelled, iso_level_set *holds) {
  oracle_verdicts verdicts;
  bool unordered_si = false, unordered_ser = false, mixed = false;
  if (!oracle_judge(built, &verdicts) || !oracle_judge_unordered(built, &unordered_si, &unordered_ser)) return false;
  if (labelled && !mixed_judge(built, &mixed)) return false;
  *holds = 0;
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    oracle_level known = oracle_level_find(oracle_name(l));
    bool satisfied = l == ISO_LEVEL_M_PL_SI  ? unordered_si
                     : l == ISO_LEVEL_M_PL_3 ? unordered_ser
                     : l == ISO_LEVEL_MIXED  ? mixed
                                             : known != ORACLE_LEVELS && verdicts.satisfied[known];
    if (satisfied) *holds |= ISO_LEVEL_BIT(l);
  }
  return true;
}

/* Models that were ruled out without reason, that were not ruled out, or that were proved and do not hold. */
static bool oracle_differs(isoproof_history *built, bool timed, const judgement *engines, iso_level_set models,
                           iso_level_set *differs) {
  elle_question question = {.lists = true, .realtime = timed};
  elle_bounds bounds;
  if (!elle_oracle_judge(built, &question, &bounds)) return false;
  iso_level_set violated = engines->decided & ~engines->holds;
  *differs |= models & ((violated & ~bounds.most) | (bounds.least & ~violated) | (engines->holds & bounds.most));
  return true;
}

iso_level_set judge_by_oracles(const small_history *history, const small_frame *frame, const judgement *engines) {
  iso_level_set asked = judge_asked(history, frame), holds = 0, differs = 0, models[2] = {0, 0}, inferred = 0;
  isoproof_history *built = small_build(history, frame);
  bool fine = built != NULL && oracle_holds(built, frame->labelled, &holds);
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if (!is_inferred(l) || (asked & ISO_LEVEL_BIT(l)) == 0) continue;
    models[isoproof_level_at(l)->needs_times] |= ISO_LEVEL_BIT(l);
    inferred |= ISO_LEVEL_BIT(l);
  }
  if (fine) differs = (holds ^ engines->holds) & asked & ~inferred;
  for (unsigned timed = 0; fine && timed < 2; timed++) {
    if (models[timed] != 0) fine = oracle_differs(built, timed == 1, engines, models[timed], &differs);
  }
  isoproof_history_free(built);
  return fine ? differs : asked;
}
