/* certificates.h - certificates and figures about the search, for people.  Owns nothing. */
#ifndef ISO_REPORT_TEXT_CERTIFICATES_H
#define ISO_REPORT_TEXT_CERTIFICATES_H

#include "base/output.h"
#include "report/document/document.h"

/* Paragraphs in `room` columns, where they were asked for. */
void iso_put_certificates_text(iso_output *out, const isoproof_document *document, size_t room);
void iso_put_searches_text(iso_output *out, const isoproof_document *document, size_t room);

#endif
