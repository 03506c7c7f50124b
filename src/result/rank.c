/* Which anomaly comes first: the most telling one. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "level/anomalies.h"
#include "result/result.h"

enum { MOST_RANKED = 1000 }; /* longer lists, of all instances, come as their engine has them */

typedef struct rank {
  uint32_t number;
  bool beside; /* it breaks no level that was asked for and is violated */
  uint32_t level;
  size_t size;
} rank;

static int by_rank(const void *a, const void *b) {
  const rank *x = a, *y = b;
  if (x->beside != y->beside) return x->beside ? 1 : -1;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  if (x->size != y->size) return x->size < y->size ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* The level of an anomaly: of those with models, a model. */
static const isoproof_level_info *level_of(const isoproof_result *result, const char *name) {
  const isoproof_level_info *model =
      result->elle_workload != NULL ? isoproof_level_find_in(name, ISOPROOF_LEVEL_MODEL) : NULL;
  return model != NULL ? model : isoproof_level_find(name);
}

static bool is_beside(const isoproof_result *result, const char *code, const isoproof_level_info *level) {
  bool asked = false;
  for (size_t i = 0; i < result->level_count; i++) {
    if (!result->levels[i].asked) continue;
    asked = true;
    if (result->levels[i].verdict != ISOPROOF_VIOLATED) continue;
    const isoproof_level_info *broken = result->levels[i].info;
    if (isoproof_level_implies(broken, level) || iso_anomaly_breaks_model(code, broken)) return false;
  }
  return asked;
}

bool iso_result_rank(isoproof_result *result) {
  size_t count = result->anomaly_count;
  if (count < 2 || count > MOST_RANKED) return true;
  rank *ranks = iso_alloc(count, sizeof *ranks);
  uint32_t *order = iso_alloc(count, sizeof *order);
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  bool good = ranks != NULL && order != NULL;
  for (size_t i = 0; good && i < count; i++) {
    ranks[i] = (rank){.number = (uint32_t)i, .beside = true, .level = UINT32_MAX};
    if (!isoproof_result_anomaly_at(result, i, &anomaly)) continue;
    const isoproof_level_info *level = anomaly.level != NULL ? level_of(result, anomaly.level) : NULL;
    if (level == NULL) continue;
    ranks[i].beside = is_beside(result, anomaly.code, level);
    ranks[i].level = level->number;
    /* Instances of one code stay together. */
    if (!result->all) ranks[i].size = anomaly.txn_count;
  }
  if (good) qsort(ranks, count, sizeof *ranks, by_rank);
  for (size_t i = 0; good && i < count; i++) order[i] = ranks[i].number;
  free(ranks);
  if (good)
    result->order = order;
  else
    free(order);
  return good;
}

static bool is_satisfied(const isoproof_result *result, const char *name) {
  const isoproof_level_info *level = name != NULL ? level_of(result, name) : NULL;
  for (size_t i = 0; level != NULL && i < result->level_count; i++) {
    if (result->levels[i].info == level) return result->levels[i].verdict == ISOPROOF_SATISFIED;
  }
  return false;
}

/* Says of every anomaly that was made that it breaks that level. */
static void blame(isoproof_result *result, const char *level) {
  for (size_t i = 0; i < result->anomaly_count; i++) {
    if (result->cache[i] != NULL) result->cache[i]->level = level;
  }
}

void iso_result_drop_contradicted(isoproof_result *result, const char *level) {
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  size_t kept = 0, count = result->anomaly_count;
  if (count > MOST_RANKED) return;
  for (size_t i = 0; i < count; i++) {
    bool told = isoproof_result_anomaly_at(result, i, &anomaly);
    if (told && is_satisfied(result, anomaly.level)) continue;
    if (result->order != NULL) result->order[kept] = result->order[i];
    kept++;
  }
  if (kept == 0) {
    blame(result, level);
    return;
  }
  result->anomalies_found -= count - kept;
  result->anomaly_count = kept;
}
