/* The language of scripts: expressions as pgbench has them, sections, statements with variables, conditions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "script/machine.h"

/* ---- expressions ---- */

static const struct {
  const char *text, *result;
} expressions[] = {
#define EXPRESSION(text, result) {text, result},
#include "tests/unit/script/expressions.def"
#undef EXPRESSION
};

/* "int 3", "null", or "error". */
static void describe(const char *text, char *out, size_t size) {
  iso_expression expression;
  iso_script_variables variables = {{0}};
  iso_script_random random;
  iso_script_value value;
  char shown[ISO_SCRIPT_VALUE_BYTES];
  iso_script_random_seed(&random, 1);
  snprintf(out, size, "error");
  if (iso_expression_parse(text, strlen(text), (iso_place){"x", 1, 1, -1}, &expression, NULL) != ISOPROOF_OK) return;
  if (iso_expression_evaluate(&expression, &variables, &random, &value, NULL) == ISOPROOF_OK) {
    iso_script_format(value, shown);
    snprintf(out, size, "%s", iso_script_type_name(value.type));
    if (value.type != ISO_SCRIPT_NULL) snprintf(out, size, "%s %s", iso_script_type_name(value.type), shown);
  }
  iso_expression_free(&expression);
}

static void expressions_are_those_of_pgbench(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
    char found[100];
    describe(expressions[i].text, found, sizeof found);
    if (strcmp(found, expressions[i].result) != 0)
      fail_msg("%s: expected %s, found %s", expressions[i].text, expressions[i].result, found);
  }
}

/* Depth costs memory, not the stack of the machine. */
static void depth_is_harmless(void **state) {
  (void)state;
  enum { DEPTH = 9000 };
  static char text[3 * DEPTH + 10];
  char found[100];
  memset(text, '(', DEPTH);
  text[DEPTH] = '7';
  memset(text + DEPTH + 1, ')', DEPTH);
  text[2 * DEPTH + 1] = 0;
  describe(text, found, sizeof found);
  assert_string_equal(found, "int 7");
  memset(text, '(', sizeof text - 1);
  describe(text, found, sizeof found);
  assert_string_equal(found, "error");
}

static void errors_say_where(void **state) {
  (void)state;
  iso_expression expression;
  isoproof_error error = {.offset = -1};
  assert_int_equal(iso_expression_parse("1 + * 2", 7, (iso_place){"x.sql", 3, 10, -1}, &expression, &error),
                   ISOPROOF_ERR_USAGE);
  assert_int_equal(error.line, 3);
  assert_int_equal(error.column, 14);
  assert_non_null(strstr(error.message, "found `*`"));
}

/* Random numbers keep their bounds, and the shapes of their distributions. */
static void random_numbers_have_their_shapes(void **state) {
  (void)state;
  enum { DRAWS = 20000 };
  iso_script_random random;
  unsigned uniform[10] = {0}, gaussian[10] = {0}, exponential[10] = {0}, zipfian[10] = {0};
  iso_script_random_seed(&random, 42);
  for (int i = 0; i < DRAWS; i++) {
    uniform[iso_script_random_uniform(&random, 0, 9)]++;
    gaussian[iso_script_random_gaussian(&random, 0, 9, 2.5)]++;
    exponential[iso_script_random_exponential(&random, 0, 9, 3)]++;
    zipfian[iso_script_random_zipfian(&random, 0, 9, 1.5)]++;
  }
  for (int i = 0; i < 10; i++) assert_in_range(uniform[i], DRAWS / 10 - 300, DRAWS / 10 + 300);
  assert_true(gaussian[4] > 3 * gaussian[0] && gaussian[5] > 3 * gaussian[9]);
  assert_true(exponential[0] > 2 * exponential[4] && exponential[4] > exponential[9]);
  /* The first is 2^1.5 times as likely as the second. */
  assert_in_range(zipfian[0] * 100 / zipfian[1], 260, 310);
}

