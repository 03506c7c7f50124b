/* commands.h - the commands of isoproof-mpi that run workloads: those of isoproof, with a few options more.  The tables
 * are made by load_commands_prepare and live as long as the program. */
#ifndef MPI_COMMANDS_H
#define MPI_COMMANDS_H

#include "cli/commands/command.h"

extern command command_mpi_run, command_mpi_test;
extern const command command_mpi_join;

/* Makes the tables of run and test from those of isoproof; false when memory is out. */
bool load_commands_prepare(void);

#endif
