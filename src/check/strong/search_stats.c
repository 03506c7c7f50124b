/* What the search for a strong level took, figure by figure. */
#include "check/strong/search_stats.h"

#include <string.h>

/* Counting pairs of writers takes time of its own, and was not always done. */
enum known { ALWAYS, COUNTED, COUNTED_LEFT };

static bool is_known(const iso_strong *strong, enum known when) {
  return when == ALWAYS || (when == COUNTED ? strong->counted : strong->counted_left);
}

isoproof_search_stat *iso_strong_figures(const iso_strong *strong, size_t *count) {
  const isoproof_search_stat figures[] = {
#define ISO_X(field, when, text)                                                                                       \
  {.struct_size = sizeof(isoproof_search_stat),                                                                        \
   .name = #field,                                                                                                     \
   .meaning = (text),                                                                                                  \
   .known = is_known(strong, when),                                                                                    \
   .count = strong->stats.field},
      ISO_STRONG_STATS(ISO_X)
#undef ISO_X
#define ISO_X(field, text)                                                                                             \
  {.struct_size = sizeof(isoproof_search_stat),                                                                        \
   .name = #field,                                                                                                     \
   .meaning = (text),                                                                                                  \
   .known = true,                                                                                                      \
   .is_time = true,                                                                                                    \
   .seconds = strong->stats.field##_seconds},
          ISO_STRONG_STAGES(ISO_X)
#undef ISO_X
  };
  isoproof_search_stat *made = iso_alloc(sizeof figures / sizeof figures[0], sizeof *made);
  if (made == NULL) return NULL;
  memcpy(made, figures, sizeof figures);
  *count = sizeof figures / sizeof figures[0];
  return made;
}
