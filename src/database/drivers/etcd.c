/* etcd.c - the driver for etcd: transactions as etcd's own client makes them, and their truth.
 *
 * What a transaction writes is kept here until it commits, and then sent at once, together with what has to be as it
 * was read.  Nothing of it has taken effect before that, and all of it with the answer, unless that says that something
 * changed: then nothing did.
 */
#include "database/drivers/etcd.h"

#include <string.h>

/* By the names of the constants of etcd's client (client/v3/concurrency). */
static const iso_etcd_level levels[] = {
    {"read committed", .local = true},
    {"repeatable reads", .local = true, .check_reads = true},
    {"serializable", .snapshot = true, .check_reads = true},
    {"serializable snapshot", .snapshot = true, .check_reads = true, .check_writes = true},
};

/* Statements outside of a transaction. */
static const iso_etcd_level alone = {"", .snapshot = true};

static void start(iso_etcd_session *s, const iso_etcd_level *level) {
  s->pending.writes.count = 0;
  s->seen.count = s->ranges.count = s->texts.count = 0;
  s->snapshot = 0;
  s->level = level;
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_etcd_level *level = &levels[0];
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (strcmp(levels[i].name, request->isolation->name) == 0) level = &levels[i];
  start(connection->state, level);
  reply->txn = ISO_TXN_ACTIVE;
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  /* Reads that nobody compares are done already. */
  if (iso_etcd_has_more(connection->state))
    iso_etcd_send(connection, request, reply);
  else
    reply->txn = ISO_TXN_COMMITTED;
}

/* Nothing was sent that would have to be undone. */
static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  (void)request;
  start(connection->state, &alone);
  reply->txn = ISO_TXN_ABORTED;
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_etcd_session *s = connection->state;
  bool inside = connection->txn == ISO_TXN_ACTIVE;
  if (!inside) start(s, &alone);
  iso_etcd_statement(connection, request, reply);
  if (inside || reply->outcome != ISO_OUTCOME_OK || s->pending.writes.count == 0) return;
  int64_t affected = reply->affected;
  iso_etcd_send(connection, request, reply);
  if (reply->outcome == ISO_OUTCOME_OK) reply->affected = affected;
}

/* A read of a key that nobody has, which all nodes have to agree on. */
static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  isoproof_json json;
  iso_etcd_answer answer = {.revision = 0};
  char key[ISO_ETCD_KEY_BYTES];
  iso_etcd_begin(connection->state, &json);
  iso_etcd_mark_key(connection->database, "isoproof_", key);
  iso_etcd_write_range(&json, key, NULL);
  (void)iso_etcd_ask(connection, request, reply, &json, "/v3/kv/range", false, &answer);
  iso_etcd_answer_free(&answer);
}

/* There are no locks: nobody ever waits for one. */
static bool waits(iso_connection *connection) {
  (void)connection;
  return false;
}

const iso_driver iso_driver_etcd = {
    .id = ISO_DRIVER_ETCD,
    .url_form = "etcd://user@host:port,host:port/prefix?option=value",
    .can = {.lists = true,
            .predicates = true,
            .autocommit = true,
            .concurrent = true,
            .blocked = true,
            .cancel = true,
            .nodes = true,
            .persistent = true},
    .library = iso_curl_name,
    .open = iso_etcd_open,
    .close = iso_etcd_close,
    .connect = iso_etcd_connect,
    .disconnect = iso_etcd_disconnect,
    .cancel = iso_etcd_cancel,
    .waits = waits,
    .settled = iso_etcd_settled,
    .begin = begin,
    .statement = statement,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
    .list_tables = iso_etcd_list_tables,
    .find_table = iso_etcd_find_table,
    .make_table = iso_etcd_make_table,
    .drop_table = iso_etcd_drop_table,
};
