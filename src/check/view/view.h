/* view.h - a history as the levels between transactions see it.
 *
 * Only transactions that count (committed, or committed in effect) take part.  What is left of their operations are
 * external reads (of a version that another transaction, or the initial one, wrote) and the keys they wrote.
 * Transactions keep their numbers.  The view owns its arrays until iso_view_free and refers to the history.
 */
#ifndef ISO_CHECK_VIEW_VIEW_H
#define ISO_CHECK_VIEW_VIEW_H

#include "base/task.h"
#include "history/history.h"

typedef struct iso_external_read {
  uint32_t key;
  uint32_t from; /* transaction, or ISO_INITIAL */
  uint32_t op;
} iso_external_read;

typedef struct iso_view {
  const isoproof_history *h;
  const iso_resolution *resolution; /* the history's own */
  iso_op_index op_index;
  uint8_t *counts; /* one byte per transaction: takes part */
  uint32_t taking_part;

  uint32_t *read_first;     /* txns + 1 */
  iso_external_read *reads; /* in program order */

  /* External reads of each key, by reader; made by iso_view_need_readers. */
  uint32_t *reader_first; /* keys + 1 */
  struct iso_reader {
    uint32_t txn;
    uint32_t read; /* place in reads */
  } * readers;

  uint32_t *write_first; /* txns + 1 */
  uint32_t *write_key;   /* each key once, ascending */
  uint64_t *write_bits;  /* txns: iso_view_key_bit of every key, so that few have to be looked for */

  /* Writers of a key, ascending, and so grouped by session; made by iso_view_need_writers. */
  uint32_t *writer_first; /* keys + 1 */
  uint32_t *writer;
  uint32_t *group_first;   /* keys + 1: the groups of a key */
  uint32_t *group_session; /* groups */
  uint32_t *group_start;   /* groups + 1: places in writer */
} iso_view;

isoproof_status iso_view_make(isoproof_history *history, isoproof_task *task, iso_view *view, isoproof_error *error);
/* The same with whoever has a byte of 1 in `also` taking part as well; its reads are those that the resolution knows.
 */
isoproof_status iso_view_make_with(isoproof_history *history, const uint8_t *also, isoproof_task *task, iso_view *view,
                                   isoproof_error *error);
void iso_view_free(iso_view *view);
isoproof_status iso_view_need_readers(iso_view *view, isoproof_error *error);
isoproof_status iso_view_need_writers(iso_view *view, isoproof_error *error);

/* One bit for a key: a transaction without it in write_bits did not write the key. */
static inline uint64_t iso_view_key_bit(uint32_t key) { return UINT64_C(1) << (key * UINT32_C(2654435769) >> 26); }

/* Where the key stands among the writes of the transaction, or would (binary search). */
uint32_t iso_view_slot(const iso_view *view, uint32_t txn, uint32_t key);
/* Whether the transaction wrote the key (binary search). */
bool iso_view_writes(const iso_view *view, uint32_t txn, uint32_t key);
/* The last transaction of the group below `bound`, ISO_NO_TXN when there is none. */
uint32_t iso_view_last_writer(const iso_view *view, uint32_t group, uint32_t bound);
/* The group of a key's writers in a session; false when there is none. */
bool iso_view_group(const iso_view *view, uint32_t key, uint32_t session, uint32_t *group);
/* The transaction before `txn` in its session that takes part, ISO_NO_TXN when there is none. */
uint32_t iso_view_previous(const iso_view *view, uint32_t txn);

/* Whether t3 reads a key other than that of `read` from t2 before it does `read`; whether it reads from t2 at all. */
bool iso_view_reads_before(const iso_view *view, uint32_t t2, uint32_t t3, uint32_t read);
bool iso_view_reads_from(const iso_view *view, uint32_t t2, uint32_t t3);

#endif
