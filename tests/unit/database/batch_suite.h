/* batch_suite.h - several requests at once, and what is true of the transaction afterwards. */
#ifndef TESTS_BATCH_SUITE_H
#define TESTS_BATCH_SUITE_H

#include "database/driver.h"
#include "tests/unit/database/proxy.h"

/* Against a URL, with statements prepared and plain. */
void batch_suite(const char *url);
/* Two batches that wait for each other: one is chosen, and nothing of it is done. */
void batch_deadlock(const char *url);

/* The connection is cut after every few bytes of the answers to a batch.  `through` goes by way of the proxy, `direct`
 * does not; both have the same tables, filled. */
void batch_loss(iso_database *through, iso_database *direct, proxy *p);

#endif
