/* variables.h - the variables of a session, by name.
 *
 * The variables own names and texts until iso_script_variables_free.  A value is kept as text and, where that is one,
 * as null, boolean or number. */
#ifndef ISO_SCRIPT_VARIABLES_H
#define ISO_SCRIPT_VARIABLES_H

#include "base/vector.h"
#include "script/value.h"

enum { ISO_SCRIPT_NAME_BYTES = 64, ISO_SCRIPT_MOST_VARIABLES = 1000, ISO_SCRIPT_TEXT_BYTES = 1 << 20 };

typedef struct iso_script_variable {
  char name[ISO_SCRIPT_NAME_BYTES];
  char *text;
  bool calculable; /* `value` is what the text means */
  iso_script_value value;
} iso_script_variable;

typedef struct iso_script_variables {
  ISO_VEC(iso_script_variable) list;
} iso_script_variables;

/* Letters, digits and '_' (and what is not ASCII), the first no digit. */
bool iso_script_name_valid(const char *name, size_t length);

/* NULL when there is none. */
const iso_script_variable *iso_script_variable_find(const iso_script_variables *variables, const char *name,
                                                    size_t length);
/* Sets one; the text NULL is SQL's NULL.  ISOPROOF_ERR_USAGE: no name, or more than there is room for. */
isoproof_status iso_script_variable_set_text(iso_script_variables *variables, const char *name, size_t length,
                                             const char *text, isoproof_error *error);
isoproof_status iso_script_variable_set(iso_script_variables *variables, const char *name, size_t length,
                                        iso_script_value value, isoproof_error *error);
/* Makes `to` the same as `from`. */
isoproof_status iso_script_variables_copy(iso_script_variables *to, const iso_script_variables *from,
                                          isoproof_error *error);
void iso_script_variables_free(iso_script_variables *variables);

#endif
