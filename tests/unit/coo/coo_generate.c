/* The generator of POP cycles against brute force: all schedules of a size are made, and their shortest cycles are
 * looked for straight from the definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <isoproof/coo.h>

enum { TXNS = 4, STEPS = 3 * TXNS, FORM = 64, FORMS = 4096 };

/* ---- a set of forms, such as "RW0 WCR1" ---- */

typedef struct form_set {
  char (*forms)[FORM];
  size_t count;
} form_set;

static void add_form(form_set *set, const char *form) {
  for (size_t i = 0; i < set->count; i++) {
    if (strcmp(set->forms[i], form) == 0) return;
  }
  assert_true(set->count < FORMS);
  snprintf(set->forms[set->count++], FORM, "%s", form);
}

static bool has_form(const form_set *set, const char *form) {
  for (size_t i = 0; i < set->count; i++) {
    if (strcmp(set->forms[i], form) == 0) return true;
  }
  return false;
}

static form_set new_set(void) {
  form_set set = {calloc(FORMS, FORM), 0};
  assert_non_null(set.forms);
  return set;
}

static void expect_same(const form_set *brute, const form_set *generated) {
  for (size_t i = 0; i < brute->count; i++) {
    if (!has_form(generated, brute->forms[i])) fail_msg("not generated: %s", brute->forms[i]);
  }
  for (size_t i = 0; i < generated->count; i++) {
    if (!has_form(brute, generated->forms[i])) fail_msg("generated, but in no schedule: %s", generated->forms[i]);
  }
}

static form_set generated(size_t txns, size_t objects) {
  form_set set = new_set();
  isoproof_coo_generator *generator;
  isoproof_coo_case c = {.struct_size = sizeof c};
  assert_int_equal(isoproof_coo_generator_new(txns, objects, &generator, NULL), ISOPROOF_OK);
  while (isoproof_coo_generator_next(generator, &c)) {
    char form[FORM] = "";
    if (c.length != txns || c.object_count != objects) continue;
    for (size_t i = 0; i < c.length; i++) {
      size_t used = strlen(form);
      snprintf(form + used, FORM - used, " %s%u", isoproof_pop_kind_name(c.pops[i]), c.on[i]);
    }
    assert_false(has_form(&set, form));
    add_form(&set, form);
  }
  isoproof_coo_generator_free(generator);
  assert_int_equal(set.count, isoproof_coo_cycle_count(txns, objects));
  return set;
}

/* ---- schedules by brute force ---- */

typedef struct act {
  char what; /* R W C A */
  int txn, object;
} act;

/* A pair of steps with an order, by the definitions; `kind` is "" where there is none. */
typedef struct order {
  char kind[4];
  int from, to, object, closes;
} order;

static int end_of(const act *s, int count, int txn) {
  for (int i = 0; i < count; i++) {
    if (s[i].txn == txn && (s[i].what == 'C' || s[i].what == 'A')) return i;
  }
  return count;
}

static order order_of(const act *s, int count, int a, int b) {
  order o = {{0}, s[a].txn, s[b].txn, s[a].object, b};
  bool accesses = (s[a].what == 'R' || s[a].what == 'W') && (s[b].what == 'R' || s[b].what == 'W');
  if (!accesses || s[a].txn == s[b].txn || s[a].object != s[b].object || (s[a].what == 'R' && s[b].what == 'R'))
    return o;
  int first_end = end_of(s, count, s[a].txn), second_end = end_of(s, count, s[b].txn);
  bool second_aborts = second_end < count && s[second_end].what == 'A';
  if (first_end < b && s[first_end].what == 'A') return o;
  if (second_aborts && second_end < first_end) return o;
  int length = 0;
  o.kind[length++] = s[a].what;
  if (first_end < b) o.kind[length++] = 'C';
  o.kind[length] = s[b].what;
  return o;
}

/* Adds the form of a cycle of distinct transactions, told from the order that closes first. */
static void add_cycle(form_set *set, const order *cycle, int length, int objects_wanted) {
  char form[FORM] = "";
  int first = 0, seen[TXNS], objects = 0;
  for (int i = 1; i < length; i++) {
    if (cycle[i].closes < cycle[first].closes) first = i;
  }
  for (int i = 0; i < length; i++) {
    const order *o = &cycle[(first + i) % length];
    int object = 0;
    while (object < objects && seen[object] != o->object) object++;
    if (object == objects) seen[objects++] = o->object;
    size_t used = strlen(form);
    snprintf(form + used, FORM - used, " %s%d", o->kind, object);
  }
  if (objects == objects_wanted) add_form(set, form);
}

