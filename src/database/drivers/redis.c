/* redis.c - the driver for Redis: transactions by WATCH, MULTI and EXEC, and their truth.
 *
 * What a transaction writes is kept here until it commits, and then sent at once: MULTI, the commands, EXEC.  Nothing
 * of it has taken effect before that, and all of it with the answer to EXEC, unless that is nil: then a key that the
 * server watched was changed, and nothing took effect.
 */
#include "database/drivers/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void start(iso_redis_session *s, bool careful) {
  s->pending.writes.count = 0;
  s->careful = careful;
}

/* ---- committing ---- */

static void send_write(const iso_database *database, iso_redis_session *s, const iso_pending_write *write) {
  char key[ISO_REDIS_KEY_BYTES], table[ISO_TABLE_BYTES], code[ISO_REDIS_CODE_BYTES];
  bool list = write->kind == ISO_PENDING_APPEND;
  long long value = write->value, zero = database->tag.tag;
  iso_redis_key(database, list ? 'l' : 'v', write->key, key);
  iso_database_table(database, write->key, table);
  iso_redis_code(write->key, code);
  switch (write->kind) {
  case ISO_PENDING_SET:
    iso_redis_send(s, "SET %s %lld", key, value);
    break;
  case ISO_PENDING_ADD:
    iso_redis_send(s, "SET %s %lld NX", key, zero);
    iso_redis_send(s, "INCRBY %s %lld", key, value - zero);
    break;
  case ISO_PENDING_DELETE:
    iso_redis_send(s, "DEL %s", key);
    iso_redis_send(s, "ZREM %s:k %s", table, code);
    return;
  default:
    iso_redis_send(s, "RPUSH %s %lld", key, value);
    break;
  }
  iso_redis_send(s, list ? "ZADD %s:m 0 %s" : "ZADD %s:k 0 %s", table, code);
}

/* What EXEC answered to a transaction of which no command was refused. */
static void judge(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                  const redisReply *answer) {
  if (answer->type == REDIS_REPLY_NIL) {
    iso_reply_fail(connection, request, reply, ISO_CLASS_SERIALIZATION, ISO_TXN_ABORTED, "EXEC",
                   "a key that was read has changed since");
    return;
  }
  /* A command that fails within EXEC undoes nothing of the others. */
  for (size_t i = 0; answer->type == REDIS_REPLY_ARRAY && i < answer->elements; i++) {
    if (answer->element[i]->type != REDIS_REPLY_ERROR) continue;
    iso_redis_fail(connection, request, reply, answer->element[i], ISO_TXN_UNKNOWN);
    return;
  }
  if (answer->type == REDIS_REPLY_ARRAY)
    reply->txn = ISO_TXN_COMMITTED;
  else
    iso_redis_fail(connection, request, reply, answer, ISO_TXN_ABORTED);
}

static void send_transaction(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  redisReply *first = NULL, *answer = NULL;
  iso_redis_send(s, "MULTI");
  for (size_t i = 0; i < s->pending.writes.count; i++) send_write(connection->database, s, &s->pending.writes.items[i]);
  iso_redis_send(s, "EXEC");
  while (s->sent > 0) {
    if (answer != NULL) freeReplyObject(answer);
    answer = iso_redis_take(connection, request, reply);
    if (answer == NULL) break;
    if (answer->type != REDIS_REPLY_ERROR || first != NULL) continue;
    first = answer;
    answer = NULL;
  }
  s->watching = false;
  /* A command that is refused, or EXEC itself, is the end of all of them. */
  if (!connection->broken && first != NULL)
    iso_redis_fail(connection, request, reply, first, ISO_TXN_ABORTED);
  else if (!connection->broken && answer != NULL)
    judge(connection, request, reply, answer);
  s->sent = 0;
  if (first != NULL) freeReplyObject(first);
  if (answer != NULL) freeReplyObject(answer);
}

/* ---- requests ---- */

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  start(connection->state, strcmp(request->isolation->name, "watch") == 0);
  reply->txn = ISO_TXN_ACTIVE;
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_redis_session *s = connection->state;
  /* Reads that nobody watches are done already. */
  if (s->pending.writes.count > 0 || s->watching)
    send_transaction(connection, request, reply);
  else
    reply->txn = ISO_TXN_COMMITTED;
}

/* Nothing was sent that would have to be undone, but keys may be watched. */
static void forget(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  start(s, false);
  if (!s->watching || connection->broken) return;
  s->watching = false;
  iso_redis_send(s, "UNWATCH");
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer != NULL) freeReplyObject(answer);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  forget(connection, request, reply);
  reply->txn = ISO_TXN_ABORTED;
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_session *s = connection->state;
  bool inside = connection->txn == ISO_TXN_ACTIVE;
  if (!inside) start(s, false);
  iso_redis_statement(connection, request, reply);
  if (inside) return;
  if (reply->outcome == ISO_OUTCOME_OK && s->pending.writes.count > 0) {
    int64_t affected = reply->affected;
    send_transaction(connection, request, reply);
    if (reply->outcome == ISO_OUTCOME_OK) reply->affected = affected;
  } else if (s->watching) {
    iso_reply ignored = {.txn = reply->txn};
    forget(connection, request, &ignored);
    iso_reply_free(&ignored);
  }
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_redis_send(connection->state, "PING");
  redisReply *answer = iso_redis_ask(connection, request, reply);
  if (answer != NULL) freeReplyObject(answer);
}

/* Redis does one command after the other: nobody ever waits for a lock. */
static bool waits(iso_connection *connection) {
  (void)connection;
  return false;
}

const iso_driver iso_driver_redis = {
    .id = ISO_DRIVER_REDIS,
    .url_form = "redis://user@host:port/number",
    .can = {.lists = true,
            .predicates = true,
            .autocommit = true,
            .concurrent = true,
            .blocked = true,
            .nodes = true,
            .persistent = true},
    .library = iso_redis_library,
    .open = iso_redis_open,
    .close = iso_redis_close,
    .connect = iso_redis_connect,
    .disconnect = iso_redis_disconnect,
    .waits = waits,
    .settled = iso_redis_settled,
    .begin = begin,
    .statement = statement,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
    .list_tables = iso_redis_list_tables,
    .find_table = iso_redis_find_table,
    .make_table = iso_redis_make_table,
    .drop_table = iso_redis_drop_table,
};
