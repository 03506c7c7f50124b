/* expression.h - expressions of \set, \if and \elif: compiled once, evaluated by a stack machine without recursion.
 *
 * An expression owns its code until iso_expression_free; it may be evaluated by several threads at once. */
#ifndef ISO_SCRIPT_EXPRESSION_H
#define ISO_SCRIPT_EXPRESSION_H

#include "script/functions.h"
#include "script/variables.h"

enum { ISO_EXPRESSION_DEPTH = 10000 };

typedef enum iso_expression_kind {
  ISO_CODE_CONSTANT,
  ISO_CODE_VARIABLE,
  ISO_CODE_CALL,
  ISO_CODE_AND, /* what is null or false stays, and the right side is not asked for */
  ISO_CODE_OR,
  ISO_CODE_LOGIC,  /* the right side of AND and OR: null or a boolean */
  ISO_CODE_UNLESS, /* goes on at the target unless true */
  ISO_CODE_JUMP
} iso_expression_kind;

typedef struct iso_expression_code {
  iso_expression_kind kind;
  uint32_t target;    /* where to go on */
  uint32_t arguments; /* of a call */
  iso_script_function function;
  iso_script_value constant;
  char name[ISO_SCRIPT_NAME_BYTES]; /* of a variable */
} iso_expression_code;

typedef struct iso_expression {
  ISO_VEC(iso_expression_code) code;
} iso_expression;

/* Parses the text up to its end.  ISOPROOF_ERR_USAGE says what was expected, and where: `column` is that of the first
 * byte of the text, and error->column that of the place. */
isoproof_status iso_expression_parse(const char *text, size_t length, iso_place place, iso_expression *expression,
                                     isoproof_error *error);
void iso_expression_free(iso_expression *expression);

isoproof_status iso_expression_evaluate(const iso_expression *expression, const iso_script_variables *variables,
                                        iso_script_random *random, iso_script_value *result, isoproof_error *error);

#endif
