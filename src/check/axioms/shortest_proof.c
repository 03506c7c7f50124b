/* Breadth-first searches for the shortest cycle that proves an instance. */
#include "check/axioms/shortest_proof.h"

#include <stdlib.h>
#include <string.h>

#include "check/axioms/known_cycles.h"
#include "check/axioms/prove_steps.h"
#include "check/axioms/rule.h"

isoproof_status iso_prover_init(iso_prover *prover, const iso_weak *weak, isoproof_error *error) {
  size_t txns = weak->view.h->txns, sessions = weak->view.h->sessions;
  *prover = (iso_prover){.weak = weak,
                         .mark = iso_alloc_zero(txns, sizeof *prover->mark),
                         .queue = iso_alloc(txns, sizeof *prover->queue),
                         .via = iso_alloc(txns, sizeof *prover->via),
                         .followed = iso_alloc_zero(sessions, sizeof *prover->followed),
                         .followed_from = iso_alloc_zero(sessions, sizeof *prover->followed_from)};
  if (prover->mark != NULL && prover->queue != NULL && prover->via != NULL && prover->followed != NULL &&
      prover->followed_from != NULL) {
    return ISOPROOF_OK;
  }
  iso_prover_free(prover);
  return iso_fail_memory(error);
}

void iso_prover_free(iso_prover *prover) {
  free(prover->mark);
  free(prover->queue);
  free(prover->via);
  free(prover->followed);
  free(prover->followed_from);
  memset(prover, 0, sizeof *prover);
}

static bool is_write_of(const isoproof_history *h, uint32_t op, uint32_t key) {
  return h->op_key[op] == key && (h->op_kind[op] == ISOPROOF_OP_WRITE || h->op_kind[op] == ISOPROOF_OP_APPEND);
}

/* The appends behind the elements of a list read. */
static const uint32_t *appends_of(const iso_view *v, uint32_t read_op, uint32_t *count) {
  const isoproof_history *h = v->h;
  if (iso_history_list(h, read_op, count) == NULL || *count == 0) return NULL;
  if (h->op_value[read_op] < ISO_VALUE_INLINE_LIMIT) {
    return v->resolution->list_writer + h->list_first[h->op_key[read_op]];
  }
  return v->resolution->odd_writer + h->odd_first[h->op_value[read_op] & ~ISO_VALUE_INTERNED];
}

/* The operation of `txn` whose version `read_op`, a read of another transaction, shows. */
static uint32_t write_seen(const iso_view *v, uint32_t txn, uint32_t read_op) {
  if (v->h->op_kind[read_op] == ISOPROOF_OP_READ) return v->resolution->writer[read_op];
  uint32_t count = 0;
  const uint32_t *appends = appends_of(v, read_op, &count);
  while (count > 0 && (appends[count - 1] >= v->h->ops || iso_op_txn(&v->op_index, appends[count - 1]) != txn)) count--;
  return count > 0 ? appends[count - 1] : ISO_NO_OP;
}

/* The last write of `txn` to a key. */
static uint32_t last_write(const isoproof_history *h, uint32_t txn, uint32_t key) {
  for (uint32_t op = h->txn_first_op[txn + 1]; op-- > h->txn_first_op[txn];) {
    if (is_write_of(h, op, key)) return op;
  }
  return ISO_NO_OP;
}

static iso_proof_step so_step(uint32_t from, uint32_t to) {
  return (iso_proof_step){.kind = ISO_EDGE_SO, .from = from, .to = to, .write_op = ISO_NO_OP, .read_op = ISO_NO_OP};
}

static iso_proof_step wr_step(const iso_view *v, uint32_t to, uint32_t read) {
  const iso_external_read *r = &v->reads[read];
  return (iso_proof_step){
      .kind = ISO_EDGE_WR, .from = r->from, .to = to, .write_op = write_seen(v, r->from, r->op), .read_op = r->op};
}

