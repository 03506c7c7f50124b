/* An order that respects CO, repaired by what is forced against it until nothing is, or a cycle closes. */
#include "check/causal/causal_order.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check/causal/between.h"
#include "check/causal/sweep.h"
#include "check/causal/window.h"
#include "check/order/version_store.h"

/* A writer further than this before a reader that it could concern is far: such pairs are looked at by themselves, so
 * that a few of them do not make the sweeps of everybody long.  Too many of them are left to the clocks. */
enum { REACH = 1 << 15, MOST_FAR = 1 << 18, MOST_WALKED = 1 << 28, MOST_FOUND = 1 << 26 };
/* Up to so many pairs of a writer and a reader that it could concern are looked at by themselves, wherever they are. */
enum { FEW = 4096 };

/* Pairs of a read and a writer that are known to contradict CO: each is asked about once. */
typedef struct {
  uint64_t *slots; /* the pair + 1; 0 where free */
  size_t mask, count;
} pair_set;

typedef struct {
  iso_causal *out;
  iso_event_graph e;
  iso_sequence s;
  /* Where sessions are few enough for clocks, they answer, and nothing is swept. */
  iso_session_clocks clocks;
  iso_between_finder finder;
  iso_version_store store;
  iso_strip strip;
  uint32_t *depth; /* by transaction: the longest path of CO to it; made when it is needed */
  /* What the last repair changed: only a writer that moved, or one behind a version whose writer moved, can be between
   * now and was not before; and of a read for which something was found there may be more. */
  uint8_t *moved;       /* by transaction */
  uint8_t *again;       /* by read */
  uint32_t *moved_slot; /* by key: the slot of the last writer that moved, + 1 */
  uint32_t *moved_last; /* by slot of a writer that moved: the slot of the one before it, + 1 */
  bool anew;            /* look at everything, whatever moved */
  uint32_t *block_end;  /* by block: the last place that its sweep has to look at */
  uint32_t blocks;
  atomic_uint next_block;
  iso_sweeper *sweepers;
  unsigned threads;
  ISO_VEC(iso_far) far;
  ISO_VEC(iso_far) few;     /* those that are not far, as long as they are few */
  bool many;                /* they are not */
  iso_between_list found;   /* in a round */
  iso_between_list ordered; /* of the pairs that were asked about */
  pair_set known;
  uint64_t walked;
  bool too_far, failed;
  bool is_wide;      /* wide clocks were tried */
  bool brief;        /* nobody asks for the pairs in the way */
  bool lists;        /* the history has lists */
  bool contradicted; /* something contradicts CO, or the initial version, outright */
} causal;

static void strip_free(iso_strip *strip) {
  free(strip->before_first);
  free(strip->before);
  free(strip->read_first);
  free(strip->reads);
  free(strip->write_first);
  free(strip->write_key);
}

static void causal_free(causal *c) {
  iso_event_graph_free(&c->e);
  iso_sequence_free(&c->s);
  iso_version_store_free(&c->store);
  iso_between_finder_free(&c->finder);
  iso_session_clocks_free(&c->clocks);
  strip_free(&c->strip);
  free(c->block_end);
  free(c->depth);
  free(c->moved);
  free(c->again);
  free(c->moved_slot);
  free(c->moved_last);
  iso_vec_free(&c->far);
  iso_vec_free(&c->few);
  iso_vec_free(&c->found);
  iso_vec_free(&c->ordered);
  free(c->known.slots);
  for (unsigned t = 0; c->sweepers != NULL && t < c->threads; t++) iso_sweeper_free(&c->sweepers[t]);
  free(c->sweepers);
}

static bool make_depths(causal *c) {
  if (c->depth != NULL) return true;
  c->depth = iso_alloc_zero(c->e.count, sizeof *c->depth);
  if (c->depth != NULL) iso_sequence_depths(&c->e, &c->s, c->depth);
  return c->depth != NULL;
}

