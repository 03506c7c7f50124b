/* postgres_batch.c - a transaction, or a part of one, in one round trip: the pipeline mode of libpq.
 *
 * Everything goes to the server at once, with one point of synchronization behind it.  After an error the server skips
 * the rest up to that point, a COMMIT too, and the transaction stays aborted.
 */
#include "database/drivers/postgres.h"

static bool send_text(const iso_pg_session *s, const char *sql) {
  return s->pq->sendQueryParams(s->handle, sql, 0, NULL, NULL, NULL, NULL, 0) != 0;
}

/* A batch that begins its transaction may prepare before; within one, preparing would take a snapshot.  What cannot be
 * prepared is sent as text, and fails in its turn.  False when the connection is lost: nothing was begun. */
static bool prepare_all(iso_connection *connection, const iso_driver_request *requests, size_t count,
                        iso_reply *replies) {
  for (size_t i = 1; i < count && requests[0].kind == ISO_BEGIN; i++) {
    iso_sql sql = iso_sql_of(&requests[i]);
    uint32_t first, end;
    if (sql == ISO_SQL_STATEMENTS) continue;
    iso_sql_tables(connection->database, &requests[i], &first, &end);
    for (uint32_t place = first; place < end; place++) {
      if (!iso_pg_prepares(connection, &requests[i], sql, place)) continue;
      bool good = iso_pg_prepare(connection, &requests[i], &replies[i], sql, place);
      iso_reply_clear(&replies[i], connection->txn);
      if (!good && connection->broken) return false;
    }
  }
  return true;
}

static bool send_statements(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_pg_session *s = connection->state;
  iso_sql sql = iso_sql_of(request);
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++) {
    char text[ISO_SQL_BYTES];
    bool sent;
    if (s->prepared[place][sql] && iso_pg_prepares(connection, request, sql, place))
      sent = iso_pg_send_prepared(connection, request, sql, place);
    else
      sent = iso_pg_text(connection, request, reply, sql, place, true, text) != NULL && send_text(s, text);
    if (!sent) return false;
  }
  return true;
}

static bool send_all(iso_connection *connection, const iso_driver_request *requests, size_t count, iso_reply *replies) {
  iso_pg_session *s = connection->state;
  for (size_t i = 0; i < count; i++) {
    char sql[ISO_PG_BEGIN_BYTES];
    bool sent;
    if (requests[i].kind == ISO_BEGIN) {
      iso_pg_begin_text(&requests[i], sql);
      sent = send_text(s, sql);
    } else if (requests[i].kind == ISO_COMMIT) {
      sent = send_text(s, "COMMIT");
    } else {
      sent = send_statements(connection, &requests[i], &replies[i]);
    }
    if (!sent) return false;
  }
  return s->pq->pipelineSync(s->handle) != 0;
}

/* Takes the answers to one request; false when it failed on the server. */
static bool take_one(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_pg_session *s = connection->state;
  bool plain = request->kind != ISO_BEGIN && request->kind != ISO_COMMIT;
  uint32_t first = 0, end = 1;
  if (plain) iso_sql_tables(connection->database, request, &first, &end);
  reply->txn = connection->txn;
  bool kept = true;
  for (uint32_t place = first; place < end; place++) {
    PGresult *result = iso_pg_answer(connection, request, reply);
    if (result == NULL) return false;
    if (request->kind == ISO_BEGIN)
      reply->txn = ISO_TXN_ACTIVE;
    else if (request->kind == ISO_COMMIT)
      iso_pg_take_commit(connection, result, request, reply);
    else if (kept) /* if not, the server goes on all the same */
      kept = iso_pg_take_rows(connection, result, request, reply);
    s->pq->clear(result);
  }
  connection->txn = reply->txn;
  return true;
}

/* Leaves out what was not taken, up to the point of synchronization.  False when it does not come. */
static bool synchronize(iso_connection *connection) {
  iso_pg_session *s = connection->state;
  bool ended = false; /* the answers to a statement end with NULL, and two of these end it all */
  while (iso_pg_wait(s, iso_pg_deadline(connection))) {
    PGresult *result = s->pq->getResult(s->handle);
    ExecStatusType status = s->pq->resultStatus(result);
    s->pq->clear(result);
    if (status == PGRES_PIPELINE_SYNC) return s->pq->exitPipelineMode(s->handle) != 0;
    if (s->pq->status(s->handle) != CONNECTION_OK || (result == NULL && ended)) return false;
    ended = result == NULL;
  }
  return false;
}

bool iso_pg_batch(iso_connection *connection, const iso_driver_request *requests, size_t count, iso_reply *replies) {
  iso_pg_session *s = connection->state;
  bool prepared = prepare_all(connection, requests, count, replies) && s->pq->enterPipelineMode(s->handle) != 0;
  if (!prepared || !send_all(connection, requests, count, replies)) {
    iso_pg_not_sent(connection, &requests[0], &replies[0]);
    return prepared;
  }
  size_t i = 0;
  while (i < count && take_one(connection, &requests[i], &replies[i])) i++;
  if (!connection->broken && !synchronize(connection)) connection->broken = true;
  return true;
}
