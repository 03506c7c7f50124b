/* Certificates: every satisfied level has one, and the independent check accepts exactly the orders that prove what
 * they claim: on random small histories against the definitions, on simulated ones by damaging what was found. */
#include "tests/unit/unit.h"

#include "tests/oracle/orders.h"
#include "tests/random/random_history.h"
#include "verify/certificate.h"

/* What the orders of axioms and rules have to show. */
static const order_rule of_axioms[ISO_AXIOMS] = {
    [ISO_AXIOM_READ_COMMITTED] = ORDER_READ_COMMITTED,
    [ISO_AXIOM_READ_ATOMIC] = ORDER_READ_ATOMIC,
    [ISO_AXIOM_CAUSAL] = ORDER_CAUSAL,
};
static const order_rule of_rules[ISO_RULES] = {
    [ISO_RULE_UPDATE_ATOMIC] = ORDER_UPDATE_ATOMIC, [ISO_RULE_PREFIX] = ORDER_PREFIX,
    [ISO_RULE_PARALLEL] = ORDER_PARALLEL,           [ISO_RULE_SNAPSHOT] = ORDER_SNAPSHOT,
    [ISO_RULE_SERIALIZABLE] = ORDER_SERIALIZABLE,
};

/* The same for each level that has certificates. */
static struct {
  const char *level;
  const iso_order_rule *order;
  order_rule by_definition;
  bool unordered, real_time, rare;
} rules[ISO_LEVEL_COUNT];
static size_t rule_count;
enum { MOST_EVENTS = 2 * SKETCH_TXNS + 2 };

static int list_rules(void **state) {
  (void)state;
  const isoproof_level_info *info;
  for (size_t i = 0; (info = isoproof_level_at(i)) != NULL; i++) {
    const iso_level_method *method = iso_level_method_of(info);
    const iso_strong_level *strong = iso_strong_level_of(info);
    const iso_order_rule *order =
        strong != NULL ? &iso_rule_judge_of(strong->rule)->order : &iso_axiom_judge_of(method->axiom)->order;
    if (strong == NULL && (method->engine != ISO_ENGINE_AXIOM || order->judge == NULL)) continue;
    if (order->own_levels) continue; /* tests/unit/check/mixed.c */
    rules[rule_count].level = info->id;
    rules[rule_count].order = order;
    rules[rule_count].by_definition = strong != NULL ? of_rules[strong->rule] : of_axioms[method->axiom];
    rules[rule_count].unordered = strong != NULL && !strong->session_order;
    rules[rule_count].real_time = strong != NULL && strong->real_time;
    /* Where parallel snapshot isolation is satisfied, snapshot isolation nearly always is. */
    rules[rule_count++].rare = strong != NULL && strong->rule == ISO_RULE_PARALLEL;
  }
  return 0;
}

static size_t rule_of(const char *level) {
  size_t i = 0;
  while (i < rule_count && strcmp(rules[i].level, level) != 0) i++;
  if (i == rule_count) fail_msg("a certificate of %s", level);
  return i;
}

static bool believes(isoproof_history *history, size_t rule, const isoproof_certificate_event *events, size_t count) {
  iso_claim claim = {.rule = rules[rule].order,
                     .session_order = !rules[rule].unordered,
                     .real_time = rules[rule].real_time,
                     .events = events,
                     .count = count};
  isoproof_error error;
  isoproof_status status = iso_verify_order(history, &claim, NULL, &error);
  if (status != ISOPROOF_OK && status != ISOPROOF_ERR_INTERNAL) fail_msg("%s", error.message);
  return status == ISOPROOF_OK;
}

