/* json.h - documents as JSON (schema 1, docs/json.md), in parts.  Owns nothing. */
#ifndef ISO_REPORT_DOCUMENT_JSON_H
#define ISO_REPORT_DOCUMENT_JSON_H

#include "base/json_writer.h"
#include "report/document/document.h"

/* A field with a list of edges. */
void iso_put_edges_json(isoproof_json *json, const char *name, const iso_full_edge *edges, size_t count);
/* An anomaly in full, as an object; what pages and drawings show of it is its field "details". */
void iso_put_anomaly_json(isoproof_json *json, const iso_full_anomaly *anomaly);
/* "effort": how hard the run tried; with `words` for people, too. */
void iso_put_effort(isoproof_json *json, const isoproof_effort *effort, bool words);
/* "seconds" and "peak_bytes": what judging took, where it is known. */
void iso_put_effort_json(isoproof_json *json, const isoproof_document *document);
/* "notices":[...], also where there are none. */
void iso_put_notices_json(isoproof_json *json, const isoproof_document *document);

/* "invariants", where there are some. */
void iso_put_invariants_json(isoproof_json *json, const isoproof_document *document);
/* "bank", where the history is that of one. */
void iso_put_bank_json(isoproof_json *json, const isoproof_document *document);

#endif
