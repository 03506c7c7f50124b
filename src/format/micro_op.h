/* micro_op.h - the operations of transactions between the tokenizer and the builder.
 *
 * Readers collect a transaction here, because what decides its fate (a status, a broken rest) may come after its
 * operations; and many of them, where the builder is somebody else's for the moment.  The caller owns an iso_micro_op
 * and frees it; it is meant to be used again and again.
 */
#ifndef ISO_FORMAT_MICRO_OP_H
#define ISO_FORMAT_MICRO_OP_H

#include "base/vector.h"
#include "format/list_cache.h"
#include "format/token.h"
#include "history/builder.h"

/* A read by predicate, or a count. */
typedef struct iso_micro_statement {
  iso_predicate predicate;
  bool answered;
  size_t first_row, row_count;
  int64_t counted;
  size_t first_where, where_count; /* conditions on columns */
} iso_micro_statement;

/* What a row that is written has in a column. */
typedef struct iso_micro_content {
  size_t op; /* number of the operation that writes it */
  iso_value column, content;
} iso_micro_content;

typedef struct iso_micro_op {
  ISO_VEC(iso_op_add) ops;
  ISO_VEC(iso_value) elements; /* of all the lists, in order */
  ISO_VEC(iso_micro_statement) statements;
  ISO_VEC(iso_row_value) rows; /* that they returned */
  /* Of the transaction at hand alone: those who keep many of them go without (jsonl_block.c). */
  ISO_VEC(iso_condition) where;
  ISO_VEC(iso_micro_content) contents;
  ISO_VEC(uint32_t) sources; /* the numbers of their statements: none, or one for each operation */
  size_t first_op, first_element, first_statement, first_row; /* of the transaction at hand */
  iso_list_cache cache;
} iso_micro_op;

/* One transaction of them; refers to where they are. */
typedef struct iso_micro_ops {
  iso_op_add *ops;
  size_t count;
  const iso_value *elements;
  const iso_micro_statement *statements; /* of all transactions */
  const iso_row_value *rows;             /* likewise */
  const iso_condition *where;            /* of their statements */
  const iso_micro_content *contents;     /* of the rows that they write, in order */
  size_t content_count;
  const uint32_t *sources; /* NULL: none */
} iso_micro_ops;

/* Forgets the transaction at hand. */
static inline void iso_micro_op_clear(iso_micro_op *micro) {
  micro->ops.count = micro->first_op;
  micro->elements.count = micro->first_element;
  micro->statements.count = micro->first_statement;
  micro->rows.count = micro->first_row;
  micro->where.count = micro->contents.count = 0;
}
/* Whether the transaction at hand says something of columns or statements. */
static inline bool iso_micro_op_has_columns(const iso_micro_op *micro) {
  return micro->where.count > 0 || micro->contents.count > 0 || micro->sources.count > 0;
}
/* Keeps it, and begins the next one behind it. */
static inline void iso_micro_op_keep(iso_micro_op *micro) {
  micro->first_op = micro->ops.count;
  micro->first_element = micro->elements.count;
  micro->first_statement = micro->statements.count;
  micro->first_row = micro->rows.count;
}
/* Forgets all of them. */
static inline void iso_micro_op_reset(iso_micro_op *micro) {
  micro->first_op = micro->first_element = micro->first_statement = micro->first_row = 0;
  iso_micro_op_clear(micro);
}
void iso_micro_op_free(iso_micro_op *micro);

/* The `count` operations from a place on, whose lists have their elements from `first_element` on. */
static inline iso_micro_ops iso_micro_op_part(const iso_micro_op *micro, size_t first, size_t count,
                                              size_t first_element) {
  return (iso_micro_ops){.ops = count > 0 ? micro->ops.items + first : NULL,
                         .count = count,
                         .elements =
                             first_element < micro->elements.count ? micro->elements.items + first_element : NULL,
                         .statements = micro->statements.items,
                         .rows = micro->rows.items,
                         .where = micro->where.items,
                         .contents = micro->contents.items,
                         .content_count = micro->contents.count,
                         .sources = micro->sources.count > 0 ? micro->sources.items : NULL};
}
/* Those of the transaction at hand. */
static inline iso_micro_ops iso_micro_op_at_hand(const iso_micro_op *micro) {
  return iso_micro_op_part(micro, micro->first_op, micro->ops.count - micro->first_op, micro->first_element);
}

/* Adds the operations to the open transaction of the builder. */
isoproof_status iso_micro_op_emit(const iso_micro_ops *part, isoproof_builder *builder, isoproof_error *error);

/* The code of the current token, which is a scalar. */
static inline isoproof_status iso_micro_op_code(iso_tokenizer *t, iso_pool *pool, iso_value *code) {
  if (t->scalar.type == ISOPROOF_INTEGER) return iso_pool_add_i64(pool, t->scalar.integer, code, t->error);
  return iso_pool_add(pool, t->scalar, code, t->error);
}

/* Reads the elements of the list or set that the current token opens, up to its END.  ISOPROOF_ERR_FORMAT for anything
 * but scalars that are not nil. */
isoproof_status iso_micro_op_elements(iso_micro_op *micro, iso_tokenizer *t, iso_pool *pool, iso_value *count);
/* The same for the list that was read of a key, which may well begin like the one before. */
isoproof_status iso_micro_op_list(iso_micro_op *micro, iso_tokenizer *t, iso_pool *pool, iso_value key,
                                  iso_value *count);

/* What these are made of, for readers with elements of their own.  The list of a key whose beginning was seen before:
 */
typedef struct iso_list_start {
  size_t first;           /* its first element */
  size_t recalled;        /* elements that are there already */
  uint64_t begin, offset; /* of the text and of the window in the input */
} iso_list_start;
isoproof_status iso_micro_op_recall(iso_micro_op *micro, iso_tokenizer *t, iso_value key, iso_list_start *start);
/* and kept for the next time, at its END. */
void iso_micro_op_remember(iso_micro_op *micro, iso_tokenizer *t, iso_value key, const iso_list_start *start);
/* Takes in the plain integers that follow. */
isoproof_status iso_micro_op_integers(iso_micro_op *micro, iso_tokenizer *t);

#endif