/* Cycles of two transactions on one object: three steps in a row, or two and the end of the first writer. */
static void add_single(form_set *set, const act *s, int count) {
  for (int b = 0; b < count; b++) {
    for (int a = 0; a < b; a++) {
      order first = order_of(s, count, a, b);
      if (first.kind[0] == 0) continue;
      char form[FORM];
      for (int c = b + 1; c < count; c++) {
        order second = order_of(s, count, b, c);
        if (second.kind[0] == 0 || second.to != first.from) continue;
        snprintf(form, sizeof form, " %s0 %s0", first.kind, second.kind);
        add_form(set, form);
      }
      int end = end_of(s, count, s[a].txn);
      if (strcmp(first.kind, "WR") == 0 && end < count && s[end].what == 'A') add_form(set, " WR0 RA0");
      /* A commit and a rollback of the first writer are variants of one case. */
      if (strcmp(first.kind, "WW") == 0 && end < count) add_form(set, " WW0 WC0");
    }
  }
}

typedef struct brute {
  form_set *set;
  int txns, objects;
  uint64_t schedules, hits; /* of the latter a cycle was found in */
} brute;

/* All choices of orders around the transactions 0, order[1], ... that visit each exactly once. */
static void add_around(brute *b, const order *orders, int order_count, order *cycle, int depth, unsigned visited) {
  for (int i = 0; i < order_count; i++) {
    const order *o = &orders[i];
    if (o->from != (depth == 0 ? 0 : cycle[depth - 1].to)) continue;
    cycle[depth] = *o;
    if (depth == b->txns - 1) {
      if (o->to != 0) continue;
      add_cycle(b->set, cycle, b->txns, b->objects);
      b->hits++;
    } else if ((visited >> o->to & 1) == 0) {
      add_around(b, orders, order_count, cycle, depth + 1, visited | 1U << o->to);
    }
  }
}

/* Whether some of the transactions, but not all, have a cycle among them. */
static bool has_smaller(const bool edge[TXNS][TXNS], int txns) {
  for (unsigned set = 1; set + 1 < 1U << txns; set++) {
    bool path[TXNS][TXNS];
    for (int i = 0; i < txns; i++) {
      for (int k = 0; k < txns; k++) path[i][k] = edge[i][k] && (set >> i & 1) != 0 && (set >> k & 1) != 0;
    }
    for (int m = 0; m < txns; m++) {
      for (int i = 0; i < txns; i++) {
        for (int k = 0; k < txns; k++) path[i][k] = path[i][k] || (path[i][m] && path[m][k]);
      }
    }
    for (int i = 0; i < txns; i++) {
      if (path[i][i]) return true;
    }
  }
  return false;
}

static void judge(brute *b, const act *s, int count) {
  order orders[STEPS * STEPS] = {{.from = 0}}, cycle[TXNS] = {{.from = 0}};
  bool edge[TXNS][TXNS] = {{false}};
  int order_count = 0, edges = 0;
  b->schedules++;
  if (b->txns == 2 && b->objects == 1) {
    add_single(b->set, s, count);
    return;
  }
  for (int k = 0; k < count; k++) {
    for (int a = 0; a < k; a++) {
      order o = order_of(s, count, a, k);
      if (o.kind[0] == 0) continue;
      if (!edge[o.from][o.to]) edges++;
      edge[o.from][o.to] = true;
      orders[order_count++] = o;
    }
  }
  if (edges < b->txns || (b->txns > 2 && has_smaller((const bool(*)[TXNS])edge, b->txns))) return;
  add_around(b, orders, order_count, cycle, 0, 1);
}

