/* clock_lines.h - rows of vector clocks as whole lines of the cache, with entries of 16 bits where these suffice.
 *
 * Threads share a row by its bytes [first, end), whole lines, so that none writes into the line of another.
 */
#ifndef ISO_BASE_CLOCK_LINES_H
#define ISO_BASE_CLOCK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ISO_CLOCK_LINE = 64 };

/* The bytes of a row. */
static inline size_t iso_clock_row(size_t entries, bool is_short) {
  size_t bytes = entries * (is_short ? sizeof(uint16_t) : sizeof(uint32_t));
  return (bytes + ISO_CLOCK_LINE - 1) / ISO_CLOCK_LINE * ISO_CLOCK_LINE;
}

/* The first line within what was allocated, with room for one line more than the rows take. */
static inline uint8_t *iso_clock_align(void *allocated) {
  return (uint8_t *)(((uintptr_t)allocated + ISO_CLOCK_LINE - 1) / ISO_CLOCK_LINE * ISO_CLOCK_LINE);
}

/* Each entry becomes the larger one of the two. */
static inline void iso_clock_join(uint8_t *into, const uint8_t *from, size_t first, size_t end, bool is_short) {
  enum { SHORTS = ISO_CLOCK_LINE / sizeof(uint16_t), LONGS = ISO_CLOCK_LINE / sizeof(uint32_t) };
  for (size_t at = first; at < end; at += ISO_CLOCK_LINE) {
    if (is_short) {
      uint16_t *restrict x = (uint16_t *)(void *)(into + at);
      const uint16_t *restrict y = (const uint16_t *)(const void *)(from + at);
      for (int i = 0; i < SHORTS; i++) x[i] = x[i] > y[i] ? x[i] : y[i];
    } else {
      uint32_t *restrict x = (uint32_t *)(void *)(into + at);
      const uint32_t *restrict y = (const uint32_t *)(const void *)(from + at);
      for (int i = 0; i < LONGS; i++) x[i] = x[i] > y[i] ? x[i] : y[i];
    }
  }
}

/* The entry becomes at least the number, where it is among the bytes. */
static inline void iso_clock_note(uint8_t *row, size_t entry, uint32_t number, size_t first, size_t end,
                                  bool is_short) {
  size_t at = entry * (is_short ? sizeof(uint16_t) : sizeof(uint32_t));
  if (at < first || at >= end) return;
  if (is_short) {
    uint16_t *short_entry = (uint16_t *)(void *)(row + at);
    if (*short_entry < number) *short_entry = (uint16_t)number;
  } else {
    uint32_t *long_entry = (uint32_t *)(void *)(row + at);
    if (*long_entry < number) *long_entry = number;
  }
}

#endif
