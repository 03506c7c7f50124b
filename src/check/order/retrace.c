/* Transactions carried out one by one, each where it finds what it read and takes away nothing that is still needed. */
#include "check/order/retrace.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX };

/* A transaction that was let go, and what could have gone instead: candidates[next, end). */
typedef struct {
  uint32_t txn;
  uint32_t first, next, end;
} choice;

typedef struct {
  const iso_event_graph *e;
  const iso_view *v;
  const iso_value_classes *c;
  const double *place;
  uint32_t *current;      /* by key: its class */
  uint32_t *reader_first; /* by class: its readers, [reader_first, reader_end) are left */
  uint32_t *reader_end;
  uint32_t *reader;
  uint32_t *reader_at;    /* beside the reads of classes: the place in `reader` */
  uint32_t *writer_first; /* by class: its writers */
  uint32_t *writer;
  uint32_t *updates; /* by class: readers left that overwrite it */
  uint32_t *supply;  /* by class: writers left */
  uint32_t *behind;  /* by transaction: how many are left that come before it */
  uint32_t *follow_first, *follow;
  uint8_t *done;
  uint32_t *next, *last; /* those who read nothing and nobody left comes before, as a ring; its head is `txns` */
  uint32_t *listed;      /* by transaction: the step at which it was put on the list of candidates */
  uint32_t lists;
  uint32_t pending; /* transactions left */
  ISO_VEC(choice) choices;
  ISO_VEC(uint32_t) candidates;
  ISO_VEC(uint32_t) replaced; /* the classes that were overwritten, in order */
  uint64_t steps, most_steps;
  bool failed;
} retrace;

static bool reads_nothing(const retrace *r, uint32_t txn) { return r->c->read_first[txn] == r->c->read_first[txn + 1]; }
static bool writes_nothing(const retrace *r, uint32_t txn) {
  return r->v->write_first[txn] == r->v->write_first[txn + 1];
}
static uint32_t missing(const retrace *r, uint32_t of) { return r->reader_end[of] - r->reader_first[of]; }

/* ---- steps ---- */

static void link_free(retrace *r, uint32_t txn) {
  uint32_t head = r->v->h->txns;
  r->last[txn] = r->last[head];
  r->next[txn] = head;
  r->next[r->last[txn]] = r->last[head] = txn;
}

static void unlink_free(retrace *r, uint32_t txn) {
  r->next[r->last[txn]] = r->next[txn];
  r->last[r->next[txn]] = r->last[txn];
}

/* Steps are taken back in turn, so that what was taken out of the ring finds its neighbours where they were. */
static void relink_free(retrace *r, uint32_t txn) { r->next[r->last[txn]] = r->last[r->next[txn]] = txn; }

/* The readers that are left of a class stand first; one that goes changes places with the last of them. */
static void take_reader(retrace *r, uint32_t read) {
  const iso_class_read *reads = r->c->reads.items;
  uint32_t of = reads[read].of, at = r->reader_at[read], last = --r->reader_end[of], other = r->reader[last];
  r->reader[last] = read;
  r->reader_at[read] = last;
  r->reader[at] = other;
  r->reader_at[other] = at;
  r->updates[of] -= reads[read].updates;
}

static void put_back_reader(retrace *r, uint32_t read) {
  uint32_t of = r->c->reads.items[read].of;
  r->reader_end[of]++;
  r->updates[of] += r->c->reads.items[read].updates;
}

static void go(retrace *r, uint32_t txn) {
  const iso_view *v = r->v;
  r->done[txn] = 1;
  r->pending--;
  if (reads_nothing(r, txn)) unlink_free(r, txn);
  for (uint32_t i = r->c->read_first[txn]; i < r->c->read_first[txn + 1]; i++) take_reader(r, i);
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t key = v->write_key[i], of = r->c->of_write[i];
    if (!iso_vec_push(&r->replaced, r->current[key])) r->failed = true;
    r->current[key] = of;
    r->supply[of]--;
  }
  for (uint32_t i = r->follow_first[txn]; i < r->follow_first[txn + 1]; i++) {
    if (--r->behind[r->follow[i]] == 0 && reads_nothing(r, r->follow[i])) link_free(r, r->follow[i]);
  }
}

