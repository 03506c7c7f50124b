/* duckdb.c - the driver for DuckDB: one database in this process, a connection of its own for every session.
 *
 * DuckDB never waits for another transaction: who comes second gets an error, which aborts the transaction unless the
 * statement was not understood in the first place.  The COMMIT of an aborted transaction answers without an error, so
 * that after every error DuckDB is asked whether the transaction is still there.  A COMMIT that fails rolls back.
 */
#include "database/drivers/duckdb.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/task.h"
#include "base/text.h"
#include "database/driver_table.h"
#include "database/private_folder.h"

/* Between looks at the clock while other threads work for a statement. */
enum { TASK_PAUSE_NS = 20000 };

typedef struct file {
  iso_duckdb api;
  duckdb_database handle;
  char folder[ISO_FOLDER_BYTES]; /* of a private file, removed in the end; "" when there is none */
  char *path;                    /* NULL: in memory */
} file;

typedef struct session {
  iso_connection *connection;
  const iso_duckdb *api;
  duckdb_connection handle;
  duckdb_statement statements[ISO_MOST_PLACES][ISO_SQL_STATEMENTS];
  bool timed_out;
} session;

/* ---- errors ---- */

/* Messages begin with the kind of the error. */
static const struct {
  const char *begins, *code;
  iso_error_class class;
} kinds[] = {
    {"TransactionContext Error", "TRANSACTION", ISO_CLASS_SERIALIZATION},
    {"Constraint Error", "CONSTRAINT", ISO_CLASS_CONSTRAINT},
    {"INTERRUPT Error", "INTERRUPT", ISO_CLASS_CANCELLED},
    {"Catalog Error", "CATALOG", ISO_CLASS_STATEMENT},
    {"Binder Error", "BINDER", ISO_CLASS_STATEMENT},
    {"Parser Error", "PARSER", ISO_CLASS_STATEMENT},
    {"Invalid Input Error", "INVALID_INPUT", ISO_CLASS_STATEMENT},
    {"Conversion Error", "CONVERSION", ISO_CLASS_STATEMENT},
    {"Out of Range Error", "OUT_OF_RANGE", ISO_CLASS_STATEMENT},
    {"Not implemented Error", "NOT_IMPLEMENTED", ISO_CLASS_STATEMENT},
    {"Dependency Error", "DEPENDENCY", ISO_CLASS_STATEMENT},
    {"Permission Error", "PERMISSION", ISO_CLASS_STATEMENT},
    {"Out of Memory Error", "OUT_OF_MEMORY", ISO_CLASS_CLIENT},
    {"IO Error", "IO", ISO_CLASS_OTHER},
    {"FATAL Error", "FATAL", ISO_CLASS_CONNECTION},
    {"INTERNAL Error", "INTERNAL", ISO_CLASS_CONNECTION},
};

static iso_error_class class_of(const char *message, const char **code) {
  *code = "ERROR";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strncmp(message, kinds[i].begins, strlen(kinds[i].begins)) != 0) continue;
    *code = kinds[i].code;
    if (strstr(message, "read-only mode") != NULL) return ISO_CLASS_READ_ONLY;
    return kinds[i].class;
  }
  return ISO_CLASS_OTHER;
}

/* Whether the transaction that was begun is still there: whatever is asked in an aborted one is an error. */
static bool is_active(const session *s) {
  duckdb_result result = {0};
  bool active = s->api->query(s->handle, "SELECT 1", &result) == DUCKDB_SUCCESS;
  s->api->destroy_result(&result);
  return active;
}

