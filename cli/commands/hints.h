/* hints.h - what helps when a command cannot do what it was asked.  Owns nothing. */
#ifndef CLI_COMMANDS_HINTS_H
#define CLI_COMMANDS_HINTS_H

#include <isoproof/base.h>

/* For a history that was read but cannot be judged, as two writes of one key have one value: adds the option that
 * accepts that to the message. */
void hint_duplicates(isoproof_error *error);

#endif
