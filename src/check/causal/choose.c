/* Reads answered along a commit order, by what their transactions have seen so far. */
#include "check/causal/choose.h"

#include <stdlib.h>
#include <string.h>

#include "check/causal/choose_state.h"

/* LOOK: versions of a key that are looked at for a read.  OFFERS: versions that are compared.  LATER: writers that may
 * have to come before one of them. */
enum { LOOK = 4096, OFFERS = 6, LATER = 256, HARM_LOOK = 64 };
/* How bad it is that somebody becomes visible whom another read misses: it has to come earlier, or it cannot; and how
 * disliked an answer is without which a read rather waits. */
enum { SOFT = 1, HARD = 64, MUCH = 8 };

/* ---- answers ---- */

/* The harm of seeing `seen` to a read of the key from `from`. */
static uint32_t harm_to(const iso_chooser *c, uint32_t txn, uint32_t seen, uint32_t key, uint32_t from) {
  uint32_t first = c->v->writer_first[key], harm = 0, steps = 0;
  for (uint32_t i = first + c->count[key]; i-- > first && steps < HARM_LOOK; steps++) {
    uint32_t other = c->slot_txn[c->slot[i]];
    if (other == from) break;
    if (iso_chooser_is_before(c, other, txn) || (other != seen && !iso_chooser_is_before(c, other, seen))) continue;
    harm += from == ISO_INITIAL || iso_chooser_is_before(c, from, other) ? HARD : SOFT;
  }
  return harm;
}

/* The harm to all reads of a transaction that are known, and to those answered before this one. */
static uint32_t harm_of(const iso_chooser *c, const iso_causal_question *q, uint32_t seen) {
  const iso_view *v = c->v;
  uint32_t harm = 0, txn = q->txn;
  if (iso_chooser_is_before(c, seen, txn)) return 0;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1] && harm < HARD; i++) {
    if (v->reads[i].key != q->key) harm += harm_to(c, txn, seen, v->reads[i].key, v->reads[i].from);
  }
  for (const iso_causal_question *o = c->q->items + c->q->first[txn]; o < q && harm < HARD; o++) {
    if (o->key != q->key && o->answer != ISO_NO_ANSWER)
      harm += harm_to(c, txn, seen, o->key, iso_chooser_writer(c, o->answer));
  }
  return harm;
}

/* Whether what a transaction read so far fits what it has seen. */
static bool settle_all(iso_chooser *c, uint32_t txn, const iso_causal_question *end) {
  const iso_view *v = c->v;
  bool good = true;
  c->owner = 0;
  for (uint32_t i = v->read_first[txn]; good && i < v->read_first[txn + 1]; i++) {
    good = iso_chooser_settle(c, txn, v->reads[i].key, v->reads[i].from);
  }
  for (const iso_causal_question *o = c->q->items + c->q->first[txn]; good && o < end; o++) {
    if (o->answer == ISO_NO_ANSWER) continue;
    c->owner = (uint32_t)(o - c->q->items) + 1;
    good = iso_chooser_settle(c, txn, o->key, iso_chooser_writer(c, o->answer));
  }
  return good;
}

/* Takes a version as the answer; false, with nothing changed but the order, where that does not fit. */
static bool try_version(iso_chooser *c, iso_causal_question *q, uint32_t version) {
  size_t keep = c->o.edges.count;
  uint32_t writer = iso_chooser_writer(c, version);
  q->answer = version;
  c->owner = (uint32_t)(q - c->q->items) + 1;
  if (writer == ISO_INITIAL || iso_chooser_is_before(c, writer, q->txn)) {
    if (iso_chooser_settle(c, q->txn, q->key, writer)) return true;
  } else if (iso_chooser_put_before(c, writer, q->txn, ISO_NO_TXN)) {
    memcpy(c->kept, iso_chooser_row(c, q->txn), c->row);
    iso_chooser_see(c, q->txn, writer);
    if (settle_all(c, q->txn, q + 1)) return true;
    memcpy(iso_chooser_row(c, q->txn), c->kept, c->row);
  }
  iso_moving_order_drop(&c->o, keep);
  q->answer = ISO_NO_ANSWER;
  return false;
}

