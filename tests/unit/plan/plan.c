/* Plans: TOML by the cases of its specification, cells and their options, expectations, tables and their comparison. */
#include <isoproof/plan.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/scratch.h"
#include "tests/unit/unit.h"
#include "toml/toml.h"

/* ---- TOML ---- */

static iso_toml parse(const char *text) {
  iso_toml document;
  isoproof_error error = {.offset = -1};
  if (iso_toml_parse(text, strlen(text), "t", &document, &error) != ISOPROOF_OK)
    fail_msg("%s:%llu:%llu: %s", text, (unsigned long long)error.line, (unsigned long long)error.column, error.message);
  return document;
}

/* The value of `v` in a document. */
static const iso_toml_node *value(const iso_toml *document) {
  const iso_toml_node *found = iso_toml_find(document->root, "v");
  assert_non_null(found);
  return found;
}

static void strings_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"v = \"I'm a string. \\\"You can quote me\\\". Name\\tJos\\u00E9\\nLocation\\tSF.\"",
       "I'm a string. \"You can quote me\". Name\tJos\xc3\xa9\nLocation\tSF."},
      {"v = \"\"\"\nRoses are red\nViolets are blue\"\"\"", "Roses are red\nViolets are blue"},
      {"v = \"\"\"\nThe quick brown \\\n\n\n  fox jumps over \\\n    the lazy dog.\"\"\"",
       "The quick brown fox jumps over the lazy dog."},
      {"v = \"\"\"\\\n   a \\\n   b\\\n   \"\"\"", "a b"},
      {"v = \"\"\"Two quotation marks: \"\". Simple.\"\"\"", "Two quotation marks: \"\". Simple."},
      {"v = \"\"\"\"This,\" she said, \"is just a pointless statement.\"\"\"\"",
       "\"This,\" she said, \"is just a pointless statement.\""},
      {"v = 'C:\\Users\\nodejs\\templates'", "C:\\Users\\nodejs\\templates"},
      {"v = '<\\i\\c*\\s*>'", "<\\i\\c*\\s*>"},
      {"v = '''\nThe first newline is\ntrimmed.\n'''", "The first newline is\ntrimmed.\n"},
      {"v = '''''two''''' # and a comment", "''two''"},
      {"v = \"\\U0001F600\"", "\xf0\x9f\x98\x80"},
      {"v = \"\"", ""},
      {"v = \"a\\b\\f\\r\\\\\"\r\n", "a\b\f\r\\"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    iso_toml document = parse(cases[i].text);
    assert_int_equal(value(&document)->kind, ISO_TOML_STRING);
    assert_string_equal(value(&document)->text, cases[i].expected);
    iso_toml_free(&document);
  }
}

static void numbers_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text;
    iso_toml_kind kind;
    double expected;
  } cases[] = {
      {"v = +99", ISO_TOML_INTEGER, 99},
      {"v = 0", ISO_TOML_INTEGER, 0},
      {"v = -17", ISO_TOML_INTEGER, -17},
      {"v = 53_49_221", ISO_TOML_INTEGER, 5349221},
      {"v = 0xdead_beef", ISO_TOML_INTEGER, 3735928559.0},
      {"v = 0o755", ISO_TOML_INTEGER, 493},
      {"v = 0b11010110", ISO_TOML_INTEGER, 214},
      {"v = 9223372036854775807", ISO_TOML_INTEGER, 9223372036854775807.0},
      {"v = -9223372036854775808", ISO_TOML_INTEGER, -9223372036854775808.0},
      {"v = +1.0", ISO_TOML_FLOAT, 1},
      {"v = -0.01", ISO_TOML_FLOAT, -0.01},
      {"v = 5e+22", ISO_TOML_FLOAT, 5e22},
      {"v = 1e06", ISO_TOML_FLOAT, 1e6},
      {"v = -2E-2", ISO_TOML_FLOAT, -0.02},
      {"v = 6.626e-34", ISO_TOML_FLOAT, 6.626e-34},
      {"v = 224_617.445_991_228", ISO_TOML_FLOAT, 224617.445991228},
      {"v = -inf", ISO_TOML_FLOAT, -INFINITY},
      {"v = true", ISO_TOML_BOOLEAN, 1},
      {"v = false#no", ISO_TOML_BOOLEAN, 0},
      {"v = 1979-05-27T07:32:00Z", ISO_TOML_DATETIME, 0},
      {"v = 1979-05-27T00:32:00.999999-07:00", ISO_TOML_DATETIME, 0},
      {"v = 1979-05-27 07:32:00Z", ISO_TOML_DATETIME, 0},
      {"v = 1979-05-27T07:32:00", ISO_TOML_DATETIME, 0},
      {"v = 2000-02-29", ISO_TOML_DATETIME, 0},
      {"v = 00:32:00.999999", ISO_TOML_DATETIME, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    iso_toml document = parse(cases[i].text);
    const iso_toml_node *v = value(&document);
    if (v->kind != cases[i].kind) fail_msg("%s is %s", cases[i].text, iso_toml_kind_name(v->kind));
    if (v->kind == ISO_TOML_BOOLEAN) assert_int_equal(v->on, cases[i].expected != 0);
    if (v->kind == ISO_TOML_INTEGER || v->kind == ISO_TOML_FLOAT) assert_true(v->number == cases[i].expected);
    iso_toml_free(&document);
  }
  iso_toml document = parse("v = nan");
  assert_true(isnan(value(&document)->number));
  iso_toml_free(&document);
}

