/* command.h - the table of commands.  Tables are constant and owned by nobody. */
#ifndef CLI_COMMANDS_COMMAND_H
#define CLI_COMMANDS_COMMAND_H

#include "cli/options/options.h"
#include "cli/terminal/message.h"
#include "cli/terminal/terminal.h"

/* A command line that works from the root of the source tree, and its exit code; tests run every one. */
typedef struct example {
  const char *line;
  int exit_code;
  const char *says; /* what it does, a short sentence */
} example;

typedef struct command {
  const char *name;
  const char *summary;            /* for lists of commands */
  const char *synopsis;           /* after "isoproof NAME " */
  const char *const *description; /* paragraphs, NULL-terminated */
  const char *arguments;          /* what the positional arguments are, a sentence; NULL when it takes none */
  const char *completes;          /* what completes them: "files", "topics", "commands", "shells", NULL nothing */
  const option *options;
  size_t option_count;
  const example *examples;
  size_t example_count;
  int (*run)(options *parsed);
} command;

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Every command: add one here, and its file to meson.build. */
#define COMMAND_LIST(X)                                                                                                \
  X(check)                                                                                                             \
  X(convert)                                                                                                           \
  X(minimize)                                                                                                          \
  X(stats)                                                                                                             \
  X(levels)                                                                                                            \
  X(explain)                                                                                                           \
  X(report)                                                                                                            \
  X(merge)                                                                                                             \
  X(serve)                                                                                                             \
  X(test)                                                                                                              \
  X(compare)                                                                                                           \
  X(run)                                                                                                               \
  X(gen)                                                                                                               \
  X(coo)                                                                                                               \
  X(doctor)                                                                                                            \
  X(completion)                                                                                                        \
  X(help)

#define COMMAND_X(name) extern const command command_##name;
COMMAND_LIST(COMMAND_X)
#undef COMMAND_X

/* `number` from 0; NULL after the last. */
const command *command_at(size_t number);
const command *command_find(const char *name);
const char *command_name_at(size_t number);

/* Pages. */
void help_program(FILE *out);
void help_command(FILE *out, const command *c);
void man_program(FILE *out);
void man_command(FILE *out, const command *c);

/* Reads --color. */
color_wish common_color(const options *parsed);
bool common_quiet(const options *parsed);

#endif
