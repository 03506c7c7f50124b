/* Values of JSON as trees, read token by token. */
#include "report/document/json_tree.h"

#include <math.h>

#include "base/text.h"

enum { MOST_PARTS = 1 << 20 };

/* A number or word as JSON writes it. */
static bool keep_scalar(iso_arena *arena, isoproof_scalar scalar, iso_json *node) {
  char number[32];
  node->type = scalar.type == ISOPROOF_STRING ? ISO_TREE_TEXT
               : scalar.type == ISOPROOF_NIL  ? ISO_TREE_NULL
                                              : ISO_TREE_SCALAR;
  const char *text = scalar.text;
  size_t length = scalar.length;
  if (scalar.type < ISOPROOF_STRING) {
    length = isoproof_scalar_format(scalar, number, sizeof number);
    text = number;
  }
  node->text = iso_arena_text(arena, text, length);
  node->length = length;
  return node->text != NULL;
}

static void join(iso_json *parent, iso_json *node) {
  node->parent = parent;
  if (parent == NULL) return;
  if (parent->last != NULL)
    parent->last->next = node;
  else
    parent->first = node;
  parent->last = node;
}

isoproof_status iso_json_read(iso_tokenizer *t, iso_arena *arena, iso_json **tree, isoproof_error *error) {
  iso_json *open = NULL;
  const char *name = NULL;
  size_t parts = 0;
  *tree = NULL;
  for (;;) {
    bool is_name = open != NULL && open->type == ISO_TREE_MAP && name == NULL && t->type == ISO_TOKEN_SCALAR;
    if (t->type == ISO_TOKEN_END) {
      if (open == NULL) return iso_token_expected(t, "a value");
      open = open->parent;
      if (open == NULL) return ISOPROOF_OK;
    } else if (is_name) {
      name = iso_arena_text(arena, t->scalar.text, t->scalar.length);
      if (name == NULL) return iso_fail_memory(error);
    } else {
      iso_json *node = iso_arena_alloc(arena, 1, sizeof *node);
      if (node == NULL) return iso_fail_memory(error);
      if (++parts > MOST_PARTS)
        return iso_fail_at(error, ISOPROOF_ERR_LIMIT, iso_token_place(t), "expected at most %d parts, found more",
                           MOST_PARTS);
      node->name = name;
      name = NULL;
      join(open, node);
      if (*tree == NULL) *tree = node;
      if (t->type == ISO_TOKEN_SCALAR) {
        if (!keep_scalar(arena, t->scalar, node)) return iso_fail_memory(error);
        if (open == NULL) return ISOPROOF_OK;
      } else {
        node->type = t->type == ISO_TOKEN_BEGIN_MAP ? ISO_TREE_MAP : ISO_TREE_LIST;
        open = node;
      }
    }
    ISO_TRY(iso_json_next(t));
  }
}

const iso_json *iso_json_find(const iso_json *tree, const char *name) {
  if (tree == NULL || tree->type != ISO_TREE_MAP) return NULL;
  for (const iso_json *child = tree->first; child != NULL; child = child->next) {
    if (strcmp(child->name, name) == 0) return child->type != ISO_TREE_NULL ? child : NULL;
  }
  return NULL;
}

bool iso_json_u64(const iso_json *tree, uint64_t *out) {
  return tree != NULL && tree->type == ISO_TREE_SCALAR && iso_parse_u64(tree->text, tree->length, out);
}

bool iso_json_i64(const iso_json *tree, int64_t *out) {
  return tree != NULL && tree->type == ISO_TREE_SCALAR && iso_parse_i64(tree->text, tree->length, out);
}

bool iso_json_number(const iso_json *tree, double *out) {
  if (tree == NULL || tree->type != ISO_TREE_SCALAR) return false;
  char *end;
  double number = strtod(tree->text, &end);
  if (end == tree->text || *end != '\0' || !isfinite(number)) return false;
  *out = number;
  return true;
}

bool iso_json_is(const iso_json *tree, const char *word) {
  return tree != NULL && tree->type == ISO_TREE_SCALAR && strcmp(tree->text, word) == 0;
}
