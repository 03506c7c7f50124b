/* Deciding axioms: the edges that they force, whether those have a cycle, and the instances on it. */
#include "check/axioms/weak.h"

#include <stdlib.h>
#include <string.h>

#include "check/axioms/by_search.h"
#include "check/axioms/weak_scan.h"

void iso_weak_forget(iso_weak *weak, iso_axiom axiom) {
  iso_axiom_result *r = &weak->axioms[axiom];
  iso_edges_free(&r->forced);
  iso_order_free(&r->order);
  iso_vec_free(&r->instances);
  free(r->all_component);
  memset(r, 0, sizeof *r);
}

void iso_weak_free(iso_weak *weak) {
  for (int i = 0; i < ISO_AXIOMS; i++) iso_weak_forget(weak, (iso_axiom)i);
  iso_clocks_free(&weak->clocks);
  iso_order_free(&weak->co);
  iso_order_free(&weak->known);
  iso_edges_free(&weak->known_edges);
  iso_versions_free(&weak->versions);
  iso_vec_free(&weak->forced);
  iso_view_free(&weak->view);
  memset(weak, 0, sizeof *weak);
}

static bool has_lists(const iso_weak *weak) { return weak->versions.place != NULL; }

/* Empties forced edges; the WW of lists is among them from the start. */
static void clear_forced(const iso_weak *weak, iso_edges *forced) {
  iso_edges_free(forced);
  forced->known = weak->known_edges.known;
}

isoproof_status iso_weak_begin(isoproof_history *history, isoproof_task *task, iso_weak *weak, isoproof_error *error) {
  memset(weak, 0, sizeof *weak);
  isoproof_status status = iso_view_make(history, task, &weak->view, error);
  if (status == ISOPROOF_OK) status = iso_order_make(&weak->view, NULL, true, task, &weak->co, error);
  if (status == ISOPROOF_OK) status = iso_versions_make(&weak->view, &weak->versions, error);
  if (status == ISOPROOF_OK && has_lists(weak)) {
    weak->known_edges.known = &weak->versions;
    status = iso_order_make(&weak->view, &weak->known_edges, true, task, &weak->known, error);
  }
  if (status != ISOPROOF_OK) iso_weak_free(weak);
  return status;
}

/* ---- deciding ---- */

/* How t1 and t2 are ordered in CO, as far as the columns of the clocks tell. */
static void mark_instances(const iso_clocks *c, const isoproof_history *h, iso_axiom_result *r) {
  for (size_t i = 0; i < r->instances.count; i++) {
    iso_instance *instance = &r->instances.items[i];
    if (instance->t1 == ISO_INITIAL) continue;
    if (h->txn_session[instance->t1] - c->first_session < c->width) {
      instance->causal_cycle = iso_clock_before(c, h, instance->t1, instance->t2);
    }
    if (h->txn_session[instance->t2] - c->first_session < c->width) {
      instance->redundant = iso_clock_before(c, h, instance->t2, instance->t1);
    }
  }
}

/* And how as versions of a list. */
static void mark_versions(const iso_weak *weak, iso_axiom_result *r) {
  const uint32_t *known = weak->known.component;
  for (size_t i = 0; has_lists(weak) && i < r->instances.count; i++) {
    iso_instance *instance = &r->instances.items[i];
    if (instance->t1 == ISO_INITIAL) continue;
    uint32_t key = weak->view.reads[instance->read].key;
    bool cyclic = known != NULL && known[instance->t1] != ISO_NO_TXN && known[instance->t1] == known[instance->t2];
    instance->causal_cycle |= iso_versions_before(&weak->view, &weak->versions, key, instance->t1, instance->t2);
    instance->redundant |= cyclic || iso_versions_before(&weak->view, &weak->versions, key, instance->t2, instance->t1);
  }
}

