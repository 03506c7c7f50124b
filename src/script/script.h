/* script.h - scripts as parsed: sections, and the commands of each.
 *
 * A script owns everything that it shows until iso_script_free, and does not change: threads may share it. */
#ifndef ISO_SCRIPT_SCRIPT_H
#define ISO_SCRIPT_SCRIPT_H

#include "base/arena.h"
#include "script/expression.h"

enum {
  ISO_SCRIPT_MOST_BYTES = 16 << 20, /* of a file */
  ISO_SCRIPT_MOST_COMMANDS = 100000,
  ISO_SCRIPT_MOST_SECTIONS = 1000,
  ISO_SCRIPT_MOST_WEIGHT = 1000000
};

/* How texts and names are quoted where a statement goes to. */
typedef enum iso_script_quoting {
  ISO_QUOTING_STANDARD, /* 'it''s', "name" */
  ISO_QUOTING_POSTGRES, /* E'...' where there is a backslash */
  ISO_QUOTING_MARIADB   /* a backslash escapes; `name` */
} iso_script_quoting;

/* ---- commands ---- */

typedef enum iso_command_kind {
  ISO_COMMAND_SQL,
  ISO_COMMAND_BEGIN,
  ISO_COMMAND_COMMIT,
  ISO_COMMAND_ROLLBACK,
  ISO_COMMAND_SET,
  ISO_COMMAND_UNLESS, /* \if, \elif: goes on at the target unless true */
  ISO_COMMAND_JUMP,   /* before \elif and \else */
  ISO_COMMAND_SLEEP
} iso_command_kind;

typedef enum iso_part_kind {
  ISO_PART_TEXT,
  ISO_PART_PLAIN,   /* :name */
  ISO_PART_TEXTUAL, /* :'name' */
  ISO_PART_NAME     /* :"name" */
} iso_part_kind;

/* A statement is its parts one after the other. */
typedef struct iso_part {
  iso_part_kind kind;
  const char *text; /* as written, with colon and quotes */
  size_t length;
  const char *name; /* of the variable; NULL */
} iso_part;

typedef struct iso_command {
  iso_command_kind kind;
  uint64_t line;
  const char *source;    /* SQL as written, in one line, without comments; \commands as written */
  const iso_part *parts; /* of SQL; of what follows \sleep */
  size_t part_count;
  bool sets;                  /* \gset, \aset: the columns of the row become variables */
  bool last_row;              /* \aset: the last row of any number, or none */
  const char *prefix;         /* of their names, "" none */
  const char *isolation;      /* BEGIN: by the database's name; NULL */
  bool read_only;             /* BEGIN */
  const char *name;           /* \set: the variable */
  iso_expression *expression; /* \set, \if, \elif */
  uint32_t target;            /* within the section */
  double unit;                /* \sleep: seconds */
} iso_command;

/* ---- what invariants return ---- */

/* C name, sign. */
#define ISO_EXPECT_LIST(X)                                                                                             \
  X(AT_LEAST, ">=")                                                                                                    \
  X(AT_MOST, "<=")                                                                                                     \
  X(DIFFERENT, "<>")                                                                                                   \
  X(GREATER, ">")                                                                                                      \
  X(LESS, "<")                                                                                                         \
  X(EQUAL, "=")

typedef enum iso_expect_sign {
#define ISO_X(name, sign) ISO_EXPECT_##name,
  ISO_EXPECT_LIST(ISO_X)
#undef ISO_X
      ISO_EXPECT_SIGNS
} iso_expect_sign;

typedef struct iso_expected_cell {
  iso_expect_sign sign;
  const char *text; /* or :name */
} iso_expected_cell;

typedef struct iso_expected_row {
  const iso_expected_cell *cells;
  size_t count;
} iso_expected_row;

/* ---- sections ---- */

/* C name, word that opens it. */
#define ISO_SECTION_LIST(X)                                                                                            \
  X(SETUP, "setup")                                                                                                    \
  X(TRANSACTION, "transaction")                                                                                        \
  X(INVARIANT, "invariant")                                                                                            \
  X(TEARDOWN, "teardown")

typedef enum iso_section_kind {
#define ISO_X(name, word) ISO_SECTION_##name,
  ISO_SECTION_LIST(ISO_X)
#undef ISO_X
      ISO_SECTION_KINDS
} iso_section_kind;

typedef struct iso_section {
  iso_section_kind kind;
  const char *file;
  uint64_t line;
  const char *name;            /* of transactions and invariants */
  const char *isolation;       /* of a transaction, by the database's name; NULL */
  uint64_t weight;             /* of a transaction, times that of its file */
  bool expects, expects_empty; /* of an invariant: what it returns was said; no row */
  bool in_the_end;             /* of an invariant: it need not hold before */
  bool begins;                 /* it has a BEGIN of its own: what is outside of those is a transaction each */
  ISO_VEC(iso_command) commands;
  ISO_VEC(iso_expected_row) rows; /* of an invariant; none: no row */
} iso_section;

typedef struct iso_script {
  iso_arena arena;
  ISO_VEC(iso_section) sections; /* in the order of the files */
  uint64_t weight;               /* of all transactions */
  bool levels;                   /* a transaction has a level of its own */
} iso_script;

/* A file to read: its path, perhaps "PATH@WEIGHT". */
isoproof_status iso_script_read(const char *const *paths, size_t count, iso_script_quoting quoting, iso_script **script,
                                isoproof_error *error);
/* One text instead of files, for tests; `name` is what messages call it. */
isoproof_status iso_script_parse(const char *name, const char *text, size_t length, iso_script_quoting quoting,
                                 iso_script **script, isoproof_error *error);
void iso_script_free(iso_script *script);

/* The transaction that a number below script->weight draws. */
const iso_section *iso_script_transaction(const iso_script *script, uint64_t drawn);
/* How many sections of a kind there are. */
size_t iso_script_count(const iso_script *script, iso_section_kind kind);

/* Whether rows of text (NULL: SQL's null), `columns` to a row, are what the invariant expects: equal as text or as
 * numbers.  A cell may be :name. */
bool iso_expectation_holds(const iso_section *invariant, const iso_script_variables *variables,
                           const char *(*cell)(const void *user, size_t row, uint32_t column), const void *user,
                           size_t rows, uint32_t columns);
/* What it expects in words, to be freed: "1000", "no row", "3 rows: (1, 2), ..."; NULL when memory is out. */
char *iso_expectation_words(const iso_section *invariant, const iso_script_variables *variables);
/* Rows in the same words. */
char *iso_expectation_found(const char *(*cell)(const void *user, size_t row, uint32_t column), const void *user,
                            size_t rows, uint32_t columns);

#endif
