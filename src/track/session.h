/* session.h - one session of a tracked run: what it sent last, and the operations of its transaction.
 *
 * A session owns its buffers and refers to its tracker.
 */
#ifndef ISO_TRACK_SESSION_H
#define ISO_TRACK_SESSION_H

#include "track/plan.h"

typedef struct iso_track_point {
  const char *name;
  size_t ops; /* before it */
} iso_track_point;

struct iso_track_session {
  iso_tracker *tracker;
  uint32_t number;
  int64_t writes;  /* versions so far */
  iso_arena arena; /* of the transaction */
  ISO_VEC(iso_jsonl_op) ops;
  ISO_VEC(iso_track_point) points; /* savepoints */
  ISO_VEC(char) sql;
  /* The statement that was prepared last. */
  const iso_plan *plan; /* NULL: none, or it was answered */
  uint32_t statement;
  int64_t version;            /* as the history has it */
  bool recorded;              /* its values are such that what it does is known */
  bool whole;                 /* and what it asked for */
  iso_jsonl_condition *where; /* what it asked for, without the key where it is pinned */
  size_t where_count;
  int64_t *keys; /* of the rows that it pinned */
  size_t key_count;
  int64_t key_low, key_high; /* the rows that it covers where it is not */
  iso_told_rows told;
};

/* What the conditions of the prepared statement come to with its values; false: they are no plain values. */
isoproof_status iso_session_conditions(iso_track_session *session, const char *const *values, isoproof_error *error);
/* The operations of the rows that were told. */
isoproof_status iso_session_record(iso_track_session *session, isoproof_error *error);
/* Takes back what was written since a savepoint. */
isoproof_status iso_session_take_back(iso_track_session *session, const char *savepoint, isoproof_error *error);

#endif
