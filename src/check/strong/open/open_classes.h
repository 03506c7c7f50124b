/* open_classes.h - versions of one value as one class, and what open reads tell by values alone. */
#ifndef ISO_CHECK_STRONG_OPEN_OPEN_CLASSES_H
#define ISO_CHECK_STRONG_OPEN_OPEN_CLASSES_H

#include "check/order/value_classes.h"
#include "check/strong/open/open_reads.h"

/* The classes of the view, with its reads and the open ones that show a value; those of optional transactions are left
 * out. */
isoproof_status iso_open_classes_make(const iso_open_reads *open, iso_value_classes *classes, isoproof_error *error);

/* The class of what an open read shows; false where that is no value. */
bool iso_open_class_of(const iso_open_reads *open, const iso_value_classes *classes, const iso_open_read *read,
                       uint32_t *of);
/* Whether more transactions read a value and overwrote it than there are versions of it.  Whatever each of them
 * observed, two observed the same version then, and one of them lost the update of the other.  Marks the open reads of
 * one such value in `core`. */
isoproof_status iso_open_lacks_versions(const iso_open_reads *open, bool *lacks, uint8_t *core, isoproof_error *error);

#endif
