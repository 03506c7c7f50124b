/* driver_table.h - what a driver consists of: the inside of driver.h, for the drivers themselves.
 *
 * The common code owns iso_database and iso_connection; a driver owns what hangs at their `state`.
 */
#ifndef ISO_DATABASE_DRIVER_TABLE_H
#define ISO_DATABASE_DRIVER_TABLE_H

#include <stdatomic.h>

#include "database/claims.h"
#include "database/driver.h"
#include "database/driver_sql.h"
#include "database/mark.h"
#include "database/products.h"
#include "database/secrets.h"
#include "database/url.h"
#include "database/value_tag.h"

enum { ISO_VERSION_BYTES = 128, ISO_MOST_SETTINGS = 32, ISO_SETTING_BYTES = 64, ISO_STATE_BYTES = 64 };

/* Does one request.  The common code has checked that the connection stands and that the request fits the state of the
 * transaction, has emptied the reply, and has set reply->txn to that state.  The driver fills in results, and on
 * failure calls iso_reply_fail or iso_reply_lost; in any case reply->txn must be the truth in the end. */
typedef void (*iso_request_fn)(iso_connection *connection, const iso_driver_request *request, iso_reply *reply);

struct iso_driver {
  iso_driver_id id;
  const char *url_form;
  iso_capabilities can;
  bool tags; /* values carry the run, although `setup` is the driver's own: others can reach them */
  void (*library)(char *buffer, size_t size); /* may be NULL */
  /* Looks at database->urls and fills in version, settings, isolations, default_isolation, can, dialect, state. */
  isoproof_status (*open)(iso_database *database, isoproof_error *error);
  void (*close)(iso_database *database);
  /* Fills in connection->state and server_id. */
  isoproof_status (*connect)(iso_connection *connection, isoproof_error *error);
  void (*disconnect)(iso_connection *connection); /* also after a failed connect */
  bool (*cancel)(iso_connection *connection);     /* from any thread; may be NULL */
  /* Drivers that see for themselves who waits for a lock: whether the request under way does, by what happened after
   * the call began; from any thread.  NULL where the server is asked. */
  bool (*waits)(iso_connection *connection);
  /* Drivers without SQL: the next two; others leave them NULL. */
  isoproof_status (*setup)(iso_database *database, isoproof_error *error);
  isoproof_status (*teardown)(iso_database *database, isoproof_error *error);
  /* Whether the node takes no writes now, as the last answer told; NULL where every node takes them. */
  bool (*read_only)(const iso_connection *connection);
  /* After a set-up, on several nodes: whether this node has what the first one had; may be NULL. */
  isoproof_status (*settled)(iso_connection *connection, bool *settled, isoproof_error *error);
  /* `statement` does what reads or changes rows; `execute` is NULL where there is no SQL. */
  iso_request_fn begin, statement, execute, commit, rollback, ping;
  iso_request_fn describe, list_tables; /* NULL where the database is known, and so its catalogue */
  /* Which layouts and access paths there are, besides keyed and auto: bits 1 << ISO_LAYOUT_..., 1 << ISO_ACCESS_...; a
   * layout that the dialect has no words for is refused all the same. */
  unsigned layouts, accesses;
  bool plain; /* ISO_SENDING_PLAIN */
  /* Prepares the statement of a request, at the places of iso_sql_tables, outside of a transaction; forgets those that
   * were prepared for a place.  NULL where nothing is prepared, or not ahead of its use. */
  iso_request_fn prepare;
  void (*forget)(iso_connection *connection, uint32_t place);
  /* Sends all requests at once, see iso_do_batch for those that are; NULL where that is not possible.  Beforehand the
   * common code does what it does for a single request, for all of them.  The driver answers them in order, sets
   * connection->txn to reply->txn after each that succeeds and before it begins with the next, and returns after the
   * first that the server refuses, at the end of which the connection takes requests again or is broken.  False when
   * the connection broke before anything was sent. */
  bool (*batch)(iso_connection *connection, const iso_driver_request *requests, size_t count, iso_reply *replies);
  iso_request_fn find_table, make_table, drop_table; /* NULL where there is SQL */
};

