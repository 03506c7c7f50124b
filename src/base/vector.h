/* vector.h - growing arrays and overflow-checked allocation.
 *
 * A vector owns its items until iso_vec_free, or until its `items` are taken by another owner.  Nothing here exits:
 * growing returns false when memory is out, and the vector stays as it was.
 */
#ifndef ISO_BASE_VECTOR_H
#define ISO_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ISO_VEC(type)                                                                                                  \
  struct {                                                                                                             \
    type *items;                                                                                                       \
    size_t count, capacity;                                                                                            \
  }

/* malloc, calloc and realloc of `count` items with the product checked; zero items still give a unique pointer. */
void *iso_alloc(size_t count, size_t size);
void *iso_alloc_zero(size_t count, size_t size);
void *iso_realloc(void *old, size_t count, size_t size);

/* Grows *items so that `needed` items fit, by half, or where there is no room for that by less, but so much that
 * appending is O(1) amortized; returns false when memory is out. */
bool iso_vec_grow(void **items, size_t *capacity, size_t needed, size_t size);

/* Makes room for `extra` more items. */
#define iso_vec_reserve(v, extra)                                                                                      \
  ((v)->capacity - (v)->count >= (size_t)(extra) ||                                                                    \
   iso_vec_grow((void **)&(v)->items, &(v)->capacity, (v)->count + (size_t)(extra), sizeof *(v)->items))
/* Appends one item; false when memory is out. */
#define iso_vec_push(v, item) (iso_vec_reserve(v, 1) && ((v)->items[(v)->count++] = (item), true))
#define iso_vec_free(v) (free((v)->items), (v)->items = NULL, (v)->count = 0, (v)->capacity = 0)

#endif
