/* The independent judge of scenarios: it looks at columns of the history and at the definitions, at nothing else. */
#include <stdlib.h>

#include "base/vector.h"
#include "history/real_time.h"
#include "verify/rows.h"
#include "verify/rules.h"
#include "verify/scenario.h"

typedef struct {
  const isoproof_history *h;
  const uint8_t *counts;
  const iso_scenario *s;
  uint32_t *parent; /* by case: the one above it */
} judge;

/* ---- what the history says ---- */

static bool takes_part(const judge *j, uint32_t txn) {
  if (txn >= j->h->txns || j->h->txn_status[txn] == ISOPROOF_TXN_ABORTED) return false;
  return j->h->txn_status[txn] == ISOPROOF_TXN_COMMITTED || (j->counts != NULL && j->counts[txn]);
}

static bool in_txn(const judge *j, uint32_t op, uint32_t txn) {
  return txn < j->h->txns && op >= j->h->txn_first_op[txn] && op < j->h->txn_first_op[txn + 1];
}

static bool is_write(const isoproof_history *h, uint32_t op) {
  return h->op_kind[op] == ISOPROOF_OP_WRITE || h->op_kind[op] == ISOPROOF_OP_APPEND;
}

static bool wrote(const judge *j, uint32_t txn, uint32_t key) {
  if (txn >= j->h->txns) return false;
  for (uint32_t op = j->h->txn_first_op[txn]; op < j->h->txn_first_op[txn + 1]; op++) {
    if (is_write(j->h, op) && j->h->op_key[op] == key) return true;
  }
  return false;
}

static bool wrote_value(const judge *j, uint32_t txn, uint32_t key, iso_value value) {
  for (uint32_t op = j->h->txn_first_op[txn]; op < j->h->txn_first_op[txn + 1]; op++) {
    if (is_write(j->h, op) && j->h->op_key[op] == key && iso_history_version(j->h, op) == value) return true;
  }
  return false;
}

/* Whether a write of the transaction left what a read of a register or row shows. */
static bool wrote_shown(const judge *j, uint32_t txn, uint32_t read) {
  const isoproof_history *h = j->h;
  for (uint32_t op = h->txn_first_op[txn]; op < h->txn_first_op[txn + 1]; op++) {
    bool same = h->op_kind[op] == ISOPROOF_OP_WRITE && h->op_key[op] == h->op_key[read];
    if (same && iso_verify_shows(h, read, iso_history_version(h, op))) return true;
  }
  return false;
}

/* How many elements of a list read come before those at its end that the reader appended itself. */
static uint32_t foreign_part(const judge *j, uint32_t read, const iso_value **list) {
  uint32_t count, reader = iso_history_txn_of(j->h, read);
  *list = iso_history_list(j->h, read, &count);
  while (count > 0 && wrote_value(j, reader, j->h->op_key[read], (*list)[count - 1])) count--;
  return count;
}

/* Whether `reader` read with the operation the version of the key that `version` wrote, or the initial one. */
static bool saw(const judge *j, uint32_t reader, uint32_t read, uint32_t key, uint32_t version) {
  const isoproof_history *h = j->h;
  if (!in_txn(j, read, reader) || h->op_key[read] != key || h->op_value[read] == ISO_VALUE_NONE) return false;
  iso_value value;
  if (h->op_kind[read] == ISOPROOF_OP_READ) {
    if (version == ISO_INITIAL) return iso_verify_shows(h, read, iso_verify_initial(h, key));
    return takes_part(j, version) && version != reader && wrote_shown(j, version, read);
  } else if (h->op_kind[read] == ISOPROOF_OP_READ_LIST) {
    const iso_value *list;
    uint32_t count = foreign_part(j, read, &list);
    value = count > 0 ? list[count - 1] : ISO_VALUE_NIL;
  } else {
    return false;
  }
  if (version == ISO_INITIAL) return value == ISO_VALUE_NIL;
  return takes_part(j, version) && version != reader && wrote_value(j, version, key, value);
}

static bool in_session(const judge *j, uint32_t from, uint32_t to) {
  return j->s->level->session_order && from < to && j->h->txn_session[from] == j->h->txn_session[to];
}

static bool in_time(const judge *j, uint32_t from, uint32_t to) {
  return j->s->level->real_time && iso_has_real_time(j->h) && iso_real_end(j->h, from) < iso_real_start(j->h, to);
}

/* Whether a list read shows something of `from`, and something of `to` only after that or not at all. */
static bool in_list(const judge *j, uint32_t read, uint32_t from, uint32_t to) {
  const isoproof_history *h = j->h;
  if (read >= h->ops || h->op_kind[read] != ISOPROOF_OP_READ_LIST || h->op_value[read] == ISO_VALUE_NONE) return false;
  uint32_t count, key = h->op_key[read];
  if (!takes_part(j, iso_history_txn_of(h, read)) || !wrote(j, from, key) || !wrote(j, to, key)) return false;
  const iso_value *list = iso_history_list(h, read, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (wrote_value(j, to, key, list[i])) return false;
    if (wrote_value(j, from, key, list[i])) return true;
  }
  return false;
}

/* ---- orders ---- */

