/* rocksdb.c - the driver for RocksDB: transactions on keys and values, with locks or checked when they commit.
 *
 * A call that fails changes nothing, and the transaction stays open.  Locks are waited for in short slices, so that a
 * session can be told to stop, and be seen to wait.  A commit that fails for a conflict has written nothing; what a
 * disk failed to write is unknown.
 */
#include "database/drivers/rocksdb.h"

#include <stdio.h>
#include <string.h>

#include "base/task.h"
#include "base/text.h"

/* Rows between looks at the clock; for whoever asks if a statement waits: slices in vain that mean it does, and how
 * long one look may take. */
enum { ROWS_PER_LOOK = 256, VAIN_ATTEMPTS = 2, LOOK_MS = 200 };

/* ---- keys and values ---- */

static void put_u64(char out[8], uint64_t number) {
  for (int i = 7; i >= 0; i--, number >>= 8) out[i] = (char)(number & 0xff);
}

static uint64_t get_u64(const char in[8]) {
  uint64_t number = 0;
  for (int i = 0; i < 8; i++) number = number << 8 | (unsigned char)in[i];
  return number;
}

/* Bytes are compared as if they had no sign. */
static const uint64_t sign = UINT64_C(1) << 63;

void iso_rocksdb_prefix(const char *words, uint64_t run, char prefix[ISO_ROCKSDB_PREFIX]) {
  memcpy(prefix, words, ISO_ROCKSDB_PREFIX - 8);
  put_u64(prefix + ISO_ROCKSDB_PREFIX - 8, run);
}

static void make_key(const iso_database *database, iso_rocksdb_what what, int64_t key, char out[ISO_ROCKSDB_KEY]) {
  iso_rocksdb_prefix(ISO_ROCKSDB_DATA, database->run, out);
  out[ISO_ROCKSDB_PREFIX] = (char)what;
  put_u64(out + ISO_ROCKSDB_PREFIX + 1, (uint64_t)key ^ sign);
}

/* ---- errors ---- */

/* Messages begin with the name of the status.  Deadlocks are busy, too. */
static const struct {
  const char *begins, *holds, *code;
  iso_error_class class;
} kinds[] = {
    {"Resource busy", "Deadlock", "Deadlock", ISO_CLASS_DEADLOCK},
    {"Resource busy", "limit", "LockLimit", ISO_CLASS_BUSY},
    {"Resource busy", "", "Busy", ISO_CLASS_SERIALIZATION},
    {"Operation timed out", "", "TimedOut", ISO_CLASS_LOCK_TIMEOUT},
    {"Operation failed. Try again", "", "TryAgain", ISO_CLASS_BUSY},
    {"Operation expired", "", "Expired", ISO_CLASS_TIMEOUT},
    {"Invalid argument", "", "InvalidArgument", ISO_CLASS_STATEMENT},
    {"Not implemented", "", "NotSupported", ISO_CLASS_STATEMENT},
    {"Corruption", "", "Corruption", ISO_CLASS_OTHER},
    {"IO error", "", "IOError", ISO_CLASS_OTHER},
};

static iso_error_class class_of(const iso_rocksdb_session *s, const char *message, const char **code) {
  *code = "Error";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strncmp(message, kinds[i].begins, strlen(kinds[i].begins)) != 0) continue;
    if (strstr(message, kinds[i].holds) == NULL) continue;
    *code = kinds[i].code;
    if (kinds[i].class != ISO_CLASS_LOCK_TIMEOUT) return kinds[i].class;
    if (atomic_load(&s->connection->cancelled)) return ISO_CLASS_CANCELLED;
    return s->timed_out ? ISO_CLASS_TIMEOUT : ISO_CLASS_LOCK_TIMEOUT;
  }
  return ISO_CLASS_OTHER;
}

