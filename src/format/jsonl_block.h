/* jsonl_block.h - the transactions of a block of lines of isoproof's own text form, parsed without the history.
 *
 * A block owns what it holds until iso_jsonl_block_free; it is filled and drained again and again.
 */
#ifndef ISO_FORMAT_JSONL_BLOCK_H
#define ISO_FORMAT_JSONL_BLOCK_H

#include "format/jsonl_txn.h"
#include "format/line_blocks.h"
#include "format/scalar_map.h"

typedef struct iso_jsonl_record {
  iso_txn_info info; /* its position is the line in the block, from 0 */
  iso_value session;
  bool has_more;
  size_t first_op, op_count, first_element;
  size_t scalars; /* of the pool, up to and with this transaction */
} iso_jsonl_record;

typedef struct iso_jsonl_block {
  iso_jsonl_parser parser;
  iso_pool pool; /* of this block alone */
  ISO_VEC(iso_jsonl_record) records;
  iso_scalar_map map;
  size_t used;         /* bytes of the text that are transactions, and space between them */
  uint64_t lines;      /* newlines in those */
  uint64_t line_begin; /* behind the last of these */
} iso_jsonl_block;

/* NULL when memory is out. */
iso_jsonl_block *iso_jsonl_block_new(bool initial_is_zero);
void iso_jsonl_block_free(iso_jsonl_block *block);
/* Parses transactions until something else comes, with the help of a cache of lists. */
void iso_jsonl_block_parse(iso_jsonl_block *block, iso_list_cache *cache, const iso_line_block *lines);
/* Adds the transactions to the builder; `line` is the number of the first line. */
isoproof_status iso_jsonl_block_merge(iso_jsonl_block *block, uint64_t line, isoproof_builder *builder,
                                      isoproof_error *error);

#endif
