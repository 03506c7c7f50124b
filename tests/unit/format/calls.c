/* Formats of calls in real time, Porcupine's, Jepsen's log and etcd's: what the simulator made is judged as it was
 * made, records of a model of etcd are strictly serializable, and what cannot be told is refused. */
#include <isoproof/isoproof.h>

#include "tests/unit/unit.h"

typedef struct sink {
  char *bytes;
  size_t count;
} sink;

static bool put(void *user, const void *data, size_t size) {
  sink *out = user;
  char *more = realloc(out->bytes, out->count + size + 1);
  if (more == NULL) return false;
  out->bytes = more;
  memcpy(out->bytes + out->count, data, size);
  out->count += size;
  out->bytes[out->count] = '\0';
  return true;
}

static isoproof_history *open_text(const char *text, const char *format) {
  isoproof_history *history = NULL;
  isoproof_error error = {0};
  assert_ok_error(isoproof_history_open_memory(text, strlen(text), "test", NULL, NULL, &history, &error), error);
  assert_string_equal(isoproof_history_format(history), format);
  return history;
}

static isoproof_verdict verdict_of(isoproof_history *history, const char *level) {
  isoproof_result *result;
  isoproof_error error = {0};
  const char *levels[] = {level};
  isoproof_check_options options = {.struct_size = sizeof options, .levels = levels, .level_count = 1};
  assert_ok_error(isoproof_check(history, &options, NULL, &result, &error), error);
  isoproof_verdict verdict = isoproof_result_verdict_of(result, level);
  isoproof_result_free(result);
  return verdict;
}

/* ---- what the simulator made ---- */

static isoproof_history *simulate(uint64_t seed, uint32_t operations, uint32_t keys, isoproof_sim_bug bug) {
  isoproof_sim_options options = {.struct_size = sizeof options};
  isoproof_history *history;
  isoproof_error error = {0};
  assert_true(isoproof_sim_defaults(&options));
  options.seed = seed;
  options.sessions = 6;
  options.txns = 300;
  options.ops_min = 1;
  options.ops_max = operations;
  options.keys = keys;
  options.unknown_share = 0.05;
  options.abort_share = 0.05;
  if (bug < ISOPROOF_SIM_BUGS) options.bugs[bug] = 1;
  assert_ok_error(isoproof_simulate(&options, NULL, &history, NULL, &error), error);
  return history;
}

/* Writes it, judges what comes back, and, of single operations, the file itself as calls. */
static void expect_through(isoproof_history *history, isoproof_format format, const char *level, bool holds) {
  sink out = {0};
  isoproof_error error = {0};
  const isoproof_format_info *info = isoproof_format_at(format);
  assert_ok_error(isoproof_history_write_to(history, format, put, &out, NULL, NULL, NULL, &error), error);
  isoproof_history *again = open_text(out.bytes, info->id);
  isoproof_verdict wanted = holds ? ISOPROOF_SATISFIED : ISOPROOF_VIOLATED;
  assert_int_equal(verdict_of(history, level), wanted);
  assert_int_equal(verdict_of(again, level), wanted);
  if (format != ISOPROOF_FORMAT_ETCD) {
    isoproof_object_options options = {.struct_size = sizeof options};
    isoproof_object_verdict verdict = {.struct_size = sizeof verdict};
    options.model = format == ISOPROOF_FORMAT_PORCUPINE ? ISOPROOF_OBJECT_KV : ISOPROOF_OBJECT_CAS_REGISTER;
    assert_ok_error(isoproof_object_check_memory(out.bytes, out.count, "test", &options, NULL, &verdict, &error),
                    error);
    assert_int_equal(verdict.verdict, wanted);
  }
  isoproof_history_free(again);
  free(out.bytes);
}

static void test_simulated(void **state) {
  (void)state;
  static const isoproof_sim_bug single[] = {ISOPROOF_SIM_BUGS, ISOPROOF_SIM_BUG_STALE_READ,
                                            ISOPROOF_SIM_BUG_ABORTED_READ, ISOPROOF_SIM_BUG_THIN_AIR_READ};
  static const isoproof_sim_bug several[] = {ISOPROOF_SIM_BUGS, ISOPROOF_SIM_BUG_STALE_READ,
                                             ISOPROOF_SIM_BUG_LOST_UPDATE, ISOPROOF_SIM_BUG_WRITE_SKEW,
                                             ISOPROOF_SIM_BUG_LONG_FORK};
  for (uint64_t seed = 1; seed <= 5; seed++) {
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
      isoproof_history *keys = simulate(seed, 1, 4, single[i]), *lone = simulate(seed, 1, 1, single[i]);
      expect_through(keys, ISOPROOF_FORMAT_PORCUPINE, "linearizable", single[i] == ISOPROOF_SIM_BUGS);
      expect_through(lone, ISOPROOF_FORMAT_JEPSEN_LOG, "linearizable", single[i] == ISOPROOF_SIM_BUGS);
      isoproof_history_free(keys);
      isoproof_history_free(lone);
    }
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
      isoproof_history *history = simulate(seed, 3, 6, several[i]);
      expect_through(history, ISOPROOF_FORMAT_ETCD, "strict-serializable", several[i] == ISOPROOF_SIM_BUGS);
      isoproof_history_free(history);
    }
  }
}

