/* How hard a run tried, against a count of every pair of transactions and keys, from the definitions alone. */
#include "tests/unit/unit.h"

#include <isoproof/stats.h>
#include <string.h>

enum { TXNS = 12, OPS = 6, KEYS = 4, ROUNDS = 4000 };

typedef struct move {
  bool reads;
  int key;
} move;

typedef struct script {
  int session, ops;
  isoproof_txn_status status;
  int64_t start, end; /* end: ISOPROOF_NO_TIME for none */
  move moves[OPS];
} script;

typedef struct play {
  int txns, keys;
  script txn[TXNS];
} play;

static uint64_t seed = 1;
static int roll(int below) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((seed >> 33) % (uint64_t)below);
}

static void make_play(play *p) {
  p->txns = 1 + roll(TXNS);
  p->keys = 1 + roll(KEYS);
  for (int t = 0; t < p->txns; t++) {
    script *s = &p->txn[t];
    int kind = roll(10);
    *s = (script){.session = t, .ops = roll(OPS + 1), .start = roll(20)};
    s->status = kind < 6 ? ISOPROOF_TXN_COMMITTED : kind < 9 ? ISOPROOF_TXN_ABORTED : ISOPROOF_TXN_UNKNOWN;
    bool open = s->status == ISOPROOF_TXN_UNKNOWN && roll(2) == 0;
    s->end = open ? ISOPROOF_NO_TIME : s->start + roll(8);
    for (int i = 0; i < s->ops; i++) s->moves[i] = (move){roll(2) == 0, roll(p->keys)};
  }
}

static isoproof_history *build(const play *p) {
  isoproof_builder *builder;
  isoproof_history *history;
  int64_t value = 1;
  assert_ok(isoproof_builder_new(&builder, NULL));
  for (int t = 0; t < p->txns; t++) {
    uint32_t session;
    assert_ok(isoproof_builder_session(builder, isoproof_integer(p->txn[t].session), &session, NULL));
    assert_ok(isoproof_builder_begin(builder, session, p->txn[t].status, NULL));
    assert_ok(isoproof_builder_times(builder, p->txn[t].start, p->txn[t].end, NULL));
    for (int i = 0; i < p->txn[t].ops; i++) {
      const move *m = &p->txn[t].moves[i];
      assert_ok(isoproof_builder_op(builder, m->reads ? ISOPROOF_OP_READ : ISOPROOF_OP_WRITE, isoproof_integer(m->key),
                                    m->reads ? isoproof_nil() : isoproof_integer(value++), NULL));
    }
  }
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  isoproof_builder_free(builder);
  return history;
}

/* ---- the definitions ---- */

/* Reads of what others wrote: before the first write of its own. */
static int reads(const script *s, int key) {
  int count = 0;
  for (int i = 0; i < s->ops; i++) {
    if (s->moves[i].key != key) continue;
    if (!s->moves[i].reads) break;
    count++;
  }
  return count;
}

static int writes(const script *s, int key) {
  int count = 0;
  for (int i = 0; i < s->ops; i++) count += s->moves[i].key == key && !s->moves[i].reads;
  return count;
}

/* What takes no time counts as taking the least there is. */
static int64_t end_of(const script *s) {
  if (s->end == ISOPROOF_NO_TIME) return INT64_MAX;
  return s->end > s->start ? s->end : s->start + 1;
}

static bool overlap(const script *a, const script *b) { return a != b && a->start < end_of(b) && b->start < end_of(a); }

static bool conflict(const play *p, const script *a, const script *b) {
  for (int k = 0; k < p->keys; k++) {
    bool ours = reads(a, k) + writes(a, k) > 0, theirs = reads(b, k) + writes(b, k) > 0;
    if (overlap(a, b) && ours && theirs && writes(a, k) + writes(b, k) > 0) return true;
  }
  return false;
}

