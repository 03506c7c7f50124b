/* sim_store.h - the database `sim:` as a store that a stream runs its transactions on, all in one thread.  The caller
 * owns it until sim_store_close. */
#ifndef BENCH_SIM_STORE_H
#define BENCH_SIM_STORE_H

#include <isoproof/isoproof.h>

typedef struct sim_store sim_store;

isoproof_status sim_store_open(const char *url, uint32_t sessions, uint64_t seed, sim_store **out,
                               isoproof_error *error);
void sim_store_close(sim_store *store);

/* Requests of a session; false when the database does not do it, and the transaction is over. */
bool sim_store_begin(sim_store *store, uint32_t session);
/* *value is 0 where there is none. */
bool sim_store_read(sim_store *store, uint32_t session, uint32_t key, uint64_t *value);
bool sim_store_write(sim_store *store, uint32_t session, uint32_t key, uint64_t value);
bool sim_store_commit(sim_store *store, uint32_t session);

#endif
