/* hints.c - what helps, added to what went wrong. */
#include "cli/commands/hints.h"

#include <stdio.h>
#include <string.h>

void hint_duplicates(isoproof_error *error) {
  size_t used = strlen(error->message);
  snprintf(error->message + used, sizeof error->message - used, "; --duplicate-values accepts such histories");
}