/* Says why a request failed, and frees the message. */
static void fail(iso_rocksdb_session *s, const iso_driver_request *request, iso_reply *reply, iso_txn_state txn,
                 char *message) {
  const char *code;
  iso_error_class class = class_of(s, message, &code);
  if (txn == ISO_TXN_UNKNOWN && class != ISO_CLASS_OTHER) txn = ISO_TXN_ABORTED;
  iso_reply_fail(s->connection, request, reply, class, txn, code, message);
  s->api->free(message);
}

/* ---- waiting ---- */

/* Whether the statement has run for as long as it may. */
static bool is_late(iso_rocksdb_session *s) {
  uint32_t limit = s->connection->database->options.statement_timeout_ms;
  if (limit > 0 && iso_now() - s->began >= limit / 1000.0) s->timed_out = true;
  return s->timed_out;
}

/* After a call: whether it met a lock, and there is time to try again. */
static bool again(iso_rocksdb_session *s, char **message) {
  if (*message == NULL || strncmp(*message, "Operation timed out", 19) != 0) return false;
  atomic_fetch_add(&s->attempts, 1);
  double limit = s->connection->database->options.lock_timeout_ms / 1000.0;
  if (is_late(s) || atomic_load(&s->connection->cancelled) || iso_now() - s->began >= limit) return false;
  s->api->free(*message);
  *message = NULL;
  return true;
}

/* Each slice in vain is seen; the first one may have begun before the call. */
static bool waits(iso_connection *connection) {
  iso_rocksdb_session *s = connection->state;
  if (s == NULL) return false;
  unsigned first = atomic_load(&s->attempts);
  double limit = iso_now() + LOOK_MS / 1000.0;
  while (!iso_poll(connection, 1) && iso_now() < limit)
    if (atomic_load(&s->attempts) - first >= VAIN_ATTEMPTS) return true;
  return false;
}

/* A statement looks whether it was told to stop whenever a slice ends. */
static bool cancel(iso_connection *connection) { return connection->state != NULL; }

/* ---- one key ---- */

typedef struct item {
  char key[ISO_ROCKSDB_KEY];
  char *value; /* freed by free_item; NULL: absent */
  size_t length;
} item;

static void free_item(const iso_rocksdb_session *s, item *of) {
  s->api->free(of->value);
  of->value = NULL;
}

/* Reads a key, and to change it, or at a level that locks, takes it for this transaction alone: whoever shares a lock
 * and then wants more of it is told of a deadlock even if nobody else does.  Returns the message of a failure, or NULL.
 */
static char *fetch(iso_rocksdb_session *s, iso_rocksdb_what what, int64_t key, bool change, item *found) {
  char *message = NULL;
  *found = (item){.length = 0};
  make_key(s->connection->database, what, key, found->key);
  if (!change && s->reads != ISO_ROCKSDB_LOCKING) {
    found->value =
        s->api->transaction_get(s->transaction, s->read, found->key, ISO_ROCKSDB_KEY, &found->length, &message);
    return message;
  }
  do
    found->value = s->api->transaction_get_for_update(s->transaction, s->read, found->key, ISO_ROCKSDB_KEY,
                                                      &found->length, 1, &message);
  while (again(s, &message));
  return message;
}

static char *store(iso_rocksdb_session *s, const char key[ISO_ROCKSDB_KEY], const char *value, size_t length) {
  char *message = NULL;
  do s->api->transaction_put(s->transaction, key, ISO_ROCKSDB_KEY, value, length, &message);
  while (again(s, &message));
  return message;
}

static char *store_number(iso_rocksdb_session *s, const char key[ISO_ROCKSDB_KEY], int64_t number) {
  char value[8];
  put_u64(value, (uint64_t)number);
  return store(s, key, value, sizeof value);
}

static int64_t number_of(const item *found) {
  return found->value != NULL && found->length == 8 ? (int64_t)get_u64(found->value) : 0;
}

