/* Histories of single operations: what each model of elle-cli's accepts and refuses, and registers against all orders.
 */
#include <isoproof/object.h>

#include "tests/unit/object/orders.h"

#ifndef ORDER_RUNS
#define ORDER_RUNS 20000
#endif

/* One line: what a process did, and with which value. */
#define LINE(type, process, f, value) "{:type :" type ", :process " #process ", :f :" f ", :value " value "}\n"
#define DID(process, f, value) LINE("invoke", process, f, value) LINE("ok", process, f, value)
/* The same with the number of the process to be printed. */
#define INDEXED(type, f, value) "{:type :" type ", :process %u, :f :" f ", :value " value "}\n"
#define READ(process, value) LINE("invoke", process, "read", "nil") LINE("ok", process, "read", value)

static isoproof_object_verdict judge(const char *text, isoproof_object_options options) {
  isoproof_object_verdict verdict = {.struct_size = sizeof verdict};
  isoproof_error error;
  options.struct_size = sizeof options;
  assert_ok_error(isoproof_object_check_memory(text, strlen(text), "test", &options, NULL, &verdict, &error), error);
  if (verdict.verdict != ISOPROOF_SATISFIED) assert_true(verdict.explanation[0] != '\0');
  assert_int_equal(verdict.verdict == ISOPROOF_VIOLATED, verdict.problems > 0);
  return verdict;
}

static void expect_with(const char *text, isoproof_object_options options, isoproof_verdict verdict) {
  isoproof_object_verdict found = judge(text, options);
  if (found.verdict != verdict)
    fail_msg("%s: found %s\n%s", text, isoproof_verdict_name(found.verdict), found.explanation);
}

static void expect(const char *text, isoproof_object_model model, isoproof_verdict verdict) {
  expect_with(text, (isoproof_object_options){.model = model}, verdict);
}

static void expect_error(const char *text, isoproof_object_model model, isoproof_status status) {
  isoproof_object_options options = {.struct_size = sizeof options, .model = model};
  isoproof_object_verdict verdict = {.struct_size = sizeof verdict};
  isoproof_error error;
  assert_int_equal(isoproof_object_check_memory(text, strlen(text), "test", &options, NULL, &verdict, &error), status);
  assert_int_equal(error.line > 0, status == ISOPROOF_ERR_FORMAT || status == ISOPROOF_ERR_UNSUPPORTED);
}

static void test_bank(void **state) {
  (void)state;
  const char *good = READ(0, "{0 10, 1 0}") DID(1, "transfer", "{:from 0, :to 1, :amount 4}") READ(0, "{0 6, 1 4}");
  expect(good, ISOPROOF_OBJECT_BANK, ISOPROOF_SATISFIED);
  expect_with(good, (isoproof_object_options){.model = ISOPROOF_OBJECT_BANK, .has_total = true, .total = 10},
              ISOPROOF_SATISFIED);
  expect_with(good, (isoproof_object_options){.model = ISOPROOF_OBJECT_BANK, .has_total = true, .total = 11},
              ISOPROOF_VIOLATED);
  expect(READ(0, "{0 10, 1 0}") READ(0, "{0 6, 1 0}"), ISOPROOF_OBJECT_BANK, ISOPROOF_VIOLATED);
  expect(READ(0, "{0 10, 1 0}") READ(0, "{0 10, 1 nil}"), ISOPROOF_OBJECT_BANK, ISOPROOF_VIOLATED);
  expect(READ(0, "{0 10, 1 0}") READ(0, "{0 10, 2 0}"), ISOPROOF_OBJECT_BANK, ISOPROOF_VIOLATED);
  const char *negative = READ(0, "{0 10, 1 0}") READ(0, "{0 11, 1 -1}");
  expect(negative, ISOPROOF_OBJECT_BANK, ISOPROOF_VIOLATED);
  expect_with(negative, (isoproof_object_options){.model = ISOPROOF_OBJECT_BANK, .negative_balances = true},
              ISOPROOF_SATISFIED);
  /* In JSON the accounts are texts; a read that failed says nothing. */
  expect("[{\"type\":\"ok\",\"process\":0,\"f\":\"read\",\"value\":{\"0\":1,\"1\":2}},"
         "{\"type\":\"fail\",\"process\":0,\"f\":\"read\",\"value\":{\"0\":9}},"
         "{\"type\":\"ok\",\"process\":0,\"f\":\"read\",\"value\":{\"1\":3,\"0\":0}}]",
         ISOPROOF_OBJECT_BANK, ISOPROOF_SATISFIED);
  expect_error(READ(0, "{0 :a}"), ISOPROOF_OBJECT_BANK, ISOPROOF_ERR_FORMAT);
  expect_error(READ(0, "7"), ISOPROOF_OBJECT_BANK, ISOPROOF_ERR_FORMAT);
  expect_error(READ(0, "{0 9000000000000000000, 1 9000000000000000000}"), ISOPROOF_OBJECT_BANK, ISOPROOF_ERR_FORMAT);
}