static void take_back(retrace *r, uint32_t txn) {
  const iso_view *v = r->v;
  for (uint32_t i = r->follow_first[txn + 1]; i-- > r->follow_first[txn];) {
    if (r->behind[r->follow[i]]++ == 0 && reads_nothing(r, r->follow[i])) unlink_free(r, r->follow[i]);
  }
  for (uint32_t i = v->write_first[txn + 1]; i-- > v->write_first[txn];) {
    r->supply[r->c->of_write[i]]++;
    r->current[v->write_key[i]] = r->replaced.items[--r->replaced.count];
  }
  for (uint32_t i = r->c->read_first[txn + 1]; i-- > r->c->read_first[txn];) put_back_reader(r, i);
  if (reads_nothing(r, txn)) relink_free(r, txn);
  r->pending++;
  r->done[txn] = 0;
}

/* ---- who can go ---- */

/* Whether it may overwrite the class that is there: nobody else has to read that, or it is written again, often enough
 * for those who overwrite it then. */
static bool may_overwrite(const retrace *r, uint32_t txn, uint32_t of) {
  uint32_t others = missing(r, of), updates = r->updates[of];
  for (uint32_t i = r->c->read_first[txn]; i < r->c->read_first[txn + 1]; i++) {
    if (r->c->reads.items[i].of == of) others--, updates -= r->c->reads.items[i].updates;
  }
  return others == 0 || (r->supply[of] > 0 && updates <= r->supply[of]);
}

static bool can_go(retrace *r, uint32_t txn) {
  const iso_view *v = r->v;
  r->steps++;
  if (r->done[txn] || r->behind[txn] > 0) return false;
  for (uint32_t i = r->c->read_first[txn]; i < r->c->read_first[txn + 1]; i++) {
    if (r->current[r->c->reads.items[i].key] != r->c->reads.items[i].of) return false;
  }
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t of = r->current[v->write_key[i]];
    if (of != r->c->of_write[i] && !may_overwrite(r, txn, of)) return false;
  }
  return true;
}

/* Puts a transaction on the list when it can go; true when nobody else need be, as it harms nobody. */
static bool offer(retrace *r, uint32_t txn) {
  if (r->listed[txn] == r->lists || !can_go(r, txn)) return false;
  r->listed[txn] = r->lists;
  if (!iso_vec_push(&r->candidates, txn)) r->failed = true;
  return writes_nothing(r, txn);
}

/* Those who read what is there.  True when one of them harms nobody. */
static bool offer_readers(retrace *r) {
  for (uint32_t key = 0; key < r->v->h->keys; key++) {
    uint32_t of = r->current[key];
    for (uint32_t i = r->reader_first[of]; i < r->reader_end[of]; i++) {
      if (offer(r, r->c->reads.items[r->reader[i]].txn)) return true;
    }
  }
  return false;
}

/* Those who write what readers of something that is there still lack. */
static void offer_suppliers(retrace *r) {
  enum { MOST = 16 }; /* readers of a class */
  const iso_value_classes *c = r->c;
  for (uint32_t key = 0; key < r->v->h->keys; key++) {
    uint32_t of = r->current[key], end = r->reader_end[of];
    if (end > r->reader_first[of] + MOST) end = r->reader_first[of] + MOST;
    for (uint32_t i = r->reader_first[of]; i < end; i++) {
      uint32_t txn = c->reads.items[r->reader[i]].txn;
      for (uint32_t k = c->read_first[txn]; k < c->read_first[txn + 1]; k++) {
        uint32_t lacks = c->reads.items[k].of;
        if (r->current[c->reads.items[k].key] == lacks || r->supply[lacks] == 0) continue;
        for (uint32_t w = r->writer_first[lacks]; w < r->writer_first[lacks + 1]; w++) offer(r, r->writer[w]);
      }
    }
  }
}

/* A few of those who read nothing. */
static void offer_free(retrace *r) {
  enum { MOST = 3, LOOKED_AT = 256 };
  size_t end = r->candidates.count + MOST;
  uint32_t head = r->v->h->txns, looked = 0;
  for (uint32_t txn = r->next[head]; txn != head && r->candidates.count < end && looked < LOOKED_AT; looked++) {
    offer(r, txn);
    txn = r->next[txn];
  }
}

/* Who goes first: whoever overwrites less, then by place. */
static bool goes_before(const retrace *r, uint32_t a, uint32_t b) {
  const uint32_t *first = r->v->write_first;
  uint32_t x = first[a + 1] - first[a], y = first[b + 1] - first[b];
  if (x != y) return x < y;
  return r->place[iso_event_commit(r->e, a)] < r->place[iso_event_commit(r->e, b)];
}

