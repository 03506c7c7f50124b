/* Springs between writers, readers and neighbours in a session, relaxed until the order hardly changes. */
#include "check/order/springs.h"

#include <stdlib.h>
#include <string.h>

/* More rounds do not make better orders, also of histories that take the sequence from end to end. */
enum { ROUNDS = 24 };

typedef struct {
  double place;
  uint32_t txn;
} standing;

typedef struct {
  const iso_event_graph *e;
  double *place;  /* by transaction */
  double *pull;   /* by transaction: where the springs want it, times their strengths */
  double *weight; /* by transaction: the sum of the strengths */
  standing *order;
  uint32_t count;
} springs;

static int by_place(const void *a, const void *b) {
  const standing *x = a, *y = b;
  if (x->place != y->place) return x->place < y->place ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

static void pull(springs *s, uint32_t txn, double to, double strength) {
  s->pull[txn] += to * strength;
  s->weight[txn] += strength;
}

/* A version lasts for the length of the history over the writers of its key, and is read in the middle of that. */
static void pull_readers(springs *s) {
  const iso_view *v = s->e->view;
  for (uint32_t txn = 0; txn < v->h->txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      const iso_external_read *read = &v->reads[i];
      double lasts = s->count / (1.0 + v->writer_first[read->key + 1] - v->writer_first[read->key]);
      double strength = 1 / (lasts * lasts);
      if (read->from == ISO_INITIAL) {
        pull(s, txn, lasts / 2, strength);
      } else {
        pull(s, txn, s->place[read->from] + lasts / 2, strength);
        pull(s, read->from, s->place[txn] - lasts / 2, strength);
      }
    }
  }
}

/* Neighbours in a session are as far apart as its transactions would be if it lasted as long as the history, but there
 * is less to rely on: sessions come and go. */
static void pull_neighbours(springs *s) {
  const iso_event_graph *e = s->e;
  uint32_t chains = e->chains - (e->tick_before != NULL);
  for (uint32_t chain = 0; chain < chains; chain++) {
    uint32_t first = e->chain_start[chain], end = e->chain_start[chain + 1], last = ISO_NO_TXN;
    double gap = (double)s->count / (end - first), strength = 0.5 / (gap * gap);
    for (uint32_t txn = first; txn < end; txn++) {
      if (!e->view->counts[txn]) continue;
      if (last != ISO_NO_TXN) {
        pull(s, txn, s->place[last] + gap, strength);
        pull(s, last, s->place[txn] - gap, strength);
      }
      last = txn;
    }
  }
}

/* Springs alone would draw everything together: the order is spread evenly again. */
static void spread(springs *s) {
  const double inertia = 0.3;
  for (uint32_t i = 0; i < s->count; i++) {
    uint32_t txn = s->order[i].txn;
    double stays = s->place[txn];
    if (s->weight[txn] > 0) stays = inertia * stays + (1 - inertia) * s->pull[txn] / s->weight[txn];
    s->order[i].place = stays;
  }
  qsort(s->order, s->count, sizeof *s->order, by_place);
  for (uint32_t i = 0; i < s->count; i++) s->place[s->order[i].txn] = i;
}

isoproof_status iso_springs_relax(const iso_event_graph *e, double *place, isoproof_task *task, isoproof_error *error) {
  uint32_t txns = e->view->h->txns;
  springs s = {.e = e, .place = place};
  s.pull = iso_alloc(txns, sizeof *s.pull);
  s.weight = iso_alloc(txns, sizeof *s.weight);
  s.order = iso_alloc(txns, sizeof *s.order);
  bool made = s.pull != NULL && s.weight != NULL && s.order != NULL;
  isoproof_status status = made ? ISOPROOF_OK : iso_fail_memory(error);
  for (uint32_t txn = 0; made && txn < txns; txn++) {
    if (e->view->counts[txn]) s.order[s.count++].txn = txn;
  }
  for (int round = 0; round < ROUNDS && status == ISOPROOF_OK; round++) {
    memset(s.pull, 0, txns * sizeof *s.pull);
    memset(s.weight, 0, txns * sizeof *s.weight);
    pull_readers(&s);
    pull_neighbours(&s);
    spread(&s);
    status = iso_task_check(task, error);
  }
  free(s.pull);
  free(s.weight);
  free(s.order);
  return status;
}
