/* Small histories judged by isoproof_check, and by the oracles that share nothing with it. */
#include "tests/distinguish/judge.h"

#include <string.h>

#include "level/method.h"
#include "tests/oracle/mixed.h"
#include "tests/oracle/oracle.h"

/* Whether a search for an order decides the level, so that satisfied and violated are both proved; Elle's way proves no
 * model that is not one of these. */
static bool is_decided(const isoproof_level_info *level) {
  return iso_level_method_of(level)->engine != ISO_ENGINE_ELLE;
}

iso_level_set judge_levels(void) {
  iso_level_set set = 0;
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if (is_decided(isoproof_level_at(l))) set |= ISO_LEVEL_BIT(l);
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
    set |= ISO_LEVEL_BIT(l);
  }
  return set;
}

/* ---- engines ---- */

static bool read_verdicts(const isoproof_result *result, iso_level_set *holds) {
  isoproof_level_verdict level = {.struct_size = sizeof level};
  for (size_t i = 0; isoproof_result_level_at(result, i, &level); i++) {
    if (level.verdict == ISOPROOF_UNDECIDED) return false;
    if (level.verdict == ISOPROOF_SATISFIED) *holds |= ISO_LEVEL_BIT(isoproof_level_find(level.level)->number);
  }
  return true;
}

bool judge_by_engines(const small_history *history, const small_frame *frame, iso_level_set *holds) {
  const char *asked[ISO_LEVEL_COUNT];
  iso_level_set levels = judge_asked(history, frame);
  isoproof_check_options options = {.struct_size = sizeof options, .levels = asked};
  for (unsigned l = 0; l < ISO_LEVEL_COUNT; l++) {
    if ((levels & ISO_LEVEL_BIT(l)) != 0) asked[options.level_count++] = isoproof_level_at(l)->id;
  }
  isoproof_history *built = small_build(history, frame);
  isoproof_result *result = NULL;
  *holds = 0;
  bool decided = built != NULL && isoproof_check(built, &options, NULL, &result, NULL) == ISOPROOF_OK &&
                 read_verdicts(result, holds);
  isoproof_result_free(result);
  isoproof_history_free(built);
  return decided;
}

/* ---- oracles ---- */

/* Linearizability is strict serializability of single operations (Herlihy and Wing 1990, theorem 1). */
static const char *oracle_name(unsigned level) {
  return level == ISO_LEVEL_LINEARIZABLE ? "strict-serializable" : isoproof_level_at(level)->id;
}

bool judge_by_oracles(const small_history *history, const small_frame *frame, iso_level_set *holds) {
  iso_level_set levels = judge_asked(history, frame);
  isoproof_history *built = small_build(history, frame);
  oracle_verdicts verdicts;
  bool unordered_si = false, unordered_ser = false, mixed = false;
  bool decided =
      built != NULL && oracle_judge(built, &verdicts) && oracle_judge_unordered(built, &unordered_si, &unordered_ser);
  if (decided && frame->labelled) decided = mixed_judge(built, &mixed);
  isoproof_history_free(built);
  *holds = 0;
  for (unsigned l = 0; decided && l < ISO_LEVEL_COUNT; l++) {
    oracle_level known = oracle_level_find(oracle_name(l));
    bool satisfied = l == ISO_LEVEL_M_PL_SI  ? unordered_si
                     : l == ISO_LEVEL_M_PL_3 ? unordered_ser
                     : l == ISO_LEVEL_MIXED  ? mixed
                                             : known != ORACLE_LEVELS && verdicts.satisfied[known];
    if (satisfied && (levels & ISO_LEVEL_BIT(l)) != 0) *holds |= ISO_LEVEL_BIT(l);
  }
  return decided;
}
