/* Axioms: whoever stands between a version and its reader is asked about, and moved where the axiom says so. */
#include <stdlib.h>
#include <string.h>

#include "check/causal/co_query.h"
#include "check/order/event_path.h"
#include "parts/coordinator.h"

/* Pairs that one part may name at a time; more are a sign of a sequence that is no good guess. */
enum { MOST_BETWEEN = 1 << 24 };

/* One axiom being decided. */
typedef struct {
  iso_coordinator *c;
  iso_axiom axiom;
  iso_event_graph events; /* one per transaction */
  iso_sequence sequence;
  iso_order co;                /* for causal */
  ISO_VEC(iso_between) found;  /* what the parts named */
  ISO_VEC(iso_between) forced; /* what the axiom is about; those of derived edges come in their order */
  bool is_over;
} decision;

/* ---- what the parts name ---- */

static int by_pair(const void *a, const void *b) {
  const iso_between *x = a, *y = b;
  if (x->t3 != y->t3) return x->t3 < y->t3 ? -1 : 1;
  if (x->t2 != y->t2) return x->t2 < y->t2 ? -1 : 1;
  return (x->t1 > y->t1) - (x->t1 < y->t1);
}

static isoproof_status ask(decision *d, isoproof_error *error) {
  iso_coordinator *c = d->c;
  iso_question_head head = {.asks = ISO_ASK_BETWEEN, .enough = MOST_BETWEEN};
  ISO_TRY(iso_coordinator_ask(c, head, &d->events, &d->sequence, error));
  d->found.count = 0;
  for (uint32_t part = 0; part < c->team->parts; part++) {
    iso_taker in;
    ISO_TRY(iso_answer_open(&c->answers[part], &in, error));
    uint64_t count = iso_take_u64(&in);
    const void *items = iso_take_bytes(&in, count * sizeof(iso_between));
    if (in.failed || !iso_vec_reserve(&d->found, count)) return iso_fail_memory(error);
    iso_between *to = d->found.items + d->found.count;
    if (count > 0) memcpy(to, items, count * sizeof *to);
    for (uint64_t i = 0; i < count; i++) to[i].key += (uint32_t)c->key_base[part];
    d->found.count += count;
    iso_bytes_free(&c->answers[part]);
  }
  if (d->found.count > 0) qsort(d->found.items, d->found.count, sizeof *d->found.items, by_pair);
  return ISOPROOF_OK;
}

/* ---- the axioms ---- */

/* Whether t3 read another key from t2 before. */
static bool reads_before(const iso_view *v, const iso_between *b) {
  for (uint32_t i = v->read_first[b->t3]; i < v->read_first[b->t3 + 1]; i++) {
    if (v->reads[i].from == b->t2 && v->reads[i].key != b->key && v->reads[i].op < b->place) return true;
  }
  return false;
}

static bool is_direct(const decision *d, const iso_between *b) {
  const iso_view *v = &d->c->view;
  if (d->axiom == ISO_AXIOM_READ_COMMITTED) return reads_before(v, b);
  bool session = v->h->txn_session[b->t2] == v->h->txn_session[b->t3] && b->t2 < b->t3;
  return session || iso_view_reads_from(v, b->t2, b->t3);
}

static isoproof_status keep_causal(decision *d, isoproof_error *error) {
  iso_co_pair *pairs = iso_alloc(d->found.count, sizeof *pairs);
  size_t count = 0, kept = 0, at = 0;
  if (pairs == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < d->found.count; i++) {
    const iso_between *b = &d->found.items[i];
    bool again = i > 0 && b[-1].t3 == b->t3 && b[-1].t2 == b->t2;
    if (!again) pairs[count++] = (iso_co_pair){b->t2, b->t3, false};
  }
  isoproof_status status = iso_co_query(&d->c->view, &d->co, pairs, count, d->c->task, error);
  for (size_t i = 0; status == ISOPROOF_OK && i < d->found.count; i++) {
    iso_between b = d->found.items[i];
    while (pairs[at].earlier != b.t2 || pairs[at].later != b.t3) at++;
    if (pairs[at].ordered) d->found.items[kept++] = b;
  }
  d->found.count = kept;
  free(pairs);
  return status;
}

/* Of those that stand between, the ones that the axiom is about. */
static isoproof_status keep_forced(decision *d, isoproof_error *error) {
  size_t kept = 0;
  if (d->axiom == ISO_AXIOM_CAUSAL) return keep_causal(d, error);
  for (size_t i = 0; i < d->found.count; i++) {
    if (is_direct(d, &d->found.items[i])) d->found.items[kept++] = d->found.items[i];
  }
  d->found.count = kept;
  return ISOPROOF_OK;
}

/* ---- violations ---- */

static isoproof_status suspect_path(decision *d, iso_path_finder *finder, const iso_between *b, iso_txn_set *txns,
                                    isoproof_error *error) {
  iso_path path = {.items = NULL};
  bool good = iso_vec_push(txns, b->t2) && iso_vec_push(txns, b->t3);
  if (b->t1 != ISO_INITIAL) good = good && iso_vec_push(txns, b->t1);
  if (good && d->axiom == ISO_AXIOM_CAUSAL) {
    finder->before_round = 0; /* by SO and WR alone */
    (void)iso_path_find(finder, b->t2, b->t3, &path);
    for (size_t i = 0; i < path.count && good; i++)
      good = iso_vec_push(txns, path.items[i].from) && iso_vec_push(txns, path.items[i].to);
  }
  iso_vec_free(&path);
  return good && !finder->failed ? ISOPROOF_OK : iso_fail_memory(error);
}

