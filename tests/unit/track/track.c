/* What the tracker understands of SQL, statement by statement and dialect by dialect, and what it says of the rest. */
#include "track/track.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "track/sql.h"

static const char accounts[] =
    "CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance BIGINT, kind TEXT, open BOOLEAN)";
static const char items[] =
    "CREATE TABLE IF NOT EXISTS items (shop VARCHAR(9), place INT, price NUMERIC(9, 2), PRIMARY KEY (shop, place))";

static iso_tracker *make(iso_track_dialect dialect, const char *const *setup) {
  iso_tracker *t;
  iso_value_tag tag = iso_value_tag_of(1, 20);
  assert_int_equal(iso_tracker_make(dialect, &tag, 2, &t, NULL), ISOPROOF_OK);
  for (; *setup != NULL; setup++) assert_int_equal(iso_tracker_setup(t, *setup, NULL), ISOPROOF_OK);
  return t;
}

static const char *table_why(const iso_tracker *t, const char *name) {
  for (size_t i = 0; i < iso_tracker_tables(t); i++) {
    iso_track_table table = iso_tracker_table(t, i);
    if (strcmp(table.name, name) == 0) return table.tracked ? "tracked" : table.why;
  }
  return "unknown";
}

static void expect_part(const char *text, const char *part, const char *of) {
  if (strstr(text, part) == NULL) fail_msg("%s:\n expected %s\n found %s", of, part, text);
}

/* One statement on the two tables: how much is recorded, a part of what is said, a part of what is sent. */
typedef struct {
  const char *sql, *extent, *said, *sent;
} one;

static void check_one(iso_track_dialect dialect, const one *c) {
  iso_tracker *t = make(dialect, (const char *const[]){accounts, items, NULL});
  uint32_t number;
  isoproof_error error = {0};
  if (iso_tracker_add(t, c->sql, &number, &error) != ISOPROOF_OK) fail_msg("%s: %s", c->sql, error.message);
  assert_int_equal(iso_tracker_decide(t, &error), ISOPROOF_OK);
  expect_part(iso_track_extent_name(iso_tracker_extent(t, number)), c->extent, c->sql);
  expect_part(iso_tracker_explain(t, number), c->said, c->sql);
  if (c->sent != NULL) expect_part(iso_tracker_sent(t, number), c->sent, c->sql);
  iso_tracker_free(t);
}

/* ---- every dialect ---- */