/* The same by the definitions; the order has every event once. */
static bool holds(const facts *f, size_t rule, const isoproof_certificate_event *events, size_t count) {
  int begin[FACTS_NODES] = {-1}, commit[FACTS_NODES] = {-1};
  facts without = *f;
  if (rules[rule].unordered) memset(&without.so, 0, sizeof without.so);
  for (size_t i = 0; i < count; i++) {
    unsigned node = 1;
    while (f->txn[node] != events[i].txn) node++;
    if (events[i].kind != ISOPROOF_EVENT_COMMIT) begin[node] = (int)i;
    if (events[i].kind != ISOPROOF_EVENT_BEGIN) commit[node] = (int)i;
  }
  for (unsigned node = 1; node < f->nodes; node++) {
    if (begin[node] > commit[node]) return false;
  }
  return order_holds(&without, rules[rule].by_definition, rules[rule].real_time, begin, commit);
}

typedef struct {
  uint64_t random;
  uint64_t accepted[ISO_LEVEL_COUNT], refused[ISO_LEVEL_COUNT], certificates[ISO_LEVEL_COUNT];
} tally;

static void fail_with(const sketch *s, size_t rule, const char *what, const isoproof_certificate_event *events,
                      size_t count) {
  char text[4096], order[512] = "";
  sketch_print(s, text, sizeof text);
  for (size_t i = 0, used = 0; i < count && used < sizeof order; i++) {
    used += (size_t)snprintf(order + used, sizeof order - used, " %llu:%s", (unsigned long long)events[i].txn,
                             isoproof_certificate_event_kind_name(events[i].kind));
  }
  fail_msg("%s: %s\n%s%s", rules[rule].level, what, text, order);
}

static void compare(tally *t, const sketch *s, isoproof_history *history, const facts *f, size_t rule,
                    const isoproof_certificate_event *events, size_t count) {
  bool expected = holds(f, rule, events, count), found = believes(history, rule, events, count);
  if (expected != found) fail_with(s, rule, found ? "wrongly believed" : "wrongly refused", events, count);
  (expected ? t->accepted : t->refused)[rule]++;
}

static void swap(isoproof_certificate_event *events, size_t a, size_t b) {
  isoproof_certificate_event kept = events[a];
  events[a] = events[b];
  events[b] = kept;
}

/* Two events swapped, one left out, one twice. */
static void damage(tally *t, const sketch *s, isoproof_history *history, const facts *f, size_t rule,
                   const isoproof_certificate_event *events, size_t count) {
  isoproof_certificate_event broken[MOST_EVENTS + 1];
  if (count == 0) return;
  assert_true(count <= MOST_EVENTS);
  for (size_t i = 0; i + 1 < count; i++) {
    memcpy(broken, events, count * sizeof *events);
    swap(broken, i, i + 1);
    compare(t, s, history, f, rule, broken, count);
  }
  memcpy(broken, events, count * sizeof *events);
  swap(broken, sketch_below(&t->random, count), sketch_below(&t->random, count));
  swap(broken, sketch_below(&t->random, count), sketch_below(&t->random, count));
  compare(t, s, history, f, rule, broken, count);
  size_t at = sketch_below(&t->random, count);
  memcpy(broken, events, count * sizeof *events);
  memmove(broken + at, broken + at + 1, (count - at - 1) * sizeof *events);
  if (believes(history, rule, broken, count - 1)) fail_with(s, rule, "believed without an event", broken, count - 1);
  memcpy(broken, events, count * sizeof *events);
  broken[count] = events[at];
  if (believes(history, rule, broken, count + 1)) fail_with(s, rule, "believed with an event twice", broken, count + 1);
  broken[at].txn = 1000;
  if (believes(history, rule, broken, count)) fail_with(s, rule, "believed with a stranger", broken, count);
}

