/* Stretches of the frozen order that may still be put into another order. */
#include "live/pocket.h"

#include <stdlib.h>

#include "live/cluster.h"
#include "live/commits.h"
#include "live/order.h"

enum { LEAST_ROOM = 1 << 15, CUT_ROUNDS = 16, CANDIDATES = 4 };

typedef struct pocket {
  ISO_VEC(iso_live_step) steps; /* none where one key alone is in doubt: any of its candidates may be the last */
  ISO_VEC(iso_live_candidate) candidates;
  size_t open; /* keys that are still in doubt */
} pocket;

struct iso_live_pockets {
  ISO_VEC(pocket) items; /* the oldest first */
  uint32_t first;        /* the number of items[0] */
  size_t steps;          /* in all */
};

/* ---- letting go ---- */

static void empty(iso_live_pockets *all, pocket *p) {
  for (size_t i = 0; i < p->steps.count; i++) iso_live_txn_drop(p->steps.items[i].txn);
  all->steps -= p->steps.count;
  iso_vec_free(&p->steps);
  iso_vec_free(&p->candidates);
  p->open = 0;
}

void iso_live_pocket_settle(iso_live_track *track, iso_live_slot *slot) {
  if (slot->pocket == 0) return;
  pocket *p = &track->pockets->items.items[slot->pocket - 1 - track->pockets->first];
  slot->pocket = 0;
  if (--p->open == 0) empty(track->pockets, p);
}

/* Makes room for new ones: those that are empty go, and the oldest ones where all together are too large. */
static void tidy(iso_live_track *track) {
  iso_live_pockets *all = track->pockets;
  size_t most = 2 * (size_t)track->horizon > LEAST_ROOM ? 2 * (size_t)track->horizon : LEAST_ROOM, gone = 0;
  for (; gone < all->items.count && (all->steps > most || all->items.items[gone].open == 0); gone++) {
    pocket *p = &all->items.items[gone];
    for (size_t i = 0; i < p->candidates.count; i++) {
      iso_live_slot *slot = &track->slots.items[p->candidates.items[i].key];
      if (slot->pocket == all->first + gone + 1) slot->pocket = 0;
    }
    empty(all, p);
  }
  for (size_t i = gone; i < all->items.count; i++) all->items.items[i - gone] = all->items.items[i];
  all->items.count -= gone;
  all->first += (uint32_t)gone;
}

void iso_live_pockets_free(iso_live_track *track) {
  iso_live_pockets *all = track->pockets;
  if (all == NULL) return;
  for (size_t i = 0; i < all->items.count; i++) {
    pocket *p = &all->items.items[i];
    for (size_t j = 0; j < p->candidates.count; j++) track->slots.items[p->candidates.items[j].key].pocket = 0;
    empty(all, p);
  }
  iso_vec_free(&all->items);
  free(all);
  track->pockets = NULL;
}

uint64_t iso_live_pockets_bytes(const iso_live_track *track) {
  const iso_live_pockets *all = track->pockets;
  uint64_t bytes = 0;
  for (size_t i = 0; all != NULL && i < all->items.count; i++) {
    const pocket *p = &all->items.items[i];
    bytes += sizeof *p + p->steps.capacity * sizeof *p->steps.items;
    bytes += p->candidates.capacity * sizeof *p->candidates.items;
    for (size_t j = 0; j < p->steps.count; j++) bytes += p->steps.items[j].txn->bytes;
  }
  return bytes;
}

/* ---- reading ---- */

static bool touches(const iso_live_txn *t, uint32_t key) {
  for (uint32_t i = 0; i < t->op_count; i++) {
    if (t->ops[i].key == key) return true;
  }
  return false;
}

/* Whether the version of the key that the transaction left has this value. */
static bool leaves(const iso_live_txn *t, uint32_t key, iso_value value) {
  for (uint32_t i = t->op_count; i-- > 0;) {
    if (t->ops[i].key == key && !iso_live_op_observes(&t->ops[i])) return t->ops[i].value == value;
  }
  return false;
}

