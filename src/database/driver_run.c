/* driver_run.c - requests and replies: which request fits which state, and what a failure leaves behind. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "database/driver_table.h"

/* ---- names ---- */

static const char *const class_names[] = {
#define ISO_X(name, id, text) id,
    ISO_ERROR_CLASS_LIST(ISO_X)
#undef ISO_X
};

const char *iso_error_class_name(iso_error_class error_class) {
  return (unsigned)error_class < ISO_ERROR_CLASSES ? class_names[error_class] : NULL;
}

bool iso_class_transient(iso_error_class class) {
  switch (class) {
  case ISO_CLASS_SERIALIZATION:
  case ISO_CLASS_DEADLOCK:
  case ISO_CLASS_LOCK_TIMEOUT:
  case ISO_CLASS_BUSY:
  case ISO_CLASS_TIMEOUT:
  case ISO_CLASS_CANCELLED:
  case ISO_CLASS_UNAVAILABLE:
    return true;
  default:
    return false;
  }
}

/* ---- replies ---- */

void iso_reply_free(iso_reply *reply) {
  iso_vec_free(&reply->list);
  iso_vec_free(&reply->rows);
  iso_vec_free(&reply->cells);
  iso_vec_free(&reply->names);
  iso_vec_free(&reply->text);
}

static void clear_results(iso_reply *reply) {
  reply->present = false;
  reply->value = 0;
  reply->affected = -1;
  reply->columns = 0;
  reply->list.count = reply->rows.count = reply->cells.count = reply->names.count = reply->text.count = 0;
}

void iso_reply_clear(iso_reply *reply, iso_txn_state txn) {
  clear_results(reply);
  reply->outcome = ISO_OUTCOME_OK;
  reply->error_class = ISO_CLASS_NONE;
  reply->txn = txn;
  reply->garbled = false;
  reply->code[0] = reply->message[0] = 0;
}

const char *iso_reply_cell(const iso_reply *reply, size_t row, uint32_t column) {
  if (column >= reply->columns || row >= reply->cells.count / reply->columns) return NULL;
  const iso_cell *cell = &reply->cells.items[row * reply->columns + column];
  return cell->length == UINT32_MAX ? NULL : reply->text.items + cell->start;
}

bool iso_reply_add_cell(iso_reply *reply, const char *text, size_t length) {
  if (reply->cells.count >= ISO_MOST_CELLS) return false;
  if (text == NULL) return iso_vec_push(&reply->cells, ((iso_cell){0, UINT32_MAX}));
  if (length >= ISO_MOST_REPLY_BYTES || reply->text.count + length >= ISO_MOST_REPLY_BYTES) return false;
  iso_cell cell = {reply->text.count, (uint32_t)length};
  if (!iso_vec_reserve(&reply->text, length + 1) || !iso_vec_push(&reply->cells, cell)) return false;
  memcpy(reply->text.items + cell.start, text, length);
  reply->text.items[cell.start + length] = 0;
  reply->text.count += length + 1;
  return true;
}

bool iso_reply_add_name(iso_reply *reply, const char *name) {
  size_t length = strlen(name);
  iso_cell cell = {reply->text.count, (uint32_t)length};
  if (length >= ISO_MOST_REPLY_BYTES || !iso_vec_reserve(&reply->text, length + 1) ||
      !iso_vec_push(&reply->names, cell))
    return false;
  memcpy(reply->text.items + cell.start, name, length + 1);
  reply->text.count += length + 1;
  return true;
}

const char *iso_reply_column(const iso_reply *reply, uint32_t column) {
  return column < reply->names.count ? reply->text.items + reply->names.items[column].start : NULL;
}

bool iso_reply_add_row(iso_reply *reply, int64_t key, int64_t value) {
  return reply->rows.count < ISO_MOST_CELLS && iso_vec_push(&reply->rows, ((iso_row){key, value}));
}

bool iso_reply_set_list(iso_reply *reply, const char *text, size_t length) {
  reply->present = true;
  reply->list.count = 0;
  const char *end = text + length;
  while (text < end) {
    const char *comma = memchr(text, ',', (size_t)(end - text));
    size_t digits = (size_t)((comma != NULL ? comma : end) - text);
    int64_t number;
    if (!iso_parse_i64(text, digits, &number)) reply->garbled = true;
    if (reply->garbled || reply->list.count >= ISO_MOST_LIST) return false;
    if (!iso_vec_push(&reply->list, number)) return false;
    if (comma == NULL) return true;
    text = comma + 1;
    if (text == end) reply->garbled = true;
    if (text == end) return false;
  }
  return true;
}

