/* certificate.h - the orders that prove satisfied levels, taken from what the search found and judged by
 * verify/certificate.h before anybody sees them.
 *
 * Certificates own their events until iso_certificates_free.
 */
#ifndef ISO_CHECK_CERTIFICATE_H
#define ISO_CHECK_CERTIFICATE_H

#include <isoproof/check.h>

#include "check/strong/strong_levels.h"

typedef struct iso_certificate {
  const isoproof_level_info *level;
  isoproof_certificate_event *events;
  size_t count;
} iso_certificate;

enum { ISO_CERTIFICATES_MOST = ISO_STRONG_MOST + ISO_AXIOMS };

typedef struct iso_certificates {
  iso_certificate items[ISO_CERTIFICATES_MOST];
  size_t count;
} iso_certificates;

/* Adds one for a decision that found its level satisfied. */
isoproof_status iso_certify_strong(isoproof_history *history, const iso_strong *strong, isoproof_task *task,
                                   iso_certificates *certificates, isoproof_error *error);
/* Adds one for the level of an axiom (causal, read atomic or read committed), which is satisfied. */
isoproof_status iso_certify_weak(iso_weak *weak, iso_axiom axiom, isoproof_task *task, iso_certificates *certificates,
                                 isoproof_error *error);
void iso_certificates_free(iso_certificates *certificates);
/* Moves those over that prove something new; the others are freed. */
void iso_certificates_take(iso_certificates *to, iso_certificates *from);

/* The one that proves the level; NULL when there is none. */
const iso_certificate *iso_certificate_of(const iso_certificates *certificates, const isoproof_level_info *level);

#endif
