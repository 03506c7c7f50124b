/* store.c - keys and lists of the simulated database, and writing finished transactions to the history. */
#include <string.h>

#include "database/sim/sim.h"

isoproof_status iso_sim_grow(iso_sim *sim, uint32_t count, isoproof_error *error) {
  if (count <= sim->keys.count) return ISOPROOF_OK;
  size_t more = count - sim->keys.count;
  if (!iso_vec_reserve(&sim->keys, more)) return iso_fail_memory(error);
  if (sim->options->lists) {
    if (!iso_vec_reserve(&sim->lists, more)) return iso_fail_memory(error);
    memset(sim->lists.items + sim->lists.count, 0, more * sizeof *sim->lists.items);
    sim->lists.count = count;
  }
  if (sim->engine->grow != NULL) ISO_TRY(sim->engine->grow(sim, count, error));
  memset(sim->keys.items + sim->keys.count, 0, more * sizeof *sim->keys.items);
  sim->keys.count = count;
  return ISOPROOF_OK;
}

void iso_sim_store_free(iso_sim *sim) {
  for (size_t i = 0; i < sim->lists.count; i++) free(sim->lists.items[i].items);
  iso_vec_free(&sim->lists);
  iso_vec_free(&sim->keys);
  iso_vec_free(&sim->scratch);
  iso_vec_free(&sim->deferred);
  iso_vec_free(&sim->deferred_ops);
}

int64_t iso_sim_now(const iso_sim *sim) { return (int64_t)(sim->clock * ISO_SIM_STEP_NS); }

static isoproof_status plan_op(iso_sim *sim, iso_sim_op *op, uint32_t position, isoproof_error *error) {
  iso_sim_key *key = &sim->keys.items[op->key];
  op->own = key->stamp == sim->stamp ? key->last_op : ISO_SIM_NONE;
  if (!op->write) {
    if (op->own != ISO_SIM_NONE) key->read_back = sim->stamp;
    return ISOPROOF_OK;
  }
  if (key->next_value >= ISO_VALUE_INLINE_LIMIT - 1)
    return iso_fail(error, ISOPROOF_ERR_LIMIT, "more than %u writes to key %u", key->next_value, op->key);
  op->value = ++key->next_value;
  key->stamp = sim->stamp;
  key->last_op = position;
  return ISOPROOF_OK;
}

isoproof_status iso_sim_plan_txn(iso_sim *sim, uint32_t number, isoproof_error *error) {
  iso_sim_session *session = &sim->sessions[number];
  sim->stamp++;
  for (uint32_t i = 0; i < session->ops.count; i++) ISO_TRY(plan_op(sim, &session->ops.items[i], i, error));
  session->claims.count = 0;
  if (!iso_fate_takes_effect(session->fate)) return ISOPROOF_OK;
  if (!iso_vec_reserve(&session->claims, session->ops.count)) return iso_fail_memory(error);
  for (uint32_t i = 0; i < session->ops.count; i++) {
    iso_sim_op *op = &session->ops.items[i];
    const iso_sim_key *key = &sim->keys.items[op->key];
    op->final = op->write && key->last_op == i;
    if (!op->final) continue;
    iso_sim_rule rule = session->engine->rule;
    bool read_back = sim->options->lists && rule == ISO_SIM_READ_BACK && key->read_back == sim->stamp;
    session->claims.items[session->claims.count++] = (iso_sim_claim){
        .session = number, .key = op->key, .op = i, .exclusive = rule == ISO_SIM_EXCLUSIVE || read_back};
  }
  return ISOPROOF_OK;
}

