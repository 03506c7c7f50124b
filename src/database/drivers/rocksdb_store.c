/* rocksdb_store.c - the store of RocksDB: its folder, which must be ours, its options, and the keys of runs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/task.h"
#include "database/drivers/rocksdb.h"
#include "database/tables.h"

/* RocksDB's own default for locks; how long one look at a lock takes; keys that are removed at a time. */
enum { DEFAULT_LOCK_MS = 1000, SLICE_MS = 10, REMOVED_AT_ONCE = 1000 };

/* ---- the folder ---- */

/* Says that the folder is ours; RocksDB takes no notice of it. */
#define SIGN "made-by-isoproof"

static isoproof_status sign(const char *path, isoproof_error *error) {
  char file[ISO_MOST_URL_BYTES + 32];
  snprintf(file, sizeof file, "%s/" SIGN, path);
  int made = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (made < 0) return iso_fail_errno(error, path, "make a file in it");
  close(made);
  return ISOPROOF_OK;
}

/* Whether the folder has nothing in it, and whether it is signed. */
static isoproof_status look_at(const char *path, bool *empty, bool *ours, isoproof_error *error) {
  DIR *folder = opendir(path);
  *empty = true;
  *ours = false;
  if (folder == NULL) return iso_fail_errno(error, path, "open it");
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    *empty = false;
    *ours |= strcmp(entry->d_name, SIGN) == 0;
  }
  closedir(folder);
  return ISOPROOF_OK;
}

static isoproof_status find_folder(iso_database *database, iso_rocksdb *store, isoproof_error *error) {
  const char *path = database->urls[0].path;
  bool empty, ours;
  if (path[0] == 0) {
    ISO_TRY(iso_private_folder_make("rocksdb", store->folder, error));
    path = store->folder;
  } else if (mkdir(path, 0700) != 0 && errno != EEXIST) {
    return iso_fail_errno(error, path, "make a folder");
  }
  store->path = strdup(path);
  if (store->path == NULL) return iso_fail_memory(error);
  ISO_TRY(look_at(path, &empty, &ours, error));
  if (ours) return ISOPROOF_OK;
  if (empty) return sign(path, error);
  return iso_fail(
      error, ISOPROOF_ERR_USAGE,
      "%s: the folder is not empty and was not made by isoproof: nothing was changed; name a new or an empty "
      "one, or none for a private one",
      database->urls[0].shown);
}

/* ---- opening ---- */

static isoproof_status words(const iso_url *url, const char *name, const char *first, const char *second, bool *other,
                             isoproof_error *error) {
  const char *value = iso_url_option(url, name);
  *other = value != NULL && strcmp(value, second) == 0;
  if (value == NULL || *other || strcmp(value, first) == 0) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_USAGE, "%s: expected %s or %s", name, first, second);
}

static void make_options(iso_rocksdb *store, bool optimistic, bool sync) {
  store->options = store->api.options_create();
  store->api.options_set_create_if_missing(store->options, 1);
  store->write = store->api.writeoptions_create();
  store->api.writeoptions_set_sync(store->write, sync);
  if (optimistic) {
    store->optimistic_plain = store->api.optimistictransaction_options_create();
    store->optimistic_snapshot = store->api.optimistictransaction_options_create();
    store->api.optimistictransaction_options_set_set_snapshot(store->optimistic_snapshot, 1);
    return;
  }
  rocksdb_transaction_options_t *made[2];
  for (int i = 0; i < 2; i++) {
    made[i] = store->api.transaction_options_create();
    store->api.transaction_options_set_set_snapshot(made[i], i == 1);
    store->api.transaction_options_set_deadlock_detect(made[i], 1);
    store->api.transaction_options_set_lock_timeout(made[i], SLICE_MS);
  }
  store->plain = made[0];
  store->snapshot = made[1];
}

static isoproof_status open_store(iso_database *database, iso_rocksdb *store, bool optimistic, isoproof_error *error) {
  char *message = NULL;
  if (optimistic) {
    store->optimistic = store->api.optimistictransactiondb_open(store->options, store->path, &message);
  } else {
    rocksdb_transactiondb_options_t *locks = store->api.transactiondb_options_create();
    store->pessimistic = store->api.transactiondb_open(store->options, locks, store->path, &message);
    store->api.transactiondb_options_destroy(locks);
  }
  if (message == NULL) return ISOPROOF_OK;
  isoproof_status status = iso_fail(error, ISOPROOF_ERR_IO, "%s: cannot open it: %s", database->urls[0].shown, message);
  store->api.free(message);
  return status;
}

