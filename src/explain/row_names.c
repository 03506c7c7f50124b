/* Names of anomalies in histories of rows, from the operations that show them. */
#include "explain/row_names.h"

#include "history/columns.h"
#include "history/row_versions.h"

bool iso_is_by_predicate(const isoproof_history *h, uint32_t op) {
  return op < h->ops && iso_history_form(h, op) >= ISO_ROW_PREDICATE;
}

bool iso_is_not_returned(const isoproof_history *h, uint32_t op) {
  if (!iso_is_by_predicate(h, op)) return false;
  iso_value value = h->op_value[op];
  bool counts = iso_history_form(h, op) == ISO_ROW_COUNT;
  return counts || value == ISO_VALUE_NIL || value == ISO_VALUE_UNMATCHED;
}

/* The version that a read is taken to have observed; false where that is not known. */
static bool version_of(const isoproof_history *h, uint32_t read, iso_value *version) {
  uint32_t write = h->resolution != NULL ? h->resolution->writer[read] : ISO_NO_OP;
  if (write == ISO_FROM_INITIAL) {
    *version = iso_history_initial(h, h->op_key[read]);
    return true;
  }
  if (write >= h->ops) return false;
  *version = iso_history_version(h, write);
  return true;
}

/* Whether what `read` saw is picked by the statement of `judge`. */
static bool is_picked(const isoproof_history *h, uint32_t judge, uint32_t read) {
  const iso_statement *s = iso_history_statement(h, judge);
  iso_value version;
  if (s == NULL || !version_of(h, read, &version)) return false;
  iso_predicate predicate = iso_history_predicate(h, s);
  return iso_version_matches(h, &predicate, h->op_key[read], version);
}

bool iso_is_matched(const isoproof_history *h, uint32_t op) { return is_picked(h, op, op); }

bool iso_is_phantom(const isoproof_history *h, uint32_t op, uint32_t other) {
  uint32_t judge = iso_is_by_predicate(h, op) ? op : other;
  return iso_is_by_predicate(h, judge) && is_picked(h, judge, op) != is_picked(h, judge, other);
}

iso_row_evidence iso_row_evidence_of(const isoproof_history *h, iso_edge_kind kind, uint32_t seen_by, uint32_t read) {
  if (kind == ISO_EDGE_SO || kind == ISO_EDGE_RT) return ISO_EVIDENCE_BEFORE;
  if (kind != ISO_EDGE_WR) return ISO_EVIDENCE_NONE;
  bool later = seen_by > read && !iso_history_same_statement(h, seen_by, read);
  return later ? ISO_EVIDENCE_LATER : ISO_EVIDENCE_BEFORE;
}

bool iso_is_seen_by_others(const isoproof_history *h, uint32_t write) {
  uint32_t writer = iso_history_txn_of(h, write);
  for (uint32_t op = 0; h->resolution != NULL && op < h->ops; op++) {
    bool own = op >= h->txn_first_op[writer] && op < h->txn_first_op[writer + 1];
    bool shows = h->op_kind[op] == ISOPROOF_OP_READ && h->resolution->writer[op] == write &&
                 h->op_value[op] == iso_history_version(h, write);
    if (shows && !own && h->txn_status[iso_history_txn_of(h, op)] == ISOPROOF_TXN_COMMITTED) return true;
  }
  return false;
}

iso_anomaly iso_row_name_of_miss(const isoproof_history *h, uint32_t read, uint32_t write, iso_row_evidence evidence,
                                 iso_anomaly plain) {
  if (read >= h->ops || write >= h->ops || evidence == ISO_EVIDENCE_NONE) return plain;
  iso_row_form form = iso_history_form(h, write);
  iso_value value = h->op_value[read];
  bool must = evidence == ISO_EVIDENCE_BEFORE, unreturned = iso_is_not_returned(h, read);
  bool there = unreturned ? iso_is_matched(h, read) : value != ISO_VALUE_NIL;
  if (must && form == ISO_ROW_DELETE && there) {
    return iso_is_seen_by_others(h, write) ? ISO_ANOMALY_RESURRECTED_ROW : ISO_ANOMALY_LOST_DELETE;
  }
  bool makes = form == ISO_ROW_INSERT || form == ISO_ROW_UPSERT;
  if (must && makes && !there) return ISO_ANOMALY_MISSED_INSERT;
  return unreturned || (form == ISO_ROW_DELETE && iso_is_by_predicate(h, read)) ? ISO_ANOMALY_PREDICATE_READ_SKEW
                                                                                : plain;
}

static iso_anomaly name_unfounded(const isoproof_history *h, uint32_t op, iso_anomaly plain) {
  iso_value value = h->op_value[op];
  if (value == ISO_VALUE_COUNTED) return ISO_ANOMALY_IMPOSSIBLE_COUNT;
  return value == ISO_VALUE_NIL || value == ISO_VALUE_UNMATCHED ? ISO_ANOMALY_MISSED_ROW : plain;
}

iso_anomaly iso_row_name_of_finding(const isoproof_history *h, const iso_finding *f, iso_anomaly plain) {
  bool queried = iso_is_by_predicate(h, f->op);
  switch ((iso_tap)f->tap) {
  case ISO_TAP_A:
    return queried ? name_unfounded(h, f->op, plain) : plain;
  case ISO_TAP_B:
    return queried ? ISO_ANOMALY_G1A_PREDICATE : plain;
  case ISO_TAP_F:
    return queried ? ISO_ANOMALY_G1B_PREDICATE : plain;
  case ISO_TAP_J:
    if (iso_history_same_statement(h, f->op, f->other)) return ISO_ANOMALY_DUPLICATE_ROW;
    return iso_is_phantom(h, f->op, f->other) ? ISO_ANOMALY_PHANTOM : plain;
  default:
    return plain;
  }
}

iso_anomaly iso_row_name_of_proof(const isoproof_history *h, const iso_proof *proof, iso_anomaly plain) {
  if (!iso_history_has_rows(h)) return plain;
  if (iso_tap_of(proof->tap)->class == ISO_CLASS_CYCLE) {
    for (size_t i = 0; i < proof->cycle.count; i++) {
      const iso_proof_step *step = &proof->cycle.items[i];
      if (step->kind == ISO_EDGE_WR && iso_is_by_predicate(h, step->read_op)) return ISO_ANOMALY_G1C_PREDICATE;
    }
    return plain;
  }
  const iso_proof_step *miss = &proof->cycle.items[0];
  if (miss->kind != ISO_EDGE_CM || miss->reasons == 0) return plain;
  const iso_proof_step *last = &proof->reasons.items[miss->first_reason + miss->reasons - 1];
  iso_row_evidence evidence = iso_row_evidence_of(h, last->kind, last->read_op, miss->read_op);
  return iso_row_name_of_miss(h, miss->read_op, miss->write_op, evidence, plain);
}
