/* row_versions.h - the versions of every register or row in the order in which they were likely written.
 *
 * Where a read does not say which version it saw (a row that was absent, or not what a predicate asks for), these are
 * what it may have seen.  Everything is sorted by when the writers ended, or, in histories without times, by how far
 * they are through their sessions.  A table owns its arrays until iso_row_versions_free and refers to the history.
 */
#ifndef ISO_HISTORY_ROW_VERSIONS_H
#define ISO_HISTORY_ROW_VERSIONS_H

#include "base/task.h"
#include "history/history.h"

typedef struct iso_row_versions {
  const isoproof_history *h;
  uint32_t *first; /* keys + 1 */
  uint32_t *write; /* the writes of each key, in their likely order */
  uint32_t *txn;   /* beside them: who wrote */
  int64_t *start;  /* by transaction: when it began and ended, by whatever clock there is */
  int64_t *end;
} iso_row_versions;

isoproof_status iso_row_versions_make(const isoproof_history *history, iso_row_versions **versions,
                                      isoproof_error *error);
void iso_row_versions_free(iso_row_versions *versions);

/* Resolves the reads of rows that no value resolves: to the only version that fits, to nobody where none does, and to a
 * likely one where several do. */
isoproof_status iso_row_guess(isoproof_history *history, isoproof_task *task, iso_resolution *resolution,
                              isoproof_error *error);

/* Whether a count can have had its answer: some versions of its rows, one of each, match as often as it says. */
bool iso_count_is_possible(const iso_row_versions *versions, const iso_statement *statement);
/* Whether a version is one that the predicate of a statement picks. */
bool iso_version_matches(const isoproof_history *history, const iso_predicate *predicate, uint32_t key,
                         iso_value version);

#endif
