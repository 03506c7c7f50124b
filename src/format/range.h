/* range.h - the lines of a range of bytes of a text, read as a history of their own.
 *
 * Several processes read one text this way, each its range: a line belongs to the range in which it begins.  It takes a
 * format whose lines stand on their own, and is a guess all the same: an object may go over several lines, a line may
 * refer to what stands before it.  Whoever finds that it does not work out reads the whole, and all errors are those of
 * that.  A reader owns what it has built until iso_range_finish; errors say lines of the range.
 */
#ifndef ISO_FORMAT_RANGE_H
#define ISO_FORMAT_RANGE_H

#include "format/stream.h"

/* Whether ranges of the format can be read: isoproof's own lines, and Plume's. */
static inline bool iso_range_suits(isoproof_format format) {
  return format == ISOPROOF_FORMAT_JSONL || format == ISOPROOF_FORMAT_PLUME;
}

typedef struct iso_range_reader {
  const iso_stream_table *stream;
  iso_input *name;
  isoproof_builder *builder;
  void *reader;
  uint64_t lines; /* that were fed */
  isoproof_task *task;
} iso_range_reader;

/* `head` is the first line of the text, for ranges that do not begin with it; of what it says only that stays which
 * later lines must know.  The name is that of the text. */
isoproof_status iso_range_open(iso_range_reader *range, isoproof_format format, const char *name, const char *head,
                               size_t head_bytes, isoproof_task *task, isoproof_error *error);
/* Reads whole lines. */
isoproof_status iso_range_feed(iso_range_reader *range, const char *lines, size_t bytes, isoproof_error *error);
/* The history of all lines, whose positions count from the first one; the end of the text, if this is it, is not judged
 * (see parts/merge.h). */
isoproof_status iso_range_finish(iso_range_reader *range, isoproof_history **history, isoproof_error *error);
void iso_range_close(iso_range_reader *range);

/* Calls with the lines that begin in [from, to) of a file, several at a time.  Each has its end; a last line of the
 * file that has none gets one (`complete`), or is left out. */
typedef isoproof_status (*iso_range_lines_fn)(void *context, const char *lines, size_t bytes, isoproof_error *error);
isoproof_status iso_range_lines(const char *path, uint64_t from, uint64_t to, bool complete, iso_range_lines_fn each,
                                void *context, isoproof_error *error);

#endif
