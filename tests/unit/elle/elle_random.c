/* Dependencies against the oracle: on simulated histories, with every bug, never a false alarm; and with lists that are
 * read in the end, nothing missed. */
#include "tests/oracle/oracle.h"
#include "tests/unit/unit.h"

/* Models with session order, or real time, and the levels that ask the same. */
static const struct counterpart {
  const char *model;
  oracle_level level;
} counterparts[] = {
    {"strong-session-serializable", ORACLE_SERIALIZABLE},
    {"strong-session-snapshot-isolation", ORACLE_SNAPSHOT},
    {"strong-serializable", ORACLE_STRICT_SERIALIZABLE},
    {"strong-snapshot-isolation", ORACLE_STRONG_SNAPSHOT},
};
enum { COUNTERPARTS = sizeof counterparts / sizeof counterparts[0] };

static unsigned runs(void) {
  const char *wanted = getenv("ISOPROOF_RANDOM_HISTORIES");
  unsigned long count = wanted != NULL ? strtoul(wanted, NULL, 10) / 100 : 200;
  return count < 20 ? 20 : (unsigned)count;
}

/* ---- witnesses, judged by what they claim alone ---- */

static bool shows(const isoproof_history *h, uint64_t read, isoproof_scalar element) {
  isoproof_op op = {.struct_size = sizeof op};
  isoproof_scalar one;
  assert_true(isoproof_history_op_at(h, read, &op));
  if (op.kind == ISOPROOF_OP_READ) return isoproof_scalar_equal(op.value, element);
  for (uint64_t i = 0; isoproof_history_element_at(h, read, i, &one); i++) {
    if (isoproof_scalar_equal(one, element)) return true;
  }
  return false;
}

static bool belongs(const isoproof_history *h, uint64_t op, uint64_t txn) {
  isoproof_txn t = {.struct_size = sizeof t};
  return isoproof_history_txn_at(h, txn, &t) && op >= t.first_op && op < t.first_op + t.op_count;
}

/* Whether a read saw a write (WR), missed it (RW), or two writes are of one key (WW). */
static bool is_data_step(const isoproof_history *h, const isoproof_edge *e) {
  isoproof_op from = {.struct_size = sizeof from}, to = {.struct_size = sizeof to};
  if (!belongs(h, e->from_op, e->from_txn) || !belongs(h, e->to_op, e->to_txn)) return false;
  if (!isoproof_history_op_at(h, e->from_op, &from) || !isoproof_history_op_at(h, e->to_op, &to)) return false;
  if (!isoproof_scalar_equal(from.key, to.key) || !isoproof_scalar_equal(from.key, e->key)) return false;
  bool reads_from = isoproof_op_kind_observes(from.kind), reads_to = isoproof_op_kind_observes(to.kind);
  if (strcmp(e->kind, "WR") == 0) return !reads_from && reads_to && shows(h, e->to_op, from.value);
  if (strcmp(e->kind, "RW") == 0) return reads_from && !reads_to && !shows(h, e->from_op, to.value);
  return strcmp(e->kind, "WW") == 0 && !reads_from && !reads_to;
}

static bool is_step(const isoproof_history *h, const isoproof_edge *e) {
  isoproof_txn from = {.struct_size = sizeof from}, to = {.struct_size = sizeof to};
  if (!isoproof_history_txn_at(h, e->from_txn, &from) || !isoproof_history_txn_at(h, e->to_txn, &to)) return false;
  if (strcmp(e->kind, "SO") == 0) return from.session == to.session && from.index < to.index;
  if (strcmp(e->kind, "RT") == 0) return from.end < to.start;
  return is_data_step(h, e);
}

static void verify_witnesses(const isoproof_history *h, const isoproof_result *result) {
  isoproof_anomaly a = {.struct_size = sizeof a};
  for (size_t i = 0; isoproof_result_anomaly_at(result, i, &a); i++) {
    if (a.code[0] != 'G' || a.edge_count == 0) continue;
    for (size_t k = 0; k < a.edge_count; k++) {
      assert_int_equal(a.edges[k].to_txn, a.edges[(k + 1) % a.edge_count].from_txn);
      if (!is_step(h, &a.edges[k])) fail_msg("%s: step %zu (%s) does not hold", a.code, k, a.edges[k].kind);
    }
  }
}