/* Says why a request failed.  The message may belong to what is destroyed next. */
static void fail(session *s, const iso_driver_request *request, iso_reply *reply, const char *message) {
  const char *code;
  if (message == NULL) message = "DuckDB does not say why";
  iso_error_class class = class_of(message, &code);
  if (class == ISO_CLASS_CONNECTION) {
    /* The database is of no use any more, and nobody knows what became of a commit. */
    iso_reply_lost(s->connection, request, reply, class, code, message);
    return;
  }
  if (class == ISO_CLASS_CANCELLED && s->timed_out) class = ISO_CLASS_TIMEOUT;
  /* What inserts or updates can meet no duplicate but one that is not in its snapshot. */
  bool upserts = request->kind == ISO_WRITE || request->kind == ISO_INCREMENT || request->kind == ISO_APPEND;
  if (class == ISO_CLASS_CONSTRAINT && upserts) class = ISO_CLASS_SERIALIZATION;
  iso_txn_state txn = ISO_TXN_ABORTED;
  if (request->kind == ISO_COMMIT && class == ISO_CLASS_OTHER) txn = ISO_TXN_UNKNOWN; /* a disk, in the middle of it */
  if (request->kind != ISO_COMMIT && s->connection->txn == ISO_TXN_ACTIVE && is_active(s)) txn = ISO_TXN_ACTIVE;
  iso_reply_fail(s->connection, request, reply, class, txn, code, message);
}

/* ---- answers ---- */

/* Takes a row of the answer; false when it cannot be kept. */
static bool take_row(const iso_duckdb *api, duckdb_result *result, uint64_t row, const iso_driver_request *request,
                     iso_reply *reply) {
  bool null = api->value_is_null(result, 0, row), kept = true;
  switch (request->kind) {
  case ISO_READ:
  case ISO_COUNT:
    reply->present = !null;
    if (!null) reply->value += api->value_int64(result, 0, row);
    return true;
  case ISO_READ_RANGE:
    if (api->value_is_null(result, 1, row)) return true;
    return iso_reply_add_row(reply, api->value_int64(result, 0, row), api->value_int64(result, 1, row));
  case ISO_READ_LIST:
    if (null) return true;
    break;
  default:
    break;
  }
  reply->columns = (uint32_t)api->column_count(result);
  for (uint64_t i = 0; i < reply->columns && kept; i++) {
    duckdb_string text = {0};
    if (!api->value_is_null(result, i, row)) text = api->value_string(result, i, row);
    kept = request->kind == ISO_READ_LIST ? text.data != NULL && iso_reply_set_list(reply, text.data, text.size)
                                          : iso_reply_add_cell(reply, text.data, text.size);
    if (text.data != NULL) api->free(text.data);
  }
  return kept;
}

/* Takes the whole answer and frees it; false when the reply says why not. */
static bool take_result(session *s, duckdb_result *result, const iso_driver_request *request, iso_reply *reply) {
  const iso_duckdb *api = s->api;
  duckdb_return kind = api->result_return_type(*result);
  bool kept = true;
  if (kind == DUCKDB_CHANGED_ROWS) reply->affected = (int64_t)api->rows_changed(result);
  uint64_t rows = kind == DUCKDB_ROWS ? api->row_count(result) : 0;
  for (uint64_t i = 0; i < rows && kept; i++) kept = take_row(api, result, i, request, reply);
  api->destroy_result(result);
  if (!kept) iso_reply_client(s->connection, request, reply, "the answer is too large, or no list");
  return kept;
}

/* Works on a statement until its answer is there, with an eye on the clock: DuckDB has no timeout of its own. */
static duckdb_progress work(session *s, duckdb_pending pending) {
  uint32_t limit = s->connection->database->options.statement_timeout_ms;
  double deadline = limit > 0 ? iso_now() + limit / 1000.0 : 0;
  duckdb_progress progress;
  s->timed_out = false;
  while ((progress = s->api->pending_execute_task(pending)) == DUCKDB_NOT_READY || progress == DUCKDB_NO_TASKS) {
    if (deadline > 0 && !s->timed_out && iso_now() >= deadline) {
      s->timed_out = true;
      s->api->interrupt(s->handle);
    }
    if (progress == DUCKDB_NO_TASKS) nanosleep(&(struct timespec){0, TASK_PAUSE_NS}, NULL);
  }
  return progress;
}