static isoproof_status mark_by_blocks(iso_weak *weak, iso_axiom_result *r, isoproof_task *task, isoproof_error *error) {
  const isoproof_history *h = weak->view.h;
  uint32_t width = iso_weak_block_width(weak);
  bool acyclic = iso_order_is_acyclic(&weak->view, &weak->co);
  if (weak->clocks.rows == NULL && acyclic) return iso_weak_mark_by_query(weak, r, task, error);
  if (width == h->sessions) {
    ISO_TRY(iso_weak_need_clocks(weak, task, error));
    mark_instances(&weak->clocks, h, r);
    return ISOPROOF_OK;
  }
  for (uint32_t first = 0; first < h->sessions; first += width) {
    uint32_t columns = h->sessions - first < width ? h->sessions - first : width;
    iso_clocks block;
    ISO_TRY(iso_clocks_make(&weak->view, &weak->co, first, columns, task, &block, error));
    mark_instances(&block, h, r);
    iso_clocks_free(&block);
  }
  return ISOPROOF_OK;
}

/* What is known anyway forces nothing. */
static void drop_redundant(iso_axiom_result *r) {
  size_t kept = 0;
  for (size_t i = 0; i < r->instances.count; i++) {
    if (!r->instances.items[i].redundant) r->instances.items[kept++] = r->instances.items[i];
  }
  r->instances.count = kept;
}

/* Keeps the CO forms, and of the others those that are on a cycle of the graph without CO forms. */
static isoproof_status split_forms(iso_weak *weak, iso_axiom_result *r, isoproof_task *task, isoproof_error *error) {
  clear_forced(weak, &r->forced);
  for (size_t i = 0; i < r->instances.count; i++) {
    const iso_instance *instance = &r->instances.items[i];
    if (instance->causal_cycle) continue;
    if (i > 0 && instance[-1].t1 == instance->t1 && instance[-1].t2 == instance->t2) continue;
    iso_edge edge = {instance->t2, instance->t1};
    if (!iso_vec_push(&r->forced.list, edge)) return iso_fail_memory(error);
  }
  ISO_TRY(iso_edges_index(&r->forced, weak->view.h->txns, error));
  iso_vec_free(&r->forced.list);
  iso_order_free(&r->order);
  ISO_TRY(iso_order_make(&weak->view, &r->forced, true, task, &r->order, error));
  const uint32_t *component = r->order.component;
  size_t kept = 0;
  for (size_t i = 0; i < r->instances.count; i++) {
    const iso_instance *instance = &r->instances.items[i];
    bool cyclic = !instance->causal_cycle && component != NULL && component[instance->t1] != ISO_NO_TXN &&
                  component[instance->t1] == component[instance->t2];
    if (instance->causal_cycle || cyclic) r->instances.items[kept++] = *instance;
  }
  r->instances.count = kept;
  return ISOPROOF_OK;
}

/* Second scan of a violated axiom: the forced edges on cycles, and what they are instances of. */
static isoproof_status find_instances(iso_weak *weak, iso_weak_job *job, unsigned threads, iso_axiom_result *r,
                                      isoproof_error *error) {
  bool failed = false;
  job->order = &r->order;
  job->request.forced = iso_weak_take_instance;
  enum { FEW = 64 };
  if (job->request.axiom != ISO_AXIOM_CAUSAL && weak->view.h->sessions <= FEW) {
    ISO_TRY(iso_weak_need_clocks(weak, job->task, error)); /* so that the scan leaves out what causality says already */
    job->request.clocks = &weak->clocks;
  }
  ISO_TRY(iso_weak_job_run_blocks(weak, job, threads, error));
  iso_weak_job_collect(job, threads, r, &failed);
  if (failed) return iso_fail_memory(error);
  ISO_TRY(mark_by_blocks(weak, r, job->task, error));
  mark_versions(weak, r);
  drop_redundant(r);
  iso_weak_sort_instances(r);
  r->all_component = r->order.component;
  r->order.component = NULL;
  return split_forms(weak, r, job->task, error);
}

/* The reads that a weaker axiom can trip over when causal has its cycles: those of causal's CO forms, and those of
 * versions on a cycle that is left without them. */