static isoproof_verdict judge(isoproof_history *history, const char *workload, const char *model, bool *ruled_out) {
  isoproof_check_options options = {
      .struct_size = sizeof options, .elle_workload = workload, .models = &model, .model_count = 1};
  isoproof_result *result;
  isoproof_error error;
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  verify_witnesses(history, result);
  isoproof_verdict verdict = isoproof_result_verdict(result);
  *ruled_out = isoproof_result_elle_verdict(result) == ISOPROOF_VIOLATED;
  isoproof_result_free(result);
  return verdict;
}

static void fail_with(isoproof_history *history, const char *model, uint64_t seed, const char *what) {
  isoproof_error error;
  isoproof_history_write(history, ISOPROOF_FORMAT_EDN, "-", NULL, NULL, NULL, &error);
  fail_msg("%s: %s (seed %llu)", model, what, (unsigned long long)seed);
}

/* How many models were violated and found to be, in all histories so far. */
static unsigned found_count;

/* Compares what is found with what the oracle says. */
static void compare(isoproof_history *history, bool lists, uint64_t seed) {
  oracle_verdicts verdicts;
  if (!oracle_judge(history, &verdicts)) return;
  for (size_t i = 0; i < COUNTERPARTS; i++) {
    bool found, holds = verdicts.satisfied[counterparts[i].level];
    isoproof_verdict verdict = judge(history, lists ? "list-append" : "rw-register", counterparts[i].model, &found);
    found_count += found;
    if (found && holds) fail_with(history, counterparts[i].model, seed, "ruled out, but it holds");
    if (verdict == ISOPROOF_SATISFIED && !holds)
      fail_with(history, counterparts[i].model, seed, "proved, but violated");
    if (lists && !found && !holds) fail_with(history, counterparts[i].model, seed, "violated, but not found");
  }
}

static void simulate(bool lists, isoproof_sim_level level, int bug, uint64_t seed) {
  isoproof_sim_options sim = {.struct_size = sizeof sim};
  isoproof_history *history;
  isoproof_error error;
  isoproof_sim_defaults(&sim);
  sim.seed = seed;
  sim.level = level;
  sim.sessions = 4;
  sim.txns = bug >= 0 ? 3 : 5 + seed % 3;
  sim.ops_min = 1;
  sim.ops_max = 3;
  sim.keys = 2 + (uint32_t)(seed % 2);
  sim.lists = lists;
  sim.unknown_share = seed % 4 == 0 ? 0.3 : 0;
  sim.abort_share = seed % 5 == 0 ? 0.3 : 0;
  if (bug >= 0) sim.bugs[bug] = 1;
  if (isoproof_simulate(&sim, NULL, &history, NULL, &error) != ISOPROOF_OK) return; /* the bug does not fit */
  compare(history, lists, seed);
  isoproof_history_free(history);
}

static void test_levels(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= runs(); seed++) {
    isoproof_sim_level level = (isoproof_sim_level)(seed % ISOPROOF_SIM_LEVELS);
    simulate(true, level, -1, seed);
    simulate(false, level, -1, seed);
  }
}

/* Every bug that can be switched on is found, in lists and in registers, where the oracle sees it. */
static void test_bugs(void **state) {
  (void)state;
  for (int bug = 0; bug < ISOPROOF_SIM_BUG_PHANTOM; bug++) { /* those from there on are of rows */
    for (int lists = 0; lists < 2; lists++) {
      /* Registers have no appends, and may have had values before the history began. */
      bool fits = lists == 1 || (bug != ISOPROOF_SIM_BUG_DUPLICATE_APPEND && bug != ISOPROOF_SIM_BUG_THIN_AIR_READ);
      found_count = 0;
      for (uint64_t seed = 1; seed <= runs() / 8 + 1; seed++) {
        simulate(lists == 1, ISOPROOF_SIM_SERIALIZABLE, bug, seed);
      }
      if (fits && found_count == 0) fail_msg("%s was never found", isoproof_sim_bug_name((isoproof_sim_bug)bug));
    }
  }
}

