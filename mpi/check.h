/* check.h - `isoproof-mpi check`: one history on several machines.  Nothing is owned. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include "cli/commands/command.h"

/* Its page. */
extern const command command_mpi_check;

/* The command, after MPI_Init_thread (MPI_THREAD_SERIALIZED at least was asked for); argv[0] is "check", and its
 * options follow.  An exit code, the same on every rank; main calls MPI_Finalize. */
int iso_mpi_check(int argc, char **argv);

#endif
