/* input.h - bytes from a file, standard input or memory, seen through gzip and zstd.
 *
 * An input owns its descriptor and its buffers until iso_input_close.  Offsets and counts are of decompressed bytes.
 */
#ifndef ISO_BASE_INPUT_H
#define ISO_BASE_INPUT_H

#include "base/task.h"

typedef struct iso_input iso_input;

/* "-" is standard input.  A directory is an error here. */
isoproof_status iso_input_open(const char *path, iso_input **input, isoproof_error *error);
/* The same for a task (NULL for none), which the input refers to until it is closed: once that is cancelled or its time
 * is up, nobody waits any more for a pipe, a terminal or a socket that stays silent. */
isoproof_status iso_input_open_for(const char *path, const isoproof_task *task, iso_input **input,
                                   isoproof_error *error);
/* The bytes stay the caller's and must outlive the input. */
isoproof_status iso_input_open_memory(const void *data, size_t size, const char *name, iso_input **input,
                                      isoproof_error *error);
void iso_input_close(iso_input *input);

/* The name for messages: the path, or "<stdin>". */
const char *iso_input_name(const iso_input *input);

/* Reads up to `size` bytes, fewer only at the end of the input; *got 0 says that it is at the end. */
isoproof_status iso_input_read(iso_input *input, void *buffer, size_t size, size_t *got, isoproof_error *error);
/* The same for what is there at the moment, at least one byte.  An input that has failed gives all that came before,
 * and fails the same way whenever it is asked again. */
isoproof_status iso_input_read_some(iso_input *input, void *buffer, size_t size, size_t *got, isoproof_error *error);

/* Shows the next bytes without consuming them: at least `size` of them unless the input ends before (size at most
 * 65536).  The bytes are valid until the next read or peek. */
isoproof_status iso_input_peek(iso_input *input, size_t size, const char **bytes, size_t *got, isoproof_error *error);

/* How many bytes of the underlying file have been consumed, and how many it has (0 when unknown): for progress. */
void iso_input_progress(const iso_input *input, uint64_t *done, uint64_t *total);

/* Maps a plain, uncompressed, regular file from which nothing was read yet; gives NULL (and ISOPROOF_OK) when the input
 * is anything else.  The mapping is private and stays valid after iso_input_close; the caller unmaps it. */
isoproof_status iso_input_map(iso_input *input, void **map, size_t *size, isoproof_error *error);

/* A window on an input for tokenizers: bytes [cur, end) are there, more can be asked for. */
typedef struct iso_window {
  iso_input *input;
  char *buffer;
  size_t capacity;
  const char *cur;
  const char *end;
  uint64_t offset; /* of buffer[0] in the input */
  bool at_end;     /* nothing comes after `end` */
} iso_window;

isoproof_status iso_window_init(iso_window *window, iso_input *input, isoproof_error *error);
void iso_window_free(iso_window *window);
/* Where in the input `cur` is. */
static inline uint64_t iso_window_at(const iso_window *window) {
  return window->offset + (uint64_t)(window->cur - window->buffer);
}
/* Whether the window has so many bytes from `cur` on, once it has read as far; it has all there are otherwise. */
isoproof_status iso_window_has(iso_window *window, size_t size, bool *has, isoproof_error *error);
/* Gets more bytes after `end`, keeping everything from `*keep` on (keep may be NULL: from cur on); moves the buffer
 * and so changes cur, end and *keep.  A token may be at most `longest` bytes, else ISOPROOF_ERR_LIMIT.  Sets at_end
 * when there is nothing more; then end stays. */
isoproof_status iso_window_more(iso_window *window, const char **keep, size_t longest, isoproof_error *error);
/* Puts bytes behind `end` that come from elsewhere than the input, which is taken to be at its end until more of them
 * come. */
isoproof_status iso_window_feed(iso_window *window, const char *bytes, size_t size, isoproof_error *error);

#endif