struct iso_database {
  const iso_driver *driver;
  iso_url *urls;
  size_t nodes;
  char table[ISO_TABLE_BYTES];
  iso_database_options options; /* without zeros where zero means a default; `table` points to the above */
  iso_secrets secrets;          /* complete when the database is open */
  char *password;               /* what the option `password` points to, or NULL */
  iso_capabilities can;
  iso_sql_dialect dialect;
  const iso_product *product; /* behind a wire protocol that several speak; NULL elsewhere */
  char version[ISO_VERSION_BYTES];
  iso_isolation isolations[ISO_MOST_ISOLATIONS];
  size_t isolation_count, default_isolation;
  iso_setting settings[ISO_MOST_SETTINGS];
  size_t setting_count;
  char setting_text[ISO_MOST_SETTINGS][2][ISO_SETTING_BYTES];
  uint64_t run;
  iso_value_tag tag;
  bool made;              /* the tables are there, and ours */
  bool added;             /* columns may be added to tables of somebody else's (database/added.h) */
  bool placed;            /* there is a place for the tables of a script (database/home.h) */
  iso_connection *keeper; /* holds the lock of the run while there are tables; NULL where there are no such locks */
  char states[ISO_MOST_TABLES][ISO_STATE_BYTES]; /* see iso_catalogue_state */
  uint64_t rounds_from, rounds_to;               /* [from, to): whose tables may be there */
  iso_connection *maker;                         /* makes and removes them; NULL until the first */
  void *state;
};

typedef struct iso_worker iso_worker;

struct iso_connection {
  iso_database *database;
  size_t node;
  uint64_t server_id;
  iso_txn_state txn;
  bool doomed; /* a transaction was aborted and its session has not ended it yet */
  atomic_bool broken;
  /* Why it was aborted, for the answer to a commit. */
  iso_error_class doom_class;
  char doom_code[ISO_CODE_BYTES], doom_message[ISO_MESSAGE_BYTES];
  atomic_bool cancelled;             /* iso_cancel was called during this request */
  uint32_t lock_ms;                  /* how long transactions that begin now wait for a lock; 0: the option */
  double last_look;                  /* at who waits, monotonic seconds; 0 never */
  iso_worker *worker;                /* NULL until iso_start is called for the first time */
  uint64_t rounds[ISO_ROUND_PLACES]; /* whose statements are prepared at the places for rounds; 0 none */
  void *state;
};

/* ---- for drivers ---- */

/* A failure that the server (or the client) reported while the connection stands.  reply->txn becomes `txn`, but for
 * requests outside of a transaction, which become ABORTED, whatever `txn` says (UNKNOWN stays). */
void iso_reply_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    iso_error_class class, iso_txn_state txn, const char *code, const char *message);
/* The connection is gone: LOST, or UNKNOWN where a commit may have happened. */
void iso_reply_lost(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    iso_error_class class, const char *code, const char *message);
/* The client ran out of memory or met a limit while it took the answer: the transaction stays as it is. */
void iso_reply_client(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                      const char *message);
/* Nothing was done, and why; the state is that of the connection. */
void iso_reply_refuse(iso_connection *connection, iso_reply *reply, iso_error_class class, const char *message);
/* Empties a reply. */
void iso_reply_clear(iso_reply *reply, iso_txn_state txn);
/* Whether a failure of the class is worth a new attempt. */
bool iso_class_transient(iso_error_class class);