static void test_set(void **state) {
  (void)state;
  expect(DID(0, "add", "1") DID(0, "add", "2") READ(0, "#{1 2}"), ISOPROOF_OBJECT_SET, ISOPROOF_SATISFIED);
  expect(DID(0, "add", "1") DID(0, "add", "2") READ(0, "[2]"), ISOPROOF_OBJECT_SET, ISOPROOF_VIOLATED);
  /* Only the last read counts. */
  expect(DID(0, "add", "1") READ(1, "[]") READ(1, "[1]"), ISOPROOF_OBJECT_SET, ISOPROOF_SATISFIED);
  expect(DID(0, "add", "1") READ(0, "[1 7]"), ISOPROOF_OBJECT_SET, ISOPROOF_VIOLATED);
  expect(LINE("invoke", 0, "add", "1") LINE("fail", 0, "add", "1") READ(0, "[1]"), ISOPROOF_OBJECT_SET,
         ISOPROOF_VIOLATED);
  /* What nobody knows the outcome of may be there or not; what ends later, too. */
  expect(LINE("invoke", 0, "add", "1") LINE("info", 0, "add", "1") READ(1, "[]"), ISOPROOF_OBJECT_SET,
         ISOPROOF_SATISFIED);
  expect(LINE("invoke", 0, "add", "1") LINE("info", 0, "add", "1") READ(1, "[1]"), ISOPROOF_OBJECT_SET,
         ISOPROOF_SATISFIED);
  expect(LINE("invoke", 0, "add", "1") READ(1, "[]") LINE("ok", 0, "add", "1"), ISOPROOF_OBJECT_SET,
         ISOPROOF_SATISFIED);
  expect(DID(0, "add", "1"), ISOPROOF_OBJECT_SET, ISOPROOF_UNDECIDED);
  /* With keys. */
  expect(DID(0, "add", "[0 1]") DID(0, "add", "[1 1]") READ(0, "[0 #{1}]") READ(0, "[1 #{1}]"), ISOPROOF_OBJECT_SET,
         ISOPROOF_SATISFIED);
  expect(DID(0, "add", "[0 1]") DID(0, "add", "[1 2]") READ(0, "[0 #{1}]") READ(0, "[1 #{1}]"), ISOPROOF_OBJECT_SET,
         ISOPROOF_VIOLATED);
  expect_error("{:type :ok, :process 0, :f :txn, :value [[:add 0 1]]}", ISOPROOF_OBJECT_SET, ISOPROOF_ERR_UNSUPPORTED);
  expect_error(LINE("ok", 0, "add", "1"), ISOPROOF_OBJECT_SET, ISOPROOF_ERR_FORMAT);
}