/* Others, not the same one, wrote the one key and the other while it ran. */
static bool fork_around(const play *p, const script *s, int x, int y) {
  for (int a = 0; a < p->txns; a++) {
    for (int b = 0; b < p->txns; b++) {
      if (a == b || !overlap(s, &p->txn[a]) || !overlap(s, &p->txn[b])) continue;
      if (writes(&p->txn[a], x) > 0 && writes(&p->txn[b], y) > 0) return true;
    }
  }
  return false;
}

static bool one_key(isoproof_chance chance, const script *a, const script *b, int k) {
  switch (chance) {
  case ISOPROOF_CHANCE_ABORTED_READ:
    return a->status == ISOPROOF_TXN_ABORTED && writes(a, k) > 0 && reads(b, k) > 0;
  case ISOPROOF_CHANCE_INTERMEDIATE_READ:
    return writes(a, k) > 1 && reads(b, k) > 0;
  case ISOPROOF_CHANCE_NON_REPEATABLE_READ:
    return reads(a, k) > 1 && writes(b, k) > 0;
  case ISOPROOF_CHANCE_LOST_UPDATE:
    return reads(a, k) > 0 && writes(a, k) > 0 && reads(b, k) > 0 && writes(b, k) > 0;
  default:
    return false;
  }
}

static bool two_keys(isoproof_chance chance, const play *p, const script *a, const script *b, int x, int y) {
  switch (chance) {
  case ISOPROOF_CHANCE_DIRTY_WRITE:
    return writes(a, x) > 0 && writes(a, y) > 0 && writes(b, x) > 0 && writes(b, y) > 0;
  case ISOPROOF_CHANCE_FRACTURED_READ:
    return writes(a, x) > 0 && writes(a, y) > 0 && reads(b, x) > 0 && reads(b, y) > 0;
  case ISOPROOF_CHANCE_LONG_FORK:
    return reads(a, x) > 0 && reads(a, y) > 0 && reads(b, x) > 0 && reads(b, y) > 0 && fork_around(p, a, x, y) &&
           fork_around(p, b, x, y);
  case ISOPROOF_CHANCE_WRITE_SKEW:
    return reads(a, x) > 0 && writes(a, y) > 0 && reads(b, y) > 0 && writes(b, x) > 0;
  default:
    return false;
  }
}

/* Pairs of transactions, once for each key or two keys, whichever of the two plays which part. */
static uint64_t count_pairs(const play *p, isoproof_chance chance) {
  uint64_t count = 0;
  for (int i = 0; i < p->txns; i++) {
    for (int j = 0; j < i; j++) {
      const script *a = &p->txn[i], *b = &p->txn[j];
      if (!overlap(a, b)) continue;
      for (int x = 0; x < p->keys; x++) {
        count += one_key(chance, a, b, x) || one_key(chance, b, a, x);
        for (int y = 0; y < x; y++) count += two_keys(chance, p, a, b, x, y) || two_keys(chance, p, b, a, x, y);
      }
    }
  }
  return count;
}

/* ---- tests ---- */

static void counts_every_pair(void **state) {
  (void)state;
  uint64_t seen[ISOPROOF_CHANCES] = {0};
  for (int round = 0; round < ROUNDS; round++) {
    play p;
    make_play(&p);
    isoproof_history *history = build(&p);
    isoproof_effort effort = {.struct_size = sizeof effort};
    assert_ok(isoproof_history_effort(history, NULL, &effort, NULL));
    assert_true(effort.has_times);
    assert_false(effort.at_least);
    assert_int_equal(effort.transactions, p.txns);
    for (int chance = 0; chance < ISOPROOF_CHANCES; chance++) {
      uint64_t expected = count_pairs(&p, (isoproof_chance)chance);
      if (effort.chances[chance] != expected)
        fail_msg("round %d, %s: expected %llu, found %llu", round, isoproof_chance_at((size_t)chance)->name,
                 (unsigned long long)expected, (unsigned long long)effort.chances[chance]);
      seen[chance] += expected;
    }
    uint64_t conflicting = 0;
    for (int i = 0; i < p.txns; i++) {
      bool met = false;
      for (int j = 0; j < p.txns; j++) met = met || conflict(&p, &p.txn[i], &p.txn[j]);
      conflicting += met;
    }
    assert_int_equal(effort.conflicting, conflicting);
    isoproof_history_free(history);
  }
  for (int chance = 0; chance < ISOPROOF_CHANCES; chance++) assert_true(seen[chance] > 100);
}

