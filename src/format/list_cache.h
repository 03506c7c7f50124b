/* list_cache.h - the texts of the longest lists of recent keys.
 *
 * A read of a list mostly begins with what was read of its key before; what has the same text need not be parsed again.
 * Only EDN lists of plain integers with single spaces between them are remembered, and only short ones.  The memory
 * owns its texts until iso_list_memory_free.
 */
#ifndef ISO_FORMAT_LIST_CACHE_H
#define ISO_FORMAT_LIST_CACHE_H

#include "base/vector.h"
#include "format/token.h"
#include "history/pool.h"

enum { ISO_LIST_SLOTS = 512, ISO_LIST_LONGEST = 16384 };

typedef struct iso_list_text {
  iso_value key;
  ISO_VEC(char) text; /* without brackets */
  ISO_VEC(iso_value) elements;
  ISO_VEC(uint32_t) ends; /* where each element ends in the text */
} iso_list_text;

typedef struct iso_list_memory {
  iso_list_text *slots; /* by key; NULL until something is remembered */
} iso_list_memory;

void iso_list_memory_free(iso_list_memory *memory);
/* The elements that the list after the current token has in common with the one remembered, which is all that either
 * has; the tokenizer goes behind them.  *elements stays valid until the next call. */
size_t iso_list_recall(const iso_list_memory *memory, iso_tokenizer *t, iso_value key, const iso_value **elements);
/* Remembers a list of which `recalled` elements were recalled.  Forgets silently when memory is out. */
void iso_list_learn(iso_list_memory *memory, iso_value key, const char *text, size_t length, const iso_value *elements,
                    size_t count, size_t recalled);

#endif
