/* driver.h - one interface to every database: open it by URL, connect, run transactions, and learn what really
 * happened.
 *
 * The caller owns databases, connections and replies, and frees connections before their database; what a pointer out
 * of one of them shows lives until the next call on it.
 *
 * A database is one or several nodes, each with a URL.  A connection belongs to one session and is used by one thread
 * at a time, but for iso_cancel, which any thread may call.  Nothing here believes in success: a transaction counts as
 * committed only when the server said so, as aborted only when it cannot have taken effect, and as unknown otherwise.
 *
 * Registers, lists and rows live in tables (k, v, l): the key (a 64-bit integer, the primary key unless the layout says
 * otherwise), the value of the register (integer), and the list (text, "1,2,3"; not in tables without a primary key).
 * With several tables a key is in table number key modulo tables.  Besides these a run may have rounds: thousands of
 * small tables, each made empty, used once by a few transactions, and removed.
 *
 * Every opened database is a run of its own, with a random number: its tables carry a mark with that number from the
 * moment they are made (database/mark.h), and with tag_bits so do the values in them (database/value_tag.h).  What does
 * not carry such a mark is never changed.
 */
#ifndef ISO_DATABASE_DRIVER_H
#define ISO_DATABASE_DRIVER_H

#include "base/error.h"
#include "base/vector.h"

enum {
  ISO_MOST_NODES = 64,
  ISO_MOST_TABLES = 64,
  ISO_MOST_PARTITIONS = 8,
  ISO_MOST_ROUND = 999999999, /* number of a round */
  ISO_MOST_BATCH = 64,        /* requests of one batch */
  ISO_MOST_ISOLATIONS = 8,
  ISO_MOST_LIST = 1000000,         /* elements of one list */
  ISO_MOST_CELLS = 1000000,        /* of one reply of ISO_EXECUTE or ISO_READ_RANGE */
  ISO_MOST_REPLY_BYTES = 64 << 20, /* text of one reply */
  ISO_MOST_SQL_BYTES = 1 << 20,    /* one statement */
  ISO_TABLE_BYTES = 48,            /* name of a table, terminated */
  ISO_CODE_BYTES = 16,
  ISO_MESSAGE_BYTES = 256
};

/* ---- what a call can answer ---- */

/* C name, name, meaning. */
#define ISO_OUTCOME_LIST(X)                                                                                            \
  X(OK, "ok", "the server confirmed it")                                                                               \
  X(ABORT, "abort", "a conflict with other transactions, or an overload: a new attempt may succeed")                   \
  X(REJECTED, "rejected", "the server (or this client) refuses; trying again will not help")                           \
  X(LOST, "lost", "the connection broke; no commit was under way, so that nothing of the transaction took effect")     \
  X(UNKNOWN, "unknown", "the answer to a commit (or to a statement that commits by itself) was lost")                  \
  X(FOREIGN, "foreign", "somebody else changes the tables: a value that this run did not write, or a table is gone")

typedef enum iso_outcome {
#define ISO_X(name, id, text) ISO_OUTCOME_##name,
  ISO_OUTCOME_LIST(ISO_X)
#undef ISO_X
      ISO_OUTCOMES
} iso_outcome;

/* Why, for counting: C name, name, meaning. */
#define ISO_ERROR_CLASS_LIST(X)                                                                                        \
  X(NONE, "none", "no error")                                                                                          \
  X(SERIALIZATION, "serialization", "a conflict that the isolation level does not allow")                              \
  X(DEADLOCK, "deadlock", "chosen to resolve a deadlock")                                                              \
  X(LOCK_TIMEOUT, "lock-timeout", "waited too long for a lock")                                                        \
  X(BUSY, "busy", "another connection is in the way, and waiting would not help")                                      \
  X(TIMEOUT, "timeout", "the statement took longer than allowed")                                                      \
  X(CANCELLED, "cancelled", "iso_cancel, or somebody on the server, stopped the statement")                            \
  X(CONSTRAINT, "constraint", "a constraint, such as a duplicate key")                                                 \
  X(READ_ONLY, "read-only", "a write where only reads are possible (a standby)")                                       \
  X(UNAVAILABLE, "unavailable", "the node is there, but does not serve now (starting, not in the cluster)")            \
  X(CONNECTION, "connection", "the connection could not be made, or broke")                                            \
  X(STATE, "state", "there is no transaction to do it in, or there is one already")                                    \
  X(STATEMENT, "statement", "the server does not accept the statement")                                                \
  X(CLIENT, "client", "this client could not: memory, limits, what the driver cannot do")                              \
  X(OTHER, "other", "an error that is none of the others")

