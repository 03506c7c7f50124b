/* Operations of a block of a Jepsen history: parsed by one thread, paired by whoever has the turn. */
#include "format/jepsen_block.h"

#include <stdlib.h>

iso_jepsen_block *iso_jepsen_block_new(void) {
  iso_jepsen_block *block = iso_alloc_zero(1, sizeof *block);
  if (block == NULL) return NULL;
  if (iso_pool_init(&block->pool, NULL) != ISOPROOF_OK) {
    free(block);
    return NULL;
  }
  return block;
}

void iso_jepsen_block_free(iso_jepsen_block *block) {
  iso_micro_op_free(&block->micro);
  iso_vec_free(&block->t.text);
  iso_pool_free(&block->pool);
  iso_vec_free(&block->records);
  iso_scalar_map_free(&block->map);
  free(block);
}

/* The operation whose map the current token opens; false where it has to be looked at by somebody who knows more. */
static bool one_op(iso_jepsen_block *block) {
  iso_jepsen_record record;
  iso_micro_op *micro = &block->micro;
  if (block->t.type != ISO_TOKEN_BEGIN_MAP) return false;
  if (iso_jepsen_read_op(&block->t, &block->pool, &record.op, micro, &block->deferred) != ISOPROOF_OK) return false;
  if (record.op.shape == ISO_JEPSEN_BROKEN && !iso_jepsen_is_other(&record.op)) return false;
  record.first_op = micro->first_op;
  record.op_count = micro->ops.count - micro->first_op;
  record.first_element = micro->first_element;
  record.scalars = block->pool.count;
  if (!iso_vec_push(&block->records, record)) return false;
  iso_micro_op_keep(micro);
  return true;
}

/* Whether only white space is left of the text. */
static bool at_end(const iso_tokenizer *t) {
  const char *p = t->window.cur, *end = t->window.end;
  bool commas = t->dialect == ISO_TOKEN_DIALECT_EDN;
  while (p < end && (*p == '\n' || *p == ' ' || *p == '\r' || *p == '\t' || (commas && *p == ','))) p++;
  return p == end;
}

static void parse(iso_jepsen_block *block, iso_jepsen_around around, const iso_line_block *lines) {
  iso_tokenizer *t = &block->t;
  iso_micro_op_reset(&block->micro);
  iso_pool_clear(&block->pool);
  block->records.count = block->map.codes.count = 0;
  block->used = 0;
  block->lines = block->line_begin = 0;
  iso_tokenizer_on_text(t, around.dialect, lines->text, lines->length, &block->problem);
  t->depth = around.depth;
  t->kinds[around.depth] = around.kind;
  while (!at_end(t)) {
    if (iso_token_next(t) != ISOPROOF_OK || !one_op(block)) return;
    block->used = (size_t)iso_window_at(&t->window);
    block->lines = t->line;
    block->line_begin = t->line_offset;
  }
  while (iso_token_next_line(t)) {
  }
  block->lines = t->line;
  block->line_begin = t->line_offset;
  block->used = lines->length;
}

void iso_jepsen_block_parse(iso_jepsen_block *block, iso_jepsen_around around, iso_list_cache *cache,
                            const iso_line_block *lines) {
  block->micro.cache = *cache;
  parse(block, around, lines);
  if (block->pool.count > 0) iso_list_cache_free(&block->micro.cache); /* it may know codes of the pool */
  *cache = block->micro.cache;
  block->micro.cache = (iso_list_cache){NULL};
}

static isoproof_status translate(iso_jepsen_block *block, iso_jepsen_record *record, const iso_micro_ops *part,
                                 iso_jepsen_pairs *pairs) {
  ISO_TRY(iso_scalar_map_add(&block->map, &block->pool, record->scalars, pairs->pool, pairs->error));
  iso_scalar_map_ops(&block->map, &block->micro, part);
  record->op.process = iso_scalar_map_code(&block->map, record->op.process);
  record->op.node = iso_scalar_map_code(&block->map, record->op.node);
  record->op.error = iso_scalar_map_code(&block->map, record->op.error);
  return ISOPROOF_OK;
}

isoproof_status iso_jepsen_block_merge(iso_jepsen_block *block, uint64_t line, iso_jepsen_pairs *pairs) {
  for (size_t i = 0; i < block->records.count; i++) {
    iso_jepsen_record *record = &block->records.items[i];
    iso_micro_ops part = iso_micro_op_part(&block->micro, record->first_op, record->op_count, record->first_element);
    if (record->scalars > 0) ISO_TRY(translate(block, record, &part, pairs));
    record->op.line += line;
    ISO_TRY(iso_jepsen_pairs_add(pairs, &record->op, &part));
  }
  return iso_jepsen_pairs_own(pairs);
}