/* Makes what sweeps need. */
static bool make_strip(causal *c) {
  const iso_view *v = c->e.view;
  iso_strip *strip = &c->strip;
  size_t reads = v->read_first[v->h->txns], writes = v->write_first[v->h->txns];
  strip->count = c->s.count;
  strip->keys = v->h->keys;
  strip->before_first = iso_alloc((size_t)strip->count + 1, sizeof *strip->before_first);
  strip->read_first = iso_alloc((size_t)strip->count + 1, sizeof *strip->read_first);
  strip->write_first = iso_alloc((size_t)strip->count + 1, sizeof *strip->write_first);
  strip->before = iso_alloc(reads + strip->count, sizeof *strip->before);
  strip->reads = iso_alloc(reads, sizeof *strip->reads);
  strip->write_key = iso_alloc(writes, sizeof *strip->write_key);
  c->blocks = (strip->count + ISO_SWEEP_BITS - 1) / ISO_SWEEP_BITS;
  c->block_end = iso_alloc(c->blocks, sizeof *c->block_end);
  c->moved_slot = iso_alloc(strip->keys, sizeof *c->moved_slot);
  c->moved_last = iso_alloc(writes, sizeof *c->moved_last);
  c->sweepers = iso_alloc_zero(c->threads, sizeof *c->sweepers);
  bool made = c->moved_slot != NULL && c->moved_last != NULL && strip->before_first != NULL &&
              strip->read_first != NULL && strip->write_first != NULL && strip->before != NULL &&
              strip->reads != NULL && strip->write_key != NULL && c->block_end != NULL && c->sweepers != NULL;
  for (unsigned t = 0; made && t < c->threads; t++) made = iso_sweeper_make(strip, &c->sweepers[t]);
  return made && make_depths(c) && iso_version_store_make(v, &c->store, NULL) == ISOPROOF_OK;
}

/* Makes clocks where they can be made, or else what sweeps need. */
static isoproof_status make_tables(causal *c, isoproof_task *task, isoproof_error *error) {
  const iso_view *v = c->e.view;
  c->moved = iso_alloc_zero(c->e.count, 1);
  c->again = iso_alloc_zero(v->read_first[v->h->txns], 1);
  if (c->moved == NULL || c->again == NULL) return iso_fail_memory(error);
  ISO_TRY(iso_session_clocks_make(&c->e, &c->s, false, c->threads, task, &c->clocks, error));
  bool clocks = c->clocks.rows != NULL;
  bool made = clocks ? iso_between_finder_make(v, &c->s, &c->clocks, &c->finder) : make_strip(c);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

static void note_few(causal *c, iso_far item) {
  if (c->many) return;
  c->many = c->few.count == FEW;
  if (!c->many && !iso_vec_push(&c->few, item)) c->failed = true;
}

/* Notes a read with writers between that are less deep than the reader; the others cannot be causally before it.
 * Walking back from the current version to the one that was read finds the first of them; where that takes long, the
 * version itself is taken, which makes the sweep too long rather than too short. */
static void note_stale(causal *c, uint32_t place, uint32_t slot, uint32_t number) {
  enum { STEPS = 64 };
  const iso_external_read *read = &c->e.view->reads[number];
  iso_strip *strip = &c->strip;
  uint32_t version = read->from == ISO_INITIAL ? 0 : c->s.place[read->from] + 1;
  uint32_t oldest = place, at = strip->read_first[place + 1], steps = 0, depth = c->depth[c->s.event[place]];
  bool near = place - version < REACH;
  bool all = c->anew || c->again[number] || (read->from != ISO_INITIAL && c->moved[read->from]);
  const uint32_t *last = all ? c->store.slot_last : c->moved_last;
  if (!all) slot = c->moved_slot[read->key];
  for (; slot > 0; slot = last[slot - 1]) {
    uint32_t txn = c->store.slot_txn[slot - 1], writer = c->s.place[txn];
    if (writer < version) break;
    if (near && ++steps == STEPS) {
      oldest = version;
      c->many = true;
      break;
    }
    if (c->depth[txn] >= depth) {
      c->walked += !near;
    } else if (place - writer <= REACH) {
      oldest = writer;
      note_few(c, (iso_far){writer, place, number});
    } else if (c->far.count == MOST_FAR || !iso_vec_push(&c->far, ((iso_far){writer, place, number}))) {
      c->too_far = c->far.count == MOST_FAR;
      c->failed = !c->too_far;
      return;
    }
  }
  c->too_far = c->too_far || c->walked > MOST_WALKED;
  if (oldest == place) return;
  strip->reads[at] = (struct iso_strip_read){read->key, version, number};
  strip->read_first[place + 1] = at + 1;
  uint32_t *end = &c->block_end[oldest / ISO_SWEEP_BITS];
  if (*end < place) *end = place;
}

static void lay_txn(causal *c, uint32_t place) {
  const iso_view *v = c->e.view;
  iso_strip *strip = &c->strip;
  uint32_t txn = c->s.event[place], at = strip->before_first[place], writes = strip->write_first[place];
  strip->read_first[place + 1] = strip->read_first[place];
  uint32_t previous = iso_event_before(&c->e, txn);
  if (previous != ISO_NO_EVENT) strip->before[at++] = c->s.place[previous];
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    if (v->reads[i].from != ISO_INITIAL) strip->before[at++] = c->s.place[v->reads[i].from];
  }
  strip->before_first[place + 1] = at;
  for (uint32_t i = v->read_first[txn]; i < v->read_first[txn + 1]; i++) {
    uint32_t slot = c->store.current[v->reads[i].key];
    uint32_t current = slot == 0 ? ISO_INITIAL : c->store.slot_txn[slot - 1];
    if (current != v->reads[i].from) note_stale(c, place, slot, i);
  }
  for (uint32_t i = v->write_first[txn]; i < v->write_first[txn + 1]; i++) {
    strip->write_key[writes++] = v->write_key[i];
    c->store.slot_last[i] = c->store.current[v->write_key[i]];
    c->store.current[v->write_key[i]] = i + 1;
    if (!c->moved[txn]) continue;
    c->moved_last[i] = c->moved_slot[v->write_key[i]];
    c->moved_slot[v->write_key[i]] = i + 1;
  }
  strip->write_first[place + 1] = writes;
}