/* Runs a prepared statement to its end; false when it failed and the reply says why. */
static bool run(session *s, duckdb_statement statement, const iso_driver_request *request, iso_reply *reply) {
  const iso_duckdb *api = s->api;
  duckdb_pending pending = NULL;
  duckdb_result result = {0};
  char message[ISO_MESSAGE_BYTES] = "";
  bool good = api->pending_prepared(statement, &pending) == DUCKDB_SUCCESS && work(s, pending) != DUCKDB_FAILED;
  const char *why = good ? NULL : api->pending_error(pending);
  if (good) {
    good = api->execute_pending(pending, &result) == DUCKDB_SUCCESS;
    why = good ? NULL : api->result_error(&result);
  }
  if (!good) snprintf(message, sizeof message, "%s", why != NULL ? why : "");
  api->destroy_pending(&pending);
  if (good) return take_result(s, &result, request, reply);
  api->destroy_result(&result);
  fail(s, request, reply, message);
  return false;
}

/* ---- requests ---- */

static void simple(session *s, const iso_driver_request *request, iso_reply *reply, const char *sql,
                   iso_txn_state after) {
  duckdb_result result = {0};
  bool good = s->api->query(s->handle, sql, &result) == DUCKDB_SUCCESS;
  s->timed_out = false;
  if (good)
    reply->txn = after;
  else
    fail(s, request, reply, s->api->result_error(&result));
  s->api->destroy_result(&result);
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  simple(connection->state, request, reply, request->read_only ? "BEGIN TRANSACTION READ ONLY" : "BEGIN TRANSACTION",
         ISO_TXN_ACTIVE);
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  simple(connection->state, request, reply, "COMMIT", ISO_TXN_COMMITTED);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  simple(connection->state, request, reply, "ROLLBACK", ISO_TXN_ABORTED);
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  simple(connection->state, request, reply, "SELECT 1", reply->txn);
}

/* NULL when the statement cannot be prepared, and the reply says why. */
static duckdb_statement prepare_text(session *s, const char *sql, const iso_driver_request *request, iso_reply *reply) {
  duckdb_statement made = NULL;
  if (s->api->prepare(s->handle, sql, &made) == DUCKDB_SUCCESS) return made;
  char message[ISO_MESSAGE_BYTES];
  const char *why = made != NULL ? s->api->prepare_error(made) : NULL;
  snprintf(message, sizeof message, "%s", why != NULL ? why : "the statement cannot be prepared");
  s->api->destroy_prepare(&made);
  fail(s, request, reply, message);
  return NULL;
}

/* A statement as it is prepared: kept from call to call, with parameters, or (plain) for one call, with the numbers in
 * its text.  NULL when that failed, and the reply says why. */
static duckdb_statement make(session *s, const iso_driver_request *request, iso_reply *reply, uint32_t place,
                             bool plain) {
  const iso_database *database = s->connection->database;
  iso_sql_form form = iso_sql_form_of(database, ISO_SQL_DUCKDB);
  iso_sql sql = iso_sql_of(request);
  char name[ISO_TABLE_BYTES], text[ISO_SQL_BYTES];
  int64_t numbers[2];
  iso_sql_numbers(sql, request, numbers);
  iso_sql_place_name(database, request, place, name);
  if (iso_sql_write(&form, sql, name, plain ? numbers : NULL, text) != NULL)
    return prepare_text(s, text, request, reply);
  iso_reply_client(s->connection, request, reply, "this database has no such statement");
  return NULL;
}

static duckdb_statement statement_of(session *s, const iso_driver_request *request, iso_reply *reply, uint32_t place) {
  duckdb_statement *kept = &s->statements[place][iso_sql_of(request)];
  if (*kept == NULL) *kept = make(s, request, reply, place, false);
  return *kept;
}

static bool bind(session *s, duckdb_statement statement, const iso_driver_request *request) {
  iso_sql sql = iso_sql_of(request);
  int64_t numbers[2];
  unsigned count = iso_sql_numbers(sql, request, numbers);
  bool good = true;
  for (unsigned i = 0; i < count && good; i++) {
    if (i == 1 && iso_sql_takes_text(sql)) {
      char text[ISO_NUMBER_BYTES];
      size_t length = iso_format_i64(numbers[i], text);
      good = s->api->bind_varchar_length(statement, 2, text, length) == DUCKDB_SUCCESS;
    } else {
      good = s->api->bind_int64(statement, i + 1, numbers[i]) == DUCKDB_SUCCESS;
    }
  }
  return good;
}