/* An order of all transactions that took effect that has nothing to do with what the search found. */
static void draw_order(tally *t, const sketch *s, isoproof_history *history, const facts *f) {
  isoproof_certificate_event events[MOST_EVENTS];
  size_t rule = sketch_below(&t->random, rule_count), count = 0;
  bool split = order_is_split(rules[rule].by_definition), in_order = sketch_below(&t->random, 2) == 0;
  if (rules[rule].real_time && !s->timed) return;
  for (unsigned node = 1; node < f->nodes; node++) {
    if (split) events[count++] = (isoproof_certificate_event){f->txn[node], ISOPROOF_EVENT_BEGIN};
    events[count++] = (isoproof_certificate_event){f->txn[node], split ? ISOPROOF_EVENT_COMMIT : ISOPROOF_EVENT_TXN};
  }
  for (size_t i = 1; i < count && !in_order; i++) swap(events, i, sketch_below(&t->random, i + 1));
  compare(t, s, history, f, rule, events, count);
  for (size_t i = 0; i < count; i++) events[i].kind = split ? ISOPROOF_EVENT_TXN : ISOPROOF_EVENT_COMMIT;
  if (count > 0 && believes(history, rule, events, count)) fail_with(s, rule, "wrong kinds believed", events, count);
}

static void check_certificates(tally *t, const sketch *s, isoproof_history *history, const facts *f, const char *only) {
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = &only, .level_count = only != NULL, .certificate = true};
  isoproof_result *result;
  isoproof_error error;
  if (isoproof_check(history, &options, NULL, &result, &error) != ISOPROOF_OK) {
    char text[4096];
    sketch_print(s, text, sizeof text);
    fail_msg("%s: %s\n%s", only != NULL ? only : "all levels", error.message, text);
  }
  isoproof_certificate c = {.struct_size = sizeof c};
  isoproof_level_verdict v = {.struct_size = sizeof v};
  for (size_t i = 0; isoproof_result_certificate_at(result, i, &c); i++) {
    size_t rule = rule_of(c.level);
    t->certificates[rule]++;
    if (!holds(f, rule, c.events, c.event_count)) fail_with(s, rule, "no proof", c.events, c.event_count);
    damage(t, s, history, f, rule, c.events, c.event_count);
  }
  for (size_t i = 0; isoproof_result_level_at(result, i, &v); i++) {
    bool has = isoproof_result_certificate_of(result, v.level, &c);
    bool without =
        isoproof_level_find(v.level)->family == ISOPROOF_LEVEL_SESSION || strcmp(v.level, "cut-isolation") == 0;
    if (v.verdict == ISOPROOF_VIOLATED && has) fail_msg("a certificate of %s, which is violated", v.level);
    if (v.verdict == ISOPROOF_SATISFIED && !has && !without) fail_msg("no certificate of %s", v.level);
  }
  isoproof_result_free(result);
}

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static void small_histories(void **state) {
  (void)state;
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 25000);
  if (histories < 40000) histories /= 4; /* sanitizers are slow */
  tally t = {.random = setting("ISOPROOF_RANDOM_SEED", 42)};
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    facts f;
    (i % 3 == 0 ? sketch_draw_lists : sketch_draw)(&t.random, &s);
    if (sketch_below(&t.random, 2) == 0) sketch_draw_times(&t.random, &s);
    isoproof_history *history = sketch_history(&s);
    if (facts_gather(history, &f)) {
      size_t rule = sketch_below(&t.random, 2 * rule_count);
      check_certificates(&t, &s, history, &f, rule < rule_count ? rules[rule].level : NULL);
      for (int k = 0; k < 8; k++) draw_order(&t, &s, history, &f);
    }
    isoproof_history_free(history);
  }
  for (size_t i = 0; i < rule_count && histories >= 10000; i++) {
    print_message("%-28s %6llu certificates, %7llu orders that hold, %7llu that do not\n", rules[i].level,
                  (unsigned long long)t.certificates[i], (unsigned long long)t.accepted[i],
                  (unsigned long long)t.refused[i]);
    assert_true((rules[i].rare || t.certificates[i] > 0) && t.accepted[i] > 0 && t.refused[i] > 0);
  }
}