static void test_set_full(void **state) {
  (void)state;
  isoproof_object_options strict = {.model = ISOPROOF_OBJECT_SET_FULL, .linearizable = true};
  expect(DID(0, "add", "1") READ(0, "#{1}"), ISOPROOF_OBJECT_SET_FULL, ISOPROOF_SATISFIED);
  /* Lost: seen, and then not again. */
  expect(DID(0, "add", "1") DID(0, "add", "2") READ(0, "#{1 2}") READ(0, "#{2}"), ISOPROOF_OBJECT_SET_FULL,
         ISOPROOF_VIOLATED);
  expect(DID(0, "add", "1") DID(0, "add", "2") READ(0, "#{2}"), ISOPROOF_OBJECT_SET_FULL, ISOPROOF_VIOLATED);
  /* Stale: missed once, and there to stay. */
  const char *stale = DID(0, "add", "1") READ(0, "#{}") READ(0, "#{1}");
  expect(stale, ISOPROOF_OBJECT_SET_FULL, ISOPROOF_SATISFIED);
  expect_with(stale, strict, ISOPROOF_VIOLATED);
  /* A read makes an element known whose addition has not ended. */
  const char *flicker = LINE("invoke", 0, "add", "1") READ(1, "[1]") READ(1, "[]") READ(1, "[1]");
  expect(flicker, ISOPROOF_OBJECT_SET_FULL, ISOPROOF_SATISFIED);
  expect_with(flicker, strict, ISOPROOF_VIOLATED);
  expect(DID(0, "add", "1") READ(0, "[1 1]"), ISOPROOF_OBJECT_SET_FULL, ISOPROOF_VIOLATED);
  expect(DID(0, "add", "1") READ(0, "[1 5]"), ISOPROOF_OBJECT_SET_FULL, ISOPROOF_VIOLATED);
  expect(DID(0, "add", "1"), ISOPROOF_OBJECT_SET_FULL, ISOPROOF_UNDECIDED);
  expect(LINE("invoke", 0, "add", "1") READ(1, "[]"), ISOPROOF_OBJECT_SET_FULL, ISOPROOF_UNDECIDED);
}

static void test_counter(void **state) {
  (void)state;
  expect(DID(0, "add", "1") DID(0, "add", "2") READ(1, "3"), ISOPROOF_OBJECT_COUNTER, ISOPROOF_SATISFIED);
  expect(DID(0, "add", "1") DID(0, "add", "2") READ(1, "2"), ISOPROOF_OBJECT_COUNTER, ISOPROOF_VIOLATED);
  expect(DID(0, "add", "1") READ(1, "2"), ISOPROOF_OBJECT_COUNTER, ISOPROOF_VIOLATED);
  const char *open = LINE("invoke", 0, "add", "5") READ(1, "0") READ(1, "5") LINE("info", 0, "add", "5");
  expect(open, ISOPROOF_OBJECT_COUNTER, ISOPROOF_SATISFIED);
  expect(LINE("invoke", 0, "add", "5") LINE("fail", 0, "add", "5") READ(1, "5"), ISOPROOF_OBJECT_COUNTER,
         ISOPROOF_VIOLATED);
  /* Taking away. */
  expect(DID(0, "add", "5") DID(0, "add", "-2") READ(1, "3"), ISOPROOF_OBJECT_COUNTER, ISOPROOF_SATISFIED);
  expect(DID(0, "add", "5") DID(0, "add", "-2") READ(1, "5"), ISOPROOF_OBJECT_COUNTER, ISOPROOF_VIOLATED);
  expect(DID(0, "add", "5") LINE("invoke", 0, "add", "-2") READ(1, "3") READ(1, "5"), ISOPROOF_OBJECT_COUNTER,
         ISOPROOF_SATISFIED);
}

static void test_long_fork(void **state) {
  (void)state;
  const char *writes = DID(0, "write", "[[:w 0 1]]") DID(1, "write", "[[:w 1 1]]");
  char text[2048];
  snprintf(text, sizeof text, "%s%s", writes,
           DID(2, "read", "[[:r 0 1] [:r 1 nil]]") DID(3, "read", "[[:r 1 1] [:r 0 1]]"));
  expect(text, ISOPROOF_OBJECT_LONG_FORK, ISOPROOF_SATISFIED);
  snprintf(text, sizeof text, "%s%s", writes,
           DID(2, "read", "[[:r 0 1] [:r 1 nil]]") DID(3, "read", "[[:r 1 1] [:r 0 nil]]"));
  expect(text, ISOPROOF_OBJECT_LONG_FORK, ISOPROOF_VIOLATED);
  expect_with(text, (isoproof_object_options){.model = ISOPROOF_OBJECT_LONG_FORK, .group_size = 2}, ISOPROOF_VIOLATED);
  snprintf(text, sizeof text, "%s%s", writes, DID(2, "read", "[[:r 0 2] [:r 1 nil]]"));
  expect(text, ISOPROOF_OBJECT_LONG_FORK, ISOPROOF_VIOLATED);
  snprintf(text, sizeof text, "%s%s", writes, DID(2, "write", "[[:w 0 2]]"));
  expect(text, ISOPROOF_OBJECT_LONG_FORK, ISOPROOF_UNDECIDED);
}