/* ---- a model of etcd ---- */

enum { KEYS = 3, OPS = 60, RECORD = 1 << 17 };

typedef struct store {
  int value[KEYS]; /* 0: not there */
  int changed[KEYS];
  int revision;
} store;

typedef struct recorder {
  char *text;
  size_t used;
} recorder;

static void say(recorder *r, const char *format, ...) {
  va_list list;
  va_start(list, format);
  r->used += (size_t)vsnprintf(r->text + r->used, RECORD - r->used, format, list);
  va_end(list);
  assert_true(r->used < RECORD);
}

static void say_pair(recorder *r, const store *s, int key) {
  if (s->value[key] == 0) return;
  say(r, "{\"Key\":\"k%d\",\"Value\":{\"Value\":\"%d\"},\"ModRevision\":%d}", key, s->value[key], s->changed[key]);
}

/* A read of one key or of all, from a state of the store. */
static void read_op(recorder *r, const store *s, int key, bool all, int client, int call, int back) {
  int count = 0;
  say(r,
      "{\"ClientId\":%d,\"Input\":{\"Type\":\"range\",\"Range\":{\"Start\":\"k%d\",\"End\":\"%s\",\"Limit\":0,"
      "\"Revision\":0}},\"Call\":%d,\"Output\":{\"Range\":{\"KVs\":[",
      client, all ? 0 : key, all ? "l" : "", call);
  for (int k = all ? 0 : key; k < (all ? KEYS : key + 1); k++) {
    if (s->value[k] != 0 && count++ > 0) say(r, ",");
    say_pair(r, s, k);
  }
  say(r, "],\"Count\":%d},\"Revision\":%d,\"Error\":\"\"},\"Return\":%d}\n", count, s->revision, back);
}

/* A put, a deletion, or a put where the key is as a client saw it, whose answer may be lost. */
static void change_op(recorder *r, store *s, int key, int value, bool lost, bool compares, int client, int call,
                      int back) {
  bool deletes = value == 0, there = s->value[key] != 0;
  say(r, "{\"ClientId\":%d,\"Input\":{\"Type\":\"txn\",\"Txn\":{\"Conditions\":", client);
  if (compares) {
    say(r, "[{\"Key\":\"k%d\",\"ExpectedRevision\":%d}]", key, there ? s->changed[key] : 0);
  } else {
    say(r, "null");
  }
  if (deletes) {
    say(r, ",\"OperationsOnSuccess\":[{\"Type\":\"delete-operation\",\"Delete\":{\"Key\":\"k%d\"}}]", key);
  } else {
    say(r,
        ",\"OperationsOnSuccess\":[{\"Type\":\"put-operation\",\"Put\":{\"Key\":\"k%d\",\"Value\":{\"Value\":\"%d\"},"
        "\"LeaseID\":0}}]",
        key, value);
  }
  if (!deletes || there) s->changed[key] = ++s->revision;
  s->value[key] = value;
  say(r, ",\"OperationsOnFailure\":null}},\"Call\":%d,\"Output\":{", call);
  if (lost) {
    say(r, "\"Txn\":null,\"Revision\":0,\"Error\":\"timed out\"},\"Return\":%d}\n", back);
  } else {
    say(r,
        "\"Txn\":{\"Failure\":false,\"Results\":[{\"KVs\":null,\"Count\":0,\"Deleted\":%d}]},\"Revision\":%d,"
        "\"Error\":\"\"},\"Return\":%d}\n",
        deletes && there, s->revision, back);
  }
}

/* Operations that take effect one after the other, with others beginning before and ending after; with a bug, one read
 * is of the store as it was some time ago. */
static void make_record(uint64_t seed, bool stale, recorder *r) {
  uint64_t random = seed * 77 + 5;
  store now = {.revision = 1}, old = now;
  int old_at = -1;
  for (int i = 0; i < OPS; i++) {
    int at = 100 * i, key = (int)unit_below(&random, KEYS);
    int call = at - (int)unit_below(&random, 250), back = at + 1 + (int)unit_below(&random, 250);
    /* A client does one thing at a time: each operation has its own. */
    if (stale && i == OPS - 1) {
      assert_true(old_at >= 0);
      read_op(r, &old, key, true, i, at + 400, at + 500);
    } else if (unit_below(&random, 2) == 0) {
      read_op(r, &now, key, unit_below(&random, 3) == 0, i, call, back);
    } else {
      bool deletes = unit_below(&random, 5) == 0;
      change_op(r, &now, key, deletes ? 0 : i + 1, unit_below(&random, 6) == 0, unit_below(&random, 3) == 0, i, call,
                back);
    }
    if (i == OPS / 2) {
      old = now;
      old_at = i;
    }
  }
}

