/* evidence.h - what the dependencies of a workload were inferred from, to explain them afterwards.
 * The evidence owns what it holds until iso_evidence_free and refers to the history. */
#ifndef ISO_ELLE_EVIDENCE_H
#define ISO_ELLE_EVIDENCE_H

#include "elle/elle.h"
#include "elle/infer/counters.h"
#include "elle/infer/derived_orders.h"
#include "elle/infer/lists.h"
#include "elle/infer/predicates.h"
#include "elle/infer/registers.h"
#include "elle/infer/sets.h"

typedef struct iso_evidence {
  const uint8_t *counts;
  bool has_lists;
  iso_lists lists;
  bool has_registers;
  iso_registers registers;
  iso_derived_orders derived_orders; /* of registers; perhaps none */
  bool has_sets;
  iso_sets sets;
  bool has_counters;
  iso_counters counters;
  bool has_predicates;
  iso_predicates predicates;
} iso_evidence;

/* What follows from what was not found (Elle, section 3.3, on completeness). */
typedef struct iso_completeness {
  bool serializable_if_acyclic; /* transactions that have no cycle can be put in an order that explains all reads */
  bool all_dependencies;        /* every dependency is known: what a model forbids and is not there is not there */
} iso_completeness;

/* Infers what it can: non-cycle anomalies into `found`, dependencies into `edges`, which has those of sessions and real
 * time already. */
isoproof_status iso_evidence_gather(isoproof_history *history, const iso_elle_options *options, const uint8_t *counts,
                                    isoproof_task *task, iso_evidence *evidence, iso_noncycle_anomalies *found,
                                    iso_dependency_list *edges, iso_completeness *completeness, isoproof_error *error);
void iso_evidence_free(iso_evidence *evidence);

/* Why one transaction comes before another. */
typedef struct iso_dependency_reason {
  bool known;
  uint32_t key;
  uint32_t from_op, to_op; /* ISO_NO_OP where there is none */
  uint32_t derived_from;   /* the read that it was derived from, + 1; 0 when it is known by itself */
} iso_dependency_reason;

/* Why `from` comes before `to` by a dependency of that kind. */
iso_dependency_reason iso_evidence_explain(const iso_evidence *evidence, const isoproof_history *history, uint32_t from,
                                           uint32_t to, iso_dependency_set kind);

/* The read whose order was taken for that of a list, where reads of the list disagree; ISO_NO_OP otherwise. */
uint32_t iso_evidence_order_read(const iso_evidence *evidence, uint32_t key);

#endif
