/* cobra.h - the records of a Cobra log.  Nothing here owns anything. */
#ifndef ISO_FORMAT_COBRA_H
#define ISO_FORMAT_COBRA_H

#include <stddef.h>

/* How long a record is, its letter included; 0 when no record begins with the letter. */
static inline size_t iso_cobra_record_bytes(char letter) {
  switch (letter) {
  case 'S':
  case 'C':
    return 9;
  case 'W':
    return 25;
  case 'R':
    return 33;
  default:
    return 0;
  }
}

#endif
