/* Scalars interned as 32-bit codes, and their formatting and comparison. */
#include "history/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/vector.h"

isoproof_scalar isoproof_integer(int64_t integer) {
  return (isoproof_scalar){.type = ISOPROOF_INTEGER, .integer = integer};
}

isoproof_scalar isoproof_string(const char *text) {
  return (isoproof_scalar){.type = ISOPROOF_STRING, .text = text, .length = (uint32_t)strlen(text)};
}

isoproof_scalar isoproof_nil(void) { return (isoproof_scalar){.type = ISOPROOF_NIL}; }

bool isoproof_scalar_equal(isoproof_scalar a, isoproof_scalar b) {
  if (a.type != b.type) return false;
  switch (a.type) {
  case ISOPROOF_NIL:
  case ISOPROOF_NONE:
    return true;
  case ISOPROOF_INTEGER:
  case ISOPROOF_UNSIGNED:
    return a.integer == b.integer;
  case ISOPROOF_STRING:
  case ISOPROOF_KEYWORD:
  case ISOPROOF_SYMBOL:
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
  }
  return false;
}

size_t isoproof_scalar_format(isoproof_scalar scalar, char *buffer, size_t size) {
  char number[ISO_NUMBER_BYTES];
  const char *text = scalar.text, *prefix = "";
  size_t length = scalar.length;
  switch (scalar.type) {
  case ISOPROOF_NIL:
    text = "nil", length = 3;
    break;
  case ISOPROOF_NONE:
    text = "?", length = 1;
    break;
  case ISOPROOF_INTEGER:
    text = number, length = iso_format_i64(scalar.integer, number);
    break;
  case ISOPROOF_UNSIGNED:
    text = number, length = iso_format_u64((uint64_t)scalar.integer, number);
    break;
  case ISOPROOF_KEYWORD:
    prefix = ":";
    break;
  case ISOPROOF_STRING:
  case ISOPROOF_SYMBOL:
    break;
  }
  size_t total = strlen(prefix) + length;
  if (size == 0) return total;
  size_t used = 0;
  for (const char *p = prefix; *p != '\0' && used + 1 < size; p++) buffer[used++] = *p;
  size_t fits = size - 1 - used < length ? size - 1 - used : length;
  if (fits > 0) memcpy(buffer + used, text, fits);
  buffer[used + fits] = '\0';
  return total;
}

isoproof_scalar iso_pool_scalar(const iso_pool_view *view, iso_value value) {
  if (value < ISO_VALUE_INLINE_LIMIT) return isoproof_integer((int64_t)value);
  if (value == ISO_VALUE_NIL) return isoproof_nil();
  if (value >= ISO_VALUE_COUNTED) return (isoproof_scalar){.type = ISOPROOF_NONE};
  const iso_pool_entry *entry = &view->entries[value & ~ISO_VALUE_INTERNED];
  isoproof_scalar scalar = {.type = (isoproof_scalar_type)entry->type};
  if (scalar.type == ISOPROOF_INTEGER || scalar.type == ISOPROOF_UNSIGNED) {
    scalar.integer = (int64_t)entry->payload;
  } else {
    scalar.text = view->text + entry->payload;
    scalar.length = entry->length;
  }
  return scalar;
}

bool iso_pool_integer(const iso_pool_view *view, iso_value value, int64_t *integer) {
  isoproof_scalar scalar = iso_pool_scalar(view, value);
  *integer = scalar.integer;
  return scalar.type == ISOPROOF_INTEGER;
}

bool iso_pool_unsigned(const iso_pool_view *view, iso_value value, uint64_t *integer) {
  isoproof_scalar scalar = iso_pool_scalar(view, value);
  *integer = (uint64_t)scalar.integer;
  return scalar.type == ISOPROOF_UNSIGNED || (scalar.type == ISOPROOF_INTEGER && scalar.integer >= 0);
}

isoproof_status iso_pool_init(iso_pool *pool, isoproof_error *error) {
  enum { FIRST_SLOTS = 64 };
  memset(pool, 0, sizeof *pool);
  pool->slots = iso_alloc_zero(FIRST_SLOTS, sizeof *pool->slots);
  if (pool->slots == NULL) return iso_fail_memory(error);
  pool->slot_mask = FIRST_SLOTS - 1;
  pool->seed = iso_hash_seed();
  return ISOPROOF_OK;
}

void iso_pool_free(iso_pool *pool) {
  free(pool->entries);
  free(pool->text);
  free(pool->slots);
  memset(pool, 0, sizeof *pool);
}

void iso_pool_clear(iso_pool *pool) {
  if (pool->count > 0) memset(pool->slots, 0, (pool->slot_mask + 1) * sizeof *pool->slots);
  pool->count = pool->text_count = 0;
}

iso_pool_view iso_pool_look(const iso_pool *pool) {
  return (iso_pool_view){pool->entries, pool->text, pool->text_count, (uint32_t)pool->count};
}

static uint64_t hash_text(const iso_pool *pool, isoproof_scalar_type type, const char *text, size_t length) {
  return iso_hash_bytes(text, length, pool->seed + (uint64_t)type);
}

static uint64_t hash_number(const iso_pool *pool, uint64_t bits) { return iso_hash_u64(bits, pool->seed); }

