/* occurrences.h - every instance of an anomaly of a strong level, as far as the history proves it by itself.
 *
 * docs/anomalies.md says what an instance of each anomaly is.  What counts is what was read, session order and what
 * list reads show: no version order is guessed, so each instance is a violation whatever the orders are.  A list of
 * occurrences owns its items until iso_occurrences_free.
 */
#ifndef ISO_CHECK_COUNT_OCCURRENCES_H
#define ISO_CHECK_COUNT_OCCURRENCES_H

#include <isoproof/check.h>

#include "base/task.h"
#include "base/vector.h"
#include "check/view/versions.h"
#include "level/anomalies.h"
#include "result/scenario.h"

/* One instance; reads are places in view->reads.  What they are depends on the anomaly:
 *   lost-update  txns have both read one version of a key and written the key; reads are theirs
 *   write-skew   each of txns has replaced what the other one read; reads are theirs
 *   long-fork    txns are the writers; reads 0 and 1 are of one reader, who saw the first and missed the second, reads
 *                2 and 3 of another one, who saw the second and missed the first
 *   stale-read   read 0 is stale, because the first of txns had ended before; the second is its reader */
typedef struct iso_occurrence {
  uint32_t txns[2];
  uint32_t reads[4];
} iso_occurrence;

typedef struct iso_occurrences {
  iso_anomaly anomaly;
  isoproof_count_kind kind; /* unknown: it cannot be counted */
  uint64_t count;
  ISO_VEC(iso_occurrence) list; /* the first of them, as many as were to be kept */
} iso_occurrences;

enum { ISO_OCCURRENCES_LISTED = 10000 }; /* no list of instances is longer */

/* Counts, and keeps the first `keep`.  Counting stops, and the number becomes a lower bound, after a number of steps in
 * proportion to the history, or when the time of the task is up.  The view may gain indexes. */
isoproof_status iso_occurrences_find(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                     iso_anomaly anomaly, size_t keep, isoproof_task *task, iso_occurrences *out,
                                     isoproof_error *error);
/* Looks for one instance of any anomaly that can be counted and violates the level, and keeps that; none in the list
 * where there is none, or none was found in as many steps. */
isoproof_status iso_occurrences_any(iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                                    isoproof_task *task, iso_occurrences *out, isoproof_error *error);
void iso_occurrences_free(iso_occurrences *occurrences);

/* The scenario of one of them, of which nothing can be left out; the caller frees it.  False when memory is out. */
bool iso_occurrence_scenario(const iso_view *view, const iso_versions *versions, const iso_strong_level *level,
                             iso_anomaly anomaly, const iso_occurrence *one, iso_scenario *out);

#endif
