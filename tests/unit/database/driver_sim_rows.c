/* driver_sim_rows.c - rows on the simulated database: statements, what its levels claim, and its bugs of this kind.
 *
 * One thread plays all sessions, one random request at a time, and writes down what it sees as a recorder does. */
#include <isoproof/check.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "database/driver.h"
#include "database/sim/driver.h"
#include "format/jsonl.h"
#include "tests/unit/unit.h"

enum { SESSIONS = 8, MOST_OPS = 5, KEYS = 10, STEPS = 250, RUNS = 12, TRIES = 60, VALUES = 50, TEXT = 1 << 20 };

/* ---- single statements ---- */

static void request(iso_connection *connection, iso_request_kind kind, int64_t key, int64_t value, iso_reply *reply) {
  bool range = kind == ISO_READ_RANGE || kind == ISO_COUNT;
  iso_driver_request made = {.kind = kind, .key = key, .value = range ? 0 : value, .high = range ? value : 0};
  iso_do(connection, &made, reply);
}

static iso_database *open_sim(const char *url, uint64_t seed) {
  isoproof_error error = {0};
  iso_database *database = NULL;
  iso_database_options options = {.seed = seed};
  assert_ok_error(iso_database_open(&url, 1, &options, &database, &error), error);
  assert_ok_error(iso_database_setup(database, &error), error);
  return database;
}

static iso_connection *connect_to(iso_database *database) {
  isoproof_error error = {0};
  iso_connection *connection = NULL;
  assert_ok_error(iso_connect(database, 0, &connection, &error), error);
  return connection;
}

static void does_what_statements_say(void **state) {
  (void)state;
  iso_database *database = open_sim("sim:", 1);
  iso_connection *one = connect_to(database);
  iso_reply reply = {0};
  request(one, ISO_UPDATE, 1, 5, &reply);
  assert_int_equal(reply.affected, 0);
  request(one, ISO_DELETE, 1, 0, &reply);
  assert_int_equal(reply.affected, 0);
  request(one, ISO_READ, 1, 0, &reply);
  assert_false(reply.present);
  request(one, ISO_INSERT, 1, 5, &reply);
  request(one, ISO_INSERT, 2, 6, &reply);
  request(one, ISO_UPDATE, 1, 7, &reply);
  assert_int_equal(reply.affected, 1);
  request(one, ISO_COUNT, 1, 2, &reply);
  assert_int_equal(reply.value, 2);
  assert_int_equal(reply.rows.count, 0);
  iso_do(one, &(iso_driver_request){.kind = ISO_COUNT, .key = 7, .high = 9, .by_value = true}, &reply);
  assert_int_equal(reply.value, 1);
  request(one, ISO_DELETE, 1, 0, &reply);
  assert_int_equal(reply.affected, 1);
  request(one, ISO_READ_RANGE, 0, 9, &reply);
  assert_int_equal(reply.rows.count, 1);
  assert_int_equal(reply.rows.items[0].key, 2);
  request(one, ISO_COUNT, 0, 9, &reply);
  assert_int_equal(reply.value, 1);
  iso_reply_free(&reply);
  iso_disconnect(one);
  iso_database_close(database);
}

/* Two sessions count the rows and insert one: whether both commit. */
static bool both_insert(const char *url) {
  iso_database *database = open_sim(url, 1);
  iso_connection *sessions[2] = {connect_to(database), connect_to(database)};
  iso_reply reply = {0};
  bool both = true;
  for (int i = 0; i < 2; i++) {
    iso_begin(sessions[i], NULL, &reply);
    request(sessions[i], ISO_COUNT, 0, 9, &reply);
    assert_int_equal(reply.value, 0);
  }
  for (int i = 0; i < 2; i++) {
    request(sessions[i], ISO_INSERT, i, 5, &reply);
    iso_commit(sessions[i], &reply);
    both &= reply.txn == ISO_TXN_COMMITTED;
  }
  iso_reply_free(&reply);
  for (int i = 0; i < 2; i++) iso_disconnect(sessions[i]);
  iso_database_close(database);
  return both;
}

static void validates_absent_rows(void **state) {
  (void)state;
  assert_false(both_insert("sim:"));
  assert_true(both_insert("sim:?level=snapshot-isolation"));
  assert_true(both_insert("sim:?bugs=phantom&rate=1"));
}

