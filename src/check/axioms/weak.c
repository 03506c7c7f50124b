/* Deciding axioms: the edges that they force, whether those have a cycle, and the instances on it. */
#include "check/axioms/weak.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/axioms/by_search.h"
#include "check/axioms/rule.h"

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

/* ---- scanning in parallel ---- */

/* What one thread finds: edges in the first scan, instances in the second. */
typedef struct {
  struct scan_job *job;
  ISO_VEC(iso_edge) edges;
  ISO_VEC(iso_instance) instances;
  bool overwrote_initial; /* a writer visible to a read of the initial version */
  isoproof_status status;
  bool failed;
} finder;

typedef struct scan_job {
  iso_scan_request request;
  const iso_order *order; /* with components: collect instances on cycles */
  finder *finders;
  isoproof_task *task;
  uint32_t next_key; /* atomic: causal, the first key that no thread has taken */
} scan_job;

static void take_edge(void *context, uint32_t t2, uint32_t t3, uint32_t read) {
  (void)t3;
  finder *f = context;
  uint32_t t1 = f->job->request.view->reads[read].from;
  if (t1 == ISO_INITIAL) {
    f->overwrote_initial = true;
    return;
  }
  iso_edge edge = {t2, t1};
  /* Neighbouring reads often force the same edge again. */
  if (f->edges.count > 0) {
    const iso_edge *last = &f->edges.items[f->edges.count - 1];
    if (last->from == t2 && last->to == t1) return;
  }
  if (!iso_vec_push(&f->edges, edge)) f->failed = true;
}

static void take_instance(void *context, uint32_t t2, uint32_t t3, uint32_t read) {
  finder *f = context;
  uint32_t t1 = f->job->request.view->reads[read].from;
  if (t1 != ISO_INITIAL) {
    const uint32_t *component = f->job->order->component;
    if (component == NULL || component[t1] == ISO_NO_TXN || component[t1] != component[t2]) return;
  }
  iso_instance instance = {.t1 = t1, .t2 = t2, .t3 = t3, .read = read, .causal_cycle = t1 == ISO_INITIAL};
  if (!iso_vec_push(&f->instances, instance)) f->failed = true;
}

