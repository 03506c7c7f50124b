/* Inferring dependencies, one kind of workload at a time, and finding the operations that one rests on. */
#include "elle/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "elle/scan_lists.h"
#include "elle/scan_registers.h"
#include "elle/scan_rows.h"
#include "elle/scan_sets_counters.h"
#include "history/resolve.h"

/* Whether the order of every list is known.  What nobody saw came after all that somebody saw, so that a key may have
 * one such append. */
static isoproof_status knows_orders(const iso_lists *l, bool *known, isoproof_error *error) {
  uint8_t *unseen = iso_alloc_zero(l->h->keys, 1);
  if (unseen == NULL) return iso_fail_memory(error);
  *known = true;
  for (uint32_t op = 0; *known && op < l->h->ops; op++) {
    if (l->h->op_kind[op] != ISOPROOF_OP_APPEND || l->place[op] != 0 || !l->counts[l->op_txn[op]]) continue;
    *known = unseen[l->h->op_key[op]]++ == 0;
  }
  free(unseen);
  return ISOPROOF_OK;
}

static isoproof_status gather_lists(isoproof_history *history, isoproof_task *task, iso_evidence *e,
                                    iso_noncycle_anomalies *found, iso_dependency_list *edges,
                                    iso_completeness *completeness, isoproof_error *error) {
  ISO_TRY(iso_lists_make(history, e->counts, edges, task, &e->lists, error));
  e->has_lists = true;
  ISO_TRY(iso_elle_scan_lists(&e->lists, task, found, error));
  ISO_TRY(iso_lists_edges(&e->lists, task, edges, error));
  completeness->serializable_if_acyclic = true;
  return knows_orders(&e->lists, &completeness->all_dependencies, error);
}

static isoproof_status gather_registers(isoproof_history *history, const iso_elle_options *options, isoproof_task *task,
                                        iso_evidence *e, iso_noncycle_anomalies *found, iso_dependency_list *edges,
                                        isoproof_error *error) {
  iso_register_options how = {options->wfr_keys, options->sequential_keys, options->linearizable_keys,
                              options->txn_order_opt};
  ISO_TRY(iso_registers_make(history, e->counts, &how, task, &e->registers, error));
  e->has_registers = true;
  ISO_TRY(iso_elle_scan_registers(&e->registers, options->anomalies[ISO_ANOMALY_GARBAGE_READ], task, found, error));
  return iso_registers_edges(&e->registers, task, edges, error);
}

static isoproof_status gather_sets(isoproof_history *history, isoproof_task *task, iso_evidence *e,
                                   iso_noncycle_anomalies *found, iso_dependency_list *edges,
                                   iso_completeness *completeness, isoproof_error *error) {
  ISO_TRY(iso_sets_make(history, e->counts, task, &e->sets, error));
  e->has_sets = true;
  ISO_TRY(iso_elle_scan_sets(&e->sets, task, found, error));
  completeness->serializable_if_acyclic = !e->sets.ambiguous;
  return iso_sets_edges(&e->sets, task, edges, error);
}

static isoproof_status gather_counters(isoproof_history *history, isoproof_task *task, iso_evidence *e,
                                       iso_noncycle_anomalies *found, iso_dependency_list *edges,
                                       isoproof_error *error) {
  ISO_TRY(iso_counters_make(history, e->counts, &e->counters, error));
  e->has_counters = true;
  ISO_TRY(iso_elle_scan_counters(&e->counters, task, found, error));
  return iso_counters_edges(&e->counters, edges, error);
}

static isoproof_status gather_predicates(isoproof_history *history, const iso_elle_options *options,
                                         isoproof_task *task, iso_evidence *e, iso_noncycle_anomalies *found,
                                         iso_dependency_list *edges, isoproof_error *error) {
  ISO_TRY(iso_predicates_make(history, e->counts, task, &e->predicates, edges, error));
  e->has_predicates = true;
  ISO_TRY(iso_elle_scan_rows(&e->predicates, options->anomalies[ISO_ANOMALY_GARBAGE_READ], task, found, error));
  for (size_t i = 0; i < e->predicates.misses.count; i++) {
    iso_row_miss miss = e->predicates.misses.items[i];
    iso_noncycle_anomaly one = {ISO_ANOMALY_PREDICATE_READ_MISS, miss.op, ISO_NO_OP, miss.key, 0};
    iso_noncycle_anomalies_add(found, ISO_ANOMALY_PREDICATE_READ_MISS, 1, one);
  }
  return found->failed ? iso_fail_memory(error) : ISOPROOF_OK;
}

