/* rows.c - isoproof_simulate with rows: one thread plays all sessions on the simulated database of clients, one random
 * request at a time, and writes down what it sees.
 *
 * Bugs happen between transactions, to rows beyond the keys of the workload, with values that no query of the workload
 * asks for: what they break is certain, and nothing else takes part.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/task.h"
#include "database/driver.h"
#include "database/sim/sim.h"

enum {
  MOST_ROW_SESSIONS = 10000,
  MOST_ROW_BUGS = 1000000,
  MOST_SPAN = 10,           /* keys of a query by key */
  MOST_VALUE_SPAN = 50,     /* values of a query by value, ... */
  MOST_KEYS_BY_VALUE = 200, /* ... which looks at every row: only where there are few */
  BUG_KEYS = 2              /* rows of a bug */
};

typedef struct player {
  iso_connection *connection;
  uint32_t session, txn; /* in the builder */
  uint32_t index;        /* transactions so far */
  bool open, aborts, unknown;
  uint32_t planned, done;
  int64_t start;
} player;

typedef struct game {
  const isoproof_sim_options *options;
  iso_database *database;
  isoproof_builder *builder;
  iso_random random;
  iso_key_source keys;
  player *players;
  uint32_t open; /* players with a transaction */
  uint64_t begun;
  int64_t clock, next_value, next_bug_key, next_bug_value;
  uint64_t left[ISOPROOF_SIM_BUGS], bugs_left;
  iso_sim_faults *faults;
  iso_reply reply;
} game;

/* ---- writing down ---- */

static isoproof_status begin_txn(game *g, player *p, isoproof_error *error) {
  iso_txn_info info = iso_txn_unset();
  info.start = p->start = ++g->clock;
  p->index++;
  return iso_builder_begin(g->builder, p->session, &info, &p->txn, error);
}

static isoproof_status end_txn(game *g, const player *p, isoproof_txn_status status, isoproof_error *error) {
  iso_txn_info info = iso_txn_unset();
  info.status = status;
  info.start = p->start;
  info.end = ++g->clock;
  if (status == ISOPROOF_TXN_UNKNOWN) info.end = ISOPROOF_NO_TIME;
  return iso_builder_update(g->builder, p->txn, &info, error);
}

static isoproof_status note_row(game *g, const player *p, isoproof_row_form form, int64_t key, int64_t value,
                                isoproof_error *error) {
  ISO_TRY(iso_builder_reopen(g->builder, p->txn, 0, error));
  return isoproof_builder_row(g->builder, form, key, value, error);
}

static isoproof_status note_query(game *g, const player *p, const iso_predicate *predicate, bool counts,
                                  const iso_row_value *rows, size_t count, isoproof_error *error) {
  ISO_TRY(iso_builder_reopen(g->builder, p->txn, 0, error));
  return iso_builder_statement(g->builder, counts ? ISO_ROW_COUNT : ISO_ROW_PREDICATE, predicate, true,
                               counts ? NULL : rows, counts ? 0 : count, (int64_t)count, error);
}

/* ---- the workload ---- */

static isoproof_status query(game *g, const player *p, isoproof_error *error) {
  bool counts = iso_random_chance(&g->random, 0.5);
  bool by_value = g->options->keys <= MOST_KEYS_BY_VALUE && iso_random_chance(&g->random, 0.3);
  uint32_t span = by_value ? MOST_VALUE_SPAN : g->options->keys < MOST_SPAN ? g->options->keys : MOST_SPAN;
  int64_t low =
      by_value ? g->next_value - (int64_t)iso_random_below(&g->random, span) : iso_keys_draw(&g->keys, &g->random);
  int64_t high = low + iso_random_below(&g->random, span);
  if (!by_value && high >= g->options->keys) high = g->options->keys - 1;
  iso_driver_request made = {
      .kind = counts ? ISO_COUNT : ISO_READ_RANGE, .key = low, .high = high, .by_value = by_value};
  iso_predicate predicate = {.of_keys = !by_value,
                             .of_values = by_value,
                             .key_low = by_value ? 0 : low,
                             .key_high = by_value ? 0 : high,
                             .value_low = by_value ? low : 0,
                             .value_high = by_value ? high : 0};
  if (iso_do(p->connection, &made, &g->reply) != ISO_OUTCOME_OK) return ISOPROOF_OK;
  if (counts) return note_query(g, p, &predicate, true, NULL, (size_t)g->reply.value, error);
  iso_row_value *rows = iso_alloc(g->reply.rows.count, sizeof *rows);
  if (rows == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < g->reply.rows.count; i++)
    rows[i] = (iso_row_value){g->reply.rows.items[i].key, g->reply.rows.items[i].value};
  isoproof_status status = note_query(g, p, &predicate, false, rows, g->reply.rows.count, error);
  free(rows);
  return status;
}