static bool run_one(session *s, const iso_driver_request *request, iso_reply *reply, uint32_t place) {
  bool kept = iso_sql_prepares(s->connection, request) &&
              (request->round == 0 || s->statements[place][iso_sql_of(request)] != NULL);
  duckdb_statement prepared = kept ? statement_of(s, request, reply, place) : make(s, request, reply, place, true);
  if (prepared == NULL) return false;
  bool good = !kept || bind(s, prepared, request);
  if (good)
    good = run(s, prepared, request, reply);
  else
    iso_reply_client(s->connection, request, reply, "a parameter cannot be bound");
  if (!kept) s->api->destroy_prepare(&prepared);
  return good;
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++)
    if (!run_one(connection->state, request, reply, place)) return;
}

static void prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  for (uint32_t place = first; place < end; place++)
    if (statement_of(connection->state, request, reply, place) == NULL) return;
}

static void forget(iso_connection *connection, uint32_t place) {
  session *s = connection->state;
  for (size_t i = 0; i < ISO_SQL_STATEMENTS; i++)
    if (s->statements[place][i] != NULL) s->api->destroy_prepare(&s->statements[place][i]);
}

static void execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  session *s = connection->state;
  duckdb_statement prepared = prepare_text(s, request->sql, request, reply);
  if (prepared == NULL) return;
  run(s, prepared, request, reply);
  s->api->destroy_prepare(&prepared);
}

/* ---- connections ---- */

static isoproof_status connect(iso_connection *connection, isoproof_error *error) {
  const file *where = connection->database->state;
  session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  connection->state = s;
  s->connection = connection;
  s->api = &where->api;
  if (where->api.connect(where->handle, &s->handle) == DUCKDB_SUCCESS) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: DuckDB makes no more connections", connection->database->urls[0].shown);
}

static void disconnect(iso_connection *connection) {
  session *s = connection->state;
  if (s == NULL) return;
  for (uint32_t place = 0; place < ISO_MOST_PLACES; place++) forget(connection, place);
  if (s->handle != NULL) s->api->disconnect(&s->handle);
  free(s);
  connection->state = NULL;
}

static bool cancel(iso_connection *connection) {
  session *s = connection->state;
  if (s == NULL || s->handle == NULL) return false;
  s->api->interrupt(s->handle);
  return true;
}

/* Nobody ever waits for a lock of another transaction. */
static bool waits(iso_connection *connection) {
  (void)connection;
  return false;
}

/* ---- the database ---- */

/* DuckDB keeps other processes from a file, but not another database of this one, which would destroy it. */
static bool is_open_here(const char *path) {
  struct stat wanted, found;
  if (stat(path, &wanted) != 0) return false;
  DIR *folder = opendir("/proc/self/fd");
  bool open_here = false;
  for (const struct dirent *entry; folder != NULL && !open_here && (entry = readdir(folder)) != NULL;)
    open_here = isdigit((unsigned char)entry->d_name[0]) && fstat(atoi(entry->d_name), &found) == 0 &&
                found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino;
  if (folder != NULL) closedir(folder);
  return open_here;
}

