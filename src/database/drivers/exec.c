/* exec.c - the driver of clients in any language: requests become lines, answers become replies.
 *
 * A client may be wrong in every way; what it says is believed only where it is complete.  An answer that cannot be
 * read, or does not come, ends the process: what it was doing is lost, and a commit is unknown.
 */
#include "database/drivers/exec.h"

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/output.h"

enum { HELLO_MS = 30000, PATIENCE_MS = 1000 };

typedef struct session {
  iso_exec_box box;
  iso_exec_hub *own;  /* its process, unless it shares one */
  ISO_VEC(char) line; /* the request */
  iso_output *output; /* into it */
} session;

/* What the program said of itself, and the processes that serve all sessions of a node. */
typedef struct program {
  iso_exec_hello hello;
  pthread_mutex_t lock; /* for the next */
  iso_exec_hub *hubs[ISO_MOST_NODES];
} program;

/* ---- lines ---- */

static bool append(void *user, const void *bytes, size_t size) {
  session *s = user;
  if (!iso_vec_reserve(&s->line, size)) return false;
  memcpy(s->line.items + s->line.count, bytes, size);
  s->line.count += size;
  return true;
}

/* The operations of the protocol: request, name. */
static const char *name_of(iso_request_kind kind) {
  switch (kind) {
  case ISO_BEGIN:
    return "begin";
  case ISO_READ:
    return "read";
  case ISO_WRITE:
    return "write";
  case ISO_INCREMENT:
    return "increment";
  case ISO_READ_LIST:
    return "read-list";
  case ISO_APPEND:
    return "append";
  case ISO_INSERT:
    return "insert";
  case ISO_UPDATE:
    return "update";
  case ISO_DELETE:
    return "delete";
  case ISO_READ_RANGE:
    return "predicate";
  case ISO_COUNT:
    return "count";
  case ISO_COMMIT:
    return "commit";
  case ISO_ROLLBACK:
    return "abort";
  case ISO_PING:
    return "ping";
  default:
    return NULL;
  }
}

static bool has_key(iso_request_kind kind) {
  return kind == ISO_READ || kind == ISO_READ_LIST || kind == ISO_DELETE || kind == ISO_WRITE ||
         kind == ISO_INCREMENT || kind == ISO_APPEND || kind == ISO_INSERT || kind == ISO_UPDATE;
}

static bool has_value(iso_request_kind kind) {
  return kind == ISO_WRITE || kind == ISO_INCREMENT || kind == ISO_APPEND || kind == ISO_INSERT || kind == ISO_UPDATE;
}

static void begin_line(session *s, isoproof_json *json, const char *op) {
  s->line.count = 0;
  iso_json_writer_init(json, s->output, ISO_JSON_PLAIN);
  isoproof_json_object(json);
  iso_json_field_text(json, "op", op);
  iso_json_field_u64(json, "session", s->box.session);
}

static void end_line(session *s, isoproof_json *json) {
  isoproof_json_end(json);
  iso_out_char(s->output, '\n');
  iso_output_flush(s->output);
}

/* Writes a request as a line. */
static void put_request(session *s, const iso_driver_request *request) {
  isoproof_json json;
  begin_line(s, &json, name_of(request->kind));
  if (request->kind == ISO_BEGIN) {
    iso_json_field_text(&json, "isolation", request->isolation->name);
    if (request->read_only) iso_json_field_bool(&json, "read_only", true);
  }
  if (has_key(request->kind)) iso_json_field_i64(&json, "key", request->key);
  if (has_value(request->kind)) iso_json_field_i64(&json, "value", request->value);
  if (request->kind == ISO_READ_RANGE || request->kind == ISO_COUNT) {
    /* Bounds that bound nothing are left out: not every language has such numbers. */
    if (request->key != INT64_MIN || request->high != INT64_MAX) {
      iso_json_field_list(&json, request->by_value ? "values" : "keys");
      isoproof_json_i64(&json, request->key);
      isoproof_json_i64(&json, request->high);
      isoproof_json_end(&json);
    }
  }
  end_line(s, &json);
}