static void test_sequential(void **state) {
  (void)state;
  const char *good = DID(0, "add", "[0 \"0_0\"]") DID(0, "add", "[0 \"0_1\"]") READ(1, "[0 [\"0_1\" \"0_0\"]]")
      READ(1, "[0 [nil \"0_0\"]]") READ(1, "[0 [nil nil]]");
  expect(good, ISOPROOF_OBJECT_SEQUENTIAL, ISOPROOF_SATISFIED);
  expect(DID(0, "add", "[0 \"0_0\"]") READ(1, "[0 [\"0_1\" nil]]"), ISOPROOF_OBJECT_SEQUENTIAL, ISOPROOF_VIOLATED);
  expect(READ(1, "[0 [nil \"0_2\" nil \"0_0\"]]"), ISOPROOF_OBJECT_SEQUENTIAL, ISOPROOF_VIOLATED);
}

static void test_comments(void **state) {
  (void)state;
  expect(DID(0, "write", "1") DID(1, "write", "2") READ(2, "[1 2]"), ISOPROOF_OBJECT_COMMENTS, ISOPROOF_SATISFIED);
  expect(DID(0, "write", "1") DID(1, "write", "2") READ(2, "[2]"), ISOPROOF_OBJECT_COMMENTS, ISOPROOF_VIOLATED);
  expect(DID(0, "write", "1") DID(1, "write", "2") READ(2, "[1]"), ISOPROOF_OBJECT_COMMENTS, ISOPROOF_SATISFIED);
  expect(LINE("invoke", 0, "write", "1") DID(1, "write", "2") LINE("ok", 0, "write", "1") READ(2, "[2]"),
         ISOPROOF_OBJECT_COMMENTS, ISOPROOF_SATISFIED);
}

static void test_mutex(void **state) {
  (void)state;
  expect(DID(0, "acquire", "nil") DID(0, "release", "nil") DID(1, "acquire", "nil"), ISOPROOF_OBJECT_MUTEX,
         ISOPROOF_SATISFIED);
  expect(DID(0, "acquire", "nil") DID(1, "acquire", "nil"), ISOPROOF_OBJECT_MUTEX, ISOPROOF_VIOLATED);
  expect(DID(0, "release", "nil"), ISOPROOF_OBJECT_MUTEX, ISOPROOF_VIOLATED);
  /* A release that nobody knows the outcome of. */
  expect(DID(0, "acquire", "nil") LINE("invoke", 0, "release", "nil") LINE("info", 0, "release", "nil")
             DID(1, "acquire", "nil"),
         ISOPROOF_OBJECT_MUTEX, ISOPROOF_SATISFIED);
}

static void test_register(void **state) {
  (void)state;
  expect(DID(1, "cas", "[nil 1]") DID(2, "cas", "[1 2]") READ(0, "2"), ISOPROOF_OBJECT_CAS_REGISTER,
         ISOPROOF_SATISFIED);
  expect(DID(1, "cas", "[nil 1]") DID(2, "cas", "[nil 2]"), ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_VIOLATED);
  expect(DID(1, "write", "1") DID(2, "write", "2") READ(0, "1"), ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_VIOLATED);
  expect(DID(1, "write", "1") READ(0, "nil"), ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_SATISFIED);
  /* Failed, and unknown: the first never was, the second may be at any time later, but once only. */
  const char *unknown = LINE("invoke", 1, "write", "7") LINE("info", 1, "write", "7");
  char text[1024];
  snprintf(text, sizeof text, "%s%s", unknown, DID(2, "write", "2") READ(0, "2") READ(0, "7"));
  expect(text, ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_SATISFIED);
  snprintf(text, sizeof text, "%s%s", unknown, READ(0, "7") DID(2, "write", "2") READ(0, "7"));
  expect(text, ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_VIOLATED);
  expect(LINE("invoke", 1, "write", "7") LINE("fail", 1, "write", "7") READ(0, "7"), ISOPROOF_OBJECT_CAS_REGISTER,
         ISOPROOF_VIOLATED);
  /* Keys are registers of their own. */
  expect(DID(1, "write", "[0 1]") DID(2, "write", "[1 2]") DID(0, "cas", "[0 [1 3]]") READ(0, "[0 3]") READ(0, "[1 2]"),
         ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_SATISFIED);
  expect(DID(1, "write", "[0 1]") READ(0, "[1 1]"), ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_VIOLATED);
  expect_error(DID(1, "cas", "3"), ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_ERR_FORMAT);
  expect_error(DID(1, "add", "3"), ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_ERR_FORMAT);
}

