/* Overflow-checked allocation and the growth of vectors. */
#include "base/vector.h"

#include <stdint.h>
#include <sys/mman.h>

/* Asks for huge pages where a block is large: filling a column page by page otherwise costs a third of the load time
 * in page faults.  The advice covers all pages that the block touches, and so the whole mapping where the C library
 * made one for it: half of a mapping with other flags than the rest could not be grown by moving pages, only by
 * copying. Only advice, so failure does not matter. */
static void *advise(void *block, size_t bytes) {
  enum { PAGE = 4096, LARGE = 4 << 20 };
  if (block == NULL || bytes < LARGE) return block;
  uintptr_t first = (uintptr_t)block / PAGE * PAGE;
  uintptr_t end = ((uintptr_t)block + bytes + PAGE - 1) / PAGE * PAGE;
  (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
  return block;
}

void *iso_alloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  return advise(malloc(bytes > 0 ? bytes : 1), bytes);
}

void *iso_alloc_zero(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  return advise(calloc(bytes > 0 ? bytes : 1, 1), bytes);
}

void *iso_realloc(void *old, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  return advise(realloc(old, bytes > 0 ? bytes : 1), bytes);
}

bool iso_vec_grow(void **items, size_t *capacity, size_t needed, size_t size) {
  enum { HALF = 2, LITTLE = 64 }; /* one in so many */
  static const size_t parts[] = {HALF, LITTLE};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    size_t grown = *capacity + *capacity / parts[i];
    if (grown < 16) grown = 16;
    if (grown < needed) grown = needed;
    void *moved = iso_realloc(*items, grown, size);
    if (moved == NULL) continue;
    *items = moved;
    *capacity = grown;
    return true;
  }
  return false;
}