/* A path of keys with dots; arrays of tables give their last element. */
static const iso_toml_node *at(const iso_toml *document, const char *path) {
  const iso_toml_node *node = document->root;
  while (node != NULL && *path != '\0') {
    char key[32];
    size_t length = strcspn(path, ".");
    snprintf(key, sizeof key, "%.*s", (int)length, path);
    node = iso_toml_find(node->kind == ISO_TOML_ARRAY ? node->last : node, key);
    path += length + (path[length] == '.');
  }
  return node;
}

static void tables_are_read(void **state) {
  (void)state;
  iso_toml d = parse("# This is a comment\n"
                     "fruit.name = \"banana\"\n"
                     "fruit . color = \"yellow\"\n"
                     "3.14159 = \"pi\"\n"
                     "\"127.0.0.1\" = 1\n"
                     "'quoted \"value\"' = 2\n"
                     "bare-key_1 = [ [ 1, 2 ], [\"a\", \"b\", ], # both\n  {x = 1, y.z = {}} ]\n"
                     "[ d . e . f ]\n"
                     "a = 1\n"
                     "[d]\n"
                     "b = 2\n"
                     "[[products]]\n"
                     "name = \"Hammer\"\n"
                     "[[products]] # empty\n"
                     "[[products]]\n"
                     "name = \"Nail\"\n"
                     "[products.physical]\n"
                     "color = \"red\"\n"
                     "[[products.varieties]]\n"
                     "name = \"long\"\n"
                     "[apple]\n"
                     "taste.sweet = true\n"
                     "[apple.texture]\n"
                     "smooth = true\n");
  static const struct {
    const char *path, *text;
  } cases[] = {{"fruit.name", "banana"},
               {"fruit.color", "yellow"},
               {"3.14159", "pi"},
               {"d.e.f.a", "1"},
               {"d.b", "2"},
               {"products.name", "Nail"},
               {"products.physical.color", "red"},
               {"products.varieties.name", "long"},
               {"apple.taste.sweet", "true"},
               {"apple.texture.smooth", "true"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const iso_toml_node *node = at(&d, cases[i].path);
    if (node == NULL || strcmp(node->text, cases[i].text) != 0) fail_msg("%s", cases[i].path);
  }
  assert_int_equal(at(&d, "products")->count, 3);
  assert_int_equal(iso_toml_find(d.root, "127.0.0.1")->integer, 1);
  assert_int_equal(iso_toml_find(d.root, "quoted \"value\"")->integer, 2);
  const iso_toml_node *list = iso_toml_find(d.root, "bare-key_1");
  assert_int_equal(list->count, 3);
  assert_int_equal(list->first->next->count, 2);
  assert_int_equal(iso_toml_find(iso_toml_find(list->last, "y"), "z")->count, 0);
  assert_int_equal(at(&d, "d.e.f.a")->line, 10);
  assert_int_equal(at(&d, "d.e.f.a")->column, 1);
  iso_toml_free(&d);
}

static void what_is_invalid_has_a_place(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t line, column;
  } cases[] = {
      {"key = # INVALID", 1, 7},
      {"first = \"Tom\" last = \"P\"", 1, 15},
      {"= \"no key name\"", 1, 1},
      {"name = \"Tom\"\nname = \"Pradyun\"", 2, 1},
      {"spelling = 1\n\"spelling\" = 2", 2, 1},
      {"fruit.apple = 1\nfruit.apple.smooth = true", 2, 7},
      {"a = \"unknown \\escape\"", 1, 15},
      {"a = \"\\uD800\"", 1, 12},
      {"a = \"no end", 1, 12},
      {"a = \"line\nbreak\"", 1, 10},
      {"a = '''15: '''''' end'''", 1, 17},
      {"a = 'x'y'", 1, 8},
      {"a = \"\x01\"", 1, 6},
      {"# \x7f", 1, 3},
      {"a = \xff", 1, 5},
      {"a = 012", 1, 5},
      {"a = 1__0", 1, 5},
      {"a = _1", 1, 5},
      {"a = 1_", 1, 5},
      {"a = .7", 1, 5},
      {"a = 7.", 1, 5},
      {"a = 3.e+20", 1, 5},
      {"a = +0x10", 1, 5},
      {"a = 0xg", 1, 5},
      {"a = 9223372036854775808", 1, 5},
      {"a = True", 1, 5},
      {"a = 2001-02-29", 1, 5},
      {"a = 2001-13-01", 1, 5},
      {"a = 24:00:00", 1, 5},
      {"a = 1979-05-27T07:32", 1, 5},
      {"[fruit]\napple = \"red\"\n[fruit]\norange = 1", 3, 2},
      {"[fruit]\napple = \"red\"\n[fruit.apple]\ntexture = 1", 3, 8},
      {"[fruit]\napple.color = \"red\"\n[fruit.apple]", 3, 8},
      {"[a.b.c]\nz = 9\n[a]\nb.c.t = 1", 4, 3},
      {"[product]\ntype = { name = \"Nail\" }\ntype.edible = false", 3, 1},
      {"[product]\ntype.name = \"Nail\"\ntype = { edible = false }", 3, 1},
      {"a = { b = 1, b = 2 }", 1, 14},
      {"a = { b = 1, }", 1, 14},
      {"a = { b = 1\n}", 1, 12},
      {"a = [1 2]", 1, 8},
      {"a = [1, 2", 1, 10},
      {"fruits = []\n[[fruits]]", 2, 3},
      {"[[fruits]]\nname = 1\n[[fruits.varieties]]\n[fruits.varieties]", 4, 9},
      {"[fruit]\n[[fruit]]", 2, 3},
      {"[a]]", 1, 4},
      {"[a", 1, 3},
      {"[]", 1, 2},
      {"[a.]", 1, 4},
      {"\"\"\"a\"\"\" = 1", 1, 1},
      {"a b = 1", 1, 3},
      {"a = 1\r", 1, 6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    iso_toml document;
    isoproof_error error = {.offset = -1};
    isoproof_status status = iso_toml_parse(cases[i].text, strlen(cases[i].text), "t", &document, &error);
    if (status != ISOPROOF_ERR_FORMAT || error.line != cases[i].line || error.column != cases[i].column)
      fail_msg("%s: status %d at %llu:%llu, %s", cases[i].text, (int)status, (unsigned long long)error.line,
               (unsigned long long)error.column, error.message);
  }
}

/* Deep or large documents end in an error, not at the end of the stack. */
static void limits_hold(void **state) {
  (void)state;
  enum { DEEP = 100000 };
  char *text = malloc(DEEP + 8);
  assert_non_null(text);
  memcpy(text, "a = ", 4);
  memset(text + 4, '[', DEEP);
  text[4 + DEEP] = '\0';
  iso_toml document;
  isoproof_error error = {.offset = -1};
  assert_int_equal(iso_toml_parse(text, DEEP + 4, "t", &document, &error), ISOPROOF_ERR_FORMAT);
  assert_non_null(strstr(error.message, "within each other"));
  memset(text + 4, '1', DEEP);
  assert_int_equal(iso_toml_parse(text, DEEP + 4, "t", &document, &error), ISOPROOF_ERR_FORMAT);
  free(text);
}

/* ---- plans ---- */

static isoproof_plan *read_plan(const char *text) {
  isoproof_plan *plan;
  isoproof_error error = {.offset = -1};
  assert_ok_error(isoproof_plan_read_memory(text, strlen(text), "plan", &plan, &error), error);
  return plan;
}

static const char *option_of(const isoproof_plan *plan, size_t cell, const char *name) {
  isoproof_plan_option option = {.struct_size = sizeof option};
  for (size_t i = 0; isoproof_plan_option_at(plan, cell, i, &option); i++)
    if (strcmp(option.name, name) == 0) return option.value != NULL ? option.value : option.on ? "on" : "off";
  return "";
}

static void cells_have_their_options(void **state) {
  (void)state;
  setenv("ISOPROOF_TEST_SECRET", "p@ss/w:rd$", 1);
  setenv("ISOPROOF_TEST_URL", "sim:?level=rc&x=@", 1);
  isoproof_plan *plan = read_plan("budget = \"1m\"\n"
                                  "levels = [\"serializable\"]\n"
                                  "scripts = [\"sql/bank.sql\"]\n"
                                  "[options]\nsessions = 8\nkeys = 10\n"
                                  "[databases.a]\nurl = \"postgres://me:${ISOPROOF_TEST_SECRET}@h/d$$x\"\n"
                                  "levels = [\"read committed\", \"serializable\"]\nkeys = 20\nfinal-reads = true\n"
                                  "[databases.b]\nurl = \"${ISOPROOF_TEST_URL}\"\nworkloads = [\"mixed\"]\n"
                                  "[databases.c]\ncluster = \"postgres\"\nfaults = [\"kill\", \"pause\"]\n"
                                  "[workloads.mixed]\nkeys = 30\n"
                                  "[workloads.few]\nworkload = \"mixed\"\nlevels = [\"Serializable\"]\n"
                                  "databases = [\"a\"]\nread-share = 0.5\nfinal-reads = false\n");
  static const char *const cells[][3] = {{"a", "read committed", "bank.sql"}, {"a", "read committed", "mixed"},
                                         {"a", "serializable", "bank.sql"},   {"a", "serializable", "mixed"},
                                         {"a", "serializable", "few"},        {"b", "serializable", "mixed"},
                                         {"c", "serializable", "bank.sql"},   {"c", "serializable", "mixed"}};
  isoproof_plan_cell cell = {.struct_size = sizeof cell};
  size_t count = sizeof cells / sizeof *cells;
  for (size_t i = 0; i < count; i++) {
    assert_true(isoproof_plan_cell_at(plan, i, &cell));
    assert_string_equal(cell.database, cells[i][0]);
    assert_string_equal(cell.isolation, cells[i][1]);
    assert_string_equal(cell.workload, cells[i][2]);
    assert_string_equal(option_of(plan, i, "isolation"), cells[i][1]);
    assert_string_equal(option_of(plan, i, "sessions"), "8");
  }
  assert_false(isoproof_plan_cell_at(plan, count, &cell));
  assert_true(isoproof_plan_budget(plan) == 60);
  assert_string_equal(option_of(plan, 0, "db"), "postgres://me:p%40ss%2Fw%3Ard%24@h/d$x");
  assert_string_equal(option_of(plan, 0, "script"), "sql/bank.sql");
  assert_string_equal(option_of(plan, 0, "keys"), "20");
  assert_string_equal(option_of(plan, 1, "keys"), "30");
  assert_string_equal(option_of(plan, 1, "workload"), "mixed");
  assert_string_equal(option_of(plan, 1, "final-reads"), "on");
  assert_string_equal(option_of(plan, 4, "final-reads"), "off");
  assert_string_equal(option_of(plan, 4, "read-share"), "0.5");
  assert_string_equal(option_of(plan, 5, "db"), "sim:?level=rc&x=@");
  assert_string_equal(option_of(plan, 6, "cluster"), "postgres");
  assert_string_equal(option_of(plan, 6, "faults"), "kill,pause");
  isoproof_plan_free(plan);
}

static void the_nearest_expectation_counts(void **state) {
  (void)state;
  isoproof_plan *plan = read_plan(
      "workloads = { mixed = {}, bank = { expect = { verdict = \"any\" } }, skew = { workload = \"write-skew\","
      " expect = { \"read committed\" = { level = \"rc\", verdict = \"violated\" } } } }\n"
      "levels = [\"read committed\", \"serializable\"]\n"
      "[expect]\n\"read_committed\" = \"read-atomic\"\n"
      "[databases.a]\nurl = \"sim:\"\n"
      "[databases.b]\nurl = \"sim:\"\nexpect = \"causal\"\n");
  static const struct {
    const char *expected;
    isoproof_verdict wanted;
  } cases[] = {{"read-atomic", ISOPROOF_SATISFIED},   {"read-atomic", ISOPROOF_VERDICT_NONE},
               {"read-committed", ISOPROOF_VIOLATED}, {NULL, ISOPROOF_SATISFIED},
               {NULL, ISOPROOF_VERDICT_NONE},         {NULL, ISOPROOF_SATISFIED},
               {"causal", ISOPROOF_SATISFIED},        {"causal", ISOPROOF_VERDICT_NONE},
               {"read-committed", ISOPROOF_VIOLATED}, {"causal", ISOPROOF_SATISFIED}};
  isoproof_plan_cell cell = {.struct_size = sizeof cell};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_true(isoproof_plan_cell_at(plan, i, &cell));
    if (cases[i].expected == NULL)
      assert_null(cell.expected);
    else
      assert_string_equal(cell.expected, cases[i].expected);
    assert_int_equal(cell.wanted, cases[i].wanted);
    assert_string_equal(option_of(plan, i, "expect"), cases[i].expected != NULL ? cases[i].expected : "");
  }
  isoproof_plan_free(plan);
  plan = read_plan(isoproof_plan_example());
  isoproof_plan_free(plan);
}

