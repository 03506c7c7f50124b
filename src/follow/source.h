/* source.h - the bytes of an input that may still grow.
 *
 * A source owns its descriptor until iso_source_close.
 */
#ifndef ISO_FOLLOW_SOURCE_H
#define ISO_FOLLOW_SOURCE_H

#include <sys/stat.h>

#include "base/input.h"

typedef struct iso_source {
  const char *path; /* the caller's */
  const char *name; /* for messages */
  int fd;
  bool regular; /* a file: no more bytes now does not mean that none will come */
  bool to_end;
  struct stat opened;
  iso_input *input; /* instead of the descriptor: a file that is read to its end, perhaps through a decompressor */
  uint64_t pulled;  /* bytes of the file or pipe */
} iso_source;

isoproof_status iso_source_open(iso_source *source, const char *path, bool to_end, const isoproof_task *task,
                                isoproof_error *error);
/* Gives the first line of a file, which the caller frees, and goes on reading after so many bytes.
 * ISOPROOF_ERR_UNSUPPORTED for what is no file or compressed, or has no line of usual length. */
isoproof_status iso_source_skip(iso_source *source, uint64_t bytes, char **line, size_t *length, isoproof_error *error);
void iso_source_close(iso_source *source);
/* Takes what is there, without waiting; *got 0: nothing, or, as *ended says, nothing ever again.  Fails when a file has
 * become shorter or is not the one any more that was opened. */
isoproof_status iso_source_read(iso_source *source, char *buffer, size_t size, size_t *got, bool *ended,
                                isoproof_error *error);
/* Rests for a moment, or until something comes. */
void iso_source_wait(const iso_source *source);
/* Bytes that are there and have not been taken. */
uint64_t iso_source_waiting(const iso_source *source);

#endif
