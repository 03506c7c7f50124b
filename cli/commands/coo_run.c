/* coo_run.c - `isoproof coo --db`, `--cluster` and `--from`: a matrix from a real database or from a file, shown alone
 * or against another one. */
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

/* ---- showing ---- */

static coo_view view_of(const options *parsed, const isoproof_coo_matrix *matrix) {
  return (coo_view){.matrix = matrix,
                    .compare = parsed->values[COO_COMPARE].on,
                    .color = terminal_color(stdout, common_color(parsed)),
                    .hermitage = isoproof_coo_matrix_suite(matrix) == ISOPROOF_SUITE_HERMITAGE,
                    .width = terminal_width(stdout)};
}

static void show(const options *parsed, const isoproof_coo_matrix *matrix) {
  static void (*const shows[])(const coo_view *) = {coo_text, coo_markdown, coo_csv, coo_html};
  const option_value *v = parsed->values;
  coo_view view = view_of(parsed, matrix);
  size_t as = v[COO_AS].given ? v[COO_AS].choice : 0;
  if (v[COO_JSON].on)
    coo_json(&view);
  else if (parsed->common[COMMON_VERBOSE].on)
    coo_steps(&view);
  else
    shows[as < COUNT_OF(shows) ? as : 0](&view);
}

static void show_pair(const options *parsed, const coo_pair *pair) {
  static void (*const shows[])(const coo_pair *) = {coo_pair_text, coo_pair_markdown, coo_pair_csv, coo_pair_html};
  const option_value *v = parsed->values;
  size_t as = v[COO_AS].given ? v[COO_AS].choice : 0;
  if (v[COO_JSON].on)
    coo_pair_json(pair);
  else if (parsed->common[COMMON_VERBOSE].on)
    coo_pair_steps(pair);
  else
    shows[as < COUNT_OF(shows) ? as : 0](pair);
}

/* Shows a matrix against another one; EXIT_VIOLATED when something differs. */
static int show_against(const options *parsed, const isoproof_coo_matrix *matrix, const isoproof_coo_matrix *other) {
  isoproof_coo_comparison *comparison = NULL;
  isoproof_coo_difference difference = {.struct_size = sizeof difference};
  isoproof_error error = {.offset = -1};
  isoproof_status status = isoproof_coo_compare(matrix, other, &comparison, &error);
  if (status != ISOPROOF_OK) {
    message_error(&error, NULL);
    return exit_of_status(status);
  }
  coo_pair pair = {view_of(parsed, matrix), view_of(parsed, other), comparison};
  show_pair(parsed, &pair);
  bool differs = isoproof_coo_comparison_difference_at(comparison, 0, &difference);
  isoproof_coo_comparison_free(comparison);
  return differs ? EXIT_VIOLATED : EXIT_SATISFIED;
}

/* Shows a matrix, against `other` where that is not NULL; EXIT_VIOLATED when something is unexpected or differs. */
static int show_matrix(const options *parsed, const isoproof_coo_matrix *matrix, const isoproof_coo_matrix *other) {
  int code = isoproof_coo_matrix_unexpected(matrix) > 0 ? EXIT_VIOLATED : EXIT_SATISFIED;
  if (other != NULL) return exit_worse(code, show_against(parsed, matrix, other));
  show(parsed, matrix);
  return code;
}

/* ---- saved matrices ---- */

/* The matrix in a file; NULL after a message, with the exit code. */
static isoproof_coo_matrix *read_matrix(const char *path, int *code) {
  isoproof_coo_matrix *matrix = NULL;
  isoproof_error error = {.offset = -1};
  isoproof_status status = isoproof_coo_matrix_read(path, &matrix, &error);
  *code = status == ISOPROOF_OK ? EXIT_SATISFIED : exit_of_status(status);
  if (status != ISOPROOF_OK) message_error(&error, path);
  return matrix;
}

/* ---- running ---- */

/* Exit code 4: the database could not do it; what the user got wrong stays 2. */
static int code_of(isoproof_status status) {
  if (status == ISOPROOF_OK) return EXIT_SATISFIED;
  bool run = status == ISOPROOF_ERR_IO || status == ISOPROOF_ERR_TIMEOUT;
  return run ? EXIT_RUN : exit_of_status(status);
}