/* Whether the same transaction read the key before, so that this read saw the same. */
static bool is_repeated(const iso_chooser *c, iso_causal_question *q) {
  const iso_view *v = c->v;
  for (const iso_causal_question *o = c->q->items + c->q->first[q->txn]; o < q; o++) {
    if (o->key != q->key || o->value != q->value) continue;
    q->answer = o->answer;
    return true;
  }
  for (uint32_t i = v->read_first[q->txn]; i < v->read_first[q->txn + 1]; i++) {
    uint32_t from = v->reads[i].from;
    if (v->reads[i].key != q->key || from == ISO_INITIAL) continue;
    uint32_t slot = iso_view_slot(v, from, q->key);
    if (c->q->values[slot] != q->value) continue;
    q->answer = slot + 1;
    return true;
  }
  return false;
}

typedef struct {
  uint32_t cost, version;
} offer;

/* Goes back over the versions of the key: those that were not seen come into question, down to the first one that was;
 * and those before that, where whoever was seen can come before them.  The best ones first. */
static uint32_t list_offers(const iso_chooser *c, const iso_causal_question *q, offer *offers) {
  uint32_t first = c->v->writer_first[q->key], later = 0, count = 0, steps = 0, i = first + c->count[q->key];
  for (; i > first && steps < LOOK && count < OFFERS && later < LATER; steps++) {
    uint32_t slot = c->slot[--i], writer = c->slot_txn[slot];
    bool seen = iso_chooser_is_before(c, writer, q->txn);
    if (c->q->values[slot] == q->value) {
      uint32_t cost = later * SOFT + harm_of(c, q, writer) + (slot + 1 == q->disliked ? q->penalty : 0), at = count++;
      for (; at > 0 && offers[at - 1].cost > cost; at--) offers[at] = offers[at - 1];
      offers[at] = (offer){cost, slot + 1};
      if (seen && later == 0 && cost == 0) break;
    }
    later += seen;
  }
  if (i == first && q->initial && later == 0 && count < OFFERS) offers[count++] = (offer){0, 0};
  return count;
}

/* Answers a question; false where nothing fits what is there. */
static bool answer(iso_chooser *c, iso_causal_question *q, bool forced) {
  offer offers[OFFERS];
  uint32_t count = list_offers(c, q, offers);
  bool waits = !forced && q->value != ISO_NO_VALUE && c->left[q->value] > 0;
  c->lacks[q->txn] = count == 0;
  for (uint32_t i = 0; i < count; i++) {
    if (waits && q->penalty > MUCH && offers[i].version == q->disliked) continue;
    if (try_version(c, q, offers[i].version)) return true;
  }
  return false;
}

/* Where nothing fits: those answers are to blame that are in the way of the likely ones. */
static void leave(iso_chooser *c, iso_causal_question *q) {
  offer offers[OFFERS];
  uint32_t count = list_offers(c, q, offers);
  c->unanswered++;
  c->blames = true;
  for (uint32_t i = 0; i < count && !try_version(c, q, offers[i].version); i++) continue;
  c->blames = false;
}

static void begin(iso_chooser *c, uint32_t txn) {
  const iso_view *v = c->v;
  uint32_t previous = iso_view_previous(v, txn);
  memset(iso_chooser_row(c, txn), 0, c->row);
  if (previous != ISO_NO_TXN) iso_chooser_see(c, txn, previous);
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    if (v->reads[i].from != ISO_INITIAL) iso_chooser_see(c, txn, v->reads[i].from);
  }
  for (uint32_t i = c->q->first[txn]; i < c->q->first[txn + 1]; i++) c->q->items[i].answer = ISO_NO_ANSWER;
}

/* Finds out what a transaction saw; false where some read of it has no good answer yet, but may have one later. */
static bool answer_all(iso_chooser *c, uint32_t txn, bool forced) {
  const iso_view *v = c->v;
  size_t keep = c->o.edges.count;
  begin(c, txn);
  c->owner = 0;
  c->blames = true;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    (void)iso_chooser_settle(c, txn, v->reads[i].key, v->reads[i].from);
  }
  c->blames = false;
  for (uint32_t i = c->q->first[txn]; i < c->q->first[txn + 1]; i++) {
    iso_causal_question *q = &c->q->items[i];
    if (is_repeated(c, q) || answer(c, q, forced)) continue;
    if (!forced && q->value != ISO_NO_VALUE && c->left[q->value] > 0) {
      c->next[txn] = c->parked[q->value];
      c->parked[q->value] = txn + 1;
      iso_moving_order_drop(&c->o, keep);
      return false;
    }
    leave(c, q);
  }
  return true;
}

