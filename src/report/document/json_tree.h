/* json_tree.h - a value of JSON as a tree, for values that are small: those that are not are left to the tokenizer.
 *
 * A tree lies in the arena that it was read into.
 */
#ifndef ISO_REPORT_DOCUMENT_JSON_TREE_H
#define ISO_REPORT_DOCUMENT_JSON_TREE_H

#include "base/arena.h"
#include "format/token.h"

typedef enum iso_json_type { ISO_TREE_NULL, ISO_TREE_SCALAR, ISO_TREE_TEXT, ISO_TREE_LIST, ISO_TREE_MAP } iso_json_type;

typedef struct iso_json {
  iso_json_type type;
  const char *name; /* of a member of a map; NULL otherwise; terminated */
  const char *text; /* of a text, or of a number or word as it was written; terminated */
  size_t length;
  struct iso_json *first, *last, *next, *parent;
} iso_json;

/* Reads the value whose first token is the current one; ISOPROOF_ERR_LIMIT when it has too many parts. */
isoproof_status iso_json_read(iso_tokenizer *t, iso_arena *arena, iso_json **tree, isoproof_error *error);

/* The member of that name; NULL where there is none, or it is null, or the tree is no map. */
const iso_json *iso_json_find(const iso_json *tree, const char *name);
/* Each gives false, and leaves *out alone, where the tree is NULL or says something else. */
bool iso_json_u64(const iso_json *tree, uint64_t *out);
bool iso_json_i64(const iso_json *tree, int64_t *out);
bool iso_json_number(const iso_json *tree, double *out);
bool iso_json_is(const iso_json *tree, const char *word); /* true, false */

#endif
