/* driver_sql.h - the statements behind the requests, in the dialects of the databases.
 *
 * Nothing is owned: texts are written into buffers of the caller.
 */
#ifndef ISO_DATABASE_DRIVER_SQL_H
#define ISO_DATABASE_DRIVER_SQL_H

#include "database/driver.h"

typedef enum iso_sql_dialect {
  ISO_SQL_SQLITE,
  ISO_SQL_POSTGRES, /* parameters are $1, $2 */
  ISO_SQL_MARIADB,
  ISO_SQL_PORTABLE, /* no statement that inserts or updates: the driver tries one, then the other */
  ISO_DIALECTS
} iso_sql_dialect;

/* Statements with up to two parameters, always in this order. */
typedef enum iso_sql {
  ISO_SQL_READ,            /* key -> v */
  ISO_SQL_WRITE,           /* key, value */
  ISO_SQL_INCREMENT,       /* key, value */
  ISO_SQL_READ_LIST,       /* key -> l */
  ISO_SQL_APPEND,          /* key, value as text */
  ISO_SQL_INSERT,          /* key, value */
  ISO_SQL_DELETE,          /* key */
  ISO_SQL_RANGE_OF_KEYS,   /* low, high -> k, v */
  ISO_SQL_RANGE_OF_VALUES, /* low, high -> k, v */
  ISO_SQL_UPDATE,          /* portable: value, key */
  ISO_SQL_ADD,             /* portable: value, key */
  ISO_SQL_STATEMENTS
} iso_sql;

enum { ISO_SQL_BYTES = 512, ISO_PARTITION_BYTES = ISO_TABLE_BYTES + 8 };

/* The statement for one table, or NULL when the dialect has none.  `zero` is how the number 0 is stored. */
const char *iso_sql_text(iso_sql_dialect dialect, iso_sql sql, const char *table, int64_t zero,
                         char buffer[ISO_SQL_BYTES]);
/* Which statement serves a request; ISO_SQL_STATEMENTS for those that are no such statement. */
iso_sql iso_sql_of(const iso_driver_request *request);
/* How many parameters it has. */
unsigned iso_sql_parameters(iso_sql sql);
/* Number of the table of a key. */
uint32_t iso_sql_table(const iso_database *database, int64_t key);
/* The tables that a request is about, [*first, *end): all of them for a range, else that of its key. */
void iso_sql_tables(const iso_database *database, const iso_driver_request *request, uint32_t *first, uint32_t *end);
void iso_sql_table_name(const iso_database *database, uint32_t number, char name[ISO_TABLE_BYTES]);
/* The name of a partition, where it has one. */
void iso_sql_partition_name(const char *table, uint32_t number, char name[ISO_PARTITION_BYTES]);

/* Whether the dialect has partitioned tables. */
bool iso_sql_partitions(iso_sql_dialect dialect);

/* Executes a statement; anything but success is ISOPROOF_ERR_IO with the words of the server. */
isoproof_status iso_sql_ask(iso_connection *connection, const char *sql, iso_reply *reply, isoproof_error *error);
/* Does something on a connection of its own to the first node that takes writes, or to the first one of all. */
typedef isoproof_status (*iso_sql_task)(iso_database *database, iso_connection *connection, iso_reply *reply,
                                        isoproof_error *error);
isoproof_status iso_sql_on_first_node(iso_database *database, iso_sql_task task, isoproof_error *error);

/* A statement that begins or ends transactions, by its first words. */
bool iso_sql_controls_transactions(const char *sql);

#endif
