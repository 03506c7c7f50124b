/* added.h - columns that a run adds to tables of somebody else's, by his leave (--instrument), and takes away again.
 *
 * Before anything is added, a table with the mark of the run says to which tables: what a run that was killed has left
 * is taken away by the next one.  Nothing is taken away but the two columns of tracking.  Nothing is owned.
 */
#ifndef ISO_DATABASE_ADDED_H
#define ISO_DATABASE_ADDED_H

#include "database/driver.h"

/* The beginning of the name of every such table. */
#define ISO_ADDED_PREFIX "isoproof_added_"
/* What is added, and nothing else is ever removed. */
#define ISO_ADDED_VERSION "isoproof_version"
#define ISO_ADDED_PREVIOUS "isoproof_previous"

/* Says to which tables columns will be added, by the names that statements use; takes away first what runs that are
 * gone have left.  ISOPROOF_ERR_USAGE, and nothing was changed: a table has such a column already, or a run that may
 * still be going on has added it. */
isoproof_status iso_added_begin(iso_database *database, const char *const *tables, size_t count, isoproof_error *error);
/* Whether none of these tables has such a column; ISOPROOF_ERR_USAGE names the one that has. */
isoproof_status iso_added_check(iso_connection *connection, const char *const *tables, size_t count,
                                isoproof_error *error);
/* Takes the columns away from these tables, where they are, and then what said so. */
isoproof_status iso_added_end(iso_database *database, isoproof_error *error);
/* Takes away what runs that are gone have left, and tells of it. */
isoproof_status iso_added_sweep(iso_database *database, isoproof_error *error);

#endif
