/* row_names.h - what anomalies are called in histories of rows: by what happened to the rows, and by Adya's predicates.
 *
 * A read is one by predicate when it is an observation of a statement; an anti-dependency is one by predicate when,
 * besides, the row was not returned.  Everything here answers with `plain`, the name that registers have, where nothing
 * of rows fits.  Nothing is owned.
 */
#ifndef ISO_EXPLAIN_ROW_NAMES_H
#define ISO_EXPLAIN_ROW_NAMES_H

#include "level/anomalies.h"
#include "result/finding.h"
#include "result/proof.h"

/* Whether the operation is an observation of a read by predicate or of a count. */
bool iso_is_by_predicate(const isoproof_history *history, uint32_t op);
/* Whether it is one, and did not return the row: a count returns none. */
bool iso_is_not_returned(const isoproof_history *history, uint32_t op);
/* Whether the version that an observation of a statement is taken to have seen is one that the statement picks. */
bool iso_is_matched(const isoproof_history *history, uint32_t op);
/* Whether two reads of one row, one of them at least by predicate, saw it once among the rows that match and once not.
 */
bool iso_is_phantom(const isoproof_history *history, uint32_t op, uint32_t other);

/* Why the reader must come after a writer that it missed: what it saw, or did, otherwise. */
typedef enum iso_row_evidence {
  ISO_EVIDENCE_NONE,  /* nothing that a look at rows tells */
  ISO_EVIDENCE_LATER, /* a later statement of the same transaction saw something of the writer */
  ISO_EVIDENCE_BEFORE /* the same statement or an earlier one did, or the writer came first in a session or in time */
} iso_row_evidence;

/* By the last step before the missing read: its kind, and the read if it is a WR. */
iso_row_evidence iso_row_evidence_of(const isoproof_history *history, iso_edge_kind kind, uint32_t seen_by,
                                     uint32_t read);

/* The name of a single miss: `read` did not see what `write` did to its row. */
iso_anomaly iso_row_name_of_miss(const isoproof_history *history, uint32_t read, uint32_t write,
                                 iso_row_evidence evidence, iso_anomaly plain);
/* Whether somebody else is taken to have seen what the write left: that very value, or the row gone; that it did not
 * match says nothing. */
bool iso_is_seen_by_others(const isoproof_history *history, uint32_t write);

iso_anomaly iso_row_name_of_finding(const isoproof_history *history, const iso_finding *finding, iso_anomaly plain);
iso_anomaly iso_row_name_of_proof(const isoproof_history *history, const iso_proof *proof, iso_anomaly plain);

#endif