/* Copies words of a server: one line, printable, cut between characters. */
static void take_words(char *out, size_t size, const char *text) {
  size_t used = 0, length = strlen(text);
  while (length > 0 && (unsigned char)text[length - 1] <= ' ') length--;
  for (size_t i = 0; i < length;) {
    size_t step = iso_utf8_step(text + i, length - i);
    bool plain = step > 0 && (unsigned char)text[i] >= ' ' && text[i] != 127;
    size_t bytes = plain ? step : 1;
    if (used + bytes >= size) break;
    if (plain)
      memcpy(out + used, text + i, bytes);
    else
      out[used] = step > 0 ? ' ' : '?';
    used += bytes;
    i += step > 0 ? step : 1;
  }
  out[used] = 0;
}

static void say(iso_reply *reply, iso_outcome outcome, iso_error_class class, const char *code, const char *message) {
  clear_results(reply);
  reply->outcome = outcome;
  reply->error_class = class;
  take_words(reply->code, sizeof reply->code, code != NULL ? code : "");
  take_words(reply->message, sizeof reply->message, message != NULL ? message : "");
}

/* Whether the request runs in a transaction that was begun. */
static bool inside(const iso_connection *connection) { return connection->txn == ISO_TXN_ACTIVE; }

static bool ends_itself(iso_request_kind kind) {
  return kind != ISO_BEGIN && kind != ISO_COMMIT && kind != ISO_ROLLBACK && kind != ISO_PING;
}

void iso_reply_fail(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    iso_error_class class, iso_txn_state txn, const char *code, const char *message) {
  iso_outcome outcome = iso_class_transient(class) ? ISO_OUTCOME_ABORT : ISO_OUTCOME_REJECTED;
  if (txn == ISO_TXN_UNKNOWN) outcome = ISO_OUTCOME_UNKNOWN;
  say(reply, outcome, class, code, message);
  if (inside(connection))
    reply->txn = txn;
  else if (txn == ISO_TXN_UNKNOWN)
    reply->txn = ISO_TXN_UNKNOWN;
  else if (request->kind == ISO_BEGIN || ends_itself(request->kind))
    reply->txn = ISO_TXN_ABORTED;
}

void iso_reply_lost(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    iso_error_class class, const char *code, const char *message) {
  connection->broken = true;
  bool reads = request->kind == ISO_READ || request->kind == ISO_READ_LIST || request->kind == ISO_READ_RANGE ||
               request->kind == ISO_COUNT;
  bool commits = request->kind == ISO_COMMIT || (!inside(connection) && ends_itself(request->kind) && !reads);
  say(reply, commits ? ISO_OUTCOME_UNKNOWN : ISO_OUTCOME_LOST, class, code, message);
  if (commits)
    reply->txn = ISO_TXN_UNKNOWN;
  else if (inside(connection) || request->kind == ISO_BEGIN || reads)
    reply->txn = ISO_TXN_ABORTED;
}

void iso_reply_client(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                      const char *message) {
  iso_txn_state txn = reply->txn;
  say(reply, ISO_OUTCOME_REJECTED, ISO_CLASS_CLIENT, "", message);
  /* Outside of a transaction the statement did happen, though its answer could not be kept. */
  reply->txn = inside(connection) || !ends_itself(request->kind) ? txn : ISO_TXN_COMMITTED;
}

/* ---- requests ---- */

void iso_reply_refuse(iso_connection *connection, iso_reply *reply, iso_error_class class, const char *message) {
  say(reply, ISO_OUTCOME_REJECTED, class, "", message);
  reply->txn = connection->txn;
}

static int compare_rows(const void *a, const void *b) {
  int64_t x = ((const iso_row *)a)->key, y = ((const iso_row *)b)->key;
  return x < y ? -1 : x > y;
}

void iso_reply_sort_rows(iso_reply *reply) {
  if (reply->rows.count > 1) qsort(reply->rows.items, reply->rows.count, sizeof *reply->rows.items, compare_rows);
}