/* ---- asking ---- */

/* How long an answer may take; 0: for ever. */
static uint32_t patience(const iso_database *database) {
  uint32_t limit = database->options.statement_timeout_ms;
  return limit > 0 ? limit + PATIENCE_MS : 0;
}

/* The process is of no more use: whatever comes later would be taken for the answer to something else. */
static void give_up(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                    const char *message) {
  iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "", message);
}

static const char *why(iso_exec_heard heard) {
  switch (heard) {
  case ISO_EXEC_SILENT:
    return "the program did not answer in time";
  case ISO_EXEC_WOKEN:
    return "the wait for the program's answer was cancelled";
  case ISO_EXEC_TOO_LONG:
    return "the program's answer is too long";
  default:
    return "the program ended, or closed its output";
  }
}

/* Sends the line of a request and reads the answer; false when the reply already says what went wrong. */
static bool ask(iso_connection *connection, const iso_driver_request *request, iso_reply *reply,
                iso_exec_answer *answer) {
  session *s = connection->state;
  put_request(s, request);
  if (!iso_exec_hub_send(&s->box, s->line.items, s->line.count, patience(connection->database))) {
    give_up(connection, request, reply, "the program ended, or closed its input");
    return false;
  }
  iso_exec_heard heard = iso_exec_hub_hear(&s->box, patience(connection->database));
  if (heard != ISO_EXEC_LINE) {
    give_up(connection, request, reply, why(heard));
    return false;
  }
  isoproof_error error = {.offset = -1};
  if (iso_exec_read_answer(s->box.line.text.items, s->box.line.text.count, answer, reply, &error) != ISOPROOF_OK) {
    char message[ISO_MESSAGE_BYTES];
    snprintf(message, sizeof message, "the program's answer cannot be read: %.200s", error.message);
    give_up(connection, request, reply, message);
    return false;
  }
  if (answer->ok) return true;
  /* What the program does not say of the transaction is taken in the way that cannot be wrong. */
  iso_txn_state txn = request->kind == ISO_COMMIT ? ISO_TXN_UNKNOWN : ISO_TXN_ABORTED;
  if (answer->has_txn) txn = answer->txn;
  iso_reply_fail(connection, request, reply, answer->error_class, txn, answer->code, answer->message);
  return false;
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_exec_answer answer;
  if (ask(connection, request, reply, &answer)) reply->txn = ISO_TXN_ACTIVE;
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_exec_answer answer;
  if (ask(connection, request, reply, &answer)) reply->txn = ISO_TXN_COMMITTED;
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_exec_answer answer;
  if (ask(connection, request, reply, &answer)) reply->txn = ISO_TXN_ABORTED;
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_exec_answer answer;
  (void)ask(connection, request, reply, &answer);
}

/* Whether the answer has what was asked for. */
static bool is_complete(iso_request_kind kind, const iso_exec_answer *answer) {
  switch (kind) {
  case ISO_READ:
    return answer->has_value;
  case ISO_READ_LIST:
    return answer->has_list;
  case ISO_READ_RANGE:
    return answer->has_rows;
  case ISO_COUNT:
    return answer->has_count;
  case ISO_UPDATE:
  case ISO_DELETE:
    return answer->has_affected;
  default:
    return true;
  }
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_exec_answer answer;
  if (!ask(connection, request, reply, &answer)) return;
  if (!is_complete(request->kind, &answer)) {
    give_up(connection, request, reply, "the program's answer lacks what was asked for");
    return;
  }
  iso_reply_sort_rows(reply);
}

/* ---- connections ---- */

/* Sends the line that was written and waits for its answer. */
static isoproof_status talk(const iso_connection *connection, const char *what, isoproof_error *error) {
  session *s = connection->state;
  const char *shown = connection->database->urls[connection->node].shown;
  if (!iso_exec_hub_send(&s->box, s->line.items, s->line.count, HELLO_MS))
    return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s: the program ended, or closed its input", shown, what);
  iso_exec_heard heard = iso_exec_hub_hear(&s->box, HELLO_MS);
  if (heard == ISO_EXEC_LINE) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: %s: %s", shown, what, why(heard));
}

