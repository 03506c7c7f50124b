/* coo_systematic.c - `isoproof coo --systematic`: every small schedule of rows and predicates, listed or run. */
#include "cli/commands/coo_systematic.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/options/run_cluster.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"

enum { SQL_BYTES = 256 };

static isoproof_systematic_bounds read_bounds(const options *parsed) {
  const option_value *v = parsed->values;
  isoproof_systematic_bounds bounds = {.struct_size = sizeof bounds, .predicates = 1};
  if (v[COO_TRANSACTIONS].given) bounds.transactions = (uint32_t)v[COO_TRANSACTIONS].integer;
  if (v[COO_OPERATIONS].given) bounds.operations = (uint32_t)v[COO_OPERATIONS].integer;
  if (v[COO_ROWS].given) bounds.rows = (uint32_t)v[COO_ROWS].integer;
  if (v[COO_PREDICATES].given) bounds.predicates = (uint32_t)v[COO_PREDICATES].integer;
  if (v[COO_FIRST].given) bounds.first = v[COO_FIRST].integer;
  if (v[COO_LIMIT].given) bounds.limit = v[COO_LIMIT].integer;
  bounds.drawn = v[COO_SEED].given;
  bounds.seed = v[COO_SEED].integer;
  /* Of a table without a key, 0 is the layout with one. */
  bounds.duplicate_keys = v[COO_LAYOUT].given && v[COO_LAYOUT].choice > 0;
  return bounds;
}

/* ---- listing ---- */

static void print_sql(const isoproof_systematic_walk *walk) {
  char sql[SQL_BYTES];
  unsigned session;
  for (size_t i = 0; isoproof_systematic_walk_sql_at(walk, "coo", i, &session, sql, sizeof sql) > 0; i++) {
    if (session == 0)
      printf("         %s;\n", sql);
    else
      printf("    T%u   %s;\n", session, sql);
  }
}

