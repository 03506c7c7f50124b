#include "explain/cycle.h"

#include <stdlib.h>
#include <string.h>

void iso_proof_free(iso_proof *proof) {
  iso_vec_free(&proof->cycle);
  iso_vec_free(&proof->reasons);
}

isolde_status iso_prover_init(iso_prover *prover, const iso_weak *weak, isolde_error *error) {
  size_t txns = weak->view.h->txns;
  *prover = (iso_prover){.weak = weak,
                         .mark = iso_alloc_zero(txns, sizeof *prover->mark),
                         .queue = iso_alloc(txns, sizeof *prover->queue),
                         .via = iso_alloc(txns, sizeof *prover->via)};
  if (prover->mark != NULL && prover->queue != NULL && prover->via != NULL) return ISOLDE_OK;
  iso_prover_free(prover);
  return iso_fail_memory(error);
}

void iso_prover_free(iso_prover *prover) {
  free(prover->mark);
  free(prover->queue);
  free(prover->via);
  memset(prover, 0, sizeof *prover);
}

/* The operation of `txn` that wrote the key and value that `read_op` shows. */
static uint32_t write_seen(const isolde_history *h, uint32_t txn, uint32_t read_op) {
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    if (h->op_kind[op] == ISOLDE_OP_WRITE && h->op_key[op] == h->op_key[read_op] &&
        h->op_value[op] == h->op_value[read_op]) {
      return op;
    }
  }
  return ISO_NO_OP;
}

/* The last write of `txn` to a key. */
static uint32_t last_write(const isolde_history *h, uint32_t txn, uint32_t key) {
  for (uint32_t op = h->txn_first_op[txn + 1]; op-- > h->txn_first_op[txn];) {
    if (h->op_kind[op] == ISOLDE_OP_WRITE && h->op_key[op] == key) return op;
  }
  return ISO_NO_OP;
}

static iso_step so_step(uint32_t from, uint32_t to) {
  return (iso_step){.kind = ISO_STEP_SO, .from = from, .to = to, .write_op = ISO_NO_OP, .read_op = ISO_NO_OP};
}

static iso_step wr_step(const iso_view *v, uint32_t to, uint32_t read) {
  const iso_external_read *r = &v->reads[read];
  return (iso_step){
      .kind = ISO_STEP_WR, .from = r->from, .to = to, .write_op = write_seen(v->h, r->from, r->op), .read_op = r->op};
}

/* Where a search may go: within CO, between `from` and the goal, or within a component of an axiom's graph. */
typedef struct {
  uint32_t from, to;
  const iso_axiom_result *axiom; /* NULL: CO only */
  const uint32_t *component;     /* stay inside that of `to`; NULL: anywhere between */
} search;

static bool may_visit(const iso_prover *p, const search *s, uint32_t txn) {
  if (txn == s->from) return true;
  if (s->component != NULL) return s->component[txn] == s->component[s->to];
  if (p->weak->clocks.rows == NULL) return true;
  return iso_clock_before(&p->weak->clocks, p->weak->view.h, s->from, txn);
}

/* One predecessor of `txn` as a step; false after the last.  A forced step carries the place of its instance. */
static bool next_step(const iso_prover *p, const search *s, uint32_t txn, uint32_t *at, iso_step *step) {
  const iso_view *v = &p->weak->view;
  uint32_t before = *at, reads = v->read_first[txn + 1] - v->read_first[txn];
  uint32_t from = iso_next_predecessor(v, s->axiom != NULL ? &s->axiom->forced : NULL, txn, at);
  if (from == ISO_NO_TXN) return false;
  if (before == 0 && *at == 1) {
    *step = so_step(from, txn);
  } else if (*at - 1 <= reads) {
    *step = (iso_step){.kind = ISO_STEP_WR, .from = from, .to = txn, .read_op = v->read_first[txn] + *at - 2};
  } else {
    *step = (iso_step){.kind = ISO_STEP_CM, .from = from, .to = txn};
  }
  return true;
}