/* ---- whose turn it is ---- */

static void push(iso_chooser *c, uint32_t txn) {
  iso_turn own = {c->s->place[txn], txn};
  uint32_t i = c->ready++;
  for (; i > 0 && own.place < c->heap[(i - 1) / 2].place; i = (i - 1) / 2) c->heap[i] = c->heap[(i - 1) / 2];
  c->heap[i] = own;
}

static uint32_t pop(iso_chooser *c) {
  iso_turn first = c->heap[0], last = c->heap[--c->ready];
  uint32_t i = 0;
  for (uint32_t child = 1; child < c->ready; child = 2 * i + 1) {
    if (child + 1 < c->ready && c->heap[child + 1].place < c->heap[child].place) child++;
    if (last.place <= c->heap[child].place) break;
    c->heap[i] = c->heap[child];
    i = child;
  }
  c->heap[i] = last;
  return first.txn;
}

static void come_nearer(iso_chooser *c, uint32_t txn) {
  if (--c->behind[txn] == 0) push(c, txn);
}

/* The transaction is done: its versions are there, and whoever waited for it, or for such a version, may go. */
static void finish(iso_chooser *c, uint32_t txn) {
  const iso_view *v = c->v;
  const isoproof_history *h = v->h;
  c->done++;
  c->behind[txn] = UINT32_MAX;
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    uint32_t value = c->q->values[i], waiting = c->parked[value];
    iso_chooser_add_version(c, i, txn);
    c->left[value]--;
    c->parked[value] = 0;
    for (; waiting > 0; waiting = c->next[waiting - 1]) {
      if (c->behind[waiting - 1] == 0) push(c, waiting - 1);
    }
  }
  for (uint32_t i = c->reader_first[txn]; i < c->reader_first[txn + 1]; i++) come_nearer(c, c->reader[i]);
  uint32_t end = h->session_first_txn[h->txn_session[txn] + 1], after = txn + 1;
  while (after < end && !v->counts[after]) after++;
  if (after < end) come_nearer(c, after);
}

/* All that are left wait for versions: somebody has to go without, the first one of those for whom it is not the first
 * version that is missing, as somebody else is to blame for that. */
static uint32_t next_stuck(const iso_chooser *c, uint32_t *first) {
  while (*first < c->s->count && c->behind[c->first_order[*first]] != 0) ++*first;
  if (*first == c->s->count) return ISO_NO_TXN;
  for (uint32_t i = *first; i < c->s->count; i++) {
    if (c->behind[c->first_order[i]] == 0 && !c->lacks[c->first_order[i]]) return c->first_order[i];
  }
  return c->first_order[*first];
}

