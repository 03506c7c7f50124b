/* redact.c - passwords stay out of every text: by the quoting rules of each driver, and where nobody kept them. */
#include "database/redact.h"

#include <isoproof/database.h>
#include <stdio.h>
#include <string.h>

#include "database/driver_table.h"
#include "tests/unit/unit.h"

/* What is given, what is shown, and what the password is (NULL: as its parts are, not one text). */
static const struct {
  const char *given, *shown, *password;
} cases[] = {
    /* URLs, well formed */
    {"postgres://u:hunter22@h:1/d", "postgres://u:***@h:1/d", "hunter22"},
    {"postgresql://u:hun%40ter22@h/d?sslmode=off", "postgresql://u:***@h/d?sslmode=off", "hun@ter22"},
    {"mariadb://u:hunter22@[::1]:3/d", "mariadb://u:***@[::1]:3/d", "hunter22"},
    {"mysql://u:@h/d", "mysql://u:***@h/d", ""},
    {"mariadb://u@h/d?password=hunter22&ssl=1", "mariadb://u@h/d?password=***&ssl=1", "hunter22"},
    {"mariadb://u@h/d?ssl-passphrase=hunter22", "mariadb://u@h/d?ssl-passphrase=***", "hunter22"},
    {"postgres://u@h/d?p%61ssword=hunter22", "postgres://u@h/d?p%61ssword=***", "hunter22"},
    {"postgres://u@h/d?sslpassword=hunter22&host=x", "postgres://u@h/d?sslpassword=***&host=x", "hunter22"},
    {"postgres://u@h/d?passfile=/a/b", "postgres://u@h/d?passfile=/a/b", NULL},
    {"postgres://h1:1,h2:2/d?target_session_attrs=any", "postgres://h1:1,h2:2/d?target_session_attrs=any", NULL},
    {"postgres://u:hunter22@h1:1,h2:2/d", "postgres://u:***@h1:1,h2:2/d", "hunter22"},
    {"mariadb://u@h:3/d?init=SET @x = 1", "mariadb://u@h:3/d?init=SET @x = 1", NULL},
    /* URLs with signs that should have been encoded */
    {"postgres://u:hunter@22@h/d", "postgres://u:***@h/d", "hunter@22"},
    {"postgres://u:hun/ter22@h/d", "postgres://u:***@h/d", "hun/ter22"},
    {"postgres://u:12/hunter@h/d", "postgres://u:***@h/d", "12/hunter"},
    {"postgres://u:hun?ter22@h/d?sslmode=off", "postgres://u:***@h/d?sslmode=off", "hun?ter22"},
    {"postgres://u:hun:ter22@h/d", "postgres://u:***@h/d", "hun:ter22"},
    {"postgres://u@s:hun/ter22@h/d", "postgres://u@s:***@h/d", "hun/ter22"},
    {"mariadb://u@h/d?password=hunter&22=x&ssl=1", "mariadb://u@h/d?password=***&ssl=1", "hunter&22=x"},
    {"nosql://u:hun/ter22@h/d", "nosql://u:***@h/d", "hun/ter22"},
    {"me:hunter22@h/d", "me:***@h/d", "hunter22"},
    /* libpq's name=value */
    {"postgres:host=h password=hunter22 dbname=d", "postgres:host=h password=*** dbname=d", "hunter22"},
    {"postgres:host=h password = 'hun ter\\'22' dbname=d", "postgres:host=h password = *** dbname=d", "hun ter'22"},
    {"postgres:password=hun\\ ter22 user=u", "postgres:password=*** user=u", "hun ter22"},
    {"postgres:PASSWORD='hun\\\\ter22'", "postgres:PASSWORD=***", "hun\\ter22"},
    {"postgres:password='' user=u", "postgres:password=*** user=u", ""},
    {"postgres:host=h dbname=d", "postgres:host=h dbname=d", NULL},
    {"postgresql:d", "postgresql:d", NULL},
    /* ...with quotes that are missing */
    {"postgres:password=hunter 22 host=h", "postgres:password=*** ***", NULL},
    {"postgres:password=hunter 22=x host=h", "postgres:password=*** ***", NULL},
    {"postgres:host=h password='hunter22 dbname=d", "postgres:host=h ***", NULL},
    {"postgres:host=h password='hunter'22' dbname=d", "postgres:host=h ***", NULL},
    /* ODBC */
    {"odbc:Driver={X};Uid=u;Pwd=hunter22;Port=1", "odbc:Driver={X};Uid=u;Pwd=***;Port=1", "hunter22"},
    {"odbc:Pwd={hun;ter22};Server=h", "odbc:Pwd=***;Server=h", "hun;ter22"},
    {"odbc:Pwd={wrong}}secret}", "odbc:Pwd=***", "wrong}secret"},
    {"odbc:Pwd={wrong}}secret}};Server=h", "odbc:Pwd=***", NULL},
    {"odbc:PASSWORD = {hunter22} ;Server=h", "odbc:PASSWORD = ***;Server=h", NULL},
    {"odbc:Driver={X};pqopt={password=hunter22 sslmode=off};Uid=u", "odbc:Driver={X};pqopt=***;Uid=u", NULL},
    {"odbc:dsn", "odbc:dsn", NULL},
    {"odbc:DSN=x;Uid=u", "odbc:DSN=x;Uid=u", NULL},
    /* ...with braces that are missing */
    {"odbc:Pwd=hun;ter22;Server=h", "odbc:Pwd=***;Server=h", NULL},
    {"odbc:Pwd=hun;ter22=x;Server=h", "odbc:Pwd=***;Server=h", NULL},
    {"odbc:Pwd={hunter};22};Server=h", "odbc:Pwd=***;Server=h", NULL},
    {"odbc:Pwd={hunter};Port=22};Server=h", "odbc:Pwd=***;Server=h", NULL},
    {"odbc:Pwd={hunter}22;Server=h", "odbc:Pwd=***;Server=h", NULL},
    {"odbc:Pwd=hun}ter22;Server=h", "odbc:Pwd=***;Server=h", "hun}ter22"},
    {"odbc:Uid=u;Pwd={hunter22;Server=h", "odbc:Uid=u;Pwd=***", NULL},
    /* no such driver */
    {"obdc:Uid=u;Pwd=hunter22;Server=h", "obdc:Uid=u;Pwd=***", NULL},
    {"Pwd=hunter22", "Pwd=***", NULL},
    /* databases without passwords */
    {"sqlite:/data/a:b@c?journal=wal", "sqlite:/data/a:b@c?journal=wal", NULL},
    {"sim:?bugs=a,b&rate=1", "sim:?bugs=a,b&rate=1", NULL},
    {"", "", NULL},
};