static isoproof_status look_up(game *g, const player *p, isoproof_error *error) {
  int64_t key = iso_keys_draw(&g->keys, &g->random);
  if (iso_read(p->connection, key, &g->reply) != ISO_OUTCOME_OK) return ISOPROOF_OK;
  isoproof_scalar value = g->reply.present ? isoproof_integer(g->reply.value) : isoproof_nil();
  ISO_TRY(iso_builder_reopen(g->builder, p->txn, 0, error));
  return isoproof_builder_op(g->builder, ISOPROOF_OP_READ, isoproof_integer(key), value, error);
}

static isoproof_status change(game *g, const player *p, isoproof_error *error) {
  static const struct {
    iso_request_kind kind;
    isoproof_row_form done, missed;
  } forms[] = {{ISO_INSERT, ISOPROOF_ROW_INSERT, ISOPROOF_ROW_NONE},
               {ISO_WRITE, ISOPROOF_ROW_UPSERT, ISOPROOF_ROW_NONE},
               {ISO_UPDATE, ISOPROOF_ROW_UPDATE, ISOPROOF_ROW_MISSED_UPDATE},
               {ISO_DELETE, ISOPROOF_ROW_DELETE, ISOPROOF_ROW_MISSED_DELETE}};
  size_t which = iso_random_below(&g->random, sizeof forms / sizeof *forms);
  iso_driver_request made = {.kind = forms[which].kind, .key = iso_keys_draw(&g->keys, &g->random)};
  if (made.kind != ISO_DELETE) made.value = ++g->next_value;
  /* An insert of a row that is there is refused, and nothing to write down. */
  if (iso_do(p->connection, &made, &g->reply) != ISO_OUTCOME_OK) return ISOPROOF_OK;
  bool missed = g->reply.affected == 0 && forms[which].missed != ISOPROOF_ROW_NONE;
  return note_row(g, p, missed ? forms[which].missed : forms[which].done, made.key, made.value, error);
}

static isoproof_status finish(game *g, player *p, isoproof_error *error) {
  isoproof_txn_status status = ISOPROOF_TXN_ABORTED;
  bool commits = !p->aborts && (!p->unknown || iso_random_chance(&g->random, 0.5));
  (void)(commits ? iso_commit(p->connection, &g->reply) : iso_rollback(p->connection, &g->reply));
  if (commits && g->reply.txn == ISO_TXN_COMMITTED) status = ISOPROOF_TXN_COMMITTED;
  if (p->unknown) status = ISOPROOF_TXN_UNKNOWN;
  p->open = false;
  g->open--;
  return end_txn(g, p, status, error);
}

/* One request of one session. */
static isoproof_status step(game *g, player *p, isoproof_error *error) {
  const isoproof_sim_options *o = g->options;
  if (!p->open) {
    p->planned = o->ops_min + iso_random_below(&g->random, o->ops_max - o->ops_min + 1);
    p->done = 0;
    p->aborts = iso_random_chance(&g->random, o->abort_share);
    p->unknown = !p->aborts && iso_random_chance(&g->random, o->unknown_share);
    p->open = true;
    g->open++;
    g->begun++;
    ISO_TRY(begin_txn(g, p, error));
    (void)iso_begin(p->connection, NULL, &g->reply);
    return ISOPROOF_OK;
  }
  if (p->done == p->planned) return finish(g, p, error);
  g->clock++;
  p->done++;
  if (!iso_random_chance(&g->random, o->read_share))
    ISO_TRY(change(g, p, error));
  else if (iso_random_chance(&g->random, o->predicate_share))
    ISO_TRY(query(g, p, error));
  else
    ISO_TRY(look_up(g, p, error));
  return g->reply.txn == ISO_TXN_ABORTED ? finish(g, p, error) : ISOPROOF_OK;
}

/* ---- bugs ---- */

/* Up to four sessions of a bug, and its rows. */
typedef struct scene {
  player *actor[4];
  int64_t key, value[BUG_KEYS];
  iso_predicate all; /* both rows */
} scene;

static isoproof_status write_alone(game *g, player *p, isoproof_row_form form, int64_t key, int64_t value,
                                   isoproof_error *error) {
  ISO_TRY(begin_txn(g, p, error));
  ISO_TRY(note_row(g, p, form, key, value, error));
  return end_txn(g, p, ISOPROOF_TXN_COMMITTED, error);
}

