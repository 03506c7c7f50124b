/* driver.c - the driver `sim:`, for a database in memory whose isolation, and whose bugs, are known. */
#include "database/sim/driver.h"

#include <isoproof/level.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

/* Every so many operations a client lets others run, so that transactions overlap on one processor, too. */
enum { YIELD_EVERY = 8 };

static iso_sim_server *server_of(iso_connection *connection) { return connection->database->state; }

/* ---- requests ---- */

static void end(iso_sim_client *client) {
  client->active = false;
  client->reads.count = client->ranges.count = client->changes.count = 0;
}

static void start(iso_sim_server *server, iso_sim_client *client, isoproof_sim_level level) {
  client->level = level;
  client->reads.count = client->ranges.count = client->changes.count = 0;
  client->active = true;
  iso_sim_take_view(server, client);
  iso_sim_draw_bug(server, client);
  /* What the session has seen, for bugs that must not contradict it. */
  if (client->bug == ISO_SIM_NO_BUG && level != ISOPROOF_SIM_READ_ATOMIC) client->last_seen = server->clock;
}

static isoproof_sim_level level_of(const iso_database *database, const iso_isolation *isolation) {
  isoproof_sim_level level = ISOPROOF_SIM_SERIALIZABLE;
  size_t number = (size_t)(isolation - database->isolations);
  if (number < database->isolation_count) isoproof_sim_level_find(isolation->name, &level);
  return level;
}

static void abort_client(iso_sim_server *server, iso_sim_client *client) {
  iso_sim_forget(server, client);
  end(client);
}

/* Whether the server crashed since the last request; then the reply says so.  With the mutex held. */
static bool is_crashed(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sim_client *client = connection->state;
  if (!client->crashed) return false;
  abort_client(server_of(connection), client);
  iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "08006", "the server crashed");
  return true;
}

/* Commits what a client did, with the mutex held. */
static void commit_held(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sim_server *server = server_of(connection);
  iso_sim_client *client = connection->state;
  const char *conflict = iso_sim_conflict(server, client);
  bool lost = server->lost_rate > 0 && iso_random_chance(&client->random, server->lost_rate);
  bool half = lost && iso_random_below(&client->random, 2) == 0;
  if (conflict == NULL && !half && !iso_sim_apply(server, client)) conflict = "out of memory";
  if (conflict != NULL || half)
    abort_client(server, client);
  else
    end(client);
  if (lost)
    iso_reply_lost(connection, request, reply, ISO_CLASS_CONNECTION, "08007", "the reply to the commit was lost");
  else if (conflict != NULL)
    iso_reply_fail(connection, request, reply, ISO_CLASS_SERIALIZATION, ISO_TXN_ABORTED, "40001", conflict);
  else
    reply->txn = ISO_TXN_COMMITTED;
}

static void begin(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sim_server *server = server_of(connection);
  sched_yield();
  pthread_mutex_lock(&server->mutex);
  if (!is_crashed(connection, request, reply)) {
    start(server, connection->state, level_of(connection->database, request->isolation));
    reply->txn = ISO_TXN_ACTIVE;
  }
  pthread_mutex_unlock(&server->mutex);
}

static void commit(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sim_server *server = server_of(connection);
  pthread_mutex_lock(&server->mutex);
  if (!is_crashed(connection, request, reply)) commit_held(connection, request, reply);
  pthread_mutex_unlock(&server->mutex);
}

static void rollback(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  (void)request;
  iso_sim_server *server = server_of(connection);
  pthread_mutex_lock(&server->mutex);
  abort_client(server, connection->state);
  pthread_mutex_unlock(&server->mutex);
  reply->txn = ISO_TXN_ABORTED;
}

/* Notes a read where a commit will look at it; false when memory is out. */
static bool note_read(iso_sim_client *client, size_t entry) {
  if (client->level != ISOPROOF_SIM_SERIALIZABLE && client->bug == ISO_SIM_NO_BUG) return true;
  return iso_vec_push(&client->reads, entry);
}

static bool read_list(iso_sim_server *server, iso_sim_client *client, size_t number, iso_reply *reply) {
  const iso_sim_entry *entry = &server->entries.items[number];
  for (size_t i = 0; i < entry->elements.count; i++) {
    if (!iso_sim_visible(client, entry, &entry->elements.items[i])) continue;
    if (!iso_vec_push(&reply->list, entry->elements.items[i].value)) return false;
  }
  for (size_t i = 0; i < client->changes.count; i++) {
    const iso_sim_change *change = &client->changes.items[i];
    if (change->entry != number || change->kind != ISO_APPEND) continue;
    if (!iso_vec_push(&reply->list, change->value)) return false;
  }
  reply->present = reply->list.count > 0;
  iso_sim_bend_list(server, client, number, reply);
  return reply->list.count <= ISO_MOST_LIST;
}

