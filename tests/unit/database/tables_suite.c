/* tables_suite.c - whose tables are changed, and whose never are. */
#include "tests/unit/database/tables_suite.h"

#include <sys/wait.h>
#include <unistd.h>

#include "database/catalogue.h"
#include "tests/unit/database/driver_suite.h"
#include "tests/unit/unit.h"

static const char *url;
static tables_suite_prepare prepare;
static char told[4096];

static void notice(const char *text, void *user) {
  (void)user;
  size_t used = strlen(told);
  snprintf(told + used, sizeof told - used, "%s\n", text);
}

static iso_database *open_database(iso_database_options options) {
  iso_database *database = NULL;
  isoproof_error error = {0};
  options.notice = notice;
  assert_ok_error(iso_database_open(&url, 1, &options, &database, &error), error);
  if (prepare != NULL) prepare(database);
  return database;
}

static iso_database *set_up(iso_database_options options) {
  isoproof_error error = {0};
  iso_database *database = open_database(options);
  assert_ok_error(iso_database_setup(database, &error), error);
  return database;
}

static void refused(iso_database_options options, const char *words) {
  isoproof_error error = {0};
  iso_database *database = open_database(options);
  assert_int_equal(iso_database_setup(database, &error), ISOPROOF_ERR_USAGE);
  if (strstr(error.message, words) == NULL) fail_msg("expected '%s' in: %s", words, error.message);
  assert_non_null(strstr(error.message, "nothing was changed"));
  assert_ok_error(iso_database_teardown(database, &error), error);
  iso_database_close(database);
}

/* ---- somebody else's connection ---- */

static iso_database *plain;
static iso_connection *other;
static iso_reply reply;

static void execute(const char *sql) {
  if (iso_execute(other, sql, &reply) != ISO_OUTCOME_OK) fail_msg("%s: %s %s", sql, reply.code, reply.message);
}

static int64_t number(const char *sql) {
  execute(sql);
  assert_non_null(iso_reply_cell(&reply, 0, 0));
  return strtoll(iso_reply_cell(&reply, 0, 0), NULL, 10);
}

static bool is_there(const char *table) {
  char sql[ISO_SQL_BYTES];
  snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM %s", table);
  return iso_execute(other, sql, &reply) == ISO_OUTCOME_OK;
}

/* ---- what is not ours ---- */

static void leaves_strangers_alone(void) {
  execute("CREATE TABLE orders1 (id INTEGER PRIMARY KEY, note VARCHAR(20))");
  for (int i = 0; i < 10; i++) {
    char sql[100];
    snprintf(sql, sizeof sql, "INSERT INTO orders1 VALUES (%d, 'paid')", i);
    execute(sql);
  }
  execute("CREATE VIEW seen AS SELECT id FROM orders1");
  refused((iso_database_options){.table = "orders1"}, "was not made by isoproof");
  /* The server says whether case matters: to PostgreSQL and SQLite it does not. */
  if (is_there("ORDERS1")) refused((iso_database_options){.table = "ORDERS1"}, "was not made by isoproof");
  refused((iso_database_options){.table = "seen"}, "was not made by isoproof");
  /* The second of three: the first is not made, either. */
  refused((iso_database_options){.table = "orders", .tables = 3}, "orders1");
  assert_false(is_there("orders0"));
  assert_int_equal(number("SELECT COUNT(*) FROM orders1 WHERE note = 'paid'"), 10);
  execute("DROP VIEW seen");
  execute("DROP TABLE orders1");
}

static void two_runs_with_one_name(void) {
  iso_database *first = set_up((iso_database_options){.table = "shared"});
  refused((iso_database_options){.table = "shared"}, "still going on");
  iso_database *unnamed = set_up((iso_database_options){0}), *another = set_up((iso_database_options){0});
  assert_string_not_equal(iso_database_table_name(unnamed), iso_database_table_name(another));
  assert_true(is_there(iso_database_table_name(unnamed)));
  suite_close(unnamed);
  assert_true(is_there("shared"));
  suite_close(first);
  suite_close(another);
  assert_false(is_there("shared"));
}