static isoproof_status greet(const iso_connection *connection, iso_exec_hello *hello, isoproof_error *error) {
  session *s = connection->state;
  const iso_database *database = connection->database;
  isoproof_json json;
  begin_line(s, &json, "hello");
  iso_json_field_u64(&json, "isoproof", ISO_EXEC_VERSION);
  iso_json_field_text(&json, "table", database->table);
  iso_json_field_u64(&json, "node", connection->node);
  iso_json_field_u64(&json, "statement_timeout_ms", database->options.statement_timeout_ms);
  iso_json_field_u64(&json, "lock_timeout_ms", database->options.lock_timeout_ms);
  end_line(s, &json);
  ISO_TRY(talk(connection, "hello", error));
  isoproof_error problem = {.offset = -1};
  if (iso_exec_read_hello(s->box.line.text.items, s->box.line.text.count, hello, &problem) == ISOPROOF_OK)
    return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: its first answer cannot be read: %.200s",
                  database->urls[connection->node].shown, problem.message);
}

/* Joins the process of a node that serves all its sessions, started when it is needed: for the first time, or when the
 * last one has ended. */
static isoproof_status join_shared(iso_database *database, size_t node, iso_exec_box *box, isoproof_error *error) {
  program *p = database->state;
  iso_exec_hub *useless = NULL;
  isoproof_status status = ISOPROOF_OK;
  pthread_mutex_lock(&p->lock);
  if (p->hubs[node] != NULL && iso_exec_hub_ended(p->hubs[node])) {
    if (iso_exec_hub_retire(p->hubs[node])) useless = p->hubs[node];
    p->hubs[node] = NULL;
  }
  if (p->hubs[node] == NULL) {
    iso_exec_hub *made = NULL;
    status = iso_exec_hub_new(database->urls[node].path, &made, error);
    if (status == ISOPROOF_OK) {
      iso_exec_hub_share(made);
      p->hubs[node] = made;
    } else {
      iso_exec_hub_free(made); /* the next session tries again */
    }
  }
  if (status == ISOPROOF_OK) iso_exec_hub_join(p->hubs[node], box);
  pthread_mutex_unlock(&p->lock);
  iso_exec_hub_free(useless);
  return status;
}

static isoproof_status start(iso_connection *connection, bool shared, iso_exec_hello *hello, isoproof_error *error) {
  iso_database *database = connection->database;
  session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  connection->state = s;
  atomic_init(&s->box.woken, false);
  ISO_TRY(iso_output_open_callback(append, s, ISOPROOF_COMPRESS_NO, &s->output, error));
  if (shared) {
    ISO_TRY(join_shared(database, connection->node, &s->box, error));
  } else {
    ISO_TRY(iso_exec_hub_new(database->urls[connection->node].path, &s->own, error));
    iso_exec_hub_join(s->own, &s->box);
  }
  connection->server_id = (uint64_t)iso_exec_hub_pid(s->box.hub);
  return greet(connection, hello, error);
}

static void disconnect(iso_connection *connection) {
  session *s = connection->state;
  if (s == NULL) return;
  if (s->own == NULL && s->box.hub != NULL && !atomic_load(&s->box.woken)) {
    isoproof_json json;
    begin_line(s, &json, "bye");
    end_line(s, &json);
    (void)talk(connection, "bye", NULL);
  }
  iso_exec_hub_leave(&s->box);
  iso_exec_hub_free(s->own);
  if (s->output != NULL) iso_output_abandon(s->output);
  iso_vec_free(&s->line);
  free(s);
  connection->state = NULL;
}

/* A shared process may have ended without anybody's notice: then the greeting finds out, and the next one is for a new
 * one. */
static isoproof_status start_again(iso_connection *connection, iso_exec_hello *hello, isoproof_error *error) {
  disconnect(connection);
  return start(connection, true, hello, error);
}