isoproof_status iso_evidence_gather(isoproof_history *history, const iso_elle_options *options, const uint8_t *counts,
                                    isoproof_task *task, iso_evidence *evidence, iso_noncycle_anomalies *found,
                                    iso_dependency_list *edges, iso_completeness *completeness, isoproof_error *error) {
  memset(evidence, 0, sizeof *evidence);
  evidence->counts = counts;
  *completeness = (iso_completeness){false, false};
  switch (options->workload) {
  case ISO_ELLE_WORKLOAD_LIST_APPEND:
    return gather_lists(history, task, evidence, found, edges, completeness, error);
  case ISO_ELLE_WORKLOAD_RW_REGISTER:
    return gather_registers(history, options, task, evidence, found, edges, error);
  case ISO_ELLE_WORKLOAD_SET:
    return gather_sets(history, task, evidence, found, edges, completeness, error);
  case ISO_ELLE_WORKLOAD_COUNTER:
    return gather_counters(history, task, evidence, found, edges, error);
  case ISO_ELLE_WORKLOAD_CLOSED_PREDICATE:
    return gather_predicates(history, options, task, evidence, found, edges, error);
  case ISO_ELLE_WORKLOADS:
    break;
  }
  return iso_fail(error, ISOPROOF_ERR_INTERNAL, "there is no such workload");
}

void iso_evidence_free(iso_evidence *evidence) {
  if (evidence->has_lists) iso_lists_free(&evidence->lists);
  if (evidence->has_registers) iso_registers_free(&evidence->registers);
  iso_derived_orders_free(&evidence->derived_orders);
  if (evidence->has_sets) iso_sets_free(&evidence->sets);
  if (evidence->has_counters) iso_counters_free(&evidence->counters);
  if (evidence->has_predicates) iso_predicates_free(&evidence->predicates);
  memset(evidence, 0, sizeof *evidence);
}

/* ---- explaining ---- */

static const iso_dependency_reason no_reason = {false, 0, ISO_NO_OP, ISO_NO_OP, 0};

static iso_dependency_reason because(uint32_t key, uint32_t from_op, uint32_t to_op) {
  return (iso_dependency_reason){true, key, from_op, to_op, 0};
}

/* ---- lists ---- */

/* An append of the transaction to the key that nobody saw. */
static uint32_t unseen_append(const iso_lists *l, uint32_t txn, uint32_t key) {
  for (uint32_t op = l->h->txn_first_op[txn]; op < l->h->txn_first_op[txn + 1]; op++) {
    if (l->h->op_kind[op] == ISOPROOF_OP_APPEND && l->h->op_key[op] == key && l->place[op] == 0) return op;
  }
  return ISO_NO_OP;
}

/* The append of `to` that makes the version after `version`; ISO_NO_OP when somebody else made it. */
static uint32_t next_append(const iso_lists *l, uint32_t key, uint32_t version, uint32_t to) {
  if (version == iso_lists_last_version(l, key)) return unseen_append(l, to, key);
  uint32_t op = l->order[l->order_first[key] + version];
  return l->op_txn[op] == to ? op : ISO_NO_OP;
}

/* The append of `from` that a read of `to` saw last, where it is not of the order of its key. */
static uint32_t odd_source(const iso_lists *l, uint32_t from, uint32_t op) {
  const isoproof_history *h = l->h;
  uint32_t count;
  const iso_value *list = iso_history_list(h, op, &count);
  for (uint32_t own = h->txn_first_op[from]; list != NULL && own < h->txn_first_op[from + 1]; own++) {
    if (h->op_kind[own] != ISOPROOF_OP_APPEND || h->op_key[own] != h->op_key[op]) continue;
    for (uint32_t i = count; i-- > 0;) {
      if (list[i] == h->op_value[own]) return own;
    }
  }
  return ISO_NO_OP;
}