static void test_etcd_model(void **state) {
  (void)state;
  recorder r = {.text = malloc(RECORD)};
  assert_non_null(r.text);
  for (uint64_t seed = 1; seed <= UNLESS_SLOW(200, 20); seed++) {
    for (int stale = 0; stale < 2; stale++) {
      r.used = 0;
      make_record(seed, stale == 1, &r);
      isoproof_history *history = open_text(r.text, "etcd");
      isoproof_verdict verdict = verdict_of(history, "strict-serializable");
      if (verdict != (stale ? ISOPROOF_VIOLATED : ISOPROOF_SATISFIED)) {
        fail_msg("seed %d: %s\n%s", (int)seed, isoproof_verdict_name(verdict), r.text);
      }
      isoproof_history_free(history);
    }
  }
  free(r.text);
}

/* ---- what is wrong, and what cannot be said ---- */

static void expect_refused(const char *text, isoproof_status status, const char *word) {
  isoproof_history *history = NULL;
  isoproof_error error = {0};
  assert_int_equal(isoproof_history_open_memory(text, strlen(text), "test", NULL, NULL, &history, &error), status);
  if (strstr(error.message, word) == NULL) fail_msg("%s", error.message);
  assert_true(error.line > 0);
}

static void test_refused(void **state) {
  (void)state;
#define KV(process, type, f, value) "{:process " process ", :type :" type ", :f :" f ", :key \"k\", :value " value "}\n"
  expect_refused(KV("0", "invoke", "append", "\"x\""), ISOPROOF_ERR_UNSUPPORTED, "linearizable");
  expect_refused(KV("0", "invoke", "put", "nil"), ISOPROOF_ERR_FORMAT, "values");
  expect_refused(KV("0", "invoke", "get", "nil") KV("0", "invoke", "get", "nil"), ISOPROOF_ERR_FORMAT, "beginning");
  expect_refused(KV("0", "invoke", "get", "nil") KV("0", "ok", "put", "\"1\""), ISOPROOF_ERR_FORMAT, "another");
  expect_refused(KV("0", "invoke", "get", "nil") KV("1", "ok", "get", "\"1\""), ISOPROOF_ERR_FORMAT, "beginning");
  expect_refused(KV("0", "invoke", "get", "nil") "{:process 0, :type :ok, :f :get}\n", ISOPROOF_ERR_FORMAT, ":key");
  expect_refused("INFO jepsen.util - 0 :invoke :read nil\nINFO jepsen.util - 0 :ok :jump 1\n", ISOPROOF_ERR_FORMAT,
                 "read, write or cas");
#define ETCD(input, output) "{\"ClientId\":1,\"Input\":" input ",\"Call\":1,\"Output\":" output ",\"Return\":2}\n"
  expect_refused(ETCD("{\"Type\":\"fly\"}", "{\"Revision\":1}"), ISOPROOF_ERR_FORMAT, "a request");
  expect_refused(ETCD("{\"Type\":\"range\",\"Range\":{\"Start\":\"a\"}}", "{\"Revision\":1}"), ISOPROOF_ERR_FORMAT,
                 "as many results");
  expect_refused(
      ETCD("{\"Type\":\"txn\",\"Txn\":{\"OperationsOnSuccess\":[{\"Type\":\"put-operation\",\"Put\":{\"Key\":\"a\","
           "\"Value\":{\"Value\":\"1\"},\"LeaseID\":7}}]}}",
           "{\"Txn\":{\"Failure\":false,\"Results\":[{}]},\"Revision\":2}")
          ETCD("{\"Type\":\"leaseRevoke\",\"LeaseRevoke\":{\"LeaseID\":7}}", "{\"Revision\":3}"),
      ISOPROOF_ERR_UNSUPPORTED, "lease");
  isoproof_history *history = simulate(1, 2, 3, ISOPROOF_SIM_BUGS);
  sink out = {0};
  assert_int_equal(isoproof_history_write_to(history, ISOPROOF_FORMAT_PORCUPINE, put, &out, NULL, NULL, NULL, NULL),
                   ISOPROOF_ERR_UNSUPPORTED);
  isoproof_history_free(history);
  free(out.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_simulated), cmocka_unit_test(test_etcd_model),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