static uint8_t *suspects(const iso_weak *weak) {
  const iso_axiom_result *causal = &weak->axioms[ISO_AXIOM_CAUSAL];
  uint32_t reads = weak->view.read_first[weak->view.h->txns];
  uint8_t *only = iso_alloc_zero(reads, 1);
  for (size_t i = 0; only != NULL && i < causal->instances.count; i++) only[causal->instances.items[i].read] = 1;
  const uint32_t *component = causal->order.component;
  for (uint32_t i = 0; only != NULL && component != NULL && i < reads; i++) {
    uint32_t t1 = weak->view.reads[i].from;
    if (t1 != ISO_INITIAL && component[t1] != ISO_NO_TXN) only[i] = 1;
  }
  return only;
}

static void take_suspect(void *context, uint32_t t2, uint32_t t3, uint32_t read) {
  iso_weak_finder *f = context;
  uint32_t t1 = f->job->request.view->reads[read].from;
  iso_instance instance = {.t1 = t1, .t2 = t2, .t3 = t3, .read = read, .causal_cycle = t1 == ISO_INITIAL};
  if (!iso_vec_push(&f->instances, instance)) f->failed = true;
}

/* Whether the edges that are no CO forms, together with what causal forces besides its CO forms, leave CO acyclic. */
static isoproof_status are_harmless(const iso_weak *weak, const iso_axiom_result *r, isoproof_task *task,
                                    bool *harmless, isoproof_error *error) {
  const iso_edges *causal = &weak->axioms[ISO_AXIOM_CAUSAL].forced;
  iso_edges both = {.known = weak->known_edges.known};
  iso_order order = {.sequence = NULL};
  bool made = true;
  for (uint32_t t = 0; made && t < weak->view.h->txns; t++) {
    for (uint32_t i = causal->first[t]; made && i < causal->first[t + 1]; i++) {
      made = iso_vec_push(&both.list, ((iso_edge){causal->from[i], t}));
    }
  }
  for (size_t i = 0; made && i < r->instances.count; i++) {
    const iso_instance *instance = &r->instances.items[i];
    if (!instance->causal_cycle) made = iso_vec_push(&both.list, ((iso_edge){instance->t2, instance->t1}));
  }
  isoproof_status status = made ? iso_edges_index(&both, weak->view.h->txns, error) : iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_order_make(&weak->view, &both, false, task, &order, error);
  if (status == ISOPROOF_OK) *harmless = iso_order_is_acyclic(&weak->view, &order);
  iso_order_free(&order);
  iso_edges_free(&both);
  return status;
}

static void keep_co_forms(iso_axiom_result *r) {
  size_t kept = 0;
  for (size_t i = 0; i < r->instances.count; i++) {
    if (r->instances.items[i].causal_cycle) r->instances.items[kept++] = r->instances.items[i];
  }
  r->instances.count = kept;
  iso_weak_sort_instances(r);
}

/* A weaker axiom after causal was found violated.  Every edge that it forces follows from one that causal forces by the
 * same read: so a cycle without CO forms consists of edges by suspected reads and of what causal forces besides its CO
 * forms.  When there is none, the CO forms decide. */
static isoproof_status decide_by_suspects(iso_weak *weak, iso_weak_job *job, unsigned threads, iso_axiom_result *r,
                                          isoproof_error *error) {
  bool failed = false, harmless = false;
  uint8_t *only = suspects(weak);
  if (only == NULL) return iso_fail_memory(error);
  job->request.only = only;
  job->request.forced = take_suspect;
  isoproof_status status = iso_weak_job_run(job, threads, error);
  job->request.only = NULL;
  free(only);
  if (status != ISOPROOF_OK) return status;
  iso_weak_job_collect(job, threads, r, &failed);
  if (failed) return iso_fail_memory(error);
  bool only_co_forms = weak->axioms[ISO_AXIOM_CAUSAL].only_co_forms;
  if (only_co_forms) {
    ISO_TRY(iso_weak_mark_by_query(weak, r, job->task, error));
    harmless = true;
  } else {
    mark_instances(&weak->clocks, weak->view.h, r);
    mark_versions(weak, r);
    ISO_TRY(are_harmless(weak, r, job->task, &harmless, error));
  }
  if (!harmless) {
    r->instances.count = 0; /* to be decided in full */
    return ISOPROOF_OK;
  }
  keep_co_forms(r);
  r->decided = true;
  r->violated = r->instances.count > 0;
  return ISOPROOF_OK;
}

