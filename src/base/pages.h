/* pages.h - memory of mapped files that was read and is not needed for now.  Nothing is owned. */
#ifndef ISO_BASE_PAGES_H
#define ISO_BASE_PAGES_H

#include <stddef.h>

/* Lets go of the whole pages in bytes [from, to) of a mapped file: they stop to count as memory of this process, and
 * come back from the file when they are read again. */
void iso_pages_let_go(const void *bytes, size_t from, size_t to);

#endif