/* A row that is inserted, deleted if asked for, and looked for by key and by range: how many times it is found. */
static void find_row(const char *url, bool deleted, bool *by_key, int64_t *by_range) {
  iso_database *database = open_sim(url, 1);
  iso_connection *one = connect_to(database);
  iso_reply reply = {0};
  request(one, ISO_INSERT, 1, 5, &reply);
  if (deleted) {
    request(one, ISO_DELETE, 1, 0, &reply);
    assert_int_equal(reply.affected, 1);
  }
  request(one, ISO_READ, 1, 0, &reply);
  *by_key = reply.present;
  if (reply.present) assert_int_equal(reply.value, 5);
  request(one, ISO_COUNT, 0, 9, &reply);
  *by_range = reply.value;
  iso_reply_free(&reply);
  iso_disconnect(one);
  iso_database_close(database);
}

static void goes_wrong_by_name(void **state) {
  (void)state;
  static const struct {
    const char *url;
    bool deleted, by_key;
    int64_t by_range;
  } cases[] = {{"sim:", false, true, 1},
               {"sim:", true, false, 0},
               {"sim:?bugs=lost-delete&rate=1", true, true, 1},
               {"sim:?bugs=resurrected-row&rate=1", true, true, 1},
               {"sim:?bugs=missed-insert&rate=1", false, true, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool by_key;
    int64_t by_range;
    find_row(cases[i].url, cases[i].deleted, &by_key, &by_range);
    assert_int_equal(by_key, cases[i].by_key);
    assert_int_equal(by_range, cases[i].by_range);
  }
}

/* ---- histories ---- */

typedef struct player {
  iso_connection *connection;
  uint64_t session;
  int64_t start;
  bool open;
  size_t count, planned;
  iso_jsonl_op ops[MOST_OPS];
  iso_row_value rows[MOST_OPS][KEYS];
} player;

typedef struct game {
  iso_database *database;
  iso_output *output;
  char *text;
  size_t length;
  uint64_t random, sessions;
  int64_t clock, next_value;
  uint64_t committed;
  player players[SESSIONS];
  iso_reply reply;
} game;

static bool keep_text(void *user, const void *data, size_t size) {
  game *g = user;
  if (size > TEXT - g->length) return false;
  memcpy(g->text + g->length, data, size);
  g->length += size;
  return true;
}

static void record(game *g, player *p, iso_txn_state end) {
  iso_jsonl_txn txn = {.session = isoproof_integer((int64_t)p->session),
                       .status = ISOPROOF_TXN_UNKNOWN,
                       .start = p->start,
                       .end = g->clock,
                       .start_index = -1,
                       .end_index = -1,
                       .node = isoproof_nil(),
                       .error = isoproof_nil(),
                       .ops = p->ops,
                       .count = p->count};
  if (end == ISO_TXN_COMMITTED) txn.status = ISOPROOF_TXN_COMMITTED;
  if (end == ISO_TXN_ABORTED) txn.status = ISOPROOF_TXN_ABORTED;
  if (txn.status == ISOPROOF_TXN_UNKNOWN) txn.end = ISOPROOF_NO_TIME;
  g->committed += txn.status == ISOPROOF_TXN_COMMITTED;
  iso_jsonl_write_txn(g->output, &txn);
  p->count = 0;
  p->open = false;
}

/* What a range, or a count of one, looks for. */
static void look(game *g, player *p, bool counts) {
  iso_driver_request made = {.kind = counts ? ISO_COUNT : ISO_READ_RANGE, .by_value = unit_below(&g->random, 3) == 0};
  iso_jsonl_op *op = &p->ops[p->count];
  uint64_t span = made.by_value ? VALUES : KEYS;
  int64_t low = (int64_t)unit_below(&g->random, span), high = low + (int64_t)unit_below(&g->random, span);
  /* Values only grow: the last ones are those that are there. */
  int64_t base = made.by_value && g->next_value > VALUES ? g->next_value - VALUES : 0;
  made.key = base + low;
  made.high = base + high;
  iso_do(p->connection, &made, &g->reply);
  *op = (iso_jsonl_op){.form = counts ? ISO_ROW_COUNT : ISO_ROW_PREDICATE,
                       .value = counts ? isoproof_integer(g->reply.value) : (isoproof_scalar){.type = ISOPROOF_NONE},
                       .predicate = {.of_keys = !made.by_value,
                                     .of_values = made.by_value,
                                     .key_low = made.key,
                                     .key_high = made.high,
                                     .value_low = made.key,
                                     .value_high = made.high}};
  if (g->reply.outcome != ISO_OUTCOME_OK || counts) return;
  assert_true(g->reply.rows.count <= KEYS);
  for (size_t i = 0; i < g->reply.rows.count; i++)
    p->rows[p->count][i] = (iso_row_value){g->reply.rows.items[i].key, g->reply.rows.items[i].value};
  op->rows = p->rows[p->count];
  op->count = g->reply.rows.count;
}

/* A statement on one row; false when there is nothing to write down. */
static bool touch(game *g, player *p, iso_request_kind kind) {
  static const struct {
    iso_request_kind kind;
    iso_row_form done, missed;
  } forms[] = {{ISO_INSERT, ISO_ROW_INSERT, ISO_ROW_NONE},
               {ISO_WRITE, ISO_ROW_UPSERT, ISO_ROW_NONE},
               {ISO_UPDATE, ISO_ROW_UPDATE, ISO_ROW_MISSED_UPDATE},
               {ISO_DELETE, ISO_ROW_DELETE, ISO_ROW_MISSED_DELETE}};
  int64_t key = (int64_t)unit_below(&g->random, KEYS), value = ++g->next_value;
  request(p->connection, kind, key, value, &g->reply);
  iso_jsonl_op *op = &p->ops[p->count];
  *op = (iso_jsonl_op){.kind = ISOPROOF_OP_WRITE, .key = isoproof_integer(key), .value = isoproof_nil()};
  if (kind == ISO_READ) {
    op->kind = ISOPROOF_OP_READ;
    if (g->reply.present) op->value = isoproof_integer(g->reply.value);
    return g->reply.outcome == ISO_OUTCOME_OK;
  }
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (forms[i].kind == kind) op->form = g->reply.affected > 0 ? forms[i].done : forms[i].missed;
  bool writes = op->form != ISO_ROW_MISSED_UPDATE && op->form != ISO_ROW_MISSED_DELETE;
  if (writes && kind != ISO_DELETE) op->value = isoproof_integer(value);
  return g->reply.outcome == ISO_OUTCOME_OK;
}

static void operate(game *g, player *p) {
  static const iso_request_kind kinds[] = {ISO_READ,   ISO_READ,       ISO_INSERT, ISO_WRITE, ISO_UPDATE,
                                           ISO_DELETE, ISO_READ_RANGE, ISO_COUNT,  ISO_COUNT};
  iso_request_kind kind = kinds[unit_below(&g->random, sizeof kinds / sizeof *kinds)];
  bool told = true;
  if (kind == ISO_READ_RANGE || kind == ISO_COUNT)
    look(g, p, kind == ISO_COUNT);
  else
    told = touch(g, p, kind);
  if (told && g->reply.outcome == ISO_OUTCOME_OK)
    p->count++;
  else
    p->planned -= p->planned > 1; /* an insert of a row that is there is nothing */
}

static void step(game *g) {
  player *p = &g->players[unit_below(&g->random, SESSIONS)];
  g->clock++;
  if (!p->open) {
    p->start = g->clock;
    p->open = true;
    p->planned = 1 + unit_below(&g->random, MOST_OPS);
    iso_begin(p->connection, NULL, &g->reply);
  } else if (p->count < p->planned) {
    operate(g, p);
    if (g->reply.outcome == ISO_OUTCOME_LOST) record(g, p, g->reply.txn);
  } else {
    if (unit_below(&g->random, 20) == 0)
      iso_rollback(p->connection, &g->reply);
    else
      iso_commit(p->connection, &g->reply);
    record(g, p, g->reply.txn);
  }
  if (iso_connected(p->connection)) return;
  isoproof_error error = {0};
  assert_ok_error(iso_reconnect(p->connection, &error), error);
  p->session = g->sessions++; /* a new connection is a new session */
}

static isoproof_history *play(const char *url, uint64_t seed) {
  game *g = calloc(1, sizeof *g);
  isoproof_error error = {0};
  isoproof_history *history = NULL;
  assert_non_null(g);
  *g = (game){.database = open_sim(url, seed), .text = malloc(TEXT), .random = seed};
  assert_non_null(g->text);
  assert_ok_error(iso_output_open_callback(keep_text, g, ISOPROOF_COMPRESS_NO, &g->output, &error), error);
  iso_jsonl_write_header(g->output, false, NULL, 0);
  for (; g->sessions < SESSIONS; g->sessions++) {
    player *p = &g->players[g->sessions];
    size_t node = g->sessions % iso_database_nodes(g->database);
    assert_ok_error(iso_connect(g->database, node, &p->connection, &error), error);
    p->session = g->sessions;
  }
  for (int i = 0; i < STEPS; i++) step(g);
  for (uint32_t i = 0; i < SESSIONS; i++) {
    if (g->players[i].open) record(g, &g->players[i], ISO_TXN_ABORTED);
    iso_disconnect(g->players[i].connection);
  }
  assert_ok_error(iso_output_close(g->output, &error), error);
  assert_true(g->committed > 10);
  assert_ok_error(isoproof_history_open_memory(g->text, g->length, "sim.jsonl", NULL, NULL, &history, &error), error);
  iso_reply_free(&g->reply);
  iso_database_close(g->database);
  free(g->text);
  free(g);
  return history;
}

static isoproof_verdict verdict_on(isoproof_history *history, const char *level) {
  isoproof_error error = {0};
  isoproof_result *result = NULL;
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &level, .level_count = 1};
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  isoproof_verdict verdict = isoproof_result_verdict(result);
  isoproof_result_free(result);
  return verdict;
}

