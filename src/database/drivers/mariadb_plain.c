/* mariadb_plain.c - statements with their numbers in the text, and several of them in one text: a transaction, or a
 * part of one, in one round trip.
 *
 * The server stops at the first statement of a text that fails, and answers none after it.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "database/drivers/mariadb.h"

/* ---- one statement ---- */

/* Takes the rows of an answer in text; false when they cannot be kept. */
static bool take_rows(const iso_mysql *my, MYSQL_RES *result, const iso_driver_request *request, iso_reply *reply) {
  MYSQL_ROW row;
  unsigned columns = my->mysql_num_fields(result);
  while ((row = my->mysql_fetch_row(result)) != NULL) {
    const unsigned long *lengths = my->mysql_fetch_lengths(result);
    int64_t numbers[2] = {0, 0};
    bool null = row[columns - 1] == NULL;
    if (null) continue;
    if (request->kind == ISO_READ_LIST) {
      if (lengths[0] > ISO_MOST_REPLY_BYTES || !iso_reply_set_list(reply, row[0], lengths[0])) return false;
      continue;
    }
    for (unsigned i = 0; i < columns && i < 2; i++)
      if (row[i] == NULL || !iso_parse_i64(row[i], lengths[i], &numbers[i])) return false;
    if (request->kind == ISO_READ_RANGE) {
      if (!iso_reply_add_row(reply, numbers[0], numbers[1])) return false;
      continue;
    }
    reply->present = request->kind == ISO_READ;
    reply->value = request->kind == ISO_COUNT ? reply->value + numbers[0] : numbers[0];
  }
  return true;
}

/* Takes the answer to the statement whose turn it is.  False when the server refused it; what cannot be kept is only
 * said by the reply. */
static bool take_answer(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_maria_session *s = connection->state;
  MYSQL_RES *result = s->my->mysql_store_result(s->handle);
  if (result == NULL && (s->my->mysql_errno(s->handle) != 0 || s->my->mysql_field_count(s->handle) != 0)) {
    iso_maria_fail(connection, request, reply, NULL);
    return false;
  }
  bool kept = true;
  if (result != NULL)
    kept = take_rows(s->my, result, request, reply);
  else
    reply->affected = (int64_t)s->my->mysql_affected_rows(s->handle);
  s->my->mysql_free_result(result);
  if (!kept) iso_reply_client(connection, request, reply, "the answer is too large, or no list of numbers");
  return true;
}

static const char *plain_text(const iso_database *database, const iso_driver_request *request, iso_sql sql,
                              uint32_t place, char text[ISO_SQL_BYTES]) {
  iso_sql_form form = iso_sql_form_of(database, ISO_SQL_MARIADB);
  char name[ISO_TABLE_BYTES];
  int64_t numbers[2];
  iso_sql_numbers(sql, request, numbers);
  iso_sql_place_name(database, request, place, name);
  return iso_sql_write(&form, sql, name, numbers, text);
}

bool iso_maria_run_plain(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, iso_sql sql,
                         uint32_t place) {
  iso_maria_session *s = connection->state;
  char text[ISO_SQL_BYTES];
  if (plain_text(connection->database, request, sql, place, text) == NULL) {
    iso_reply_client(connection, request, reply, "the statement is too long");
    return false;
  }
  if (s->my->mysql_real_query(s->handle, text, (unsigned long)strlen(text)) != 0) {
    iso_maria_fail(connection, request, reply, NULL);
    return false;
  }
  return take_answer(connection, request, reply) && reply->outcome == ISO_OUTCOME_OK;
}

/* ---- several ---- */

bool iso_maria_set_multi(iso_connection *connection, const iso_driver_request *request, iso_reply *reply, bool multi) {
  iso_maria_session *s = connection->state;
  if (s->multi == multi) return true;
  if (s->my->mysql_set_server_option(s->handle,
                                     multi ? MYSQL_OPTION_MULTI_STATEMENTS_ON : MYSQL_OPTION_MULTI_STATEMENTS_OFF)) {
    iso_maria_fail(connection, request, reply, NULL);
    return false;
  }
  s->multi = multi;
  return true;
}