/* What real databases do not do: reads of anything. */
static void random_txn(isoproof_builder *builder, uint64_t *random, bool lists, uint64_t *next) {
  isoproof_error error;
  uint64_t ops = 1 + unit_below(random, 3);
  for (uint64_t i = 0; i < ops; i++) {
    int64_t k = (int64_t)unit_below(random, 2);
    isoproof_scalar key = isoproof_integer(k), elements[4];
    if (unit_below(random, 2) == 0) {
      isoproof_op_kind kind = lists ? ISOPROOF_OP_APPEND : ISOPROOF_OP_WRITE;
      assert_ok(isoproof_builder_op(builder, kind, key, isoproof_integer((int64_t)++next[k]), &error));
    } else if (lists) {
      size_t count = (size_t)unit_below(random, next[k] < 3 ? next[k] + 1 : 4);
      for (size_t e = 0; e < count; e++) elements[e] = isoproof_integer((int64_t)e + 1);
      assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, key, elements, count, &error));
    } else {
      uint64_t seen = unit_below(random, next[k] + 1);
      isoproof_scalar value = seen == 0 ? isoproof_nil() : isoproof_integer((int64_t)seen);
      assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_READ, key, value, &error));
    }
  }
}

static void final_read(isoproof_builder *builder, uint32_t session, int64_t time, const uint64_t *next) {
  isoproof_error error;
  assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, &error));
  assert_ok(isoproof_builder_times(builder, time, time + 1, &error));
  for (int64_t k = 0; k < 2; k++) {
    isoproof_scalar elements[64];
    size_t count = (size_t)next[k];
    for (size_t e = 0; e < count; e++) elements[e] = isoproof_integer((int64_t)e + 1);
    assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, isoproof_integer(k), elements, count, &error));
  }
}

static void test_anything(void **state) {
  (void)state;
  uint64_t random = 7;
  for (unsigned run = 0; run < runs() * 3; run++) {
    bool lists = run % 2 == 0;
    isoproof_builder *builder;
    isoproof_history *history;
    isoproof_error error;
    uint64_t next[2] = {0, 0};
    int64_t time = 0;
    assert_ok(isoproof_builder_new(&builder, &error));
    for (unsigned t = 0; t < 6; t++) {
      uint32_t session;
      assert_ok(isoproof_builder_session(builder, isoproof_integer((int64_t)unit_below(&random, 3)), &session, &error));
      assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, &error));
      int64_t start = time + 1 - (int64_t)unit_below(&random, 2) * (t > 0);
      assert_ok(isoproof_builder_times(builder, start, start + 2, &error));
      time = start + 2;
      random_txn(builder, &random, lists, next);
    }
    if (lists) {
      uint32_t session;
      assert_ok(isoproof_builder_session(builder, isoproof_integer(9), &session, &error));
      final_read(builder, session, time + 10, next);
    }
    assert_ok(isoproof_builder_finish(builder, &history, &error));
    compare(history, lists, run);
    isoproof_history_free(history);
    isoproof_builder_free(builder);
  }
}

/* ---- registers, what follows: against all orders of versions ---- */

enum { TXNS = 4, KEYS_HERE = 2 };

/* What transactions do, in numbers: -1 is nothing; a read of version t is that of what transaction t wrote, TXNS is
 * nil. */
typedef struct small {
  int reads[TXNS][KEYS_HERE];
  bool writes[TXNS][KEYS_HERE];
} small;

static bool reaches(bool edges[TXNS][TXNS], int from, int to, unsigned seen) {
  if (from == to) return true;
  for (int next = 0; next < TXNS; next++) {
    bool step = edges[from][next] && (seen >> next & 1) == 0;
    if (step && reaches(edges, next, to, seen | 1u << next)) return true;
  }
  return false;
}

/* Whether orders of versions avoid G1c and G-single: ranks[k][t] is the place of what t wrote to k. */
static bool is_consistent_view(const small *s, int ranks[KEYS_HERE][TXNS]) {
  bool depends[TXNS][TXNS] = {{false}}, anti[TXNS][TXNS] = {{false}};
  for (int k = 0; k < KEYS_HERE; k++) {
    for (int a = 0; a < TXNS; a++) {
      int seen = s->reads[a][k];
      if (seen >= 0 && seen < TXNS && seen != a) depends[seen][a] = true;
      for (int b = 0; b < TXNS; b++) {
        if (a == b || !s->writes[b][k]) continue;
        if (s->writes[a][k] && ranks[k][a] < ranks[k][b]) depends[a][b] = true;
        bool before = seen == TXNS || (seen >= 0 && seen != b && ranks[k][seen] < ranks[k][b]);
        if (before) anti[a][b] = true;
      }
    }
  }
  for (int a = 0; a < TXNS; a++) {
    for (int b = 0; b < TXNS; b++) {
      if (a != b && (depends[a][b] || anti[a][b]) && reaches(depends, b, a, 0)) return false;
    }
  }
  return true;
}

