/* tables_suite.h - whose tables are changed and whose never are, run against the URL of a database that outlives its
 * connections.  Nothing is owned by the caller. */
#ifndef TESTS_TABLES_SUITE_H
#define TESTS_TABLES_SUITE_H

#include "database/driver_table.h"

/* Changes a database that was just opened; may be NULL. */
typedef void (*tables_suite_prepare)(iso_database *database);

void tables_suite(const char *url, tables_suite_prepare prepare);

#endif