/* Several short runs: none of them violates what holds, and some of them what does not. */
static void expect(const char *url, const char *level, bool holds) {
  unsigned violated = 0;
  for (uint64_t run = 0; run < RUNS; run++) {
    isoproof_history *history = play(url, 100 + run);
    isoproof_verdict verdict = verdict_on(history, level);
    assert_int_not_equal(verdict, ISOPROOF_UNDECIDED);
    violated += verdict == ISOPROOF_VIOLATED;
    isoproof_history_free(history);
  }
  if ((violated == 0) != holds) fail_msg("%s: %s is violated by %u of %d runs", url, level, violated, RUNS);
}

/* What a level claims holds, and each of the weaker ones shows what a stronger one forbids. */
static void keeps_its_promises(void **state) {
  (void)state;
  static const struct {
    const char *level, *claims, *broken;
  } levels[] = {{"serializable", "strict-serializable", NULL},
                {"snapshot-isolation", "strong-snapshot-isolation", "serializable"},
                {"parallel-snapshot-isolation", "parallel-snapshot-isolation", "snapshot-isolation"},
                {"causal", "causal", "parallel-snapshot-isolation"},
                {"read-atomic", "read-atomic", "causal"},
                {"read-committed", "read-committed", "read-atomic"}};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    char url[96];
    snprintf(url, sizeof url, "sim:?level=%s", levels[i].level);
    expect(url, levels[i].claims, true);
    if (levels[i].broken != NULL) expect(url, levels[i].broken, false);
  }
  expect("sim:?lost=0.05", "strict-serializable", true);
}

