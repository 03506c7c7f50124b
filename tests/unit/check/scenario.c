/* Counterexamples of the strong levels: on random histories, everything that brute force finds violated is refuted by a
 * scenario of which nothing can be left out, which stands up to the independent judge, has a name and is told; and the
 * judge sees through scenarios that were tampered with.  ISOPROOF_RANDOM_HISTORIES and ISOPROOF_RANDOM_SEED as in
 * weak.c.
 */
#include "tests/unit/unit.h"

#include "check/strong/scenario/make.h"
#include "explain/scenario.h"
#include "history/real_time.h"
#include "tests/oracle/facts.h"
#include "tests/oracle/oracle.h"
#include "tests/random/random_history.h"
#include "verify/scenario.h"

enum { MOST = 16 };

/* ---- brute force over the orders of the writers, from links alone ---- */

typedef struct {
  uint32_t row[2 * MOST];
} matrix;

typedef struct {
  iso_rule rule;
  unsigned count;
  uint32_t txn[MOST];
  const iso_view *view;
  const iso_link *links;
  size_t link_count, without; /* the link to leave out; SIZE_MAX for none */
  unsigned left_out;          /* the transaction to leave out; MOST for none */
  bool on[MOST];
} problem;

static bool is_acyclic(matrix m, unsigned nodes) {
  for (unsigned via = 0; via < nodes; via++) {
    for (unsigned i = 0; i < nodes; i++) {
      if (m.row[i] >> via & 1) m.row[i] |= m.row[via];
    }
  }
  for (unsigned i = 0; i < nodes; i++) {
    if (m.row[i] >> i & 1) return false;
  }
  return true;
}

static unsigned number_of(const problem *p, uint32_t txn) {
  for (unsigned i = 0; i < p->count; i++) {
    if (p->txn[i] == txn) return p->on[i] ? i : MOST;
  }
  return MOST;
}

static bool writes(const problem *p, unsigned i, uint32_t key) { return iso_view_writes(p->view, p->txn[i], key); }

/* Steps (SO, WR, RT, WW) and misses (RW) under an order of writers. */
static void relate(const problem *p, const matrix *before, matrix *plain, matrix *ww, matrix *rw) {
  memset(plain, 0, sizeof *plain);
  memset(rw, 0, sizeof *rw);
  *ww = *before;
  for (size_t i = 0; i < p->link_count; i++) {
    const iso_link *l = &p->links[i];
    if (i == p->without) continue;
    unsigned to = number_of(p, l->to), from = l->from == ISO_INITIAL ? MOST : number_of(p, l->from);
    if (to == MOST || (from == MOST && l->from != ISO_INITIAL)) continue;
    if (l->kind == ISO_EDGE_WW) {
      ww->row[from] |= 1u << to;
      continue;
    }
    if (from != MOST) plain->row[from] |= 1u << to;
    if (l->kind != ISO_EDGE_WR) continue;
    for (unsigned s = 0; s < p->count; s++) {
      if (!p->on[s] || s == to || s == from || !writes(p, s, l->key)) continue;
      if (from == MOST || before->row[from] >> s & 1) rw->row[to] |= 1u << s;
    }
  }
}

static bool holds(const problem *p, const matrix *before) {
  matrix plain, ww, rw, m;
  unsigned n = p->count;
  relate(p, before, &plain, &ww, &rw);
  memset(&m, 0, sizeof m);
  if (p->rule == ISO_RULE_SNAPSHOT || p->rule == ISO_RULE_PREFIX) {
    for (unsigned i = 0; i < n; i++) {
      uint32_t ww_to = ww.row[i];
      m.row[i] |= 1u << (n + i);    /* begin to commit */
      m.row[n + i] |= plain.row[i]; /* commit to begin */
      m.row[i] |= rw.row[i] << n;   /* begin to commit */
      m.row[n + i] |= p->rule == ISO_RULE_PREFIX ? ww_to << n : ww_to;
    }
    return is_acyclic(m, 2 * n);
  }
  for (unsigned i = 0; i < n; i++) m.row[i] = plain.row[i] | ww.row[i];
  if (p->rule == ISO_RULE_SERIALIZABLE) {
    for (unsigned i = 0; i < n; i++) m.row[i] |= rw.row[i];
    return is_acyclic(m, n);
  }
  if (!is_acyclic(m, n)) return false;
  if (p->rule == ISO_RULE_PARALLEL) {
    for (unsigned via = 0; via < n; via++) {
      for (unsigned i = 0; i < n; i++) {
        if (m.row[i] >> via & 1) m.row[i] |= m.row[via];
      }
    }
  }
  for (unsigned r = 0; r < n; r++) {
    for (unsigned s = 0; s < n; s++) {
      if (rw.row[r] >> s & 1 && m.row[s] >> r & 1) return false;
    }
  }
  return true;
}