/* ---- tables ---- */

typedef struct text {
  char *bytes;
  size_t size;
} text;

static bool collect(void *user, const void *data, size_t size) {
  text *t = user;
  t->bytes = realloc(t->bytes, t->size + size + 1);
  assert_non_null(t->bytes);
  memcpy(t->bytes + t->size, data, size);
  t->size += size;
  t->bytes[t->size] = '\0';
  return true;
}

static isoproof_plan_results *make_results(isoproof_verdict second, const char *anomalies) {
  isoproof_plan_results *results;
  isoproof_error error = {.offset = -1};
  isoproof_plan_outcome rows[] = {
      {.database = "a<b>",
       .workload = "mixed",
       .verdict = ISOPROOF_SATISFIED,
       .wanted = ISOPROOF_SATISFIED,
       .rounds = 2,
       .committed = 1000,
       .seconds = 2,
       .p50_ms = 1,
       .p99_ms = 4,
       .strongest = "causal"},
      {.database = "a<b>",
       .isolation = "rc",
       .workload = "mixed",
       .expected = "read-atomic",
       .verdict = second,
       .wanted = ISOPROOF_SATISFIED,
       .anomalies = anomalies,
       .rounds = 1,
       .folder = "x y"},
      {.database = "c", .workload = "bank", .wanted = ISOPROOF_VIOLATED, .verdict = ISOPROOF_VIOLATED, .rounds = 1},
      {.database = "c", .workload = "skew", .wanted = ISOPROOF_SATISFIED, .problem = "gone"},
      {.database = "c", .workload = "late", .wanted = ISOPROOF_SATISFIED},
  };
  assert_ok_error(isoproof_plan_results_new(NULL, "plan & co", &results, &error), error);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rows[i].struct_size = sizeof *rows;
    if (rows[i].isolation == NULL) rows[i].isolation = "";
    assert_ok_error(isoproof_plan_results_set(results, i, &rows[i], &error), error);
  }
  return results;
}