static void counts_versions(void **state) {
  (void)state;
  /* Three versions of key 0, one of key 1; key 2 is only read, key 3 written in vain. */
  play p = {.txns = 3, .keys = 4};
  p.txn[0] = (script){0, 4, ISOPROOF_TXN_COMMITTED, 0, 5, {{false, 0}, {false, 0}, {false, 1}, {true, 2}}};
  p.txn[1] = (script){1, 1, ISOPROOF_TXN_COMMITTED, 6, 9, {{false, 0}}};
  p.txn[2] = (script){2, 1, ISOPROOF_TXN_ABORTED, 6, 9, {{false, 3}}};
  isoproof_history *history = build(&p);
  isoproof_effort effort = {.struct_size = sizeof effort};
  assert_ok(isoproof_history_effort(history, NULL, &effort, NULL));
  assert_int_equal(effort.keys_written, 2);
  assert_int_equal(effort.versions_min, 1);
  assert_int_equal(effort.versions_median, 1);
  assert_int_equal(effort.versions_max, 3);
  assert_int_equal(effort.concurrency_max, 2);
  isoproof_history_free(history);
}

/* Without times nothing is known of what ran at once, and an empty history is no trouble. */
static void bears_with_less(void **state) {
  (void)state;
  isoproof_builder *builder;
  isoproof_history *history;
  uint32_t session;
  isoproof_effort effort = {.struct_size = sizeof effort};
  assert_ok(isoproof_builder_new(&builder, NULL));
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  assert_ok(isoproof_history_effort(history, NULL, &effort, NULL));
  assert_int_equal(effort.keys_written + effort.transactions, 0);
  isoproof_history_free(history);
  isoproof_builder_free(builder);
  assert_ok(isoproof_builder_new(&builder, NULL));
  assert_ok(isoproof_builder_session(builder, isoproof_integer(0), &session, NULL));
  assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, NULL));
  assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(1), isoproof_integer(1), NULL));
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  assert_ok(isoproof_history_effort(history, NULL, &effort, NULL));
  assert_false(effort.has_times);
  assert_int_equal(effort.keys_written, 1);
  assert_int_equal(effort.versions_max, 1);
  isoproof_history_free(history);
  isoproof_builder_free(builder);
}

/* A transaction with too many keys is not looked at in full, and that is said. */
static void says_when_it_is_a_bound(void **state) {
  (void)state;
  enum { MANY = 40 };
  isoproof_builder *builder;
  isoproof_history *history;
  isoproof_effort effort = {.struct_size = sizeof effort};
  int64_t value = 1;
  assert_ok(isoproof_builder_new(&builder, NULL));
  for (int t = 0; t < 2; t++) {
    uint32_t session;
    assert_ok(isoproof_builder_session(builder, isoproof_integer(t), &session, NULL));
    assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, NULL));
    assert_ok(isoproof_builder_times(builder, 0, 10, NULL));
    for (int k = 0; k < MANY; k++)
      assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_WRITE, isoproof_integer(k), isoproof_integer(value++), NULL));
  }
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  assert_ok(isoproof_history_effort(history, NULL, &effort, NULL));
  assert_true(effort.at_least);
  assert_true(effort.chances[ISOPROOF_CHANCE_DIRTY_WRITE] > 0);
  assert_true(effort.chances[ISOPROOF_CHANCE_DIRTY_WRITE] < MANY * (MANY - 1) / 2);
  isoproof_history_free(history);
  isoproof_builder_free(builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_every_pair), cmocka_unit_test(counts_versions),
                                     cmocka_unit_test(bears_with_less), cmocka_unit_test(says_when_it_is_a_bound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
