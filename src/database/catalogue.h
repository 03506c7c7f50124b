/* catalogue.h - what the catalogue of a database says of tables, and tables made with their marks, in every dialect.
 *
 * Names are written into statements as they are: letters, digits and '_' only.  Nothing is owned but what says so.
 */
#ifndef ISO_DATABASE_CATALOGUE_H
#define ISO_DATABASE_CATALOGUE_H

#include "database/driver_table.h"
#include "database/mark.h"

/* What a statement with the name would be about. */
typedef struct iso_relation {
  bool exists;
  bool ours;     /* a table that carries a mark of its own name; `mark` is valid */
  char kind[24]; /* "table", "view", ... */
  iso_mark mark;
} iso_relation;

/* Looks a name up as statements of our sessions would find it. */
isoproof_status iso_catalogue_find(iso_connection *connection, const char *table, iso_reply *reply, iso_relation *found,
                                   isoproof_error *error);
/* What changes when a table is emptied at one blow, written anew or replaced; "" where that is not known. */
void iso_catalogue_state(iso_connection *connection, const char *table, iso_reply *reply, char state[ISO_STATE_BYTES]);

typedef struct iso_table_name {
  char text[ISO_TABLE_BYTES];
  bool marked; /* `mark` is its mark, as far as was seen from afar */
  iso_mark mark;
} iso_table_name;
typedef struct iso_table_names {
  ISO_VEC(iso_table_name) list; /* freed by the caller */
} iso_table_names;

/* The tables that may carry marks of ours, where new tables would be made. */
isoproof_status iso_catalogue_list(iso_connection *connection, iso_reply *reply, iso_table_names *names,
                                   isoproof_error *error);

/* Which of these tables, at most ISO_TABLES_AT_ONCE, carry a mark of the run, by one statement.  False when that cannot
 * be said: they are looked at one by one then, as are those that are not found to. */
enum { ISO_TABLES_AT_ONCE = 40 };
bool iso_catalogue_ours(iso_connection *connection, const iso_table_name *names, size_t count, uint64_t run,
                        iso_reply *reply, bool *ours);

/* Makes a table, its mark and its index.  Where that takes several statements (iso_catalogue_transactional) the caller
 * has begun a transaction.  Anything but success is in the reply. */
bool iso_catalogue_create(iso_connection *connection, const char *table, const iso_mark *mark, iso_reply *reply);
/* Whether tables can be made and removed in transactions. */
bool iso_catalogue_transactional(iso_sql_dialect dialect);

/* ---- the server's clock and locks ---- */

/* Seconds since 1970, and whether the catalogue writes names in small letters only. */
void iso_catalogue_clock(iso_connection *connection, iso_reply *reply, int64_t *now, bool *folds);
/* Databases that have locks which end with their connection. */
bool iso_catalogue_has_locks(const iso_database *database);
/* Takes the lock of a run for as long as the connection lasts; without success nobody can tell from elsewhere. */
void iso_catalogue_hold(iso_connection *connection, uint64_t run, iso_reply *reply);
/* Whether the lock of a run is known to be free, on every node. */
bool iso_catalogue_is_free(iso_connection *connection, uint64_t run, iso_reply *reply);

#endif
