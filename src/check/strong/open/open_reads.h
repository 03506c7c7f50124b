/* open_reads.h - the reads of a view of which it is not known which version they observed.
 *
 * Values repeat, or a row was absent, did not match or was perhaps counted: several versions fit.  While a level is
 * decided such reads are no part of the view; what they need is that the version they find is one that fits.  A version
 * is named by the place of its write in view->write_key, + 1; 0 is the initial one.  The ones that are found out become
 * reads like any other (iso_open_settle).
 *
 * A transaction of unknown outcome takes part when somebody who does observed it, which an open read leaves open.  One
 * that may take part is optional: it is in the view, all of its reads are open, and nothing is known to come after it.
 * To take no part is then to come after everybody else, with reads that need no explanation: whatever is asked of the
 * writes of others holds of its own as well, and only its reads and its place in its session depend on whether it takes
 * part.
 *
 * A doubt lasts for one decision and holds the history's resolution meanwhile;
 * a table belongs to one view.  Both own their arrays until they are freed.
 */
#ifndef ISO_CHECK_STRONG_OPEN_OPEN_READS_H
#define ISO_CHECK_STRONG_OPEN_OPEN_READS_H

#include "base/vector.h"
#include "check/strong/open/matches.h"
#include "check/view/view.h"

/* A read that several versions may fit, and what the resolution said of it. */
typedef struct iso_doubt_read {
  uint32_t op;
  uint32_t guessed;
} iso_doubt_read;

typedef struct iso_doubt {
  isoproof_history *history;
  iso_resolution *resolution;
  const uint32_t *op_txn;
  ISO_VEC(iso_doubt_read) reads; /* ascending */
  uint8_t *optional;             /* by transaction: it may take part; NULL where none is so */
  bool moved;    /* listing the open reads settled some, or ruled an optional transaction out: the view is too old */
  bool hopeless; /* a read fits nothing, or not what its own transaction wrote */
} iso_doubt;

/* What stands in the resolution for a read that is not settled. */
#define ISO_UNSETTLED ISO_NO_OP

/* Finds the doubtful reads and takes them out of the resolution. */
isoproof_status iso_doubt_make(isoproof_history *history, isoproof_task *task, iso_doubt *doubt, isoproof_error *error);
/* Puts back what the resolution said, but for `keep`: only where nothing was settled. */
void iso_doubt_end(iso_doubt *doubt, bool keep);

static inline bool iso_is_optional(const iso_doubt *doubt, uint32_t txn) {
  return doubt->optional != NULL && doubt->optional[txn];
}
/* Says that an optional transaction takes no part, from the next update on. */
void iso_doubt_rule_out(iso_doubt *doubt, uint32_t txn);
/* Before a view is made of what is settled, with all that are optional: those are so no longer who turned out to take
 * part, or not to. */
isoproof_status iso_doubt_update(iso_doubt *doubt, isoproof_task *task, isoproof_error *error);

typedef struct iso_open_read {
  uint32_t op, txn, key;
  const iso_statement *statement; /* NULL: it shows a value, or that the row was absent */
  uint32_t first, end;            /* of a value: places of the versions that have it, [first, end) of by_value */
} iso_open_read;

/* A count: of its open rows, which are reads [first, first + reads), `missing` match. */
typedef struct iso_open_count {
  const iso_statement *statement;
  uint32_t txn, first, reads;
  int64_t missing;
} iso_open_count;

typedef struct iso_open_reads {
  const iso_view *view;
  const iso_doubt *doubt;
  uint32_t *slot_op;  /* by place in view->write_key: the last write of that key by that transaction */
  uint32_t *slot_txn; /* and who that is */
  uint32_t *by_value; /* the places of each key, from view->writer_first on, by the version that they wrote */
  iso_matches matches;
  ISO_VEC(iso_open_read) reads; /* by transaction; those of counts last in each */
  ISO_VEC(iso_open_count) counts;
  uint32_t *read_first, *plain_end, *count_first; /* by transaction; reads from plain_end on belong to counts */
} iso_open_reads;

/* Lists the open reads of those who take part, and settles what only one version fits.  The view is without what that
 * adds. */
isoproof_status iso_open_reads_make(iso_view *view, iso_doubt *doubt, iso_open_reads *open, isoproof_error *error);
void iso_open_reads_free(iso_open_reads *open);
/* The view of what is settled, and the reads that are open, made again until listing them settles nothing more.  Both
 * are zero, or of a time before, and freed then. */
isoproof_status iso_open_reads_list(iso_doubt *doubt, isoproof_task *task, iso_view *view, iso_open_reads *open,
                                    isoproof_error *error);

/* What a version is, and whether a read can have seen it, as far as that alone tells. */
iso_value iso_open_version(const iso_open_reads *open, uint32_t key, uint32_t version);
bool iso_open_fits(const iso_open_reads *open, const iso_open_read *read, uint32_t version);
/* Whether the row matches what a count asks for. */
bool iso_open_matches(const iso_open_reads *open, const iso_statement *statement, uint32_t key, uint32_t version);
/* The certain transaction right before one in its session, and right after it; ISO_NO_TXN where there is none. */
uint32_t iso_open_previous(const iso_open_reads *open, uint32_t txn);
uint32_t iso_open_next(const iso_open_reads *open, uint32_t txn);

/* Says what a read observed. */
void iso_open_settle(const iso_open_reads *open, iso_doubt *doubt, const iso_open_read *read, uint32_t version);

#endif
