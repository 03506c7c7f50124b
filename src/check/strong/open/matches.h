/* matches.h - which versions of rows the predicates of a history pick, each looked up once.
 *
 * A statement is compared with every version that its rows could have had, and many statements ask the same: a
 * predicate is looked for by its conditions, and what it says of a version is kept in a bit.  Answers are found when
 * they are first asked for.  A table belongs to one view, owns its arrays until iso_matches_free, and serves one
 * thread.
 */
#ifndef ISO_CHECK_STRONG_OPEN_MATCHES_H
#define ISO_CHECK_STRONG_OPEN_MATCHES_H

#include "check/view/view.h"

typedef struct iso_matches {
  const isoproof_history *h;
  uint32_t *class_of;         /* by statement: those with the same conditions share a number */
  uint32_t versions;          /* of all keys, written and initial */
  uint64_t *known, *matching; /* by class and version: a bit; NULL where that were too many */
} iso_matches;

/* For so many written versions. */
isoproof_status iso_matches_make(const isoproof_history *history, uint32_t written, iso_matches *matches,
                                 isoproof_error *error);
void iso_matches_free(iso_matches *matches);

/* Whether a statement picks a version of a row: number `version` - 1 of those written, or 0 for the initial one. */
bool iso_matches_version(const iso_matches *matches, const iso_statement *statement, uint32_t key, uint32_t version,
                         iso_value value);

#endif
