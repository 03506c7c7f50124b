/* expectation.c - what is expected of an isolation level, and whether a level allows what happened. */
#include <isoproof/level.h>
#include <string.h>

#include "coo/matrix.h"

isoproof_status iso_coo_expect(iso_arena *arena, const iso_isolation *isolation, const char *expect,
                               iso_coo_claim *claim, isoproof_error *error) {
  *claim = (iso_coo_claim){.note = ""};
  if (expect != NULL) {
    const isoproof_level_info *info = isoproof_level_find(expect);
    if (info == NULL || info->family == ISOPROOF_LEVEL_MODEL)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "expected a level ('isoproof levels' lists them), found '%s'", expect);
    *claim = (iso_coo_claim){info->id, "option", ""};
    return ISOPROOF_OK;
  }
  /* Texts of a database are gone with it. */
  const char *note = isolation->note != NULL ? isolation->note : "";
  claim->note = iso_arena_text(arena, note, strlen(note));
  if (claim->note == NULL) return iso_fail_memory(error);
  const isoproof_level_info *info = isolation->claims != NULL ? isoproof_level_find(isolation->claims) : NULL;
  if (info == NULL) return ISOPROOF_OK;
  claim->level = info->id;
  claim->source = "database";
  return ISOPROOF_OK;
}

isoproof_status iso_coo_allows(const iso_coo_claim *claim, const isoproof_schedule *executed, const char **verdict,
                               isoproof_error *error) {
  isoproof_history *history = NULL;
  isoproof_result *result = NULL;
  const char *const levels[] = {claim->level};
  isoproof_check_options only = {.struct_size = sizeof only, .levels = levels, .level_count = 1};
  *verdict = NULL;
  if (claim->level == NULL) return ISOPROOF_OK;
  isoproof_status status = isoproof_schedule_history(executed, &history, error);
  if (status == ISOPROOF_OK) status = isoproof_check(history, &only, NULL, &result, error);
  if (status == ISOPROOF_OK) *verdict = isoproof_verdict_name(isoproof_result_verdict(result));
  isoproof_result_free(result);
  isoproof_history_free(history);
  return status;
}

const char *iso_coo_allows_scenario(const iso_coo_claim *claim, const iso_coo_scenario *scenario, bool happened) {
  if (claim->level == NULL) return NULL;
  const isoproof_level_info *level = isoproof_level_find(claim->level);
  const isoproof_level_info *forbids = isoproof_level_find(scenario->forbidden_by);
  if (level == NULL || forbids == NULL) return isoproof_verdict_name(ISOPROOF_UNDECIDED);
  bool broken = happened && isoproof_level_implies(level, forbids);
  return isoproof_verdict_name(broken ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED);
}