/* Behind every forced order of the suspects stands a read, and what the axiom goes by. */
static isoproof_status suspect_forced(decision *d, const iso_between *alone, iso_txn_set *txns, isoproof_error *error) {
  iso_path_finder finder;
  uint8_t *is = iso_alloc_zero(d->c->h->txns, 1);
  if (is == NULL) return iso_fail_memory(error);
  isoproof_status status = iso_path_finder_make(&d->events, NULL, &finder, error);
  for (size_t i = 0; status == ISOPROOF_OK && i < txns->count; i++) is[txns->items[i]] = 1;
  if (status == ISOPROOF_OK && alone != NULL) status = suspect_path(d, &finder, alone, txns, error);
  for (size_t i = 0; status == ISOPROOF_OK && i < d->forced.count; i++) {
    const iso_between *b = &d->forced.items[i];
    if (b->t1 != ISO_INITIAL && is[b->t1] && is[b->t2]) status = suspect_path(d, &finder, b, txns, error);
  }
  free(is);
  iso_path_finder_free(&finder);
  return status;
}

/* There is a cycle, or (`alone`) an initial version was read that the axiom does not let the reader see. */
static isoproof_status violated(decision *d, const iso_between *alone, isoproof_error *error) {
  iso_txn_set suspects = {.items = NULL};
  d->is_over = true;
  isoproof_status status = ISOPROOF_OK;
  if (alone == NULL) status = iso_blame_cycle(&d->events, NULL, d->c->task, &suspects, error);
  if (status == ISOPROOF_OK) status = suspect_forced(d, alone, &suspects, error);
  if (status != ISOPROOF_OK) {
    iso_vec_free(&suspects);
    return status;
  }
  iso_coordinator_decided(d->c, iso_axiom_level(d->axiom), ISOPROOF_VIOLATED);
  return iso_coordinator_suspect(d->c, &suspects, error);
}

/* ---- rounds ---- */

static int by_forced(const void *a, const void *b) {
  const iso_between *x = a, *y = b;
  if (x->t1 != y->t1) return x->t1 < y->t1 ? -1 : 1;
  return (x->t2 > y->t2) - (x->t2 < y->t2);
}

/* Adds what is forced, each order once, and moves transactions. */
static isoproof_status move(decision *d, isoproof_error *error) {
  uint32_t first = (uint32_t)d->events.derived.count;
  bool cyclic = false;
  if (d->found.count > 0) qsort(d->found.items, d->found.count, sizeof *d->found.items, by_forced);
  for (size_t i = 0; i < d->found.count; i++) {
    const iso_between *b = &d->found.items[i];
    if (b->t1 == ISO_INITIAL) return violated(d, b, error);
    if (i > 0 && by_forced(b - 1, b) == 0) continue;
    iso_derived edge = {.from = b->t2, .to = b->t1, .reason = ISO_LIST, .round = 1};
    ISO_TRY(iso_event_graph_add(&d->events, edge, error));
    if (!iso_vec_push(&d->forced, *b)) return iso_fail_memory(error);
  }
  ISO_TRY(iso_sequence_repair(&d->events, first, &d->sequence, NULL, &cyclic, d->c->task, error));
  return cyclic ? violated(d, NULL, error) : ISOPROOF_OK;
}

static isoproof_status run(decision *d, isoproof_error *error) {
  while (!d->is_over) {
    isoproof_status status = ask(d, error);
    if (status == ISOPROOF_ERR_LIMIT) {
      d->c->out->reason = "the sequence that was guessed is too far from any that explains the reads";
      return ISOPROOF_OK;
    }
    if (status != ISOPROOF_OK) return status;
    ISO_TRY(keep_forced(d, error));
    d->c->out->rounds++;
    if (d->found.count == 0) {
      iso_coordinator_decided(d->c, iso_axiom_level(d->axiom), ISOPROOF_SATISFIED);
      d->is_over = true;
    } else {
      ISO_TRY(move(d, error));
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status decide(decision *d, isoproof_error *error) {
  iso_view *view = &d->c->view;
  ISO_TRY(iso_event_graph_make(view, (iso_event_shape){.ungrouped = true}, NULL, &d->events, error));
  ISO_TRY(iso_coordinator_add_orders(d->c, &d->events, error));
  ISO_TRY(iso_sequence_make(&d->events, d->c->task, &d->sequence, error));
  if (d->sequence.count < d->sequence.total) return violated(d, NULL, error);
  if (d->axiom == ISO_AXIOM_CAUSAL) ISO_TRY(iso_order_make(view, NULL, false, d->c->task, &d->co, error));
  return run(d, error);
}

isoproof_status iso_settle_axiom(iso_coordinator *c, iso_axiom axiom, isoproof_error *error) {
  decision d = {.c = c, .axiom = axiom};
  ISO_TRY(iso_coordinator_need_reads(c, error));
  isoproof_status status = decide(&d, error);
  iso_event_graph_free(&d.events);
  iso_sequence_free(&d.sequence);
  iso_order_free(&d.co);
  iso_vec_free(&d.found);
  iso_vec_free(&d.forced);
  return status;
}