/* Where several writes could explain a read, a certificate goes with the choice that satisfies its level. */
static void duplicate_values(void **state) {
  (void)state;
  uint64_t random = 7, certificates = 0;
  for (int i = 0; i < 1500; i++) {
    sketch s;
    sketch_draw(&random, &s);
    for (unsigned t = 0; t < s.count; t++) {
      for (unsigned k = 0; k < s.txns[t].count; k++) {
        if (s.txns[t].ops[k].value > 2) s.txns[t].ops[k].value = (uint8_t)(1 + s.txns[t].ops[k].value % 2);
      }
    }
    isoproof_history *history = sketch_history(&s);
    isoproof_check_options options = {.struct_size = sizeof options, .certificate = true, .duplicate_values = true};
    isoproof_result *result;
    isoproof_error error;
    isoproof_certificate c = {.struct_size = sizeof c};
    isoproof_level_verdict v = {.struct_size = sizeof v};
    assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
    for (size_t k = 0; isoproof_result_level_at(result, k, &v); k++) {
      bool without =
          isoproof_level_find(v.level)->family == ISOPROOF_LEVEL_SESSION || strcmp(v.level, "cut-isolation") == 0;
      if (!without)
        assert_int_equal(isoproof_result_certificate_of(result, v.level, &c), v.verdict == ISOPROOF_SATISFIED);
    }
    certificates += isoproof_result_certificate_count(result);
    isoproof_result_free(result);
    isoproof_history_free(history);
  }
  assert_true(certificates > 500);
}

/* ---- simulated histories ---- */

/* Swaps a reader with one that it reads from: no order of any level may have them so. */
static bool swap_reader(const isoproof_history *history, isoproof_certificate_event *events, size_t count,
                        uint64_t *random) {
  size_t *place = calloc(history->txns, sizeof *place);
  assert_non_null(place);
  for (size_t i = 0; i < count; i++) {
    if (events[i].kind != ISOPROOF_EVENT_BEGIN) place[events[i].txn] = i;
  }
  bool done = false;
  for (int tries = 0; tries < 1000 && !done; tries++) {
    size_t at = sketch_below(random, count);
    uint32_t txn = (uint32_t)events[at].txn;
    if (events[at].kind == ISOPROOF_EVENT_COMMIT) continue;
    for (uint32_t op = history->txn_first_op[txn]; op < history->txn_first_op[txn + 1] && !done; op++) {
      uint32_t write = history->op_kind[op] == ISOPROOF_OP_READ ? history->resolution->writer[op] : ISO_NO_OP;
      if (write >= history->ops || history->op_txn[write] == txn) continue;
      swap(events, at, place[history->op_txn[write]]);
      done = true;
    }
  }
  free(place);
  return done;
}

static void certify_simulated(isoproof_sim_level level, bool lists, uint64_t txns, const char *const *wanted) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history;
  isoproof_result *result;
  isoproof_error error;
  isoproof_sim_defaults(&options);
  options.struct_size = sizeof options;
  options.seed = txns + (uint64_t)level;
  options.level = level;
  options.sessions = 12;
  options.txns = txns;
  options.keys = (uint32_t)(txns / 10);
  options.ops_min = 1;
  options.ops_max = 12;
  options.abort_share = 0.03;
  options.unknown_share = 0.03;
  options.rmw_share = 0.3;
  options.lists = lists;
  options.appends_per_key = 60;
  assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
  for (; *wanted != NULL; wanted++) {
    isoproof_check_options how = {.struct_size = sizeof how, .levels = wanted, .level_count = 1, .certificate = true};
    assert_ok_error(isoproof_check(history, &how, NULL, &result, &error), error);
    assert_int_equal(isoproof_result_verdict_of(result, *wanted), ISOPROOF_SATISFIED);
    isoproof_certificate c = {.struct_size = sizeof c};
    assert_true(isoproof_result_certificate_of(result, *wanted, &c));
    size_t rule = rule_of(c.level);
    isoproof_certificate_event *events = malloc((c.event_count + 1) * sizeof *events);
    uint64_t random = txns;
    for (int round = 0; round < 3; round++) {
      memcpy(events, c.events, c.event_count * sizeof *events);
      if (swap_reader(history, events, c.event_count, &random))
        assert_false(believes(history, rule, events, c.event_count));
      memcpy(events, c.events, c.event_count * sizeof *events);
      events[sketch_below(&random, c.event_count)] =
          events[c.event_count - 1 - sketch_below(&random, 1 + c.event_count / 2)];
      bool same = memcmp(events, c.events, c.event_count * sizeof *events) == 0;
      assert_int_equal(believes(history, rule, events, c.event_count), same);
    }
    free(events);
    isoproof_result_free(result);
  }
  isoproof_history_free(history);
}

