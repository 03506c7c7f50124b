/* What people call a scenario: a table of shapes, and the classes of cycles where none fits. */
#include <stdlib.h>

#include "explain/row_names.h"
#include "explain/scenario.h"

/* Classes of cycles, each a weaker claim than the one before. */
typedef enum { CLASS_G0, CLASS_G1C, CLASS_SINGLE, CLASS_NONADJACENT, CLASS_ITEM } cycle_class;

typedef struct {
  const isoproof_history *h;
  const iso_link *link;
  uint32_t count;
} cycle;

static cycle cycle_of(const isoproof_history *h, const iso_scenario *s, const iso_branch *leaf) {
  return (cycle){h, s->links.items + leaf->first_link, leaf->links};
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
static const iso_link *find_lost_update(const iso_scenario *s) {
  for (size_t i = 0; i < s->links.count; i++) {
    const iso_link *one = &s->links.items[i];
    for (size_t k = 0; is_certain_miss(one) && k < i; k++) {
      const iso_link *other = &s->links.items[k];
      if (is_certain_miss(other) && other->from == one->to && other->to == one->from && other->key == one->key &&
          other->version == one->version) {
        return one;
      }
    }
  }
  return NULL;
}

static bool is_lost_update(const iso_scenario *s, const cycle *c) {
  (void)c;
  return find_lost_update(s) != NULL;
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

/* ---- shapes of rows ---- */

/* The last write of a transaction to a row. */
static uint32_t write_of(const isoproof_history *h, uint32_t txn, uint32_t key) {
  if (txn >= h->txns) return ISO_NO_OP;
  for (uint32_t op = h->txn_first_op[txn + 1]; op-- > h->txn_first_op[txn];) {
    if (h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_key[op] == key) return op;
  }
  return ISO_NO_OP;
}

static bool has_predicate_miss(const cycle *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    if (c->link[i].kind == ISO_EDGE_RW && iso_is_not_returned(c->h, c->link[i].read_op)) return true;
  }
  return false;
}

/* What a cycle with one missed write is called. */
static iso_anomaly name_of_single(const cycle *c) {
  if (count_kind(c, ISO_EDGE_RW) != 1) return ISO_ANOMALY_COUNT;
  uint32_t i = 0;
  while (c->link[i].kind != ISO_EDGE_RW) i++;
  const iso_link *miss = at(c, i), *before = at(c, i + c->count - 1);
  iso_row_evidence evidence = iso_row_evidence_of(c->h, before->kind, before->read_op, miss->read_op);
  uint32_t write = write_of(c->h, miss->to, miss->key);
  return iso_row_name_of_miss(c->h, miss->read_op, write, evidence, ISO_ANOMALY_COUNT);
}

/* Of a lost update: one of the two deleted the row, and what the other one wrote was seen. */
static bool is_delete_overwritten(const iso_scenario *s, const cycle *c) {
  const iso_link *link = find_lost_update(s);
  if (link == NULL) return false;
  uint32_t one = write_of(c->h, link->from, link->key), other = write_of(c->h, link->to, link->key);
  if (one >= c->h->ops || other >= c->h->ops) return false;
  bool deletes = iso_history_form(c->h, one) == ISO_ROW_DELETE;
  if (deletes == (iso_history_form(c->h, other) == ISO_ROW_DELETE)) return false;
  return iso_is_seen_by_others(c->h, deletes ? other : one);
}

static bool is_lost_delete(const iso_scenario *s, const cycle *c) {
  return is_delete_overwritten(s, c) || name_of_single(c) == ISO_ANOMALY_LOST_DELETE;
}

static bool is_resurrected_row(const iso_scenario *s, const cycle *c) {
  (void)s;
  return name_of_single(c) == ISO_ANOMALY_RESURRECTED_ROW;
}

/* A single row that is merely not there yet is a stale read. */
static bool is_missed_insert(const iso_scenario *s, const cycle *c) {
  if (name_of_single(c) != ISO_ANOMALY_MISSED_INSERT) return false;
  return has_predicate_miss(c) || !is_stale_read(s, c);
}

static bool is_phantom(const iso_scenario *s, const cycle *c) {
  return is_non_repeatable(s, c) && iso_is_phantom(c->h, at(c, 0)->read_op, at(c, 1)->read_op);
}

static bool is_predicate_write_skew(const iso_scenario *s, const cycle *c) {
  return is_write_skew(s, c) && has_predicate_miss(c);
}

static bool is_predicate_read_skew(const iso_scenario *s, const cycle *c) {
  if (is_non_monotonic(s, c) || count_kind(c, ISO_EDGE_RT) > 0) return false;
  return name_of_single(c) == ISO_ANOMALY_PREDICATE_READ_SKEW;
}

/* Tried before the others where there are rows: they say more. */
static const struct {
  iso_anomaly name;
  bool (*fits)(const iso_scenario *s, const cycle *c);
} row_shapes[] = {
    {ISO_ANOMALY_PHANTOM, is_phantom},
    {ISO_ANOMALY_LOST_DELETE, is_lost_delete},
    {ISO_ANOMALY_RESURRECTED_ROW, is_resurrected_row},
    {ISO_ANOMALY_MISSED_INSERT, is_missed_insert},
    {ISO_ANOMALY_PREDICATE_WRITE_SKEW, is_predicate_write_skew},
    {ISO_ANOMALY_PREDICATE_READ_SKEW, is_predicate_read_skew},
};

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

/* The name of a class: plain, with session order, with real time.  G-single and G-nonadjacent are of items or of
 * predicates. */
static const iso_anomaly classes[][3] = {
    [CLASS_G0] = {ISO_ANOMALY_G0, ISO_ANOMALY_G0_PROCESS, ISO_ANOMALY_G0_REALTIME},
    [CLASS_G1C] = {ISO_ANOMALY_G1C, ISO_ANOMALY_G1C_PROCESS, ISO_ANOMALY_G1C_REALTIME},
    [CLASS_SINGLE] = {ISO_ANOMALY_G_SINGLE, ISO_ANOMALY_G_SINGLE_PROCESS, ISO_ANOMALY_G_SINGLE_REALTIME},
    [CLASS_NONADJACENT] = {ISO_ANOMALY_G_NONADJACENT, ISO_ANOMALY_G_NONADJACENT_PROCESS,
                           ISO_ANOMALY_G_NONADJACENT_REALTIME},
    [CLASS_ITEM] = {ISO_ANOMALY_G2_ITEM, ISO_ANOMALY_G2_ITEM_PROCESS, ISO_ANOMALY_G2_ITEM_REALTIME},
};

/* The last class where some missed write is missed by predicate. */
static const iso_anomaly of_predicates[] = {ISO_ANOMALY_G2, ISO_ANOMALY_G2_PROCESS, ISO_ANOMALY_G2_REALTIME};

/* Whatever the orders are, there is a cycle of the weakest class among the leaves or of a stronger one. */
static cycle_class weakest_class(const isoproof_history *h, const iso_scenario *s) {
  cycle_class weakest = CLASS_G0;
  for (size_t i = 0; i < s->cases.count; i++) {
    if (!s->cases.items[i].is_leaf) continue;
    cycle c = cycle_of(h, s, &s->cases.items[i]);
    if (class_of(&c) > weakest) weakest = class_of(&c);
  }
  return weakest;
}

/* Whether all cycles of the weakest class have the shape: it is then there in every order that has no stronger cycle.
 */
static bool fits_all(const isoproof_history *h, const iso_scenario *s, cycle_class weakest,
                     bool (*fits)(const iso_scenario *, const cycle *)) {
  for (size_t i = 0; i < s->cases.count; i++) {
    if (!s->cases.items[i].is_leaf) continue;
    cycle c = cycle_of(h, s, &s->cases.items[i]);
    if (class_of(&c) == weakest && !fits(s, &c)) return false;
  }
  return true;
}

static bool misses_by_predicate(const isoproof_history *h, const iso_scenario *s) {
  cycle all = {h, s->links.items, (uint32_t)s->links.count};
  return iso_history_has_rows(h) && has_predicate_miss(&all);
}

iso_anomaly iso_scenario_name(const isoproof_history *h, const iso_scenario *s) {
  cycle_class weakest = weakest_class(h, s);
  bool timed = has_known(s, ISO_EDGE_RT);
  for (size_t k = 0; iso_history_has_rows(h) && k < sizeof row_shapes / sizeof row_shapes[0]; k++) {
    if (fits_all(h, s, weakest, row_shapes[k].fits)) return row_shapes[k].name;
  }
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
    if (shapes[k].timed == timed && fits_all(h, s, weakest, shapes[k].fits)) return shapes[k].name;
  }
  unsigned order = timed ? 2 : has_known(s, ISO_EDGE_SO) ? 1 : 0;
  if (weakest == CLASS_ITEM && misses_by_predicate(h, s)) return of_predicates[order];
  return classes[weakest][order];
}