typedef enum iso_error_class {
#define ISO_X(name, id, text) ISO_CLASS_##name,
  ISO_ERROR_CLASS_LIST(ISO_X)
#undef ISO_X
      ISO_ERROR_CLASSES
} iso_error_class;

/* What became of the transaction: C name, name, meaning. */
#define ISO_TXN_STATE_LIST(X)                                                                                          \
  X(IDLE, "idle", "none was begun")                                                                                    \
  X(ACTIVE, "active", "open; a statement that failed was undone alone")                                                \
  X(COMMITTED, "committed", "the server confirmed the commit")                                                         \
  X(ABORTED, "aborted", "nothing of it took or will take effect")                                                      \
  X(UNKNOWN, "unknown", "a commit was sent and not answered")

typedef enum iso_txn_state {
#define ISO_X(name, id, text) ISO_TXN_##name,
  ISO_TXN_STATE_LIST(ISO_X)
#undef ISO_X
      ISO_TXN_STATES
} iso_txn_state;

const char *iso_error_class_name(iso_error_class error_class);

typedef struct iso_row {
  int64_t key, value;
} iso_row;

typedef struct iso_cell {
  size_t start;    /* into `text` of the reply */
  uint32_t length; /* UINT32_MAX for NULL */
} iso_cell;

/* The answer to a request.  Zero it before its first use; it keeps its buffers from call to call. */
typedef struct iso_reply {
  iso_outcome outcome;
  iso_error_class error_class;
  /* After this call.  IDLE only when no transaction was begun since connecting or since the last one was ended; calls
   * outside of a transaction are transactions of their own, and say COMMITTED, ABORTED or UNKNOWN. */
  iso_txn_state txn;
  char code[ISO_CODE_BYTES];       /* the server's: SQLSTATE, or a number, or SQLITE_BUSY; "" when ok */
  char message[ISO_MESSAGE_BYTES]; /* the server's words, printable; "" when ok */
  /* FOREIGN: what was found is in `message`; the transaction is as it was. */
  bool present;            /* ISO_READ: there is a value; ISO_READ_LIST: there is a list */
  int64_t value;           /* ISO_READ; ISO_COUNT */
  int64_t affected;        /* rows that ISO_WRITE, _INSERT, _UPDATE, _DELETE, _EXECUTE changed; -1 where not known.  An
                              update to the value that is there already changes its row */
  ISO_VEC(int64_t) list;   /* ISO_READ_LIST */
  ISO_VEC(iso_row) rows;   /* ISO_READ_RANGE, by key */
  bool garbled;            /* ISO_READ_LIST: the text was no list of numbers */
  uint32_t columns;        /* ISO_EXECUTE: cells.count / columns rows */
  ISO_VEC(iso_cell) cells; /* ISO_EXECUTE, row by row */
  ISO_VEC(iso_cell) names; /* ISO_EXECUTE: of the columns, where the driver tells (SQLite, PostgreSQL, MariaDB) */
  ISO_VEC(char) text;
} iso_reply;

void iso_reply_free(iso_reply *reply);
/* A cell as terminated text; NULL for SQL's NULL and for what is not there. */
const char *iso_reply_cell(const iso_reply *reply, size_t row, uint32_t column);
/* The name of a column; NULL where it is not told. */
const char *iso_reply_column(const iso_reply *reply, uint32_t column);

/* ---- drivers ---- */

/* Every driver that could exist: C name, name (also the scheme of its URLs), another scheme or NULL, style of its URLs
 * (iso_url_style), title.  Which ones are built in is decided by the build. */
#define ISO_DRIVER_LIST(X)                                                                                             \
  X(SIM, sim, NULL, PATH, "simulated database in memory, with bugs that can be switched on")                           \
  X(SQLITE, sqlite, "sqlite3", PATH, "SQLite, embedded")                                                               \
  X(DUCKDB, duckdb, NULL, PATH, "DuckDB, embedded")                                                                    \
  X(ROCKSDB, rocksdb, NULL, PATH, "RocksDB, embedded")                                                                 \
  X(POSTGRES, postgres, "postgresql", CLIENT, "PostgreSQL")                                                            \
  X(MARIADB, mariadb, "mysql", FULL, "MariaDB and MySQL, Galera clusters")                                             \
  X(FIREBIRD, firebird, NULL, EITHER, "Firebird, by its server or embedded")                                           \
  X(REDIS, redis, NULL, FULL, "Redis, with replicas")                                                                  \
  X(ETCD, etcd, NULL, HOSTS, "etcd, one server or a cluster")                                                          \
  X(ODBC, odbc, NULL, RAW, "any database with an ODBC driver")                                                         \
  X(EXEC, exec, NULL, RAW, "any database, by a program of yours that speaks JSON lines")