static int compare_rows(const void *a, const void *b) {
  int64_t x = ((const iso_row *)a)->key, y = ((const iso_row *)b)->key;
  return x < y ? -1 : x > y;
}

/* The rows of a range, or how many there are. */
static bool read_range(iso_sim_server *server, iso_sim_client *client, const iso_driver_request *request,
                       iso_reply *reply) {
  iso_sim_range range = {request->key, request->high, request->by_value};
  if (client->level == ISOPROOF_SIM_SERIALIZABLE && !iso_vec_push(&client->ranges, range)) return false;
  size_t missed = iso_sim_missed(server, client, &range);
  reply->value = 0;
  for (size_t i = 0; i < server->entries.count; i++) {
    int64_t key = server->entries.items[i].key, value;
    if (i == missed || !iso_sim_see(server, client, i, true, &value) || !iso_sim_in_range(&range, key, value)) continue;
    reply->value++;
    if (request->kind == ISO_READ_RANGE && !iso_reply_add_row(reply, key, value)) return false;
  }
  if (reply->rows.count > 1) qsort(reply->rows.items, reply->rows.count, sizeof *reply->rows.items, compare_rows);
  return true;
}

typedef enum done { DONE, NO_MEMORY, DUPLICATE } done;

static done change(iso_sim_server *server, iso_sim_client *client, size_t entry, const iso_driver_request *request,
                   iso_reply *reply) {
  int64_t value;
  reply->affected = 0;
  bool needs_row = request->kind == ISO_UPDATE || request->kind == ISO_DELETE;
  if (needs_row || request->kind == ISO_INSERT) {
    if (!note_read(client, entry)) return NO_MEMORY;
    bool present = iso_sim_see(server, client, entry, true, &value);
    if (request->kind == ISO_INSERT && present) return DUPLICATE;
    if (needs_row && !present) return DONE; /* it found no row, which is all that it did */
  }
  reply->affected = 1;
  iso_sim_change made = {request->kind, entry, request->value, server->clock};
  return iso_vec_push(&client->changes, made) ? DONE : NO_MEMORY;
}

static done perform(iso_sim_server *server, iso_sim_client *client, const iso_driver_request *request,
                    iso_reply *reply) {
  if (request->kind == ISO_READ_RANGE || request->kind == ISO_COUNT)
    return read_range(server, client, request, reply) ? DONE : NO_MEMORY;
  size_t entry = iso_sim_entry_of(server, request->key);
  if (entry == SIZE_MAX) return NO_MEMORY;
  if (request->kind == ISO_READ || request->kind == ISO_READ_LIST) iso_sim_bend_before(server, client, entry);
  switch (request->kind) {
  case ISO_READ:
    if (!note_read(client, entry)) return NO_MEMORY;
    reply->present = iso_sim_see(server, client, entry, true, &reply->value);
    iso_sim_bend_read(server, client, entry, &reply->present, &reply->value);
    return DONE;
  case ISO_READ_LIST:
    if (!note_read(client, entry)) return NO_MEMORY;
    return read_list(server, client, entry, reply) ? DONE : NO_MEMORY;
  default:
    return change(server, client, entry, request, reply);
  }
}

static void statement(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  iso_sim_server *server = server_of(connection);
  iso_sim_client *client = connection->state;
  const iso_database *database = connection->database;
  bool alone = connection->txn != ISO_TXN_ACTIVE;
  if (iso_random_below(&client->random, YIELD_EVERY) == 0) sched_yield();
  pthread_mutex_lock(&server->mutex);
  if (is_crashed(connection, request, reply)) {
    pthread_mutex_unlock(&server->mutex);
    return;
  }
  if (alone) start(server, client, level_of(database, &database->isolations[database->default_isolation]));
  done result = perform(server, client, request, reply);
  if (alone && result == DONE)
    commit_held(connection, request, reply);
  else if (alone)
    abort_client(server, client);
  pthread_mutex_unlock(&server->mutex);
  if (result == NO_MEMORY) iso_reply_client(connection, request, reply, "the answer is too large, or memory is out");
  if (result == DUPLICATE)
    iso_reply_fail(connection, request, reply, ISO_CLASS_CONSTRAINT, ISO_TXN_ACTIVE, "23505", "the key exists already");
}