static isoproof_status append_all(iso_sim *sim, const iso_sim_session *session, isoproof_error *error) {
  for (size_t i = 0; i < session->ops.count; i++) {
    const iso_sim_op *op = &session->ops.items[i];
    if (!op->write) continue;
    iso_sim_list *list = &sim->lists.items[op->key];
    if (!iso_vec_push(list, op->value)) return iso_fail_memory(error);
    sim->keys.items[op->key].current = (uint32_t)list->count;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_sim_publish(iso_sim *sim, uint32_t number, isoproof_error *error) {
  const iso_sim_session *session = &sim->sessions[number];
  if (sim->options->lists) return append_all(sim, session, error);
  for (size_t i = 0; i < session->claims.count; i++) {
    const iso_sim_claim *claim = &session->claims.items[i];
    sim->keys.items[claim->key].current = session->ops.items[claim->op].value;
  }
  return ISOPROOF_OK;
}

/* A list read: the beginning of the key's list, then the transaction's own appends. */
static isoproof_status record_list(iso_sim *sim, const iso_sim_op *ops, const iso_sim_op *op, isoproof_error *error) {
  const iso_sim_list *list = &sim->lists.items[op->key];
  size_t own = 0;
  for (uint32_t i = op->own; i != ISO_SIM_NONE; i = ops[i].own) own++;
  if (own == 0 && op->extra == 0)
    return iso_builder_list(sim->builder, ISOPROOF_OP_READ_LIST, op->key, list->items, op->value, error);
  sim->scratch.count = 0;
  size_t total = op->value + own + (op->extra != 0);
  if (!iso_vec_reserve(&sim->scratch, total)) return iso_fail_memory(error);
  iso_value *values = sim->scratch.items;
  if (op->value > 0) memcpy(values, list->items, op->value * sizeof *values);
  if (op->extra != 0) values[total - 1] = op->extra;
  size_t at = op->value + own;
  for (uint32_t i = op->own; i != ISO_SIM_NONE; i = ops[i].own) values[--at] = ops[i].value;
  return iso_builder_list(sim->builder, ISOPROOF_OP_READ_LIST, op->key, values, total, error);
}

/* The value that is written where the simulator counts this one: itself, or, for a share of them, one that the key had
 * before.  What counts as this one is always written as the same value, so that reads need nothing else. */
static uint32_t written_value(const iso_sim *sim, uint32_t key, uint32_t value) {
  double share = sim->options->duplicate_share;
  while (share > 0 && value > 1) {
    iso_random random;
    iso_random_seed(&random, sim->options->seed, (uint64_t)key << 32 | value);
    if (iso_random_double(&random) >= share) break;
    value = 1 + iso_random_below(&random, value - 1);
  }
  return value;
}

static isoproof_status record_ops(iso_sim *sim, const iso_sim_op *ops, size_t count, isoproof_error *error) {
  bool lists = sim->options->lists;
  sim->ops += count;
  for (size_t i = 0; i < count; i++) {
    const iso_sim_op *op = &ops[i];
    if (!op->write && lists) {
      ISO_TRY(record_list(sim, ops, op, error));
      continue;
    }
    isoproof_op_kind write = lists ? ISOPROOF_OP_APPEND : ISOPROOF_OP_WRITE;
    iso_value value = op->value != 0 ? written_value(sim, op->key, op->value) : ISO_VALUE_NIL;
    ISO_TRY(iso_builder_op(sim->builder, op->write ? write : ISOPROOF_OP_READ, op->key, value, error));
  }
  return ISOPROOF_OK;
}

/* Whether a list read shows elements that the final list will not have in that place. */
static bool reads_odd_list(const iso_sim *sim, const iso_sim_session *session) {
  if (!sim->options->lists) return false;
  for (size_t i = 0; i < session->ops.count; i++) {
    const iso_sim_op *op = &session->ops.items[i];
    if (op->write) continue;
    if (op->extra != 0 || (op->own != ISO_SIM_NONE && !iso_fate_takes_effect(session->fate))) return true;
  }
  return false;
}

static isoproof_status defer(iso_sim *sim, const iso_sim_session *session, uint32_t txn, isoproof_error *error) {
  iso_sim_deferred later = {txn, sim->deferred_ops.count, sim->deferred_ops.count + session->ops.count};
  if (!iso_vec_push(&sim->deferred, later) || !iso_vec_reserve(&sim->deferred_ops, session->ops.count))
    return iso_fail_memory(error);
  memcpy(sim->deferred_ops.items + later.first_op, session->ops.items, session->ops.count * sizeof *session->ops.items);
  sim->deferred_ops.count = later.end_op;
  return ISOPROOF_OK;
}

isoproof_status iso_sim_record(iso_sim *sim, uint32_t number, isoproof_error *error) {
  iso_sim_session *session = &sim->sessions[number];
  iso_txn_info info = iso_txn_unset();
  info.start = session->start;
  info.end = iso_sim_now(sim);
  info.isolation = session->isolation;
  if (session->fate == ISO_FATE_ABORT) info.status = ISOPROOF_TXN_ABORTED;
  if (session->fate == ISO_FATE_UNKNOWN_DONE || session->fate == ISO_FATE_UNKNOWN_LOST) {
    info.status = ISOPROOF_TXN_UNKNOWN;
    info.end = ISOPROOF_NO_TIME;
  }
  uint32_t txn;
  ISO_TRY(iso_builder_begin(sim->builder, number, &info, &txn, error));
  session->finished++;
  if (reads_odd_list(sim, session)) return defer(sim, session, txn, error);
  return record_ops(sim, session->ops.items, session->ops.count, error);
}

isoproof_status iso_sim_record_deferred(iso_sim *sim, isoproof_error *error) {
  for (size_t i = 0; i < sim->deferred.count; i++) {
    const iso_sim_deferred *later = &sim->deferred.items[i];
    ISO_TRY(iso_builder_reopen(sim->builder, later->txn, 0, error));
    ISO_TRY(record_ops(sim, sim->deferred_ops.items + later->first_op, later->end_op - later->first_op, error));
  }
  return ISOPROOF_OK;
}