static iso_dependency_reason explain_list(const iso_lists *l, uint32_t from, uint32_t to, iso_dependency_set kind) {
  const isoproof_history *h = l->h;
  uint32_t scanned = kind == ISO_DEPENDENCY_WR ? to : from, version;
  for (uint32_t op = h->txn_first_op[scanned]; op < h->txn_first_op[scanned + 1]; op++) {
    uint32_t key = h->op_key[op], other = ISO_NO_OP;
    bool reads = h->op_kind[op] == ISOPROOF_OP_READ_LIST && h->op_value[op] != ISO_VALUE_NONE;
    bool placed = h->op_kind[op] == ISOPROOF_OP_APPEND && l->place[op] != 0;
    if (kind == ISO_DEPENDENCY_WW && placed) other = next_append(l, key, l->place[op], to);
    if (kind == ISO_DEPENDENCY_RW && reads && iso_lists_missed_after(l, op, &version))
      other = next_append(l, key, version, to);
    if (kind == ISO_DEPENDENCY_WR && reads) {
      bool fits = iso_lists_version(l, op, &version);
      if (fits && version > 0 && iso_lists_writer(l, key, version) == from) {
        other = l->order[l->order_first[key] + version - 1];
      } else if (!fits) {
        other = odd_source(l, from, op);
      }
    }
    if (other == ISO_NO_OP) continue;
    return kind == ISO_DEPENDENCY_WR ? because(key, other, op) : because(key, op, other);
  }
  return no_reason;
}

uint32_t iso_evidence_order_read(const iso_evidence *e, uint32_t key) {
  const iso_lists *l = &e->lists;
  uint32_t elements, longest = ISO_NO_OP;
  bool disagree = false;
  if (!e->has_lists || l->odd_order == NULL) return ISO_NO_OP;
  for (uint32_t op = 0; op < l->h->ops; op++) {
    if (l->h->op_kind[op] != ISOPROOF_OP_READ_LIST || l->h->op_key[op] != key || !l->counts[l->op_txn[op]]) continue;
    if (l->h->op_value[op] == ISO_VALUE_NONE) continue;
    bool fits = iso_lists_read(l, op, &elements);
    disagree |= !fits;
    if (fits && elements == l->length[key] && longest == ISO_NO_OP) longest = op;
  }
  return disagree ? longest : ISO_NO_OP;
}

/* ---- registers ---- */

