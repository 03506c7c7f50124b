/* cycle_shape.c - all shapes of POP cycles that cannot be made shorter, one after the other.
 *
 * What the lemmas of the Coo paper (3.8 to 3.10) leave over: an object belongs to one POP, or to two in a row of which
 * the first is RW or RCW and the second WR or WCR, meeting in one write (any other two could be replaced by one).  On a
 * cycle of two transactions and one object, the two POPs meet in the step of the second transaction, and the cycle may
 * also close with an end.
 *
 * The first POP is the one that closes first.  A POP whose first transaction has committed, or that begins with the
 * write that closed the POP before, closes after that one; so the first POP is neither, and every such cycle has a
 * schedule: close the POPs one after another.
 */
#include "coo/cycle_shape.h"

typedef struct kind_list {
  uint32_t count;
  isoproof_pop_kind kinds[9];
} kind_list;

#define KIND(name) ISOPROOF_POP_##name

static const kind_list any_dirty = {3, {KIND(WR), KIND(WW), KIND(RW)}};
static const kind_list any_kind = {6, {KIND(WR), KIND(WW), KIND(RW), KIND(WCR), KIND(WCW), KIND(RCW)}};
static const kind_list pair_opening = {1, {KIND(RW)}};
static const kind_list pair_first = {2, {KIND(RW), KIND(RCW)}};
static const kind_list pair_second = {2, {KIND(WR), KIND(WCR)}};
/* On one object: what can follow a POP that ends with a read or with a write. */
static const kind_list after_dirty_read = {3, {KIND(RW), KIND(RCW), KIND(RA)}};
static const kind_list after_dirty_write = {5, {KIND(WW), KIND(WCW), KIND(WR), KIND(WCR), KIND(WC)}};
static const kind_list after_clean_write = {4, {KIND(WR), KIND(WCR), KIND(WW), KIND(WCW)}};

static bool is_single(const iso_cycle_shape_walk *walk) { return walk->length == 2 && walk->objects == 1; }

static const kind_list *kinds_at(const iso_cycle_shape_walk *walk, uint32_t place) {
  if (is_single(walk) && place == 1) {
    isoproof_pop_kind first = any_dirty.kinds[walk->digit[0]];
    return first == KIND(WR) ? &after_dirty_read : first == KIND(WW) ? &after_dirty_write : &after_clean_write;
  }
  if (!is_single(walk) && (walk->pairs >> place & 1) != 0) return place == 0 ? &pair_opening : &pair_first;
  if (!is_single(walk) && place > 0 && (walk->pairs >> (place - 1) & 1) != 0) return &pair_second;
  return place == 0 ? &any_dirty : &any_kind;
}

/* Whether the pairs are disjoint, do not reach around the cycle, and leave that many objects. */
static bool pairs_fit(const iso_cycle_shape_walk *walk) {
  uint32_t pairs = walk->pairs;
  if (is_single(walk)) return pairs == 1;
  return (pairs & pairs << 1) == 0 && (pairs >> (walk->length - 1)) == 0 &&
         (uint32_t)__builtin_popcount(pairs) + walk->objects == walk->length;
}

iso_cycle_shape_walk iso_cycle_shape_walk_begin(uint32_t length, uint32_t objects) {
  return (iso_cycle_shape_walk){.length = length, .objects = objects};
}

/* The next choice of kinds for the same pairs, like the digits of a number. */
static bool next_digits(iso_cycle_shape_walk *walk) {
  for (uint32_t place = walk->length; place-- > 0;) {
    if (++walk->digit[place] < kinds_at(walk, place)->count) return true;
    walk->digit[place] = 0;
  }
  return false;
}

static void fill(const iso_cycle_shape_walk *walk, iso_cycle_shape *out) {
  uint32_t object = 0;
  *out = (iso_cycle_shape){.length = walk->length, .objects = walk->objects};
  for (uint32_t i = 0; i < walk->length; i++) {
    if (i > 0 && (walk->pairs >> (i - 1) & 1) == 0) object++;
    out->kinds[i] = kinds_at(walk, i)->kinds[walk->digit[i]];
    out->on[i] = object;
  }
}

bool iso_cycle_shape_next(iso_cycle_shape_walk *walk, iso_cycle_shape *out) {
  if (walk->length < 2 || walk->length > ISOPROOF_COO_TXNS || walk->objects == 0) return false;
  uint32_t end = UINT32_C(1) << walk->length;
  bool stay = walk->started && next_digits(walk);
  if (!stay) {
    if (walk->started) walk->pairs++;
    while (walk->pairs < end && !pairs_fit(walk)) walk->pairs++;
  }
  walk->started = true;
  if (walk->pairs >= end) return false;
  fill(walk, out);
  return true;
}

uint64_t isoproof_coo_cycle_count(size_t txns, size_t objects) {
  if (txns < 2 || txns > ISOPROOF_COO_TXNS || objects == 0 || objects > ISOPROOF_COO_OBJECTS) return 0;
  iso_cycle_shape_walk walk = iso_cycle_shape_walk_begin((uint32_t)txns, (uint32_t)objects);
  uint64_t count = 0;
  for (walk.pairs = 0; walk.pairs < UINT32_C(1) << txns; walk.pairs++) {
    uint64_t ways = 1;
    for (uint32_t i = 0; i < txns; i++) ways *= kinds_at(&walk, i)->count;
    if (pairs_fit(&walk) && !is_single(&walk)) count += ways;
  }
  if (is_single(&walk)) count = after_dirty_read.count + after_dirty_write.count + after_clean_write.count;
  return count;
}

bool iso_cycle_shape_shares(const iso_cycle_shape *s, uint32_t pop) {
  return pop > 0 && pop < s->length && s->on[pop] == s->on[pop - 1];
}
