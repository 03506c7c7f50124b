/* Judges levels straight from their definitions: relations closed under composition, and enumerated orders. */
#include "tests/oracle/oracle.h"

#include <string.h>

#include "tests/oracle/facts.h"

/* ---- relations ---- */

static relation join(const relation *a, const relation *b) {
  relation r;
  for (unsigned i = 0; i < FACTS_NODES; i++) r.row[i] = a->row[i] | b->row[i];
  return r;
}

/* First a, then b. */
static relation then(const relation *a, const relation *b) {
  relation r = {{0}};
  for (unsigned i = 0; i < FACTS_NODES; i++)
    for (unsigned j = 0; j < FACTS_NODES; j++)
      if (a->row[i] >> j & 1) r.row[i] |= b->row[j];
  return r;
}

static relation closure(relation r) {
  for (unsigned via = 0; via < FACTS_NODES; via++)
    for (unsigned i = 0; i < FACTS_NODES; i++)
      if (r.row[i] >> via & 1) r.row[i] |= r.row[via];
  return r;
}

static bool irreflexive(const relation *r) {
  for (unsigned i = 0; i < FACTS_NODES; i++)
    if (r->row[i] >> i & 1) return false;
  return true;
}

static bool acyclic(const relation *r) {
  relation all = closure(*r);
  return irreflexive(&all);
}

/* ---- levels by axiom: read committed, read atomic, causal, the session guarantees ----
 * A total commit order exists that contains the causal order (session order and reads-from, closed), agrees with
 * what list reads say, and puts t2 before t1 for every read of x by t3 from t1 and every other writer t2 of x that
 * stands in the level's relation to t3.  None of these relations mentions the commit order, so it exists if and only if
 * the edges that it must contain have no cycle. */

/* What every commit order contains. */
static relation given_order(const facts *f) {
  relation r = join(&f->so, &f->wr);
  for (unsigned k = 0; k < f->keys; k++) r = join(&r, &f->list_order[k]);
  for (unsigned i = 1; i < f->nodes; i++) r.row[0] |= 1u << i;
  return r;
}

/* Read committed: t3 has read another key from t2 before it reads x. */
static bool read_before(const facts *f, unsigned t2, const external_read *read) {
  for (unsigned i = 0; i < f->read_count; i++) {
    const external_read *earlier = &f->reads[i];
    if (earlier->reader == read->reader && earlier->writer == t2 && earlier->key != read->key &&
        earlier->position < read->position)
      return true;
  }
  return false;
}

/* `seen` is the level's relation between t2 and t3; NULL stands for that of read committed. */
static bool commit_order_exists(const facts *f, const relation *seen) {
  relation order = given_order(f);
  for (unsigned i = 0; i < f->read_count; i++) {
    const external_read *read = &f->reads[i];
    for (unsigned t2 = 1; t2 < f->nodes; t2++) {
      if (t2 == read->writer || t2 == read->reader || !(f->writers[read->key] >> t2 & 1)) continue;
      if (seen != NULL ? seen->row[t2] >> read->reader & 1 : read_before(f, t2, read))
        order.row[t2] |= 1u << read->writer;
    }
  }
  return acyclic(&order);
}

/* ---- prefix ----
 * The same with a relation that mentions the commit order: t2 is, or comes in the commit order before, a transaction
 * that is in session order before t3 or that t3 reads from.  Here total orders are enumerated. */

typedef struct ordering {
  const facts *f;
  relation before; /* given order: row i has what must stand before i */
  relation direct; /* row i: what i follows in its session or reads from */
  int place[FACTS_NODES];
} ordering;

/* Whether t3, placed now, reads the last version of each key among those committed up to its last direct predecessor.
 */
static bool sees_prefix(const ordering *o, unsigned t3) {
  int horizon = -1;
  for (unsigned i = 1; i < o->f->nodes; i++)
    if (o->direct.row[t3] >> i & 1 && o->place[i] > horizon) horizon = o->place[i];
  for (unsigned r = 0; r < o->f->read_count; r++) {
    const external_read *read = &o->f->reads[r];
    if (read->reader != t3) continue;
    int from = read->writer == 0 ? -1 : o->place[read->writer];
    for (unsigned t2 = 1; t2 < o->f->nodes; t2++)
      if (o->f->writers[read->key] >> t2 & 1 && o->place[t2] > from && o->place[t2] <= horizon) return false;
  }
  return true;
}