typedef enum iso_driver_id {
#define ISO_X(name, id, alias, style, title) ISO_DRIVER_##name,
  ISO_DRIVER_LIST(ISO_X)
#undef ISO_X
      ISO_DRIVERS
} iso_driver_id;

/* What a driver can do (for ODBC: with the database behind it). */
typedef struct iso_capabilities {
  bool sql;                /* ISO_EXECUTE */
  bool lists;              /* ISO_APPEND, ISO_READ_LIST */
  bool predicates;         /* ISO_INSERT, ISO_UPDATE, ISO_DELETE, ISO_READ_RANGE, ISO_COUNT */
  bool autocommit;         /* single requests without ISO_BEGIN */
  bool concurrent;         /* writers of different keys can make progress at the same time */
  bool blocked;            /* iso_blocked */
  bool cancel;             /* iso_cancel ends a waiting statement */
  bool nodes;              /* several nodes of one cluster */
  bool persistent;         /* outlives this process */
  bool keyless;            /* nothing keeps two rows from having the same key (see iso_layout): ISO_WRITE, _INCREMENT,
                              _APPEND and _READ_LIST are refused, ISO_INSERT never meets a duplicate, ISO_UPDATE and
                              _DELETE change all rows of the key, and ISO_READ shows one of them */
  bool rounds;             /* iso_database_make_rounds */
  bool batches;            /* iso_do_batch takes one round trip */
  bool joins;              /* iso_database_join: several clients can share a run */
  bool apart;              /* tables of one server have nothing to do with each other: no lock is on two of them */
  uint32_t blocked_lag_ms; /* how long iso_blocked may have to wait for news */
} iso_capabilities;

typedef struct iso_driver iso_driver;

/* NULL when the driver is not built in. */
const iso_driver *iso_driver_get(iso_driver_id id);
/* By the scheme of a URL ("postgres://...", "sqlite:file").  ISOPROOF_ERR_USAGE: no such driver;
 * ISOPROOF_ERR_UNSUPPORTED: not built in. */
isoproof_status iso_driver_for(const char *url, const iso_driver **driver, isoproof_error *error);
const char *iso_driver_name(const iso_driver *driver);
/* URL in words, such as "postgres://user@host:port/database?option=value". */
const char *iso_driver_url_form(const iso_driver *driver);
/* The client library in use, such as "libpq 15.18", terminated; "" where there is none. */
void iso_driver_library(const iso_driver *driver, char *buffer, size_t size);
iso_capabilities iso_driver_capabilities(const iso_driver *driver);

/* ---- databases ---- */

/* A level by the database's own name. */
typedef struct iso_isolation {
  const char *name;   /* "repeatable read" */
  const char *claims; /* the level (isoproof/level.h) that the documentation of the database amounts to; NULL: none */
  const char *note;   /* what the documentation says, and what to know about it */
  const char *claims_lists; /* the same for lists and rows, whose changes read what they change; NULL: as above */
  const char *source, *url; /* the chapter that says it, and its address; NULL where there is none */
} iso_isolation;

typedef struct iso_setting {
  const char *name, *value;
} iso_setting;

/* How the tables are laid out: C name, name, meaning. */
#define ISO_LAYOUT_LIST(X)                                                                                             \
  X(KEYED, "keyed", "the key is the primary key")                                                                      \
  X(INDEXED, "indexed", "no primary key; an index of keys that need not be unique")                                    \
  X(HASHED, "hashed", "no primary key; a hash index of keys (PostgreSQL)")                                             \
  X(HEAP, "heap", "no index at all")

typedef enum iso_layout {
#define ISO_X(name, id, text) ISO_LAYOUT_##name,
  ISO_LAYOUT_LIST(ISO_X)
#undef ISO_X
      ISO_LAYOUTS
} iso_layout;

