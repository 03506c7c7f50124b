/* Transactions of a block of JSON lines: parsed by one thread, merged by whoever has the turn. */
#include "format/jsonl_block.h"

#include <stdlib.h>

iso_jsonl_block *iso_jsonl_block_new(bool initial_is_zero) {
  iso_jsonl_block *block = iso_alloc_zero(1, sizeof *block);
  if (block == NULL) return NULL;
  if (iso_pool_init(&block->pool, NULL) != ISOPROOF_OK) {
    free(block);
    return NULL;
  }
  block->parser.pool = &block->pool;
  block->parser.initial_is_zero = initial_is_zero;
  return block;
}

void iso_jsonl_block_free(iso_jsonl_block *block) {
  iso_micro_op_free(&block->parser.micro);
  iso_vec_free(&block->parser.t.text);
  iso_pool_free(&block->pool);
  iso_vec_free(&block->records);
  iso_scalar_map_free(&block->map);
  free(block);
}

/* One transaction whose object the current token opens; false for anything else. */
static bool one_txn(iso_jsonl_block *block) {
  iso_jsonl_parser *parser = &block->parser;
  iso_micro_op *micro = &parser->micro;
  if (parser->t.type != ISO_TOKEN_BEGIN_MAP || iso_jsonl_begin(parser, true) != ISOPROOF_OK) return false;
  if (!parser->is_txn || iso_jsonl_read_txn(parser) != ISOPROOF_OK) return false;
  /* Codes of columns stay those of the pool that they were read with. */
  if (iso_micro_op_has_columns(micro)) return false;
  iso_jsonl_record record = {.info = parser->info,
                             .session = parser->session,
                             .has_more = parser->has_more,
                             .first_op = micro->first_op,
                             .op_count = micro->ops.count - micro->first_op,
                             .first_element = micro->first_element,
                             .scalars = block->pool.count};
  if (!iso_vec_push(&block->records, record)) return false;
  iso_micro_op_keep(micro);
  return true;
}

static void parse(iso_jsonl_block *block, const iso_line_block *lines) {
  iso_jsonl_parser *parser = &block->parser;
  iso_micro_op_reset(&parser->micro);
  iso_pool_clear(&block->pool);
  block->records.count = block->map.codes.count = 0;
  block->used = 0;
  block->lines = block->line_begin = 0;
  iso_tokenizer_on_text(&parser->t, ISO_TOKEN_DIALECT_JSON, lines->text, lines->length, &parser->problem);
  for (;;) {
    if (iso_token_next(&parser->t) != ISOPROOF_OK) return;
    if (parser->t.type == ISO_TOKEN_END_OF_INPUT) break;
    if (!one_txn(block)) return;
    block->used = (size_t)iso_window_at(&parser->t.window);
    block->lines = parser->t.line;
    block->line_begin = parser->t.line_offset;
  }
  block->used = lines->length;
  block->lines = parser->t.line;
  block->line_begin = parser->t.line_offset;
}

void iso_jsonl_block_parse(iso_jsonl_block *block, iso_list_cache *cache, const iso_line_block *lines) {
  block->parser.micro.cache = *cache;
  parse(block, lines);
  if (block->pool.count > 0) iso_list_cache_free(&block->parser.micro.cache); /* it may know codes of the pool */
  *cache = block->parser.micro.cache;
  block->parser.micro.cache = (iso_list_cache){NULL};
}

isoproof_status iso_jsonl_block_merge(iso_jsonl_block *block, uint64_t line, isoproof_builder *builder,
                                      isoproof_error *error) {
  iso_pool *pool = iso_builder_pool(builder);
  for (size_t i = 0; i < block->records.count; i++) {
    iso_jsonl_record *record = &block->records.items[i];
    iso_micro_ops part =
        iso_micro_op_part(&block->parser.micro, record->first_op, record->op_count, record->first_element);
    uint32_t session;
    if (record->scalars > 0) {
      ISO_TRY(iso_scalar_map_add(&block->map, &block->pool, record->scalars, pool, error));
      iso_scalar_map_ops(&block->map, &block->parser.micro, &part);
      record->session = iso_scalar_map_code(&block->map, record->session);
      record->info.node = iso_scalar_map_code(&block->map, record->info.node);
      record->info.error = iso_scalar_map_code(&block->map, record->info.error);
      record->info.name = iso_scalar_map_code(&block->map, record->info.name);
    }
    record->info.position += line;
    ISO_TRY(iso_builder_session(builder, record->session, &session, error));
    if (!record->has_more) continue;
    ISO_TRY(iso_builder_begin(builder, session, &record->info, NULL, error));
    ISO_TRY(iso_micro_op_emit(&part, builder, error));
  }
  return ISOPROOF_OK;
}
