/* driver_batch.c - several requests in one round trip, statements made ready ahead, and the truth about both. */
#include <string.h>

#include "database/driver_table.h"

/* ---- statements made ready ---- */

bool iso_sql_prepares(const iso_connection *connection, const iso_driver_request *request) {
  if (connection->database->options.statements == ISO_SENDING_PLAIN) return false;
  return request->round == 0 || connection->rounds[request->round % ISO_ROUND_PLACES] == request->round;
}

/* The place of the round becomes that of this round. */
static void take_place(iso_connection *connection, uint64_t round) {
  uint64_t *owner = &connection->rounds[round % ISO_ROUND_PLACES];
  if (*owner == round) return;
  connection->database->driver->forget(connection, iso_sql_round_place(round));
  *owner = round;
}

iso_outcome iso_prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  const iso_database *database = connection->database;
  iso_driver_request ready;
  iso_reply_clear(reply, connection->txn);
  bool nothing = iso_sql_of(request) == ISO_SQL_STATEMENTS || database->driver->prepare == NULL ||
                 database->options.statements == ISO_SENDING_PLAIN;
  if (connection->txn == ISO_TXN_ACTIVE || connection->doomed) {
    iso_reply_refuse(connection, reply, ISO_CLASS_STATE, "statements are prepared outside of transactions");
  } else if (!nothing && !connection->broken && iso_run_ready(connection, request, &ready, reply)) {
    if (request->round > 0) take_place(connection, request->round);
    database->driver->prepare(connection, &ready, reply);
    /* Nothing was done to any row. */
    if (reply->outcome == ISO_OUTCOME_UNKNOWN) reply->outcome = ISO_OUTCOME_LOST;
    reply->txn = connection->txn;
    iso_untag_reply(database, request, reply);
  } else if (connection->broken) {
    iso_reply_lost(connection, &(iso_driver_request){.kind = ISO_PING}, reply, ISO_CLASS_CONNECTION, "",
                   "not connected");
  }
  if (reply->outcome != ISO_OUTCOME_OK) iso_secrets_clean(&database->secrets, reply->message, sizeof reply->message);
  return reply->outcome;
}

/* ---- batches ---- */

/* Whether the requests are a transaction or a part of one that the driver can send at once. */
static bool goes_at_once(const iso_connection *connection, const iso_driver_request *requests, size_t count) {
  bool inside = connection->txn == ISO_TXN_ACTIVE, begins = requests[0].kind == ISO_BEGIN;
  if (!connection->database->can.batches || count < 2 || connection->broken || begins == inside) return false;
  for (size_t i = begins; i < count; i++) {
    bool commits = i + 1 == count && requests[i].kind == ISO_COMMIT;
    if (!commits && iso_sql_of(&requests[i]) == ISO_SQL_STATEMENTS) return false;
  }
  return true;
}

/* What came after the failure of request `at` was not done, or, when the connection went with it, is not known. */
static void fill_rest(iso_connection *connection, size_t at, size_t count, iso_reply *replies) {
  const iso_reply *failed = &replies[at];
  bool gone = failed->outcome == ISO_OUTCOME_LOST || failed->outcome == ISO_OUTCOME_UNKNOWN;
  for (size_t i = at + 1; i < count; i++) {
    iso_reply_refuse(connection, &replies[i], ISO_CLASS_STATE, "not done: an earlier request of the batch failed");
    replies[i].txn = failed->txn;
    if (!gone) continue;
    replies[i].outcome = failed->outcome;
    replies[i].error_class = failed->error_class;
    memcpy(replies[i].code, failed->code, sizeof failed->code);
    memcpy(replies[i].message, failed->message, sizeof failed->message);
  }
}

/* The driver's answers, one after the other, as if each had been asked for by itself.  Returns how many were answered
 * before the first failure. */
static size_t take_answers(iso_connection *connection, const iso_driver_request *given, size_t count, bool was_inside,
                           bool commits, iso_reply *replies) {
  for (size_t i = 0; i < count; i++) {
    iso_reply *reply = &replies[i];
    /* The commit was under way with everything else. */
    if (reply->outcome == ISO_OUTCOME_LOST && commits) {
      reply->outcome = ISO_OUTCOME_UNKNOWN;
      reply->txn = ISO_TXN_UNKNOWN;
    }
    /* An answer that this client cannot keep, or a value of somebody else's that is found now, does not undo what was
     * done after it. */
    bool unkept = reply->outcome == ISO_OUTCOME_REJECTED && reply->error_class == ISO_CLASS_CLIENT;
    bool failed = reply->outcome != ISO_OUTCOME_OK && !unkept;
    iso_run_answered(connection, &given[i], was_inside, reply);
    if (failed) return i;
    was_inside = true;
  }
  return count;
}

static void send_at_once(iso_connection *connection, const iso_driver_request *given,
                         const iso_driver_request *requests, size_t count, iso_reply *replies) {
  if (given[0].kind == ISO_BEGIN) connection->txn = ISO_TXN_IDLE;
  bool was_inside = connection->txn == ISO_TXN_ACTIVE;
  for (size_t i = 0; i < count; i++) iso_reply_clear(&replies[i], connection->txn);
  atomic_store(&connection->cancelled, false);
  bool sent = connection->database->driver->batch(connection, requests, count, replies);
  bool commits = sent && given[count - 1].kind == ISO_COMMIT;
  size_t answered = take_answers(connection, given, count, was_inside, commits, replies);
  if (answered < count) fill_rest(connection, answered, count, replies);
  for (size_t i = 0; i < count; i++)
    if (replies[i].outcome != ISO_OUTCOME_OK)
      iso_secrets_clean(&connection->database->secrets, replies[i].message, sizeof replies[i].message);
}

static void send_each(iso_connection *connection, const iso_driver_request *requests, size_t count,
                      iso_reply *replies) {
  for (size_t i = 0; i < count; i++) {
    if (iso_do(connection, &requests[i], &replies[i]) == ISO_OUTCOME_OK) continue;
    for (size_t j = i + 1; j < count; j++) iso_reply_clear(&replies[j], connection->txn);
    fill_rest(connection, i, count, replies);
    return;
  }
}

iso_outcome iso_do_batch(iso_connection *connection, const iso_driver_request *requests, size_t count,
                         iso_reply *replies) {
  iso_driver_request ready[ISO_MOST_BATCH];
  if (count == 0) return ISO_OUTCOME_OK;
  if (count > ISO_MOST_BATCH) {
    for (size_t i = 0; i < count; i++) {
      iso_reply_clear(&replies[i], connection->txn);
      iso_reply_refuse(connection, &replies[i], ISO_CLASS_CLIENT, "too many requests for one batch");
    }
    return ISO_OUTCOME_REJECTED;
  }
  if (connection->doomed && requests[0].kind == ISO_BEGIN) {
    iso_reply_clear(&replies[0], connection->txn);
    iso_run_end_doomed(connection, &replies[0]);
  }
  /* What cannot be done is refused in its turn. */
  bool at_once = goes_at_once(connection, requests, count);
  for (size_t i = 0; i < count && at_once; i++)
    at_once = iso_run_ready(connection, &requests[i], &ready[i], &replies[i]);
  if (at_once)
    send_at_once(connection, requests, ready, count, replies);
  else
    send_each(connection, requests, count, replies);
  for (size_t i = 0; i < count; i++)
    if (replies[i].outcome != ISO_OUTCOME_OK) return replies[i].outcome;
  return ISO_OUTCOME_OK;
}