/* The stretch of a pocket from who wrote the value to the last one who has to do with the key. */
static bool find_stretch(const iso_live_track *track, const pocket *p, uint32_t key, iso_value value, size_t *from,
                         size_t *to) {
  bool found = false;
  for (size_t i = 0; i < p->steps.count; i++) {
    const iso_live_step *step = &p->steps.items[i];
    if (!touches(step->txn, key)) continue;
    *to = i + 1;
    bool starts = track->rule->exclusive ? step->part != ISO_LIVE_COMMIT_ONLY : step->part != ISO_LIVE_SNAPSHOT_ONLY;
    if (!found && starts && leaves(step->txn, key, value)) {
      *from = i;
      found = true;
    }
  }
  return found;
}

/* First those that stay, then those that move; both keep their order. */
static bool put_in_order(iso_live_closure *c, iso_live_step *steps) {
  size_t at = 0;
  for (int moves = 0; moves <= 1; moves++) {
    for (size_t i = 0; i < c->steps.count; i++) {
      if (c->steps.items[i].moves == (moves != 0)) steps[at++] = c->steps.items[i];
    }
  }
  return true;
}

static bool is_candidate(const pocket *p, uint32_t key, iso_value value) {
  for (size_t i = 0; i < p->candidates.count; i++) {
    if (p->candidates.items[i].key == key && p->candidates.items[i].value == value) return true;
  }
  return false;
}

static bool reorder(iso_live_track *track, const pocket *p, uint32_t key, iso_value value) {
  size_t from = 0, to = 0;
  if (!is_candidate(p, key, value)) return false;
  if (p->steps.count == 0) return true;
  iso_live_closure *c = iso_live_closure_of(track);
  if (c == NULL || !find_stretch(track, p, key, value, &from, &to)) return false;
  for (size_t i = from; i < to; i++) {
    if (!iso_vec_push(&c->steps, p->steps.items[i])) return false;
  }
  return iso_live_closure_flip(c, p->steps.items[from].txn, key) && put_in_order(c, p->steps.items + from);
}

bool iso_live_pocket_read(iso_live_track *track, uint32_t key, iso_value value) {
  iso_live_slot *slot = &track->slots.items[key];
  if (slot->frozen != value) {
    if (slot->pocket == 0) return false;
    if (!reorder(track, &track->pockets->items.items[slot->pocket - 1 - track->pockets->first], key, value))
      return false;
    slot->frozen = value;
    if (track->rule->kind == ISO_LIVE_COMMITS) iso_live_sight_promote(track, key, value);
  }
  iso_live_pocket_settle(track, slot);
  return true;
}

/* ---- finding doubts ---- */

/* The last version of a key up to a label, and the one after it (0: none). */
static uint32_t last_up_to(const iso_live_track *track, uint32_t key, uint64_t cut, uint32_t *next) {
  uint32_t v = track->slots.items[key].newest;
  *next = 0;
  while (v != 0 && track->versions.items[v - 1].label > cut) {
    *next = v;
    v = track->versions.items[v - 1].older;
  }
  return v;
}

/* Whether the writer of a version may as well have come behind that of another one, and the last who read that.  By the
 * definitions of most levels it may at any distance; but who ended before the other one began hardly did, and to be
 * wrong about it costs no more than time. */
static bool is_doubtful(iso_live_track *track, uint32_t key, const iso_live_version *version,
                        const iso_live_version *later, size_t *from) {
  const iso_live_txn *first = track->entries.items[version->writer].txn,
                     *second = track->entries.items[later->writer].txn;
  uint64_t behind = track->rule->kind == ISO_LIVE_COMMITS ? later->label : later->last_read;
  return first->real_end >= second->real_start && iso_live_can_flip(track, key, version, behind, from);
}

/* What is known of keys is fetched so many events, or keys, before it is needed. */
enum { EVENTS_AHEAD = 3, KEYS_AHEAD = 10 };

