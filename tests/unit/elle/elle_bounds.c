/* Random histories of lists and registers against the oracle: Elle's way never rules out less than its inference shows,
 * never more than every order of versions shows, proves nothing that is violated, and tells of every lost update. */
#include "tests/oracle/elle_oracle.h"
#include "tests/unit/unit.h"

enum { TXNS = 6, OPS = 3, KEYS = 2, VALUES = 16, LENGTH = 6 };

/* How reads of lists come about. */
typedef enum reading { TRUE_READS, FEW_LIES, ANYTHING, READINGS } reading;

typedef struct planned_op {
  unsigned key;
  bool reads;
  int64_t value;
} planned_op;

typedef struct plan {
  bool lists;
  reading how;
  unsigned txns, keys;
  unsigned ops[TXNS];
  planned_op op[TXNS][OPS];
  int64_t values[KEYS][VALUES]; /* what is written to each key, in the order that true reads show */
  unsigned count[KEYS];
  uint64_t order[TXNS];
} plan;

static unsigned runs(void) {
  const char *wanted = getenv("ISOPROOF_RANDOM_HISTORIES");
  unsigned long count = wanted != NULL ? strtoul(wanted, NULL, 10) / 20 : 10000;
  const char *exactly = getenv("ISOPROOF_ELLE_HISTORIES");
  if (exactly != NULL) count = strtoul(exactly, NULL, 10);
  return count < 100 ? 100 : (unsigned)count;
}

static void shuffle(int64_t *values, unsigned count, uint64_t *random) {
  for (unsigned i = count; i > 1; i--) {
    unsigned k = (unsigned)unit_below(random, i);
    int64_t swap = values[i - 1];
    values[i - 1] = values[k];
    values[k] = swap;
  }
}

static void make_plan(plan *p, bool lists, uint64_t *random) {
  memset(p, 0, sizeof *p);
  p->lists = lists;
  p->how = (reading)unit_below(random, READINGS);
  p->txns = 2 + (unsigned)unit_below(random, TXNS - 1);
  p->keys = 1 + (unsigned)unit_below(random, KEYS);
  for (unsigned t = 0; t < p->txns; t++) {
    p->order[t] = t;
    p->ops[t] = 1 + (unsigned)unit_below(random, OPS);
    for (unsigned i = 0; i < p->ops[t]; i++) {
      planned_op *op = &p->op[t][i];
      op->key = (unsigned)unit_below(random, p->keys);
      op->reads = unit_below(random, 2) == 0;
      if (op->reads) continue;
      op->value = (int64_t)p->count[op->key] + 1;
      p->values[op->key][p->count[op->key]++] = op->value;
    }
  }
  for (unsigned k = 0; k < p->keys; k++)
    if (unit_below(random, 2) == 0) shuffle(p->values[k], p->count[k], random);
  shuffle((int64_t *)p->order, p->txns, random);
}

/* A list to read: the beginning of the true one, perhaps with a lie, or anything. */
static unsigned random_list(const plan *p, unsigned key, uint64_t *random, int64_t out[LENGTH]) {
  int64_t values[VALUES];
  unsigned most = p->count[key] < LENGTH ? p->count[key] : LENGTH;
  memcpy(values, p->values[key], sizeof values);
  if (p->how == ANYTHING && unit_below(random, 2) == 0) shuffle(values, p->count[key], random);
  unsigned length = (unsigned)unit_below(random, most + 1);
  if (unit_below(random, 2) == 0) length = most;
  memcpy(out, values, length * sizeof *out);
  if (p->how == TRUE_READS || length == 0 || unit_below(random, 4) != 0) return length;
  unsigned at = (unsigned)unit_below(random, length);
  switch (unit_below(random, 8)) {
  case 0: /* nobody's */
    out[at] = 99;
    break;
  case 1: /* twice */
    out[at] = out[0];
    break;
  case 2: /* one left out */
    memmove(out + at, out + at + 1, (length - at - 1) * sizeof *out);
    return length - 1;
  default: /* in another order */
    shuffle(out, length, random);
    break;
  }
  return length;
}

