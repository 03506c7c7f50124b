/* bugs.c - injecting bugs: scripted transactions that break one level for certain, and no weaker one.
 *
 * A script runs between two steps of the scheduler, by sessions that are between two transactions, on keys that no
 * running transaction will write.  Every write reads its key first, so that the order of the versions is never open,
 * and the violation is certain whatever the rest of the history does.
 *
 * The language: actors A to D; `A(` begins, `A)` commits, `A!` aborts; `Awx` writes x; `Adx` appends to x, and the
 * element arrives twice; `Arx0` reads the version of x before the script, `Arx1` the one of the script's first write
 * of x, and so on; `Arx?` reads what nobody ever writes.
 */
#include <string.h>

#include "database/sim/sim.h"

enum { MOST_BUGS = 1000000, MOST_WRITES = 4, DRAWS = 64, THIN_AIR = '?' - '0' };

static const char *const scripts[ISOPROOF_SIM_BUGS] = {
    [ISOPROOF_SIM_BUG_LOST_UPDATE] = "A( B( Arx0 Brx0 Awx Bwx A) B)",
    [ISOPROOF_SIM_BUG_WRITE_SKEW] = "A( B( Arx0 Brx0 Ary0 Bry0 Awx Bwy A) B)",
    [ISOPROOF_SIM_BUG_LONG_FORK] = "A( B( C( D( Arx0 Awx A) Bry0 Bwy B) Crx1 Drx0 Cry0 C) Dry1 D)",
    [ISOPROOF_SIM_BUG_FRACTURED_READ] = "A( B( Arx0 Ary0 Brx0 Awx Awy A) Bry1 B)",
    [ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION] = "C( A( Arx0 Awx A) B( Brx1 Bry0 Bwy B) Cry1 Crx0 C)",
    [ISOPROOF_SIM_BUG_STALE_READ] = "A( Arx0 Awx A) B( Brx0 B)",
    [ISOPROOF_SIM_BUG_ABORTED_READ] = "A( Arx0 Awx B( Brx1 A! B)",
    [ISOPROOF_SIM_BUG_INTERMEDIATE_READ] = "A( Arx0 Awx B( Brx1 Awx A) B)",
    [ISOPROOF_SIM_BUG_NON_REPEATABLE_READ] = "B( Brx0 A( Arx0 Awx A) Brx1 B)",
    [ISOPROOF_SIM_BUG_OWN_WRITE_MISSED] = "A( Arx0 Awx Arx0 A)",
    [ISOPROOF_SIM_BUG_THIN_AIR_READ] = "A( Arx? A)",
    [ISOPROOF_SIM_BUG_DUPLICATE_APPEND] = "A( Arx0 Adx A) B( Brx2 B)",
};

/* Where every transaction is a single operation: instead of the writer, a read that ends before the write begins says
 * which version came first. */
static const char *const single_scripts[ISOPROOF_SIM_BUGS] = {
    [ISOPROOF_SIM_BUG_STALE_READ] = "C( Crx0 C) A( Awx A) B( Brx0 B)",
    [ISOPROOF_SIM_BUG_ABORTED_READ] = "A( Awx B( Brx1 A! B)",
};

static const char *script_of(const isoproof_sim_options *options, isoproof_sim_bug bug) {
  bool single = options->ops_max == 1 && single_scripts[bug] != NULL;
  return single ? single_scripts[bug] : scripts[bug];
}

uint32_t iso_sim_bug_sessions(const isoproof_sim_options *options, isoproof_sim_bug bug) {
  uint32_t most = 0;
  for (const char *c = script_of(options, bug); *c != '\0'; c++)
    if (*c >= 'A' && *c <= 'D' && (uint32_t)(*c - 'A') >= most) most = (uint32_t)(*c - 'A') + 1;
  return most;
}

uint32_t iso_sim_bug_keys(isoproof_sim_bug bug) { return strchr(scripts[bug], 'y') != NULL ? 2 : 1; }

/* ---- when ---- */

static int by_moment(const void *a, const void *b) {
  const iso_sim_plan *x = a, *y = b;
  if (x->when != y->when) return x->when < y->when ? -1 : 1;
  if (x->order != y->order) return x->order < y->order ? -1 : 1;
  return (x->bug > y->bug) - (x->bug < y->bug);
}

