/* assessment.h - what the outputs for other programs share: which levels count, how bad an anomaly is, where it stands.
 *
 * Nothing here owns anything: everything points into the document that was asked about.
 */
#ifndef ISO_REPORT_DOCUMENT_ASSESSMENT_H
#define ISO_REPORT_DOCUMENT_ASSESSMENT_H

#include <isoproof/report.h>

#include "base/output.h"

/* How much an anomaly matters: it breaks what was asked for; nothing was asked for; something else was. */
typedef enum iso_severity { ISO_SEVERITY_ERROR, ISO_SEVERITY_WARNING, ISO_SEVERITY_NOTE } iso_severity;

iso_severity iso_severity_of(const isoproof_document *document, const isoproof_document_anomaly *anomaly);

/* The levels asked for, or all that were decided where none was; false after the last. */
bool iso_relevant_level(const isoproof_document *document, size_t number, isoproof_level_verdict *out);
/* The everyday name of a level or a model, by id. */
const char *iso_level_everyday(const char *level);
/* What to call a level or a model, by id: as it was asked for, else its everyday name, as models have codes. */
const char *iso_level_called(const isoproof_document *document, const char *level);
/* The verdict as a whole: on what was asked for, else on Elle's models; none where nothing was asked for. */
isoproof_verdict iso_overall_verdict(const isoproof_document *document);
/* Whether an anomaly is a reason for a level to be violated. */
bool iso_breaks(const isoproof_document_anomaly *anomaly, const char *level);

/* A place in a file; line 0 and offset -1 where there is none. */
typedef struct iso_location {
  const char *file; /* NULL where it is no file */
  uint64_t line;
  int64_t offset;
} iso_location;

/* Where an operation stands; of a transaction, where the first operation that is involved does. */
iso_location iso_location_of_op(const isoproof_document *document, const isoproof_document_op *op);
iso_location iso_location_of_txn(const isoproof_document *document, const isoproof_document_txn *txn);
/* The end of an edge. */
iso_location iso_location_of_end(const isoproof_document *document, const isoproof_document_anomaly *anomaly,
                                 uint32_t txn, uint32_t op);
/* Where the anomaly shows: a read that is involved, else whatever has a place; and in which of its transactions. */
iso_location iso_location_of(const isoproof_document *document, const isoproof_document_anomaly *anomaly,
                             uint32_t *txn);

/* ---- anomalies in words ---- */

/* ", 3 times" or ", at least 3 times"; "" where the number is not known, or says no more than that there is one. */
enum { ISO_TIMES_BYTES = 48 };
void iso_times(isoproof_count_kind is, uint64_t count, char text[ISO_TIMES_BYTES]);
/* "lost update (lost-update), 3 times, breaks update-atomic", as it is: the caller escapes. */
typedef void (*iso_put_fn)(iso_output *out, const char *text);
void iso_put_heading(iso_output *out, iso_put_fn put, const isoproof_document_anomaly *anomaly);
/* "satisfied", "violated", "unknown"; "decided" where nothing was asked for, "error" for a file that was not read. */
const char *iso_overall_verdict_name(const isoproof_document *document);
/* The names that `next` gives, with commas between; how many. */
size_t iso_put_list(iso_output *out, iso_put_fn put, const isoproof_document *document,
                    const char *(*next)(const isoproof_document *, size_t));
/* "the last line was cut off ... (line 7)", as it is. */
void iso_put_notice(iso_output *out, iso_put_fn put, const isoproof_notice *notice);
/* "FILE:LINE: message" of a file that could not be judged, as it is. */
void iso_put_problem(iso_output *out, iso_put_fn put, const isoproof_error *problem);

#endif