/* By which path statements come to their rows: C name, name, meaning.  PostgreSQL takes it as settings of its planner,
 * in every session, the others as hints in the statements that look for keys; ODBC and DuckDB have only auto. */
#define ISO_ACCESS_LIST(X)                                                                                             \
  X(AUTO, "auto", "as the database decides")                                                                           \
  X(INDEX, "index", "through the index of keys")                                                                       \
  X(BITMAP, "bitmap", "through a bitmap made from the index of keys (PostgreSQL)")                                     \
  X(SEQUENTIAL, "sequential", "through all rows of the table")

typedef enum iso_access {
#define ISO_X(name, id, text) ISO_ACCESS_##name,
  ISO_ACCESS_LIST(ISO_X)
#undef ISO_X
      ISO_ACCESSES
} iso_access;

/* How statements are sent: C name, name, meaning. */
#define ISO_SENDING_LIST(X)                                                                                            \
  X(PREPARED, "prepared", "prepared once for each connection and table, the numbers as parameters")                    \
  X(PLAIN, "plain", "as text with the numbers in it, parsed and planned anew each time")

typedef enum iso_sending {
#define ISO_X(name, id, text) ISO_SENDING_##name,
  ISO_SENDING_LIST(ISO_X)
#undef ISO_X
      ISO_SENDINGS
} iso_sending;

/* The names above; NULL for a number that is none. */
const char *iso_layout_name(iso_layout layout);
const char *iso_access_name(iso_access access);
const char *iso_sending_name(iso_sending sending);
/* By name; false when there is no such. */
bool iso_layout_find(const char *name, iso_layout *found);
bool iso_access_find(const char *name, iso_access *found);
bool iso_sending_find(const char *name, iso_sending *found);

typedef struct iso_database_options {
  const char *table;             /* letters, digits, '_'; NULL: `family`, '_' and the number of the run */
  const char *family;            /* NULL: "isoproof" */
  uint32_t tables;               /* 0 means 1 */
  uint32_t partitions;           /* of each table: key N is in partition N, those beyond the last one are in that; 0 and
                                    1: the tables have none */
  uint32_t connect_timeout_ms;   /* 0 means 5000 */
  uint32_t statement_timeout_ms; /* the server ends a statement after that; 0: never.  A server that does not answer
                                    at all is given up (LOST, or UNKNOWN at a commit) after that and a second more. */
  uint32_t lock_timeout_ms;      /* how long a statement waits for a lock; 0: what the database does by itself, but
                                    5000 for SQLite and sim */
  uint64_t seed;                 /* of sim: only */
  uint32_t tag_bits;             /* values in the tables carry so many bits of the run; 0: none.  Not for sim: */
  bool keep_tables;              /* teardown leaves the tables, and so do later runs */
  /* Told what else was done to the database, or could not be: tables of runs that are gone.  May be NULL. */
  void (*notice)(const char *text, void *user);
  void *notice_user;
  const char *password; /* for nodes whose URLs have none; NULL: the client library looks where it does */
  iso_layout layout;    /* of all tables, those of rounds too */
  iso_access access;
  iso_sending statements;
  uint64_t run; /* the number of the run; 0: a random one */
  bool joins;   /* another client of the run has made the tables, and removes them */
} iso_database_options;

typedef struct iso_database iso_database;

/* Opens a database by the URLs of its nodes (all of one driver): checks that the first one answers, learns version,
 * settings and levels.  URLs:
 *   sim:?level=snapshot-isolation&nodes=3&bugs=lost-update,stale-read&rate=0.01
 *   sqlite:FILE?journal=wal   (sqlite: alone is a private file in a temporary folder, removed in the end)
 *   duckdb:FILE?lib=/path/libduckdb.so   (duckdb: alone is private, duckdb::memory: is in memory)
 *   rocksdb:DIRECTORY?transactions=optimistic   (rocksdb: alone is private)
 *   postgres://user:password@host:port/database, postgres:host=... dbname=..., and whatever else libpq takes
 *   mariadb://user:password@host:port/database?socket=/path   (mysql: means the same)
 *   odbc:Driver=...;Server=...;   or odbc:DSN
 *   firebird://user:password@host:port/path/to/database.fdb, or firebird:/path/to/database.fdb without a server
 *   redis://user:password@host:port/number
 *   etcd://user:password@host:port,host:port/prefix?cacert=FILE   (each host is a node)
 * Nothing that this or any other call here says has a password in it.
 * `options` may be NULL.  ISOPROOF_ERR_UNSUPPORTED: partitions, a layout or an access path where the database has none,
 * or an access path that the layout has no index for. */
