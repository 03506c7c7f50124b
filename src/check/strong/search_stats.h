/* search_stats.h - what the search for a strong level took, figure by figure.  The figures belong to the caller. */
#ifndef ISO_CHECK_STRONG_SEARCH_STATS_H
#define ISO_CHECK_STRONG_SEARCH_STATS_H

#include <isoproof/check.h>

#include "check/strong/strong.h"

/* NULL when memory is out. */
isoproof_search_stat *iso_strong_figures(const iso_strong *strong, size_t *count);

#endif
