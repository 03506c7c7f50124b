/* Random histories, written to every format and between every pair of formats, come back unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/format/same_history.h"

/* What a format can hold; a history for two formats uses what both can. */
enum {
  BIG = 1 << 0,             /* numbers above INT64_MAX */
  NEGATIVE = 1 << 1,        /* and zero as an ordinary value */
  STRINGS = 1 << 2,         /* keys and values */
  KEYWORDS = 1 << 3,        /* and symbols */
  COLLECTIONS = 1 << 4,     /* lists, sets, counters */
  UNKNOWN = 1 << 5,         /* unknown transactions */
  ADJACENT_ABORTS = 1 << 6, /* two aborted transactions of a session in a row stay two */
  EMPTY_TXNS = 1 << 7,
  EMPTY_SESSIONS = 1 << 8,
  TIMES = 1 << 9,
  UNRECORDED = 1 << 10,    /* reads without a result in transactions that did not commit */
  SESSION_NAMES = 1 << 11, /* sessions have numbers of their own */
  LONE_READS = 1 << 12,    /* of collections that nobody changes: the kind of the read says what they are */
  ISOLATION = 1 << 13,     /* levels of transactions */
  EVERYTHING = (1 << 14) - 1
};

static const struct {
  isoproof_format format;
  const char *id;
  unsigned can;
} written[] = {
    {ISOPROOF_FORMAT_PLUME, "plume", BIG | SESSION_NAMES},
    {ISOPROOF_FORMAT_DBCOP, "dbcop", BIG | ADJACENT_ABORTS | EMPTY_TXNS | EMPTY_SESSIONS},
    {ISOPROOF_FORMAT_EDN, "edn", EVERYTHING & ~(unsigned)(EMPTY_SESSIONS | LONE_READS)},
    {ISOPROOF_FORMAT_JSON, "json", EVERYTHING & ~(unsigned)(EMPTY_SESSIONS | LONE_READS | KEYWORDS)},
    {ISOPROOF_FORMAT_JSONL, "jsonl", EVERYTHING},
    {ISOPROOF_FORMAT_BINARY, "binary", EVERYTHING},
};
enum { WRITTEN = sizeof written / sizeof *written, ROUNDS = 25, KEYS = 12 };

/* ---- random histories ---- */

typedef struct maker {
  uint64_t random;
  unsigned can;
  isoproof_builder *builder;
  int64_t clock;
  int64_t fresh; /* values are unique */
  unsigned workload;
} maker;

static uint64_t draw(maker *m, uint64_t limit) {
  m->random ^= m->random << 13;
  m->random ^= m->random >> 7;
  m->random ^= m->random << 17;
  return (m->random >> 11) % limit;
}

static void must(isoproof_status status, const isoproof_error *error) {
  if (status != ISOPROOF_OK) fail_msg("%s: %s", isoproof_status_name(status), error->message);
}

static const char *const words[] = {
    "x", "account", "with space", "quote\"back\\slash", "tab\tnew\nline", "\xc3\xa4", "\xf0\x9f\x98\x80", ""};

static isoproof_scalar any_scalar(maker *m, int64_t number) {
  isoproof_scalar scalar = isoproof_integer(number);
  unsigned choice = (unsigned)draw(m, 12);
  if (choice == 0 && (m->can & BIG))
    scalar = (isoproof_scalar){.type = ISOPROOF_UNSIGNED, .integer = -number}; /* 2^64 - number */
  if (choice == 1 && (m->can & BIG)) scalar = isoproof_integer(INT64_MAX - number);
  if (choice == 2 && (m->can & NEGATIVE)) scalar = isoproof_integer(-number);
  if (choice == 3 && (m->can & NEGATIVE)) scalar = isoproof_integer(INT64_MIN + number);
  if (choice == 4 && (m->can & STRINGS)) scalar = isoproof_string(words[number % 8]);
  if (choice == 5 && (m->can & KEYWORDS)) {
    scalar = isoproof_string(number % 2 ? "kw" : "name/space");
    scalar.type = ISOPROOF_KEYWORD;
  }
  if (choice == 6 && (m->can & KEYWORDS)) {
    scalar = isoproof_string(number % 2 ? "true" : "1.5");
    scalar.type = ISOPROOF_SYMBOL;
  }
  return scalar;
}