static void permute_permutes(void **state) {
  (void)state;
  for (int64_t size = 1; size <= 40; size++) {
    bool seen[40] = {false};
    for (int64_t i = 0; i < size; i++) {
      int64_t to = iso_script_permute(i, size, 99);
      assert_true(to >= 0 && to < size && !seen[to]);
      seen[to] = true;
    }
  }
}

/* ---- scripts ---- */

static iso_script *parse(const char *text, isoproof_error *error) {
  iso_script *script = NULL;
  isoproof_status status =
      iso_script_parse("folder/shop.sql", text, strlen(text), ISO_QUOTING_POSTGRES, &script, error);
  if (status != ISOPROOF_OK) return NULL;
  return script;
}

static iso_script *parse_good(const char *text) {
  isoproof_error error = {.offset = -1};
  iso_script *script = parse(text, &error);
  if (script == NULL) fail_msg("line %u: %s", (unsigned)error.line, error.message);
  return script;
}

static void expect_refused(const char *text, unsigned line, const char *words) {
  isoproof_error error = {.offset = -1};
  iso_script *script = parse(text, &error);
  if (script != NULL) fail_msg("expected to be refused for %s: %s", words, text);
  if (strstr(error.message, words) == NULL || error.line != line)
    fail_msg("expected line %u with '%s', found line %u: %s", line, words, (unsigned)error.line, error.message);
}

/* All statements that a section sends, joined by " / ". */
static void play(iso_machine *m, const iso_section *section, char *out, size_t size) {
  const iso_command *command;
  size_t used = 0;
  out[0] = 0;
  assert_int_equal(iso_machine_start(m, section, NULL), ISOPROOF_OK);
  while (iso_machine_next(m, &command, NULL) == ISOPROOF_OK && command != NULL) {
    const char *sql = command->source;
    if (command->kind == ISO_COMMAND_SQL) assert_int_equal(iso_machine_sql(m, command, &sql, NULL), ISOPROOF_OK);
    used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? " / " : "", sql);
    assert_true(used < size);
  }
}

static void expect_played(const char *text, const char *expected) {
  iso_script *script = parse_good(text);
  iso_machine m;
  char found[4000];
  assert_int_equal(iso_machine_open(&m, script, ISO_QUOTING_POSTGRES, 3, 17, NULL, NULL), ISOPROOF_OK);
  play(&m, &script->sections.items[0], found, sizeof found);
  if (strcmp(found, expected) != 0) fail_msg("expected %s\nfound    %s", expected, found);
  iso_machine_close(&m);
  iso_script_free(script);
}

static void a_script_without_sections_is_a_transaction(void **state) {
  (void)state;
  iso_script *script = parse_good("-- comment\nSELECT 1;\nUPDATE t SET a = ':x' WHERE b = 1");
  assert_int_equal(script->sections.count, 1);
  assert_string_equal(script->sections.items[0].name, "shop");
  assert_int_equal(script->sections.items[0].commands.count, 2);
  iso_script_free(script);
}

static void statements_are_cut_as_psql_does(void **state) {
  (void)state;
  expect_played("SELECT 'a;b', \"c;d\" -- e;\n, $$f;g$$, $x$h;$$;i$x$ /* j; /* k; */ */ FROM t; SELECT E'\\';';",
                "SELECT 'a;b', \"c;d\" , $$f;g$$, $x$h;$$;i$x$ FROM t / SELECT E'\\';'");
  expect_played("SELECT\n  1,\n\n  2;;\n;SELECT (1;2)", "SELECT 1, 2 / SELECT (1;2)");
  expect_played(
      "CREATE TRIGGER a AFTER INSERT ON t BEGIN UPDATE u SET x = CASE WHEN 1 THEN 2 END; DELETE FROM v; END; "
      "SELECT 1;",
      "CREATE TRIGGER a AFTER INSERT ON t BEGIN UPDATE u SET x = CASE WHEN 1 THEN 2 END; DELETE FROM v; END / "
      "SELECT 1");
}