/* ---- what is left of others ---- */

/* Makes a table as a run would have that was never ended. */
static void leave_behind(const char *table, const iso_mark *wanted) {
  iso_mark mark = *wanted;
  snprintf(mark.table, sizeof mark.table, "%s", table);
  if (iso_catalogue_transactional(plain->dialect)) iso_begin(other, NULL, &reply);
  if (!iso_catalogue_create(other, table, &mark, &reply)) fail_msg("%s: %s", table, reply.message);
  if (iso_catalogue_transactional(plain->dialect)) iso_commit(other, &reply);
}

static iso_process dead_process(void) {
  iso_process process;
  iso_process_here(&process);
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  process.pid = (uint64_t)child;
  return process;
}

/* A table under another name has the mark of the old one.  Firebird renames no tables: it gets one that looks like it.
 */
static void rename_it(const iso_mark *wanted) {
  if (plain->dialect != ISO_SQL_FIREBIRD) {
    execute("ALTER TABLE isoproof_renamed RENAME TO isoproof_precious");
    return;
  }
  char sql[400], text[ISO_MARK_BYTES];
  iso_mark mark = *wanted;
  snprintf(mark.table, sizeof mark.table, "isoproof_renamed");
  iso_mark_write(&mark, text);
  execute("CREATE TABLE isoproof_precious (k BIGINT)");
  snprintf(sql, sizeof sql, "COMMENT ON TABLE isoproof_precious IS '%s'", text);
  execute(sql);
  execute("DROP TABLE isoproof_renamed");
}

/* A run may have left thousands: they are removed many at a time, and each only if it is what it says. */
static void sweeps_many(void) {
  enum { LEFT = 90 };
  if (plain->dialect == ISO_SQL_FIREBIRD) return; /* no layouts, and no new names for tables */
  iso_mark gone = {.run = 79, .made = 1, .process = dead_process()};
  char name[ISO_TABLE_BYTES], sql[100];
  for (int i = 0; i < LEFT; i++) {
    snprintf(name, sizeof name, "isoproof_left_r%d", i + 1);
    leave_behind(name, &gone);
  }
  execute("ALTER TABLE isoproof_left_r50 RENAME TO isoproof_left_mine");
  told[0] = 0;
  suite_close(set_up((iso_database_options){.layout = ISO_LAYOUT_INDEXED}));
  snprintf(sql, sizeof sql, "removed %d tables", LEFT - 1);
  assert_non_null(strstr(told, sql));
  assert_false(is_there("isoproof_left_r1") || is_there("isoproof_left_r90"));
  assert_true(is_there("isoproof_left_mine"));
  execute("DROP TABLE isoproof_left_mine");
}

static void sweeps_what_is_gone(void) {
  iso_mark gone = {.run = 77, .made = 1, .process = dead_process()}, kept = gone, here = gone, away = gone;
  int64_t now;
  bool folds;
  iso_catalogue_clock(other, &reply, &now, &folds);
  kept.kept = true;
  iso_process_here(&here.process);
  away.process.place ^= 1;
  away.made = now - 60;
  leave_behind("isoproof_gone", &gone);
  leave_behind("isoproof_kept", &kept);
  leave_behind("isoproof_here", &here);
  leave_behind("isoproof_away", &away);
  away.made = now - 2 * ISO_MARK_AGE;
  away.run = 78;
  leave_behind("isoproof_old", &away);
  leave_behind("isoproof_renamed", &gone);
  rename_it(&gone);
  told[0] = 0;
  refused((iso_database_options){.table = "isoproof_kept"}, "kept by run");
  refused((iso_database_options){.table = "isoproof_here"}, "still going on");
  refused((iso_database_options){.table = "isoproof_away"}, "another machine");
  refused((iso_database_options){.table = "isoproof_precious"}, "not made by isoproof");
  assert_string_equal(told, "");
  suite_close(set_up((iso_database_options){0}));
  assert_non_null(strstr(told, "isoproof_gone"));
  assert_false(is_there("isoproof_gone"));
  const char *stay[] = {"isoproof_kept", "isoproof_here", "isoproof_away", "isoproof_precious"};
  for (size_t i = 0; i < 4; i++) {
    assert_true(is_there(stay[i]));
    assert_null(strstr(told, stay[i]));
  }
  /* Who can tell by a lock of the server that a run elsewhere is over, after a day. */
  assert_int_equal(is_there("isoproof_old"), !iso_catalogue_has_locks(plain));
  if (is_there("isoproof_old")) execute("DROP TABLE isoproof_old");
  for (size_t i = 0; i < 4; i++) {
    char sql[100];
    snprintf(sql, sizeof sql, "DROP TABLE %s", stay[i]);
    execute(sql);
  }
}

