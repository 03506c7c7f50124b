/* program.h - what is the same for every program that has commands.  A program's table is constant and owned by nobody.
 */
#ifndef CLI_COMMANDS_PROGRAM_H
#define CLI_COMMANDS_PROGRAM_H

#include "cli/commands/command.h"

typedef struct program {
  const char *name;
  const char *summary;            /* what its page says it does, a phrase */
  const char *const *description; /* paragraphs, NULL-terminated */
  const command *const *commands;
  size_t count;
} program;

/* Each main.c has one. */
extern const program this_program;

/* Before anything else: takes passwords out of what others see of the arguments, sees to streams and signals, and
 * returns the arguments; NULL after a message. */
char **program_begin(int argc, char **given);
/* From there to the exit code. */
int program_run(int argc, char **argv);

#endif
