/* home.h - a place of our own for tables that we did not name: those that the script of a user makes.
 *
 * PostgreSQL: a schema, MariaDB: a database, each with the mark of the run as its comment; SQLite: a file that was
 * empty, with a marked table in it.  Everything in the place is the run's, and goes with it.  What is in no such place
 * is never touched.  The database owns what it knows of its place.
 */
#ifndef ISO_DATABASE_HOME_H
#define ISO_DATABASE_HOME_H

#include "database/driver.h"
#include "database/value_tag.h"

/* The beginning of the name of every such place. */
#define ISO_HOME_PREFIX "isoproof_script_"

/* Makes the place of the run, and removes those of runs that are gone.  ISOPROOF_ERR_UNSUPPORTED: not with this
 * database; ISOPROOF_ERR_USAGE, and nothing was changed: a file of SQLite that has tables of its own. */
isoproof_status iso_home_make(iso_database *database, isoproof_error *error);
/* Lets a connection work in the place; after every connect. */
iso_outcome iso_home_enter(iso_connection *connection, iso_reply *reply);
/* Removes the place with everything in it, or keeps it where tables are to be kept; no error when there is none. */
isoproof_status iso_home_remove(iso_database *database, isoproof_error *error);
/* Its name; "" where there is none. */
void iso_home_name(const iso_database *database, char name[ISO_TABLE_BYTES]);

/* The tag that values of the run carry. */
const iso_value_tag *iso_database_tag(const iso_database *database);
/* Waits until every node has what was done on the first one. */
isoproof_status iso_home_settle(iso_database *database, isoproof_error *error);

#endif
