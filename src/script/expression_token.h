/* expression_token.h - the tokens of expressions.  Nothing is owned: names point into the text. */
#ifndef ISO_SCRIPT_EXPRESSION_TOKEN_H
#define ISO_SCRIPT_EXPRESSION_TOKEN_H

#include "script/functions.h"

typedef enum iso_expression_token_kind {
  ISO_TOKEN_END,
  ISO_TOKEN_CONSTANT,  /* `value` */
  ISO_TOKEN_TOO_LARGE, /* 9223372036854775808, which only a minus makes an integer */
  ISO_TOKEN_VARIABLE,  /* `text` without its colon */
  ISO_TOKEN_NAME,      /* of a function */
  ISO_TOKEN_OPERATOR,  /* `function`: between two operands; + and - also before one */
  ISO_TOKEN_COMPLEMENT,
  ISO_TOKEN_NOT,
  ISO_TOKEN_AND,
  ISO_TOKEN_OR,
  ISO_TOKEN_IS,
  ISO_TOKEN_ISNULL,
  ISO_TOKEN_NOTNULL,
  ISO_TOKEN_CASE,
  ISO_TOKEN_WHEN,
  ISO_TOKEN_THEN,
  ISO_TOKEN_ELSE,
  ISO_TOKEN_CASE_END,
  ISO_TOKEN_OPEN,
  ISO_TOKEN_CLOSE,
  ISO_TOKEN_COMMA,
  ISO_TOKEN_WRONG
} iso_expression_token_kind;

typedef struct iso_expression_token {
  iso_expression_token_kind kind;
  const char *text;
  size_t length;
  iso_script_value value;
  iso_script_function function;
} iso_expression_token;

/* The token at *at, behind which *at goes. */
iso_expression_token iso_expression_next(const char **at, const char *end);

#endif