static const one common[] = {
    {"SELECT * FROM accounts WHERE id = 7", "tracked", "by primary key",
     "\"accounts\".\"id\", \"accounts\".\"balance\", \"accounts\".\"kind\", \"accounts\".\"open\", json"},
    {"SELECT balance FROM accounts a WHERE a.id = :k;", "tracked", "by primary key", "\"a\".isoproof_version"},
    {"SELECT 1 FROM items WHERE shop = 'x' AND place = 3", "tracked", "by primary key", NULL},
    {"SELECT 1 FROM items WHERE place = 3", "tracked", "conditions of its WHERE", NULL},
    {"SELECT id FROM accounts WHERE balance < 100 AND (kind IN ('a', :'b') AND balance <> -5)", "tracked", "conditions",
     NULL},
    {"SELECT id FROM accounts WHERE balance IS NOT NULL", "tracked", "conditions", NULL},
    {"SELECT sum(balance) FROM accounts", "tracked", "all of the table", NULL},
    {"SELECT kind, count(*) FROM accounts GROUP BY kind", "tracked", "all of the table", NULL},
    {"SELECT kind, count(*) FROM accounts GROUP BY kind HAVING count(*) > 1", "rows only", "HAVING", NULL},
    {"SELECT id FROM accounts LIMIT 5", "rows only", "LIMIT", NULL},
    {"SELECT id FROM accounts WHERE balance = 1 OR balance = 2", "rows only", "joined by AND", NULL},
    {"SELECT id FROM accounts WHERE kind LIKE 'a%'", "rows only", "joined by AND", NULL},
    {"SELECT id FROM accounts WHERE kind < 'b'", "rows only", "order of text", NULL},
    {"SELECT id FROM accounts WHERE balance > 1.5", "rows only", "joined by AND", NULL},
    {"SELECT id FROM accounts WHERE balance = id", "rows only", "joined by AND", NULL},
    {"SELECT shop FROM items WHERE price = 5", "rows only", "comparisons are not known", NULL},
    {"SELECT a.id, i.price FROM accounts a JOIN items i ON i.place = a.id", "rows only", "joins",
     "\"i\".isoproof_version"},
    {"SELECT id FROM accounts WHERE id IN (SELECT place FROM items)", "partly", "sub-queries", NULL},
    {"SELECT id FROM accounts, elsewhere", "partly", "elsewhere", NULL},
    {"SELECT DISTINCT kind FROM accounts", "not tracked", "DISTINCT", "SELECT DISTINCT kind FROM accounts"},
    {"SELECT id FROM accounts UNION SELECT place FROM items", "not tracked", "UNION", NULL},
    {"WITH x AS (SELECT id FROM accounts) SELECT id FROM x", "not tracked", "WITH", NULL},
    {"SELECT mine(id) FROM accounts", "not tracked", "mine", NULL},
    {"SELECT 1 + 1", "no rows", "no row", NULL},
    {"SAVEPOINT a", "no rows", "savepoint", NULL},
    {"COMMIT", "no rows", "no row", NULL},
    {"UPDATE accounts SET balance = balance - 1 WHERE id = 7", "tracked", "by primary key", "isoproof_version = N"},
    {"UPDATE accounts SET balance = 0", "tracked", "all of the table", NULL},
    {"UPDATE accounts SET balance = 0 WHERE balance + 1 > 5", "rows only", "joined by AND", NULL},
    {"UPDATE accounts SET id = 8 WHERE id = 7", "not tracked", "changes a primary key", NULL},
    {"DELETE FROM accounts WHERE balance < 0 AND kind = 'x'", "tracked", "conditions", "RETURNING json"},
    {"INSERT INTO accounts VALUES (1, 2, 'x', NULL)", "tracked", "makes",
     "isoproof_version) VALUES (1, 2, 'x', NULL, N)"},
    {"INSERT INTO accounts (id) VALUES (1), (2)", "tracked", "makes",
     "(id, isoproof_version) VALUES (1, N), (2, N) RETURNING"},
    {"INSERT INTO accounts (id) SELECT place FROM items", "partly", "its query reads", "SELECT place, N FROM items"},
    {"INSERT INTO accounts SELECT * FROM accounts", "not tracked", "all columns", NULL},
    {"DELETE FROM elsewhere", "not tracked", "elsewhere is not tracked", NULL},
    {"TRUNCATE TABLE accounts", "not tracked", "TRUNCATE", NULL},
};

static void all_dialects(void **state) {
  (void)state;
  for (int d = ISO_TRACK_POSTGRES; d <= ISO_TRACK_SQLITE; d++)
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) check_one((iso_track_dialect)d, &common[i]);
}

