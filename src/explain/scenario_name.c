/* What people call a scenario: a table of shapes, and the classes of cycles where none fits. */
#include <stdlib.h>

#include "explain/scenario.h"

/* Classes of cycles, each a weaker claim than the one before. */
typedef enum { CLASS_G0, CLASS_G1C, CLASS_SINGLE, CLASS_NONADJACENT, CLASS_ITEM } cycle_class;

typedef struct {
  const iso_link *link;
  uint32_t count;
} cycle;

static cycle cycle_of(const iso_scenario *s, const iso_branch *leaf) {
  return (cycle){s->links.items + leaf->first_link, leaf->links};
}

static const iso_link *at(const cycle *c, uint32_t place) { return &c->link[place % c->count]; }

static uint32_t count_kind(const cycle *c, iso_edge_kind kind) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->count; i++) count += c->link[i].kind == kind;
  return count;
}

static cycle_class class_of(const cycle *c) {
  uint32_t missed = count_kind(c, ISO_EDGE_RW);
  if (missed == 0) return count_kind(c, ISO_EDGE_WW) == c->count ? CLASS_G0 : CLASS_G1C;
  if (missed == 1) return CLASS_SINGLE;
  for (uint32_t i = 0; i < c->count; i++) {
    if (at(c, i)->kind == ISO_EDGE_RW && at(c, i + 1)->kind == ISO_EDGE_RW) return CLASS_ITEM;
  }
  return CLASS_NONADJACENT;
}

/* Whether the kinds, from some place on, are these; *start is that place. */
static bool has_kinds(const cycle *c, const iso_edge_kind *kinds, uint32_t count, uint32_t *start) {
  if (c->count != count) return false;
  for (*start = 0; *start < count; ++*start) {
    uint32_t i = 0;
    while (i < count && at(c, *start + i)->kind == kinds[i]) i++;
    if (i == count) return true;
  }
  return false;
}

#define KINDS(...)                                                                                                     \
  (const iso_edge_kind[]) { __VA_ARGS__ }

static bool has_known(const iso_scenario *s, iso_edge_kind kind) {
  for (size_t i = 0; i < s->known.count; i++) {
    if (s->known.items[i].kind == kind) return true;
  }
  return false;
}

/* ---- shapes; each is asked of a cycle of the weakest class ---- */

static bool is_dirty_write(const iso_scenario *s, const cycle *c) {
  return class_of(c) == CLASS_G0 && !has_known(s, ISO_EDGE_SO);
}

/* It began after the writer had ended, and missed the write. */
static bool is_stale_read(const iso_scenario *s, const cycle *c) {
  uint32_t start;
  (void)s;
  return has_kinds(c, KINDS(ISO_EDGE_RT, ISO_EDGE_RW), 2, &start);
}

static bool is_certain_miss(const iso_link *link) {
  return link->kind == ISO_EDGE_RW && link->reason != ISO_ORDER_ASSUMED;
}

/* Both read one version and overwrote it: each misses the other's write of that key, whatever the orders are. */
static bool is_lost_update(const iso_scenario *s, const cycle *c) {
  (void)c;
  for (size_t i = 0; i < s->links.count; i++) {
    const iso_link *one = &s->links.items[i];
    for (size_t k = 0; is_certain_miss(one) && k < i; k++) {
      const iso_link *other = &s->links.items[k];
      if (is_certain_miss(other) && other->from == one->to && other->to == one->from && other->key == one->key &&
          other->version == one->version) {
        return true;
      }
    }
  }
  return false;
}

static bool is_write_skew(const iso_scenario *s, const cycle *c) {
  uint32_t start;
  (void)s;
  return has_kinds(c, KINDS(ISO_EDGE_RW, ISO_EDGE_RW), 2, &start) && at(c, 0)->key != at(c, 1)->key;
}

/* Two readers, each of which saw the write that the other one missed. */
static bool is_long_fork(const iso_scenario *s, const cycle *c) {
  uint32_t start;
  (void)s;
  return has_kinds(c, KINDS(ISO_EDGE_RW, ISO_EDGE_WR, ISO_EDGE_RW, ISO_EDGE_WR), 4, &start) &&
         at(c, start)->from != at(c, start + 2)->from;
}

static bool is_non_repeatable(const iso_scenario *s, const cycle *c) {
  uint32_t start;
  (void)s;
  return has_kinds(c, KINDS(ISO_EDGE_WR, ISO_EDGE_RW), 2, &start) && at(c, 0)->key == at(c, 1)->key;
}

/* It saw one write of a transaction and missed another one. */
static bool is_fractured(const iso_scenario *s, const cycle *c) {
  uint32_t start;
  (void)s;
  return has_kinds(c, KINDS(ISO_EDGE_WR, ISO_EDGE_RW), 2, &start);
}

