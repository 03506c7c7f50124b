/* replica.c - the levels of a replicated store: parallel snapshot isolation and causal consistency.
 *
 * A session talks to one replica.  Its transactions read what the replica has when they begin, and commit there at
 * once; the other replicas receive them later, those of one origin in order, and none before everything its origin
 * had when it committed.  So what a replica has is always closed under causality.  Versions of a key are ordered by
 * commit; a replica shows the last it has.
 *
 * Parallel snapshot isolation: writers of a key never run at the same time, and one begins only when its replica has
 * the newest version of each key that it will write.  Causal: no such rule.  Lists keep their versions prefixes of each
 * other: a replica that appends gets all earlier appends before.
 */
#include <string.h>

#include "database/sim/sim.h"

/* A version that a replica shows: its rank among the versions of the key, and the value or length. */
typedef struct shown {
  uint32_t rank, value;
} shown;

typedef struct shipped_write {
  uint32_t key;
  shown version;
} shipped_write;

typedef struct shipment {
  size_t first_write, end_write;
} shipment;

typedef struct replica {
  shown *keys;
  size_t key_capacity;
  uint64_t *has; /* per origin: how many of its transactions have arrived here */
  /* What was committed here; the oldest `dropped` shipments have arrived everywhere and are gone. */
  uint64_t dropped, dropped_writes;
  ISO_VEC(shipment) shipments;
  ISO_VEC(uint64_t) needs; /* per shipment and origin: how many must have arrived before */
  ISO_VEC(shipped_write) writes;
} replica;

typedef struct cluster {
  uint32_t count;
  uint32_t commits;
  replica *replicas;
} cluster;

static void replica_close(iso_sim *sim) {
  cluster *all = sim->level;
  if (all == NULL) return;
  for (uint32_t i = 0; all->replicas != NULL && i < all->count; i++) {
    replica *one = &all->replicas[i];
    free(one->keys);
    free(one->has);
    iso_vec_free(&one->shipments);
    iso_vec_free(&one->needs);
    iso_vec_free(&one->writes);
  }
  free(all->replicas);
  free(all);
  sim->level = NULL;
}

static isoproof_status replica_open(iso_sim *sim, isoproof_error *error) {
  cluster *all = iso_alloc_zero(1, sizeof *all);
  if (all == NULL) return iso_fail_memory(error);
  sim->level = all;
  all->count = sim->options->replicas;
  all->replicas = iso_alloc_zero(all->count, sizeof *all->replicas);
  if (all->replicas == NULL) return iso_fail_memory(error);
  for (uint32_t i = 0; i < all->count; i++) {
    all->replicas[i].has = iso_alloc_zero(all->count, sizeof *all->replicas[i].has);
    if (all->replicas[i].has == NULL) return iso_fail_memory(error);
  }
  for (uint32_t i = 0, replica_number = 0; i <= sim->options->sessions; i++) {
    sim->sessions[i].replica = replica_number;
    replica_number = replica_number + 1 < all->count ? replica_number + 1 : 0;
  }
  return ISOPROOF_OK;
}

static isoproof_status replica_grow(iso_sim *sim, uint32_t keys, isoproof_error *error) {
  cluster *all = sim->level;
  for (uint32_t i = 0; i < all->count; i++) {
    replica *one = &all->replicas[i];
    size_t before = one->key_capacity;
    if (keys <= before) continue;
    if (!iso_vec_grow((void **)&one->keys, &one->key_capacity, keys, sizeof *one->keys)) return iso_fail_memory(error);
    memset(one->keys + before, 0, (one->key_capacity - before) * sizeof *one->keys);
  }
  return ISOPROOF_OK;
}

/* ---- delivery ---- */

static void show(replica *target, const shipped_write *write) {
  shown *now = &target->keys[write->key];
  if (write->version.rank > now->rank) *now = write->version;
}

/* Brings the transactions of an origin, up to `count` of them in all, to a replica. */
static void deliver(cluster *all, uint32_t target, uint32_t origin, uint64_t count) {
  replica *to = &all->replicas[target], *from = &all->replicas[origin];
  for (uint64_t i = to->has[origin]; i < count; i++) {
    const shipment *next = &from->shipments.items[i - from->dropped];
    for (size_t w = next->first_write; w < next->end_write; w++)
      show(to, &from->writes.items[w - from->dropped_writes]);
  }
  if (to->has[origin] < count) to->has[origin] = count;
}

static const uint64_t *needs_of(const cluster *all, uint32_t origin, uint64_t number) {
  const replica *from = &all->replicas[origin];
  return from->needs.items + (number - from->dropped) * all->count;
}

static uint64_t committed_at(const replica *origin) { return origin->dropped + origin->shipments.count; }

/* Makes sure that a replica has the newest version of a key, with everything before it. */
static void require_newest(iso_sim *sim, uint32_t target, uint32_t key_number) {
  cluster *all = sim->level;
  const iso_sim_key *key = &sim->keys.items[key_number];
  uint64_t count = key->version; /* the newest version was written by that many-th transaction of its origin */
  if (all->replicas[target].has[key->writer] >= count) return;
  const uint64_t *needs = needs_of(all, key->writer, count - 1);
  for (uint32_t origin = 0; origin < all->count; origin++) deliver(all, target, origin, needs[origin]);
  deliver(all, target, key->writer, count);
}

static bool can_deliver(const cluster *all, uint32_t target, uint32_t origin) {
  const replica *to = &all->replicas[target];
  const uint64_t *needs = needs_of(all, origin, to->has[origin]);
  for (uint32_t i = 0; i < all->count; i++)
    if (to->has[i] < needs[i]) return false;
  return true;
}

