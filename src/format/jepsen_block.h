/* jepsen_block.h - the operations of a block of lines of a Jepsen history, parsed without the history.
 *
 * A block owns what it holds until iso_jepsen_block_free; it is filled and drained again and again.
 */
#ifndef ISO_FORMAT_JEPSEN_BLOCK_H
#define ISO_FORMAT_JEPSEN_BLOCK_H

#include "format/jepsen_pairs.h"
#include "format/line_blocks.h"
#include "format/scalar_map.h"

/* Where a block is parsed as if it stood: the dialect, and for EDN whether inside a list, and which. */
typedef struct iso_jepsen_around {
  iso_token_dialect dialect;
  uint32_t depth; /* 0 or 1 */
  uint8_t kind;   /* of the list: kinds[1] of the tokenizer */
} iso_jepsen_around;

typedef struct iso_jepsen_record {
  iso_jepsen_op op; /* its line is that in the block, from 0 */
  size_t first_op, op_count, first_element;
  size_t scalars; /* of the pool, up to and with this operation */
} iso_jepsen_record;

typedef struct iso_jepsen_block {
  iso_tokenizer t;
  isoproof_error problem, deferred;
  iso_pool pool; /* of this block alone */
  iso_micro_op micro;
  ISO_VEC(iso_jepsen_record) records;
  iso_scalar_map map;
  size_t used;         /* bytes of the text that are operations, and space between them */
  uint64_t lines;      /* newlines in those */
  uint64_t line_begin; /* behind the last of these */
} iso_jepsen_block;

/* NULL when memory is out. */
iso_jepsen_block *iso_jepsen_block_new(void);
void iso_jepsen_block_free(iso_jepsen_block *block);
/* Parses operations until something else comes, with the help of a cache of lists. */
void iso_jepsen_block_parse(iso_jepsen_block *block, iso_jepsen_around around, iso_list_cache *cache,
                            const iso_line_block *lines);
/* Hands the operations over; `line` is the number of the first line.  Nothing of the block is needed afterwards. */
isoproof_status iso_jepsen_block_merge(iso_jepsen_block *block, uint64_t line, iso_jepsen_pairs *pairs);

#endif