/* Adds to a reply; false when memory or a limit is exceeded. */
bool iso_reply_add_cell(iso_reply *reply, const char *text, size_t length); /* text NULL: NULL */
bool iso_reply_add_name(iso_reply *reply, const char *name);                /* of the next column */
bool iso_reply_add_row(iso_reply *reply, int64_t key, int64_t value);
/* By key, for drivers whose database does not do it. */
void iso_reply_sort_rows(iso_reply *reply);
/* Parses "1,2,3"; false when it is no such list, or too long. */
bool iso_reply_set_list(iso_reply *reply, const char *text, size_t length);

/* Whether the statement of a request is one to be prepared, as far as the common code knows: for the table of a round,
 * only if it was prepared ahead. */
bool iso_sql_prepares(const iso_connection *connection, const iso_driver_request *request);

/* Takes passwords out of the error, unless the status is ISOPROOF_OK; returns the status.  Whatever fills an error from
 * the words of a client library ends with it. */
isoproof_status iso_database_hide(const iso_database *database, isoproof_status status, isoproof_error *error);

/* Adds a setting, cut to its room; more than ISO_MOST_SETTINGS are left out. */
void iso_database_add_setting(iso_database *database, const char *name, const char *value);
void iso_database_add_isolation(iso_database *database, const char *name, const char *claims, const char *note);
/* One that the database documents. */
void iso_database_add_claim(iso_database *database, iso_claim claim);
/* Repeatable read as InnoDB has it, with or without innodb_snapshot_isolation. */
void iso_database_add_innodb(iso_database *database, bool snapshot);

#define ISO_X(name, id, alias, style, title) extern const iso_driver iso_driver_##id;
ISO_DRIVER_LIST(ISO_X)
#undef ISO_X

/* ---- foreign.c: values that carry the run, and what does not ---- */

/* Gives the values of a request the tag of the run; false when one is too large for that. */
bool iso_tag_request(const iso_value_tag *tag, iso_driver_request *request);
/* Takes the tag from the values of the answer to what was asked; FOREIGN when one has another, or when a table of ours
 * is no longer there. */
void iso_untag_reply(const iso_database *database, const iso_driver_request *request, iso_reply *reply);

/* Waits until all nodes have what the first one has. */
isoproof_status iso_database_settle(iso_database *database, isoproof_error *error);

/* ---- driver_options.c ---- */

/* Refuses what the opened database does not have, and takes from its capabilities what the options leave out. */
isoproof_status iso_database_check_options(iso_database *database, isoproof_error *error);

/* ---- driver_run.c: the steps of a request, for driver_batch.c ---- */

/* What the driver gets: with the tag of the run and a level.  False, and the reply says why, when the database cannot
 * do it. */
bool iso_run_ready(iso_connection *connection, const iso_driver_request *given, iso_driver_request *request,
                   iso_reply *reply);
/* After the driver's answer: in the order of keys, without tags, and what became of the transaction. */
void iso_run_answered(iso_connection *connection, const iso_driver_request *given, bool was_inside, iso_reply *reply);
/* Ends on the server what is aborted already. */
void iso_run_end_doomed(iso_connection *connection, iso_reply *reply);

/* ---- tables.c: those of drivers with SQL ---- */

isoproof_status iso_tables_setup(iso_database *database, isoproof_error *error);
isoproof_status iso_tables_join(iso_database *database, isoproof_error *error);
isoproof_status iso_tables_teardown(iso_database *database, isoproof_error *error);
isoproof_status iso_tables_verify(iso_database *database, isoproof_error *error);
void iso_tables_learn(iso_database *database);

/* Connects to the first node that takes writes, or to the first one of all where none does. */
isoproof_status iso_connect_writable(iso_database *database, iso_connection **connection, isoproof_error *error);

/* ---- driver_async.c ---- */

void iso_worker_free(iso_worker *worker);

/* ---- driver_blocked.c ---- */

/* Whether the session with that number waits, by what the monitor of InnoDB prints of every transaction.  False when it
 * does not tell: it skips what it would have to wait for, and cuts what is long. */
bool iso_innodb_monitor(const char *text, uint64_t session, bool *waits);

#endif