static bool place_rest(ordering *o, uint32_t placed, unsigned count) {
  if (count + 1 == o->f->nodes) return true;
  for (unsigned t = 1; t < o->f->nodes; t++) {
    if (placed >> t & 1 || (o->before.row[t] & ~placed) != 0) continue;
    o->place[t] = (int)count;
    if (sees_prefix(o, t) && place_rest(o, placed | 1u << t, count + 1)) return true;
    o->place[t] = -1;
  }
  return false;
}

static bool prefix_order_exists(const facts *f) {
  ordering o = {.f = f};
  relation given = given_order(f), direct = join(&f->so, &f->wr);
  for (unsigned i = 0; i < FACTS_NODES; i++) o.place[i] = -1;
  for (unsigned i = 0; i < f->nodes; i++)
    for (unsigned j = 0; j < f->nodes; j++) {
      if (given.row[i] >> j & 1) o.before.row[j] |= 1u << i;
      if (direct.row[i] >> j & 1) o.direct.row[j] |= 1u << i;
    }
  return place_rest(&o, 1, 0);
}

/* ---- levels by version orders: serializable, snapshot isolation, ... ----
 * For every key a total order of its writers is chosen, which gives WW (earlier to later writer) and RW (reader of a
 * version to every later writer).  All conditions below only get harder to meet with more edges, so a choice is given
 * up as soon as the condition fails. */

typedef bool (*condition)(const facts *f, const relation *ww, const relation *rw);

static relation dependencies(const facts *f, const relation *ww) {
  relation r = join(&f->so, &f->wr);
  return join(&r, ww);
}

/* SO, WR, WW and RW together have no cycle. */
static bool is_serializable(const facts *f, const relation *ww, const relation *rw) {
  relation all = dependencies(f, ww);
  all = join(&all, rw);
  return acyclic(&all);
}

/* The same with real-time order. */
static bool is_strict(const facts *f, const relation *ww, const relation *rw) {
  relation all = dependencies(f, ww);
  all = join(&all, rw);
  all = join(&all, &f->rt);
  return acyclic(&all);
}

/* Steps of SO, WR or WW, each perhaps followed by one RW, form no cycle. */
static bool steps_are_acyclic(const relation *steps, const relation *rw) {
  relation longer = then(steps, rw), all = join(steps, &longer);
  return acyclic(&all);
}

static bool is_snapshot(const facts *f, const relation *ww, const relation *rw) {
  relation steps = dependencies(f, ww);
  return steps_are_acyclic(&steps, rw);
}

/* The same with real-time order among the steps. */
static bool is_strong_snapshot(const facts *f, const relation *ww, const relation *rw) {
  relation steps = dependencies(f, ww);
  steps = join(&steps, &f->rt);
  return steps_are_acyclic(&steps, rw);
}

/* No path of SO, WR and WW, perhaps followed by one RW, leads back to where it began. */
static bool is_parallel_snapshot(const facts *f, const relation *ww, const relation *rw) {
  relation paths = closure(dependencies(f, ww)), longer = then(&paths, rw);
  return irreflexive(&paths) && irreflexive(&longer);
}

/* SO, WR and WW have no cycle, and no single one of their edges followed by one RW leads back. */
static bool is_update_atomic(const facts *f, const relation *ww, const relation *rw) {
  relation steps = dependencies(f, ww), longer = then(&steps, rw);
  return acyclic(&steps) && irreflexive(&longer);
}

static bool version_orders_exist(const facts *f, condition holds, unsigned key, uint32_t placed, relation ww,
                                 relation rw);

