/* firebird.c - the driver for Firebird: transactions and their truth.
 *
 * A transaction is started, and its snapshot taken, when it is begun, not with its first statement.  Statements outside
 * of transactions run in a transaction that the server commits after each of them.
 */
#include "database/drivers/firebird.h"

#include <string.h>

#include "base/vector.h"

/* What a server that does not answer a cancellation is given on top of the limit. */
enum { GRACE_MS = 1000 };

/* ---- limits ---- */

static void start_clock(iso_connection *connection) {
  iso_fire_session *s = connection->state;
  uint32_t limit = connection->database->options.statement_timeout_ms;
  atomic_store(&s->timed_out, false);
  if (limit > 0) iso_fire_limit(s, limit, limit + GRACE_MS);
}

static void stop_clock(iso_connection *connection) {
  if (connection->database->options.statement_timeout_ms > 0) iso_fire_limit(connection->state, 0, 0);
}

/* A round trip. */
static bool is_there(iso_fire_session *s) {
  static const char item[] = {isc_info_attachment_id};
  char answer[32];
  return s->fb->isc_database_info(s->status, &s->attachment, sizeof item, item, sizeof answer, answer) == 0;
}

/* ---- transactions ---- */

static const struct {
  const char *name;
  char items[2];
  size_t count;
} levels[] = {
    {"read committed", {isc_tpb_read_committed, isc_tpb_rec_version}, 2},
    {"read committed no record version", {isc_tpb_read_committed, isc_tpb_no_rec_version}, 2},
    {"snapshot", {isc_tpb_concurrency}, 1},
    {"snapshot table stability", {isc_tpb_consistency}, 1},
};

/* The parameters of a transaction; returns their length. */
static unsigned short write_parameters(const iso_connection *connection, const iso_driver_request *request,
                                       char buffer[16]) {
  size_t used = 0;
  buffer[used++] = isc_tpb_version3;
  buffer[used++] = request->read_only ? isc_tpb_read : isc_tpb_write;
  buffer[used++] = isc_tpb_wait;
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (strcmp(levels[i].name, request->isolation->name) != 0) continue;
    for (size_t j = 0; j < levels[i].count; j++) buffer[used++] = levels[i].items[j];
  }
  uint32_t wait = connection->lock_ms > 0 ? connection->lock_ms : connection->database->options.lock_timeout_ms;
  uint32_t seconds = (wait + 999) / 1000;
  if (seconds > 0) {
    buffer[used++] = isc_tpb_lock_timeout;
    buffer[used++] = 4;
    for (int i = 0; i < 4; i++) buffer[used++] = (char)(unsigned char)(seconds >> (8 * i));
  }
  return (unsigned short)used;
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_fire_session *s = connection->state;
  char parameters[16];
  unsigned short length = write_parameters(connection, request, parameters);
  start_clock(connection);
  /* What commits by itself has nothing left to commit, but would hold up the removal of old versions. */
  if ((s->alone != 0 && s->fb->isc_commit_transaction(s->status, &s->alone) != 0) ||
      s->fb->isc_start_transaction(s->status, &s->txn, 1, &s->attachment, length, parameters) != 0)
    iso_fire_fail(connection, request, reply);
  else
    reply->txn = ISO_TXN_ACTIVE;
  stop_clock(connection);
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_fire_session *s = connection->state;
  start_clock(connection);
  if (s->fb->isc_commit_transaction(s->status, &s->txn) != 0)
    iso_fire_fail(connection, request, reply);
  else
    reply->txn = ISO_TXN_COMMITTED;
  stop_clock(connection);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_fire_session *s = connection->state;
  start_clock(connection);
  /* What was not committed never will be, whatever the answer is, if the connection ends here.  The library takes it
   * for rolled back when the connection is gone, and does not tell. */
  if (s->txn != 0 && s->fb->isc_rollback_transaction(s->status, &s->txn) != 0)
    iso_fire_fail(connection, request, reply);
  if (!is_there(s)) connection->broken = true;
  reply->txn = ISO_TXN_ABORTED;
  stop_clock(connection);
}

/* ---- statements ---- */

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  start_clock(connection);
  iso_fire_statement(connection, request, reply);
  stop_clock(connection);
}

static void execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  start_clock(connection);
  iso_fire_execute(connection, request, reply);
  stop_clock(connection);
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  start_clock(connection);
  if (!is_there(connection->state)) iso_fire_fail(connection, request, reply);
  stop_clock(connection);
}

const iso_driver iso_driver_firebird = {
    .id = ISO_DRIVER_FIREBIRD,
    .url_form = "firebird://user@host:port/path/to/database.fdb, or firebird:/path/to/database.fdb without a server",
    .can = {.sql = true,
            .lists = true,
            .predicates = true,
            .autocommit = true,
            .concurrent = true,
            .cancel = true,
            .persistent = true,
            .apart = true},
    .library = iso_fbclient_name,
    .open = iso_fire_open,
    .close = iso_fire_close,
    .connect = iso_fire_connect,
    .disconnect = iso_fire_disconnect,
    .cancel = iso_fire_cancel,
    .begin = begin,
    .statement = statement,
    .execute = execute,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
};