/* Lays the history out in the order at hand, and finds the reads with writers between. */
static void lay_strip(causal *c) {
  iso_strip *strip = &c->strip;
  memset(c->store.current, 0, strip->keys * sizeof *c->store.current);
  memset(c->moved_slot, 0, strip->keys * sizeof *c->moved_slot);
  memset(c->block_end, 0, c->blocks * sizeof *c->block_end);
  strip->before_first[0] = strip->read_first[0] = strip->write_first[0] = 0;
  c->walked = 0;
  c->far.count = c->few.count = 0;
  c->many = false;
  for (uint32_t place = 0; place < strip->count && !c->too_far && !c->failed; place++) lay_txn(c, place);
  if (!c->many && iso_vec_reserve(&c->far, c->few.count)) {
    for (size_t i = 0; i < c->few.count; i++) c->far.items[c->far.count++] = c->few.items[i];
    memset(c->block_end, 0, c->blocks * sizeof *c->block_end);
  }
  /* A reader that a block concerns, the blocks between them concern as well. */
  for (uint32_t block = 1; block < c->blocks; block++) {
    uint32_t before = c->block_end[block - 1];
    if (before >= block * ISO_SWEEP_BITS && before > c->block_end[block]) c->block_end[block] = before;
  }
}

static void sweep_blocks(void *context, unsigned thread, unsigned threads) {
  (void)threads;
  causal *c = context;
  for (;;) {
    uint32_t block = atomic_fetch_add(&c->next_block, 1);
    if (block >= c->blocks) return;
    if (c->block_end[block] > block * ISO_SWEEP_BITS) iso_sweep(&c->sweepers[thread], block, c->block_end[block]);
  }
}