/* Shortest path from s->from to s->to, breadth first and backwards, appended to the steps. */
static bool find_path(iso_prover *p, const search *s, iso_proof *proof, bool into_reasons) {
  uint32_t head = 0, tail = 0;
  p->search++;
  p->mark[s->to] = p->search;
  p->queue[tail++] = s->to;
  bool found = false;
  while (head < tail && !found) {
    uint32_t txn = p->queue[head++], at = 0;
    iso_step step;
    while (!found && next_step(p, s, txn, &at, &step)) {
      if (step.from == s->from) found = true;
      if (!found && (p->mark[step.from] == p->search || !may_visit(p, s, step.from))) continue;
      p->mark[step.from] = p->search;
      p->via[step.from] = step;
      p->queue[tail++] = step.from;
    }
  }
  for (uint32_t txn = s->from; found; txn = p->via[txn].to) {
    iso_step step = p->via[txn];
    if (step.kind == ISO_STEP_WR) step = wr_step(&p->weak->view, step.to, step.read_op);
    if (!(into_reasons ? iso_vec_push(&proof->reasons, step) : iso_vec_push(&proof->cycle, step))) return false;
    if (step.to == s->to) break;
  }
  return found;
}

/* The first read of t3 from t2, of another key than that of `read` and before it where the axiom asks for that. */
static uint32_t read_from(const iso_view *v, uint32_t t2, uint32_t t3, uint32_t other_than) {
  for (uint32_t i = v->read_first[t3]; i < v->read_first[t3 + 1]; i++) {
    if (other_than != ISO_NO_OP && (i >= other_than || v->reads[i].key == v->reads[other_than].key)) continue;
    if (v->reads[i].from == t2) return i;
  }
  return ISO_NO_OP;
}

static bool push_wr(iso_proof *proof, const iso_view *v, uint32_t to, uint32_t read) {
  return read != ISO_NO_OP && iso_vec_push(&proof->reasons, wr_step(v, to, read));
}

static bool push_so(iso_proof *proof, uint32_t from, uint32_t to) {
  return iso_vec_push(&proof->reasons, so_step(from, to));
}

static bool is_before(const isolde_history *h, uint32_t from, uint32_t to) {
  return from < to && h->txn_session[from] == h->txn_session[to];
}

/* A transaction before `last` in its session that reads from t2. */
static uint32_t session_reader(const iso_view *v, uint32_t t2, uint32_t last) {
  for (uint32_t txn = v->h->session_first_txn[v->h->txn_session[last]]; txn < last; txn++) {
    if (v->counts[txn] && read_from(v, t2, txn, ISO_NO_OP) != ISO_NO_OP) return txn;
  }
  return ISO_NO_TXN;
}

/* Chains through a transaction that t3 reads from: t2 -SO-> middle, or t2 -WR-> somebody -SO-> middle. */
static bool push_middle(iso_proof *proof, const iso_view *v, uint32_t t2, uint32_t t3, bool read_before) {
  for (uint32_t i = v->read_first[t3]; i < v->read_first[t3 + 1]; i++) {
    uint32_t middle = v->reads[i].from;
    if (middle == ISO_INITIAL) continue;
    if (!read_before && is_before(v->h, t2, middle)) return push_so(proof, t2, middle) && push_wr(proof, v, t3, i);
    uint32_t somebody = read_before ? session_reader(v, t2, middle) : ISO_NO_TXN;
    if (somebody == ISO_NO_TXN) continue;
    return push_wr(proof, v, somebody, read_from(v, t2, somebody, ISO_NO_OP)) && push_so(proof, somebody, middle) &&
           push_wr(proof, v, t3, i);
  }
  return false;
}

/* The chain from t2 to t3 that the axiom asks for. */
static bool push_reasons(iso_prover *p, iso_proof *proof, const iso_instance *instance) {
  const iso_view *v = &p->weak->view;
  uint32_t t2 = instance->t2, t3 = instance->t3;
  switch (proof->axiom) {
  case ISO_AXIOM_READ_COMMITTED:
    return push_wr(proof, v, t3, read_from(v, t2, t3, instance->read));
  case ISO_AXIOM_READ_ATOMIC:
    if (is_before(v->h, t2, t3)) return push_so(proof, t2, t3);
    return push_wr(proof, v, t3, read_from(v, t2, t3, ISO_NO_OP));
  case ISO_AXIOM_CAUSAL:
    return find_path(p, &(search){.from = t2, .to = t3}, proof, true);
  case ISO_AXIOM_READ_YOUR_WRITES:
    return push_so(proof, t2, t3);
  case ISO_AXIOM_MONOTONIC_READS: {
    uint32_t reader = session_reader(v, t2, t3);
    return reader != ISO_NO_TXN && push_wr(proof, v, reader, read_from(v, t2, reader, ISO_NO_OP)) &&
           push_so(proof, reader, t3);
  }
  case ISO_AXIOM_MONOTONIC_WRITES:
    return push_middle(proof, v, t2, t3, false);
  case ISO_AXIOM_WRITES_FOLLOW_READS:
    return push_middle(proof, v, t2, t3, true);
  case ISO_AXIOMS:
    break;
  }
  return false;
}

