/* merge.h - histories of ranges of one text, which processes have read on their own, become one.
 *
 * Each process tells what is not operations: names, transactions, facts.  One merges that, in the order of the text, to
 * what a reader of the whole would have made of it, with the same numbers and codes, and tells each process which these
 * are; the operations never come to it.  A merger owns what it has built until iso_merger_free.
 */
#ifndef ISO_PARTS_MERGE_H
#define ISO_PARTS_MERGE_H

#include "base/task.h"
#include "format/txn_id_set.h"
#include "history/builder.h"
#include "parts/bytes.h"
#include "parts/ship.h"

/* What a process tells of the history that it has read, of so many lines. */
void iso_range_tell(const isoproof_history *range, uint64_t lines, iso_bytes *told);

/* What it is told in turn, session by session and entry by entry of the pool. */
typedef struct iso_range_place {
  uint32_t session;     /* in the whole */
  uint32_t first;       /* the number of its first transaction of the session among all of the session */
  uint32_t first_place; /* operations that this transaction has in ranges before */
} iso_range_place;

typedef struct iso_merged_range {
  ISO_VEC(iso_range_place) places;
  ISO_VEC(iso_value) codes;
} iso_merged_range;

/* What is known of a session of the whole so far. */
typedef struct iso_merged_session {
  uint32_t txns;
  uint32_t last_ops; /* operations of the last transaction */
  int64_t last_id;
  bool last_aborted;
} iso_merged_session;

typedef struct iso_merger {
  isoproof_builder *builder;
  isoproof_format format;
  bool open_ended; /* a transaction goes on until the next one of its session begins, in another range as well */
  iso_merged_range *ranges;
  size_t count, done;
  ISO_VEC(iso_merged_session) sessions;
  iso_txn_id_set ids;
  uint64_t lines, facts;
  bool begun;      /* the origin is known */
  bool unfinished; /* the last that was said about an end is that there is none yet */
} iso_merger;

isoproof_status iso_merger_init(iso_merger *merger, isoproof_format format, const char *name, size_t ranges,
                                isoproof_error *error);
void iso_merger_free(iso_merger *merger);
/* Adds the next range.  ISOPROOF_ERR_FORMAT: the ranges are none of one history, or of one that has to be read as a
 * whole. */
isoproof_status iso_merger_add(iso_merger *merger, const iso_bytes *told, isoproof_error *error);
/* The history of all ranges without its operations, and what each process is told. */
isoproof_status iso_merger_finish(iso_merger *merger, isoproof_task *task, isoproof_history **skeleton,
                                  iso_bytes *answers, isoproof_error *error);

/* The numbers and codes of a process, from what it was told. */
typedef struct iso_range_map {
  uint32_t *number; /* by transaction */
  uint32_t *place;  /* by transaction: of its first operation */
  iso_value *code;  /* by entry of the pool */
} iso_range_map;

isoproof_status iso_range_hear(const isoproof_history *range, const iso_bytes *answer, iso_range_map *map,
                               isoproof_error *error);
void iso_range_map_free(iso_range_map *map);
/* The operations of the range, to be shipped under the numbers of the whole. */
iso_piece iso_piece_of_range(const isoproof_history *range, const iso_range_map *map);

#endif
