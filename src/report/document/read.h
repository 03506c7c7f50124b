/* read.h - documents from saved results, inside.  What is made lies in the arena of the document. */
#ifndef ISO_REPORT_DOCUMENT_READ_H
#define ISO_REPORT_DOCUMENT_READ_H

#include "report/document/document.h"
#include "report/document/json_tree.h"

/* An edge; false when memory is out. */
bool iso_read_full_edge(iso_arena *arena, const iso_json *tree, iso_full_edge *out);
/* An anomaly: in full, and with what pages and drawings show of it too; false when memory is out. */
bool iso_read_full_anomaly(iso_arena *arena, const iso_json *tree, iso_full_anomaly *out);
bool iso_read_anomaly(iso_arena *arena, const iso_json *tree, iso_full_anomaly *out);

/* "count" and "count_is" of an anomaly; results without the latter count exactly. */
isoproof_count_kind iso_read_count(const iso_json *tree, uint64_t *count);

/* "certificates", whose first token is the current one: their orders may be as long as the history. */
isoproof_status iso_read_certificates(isoproof_document *document, iso_tokenizer *t, isoproof_error *error);
/* "stats"; false when memory is out. */
bool iso_read_searches(isoproof_document *document, const iso_json *tree);

/* "invariants"; false when memory is out. */
bool iso_read_invariants(isoproof_document *document, const iso_json *tree);
/* "bank"; false when memory is out. */
bool iso_read_bank(isoproof_document *document, const iso_json *tree);
/* "effort". */
void iso_read_effort(isoproof_document *document, const iso_json *tree);

/* Looks for the history of a document and takes it in, or says what the document lacks without it; `beside` is the file
 * that the document was read from.  ISOPROOF_ERR_MEMORY and ISOPROOF_ERR_CANCELLED are the only failures. */
isoproof_status iso_read_history(isoproof_document *document, const isoproof_document_read_options *options,
                                 const char *beside, isoproof_task *task, isoproof_error *error);

#endif
