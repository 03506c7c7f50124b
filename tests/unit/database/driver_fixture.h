/* driver_fixture.h - an open database with three connections, for the tests of the drivers of servers.  The fixture
 * owns them from fixture_open to fixture_close. */
#ifndef TESTS_DRIVER_FIXTURE_H
#define TESTS_DRIVER_FIXTURE_H

#include "database/driver_table.h"
#include "tests/unit/database/driver_suite.h"
#include "tests/unit/unit.h"

extern iso_database *db;
extern iso_connection *one, *two, *control;
extern iso_reply reply;

/* Opens and fills a database (see suite_open), and connects. */
void fixture_open(const char *url, const iso_database_options *options);
/* Closes all; a tear-down of cmocka's. */
int fixture_close(void **state);

/* A level of the database by name. */
const iso_isolation *level(const char *name);

/* The server ends connection `two` by a statement, in which %u is its number: between statements, and while a statement
 * waits, which then fails with the code unless that is NULL.  `seen` finds the connection as long as it is there. */
void fixture_killed(const char *statement, const char *seen, const char *code);

/* Connections lost, see driver_loss.h, to the server of a URL behind a proxy; `format` is the URL of the proxy from
 * user, port and path. */
void fixture_loss(const char *server_url, const char *format);

#endif
