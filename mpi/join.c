/* join.c - `isoproof-mpi join`: what the machines of a run have left, as one history. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal/interrupt.h"
#include "mpi/commands.h"
#include "run/join.h"

enum { JOIN_OUTPUT, JOIN_OPTIONS };

static int run(options *parsed) {
  if (parsed->argument_count != 1 || !parsed->values[JOIN_OUTPUT].given ||
      strcmp(parsed->values[JOIN_OUTPUT].text, "-") == 0) {
    message("join: expected one folder of parts, and a file for the history (--output)");
    return EXIT_USAGE;
  }
  iso_joined joined;
  isoproof_error error = {.offset = -1};
  isoproof_task *task = interrupt_task_new();
  if (task == NULL) {
    message("out of memory");
    return EXIT_UNKNOWN;
  }
  isoproof_status status = iso_join(parsed->arguments[0], parsed->values[JOIN_OUTPUT].text, task, &joined, &error);
  if (status != ISOPROOF_OK) message_error(&error, NULL);
  if (status == ISOPROOF_OK && !common_quiet(parsed)) {
    printf("%u machines, %" PRIu64 " transactions; clocks certain within %.1f us, by %" PRIu64 " round trips\n",
           joined.count, joined.txns, (double)joined.uncertainty * 1e-3, joined.trips);
    if (joined.lost > 0)
      printf("machines without an end: %u; values that only they can have written, and others have read: %" PRIu64 "\n",
             joined.lost, joined.lost_writes);
    if (joined.adrift > 0) printf("machines whose clocks say nothing: %u\n", joined.adrift);
  }
  iso_joined_free(&joined);
  interrupt_task_free(task);
  return exit_of_status(status);
}

static const option table[JOIN_OPTIONS] = {
    [JOIN_OUTPUT] = {.name = "output", .letter = 'o', .type = OPTION_FILE, .help = "Write the history to this file."},
};

static const example examples[] = {
    {"isoproof-mpi join all.jsonl.parts -o all.jsonl", 0, "What is left of a run that mpirun ended."},
};

static const char *const description[] = {
    "Joins the parts of a run on several machines into one history, which 'isoproof check' judges. 'run' and 'test' do "
    "this "
    "themselves; it is left to be done when mpirun ended them, since a machine died.",
    "The folder has the parts that the first machine has received (part-1.jsonl, ...), its own (part-0.jsonl) and the "
    "round "
    "trips by which the clocks were compared (clocks.jsonl). A part that another machine still has is longer than what "
    "the "
    "first one received of it, and may be put in its place.",
    NULL};

const command command_mpi_join = {"join",
                                  "Join what the machines of a run have left",
                                  "FOLDER --output=FILE",
                                  description,
                                  "The folder of the parts.",
                                  "files",
                                  table,
                                  JOIN_OPTIONS,
                                  examples,
                                  COUNT_OF(examples),
                                  run};
