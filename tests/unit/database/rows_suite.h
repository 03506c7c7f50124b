/* rows_suite.h - rows in every layout, by every path, in ordinary tables and in those of rounds, run against a URL. */
#ifndef TESTS_ROWS_SUITE_H
#define TESTS_ROWS_SUITE_H

#include "database/driver.h"

/* Whatever the database has of layouts, access paths and ways to send statements. */
void rows_suite(const char *url);

/* Tables of rounds: made, used, removed; `count` of them at once. */
void rounds_suite(const char *url, uint64_t count);

#endif
