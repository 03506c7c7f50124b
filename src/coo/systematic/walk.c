/* walk.c - what transactions can do, size by size, and for each the orders in which they can do it. */
#include "coo/systematic/walk.h"

#include <string.h>

uint32_t iso_sys_alphabet(const iso_sys_bounds *bounds, uint32_t rows, iso_sys_step out[ISO_SYS_ALPHABET]) {
  uint32_t count = 0;
  bool values = bounds->predicates > ISO_SYS_VALUES - ISO_SYS_KEYS;
  for (uint8_t kind = 0; kind < ISO_SYS_KINDS; kind++) {
    if (iso_sys_kind_is_predicate(kind) && kind - ISO_SYS_KEYS < (int)bounds->predicates)
      out[count++] = (iso_sys_step){.kind = kind};
    if (!iso_sys_kind_has_row(kind)) continue;
    for (uint8_t row = 0; row < rows; row++) {
      out[count++] = (iso_sys_step){kind, row, 0};
      if (values && (kind == ISO_SYS_INSERT || kind == ISO_SYS_UPDATE)) out[count++] = (iso_sys_step){kind, row, 1};
    }
  }
  return count;
}

/* ---- families ---- */

/* The next list of numbers below `base`, the last one fastest; false, and all 0, after the last. */
static bool advance(uint32_t *digits, uint32_t count, uint32_t base) {
  for (uint32_t i = count; i-- > 0;) {
    if (++digits[i] < base) return true;
    digits[i] = 0;
  }
  return false;
}

static uint32_t power(uint32_t base, uint32_t exponent) {
  uint32_t result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

/* Whether the numbers of operations of the transactions grow, and are `total` together. */
static bool counts_fit(const iso_sys_walk *walk) {
  uint32_t sum = 0;
  for (uint32_t t = 0; t < walk->txns; t++) {
    if (t > 0 && walk->counts[t] < walk->counts[t - 1]) return false;
    sum += walk->counts[t] + 1;
  }
  return sum == walk->total;
}

/* The next total number of operations, number of transactions, number of rows, or numbers of operations each. */
static bool next_shape(iso_sys_walk *walk) {
  for (;;) {
    if (walk->rows == 0 || !advance(walk->counts, walk->txns, walk->bounds.operations)) {
      if (walk->rows++ == walk->bounds.rows) {
        walk->rows = 1;
        if (walk->txns++ == walk->bounds.transactions) {
          walk->txns = 2;
          if (walk->total++ == walk->bounds.transactions * walk->bounds.operations) return false;
        }
      }
      memset(walk->counts, 0, sizeof walk->counts);
    }
    if (!counts_fit(walk)) continue;
    walk->letters = iso_sys_alphabet(&walk->bounds, walk->rows, walk->alphabet);
    return true;
  }
}

static bool next_family(iso_sys_walk *walk) {
  bool values = walk->bounds.predicates > ISO_SYS_VALUES - ISO_SYS_KEYS;
  uint32_t kinds = values ? ISO_SYS_STARTS : ISO_SYS_OTHER;
  if (walk->begun) {
    if (++walk->starts < power(kinds, walk->rows)) return true;
    walk->starts = 0;
    if (++walk->ends < 1U << walk->txns) return true;
    walk->ends = 0;
    if (advance(walk->digits, walk->total, walk->letters)) return true;
  }
  walk->begun = true;
  return next_shape(walk);
}

static void make_family(const iso_sys_walk *walk, iso_sys_family *family) {
  uint32_t digit = 0, starts = walk->starts;
  uint32_t kinds = walk->bounds.predicates > ISO_SYS_VALUES - ISO_SYS_KEYS ? ISO_SYS_STARTS : ISO_SYS_OTHER;
  memset(family, 0, sizeof *family);
  family->txns = (uint8_t)walk->txns;
  family->rows = (uint8_t)walk->rows;
  for (uint32_t t = 0; t < walk->txns; t++) {
    iso_sys_program *program = &family->programs[t];
    program->count = (uint8_t)(walk->counts[t] + 1);
    program->aborts = walk->ends >> t & 1;
    for (uint32_t i = 0; i < program->count; i++) program->ops[i] = walk->alphabet[walk->digits[digit++]];
  }
  for (uint32_t row = 0; row < walk->rows && row < ISO_SYS_ROWS; row++, starts /= kinds)
    family->starts[row] = (uint8_t)(starts % kinds);
}

/* Whether no renaming gives a lesser family; keeps those that give the same. */
static bool is_least(iso_sys_walk *walk) {
  iso_sys_renaming renamings[ISO_SYS_RENAMINGS];
  uint32_t count = iso_sys_renamings(walk->txns, walk->rows, renamings);
  iso_sys_schedule given = {.family = walk->schedule.family}, image;
  walk->same_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    iso_sys_rename(&given, &renamings[i], &image);
    int difference = iso_sys_family_compare(&image.family, &given.family);
    if (difference < 0) return false;
    if (difference == 0) walk->same[walk->same_count++] = renamings[i];
  }
  return true;
}

