/* sqlite.c - the driver for SQLite: one file, a connection of its own for every session.
 *
 * A statement that fails is undone alone, as a rule; now and then SQLite rolls back everything, which it shows by being
 * in its autocommit mode again.  A COMMIT that is BUSY leaves the transaction open.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/task.h"
#include "base/text.h"
#include "database/driver_table.h"
#include "database/private_folder.h"

enum { DEFAULT_LOCK_MS = 5000, PROGRESS_STEPS = 10000, FIRST_PAUSE_NS = 50000, LONGEST_PAUSE_NS = 2000000 };
/* So many attempts to take a lock come quickly, so that one that waits is soon seen to wait. */
enum { QUICK_ATTEMPTS = 60, QUICK_PAUSE_NS = 200000 };
/* For whoever asks if a statement waits: so many attempts in vain mean that it does, and how long one look may take.
 * Fewer might be those that met the short-lived locks which other waiting sessions take with every attempt. */
enum { VAIN_ATTEMPTS = 10, LOOK_MS = 200 };

typedef struct file {
  char *path;
  char folder[ISO_FOLDER_BYTES]; /* of a private file, removed in the end; "" when there is none */
  bool shared_cache;
} file;

typedef struct session {
  iso_connection *connection;
  sqlite3 *handle;
  sqlite3_stmt *statements[ISO_MOST_PLACES][ISO_SQL_STATEMENTS];
  double deadline;   /* of the running statement, 0 none */
  double wait_began; /* of the lock that it waits for */
  bool timed_out;
  atomic_uint attempts; /* to take a lock, in vain */
} session;

/* ---- waiting ---- */

/* Called when a lock is taken: waits a little, until it is time to give up. */
static int on_busy(void *user, int count) {
  session *s = user;
  double now = iso_now();
  atomic_fetch_add(&s->attempts, 1);
  if (count == 0) s->wait_began = now;
  if (atomic_load(&s->connection->cancelled)) return 0;
  if (now - s->wait_began >= s->connection->database->options.lock_timeout_ms / 1000.0) return 0;
  if (s->deadline > 0 && now >= s->deadline) {
    s->timed_out = true;
    return 0;
  }
  long pause = count < 2                ? (long)FIRST_PAUSE_NS << count
               : count < QUICK_ATTEMPTS ? (long)QUICK_PAUSE_NS
                                        : (long)LONGEST_PAUSE_NS;
  nanosleep(&(struct timespec){0, pause}, NULL);
  return 1;
}

/* Nobody but SQLite knows who holds the locks of a file, but each attempt in vain comes by on_busy.  The first one may
 * have begun before the call. */
static bool waits(iso_connection *connection) {
  session *s = connection->state;
  if (s == NULL) return false;
  unsigned first = atomic_load(&s->attempts);
  double limit = iso_now() + LOOK_MS / 1000.0;
  while (!iso_poll(connection, 1) && iso_now() < limit)
    if (atomic_load(&s->attempts) - first > VAIN_ATTEMPTS) return true;
  return false;
}

/* Called during long statements. */
static int on_progress(void *user) {
  session *s = user;
  if (s->deadline == 0 || iso_now() < s->deadline) return 0;
  s->timed_out = true;
  return 1;
}

static void start_clock(session *s) {
  uint32_t limit = s->connection->database->options.statement_timeout_ms;
  s->deadline = limit > 0 ? iso_now() + limit / 1000.0 : 0;
  s->timed_out = false;
}

/* ---- errors ---- */

static const struct {
  int code;
  const char *name;
} codes[] = {
    {SQLITE_BUSY, "SQLITE_BUSY"},
    {SQLITE_BUSY_SNAPSHOT, "BUSY_SNAPSHOT"},
    {SQLITE_BUSY_RECOVERY, "BUSY_RECOVERY"},
    {SQLITE_LOCKED, "SQLITE_LOCKED"},
    {SQLITE_LOCKED_SHAREDCACHE, "LOCKED_SHARED"},
    {SQLITE_INTERRUPT, "INTERRUPT"},
    {SQLITE_CONSTRAINT, "CONSTRAINT"},
    {SQLITE_CONSTRAINT_PRIMARYKEY, "PRIMARYKEY"},
    {SQLITE_CONSTRAINT_UNIQUE, "UNIQUE"},
    {SQLITE_READONLY, "READONLY"},
    {SQLITE_FULL, "SQLITE_FULL"},
    {SQLITE_IOERR, "SQLITE_IOERR"},
    {SQLITE_CORRUPT, "SQLITE_CORRUPT"},
    {SQLITE_CANTOPEN, "CANTOPEN"},
    {SQLITE_NOMEM, "SQLITE_NOMEM"},
    {SQLITE_ERROR, "SQLITE_ERROR"},
};

