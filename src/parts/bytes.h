/* bytes.h - messages: numbers put one behind the other into a growing buffer, and taken out again within its bounds.
 *
 * Both ends run on machines of one kind, so that numbers go as they lie in memory.  A buffer owns its bytes until
 * iso_bytes_free; what was taken refers to the message.
 */
#ifndef ISO_PARTS_BYTES_H
#define ISO_PARTS_BYTES_H

#include <string.h>

#include "base/vector.h"

typedef struct iso_bytes {
  uint8_t *items;
  size_t count, capacity;
  bool failed; /* memory was out */
} iso_bytes;

static inline void iso_bytes_free(iso_bytes *bytes) {
  iso_vec_free(bytes);
  bytes->failed = false;
}

/* Room for `length` bytes at the end, which the caller fills; NULL when memory is out. */
static inline void *iso_put_room(iso_bytes *bytes, size_t length) {
  if (!iso_vec_reserve(bytes, length)) {
    bytes->failed = true;
    return NULL;
  }
  bytes->count += length;
  return bytes->items + bytes->count - length;
}

static inline void iso_put(iso_bytes *bytes, const void *from, size_t length) {
  void *room = iso_put_room(bytes, length);
  if (room != NULL && length > 0) memcpy(room, from, length);
}

static inline void iso_put_u32(iso_bytes *bytes, uint32_t number) { iso_put(bytes, &number, sizeof number); }
static inline void iso_put_u64(iso_bytes *bytes, uint64_t number) { iso_put(bytes, &number, sizeof number); }

/* A message that is being taken apart. */
typedef struct iso_taker {
  const uint8_t *at, *end;
  bool failed; /* it was shorter than it should be */
} iso_taker;

static inline iso_taker iso_take_from(const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  return (iso_taker){at, at == NULL ? NULL : at + length, false};
}

/* The next `length` bytes; NULL where there are fewer. */
static inline const void *iso_take_bytes(iso_taker *taker, size_t length) {
  if ((size_t)(taker->end - taker->at) < length) {
    taker->failed = true;
    taker->at = taker->end;
    return NULL;
  }
  taker->at += length;
  return taker->at - length;
}

/* The next bytes, copied; zeros where there are fewer. */
static inline void iso_take(iso_taker *taker, void *to, size_t length) {
  const void *from = iso_take_bytes(taker, length);
  if (from == NULL) {
    memset(to, 0, length);
  } else if (length > 0) {
    memcpy(to, from, length);
  }
}

static inline uint32_t iso_take_u32(iso_taker *taker) {
  uint32_t number;
  iso_take(taker, &number, sizeof number);
  return number;
}

static inline uint64_t iso_take_u64(iso_taker *taker) {
  uint64_t number;
  iso_take(taker, &number, sizeof number);
  return number;
}

#endif