/* Whether the case, or one above it, assumes that `from` is before `to`. */
static bool is_assumed(const judge *j, uint32_t at, uint32_t from, uint32_t to) {
  const iso_branch *cases = j->s->cases.items;
  for (; at != 0; at = j->parent[at]) {
    const iso_branch *above = &cases[j->parent[at]];
    bool swapped = above->then[1] == at;
    if ((swapped ? above->after : above->before) == from && (swapped ? above->before : above->after) == to) return true;
  }
  return false;
}

/* Whether the version of a key by `from` is before that by `to`, both of whom write it, for the reason given.  The
 * order on one key is that on every other. */
static bool is_ordered(const judge *j, uint32_t leaf, const iso_link *link, uint32_t from) {
  uint32_t to = link->to;
  if (!wrote(j, to, link->key) || !takes_part(j, to)) return false;
  if (link->reason == ISO_ORDER_INITIAL) return from == ISO_INITIAL;
  if (!takes_part(j, from) || !wrote(j, from, link->key) || from == to) return false;
  switch (link->reason) {
  case ISO_ORDER_ASSUMED:
    return is_assumed(j, leaf, from, to);
  case ISO_ORDER_LIST:
    return in_list(j, link->order_op, from, to);
  case ISO_ORDER_SO:
    return in_session(j, from, to);
  case ISO_ORDER_RT:
    return in_time(j, from, to);
  case ISO_ORDER_WR:
    return link->order_op < j->h->ops && saw(j, to, link->order_op, j->h->op_key[link->order_op], from);
  case ISO_ORDER_NONE:
  case ISO_ORDER_INITIAL:
    break;
  }
  return false;
}

static bool check_link(const judge *j, uint32_t leaf, const iso_link *link) {
  if (link->from == link->to || !takes_part(j, link->from) || !takes_part(j, link->to)) return false;
  switch (link->kind) {
  case ISO_EDGE_SO:
    return in_session(j, link->from, link->to);
  case ISO_EDGE_RT:
    return in_time(j, link->from, link->to);
  case ISO_EDGE_WR:
    return saw(j, link->to, link->read_op, link->key, link->from);
  case ISO_EDGE_WW:
    return link->reason != ISO_ORDER_INITIAL && is_ordered(j, leaf, link, link->from);
  case ISO_EDGE_RW:
    return link->version != link->to && saw(j, link->from, link->read_op, link->key, link->version) &&
           is_ordered(j, leaf, link, link->version);
  default:
    break;
  }
  return false;
}

/* ---- cycles ---- */

static bool check_leaf(const judge *j, uint32_t at) {
  const iso_branch *leaf = &j->s->cases.items[at];
  size_t all = j->s->links.count;
  if (leaf->links < 2 || leaf->first_link > all || leaf->links > all - leaf->first_link) return false;
  const iso_link *cycle = j->s->links.items + leaf->first_link;
  for (uint32_t i = 0; i < leaf->links; i++) {
    if (!check_link(j, at, &cycle[i]) || cycle[i].to != cycle[(i + 1) % leaf->links].from) return false;
  }
  return iso_rule_judge_of(j->s->level->rule)->forbids(j->h, cycle, leaf->links);
}

/* Both orders of two writers of the key, each with a case of its own further on that nobody else has. */
static bool check_inner(judge *j, uint32_t at) {
  const iso_branch *inner = &j->s->cases.items[at];
  if (inner->before == inner->after || !takes_part(j, inner->before) || !takes_part(j, inner->after)) return false;
  if (!wrote(j, inner->before, inner->key) || !wrote(j, inner->after, inner->key)) return false;
  for (int side = 0; side < 2; side++) {
    uint32_t below = inner->then[side];
    if (below <= at || below >= j->s->cases.count || j->parent[below] != ISO_NO_TXN) return false;
    j->parent[below] = at;
  }
  return true;
}

static bool check_known(const judge *j) {
  for (size_t i = 0; i < j->s->known.count; i++) {
    const iso_link *link = &j->s->known.items[i];
    bool initial = link->kind == ISO_EDGE_WR && link->from == ISO_INITIAL;
    bool good = link->kind != ISO_EDGE_RW && link->reason != ISO_ORDER_ASSUMED &&
                (initial ? takes_part(j, link->to) && saw(j, link->to, link->read_op, link->key, ISO_INITIAL)
                         : check_link(j, 0, link));
    if (!good) return false;
  }
  return true;
}

bool iso_verify_scenario(const isoproof_history *history, const uint8_t *counts, const iso_scenario *scenario) {
  size_t cases = scenario->cases.count;
  if (!scenario->refuted || scenario->level == NULL || cases == 0 || cases >= ISO_NO_TXN) return false;
  judge j = {.h = history, .counts = counts, .s = scenario, .parent = iso_alloc(cases, sizeof *j.parent)};
  if (j.parent == NULL) return false;
  for (size_t i = 0; i < cases; i++) j.parent[i] = ISO_NO_TXN;
  bool good = check_known(&j);
  for (uint32_t at = 0; good && at < cases; at++) {
    /* A case comes after the one above it, which has set its parent by now. */
    if (at > 0 && j.parent[at] == ISO_NO_TXN) good = false;
    good = good && (scenario->cases.items[at].is_leaf ? check_leaf(&j, at) : check_inner(&j, at));
  }
  free(j.parent);
  return good;
}