static void code_name(int code, char out[ISO_CODE_BYTES]) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    if (codes[i].code != code) continue;
    snprintf(out, ISO_CODE_BYTES, "%s", codes[i].name);
    return;
  }
  snprintf(out, ISO_CODE_BYTES, "%d", code);
}

static iso_error_class class_of(const session *s, int code) {
  if (s->timed_out) return ISO_CLASS_TIMEOUT;
  bool cancelled = atomic_load(&s->connection->cancelled);
  switch (code & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return cancelled ? ISO_CLASS_CANCELLED : ISO_CLASS_BUSY;
  case SQLITE_INTERRUPT:
    return ISO_CLASS_CANCELLED;
  case SQLITE_CONSTRAINT:
    return ISO_CLASS_CONSTRAINT;
  case SQLITE_READONLY:
    return ISO_CLASS_READ_ONLY;
  case SQLITE_NOMEM:
  case SQLITE_TOOBIG:
    return ISO_CLASS_CLIENT;
  case SQLITE_ERROR:
  case SQLITE_RANGE:
  case SQLITE_MISUSE:
  case SQLITE_MISMATCH:
    return ISO_CLASS_STATEMENT;
  default:
    return ISO_CLASS_OTHER;
  }
}

static void fail(session *s, const iso_driver_request *request, iso_reply *reply) {
  iso_connection *connection = s->connection;
  int code = sqlite3_extended_errcode(s->handle);
  char name[ISO_CODE_BYTES];
  code_name(code, name);
  bool open = sqlite3_get_autocommit(s->handle) == 0;
  iso_txn_state txn = open ? ISO_TXN_ACTIVE : ISO_TXN_ABORTED;
  /* A disk that failed in the middle of a commit leaves it to the next recovery what it was. */
  bool at_commit = request->kind == ISO_COMMIT || connection->txn != ISO_TXN_ACTIVE;
  int primary = code & 0xff;
  if (at_commit && request->kind != ISO_BEGIN && (primary == SQLITE_IOERR || primary == SQLITE_CORRUPT))
    txn = ISO_TXN_UNKNOWN;
  iso_reply_fail(connection, request, reply, class_of(s, code), txn, name, sqlite3_errmsg(s->handle));
}

/* ---- requests ---- */

