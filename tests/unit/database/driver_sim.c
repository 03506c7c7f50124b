/* driver_sim.c - the simulated database through its driver: what it claims holds, and each of its bugs is found.
 *
 * One thread plays all sessions, one random request at a time, so that every run can be repeated by its seed. */
#include <isoproof/check.h>
#include <isoproof/simulate.h>
#include <stdio.h>
#include <string.h>

#include "database/driver.h"
#include "tests/unit/unit.h"

enum { SESSIONS = 8, MOST_OPS = 8, STEPS = 40000, MOST_ELEMENTS = 64 };

typedef struct player {
  iso_connection *connection;
  uint32_t session;
  int64_t start;
  bool open;
  size_t count, planned;
  struct {
    isoproof_op_kind kind;
    int64_t key, value;
    bool present;
    isoproof_scalar *elements;
    size_t element_count;
  } ops[MOST_OPS];
} player;

typedef struct game {
  iso_database *database;
  isoproof_builder *builder;
  uint64_t random;
  int64_t clock, next_value;
  bool lists;
  uint32_t keys, writes; /* so many of ten operations are writes */
  uint64_t committed, aborted, unknown;
  player players[SESSIONS];
  iso_reply reply;
} game;

static void record(game *g, player *p, iso_txn_state state) {
  isoproof_error error = {0};
  isoproof_txn_status status = ISOPROOF_TXN_UNKNOWN;
  if (state == ISO_TXN_COMMITTED) status = ISOPROOF_TXN_COMMITTED;
  if (state == ISO_TXN_ABORTED) status = ISOPROOF_TXN_ABORTED;
  g->committed += status == ISOPROOF_TXN_COMMITTED;
  g->aborted += status == ISOPROOF_TXN_ABORTED;
  g->unknown += status == ISOPROOF_TXN_UNKNOWN;
  assert_ok_error(isoproof_builder_begin(g->builder, p->session, status, &error), error);
  assert_ok_error(isoproof_builder_times(g->builder, p->start,
                                         status == ISOPROOF_TXN_UNKNOWN ? ISOPROOF_NO_TIME : g->clock, &error),
                  error);
  for (size_t i = 0; i < p->count; i++) {
    isoproof_scalar key = isoproof_integer(p->ops[i].key);
    isoproof_scalar value = p->ops[i].present ? isoproof_integer(p->ops[i].value) : isoproof_nil();
    if (p->ops[i].kind == ISOPROOF_OP_READ_LIST)
      assert_ok_error(isoproof_builder_elements(g->builder, p->ops[i].kind, key, p->ops[i].elements,
                                                p->ops[i].element_count, &error),
                      error);
    else
      assert_ok_error(isoproof_builder_op(g->builder, p->ops[i].kind, key, value, &error), error);
    free(p->ops[i].elements);
    p->ops[i].elements = NULL;
  }
  p->count = 0;
  p->open = false;
}

static void keep_list(game *g, player *p) {
  size_t count = g->reply.list.count;
  isoproof_scalar *elements = calloc(count + 1, sizeof *elements);
  assert_non_null(elements);
  for (size_t i = 0; i < count; i++) elements[i] = isoproof_integer(g->reply.list.items[i]);
  p->ops[p->count].elements = elements;
  p->ops[p->count].element_count = count;
}

/* A read or a write; now and then of the key of the operation before it. */
static void operate(game *g, player *p) {
  int64_t key = (int64_t)unit_below(&g->random, g->keys);
  if (p->count > 0 && unit_below(&g->random, 3) == 0) key = p->ops[p->count - 1].key;
  bool write = unit_below(&g->random, 10) < g->writes;
  if (g->lists && write && g->clock > STEPS * 9 / 10) write = false; /* what was written is read in the end */
  p->ops[p->count].key = key;
  p->ops[p->count].present = true;
  if (write) {
    int64_t value = ++g->next_value;
    p->ops[p->count].value = value;
    p->ops[p->count].kind = g->lists ? ISOPROOF_OP_APPEND : ISOPROOF_OP_WRITE;
    if (g->lists)
      iso_append(p->connection, key, value, &g->reply);
    else
      iso_write(p->connection, key, value, &g->reply);
  } else if (g->lists) {
    p->ops[p->count].kind = ISOPROOF_OP_READ_LIST;
    iso_read_list(p->connection, key, &g->reply);
    if (g->reply.outcome == ISO_OUTCOME_OK) keep_list(g, p);
  } else {
    p->ops[p->count].kind = ISOPROOF_OP_READ;
    iso_read(p->connection, key, &g->reply);
    p->ops[p->count].present = g->reply.present;
    p->ops[p->count].value = g->reply.value;
  }
  /* A read that got no answer is none; a write may have been made. */
  if (g->reply.outcome == ISO_OUTCOME_OK || write) p->count++;
}

