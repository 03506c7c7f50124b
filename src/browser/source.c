/* Compressed bytes one after the other, and the window of decoded ones. */
#include "browser/source.h"

#include <stdlib.h>
#include <string.h>

enum { RAW_BLOCK = 256 * 1024 };

bool browser_source_init(browser_source *source, iso_pull_fn pull, void *context, const char *first, size_t length) {
  *source = (browser_source){.pull = pull, .context = context, .end = length};
  source->raw = malloc(length > RAW_BLOCK ? length : RAW_BLOCK);
  if (source->raw == NULL) return false;
  memcpy(source->raw, first, length);
  return true;
}

void browser_source_free(browser_source *source) { free(source->raw); }

bool browser_source_more(browser_source *source) {
  if (source->first < source->end) return true;
  if (source->ended || source->status != ISOPROOF_OK) return false;
  source->base += source->end;
  source->first = source->end = 0;
  source->status = source->pull(source->context, source->raw, RAW_BLOCK, &source->end, source->error);
  source->ended = source->end == 0;
  return source->end > 0;
}

bool browser_source_read(browser_source *source, unsigned char *bytes, size_t count) {
  while (count > 0) {
    if (!browser_source_more(source)) return false;
    size_t waiting = source->end - source->first, part = waiting < count ? waiting : count;
    memcpy(bytes, source->raw + source->first, part);
    source->first += part;
    bytes += part;
    count -= part;
  }
  return true;
}

void browser_window_reset(browser_window *window, size_t keep) {
  window->given = window->end = 0;
  window->keep = keep;
}

void browser_window_free(browser_window *window) { free(window->bytes); }

bool browser_window_room(browser_window *window, size_t most) {
  /* Moving the past costs as much as was decoded since it was moved last. */
  if (window->capacity - window->end < most && window->end / 2 >= window->keep && window->end > 0) {
    memmove(window->bytes, window->bytes + window->end - window->keep, window->keep);
    window->given = window->end = window->keep;
  }
  if (window->capacity - window->end >= most) return true;
  size_t wanted = window->end + most > 2 * window->capacity ? window->end + most : 2 * window->capacity;
  unsigned char *larger = realloc(window->bytes, wanted);
  if (larger == NULL) return false;
  window->bytes = larger;
  window->capacity = wanted;
  return true;
}

void browser_window_repeat(browser_window *window, size_t offset, size_t length) {
  unsigned char *to = window->bytes + window->end;
  const unsigned char *from = to - offset;
  window->end += length;
  if (offset >= length) {
    memcpy(to, from, length);
    return;
  }
  for (size_t i = 0; i < length; i++) to[i] = from[i];
}