static bool add_text(iso_maria_session *s, const char *text) {
  size_t length = strlen(text);
  if (!iso_vec_reserve(&s->text, length + 1)) return false;
  memcpy(s->text.items + s->text.count, text, length);
  s->text.items[s->text.count + length] = ';';
  s->text.count += length + 1;
  return true;
}

/* Adds the statements of a request to the text, and how many they are. */
static bool add_request(iso_connection *connection, const iso_driver_request *request, unsigned *statements) {
  iso_maria_session *s = connection->state;
  char text[ISO_SQL_BYTES];
  *statements = 1;
  if (request->kind == ISO_COMMIT) return add_text(s, "COMMIT");
  if (request->kind == ISO_BEGIN) {
    if (s->isolation != request->isolation) {
      iso_maria_level_text(request, text);
      *statements = 2;
      if (!add_text(s, text)) return false;
    }
    return add_text(s, iso_maria_start_text(request));
  }
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++)
    if (plain_text(connection->database, request, iso_sql_of(request), place, text) == NULL || !add_text(s, text))
      return false;
  *statements = end - first;
  return true;
}

/* Takes the answers to one request; false when the server refused it. */
static bool take_one(iso_connection *connection, const iso_driver_request *request, unsigned statements, bool first,
                     iso_reply *reply) {
  iso_maria_session *s = connection->state;
  reply->txn = connection->txn;
  for (unsigned i = 0; i < statements; i++) {
    /* No answer where there should be one is an error of the connection. */
    if ((i > 0 || !first) && s->my->mysql_next_result(s->handle) != 0) {
      iso_maria_fail(connection, request, reply, NULL);
      return false;
    }
    if (!take_answer(connection, request, reply)) return false;
  }
  if (request->kind == ISO_BEGIN) {
    s->isolation = request->isolation;
    reply->txn = ISO_TXN_ACTIVE;
  } else if (request->kind == ISO_COMMIT) {
    reply->txn = ISO_TXN_COMMITTED;
  } else {
    iso_maria_check_still_open(connection, request, reply);
  }
  connection->txn = reply->txn;
  /* A COMMIT would answer OK to a transaction that is not there. */
  return reply->txn != ISO_TXN_UNKNOWN;
}

/* Nothing is left of the answers when the connection is used again. */
static void leave_out_rest(iso_connection *connection) {
  iso_maria_session *s = connection->state;
  while (!connection->broken && s->my->mysql_more_results(s->handle)) {
    int next = s->my->mysql_next_result(s->handle);
    if (next > 0) return;
    MYSQL_RES *result = next == 0 ? s->my->mysql_store_result(s->handle) : NULL;
    s->my->mysql_free_result(result);
  }
}

bool iso_maria_batch(iso_connection *connection, const iso_driver_request *requests, size_t count, iso_reply *replies) {
  iso_maria_session *s = connection->state;
  unsigned statements[ISO_MOST_BATCH] = {0};
  s->text.count = 0;
  for (size_t i = 0; i < count; i++) {
    if (add_request(connection, &requests[i], &statements[i])) continue;
    iso_reply_fail(connection, &requests[0], &replies[0], ISO_CLASS_OTHER, connection->txn, "",
                   "memory is out, or a statement too long");
    return false;
  }
  if (!iso_maria_set_multi(connection, &requests[0], &replies[0], true)) return false;
  /* Whatever happens on the way, it is set anew then. */
  if (requests[0].kind == ISO_BEGIN && statements[0] > 1) s->isolation = NULL;
  if (s->my->mysql_real_query(s->handle, s->text.items, (unsigned long)s->text.count - 1) != 0) {
    iso_maria_fail(connection, &requests[0], &replies[0], NULL);
    return true;
  }
  for (size_t i = 0; i < count; i++)
    if (!take_one(connection, &requests[i], statements[i], i == 0, &replies[i])) break;
  leave_out_rest(connection);
  return true;
}
