/* pool.h - scalars as 32-bit codes.
 *
 * A code is a small number itself, or an index into the pool:
 *   0 .. 0x7ffffffe   the integer of that value, which needs no entry: nearly every key and value of a history
 *   0x7fffffff        nil, the initial version
 *   0x80000000 | i    entry i of the pool
 *   0xfffffffd        no scalar, but a read of a row: whether a count counted it is not known
 *   0xfffffffe        no scalar, but a read of a row: absent, or not what the predicate asks for
 *   0xffffffff        none: not recorded
 * Equal scalars have equal codes within one pool.  The pool owns its entries and their text.
 */
#ifndef ISO_HISTORY_POOL_H
#define ISO_HISTORY_POOL_H

#include <isoproof/history.h>

#include "base/error.h"

typedef uint32_t iso_value;

#define ISO_VALUE_NIL UINT32_C(0x7fffffff)
#define ISO_VALUE_NONE UINT32_C(0xffffffff)
#define ISO_VALUE_UNMATCHED UINT32_C(0xfffffffe)
#define ISO_VALUE_COUNTED UINT32_C(0xfffffffd)
#define ISO_VALUE_INTERNED UINT32_C(0x80000000)
/* Entries that a pool can have: their codes end before the marks. */
#define ISO_POOL_MOST UINT32_C(0x7ffffffd)
/* Integers below this are their own code. */
#define ISO_VALUE_INLINE_LIMIT UINT32_C(0x7fffffff)

/* As stored in the binary format. */
typedef struct iso_pool_entry {
  uint64_t payload; /* the bits of the integer, or the offset of the text */
  uint32_t length;  /* of the text */
  uint32_t type;    /* isoproof_scalar_type */
} iso_pool_entry;

/* The read-only side, shared by finished histories. */
typedef struct iso_pool_view {
  const iso_pool_entry *entries;
  const char *text;
  uint64_t text_bytes;
  uint32_t count;
} iso_pool_view;

isoproof_scalar iso_pool_scalar(const iso_pool_view *view, iso_value value);
/* Whether it is an integer that fits int64_t / a number without sign; and which. */
bool iso_pool_integer(const iso_pool_view *view, iso_value value, int64_t *integer);
bool iso_pool_unsigned(const iso_pool_view *view, iso_value value, uint64_t *integer);

typedef struct iso_pool {
  iso_pool_entry *entries;
  size_t count, capacity;
  char *text;
  size_t text_count, text_capacity;
  uint32_t *slots; /* open addressing; entry number + 1, 0 when free */
  size_t slot_mask;
  uint64_t seed;
} iso_pool;

isoproof_status iso_pool_init(iso_pool *pool, isoproof_error *error);
void iso_pool_free(iso_pool *pool);
/* Forgets all entries and keeps their memory. */
void iso_pool_clear(iso_pool *pool);
iso_pool_view iso_pool_look(const iso_pool *pool);

/* The code of a scalar, interned when it is new; O(its length), expected.  ISOPROOF_ERR_LIMIT after
 * ISO_POOL_MOST entries. */
isoproof_status iso_pool_add(iso_pool *pool, isoproof_scalar scalar, iso_value *value, isoproof_error *error);
isoproof_status iso_pool_add_big(iso_pool *pool, isoproof_scalar_type type, uint64_t bits, iso_value *value,
                                 isoproof_error *error);
isoproof_status iso_pool_add_text(iso_pool *pool, isoproof_scalar_type type, const char *text, size_t length,
                                  iso_value *value, isoproof_error *error);

static inline isoproof_status iso_pool_add_u64(iso_pool *pool, uint64_t number, iso_value *value,
                                               isoproof_error *error) {
  if (number < ISO_VALUE_INLINE_LIMIT) {
    *value = (iso_value)number;
    return ISOPROOF_OK;
  }
  return iso_pool_add_big(pool, number > INT64_MAX ? ISOPROOF_UNSIGNED : ISOPROOF_INTEGER, number, value, error);
}

static inline isoproof_status iso_pool_add_i64(iso_pool *pool, int64_t number, iso_value *value,
                                               isoproof_error *error) {
  if (number >= 0 && number < (int64_t)ISO_VALUE_INLINE_LIMIT) {
    *value = (iso_value)number;
    return ISOPROOF_OK;
  }
  return iso_pool_add_big(pool, ISOPROOF_INTEGER, (uint64_t)number, value, error);
}

#endif
