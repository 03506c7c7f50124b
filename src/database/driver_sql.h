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
  ISO_SQL_DUCKDB,
  ISO_SQL_FIREBIRD, /* its driver has statements of its own */
  ISO_SQL_NONE,     /* no SQL at all: the driver has requests for tables */
  ISO_SQL_PORTABLE, /* no statement that inserts or updates: the driver tries one, then the other */
  ISO_DIALECTS
} iso_sql_dialect;

/* Statements with up to two parameters. */
typedef enum iso_sql {
  ISO_SQL_READ,            /* key -> v */
  ISO_SQL_WRITE,           /* key, value */
  ISO_SQL_INCREMENT,       /* key, value */
  ISO_SQL_READ_LIST,       /* key -> l */
  ISO_SQL_APPEND,          /* key, value as text */
  ISO_SQL_INSERT,          /* key, value */
  ISO_SQL_DELETE,          /* key */
  ISO_SQL_RANGE_OF_KEY,    /* key -> k, v */
  ISO_SQL_RANGE_OF_KEYS,   /* low, high -> k, v */
  ISO_SQL_RANGE_OF_VALUES, /* low, high -> k, v */
  ISO_SQL_RANGE_OF_ALL,    /* -> k, v, in the order of keys */
  ISO_SQL_COUNT_KEY,       /* key -> how many */
  ISO_SQL_COUNT_KEYS,      /* low, high -> how many */
  ISO_SQL_COUNT_VALUES,    /* low, high -> how many */
  ISO_SQL_COUNT_ALL,       /* -> how many */
  ISO_SQL_UPDATE,          /* value, key */
  ISO_SQL_ADD,             /* portable: value, key */
  ISO_SQL_STATEMENTS
} iso_sql;

enum { ISO_SQL_BYTES = 640, ISO_PARTITION_BYTES = ISO_TABLE_BYTES + 8 };

/* What statements are prepared for: ordinary tables by number, and after them places that rounds take in turn. */
enum { ISO_ROUND_PLACES = 2, ISO_MOST_PLACES = ISO_MOST_TABLES + ISO_ROUND_PLACES };

/* What the text of a statement depends on, besides the table. */
typedef struct iso_sql_form {
  iso_sql_dialect dialect;
  iso_layout layout;
  iso_access access; /* hints, in dialects that have them */
  int64_t zero;      /* how the number 0 is stored */
} iso_sql_form;

/* That of a database whose statements are in a dialect, which is not that of its catalogue through ODBC. */
iso_sql_form iso_sql_form_of(const iso_database *database, iso_sql_dialect dialect);
/* The statement for one table, or NULL when the dialect has none, or it is too long.  With the numbers in it, or, where
 * `numbers` is NULL, with parameters. */
const char *iso_sql_write(const iso_sql_form *form, iso_sql sql, const char *table, const int64_t *numbers,
                          char buffer[ISO_SQL_BYTES]);
/* The same with parameters and without hints. */
const char *iso_sql_text(iso_sql_dialect dialect, iso_sql sql, const char *table, int64_t zero,
                         char buffer[ISO_SQL_BYTES]);
/* Which statement serves a request; ISO_SQL_STATEMENTS for those that are no such statement. */
iso_sql iso_sql_of(const iso_driver_request *request);
/* How many parameters it has. */
unsigned iso_sql_parameters(iso_sql sql);
/* The numbers of a request in the order of the parameters; returns how many. */
unsigned iso_sql_numbers(iso_sql sql, const iso_driver_request *request, int64_t numbers[2]);
/* Whether the last number is passed as text. */
bool iso_sql_takes_text(iso_sql sql);
/* Number of the table of a key. */
uint32_t iso_sql_table(const iso_database *database, int64_t key);
/* The places that a request is about, [*first, *end): all tables for a range, else that of its key; that of its round.
 */
void iso_sql_tables(const iso_database *database, const iso_driver_request *request, uint32_t *first, uint32_t *end);
void iso_sql_table_name(const iso_database *database, uint32_t number, char name[ISO_TABLE_BYTES]);
void iso_sql_round_name(const iso_database *database, uint64_t round, char name[ISO_TABLE_BYTES]);
/* The name of the table at one of these places. */
void iso_sql_place_name(const iso_database *database, const iso_driver_request *request, uint32_t place,
                        char name[ISO_TABLE_BYTES]);
/* The place of a round. */
uint32_t iso_sql_round_place(uint64_t round);
/* The name of a partition, where it has one. */
void iso_sql_partition_name(const char *table, uint32_t number, char name[ISO_PARTITION_BYTES]);

/* The name of the index of keys, where it has one that is not the primary key's. */
void iso_sql_index_name(iso_sql_dialect dialect, const char *table, char name[ISO_PARTITION_BYTES]);

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
