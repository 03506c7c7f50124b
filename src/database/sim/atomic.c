/* atomic.c - read atomic: perhaps stale, but all or nothing of each transaction that is read from.
 *
 * Versions are numbered in the order of commits, those of one transaction one after the other.  Each key that a
 * transaction reads starts with a version a little behind the newest, though not behind one that the own session wrote.
 * Then, for every transaction read from, the keys that it wrote are raised to its versions, until nothing changes: that
 * is the condition of the level, word by word, and ends because versions only rise.  Causality is not kept: what the
 * writer had read may be missed.
 */
#include "database/sim/sim.h"

/* How far behind a read can start, in versions. */
enum { MOST_STALE = 8 };

typedef struct version {
  uint32_t key;
  uint32_t value;    /* or the length of the list */
  uint32_t previous; /* of the same key, 0 for the initial one */
  uint32_t txn;
} version;

typedef struct writer {
  uint32_t session;
  uint32_t first_version;
} writer;

/* The version chosen for a key that is read. */
typedef struct choice {
  uint32_t key, version;
} choice;

typedef struct mark {
  uint32_t stamp, choice;
} mark;

typedef struct archive {
  ISO_VEC(version) versions; /* number 0 stands for the initial ones */
  ISO_VEC(writer) writers;
  ISO_VEC(choice) choices;
  ISO_VEC(uint32_t) raised; /* choices whose transaction has not been looked at */
  mark *marks;              /* per key: its choice in the transaction that begins */
  size_t mark_capacity;
  uint32_t stamp;
} archive;

static void atomic_close(iso_sim *sim) {
  archive *all = sim->level;
  if (all == NULL) return;
  iso_vec_free(&all->versions);
  iso_vec_free(&all->writers);
  iso_vec_free(&all->choices);
  iso_vec_free(&all->raised);
  free(all->marks);
  free(all);
  sim->level = NULL;
}

static isoproof_status atomic_open(iso_sim *sim, isoproof_error *error) {
  archive *all = iso_alloc_zero(1, sizeof *all);
  if (all == NULL) return iso_fail_memory(error);
  sim->level = all;
  if (!iso_vec_push(&all->versions, ((version){0, 0, 0, 0})) ||
      !iso_vec_push(&all->writers, ((writer){ISO_SIM_NONE, 0})))
    return iso_fail_memory(error);
  return ISOPROOF_OK;
}

static isoproof_status atomic_grow(iso_sim *sim, uint32_t keys, isoproof_error *error) {
  archive *all = sim->level;
  size_t before = all->mark_capacity;
  if (keys <= before) return ISOPROOF_OK;
  if (!iso_vec_grow((void **)&all->marks, &all->mark_capacity, keys, sizeof *all->marks)) return iso_fail_memory(error);
  for (size_t i = before; i < all->mark_capacity; i++) all->marks[i] = (mark){0, 0};
  return ISOPROOF_OK;
}

/* A version of the key that the session may see as far as its own writes are concerned. */
static uint32_t pick(iso_sim *sim, uint32_t session, uint32_t key) {
  const archive *all = sim->level;
  uint32_t chosen = sim->keys.items[key].version;
  if (sim->final_reads) return chosen;
  for (int i = 0; i < MOST_STALE && chosen != 0 && (iso_random_next(&sim->random) >> 63) != 0; i++) {
    const version *newer = &all->versions.items[chosen];
    if (all->writers.items[newer->txn].session == session) break;
    chosen = newer->previous;
  }
  return chosen;
}

static isoproof_status choose(iso_sim *sim, uint32_t key, uint32_t chosen, isoproof_error *error) {
  archive *all = sim->level;
  all->marks[key] = (mark){all->stamp, (uint32_t)all->choices.count};
  if (!iso_vec_push(&all->choices, ((choice){key, chosen}))) return iso_fail_memory(error);
  return ISOPROOF_OK;
}

