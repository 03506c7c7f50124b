/* driver_loss.h - connections lost at every point of a transaction, for any driver of a server.  Nothing is owned. */
#ifndef TESTS_DRIVER_LOSS_H
#define TESTS_DRIVER_LOSS_H

#include "tests/unit/database/driver_suite.h"
#include "tests/unit/database/proxy.h"

/* `through` is a database behind the proxy, `direct` the same one not behind it. */
void loss_at_every_point(iso_database *through, iso_database *direct, proxy *p);
/* A server that does not answer: `through` must have a statement timeout. */
void loss_by_silence(iso_database *through, iso_database *direct, proxy *p);

#endif