/* All permutations of the ranks, key by key. */
static bool some_order(const small *s, int ranks[KEYS_HERE][TXNS], int key, int placed) {
  if (key == KEYS_HERE) return is_consistent_view(s, ranks);
  if (placed == TXNS) return some_order(s, ranks, key + 1, 0);
  for (int rank = 0; rank < TXNS; rank++) {
    bool taken = false;
    for (int t = 0; t < placed; t++) taken |= ranks[key][t] == rank;
    ranks[key][placed] = rank;
    if (!taken && some_order(s, ranks, key, placed + 1)) return true;
  }
  return false;
}

static isoproof_history *small_history(const small *s) {
  isoproof_builder *builder;
  isoproof_history *history;
  isoproof_error error;
  assert_ok(isoproof_builder_new(&builder, &error));
  for (int t = 0; t < TXNS; t++) {
    uint32_t session;
    assert_ok(isoproof_builder_session(builder, isoproof_integer(t), &session, &error));
    assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, &error));
    for (int k = 0; k < KEYS_HERE; k++) {
      isoproof_scalar value = s->reads[t][k] == TXNS ? isoproof_nil() : isoproof_integer(s->reads[t][k]);
      if (s->reads[t][k] >= 0)
        assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_READ, isoproof_integer(k), value, &error));
    }
    for (int k = 0; k < KEYS_HERE; k++) {
      if (!s->writes[t][k]) continue;
      assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(k), isoproof_integer(t), &error));
    }
  }
  assert_ok(isoproof_builder_finish(builder, &history, &error));
  isoproof_builder_free(builder);
  return history;
}

/* Consistent view has no complete checker: what is found must be there, and most of what is there is found. */
static void test_follow(void **state) {
  (void)state;
  uint64_t random = 5;
  unsigned violated = 0, seen = 0;
  for (unsigned run = 0; run < runs() * 10; run++) {
    small s;
    int ranks[KEYS_HERE][TXNS];
    memset(&s, 0, sizeof s);
    for (int t = 0; t < TXNS; t++) {
      for (int k = 0; k < KEYS_HERE; k++) s.writes[t][k] = unit_below(&random, 2) == 0;
    }
    for (int t = 0; t < TXNS; t++) {
      for (int k = 0; k < KEYS_HERE; k++) {
        int from = (int)unit_below(&random, TXNS + 1);
        bool reads = unit_below(&random, 2) == 0 && from != t && (from == TXNS || s.writes[from][k]);
        s.reads[t][k] = reads ? from : -1;
      }
    }
    bool found, holds = some_order(&s, ranks, 0, 0);
    isoproof_history *history = small_history(&s);
    (void)judge(history, "rw-register", "consistent-view", &found);
    if (found && holds) fail_with(history, "consistent-view", run, "ruled out, but it holds");
    violated += !holds;
    seen += found;
    isoproof_history_free(history);
  }
  print_message("consistent-view is violated %u times and found %u times\n", violated, seen);
  assert_true(violated > 0 && seen * 10 >= violated * 8);
}

/* ---- sets, counters and rows, executed one transaction after the other: nothing may be found ---- */

enum { KEYS = 3, VALUES = 64 };

typedef struct world {
  bool in_set[KEYS][VALUES];
  int64_t counter[KEYS];
  int64_t row[KEYS]; /* 0 unborn, -1 dead, else its value */
  int64_t next;
} world;

static void set_op(isoproof_builder *builder, world *w, uint64_t *random, int64_t k) {
  isoproof_scalar key = isoproof_integer(k), elements[VALUES];
  isoproof_error error;
  size_t count = 0;
  if (unit_below(random, 2) == 0 && w->next < VALUES) {
    w->in_set[k][w->next] = true;
    assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_ADD, key, isoproof_integer(w->next++), &error));
    return;
  }
  for (int64_t v = VALUES; v-- > 0;) {
    if (w->in_set[k][v]) elements[count++] = isoproof_integer(v);
  }
  assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_SET, key, elements, count, &error));
}

