/* check.c - `isoproof-mpi check`: one history on several machines. */
#include "mpi/check.h"

int iso_mpi_check(int argc, char **argv) {
  (void)argc;
  (void)argv;
  message("check: this build judges a history on one machine only: 'isoproof check'");
  return EXIT_USAGE;
}

static const char *const description[] = {"Judges one history on several machines.", NULL};

const command command_mpi_check = {
    "check", "Check one history on several machines", "FILE", description, "A history", "files", NULL, 0, NULL, 0,
    NULL};
