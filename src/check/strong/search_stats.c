/* What the search for strong levels took, figure by figure. */
#include "base/abi.h"
#include "result/result.h"

const char *isoproof_result_search_at(const isoproof_result *result, size_t search) {
  return search < result->strong.count ? result->strong.items[search].level->id : NULL;
}

/* Counting pairs of writers takes time of its own, and was not always done. */
enum known { ALWAYS, COUNTED, COUNTED_LEFT };

static bool is_known(const iso_strong *strong, enum known when) {
  return when == ALWAYS || (when == COUNTED ? strong->counted : strong->counted_left);
}

bool isoproof_result_search_stat_at(const isoproof_result *result, size_t search, size_t number,
                                    isoproof_search_stat *out) {
  if (search >= result->strong.count) return false;
  const iso_strong *strong = &result->strong.items[search];
  const isoproof_search_stat figures[] = {
#define ISO_X(field, when, text)                                                                                       \
  {.name = #field, .meaning = (text), .known = is_known(strong, when), .count = strong->stats.field},
      ISO_STRONG_STATS(ISO_X)
#undef ISO_X
#define ISO_X(field, text)                                                                                             \
  {.name = #field, .meaning = (text), .known = true, .is_time = true, .seconds = strong->stats.field##_seconds},
          ISO_STRONG_STAGES(ISO_X)
#undef ISO_X
  };
  if (number >= sizeof figures / sizeof figures[0]) return false;
  return ISO_STRUCT_GIVE(out, figures[number]);
}
