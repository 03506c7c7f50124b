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

#include "base/output.h"
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
  bool end_said;       /* a header says whether it has */
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
  int64_t last_name;
  int64_t begin, end; /* between which times everything lies */
} iso_joined;

/* Appends a round trip with a client to a file of them. */
void iso_join_write_trip(FILE *file, uint32_t client, iso_round_trip trip);

/* Joins what is in the folder into a history at `path`.  ISOPROOF_ERR_FORMAT: what is there is not what a recorder
 * writes.  ISOPROOF_ERR_UNSUPPORTED: a machine was lost that may have deleted rows; nothing is written then, since what
 * nobody knows to be deleted looks like an anomaly. */
isoproof_status iso_join(const char *folder, const char *path, isoproof_task *task, iso_joined *joined,
                         isoproof_error *error);
void iso_joined_free(iso_joined *joined);

/* ---- line by line, by several processes ----
 *
 * Each opens the folder and the heads, takes a look at its lines, and learns what the others have seen of machines and
 * times; then each has its lines joined.  What they write, one after the other in the order of the parts, with the
 * facts at its end, is the joined history, where no machine was lost. */

/* The machines, and their clocks. */
isoproof_status iso_join_open(const char *folder, iso_joined *joined, isoproof_error *error);
/* Where the clocks begin, by the headers at the start of each part; writes the first line of the joined history. */
isoproof_status iso_join_heads(const char *folder, iso_joined *joined, iso_output *out, isoproof_error *error);
/* Looks at whole lines of the part of a machine; with an output, writes what becomes of them. */
isoproof_status iso_join_lines(iso_joined *joined, uint32_t number, const char *lines, size_t bytes, iso_output *out,
                               isoproof_error *error);
/* Everything was looked at: counts the machines that were lost or adrift. */
void iso_join_scanned(iso_joined *joined);
/* The last line: what is to be known of the machines and their clocks. */
void iso_join_write_facts(iso_joined *joined, iso_output *out);

/* ---- join_lost.c ---- */

/* Writes the transactions of lost machines that others have seen, found in the history at `path`, which has everything
 * else, to its end. */
isoproof_status iso_join_lost(const char *path, isoproof_task *task, iso_joined *joined, isoproof_error *error);

#endif