static void variables_are_replaced(void **state) {
  (void)state;
  expect_played(
      "\\set a 1 + 1\n\\set b :a * 2.5\n\\set c null\n\\set d :a = 2\nSELECT :a, :b, :c, :d, :e, ':a', x::int, "
      "y[1:2], :'a', :\"a\", :client_id, :scale;",
      "SELECT 2, 5, NULL, true, :e, ':a', x::int, y[1:2], '2', \"2\", 3, 1");
  expect_played("\\set long 1 + \\\n  2\nSELECT :long;", "SELECT 3");
}

static void quotes_are_escaped(void **state) {
  (void)state;
  iso_script *script = parse_good("SELECT :'v', :\"v\"");
  const iso_command *command = &script->sections.items[0].commands.items[0];
  iso_machine m;
  const char *sql;
  assert_int_equal(iso_machine_open(&m, script, ISO_QUOTING_POSTGRES, 0, 1, NULL, NULL), ISOPROOF_OK);
  m.section = &script->sections.items[0];
  assert_int_equal(iso_machine_store(&m, command, "v", "it's \\ \"x\"", NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_sql(&m, command, &sql, NULL), ISOPROOF_OK);
  assert_string_equal(sql, "SELECT  E'it''s \\\\ \"x\"', \"it's \\ \"\"x\"\"\"");
  m.quoting = ISO_QUOTING_MARIADB;
  assert_int_equal(iso_machine_sql(&m, command, &sql, NULL), ISOPROOF_OK);
  assert_string_equal(sql, "SELECT 'it''s \\\\ \"x\"', `it's \\ \"x\"`");
  m.quoting = ISO_QUOTING_STANDARD;
  assert_int_equal(iso_machine_sql(&m, command, &sql, NULL), ISOPROOF_OK);
  assert_string_equal(sql, "SELECT 'it''s \\ \"x\"', \"it's \\ \"\"x\"\"\"");
  iso_machine_close(&m);
  iso_script_free(script);
}

static void conditions_choose(void **state) {
  (void)state;
  static const char *const text =
      "\\set x %d\n\\if :x = 1\nSELECT 'one';\n\\elif :x = 2\n\\if true\nSELECT 'two';\n\\endif\n"
      "\\else\nSELECT 'more';\n\\endif\nSELECT 'end';";
  static const char *const played[] = {"SELECT 'one' / SELECT 'end'", "SELECT 'two' / SELECT 'end'",
                                       "SELECT 'more' / SELECT 'end'"};
  for (int i = 0; i < 3; i++) {
    char script[400];
    snprintf(script, sizeof script, text, i + 1);
    expect_played(script, played[i]);
  }
}

static const char *const shop =
    "\\set items 10 * :scale\n"
    "-- setup\nCREATE TABLE stock (id int);\nSELECT sum(n) AS total FROM stock \\gset\n"
    "-- transaction order isolation repeatable read weight 3\n"
    "SELECT n FROM stock WHERE id = :items \\gset was_\nUPDATE stock SET n = :was_n - 1;\n"
    "-- Transaction restock\nBEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;\nSELECT 1;\nCOMMIT;\n"
    "-- invariant never negative\n";

static void sections_are_told_apart(void **state) {
  (void)state;
  char text[2000];
  snprintf(text, sizeof text, "%s", shop);
  expect_refused(text, 12, "or the end of the line");
  snprintf(text, sizeof text, "%s", shop);
  text[strlen(text) - strlen(" negative\n")] = 0;
  strcat(text, "\nSELECT count(*), min(n) FROM stock\n-- expect > :items | null\n-- teardown\nDROP TABLE stock;");
  iso_script *script = parse_good(text);
  assert_int_equal(script->sections.count, 5);
  const iso_section *order = &script->sections.items[1], *restock = &script->sections.items[2];
  assert_string_equal(order->isolation, "repeatable read");
  assert_int_equal(order->weight, 3);
  assert_int_equal(script->weight, 4);
  assert_true(script->levels && !order->begins && restock->begins);
  assert_string_equal(order->commands.items[1].prefix, "was_");
  assert_string_equal(restock->commands.items[1].isolation, "SERIALIZABLE");
  assert_true(restock->commands.items[1].read_only);
  assert_int_equal(script->sections.items[3].rows.items[0].count, 2);
  assert_ptr_equal(iso_script_transaction(script, 2), order);
  assert_ptr_equal(iso_script_transaction(script, 3), restock);
  iso_script_free(script);
}

static void what_makes_no_sense_is_refused(void **state) {
  (void)state;
  expect_refused("SELECT 'a", 1, "not closed");
  expect_refused("\nSELECT $$a", 2, "not closed");
  expect_refused("/* a", 1, "expected */");
  expect_refused("\\if true\nSELECT 1;", 1, "no \\endif");
  expect_refused("SELECT 1;\n\\endif", 2, "without \\if");
  expect_refused("\\if true\n\\else\n\\else\n\\endif", 3, "after \\else");
  expect_refused("\\gset", 1, "behind a query");
  expect_refused("SELECT 1 \\set x 1", 1, "expected ; before");
  expect_refused("SELECT 1;\n\\startpipeline", 2, "not supported");
  expect_refused("\\shell ls", 1, "start no programs");
  expect_refused("\\nothing", 1, "no command \\nothing");
  expect_refused("\\set 1x 2", 1, "name of a variable");
  expect_refused("\\set x 2 +", 1, "expected a number");
  expect_refused("\\sleep", 1, "expected a number");
  expect_refused("\\sleep 1 h", 1, "us, ms or s");
  expect_refused("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;", 1, "isolation LEVEL");
  expect_refused("XA START 'a';", 1, "two phases");
  expect_refused("BEGIN CONCURRENT; SELECT 1; COMMIT;", 1, "expected BEGIN");
  expect_refused("-- setup\nSELECT 1;", 0, "'-- transaction NAME', found none");
  expect_refused("-- transaction\nSELECT 1;", 1, "expected a name");
  expect_refused("-- transaction a weight x\nSELECT 1;", 1, "expected a weight");
  expect_refused("-- transaction a weight 0\nSELECT 1;", 0, "weight 0");
  expect_refused("-- transaction a\nSELECT 1;\n-- transaction a\nSELECT 1;", 3, "there already");
  expect_refused("-- transaction a\n\\set x 1", 1, "no statement");
  expect_refused("SELECT 1;\n-- transaction a\nSELECT 1;", 1, "backslash commands only");
  expect_refused("-- invariant a\n-- expect 1", 1, "expected one query");
  expect_refused("-- invariant a\nSELECT 1;\n", 1, "expected '-- expect VALUE'");
  expect_refused("-- expect 1\n-- transaction a\nSELECT 1;", 1, "belongs to an invariant");
  expect_refused("SELECT '\xff';", 0, "UTF-8");
}

/* ---- what invariants return ---- */

typedef struct answer {
  const char *const *cells;
  uint32_t columns;
} answer;

static const char *cell_of(const void *user, size_t row, uint32_t column) {
  const answer *a = user;
  return a->cells[row * a->columns + column];
}

static bool holds(const char *expected, const char *const *cells, size_t rows, uint32_t columns) {
  char text[400];
  snprintf(text, sizeof text, "-- transaction t\nSELECT 1;\n-- invariant i\nSELECT 1;\n%s", expected);
  iso_script *script = parse_good(text);
  iso_script_variables variables = {{0}};
  answer a = {cells, columns};
  assert_int_equal(iso_script_variable_set_text(&variables, "total", 5, "100", NULL), ISOPROOF_OK);
  bool result = iso_expectation_holds(&script->sections.items[1], &variables, cell_of, &a, rows, columns);
  char *words = iso_expectation_words(&script->sections.items[1], &variables);
  assert_non_null(words);
  free(words);
  iso_script_variables_free(&variables);
  iso_script_free(script);
  return result;
}

static void invariants_compare(void **state) {
  (void)state;
  const char *const hundred[] = {"100"}, *const precise[] = {"100.00"}, *const none[] = {NULL}, *const text[] = {"abc"};
  const char *const table[] = {"1", "a", "2", NULL};
  assert_true(holds("-- expect 100", hundred, 1, 1));
  assert_true(holds("-- expect 100", precise, 1, 1));
  assert_true(holds("-- expect :total", precise, 1, 1));
  assert_false(holds("-- expect 101", precise, 1, 1));
  assert_true(holds("-- expect >= 99.5", precise, 1, 1));
  assert_false(holds("-- expect > 100", hundred, 1, 1));
  assert_true(holds("-- expect <> 7", hundred, 1, 1));
  assert_true(holds("-- expect null", none, 1, 1));
  assert_false(holds("-- expect 100", none, 1, 1));
  assert_false(holds("-- expect >= 0", none, 1, 1));
  assert_true(holds("-- expect abc", text, 1, 1));
  assert_true(holds("-- expect 'abc'", text, 1, 1));
  assert_true(holds("-- expect empty", NULL, 0, 1));
  assert_false(holds("-- expect empty", hundred, 1, 1));
  assert_false(holds("-- expect 100", NULL, 0, 1));
  assert_true(holds("-- expect 1 | a\n-- expect 2 | null", table, 2, 2));
  assert_false(holds("-- expect 1 | a", table, 2, 2));
  assert_false(holds("-- expect 1\n-- expect 2", table, 2, 2));
}

/* ---- machines ---- */

static void attempts_are_repeated_as_they_were(void **state) {
  (void)state;
  iso_script *script = parse_good("\\set n :n + 1\n\\set r random(1, 1000000000)\nSELECT :n, :r;");
  iso_script_variables defined = {{0}};
  iso_machine m;
  const iso_command *command;
  const char *sql;
  char first[100];
  assert_int_equal(iso_script_variable_set_text(&defined, "n", 1, "7", NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_open(&m, script, ISO_QUOTING_STANDARD, 0, 5, &defined, NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_start(&m, &script->sections.items[0], NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_next(&m, &command, NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_sql(&m, command, &sql, NULL), ISOPROOF_OK);
  snprintf(first, sizeof first, "%s", sql);
  assert_memory_equal(first, "SELECT 8, ", 10);
  assert_int_equal(iso_machine_restart(&m, NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_next(&m, &command, NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_sql(&m, command, &sql, NULL), ISOPROOF_OK);
  assert_string_equal(sql, first);
  iso_machine_close(&m);
  iso_script_variables_free(&defined);
  iso_script_free(script);
}

static void mistakes_at_work_have_a_place(void **state) {
  (void)state;
  iso_script *script = parse_good("SELECT 1;\n\\set x 1 / (:client_id - 3)\nSELECT :x;");
  iso_machine m;
  isoproof_error error = {.offset = -1};
  const iso_command *command;
  assert_int_equal(iso_machine_open(&m, script, ISO_QUOTING_STANDARD, 3, 5, NULL, NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_start(&m, &script->sections.items[0], NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_next(&m, &command, NULL), ISOPROOF_OK);
  assert_int_equal(iso_machine_next(&m, &command, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(error.line, 2);
  assert_non_null(strstr(error.message, "division by zero"));
  iso_machine_close(&m);
  iso_script_free(script);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_are_those_of_pgbench),
      cmocka_unit_test(depth_is_harmless),
      cmocka_unit_test(errors_say_where),
      cmocka_unit_test(random_numbers_have_their_shapes),
      cmocka_unit_test(permute_permutes),
      cmocka_unit_test(a_script_without_sections_is_a_transaction),
      cmocka_unit_test(statements_are_cut_as_psql_does),
      cmocka_unit_test(variables_are_replaced),
      cmocka_unit_test(quotes_are_escaped),
      cmocka_unit_test(conditions_choose),
      cmocka_unit_test(sections_are_told_apart),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      cmocka_unit_test(invariants_compare),
      cmocka_unit_test(attempts_are_repeated_as_they_were),
      cmocka_unit_test(mistakes_at_work_have_a_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