/* ---- registers against all orders ---- */

enum { CALLS = 6 };

typedef struct spec {
  int kind; /* 0 read, 1 write, 2 compare-and-set */
  int from, to, invoked, completed;
  int outcome; /* 0 ok, 1 fail, 2 info */
} spec;

/* Whether the calls from `placed` on can follow, in some order; -1 is nil. */
static bool can_follow(const spec *calls, unsigned count, unsigned done, int state) {
  bool rest = false;
  for (unsigned i = 0; i < count; i++) rest |= (done >> i & 1) == 0 && calls[i].outcome == 0;
  if (!rest) return true;
  for (unsigned i = 0; i < count; i++) {
    const spec *c = &calls[i];
    bool early = true;
    if ((done >> i & 1) != 0 || c->outcome == 1) continue;
    for (unsigned k = 0; k < count; k++) {
      bool before = (done >> k & 1) == 0 && calls[k].outcome == 0 && calls[k].completed < c->invoked;
      early &= !before;
    }
    bool possible = c->kind == 1 || c->from == state || (c->kind == 0 && c->outcome == 2);
    if (!early || !possible) continue;
    if (can_follow(calls, count, done | 1u << i, c->kind == 0 ? state : c->to)) return true;
  }
  return false;
}

static void write_calls(const spec *calls, unsigned count, char *text, size_t size) {
  static const char *const fs[] = {"read", "write", "cas"}, *const types[] = {"ok", "fail", "info"};
  size_t used = 0;
  for (int at = 0; at < (int)count * 2; at++) {
    for (unsigned i = 0; i < count; i++) {
      const spec *c = &calls[i];
      if (c->invoked != at && c->completed != at) continue;
      char value[32];
      if (c->kind == 2) snprintf(value, sizeof value, "[%d %d]", c->from, c->to);
      if (c->kind == 1) snprintf(value, sizeof value, "%d", c->to);
      if (c->kind == 0) snprintf(value, sizeof value, "%d", c->from);
      used += (size_t)snprintf(text + used, size - used, "{:type :%s, :process %u, :f :%s, :value %s}\n",
                               c->invoked == at ? "invoke" : types[c->outcome], i, fs[c->kind], value);
    }
  }
}

static void test_all_orders(void **state) {
  (void)state;
  uint64_t random = 11;
  unsigned good = 0, bad = 0;
  for (unsigned run = 0; run < 10000; run++) {
    spec calls[CALLS];
    int places[2 * CALLS];
    for (int i = 0; i < 2 * CALLS; i++) places[i] = i;
    /* Beginnings and ends anywhere, more or less far apart. */
    for (int i = 2 * CALLS; i-- > 1;) {
      int k = run % 2 == 0 ? (int)unit_below(&random, (uint64_t)i + 1) : i - (int)unit_below(&random, i < 4 ? 1 : 4);
      int kept = places[i];
      places[i] = places[k];
      places[k] = kept;
    }
    for (int i = 0; i < CALLS; i++) {
      int a = places[2 * i], b = places[2 * i + 1];
      uint64_t outcome = unit_below(&random, 10);
      calls[i] = (spec){(int)unit_below(&random, 3),
                        (int)unit_below(&random, 3),
                        (int)unit_below(&random, 3),
                        a < b ? a : b,
                        a < b ? b : a,
                        outcome < 7   ? 0
                        : outcome < 8 ? 1
                                      : 2};
    }
    char text[2048];
    write_calls(calls, CALLS, text, sizeof text);
    bool possible = can_follow(calls, CALLS, 0, -1);
    good += possible;
    bad += !possible;
    expect(text, ISOPROOF_OBJECT_CAS_REGISTER, possible ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED);
  }
  print_message("%u registers are linearizable, %u are not\n", good, bad);
  assert_true(good > 500 && bad > 500);
}