static char *written(isoproof_plan_results_write_fn *write, const isoproof_plan_results *results) {
  text t = {.bytes = NULL};
  isoproof_error error = {.offset = -1};
  assert_ok_error(write(results, collect, &t, &error), error);
  return t.bytes;
}

static void what_outcomes_mean(void **state) {
  (void)state;
  static const char *const means[] = {"as expected", "violated", "as expected", "failed", "not tried"};
  isoproof_plan_results *results = make_results(ISOPROOF_VIOLATED, "lost update");
  isoproof_plan_outcome o = {.struct_size = sizeof o};
  for (size_t i = 0; isoproof_plan_results_at(results, i, &o); i++)
    assert_string_equal(isoproof_plan_outcome_means(&o), means[i]);
  o = (isoproof_plan_outcome){
      .struct_size = sizeof o, .rounds = 1, .wanted = ISOPROOF_VIOLATED, .verdict = ISOPROOF_SATISFIED};
  assert_string_equal(isoproof_plan_outcome_means(&o), "not violated");
  o.verdict = ISOPROOF_UNDECIDED;
  assert_string_equal(isoproof_plan_outcome_means(&o), "unknown");
  isoproof_plan_results_free(results);
}

static void a_saved_table_is_the_same(void **state) {
  (void)state;
  isoproof_plan_results *results = make_results(ISOPROOF_VIOLATED, "lost update, write skew"), *again;
  isoproof_error error = {.offset = -1};
  char *json = written(isoproof_plan_results_write_json, results), path[SCRATCH_BYTES];
  int file = scratch_file(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, json, strlen(json)), strlen(json));
  close(file);
  assert_ok_error(isoproof_plan_results_read(path, &again, &error), error);
  unlink(path);
  static isoproof_plan_results_write_fn *const writers[] = {
      isoproof_plan_results_write_json,  isoproof_plan_results_write_text,     isoproof_plan_results_write_html,
      isoproof_plan_results_write_junit, isoproof_plan_results_write_markdown, isoproof_plan_results_write_github};
  for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
    char *a = written(writers[i], results), *b = written(writers[i], again);
    assert_string_equal(a, b);
    assert_null(i >= 2 && i <= 3 ? strstr(a, "<b>") : NULL);
    free(a);
    free(b);
  }
  char *page = written(isoproof_plan_results_write_html, results);
  assert_non_null(strstr(page, "href=\"x%20y/report.html\""));
  free(page);
  free(json);
  isoproof_plan_results_free(results);
  isoproof_plan_results_free(again);
}