/* A query of the rows that finds the first one, or nothing. */
static isoproof_status look_alone(game *g, player *p, const scene *s, bool found, isoproof_error *error) {
  iso_row_value row = {s->key, s->value[0]};
  ISO_TRY(begin_txn(g, p, error));
  ISO_TRY(note_query(g, p, &s->all, false, &row, found ? 1 : 0, error));
  return end_txn(g, p, ISOPROOF_TXN_COMMITTED, error);
}

static isoproof_status play_phantom(game *g, const scene *s, isoproof_error *error) {
  for (int i = 0; i < 2; i++) {
    ISO_TRY(begin_txn(g, s->actor[i], error));
    ISO_TRY(note_query(g, s->actor[i], &s->all, true, NULL, 0, error));
  }
  for (int i = 0; i < 2; i++) {
    ISO_TRY(note_row(g, s->actor[i], ISOPROOF_ROW_INSERT, s->key + i, s->value[i], error));
    ISO_TRY(end_txn(g, s->actor[i], ISOPROOF_TXN_COMMITTED, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status play_lost_delete(game *g, const scene *s, isoproof_error *error) {
  ISO_TRY(write_alone(g, s->actor[0], ISOPROOF_ROW_INSERT, s->key, s->value[0], error));
  ISO_TRY(write_alone(g, s->actor[1], ISOPROOF_ROW_DELETE, s->key, 0, error));
  return look_alone(g, s->actor[2], s, true, error);
}

static isoproof_status play_resurrected_row(game *g, const scene *s, isoproof_error *error) {
  ISO_TRY(write_alone(g, s->actor[0], ISOPROOF_ROW_INSERT, s->key, s->value[0], error));
  ISO_TRY(write_alone(g, s->actor[1], ISOPROOF_ROW_DELETE, s->key, 0, error));
  ISO_TRY(look_alone(g, s->actor[2], s, false, error));
  return look_alone(g, s->actor[3], s, true, error);
}

static isoproof_status play_missed_insert(game *g, const scene *s, isoproof_error *error) {
  ISO_TRY(write_alone(g, s->actor[0], ISOPROOF_ROW_INSERT, s->key, s->value[0], error));
  return look_alone(g, s->actor[1], s, false, error);
}

static const struct {
  uint32_t sessions;
  isoproof_status (*play)(game *g, const scene *s, isoproof_error *error);
} plays[ISOPROOF_SIM_BUGS] = {
    [ISOPROOF_SIM_BUG_PHANTOM] = {2, play_phantom},
    [ISOPROOF_SIM_BUG_LOST_DELETE] = {3, play_lost_delete},
    [ISOPROOF_SIM_BUG_RESURRECTED_ROW] = {4, play_resurrected_row},
    [ISOPROOF_SIM_BUG_MISSED_INSERT] = {2, play_missed_insert},
};

uint32_t iso_sim_row_bug_sessions(isoproof_sim_bug bug) { return plays[bug].sessions; }

static isoproof_status inject(game *g, isoproof_sim_bug bug, isoproof_error *error) {
  scene s = {.key = g->next_bug_key, .all = {.of_keys = true}};
  iso_sim_fault fault = {.bug = bug, .txns = plays[bug].sessions, .key_count = bug == ISOPROOF_SIM_BUG_PHANTOM ? 2 : 1};
  uint32_t first = iso_random_below(&g->random, g->options->sessions);
  s.all.key_low = s.key;
  s.all.key_high = s.key + BUG_KEYS - 1;
  for (int i = 0; i < BUG_KEYS; i++) s.value[i] = g->next_bug_value++, fault.keys[i] = (uint32_t)(s.key + i);
  g->next_bug_key += BUG_KEYS;
  for (uint32_t i = 0; i < plays[bug].sessions; i++) {
    s.actor[i] = &g->players[(first + i) % g->options->sessions];
    fault.sessions[i] = s.actor[i]->session;
    fault.indexes[i] = s.actor[i]->index;
  }
  ISO_TRY(plays[bug].play(g, &s, error));
  return iso_vec_push(g->faults, fault) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* The next bug, any of those that are left. */
static isoproof_status inject_one(game *g, isoproof_error *error) {
  uint64_t which = iso_random_below64(&g->random, g->bugs_left);
  int bug = 0;
  while (which >= g->left[bug]) which -= g->left[bug++];
  g->left[bug]--;
  g->bugs_left--;
  return inject(g, (isoproof_sim_bug)bug, error);
}

/* Whether a bug is due: they are spread over the run. */
static bool is_due(const game *g, uint64_t bugs) {
  return g->bugs_left > 0 && (bugs - g->bugs_left + 1) * g->options->txns <= g->begun * (bugs + 1);
}

/* ---- the run ---- */

static isoproof_status run(game *g, isoproof_task *task, isoproof_error *error) {
  uint64_t bugs = g->bugs_left, steps = 0;
  while (g->begun < g->options->txns || g->open > 0 || g->bugs_left > 0) {
    if ((steps++ & 255) == 0) ISO_TRY(iso_task_check(task, error));
    iso_task_progress(task, "simulating", "transactions", g->begun, g->options->txns);
    bool due = is_due(g, bugs) || g->begun == g->options->txns;
    if (due && g->open == 0) {
      if (g->bugs_left > 0) ISO_TRY(inject_one(g, error));
      continue;
    }
    player *p = &g->players[iso_random_below(&g->random, g->options->sessions)];
    if (p->open || !due) ISO_TRY(step(g, p, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status open_database(game *g, isoproof_error *error) {
  char url[96];
  const isoproof_sim_options *o = g->options;
  bool replicated = o->level == ISOPROOF_SIM_PARALLEL_SNAPSHOT || o->level == ISOPROOF_SIM_CAUSAL;
  snprintf(url, sizeof url, "sim:?level=%s&nodes=%u", isoproof_sim_level_name(o->level),
           replicated && o->replicas < 16 ? o->replicas
           : replicated                   ? 16
                                          : 1);
  const char *urls[] = {url};
  iso_database_options how = {.seed = o->seed};
  ISO_TRY(iso_database_open(urls, 1, &how, &g->database, error));
  ISO_TRY(iso_database_setup(g->database, error));
  for (uint32_t i = 0; i < o->sessions; i++) {
    player *p = &g->players[i];
    ISO_TRY(iso_connect(g->database, i % iso_database_nodes(g->database), &p->connection, error));
    ISO_TRY(iso_builder_session(g->builder, i, &p->session, error));
  }
  return ISOPROOF_OK;
}

static isoproof_status check_row_options(const isoproof_sim_options *o, isoproof_error *error) {
  if (o->sessions > MOST_ROW_SESSIONS)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "sessions: expected 1 to %u with rows, found %u", MOST_ROW_SESSIONS,
                    o->sessions);
  if (o->ops_min == 0 || o->ops_max < o->ops_min)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "ops: expected at least 1 and no less at most, found %u to %u",
                    o->ops_min, o->ops_max);
  for (int i = 0; i < ISOPROOF_SIM_BUGS; i++) {
    if (o->bugs[i] > MOST_ROW_BUGS)
      return iso_fail(error, ISOPROOF_ERR_USAGE, "bugs: expected at most %u of a kind, found %" PRIu64, MOST_ROW_BUGS,
                      o->bugs[i]);
  }
  return ISOPROOF_OK;
}

/* A round number beyond every value that the workload writes or asks for. */
static int64_t first_bug_value(const isoproof_sim_options *o) {
  double most = (double)o->txns * o->ops_max + 2 * MOST_VALUE_SPAN;
  int64_t value = 1000;
  while ((double)value <= most && value < INT64_MAX / 100) value *= 10;
  return value;
}

isoproof_status iso_sim_rows(const isoproof_sim_options *options, isoproof_builder *builder, iso_sim_faults *faults,
                             isoproof_task *task, isoproof_error *error) {
  game g = {.options = options, .builder = builder, .faults = faults, .next_bug_value = first_bug_value(options)};
  g.next_bug_key = options->keys;
  ISO_TRY(check_row_options(options, error));
  for (int i = 0; i < ISOPROOF_SIM_BUGS; i++) g.bugs_left += g.left[i] = options->bugs[i];
  iso_random_seed(&g.random, options->seed, 3);
  ISO_TRY(iso_keys_init(&g.keys, options->distribution, options->keys, options->skew, options->hot_share,
                        options->hot_keys_share, error));
  g.players = iso_alloc_zero(options->sessions, sizeof *g.players);
  isoproof_status status = g.players != NULL ? open_database(&g, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = run(&g, task, error);
  for (uint32_t i = 0; g.players != NULL && i < options->sessions; i++) {
    if (g.players[i].connection != NULL) iso_disconnect(g.players[i].connection);
  }
  free(g.players);
  if (g.database != NULL) iso_database_close(g.database);
  iso_reply_free(&g.reply);
  return status;
}
