/* compare.h - two runs side by side, as a page. */
#ifndef ISO_SERVE_COMPARE_H
#define ISO_SERVE_COMPARE_H

#include "base/output.h"

/* Two runs by the names of their folders.  False when one of them is not there. */
bool iso_compare_put(iso_output *out, int root, const char *const *one, uint32_t one_count, const char *const *other,
                     uint32_t other_count);
/* Splits "a/b/with/c" into two names: how many parts the first has; 0 when there are no two. */
uint32_t iso_compare_split(const char *const *parts, uint32_t count);

#endif
