/* What the C library of emscripten lacks: getrandom. */
#include "browser/checker.h"

#include <sys/random.h>
#include <sys/types.h>

ssize_t getrandom(void *buffer, size_t size, unsigned flags) {
  (void)flags;
  browser_random(buffer, size);
  return (ssize_t)size;
}