static void single_dialects(void **state) {
  (void)state;
  static const struct {
    iso_track_dialect dialect;
    one c;
  } cases[] = {
      {ISO_TRACK_POSTGRES, {"SELECT id FROM accounts WHERE open AND NOT open", "tracked", "conditions", NULL}},
      {ISO_TRACK_POSTGRES,
       {"SELECT id FROM accounts WHERE open = TRUE FOR UPDATE SKIP LOCKED", "rows only", "locked",
        "isoproof_version)::text FROM accounts WHERE open = TRUE FOR UPDATE SKIP LOCKED"}},
      {ISO_TRACK_POSTGRES, {"SELECT id FROM accounts WHERE id = :k::int", "rows only", "joined by AND", NULL}},
      {ISO_TRACK_POSTGRES, {"SELECT id FROM \"Accounts\"", "not tracked", "Accounts", NULL}},
      {ISO_TRACK_POSTGRES, {"SELECT ID FROM ACCOUNTS WHERE Id = $$7$$", "rows only", "joined by AND", NULL}},
      {ISO_TRACK_POSTGRES,
       {"UPDATE accounts a SET balance = 1 FROM items i WHERE i.place = a.id", "partly", "other tables",
        "isoproof_previous = \"a\".isoproof_version"}},
      {ISO_TRACK_POSTGRES,
       {"INSERT INTO accounts (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET balance = 2 WHERE accounts.balance > 1",
        "tracked", "makes or changes",
        "balance = 2, isoproof_previous = \"accounts\".isoproof_version, isoproof_version = N WHERE"}},
      {ISO_TRACK_POSTGRES, {"SELECT accounts FROM accounts", "not tracked", "as a whole", NULL}},
      {ISO_TRACK_POSTGRES, {"SET search_path = other", "no rows", "no row", NULL}},
      {ISO_TRACK_SQLITE, {"SELECT id FROM [accounts] WHERE kind = \"red\"", "rows only", "joined by AND", NULL}},
      {ISO_TRACK_SQLITE, {"SELECT max(id, 3) FROM accounts", "tracked", "all of the table", "json_array("}},
      {ISO_TRACK_SQLITE,
       {"INSERT OR REPLACE INTO accounts (id) VALUES (1)", "not tracked", "this form of INSERT", NULL}},
      {ISO_TRACK_SQLITE, {"REPLACE INTO accounts (id) VALUES (1)", "not tracked", "REPLACE", NULL}},
      {ISO_TRACK_MARIADB,
       {"SELECT id FROM `accounts` WHERE id = 1 LOCK IN SHARE MODE", "tracked", "by primary key",
        "FROM `accounts` WHERE id = 1 LOCK IN SHARE MODE"}},
      {ISO_TRACK_MARIADB, {"SELECT id FROM accounts WHERE kind = 'a'", "rows only", "collation", NULL}},
      {ISO_TRACK_MARIADB,
       {"UPDATE accounts SET balance = 1 WHERE id = 2 # a comment", "tracked", "by primary key",
        "@isoproof_log := concat(@isoproof_log"}},
      {ISO_TRACK_MARIADB,
       {"INSERT INTO accounts SET id = 1 ON DUPLICATE KEY UPDATE balance = 3", "tracked", "makes or changes",
        "id = 1, isoproof_version = N ON DUPLICATE KEY UPDATE balance = 3, isoproof_previous"}},
      {ISO_TRACK_MARIADB, {"UPDATE accounts, items SET balance = 1", "not tracked", "this form of UPDATE", NULL}},
      {ISO_TRACK_MARIADB, {"DELETE accounts FROM accounts JOIN items", "not tracked", "this form of DELETE", NULL}},
      {ISO_TRACK_MARIADB, {"CALL f()", "not tracked", "CALL", NULL}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_one(cases[i].dialect, &cases[i].c);
}

/* ---- tables ---- */

static void refused_tables(void **state) {
  (void)state;
  static const struct {
    iso_track_dialect dialect;
    const char *setup, *more, *statement, *why;
  } cases[] = {
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT)", "", "SELECT a FROM t", "no primary key"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT)", "ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY (a)",
       "SELECT a FROM t", "tracked"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a NUMERIC PRIMARY KEY)", "", "SELECT a FROM t", "spellings"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY, b INT REFERENCES u ON DELETE CASCADE)", "",
       "SELECT a FROM t", "foreign key"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY) PARTITION BY RANGE (a)", "", "SELECT a FROM t",
       "several tables"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY, isoproof_version INT)", "", "SELECT a FROM t",
       "already"},
      {ISO_TRACK_POSTGRES, "CREATE TEMP TABLE t (a INT PRIMARY KEY)", "", "SELECT a FROM t", "temporary"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t AS SELECT 1", "", "SELECT a FROM t", "not known"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY)", "CREATE VIEW v AS SELECT a FROM t", "SELECT a FROM t",
       "view"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY)",
       "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ DELETE FROM t $$", "SELECT f()", "function"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY)", "", "SELECT g() FROM t", "calls g"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY)", "", "SELECT * FROM t NATURAL JOIN u",
       "all of its columns"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY)", "",
       "WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x", "may write it"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY)", "", "DELETE FROM other", "triggers"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY)", "", "SELECT a FROM s.t", "same table"},
      {ISO_TRACK_POSTGRES, "CREATE TABLE t (a INT PRIMARY KEY)", "", "SET search_path = x",
       "what other statements mean"},
      {ISO_TRACK_SQLITE, "CREATE TABLE t (a PRIMARY KEY)", "", "SELECT a FROM t", "spellings"},
      {ISO_TRACK_SQLITE, "CREATE TABLE t (a TEXT COLLATE NOCASE PRIMARY KEY)", "", "SELECT a FROM t", "spellings"},
      {ISO_TRACK_SQLITE, "CREATE TABLE t (a INTEGER PRIMARY KEY)",
       "CREATE TRIGGER g AFTER DELETE ON t BEGIN DELETE FROM t; END", "SELECT a FROM t", "trigger"},
      {ISO_TRACK_MARIADB, "CREATE TABLE t (a INT PRIMARY KEY) ENGINE=MyISAM", "", "SELECT a FROM t", "InnoDB"},
      {ISO_TRACK_MARIADB, "CREATE TABLE t (a INT PRIMARY KEY)", "", "CREATE TABLE u (b INT)", "end it before its time"},
      {ISO_TRACK_MARIADB, "CREATE TABLE t (a INT PRIMARY KEY)", "", "LOCK TABLES t WRITE", "ends transactions"},
      {ISO_TRACK_MARIADB, "CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB", "", "SELECT a FROM t", "tracked"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    iso_tracker *t = make(cases[i].dialect, (const char *const[]){cases[i].setup, cases[i].more, NULL});
    uint32_t number;
    assert_int_equal(iso_tracker_add(t, cases[i].statement, &number, NULL), ISOPROOF_OK);
    assert_int_equal(iso_tracker_decide(t, NULL), ISOPROOF_OK);
    expect_part(table_why(t, "t"), cases[i].why, cases[i].statement);
    iso_tracker_free(t);
  }
}

