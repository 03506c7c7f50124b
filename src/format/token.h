/* token.h - one pull tokenizer for JSON and EDN over a window on an input.
 *
 * Nothing is held but the window and a small stack of open containers, so that inputs of any size stream through.  A
 * tokenizer owns its window and scratch text, not the input; the text of a scalar is valid until the next token.
 *
 * JSON is RFC 8259 to the letter, except that a sequence of values separated by white space is accepted (JSON lines).
 * EDN elements lose their tags (#inst "..." is the string), discarded elements are not seen, and metadata is an error.
 * Both: at most ISO_TOKEN_DEPTH open containers, tokens of at most ISO_TOKEN_LONGEST bytes, valid UTF-8 without NUL
 * bytes; one byte order mark at the start is ignored.
 */
#ifndef ISO_FORMAT_TOKEN_H
#define ISO_FORMAT_TOKEN_H

#include <isoproof/history.h>
#include <string.h>

#include "base/input.h"
#include "base/vector.h"

enum { ISO_TOKEN_DEPTH = 64, ISO_TOKEN_LONGEST = 16 << 20 };

typedef enum iso_token_dialect { ISO_TOKEN_DIALECT_JSON, ISO_TOKEN_DIALECT_EDN } iso_token_dialect;

typedef enum iso_token_type {
  ISO_TOKEN_END_OF_INPUT,
  ISO_TOKEN_SCALAR,
  ISO_TOKEN_END, /* of the container opened last */
  ISO_TOKEN_BEGIN_LIST,
  ISO_TOKEN_BEGIN_MAP, /* JSON: keys are strings; both: keys and values alternate */
  ISO_TOKEN_BEGIN_SET
} iso_token_type;

typedef struct iso_tokenizer {
  /* The current token. */
  iso_token_type type;
  uint32_t depth; /* containers open after it */
  isoproof_scalar scalar;
  const char *start; /* its first byte in the window */
  uint64_t token_line;

  /* Inside. */
  iso_window window;
  iso_token_dialect dialect;
  bool failed; /* the input is not well-formed (rather than not what the caller wants) */
  uint64_t line;
  uint64_t line_offset;               /* of the first byte of the line */
  uint8_t kinds[ISO_TOKEN_DEPTH + 1]; /* per open container; see json_token.c and edn_token.c */
  uint8_t expect;                     /* JSON: what may come next */
  uint32_t discarding;                /* EDN: discards (#_) whose element has not ended */
  uint32_t discards[ISO_TOKEN_DEPTH + 1];
  ISO_VEC(char) text;
  isoproof_error *error;
} iso_tokenizer;

/* Both must outlive the tokenizer; the error (may be NULL) is filled by any call that fails. */
isoproof_status iso_tokenizer_init(iso_tokenizer *t, iso_input *input, iso_token_dialect dialect,
                                   isoproof_error *error);
void iso_tokenizer_free(iso_tokenizer *t);
/* A tokenizer on a text alone, which stays the caller's: lines are counted from 0, and only its scratch text is to be
 * freed.  It may have been used on another text before. */
void iso_tokenizer_on_text(iso_tokenizer *t, iso_token_dialect dialect, const char *text, size_t length,
                           isoproof_error *error);
/* Goes to the next line, where nothing else comes before it; false, and nothing happens, where something does. */
bool iso_token_next_line(iso_tokenizer *t);

isoproof_status iso_json_next(iso_tokenizer *t);
isoproof_status iso_edn_next(iso_tokenizer *t);
/* Take in integers from 0 to 9999999 of a list with single spaces (JSON: commas) between them, at most `most`, as long
 * as nothing else comes: the hot path of long lists.  Return how many; the next token is whatever follows. */
size_t iso_edn_integers(iso_tokenizer *t, uint32_t *numbers, size_t most);
size_t iso_json_integers(iso_tokenizer *t, uint32_t *numbers, size_t most);
/* Goes to a place in the window, over so many elements of the container that is open. */
void iso_edn_advance(iso_tokenizer *t, const char *to, size_t elements);
/* The same in a JSON list, over one element or more; and whether nothing of it was seen so far. */
void iso_json_advance(iso_tokenizer *t, const char *to);
/* The same in a JSON object that was just opened, over one field or more. */
void iso_json_advance_map(iso_tokenizer *t, const char *to);
/* Says that nothing is open, and whether a value has ended right before. */
void iso_json_top(iso_tokenizer *t, bool after_value);
bool iso_json_is_first(const iso_tokenizer *t);

/* Goes to the next token. */
static inline isoproof_status iso_token_next(iso_tokenizer *t) {
  return t->dialect == ISO_TOKEN_DIALECT_EDN ? iso_edn_next(t) : iso_json_next(t);
}

static inline size_t iso_token_integers(iso_tokenizer *t, uint32_t *numbers, size_t most) {
  return t->dialect == ISO_TOKEN_DIALECT_EDN ? iso_edn_integers(t, numbers, most) : iso_json_integers(t, numbers, most);
}
/* Goes to a place in the window, over so many elements of the list that is open, at least one. */
static inline void iso_token_advance(iso_tokenizer *t, const char *to, size_t elements) {
  if (t->dialect == ISO_TOKEN_DIALECT_EDN) {
    iso_edn_advance(t, to, elements);
  } else {
    iso_json_advance(t, to);
  }
}

/* Skips the rest of the value whose first token is the current one: to its END, or not at all for a scalar. */
isoproof_status iso_token_skip(iso_tokenizer *t);
/* Skips until only `depth` containers are open. */
isoproof_status iso_token_leave(iso_tokenizer *t, uint32_t depth);
/* Whether a newline comes after the current token's line began; consumes the rest of the input. */
isoproof_status iso_token_newline_follows(iso_tokenizer *t, bool *follows);

/* Where the current token begins. */
iso_place iso_token_place(const iso_tokenizer *t);
/* ISOPROOF_ERR_FORMAT at the current token: "expected WHAT, found ...". */
isoproof_status iso_token_expected(iso_tokenizer *t, const char *what);

/* Whether a dialect reads the text as one symbol (see ISOPROOF_SYMBOL), so that it can be written as it is. */
bool iso_token_is_symbol(iso_token_dialect dialect, const char *text, size_t length);
/* Whether EDN reads a colon and the text as one keyword. */
bool iso_edn_is_keyword(const char *text, size_t length);

/* Whether the current token is a keyword, string or symbol with that text. */
static inline bool iso_token_is_n(const iso_tokenizer *t, const char *text, size_t length) {
  return t->type == ISO_TOKEN_SCALAR && t->scalar.type >= ISOPROOF_STRING && t->scalar.length == length &&
         memcmp(t->scalar.text, text, length) == 0;
}
#define iso_token_is(t, literal) iso_token_is_n(t, literal, sizeof(literal) - 1)

static inline bool iso_token_is_nil(const iso_tokenizer *t) {
  return t->type == ISO_TOKEN_SCALAR && t->scalar.type == ISOPROOF_NIL;
}
static inline bool iso_token_is_text(const iso_tokenizer *t) {
  return t->type == ISO_TOKEN_SCALAR && t->scalar.type >= ISOPROOF_STRING;
}
static inline bool iso_token_is_integer(const iso_tokenizer *t) {
  return t->type == ISO_TOKEN_SCALAR && t->scalar.type == ISOPROOF_INTEGER;
}

#endif