/* Puts `next` behind the versions `placed` of a key and goes on. */
static bool place_version(const facts *f, condition holds, unsigned key, uint32_t placed, unsigned next, relation ww,
                          relation rw) {
  for (unsigned i = 1; i < f->nodes; i++)
    if (placed >> i & 1) ww.row[i] |= 1u << next;
  for (unsigned i = 0; i < f->read_count; i++) {
    const external_read *read = &f->reads[i];
    if (read->key == key && read->reader != next && (read->writer == 0 || placed >> read->writer & 1))
      rw.row[read->reader] |= 1u << next;
  }
  return holds(f, &ww, &rw) && version_orders_exist(f, holds, key, placed | 1u << next, ww, rw);
}

static bool version_orders_exist(const facts *f, condition holds, unsigned key, uint32_t placed, relation ww,
                                 relation rw) {
  while (key < f->keys && placed == f->writers[key]) {
    key++;
    placed = 0;
  }
  if (key >= f->keys) return holds(f, &ww, &rw);
  for (unsigned next = 1; next < f->nodes; next++) {
    if (!((f->writers[key] & ~placed) >> next & 1)) continue;
    uint32_t earlier = 0;
    for (unsigned i = 1; i < f->nodes; i++)
      if (f->list_order[key].row[i] >> next & 1) earlier |= 1u << i;
    if ((earlier & ~placed) == 0 && place_version(f, holds, key, placed, next, ww, rw)) return true;
  }
  return false;
}

static bool orders_exist(const facts *f, condition holds) {
  relation none = {{0}};
  return version_orders_exist(f, holds, 0, 0, none, none);
}

/* ---- all levels ---- */

bool oracle_judge_facts(const facts *f, oracle_level level) {
  relation direct = join(&f->so, &f->wr), causal = closure(direct), reads_then, writes_then;
  switch (level) {
  case ORACLE_CUT_ISOLATION:
    return true;
  case ORACLE_READ_COMMITTED:
    return commit_order_exists(f, NULL);
  case ORACLE_READ_ATOMIC:
    return commit_order_exists(f, &direct);
  case ORACLE_CAUSAL:
    return commit_order_exists(f, &causal);
  case ORACLE_PREFIX:
    return prefix_order_exists(f);
  case ORACLE_UPDATE_ATOMIC:
    return orders_exist(f, is_update_atomic);
  case ORACLE_PARALLEL_SNAPSHOT:
    return orders_exist(f, is_parallel_snapshot);
  case ORACLE_SNAPSHOT:
    return orders_exist(f, is_snapshot);
  case ORACLE_SERIALIZABLE:
    return orders_exist(f, is_serializable);
  case ORACLE_STRONG_SNAPSHOT:
    return orders_exist(f, is_strong_snapshot);
  case ORACLE_STRICT_SERIALIZABLE:
    return orders_exist(f, is_strict);
  case ORACLE_READ_YOUR_WRITES:
    return commit_order_exists(f, &f->so);
  case ORACLE_MONOTONIC_READS:
    reads_then = then(&f->wr, &f->so);
    return commit_order_exists(f, &reads_then);
  case ORACLE_MONOTONIC_WRITES:
    writes_then = then(&f->so, &f->wr);
    return commit_order_exists(f, &writes_then);
  case ORACLE_WRITES_FOLLOW_READS:
    reads_then = then(&f->wr, &f->so);
    writes_then = then(&reads_then, &f->wr);
    return commit_order_exists(f, &writes_then);
  case ORACLE_LEVELS:
    break;
  }
  return false;
}

/* Levels that TAP-j rules out: cut isolation, and everything from read atomic up. */
bool oracle_needs_repeatable_reads(oracle_level level) {
  return level != ORACLE_READ_COMMITTED && level < ORACLE_READ_YOUR_WRITES;
}

bool oracle_judge(const isoproof_history *history, oracle_verdicts *verdicts) {
  return oracle_judge_some(history, (1u << ORACLE_LEVELS) - 1, verdicts);
}