static char *erase(iso_rocksdb_session *s, const char key[ISO_ROCKSDB_KEY]) {
  char *message = NULL;
  do s->api->transaction_delete(s->transaction, key, ISO_ROCKSDB_KEY, &message);
  while (again(s, &message));
  return message;
}

/* ---- statements: each returns the message of a failure of RocksDB's, or NULL ---- */

static char *do_read(iso_rocksdb_session *s, const iso_driver_request *request, iso_reply *reply) {
  item found;
  char *message = fetch(s, ISO_ROCKSDB_ROW, request->key, false, &found);
  reply->present = found.value != NULL;
  reply->value = number_of(&found);
  free_item(s, &found);
  return message;
}

static char *do_read_list(iso_rocksdb_session *s, const iso_driver_request *request, iso_reply *reply) {
  item found;
  char *message = fetch(s, ISO_ROCKSDB_LIST, request->key, false, &found);
  if (message == NULL && found.value != NULL && !iso_reply_set_list(reply, found.value, found.length))
    iso_reply_client(s->connection, request, reply, "the answer is too large, or no list");
  free_item(s, &found);
  return message;
}

static char *do_write(iso_rocksdb_session *s, const iso_driver_request *request, iso_reply *reply) {
  char key[ISO_ROCKSDB_KEY];
  make_key(s->connection->database, ISO_ROCKSDB_ROW, request->key, key);
  reply->affected = 1;
  return store_number(s, key, request->value);
}

static char *do_append(iso_rocksdb_session *s, const iso_driver_request *request, iso_reply *reply) {
  item found;
  char *message = fetch(s, ISO_ROCKSDB_LIST, request->key, true, &found);
  char *longer = message == NULL ? iso_alloc(found.length + 1 + ISO_NUMBER_BYTES, 1) : NULL;
  if (longer != NULL) {
    size_t used = found.length;
    if (used > 0) memcpy(longer, found.value, used);
    if (used > 0) longer[used++] = ',';
    used += iso_format_i64(request->value, longer + used);
    message = store(s, found.key, longer, used);
    reply->affected = 1;
  } else if (message == NULL) {
    iso_reply_client(s->connection, request, reply, "out of memory");
  }
  free(longer);
  free_item(s, &found);
  return message;
}

/* Reads a row for change and changes it, by what is there. */
static char *do_change(iso_rocksdb_session *s, const iso_driver_request *request, iso_reply *reply) {
  item found;
  char *message = fetch(s, ISO_ROCKSDB_ROW, request->key, true, &found);
  bool present = found.value != NULL;
  int64_t sum = (int64_t)((uint64_t)number_of(&found) + (uint64_t)request->value);
  free_item(s, &found);
  if (message != NULL) return message;
  reply->affected = 1;
  if (request->kind == ISO_INCREMENT) return store_number(s, found.key, sum);
  if (request->kind == ISO_INSERT && present) {
    iso_reply_fail(s->connection, request, reply, ISO_CLASS_CONSTRAINT, ISO_TXN_ACTIVE, "KeyExists",
                   "the key exists already");
    return NULL;
  }
  if (request->kind != ISO_INSERT && !present) {
    reply->affected = 0;
    return NULL;
  }
  return request->kind == ISO_DELETE ? erase(s, found.key) : store_number(s, found.key, request->value);
}

/* Takes the row at which an iterator stands; false when it is too much. */
static bool take_row(const iso_rocksdb_session *s, const rocksdb_iterator_t *at, const iso_driver_request *request,
                     iso_reply *reply) {
  size_t length;
  const char *key = s->api->iter_key(at, &length);
  int64_t number = (int64_t)(get_u64(key + ISO_ROCKSDB_PREFIX + 1) ^ sign);
  const char *value = s->api->iter_value(at, &length);
  int64_t held = length == 8 ? (int64_t)get_u64(value) : 0;
  if (request->by_value && (held < request->key || held > request->high)) return true;
  reply->value++;
  return request->kind == ISO_COUNT || iso_reply_add_row(reply, number, held);
}

