/* parser.h - where the reader of TOML stands, and what its files share.  Nothing is owned here but what lies in the
 * arena of the document.
 */
#ifndef ISO_TOML_PARSER_H
#define ISO_TOML_PARSER_H

#include "base/vector.h"
#include "toml/toml.h"

/* A part of a key. */
typedef struct iso_toml_key {
  const char *text; /* terminated */
  size_t length;
  uint64_t line, column;
} iso_toml_key;

/* An array or inline table that is being read. */
typedef struct iso_toml_open {
  iso_toml_node *node;
  bool has_value; /* since the last comma */
} iso_toml_open;

typedef struct iso_toml_parser {
  iso_toml *document;
  const char *at, *end, *line_start;
  uint64_t line;
  size_t nodes;
  ISO_VEC(char) buffer; /* of a string */
  ISO_VEC(iso_toml_key) keys;
  iso_toml_open open[ISO_TOML_DEPTH];
  size_t depth;
  isoproof_error *error;
} iso_toml_parser;

/* Fails at the current place, or at another one; returns the status. */
isoproof_status iso_toml_fail(iso_toml_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
isoproof_status iso_toml_fail_at(iso_toml_parser *p, uint64_t line, uint64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "expected WHAT, found ...", with what comes next. */
isoproof_status iso_toml_expected(iso_toml_parser *p, const char *what);

static inline uint64_t iso_toml_column(const iso_toml_parser *p) { return (uint64_t)(p->at - p->line_start) + 1; }
static inline char iso_toml_peek(const iso_toml_parser *p) { return p->at < p->end ? *p->at : '\0'; }
/* Whether a newline comes next: 1 or 2 bytes of it, or 0. */
static inline size_t iso_toml_newline(const iso_toml_parser *p) {
  if (p->at < p->end && *p->at == '\n') return 1;
  return p->end - p->at >= 2 && p->at[0] == '\r' && p->at[1] == '\n' ? 2 : 0;
}
static inline void iso_toml_pass_newline(iso_toml_parser *p, size_t bytes) {
  p->at += bytes;
  p->line++;
  p->line_start = p->at;
}

/* ---- string.c ---- */

/* Reads a string of any of the four kinds, at its first quote; a key may not have several lines. */
isoproof_status iso_toml_read_string(iso_toml_parser *p, bool of_key, const char **text, size_t *length);

/* ---- scalar.c ---- */

/* Reads a boolean, number, date or time into a node that has its place already. */
isoproof_status iso_toml_read_scalar(iso_toml_parser *p, iso_toml_node *node);

#endif