/* Keys are fixed by their number, so that they repeat and keep their kind. */
static isoproof_scalar key_of(const maker *m, unsigned key) {
  maker fixed = {.random = 88172645463325252u + key * 7919u, .can = m->can};
  draw(&fixed, 2);
  return any_scalar(&fixed, (int64_t)key + 1);
}

static void add_collection_read(maker *m, isoproof_op_kind kind, isoproof_scalar key, isoproof_error *error) {
  isoproof_scalar elements[8];
  size_t count = (size_t)draw(m, 8);
  int64_t from = draw(m, 3) == 0 ? (int64_t)draw(m, 5) + 1 : 1; /* mostly prefixes of one list */
  for (size_t i = 0; i < count; i++) elements[i] = isoproof_integer(from + (int64_t)i);
  must(isoproof_builder_elements(m->builder, kind, key, elements, count, error), error);
}

/* By workload. */
static const isoproof_op_kind reads[] = {ISOPROOF_OP_READ, ISOPROOF_OP_READ_LIST, ISOPROOF_OP_READ_SET,
                                         ISOPROOF_OP_READ_COUNTER};
static const isoproof_op_kind writes[] = {ISOPROOF_OP_WRITE, ISOPROOF_OP_APPEND, ISOPROOF_OP_ADD,
                                          ISOPROOF_OP_INCREMENT};

static void add_op(maker *m, isoproof_txn_status status, isoproof_error *error) {
  unsigned number = (unsigned)draw(m, KEYS);
  isoproof_scalar key = key_of(m, number);
  unsigned workload = (m->can & COLLECTIONS) ? m->workload : 0;
  bool read = draw(m, 2) == 0;
  isoproof_op_kind kind = read ? reads[workload] : writes[workload];
  isoproof_scalar value = workload == 3 ? isoproof_integer((int64_t)draw(m, 9)) : any_scalar(m, ++m->fresh);
  if (!read) {
    must(isoproof_builder_op(m->builder, kind, key, value, error), error);
  } else if (status != ISOPROOF_TXN_COMMITTED && (m->can & UNRECORDED) && draw(m, 3) == 0) {
    value = (isoproof_scalar){.type = ISOPROOF_NONE};
    must(isoproof_builder_op(m->builder, kind, key, value, error), error);
  } else if (kind == ISOPROOF_OP_READ_LIST || kind == ISOPROOF_OP_READ_SET) {
    add_collection_read(m, kind, key, error);
  } else {
    if (kind == ISOPROOF_OP_READ && draw(m, 4) == 0) value = isoproof_nil();
    must(isoproof_builder_op(m->builder, kind, key, value, error), error);
  }
}

static isoproof_txn_status pick_status(maker *m, bool after_abort) {
  unsigned choice = (unsigned)draw(m, 6);
  if (choice == 0 && (m->can & UNKNOWN)) return ISOPROOF_TXN_UNKNOWN;
  if (choice == 1 && (!after_abort || (m->can & ADJACENT_ABORTS))) return ISOPROOF_TXN_ABORTED;
  return ISOPROOF_TXN_COMMITTED;
}

static void add_session(maker *m, unsigned number, bool times, isoproof_error *error) {
  uint32_t session;
  bool aborted = false;
  int64_t name = (m->can & SESSION_NAMES) ? 10 * (int64_t)number + 3 : (int64_t)number;
  must(isoproof_builder_session(m->builder, isoproof_integer(name), &session, error), error);
  unsigned txns = (unsigned)draw(m, 12) + ((m->can & EMPTY_SESSIONS) ? 0 : 1);
  for (unsigned t = 0; t < txns; t++) {
    isoproof_txn_status status = pick_status(m, aborted);
    must(isoproof_builder_begin(m->builder, session, status, error), error);
    if (times) {
      int64_t start = ++m->clock, end = ++m->clock;
      must(isoproof_builder_times(m->builder, start, status == ISOPROOF_TXN_UNKNOWN ? ISOPROOF_NO_TIME : end, error),
           error);
    }
    static const char *const levels[] = {"rc", "read-atomic", "tcc", "prefix", "SI", "serializable"};
    if ((m->can & ISOLATION) && draw(m, 3) == 0)
      must(isoproof_builder_isolation(m->builder, levels[draw(m, 6)], error), error);
    unsigned ops = (unsigned)draw(m, 5) + ((m->can & EMPTY_TXNS) ? 0 : 1);
    for (unsigned i = 0; i < ops; i++) add_op(m, status, error);
    aborted = status == ISOPROOF_TXN_ABORTED;
  }
}