/* The logs of single operations, with unknown outcomes, failed compare-and-sets and values that repeat. */
static void test_all_orders_of_logs(void **state) {
  (void)state;
  uint64_t random = 5;
  unsigned seen[2][2] = {{0}};
  for (unsigned run = 0; run < UNLESS_SLOW(ORDER_RUNS, ORDER_RUNS / 10); run++) {
    order_call calls[ORDER_CALLS];
    char text[8192];
    bool store = run % 2 == 0;
    unsigned count = order_draw(&random, store, calls);
    bool possible = order_exists(calls, count, 0, "");
    order_write(calls, count, store, text, sizeof text);
    seen[store][possible]++;
    expect(text, store ? ISOPROOF_OBJECT_KV : ISOPROOF_OBJECT_CAS_REGISTER,
           possible ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED);
  }
  for (unsigned i = 0; i < 2; i++) {
    print_message("%s: %u linearizable, %u not\n", i ? "stores" : "registers", seen[i][1], seen[i][0]);
    assert_true(seen[i][0] > 200 && seen[i][1] > 200);
  }
}

/* Fifty clients that append to one key, and read it, at once: one order of the appends is possible, and found. */
static void test_many_appends(void **state) {
  (void)state;
  enum { CLIENTS = 50, ROUNDS = 20, SIZE = 1 << 22 };
  char *text = malloc(SIZE), *value = calloc(1, 1 << 16);
  assert_true(text != NULL && value != NULL);
  size_t used = 0;
  for (unsigned round = 0; round < ROUNDS; round++) {
    for (unsigned c = 0; c < CLIENTS; c++) {
      used +=
          (size_t)snprintf(text + used, SIZE - used,
                           "{:process %u, :type :invoke, :f :append, :key \"k\", :value \"%u.%u \"}\n", c, c, round);
    }
    for (unsigned c = 0; c < CLIENTS; c++) {
      unsigned who = (c * 7 + round) % CLIENTS; /* they take effect in another order than they began */
      snprintf(value + strlen(value), 32, "%u.%u ", who, round);
    }
    for (unsigned c = 0; c < CLIENTS; c++) {
      used += (size_t)snprintf(text + used, SIZE - used,
                               "{:process %u, :type :ok, :f :append, :key \"k\", :value \"\"}\n", c);
    }
    used += (size_t)snprintf(text + used, SIZE - used,
                             "{:process 0, :type :invoke, :f :get, :key \"k\", :value nil}\n"
                             "{:process 0, :type :ok, :f :get, :key \"k\", :value \"%s\"}\n",
                             value);
  }
  expect(text, ISOPROOF_OBJECT_KV, ISOPROOF_SATISFIED);
  char *last = strrchr(text, '.'); /* the last element that was read becomes another */
  last[-1] = last[-1] == '1' ? '2' : '1';
  expect(text, ISOPROOF_OBJECT_KV, ISOPROOF_VIOLATED);
  free(text);
  free(value);
}

/* A hundred clients on one register whose values differ: as many open calls as there are, and no search. */
static void test_unique_values(void **state) {
  (void)state;
  enum { CLIENTS = 200, SIZE = 1 << 16 };
  char *text = malloc(SIZE);
  assert_non_null(text);
  size_t used = 0;
  for (unsigned i = 0; i < CLIENTS; i++) {
    used += (size_t)snprintf(text + used, SIZE - used, INDEXED("invoke", "write", "%u"), i, i);
  }
  for (unsigned i = 0; i < CLIENTS; i++) {
    used += (size_t)snprintf(text + used, SIZE - used, INDEXED("ok", "write", "%u"), i, i);
  }
  size_t good = used;
  for (unsigned i = 7; i > 5; i--) {
    used += (size_t)snprintf(text + used, SIZE - used, INDEXED("invoke", "read", "nil"), 0u);
    used += (size_t)snprintf(text + used, SIZE - used, INDEXED("ok", "read", "%u"), 0u, i);
    if (i == 7) good = used;
  }
  expect(text, ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_VIOLATED);
  text[good] = '\0';
  expect(text, ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_SATISFIED);
  free(text);
}

/* A search that reaches its limit says so. */
static void test_limit(void **state) {
  (void)state;
  char text[8192];
  size_t used = 0;
  for (unsigned i = 0; i < 24; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, INDEXED("invoke", "write", "%u"), i, i / 2);
  }
  for (unsigned i = 0; i < 24; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, INDEXED("ok", "write", "%u"), i, i / 2);
  }
  isoproof_object_options options = {.model = ISOPROOF_OBJECT_CAS_REGISTER, .budget = 1000};
  isoproof_object_verdict verdict = judge(text, options);
  assert_int_equal(verdict.verdict, ISOPROOF_UNDECIDED);
  assert_non_null(strstr(verdict.explanation, "limit"));
}