/* The first session of a thread's share, such that all have about as many transactions. */
static uint32_t share(const isoproof_history *h, unsigned thread, unsigned threads) {
  if (thread == threads) return h->sessions;
  uint64_t target = (uint64_t)h->txns * thread / threads;
  uint32_t low = 0, high = h->sessions;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (h->session_first_txn[middle] < target) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void scan_phase(void *context, unsigned thread, unsigned threads) {
  scan_job *job = context;
  finder *f = &job->finders[thread];
  const isoproof_history *h = job->request.view->h;
  f->job = job;
  f->status =
      iso_scan_sessions(&job->request, share(h, thread, threads), share(h, thread + 1, threads), f, job->task, NULL);
}

/* Causal goes key by key; a few busy keys take most of the time, so threads take keys as they come. */
static void causal_phase(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  enum { KEYS_AT_ONCE = 16 };
  scan_job *job = context;
  finder *f = &job->finders[thread];
  uint32_t keys = job->request.view->h->keys;
  f->job = job;
  f->status = ISOPROOF_OK;
  while (f->status == ISOPROOF_OK && iso_task_check(job->task, NULL) == ISOPROOF_OK) {
    uint32_t first = __atomic_fetch_add(&job->next_key, KEYS_AT_ONCE, __ATOMIC_RELAXED);
    if (first >= keys) break;
    uint32_t end = keys - first < KEYS_AT_ONCE ? keys : first + KEYS_AT_ONCE;
    f->status = iso_scan_causal(&job->request, first, end, f, NULL);
  }
}

static isoproof_status run_scan(scan_job *job, unsigned threads, isoproof_error *error) {
  job->next_key = 0;
  iso_parallel(threads, iso_axiom_rule_of(job->request.axiom)->scan == NULL ? causal_phase : scan_phase, job);
  for (unsigned t = 0; t < threads; t++) {
    if (job->finders[t].failed || job->finders[t].status == ISOPROOF_ERR_MEMORY) return iso_fail_memory(error);
  }
  return iso_task_check(job->task, error);
}

/* How many columns of clocks are made at a time. */
static uint32_t block_width(const iso_weak *weak) {
  enum { MOST_ENTRIES = 128 << 20, FEWEST = 16 };
  const isoproof_history *h = weak->view.h;
  uint64_t width = weak->block_columns;
  if (width == 0) {
    width = h->txns > 0 ? MOST_ENTRIES / h->txns : h->sessions;
    if (width < FEWEST) width = FEWEST;
  }
  return width < h->sessions ? (uint32_t)width : h->sessions;
}

/* Makes the clocks of all sessions. */
static isoproof_status need_clocks(iso_weak *weak, isoproof_task *task, isoproof_error *error) {
  if (weak->clocks.rows != NULL) return ISOPROOF_OK;
  return iso_clocks_make(&weak->view, &weak->co, 0, weak->view.h->sessions, task, &weak->clocks, error);
}

/* Takes what is forced from the search for an order instead of scanning. */
static isoproof_status take_forced(const iso_weak *weak, scan_job *job, isoproof_error *error) {
  finder *f = &job->finders[0];
  f->job = job;
  for (size_t i = 0; i < weak->forced.count; i++) {
    const iso_forced_pair *pair = &weak->forced.items[i];
    job->request.forced(f, pair->t2, iso_history_txn_of(weak->view.h, weak->view.reads[pair->read].op), pair->read);
  }
  return f->failed ? iso_fail_memory(error) : iso_task_check(job->task, error);
}

/* Scans with clocks for one block of sessions after the other; with a single block the clocks are kept. */
static isoproof_status scan_blocks(iso_weak *weak, scan_job *job, unsigned threads, isoproof_error *error) {
  if (job->request.axiom != ISO_AXIOM_CAUSAL) return run_scan(job, threads, error);
  if (weak->has_forced) return take_forced(weak, job, error);
  ISO_TRY(iso_view_need_readers(&weak->view, error));
  uint32_t sessions = weak->view.h->sessions, width = block_width(weak);
  if (width == sessions) {
    ISO_TRY(need_clocks(weak, job->task, error));
    job->request.clocks = &weak->clocks;
    return run_scan(job, threads, error);
  }
  for (uint32_t first = 0; first < sessions; first += width) {
    uint32_t columns = sessions - first < width ? sessions - first : width;
    iso_clocks block;
    ISO_TRY(iso_clocks_make(&weak->view, &weak->co, first, columns, job->task, &block, error));
    job->request.clocks = &block;
    isoproof_status status = run_scan(job, threads, error);
    iso_clocks_free(&block);
    if (status != ISOPROOF_OK) return status;
  }
  return ISOPROOF_OK;
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
  uint32_t width = block_width(weak);
  bool acyclic = iso_order_is_acyclic(&weak->view, &weak->co);
  if (weak->clocks.rows == NULL && acyclic) return iso_weak_mark_by_query(weak, r, task, error);
  if (width == h->sessions) {
    ISO_TRY(need_clocks(weak, task, error));
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

static void collect(scan_job *job, unsigned threads, iso_axiom_result *r, bool *failed) {
  for (unsigned t = 0; t < threads; t++) {
    finder *f = &job->finders[t];
    if (!iso_vec_reserve(&r->forced.list, f->edges.count) || !iso_vec_reserve(&r->instances, f->instances.count)) {
      *failed = true;
      return;
    }
    if (f->edges.count > 0) {
      memcpy(r->forced.list.items + r->forced.list.count, f->edges.items, f->edges.count * sizeof *f->edges.items);
    }
    if (f->instances.count > 0) {
      memcpy(r->instances.items + r->instances.count, f->instances.items,
             f->instances.count * sizeof *f->instances.items);
    }
    r->forced.list.count += f->edges.count;
    r->instances.count += f->instances.count;
    iso_vec_free(&f->edges);
    iso_vec_free(&f->instances);
  }
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
static isoproof_status find_instances(iso_weak *weak, scan_job *job, unsigned threads, iso_axiom_result *r,
                                      isoproof_error *error) {
  bool failed = false;
  job->order = &r->order;
  job->request.forced = take_instance;
  enum { FEW = 64 };
  if (job->request.axiom != ISO_AXIOM_CAUSAL && weak->view.h->sessions <= FEW) {
    ISO_TRY(need_clocks(weak, job->task, error)); /* so that the scan leaves out what causality says already */
    job->request.clocks = &weak->clocks;
  }
  ISO_TRY(scan_blocks(weak, job, threads, error));
  collect(job, threads, r, &failed);
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
  finder *f = context;
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
static isoproof_status decide_by_suspects(iso_weak *weak, scan_job *job, unsigned threads, iso_axiom_result *r,
                                          isoproof_error *error) {
  bool failed = false, harmless = false;
  uint8_t *only = suspects(weak);
  if (only == NULL) return iso_fail_memory(error);
  job->request.only = only;
  job->request.forced = take_suspect;
  isoproof_status status = run_scan(job, threads, error);
  job->request.only = NULL;
  free(only);
  if (status != ISOPROOF_OK) return status;
  collect(job, threads, r, &failed);
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

static isoproof_status decide(iso_weak *weak, scan_job *job, unsigned threads, iso_axiom_result *r,
                              isoproof_error *error) {
  bool failed = false, overwrote_initial = false;
  const iso_axiom_result *causal = &weak->axioms[ISO_AXIOM_CAUSAL];
  bool weaker = job->request.axiom != ISO_AXIOM_CAUSAL && causal->violated;
  if (weaker && (weak->clocks.rows != NULL || causal->only_co_forms)) {
    ISO_TRY(decide_by_suspects(weak, job, threads, r, error));
    if (r->decided) return ISOPROOF_OK;
  }
  clear_forced(weak, &r->forced);
  job->request.forced = take_edge;
  ISO_TRY(scan_blocks(weak, job, threads, error));
  for (unsigned t = 0; t < threads; t++) overwrote_initial |= job->finders[t].overwrote_initial;
  collect(job, threads, r, &failed);
  if (failed) return iso_fail_memory(error);
  ISO_TRY(iso_edges_index(&r->forced, weak->view.h->txns, error));
  iso_vec_free(&r->forced.list);
  ISO_TRY(iso_order_make(&weak->view, &r->forced, true, job->task, &r->order, error));
  r->violated = overwrote_initial || !iso_order_is_acyclic(&weak->view, &r->order);
  r->decided = true;
  return r->violated ? find_instances(weak, job, threads, r, error) : ISOPROOF_OK;
}

/* What a scan for the axiom needs; the caller frees it with job_free. */
static isoproof_status job_make(iso_weak *weak, iso_axiom axiom, isoproof_task *task, scan_job *job, unsigned *threads,
                                isoproof_error *error) {
  enum { SMALL = 16384 };
  if (iso_axiom_rule_of(axiom)->needs_groups) {
    ISO_TRY(iso_view_need_writers(&weak->view, error));
    ISO_TRY(iso_versions_need_places(&weak->view, &weak->versions, error));
  }
  *threads = weak->view.h->txns < SMALL ? 1 : iso_task_threads(task);
  *job = (scan_job){.request = {.view = &weak->view, .axiom = axiom}, .task = task};
  if (weak->clocks.rows != NULL) job->request.clocks = &weak->clocks;
  if (has_lists(weak)) job->request.versions = &weak->versions;
  job->finders = iso_alloc_zero(*threads, sizeof *job->finders);
  return job->finders != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

static void job_free(scan_job *job, unsigned threads) {
  for (unsigned t = 0; t < threads; t++) {
    iso_vec_free(&job->finders[t].edges);
    iso_vec_free(&job->finders[t].instances);
  }
  free(job->finders);
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
  scan_job job;
  ISO_TRY(job_make(weak, axiom, task, &job, &threads, error));
  const iso_axiom_result *causal = &weak->axioms[ISO_AXIOM_CAUSAL];
  if (axiom != ISO_AXIOM_CAUSAL && causal->violated) job.request.component = causal->all_component;
  isoproof_status status = decide(weak, &job, threads, r, error);
  job_free(&job, threads);
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
  scan_job job;
  ISO_TRY(job_make(weak, axiom, task, &job, &threads, error));
  clear_forced(weak, &all.forced);
  job.request.forced = take_edge;
  isoproof_status status = scan_blocks(weak, &job, threads, error);
  if (status == ISOPROOF_OK) collect(&job, threads, &all, &failed);
  job_free(&job, threads);
  if (status == ISOPROOF_OK && failed) status = iso_fail_memory(error);
  if (status == ISOPROOF_OK) status = iso_edges_index(&all.forced, weak->view.h->txns, error);
  if (status == ISOPROOF_OK) status = iso_order_make(&weak->view, &all.forced, false, task, order, error);
  iso_edges_free(&all.forced);
  return status;
}