/* Lays the history out, sweeps, and puts what was found together. */
static isoproof_status look_by_sweeps(causal *c, bool all, isoproof_error *error) {
  lay_strip(c);
  if (c->failed) return iso_fail_memory(error);
  if (c->too_far) return ISOPROOF_OK;
  for (unsigned t = 0; t < c->threads; t++) c->sweepers[t].all = all;
  atomic_store(&c->next_block, 0);
  iso_parallel(c->threads, sweep_blocks, c);
  if (c->far.count > 0) iso_sweep_far(&c->sweepers[0], c->far.items, c->far.count);
  for (unsigned t = 0; t < c->threads; t++) {
    iso_sweeper *s = &c->sweepers[t];
    if (s->failed || !iso_vec_reserve(&c->found, s->found.count)) return iso_fail_memory(error);
    if (s->found.count > 0) {
      memcpy(c->found.items + c->found.count, s->found.items, s->found.count * sizeof *s->found.items);
    }
    c->found.count += s->found.count;
    s->found.count = 0;
  }
  return ISOPROOF_OK;
}

/* Asks the clocks.  Where the order is so far off that this takes long, they make way for sweeps. */
static isoproof_status look_by_clocks(causal *c, bool all, isoproof_task *task, isoproof_error *error) {
  bool too_far;
  iso_between_question question = {.anew = c->anew, .moved = c->moved, .again = c->again, .all = all};
  ISO_TRY(iso_between_find(&c->finder, &question, c->threads, task, &c->found, &too_far, error));
  if (!too_far) return ISOPROOF_OK;
  iso_between_finder_free(&c->finder);
  iso_session_clocks_free(&c->clocks);
  c->found.count = 0;
  return c->is_wide || make_strip(c) ? ISOPROOF_OK : iso_fail_memory(error);
}

/* Where sweeps would take too long, clocks are worth more memory. */
static isoproof_status widen(causal *c, isoproof_task *task, isoproof_error *error) {
  c->is_wide = true;
  ISO_TRY(iso_session_clocks_make(&c->e, &c->s, true, c->threads, task, &c->clocks, error));
  if (c->clocks.rows == NULL) return ISOPROOF_OK;
  ISO_TRY(iso_view_need_writers((iso_view *)c->e.view, error));
  if (!iso_between_finder_make(c->e.view, &c->s, &c->clocks, &c->finder)) return iso_fail_memory(error);
  c->finder.is_patient = true;
  return ISOPROOF_OK;
}

/* Finds the writers between versions and readers that they are causally before. */
static isoproof_status look(causal *c, bool all, isoproof_task *task, isoproof_error *error) {
  c->found.count = 0;
  bool clocks = c->clocks.rows != NULL;
  if (clocks) ISO_TRY(look_by_clocks(c, all, task, error));
  if (c->clocks.rows == NULL) ISO_TRY(look_by_sweeps(c, all, error));
  if (c->too_far && !clocks && !c->is_wide) {
    ISO_TRY(widen(c, task, error));
    c->too_far = c->clocks.rows == NULL;
    if (!c->too_far) ISO_TRY(look_by_clocks(c, all, task, error));
    if (!c->too_far && c->clocks.rows == NULL) c->too_far = true;
  }
  if (c->too_far) return ISOPROOF_OK;
  c->too_far = c->found.count > MOST_FOUND;
  memset(c->again, 0, c->e.view->read_first[c->e.view->h->txns]);
  for (size_t i = 0; i < c->found.count; i++) c->again[c->found.items[i].read] = 1;
  return iso_task_check(task, error);
}

static uint64_t pair_of(const causal *c, const iso_between *between) {
  return ((uint64_t)between->read << 32 | c->s.event[between->writer]) + 1;
}

/* The slot of a pair, or the free one where it belongs. */
static uint64_t *find_pair(const pair_set *set, uint64_t pair) {
  size_t at = (size_t)(pair * UINT64_C(0x9e3779b97f4a7c15) >> 20) & set->mask;
  while (set->slots[at] != 0 && set->slots[at] != pair) at = (at + 1) & set->mask;
  return &set->slots[at];
}

/* Makes room for so many more. */
static bool reserve_pairs(pair_set *set, size_t more) {
  size_t needed = 2 * (set->count + more), slots = set->slots == NULL ? 0 : set->mask + 1, grown = 1024;
  if (needed <= slots) return true;
  while (grown < needed) grown *= 2;
  pair_set larger = {iso_alloc_zero(grown, sizeof *larger.slots), grown - 1, set->count};
  if (larger.slots == NULL) return false;
  for (size_t i = 0; i < slots; i++) {
    if (set->slots[i] != 0) *find_pair(&larger, set->slots[i]) = set->slots[i];
  }
  free(set->slots);
  *set = larger;
  return true;
}

