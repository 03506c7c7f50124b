/* main.c - the program isoproof-mpi: its commands. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/program.h"
#include "cli/terminal/output.h"
#include "mpi/check.h"
#include "mpi/commands.h"

static const command *const commands[] = {&command_mpi_run, &command_mpi_test, &command_mpi_check, &command_mpi_join,
                                          &command_help};

static const char *const description[] = {
    "Does on several machines at once what isoproof does on one. Started by mpirun (or srun), one process per machine: "
    "'mpirun -n 4 isoproof-mpi COMMAND ...'. Process number 0 reports, and has the exit code.",
    NULL};

const program this_program = {"isoproof-mpi", "isolation levels of a database, on several machines at once",
                              description, commands, COUNT_OF(commands)};

static int check(int argc, char **argv) {
  int level, rank, code;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  message_mute(rank > 0);
  code = finish_output(iso_mpi_check(argc - 1, argv + 1));
  MPI_Finalize();
  return code;
}

/* Before MPI is there, mpirun or srun says which rank this is: of what all of them would say one is enough. */
static bool is_first(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const char *rank = getenv(names[i]);
    if (rank != NULL) return strcmp(rank, "0") == 0;
  }
  return true;
}

int main(int argc, char **given) {
  char **argv = program_begin(argc, given);
  message_mute(!is_first());
  if (!load_commands_prepare()) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  if (argv != NULL && argc > 1 && strcmp(argv[1], "check") == 0) return check(argc, argv);
  return program_run(argc, argv);
}
