/* page_data.h - the data inside the page of a report: one JSON object, escaped so that it can stand in HTML.
 *
 * A blob borrows its document and output; what it chooses to show of the history it owns until iso_blob_free.
 */
#ifndef ISO_REPORT_PAGE_PAGE_DATA_H
#define ISO_REPORT_PAGE_PAGE_DATA_H

#include "base/output.h"
#include "base/words.h"
#include "report/document/document.h"

/* Which transactions of the history the timeline shows. */
typedef struct iso_sample {
  uint8_t *shown;    /* per transaction; NULL where there is no timeline */
  uint32_t *session; /* per session: its place among those shown, UINT32_MAX for none */
  uint32_t sessions; /* shown */
  uint64_t count;    /* of transactions shown */
  bool by_session;   /* not all sessions are there */
} iso_sample;

typedef struct iso_blob {
  iso_output *out;
  const isoproof_document *document;
  const uint64_t *written; /* bytes handed on so far; exact after a flush */
  uint64_t max_bytes;
  iso_sample sample;
  uint64_t anomalies_shown;
  uint64_t cases_shown, cases_found; /* of the last anomaly shown */
  bool failed;                       /* memory is out */
} iso_blob;

/* Chooses what to show, within max_bytes; false when memory is out. */
bool iso_blob_init(iso_blob *blob, const isoproof_document *document, uint64_t max_bytes);
void iso_blob_free(iso_blob *blob);
/* Writes the object. */
void iso_blob_put(iso_blob *blob);

/* A time as nanoseconds from the first start of the run; null where there is none. */
void iso_blob_time(const iso_blob *blob, int64_t time);
/* ,"name": */
void iso_blob_field(const iso_blob *blob, const char *name);
void iso_blob_text(const iso_blob *blob, const char *name, const char *text); /* NULL gives null */

/* ---- parts ---- */

void iso_blob_levels(const iso_blob *blob); /* "levels" and "implies" */
void iso_blob_anomalies(iso_blob *blob);    /* "anomalies" */
bool iso_sample_choose(iso_sample *sample, const isoproof_document *document, uint64_t most);
void iso_blob_timeline(const iso_blob *blob); /* "timeline" */
bool iso_blob_series(const iso_blob *blob);   /* "series"; false when memory is out */

#endif