/* What a transaction did to a key; NULL when nothing. */
static const iso_key_access *find_access(const iso_registers *r, uint32_t txn, uint32_t key) {
  uint32_t low = r->access_first[key], high = r->access_first[key + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (r->accesses[middle].txn < txn) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < r->access_first[key + 1] && r->accesses[low].txn == txn ? &r->accesses[low] : NULL;
}

static iso_dependency_reason explain_register(const iso_registers *r, uint32_t from, uint32_t to,
                                              iso_dependency_set kind) {
  const isoproof_history *h = r->h;
  for (uint32_t op = h->txn_first_op[from]; op < h->txn_first_op[from + 1]; op++) {
    uint32_t key = h->op_key[op];
    const iso_key_access *a = find_access(r, from, key), *b = find_access(r, to, key);
    if (a == NULL || b == NULL) continue;
    if (kind == ISO_DEPENDENCY_WR && a->wrote && b->read == a->written) return because(key, a->written, b->read_op);
    if (kind == ISO_DEPENDENCY_WW && a->wrote && b->wrote && iso_registers_before(r, a->written, b->written)) {
      return because(key, a->written, b->written);
    }
    if (kind == ISO_DEPENDENCY_RW && a->read != ISO_NO_VERSION && b->wrote &&
        iso_registers_before(r, a->read, b->written)) {
      return because(key, a->read_op, b->written);
    }
  }
  return no_reason;
}

/* A step that was derived from others. */
static iso_dependency_reason explain_derived(const iso_evidence *e, uint32_t from, uint32_t to,
                                             iso_dependency_set kind) {
  const iso_registers *r = &e->registers;
  for (size_t i = 0; i < e->derived_orders.pairs.count; i++) {
    const iso_derived_order *pair = &e->derived_orders.pairs.items[i];
    uint32_t key = r->h->op_key[pair->after_op];
    if (pair->after != to) continue;
    if (kind == ISO_DEPENDENCY_WW && pair->before == from) {
      return (iso_dependency_reason){true, key, pair->before_op, pair->after_op, pair->read_op + 1};
    }
    for (uint32_t k = r->access_first[key]; kind == ISO_DEPENDENCY_RW && k < r->access_first[key + 1]; k++) {
      const iso_key_access *access = &r->accesses[k];
      if (access->txn != from || access->read != pair->before_op) continue;
      return (iso_dependency_reason){true, key, access->read_op, pair->after_op, pair->read_op + 1};
    }
  }
  return no_reason;
}

/* ---- sets and counters ---- */

static bool shows(const isoproof_history *h, uint32_t op, iso_value element) {
  uint32_t count;
  const iso_value *list = iso_history_list(h, op, &count);
  for (uint32_t i = 0; list != NULL && i < count; i++) {
    if (list[i] == element) return true;
  }
  return false;
}

/* An addition of one transaction and a read of the other that shows it (wr) or does not (rw). */
static iso_dependency_reason explain_addition(const isoproof_history *h, uint32_t from, uint32_t to,
                                              iso_dependency_set kind, bool sets) {
  uint32_t writer = kind == ISO_DEPENDENCY_WR ? from : to, reader = kind == ISO_DEPENDENCY_WR ? to : from;
  uint8_t reads = sets ? ISOPROOF_OP_READ_SET : ISOPROOF_OP_READ_COUNTER,
          adds = sets ? ISOPROOF_OP_ADD : ISOPROOF_OP_INCREMENT;
  for (uint32_t read = h->txn_first_op[reader]; read < h->txn_first_op[reader + 1]; read++) {
    if (h->op_kind[read] != reads || h->op_value[read] == ISO_VALUE_NONE) continue;
    for (uint32_t own = h->txn_first_op[writer]; own < h->txn_first_op[writer + 1]; own++) {
      if (h->op_kind[own] != adds || h->op_key[own] != h->op_key[read]) continue;
      if (sets && shows(h, read, h->op_value[own]) != (kind == ISO_DEPENDENCY_WR)) continue;
      uint32_t key = h->op_key[read];
      return kind == ISO_DEPENDENCY_WR ? because(key, own, read) : because(key, read, own);
    }
  }
  return no_reason;
}

/* ---- rows ---- */

static iso_dependency_reason explain_rows(const iso_predicates *p, uint32_t from, uint32_t to,
                                          iso_dependency_set kind) {
  for (size_t i = 0; i < p->dependencies.count; i++) {
    const iso_row_dependency *r = &p->dependencies.items[i];
    if (r->from == from && r->to == to && r->kind == kind) return because(r->key, r->from_op, r->to_op);
  }
  return no_reason;
}

iso_dependency_reason iso_evidence_explain(const iso_evidence *e, const isoproof_history *history, uint32_t from,
                                           uint32_t to, iso_dependency_set kind) {
  bool order = (kind & ISO_DEPENDENCY_ORDERS) != 0;
  if (order || from >= history->txns || to >= history->txns) return no_reason;
  if (e->has_lists) return explain_list(&e->lists, from, to, kind);
  if (e->has_registers) {
    iso_dependency_reason reason = explain_register(&e->registers, from, to, kind);
    return reason.known ? reason : explain_derived(e, from, to, kind);
  }
  if (e->has_predicates) return explain_rows(&e->predicates, from, to, kind);
  if (e->has_sets || e->has_counters) return explain_addition(history, from, to, kind, e->has_sets);
  return no_reason;
}