static void add_read(const plan *p, const planned_op *op, isoproof_builder *builder, uint64_t *random) {
  isoproof_error error;
  isoproof_scalar key = isoproof_integer(op->key), elements[LENGTH];
  int64_t list[LENGTH];
  if (p->lists) {
    unsigned length = random_list(p, op->key, random, list);
    for (unsigned i = 0; i < length; i++) elements[i] = isoproof_integer(list[i]);
    assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, key, elements, length, &error));
    return;
  }
  uint64_t seen = unit_below(random, p->count[op->key] + 1);
  isoproof_scalar value = seen == 0 ? isoproof_nil() : isoproof_integer((int64_t)seen);
  if (p->how == ANYTHING && unit_below(random, 12) == 0) value = isoproof_integer(99);
  assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_READ, key, value, &error));
}

static isoproof_txn_status random_status(uint64_t *random) {
  uint64_t n = unit_below(random, 10);
  return n == 0 ? ISOPROOF_TXN_ABORTED : n == 1 ? ISOPROOF_TXN_UNKNOWN : ISOPROOF_TXN_COMMITTED;
}

static isoproof_history *build(const plan *p, uint64_t *random) {
  isoproof_builder *builder;
  isoproof_history *history;
  isoproof_error error;
  int64_t time = 0;
  assert_ok(isoproof_builder_new(&builder, &error));
  for (unsigned t = 0; t < p->txns; t++) {
    uint32_t session;
    assert_ok(isoproof_builder_session(builder, isoproof_integer((int64_t)unit_below(random, 3)), &session, &error));
    assert_ok(isoproof_builder_begin(builder, session, random_status(random), &error));
    int64_t start = time + 1 - (int64_t)unit_below(random, 4);
    assert_ok(isoproof_builder_times(builder, start, start + 2, &error));
    time = start + 2;
    for (unsigned i = 0; i < p->ops[t]; i++) {
      const planned_op *op = &p->op[t][i];
      isoproof_op_kind kind = p->lists ? ISOPROOF_OP_APPEND : ISOPROOF_OP_WRITE;
      if (op->reads) {
        add_read(p, op, builder, random);
      } else {
        assert_ok(isoproof_builder_op(builder, kind, isoproof_integer(op->key), isoproof_integer(op->value), &error));
      }
    }
  }
  isoproof_status status = isoproof_builder_finish(builder, &history, &error);
  isoproof_builder_free(builder);
  return status == ISOPROOF_OK ? history : NULL;
}

/* ---- what is found ---- */

typedef struct outcome {
  uint64_t ruled_out, proved;
  bool lost_update;
} outcome;

static uint64_t bit_of(const char *name) {
  const isoproof_level_info *info = isoproof_level_find_in(name, ISOPROOF_LEVEL_MODEL);
  assert_non_null(info);
  return UINT64_C(1) << info->number;
}

/* A lost update is told with both reads and both writes, and who missed whom. */
static void verify_lost_update(const isoproof_anomaly *a) {
  assert_int_equal(a->txn_count, 2);
  assert_int_equal(a->op_count, 4);
  assert_int_equal(a->edge_count, 2);
  assert_int_equal(a->edges[0].to_txn, a->edges[1].from_txn);
  assert_int_equal(a->edges[1].to_txn, a->edges[0].from_txn);
}

static void look(isoproof_history *history, const elle_question *q, outcome *out) {
  const char *model = q->realtime ? "strict-serializable" : "strong-session-serializable", *name;
  isoproof_check_options options = {.struct_size = sizeof options,
                                    .elle_workload = q->lists ? "list-append" : "rw-register",
                                    .models = &model,
                                    .model_count = 1,
                                    .wfr_keys = q->wfr,
                                    .sequential_keys = q->sequential,
                                    .linearizable_keys = q->linear};
  isoproof_result *result;
  isoproof_error error;
  isoproof_anomaly a = {.struct_size = sizeof a};
  if (q->order != NULL) options.transaction_order = q->order;
  isoproof_counts counts = {.struct_size = sizeof counts};
  isoproof_history_counts(history, &counts);
  if (q->order != NULL) options.transaction_order_count = (size_t)counts.transactions;
  memset(out, 0, sizeof *out);
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  for (size_t i = 0; (name = isoproof_result_ruled_out_at(result, i)) != NULL; i++) out->ruled_out |= bit_of(name);
  for (size_t i = 0; (name = isoproof_result_also_ruled_out_at(result, i)) != NULL; i++) out->ruled_out |= bit_of(name);
  for (size_t i = 0; (name = isoproof_result_proved_at(result, i)) != NULL; i++) out->proved |= bit_of(name);
  for (size_t i = 0; isoproof_result_anomaly_at(result, i, &a); i++) {
    if (strcmp(a.code, "lost-update") != 0) continue;
    verify_lost_update(&a);
    out->lost_update = true;
  }
  isoproof_result_free(result);
}