static iso_request_fn function_of(const iso_driver *driver, iso_request_kind kind) {
  switch (kind) {
  case ISO_BEGIN:
    return driver->begin;
  case ISO_EXECUTE:
    return driver->execute;
  case ISO_COMMIT:
    return driver->commit;
  case ISO_ROLLBACK:
    return driver->rollback;
  case ISO_PING:
    return driver->ping;
  case ISO_DESCRIBE:
    return driver->describe;
  case ISO_LIST_TABLES:
    return driver->list_tables;
  case ISO_FIND_TABLE:
    return driver->find_table;
  case ISO_MAKE_TABLE:
    return driver->make_table;
  case ISO_DROP_TABLE:
    return driver->drop_table;
  default:
    return driver->statement;
  }
}

/* What the layout of the tables leaves out. */
static bool needs_keys(iso_request_kind kind) {
  return kind == ISO_WRITE || kind == ISO_INCREMENT || kind == ISO_READ_LIST || kind == ISO_APPEND;
}

bool iso_run_ready(iso_connection *connection, const iso_driver_request *given, iso_driver_request *request,
                   iso_reply *reply) {
  const iso_database *database = connection->database;
  const char *why = NULL;
  *request = *given;
  if (request->kind == ISO_BEGIN && request->isolation == NULL)
    request->isolation = &database->isolations[database->default_isolation];
  if (function_of(database->driver, request->kind) == NULL)
    why = "this database cannot do that";
  else if (database->can.keyless && needs_keys(request->kind))
    why = "the tables have no primary key: rows are inserted and updated, nothing is written or appended";
  else if (request->round > 0 && (!database->can.rounds || request->round > ISO_MOST_ROUND))
    why = "there are no tables of rounds here, or no such round";
  else if (!iso_tag_request(&database->tag, request))
    why = "the value is too large to carry the number of the run";
  if (why != NULL) iso_reply_refuse(connection, reply, ISO_CLASS_CLIENT, why);
  return why == NULL;
}

void iso_run_answered(iso_connection *connection, const iso_driver_request *given, bool was_inside, iso_reply *reply) {
  if (connection->database->options.tables > 1) iso_reply_sort_rows(reply);
  if (!was_inside && reply->outcome == ISO_OUTCOME_OK && ends_itself(given->kind)) reply->txn = ISO_TXN_COMMITTED;
  connection->txn = reply->txn;
  iso_untag_reply(connection->database, given, reply);
  if (!was_inside || reply->txn != ISO_TXN_ABORTED || given->kind == ISO_COMMIT || given->kind == ISO_ROLLBACK) return;
  connection->doomed = true;
  connection->doom_class = reply->error_class;
  memcpy(connection->doom_code, reply->code, sizeof reply->code);
  memcpy(connection->doom_message, reply->message, sizeof reply->message);
}

/* Hands the request to the driver and notes what became of the transaction. */
static void run(iso_connection *connection, const iso_driver_request *given, iso_reply *reply) {
  iso_driver_request request;
  if (!iso_run_ready(connection, given, &request, reply)) return;
  bool was_inside = inside(connection);
  atomic_store(&connection->cancelled, false);
  function_of(connection->database->driver, request.kind)(connection, &request, reply);
  iso_run_answered(connection, given, was_inside, reply);
}

void iso_run_end_doomed(iso_connection *connection, iso_reply *reply) {
  connection->doomed = false;
  if (connection->broken) return;
  iso_driver_request rollback = {.kind = ISO_ROLLBACK};
  connection->txn = ISO_TXN_ACTIVE; /* as the driver sees it */
  iso_reply_clear(reply, ISO_TXN_ACTIVE);
  run(connection, &rollback, reply);
  connection->txn = reply->txn = ISO_TXN_ABORTED;
}

static void do_commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  if (connection->doomed) {
    iso_run_end_doomed(connection, reply);
    say(reply, ISO_OUTCOME_ABORT, connection->doom_class, connection->doom_code, connection->doom_message);
    reply->txn = ISO_TXN_ABORTED;
  } else if (!inside(connection)) {
    iso_reply_refuse(connection, reply, ISO_CLASS_STATE, "there is no transaction to commit");
  } else {
    run(connection, request, reply);
  }
}

static void do_rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  if (connection->doomed)
    iso_run_end_doomed(connection, reply);
  else if (inside(connection))
    run(connection, request, reply);
}