static void json_schedule(isoproof_json *j, const isoproof_systematic_walk *walk,
                          const isoproof_systematic_schedule *schedule, bool with_sql) {
  char sql[SQL_BYTES];
  unsigned session;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  isoproof_json_name(j, "number");
  isoproof_json_u64(j, schedule->number);
  isoproof_json_name(j, "schedule");
  isoproof_json_string(j, schedule->text);
  if (with_sql) {
    isoproof_json_name(j, "sql");
    isoproof_json_list(j);
    for (size_t i = 0; isoproof_systematic_walk_sql_at(walk, "coo", i, &session, sql, sizeof sql) > 0; i++) {
      isoproof_json_object(j);
      isoproof_json_name(j, "session");
      isoproof_json_u64(j, session);
      isoproof_json_name(j, "sql");
      isoproof_json_string(j, sql);
      isoproof_json_end(j);
    }
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
  isoproof_json_line(j);
}

static void print_counts(const uint64_t *counts, size_t most, uint64_t total, isoproof_json *j) {
  if (j == NULL) {
    puts("operations  schedules");
    for (size_t i = 0; i <= most; i++)
      if (counts[i] > 0) printf("%10zu  %9" PRIu64 "\n", i, counts[i]);
    printf("%10s  %9" PRIu64 "\n", "all", total);
    return;
  }
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  isoproof_json_name(j, "operations");
  isoproof_json_object(j);
  for (size_t i = 0; i <= most; i++) {
    char name[24];
    snprintf(name, sizeof name, "%zu", i);
    if (counts[i] == 0) continue;
    isoproof_json_name(j, name);
    isoproof_json_u64(j, counts[i]);
  }
  isoproof_json_end(j);
  isoproof_json_name(j, "schedules");
  isoproof_json_u64(j, total);
  isoproof_json_end(j);
  isoproof_json_line(j);
}

int coo_systematic_list(const options *parsed) {
  enum { MOST = ISOPROOF_SYSTEMATIC_TRANSACTIONS * ISOPROOF_SYSTEMATIC_OPERATIONS };
  const option_value *v = parsed->values;
  isoproof_systematic_bounds bounds = read_bounds(parsed);
  isoproof_systematic_schedule schedule = {.struct_size = sizeof schedule};
  isoproof_systematic_walk *walk = NULL;
  isoproof_error error = {.offset = -1};
  uint64_t counts[MOST + 1] = {0}, total = 0;
  isoproof_status status = isoproof_systematic_walk_new(&bounds, &walk, &error);
  if (status != ISOPROOF_OK) {
    message_error(&error, NULL);
    return exit_of_status(status);
  }
  isoproof_json *j = v[COO_JSON].on ? json_to(stdout) : NULL;
  while (isoproof_systematic_walk_next(walk, &schedule) && !ferror(stdout) && !interrupted()) {
    counts[schedule.operations]++;
    total++;
    if (v[COO_COUNT].on) continue;
    if (j != NULL) {
      json_schedule(j, walk, &schedule, v[COO_SQL].on);
      continue;
    }
    printf("%6" PRIu64 "  %s\n", schedule.number, schedule.text);
    if (v[COO_SQL].on) print_sql(walk);
  }
  isoproof_systematic_walk_free(walk);
  if (v[COO_COUNT].on) print_counts(counts, MOST, total, j);
  json_done(j);
  return interrupted() ? EXIT_INTERRUPTED : EXIT_SATISFIED;
}

/* ---- running ---- */

/* Exit code 4: the database could not do it; what the user got wrong stays 2. */
static int code_of(isoproof_status status) {
  if (status == ISOPROOF_OK) return EXIT_SATISFIED;
  bool run = status == ISOPROOF_ERR_IO || status == ISOPROOF_ERR_TIMEOUT;
  return run ? EXIT_RUN : exit_of_status(status);
}

/* By the schedules that the definitions speak of, or by all. */
static int verdict_of(const isoproof_systematic_summary *s, bool strict) {
  uint64_t forbidden = s->forbidden + (strict ? s->reused_forbidden : 0);
  uint64_t undecided = s->undecided + (strict ? s->reused_undecided : 0);
  return forbidden > 0 ? EXIT_VIOLATED : undecided > 0 ? EXIT_UNKNOWN : EXIT_SATISFIED;
}

/* Runs and shows, also what was done until a failure or an interrupt; an exit code. */
static int run_all(const options *parsed, const isoproof_systematic_options *how) {
  isoproof_systematic *runs = NULL;
  isoproof_error error = {.offset = -1};
  isoproof_systematic_summary summary = {.struct_size = sizeof summary};
  isoproof_task *task = interrupt_task_new();
  if (task != NULL) isoproof_task_set_progress(task, progress_update, NULL);
  isoproof_status status = isoproof_systematic_run(how, task, &runs, &error);
  interrupt_task_free(task);
  progress_clear();
  int code = code_of(status);
  if (status != ISOPROOF_OK) message_error(&error, NULL);
  if (runs != NULL && isoproof_systematic_summary_of(runs, &summary)) {
    coo_systematic_show(parsed, runs);
    code = exit_worse(code, verdict_of(&summary, parsed->values[COO_STRICT].on));
  }
  isoproof_systematic_free(runs);
  return code;
}

static int run_on_database(const options *parsed, isoproof_systematic_options *how) {
  const option_value *v = parsed->values;
  database_choice choice;
  int code = EXIT_USAGE;
  if (database_choose(&choice, &v[COO_DB], &v[COO_DATABASE], false)) {
    how->urls = choice.urls;
    how->url_count = choice.count;
    how->password = choice.password;
    code = run_all(parsed, how);
  } else if (interrupted()) {
    code = EXIT_INTERRUPTED;
  }
  database_free(&choice);
  return code;
}

static int run_servers(const options *parsed, isoproof_systematic_options *how) {
  isoproof_cluster *servers;
  isoproof_cluster_options which = {.struct_size = sizeof which, .kind = parsed->values[COO_CLUSTER].text};
  int code = cluster_start(&which, common_quiet(parsed), &servers);
  if (code == EXIT_SATISFIED) {
    how->urls = isoproof_cluster_urls(servers);
    how->url_count = isoproof_cluster_node_count(servers);
    code = run_all(parsed, how);
  }
  isoproof_cluster_stop(servers);
  return code;
}

int coo_systematic_run(const options *parsed) {
  const option_value *v = parsed->values;
  isoproof_systematic_bounds bounds = read_bounds(parsed);
  isoproof_systematic_options how = {.struct_size = sizeof how,
                                     .levels = v[COO_LEVEL].items,
                                     .level_count = v[COO_LEVEL].item_count,
                                     .bounds = &bounds,
                                     .settle_ms = (uint32_t)v[COO_SETTLE].integer,
                                     .timeout_ms = (uint32_t)(v[COO_TIMEOUT].number * 1000),
                                     .expect = v[COO_EXPECT].given ? v[COO_EXPECT].text : NULL,
                                     .layout = v[COO_LAYOUT].given ? v[COO_LAYOUT].text : NULL,
                                     .notice = message_notice,
                                     .jobs = v[COO_JOBS].given ? (uint32_t)v[COO_JOBS].integer : 0};
  FILE *record = NULL;
  if (v[COO_RECORD].given) {
    record = fopen(v[COO_RECORD].text, "we");
    if (record == NULL) {
      message("%s: %s", v[COO_RECORD].text, strerror(errno));
      return EXIT_USAGE;
    }
    how.record = write_stream;
    how.record_user = record;
  }
  int code = v[COO_CLUSTER].given ? run_servers(parsed, &how) : run_on_database(parsed, &how);
  if (record != NULL && fclose(record) != 0) {
    message("%s: %s", v[COO_RECORD].text, strerror(errno));
    code = exit_worse(code, EXIT_USAGE);
  }
  return code;
}