bool oracle_judge_some(const isoproof_history *history, uint32_t levels, oracle_verdicts *verdicts) {
  facts f;
  memset(verdicts, 0, sizeof *verdicts);
  if (!facts_gather(history, &f)) return false;
  relation direct = join(&f.so, &f.wr);
  f.tap[ORACLE_TAP_CYCLIC] = !acyclic(&direct);
  memcpy(verdicts->tap, f.tap, sizeof f.tap);
  bool broken = false;
  for (int t = 0; t < ORACLE_TAPS; t++) broken |= f.tap[t] && t != ORACLE_TAP_NON_REPEATABLE;
  for (int l = 0; l < ORACLE_LEVELS; l++) {
    oracle_level level = (oracle_level)l;
    if (!(levels >> l & 1)) continue;
    if (f.tap[ORACLE_TAP_NON_REPEATABLE] && oracle_needs_repeatable_reads(level)) continue;
    if (broken && level != ORACLE_CUT_ISOLATION) continue;
    verdicts->satisfied[l] = oracle_judge_facts(&f, level);
  }
  return true;
}

bool oracle_judge_unordered(const isoproof_history *history, bool *snapshot, bool *serializable) {
  static const relation none = {{0}};
  facts f;
  if (!facts_gather(history, &f)) return false;
  f.so = none;
  bool broken = false;
  for (int t = 0; t < ORACLE_TAPS; t++) broken |= f.tap[t] && t != ORACLE_TAP_CYCLIC;
  *snapshot = !broken && orders_exist(&f, is_snapshot);
  *serializable = !broken && orders_exist(&f, is_serializable);
  return true;
}

/* ---- names and implications ---- */

static const char *const level_ids[] = {
#define ORACLE_X(name, id) id,
    ORACLE_LEVEL_LIST(ORACLE_X)
#undef ORACLE_X
};

static const char *const tap_codes[] = {
#define ORACLE_X(name, code) code,
    ORACLE_TAP_LIST(ORACLE_X)
#undef ORACLE_X
};

const char *oracle_level_id(oracle_level level) { return level_ids[level]; }
const char *oracle_tap_code(oracle_tap tap) { return tap_codes[tap]; }

oracle_level oracle_level_find(const char *id) {
  int level = 0;
  while (level < ORACLE_LEVELS && strcmp(level_ids[level], id) != 0) level++;
  return (oracle_level)level;
}

/* Direct implications; the levels of a chain stand in the order in which one pass finds the transitive ones. */
static const oracle_level implications[][2] = {
    {ORACLE_STRICT_SERIALIZABLE, ORACLE_SERIALIZABLE},
    {ORACLE_STRICT_SERIALIZABLE, ORACLE_STRONG_SNAPSHOT},
    {ORACLE_STRONG_SNAPSHOT, ORACLE_SNAPSHOT},
    {ORACLE_SERIALIZABLE, ORACLE_SNAPSHOT},
    {ORACLE_SNAPSHOT, ORACLE_PREFIX},
    {ORACLE_SNAPSHOT, ORACLE_PARALLEL_SNAPSHOT},
    {ORACLE_PARALLEL_SNAPSHOT, ORACLE_CAUSAL},
    {ORACLE_PARALLEL_SNAPSHOT, ORACLE_UPDATE_ATOMIC},
    {ORACLE_PREFIX, ORACLE_CAUSAL},
    {ORACLE_UPDATE_ATOMIC, ORACLE_READ_ATOMIC},
    {ORACLE_CAUSAL, ORACLE_READ_YOUR_WRITES},
    {ORACLE_CAUSAL, ORACLE_MONOTONIC_READS},
    {ORACLE_CAUSAL, ORACLE_MONOTONIC_WRITES},
    {ORACLE_CAUSAL, ORACLE_WRITES_FOLLOW_READS},
    {ORACLE_CAUSAL, ORACLE_READ_ATOMIC},
    {ORACLE_READ_ATOMIC, ORACLE_READ_COMMITTED},
    {ORACLE_READ_ATOMIC, ORACLE_READ_YOUR_WRITES},
    {ORACLE_READ_ATOMIC, ORACLE_CUT_ISOLATION},
};

bool oracle_implies(oracle_level stronger, oracle_level weaker) {
  bool reached[ORACLE_LEVELS] = {false};
  reached[stronger] = true;
  for (size_t i = 0; i < sizeof implications / sizeof *implications; i++)
    if (reached[implications[i][0]]) reached[implications[i][1]] = true;
  return reached[weaker];
}