/* Keeps those of what was found whose mark is not set. */
static void keep_unmarked(causal *c, const uint8_t *drop) {
  size_t kept = 0;
  for (size_t i = 0; i < c->found.count; i++) {
    if (!drop[i]) c->found.items[kept++] = c->found.items[i];
  }
  c->found.count = kept;
}

/* Finds out which of the pairs of a writer and a reader are causally ordered: c->ordered. */
static bool ask_pairs(causal *c, iso_far *items, size_t count) {
  c->ordered.count = 0;
  if (c->clocks.rows == NULL) {
    iso_sweeper *s = &c->sweepers[0];
    iso_sweep_far(s, items, count);
    bool good = !s->failed && iso_vec_reserve(&c->ordered, s->found.count);
    for (size_t i = 0; good && i < s->found.count; i++) c->ordered.items[c->ordered.count++] = s->found.items[i];
    s->found.count = 0;
    return good;
  }
  for (size_t i = 0; i < count; i++) {
    uint32_t writer = c->s.event[items[i].writer], reader = c->s.event[items[i].reader];
    if (!iso_session_clock_before(&c->clocks, writer, reader)) continue;
    if (!iso_vec_push(&c->ordered, ((iso_between){items[i].writer, items[i].read}))) return false;
  }
  return true;
}

