/* main.c - the program isoproof-mpi: its commands. */
#include <mpi.h>
#include <string.h>

#include "cli/commands/program.h"
#include "cli/terminal/output.h"
#include "mpi/check.h"

static const command *const commands[] = {&command_mpi_check, &command_help};

static const char *const description[] = {
    "Does on several machines at once what isoproof does on one. Started by mpirun (or srun), one process per machine: "
    "'mpirun -n 4 isoproof-mpi COMMAND ...'. Process number 0 reports, and has the exit code.",
    NULL};

const program this_program = {"isoproof-mpi", "isolation levels of a database, on several machines at once",
                              description, commands, COUNT_OF(commands)};

static int check(int argc, char **argv) {
  int level, code;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
  code = finish_output(iso_mpi_check(argc - 1, argv + 1));
  MPI_Finalize();
  return code;
}

int main(int argc, char **given) {
  char **argv = program_begin(argc, given);
  if (argv != NULL && argc > 1 && strcmp(argv[1], "check") == 0) return check(argc, argv);
  return program_run(argc, argv);
}
