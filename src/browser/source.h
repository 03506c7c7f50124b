/* source.h - compressed bytes one after the other, and the decoded ones with as much of the past as matches refer to.
 *
 * A source borrows what it pulls from, and owns its buffer until source_free; a window owns its bytes until
 * window_free.
 */
#ifndef ISO_BROWSER_SOURCE_H
#define ISO_BROWSER_SOURCE_H

#include "base/inflate.h"

typedef struct browser_source {
  iso_pull_fn pull;
  void *context;
  unsigned char *raw; /* bytes [first, end) wait */
  size_t first, end;
  uint64_t base; /* offset of raw[0] in the stream */
  bool ended;
  isoproof_status status; /* of the last pull; nothing more comes once that failed */
  isoproof_error *error;  /* where a failed pull is told */
} browser_source;

bool browser_source_init(browser_source *source, iso_pull_fn pull, void *context, const char *first, size_t length);
void browser_source_free(browser_source *source);
/* Makes at least one byte wait; false at the end, or when pulling failed. */
bool browser_source_more(browser_source *source);
/* The next byte; -1 when there is none. */
static inline int browser_source_byte(browser_source *source) {
  if (source->first == source->end && !browser_source_more(source)) return -1;
  return source->raw[source->first++];
}
/* Exactly that many bytes; false when there are fewer. */
bool browser_source_read(browser_source *source, unsigned char *bytes, size_t count);

typedef struct browser_window {
  unsigned char *bytes; /* [given, end) is decoded and not handed on; before that is the past */
  size_t capacity, given, end;
  size_t keep; /* of the past, at least */
} browser_window;

/* Forgets the past; what was decoded must be handed on. */
void browser_window_reset(browser_window *window, size_t keep);
void browser_window_free(browser_window *window);
/* Room for so many bytes after `end`; what was decoded must be handed on.  False when memory is out. */
bool browser_window_room(browser_window *window, size_t most);
/* Repeats `length` bytes from `offset` bytes back; there must be that many, and room. */
void browser_window_repeat(browser_window *window, size_t offset, size_t length);

/* What a step of a decoder came to. */
typedef enum browser_step {
  BROWSER_MORE,   /* there may be new bytes in the window; go on */
  BROWSER_ENDED,  /* the member or frame has ended */
  BROWSER_CUT,    /* the source has ended too early, or pulling failed */
  BROWSER_BROKEN, /* the data are corrupt: `why` says how */
  BROWSER_MEMORY
} browser_step;

enum { BROWSER_STEP_BYTES = 128 * 1024 }; /* that a step decodes at most */

#endif