/* A new connection is a new session. */
static void reconnect(game *g, player *p) {
  isoproof_error error = {0};
  assert_ok_error(iso_reconnect(p->connection, &error), error);
  assert_ok_error(isoproof_builder_session(g->builder, isoproof_integer(g->clock + SESSIONS), &p->session, &error),
                  error);
}

static void step(game *g) {
  player *p = &g->players[unit_below(&g->random, SESSIONS)];
  bool ended = false;
  g->clock++;
  if (!p->open) {
    p->start = g->clock;
    p->open = true;
    p->planned = 1 + unit_below(&g->random, MOST_OPS);
    iso_begin(p->connection, NULL, &g->reply);
  } else if (p->count < p->planned) {
    operate(g, p);
  } else if (unit_below(&g->random, 20) == 0) {
    iso_rollback(p->connection, &g->reply);
    ended = true;
  } else {
    iso_commit(p->connection, &g->reply);
    ended = true;
  }
  if (ended || g->reply.outcome == ISO_OUTCOME_LOST)
    record(g, p, g->reply.txn);
  else
    assert_int_equal(g->reply.outcome, ISO_OUTCOME_OK);
  if (!iso_connected(p->connection)) reconnect(g, p);
}

static isoproof_history *play(const char *url, bool lists, uint32_t writes, uint64_t seed, uint64_t *unknown) {
  game *g = calloc(1, sizeof *g);
  isoproof_error error = {0};
  isoproof_history *history = NULL;
  iso_database_options options = {.seed = seed};
  assert_non_null(g);
  *g = (game){.random = seed, .lists = lists, .keys = lists ? 40 : 12, .writes = writes};
  assert_ok_error(iso_database_open(&url, 1, &options, &g->database, &error), error);
  assert_ok_error(iso_database_setup(g->database, &error), error);
  assert_ok_error(isoproof_builder_new(&g->builder, &error), error);
  for (uint32_t i = 0; i < SESSIONS; i++) {
    size_t node = i % iso_database_nodes(g->database);
    assert_ok_error(iso_connect(g->database, node, &g->players[i].connection, &error), error);
    assert_ok_error(isoproof_builder_session(g->builder, isoproof_integer(i), &g->players[i].session, &error), error);
  }
  for (int i = 0; i < STEPS; i++) step(g);
  for (uint32_t i = 0; i < SESSIONS; i++) {
    if (g->players[i].open) record(g, &g->players[i], ISO_TXN_ABORTED);
    iso_disconnect(g->players[i].connection);
  }
  assert_true(g->committed > 1000);
  if (unknown != NULL) *unknown = g->unknown;
  assert_ok_error(isoproof_builder_finish(g->builder, &history, &error), error);
  isoproof_builder_free(g->builder);
  iso_reply_free(&g->reply);
  iso_database_close(g->database);
  free(g);
  return history;
}

static isoproof_verdict verdict_on(isoproof_history *history, const char *level) {
  isoproof_error error = {0};
  isoproof_result *result = NULL;
  const char *levels[] = {level};
  isoproof_check_options options = {.struct_size = sizeof options, .levels = levels, .level_count = 1};
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  isoproof_verdict verdict = isoproof_result_verdict(result);
  isoproof_result_free(result);
  return verdict;
}