static void simple(session *s, const iso_driver_request *request, iso_reply *reply, const char *sql,
                   iso_txn_state after) {
  start_clock(s);
  if (sqlite3_exec(s->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
    fail(s, request, reply);
  else
    reply->txn = after;
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  session *s = connection->state;
  const char *name = request->isolation->name;
  if (((const file *)connection->database->state)->shared_cache) {
    bool dirty = strcmp(name, "read uncommitted") == 0;
    if (sqlite3_exec(s->handle, dirty ? "PRAGMA read_uncommitted=1" : "PRAGMA read_uncommitted=0", NULL, NULL, NULL)) {
      fail(s, request, reply);
      return;
    }
  }
  const char *sql = "BEGIN DEFERRED";
  if (strcmp(name, "immediate") == 0) sql = "BEGIN IMMEDIATE";
  if (strcmp(name, "exclusive") == 0) sql = "BEGIN EXCLUSIVE";
  simple(s, request, reply, sql, ISO_TXN_ACTIVE);
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  simple(connection->state, request, reply, "COMMIT", ISO_TXN_COMMITTED);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  session *s = connection->state;
  reply->txn = ISO_TXN_ABORTED;
  if (sqlite3_get_autocommit(s->handle)) return;
  simple(s, request, reply, "ROLLBACK", ISO_TXN_ABORTED);
}

/* A statement as it is prepared: kept from call to call, with parameters, or (plain) for one call, with the numbers in
 * its text.  NULL when that failed. */
static sqlite3_stmt *make(session *s, const iso_driver_request *request, uint32_t place, bool plain) {
  const iso_database *database = s->connection->database;
  iso_sql_form form = iso_sql_form_of(database, ISO_SQL_SQLITE);
  iso_sql sql = iso_sql_of(request);
  char name[ISO_TABLE_BYTES], text[ISO_SQL_BYTES];
  int64_t numbers[2];
  sqlite3_stmt *made = NULL;
  iso_sql_numbers(sql, request, numbers);
  iso_sql_place_name(database, request, place, name);
  if (iso_sql_write(&form, sql, name, plain ? numbers : NULL, text) == NULL) return NULL;
  unsigned how = plain ? 0 : SQLITE_PREPARE_PERSISTENT;
  return sqlite3_prepare_v3(s->handle, text, -1, how, &made, NULL) == SQLITE_OK ? made : NULL;
}

static sqlite3_stmt *statement_of(session *s, const iso_driver_request *request, uint32_t place) {
  sqlite3_stmt **statement = &s->statements[place][iso_sql_of(request)];
  if (*statement == NULL) *statement = make(s, request, place, false);
  return *statement;
}

static void bind(sqlite3_stmt *statement, const iso_driver_request *request) {
  iso_sql sql = iso_sql_of(request);
  int64_t numbers[2];
  unsigned count = iso_sql_numbers(sql, request, numbers);
  for (unsigned i = 0; i < count; i++) {
    if (i == 1 && iso_sql_takes_text(sql)) {
      char text[ISO_NUMBER_BYTES];
      size_t length = iso_format_i64(numbers[i], text);
      sqlite3_bind_text(statement, 2, text, (int)length, SQLITE_TRANSIENT);
    } else {
      sqlite3_bind_int64(statement, (int)i + 1, numbers[i]);
    }
  }
}

/* Takes a row of the answer; false when it cannot be kept. */
static bool take_row(sqlite3_stmt *statement, const iso_driver_request *request, iso_reply *reply) {
  bool null = sqlite3_column_type(statement, 0) == SQLITE_NULL;
  switch (request->kind) {
  case ISO_READ:
    reply->present = !null;
    if (!null) reply->value = sqlite3_column_int64(statement, 0);
    return true;
  case ISO_COUNT: /* those of several tables are one */
    reply->value += sqlite3_column_int64(statement, 0);
    return true;
  case ISO_READ_LIST: {
    if (null) return true;
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    return text != NULL && iso_reply_set_list(reply, text, (size_t)sqlite3_column_bytes(statement, 0));
  }
  case ISO_READ_RANGE:
    if (sqlite3_column_type(statement, 1) == SQLITE_NULL) return true;
    return iso_reply_add_row(reply, sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1));
  default:
    break;
  }
  reply->columns = (uint32_t)sqlite3_column_count(statement);
  for (int i = 0; i < (int)reply->columns; i++) {
    const char *text = (const char *)sqlite3_column_text(statement, i);
    size_t length = (size_t)sqlite3_column_bytes(statement, i);
    if (!iso_reply_add_cell(reply, text, length)) return false;
  }
  return true;
}

/* Runs a prepared statement to its end; false when it failed and the reply says why. */
static bool step_through(session *s, sqlite3_stmt *statement, const iso_driver_request *request, iso_reply *reply) {
  int status;
  bool kept = true;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW && kept) kept = take_row(statement, request, reply);
  if (status == SQLITE_DONE && sqlite3_stmt_readonly(statement) == 0) reply->affected = sqlite3_changes(s->handle);
  bool failed = status != SQLITE_DONE && status != SQLITE_ROW;
  if (failed) fail(s, request, reply);
  sqlite3_reset(statement);
  if (!failed && !kept) iso_reply_client(s->connection, request, reply, "the answer is too large, or no list");
  return !failed && kept;
}

static bool run_one(session *s, const iso_driver_request *request, iso_reply *reply, uint32_t place) {
  bool kept = iso_sql_prepares(s->connection, request) &&
              (request->round == 0 || s->statements[place][iso_sql_of(request)] != NULL);
  sqlite3_stmt *prepared = kept ? statement_of(s, request, place) : make(s, request, place, true);
  if (prepared == NULL) {
    fail(s, request, reply);
    return false;
  }
  if (kept) bind(prepared, request);
  bool good = step_through(s, prepared, request, reply);
  if (!kept) sqlite3_finalize(prepared);
  return good;
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  session *s = connection->state;
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  start_clock(s);
  for (uint32_t place = first; place < end; place++)
    if (!run_one(s, request, reply, place)) return;
}

static void prepare(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  session *s = connection->state;
  uint32_t first, end;
  iso_sql_tables(connection->database, request, &first, &end);
  start_clock(s);
  for (uint32_t place = first; place < end; place++) {
    if (statement_of(s, request, place) != NULL) continue;
    fail(s, request, reply);
    return;
  }
}