/* The longest read of the key is what shows the order of its versions. */
static iso_proof_step ww_step(const iso_weak *weak, uint32_t to, iso_ww edge) {
  uint32_t read_op = weak->versions.longest[weak->view.h->op_key[edge.from_op]];
  return (iso_proof_step){.kind = ISO_EDGE_WW,
                          .from = edge.from,
                          .to = to,
                          .write_op = edge.from_op,
                          .to_op = edge.to_op,
                          .read_op = read_op,
                          .reader = iso_op_txn(&weak->view.op_index, read_op)};
}

/* A single step between two writers of a list that are far apart: the first append of each that the read shows, or any
 * of the later one where it shows none. */
static bool far_ww_step(const iso_weak *weak, uint32_t key, uint32_t from, uint32_t to, iso_proof_step *step) {
  const iso_view *v = &weak->view;
  uint32_t count, read_op = weak->versions.longest[key], first = ISO_NO_OP, second = ISO_NO_OP;
  if (read_op == ISO_NO_OP) return false;
  const uint32_t *appends = appends_of(v, read_op, &count);
  for (uint32_t i = 0; appends != NULL && i < count && second == ISO_NO_OP; i++) {
    if (appends[i] >= v->h->ops) continue;
    if (first == ISO_NO_OP && iso_op_txn(&v->op_index, appends[i]) == from) first = appends[i];
    if (first != ISO_NO_OP && iso_op_txn(&v->op_index, appends[i]) == to) second = appends[i];
  }
  if (second == ISO_NO_OP) second = last_write(v->h, to, key);
  if (first == ISO_NO_OP || second == ISO_NO_OP) return false;
  *step = ww_step(weak, to, (iso_ww){from, first, second});
  return true;
}

/* Where a search may go: along edges of some kinds, between `from` and the goal or within a component. */
typedef struct {
  uint32_t from, to;
  iso_edge_set kinds;
  const iso_edges *edges;    /* the WW and forced ones; NULL for none */
  const uint32_t *component; /* stay inside that of `to`; NULL: anywhere between */
} search;

static bool may_visit(const iso_prover *p, const search *s, uint32_t txn) {
  if (txn == s->from) return true;
  if (s->component != NULL) return s->component[txn] == s->component[s->to];
  if (p->weak->clocks.rows == NULL) return true;
  return iso_clock_before(&p->weak->clocks, p->weak->view.h, s->from, txn);
}

/* An edge as a step; that of a forced one is completed when its instance is known. */
static iso_proof_step step_of(const iso_prover *p, uint32_t to, const iso_predecessor *edge) {
  switch (edge->kind) {
  case ISO_EDGE_WR:
    return wr_step(&p->weak->view, to, edge->place);
  case ISO_EDGE_WW:
    return ww_step(p->weak, to, p->weak->versions.ww[edge->place]);
  case ISO_EDGE_CM:
    return (iso_proof_step){.kind = ISO_EDGE_CM, .from = edge->from, .to = to};
  default:
    return so_step(edge->from, to);
  }
}

/* Notes that the edge leads from a transaction to `to`, which leads to the goal; false when that is known already. */
static bool reach(iso_prover *p, const iso_predecessor *edge, uint32_t to, uint32_t *tail) {
  if (p->mark[edge->from] == p->search) return false;
  p->mark[edge->from] = p->search;
  p->via[edge->from] = (iso_via){*edge, to};
  p->queue[(*tail)++] = edge->from;
  return true;
}

/* Session order is one step however far it goes: reaches all transactions before `txn` in its session that may be
 * visited.  Those before one that was followed back are reached already.  True when the start is among them. */
static bool follow_session(iso_prover *p, const search *s, uint32_t txn, uint32_t *tail) {
  const iso_view *v = &p->weak->view;
  uint32_t session = v->h->txn_session[txn], done = p->followed_from[session];
  bool before = p->followed[session] == p->search;
  if (before && done >= txn) return false;
  p->followed[session] = p->search;
  p->followed_from[session] = txn;
  for (uint32_t from = iso_view_previous(v, txn); from != ISO_NO_TXN; from = iso_view_previous(v, from)) {
    p->work++;
    if ((before && from <= done) || (from != s->from && !may_visit(p, s, from))) return false;
    reach(p, &(iso_predecessor){from, ISO_EDGE_SO, 0}, txn, tail);
    if (from == s->from) return true;
  }
  return false;
}