/* Changes every key once, so that each says what it is. */
static void add_first_session(maker *m, bool times, isoproof_error *error) {
  uint32_t session;
  int64_t name = (m->can & SESSION_NAMES) ? 1 : 0;
  must(isoproof_builder_session(m->builder, isoproof_integer(name), &session, error), error);
  must(isoproof_builder_begin(m->builder, session, ISOPROOF_TXN_COMMITTED, error), error);
  if (times) {
    int64_t start = ++m->clock;
    must(isoproof_builder_times(m->builder, start, ++m->clock, error), error);
  }
  for (unsigned key = 0; key < KEYS; key++)
    must(isoproof_builder_op(m->builder, writes[m->workload], key_of(m, key), isoproof_integer(++m->fresh), error),
         error);
}

static isoproof_history *make(uint64_t seed, unsigned can) {
  maker m = {.random = seed * 0x9e3779b97f4a7c15u + 1, .can = can};
  isoproof_error error = {0};
  isoproof_history *history = NULL;
  for (int i = 0; i < 10; i++) draw(&m, 2);
  m.workload = (unsigned)draw(&m, 4);
  must(isoproof_builder_new(&m.builder, &error), &error);
  unsigned sessions = (unsigned)draw(&m, 5) + 1;
  bool times = (can & TIMES) && draw(&m, 2);
  bool first = (can & COLLECTIONS) && !(can & LONE_READS);
  if (first) add_first_session(&m, times, &error);
  for (unsigned s = first ? 1 : 0; s < sessions + first; s++) add_session(&m, s, times, &error);
  must(isoproof_builder_finish(m.builder, &history, &error), &error);
  isoproof_builder_free(m.builder);
  return history;
}

/* ---- writing and reading in memory ---- */

typedef struct sink {
  char *bytes;
  size_t count;
} sink;

static bool put(void *user, const void *data, size_t size) {
  sink *out = user;
  out->bytes = realloc(out->bytes, out->count + size + 1);
  if (out->bytes == NULL) return false;
  memcpy(out->bytes + out->count, data, size);
  out->count += size;
  return true;
}

static isoproof_history *through(const isoproof_history *history, size_t number, isoproof_compression compression,
                                 bool detect, const char *what) {
  isoproof_error error = {0};
  sink out = {0};
  isoproof_history *again = NULL;
  isoproof_write_options write = {.struct_size = sizeof write, .compression = compression};
  isoproof_status status =
      isoproof_history_write_to(history, written[number].format, put, &out, &write, NULL, NULL, &error);
  if (status != ISOPROOF_OK) {
    print_error("%s: writing %s: ", what, written[number].id);
    must(status, &error);
  }
  isoproof_open_options open = {.struct_size = sizeof open, .format = detect ? NULL : written[number].id};
  status = isoproof_history_open_memory(out.bytes, out.count, "memory", &open, NULL, &again, &error);
  if (status != ISOPROOF_OK) {
    print_error("%s: reading %s line %llu: ", what, written[number].id, (unsigned long long)error.line);
    if (compression == ISOPROOF_COMPRESS_NO) print_error("%.*s\n", (int)out.count, out.bytes);
    must(status, &error);
  }
  assert_string_equal(isoproof_history_format(again), written[number].id);
  free(out.bytes);
  return again;
}

static same_options limits(unsigned can) {
  return (same_options){.by_position = !(can & SESSION_NAMES), .no_times = !(can & TIMES)};
}

static void test_every_written_format_is_here(void **state) {
  (void)state;
  const isoproof_format_info *format;
  for (size_t i = 0; (format = isoproof_format_at(i)) != NULL; i++) {
    size_t rows = 0;
    for (size_t f = 0; f < WRITTEN; f++) rows += written[f].format == format->format;
    /* Formats of calls in real time have transactions of few operations, with times: tests/unit/format/calls.c. */
    bool calls = format->format >= ISOPROOF_FORMAT_PORCUPINE && format->format <= ISOPROOF_FORMAT_ETCD;
    if (rows != (format->writable && !calls ? 1 : 0)) fail_msg("%s has %zu rows", format->id, rows);
  }
}