/* First choices for every key that is read from others. */
static isoproof_status choose_all(iso_sim *sim, uint32_t number, isoproof_error *error) {
  archive *all = sim->level;
  const iso_sim_session *session = &sim->sessions[number];
  all->stamp++;
  all->choices.count = 0;
  for (size_t i = 0; i < session->claims.count; i++) {
    const iso_sim_claim *claim = &session->claims.items[i];
    if (claim->exclusive) ISO_TRY(choose(sim, claim->key, sim->keys.items[claim->key].version, error));
  }
  for (size_t i = 0; i < session->ops.count; i++) {
    const iso_sim_op *op = &session->ops.items[i];
    if (op->write || all->marks[op->key].stamp == all->stamp) continue;
    if (op->own != ISO_SIM_NONE && !sim->options->lists) continue;
    ISO_TRY(choose(sim, op->key, pick(sim, number, op->key), error));
  }
  return ISOPROOF_OK;
}

/* Raises choices until none misses a write of a transaction that another choice reads from. */
static isoproof_status raise_all(archive *all, isoproof_error *error) {
  all->raised.count = 0;
  for (uint32_t i = 0; i < all->choices.count; i++)
    if (!iso_vec_push(&all->raised, i)) return iso_fail_memory(error);
  while (all->raised.count > 0) {
    uint32_t from = all->choices.items[all->raised.items[--all->raised.count]].version;
    if (from == 0) continue;
    uint32_t txn = all->versions.items[from].txn;
    for (uint32_t v = all->writers.items[txn].first_version;
         v < all->versions.count && all->versions.items[v].txn == txn; v++) {
      mark at = all->marks[all->versions.items[v].key];
      if (at.stamp != all->stamp || all->choices.items[at.choice].version >= v) continue;
      all->choices.items[at.choice].version = v;
      if (!iso_vec_push(&all->raised, at.choice)) return iso_fail_memory(error);
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status atomic_begin(iso_sim *sim, uint32_t number, isoproof_error *error) {
  archive *all = sim->level;
  iso_sim_session *session = &sim->sessions[number];
  ISO_TRY(choose_all(sim, number, error));
  ISO_TRY(raise_all(all, error));
  for (size_t i = 0; i < session->ops.count; i++) {
    iso_sim_op *op = &session->ops.items[i];
    if (op->write) continue;
    if (op->own != ISO_SIM_NONE && !sim->options->lists) {
      op->value = session->ops.items[op->own].value;
    } else {
      op->value = all->versions.items[all->choices.items[all->marks[op->key].choice].version].value;
    }
  }
  return ISOPROOF_OK;
}

static uint32_t atomic_step(iso_sim *sim, uint32_t number, iso_sim_op *op) {
  (void)sim, (void)number, (void)op;
  return ISO_SIM_NONE;
}

static isoproof_status atomic_commit(iso_sim *sim, uint32_t number, isoproof_error *error) {
  archive *all = sim->level;
  const iso_sim_session *session = &sim->sessions[number];
  ISO_TRY(iso_sim_publish(sim, number, error));
  if (session->claims.count == 0) return ISOPROOF_OK;
  writer one = {number, (uint32_t)all->versions.count};
  uint32_t txn = (uint32_t)all->writers.count;
  if (!iso_vec_push(&all->writers, one) || !iso_vec_reserve(&all->versions, session->claims.count))
    return iso_fail_memory(error);
  for (size_t i = 0; i < session->claims.count; i++) {
    uint32_t key_number = session->claims.items[i].key;
    iso_sim_key *key = &sim->keys.items[key_number];
    uint32_t added = (uint32_t)all->versions.count;
    all->versions.items[all->versions.count++] = (version){key_number, key->current, key->version, txn};
    key->version = added;
  }
  return ISOPROOF_OK;
}

const iso_sim_engine iso_sim_read_atomic = {.rule = ISO_SIM_READ_BACK,
                                            .open = atomic_open,
                                            .close = atomic_close,
                                            .grow = atomic_grow,
                                            .begin = atomic_begin,
                                            .step = atomic_step,
                                            .commit = atomic_commit,
                                            .install = atomic_commit};
