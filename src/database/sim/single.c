/* single.c - the levels of a store with one copy: serializable, snapshot isolation, read committed. */
#include "database/sim/sim.h"

/* What a read sees when the newest version is the right one. */
static void read_newest(const iso_sim *sim, const iso_sim_session *session, iso_sim_op *op) {
  bool own = op->own != ISO_SIM_NONE && !sim->options->lists;
  op->value = own ? session->ops.items[op->own].value : sim->keys.items[op->key].current;
}

static uint32_t step_free(iso_sim *sim, uint32_t session, iso_sim_op *op) {
  (void)sim, (void)session, (void)op;
  return ISO_SIM_NONE;
}

/* ---- serializable ----
 * The serial order is that in which transactions begin, which real time cannot contradict.  Beginning fixes everything:
 * a read sees the last version declared so far, and waits until the one who declared it has committed; then the
 * transaction declares its own final writes.  Waiting is only for transactions that began earlier. */

static void declare(iso_sim *sim, uint32_t number) {
  const iso_sim_session *session = &sim->sessions[number];
  for (size_t i = 0; i < session->claims.count; i++) {
    iso_sim_key *key = &sim->keys.items[session->claims.items[i].key];
    key->writer = number;
    key->version = session->number;
  }
}

static isoproof_status serial_begin(iso_sim *sim, uint32_t number, isoproof_error *error) {
  iso_sim_session *session = &sim->sessions[number];
  bool lists = sim->options->lists;
  for (size_t i = 0; i < session->ops.count; i++) {
    iso_sim_op *op = &session->ops.items[i];
    if (!op->write) read_newest(sim, session, op);
    /* Elements of a list become visible together with all before them, so appends wait, too. */
    bool waits = lists || (!op->write && op->own == ISO_SIM_NONE);
    op->wait_session = sim->keys.items[op->key].writer;
    op->wait_number = waits ? sim->keys.items[op->key].version : 0;
  }
  if (!iso_fate_takes_effect(session->fate)) return ISOPROOF_OK;
  declare(sim, number);
  return iso_sim_publish(sim, number, error);
}

static uint32_t serial_step(iso_sim *sim, uint32_t number, iso_sim_op *op) {
  (void)number;
  if (op->wait_number == 0 || sim->sessions[op->wait_session].number != op->wait_number) return ISO_SIM_NONE;
  return op->wait_session;
}

static isoproof_status serial_commit(iso_sim *sim, uint32_t number, isoproof_error *error) {
  (void)sim, (void)number, (void)error;
  return ISOPROOF_OK;
}

const iso_sim_engine iso_sim_serializable = {.rule = ISO_SIM_SHARED,
                                             .begin = serial_begin,
                                             .step = serial_step,
                                             .commit = serial_commit,
                                             .install = iso_sim_publish};

/* ---- serializable beside other levels ----
 * Everything happens at the commit: until then reads are what they would be if the client gave up. */

static isoproof_status late_begin(iso_sim *sim, uint32_t number, isoproof_error *error) {
  (void)sim, (void)number, (void)error;
  return ISOPROOF_OK;
}

static uint32_t late_step(iso_sim *sim, uint32_t number, iso_sim_op *op) {
  if (!op->write) read_newest(sim, &sim->sessions[number], op);
  return ISO_SIM_NONE;
}

static isoproof_status late_commit(iso_sim *sim, uint32_t number, isoproof_error *error) {
  iso_sim_session *session = &sim->sessions[number];
  for (size_t i = 0; i < session->ops.count; i++)
    if (!session->ops.items[i].write) read_newest(sim, session, &session->ops.items[i]);
  return iso_sim_publish(sim, number, error);
}

const iso_sim_engine iso_sim_late_serializable = {
    .rule = ISO_SIM_SHARED, .begin = late_begin, .step = late_step, .commit = late_commit, .install = iso_sim_publish};

/* ---- snapshot isolation ----
 * The snapshot is the state when the transaction begins.  Whoever writes a key runs alone among its writers, so that
 * the version it overwrites is always in its snapshot. */

static isoproof_status snapshot_begin(iso_sim *sim, uint32_t number, isoproof_error *error) {
  (void)error;
  iso_sim_session *session = &sim->sessions[number];
  for (size_t i = 0; i < session->ops.count; i++)
    if (!session->ops.items[i].write) read_newest(sim, session, &session->ops.items[i]);
  return ISOPROOF_OK;
}

const iso_sim_engine iso_sim_snapshot = {.rule = ISO_SIM_EXCLUSIVE,
                                         .begin = snapshot_begin,
                                         .step = step_free,
                                         .commit = iso_sim_publish,
                                         .install = iso_sim_publish};

/* ---- read committed ----
 * Every read sees the newest committed version of its moment; writes stay private until the end. */

static isoproof_status committed_begin(iso_sim *sim, uint32_t number, isoproof_error *error) {
  (void)sim, (void)number, (void)error;
  return ISOPROOF_OK;
}

static uint32_t committed_step(iso_sim *sim, uint32_t number, iso_sim_op *op) {
  if (!op->write) read_newest(sim, &sim->sessions[number], op);
  return ISO_SIM_NONE;
}

const iso_sim_engine iso_sim_read_committed = {.rule = ISO_SIM_READ_BACK,
                                               .begin = committed_begin,
                                               .step = committed_step,
                                               .commit = iso_sim_publish,
                                               .install = iso_sim_publish};
