/* Results: verdicts on levels, and witnesses as the engine makes them. */
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/vector.h"
#include "level/levels.h"

const char *isoproof_count_kind_name(isoproof_count_kind kind) {
  switch (kind) {
  case ISOPROOF_COUNT_EXACT:
    return "exact";
  case ISOPROOF_COUNT_AT_LEAST:
    return "at least";
  case ISOPROOF_COUNT_UNKNOWN:
    break;
  }
  return "unknown";
}

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

isoproof_status iso_result_new(isoproof_history *history, const iso_result_engine *engine, void *state,
                               isoproof_result **result, isoproof_error *error) {
  isoproof_result *made = calloc(1, sizeof *made);
  if (made == NULL) {
    engine->free(state);
    return iso_fail_memory(error);
  }
  pthread_mutex_init(&made->lock, NULL);
  made->history = history;
  made->engine = engine;
  made->state = state;
  *result = made;
  return ISOPROOF_OK;
}

void isoproof_result_free(isoproof_result *result) {
  if (result == NULL) return;
  result->engine->free(result->state);
  iso_certificates_free(&result->certificates);
  iso_arena_free(&result->arena);
  for (size_t i = 0; i < result->search_count; i++) free(result->searches[i].figures);
  free(result->searches);
  free(result->levels);
  free(result->left);
  free(result->strongest);
  free(result->weakest_violated);
  free(result->elle_not);
  free(result->elle_also_not);
  free(result->elle_proved);
  free(result->cache);
  free(result->order);
  pthread_mutex_destroy(&result->lock);
  free(result);
}

/* ---- making one ---- */

bool iso_result_add_level(isoproof_result *result, const isoproof_level_info *info, isoproof_verdict verdict,
                          bool asked) {
  struct iso_level_entry *grown = iso_realloc(result->levels, result->level_count + 1, sizeof *grown);
  if (grown == NULL) return false;
  result->levels = grown;
  result->levels[result->level_count++] = (struct iso_level_entry){info, verdict, asked, info->friendly};
  return true;
}

bool iso_result_leave_level(isoproof_result *result, const isoproof_level_info *info, const char *reason) {
  struct iso_left_level *grown = iso_realloc(result->left, result->left_count + 1, sizeof *grown);
  if (grown == NULL) return false;
  result->left = grown;
  result->left[result->left_count++] = (struct iso_left_level){info, reason};
  return true;
}

void iso_result_call_levels(isoproof_result *result, const char *const *names, size_t count, bool models) {
  for (size_t i = 0; i < count; i++) {
    const isoproof_level_info *info =
        models ? isoproof_level_find_in(names[i], ISOPROOF_LEVEL_MODEL) : isoproof_level_find(names[i]);
    for (size_t k = 0; k < result->level_count; k++) {
      if (result->levels[k].info == info) result->levels[k].called = iso_level_shown(info, names[i]);
    }
  }
}

/* Whether entry i stands for others of its verdict: no other satisfied level implies it, or it implies no other
 * violated one. */
static bool is_extreme(const isoproof_result *result, size_t i) {
  for (size_t k = 0; k < result->level_count; k++) {
    if (k == i || result->levels[k].verdict != result->levels[i].verdict) continue;
    const isoproof_level_info *a = result->levels[i].info, *b = result->levels[k].info;
    bool covered =
        result->levels[i].verdict == ISOPROOF_SATISFIED ? isoproof_level_implies(b, a) : isoproof_level_implies(a, b);
    if (covered) return false;
  }
  return true;
}

static const char **extremes(const isoproof_result *result, isoproof_verdict verdict) {
  const char **names = iso_alloc_zero(result->level_count + 1, sizeof *names);
  size_t count = 0;
  for (size_t i = 0; names != NULL && i < result->level_count; i++) {
    if (result->levels[i].verdict == verdict && is_extreme(result, i)) names[count++] = result->levels[i].info->id;
  }
  return names;
}

bool iso_result_find_extremes(isoproof_result *result) {
  free(result->strongest);
  free(result->weakest_violated);
  result->strongest = extremes(result, ISOPROOF_SATISFIED);
  result->weakest_violated = extremes(result, ISOPROOF_VIOLATED);
  return result->strongest != NULL && result->weakest_violated != NULL;
}

bool iso_result_set_anomalies(isoproof_result *result, size_t count) {
  result->cache = iso_alloc_zero(count, sizeof(void *));
  result->anomaly_count = result->cache != NULL ? count : 0;
  result->anomalies_found = result->anomaly_count;
  result->found_is = ISOPROOF_COUNT_EXACT;
  return result->cache != NULL;
}

/* ---- looking inside ---- */