static void shows_no_password(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char shown[256], small[8];
    size_t length = isoproof_url_show(cases[i].given, shown, sizeof shown);
    if (strcmp(shown, cases[i].shown) != 0) fail_msg("%s: shown as %s", cases[i].given, shown);
    assert_int_equal(length, strlen(shown));
    assert_int_equal(isoproof_url_show(cases[i].given, small, sizeof small), length);
    assert_memory_equal(small, shown, length < 7 ? length + 1 : 7);
    assert_int_equal(isoproof_url_show(cases[i].given, NULL, 0), length);
  }
}

/* What a client library may make of a URL, said with its own words around it. */
static void assert_hidden(const iso_secrets *secrets, const char *words, const char *secret) {
  char text[512], clean[512];
  snprintf(text, sizeof text, "FATAL: \"%s\" is %s; %s", words, words, words);
  iso_secrets_hide(secrets, text, false, clean, sizeof clean);
  if (strlen(secret) >= ISO_SHORTEST_SECRET && strstr(clean, secret) != NULL) fail_msg("%s: %s", words, clean);
  iso_secrets_clean(secrets, text, sizeof text);
  assert_string_equal(text, clean);
}

static void hides_every_spelling(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    iso_secrets secrets = {0};
    assert_true(iso_secrets_add_url(&secrets, cases[i].given));
    iso_span spans[ISO_MOST_SPANS];
    size_t count = iso_redact_find(cases[i].given, spans);
    /* The URL as a whole, the text of each span, and its password as the server gets it. */
    char clean[512], part[256];
    iso_secrets_hide(&secrets, cases[i].given, false, clean, sizeof clean);
    assert_string_equal(clean, cases[i].shown);
    for (size_t j = 0; j < count; j++) {
      snprintf(part, sizeof part, "%.*s", (int)(spans[j].end - spans[j].start), cases[i].given + spans[j].start);
      assert_hidden(&secrets, part, part);
    }
    if (cases[i].password != NULL) assert_hidden(&secrets, cases[i].password, cases[i].password);
    /* Where a client library cuts at a sign, each piece of four bytes and more. */
    assert_hidden(&secrets, "hunter22", strstr(cases[i].given, "hunter22") != NULL ? "hunter22" : "none of it");
    assert_hidden(&secrets, "hunter",
                  strstr(cases[i].given, "hunter") == NULL || strstr(cases[i].given, "hunter22") != NULL ? "none of it"
                                                                                                         : "hunter");
    iso_secrets_free(&secrets);
  }
}