static void ping(iso_connection *connection, const iso_driver_request *request, iso_reply *reply) {
  (void)connection, (void)request, (void)reply;
}

/* ---- connections ---- */

static isoproof_status connect(iso_connection *connection, isoproof_error *error) {
  iso_sim_server *server = server_of(connection);
  iso_sim_client *client = iso_alloc_zero(1, sizeof *client);
  if (client == NULL) return iso_fail_memory(error);
  connection->state = client;
  client->node = (uint32_t)connection->node;
  client->bug = ISO_SIM_NO_BUG;
  pthread_mutex_lock(&server->mutex);
  client->number = ++server->connected;
  client->last_commit = client->last_seen = server->clock;
  iso_random_seed(&client->random, server->seed, client->number);
  client->next = server->clients;
  if (client->next != NULL) client->next->previous = client;
  server->clients = client;
  pthread_mutex_unlock(&server->mutex);
  connection->server_id = client->number;
  return ISOPROOF_OK;
}

static void disconnect(iso_connection *connection) {
  iso_sim_server *server = server_of(connection);
  iso_sim_client *client = connection->state;
  if (client == NULL) return;
  pthread_mutex_lock(&server->mutex);
  abort_client(server, client);
  if (client->previous != NULL)
    client->previous->next = client->next;
  else
    server->clients = client->next;
  if (client->next != NULL) client->next->previous = client->previous;
  pthread_mutex_unlock(&server->mutex);
  iso_vec_free(&client->reads);
  iso_vec_free(&client->ranges);
  iso_vec_free(&client->changes);
  free(client);
  connection->state = NULL;
}

/* ---- the database ---- */

/* Names of levels with spaces, as databases have them; what they claim includes real time, where they keep to it. */
static const struct {
  isoproof_sim_level level;
  const char *name, *claims;
} levels[] = {
    {ISOPROOF_SIM_READ_COMMITTED, "read committed", "read-committed"},
    {ISOPROOF_SIM_READ_ATOMIC, "read atomic", "read-atomic"},
    {ISOPROOF_SIM_CAUSAL, "causal", "causal"},
    {ISOPROOF_SIM_PARALLEL_SNAPSHOT, "parallel snapshot isolation", "parallel-snapshot-isolation"},
    {ISOPROOF_SIM_SNAPSHOT, "snapshot isolation", "strong-snapshot-isolation"},
    {ISOPROOF_SIM_SERIALIZABLE, "serializable", "strict-serializable"},
};

static isoproof_status take_level(iso_database *database, isoproof_error *error) {
  const char *wanted = iso_url_option(&database->urls[0], "level");
  isoproof_sim_level level = ISOPROOF_SIM_SERIALIZABLE;
  if (wanted != NULL && !isoproof_sim_level_find(wanted, &level)) {
    char quoted[256];
    return iso_fail(error, ISOPROOF_ERR_USAGE,
                    "level of sim: expected serializable, snapshot-isolation, "
                    "parallel-snapshot-isolation, causal, read-atomic or read-committed, "
                    "found %s",
                    iso_quote(wanted, strlen(wanted), quoted));
  }
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (levels[i].level == level) database->default_isolation = i;
    iso_database_add_isolation(database, levels[i].name, levels[i].claims, "given by construction, but for its bugs");
  }
  return ISOPROOF_OK;
}

static isoproof_status take_bugs(iso_database *database, iso_sim_server *server, isoproof_error *error) {
  const char *bugs = iso_url_option(&database->urls[0], "bugs");
  while (bugs != NULL && *bugs != 0) {
    size_t length = strcspn(bugs, ",");
    uint32_t bug;
    if (!iso_sim_driver_bug_find(bugs, length, &bug)) {
      char quoted[256];
      return iso_fail(error, ISOPROOF_ERR_USAGE, "bugs of sim: expected names such as lost-update,lost-write, found %s",
                      iso_quote(bugs, length, quoted));
    }
    if (!server->bugs[bug]) server->bug_list[server->bug_count++] = bug;
    server->bugs[bug] = true;
    bugs += length + (bugs[length] == ',');
  }
  return ISOPROOF_OK;
}

