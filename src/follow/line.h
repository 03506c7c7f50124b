/* line.h - a line that is complete in itself, told sixty-four bytes at a time. */
#ifndef ISO_FOLLOW_LINE_H
#define ISO_FOLLOW_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether every bracket and string that begins in the bytes ends in them.  False as well where that takes a closer
 * look: there is a backslash or a semicolon, or this machine cannot tell quickly. */
bool iso_line_is_closed(const char *bytes, size_t size);

#endif