static isoproof_status connect(iso_connection *connection, isoproof_error *error) {
  const program *p = connection->database->state;
  iso_exec_hello *hello = iso_alloc_zero(1, sizeof *hello);
  if (hello == NULL) return iso_fail_memory(error);
  isoproof_status status = start(connection, p->hello.shared, hello, error);
  const session *s = connection->state;
  if (status != ISOPROOF_OK && p->hello.shared && s != NULL && s->box.hub != NULL && iso_exec_hub_ended(s->box.hub))
    status = start_again(connection, hello, error);
  free(hello);
  return status;
}

static bool cancel(iso_connection *connection) {
  session *s = connection->state;
  if (s == NULL || s->box.hub == NULL) return false;
  iso_exec_hub_wake(&s->box);
  return true;
}

/* ---- the database ---- */

static isoproof_status open_database(iso_database *database, isoproof_error *error) {
  program *p = iso_alloc_zero(1, sizeof *p);
  if (p == NULL) return iso_fail_memory(error);
  pthread_mutex_init(&p->lock, NULL);
  database->state = p;
  if (database->urls[0].path[0] == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "exec: expected a command, such as exec:python3 client.py");
  /* The first process only says what it is: whether it serves one session or all is not known before. */
  iso_connection first = {.database = database};
  isoproof_status status = start(&first, false, &p->hello, error);
  disconnect(&first);
  ISO_TRY(status);
  snprintf(database->version, sizeof database->version, "%s", p->hello.version);
  p->hello.can.nodes = p->hello.can.persistent = p->hello.can.cancel = true;
  database->can = p->hello.can;
  for (size_t i = 0; i < p->hello.isolation_count; i++) {
    const iso_exec_isolation *isolation = &p->hello.isolations[i];
    iso_database_add_isolation(database, isolation->name, isolation->level[0] != 0 ? isolation->level : NULL,
                               isolation->note);
  }
  database->default_isolation = p->hello.default_isolation;
  return ISOPROOF_OK;
}

static void close_database(iso_database *database) {
  program *p = database->state;
  if (p == NULL) return;
  for (size_t i = 0; i < ISO_MOST_NODES; i++) iso_exec_hub_free(p->hubs[i]);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

/* Has a session of its own make or remove the table. */
static isoproof_status ask_once(iso_database *database, const char *op, isoproof_error *error) {
  iso_connection *connection;
  ISO_TRY(iso_connect(database, 0, &connection, error));
  session *s = connection->state;
  isoproof_json json;
  iso_reply reply = {0};
  iso_exec_answer answer = {.ok = false};
  begin_line(s, &json, op);
  end_line(s, &json);
  isoproof_status status = talk(connection, op, error);
  if (status == ISOPROOF_OK)
    status = iso_exec_read_answer(s->box.line.text.items, s->box.line.text.count, &answer, &reply, error);
  if (status == ISOPROOF_OK && !answer.ok)
    status = iso_fail(error, answer.error_class == ISO_CLASS_CONSTRAINT ? ISOPROOF_ERR_USAGE : ISOPROOF_ERR_IO,
                      "%s: %s: %s", database->urls[0].shown, op, answer.message);
  iso_reply_free(&reply);
  iso_disconnect(connection);
  return status;
}

static isoproof_status setup(iso_database *database, isoproof_error *error) {
  isoproof_status status = ask_once(database, "setup", error);
  database->made = status == ISOPROOF_OK;
  return status;
}

static isoproof_status teardown(iso_database *database, isoproof_error *error) {
  if (!database->made || database->options.keep_tables) return ISOPROOF_OK;
  database->made = false;
  return ask_once(database, "teardown", error);
}

const iso_driver iso_driver_exec = {
    .id = ISO_DRIVER_EXEC,
    .url_form = "exec:COMMAND, a program that speaks JSON lines, one process per session",
    .can = {.lists = true, .predicates = true, .concurrent = true, .cancel = true, .nodes = true, .persistent = true},
    .tags = true,
    .open = open_database,
    .close = close_database,
    .connect = connect,
    .disconnect = disconnect,
    .cancel = cancel,
    .setup = setup,
    .teardown = teardown,
    .begin = begin,
    .statement = statement,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
};