static bool share_a_key(const problem *p, unsigned a, unsigned b) {
  for (uint32_t i = p->view->write_first[p->txn[a]]; i < p->view->write_first[p->txn[a] + 1]; i++) {
    if (writes(p, b, p->view->write_key[i])) return true;
  }
  return false;
}

/* Whether some order of the pairs from (a, b) on goes with `before`. */
static bool can_be(const problem *p, matrix before, unsigned a, unsigned b) {
  if (!holds(p, &before)) return false;
  for (; a < p->count; a++, b = a + 1) {
    for (; b < p->count; b++) {
      if (!p->on[a] || !p->on[b] || !share_a_key(p, a, b)) continue;
      for (int swapped = 0; swapped < 2; swapped++) {
        matrix more = before;
        more.row[swapped ? b : a] |= 1u << (swapped ? a : b);
        if (can_be(p, more, a, b + 1)) return true;
      }
      return false;
    }
  }
  return true;
}

static bool has_solution(const iso_view *view, const iso_scenario *s, size_t without, unsigned left_out) {
  problem p = {.rule = s->level->rule,
               .count = (unsigned)s->txns.count,
               .view = view,
               .links = s->known.items,
               .link_count = s->known.count,
               .without = without};
  assert_true(p.count <= MOST);
  for (unsigned i = 0; i < p.count; i++) {
    p.txn[i] = s->txns.items[i];
    p.on[i] = i != left_out;
  }
  matrix none;
  memset(&none, 0, sizeof none);
  return can_be(&p, none, 0, 1);
}

/* ---- histories ---- */

/* The sketch with times: transactions take a while, one after the other in a session, in the order of the sketch. */
static isoproof_history *timed_history(const sketch *s, uint64_t *random) {
  isoproof_builder *builder;
  isoproof_history *history = NULL;
  int64_t session_end[SKETCH_SESSIONS] = {0};
  assert_ok(isoproof_builder_new(&builder, NULL));
  for (unsigned t = 0; t < s->count; t++) {
    const sketch_txn *txn = &s->txns[t];
    uint32_t session;
    int64_t start = session_end[txn->session] + 1 + (int64_t)unit_below(random, 3 + 2 * t);
    int64_t end = start + 1 + (int64_t)unit_below(random, 6);
    session_end[txn->session] = end;
    assert_ok(isoproof_builder_session(builder, isoproof_integer(txn->session), &session, NULL));
    assert_ok(isoproof_builder_begin(builder, session, txn->status, NULL));
    assert_ok(
        isoproof_builder_times(builder, start, txn->status == ISOPROOF_TXN_UNKNOWN ? ISOPROOF_NO_TIME : end, NULL));
    for (unsigned i = 0; i < txn->count; i++) {
      const sketch_op *op = &txn->ops[i];
      isoproof_scalar value = !op->write && op->value == 0 ? isoproof_nil() : isoproof_integer(op->value);
      assert_ok(isoproof_builder_op(builder, op->write ? ISOPROOF_OP_WRITE : ISOPROOF_OP_READ,
                                    isoproof_integer(op->key), value, NULL));
    }
  }
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  isoproof_builder_free(builder);
  return history;
}

