/* The operations of one transaction on their way from the tokenizer to the builder. */
#include "format/micro_op.h"

#include <string.h>

void iso_micro_op_free(iso_micro_op *micro) {
  iso_vec_free(&micro->ops);
  iso_vec_free(&micro->elements);
  iso_vec_free(&micro->statements);
  iso_vec_free(&micro->rows);
  iso_vec_free(&micro->where);
  iso_vec_free(&micro->contents);
  iso_vec_free(&micro->sources);
  iso_list_cache_free(&micro->cache);
}

/* What the row that was just written has in its columns; *next moves behind it. */
static isoproof_status emit_contents(const iso_micro_ops *part, size_t op, size_t *next, isoproof_builder *builder,
                                     isoproof_error *error) {
  for (; *next < part->content_count && part->contents[*next].op == op; ++*next) {
    ISO_TRY(iso_builder_content(builder, part->contents[*next].column, part->contents[*next].content, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status emit_source(const iso_micro_ops *part, size_t op, isoproof_builder *builder,
                                   isoproof_error *error) {
  bool said = part->sources != NULL && part->sources[op] > 0;
  return said ? iso_builder_source(builder, part->sources[op], error) : ISOPROOF_OK;
}

static isoproof_status emit_conditions(const iso_micro_ops *part, const iso_micro_statement *s,
                                       isoproof_builder *builder, isoproof_error *error) {
  for (size_t i = s->first_where; i < s->first_where + s->where_count; i++) {
    const iso_condition *c = &part->where[i];
    ISO_TRY(
        iso_builder_condition(builder, c->column, (iso_comparison)c->comparison, c->operand, c->or_next != 0, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status emit_rows(const iso_micro_ops *part, const iso_op_add *op, isoproof_builder *builder,
                                 isoproof_error *error) {
  iso_row_form form = (iso_row_form)op->form;
  if (form < ISO_ROW_PREDICATE) return iso_builder_row(builder, form, op->key, op->value, error);
  const iso_micro_statement *s = &part->statements[op->value];
  const iso_row_value *rows = s->row_count > 0 ? part->rows + s->first_row : NULL;
  ISO_TRY(iso_builder_statement(builder, form, &s->predicate, s->answered, rows, s->row_count, s->counted, error));
  return emit_conditions(part, s, builder, error);
}

/* Adds the scalar operations from place *at on, in one piece, and moves *at behind them. */
static isoproof_status emit_scalars(const iso_micro_ops *part, size_t *at, isoproof_builder *builder,
                                    isoproof_error *error) {
  size_t first = *at;
  size_t end = part->sources == NULL || first == part->count ? part->count : first + 1;
  while (*at < end && part->ops[*at].form == ISO_ROW_NONE && !part->ops[*at].list) ++*at;
  return *at > first ? iso_builder_ops(builder, part->ops + first, *at - first, error) : ISOPROOF_OK;
}

isoproof_status iso_micro_op_emit(const iso_micro_ops *part, isoproof_builder *builder, isoproof_error *error) {
  const iso_value *elements = part->elements;
  size_t next_content = 0;
  for (size_t i = 0; i < part->count;) {
    size_t before = i;
    ISO_TRY(emit_scalars(part, &i, builder, error));
    if (i > before && part->sources != NULL) {
      ISO_TRY(emit_source(part, before, builder, error));
      continue;
    }
    if (i == part->count) break;
    const iso_op_add *op = &part->ops[i];
    isoproof_op_kind kind = (isoproof_op_kind)op->kind;
    i++;
    if (op->form != ISO_ROW_NONE) {
      ISO_TRY(emit_rows(part, op, builder, error));
      ISO_TRY(emit_contents(part, i - 1, &next_content, builder, error));
    } else {
      ISO_TRY(iso_builder_list(builder, kind, op->key, elements, op->value, error));
      if (op->value > 0) elements += op->value;
    }
    ISO_TRY(emit_source(part, i - 1, builder, error));
  }
  return ISOPROOF_OK;
}

isoproof_status iso_micro_op_integers(iso_micro_op *micro, iso_tokenizer *t) {
  enum { BATCH = 256 };
  size_t got;
  /* Such integers are their own codes. */
  do {
    if (!iso_vec_reserve(&micro->elements, BATCH)) return iso_fail_memory(t->error);
    got = iso_token_integers(t, micro->elements.items + micro->elements.count, BATCH);
    micro->elements.count += got;
  } while (got == BATCH);
  return ISOPROOF_OK;
}

/* The elements up to the END, behind those from place `first` on that are there. */
static isoproof_status rest(iso_micro_op *micro, iso_tokenizer *t, iso_pool *pool, size_t first, iso_value *count) {
  for (;;) {
    ISO_TRY(iso_micro_op_integers(micro, t));
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOPROOF_NIL) {
      return iso_token_expected(t, "an element (a number, text or keyword)");
    }
    iso_value code;
    ISO_TRY(iso_micro_op_code(t, pool, &code));
    if (!iso_vec_push(&micro->elements, code)) return iso_fail_memory(t->error);
  }
  size_t found = micro->elements.count - first;
  if (found >= ISO_VALUE_INLINE_LIMIT) {
    return iso_fail_at(t->error, ISOPROOF_ERR_LIMIT, iso_token_place(t), "a list of %zu elements", found);
  }
  *count = (iso_value)found;
  return ISOPROOF_OK;
}

isoproof_status iso_micro_op_elements(iso_micro_op *micro, iso_tokenizer *t, iso_pool *pool, iso_value *count) {
  return rest(micro, t, pool, micro->elements.count, count);
}

isoproof_status iso_micro_op_recall(iso_micro_op *micro, iso_tokenizer *t, iso_value key, iso_list_start *start) {
  const iso_value *known;
  *start =
      (iso_list_start){.first = micro->elements.count, .begin = iso_window_at(&t->window), .offset = t->window.offset};
  start->recalled = iso_list_cache_find(&micro->cache, t, key, &known);
  if (start->recalled == 0) return ISOPROOF_OK;
  if (!iso_vec_reserve(&micro->elements, start->recalled)) return iso_fail_memory(t->error);
  memcpy(micro->elements.items + start->first, known, start->recalled * sizeof *known);
  micro->elements.count += start->recalled;
  return ISOPROOF_OK;
}

void iso_micro_op_remember(iso_micro_op *micro, iso_tokenizer *t, iso_value key, const iso_list_start *start) {
  size_t count = micro->elements.count - start->first;
  /* The text is still there unless the window has moved on. */
  if (t->window.offset != start->offset || count == start->recalled) return;
  const char *text = t->window.buffer + (start->begin - start->offset);
  iso_list_cache_store(&micro->cache, t->dialect, key, text, (size_t)(t->start - text),
                       micro->elements.items + start->first, count, start->recalled);
}

isoproof_status iso_micro_op_list(iso_micro_op *micro, iso_tokenizer *t, iso_pool *pool, iso_value key,
                                  iso_value *count) {
  iso_list_start start;
  ISO_TRY(iso_micro_op_recall(micro, t, key, &start));
  ISO_TRY(rest(micro, t, pool, start.first, count));
  iso_micro_op_remember(micro, t, key, &start);
  return ISOPROOF_OK;
}
