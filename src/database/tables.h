/* tables.h - tables that are ours: what tables.c, which makes them, and tables_remove.c share.  Nothing is owned. */
#ifndef ISO_DATABASE_TABLES_H
#define ISO_DATABASE_TABLES_H

#include "database/catalogue.h"

/* Tells the caller of the run, if he wants to know. */
void iso_tables_notice(const iso_database *database, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The level at which a transaction that looks before it changes sees what is there now, and keeps it so; NULL: the
 * default. */
const iso_isolation *iso_tables_isolation(const iso_database *database);

/* What became of the run of a mark, asked of the system, and where that does not know of the server. */
iso_run_life iso_tables_life(iso_connection *connection, const iso_mark *mark, iso_reply *reply);

/* Removes a table if it carries the mark of the run, which is looked at again when nobody else can change it any more;
 * that it is not there is fine.  Waits for locks of others only for a while. */
isoproof_status iso_tables_remove(iso_connection *connection, const char *table, uint64_t run, iso_reply *reply,
                                  isoproof_error *error);

/* The same for many tables of one run, a few at a time; the first error, after all of them. */
isoproof_status iso_tables_remove_many(iso_connection *connection, const iso_table_name *names, size_t count,
                                       uint64_t run, iso_reply *reply, isoproof_error *error);

/* The mark of a table of the run that is about to be made. */
void iso_tables_mark(const iso_database *database, const char *table, int64_t now, bool folds, iso_mark *mark);

/* Removes the tables of rounds that are left, at the end of the run. */
isoproof_status iso_rounds_teardown(iso_database *database, isoproof_error *error);

/* Removes what runs that are gone have left, and tells of it; never fails. */
void iso_tables_sweep(iso_connection *connection, iso_reply *reply);

#endif
