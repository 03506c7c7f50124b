/* Judges one given order of transactions straight from the definition of a level. */
#include "tests/oracle/orders.h"

static bool has(const relation *r, unsigned a, unsigned b) { return (r->row[a] >> b & 1) != 0; }

typedef struct {
  const facts *f;
  const int *begin, *commit;
  relation ww, rw, steps; /* steps: SO, WR and WW */
} picture;

/* Versions of a key are in the order of the commits. */
static void order_versions(picture *p) {
  const facts *f = p->f;
  for (unsigned k = 0; k < f->keys; k++)
    for (unsigned a = 1; a < f->nodes; a++)
      for (unsigned b = 1; b < f->nodes; b++)
        if (f->writers[k] >> a & 1 && f->writers[k] >> b & 1 && p->commit[a] < p->commit[b]) p->ww.row[a] |= 1u << b;
  for (unsigned i = 0; i < f->read_count; i++) {
    const external_read *r = &f->reads[i];
    for (unsigned s = 1; s < f->nodes; s++)
      if (s != r->reader && s != r->writer && f->writers[r->key] >> s & 1 &&
          (r->writer == 0 || p->commit[r->writer] < p->commit[s]))
        p->rw.row[r->reader] |= 1u << s;
  }
  for (unsigned i = 0; i < FACTS_NODES; i++) p->steps.row[i] = f->so.row[i] | f->wr.row[i] | p->ww.row[i];
}

/* Whether every pair of the relation stands in the order: the place of the first in `from` before that in `to`. */
static bool forward(const facts *f, const relation *r, const int *from, const int *to) {
  for (unsigned a = 1; a < f->nodes; a++)
    for (unsigned b = 1; b < f->nodes; b++)
      if (has(r, a, b) && from[a] >= to[b]) return false;
  return true;
}

static relation closure(relation r) {
  for (unsigned via = 0; via < FACTS_NODES; via++)
    for (unsigned i = 0; i < FACTS_NODES; i++)
      if (r.row[i] >> via & 1) r.row[i] |= r.row[via];
  return r;
}

/* No RW leads back to where a step (or path) came from. */
static bool none_returns(const facts *f, const relation *paths, const relation *rw) {
  for (unsigned a = 1; a < f->nodes; a++)
    for (unsigned b = 1; b < f->nodes; b++)
      if (has(paths, a, b) && has(rw, b, a)) return false;
  return true;
}

static bool read_before(const facts *f, unsigned t2, const external_read *read) {
  for (unsigned i = 0; i < f->read_count; i++) {
    const external_read *r = &f->reads[i];
    if (r->reader == read->reader && r->writer == t2 && r->key != read->key && r->position < read->position)
      return true;
  }
  return false;
}

/* The axioms: who is in sight of a reader and wrote the key did so before the version that it read. */
static bool axiom_holds(const picture *p, order_rule rule) {
  const facts *f = p->f;
  relation direct;
  for (unsigned i = 0; i < FACTS_NODES; i++) direct.row[i] = f->so.row[i] | f->wr.row[i];
  relation seen = rule == ORDER_CAUSAL ? closure(direct) : direct;
  for (unsigned i = 0; i < f->read_count; i++) {
    const external_read *r = &f->reads[i];
    for (unsigned t2 = 1; t2 < f->nodes; t2++) {
      if (t2 == r->writer || t2 == r->reader || !(f->writers[r->key] >> t2 & 1)) continue;
      bool sees = rule == ORDER_READ_COMMITTED ? read_before(f, t2, r) : has(&seen, t2, r->reader);
      if (sees && (r->writer == 0 || p->commit[t2] > p->commit[r->writer])) return false;
    }
  }
  return true;
}

bool order_holds(const facts *f, order_rule rule, bool real_time, const int begin[FACTS_NODES],
                 const int commit[FACTS_NODES]) {
  picture p = {.f = f, .begin = begin, .commit = commit};
  for (int t = 0; t < ORACLE_TAPS; t++) {
    bool may = t == ORACLE_TAP_CYCLIC || (t == ORACLE_TAP_NON_REPEATABLE && rule == ORDER_READ_COMMITTED);
    if (f->tap[t] && !may) return false;
  }
  order_versions(&p);
  for (unsigned k = 0; k < f->keys; k++)
    if (!forward(f, &f->list_order[k], commit, commit)) return false;
  if (!forward(f, &f->so, commit, begin) || !forward(f, &f->wr, commit, begin)) return false;
  if (real_time && !forward(f, &f->rt, commit, begin)) return false;
  switch (rule) {
  case ORDER_SERIALIZABLE:
    return forward(f, &p.rw, begin, commit);
  case ORDER_SNAPSHOT:
    return forward(f, &p.ww, commit, begin) && forward(f, &p.rw, begin, commit);
  case ORDER_PREFIX:
    return forward(f, &p.rw, begin, commit);
  case ORDER_PARALLEL: {
    relation paths = closure(p.steps);
    return none_returns(f, &paths, &p.rw);
  }
  case ORDER_UPDATE_ATOMIC:
    return none_returns(f, &p.steps, &p.rw);
  default:
    return axiom_holds(&p, rule);
  }
}