isoproof_status iso_rocksdb_open(iso_database *database, isoproof_error *error) {
  static const char *const known[] = {"transactions", "sync", "lib", NULL};
  const iso_url *url = &database->urls[0];
  bool optimistic, sync;
  iso_rocksdb *store = iso_alloc_zero(1, sizeof *store);
  if (store == NULL) return iso_fail_memory(error);
  database->state = store;
  ISO_TRY(iso_url_only(url, known, error));
  ISO_TRY(words(url, "transactions", "pessimistic", "optimistic", &optimistic, error));
  ISO_TRY(words(url, "sync", "off", "on", &sync, error));
  ISO_TRY(iso_rocksdb_load(iso_url_option(url, "lib"), &store->api, error));
  ISO_TRY(find_folder(database, store, error));
  make_options(store, optimistic, sync);
  ISO_TRY(open_store(database, store, optimistic, error));
  if (database->options.lock_timeout_ms == 0) database->options.lock_timeout_ms = DEFAULT_LOCK_MS;
  database->can.persistent = store->folder[0] == 0;
  database->can.blocked = database->can.cancel = true;
  char name[64];
  iso_rocksdb_name(&store->api, name, sizeof name);
  snprintf(database->version, sizeof database->version, "%s, %s", name, optimistic ? "optimistic" : "pessimistic");
  iso_database_add_setting(database, "transactions", optimistic ? "optimistic" : "pessimistic");
  iso_database_add_setting(database, "sync", sync ? "on" : "off");
  if (!optimistic) iso_database_add_setting(database, "deadlock_detect", "on");
  iso_database_add_claim(database, ISO_CLAIM_ROCKSDB_READ_COMMITTED);
  iso_database_add_claim(database, ISO_CLAIM_ROCKSDB_REPEATABLE_READ);
  iso_database_add_claim(database, ISO_CLAIM_ROCKSDB_SERIALIZABLE);
  return ISOPROOF_OK;
}

void iso_rocksdb_close(iso_database *database) {
  iso_rocksdb *store = database->state;
  if (store == NULL) return;
  if (store->pessimistic != NULL) store->api.transactiondb_close(store->pessimistic);
  if (store->optimistic != NULL) store->api.optimistictransactiondb_close(store->optimistic);
  if (store->plain != NULL) store->api.transaction_options_destroy(store->plain);
  if (store->snapshot != NULL) store->api.transaction_options_destroy(store->snapshot);
  if (store->optimistic_plain != NULL) store->api.optimistictransaction_options_destroy(store->optimistic_plain);
  if (store->optimistic_snapshot != NULL) store->api.optimistictransaction_options_destroy(store->optimistic_snapshot);
  if (store->write != NULL) store->api.writeoptions_destroy(store->write);
  if (store->options != NULL) store->api.options_destroy(store->options);
  iso_rocksdb_unload(&store->api);
  iso_private_folder_remove(store->folder);
  free(store->path);
  free(store);
}

/* ---- the keys of runs ---- */

static isoproof_status failed(const iso_rocksdb_session *s, char *message, isoproof_error *error) {
  if (message == NULL) return ISOPROOF_OK;
  isoproof_status status = iso_fail(error, ISOPROOF_ERR_IO, "%s: %s", s->connection->database->urls[0].shown, message);
  s->api->free(message);
  return status;
}

static isoproof_status end(iso_rocksdb_session *s, char *message, isoproof_error *error) {
  char *rolled_back = NULL;
  if (message == NULL)
    s->api->transaction_commit(s->transaction, &message);
  else
    s->api->transaction_rollback(s->transaction, &rolled_back);
  s->api->free(rolled_back);
  return failed(s, message, error);
}

/* Removes keys that begin with a prefix, as many as fit one transaction; *more: there may be others. */
static isoproof_status remove_some(iso_rocksdb_session *s, const char prefix[ISO_ROCKSDB_PREFIX], bool *more,
                                   isoproof_error *error) {
  char *message = NULL;
  size_t removed = 0;
  iso_rocksdb_begin(s, ISO_ROCKSDB_NEWEST);
  rocksdb_iterator_t *at = s->api->transaction_create_iterator(s->transaction, s->read);
  for (s->api->iter_seek(at, prefix, ISO_ROCKSDB_PREFIX); s->api->iter_valid(at); s->api->iter_next(at)) {
    size_t length;
    const char *key = s->api->iter_key(at, &length);
    if (length < ISO_ROCKSDB_PREFIX || memcmp(key, prefix, ISO_ROCKSDB_PREFIX) != 0) break;
    s->api->transaction_delete(s->transaction, key, length, &message);
    if (message != NULL || ++removed == REMOVED_AT_ONCE) break;
  }
  if (message == NULL) s->api->iter_get_error(at, &message);
  s->api->iter_destroy(at);
  *more = removed == REMOVED_AT_ONCE;
  return end(s, message, error);
}