isoproof_verdict isoproof_result_verdict(const isoproof_result *result) {
  bool asked = false, unknown = false;
  if (result->only_patterns && result->unknown_reason != NULL) return ISOPROOF_UNDECIDED;
  if (result->only_patterns) return result->anomaly_count > 0 ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED;
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

const char *isoproof_result_undecided_at(const isoproof_result *result, size_t number, const char **reason) {
  if (number >= result->left_count) return NULL;
  if (reason != NULL) *reason = result->left[number].reason;
  return result->left[number].info->id;
}

size_t isoproof_result_level_count(const isoproof_result *result) { return result->level_count; }

bool isoproof_result_level_at(const isoproof_result *result, size_t number, isoproof_level_verdict *out) {
  if (number >= result->level_count) return false;
  const struct iso_level_entry *entry = &result->levels[number];
  isoproof_level_verdict made = {.struct_size = sizeof made,
                                 .level = entry->info->id,
                                 .verdict = entry->verdict,
                                 .asked = entry->asked,
                                 .called = entry->called};
  return ISO_STRUCT_GIVE(out, made);
}

isoproof_verdict isoproof_result_verdict_of(const isoproof_result *result, const char *level) {
  const isoproof_level_info *info = isoproof_level_find(level);
  const isoproof_level_info *model = isoproof_level_find_in(level, ISOPROOF_LEVEL_MODEL);
  for (size_t i = 0; info != NULL && i < result->level_count; i++) {
    if (result->levels[i].info == info) return result->levels[i].verdict;
  }
  /* A name that levels and models share means the model where models were asked for. */
  for (size_t i = 0; model != NULL && i < result->level_count; i++) {
    if (result->levels[i].info == model) return result->levels[i].verdict;
  }
  return ISOPROOF_UNDECIDED;
}

static const char *name_at(const char *const *names, size_t number) {
  for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
    if (i == number) return names[i];
  }
  return NULL;
}

const char *isoproof_result_strongest_at(const isoproof_result *result, size_t number) {
  return name_at(result->strongest, number);
}

const char *isoproof_result_weakest_violated_at(const isoproof_result *result, size_t number) {
  return name_at(result->weakest_violated, number);
}

const char *isoproof_result_unexplained(const isoproof_result *result) { return result->unexplained; }

size_t isoproof_result_anomaly_count(const isoproof_result *result) { return result->anomaly_count; }

uint64_t isoproof_result_anomalies_found(const isoproof_result *result, isoproof_count_kind *is) {
  if (is != NULL) *is = result->found_is;
  return result->anomalies_found;
}

bool isoproof_result_anomaly_at(const isoproof_result *result, size_t number, isoproof_anomaly *out) {
  if (number >= result->anomaly_count) return false;
  if (result->order != NULL) number = result->order[number];
  /* The cache is no part of what the result says. */
  isoproof_result *inside = (isoproof_result *)(uintptr_t)result;
  pthread_mutex_lock(&inside->lock);
  if (inside->cache[number] == NULL) {
    inside->cache[number] = inside->engine->anomaly(inside->state, number, &inside->arena);
  }
  bool made = inside->cache[number] != NULL;
  pthread_mutex_unlock(&inside->lock);
  return made && ISO_STRUCT_GIVE(out, *inside->cache[number]);
}

/* ---- certificates ---- */

const char *isoproof_certificate_event_kind_name(isoproof_certificate_event_kind kind) {
  switch (kind) {
  case ISOPROOF_EVENT_TXN:
    return "transaction";
  case ISOPROOF_EVENT_BEGIN:
    return "begin";
  case ISOPROOF_EVENT_COMMIT:
    return "commit";
  }
  return "transaction";
}

size_t isoproof_result_certificate_count(const isoproof_result *result) { return result->certificates.count; }

const char *isoproof_result_uncertified(const isoproof_result *result) { return result->uncertified; }

static bool hand_out(const iso_certificate *certificate, isoproof_certificate *out) {
  if (certificate == NULL) return false;
  isoproof_certificate made = {.struct_size = sizeof made,
                               .level = certificate->level->id,
                               .events = certificate->events,
                               .event_count = certificate->count,
                               .observed = certificate->observed,
                               .observed_count = certificate->observed_count};
  return ISO_STRUCT_GIVE(out, made);
}

bool isoproof_result_certificate_at(const isoproof_result *result, size_t number, isoproof_certificate *out) {
  return hand_out(number < result->certificates.count ? &result->certificates.items[number] : NULL, out);
}

bool isoproof_result_certificate_of(const isoproof_result *result, const char *level, isoproof_certificate *out) {
  const isoproof_level_info *info = isoproof_level_find(level);
  return hand_out(info != NULL ? iso_certificate_of(&result->certificates, info) : NULL, out);
}

/* ---- figures about the search ---- */

const char *isoproof_result_search_at(const isoproof_result *result, size_t search) {
  return search < result->search_count ? result->searches[search].level : NULL;
}

bool isoproof_result_search_stat_at(const isoproof_result *result, size_t search, size_t number,
                                    isoproof_search_stat *out) {
  if (search >= result->search_count || number >= result->searches[search].count) return false;
  return ISO_STRUCT_GIVE(out, result->searches[search].figures[number]);
}

/* ---- Elle's way ---- */

const char *isoproof_result_ruled_out_at(const isoproof_result *result, size_t number) {
  return name_at(result->elle_not, number);
}

const char *isoproof_result_also_ruled_out_at(const isoproof_result *result, size_t number) {
  return name_at(result->elle_also_not, number);
}

const char *isoproof_result_proved_at(const isoproof_result *result, size_t number) {
  return name_at(result->elle_proved, number);
}

isoproof_verdict isoproof_result_elle_verdict(const isoproof_result *result) { return result->elle_verdict; }

const char *isoproof_result_elle_workload(const isoproof_result *result) { return result->elle_workload; }
