/* parse.h - from text to sections: what parse.c and its neighbours share.  Nothing is owned but by the script. */
#ifndef ISO_SCRIPT_PARSE_H
#define ISO_SCRIPT_PARSE_H

#include "script/scan.h"

/* An \if that is open. */
typedef struct iso_open_if {
  uint64_t line;
  uint32_t test;  /* the last \if or \elif, whose target is not known yet; UINT32_MAX after \else */
  uint32_t jumps; /* the last jump to the end, each with the one before as its target; UINT32_MAX none */
} iso_open_if;

typedef struct iso_parser {
  iso_script *script;
  iso_scanner scanner;
  uint64_t file_weight;
  size_t first_section; /* of this file */
  bool sectioned;       /* the file has sections */
  iso_section *current; /* NULL before the first section; until the next is added */
  ISO_VEC(iso_command) preamble;
  ISO_VEC(iso_open_if) open;
  isoproof_error *error;
} iso_parser;

isoproof_status iso_parse_fail(const iso_parser *p, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a command to the section, or to what comes before the first one. */
isoproof_status iso_parse_add(iso_parser *p, iso_command command);

/* ---- parse_command.c ---- */

/* A backslash command, after the SQL statement that ended with it, if one did. */
isoproof_status iso_parse_command(iso_parser *p, const iso_scanned *found, bool after_sql);
/* A statement: SQL, or one that begins or ends a transaction. */
isoproof_status iso_parse_sql(iso_parser *p, const iso_scanned *found);

/* ---- parse_section.c ---- */

/* A comment: opens a section, says what an invariant returns, or is just a comment. */
isoproof_status iso_parse_comment(iso_parser *p, const iso_scanned *found);
/* At the end of a section: whether it makes sense. */
isoproof_status iso_parse_end_section(iso_parser *p);

/* The next word, separated by blanks, which *at goes behind; "..." is a word without its quotes.  Length 0: none. */
const char *iso_parse_word(const char **at, size_t *length);
bool iso_parse_is(const char *word, size_t length, const char *text);

#endif