/* All keys of a run, and its mark last. */
static isoproof_status remove_run(iso_rocksdb_session *s, uint64_t run, isoproof_error *error) {
  char prefix[ISO_ROCKSDB_PREFIX];
  bool more = true;
  iso_rocksdb_prefix(ISO_ROCKSDB_DATA, run, prefix);
  while (more) ISO_TRY(remove_some(s, prefix, &more, error));
  iso_rocksdb_prefix(ISO_ROCKSDB_MARK, run, prefix);
  return remove_some(s, prefix, &more, error);
}

typedef struct runs {
  ISO_VEC(uint64_t) list;
} runs;

/* Runs other than this one that did not mean to stay.  A store is open only once: they are gone. */
static isoproof_status find_left(iso_rocksdb_session *s, runs *left, isoproof_error *error) {
  const char *first = ISO_ROCKSDB_MARK;
  size_t words = strlen(first), length;
  char *message = NULL;
  bool room = true;
  iso_rocksdb_begin(s, ISO_ROCKSDB_NEWEST);
  rocksdb_iterator_t *at = s->api->transaction_create_iterator(s->transaction, s->read);
  for (s->api->iter_seek(at, first, words); room && s->api->iter_valid(at); s->api->iter_next(at)) {
    char text[ISO_MARK_BYTES] = "";
    iso_mark mark;
    const char *key = s->api->iter_key(at, &length);
    if (length < words || memcmp(key, first, words) != 0) break;
    const char *value = s->api->iter_value(at, &length);
    memcpy(text, value, length < sizeof text ? length : sizeof text - 1);
    if (!iso_mark_read(text, &mark) || mark.kept || mark.run == s->connection->database->run) continue;
    room = iso_vec_push(&left->list, mark.run);
  }
  s->api->iter_get_error(at, &message);
  s->api->iter_destroy(at);
  ISO_TRY(end(s, message, error));
  return room ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status put_mark(iso_rocksdb_session *s, isoproof_error *error) {
  const iso_database *database = s->connection->database;
  iso_mark mark = {.run = database->run, .made = (int64_t)time(NULL), .kept = database->options.keep_tables};
  char key[ISO_ROCKSDB_PREFIX], text[ISO_MARK_BYTES], *message = NULL;
  iso_process_here(&mark.process);
  snprintf(mark.table, sizeof mark.table, "%s", database->table);
  iso_rocksdb_prefix(ISO_ROCKSDB_MARK, database->run, key);
  size_t length = iso_mark_write(&mark, text);
  iso_rocksdb_begin(s, ISO_ROCKSDB_NEWEST);
  s->api->transaction_put(s->transaction, key, sizeof key, text, length, &message);
  return end(s, message, error);
}

isoproof_status iso_rocksdb_setup(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  runs left = {{0}};
  ISO_TRY(iso_connect(database, 0, &connection, error));
  iso_rocksdb_session *s = connection->state;
  isoproof_status status = find_left(s, &left, error);
  for (size_t i = 0; status == ISOPROOF_OK && i < left.list.count; i++) {
    status = remove_run(s, left.list.items[i], error);
    if (status == ISOPROOF_OK)
      iso_tables_notice(database, "removed the keys of run %016" PRIx64 ", which is gone", left.list.items[i]);
  }
  if (status == ISOPROOF_OK) status = put_mark(s, error);
  database->made = status == ISOPROOF_OK;
  iso_vec_free(&left.list);
  iso_disconnect(connection);
  return status;
}

isoproof_status iso_rocksdb_teardown(iso_database *database, isoproof_error *error) {
  iso_connection *connection;
  if (!database->made) return ISOPROOF_OK;
  if (database->options.keep_tables) {
    iso_tables_notice(database, "kept the keys of run %016" PRIx64, database->run);
    database->made = false;
    return ISOPROOF_OK;
  }
  ISO_TRY(iso_connect(database, 0, &connection, error));
  isoproof_status status = remove_run(connection->state, database->run, error);
  iso_disconnect(connection);
  if (status == ISOPROOF_OK) database->made = false;
  return status;
}
