/* Codes of the pool of a block become codes of the pool of the history. */
#include "format/scalar_map.h"

void iso_scalar_map_free(iso_scalar_map *map) { iso_vec_free(&map->codes); }

isoproof_status iso_scalar_map_add(iso_scalar_map *map, const iso_pool *from, size_t end, iso_pool *to,
                                   isoproof_error *error) {
  iso_pool_view view = iso_pool_look(from);
  while (map->codes.count < end) {
    iso_value code, old = ISO_VALUE_INTERNED | (iso_value)map->codes.count;
    ISO_TRY(iso_pool_add(to, iso_pool_scalar(&view, old), &code, error));
    if (!iso_vec_push(&map->codes, code)) return iso_fail_memory(error);
  }
  return ISOPROOF_OK;
}

void iso_scalar_map_ops(const iso_scalar_map *map, iso_micro_op *micro, const iso_micro_ops *part) {
  size_t element = part->elements != NULL ? (size_t)(part->elements - micro->elements.items) : 0;
  for (size_t i = 0; i < part->count; i++) {
    iso_op_add *op = &part->ops[i];
    if (op->form >= ISO_ROW_PREDICATE) continue; /* has no codes */
    op->key = iso_scalar_map_code(map, op->key);
    if (!op->list) {
      op->value = iso_scalar_map_code(map, op->value);
      continue;
    }
    for (iso_value n = 0; n < op->value; n++, element++) {
      micro->elements.items[element] = iso_scalar_map_code(map, micro->elements.items[element]);
    }
  }
}