static void counter_op(isoproof_builder *builder, world *w, uint64_t *random, int64_t k) {
  isoproof_scalar key = isoproof_integer(k);
  isoproof_error error;
  if (unit_below(random, 2) == 0) {
    int64_t added = (int64_t)unit_below(random, 3) + 1 - (k == 0 ? 2 : 0); /* key 0 may shrink */
    w->counter[k] += added;
    assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_INCREMENT, key, isoproof_integer(added), &error));
  } else {
    assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_READ_COUNTER, key, isoproof_integer(w->counter[k]), &error));
  }
}

static void query(isoproof_builder *builder, const world *w, uint64_t *random) {
  isoproof_scalar rows[2 * KEYS], name = {.type = ISOPROOF_SYMBOL};
  isoproof_error error;
  size_t count = 0;
  bool odd = unit_below(random, 2) == 0;
  name.text = odd ? "mod 2 1" : "true";
  name.length = (uint32_t)strlen(name.text);
  for (int64_t k = 0; k < KEYS; k++) {
    if (w->row[k] <= 0 || (odd && w->row[k] % 2 != 1)) continue;
    rows[count++] = isoproof_integer(k);
    rows[count++] = isoproof_integer(w->row[k]);
  }
  assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_PREDICATE, name, rows, count, &error));
}

static void row_op(isoproof_builder *builder, world *w, uint64_t *random, int64_t k) {
  isoproof_scalar key = isoproof_integer(k), dead = {.type = ISOPROOF_KEYWORD, .text = "elle/dead", .length = 9};
  isoproof_error error;
  uint64_t what = unit_below(random, 5);
  if (what == 0 && w->row[k] == 0) {
    w->row[k] = ++w->next;
    assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, key, isoproof_integer(w->row[k]), &error));
  } else if (what == 1 && w->row[k] > 0) {
    w->row[k] = -1;
    assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, key, dead, &error));
  } else if (what == 2) {
    query(builder, w, random);
  } else {
    isoproof_scalar value = w->row[k] > 0 ? isoproof_integer(w->row[k]) : isoproof_nil();
    assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_READ, key, value, &error));
  }
}

static void test_growing(void **state) {
  (void)state;
  static const char *const workloads[] = {"set", "counter", "closed-predicate"};
  uint64_t random = 99;
  for (unsigned run = 0; run < runs() * 3; run++) {
    isoproof_builder *builder;
    isoproof_history *history;
    isoproof_error error;
    world w;
    int64_t free_at[4] = {0, 0, 0, 0};
    memset(&w, 0, sizeof w);
    assert_ok(isoproof_builder_new(&builder, &error));
    for (int64_t t = 0; t < 12; t++) {
      uint32_t session;
      int64_t s = (int64_t)unit_below(&random, 4), at = 100 * (t + 1);
      int64_t start = at - (int64_t)unit_below(&random, 250), end = at + (int64_t)unit_below(&random, 250);
      if (start <= free_at[s]) start = free_at[s] + 1;
      if (start > at) continue; /* the session was still busy */
      free_at[s] = end;
      assert_ok(isoproof_builder_session(builder, isoproof_integer(s), &session, &error));
      assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, &error));
      assert_ok(isoproof_builder_times(builder, start, end, &error));
      uint64_t ops = 1 + unit_below(&random, 3);
      for (uint64_t i = 0; i < ops; i++) {
        int64_t k = (int64_t)unit_below(&random, KEYS);
        if (run % 3 == 0) set_op(builder, &w, &random, k);
        if (run % 3 == 1) counter_op(builder, &w, &random, k);
        if (run % 3 == 2) row_op(builder, &w, &random, k);
      }
    }
    assert_ok(isoproof_builder_finish(builder, &history, &error));
    bool found;
    isoproof_verdict verdict = judge(history, workloads[run % 3], "strong-serializable", &found);
    if (found) fail_with(history, "strong-serializable", run, "ruled out, but it holds");
    if (run % 3 == 0) assert_int_equal(verdict, ISOPROOF_SATISFIED);
    isoproof_history_free(history);
    isoproof_builder_free(builder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_levels), cmocka_unit_test(test_bugs),    cmocka_unit_test(test_anything),
      cmocka_unit_test(test_follow), cmocka_unit_test(test_growing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
