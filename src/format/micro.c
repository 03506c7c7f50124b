#include "format/micro.h"

void iso_micro_free(iso_micro *micro) {
  iso_vec_free(&micro->ops);
  iso_vec_free(&micro->elements);
}

isolde_status iso_micro_emit(const iso_micro *micro, isolde_builder *builder, isolde_error *error) {
  const iso_value *elements = micro->elements.items;
  for (size_t i = 0; i < micro->ops.count; i++) {
    const iso_micro_op *op = &micro->ops.items[i];
    isolde_op_kind kind = (isolde_op_kind)op->kind;
    if (op->list) {
      ISO_TRY(iso_builder_list(builder, kind, op->key, elements, op->value, error));
      if (op->value > 0) elements += op->value;
    } else {
      ISO_TRY(iso_builder_op(builder, kind, op->key, op->value, error));
    }
  }
  return ISOLDE_OK;
}

isolde_status iso_micro_elements(iso_micro *micro, iso_tokenizer *t, iso_pool *pool, iso_value *count) {
  size_t first = micro->elements.count;
  for (;;) {
    ISO_TRY(iso_token_next(t));
    if (t->type == ISO_TOKEN_END) break;
    if (t->type != ISO_TOKEN_SCALAR || t->scalar.type == ISOLDE_NIL) {
      return iso_token_expected(t, "an element (a number, text or keyword)");
    }
    iso_value code;
    ISO_TRY(iso_micro_code(t, pool, &code));
    if (!iso_vec_push(&micro->elements, code)) return iso_fail_memory(t->error);
  }
  size_t found = micro->elements.count - first;
  if (found >= ISO_VALUE_INLINE_LIMIT) {
    return iso_fail_at(t->error, ISOLDE_ERR_LIMIT, iso_token_place(t), "a list of %zu elements", found);
  }
  *count = (iso_value)found;
  return ISOLDE_OK;
}
