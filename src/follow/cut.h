/* cut.h - where the bytes of a growing input can be cut so that nothing is cut in two.
 *
 * A cutter looks at every byte once.  It owns nothing.
 */
#ifndef ISO_FOLLOW_CUT_H
#define ISO_FOLLOW_CUT_H

#include "format/stream.h"

typedef struct iso_cutter {
  iso_stream_cut where;
  uint32_t depth;      /* open brackets */
  bool bottom_is_list; /* the outermost of them is a list: between its elements is between items */
  bool in_string, escaped, in_comment;
  bool line_begins;
  uint32_t inner; /* lines of the item that begin as items do */
  uint64_t since_cut;
} iso_cutter;

void iso_cutter_init(iso_cutter *cutter, iso_stream_cut where);
/* Looks at further bytes; *at is behind the last of them after which to cut; false when there is none. */
bool iso_cutter_look(iso_cutter *cutter, const char *bytes, size_t size, size_t *at);

#endif