/* Takes out of what was found what contradicts CO: t1 is causally before t2. */
static isoproof_status drop_contradictions(causal *c, isoproof_error *error) {
  const iso_view *v = c->e.view;
  iso_far *items = iso_alloc(c->found.count, sizeof *items);
  uint8_t *drop = iso_alloc_zero(c->found.count, 1);
  size_t count = 0;
  bool made = items != NULL && drop != NULL && reserve_pairs(&c->known, c->found.count);
  for (size_t i = 0; made && i < c->found.count; i++) {
    const iso_between *between = &c->found.items[i];
    uint32_t t1 = v->reads[between->read].from;
    if (t1 == ISO_INITIAL || *find_pair(&c->known, pair_of(c, between)) != 0) {
      drop[i] = 1;
    } else {
      items[count++] = (iso_far){c->s.place[t1], between->writer, (uint32_t)i};
    }
    c->contradicted = c->contradicted || drop[i];
  }
  made = made && ask_pairs(c, items, count);
  for (size_t i = 0; made && i < c->ordered.count; i++) {
    uint32_t number = c->ordered.items[i].read;
    uint64_t pair = pair_of(c, &c->found.items[number]), *slot = find_pair(&c->known, pair);
    c->known.count += *slot == 0;
    *slot = pair;
    drop[number] = 1;
    c->contradicted = true;
  }
  if (made) keep_unmarked(c, drop);
  free(items);
  free(drop);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

/* Adds what is forced, and repairs the order. */
static isoproof_status add_forced(causal *c, bool *cyclic, isoproof_task *task, isoproof_error *error) {
  const iso_view *v = c->e.view;
  uint32_t first = (uint32_t)c->e.derived.count;
  *cyclic = false;
  memset(c->moved, 0, c->e.count);
  for (size_t i = 0; i < c->found.count; i++) {
    uint32_t writer = c->s.event[c->found.items[i].writer], t1 = v->reads[c->found.items[i].read].from;
    if (t1 == ISO_INITIAL) { /* nothing comes before the initial version */
      *cyclic = true;
      continue;
    }
    uint32_t last = c->e.in[t1];
    if (last > first && c->e.derived.items[last - 1].from == writer) continue;
    iso_derived edge = {.from = writer, .to = t1, .read = c->found.items[i].read, .reason = ISO_SEEN, .round = 1};
    ISO_TRY(iso_event_graph_add(&c->e, edge, error));
  }
  if (!*cyclic) ISO_TRY(iso_sequence_repair(&c->e, first, &c->s, c->moved, cyclic, task, error));
  if (*cyclic) iso_event_graph_drop(&c->e, first);
  return ISOPROOF_OK;
}

static int by_read(const void *a, const void *b) {
  const iso_forced_pair *x = a, *y = b;
  if (x->read != y->read) return x->read < y->read ? -1 : 1;
  return (x->t2 > y->t2) - (x->t2 < y->t2);
}

/* Hands out what was found: of a session only the last writer counts. */
static isoproof_status hand_out(causal *c, isoproof_error *error) {
  const isoproof_history *h = c->e.view->h;
  iso_forced_pairs *pairs = &c->out->pairs;
  enum { MOST_TOLD = 1 << 22 };
  if (c->brief && pairs->count + c->found.count > MOST_TOLD) return ISOPROOF_OK;
  if (!iso_vec_reserve(pairs, c->found.count)) return iso_fail_memory(error);
  for (size_t i = 0; i < c->found.count; i++) {
    pairs->items[pairs->count++] = (iso_forced_pair){c->found.items[i].read, c->s.event[c->found.items[i].writer]};
  }
  if (c->brief) return ISOPROOF_OK;
  if (pairs->count > 1) qsort(pairs->items, pairs->count, sizeof *pairs->items, by_read);
  size_t kept = 0;
  for (size_t i = 0; i < pairs->count; i++) {
    const iso_forced_pair *one = &pairs->items[i], *next = one + 1;
    bool last = i + 1 == pairs->count || next->read != one->read || h->txn_session[next->t2] != h->txn_session[one->t2];
    if (last) pairs->items[kept++] = *one;
  }
  pairs->count = kept;
  return ISOPROOF_OK;
}

/* Finds every writer that is between a version and a reader that it is causally before, in the order at hand.  Where
 * the answer is that there are contradictions only, it is they: the others are where they must be. */
static isoproof_status find_backward(causal *c, isoproof_task *task, isoproof_error *error) {
  c->anew = true;
  return look(c, true, task, error);
}

/* Finds what else is forced where cycles can be. */
static isoproof_status find_windows(causal *c, isoproof_error *error) {
  iso_window_pairs pairs;
  if (!make_depths(c)) return iso_fail_memory(error);
  iso_window_pairs_find(c->e.view, &c->s, c->depth, c->found.items, c->found.count, &pairs);
  bool made = !pairs.failed;
  c->too_far = pairs.too_many;
  size_t kept = 0; /* what is about the initial version stays */
  for (size_t i = 0; i < c->found.count; i++) {
    if (c->e.view->reads[c->found.items[i].read].from == ISO_INITIAL) c->found.items[kept++] = c->found.items[i];
  }
  c->found.count = kept;
  if (made && !c->too_far) {
    made = ask_pairs(c, pairs.items.items, pairs.items.count) && iso_vec_reserve(&c->found, c->ordered.count);
    for (size_t i = 0; made && i < c->ordered.count; i++) c->found.items[c->found.count++] = c->ordered.items[i];
  }
  iso_vec_free(&pairs.items);
  return made ? ISOPROOF_OK : iso_fail_memory(error);
}

static isoproof_status conclude(causal *c, iso_causal_answer answer, isoproof_task *task, isoproof_error *error) {
  if (c->brief) {
    c->out->answer = answer;
    return ISOPROOF_OK;
  }
  ISO_TRY(find_backward(c, task, error));
  if (!c->too_far && answer == ISO_CAUSAL_NO) ISO_TRY(find_windows(c, error));
  if (c->too_far) return ISOPROOF_OK;
  c->out->answer = answer;
  return hand_out(c, error);
}

/* Looks at the first order: the sessions in turn, which is right where they ran beside each other, or else, as where
 * they were short and came one after the other, what paths tell of the times. */
static isoproof_status look_first(causal *c, isoproof_task *task, isoproof_error *error) {
  c->anew = true;
  ISO_TRY(look(c, false, task, error));
  if (!c->too_far) return ISOPROOF_OK;
  c->too_far = false;
  ISO_TRY(iso_sequence_settle(&c->e, &c->s, c->depth, error));
  return look(c, false, task, error);
}

static isoproof_status search(causal *c, isoproof_task *task, isoproof_error *error) {
  iso_causal *out = c->out;
  for (;;) {
    /* Contradictions stay where they are and would hide others if only a few were noted. */
    ISO_TRY(out->rounds == 0 ? look_first(c, task, error) : look(c, c->contradicted, task, error));
    out->rounds++;
    if (c->too_far) return ISOPROOF_OK;
    if (c->brief) ISO_TRY(hand_out(c, error));
    if (c->contradicted) ISO_TRY(drop_contradictions(c, error));
    if (c->found.count == 0) break;
    c->anew = false;
    bool cyclic;
    ISO_TRY(add_forced(c, &cyclic, task, error));
    if (cyclic && !c->contradicted) {
      ISO_TRY(drop_contradictions(c, error));
      if (c->contradicted) ISO_TRY(add_forced(c, &cyclic, task, error));
    }
    if (cyclic) return conclude(c, ISO_CAUSAL_NO, task, error);
  }
  /* A list orders versions beyond CO, so that there it is not only CO that a pair can contradict. */
  if (c->contradicted) return conclude(c, c->lists ? ISO_CAUSAL_NO : ISO_CAUSAL_CONTRADICTED, task, error);
  out->answer = ISO_CAUSAL_YES;
  return ISOPROOF_OK;
}

static isoproof_status add_list_orders(causal *c, const iso_versions *versions, isoproof_error *error) {
  for (uint32_t txn = 0; txn < c->e.view->h->txns; txn++) {
    for (uint32_t i = versions->ww_first[txn]; i < versions->ww_first[txn + 1]; i++) {
      iso_derived edge = {.from = versions->ww[i].from, .to = txn, .reason = ISO_LIST};
      ISO_TRY(iso_event_graph_add(&c->e, edge, error));
    }
  }
  return ISOPROOF_OK;
}

static isoproof_status prepare(causal *c, iso_view *view, const iso_versions *versions, const int64_t *when,
                               isoproof_task *task, isoproof_error *error) {
  ISO_TRY(iso_event_graph_make(view, (iso_event_shape){.split = false, .ungrouped = true}, NULL, &c->e, error));
  c->lists = versions != NULL && versions->ww_first != NULL;
  if (c->lists) ISO_TRY(add_list_orders(c, versions, error));
  return when != NULL ? iso_sequence_make_by(&c->e, when, task, &c->s, error)
                      : iso_sequence_make(&c->e, task, &c->s, error);
}

static isoproof_status decide(iso_view *view, const iso_versions *versions, const int64_t *when, isoproof_task *task,
                              iso_causal *out, isoproof_error *error) {
  enum { SMALL = 16384 };
  memset(out, 0, sizeof *out);
  causal c = {.out = out, .threads = view->h->txns < SMALL ? 1 : iso_task_threads(task), .brief = when != NULL};
  isoproof_status status = prepare(&c, view, versions, when, task, error);
  bool cyclic = status == ISOPROOF_OK && c.s.count < c.s.total; /* by the orders of lists: it is left open */
  if (status == ISOPROOF_OK && !cyclic) status = make_tables(&c, task, error);
  if (status == ISOPROOF_OK && !cyclic) status = search(&c, task, error);
  if (status == ISOPROOF_OK && !cyclic) {
    out->sequence = c.s;
    memset(&c.s, 0, sizeof c.s);
  }
  causal_free(&c);
  if (status != ISOPROOF_OK) iso_causal_free(out);
  return status;
}

isoproof_status iso_causal_order(iso_view *view, const iso_versions *versions, isoproof_task *task, iso_causal *out,
                                 isoproof_error *error) {
  return decide(view, versions, NULL, task, out, error);
}

isoproof_status iso_causal_order_from(iso_view *view, const int64_t *when, isoproof_task *task, iso_causal *out,
                                      isoproof_error *error) {
  return decide(view, NULL, when, task, out, error);
}

void iso_causal_free(iso_causal *causal_result) {
  iso_vec_free(&causal_result->pairs);
  iso_sequence_free(&causal_result->sequence);
}
