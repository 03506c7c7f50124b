/* A bump allocator: chunks of memory that are handed out piece by piece and freed all at once. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct iso_arena_chunk {
  struct iso_arena_chunk *next;
  alignas(max_align_t) char bytes[];
} iso_arena_chunk;

void *iso_arena_alloc(iso_arena *arena, size_t count, size_t size) {
  enum { CHUNK = 64 * 1024, ALIGN = alignof(max_align_t) };
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
  bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
  if ((size_t)(arena->end - arena->at) < bytes) {
    size_t room = bytes > CHUNK ? bytes : CHUNK;
    iso_arena_chunk *chunk = malloc(sizeof *chunk + room);
    if (chunk == NULL) return NULL;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->at = chunk->bytes;
    arena->end = chunk->bytes + room;
  }
  void *given = arena->at;
  arena->at += bytes;
  return memset(given, 0, bytes);
}

char *iso_arena_text(iso_arena *arena, const char *text, size_t length) {
  char *copy = iso_arena_alloc(arena, length + 1, 1);
  if (copy != NULL && length > 0) memcpy(copy, text, length);
  return copy;
}

void iso_arena_free(iso_arena *arena) {
  for (iso_arena_chunk *chunk = arena->chunks; chunk != NULL;) {
    iso_arena_chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
  *arena = ISO_ARENA_EMPTY;
}
