/* stream.h - a database in a page: an optimistic store of versions whose clients go on for ever, in bounded memory.
 *
 * Transactions commit one after the other if what they read (serializable), or what they write (snapshot isolation),
 * was not overwritten since they began; their replies arrive a little out of order, as those of a real server do.  A
 * stream belongs to its caller until stream_free.
 */
#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

#include <isoproof/isoproof.h>

typedef struct stream_options {
  uint64_t seed;
  uint32_t sessions, keys, ops;
  bool snapshots;      /* snapshot isolation, else serializable */
  uint64_t lost_after; /* from that transaction on, one update is lost; 0 never */
  const char *url;     /* `sim:...`: the store is this database instead; NULL: the one in this page */
} stream_options;

typedef struct stream stream;

stream *stream_new(const stream_options *options);
void stream_free(stream *s);
/* The next transactions in the order of their ends, as a history with the order that isoproof_live_push takes; the
 * caller frees both. */
isoproof_status stream_next(stream *s, uint64_t count, isoproof_history **batch, uint64_t **order,
                            isoproof_error *error);
/* Whether an update was lost so far; its transaction is the one that was given so many-th, 0: it is still to come. */
bool stream_lost(const stream *s);
uint64_t stream_lost_at(const stream *s);

#endif