static inline __attribute__((always_inline)) void fetch_slots(const iso_live_track *track, size_t place) {
  if (place >= track->order.count) return;
  const iso_live_txn *t = track->entries.items[track->order.items[place].entry].txn;
  for (uint32_t i = 0; i < t->op_count; i++) {
    if (!iso_live_op_observes(&t->ops[i])) __builtin_prefetch(&track->slots.items[t->ops[i].key], 1);
  }
}

/* Adds the keys that the commits of a stretch write, each once. */
static bool list_keys(iso_live_track *track, size_t from, size_t to, iso_live_doubts *doubts) {
  track->stamp++;
  doubts->keys.count = 0;
  for (size_t i = from; i < to; i++) {
    const iso_live_event *event = &track->order.items[i];
    const iso_live_txn *t = track->entries.items[event->entry].txn;
    fetch_slots(track, i + EVENTS_AHEAD);
    for (uint32_t j = 0; !event->snapshot && j < t->op_count; j++) {
      if (iso_live_op_observes(&t->ops[j])) continue;
      if (track->slots.items[t->ops[j].key].stamp == track->stamp) continue;
      iso_live_slot_of(track, t->ops[j].key);
      if (!iso_vec_push(&doubts->keys, t->ops[j].key)) return false;
    }
  }
  return true;
}

/* One round; *moved: the cut is another one now. */
static bool cut_once(iso_live_track *track, iso_live_doubts *doubts, uint64_t *cut, bool *moved) {
  size_t to = iso_live_order_behind(track, *cut), reach = iso_live_reach(track), from;
  uint64_t before = *cut;
  if (!list_keys(track, to > reach ? to - reach : 0, to, doubts)) return false;
  for (size_t i = 0; i < doubts->keys.count; i++) {
    uint32_t next, last = last_up_to(track, doubts->keys.items[i], before, &next);
    if (last == 0 || next == 0) continue;
    const iso_live_version *kept = &track->versions.items[last - 1], *above = &track->versions.items[next - 1];
    const iso_live_entry *writer = &track->entries.items[kept->writer];
    if (!is_doubtful(track, doubts->keys.items[i], kept, above, &from)) continue;
    uint64_t first = track->rule->exclusive ? writer->begin : writer->commit;
    if (*cut >= first) *cut = first - 1;
  }
  *moved = *cut != before;
  return true;
}

bool iso_live_doubts_cut(iso_live_track *track, uint64_t *cut) {
  iso_live_doubts doubts = {0};
  uint64_t best = *cut;
  bool moved = true, made = iso_live_order_make(track);
  for (int round = 0; made && moved && round < CUT_ROUNDS; round++) made = cut_once(track, &doubts, &best, &moved);
  if (made && !moved) *cut = best;
  iso_live_doubts_free(&doubts);
  return made;
}

/* Of the versions of a key up to the cut, those near the last one that may have been the last as well. */
static bool find_key(iso_live_track *track, uint32_t key, uint64_t cut, iso_live_doubts *doubts) {
  uint32_t next, last = last_up_to(track, key, cut, &next);
  if (last == 0) return true;
  const iso_live_version *kept = &track->versions.items[last - 1];
  iso_live_doubt doubt = {.key = key, .first = doubts->candidates.count};
  uint64_t behind = track->rule->kind == ISO_LIVE_COMMITS ? kept->label : kept->last_read;
  if (behind > cut) return true; /* somebody has read it who stays: it is the last */
  uint32_t v = kept->older;
  for (int i = 0; i < CANDIDATES && v != 0; i++, v = track->versions.items[v - 1].older) {
    const iso_live_version *version = &track->versions.items[v - 1];
    size_t from;
    if (!is_doubtful(track, key, version, kept, &from)) continue;
    doubt.from = from;
    doubt.count++;
    if (!iso_vec_push(&doubts->candidates, ((iso_live_candidate){.key = key, .value = version->value}))) return false;
  }
  if (doubt.count == 0) return true;
  doubt.to = iso_live_order_behind(track, behind);
  return iso_vec_push(&doubts->items, doubt);
}