/* ---- orders ---- */

static void begin_orders(iso_sys_walk *walk) {
  iso_sys_schedule *schedule = &walk->schedule;
  iso_sys_find_conflicts(&schedule->family, &walk->conflicts);
  schedule->count = 0;
  for (uint32_t t = 0; t < walk->txns; t++)
    schedule->count = (uint8_t)(schedule->count + iso_sys_steps_of(&schedule->family, t));
  memset(schedule->order, 0, sizeof schedule->order);
  walk->depth = 0;
  walk->in_family = true;
}

/* Whether the transaction at the end of the first `depth` + 1 steps has such a step left, and could not have come
 * earlier, before a greater one, by swaps: an order without such a place is the least of its class (Anisimov and
 * Knuth). */
static bool fits(const iso_sys_walk *walk) {
  const iso_sys_schedule *schedule = &walk->schedule;
  uint32_t next[ISO_SYS_TXNS] = {0}, places[ISO_SYS_STEPS], depth = walk->depth;
  for (uint32_t i = 0; i <= depth; i++) {
    uint32_t t = schedule->order[i];
    places[i] = iso_sys_place(t, next[t]++);
  }
  uint32_t last = schedule->order[depth];
  if (next[last] > iso_sys_steps_of(&schedule->family, last)) return false;
  for (uint32_t i = depth; i-- > 0;) {
    if ((walk->conflicts.with[places[depth]] >> places[i] & 1) != 0) return true;
    if (schedule->order[i] > last) return false;
  }
  return true;
}

/* Moves on to the next choice at the present depth, or above it; false when there is none. */
static bool next_choice(iso_sys_walk *walk) {
  uint8_t *order = walk->schedule.order;
  while (order[walk->depth] + 1U >= walk->txns) {
    order[walk->depth] = 0;
    if (walk->depth-- == 0) return false;
  }
  order[walk->depth]++;
  return true;
}

/* The next least order of the family; false after the last. */
static bool next_order(iso_sys_walk *walk, bool first) {
  bool more = first || next_choice(walk);
  while (more) {
    if (!fits(walk)) {
      more = next_choice(walk);
    } else if (walk->depth + 1 == walk->schedule.count) {
      return true;
    } else {
      walk->schedule.order[++walk->depth] = 0;
    }
  }
  return false;
}

/* Whether no renaming that keeps the family gives a lesser order. */
static bool order_is_least(const iso_sys_walk *walk) {
  iso_sys_schedule image;
  for (uint32_t i = 0; i < walk->same_count; i++) {
    iso_sys_rename(&walk->schedule, &walk->same[i], &image);
    iso_sys_normalize(&image, &walk->conflicts);
    if (memcmp(image.order, walk->schedule.order, sizeof image.order) < 0) return false;
  }
  return true;
}

/* ---- both ---- */

iso_sys_walk iso_sys_walk_begin(iso_sys_bounds bounds) {
  return (iso_sys_walk){.bounds = bounds, .total = 2, .txns = 2};
}

bool iso_sys_walk_next(iso_sys_walk *walk, iso_sys_schedule *out) {
  while (!walk->over) {
    bool first = !walk->in_family;
    if (first) {
      walk->over = !next_family(walk);
      if (walk->over) break;
      make_family(walk, &walk->schedule.family);
      if (!iso_sys_family_is_sound(&walk->schedule.family, walk->bounds.unique) || !is_least(walk)) continue;
      begin_orders(walk);
    }
    walk->in_family = next_order(walk, first);
    if (!walk->in_family || !order_is_least(walk)) continue;
    *out = walk->schedule;
    return true;
  }
  return false;
}