static isoproof_status find_file(iso_database *database, file *where, isoproof_error *error) {
  const char *path = database->urls[0].path;
  char made[ISO_FOLDER_BYTES + 16];
  if (strcmp(path, ":memory:") == 0) return ISOPROOF_OK;
  if (path[0] == 0) {
    ISO_TRY(iso_private_folder_make("duckdb", where->folder, error));
    snprintf(made, sizeof made, "%s/database", where->folder);
    path = made;
  } else if (is_open_here(path)) {
    return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: this process has the file open already", database->urls[0].shown);
  }
  where->path = strdup(path);
  return where->path != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status open_file(iso_database *database, file *where, isoproof_error *error) {
  const iso_duckdb *api = &where->api;
  const char *threads = iso_url_option(&database->urls[0], "threads");
  uint64_t number;
  if (threads != NULL && (!iso_parse_u64(threads, strlen(threads), &number) || number == 0 || number > 1024))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "threads: expected a number from 1 to 1024");
  duckdb_config config = NULL;
  char *why = NULL;
  if (api->create_config(&config) != DUCKDB_SUCCESS) return iso_fail_memory(error);
  bool good = threads == NULL || api->set_config(config, "threads", threads) == DUCKDB_SUCCESS;
  good = good && api->open_ext(where->path, &where->handle, config, &why) == DUCKDB_SUCCESS;
  api->destroy_config(&config);
  if (good) return ISOPROOF_OK;
  isoproof_status status = iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot open it: %s", database->urls[0].shown,
                                    why != NULL ? why : "DuckDB does not say why");
  if (why != NULL) api->free(why);
  return status;
}

static isoproof_status ask_settings(iso_database *database, iso_connection *connection, iso_reply *reply,
                                    isoproof_error *error) {
  static const char *const names[] = {"threads", "checkpoint_threshold", "immediate_transaction_mode"};
  const file *where = database->state;
  iso_database_add_setting(database, "storage", where->path != NULL ? "file" : "memory");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT value FROM duckdb_settings() WHERE name = '%s'", names[i]);
    ISO_TRY(iso_sql_ask(connection, sql, reply, error));
    iso_database_add_setting(database, names[i], iso_reply_cell(reply, 0, 0));
  }
  return ISOPROOF_OK;
}

static isoproof_status open_database(iso_database *database, isoproof_error *error) {
  static const char *const known[] = {"lib", "threads", NULL};
  file *where = iso_alloc_zero(1, sizeof *where);
  if (where == NULL) return iso_fail_memory(error);
  database->state = where;
  ISO_TRY(iso_url_only(&database->urls[0], known, error));
  ISO_TRY(iso_duckdb_load(iso_url_option(&database->urls[0], "lib"), &where->api, error));
  ISO_TRY(find_file(database, where, error));
  ISO_TRY(open_file(database, where, error));
  database->dialect = ISO_SQL_DUCKDB;
  database->can.persistent = where->path != NULL && where->folder[0] == 0;
  const char *version = where->api.library_version();
  snprintf(database->version, sizeof database->version, "DuckDB %s", version + (version[0] == 'v'));
  iso_database_add_claim(database, ISO_CLAIM_DUCKDB_SNAPSHOT);
  return iso_sql_on_first_node(database, ask_settings, error);
}

static void close_database(iso_database *database) {
  file *where = database->state;
  if (where == NULL) return;
  if (where->handle != NULL) where->api.close(&where->handle);
  iso_duckdb_unload(&where->api);
  iso_private_folder_remove(where->folder);
  free(where->path);
  free(where);
}

static void library(char *buffer, size_t size) {
  iso_duckdb api;
  isoproof_error error = {.offset = -1};
  if (iso_duckdb_load(NULL, &api, &error) != ISOPROOF_OK) {
    snprintf(buffer, size, "libduckdb.so not found");
    return;
  }
  const char *version = api.library_version();
  snprintf(buffer, size, "DuckDB %s", version + (version[0] == 'v'));
  iso_duckdb_unload(&api);
}

const iso_driver iso_driver_duckdb = {
    .id = ISO_DRIVER_DUCKDB,
    .url_form = "duckdb:FILE?lib=/path/libduckdb.so&threads=NUMBER",
    .can = {.sql = true,
            .lists = true,
            .predicates = true,
            .autocommit = true,
            .concurrent = true,
            .blocked = true,
            .cancel = true,
            .persistent = true,
            .rounds = true},
    .layouts = 1U << ISO_LAYOUT_INDEXED | 1U << ISO_LAYOUT_HEAP,
    .plain = true,
    .library = library,
    .open = open_database,
    .close = close_database,
    .connect = connect,
    .disconnect = disconnect,
    .cancel = cancel,
    .waits = waits,
    .begin = begin,
    .statement = statement,
    .execute = execute,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
    .prepare = prepare,
    .forget = forget,
};
