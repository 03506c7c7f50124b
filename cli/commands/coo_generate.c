/* coo_generate.c - `isoproof coo --generate`: every POP cycle within limits, as a schedule and as SQL. */
#include <inttypes.h>
#include <string.h>

#include "cli/commands/coo.h"

static const char table[] = "coo";

/* ---- SQL ---- */

/* Calls `say` with every statement: session 0 prepares, the others are the transactions by their numbers. */
static void statements(const isoproof_schedule *schedule, void (*say)(void *, uint32_t, const char *), void *user) {
  char sql[256];
  uint64_t begun = 0;
  isoproof_schedule_step step = {.struct_size = sizeof step};
  for (size_t i = 0; isoproof_schedule_sql_setup_at(schedule, table, i, sql, sizeof sql) > 0; i++) say(user, 0, sql);
  for (size_t i = 0; isoproof_schedule_step_at(schedule, i, &step); i++) {
    uint32_t label = isoproof_schedule_txn_label(schedule, step.txn);
    if ((begun >> step.txn & 1) == 0) say(user, label, "BEGIN");
    begun |= UINT64_C(1) << step.txn;
    if (isoproof_schedule_sql_at(schedule, table, i, sql, sizeof sql) > 0) say(user, label, sql);
  }
}

static void say_text(void *user, uint32_t session, const char *sql) {
  (void)user;
  if (session == 0)
    printf("      %s;\n", sql);
  else
    printf("      /* T%u */ %s;\n", session, sql);
}

static void say_json(void *user, uint32_t session, const char *sql) {
  isoproof_json *j = user;
  isoproof_json_object(j);
  isoproof_json_name(j, "session");
  isoproof_json_u64(j, session);
  isoproof_json_name(j, "sql");
  isoproof_json_string(j, sql);
  isoproof_json_end(j);
}

/* ---- cases ---- */

static void print_case(const isoproof_coo_case *c, const isoproof_schedule *schedule, bool sql) {
  char number[16] = "-", class[8];
  if (c->number > 0) snprintf(number, sizeof number, "%u", c->number);
  coo_class(c->kind, c->size, class);
  printf("%3s  %-5s  %-29s  %-26s  %s", number, class, c->name, c->structure, c->schedule);
  if (c->variant != NULL) printf("  (or %s)", c->variant);
  putchar('\n');
  if (sql) statements(schedule, say_text, NULL);
}

static void json_case(isoproof_json *j, const isoproof_coo_case *c, const isoproof_schedule *schedule, bool sql) {
  char class[8];
  coo_class(c->kind, c->size, class);
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  isoproof_json_name(j, "no");
  if (c->number > 0)
    isoproof_json_u64(j, c->number);
  else
    isoproof_json_null(j);
  isoproof_json_name(j, "name");
  isoproof_json_string(j, c->name);
  isoproof_json_name(j, "class");
  isoproof_json_string(j, class);
  isoproof_json_name(j, "transactions");
  isoproof_json_u64(j, c->length);
  isoproof_json_name(j, "objects");
  isoproof_json_u64(j, c->object_count);
  isoproof_json_name(j, "cycle");
  isoproof_json_string(j, c->structure);
  isoproof_json_name(j, "schedule");
  isoproof_json_string(j, c->schedule);
  isoproof_json_name(j, "variant");
  isoproof_json_string(j, c->variant);
  if (sql) {
    isoproof_json_name(j, "sql");
    isoproof_json_list(j);
    statements(schedule, say_json, j);
    isoproof_json_end(j);
  }
  isoproof_json_end(j);
  isoproof_json_line(j);
}

static isoproof_status list(const options *parsed, size_t txns, size_t objects, isoproof_error *error) {
  isoproof_coo_generator *generator = NULL;
  isoproof_coo_case c = {.struct_size = sizeof c};
  bool sql = parsed->values[COO_SQL].on, as_json = parsed->values[COO_JSON].on;
  isoproof_json *j = as_json ? json_to(stdout) : NULL;
  if (as_json && j == NULL) return ISOPROOF_OK;
  isoproof_status status = isoproof_coo_generator_new(txns, objects, &generator, error);
  if (status == ISOPROOF_OK && parsed->values[COO_LIMIT].given)
    (void)isoproof_coo_generator_sample(generator, parsed->values[COO_LIMIT].integer, parsed->values[COO_SEED].integer);
  while (status == ISOPROOF_OK && isoproof_coo_generator_next(generator, &c) && !ferror(stdout)) {
    isoproof_schedule *schedule = NULL;
    if (sql) status = isoproof_schedule_parse(c.schedule, &schedule, error);
    if (status != ISOPROOF_OK) break;
    if (as_json)
      json_case(j, &c, schedule, sql);
    else
      print_case(&c, schedule, sql);
    isoproof_schedule_free(schedule);
  }
  isoproof_coo_generator_free(generator);
  json_done(j);
  return status;
}

/* How many cycles there are, by transactions and objects. */
static void print_counts(size_t txns, size_t objects) {
  printf("%-20s", "transactions");
  for (size_t m = 1; m <= objects; m++) printf("%8zu", m);
  puts("  objects");
  for (size_t n = 2; n <= txns; n++) {
    printf("%12zu%8s", n, "");
    for (size_t m = 1; m <= objects; m++) printf("%8" PRIu64, isoproof_coo_cycle_count(n, m));
    putchar('\n');
  }
}

static void json_counts(size_t txns, size_t objects) {
  isoproof_json *j = json_to(stdout);
  if (j == NULL) return;
  isoproof_json_object(j);
  isoproof_json_name(j, "schema");
  isoproof_json_u64(j, 1);
  isoproof_json_name(j, "counts");
  isoproof_json_list(j);
  for (size_t n = 2; n <= txns; n++) {
    for (size_t m = 1; m <= objects; m++) {
      isoproof_json_object(j);
      isoproof_json_name(j, "transactions");
      isoproof_json_u64(j, n);
      isoproof_json_name(j, "objects");
      isoproof_json_u64(j, m);
      isoproof_json_name(j, "cycles");
      isoproof_json_u64(j, isoproof_coo_cycle_count(n, m));
      isoproof_json_end(j);
    }
  }
  isoproof_json_end(j);
  isoproof_json_end(j);
  isoproof_json_line(j);
  json_done(j);
}

int coo_generate(const options *parsed) {
  const option_value *v = parsed->values;
  isoproof_error error = {.offset = -1};
  size_t txns, objects;
  coo_limits(parsed, &txns, &objects);
  if (v[COO_COUNT].on) {
    if (v[COO_JSON].on)
      json_counts(txns, objects);
    else
      print_counts(txns, objects);
    return EXIT_SATISFIED;
  }
  isoproof_status status = list(parsed, txns, objects, &error);
  if (status != ISOPROOF_OK) message_error(&error, NULL);
  return status == ISOPROOF_OK ? EXIT_SATISFIED : exit_of_status(status);
}
