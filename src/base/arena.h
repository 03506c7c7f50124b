/* arena.h - many small allocations with one owner and one free.
 * The arena owns everything it hands out until iso_arena_free. */
#ifndef ISO_BASE_ARENA_H
#define ISO_BASE_ARENA_H

#include <stddef.h>

typedef struct iso_arena {
  struct iso_arena_chunk *chunks;
  char *at, *end;
} iso_arena;

#define ISO_ARENA_EMPTY ((iso_arena){NULL, NULL, NULL})

/* Zeroed memory for `count` items of `size` bytes, aligned for anything; NULL when memory is out.  Apart from the
 * zeroing O(1) amortized. */
void *iso_arena_alloc(iso_arena *arena, size_t count, size_t size);
/* A terminated copy of `length` bytes of text. */
char *iso_arena_text(iso_arena *arena, const char *text, size_t length);
void iso_arena_free(iso_arena *arena);

#endif