static bool is_before(const iso_rocksdb_session *s, const rocksdb_iterator_t *at, const char high[ISO_ROCKSDB_KEY]) {
  size_t length;
  if (!s->api->iter_valid(at)) return false;
  const char *key = s->api->iter_key(at, &length);
  return length == ISO_ROCKSDB_KEY && memcmp(key, high, ISO_ROCKSDB_KEY) <= 0;
}

/* One iterator, which sees what the transaction has written itself; nothing that comes later disturbs it. */
static char *do_range(iso_rocksdb_session *s, const iso_driver_request *request, iso_reply *reply) {
  char low[ISO_ROCKSDB_KEY], high[ISO_ROCKSDB_KEY], *message = NULL;
  const iso_database *database = s->connection->database;
  if (s->reads == ISO_ROCKSDB_LOCKING) {
    iso_reply_fail(s->connection, request, reply, ISO_CLASS_CLIENT, ISO_TXN_ACTIVE, "",
                   "RocksDB has no locks of ranges: at this level keys can be read one by one only");
    return NULL;
  }
  make_key(database, ISO_ROCKSDB_ROW, request->by_value ? INT64_MIN : request->key, low);
  make_key(database, ISO_ROCKSDB_ROW, request->by_value ? INT64_MAX : request->high, high);
  rocksdb_iterator_t *at = s->api->transaction_create_iterator(s->transaction, s->read);
  bool kept = true, late = false;
  size_t seen = 0;
  for (s->api->iter_seek(at, low, sizeof low); kept && !late && is_before(s, at, high); s->api->iter_next(at)) {
    kept = take_row(s, at, request, reply);
    if (++seen % ROWS_PER_LOOK == 0) late = is_late(s) || atomic_load(&s->connection->cancelled);
  }
  if (kept && !late) s->api->iter_get_error(at, &message);
  s->api->iter_destroy(at);
  if (!kept) iso_reply_client(s->connection, request, reply, "the answer is too large");
  if (late)
    iso_reply_fail(s->connection, request, reply, s->timed_out ? ISO_CLASS_TIMEOUT : ISO_CLASS_CANCELLED,
                   ISO_TXN_ACTIVE, "", "the statement was stopped");
  return message;
}

static char *perform(iso_rocksdb_session *s, const iso_driver_request *request, iso_reply *reply) {
  switch (request->kind) {
  case ISO_READ:
    return do_read(s, request, reply);
  case ISO_READ_LIST:
    return do_read_list(s, request, reply);
  case ISO_WRITE:
    return do_write(s, request, reply);
  case ISO_APPEND:
    return do_append(s, request, reply);
  case ISO_READ_RANGE:
  case ISO_COUNT:
    return do_range(s, request, reply);
  default:
    return do_change(s, request, reply);
  }
}

/* ---- requests ---- */

static void start_clock(iso_rocksdb_session *s) {
  s->began = iso_now();
  s->timed_out = false;
}

void iso_rocksdb_begin(iso_rocksdb_session *s, iso_rocksdb_reads reads) {
  const iso_rocksdb *store = s->connection->database->state;
  bool snapshot = reads == ISO_ROCKSDB_SNAPSHOT;
  const rocksdb_snapshot_t *taken = NULL;
  s->reads = reads;
  if (store->pessimistic != NULL)
    s->transaction = s->api->transaction_begin(store->pessimistic, store->write,
                                               snapshot ? store->snapshot : store->plain, s->transaction);
  else
    s->transaction = s->api->optimistictransaction_begin(
        store->optimistic, store->write, snapshot ? store->optimistic_snapshot : store->optimistic_plain,
        s->transaction);
  if (snapshot) taken = s->api->transaction_get_snapshot(s->transaction);
  s->api->readoptions_set_snapshot(s->read, taken);
  s->api->free((void *)(uintptr_t)taken);
}