static void forget(iso_connection *connection, uint32_t place) {
  session *s = connection->state;
  for (size_t i = 0; i < ISO_SQL_STATEMENTS; i++) {
    sqlite3_finalize(s->statements[place][i]);
    s->statements[place][i] = NULL;
  }
}

static void execute(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  session *s = connection->state;
  sqlite3_stmt *prepared = NULL;
  const char *rest = NULL;
  start_clock(s);
  if (sqlite3_prepare_v2(s->handle, request->sql, -1, &prepared, &rest) != SQLITE_OK) {
    fail(s, request, reply);
    return;
  }
  if (prepared == NULL || rest[strspn(rest, " \t\r\n;")] != 0)
    iso_reply_fail(connection, request, reply, ISO_CLASS_STATEMENT, reply->txn, "", "expected one statement");
  else
    step_through(s, prepared, request, reply);
  sqlite3_finalize(prepared);
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  simple(connection->state, request, reply, "SELECT 1", reply->txn);
}

/* ---- connections ---- */

static isoproof_status cannot(iso_database *database, const char *doing, sqlite3 *handle, isoproof_error *error) {
  return iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot %s: %s", database->urls[0].shown, doing,
                  handle != NULL ? sqlite3_errmsg(handle) : "out of memory");
}

/* One answer of a PRAGMA; "" when there is none. */
static void ask(sqlite3 *handle, const char *sql, char *out, size_t size) {
  sqlite3_stmt *asked = NULL;
  out[0] = 0;
  if (sqlite3_prepare_v2(handle, sql, -1, &asked, NULL) == SQLITE_OK && sqlite3_step(asked) == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(asked, 0);
    snprintf(out, size, "%s", text != NULL ? text : "");
  }
  sqlite3_finalize(asked);
}

static bool word_of(const char *value, const char *const *words) {
  for (; *words != NULL; words++)
    if (strcasecmp(value, *words) == 0) return true;
  return false;
}

/* journal and synchronous, as the URL asks for. */
static isoproof_status set_modes(iso_database *database, sqlite3 *handle, isoproof_error *error) {
  static const char *const journals[] = {"delete", "truncate", "persist", "wal", NULL};
  static const char *const syncs[] = {"off", "normal", "full", "extra", NULL};
  const char *journal = iso_url_option(&database->urls[0], "journal");
  const char *sync = iso_url_option(&database->urls[0], "synchronous");
  const file *where = database->state;
  /* A file that is removed in the end need not survive a power failure. */
  if (sync == NULL && where->folder[0] != 0) sync = "off";
  char sql[64], answer[32];
  if (journal != NULL) {
    if (!word_of(journal, journals))
      return iso_fail(error, ISOPROOF_ERR_USAGE, "journal: expected delete, truncate, persist or wal");
    snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", journal);
    ask(handle, sql, answer, sizeof answer);
    if (strcasecmp(answer, journal) != 0) return cannot(database, "set its journal", handle, error);
  }
  if (sync != NULL) {
    if (!word_of(sync, syncs))
      return iso_fail(error, ISOPROOF_ERR_USAGE, "synchronous: expected off, normal, full or extra");
    snprintf(sql, sizeof sql, "PRAGMA synchronous=%s", sync);
    if (sqlite3_exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK)
      return cannot(database, "set synchronous", handle, error);
  }
  return ISOPROOF_OK;
}

static isoproof_status connect(iso_connection *connection, isoproof_error *error) {
  iso_database *database = connection->database;
  const file *where = database->state;
  session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  connection->state = s;
  s->connection = connection;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  flags |= where->shared_cache ? SQLITE_OPEN_SHAREDCACHE : SQLITE_OPEN_PRIVATECACHE;
  if (sqlite3_open_v2(where->path, &s->handle, flags, NULL) != SQLITE_OK)
    return cannot(database, "open it", s->handle, error);
  sqlite3_extended_result_codes(s->handle, 1);
  sqlite3_busy_handler(s->handle, on_busy, s);
  sqlite3_progress_handler(s->handle, PROGRESS_STEPS, on_progress, s);
  return set_modes(database, s->handle, error);
}

static void disconnect(iso_connection *connection) {
  session *s = connection->state;
  if (s == NULL) return;
  for (size_t i = 0; i < ISO_MOST_PLACES; i++)
    for (size_t j = 0; j < ISO_SQL_STATEMENTS; j++) sqlite3_finalize(s->statements[i][j]);
  sqlite3_close(s->handle);
  free(s);
  connection->state = NULL;
}