/* Every schedule in which each transaction does two accesses and ends; transactions and objects appear in order. */
static void enumerate(brute *b, act *s, int count, const int *done, int txns_seen, int objects_seen, bool aborts) {
  if (count == 3 * b->txns) {
    judge(b, s, count);
    return;
  }
  for (int txn = 0; txn <= txns_seen && txn < b->txns; txn++) {
    int next[TXNS], seen = txn == txns_seen ? txns_seen + 1 : txns_seen;
    if (done[txn] == 3) continue;
    memcpy(next, done, sizeof next);
    next[txn]++;
    s[count] = (act){'C', txn, -1};
    if (done[txn] == 2) {
      enumerate(b, s, count + 1, next, seen, objects_seen, aborts);
      s[count].what = 'A';
      if (aborts) enumerate(b, s, count + 1, next, seen, objects_seen, aborts);
      continue;
    }
    for (int object = 0; object <= objects_seen && object < b->objects; object++) {
      int objects = object == objects_seen ? objects_seen + 1 : objects_seen;
      for (int write = 0; write < 2; write++) {
        s[count] = (act){write ? 'W' : 'R', txn, object};
        enumerate(b, s, count + 1, next, seen, objects, aborts);
      }
    }
  }
}

static void compare(int txns, int objects, bool aborts) {
  form_set found = new_set(), expected = generated((size_t)txns, (size_t)objects);
  brute b = {&found, txns, objects, 0, 0};
  act s[STEPS];
  enumerate(&b, s, 0, (int[TXNS]){0}, 0, 0, aborts);
  print_message("%d transactions, %d objects: %zu cycles in %llu schedules\n", txns, objects, found.count,
                (unsigned long long)b.schedules);
  expect_same(&found, &expected);
  free(found.forms);
  free(expected.forms);
}

static void two_transactions(void **state) {
  (void)state;
  compare(2, 1, true);
  compare(2, 2, false);
}

static void three_transactions(void **state) {
  (void)state;
  compare(3, 1, false);
  compare(3, 2, false);
  compare(3, 3, false);
}

/* ---- four transactions: too many schedules, so that each kind of cycle is shuffled instead ---- */

static uint32_t draw(uint64_t *seed, uint32_t below) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((*seed >> 33) % below);
}

/* Transaction i does the first step of POP i and the second one of POP i - 1, in either order, and commits. */
static void shuffle(brute *b, const char (*kinds)[3], const int *on, uint64_t *seed) {
  act own[TXNS][3], s[STEPS];
  int done[TXNS] = {0};
  for (int i = 0; i < b->txns; i++) {
    int before = (i + b->txns - 1) % b->txns;
    bool flip = draw(seed, 2) != 0;
    own[i][flip] = (act){kinds[i][0], i, on[i]};
    own[i][!flip] = (act){kinds[before][1], i, on[before]};
    own[i][2] = (act){'C', i, -1};
  }
  /* Evenly; or one goes on for a while, so that commits come early; or commits come last. */
  uint32_t manner = draw(seed, 3);
  for (int count = 0, txn = 0; count < 3 * b->txns;) {
    if (done[txn] == 3 || manner != 1 || draw(seed, 2) == 0) txn = (int)draw(seed, (uint32_t)b->txns);
    if (manner == 2 && done[txn] == 2 && count < 2 * b->txns) continue;
    if (done[txn] < 3) s[count++] = own[txn][done[txn]++];
  }
  judge(b, s, 3 * b->txns);
}

/* Shuffles until nothing new has come for long, or nothing at all. */
static void shuffle_long(brute *b, const char (*kinds)[3], const int *on, uint64_t *seed) {
  enum { HOPELESS = 500, LONG = 4000 };
  uint64_t hits = b->hits;
  for (int i = 0, fresh = 0; i - fresh < LONG && (i < HOPELESS || b->hits > hits); i++) {
    size_t known = b->set->count;
    shuffle(b, kinds, on, seed);
    if (b->set->count > known) fresh = i;
  }
}

static void four_transactions(void **state) {
  static const char kinds[3][3] = {"WR", "WW", "RW"};
  (void)state;
  for (int objects = 2; objects <= 4; objects++) {
    form_set found = new_set(), expected = generated(4, (size_t)objects);
    brute b = {&found, 4, objects, 0, 0};
    uint64_t seed = 7;
    for (int choice = 0; choice < 81 * 256; choice++) {
      int on[TXNS], most = -1, code = choice / 81, letters = choice % 81;
      char chosen[TXNS][3];
      bool in_order = true;
      for (int i = 0; i < 4; i++, code /= 4, letters /= 3) {
        on[i] = code % 4;
        memcpy(chosen[i], kinds[letters % 3], 3);
        if (on[i] > most + 1) in_order = false;
        if (on[i] > most) most = on[i];
      }
      if (in_order && most == objects - 1) shuffle_long(&b, (const char(*)[3])chosen, on, &seed);
    }
    print_message("4 transactions, %d objects: %zu cycles in %llu schedules\n", objects, found.count,
                  (unsigned long long)b.schedules);
    expect_same(&found, &expected);
    free(found.forms);
    free(expected.forms);
  }
}

