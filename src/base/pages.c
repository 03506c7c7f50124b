/* Letting go of pages of mapped files. */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernel maps some pages around one that is asked for, and so those again that were let go just before. */
enum { AROUND = 1 << 16 };

void iso_pages_let_go(const void *bytes, size_t from, size_t to) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = ((uintptr_t)bytes + (from > AROUND ? from - AROUND : 0)) & ~(page - 1);
  uintptr_t end = ((uintptr_t)bytes + to) & ~(page - 1);
  if (end > first) (void)madvise((void *)first, end - first, MADV_DONTNEED);
}