static isoproof_status take_rate(const iso_database *database, const char *name, double *rate, isoproof_error *error) {
  const char *text = iso_url_option(&database->urls[0], name);
  if (text == NULL) return ISOPROOF_OK;
  char *rest;
  *rate = strtod(text, &rest);
  if (rest != text && *rest == 0 && *rate >= 0 && *rate <= 1) return ISOPROOF_OK;
  char quoted[256];
  return iso_fail(error, ISOPROOF_ERR_USAGE, "%s of sim: expected a number from 0 to 1, found %s", name,
                  iso_quote(text, strlen(text), quoted));
}

/* The nodes of a simulated cluster are all behind one URL. */
static isoproof_status take_nodes(iso_database *database, iso_sim_server *server, isoproof_error *error) {
  const char *text = iso_url_option(&database->urls[0], "nodes");
  const char *name = database->isolations[database->default_isolation].name;
  bool replicated = strcmp(name, "causal") == 0 || strcmp(name, "parallel snapshot isolation") == 0;
  uint64_t nodes = replicated ? 3 : 1;
  if (text != NULL && (!iso_parse_u64(text, strlen(text), &nodes) || nodes == 0 || nodes > ISO_SIM_NODES))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "nodes of sim: expected 1 to %d", ISO_SIM_NODES);
  server->nodes = (uint32_t)nodes;
  iso_url *urls = iso_realloc(database->urls, nodes, sizeof *urls);
  if (urls == NULL) return iso_fail_memory(error);
  database->urls = urls;
  /* The others show the URL of the first and own nothing. */
  for (size_t i = database->nodes; i < nodes; i++) urls[i] = (iso_url){.path = "", .shown = urls[0].shown};
  database->nodes = nodes;
  return ISOPROOF_OK;
}

static isoproof_status open_database(iso_database *database, isoproof_error *error) {
  static const char *const known[] = {"level", "bugs", "rate", "nodes", "lost", NULL};
  iso_sim_server *server = iso_alloc_zero(1, sizeof *server);
  if (server == NULL) return iso_fail_memory(error);
  if (pthread_mutex_init(&server->mutex, NULL) != 0) {
    free(server);
    return iso_fail_memory(error);
  }
  database->state = server;
  server->seed = database->options.seed != 0 ? database->options.seed : iso_hash_seed();
  server->rate = 0.01;
  if (database->urls[0].path[0] != 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "sim: expected nothing or ?level=... after it, found %s",
                    database->urls[0].shown);
  ISO_TRY(iso_url_only(&database->urls[0], known, error));
  ISO_TRY(take_level(database, error));
  ISO_TRY(take_bugs(database, server, error));
  ISO_TRY(take_rate(database, "rate", &server->rate, error));
  ISO_TRY(take_rate(database, "lost", &server->lost_rate, error));
  ISO_TRY(take_nodes(database, server, error));
  snprintf(database->version, sizeof database->version, "simulator %s", isoproof_version());
  char number[32];
  snprintf(number, sizeof number, "%u", server->nodes);
  iso_database_add_setting(database, "nodes", number);
  snprintf(number, sizeof number, "%g", server->rate);
  for (uint32_t i = 0; i < server->bug_count; i++)
    iso_database_add_setting(database, iso_sim_driver_bug_name(server->bug_list[i]), number);
  return ISOPROOF_OK;
}

static void close_database(iso_database *database) {
  iso_sim_server *server = database->state;
  if (server == NULL) return;
  iso_sim_server_clear(server);
  pthread_mutex_destroy(&server->mutex);
  free(server);
}

static isoproof_status clear_tables(iso_database *database, isoproof_error *error) {
  (void)error;
  iso_sim_server *server = database->state;
  pthread_mutex_lock(&server->mutex);
  iso_sim_server_clear(server);
  for (iso_sim_client *client = server->clients; client != NULL; client = client->next) end(client);
  pthread_mutex_unlock(&server->mutex);
  return ISOPROOF_OK;
}

/* Nobody ever waits for a lock: who comes second gets an error at its commit. */
static bool waits(iso_connection *connection) {
  (void)connection;
  return false;
}

const iso_driver iso_driver_sim = {
    .id = ISO_DRIVER_SIM,
    .url_form = "sim:?level=LEVEL&nodes=N&bugs=NAME,NAME&rate=R&lost=R",
    .can = {.lists = true, .predicates = true, .autocommit = true, .concurrent = true, .blocked = true},
    .open = open_database,
    .close = close_database,
    .connect = connect,
    .disconnect = disconnect,
    .setup = clear_tables,
    .teardown = clear_tables,
    .begin = begin,
    .statement = statement,
    .commit = commit,
    .rollback = rollback,
    .ping = ping,
    .waits = waits,
};