/* A leftover of the name asked for gives way; one whose run holds its lock elsewhere does not. */
static void replaces_leftovers(void) {
  iso_mark gone = {.run = 79, .made = 1, .process = dead_process()};
  leave_behind("again", &gone);
  told[0] = 0;
  iso_database *database = set_up((iso_database_options){.table = "again"});
  assert_non_null(strstr(told, "again"));
  suite_close(database);
  if (!iso_catalogue_has_locks(plain)) return;
  gone.process.place ^= 1;
  leave_behind("locked", &gone);
  iso_connection *holder = suite_connect(plain, 0);
  iso_catalogue_hold(holder, gone.run, &reply);
  refused((iso_database_options){.table = "locked"}, "may still be going on");
  iso_disconnect(holder);
  /* The server notices the end of the connection in its own time. */
  for (int i = 0; i < 1000 && !iso_catalogue_is_free(other, gone.run, &reply); i++) usleep(10000);
  suite_close(set_up((iso_database_options){.table = "locked"}));
}

static void keeps_if_asked(void) {
  iso_database *database = set_up((iso_database_options){.table = "keep_me", .keep_tables = true});
  suite_close(database);
  assert_true(is_there("keep_me"));
  suite_close(set_up((iso_database_options){0}));
  assert_true(is_there("keep_me"));
  execute("DROP TABLE keep_me");
}

/* ---- values ---- */

static void write_value(iso_connection *connection, iso_request_kind kind, int64_t key, int64_t value) {
  iso_do(connection, &(iso_driver_request){.kind = kind, .key = key, .value = value}, &reply);
  assert_reply(&reply, OK, COMMITTED);
}

static void values_carry_the_run(void) {
  iso_database *database = set_up((iso_database_options){.table = "tagged", .tag_bits = 22});
  iso_connection *one = suite_connect(database, 0);
  write_value(one, ISO_WRITE, 1, 5);
  write_value(one, ISO_INSERT, 2, 1000000007);
  write_value(one, ISO_INCREMENT, 1, 3);
  write_value(one, ISO_INCREMENT, 3, -4);
  const int64_t values[][2] = {{1, 8}, {2, 1000000007}, {3, -4}};
  for (size_t i = 0; i < 3; i++) {
    iso_read(one, values[i][0], &reply);
    assert_reply(&reply, OK, COMMITTED);
    assert_true(reply.present);
    assert_int_equal(reply.value, values[i][1]);
  }
  assert_int_equal(number("SELECT COUNT(*) FROM tagged WHERE v BETWEEN -100 AND 100"), 0);
  iso_do(one, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = -4, .high = 8, .by_value = true}, &reply);
  assert_int_equal(reply.rows.count, 2);
  assert_int_equal(reply.rows.items[0].value, 8);
  iso_do(one, &(iso_driver_request){.kind = ISO_READ_RANGE, .key = INT64_MIN, .high = INT64_MAX, .by_value = true},
         &reply);
  assert_int_equal(reply.rows.count, 3);
  iso_write(one, 1, INT64_MAX / 2, &reply);
  assert_int_equal(reply.outcome, ISO_OUTCOME_REJECTED);
  if (database->can.lists) {
    for (int64_t i = 0; i < 3; i++) write_value(one, ISO_APPEND, 9, i * 1000);
    iso_read_list(one, 9, &reply);
    assert_reply(&reply, OK, COMMITTED);
    assert_int_equal(reply.list.count, 3);
    assert_int_equal(reply.list.items[2], 2000);
  }
  iso_disconnect(one);
  suite_close(database);
}

