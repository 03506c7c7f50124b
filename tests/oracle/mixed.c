/* Mixed levels straight from the definition: every commit order, every transaction, every read, every other writer. */
#include "tests/oracle/mixed.h"

#include <string.h>

static const struct {
  const char *id;
  oracle_level all;
} levels[] = {
    [MIXED_NONE] = {"", ORACLE_LEVELS},
    [MIXED_READ_COMMITTED] = {"read-committed", ORACLE_READ_COMMITTED},
    [MIXED_READ_ATOMIC] = {"read-atomic", ORACLE_READ_ATOMIC},
    [MIXED_CAUSAL] = {"causal", ORACLE_CAUSAL},
    [MIXED_PREFIX] = {"prefix", ORACLE_PREFIX},
    [MIXED_SNAPSHOT] = {"snapshot-isolation", ORACLE_SNAPSHOT},
    [MIXED_SERIALIZABLE] = {"serializable", ORACLE_SERIALIZABLE},
};

oracle_level mixed_for_all(mixed_level level) { return levels[level].all; }
const char *mixed_level_id(mixed_level level) { return levels[level].id; }

/* A commit order in the making. */
typedef struct {
  const facts *f;
  const mixed_level *own;
  relation direct; /* SO and WR */
  relation causal; /* their closure */
  relation given;  /* what every commit order contains */
  int place[FACTS_NODES];
} commits;

static bool is(const relation *r, unsigned from, unsigned to) { return (r->row[from] >> to & 1) != 0; }

static bool write_one_key(const facts *f, unsigned a, unsigned b) {
  for (unsigned k = 0; k < f->keys; k++)
    if (f->writers[k] >> a & 1 && f->writers[k] >> b & 1) return true;
  return false;
}

/* Some u with t2 = u, or t2 before u, that t3 follows in its session or reads from; with `conflicts`, also one that
 * commits before t3 and writes a key that t3 writes. */
static bool in_snapshot(const commits *c, unsigned t2, unsigned t3, bool conflicts) {
  for (unsigned u = 1; u < c->f->nodes; u++) {
    if (c->place[u] < c->place[t2] || u == t3) continue;
    if (is(&c->direct, u, t3)) return true;
    if (conflicts && c->place[u] < c->place[t3] && write_one_key(c->f, u, t3)) return true;
  }
  return false;
}

/* Whether t2 stands to the reader t3 as the level of t3 says, for a read of t3. */
static bool stands(const commits *c, unsigned t2, const external_read *read) {
  unsigned t3 = read->reader;
  switch (c->own[t3]) {
  case MIXED_READ_COMMITTED:
    for (unsigned i = 0; i < c->f->read_count; i++) {
      const external_read *other = &c->f->reads[i];
      bool before = other->reader == t3 && other->position < read->position;
      if (before && other->writer == t2 && other->key != read->key) return true;
    }
    return false;
  case MIXED_READ_ATOMIC:
    return is(&c->direct, t2, t3);
  case MIXED_CAUSAL:
    return is(&c->causal, t2, t3);
  case MIXED_PREFIX:
    return in_snapshot(c, t2, t3, false);
  case MIXED_SNAPSHOT:
    return in_snapshot(c, t2, t3, true);
  case MIXED_SERIALIZABLE:
    return c->place[t2] < c->place[t3];
  case MIXED_NONE:
  case MIXED_LEVELS:
    break;
  }
  return false;
}

/* All that can stand to the last transaction placed stands before it already. */
static bool meets_axiom(const commits *c, unsigned t3) {
  for (unsigned i = 0; i < c->f->read_count; i++) {
    const external_read *read = &c->f->reads[i];
    if (read->reader != t3) continue;
    for (unsigned t2 = 1; t2 < c->f->nodes; t2++) {
      bool other = t2 != t3 && t2 != read->writer && c->place[t2] >= 0 && c->f->writers[read->key] >> t2 & 1;
      int from = read->writer == 0 ? -1 : c->place[read->writer];
      if (other && c->place[t2] > from && stands(c, t2, read)) return false;
    }
  }
  return true;
}

static bool place_rest(commits *c, uint32_t placed, int count) {
  if (placed == (1u << c->f->nodes) - 1) return true;
  for (unsigned t = 1; t < c->f->nodes; t++) {
    uint32_t before = 0;
    for (unsigned u = 1; u < c->f->nodes; u++)
      if (is(&c->given, u, t)) before |= 1u << u;
    if (placed >> t & 1 || (before & ~placed) != 0) continue;
    c->place[t] = count;
    if (meets_axiom(c, t) && place_rest(c, placed | 1u << t, count + 1)) return true;
    c->place[t] = -1;
  }
  return false;
}

bool mixed_judge_facts(const facts *f, const mixed_level own[FACTS_NODES]) {
  commits c = {.f = f, .own = own};
  for (unsigned i = 0; i < FACTS_NODES; i++) {
    c.place[i] = -1;
    c.direct.row[i] = c.given.row[i] = f->so.row[i] | f->wr.row[i];
    for (unsigned k = 0; k < f->keys; k++) c.given.row[i] |= f->list_order[k].row[i];
  }
  c.causal = c.direct;
  for (unsigned via = 0; via < FACTS_NODES; via++)
    for (unsigned i = 0; i < FACTS_NODES; i++)
      if (is(&c.causal, i, via)) c.causal.row[i] |= c.causal.row[via];
  return place_rest(&c, 1, 0);
}

bool mixed_levels_of(const isoproof_history *history, const facts *f, mixed_level own[FACTS_NODES]) {
  for (unsigned node = 1; node < f->nodes; node++) {
    isoproof_txn txn = {.struct_size = sizeof txn};
    own[node] = MIXED_NONE;
    if (!isoproof_history_txn_at(history, f->txn[node], &txn) || txn.isolation == NULL) return false;
    for (int level = MIXED_READ_COMMITTED; level < MIXED_LEVELS; level++)
      if (strcmp(levels[level].id, txn.isolation) == 0) own[node] = (mixed_level)level;
    if (own[node] == MIXED_NONE) return false;
  }
  return true;
}

bool mixed_judge(const isoproof_history *history, bool *satisfied) {
  facts f;
  mixed_level own[FACTS_NODES];
  if (!facts_gather(history, &f) || !mixed_levels_of(history, &f, own)) return false;
  *satisfied = true;
  /* Whoever reads a key from two others breaks the axiom of its own level, if that forbids it. */
  for (int t = 0; t < ORACLE_TAPS; t++)
    if (f.tap[t] && t != ORACLE_TAP_NON_REPEATABLE) *satisfied = false;
  *satisfied = *satisfied && mixed_judge_facts(&f, own);
  return true;
}