static bool cancel(iso_connection *connection) {
  session *s = connection->state;
  if (s == NULL || s->handle == NULL) return false;
  sqlite3_interrupt(s->handle);
  return true;
}

/* ---- the database ---- */

static void add_isolations(iso_database *database, bool shared_cache) {
  if (shared_cache) iso_database_add_claim(database, ISO_CLAIM_SQLITE_READ_UNCOMMITTED);
  database->default_isolation = database->isolation_count;
  iso_database_add_claim(database, ISO_CLAIM_SQLITE_SERIALIZABLE);
  iso_database_add_claim(database, ISO_CLAIM_SQLITE_IMMEDIATE);
  iso_database_add_claim(database, ISO_CLAIM_SQLITE_EXCLUSIVE);
}

/* A file of its own in a temporary folder. */
static isoproof_status make_private(file *where, isoproof_error *error) {
  ISO_TRY(iso_private_folder_make("sqlite", where->folder, error));
  size_t size = strlen(where->folder) + sizeof "/database";
  where->path = iso_alloc(size, 1);
  if (where->path == NULL) return iso_fail_memory(error);
  snprintf(where->path, size, "%s/database", where->folder);
  return ISOPROOF_OK;
}

static isoproof_status find_file(iso_database *database, file *where, isoproof_error *error) {
  static const char *const known[] = {"journal", "synchronous", "cache", NULL};
  const iso_url *url = &database->urls[0];
  ISO_TRY(iso_url_only(url, known, error));
  const char *cache = iso_url_option(url, "cache");
  if (cache != NULL && strcmp(cache, "shared") != 0 && strcmp(cache, "private") != 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "cache: expected shared or private");
  where->shared_cache = cache != NULL && strcmp(cache, "shared") == 0;
  if (strcmp(url->path, ":memory:") == 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "sqlite: expected a file, or nothing for a temporary one, found :memory:, "
                    "which every session would have for itself");
  if (url->path[0] == 0) return make_private(where, error);
  where->path = strdup(url->path);
  return where->path != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status open_database(iso_database *database, isoproof_error *error) {
  if (sqlite3_threadsafe() == 0)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "this build of SQLite cannot be used by several threads");
  file *where = iso_alloc_zero(1, sizeof *where);
  if (where == NULL) return iso_fail_memory(error);
  database->state = where;
  ISO_TRY(find_file(database, where, error));
  if (database->options.lock_timeout_ms == 0) database->options.lock_timeout_ms = DEFAULT_LOCK_MS;
  database->dialect = ISO_SQL_SQLITE;
  database->can.persistent = where->folder[0] == 0;
  snprintf(database->version, sizeof database->version, "SQLite %s", sqlite3_libversion());
  add_isolations(database, where->shared_cache);
  iso_connection *connection;
  ISO_TRY(iso_connect(database, 0, &connection, error));
  static const char *const pragmas[] = {"journal_mode", "synchronous", "locking_mode", "page_size"};
  const session *s = connection->state;
  for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++) {
    char sql[64], answer[ISO_SETTING_BYTES];
    snprintf(sql, sizeof sql, "PRAGMA %s", pragmas[i]);
    ask(s->handle, sql, answer, sizeof answer);
    iso_database_add_setting(database, pragmas[i], answer);
  }
  iso_database_add_setting(database, "cache", where->shared_cache ? "shared" : "private");
  iso_disconnect(connection);
  return ISOPROOF_OK;
}

static void close_database(iso_database *database) {
  file *where = database->state;
  if (where == NULL) return;
  iso_private_folder_remove(where->folder);
  free(where->path);
  free(where);
}

static void library(char *buffer, size_t size) { snprintf(buffer, size, "SQLite %s", sqlite3_libversion()); }

const iso_driver iso_driver_sqlite = {
    .id = ISO_DRIVER_SQLITE,
    .url_form = "sqlite:FILE?journal=delete|wal&synchronous=off|normal|full&cache=shared",
    .can = {.sql = true,
            .lists = true,
            .predicates = true,
            .autocommit = true,
            .blocked = true,
            .cancel = true,
            .persistent = true,
            .rounds = true},
    .layouts = 1U << ISO_LAYOUT_INDEXED | 1U << ISO_LAYOUT_HEAP,
    .accesses = 1U << ISO_ACCESS_INDEX | 1U << ISO_ACCESS_SEQUENTIAL,
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
