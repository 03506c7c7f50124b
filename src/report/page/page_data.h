/* page_data.h - the data inside the page of a report: one JSON object, escaped so that it can stand in HTML.
 *
 * A page borrows its document and output; what it chooses to show of the history it owns until iso_page_data_free.
 */
#ifndef ISO_REPORT_PAGE_PAGE_DATA_H
#define ISO_REPORT_PAGE_PAGE_DATA_H

#include "base/json_writer.h"
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

enum { ISO_PAGE_ANOMALIES_SHARE = 45 }; /* percent of the page that anomalies may take */

typedef struct iso_page_data {
  iso_output *out;     /* what the writer below writes to */
  isoproof_json *json; /* HTML-safe */
  const isoproof_document *document;
  const uint64_t *written; /* bytes handed on so far; exact after a flush */
  uint64_t max_bytes;
  iso_sample sample;
  uint64_t anomalies_shown;
  uint64_t cases_shown, cases_found; /* of the last anomaly shown */
  bool failed;                       /* memory is out */
} iso_page_data;

/* Chooses what to show, within max_bytes; false when memory is out. */
bool iso_page_data_init(iso_page_data *page, const isoproof_document *document, uint64_t max_bytes);
void iso_page_data_free(iso_page_data *page);
/* Writes the object. */
void iso_page_data_put(iso_page_data *page);
/* The object alone, as isoproof_document_write_html puts it into the page: for a page that is there already. */
isoproof_status iso_page_data_write(const isoproof_document *document, const isoproof_draw_options *options,
                                    isoproof_write_fn write, void *user, isoproof_error *error);

/* A field with a time, as nanoseconds from the first start of the run; null where there is none. */
void iso_page_data_time(const iso_page_data *page, const char *name, int64_t time);

/* What the page calls a level or model, of which the document has the id or the everyday name. */
const char *iso_page_level_name(const isoproof_document *document, const char *name);

/* ---- parts ---- */

void iso_page_data_levels(const iso_page_data *page); /* "levels" and "implies" */
void iso_page_data_anomalies(iso_page_data *page);    /* "anomalies" */
bool iso_sample_choose(iso_sample *sample, const isoproof_document *document, uint64_t most);
void iso_page_data_timeline(const iso_page_data *page);    /* "timeline" */
bool iso_page_data_time_series(const iso_page_data *page); /* "series"; false when memory is out */

#endif