/* A text that ends within a password shows nothing of it; neither does an escaped one. */
static void hides_what_was_cut(void **state) {
  (void)state;
  iso_secrets secrets = {0};
  assert_true(iso_secrets_add(&secrets, "correct horse\tbattery"));
  char text[24] = "password is correct hor", small[8], clean[128];
  iso_secrets_clean(&secrets, text, sizeof text);
  assert_string_equal(text, "password is ***");
  iso_secrets_hide(&secrets, "is correct horse\\x09battery.", false, clean, sizeof clean);
  assert_string_equal(clean, "is ***.");
  iso_secrets_hide(&secrets, "is correct%20horse%09battery.", false, clean, sizeof clean);
  assert_string_equal(clean, "is ***.");
  assert_int_equal(iso_secrets_hide(&secrets, "a correct horse\tbattery", false, small, sizeof small), 5);
  assert_string_equal(small, "a ***");
  iso_secrets_free(&secrets);
}

/* Passwords that are words of messages, or names that are no secret, leave texts readable. */
static void leaves_texts_readable(void **state) {
  (void)state;
  iso_secrets secrets = {0};
  char clean[128];
  static const char text[] = "password authentication failed for user \"alice\" at a table";
  assert_true(iso_secrets_add(&secrets, "password") && iso_secrets_add(&secrets, "a"));
  assert_true(iso_secrets_add(&secrets, NULL) && iso_secrets_add(&secrets, ""));
  assert_true(iso_secrets_add(&secrets, "alice"));
  iso_secrets_except(&secrets, "alice");
  iso_secrets_except(&secrets, NULL);
  iso_secrets_hide(&secrets, text, false, clean, sizeof clean);
  assert_string_equal(clean, text);
  iso_secrets_free(&secrets);
}

static void knows_whether_there_is_one(void **state) {
  (void)state;
  assert_true(isoproof_url_has_password("postgres://u:x@h/d"));
  assert_true(isoproof_url_has_password("postgres:password=x"));
  assert_true(isoproof_url_has_password("odbc:Pwd={x}"));
  assert_true(isoproof_url_has_password("mariadb://h/d?password=x"));
  assert_false(isoproof_url_has_password("mariadb://h/d?ssl-passphrase=x"));
  assert_false(isoproof_url_has_password("postgres://u@h:1/d"));
}

/* Which commas of a list separate nodes. */
static void knows_where_urls_begin(void **state) {
  (void)state;
  static const char *const begin[] = {"postgres://h", "postgres:host=h", "PostgreSQL://h", "odbc:x",
                                      "sim:",         "mysql://h"};
  static const char *const other[] = {"h2:5432/d", "postgres:5432/d", "stale-read", "", "h2", "http://x", "//h"};
  for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) assert_true(isoproof_url_begins(begin[i]));
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) assert_false(isoproof_url_begins(other[i]));
}