static void sort_from(retrace *r, size_t first) {
  uint32_t *items = r->candidates.items;
  for (size_t i = first + 1; i < r->candidates.count; i++) {
    uint32_t txn = items[i];
    size_t at = i;
    for (; at > first && goes_before(r, txn, items[at - 1]); at--) items[at] = items[at - 1];
    items[at] = txn;
  }
}

/* Lists who can go next, the likely ones first. */
static void list_candidates(retrace *r) {
  size_t first = r->candidates.count;
  r->lists++;
  if (offer_readers(r)) { /* goes at once, and nobody else instead */
    r->candidates.items[first] = r->candidates.items[r->candidates.count - 1];
    r->candidates.count = first + 1;
  } else {
    sort_from(r, first);
    offer_suppliers(r);
    offer_free(r);
  }
  choice one = {.txn = NOBODY, .first = (uint32_t)first, .next = (uint32_t)first, .end = (uint32_t)r->candidates.count};
  if (!iso_vec_push(&r->choices, one)) r->failed = true;
}

/* ---- the search ---- */

/* True when everybody has gone. */
static bool search(retrace *r, isoproof_task *task) {
  enum { NOW_AND_THEN = 1024 };
  uint32_t turns = 0;
  if (r->pending > 0) list_candidates(r);
  while (!r->failed && r->pending > 0 && r->steps < r->most_steps) {
    choice *top = &r->choices.items[r->choices.count - 1];
    if (++turns % NOW_AND_THEN == 0 && iso_task_check(task, NULL) != ISOPROOF_OK) return false;
    if (top->txn != NOBODY) take_back(r, top->txn);
    top->txn = NOBODY;
    r->candidates.count = top->end;
    if (top->next < top->end) {
      top->txn = r->candidates.items[top->next++];
      go(r, top->txn);
      if (!r->failed && r->pending > 0) list_candidates(r);
      continue;
    }
    r->candidates.count = top->first;
    r->choices.count--;
    if (r->choices.count == 0) return false;
  }
  return !r->failed && r->pending == 0;
}

/* ---- all of it ---- */

static uint32_t txn_of(const retrace *r, uint32_t event) { return iso_event_txn(r->e, event); }

/* Whether a derived edge orders two transactions. */
static bool orders(const retrace *r, const iso_derived *edge) {
  uint32_t from = txn_of(r, edge->from), to = txn_of(r, edge->to);
  return from != ISO_NO_TXN && to != ISO_NO_TXN && from != to;
}

/* Who comes before whom: in sessions, and by derived edges. */
static bool index_orders(retrace *r) {
  const iso_event_graph *e = r->e;
  const iso_view *v = r->v;
  uint32_t txns = v->h->txns, *next = r->follow_first + 1;
  r->follow = iso_alloc((size_t)txns + e->derived.count, sizeof *r->follow);
  if (r->follow == NULL) return false;
  for (int fill = 0; fill < 2; fill++) {
    for (uint32_t txn = 0, last = ISO_NO_TXN; txn < txns; txn++) {
      if (!v->counts[txn]) continue;
      if (last != ISO_NO_TXN && e->chain_of[last] == e->chain_of[txn]) {
        if (fill) r->follow[next[last]++] = txn, r->behind[txn]++;
        if (!fill) next[last + 1]++;
      }
      last = txn;
    }
    for (size_t i = 0; i < e->derived.count; i++) {
      const iso_derived *edge = &e->derived.items[i];
      if (!orders(r, edge)) continue;
      if (fill) r->follow[next[txn_of(r, edge->from)]++] = txn_of(r, edge->to), r->behind[txn_of(r, edge->to)]++;
      if (!fill) next[txn_of(r, edge->from) + 1]++;
    }
    for (uint32_t txn = 0; !fill && txn < txns; txn++) next[txn + 1] += next[txn];
  }
  return true;
}

