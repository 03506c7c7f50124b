/* Sorting transactions by time, with the pages of the file let go of afterwards. */
#include "parts/by_time.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "history/real_time.h"

typedef struct {
  int64_t when;
  uint32_t txn;
} moment;

static int by_time(const void *a, const void *b) {
  const moment *x = a, *y = b;
  if (x->when != y->when) return x->when < y->when ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static isoproof_status sort_txns(const iso_coordinator *c, bool starts, uint32_t **txns, isoproof_error *error) {
  const isoproof_history *h = c->h;
  moment *all = iso_alloc(c->view.taking_part, sizeof *all);
  size_t count = 0;
  *txns = iso_alloc(c->view.taking_part, sizeof **txns);
  isoproof_status status = all != NULL && *txns != NULL ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t t = 0; status == ISOPROOF_OK && t < h->txns; t++) {
    if (c->out->counts[t]) all[count++] = (moment){starts ? iso_real_start(h, t) : iso_real_end(h, t), t};
  }
  if (status == ISOPROOF_OK) qsort(all, count, sizeof *all, by_time);
  for (size_t i = 0; status == ISOPROOF_OK && i < count; i++) (*txns)[i] = all[i].txn;
  free(all);
  return status;
}

static void let_go(const isoproof_history *h) {
  if (h->frugal) iso_pages_let_go(h->map, 0, h->map_bytes);
}

/* ---- transactions ---- */

static isoproof_status check_sessions(const iso_coordinator *c, const iso_sequence *s, bool *good,
                                      isoproof_error *error) {
  uint32_t *last = iso_alloc_zero(c->h->sessions, sizeof *last); /* + 1 */
  if (last == NULL) return iso_fail_memory(error);
  *good = true;
  for (uint32_t i = 0; *good && i < s->count; i++) {
    uint32_t session = c->h->txn_session[s->event[i]];
    *good = s->event[i] + 1 > last[session];
    last[session] = s->event[i] + 1;
  }
  free(last);
  return ISOPROOF_OK;
}

isoproof_status iso_txns_by_time(const iso_coordinator *c, bool starts, iso_sequence *s, bool *good,
                                 isoproof_error *error) {
  *s = (iso_sequence){.count = c->view.taking_part, .total = c->view.taking_part};
  isoproof_status status = sort_txns(c, starts, &s->event, error);
  if (status == ISOPROOF_OK) status = check_sessions(c, s, good, error);
  let_go(c->h);
  return status;
}

/* ---- begins and commits ---- */

static bool is_earlier(const isoproof_history *h, uint32_t a, uint32_t b) {
  int64_t x = iso_real_start(h, a), y = iso_real_start(h, b);
  return x != y ? x < y : a < b;
}

static void merge(const isoproof_history *h, const uint32_t *starts, const uint32_t *ends, uint32_t txns,
                  uint32_t *event) {
  uint32_t begun = 0;
  for (uint32_t ended = 0, i = 0; i < 2 * txns; i++) {
    /* Nobody commits that did not begin, which takes a look where a transaction takes no time. */
    bool commits = begun == txns || (iso_real_end(h, ends[ended]) <= iso_real_start(h, starts[begun]) &&
                                     is_earlier(h, ends[ended], starts[begun]));
    event[i] = commits ? 2 * ends[ended] + 1 : 2 * starts[begun];
    ended += commits;
    begun += !commits;
  }
}

/* Whether nobody begins before the one before it in its session has committed. */
static isoproof_status check_turns(const iso_coordinator *c, const iso_sequence *s, bool *good, isoproof_error *error) {
  uint32_t *last = iso_alloc_zero(c->h->sessions, sizeof *last); /* the last event + 1 */
  if (last == NULL) return iso_fail_memory(error);
  *good = true;
  for (uint32_t i = 0; *good && i < s->count; i++) {
    uint32_t *before = &last[c->h->txn_session[s->event[i] / 2]], now = s->event[i] + 1;
    *good = s->event[i] % 2 == 1 ? *before == now - 1 : *before % 2 == 0 && *before < now;
    *before = now;
  }
  free(last);
  return ISOPROOF_OK;
}

isoproof_status iso_events_by_time(const iso_coordinator *c, iso_sequence *s, bool *good, isoproof_error *error) {
  uint32_t txns = c->view.taking_part, *starts = NULL, *ends = NULL;
  *s = (iso_sequence){.count = 2 * txns, .total = 2 * txns};
  isoproof_status status = sort_txns(c, true, &starts, error);
  if (status == ISOPROOF_OK) status = sort_txns(c, false, &ends, error);
  if (status == ISOPROOF_OK) s->event = iso_alloc(s->count, sizeof *s->event);
  if (status == ISOPROOF_OK && s->event == NULL) status = iso_fail_memory(error);
  if (status == ISOPROOF_OK) merge(c->h, starts, ends, txns, s->event);
  free(starts);
  free(ends);
  if (status == ISOPROOF_OK) status = check_turns(c, s, good, error);
  let_go(c->h);
  return status;
}