static void finds(iso_connection *connection, iso_request_kind kind, const char *words) {
  iso_begin(connection, NULL, &reply);
  iso_do(connection, &(iso_driver_request){.kind = kind, .key = 1, .high = 9}, &reply);
  if (reply.outcome != ISO_OUTCOME_FOREIGN || strstr(reply.message, words) == NULL)
    fail_msg("expected '%s', found %d: %s", words, (int)reply.outcome, reply.message);
  iso_rollback(connection, &reply);
  assert_int_equal(reply.txn, ISO_TXN_ABORTED);
}

static void notices_others(void) {
  isoproof_error error = {0};
  iso_database *database = set_up((iso_database_options){.table = "watched", .tag_bits = 22});
  iso_connection *one = suite_connect(database, 0);
  write_value(one, ISO_WRITE, 1, 5);
  assert_ok_error(iso_database_verify(database, &error), error);
  execute("UPDATE watched SET v = v + 1");
  finds(one, ISO_READ, "key 1 of table watched holds");
  write_value(one, ISO_WRITE, 1, 5);
  execute("INSERT INTO watched (k, v) VALUES (4, 17)");
  finds(one, ISO_READ_RANGE, "key 4 of table watched holds 17, which this run did not write");
  if (database->can.lists) {
    execute("UPDATE watched SET l = '1,2' WHERE k = 1");
    finds(one, ISO_READ_LIST, "the list element 1");
    execute("UPDATE watched SET l = 'what' WHERE k = 1");
    finds(one, ISO_READ_LIST, "no list of numbers");
  }
  iso_disconnect(one);
  assert_ok_error(iso_database_verify(database, &error), error);
  suite_close(database);
}

static void notices_tables_that_change(void) {
  isoproof_error error = {0};
  iso_database *database = set_up((iso_database_options){.table = "watched", .tag_bits = 22});
  if (database->states[0][0] != 0) {
    execute("TRUNCATE TABLE watched");
    assert_int_equal(iso_database_verify(database, &error), ISOPROOF_ERR_INTERFERENCE);
    assert_non_null(strstr(error.message, "emptied"));
  }
  execute("DROP TABLE watched");
  iso_connection *one = suite_connect(database, 0);
  finds(one, ISO_READ, "watched is no longer there");
  assert_int_equal(iso_database_verify(database, &error), ISOPROOF_ERR_INTERFERENCE);
  assert_non_null(strstr(error.message, "removed"));
  execute("CREATE TABLE watched (k INTEGER PRIMARY KEY, v INTEGER, l VARCHAR(100))");
  assert_int_equal(iso_database_verify(database, &error), ISOPROOF_ERR_INTERFERENCE);
  assert_non_null(strstr(error.message, "replaced"));
  iso_disconnect(one);
  /* What was put in its place is not ours to remove. */
  assert_int_equal(iso_database_teardown(database, &error), ISOPROOF_ERR_INTERFERENCE);
  iso_database_close(database);
  assert_true(is_there("watched"));
  execute("DROP TABLE watched");
}

void tables_suite(const char *server_url, tables_suite_prepare how) {
  url = server_url;
  prepare = how;
  plain = open_database((iso_database_options){0});
  other = suite_connect(plain, 0);
  leaves_strangers_alone();
  two_runs_with_one_name();
  sweeps_what_is_gone();
  sweeps_many();
  replaces_leftovers();
  keeps_if_asked();
  values_carry_the_run();
  notices_others();
  notices_tables_that_change();
  iso_disconnect(other);
  iso_database_close(plain);
  iso_reply_free(&reply);
  memset(&reply, 0, sizeof reply);
}