/* What a caller says of a database, and what a server does. */
static void databases_keep_theirs(void **state) {
  (void)state;
  iso_database *database = NULL;
  isoproof_error error = {0};
  iso_database_options options = {.password = "hunter22"};
  const char *urls[] = {"sim:"}, *wrong[] = {"sim:?password=hunter22&level=hunter22"};
  assert_ok_error(iso_database_open(urls, 1, &options, &database, &error), error);
  char *text = iso_database_without_secrets(database, "run --password hunter22");
  assert_string_equal(text, "run --password ***");
  free(text);
  iso_database_add_setting(database, "motto", "hunter22 forever");
  const iso_setting *last = NULL, *setting;
  for (size_t i = 0; (setting = iso_database_setting(database, i)) != NULL; i++) last = setting;
  assert_string_equal(last->value, "*** forever");
  iso_connection *connection = NULL;
  iso_reply reply = {0};
  assert_ok_error(iso_connect(database, 0, &connection, &error), error);
  iso_execute(connection, "SELECT 'hunter22'", &reply);
  assert_null(strstr(reply.message, "hunter"));
  iso_reply_free(&reply);
  iso_disconnect(connection);
  iso_database_close(database);
  assert_int_equal(iso_database_open(wrong, 1, NULL, &database, &error), ISOPROOF_ERR_USAGE);
  assert_null(strstr(error.message, "hunter"));
}

/* The public handle. */
static void serves_programs(void **state) {
  (void)state;
  isoproof_secrets *secrets = NULL;
  isoproof_error error = {0};
  char clean[64];
  assert_ok_error(isoproof_secrets_new(&secrets, &error), error);
  assert_ok_error(isoproof_secrets_add(secrets, "hunter22", &error), error);
  assert_ok_error(isoproof_secrets_add(secrets, NULL, &error), error);
  assert_ok_error(isoproof_secrets_add_url(secrets, "postgres://u:abc@h/d", &error), error);
  isoproof_secrets_hide(secrets, "a hunter22 at postgres://u:abc@h/d", clean, sizeof clean);
  assert_string_equal(clean, "a *** at postgres://u:***@h/d");
  isoproof_secrets_free(secrets);
  isoproof_secrets_free(NULL);
}

/* Texts of any bytes: nothing is read beyond them, and what is shown is never longer than three bytes a span more. */
static void bears_anything(void **state) {
  (void)state;
  static const char *const words[] = {"postgres:", "odbc:", "://", "Pwd=", "password", "=", "'", "\\",
                                      "{",         "}",     "}}",  ";",    "@",        ":", "/", "?",
                                      "&",         " ",     "x",   "%4",   "%41",      ","};
  uint32_t seed = 1;
  for (int i = 0; i < 200000; i++) {
    char text[128] = "", shown[256];
    size_t used = 0;
    for (int n = 0; n < 12; n++) {
      seed = seed * 1664525 + 1013904223;
      used += (size_t)snprintf(text + used, sizeof text - used, "%s", words[(seed >> 16) % 22]);
    }
    iso_span spans[ISO_MOST_SPANS];
    size_t count = iso_redact_find(text, spans), before = 0;
    for (size_t j = 0; j < count; j++) {
      assert_true(spans[j].start >= before && spans[j].start <= spans[j].end && spans[j].end <= used);
      before = spans[j].end;
    }
    assert_true(iso_redact_show(text, shown, sizeof shown) <= used + 3 * count);
    if (i % 100 != 0) continue;
    iso_secrets secrets = {0};
    assert_true(iso_secrets_add_url(&secrets, text));
    iso_secrets_hide(&secrets, text, true, shown, sizeof shown);
    iso_secrets_free(&secrets);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shows_no_password),
      cmocka_unit_test(hides_every_spelling),
      cmocka_unit_test(hides_what_was_cut),
      cmocka_unit_test(leaves_texts_readable),
      cmocka_unit_test(knows_whether_there_is_one),
      cmocka_unit_test(knows_where_urls_begin),
      cmocka_unit_test(databases_keep_theirs),
      cmocka_unit_test(serves_programs),
      cmocka_unit_test(bears_anything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
