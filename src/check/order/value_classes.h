/* value_classes.h - what transactions read and wrote, as far as a sequence has to reproduce it.
 *
 * A read is right in a sequence when the last write of its key before it has its value, whoever made it.  So versions
 * of a key with one value are a class, and it is classes that are read and written.  Where values do not repeat, each
 * version is a class of its own.  Classes own their arrays until iso_value_classes_free.
 */
#ifndef ISO_CHECK_ORDER_VALUE_CLASSES_H
#define ISO_CHECK_ORDER_VALUE_CLASSES_H

#include "base/vector.h"
#include "check/view/view.h"

#define ISO_NO_CLASS UINT32_MAX

typedef struct iso_class_read {
  uint32_t txn, key, of; /* class */
  uint32_t updates;      /* 1: the reader writes the key as well */
} iso_class_read;

typedef struct iso_value_classes {
  uint32_t count;
  uint32_t *of_write;            /* beside the writes of the view */
  uint32_t *initial;             /* by key */
  uint32_t *read_first;          /* txns + 1 */
  ISO_VEC(iso_class_read) reads; /* by transaction, each class once */
} iso_value_classes;

/* Every version a class, and no reads.  The caller may give several versions of a key one class then. */
isoproof_status iso_value_classes_make(const iso_view *view, iso_value_classes *classes, isoproof_error *error);
/* Adds the reads of the view, and others, which are ascending by transaction. */
isoproof_status iso_value_classes_read(const iso_view *view, const iso_class_read *others, size_t count,
                                       iso_value_classes *classes, isoproof_error *error);
void iso_value_classes_free(iso_value_classes *classes);

#endif