isoproof_status iso_database_open(const char *const *urls, size_t count, const iso_database_options *options,
                                  iso_database **database, isoproof_error *error);
/* Accepts NULL. */
void iso_database_close(iso_database *database);

const iso_driver *iso_database_driver(const iso_database *database);
iso_capabilities iso_database_capabilities(const iso_database *database);
/* "PostgreSQL 15.18", "MariaDB 10.11.6, Galera of 3", "SQLite 3.40.1", "simulator" */
const char *iso_database_version(const iso_database *database);
/* What matters for the results: "fsync", "journal_mode", ...; NULL after the last. */
const iso_setting *iso_database_setting(const iso_database *database, size_t number);
/* Weakest first; NULL after the last. */
const iso_isolation *iso_database_isolation(const iso_database *database, size_t number);
/* By name without regard to case, '-' and '_' taken as ' ', or by a usual alias (rc, rr, si, ser, ...); NULL as name
 * means the default of the database.  ISOPROOF_ERR_USAGE lists the names there are. */
isoproof_status iso_database_find_isolation(const iso_database *database, const char *name, const iso_isolation **found,
                                            isoproof_error *error);
size_t iso_database_nodes(const iso_database *database);
/* The URL of a node without its password, fit for logs. */
const char *iso_database_url(const iso_database *database, size_t node);

/* A text of somebody else's with *** for what is a password of this database, to be freed; NULL when memory is out. */
char *iso_database_without_secrets(const iso_database *database, const char *text);

/* Makes the tables, empty, through the first node; several nodes: waits until all of them have it.  What runs that are
 * gone have left there is removed, and told as a notice.  ISOPROOF_ERR_USAGE, and nothing was changed: the name is
 * taken by something that is not ours, or by a run that may still be going on. */
isoproof_status iso_database_setup(iso_database *database, isoproof_error *error);
/* Instead of that with `joins`: ISOPROOF_ERR_IO when the tables of the run are not there. */
isoproof_status iso_database_join(iso_database *database, isoproof_error *error);
/* Removes the tables that iso_database_setup made, as long as they are ours; no error when there are none. */
isoproof_status iso_database_teardown(iso_database *database, isoproof_error *error);
/* Whether the tables still are those that were set up: ISOPROOF_ERR_INTERFERENCE when one was removed, replaced or
 * emptied at one blow.  A database that cannot be asked has nothing to say. */
isoproof_status iso_database_verify(iso_database *database, isoproof_error *error);
/* Makes the tables of rounds first .. first + count - 1 (1 to ISO_MOST_ROUND, none of them made before), empty and
 * never written, in the layout of the run and with its mark, through the first node; several nodes: waits until all of
 * them have them.  After iso_database_setup; while sessions are at work, but not by two threads at once, nor together
 * with iso_database_drop_rounds.  Takes a connection of its own and many tables at a time.  When it fails, those that
 * it had made are removed again, at the latest by iso_database_teardown.  ISOPROOF_ERR_UNSUPPORTED: capabilities.rounds
 * is false. */
isoproof_status iso_database_make_rounds(iso_database *database, uint64_t first, uint64_t count, isoproof_error *error);
/* Removes the tables of these rounds, many at a time, if they carry the mark of the run; that one is not there is fine.
 * Nobody should be using them: it waits for transactions that do, for a while.  iso_database_teardown removes all that
 * are left, and with keep_tables these too: rounds are not kept. */
isoproof_status iso_database_drop_rounds(iso_database *database, uint64_t first, uint64_t count, isoproof_error *error);
/* The name of the table of a round, for statements of one's own. */
void iso_database_round_table(const iso_database *database, uint64_t round, char name[ISO_TABLE_BYTES]);
/* Takes what the tables are now for what was set up: the caller has written them anew. */
void iso_database_learn_tables(iso_database *database);
/* The name of the tables, without their numbers. */
const char *iso_database_table_name(const iso_database *database);
/* The table of a key, for statements of one's own. */
void iso_database_table(const iso_database *database, int64_t key, char name[ISO_TABLE_BYTES]);

/* ---- connections ---- */

typedef struct iso_connection iso_connection;