static bool push_step(iso_proof *proof, bool into_reasons, iso_proof_step step) {
  return into_reasons ? iso_vec_push(&proof->reasons, step) : iso_vec_push(&proof->cycle, step);
}

/* Shortest path from s->from to s->to, another one, breadth first and backwards, appended to the steps. */
static bool find_path(iso_prover *p, const search *s, iso_proof *proof, bool into_reasons) {
  uint32_t head = 0, tail = 0;
  bool found = false;
  p->search++;
  p->mark[s->to] = p->search;
  p->queue[tail++] = s->to;
  while (head < tail && !found) {
    uint32_t txn = p->queue[head++], at = 0;
    iso_predecessor edge;
    if ((s->kinds & ISO_EDGE_BIT(ISO_EDGE_SO)) != 0) found = follow_session(p, s, txn, &tail);
    while (!found &&
           iso_next_of_kinds(&p->weak->view, s->edges, s->kinds & ~ISO_EDGE_BIT(ISO_EDGE_SO), txn, &at, &edge)) {
      p->work++;
      if (may_visit(p, s, edge.from)) reach(p, &edge, txn, &tail);
      found = edge.from == s->from;
    }
  }
  for (uint32_t txn = s->from; found && txn != s->to; txn = p->via[txn].to) {
    if (!push_step(proof, into_reasons, step_of(p, p->via[txn].to, &p->via[txn].edge))) return false;
  }
  return found;
}

/* The first read of t3 from t2, of another key than that of `read` and before it where the axiom asks for that. */
uint32_t iso_prove_read_from(const iso_view *v, uint32_t t2, uint32_t t3, uint32_t other_than) {
  for (uint32_t i = v->read_first[t3]; i < v->read_first[t3 + 1]; i++) {
    if (other_than != ISO_NO_OP && (i >= other_than || v->reads[i].key == v->reads[other_than].key)) continue;
    if (v->reads[i].from != t2) continue;
    bool unordered =
        other_than != ISO_NO_OP && iso_history_same_statement(v->h, v->reads[i].op, v->reads[other_than].op);
    if (!unordered) return i;
  }
  return ISO_NO_OP;
}

bool iso_prove_wr(iso_proof *proof, const iso_view *v, uint32_t to, uint32_t read) {
  return read != ISO_NO_OP && iso_vec_push(&proof->reasons, wr_step(v, to, read));
}

bool iso_prove_so(iso_proof *proof, uint32_t from, uint32_t to) {
  return iso_vec_push(&proof->reasons, so_step(from, to));
}

bool iso_prove_is_before(const isoproof_history *h, uint32_t from, uint32_t to) {
  return from < to && h->txn_session[from] == h->txn_session[to];
}

/* A transaction before `last` in its session that reads from t2. */
uint32_t iso_prove_session_reader(const iso_view *v, uint32_t t2, uint32_t last) {
  for (uint32_t txn = v->h->session_first_txn[v->h->txn_session[last]]; txn < last; txn++) {
    if (v->counts[txn] && iso_prove_read_from(v, t2, txn, ISO_NO_OP) != ISO_NO_OP) return txn;
  }
  return ISO_NO_TXN;
}

bool iso_prove_causal_path(iso_prover *p, uint32_t from, uint32_t to, iso_proof *proof) {
  return find_path(p, &(search){.from = from, .to = to, .kinds = ISO_EDGES_CO}, proof, true);
}