/* ---- tokens ---- */

static void tokens(void **state) {
  (void)state;
  static const struct {
    iso_track_dialect dialect;
    const char *text;
    uint32_t count; /* UINT32_MAX: not one statement */
  } cases[] = {
      {ISO_TRACK_POSTGRES, "a -- b\n c", 2},
      {ISO_TRACK_POSTGRES, "a /* /* */ */ b", 2},
      {ISO_TRACK_SQLITE, "a /* /* */ b", 2},
      {ISO_TRACK_POSTGRES, "'it''s' \"x\"\"y\" $a$ ; $a$", 3},
      {ISO_TRACK_POSTGRES, "E'a\\'b' c", 2},
      {ISO_TRACK_MARIADB, "'a\\'b' \"c\" `d`", 3},
      {ISO_TRACK_MARIADB, "5--3", 4},
      {ISO_TRACK_POSTGRES, "5--3", 1},
      {ISO_TRACK_MARIADB, "a # b", 1},
      {ISO_TRACK_POSTGRES, "a::int :b :'c' d:=1", 8},
      {ISO_TRACK_SQLITE, "[a b] 1.5e+3 .5", 3},
      {ISO_TRACK_POSTGRES, "a; b", UINT32_MAX},
      {ISO_TRACK_POSTGRES, "a;;", 1},
      {ISO_TRACK_POSTGRES, "'a", UINT32_MAX},
      {ISO_TRACK_POSTGRES, "(a", UINT32_MAX},
      {ISO_TRACK_POSTGRES, "a)", UINT32_MAX},
      {ISO_TRACK_MARIADB, "/*! x */ a", UINT32_MAX},
      {ISO_TRACK_POSTGRES, "/* a", UINT32_MAX},
      {ISO_TRACK_POSTGRES, "", 0},
      {ISO_TRACK_POSTGRES, "$a$ b", UINT32_MAX},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    iso_sql sql;
    assert_int_equal(iso_sql_read(cases[i].dialect, cases[i].text, &sql, NULL), ISOPROOF_OK);
    bool one_statement = cases[i].count != UINT32_MAX;
    if (one_statement != (sql.problem == NULL) || (one_statement && sql.count != cases[i].count))
      fail_msg("%s: %u tokens, %s", cases[i].text, sql.count, sql.problem != NULL ? sql.problem : "fine");
    iso_sql_free(&sql);
  }
}