/* Lists: transactions append to keys and read what was there at some earlier moment, and their own. */
static isoproof_history *list_history(uint64_t *random) {
  enum { TXNS = 8, KEYS = 3, LONGEST = 64 };
  isoproof_builder *builder;
  isoproof_history *history = NULL;
  isoproof_scalar list[KEYS][LONGEST];
  unsigned length[TXNS + 1][KEYS] = {{0}};
  assert_ok(isoproof_builder_new(&builder, NULL));
  unsigned txns = 2 + (unsigned)unit_below(random, TXNS - 1), sessions = 1 + (unsigned)unit_below(random, 4);
  unsigned keys = 1 + (unsigned)unit_below(random, KEYS);
  for (unsigned t = 0; t < txns; t++) {
    uint32_t session;
    unsigned base = (unsigned)unit_below(random, t + 1), own[KEYS] = {0};
    assert_ok(
        isoproof_builder_session(builder, isoproof_integer((int64_t)unit_below(random, sessions)), &session, NULL));
    assert_ok(isoproof_builder_begin(builder, session, ISOPROOF_TXN_COMMITTED, NULL));
    memcpy(length[t + 1], length[t], sizeof length[t]);
    for (unsigned i = 0, ops = 1 + (unsigned)unit_below(random, 3); i < ops; i++) {
      unsigned key = (unsigned)unit_below(random, keys);
      isoproof_scalar name = isoproof_integer(key);
      if (unit_below(random, 2) == 0) {
        isoproof_scalar value = isoproof_integer(length[t + 1][key] + 1);
        list[key][length[t + 1][key]++] = value;
        own[key]++;
        assert_ok(isoproof_builder_op(builder, ISOPROOF_OP_APPEND, name, value, NULL));
      } else {
        isoproof_scalar shown[LONGEST];
        unsigned count = length[base][key];
        /* Under own appends everything before them shows, as elements have one place only. */
        if (own[key] > 0) count = length[t + 1][key];
        memcpy(shown, list[key], count * sizeof shown[0]);
        assert_ok(isoproof_builder_elements(builder, ISOPROOF_OP_READ_LIST, name, shown, count, NULL));
      }
    }
  }
  assert_ok(isoproof_builder_finish(builder, &history, NULL));
  isoproof_builder_free(builder);
  return history;
}

/* ---- one history ---- */

typedef struct {
  unsigned refuted[ISO_LEVEL_COUNT], split, names[ISO_ANOMALY_COUNT];
  size_t most_cases;
} tally;

static void check_told(const isoproof_history *h, const iso_scenario *s, tally *seen) {
  iso_arena arena = ISO_ARENA_EMPTY;
  isoproof_anomaly told = {.struct_size = sizeof told};
  memset(&told, 0, sizeof told);
  assert_ok(iso_explain_scenario(h, s, &arena, &told, NULL));
  assert_non_null(told.explanation);
  assert_true(told.txn_count >= 2 && told.txn_count == s->txns.count);
  assert_true(told.edge_count >= 2);
  size_t leaves = 0;
  for (size_t i = 0; i < s->cases.count; i++) leaves += s->cases.items[i].is_leaf;
  assert_int_equal(told.case_count, leaves > 1 ? leaves : 0);
  for (size_t i = 0; i < told.case_count; i++) {
    assert_true(told.cases[i].order_count > 0 && told.cases[i].edge_count >= 2);
    assert_non_null(told.cases[i].explanation);
  }
  iso_anomaly name = iso_scenario_name(h, s);
  assert_true(name < ISO_ANOMALY_COUNT);
  seen->names[name]++;
  seen->split += leaves > 1;
  if (s->cases.count > seen->most_cases) seen->most_cases = s->cases.count;
  iso_arena_free(&arena);
}

/* Every link is used in some cycle: as a step, as what was read, or as the reason of an order. */
static bool is_used(const iso_scenario *s, const iso_link *known) {
  for (size_t i = 0; i < s->links.count; i++) {
    const iso_link *l = &s->links.items[i];
    if (l->kind == known->kind && l->from == known->from && l->to == known->to) return true;
    if (l->kind == ISO_EDGE_RW && known->kind == ISO_EDGE_WR && l->read_op == known->read_op) return true;
    uint32_t before = l->kind == ISO_EDGE_RW ? l->version : l->from;
    if (l->reason > ISO_ORDER_ASSUMED && before == known->from && l->to == known->to) return true;
  }
  return false;
}

static void tamper(const isoproof_history *h, const uint8_t *counts, iso_scenario *s, uint64_t *random);

/* What the name says is forbidden from some level on; the oracle must find that level violated. */
static void check_name(const isoproof_history *h, const iso_scenario *s, const oracle_verdicts *verdicts) {
  const isoproof_anomaly_info *info = isoproof_anomaly_at(iso_scenario_name(h, s));
  oracle_level level = info->level != NULL ? oracle_level_find(info->level) : ORACLE_LEVELS;
  if (level < ORACLE_LEVELS && verdicts->satisfied[level]) {
    fail_msg("%s: %s is said to break %s, which holds", s->level->id, info->code, info->level);
  }
}

