/* pending.h - what a transaction has written and not yet sent, for databases whose transactions are sent when they
 * commit: an overlay over what reads find.
 *
 * The owner of an iso_pending empties it before each transaction and frees it in the end.
 */
#ifndef ISO_DATABASE_DRIVERS_PENDING_H
#define ISO_DATABASE_DRIVERS_PENDING_H

#include "database/driver_table.h"

typedef enum iso_pending_kind {
  ISO_PENDING_NONE,
  ISO_PENDING_SET,    /* value */
  ISO_PENDING_ADD,    /* value is added to what is there, as it is stored; `value` alone where nothing is */
  ISO_PENDING_DELETE, /* of the row */
  ISO_PENDING_APPEND  /* value, to the list of the key */
} iso_pending_kind;

/* Of a row at most one is there; of a list one for each element. */
typedef struct iso_pending_write {
  iso_pending_kind kind;
  int64_t key, value;
} iso_pending_write;

typedef struct iso_pending {
  ISO_VEC(iso_pending_write) writes; /* in the order of the first write of each row, and of appends */
} iso_pending;

/* Takes in a write; `zero` is how the number 0 is stored.  False when memory is out. */
bool iso_pending_add(iso_pending *pending, iso_pending_kind kind, int64_t key, int64_t value, int64_t zero);
/* What is pending for a row; NULL: nothing. */
const iso_pending_write *iso_pending_find(const iso_pending *pending, int64_t key);
/* Whether something of this kind is pending, of a key or (NULL) of any. */
bool iso_pending_has(const iso_pending *pending, iso_pending_kind kind, const int64_t *key);
/* What the transaction sees of a row, of which the database has `*value` if `*present`. */
void iso_pending_see(const iso_pending *pending, int64_t key, int64_t zero, bool *present, int64_t *value);
/* The same for rows that were read, all those from `low` to `high`; false when memory is out. */
bool iso_pending_see_rows(const iso_pending *pending, int64_t low, int64_t high, int64_t zero, iso_reply *reply);
/* Appends what is pending to a list that was read; false when it is too long. */
bool iso_pending_see_list(const iso_pending *pending, int64_t key, iso_reply *reply);

#endif