static uint64_t hash_entry(const iso_pool *pool, const iso_pool_entry *entry) {
  if (entry->type == ISOPROOF_INTEGER || entry->type == ISOPROOF_UNSIGNED) return hash_number(pool, entry->payload);
  return hash_text(pool, (isoproof_scalar_type)entry->type, pool->text + entry->payload, entry->length);
}

/* Keeps the table at most two thirds full. */
static bool make_room(iso_pool *pool) {
  if (pool->count < (pool->slot_mask + 1) / 3 * 2) return true;
  size_t slots = 2 * (pool->slot_mask + 1);
  uint32_t *table = iso_alloc_zero(slots, sizeof *table);
  if (table == NULL) return false;
  for (size_t i = 0; i < pool->count; i++) {
    size_t at = hash_entry(pool, &pool->entries[i]) & (slots - 1);
    while (table[at] != 0) at = (at + 1) & (slots - 1);
    table[at] = (uint32_t)i + 1;
  }
  free(pool->slots);
  pool->slots = table;
  pool->slot_mask = slots - 1;
  return true;
}

/* Appends an entry whose slot is known to be free at or after `at`. */
static isoproof_status append_entry(iso_pool *pool, uint64_t hash, iso_pool_entry entry, iso_value *value,
                                    isoproof_error *error) {
  if (pool->count >= ISO_POOL_MOST) {
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u distinct large or textual keys and values",
                    (unsigned)ISO_POOL_MOST);
  }
  if (!make_room(pool)) return iso_fail_memory(error);
  if (pool->count == pool->capacity &&
      !iso_vec_grow((void **)&pool->entries, &pool->capacity, pool->count + 1, sizeof *pool->entries)) {
    return iso_fail_memory(error);
  }
  size_t at = hash & pool->slot_mask;
  while (pool->slots[at] != 0) at = (at + 1) & pool->slot_mask;
  pool->entries[pool->count] = entry;
  pool->slots[at] = (uint32_t)++pool->count;
  *value = ISO_VALUE_INTERNED | (iso_value)(pool->count - 1);
  return ISOPROOF_OK;
}

isoproof_status iso_pool_add_big(iso_pool *pool, isoproof_scalar_type type, uint64_t bits, iso_value *value,
                                 isoproof_error *error) {
  uint64_t hash = hash_number(pool, bits);
  for (size_t at = hash & pool->slot_mask; pool->slots[at] != 0; at = (at + 1) & pool->slot_mask) {
    const iso_pool_entry *entry = &pool->entries[pool->slots[at] - 1];
    if (entry->payload == bits && entry->type == (uint32_t)type) {
      *value = ISO_VALUE_INTERNED | (pool->slots[at] - 1);
      return ISOPROOF_OK;
    }
  }
  return append_entry(pool, hash, (iso_pool_entry){bits, 0, (uint32_t)type}, value, error);
}

isoproof_status iso_pool_add_text(iso_pool *pool, isoproof_scalar_type type, const char *text, size_t length,
                                  iso_value *value, isoproof_error *error) {
  if (length > UINT32_MAX) return iso_fail(error, ISOPROOF_ERR_LIMIT, "a text of %zu bytes", length);
  uint64_t hash = hash_text(pool, type, text, length);
  for (size_t at = hash & pool->slot_mask; pool->slots[at] != 0; at = (at + 1) & pool->slot_mask) {
    const iso_pool_entry *entry = &pool->entries[pool->slots[at] - 1];
    if (entry->type == (uint32_t)type && entry->length == length &&
        (length == 0 || memcmp(pool->text + entry->payload, text, length) == 0)) {
      *value = ISO_VALUE_INTERNED | (pool->slots[at] - 1);
      return ISOPROOF_OK;
    }
  }
  if (pool->text_capacity - pool->text_count < length + 1 &&
      !iso_vec_grow((void **)&pool->text, &pool->text_capacity, pool->text_count + length + 1, 1)) {
    return iso_fail_memory(error);
  }
  uint64_t offset = pool->text_count;
  ISO_TRY(append_entry(pool, hash, (iso_pool_entry){offset, (uint32_t)length, (uint32_t)type}, value, error));
  /* Terminated, so that facts and file names can be handed out as C strings. */
  if (length > 0) memcpy(pool->text + offset, text, length);
  pool->text[offset + length] = '\0';
  pool->text_count += length + 1;
  return ISOPROOF_OK;
}

isoproof_status iso_pool_add(iso_pool *pool, isoproof_scalar scalar, iso_value *value, isoproof_error *error) {
  switch (scalar.type) {
  case ISOPROOF_NIL:
    *value = ISO_VALUE_NIL;
    return ISOPROOF_OK;
  case ISOPROOF_NONE:
    *value = ISO_VALUE_NONE;
    return ISOPROOF_OK;
  case ISOPROOF_INTEGER:
    return iso_pool_add_i64(pool, scalar.integer, value, error);
  case ISOPROOF_UNSIGNED:
    return iso_pool_add_u64(pool, (uint64_t)scalar.integer, value, error);
  case ISOPROOF_STRING:
  case ISOPROOF_KEYWORD:
  case ISOPROOF_SYMBOL:
    if (!iso_utf8_valid(scalar.text, scalar.length)) {
      return iso_fail(error, ISOPROOF_ERR_USAGE, "a text that is not UTF-8");
    }
    return iso_pool_add_text(pool, scalar.type, scalar.text, scalar.length, value, error);
  }
  return iso_fail(error, ISOPROOF_ERR_USAGE, "a scalar of unknown type %d", (int)scalar.type);
}
