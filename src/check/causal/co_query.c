/* Pairs of transactions, a few hundred per sweep. */
#include "check/causal/co_query.h"

#include <stdlib.h>
#include <string.h>

#include "check/causal/sweep.h"

typedef struct {
  iso_strip strip;
  uint32_t *place; /* by transaction */
  iso_sweeper sweeper;
  iso_far *items;
} query;

static void query_free(query *q) {
  free(q->strip.before_first);
  free(q->strip.before);
  free(q->place);
  free(q->items);
  iso_sweeper_free(&q->sweeper);
}

/* Who is directly before whom, by places; reads and writes of keys are of no interest here. */
static bool lay_strip(query *q, const iso_view *v, const iso_order *co) {
  iso_strip *strip = &q->strip;
  strip->count = co->count;
  q->place = iso_alloc(v->h->txns, sizeof *q->place);
  strip->before_first = iso_alloc((size_t)strip->count + 1, sizeof *strip->before_first);
  strip->before = iso_alloc((size_t)v->read_first[v->h->txns] + strip->count, sizeof *strip->before);
  if (q->place == NULL || strip->before_first == NULL || strip->before == NULL) return false;
  uint32_t at = 0;
  for (uint32_t place = 0; place < strip->count; place++) {
    uint32_t txn = co->sequence[place], previous = iso_view_previous(v, txn);
    q->place[txn] = place;
    strip->before_first[place] = at;
    if (previous != ISO_NO_TXN) strip->before[at++] = q->place[previous];
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      if (v->reads[i].from != ISO_INITIAL) strip->before[at++] = q->place[v->reads[i].from];
    }
  }
  strip->before_first[strip->count] = at;
  return iso_sweeper_make(strip, &q->sweeper);
}

/* Pairs whose places are the wrong way round are not ordered. */
static size_t list_items(query *q, iso_co_pair *pairs, size_t count) {
  size_t items = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t earlier = q->place[pairs[i].earlier], later = q->place[pairs[i].later];
    pairs[i].ordered = false;
    if (earlier < later) q->items[items++] = (iso_far){earlier, later, (uint32_t)i};
  }
  return items;
}

isoproof_status iso_co_query(const iso_view *view, const iso_order *co, iso_co_pair *pairs, size_t count,
                             isoproof_task *task, isoproof_error *error) {
  if (count == 0) return ISOPROOF_OK;
  if (count > UINT32_MAX) return iso_fail(error, ISOPROOF_ERR_LIMIT, "too many pairs to order");
  query q = {.items = iso_alloc(count, sizeof *q.items)};
  bool made = q.items != NULL && lay_strip(&q, view, co);
  if (made) {
    iso_sweep_far(&q.sweeper, q.items, list_items(&q, pairs, count));
    made = !q.sweeper.failed;
  }
  for (size_t i = 0; made && i < q.sweeper.found.count; i++) pairs[q.sweeper.found.items[i].read].ordered = true;
  query_free(&q);
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}
