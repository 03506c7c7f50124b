/* driver_suite.h - what every driver must do alike, run against a URL.  Nothing is owned by the caller. */
#ifndef TESTS_DRIVER_SUITE_H
#define TESTS_DRIVER_SUITE_H

#include "database/driver.h"

/* Opens a database with tables of its own, empty. */
iso_database *suite_open_empty(const char *url, const iso_database_options *options);
/* The same, filled: keys 0 to 9 are 0. */
iso_database *suite_open(const char *url, const iso_database_options *options);
/* Removes the tables and closes. */
void suite_close(iso_database *database);
iso_connection *suite_connect(iso_database *database, size_t node);

/* The checks themselves. */
void suite_all(const char *url);

/* A reply that says what is expected, or the test fails with what it says instead. */
#define assert_reply(reply, wanted_outcome, wanted_txn)                                                                \
  suite_reply(reply, ISO_OUTCOME_##wanted_outcome, ISO_TXN_##wanted_txn, __FILE__, __LINE__)
void suite_reply(const iso_reply *reply, iso_outcome outcome, iso_txn_state txn, const char *file, int line);

/* Waits until a session, whose request is under way, is seen to wait for a lock. */
void suite_blocked(iso_connection *control, iso_connection *session);

/* The value of a register, in a transaction of its own on a new connection; INT64_MIN when absent. */
int64_t suite_value(iso_database *database, int64_t key);

#endif