/* Connects a session to a node.  ISOPROOF_ERR_IO when that fails. */
isoproof_status iso_connect(iso_database *database, size_t node, iso_connection **connection, isoproof_error *error);
/* A transaction that is open is rolled back.  Accepts NULL. */
void iso_disconnect(iso_connection *connection);
/* Gives up what is left of the connection and makes a new one to the same node; the transaction state is IDLE then. */
isoproof_status iso_reconnect(iso_connection *connection, isoproof_error *error);
/* Whether requests have a chance; false after LOST and UNKNOWN that came from a broken connection. */
bool iso_connected(const iso_connection *connection);
/* Whether the node takes no writes now (a standby), as far as its last answer told. */
bool iso_connection_read_only(const iso_connection *connection);
/* The number that the server gives to the connection (backend pid, thread id); 0 where there is none. */
uint64_t iso_connection_server_id(const iso_connection *connection);

typedef enum iso_request_kind {
  ISO_BEGIN,      /* isolation, read_only */
  ISO_READ,       /* key -> present, value */
  ISO_WRITE,      /* key, value: insert or update in one statement */
  ISO_INCREMENT,  /* key, value: adds to the register in one statement; a register that is not there counts as 0 */
  ISO_READ_LIST,  /* key -> present, list */
  ISO_APPEND,     /* key, value: appends in one statement; a list that is not there counts as empty */
  ISO_INSERT,     /* key, value; an existing key is a CONSTRAINT error */
  ISO_DELETE,     /* key -> affected */
  ISO_UPDATE,     /* key, value -> affected: changes a row that is there; 0 when it is not */
  ISO_READ_RANGE, /* key .. high, of keys or (by_value) of values -> rows; over all tables, one statement each.  From
                     INT64_MIN to INT64_MAX: all rows, without a condition, in the order of keys */
  ISO_COUNT,      /* key .. high, as ISO_READ_RANGE -> value: how many rows, counted by the database */
  ISO_EXECUTE,    /* sql -> columns, cells, affected; one statement, none that begins or ends a transaction */
  ISO_COMMIT,
  ISO_ROLLBACK,    /* also ends what is ABORTED already, and is fine when there is nothing */
  ISO_PING,        /* a round trip */
  ISO_DESCRIBE,    /* sql, a query -> cells, the names of its columns; ODBC only */
  ISO_LIST_TABLES, /* -> cells, the names of all tables; where the database is not known, or has no SQL */
  /* Where there is no SQL: tables and their marks. */
  ISO_FIND_TABLE, /* table -> cells kind, name, mark, "no"; none when nothing has the name */
  ISO_MAKE_TABLE, /* table, sql the mark; a name that is taken is a CONSTRAINT error */
  ISO_DROP_TABLE, /* table, sql the mark that it must have */
  ISO_REQUEST_KINDS
} iso_request_kind;

typedef struct iso_driver_request {
  iso_request_kind kind;
  int64_t key, value, high;
  bool by_value, read_only;
  const iso_isolation *isolation; /* of the database; NULL: its default */
  const char *sql;
  uint64_t round;    /* 0: the ordinary tables; N: the table of round N, whatever the key */
  const char *table; /* of ISO_FIND_TABLE and its like */
} iso_driver_request;

/* Does it and waits for the answer.
 *
 * A statement that fails within a transaction leaves it ACTIVE (only the statement was undone: a lock timeout of
 * MariaDB, BUSY of SQLite) or ABORTED.  Once ABORTED, everything but ISO_ROLLBACK, ISO_COMMIT (which answers ABORT,
 * never OK) and ISO_BEGIN is refused (REJECTED, STATE).  ISO_COMMIT may leave the transaction ACTIVE (SQLite is busy):
 * try again, or roll back. */
iso_outcome iso_do(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);

/* Does several requests, in order, and stops at the first that is not OK: as iso_do one after the other, but in a
 * single round trip where the database can (capabilities.batches), the connection is in no transaction or an open one,
 * and the requests are a transaction or part of one: ISO_BEGIN or none at the beginning, statements other than
 * ISO_EXECUTE, ISO_COMMIT or none at the end.  `replies` are `count` (at most ISO_MOST_BATCH) replies; their `txn` is
 * the state after each.  Returns the outcome of the first that is not OK, or OK.
 *
 * What comes after a failure is not done, and its replies are REJECTED (STATE) with the state of the transaction: roll
 * back, or, where that is ACTIVE, go on.  When the connection breaks while a batch with ISO_COMMIT is under way, the
 * commit may have been done: what was not answered, the commit too, is UNKNOWN, unless the answer to an earlier request
 * of the batch was a failure.  An answer that this client could not keep (REJECTED, CLIENT) or that shows something of
 * somebody else's (FOREIGN) does not undo what was sent with it: the replies after it are answers then. */