static void simulated_histories(void **state) {
  (void)state;
  bool few = getenv("ISOPROOF_RANDOM_HISTORIES") != NULL && setting("ISOPROOF_RANDOM_HISTORIES", 0) < 100000;
  uint64_t large = few ? 5000 : 100000;
  static const char *const serial[] = {"strict-serializable", "serializable", "snapshot-isolation", NULL};
  static const char *const snapshot[] = {"strong-snapshot-isolation", "snapshot-isolation", "prefix", NULL};
  static const char *const parallel[] = {"parallel-snapshot-isolation", "update-atomic", NULL};
  static const char *const causal[] = {"causal", "read-committed", NULL};
  static const char *const atomic[] = {"read-atomic", NULL};
  static const char *const committed[] = {"read-committed", NULL};
  for (int lists = 0; lists < 2; lists++) {
    certify_simulated(ISOPROOF_SIM_SERIALIZABLE, lists, large, serial);
    certify_simulated(ISOPROOF_SIM_SNAPSHOT, lists, large, snapshot);
    certify_simulated(ISOPROOF_SIM_PARALLEL_SNAPSHOT, lists, 3000, parallel);
    certify_simulated(ISOPROOF_SIM_CAUSAL, lists, large / 2, causal);
    certify_simulated(ISOPROOF_SIM_READ_ATOMIC, lists, large / 2, atomic);
    certify_simulated(ISOPROOF_SIM_READ_COMMITTED, lists, large / 2, committed);
  }
}

/* ---- the edges of it ---- */

static isoproof_history *open_text(const char *text) {
  isoproof_history *history;
  isoproof_error error;
  assert_ok_error(isoproof_history_open_memory(text, strlen(text), "test", NULL, NULL, &history, &error), error);
  return history;
}