/* Returns whether the scenario of a level over all transactions is refuted, having checked all that is claimed. */
static bool check_level(isoproof_history *h, const iso_view *view, const iso_versions *versions, unsigned number,
                        const oracle_verdicts *verdicts, uint64_t *random, tally *seen) {
  const iso_strong_level *level = iso_strong_level_at(number);
  uint32_t all[64];
  size_t count = 0;
  isoproof_error error;
  iso_scenario s;
  for (uint32_t t = 0; t < h->txns; t++) {
    if (view->counts[t]) all[count++] = t;
  }
  assert_ok_error(iso_scenario_make(view, level, versions, all, count, NULL, &s, &error), error);
  bool refuted = s.refuted;
  if (refuted) {
    seen->refuted[number]++;
    if (!iso_verify_scenario(h, view->counts, &s)) fail_msg("%s: a scenario is not borne out", level->id);
    assert_false(has_solution(view, &s, SIZE_MAX, MOST));
    for (size_t i = 0; i < s.known.count; i++) {
      if (!has_solution(view, &s, i, MOST)) fail_msg("%s: a link can be left out", level->id);
      if (!is_used(&s, &s.known.items[i])) fail_msg("%s: a link is not used", level->id);
    }
    for (unsigned i = 0; i < s.txns.count; i++) {
      if (!has_solution(view, &s, SIZE_MAX, i)) fail_msg("%s: a transaction can be left out", level->id);
    }
    check_told(h, &s, seen);
    if (verdicts != NULL) check_name(h, &s, verdicts);
    tamper(h, view->counts, &s, random);
  }
  iso_scenario_free(&s);
  return refuted;
}

/* ---- tampering ---- */

static bool stands(const isoproof_history *h, const uint8_t *counts, const iso_scenario *s) {
  return iso_verify_scenario(h, counts, s);
}

/* Changes one thing after the other, each of which must be noticed, and changes it back. */
static void tamper(const isoproof_history *h, const uint8_t *counts, iso_scenario *s, uint64_t *random) {
  iso_link *link = &s->links.items[unit_below(random, s->links.count)], link_was = *link;
  iso_branch *c = &s->cases.items[unit_below(random, s->cases.count)], case_was = *c;
  uint32_t other = (uint32_t)unit_below(random, h->txns);
  link->to = other;
  if (other != link_was.to) assert_false(stands(h, counts, s));
  *link = link_was;
  link->from = other;
  if (other != link_was.from) assert_false(stands(h, counts, s));
  *link = link_was;
  link->to = h->txns;
  assert_false(stands(h, counts, s));
  *link = link_was;
  if (link->read_op != ISO_NO_OP) {
    link->read_op = ISO_NO_OP;
    assert_false(stands(h, counts, s));
    *link = link_was;
    link->key = ISO_NO_KEY;
    assert_false(stands(h, counts, s));
    *link = link_was;
  }
  if (link->reason == ISO_ORDER_ASSUMED) {
    link->reason = ISO_ORDER_INITIAL;
    assert_false(stands(h, counts, s));
    link->reason = ISO_ORDER_LIST;
    link->order_op = (uint32_t)unit_below(random, h->ops);
    if (h->op_kind[link->order_op] != ISOPROOF_OP_READ_LIST) assert_false(stands(h, counts, s));
    *link = link_was;
  }
  if (c->is_leaf) {
    c->links--;
    assert_false(stands(h, counts, s));
    *c = case_was;
    c->first_link = UINT32_MAX;
    assert_false(stands(h, counts, s));
    *c = case_was;
  } else {
    c->then[0] = c->then[1];
    assert_false(stands(h, counts, s));
    *c = case_was;
    c->then[1] = 0;
    assert_false(stands(h, counts, s));
    *c = case_was;
    c->after = c->before;
    assert_false(stands(h, counts, s));
    *c = case_was;
    c->key = h->keys;
    assert_false(stands(h, counts, s));
    *c = case_was;
    /* Each side keeps its cycles, but they are now said to follow from the opposite order. */
    c->then[0] = case_was.then[1];
    c->then[1] = case_was.then[0];
    assert_false(stands(h, counts, s));
    *c = case_was;
  }
  s->refuted = false;
  assert_false(stands(h, counts, s));
  s->refuted = true;
  assert_true(stands(h, counts, s));
}

/* ---- against the oracle ---- */

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = getenv(name);
  return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