/* ---- what is generated does what it says ---- */

/* The schedule of every case has its cycle, and no other but dirty writes that committed. */
static void schedules_make_their_cycles(void **state) {
  (void)state;
  isoproof_coo_generator *generator;
  isoproof_coo_case c = {.struct_size = sizeof c};
  size_t count = 0;
  assert_int_equal(isoproof_coo_generator_new(5, 5, &generator, NULL), ISOPROOF_OK);
  while (isoproof_coo_generator_next(generator, &c)) {
    isoproof_schedule *schedule;
    isoproof_pop_graph *graph;
    isoproof_pop_cycle cycle = {.struct_size = sizeof cycle};
    assert_int_equal(isoproof_schedule_parse(c.schedule, &schedule, NULL), ISOPROOF_OK);
    assert_string_equal(isoproof_schedule_text(schedule), c.schedule);
    assert_int_equal(isoproof_pop_graph_new(schedule, &graph, NULL), ISOPROOF_OK);
    assert_true(isoproof_pop_graph_cycle_at(graph, 0, &cycle));
    assert_int_equal(cycle.number, c.number);
    assert_string_equal(cycle.name, c.name);
    assert_int_equal(cycle.length, c.length);
    assert_int_equal(cycle.object_count, c.object_count);
    for (size_t i = 0; i < c.length; i++) assert_int_equal(cycle.pops[i].kind, c.pops[i]);
    for (size_t i = 1; isoproof_pop_graph_cycle_at(graph, i, &cycle); i++) assert_int_equal(cycle.number, 15);
    isoproof_pop_graph_free(graph);
    isoproof_schedule_free(schedule);
    count++;
  }
  isoproof_coo_generator_free(generator);
  assert_int_equal(count, 12 + 18 + 24 + 108 + 8 + 216 + 648 + 144 + 1728 + 3888);
}

static void named_cases_come_first(void **state) {
  (void)state;
  isoproof_coo_generator *generator;
  isoproof_coo_case c = {.struct_size = sizeof c};
  assert_int_equal(isoproof_coo_generator_new(3, 3, &generator, NULL), ISOPROOF_OK);
  for (unsigned number = 1; number <= ISOPROOF_COO_NAMED; number++) {
    assert_true(isoproof_coo_generator_next(generator, &c));
    assert_int_equal(c.number, number);
  }
  while (isoproof_coo_generator_next(generator, &c)) assert_int_equal(c.number, 0);
  isoproof_coo_generator_free(generator);
}

static void limits(void **state) {
  (void)state;
  isoproof_coo_generator *generator;
  isoproof_error error;
  assert_int_equal(isoproof_coo_generator_new(1, 1, &generator, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_coo_generator_new(9, 1, &generator, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_coo_generator_new(2, 0, &generator, &error), ISOPROOF_ERR_USAGE);
  assert_int_equal(isoproof_coo_generator_new(2, 9, &generator, &error), ISOPROOF_ERR_USAGE);
  assert_null(generator);
  isoproof_coo_generator_free(NULL);
  assert_int_equal(isoproof_coo_cycle_count(1, 1), 0);
  assert_int_equal(isoproof_coo_cycle_count(3, 1), 0);
  assert_int_equal(isoproof_coo_cycle_count(5, 2), 0);
  assert_int_equal(isoproof_coo_cycle_count(9, 9), 0);
  assert_int_equal(isoproof_coo_cycle_count(8, 8), 839808);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_transactions),       cmocka_unit_test(three_transactions),
      cmocka_unit_test(four_transactions),      cmocka_unit_test(schedules_make_their_cycles),
      cmocka_unit_test(named_cases_come_first), cmocka_unit_test(limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
