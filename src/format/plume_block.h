/* plume_block.h - one block of Plume text, parsed into columns without touching anything shared.
 * A block owns its buffers until iso_plume_block_free; it is filled, parsed and drained again and again. */
#ifndef ISO_FORMAT_PLUME_BLOCK_H
#define ISO_FORMAT_PLUME_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ISO_PLUME_BLOCK_BYTES = 512 * 1024,
  ISO_PLUME_PADDING = 32,      /* readable bytes after the text, so that it can be searched and parsed in words */
  ISO_PLUME_SHORTEST_LINE = 10 /* r(1,2,3,4) */
};

/* Consecutive lines of one transaction. */
typedef struct iso_plume_piece {
  uint64_t session;
  uint64_t txn; /* meaningless where aborted */
  bool aborted; /* txn -1 */
  uint32_t first, count;
  uint64_t line; /* within the block, from 0 */
} iso_plume_piece;

typedef struct iso_plume_block {
  char *text; /* ISO_PLUME_BLOCK_BYTES + ISO_PLUME_PADDING */
  size_t length;
  uint8_t *kinds;
  uint64_t *keys, *values;
  size_t ops;
  iso_plume_piece *pieces;
  size_t piece_count;
  uint64_t lines; /* in the block, up to the error if there is one */
  /* The first thing that is not as it should be; expected is NULL when all is well. */
  const char *expected;
  size_t error_at;     /* offset of what was found */
  size_t error_column; /* from 1 */
} iso_plume_block;

/* False when memory is out. */
bool iso_plume_block_init(iso_plume_block *block);
void iso_plume_block_free(iso_plume_block *block);
/* Parses text[0 .. length), whole lines but perhaps for the last newline. */
void iso_plume_block_parse(iso_plume_block *block);

#endif