isoproof_status iso_sim_plan_bugs(iso_sim *sim, isoproof_error *error) {
  iso_random random;
  iso_random_seed(&random, sim->options->seed, 3);
  for (int bug = 0; bug < ISOPROOF_SIM_BUGS; bug++) {
    for (uint64_t i = 0; i < sim->options->bugs[bug]; i++) {
      if (sim->plans.count == MOST_BUGS)
        return iso_fail(error, ISOPROOF_ERR_USAGE, "bugs: expected at most %d in all, found more", MOST_BUGS);
      iso_sim_plan plan = {iso_random_below64(&random, sim->options->txns + 1), iso_random_next(&random),
                           (isoproof_sim_bug)bug};
      if (!iso_vec_push(&sim->plans, plan)) return iso_fail_memory(error);
    }
  }
  if (sim->plans.count > 1) qsort(sim->plans.items, sim->plans.count, sizeof *sim->plans.items, by_moment);
  return ISOPROOF_OK;
}

bool iso_sim_bug_due(const iso_sim *sim) {
  return sim->next_plan < sim->plans.count && sim->plans.items[sim->next_plan].when <= sim->begun;
}

/* ---- where ---- */

static bool is_free(const iso_sim *sim, uint32_t key) { return sim->keys.items[key].first == NULL; }

/* Keys that no running transaction will write.  Once every session is idle, any will do. */
static bool find_keys(iso_sim *sim, uint32_t count, uint32_t keys[2]) {
  keys[1] = ISO_SIM_NONE;
  for (int i = 0; i < DRAWS; i++) {
    if (!iso_op_mix_draw(sim->workload, &sim->random, &keys[0], count > 1 ? &keys[1] : NULL)) continue;
    if (is_free(sim, keys[0]) && (count == 1 || is_free(sim, keys[1]))) return true;
  }
  if (sim->parked_count < sim->options->sessions) return false;
  uint32_t first = iso_random_below(&sim->random, sim->options->keys);
  keys[0] = iso_op_mix_key_at(sim->workload, first);
  if (count > 1) keys[1] = iso_op_mix_key_at(sim->workload, (first + 1) % sim->options->keys);
  return true;
}

/* ---- running a script ---- */

typedef struct scripted_write {
  uint32_t actor, op;
} scripted_write;

typedef struct stage {
  iso_sim *sim;
  uint32_t keys[2];
  uint32_t base[2]; /* the versions before the script */
  scripted_write writes[2][MOST_WRITES];
  uint32_t write_count[2];
  uint32_t sessions[4];
  bool doubled[4]; /* the actor's last operation is the second arrival of its append */
} stage;

static iso_sim_session *actor_session(const stage *on, uint32_t actor) {
  return &on->sim->sessions[on->sessions[actor]];
}

