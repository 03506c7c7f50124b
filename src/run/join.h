/* join.h - the histories that several clients of one run recorded, as one.
 *
 * A folder holds what there is of a run: part-N.jsonl, the history of client N as its recorder wrote it, and
 * clocks.jsonl, the round trips by which client 0 compared the clocks.  In the joined history every time is one of the
 * clock of client 0, and every interval is widened by what is not certain of the others': a transaction begins no later
 * and ends no earlier than it did.  So one that ends before another one begins really did, and verdicts about real time
 * are sound.
 *
 * Of a client whose part has no end (it was killed) nothing is known from its last whole line on.  What others have
 * read of that was written by transactions that are unknown, one for each value, which is the weakest assumption there
 * is: splitting a transaction, and forgetting its reads, makes no level harder to satisfy.
 *
 * The caller frees what iso_join has filled in with iso_joined_free.
 */
#ifndef ISO_RUN_JOIN_H
#define ISO_RUN_JOIN_H

#include <stdio.h>

#include "base/task.h"
#include "run/clocks.h"

/* Names in the folder; the first takes the number of the client. */
#define ISO_JOIN_PART "part-%u.jsonl"
#define ISO_JOIN_CLOCKS "clocks.jsonl"

/* Facts of the parts, beside the moment of the clock that is 0 in their times. */
#define ISO_JOIN_BASE "clock-base"
#define ISO_JOIN_NUMBER "machine"
#define ISO_JOIN_COUNT "machines"

enum { ISO_JOIN_MOST = 4096 }; /* clients */

typedef struct iso_join_machine {
  bool ended;          /* its part has an end */
  bool started;        /* its clock was */
  int64_t base;        /* of its clock */
  iso_clock clock;     /* not of client 0 */
  uint64_t txns;       /* in its part */
  int64_t uncertainty; /* nanoseconds: the widest interval of the offset at any of its times */
} iso_join_machine;

typedef struct iso_joined {
  iso_join_machine *machines;
  uint32_t count, lost; /* of these, those without an end */
  uint64_t trips;
  int64_t uncertainty;  /* the largest */
  uint32_t adrift;      /* machines of whose clocks nothing is certain: real time says nothing about what they did */
  uint64_t lost_writes; /* of lost machines, known by those who read them */
  uint64_t txns;
  int64_t last_name, first_start;
} iso_joined;

/* Appends a round trip with a client to a file of them. */
void iso_join_write_trip(FILE *file, uint32_t client, iso_round_trip trip);

/* Joins what is in the folder into a history at `path`.  ISOPROOF_ERR_FORMAT: what is there is not what a recorder
 * writes.  ISOPROOF_ERR_UNSUPPORTED: a machine was lost that may have deleted rows; nothing is written then, since what
 * nobody knows to be deleted looks like an anomaly. */
isoproof_status iso_join(const char *folder, const char *path, isoproof_task *task, iso_joined *joined,
                         isoproof_error *error);
void iso_joined_free(iso_joined *joined);

/* ---- join_lost.c ---- */

/* Writes the transactions of lost machines that others have seen, found in the history at `path`, which has everything
 * else, to its end. */
isoproof_status iso_join_lost(const char *path, isoproof_task *task, iso_joined *joined, isoproof_error *error);

#endif
