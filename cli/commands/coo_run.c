/* coo_run.c - `isoproof coo --db` and `--cluster`: the cases on a real database. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/coo.h"
#include "cli/options/run_cluster.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"

enum { CASES_MOST = 64 };

/* The numbers of --case; false after a message. */
static bool read_cases(const option_value *value, unsigned cases[CASES_MOST], size_t *count) {
  *count = 0;
  for (size_t i = 0; i < value->item_count; i++) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(value->items[i], &end, 10);
    if (value->items[i][0] < '0' || value->items[i][0] > '9' || *end != 0 || errno != 0 || number > 1000 ||
        *count == CASES_MOST) {
      message("--case: expected numbers of cases such as 31,32, found '%s'", value->items[i]);
      return false;
    }
    cases[(*count)++] = (unsigned)number;
  }
  return true;
}

static void show(const options *parsed, const isoproof_coo_matrix *matrix) {
  const option_value *v = parsed->values;
  coo_view view = {.matrix = matrix,
                   .compare = v[COO_COMPARE].on,
                   .color = terminal_color(stdout, common_color(parsed)),
                   .hermitage = v[COO_SUITE].given && v[COO_SUITE].choice == ISOPROOF_SUITE_HERMITAGE};
  static void (*const shows[])(const coo_view *) = {coo_text, coo_markdown, coo_csv, coo_html};
  size_t as = v[COO_AS].given ? v[COO_AS].choice : 0;
  if (v[COO_JSON].on)
    coo_json(&view);
  else if (parsed->common[COMMON_VERBOSE].on)
    coo_steps(&view);
  else
    shows[as < COUNT_OF(shows) ? as : 0](&view);
}

/* Exit code 4: the database could not do it; what the user got wrong stays 2. */
static int code_of(isoproof_status status) {
  if (status == ISOPROOF_OK) return EXIT_SATISFIED;
  bool run = status == ISOPROOF_ERR_IO || status == ISOPROOF_ERR_TIMEOUT;
  return run ? EXIT_RUN : exit_of_status(status);
}

/* Runs and shows; an exit code. */
static int run_cases(const options *parsed, const isoproof_coo_run_options *how) {
  isoproof_coo_matrix *matrix = NULL;
  isoproof_error error = {.offset = -1};
  isoproof_task *task = interrupt_task_new();
  if (task != NULL) isoproof_task_set_progress(task, progress_update, NULL);
  isoproof_status status = isoproof_coo_run(how, task, &matrix, &error);
  interrupt_task_free(task);
  progress_clear();
  if (status == ISOPROOF_OK)
    show(parsed, matrix);
  else
    message_error(&error, NULL);
  isoproof_coo_matrix_free(matrix);
  return code_of(status);
}

/* On the database that the options name. */
static int run_on_database(const options *parsed, isoproof_coo_run_options *how) {
  const option_value *v = parsed->values;
  database_choice choice;
  int code = EXIT_USAGE;
  if (database_choose(&choice, &v[COO_DB], &v[COO_DATABASE], false)) {
    how->urls = choice.urls;
    how->url_count = choice.count;
    how->password = choice.password;
    code = run_cases(parsed, how);
  } else if (interrupted()) {
    code = EXIT_INTERRUPTED;
  }
  database_free(&choice);
  return code;
}

int coo_run(const options *parsed) {
  const option_value *v = parsed->values;
  unsigned cases[CASES_MOST];
  isoproof_coo_run_options how = {.struct_size = sizeof how,
                                  .levels = v[COO_LEVEL].items,
                                  .level_count = v[COO_LEVEL].item_count,
                                  .cases = cases,
                                  .suite =
                                      v[COO_SUITE].given ? (isoproof_coo_suite)v[COO_SUITE].choice : ISOPROOF_SUITE_COO,
                                  .repeat = (uint32_t)v[COO_REPEAT].integer,
                                  .settle_ms = (uint32_t)v[COO_SETTLE].integer,
                                  .timeout_ms = (uint32_t)(v[COO_TIMEOUT].number * 1000),
                                  .predicate = v[COO_PREDICATE].on,
                                  .race = v[COO_RACE].on};
  /* The choices are in the order of the enum, after none. */
  if (v[COO_DISTRIBUTED].given) how.distributed = (isoproof_coo_spread)(v[COO_DISTRIBUTED].choice + 1);
  if (!read_cases(&v[COO_CASE], cases, &how.case_count)) return EXIT_USAGE;
  if (!v[COO_CLUSTER].given) return run_on_database(parsed, &how);
  isoproof_cluster *servers;
  isoproof_cluster_options which = {.struct_size = sizeof which, .kind = v[COO_CLUSTER].text};
  int code = cluster_start(&which, common_quiet(parsed), &servers);
  if (code == EXIT_SATISFIED) {
    how.urls = isoproof_cluster_urls(servers);
    how.url_count = isoproof_cluster_node_count(servers);
    code = run_cases(parsed, &how);
  }
  isoproof_cluster_stop(servers);
  return code;
}
