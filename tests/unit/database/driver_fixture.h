/* driver_fixture.h - an open database with three connections, for the tests of the drivers of servers.  The fixture
 * owns them from fixture_open to fixture_close. */
#ifndef TESTS_DRIVER_FIXTURE_H
#define TESTS_DRIVER_FIXTURE_H

#include "database/driver_table.h"
#include "tests/unit/database/driver_suite.h"
#include "tests/unit/unit.h"

extern const char *server_url; /* of the server that the tests are about, see fixture_run */
extern iso_database *db;
extern iso_connection *one, *two, *control;
extern iso_reply reply;

/* Opens and fills a database (see suite_open), and connects. */
void fixture_open(const char *url, const iso_database_options *options);
/* The same with the server at hand and no options; a set-up of cmocka's. */
int fixture_open_server(void **state);
/* Closes all; a tear-down of cmocka's. */
int fixture_close(void **state);

/* A test with the server at hand, open. */
#define WITH_SERVER(function) cmocka_unit_test_setup_teardown(function, fixture_open_server, fixture_close)

/* Runs tests against the server whose URL is in a variable of the environment, as tests/servers/with sets it; returns
 * what the program is to return, 77 (skipped) where there is none. */
#define fixture_run(variable, tests, setup, teardown)                                                                  \
  (fixture_find_server(variable) ? cmocka_run_group_tests(tests, setup, teardown) : 77)
bool fixture_find_server(const char *variable);

/* What is the same for every server: the whole suite, and its tables. */
void fixture_does_all(void **state);
void fixture_minds_tables(void **state);
/* Sixty-four sessions with a transaction each, at a level by name. */
void fixture_many_sessions(const char *at);

/* A level of the database by name. */
const iso_isolation *level(const char *name);

/* The server ends connection `two` by a statement, in which %u is its number: between statements, and while a statement
 * waits, which then fails with the code unless that is NULL.  `seen` finds the connection as long as it is there. */
void fixture_killed(const char *statement, const char *seen, const char *code);

/* Connections lost, see driver_loss.h, to the server of a URL behind a proxy; `format` is the URL of the proxy from
 * user, port and path. */
void fixture_loss(const char *of, const char *format);

#endif
