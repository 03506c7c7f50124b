/* schedule.c - the scheduler: one step of one random session at a time. */
#include "database/sim/sim.h"

/* How often the task is asked, in steps. */
enum { CHECK_EVERY = 4096, FINAL_READS_PER_TXN = 1000 };

void iso_sim_make_runnable(iso_sim *sim, uint32_t session) { sim->runnable[sim->runnable_count++] = session; }

/* Takes the next transaction of the workload. */
static isoproof_status take_txn(iso_sim *sim, uint32_t number, isoproof_error *error) {
  iso_sim_session *session = &sim->sessions[number];
  iso_op_mix_txn txn;
  ISO_TRY(iso_op_mix_next(sim->workload, &txn, error));
  ISO_TRY(iso_sim_grow(sim, iso_op_mix_keys(sim->workload), error));
  session->ops.count = 0;
  if (!iso_vec_reserve(&session->ops, txn.count)) return iso_fail_memory(error);
  for (uint32_t i = 0; i < txn.count; i++)
    session->ops.items[i] = (iso_sim_op){.key = txn.ops[i].key, .write = txn.ops[i].write};
  session->ops.count = txn.count;
  session->fate = txn.fate;
  session->start = iso_sim_now(sim);
  iso_sim_draw_level(sim, number);
  sim->begun++;
  return iso_sim_plan_txn(sim, number, error);
}

static isoproof_status begin(iso_sim *sim, uint32_t number, isoproof_error *error) {
  iso_sim_session *session = &sim->sessions[number];
  session->number = ++sim->last_number;
  session->next_op = 0;
  session->phase = ISO_SIM_RUNNING;
  return session->engine->begin(sim, number, error);
}

static isoproof_status finish(iso_sim *sim, uint32_t number, isoproof_error *error) {
  iso_sim_session *session = &sim->sessions[number];
  if (iso_fate_takes_effect(session->fate)) ISO_TRY(session->engine->commit(sim, number, error));
  ISO_TRY(iso_sim_record(sim, number, error));
  iso_sim_release_all(sim, number);
  session->number = 0;
  session->phase = ISO_SIM_IDLE;
  for (uint32_t waiter = session->first_waiter; waiter != ISO_SIM_NONE;) {
    uint32_t next = sim->sessions[waiter].next_waiter;
    iso_sim_make_runnable(sim, waiter);
    waiter = next;
  }
  session->first_waiter = ISO_SIM_NONE;
  return ISOPROOF_OK;
}

/* An idle session's step; *stays says whether it remains runnable. */
static isoproof_status start(iso_sim *sim, uint32_t number, bool *stays, isoproof_error *error) {
  *stays = false;
  if (iso_sim_bug_due(sim)) return iso_sim_park(sim, number, error);
  if (sim->begun == sim->options->txns) return ISOPROOF_OK;
  ISO_TRY(take_txn(sim, number, error));
  if (!iso_sim_claim_all(sim, number)) {
    sim->sessions[number].phase = ISO_SIM_QUEUED;
    return ISOPROOF_OK;
  }
  *stays = true;
  return begin(sim, number, error);
}

static isoproof_status step(iso_sim *sim, uint32_t number, bool *stays, isoproof_error *error) {
  iso_sim_session *session = &sim->sessions[number];
  *stays = true;
  if (session->phase == ISO_SIM_IDLE) return start(sim, number, stays, error);
  if (session->phase == ISO_SIM_ADMITTED) return begin(sim, number, error);
  if (session->next_op == session->ops.count) return finish(sim, number, error);
  uint32_t blocker = session->engine->step(sim, number, &session->ops.items[session->next_op]);
  if (blocker == ISO_SIM_NONE) {
    session->next_op++;
  } else {
    session->next_waiter = sim->sessions[blocker].first_waiter;
    sim->sessions[blocker].first_waiter = number;
    *stays = false;
  }
  return ISOPROOF_OK;
}

/* Reads keys [first, end) in one transaction of the extra session. */
static isoproof_status read_finally(iso_sim *sim, uint32_t first, uint32_t end, isoproof_error *error) {
  uint32_t number = sim->options->sessions;
  iso_sim_session *session = &sim->sessions[number];
  session->ops.count = 0;
  for (uint32_t key = first; key < end; key++)
    if (!iso_vec_push(&session->ops, ((iso_sim_op){.key = key}))) return iso_fail_memory(error);
  session->fate = ISO_FATE_COMMIT;
  iso_sim_give_level(sim, number, ISOPROOF_SIM_SERIALIZABLE);
  sim->clock++;
  session->start = iso_sim_now(sim);
  ISO_TRY(iso_sim_plan_txn(sim, number, error));
  ISO_TRY(begin(sim, number, error));
  for (size_t i = 0; i < session->ops.count; i++) {
    sim->clock++;
    session->engine->step(sim, number, &session->ops.items[i]);
  }
  sim->clock++;
  return finish(sim, number, error);
}

static isoproof_status read_everything(iso_sim *sim, isoproof_error *error) {
  sim->final_reads = true;
  if (sim->engine->settle != NULL) sim->engine->settle(sim);
  uint32_t keys = (uint32_t)sim->keys.count;
  for (uint32_t first = 0; first < keys;) {
    ISO_TRY(iso_task_check(sim->task, error));
    uint32_t end = keys - first > FINAL_READS_PER_TXN ? first + FINAL_READS_PER_TXN : keys;
    ISO_TRY(read_finally(sim, first, end, error));
    first = end;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_sim_run(iso_sim *sim, isoproof_error *error) {
  for (uint32_t i = 0; i < sim->options->sessions; i++) iso_sim_make_runnable(sim, i);
  while (sim->runnable_count > 0) {
    if (sim->clock % CHECK_EVERY == 0) {
      ISO_TRY(iso_task_check(sim->task, error));
      iso_task_progress(sim->task, "simulating", "transactions", sim->begun, sim->options->txns);
    }
    sim->clock++;
    if (sim->engine->tick != NULL) sim->engine->tick(sim);
    uint32_t at = iso_random_below(&sim->random, sim->runnable_count);
    bool stays;
    ISO_TRY(step(sim, sim->runnable[at], &stays, error));
    if (!stays) sim->runnable[at] = sim->runnable[--sim->runnable_count];
  }
  if (sim->options->lists) ISO_TRY(read_everything(sim, error));
  return iso_sim_record_deferred(sim, error);
}