bool iso_live_doubts_find(iso_live_track *track, uint64_t cut, iso_live_doubts *doubts) {
  *doubts = (iso_live_doubts){0};
  if (!iso_live_order_make(track)) return false;
  if (!list_keys(track, 0, iso_live_order_behind(track, cut), doubts)) return false;
  for (size_t i = 0; i < doubts->keys.count; i++) {
    if (i + 2 * KEYS_AHEAD < doubts->keys.count) {
      const iso_live_slot *slot = &track->slots.items[doubts->keys.items[i + KEYS_AHEAD]];
      if (slot->newest != 0) __builtin_prefetch(&track->versions.items[slot->newest - 1]);
      __builtin_prefetch(&track->slots.items[doubts->keys.items[i + 2 * KEYS_AHEAD]]);
    }
    if (!find_key(track, doubts->keys.items[i], cut, doubts)) return false;
  }
  return true;
}

void iso_live_doubts_free(iso_live_doubts *doubts) {
  iso_vec_free(&doubts->items);
  iso_vec_free(&doubts->candidates);
  iso_vec_free(&doubts->keys);
}

/* ---- keeping ---- */

static int by_place(const void *a, const void *b) {
  const iso_live_doubt *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

static bool keep_step(const iso_live_track *track, size_t place, pocket *p) {
  const iso_live_event *event = &track->order.items[place];
  iso_live_step step = {.txn = track->entries.items[event->entry].txn};
  if (track->rule->kind == ISO_LIVE_SNAPSHOT)
    step.part = event->snapshot ? ISO_LIVE_SNAPSHOT_ONLY : ISO_LIVE_COMMIT_ONLY;
  if (!iso_vec_push(&p->steps, step)) return false;
  iso_live_txn_keep(step.txn);
  return true;
}

static bool keep_candidates(const iso_live_doubts *doubts, const iso_live_doubt *doubt, pocket *p) {
  for (uint32_t i = 0; i < doubt->count; i++) {
    if (!iso_vec_push(&p->candidates, doubts->candidates.items[doubt->first + i])) return false;
  }
  return true;
}

/* A pocket of `count` doubts whose stretches overlap. */
static bool keep_pocket(iso_live_track *track, const iso_live_doubts *doubts, const iso_live_doubt *first, size_t count,
                        size_t to) {
  iso_live_pockets *all = track->pockets;
  pocket p = {.open = count};
  bool kept = iso_vec_reserve(&all->items, 1);
  for (size_t i = 0; kept && i < count; i++) kept = keep_candidates(doubts, &first[i], &p);
  for (size_t i = first->from; kept && count > 1 && i < to; i++) kept = keep_step(track, i, &p);
  all->steps += p.steps.count;
  if (!kept) {
    empty(all, &p);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    track->slots.items[first[i].key].pocket = all->first + (uint32_t)all->items.count + 1;
  }
  all->items.items[all->items.count++] = p;
  return true;
}

bool iso_live_doubts_keep(iso_live_track *track, iso_live_doubts *doubts) {
  if (doubts->items.count == 0) return true;
  if (track->pockets == NULL) track->pockets = iso_alloc_zero(1, sizeof *track->pockets);
  if (track->pockets == NULL) return false;
  qsort(doubts->items.items, doubts->items.count, sizeof *doubts->items.items, by_place);
  for (size_t i = 0; i < doubts->items.count;) {
    const iso_live_doubt *first = &doubts->items.items[i];
    size_t count = 1, to = first->to;
    for (; i + count < doubts->items.count && first[count].from < to; count++) {
      if (to < first[count].to) to = first[count].to;
    }
    if (!keep_pocket(track, doubts, first, count, to)) return false;
    i += count;
  }
  tidy(track);
  return true;
}