/* Completes a forced step from its instance. */
static bool justify(iso_prover *p, iso_proof *proof, const iso_instance *instance, iso_proof_step *step) {
  const iso_view *v = &p->weak->view;
  const iso_external_read *read = &v->reads[instance->read];
  *step = (iso_proof_step){.kind = ISO_EDGE_CM,
                           .from = instance->t2,
                           .to = instance->t1,
                           .reader = instance->t3,
                           .read_op = read->op,
                           .write_op = last_write(v->h, instance->t2, read->key),
                           .first_reason = (uint32_t)proof->reasons.count};
  if (!iso_axiom_rule_of(proof->axiom)->prove(p, instance, proof)) return false;
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
  iso_proof_step forced;
  if (!justify(p, proof, instance, &forced) || !iso_vec_push(&proof->cycle, forced)) return false;
  if (instance->t1 == ISO_INITIAL) return true;
  uint32_t key = p->weak->view.reads[instance->read].key;
  if (iso_versions_before(&p->weak->view, &p->weak->versions, key, instance->t1, instance->t2)) {
    iso_proof_step known;
    return far_ww_step(p->weak, key, instance->t1, instance->t2, &known) && iso_vec_push(&proof->cycle, known);
  }
  search way_back = {.from = instance->t1, .to = instance->t2, .kinds = ISO_EDGES_CO};
  if (!instance->causal_cycle) {
    way_back.kinds = ISO_EDGES_KNOWN | ISO_EDGE_BIT(ISO_EDGE_CM);
    way_back.edges = &r->forced;
    way_back.component = r->order.component;
  }
  if (!find_path(p, &way_back, proof, false)) return false;
  for (size_t i = 1; i < proof->cycle.count; i++) {
    iso_proof_step *step = &proof->cycle.items[i];
    if (step->kind != ISO_EDGE_CM) continue;
    const iso_instance *other = find_instance(r, step->from, step->to);
    if (other == NULL || !justify(p, proof, other, step)) return false;
  }
  return true;
}

/* Whether the cycle has a step of every kind that its pattern asks for. */
static bool has_all_kinds(const iso_proof *proof, iso_edge_set kinds, iso_edge_kind last) {
  iso_edge_set seen = ISO_EDGE_BIT(last);
  for (size_t i = 0; i < proof->cycle.count; i++) {
    seen |= ISO_EDGE_BIT(proof->cycle.items[i].kind);
  }
  return iso_tap_is_causal(proof->tap) || (seen & kinds) == kinds;
}

/* Whether the steps end with session order, so that another step of it is no new one. */
static bool ends_in_session(const iso_proof *proof, iso_edge_kind next) {
  size_t count = proof->cycle.count;
  return next == ISO_EDGE_SO && count > 0 && proof->cycle.items[count - 1].kind == ISO_EDGE_SO;
}

/* TAP-g, G0 and the like: a shortest way from a transaction of the component back to itself. */
static bool prove_cyclic(iso_prover *p, const iso_finding *finding, iso_proof *proof) {
  const iso_weak *weak = p->weak;
  bool causal = iso_tap_is_causal((iso_tap)finding->tap);
  const uint32_t *component = causal ? weak->co.component : weak->known.component;
  uint32_t start = finding->seen, at = 0;
  search way = {.from = start,
                .kinds = iso_tap_of((iso_tap)finding->tap)->edges,
                .edges = causal ? NULL : &weak->known_edges,
                .component = component};
  iso_predecessor last, best = {.from = ISO_NO_TXN};
  size_t best_length = SIZE_MAX;
  /* The cycle ends with some predecessor of the start; the way from the start to it is searched for each. */
  while (iso_next_of_kinds(&weak->view, way.edges, way.kinds, start, &at, &last)) {
    if (component[last.from] != component[start]) continue;
    proof->cycle.count = 0;
    way.to = last.from;
    if (!find_path(p, &way, proof, false) || !has_all_kinds(proof, way.kinds, last.kind)) continue;
    size_t length = proof->cycle.count + !ends_in_session(proof, last.kind);
    if (length >= best_length) continue;
    best_length = length;
    best = last;
  }
  if (best_length == SIZE_MAX) return false;
  proof->cycle.count = 0;
  way.to = best.from;
  if (!find_path(p, &way, proof, false)) return false;
  if (!ends_in_session(proof, best.kind)) return push_step(proof, false, step_of(p, start, &best));
  proof->cycle.items[proof->cycle.count - 1].to = start;
  return true;
}

bool iso_prove(iso_prover *prover, const iso_finding *finding, iso_proof *proof) {
  memset(proof, 0, sizeof *proof);
  proof->tap = (iso_tap)finding->tap;
  if (iso_tap_of(proof->tap)->class == ISO_CLASS_CYCLE) return prove_cyclic(prover, finding, proof);
  proof->axiom = (iso_axiom)finding->seen;
  return prove_instance(prover, finding, proof);
}
