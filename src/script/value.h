/* value.h - values of expressions and variables, as pgbench has them: null, boolean, integer, double.  Nothing is
 * owned. */
#ifndef ISO_SCRIPT_VALUE_H
#define ISO_SCRIPT_VALUE_H

#include "base/error.h"

/* C name, name in messages. */
#define ISO_SCRIPT_TYPE_LIST(X)                                                                                        \
  X(NULL, "null")                                                                                                      \
  X(BOOLEAN, "boolean")                                                                                                \
  X(INTEGER, "int")                                                                                                    \
  X(DOUBLE, "double")

typedef enum iso_script_type {
#define ISO_X(name, text) ISO_SCRIPT_##name,
  ISO_SCRIPT_TYPE_LIST(ISO_X)
#undef ISO_X
} iso_script_type;

typedef struct iso_script_value {
  iso_script_type type;
  union {
    bool boolean;
    int64_t integer;
    double real;
  };
} iso_script_value;

static inline iso_script_value iso_script_null(void) { return (iso_script_value){.type = ISO_SCRIPT_NULL}; }
static inline iso_script_value iso_script_boolean(bool b) {
  return (iso_script_value){.type = ISO_SCRIPT_BOOLEAN, .boolean = b};
}
static inline iso_script_value iso_script_integer(int64_t i) {
  return (iso_script_value){.type = ISO_SCRIPT_INTEGER, .integer = i};
}
static inline iso_script_value iso_script_double(double d) {
  return (iso_script_value){.type = ISO_SCRIPT_DOUBLE, .real = d};
}

const char *iso_script_type_name(iso_script_type type);

/* Conversions where pgbench makes them; ISOPROOF_ERR_USAGE elsewhere.  A double becomes the nearest integer. */
isoproof_status iso_script_to_integer(iso_script_value value, int64_t *out, isoproof_error *error);
isoproof_status iso_script_to_double(iso_script_value value, double *out, isoproof_error *error);
isoproof_status iso_script_to_boolean(iso_script_value value, bool *out, isoproof_error *error);
/* What \if and CASE WHEN take for true: true, and numbers other than 0. */
bool iso_script_truth(iso_script_value value);

enum { ISO_SCRIPT_VALUE_BYTES = 40 };
/* As it is written into statements; returns its length. */
size_t iso_script_format(iso_script_value value, char text[ISO_SCRIPT_VALUE_BYTES]);
/* A value from the text of a variable: null, true, false and what begins them, yes, no, on, off, a number.  False: it
 * is text and nothing to calculate with. */
bool iso_script_read_value(const char *text, iso_script_value *value);

#endif