/* What the oracle says of a history; false where it has anomalies within transactions, or cannot be judged. */
static bool clean_verdicts(const isoproof_history *h, oracle_verdicts *verdicts) {
  if (!oracle_judge(h, verdicts)) return false;
  for (int tap = 0; tap < ORACLE_TAPS; tap++) {
    if (tap != ORACLE_TAP_CYCLIC && verdicts->tap[tap]) return false;
  }
  return !verdicts->tap[ORACLE_TAP_CYCLIC];
}

static void check_history(isoproof_history *h, uint64_t *random, tally *seen) {
  oracle_verdicts verdicts;
  iso_view view;
  iso_versions versions;
  isoproof_resolution resolution = {.struct_size = sizeof resolution};
  bool clean = clean_verdicts(h, &verdicts);
  assert_ok(isoproof_history_resolve(h, NULL, &resolution, NULL));
  if (resolution.duplicate_writes > 0) return;
  assert_ok(iso_view_make(h, NULL, &view, NULL));
  assert_ok(iso_versions_make(&view, &versions, NULL));
  const iso_strong_level *level;
  for (unsigned i = 0; (level = iso_strong_level_at(i)) != NULL; i++) {
    if (level->real_time && !iso_has_real_time(h)) continue;
    bool refuted = check_level(h, &view, &versions, i, clean ? &verdicts : NULL, random, seen);
    oracle_level known = oracle_level_find(level->id);
    if (!clean || isoproof_level_at(level->level)->family == ISOPROOF_LEVEL_MODEL || known == ORACLE_LEVELS) continue;
    if (refuted == verdicts.satisfied[known]) fail_msg("%s: the oracle disagrees", level->id);
  }
  iso_versions_free(&versions);
  iso_view_free(&view);
}

static void print_tally(const tally *seen) {
  if (getenv("ISOPROOF_VERBOSE") == NULL) return;
  const iso_strong_level *level;
  for (unsigned i = 0; (level = iso_strong_level_at(i)) != NULL; i++)
    print_message("%s: %u\n", level->id, seen->refuted[i]);
  for (unsigned i = 0; i < ISO_ANOMALY_COUNT; i++) {
    if (seen->names[i] > 0) print_message("  %s: %u\n", isoproof_anomaly_at(i)->code, seen->names[i]);
  }
  print_message("split: %u, most cases: %zu\n", seen->split, seen->most_cases);
}

static void registers(void **state) {
  (void)state;
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 120000) / 10, random = setting("ISOPROOF_RANDOM_SEED", 31);
  tally seen;
  memset(&seen, 0, sizeof seen);
  for (uint64_t i = 0; i < histories; i++) {
    sketch s;
    sketch_draw(&random, &s);
    isoproof_history *h = i % 3 == 0 ? timed_history(&s, &random) : sketch_history(&s);
    check_history(h, &random, &seen);
    isoproof_history_free(h);
  }
  print_tally(&seen);
  for (unsigned i = 0; iso_strong_level_at(i) != NULL; i++) assert_true(seen.refuted[i] > 0);
  assert_true(seen.split > 0);
}

static void lists(void **state) {
  (void)state;
  uint64_t histories = setting("ISOPROOF_RANDOM_HISTORIES", 120000) / 10, random = setting("ISOPROOF_RANDOM_SEED", 37);
  tally seen;
  memset(&seen, 0, sizeof seen);
  for (uint64_t i = 0; i < histories; i++) {
    isoproof_history *h = list_history(&random);
    check_history(h, &random, &seen);
    isoproof_history_free(h);
  }
  print_tally(&seen);
}

/* ---- examples with a name ---- */

