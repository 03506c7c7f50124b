/* line_blocks.h - an input in blocks of whole lines, which threads parse on their own and merge in the order of the
 * file.
 *
 * What a line means may depend on what stands before it (an open bracket, a string that goes on), so a reader parses a
 * block as if nothing were open, as far as it can, and keeps to itself what it found.  Merging stops for good at the
 * first byte that was not understood; what follows is handed back, and the reader goes on there without blocks, knowing
 * all that came before.  So errors, numbers and codes are those of a reader that never heard of blocks, whatever the
 * number of threads.
 */
#ifndef ISO_FORMAT_LINE_BLOCKS_H
#define ISO_FORMAT_LINE_BLOCKS_H

#include "base/input.h"

enum {
  ISO_LINE_BLOCK_BYTES = 256 * 1024, /* fits the second-level cache with what is made of it */
  ISO_LINE_PADDING = 64              /* zero bytes after the text, so that it can be looked at in words */
};

typedef struct iso_line_block {
  char *text;
  size_t length;
  uint64_t offset; /* of the text in the input */
  void *parsed;    /* the reader's own */
} iso_line_block;

typedef struct iso_line_job {
  void *context;
  /* Makes what a block keeps in `parsed` (NULL when memory is out), and frees it. */
  void *(*make)(void *context);
  void (*drop)(void *parsed);
  /* Parses a block; several threads call this at once, each with a number of its own below `threads`. */
  void (*parse)(void *context, unsigned thread, iso_line_block *block);
  /* Takes a parsed block in.  One call at a time, in the order of the input.  *used says how much of the text was
   * understood; less than its length ends the run. */
  isoproof_status (*merge)(void *context, iso_line_block *block, size_t *used, isoproof_error *error);
  size_t block_bytes;
  unsigned threads;
  isoproof_task *task;
} iso_line_job;

/* Runs from window->cur, which must be the first byte of a line, until everything is merged, something fails, or a
 * block is not understood to its end.  Then the window begins with the first byte that was not merged. */
isoproof_status iso_line_blocks(iso_window *window, const iso_line_job *job, isoproof_error *error);

#endif
