/* toml.h - a TOML 1.0 document as a tree.
 *
 * Reading is strict: what the specification calls invalid is an error with line and column.  A document owns its tree
 * until iso_toml_free.
 */
#ifndef ISO_TOML_TOML_H
#define ISO_TOML_TOML_H

#include "base/arena.h"
#include "base/error.h"

/* Limits: bytes of a document, values in it, arrays and inline tables within each other. */
enum { ISO_TOML_MOST_BYTES = 1 << 20, ISO_TOML_MOST_NODES = 20000, ISO_TOML_DEPTH = 64 };

/* Kinds of values: C name, in words. */
#define ISO_TOML_KIND_LIST(X)                                                                                          \
  X(TABLE, "a table")                                                                                                  \
  X(ARRAY, "an array")                                                                                                 \
  X(STRING, "a string")                                                                                                \
  X(INTEGER, "an integer")                                                                                             \
  X(FLOAT, "a float")                                                                                                  \
  X(BOOLEAN, "a boolean")                                                                                              \
  X(DATETIME, "a date or time")

typedef enum iso_toml_kind {
#define ISO_X(name, text) ISO_TOML_##name,
  ISO_TOML_KIND_LIST(ISO_X)
#undef ISO_X
} iso_toml_kind;

/* Where a table or an array comes from, which decides what may be added to it later. */
typedef enum iso_toml_origin {
  ISO_TOML_BY_VALUE,  /* [1, 2] or { a = 1 }: nothing */
  ISO_TOML_BY_HEADER, /* [a]: tables below it; of arrays, [[a]]: further elements */
  ISO_TOML_BY_PATH,   /* the a of [a.b]: all, and a header of its own */
  ISO_TOML_BY_DOTS    /* the a of a.b = 1: by dotted keys, and tables below it */
} iso_toml_origin;

typedef struct iso_toml_node {
  iso_toml_kind kind;
  iso_toml_origin origin;
  const char *key; /* in its table, terminated; "" in an array */
  size_t key_length;
  const char *text; /* of a string; of numbers, dates and booleans as they were written; terminated */
  size_t length;
  int64_t integer; /* INTEGER */
  double number;   /* INTEGER, FLOAT */
  bool on;         /* BOOLEAN */
  uint64_t line, column;
  struct iso_toml_node *first, *last, *next; /* members in order */
  size_t count;
} iso_toml_node;

typedef struct iso_toml {
  iso_arena arena;
  iso_toml_node *root;
  const char *file;
} iso_toml;

/* `file` is for errors, and must outlive the document. */
isoproof_status iso_toml_parse(const char *text, size_t length, const char *file, iso_toml *document,
                               isoproof_error *error);
void iso_toml_free(iso_toml *document);

/* The member of a table; NULL where there is none. */
const iso_toml_node *iso_toml_find(const iso_toml_node *table, const char *key);
const char *iso_toml_kind_name(iso_toml_kind kind);
iso_place iso_toml_place(const iso_toml *document, const iso_toml_node *node);

#endif