static isoproof_status add_op(const stage *on, uint32_t actor, iso_sim_op op, isoproof_error *error) {
  return iso_vec_push(&actor_session(on, actor)->ops, op) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* Gives every actor its operations.  A read keeps the number of its version in `value`. */
static isoproof_status cast(stage *on, const char *script, isoproof_error *error) {
  for (const char *c = script; *c != '\0'; c++) {
    if (*c == ' ') continue;
    uint32_t actor = (uint32_t)(*c++ - 'A');
    if (*c == '!') actor_session(on, actor)->fate = ISO_FATE_ABORT;
    if (*c != 'r' && *c != 'w' && *c != 'd') continue;
    char what = *c++;
    uint32_t which = *c == 'y';
    iso_sim_op op = {.key = on->keys[which], .write = what != 'r', .own = ISO_SIM_NONE};
    if (what == 'r')
      op.value = (uint32_t)(*++c - '0');
    else
      on->writes[which][on->write_count[which]++] =
          (scripted_write){actor, (uint32_t)actor_session(on, actor)->ops.count};
    ISO_TRY(add_op(on, actor, op, error));
    if (what != 'd') continue;
    ISO_TRY(add_op(on, actor, op, error));
    on->doubled[actor] = true;
  }
  return ISOPROOF_OK;
}

/* Turns the number of a version into what the read shows. */
static void resolve_read(const stage *on, iso_sim_op *op) {
  uint32_t which = op->key == on->keys[0] ? 0 : 1, number = op->value;
  bool lists = on->sim->options->lists;
  op->own = ISO_SIM_NONE; /* a script says itself what is seen */
  op->value = on->base[which];
  if (number == 0) return;
  uint32_t value;
  bool joins_list = lists; /* the element will be in the list when the read is written down */
  if (number == THIN_AIR) {
    value = ++on->sim->keys.items[op->key].next_value;
    joins_list = false;
  } else {
    uint32_t last = number <= on->write_count[which] ? number - 1 : on->write_count[which] - 1;
    const scripted_write *write = &on->writes[which][last];
    const iso_sim_session *writer = actor_session(on, write->actor);
    value = writer->ops.items[write->op].value;
    joins_list = lists && writer->fate == ISO_FATE_COMMIT;
  }
  if (joins_list)
    op->value += number;
  else if (lists)
    op->extra = value;
  else
    op->value = value;
}

static isoproof_status rehearse(const stage *on, uint32_t actors, isoproof_error *error) {
  for (uint32_t a = 0; a < actors; a++) {
    iso_sim_session *session = actor_session(on, a);
    ISO_TRY(iso_sim_plan_txn(on->sim, on->sessions[a], error));
    size_t count = session->ops.count;
    if (on->doubled[a]) session->ops.items[count - 1].value = session->ops.items[count - 2].value;
  }
  for (uint32_t a = 0; a < actors; a++) {
    iso_sim_session *session = actor_session(on, a);
    for (size_t i = 0; i < session->ops.count; i++)
      if (!session->ops.items[i].write) resolve_read(on, &session->ops.items[i]);
  }
  return ISOPROOF_OK;
}

static isoproof_status end_actor(const stage *on, uint32_t actor, iso_sim_fault *fault, isoproof_error *error) {
  iso_sim *sim = on->sim;
  uint32_t number = on->sessions[actor];
  iso_sim_session *session = &sim->sessions[number];
  if (session->fate == ISO_FATE_COMMIT) ISO_TRY(session->engine->install(sim, number, error));
  if (on->doubled[actor]) session->ops.count--;
  fault->sessions[actor] = number;
  fault->indexes[actor] = session->finished;
  ISO_TRY(iso_sim_record(sim, number, error));
  session->claims.count = 0; /* they were never queued */
  return ISOPROOF_OK;
}

static isoproof_status perform(const stage *on, const char *script, iso_sim_fault *fault, isoproof_error *error) {
  for (const char *c = script; *c != '\0'; c++) {
    if (*c == ' ') continue;
    uint32_t actor = (uint32_t)(*c++ - 'A');
    on->sim->clock++;
    if (*c == '(')
      actor_session(on, actor)->start = iso_sim_now(on->sim);
    else if (*c == ')' || *c == '!')
      ISO_TRY(end_actor(on, actor, fault, error));
    while (c[1] != '\0' && c[1] != ' ') c++;
  }
  return ISOPROOF_OK;
}

static isoproof_status inject(iso_sim *sim, isoproof_sim_bug bug, const uint32_t keys[2], isoproof_error *error) {
  stage on = {.sim = sim, .keys = {keys[0], keys[1]}};
  iso_sim_fault fault = {
      .bug = bug, .txns = iso_sim_bug_sessions(sim->options, bug), .key_count = iso_sim_bug_keys(bug)};
  if (sim->engine->settle != NULL) sim->engine->settle(sim);
  for (uint32_t i = 0; i < fault.key_count; i++) {
    fault.keys[i] = keys[i];
    on.base[i] = sim->keys.items[keys[i]].current;
  }
  for (uint32_t a = 0; a < fault.txns; a++) {
    uint32_t other = a + iso_random_below(&sim->random, sim->parked_count - a);
    on.sessions[a] = sim->parked[other];
    sim->parked[other] = sim->parked[a];
    sim->parked[a] = on.sessions[a];
    actor_session(&on, a)->ops.count = 0;
    actor_session(&on, a)->fate = ISO_FATE_COMMIT;
    iso_sim_give_level(sim, on.sessions[a], ISOPROOF_SIM_SERIALIZABLE);
  }
  ISO_TRY(cast(&on, script_of(sim->options, bug), error));
  ISO_TRY(rehearse(&on, fault.txns, error));
  ISO_TRY(perform(&on, script_of(sim->options, bug), &fault, error));
  return iso_vec_push(&sim->faults, fault) ? ISOPROOF_OK : iso_fail_memory(error);
}

isoproof_status iso_sim_park(iso_sim *sim, uint32_t session, isoproof_error *error) {
  isoproof_sim_bug bug = sim->plans.items[sim->next_plan].bug;
  sim->parked[sim->parked_count++] = session;
  if (sim->parked_count < (sim->draining ? sim->options->sessions : iso_sim_bug_sessions(sim->options, bug)))
    return ISOPROOF_OK;
  uint32_t keys[2];
  if (!find_keys(sim, iso_sim_bug_keys(bug), keys)) {
    sim->draining = true;
    return ISOPROOF_OK;
  }
  ISO_TRY(inject(sim, bug, keys, error));
  sim->next_plan++;
  sim->draining = false;
  for (uint32_t i = 0; i < sim->parked_count; i++) iso_sim_make_runnable(sim, sim->parked[i]);
  sim->parked_count = 0;
  return ISOPROOF_OK;
}
