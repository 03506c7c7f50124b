/* sqlite_connect.c - files of SQLite: opening them, waiting for their locks, what they say of themselves. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/task.h"
#include "database/drivers/sqlite.h"

enum { DEFAULT_LOCK_MS = 5000, PROGRESS_STEPS = 10000, FIRST_PAUSE_NS = 50000, LONGEST_PAUSE_NS = 2000000 };
/* For whoever asks if a statement waits: so many attempts in vain mean that it does, and how long one look may take.
 * Fewer might be those that met the short-lived locks which other waiting sessions take with every attempt. */
enum { VAIN_ATTEMPTS = 10, LOOK_MS = 200 };

/* ---- waiting ---- */

/* Called when a lock is taken: waits a little, until it is time to give up. */
static int on_busy(void *user, int count) {
  iso_sqlite_session *s = user;
  double now = iso_now();
  atomic_fetch_add(&s->attempts, 1);
  if (count == 0) s->wait_began = now;
  if (atomic_load(&s->connection->cancelled)) return 0;
  if (now - s->wait_began >= s->connection->database->options.lock_timeout_ms / 1000.0) return 0;
  if (s->deadline > 0 && now >= s->deadline) {
    s->timed_out = true;
    return 0;
  }
  long pause = count < 6 ? (long)FIRST_PAUSE_NS << count : LONGEST_PAUSE_NS;
  nanosleep(&(struct timespec){0, pause}, NULL);
  return 1;
}

/* Nobody but SQLite knows who holds the locks of a file, but each attempt in vain comes by on_busy.  The first one may
 * have begun before the call. */
bool iso_sqlite_waits(iso_connection *connection) {
  iso_sqlite_session *s = connection->state;
  if (s == NULL) return false;
  unsigned first = atomic_load(&s->attempts);
  double limit = iso_now() + LOOK_MS / 1000.0;
  while (!iso_poll(connection, 1) && iso_now() < limit)
    if (atomic_load(&s->attempts) - first > VAIN_ATTEMPTS) return true;
  return false;
}

/* Called during long statements. */
static int on_progress(void *user) {
  iso_sqlite_session *s = user;
  if (s->deadline == 0 || iso_now() < s->deadline) return 0;
  s->timed_out = true;
  return 1;
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
  const iso_sqlite_file *where = database->state;
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

isoproof_status iso_sqlite_connect(iso_connection *connection, isoproof_error *error) {
  iso_database *database = connection->database;
  const iso_sqlite_file *where = database->state;
  iso_sqlite_session *s = iso_alloc_zero(1, sizeof *s);
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

void iso_sqlite_disconnect(iso_connection *connection) {
  iso_sqlite_session *s = connection->state;
  if (s == NULL) return;
  for (size_t i = 0; i < ISO_MOST_PLACES; i++)
    for (size_t j = 0; j < ISO_SQL_STATEMENTS; j++) sqlite3_finalize(s->statements[i][j]);
  sqlite3_close(s->handle);
  free(s);
  connection->state = NULL;
}

bool iso_sqlite_cancel(iso_connection *connection) {
  iso_sqlite_session *s = connection->state;
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
static isoproof_status make_private(iso_sqlite_file *where, isoproof_error *error) {
  const char *base = getenv("TMPDIR");
  if (base == NULL || base[0] == 0) base = "/tmp";
  int length = snprintf(where->folder, sizeof where->folder, "%s/isoproof-sqlite-XXXXXX", base);
  if (length < 0 || (size_t)length >= sizeof where->folder) {
    where->folder[0] = 0;
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "TMPDIR: expected at most %zu bytes", sizeof where->folder - 32);
  }
  if (mkdtemp(where->folder) == NULL) {
    where->folder[0] = 0;
    return iso_fail_errno(error, base, "make a temporary folder");
  }
  size_t size = strlen(where->folder) + sizeof "/database";
  where->path = iso_alloc(size, 1);
  if (where->path == NULL) return iso_fail_memory(error);
  snprintf(where->path, size, "%s/database", where->folder);
  return ISOPROOF_OK;
}

static isoproof_status find_file(iso_database *database, iso_sqlite_file *where, isoproof_error *error) {
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

isoproof_status iso_sqlite_open(iso_database *database, isoproof_error *error) {
  if (sqlite3_threadsafe() == 0)
    return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "this build of SQLite cannot be used by several threads");
  iso_sqlite_file *where = iso_alloc_zero(1, sizeof *where);
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
  const iso_sqlite_session *s = connection->state;
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

/* Removes the private file and what SQLite puts beside it. */
static void remove_private(const iso_sqlite_file *where) {
  static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
  for (size_t i = 0; where->path != NULL && i < sizeof endings / sizeof *endings; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", where->path, endings[i]);
    unlink(path);
  }
  rmdir(where->folder);
}

void iso_sqlite_close(iso_database *database) {
  iso_sqlite_file *where = database->state;
  if (where == NULL) return;
  if (where->folder[0] != 0) remove_private(where);
  free(where->path);
  free(where);
}

void iso_sqlite_library(char *buffer, size_t size) { snprintf(buffer, size, "SQLite %s", sqlite3_libversion()); }
