/* A quick proof: the passes one after the other, as long as nothing is wrong. */
#include "check/quick/quick.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/quick/replay.h"
#include "check/quick/state.h"

/* Whether a history is one of registers whose outcomes are known. */
static bool is_plain(const isoproof_history *h) {
  bool lists = h->list_first != NULL && h->list_first[h->keys] > 0;
  return !lists && h->odd_lists == 0 && !iso_history_has_rows(h) && h->unknown == 0 && h->txns < ISO_QUICK_SUSPECT - 2;
}

/* Whether the passes over transactions can take it. */
static bool is_short(const isoproof_history *h) {
  bool small = true;
  for (uint32_t txn = 0; txn < h->txns; txn++) {
    small &= h->txn_first_op[txn + 1] - h->txn_first_op[txn] <= ISO_QUICK_MOST_OPS;
  }
  return small;
}

/* Whether clocks are worth their memory. */
static bool is_narrow(const isoproof_history *h) {
  uint32_t longest = 0;
  for (uint32_t s = 0; s < h->sessions; s++) {
    uint32_t txns = h->session_first_txn[s + 1] - h->session_first_txn[s];
    longest = txns > longest ? txns : longest;
  }
  return h->sessions <= ISO_QUICK_MOST_SESSIONS && longest < ISO_QUICK_NUMBER_MASK;
}

/* Whole sessions for each thread, such that all have about as many transactions. */
static void share_out(iso_quick *q) {
  const isoproof_history *h = q->h;
  uint32_t session = 0;
  for (unsigned t = 0; t < q->threads; t++) {
    uint64_t target = (uint64_t)h->txns * (t + 1) / q->threads;
    q->shares[t].first_session = session;
    while (session < h->sessions && h->session_first_txn[session] < target) session++;
    if (t + 1 == q->threads) session = h->sessions;
    q->shares[t].end_session = session;
  }
}

static void quick_free(iso_quick *q) {
  for (unsigned t = 0; q->shares != NULL && t < q->threads; t++) {
    free(q->shares[t].end);
    free(q->shares[t].marks);
    free(q->shares[t].stamps);
    iso_vec_free(&q->shares[t].sources);
    iso_vec_free(&q->shares[t].edges);
  }
  free(q->shares);
  free(q->first);
  free(q->table);
  free(q->txns);
  free(q->repeats);
  free(q->source_end);
  free(q->edge_first);
  free(q->edge_from);
  free(q->versions);
  free(q->sequence);
}

/* By the order of the times, which proves every axiom; false when memory is out. */
static bool run_by_times(iso_quick *q, iso_quick_proof *proof) {
  iso_quick_serial serial;
  if (!iso_quick_replay(q->h, q->threads, q->task, &serial)) return false;
  if (!serial.is_serial) return true;
  if (!serial.is_unique) {
    if (!iso_quick_measure(q) || (!q->given_up && !iso_quick_find_repeated(q))) return false;
  }
  proof->is_sound = proof->is_proved = !q->given_up;
  return true;
}

/* By looking every read up; false when memory is out. */
static bool run_by_reads(iso_quick *q, iso_quick_proof *proof) {
  if (q->first == NULL && !iso_quick_measure(q)) return false;
  if (q->given_up) return true;
  if (!iso_quick_enter_writes(q)) return false;
  if (q->given_up) return true;
  if (!iso_quick_judge_reads(q)) return false;
  proof->is_sound = !q->given_up && iso_task_check(q->task, NULL) == ISOPROOF_OK;
  if (!proof->is_sound) return true;
  bool acyclic;
  if (!iso_quick_sort(q, &acyclic)) return false;
  if (acyclic && q->axiom == ISO_AXIOM_CAUSAL) return iso_quick_causal(q, &proof->is_proved);
  proof->is_proved = acyclic;
  return true;
}

/* False when memory is out. */
static bool run(iso_quick *q, iso_quick_proof *proof) {
  q->shares = iso_alloc_zero(q->threads, sizeof *q->shares);
  if (q->shares == NULL) return false;
  share_out(q);
  if (!run_by_times(q, proof)) return false;
  bool by_reads = is_short(q->h) && (q->axiom != ISO_AXIOM_CAUSAL || is_narrow(q->h));
  return proof->is_proved || q->given_up || !by_reads || run_by_reads(q, proof);
}

isoproof_status iso_quick_prove(const isoproof_history *history, iso_axiom axiom, isoproof_task *task,
                                iso_quick_proof *proof, isoproof_error *error) {
  enum { SMALL = 65536 };
  *proof = (iso_quick_proof){.axiom = axiom};
  if (axiom > ISO_AXIOM_CAUSAL || !is_plain(history)) return ISOPROOF_OK;
  unsigned threads = history->ops < SMALL ? 1 : iso_task_threads(task);
  iso_quick q = {.h = history, .axiom = axiom, .task = task, .threads = threads};
  bool made = run(&q, proof);
  quick_free(&q);
  if (proof->is_proved) return ISOPROOF_OK;
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}
