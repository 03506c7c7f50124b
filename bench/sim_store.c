/* sim_store.c - the database `sim:` as a store that a stream runs its transactions on. */
#include "sim_store.h"

#include <stdlib.h>

#include "database/driver.h"

/* A connection of a session. */
typedef struct line {
  iso_connection *connection;
} line;

struct sim_store {
  iso_database *database;
  line *lines;
  uint32_t count;
  iso_reply reply;
};

static isoproof_status connect_all(sim_store *store, uint32_t sessions, isoproof_error *error) {
  isoproof_status status = iso_database_setup(store->database, error);
  store->lines = calloc(sessions, sizeof *store->lines);
  if (store->lines == NULL) return ISOPROOF_ERR_MEMORY;
  for (; status == ISOPROOF_OK && store->count < sessions; store->count++) {
    status = iso_connect(store->database, 0, &store->lines[store->count].connection, error);
  }
  return status;
}

isoproof_status sim_store_open(const char *url, uint32_t sessions, uint64_t seed, sim_store **out,
                               isoproof_error *error) {
  iso_database_options options = {.seed = seed};
  sim_store *store = calloc(1, sizeof *store);
  if (store == NULL) return ISOPROOF_ERR_MEMORY;
  isoproof_status status = iso_database_open(&url, 1, &options, &store->database, error);
  if (status == ISOPROOF_OK) status = connect_all(store, sessions, error);
  if (status != ISOPROOF_OK)
    sim_store_close(store);
  else
    *out = store;
  return status;
}

void sim_store_close(sim_store *store) {
  if (store == NULL) return;
  for (uint32_t i = 0; i < store->count; i++) iso_disconnect(store->lines[i].connection);
  iso_database_close(store->database);
  iso_reply_free(&store->reply);
  free(store->lines);
  free(store);
}

static bool ask(sim_store *store, uint32_t session, iso_driver_request request) {
  return iso_do(store->lines[session].connection, &request, &store->reply) == ISO_OUTCOME_OK;
}

bool sim_store_begin(sim_store *store, uint32_t session) {
  ask(store, session, (iso_driver_request){.kind = ISO_ROLLBACK}); /* what was begun before, if anything */
  return ask(store, session, (iso_driver_request){.kind = ISO_BEGIN});
}

bool sim_store_read(sim_store *store, uint32_t session, uint32_t key, uint64_t *value) {
  if (!ask(store, session, (iso_driver_request){.kind = ISO_READ, .key = key})) return false;
  *value = store->reply.present ? (uint64_t)store->reply.value : 0;
  return true;
}

bool sim_store_write(sim_store *store, uint32_t session, uint32_t key, uint64_t value) {
  return ask(store, session, (iso_driver_request){.kind = ISO_WRITE, .key = key, .value = (int64_t)value});
}

bool sim_store_commit(sim_store *store, uint32_t session) {
  return ask(store, session, (iso_driver_request){.kind = ISO_COMMIT});
}