iso_outcome iso_do_batch(iso_connection *connection, const iso_driver_request *requests, size_t count,
                         iso_reply *replies);

/* Makes ready what the request needs, so that iso_do and iso_do_batch need one round trip for it: prepares its
 * statement on the server.  Only outside of a transaction (else REJECTED, STATE), as it would take a snapshot there.
 * Nothing is locked afterwards.  Nobody needs to call it: statements on ordinary tables are prepared when first used,
 * and those on the table of a round that were not made ready are sent as text.  A connection keeps the statements of
 * two rounds, N and N + 1.  Does nothing where there is nothing to prepare.  The transaction is as it was. */
iso_outcome iso_prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);

static inline iso_outcome iso_begin(iso_connection *connection, const iso_isolation *isolation, iso_reply *reply) {
  return iso_do(connection, &(iso_driver_request){.kind = ISO_BEGIN, .isolation = isolation}, reply);
}
static inline iso_outcome iso_read(iso_connection *connection, int64_t key, iso_reply *reply) {
  return iso_do(connection, &(iso_driver_request){.kind = ISO_READ, .key = key}, reply);
}
static inline iso_outcome iso_write(iso_connection *connection, int64_t key, int64_t value, iso_reply *reply) {
  return iso_do(connection, &(iso_driver_request){.kind = ISO_WRITE, .key = key, .value = value}, reply);
}
static inline iso_outcome iso_read_list(iso_connection *connection, int64_t key, iso_reply *reply) {
  return iso_do(connection, &(iso_driver_request){.kind = ISO_READ_LIST, .key = key}, reply);
}
static inline iso_outcome iso_append(iso_connection *connection, int64_t key, int64_t value, iso_reply *reply) {
  return iso_do(connection, &(iso_driver_request){.kind = ISO_APPEND, .key = key, .value = value}, reply);
}
static inline iso_outcome iso_execute(iso_connection *connection, const char *sql, iso_reply *reply) {
  return iso_do(connection, &(iso_driver_request){.kind = ISO_EXECUTE, .sql = sql}, reply);
}
static inline iso_outcome iso_commit(iso_connection *connection, iso_reply *reply) {
  return iso_do(connection, &(iso_driver_request){.kind = ISO_COMMIT}, reply);
}
static inline iso_outcome iso_rollback(iso_connection *connection, iso_reply *reply) {
  return iso_do(connection, &(iso_driver_request){.kind = ISO_ROLLBACK}, reply);
}

/* Sets something for the whole session, by the database's own name (SET of PostgreSQL and MariaDB, PRAGMA of SQLite);
 * REJECTED where there is no such thing, or no such name or value. */
iso_outcome iso_set(iso_connection *connection, const char *name, const char *value, iso_reply *reply);

/* Asynchronously, for whoever has to interleave statements that may block: start, poll until true, finish.  Between
 * start and finish the connection takes no other call but iso_poll, iso_cancel and iso_connection_server_id.  A thread
 * of the connection does the work, so it is the same for every driver.  ISOPROOF_ERR_USAGE: one is under way already.
 */
isoproof_status iso_start(iso_connection *connection, const iso_driver_request *request, isoproof_error *error);
/* Waits up to timeout_ms (0: not at all) for the answer; true when it is there, or nothing was started. */
bool iso_poll(iso_connection *connection, uint32_t timeout_ms);
/* Waits for the answer as long as it takes, and hands it out. */
iso_outcome iso_finish(iso_connection *connection, iso_reply *reply);

/* Asks the server to end the statement that the connection waits for, from any thread.  The statement ends soon, with
 * CANCELLED, or had ended already.  False when the request could not be made. */
bool iso_cancel(iso_connection *connection);

/* Which of these sessions wait for a lock that another connection holds; `control` is a connection of its own, to the
 * same node, outside of a transaction.  ISOPROOF_ERR_UNSUPPORTED where the database cannot tell: wait for a while
 * instead.  With capabilities.blocked_lag_ms the call may take as long, because the server shows old news until then.
 */
isoproof_status iso_blocked(iso_connection *control, iso_connection *const *sessions, size_t count, bool *blocked,
                            isoproof_error *error);

#endif
