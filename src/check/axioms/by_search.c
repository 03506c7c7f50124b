/* The causal axiom by way of a commit order that is searched for, and what that says of weaker axioms. */
#include "check/axioms/by_search.h"

#include <stdlib.h>
#include <string.h>

#include "check/causal/causal_order.h"
#include "check/causal/co_query.h"

static int by_edge(const void *a, const void *b) {
  const iso_instance *x = a, *y = b;
  if (x->t1 != y->t1) return x->t1 < y->t1 ? -1 : 1;
  if (x->t2 != y->t2) return x->t2 < y->t2 ? -1 : 1;
  if (x->t3 != y->t3) return x->t3 < y->t3 ? -1 : 1;
  return (x->read > y->read) - (x->read < y->read);
}

void iso_weak_sort_instances(iso_axiom_result *r) {
  if (r->instances.count > 1) qsort(r->instances.items, r->instances.count, sizeof *r->instances.items, by_edge);
}

static isoproof_status take_contradictions(const iso_weak *weak, const iso_causal *causal, iso_axiom_result *r,
                                           isoproof_error *error) {
  const iso_view *v = &weak->view;
  if (!iso_vec_reserve(&r->instances, causal->pairs.count)) return iso_fail_memory(error);
  for (size_t i = 0; i < causal->pairs.count; i++) {
    const iso_forced_pair *one = &causal->pairs.items[i];
    iso_instance instance = {.t1 = v->reads[one->read].from,
                             .t2 = one->t2,
                             .t3 = iso_history_txn_of(v->h, v->reads[one->read].op),
                             .read = one->read,
                             .causal_cycle = true};
    r->instances.items[r->instances.count++] = instance;
  }
  iso_weak_sort_instances(r);
  return ISOPROOF_OK;
}

isoproof_status iso_weak_try_causal(iso_weak *weak, isoproof_task *task, isoproof_error *error) {
  iso_axiom_result *r = &weak->axioms[ISO_AXIOM_CAUSAL];
  bool has_lists = weak->versions.ww_first != NULL;
  if (!iso_order_is_acyclic(&weak->view, &weak->co)) return ISOPROOF_OK;
  iso_causal causal;
  ISO_TRY(iso_causal_order(&weak->view, has_lists ? &weak->versions : NULL, task, &causal, error));
  isoproof_status status = ISOPROOF_OK;
  if (causal.answer == ISO_CAUSAL_YES) r->decided = true;
  if (causal.answer == ISO_CAUSAL_CONTRADICTED) {
    r->decided = r->violated = r->only_co_forms = true;
    status = take_contradictions(weak, &causal, r, error);
  }
  if (causal.answer == ISO_CAUSAL_NO) {
    weak->has_forced = true;
    weak->forced = causal.pairs;
    memset(&causal.pairs, 0, sizeof causal.pairs);
  }
  iso_causal_free(&causal);
  return status;
}

/* Large transactions: what one read is looked for among all that the other wrote, which costs more than to search for a
 * causal order. */
static bool has_large_txns(const iso_view *v) {
  enum { LARGE = 64 };
  uint64_t reads = v->read_first[v->h->txns], writes = v->write_first[v->h->txns];
  return reads > (uint64_t)LARGE * v->taking_part && writes > (uint64_t)LARGE * v->taking_part;
}

isoproof_status iso_weak_try_by_causal(iso_weak *weak, iso_axiom axiom, isoproof_task *task, isoproof_error *error) {
  iso_axiom_result *stronger = &weak->axioms[ISO_AXIOM_CAUSAL];
  if (!has_large_txns(&weak->view)) return ISOPROOF_OK;
  if (!stronger->decided && !weak->tried_causal && iso_order_is_acyclic(&weak->view, &weak->co)) {
    iso_causal causal;
    bool has_lists = weak->versions.ww_first != NULL;
    ISO_TRY(iso_causal_order(&weak->view, has_lists ? &weak->versions : NULL, task, &causal, error));
    stronger->decided = causal.answer == ISO_CAUSAL_YES;
    weak->tried_causal = true;
    iso_causal_free(&causal);
  }
  weak->axioms[axiom].decided = stronger->decided && !stronger->violated;
  return ISOPROOF_OK;
}

isoproof_status iso_weak_mark_by_query(const iso_weak *weak, iso_axiom_result *r, isoproof_task *task,
                                       isoproof_error *error) {
  size_t count = r->instances.count;
  iso_co_pair *pairs = iso_alloc(2 * count, sizeof *pairs);
  if (pairs == NULL) return iso_fail_memory(error);
  for (size_t i = 0; i < count; i++) {
    const iso_instance *instance = &r->instances.items[i];
    uint32_t t1 = instance->t1 == ISO_INITIAL ? instance->t2 : instance->t1; /* the initial one is marked already */
    pairs[2 * i] = (iso_co_pair){.earlier = t1, .later = instance->t2};
    pairs[2 * i + 1] = (iso_co_pair){.earlier = instance->t2, .later = t1};
  }
  isoproof_status status = iso_co_query(&weak->view, &weak->co, pairs, 2 * count, task, error);
  for (size_t i = 0; i < count && status == ISOPROOF_OK; i++) {
    iso_instance *instance = &r->instances.items[i];
    if (instance->t1 == ISO_INITIAL) continue;
    instance->causal_cycle = pairs[2 * i].ordered;
    instance->redundant = pairs[2 * i + 1].ordered;
  }
  free(pairs);
  return status;
}
