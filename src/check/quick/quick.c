/* A quick proof: the passes one after the other, as long as nothing is wrong. */
#include "check/quick/quick.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/quick/frugal.h"
#include "check/quick/replay.h"
#include "check/quick/snapshots.h"
#include "check/quick/state.h"
#include "check/quick/time_order.h"
#include "history/real_time.h"

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

/* So many transactions have an entry in common that there are about as many entries as sessions, or twice. */
static bool index_sessions(iso_quick *q) {
  const isoproof_history *h = q->h;
  uint32_t session = 0;
  while ((uint64_t)h->txns >> q->session_shift > 2 * (uint64_t)h->sessions) q->session_shift++;
  size_t count = ((size_t)h->txns >> q->session_shift) + 1;
  q->sessions = iso_alloc(count, sizeof *q->sessions);
  for (size_t i = 0; q->sessions != NULL && i < count; i++) {
    while (session + 1 < h->sessions && i << q->session_shift >= h->session_first_txn[session + 1]) session++;
    q->sessions[i] = session;
  }
  return q->sessions != NULL;
}

iso_quick_walk iso_quick_walk_begin(const iso_quick *q, const iso_quick_share *share) {
  enum { AT_ONCE = 24 };
  const uint32_t *first = q->h->session_first_txn;
  uint32_t longest = 0;
  for (uint32_t s = share->first_session; s < share->end_session; s++) {
    longest = first[s + 1] - first[s] > longest ? first[s + 1] - first[s] : longest;
  }
  bool many = q->h->sessions > q->most_turns;
  return (iso_quick_walk){
      .q = q, .share = share, .turns = many ? 1 : longest / AT_ONCE + 1, .session = share->first_session};
}

bool iso_quick_walk_next(iso_quick_walk *walk, uint32_t *session, uint32_t *txn, uint32_t *end) {
  while (walk->turn < walk->turns) {
    if (walk->session == walk->share->end_session) {
      walk->session = walk->share->first_session;
      walk->turn++;
      continue;
    }
    const uint32_t *first = &walk->q->h->session_first_txn[walk->session];
    uint64_t length = first[1] - first[0];
    *session = walk->session++;
    *txn = first[0] + (uint32_t)(length * walk->turn / walk->turns);
    *end = first[0] + (uint32_t)(length * (walk->turn + 1) / walk->turns);
    if (*txn < *end) return true;
  }
  return false;
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
  free(q->keys);
  free(q->sessions);
  free(q->repeats);
  free(q->source_first);
  free(q->source_count);
  free(q->seen_at);
  free(q->edge_first);
  free(q->edge_from);
  free(q->versions);
  free(q->sequence);
  free(q->first_read);
  free(q->entries);
  iso_vec_free(&q->circle);
}

/* By the order of the times, which proves every axiom; false when memory is out. */
static bool run_by_times(iso_quick *q, iso_quick_proof *proof) {
  iso_quick_serial serial;
  unsigned threads = iso_quick_plan_replay(q);
  if (threads == 0) return true;
  if (!iso_quick_replay(q->h, threads, q->window, q->task, &serial)) return false;
  if (!serial.is_serial) return true;
  if (!serial.is_unique) {
    if (!iso_quick_measure(q) || (!q->given_up && !iso_quick_find_repeated(q))) return false;
  }
  proof->is_sound = proof->is_proved = !q->given_up;
  proof->repeats = q->given_up && q->may_repeat;
  proof->is_serial = proof->is_proved || proof->repeats;
  proof->is_strict = proof->is_serial && serial.is_strict && iso_has_real_time(q->h);
  return true;
}

/* Takes the order of the ends, or that of the file, for a guess, if sessions agree with it. */
static void guess(iso_quick *q) {
  const int64_t *times[ISO_QUICK_TIMES], *time;
  const uint32_t *first = q->h->session_first_txn;
  iso_quick_find_times(q->h, times);
  time = times[ISO_QUICK_ENDS] != NULL ? times[ISO_QUICK_ENDS] : times[ISO_QUICK_PLACES];
  bool ascends = time != NULL;
  for (uint32_t s = 0; ascends && s < q->h->sessions; s++) {
    for (uint32_t txn = first[s] + 1; txn < first[s + 1]; txn++) ascends &= time[txn - 1] <= time[txn];
  }
  q->time = ascends ? time : NULL;
}

/* Judges every read, and what follows for the order; false when memory is out. */
static bool judge(iso_quick *q) {
  if (!iso_quick_judge_reads(q)) return false;
  if (iso_quick_is_over(q) || q->axiom == ISO_AXIOM_READ_COMMITTED) return true;
  return iso_quick_judge_sessions(q);
}

/* The same without a guess. */
static bool judge_again(iso_quick *q) {
  q->time = NULL;
  q->misguessed = false;
  for (unsigned t = 0; t < q->threads; t++) q->shares[t].sources.count = q->shares[t].edges.count = 0;
  return judge(q);
}

/* An order that respects what is known; false when memory is out. */
static bool sort(iso_quick *q, bool *acyclic) {
  *acyclic = true;
  if (q->memory != ISO_QUICK_ALL_MEMORY) iso_quick_release(q);
  if (q->time == NULL) return iso_quick_sort(q, acyclic);
  if (q->axiom != ISO_AXIOM_CAUSAL) return true;
  if (!iso_quick_sort_by_time(q)) return false;
  return q->sequence != NULL || (judge_again(q) && iso_quick_sort(q, acyclic));
}