/* What a level claims is never found violated. */
static void keeps_its_promises(void **state) {
  (void)state;
  static const char *const urls[] = {"sim:",
                                     "sim:?level=snapshot-isolation",
                                     "sim:?level=parallel-snapshot-isolation",
                                     "sim:?level=causal",
                                     "sim:?level=read-atomic",
                                     "sim:?level=read-committed",
                                     "sim:?lost=0.05"};
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    for (int lists = 0; lists < 2; lists++) {
      iso_database *database = NULL;
      isoproof_error error = {0};
      const iso_isolation *isolation;
      assert_ok_error(iso_database_open(&urls[i], 1, NULL, &database, &error), error);
      assert_ok_error(iso_database_find_isolation(database, NULL, &isolation, &error), error);
      uint64_t unknown = 0;
      isoproof_history *history = play(urls[i], lists, 4, 100 + i, &unknown);
      isoproof_verdict verdict = verdict_on(history, isolation->claims);
      if (verdict == ISOPROOF_VIOLATED) fail_msg("%s, lists %d: %s is violated", urls[i], lists, isolation->claims);
      if (verdict == ISOPROOF_UNDECIDED)
        print_message("%s, lists %d: %s is unknown\n", urls[i], lists, isolation->claims);
      if (strstr(urls[i], "lost") != NULL) assert_true(unknown > 10);
      isoproof_history_free(history);
      iso_database_close(database);
    }
  }
}

/* And is not given for nothing: each of the weaker ones shows what the stronger ones forbid. */
static void shows_weaknesses(void **state) {
  (void)state;
  static const struct {
    const char *url, *violated;
  } cases[] = {{"sim:?level=snapshot-isolation", "serializable"},
               {"sim:?level=parallel-snapshot-isolation", "snapshot-isolation"},
               {"sim:?level=causal", "parallel-snapshot-isolation"},
               {"sim:?level=read-atomic", "causal"},
               {"sim:?level=read-committed", "read-atomic"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    isoproof_history *history = play(cases[i].url, false, 4, 7 + i, NULL);
    isoproof_verdict verdict = verdict_on(history, cases[i].violated);
    if (verdict == ISOPROOF_SATISFIED) fail_msg("%s satisfies %s", cases[i].url, cases[i].violated);
    if (verdict == ISOPROOF_UNDECIDED) print_message("%s: %s is unknown\n", cases[i].url, cases[i].violated);
    isoproof_history_free(history);
  }
}

/* Every bug breaks the weakest level that it is said to break. */
static void shows_its_bugs(void **state) {
  (void)state;
  for (uint32_t bug = 0; bug <= ISOPROOF_SIM_BUGS; bug++) {
    bool lost_write = bug == ISOPROOF_SIM_BUGS;
    const char *name = lost_write ? "lost-write" : isoproof_sim_bug_name((isoproof_sim_bug)bug);
    const char *level = lost_write ? "strong-snapshot-isolation" : isoproof_sim_bug_level((isoproof_sim_bug)bug);
    for (int lists = 0; lists < 2; lists++) {
      if (bug == ISOPROOF_SIM_BUG_DUPLICATE_APPEND && !lists) continue;
      if (bug >= ISOPROOF_SIM_BUG_PHANTOM && !lost_write) continue; /* of rows: driver_sim_rows.c */
      char url[96];
      snprintf(url, sizeof url, "sim:?bugs=%s&rate=%s", name, lost_write ? "0.002" : "0.2");
      /* Two readers that see a fork have to read both sides of it. */
      uint32_t writes = bug == ISOPROOF_SIM_BUG_LONG_FORK ? 1 : 4;
      isoproof_history *history = play(url, lists, writes, 1000 + bug, NULL);
      isoproof_verdict verdict = verdict_on(history, level);
      if (verdict == ISOPROOF_SATISFIED) fail_msg("%s, lists %d: %s is not violated", name, lists, level);
      if (verdict == ISOPROOF_UNDECIDED) print_message("%s, lists %d: %s is unknown\n", name, lists, level);
      isoproof_history_free(history);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_its_promises), cmocka_unit_test(shows_weaknesses),
                                     cmocka_unit_test(shows_its_bugs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
