/* batch.h - from pieces of an input to batches of transactions that have ended.
 *
 * A batcher owns the reader of its format and the builder between two batches.
 */
#ifndef ISO_FOLLOW_BATCH_H
#define ISO_FOLLOW_BATCH_H

#include "base/vector.h"
#include "follow/cut.h"

typedef struct iso_batcher {
  const iso_stream_table *stream;
  iso_input *name; /* without bytes: a name for messages */
  isoproof_builder *builder;
  void *reader;
  iso_cutter cutter;
  ISO_VEC(char) bytes; /* that came and were not yet given to the reader, because something in them is not whole */
  size_t cut;          /* of these up to where they may be cut */
  uint64_t offset;     /* bytes given to the reader */
  uint64_t lines;      /* that they are */
  uint64_t sessions;
} iso_batcher;

/* ISOPROOF_ERR_UNSUPPORTED for a format that does not grow at its end. */
isoproof_status iso_batcher_open(iso_batcher *batcher, isoproof_format format, const char *name, isoproof_error *error);
void iso_batcher_close(iso_batcher *batcher);

/* The beginning of the input, up to here, was fed; what is fed next comes after so many bytes and lines.
 * ISOPROOF_ERR_UNSUPPORTED where the format does not allow that. */
isoproof_status iso_batcher_skip(iso_batcher *batcher, uint64_t bytes, uint64_t lines, isoproof_error *error);
/* Takes bytes as they come. */
isoproof_status iso_batcher_feed(iso_batcher *batcher, const char *bytes, size_t size, bool last,
                                 isoproof_error *error);
/* Whether there is something for a batch; and whether its writer said that nothing more will come. */
bool iso_batcher_ready(const iso_batcher *batcher);
bool iso_batcher_finished(const iso_batcher *batcher);
/* How many transactions there are for the next batch, unfinished ones included. */
size_t iso_batcher_txns(const iso_batcher *batcher);
/* Takes a history out, and the order in which its transactions ended, which the caller frees.  Without `last`,
 * transactions that may go on stay behind. */
isoproof_status iso_batcher_take(iso_batcher *batcher, bool last, isoproof_history **history, uint64_t **order,
                                 isoproof_error *error);

#endif