static void do_begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  if (connection->doomed) iso_run_end_doomed(connection, reply);
  if (connection->broken) return;
  if (inside(connection)) {
    iso_reply_refuse(connection, reply, ISO_CLASS_STATE, "a transaction is open already");
    return;
  }
  connection->txn = ISO_TXN_IDLE;
  iso_reply_clear(reply, ISO_TXN_IDLE);
  run(connection, request, reply);
  /* A transaction that did not begin is none to end. */
  connection->doomed = false;
}

static void do_statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  if (connection->doomed) {
    iso_reply_refuse(connection, reply, ISO_CLASS_STATE, "the transaction is aborted: roll it back first");
  } else if (request->kind == ISO_EXECUTE && (request->sql == NULL || strlen(request->sql) > ISO_MOST_SQL_BYTES)) {
    iso_reply_refuse(connection, reply, ISO_CLASS_CLIENT, "no statement, or one of more than 1 MiB");
  } else if (request->kind == ISO_EXECUTE && iso_sql_controls_transactions(request->sql)) {
    iso_reply_refuse(connection, reply, ISO_CLASS_STATE,
                     "statements that begin or end transactions are requests of their own");
  } else {
    run(connection, request, reply);
  }
}

iso_outcome iso_do(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_reply_clear(reply, connection->txn);
  if ((unsigned)request->kind >= ISO_REQUEST_KINDS) {
    iso_reply_refuse(connection, reply, ISO_CLASS_CLIENT, "there is no such request");
    return reply->outcome;
  }
  /* What is aborted can be ended without a server. */
  bool ends = connection->doomed && (request->kind == ISO_COMMIT || request->kind == ISO_ROLLBACK);
  if (connection->broken && !ends) {
    say(reply, ISO_OUTCOME_LOST, ISO_CLASS_CONNECTION, "", "not connected");
    return reply->outcome;
  }
  switch (request->kind) {
  case ISO_COMMIT:
    do_commit(connection, request, reply);
    break;
  case ISO_ROLLBACK:
    do_rollback(connection, request, reply);
    break;
  case ISO_BEGIN:
    do_begin(connection, request, reply);
    break;
  default:
    do_statement(connection, request, reply);
    break;
  }
  if (reply->outcome != ISO_OUTCOME_OK)
    iso_secrets_clean(&connection->database->secrets, reply->message, sizeof reply->message);
  return reply->outcome;
}

/* ---- connections ---- */

isoproof_status iso_connect(iso_database *database, size_t node, iso_connection **connection, isoproof_error *error) {
  if (node >= database->nodes)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "node: expected less than %zu, found %zu", database->nodes, node);
  iso_connection *made = iso_alloc_zero(1, sizeof *made);
  if (made == NULL) return iso_fail_memory(error);
  made->database = database;
  made->node = node;
  atomic_init(&made->cancelled, false);
  atomic_init(&made->broken, false);
  isoproof_status status = iso_database_hide(database, database->driver->connect(made, error), error);
  if (status != ISOPROOF_OK) {
    database->driver->disconnect(made);
    free(made);
    return status;
  }
  *connection = made;
  return ISOPROOF_OK;
}

void iso_disconnect(iso_connection *connection) {
  if (connection == NULL) return;
  iso_worker_free(connection->worker);
  connection->database->driver->disconnect(connection);
  free(connection);
}

isoproof_status iso_reconnect(iso_connection *connection, isoproof_error *error) {
  const iso_driver *driver = connection->database->driver;
  driver->disconnect(connection);
  connection->txn = ISO_TXN_IDLE;
  connection->doomed = false;
  connection->server_id = 0;
  memset(connection->rounds, 0, sizeof connection->rounds);
  connection->broken = false; /* drivers send requests while they connect */
  isoproof_status status = iso_database_hide(connection->database, driver->connect(connection, error), error);
  if (status == ISOPROOF_OK) return status;
  connection->broken = true;
  driver->disconnect(connection);
  return status;
}

bool iso_connected(const iso_connection *connection) { return !connection->broken; }
uint64_t iso_connection_server_id(const iso_connection *connection) { return connection->server_id; }

bool iso_cancel(iso_connection *connection) {
  const iso_driver *driver = connection->database->driver;
  if (driver->cancel == NULL || connection->broken) return false;
  atomic_store(&connection->cancelled, true);
  return driver->cancel(connection);
}