static void asked_for_or_not(void **state) {
  (void)state;
  isoproof_history *history = open_text("w(1,1,0,0)\nr(1,1,1,1)\n");
  isoproof_result *result;
  isoproof_certificate c = {.struct_size = sizeof c};
  isoproof_error error;
  assert_ok(isoproof_check(history, NULL, NULL, &result, NULL));
  assert_int_equal(isoproof_result_certificate_count(result), 0);
  assert_false(isoproof_result_certificate_at(result, 0, &c));
  assert_false(isoproof_result_certificate_of(result, "serializable", &c));
  assert_null(isoproof_result_uncertified(result));
  isoproof_result_free(result);
  const char *pattern = "TAP-k", *model = "serializable";
  isoproof_check_options patterns = {
      .struct_size = sizeof patterns, .anomalies = &pattern, .anomaly_count = 1, .certificate = true};
  isoproof_check_options models = {.struct_size = sizeof models, .models = &model, .model_count = 1, .stats = true};
  assert_int_equal(isoproof_check(history, &patterns, NULL, &result, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_check(history, &models, NULL, &result, &error), ISOPROOF_ERR_USAGE);
  isoproof_check_options wanted = {.struct_size = sizeof wanted, .certificate = true};
  assert_ok(isoproof_check(history, &wanted, NULL, &result, NULL));
  assert_true(isoproof_result_certificate_of(result, "si", &c));
  assert_string_equal(c.level, "serializable");
  assert_int_equal(c.event_count, 2);
  assert_int_equal(c.events[0].txn, 0);
  assert_int_equal(c.events[1].txn, 1);
  assert_false(isoproof_result_certificate_of(result, "no-such-level", &c));
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* Two readers that see two writes in opposite orders: no snapshots, but replicas. */
static void long_fork(void **state) {
  (void)state;
  isoproof_history *history = open_text("w(1,1,0,0)\nw(2,1,1,1)\nr(1,1,2,2)\nr(2,0,2,2)\nr(1,0,3,3)\nr(2,1,3,3)\n");
  isoproof_check_options options = {.struct_size = sizeof options, .certificate = true};
  isoproof_result *result;
  isoproof_certificate c = {.struct_size = sizeof c};
  assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
  assert_int_equal(isoproof_result_certificate_count(result), 1);
  assert_true(isoproof_result_certificate_of(result, "causal", &c));
  assert_string_equal(c.level, "parallel-snapshot-isolation");
  assert_int_equal(c.event_count, 4);
  assert_int_equal(c.events[0].kind, ISOPROOF_EVENT_TXN);
  size_t rule = rule_of(c.level);
  assert_true(believes(history, rule, c.events, c.event_count));
  assert_false(believes(history, rule_of("serializable"), c.events, c.event_count));
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* Where the initial version is 0, a write of 0 looks like it, to a certificate as well. */
static void zero_that_was_written(void **state) {
  (void)state;
  isoproof_history *history = open_text("w(1,0,0,0)\nr(1,0,1,1)\n");
  const char *level = "serializable";
  isoproof_check_options options = {
      .struct_size = sizeof options, .levels = &level, .level_count = 1, .certificate = true};
  isoproof_result *result;
  isoproof_error error;
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  assert_int_equal(isoproof_result_verdict(result), ISOPROOF_SATISFIED);
  assert_int_equal(isoproof_result_certificate_count(result), 1);
  isoproof_result_free(result);
  isoproof_history_free(history);
}

/* The figures of a search: complete with the option, and those that are cheap without. */
static void figures_of_a_search(void **state) {
  (void)state;
  isoproof_history *history = open_text("w(1,1,0,0)\nw(1,2,1,1)\nr(1,1,2,2)\nr(1,2,2,3)\n");
  for (int with = 0; with < 2; with++) {
    const char *level = "serializable";
    isoproof_check_options options = {
        .struct_size = sizeof options, .levels = &level, .level_count = 1, .stats = with == 1};
    isoproof_result *result;
    isoproof_search_stat figure = {.struct_size = sizeof figure};
    unsigned times = 0, seen = 0;
    assert_ok(isoproof_check(history, &options, NULL, &result, NULL));
    assert_string_equal(isoproof_result_search_at(result, 0), "serializable");
    assert_null(isoproof_result_search_at(result, 1));
    for (size_t i = 0; isoproof_result_search_stat_at(result, 0, i, &figure); i++) {
      times += figure.is_time;
      assert_true(figure.meaning[0] != '\0');
      if (strcmp(figure.name, "events") == 0) assert_int_equal(figure.count, 4);
      if (strcmp(figure.name, "chains") == 0) assert_int_equal(figure.count, 3);
      if (strcmp(figure.name, "pairs") == 0) {
        seen++;
        assert_int_equal(figure.known, with);
        if (with) assert_int_equal(figure.count, 1);
      }
      if (strcmp(figure.name, "dependencies") == 0 && with) assert_int_equal(figure.count, 3);
      if (strcmp(figure.name, "pairs_left") == 0 && with) assert_true(figure.known && figure.count == 0);
    }
    assert_int_equal(seen, 1);
    assert_int_equal(times, 6);
    assert_false(isoproof_result_search_stat_at(result, 1, 0, &figure));
    isoproof_result_free(result);
  }
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(asked_for_or_not),      cmocka_unit_test(long_fork),
                                     cmocka_unit_test(figures_of_a_search),   cmocka_unit_test(duplicate_values),
                                     cmocka_unit_test(zero_that_was_written), cmocka_unit_test(simulated_histories),
                                     cmocka_unit_test(small_histories)};
  return cmocka_run_group_tests_name("certificate", tests, list_rules, NULL);
}