/* Enters writes, and where memory is limited, looks reads up; false when memory is out. */
static bool enter(iso_quick *q) {
  if (q->memory == ISO_QUICK_ALL_MEMORY) return iso_quick_enter_writes(q);
  if (iso_quick_plan_slices(q)) return iso_quick_enter_slices(q);
  iso_quick_give_up(q);
  return true;
}

/* By looking every read up; false when memory is out. */
static bool run_by_reads(iso_quick *q, iso_quick_proof *proof) {
  if (q->first == NULL && !iso_quick_measure(q)) return false;
  if (q->given_up) return true;
  if ((q->sessions == NULL && !index_sessions(q)) || !enter(q)) return false;
  if (q->given_up) return true;
  guess(q);
  if (!judge(q)) return false;
  if (!q->given_up && q->misguessed && !judge_again(q)) return false;
  proof->is_sound = !q->given_up && iso_task_check(q->task, NULL) == ISOPROOF_OK;
  if (!proof->is_sound || q->snapshots) return true;
  bool acyclic;
  if (!sort(q, &acyclic)) return false;
  if (acyclic && q->axiom == ISO_AXIOM_CAUSAL) return iso_quick_causal(q, &proof->is_proved);
  proof->is_proved = acyclic;
  return true;
}

/* Snapshot isolation: labels, and reads that are sound.  Where memory is limited reads come first, as they may show
 * what is wrong; else labels do, which fail sooner.  False when memory is out. */
static bool run_by_labels(iso_quick *q, iso_quick_proof *proof) {
  bool labels;
  if (q->memory != ISO_QUICK_ALL_MEMORY) {
    if (!run_by_reads(q, proof) || !iso_quick_find_suspects(q)) return false;
    return !proof->is_sound || iso_quick_snapshots(q, &proof->is_snapshot);
  }
  if (!iso_quick_measure(q)) return false;
  if (q->given_up) return true;
  if (!index_sessions(q) || !iso_quick_snapshots(q, &labels)) return false;
  if (labels && !run_by_reads(q, proof)) return false;
  proof->is_snapshot = labels && proof->is_sound;
  return true;
}

/* False when memory is out. */
static bool run(iso_quick *q, bool by_reads, iso_quick_proof *proof) {
  q->shares = iso_alloc_zero(q->threads, sizeof *q->shares);
  if (q->shares == NULL) return false;
  share_out(q);
  if (!run_by_times(q, proof)) return false;
  by_reads = by_reads && is_short(q->h) && (q->axiom != ISO_AXIOM_CAUSAL || is_narrow(q->h));
  if (proof->is_proved || q->given_up || !by_reads) return true;
  if (q->snapshots) return run_by_labels(q, proof);
  if (!run_by_reads(q, proof)) return false;
  return proof->is_proved || iso_quick_find_suspects(q);
}

static isoproof_status prove(iso_quick *q, bool by_reads, iso_quick_proof *proof, isoproof_error *error) {
  enum { SMALL = 65536 };
  *proof = (iso_quick_proof){.axiom = q->axiom};
  if (q->axiom > ISO_AXIOM_CAUSAL || !is_plain(q->h)) return ISOPROOF_OK;
  q->threads = q->h->ops < SMALL ? 1 : iso_task_threads(q->task);
  q->most_turns = ISO_QUICK_MOST_TURNS;
  q->most_suspicions = ISO_QUICK_BLOCK;
  q->window = q->most_kept = UINT64_MAX;
  bool made = run(q, by_reads, proof);
  proof->slices = q->entries != NULL || q->first_read != NULL ? q->slices : 0;
  quick_free(q);
  if (iso_quick_proved_level(proof) != NULL) return ISOPROOF_OK;
  return made ? iso_task_check(q->task, error) : iso_fail_memory(error);
}

const isoproof_level_info *iso_quick_proved_level(const iso_quick_proof *proof) {
  if (proof->is_strict) return isoproof_level_at(ISO_LEVEL_STRICT_SERIALIZABLE);
  if (proof->is_serial) return isoproof_level_at(ISO_LEVEL_SERIALIZABLE);
  if (proof->is_snapshot) return isoproof_level_at(ISO_LEVEL_SNAPSHOT_ISOLATION);
  return proof->is_proved ? iso_axiom_level(proof->axiom) : NULL;
}

isoproof_status iso_quick_prove(const isoproof_history *history, iso_axiom axiom, isoproof_task *task,
                                iso_quick_proof *proof, isoproof_error *error) {
  iso_quick q = {.h = history, .axiom = axiom, .task = task, .memory = ISO_QUICK_ALL_MEMORY};
  return prove(&q, true, proof, error);
}

isoproof_status iso_quick_prove_frugally(const isoproof_history *history, const iso_quick_wish *wish,
                                         isoproof_task *task, iso_quick_proof *proof, isoproof_error *error) {
  iso_quick q = {.h = history, .axiom = wish->axiom, .task = task};
  q.memory = wish->memory;
  q.slices = wish->fewest_slices;
  q.snapshots = wish->snapshots;
  q.may_repeat = wish->repeats;
  q.suspects = wish->suspects;
  isoproof_status status = prove(&q, wish->by_reads && wish->axiom <= ISO_AXIOM_READ_ATOMIC, proof, error);
  if (history->frugal) iso_pages_let_go(history->map, 0, history->map_bytes);
  return status;
}
