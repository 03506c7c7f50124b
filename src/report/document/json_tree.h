/* json_tree.h - a value of JSON as a tree, for values that are small: those that are not are left to the tokenizer.
 *
 * A tree lies in the arena that it was read into.
 */
#ifndef ISO_REPORT_DOCUMENT_JSON_TREE_H
#define ISO_REPORT_DOCUMENT_JSON_TREE_H

#include "base/arena.h"
#include "format/token.h"

typedef enum iso_tree_type { ISO_TREE_NULL, ISO_TREE_SCALAR, ISO_TREE_TEXT, ISO_TREE_LIST, ISO_TREE_MAP } iso_tree_type;

typedef struct iso_tree {
  iso_tree_type type;
  const char *name; /* of a member of a map; NULL otherwise; terminated */
  const char *text; /* of a text, or of a number or word as it was written; terminated */
  size_t length;
  struct iso_tree *first, *last, *next, *parent;
} iso_tree;

/* Reads the value whose first token is the current one; ISOPROOF_ERR_LIMIT when it has too many parts. */
isoproof_status iso_tree_read(iso_tokenizer *t, iso_arena *arena, iso_tree **tree, isoproof_error *error);

/* The member of that name; NULL where there is none, or it is null, or the tree is no map. */
const iso_tree *iso_tree_find(const iso_tree *tree, const char *name);
/* Each gives false, and leaves *out alone, where the tree is NULL or says something else. */
bool iso_tree_u64(const iso_tree *tree, uint64_t *out);
bool iso_tree_i64(const iso_tree *tree, int64_t *out);
bool iso_tree_number(const iso_tree *tree, double *out);
bool iso_tree_is(const iso_tree *tree, const char *word); /* true, false */

#endif
