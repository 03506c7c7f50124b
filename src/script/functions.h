/* functions.h - operators and functions of expressions, with pgbench's names and semantics.  Nothing is owned. */
#ifndef ISO_SCRIPT_FUNCTIONS_H
#define ISO_SCRIPT_FUNCTIONS_H

#include "script/random.h"
#include "script/value.h"

/* C name, name in expressions (operators have none that could be written), fewest and most arguments (-1: any number).
 * Each gives null when an argument is, but for IS. */
#define ISO_SCRIPT_FUNCTION_LIST(X)                                                                                    \
  X(ADD, "+", 2, 2)                                                                                                    \
  X(SUBTRACT, "-", 2, 2)                                                                                               \
  X(MULTIPLY, "*", 2, 2)                                                                                               \
  X(DIVIDE, "/", 2, 2)                                                                                                 \
  X(EQUAL, "=", 2, 2)                                                                                                  \
  X(DIFFERENT, "<>", 2, 2)                                                                                             \
  X(LESS, "<", 2, 2)                                                                                                   \
  X(AT_MOST, "<=", 2, 2)                                                                                               \
  X(GREATER, ">", 2, 2)                                                                                                \
  X(AT_LEAST, ">=", 2, 2)                                                                                              \
  X(MODULO, "mod", 2, 2)                                                                                               \
  X(BIT_AND, "&", 2, 2)                                                                                                \
  X(BIT_OR, "|", 2, 2)                                                                                                 \
  X(BIT_XOR, "#", 2, 2)                                                                                                \
  X(SHIFT_LEFT, "<<", 2, 2)                                                                                            \
  X(SHIFT_RIGHT, ">>", 2, 2)                                                                                           \
  X(NOT, "!not", 1, 1)                                                                                                 \
  X(IS, "!is", 2, 2)                                                                                                   \
  X(ABS, "abs", 1, 1)                                                                                                  \
  X(LEAST, "least", 1, -1)                                                                                             \
  X(GREATEST, "greatest", 1, -1)                                                                                       \
  X(DEBUG, "debug", 1, 1)                                                                                              \
  X(PI, "pi", 0, 0)                                                                                                    \
  X(SQRT, "sqrt", 1, 1)                                                                                                \
  X(LN, "ln", 1, 1)                                                                                                    \
  X(EXP, "exp", 1, 1)                                                                                                  \
  X(INT, "int", 1, 1)                                                                                                  \
  X(DOUBLE, "double", 1, 1)                                                                                            \
  X(POW, "pow", 2, 2)                                                                                                  \
  X(POWER, "power", 2, 2)                                                                                              \
  X(RANDOM, "random", 2, 2)                                                                                            \
  X(RANDOM_GAUSSIAN, "random_gaussian", 3, 3)                                                                          \
  X(RANDOM_EXPONENTIAL, "random_exponential", 3, 3)                                                                    \
  X(RANDOM_ZIPFIAN, "random_zipfian", 3, 3)                                                                            \
  X(HASH, "hash", 1, 2)                                                                                                \
  X(HASH_MURMUR2, "hash_murmur2", 1, 2)                                                                                \
  X(HASH_FNV1A, "hash_fnv1a", 1, 2)                                                                                    \
  X(PERMUTE, "permute", 2, 3)

typedef enum iso_script_function {
#define ISO_X(name, text, fewest, most) ISO_FUNCTION_##name,
  ISO_SCRIPT_FUNCTION_LIST(ISO_X)
#undef ISO_X
      ISO_FUNCTIONS
} iso_script_function;

/* By name without regard to case; ISO_FUNCTIONS when there is none. */
iso_script_function iso_script_function_find(const char *name, size_t length);
const char *iso_script_function_name(iso_script_function function);
/* Whether it takes that many arguments. */
bool iso_script_function_takes(iso_script_function function, size_t count);
/* Whether it is a hash or permute that was given no seed: the variable default_seed is one more argument. */
bool iso_script_function_wants_seed(iso_script_function function, size_t count);

/* Calls it.  ISOPROOF_ERR_USAGE: arguments that make no sense, a division by zero, a result that does not fit. */
isoproof_status iso_script_function_call(iso_script_function function, const iso_script_value *arguments, size_t count,
                                         iso_script_random *random, iso_script_value *result, isoproof_error *error);

#endif
