/* Lists of certificates. */
#include "result/certificate.h"

#include <stdlib.h>

void iso_certificates_free(iso_certificates *certificates) {
  for (size_t i = 0; i < certificates->count; i++) {
    free(certificates->items[i].events);
    free(certificates->items[i].observed);
  }
  certificates->count = 0;
}

const iso_certificate *iso_certificate_of(const iso_certificates *certificates, const isoproof_level_info *level) {
  for (size_t i = 0; i < certificates->count; i++) {
    if (isoproof_level_implies(certificates->items[i].level, level)) return &certificates->items[i];
  }
  return NULL;
}

void iso_certificates_take(iso_certificates *to, iso_certificates *from) {
  for (size_t i = 0; i < from->count; i++) {
    iso_certificate *item = &from->items[i];
    if (to->count == ISO_CERTIFICATES_MOST || iso_certificate_of(to, item->level) != NULL) continue;
    to->items[to->count++] = *item;
    item->events = NULL;
    item->observed = NULL;
  }
  iso_certificates_free(from);
}
