/* bench.c - what the benchmarks of whole runs share. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bench_begin(int argc, char **argv, const char *name, bench_options *options) {
  const char *temporary = getenv("TMPDIR");
  *options = (bench_options){.scale = 1, .seed = 1, .repeats = 1};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--scale") == 0) options->scale = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--seed") == 0) options->seed = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--repeat") == 0) options->repeats = (unsigned)strtoul(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--directory") == 0) options->directory = argv[i + 1];
    if (strcmp(argv[i], "--case") == 0) options->only = argv[i + 1];
    if (strcmp(argv[i], "--keep") == 0) options->keep = true;
  }
  if (options->scale == 0 || options->repeats == 0) return 2;
  options->own_directory = options->directory == NULL;
  snprintf(options->made, sizeof options->made, "%s/isoproof-%s-XXXXXX", temporary != NULL ? temporary : "/tmp", name);
  if (options->own_directory && (options->directory = mkdtemp(options->made)) == NULL) return 1;
  printf("isoproof %s, seed %llu, transactions / %llu\n", isoproof_version(), (unsigned long long)options->seed,
         (unsigned long long)options->scale);
  return 0;
}

void bench_end(const bench_options *options) {
  if (options->own_directory) rmdir(options->directory);
}

bool bench_failed(const isoproof_error *error) {
  char text[1100];
  isoproof_error_format(error, text, sizeof text);
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
  return false;
}

isoproof_sim_options bench_simulation(uint64_t seed, uint32_t sessions, uint64_t txns, uint32_t ops, uint32_t keys) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_sim_defaults(&options);
  options.seed = seed;
  options.sessions = sessions;
  options.txns = txns;
  options.ops_min = options.ops_max = ops;
  options.keys = keys;
  return options;
}

uint64_t bench_operations(const isoproof_history *history) {
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  return counts.operations;
}

isoproof_status bench_write(const isoproof_history *history, isoproof_format format, const char *path,
                            isoproof_error *error) {
  isoproof_write_options how = {.struct_size = sizeof how, .lossy = true};
  return isoproof_history_write(history, format, path, &how, NULL, NULL, error);
}