/* Readers and writers by class; false where a transaction has two classes of one key, which no order explains. */
static bool index_classes(retrace *r) {
  const iso_value_classes *c = r->c;
  uint32_t txns = r->v->h->txns, reads = c->read_first[txns], writes = r->v->write_first[txns];
  for (uint32_t i = 0; i < reads; i++) r->reader_first[c->reads.items[i].of + 1]++;
  for (uint32_t i = 0; i < writes; i++) r->writer_first[c->of_write[i] + 1]++;
  for (uint32_t of = 0; of < c->count; of++) {
    r->reader_first[of + 1] += r->reader_first[of];
    r->writer_first[of + 1] += r->writer_first[of];
  }
  memcpy(r->reader_end, r->reader_first, c->count * sizeof *r->reader_end);
  for (uint32_t txn = 0; txn < txns; txn++) {
    for (uint32_t i = c->read_first[txn]; i < c->read_first[txn + 1]; i++) {
      const iso_class_read *read = &c->reads.items[i];
      for (uint32_t k = c->read_first[txn]; k < i; k++) {
        if (c->reads.items[k].key == read->key) return false;
      }
      r->reader_at[i] = r->reader_end[read->of]++;
      r->reader[r->reader_at[i]] = i;
      r->updates[read->of] += read->updates;
    }
    for (uint32_t i = r->v->write_first[txn]; i < r->v->write_first[txn + 1]; i++) {
      r->writer[r->writer_first[c->of_write[i]] + r->supply[c->of_write[i]]++] = txn;
    }
  }
  return true;
}

static bool allocate(retrace *r) {
  size_t txns = r->v->h->txns, classes = r->c->count, writes = r->v->write_first[txns], reads = r->c->read_first[txns];
  struct {
    uint32_t **array;
    size_t count;
  } all[] = {{&r->current, r->v->h->keys}, {&r->reader_first, classes + 1},
             {&r->reader_end, classes},    {&r->reader, reads},
             {&r->reader_at, reads},       {&r->writer_first, classes + 1},
             {&r->writer, writes},         {&r->updates, classes},
             {&r->supply, classes},        {&r->behind, txns},
             {&r->follow_first, txns + 2}, {&r->next, txns + 1},
             {&r->last, txns + 1},         {&r->listed, txns}};
  bool made = true;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    *all[i].array = iso_alloc_zero(all[i].count, sizeof **all[i].array);
    made = made && *all[i].array != NULL;
  }
  r->done = iso_alloc_zero(txns, 1);
  return made && r->done != NULL;
}

static void retrace_free(retrace *r) {
  void *all[] = {r->current, r->reader_first, r->reader_end, r->reader, r->reader_at,    r->writer_first,
                 r->writer,  r->updates,      r->supply,     r->behind, r->follow_first, r->follow,
                 r->next,    r->last,         r->listed,     r->done};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  iso_vec_free(&r->choices);
  iso_vec_free(&r->candidates);
  iso_vec_free(&r->replaced);
}

typedef struct {
  double place;
  uint32_t txn;
} placed;

static int by_place(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->place != y->place) return x->place < y->place ? -1 : 1;
  return (x->txn > y->txn) - (x->txn < y->txn);
}

/* Those who take part, and of them, by place, those who are free to go. */
static bool start(retrace *r) {
  uint32_t txns = r->v->h->txns, count = 0;
  placed *all = iso_alloc(txns, sizeof *all);
  if (all == NULL) return false;
  memcpy(r->current, r->c->initial, r->v->h->keys * sizeof *r->current);
  r->next[txns] = r->last[txns] = txns;
  for (uint32_t txn = 0; txn < txns; txn++) {
    if (!r->v->counts[txn]) continue;
    r->pending++;
    if (reads_nothing(r, txn) && r->behind[txn] == 0)
      all[count++] = (placed){r->place[iso_event_commit(r->e, txn)], txn};
  }
  qsort(all, count, sizeof *all, by_place);
  for (uint32_t i = 0; i < count; i++) link_free(r, all[i].txn);
  free(all);
  return true;
}

static void number_turns(const retrace *r, int64_t *turn) {
  for (size_t i = 0; i < r->choices.count; i++) {
    uint32_t txn = r->choices.items[i].txn;
    turn[iso_event_begin(r->e, txn)] = 2 * (int64_t)i;
    turn[iso_event_commit(r->e, txn)] = 2 * (int64_t)i + r->e->split;
  }
}

isoproof_status iso_retrace(const iso_event_graph *e, const iso_value_classes *classes, const double *place,
                            isoproof_task *task, int64_t *turn, bool *found, isoproof_error *error) {
  enum { STEPS_EACH = 256 };
  retrace r = {.e = e, .v = e->view, .c = classes, .place = place};
  r.most_steps = (uint64_t)STEPS_EACH * e->view->h->txns;
  *found = false;
  if (e->shape.real_time) return ISOPROOF_OK;
  bool made = allocate(&r);
  if (made && index_classes(&r)) {
    made = index_orders(&r) && start(&r);
    if (made) *found = search(&r, task);
    if (*found) number_turns(&r, turn);
  }
  made = made && !r.failed;
  retrace_free(&r);
  return made ? iso_task_check(task, error) : iso_fail_memory(error);
}
