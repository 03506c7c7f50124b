/* Guesses along commit orders: the order that moves against reachability by brute force, and the causal level of
 * histories whose values repeat, made so that it is known. */
#include <stdlib.h>
#include <string.h>

#include "check/order/moving_order.h"
#include "tests/unit/unit.h"

enum { NODES = 24, EDGES = 120, GRAPHS = UNLESS_SLOW(400, 60) };

/* Every third edge is one that the order asks for; the others are kept in it. */
typedef struct {
  bool own[NODES][NODES];
} own_edges;

static bool list_own(void *context, uint32_t txn, bool before, iso_txn_list *list) {
  const own_edges *g = context;
  for (uint32_t other = 0; other < NODES; other++) {
    if ((before ? g->own[other][txn] : g->own[txn][other]) && !iso_vec_push(list, other)) return false;
  }
  return true;
}

static void close_all(bool reach[NODES][NODES]) {
  for (int k = 0; k < NODES; k++) {
    for (int i = 0; i < NODES; i++) {
      for (int j = 0; j < NODES; j++) reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
    }
  }
}

/* An edge is taken if and only if it closes no cycle; the order keeps to all that were taken. */
static void check_graph(uint64_t seed) {
  uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
  own_edges graph;
  bool edge[NODES][NODES] = {{false}};
  uint32_t event[NODES], place[NODES];
  iso_sequence s = {.event = event, .place = place, .count = NODES, .total = NODES};
  iso_moving_order order;
  memset(&graph, 0, sizeof graph);
  for (uint32_t i = 0; i < NODES; i++) event[i] = place[i] = i;
  for (int n = 0; n < EDGES / 3; n++) { /* along the first order */
    uint32_t a = (uint32_t)unit_below(&random, NODES), b = (uint32_t)unit_below(&random, NODES);
    if (a < b) graph.own[a][b] = edge[a][b] = true;
  }
  assert_true(iso_moving_order_make(&s, NODES, &order));
  order.context = &graph;
  order.list_next = list_own;
  for (int n = 0; n < EDGES; n++) {
    bool reach[NODES][NODES];
    uint32_t a = (uint32_t)unit_below(&random, NODES), b = (uint32_t)unit_below(&random, NODES);
    memcpy(reach, edge, sizeof reach);
    close_all(reach);
    bool taken = iso_moving_order_add(&order, a, b, 0, 0);
    assert_int_equal(taken, a != b && !reach[b][a]);
    edge[a][b] = edge[a][b] || taken;
    for (uint32_t i = 0; i < NODES; i++) {
      assert_int_equal(event[place[i]], i);
      for (uint32_t j = 0; j < NODES; j++) assert_true(!edge[i][j] || place[i] < place[j]);
    }
  }
  assert_false(order.failed);
  iso_moving_order_free(&order);
}

static void test_moving_order(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) check_graph(seed);
}

static isoproof_verdict causal_verdict(const isoproof_sim_options *sim) {
  isoproof_error error = {.message = ""};
  isoproof_history *history;
  isoproof_result *result;
  const char *level = "causal";
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = &level, .level_count = 1, .certificate = true};
  if (isoproof_simulate(sim, NULL, &history, NULL, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
  isoproof_verdict verdict = isoproof_result_verdict(result);
  isoproof_result_free(result);
  isoproof_history_free(history);
  return verdict;
}

/* What is simulated at causal is causal, whatever values repeat. */
static void test_repeated_values(void **state) {
  (void)state;
  enum { SEEDS = UNLESS_SLOW(6, 1) };
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    isoproof_sim_options sim = {.struct_size = sizeof sim};
    assert_true(isoproof_sim_defaults(&sim));
    sim.seed = seed;
    sim.level = ISOPROOF_SIM_CAUSAL;
    sim.sessions = (uint32_t)(20 * seed);
    sim.txns = 1500;
    sim.keys = (uint32_t)(30 * seed);
    sim.ops_min = sim.ops_max = 8;
    sim.duplicate_share = 0.3;
    assert_int_equal(causal_verdict(&sim), ISOPROOF_SATISFIED);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_moving_order), cmocka_unit_test(test_repeated_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