/* Forgets what has arrived everywhere, once that is the larger part. */
static void drop_delivered(cluster *all, uint32_t origin) {
  replica *from = &all->replicas[origin];
  uint64_t everywhere = committed_at(from);
  for (uint32_t i = 0; i < all->count; i++)
    if (all->replicas[i].has[origin] < everywhere) everywhere = all->replicas[i].has[origin];
  size_t gone = (size_t)(everywhere - from->dropped), left = from->shipments.count - gone;
  if (gone < 1024 || gone < left) return;
  size_t gone_writes = (size_t)(from->shipments.items[gone - 1].end_write - from->dropped_writes);
  memmove(from->shipments.items, from->shipments.items + gone, left * sizeof *from->shipments.items);
  memmove(from->needs.items, from->needs.items + gone * all->count, left * all->count * sizeof *from->needs.items);
  from->writes.count -= gone_writes;
  memmove(from->writes.items, from->writes.items + gone_writes, from->writes.count * sizeof *from->writes.items);
  from->shipments.count = left;
  from->needs.count = left * all->count;
  from->dropped += gone;
  from->dropped_writes += gone_writes;
}

/* Now and then one replica hears from another; the further it is behind, the more arrives at once. */
static void replica_tick(iso_sim *sim) {
  cluster *all = sim->level;
  uint32_t dice = iso_random_below(&sim->random, 4 * all->count * all->count);
  uint32_t target = dice % all->count, origin = dice / all->count;
  if (origin >= all->count || origin == target) return;
  uint64_t behind = committed_at(&all->replicas[origin]) - all->replicas[target].has[origin];
  for (uint64_t n = behind > 0 ? 1 + behind / 8 : 0; n > 0 && can_deliver(all, target, origin); n--)
    deliver(all, target, origin, all->replicas[target].has[origin] + 1);
  drop_delivered(all, origin);
}

static void replica_settle(iso_sim *sim) {
  cluster *all = sim->level;
  for (uint32_t target = 0; target < all->count; target++)
    for (uint32_t origin = 0; origin < all->count; origin++)
      deliver(all, target, origin, committed_at(&all->replicas[origin]));
}

/* ---- transactions ---- */

static isoproof_status replica_begin(iso_sim *sim, uint32_t number, isoproof_error *error) {
  (void)error;
  cluster *all = sim->level;
  iso_sim_session *session = &sim->sessions[number];
  for (size_t i = 0; i < session->claims.count; i++)
    if (session->claims.items[i].exclusive) require_newest(sim, session->replica, session->claims.items[i].key);
  const replica *home = &all->replicas[session->replica];
  for (size_t i = 0; i < session->ops.count; i++) {
    iso_sim_op *op = &session->ops.items[i];
    if (op->write) continue;
    bool own = op->own != ISO_SIM_NONE && !sim->options->lists;
    op->value = own ? session->ops.items[op->own].value : home->keys[op->key].value;
  }
  return ISOPROOF_OK;
}

static uint32_t replica_step(iso_sim *sim, uint32_t number, iso_sim_op *op) {
  (void)sim, (void)number, (void)op;
  return ISO_SIM_NONE;
}

static isoproof_status replica_commit(iso_sim *sim, uint32_t number, isoproof_error *error) {
  cluster *all = sim->level;
  const iso_sim_session *session = &sim->sessions[number];
  replica *home = &all->replicas[session->replica];
  if (session->claims.count == 0) return ISOPROOF_OK;
  for (size_t i = 0; sim->options->lists && i < session->claims.count; i++)
    require_newest(sim, session->replica, session->claims.items[i].key);
  if (!iso_vec_reserve(&home->shipments, 1) || !iso_vec_reserve(&home->needs, all->count) ||
      !iso_vec_reserve(&home->writes, session->claims.count))
    return iso_fail_memory(error);
  ISO_TRY(iso_sim_publish(sim, number, error));
  memcpy(home->needs.items + home->needs.count, home->has, all->count * sizeof *home->has);
  home->needs.count += all->count;
  all->commits++;
  size_t first = (size_t)home->dropped_writes + home->writes.count;
  uint64_t committed = committed_at(home) + 1;
  for (size_t i = 0; i < session->claims.count; i++) {
    iso_sim_key *key = &sim->keys.items[session->claims.items[i].key];
    key->writer = session->replica;
    key->version = (uint32_t)committed;
    home->writes.items[home->writes.count++] =
        (shipped_write){session->claims.items[i].key, {all->commits, key->current}};
  }
  home->shipments.items[home->shipments.count++] = (shipment){first, first + session->claims.count};
  deliver(all, session->replica, session->replica, committed);
  return ISOPROOF_OK;
}

static isoproof_status replica_install(iso_sim *sim, uint32_t number, isoproof_error *error) {
  ISO_TRY(replica_commit(sim, number, error));
  replica_settle(sim);
  return ISOPROOF_OK;
}

#define REPLICATED                                                                                                     \
  .open = replica_open, .close = replica_close, .tick = replica_tick, .settle = replica_settle, .grow = replica_grow,  \
  .begin = replica_begin, .step = replica_step, .commit = replica_commit, .install = replica_install

const iso_sim_engine iso_sim_parallel_snapshot = {.rule = ISO_SIM_EXCLUSIVE, REPLICATED};
const iso_sim_engine iso_sim_causal = {.rule = ISO_SIM_READ_BACK, REPLICATED};