/* A session saw a write, and later missed it. */
static bool is_non_monotonic(const iso_scenario *s, const cycle *c) {
  uint32_t start;
  (void)s;
  return has_kinds(c, KINDS(ISO_EDGE_WR, ISO_EDGE_SO, ISO_EDGE_RW), 3, &start);
}

/* It follows a write by what was seen and by sessions, and missed it. */
static bool is_causality_violation(const iso_scenario *s, const cycle *c) {
  (void)s;
  return count_kind(c, ISO_EDGE_RW) == 1 && count_kind(c, ISO_EDGE_SO) + count_kind(c, ISO_EDGE_WR) + 1 == c->count;
}

/* It saw a later state of one key and an earlier one of another. */
static bool is_read_skew(const iso_scenario *s, const cycle *c) {
  (void)s;
  if (count_kind(c, ISO_EDGE_RW) != 1 || count_kind(c, ISO_EDGE_SO) + count_kind(c, ISO_EDGE_RT) > 0) return false;
  for (uint32_t i = 0; i < c->count; i++) {
    if (at(c, i + 1)->kind == ISO_EDGE_RW) return at(c, i)->kind == ISO_EDGE_WR;
  }
  return false;
}

/* The more specific ones first.  Where real time takes part only a shape that speaks of it will do: the others are
 * broken at levels without real time. */
static const struct {
  iso_anomaly name;
  bool (*fits)(const iso_scenario *s, const cycle *c);
  bool timed;
} shapes[] = {
    {ISO_ANOMALY_DIRTY_WRITE, is_dirty_write, false},
    {ISO_ANOMALY_STALE_READ, is_stale_read, true},
    {ISO_ANOMALY_LOST_UPDATE, is_lost_update, false},
    {ISO_ANOMALY_WRITE_SKEW, is_write_skew, false},
    {ISO_ANOMALY_LONG_FORK, is_long_fork, false},
    {ISO_ANOMALY_FUZZY_READ, is_non_repeatable, false},
    {ISO_ANOMALY_FRACTURED_READ, is_fractured, false},
    {ISO_ANOMALY_NON_MONOTONIC_READ, is_non_monotonic, false},
    {ISO_ANOMALY_CAUSALITY_VIOLATION, is_causality_violation, false},
    {ISO_ANOMALY_READ_SKEW, is_read_skew, false},
};

/* The name of a class: plain, with session order, with real time. */
static const iso_anomaly classes[][3] = {
    [CLASS_G0] = {ISO_ANOMALY_G0, ISO_ANOMALY_G0_PROCESS, ISO_ANOMALY_G0_REALTIME},
    [CLASS_G1C] = {ISO_ANOMALY_G1C, ISO_ANOMALY_G1C_PROCESS, ISO_ANOMALY_G1C_REALTIME},
    [CLASS_SINGLE] = {ISO_ANOMALY_G_SINGLE, ISO_ANOMALY_G_SINGLE_PROCESS, ISO_ANOMALY_G_SINGLE_REALTIME},
    [CLASS_NONADJACENT] = {ISO_ANOMALY_G_NONADJACENT, ISO_ANOMALY_G_NONADJACENT_PROCESS,
                           ISO_ANOMALY_G_NONADJACENT_REALTIME},
    [CLASS_ITEM] = {ISO_ANOMALY_G2_ITEM, ISO_ANOMALY_G2_ITEM_PROCESS, ISO_ANOMALY_G2_ITEM_REALTIME},
};

/* Whatever the orders are, there is a cycle of the weakest class among the leaves or of a stronger one. */
static cycle_class weakest_class(const iso_scenario *s) {
  cycle_class weakest = CLASS_G0;
  for (size_t i = 0; i < s->cases.count; i++) {
    if (!s->cases.items[i].is_leaf) continue;
    cycle c = cycle_of(s, &s->cases.items[i]);
    if (class_of(&c) > weakest) weakest = class_of(&c);
  }
  return weakest;
}

/* Whether all cycles of the weakest class have the shape: it is then there in every order that has no stronger cycle.
 */
static bool fits_all(const iso_scenario *s, cycle_class weakest, bool (*fits)(const iso_scenario *, const cycle *)) {
  for (size_t i = 0; i < s->cases.count; i++) {
    if (!s->cases.items[i].is_leaf) continue;
    cycle c = cycle_of(s, &s->cases.items[i]);
    if (class_of(&c) == weakest && !fits(s, &c)) return false;
  }
  return true;
}

iso_anomaly iso_scenario_name(const iso_scenario *s) {
  cycle_class weakest = weakest_class(s);
  bool timed = has_known(s, ISO_EDGE_RT);
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
    if (shapes[k].timed == timed && fits_all(s, weakest, shapes[k].fits)) return shapes[k].name;
  }
  return classes[weakest][timed ? 2 : has_known(s, ISO_EDGE_SO) ? 1 : 0];
}
