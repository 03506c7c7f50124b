/* driver.c - URLs, the drivers that need no server (SQLite, the simulator), and what is common to all. */
#include "database/driver.h"

#include <isoproof/check.h>
#include <isoproof/database.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "database/driver_table.h"
#include "database/drivers/library.h"
#include "tests/scratch.h"
#include "tests/unit/database/batch_suite.h"
#include "tests/unit/database/driver_suite.h"
#include "tests/unit/database/rows_suite.h"
#include "tests/unit/unit.h"

/* ---- libraries ---- */

typedef struct one_function {
  void *library;
  int (*function)(void);
} one_function;

static isoproof_status refuse(const void *functions, isoproof_error *error) {
  (void)functions;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "not today");
}

/* Whether it is there, whether it is the right one, and whether it can be initialized is all said in words. */
static void libraries_are_loaded_late(void **state) {
  (void)state;
  static const iso_library_function functions[] = {{"getpid", offsetof(one_function, function)}};
  static const iso_library_function others[] = {{"no_such_function", offsetof(one_function, function)}};
  iso_library library = {.product = "libnowhere",
                         .scheme = "nowhere",
                         .file = "libnowhere.so",
                         .variable = "ISOPROOF_LIBNOWHERE",
                         .package = "libnowhere7",
                         .numbered = true,
                         .oldest_major = 6,
                         .newest_major = 7,
                         .newest_minor = -1,
                         .functions = functions,
                         .function_count = 1};
  one_function loaded = {0};
  isoproof_error error = {0};
  char text[64];
  assert_int_equal(iso_library_load(&library, NULL, &loaded.library, &loaded, &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_string_equal(error.message,
                      "nowhere: libnowhere.so.7 was not found where the loader looks; install it (Debian: "
                      "libnowhere7), or name it in ISOPROOF_LIBNOWHERE");
  assert_null(loaded.library);
  iso_library_missing(&library, text, sizeof text);
  assert_string_equal(text, "libnowhere.so.7 not found (Debian: libnowhere7)");
  /* Under its other name: every program here has a C library. */
  library.other = "libc.so";
  assert_int_equal(iso_library_load(&library, NULL, &loaded.library, &loaded, &error), ISOPROOF_OK);
  assert_int_equal(loaded.function(), getpid());
  iso_library_unload(loaded.library);
  library.initialize = refuse;
  assert_int_equal(iso_library_load(&library, NULL, &loaded.library, &loaded, &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_string_equal(error.message, "not today");
  assert_null(loaded.library);
  library.functions = others;
  assert_int_equal(iso_library_load(&library, NULL, &loaded.library, &loaded, &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "no function no_such_function"));
}

/* ---- URLs ---- */

static void parses_urls(void **state) {
  (void)state;
  iso_url url;
  isoproof_error error = {0};
  assert_int_equal(
      iso_url_parse("Postgres://us%40er:p%3aw@[::1]:5433/data%20base?sslmode=off&a=%26", ISO_URL_FULL, &url, &error),
      ISOPROOF_OK);
  assert_string_equal(url.scheme, "postgres");
  assert_string_equal(url.user, "us@er");
  assert_string_equal(url.password, "p:w");
  assert_string_equal(url.host, "::1");
  assert_int_equal(url.port, 5433);
  assert_string_equal(url.path, "data base");
  assert_string_equal(iso_url_option(&url, "sslmode"), "off");
  assert_string_equal(iso_url_option(&url, "a"), "&");
  assert_null(iso_url_option(&url, "b"));
  assert_string_equal(url.shown, "Postgres://us%40er:***@[::1]:5433/data%20base?sslmode=off&a=%26");
  iso_url_free(&url);
  assert_int_equal(iso_url_parse("sqlite:a/b?journal=wal", ISO_URL_PATH, &url, &error), ISOPROOF_OK);
  assert_string_equal(url.path, "a/b");
  assert_null(url.host);
  iso_url_free(&url);
  assert_int_equal(iso_url_parse("sqlite:///a/x", ISO_URL_PATH, &url, &error), ISOPROOF_OK);
  assert_string_equal(url.path, "/a/x");
  iso_url_free(&url);
  assert_int_equal(iso_url_parse("odbc:Driver=X;Uid=u;PWD={a;b};Server=1?2", ISO_URL_RAW, &url, &error), ISOPROOF_OK);
  assert_string_equal(url.path, "Driver=X;Uid=u;PWD={a;b};Server=1?2");
  assert_string_equal(url.shown, "odbc:Driver=X;Uid=u;PWD=***;Server=1?2");
  iso_url_free(&url);
  assert_int_equal(iso_url_parse("mariadb://u:@h/d?password=secret", ISO_URL_FULL, &url, &error), ISOPROOF_OK);
  assert_string_equal(url.shown, "mariadb://u:***@h/d?password=***");
  assert_string_equal(url.password, "");
  iso_url_free(&url);
  assert_int_equal(iso_url_parse("mariadb://", ISO_URL_FULL, &url, &error), ISOPROOF_OK);
  assert_null(url.host);
  iso_url_free(&url);
}

static void refuses_bad_urls(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "x",
                                    "://",
                                    "1a:b",
                                    "pg://h:0",
                                    "pg://h:65536",
                                    "pg://h:x",
                                    "pg://[::1",
                                    "pg://[::1]x",
                                    "pg://%zz",
                                    "pg://%00",
                                    "pg://u%@h",
                                    "pg://h/%4",
                                    "pg:path",
                                    "pg://h/d?x",
                                    "pg://h/d?=x",
                                    "pg://h/d?x=%g0",
                                    "pg://h/\n",
                                    "pg:/?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9&j=10&k=11&l=12&m=13&n=14&o=15&p=16&q=17",
                                    "pg://u:p/w@h/d",
                                    "pg://u:p?w@h/d",
                                    "pg://u:p#w@h/d"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    iso_url url;
    isoproof_error error = {0};
    if (iso_url_parse(bad[i], ISO_URL_FULL, &url, &error) == ISOPROOF_OK) fail_msg("accepted %s", bad[i]);
    assert_true(error.message[0] != 0);
    assert_null(url.buffer);
  }
}

static void opens_only_what_it_knows(void **state) {
  (void)state;
  iso_database *database = NULL;
  isoproof_error error = {0};
  static const char *const bad[] = {"oracle://x",        "sqlite::memory:",     "sim:x",
                                    "sim:?level=acid",   "sim:?bugs=fleas",     "sim:?rate=2",
                                    "sim:?nodes=0",      "sqlite:?journal=off", "sim:?colour=red",
                                    "sqlite:?cache=big", "sim:?rate=one",       "sqlite:/no/such/folder/x"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    isoproof_status status = iso_database_open(&bad[i], 1, NULL, &database, &error);
    bool refused = status == ISOPROOF_ERR_USAGE || status == ISOPROOF_ERR_IO || status == ISOPROOF_ERR_UNSUPPORTED;
    if (!refused) fail_msg("%s: status %d", bad[i], status);
    assert_true(error.message[0] != 0);
  }
  const char *const two[] = {"sim:", "sim:"};
  assert_int_equal(iso_database_open(two, 2, NULL, &database, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(iso_database_open(two, 0, NULL, &database, &error), ISOPROOF_ERR_USAGE);
  static const char *const tables[] = {"", "1a", "a b", "a;drop", "a123456789012345678901234567890123456789012345"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    iso_database_options options = {.table = tables[i]};
    assert_int_equal(iso_database_open(two, 1, &options, &database, &error), ISOPROOF_ERR_USAGE);
  }
  iso_database_options many = {.tables = ISO_MOST_TABLES + 1};
  assert_int_equal(iso_database_open(two, 1, &many, &database, &error), ISOPROOF_ERR_USAGE);
  iso_database_options parts = {.partitions = ISO_MOST_PARTITIONS + 1};
  assert_int_equal(iso_database_open(two, 1, &parts, &database, &error), ISOPROOF_ERR_USAGE);
  parts.partitions = 2;
  assert_int_equal(iso_database_open(two, 1, &parts, &database, &error), ISOPROOF_ERR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "partitions"));
  parts.partitions = 1;
  assert_int_equal(iso_database_open(two, 1, &parts, &database, &error), ISOPROOF_OK);
  iso_database_close(database);
}

static void lists_drivers(void **state) {
  (void)state;
  isoproof_driver_info info = {.struct_size = sizeof info};
  size_t count = 0;
  for (; isoproof_driver_at(count, &info); count++) {
    char library[64];
    isoproof_driver_library(count, library, sizeof library);
    assert_true(info.name[0] != 0 && info.title[0] != 0);
    assert_int_equal(info.built, info.url_form != NULL);
  }
  assert_int_equal(count, ISO_DRIVERS);
}

static void knows_statements(void **state) {
  (void)state;
  char text[ISO_SQL_BYTES];
  assert_string_equal(iso_sql_text(ISO_SQL_POSTGRES, ISO_SQL_INCREMENT, "tab", 7, text),
                      "INSERT INTO tab (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = COALESCE(tab.v, 7) + "
                      "excluded.v - 7");
  assert_string_equal(iso_sql_text(ISO_SQL_PORTABLE, ISO_SQL_UPDATE, "tab", 0, text),
                      "UPDATE tab SET v = ? WHERE k = ?");
  assert_null(iso_sql_text(ISO_SQL_PORTABLE, ISO_SQL_APPEND, "tab", 0, text));
  iso_sql_form form = {.dialect = ISO_SQL_MARIADB, .layout = ISO_LAYOUT_INDEXED, .access = ISO_ACCESS_INDEX, .zero = 7};
  assert_string_equal(iso_sql_write(&form, ISO_SQL_UPDATE, "tab", (int64_t[]){INT64_MIN, -2}, text),
                      "UPDATE tab FORCE INDEX (by_key) SET v = (-9223372036854775807 - 1) WHERE k = -2");
  assert_string_equal(iso_sql_write(&form, ISO_SQL_DELETE, "tab", (int64_t[]){4, 0}, text),
                      "DELETE FROM tab WHERE k = 4");
  form.access = ISO_ACCESS_SEQUENTIAL;
  assert_string_equal(iso_sql_write(&form, ISO_SQL_COUNT_KEYS, "tab", NULL, text),
                      "SELECT COUNT(v) FROM tab IGNORE INDEX (by_key) WHERE k + 0 BETWEEN ? AND ?");
  form.dialect = ISO_SQL_POSTGRES;
  assert_string_equal(iso_sql_write(&form, ISO_SQL_UPDATE, "tab", NULL, text), "UPDATE tab SET v = $1 WHERE k = $2");
  assert_non_null(iso_sql_write(&form, ISO_SQL_APPEND, "tab", (int64_t[]){1, -5}, text));
  assert_non_null(strstr(text, "VALUES (1, '-5')"));
  assert_true(iso_sql_controls_transactions("/* a */ -- b\n COMMIT"));
  assert_true(iso_sql_controls_transactions("rollback;"));
  assert_false(iso_sql_controls_transactions("ROLLBACK TO SAVEPOINT a"));
  assert_false(iso_sql_controls_transactions("SELECT 'COMMIT'"));
  assert_false(iso_sql_controls_transactions("ending"));
  assert_false(iso_sql_controls_transactions("/* never closed COMMIT"));
}

static void parses_lists(void **state) {
  (void)state;
  iso_reply reply = {0};
  assert_true(iso_reply_set_list(&reply, "", 0));
  assert_int_equal(reply.list.count, 0);
  assert_true(iso_reply_set_list(&reply, "-1,2,9223372036854775807", 24));
  assert_int_equal(reply.list.count, 3);
  static const char *const bad[] = {",", "1,", ",1", "1,,2", "a", "1 ,2", "9223372036854775808"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_false(iso_reply_set_list(&reply, bad[i], strlen(bad[i])));
  iso_reply_free(&reply);
}

/* ---- the simulator ---- */

static void sim_does_all(void **state) {
  (void)state;
  suite_all("sim:");
  suite_all("sim:?level=snapshot-isolation");
  suite_all("sim:?level=read-committed&nodes=2");
}

static void sim_finds_conflicts(void **state) {
  (void)state;
  iso_database *database = suite_open("sim:", NULL);
  iso_connection *a = suite_connect(database, 0), *b = suite_connect(database, 0);
  iso_reply reply = {0};
  const iso_isolation *snapshot, *serializable;
  assert_int_equal(iso_database_find_isolation(database, "si", &snapshot, NULL), ISOPROOF_OK);
  assert_int_equal(iso_database_find_isolation(database, "ser", &serializable, NULL), ISOPROOF_OK);
  /* Write skew passes snapshot isolation, not serializability; a lost update passes neither. */
  for (int round = 0; round < 4; round++) {
    const iso_isolation *isolation = round % 2 == 0 ? snapshot : serializable;
    bool skew = round < 2;
    iso_begin(a, isolation, &reply);
    iso_begin(b, isolation, &reply);
    iso_read(a, 1, &reply);
    iso_read(b, skew ? 2 : 1, &reply);
    iso_write(a, skew ? 2 : 1, 100 + round, &reply);
    iso_write(b, 1, 200 + round, &reply);
    iso_commit(a, &reply);
    assert_reply(&reply, OK, COMMITTED);
    iso_commit(b, &reply);
    if (round == 0) {
      assert_reply(&reply, OK, COMMITTED);
    } else {
      assert_reply(&reply, ABORT, ABORTED);
      assert_int_equal(reply.error_class, ISO_CLASS_SERIALIZATION);
      assert_string_equal(reply.code, "40001");
    }
  }
  bool blocked;
  assert_int_equal(iso_blocked(a, &b, 1, &blocked, NULL), ISOPROOF_OK);
  assert_false(blocked);
  iso_disconnect(a);
  iso_disconnect(b);
  iso_reply_free(&reply);
  suite_close(database);
}

static void sim_loses_replies(void **state) {
  (void)state;
  iso_database *database = suite_open_empty("sim:?lost=1", NULL);
  iso_connection *connection = suite_connect(database, 0);
  iso_reply reply = {0};
  iso_begin(connection, NULL, &reply);
  iso_write(connection, 1, 1, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(connection, &reply);
  assert_reply(&reply, UNKNOWN, UNKNOWN);
  assert_false(iso_connected(connection));
  iso_read(connection, 1, &reply);
  assert_reply(&reply, LOST, UNKNOWN);
  assert_int_equal(iso_reconnect(connection, NULL), ISOPROOF_OK);
  iso_begin(connection, NULL, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_disconnect(connection);
  iso_reply_free(&reply);
  suite_close(database);
}

/* ---- SQLite ---- */

#ifdef ISO_HAVE_SQLITE

static void sqlite_does_all(void **state) {
  (void)state;
  suite_all("sqlite:");
  suite_all("sqlite:?journal=wal&synchronous=off");
  suite_all("sqlite:?journal=truncate");
}

static void sqlite_serves_rows(void **state) {
  (void)state;
  rows_suite("sqlite:");
  rounds_suite("sqlite:", 45);
  rounds_suite("sqlite:?journal=wal", 45);
  batch_suite("sqlite:");
}

static void sqlite_takes_paths(void **state) {
  (void)state;
  const iso_driver_request keys = {.kind = ISO_COUNT, .key = 1, .high = 5}, read = {.kind = ISO_READ, .key = 1};
  plan_suite("sqlite:", ISO_LAYOUT_INDEXED, ISO_ACCESS_INDEX, &keys, "USING INDEX", NULL);
  plan_suite("sqlite:", ISO_LAYOUT_INDEXED, ISO_ACCESS_SEQUENTIAL, &keys, "SCAN", "INDEX");
  plan_suite("sqlite:", ISO_LAYOUT_KEYED, ISO_ACCESS_INDEX, &read, "USING INTEGER PRIMARY KEY", NULL);
  plan_suite("sqlite:", ISO_LAYOUT_KEYED, ISO_ACCESS_SEQUENTIAL, &read, "SCAN", "PRIMARY KEY");
  plan_suite("sqlite:", ISO_LAYOUT_HEAP, ISO_ACCESS_AUTO, &read, "SCAN", "INDEX");
}

/* Settings of a session: what the database takes, and nothing that could be another statement. */
static void sqlite_sets_sessions(void **state) {
  (void)state;
  iso_database *database = suite_open("sqlite:?synchronous=off", NULL);
  iso_connection *connection = suite_connect(database, 0);
  iso_reply reply = {0};
  assert_false(iso_connection_read_only(connection));
  assert_int_equal(iso_set(connection, "cache_size", "321", &reply), ISO_OUTCOME_OK);
  assert_int_equal(iso_execute(connection, "PRAGMA cache_size", &reply), ISO_OUTCOME_OK);
  assert_string_equal(iso_reply_cell(&reply, 0, 0), "321");
  assert_int_equal(iso_set(connection, "temp_store", "it's", &reply), ISO_OUTCOME_OK);
  static const char *const names[] = {"", "cache size", "cache_size;", "a-b", "'"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_int_equal(iso_set(connection, names[i], "1", &reply), ISO_OUTCOME_REJECTED);
  assert_int_equal(iso_set(connection, "cache_size", "a\\", &reply), ISO_OUTCOME_REJECTED);
  char text[1024];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  assert_int_equal(iso_set(connection, "cache_size", text, &reply), ISO_OUTCOME_REJECTED);
  assert_int_equal(iso_set(connection, text, "1", &reply), ISO_OUTCOME_REJECTED);
  iso_disconnect(connection);
  suite_close(database);
  database = suite_open("sim:", NULL);
  connection = suite_connect(database, 0);
  assert_int_equal(iso_set(connection, "cache_size", "1", &reply), ISO_OUTCOME_REJECTED);
  assert_string_equal(reply.message, "the driver has no settings of sessions");
  iso_reply_free(&reply);
  iso_disconnect(connection);
  suite_close(database);
}

static void sqlite_uses_files(void **state) {
  (void)state;
  char folder[SCRATCH_BYTES], url[SCRATCH_BYTES + 16], path[SCRATCH_BYTES + 8];
  assert_true(scratch_folder(folder));
  snprintf(url, sizeof url, "sqlite:%s/x%%20y", folder);
  suite_all(url);
  snprintf(path, sizeof path, "%s/x y", folder);
  assert_int_equal(access(path, F_OK), 0);
  unlink(path);
  assert_int_equal(rmdir(folder), 0);
}

/* A reader keeps a writer from committing in the rollback journal: the transaction stays open, and commits later. */
static void sqlite_busy_at_commit(void **state) {
  (void)state;
  iso_database_options options = {.lock_timeout_ms = 30};
  iso_database *database = suite_open("sqlite:?journal=delete", &options);
  iso_connection *reader = suite_connect(database, 0), *writer = suite_connect(database, 0);
  iso_reply reply = {0};
  iso_begin(reader, NULL, &reply);
  iso_read(reader, 1, &reply);
  iso_begin(writer, NULL, &reply);
  iso_write(writer, 1, 10, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_commit(writer, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_BUSY);
  assert_string_equal(reply.code, "SQLITE_BUSY");
  iso_commit(reader, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_commit(writer, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(database, 1), 10);

  /* Two readers that both want to write: one is told at once, keeps its transaction, and rolls back. */
  iso_begin(reader, NULL, &reply);
  iso_read(reader, 1, &reply);
  iso_begin(writer, NULL, &reply);
  iso_read(writer, 1, &reply);
  iso_write(writer, 1, 11, &reply);
  assert_reply(&reply, OK, ACTIVE);
  iso_write(reader, 1, 12, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  iso_rollback(reader, &reply);
  assert_reply(&reply, OK, ABORTED);
  iso_commit(writer, &reply);
  assert_reply(&reply, OK, COMMITTED);
  assert_int_equal(suite_value(database, 1), 11);
  iso_disconnect(reader);
  iso_disconnect(writer);
  iso_reply_free(&reply);
  suite_close(database);
}

/* In WAL a reader whose snapshot is old cannot write any more. */
static void sqlite_busy_snapshot(void **state) {
  (void)state;
  iso_database *database = suite_open("sqlite:?journal=wal&synchronous=off", NULL);
  iso_connection *a = suite_connect(database, 0), *b = suite_connect(database, 0);
  iso_reply reply = {0};
  iso_begin(a, NULL, &reply);
  iso_read(a, 1, &reply);
  iso_write(b, 1, 5, &reply);
  assert_reply(&reply, OK, COMMITTED);
  iso_write(a, 1, 6, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_string_equal(reply.code, "BUSY_SNAPSHOT");
  iso_read(a, 1, &reply);
  assert_int_equal(reply.value, 0);
  iso_rollback(a, &reply);
  assert_int_equal(suite_value(database, 1), 5);
  iso_disconnect(a);
  iso_disconnect(b);
  iso_reply_free(&reply);
  suite_close(database);
}

static void sqlite_cancels_and_times_out(void **state) {
  (void)state;
  iso_database_options options = {.lock_timeout_ms = 60000, .statement_timeout_ms = 100};
  iso_database *database = suite_open("sqlite:?synchronous=off", &options);
  iso_connection *a = suite_connect(database, 0), *b = suite_connect(database, 0);
  iso_reply reply = {0};
  isoproof_error error = {0};
  iso_execute(a, "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r", &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  iso_begin(a, NULL, &reply);
  iso_write(a, 1, 1, &reply);
  iso_write(b, 1, 2, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_TIMEOUT);
  iso_rollback(a, &reply);
  iso_disconnect(a);
  iso_disconnect(b);
  suite_close(database);

  options.statement_timeout_ms = 0;
  database = suite_open("sqlite:?synchronous=off", &options);
  a = suite_connect(database, 0), b = suite_connect(database, 0);
  iso_begin(a, NULL, &reply);
  iso_write(a, 1, 1, &reply);
  iso_driver_request write = {.kind = ISO_WRITE, .key = 1, .value = 2};
  assert_int_equal(iso_start(b, &write, &error), ISOPROOF_OK);
  iso_connection *control = suite_connect(database, 0);
  suite_blocked(control, b);
  iso_disconnect(control);
  assert_true(iso_cancel(b));
  assert_true(iso_poll(b, 10000));
  iso_finish(b, &reply);
  assert_reply(&reply, ABORT, ABORTED);
  assert_int_equal(reply.error_class, ISO_CLASS_CANCELLED);
  /* Gone while it waits: nobody is left waiting. */
  assert_int_equal(iso_start(b, &write, &error), ISOPROOF_OK);
  iso_disconnect(b);
  iso_commit(a, &reply);
  assert_reply(&reply, OK, COMMITTED);
  bool blocked;
  assert_int_equal(iso_blocked(a, &a, 1, &blocked, &error), ISOPROOF_OK);
  assert_false(blocked);
  iso_disconnect(a);
  iso_reply_free(&reply);
  suite_close(database);
}

static void sqlite_reads_dirt_if_asked(void **state) {
  (void)state;
  iso_database *database = suite_open("sqlite:?cache=shared", NULL);
  iso_connection *a = suite_connect(database, 0), *b = suite_connect(database, 0);
  iso_reply reply = {0};
  const iso_isolation *dirty;
  assert_int_equal(iso_database_find_isolation(database, "ru", &dirty, NULL), ISOPROOF_OK);
  assert_null(dirty->claims);
  iso_begin(a, NULL, &reply);
  iso_write(a, 1, 9, &reply);
  iso_begin(b, dirty, &reply);
  iso_read(b, 1, &reply);
  assert_reply(&reply, OK, ACTIVE);
  assert_int_equal(reply.value, 9);
  iso_commit(b, &reply);
  iso_begin(b, NULL, &reply);
  iso_read(b, 1, &reply);
  assert_reply(&reply, ABORT, ACTIVE);
  assert_int_equal(reply.error_class, ISO_CLASS_BUSY);
  iso_disconnect(b);
  iso_disconnect(a);
  iso_reply_free(&reply);
  suite_close(database);
}

#endif

/* A URL with several hosts is one for each of them. */
static void splits_hosts(void **state) {
  (void)state;
  static const struct {
    const char *text, *hosts[4];
  } urls[] = {
      {"etcd://h", {"etcd://h"}},
      {"etcd://a:1,b,[::1]:3/p,q?key=x,y",
       {"etcd://a:1/p,q?key=x,y", "etcd://b/p,q?key=x,y", "etcd://[::1]:3/p,q?key=x,y"}},
      {"etcd://u:p,w@a,b", {"etcd://u:p,w@a", "etcd://u:p,w@b"}},
      {"etcd://a,?tls=1", {"etcd://a?tls=1", "etcd://?tls=1"}},
      {"etcd:a,b", {"etcd:a,b"}},
  };
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    size_t count = iso_url_host_count(urls[i].text);
    assert_true(count < 4 && urls[i].hosts[count] == NULL);
    for (size_t j = 0; j < count; j++) {
      char *one = iso_url_with_host(urls[i].text, j);
      assert_string_equal(one, urls[i].hosts[j]);
      free(one);
    }
  }
}

/* As MariaDB 10.11 prints it, without what is of no interest here. */
static const char monitor[] =
    "\n=====================================\n2026-11-16 03:09:04 0x7f883452a6c0 INNODB MONITOR OUTPUT\n"
    "------------------------\nLATEST DETECTED DEADLOCK\n------------------------\n*** (1) TRANSACTION:\n"
    "TRANSACTION 14, ACTIVE 0 sec starting index read\nLOCK WAIT 4 lock struct(s), heap size 1128, 2 row lock(s)\n"
    "MariaDB thread id 4, OS thread handle 1, query id 7 127.0.0.1 root Updating\n"
    "------------\nTRANSACTIONS\n------------\nTrx id counter 23\nLIST OF TRANSACTIONS FOR EACH SESSION:\n"
    "---TRANSACTION 22, ACTIVE 1 sec starting index read\nmysql tables in use 1, locked 1\n"
    "LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)\n"
    "MariaDB thread id 6, OS thread handle 140222970418880, query id 10 127.0.0.1 root Updating\n"
    "update zz set v=3 where k=1\n"
    "------- TRX HAS BEEN WAITING 706478 us FOR THIS LOCK TO BE GRANTED:\n------------------\n"
    "---TRANSACTION 21, ACTIVE 2 sec\n2 lock struct(s), heap size 1128, 1 row lock(s), undo log entries 1\n"
    "MariaDB thread id 5, OS thread handle 140222970726080, query id 8 127.0.0.1 root User sleep\n"
    "---TRANSACTION 20, ACTIVE 3 sec inserting\nmysql tables in use 1, locked 1\n"
    "LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)\n"
    "MariaDB thread id 61, OS thread handle 1, query id 9 127.0.0.1 root Update\n"
    "--------\nFILE I/O\n--------\n----------------------------\nEND OF INNODB MONITOR OUTPUT\n";

static void reads_the_monitor(void **state) {
  (void)state;
  bool waits;
  static const struct {
    uint64_t session;
    bool waits;
  } sessions[] = {{6, true}, {61, true}, {5, false}, {4, false}, {1, false}};
  for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
    assert_true(iso_innodb_monitor(monitor, sessions[i].session, &waits));
    assert_int_equal(waits, sessions[i].waits);
  }
  /* What was cut tells nothing. */
  char cut[sizeof monitor];
  memcpy(cut, monitor, sizeof cut);
  *strstr(cut, "END OF INNODB") = 0;
  assert_false(iso_innodb_monitor(cut, 6, &waits));
  assert_false(waits);
  assert_false(iso_innodb_monitor("", 6, &waits));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(libraries_are_loaded_late),
      cmocka_unit_test(splits_hosts),
      cmocka_unit_test(parses_urls),
      cmocka_unit_test(refuses_bad_urls),
      cmocka_unit_test(opens_only_what_it_knows),
      cmocka_unit_test(lists_drivers),
      cmocka_unit_test(knows_statements),
      cmocka_unit_test(parses_lists),
      cmocka_unit_test(reads_the_monitor),
      cmocka_unit_test(sim_does_all),
      cmocka_unit_test(sim_finds_conflicts),
      cmocka_unit_test(sim_loses_replies),
#ifdef ISO_HAVE_SQLITE
      cmocka_unit_test(sqlite_does_all),
      cmocka_unit_test(sqlite_serves_rows),
      cmocka_unit_test(sqlite_takes_paths),
      cmocka_unit_test(sqlite_sets_sessions),
      cmocka_unit_test(sqlite_uses_files),
      cmocka_unit_test(sqlite_busy_at_commit),
      cmocka_unit_test(sqlite_busy_snapshot),
      cmocka_unit_test(sqlite_cancels_and_times_out),
      cmocka_unit_test(sqlite_reads_dirt_if_asked),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