static void compare(isoproof_plan_results *before, isoproof_plan_results *after, double tolerance, size_t changes,
                    size_t worse) {
  isoproof_plan_comparison *comparison;
  isoproof_error error = {.offset = -1};
  isoproof_plan_compare_options options = {.struct_size = sizeof options, .tolerance = tolerance};
  assert_ok_error(isoproof_plan_compare(before, after, &options, &comparison, &error), error);
  assert_int_equal(isoproof_plan_comparison_changes(comparison), changes);
  assert_int_equal(isoproof_plan_comparison_worse(comparison), worse);
  text t = {.bytes = NULL};
  assert_ok_error(isoproof_plan_comparison_write_text(comparison, collect, &t, &error), error);
  assert_ok_error(isoproof_plan_comparison_write_json(comparison, collect, &t, &error), error);
  free(t.bytes);
  isoproof_plan_comparison_free(comparison);
}

static void changes_are_told(void **state) {
  (void)state;
  isoproof_error error = {.offset = -1};
  isoproof_plan_results *good = make_results(ISOPROOF_SATISFIED, NULL), *bad = make_results(ISOPROOF_VIOLATED, "G0"),
                        *other = make_results(ISOPROOF_VIOLATED, "G0, write skew"),
                        *slow = make_results(ISOPROOF_SATISFIED, NULL);
  isoproof_plan_outcome o = {.struct_size = sizeof o};
  compare(good, good, 0.01, 0, 0);
  compare(good, bad, 0, 1, 1);
  compare(bad, good, 0, 1, 0);
  compare(bad, other, 0, 1, 1);
  compare(other, bad, 0, 1, 0);
  assert_true(isoproof_plan_results_at(slow, 0, &o));
  o.p99_ms = 5;
  assert_ok_error(isoproof_plan_results_set(slow, 0, &o, &error), error);
  compare(good, slow, 0, 0, 0);
  compare(good, slow, 0.2, 1, 1);
  compare(good, slow, 0.3, 0, 0);
  o.database = "elsewhere";
  assert_ok_error(isoproof_plan_results_set(slow, 0, &o, &error), error);
  compare(good, slow, 0, 2, 1); /* one is gone, one is new and as expected */
  isoproof_plan_results_free(good);
  isoproof_plan_results_free(bad);
  isoproof_plan_results_free(other);
  isoproof_plan_results_free(slow);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strings_are_read),
      cmocka_unit_test(numbers_are_read),
      cmocka_unit_test(tables_are_read),
      cmocka_unit_test(what_is_invalid_has_a_place),
      cmocka_unit_test(limits_hold),
      cmocka_unit_test(cells_have_their_options),
      cmocka_unit_test(the_nearest_expectation_counts),
      cmocka_unit_test(what_outcomes_mean),
      cmocka_unit_test(a_saved_table_is_the_same),
      cmocka_unit_test(changes_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
