/* read.h - documents from saved results, inside.  What is made lies in the arena of the document. */
#ifndef ISO_REPORT_DOCUMENT_READ_H
#define ISO_REPORT_DOCUMENT_READ_H

#include "report/document/document.h"
#include "report/document/json_tree.h"

/* False when memory is out. */
bool iso_read_anomaly(iso_arena *arena, const iso_json *tree, isoproof_document_anomaly *out);

/* Looks for the history of a document and takes it in, or says what the document lacks without it; `beside` is the file
 * that the document was read from.  ISOPROOF_ERR_MEMORY and ISOPROOF_ERR_CANCELLED are the only failures. */
isoproof_status iso_read_history(isoproof_document *document, const isoproof_document_read_options *options,
                                 const char *beside, isoproof_task *task, isoproof_error *error);

#endif
