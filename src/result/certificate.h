/* certificate.h - the orders that prove satisfied levels, each judged by verify/certificate.h before anybody sees it.
 *
 * Certificates own their arrays until iso_certificates_free.
 */
#ifndef ISO_RESULT_CERTIFICATE_H
#define ISO_RESULT_CERTIFICATE_H

#include <isoproof/check.h>

#include "level/levels.h"

typedef struct iso_certificate {
  const isoproof_level_info *level;
  isoproof_certificate_event *events;
  size_t count;
  isoproof_edge *observed; /* the writes that reads observed whose values do not tell */
  size_t observed_count;
} iso_certificate;

enum { ISO_CERTIFICATES_MOST = ISO_LEVEL_COUNT };

typedef struct iso_certificates {
  iso_certificate items[ISO_CERTIFICATES_MOST];
  size_t count;
} iso_certificates;

void iso_certificates_free(iso_certificates *certificates);
/* Moves those over that prove something new; the others are freed. */
void iso_certificates_take(iso_certificates *to, iso_certificates *from);

/* The one that proves the level; NULL when there is none. */
const iso_certificate *iso_certificate_of(const iso_certificates *certificates, const isoproof_level_info *level);

#endif