/* ---- comparing ---- */

typedef struct tally {
  unsigned histories, judged, skipped, violated, exact;
} tally;

static void complain(isoproof_history *history, const elle_question *q, uint64_t models, unsigned run,
                     const char *what) {
  isoproof_error error;
  isoproof_history_write(history, ISOPROOF_FORMAT_EDN, "-", NULL, NULL, NULL, &error);
  for (unsigned i = 0; i < 64; i++)
    if ((models >> i & 1) != 0) print_message("%s\n", isoproof_level_at(i)->friendly);
  fail_msg("%s: run %u, %s%s%s%s%s", what, run, q->realtime ? "real time" : "sessions", q->wfr ? ", wfr" : "",
           q->sequential ? ", sequential" : "", q->linear ? ", linearizable" : "", q->order != NULL ? ", order" : "");
}

/* False when there is too much for the oracle to try. */
static bool compare(isoproof_history *history, const elle_question *q, unsigned run, tally *t) {
  elle_bounds bounds;
  outcome found;
  if (!elle_oracle_judge(history, q, &bounds)) {
    t->skipped++;
    return false;
  }
  look(history, q, &found);
  if ((bounds.least & ~bounds.most) != 0)
    complain(history, q, bounds.least & ~bounds.most, run, "oracle contradicts itself");
  if ((bounds.least & ~found.ruled_out) != 0)
    complain(history, q, bounds.least & ~found.ruled_out, run, "not ruled out, though inferred");
  if ((found.ruled_out & ~bounds.most) != 0)
    complain(history, q, found.ruled_out & ~bounds.most, run, "ruled out, though an order of versions allows it");
  if ((found.proved & bounds.most) != 0) complain(history, q, found.proved & bounds.most, run, "proved, but violated");
  if (found.lost_update != bounds.lost_update) complain(history, q, 0, run, "lost update");
  t->judged++;
  t->violated += found.ruled_out != 0;
  t->exact += found.ruled_out == bounds.most;
  return true;
}

static void run_all(bool lists, uint64_t seed) {
  tally t = {0, 0, 0, 0, 0};
  const char *wanted = getenv("ISOPROOF_RANDOM_SEED");
  uint64_t random = wanted != NULL ? strtoull(wanted, NULL, 10) + seed : seed;
  for (unsigned run = 0; t.histories < runs(); run++) {
    plan p;
    make_plan(&p, lists, &random);
    isoproof_history *history = build(&p, &random);
    if (history == NULL) continue;
    elle_question q = {.lists = lists, .realtime = run % 2 == 0};
    t.histories += compare(history, &q, run, &t);
    /* One assumption about keys, or several, on the same history. */
    unsigned assumed = lists ? 0 : (unsigned)unit_below(&random, 16);
    q.wfr = (assumed & 1) != 0;
    q.sequential = (assumed & 2) != 0;
    q.linear = (assumed & 4) != 0;
    q.order = (assumed & 8) != 0 ? p.order : NULL;
    if (assumed != 0) (void)compare(history, &q, run, &t);
    isoproof_history_free(history);
  }
  print_message(
      "%s: %u histories, judged %u times, %u times violated, %u times left out, %u times all there is found\n",
      lists ? "lists" : "registers", t.histories, t.judged, t.violated, t.skipped, t.exact);
  assert_true(t.judged > t.skipped && t.violated > t.judged / 10 && t.violated < t.judged);
}

static void test_lists(void **state) {
  (void)state;
  run_all(true, 11);
}

static void test_registers(void **state) {
  (void)state;
  run_all(false, 12);
}

/* An argument names the only test to run. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_registers)};
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