/* Runs a matrix, as far as it goes, which may be NULL; an exit code. */
static int make_matrix(const isoproof_coo_run_options *how, isoproof_coo_matrix **matrix) {
  isoproof_error error = {.offset = -1};
  *matrix = NULL;
  if (how->race && how->url_count < 2) {
    message("coo: --race goes with several nodes, found one");
    return EXIT_USAGE;
  }
  isoproof_task *task = interrupt_task_new();
  if (task != NULL) isoproof_task_set_progress(task, progress_update, NULL);
  isoproof_status status = isoproof_coo_run(how, task, matrix, &error);
  interrupt_task_free(task);
  progress_clear();
  if (status != ISOPROOF_OK) message_error(&error, NULL);
  return code_of(status);
}

/* Runs and shows, also what was done until a failure or an interrupt; an exit code. */
static int run_cases(const options *parsed, const isoproof_coo_run_options *how, const isoproof_coo_matrix *other) {
  isoproof_coo_matrix *matrix;
  int code = make_matrix(how, &matrix);
  if (matrix != NULL) code = exit_worse(code, show_matrix(parsed, matrix, other));
  isoproof_coo_matrix_free(matrix);
  return code;
}

/* ---- what to compare with ---- */

static const char cluster_scheme[] = "cluster:";

static bool is_cluster(const char *against) { return strncmp(against, cluster_scheme, strlen(cluster_scheme)) == 0; }

/* On private servers, which are gone before those of the matrix itself begin. */
static int run_other_servers(const options *parsed, isoproof_coo_run_options *how, isoproof_coo_matrix **other) {
  const char *kind = parsed->values[COO_AGAINST].text + strlen(cluster_scheme);
  const char *const *url = cluster_embedded(kind);
  isoproof_cluster *servers = NULL;
  isoproof_cluster_options which = {.struct_size = sizeof which, .kind = kind};
  if (parsed->values[COO_AGAINST_SERVER].given) which.server = parsed->values[COO_AGAINST_SERVER].text;
  int code = url == NULL ? cluster_start(&which, common_quiet(parsed), &servers) : EXIT_SATISFIED;
  if (code == EXIT_SATISFIED) {
    how->urls = url != NULL ? url : isoproof_cluster_urls(servers);
    how->url_count = url != NULL ? 1 : isoproof_cluster_node_count(servers);
    code = make_matrix(how, other);
  }
  isoproof_cluster_stop(servers);
  return code;
}

/* The matrix of --against, if it is given: a file, a database, or private servers that run the same cases.  An exit
 * code. */
static int read_against(const options *parsed, isoproof_coo_run_options how, isoproof_coo_matrix **other) {
  const option_value *against = &parsed->values[COO_AGAINST];
  int code = EXIT_SATISFIED;
  *other = NULL;
  if (parsed->values[COO_AGAINST_SERVER].given && (!against->given || !is_cluster(against->text))) {
    message("--against-server needs --against=cluster:NAME, which says what to start from there");
    return EXIT_USAGE;
  }
  if (!against->given) return EXIT_SATISFIED;
  if (is_cluster(against->text)) {
    code = run_other_servers(parsed, &how, other);
  } else if (isoproof_url_begins(against->text)) {
    how.urls = &against->text;
    how.url_count = 1;
    how.password = NULL;
    code = make_matrix(&how, other);
  } else {
    *other = read_matrix(against->text, &code);
  }
  /* What was done until an interrupt is no matrix to compare with. */
  if (code != EXIT_SATISFIED) {
    isoproof_coo_matrix_free(*other);
    *other = NULL;
  }
  return code;
}

/* On the database that the options name. */
static int run_on_database(const options *parsed, isoproof_coo_run_options *how, const isoproof_coo_matrix *other) {
  const option_value *v = parsed->values;
  database_choice choice;
  int code = EXIT_USAGE;
  if (database_choose(&choice, &v[COO_DB], &v[COO_DATABASE], false)) {
    how->urls = choice.urls;
    how->url_count = choice.count;
    how->password = choice.password;
    code = run_cases(parsed, how, other);
  } else if (interrupted()) {
    code = EXIT_INTERRUPTED;
  }
  database_free(&choice);
  return code;
}

