/* driver_conflicts.h - transactions in each other's way, on every driver: what is said of them must be true.  Nothing
 * is owned by the caller. */
#ifndef TESTS_DRIVER_CONFLICTS_H
#define TESTS_DRIVER_CONFLICTS_H

#include "database/driver.h"

/* Each takes a database of suite_open, and leaves its keys 0 to 9 with other values. */

/* A statement that fails in a transaction: what is said of the transaction afterwards is what becomes of it. */
void conflict_in_transaction(iso_database *database, iso_connection *connection);
/* Two transactions insert the same key: one of them has it. */
void conflict_of_inserts(iso_database *database, iso_connection *connection);
/* Two transactions read a key, then overwrite it, at every level that is documented to keep updates from being lost. */
void conflict_of_updates(iso_database *database, iso_connection *connection);
/* Two transactions write two keys in opposite orders: both end, and no trace of one that was aborted is left. */
void conflict_of_orders(iso_database *database, iso_connection *connection);
/* 64 sessions at once, each adds 1 to the same register until that is confirmed. */
void conflict_of_many(iso_database *database, iso_connection *connection);

#endif