/* Nothing that a statement may be makes it crash: pieces of statements in any order, cut anywhere. */
static void any_text(void **state) {
  (void)state;
  static const char *const words[] = {
      "SELECT",  "FROM",    "accounts", "WHERE",     "id",        "=",      "(",       ")",        ",",
      "*",       "UPDATE",  "SET",      "INSERT",    "INTO",      "VALUES", "ON",      "CONFLICT", "DO",
      "NOTHING", "JOIN",    "AS",       "a",         ".",         "IN",     "BETWEEN", "AND",      "OR",
      "NOT",     "DELETE",  "USING",    "RETURNING", "GROUP",     "BY",     "LIMIT",   ":k",       ":'k'",
      "'x'",     "7",       "-",        "count",     "NULL",      "IS",     "CREATE",  "TABLE",    "PRIMARY",
      "KEY",     "DEFAULT", "ROLLBACK", "TO",        "DUPLICATE", "\"q\"",  "OVER"};
  uint64_t random = 7;
  for (int i = 0; i < 6000; i++) {
    char text[400] = "";
    for (size_t n = 0; n < 2 + (size_t)(i % 18); n++) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      strcat(text, words[(random >> 33) % (sizeof words / sizeof *words)]);
      strcat(text, " ");
    }
    iso_tracker *t = make((iso_track_dialect)(i % 3), (const char *const[]){accounts, text, items, NULL});
    uint32_t number;
    if (iso_tracker_add(t, text, &number, NULL) == ISOPROOF_OK) {
      assert_int_equal(iso_tracker_decide(t, NULL), ISOPROOF_OK);
      assert_non_null(iso_tracker_explain(t, number));
      assert_non_null(iso_tracker_sent(t, number));
    }
    iso_tracker_free(t);
  }
}

/* ---- values ---- */

static const char *sent_with(iso_track_dialect dialect, const char *sql, const char *value, isoproof_status expected,
                             char out[512]) {
  iso_tracker *t = make(dialect, (const char *const[]){accounts, NULL});
  iso_track_session *s;
  uint32_t number;
  iso_track_request request;
  assert_int_equal(iso_tracker_add(t, sql, &number, NULL), ISOPROOF_OK);
  assert_int_equal(iso_tracker_decide(t, NULL), ISOPROOF_OK);
  assert_int_equal(iso_tracker_variables(t, number), 1);
  assert_string_equal(iso_tracker_variable(t, number, 0), "v");
  assert_int_equal(iso_track_session_make(t, 1, &s, NULL), ISOPROOF_OK);
  iso_track_begin(s);
  assert_int_equal(iso_track_prepare(s, number, &value, &request, NULL), expected);
  snprintf(out, 512, "%s", expected == ISOPROOF_OK ? request.sql : "");
  iso_track_session_free(s);
  iso_tracker_free(t);
  return out;
}

static void values(void **state) {
  (void)state;
  char out[512];
  expect_part(sent_with(ISO_TRACK_POSTGRES, "SELECT id FROM accounts WHERE kind = :'v'", "it's \\", ISOPROOF_OK, out),
              "kind = 'it''s \\'", "quotes");
  expect_part(sent_with(ISO_TRACK_MARIADB, "SELECT id FROM accounts WHERE kind = :'v'", "it's \\", ISOPROOF_OK, out),
              "kind = 'it''s \\\\'", "quotes");
  expect_part(sent_with(ISO_TRACK_POSTGRES, "SELECT :v FROM accounts ORDER BY :v", "id DESC", ISOPROOF_OK, out),
              "ORDER BY id DESC", "text");
  expect_part(sent_with(ISO_TRACK_POSTGRES, "UPDATE accounts SET balance = :v", "-5", ISOPROOF_OK, out),
              "balance = -5, ", "number");
  sent_with(ISO_TRACK_POSTGRES, "UPDATE accounts SET balance = :v", "5 WHERE id = 1", ISOPROOF_ERR_USAGE, out);
  sent_with(ISO_TRACK_POSTGRES, "DELETE FROM accounts WHERE id = :v", "1 OR 1 = 1", ISOPROOF_ERR_USAGE, out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_dialects), cmocka_unit_test(single_dialects), cmocka_unit_test(refused_tables),
      cmocka_unit_test(tokens),       cmocka_unit_test(any_text),        cmocka_unit_test(values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