static int run_servers(const options *parsed, isoproof_coo_run_options *how, const isoproof_coo_matrix *other) {
  const char *const *url = cluster_embedded(parsed->values[COO_CLUSTER].text);
  if (url != NULL) {
    how->urls = url;
    how->url_count = 1;
    return run_cases(parsed, how, other);
  }
  isoproof_cluster *servers;
  isoproof_cluster_options which = {.struct_size = sizeof which, .kind = parsed->values[COO_CLUSTER].text};
  if (parsed->values[COO_SERVER].given) which.server = parsed->values[COO_SERVER].text;
  int code = cluster_start(&which, common_quiet(parsed), &servers);
  if (code == EXIT_SATISFIED) {
    how->urls = isoproof_cluster_urls(servers);
    how->url_count = isoproof_cluster_node_count(servers);
    code = run_cases(parsed, how, other);
  }
  isoproof_cluster_stop(servers);
  return code;
}

/* What the options ask for, apart from schedules and numbers of cases. */
static isoproof_coo_run_options read_options(const options *parsed) {
  const option_value *v = parsed->values;
  isoproof_coo_run_options how = {.struct_size = sizeof how,
                                  .levels = v[COO_LEVEL].items,
                                  .level_count = v[COO_LEVEL].item_count,
                                  .suite =
                                      v[COO_SUITE].given ? (isoproof_coo_suite)v[COO_SUITE].choice : ISOPROOF_SUITE_COO,
                                  .repeat = (uint32_t)v[COO_REPEAT].integer,
                                  .settle_ms = (uint32_t)v[COO_SETTLE].integer,
                                  .timeout_ms = (uint32_t)(v[COO_TIMEOUT].number * 1000),
                                  .predicate = v[COO_PREDICATE].on,
                                  .race = v[COO_RACE].on,
                                  .expect = v[COO_EXPECT].given ? v[COO_EXPECT].text : NULL,
                                  .limit = v[COO_LIMIT].integer,
                                  .seed = v[COO_SEED].integer,
                                  .notice = message_notice};
  /* The choices are in the order of the enum, after none. */
  if (v[COO_DISTRIBUTED].given) how.distributed = (isoproof_coo_spread)(v[COO_DISTRIBUTED].choice + 1);
  if (coo_is_generated(parsed)) coo_limits(parsed, &how.transactions, &how.objects);
  return how;
}

int coo_run(const options *parsed) {
  const option_value *v = parsed->values;
  unsigned cases[CASES_MOST];
  coo_schedules schedules = {0};
  isoproof_coo_matrix *other = NULL;
  isoproof_coo_run_options how = read_options(parsed);
  if (!read_cases(&v[COO_CASE], cases, &how.case_count)) return EXIT_USAGE;
  how.cases = cases;
  int code = coo_schedules_read(parsed, &schedules);
  how.schedules = (const char *const *)schedules.texts;
  how.schedule_names = (const char *const *)schedules.names;
  how.schedule_count = schedules.count;
  /* What is to be compared with is read first: a wrong name is to be known before servers start. */
  if (code == EXIT_SATISFIED) code = read_against(parsed, how, &other);
  if (code == EXIT_SATISFIED)
    code = v[COO_CLUSTER].given ? run_servers(parsed, &how, other) : run_on_database(parsed, &how, other);
  isoproof_coo_matrix_free(other);
  coo_schedules_free(&schedules);
  return code;
}

int coo_saved(const options *parsed) {
  const option_value *v = parsed->values;
  isoproof_coo_matrix *other = NULL, *matrix = NULL;
  if (v[COO_AGAINST].given && strcmp(v[COO_FROM].text, "-") == 0 && strcmp(v[COO_AGAINST].text, "-") == 0) {
    message("coo: --from and --against cannot both be standard input");
    return EXIT_USAGE;
  }
  int code = read_against(parsed, read_options(parsed), &other);
  if (code == EXIT_SATISFIED) matrix = read_matrix(v[COO_FROM].text, &code);
  if (matrix != NULL) code = show_matrix(parsed, matrix, other);
  isoproof_coo_matrix_free(matrix);
  isoproof_coo_matrix_free(other);
  return code;
}
