/* observed.h - what an order of transactions makes of a history: the versions of each key, and which one each
 * read saw.
 *
 * Making it checks what every level from read committed up asks of single reads: they see the last write of a
 * transaction that took effect and stands before them in the order, or the initial version, below their own writes; and
 * lists hold exactly what was appended, in the order.  It owns its arrays until iso_observed_free.
 */
#ifndef ISO_VERIFY_OBSERVED_H
#define ISO_VERIFY_OBSERVED_H

#include "verify/certificate.h"

/* A key that a transaction wrote. */
typedef struct iso_observed_write {
  uint32_t key;
  uint32_t last_op;
  uint32_t version; /* place among the versions of the key, from 0 */
} iso_observed_write;

/* A read of another transaction's version. */
typedef struct iso_observed_read {
  uint32_t key;
  uint32_t version; /* place among the versions of the key, + 1; 0 for the initial one */
  uint32_t from;    /* the transaction that wrote it; ISO_NO_OP for the initial one */
  uint32_t op;
} iso_observed_read;

typedef struct iso_observed {
  const iso_placed *p;
  const isoproof_history *h;
  uint32_t *wrote_first;     /* txns + 1 */
  iso_observed_write *wrote; /* each key once, ascending */
  uint32_t *saw_first;       /* txns + 1 */
  iso_observed_read *saw;    /* in program order */

  uint32_t *version_first; /* keys + 1 */
  uint32_t *version_txn;   /* in the order */
  uint32_t *version_end;   /* of lists: how many elements there are after it */
  uint32_t *content_first; /* keys + 1: of lists, what they hold in the end */
  iso_value *content;
  uint32_t *agrees; /* by key: how many elements are those of the longest list that was read */
} iso_observed;

isoproof_status iso_observed_make(const iso_placed *placed, iso_observed *observed, isoproof_error *error);
void iso_observed_free(iso_observed *observed);

/* What a transaction wrote to a key; NULL when nothing. */
const iso_observed_write *iso_observed_wrote(const iso_observed *observed, uint32_t txn, uint32_t key);

#endif
