/* rows_suite.h - rows in every layout, by every path, in ordinary tables and in those of rounds, run against a URL. */
#ifndef TESTS_ROWS_SUITE_H
#define TESTS_ROWS_SUITE_H

#include "database/driver.h"

/* Whatever the database has of layouts, access paths and ways to send statements. */
void rows_suite(const char *url);

/* Tables of rounds: made, used, removed; `count` of them at once. */
void rounds_suite(const char *url, uint64_t count);

/* The plan of the statement of a request on round 1 of a database that is opened with a layout and a path, as the words
 * of EXPLAIN (or what stands before a statement to show it) say: expected to hold one text, and not another (NULL:
 * none).
 */
void plan_suite(const char *url, iso_layout layout, iso_access access, const iso_driver_request *request,
                const char *wanted, const char *unwanted);

#endif