static isoproof_status decide(iso_weak *weak, iso_weak_job *job, unsigned threads, iso_axiom_result *r,
                              isoproof_error *error) {
  bool failed = false, overwrote_initial = false;
  const iso_axiom_result *causal = &weak->axioms[ISO_AXIOM_CAUSAL];
  bool weaker = job->request.axiom != ISO_AXIOM_CAUSAL && causal->violated;
  if (weaker && (weak->clocks.rows != NULL || causal->only_co_forms)) {
    ISO_TRY(decide_by_suspects(weak, job, threads, r, error));
    if (r->decided) return ISOPROOF_OK;
  }
  clear_forced(weak, &r->forced);
  job->request.forced = iso_weak_take_edge;
  ISO_TRY(iso_weak_job_run_blocks(weak, job, threads, error));
  for (unsigned t = 0; t < threads; t++) overwrote_initial |= job->finders[t].overwrote_initial;
  iso_weak_job_collect(job, threads, r, &failed);
  if (failed) return iso_fail_memory(error);
  ISO_TRY(iso_edges_index(&r->forced, weak->view.h->txns, error));
  iso_vec_free(&r->forced.list);
  ISO_TRY(iso_order_make(&weak->view, &r->forced, true, job->task, &r->order, error));
  r->violated = overwrote_initial || !iso_order_is_acyclic(&weak->view, &r->order);
  r->decided = true;
  return r->violated ? find_instances(weak, job, threads, r, error) : ISOPROOF_OK;
}

isoproof_status iso_weak_decide(iso_weak *weak, iso_axiom axiom, isoproof_task *task, isoproof_error *error) {
  iso_axiom_result *r = &weak->axioms[axiom];
  if (r->decided) return ISOPROOF_OK;
  if (weak->block_columns == 0) {
    bool causal = axiom == ISO_AXIOM_CAUSAL;
    ISO_TRY(causal ? iso_weak_try_causal(weak, task, error) : iso_weak_try_by_causal(weak, axiom, task, error));
  }
  if (r->decided) return ISOPROOF_OK;
  unsigned threads;
  iso_weak_job job;
  ISO_TRY(iso_weak_job_make(weak, axiom, task, &job, &threads, error));
  const iso_axiom_result *causal = &weak->axioms[ISO_AXIOM_CAUSAL];
  if (axiom != ISO_AXIOM_CAUSAL && causal->violated) job.request.component = causal->all_component;
  isoproof_status status = decide(weak, &job, threads, r, error);
  iso_weak_job_free(&job, threads);
  if (r->decided && !r->violated) {
    iso_edges_free(&r->forced);
    iso_order_free(&r->order);
  }
  return status;
}

/* Deciding may have looked at a part of the forced edges only; an order has to respect them all. */
isoproof_status iso_weak_order(iso_weak *weak, iso_axiom axiom, isoproof_task *task, iso_order *order,
                               isoproof_error *error) {
  iso_axiom_result all = {.decided = false};
  bool failed = false;
  unsigned threads;
  iso_weak_job job;
  ISO_TRY(iso_weak_job_make(weak, axiom, task, &job, &threads, error));
  clear_forced(weak, &all.forced);
  job.request.forced = iso_weak_take_edge;
  isoproof_status status = iso_weak_job_run_blocks(weak, &job, threads, error);
  if (status == ISOPROOF_OK) iso_weak_job_collect(&job, threads, &all, &failed);
  iso_weak_job_free(&job, threads);
  if (status == ISOPROOF_OK && failed) status = iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_edges_index(&all.forced, weak->view.h->txns, error);
  if (status == ISOPROOF_OK) status = iso_order_make(&weak->view, &all.forced, false, task, order, error);
  iso_edges_free(&all.forced);
  return status;
}
