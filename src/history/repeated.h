/* repeated.h - the versions of registers and rows that several writes left, or that were there from the start as well.
 *
 * A read that shows such a version does not say which write it observed.  A table owns its items until
 * iso_repeated_free.
 */
#ifndef ISO_HISTORY_REPEATED_H
#define ISO_HISTORY_REPEATED_H

#include "history/history.h"

typedef struct iso_repeated_version {
  uint32_t key;
  iso_value value;
} iso_repeated_version;

typedef struct iso_repeated {
  iso_repeated_version *items; /* ascending, each once */
  size_t count;
  uint64_t values;   /* writes of a value that is there before, or from the start */
  uint64_t absences; /* the same of deletes, and other writes of nil */
} iso_repeated;

isoproof_status iso_repeated_find(const isoproof_history *history, iso_repeated *repeated, isoproof_error *error);
void iso_repeated_free(iso_repeated *repeated);

bool iso_repeated_has(const iso_repeated *repeated, uint32_t key, iso_value value);

#endif
