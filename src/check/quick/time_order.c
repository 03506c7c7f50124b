/* Sorts transactions by time in linear time, as times are spread about evenly. */
#include "check/quick/time_order.h"

#include <stdlib.h>

#include "base/vector.h"

/* Whether transactions stand in the file session by session. */
static bool is_by_session(const isoproof_history *h) {
  for (uint32_t txn = 1; txn < h->txns; txn++) {
    if (h->txn_position_opt[txn] < h->txn_position_opt[txn - 1]) return false;
  }
  return true;
}

void iso_quick_find_times(const isoproof_history *history, const int64_t *times[ISO_QUICK_TIMES]) {
  const isoproof_history *h = history;
  bool places = h->txn_position_opt != NULL && (h->sessions == 1 || !is_by_session(h));
  times[ISO_QUICK_ENDS] = h->txn_end_index_opt != NULL ? h->txn_end_index_opt : h->txn_end_opt;
  times[ISO_QUICK_STARTS] = h->txn_start_index_opt != NULL ? h->txn_start_index_opt : h->txn_start_opt;
  times[ISO_QUICK_PLACES] = places ? (const int64_t *)h->txn_position_opt : NULL;
}

/* How time is cut into about as many pieces as there are transactions. */
typedef struct {
  uint64_t first;
  unsigned shift;
  size_t count;
} pieces;

static inline size_t piece_of(const pieces *p, int64_t time) { return ((uint64_t)time - p->first) >> p->shift; }

/* Finds from when to when the transactions go; false where the times of a session do not ascend. */
static bool cut(const iso_quick_times *t, pieces *p, size_t *txns) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  bool ascends = true;
  *txns = 0;
  for (uint32_t session = 0; session < t->h->sessions; session++) {
    uint32_t begin = t->first[session], end = t->end[session];
    if (begin == end) continue;
    bool is_first = begin == t->h->session_first_txn[session];
    for (uint32_t txn = is_first ? begin + 1 : begin; txn < end; txn++) ascends &= t->time[txn - 1] <= t->time[txn];
    first = t->time[begin] < first ? t->time[begin] : first;
    last = t->time[end - 1] > last ? t->time[end - 1] : last;
    *txns += end - begin;
  }
  *p = (pieces){.first = (uint64_t)first};
  if (!ascends || *txns == 0) return ascends;
  uint64_t span = (uint64_t)last - (uint64_t)first;
  while (span >> p->shift >= *txns) p->shift++;
  p->count = (size_t)(span >> p->shift) + 1;
  return true;
}

/* Sorts the few transactions of a piece of time; false where they are too many. */
static bool sort_piece(const int64_t *time, uint32_t *order, size_t count) {
  enum { MOST = 256 };
  if (count > MOST) return false;
  for (size_t i = 1; i < count; i++) {
    uint32_t txn = order[i];
    size_t k = i;
    /* Those of one session came in its order, and stay so. */
    for (; k > 0 && time[order[k - 1]] > time[txn]; k--) order[k] = order[k - 1];
    order[k] = txn;
  }
  return true;
}

/* `ends` has a place for every piece and one more, all 0. */
static bool sort(const iso_quick_times *t, const pieces *p, uint32_t *ends, uint32_t *order) {
  uint32_t sessions = t->h->sessions, begin = 0;
  for (uint32_t session = 0; session < sessions; session++) {
    for (uint32_t txn = t->first[session]; txn < t->end[session]; txn++) ends[piece_of(p, t->time[txn]) + 1]++;
  }
  for (size_t i = 1; i <= p->count; i++) ends[i] += ends[i - 1];
  for (uint32_t session = 0; session < sessions; session++) {
    for (uint32_t txn = t->first[session]; txn < t->end[session]; txn++) {
      order[ends[piece_of(p, t->time[txn])]++] = txn; /* which begins as the end of the piece before */
    }
  }
  for (size_t i = 0; i < p->count; begin = ends[i++]) {
    if (ends[i] - begin > 1 && !sort_piece(t->time, order + begin, ends[i] - begin)) return false;
  }
  return true;
}

bool iso_quick_time_order(const iso_quick_times *times, uint32_t **order, size_t *count) {
  pieces p;
  *order = NULL;
  if (!cut(times, &p, count)) return true;
  uint32_t *made = iso_alloc(*count, sizeof *made), *ends = iso_alloc_zero(p.count + 1, sizeof *ends);
  bool room = made != NULL && ends != NULL;
  if (room && sort(times, &p, ends, made)) {
    *order = made;
  } else {
    free(made);
  }
  free(ends);
  return room;
}