static void examples_have_their_names(void **state) {
  (void)state;
  static const struct {
    const char *example, *level, *code;
  } named[] = {
      {"lost-update", "update-atomic", "lost-update"},
      {"lost-update", "parallel-snapshot-isolation", "lost-update"},
      {"lost-update", "snapshot-isolation", "lost-update"},
      {"lost-update", "serializable", "lost-update"},
      {"write-skew", "serializable", "write-skew"},
      {"long-fork", "prefix", "long-fork"},
      {"long-fork", "snapshot-isolation", "long-fork"},
      {"fractured-read", "update-atomic", "fractured-read"},
      {"fractured-read", "snapshot-isolation", "fractured-read"},
      {"TAP-l", "parallel-snapshot-isolation", "fractured-read"},
      {"causality-violation", "parallel-snapshot-isolation", "causality-violation"},
      {"non-monotonic-read", "prefix", "non-monotonic-read"},
      {"non-repeatable-read", "snapshot-isolation", "non-repeatable-read"},
      {"stale-read", "strong-snapshot-isolation", "stale-read"},
      {"G0", "snapshot-isolation", "dirty-write"},
      {"G0-process", "snapshot-isolation", "G0-process"},
      {"G0-realtime", "strict-serializable", "G0-realtime"},
      {"G1c", "prefix", "G1c"},
      {"G1c-process", "serializable", "G1c-process"},
      {"G1c-realtime", "strong-snapshot-isolation", "G1c-realtime"},
      {"G-nonadjacent-process", "snapshot-isolation", "G-nonadjacent-process"},
      {"G-nonadjacent-realtime", "strong-snapshot-isolation", "G-nonadjacent-realtime"},
      {"G2-item-process", "serializable", "G2-item-process"},
      {"G2-item-realtime", "strict-serializable", "G2-item-realtime"},
      {"read-only-anomaly", "serializable", "G2-item"},
  };
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    const char *text = isoproof_anomaly_find(named[i].example)->example;
    isoproof_history *h;
    isoproof_error error;
    iso_view view;
    iso_versions versions;
    iso_scenario s;
    uint32_t all[16], count = 0;
    const iso_strong_level *level = iso_strong_level_of(isoproof_level_find(named[i].level));
    assert_ok_error(isoproof_history_open_memory(text, strlen(text), "example", NULL, NULL, &h, &error), error);
    assert_ok(iso_view_make(h, NULL, &view, NULL));
    assert_ok(iso_versions_make(&view, &versions, NULL));
    for (uint32_t t = 0; t < h->txns; t++) {
      if (view.counts[t]) all[count++] = t;
    }
    assert_ok_error(iso_scenario_make(&view, level, &versions, all, count, NULL, &s, &error), error);
    if (!s.refuted) fail_msg("the example of %s satisfies %s", named[i].example, named[i].level);
    assert_true(iso_verify_scenario(h, view.counts, &s));
    const char *code = isoproof_anomaly_at(iso_scenario_name(h, &s))->code;
    if (strcmp(code, named[i].code) != 0) fail_msg("%s at %s is %s", named[i].example, named[i].level, code);
    iso_scenario_free(&s);
    iso_versions_free(&versions);
    iso_view_free(&view);
    isoproof_history_free(h);
  }
}

/* A part of a large history that does violate the level is found among thousands of transactions that do not. */
static void needles(void **state) {
  (void)state;
  static const struct {
    isoproof_sim_bug bug;
    const char *level, *code;
  } bugs[] = {{ISOPROOF_SIM_BUG_LOST_UPDATE, "snapshot-isolation", "lost-update"},
              {ISOPROOF_SIM_BUG_WRITE_SKEW, "serializable", "write-skew"},
              {ISOPROOF_SIM_BUG_LONG_FORK, "prefix", "long-fork"},
              {ISOPROOF_SIM_BUG_CAUSALITY_VIOLATION, "parallel-snapshot-isolation", "causality-violation"}};
  for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
    isoproof_sim_options options = {.struct_size = sizeof options};
    isoproof_history *h;
    iso_view view;
    iso_scenario s;
    uint32_t all[512], count = 0;
    isoproof_sim_defaults(&options);
    options.struct_size = sizeof options;
    options.seed = 5;
    options.sessions = 10;
    options.txns = 300;
    options.keys = 100;
    options.ops_min = options.ops_max = 6;
    options.bugs[bugs[i].bug] = 1;
    assert_ok(isoproof_simulate(&options, NULL, &h, NULL, NULL));
    assert_ok(iso_view_make(h, NULL, &view, NULL));
    for (uint32_t t = 0; t < h->txns && count < 512; t++) {
      if (view.counts[t]) all[count++] = t;
    }
    const iso_strong_level *level = iso_strong_level_of(isoproof_level_find(bugs[i].level));
    assert_ok(iso_scenario_make(&view, level, NULL, all, count, NULL, &s, NULL));
    assert_true(s.refuted && s.txns.count <= 8);
    assert_true(iso_verify_scenario(h, view.counts, &s));
    assert_string_equal(isoproof_anomaly_at(iso_scenario_name(h, &s))->code, bugs[i].code);
    iso_scenario_free(&s);
    iso_view_free(&view);
    isoproof_history_free(h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(examples_have_their_names), cmocka_unit_test(needles),
                                     cmocka_unit_test(registers), cmocka_unit_test(lists)};
  return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
