/* The scan of the causal axiom, key by key, with vector clocks over sessions. */
#include <stdlib.h>

#include "base/vector.h"
#include "check/axioms/scan.h"

/* Where the writers of a group (of one session) stand for the readers of the session at hand.  What was visible to one
 * reader is visible to the next, and mostly it is still the last writer: the state says so without a look at the list.
 */
typedef struct {
  uint32_t place;   /* behind the last visible writer */
  uint32_t last;    /* that writer, + 1; 0 for none */
  uint32_t next;    /* the writer at `place`, UINT32_MAX for none: below the bound it becomes visible */
  uint32_t version; /* lists: the place of the last writer in the order of versions */
} progress;

/* Moves a group on to the writers below the bound. */
static void move_on(const iso_scan_request *request, progress *p, uint32_t group, uint32_t bound) {
  const iso_view *v = request->view;
  uint32_t place = p->place, end = v->group_start[group + 1], steps = 0;
  while (place < end && v->writer[place] < bound && steps < 8) place++, steps++;
  for (uint32_t high = end; steps == 8 && place < high;) { /* far behind: the rest by halving */
    uint32_t middle = place + (high - place) / 2;
    if (v->writer[middle] < bound) {
      place = middle + 1;
    } else {
      high = middle;
    }
  }
  p->place = place;
  p->last = place > v->group_start[group] ? v->writer[place - 1] + 1 : 0;
  p->next = place < end ? v->writer[place] : UINT32_MAX;
  if (request->versions != NULL && p->last != 0) p->version = request->versions->writer_place[place - 1];
}

/* One read: per session the last writer of the key that is causally before the reader, unless it is before t1 too. */
static void scan_read(const iso_scan_request *request, const struct iso_reader *reader, progress *states,
                      void *context) {
  const iso_view *v = request->view;
  const iso_clocks *c = request->clocks;
  uint32_t key = v->reads[reader->read].key, t1 = v->reads[reader->read].from;
  uint32_t first = v->group_first[key], count = v->group_first[key + 1] - first;
  const uint32_t *seen = iso_clock(c, reader->txn), *before_t1 = t1 == ISO_INITIAL ? NULL : iso_clock(c, t1);
  uint32_t version = ISO_NO_PLACE; /* of a list: all that has one before it is known to come before t1 */
  if (request->versions != NULL && t1 != ISO_INITIAL) version = iso_versions_place(v, request->versions, t1, key);
  for (uint32_t g = 0; g < count; g++) {
    uint32_t column = v->group_session[first + g] - c->first_session;
    if (column >= c->width) continue;
    progress *p = &states[g];
    if (p->next < seen[column]) move_on(request, p, first + g, seen[column]);
    if (p->last == 0 || (before_t1 != NULL && p->last <= before_t1[column])) continue;
    if (version != ISO_NO_PLACE && p->version < version) continue;
    if (p->last - 1 != t1 && p->last - 1 != reader->txn)
      request->forced(context, p->last - 1, reader->txn, reader->read);
  }
}

/* Announces the clocks of a read to the memory: they lie anywhere. */
static void announce(const iso_scan_request *request, const struct iso_reader *reader) {
  const iso_clocks *c = request->clocks;
  uint32_t t1 = request->view->reads[reader->read].from;
  const char *seen = (const char *)iso_clock(c, reader->txn);
  const char *before = t1 == ISO_INITIAL ? seen : (const char *)iso_clock(c, t1);
  for (size_t byte = 0; byte < c->width * sizeof(uint32_t); byte += 64) {
    __builtin_prefetch(seen + byte);
    __builtin_prefetch(before + byte);
  }
}

static void restart(const iso_view *v, uint32_t key, progress *states) {
  uint32_t first = v->group_first[key], count = v->group_first[key + 1] - first;
  for (uint32_t g = 0; g < count; g++) {
    uint32_t start = v->group_start[first + g];
    states[g] = (progress){start, 0, v->writer[start], 0};
  }
}

static void scan_key(const iso_scan_request *request, uint32_t key, uint32_t first, uint32_t end, uint32_t *session,
                     progress *states, void *context) {
  enum { AHEAD = 4, FAR_AHEAD = 16 };
  const iso_view *v = request->view;
  uint32_t stop = v->reader_first[key + 1];
  for (uint32_t i = first; i < end; i++) {
    const struct iso_reader *reader = &v->readers[i];
    if (i + FAR_AHEAD < stop) __builtin_prefetch(&v->reads[v->readers[i + FAR_AHEAD].read]);
    if (i + AHEAD < stop) announce(request, &v->readers[i + AHEAD]);
    if (v->h->txn_session[reader->txn] != *session) {
      *session = v->h->txn_session[reader->txn];
      restart(v, key, states);
    }
    scan_read(request, reader, states, context);
  }
}

isoproof_status iso_scan_causal(const iso_scan_request *request, uint32_t first, uint32_t end, void *context,
                                isoproof_task *task, isoproof_error *error) {
  enum { BREATH = 1024 }; /* reads of a key, which may be all there are */
  const iso_view *v = request->view;
  isoproof_status status = ISOPROOF_OK;
  progress *states = iso_alloc(v->h->sessions, sizeof *states); /* a key has at most one group per session */
  if (states == NULL) return iso_fail_memory(error);
  for (uint32_t key = first; key < end && status == ISOPROOF_OK; key++) {
    uint32_t session = ISO_NO_TXN, stop = v->reader_first[key + 1], next;
    if (v->group_first[key] == v->group_first[key + 1]) continue;
    for (uint32_t i = v->reader_first[key]; i < stop && status == ISOPROOF_OK; i = next) {
      next = stop - i > BREATH ? i + BREATH : stop;
      scan_key(request, key, i, next, &session, states, context);
      if (next < stop) status = iso_task_check(task, error);
    }
  }
  free(states);
  return status;
}
