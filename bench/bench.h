/* bench.h - what the benchmarks of whole runs share: options, a directory for their files, and reports of failures.
 *
 * The caller owns the options; bench_begin may make a directory, which bench_end removes.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <isoproof/isoproof.h>

typedef struct bench_options {
  uint64_t scale; /* divides the numbers of transactions */
  uint64_t seed;
  unsigned repeats;
  const char *only; /* the case to run; NULL for all */
  const char *directory;
  bool keep; /* the files of histories */
  bool own_directory;
  char made[256];
} bench_options;

/* Reads the options of a benchmark, makes its directory and prints its heading; 0, or the status to exit with. */
int bench_begin(int argc, char **argv, const char *name, bench_options *options);
void bench_end(const bench_options *options);

/* Prints the error after the name of the program; false. */
bool bench_failed(const isoproof_error *error);

/* The options of a simulation with so many operations in every transaction. */
isoproof_sim_options bench_simulation(uint64_t seed, uint32_t sessions, uint64_t txns, uint32_t ops, uint32_t keys);

/* How many operations a history has. */
uint64_t bench_operations(const isoproof_history *history);

/* Writes a history to a file, with losses where the format has to. */
isoproof_status bench_write(const isoproof_history *history, isoproof_format format, const char *path,
                            isoproof_error *error);

#endif
