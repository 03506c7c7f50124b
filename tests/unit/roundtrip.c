/* Random histories, written to every format and between every pair of formats, come back unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "same_history.h"

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
  EVERYTHING = (1 << 13) - 1
};

static const struct {
  isolde_format format;
  const char *id;
  unsigned can;
} written[] = {
    {ISOLDE_FORMAT_PLUME, "plume", BIG | SESSION_NAMES},
    {ISOLDE_FORMAT_DBCOP, "dbcop", BIG | ADJACENT_ABORTS | EMPTY_TXNS | EMPTY_SESSIONS},
    {ISOLDE_FORMAT_EDN, "edn", EVERYTHING & ~(unsigned)(EMPTY_SESSIONS | LONE_READS)},
    {ISOLDE_FORMAT_JSON, "json", EVERYTHING & ~(unsigned)(EMPTY_SESSIONS | LONE_READS | KEYWORDS)},
    {ISOLDE_FORMAT_JSONL, "jsonl", EVERYTHING},
    {ISOLDE_FORMAT_BINARY, "binary", EVERYTHING},
};
enum { WRITTEN = sizeof written / sizeof *written, ROUNDS = 25, KEYS = 12 };

/* ---- random histories ---- */

typedef struct maker {
  uint64_t random;
  unsigned can;
  isolde_builder *builder;
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

static void must(isolde_status status, const isolde_error *error) {
  if (status != ISOLDE_OK) fail_msg("%s: %s", isolde_status_name(status), error->message);
}

static const char *const words[] = {
    "x", "account", "with space", "quote\"back\\slash", "tab\tnew\nline", "\xc3\xa4", "\xf0\x9f\x98\x80", ""};

static isolde_scalar any_scalar(maker *m, int64_t number) {
  isolde_scalar scalar = isolde_integer(number);
  unsigned choice = (unsigned)draw(m, 12);
  if (choice == 0 && (m->can & BIG))
    scalar = (isolde_scalar){.type = ISOLDE_UNSIGNED, .integer = -number}; /* 2^64 - number */
  if (choice == 1 && (m->can & BIG)) scalar = isolde_integer(INT64_MAX - number);
  if (choice == 2 && (m->can & NEGATIVE)) scalar = isolde_integer(-number);
  if (choice == 3 && (m->can & NEGATIVE)) scalar = isolde_integer(INT64_MIN + number);
  if (choice == 4 && (m->can & STRINGS)) scalar = isolde_string(words[number % 8]);
  if (choice == 5 && (m->can & KEYWORDS)) {
    scalar = isolde_string(number % 2 ? "kw" : "name/space");
    scalar.type = ISOLDE_KEYWORD;
  }
  if (choice == 6 && (m->can & KEYWORDS)) {
    scalar = isolde_string(number % 2 ? "true" : "1.5");
    scalar.type = ISOLDE_SYMBOL;
  }
  return scalar;
}

/* Keys are fixed by their number, so that they repeat and keep their kind. */
static isolde_scalar key_of(const maker *m, unsigned key) {
  maker fixed = {.random = 88172645463325252u + key * 7919u, .can = m->can};
  draw(&fixed, 2);
  return any_scalar(&fixed, (int64_t)key + 1);
}

static void add_collection_read(maker *m, isolde_op_kind kind, isolde_scalar key, isolde_error *error) {
  isolde_scalar elements[8];
  size_t count = (size_t)draw(m, 8);
  int64_t from = draw(m, 3) == 0 ? (int64_t)draw(m, 5) + 1 : 1; /* mostly prefixes of one list */
  for (size_t i = 0; i < count; i++) elements[i] = isolde_integer(from + (int64_t)i);
  must(isolde_builder_elements(m->builder, kind, key, elements, count, error), error);
}

/* By workload. */
static const isolde_op_kind reads[] = {ISOLDE_OP_READ, ISOLDE_OP_READ_LIST, ISOLDE_OP_READ_SET, ISOLDE_OP_READ_COUNTER};
static const isolde_op_kind writes[] = {ISOLDE_OP_WRITE, ISOLDE_OP_APPEND, ISOLDE_OP_ADD, ISOLDE_OP_INCREMENT};

static void add_op(maker *m, isolde_txn_status status, isolde_error *error) {
  unsigned number = (unsigned)draw(m, KEYS);
  isolde_scalar key = key_of(m, number);
  unsigned workload = (m->can & COLLECTIONS) ? m->workload : 0;
  bool read = draw(m, 2) == 0;
  isolde_op_kind kind = read ? reads[workload] : writes[workload];
  isolde_scalar value = workload == 3 ? isolde_integer((int64_t)draw(m, 9)) : any_scalar(m, ++m->fresh);
  if (!read) {
    must(isolde_builder_op(m->builder, kind, key, value, error), error);
  } else if (status != ISOLDE_COMMITTED && (m->can & UNRECORDED) && draw(m, 3) == 0) {
    value = (isolde_scalar){.type = ISOLDE_NONE};
    must(isolde_builder_op(m->builder, kind, key, value, error), error);
  } else if (kind == ISOLDE_OP_READ_LIST || kind == ISOLDE_OP_READ_SET) {
    add_collection_read(m, kind, key, error);
  } else {
    if (kind == ISOLDE_OP_READ && draw(m, 4) == 0) value = isolde_nil();
    must(isolde_builder_op(m->builder, kind, key, value, error), error);
  }
}

static isolde_txn_status pick_status(maker *m, bool after_abort) {
  unsigned choice = (unsigned)draw(m, 6);
  if (choice == 0 && (m->can & UNKNOWN)) return ISOLDE_UNKNOWN;
  if (choice == 1 && (!after_abort || (m->can & ADJACENT_ABORTS))) return ISOLDE_ABORTED;
  return ISOLDE_COMMITTED;
}

static void add_session(maker *m, unsigned number, bool times, isolde_error *error) {
  uint32_t session;
  bool aborted = false;
  int64_t name = (m->can & SESSION_NAMES) ? 10 * (int64_t)number + 3 : (int64_t)number;
  must(isolde_builder_session(m->builder, isolde_integer(name), &session, error), error);
  unsigned txns = (unsigned)draw(m, 12) + ((m->can & EMPTY_SESSIONS) ? 0 : 1);
  for (unsigned t = 0; t < txns; t++) {
    isolde_txn_status status = pick_status(m, aborted);
    must(isolde_builder_begin(m->builder, session, status, error), error);
    if (times) {
      int64_t start = ++m->clock, end = ++m->clock;
      must(isolde_builder_times(m->builder, start, status == ISOLDE_UNKNOWN ? ISOLDE_NO_TIME : end, error), error);
    }
    unsigned ops = (unsigned)draw(m, 5) + ((m->can & EMPTY_TXNS) ? 0 : 1);
    for (unsigned i = 0; i < ops; i++) add_op(m, status, error);
    aborted = status == ISOLDE_ABORTED;
  }
}

/* Changes every key once, so that each says what it is. */
static void add_first_session(maker *m, bool times, isolde_error *error) {
  uint32_t session;
  int64_t name = (m->can & SESSION_NAMES) ? 1 : 0;
  must(isolde_builder_session(m->builder, isolde_integer(name), &session, error), error);
  must(isolde_builder_begin(m->builder, session, ISOLDE_COMMITTED, error), error);
  if (times) {
    int64_t start = ++m->clock;
    must(isolde_builder_times(m->builder, start, ++m->clock, error), error);
  }
  for (unsigned key = 0; key < KEYS; key++)
    must(isolde_builder_op(m->builder, writes[m->workload], key_of(m, key), isolde_integer(++m->fresh), error), error);
}

static isolde_history *make(uint64_t seed, unsigned can) {
  maker m = {.random = seed * 0x9e3779b97f4a7c15u + 1, .can = can};
  isolde_error error = {0};
  isolde_history *history = NULL;
  for (int i = 0; i < 10; i++) draw(&m, 2);
  m.workload = (unsigned)draw(&m, 4);
  must(isolde_builder_new(&m.builder, &error), &error);
  unsigned sessions = (unsigned)draw(&m, 5) + 1;
  bool times = (can & TIMES) && draw(&m, 2);
  bool first = (can & COLLECTIONS) && !(can & LONE_READS);
  if (first) add_first_session(&m, times, &error);
  for (unsigned s = first ? 1 : 0; s < sessions + first; s++) add_session(&m, s, times, &error);
  must(isolde_builder_finish(m.builder, &history, &error), &error);
  isolde_builder_free(m.builder);
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

static isolde_history *through(const isolde_history *history, size_t number, isolde_compression compression,
                               bool detect, const char *what) {
  isolde_error error = {0};
  sink out = {0};
  isolde_history *again = NULL;
  isolde_write_options write = {.struct_size = sizeof write, .compression = compression};
  isolde_status status =
      isolde_history_write_to(history, written[number].format, put, &out, &write, NULL, NULL, &error);
  if (status != ISOLDE_OK) {
    print_error("%s: writing %s: ", what, written[number].id);
    must(status, &error);
  }
  isolde_open_options open = {.struct_size = sizeof open, .format = detect ? NULL : written[number].id};
  status = isolde_history_open_memory(out.bytes, out.count, "memory", &open, NULL, &again, &error);
  if (status != ISOLDE_OK) {
    print_error("%s: reading %s line %llu: ", what, written[number].id, (unsigned long long)error.line);
    if (compression == ISOLDE_COMPRESS_NO) print_error("%.*s\n", (int)out.count, out.bytes);
    must(status, &error);
  }
  assert_string_equal(isolde_history_format(again), written[number].id);
  free(out.bytes);
  return again;
}

static same_options limits(unsigned can) {
  return (same_options){.by_position = !(can & SESSION_NAMES), .no_times = !(can & TIMES)};
}

static void test_each_format(void **state) {
  (void)state;
  char what[80];
  for (size_t f = 0; f < WRITTEN; f++) {
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
      isolde_history *history = make(seed, written[f].can);
      snprintf(what, sizeof what, "%s, seed %d", written[f].id, (int)seed);
      isolde_history *again = through(history, f, ISOLDE_COMPRESS_NO, false, what);
      same_history(history, again, limits(written[f].can), what);
      isolde_history_free(again);
      isolde_history_free(history);
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
        isolde_history *history = make(1000 + seed, can);
        snprintf(what, sizeof what, "%s to %s, seed %d", written[f].id, written[g].id, (int)seed);
        isolde_history *first = through(history, f, ISOLDE_COMPRESS_NO, false, what);
        isolde_history *second = through(first, g, ISOLDE_COMPRESS_NO, false, what);
        same_history(history, second, limits(can), what);
        isolde_history_free(second);
        isolde_history_free(first);
        isolde_history_free(history);
      }
    }
  }
}

