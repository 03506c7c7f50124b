/* check_many.c - many files on many machines: the part of one of them, and results that outlive the process. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands/check.h"
#include "cli/commands/shard.h"
#include "cli/terminal/output.h"

isoproof_status check_keep_result(check_job *job, const char *path, const isoproof_result *result, double load,
                                  double check, isoproof_error *error) {
  isoproof_render_options how = {.struct_size = sizeof how,
                                 .file = path,
                                 .load_seconds = load,
                                 .check_seconds = check,
                                 .peak_bytes = check_peak_bytes()};
  char *text = NULL;
  size_t bytes = 0;
  FILE *line = job->kept == NULL ? NULL : open_memstream(&text, &bytes);
  if (line == NULL) return job->kept == NULL ? ISOPROOF_OK : ISOPROOF_ERR_MEMORY;
  isoproof_status status = isoproof_result_write_json(result, &how, write_stream, line, error);
  if (fclose(line) != 0 && status == ISOPROOF_OK) status = ISOPROOF_ERR_MEMORY;
  if (status == ISOPROOF_OK && !results_add(job->kept, text, bytes)) status = ISOPROOF_ERR_IO;
  free(text);
  return status;
}

void check_keep_problem(check_job *job, const char *path, const isoproof_error *problem, reply *to) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *line = job->kept == NULL || to->code != EXIT_USAGE ? NULL : open_memstream(&text, &bytes);
  if (line == NULL) return;
  isoproof_status status = isoproof_error_write_json(problem, path, write_stream, line, NULL);
  if (fclose(line) == 0 && status == ISOPROOF_OK) results_add(job->kept, text, bytes);
  free(text);
}

int check_narrow(check_job *job, int *worst) {
  const option_value *values = job->parsed->values;
  size_t number, count;
  if (values[CHECK_SHARD].given) {
    if (!shard_read(values[CHECK_SHARD].text, &number, &count)) return EXIT_USAGE;
    job->files.walked = true; /* a summary, also where one file or none is left */
    if (!shard_pick(&job->files, number, count)) {
      message("out of memory");
      return EXIT_UNKNOWN;
    }
    job->part = true;
  }
  if (!values[CHECK_RESULTS].given) return EXIT_SATISFIED;
  job->kept = results_open(values[CHECK_RESULTS].text, values[CHECK_RESUME].on, values[CHECK_LEVEL].items,
                           values[CHECK_LEVEL].item_count, worst);
  if (job->kept == NULL) return *worst;
  size_t left = 0;
  for (size_t i = 0; i < job->files.count; i++) {
    if (results_has(job->kept, job->files.items[i].path))
      free(job->files.items[i].path);
    else
      job->files.items[left++] = job->files.items[i];
  }
  if (left < job->files.count) job->part = job->files.walked = true;
  job->before = job->files.count - left;
  job->files.count = left;
  return EXIT_SATISFIED;
}

void check_tell_of_parts(const check_job *job) {
  for (size_t i = 0; i < job->parsed->argument_count; i++) {
    const char *folder = job->parsed->arguments[i];
    char path[PATH_MAX];
    struct stat file;
    int length = snprintf(path, sizeof path, "%s/part-0.jsonl", folder);
    if (length < 0 || (size_t)length >= sizeof path || stat(path, &file) != 0 || !S_ISREG(file.st_mode)) continue;
    message(
        "%s: looks like the parts of one history, as 'isoproof-mpi run' leaves them; they are judged one by one "
        "here, which says nothing about the whole: 'isoproof-mpi check' judges it, or 'isoproof-mpi join' makes one "
        "file of it",
        folder);
  }
}

bool check_many_allowed(const options *parsed) {
  const option_value *values = parsed->values;
  bool many = values[CHECK_SHARD].given || values[CHECK_RESULTS].given;
  const char *wrong = many && values[CHECK_FOLLOW].given ? "--shard and --results are for whole files, not for --follow"
                      : many && values[CHECK_ELLE].on    ? "--shard and --results do not go with --elle"
                      : values[CHECK_RESUME].on && !values[CHECK_FOLLOW].given && !values[CHECK_RESULTS].given
                          ? "--resume goes with --follow, or with --results=FILE"
                          : NULL;
  for (size_t i = 0; many && i < parsed->argument_count; i++) {
    if (strcmp(parsed->arguments[i], "-") == 0) wrong = "--shard and --results need files, not standard input";
  }
  if (wrong != NULL) message("check: %s", wrong);
  return wrong == NULL;
}
