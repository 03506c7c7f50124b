/* main.c - the program isoproof: its commands. */
#include "cli/commands/program.h"

static const command *const commands[] = {
#define COMMAND_X(name) &command_##name,
    COMMAND_LIST(COMMAND_X)
#undef COMMAND_X
};

static const char *const description[] = {
    "Decides which transaction isolation levels a recorded database history satisfies, and shows why not.", NULL};

const program this_program = {"isoproof", "which isolation levels does a database history satisfy?", description,
                              commands, COUNT_OF(commands)};

int main(int argc, char **argv) { return program_run(argc, program_begin(argc, argv)); }