static iso_rocksdb_reads reads_of(const iso_isolation *isolation) {
  if (strcmp(isolation->name, "repeatable read") == 0) return ISO_ROCKSDB_SNAPSHOT;
  return strcmp(isolation->name, "serializable") == 0 ? ISO_ROCKSDB_LOCKING : ISO_ROCKSDB_NEWEST;
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_rocksdb_begin(connection->state, reads_of(request->isolation));
  reply->txn = ISO_TXN_ACTIVE;
}

/* Gives up what the transaction wrote, and its locks. */
static void undo(iso_rocksdb_session *s) {
  char *message = NULL;
  s->api->readoptions_set_snapshot(s->read, NULL);
  s->api->transaction_rollback(s->transaction, &message);
  s->api->free(message);
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_rocksdb_session *s = connection->state;
  char *message = NULL;
  start_clock(s);
  s->api->readoptions_set_snapshot(s->read, NULL);
  s->api->transaction_commit(s->transaction, &message);
  reply->txn = ISO_TXN_COMMITTED;
  if (message == NULL) return;
  fail(s, request, reply, ISO_TXN_UNKNOWN, message);
  undo(s);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  (void)request;
  undo(connection->state);
  reply->txn = ISO_TXN_ABORTED;
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_rocksdb_session *s = connection->state;
  bool alone = connection->txn != ISO_TXN_ACTIVE;
  start_clock(s);
  if (alone) iso_rocksdb_begin(s, ISO_ROCKSDB_NEWEST);
  char *message = perform(s, request, reply);
  if (message != NULL) fail(s, request, reply, ISO_TXN_ACTIVE, message);
  if (!alone) return;
  if (reply->outcome == ISO_OUTCOME_OK)
    commit(connection, request, reply);
  else
    undo(s);
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  (void)connection, (void)request, (void)reply;
}

/* ---- connections ---- */

static isoproof_status connect(iso_connection *connection, isoproof_error *error) {
  iso_rocksdb_session *s = iso_alloc_zero(1, sizeof *s);
  if (s == NULL) return iso_fail_memory(error);
  connection->state = s;
  s->connection = connection;
  s->api = &((iso_rocksdb *)connection->database->state)->api;
  atomic_init(&s->attempts, 0);
  s->read = s->api->readoptions_create();
  return ISOPROOF_OK;
}

static void disconnect(iso_connection *connection) {
  iso_rocksdb_session *s = connection->state;
  if (s == NULL) return;
  if (s->transaction != NULL) {
    if (connection->txn == ISO_TXN_ACTIVE) undo(s);
    s->api->transaction_destroy(s->transaction);
  }
  s->api->readoptions_destroy(s->read);
  free(s);
  connection->state = NULL;
}

static void library(char *buffer, size_t size) {
  iso_rocksdb_api api;
  isoproof_error error = {.offset = -1};
  if (iso_rocksdb_load(NULL, &api, &error) == ISOPROOF_OK)
    iso_rocksdb_name(&api, buffer, size);
  else
    snprintf(buffer, size, "librocksdb.so not found");
  iso_rocksdb_unload(&api);
}

const iso_driver iso_driver_rocksdb = {
    .id = ISO_DRIVER_ROCKSDB,
    .url_form = "rocksdb:DIRECTORY?transactions=pessimistic|optimistic&sync=off|on&lib=/path/librocksdb.so",
    .can = {.lists = true,
            .predicates = true,
            .autocommit = true,
            .concurrent = true,
            .blocked = true,
            .cancel = true,
            .persistent = true},
    .library = library,
    .open = iso_rocksdb_open,
    .close = iso_rocksdb_close,
    .connect = connect,
    .disconnect = disconnect,
    .cancel = cancel,
    .waits = waits,
    .setup = iso_rocksdb_setup,
    .teardown = iso_rocksdb_teardown,
    .begin = begin,
    .statement = statement,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
};
