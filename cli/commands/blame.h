/* blame.h - who is to blame for the bugs that the simulator injected.  Borrows history and blames. */
#ifndef CLI_COMMANDS_BLAME_H
#define CLI_COMMANDS_BLAME_H

#include <isoproof/simulate.h>

/* One JSON object a line to a path ("-" is standard output); returns an exit code, after a message when it failed. */
int write_blames(const char *path, const isoproof_history *history, const isoproof_injected_bugs *blames);
/* How many of each bug, on standard error. */
void summarise_blames(const isoproof_injected_bugs *blames);

#endif
