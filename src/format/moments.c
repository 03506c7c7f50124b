/* Beginnings and ends sorted, so that what overlapped goes on to overlap. */
#include "format/moments.h"

#include <stdlib.h>

#include "base/vector.h"
#include "history/real_time.h"

enum { BEGINS, ENDS, GOES_ON };

static int by_time(const void *a, const void *b) {
  const iso_moment *x = a, *y = b;
  if (x->when != y->when) return x->when < y->when ? -1 : 1;
  if (x->turn != y->turn) return x->turn < y->turn ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static isoproof_status fill(iso_write_job *job, const char *format_name, iso_moments *m) {
  const isoproof_history *h = job->history;
  for (uint32_t s = 0; s < h->sessions; s++) {
    int64_t ended = INT64_MIN;
    for (uint32_t t = h->session_first_txn[s]; t < h->session_first_txn[s + 1]; t++) {
      int64_t start = iso_real_start(h, t), end = iso_real_end(h, t);
      bool goes_on = start != INT64_MIN && start <= ended;
      if (start == INT64_MIN || start < ended || (goes_on && !job->lossy)) {
        char name[64];
        isoproof_history_txn_name(h, t, name, sizeof name);
        return iso_fail(job->error, ISOPROOF_ERR_UNSUPPORTED, "%s tells real time by the order of lines, and %s %s",
                        format_name, name,
                        start == INT64_MIN ? "has no time at which it began"
                        : start < ended    ? "began before what its session did before had ended"
                                           : "began at the moment at which what its session did before ended");
      }
      if (goes_on && job->lossy) job->loss->times = true;
      m->items[m->count++] = (iso_moment){start, t, goes_on ? GOES_ON : BEGINS};
      if (h->txn_status[t] == ISOPROOF_TXN_UNKNOWN) continue;
      m->items[m->count++] = (iso_moment){end, t, goes_on && end == start ? GOES_ON + 1 : ENDS};
      if (end != INT64_MAX) ended = end;
    }
  }
  if (m->count > 1) qsort(m->items, m->count, sizeof *m->items, by_time);
  return ISOPROOF_OK;
}

isoproof_status iso_moments_make(iso_write_job *job, const char *format_name, iso_moments *moments) {
  *moments = (iso_moments){0};
  if (job->history->txns > 0 && !iso_has_real_time(job->history)) {
    return iso_fail(job->error, ISOPROOF_ERR_UNSUPPORTED, "%s is about real time, and the history has no times",
                    format_name);
  }
  moments->items = iso_alloc(2 * (size_t)job->history->txns, sizeof *moments->items);
  if (moments->items == NULL) return iso_fail_memory(job->error);
  isoproof_status status = fill(job, format_name, moments);
  if (status != ISOPROOF_OK) iso_moments_free(moments);
  return status;
}

void iso_moments_free(iso_moments *moments) {
  free(moments->items);
  *moments = (iso_moments){0};
}