/* Ten thousand calls of unknown outcome, some of which were seen. */
static void test_crashes(void **state) {
  (void)state;
  size_t size = 4 << 20, used = 0;
  char *text = malloc(size);
  assert_non_null(text);
  for (unsigned i = 0; i < 10000; i++) {
    used += (size_t)snprintf(text + used, size - used, INDEXED("invoke", "write", "%u"), i, i);
    if (i % 100 == 0) {
      used +=
          (size_t)snprintf(text + used, size - used, LINE("invoke", -1, "read", "nil") LINE("ok", -1, "read", "%u"), i);
    }
  }
  expect(text, ISOPROOF_OBJECT_CAS_REGISTER, ISOPROOF_SATISFIED);
  free(text);
}

static void test_input(void **state) {
  (void)state;
  /* A nemesis is no client; processes may overlap themselves, after a crash. */
  expect("{:type :info, :process :nemesis, :f :start, :value {:a [1]}}\n" LINE("invoke", 0, "add", "1")
             LINE("invoke", 0, "add", "2") LINE("ok", 0, "add", "2") READ(0, "[2]"),
         ISOPROOF_OBJECT_SET, ISOPROOF_SATISFIED);
  expect("[" DID(0, "add", "1") READ(0, "(1)") "]", ISOPROOF_OBJECT_SET, ISOPROOF_SATISFIED);
  expect_error(DID(0, "add", "[[1 2] 3]"), ISOPROOF_OBJECT_SET, ISOPROOF_ERR_FORMAT);
  expect_error("{:process 0, :f :add, :value 1}", ISOPROOF_OBJECT_SET, ISOPROOF_ERR_FORMAT);
  expect_error(LINE("invoke", 0, "add", "1") LINE("ok", 0, "read", "[1]"), ISOPROOF_OBJECT_SET, ISOPROOF_ERR_FORMAT);
  expect_error("{:type :ok", ISOPROOF_OBJECT_SET, ISOPROOF_ERR_FORMAT);
  isoproof_object_model model;
  assert_true(isoproof_object_model_find("set-full", &model));
  assert_int_equal(model, ISOPROOF_OBJECT_SET_FULL);
  assert_false(isoproof_object_model_find("queue", &model));
}

/* Whatever is cut off or changed, there is an answer or an error. */
static void test_hostile(void **state) {
  (void)state;
  static const char text[] = DID(0, "add", "[0 1]") READ(1, "[0 #{1 2}]") DID(0, "cas", "[0 [nil 1]]")
      DID(2, "write", "[[:w 0 1]]") READ(3, "{0 1, 1 nil}") DID(4, "acquire", "nil");
  uint64_t random = 3;
  for (unsigned run = 0; run < 4000; run++) {
    char changed[sizeof text];
    size_t length = unit_below(&random, sizeof text);
    memcpy(changed, text, sizeof text);
    for (unsigned i = 0; i < run % 4; i++)
      changed[unit_below(&random, sizeof text - 1)] = "{}[]:0 \"#"[unit_below(&random, 9)];
    isoproof_object_options options = {.struct_size = sizeof options,
                                       .model = (isoproof_object_model)(run % ISOPROOF_OBJECTS)};
    isoproof_object_verdict verdict = {.struct_size = sizeof verdict};
    isoproof_error error;
    (void)isoproof_object_check_memory(changed, length, "test", &options, NULL, &verdict, &error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bank),
      cmocka_unit_test(test_set),
      cmocka_unit_test(test_set_full),
      cmocka_unit_test(test_counter),
      cmocka_unit_test(test_long_fork),
      cmocka_unit_test(test_sequential),
      cmocka_unit_test(test_comments),
      cmocka_unit_test(test_mutex),
      cmocka_unit_test(test_register),
      cmocka_unit_test(test_all_orders),
      cmocka_unit_test(test_all_orders_of_logs),
      cmocka_unit_test(test_many_appends),
      cmocka_unit_test(test_unique_values),
      cmocka_unit_test(test_limit),
      cmocka_unit_test(test_crashes),
      cmocka_unit_test(test_input),
      cmocka_unit_test(test_hostile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