static isoproof_status carry_out(iso_chooser *c, isoproof_task *task, isoproof_error *error) {
  enum { BREATH = 64 };
  uint32_t steps = 0, first = 0;
  for (; c->done < c->s->count && !c->o.failed; steps++) {
    bool forced = c->ready == 0;
    if (steps % BREATH == 0) ISO_TRY(iso_task_check(task, error));
    uint32_t txn = forced ? next_stuck(c, &first) : pop(c);
    if (txn == ISO_NO_TXN) return iso_fail(error, ISOPROOF_ERR_INTERNAL, "nobody is left who can go on");
    if (c->behind[txn] == 0 && answer_all(c, txn, forced)) finish(c, txn);
  }
  return c->o.failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

/* ---- all of it ---- */

bool iso_causal_may_choose(const iso_view *v) {
  const uint64_t most_bytes = UINT64_C(2) << 30;
  const isoproof_history *h = v->h;
  for (uint32_t session = 0; session < h->sessions; session++) {
    if (h->session_first_txn[session + 1] - h->session_first_txn[session] >= UINT16_MAX) return false;
  }
  return (uint64_t)h->txns * iso_clock_row(h->sessions, true) <= most_bytes;
}

static void chooser_free(iso_chooser *c) {
  void *all[] = {c->allocated, c->kept, c->slot,        c->slot_index, c->count,
                 c->slot_txn,  c->left, c->parked,      c->next,       c->reader_first,
                 c->reader,    c->heap, c->first_order, c->lacks,      c->behind};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  iso_moving_order_free(&c->o);
}

static bool allocate(iso_chooser *c) {
  const iso_view *v = c->v;
  uint32_t txns = v->h->txns, slots = v->write_first[txns];
  c->allocated = iso_alloc((size_t)txns + 1, c->row);
  c->kept = iso_alloc(c->row, 1);
  c->slot = iso_alloc(slots, sizeof *c->slot);
  c->slot_index = iso_alloc(slots, sizeof *c->slot_index);
  c->slot_txn = iso_alloc(slots, sizeof *c->slot_txn);
  c->left = iso_alloc_zero(slots, sizeof *c->left);
  c->parked = iso_alloc_zero(slots, sizeof *c->parked);
  c->count = iso_alloc_zero(v->h->keys, sizeof *c->count);
  c->next = iso_alloc(txns, sizeof *c->next);
  c->lacks = iso_alloc_zero(txns, 1);
  c->heap = iso_alloc(txns, sizeof *c->heap);
  c->first_order = iso_alloc(txns, sizeof *c->first_order);
  c->behind = iso_alloc_zero(txns, sizeof *c->behind);
  c->reader_first = iso_alloc_zero((size_t)txns + 2, sizeof *c->reader_first);
  c->reader = iso_alloc(v->read_first[txns], sizeof *c->reader);
  return c->allocated != NULL && c->kept != NULL && c->slot != NULL && c->slot_index != NULL && c->slot_txn != NULL &&
         c->left != NULL && c->parked != NULL && c->count != NULL && c->next != NULL && c->lacks != NULL &&
         c->heap != NULL && c->first_order != NULL && c->behind != NULL && c->reader_first != NULL &&
         c->reader != NULL && iso_moving_order_make(c->s, txns, &c->o);
}

/* Who waits for whom, before anything is done. */
static void start(iso_chooser *c) {
  const iso_view *v = c->v;
  uint32_t txns = v->h->txns;
  c->rows = iso_clock_align(c->allocated);
  c->o.context = c;
  c->o.list_next = iso_chooser_list_next;
  memcpy(c->first_order, c->s->event, c->s->count * sizeof *c->first_order);
  for (uint32_t txn = 0; txn < txns; txn++) {
    for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
      c->slot_txn[i] = txn;
      c->left[c->q->values[i]]++;
    }
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      if (v->reads[i].from == ISO_INITIAL) continue;
      c->reader_first[v->reads[i].from + 2]++;
      c->behind[txn]++;
    }
    if (v->counts[txn]) c->behind[txn] += iso_view_previous(v, txn) != ISO_NO_TXN;
  }
  for (uint32_t txn = 0; txn < txns; txn++) c->reader_first[txn + 2] += c->reader_first[txn + 1];
  for (uint32_t txn = 0; txn < txns; txn++) {
    for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
      if (v->reads[i].from != ISO_INITIAL) c->reader[c->reader_first[v->reads[i].from + 1]++] = txn;
    }
  }
  for (uint32_t i = 0; i < c->s->count; i++) {
    if (c->behind[c->s->event[i]] == 0) push(c, c->s->event[i]);
  }
}

isoproof_status iso_causal_choose(const iso_view *v, iso_sequence *s, iso_causal_questions *q, uint64_t *unanswered,
                                  isoproof_task *task, isoproof_error *error) {
  iso_chooser c = {.v = v, .s = s, .q = q, .row = iso_clock_row(v->h->sessions, true)};
  bool made = allocate(&c);
  if (made) start(&c);
  isoproof_status status = made ? carry_out(&c, task, error) : iso_fail_memory(error);
  *unanswered = c.unanswered;
  chooser_free(&c);
  return status;
}
