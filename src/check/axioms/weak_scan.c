/* weak_scan.c - scans for what an axiom forces, on several threads and with clocks for some sessions at a time. */
#include "check/axioms/weak_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/axioms/rule.h"

void iso_weak_take_edge(void *context, uint32_t t2, uint32_t t3, uint32_t read) {
  (void)t3;
  iso_weak_finder *f = context;
  if (f->failed) return;
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

void iso_weak_take_instance(void *context, uint32_t t2, uint32_t t3, uint32_t read) {
  iso_weak_finder *f = context;
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
  iso_weak_job *job = context;
  iso_weak_finder *f = &job->finders[thread];
  const isoproof_history *h = job->request.view->h;
  f->job = job;
  f->status =
      iso_scan_sessions(&job->request, share(h, thread, threads), share(h, thread + 1, threads), f, job->task, NULL);
}

/* Causal goes key by key; a few busy keys take most of the time, so threads take keys as they come. */
static void causal_phase(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  enum { KEYS_AT_ONCE = 16 };
  iso_weak_job *job = context;
  iso_weak_finder *f = &job->finders[thread];
  uint32_t keys = job->request.view->h->keys;
  f->job = job;
  f->status = ISOPROOF_OK;
  while (f->status == ISOPROOF_OK && iso_task_check(job->task, NULL) == ISOPROOF_OK) {
    uint32_t first = __atomic_fetch_add(&job->next_key, KEYS_AT_ONCE, __ATOMIC_RELAXED);
    if (first >= keys) break;
    uint32_t end = keys - first < KEYS_AT_ONCE ? keys : first + KEYS_AT_ONCE;
    f->status = iso_scan_causal(&job->request, first, end, f, job->task, NULL);
  }
}

isoproof_status iso_weak_job_run(iso_weak_job *job, unsigned threads, isoproof_error *error) {
  job->next_key = 0;
  iso_parallel(threads, iso_axiom_rule_of(job->request.axiom)->scan == NULL ? causal_phase : scan_phase, job);
  for (unsigned t = 0; t < threads; t++) {
    if (job->finders[t].failed || job->finders[t].status == ISOPROOF_ERR_MEMORY) return iso_fail_memory(error);
  }
  return iso_task_check(job->task, error);
}

/* How many columns of clocks are made at a time. */
uint32_t iso_weak_block_width(const iso_weak *weak) {
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
isoproof_status iso_weak_need_clocks(iso_weak *weak, isoproof_task *task, isoproof_error *error) {
  if (weak->clocks.rows != NULL) return ISOPROOF_OK;
  return iso_clocks_make(&weak->view, &weak->co, 0, weak->view.h->sessions, task, &weak->clocks, error);
}

/* Takes what is forced from the search for an order instead of scanning. */
static isoproof_status take_forced(const iso_weak *weak, iso_weak_job *job, isoproof_error *error) {
  iso_weak_finder *f = &job->finders[0];
  f->job = job;
  for (size_t i = 0; i < weak->forced.count; i++) {
    const iso_forced_pair *pair = &weak->forced.items[i];
    job->request.forced(f, pair->t2, iso_history_txn_of(weak->view.h, weak->view.reads[pair->read].op), pair->read);
  }
  return f->failed ? iso_fail_memory(error) : iso_task_check(job->task, error);
}

/* Scans with clocks for one block of sessions after the other; with a single block the clocks are kept. */
isoproof_status iso_weak_job_run_blocks(iso_weak *weak, iso_weak_job *job, unsigned threads, isoproof_error *error) {
  if (job->request.axiom != ISO_AXIOM_CAUSAL) return iso_weak_job_run(job, threads, error);
  if (weak->has_forced) return take_forced(weak, job, error);
  ISO_TRY(iso_view_need_readers(&weak->view, error));
  uint32_t sessions = weak->view.h->sessions, width = iso_weak_block_width(weak);
  if (width == sessions) {
    ISO_TRY(iso_weak_need_clocks(weak, job->task, error));
    job->request.clocks = &weak->clocks;
    return iso_weak_job_run(job, threads, error);
  }
  for (uint32_t first = 0; first < sessions; first += width) {
    uint32_t columns = sessions - first < width ? sessions - first : width;
    iso_clocks block;
    ISO_TRY(iso_clocks_make(&weak->view, &weak->co, first, columns, job->task, &block, error));
    job->request.clocks = &block;
    isoproof_status status = iso_weak_job_run(job, threads, error);
    iso_clocks_free(&block);
    if (status != ISOPROOF_OK) return status;
  }
  return ISOPROOF_OK;
}

void iso_weak_job_collect(iso_weak_job *job, unsigned threads, iso_axiom_result *r, bool *failed) {
  for (unsigned t = 0; t < threads; t++) {
    iso_weak_finder *f = &job->finders[t];
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

/* What a scan for the axiom needs; the caller frees it with iso_weak_job_free. */
isoproof_status iso_weak_job_make(iso_weak *weak, iso_axiom axiom, isoproof_task *task, iso_weak_job *job,
                                  unsigned *threads, isoproof_error *error) {
  enum { SMALL = 16384 };
  if (iso_axiom_rule_of(axiom)->needs_groups) {
    ISO_TRY(iso_view_need_writers(&weak->view, error));
    ISO_TRY(iso_versions_need_places(&weak->view, &weak->versions, error));
  }
  *threads = weak->view.h->txns < SMALL ? 1 : iso_task_threads(task);
  *job = (iso_weak_job){.request = {.view = &weak->view, .axiom = axiom}, .task = task};
  if (weak->clocks.rows != NULL) job->request.clocks = &weak->clocks;
  if (weak->versions.place != NULL) job->request.versions = &weak->versions;
  job->finders = iso_alloc_zero(*threads, sizeof *job->finders);
  return job->finders != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

void iso_weak_job_free(iso_weak_job *job, unsigned threads) {
  for (unsigned t = 0; t < threads; t++) {
    iso_vec_free(&job->finders[t].edges);
    iso_vec_free(&job->finders[t].instances);
  }
  free(job->finders);
}