static void test_compressed_and_detected(void **state) {
  (void)state;
  char what[80];
  static const isolde_compression ways[] = {ISOLDE_COMPRESS_NO, ISOLDE_COMPRESS_GZIP, ISOLDE_COMPRESS_ZSTD};
  for (size_t f = 0; f < WRITTEN; f++) {
    for (size_t c = 0; c < 3; c++) {
      isolde_history *history = make(7 + c, written[f].can & ~(unsigned)EMPTY_SESSIONS);
      snprintf(what, sizeof what, "%s, compression %d", written[f].id, (int)c);
      isolde_history *again = through(history, f, ways[c], true, what);
      same_history(history, again, limits(written[f].can), what);
      isolde_history_free(again);
      isolde_history_free(history);
    }
  }
}

/* What a format cannot hold is refused, or left out and counted when the caller allows it. */
static void test_lossy(void **state) {
  (void)state;
  isolde_error error;
  isolde_builder *builder;
  isolde_history *history;
  uint32_t session;
  must(isolde_builder_new(&builder, &error), &error);
  must(isolde_builder_session(builder, isolde_integer(0), &session, &error), &error);
  must(isolde_builder_begin(builder, session, ISOLDE_UNKNOWN, &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_WRITE, isolde_integer(1), isolde_integer(1), &error), &error);
  must(isolde_builder_begin(builder, session, ISOLDE_UNKNOWN, &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_WRITE, isolde_integer(1), isolde_integer(2), &error), &error);
  must(isolde_builder_begin(builder, session, ISOLDE_COMMITTED, &error), &error);
  must(isolde_builder_op(builder, ISOLDE_OP_READ, isolde_integer(1), isolde_integer(2), &error), &error);
  must(isolde_builder_begin(builder, session, ISOLDE_COMMITTED, &error), &error);
  must(isolde_builder_finish(builder, &history, &error), &error);
  isolde_builder_free(builder);

  sink out = {0};
  isolde_write_loss loss;
  isolde_write_options options = {.struct_size = sizeof options, .compression = ISOLDE_COMPRESS_NO};
  assert_int_equal(isolde_history_write_to(history, ISOLDE_FORMAT_PLUME, put, &out, &options, NULL, &loss, &error),
                   ISOLDE_ERR_UNSUPPORTED);
  assert_true(error.message[0] != '\0');
  options.lossy = true;
  out.count = 0;
  must(isolde_history_write_to(history, ISOLDE_FORMAT_PLUME, put, &out, &options, NULL, &loss, &error), &error);
  assert_int_equal(loss.unknown_txns, 1);
  assert_int_equal(loss.promoted_txns, 1);
  assert_int_equal(loss.empty_txns, 1);
  free(out.bytes);
  isolde_history_free(history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_format),
      cmocka_unit_test(test_each_pair),
      cmocka_unit_test(test_compressed_and_detected),
      cmocka_unit_test(test_lossy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