static void test_each_format(void **state) {
  (void)state;
  char what[80];
  for (size_t f = 0; f < WRITTEN; f++) {
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
      isoproof_history *history = make(seed, written[f].can);
      snprintf(what, sizeof what, "%s, seed %d", written[f].id, (int)seed);
      isoproof_history *again = through(history, f, ISOPROOF_COMPRESS_NO, false, what);
      same_history(history, again, limits(written[f].can), what);
      isoproof_history_free(again);
      isoproof_history_free(history);
    }
  }
}

static void test_each_pair(void **state) {
  (void)state;
  char what[80];
  for (size_t f = 0; f < WRITTEN; f++) {
    for (size_t g = 0; g < WRITTEN; g++) {
      unsigned can = written[f].can & written[g].can;
      for (uint64_t seed = 1; seed <= ROUNDS / 3; seed++) {
        isoproof_history *history = make(1000 + seed, can);
        snprintf(what, sizeof what, "%s to %s, seed %d", written[f].id, written[g].id, (int)seed);
        isoproof_history *first = through(history, f, ISOPROOF_COMPRESS_NO, false, what);
        isoproof_history *second = through(first, g, ISOPROOF_COMPRESS_NO, false, what);
        same_history(history, second, limits(can), what);
        isoproof_history_free(second);
        isoproof_history_free(first);
        isoproof_history_free(history);
      }
    }
  }
}

static void test_compressed_and_detected(void **state) {
  (void)state;
  char what[80];
  static const isoproof_compression ways[] = {ISOPROOF_COMPRESS_NO, ISOPROOF_COMPRESS_GZIP, ISOPROOF_COMPRESS_ZSTD};
  for (size_t f = 0; f < WRITTEN; f++) {
    for (size_t c = 0; c < 3; c++) {
      isoproof_history *history = make(7 + c, written[f].can & ~(unsigned)EMPTY_SESSIONS);
      snprintf(what, sizeof what, "%s, compression %d", written[f].id, (int)c);
      isoproof_history *again = through(history, f, ways[c], true, what);
      same_history(history, again, limits(written[f].can), what);
      isoproof_history_free(again);
      isoproof_history_free(history);
    }
  }
}

/* What a format cannot hold is refused, or left out and counted when the caller allows it. */
static void test_lossy(void **state) {
  (void)state;
  isoproof_error error;
  isoproof_builder *builder;
  isoproof_history *history;
  uint32_t session;
  must(isoproof_builder_new(&builder, &error), &error);
  must(isoproof_builder_session(builder, isoproof_integer(0), &session, &error), &error);
  must(isoproof_builder_begin(builder, session, ISOPROOF_TXN_UNKNOWN, &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(1), isoproof_integer(1), &error), &error);
  must(isoproof_builder_begin(builder, session, ISOPROOF_TXN_UNKNOWN, &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(1), isoproof_integer(2), &error), &error);
  must(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, &error), &error);
  must(isoproof_builder_op(builder, ISOPROOF_OP_READ, isoproof_integer(1), isoproof_integer(2), &error), &error);
  must(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, &error), &error);
  must(isoproof_builder_finish(builder, &history, &error), &error);
  isoproof_builder_free(builder);

  sink out = {0};
  isoproof_write_loss loss = {.struct_size = sizeof loss};
  isoproof_write_options options = {.struct_size = sizeof options, .compression = ISOPROOF_COMPRESS_NO};
  assert_int_equal(isoproof_history_write_to(history, ISOPROOF_FORMAT_PLUME, put, &out, &options, NULL, &loss, &error),
                   ISOPROOF_ERR_UNSUPPORTED);
  assert_true(error.message[0] != '\0');
  options.lossy = true;
  out.count = 0;
  must(isoproof_history_write_to(history, ISOPROOF_FORMAT_PLUME, put, &out, &options, NULL, &loss, &error), &error);
  assert_int_equal(loss.unknown_txns, 1);
  assert_int_equal(loss.promoted_txns, 1);
  assert_int_equal(loss.empty_txns, 1);
  free(out.bytes);
  isoproof_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_written_format_is_here),
      cmocka_unit_test(test_each_format),
      cmocka_unit_test(test_each_pair),
      cmocka_unit_test(test_compressed_and_detected),
      cmocka_unit_test(test_lossy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