/* Completes a forced step from its instance. */
static bool justify(iso_prover *p, iso_proof *proof, const iso_instance *instance, iso_step *step) {
  const iso_view *v = &p->weak->view;
  const iso_external_read *read = &v->reads[instance->read];
  *step = (iso_step){.kind = ISO_STEP_CM,
                     .from = instance->t2,
                     .to = instance->t1,
                     .reader = instance->t3,
                     .read_op = read->op,
                     .write_op = last_write(v->h, instance->t2, read->key),
                     .first_reason = (uint32_t)proof->reasons.count};
  if (!push_reasons(p, proof, instance)) return false;
  step->reasons = (uint32_t)proof->reasons.count - step->first_reason;
  return true;
}

/* Some instance that forces `from` before `to`. */
static const iso_instance *find_instance(const iso_axiom_result *r, uint32_t from, uint32_t to) {
  size_t low = 0, high = r->instances.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const iso_instance *item = &r->instances.items[middle];
    if (item->t1 < to || (item->t1 == to && item->t2 < from)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == r->instances.count) return NULL;
  const iso_instance *item = &r->instances.items[low];
  return item->t1 == to && item->t2 == from ? item : NULL;
}

static bool prove_instance(iso_prover *p, const iso_finding *finding, iso_proof *proof) {
  const iso_axiom_result *r = &p->weak->axioms[finding->seen];
  const iso_instance *instance = &r->instances.items[finding->other];
  iso_step forced;
  if (!justify(p, proof, instance, &forced) || !iso_vec_push(&proof->cycle, forced)) return false;
  if (instance->t1 == ISO_INITIAL) return true;
  search way_back = {.from = instance->t1, .to = instance->t2};
  if (!instance->causal_cycle) {
    way_back.axiom = r;
    way_back.component = r->order.component;
  }
  if (!find_path(p, &way_back, proof, false)) return false;
  for (size_t i = 1; i < proof->cycle.count; i++) {
    iso_step *step = &proof->cycle.items[i];
    if (step->kind != ISO_STEP_CM) continue;
    const iso_instance *other = find_instance(r, step->from, step->to);
    if (other == NULL || !justify(p, proof, other, step)) return false;
  }
  return true;
}

/* TAP-g: a shortest way from a transaction of the component back to itself. */
static bool prove_cyclic(iso_prover *p, const iso_finding *finding, iso_proof *proof) {
  const uint32_t *component = p->weak->co.component;
  uint32_t start = finding->seen, at = 0;
  search none = {.from = start, .to = start, .component = component};
  iso_step first, best;
  size_t best_length = SIZE_MAX;
  /* The cycle ends with some predecessor of the start; the way from the start to it is searched for each. */
  while (next_step(p, &none, start, &at, &first)) {
    if (component[first.from] != component[start]) continue;
    proof->cycle.count = 0;
    search way = {.from = start, .to = first.from, .component = component};
    if (!find_path(p, &way, proof, false) || proof->cycle.count >= best_length) continue;
    best_length = proof->cycle.count;
    best = first;
  }
  if (best_length == SIZE_MAX) return false;
  proof->cycle.count = 0;
  search way = {.from = start, .to = best.from, .component = component};
  if (!find_path(p, &way, proof, false)) return false;
  if (best.kind == ISO_STEP_WR) best = wr_step(&p->weak->view, best.to, best.read_op);
  return iso_vec_push(&proof->cycle, best);
}

bool iso_prove(iso_prover *prover, const iso_finding *finding, iso_proof *proof) {
  memset(proof, 0, sizeof *proof);
  proof->tap = (iso_tap)finding->tap;
  if (finding->tap == ISO_TAP_G) return prove_cyclic(prover, finding, proof);
  proof->axiom = (iso_axiom)finding->seen;
  return prove_instance(prover, finding, proof);
}