static void shows_its_bugs(void **state) {
  (void)state;
  for (uint32_t bug = ISOPROOF_SIM_BUG_PHANTOM; bug < ISO_SIM_ALL_BUGS; bug++) {
    char url[96];
    snprintf(url, sizeof url, "sim:?bugs=%s&rate=%s", iso_sim_driver_bug_name(bug),
             bug == ISO_SIM_LOST_WRITE ? "0.05" : "0.2");
    expect(url, iso_sim_driver_bug_level(bug), false);
  }
}

/* Whether an anomaly of that name explains why the level is violated. */
static bool is_named(isoproof_history *history, const char *level, const char *code) {
  isoproof_error error = {0};
  isoproof_result *result = NULL;
  isoproof_check_options options = {.struct_size = sizeof options, .levels = &level, .level_count = 1};
  isoproof_anomaly anomaly = {.struct_size = sizeof anomaly};
  bool found = false;
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  for (size_t i = 0; !found && isoproof_result_anomaly_at(result, i, &anomaly); i++)
    found = strcmp(anomaly.code, code) == 0;
  isoproof_result_free(result);
  return found;
}

/* What is found says what happened. */
static void names_its_bugs(void **state) {
  (void)state;
  static const struct {
    const char *url, *level, *code;
  } bugs[] = {{"sim:?bugs=phantom&rate=0.2", "serializable", "predicate-write-skew"},
              {"sim:?bugs=lost-delete&rate=1", "strong-snapshot-isolation", "lost-delete"},
              {"sim:?bugs=resurrected-row&rate=0.1", "strong-snapshot-isolation", "resurrected-row"},
              {"sim:?bugs=missed-insert&rate=0.2", "strong-snapshot-isolation", "missed-insert"},
              {"sim:?level=read-committed", "cut-isolation", "phantom"}};
  for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
    bool named = false;
    for (uint64_t run = 0; run < TRIES && !named; run++) {
      isoproof_history *history = play(bugs[i].url, 100 + run);
      named = is_named(history, bugs[i].level, bugs[i].code);
      isoproof_history_free(history);
    }
    if (!named) fail_msg("%s is never called %s", bugs[i].url, bugs[i].code);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(does_what_statements_say), cmocka_unit_test(validates_absent_rows),
      cmocka_unit_test(goes_wrong_by_name),       cmocka_unit_test(keeps_its_promises),
      cmocka_unit_test(shows_its_bugs),           cmocka_unit_test(names_its_bugs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
